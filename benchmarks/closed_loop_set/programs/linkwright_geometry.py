"""Linkwright on tasks of geometry: all assembly modes (`s.branches`) and synthesis (`lw.synthesize`), timed as a user calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import linkwright as lw
from benchmarks.bench.clocks import again_and_again
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.programs import NotOffered
from benchmarks.closed_loop_set.results import Answer

SECONDS = 0.5  # of repeating a call
MET = 1e-9  # m: a linkage whose links keep their lengths to this meets its points


def timed(call: Callable[[], Any], quick: bool) -> float:
    return again_and_again(call)(0.0 if quick else SECONDS) / 1e9


# -------------------------------------------------------------------- assembly modes


def platform(given: Mapping[str, Any]) -> lw.System:
    """Return a platform on driven cylinders, drawn above its base."""
    base, corners = given["base"], given["platform"]
    space = len(base[0]) == 3
    n = range(1, len(base) + 1)
    at = np.mean(base, axis=0) + float(np.mean(given["legs"])) * np.array([0.2, 0.3, 0.9] if space else [0.2, 0.5])
    drawing = {f"A{i}": list(p) for i, p in zip(n, base, strict=True)} | {f"B{i}": list(at + p) for i, p in zip(n, corners, strict=True)}
    model: dict[str, Any] = {
        "name": "platform on cylinders",
        "drawing": drawing,
        "bodies": {
            "ground": {"points": [f"A{i}" for i in n]},
            "platform": {"points": [f"B{i}" for i in n], "mass": 1, "com": "B1", "inertia": [0.1, 0.1, 0.1] if space else 1},
        },
        "joints": {"base": {"type": "free" if space else "planar", "between": ["ground", "platform"], "at": "B1"}},
        "cylinders": {f"leg{i}": {"between": [f"ground.A{i}", f"platform.B{i}"]} for i in n},
        "drive": [f"leg{i}" for i in n],
    }
    return lw.compile(lw.load(model | ({} if space else {"plane": "xy"})))


def modes(case: Case, task: Task, quick: bool) -> list[Answer]:
    """Find all assembly modes, and read the pose of the platform in each."""
    s = platform(task.given)
    legs = {f"leg{i}": x for i, x in enumerate(task.given["legs"], 1)}
    found = s.branches(legs)
    space = len(task.given["base"][0]) == 3
    poses = sorted((_pose(s, st, space) for st in found), key=lambda pose: pose[0])
    columns = ("x", "y", "z", "qw", "qx", "qy", "qz") if space else ("x", "y", "angle")
    values = {f"mode {i} {c}": float(v) for i, pose in enumerate(poses, 1) for c, v in zip(columns, pose, strict=True)}
    return [Answer(case.name, task.id, "s.branches", {"real modes": float(len(found)), **values}, timed(lambda: s.branches(legs), quick))]


def _pose(s: lw.System, st: lw.State, space: bool) -> list[float]:
    corners = np.array([st[f"platform.B{i}"] for i in (1, 2, 3)])
    if not space:
        return [*corners[0, :2], float(np.arctan2(*(corners[1] - corners[0])[1::-1]))]
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(s.pose(st, "platform").R).as_quat()
    return [*corners[0], *(np.array([w, x, y, z]) * (1.0 if w > 0.0 else -1.0))]


# -------------------------------------------------------------------- synthesis


def poses(case: Case, task: Task, quick: bool) -> list[Answer]:
    """Find all links through five poses: those of all linkages found."""

    def call() -> Any:
        return lw.synthesize(poses=task.given["poses"], unit="m", kind="four-bar", count=100)

    links: list[tuple[complex, complex]] = []
    pairs = set()
    for answer in call():
        pins = answer.linkage.pins
        pair = []
        for ground, moving in (("A", "B"), ("D", "C")):
            link = (pins[ground], pins[moving])
            known = next((i for i, x in enumerate(links) if abs(x[0] - link[0]) + abs(x[1] - link[1]) < 1e-6), None)
            if known is None:
                known = len(links)
                links.append(link)
            pair.append(known)
        pairs.add(frozenset(pair))
    values = {"links": float(len(links)), "four-bars": float(len(pairs))}
    for i, link in enumerate(sorted(links, key=lambda x: x[0].real), 1):
        values |= _places(f"link {i}", dict(zip(("ground", "moving"), link, strict=True)))
    return [Answer(case.name, task.id, "lw.synthesize(poses=)", values, timed(call, quick))]


def paths(case: Case, task: Task, quick: bool) -> list[Answer]:
    """Find four-bars for points, in the way that the task asks."""
    given = task.given
    ways = {"straight line": straight, "exact": nine, "least squares": fitted, "turns": exact}
    solve = next((way for key, way in ways.items() if key in given), None)
    if solve is None:
        raise NotOffered("gives neither exact points, turns of the crank, least squares nor a straight line")
    call, values, setting = solve(given)
    return [Answer(case.name, task.id, setting, values, timed(call, quick))]


Solved = tuple[Callable[[], Any], dict[str, float], str]


def straight(given: Mapping[str, Any]) -> Solved:
    def call() -> Any:
        return lw.synthesize(straight={"length": "1 m", "share": given["share of the turn"]}, kind="hoeken", unit="m", count=1)

    best = call().best
    pins = best.linkage.pins
    crank = abs(pins["A"] - pins["O"])
    values = {
        "width over length": best.measures["straightness"],
        "ground over crank": abs(pins["C"] - pins["O"]) / crank,
        "coupler over crank": abs(pins["B"] - pins["A"]) / crank,
    }
    return call, values, "lw.synthesize(straight=)"


def nine(given: Mapping[str, Any]) -> Solved:
    def call() -> Any:
        return lw.synthesize(path=given["points"], unit="m", exact=True, count=200)

    classes = []
    for answer in call():
        a, b, c, d, p = (answer.linkage.pins[name] for name in "ABCDP")
        classes.append(sorted([a, d, a + (d - a) * (p - b) / (c - b)], key=lambda z: z.real))
    classes.sort(key=lambda pivots: sum(z.real for z in pivots))
    values = {"real classes": float(len(classes))}
    for i, pivots in enumerate(classes, 1):
        values |= _places(f"class {i}", {f"pivot {k}": z for k, z in enumerate(pivots, 1)})
    return call, values, "lw.synthesize(exact=True)"


def fitted(given: Mapping[str, Any]) -> Solved:
    held = "crank pivot" in given
    options: dict[str, Any] = {"bounds": {"links": (0, 50), "point": 50}}
    if held:
        options["hold"] = {"crank pivot": tuple(given["crank pivot"]), "ground angle": given["ground angle"], "crank offset": 0}

    def call() -> Any:
        return lw.synthesize(path=given["points"], timing=list(given["angles" if held else "turns"]), unit="m", count=1, **options)

    best = call().best
    if not held:
        return call, {"sum of squares": best.error}, "lw.synthesize(timing=)"
    a, b, c, d, p = (best.linkage.pins[name] for name in "ABCDP")
    arm = (p - b) / (c - b) * abs(c - b)
    lengths = {"ground": abs(d - a), "crank": abs(b - a), "coupler": abs(c - b), "rocker": abs(c - d)}
    values = {"sum of squares": best.error, **lengths, "point along": arm.real, "point across": arm.imag}
    return call, {k: float(v) for k, v in values.items()}, "lw.synthesize(timing=)"


def exact(given: Mapping[str, Any]) -> Solved:
    """Four-bars that meet timed points, with those of their cognates that have the same timing."""

    def call() -> Any:
        return lw.synthesize(path=given["points"], timing=list(given["turns"]), unit="m", count=40)

    points = np.array(given["points"]) @ [1.0, 1j]
    found: list[dict[str, complex]] = []
    for answer in call():
        if answer.error > MET**2:
            continue
        for linkage in (answer.linkage, *answer.cognates):
            for names in ("ABCD", "DCBA"):  # either ground link may have the timing of the crank
                pins = dict(zip("ABCD", (linkage.pins[name] for name in names), strict=True))
                if _meets(pins, points, given["turns"]) and not any(max(abs(pins[k] - x[k]) for k in "ABCD") < 1e-6 for x in found):
                    found.append(pins)
    found.sort(key=lambda pins: (round(pins["A"].real, 9), pins["D"].real))
    values = {"four-bars on one branch": float(len(found))}
    for i, pins in enumerate(found, 1):
        values |= _places(f"four-bar {i}", pins)
    return call, values, "lw.synthesize(timing=)"


def _meets(pins: Mapping[str, complex], points: np.ndarray, turns: Sequence[float]) -> bool:
    """True if the coupler point is at the points after these turns of A-B, on one branch."""
    b = pins["A"] + (pins["B"] - pins["A"]) * np.exp(1j * (np.array(turns) - turns[0]))
    turned = (points - b) / (points[0] - pins["B"])
    c = b + turned * (pins["C"] - pins["B"])
    senses = ((c - b).conj() * (pins["D"] - c)).imag > 0.0
    away = np.abs(np.abs(turned) - 1.0).max() + np.abs(np.abs(c - pins["D"]) - abs(pins["C"] - pins["D"])).max()
    return bool(away < MET and (senses.all() or not senses.any()))


def _places(label: str, pins: Mapping[str, complex]) -> dict[str, float]:
    return {f"{label} {name} {c}": float(v) for name, z in pins.items() for c, v in (("x", z.real), ("y", z.imag))}


KINDS = {"assembly modes": modes, "pose synthesis": poses, "path synthesis": paths}
