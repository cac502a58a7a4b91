"""Verbs of rings: `m.optimize(...)` is written in the ring `design`, while Mechanism is in the core, which imports no ring.

A ring has a module `verbs.py` with a class of methods for every class of the core that it adds to: `MechanismVerbs`, `SystemVerbs`,
`TrajectoryVerbs`. The class of the core has `RingVerbs` among its bases; editors and type checkers see the class of the same name in
`linkwright.rings.verbs` there, which has the verbs of all rings.

A name that the class does not have itself is looked for in one ring after the other; the verbs of a ring that was looked at are members
of the class from then on, with docstrings and checked calls like its own. A ring may be missing: then its verbs are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import getattr_static
from types import FunctionType
from typing import Any

from linkwright.errors import RENAMED, UsageError, call_explained, listing

RINGS = ("design", "studio", "robots", "control", "exchange")  # those that are quick to import first
_GIVEN: dict[type, set[str]] = {}  # rings whose verbs a class has


class LookedUp(type):
    """A class whose further members are looked for in the rings: `Mechanism.optimize`."""

    def __getattr__(cls, name: str) -> Any:
        if name in cls.__annotations__:  # a field of a dataclass, asked for its default: it has none
            raise AttributeError(f"'{cls.__name__}' has no default of '{name}'.", name=name, obj=cls)
        if _has(cls, name):
            return getattr(cls, name)
        raise AttributeError(_unknown(cls, name), name=name, obj=cls)

    def __dir__(cls) -> list[str]:
        _has(cls, "")
        return list(super().__dir__())


class RingVerbs(metaclass=LookedUp):
    """The base of a class of the core to which rings give verbs."""

    def __getattr__(self, name: str) -> Any:
        if getattr_static(type(self), name, None) is not None or _has(type(self), name):
            return object.__getattribute__(self, name)  # a property that failed fails again, with its own message
        raise AttributeError(_unknown(type(self), name), name=name, obj=self)

    def __dir__(self) -> list[str]:
        _has(type(self), "")
        return list(super().__dir__())


def ring_function(ring: str, name: str, what: str) -> Callable[..., Any]:
    """Return a function that the core asks a ring for; raise UsageError, with what needs it, where the ring is missing."""
    if not _at_hand(ring):
        raise UsageError(f"{what} needs the part '{ring}' of Linkwright, which is not installed. Install linkwright as a whole.", name=ring)
    return getattr(import_module(f"linkwright.rings.{ring}.verbs"), name)


def _has(cls: type, name: str) -> bool:
    """True if a class has a verb of this name; rings are asked until one gives it, all of them for a name that none has."""
    owner = next((c for c in cls.__mro__ if RingVerbs in c.__bases__), None)
    if owner is None or name.startswith("__"):
        return False
    done = _GIVEN.setdefault(owner, set())
    for ring in RINGS:
        if ring not in done and _at_hand(ring):
            _give(owner, ring)
            done.add(ring)
        if name and name in vars(owner):
            return True
    return False


def _give(owner: type, ring: str) -> None:
    """Make the verbs of a ring members of a class of the core."""
    found = getattr(import_module(f"linkwright.rings.{ring}.verbs"), f"{owner.__name__}Verbs", None)
    for name, verb in vars(found).items() if found is not None else ():
        if not name.startswith("__") and name not in vars(owner):
            setattr(owner, name, call_explained(verb) if isinstance(verb, FunctionType) else verb)


@cache
def _at_hand(ring: str) -> bool:
    return find_spec("linkwright.rings") is not None and find_spec(f"linkwright.rings.{ring}") is not None


def _unknown(cls: type, name: str) -> str:
    """Why a class has no member of a name."""
    for kind in cls.__mro__:
        if new := RENAMED.get(f"{kind.__name__}.{name}"):
            return f"'{name}' of {cls.__name__} has a new name: write {new}."
    lacking = [] if name.startswith("__") else [ring for ring in RINGS if not _at_hand(ring)]
    why = f" Parts of Linkwright that are not installed may have it: {listing(lacking)}." if lacking else ""
    return f"'{cls.__name__}' has no attribute '{name}'.{why}"
