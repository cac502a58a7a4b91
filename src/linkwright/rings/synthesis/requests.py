"""Requests: what `lw.synthesize` was asked for, checked, in SI, and given to the module of its task.

Every task module has one function that takes its numbers in SI and returns (linkages, facts, notes); it is imported when it is needed.
Numbers of a request are in the user's unit of length and in radians; texts ("60 deg", "120 mm") have their own units.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, TypedDict, Unpack, cast

import numpy as np

from linkwright.api import (
    ANGLE,
    LENGTH,
    SAME_PLACE,
    Place,
    UsageError,
    call_explained,
    counted,
    files,
    matches,
    nearest,
    parse_unit,
    readings,
    unit_kinds,
)
from linkwright.rings.synthesis.bound_checks import DEMANDS, missed_bounds
from linkwright.rings.synthesis.results import SynthesisResult, SynthesizedLinkage
from linkwright.text.phrases import NUMBER_BEGINS, Phrase, amount

SIX_BARS = ("watt I", "watt II", "stephenson I", "stephenson II", "stephenson III")
FUNCTION_SIX_BARS = ("watt II", "stephenson II", "stephenson III")
FUNCTION_SAMPLES = 61  # of a function that a six-bar generates
PATH_KINDS = ("four-bar", "slider-crank", *SIX_BARS, "six-bar", "geared five-bar")
TASKS = ("path", "function", "poses", "dwell", "straight", "dead_centers")
LENGTHS = frozenset(
    ("stroke", "tolerance", "longest", "shortest", "rocker", "crank", "coupler", "ground", "moving", "lever", "length", "links", "pivots",
     "crank_pivot", "rocker_pivot", "point", "offset", "within", "deviation", "at", "overshoot")
)  # fmt: skip  # options whose plain numbers are lengths
ANGLES = frozenset(
    ("dwell_angle", "start", "direction", "transmission", "swing", "input_range", "ground_angle", "crank_offset", "crank_angle")
)  # options whose plain numbers are angles
Found = tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]

Array = np.ndarray
TURN = 2.0 * np.pi


@dataclass(frozen=True)
class SynthesisRequest:
    """The tasks as given, and what all of them share."""

    tasks: Mapping[str, Any]
    kind: str | None
    unit: str
    count: int
    seed: int
    bounds: Any
    options: Mapping[str, Any]


class TaskOptions(TypedDict, total=False):
    """Options of `synthesize` that some of the tasks have.

    Parameters
    ----------
    timing : str or sequence, optional
        Crank angles at the points of a path: equal, '120 deg' in equal steps, or '0 deg, 30 deg, ...' (default: any, in order).
    closed : bool, optional
        Path that is a whole closed curve. By default it is, if the last point is the first one.
    exact : bool, optional
        All four-bars through exactly nine points.
    hold : mapping, optional
        Number of the linkage that stays fixed: 'crank pivot=0,0', 'ground angle=0', 'crank offset=30deg'. The offset is measured from the
        ground link, "crank angle" from x.
    direction : str, optional
        Direction of the crank: "counterclockwise", "clockwise" or "either".
    types : sequence of str, optional
        Types of four-bars: "crank-rocker", "drag link".
    starts : int, optional
        Number of starts of the search of six-bars and dwells.
    ratio : float or sequence, optional
        Gear ratios of five-bars.
    detours : int, optional
        Number of detours of a path of solutions that fails, with `exact`.
    x_range, input_range, output_range : tuple, str or float, optional
        Range of x, travel of the crank and travel of the output: ("30 deg", "90 deg"), or "60 deg" with a free begin.
    output : str, optional
        Motion of the output: "angle" or "slide".
    precision : str or sequence, optional
        Points at which the function is exact: "chebyshev" or values of x.
    refine : bool, optional
        True to lower the largest error afterwards.
    ground, moving : str or pair, optional
        Pivots of poses that are fixed; the ground link of a function.
    sliders, ordered, fit : bool, optional
        Sliders among the kinds of poses; poses in their order; nearest linkage where none is exact.
    lever : float or str, optional
        Length by which angles of poses count.
    samples : int, optional
        Number of samples of the curves of pivots.
    size : float or str, optional
        Size of the linkage.
    full_turn : bool, optional
        True to count linkages without a crank as defective.
    most_ratio : float, optional
        Largest ratio of two links.
    """

    timing: Any
    closed: bool
    exact: bool
    hold: Mapping[str, Any]
    direction: str
    types: Sequence[str]
    starts: int
    ratio: Any
    detours: int
    x_range: Any
    input_range: Any
    output_range: Any
    output: str
    precision: Any
    refine: bool
    ground: Any
    moving: Any
    sliders: bool
    ordered: bool
    fit: bool
    lever: Any
    samples: int
    size: Any
    full_turn: bool
    most_ratio: float


@call_explained
def synthesize(
    *,
    path: Any = None,
    function: Any = None,
    poses: Any = None,
    dwell: Mapping[str, Any] | None = None,
    straight: Any = None,
    dead_centers: Any = None,
    kind: str | None = None,
    bounds: Mapping[str, Any] | None = None,
    unit: str = "mm",
    count: int = 5,
    seed: int = 0,
    **options: Unpack[TaskOptions],
) -> SynthesisResult:
    """Find linkages for a motion.

    Exactly one of the tasks `path`, `function`, `poses`, `dwell`, `straight` and `dead_centers` is given. Numbers are in `unit` and rad,
    texts have their units. The same seed gives the same linkages.

    Parameters
    ----------
    path : array, sequence or path of a CSV file, optional
        Points (n, 2), or complex numbers, that a point of the coupler passes, nearest in the sense of least squares.
    function : str, callable or samples, optional
        Function y of x ("log10(x)"), with x_range, input_range and output_range of crank and output.
    poses : array or path of a CSV file, optional
        Rows (x, y, angle) through which the coupler is guided.
    dwell : mapping, optional
        Dwell of an output: {"stroke": "100 mm", "dwell_angle": "80 deg"}, with tolerance, start, direction, at, overshoot.
    straight : float, str or mapping, optional
        Length of the line, or a dict with it.
    dead_centers : sequence or mapping, optional
        Swing and time ratio, or {"stroke": .., "time_ratio": ..}.
    kind : str, optional
        Kind of linkage: four-bar (default, but all kinds for poses), slider-crank, 'watt I', 'watt II', 'stephenson I', 'stephenson II',
        'stephenson III', six-bar, 'geared five-bar'.
    bounds : mapping, optional
        Bound on the linkage: links=10mm,80mm, ratio=5, transmission=40deg, pivots=0,100,-20,20 (least and most of x and y). In Python
        {"links": (least, most), "crank": .., "ratio": 10, "pivots": box, "point": .., "transmission": "40 deg"}.
    unit : str, default "mm"
        Unit of lengths: of numbers without a unit, and of the models.
    count : int, default 5
        Number of designs: linkages to find.
    seed : int, default 0
        Random seed.
    **options : TaskOptions
        Options of some of the tasks, which `TaskOptions` explains.

    Returns
    -------
    SynthesisResult
        Linkages, best first, with their defects and the bounds that they miss. `best.mechanism` is the first as a mechanism.

    Raises
    ------
    LinkwrightError
        If the task is not understood, or an option belongs to another task.

    Examples
    --------
    >>> found = lw.synthesize(dead_centers=("60 deg", 1.2), count=2)
    >>> found.best.linkage.kind
    'four-bar'
    """
    tasks = {"path": path, "function": function, "poses": poses, "dwell": dwell, "straight": straight, "dead_centers": dead_centers}
    return synthesized(SynthesisRequest(tasks, kind, unit, count, seed, bounds, cast(Mapping[str, Any], options)))


def synthesized(request: SynthesisRequest) -> SynthesisResult:
    """Return the linkages for a request."""
    given = [name for name in TASKS if request.tasks.get(name) is not None]
    if len(given) != 1:
        here = f"{' and '.join(given)} are given" if given else "none is given"
        raise UsageError(f"synthesize needs one task of {', '.join(TASKS)}; {here}.", allowed=TASKS, name="synthesize")
    length_unit(request.unit)
    if not isinstance(request.count, (int, np.integer)) or isinstance(request.count, bool) or request.count < 1:
        raise UsageError(
            f"count is the number of linkages, a whole number from 1 on, not {request.count!r}.", name="count", value=request.count
        )
    if not isinstance(request.seed, (int, np.integer)) or isinstance(request.seed, bool) or request.seed < 0:
        raise UsageError(f"seed is a whole number from 0 on, not {request.seed!r}.", name="seed", value=request.seed)
    task = given[0]
    title, (found, facts, notes) = _DISPATCH[task](request, request.tasks[task])
    bounds = _demanded(request, task)
    mine = [replace(x, unit=request.unit) for x in found]
    checked = [replace(x, missed=missed_bounds(x, bounds, request.unit)) for x in mine] if bounds else mine
    return SynthesisResult(title, tuple(sorted(checked, key=lambda x: bool(x.missed))), facts, tuple(notes))


def _demanded(request: SynthesisRequest, task: str) -> dict[str, Any]:
    """All bounds of a request in SI, whatever its task does with them."""
    given = request.bounds if isinstance(request.bounds, Mapping) else {}
    out = {str(k).replace("_", " ").replace("-", " ").strip().lower(): v for k, v in given.items()}
    if task == "dwell" and isinstance(request.tasks[task], Mapping):
        out |= {k: request.tasks[task][k] for k in DEMANDS if request.tasks[task].get(k) is not None}
    rotary = request.kind is not None and "slider" not in str(request.kind).lower()
    return {k: si(v, k.replace(" ", "_"), "m" if rotary and k in DEMANDS else request.unit) for k, v in out.items()}


def si(value: Any, name: str, unit: str) -> Any:
    """Return a value of a request in SI: texts by their unit, numbers of lengths by `unit`; names and functions as they are."""
    if isinstance(value, str):
        if name in ANGLES:
            readings.typed_angle(value, name)
        return _text(value, name)
    if isinstance(value, Mapping):
        return {k: si(v, str(k).replace(" ", "_"), unit) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(si(v, name, unit) for v in value)
    number = isinstance(value, (int, float, complex, np.number, np.ndarray)) and not isinstance(value, bool)
    if number and name in ANGLES:
        for x in np.ravel(np.asarray(value)).tolist():
            readings.bare_angle(float(x), name)
    return value * length_unit(unit) if number and name in LENGTHS else value


def _text(text: str, name: str) -> Any:
    """A number with a unit in SI, any other text as it is; kinds with a rocker have angles where those with a slider have lengths."""
    p = Phrase.of(text)
    if not NUMBER_BEGINS.match(p.text):
        return text
    found = amount(p)
    if found.bare:
        return text
    dimension = parse_unit(found.unit)[1]
    wanted = ANGLE if name in ANGLES else LENGTH if name in LENGTHS and dimension != ANGLE else dimension
    return Place(name or f"'{text}'", wanted).si(found.value, found.unit)


def _called(module: str, function: str, *arguments: Any, **options: Any) -> Found:
    """The answer of a task module; options that it does not have are a UsageError."""
    call = getattr(import_module(f"linkwright.rings.synthesis.{module}"), function)
    return call_explained(call, "synthesize")(*arguments, **options)


def _shared(request: SynthesisRequest, *names: str) -> dict[str, Any]:
    """Options in SI, with those of all tasks that this one has."""
    options = {k: si(v, k, request.unit) for k, v in request.options.items()}
    own = {"count": request.count, "seed": request.seed}
    return {**options, **{k: own[k] for k in names}}


def _bounded(request: SynthesisRequest, **allowed: str) -> dict[str, Any]:
    """Bounds as options of a task module: allowed has the option's name by that of the bound; "links" are (shortest, longest)."""
    if request.bounds is None:
        return {}
    from linkwright.rings.synthesis.path_bounds import box_of, plain

    given = plain(request.bounds, tuple(allowed), "bounds")
    out: dict[str, Any] = {}
    for name, value in given.items():
        number = si(value, name.replace(" ", "_"), request.unit)
        if allowed[name] == "shortest longest":
            ends = np.broadcast_to(np.asarray(number, dtype=float), (2,)) if np.ndim(number) else np.array([0.0, number])
            out |= {k: float(x) for k, x in zip(("shortest", "longest"), ends, strict=True) if x > 0.0}
        elif allowed[name] in ("within", "corners"):
            low, high = box_of(number, name)
            sides = (low.real, high.real, low.imag, high.imag)
            out["within"] = sides if allowed[name] == "within" else [[sides[0], sides[2]], [sides[1], sides[3]]]
        else:
            out[allowed[name]] = number
    return out


