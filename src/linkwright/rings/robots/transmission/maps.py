"""Series-parallel maps: joints of a robot that motors move through cranks, rods and other closed loops.

    t = s.transmission(motors=["left", "right"], joints=["pitch", "roll"])
    t.to_motors({"pitch": "10 deg", "roll": 0})            positions, both ways; values or arrays of them
    x = t.at(joints={"pitch": ..., "roll": ...}, v=...)    Jacobian, torques, inertia ...: see `terms`
    t.limits(), t.worst                                    travel up to dead centers, conditioning: see `ranges`

Both ways are closed by continuation from the start, so on its branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.api import (
    KINDS,
    Body,
    Description,
    Joint,
    LinkwrightError,
    Placement,
    Pose,
    SingularityError,
    State,
    Trajectory,
    UsageError,
    Vec3,
    calls_explained,
    compiled_of,
    errors,
    essentials,
    is_rotary,
    listing,
    nearest,
    pose_of,
    quantity,
    records,
)
from linkwright.mechanics.kinematics.floating_base import base_joints
from linkwright.properties import cached_property
from linkwright.results.labeled_arrays import Labeled
from linkwright.results.state import LaterReferences
from linkwright.rings.robots.transmission.equivalent_tree import EquivalentTree, between, equivalent_tree, half_inertia
from linkwright.rings.robots.transmission.names import named, place, position, scaled
from linkwright.rings.robots.transmission.polynomials import Polynomials, polynomials
from linkwright.rings.robots.transmission.ranges import JointTravel, Ranges, WorstPosition, as_table, conditioning
from linkwright.system.named_terms import NamedTerms, TermsByName
from linkwright.system.states import StateBatch, assembled

if TYPE_CHECKING:
    from linkwright.api import Compiled, System

EFFORTS = {True: "torque", False: "force"}


@calls_explained
class Transmission(errors.Renamed):
    """The map between motors and joints of a mechanism. Both determine each other.

    `motors`, `joints`: their names. `parts`: the bodies between them (cranks, rods), which `x.reflected` counts.
    """

    __getstate__ = essentials

    def __init__(
        self,
        core: Compiled,
        motors: Any,
        joints: Any,
        within: Mapping[str, Any] | None = None,
        *,
        held: Callable[[], Transmission | None] = lambda: None,
    ):
        """`held` gives the same map with a floating base held at the start: positions do not depend on it, and code closes them."""
        if within is not None and not isinstance(within, Mapping):
            raise UsageError(f"range is a dict of pairs by joint, {{'pitch': ('-20 deg', '30 deg')}}, not {within!r:.60}.", value=within)
        self.core = core
        names, self.terms = named(core, motors, joints)
        self.motors, self.joints, self.others = names
        self.columns = [self.terms.chosen.every.index(n) for n in self.joints]
        self.parts = between(core.description, self.motors, self.joints)
        self._within, self._held = within, held

    def __repr__(self) -> str:
        return f"<Transmission of {self.core.description.name!r}: motors {listing(self.motors)}; joints {listing(self.joints)}>"

    @cached_property
    def _ranges(self) -> Ranges:
        return Ranges(self._held() or self, self._within)

    # ---------------------------------------------------------------- states

    def to_motors(self, joints: Any) -> Labeled:
        """Return the positions of the motors at positions of the joints: by name, or an array with the joints last."""
        return self.at(joints=joints).motor

    def to_joints(self, motors: Any) -> Labeled:
        """Return the positions of the joints at positions of the motors, on the branch of the start."""
        return self.at(motors=motors).joint

    def at(
        self, state: Any = None, *, joints: Any = None, motors: Any = None, v: Any = None, guess: State | None = None
    ) -> TransmissionTerms:
        """Return the transmission at a State or Trajectory, or at positions of the joints or of the motors.

        joints, motors, v: by name (numbers, texts with units, arrays), or arrays with the joints or motors last. v: speeds of those whose
        positions are given. Default at rest. guess: a State near by, default the start. Other coordinates stay as they are there.
        """
        given = [x for x in (state, joints, motors) if x is not None]
        if len(given) != 1:
            raise UsageError("give one of: a state, joints= or motors=.", name="joints")
        if state is not None:
            return self._of_state(state, v)
        names = self.joints if joints is not None else self.motors
        q, single = self._by_name(given[0], names, ("angle", "length"), "positions")
        speed, plain = self._by_name(v, names, ("angular speed", "speed"), "v") if v is not None else (None, True)
        found = self.closed(names, q, speed, guess)
        if single and plain:
            return self._of_state(found[0])  # raises the reason where it does not exist
        return self._of_batch(found)

    def over(self, rows: np.ndarray) -> TransmissionTerms:
        """Return the transmission at many positions of the joints, quickly: those beyond a dead center are not looked for."""
        return self._of_batch(self.closed(self.joints, {n: rows[:, i].copy() for i, n in enumerate(self.joints)}, patient=False))

    def _of_batch(self, found: StateBatch) -> TransmissionTerms:
        here = self.core.start
        ok = found.ok[:, None]
        near = self.core.packed_references(here)
        return TransmissionTerms(
            self, np.where(ok, found.q, here.q), np.where(ok, found.v, 0.0), np.where(ok, found.near, near), found.ok, found.failed
        )

    def _of_state(self, state: Any, v: Any = None) -> TransmissionTerms:
        if v is not None:
            raise UsageError("v= belongs to joints= and motors=. A state has its own velocities.", name="v")
        if isinstance(state, State) and state.skel is self.core.skel:
            return TransmissionTerms(self, np.asarray(state.q), np.asarray(state.v), self.core.packed_references(state))
        if isinstance(state, Trajectory) and state.skel is self.core.skel:
            return TransmissionTerms(
                self, state.q, state.v, records.cut_rows(state.skel, state.references), np.ones(len(state.q), dtype=bool)
            )
        raise UsageError("a transmission is computed at a State or Trajectory of its own system, or at joints= or motors=.", name="at")

    def closed(
        self,
        names: Sequence[str],
        q: Mapping[str, Any],
        v: Mapping[str, Any] | None = None,
        guess: State | None = None,
        patient: bool = True,
    ) -> StateBatch:
        """Return states with these joints or motors at given positions, the others at their positions in the guess."""
        at = self.core.start if guess is None else guess
        rest = dict(zip(self.drivable, self.core.drive_positions(at, self.drivable), strict=True))
        speed = None if v is None else {**v, **dict.fromkeys(rest, 0.0)}
        return assembled(self.core, {**q, **rest}, speed, at, [*names, *rest], patient)

    @property
    def drivable(self) -> list[str]:
        """Other joints, which are held. A floating base stays, because nothing moves it."""
        return [n for n in self.others if n not in self.terms.independent.base]

    def _rotary(self, name: str) -> bool:
        """True for an angle."""
        return is_rotary(self.core.description, name)

    def _by_name(self, given: Any, names: Sequence[str], kinds: tuple[str, str], what: str) -> tuple[dict[str, Any], bool]:
        """Values by name in SI, and True for those of one state."""
        if not isinstance(given, Mapping):
            x = np.asarray(given, dtype=float)
            if x.ndim not in (1, 2) or x.shape[-1] != len(names):
                raise UsageError(
                    f"{what}: an array has the {listing(names)} last, shape (..., {len(names)}), not {x.shape}.", name=what, value=x.shape
                )
            given = {name: x[..., i] for i, name in enumerate(names)}
        for name in given:
            if name not in names:
                raise UsageError(f"{what}: '{name}' is not one of {listing(names)}.", nearest(str(name), names, "Names"))
        if what != "v" and len(given) < len(names):
            raise UsageError(f"{what} of {listing([n for n in names if n not in given])} are missing.", name=what)
        out: dict[str, Any] = {n: 0.0 for n in names if n not in given}
        for name, x in given.items():
            kind = KINDS[kinds[0 if self._rotary(name) else 1]]
            if isinstance(x, (list, tuple, np.ndarray)) and np.ndim(x) > 0:
                out[name] = np.asarray(x, dtype=float) if _floats(x) else np.array([quantity(value, kind, f"'{name}'") for value in x])
            else:
                out[name] = quantity(float(x) if isinstance(x, np.ndarray) else x, kind, f"'{name}'")
        return {n: out[n] for n in names}, all(np.ndim(x) == 0 for x in out.values())

    def _read_positions(self, q: np.ndarray, near: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Positions of joints and cylinders at states in rows."""
        skel = self.core.skel
        every = self.core.kernels.entries["q"]
        out = np.empty((*q.shape[:-1], len(names)))
        for k, name in enumerate(names):
            if name in every:
                out[..., k] = q[..., every.index(name)]
                continue
            for i in np.ndindex(q.shape[:-1]):
                st = State(skel, q[i], np.zeros(self.core.tree.nv), LaterReferences(skel, q[i], near[i]))
                out[(*i, k)] = self.core.drive_positions(st, [name])[0]
        return out

    def efforts(self, given: Any, names: Sequence[str], what: str) -> np.ndarray:
        """Torques and forces by name, or as an array, in the order of names."""
        if isinstance(given, Mapping):
            for name in given:
                if name not in names:
                    raise UsageError(f"{what}: '{name}' is not one of {listing(names)}.", nearest(str(name), names, "Names"))
            columns = [self._effort(name, given.get(name, 0.0)) for name in names]
            return np.stack(np.broadcast_arrays(*columns), axis=-1)
        x = np.asarray(given, dtype=float)
        if x.shape[-1:] != (len(names),):
            raise UsageError(
                f"{what}: an array has the {listing(names)} last, shape (..., {len(names)}), not {x.shape}.", name=what, value=x.shape
            )
        return x

    def _effort(self, name: str, value: Any) -> np.ndarray:
        plain = isinstance(value, (np.ndarray, list, tuple))
        return np.asarray(value, dtype=float) if plain else np.asarray(quantity(value, KINDS[EFFORTS[self._rotary(name)]], f"'{name}'"))

    # ---------------------------------------------------------------- dynamics

    @cached_property
    def _halved(self) -> NamedTerms:
        """Terms of the mechanism with half the inertia of the parts, whose share is twice the difference: without any, the equations of
        chains that have no other mass would be singular."""
        self.core.kernels.need_masses()
        return NamedTerms(self.core.described_by(half_inertia(self.core.description, self.parts)), (), list(self.joints))

    # ---------------------------------------------------------------- other languages

    @property
    def _sides(self) -> Any:
        """Names for export; raise UsageError for a floating base."""
        if len(self.drivable) < len(self.others):
            raise UsageError(
                "C and scripts close the loops with the base at rest: write the model with the base fixed (a `fixed` joint in the place of "
                "the free one) and take the transmission of that. It is the same.",
                name="base",
            )
        from linkwright.api import transmission_sources

        return transmission_sources.Sides(self.motors, self.joints, self.drivable)

    # ---------------------------------------------------------------- simpler models

    def polynomials(self, degree: int = 4) -> Polynomials:
        """Return polynomials that approximate the map over the range, both ways, with their errors. `.mjcf()` and `.urdf()` write them."""
        return polynomials(self, degree)

    def tree(self) -> EquivalentTree:
        """Return the mechanism without the parts between motors and joints: joints driven, inertia of the parts as an armature matrix."""
        self.core.kernels.need_masses()
        return equivalent_tree(self)

    # ---------------------------------------------------------------- ranges

    def limits(self) -> dict[str, JointTravel]:
        """Return the travel of each joint from the start (the others held there): low, high, and the dead center or stop that ends it."""
        return dict(self._ranges.travel)

    @property
    def range(self) -> dict[str, tuple[float, float]]:
        """The range of the joints that polynomials and `worst` refer to: given, else the stops of the model, else 95 % of the way to the
        dead centers, made smaller if one lies inside. Raise UsageError if a dead center lies in a given range."""
        return dict(self._ranges.box)

    @property
    def worst(self) -> WorstPosition:
        """The worst conditioned position of the range. With one motor, the position in which J is smallest."""
        return self._ranges.worst

    def grid(self, most: int = 4000) -> np.ndarray:
        """Return positions of the joints evenly over the range, one row each."""
        return self._ranges.grid(self._ranges.box, most)

    def summary(self) -> str:
        """Return a text for people: travel of the joints, worst conditioning over the range."""

        def show(name: str, x: float) -> str:
            return position(self.core, name, x)

        head = f"Transmission of {self.core.description.name}: motors {listing(self.motors)}; joints {listing(self.joints)}"
        return f"{head}\n{as_table(self, self.limits(), show)}\n  {conditioning(self._ranges)}"

    def _dead(self, joint: Any) -> SingularityError:
        """The error of a dead center of the motors."""
        return SingularityError(
            f"dead center of the motors at {place(self.core, self.joints, joint)}: with {listing(self.motors)} held the joints can move. "
            "Their speeds and the motor torques do not follow. t.limits() gives the travel up to it.",
            name=listing(self.joints),
        )


