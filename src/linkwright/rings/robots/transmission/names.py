"""Names of a transmission: motors and joints that determine each other, and the other velocities of the mechanism, which do not enter.

m' = J x'        motors m by joints x; J square and regular in most positions
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.api import KINDS, UsageError, counted, is_rotary, listing, shown
from linkwright.system.independent_velocities import FIRM, Independent, independent_velocities
from linkwright.system.named_terms import NamedTerms

if TYPE_CHECKING:
    from linkwright.api import Compiled


class TransmissionNames(NamedTuple):
    """Motors, joints, and independent velocities that belong to neither: the base, other joints."""

    motors: tuple[str, ...]
    joints: tuple[str, ...]
    others: tuple[str, ...]


def named(core: Compiled, motors: Any, joints: Any) -> tuple[TransmissionNames, NamedTerms]:
    """Return the names, checked, and the terms by joints with the motors read beside; raise UsageError where they do not fit."""
    independent = independent_velocities(core)
    m, x = (_listed(independent, names, what) for names, what in ((motors, "motors"), (joints, "joints")))
    both = [n for n in m if n in x]
    if both:
        raise UsageError(
            f"'{both[0]}' is a motor and a joint: a joint that is driven directly needs no transmission. Leave it out.", name=both[0]
        )
    if len(m) != len(x):
        raise UsageError(
            f"{_count(m, 'motor')} and {_count(x, 'joint')}: a transmission maps as many joints as it has motors. "
            f"Name {'another motor' if len(m) < len(x) else 'another joint'}, or leave one out.",
            name="motors",
        )
    terms = NamedTerms(core, (), list(x), independent, read=m)
    others = tuple(n for n in terms.chosen.every if n not in x)
    names = TransmissionNames(m, x, others)
    _check(core, names, terms)
    return names, terms


def _listed(independent: Independent, names: Any, what: str) -> tuple[str, ...]:
    given = [names] if isinstance(names, str) else list(names) if isinstance(names, Sequence) else None
    if not given or not all(isinstance(n, str) for n in given):
        raise UsageError(f"{what} of a transmission are a list of joints and cylinders by name, not {names!r:.60}.", name=what, value=names)
    out = []
    for name in given:
        found = independent.expanded(name)
        if len(found) != 1:
            raise UsageError(f"'{name}' has {counted(len(found), 'velocity')}. Name one or several of them: {listing(found)}.", name=name)
        out += found
    twice = [n for i, n in enumerate(out) if n in out[:i]]
    if twice:
        raise UsageError(f"'{twice[0]}' is named twice among the {what}.", name=twice[0])
    return tuple(out)


def _count(names: Sequence[str], what: str) -> str:
    return f"{counted(len(names), what)} ({listing(names)})"


def scaled(core: Compiled, J: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """A Jacobian of joints with lengths as multiples of the characteristic length."""
    scales = independent_velocities(core).scales
    return J * scales(columns) / scales(rows)[:, None]


def _check(core: Compiled, names: TransmissionNames, terms: NamedTerms) -> None:
    """Raise UsageError where joints move with the motors held, or motors with something else than the joints."""
    loose = [n for n in names.others if n in names.motors]
    if loose:
        raise UsageError(
            f"the motors {listing(names.motors)} and the joints {listing(names.joints)} do not determine each other: with the joints held, "
            f"{listing(loose)} can still move. Name the joints that {'it moves' if len(loose) == 1 else 'they move'}, or other motors.",
            name="motors",
        )
    best, found = -1.0, np.zeros((0, 0))
    for x in core.kernels._samples:
        near = core.skel.pack(x.references)
        J = scaled(core, terms._at(np.asarray(x.q), np.asarray(x.v), {"near": near}).read[0], names.motors, terms.chosen.every)
        own = J[:, [terms.chosen.every.index(n) for n in names.joints]]
        s = np.linalg.svd(own, compute_uv=False)
        share = float(s[-1] / np.abs(J).max()) if np.abs(J).max() > 0.0 else 0.0
        if share > best:
            best, found = share, J
    own = found[:, [terms.chosen.every.index(n) for n in names.joints]]
    regular = 1e-6  # smallest singular value of the scaled J, relative to the largest, above which motors hold the joints
    if best < regular:
        free = [n for n, x in zip(names.joints, np.linalg.svd(own)[2][-1], strict=True) if abs(x) > 1e-3]
        raise UsageError(
            f"the motors {listing(names.motors)} do not determine the joints: with all of them held, {listing(free)} can still move. "
            f"Name the motors that move {'it' if len(free) == 1 else 'them'}, or other joints.",
            name="motors",
        )
    size = float(np.abs(own).max())
    for k, name in enumerate(terms.chosen.every):
        moved = [m for m, x in zip(names.motors, found[:, k], strict=True) if abs(x) > FIRM * size]
        if name not in names.joints and moved:
            raise UsageError(
                f"the motor{'s' * (len(moved) != 1)} {listing(moved)} also move{'s' * (len(moved) == 1)} with '{name}' while "
                f"{listing(names.joints)} rest: name '{name}' among the joints, with the motor that belongs to it.",
                name=name,
            )


def position(core: Compiled, name: str, value: float) -> str:
    """A position in the units of the model: `20 deg`."""
    return shown(float(value), KINDS["angle" if is_rotary(core.description, name) else "length"], core.description.units)


def place(core: Compiled, names: Sequence[str], values: Any) -> str:
    """Positions of joints for a message: `pitch = 20 deg, roll = 0 deg`."""
    return ", ".join(f"{n} = {position(core, n, x)}" for n, x in zip(names, values, strict=True))
