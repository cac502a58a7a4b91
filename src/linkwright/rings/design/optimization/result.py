"""The result of an optimization: the best design, how it compares with the file, what binds, and how sure it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.api import Cell, Mechanism, Result, Table, calls_explained, file_editing
from linkwright.model.file.reader import reread
from linkwright.properties import cached_property
from linkwright.rings.design.optimization.certificate import Binding, OptimumCertificate
from linkwright.rings.design.optimization.problem import MET, DesignPoint, DesignProblem, Goal, Limit
from linkwright.rings.design.optimization.quantities import OfMotion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import Paper


@dataclass(frozen=True)
class QuantityChange:
    """A goal or limit in the file's design and in the best one, in SI; nan where the file's design has no motion."""

    text: str
    before: float
    after: float
    shown: tuple[str, float]
    missed: float = 0.0  # by how much the best design is outside of a limit, SI: positive above, negative below
    open_before: float = 0.0  # how far the numbers may go between samples; infinite where they grow without bound
    open_after: float = 0.0
    known: bool = True  # whether a limit that holds at the samples holds between them

    @property
    def grows(self) -> bool:
        """True if the number of the best design grows without bound: it is the one of the nearest sample."""
        return not np.isfinite(self.open_after)

    @property
    def met(self) -> bool:
        """True if the best design is inside of the limit, to 1e-9 of it."""
        return self.missed == 0.0

    @property
    def violation(self) -> str:
        """By how much a limit is missed, in the user's unit."""
        unit, size = self.shown
        return f"violated by {abs(self.missed) / size:.3g}{' ' if unit else ''}{unit}"

    def row(self) -> tuple[str, Any, Any, str]:
        """Text, before, after, unit; a number that grows without bound near a singular position is marked with *."""
        unit, size = self.shown
        found = (self.before / size, self.open_before), (self.after / size, self.open_after)
        before, after = (x if np.isfinite(open_) else Cell(x, f"{x:.6g}*") for x, open_ in found)
        return self.text, before, after, unit

    @property
    def remark(self) -> str:
        """Remark on a limit that does not bind."""
        if not self.met:
            return self.violation
        return "holds" if self.known else "not known between samples"


