"""Channels of cylinders with a bore: pressures, flows and volumes of their two sides.

    lift.push.pressure   lift.pull.pressure    that of the side whose pressure carries the force, the other side without pressure
    lift.push.flow       lift.pull.flow        into a side, negative out of it
    lift.push.volume     lift.pull.volume      of a side, from the end of the stroke where it is empty; with a `stroke:`
    lift.supply.pressure lift.supply.flow      of the side that carries the force; into the side that is being filled

The push side has the area of the bore, the pull side that of the bore less the rod; without a `rod:` there is no pull side, and a pressure
below zero is a force that the cylinder cannot exert. Pressures are those above the surroundings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.lines import LineEye, line_force
from linkwright.model.coordinates import coordinate
from linkwright.model.description import Cylinder, Description
from linkwright.numerics.scalars import real, where

Named = tuple[str, str, Any]  # name, dimension, how it is read at an instant


def areas(c: Cylinder) -> tuple[Any, Any]:
    """Return the areas of the push and of the pull side; None of a side that does not exist."""
    bore: Any = c.bore
    push = 0.25 * np.pi * bore * bore
    return push, None if c.rod is None else push - 0.25 * np.pi * c.rod * c.rod


def flow_channels(d: Description) -> Iterator[Named]:
    """Yield flows and volumes, which need the motion only."""
    ends = {s.joint: (s.lower, s.upper) for s in d.rigid_stops}
    for c in (c for c in d.cylinders if c.bore is not None):
        (push, pull), length = areas(c), coordinate(d, c.name)
        low, high = ends.get(c.name, (None, None))
        yield f"{c.name}.push.flow", "flow", lambda x, y=length, A=push: A * x.travel_rate(y)
        if low is not None:
            yield f"{c.name}.push.volume", "volume", lambda x, y=length, A=push, low=low: A * (x.travel(y) - low)
        if pull is not None:
            yield f"{c.name}.pull.flow", "flow", lambda x, y=length, A=pull: -A * x.travel_rate(y)
            if high is not None:
                yield f"{c.name}.pull.volume", "volume", lambda x, y=length, A=pull, high=high: A * (high - x.travel(y))
        yield f"{c.name}.supply.flow", "flow", lambda x, y=length, A=push, B=pull: _filled(x.travel_rate(y), A, B)


def pressure_channels(d: Description) -> Iterator[Named]:
    """Yield pressures, which need the force of the cylinder."""
    for c in (c for c in d.cylinders if c.bore is not None):
        push, pull = areas(c)
        yield f"{c.name}.push.pressure", "pressure", lambda x, c=c, A=push, B=pull: _pushed(force(x, c), A, B)
        if pull is not None:
            yield f"{c.name}.pull.pressure", "pressure", lambda x, c=c, B=pull: _positive(-force(x, c) / B)
        yield f"{c.name}.supply.pressure", "pressure", lambda x, c=c, A=push, B=pull: _carried(force(x, c), A, B)


def force(x: Instant, c: Cylinder) -> Any:
    """Return the force of a cylinder, positive where it pushes."""
    (body, point), *_ = c.between
    return line_force(x.loads, LineEye(point, body, c.word, c, -1.0))


def _positive(x: Any) -> Any:
    return where(real(x) > 0.0, x, 0.0)


def _pushed(f: Any, push: Any, pull: Any) -> Any:
    return f / push if pull is None else _positive(f / push)


def _carried(f: Any, push: Any, pull: Any) -> Any:
    return f / push if pull is None else where(real(f) > 0.0, f / push, -f / pull)


def _filled(rate: Any, push: Any, pull: Any) -> Any:
    """Flow into the side that grows; a cylinder without a pull side takes none on its way back."""
    return where(real(rate) > 0.0, push * rate, 0.0 if pull is None else -pull * rate)
