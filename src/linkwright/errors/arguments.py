"""Kinds of arguments, as annotations of public calls give them: does a value fit, and the names of what is expected.

    unfit(cam, "cam", {"name": ["lift"]})   "cam: name is a text or None, not a list with 'lift'."

Only asked where a call has failed: `Any`, protocols and names that are not known here fit everything. A text is no sequence and a bool
no number.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Integral, Real
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Any

from linkwright.errors import Suggestion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Numbers = ArrayLike
else:
    Numbers = Any  # `Numbers` of an annotation: anything that is an array of numbers

Named = Mapping[str, Any] | None  # values by name
Names = str | Sequence[str]

OWN = {"State", "Trajectory", "Mechanism", "Description", "System", "Instant"}
SAID = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "True or False", "None": "None", "Callable": "a function",
    "PathLike": "a path", "Path": "a path", "Mapping": "a dict", "dict": "a dict", "Sequence": "a list", "Iterable": "a list",
    "list": "a list",
    "tuple": "a tuple", "ndarray": "an array of numbers", "Numbers": "an array of numbers",
}  # fmt: skip
MANY = {"str": "texts", "int": "whole numbers", "float": "numbers", "State": "states", "Trajectory": "runs", "tuple": "tuples"}
SPELLED = {type(None): "None", dict: "a dict", list: "a list", tuple: "a tuple"}


def unfit(function: Callable[..., Any], name: str, given: Mapping[str, Any]) -> str:
    """Return which of the given arguments is not of its annotated kind, and what is expected; "" if all fit."""
    names = getattr(function, "__globals__", {})
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in given or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        kinds = _kinds(parameter.annotation, names)
        value = given[parameter.name]
        if kinds and not any(_fits(kind, value) for kind in kinds):
            said = list(dict.fromkeys(_said(kind) for kind in kinds))
            allowed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} or {said[-1]}"
            return Suggestion(f"{name}: {parameter.name} is {allowed}, not {spelled(value)}.", parameter.name, said)
    return ""


def spelled(value: Any) -> str:
    """Return what a value is, short: `a list`, `'zzz'`, `5`, `an object of class Motor`."""
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, Real) or _is_bool(value):
        return str(value)
    if type(value) in SPELLED:
        entries = [*value][:1] if isinstance(value, (dict, list, tuple)) else []
        return SPELLED[type(value)] + (f" with {entries[0]!r}" if entries else "")
    return "a function" if inspect.isroutine(value) else f"an object of class {type(value).__name__}"


def _kinds(annotation: Any, names: Mapping[str, Any]) -> list[ast.expr]:
    """Alternatives of an annotation, aliases resolved; [] where anything fits."""
    if annotation is inspect.Parameter.empty:
        return []
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    out: list[ast.expr] = []
    waiting = [ast.parse(text, mode="eval").body]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.BinOp):
            waiting = [node.left, node.right, *waiting]
        elif isinstance(node, ast.Name) and isinstance(names.get(node.id), (UnionType, GenericAlias)):
            waiting = [ast.parse(str(names[node.id]).replace("~", ""), mode="eval").body, *waiting]
        else:
            out.append(node)
    return [] if any(_head(node) not in SAID and _head(node) not in OWN for node in out) else out


def _head(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return _head(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else str(getattr(node, "value", ""))


def _inner(node: ast.expr) -> list[ast.expr]:
    """Kinds of the entries of a list, dict or tuple."""
    if not isinstance(node, ast.Subscript):
        return []
    return [*node.slice.elts] if isinstance(node.slice, ast.Tuple) else [node.slice]


def _any(node: ast.expr, value: Any) -> bool:
    """True if a value fits one of the alternatives of an inner annotation."""
    if isinstance(node, ast.BinOp):
        return _any(node.left, value) or _any(node.right, value)
    return _fits(node, value)


def _fits(node: ast.expr, value: Any) -> bool:
    head, inner = _head(node), _inner(node)
    if head in OWN:
        return head in {c.__name__ for c in type(value).__mro__}
    if head in ("Mapping", "dict"):
        return isinstance(value, Mapping) and (not inner or all(_any(inner[0], k) and _any(inner[1], x) for k, x in _some(value.items())))
    if head in ("Sequence", "list", "Iterable"):
        return _is_listing(head, value) and (not inner or not isinstance(value, Sequence) or all(_any(inner[0], x) for x in _some(value)))
    if head == "tuple":
        return isinstance(value, tuple) and (any(_head(x) == "Ellipsis" for x in inner) or not inner or len(inner) == len(value))
    return head not in SINGLE or SINGLE[head](value)


def _some(entries: Iterable[Any]) -> list[Any]:
    looked_at = 50  # entries of a list or dict whose kinds are compared
    return list(islice(entries, looked_at))


def _is_listing(head: str, value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        return False
    if head == "Iterable":
        return isinstance(value, Iterable)
    return isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0


def _is_bool(value: Any) -> bool:
    return type(value).__name__ == "bool"  # Python's or numpy's


def _is_numbers(value: Any) -> bool:
    import numpy as np

    if isinstance(value, (str, bytes, Mapping)) or value is None:
        return False
    try:
        return np.asarray(value, dtype=float) is not None
    except (TypeError, ValueError):
        return False


SINGLE: dict[str, Callable[[Any], bool]] = {
    "str": lambda x: isinstance(x, str), "bool": _is_bool, "None": lambda x: x is None,
    "int": lambda x: isinstance(x, Integral) and not isinstance(x, bool), "Callable": callable,
    "float": lambda x: isinstance(x, Real) and not isinstance(x, bool), "ndarray": _is_numbers, "Numbers": _is_numbers,
    "PathLike": lambda x: hasattr(x, "__fspath__"), "Path": lambda x: hasattr(x, "__fspath__"),
}  # fmt: skip


def _said(node: ast.expr) -> str:
    head, inner = _head(node), _inner(node)
    if head in OWN:
        return f"{'an' if head[0] in 'AEIO' else 'a'} {head}"
    if head in ("Mapping", "dict"):
        return "a dict by name" if inner and _head(inner[0]) == "str" else "a dict"
    of = MANY.get(_head(inner[0]), "") if inner and head != "tuple" else ""
    return SAID[head] + (f" of {of}" if of else "")
