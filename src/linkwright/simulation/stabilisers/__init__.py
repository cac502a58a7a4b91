"""How a run keeps its loops closed: four stabilisers behind one contract, and their combination.

    none          nothing is done: for comparison
    baumgarte     2 delta omega0 (J v + b) + omega0^2 phi in the equations             [Hoang2023 (24), (25)]
    post_adjust   dependent coordinates are adjusted after a step                      [Hoang2023 (26)-(34)]
    project       states are projected onto the loops after a step: the default in the mass metric, or in the
                  Euclidean one, positions only, every few steps                       [Aghili2005 (36), (37)]

`create` takes a name, an object with options or a combination: "project", Baumgarte(1, 50), ["baumgarte", "post_adjust"],
"baumgarte+post_adjust", "project(metric=euclidean, every=10)", Baumgarte() + PostAdjust(). Any works with any formulation.
docs/stabilisation.md compares them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from linkwright.errors import UsageError, call_explained, nearest
from linkwright.simulation.stabilisers.base import Combined, Correction, Stabiliser, combined
from linkwright.simulation.stabilisers.baumgarte import Baumgarte
from linkwright.simulation.stabilisers.none import Nothing
from linkwright.simulation.stabilisers.post_adjust import PostAdjust
from linkwright.simulation.stabilisers.project import Project

STABILISERS: dict[str, Any] = {"none": Nothing, "baumgarte": Baumgarte, "post_adjust": PostAdjust, "project": Project}


CONSTANTS = {"true": True, "false": False, "yes": True, "no": False, "none": None}  # of options in text, as in YAML


def create(stabiliser: str | Stabiliser | Sequence[Any]) -> Stabiliser:
    """Return a stabiliser by name, the object itself, or several as one."""
    if isinstance(stabiliser, str):
        return combined(_parts(stabiliser))
    if isinstance(stabiliser, Sequence):
        return combined([create(x) for x in stabiliser])
    if isinstance(stabiliser, type) or not hasattr(stabiliser, "correction"):
        raise UsageError(
            f"a stabiliser is a name ({', '.join(STABILISERS)}), an object such as Baumgarte(1, 50) or a list; not {stabiliser!r}."
        )
    return stabiliser


def _parts(text: str) -> list[Stabiliser]:
    """Stabilisers of a text: names, with options in parentheses as in Python, joined by +."""
    try:
        part: Any = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):  # a word that is no name, too
        raise UsageError(_wrong(text)) from None
    found: list[Stabiliser] = []
    while isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
        found.append(_stabiliser(part.right, text))
        part = part.left
    return [_stabiliser(part, text), *reversed(found)]


def _stabiliser(part: Any, text: str) -> Stabiliser:
    called, values, options = (part.func, part.args, part.keywords) if isinstance(part, ast.Call) else (part, [], [])
    if not isinstance(called, ast.Name) or any(x.arg is None for x in options):
        raise UsageError(_wrong(text))
    if called.id not in STABILISERS:
        raise UsageError(f"there is no stabiliser '{called.id}'. {nearest(called.id, STABILISERS, 'Stabilisers')}")
    given = {str(x.arg): _value(x.value, text) for x in options}
    return call_explained(STABILISERS[called.id], called.id)(*(_value(x, text) for x in values), **given)


def _value(part: Any, text: str) -> Any:
    """A number, a list of them, or a word."""
    if isinstance(part, ast.Name):
        return CONSTANTS.get(part.id, part.id)
    if isinstance(part, ast.List | ast.Tuple):
        return [_value(x, text) for x in part.elts]
    try:
        return ast.literal_eval(part)
    except (ValueError, TypeError, SyntaxError):
        raise UsageError(_wrong(text)) from None


def _wrong(text: str) -> str:
    return (
        f"the stabiliser '{text}' cannot be read. {nearest(text.strip(), STABILISERS, 'Stabilisers')} Options are in parentheses, two "
        "stabilisers are joined by +: 'baumgarte(delta=1, omega0=50) + project(every=10)'."
    )


__all__ = ["STABILISERS", "Baumgarte", "Combined", "Correction", "Nothing", "PostAdjust", "Project", "Stabiliser", "create"]
