"""The compiled side of a System: its kernels, and who answers the states they cannot.

A kernel whose pivots degenerate hands the state to the functions here, which run the rank-revealing float path on the same
numbers: singular passages get their limit, redundant rows least reactions, and what has no answer an explanation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import forces, inverse
from linkwright.closing import close
from linkwright.description import Description
from linkwright.errors import UsageError
from linkwright.forward import forward
from linkwright.inputs import efforts
from linkwright.kinematics import motion, qdot
from linkwright.parameters import Parameter, choose, every_parameter
from linkwright.passage import branch_velocity
from linkwright.terms import Terms, terms

if TYPE_CHECKING:
    from linkwright.assembly import Assembler
    from linkwright.compiler.kernel import Kernel
    from linkwright.compiler.kernels import Kernels
    from linkwright.equations import Equations
    from linkwright.loops import Loops
    from linkwright.state import State

ENGINES = ("native", "python")
PASSAGE = 1e-3  # rows with singular values below this are about to be lost
Inputs = dict[str, np.ndarray]


class Derivatives(NamedTuple):
    """a, lam and their derivatives: rows are entries of a or lam, columns those of v (for q and v), tau or the free parameters."""

    a: Any
    lam: Any
    a_q: Any
    lam_q: Any
    a_v: Any
    lam_v: Any
    a_tau: Any
    lam_tau: Any
    a_free: Any
    lam_free: Any


class Compiled:
    """What System gains by compilation."""

    if TYPE_CHECKING:
        description: Description
        loops: Loops
        assembler: Assembler

        @property
        def start(self) -> State: ...

    def set_up_kernels(self, described: Description, free: Sequence[str], engine: str) -> None:
        """Remember how kernels are to be made; nothing is compiled yet."""
        if engine not in ENGINES:
            raise UsageError(f"engine is 'native' or 'python', not {engine!r}.")
        self.described, self.engine = described, engine  # parameters still expressions
        self.free: tuple[Parameter, ...] = tuple(choose(every_parameter(described), list(free), described)) if free else ()

    @cached_property
    def kernels(self) -> Kernels:
        """The maker and keeper of this mechanism's kernels."""
        from linkwright.compiler.kernels import Kernels

        drives = tuple(d.joint for d in self.description.drives)
        answers = {
            "forward": self._forward_anyway,
            "rates": self._rates_anyway,
            "inverse": self._inverse_anyway,
            "loads": self._inverse_anyway,
            "projection": self._projection_anyway,
            "least": self._least_anyway,
            "loop_rates": self._rates_anyway,
            "loop_projection": self._projection_anyway,
        }
        return Kernels(self.loops, self.described, drives, self.free, lambda: (self.start.q, dict(self.start.near)), answers, self.engine)

    def kernel(self, name: str, formulation: str | None = None, *, drives: Sequence[str] | None = None, baumgarte: bool = False) -> Kernel:
        """A compiled function of the state, for one state or arrays of states: `s.kernel("forward")(Q, V, TAU)`.

        Names: forward, inverse, loads, reactions, closure, kinematics, projection, terms, energy, poses, points, rates.
        Arrays are in the order of names.q and names.v; results come back as a named tuple. `formulation` (of forward and
        rates) is sslm, slm or kkt, of forward also nullspace or projection; `baumgarte` adds an input `gains` (alpha, beta).
        `drives` replaces the model's.
        """
        return self.kernels.get(name, formulation, drives, baumgarte=baumgarte)

    def derivatives(self, st: State, tau: Any = None, *, free: Any = None) -> Derivatives:
        """Exact derivatives of accelerations and multipliers by positions, velocities, efforts and free parameters.

        Positions move in the space of v (names.v). For arrays of states: `s.kernel("derivatives")(Q, V, TAU)`.
        """
        effort, pushes = efforts(self.assembler, st, tau)
        if pushes:
            raise UsageError("derivatives take efforts of the tree's joints (names.v); an effort in a cut joint needs other cuts=.")
        more = {} if free is None else {"free": free}
        cut = [np.asarray(st.near[name], dtype=float) for name in self.loops.skel.tree.cuts]
        near = np.concatenate(cut) if cut else np.zeros(0)
        found = self.kernel("derivatives")(st.q, st.v, effort, near=near, t=st.t, **more)
        empty = {name: None for name in Derivatives._fields}
        return Derivatives(**{**empty, **found._asdict()})

    def javascript(self, names: Sequence[str] | None = None, **options: Any) -> str:
        """A script for pages and node that computes this mechanism by itself. Options: free, drives, name."""
        from linkwright.compiler import export

        return export.javascript(self.kernels, names, **options)

    def c(self, names: Sequence[str] | None = None, **options: Any) -> dict[str, str]:
        """C99 sources of kernels by file name, model.h and model.c. Options: free, drives, name."""
        from linkwright.compiler import export

        return export.c(self.kernels, names, **options)

    # ---------------------------------------------------------------- the rank-revealing path, on a kernel's inputs

    def _numbers(self, x: Inputs) -> tuple[Equations, dict[str, Any], float]:
        """Equations at these values of the free parameters, reference coordinates, time."""
        defaults = self.kernels.defaults
        eq = self.kernels.equations(x.get("free", defaults["free"]))
        return eq, eq.near(x["q"], x.get("near", defaults["near"])), float(x.get("t", np.zeros(1))[0])

    def _terms(self, x: Inputs) -> Terms:
        eq, near, t = self._numbers(x)
        at = forces.Moment(eq.loops.skel, motion(eq.loops.skel, x["q"], x["v"]), t, near)
        return terms(eq.loops, x["q"], x["v"], t, near, [w for f in eq.forces for w in f.wrenches(at)])

    def _forward_anyway(self, x: Inputs) -> dict[str, Any]:
        there = self._terms(x)
        if "gains" in x:
            from linkwright.equations import stabilised  # here, because importing it is no part of starting up

            there = stabilised(there, x["v"], x["gains"])
        found = forward(there, x["tau"], "auto")
        return {"a": found.a, "lam": found.lam}

    def _least_anyway(self, x: Inputs) -> dict[str, Any]:
        T = self._terms(x)
        return {"lam": forward(T, T.M @ x["a"] + T.h - T.J.T @ x["lam"], "auto").lam}

    def _rates_anyway(self, x: Inputs) -> dict[str, Any]:
        return {"qdot": qdot(self.loops.skel, x["q"], x["v"]), "a": self._forward_anyway(x)["a"]}

    def _inverse_anyway(self, x: Inputs) -> dict[str, Any]:
        eq, near, t = self._numbers(x)
        at = forces.Moment(eq.loops.skel, motion(eq.loops.skel, x["q"], x["v"]), t, near)
        pushes = [w for f in eq.forces for w in f.wrenches(at)]
        found = inverse.solve(eq.loops, x["q"], x["v"], x["a"], t, near, pushes, eq.drives, "system")
        wrenches = [np.concatenate([found.wrench[j].moment, found.wrench[j].force]) for j in eq.joints]
        return {"u": found.u, "lam": found.lam_all, "wrench": np.array(wrenches)}

    def _projection_anyway(self, x: Inputs) -> dict[str, Any]:
        """Back onto the loops without leaving the branch: what a nearly lost row would correct is left alone, because it is
        mostly round-off divided by its singular value; the velocity follows the branch it is on."""
        eq, near, t = self._numbers(x)
        before = eq.loops.at(x["q"], x["v"], t, near)
        done = close(eq.loops, x["q"], near, t, window=PASSAGE)
        v = branch_velocity(eq.loops, done.q, x["v"], t, done.near, PASSAGE)
        rows = eq.loops.row_scale
        return {
            "q": done.q,
            "v": v,
            "residual": np.abs(before.phi / rows).max(initial=0.0),
            "rate_residual": np.abs((before.J @ x["v"] + before.b) / rows).max(initial=0.0),
            "correction": done.moved,
        }
