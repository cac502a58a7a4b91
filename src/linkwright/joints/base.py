"""The contract of a joint type: its mathematics, and the facts about it that other rooms ask for.

A joint type is a frozen dataclass that names `JointType` as its base and inherits the defaults below. The fields of the dataclass
are its options, in SI.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol

ALONG: dict[str, tuple[float, float, float]] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0), "": (0.0, 0.0, 0.0)}


class JointOption(NamedTuple):
    """A number that a joint type needs: its dimension (a key of `text.units.KINDS`) and its meaning, for error messages."""

    dimension: str
    meaning: str


class Elementary(NamedTuple):
    """One factor of a pose X_FM(q): a motion that every other program has."""

    kind: str  # "turn", "slide", "screw" or "ball"
    axis: tuple[float, float, float]  # of the joint's frame; zero for a ball
    q: slice  # entries of the joint's q
    v: slice
    pitch: Any = 0.0  # travel of a screw, m/rad


def turn(axis: str, q: int) -> Elementary:
    """Return the rotation about an axis by entry `q` of the coordinates."""
    return Elementary("turn", ALONG[axis], slice(q, q + 1), slice(q, q + 1))


def slide(axis: str, q: int, v: int | None = None) -> Elementary:
    """Return the translation along an axis by entry `q` of the coordinates, `v` of the velocities."""
    v = q if v is None else v
    return Elementary("slide", ALONG[axis], slice(q, q + 1), slice(v, v + 1))


def ball() -> Elementary:
    """Return the rotation by a quaternion in the first four coordinates."""
    return Elementary("ball", ALONG[""], slice(0, 4), slice(0, 3))


class JointType(Protocol):
    """A joint type; the text of `linkwright.joints` says what each function returns."""

    nq: int
    nv: int
    rows: tuple[str, ...]
    coordinate_kinds: tuple[str, ...]  # "angle", "length" or "quaternion" for every entry of q
    q_names: tuple[str, ...]  # what a person calls each entry of q; "" for the only one
    v_names: tuple[str, ...]
    in_plane: bool  # allowed in a planar mechanism

    # in a model file
    synonyms: ClassVar[tuple[str, ...]] = ()  # synonyms of the type, answered with "Did you mean"
    options: ClassVar[Mapping[str, JointOption]] = MappingProxyType({})  # numbers of the type, required in a file
    axes: ClassVar[tuple[str, str]] = ("z", "z")  # axis of F given by `axis:`, and of M where `axes:` gives two
    axis_keys: ClassVar[tuple[str, ...]] = ()  # other keys for `axis:`

    # in a tree, a drawing, another program
    span: ClassVar[Any] = None  # a constant basis of the motion subspace at M's origin, where it does not depend on q
    keeps_origin: ClassVar[bool] = False  # the origins of F and M coincide at all q
    floats: ClassVar[bool] = False  # a body on it goes anywhere in space, or anywhere in its plane
    vectors: ClassVar[tuple[tuple[int, ...], ...]] = ()  # velocities that are the components of one vector; all others are single
    guide: ClassVar[int | None] = None  # entry of q that moves M's origin along a curve on F: a rail, slot or arc that is drawn
    uncut: ClassVar[str] = ""  # why the type is not chosen as a cut joint

    def pose(self, q: Any) -> Any: ...
    def coordinates(self, R: Any, p: Any, near: Any) -> Any: ...
    def subspace(self, q: Any) -> Any: ...
    def bias(self, q: Any, v: Any) -> Any: ...
    def qdot(self, q: Any, v: Any) -> Any: ...
    def residual(self, R: Any, p: Any, near: Any) -> Any: ...
    def gradient(self, R: Any, p: Any) -> Any: ...
    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any: ...

    def turning(self, q: Any, v: Any) -> tuple[Any, Any] | None:
        """Angular parts of subspace and bias in M's axes; None: R_FM' times those in F's axes is as simple."""
        return None

    def pieces(self) -> tuple[Elementary, ...] | None:
        """The factors of the pose in their order, for converters; None: not a product of elementary motions."""
        return None
