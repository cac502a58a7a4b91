"""The report: the page with one or two sheets for print, as a designer sends them to a colleague.

For a mechanism: what it is, how it moves, what its drives need, what its bearings carry, and what was checked. For a simulation:
its time histories, energies, loads and certificate. Only what the model allows is reported: without masses there are no loads, and
a mechanism that cannot be turned says why. The same input gives the same file: there is no date in it.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.design.bearings import bearings
from linkwright.design.cycle_loads import CycleLoads, cycle_loads
from linkwright.design.drive_sizing import Motor, drive_sizing
from linkwright.design.efforts import drive_names
from linkwright.design.summary import Summary, summarise
from linkwright.errors import LinkwrightError, UsageError
from linkwright.results.singular_positions import PEAKS
from linkwright.results.trajectory import Trajectory
from linkwright.system.system import System
from linkwright.views import page, report_figures, report_forces, report_tables
from linkwright.views.plots import natural_axis
from linkwright.views.report_parts import facts, note, pair, paragraph, part, verdicts

MOST_EVENTS = 8
ENOUGH = 36  # samples that show every extreme of a motion
MOST_SAMPLES = 750  # of a simulation that are looked at for its bearing table


def report(
    subject: Any,
    path: str | os.PathLike[str],
    *,
    run: Trajectory | None = None,
    motor: Any = None,
    steps: int | None = None,
    tolerances: Any = None,
) -> Path:
    """Write the page of a Mechanism or System with its report: of `run` (a turn, a motion, a simulation), or of a turn in `steps`;
    `tolerances` (of `m.tolerances`) are a part of it."""
    from linkwright.views import live

    files.checked(path, files.PAGES)
    if isinstance(motor, Mapping):
        Motor.of(motor)  # a wrong key is reported before the long work
    if page.checked_steps(steps) is not None and run is not None:
        raise UsageError("steps are those of the turn a report makes; the run that is given has its own samples. Leave one of them out.")
    if tolerances is not None:
        from linkwright.views import report_tolerances  # here and below: few reports have them

        report_tolerances.check(tolerances)
    content = fragment(subject, run=run, motor=motor, steps=steps, tolerances=tolerances)
    return live.write(subject, path, report=content, steps=steps, **page.played(subject, run))


def fragment(
    subject: Any,
    *,
    run: Trajectory | None = None,
    motor: Any = None,
    steps: int | None = None,
    tolerances: Any = None,
) -> str:
    """The report alone, as HTML for the page."""
    content = ReportContent(getattr(subject, "system", subject), run, motor, steps)
    simulated = run is not None and run.proof is not None
    inside = content.head() + content.intro() + (content.simulation() if simulated else content.cycle())
    if tolerances is not None:
        from linkwright.views import report_tolerances

        inside += report_tolerances.section(tolerances)
    return f'<article class="rp">\n{inside}</article>'


@dataclass
class ReportContent:
    """Content of the report, each part computed once."""

    system: System
    run: Trajectory | None
    motor: Any = None
    steps: int | None = None  # of the turn, where no run is given
    why: str = field(default="", init=False)  # there is no motion to report

    @cached_property
    def summary(self) -> Summary:
        c = self.motion
        own = c if c is not None and c.proof is None and (len(c) > ENOUGH or c.static) else None  # its motion as reported
        return summarise(self.system, turn=own)

    @cached_property
    def motion(self) -> Trajectory | None:
        if self.run is not None:
            return self.run
        try:
            return self.system.turn() if self.steps is None else self.system.turn(steps=self.steps)
        except LinkwrightError as problem:
            self.why = " ".join(str(problem).split())
            return None

    @cached_property
    def loads(self) -> CycleLoads:
        missing = [b.name for b in self.system.description.bodies[1:] if b.mass is None]
        if missing:
            return CycleLoads(f"The model gives no mass for {', '.join(missing)}, so there are no efforts and no loads.")
        if self.motion is None:
            return CycleLoads()
        try:
            if self.motion.proof is None:
                return cycle_loads(self.motion)
            return CycleLoads(bearings=bearings(_thinned(self.motion)))
        except LinkwrightError as problem:
            return CycleLoads(f"No loads: {' '.join(str(problem).split())}")

    @cached_property
    def sizings(self) -> list[Any]:
        """Drives that have a motor, in the file or given here."""
        if self.motion is None or self.loads.efforts is None:
            return []
        found = [drive_sizing(self.motion, name, motor=self.motor) for name in drive_names(self.motion)]
        return [s for s in found if s.motor is not None]

    # ---------------------------------------------------------------- sheets

    def head(self) -> str:
        d = self.system.description
        kind = "Mechanism" if self.run is None or self.run.proof is None else "Simulation"
        about = f'<p class="rp-about">{html.escape(d.about)}</p>' if d.about else ""
        made = f'<p class="rp-made">Linkwright {import_module("linkwright").__version__}</p>'
        return (
            f'<header class="rp-head"><div><p class="rp-kind">{kind} report</p><h2>{html.escape(d.name)}</h2>{about}</div>{made}</header>\n'
        )

    def intro(self) -> str:
        drawn = report_figures.mechanism(self.system, self.motion)
        off = ", ".join(report_figures.off_at_start(self.motion))
        rows = [
            *report_tables.facts(self.system, self.summary, self.motion),
            ("Switched off", off and f"{off}, at the start"),
            *self._acting(),
        ]
        content = facts(rows) + "".join(note(w) for w in self.summary.warnings)
        return f'<div class="rp-intro">{drawn}<div>{content}</div></div>\n'

    def _acting(self) -> list[tuple[str, str]]:
        """Loads on the mechanism and the drive efforts for them; of a simulation only the loads."""
        c = self.motion
        rows = [("" if i else "Applied forces", said) for i, said in enumerate(report_forces.acting(self.system, c))]
        if c is not None and c.proof is not None:
            return rows
        need = report_forces.needs(self.loads, c is not None and c.full_turn)
        return [*rows, ("Drive", need), ("Flywheel", report_forces.wheel(self.loads, c))]

    def cycle(self) -> str:
        c = self.motion
        if c is None:
            return part("Motion", paragraph(self.why))
        over = natural_axis(c)
        curves = report_figures.curves(c, report_figures.motion_panels(c, over), "rp-motion", over=over)
        out = part("Motion", curves, report_tables.motion_tables(self.system, self.summary, over, c.dimension(over)))
        return out + self._loaded(c, over) + self._foot(c)

    def _loaded(self, c: Trajectory, over: str) -> str:
        if self.loads.efforts is None or self.loads.bearings is None:
            return part("Drive and bearing loads", note=self.loads.why)
        curves = report_figures.curves(c, report_figures.effort_panels(c), "rp-efforts", over=over)
        shaken = f"S{self.loads.shaken[1:]}."
        content = PEAKS if PEAKS in c.notes else ""
        few = len(self.loads.efforts.rows) <= 3
        return (
            part("Drive", curves, report_tables.drives(self.loads), note=content, together=few)
            + self._motors()
            + part("Bearing loads", report_tables.bearings(self.loads.bearings), note(shaken))
        )

    def _motors(self) -> str:
        """The diagram of the motor that has least to spare, and the figures of all."""
        if not self.sizings:
            return ""
        tightest = min(self.sizings, key=lambda s: min((m.factor for m in s.margins), default=float("inf")))
        diagram = f'<div class="rp-motor">{report_figures.motor(tightest)}<div>{report_tables.margins(tightest)}</div></div>'
        return part("Motor", report_tables.motor_table(self.sizings), diagram)

    def _foot(self, c: Trajectory) -> str:
        looked = part("Checks", verdicts(report_tables.checks(self.system, c, self.loads, self.sizings)))
        weighed = part("Masses", report_tables.masses(self.system))
        return pair(looked, weighed) if self.system.description.planar else looked + weighed

    def simulation(self) -> str:
        run = self.motion
        assert run is not None
        panels = report_figures.run_panels(run)
        out = part("Time histories", report_figures.curves(run, panels, "rp-run", height=42.0))
        out += part("Motors", report_figures.run_motors(run))
        if self.loads.bearings is not None:
            content = report_tables.bearings(self.loads.bearings)
            out += part("Pin loads in this run", content, note=report_tables.after_impacts(self.loads.bearings, run, _thinned(run).t))
        elif self.loads.why:
            out += part("Pin loads in this run", note=self.loads.why)
        happened = _happened(run)
        return out + pair(part("Certificate", verdicts(report_tables.certificate(run))), part("Events", happened))


def _thinned(run: Trajectory) -> Trajectory:
    """The samples of a run that its loads are looked at."""
    return run[:: -(-len(run) // MOST_SAMPLES)]


def _happened(run: Trajectory) -> str:
    """Events with what they did, and singular positions, the first few of them."""
    events = [f"t = {e.time:.6g} s: {report_tables.event(e)}" for e in run.events]
    lines = [*events[:MOST_EVENTS], *(str(p) for p in run.passages[:MOST_EVENTS])]
    more = len(events) + len(run.passages) - len(lines)
    rows = [(None, "", line) for line in lines] + ([(None, "", f"and {more} more")] if more > 0 else [])
    return verdicts(rows)
