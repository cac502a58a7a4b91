"""What a controlled run was like: efforts drive by drive, errors, forces, work; prints as tables in the file's units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.controllers.analysis import Deviation, EffortNorms, Facts, Window, effort_norms, facts, forces, tracking
from linkwright.errors import UsageError
from linkwright.machine.tables import columns, show
from linkwright.results import Trajectory, unit_of

Deviations = Mapping[str, Deviation]
CLEAN = 1e-7  # share of the work turned over below which none is left
USUAL = ("controller: compiled",)  # notes nobody needs to read


@dataclass(frozen=True)
class ControlReport:
    """A controlled run in figures, SI; prints as tables in the file's units. Shares are of the time looked at."""

    controller: Facts
    start: float
    end: float
    efforts: EffortNorms
    tracking: Deviations
    forces: Deviations
    work: float  # of the drives, net
    turned_over: float  # the same without signs: what was put in and braked
    damped: float  # share of time in which efforts were let go for lack of grip
    grip: float  # the smallest
    steps: int | None
    notes: tuple[str, ...] = ()
    units: tuple[str, ...] = field(default=(), repr=False)

    @property
    def saturated(self) -> float:
        """Share of time in which a drive was at a limit."""
        return self.efforts.saturated

    @property
    def shown_work(self) -> float:
        """The work, 0 where it is what the integrator left of as much put in as braked."""
        return self.work if abs(self.work) > CLEAN * self.turned_over else 0.0

    @property
    def settled(self) -> float | None:
        """The time after which all coordinates stay within 2 % of their way; None where one does not, or none is followed."""
        times = [d.settled for d in self.tracking.values()]
        return None if not times or None in times else max(x for x in times if x is not None)

    def __str__(self) -> str:
        kind = self.controller.kind or "no controller"
        sampled = f", sampled every {self.controller.every:g} s" if self.controller.every else ""
        parts = [f"{kind}{sampled}: t = {self.start:.6g} .. {self.end:.6g} s", *self._efforts()]
        parts += [_errors_table("follows", self.tracking, self.units)] if self.tracking else []
        parts += [_errors_table("holds", self.forces, self.units)] if self.forces else []
        said = [f"work {show(self.shown_work)} J", f"smallest grip {show(self.grip)}"]
        said += [f"damped {show(100.0 * self.damped)} % of the time"] if self.damped else []
        said += [f"{self.steps} steps"] if self.steps is not None else []
        return "\n".join([*parts, "; ".join(said), *(f"note: {n}" for n in self.notes if n not in USUAL)])

    def _efforts(self) -> list[str]:
        e, tables = self.efforts, []
        for kind in dict.fromkeys(d.kind for d in e.by_drive.values()):
            symbol, size = unit_of(self.units, kind)
            mine = [d for d in e.by_drive.values() if d.kind == kind]
            limited = any(d.limit is not None or d.saturated for d in mine)
            header = [("drive", ""), ("RMS", symbol), ("peak", symbol), ("at t", "s")]
            header += [("limit", symbol), ("at limit", "%")] if limited else []
            rows: list[tuple[Any, ...]] = [
                (d.drive, d.rms / size, d.peak / size, d.at)
                + ((None if d.limit is None else d.limit / size, 100.0 * d.saturated) if limited else ())
                for d in mine
            ]
            if len(mine) == len(e.by_drive) > 1:
                rows.append(("all", e.rms / size, e.peak / size, None, *((None, 100.0 * e.saturated) if limited else ())))
            tables.append(columns(header, rows))
        if e.kind == "mixed":
            symbol, size = unit_of(self.units, "torque")
            rms, peak = (show(x / size) for x in (e.rms, e.peak))
            tables.append(f"all: RMS {rms} {symbol}, peak {peak} {symbol}, {in_metric(e.length)}")
        return tables


def in_metric(length: float) -> str:
    return f"forces times the mechanism's length {show(length)} m"


def _errors_table(word: str, found: Deviations, units: tuple[str, ...]) -> str:
    parts = []
    for kind in dict.fromkeys(d.kind for d in found.values()):
        symbol, size = unit_of(units, kind)
        header = [(word, ""), ("RMS error", symbol), ("largest", symbol), ("at t", "s"), ("final", symbol), ("settled after", "s")]
        rows = [
            (d.name, d.rms / size, d.largest / size, d.at, d.final / size, d.settled if d.settled is not None else "not yet")
            for d in found.values()
            if d.kind == kind
        ]
        parts.append(columns(header, rows))
    return "\n".join(parts)


def control_report(run: Trajectory, between: Any = None) -> ControlReport:
    """Efforts, errors, forces, work and grip of a controlled run; `between=(t0, t1)`: of a part of it."""
    if not isinstance(run, Trajectory):
        raise UsageError(f"a report is made of a run, s.simulate(..., control=...), not of {type(run).__name__}.")
    if len(run) < 2:
        raise UsageError("one sample is no run: there is nothing to report.")
    window, known = Window.of(run, between), facts(run)
    grip = window.cut(run["control.grip"])[1].min() if "control.grip" in run.columns else 1.0
    damped = window.share(run["control.damping"] > 0.0) if "control.damping" in run.columns else 0.0
    work = np.interp([window.a, window.b], run.t, run["work.in"]) if "work.in" in run.columns else np.zeros(2)
    return ControlReport(
        known,
        window.a,
        window.b,
        effort_norms(run, between=between),
        tracking(run, between),
        forces(run, between),
        float(work[1] - work[0]),
        _turned_over(run, window),
        damped,
        float(grip),
        _steps(run),
        tuple(run.notes),
        tuple(run.skel.tree.description.units),
    )


def _turned_over(run: Trajectory, window: Window) -> float:
    powers = [np.abs(run[n]) for n, x in run.columns.items() if x.dimension == "power" and n.endswith(".power")]
    return sum(window.mean(p) for p in powers) * window.span


def _steps(run: Trajectory) -> int | None:
    """Steps of the integrator; counted without working out the run's certificate."""
    sim = getattr(run.proof, "sim", None)
    if sim is not None:
        return int(sum(p.solution.counters["steps"] for p in sim.pieces))
    return getattr(run.certificate, "steps", None)
