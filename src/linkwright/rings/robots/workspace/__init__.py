"""Workspace of a parallel robot: reach, singularities of type I and II as located curves and surfaces, and measures over its poses.

request           axes, drives' data, payload and limits as a caller gives them
pose_coordinates  pose coordinates by name
pose_solver       inverse kinematics of many poses at once, their Jacobians
working_modes     all working modes of a pose
grid              poses, edges and simplices
grid_states       states of all poses of one working mode
reach_ends        ends of the reach (type I) by arc length
zero_crossings    zeros of determinants and limits on edges
measures          conditioning, stiffness, efforts, speed and acceleration
mode_workspace    all of these for one working mode
reachable_places  places reached in any orientation
level_sets        curves, surfaces and their content from points on edges
inscribed         the largest circle or box free of singularities
result            the Workspace, of one or all working modes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.api import KINDS, Compiled, State, System, UsageError, compiled_of, counted, nearest, unit_kinds
from linkwright.rings.robots.workspace import measures, request
from linkwright.rings.robots.workspace.grid import PoseGrid
from linkwright.rings.robots.workspace.grid_states import filled
from linkwright.rings.robots.workspace.joint_margins import JointLimits
from linkwright.rings.robots.workspace.mode_workspace import ComputedMap, MapTask, computed
from linkwright.rings.robots.workspace.pose_coordinates import PoseCoordinates, pose_coordinates
from linkwright.rings.robots.workspace.pose_solver import PoseSolver, pose_solver
from linkwright.rings.robots.workspace.reachable_places import ReachablePlaces, reachable
from linkwright.rings.robots.workspace.result import Workspace, WorkspaceModes, axis
from linkwright.rings.robots.workspace.working_modes import working_modes

UNITS = {"type1": "", "type2": ""}
ABOUT = {
    "type1": "determinant of type I (pose held), 1 at the start",
    "type2": "determinant of type II (drives held), 1 at the start",
}

FIRST = 1.5  # half of the first window, in characteristic lengths
LARGER = 1.8
ROOM = 0.04  # share of the reach that is left free around it
NODES = {1: 61, 2: 25, 3: 13, 4: 9}


def workspace(
    system: System,
    over: Any,
    what: Any = None,
    *,
    orientations: Mapping[str, Any] | None = None,
    at: Mapping[str, Any] | None = None,
    drives: Any = None,
    start: State | None = None,
    modes: str = "start",
    limits: Any = None,
    **data: Any,
) -> Workspace | WorkspaceModes:
    """See `Mechanism.workspace`; `data` are its stiffness, speeds, efforts and payload."""
    core, freedoms = compiled_of(system), system.mobility.freedoms
    shared: dict[str, Any] = {"at": at, "drives": drives, "start": start, "modes": modes, "limits": limits}
    if orientations is not None:
        unfit = next((name for name, value in (("what", what), *data.items()) if value is not None), "")
        if unfit:
            why = f"{unfit} belongs to maps of one orientation, but orientations gives the reach in any of several."
            raise UsageError(f"{why} Leave one out.", name=unfit)
        return reach_in_any(core, freedoms, over, orientations, **shared)
    measured = "all" if what is None else what
    from linkwright.rings.robots.workspace.drive_space_map import drive_map, over_drives

    if over_drives(system.description, over):
        return drive_map(system, measured, over, {name: x for name, x in {**shared, **data}.items() if x is not None})
    return pose_map(core, freedoms, measured, over, **shared, **data)


def pose_map(
    core: Compiled,
    freedoms: int,
    what: Any,
    over: Any,
    *,
    at: Mapping[str, Any] | None = None,
    drives: Any = None,
    start: State | None = None,
    modes: str = "start",
    limits: Any = None,
    stiffness: Any = None,
    speeds: Any = None,
    efforts: Any = None,
    payload: Any = None,
) -> Workspace | WorkspaceModes:
    """Return measures over a grid of poses."""
    if modes not in ("start", "all"):
        raise UsageError(f"modes is 'start' (the working mode of the start) or 'all', not {modes!r}.", name="modes", value=modes)
    solver, names = _solver(core, freedoms, over, at, drives)
    here = core.start if start is None else start
    core.need_closed(here)
    pose = solver.rows(here.q[None]).c[0]
    base = _fixed(solver.coordinates, pose, at)
    ranges = JointLimits(core, request.joint_ranges(core, limits))
    data = request.robot_data(core, solver.drives, stiffness, speeds, efforts, payload)
    dynamic = all(b.mass is not None for b in core.description.bodies[1:])
    wanted = _measures(solver, data, dynamic, what)
    grid, notes = _grid(solver, here.q, pose, base, names, over, ranges)
    notes += (
        []
        if dynamic or not any(n in measures.effort_names(solver) for n in wanted)
        else ["bodies without `mass:` have no weight here: drive torques and forces hold the payload alone."]
    )
    task = MapTask(solver, grid, ranges, data, dynamic, wanted)
    if modes == "start":
        return _atlas(task, computed(task, here.q, pose), pose, 0, notes)
    found = working_modes(solver, here.q, pose, ranges if ranges.ranges else None)
    every = [_atlas(task, computed(task, q, pose), pose, k, notes) for k, q in enumerate(found.q)]
    return WorkspaceModes(tuple(every), found.starts, found.share, found.seldom)


def reach_in_any(
    core: Compiled,
    freedoms: int,
    over: Any,
    orientations: Mapping[str, Any],
    *,
    at: Mapping[str, Any] | None = None,
    drives: Any = None,
    start: State | None = None,
    modes: str = "start",
    limits: Any = None,
) -> Workspace:
    """Return the reach over poses in any of some orientations."""
    if not isinstance(orientations, Mapping) or not orientations:
        raise UsageError(
            f"orientations is a dict of ranges, {{'platform.angle': '-180..180 deg / 36'}}, not {orientations!r:.60}.",
            name="orientations",
            value=orientations,
        )
    if modes != "start":
        raise UsageError("orientations= is for one working mode, the mode of the start or of start=.", name="orientations")
    given = {n: None for n in request.names_over(over)} if not isinstance(over, Mapping) else dict(over)
    solver, _ = _solver(core, freedoms, [*given, *orientations], at, drives)
    turned = [n for n in orientations if n in solver.coordinates.names]
    names = [n for n in given if n in solver.coordinates.names]
    names = names or [n for n in solver.coordinates.names if n not in {*turned, *(at or {})}][:2]
    here = core.start if start is None else start
    core.need_closed(here)
    pose = solver.rows(here.q[None]).c[0]
    ranges = JointLimits(core, request.joint_ranges(core, limits))
    every = {**{n: given.get(n) for n in names}, **orientations}
    grid, notes = _grid(solver, here.q, pose, _fixed(solver.coordinates, pose, at), [*names, *turned], every, ranges, len(names))
    task = MapTask(solver, grid, ranges, measures.RobotData(), False, ())
    x = reachable(task, here.q, pose, len(names))
    if not x.refined:
        notes.append("the ends of the reach hold for the given orientations. Between them it may be a little larger.")
    return _reachable_atlas(task, x, pose, names, notes)


def _solver(core: Compiled, freedoms: int, over: Any, at: Any, drives: Any) -> tuple[PoseSolver, list[str]]:
    """The solver, and names of the axes: those in `over`, of a body or point alone its first two places."""
    if at is not None and not isinstance(at, Mapping):
        raise UsageError(f"at is a dict of fixed pose coordinates, {{'platform.angle': '20 deg'}}, not {at!r:.60}.", name="at", value=at)
    given = request.names_over(over)
    both = [n for n in given if n in (at or {})]
    if both:
        raise UsageError(f"'{both[0]}' is in over= and in at=: an axis is not fixed.", name=both[0])
    coordinates = pose_coordinates(core.description, [*given, *(at or {})], freedoms)
    names = [n for n in given if n in coordinates.names]
    if not names:
        names = [n for n in coordinates.names if n not in (at or {})][:2]
    if len(names) > request.MOST_AXES:
        raise UsageError(f"over: {counted(len(names), 'axis', 'axes')}; {request.MOST_AXES} at most. Fix others by at=.", name="over")
    return pose_solver(core, coordinates, core.named_drives(drives), freedoms), names


def _fixed(coordinates: PoseCoordinates, pose: np.ndarray, at: Mapping[str, Any] | None) -> np.ndarray:
    """The pose of the start with what `at` fixes."""
    out = pose.copy()
    for name, value in (at or {}).items():
        if name not in coordinates.names:
            raise UsageError(f"at: '{name}' is not a coordinate.", nearest(str(name), coordinates.names, "Coordinates"))
        k = coordinates.names.index(name)
        out[k] = unit_kinds.quantity(value, KINDS[coordinates.kinds[k]], f"at: '{name}'")
    return out


def _measures(solver: PoseSolver, data: measures.RobotData, dynamic: bool, what: Any) -> list[str]:
    known = measures.possible(data, dynamic, solver.coordinates.planar, solver.coordinates.parts)
    needs = {"stiffness": "stiffness=", "speed": "speeds=", "acceleration": "efforts= and masses", "effort_share": "efforts="}

    def missing(name: str) -> str:
        asked = next((x for key, x in needs.items() if name.endswith(key)), None)
        if name in measures.UNITS and asked is not None:
            return f"'{name}' needs {asked} of the drives: a value for all, or a dict by drive."
        return nearest(name, ["reach", "efforts", *measures.UNITS], "Measures").after(f"there is no measure '{name}'.")

    return request.wanted(what, known, measures.effort_names(solver), missing)


def _grid(
    solver: PoseSolver,
    q: np.ndarray,
    pose: np.ndarray,
    base: np.ndarray,
    names: Sequence[str],
    over: Any,
    limits: JointLimits,
    counted: int | None = None,
) -> tuple[PoseGrid, list[str]]:
    """The grid of poses, open ranges found; notes about them."""
    coordinates = solver.coordinates
    places = [coordinates.names.index(n) for n in names]
    given = [over.get(n) if isinstance(over, Mapping) else None for n in names]
    kinds = [coordinates.kinds[p] for p in places]
    count = len(names) if counted is None else counted
    described = solver.core.described
    known = [
        request.axis_values(n, x, kind, count, described, float(pose[p])) for n, x, kind, p in zip(names, given, kinds, places, strict=True)
    ]
    notes: list[str] = []
    if any(k is None for k in known):
        ends, beyond = window(solver, q, pose, base, places, known, limits)
        known = [np.linspace(*e, request.COUNTS[count]) if k is None else k for k, e in zip(known, ends, strict=True)]
        if beyond:
            notes.append(
                f"the reach continues beyond the window along {', '.join(names[i] for i in beyond)}: "
                "limits= of the drives bound it, or give ranges in over=."
            )
    values = [k for k in known if k is not None]
    total = int(np.prod([len(v) for v in values]))
    if total > request.MOST_POSES:
        raise UsageError(f"over: {total:,} poses; {request.MOST_POSES:,} at most. Give fewer values to some axes.", name="over")
    return PoseGrid(tuple(values), tuple(places), base), notes


def _atlas(task: MapTask, x: ComputedMap, pose: np.ndarray, mode: int, notes: Sequence[str]) -> Workspace:
    solver, grid = task.solver, task.grid
    efforts = {n: "N m" if n.endswith("torque") else "N" for n in measures.effort_names(solver)}
    units = {**UNITS, **measures.UNITS, **efforts}
    about = {**ABOUT, **measures.ABOUT, **{n: f"{n}: holds the robot and its payload" for n in efforts}}
    shape = grid.shape
    return Workspace(
        **_poses(solver, grid, pose, ()),
        reach=x.inside.reshape(shape),
        values={n: v.reshape(shape) for n, v in x.values.items()},
        units={n: units[n] for n in x.values},
        about={n: about[n] for n in x.values},
        q=np.where(x.inside[:, None], x.reached.q, np.nan).reshape(*shape, -1),
        why=x.why.reshape(shape),
        reasons=x.reasons,
        located=tuple(x.located),
        mode=mode,
        notes=tuple([*notes, *_notes(x.inside, x.reached.lost)]),
    )


def _reachable_atlas(task: MapTask, x: ReachablePlaces, pose: np.ndarray, names: Sequence[str], notes: Sequence[str]) -> Workspace:
    solver, whole = task.solver, task.grid
    grid = PoseGrid(whole.axes[: len(names)], whole.places[: len(names)], whole.base)
    return Workspace(
        **_poses(solver, grid, pose, whole.places),
        reach=x.inside.reshape(grid.shape),
        values={"orientation_share": np.where(x.inside, x.share, np.nan).reshape(grid.shape)},
        units={"orientation_share": ""},
        about={"orientation_share": "share of the given orientations that are reached"},
        q=np.where(x.inside[:, None], x.q, np.nan).reshape(*grid.shape, -1),
        why=x.why.reshape(grid.shape),
        reasons=x.reasons,
        located=tuple(x.located),
        notes=tuple([*notes, *_notes(x.inside, x.lost)]),
    )


def _poses(solver: PoseSolver, grid: PoseGrid, pose: np.ndarray, varied: Sequence[int]) -> dict[str, Any]:
    """Fields of a Workspace that describe its poses; coordinates in `varied` are neither axes nor fixed."""
    coordinates, d = solver.coordinates, solver.core.description
    fixed = [k for k in range(len(coordinates.names)) if k not in (*grid.places, *varied)]
    off = coordinates.off(grid.base[None].copy(), pose[None])[:, fixed]
    return {
        "name": d.name,
        "axes": tuple(axis(coordinates.names[p], v, coordinates.kinds[p], d.units) for p, v in zip(grid.places, grid.axes, strict=True)),
        "fixed": {coordinates.names[k]: float(grid.base[k]) + 0.0 for k in fixed},
        "home": pose[list(grid.places)],
        "of_start": bool(np.abs(off).max(initial=0.0) < 1e-9),
        "file_units": tuple(d.units),
    }


def _notes(inside: np.ndarray, lost: int) -> list[str]:
    said = []
    if not inside.any():
        said.append("no pose of the grid is in reach in this working mode: choose other ranges, another at=, or modes='all'.")
    if lost:
        said.append(
            f"the end of the reach was not located on {counted(lost, 'edge')}, as with two legs stretched at once: type I has gaps there."
        )
    return said


# Ranges of axes that were left open: a window around the start, enlarged until the reach ends in it, then trimmed to the reach.


def window(
    solver: PoseSolver,
    q: np.ndarray,
    pose: np.ndarray,
    base: np.ndarray,
    places: Sequence[int],
    known: Sequence[np.ndarray | None],
    limits: JointLimits,
) -> tuple[list[tuple[float, float]], list[int]]:
    """Return (low, high) of each axis, known or found, and the axes on which the reach continues beyond the window."""
    kinds = [solver.coordinates.kinds[p] for p in places]
    half = FIRST * solver.core.loops.kappa
    ends = [
        (float(k[0]), float(k[-1]))
        if k is not None
        else (base[p] - np.pi, base[p] + np.pi)
        if kind == "angle"
        else (pose[p] - half, pose[p] + half)
        for k, p, kind in zip(known, places, kinds, strict=True)
    ]
    open_axes = [i for i, k in enumerate(known) if k is None]
    most = 5
    for attempt in range(most + 1):
        grid = PoseGrid(tuple(np.linspace(*e, NODES[len(places)]) for e in ends), tuple(places), base)
        found = filled(solver, grid, q, pose)
        inside = found.ok.copy()
        if limits.ranges and inside.any():
            inside[inside] = limits.least(found.q[inside]) >= 0.0
        inside = inside.reshape(grid.shape)
        spans = [np.flatnonzero(inside.any(axis=tuple(a for a in range(inside.ndim) if a != i))) for i in range(inside.ndim)]
        touching = [
            i for i in open_axes if kinds[i] == "length" and len(spans[i]) and (spans[i][0] == 0 or spans[i][-1] == grid.shape[i] - 1)
        ]
        if not touching or attempt == most:
            break
        for i in touching:
            middle, reach = 0.5 * sum(ends[i]), 0.5 * (ends[i][1] - ends[i][0])
            ends[i] = (middle - LARGER * reach, middle + LARGER * reach)
    for i in open_axes:
        if len(spans[i]) and i not in touching:
            values = grid.axes[i]
            low, high = values[max(spans[i][0] - 1, 0)], values[min(spans[i][-1] + 1, len(values) - 1)]
            room = ROOM * (high - low)
            ends[i] = (float(low - room), float(high + room)) if kinds[i] == "length" else (float(low), float(high))
    return ends, touching
