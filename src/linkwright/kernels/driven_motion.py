"""Walking along the loops in native code: all samples of a motion whose drives are given, of one design or of many.

    Walking(kernel)(q, near, t, laws)               one motion: kernel `walk`; value, speed and acceleration of every drive at every sample
    walk = LaneWalking(kernel, samples=361)         many designs, eight at a time: kernel `stride`, `counted_stride` or `walk`
    begin = walk.begun(...)                         positions of designs by continuation of their numbers
    rows, reached = walk(begin, t, laws, parameters)

From sample to sample a Hermite extrapolation predicts q, Newton steps correct it, and the step is halved as soon as the corrector has to
work hard or the determinant of the driven Jacobian changes sign: there two branches meet, and the rules of `passage` decide on
floats. Between samples the drives move along the quintic through both ends, so laws are evaluated at samples only.

The loops are written for one design. With lanes each design takes its own branches, and gets the bits that it gets alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from linkwright.compiler.record_loops import Loop
from linkwright.compiler.records import ALL_LANES, Column, Floats, KernelPlace, Layout, Record, Rows, copy, run, sized
from linkwright.compiler.records import Kernel as KernelKind
from linkwright.kernels.kernel import Kernel
from linkwright.numerics.tolerances import CLOSED_START, CLOSED_WALK
from linkwright.properties import cached_property

FAR = 0.1  # share of the predicted way that the corrector may move
LONGEST = 0.3  # rad or m that a predictor may go before the corrector checks it
SHORTEST = 1e-4  # share of the way to the next sample below which the walk stops
MOST = 6  # evaluations for one position
LEAST = 1e-9  # rad or m that Newton may move in any case
SHORT = 1e-5  # the same of designs: where a drive starts from rest, the predictor does not see it yet
ONCE = 3e-9  # dimensionless size of a Newton step that is the last one for designs: its square is below round-off
HOMOTOPY = (1, 4, 16, 64)  # steps from the numbers of one design to those of another, as many as are needed
ROUGH_NS = 100.0  # of one sample of a design, for the choice of threads
ORDERS = 4  # rows of laws of a drive: value, speed, acceleration, third derivative
LONGEST_STORED = 4000  # samples of a walk whose memory is stored
MOST_LENGTHS = 16  # different numbers of samples for which it is


class CloseInputs(Record):
    q: Floats
    drive: Floats
    speed: Floats
    acceleration: Floats
    near: Floats
    parameters: Floats


class CloseOutputs(Record):
    q: Floats
    qdot: Floats
    v: Floats
    a: Floats
    near: Floats
    residual: Floats
    moved: Floats
    determinant: Floats
    margin: Floats


class Close(KernelKind):
    """A Newton step onto the loops, and everything of the position it started from."""

    x: CloseInputs
    y: CloseOutputs


class Point(Record):
    q: Floats = sized("nq")
    rate: Floats = sized("nq")


class Found(Record):
    """A closed position, as it was when Newton's steps ended."""

    q: Floats = sized("nq")
    rate: Floats = sized("nq")
    v: Floats = sized("nv")
    a: Floats = sized("na")
    near: Floats = sized("near")
    determinant: Floats = sized(1)
    residual: Floats = sized(1)


class Walk(Record):
    idle: int  # degrees of freedom that no constraint decides: a rod that spins between ball joints
    open: float  # the largest residual of all samples
    close: Close
    newest: Point
    second: Point
    third: Point
    found: Found


# -------------------------------------------------------------------- loops


def put(to: Floats, values: Column) -> None:
    for i in range(len(to)):
        to[i] = values[i]


def keep(w: Walk) -> None:
    """Everything of the position just evaluated."""
    copy(w.found.q, w.close.x.q)
    copy(w.found.rate, w.close.y.qdot)
    copy(w.found.v, w.close.y.v)
    copy(w.found.a, w.close.y.a)
    copy(w.found.near, w.close.y.near)
    copy(w.found.determinant, w.close.y.determinant)
    copy(w.found.residual, w.close.y.residual)


