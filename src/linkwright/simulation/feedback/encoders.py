"""Encoders: positions in counts, speeds from them, and the state of the whole mechanism that follows from both through its loops.

A sampled controller reads at every encoder the coordinate rounded to whole counts, y. The speed is

    difference    (y - y_last) / T
    observer      v of a critically damped second-order tracking filter (alpha-beta) with poles exp(-w T), w its bandwidth:
                  r = y - x - T v,   x += T v + alpha r,   v += beta r / T,   alpha = 1 - p^2,   beta = (1 - p)^2,   p = exp(-w T)
    exact         that of a tachometer

Coordinates and speeds of all joints are then those nearest to the true ones that lie on the loops and show these readings; what no
encoder determines is measured as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.drives.base import DriveTarget, target
from linkwright.errors import UsageError, call_explained
from linkwright.mechanics.closing.newton import EachRule, onto_each
from linkwright.mechanics.constraints.loops import scale
from linkwright.mechanics.kinematics.motion import Skeleton, motion
from linkwright.model.curves.reference_kinds import angular_frequency
from linkwright.model.file import quantity
from linkwright.numerics.linalg import factor
from linkwright.properties import cached_property
from linkwright.simulation.feedback.task_coordinates import CoordinateTask, nothing_wanted
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.simulation.feedback.controller_program import BoundControl

SPEEDS = ("difference", "observer", "exact")
SEARCH = EachRule(most=6, last=1e-8)  # corrections onto the loops, in rad or of the mechanism's size: a count is short
DEPENDENT_READINGS = 1e-9  # of readings over the motions of the loops


@dataclass(frozen=True)
class Encoder:
    """Resolution of angles and lengths, SI (0: none), and how speeds are found."""

    angle: float = 0.0
    length: float = 0.0
    speed: str = "difference"
    bandwidth: float = 0.0  # of an observer, rad/s


@dataclass(frozen=True, eq=False)
class BoundEncoders:
    """Encoders at coordinates of one mechanism. Memory: of every one a position and a speed."""

    bound: BoundControl
    targets: tuple[DriveTarget, ...]
    kinds: tuple[Encoder, ...]

    @property
    def counts(self) -> np.ndarray:
        return np.array([e.angle if x.rotary else e.length for x, e in zip(self.targets, self.kinds, strict=True)])

    @property
    def size(self) -> int:
        """Entries of the memory."""
        return 2 * len(self.targets)

    def at_start(self) -> np.ndarray:
        """Memory of encoders that were moving on at the speed of the start."""
        x, T = self.bound.start, self.bound.every
        found = self._rows({**x, "ref": np.zeros(0), "state": np.zeros(0), "other": np.zeros(0)})
        s, rate = found.values, found.J @ x["v"]
        watched = np.array([e.speed == "observer" for e in self.kinds], dtype=bool)
        last = np.where(watched, self._rounded(s) - T * rate, self._rounded(s - T * rate))
        return np.concatenate([last, rate])

    def read(self, x: Mapping[str, Any], memory: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, memory) as measured at a sample of the state x."""
        n, T = len(self.targets), self.bound.every
        found = self._rows(x)
        y, true = self._rounded(found.values), found.J @ x["v"]
        last, speed = memory[:n], memory[n:]
        position, rate = np.array(y), np.array(true)
        for i, e in enumerate(self.kinds):
            if e.speed == "difference":
                rate[i] = (y[i] - last[i]) / T
            elif e.speed == "observer":
                p = np.exp(-e.bandwidth * T)
                rest = y[i] - last[i] - T * speed[i]
                position[i] = last[i] + T * speed[i] + (1.0 - p * p) * rest
                rate[i] = speed[i] + (1.0 - p) ** 2 * rest / T
        q, v = self._state(x, y, rate)
        return q, v, np.concatenate([position, rate])

    def _rounded(self, s: np.ndarray) -> np.ndarray:
        counts = self.counts
        return np.where(counts > 0.0, np.floor(s / np.where(counts > 0.0, counts, 1.0) + 0.5) * counts, s)

    def _state(self, x: Mapping[str, Any], y: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and speeds with these readings, on the loops, nearest to those of x."""
        q, v = np.asarray(x["q"], dtype=float), np.asarray(x["v"], dtype=float)
        loops = self.bound.real.kernels.loops

        def steps(there: np.ndarray, at: np.ndarray) -> np.ndarray:
            rows = self._rows({**x, "q": there[0]})
            return (rows.step(rows.phi, rows.values - y) / loops.columns)[None]

        q = onto_each(steps, lambda there, step: loops.displaced(there[0], step[0])[None], q[None], SEARCH)[0][0]
        rows = self._rows({**x, "q": q})
        return q, v + rows.step(rows.loops @ v + rows.b, rows.J @ v - rate)

    def _rows(self, x: Mapping[str, Any]) -> EncoderRows:
        found = self._program(x)
        y = np.array([float(e) for e in self._everything(dict(x))[:-1]]) if found is None else found
        n, nv = len(self.targets), len(x["v"])
        m = (len(y) - n * (1 + nv)) // (2 + nv)
        phi, b, J, s, rows = np.split(y, np.cumsum([m, m, m * nv, n]))
        loops = self.bound.real.kernels.loops
        sizes = (loops.row_scale[:m], scale([t.position_kind for t in self.targets], loops.kappa), loops.columns)
        return EncoderRows(phi, b, J.reshape(m, nv), s, rows.reshape(n, nv), sizes)

    @cached_property
    def _program(self) -> Any:
        return self.bound.programmed("encoders", self._everything, encoders=self.targets)

    def _everything(self, x: dict[str, Any]) -> list[Any]:
        """phi, b and J of the loops, readings and their rows, over any scalar."""
        loops = self.bound.real.equations(x).loops
        m, references = motion(loops.skel, x["q"], x["v"]), loops.skel.unpack(x["q"], x["near"])
        c = loops.at(x["q"], x["v"], x["t"][0], references, m)
        tasks = [CoordinateTask(t) for t in self.targets]
        found = [t.rows(loops.skel, m, references, nothing_wanted(t)) for t in tasks]
        values, rows = [r.value[0] for r in found], [e for r in found for e in r.J[0]]
        return [*c.phi, *c.b, *np.ravel(c.J), *values, *rows, 1.0]


@dataclass(frozen=True, eq=False)
class EncoderRows:
    """Loops and readings at a position; `sizes` of the loops' rows, of readings and of the columns make them dimensionless."""

    phi: np.ndarray
    b: np.ndarray
    loops: np.ndarray
    values: np.ndarray
    J: np.ndarray
    sizes: tuple[np.ndarray, np.ndarray, np.ndarray]

    def step(self, open_by: np.ndarray, off_by: np.ndarray) -> np.ndarray:
        """The shortest step that closes the loops and, as far as these allow, makes up for what readings are off by."""
        rows, readings, columns = self.sizes
        held = factor(self.loops * columns / rows[:, None])
        onto = held.solve(-open_by / rows)
        J = self.J * columns / readings[:, None]
        free = held.null
        left = -off_by / readings - J @ onto
        return columns * (onto + free @ factor(J @ free, DEPENDENT_READINGS).solve(left))


def placed_encoders(given: Any, bound: BoundControl, skel: Skeleton) -> BoundEncoders | None:
    """Encoders by coordinate, or one kind at all drives of the controller."""
    if given is None:
        return None
    named = isinstance(given, Mapping)
    pairs: Sequence[tuple[str, Any]] = list(given.items()) if named else [(x.name, given) for x in bound.targets]
    targets = tuple(target(skel, name) for name, _ in pairs)
    for x, (name, e) in zip(targets, pairs, strict=True):
        if not isinstance(e, Encoder):
            raise UsageError(
                f"encoders is lw.control.encoder(...) or a dict of them by joint or cylinder. '{name}' has {type(e).__name__}.", name=name
            )
        if not (e.angle if x.rotary else e.length):
            lacks = "counts=4096 or angle='0.05 deg'" if x.rotary else "length='5 um'"
            raise UsageError(f"the encoder of '{name}' has no resolution: lw.control.encoder({lacks}).", name=name)
        w = e.bandwidth
        if w * bound.every > 2.0:
            raise UsageError(
                f"the observer of '{name}' has a bandwidth of {w:.4g} rad/s, too fast for samples every {bound.every:g} s: at most "
                f"{2.0 / bound.every:.4g} rad/s.",
                name=name,
            )
    return BoundEncoders(bound, targets, tuple(e for _, e in pairs))


@call_explained
def encoder(counts: Any = None, *, angle: Any = None, length: Any = None, speed: str = "difference", bandwidth: Any = None) -> Encoder:
    """An encoder of a sampled controller: `counts` per revolution, or the resolution as an `angle` or a `length` ("0.05 deg", "5 um").

    speed: "difference" of two samples, "observer" of a `bandwidth` ("40 Hz"), or "exact" (a tachometer).
    """
    if counts is not None:
        if angle is not None:
            raise UsageError("encoder: give counts per revolution or the resolution as an angle, not both.", name="encoder")
        if isinstance(counts, bool) or not isinstance(counts, (int, np.integer)) or counts < 1:
            raise UsageError(
                f"encoder: counts per revolution is a whole number of at least 1, not {counts!r:.40}.", value=counts, name="encoder"
            )
        angle = 2.0 * np.pi / int(counts)
    sizes = {}
    for name, given in (("angle", angle), ("length", length)):
        size = 0.0 if given is None else quantity(given, KINDS[name], f"encoder: {name}")
        if given is not None and not (np.isfinite(size) and size > 0.0):
            raise UsageError(f"encoder: the resolution as {name} is {size:g}. It must be positive.", value=size, name="encoder")
        sizes[name] = float(size)
    if not any(sizes.values()):
        raise UsageError("encoder: give its resolution, counts=4096 per revolution, angle='0.05 deg' or length='5 um'.", name="counts")
    if speed not in SPEEDS:
        raise UsageError(f"encoder: speed is 'difference', 'observer' or 'exact', not {speed!r:.40}.", value=speed, name="encoder")
    if (bandwidth is not None) != (speed == "observer"):
        raise UsageError("encoder: speed='observer' needs its bandwidth='40 Hz', and only that has one.", name="speed")
    return Encoder(**sizes, speed=speed, bandwidth=0.0 if bandwidth is None else angular_frequency(bandwidth, "encoder: bandwidth"))
