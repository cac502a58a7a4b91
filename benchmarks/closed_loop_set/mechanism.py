"""A case as a mechanism of Linkwright's, from which the converters make those of the other programs.

Frames of all bodies are the global axes at the start, so every vector of the file is taken as it is. Only joint frames need a
choice: z of a hinge and x of a slide along the file's axis, x and y of a universal joint along its two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from benchmarks.bench.cases import BenchCase
from benchmarks.closed_loop_set.cases import Case, Task
from linkwright.api import compiled_of
from linkwright.joints import create
from linkwright.mechanics.kinematics.motion import body_jacobian
from linkwright.model.description import GROUND, Body, CoilSpring, Damper, Description, Joint, Mat3, Placement, Point, Vec3
from linkwright.results.state import State
from linkwright.system.system import System


def bench_case(case: Case) -> BenchCase:
    """Return the case at its start as the other benchmarks have theirs; accelerations are found where they are asked for."""
    system, state = built(case)
    return BenchCase(case.name, system, state, efforts(case), np.zeros(system.tree.nv))


def efforts(case: Case) -> dict[str, float]:
    """Return constant torques and forces in joints, of body_a on body_b about the joint's axis."""
    return {f["joint"]: float(f["value"]) for f in case.raw.get("forces", []) if f["type"] in ("torque", "force")}


def built(case: Case) -> tuple[System, State]:
    """Return the system and the state of its start."""
    return _built(case.name, _Held(case))


class _Held:
    """A case as a key: equal to another of the same content."""

    def __init__(self, case: Case):
        self.case = case

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.case.raw == self.case.raw

    def __hash__(self) -> int:
        return hash(self.case.name)


@cache
def _built(name: str, held: _Held) -> tuple[System, State]:
    case = held.case
    system = System(description(case))
    q = system.start.q
    at = system.state(q, np.zeros(system.tree.nv))
    rows, twists = [], []
    motion = system.motion(at)
    given = case.raw["start"]["velocities"]
    for i, node in enumerate(system.tree.nodes):
        twist = given.get(node.body, {"angular": [0.0] * 3, "linear": [0.0] * 3})
        w, v = np.array(twist["angular"], float), np.array(twist["linear"], float)
        arm = np.asarray(compiled_of(system).skel.origin(i), float) - np.array(_body(case, node.body)["center"], float)
        rows.append(body_jacobian(compiled_of(system).skel, motion, i))
        twists.append(np.concatenate([w, v + np.cross(w, arm)]))
    J, V = np.concatenate(rows), np.concatenate(twists)
    v = np.linalg.lstsq(J, V, rcond=None)[0]
    return system, system.state(q, v)


def _body(case: Case, name: str) -> Mapping[str, Any]:
    return next(b for b in case.raw["bodies"] if b["name"] == name)


def description(case: Case) -> Description:
    """Return the mechanism in Linkwright's own data."""
    raw = case.raw
    joints = tuple(_joint(j) for j in raw["joints"])
    springs, dampers, points = _forces(raw.get("forces", []))
    bodies = [Body(GROUND, points=tuple(points.get(GROUND, ())))]
    for b in raw["bodies"]:
        marked = [Point(name, _vector(at)) for name, at in {"center": b["center"], **b.get("points", {})}.items()]
        every = (*marked, *points.get(b["name"], ()))
        bodies.append(Body(b["name"], every, float(b["mass"]), _vector(b["center"]), _matrix(b["inertia"])))
    return Description(
        raw["name"], tuple(bodies), joints, plane=raw.get("plane"), gravity=_vector(raw["gravity"]), springs=springs, dampers=dampers
    )


def _forces(forces: Sequence[Mapping[str, Any]]) -> tuple[tuple[CoilSpring, ...], tuple[Damper, ...], dict[str, list[Point]]]:
    """Return springs, dampers of joints and between points, and the points they need, by body."""
    springs, dampers, points = [], [], dict[str, list[Point]]()
    for f in forces:
        if f["type"] == "damping":
            dampers.append(Damper(f["name"], float(f["value"]), joint=f["joint"]))
        if f["type"] != "spring":
            continue
        ends = []
        for letter, end in zip("ab", f["between"], strict=True):
            name = f"{f['name']}_{letter}"
            points.setdefault(end["body"], []).append(Point(name, _vector(end["point"])))
            ends.append((end["body"], name))
        springs.append(CoilSpring(f["name"], (ends[0], ends[1]), float(f["stiffness"]), float(f["free_length"])))
        if f["damping"]:
            dampers.append(Damper(f"{f['name']}_damper", float(f["damping"]), between=(ends[0], ends[1])))
    return tuple(springs), tuple(dampers), points


def _joint(j: Mapping[str, Any]) -> Joint:
    axes = [np.array(a, float) for a in j.get("axes", [j["axis"]] if "axis" in j else [[0.0, 0.0, 1.0]])]
    first = {"prismatic": 0, "universal": 0}.get(j["type"], 2)  # which axis of the frame the file's axis is
    R = np.zeros((3, 3))
    R[:, first] = axes[0]
    second = (first + 1) % 3
    R[:, second] = axes[1] if len(axes) == 2 else _across(axes[0])
    R[:, 3 - first - second] = np.cross(axes[0], R[:, second]) * (1 if (second - first) % 3 == 1 else -1)
    frame = Placement(_vector(j["point"]), _matrix(R))
    return Joint(j["name"], j["type"], j["body_a"], j["body_b"], frame, frame)


def _across(axis: np.ndarray) -> np.ndarray:
    """Return a direction at right angles to an axis: a global axis where that is one."""
    least = np.eye(3)[int(np.argmin(np.abs(axis)))]
    found = np.cross(axis, least)
    return found / np.linalg.norm(found)


def _vector(x: Any) -> Vec3:
    return float(x[0]), float(x[1]), float(x[2])


def _matrix(x: Any) -> Mat3:
    return _vector(x[0]), _vector(x[1]), _vector(x[2])


# -------------------------------------------------------------------- quantities


def measured(task: Task, st: State, loads: Any = None) -> dict[str, float]:
    """Return all quantities of a task at a state of the case's mechanism; `loads` where efforts or reactions are asked for."""
    return {q.name: float(_measured(q.measure or {}, st, loads)) for q in task.quantities}


def _measured(m: Mapping[str, str], st: State, loads: Any) -> Any:
    what = m["what"]
    if what in ENERGIES:
        return st.instant.energies()[ENERGIES[what]]
    if what == "effort":
        return loads.tau[m["joint"]]
    if what in ("force", "moment"):
        wrench = loads.on(m["joint"], loads.problem.place.skel.tree.description.joint(m["joint"]).second)
        return getattr(wrench, what)["xyz".index(m["component"])]
    if what in RATES:
        return st[f"{m['joint']}{_part(st, m['joint'], what)}{RATES[what]}"]
    return st[f"{m['body']}.{m['point']}.{PLACES[what]}{m['component']}"]


def _part(st: State, joint: str, what: str) -> str:
    """Return the coordinate of a joint that has several."""
    kinds = create(st.skel.tree.description.joint(joint).type).q_names
    return "" if len(kinds) == 1 else f".{kinds[what.startswith('travel')]}"


ENERGIES = {"kinetic energy": "kinetic", "total energy": "total"}
RATES = {f"{of}{more}": key for of in ("rotation", "travel") for more, key in (("", ""), (" rate", ".v"), (" acceleration", ".a"))}
PLACES = {"position": "", "velocity": "v", "acceleration": "a"}
