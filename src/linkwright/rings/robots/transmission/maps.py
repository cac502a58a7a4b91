"""Series-parallel maps: joints of a robot that motors move through cranks, rods and other closed loops.

    t = s.transmission(motors=["left", "right"], joints=["pitch", "roll"])
    t.to_motors({"pitch": "10 deg", "roll": 0})            positions, both ways; values or arrays of them
    x = t.at(joints={"pitch": ..., "roll": ...}, v=...)    Jacobian, torques, inertia ...: see `terms`
    t.limits(), t.worst                                    travel up to dead centers, conditioning: see `ranges`

Both ways are closed by continuation from the start, so on its branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import SingularityError, UsageError, calls_explained, listing, nearest
from linkwright.model.coordinates import is_rotary
from linkwright.model.file import quantity
from linkwright.numerics.pickling import essentials
from linkwright.results.labeled_arrays import Labeled
from linkwright.results.records import cut_rows
from linkwright.results.state import LaterReferences, State
from linkwright.results.trajectory import Trajectory
from linkwright.rings.robots.transmission.equivalent_tree import EquivalentTree, equivalent_tree
from linkwright.rings.robots.transmission.naming import named, place, position
from linkwright.rings.robots.transmission.parts import between, half_inertia
from linkwright.rings.robots.transmission.polynomials import Polynomials, polynomials
from linkwright.rings.robots.transmission.ranges import JointTravel, Ranges, WorstPosition, as_table, conditioning
from linkwright.rings.robots.transmission.terms import TransmissionTerms
from linkwright.system.named_terms import NamedTerms
from linkwright.system.state_batch import StateBatch, assembled
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.motion.compiled import Compiled

EFFORTS = {True: "torque", False: "force"}


@calls_explained
class Transmission:
    """The map between motors and joints of a mechanism; both determine each other.

    `motors`, `joints`: their names. `parts`: the bodies between them (cranks, rods), which `x.reflected` counts.
    """

    __getstate__ = essentials

    def __init__(
        self,
        core: Compiled,
        one: Callable[..., State],
        motors: Any,
        joints: Any,
        within: Mapping[str, Any] | None = None,
        *,
        held: Callable[[], Transmission | None] = lambda: None,
    ):
        """`held` gives the same map with a floating base held at the start: positions do not depend on it, and code closes them."""
        if within is not None and not isinstance(within, Mapping):
            raise UsageError(f"range is a dict of pairs by joint, {{'pitch': ('-20 deg', '30 deg')}}, not {within!r:.60}.")
        self.core, self._one = core, one
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
        positions are given; default at rest. guess: a State near by, default the start; other coordinates stay as they are there.
        """
        given = [x for x in (state, joints, motors) if x is not None]
        if len(given) != 1:
            raise UsageError("give one of: a state, joints= or motors=.")
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
            raise UsageError("v= belongs to joints= and motors=; a state has its own velocities.")
        if isinstance(state, State) and state.skel is self.core.skel:
            return TransmissionTerms(self, np.asarray(state.q), np.asarray(state.v), self.core.packed_references(state))
        if isinstance(state, Trajectory) and state.skel is self.core.skel:
            return TransmissionTerms(self, state.q, state.v, cut_rows(state.skel, state.references), np.ones(len(state.q), dtype=bool))
        raise UsageError("a transmission is computed at a State or Trajectory of its own system, or at joints= or motors=.")

    def closed(
        self,
        names: Sequence[str],
        q: Mapping[str, Any],
        v: Mapping[str, Any] | None = None,
        guess: State | None = None,
        patient: bool = True,
    ) -> StateBatch:
        """Return states with these joints or motors at given positions, the others at those of the guess."""
        at = self.core.start if guess is None else guess
        rest = dict(zip(self.drivable, self.core.drive_positions(at, self.drivable), strict=True))
        speed = None if v is None else {**v, **dict.fromkeys(rest, 0.0)}
        return assembled(self.core, self._one, {**q, **rest}, speed, at, [*names, *rest], patient)

    @property
    def drivable(self) -> list[str]:
        """Other joints, which are held; a floating base stays by itself, because nothing moves it."""
        return [n for n in self.others if n not in self.terms.independent.base]

    def _rotary(self, name: str) -> bool:
        """True for an angle."""
        return is_rotary(self.core.description, name)

    def _by_name(self, given: Any, names: Sequence[str], kinds: tuple[str, str], what: str) -> tuple[dict[str, Any], bool]:
        """Values by name in SI, and True for those of one state."""
        if not isinstance(given, Mapping):
            x = np.asarray(given, dtype=float)
            if x.ndim not in (1, 2) or x.shape[-1] != len(names):
                raise UsageError(f"{what}: an array has the {listing(names)} last, shape (..., {len(names)}), not {x.shape}.")
            given = {name: x[..., i] for i, name in enumerate(names)}
        for name in given:
            if name not in names:
                raise UsageError(f"{what}: '{name}' is not one of {listing(names)}. {nearest(str(name), names, 'Names')}")
        if what != "v" and len(given) < len(names):
            raise UsageError(f"{what} of {listing([n for n in names if n not in given])} are missing.")
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
                    raise UsageError(f"{what}: '{name}' is not one of {listing(names)}. {nearest(str(name), names, 'Names')}")
            columns = [self._effort(name, given.get(name, 0.0)) for name in names]
            return np.stack(np.broadcast_arrays(*columns), axis=-1)
        x = np.asarray(given, dtype=float)
        if x.shape[-1:] != (len(names),):
            raise UsageError(f"{what}: an array has the {listing(names)} last, shape (..., {len(names)}), not {x.shape}.")
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
                "the free one) and take the transmission of that; it is the same."
            )
        from linkwright.kernels.transmission_sources import Sides

        return Sides(self.motors, self.joints, self.drivable)

    def c(self, name: str = "transmission", *, precision: str = "double") -> dict[str, str]:
        """Return C99 sources, name.h and name.c: positions both ways, Jacobian and its rate, torques, inertia and bias at the joints."""
        from linkwright.kernels import transmission_sources

        return transmission_sources.c(self.core.kernels, self._sides, name=name, precision=precision)

    def javascript(self, name: str = "transmission") -> str:
        """Return a script for pages and node with the same functions."""
        from linkwright.kernels import transmission_sources

        return transmission_sources.javascript(self.core.kernels, self._sides, name=name)

    def ros2(self, name: str = "transmission", *, namespace: str = "linkage") -> dict[str, str]:
        """Return a transmission of ros2_control: C, C++ on top, a loader for pluginlib and the elements of the URDF, by file name."""
        from linkwright.rings.robots.transmission import ros2

        title = f"Transmission of {self.core.description.name or 'a mechanism'} by Linkwright."
        more = ros2.texts(name, namespace, self.motors, self.joints, title, self.range)
        return {**self.c(name), **more}

    # ---------------------------------------------------------------- simpler models

    def polynomials(self, degree: int = 4) -> Polynomials:
        """Return polynomials that approximate the map over the range, both ways, with their errors; `.mjcf()` and `.urdf()` write them."""
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
        dead centers, made smaller where one lies inside. Raise UsageError where a dead center lies in a given one."""
        return dict(self._ranges.box)

    @property
    def worst(self) -> WorstPosition:
        """The worst conditioned position of the range; with one motor, the position in which J is smallest."""
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
            f"dead center of the motors at {place(self.core, self.joints, joint)}: with {listing(self.motors)} held the joints can move; "
            "their speeds and the motor torques do not follow. t.limits() gives the travel up to it."
        )


def _floats(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fiu"
