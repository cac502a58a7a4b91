"""Terms of the equations of motion by name, at one state or many: what a controller of the whole body needs, from one native call.

    y' = J x'                       y'' = J x'' + rate             tasks y by independent velocities x
    v  = N x'                       a   = N x'' + N_rate           motions of the loops
    M x'' + C + G = F + tau + Jc' f                                tau = selection u, f forces at contacts
    Lambda y'' + mu = f             tau = J' f                     operational space
    h  = A x'                       dh/dt = A x'' + A_rate         momentum about the center of mass

By "coordinates" x' is v itself, N the identity, and M a + C + G = F + tau + constraint' lam with constraint a + constraint_bias = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError, SingularityError, UsageError, counted, listing, nearest
from linkwright.kernels import named_sources
from linkwright.kernels.equations import by_name
from linkwright.kernels.equations.tasks import AXES, COM, IN, TWIST, AddedPoint, TaskRow, poses_of, task_rows
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.spatial import Pose
from linkwright.numerics.tolerances import OPEN, RANK
from linkwright.properties import cached_property
from linkwright.results.labeled_arrays import Labeled
from linkwright.results.records import cut_rows
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.system.controller_limits import ControllerLimits, controller_limits
from linkwright.system.friction_cones import FrictionCones, friction_cones
from linkwright.system.independent_velocities import Chosen, Independent, independent_velocities
from linkwright.text.units import KINDS, quantity

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel
    from linkwright.mechanics.contact import Touch
    from linkwright.system.compiled import Compiled

DEPENDENT_TASK = 1e-12  # the same of the mobility of the tasks: its square root is that of their velocities
TERMS: Store[tuple[Any, ...], NamedTerms] = Store()  # by tasks, columns, points and contacts
MOMENTUM = ("angular.x", "angular.y", "angular.z", "linear.x", "linear.y", "linear.z")
MOTION = frozenset(  # outputs that need no masses
    (
        *("N", "N_rate", "speed", "read", "read_rate", "read_speed", "selection", "J", "rate", "Jc", "Jc_rate"),
        *("closure", "pose_R", "pose_p", "constraint", "constraint_bias", "gap", "first", "normal"),
    )
)
MOBILITY = frozenset(("W", "inverse_inertia"))
Index = tuple[int, ...]


class NamedTerms:
    """Terms by name, to be called with a state, a trajectory, or arrays q and v with any leading axes."""

    def __init__(
        self,
        core: Compiled,
        tasks: str | Sequence[str] = (),
        by: str | Sequence[str] = "independent",
        independent: Independent | None = None,
        read: Sequence[str] | None = None,  # velocities of joints and cylinders that are read beside; default the drives
        points: Mapping[str, Any] | None = None,
        contacts: str | Sequence[str] = (),
    ):
        d = core.description
        self.core, self.points = core, added_points(core, points or {})
        named = _listed(tasks)
        self.rows: list[TaskRow] = task_rows(d, named, self.points) if named else []
        self.places, self.touches = self._contacts(_listed(contacts))
        if any(r.needs_masses for r in self.rows):
            core.kernels.need_masses()
        self.independent = Independent(core) if independent is None else independent
        self.whole = by == "coordinates"
        self.chosen: Chosen = self.independent.chosen(by)
        every = self.chosen.every
        drives = [x for name in core.drive_names for x in self.independent.expanded(name)]
        self.read = tuple(drives if read is None else read)
        self.given = points
        self.asked = by_name.Asked(
            rows=(*self.rows, *(row for rows in self.places.values() for row in rows)),
            tasks=len(self.rows),
            own=None if self.whole else tuple(every.index(n) for n in self.chosen.by),
            read=self.read,
            touches=tuple(self.core.kernels.touches.index(x) for x in self.touches),
        )
        self._kernels: dict[int, Kernel | None] = {}
        self._level = 0  # of what was asked for so far: one call computes all of it

    @cached_property
    def posed(self) -> list[str]:
        """Names of the tasks and contact points that have a pose."""
        return list(poses_of(self.asked.rows))

    def _contacts(self, names: Sequence[str]) -> tuple[dict[str, list[TaskRow]], list[Touch]]:
        """Rows of points in contact, and contacts of the model."""
        d, touches = self.core.description, {}
        for x in self.core.kernels.touches if names else ():
            for name in (x.name, x.owner.name):
                touches.setdefault(name, []).append(x)
        places: dict[str, list[TaskRow]] = {}
        chosen: list[Touch] = []
        for name in names:
            if name in touches:
                chosen += [x for x in touches[name] if x not in chosen]
                continue
            known = [*self.points, *touches, *(f"{b.name}.{p.name}" for b in d.bodies[1:] for p in b.points)]
            if name not in known:
                raise UsageError(
                    f"there is no point or contact '{name}'. Name a point (points={{'heel': ('foot', [0, 0, 0])}} adds one) or a contact "
                    "of the model.",
                    nearest(name, known, "Points and contacts"),
                    name=name,
                )
            if name in places:
                raise UsageError(f"contacts: '{name}' is named more than once.", name=name)
            places[name] = task_rows(d, name, self.points)
        return places, chosen

    def __repr__(self) -> str:
        at = f", contacts {listing(self.contacts)}" if self.contacts else ""
        return f"<NamedTerms of {listing(r.name for r in self.rows) or 'no task'}, by {listing(self.chosen.by)}{at}>"

    # ---------------------------------------------------------------- names, and what does not depend on the state

    @property
    def by(self) -> tuple[str, ...]:
        """Names of x'."""
        return self.chosen.by

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of y'."""
        return tuple(r.name for r in self.rows)

    @property
    def base(self) -> tuple[str, ...]:
        """Velocities of the floating base among x'."""
        return tuple(n for n in self.by if n in self.independent.base)

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of the efforts u."""
        return self.read

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts: points first, then contacts of the model."""
        return (*self.places, *(x.name for x in self.touches))

    @cached_property
    def contact_rows(self) -> tuple[str, ...]:
        """Names of the rows of Jc: the axes of the world at a point, normal and tangents at a contact of the model."""
        d = self.core.description
        axes = ("n", "t") if d.planar else ("n", "t1", "t2")
        return (*(r.name for rows in self.places.values() for r in rows), *(f"{x.name}.{a}" for x in self.touches for a in axes))

    def cones(self, mu: Any = None, normals: Mapping[str, Any] | None = None, sides: int = 4) -> FrictionCones:
        """Return the friction cones of the contact forces f: `rows @ f <= 0`, with `mu`, `normal` and `tangents` by contact.

        Parameters
        ----------
        mu : float or Mapping[str, float], optional
            Coefficient of friction, of all contacts or by name. Contacts of the model have their own by default.
        normals : Mapping[str, array], optional
            Normal of the ground at a point, away from the ground. By default against gravity.
        sides : int, default 4
            Sides of the pyramid inside the cone.
        """
        return friction_cones(self, mu, normals or {}, sides)

    def limits(self, speed: Mapping[str, float] | None = None) -> ControllerLimits:
        """Return limits of positions (stops), speeds and efforts (drives), with a row for each name of x' and each drive.

        speed: largest speeds by name, for example `dict(m.imported.speed_limits)`, in addition to those of motors.
        """
        return controller_limits(self.core.description, (*self.by, *(n for n in self.drives if n not in self.by)), self.drives, speed or {})

    # ---------------------------------------------------------------- C

    def c(self, name: str = "model", precision: str = "double") -> dict[str, str]:
        """Return C99 sources with the same terms by the same names, `{"model.h": ..., "model.c": ...}`: one function `model_terms`.

        `m.export("model.c", tasks=[...])` writes them to files.
        """
        self.core.kernels.need_masses()
        limits = None if self.whole else self.limits()
        names = {"x": self.by, "task": self.tasks, "contact": self.contact_rows, "drive": self.drives, "pose": self.posed}
        tables = {} if limits is None else {f"{k}_limits": getattr(limits, k) for k in ("position", "speed", "effort")}
        return named_sources.c(self.core.kernels, self.chosen.every, self._asked(2), names, tables, name=name, precision=precision)

    # ---------------------------------------------------------------- values

    def __call__(self, q: Any, v: Any = None) -> TermsByName:
        """Return the terms at a State, at every sample of a Trajectory, or at arrays q and v (zero if not given)."""
        if isinstance(q, State):
            if q.skel is not self.core.skel:
                raise UsageError("this state belongs to another mechanism, or to other cuts: take one of this system.")
            return self._at(q.q, q.v, {"t": q.t, "near": self.core.packed_references(q)} if self.core.skel.cut_size else {"t": q.t})
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
        found = TermsByName(self, q, v, more)
        if self._level and q.ndim == 1:
            found._compute(self._level)
        elif not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise _not_finite()
        return found

    def kernel(self, level: int = 1) -> Kernel | None:
        """Return the kernel of what needs no masses (0), of all terms (1), or of these with the mobility of contacts (2). None where the
        velocities do not determine the motion one by one in most positions."""
        if level not in self._kernels:
            self._kernels[level] = self._made(level)
        return self._kernels[level]

    def _asked(self, level: int) -> by_name.Asked:
        return self.asked._replace(mobility=level == 2 and not self.whole)

    def _made(self, level: int) -> Kernel | None:
        k = self.core.kernels
        try:
            found = k.get("named_terms" if level else "named_motion", drives=self.chosen.every, asked=self._asked(level))
            _ = found.inputs  # its code, from the cache on disk or made now
        except (LinkwrightError, FloatingPointError):
            return None
        return found

    @cached_property
    def equations(self) -> Any:
        """The equations on floats with the independent velocities as drives."""
        return self.independent.equations(self.chosen.every)

    def anyway(self, q: np.ndarray, v: np.ndarray, more: Mapping[str, np.ndarray], level: int) -> dict[str, Any]:
        """All outputs at one state by ranks on floats: where pivots vanish, or where there is no order of elimination."""
        k = self.core.kernels
        t, near = (np.asarray(more.get(n, k.defaults[n]), dtype=float) for n in ("t", "near"))
        eq = self.equations
        basis = None if self.whole else self._basis(by_name.task_terms(eq, q, v, near, ()))
        if not level:
            return by_name.named_motion(eq, q, v, near, self.asked, basis)
        with np.errstate(all="ignore"):
            out = by_name.named_terms(eq, q, v, t, near, self._asked(level), basis)
        if not all(np.isfinite(x).all() for x in out.values()):
            text = f"the inertia against {listing(self.by)} vanishes here: give the bodies that they move a mass."
            raise SingularityError(text, name="M")
        return out

    def _basis(self, rows: Mapping[str, Any]) -> by_name.Basis:
        """S and a_0 by singular values."""
        loops = self.core.loops
        scales = self.independent.scales(self.chosen.every)
        n, first = len(scales), len(rows["J"])
        A = np.concatenate([rows["J"] / loops.row_scale[:, None], rows["E"][:n] / scales[:, None], rows["idle"]]) * loops.columns
        right = np.concatenate([-rows["k"] / loops.row_scale, -rows["e"][:n] / scales, -rows["idle_rate"]])
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        if len(s) < A.shape[1] or not s[-1] > RANK * s[0]:
            raise SingularityError(
                f"singular position: the speeds of {listing(self.chosen.every)} do not determine the motion here.",
                name=listing(self.chosen.every),
            )
        inverse = (Vt.T / s) @ U.T
        return by_name.Basis(inverse[:, first : first + n] / scales * loops.columns[:, None], (inverse @ right) * loops.columns)


