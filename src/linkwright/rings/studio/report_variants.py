"""Variants side by side in the report: what differs between them, and the figures that designs are compared by, one column each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import (
    SAME_NUMBER,
    LinkwrightError,
    System,
    Trajectory,
    UsageError,
    compiled_of,
    counted,
    every_parameter,
    joint_limits,
    marked,
    mechanism_of,
    unit_of,
)
from linkwright.rings.design.bearing_loads import Bearings
from linkwright.rings.design.cycle_averages import cleaned
from linkwright.rings.design.cycle_loads import CycleLoads, cycle_loads
from linkwright.rings.design.drive_duty import Efforts
from linkwright.rings.design.summary import Range, Summary, summarize
from linkwright.rings.studio import report_figures, report_measures
from linkwright.rings.studio.live import sliders
from linkwright.rings.studio.report_parts import note, part, table

MOST_VARIANTS = 5
MOST_CHANGES = 12


@dataclass(frozen=True)
class DesignVariant:
    """A design with its motion and loads, or why it has none."""

    name: str
    system: System
    motion: Trajectory | None
    summary: Summary | None
    loads: CycleLoads
    why: str = ""

    @classmethod
    def of(cls, name: str, system: System, steps: int | None) -> DesignVariant:
        try:
            motion = mechanism_of(system).cycle() if steps is None else mechanism_of(system).cycle(steps=steps)
            summary = summarize(system, turn=motion)
        except LinkwrightError as problem:
            return cls(name, system, None, None, CycleLoads(), " ".join(str(problem).split()))
        if any(b.mass is None for b in system.description.bodies[1:]):
            return cls(name, system, motion, summary, CycleLoads())
        try:
            return cls(name, system, motion, summary, cycle_loads(motion))
        except LinkwrightError as problem:
            return cls(name, system, motion, summary, CycleLoads(), " ".join(str(problem).split()))


def checked(variants: Any) -> dict[str, System]:
    """Return the systems of the variants by name; raise UsageError for what is no mechanism."""
    if variants is None:
        return {}
    if not isinstance(variants, Mapping) or not all(isinstance(k, str) for k in variants):
        raise UsageError("variants are a dict of mechanisms by name, such as {'longer crank': m.with_(L1='320 mm')}.", name="variants")
    if len(variants) > MOST_VARIANTS:
        raise UsageError(f"a report compares up to {MOST_VARIANTS} variants, and {len(variants)} are given. lw.study compares many.")
    out = {}
    for name, m in variants.items():
        system = getattr(m, "system", m)
        if not isinstance(system, System):
            raise UsageError(f"variant '{name}' is a {type(m).__name__}. Give a mechanism, such as m.with_(L1='320 mm').", name=name)
        out[name] = system
    return out


def section(own: DesignVariant, others: Sequence[DesignVariant], measures: Sequence[str] = ()) -> str:
    """Return the part that compares the mechanism of the report with its variants."""
    if not others:
        return ""
    every = [own, *others]
    header = [("", ""), ("unit", ""), *((x.name, "") for x in every)]
    measured = report_measures.compared([x.motion for x in every], measures, own.system.description.units)
    body = table(header, [*_changed(every), *measured, *_figures(every)], left=2)
    failed = "".join(note(f"{x.name}: {x.why}") for x in every if x.why)
    beyond = "".join(note(f"{x.name}: {said}.") for x in every if x.motion is not None for said in joint_limits.beyond_stops(x.motion))
    return part("Variants", body, _curves(every), failed, beyond)


def _changed(every: Sequence[DesignVariant]) -> list[tuple[Any, ...]]:
    """Numbers in which the designs differ; of variants of one file those that were changed, not what follows from them."""
    numbers = [every_parameter(x.system.description) for x in every]
    changed = [dict(getattr(x.system.description.document, "overrides", None) or {}) for x in every]
    said = {name for found in changed for name in found}
    rows: list[tuple[Any, ...]] = []
    hidden = 0
    for name, p in numbers[0].items():
        if said and name not in said:
            continue
        values = [found[name].value if name in found else None for found in numbers]
        known = [x for x in values if x is not None]
        if len(known) == len(values) and np.ptp(known) <= SAME_NUMBER * max(map(abs, known), default=0.0):
            continue
        symbol, size = sliders.unit_of_number(compiled_of(every[0].system).described, p)
        if len(rows) < MOST_CHANGES:
            rows.append((name, symbol, *(None if x is None else x / size for x in values)))
        else:
            hidden += 1
    return [*rows, (f"and {counted(hidden, 'more number')}", "", *[None] * len(every))] if hidden else rows


def _figures(every: Sequence[DesignVariant]) -> list[tuple[Any, ...]]:
    """Figures of the motion and of the loads, in the units of the first design."""
    rows = [*_ranges(every, "swing of {}", "angle", lambda s: s.swings), *_ranges(every, "stroke of {}", "length", lambda s: s.strokes)]
    rows.append(_row(every, "least transmission angle", "angle", _transmission))
    rows.append(_row(every, "moving mass", "mass", lambda x: None if x.summary is None else x.summary.mass))
    for k, kind in _drives(every):
        at = f"at {k}" if k else "of the drive"
        rows.append(_row(every, f"peak {kind} {at}", kind, lambda x, k=k: _effort(x.loads.efforts, k, "peak", "near_peak")))
        rows.append(_row(every, f"RMS {kind} {at}", kind, lambda x, k=k: _effort(x.loads.efforts, k, "rms", "near_peak")))
        rows.append(_row(every, f"peak power {at}", "power", lambda x, k=k: _effort(x.loads.efforts, k, "power_peak", "near_power_peak")))
    rows.append(_row(every, "largest pin load", "force", lambda x: _pin(x.loads.bearings)))
    rows.append(_row(every, "shaking force", "force", lambda x: None if x.loads.efforts is None else (x.loads.shaking[0], False)))
    return [r for r in rows if any(x is not None for x in r[2:])]


def _row(every: Sequence[DesignVariant], name: str, kind: str, read: Callable[[DesignVariant], Any]) -> tuple[Any, ...]:
    symbol, size = unit_of(every[0].system.description.units, kind)
    found = [read(x) for x in every]
    values = [None if x is None else marked(x[0] / size, x[1]) if isinstance(x, tuple) else x / size for x in found]
    return (name, symbol, *values)


def _ranges(every: Sequence[DesignVariant], title: str, kind: str, read: Callable[[Summary], Sequence[Range]]) -> list[tuple[Any, ...]]:
    first = next((x.summary for x in every if x.summary is not None), None)
    moving = [] if first is None else [r.name for r in read(first) if r.high - r.low > SAME_NUMBER]

    def span(x: DesignVariant, name: str) -> float | None:
        found = [] if x.summary is None else [r for r in read(x.summary) if r.name == name]
        return cleaned(found[0].high - found[0].low, 1.0) if found else None

    return [_row(every, title.format(name), kind, lambda x, name=name: span(x, name)) for name in moving[:8]]


def _transmission(x: DesignVariant) -> tuple[float, bool] | None:
    found = () if x.summary is None else x.summary.transmission_angles
    least = min(found, key=lambda r: r.low, default=None)
    return None if least is None else (least.low, least.near_low)


def _drives(every: Sequence[DesignVariant]) -> list[tuple[str, str]]:
    """Drives and kinds of their efforts, three at most; an empty name where every design has one drive, by different names."""
    rows = [x.loads.efforts.rows for x in every if x.loads.efforts is not None]
    found = list(dict.fromkeys((r.drive, r.kind) for each in rows for r in each))
    kinds = {kind for _, kind in found}
    if len(found) > 1 and len(kinds) == 1 and all(len(each) == 1 for each in rows):
        return [("", kinds.pop())]
    return found[:3]


def _effort(found: Efforts | None, drive: str, figure: str, near: str) -> tuple[float, bool] | None:
    row = next((r for r in found.rows if drive in ("", r.drive)), None) if found is not None else None
    return None if row is None else (float(getattr(row, figure)), bool(getattr(row, near)))


def _pin(found: Bearings | None) -> tuple[float, bool] | None:
    largest = max(found.rows, key=lambda r: r.max, default=None) if found is not None else None
    return None if largest is None else (float(largest.max), largest.near_singular)


def _curves(every: Sequence[DesignVariant]) -> str:
    """Effort of the first drive of all designs in one pair of axes."""
    moved = [(x.name, x.motion) for x in every if x.motion is not None and x.loads.efforts is not None]
    drives = _drives(every)
    if len(moved) < 2 or not drives or not drives[0][0]:
        return ""
    channel = f"{drives[0][0]}.{drives[0][1]}"
    shown = [(name, c) for name, c in moved if channel in c.channels]
    return report_figures.overlaid(shown, channel, "rp-variants") if len(shown) > 1 else ""
