"""Result of a fastest motion: the trajectory in time, its limits and which of them decides where, laws of the drives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, overload

import numpy as np

from linkwright.api import Result, State, Table, Trajectory, calls_explained, check_results, counted, curves
from linkwright.model.curves.piecewise import Piecewise
from linkwright.model.curves.reference_kinds import Components, Reference
from linkwright.properties import cached_property
from linkwright.rings.robots.time_optimal.limits import RMS, MotionLimit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import PlotOptions

ACTIVE = 1e-2  # share of a limit that may be left where it decides: polygons of vectors leave 0.4 %
TOLERATED = 1e-6  # share of a limit by which a checked motion may exceed it


@dataclass(frozen=True, eq=False, repr=False)
class DriveLaw(Reference):
    """Motion of a drive over time: polynomials of fifth degree between samples, which have its position, speed and acceleration."""

    name: str
    curve: Piecewise = field(repr=False)

    def bind(self, to: Components) -> curves.Curve:
        return self.curve

    def __repr__(self) -> str:
        return f"<DriveLaw {self.name!r}: {self.curve.breaks[-1]:.6g} s>"

    def __call__(self, t: Any) -> Any:
        """Position at a time, at rest before and after the motion."""
        return self.curve.value(t)


class LimitUse(NamedTuple):
    """How a motion uses a limit: its largest value, where, as a share of the limit, and the part of the duration in which it decides."""

    name: str
    limit: str
    largest: str
    share: float
    s: float
    t: float
    active: float

    @property
    def ok(self) -> bool:
        return self.share <= 1.0 + TOLERATED


@calls_explained
@dataclass(frozen=True, repr=False)
class TimeOptimalMotion(Result):
    """A motion along a path within limits. `motion["A.torque"]` reads a channel, `.drives` the laws of the drives.

    `trajectory` has samples at the grid of the path: s and its rates are its channels path.s, path.rate and path.acceleration. Where the
    acceleration jumps, a sample has the value behind it. `before` is the same with the values before it.
    """

    law: str
    trajectory: Trajectory
    before: Trajectory
    limits: tuple[MotionLimit, ...]
    use: Mapping[str, np.ndarray] = field(repr=False)  # share of each limit over the samples, the larger one where it jumps
    notes: tuple[str, ...] = ()

    @property
    def time(self) -> float:
        """Duration, s."""
        return float(self.trajectory.t[-1])

    @property
    def t(self) -> np.ndarray:
        """Times at which the path parameter is `s`."""
        return self.trajectory.t

    @property
    def s(self) -> np.ndarray:
        return np.asarray(self.trajectory["path.s"])

    @overload
    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: slice) -> Trajectory: ...
    @overload
    def __getitem__(self, key: int) -> State: ...
    def __getitem__(self, key: str | tuple[str, str] | slice | int) -> np.ndarray | Trajectory | State:
        """`f["A.torque"]` in SI, `f["A", "deg"]` in a unit. Samples and states are as in the `trajectory`."""
        return self.trajectory[key]

    def _ipython_key_completions_(self) -> list[str]:
        """Names after `f["` and Tab."""
        return list(self.trajectory.channels)

    @cached_property
    def active(self) -> list[str]:
        """The limit that decides in each interval between two samples, which is the most used limit there."""
        names = list(self.use)
        if not names:
            return [""] * (len(self.t) - 1)
        table = np.array([self.use[n] for n in names])
        both = np.maximum(table[:, :-1], table[:, 1:])
        best, most = both.argmax(axis=0), both.max(axis=0)
        return [names[k] if x > 1.0 - ACTIVE else "" for k, x in zip(best, most, strict=True)]

    def checks(self) -> check_results.Checks:
        """Every limit as a check, from the finished trajectory: the value is the share of the limit that is used."""
        texts = [f"{x.largest} of {x.limit}, {100.0 * x.share:.2f} % used" for x in self.used]
        found = [
            check_results.Check.of(x.name, x.ok, text, value=x.share, limit=1.0 + TOLERATED)
            for x, text in zip(self.used, texts, strict=True)
        ]
        return check_results.Checks(tuple(found))

    @cached_property
    def used(self) -> tuple[LimitUse, ...]:
        """Every limit with its use, as computed from the finished trajectory."""
        out, steps = [], np.diff(self.t)
        for limit in self.limits:
            share = self.use[limit.name] if limit.name in self.use else np.full(len(self.t), self._heat(limit))
            i = int(np.argmax(share))
            decides = sum(h for h, name in zip(steps, self.active, strict=True) if name == limit.name) / self.time
            value = limit.text(float(share[i]) * limit.high) if limit.low == -limit.high else f"{100.0 * share[i]:.4g} %"
            out.append(LimitUse(limit.name, limit.range, value, float(share[i]), float(self.s[i]), float(self.t[i]), float(decides)))
        return tuple(out)

    def _heat(self, limit: MotionLimit) -> float:
        return self.trajectory.settings["heat"][limit.name] / limit.high

    @property
    def ok(self) -> bool:
        """True if no limit is exceeded."""
        return all(x.ok for x in self.used)

    @cached_property
    def drives(self) -> dict[str, DriveLaw]:
        """Laws of the drives over time, for `m.follow`, controllers and prescribed motions."""
        c, b = self.trajectory, self.before
        return {name: DriveLaw(name, quintics(c.t, c[name], c[f"{name}.v"], c[f"{name}.a"], b[f"{name}.a"])) for name in c.drives}

    def as_dict(self) -> dict[str, Any]:
        """Return law, time, limits and samples of the path as plain data, in SI and radians."""
        limits = [{"name": x.name, "share": x.share, "s": x.s, "t": x.t, "decides": x.active, "ok": bool(x.ok)} for x in self.used]
        samples = {"t": [float(x) for x in self.t], "s": [float(x) for x in self.s]}
        return {"law": self.law, "time": self.time, "ok": bool(self.ok), "limits": limits, "notes": list(self.notes), **samples}

    def table(self) -> Table:
        """Return a row for each limit: the largest value, its share of the limit, where, and for how much of the time it decides."""
        heads = [
            ("limit", ""), ("allowed", ""), ("largest", ""), ("used", "%", ".2f"), ("at s", "-", ".4g"),
            ("decides", "%", ".0f", "of the time"),
        ]  # fmt: skip
        rows = [(x.name, x.limit, x.largest, 100.0 * x.share, None if x.name.startswith(RMS) else x.s, 100.0 * x.active) for x in self.used]
        return Table.of(heads, rows, "limits", self.notes)

    def __repr__(self) -> str:
        held = "held" if self.ok else "exceeded"
        return f"<TimeOptimalMotion {self.law!r}: {self.time:.6g} s, {counted(len(self.t), 'sample')}, limits {held}>"

    def __str__(self) -> str:
        head = f"{self.law}: {self.time:.6g} s, {counted(len(self.t) - 1, 'interval')}"
        return "\n".join([head, self.table().text(), *(f"note: {x}" for x in self.notes)])

    def plot(self, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Unpack[PlotOptions]) -> Figure | Path:
        """Plot channels over time. By default the speed along the path, and drive torques and forces."""
        c = self.trajectory
        names = [n for n in c.channels if n.endswith((".torque", ".force")) and n.rsplit(".", 1)[0] in c.drives]
        return c.plot(["path.rate", *names] if what is None else what, path, **options)


def quintics(t: np.ndarray, q: np.ndarray, v: np.ndarray, after: np.ndarray, before: np.ndarray) -> Piecewise:
    """Polynomials between samples with these values, rates, and second rates behind and before each sample; at rest outside."""
    h = np.diff(t)
    a0, a1 = after[:-1], before[1:]
    d, v0, v1 = (q[1:] - q[:-1]) / h, v[:-1], v[1:]
    c3 = (10.0 * d - 6.0 * v0 - 4.0 * v1 + 0.5 * h * (a1 - 3.0 * a0)) / h**2
    c4 = (-15.0 * d + 8.0 * v0 + 7.0 * v1 + 0.5 * h * (3.0 * a0 - 2.0 * a1)) / h**3
    c5 = (6.0 * d - 3.0 * (v0 + v1) + 0.5 * h * (a1 - a0)) / h**4
    inner = np.stack([q[:-1], v0, 0.5 * a0, c3, c4, c5], axis=1)
    still = np.zeros((2, 6))
    still[:, 0] = q[0], q[-1]
    return Piecewise(t, np.concatenate([still[:1], inner, still[1:]]))
