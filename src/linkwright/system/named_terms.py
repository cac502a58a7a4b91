"""Terms of the equations of motion by name, at one state or many: Jacobians and their rates, reduced and operational inertia, momentum.

    y' = J x'                       y'' = J x'' + rate             tasks y by independent velocities x
    v  = N x'                       a   = N x'' + N_rate           motions of the loops
    M x'' + C + G = F + tau         Lambda y'' + mu = f            tau = J' f
    h  = A x'                       dh/dt = A x'' + A_rate         momentum about the center of mass

By "coordinates" x' is v itself, N the identity, and M a + C + G = F + tau + constraint' lam with constraint a + constraint_bias = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import LinkwrightError, SingularityError, UsageError, counted, listing
from linkwright.kernels.equations.tasks import AXES, TWIST, TaskRow, task_rows
from linkwright.mechanics.closing.idle_motions import NO_INERTIA
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.tolerances import RANK
from linkwright.results.labeled_arrays import Labeled
from linkwright.results.records import cut_rows
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.system.independent_velocities import Chosen, Independent, independent_velocities

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled

DEPENDENT_TASK = 1e-12  # the same of the mobility of the tasks: its square root is that of their velocities
TERMS: Store[tuple[Any, Any], NamedTerms] = Store()  # by tasks and columns
MOMENTUM = ("angular.x", "angular.y", "angular.z", "linear.x", "linear.y", "linear.z")
Index = tuple[int, ...]


class NamedTerms:
    """Terms by name, to be called with a state, a trajectory, or arrays q and v with any leading axes."""

    def __init__(
        self,
        core: Compiled,
        tasks: str | Sequence[str],
        by: str | Sequence[str],
        independent: Independent | None = None,
        read: Sequence[str] = (),  # velocities of joints and cylinders that are read beside: `TermsByName.read`
    ):
        names = [tasks] if isinstance(tasks, str) else [str(x) for x in tasks]
        self.core, self.tasks = core, tuple(names)
        self.rows: list[TaskRow] = task_rows(core.description, names) if names else []
        if any(r.needs_masses for r in self.rows):
            core.kernels.need_masses()
        self.independent = Independent(core) if independent is None else independent
        self.whole = by == "coordinates"
        self.chosen: Chosen = self.independent.chosen(by)
        self.read = tuple(read)

    def __repr__(self) -> str:
        return f"<NamedTerms of {listing(r.name for r in self.rows) or 'no task'}, by {listing(self.chosen.by)}>"

    def __call__(self, q: Any, v: Any = None) -> TermsByName:
        """Return the terms at a State, at every sample of a Trajectory, or at arrays q and v (zero if not given)."""
        if isinstance(q, State):
            if q.skel is not self.core.skel:
                raise UsageError("this state belongs to another mechanism, or to other cuts: take one of this system.")
            return self._at(q.q, q.v, {"t": np.array([q.t]), "near": self.core.packed_references(q)})
        if isinstance(q, Trajectory):
            return self._at(q.q, q.v, {"t": np.asarray(q.t)[:, None], "near": cut_rows(q.skel, q.references)})
        tree = self.core.tree
        Q = np.asarray(q, dtype=float)
        V = np.zeros((*Q.shape[:-1], tree.nv)) if v is None else np.asarray(v, dtype=float)
        if Q.shape[-1:] != (tree.nq,) or V.shape != (*Q.shape[:-1], tree.nv):
            raise UsageError(
                f"terms by name need a state, a trajectory, or q (..., {tree.nq}) with v (..., {tree.nv}), not {Q.shape} and {V.shape}.",
                value=Q.shape,
                name="state",
            )
        return self._at(Q, V, {})

    def _at(self, q: np.ndarray, v: np.ndarray, more: Mapping[str, np.ndarray]) -> TermsByName:
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise UsageError("terms by name need finite numbers in q and v.", name="terms")
        rows = self._values("task_terms", q, v, more, {"tasks": self.tasks})
        return TermsByName(self, v, rows, lambda: self._values("inertia_terms", q, v, more, {}))

    def _values(
        self, name: str, q: np.ndarray, v: np.ndarray, more: Mapping[str, np.ndarray], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Outputs of a kernel."""
        kernels, drives = self.core.kernels, [*self.chosen.every, *self.read]
        kernel = kernels.get(name, drives=drives if name == "task_terms" else None, **options)  # inertia does not depend on them
        return kernel.batch((q, v), {k: x for k, x in more.items() if k in kernel.reads})._asdict()


