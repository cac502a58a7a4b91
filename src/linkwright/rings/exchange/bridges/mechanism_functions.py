"""Functions of one mechanism in one library: kernels as they are, and what is composed of them in the same way for every library.

Positions of the drives. Newton's method finds q without derivatives; one more Newton step from there, q held, has the derivatives of the
implicit function theorem, dq = -J^-1 phi_x dx, and two of them have those of second order as well:

    q = q* - J^-1 phi(q*, x),  q* held        then v and a at that q

Time steps are those of `s.step`: the stages of a Runge-Kutta method, then projections onto the loops in the mass metric, each one Newton
step; what three of them leave of a gap e is of the order e^8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linkwright.api import UsageError, calls_explained, errors, tolerances
from linkwright.integrators.environments import scheme_of
from linkwright.properties import cached_property
from linkwright.rings.exchange.bridges.differentiable_kernels import KernelCall
from linkwright.simulation.step_inputs import interval

if TYPE_CHECKING:
    from linkwright.api import Compiled, Names
    from linkwright.integrators.problem import Tableau

NEWTON_STEPS = 25  # from a guess, at most
PROJECTIONS = 3  # after a time step


class Library(Protocol):
    """A library of automatic differentiation, as the functions composed here use it."""

    @property
    def name(self) -> str: ...

    @property
    def second(self) -> bool:
        """True if its functions have derivatives of second order."""
        ...

    def function(self, call: KernelCall) -> Any:
        """Return a function of all inputs in order, of the kind the library has."""
        ...

    def applied(self, call: KernelCall, function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs of such a function."""
        ...

    def solved(self, call: KernelCall, arguments: Sequence[Any]) -> Any:
        """Return q after Newton steps of kernel `kinematics` from the given one, without derivatives."""
        ...

    def array(self, x: Any) -> Any: ...

    def stack(self, numbers: Sequence[Any]) -> Any:
        """Return an array of scalars, its last axis."""
        ...

    def checked(self, x: Any, measure: Any, most: float) -> Any:
        """Return x, or NaN where a measure of shape (..., 1) is above the most that is allowed, or NaN itself."""
        ...

    def unit(self, q: Any, places: Sequence[int]) -> Any:
        """Return q with the quaternions that start at these places at length 1."""
        ...

    def repeated(self, n: int, step: Callable[[Any, Any, Any], tuple[Any, Any, Any]], q: Any, v: Any, t: Any) -> tuple[Any, Any, Any]:
        """Return (q, v, t) after n steps."""
        ...


class BridgedAccelerations(Protocol):
    """Outputs of kernel `forward`, with a status of JAX if it is asked for."""

    a: Any
    lam: Any


class BridgedEfforts(Protocol):
    """Outputs of kernel `inverse`."""

    u: Any
    lam: Any


class BridgedPoints(Protocol):
    """Outputs of kernel `points`."""

    position: Any
    velocity: Any


class BridgedLoops(Protocol):
    """Outputs of kernel `closure`."""

    phi: Any
    J: Any
    k: Any
    b: Any


class BridgedEnergies(Protocol):
    """Outputs of kernel `energy`."""

    kinetic: Any
    potential: Any


class DrivenMotion(NamedTuple):
    """Coordinates, velocities and accelerations of all joints of the tree."""

    q: Any
    v: Any
    a: Any


class NextState(NamedTuple):
    """The state after a time step."""

    q: Any
    v: Any