# ---------------------------------------------------------------- tasks
def _kind(request: SynthesisRequest, allowed: tuple[str, ...], default: str) -> str:
    """The kind of linkage, in the spelling of the list."""
    if request.kind is None:
        return default
    spelled = {k.lower().replace("-", " "): k for k in allowed}
    kind = spelled.get(str(request.kind).lower().replace("-", " ").replace("_", " "))
    if kind is None:
        raise UsageError(f"there is no kind '{request.kind}' for this task.", nearest(str(request.kind), allowed, "Kinds"))
    return kind


def _path(request: SynthesisRequest, given: Any) -> tuple[str, Found]:
    options = dict(request.options)
    timing, exact, closed = options.pop("timing", None), options.pop("exact", False), options.pop("closed", None)
    kind = _kind(request, PATH_KINDS, "four-bar")
    points, stored = path_points(given, request.unit)
    repeated = is_closed(points)
    closed = (repeated or (isinstance(timing, str) and timing.strip().lower() == "equal")) if closed is None else bool(closed)
    angles = crank_angles(timing, len(points), closed=closed, repeated=repeated)
    if timing is None and stored is not None:
        angles = checked_angles(stored)
    if angles is None:
        check_distinct(points)
    count = len(points) - repeated
    title = (
        f"path of a {kind} through {counted(count, 'point')}" + (", closed" if closed else "") + (", timed" if angles is not None else "")
    )
    request = replace(request, options=options)
    if exact:
        if kind != "four-bar" or angles is not None or len(points) != 9:
            raise UsageError(
                "exact solutions of a path are computed for a four-bar, nine points and no timing. Here are "
                f"{counted(len(points), 'point')}{' with timing' if angles is not None else ''}. Leave out exact=True for the best fit.",
                name="exact",
            )
        return f"{title}, all exact solutions", _called("nine_points", "nine_points", points, **_shared(request, "count", "seed"))
    if kind in ("four-bar", "slider-crank"):
        return title, _fitted_path(request, points, angles, kind, closed, timing)
    bounds = _bounded(request, links="shortest longest", pivots="corners", transmission="transmission")
    shared = {**_shared(request, "count", "seed"), **bounds, "timing": angles, "closed": closed}
    if kind == "geared five-bar":
        return title, _called("form_paths", "geared_paths", points, **shared)
    return title, _called("form_paths", "six_bar_paths", points, kind=None if kind == "six-bar" else kind, **shared)