def named_terms(
    core: Compiled,
    tasks: str | Sequence[str] = (),
    by: str | Sequence[str] = "independent",
    points: Mapping[str, Any] | None = None,
    contacts: str | Sequence[str] = (),
) -> NamedTerms:
    """Return the terms of these tasks, columns and contacts, made once for a mechanism."""
    key = (*(x if isinstance(x, str) else tuple(x) for x in (tasks, by, contacts)), repr(points))
    known = TERMS.of(core)
    if key not in known:
        known[key] = NamedTerms(core, tasks, by, independent_velocities(core), points=points, contacts=contacts)
    return known[key]


def added_points(core: Compiled, points: Mapping[str, Any]) -> dict[str, AddedPoint]:
    """Points that a call adds, by name: a body and the place in its frame."""
    d = core.description
    bodies = [b.name for b in d.bodies[1:]]
    if not isinstance(points, Mapping):
        raise UsageError(f"points is a dict, {{'heel': ('foot', [0, 0, 0])}}, not {points!r:.60}.", name="points", value=points)
    out = {}
    for name, given in points.items():
        if not isinstance(name, str) or not name or "." in name or IN in name or name in (*bodies, COM):
            text = f"points: {name!r} cannot name a point. Take another word without '.'."
            raise UsageError(text, name=str(name), value=name)
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            raise UsageError(f"points: '{name}' is a body and a place, ('foot', [0, 0, 0]), not {given!r:.60}.", name=name, value=given)
        body, at = given
        if body not in bodies:
            text = f"points: there is no moving body '{body}' for '{name}'."
            raise UsageError(text, nearest(str(body), bodies, "Bodies"), name=str(body))
        place = np.asarray(at, dtype=object)
        if place.shape not in ((3,), (2,)[: d.planar]):
            raise UsageError(
                f"points: the place of '{name}' has {'2 or 3' if d.planar else '3'} coordinates in the frame of '{body}', not {at!r:.60}.",
                name=name,
                value=at,
            )
        values = [quantity(x, KINDS["length"], f"the place of '{name}'") for x in place]
        out[name] = AddedPoint(body, tuple(float(x) for x in [*values, 0.0][:3]))
    return out


