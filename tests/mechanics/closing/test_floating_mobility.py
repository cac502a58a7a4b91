"""Mobility of floating robots with ball-ended push-rods, against ranks of maximal-coordinate constraints built here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.sweeps import sweep

LEG = {  # torso, hip roll and pitch, knee; the ankle is moved by a rocker (motor) on the shank and a rod on two balls
    "hip_roll": ("torso", "hip", (0, 0, 0), (1, 0, 0)),
    "hip_pitch": ("hip", "thigh", (0, 0.05, 0), (0, 1, 0)),
    "knee": ("thigh", "shank", (0.02, 0.05, -0.4), (0, 1, 0)),
    "ankle": ("shank", "foot", (0, 0.05, -0.8), (0, 1, 0)),
    "motor": ("shank", "rocker", (0.03, 0.05, -0.5), (0, 1, 0)),
}
ROD = ("rocker", "foot", (-0.05, 0.06, -0.49), (-0.06, 0.05, -0.79))


class Robot:
    """A floating tree of hinges with rods on two balls, as a model and as rows in maximal coordinates."""

    def __init__(self) -> None:
        self.hinges: dict[str, tuple[str, str, np.ndarray, np.ndarray]] = {}
        self.rods: dict[str, tuple[str, str, np.ndarray, np.ndarray]] = {}

    def leg(self, mark: str, side: float) -> Robot:
        at = np.array([0.0, side, 0.0])
        name = {b: b if b == "torso" else f"{mark}{b}" for b in ("torso", "hip", "thigh", "shank", "foot", "rocker")}
        for joint, (a, b, p, axis) in LEG.items():
            self.hinges[f"{mark}{joint}"] = (name[a], name[b], np.array(p) + at, np.array(axis, dtype=float))
        self.rods[f"{mark}rod"] = (name[ROD[0]], name[ROD[1]], np.array(ROD[2]) + at, np.array(ROD[3]) + at)
        return self

    @classmethod
    def random(cls, seed: int) -> Robot:
        rng = np.random.default_rng(seed)
        r, bodies = cls(), ["torso"]
        for k in range(int(rng.integers(3, 8))):
            axis = rng.normal(size=3)
            r.hinges[f"h{k}"] = (bodies[rng.integers(len(bodies))], f"b{k}", rng.normal(size=3), axis / np.linalg.norm(axis))
            bodies.append(f"b{k}")
        for k in range(int(rng.integers(1, 4))):
            a, b = rng.choice(len(bodies), 2, replace=False)
            r.rods[f"rod{k}"] = (bodies[a], bodies[b], rng.normal(size=3), rng.normal(size=3))
        return r

    @property
    def bodies(self) -> list[str]:
        return list(dict.fromkeys(["torso", *(b for _, b, *_ in self.hinges.values()), *self.rods]))

    def model(self, drives: list[str] | None = None) -> lw.Mechanism:
        joints: dict[str, Any] = {"base": {"type": "free", "between": ["ground", "torso"], "at": "O"}}
        drawing: dict[str, Any] = {"O": [0.01, 0.02, 0.03]}
        for name, (a, b, p, axis) in self.hinges.items():
            drawing[f"P{name}"] = p.tolist()
            joints[name] = {"type": "revolute", "between": [a, b], "at": f"P{name}", "axis": axis.tolist()}
        for name, (a, b, p, q) in self.rods.items():
            drawing |= {f"S{name}": p.tolist(), f"E{name}": q.tolist()}
            joints[f"S{name}"] = {"type": "spherical", "between": [a, name], "at": f"S{name}"}
            joints[f"E{name}"] = {"type": "spherical", "between": [name, b], "at": f"E{name}"}
        used = {b: [n for n, j in joints.items() if b in j["between"]] for b in ["ground", *self.bodies]}
        bodies = {b: {"points": [joints[n]["at"] for n in names]} for b, names in used.items()}
        inertia = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01]}
        bodies = {b: {**x, **({} if b == "ground" else {**inertia, "com": drawing[x["points"][0]]})} for b, x in bodies.items()}
        return lw.load({"name": "robot", "drawing": drawing, "bodies": bodies, "joints": joints, "drive": drives or []})

    def counted(self) -> tuple[int, int]:
        """(freedoms, idle): nullity of the rows over all bodies' twists at the origin, less the spins of rods about their own lines."""
        index = {b: slice(6 * i, 6 * i + 6) for i, b in enumerate(self.bodies)}
        size = 6 * len(index)

        def velocity(b: str, p: np.ndarray) -> np.ndarray:
            x, y, z = p
            out = np.zeros((3, size))
            out[:, index[b]] = np.hstack([[[0, z, -y], [-z, 0, x], [y, -x, 0]], np.eye(3)])  # v + w x p
            return out

        rows = []
        for a, b, p, axis in self.hinges.values():
            rows.append(velocity(a, p) - velocity(b, p))
            turn = np.zeros((3, size))
            turn[:, index[a]], turn[:, index[b]] = np.eye(3, 6), -np.eye(3, 6)
            rows.append(np.linalg.svd(axis[None])[2][1:] @ turn)  # across the axis
        spins = []
        for name, (a, b, p, q) in self.rods.items():
            rows += [velocity(a, p) - velocity(name, p), velocity(b, q) - velocity(name, q)]
            line = (q - p) / np.linalg.norm(q - p)
            spin = np.zeros(size)
            spin[index[name]] = [*line, *np.cross(p, line)]
            spins.append(spin)
        J = np.concatenate(rows)
        assert np.abs(J @ np.array(spins).T).max() < 1e-12  # they are motions indeed
        idle = int(np.linalg.matrix_rank(np.array(spins)))
        return size - int(np.linalg.matrix_rank(J, tol=1e-9)) - idle, idle


