"""Bounds of a request, checked at the finished linkage: whatever a search did to hold them, an answer is usable only if they are met.

A bound counts as met within MET of its size. Lengths and places are read from the drawing, transmission angle, link ratio and the
figures of a dwell from the measures of the whole motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linkwright.api import parse_unit
from linkwright.rings.synthesis.path_bounds import box_of, length_range
from linkwright.rings.synthesis.results import SynthesizedLinkage

MET = 1e-9  # of a bound: what is beyond it by less counts as met
ENDS = {"ground": ("A", "D"), "crank": ("A", "B"), "coupler": ("B", "C"), "rocker": ("C", "D")}  # of four-bars and slider-cranks
RESTS = 1e-4  # of the stroke: an overshoot that is none
DEMANDS = {"overshoot": "overshoot", "tolerance": "dwell range"}  # of a dwell: at most, by measure


def missed_bounds(x: SynthesizedLinkage, bounds: Mapping[str, Any], unit: str) -> tuple[str, ...]:
    """Return one text for each bound (SI, names with spaces) that a linkage does not meet, with by how much."""
    return tuple(text for name, value in bounds.items() for text in _missed(x, name, value, unit))


def _missed(x: SynthesizedLinkage, name: str, value: Any, unit: str) -> Iterator[str]:
    if name in ("pivots", "crank pivot", "rocker pivot"):
        yield from _outside(x, name, value, unit)
    elif name == "transmission":
        yield from _below(name, x.measures.get("least transmission angle"), float(value), np.pi / 180.0, "deg")
    elif name == "ratio":
        yield from _above(name, x.measures.get("link ratio"), float(value), 1.0, "")
    elif name in DEMANDS:
        size, shown = x.unit_of(DEMANDS[name])
        room = RESTS * x.measures.get("stroke", 0.0) if name == "overshoot" else 0.0
        yield from _above(name, x.measures.get(DEMANDS[name]), float(value) + room, size, shown)
    elif name == "point":
        yield from _point(x, value, unit)
    else:
        yield from _lengths(x, name, value, unit)


def _outside(x: SynthesizedLinkage, name: str, value: Any, unit: str) -> Iterator[str]:
    """Fixed pivots outside of a box."""
    low, high = box_of(value, name)
    size = max(abs(low), abs(high), abs(high - low))
    pivots = list(x.linkage.bodies["ground"])
    if not pivots:
        yield f"{name}: this linkage has guides in place of fixed pivots, and the box gives no bounds for guides"
    if name != "pivots":
        pivots = [p for p in pivots if (p == x.linkage.drive) == (name == "crank pivot")]
    for pin in pivots:
        z = x.linkage.pins[pin]
        off = {"left of": low.real - z.real, "right of": z.real - high.real, "below": low.imag - z.imag, "above": z.imag - high.imag}
        for side, far in off.items():
            if far > MET * size:
                yield f"{name}: {pin} lies {far / parse_unit(unit)[0]:.4g} {unit} {side} the box"


def _lengths(x: SynthesizedLinkage, name: str, value: Any, unit: str) -> Iterator[str]:
    """Links, one link, or the offset of a slider."""
    signed = name == "offset"
    low, high = length_range(value, name, signed=signed)
    if name == "links":
        longest, ratio = x.measures.get("longest link"), x.measures.get("link ratio")
        ends = (None if longest is None or ratio is None else longest / ratio, longest)
    elif signed:
        guide = next(iter(x.linkage.guides.values()), None)
        if guide is None:
            return
        away = x.linkage.pins[x.linkage.drive] - x.linkage.pins[guide.at]
        ends = (float((np.conj(guide.direction) * away).imag),) * 2
        low, high = (-max(abs(low), abs(high)), max(abs(low), abs(high))) if low < 0.0 else (low, high)
        ends = ends if low < 0.0 else (abs(ends[0]),) * 2
    else:
        pins = ENDS.get(name, ())
        if len(pins) < 2 or any(p not in x.linkage.pins for p in pins):
            return
        ends = (x.linkage.length(*pins),) * 2
    size = parse_unit(unit)[0]
    yield from _below(name, ends[0], low, size, unit)
    yield from _above(name, ends[1], high, size, unit)


def _point(x: SynthesizedLinkage, value: Any, unit: str) -> Iterator[str]:
    """The traced point in the frame of the coupler: origin at B, x axis toward C."""
    pins = x.linkage.pins
    if not {"B", "C", "P"} <= set(pins):
        return
    low, high = box_of(value, "point") if np.ndim(value) else (-float(value) * (1 + 1j), float(value) * (1 + 1j))
    along = (pins["C"] - pins["B"]) / abs(pins["C"] - pins["B"])
    z = (pins["P"] - pins["B"]) * np.conj(along)
    far = max(low.real - z.real, z.real - high.real, low.imag - z.imag, z.imag - high.imag)
    if far > MET * max(abs(low), abs(high)):
        yield f"point: P lies {far / parse_unit(unit)[0]:.4g} {unit} outside of its box on the coupler"


def _below(name: str, value: float | None, least: float, size: float, unit: str) -> Iterator[str]:
    if value is None:
        yield f"{name}: not known for this linkage"
    elif value < least - MET * abs(least):
        yield f"{name}: {value / size:.6g}{_gap(unit)} is {(least - value) / size:.3g}{_gap(unit)} below {least / size:.6g}{_gap(unit)}"


def _above(name: str, value: float | None, most: float, size: float, unit: str) -> Iterator[str]:
    if value is None:
        yield f"{name}: not known for this linkage"
    elif value > most + MET * abs(most):
        yield f"{name}: {value / size:.6g}{_gap(unit)} is {(value - most) / size:.3g}{_gap(unit)} above {most / size:.6g}{_gap(unit)}"


def _gap(unit: str) -> str:
    return f" {unit}" if unit else ""
