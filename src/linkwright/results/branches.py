"""Assembly modes: the states of a mechanism at given drives, how many there are, and what their number rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.numerics.spatial import rotation_quaternion
from linkwright.results.state import State

PASSED = 1e-8  # residual of a trace test that is round-off; with a mode left out it is 1e-4 or more


@dataclass(frozen=True)
class Completeness:
    """What a number of assembly modes rests on.

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
        """True if a homotopy found all modes: the trace test passed, or random loops leave a doubt below 1e-5; and no path was lost."""
        return self.method == "homotopy" and self.lost == 0 and not self.why and (self.trace < PASSED or self.doubt < 1e-5)

    def __str__(self) -> str:
        if self.method == "starts":
            because = f" ({self.why})" if self.why else ""
            bound = f"a mode that more than {100.0 * self.share:.2g} % of the starts lead to would have been found (95 % confidence)"
            return f"saturation of {self.starts} random starts that closed{because}: {bound}; no proof of completeness"
        said = f"all {self.complex} complex solutions of the loop equations, by {self.loops} random loops (doubt {self.doubt:.0e})"
        test = f"trace test passed ({self.trace:.0e})" if self.trace < PASSED else "trace test not conclusive"
        lost = f"; {self.lost} of them at infinity or singular in this mechanism" if self.lost else ""
        return f"{said}, {test}{lost}{f'; {self.why}' if self.why else ''}"


class Branches(list[State]):
    """Assembly modes, nearest to the start first, each a State. `flips[i]`: further sets of coordinates in which the bodies of mode i
    are in the same places, a rod turned by half a turn about its own line. `completeness` says what the number rests on."""

    def __init__(self, states: Iterable[State], flips: Iterable[int], completeness: Completeness | None = None, bodies: Iterable[str] = ()):
        super().__init__(states)
        self.flips = tuple(flips)
        self.completeness = completeness or Completeness("starts")
        self.bodies = tuple(bodies)  # whose poses tell the modes apart

    def __repr__(self) -> str:
        same = sum(self.flips)
        more = f", {same} further sets of coordinates with the same places of the bodies" if same else ""
        return f"<{len(self)} assembly mode{'' if len(self) == 1 else 's'}{more}>"

    def __str__(self) -> str:
        """A table: number, poses of the bodies that tell the modes apart; below it what the number rests on."""
        c = self.completeness
        count = f", {c.complex - c.lost - len(self)} complex" if c.complex is not None and c.complex - c.lost >= len(self) else ""
        lines = [f"{len(self)} real assembly mode{'' if len(self) == 1 else 's'}{count}"]
        rows = [[str(i), *(_pose(st, body) for body in self.bodies)] for i, st in enumerate(self)]
        head = ["mode", *self.bodies]
        widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
        lines += ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)]
        return "\n".join([*lines, f"basis: {c}"])


def _pose(st: State, body: str) -> str:
    """x, y, angle in the plane; position and quaternion in space."""
    node = st.skel.node(body)
    X = st.instant.motion.X[node]
    p = X.p + st.skel.origin(node)
    if st.skel.tree.description.planar:
        return f"x {p[0]:.4f}  y {p[1]:.4f} m  {np.degrees(np.arctan2(X.R[1, 0], X.R[0, 0])):7.2f} deg"
    quaternion: Any = rotation_quaternion(X.R)
    return f"[{_numbers(p)}] m  quat [{_numbers(quaternion if quaternion[0] >= 0 else -np.asarray(quaternion))}]"


def _numbers(values: Any) -> str:
    return " ".join(f"{x:7.4f}" for x in values)