def _fitted_path(request: SynthesisRequest, points: Any, angles: Any, kind: str, closed: bool, timing: Any) -> Found:
    """Four-bars and slider-cranks, bounds and held numbers in SI; without crank angles the direction of the crank is open."""
    options = dict(request.options)
    hold = si(options.pop("hold", None), "hold", request.unit)
    bounds = si(request.bounds, "bounds", request.unit)
    options.setdefault("direction", "either" if timing is None or isinstance(timing, str) else "counterclockwise")
    shared = {"unit": request.unit, "count": request.count, "seed": request.seed}
    return _called("paths", "path_linkages", points, kind=kind, timing=angles, closed=closed, hold=hold, bounds=bounds, **shared, **options)


def _poses(request: SynthesisRequest, given: Any) -> tuple[str, Found]:
    if isinstance(given, (str, os.PathLike)):
        rows = csv_rows(given, request.unit, ("x", "y", "angle"), needed=3)
    else:
        factor = length_unit(request.unit)
        try:
            rows = np.array([[si(x, "", request.unit) if isinstance(x, str) else float(x) for x in row] for row in given], dtype=float)
            if rows.ndim != 2 or rows.shape[1] != 3:
                raise ValueError
        except (TypeError, ValueError):
            raise UsageError(
                "poses are rows of x, y and angle. Angles are numbers in rad, or texts such as '30 deg'.", name="poses"
            ) from None
        for row in given:
            if not isinstance(row[2], str):
                readings.bare_angle(float(row[2]), "the angle of a pose")
        numbers = np.array([[not isinstance(x, str) for x in row[:2]] for row in given])
        rows[:, :2] *= np.where(numbers, factor, 1.0)
    kind = _kind(request, ("four-bar", "slider-crank"), "")
    own = {} if not kind else {"sliders": kind == "slider-crank"}
    bounds = _bounded(request, pivots="within", ratio="most_ratio")
    return f"guidance through {counted(len(rows), 'pose')}", _called(
        "poses", "guided", rows, **{**own, **_shared(request, "count", "seed"), **bounds}
    )