@dataclass(frozen=True, eq=False)
class BridgedFunction:
    """A kernel as a function of a library: inputs in order or by name, outputs as a named tuple. t, near and parameters are optional."""

    call: KernelCall
    library: Library

    def __call__(self, *arrays: Any, **more: Any) -> Any:
        arguments = self.call.arguments(arrays, more, self.library.stack)
        return self._result(*self.library.applied(self.call, self.function, arguments))

    @cached_property
    def function(self) -> Any:
        """The function of all inputs in order, t, near and parameters included where it reads them; in CasADi a casadi.Function."""
        return self.library.function(self.call)

    @cached_property
    def _result(self) -> Any:
        return getattr(self.library, "result", lambda call: call.Result)(self.call)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(b.name for b in self.call.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(b.name for b in self.call.outputs)

    def __repr__(self) -> str:
        return f"<{self.library.name} function {self.call.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}>"


@calls_explained
@dataclass(frozen=True, eq=False)
class Bridge(errors.Renamed):
    """Functions of one mechanism for one library. Arrays are in the order of `names`, in SI and radians."""

    core: Compiled
    library: Library
    made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<{self.library.name} functions of {self.core.description.name!r}: forward, inverse, kinematics, points, step and others>"

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        """Names of the entries of inputs and outputs. `position` and `velocity` have a row for each named point."""
        points = [f"{b.name}.{p.name}" for b in self.core.description.bodies for p in b.points]
        return {**self.core.kernels.entries, "position": points, "velocity": points}

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Parameters of the model and their values."""
        return {p.name: float(p.value) for p in self.core.parameters}

    def function(
        self, name: str, *, formulation: str | None = None, drives: Names | None = None, baumgarte: bool = False, tasks: Names = ()
    ) -> BridgedFunction:
        """Return any kernel by name as a function of the library, with the options of `s.kernel`."""
        given = {"formulation": formulation, "drives": drives, "baumgarte": baumgarte, "tasks": tasks}
        return self._function(name, False, **{key: value for key, value in given.items() if value not in (None, False, ())})

    def _function(self, name: str, measures: bool, **options: Any) -> BridgedFunction:
        key = (name, measures, repr(sorted(options.items())))
        if key not in self.made:
            self.made[key] = BridgedFunction(KernelCall(self.core.kernels, name, options, measures), self.library)
        return self.made[key]

    # ---------------------------------------------------------------- kernels

    def forward(self, q: Any, v: Any, tau: Any, *, t: Any = None, near: Any = None, parameters: Any = None) -> BridgedAccelerations:
        """Return accelerations a and multipliers lam under efforts tau.

        Parameters
        ----------
        q : array
            Positions.
        v : array
            Velocities.
        tau : array or mapping
            Torques and forces, by name or in the order of `names`.
        t : scalar, optional
            Time, if a load depends on it.
        near : array, optional
            References of cut joints.
        parameters : array or mapping, optional
            Values of the parameters that are arguments.

        Returns
        -------
        BridgedAccelerations
            Accelerations `a` and multipliers `lam`.
        """
        return self.function("forward")(q, v, tau, t=t, near=near, parameters=parameters)

    def inverse(self, q: Any, v: Any, a: Any, *, t: Any = None, near: Any = None, parameters: Any = None) -> BridgedEfforts:
        """Return drive torques and forces u and multipliers lam of a motion.

        Parameters
        ----------
        q : array
            Positions.
        v : array
            Velocities.
        a : array or mapping
            Accelerations.
        t : scalar, optional
            Time, if a load depends on it.
        near : array, optional
            References of cut joints.
        parameters : array or mapping, optional
            Values of the parameters that are arguments.

        Returns
        -------
        BridgedEfforts
            Torques and forces of the drives `u` and multipliers `lam`.
        """
        return self.function("inverse")(q, v, a, t=t, near=near, parameters=parameters)

    def points(self, q: Any, v: Any = None, *, parameters: Any = None) -> BridgedPoints:
        """Return position and velocity of every named point, in the order of `names["position"]`."""
        return self.function("points")(q, self._still if v is None else v, parameters=parameters)

    def closure(self, q: Any, v: Any = None, *, t: Any = None, near: Any = None, parameters: Any = None) -> BridgedLoops:
        """Return phi, J, k and b of the loops: phi = 0, J v + b = 0, J a + k = 0."""
        return self.function("closure")(q, self._still if v is None else v, t=t, near=near, parameters=parameters)

    def energy(self, q: Any, v: Any, *, t: Any = None, near: Any = None, parameters: Any = None) -> BridgedEnergies:
        """Return kinetic and potential energy."""
        return self.function("energy")(q, v, t=t, near=near, parameters=parameters)

    @cached_property
    def _still(self) -> np.ndarray:
        return np.zeros(self.core.tree.nv)

    # ---------------------------------------------------------------- positions of the drives

    def kinematics(
        self, drive: Any, speed: Any = None, acceleration: Any = None, *, guess: Any = None, near: Any = None, parameters: Any = None
    ) -> DrivenMotion:
        """Return the motion of all joints from the motion of the drives.

        Parameters
        ----------
        drive : mapping or array
            Positions of all drives, by name or in their order.
        speed, acceleration : array, optional
            Speeds and accelerations of the drives. Zero by default.
        guess : array, optional
            Positions near the solution, which decide the branch. By default the start of the model.
        near : array, optional
            Coordinates of cut joints from which whole turns are counted.
        parameters : mapping or array, optional
            Values of the parameters.

        Returns
        -------
        DrivenMotion
            q, v and a. They are NaN if Newton's method does not close the loops from `guess`.
        """
        newton, lib, rest = self._function("kinematics", True), self.library, np.zeros(len(self.core.kernels.drives))
        more = {"near": near, "parameters": parameters}
        guess = self.core.start.q if guess is None else guess
        if isinstance(drive, Mapping) and (missing := [n for n in self.core.kernels.drives if n not in drive]):
            raise UsageError(f"kinematics takes the positions of all drives. {', '.join(missing)} is missing.", name=missing[0])
        arguments = newton.call.arguments([guess, self._still, drive, rest, rest], more, lib.stack)
        q = lib.solved(newton.call, arguments)
        for _ in range(2 if lib.second else 1):
            q = newton(q, self._still, drive, rest, rest, **more).q
        found = newton(q, self._still, drive, rest if speed is None else speed, rest, **more)
        v, a, gap = found.v, found.a, found.residual
        if speed is not None or acceleration is not None:
            a = newton(q, v, drive, rest if speed is None else speed, rest if acceleration is None else acceleration, **more).a
        return DrivenMotion(*(lib.checked(x, gap, tolerances.OPEN_STEP) for x in (q, v, a)))

    # ---------------------------------------------------------------- time steps

    def step(
        self,
        q: Any,
        v: Any,
        tau: Any = None,
        dt: Any = 1e-3,
        *,
        substeps: int = 1,
        integrator: Any = "rk4",
        t: Any = None,
        near: Any = None,
        parameters: Any = None,
    ) -> NextState:
        """Return q and v after dt in `substeps` equal steps under constant efforts, as `s.step` does.

        Parameters
        ----------
        q : array
            Positions.
        v : array
            Velocities.
        tau : array or mapping, optional
            Torques and forces (default zero).
        dt : float, str or scalar of the library, default 1e-3
            Time step, a number in s or a quantity ("1 ms").
        substeps : int, default 1
            Number of equal steps within dt.
        integrator : str, default "rk4"
            Method of integration.
        t : scalar, optional
            Time at the start, if a load depends on it.
        near : array, optional
            References of cut joints.
        parameters : array or mapping, optional
            Values of the parameters that are arguments.

        Returns
        -------
        NextState
            q and v, NaN if loops stay open or a position is singular.
        """
        table, lib = scheme_of(integrator), self.library
        kernels = [self.function("rates"), *([self._function("projection", True)] if len(self.core.loops.row_scale) else [])]
        if near is None and any("near" in f.inputs for f in kernels):
            raise UsageError(
                "forces or couplings of this mechanism count turns of cut joints, and steps do not count them: give near=..., the "
                f"references of {', '.join(self.core.tree.cuts)}, or compile with other cuts: lw.compile(m, cuts=[...]).",
                allowed=self.core.tree.cuts,
            )
        h = interval(dt, substeps) if isinstance(dt, (str, int, float, np.number)) else dt / substeps
        more = {"near": near, "parameters": parameters}
        rates = kernels[0].call.arguments([q, v, np.zeros(self.core.tree.nv) if tau is None else tau], {}, lib.stack)
        given = [lib.array(x) for x in rates[:3]]

        def once(q: Any, v: Any, t: Any) -> tuple[Any, Any, Any]:
            q, v = self._stages(table, q, v, given[2], t, h, more)
            return *self._settled(q, v, t + h, more), t + h

        time = lib.array(np.zeros(1) if t is None else t)
        return NextState(*lib.repeated(substeps, once, given[0], given[1], time if len(time.shape) else lib.stack([time]))[:2])

    def _stages(self, table: Tableau | None, q: Any, v: Any, tau: Any, t: Any, h: Any, more: Mapping[str, Any]) -> tuple[Any, Any]:
        """The state after a step of the integrator, not yet on the loops."""
        rates = self.function("rates")
        if table is None:
            return self._midpoint(q, v, tau, t, h, more)
        slopes: list[Any] = []
        for row in range(table.stages):
            x, y = _sum(table.a[row], slopes, q, v, h)
            slopes.append(rates(x, y, tau, t=t + float(table.c[row]) * h, **more))
        return _sum(table.a[table.stages], slopes, q, v, h)

    def _midpoint(self, q: Any, v: Any, tau: Any, t: Any, h: Any, more: Mapping[str, Any]) -> tuple[Any, Any]:
        """The same by the midpoint rule, of mechanisms without forces that it takes implicitly."""
        acting = [x.name for x in self.core.description.acting]
        if acting:
            raise UsageError(
                f"midpoint steps take forces of elements implicitly ({', '.join(acting)}). Functions of other libraries do not: "
                "use integrator='rk4'.",
                name="integrator",
            )
        rates, velocities = self.function("rates"), self.function("velocities")
        half, along = q + 0.5 * h * velocities(q, v).qdot, v
        if len(self.core.loops.row_scale):
            found = self._function("projection", True)(half, v, t=t + 0.5 * h, **more)
            half, along = found.q, found.v
        elif self._quaternions:
            half = self.library.unit(half, self._quaternions)
        middle = v + 0.5 * h * rates(half, along, tau, t=t + 0.5 * h, **more).a
        after = v + h * rates(half, middle, tau, t=t + 0.5 * h, **more).a
        return q + h * velocities(half, 0.5 * (v + after)).qdot, after

    def _settled(self, q: Any, v: Any, t: Any, more: Mapping[str, Any]) -> tuple[Any, Any]:
        """The state on the loops."""
        if not len(self.core.loops.row_scale):
            return self.library.unit(q, self._quaternions), v
        project = self._function("projection", True)
        for _ in range(PROJECTIONS - 1):
            q = project(q, v, t=t, **more).q
        found = project(q, v, t=t, **more)
        q = found.q
        return self.library.checked(q, found.residual, tolerances.OPEN_STEP), self.library.checked(
            found.v, found.residual, tolerances.OPEN_STEP
        )

    @cached_property
    def _quaternions(self) -> tuple[int, ...]:
        skel = self.core.skel
        return tuple(n.q.start for n, jt in zip(skel.tree.nodes, skel.types, strict=True) if "quaternion" in jt.coordinate_kinds)


def _sum(weights: np.ndarray, slopes: Sequence[Any], q: Any, v: Any, h: Any) -> tuple[Any, Any]:
    """q and v moved along slopes with these weights."""
    used = [(float(w), s) for w, s in zip(weights, slopes, strict=False) if w != 0.0]
    for w, s in used:
        q, v = q + (h * w) * s.qdot, v + (h * w) * s.a
    return q, v
