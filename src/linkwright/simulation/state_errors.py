"""Errors of states on the loops: their coordinates, steps and readings with exact derivatives. The core of estimators.

A state y = (q, v) on the loops has small deviations dy = T x, x = (dtheta, dtheta'):

    dq = N(q) S dtheta        dv = S dtheta' + Gamma dtheta        J S = 0        Gamma: so that J v + b = 0 keeps holding

S are orthonormal motions of the loops in the metric (angles and lengths over the characteristic length), N takes velocities to dq/dt, and
Gamma comes from the projection onto the loops. W is a left inverse of T. W (y - y_0) are coordinates of states near y_0, exact ones and not
only small ones. The four numbers of a quaternion enter linearly: N is orthogonal to the quaternion, which leaves twice its vector part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import jacobian, places, replay
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode, available
from linkwright.errors import SimulationError, UsageError
from linkwright.integrators.environments import scheme_of
from linkwright.joints import create
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import displaced
from linkwright.mechanics.kinematics.skeleton import velocity_kinds
from linkwright.numerics.linalg import factor
from linkwright.properties import cached_property
from linkwright.results.state import LaterReferences, State
from linkwright.simulation.step_derivatives import StateFunction, StepDerivatives
from linkwright.simulation.step_inputs import StepEfforts

if TYPE_CHECKING:
    from linkwright.compiler.program import Program
    from linkwright.system.compiled import Compiled

LEAST_GAP = 1e-15  # gap of the loops over the size of the mechanism that no step makes smaller
ROUND_OFF_GAP = 1e-12  # gap below which steps that do not halve it are steps of round-off
MOST = 30  # steps of the projection
UNTRACEABLE = (TypeError, AttributeError)  # what numpy says about functions a symbol does not have
MOVING = ("q", "v", "a")


@dataclass(frozen=True)
class Placed:
    """A state in plain arrays; `near` are the packed references of the cut joints."""

    q: np.ndarray
    v: np.ndarray
    t: float
    near: np.ndarray

    @property
    def y(self) -> np.ndarray:
        return np.concatenate([self.q, self.v])


class Step(NamedTuple):
    """A predicted state, and the derivatives of y after the step by y before it and by efforts held during it."""

    state: Placed
    by_y: np.ndarray
    by_effort: np.ndarray


class Efforts:
    """Torques and forces of a mechanism as callers give them."""

    def __init__(self, core: Compiled):
        self.names = core.kernels.entries["v"]
        self._row = np.zeros((1, core.tree.nv))
        self._put = StepEfforts(core, self._row).put

    def __call__(self, given: Any) -> np.ndarray:
        """An array in the order of names.v."""
        self._put(given)
        return self._row[0].copy()


class HeldSteps(StepDerivatives):
    """Steps of a mechanism under held efforts, differentiated by the state and by the efforts of the columns B."""

    def __init__(self, core: Compiled, B: np.ndarray, substeps: int):
        table = scheme_of("rk4")
        assert table is not None
        self.core, self.kernels, self.table, self.substeps = core, core.kernels, table, substeps
        self.nq, self.nv, self.nx, self.varied = core.tree.nq, core.tree.nv, 0, B.shape[1]
        self.chosen, self.numbers = (), ()
        self.parameter_values = core.kernels.defaults["parameters"]
        self.quaternions = tuple(
            n.q.start for n, jt in zip(core.tree.nodes, core.skel.types, strict=True) if "quaternion" in jt.coordinate_kinds
        )
        self.projects = bool(len(core.loops.row_scale))
        cut = [core.description.joint(name) for name in core.tree.cuts]
        self.turning = any("angle" in create(j.type, j.options).coordinate_kinds for j in cut)  # turns of cut joints are counted
        self.B, self.tau = B, np.zeros(self.nv)

    def inputs(self, t: np.ndarray, y: np.ndarray, near: np.ndarray) -> tuple[dict[str, StateFunction], StateFunction]:
        n = len(t)
        held = StateFunction(np.tile(self.tau, (n, 1)), np.zeros((n, self.nv, self.n)), np.broadcast_to(self.B, (n, *self.B.shape)))
        none = StateFunction(np.zeros((n, 0)), np.zeros((n, 0, self.n)), np.zeros((n, 0, self.varied)))
        return {"tau": held}, none

    # ---------------------------------------------------------------- steps

    def predicted(self, at: Placed, tau: np.ndarray, duration: float) -> Step:
        """The state after a time under held efforts."""
        self.tau = tau
        h, y = duration / self.substeps, at
        by_y, by_effort = np.eye(self.n), np.zeros((self.n, self.varied))
        for _ in range(self.substeps):
            one = self.step(np.array([y.t]), np.array([h]), y.y[None], y.near[None])
            by_y, by_effort = one.by_y[0] @ by_y, one.by_y[0] @ by_effort + one.by_p[0]
            q, v = np.split(one.value[0], [self.nq])
            y = self.closed(q, v, y.t + h, y.near)
        return Step(y, by_y, by_effort)

    def accelerations(self, at: Placed, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(a, its derivative by y) under held efforts."""
        self.tau = tau
        found = self.forward(np.array([at.t]), at.y[None], at.near[None])
        return found.value[0, : self.nv], found.by_y[0, : self.nv]

    def closed(self, q: np.ndarray, v: np.ndarray, t: float, near: np.ndarray) -> Placed:
        """The state on the loops nearest to one beside them, closed to round-off, with turns of cut joints counted on."""
        if self.projects:
            project, gap = self.kernels.get("projection"), np.inf
            for _ in range(MOST):
                found = project(q, v, **self._optional(project, t, near))
                before, gap = gap, float(found.residual[0])
                if gap <= LEAST_GAP or ROUND_OFF_GAP > gap > 0.5 * before:
                    v = found.v
                    break
                q = found.q
            else:
                raise SimulationError(
                    f"t = {t:.6g} s: the estimate leaves the loops: the readings ask for a correction that no position of the mechanism "
                    "has (the closing of its loops does not converge). Look at units and signs of the readings, and at uncertainty=.",
                    name="estimator",
                )
        return Placed(q, v, t, self._counted(q, near))

    def placed(self, st: State) -> Placed:
        """A state as arrays."""
        return Placed(st.q, st.v, st.t, self.core.packed_references(st))

    def state(self, at: Placed) -> State:
        """Arrays as a state."""
        return State(self.core.skel, at.q.copy(), at.v.copy(), LaterReferences(self.core.skel, at.q, at.near.copy()), at.t)

    @property
    def kinds(self) -> Sequence[str]:
        """Kinds of the velocities, angle or length."""
        return velocity_kinds(self.core.skel)

    def _optional(self, kernel: Any, t: float, near: np.ndarray) -> dict[str, Any]:
        return {k: x for k, x in {"t": t, "near": near}.items() if k in kernel.reads}

    def _counted(self, q: np.ndarray, near: np.ndarray) -> np.ndarray:
        skel = self.core.skel
        return skel.pack(LaterReferences(skel, q, near)) if self.turning else near

    def moved(self, at: Chart, x: np.ndarray) -> Placed:
        """The state on the loops with the deviations x from another, to first order."""
        n, p = at.n, at.state
        q = displaced(self.core.skel, p.q, at.S @ x[:n])
        return self.closed(q, p.v + at.S @ x[n : 2 * n], p.t, p.near)

    # ---------------------------------------------------------------- deviations

    def chart(self, at: Placed) -> Chart:
        """Deviations from a state on the loops."""
        loops, (q, v) = self.core.loops, (at.q[None], at.v[None])
        S = np.diag(loops.columns)
        if self.projects:
            kernel = self.kernels.get("closure")
            J = kernel(at.q, at.v, **self._optional(kernel, at.t, at.near)).J
            S = loops.columns[:, None] * factor(J * loops.columns / loops.row_scale[:, None]).null
        N = np.eye(self.nv)
        if self.nq != self.nv:
            N = self.called("velocities", ("v",), np.zeros(1), {"q": q, "v": np.zeros_like(v)}).qdot_v[0]
        Gamma = np.zeros_like(S)
        if self.projects:
            found = self.called("projection", ("coordinates",), np.array([at.t]), {"q": q, "v": v, "near": at.near[None]})
            Gamma = found.v_coordinates[0] @ N @ S
        return Chart(at, S, N, Gamma, loops.columns)