def _function(request: SynthesisRequest, given: Any) -> tuple[str, Found]:
    options = _shared(request, "count")
    kind = _kind(request, ("four-bar", "slider-crank", *FUNCTION_SIX_BARS, "six-bar"), "four-bar")
    if kind == "slider-crank":
        options.setdefault("output", "slide")
        travel = options.get("output_range")
        if travel is not None and not isinstance(request.options.get("output_range"), str):
            options["output_range"] = np.asarray(travel, dtype=float) * length_unit(request.unit)
    needed = [options.pop(name, None) for name in ("x_range", "input_range", "output_range")]
    if needed[1] is None or needed[2] is None:
        raise UsageError(
            "a function needs input_range and output_range, the travel of crank and output: '60 deg', or ('30 deg', '90 deg').",
            name="function",
        )
    name = given if isinstance(given, str) else getattr(given, "__name__", "function")
    title = f"function generator {name}"
    if kind not in ("four-bar", "slider-crank"):
        # crank and output travel of the function, as the generators of four-bars read it
        wanted = import_module("linkwright.rings.synthesis.function_generation")._task(given, *needed, "angle", 1.0)[1]
        travels = wanted.travels(np.linspace(*wanted.x, FUNCTION_SAMPLES))
        bounds = _bounded(request, ratio="ratio", transmission="transmission")
        own = {} if kind == "six-bar" else {"kind": kind}
        return title, _called("six_bar_functions", "six_bar_functions", *travels, **{**own, **options, "seed": request.seed, **bounds})
    bounds = _bounded(request, ratio="most_ratio", transmission="least_transmission")
    return title, _called("function_generation", "generated", given, *needed, **{**options, **bounds})


