"""Page of two designs: before and after a change, such as an optimization; both drawn over each other, with sliders between them.

    compare_page.write(m, best, "better.html", names=["C.x", "crank.mass"], table=[("max A.torque", "3.9 N m", "2.1 N m", "least")])

It is the page of the first mechanism that computes by itself (`studio.live`), whose sliders are the parameters that differ: they begin at
the second design, go back to the first and beyond both within their bounds. The first design stays gray in the drawing and in the curves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkwright.api import (
    SAME_NUMBER,
    Description,
    LinkwrightError,
    Mechanism,
    System,
    UsageError,
    compiled_of,
    every_parameter,
    listing,
    modelfile,
    parameters,
)
from linkwright.model.file.value_fitting import flat, missed
from linkwright.rings.studio import live
from linkwright.rings.studio.live import sliders

HEADER = ("", "Before", "After", "")


@dataclass(frozen=True)
class ComparedDesigns:
    """Values (SI) of the design after, by name; the one before is the model. `rows` are texts for a table below `header`."""

    values: Mapping[str, float]
    bounds: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    channel: str = ""
    rows: Sequence[Sequence[Any]] = ()
    header: Sequence[str] = HEADER
    labels: tuple[str, str] = ("Before", "After")
    model: str = ""  # text of the model file after

    def sliders(self, system: System) -> list[dict[str, Any]]:
        """Sliders of the parameters that differ."""
        return sliders.between(system, self.values, self.bounds, self.labels[0].lower())

    def as_json(self) -> dict[str, Any]:
        """Return the plain data for the page."""
        before, after = self.labels
        rows = [[str(x) for x in row] for row in self.rows]
        width = max((len(row) for row in rows), default=0)
        header = [*map(str, self.header), *[""] * width][: max(width, 1)]
        return {
            "before": before, "after": after, "values": {k: float(x) for k, x in self.values.items()}, "channel": self.channel,
            "model": self.model, "header": header, "rows": [[*row, *[""] * (width - len(row))] for row in rows],
        }  # fmt: skip


def write(
    before: Any,
    after: Any,
    path: str | os.PathLike[str],
    *,
    names: Sequence[str],
    title: str = "",
    table: Sequence[Sequence[Any]] = (),
    header: Sequence[str] = HEADER,
    channel: str = "",
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    labels: tuple[str, str] = ("Before", "After"),
    steps: int | None = None,
) -> Path:
    """Write the page of two designs of one mechanism.

    `before` and `after` are Mechanisms that differ in the numbers `names` (of `model.parameters`) alone. `table` are rows of texts below
    `header`: goals and conditions with their values, what binds. `channel` is the curve shown first ("A.torque", "coupler.P.y"); `bounds`
    limit the sliders, by default those of the file. `steps` are those of the cycle, 360 if not given.
    """
    first, second = _description(before, "before"), _description(after, "after")
    chosen = list(dict.fromkeys([names] if isinstance(names, str) else names))
    values = values_between(first, second, chosen)
    limits = {name: (low, high) for name, low, high in first.bounds} | dict(bounds or {})
    try:
        model = modelfile.edited(second)
    except LinkwrightError:  # a number without a place in the file: the page offers what it can itself
        model = ""
    found = ComparedDesigns(values, limits, channel, table, header, labels, model)
    return live.write(before, path, designs=found, title=title, steps=steps)


def _description(subject: Any, what: str) -> Description:
    if not isinstance(subject, Mechanism):
        raise UsageError(f"{what} is a Mechanism (lw.load(...)), not {type(subject).__name__}.", name=what, value=subject)
    return compiled_of(subject.system).described


def values_between(before: Description, after: Description, names: Sequence[str]) -> dict[str, float]:
    """Values of these numbers with which the first model is the second; raise UsageError where it is not.

    A number that follows from others (the center of a link whose pins moved) counts from its value with those, as in `with_values`.
    """
    known, there = every_parameter(before), every_parameter(after)
    unknown = [n for n in names if n not in known or n not in there]
    if not names or unknown:
        raise UsageError(
            f"names are the parameters that differ, of both models. {listing(unknown) or 'none'} is no such parameter.", name="names"
        )
    values = {n: there[n].value for n in names if known[n].placed is None and not n.endswith(modelfile.LINK)}
    for group in ([n for n in names if n.endswith(modelfile.LINK) and known[n].drawn], [n for n in names if known[n].placed is not None]):
        moved = modelfile.redesigned(before, [known[n] for n in values], list(values.values())) if values else before
        here = {**{n: p.value for n, p in parameters.single_parameters(moved).items()}, **moved.drawn_numbers}
        values |= {n: known[n].value + (there[n].value - here[n]) for n in group}
    ordered = {n: values[n] for n in names}
    made = flat(parameters.with_values(before, [known[n] for n in ordered], list(ordered.values())))
    off = [k for k in missed(_acting(made), _acting(flat(after.numbers())), SAME_NUMBER)]
    most_named = 6
    if off:
        some = ", ".join(".".join(map(str, label[1:])) for label in off[:most_named])
        raise UsageError(f"the designs differ in more than {listing(list(names))}: {some}. Name all numbers that changed.", name="names")
    return ordered


def _acting(numbers: Mapping[Any, Any]) -> dict[Any, Any]:
    """Parameters of the mechanism itself: not those of parameters, nor where it starts."""
    return {k: x for k, x in numbers.items() if k[0] not in ("parameters", "start")}