@dataclass(frozen=True)
class Chart:
    """Deviations from a state."""

    state: Placed
    S: np.ndarray
    N: np.ndarray
    Gamma: np.ndarray
    columns: np.ndarray  # sizes of velocities

    @property
    def n(self) -> int:
        """Degrees of freedom."""
        return self.S.shape[1]

    @cached_property
    def T(self) -> np.ndarray:
        """dy per deviation."""
        moved = self.N @ self.S
        return np.block([[moved, np.zeros_like(moved)], [self.Gamma, self.S]])

    @cached_property
    def W(self) -> np.ndarray:
        """Deviations per dy: W T = 1."""
        back = (self.S / self.columns[:, None]).T / self.columns
        first = back @ np.linalg.pinv(self.N)
        return np.block([[first, np.zeros((self.n, len(self.columns)))], [-back @ self.Gamma @ first, back]])

    def of(self, other: Placed, quaternions: Sequence[int]) -> np.ndarray:
        """Coordinates of another state."""
        q = np.array(other.q)
        for first in quaternions:
            s = slice(first, first + 4)
            if q[s] @ self.state.q[s] < 0.0:
                q[s] = -q[s]
        return self.W @ (np.concatenate([q, other.v]) - self.state.y)


class Values(NamedTuple):
    """Values and their derivatives by q (entry by entry), v and a."""

    value: np.ndarray
    by_q: np.ndarray
    by_v: np.ndarray
    by_a: np.ndarray