def _dead_centers(request: SynthesisRequest, given: Any) -> tuple[str, Found]:
    if isinstance(given, Mapping):
        task = {str(k).replace(" ", "_"): si(v, str(k).replace(" ", "_"), request.unit) for k, v in given.items()}
    else:
        pair = list(given) if isinstance(given, (list, tuple)) else [given]
        if not 1 <= len(pair) <= 2:
            raise UsageError("dead_centers are (swing, time ratio), or a dict with swing or stroke, and time_ratio.", name="dead_centers")
        task = dict(zip(("swing", "time_ratio"), (si(x, "", request.unit) for x in pair), strict=False))
    kind = _kind(request, ("four-bar", "slider-crank"), "")
    if kind and (kind == "slider-crank") != ("stroke" in task):
        raise UsageError(f"a {kind} has a {'stroke' if kind == 'slider-crank' else 'swing'} between its dead centers. Give that.")
    bounds = _bounded(request, ratio="most_ratio", transmission="least_transmission")
    return "crank between dead centers", _called("dead_centers", "between_dead_centers", **{**task, **_shared(request, "count"), **bounds})


def _described(request: SynthesisRequest, given: Any, what: str, example: str) -> dict[str, Any]:
    """Description of a task in a dict, in SI; a kind with a rocker has angles where one with a slider has lengths."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{what} is described by a dict, for example {example}.", name=what)
    rotary = request.kind is not None and "slider" not in str(request.kind).lower()
    unit = "m" if rotary and what == "dwell" else request.unit
    return {str(k).replace(" ", "_"): si(v, str(k).replace(" ", "_"), unit) for k, v in given.items()}


def _dwell(request: SynthesisRequest, given: Any) -> tuple[str, Found]:
    task = _described(request, given, "dwell", "{'stroke': '100 mm', 'dwell_angle': '80 deg'}")
    kind = {} if request.kind is None else {"kind": request.kind}
    bounds = _bounded(request, links="shortest longest", transmission="transmission", pivots="within")
    return "dwell linkage", _called("dwells", "dwells", **{**task, **kind, **_shared(request, "count", "seed"), **bounds})


def _straight(request: SynthesisRequest, given: Any) -> tuple[str, Found]:
    given = given if isinstance(given, Mapping) else {"length": given}
    task = _described(request, given, "straight", "{'length': '100 mm'}")
    kind = {} if request.kind is None else {"kind": request.kind}
    bounds = _bounded(request, links="shortest longest", transmission="transmission", ratio="most_ratio")
    return "straight line", _called("straight_lines", "straight_lines", **{**task, **kind, **_shared(request, "count", "seed"), **bounds})


_DISPATCH: dict[str, Callable[[SynthesisRequest, Any], tuple[str, Found]]] = {
    "path": _path,
    "function": _function,
    "poses": _poses,
    "dwell": _dwell,
    "straight": _straight,
    "dead_centers": _dead_centers,
}


# Wanted points, poses and crank angles as people give them: arrays, complex numbers, CSV files, texts with units; checked, in SI.


def length_unit(unit: Any) -> float:
    """Return the factor of a unit of length to meters."""
    factor, dimension = parse_unit(unit) if isinstance(unit, str) else (0.0, None)
    if dimension != LENGTH:
        raise UsageError(f"the unit of the points is a unit of length such as mm, m or in, not {unit!r}.", value=unit, name="unit")
    return factor


def path_points(given: Any, unit: str) -> tuple[Array, Array | None]:
    """Return points (n,) complex in m, and the crank angles in rad of a file that has them."""
    if isinstance(given, (str, os.PathLike)):
        rows = csv_rows(given, unit, ("x", "y", "angle"))
        return _checked(rows[:, 0] + 1j * rows[:, 1]), rows[:, 2] if rows.shape[1] > 2 else None
    factor = length_unit(unit)
    try:
        array = np.asarray(given)
        array = array.astype(complex) if array.dtype.kind == "c" else np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(
            "a path is an array of points (x, y), complex numbers, or the name of a CSV file with columns x and y.", name="path"
        ) from None
    if array.dtype.kind != "c":
        if array.ndim != 2 or array.shape[1] != 2:
            raise UsageError(
                f"a path is an array (n, 2) of points (x, y), or (n,) of complex numbers. This one has shape {array.shape}.", name="path"
            )
        array = array[:, 0] + 1j * array[:, 1]
    if array.ndim != 1:
        raise UsageError(f"complex points of a path are one row of numbers. These have shape {array.shape}.")
    return _checked(array * factor), None


def _checked(points: Array) -> Array:
    most_points = 10_000
    if len(points) > most_points:
        raise UsageError(f"the path has {counted(len(points), 'point')}. Take at most {most_points}.")
    bad = np.flatnonzero(~np.isfinite(points))
    if len(bad):
        raise UsageError(f"point {bad[0] + 1} of the path is not a finite number. Give every point as two numbers, x and y.", name="points")
    size = float(np.ptp(points.real) + np.ptp(points.imag)) if len(points) else 0.0
    distinct = 0 if not size > 0.0 else len(np.unique(np.round(points / (SAME_PLACE * size))))
    fewest = 3
    if distinct < fewest:
        raise UsageError(
            f"a path needs at least {fewest} points that differ. Here are {max(distinct, min(len(points), 1))}. Give more of them.",
            name="path",
        )
    return points


def is_closed(points: Array) -> bool:
    """True if the last point is the first one again."""
    return bool(abs(points[0] - points[-1]) <= SAME_PLACE * (np.ptp(points.real) + np.ptp(points.imag)))


def check_distinct(points: Array) -> None:
    """Raise UsageError if a point follows itself: without timing the crank would stay where it is."""
    size = float(np.ptp(points.real) + np.ptp(points.imag))
    again = np.flatnonzero(np.abs(np.diff(points)) <= SAME_PLACE * size)
    if len(again):
        k = int(again[0])
        raise UsageError(
            f"points {k + 1} and {k + 2} of the path are the same. Leave one out, or give the crank angles (timing=...).", name="points"
        )


def crank_angles(timing: Any, count: int, *, closed: bool, repeated: bool) -> Array | None:
    """Return the crank angles of the points in rad, from the timing of a request; None without one.

    "equal": the turn in equal steps; "120 deg": that much of a turn in equal steps; or one angle for each point.
    """
    if timing is None:
        return None
    if isinstance(timing, str):
        if timing.strip().lower() == "equal":
            steps = count - 1 if repeated else count
            return TURN * np.arange(count) / steps
        span = unit_kinds.quantity(timing, ANGLE, "the timing")
        if not 0.0 < abs(span) <= TURN * (1.0 + 1e-9):
            raise UsageError(
                f"the timing '{timing}' is not a part of a revolution: equal steps over more than 0 and at most 360 deg.", name=timing
            )
        return np.linspace(0.0, span, count)
    if not isinstance(timing, (Sequence, np.ndarray)):
        raise UsageError(
            'timing is "equal", the part of a turn ("120 deg"), or one crank angle for each point in rad or as text.', name="timing"
        )
    angles = np.array(
        [
            unit_kinds.quantity(x if isinstance(x, str) else float(x), ANGLE, "a crank angle")
            for x in np.asarray(timing, dtype=object).ravel()
        ]
    )
    if len(angles) != count:
        raise UsageError(
            f"the timing has {counted(len(angles), 'crank angle')} for {counted(count, 'point')}. Give one for each point.", name="timing"
        )
    return checked_angles(angles)


def checked_angles(angles: Array) -> Array:
    """Return crank angles that increase or decrease within one turn; UsageError for others."""
    steps = np.diff(angles)
    if not ((steps > 0.0).all() or (steps < 0.0).all()):
        k = int(np.flatnonzero(np.sign(steps) != np.sign(steps[0]))[0]) if steps[0] != 0.0 else 0
        raise UsageError(
            f"the crank angles of points {k + 1} and {k + 2} contradict the order of the points: they must increase from point to point, "
            "or decrease. Add 360 deg after an angle that passes zero.",
            name="timing",
        )
    if abs(angles[-1] - angles[0]) > TURN * (1.0 + 1e-9):
        raise UsageError(
            f"the crank angles span {abs(angles[-1] - angles[0]):.4g} rad, more than one turn. Numbers are in rad. Write '30 deg' for "
            "degrees.",
            name="timing",
        )
    return angles


def csv_rows(path: Any, unit: str, names: Sequence[str], needed: int = 2) -> Array:
    """Return the columns of a CSV file by these names in SI, or the first `needed` ones; lengths without their own unit are in `unit`."""
    most_bytes = 20_000_000
    try:
        table = files.read_csv_table(path, most_bytes)
    except files.Unreadable as problem:
        raise UsageError(str(problem)) from problem
    if not table.rows:
        raise UsageError(f"{table.path} has no rows of numbers. Write one point in each row: x, y.", name=table.path)
    lower = [name.lower() for name in table.names]
    if lower and all(name in lower for name in names[:needed]):
        chosen = [lower.index(name) for name in names if name in lower]
    else:
        chosen = list(range(min(table.width, needed)))
    if len(chosen) < needed:
        raise UsageError(f"{table.path} has {table.width} columns. Needed are {needed}: {', '.join(names[:needed])}.", name=table.path)
    factors = []
    for place, k in enumerate(chosen):
        wanted = ANGLE if place == 2 else LENGTH
        written = table.units[k] if table.units else ""
        if not written and wanted is ANGLE:
            raise UsageError(
                f"{table.path}: the column of angles needs its unit in the header, for example 'angle [deg]'.", name=table.path
            )
        dimension = parse_unit(written or unit)[1]
        if not matches(dimension, wanted):
            raise UsageError(f"{table.path}: '{written}' is not a unit of {'angle' if wanted is ANGLE else 'length'}.", name=written)
        factors.append(readings.unit_size(written or unit, wanted, f"{table.path}: column {place}"))
    out = np.empty((len(table.rows), len(chosen)))
    for i, (line, cells) in enumerate(table.rows):
        for j, k in enumerate(chosen):
            try:
                out[i, j] = float(cells[k]) * factors[j]
            except ValueError:
                raise UsageError(f"{table.path}:{line}: '{cells[k]}' is not a number.", name=cells[k]) from None
            if not np.isfinite(out[i, j]):
                raise UsageError(f"{table.path}:{line}: '{cells[k]}' is not a finite number.", name=cells[k])
    return out
