"""Bounds and held numbers of a path synthesis: what a user may give, checked and scaled to points of size 1.

bounds, in SI:  links (least, most), ground, crank, coupler, rocker, offset (the same for one), ratio (longest over shortest link),
                pivots, crank pivot, rocker pivot (box), point (box in the frame of the coupler, or distance), transmission (least angle)
hold, in SI:    crank pivot (x, y), ground angle (of a slider-crank: of the guide), crank offset (crank angle from the ground link where
                the timing is zero) or crank angle (the same from the x axis)
A box is ((x, y), (x, y)), two opposite corners, or (least x, most x, least y, most y).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwright.api import UsageError, counted, nearest
from linkwright.rings.synthesis.coupler_chains import Chain
from linkwright.rings.synthesis.path_problem import PathLimits

SHORTEST, LONGEST, RATIO = 0.02, 10.0, 20.0  # of the path's size, where no bound is given
LEAST = 1e-3  # a link has a length
POINT = 2.0  # distance of the coupler point from its pin over the longest link, where only links are bounded
BOUNDS = ("links", "ratio", "pivots", "crank pivot", "rocker pivot", "point", "transmission")
HOLD = ("crank pivot", "ground angle", "crank offset", "crank angle")
Box = tuple[complex, complex]


def plain(given: Any, allowed: tuple[str, ...], what: str) -> dict[str, Any]:
    """Return options by their names with spaces; UsageError for a name that is not allowed."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(
            f"{what} is a dict of values by name, not {type(given).__name__}. Names: {', '.join(allowed)}.",
            name=what,
            value=given,
            allowed=allowed,
        )
    out = {}
    for name, value in given.items():
        spelled = str(name).replace("_", " ").replace("-", " ").strip().lower()
        if spelled not in allowed:
            raise UsageError(f"{what}: there is no '{name}'.", nearest(spelled, allowed, "Names"))
        out[spelled] = value
    return out


def bound_names(chain: Chain) -> tuple[str, ...]:
    """Return the names of bounds that this kind of linkage has."""
    return (*BOUNDS, *chain.links)


def limits_of(chain: Chain, bounds: Any, size: float, center: complex) -> PathLimits:
    """Return the limits of a search, for points divided by `size` about `center`."""
    given = plain(bounds, bound_names(chain), "bounds")
    free = "links" not in given and "ratio" not in given
    least, most = length_range(given.get("links", (SHORTEST * size, LONGEST * size)), "links")
    low, high = {}, {}
    for link in chain.links:
        if link == "offset":
            own = length_range(given[link], link, signed=True) if link in given else (-most, most)
        else:
            own = length_range(given[link], link) if link in given else (least, most)
            own = (max(own[0], min(LEAST * size, 0.5 * own[1])), own[1])
        low[link], high[link] = own[0] / size, own[1] / size
    ratio = float(given.get("ratio", RATIO if free else np.inf))
    if not ratio > 1.0:
        raise UsageError(f"bounds: the ratio of the longest to the shortest link is above 1, not {ratio:g}.", name="bounds", value=ratio)
    reach = LONGEST * size if "links" not in given else max(most, LONGEST * size)
    point = given.get("point", POINT * most if "links" in given else reach)
    corner = complex(1.0, 1.0)
    point_box = box_of(point, "point") if np.ndim(point) else (-float(point) * corner, float(point) * corner)
    around = (center - reach * corner, center + reach * corner)
    boxes = {name: box_of(given[name], name) for name in ("pivots", "crank pivot", "rocker pivot") if name in given}
    crank_box = _common(boxes.get("pivots"), boxes.get("crank pivot")) or around
    other_box = _common(boxes.get("pivots"), boxes.get("rocker pivot"))
    transmission = float(given.get("transmission", 0.0))
    if not 0.0 <= transmission < np.pi / 2.0:
        raise UsageError(f"bounds: the least transmission angle is from 0 to 90 deg, not {np.rad2deg(transmission):g} deg.", name="bounds")

    def scaled(box: Box | None) -> Box | None:
        return None if box is None else ((box[0] - center) / size, (box[1] - center) / size)

    return PathLimits(
        tuple(low.values()), tuple(high.values()), ratio, (point_box[0] / size, point_box[1] / size), scaled(crank_box), scaled(other_box),
        transmission,
    )  # fmt: skip