def test_a_floating_leg_with_a_ball_ended_push_rod_has_ten_freedoms_and_one_idle() -> None:
    r = Robot().leg("", 0.0)
    found = r.model().system.mobility
    assert (found.freedoms, len(found.idle)) == r.counted() == (10, 1)
    assert found.idle == (("rod",),)


def test_two_legs_on_one_torso() -> None:
    r = Robot().leg("left_", 0.1).leg("right_", -0.1)
    found = r.model().system.mobility
    assert (found.freedoms, len(found.idle)) == r.counted() == (14, 2)
    assert set(found.idle) == {("left_rod",), ("right_rod",)}


def test_control_authority_and_the_undriven_joint_of_a_floating_leg() -> None:
    drives = ["hip_roll", "hip_pitch", "knee", "motor"]
    m = Robot().leg("", 0.0).model(drives)
    reach = m.system.controllable(m.system.start)
    assert reach.freedoms == 10 and "4 drives move 4 degrees of freedom of 10" in str(reach)
    text = str(m.info())
    assert "6 more degrees of freedom than drives" in text and "joint base can still move" in text


@sweep("seed", range(12), now=[0, 3, 5, 7])
def test_random_floating_robots(seed: int) -> None:
    r = Robot.random(seed)
    found = r.model().system.mobility
    assert (found.freedoms, len(found.idle)) == r.counted()
    assert {group for group in found.idle} == {(name,) for name in r.rods}


