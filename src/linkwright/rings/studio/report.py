"""The report: a document for a colleague, a supplier or the file; as a page with the sheets below it, or as PDF.

For a mechanism: title block, what it is, its dimensions, how it moves, what its drives need, what its bearings carry, variants side by
side, what was checked, and the terms used. For a simulation: its time histories, energies, loads and certificate. Only what the model
allows is reported: without masses there are no loads, and a mechanism that cannot be turned says why. The same input gives the same file:
a date is in it only where the file or the call gives one.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from linkwright.api import (
    LinkwrightError,
    System,
    Trajectory,
    UsageError,
    check_results,
    counted,
    files,
    mechanism_of,
    motion_checks,
    nearest,
    singular_positions,
)
from linkwright.model.report_block import MOST_CURVES, MOST_LETTERS, TEXTS, ReportBlock
from linkwright.properties import cached_property
from linkwright.rings.design.bearing_loads import bearings
from linkwright.rings.design.belts import belt_geometry
from linkwright.rings.design.cycle_loads import CycleLoads, cycle_loads
from linkwright.rings.design.drive_duty import drive_names
from linkwright.rings.design.drive_sizing import Motor, drive_sizing
from linkwright.rings.design.motor_choice import MotorChoice
from linkwright.rings.design.summary import Summary, summarize
from linkwright.rings.studio import (
    page,
    pdf,
    report_contacts,
    report_figures,
    report_forces,
    report_measures,
    report_tables,
    report_variants,
)
from linkwright.rings.studio.plots import natural_axis
from linkwright.rings.studio.report_parts import facts, listed, note, pair, paragraph, part, verdicts

ENDINGS = (*files.PAGES, *pdf.PDF)
MOST_EVENTS = 8
REPORT_SAMPLES = 36  # samples that show every extreme of a motion

TERMS: tuple[tuple[str, str, str], ...] = (
    ("Mobility", r"Mobility", "number of independent motions. The Grübler count estimates it from bodies and joints alone"),
    ("Over-constrained", r"over-constrained", "has more constraints than its motion needs: exact dimensions or clearances let it move"),
    ("Transmission angle", r"transmission at", "angle at which a link is pushed: 90° is ideal, below 40° is poor in most designs"),
    ("Pressure angle", r"pressure angle", "angle between the force on a link and the motion of its point: 0° is ideal"),
    ("Base circle", r"base circle", "circle about the cam's center on which the follower rests at its lowest"),
    ("Undercutting", r"undercut", "the profile is bent more sharply than the follower can trace: the law is not met there"),
    ("Lift-off", r"lifts? off", "the follower leaves the cam, because the contact force would have to pull"),
    ("Dead center", r"[Dd]ead center", "position in which the driven part turns back and the drive can pass no force on"),
    ("Singular position", r"[Ss]ingular", "position in which forces of the mechanism grow without bound or its motion is not determined"),
    ("RMS", r"\bRMS\b", "root of the mean square over the cycle: heats a motor as much as the changing effort"),
    ("Work", r">work<", "energy that the drive puts in during one cycle"),
    ("Energy to brake", r"energy to brake", "energy that flows back in one cycle: a brake resistor or the supply takes it"),
    ("Equivalent load", r">P \(p=3\)<|equivalent", "constant load that wears a rolling bearing as much as the changing one"),
    ("Statically indeterminate", r"[Ss]tatically indeterminate", "several bearings share a load, by stiffness and play"),
    ("Shaking force", r"[Ss]haking force", "force of the whole mechanism on its foundation"),
    ("Flywheel", r">Flywheel<", "inertia at the drive that keeps the fluctuation of speed within the limit named"),
    ("Loops closed", r"Loops closed", "distance by which the links fail to meet, over the size of the mechanism: round-off"),
    ("Equilibrium", r">Equilibrium<", "forces and moments left over at each body, over the largest force: round-off"),
    ("Cylinder pressure", r">pressure<|cap end", "force over the area of the piston, on the rod's side over the ring"),
)

LABELS = {"number": "No.", "revision": "Revision", "author": "Author", "company": "Company", "date": "Date"}


def report(
    subject: Any,
    path: str | os.PathLike[str],
    *,
    run: Trajectory | None = None,
    motor: Any = None,
    steps: int | None = None,
    tolerances: Any = None,
    curves: Sequence[str] | str | None = None,
    variants: Mapping[str, Any] | None = None,
    measures: Sequence[str] | str | None = None,
    **texts: Any,
) -> Path:
    """Write the report of a Mechanism or System: of `run` (a cycle, a motion, a simulation), or of a cycle in `steps`; as a page (.html) or
    as PDF. `tolerances` (of `m.tolerances`) are a part of it, `curves` are channels shown, `measures` single numbers ("dwell guide within 1
    mm"), `variants` mechanisms to compare with, `texts` those of the title block; what is not given is taken from `report:` in the
    model file."""
    from linkwright.rings.studio import live

    files.checked(path, ENDINGS)
    as_pdf = os.fspath(path).lower().endswith(pdf.PDF)
    if as_pdf:
        pdf.need_chromium()  # before the long work
    if isinstance(motor, Mapping):
        Motor.of(motor)  # a wrong key is reported before the long work
    if page.checked_steps(steps) is not None and run is not None:
        raise UsageError(
            "steps belong to the cycle a report makes. The given run has its own samples. Leave one of them out.", name="steps"
        )
    if tolerances is not None:
        from linkwright.rings.studio import report_tolerances  # here and below: few reports have them

        report_tolerances.check(tolerances)
    content = fragment(
        subject, run=run, motor=motor, steps=steps, tolerances=tolerances, curves=curves, variants=variants, measures=measures, **texts
    )  # fmt: skip
    if as_pdf:
        return pdf.print_pdf(_sheets(content, getattr(subject, "system", subject).description.name), path)
    return live.write(subject, path, report=content, steps=steps, **page.played(subject, run))


def fragment(
    subject: Any,
    *,
    run: Trajectory | None = None,
    motor: Any = None,
    steps: int | None = None,
    tolerances: Any = None,
    curves: Sequence[str] | str | None = None,
    variants: Mapping[str, Any] | None = None,
    measures: Sequence[str] | str | None = None,
    **texts: Any,
) -> str:
    """The report alone, as HTML for the page."""
    system: System = getattr(subject, "system", subject)
    others = report_variants.checked(variants)
    block = title_block(system.description.report, texts, curves)
    simulated = run is not None and run.proof is not None
    if simulated and others:
        raise UsageError("variants are compared by a cycle, and this is the report of a run. Leave one of them out.", name="variants")
    content = ReportContent(system, run, motor, steps, block, others, report_measures.checked(measures))
    inside = content.head() + content.intro() + (content.simulation() if simulated else content.cycle())
    if tolerances is not None:
        from linkwright.rings.studio import report_tolerances

        inside += report_tolerances.section(tolerances)
    inside += terms_section(inside)
    return f'<article class="rp">\n{inside}</article>'


def _sheets(content: str, title: str) -> str:
    """A page of the sheets alone, for print."""
    from linkwright.rings.studio import live

    head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>{files.GENERATOR}'
    return f'{head}<style>{live.styles(live.REPORT_STYLE)}</style></head><body><section id="report">{content}</section></body></html>'


@dataclass
class ReportContent:
    """Content of the report, each part computed once."""

    system: System
    run: Trajectory | None
    motor: Any = None
    steps: int | None = None  # of the cycle, where no run is given
    block: ReportBlock = ReportBlock()
    variants: Mapping[str, System] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    why: str = field(default="", init=False)  # there is no motion to report

    @cached_property
    def summary(self) -> Summary:
        c = self.motion
        own = c if c is not None and c.proof is None and (len(c) > REPORT_SAMPLES or c.static) else None  # its motion as reported
        return summarize(self.system, turn=own)

    @cached_property
    def motion(self) -> Trajectory | None:
        if self.run is not None:
            return self.run
        try:
            return mechanism_of(self.system).cycle() if self.steps is None else mechanism_of(self.system).cycle(steps=self.steps)
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
    def checks(self) -> check_results.Checks:
        """The checks of the motion, and of the motor that is given here."""
        assert self.motion is not None
        found = self.motion.checks()
        given = motion_checks.motor_checks("motor", self.sizings) if self.motor is not None else []
        return check_results.Checks((*found, *motion_checks.merged("motor", given)), found.details)

    @cached_property
    def sizings(self) -> list[Any]:
        """Drives that have a motor, in the file or given here."""
        if self.motion is None or self.loads.efforts is None:
            return []
        found = [drive_sizing(self.motion, name, motor=self._motor_of(name)) for name in drive_names(self.motion)]
        return [s for s in found if s.motor is not None]

    def _motor_of(self, drive: str) -> Any:
        """Return the motor given for a drive: one of `choose_motor` only for the drive that it was chosen for."""
        other = isinstance(self.motor, MotorChoice) and self.motor.sizing.history.name != drive
        return None if other else self.motor

    # ---------------------------------------------------------------- sheets

    def head(self) -> str:
        d = self.system.description
        kind = "Mechanism" if self.run is None or self.run.proof is None else "Simulation"
        return title_head(kind, d.name, d.about, self.block)

    def intro(self) -> str:
        drawn = report_figures.mechanism(self.system, self.motion)
        off = ", ".join(report_figures.off_at_start(self.motion))
        rows = [
            *report_tables.facts(self.system, self.summary, self.motion),
            ("Switched off", off and f"{off}, at the start"),
            *self._acting(),
        ]
        content = facts(rows) + "".join(note(w) for w in self.summary.notes)
        return f'<div class="rp-intro">{drawn}<div>{content}</div></div>\n'

    def _acting(self) -> list[tuple[str, str]]:
        """Loads on the mechanism and the drive efforts for them; of a simulation only the loads."""
        c = self.motion
        rows = [("" if i else "Applied forces", said) for i, said in enumerate(report_forces.acting(self.system, c))]
        if c is not None and c.proof is not None:
            return rows
        need = report_forces.needs(self.loads, c is not None and bool(c.full_turn))
        return [*rows, ("Drive", need), ("Flywheel", report_forces.wheel(self.loads, c))]

    def cycle(self) -> str:
        c = self.motion
        if c is None:
            return part("Motion", paragraph(self.why)) + report_figures.dimensions_section(self.system) + self._compared()
        over = natural_axis(c)
        curves = report_figures.curves(c, report_figures.motion_panels(c, over), "rp-motion", over=over)
        out = part("Motion", curves, report_tables.motion_tables(self.system, self.summary, over, c.dimension(over)))
        out += report_measures.section(c, self.measures, self.system.description.units)
        out += part("Lost motion", report_contacts.lost_motion(c, over))
        out += report_figures.dimensions_section(self.system) + self._cams(c, over)
        return out + self._chosen(c, over) + self._loaded(c, over) + self._compared() + self._foot(c)

    def _cams(self, c: Trajectory, over: str) -> str:
        """Every cam in a sentence, with its pressure angle and contact force."""
        cams = self.summary.cams
        if not cams:
            return ""
        names = [f"{x.name}.pressure_angle" for x in cams]
        names += [] if self.loads.efforts is None else [f"{x.name}.contact" for x in cams]
        said = "".join(paragraph(f"{x.text}.") for x in cams)
        return part("Cams", said, report_figures.curves(c, report_figures.chosen_panels(c, names), "rp-cams", over=over))

    def _chosen(self, c: Trajectory, over: str) -> str:
        """Curves that the file or the call asks for, channels of one dimension in one pair of axes."""
        return part("Curves", report_figures.curves(c, report_figures.chosen_panels(c, self.block.curves), "rp-chosen", over=over))

    def _compared(self) -> str:
        """This mechanism beside its variants."""
        if not self.variants:
            return ""
        own = report_variants.DesignVariant("this design", self.system, self.motion, self.summary, self.loads, self.why)
        others = [report_variants.DesignVariant.of(name, system, self.steps) for name, system in self.variants.items()]
        return report_variants.section(own, others, self.measures)

    def _loaded(self, c: Trajectory, over: str) -> str:
        if self.loads.efforts is None or self.loads.bearings is None:
            return part("Drive and bearing loads", note=self.loads.why)
        curves = report_figures.curves(c, report_figures.effort_panels(c), "rp-efforts", over=over)
        shaken = f"S{self.loads.shaken[1:]}."
        content = singular_positions.PEAKS if singular_positions.PEAKS in c.notes else ""
        few = len(self.loads.efforts.rows) <= 3
        return (
            part("Drive", curves, report_tables.drives(self.loads), note=content, together=few)
            + self._motors()
            + part("Cylinders", report_tables.cylinders(self.loads.cylinders))
            + part("Belts, chains and ropes", report_tables.belts(self.loads.belts, belt_geometry(self.system)))
            + part("Bearing loads", report_tables.bearings(self.loads.bearings), note(shaken))
        )

    def _motors(self) -> str:
        """Return the diagram of the motor that has least to spare, and the figures of all."""
        if not self.sizings:
            return ""
        given = [self._motor_of(s.history.name) for s in self.sizings]
        gearboxes = [x.gearbox_margins if isinstance(x, MotorChoice) else () for x in given]
        margins = [(*s.margins, *more) for s, more in zip(self.sizings, gearboxes, strict=True)]
        tight = min(range(len(margins)), key=lambda k: min((m.factor for m in margins[k]), default=float("inf")))
        diagram = report_figures.motor(self.sizings[tight])
        diagram = f'<div class="rp-motor">{diagram}<div>{report_tables.margins(self.sizings[tight], gearboxes[tight])}</div></div>'
        names = [f"{x.name}: " if isinstance(x, MotorChoice) else "" for x in given]
        plates = facts(
            (f"Motor of {s.history.name}", name + report_tables.motor_data(s.motor)) for s, name in zip(self.sizings, names, strict=True)
        )
        return part("Motor", plates, report_tables.motor_table(self.sizings), diagram, together=True)

    def _foot(self, c: Trajectory) -> str:
        looked = part("Checks", paragraph(self.checks.headline_counts), verdicts(self.checks), listed(report_tables.remarks(c, self.loads)))
        weighed = part("Masses", report_tables.masses(self.system))
        return pair(looked, weighed) if self.system.description.planar else looked + weighed

    def simulation(self) -> str:
        run = self.motion
        assert run is not None
        panels = report_figures.run_panels(run)
        out = part("Time histories", report_figures.curves(run, panels, "rp-run", height=42.0)) + self._chosen(run, "t")
        out += report_measures.section(run, self.measures, self.system.description.units)
        out += part("Motors", report_figures.run_motors(run)) + part("Contact", report_contacts.contacts(run))
        if self.loads.bearings is not None:
            content = report_tables.bearings(self.loads.bearings)
            out += part("Pin loads in this run", content, note=report_tables.after_impacts(self.loads.bearings, run, _thinned(run).t))
        elif self.loads.why:
            out += part("Pin loads in this run", note=self.loads.why)
        happened = _happened(run)
        return out + pair(part("Checks", paragraph(self.checks.headline_counts), verdicts(self.checks)), part("Events", happened))


def _thinned(run: Trajectory) -> Trajectory:
    """The samples of a run that its loads are looked at."""
    most_samples = 750  # of a simulation that are looked at for its bearing table
    return run[:: -(-len(run) // most_samples)]


def _happened(run: Trajectory) -> str:
    """Events with what they did, and singular positions, the first few of them."""
    events = [f"t = {e.time:.6g} s: {report_tables.event(e)}" for e in run.events]
    lines = [*events[:MOST_EVENTS], *(str(p) for p in run.passages[:MOST_EVENTS])]
    more = len(events) + len(run.passages) - len(lines)
    return listed([*lines, *([f"and {more} more"] if more > 0 else [])])


# Terms of the report explained: those that the report uses, in a list at its end.
def terms_section(report: str) -> str:
    """Return the list of the terms that occur in a report."""
    rows = [(name, meaning) for name, pattern, meaning in TERMS if re.search(pattern, report)]
    return part("Terms", facts(rows)) if rows else ""


# Head of the report: title block with number, revision, author, company and date, as far as they are given.


def title_block(file: ReportBlock, texts: Mapping[str, Any], curves: Sequence[str] | str | None) -> ReportBlock:
    """Return the block of the file with what the call gives in its place."""
    given: dict[str, Any] = {}
    for name, said in texts.items():
        if name not in TEXTS:
            raise UsageError(f"a report has no '{name}'.", nearest(name, TEXTS, "Texts of its title block"))
        if said is None:
            continue
        plain = " ".join(str(said).split())
        if len(plain) > MOST_LETTERS:
            raise UsageError(
                f"{name} of the report has {counted(len(plain), 'letter')}. A title block has room for {MOST_LETTERS}.", name=name
            )
        given[name] = plain
    if curves is not None:
        named = [curves] if isinstance(curves, str) else list(curves)
        if not all(isinstance(x, str) for x in named) or len(named) > MOST_CURVES:
            raise UsageError(
                f"curves of a report are names of up to {MOST_CURVES} channels, such as ['A.torque'], not {curves!r:.60}.", value=curves
            )
        given["curves"] = tuple(dict.fromkeys(named))
    return replace(file, **given)


def title_head(kind: str, name: str, about: str, block: ReportBlock) -> str:
    """Return the head of the sheet; the title block is at its right."""
    subtitle = f'<p class="rp-about">{html.escape(about)}</p>' if about else ""
    rows = [(LABELS[x], getattr(block, x)) for x in LABELS if getattr(block, x)]
    made = f"Linkwright {import_module('linkwright').__version__}"
    inside = "".join(f"<tr><th scope='row'>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows)
    titles = f'<table class="rp-block"><tbody>{inside}</tbody></table>' if rows else ""
    of = f"{kind} report" + (f" · {html.escape(name)}" if block.title and block.title != name else "")
    return (
        f'<header class="rp-head"><div><p class="rp-kind">{of}</p><h2>{html.escape(block.title or name)}</h2>{subtitle}</div>'
        f'<div class="rp-made">{titles}<p>{made}</p></div></header>\n'
    )
