"""Loads of one state from a kernel: efforts and reactions at once, everything else solved on floats on demand.

Only where every effort and reaction is determinate, so that all ways of solving agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.reactions import JointWrench
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.loads import Loads
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.properties import cached_property
from linkwright.results.state import State


class KernelLoads(Loads):
    """Loads whose efforts u and wrenches (joints, [moment; force] on the second body) at points are known; `solve` gives the rest.
    Those of the drives come first in u, then those along the velocities `base`."""

    def __init__(
        self, loops: Loops, at: State | Instant, drives: Sequence[str], found: Any, solve: Callable[[], Loads], base: Sequence[str] = ()
    ):
        n = len(drives)
        held = dict(zip(base, found.u[n : n + len(base)].tolist(), strict=True))
        vars(self).update(_loops=loops, _at=at, _drives=tuple(drives), _found=found, _solve=solve, u=found.u[:n], base=held)

    def __reduce__(self) -> Any:
        return _same, (self.whole,)

    def __repr__(self) -> str:
        return f"Loads(method={self.method!r})"

    @cached_property
    def whole(self) -> Loads:
        """The same loads with the equations they solve."""
        return vars(self)["_solve"]()

    def __getattr__(self, name: str) -> Any:
        """Fields of `Loads` that the kernel does not give."""
        if name in ("problem", "lam_all", "self_stresses", "solved", "method"):
            return getattr(self.whole, name)
        raise AttributeError(name)

    @property
    def outside(self) -> Any:
        """Wrenches of loads from outside; a field of `Loads` that has a default, which is never asked for by `__getattr__`."""
        return self.whole.outside

    @property
    def skel(self) -> Skeleton:
        return vars(self)["_loops"].skel

    @property
    def kappa(self) -> float:
        return vars(self)["_loops"].kappa

    @property
    def place(self) -> Instant:
        at = vars(self)["_at"]
        return at if isinstance(at, Instant) else at.instant

    @cached_property
    def tau(self) -> dict[str, float]:
        """Effort of each drive: N m for hinges, N for sliders and cylinders."""
        return dict(zip(vars(self)["_drives"], self.u.tolist(), strict=True))

    @cached_property
    def tau_unique(self) -> dict[str, bool]:
        return dict.fromkeys(vars(self)["_drives"], True)

    @cached_property
    def _wrenches(self) -> dict[str, JointWrench]:
        names, found = [j.name for j in self.skel.tree.description.joints], vars(self)["_found"]
        rows = zip(names, found.wrench, found.point, strict=True)
        return {name: JointWrench(name, w[:3], w[3:], at) for name, w, at in rows}

    @cached_property
    def _stress_wrenches(self) -> list[dict[str, JointWrench]]:
        return []


def _same(x: Loads) -> Loads:
    return x