class TermsByName:
    """Terms at one state, or with the states' axes first: arrays with named rows and columns.

    In a batch a state without an answer has NaN; `ok` is the mask of the others, `why` the reasons by index.
    """

    def __init__(self, terms: NamedTerms, q: np.ndarray, v: np.ndarray, more: Mapping[str, np.ndarray]):
        self.terms, self.q, self.v, self._more = terms, q, v, more
        self._row: np.ndarray | None = None  # all outputs of one state
        self._spans: Mapping[str, tuple[slice, tuple[int, ...]]] = {}
        self._arrays: Mapping[str, Any] = {}
        self._failed: dict[Index, LinkwrightError] = {}

    def __repr__(self) -> str:
        return f"<TermsByName at {self.v.shape[:-1] or 'one state'}: {self.terms!r}>"

    # ---------------------------------------------------------------- the native call

    def _get(self, name: str) -> Any:
        """An output, computed with all others of its kind on first use."""
        place = self._spans.get(name)
        if place is not None and self._row is not None:
            return self._row[place[0]].reshape(place[1])
        if name not in self._arrays:
            self._compute(0 if name in MOTION else 2 if name in MOBILITY else 1)
        return self._get(name) if name in self._spans else self._arrays[name]

    def _has(self, name: str) -> bool:
        """True for an output that this mechanism has, once masses are asked for."""
        _ = self._get("M")
        return name in self._spans or name in self._arrays

    def _compute(self, level: int) -> None:
        terms, q, v, more = self.terms, self.q, self.v, self._more
        if level > terms._level:
            terms.core.kernels.need_masses()
            terms._level = level
        kernel = terms.kernel(level)
        if q.ndim == 1 and kernel is not None and kernel.native:
            row = kernel.row((q, v), more)
            if row is not None:
                if not terms.whole and not row[kernel.spans["closure"][0].start] < OPEN:
                    raise _off_loops(row[kernel.spans["closure"][0].start])
                self._row, self._spans = row, kernel.spans
                return
        self._row, self._spans = None, {}
        lead = v.shape[:-1]
        if kernel is None:
            good, arrays = np.zeros(lead, dtype=bool), None
        else:
            given = {k: x for k, x in more.items() if k in kernel.reads}
            found, good = kernel.regular((q, v), given)
            arrays = found._asdict()
        self._arrays = self._repaired(arrays, np.asarray(good), level)

    def _repaired(self, arrays: dict[str, Any] | None, good: np.ndarray, level: int) -> dict[str, Any]:
        """The outputs with those of other states computed by ranks."""
        lead = self.v.shape[:-1]
        for at in (tuple(map(int, i)) for i in np.argwhere(~good)):
            more = {k: np.broadcast_to(x, (*lead, *np.shape(x)[-1:]))[at] for k, x in self._more.items()}
            try:
                if not (np.isfinite(self.q[at]).all() and np.isfinite(self.v[at]).all()):
                    raise _not_finite()
                found = self.terms.anyway(self.q[at], self.v[at], more, level)
            except LinkwrightError as error:
                if not lead:
                    raise
                self._failed[at] = error
                found = {}
            if arrays is None:
                if not found:
                    continue
                arrays = {k: np.full((*lead, *np.shape(x)), np.nan) for k, x in found.items()}
            for name, y in arrays.items():
                y[at] = found.get(name, np.nan)
        if arrays is not None and not self.terms.whole:
            self._refuse_open(arrays)
        if arrays is None:
            raise next(iter(self._failed.values()), SingularityError("there is no state to compute."))
        return arrays

    def _refuse_open(self, arrays: Mapping[str, Any]) -> None:
        """States off the loops have no answer: NaN, or an error of one state."""
        gap = np.asarray(arrays["closure"])[..., 0]
        for at in (tuple(map(int, i)) for i in np.argwhere(gap >= OPEN)):
            error = _off_loops(float(gap[at]))
            if not gap.ndim:
                raise error
            self._failed[at] = error
            for y in arrays.values():
                y[at] = np.nan

    # ---------------------------------------------------------------- names

    @property
    def by(self) -> tuple[str, ...]:
        """Names of x'."""
        return self.terms.chosen.by

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of y'."""
        return self.terms.tasks

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of v."""
        return tuple(self.terms.independent.velocities)

    @property
    def ok(self) -> Any:
        """True where the velocities and tasks asked about so far determine the motion."""
        if not self._arrays and self._row is None:
            self._compute(self.terms._level)
        out = np.ones(self.v.shape[:-1], dtype=bool)
        for at in self._failed:
            out[at] = False
        return out if out.ndim else bool(out)

    @property
    def why(self) -> dict[Index, str]:
        return {at: str(error) for at, error in self._failed.items()}

    def _fail(self, i: int, text: str) -> None:
        lead = self.v.shape[:-1]
        error = SingularityError(text)
        if not lead:
            raise error
        self._failed[tuple(int(x) for x in np.unravel_index(i, lead))] = error

    # ---------------------------------------------------------------- motions of the loops

    @property
    def N(self) -> Labeled:
        """Basis of the motions of the loops: v = N x'."""
        if self.terms.whole:
            eye = np.broadcast_to(np.eye(len(self.by)), (*self.v.shape, len(self.by)))
            return Labeled(eye.copy(), self.coordinates, self.by)
        return Labeled(self._get("N"), self.coordinates, self.by)

    @property
    def N_rate(self) -> Labeled:
        """dN/dt x': accelerations of the coordinates where x' does not change."""
        return Labeled(np.zeros_like(self.v) if self.terms.whole else self._get("N_rate"), self.coordinates)

    @property
    def speed(self) -> Labeled:
        """x' of the state."""
        return Labeled(self._get("speed"), self.by)

    @property
    def read(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(velocities per unit of every independent velocity, their rates at x'' = 0, velocities) of what is read beside."""
        return self._get("read"), self._get("read_rate"), self._get("read_speed")

    @property
    def selection(self) -> Labeled:
        """What efforts u of the drives are against x': tau = selection u."""
        return Labeled(self._get("selection"), self.by, self.terms.drives)

    @property
    def constraint(self) -> Labeled:
        """Jacobian of the closed loops: constraint v + b = 0."""
        return Labeled(self._get("constraint"), self._loop_rows, self.coordinates)

    @property
    def constraint_bias(self) -> Labeled:
        """k: constraint a + k = 0."""
        return Labeled(self._get("constraint_bias"), self._loop_rows)

    @property
    def _loop_rows(self) -> tuple[str, ...]:
        return tuple(f"{loop.name}.{label}" for loop in self.terms.core.tree.loops for label in loop.labels)

    # ---------------------------------------------------------------- tasks and contacts

    @property
    def J(self) -> Labeled:
        """Task Jacobian: y' = J x'."""
        self._need_tasks()
        return Labeled(self._get("J"), self.tasks, self.by)

    @property
    def rate(self) -> Labeled:
        """dJ/dt x': y'' = J x'' + rate."""
        self._need_tasks()
        return Labeled(self._get("rate"), self.tasks)

    def _need_tasks(self) -> None:
        if not self.terms.rows:
            raise UsageError("tasks are not named: s.named_terms(['foot', 'com'], by=...).", name="tasks")

    def pose(self, name: str) -> Pose:
        """Return R and p of a task or contact point by name: axes of its body and position, in the world or in the task's frame."""
        known = self.terms.posed
        if name not in known:
            raise UsageError(f"there is no task or contact point '{name}' here.", nearest(str(name), list(known), "Tasks"), name=str(name))
        i = known.index(name)
        return Pose(self._get("pose_R")[..., i, :, :], self._get("pose_p")[..., i, :])

    @property
    def Jc(self) -> Labeled:
        """Jacobian of the contacts: forces f there act on x' as Jc' f."""
        return Labeled(self._of_contacts("Jc"), self.terms.contact_rows, self.by)

    @property
    def Jc_rate(self) -> Labeled:
        """dJc/dt x': accelerations of the contacts at x'' = 0."""
        return Labeled(self._of_contacts("Jc_rate"), self.terms.contact_rows)

    @property
    def W(self) -> Labeled:
        """Delassus matrix: accelerations of the contacts per force there, Jc M^-1 Jc'."""
        if self.terms.whole:
            raise UsageError("W is that of the closed loops. Take independent velocities instead of by='coordinates'.", name="by")
        return Labeled(self._of_contacts("W"), self.terms.contact_rows, self.terms.contact_rows)

    def _of_contacts(self, name: str) -> Any:
        if not self.terms.contacts:
            raise UsageError("contacts are not named: s.named_terms(..., contacts=['foot.heel']).", name="contacts")
        return self._get(name)

    @property
    def gap(self) -> Labeled:
        """Gaps of the contacts of the model."""
        return Labeled(self._of_touches("gap"), [x.name for x in self.terms.touches])

    @property
    def normal(self) -> Labeled:
        """Normals of the contacts of the model, toward the first surface."""
        x = self._of_touches("normal")
        return Labeled(x, [x.name for x in self.terms.touches], AXES[: x.shape[-1]])

    def _of_touches(self, name: str) -> Any:
        if not self.terms.touches:
            raise UsageError("contacts of the model are not named: s.named_terms(..., contacts=['step']).", name="contacts")
        return self._get(name)

    # ---------------------------------------------------------------- inertia

    @property
    def M(self) -> Labeled:
        """Inertia: reduced to x', or of all coordinates."""
        return Labeled(self._get("M"), self.by, self.by)

    @property
    def inverse_inertia(self) -> Labeled:
        """M^-1: accelerations x'' per effort."""
        x = np.linalg.inv(self._get("M")) if self.terms.whole else self._get("inverse_inertia")
        return Labeled(x, self.by, self.by)

    @property
    def C(self) -> Labeled:
        """Coriolis and centrifugal efforts."""
        return Labeled(self._get("C"), self.by)

    @property
    def G(self) -> Labeled:
        """Efforts of weight: what holds the mechanism against gravity."""
        return Labeled(self._get("G"), self.by)

    @property
    def F(self) -> Labeled:
        """Efforts of springs, dampers, friction and loads of the model."""
        return Labeled(self._get("F"), self.by)

    @property
    def h(self) -> Labeled:
        """Bias C + G - F: M x'' + h = tau."""
        return Labeled(self._get("h"), self.by)

    # ---------------------------------------------------------------- operational space

    @cached_property
    def _operational(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(Lambda, mu, Jbar in x')."""
        self._need_tasks()
        n = len(self.tasks)
        if self.terms.whole:  # of the independent motions, as motions of the coordinates
            terms = self.terms
            reduced = NamedTerms(terms.core, [r.name for r in terms.rows], terms.chosen.every, terms.independent, terms.read, terms.given)
            x = reduced._at(self.q, self.v, self._more)
            Lambda, mu, Jbar = x._operational
            self._failed |= x._failed
            moved = np.asarray(x.N) @ Jbar
            return Lambda, mu, moved + _transposed(x._get("spun")) @ Lambda if x._has("spun") else moved
        J, M = self._get("J"), self._get("M")
        if n > J.shape[-1]:
            raise UsageError(
                f"{counted(n, 'component')} ({listing(self.tasks)}) cannot move freely by {J.shape[-1]}: name fewer of them.",
                name="tasks",
            )
        bad = ~np.isfinite(J).all(axis=(-2, -1))
        spins = self._has("spun")
        pushed = self._get("J_free") if spins else J
        W = _solve(np.where(bad[..., None, None], np.eye(J.shape[-1]), M), _transposed(np.where(bad[..., None, None], 0.0, pushed)))
        mobility = np.where(bad[..., None, None], np.nan, pushed) @ W
        if spins:
            mobility = mobility + self._get("spun_mobility")
        kinds = np.array([1.0 if r.rotary else self.terms.core.loops.kappa for r in self.terms.rows])
        Lambda = self._inverted(mobility / kinds / kinds[:, None]) / kinds / kinds[:, None]
        Jbar = W @ Lambda
        mu = _times(_transposed(Jbar), self._get("h")) - _times(Lambda, self._get("rate_free" if spins else "rate"))
        return Lambda, mu, Jbar

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
        return Labeled(self._get("A"), MOMENTUM, self.by)

    @property
    def A_rate(self) -> Labeled:
        """dA/dt x': the rate of momentum is A x'' + A_rate."""
        return Labeled(self._get("A_rate"), MOMENTUM)

    @property
    def momentum(self) -> Labeled:
        """Angular momentum about the center of mass and linear momentum of all bodies."""
        return Labeled(self._get("momentum"), MOMENTUM)

    @property
    def com(self) -> Labeled:
        """Position of the center of mass."""
        return Labeled(self._get("com"), ("com.x", "com.y", "com.z"))


def _off_loops(gap: float) -> UsageError:
    text = f"the loops of this state are open by {gap:.2g} of the mechanism's size. s.assemble gives one that is closed."
    return UsageError(text, name="state", value=gap)


def _not_finite() -> UsageError:
    return UsageError("terms by name need finite numbers in q and v.", name="terms")


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else [str(x) for x in names]


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
