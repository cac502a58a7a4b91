"""Assembly modes: the states of a mechanism at given drives, how many there are, and what their number rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import SingularityError, UsageError, counted
from linkwright.files.tables import Result, Table
from linkwright.numerics.spatial import rotation_quaternion
from linkwright.results.state import State

PASSED = 1e-8  # residual of a trace test that is round-off; with a mode left out it is 1e-4 or more


@dataclass(frozen=True)
class Completeness:
    """Basis of a number of assembly modes.

    `method` is "homotopy" (all complex solutions of the loop equations, followed to the mechanism) or "starts" (random starts). Of a
    homotopy: `complex` solutions, `lost` paths that ended at infinity or in singular positions, `doubt` that the loops missed one, and
    the residual `trace` of the trace test. Of starts: how many `starts` closed, and the `share` of starts above which a mode would have
    been found with 95 % confidence.
    """

    method: str
    complex: int | None = None
    lost: int = 0
    loops: int = 0
    doubt: float = 1.0
    trace: float = float("nan")
    starts: int = 0
    share: float = 1.0
    why: str = ""  # of starts: why no homotopy; of a homotopy: what is missing

    @property
    def complete(self) -> bool:
        """True if a homotopy found all modes: the trace test passed and no path was lost."""
        return self.method == "homotopy" and self.lost == 0 and not self.why and self.trace < PASSED

    def __str__(self) -> str:
        if self.method == "starts":
            because = f" ({self.why})" if self.why else ""
            bound = f"a mode that more than {100.0 * self.share:.2g} % of the starts lead to would have been found (95 % confidence)"
            return f"saturation of {self.starts} random starts that closed{because}: {bound}; no proof of completeness"
        passed = self.trace < PASSED
        said = f"{'all ' if passed else ''}{self.complex} complex solutions of the loop equations, by {self.loops} random loops"
        test = f"trace test passed ({self.trace:.0e})" if passed else f"doubt {self.doubt:.0e}, trace test not conclusive"
        lost = f"; {self.lost} of them at infinity or singular in this mechanism" if self.lost else ""
        return f"{said}, {test}{lost}{f'; {self.why}' if self.why else ''}"


@dataclass(frozen=True, eq=False)
class ModePath:
    """A way from one assembly mode to another without a singular position: states, the drives at each, and how far it stays from one.

    `smallest` is the least singular value along the path of the Jacobian of the loops by the poses, with rows of unit length: zero in a
    singular position. `drives` has one row a state, in the order of `names`; the first and the last row are equal.
    """

    states: tuple[State, ...]
    names: tuple[str, ...]
    drives: np.ndarray
    smallest: float

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<path of {counted(len(self), 'state')} between two assembly modes, smallest singular value {self.smallest:.3g}>"


PathSearch = Callable[[int, int, Mapping[str, tuple[float, float]], int, int], ModePath]


class Branches(Result, list[State]):
    """Assembly modes, nearest to the start first, each a State. `flips[i]`: further sets of coordinates in which the bodies of mode i
    are in the same places, a rod turned by half a turn about its own line. `completeness` says what the number rests on."""

    def __init__(
        self,
        states: Iterable[State],
        flips: Iterable[int],
        completeness: Completeness | None = None,
        bodies: Iterable[str] = (),
        signs: Iterable[int] = (),
        search: PathSearch | None = None,
    ):
        super().__init__(states)
        self.flips = tuple(flips)
        self.completeness = completeness or Completeness("starts")
        self.bodies = tuple(bodies)  # in whose poses the modes differ
        self.signs = tuple(signs)  # of the determinant of the loops by the poses; 0 where it is not known
        self._search = search

    def path(
        self, first: int, second: int, *, within: Mapping[str, tuple[float, float]] | None = None, most: int = 20000, seed: int = 0
    ) -> ModePath:
        """Return a path between two modes on which no position is singular, by two random trees of at most `most` positions.

        `within` limits drives, {"leg1": (0.5, 1.2)} in SI. Modes with different `.signs` have no such path.
        """
        for i in (first, second):
            if not 0 <= i < len(self):
                raise UsageError(f"mode {i} is none of the {counted(len(self), 'assembly mode')}, which are counted from 0.")
        if first == second:
            raise UsageError(f"a path needs two different modes, not {first} twice.", value=first)
        if self._search is None or not (self.signs[first] and self.signs[second]):
            raise UsageError(f"paths between modes need modes found by a homotopy. These were found by {self.completeness}.")
        if self.signs[first] != self.signs[second]:
            raise SingularityError(
                f"every path between the modes {first} and {second} meets a singular position: the determinant of the loops by the poses "
                f"has different signs there. Modes with the sign of mode {first}: {self._alike(first)}."
            )
        return self._search(first, second, within or {}, most, seed)

    def _alike(self, i: int) -> str:
        return ", ".join(str(k) for k, sign in enumerate(self.signs) if sign == self.signs[i] and k != i) or "none"

    def __repr__(self) -> str:
        same = sum(self.flips)
        more = f", {same} further sets of coordinates with the same places of the bodies" if same else ""
        return f"<{counted(len(self), 'assembly mode')}{more}>"

    def __str__(self) -> str:
        """A table: number, sign of the determinant, poses of a body in which the modes differ; below it what the number rests on."""
        c = self.completeness
        count = f", {c.complex - c.lost - len(self)} complex" if c.complex is not None and c.complex - c.lost >= len(self) else ""
        lines = [f"{counted(len(self), 'real assembly mode')}{count}"]
        return "\n".join([*lines, self.table().text(), f"basis: {c}"])

    def table(self) -> Table:
        """Return a row for each mode: the sign of its determinant, and the poses of the bodies in which the modes differ."""
        marks = ["0+-"[sign] for sign in self.signs] or [""] * len(self)
        rows = [(i, marks[i], *(_pose(st, body) for body in self.bodies)) for i, st in enumerate(self)]
        return Table.of(["mode", "sign", *self.bodies], rows, "assembly modes")


def _pose(st: State, body: str) -> str:
    """x, y, angle in the plane; position and quaternion in space."""
    node = st.skel.node(body)
    X = st.instant.motion.X[node]
    p = X.p + st.skel.origin(node)
    if st.skel.tree.description.planar:
        return f"x {_numbers(p[:1])}  y {_numbers(p[1:2])} m  {np.degrees(np.arctan2(X.R[1, 0], X.R[0, 0])):7.2f} deg"
    quaternion: Any = rotation_quaternion(X.R)
    return f"[{_numbers(p)}] m  quat [{_numbers(quaternion if quaternion[0] >= 0 else -np.asarray(quaternion))}]"


def _numbers(values: Any) -> str:
    return " ".join(f"{round(float(x), 4) + 0.0:7.4f}" for x in values)