def newton(w: Walk, reach: float, side: float, once: float) -> bool:
    """Newton's steps at the drives of the row, onto the branch of this side; True with everything of one position in `found`.

    A step shorter than `once` is the last one: its square is below round-off.
    """
    y = w.close.y
    before = math.inf
    for _ in range(MOST):
        run(w.close)
        residual = y.residual[0]
        moved = y.moved[0]
        if not (y.margin[0] > 0.0 and moved <= reach and residual < math.inf) or y.determinant[0] * side < 0.0:
            return False
        if residual <= CLOSED_WALK or (residual < CLOSED_START and residual > 0.5 * before):
            keep(w)
            return True
        before = residual
        copy(w.close.x.q, y.q)
        if moved < once:
            keep(w)
            return True
    return False


def law_at(w: Walk, laws: Rows, k: int) -> None:
    """Drives at a sample."""
    x = w.close.x
    nd = len(x.drive)
    for i in range(nd):
        x.drive[i] = laws[k, i]
        x.speed[i] = laws[k, nd + i]
    for i in range(len(x.acceleration)):
        x.acceleration[i] = laws[k, 2 * nd + i]


def law_between(w: Walk, laws: Rows, k: int, to: int, share: float, h: float) -> None:
    """Drives at a share of the way from sample k to another, h later: the quintic through value, speed and acceleration at both."""
    x = w.close.x
    nd = len(x.drive)
    for i in range(nd):
        x0, v0, a0 = laws[k, i], h * laws[k, nd + i], h * h * laws[k, 2 * nd + i]
        x1, v1, a1 = laws[to, i], h * laws[to, nd + i], h * h * laws[to, 2 * nd + i]
        d, e, g = x1 - x0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
        c3, c4, c5 = 10.0 * d - 4.0 * e + 0.5 * g, -15.0 * d + 7.0 * e - g, 6.0 * d - 3.0 * e + 0.5 * g
        x.drive[i] = x0 + share * (v0 + share * (0.5 * a0 + share * (c3 + share * (c4 + share * c5))))
        x.speed[i] = (v0 + share * (a0 + share * (3.0 * c3 + share * (4.0 * c4 + share * 5.0 * c5)))) / h
        if i < len(x.acceleration):
            x.acceleration[i] = (a0 + share * (6.0 * c3 + share * (12.0 * c4 + share * 20.0 * c5))) / (h * h)


def predict(w: Walk, points: int, step: float) -> float:
    """Extrapolate q by a step of time from three, two or one points with their rates (order 5, 3, 1); return how far it goes.

    Hermite's formula amplifies errors that no corrector removes; with idle degrees of freedom those of Adams and Bashforth serve.
    """
    q, r0, r1, r2 = w.close.x.q, w.newest, w.second, w.third
    n = len(q)
    if points == 1:
        for i in range(n):
            q[i] = r0.q[i] + step * r0.rate[i]
    elif w.idle > 0:
        if points == 2:
            for i in range(n):
                q[i] = r0.q[i] + 1.5 * (step * r0.rate[i]) - 0.5 * (step * r1.rate[i])
        else:
            for i in range(n):
                q[i] = r0.q[i] + (23.0 * (step * r0.rate[i]) - 16.0 * (step * r1.rate[i]) + 5.0 * (step * r2.rate[i])) / 12.0
    elif points == 2:
        for i in range(n):
            q[i] = 5.0 * r1.q[i] - 4.0 * r0.q[i] + 2.0 * (step * r1.rate[i]) + 4.0 * (step * r0.rate[i])
    else:
        for i in range(n):
            place = 10.0 * r2.q[i] + 9.0 * r1.q[i] - 18.0 * r0.q[i]
            q[i] = place + 3.0 * (step * r2.rate[i]) + 18.0 * (step * r1.rate[i]) + 9.0 * (step * r0.rate[i])
    far = 0.0
    for i in range(n):
        far = max(far, abs(q[i] - r0.q[i]))
    return far


