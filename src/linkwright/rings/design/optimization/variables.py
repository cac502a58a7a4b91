"""Numbers that an optimization varies, each between two bounds.

    vary={"rod": "180..260 mm", "C": "+- 30 mm", "crank.mass": "+- 20 %", "L4": None}

A range, a tolerance about the present value or about another one, (low, high) in SI (`text.ranges_and_tolerances`), or None for
`min:` and `max:` of the file. A pin of the drawing (`C`) means its coordinates, a pattern (`*.length`) the numbers it matches. A list of
names takes all bounds from the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linkwright.api import (
    Description,
    Dimension,
    Place,
    UsageError,
    display_unit,
    every_parameter,
    meaning,
    nearest,
    ranges,
    written_values,
)
from linkwright.rings.design.studies.analyses import Case
from linkwright.rings.design.studies.variations import variation
from linkwright.rings.design.studies.varied_numbers import Target, expanded, target


@dataclass(frozen=True)
class DesignVariable:
    """A number between two bounds, in SI (or, of a parameter without a unit, as the file counts it)."""

    target: Target
    low: float
    high: float
    shown: tuple[str, float]  # unit for people, and its size

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def nominal(self) -> float:
        return self.target.nominal

    @property
    def span(self) -> float:
        return self.high - self.low

    def text(self, value: float) -> str:
        unit, size = self.shown
        return f"{value / size:.6g}{' ' if unit else ''}{unit}"


def variables(vary: Any, described: Description, case: Case) -> tuple[DesignVariable, ...]:
    """Read `vary`."""
    if isinstance(vary, str):
        vary = [vary]
    if isinstance(vary, Sequence):
        vary = dict.fromkeys(map(str, vary))
    if not isinstance(vary, Mapping) or not vary:
        raise UsageError(
            'vary names the numbers that may change: {"rod": "180..260 mm", "C": "+- 30 mm"}, or a list of names.', name="vary"
        )
    named = expanded(vary, described, parts=False)
    _need_numbers(named, described)
    _need_own_lengths(list(named), described)
    return tuple(_variable(name, given, described, case) for name, given in named.items())


def _need_own_lengths(names: Sequence[str], described: Description) -> None:
    """Raise UsageError where the length of a link varies together with a pin in the drawing that it follows from."""
    for body in described.bodies:
        for p in body.points:
            drawn = [n for n in names if n.rpartition(".")[0] == p.name and f"{body.name}.length" in names]
            if drawn:
                ground = described.bodies[0].name
                raise UsageError(
                    f"vary: {body.name}.length follows from pin {p.name}, and {drawn[0]} varies as well. Vary the pins alone, or lengths "
                    f"and the eyes on ground, {ground}.{drawn[0]}.",
                    name="vary",
                )


def _need_numbers(names: Iterable[str], described: Description) -> None:
    """Raise UsageError for names that are no parameters of the mechanism."""
    known = every_parameter(described)
    for name in names:
        if name not in known and name.startswith(("start.", "drive.", "control.")):
            raise UsageError(
                f"vary: '{name}' is not a parameter of the mechanism. Exact gradients are taken by those. "
                "Write a speed as a parameter of the file.",
                name=name,
            )
        if name not in known:
            raise UsageError(f"vary: there is no number '{name}'.", nearest(name, list(known), "Known"))


def _variable(name: str, given: Any, described: Description, case: Case) -> DesignVariable:
    t = target(name, described, case)
    sizes = partial(written_values.bare_size, described) if t.bare or t.dimension is not None else None
    file_low, file_high = next(((low, high) for n, low, high in described.bounds if n == name), (None, None))
    low, high = _bounds(name, given, t, sizes, (file_low, file_high))
    low, high = max(low, -np.inf if file_low is None else file_low), min(high, np.inf if file_high is None else file_high)
    if not low < high:
        raise UsageError(
            f"vary: the range of '{name}' is empty, {low:.6g} .. {high:.6g}. It must lie inside min: and max: of the file.", name=name
        )
    return DesignVariable(t, low, high, _shown(t, described))


def _shown(t: Target, described: Description) -> tuple[str, float]:
    dimension: Dimension | None = t.dimension
    if dimension is None:
        return "", 1.0
    unit, factor = display_unit(described.units, dimension)
    return unit, 1.0 / factor


def _bounds(name: str, given: Any, t: Target, sizes: Any, in_file: tuple[float | None, float | None]) -> tuple[float, float]:
    if given is None or given is True:
        if in_file[0] is None or in_file[1] is None:
            raise UsageError(f"vary: '{name}' has no bounds: the file has no min: and max: for it. {ranges.WAYS['a range']}", name=name)
        return in_file[0], in_file[1]
    if not hasattr(given, "ppf"):
        meant = meaning(given, name)
        if not isinstance(meant, ranges.Distribution):
            return Place(name, t.dimension, sizes, t.nominal).ends(meant)
    found = variation(name, given, t.dimension, sizes, nominal=t.nominal)
    if not np.isfinite([found.low, found.high]).all():
        raise UsageError(f"vary: {name} = {given!r:.40} is not a range. {ranges.WAYS['a range']}", name=given)
    return found.low, found.high