TELESCOPE = {  # a leg of two bodies between balls on ground and on a hinged arm; the slide guides the angle or not
    "drawing": {"A": [0, 0, 0], "B": [0.5, 0, 0], "C": [0.1, 0.2, 0.9], "M": [0.3, 0.1, 0.45]},
    "bodies": {
        "ground": {"points": ["A", "B"]}, "arm": {"points": ["A", "C"]},
        "low": {"points": ["B", "M"]}, "high": {"points": ["M", "C"]},
    },
    "joints": {
        "A": {"type": "revolute", "between": ["ground", "arm"], "at": "A", "axis": [0, 1, 0]},
        "B": {"type": "spherical", "between": ["ground", "low"], "at": "B"},
        "C": {"type": "spherical", "between": ["high", "arm"], "at": "C"},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("slide", "idle"),
    [("prismatic", {("low", "high")}), ("cylindrical", {("low",), ("high",)})],
)
def test_a_telescopic_leg_spins_as_a_whole_or_in_its_halves(slide: str, idle: set[tuple[str, ...]]) -> None:
    joints = {**TELESCOPE["joints"], "M": {"type": slide, "between": ["low", "high"], "at": "M", "axis": [-0.4, 0.2, 0.9]}}
    found = lw.load({"name": "leg", **TELESCOPE, "joints": joints}).system.mobility
    assert found.freedoms == 1 and set(found.idle) == idle


def test_motions_inside_a_group_between_balls_are_no_spins() -> None:
    """An arm of two hinges that hangs on ground by a ball, with a push-rod on it: only the rod idles; the arm swings (3 + 1 - 1)."""
    at = {"O": [0, 0, 0], "H": [0.5, 0, 0], "K": [0.4, 0.2, 0.3], "S": [0.1, 0.1, 0.3], "E": [0.8, 0.1, 0.4]}
    found = lw.load({
        "name": "arm", "drawing": at,
        "bodies": {
            "ground": {"points": ["O"]}, "upper": {"points": ["O", "H", "S"]}, "lower": {"points": ["H", "E", "K"]},
            "tool": {"points": ["K"]}, "rod": {"points": ["S", "E"]},
        },
        "joints": {
            "O": {"type": "spherical", "between": ["ground", "upper"], "at": "O"},
            "H": {"type": "revolute", "between": ["upper", "lower"], "at": "H", "axis": [0, 1, 0]},
            "K": {"type": "revolute", "between": ["lower", "tool"], "at": "K", "axis": [0, 0, 1]},
            "S": {"type": "spherical", "between": ["upper", "rod"], "at": "S"},
            "E": {"type": "spherical", "between": ["rod", "lower"], "at": "E"},
        },
    }).system.mobility  # fmt: skip
    assert (found.freedoms, found.idle) == (4, (("rod",),))  # ball 3, tool 1; the rod stops the hinge H


def counted_freedoms(points: dict[str, list[float]], bodies: dict[str, list[str]], joints: dict[str, Any], **more: Any) -> tuple[int, Any]:
    model = {"name": "m", "drawing": points, "bodies": {b: {"points": p} for b, p in bodies.items()}, **more}
    found = lw.load({**model, "joints": {n: {"at": n, "type": "spherical", **j} for n, j in joints.items()}}).system.mobility
    return found.freedoms, found.idle


def test_a_body_on_a_free_joint_and_two_push_rods_to_ground_turns_about_its_balls() -> None:
    """6 - 2 rods: four freedoms; the turn about the line C D moves no rod and is one of them, because the box is the base."""
    points = {"O": [0.01, 0.02, 0.03], "A": [1, 0, 0], "B": [0, 1, 0.2], "C": [0.4, 0.1, 0.5], "D": [0.1, 0.4, 0.6]}
    bodies = {"ground": ["O", "A", "B"], "box": ["O", "C", "D"], "r1": ["A", "C"], "r2": ["B", "D"]}
    joints = {
        "O": {"type": "free", "between": ["ground", "box"]}, "A": {"between": ["ground", "r1"]}, "C": {"between": ["r1", "box"]},
        "B": {"between": ["ground", "r2"]}, "D": {"between": ["r2", "box"]},
    }  # fmt: skip
    assert counted_freedoms(points, bodies, joints) == (4, (("r1",), ("r2",)))


def test_a_robot_drawn_from_its_foot_does_not_idle_on_its_ankle() -> None:
    """Foot 6, ball ankle with one push-rod 3 - 1, two hinges above: 10. The shank turns about the line K C with all it carries."""
    points = {"O": [0.01, 0.02, 0.03], "K": [0, 0, 0.1], "A": [0.1, 0.1, 0.1], "C": [0.1, 0.12, 0.4], "H": [0, 0, 0.5], "I": [0, 0.1, 0.5]}
    bodies = {"ground": ["O"], "foot": ["O", "K", "A"], "shank": ["K", "C", "H", "I"], "rod": ["A", "C"], "left": ["H"], "right": ["I"]}
    joints = {
        "O": {"type": "free", "between": ["ground", "foot"]}, "K": {"between": ["foot", "shank"]},
        "A": {"between": ["foot", "rod"]}, "C": {"between": ["rod", "shank"]},
        "H": {"type": "revolute", "axis": [0, 1, 0], "between": ["shank", "left"]},
        "I": {"type": "revolute", "axis": [0, 1, 0], "between": ["shank", "right"]},
    }  # fmt: skip
    assert counted_freedoms(points, bodies, joints) == (10, (("rod",),))


@pytest.mark.parametrize(("eye", "expected"), [("E", (2, ())), ("B", (1, (("flap",),)))])
def test_a_flap_on_two_balls_is_moved_by_a_cylinder_beside_its_line_only(eye: str, expected: Any) -> None:
    points = {"A": [0, 0, 0], "B": [0, 1, 0], "E": [0.5, 0.5, 0.1], "F": [0.3, 0.5, -0.6], "Q": [3, 0, 0]}
    bodies = {"ground": ["A", "B", "F", "Q"], "flap": ["A", "B", "E"], "pendulum": ["Q"]}
    joints = {
        "A": {"between": ["ground", "flap"]}, "B": {"between": ["ground", "flap"]},
        "Q": {"type": "revolute", "axis": [0, 1, 0], "between": ["ground", "pendulum"]},
    }  # fmt: skip
    assert counted_freedoms(points, bodies, joints, cylinders={"lift": {"between": ["ground.F", f"flap.{eye}"]}}) == expected