def named_terms(core: Compiled, tasks: str | Sequence[str], by: str | Sequence[str]) -> NamedTerms:
    """Return the terms of these tasks and columns, made once for a mechanism."""
    key = (tasks if isinstance(tasks, str) else tuple(tasks), by if isinstance(by, str) else tuple(by))
    known = TERMS.of(core)
    if key not in known:
        known[key] = NamedTerms(core, tasks, by, independent_velocities(core))
    return known[key]


@dataclass(frozen=True)
class TermsByName:
    """Terms at one state, or with the states' axes first: arrays with named rows and columns, computed on demand.

    In a batch a state without an answer has NaN; `ok` is the mask of the others, `why` the reasons by index.
    """

    terms: NamedTerms = field(repr=False)
    v: np.ndarray = field(repr=False)
    tree: Mapping[str, Any] = field(repr=False)  # rows in all coordinates
    _inertia: Callable[[], Mapping[str, Any]] = field(repr=False)
    _failed: dict[Index, LinkwrightError] = field(default_factory=dict, repr=False)

    @property
    def by(self) -> tuple[str, ...]:
        """Names of x'."""
        return self.terms.chosen.by

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of y'."""
        return tuple(r.name for r in self.terms.rows)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of v."""
        return tuple(self.terms.independent.velocities)

    @property
    def ok(self) -> Any:
        """True where the velocities and tasks asked about so far determine the motion."""
        out = np.ones(self.v.shape[:-1], dtype=bool)
        for at in self._failed:
            out[at] = False
        return out if out.ndim else bool(out)

    @property
    def why(self) -> dict[Index, str]:
        return {at: str(error) for at, error in self._failed.items()}

    # ---------------------------------------------------------------- motions of the loops

    @cached_property
    def _solved(self) -> _Solved:
        """v per unit of every independent velocity, accelerations at x'' = 0, and idle motions: spins rest in the first two."""
        t, loops = self.tree, self.terms.core.loops
        keep = self.terms.core.kernels.plan.keep
        scales = self.terms.independent.scales(self.terms.chosen.every)
        n = len(scales)
        J, E = t["J"] / loops.row_scale[:, None], t["E"][..., :n, :] / scales[:, None]
        idle = np.broadcast_to(t["idle"], (*self.v.shape[:-1], *np.shape(t["idle"])[-2:])) * 1.0
        right = np.concatenate([-t["k"] / loops.row_scale, -t["e"][..., :n] / scales, -t["idle_rate"] + np.zeros(idle.shape[:-1])], axis=-1)
        S = np.concatenate([J, E, idle], axis=-2) * loops.columns
        first = J.shape[-2]
        chosen = [*(range(first) if keep is None else keep), *range(first, S.shape[-2])]
        inverse = self._inverse(S, chosen)
        N = inverse[..., first : first + n] / scales * loops.columns[:, None]
        return _Solved(N, _times(inverse, right) * loops.columns, inverse[..., first + n :] * loops.columns[:, None])

    def _inverse(self, S: np.ndarray, chosen: list[int]) -> np.ndarray:
        """Left inverse of S for each state: of the chosen rows, or of all where the chosen ones lose rank."""
        nv = S.shape[-1]
        flat = S.reshape(-1, *S.shape[-2:])
        out = np.zeros((len(flat), nv, S.shape[-2]))
        square, good = flat[:, chosen], np.zeros(len(flat), dtype=bool)
        if len(chosen) == nv and len(flat):
            try:
                found = np.linalg.inv(square)
                size = np.abs(square).sum(axis=-1).max(axis=-1) * np.abs(found).sum(axis=-1).max(axis=-1)
                good = size < 1.0 / RANK
                out[np.ix_(good, range(nv), chosen)] = found[good]
            except np.linalg.LinAlgError:
                pass  # one of them is exactly singular: each alone, below
        for i in np.flatnonzero(~good):
            U, s, Vt = np.linalg.svd(flat[i], full_matrices=False)
            if len(s) < nv or not s[nv - 1] > RANK * s[0]:
                self._fail(int(i), f"singular position: the speeds of {listing(self.terms.chosen.every)} do not determine the motion here.")
                out[i] = np.nan
            else:
                out[i] = (Vt.T / s) @ U.T
        return out.reshape(*S.shape[:-2], nv, S.shape[-2])

    def _fail(self, i: int, text: str) -> None:
        lead = self.v.shape[:-1]
        error = SingularityError(text)
        if not lead:
            raise error
        self._failed[tuple(int(x) for x in np.unravel_index(i, lead))] = error

    @cached_property
    def _own(self) -> list[int]:
        every = self.terms.chosen.every
        return [every.index(n) for n in self.by] if not self.terms.whole else list(range(len(every)))

    @cached_property
    def _basis(self) -> tuple[np.ndarray, np.ndarray]:
        """Basis of the motions that count in inertias: by coordinates all of the loops."""
        N, a, _ = self._solved
        return N[..., self._own], a

    @cached_property
    def _free(self) -> FreeSpins:
        """The basis with idle spins let go."""
        return FreeSpins.of(self._basis[0], self._solved.idle, np.asarray(self._masses["M"]))

    @property
    def N(self) -> Labeled:
        """Basis of the motions of the loops: v = N x'."""
        if self.terms.whole:
            eye = np.broadcast_to(np.eye(len(self.by)), (*self.v.shape, len(self.by)))
            return Labeled(eye.copy(), self.coordinates, self.by)
        return Labeled(self._basis[0], self.coordinates, self.by)

    @property
    def N_rate(self) -> Labeled:
        """dN/dt x': accelerations of the coordinates where x' does not change."""
        return Labeled(np.zeros_like(self.v) if self.terms.whole else self._basis[1], self.coordinates)

    @property
    def speed(self) -> Labeled:
        """x' of the state."""
        if self.terms.whole:
            return Labeled(self.v.copy(), self.by)
        return Labeled(_times(self.tree["E"], self.v)[..., self._own], self.by)

    @cached_property
    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """(velocities per unit of every independent velocity, their rates at x'' = 0) of the velocities that are read beside."""
        N, a, _ = self._solved
        n = len(self.terms.chosen.every)
        return self.tree["E"][..., n:, :] @ N, _times(self.tree["E"][..., n:, :], a) + self.tree["e"][..., n:]

    @property
    def constraint(self) -> Labeled:
        """Jacobian of the closed loops: constraint v + b = 0."""
        return Labeled(self.tree["J"], self._loop_rows, self.coordinates)

    @property
    def constraint_bias(self) -> Labeled:
        """k: constraint a + k = 0."""
        return Labeled(self.tree["k"], self._loop_rows)

    @property
    def _loop_rows(self) -> tuple[str, ...]:
        return tuple(f"{loop.name}.{label}" for loop in self.terms.core.tree.loops for label in loop.labels)

    # ---------------------------------------------------------------- tasks

    @cached_property
    def J(self) -> Labeled:
        """Task Jacobian: y' = J x'."""
        self._need_tasks()
        return Labeled(self.tree["T"] if self.terms.whole else self.tree["T"] @ self._basis[0], self.tasks, self.by)

    @cached_property
    def rate(self) -> Labeled:
        """dJ/dt x': y'' = J x'' + rate."""
        self._need_tasks()
        moved = 0.0 if self.terms.whole else _times(self.tree["T"], self._basis[1])
        return Labeled(self.tree["bias"] + moved, self.tasks)

    def _need_tasks(self) -> None:
        if not self.terms.rows:
            raise UsageError("tasks are not named: s.named_terms(['foot', 'com'], by=...).", name="tasks")

    # ---------------------------------------------------------------- inertia

    @cached_property
    def _masses(self) -> Mapping[str, Any]:
        return self._inertia()

    @cached_property
    def M(self) -> Labeled:
        """Inertia: reduced to x', or of all coordinates."""
        return Labeled(self._masses["M"] if self.terms.whole else self._reduced_inertia, self.by, self.by)

    @cached_property
    def _reduced_inertia(self) -> np.ndarray:
        N = self._free.N
        return _transposed(N) @ self._masses["M"] @ N

    def _force(self, values: np.ndarray) -> Labeled:
        return Labeled(values if self.terms.whole else _times(_transposed(self._free.N), values), self.by)

    @cached_property
    def C(self) -> Labeled:
        """Coriolis and centrifugal efforts."""
        moved = 0.0 if self.terms.whole else _times(self._masses["M"], self._basis[1])
        return self._force(self._masses["C"] + moved)

    @cached_property
    def G(self) -> Labeled:
        """Efforts of weight: what holds the mechanism against gravity."""
        return self._force(self._masses["G"])

    @cached_property
    def F(self) -> Labeled:
        """Efforts of springs, dampers, friction and loads of the model."""
        return self._force(self._masses["F"])

    @property
    def h(self) -> Labeled:
        """Bias C + G - F: M x'' + h = tau."""
        return Labeled(np.asarray(self.C) + np.asarray(self.G) - np.asarray(self.F), self.by)

    # ---------------------------------------------------------------- operational space

    @cached_property
    def _operational(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(Lambda, mu, Jbar in x')."""
        self._need_tasks()
        free, a, T, t = self._free, self._basis[1], self.tree["T"], self._masses
        N = free.N
        if T.shape[-2] > N.shape[-1]:
            raise UsageError(
                f"{counted(len(self.tasks), 'component')} ({listing(self.tasks)}) cannot move freely by {N.shape[-1]}: name fewer of them.",
                name="tasks",
            )
        J = T @ N
        bad = ~np.isfinite(J).all(axis=(-2, -1))
        reduced = np.where(bad[..., None, None], np.eye(N.shape[-1]), self._reduced_inertia)
        W = _solve(reduced, _transposed(np.where(bad[..., None, None], 0.0, J)))  # M^-1 J'
        spun = T @ free.mobility  # tasks on a link that spins idly move with it
        mobility = np.where(bad[..., None, None], np.nan, J) @ W + spun @ _transposed(T)
        kinds = np.array([1.0 if r.rotary else self.terms.core.loops.kappa for r in self.terms.rows])
        Lambda = self._inverted(mobility / kinds / kinds[:, None]) / kinds / kinds[:, None]
        Jbar = W @ Lambda
        needed = _times(t["M"], a) + t["C"] + t["G"] - t["F"]
        rate = _times(T, a) + self.tree["bias"] - _times(spun, needed)
        mu = _times(_transposed(Jbar), _times(_transposed(N), needed)) - _times(Lambda, rate)
        return Lambda, mu, (N @ Jbar + _transposed(spun) @ Lambda if self.terms.whole else Jbar)

    def _inverted(self, x: np.ndarray) -> np.ndarray:
        flat = x.reshape(-1, *x.shape[-2:])
        out = np.full(flat.shape, np.nan)
        finite = np.flatnonzero(np.isfinite(flat).all(axis=(-2, -1)))
        s, U = np.linalg.eigh(0.5 * (flat[finite] + _transposed(flat[finite])))
        good = s[:, 0] > DEPENDENT_TASK * s[:, -1]
        out[finite[good]] = (U[good] / s[good, None, :]) @ _transposed(U[good])
        for i in finite[~good]:
            self._fail(int(i), f"the tasks {listing(self.tasks)} depend on each other in this position: they have no inertia of their own.")
        return out.reshape(x.shape)

    @property
    def Lambda(self) -> Labeled:
        """Operational-space inertia: Lambda y'' + mu = f, with tau = J' f."""
        return Labeled(self._operational[0], self.tasks, self.tasks)

    @property
    def mu(self) -> Labeled:
        """Operational-space bias: of velocities, weight and forces."""
        return Labeled(self._operational[1], self.tasks)

    @property
    def Jbar(self) -> Labeled:
        """Dynamically consistent inverse of J: M^-1 J' Lambda."""
        return Labeled(self._operational[2], self.by, self.tasks)

    @property
    def null(self) -> Labeled:
        """Projector 1 - Jbar J: motions of x that leave the tasks at rest; its transpose filters efforts that do not accelerate them."""
        return Labeled(np.eye(len(self.by)) - np.asarray(self.Jbar) @ np.asarray(self.J), self.by, self.by)

    # ---------------------------------------------------------------- momentum

    @property
    def A(self) -> Labeled:
        """Centroidal momentum matrix: (angular momentum about the center of mass, linear momentum) = A x'."""
        return Labeled(self._masses["A"] if self.terms.whole else self._masses["A"] @ self._basis[0], MOMENTUM, self.by)

    @property
    def A_rate(self) -> Labeled:
        """dA/dt x': the rate of momentum is A x'' + A_rate."""
        moved = 0.0 if self.terms.whole else _times(self._masses["A"], self._basis[1])
        return Labeled(self._masses["A_rate"] + moved, MOMENTUM)

    @property
    def momentum(self) -> Labeled:
        """Angular momentum about the center of mass and linear momentum of all bodies."""
        return Labeled(_times(self._masses["A"], self.v), MOMENTUM)

    @property
    def com(self) -> Labeled:
        """Position of the center of mass."""
        return Labeled(self._masses["com"], ("com.x", "com.y", "com.z"))


class _Solved(NamedTuple):
    N: np.ndarray
    a: np.ndarray
    idle: np.ndarray  # (..., nv, spins): basis of the idle motions


@dataclass(frozen=True)
class FreeSpins:
    """Motions of the loops on which no effort acts along idle spins: each column of a basis with the spin that it sets going.

    With idle motions I and K = I' M I, N - I K^-1 I' M N; reduced by it the equations are those with the spins accelerating freely.
    """

    N: np.ndarray
    mobility: np.ndarray  # (..., nv, nv): accelerations of idle spins per effort, I K^-1 I'

    @classmethod
    def of(cls, N: np.ndarray, idle: np.ndarray, M: np.ndarray) -> FreeSpins:
        """A spin without inertia (a thin rod) stays as it is."""
        if not idle.shape[-1]:
            return cls(N, np.zeros_like(M))
        mass = _transposed(idle) @ M @ idle
        own, least = np.diagonal(mass, axis1=-2, axis2=-1), _times(_transposed(idle**2), np.diagonal(M, axis1=-2, axis2=-1))
        unit = 1.0 / np.sqrt(np.where(own > NO_INERTIA * least, own, np.inf))
        scaled = np.where(np.isfinite(mass), mass, 0.0) * unit[..., None] * unit[..., None, :]
        inverse = np.linalg.pinv(scaled, rcond=RANK, hermitian=True) * unit[..., None] * unit[..., None, :]
        mobility = idle @ inverse @ _transposed(idle)
        return cls(N - mobility @ (M @ N), mobility)


def _times(A: Any, x: Any) -> np.ndarray:
    return (np.asarray(A) @ np.asarray(x)[..., None])[..., 0]


def _transposed(A: Any) -> np.ndarray:
    return np.swapaxes(np.asarray(A), -1, -2)


def _solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A^-1 B of symmetric inertias; by least squares where one has no inverse."""
    try:
        return np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(A, hermitian=True) @ B


# ---------------------------------------------------------------- the Jacobian of one body or point

ROW_NAMES: Store[str, tuple[str, ...]] = Store()  # by body or point
BODY_ROWS: Store[str, tuple[int, np.ndarray | None, list[int]]] = Store()  # node, place and rows, by body or point


def jacobian(core: Compiled, st: State, of: str | Sequence[str], wrt: str | Sequence[str]) -> Labeled:
    """See `System.jacobian`."""
    names = core.drive_names if wrt == "drives" else [wrt] if isinstance(wrt, str) else list(wrt)
    known = wrt == "drives" and isinstance(of, str) and of in ROW_NAMES.of(core) and not core.base_joints
    if not known and (not isinstance(of, str) or not _plain(core, of) or not all(_alone(core, name) for name in names)):
        return named_terms(core, of, wrt)(st).J
    own = bool(names) and names == core.drive_names and isinstance(st, State) and st.skel is core.skel
    kernel = core.ready("jacobian") if own else None
    found = None if kernel is None else kernel.healthy((st.q,), core.optional_inputs(kernel, st))
    if found is not None:
        return Labeled(_rows_of(core, found, of), _row_names(core, of), names)
    for name in names:
        core.need_drive(name)
    return Labeled(core.assembler.jacobian(st, of, names), _row_names(core, of), names)


def _plain(core: Compiled, of: str) -> bool:
    """True for a body or point whose rows are all wanted, in the world."""
    body, _, point = of.partition(".")
    return of in BODY_ROWS.of(core) or (body in {b.name for b in core.description.bodies} and "." not in point and point not in TWIST)


def _alone(core: Compiled, name: str) -> bool:
    """True for a joint or cylinder that is one velocity of a mechanism on ground."""
    return not core.base_joints and name not in ("independent", "base", "coordinates") and "." not in name


def _row_names(core: Compiled, of: str) -> tuple[str, ...]:
    """Names of the rows of a body or point."""
    if of not in ROW_NAMES.of(core):
        rows = _place(core, of)[2]
        every = AXES if core.assembler.is_point(of) else TWIST
        ROW_NAMES.of(core)[of] = tuple(f"{of}.{every[i]}" for i in rows)
    return ROW_NAMES.of(core)[of]


def _rows_of(core: Compiled, found: Any, of: str) -> np.ndarray:
    """Rows of a body or point from the twists of all bodies per unit speed of each drive."""
    node, at, rows = BODY_ROWS.of(core).get(of) or _place(core, of)
    if node < 0:
        return np.zeros((len(rows), found.v.shape[1]))
    twist = found.twist[node]
    if at is None:
        return twist[rows]
    w, r = twist[:3], found.R[node] @ at
    arm = np.array([w[1] * r[2] - w[2] * r[1], w[2] * r[0] - w[0] * r[2], w[0] * r[1] - w[1] * r[0]])
    return (twist[3:] + arm)[rows]


def _place(core: Compiled, of: str) -> tuple[int, np.ndarray | None, list[int]]:
    """Node, place on the body (None: the body itself) and rows of a body or point by name."""
    planar = core.description.planar
    if core.assembler.is_point(of):
        ref = core.assembler.point_ref(of)
        at = np.asarray(core.description.point(ref).at, dtype=float)
        found = core.skel.node(ref[0]), core.on_body(ref[0], at), [0, 1] if planar else [0, 1, 2]
    else:
        found = core.skel.node(of), None, [2, 3, 4] if planar else list(range(6))
    BODY_ROWS.of(core)[of] = found
    return found
