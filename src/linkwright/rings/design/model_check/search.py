"""The smallest change of one parameter after which a stage passes.

Every candidate is changed both ways by steps that double, all of them by one step before any by the next. What passes is refined by
bisection, rounded to the side that passes, applied, and checked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np

from linkwright.api import (
    ANGLE,
    LENGTH,
    SAME_NUMBER,
    Description,
    LinkwrightError,
    Mechanism,
    Parameter,
    check_results,
    coordinates,
    display_unit,
    elements,
    every_parameter,
    unit_kinds,
)
from linkwright.rings.design.model_check.request import STAGES, CheckRequest, Deadline
from linkwright.rings.design.model_check.stages import outliers, passes

SEARCHED = ("assembles", "moves", "limits", "requirements")  # stages that a number can make pass
STEPS = tuple(0.01 * 2.0**k for k in range(7))  # of the size of a parameter: 1 % to 64 %
SLIPS = (1e-3, 1e3, 1.0 / 25.4, 25.4, 1e-1, 1e1)  # a unit that was meant over one that was written: mm, m, in, cm
FINE = 12  # bisections of a step
DIGITS = 4
COARSE = 90  # steps of the cycles of the search; what is found is checked with the full number
SHOWN = 3


@dataclass(frozen=True)
class Candidate:
    """A number that may change, and how it is written: a number, or a text in `symbol`, which is `factor` times SI."""

    name: str
    value: float
    size: float  # of which a step is a share
    symbol: str = ""
    factor: float = 1.0
    length: bool = False  # of a link, which is lengthened; pins are moved
    place: bool = False

    def written(self, value: float) -> Any:
        """A value as `m.with_` takes it: "912.4 mm", or a number."""
        return f"{value * self.factor:.10g} {self.symbol}" if self.symbol else float(f"{value:.10g}")


@dataclass(frozen=True)
class Found:
    """A number of the model, and its nearest value at which the stage passes."""

    name: str
    change: float  # relative to the size of the parameter
    value: Any  # for `m.with_`
    text: str


def remedies(m: Mechanism, asked: CheckRequest, failed: check_results.Check, deadline: Deadline) -> list[check_results.Remedy]:
    """Return changes of one parameter, the smallest first; each was applied and the stage passed."""
    coarse = CheckRequest(asked.require, asked.drive, asked.start, asked.stop, asked.run, asked.remedy_time, COARSE)
    chosen = candidates(m)
    found = _slips(m, chosen, coarse, failed.stage, deadline) or _nearest(m, chosen, coarse, failed.stage, deadline)
    out = []
    for x in sorted(found, key=lambda x: abs(x.change))[:SHOWN]:
        if passes(m.with_(**{x.name: x.value}), asked, max(failed.stage, "limits", key=STAGES.index)):
            out.append(check_results.Remedy(x.text, {x.name: x.value}, verified=True))
    return out


def candidates(m: Mechanism) -> list[Candidate]:
    """Named parameters of the file; without any, lengths and pins of the drawing, else dimensions of bodies. Ends of stops come last."""
    known = every_parameter(m.description)
    named = {name for name, _ in m.description.parameters}
    drawn = [p for p in known.values() if p.placed is None and p.name not in named]
    free = [p for name, p in known.items() if name in named] or drawn or [p for p in known.values() if p.geometry and p.by_default]
    stops = {f"{x.name}.{end}" for x in elements.stopping(m.description) for end in ("lower", "upper")}
    found = [_candidate(m, p, p.name in named) for p in (*free, *(p for name, p in known.items() if name in stops))]
    return [x for x in found if x is not None]


def _candidate(m: Mechanism, p: Parameter, named: bool) -> Candidate | None:
    """A number with its unit in the file; None for a named one that can be written in no way known here."""
    units = m.description.units
    size = abs(p.size) or 1.0
    if not named and p.kind == "length":
        link = p.name.endswith(".length")
        return Candidate(p.name, p.value, size, *display_unit(units, LENGTH), length=link, place=not link)
    stop = next((x for x in elements.stopping(m.description) if p.name in (f"{x.name}.lower", f"{x.name}.upper")), None)
    if stop is not None:
        return Candidate(p.name, p.value, size, *display_unit(units, LENGTH if coordinates.slides(m.description, stop.joint) else ANGLE))
    if not named:
        return Candidate(p.name, p.value, size)
    numbers = m.description.numbers()
    for dimension in (LENGTH, ANGLE, unit_kinds.MASS, None):  # a number without a unit means what it means in the file
        symbol, factor = ("", 1.0) if dimension is None else display_unit(units, dimension)
        x = Candidate(p.name, p.value, size, symbol, factor, length=dimension == LENGTH)
        try:
            again = m.with_(**{p.name: x.written(p.value)}).description.numbers()
        except LinkwrightError:
            continue
        if _same(again, numbers):
            return x
    return None


def _same(a: Description, b: Description) -> bool:
    """True for two models with the same places and masses, to the digits that are written."""
    mine, other = (np.array(_plain(x), dtype=float) for x in (a, b))
    return mine.shape == other.shape and bool(np.allclose(mine, other, rtol=SAME_NUMBER, atol=SAME_NUMBER))


def _plain(d: Description) -> list[float]:
    places = [x for b in d.bodies for p in b.points for x in p.at]
    return [float(x) for x in (*places, *(b.mass or 0.0 for b in d.bodies), *(x for _, x in d.start if not isinstance(x, tuple)))]


def slips(m: Mechanism, asked: CheckRequest, deadline: Deadline) -> list[check_results.Remedy]:
    """Return the values of lengths that stand out, in the unit that fits the others, if every stage passes then as before."""
    found = _slips(m, candidates(m), asked, STAGES[-1], deadline)
    kept = [x for x in found if not outliers(m.with_(**{x.name: x.value}).description)]
    return [check_results.Remedy(x.text, {x.name: x.value}, verified=True) for x in kept]


def _slips(m: Mechanism, chosen: list[Candidate], asked: CheckRequest, stage: str, deadline: Deadline) -> list[Found]:
    """A number that is in another unit than the others: it is far larger or smaller than they are."""
    sizes = sorted(abs(p.value) for p in chosen if p.value)
    if len(sizes) < 3:
        return []
    middle, out = sizes[len(sizes) // 2], []
    for p in chosen:
        ratio = abs(p.value) / middle
        for factor in SLIPS if ratio and not 0.08 < ratio < 12.0 else ():
            if deadline.over() or not 0.05 < ratio * factor < 20.0:
                continue
            value = float(f"{p.value * factor:.9g}")
            if _passes(m, p, value, asked, stage):
                as_text, times = p.written(value), 1.0 / factor if factor < 1.0 else factor
                what = f"{times:.4g} times too {'large' if factor < 1.0 else 'small'} for the others"
                out.append(Found(p.name, factor, as_text, f"write {as_text} for {p.name}: it is {what}"))
                break
    return out[:SHOWN]


def _nearest(m: Mechanism, chosen: list[Candidate], asked: CheckRequest, stage: str, deadline: Deadline) -> list[Found]:
    before = 0.0
    for step in STEPS:
        hits = []
        for p, sign in ((p, sign) for p in chosen for sign in (1.0, -1.0)):
            if deadline.over():
                break
            if _passes(m, p, p.value + sign * step * p.size, asked, stage):
                hits.append((p, sign))
        refined = [x for p, sign in hits for x in _refined(m, p, sign, before, step, asked, stage, deadline)]
        if refined or deadline.over():
            return refined
        before = step
    return []


def _refined(
    m: Mechanism, p: Candidate, sign: float, low: float, high: float, asked: CheckRequest, stage: str, deadline: Deadline
) -> Iterator[Found]:
    """Bisect between a step that fails and one that passes."""
    size = p.size
    for _ in range(FINE):
        if deadline.over():
            break
        middle = 0.5 * (low + high)
        if _passes(m, p, p.value + sign * middle * size, asked, stage):
            high = middle
        else:
            low = middle
    for digits in (DIGITS - 1, DIGITS, DIGITS + 2):
        value = _outward(p, p.value + sign * high * size, sign, digits)
        if _passes(m, p, value, asked, stage):
            yield Found(p.name, abs(value - p.value) / size, p.written(value), _sentence(p, value))
            return


def _passes(m: Mechanism, p: Candidate, value: float, asked: CheckRequest, stage: str) -> bool:
    try:
        return passes(m.with_(**{p.name: p.written(value)}), asked, stage, quick=True)
    except (LinkwrightError, ArithmeticError):
        return False


# -------------------------------------------------------------------- how numbers are written


def _outward(p: Candidate, value: float, sign: float, digits: int) -> float:
    """The next number of so many digits of the change, away from the value of the file."""
    change = abs(value - p.value) * p.factor
    last = 10.0 ** (floor(log10(change)) - digits + 1) if change > 0.0 else 1.0
    return p.value + sign * -(-change // last) * last / p.factor


def _sentence(p: Candidate, value: float) -> str:
    """`lengthen crank.length by 12.4 mm (3.1 %), to 412.4 mm`."""
    change, to = (value - p.value) * p.factor, f"to {value * p.factor:.6g} {p.symbol}".rstrip()
    if p.place or p.value * value <= 0.0:
        return f"{'move' if p.place else 'change'} {p.name} by {change:+.4g} {p.symbol}".rstrip() + f", {to}"
    verbs = ("lengthen", "shorten") if p.length else ("increase", "decrease")
    verb = verbs[0] if abs(value) > abs(p.value) else verbs[1]
    return f"{verb} {p.name} by {abs(change):.4g} {p.symbol}".rstrip() + f" ({100.0 * abs(change / p.factor / p.value):.2g} %), {to}"
