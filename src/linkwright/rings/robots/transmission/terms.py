"""A transmission at one state or many: positions, Jacobians and their rates, torques, inertia and bias at the joints.

m' = J x'            m'' = J x'' + J_rate x'                motors m by joints x
x' = K m'            K = J^-1,  K_rate = -K J_rate K
joint torques = J' motor torques            motor torques = K' joint torques          the power is the same on both sides
M x'' + h = J' motor torques                M and h of the whole mechanism (`whole`), or of cranks, rods and rotors alone (`reflected`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError, UsageError
from linkwright.results.labeled_arrays import Labeled
from linkwright.rings.robots.transmission.naming import scaled
from linkwright.system.named_terms import TermsByName

if TYPE_CHECKING:
    from linkwright.rings.robots.transmission.maps import Transmission

DEAD = 1e-12  # smallest singular value of the scaled J, relative to the largest, at which K does not exist


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
        return Labeled(self._known((self._terms.tree["E"] @ self.v[..., None])[..., self.of.columns, 0]), self.of.joints)

    @cached_property
    def motor_speed(self) -> Labeled:
        """Speeds of the motors."""
        n = len(self.of.terms.chosen.every)
        return Labeled(self._known((self._terms.tree["E"][..., n:, :] @ self.v[..., None])[..., 0]), self.of.motors)

    @cached_property
    def J(self) -> Labeled:
        """Speeds of the motors per speed of the joints: m' = J x'."""
        return Labeled(self._known(self._terms.read[0][..., self.of.columns]), self.of.motors, self.of.joints)

    @cached_property
    def J_rate(self) -> Labeled:
        """dJ/dt in the motion of the state. Its columns are differences of the exact rates at v + w and v - w, w a unit of one joint."""
        N = np.swapaxes(np.asarray(self._terms._solved.N)[..., self.of.columns], -1, -2)  # (..., joints, nv)
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
        good = known & (s[..., -1] > DEAD * s[..., 0])
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
            raise UsageError("accelerations follow from the whole mechanism: x.whole.acceleration(...).")
        push = np.asarray(self.terms.joint_torques(motors)) - np.asarray(self.h)
        return Labeled(np.linalg.solve(np.asarray(self.M), push[..., None])[..., 0], self.terms.of.joints)
