"""A flywheel for a drive of constant mean torque: how much inertia keeps the speed within a given fluctuation.

Over a cycle at constant speed w the drive needs T(q). A motor that only gives the mean T_m leaves E(q) = integral (T_m - T) dq
to the inertia. With the mechanism's own reduced inertia j(q) = 2 E_kin / w^2 (already in T at constant speed) the speed is

    w(q)^2 = (w0^2 j(q) + 2 E(q) + const) / (I + j(q))

The classical figure is I + j = (E_max - E_min) / (fluctuation w^2); `inertia` is solved from the formula above instead, so a
mechanism whose own inertia helps needs less.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from linkwright.api import KINDS, Cell, Result, Table, Trajectory, UsageError, quantity, show, unit_of
from linkwright.model.curves.tables import periodic_spline
from linkwright.rings.design.drive_duty import drive_history

EXACT = 1e-14  # relative width at which halving an interval ends


@dataclass(frozen=True)
class Flywheel(Result):
    """Inertia to add at the drive (kg m^2), SI. `classical` counts no inertia of the mechanism; `own` is its mean."""

    inertia: float
    classical: float
    own: float
    fluctuation: float
    speed: float
    mean_torque: float
    energy: float  # E_max - E_min
    at_slow: float  # drive positions of the least and the largest speed
    at_fast: float
    fluctuation_without: float  # of the mechanism alone; inf if it would not even keep turning
    position: np.ndarray = field(repr=False, compare=False)
    speeds: np.ndarray = field(repr=False, compare=False)  # over the cycle, with the flywheel
    units: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        skip = ("position", "speeds", "units")
        return {k: None if v == float("inf") else v for k, v in asdict(self).items() if k not in skip}

    def table(self) -> Table:
        """Return the figures of the flywheel in the file's units, one row each."""
        (speed, per), (angle, radian), (torque, newton) = (unit_of(self.units, k) for k in ("angular speed", "angle", "torque"))
        stops = np.isinf(self.fluctuation_without)
        without = Cell(None, "it would stop") if stops else 100.0 * self.fluctuation_without
        rows = [
            ("inertia", self.inertia, "kg m^2"), ("classical inertia", self.classical, "kg m^2"), ("own inertia", self.own, "kg m^2"),
            ("speed", self.speed / per, speed), ("fluctuation", 100.0 * self.fluctuation, "%"), ("fluctuation without", without, "%"),
            ("mean torque", self.mean_torque / newton, torque), ("energy in and out", self.energy, "J"),
            ("slowest at", self.at_slow / radian, angle), ("fastest at", self.at_fast / radian, angle),
        ]  # fmt: skip
        return Table.of(["figure", "value", "unit"], rows, "flywheel")

    def __str__(self) -> str:
        speed, angle = unit_of(self.units, "angular speed"), unit_of(self.units, "angle")
        without = "it would stop" if np.isinf(self.fluctuation_without) else f"{100 * self.fluctuation_without:.3g} %"
        return (
            f"flywheel of {show(self.inertia)} kg m^2 at the drive keeps {show(self.speed / speed[1])} {speed[0]} within "
            f"{100 * self.fluctuation:.3g} % (without: {without}); energy in and out {show(self.energy)} J, mean torque "
            f"{show(self.mean_torque)} N m, slowest at {show(self.at_slow / angle[1])} {angle[0]}, fastest at "
            f"{show(self.at_fast / angle[1])} {angle[0]}"
        )