def advance(w: Walk) -> None:
    """The point just closed becomes the newest of the last three, its cut joints the references of the next."""
    copy(w.third.q, w.second.q)
    copy(w.third.rate, w.second.rate)
    copy(w.second.q, w.newest.q)
    copy(w.second.rate, w.newest.rate)
    copy(w.newest.q, w.found.q)
    copy(w.newest.rate, w.found.rate)
    count_on(w)


def count_on(w: Walk) -> None:
    """Coordinates of the cut joints just found become the references of the next position, where the kernel counts them."""
    if len(w.found.near) > 0:
        copy(w.close.x.near, w.found.near)


def record(w: Walk, rows: Rows, k: int) -> None:
    """q, v, a, near and the determinant of a sample."""
    f = w.found
    n = 0
    for i in range(len(f.q)):
        rows[k, i] = f.q[i]
    n += len(f.q)
    for i in range(len(f.v)):
        rows[k, n + i] = f.v[i]
    n += len(f.v)
    for i in range(len(f.a)):
        rows[k, n + i] = f.a[i]
    n += len(f.a)
    for i in range(len(f.near)):
        rows[k, n + i] = f.near[i]
    rows[k, n + len(f.near)] = f.determinant[0]
    w.open = max(w.open, f.residual[0])


def ahead(w: Walk, rows: Rows, k: int, step: float) -> None:
    """Where the newest point leads to in a step of time, as q of a sample that is not reached."""
    predict(w, 1, step)
    for i in range(len(w.close.x.q)):
        rows[k, i] = w.close.x.q[i]


def walk(
    w: Walk,
    q: Column,
    near: Column,
    parameters: Column,
    laws: Rows,
    t: Column,
    rows: Rows,
    first: int,
    count: int,
    onward: int,
    once: float,
    least: float,
) -> int:
    """So many samples from q at the first of them, onwards (1) or back (-1); how many were reached.

    q of the next one is where the last position found leads to.
    """
    put(w.close.x.q, q)
    put(w.close.x.near, near)
    put(w.close.x.parameters, parameters)
    law_at(w, laws, first)
    w.open = 0.0
    if not newton(w, FAR, 0.0, 0.0):
        return 0
    record(w, rows, first)
    side, share, points = w.found.determinant[0], 1.0, 0
    for m in range(count - 1):
        k, to = first + onward * m, first + onward * (m + 1)
        h, s = t[to] - t[k], 0.0
        while s < 1.0:
            advance(w)
            points = min(points + 1, 3)
            step, good = 1.0, False
            while not good:
                step = min(share, 1.0 - s)
                far = predict(w, points, step * h)
                if s + step >= 1.0:
                    law_at(w, laws, to)
                else:
                    law_between(w, laws, k, to, s + step, h)
                good = far < LONGEST and newton(w, FAR * far + least, side, once)
                if not good:
                    share, points = 0.5 * step, 1
                    if share < SHORTEST:
                        ahead(w, rows, to, (1.0 - s) * h)
                        return m + 1
            s += step
        record(w, rows, to)
        if share < 1.0 and points > 2:  # a longer step again: the points before are no longer at equal distances
            share, points = min(1.0, 2.0 * share), 0
    return count


def reach(
    w: Walk,
    q: Column,
    near: Column,
    from_drive: Column,
    to_drive: Column,
    speed: Column,
    from_parameters: Column,
    to_parameters: Column,
    found: Column,
    steps: int,
) -> bool:
    """From the numbers of a design that is closed to those of another, in equal steps, on the same branch.

    found: q, v and references there.
    """
    x, f = w.close.x, w.found
    put(x.q, q)
    put(x.near, near)
    put(x.speed, speed)
    for i in range(len(x.acceleration)):
        x.acceleration[i] = 0.0
    side = 0.0
    for s in range(steps + 1):
        share = s / steps
        for i in range(len(x.drive)):
            x.drive[i] = (1.0 - share) * from_drive[i] + share * to_drive[i]
        for i in range(len(x.parameters)):
            x.parameters[i] = (1.0 - share) * from_parameters[i] + share * to_parameters[i]
        if not newton(w, FAR, side, 0.0):
            return False
        if s == 0:
            side = f.determinant[0]
        count_on(w)
    n = len(f.q)
    for i in range(n):
        found[i] = f.q[i]
    for i in range(len(f.v)):
        found[n + i] = f.v[i]
    n += len(f.v)
    for i in range(len(f.near)):
        found[n + i] = f.near[i]
    return True


