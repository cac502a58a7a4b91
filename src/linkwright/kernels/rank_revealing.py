"""Answers to states that a kernel cannot solve: the rank-revealing float path on the kernel's own inputs.

A kernel whose pivots degenerate hands the state to the functions here: singular passages get their limit, redundant rows
least reactions, and what has no answer an explanation. One object serves one `Kernels`, the mechanism as written or a variant
of it: drivers are where the inputs say, rotors and loops left out are those of its equations.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.kernels.passages import WEAKEST_ROW, TracedPassage
from linkwright.mechanics import inverse
from linkwright.mechanics.closing.newton import close
from linkwright.mechanics.closing.passage import branch_velocity
from linkwright.mechanics.closing.smooth_branch import on_loops
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations import Formulation, interpreted
from linkwright.mechanics.formulations.forward import Forward, forward
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.blas import one_thread

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.kernels.kernel import Fallback
    from linkwright.kernels.kernels import Kernels

Inputs = dict[str, np.ndarray]


def answers(kernels: Kernels) -> dict[str, Fallback]:
    """Answers to the states that these kernels cannot solve, by kernel."""
    return RankRevealing(kernels).answers


class RankRevealing:
    """Answers to the kernels of one mechanism, by the names of their inputs and outputs."""

    def __init__(self, kernels: Kernels):
        self.kernels = kernels

    @cached_property
    def answers(self) -> dict[str, Fallback]:
        """By kernel; those not named here have no other way than their own."""
        return {
            "forward": self.forward,
            "rates": self.rates,
            "inverse": self.inverse,
            "loads": self.inverse,
            "projection": self.projection,
            "loop_rates": self.rates,
            "response": self.response,
            "loop_projection": self.projection,
            **{f"loop_rates by {name}": partial(self.rates, formulation=name) for name in interpreted()},
        }

    # ---------------------------------------------------------------- dynamics

    def forward(self, x: Inputs) -> dict[str, Any]:
        found = self._forward(x)
        return {"a": found.a, "lam": found.lam}

    def rates(self, x: Inputs, formulation: str | Formulation = "auto") -> dict[str, Any]:
        with one_thread(self._rows):
            traced = self._traced.rates(x, formulation) if self._traced is not None else None
        return self.slow_rates(x, formulation) if traced is None else {"qdot": self._qdot(x), **traced}

    def slow_rates(self, x: Inputs, formulation: str | Formulation = "auto") -> dict[str, Any]:
        """The same by the float path, and by any formulation."""
        found = self._forward(x, formulation)
        out = {"qdot": self._qdot(x), "a": found.a}
        if self.kernels.chosen.power:
            eq, near, t = self._equations(x)
            given = eq.powers(x["q"], x["v"], x["tau"], found.lam, np.array([t]), near)[1:]
            # lam has a pole in a passage, the force J' lam has none, and what it does is done by the drivers
            driven = found.force @ x["v"] if eq.drivers else 0.0
            out["power"] = np.array([x["tau"] @ x["v"] + driven, *given])
        return out

    def response(self, x: Inputs) -> dict[str, Any]:
        """Response to an effort alone: the rates are affine in efforts, also in the limit at a singular position."""
        pushed, calm = self.rates(x), self.rates({**x, "tau": 0.0 * x["tau"]})
        dv = pushed["a"] - calm["a"]
        power = pushed["power"][0] - calm["power"][0] - x["tau"] @ x["v"] if self.kernels.chosen.power else 0.0
        return {"dq": qdot(self.kernels.loops.skel, x["q"], dv), "dv": dv, "power": np.array([power])}

    def _qdot(self, x: Inputs) -> np.ndarray:
        return x["v"] if len(x["q"]) == len(x["v"]) else qdot(self.kernels.loops.skel, x["q"], x["v"])

    @cached_property
    def _rows(self) -> int:
        return self.kernels.sizes.nv + self.kernels.sizes.nc

    @cached_property
    def _traced(self) -> TracedPassage | None:
        """Arrays from native code, where there is any and no body without mass."""
        if not self.kernels.get("terms").native or self.kernels.plan.saddle is not None:
            return None
        return TracedPassage(self.kernels)

    def inverse(self, x: Inputs) -> dict[str, Any]:
        eq, cut, t = self._equations(x)
        near = eq.loops.skel.unpack(x["q"], cut)
        at = Instant(eq.loops.skel, x["q"], x["v"], t, near)
        pushes = at.pushes(eq.forces)
        found = inverse.solve(eq.loops, x["q"], x["v"], x["a"], t, near, pushes, eq.drives, "system")
        wrenches = [np.concatenate([found.wrench[j].moment, found.wrench[j].force]) for j in eq.joints]
        return {"u": found.u, "lam": found.lam_all, "wrench": np.array(wrenches)}

    # ---------------------------------------------------------------- kinematics

    def projection(self, x: Inputs) -> dict[str, Any]:
        """Position onto the loops and velocity along them without leaving the branch, by the rule of `smooth_branch`."""
        with one_thread(self._rows):
            traced = self._traced.projection(x) if self._traced is not None else None
        return self.slow_projection(x) if traced is None else traced

    def slow_projection(self, x: Inputs) -> dict[str, Any]:
        """The same by the float path."""
        eq, cut, t = self._equations(x)
        near = eq.loops.skel.unpack(x["q"], cut)
        before, rows, c = eq.loops.at(x["q"], x["v"], t, near), eq.loops.row_scale, eq.loops.columns
        branch, _ = on_loops(eq.loops, x["q"], x["v"], t, near, self.kernels.generic_rank)
        if branch is not None:
            q, v = eq.loops.displaced(x["q"], branch.Q @ branch.e), x["v"] - branch.Q @ branch.off(x["v"] / c) * c
            moved = float(np.linalg.norm(branch.e))
        else:
            done = close(eq.loops, x["q"], near, t, window=WEAKEST_ROW)
            q, moved = done.at.q, done.moved
            v = branch_velocity(eq.loops, q, x["v"], t, done.at.references, WEAKEST_ROW)
        return {
            "q": q,
            "v": v,
            "residual": np.abs(before.phi / rows).max(initial=0.0),
            "rate_residual": np.abs((before.J @ x["v"] + before.b) / rows).max(initial=0.0),
            "correction": moved,
        }

    # ---------------------------------------------------------------- the float path

    def _equations(self, x: Inputs) -> tuple[Equations, np.ndarray, float]:
        """Equations at these values of the free parameters and drivers, reference coordinates of the cut joints, time."""
        defaults = self.kernels.defaults
        t = float(x.get("t", np.zeros(1))[0])
        eq = self.kernels.equations(x.get("free", defaults["free"]))
        if eq.drivers:
            eq = eq.moved(x["drive"], x["speed"], x["acceleration"], at=t)
        return eq, x.get("near", defaults["near"]), t

    def _terms(self, x: Inputs) -> Terms:
        eq, cut, t = self._equations(x)
        return eq.joint_axis_terms(x["q"], x["v"], np.array([t]), cut)

    def _forward(self, x: Inputs, formulation: str | Formulation = "auto") -> Forward:
        there = self._terms(x)
        if "gains" in x:
            from linkwright.kernels.equations.dynamic import stabilized  # here, because importing it is no part of starting up

            there = stabilized(there, x["v"], x["gains"])
        return forward(there, x["tau"], formulation, rank=self.kernels.generic_rank, gains=x.get("gains"))