def flywheel(c: Trajectory, fluctuation: float, *, drive: str | None = None, speed: Any = None) -> Flywheel:
    """The inertia at the drive for a coefficient of fluctuation (w_max - w_min) / w_mean over a full turn.

    `speed` is needed where the cycle was computed at 0 rpm, for slow machines whose inertia forces do not count.
    """
    if not 0.0 < fluctuation < 1.0:
        raise UsageError(
            f"fluctuation is {fluctuation:g}. Give a share between 0 and 1, such as 0.02.", name="fluctuation", value=fluctuation
        )
    h = drive_history(c, drive)
    steps = np.diff(h.x)
    turned = h.rotary and c.full_turn and (np.all(steps > 0.0) or np.all(steps < 0.0))
    if not turned:
        raise UsageError(f"a flywheel is sized over a full turn of a turning drive; '{h.name}' does not make one here.", name=h.name)
    if abs(h.effort[-1] - h.effort[0]) > 1e-4 * float(np.ptp(h.effort)):
        raise UsageError(
            "after one revolution of the drive the torque differs: the machine's cycle is longer than a revolution, which is "
            "not supported.",
            name="cycle",
        )
    w = float(np.mean(np.abs(h.v)))
    if w == 0.0 and speed is None:
        raise UsageError("the cycle was computed at 0 rpm. Give the speed of the machine, for example speed='60 rpm'.", name="speed")
    if speed is not None:
        given = abs(quantity(speed, KINDS["angular speed"], "speed"))
        if w > 0.0 and abs(given - w) > 1e-9 * w:
            raise UsageError(
                "the cycle has its own speed. Compute it with that speed, m.cycle(speed=...), instead of giving another here.", name="speed"
            )
        w = given
    if c.static and not np.any(h.effort):
        raise UsageError(
            "the torque is zero over the whole static cycle: loads over speeds (ram.C.vy) are those of a machine at rest there. "
            "Compute the cycle at its speed, m.cycle(), or write the load over positions.",
            name="torque",
        )
    own = 2.0 * c["energy.kinetic"] / w**2 if np.any(h.v) else np.zeros(len(c))
    x, E, mean = _energy(h.x, h.effort)
    return _sized(x, E, np.interp(x, np.sort(h.x), own if h.x[-1] > h.x[0] else own[::-1]), mean, w, fluctuation, c)


def _energy(x: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(positions, E, mean torque): the periodic cubic spline of the torque integrated exactly, sampled with its extremes."""
    if x[-1] < x[0]:
        x, torque = x[::-1], torque[::-1]
    closed = torque.copy()
    closed[-1] = closed[0] = 0.5 * (torque[0] + torque[-1])
    whole = periodic_spline(x, closed).curve.integral()
    mean = float(whole.value(x[-1])) / (x[-1] - x[0])
    extremes = periodic_spline(x, closed - mean).curve.roots()
    places = np.unique(np.concatenate([np.linspace(x[0], x[-1], 4 * len(x)), extremes]))
    return places, mean * (places - x[0]) - whole.value(places), mean


def _sized(x: np.ndarray, E: np.ndarray, j: np.ndarray, mean: float, w: float, fluctuation: float, c: Trajectory) -> Flywheel:
    energy = float(np.ptp(E))
    classical = energy / (fluctuation * w * w)

    def speeds(I: float) -> np.ndarray | None:
        return _speeds(x, E, j, w, I)

    def spread(I: float) -> float:
        s = speeds(I)
        return float("inf") if s is None else float(np.ptp(s)) / _mean_over(x, s)

    inertia = 0.0
    if spread(0.0) > fluctuation:
        low, high = 0.0, max(classical, 1e-12)
        while spread(high) > fluctuation:
            low, high = high, 2.0 * high
        while high - low > EXACT * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if spread(middle) > fluctuation else (low, middle)
        inertia = high
    final = speeds(inertia)
    final = np.full(len(x), w) if final is None else final
    slow, fast = float(x[np.argmin(final)]), float(x[np.argmax(final)])
    own = _mean_over(x, j)
    units = c.skel.tree.description.units
    return Flywheel(inertia, classical, own, fluctuation, w, mean, energy, slow, fast, spread(0.0), x, final, units)


def _mean_over(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.sum(0.5 * (y[1:] + y[:-1]) * np.diff(x)) / (x[-1] - x[0]))


def _speeds(x: np.ndarray, E: np.ndarray, j: np.ndarray, w: float, I: float) -> np.ndarray | None:
    """Speed over the cycle with mean value w, or None if the energy does not carry it round."""
    total = I + j
    if total.min() <= 0.0:
        return None if np.ptp(E) > 0.0 else np.full(len(x), w)
    stored = w * w * j + 2.0 * E

    def run(constant: float) -> np.ndarray:
        return np.sqrt(np.maximum(stored + constant, 0.0) / total)

    low = -float(stored.min())  # at the slowest place it is just at rest
    high = max(low, 0.0) + w * w * float(total.max()) + float(np.ptp(stored))
    if _mean_over(x, run(low)) > w:
        return None
    while _mean_over(x, run(high)) < w:
        high = 2.0 * high + 1.0
    while high - low > EXACT * max(abs(low), abs(high)):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _mean_over(x, run(middle)) < w else (low, middle)
    return run(high)
