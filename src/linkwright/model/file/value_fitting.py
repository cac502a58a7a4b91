"""Numbers of a text for which a model has given numbers: the values that its literals must have.

A model is read with some literals of its text as variables; everything that follows from them is an expression. Newton's method finds
the values for which all these expressions have the wanted values, with exact derivatives (a complex step) and the least change. Numbers
that do not come out are reported by their labels: (section, name, field, ...).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright import elements
from linkwright.model.description import Description
from linkwright.model.file.reading_context import Literal
from linkwright.numerics.tolerances import COMPLEX_STEP
from linkwright.text.expressions import Evaluation, Expr, evaluate, evaluate_parameters, free_variables

Label = tuple[Any, ...]
SECTIONS = (
    "gravity", "parameters", "bodies", "joints", *elements.HELD, "drives", "start",
)  # fmt: skip
APART = ("name", "start", "outline", "where", "type", "between", "pin", "first", "second", "joint", "body", "point", "axes", "kind")
STUCK = 2  # steps without progress after which it ends
FITS = 1e-11  # of the largest number of a kind: what is further off does not come out


class Fitted(NamedTuple):
    """Values of literals by their first character, and labels of the numbers that do not come out with them."""

    values: dict[int, float]
    missed: list[Label]


def flat(d: Description) -> dict[Label, Any]:
    """All numbers of a description by label; in a plane those that matter there."""
    every = (pair for section in SECTIONS for pair in _parts((section,), getattr(d, section), d.planar))
    return {label: x for label, x in every if not (label[0] == "parameters" and str(label[1]).startswith("#"))}


def _parts(label: Label, value: Any, planar: bool) -> Iterator[tuple[Label, Any]]:
    if isinstance(value, (int, float, Expr)) and not isinstance(value, bool):
        yield label, value
    elif isinstance(value, tuple):
        if planar and label[-1] == "inertia":
            yield label, value[2][2]
            return
        for i, x in enumerate(value):
            pair = isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str)
            name = getattr(x, "name", None) or getattr(x, "joint", None)
            at = (x[0], x[1]) if pair else (name if isinstance(name, str) and name else i, x)
            if not (planar and i == 2 and label[-1] in ("at", "com", "gravity", "force")):
                yield from _parts((*label, at[0]), at[1], planar)
    elif is_dataclass(value):
        for field, x in vars(value).items():
            if field not in APART and not field.startswith("_"):
                yield from _parts((*label, field), x, planar)


def sizes(numbers: Mapping[Label, Any]) -> dict[Label, float]:
    """The largest number of the same kind, for every label: what is small beside it is round-off."""
    largest: dict[Any, float] = {}
    for label, x in numbers.items():
        if isinstance(x, (int, float)):
            largest[_kind(label)] = max(largest.get(_kind(label), 0.0), abs(x))
    return {label: largest.get(_kind(label), 0.0) or 1.0 for label in numbers}


def _kind(label: Label) -> Any:
    """Coordinates and lengths are of one kind; other fields each of their own, parameters and starts by themselves."""
    field = next((x for x in reversed(label[1:]) if isinstance(x, str)), label[0])
    if label[0] in ("parameters", "start"):
        return label
    return "length" if field in ("at", "com", "length") else (label[0], field)


def missed(numbers: Mapping[Label, Any], wanted: Mapping[Label, Any], within: float = FITS) -> list[Label]:
    """Labels whose numbers are not the wanted ones, also those that only one of both has."""
    scale = sizes(wanted)
    out = [label for label in (*numbers, *(x for x in wanted if x not in numbers)) if label not in wanted or label not in numbers]
    return out + [k for k, x in numbers.items() if k in wanted and not _equal(x, wanted[k], within * scale[k])]


def _equal(x: Any, y: Any, within: float) -> bool:
    if isinstance(x, Expr) or isinstance(y, Expr):  # formulas of channels: the same at some place
        names = sorted(free_variables(x) | free_variables(y))
        env = {name: 0.7 + 0.31 * i for i, name in enumerate(names)}
        x, y = evaluate(x, env), evaluate(y, env)
        within = max(within, FITS * abs(y))
    return abs(x - y) <= within


def fitted(read: Description, literals: Mapping[int, Literal], wanted: Mapping[Label, Any]) -> Fitted:
    """Values of the literals with which a description, read with these as variables, has the wanted numbers."""
    names = {x.name for x in literals.values()}
    every = {k: x for k, x in flat(read).items() if k in wanted}
    open_ = {k: x for k, x in every.items() if isinstance(x, Expr) and free_variables(x) & names and not isinstance(wanted[k], Expr)}
    rest = missed({k: x for k, x in flat(read.numbers()).items() if k not in open_}, {k: x for k, x in wanted.items() if k not in open_})
    scale = sizes(wanted)
    labels = list(open_)
    weights = np.array([1.0 / scale[k] for k in labels])
    aim = np.array([float(wanted[k]) for k in labels])
    known = evaluate_parameters(dict(read.parameters), {})
    order = list(literals)
    u = np.array([literals[k].value for k in order])
    start = u.copy()

    def at(x: Sequence[Any]) -> np.ndarray:
        values = Evaluation({**known, **{literals[k].name: y for k, y in zip(order, x, strict=True)}})
        return np.array([values(open_[k]) for k in labels])

    best, least, stuck = u, np.inf, 0
    most = 30  # Newton steps; most systems are linear, one or two suffice
    for _ in range(most if labels else 0):
        gap = weights * (at([float(x) for x in u]) - aim)
        error = float(np.abs(gap).max())
        stuck = 0 if error < 0.5 * least else stuck + 1
        best, least = (u, error) if error < least else (best, least)
        if error == 0.0 or stuck > STUCK:
            break
        columns = []
        for j in range(len(u)):
            moved = [complex(x, COMPLEX_STEP if i == j else 0.0) for i, x in enumerate(u)]
            columns.append(weights * np.imag(at(moved)) / COMPLEX_STEP)
        J = np.array(columns).T
        size = np.abs(J).max(axis=0, initial=0.0)
        size[size == 0.0] = 1.0
        u = u - np.linalg.lstsq(J / size, gap, rcond=None)[0] / size
    u = best
    left = weights * (at([float(x) for x in u]) - aim) if labels else np.zeros(0)
    off = [k for k, x in zip(labels, left, strict=True) if not abs(x) <= FITS]
    same = 1e-14  # relative: a literal that changes by less stays as it is
    changed = {k: float(x) for k, x, old in zip(order, u, start, strict=True) if abs(x - old) > same * max(abs(x), abs(old))}
    return Fitted(changed, [*rest, *off])