def held_of(hold: Any, limits: PathLimits, size: float, center: complex) -> tuple[tuple[str, float], ...]:
    """Return the variables that are held, by name, for points divided by `size` about `center`."""
    given = plain(hold, HOLD, "hold")
    out: list[tuple[str, float]] = []
    if "crank pivot" in given:
        (pivot,) = _points(given["crank pivot"], 1, "hold: crank pivot")
        at = (pivot - center) / size
        box = limits.crank_pivot
        if box is not None and not (box[0].real <= at.real <= box[1].real and box[0].imag <= at.imag <= box[1].imag):
            raise UsageError("the crank pivot is held outside of its bounds. Move it, or widen the box in bounds.", name="bounds")
        out += [("x0", at.real), ("y0", at.imag)]
    if "crank offset" in given and "crank angle" in given:
        raise UsageError(
            "hold: the crank offset is measured from the ground link, the crank angle from the x axis. Give one of them.", name="hold"
        )
    for name, variable in (("ground angle", "th0"), ("crank offset", "t1"), ("crank angle", "t1")):
        if name in given:
            value = float(given[name])
            if not np.isfinite(value):
                raise UsageError(f"hold: the {name} is an angle, not {value}.", name="hold", value=value)
            out.append((variable, value))
    return tuple(out)


def length_range(value: Any, name: str, *, signed: bool = False) -> tuple[float, float]:
    """Least and most of a length; one number is the most."""
    ends = np.atleast_1d(np.asarray(value, dtype=float))
    if ends.shape == (1,):
        ends = np.array([-ends[0] if signed else 0.0, ends[0]])
    if ends.shape != (2,) or not np.isfinite(ends).all() or ends[0] > ends[1] or ends[1] <= 0.0 or (ends[0] < 0.0 and not signed):
        raise UsageError(f"bounds: {name} is (least, most), two lengths in this order, or the most alone.", name="bounds")
    return float(ends[0]), float(ends[1])


def _points(value: Any, count: int, name: str) -> list[complex]:
    array = np.asarray(value)
    numbers = array.ravel() if array.dtype.kind == "c" else np.asarray(value, dtype=float).reshape(-1, 2) @ np.array([1.0, 1j])
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise UsageError(f"{name}: give {counted(count, 'point')} (x, y).", name=name)
    return [complex(z) for z in numbers]


def box_of(value: Any, name: str) -> Box:
    """Return the lower left and upper right corner of a box."""
    array = np.asarray(value)
    if array.dtype.kind != "c" and array.shape == (4,):
        corners = [complex(array[0], array[2]), complex(array[1], array[3])]
    elif array.shape in ((2, 2), (2,)):
        corners = _points(value, 2, f"bounds: {name}")
    else:
        raise UsageError(f"bounds: {name} is a box, ((x, y), (x, y)) or (least x, most x, least y, most y).", name="bounds")
    low = complex(min(z.real for z in corners), min(z.imag for z in corners))
    high = complex(max(z.real for z in corners), max(z.imag for z in corners))
    if not np.isfinite([low, high]).all():
        raise UsageError(f"bounds: the box of {name} has a number that is not finite.", name="bounds")
    return low, high


def _common(first: Box | None, second: Box | None) -> Box | None:
    if first is None or second is None:
        return first or second
    low = complex(max(first[0].real, second[0].real), max(first[0].imag, second[0].imag))
    high = complex(min(first[1].real, second[1].real), min(first[1].imag, second[1].imag))
    if low.real > high.real or low.imag > high.imag:
        raise UsageError("bounds: the boxes of the pivots have nothing in common. Widen one of them.", name="bounds")
    return low, high
