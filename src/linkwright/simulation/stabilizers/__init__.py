"""How a run keeps its loops closed: four stabilizers behind one contract, and their combination.

    none          nothing is done: for comparison
    baumgarte     2 delta omega0 (J v + b) + omega0^2 phi in the equations             [Hoang2023 (24), (25)]
    post_adjust   dependent coordinates are adjusted after a step                      [Hoang2023 (26)-(34)]
    project       states are projected onto the loops after a step: the default in the mass metric, or in the
                  Euclidean one, positions only, every few steps                       [Aghili2005 (36), (37)]

`create` takes a name, an object with options or a combination: "project", Baumgarte(1, 50), ["baumgarte", "post_adjust"],
"baumgarte+post_adjust", "project(metric=euclidean, every=10)", Baumgarte() + PostAdjust(). Any works with any formulation.
docs/explanation/stabilization.md compares them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from linkwright.errors import UsageError, call_explained, nearest
from linkwright.simulation.stabilizers.base import Combined, Correction, Stabilizer, combined
from linkwright.simulation.stabilizers.baumgarte import Baumgarte, baumgarte
from linkwright.simulation.stabilizers.none import Nothing
from linkwright.simulation.stabilizers.post_adjust import PostAdjust, post_adjust
from linkwright.simulation.stabilizers.project import Project, project

STABILIZERS: dict[str, Any] = {"none": Nothing, "baumgarte": Baumgarte, "post_adjust": PostAdjust, "project": Project}


CONSTANTS = {"true": True, "false": False, "yes": True, "no": False, "none": None}  # of options in text, as in YAML


def create(stabilizer: str | Stabilizer | Sequence[Any]) -> Stabilizer:
    """Return a stabilizer by name, the object itself, or several as one."""
    if isinstance(stabilizer, str):
        return combined(_parts(stabilizer))
    if isinstance(stabilizer, Sequence):
        return combined([create(x) for x in stabilizer])
    if isinstance(stabilizer, type) or not hasattr(stabilizer, "correction"):
        raise UsageError(
            f"a stabilizer is a name ({', '.join(STABILIZERS)}), an object such as Baumgarte(1, 50) or a list, not {stabilizer!r}.",
            value=stabilizer,
            name="stabilizer",
        )
    return stabilizer


def _parts(text: str) -> list[Stabilizer]:
    """Stabilizers of a text: names, with options in parentheses as in Python, joined by +."""
    try:
        part: Any = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):  # a word that is no name, too
        raise _wrong(text) from None
    found: list[Stabilizer] = []
    while isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
        found.append(_stabilizer(part.right, text))
        part = part.left
    return [_stabilizer(part, text), *reversed(found)]


def _stabilizer(part: Any, text: str) -> Stabilizer:
    called, values, options = (part.func, part.args, part.keywords) if isinstance(part, ast.Call) else (part, [], [])
    if not isinstance(called, ast.Name) or any(x.arg is None for x in options):
        raise _wrong(text)
    if called.id not in STABILIZERS:
        raise UsageError(f"there is no stabilizer '{called.id}'.", nearest(called.id, STABILIZERS, "Stabilizers"))
    given = {str(x.arg): _value(x.value, text) for x in options}
    return call_explained(STABILIZERS[called.id], called.id)(*(_value(x, text) for x in values), **given)


def _value(part: Any, text: str) -> Any:
    """A number, a list of them, or a word."""
    if isinstance(part, ast.Name):
        return CONSTANTS.get(part.id, part.id)
    if isinstance(part, ast.List | ast.Tuple):
        return [_value(x, text) for x in part.elts]
    try:
        return ast.literal_eval(part)
    except (ValueError, TypeError, SyntaxError):
        raise _wrong(text) from None


def _wrong(text: str) -> UsageError:
    return UsageError(
        f"the stabilizer '{text}' cannot be read.",
        nearest(text.strip(), STABILIZERS, "Stabilizers"),
        "Options are in parentheses, two stabilizers are joined by +: 'baumgarte(delta=1, omega0=50) + project(every=10)'.",
    )


__all__ = [
    "STABILIZERS",
    "Baumgarte",
    "Combined",
    "Correction",
    "Nothing",
    "PostAdjust",
    "Project",
    "Stabilizer",
    "baumgarte",
    "create",
    "post_adjust",
    "project",
]


def __dir__() -> list[str]:
    return sorted(__all__)
