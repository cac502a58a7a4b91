"""Measures in the report: single numbers of the motion as `c.measure` reads them, in a table and beside those of variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwright.api import LinkwrightError, Trajectory, UsageError, measures
from linkwright.rings.studio.report_parts import part, table


def checked(given: Any) -> tuple[str, ...]:
    """Return the texts of measures, each once; raise UsageError for what is none."""
    named = [given] if isinstance(given, str) else list(given or ())
    most_measures = 12
    if not all(isinstance(x, str) for x in named) or len(named) > most_measures:
        example = "['stroke guide', 'dwell guide within 1 mm']"
        raise UsageError(f"measures of a report are up to {most_measures} texts, such as {example}, not {given!r:.60}.", value=given)
    for text in named:
        measures.measure(text)  # a text that is no measure is an error before the long work
    return tuple(dict.fromkeys(named))


def read(c: Trajectory, text: str, units: tuple[str, ...]) -> tuple[str, float]:
    """Return (unit, value) of a measure in these units; raise UsageError where the motion does not have it."""
    found = measures.measure(text)
    measures.check([found], c)
    symbol, size = measures.unit_of_measure(found, c, units)
    return symbol, found.read_from(c) / size


def section(c: Trajectory, texts: Sequence[str], units: tuple[str, ...]) -> str:
    """Return the table of measures of a motion; empty without any."""
    rows = [(text, value, symbol) for text in texts for symbol, value in [read(c, text, units)]]
    return part("Measures", table([("measure", ""), ("value", ""), ("unit", "")], rows)) if rows else ""


def compared(motions: Sequence[Trajectory | None], texts: Sequence[str], units: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return a row for every measure: text, unit, value of each motion; None where it has none."""
    rows = []
    for text in texts:
        found = [None if c is None else _tried(c, text, units) for c in motions]
        symbol = next((x[0] for x in found if x is not None), "")
        rows.append((text, symbol, *(None if x is None or x[0] != symbol else x[1] for x in found)))
    return rows


def _tried(c: Trajectory, text: str, units: tuple[str, ...]) -> tuple[str, float] | None:
    try:
        return read(c, text, units)
    except LinkwrightError:  # another mechanism, without such a channel
        return None