# -------------------------------------------------------------------- calls


class Sizes(NamedTuple):
    """Entries of a sample of a walk, and of its inputs."""

    nq: int
    nv: int
    na: int
    near: int  # coordinates of cut joints that the kernel counts
    nd: int
    references: int  # coordinates of cut joints that it reads
    parameters: int

    @property
    def width(self) -> int:
        return self.nq + self.nv + self.na + self.near + 1


def sizes_of(kernel: Kernel) -> Sizes:
    """Return the sizes of the walk with a kernel."""
    ins, outs = ({b.name: b.size for b in blocks} for blocks in (kernel.code.inputs, kernel.code.outputs))
    return Sizes(
        outs["q"], outs.get("v", 0), outs.get("a", 0), outs.get("near", 0), ins["drive"], ins.get("near", 0), ins.get("parameters", 0)
    )


def layout(kernel: Kernel, idle: int = 0, lanes: int = 1) -> Layout:
    """Return the place of a walk in memory. In one lane the closed position stays where the kernel has written it."""
    code, n = kernel.code, sizes_of(kernel)
    address, work = (code.one_address, code.work("one")) if lanes == 1 else (code.aosoa_address, code.work("many"))
    place = KernelPlace.of(address, code.inputs, code.outputs, work)
    blocks = {"rate": "qdot", **{name: name for name in ("v", "a", "near", "determinant", "residual")}}
    same = {"found.q": "close.x.q", **{f"found.{name}": f"close.y.{block}" for name, block in blocks.items()}}
    return Layout(Walk, {**n._asdict(), "idle": idle}, {"close": place}, lanes, same)


class Memory(NamedTuple):
    """Arrays of a walk, and the call that fills them."""

    q: np.ndarray
    near: np.ndarray
    parameters: np.ndarray
    laws: np.ndarray
    t: np.ndarray
    rows: np.ndarray
    run: Callable[[], np.ndarray]


