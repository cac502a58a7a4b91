"""Closure of links that no dyad solves: two unknown angles at once, by Newton's method for all candidates and positions.

Two bodies hang on anchors with unknown angles; two bars of constant length close the loops. Stephenson II driven at its binary link:
both ternary links hang, two bars join them. A platform on three links: one link hangs, the platform hangs on its end, two bars.
The angles come from guesses, which a walk from position to position supplies; derivatives are those of the implicit function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwright.api import tolerances
from linkwright.rings.synthesis.dual_arrays import Dual, constant
from linkwright.rings.synthesis.dyad_steps import Anchor, LinkagePositions, LinkageStep, LinkPose

Array = np.ndarray
# damping over the squared size of the matrix, none before a step is refused: then this, larger and smaller by factors, none below the last
FIRST, MORE, LESS, LEAST = 1e-2, 8.0, 0.125, 1e-3
OPEN_BAR = 1e-7  # gap over the length of a bar that does not close
LONGEST_TURN = 0.5  # of one Newton step, rad


@dataclass(frozen=True)
class ClosingBar:
    """A link with two pins between two hanging bodies, or between one of them and a known body."""

    body: str
    start: Anchor
    end: Anchor
    length: str


@dataclass(frozen=True)
class CoupledStep:
    """Two bodies on anchors, with unknown angles, closed by two bars; dimension `guess:<body>` has their approximate angles.

    A bar that cannot close has a gap. The side is the determinant of the two closures by the two angles, rows of size 1: between -1
    and 1, 0 in a dead center. A branch has one sign.
    """

    hanging: tuple[tuple[str, Anchor], tuple[str, Anchor]]
    bars: tuple[ClosingBar, ClosingBar]

    def apply(self, known: LinkagePositions) -> None:
        angles = self.solved(known, [known.dimensions[f"guess:{body}"].value for body, _ in self.hanging])
        # implicit function: gaps (known poses and dimensions, angles) = 0
        trial = replace(known, poses=dict(known.poses), gaps={}, pins={})
        self._place(trial, [Dual(a) for a in angles])
        gaps = [trial.gaps[bar.body] for bar in self.bars]
        keys = sorted({k for g in gaps for k in g.slope})
        found = [Dual(a) for a in angles]
        if keys:
            _, matrix = self._closure(known, angles)
            shape = angles[0].shape
            right = np.stack([np.stack([np.broadcast_to(g.slope.get(k, 0.0), shape) for k in keys], -1) for g in gaps], -2)
            # where the bars do not close, the least gap has the derivative at fixed angles (envelope theorem)
            closed = np.max([np.abs(np.broadcast_to(g.value, shape)) for g in gaps], axis=0) < OPEN_BAR
            change = -_solve(matrix, right, np.zeros(shape)) * closed[..., None, None]
            found = [Dual(a, {k: change[..., i, j] for j, k in enumerate(keys)}) for i, a in enumerate(angles)]
        self._place(known, found)
        known.sides[self.bars[0].body] = self._side(known)

    def solved(self, known: LinkagePositions, guesses: Sequence[Array]) -> list[Array]:
        """Return the angles that close the bars, by Newton steps from these guesses; those of the least gap where they do not close.

        A step that does not decrease the gap is damped (Levenberg-Marquardt), each candidate and position by itself.
        """
        shape = np.broadcast_shapes(known.theta.value.shape, *(g.shape for g in guesses))
        angles = np.stack([np.broadcast_to(g, shape) for g in guesses], -1).astype(float)
        gap, matrix = self._closure(known, [angles[..., 0], angles[..., 1]])
        size = np.sqrt((gap * gap).sum(-1))
        damping = np.zeros(shape)
        iterations = 10
        for _ in range(iterations):
            if size.max(initial=0.0) < tolerances.CLOSED:
                break
            step = _solve(matrix, gap[..., None], damping)[..., 0]
            largest = np.abs(step).max(-1, keepdims=True)
            trial = angles - step * np.minimum(1.0, LONGEST_TURN / np.maximum(largest, 1e-300))
            found, slopes = self._closure(known, [trial[..., 0], trial[..., 1]])
            new = np.sqrt((found * found).sum(-1))
            better = new < size
            angles[better], gap[better], matrix[better], size[better] = trial[better], found[better], slopes[better], new[better]
            damping = np.where(better, damping * LESS * (damping > LEAST), np.maximum(damping * MORE, FIRST))
        return [angles[..., 0], angles[..., 1]]

    def _closure(self, known: LinkagePositions, angles: Sequence[Array]) -> tuple[Array, Array]:
        """Return the gaps (..., 2) and their derivatives by the angles (..., 2, 2), without derivatives by dimensions."""
        poses = {b: (p.origin.value, p.direction.value) for b, p in known.poses.items()}

        def point(anchor: Anchor) -> Array:
            origin, direction = poses[anchor.body]
            return origin + known.dimensions[anchor.at].value * direction if anchor.at else origin

        for (body, anchor), angle in zip(self.hanging, angles, strict=True):
            poses[body] = (point(anchor), np.exp(1j * angle))
        shape = angles[0].shape
        gaps, matrix = np.zeros((*shape, 2)), np.zeros((*shape, 2, 2))
        for i, bar in enumerate(self.bars):
            ends = ((bar.end, 1.0), (bar.start, -1.0))
            apart = point(bar.end) - point(bar.start)
            square = known.dimensions[bar.length].value ** 2
            gaps[..., i] = ((apart * np.conj(apart)).real / square - 1.0) * 0.5
            for j in range(2):
                for anchor, sign in ends:
                    moving = self._moving(j, anchor)
                    if moving is not None:
                        # d point / d angle = i (point - origin)
                        matrix[..., i, j] -= sign * (np.conj(apart) * (point(moving) - poses[self.hanging[j][0]][0])).imag / square
        return gaps, matrix

    def _moving(self, j: int, anchor: Anchor) -> Anchor | None:
        """Return the point of hanging body j whose velocity a point has when the angle of that body changes.

        The point itself where it is on this body; the anchor of a body that hangs on it, which is shifted but not turned; else None.
        """
        body = self.hanging[j][0]
        if anchor.body == body:
            return anchor
        return next((a for b, a in self.hanging if b == anchor.body and a.body == body), None)

    def _place(self, known: LinkagePositions, angles: Sequence[Dual]) -> None:
        for (body, anchor), angle in zip(self.hanging, angles, strict=True):
            known.poses[body] = LinkPose(known.pinned(anchor), angle.turned())
        for bar in self.bars:
            start, end = known.pinned(bar.start), known.pinned(bar.end)
            length = known.dimensions[bar.length]
            # (|start - end|^2 / length^2 - 1) / 2: the relative gap, smooth everywhere
            known.gaps[bar.body] = ((end - start).squared_size() / (length * length) - 1.0) * 0.5
            known.poses[bar.body] = LinkPose(start, (end - start) / length)

    def _side(self, known: LinkagePositions) -> Dual:
        """Return the determinant of the rows of derivatives of the gaps by the angles, each row divided by its size."""
        rows = []
        for bar in self.bars:
            start, end = known.point(bar.start), known.point(bar.end)
            along = (end - start).conjugate()
            row = [self._lever(known, j, bar.end) - self._lever(known, j, bar.start) for j in range(2)]
            entries = [(along * lever).real for lever in row]
            size = (entries[0] + entries[1] * 1j).size()
            rows.append([entry / size for entry in entries])
        return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]

    def _lever(self, known: LinkagePositions, j: int, anchor: Anchor) -> Dual:
        """Return the velocity of a point by the angle of hanging body j."""
        moving = self._moving(j, anchor)
        return constant([0j]) if moving is None else (known.point(moving) - known.point(self.hanging[j][1])) * 1j

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        out = [pair for body, anchor in self.hanging for pair in ((anchor.body, anchor.pin), (body, anchor.pin))]
        for bar in self.bars:
            out += [(bar.start.body, bar.start.pin), (bar.body, bar.start.pin), (bar.end.body, bar.end.pin), (bar.body, bar.end.pin)]
        return tuple(out)


def _solve(matrix: Array, right: Array, damping: Array) -> Array:
    """Solve systems of two equations (..., 2, 2) by Cramer's rule; with damping, and where singular, by damped least squares."""
    a, b, c, d = matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 1, 0], matrix[..., 1, 1]
    size = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(c), np.abs(d))) + 1e-150
    determinant = a * d - b * c
    singular = (np.abs(determinant) < 1e-9 * size**2) | (damping > 0.0)
    if singular.any():
        transposed = np.swapaxes(matrix[singular], -1, -2)
        right = np.array(np.broadcast_to(right, (*matrix.shape[:-2], *right.shape[-2:])))
        matrix = matrix.copy()
        right[singular] = transposed @ right[singular]
        matrix[singular] = transposed @ matrix[singular] + (np.maximum(damping[singular], 1e-9) * size[singular] ** 2)[
            ..., None, None
        ] * np.eye(2)
        a, b, c, d = matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 1, 0], matrix[..., 1, 1]
        determinant = a * d - b * c
    first, second = right[..., 0, :], right[..., 1, :]
    a, b, c, d, determinant = (x[..., None] for x in (a, b, c, d, determinant))
    return np.stack([(d * first - b * second) / determinant, (a * second - c * first) / determinant], axis=-2)


def walked(
    steps: Sequence[LinkageStep], numbers: dict[str, Dual], angles: Array, start: dict[str, Array]
) -> tuple[dict[str, Array], Array]:
    """Walk candidates along drive angles (N, K) from known body angles at the first (N,): angles of the hanging bodies, largest gaps.

    Each position starts from the last two by straight-line extrapolation, so that a candidate stays on its branch.
    """
    from linkwright.rings.synthesis.dyad_steps import positions

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
        gaps.append(np.max([np.abs(np.broadcast_to(known.gaps[bar.body].value, (len(angles), 1)))[:, 0] for bar in coupled.bars], axis=0))
    return {b: np.stack(v, 1) for b, v in found.items()}, np.stack(gaps, 1)
