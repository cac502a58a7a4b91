"""Parameters in laws of drives: laws of the model with their parameters as symbols, and the parameters that steer forces alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from linkwright.api import Description, Expr, UsageError, curve_lines, description, drive_base, elements, expressions, nearest
from linkwright.drives.effort import OPEN, BoundEffort
from linkwright.model.curves.formula import Formula

FORCES = (*elements.ACTING, "gravity", "parameters", "bounds")  # these hold no places
PARAMETER = "parameter"  # kind of an input
MASSES = ("mass", "com", "inertia", "visuals")


class SymbolValue(NamedTuple):
    """A constant of the model as a symbol."""

    symbol: Any
    traceable = True

    def value(self, t: Any) -> Any:
        return self.symbol


def followed(bound: Any, written: Description, described: Description) -> Any:
    """The same drive with the law as it is in `described`, whose parameters are symbols; `written` has them as numbers.

    A drive whose law is the caller's, not the model's, stays as it is.
    """
    if not isinstance(bound, BoundEffort):
        return bound
    own = next((d for d in written.drives if d.joint == bound.target.name and d.kind == "torque"), None)
    if own is None or not _is_law(bound.signal, own.value):
        return bound
    law = next(d for d in described.drives if d.joint == own.joint)
    signal: Any = (
        drive_base.ChannelLaw(law.value, f"the effort of '{own.joint}'") if isinstance(law.value, Expr) else SymbolValue(law.value)
    )
    gear_ratio = law.gear_ratio if bound.gear_ratio == own.gear_ratio else bound.gear_ratio
    ends = [open_ if x is None else x for x, open_ in zip(law.limits, OPEN, strict=True)]
    same = bound.limits == tuple(open_ if x is None else x for x, open_ in zip(own.limits, OPEN, strict=True))
    return replace(
        bound, reading=drive_base.Reading(signal, bound.every), gear_ratio=gear_ratio, limits=(ends[0], ends[1]) if same else bound.limits
    )


def _is_law(signal: Any, value: Any) -> bool:
    if isinstance(signal, drive_base.ChannelLaw):
        return isinstance(value, Expr) and signal.law is value
    if isinstance(signal, Formula):
        return isinstance(value, Expr) and signal.expression is value
    return isinstance(signal, curve_lines.Constant) and not isinstance(value, Expr) and signal.level == value


def steering(described: Description) -> frozenset[str]:
    """Named parameters that enter forces, efforts and masses alone: they may change during a run, nothing jumps."""
    found: set[str] = set()
    for name in description.compared(Description):
        if name not in (*FORCES, "bodies", "drives"):
            description.note_variables(getattr(described, name), found)
    for body in described.bodies:
        description.note_variables(tuple(getattr(body, name) for name in description.compared(type(body)) if name not in MASSES), found)
    return frozenset(dict(described.parameters)) - _with_sources(found, described) - inside(described)


def inside(described: Description) -> frozenset[str]:
    """Named parameters of motions, voltages and motors: an FMU has these laws with numbers, so such a parameter cannot be one of it."""
    found: set[str] = set()
    description.note_variables(tuple(d for d in described.drives if d.kind != "torque"), found)
    return _with_sources(found, described) & frozenset(dict(described.parameters))


def _with_sources(found: set[str], described: Description) -> frozenset[str]:
    """Names, and those of the parameters that they are computed from."""
    values, every = dict(described.parameters), set(found)
    todo = [name for name in found if name in values]
    while todo:
        more = expressions.free_variables(values[todo.pop()]) - every
        every |= more
        todo += [name for name in more if name in values]
    return frozenset(every)


def need_outside(names: Iterable[str], described: Description) -> None:
    """Raise UsageError if a parameter asked for is one of a motion, voltage or motor."""
    for name in names:
        if name in inside(described):
            raise UsageError(
                f"parameters: '{name}' is part of the motion, voltage or motor of a drive, which an FMU has with numbers. Leave it out, "
                "and make the drive an input: inputs={'A': 'speed'} (position, voltage).",
                name=name,
            )


def steered_kind(d: Description, name: str) -> str:
    """The kind of an input that is a parameter, which may move nothing."""
    if name not in (may := steering(d)):
        what = "places bodies or prescribes motions" if name in dict(d.parameters) else "is not a parameter of the model"
        raise UsageError(f"inputs: '{name}' {what}.", nearest(name, sorted(may), "Parameters of forces and efforts"))
    return PARAMETER