class Walked(NamedTuple):
    """Samples of a motion, one row each; `reached` of them are known."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    references: np.ndarray
    determinant: np.ndarray
    reached: int


class Walking:
    """The walk of one mechanism, its kernel `walk` ready to be called."""

    def __init__(self, kernel: Kernel, idle: int = 0):
        self.kernel, self.idle = kernel, idle

    @cached_property
    def _shared(self) -> tuple[Sizes, Loop, dict[int, list[Memory]]]:
        """Sizes, the loop, and memories by numbers of samples: of all mechanisms that run on this code."""
        made = _made.setdefault(self.kernel.code, {})
        if self.idle not in made:
            made[self.idle] = (sizes_of(self.kernel), Loop(walk, layout(self.kernel, self.idle)), {})
        return made[self.idle]

    def __call__(self, q: np.ndarray, near: np.ndarray, t: np.ndarray, laws: np.ndarray, parameters: Any = None) -> Walked:
        """Samples at times t from q and the packed references `near` at the first of them; laws (len(t), 3 drives)."""
        sizes, loop, memories = self._shared
        if len(memories) > MOST_LENGTHS:
            memories.clear()
        mine = memories.setdefault(len(t), [])
        memory = mine.pop() if mine else _memory(sizes, loop, len(t))
        memory.q[...], memory.laws[...], memory.t[...] = q, laws, t
        if sizes.references:
            memory.near[...] = near
        if sizes.parameters:
            memory.parameters[...] = self.kernel.default("parameters") if parameters is None else parameters
        reached = int(memory.run()[0])
        rows = memory.rows.copy()
        if len(t) <= LONGEST_STORED:
            mine.append(memory)
        a, b = sizes.nq, sizes.nq + sizes.nv
        c = b + sizes.na
        d = c + sizes.near
        return Walked(rows[:, :a], rows[:, a:b], rows[:, b:c], rows[:, c:d], rows[:, d], reached)


_made: WeakKeyDictionary[Any, dict[int, tuple[Sizes, Loop, dict[int, list[Memory]]]]] = WeakKeyDictionary()  # by code, idle


def _memory(sizes: Sizes, loop: Loop, n: int) -> Memory:
    """Arrays of n samples, and the loop bound to them."""
    inputs = [np.zeros(k) for k in (sizes.nq, sizes.references, sizes.parameters)]
    samples = np.zeros((n, 3 * sizes.nd)), np.zeros(n), np.zeros((n, sizes.width))
    return Memory(*inputs, *samples, loop.bound(1, *inputs, *samples, 0, n, 1, 0.0, LEAST))


# -------------------------------------------------------------------- many designs


class Beginnings(NamedTuple):
    """Positions at which walks of designs begin, one row each, and the mask of those that are closed."""

    q: np.ndarray
    v: np.ndarray
    references: np.ndarray
    ok: np.ndarray


class Homotopy(NamedTuple):
    """Positions, references of cut joints, drives and parameters from which designs are reached, and their own drives and parameters:
    one row for each design, or one for all. Drives move at `speed`."""

    q: np.ndarray
    references: np.ndarray
    from_drive: np.ndarray
    to_drive: np.ndarray
    speed: np.ndarray
    from_parameters: np.ndarray
    to_parameters: np.ndarray


class LaneWalking:
    """Walks of designs of one mechanism: kernel `walk`, `stride` or `counted_stride`, with `parameters` that differ as input."""

    def __init__(self, kernel: Kernel, samples: int):
        self.kernel, self.samples, self.sizes = kernel, samples, sizes_of(kernel)
        place = layout(kernel, lanes=ALL_LANES)
        self._reach, self._walk = Loop(reach, place), Loop(walk, place)

    def begun(self, way: Homotopy, cores: int | None = None) -> Beginnings:
        """Positions of all designs from others that are closed."""
        n, sizes = len(way.to_parameters), self.sizes
        rows = [np.atleast_2d(np.asarray(x, dtype=float)) for x in way]
        found, ok = np.empty((n, sizes.nq + sizes.nv + sizes.near)), np.zeros(n, dtype=bool)
        for steps in HOMOTOPY:
            left = np.flatnonzero(~ok)
            if len(left):
                given = [x[left] if len(x) > 1 or n == 1 else x[0] for x in rows]
                here = np.empty((len(left), found.shape[1]))
                reached = self._reach(len(left), *given, here, steps, expected_ns=len(left) * steps * ROUGH_NS, cores=cores)
                found[left], ok[left] = here, reached > 0
        if sizes.references and not sizes.near:
            found = np.concatenate([found, np.broadcast_to(way.references, (n, sizes.references))], axis=1)
        a, b = sizes.nq, sizes.nq + sizes.nv
        return Beginnings(found[:, :a], found[:, a:b], found[:, b:], ok)

    def __call__(
        self, begin: Beginnings, t: np.ndarray, laws: np.ndarray, parameters: np.ndarray, cores: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Samples of all designs, (designs, entries, padded samples), and how many of each are known; t (padded samples,) and laws
        (4 drives, padded samples), or with an axis of designs in front. The last sample is repeated up to the padding."""
        n, last = len(begin.q), self.samples - 1
        rows = np.empty((n, self.sizes.width, t.shape[-1]))
        given = (begin.q, begin.references, np.asarray(parameters, dtype=float), laws.swapaxes(-1, -2), t, rows.swapaxes(1, 2))
        reached = self._walk(n, *given, 0, self.samples, 1, ONCE, SHORT, expected_ns=n * self.samples * ROUGH_NS, cores=cores)
        rows[:, :, last + 1 :] = rows[:, :, last : last + 1]
        return rows, reached
