"""Closure of links that no dyad solves: several unknown angles at once, by Newton's method for all candidates and positions.

Bodies hang on anchors with unknown angles; as many bars of constant length close the loops. Stephenson II driven at its binary link:
both ternary links hang, two bars join them. A platform on three links: one link hangs, the platform hangs on its end, two bars.
The angles come from guesses, which a walk from position to position supplies; derivatives are those of the implicit function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwright.synthesis.duals import Dual, constant
from linkwright.synthesis.dyads import Anchor, LinkagePositions, LinkageStep, LinkPose

Array = np.ndarray
UNKNOWN = -10  # numbers of the unknown angles as dimensions: -10, -11, ...
ITERATIONS = 8
LONGEST_TURN = 0.5  # of one Newton step, rad
CLOSED = 1e-9  # gap over the length of the bar


@dataclass(frozen=True)
class ClosingBar:
    """A link with two pins between two hanging bodies, or between one of them and a known body."""

    body: str
    start: Anchor
    end: Anchor
    length: str


@dataclass(frozen=True)
class CoupledStep:
    """Bodies on anchors, with unknown angles, closed by as many bars; dimension `guess:<body>` has their approximate angles.

    The closing of a bar is its relative gap. With `free` the guesses are taken as they are, open bars and all, for a search in which
    the angles are unknowns themselves.
    """

    hanging: tuple[tuple[str, Anchor], ...]
    bars: tuple[ClosingBar, ...]
    free: bool = False

    def apply(self, known: LinkagePositions) -> None:
        guesses = [known.dimensions[f"guess:{body}"] for body, _ in self.hanging]
        if self.free:
            self._place(known, guesses)
            return
        values = self.solved(known, [g.value for g in guesses])
        trial = self._trial(known, values)
        gaps = self._gaps(trial)
        matrix, keys = self._matrix(gaps), sorted({k for g in gaps for k in g.slope if k > UNKNOWN})
        angles: list[Dual] = [Dual(v) for v in values]
        if keys:
            right = np.stack([np.stack([np.broadcast_to(g.slope.get(k, 0.0), matrix.shape[:2]) for k in keys], -1) for g in gaps], -2)
            change = -_solve(matrix, right)
            angles = [Dual(v, {k: change[..., i, j] for j, k in enumerate(keys)}) for i, v in enumerate(values)]
        self._place(known, angles)

    def solved(self, known: LinkagePositions, values: Sequence[Array]) -> list[Array]:
        """Return the angles that close the bars, by damped Newton steps from these values; the best met where none closes."""
        shape = np.broadcast_shapes(known.theta.value.shape, *(v.shape for v in values))
        angles = np.stack([np.broadcast_to(v, shape) for v in values], -1).astype(float)
        bare = replace(
            known,
            theta=constant(known.theta.value),
            dimensions={n: Dual(d.value) for n, d in known.dimensions.items()},
            poses={b: LinkPose(Dual(p.origin.value), Dual(p.direction.value)) for b, p in known.poses.items()},
        )
        best, least = angles.copy(), np.full(shape, np.inf)
        for _ in range(ITERATIONS):
            gaps = self._gaps(self._trial(bare, [angles[..., i] for i in range(len(values))]))
            residual = np.stack([np.broadcast_to(g.value, shape) for g in gaps], -1)
            size = np.abs(residual).max(-1)
            better = size < least
            best[better], least[better] = angles[better], size[better]
            if least.max(initial=0.0) < 1e-15:
                break
            step = _solve(self._matrix(gaps), residual[..., None])[..., 0]
            largest = np.abs(step).max(-1, keepdims=True)
            angles = angles - step * np.minimum(1.0, LONGEST_TURN / np.maximum(largest, 1e-300))
        return [best[..., i] for i in range(len(values))]

    def _trial(self, known: LinkagePositions, values: Sequence[Array]) -> LinkagePositions:
        trial = replace(known, poses=dict(known.poses), closings={}, pins={})
        one = np.ones(known.theta.value.shape)
        self._place(trial, [Dual(v, {UNKNOWN - i: one}) for i, v in enumerate(values)])
        return trial

    def _place(self, known: LinkagePositions, angles: Sequence[Dual]) -> None:
        for (body, anchor), angle in zip(self.hanging, angles, strict=True):
            known.poses[body] = LinkPose(known.pinned(anchor), angle.turned())
        for bar, gap in zip(self.bars, self._gaps(known), strict=True):
            start, end = known.pinned(bar.start), known.pinned(bar.end)
            length = known.dimensions[bar.length]
            known.closings[bar.body] = gap
            known.poses[bar.body] = LinkPose(start, (end - start) / length)

    def _gaps(self, known: LinkagePositions) -> list[Dual]:
        """Return (|start - end|^2 / length^2 - 1) / 2 of every bar: the relative gap, smooth everywhere."""
        out = []
        for bar in self.bars:
            length = known.dimensions[bar.length]
            out.append(((known.point(bar.end) - known.point(bar.start)).squared_size() / (length * length) - 1.0) * 0.5)
        return out

    def _matrix(self, gaps: Sequence[Dual]) -> Array:
        shape = np.broadcast_shapes(*(g.value.shape for g in gaps))
        zero = np.zeros(shape)
        unknown = [UNKNOWN - i for i in range(len(self.hanging))]
        return np.stack([np.stack([np.broadcast_to(g.slope.get(k, zero), shape) for k in unknown], -1) for g in gaps], -2)

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        out = [pair for body, anchor in self.hanging for pair in ((anchor.body, anchor.pin), (body, anchor.pin))]
        for bar in self.bars:
            out += [(bar.start.body, bar.start.pin), (bar.body, bar.start.pin), (bar.end.body, bar.end.pin), (bar.body, bar.end.pin)]
        return tuple(out)


def _solve(matrix: Array, right: Array) -> Array:
    """Solve small systems; singular ones get a damped answer."""
    transposed = np.swapaxes(matrix, -1, -2)
    size = np.abs(matrix).max(axis=(-1, -2), keepdims=True) + 1e-300
    singular = np.abs(np.linalg.det(matrix / size)) < 1e-9
    if not singular.any():
        return np.linalg.solve(matrix, right)
    n = matrix.shape[-1]
    damped = transposed @ matrix + 1e-9 * size**2 * np.eye(n)
    out = np.linalg.solve(damped, transposed @ right)
    regular = ~singular
    out[regular] = np.linalg.solve(matrix[regular], np.broadcast_to(right, (*matrix.shape[:-2], *right.shape[-2:]))[regular])
    return out


def walked(steps: Sequence[LinkageStep], numbers: dict[str, Dual], angles: Array, start: dict[str, Array]) -> tuple[dict[str, Array], Array]:
    """Walk candidates along drive angles (N, K) from known body angles at the first (N,): angles of the hanging bodies, largest gaps.

    Each position starts from the last two by straight-line extrapolation, so that a candidate stays on its branch.
    """
    from linkwright.synthesis.dyads import positions

    (coupled,) = [s for s in steps if isinstance(s, CoupledStep)]
    bodies = [body for body, _ in coupled.hanging]
    found: dict[str, list[Array]] = {b: [] for b in bodies}
    gaps = []
    for k in range(angles.shape[1]):
        guesses = {}
        for b in bodies:
            past = found[b]
            guess = start[b] if k == 0 else past[-1] if k == 1 else 2.0 * past[-1] - past[-2]
            guesses[f"guess:{b}"] = constant(guess)
        known = positions(steps, {**numbers, **guesses}, constant(angles[:, k]))
        for b in bodies:
            last = found[b][-1] if found[b] else start[b]
            turned = known.poses[b].direction.value[:, 0] * np.exp(-1j * last)
            found[b].append(last + np.angle(turned))
        gaps.append(np.max([np.abs(np.broadcast_to(known.closings[bar.body].value, (len(angles), 1)))[:, 0] for bar in coupled.bars], axis=0))
    return {b: np.stack(v, 1) for b, v in found.items()}, np.stack(gaps, 1)
