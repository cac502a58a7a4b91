"""Channels of cylinders with a bore: pressures, flows and volumes at their two ends.

    lift.cap.pressure   lift.rod.pressure    of the end whose pressure carries the force, with the other end without pressure
    lift.cap.flow       lift.rod.flow        into an end, negative out of it
    lift.cap.volume     lift.rod.volume      of an end, from the end of the stroke where it is empty; with a `stroke:`
    lift.pump.pressure  lift.pump.flow       of the end that carries the force; into the end that is being filled

The cap end has the area of the bore, the rod end the area of the bore minus the rod. Without a `rod:` there is no rod end, and a pressure
below zero is a force that the cylinder cannot exert. Pressures are measured above the surroundings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.line_eyes import LineEye, line_force
from linkwright.model.coordinates import coordinate
from linkwright.model.description import Cylinder, Description
from linkwright.numerics.scalars import real, where

Named = tuple[str, str, str, Any]  # name, dimension, meaning, how it is read at an instant


def areas(c: Cylinder) -> tuple[Any, Any]:
    """Return the areas of the cap end and of the rod end; None for an end that does not exist."""
    bore: Any = c.bore
    cap = 0.25 * np.pi * bore * bore
    return cap, None if c.rod is None else cap - 0.25 * np.pi * c.rod * c.rod


def flow_channels(d: Description) -> Iterator[Named]:
    """Yield flows and volumes, which need the motion only."""
    ends = {s.joint: (s.lower, s.upper) for s in d.rigid_stops}
    for c in (c for c in d.cylinders if c.bore is not None):
        (cap, rod), length = areas(c), coordinate(d, c.name)
        low, high = ends.get(c.name, (None, None))
        yield f"{c.name}.cap.flow", "flow", f"flow into the cap end of {c.name}", lambda x, y=length, A=cap: A * x.travel_rate(y)
        if low is not None:
            yield (
                f"{c.name}.cap.volume",
                "volume",
                f"volume of the cap end of {c.name}",
                lambda x, y=length, A=cap, low=low: A * (x.travel(y) - low),
            )
        if rod is not None:
            yield f"{c.name}.rod.flow", "flow", f"flow into the rod end of {c.name}", lambda x, y=length, A=rod: -A * x.travel_rate(y)
            if high is not None:
                yield (
                    f"{c.name}.rod.volume",
                    "volume",
                    f"volume of the rod end of {c.name}",
                    lambda x, y=length, A=rod, high=high: A * (high - x.travel(y)),
                )
        yield (
            f"{c.name}.pump.flow",
            "flow",
            f"flow into the end of {c.name} that is filled",
            lambda x, y=length, A=cap, B=rod: _filled(x.travel_rate(y), A, B),
        )


def pressure_channels(d: Description) -> Iterator[Named]:
    """Yield pressures, which need the force of the cylinder."""
    for c in (c for c in d.cylinders if c.bore is not None):
        cap, rod = areas(c)
        yield (
            f"{c.name}.cap.pressure",
            "pressure",
            f"pressure in the cap end of {c.name} that carries its force",
            lambda x, c=c, A=cap, B=rod: _cap_pressure(force(x, c), A, B),
        )
        if rod is not None:
            yield (
                f"{c.name}.rod.pressure",
                "pressure",
                f"pressure in the rod end of {c.name} that carries its force",
                lambda x, c=c, B=rod: _positive(-force(x, c) / B),
            )
        yield (
            f"{c.name}.pump.pressure",
            "pressure",
            f"pressure in the end of {c.name} that carries its force",
            lambda x, c=c, A=cap, B=rod: _carried(force(x, c), A, B),
        )


def force(x: Instant, c: Cylinder) -> Any:
    """Return the force of a cylinder, positive where it pushes."""
    (body, point), *_ = c.between
    return line_force(x.loads, LineEye(point, body, c.word, c, -1.0))


def _positive(x: Any) -> Any:
    return where(real(x) > 0.0, x, 0.0)


def _cap_pressure(f: Any, cap: Any, rod: Any) -> Any:
    return f / cap if rod is None else _positive(f / cap)


def _carried(f: Any, cap: Any, rod: Any) -> Any:
    return f / cap if rod is None else where(real(f) > 0.0, f / cap, -f / rod)


def _filled(rate: Any, cap: Any, rod: Any) -> Any:
    """Flow into the end that grows; a cylinder without a rod end takes none on its way back."""
    return where(real(rate) > 0.0, cap * rate, 0.0 if rod is None else -rod * rate)