def _floats(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fiu"


# A transmission at one state or many: positions, Jacobians and their rates, torques, inertia and bias at the joints.
#
# m' = J x'            m'' = J x'' + J_rate x'                motors m by joints x
# x' = K m'            K = J^-1,  K_rate = -K J_rate K
# joint torques = J' motor torques            motor torques = K' joint torques          the power is the same on both sides
# M x'' + h = J' motor torques                M and h of the whole mechanism (`whole`), or of cranks, rods and rotors alone (`reflected`)
@dataclass(frozen=True)
class TransmissionTerms:
    """A transmission at one state, or with the states first. A state that does not exist is NaN; `ok` is the mask of the others."""

    of: Transmission = field(repr=False)
    q: np.ndarray = field(repr=False)  # of all coordinates of the mechanism; placeholders where not ok
    v: np.ndarray = field(repr=False)
    near: np.ndarray = field(repr=False)
    closed: Any = True  # mask of the states on the loops
    failed: Mapping[int, LinkwrightError] = field(default_factory=dict, repr=False)

    # ---------------------------------------------------------------- which states exist

    @property
    def ok(self) -> Any:
        """True where the loops close and the joints determine the motors."""
        return self.closed & self._terms.ok if self.q.ndim > 1 else True

    @property
    def why(self) -> dict[int, str]:
        """Reasons of the states that are not ok, by index."""
        return {**{at[0]: text for at, text in self._terms.why.items()}, **{i: str(error) for i, error in self.failed.items()}}

    def _known(self, values: Any) -> np.ndarray:
        x = np.array(values, dtype=float)
        if self.q.ndim > 1:
            x[~self.closed] = np.nan
        return x

    # ---------------------------------------------------------------- kinematics

    @cached_property
    def _terms(self) -> TermsByName:
        found = self.of.terms._at(self.q, self.v, {"near": self.near})
        _ = found.read
        return found

    @cached_property
    def joint(self) -> Labeled:
        """Positions of the joints."""
        return Labeled(self._known(self.of._read_positions(self.q, self.near, self.of.joints)), self.of.joints)

    @cached_property
    def motor(self) -> Labeled:
        """Positions of the motors."""
        return Labeled(self._known(self.of._read_positions(self.q, self.near, self.of.motors)), self.of.motors)

    @cached_property
    def joint_speed(self) -> Labeled:
        """Speeds of the joints."""
        return Labeled(self._known(self._terms.speed), self.of.joints)

    @cached_property
    def motor_speed(self) -> Labeled:
        """Speeds of the motors."""
        return Labeled(self._known(self._terms.read[2]), self.of.motors)

    @cached_property
    def J(self) -> Labeled:
        """Speeds of the motors per speed of the joints: m' = J x'."""
        return Labeled(self._known(self._terms.read[0][..., self.of.columns]), self.of.motors, self.of.joints)

    @cached_property
    def J_rate(self) -> Labeled:
        """dJ/dt in the motion of the state. Its columns are differences of the exact rates at v + w and v - w, w a unit of one joint."""
        N = np.swapaxes(np.asarray(self._terms.N), -1, -2)  # (..., joints, nv)
        v = np.asarray(self.v)[..., None, :]
        both = np.stack([v + N, v - N], axis=-3)  # (..., 2, joints, nv)
        q, near = (np.broadcast_to(x[..., None, None, :], (*both.shape[:-1], x.shape[-1])) for x in (self.q, self.near))
        rates = self.of.terms._at(q.copy(), np.where(np.isfinite(both), both, 0.0), {"near": near.copy()}).read[1]
        quarter = 0.25 * (rates[..., 0, :, :] - rates[..., 1, :, :])
        return Labeled(self._known(np.swapaxes(quarter, -1, -2)), self.of.motors, self.of.joints)

    @cached_property
    def K(self) -> Labeled:
        """Speeds of the joints per speed of the motors: x' = K m'. NaN in a dead center of the motors."""
        J = np.asarray(self.J)
        known = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
        eye = np.eye(J.shape[-1])
        s = np.linalg.svd(scaled(self.of.core, np.where(known[..., None, None], J, eye), self.of.motors, self.of.joints), compute_uv=False)
        dead = 1e-12  # smallest singular value of the scaled J, relative to the largest, at which K does not exist
        good = known & (s[..., -1] > dead * s[..., 0])
        if J.ndim == 2 and not good:
            raise self.of._dead(self.joint)
        found = np.linalg.inv(np.where(good[..., None, None], J, eye))
        return Labeled(np.where(good[..., None, None], found, np.nan), self.of.joints, self.of.motors)

    @property
    def K_rate(self) -> Labeled:
        """dK/dt in the motion of the state."""
        K = np.asarray(self.K)
        return Labeled(-K @ np.asarray(self.J_rate) @ K, self.of.joints, self.of.motors)

    @cached_property
    def condition(self) -> Any:
        """Ratio of the largest to the smallest singular value of J (lengths by the characteristic length): 1 is best, inf a dead center."""
        J = scaled(self.of.core, np.asarray(self.J), self.of.motors, self.of.joints)
        bad = np.asarray(~np.isfinite(J).all(axis=(-2, -1)))
        s = np.linalg.svd(np.where(bad[..., None, None], 0.0, J), compute_uv=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(bad, np.nan, np.where(s[..., -1] > 0.0, s[..., 0] / s[..., -1], np.inf))
        return found if found.ndim else float(found)

    # ---------------------------------------------------------------- efforts

    def joint_torques(self, motors: Any) -> Labeled:
        """Return the torques (forces of sliders) at the joints that motor torques have the power of."""
        tau = self.of.efforts(motors, self.of.motors, "motor torques")
        return Labeled((np.swapaxes(np.asarray(self.J), -1, -2) @ tau[..., None])[..., 0], self.of.joints)

    def motor_torques(self, joints: Any) -> Labeled:
        """Return the torques of the motors that have the power of torques at the joints."""
        tau = self.of.efforts(joints, self.of.joints, "joint torques")
        return Labeled((np.swapaxes(np.asarray(self.K), -1, -2) @ tau[..., None])[..., 0], self.of.motors)

    # ---------------------------------------------------------------- dynamics

    @cached_property
    def whole(self) -> ReducedEquations:
        """Equations of the whole mechanism in the joints, other coordinates at rest: M x'' + h = J' motor torques."""
        return ReducedEquations(self, self._terms)

    @cached_property
    def reflected(self) -> ReducedEquations:
        """The share of the parts between motors and joints in `whole`: inertia of rotors, cranks and rods at the joints, and their bias."""
        return ReducedEquations(self, self._terms, self.of._halved._at(self.q, self.v, {"near": self.near}))


@dataclass(frozen=True)
class ReducedEquations:
    """M x'' + C + G - F = torques at the joints."""

    terms: TransmissionTerms = field(repr=False)
    every: TermsByName = field(repr=False)
    halved: TermsByName | None = field(default=None, repr=False)  # with half the inertia of the bodies that count; None: all do

    def _at_joints(self, what: str) -> np.ndarray:
        x = np.asarray(getattr(self.every, what))
        return self.terms._known(x if self.halved is None else 2.0 * (x - np.asarray(getattr(self.halved, what))))

    @property
    def M(self) -> Labeled:
        """Inertia at the joints."""
        return Labeled(self._at_joints("M"), self.terms.of.joints, self.terms.of.joints)

    @property
    def C(self) -> Labeled:
        """Coriolis and centrifugal torques."""
        return Labeled(self._at_joints("C"), self.terms.of.joints)

    @property
    def G(self) -> Labeled:
        """Torques that hold the weight."""
        return Labeled(self._at_joints("G"), self.terms.of.joints)

    @property
    def F(self) -> Labeled:
        """Torques of springs, dampers, friction, stops and loads of the model; zero in `reflected`."""
        return Labeled(self._at_joints("F"), self.terms.of.joints)

    @property
    def h(self) -> Labeled:
        """Bias C + G - F."""
        return Labeled(np.asarray(self.C) + np.asarray(self.G) - np.asarray(self.F), self.terms.of.joints)

    def acceleration(self, motors: Any) -> Labeled:
        """Return the accelerations of the joints under motor torques, other coordinates not accelerating."""
        if self.halved is not None:
            raise UsageError("accelerations follow from the whole mechanism: x.whole.acceleration(...).", name="acceleration")
        push = np.asarray(self.terms.joint_torques(motors)) - np.asarray(self.h)
        return Labeled(np.linalg.solve(np.asarray(self.M), push[..., None])[..., 0], self.terms.of.joints)


# A robot whose floating base is held where it is at the start: the same joints, and positions that code can close.


def transmission(system: System, motors: Any, joints: Any, within: Any) -> Transmission:
    """The map between motors and joints; its ranges, where a base floats, on the robot that is held."""
    held = partial(_held, system, motors, joints, within)
    return Transmission(compiled_of(system), motors, joints, within, held=held)


def _held(system: System, motors: Any, joints: Any, within: Any) -> Transmission | None:
    other = with_base_held(system)
    return None if other is None else transmission(type(system)(other, list(system.tree.cuts)), motors, joints, within)


def with_base_held(system: System) -> Description | None:
    """The description with every floating base fixed to ground; None where nothing floats.

    For positions and their rates only: weight and everything else that acts on the base is as before.
    """
    base = set(base_joints(system.tree))
    if not base:
        return None
    d = system.description
    poses = {node.body: system.pose(system.start, node.body) for node in system.tree.nodes}
    bodies = [replace(b, start=_placed(poses[b.name])) if b.name in poses else b for b in d.bodies]
    moved = replace(d, bodies=tuple(bodies), start=tuple(x for x in d.start if x[0].partition(".")[0] not in base))
    return replace(moved, joints=tuple(_fixed(moved, j) if j.name in base else j for j in d.joints))


def _fixed(d: Description, j: Joint) -> Joint:
    """A fixed joint at the place where the second side is now."""
    first, second = _pose(d.body(j.first)), _pose(d.body(j.second)) @ pose_of(j.frame_second)
    return replace(j, type="fixed", options=(), frame_first=_placed(first.inverse() @ second))


def _pose(body: Body) -> Pose:
    return pose_of(body.start)


def _placed(X: Pose) -> Placement:
    return Placement(_vector(X.p), (_vector(X.R[0]), _vector(X.R[1]), _vector(X.R[2])))


def _vector(x: Any) -> Vec3:
    return float(x[0]), float(x[1]), float(x[2])
