"""The contract every constraint keeps; see the package's text."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from linkwright.mechanics.kinematics.motion import Motion, Skeleton


class ConstraintRows(NamedTuple):
    """Rows of a constraint at one motion."""

    phi: Any
    G: list[tuple[int, Any]]
    k: Any
    b: Any


class BodyAxisRows(NamedTuple):
    """The same constraint in the rows that cost least: J by subsystem, and how its multipliers are reported."""

    rows: ConstraintRows
    blocks: dict[int, Any]  # subsystem -> J_ij
    turn: Any  # lam of `rows` = turn @ lam of these


class Constraint(Protocol):
    """A named group of rows."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...  # one a row
    @property
    def kinds(self) -> tuple[str, ...]: ...  # "length" or "angle": the unit of each row's residual

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows: ...
