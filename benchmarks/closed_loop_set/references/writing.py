"""Helpers for cases: numbers with many digits, bodies, and the layout of the files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import mpmath as mp

from benchmarks.closed_loop_set.cases import FORMAT

DIGITS = 20  # written of a value, where so many are known


def quantity(
    name: str, unit: str, value: Any, measure: Mapping[str, str] | None, *, scale: float | None = None, **more: Any
) -> dict[str, Any]:
    """Return a quantity with its nearest double, 20 digits as text, and the uncertainty of the digits.

    more: `other`, the value of the second computation, must agree; `uncertainty` replaces 1e-18 of the scale.
    """
    size = float(abs(value)) if scale is None else scale
    doubt = float(more.get("uncertainty", 1e-18 * size))
    other = more.get("other")
    if other is not None and not abs(other - value) <= doubt:
        raise ArithmeticError(
            f"{name}: {mp.nstr(value, 25)} and {mp.nstr(other, 25)} differ by {mp.nstr(other - value, 3)}, more than {doubt:g}"
        )
    out = {"name": name, "unit": unit, "value": float(value), "digits": mp.nstr(value, DIGITS, strip_zeros=False), "uncertainty": doubt}
    if scale is not None:
        out["scale"] = scale
    return out if measure is None else {**out, "measure": dict(measure)}


def case(name: str, title: str, source: Sequence[str], **parts: Any) -> dict[str, Any]:
    return {"format": FORMAT, "name": name, "title": title, "source": list(source), **parts}


def rod(
    name: str, a: Sequence[Any], b: Sequence[Any], mass: float, points: Mapping[str, Sequence[Any]], width: float = 0.0
) -> dict[str, Any]:
    """Return a uniform bar between two points, with a square section of that width (0: thin)."""
    u = [mp.mpf(y) - mp.mpf(x) for x, y in zip(a, b, strict=True)]
    L2 = sum(x * x for x in u)
    along, across = mp.mpf(mass) * width**2 / 6, mp.mpf(mass) * (L2 + mp.mpf(width) ** 2) / 12
    inertia = [[across * (i == j) + (along - across) * u[i] * u[j] / L2 for j in range(3)] for i in range(3)]
    center = [(mp.mpf(x) + mp.mpf(y)) / 2 for x, y in zip(a, b, strict=True)]
    return {
        "name": name,
        "mass": mass,
        "center": floats(center),
        "inertia": [floats(r) for r in inertia],
        "points": {k: floats(p) for k, p in points.items()},
    }


def hinge(name: str, a: str, b: str, at: Sequence[Any], axis: Sequence[Any] = (0, 0, 1)) -> dict[str, Any]:
    """Return a revolute joint between two bodies."""
    return {"name": name, "type": "revolute", "body_a": a, "body_b": b, "point": floats(at), "axis": floats(axis)}


def numbers(points: Sequence[Sequence[str]]) -> list[list[float]]:
    """Return decimal texts as doubles."""
    return [[float(v) for v in p] for p in points]


def task(name: str, kind: str, given: Mapping[str, Any], quantities: Sequence[Any], obtained: str, script: str) -> dict[str, Any]:
    return {"id": name, "kind": kind, "given": dict(given), "quantities": list(quantities), "obtained": obtained, "script": script}


def agree(name: str, value: Any, other: Any, relative: float) -> None:
    """Raise ArithmeticError unless two computations of a number are the same within a share of it (of 1 where it is smaller)."""
    other = mp.mpf(str(other)) if not isinstance(other, mp.mpf) else other
    if not abs(value - other) <= relative * max(1, abs(value)):
        raise ArithmeticError(f"{name}: {mp.nstr(value, 22)} and {mp.nstr(other, 22)} differ by {mp.nstr(value - other, 3)}")


def turned_z(direction: Any) -> list[list[Any]]:
    """Return the rotation about z that takes 1 to a complex number of length 1."""
    c, s, zero = mp.re(direction), mp.im(direction), mp.mpf(0)
    return [[c, -s, zero], [s, c, zero], [zero, zero, mp.mpf(1)]]


def floats(x: Sequence[Any]) -> list[float]:
    return [float(v) + 0.0 for v in x]


def text(made: Mapping[str, Any]) -> str:
    """Return a case as JSON: one line for what has no objects in it and fits."""
    return _shown(made, 0) + "\n"


def _shown(x: Any, depth: int) -> str:
    flat = json.dumps(x, ensure_ascii=False)
    simple = not isinstance(x, (dict, list)) or not re.search(r"[\[{].*[\[{].*[\[{]", flat)
    if (simple or depth > 1) and len(flat) + depth <= 136:
        return flat
    if not isinstance(x, (dict, list)) or not x:
        return flat
    pad = " " * (depth + 1)
    if isinstance(x, dict):
        inside = [f"{pad}{json.dumps(k, ensure_ascii=False)}: {_shown(v, depth + 1)}" for k, v in x.items()]
        return "{\n" + ",\n".join(inside) + "\n" + " " * depth + "}"
    return "[\n" + ",\n".join(pad + _shown(v, depth + 1) for v in x) + "\n" + " " * depth + "]"
