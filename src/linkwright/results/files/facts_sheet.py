"""Facts about the model and the result of a table, one row each: the second sheet of an Excel file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from linkwright.results.tables import unit_of

Fact = tuple[str, Any, str]


def facts(c: Any) -> list[Fact]:
    """(name, value, unit) of the model's bodies, joints, drives and parameters and of the motion, in the file's units."""
    d = c.skel.tree.description
    time = unit_of(d.units, "time")
    span = (float(c.t[-1] - c.t[0]) / time[1], time[0]) if len(c) else (0.0, time[0])
    rows: list[Fact] = [("model", d.name, "")]
    rows += [("about", d.about, "")] if d.about else []
    rows += [
        ("written by", f"Linkwright {import_module('linkwright').__version__}", ""),
        ("kind", "static analysis" if c.static else "cycle" if c.proof is None else "simulation", ""),
        ("moving bodies", len(d.bodies) - 1, ""),
        ("joints", len(d.joints), ""),
        ("samples", len(c), ""),
        *([] if c.static else [("duration", *span)]),
    ]
    whole = "cannot be determined" if c.full_turn is None else bool(c.full_turn)
    rows += [("drive", c.drive, ""), ("full turn", whole, "")] if c.drive else []
    rows += [("gravity", sum(float(x) ** 2 for x in d.gravity) ** 0.5, "m/s^2")]
    rows += _masses(d) + _parameters(d)
    rows += [(f"setting {k}", x if isinstance(x, (int, float, str)) else str(x), "") for k, x in _plain(c.settings).items()]
    if c.certificate is not None:
        rows.append(("certificate", getattr(c.certificate, "status", ""), ""))
    return rows + [("event", f"t = {e.time:.9g} s: {e.name}", "") for e in c.events] + [("note", text, "") for text in c.notes]


def _masses(d: Any) -> list[Fact]:
    symbol, size = unit_of(d.units, "mass")
    return [(f"{b.name}.mass", float(b.mass) / size, symbol) for b in d.bodies[1:] if b.mass is not None]


def _parameters(d: Any) -> list[Fact]:
    """Named numbers of the file, in SI."""
    return [(f"parameter {name}", float(x), "SI") for name, x in d.parameters if isinstance(x, (int, float))]


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {k: x for k, x in settings.items() if isinstance(x, (int, float, str)) and k != "static"}