class Readout:
    """Named functions of an instant at one mechanism. `spans` are their entries in the values."""

    def __init__(self, core: Compiled, functions: Mapping[str, Callable[[Instant], Any]]):
        self.core, skel = core, core.skel
        g = TraceGraph()
        sizes = {"q": skel.tree.nq, "v": skel.tree.nv, "a": skel.tree.nv, "t": 1, "near": skel.cut_size}
        x = {name: g.input(name, size) for name, size in sizes.items()}
        at = Instant(skel, x["q"], x["v"], x["t"][0], skel.unpack(x["q"], x["near"]), x["a"])
        entries: list[Any] = []
        self.spans: dict[str, slice] = {}
        self.scalar: dict[str, bool] = {}
        for name, read in functions.items():
            try:
                found = np.asarray(read(at), dtype=object)
            except UNTRACEABLE as error:
                raise UsageError(f"'{name}' has no derivatives here, so it cannot be estimated or read by a sensor.", name=name) from error
            self.spans[name], self.scalar[name] = slice(len(entries), len(entries) + found.size), not found.shape
            entries += list(found.ravel())
        self.count = len(entries)
        self.program = g.program([("values", np.array(entries, dtype=object))])

    @cached_property
    def _derived(self) -> tuple[Program, bool]:
        """The program of values and derivatives, and whether accelerations matter."""
        g = TraceGraph()
        packed = [s for b in self.program.inputs for s in g.input(b.name, b.size)]
        seeds = places(self.program, *MOVING)
        found = jacobian(self.program, packed, seeds)
        accelerated = any(found.columns[len(seeds) - self.core.skel.tree.nv :])
        outputs = [("values", np.array(found.results, dtype=object)), ("slopes", np.asarray(found.dense(), dtype=object))]
        return g.program(outputs), accelerated

    @property
    def reads_accelerations(self) -> bool:
        return self._derived[1]

    @cached_property
    def _code(self) -> Any:
        native = self.core.engine == "native" and available()
        return NativeCode.of(self._derived[0]) if native else None

    def __call__(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, t: float, near: np.ndarray) -> Values:
        given = {"q": q, "v": v, "a": a, "t": np.array([t]), "near": near}
        program = self._derived[0]
        packed = np.concatenate([given[b.name] for b in program.inputs])
        found = np.array(replay(program, packed), dtype=float) if self._code is None else self._code.call(packed)[0]
        slopes = found[self.count :].reshape(self.count, -1)
        nq, nv = len(q), len(v)
        return Values(found[: self.count], slopes[:, :nq], slopes[:, nq : nq + nv], slopes[:, nq + nv :])

    def rows(self, names: Sequence[str]) -> list[int]:
        """Entries of some of the functions."""
        return [i for name in names for i in range(self.spans[name].start, self.spans[name].stop)]
