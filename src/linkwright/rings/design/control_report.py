"""Report of a controlled run: efforts drive by drive, errors, forces, work; prints as tables in the file's units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import Cell, Result, Table, Trajectory, UsageError, call_explained, counted, show, tolerances, unit_of
from linkwright.simulation.feedback.control_performance import (
    Deviation,
    DriveEffort,
    EffortNorms,
    Facts,
    Window,
    effort_norms,
    errors,
    facts,
    force_errors,
    forces,
    together,
    tracking,
)

Deviations = Mapping[str, Deviation]
CLEAN = 1e-7  # share of the work turned over below which none is left
ROUTINE_NOTES = ("controller: compiled",)  # notes that carry no information


@dataclass(frozen=True)
class ControlReport(Result):
    """A controlled run in figures, SI; prints as tables in the file's units. Shares are of the time looked at. `errors` and
    `force_errors` are those of the vectors of all coordinates and of all forces of one kind, by kind."""

    controller: Facts
    start: float
    end: float
    efforts: EffortNorms
    tracking: Deviations
    forces: Deviations
    errors: Deviations
    force_errors: Deviations
    work: float  # of the drives, net
    turned_over: float  # the same without signs: what was put in and braked
    damped: float  # share of time in which efforts were damped for lack of control authority
    authority: float  # the smallest, as a share of that at the start
    steps: int | None
    notes: tuple[str, ...] = ()
    units: tuple[str, ...] = field(default=(), repr=False)

    @property
    def saturated(self) -> float:
        """Share of time in which any drive was at a limit."""
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
        parts = [f"{kind}{sampled}: t = {self.start:.6g} .. {self.end:.6g} s", *(t.text() for t in self._efforts()), *self._together()]
        parts += [t.text() for t in _errors_tables("follows", self.tracking, self.errors, self.units)]
        parts += [t.text() for t in _errors_tables("holds", self.forces, self.force_errors, self.units)]
        said = [f"work {show(self.shown_work)} J", f"smallest control authority {show(self.authority)} of that at the start"]
        said += [f"damped {show(100.0 * self.damped)} % of the time"] if self.damped else []
        said += [counted(self.steps, "step")] if self.steps is not None else []
        return "\n".join([*parts, "; ".join(said), *(f"note: {n}" for n in self.notes if n not in ROUTINE_NOTES)])

    def table(self) -> Table:
        """Return the efforts in the file's units, a row for each drive; errors of motions and forces are `parts` of the table."""
        follows = _errors_tables("follows", self.tracking, self.errors, self.units)
        holds = _errors_tables("holds", self.forces, self.force_errors, self.units)
        parts = [Table.stacked(x, title) for title, x in (("tracking", follows), ("forces", holds)) if x]
        drives = self._efforts() or [Table.of(["drive"], [])]
        return Table.stacked(drives, "drives", self.notes, parts=tuple(parts))

    def _efforts(self) -> list[Table]:
        e, tables = self.efforts, []
        for kind in dict.fromkeys(d.kind for d in e.by_drive.values()):
            symbol, size = unit_of(self.units, kind)
            mine = [d for d in e.by_drive.values() if d.kind == kind]
            limited, plates = any(d.limited for d in mine), any(d.limited and d.limit is None for d in mine)
            header = [("drive", ""), ("RMS", symbol), ("peak", symbol), ("at t", "s")]
            header += [("limit", "" if plates else symbol), ("at limit", "%")] if limited else []
            rows: list[tuple[Any, ...]] = [
                (d.drive, d.rms / size, d.peak / size, when(d.at, d.peak, e.peak))
                + ((_limit(d, symbol if plates else "", size), 100.0 * d.saturated) if limited else ())
                for d in mine
            ]
            if len(mine) == len(e.by_drive) > 1:
                rows.append(("all", e.rms / size, None, None, *((None, 100.0 * e.saturated) if limited else ())))
            tables.append(Table.of(header, rows))
        return tables

    def _together(self) -> list[str]:
        """Torques and forces taken together, as a line of text."""
        e = self.efforts
        if e.kind != "mixed":
            return []
        symbol, size = unit_of(self.units, "torque")
        rms, peak = (show(x / size) for x in (e.rms, e.peak))
        limits = f"; at a limit {show(100.0 * e.saturated)} % of the time" if any(d.limited for d in e.by_drive.values()) else ""
        return [f"all: RMS {rms} {symbol}, peak of one {peak} {symbol}, {in_metric(e.length)}{limits}"]


def _limit(d: DriveEffort, symbol: str, size: float) -> Any:
    """Of the effort as a number, or where `symbol` is given with its unit; a motor's of voltage and current as texts."""
    if d.limit is not None:
        return f"{show(d.limit / size)} {symbol}" if symbol else d.limit / size
    plate = [f"{x:g} {unit}" for x, unit in ((d.supply_voltage, "V"), (d.max_current, "A")) if x is not None]
    return ", ".join(plate) or None


def when(at: float, size: float, typical: float = 0.0) -> float | None:
    """The time of a largest value; none where nothing but round-off is there to be largest."""
    return None if show(size) == "0" or size <= tolerances.ROUND_OFF * typical else at


def in_metric(length: float) -> str:
    return f"forces times the mechanism's length {show(length)} m"


def _errors_tables(word: str, found: Deviations, vectors: Deviations, units: tuple[str, ...]) -> list[Table]:
    """A table for each kind: a row for each quantity, and below several that of their vector."""
    parts = []
    for kind in dict.fromkeys(d.kind for d in found.values()):
        symbol, size = unit_of(units, kind)
        header = [(word, ""), ("RMS error", symbol), ("largest", symbol), ("at t", "s"), ("final", symbol), ("settled after", "s")]
        mine = [d for d in found.values() if d.kind == kind]
        mine += [vectors[kind]] if len(mine) > 1 else []
        rows = [
            (
                d.name,
                d.rms / size,
                d.largest / size,
                when(d.at, d.largest / size),
                d.final / size,
                Cell(None, "not yet") if d.settled is None else d.settled,
            )
            for d in mine
        ]
        parts.append(Table.of(header, rows))
    return parts


@call_explained
def control_report(run: Trajectory, between: Any = None) -> ControlReport:
    """Efforts, errors, forces, work and control authority of a controlled run; `between=(t0, t1)`: of a part of it."""
    if not isinstance(run, Trajectory):
        raise UsageError(f"a report is made of a run, s.simulate(..., control=...), not of {type(run).__name__}.", name="control")
    if len(run) < 2:
        raise UsageError("one sample is not a run: there is nothing to report.")
    window, known = Window.of(run, between), facts(run)
    authority = window.cut(run["control.authority"])[1].min() if "control.authority" in run.columns else 1.0
    damped = window.share(run["control.damping"] > 0.0) if "control.damping" in run.columns else 0.0
    work = np.interp([window.a, window.b], run.t, run["work.in"]) if "work.in" in run.columns else np.zeros(2)
    followed, held = tracking(run, between), forces(run, between)
    return ControlReport(
        known,
        window.a,
        window.b,
        effort_norms(run, between=between),
        followed,
        held,
        together(run, errors(run), followed, between),
        together(run, force_errors(run), held, between),
        float(work[1] - work[0]),
        _turned_over(run, window),
        damped,
        float(authority),
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