@calls_explained
@dataclass(frozen=True, eq=False, repr=False)
class OptimizationResult(Result):
    """The best design that was found. `mechanism` is it. `text` the user's file with the new numbers. `show` a page with both designs."""

    problem: DesignProblem
    point: DesignPoint
    goals: tuple[QuantityChange, ...]
    limits: tuple[QuantityChange, ...]
    certificate: OptimumCertificate | None
    feasible: bool
    designs: int
    seconds: float
    interrupted: bool = False
    rejected: Mapping[str, int] = field(default_factory=dict)  # reasons of designs without a motion, and how many
    notes: tuple[str, ...] = ()
    late: bool = False  # the time (`within`) was over before the search was through

    def __repr__(self) -> str:
        return f"<OptimizationResult of {self.problem.described.name!r}: {'; '.join(self._summary())}>"

    def _summary(self) -> list[str]:
        t = self.table()
        return [f"{x.text}: {t['before'].text(i)} -> {t['after'].text(i)} {x.shown[0]}".rstrip() for i, x in enumerate(self.goals)]

    # ---------------------------------------------------------------- numbers

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Return the parameters that vary at the optimum, in SI."""
        return {v.name: float(x) for v, x in zip(self.problem.variables, self.point.numbers, strict=True)}

    @property
    def value(self) -> float:
        """Return the value of the (first) goal at the optimum, in SI."""
        return self.goals[0].after

    @property
    def kkt(self) -> float:
        """Return the KKT residual, relative. Nan if no feasible design was found."""
        return float("nan") if self.certificate is None else self.certificate.kkt

    @property
    def binding(self) -> tuple[Binding, ...]:
        """Return the bounds and limits that hold the optimum."""
        return () if self.certificate is None else self.certificate.binding

    # ---------------------------------------------------------------- the design

    @cached_property
    def text(self) -> str:
        """Return the user's own model file with the new numbers in place."""
        return file_editing.edited(self.original.described, self.numbers)

    @property
    def original(self) -> DesignProblem:
        """Return the problem of the user's own file."""
        return self.problem.original or self.problem

    @cached_property
    def mechanism(self) -> Mechanism:
        """Return the best design as a Mechanism."""
        return Mechanism(reread(self.original.described, **self.numbers))

    def show(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Open a page with both designs, before and after, and a slider for every number that varies. With `path`, write it there."""
        return import_module("linkwright.rings.studio.page").shown(f"{self.mechanism.name}-before-and-after", self._write_page, path)

    def _write_page(self, path: Path) -> Path:
        write = import_module("linkwright.rings.studio.compare_page").write
        t = self.table()
        wanted = [
            (text, *(f"{t[name].text(i)} {unit}".strip() for name in ("before", "after")), remark)
            for i, (text, _, _, unit, remark) in enumerate(t.rows)
        ]
        table = [
            *wanted[: len(self.goals) + len(self.limits)],
            *((f"binds: {b.what}", "", self._gain(b).replace(" better", ""), "gain") for b in self.binding),
        ]
        bounds = {v.name: (v.low, v.high) for v in self.original.variables}
        channel = next(iter(self.channels), "")
        own = Mechanism(self.original.described)
        return write(own, self.mechanism, path, names=list(self.numbers), table=table, bounds=bounds, channel=channel)

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Unpack[Paper]) -> Figure | Path:
        """Plot the channels of goals and constraints, before and after (matplotlib Figure, or a file)."""
        return import_module("linkwright.rings.studio.optimization_plots").before_and_after(self, path, **options)

    @property
    def channels(self) -> list[str]:
        """Return the channels that goals and constraints read."""
        measured = [q.measure for q in self.problem.quantities if isinstance(q, OfMotion) and q.measure is not None]
        return list(dict.fromkeys(m.channel for m in measured))

    def table(self) -> Table:
        """Return goals, limits and parameters that vary, before and after, each in the unit that it was written in."""
        held = {b.what: b.end for b in self.binding}
        out: list[tuple[Any, ...]] = [(*x.row(), "goal") for x in self.goals]
        for x in self.limits:
            out.append((*x.row(), "binds" if x.met and x.known and x.text in held else x.remark))
        for v in self.original.variables:
            unit, size = v.shown
            remark = f"at its {'lower' if held[v.name] == 'min' else 'upper'} bound" if v.name in held else ""
            out.append((v.name, v.nominal / size, self.numbers[v.name] / size, unit, remark))
        heads = [("quantity", ""), ("before", "", ".6g"), ("after", "", ".6g"), ("unit", ""), ("remark", "")]
        return Table.of(heads, out, "optimum", self.notes)

    # ---------------------------------------------------------------- text

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists, SI."""
        return {
            "model": self.problem.described.name,
            "goals": [{"goal": x.text, "before": x.before, "after": x.after, "grows": x.grows} for x in self.goals],
            "limits": [
                {
                    "limit": x.text,
                    "before": x.before,
                    "after": x.after,
                    "met": x.met,
                    "missed": x.missed,
                    "known": x.known,
                    "grows": x.grows,
                }
                for x in self.limits
            ],
            "numbers": self.numbers,
            "bounds": {v.name: [v.low, v.high] for v in self.problem.variables},
            "feasible": self.feasible,
            "kkt": self.kkt,
            "binding": [{"what": b.what, "end": b.end, "gain": b.gain} for b in self.binding],
            "agreeing": 0 if self.certificate is None else self.certificate.agreeing,
            "starts": 0 if self.certificate is None else self.certificate.starts,
            "designs": self.designs,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "late": self.late,
            "rejected": dict(self.rejected),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [f"{self.problem.described.name}: {self._verdict()}"]
        lines.append(self.table().text())
        lines += [f"  {text}" for text in self._certified()]
        lines += [f"  {b}" for b in self._bindings()]
        if self.rejected:
            counted = "; ".join(f"{n:,} {why}" for why, n in sorted(self.rejected.items(), key=lambda x: -x[1])[:4])
            lines.append(f"  designs without a motion: {counted}")
        return "\n".join([*lines, *(f"  {n}" for n in self.notes)])

    def _verdict(self) -> str:
        early = "interrupted" if self.interrupted else "time is over" if self.late else ""
        speed = f"{self.designs:,} designs in {self.seconds:.1f} s"
        if self.feasible:
            return f"{early}, best so far, {speed}" if early else f"optimized, {speed}"
        return f"{early}, no design so far meets all constraints, {speed}" if early else f"no design meets all constraints, {speed}"

    def _certified(self) -> list[str]:
        c = self.certificate
        if c is None:
            return []
        starts = f"{c.agreeing} of {c.starts} starts ended here" if c.starts > 1 else "one start"
        if c.optimal:
            return [f"KKT residual {c.kkt:.1e}; {starts}{': a local optimum' if c.starts == 1 else ''}"]
        why = "the goal has a kink there, or the search ended early. More starts or another start may find a better design"
        return [f"KKT residual {c.kkt:.1e}: not certified as a local optimum; {starts}", f"  ({why})"]

    def _bindings(self) -> list[str]:
        out = []
        for b in sorted(self.binding, key=lambda b: -abs(b.gain)):
            out.append(f"binds: {b.what}{f' at its {b.end}' if b.end in ('min', 'max') else ''}, {self._gain(b)}")
        return out

    def _gain(self, b: Binding) -> str:
        """Text of what one unit more of a bound or limit is worth."""
        goal, (unit, size) = self.problem.goals[0], self._unit_of(b)
        gain = b.gain * size / goal.shown[1]
        return f"{gain:.3g}{' ' if goal.shown[0] else ''}{goal.shown[0]} better per {unit or 'unit'}"

    def _unit_of(self, b: Binding) -> tuple[str, float]:
        named = {v.name: v.shown for v in self.problem.variables} | {lim.text: lim.shown for lim in self.problem.sought}
        return named.get(b.what, ("", 1.0))


def change(item: Goal | Limit, before: DesignPoint, after: DesignPoint) -> QuantityChange:
    """A goal or limit before and after, both read from the motion as a user gets it."""
    old, new = (float(item.value(p)) if p.ok else np.nan for p in (before, after))
    open_ = [item.reach(p) if p.ok else 0.0 for p in (before, after)]
    if not isinstance(item, Limit):
        return QuantityChange(item.text, old, new, item.shown, 0.0, open_[0], open_[1])
    low, high = item.low, item.high
    known = (high == np.inf or open_[1] <= 0.0 or new + open_[1] <= high + MET * item.scale) and (
        low == -np.inf or open_[1] >= 0.0 or new + open_[1] >= low - MET * item.scale
    )
    return QuantityChange(item.text, old, new, item.shown, item.beyond(new), open_[0], open_[1], bool(known))
