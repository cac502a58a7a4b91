"""Random mechanisms with rods between ball joints, drawn closed in world coordinates, and their accelerations in maximal coordinates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.closing.idle_motions import idle_motions

Model = dict[str, Any]


def _body(rng: np.random.Generator, **points: Any) -> Model:
    """A body of random mass near its points; the center lies off the line of a rod."""
    every = np.array(list(points.values()))
    spread = rng.uniform(0.5, 1.5, size=3)
    moments = 0.004 * np.array([spread[1] + spread[2], spread[0] + spread[2], spread[0] + spread[1]])
    com = every.mean(axis=0) + rng.normal(scale=0.02, size=3)
    return {
        "points": {k: np.asarray(p, dtype=float).tolist() for k, p in points.items()},
        "mass": float(rng.uniform(0.3, 1.2)),
        "com": com.tolist(),
        "inertia": moments.tolist(),
    }


def _hinge(first: str, second: str, point: str, axis: Any) -> Model:
    return {"type": "revolute", "connect": [f"{first}.{point}", f"{second}.{point}"], "axis": np.asarray(axis, dtype=float).tolist()}


def _ball(first: str, second: str, point: str) -> Model:
    return {"type": "spherical", "connect": [f"{first}.{point}", f"{second}.{point}"]}


def _model(name: str, bodies: Model, joints: Model, drives: list[str]) -> Model:
    drive = {x: {"torque": 0} for x in drives}
    head = {"name": name, "units": ["m", "kg", "rad"], "gravity": [0, 0, -9.81]}
    return {**head, "bodies": bodies, "joints": joints, "drive": drive}


def rssr(rng: np.random.Generator) -> Model:
    """Crank, rod, rocker in space."""
    A, D = np.zeros(3), np.array([0.4, 0.05, -0.1])
    B, C = np.array([0.02, 0.1, 0.03]), D + np.array([0.05, 0.25, 0.1])
    B, C = B + rng.normal(scale=0.02, size=3), C + rng.normal(scale=0.03, size=3)
    bodies = {
        "ground": {"points": {"A": A.tolist(), "D": D.tolist()}},
        "crank": _body(rng, A=A, B=B),
        "rod": _body(rng, B=B, C=C),
        "rocker": _body(rng, C=C, D=D),
    }
    axes = np.array([[1.0, 0, 0], [0, 0.2, 1.0]]) + rng.normal(scale=0.1, size=(2, 3))
    joints = {"A": _hinge("ground", "crank", "A", axes[0]), "B": _ball("crank", "rod", "B")}
    joints |= {"C": _ball("rod", "rocker", "C"), "D": _hinge("ground", "rocker", "D", axes[1])}
    return _model("rssr", bodies, joints, ["A"])


def ankle(rng: np.random.Generator) -> Model:
    """Two cranks, two rods on ball joints, a foot on two hinges."""
    O = np.zeros(3)
    bodies: Model = {"ground": {"points": {"O": O.tolist()}}, "cross": _body(rng, O=O)}
    joints: Model = {"pitch": _hinge("ground", "cross", "O", [0, 1, 0]), "roll": _hinge("cross", "foot", "O", [1, 0.1, 0])}
    ends = {}
    for side, y in (("l", 0.04), ("r", -0.04)):
        M = np.array([0.0, y, 0.25]) + rng.normal(scale=0.005, size=3)
        P, ends[f"Q{side}"] = M + np.array([-0.06, 0.01, 0.01]), np.array([-0.06, y, -0.02]) + rng.normal(scale=0.005, size=3)
        bodies["ground"]["points"][f"M{side}"] = M.tolist()
        bodies[f"crank{side}"] = _body(rng, **{f"M{side}": M, f"P{side}": P})
        bodies[f"rod{side}"] = _body(rng, **{f"P{side}": P, f"Q{side}": ends[f"Q{side}"]})
        joints[f"m{side}"] = _hinge("ground", f"crank{side}", f"M{side}", [0, 1, 0])
        joints |= {f"p{side}": _ball(f"crank{side}", f"rod{side}", f"P{side}"), f"q{side}": _ball(f"rod{side}", "foot", f"Q{side}")}
    bodies["foot"] = _body(rng, O=O, **ends)
    return _model("ankle", bodies, joints, ["ml", "mr"])


def platform(rng: np.random.Generator, between: str = "prismatic") -> Model:
    """A platform on six legs, each of two halves with a slide between them and ball joints at its ends."""
    bodies: Model = {"ground": {"points": {}}}
    joints: Model = {}
    ends = {}
    for k in range(6):
        low = np.array([np.cos(k // 2 * 2.1 + 0.3 * (k % 2)), np.sin(k // 2 * 2.1 + 0.3 * (k % 2)), 0.0])
        high = 0.5 * np.array([np.cos(k // 2 * 2.1 - 1.0 + 1.2 * (k % 2)), np.sin(k // 2 * 2.1 - 1.0 + 1.2 * (k % 2)), 2.0])
        low, high = low + rng.normal(scale=0.05, size=3), high + rng.normal(scale=0.05, size=3)
        middle = 0.5 * (low + high)
        bodies["ground"]["points"][f"L{k}"] = low.tolist()
        bodies[f"lower{k}"] = _body(rng, **{f"L{k}": low, f"S{k}": middle})
        bodies[f"upper{k}"] = _body(rng, **{f"S{k}": middle, f"H{k}": high})
        ends[f"H{k}"] = high
        joints[f"b{k}"] = _ball("ground", f"lower{k}", f"L{k}")
        slide = {
            "type": between,
            "connect": [f"lower{k}.S{k}", f"upper{k}.S{k}"],
            "axis": ((high - low) / np.linalg.norm(high - low)).tolist(),
        }
        joints |= {f"s{k}": slide, f"h{k}": _ball(f"upper{k}", "platform", f"H{k}")}
    bodies["platform"] = _body(rng, **ends)
    if between == "prismatic":
        return _model("platform", bodies, joints, [f"s{k}" for k in range(6)])
    return {**_model("platform", bodies, joints, []), "moved": [f"s{k}.travel" for k in range(6)]}


def floating(model: Model, rng: np.random.Generator) -> Model:
    """The same mechanism on a trunk that floats."""
    bodies, joints = dict(model["bodies"]), dict(model["joints"])
    places = bodies["ground"]["points"]
    bodies |= {"ground": {"points": {"W": [0.0, 0.0, 0.0]}}, "trunk": _body(rng, W=[0.0, 0.0, 0.0], **places)}
    for name, j in joints.items():
        joints[name] = {**j, "connect": [x.replace("ground.", "trunk.") for x in j["connect"]]}
    base = {"type": "free", "connect": ["ground.W", "trunk.W"]}
    return {**model, "bodies": bodies, "joints": {"base": base, **joints}}


def hinged(model: Model, mass: float = 1e-9) -> Model:
    """The same mechanism with every ball joint as three hinges through two bodies of next to no mass, as URDF files have them."""
    bodies, joints = dict(model["bodies"]), {}
    for name, j in model["joints"].items():
        if j["type"] != "spherical":
            joints[name] = j
            continue
        (first, point), (second, _) = (x.split(".") for x in j["connect"])
        chain = [first, f"{name}_u", f"{name}_v", second]
        place = model["bodies"][first]["points"][point]
        bodies |= {x: {"points": {point: place}, "mass": mass, "com": place, "inertia": [mass] * 3} for x in chain[1:3]}
        joints |= {f"{name}_{k}": _hinge(a, b, point, np.eye(3)[k]) for k, (a, b) in enumerate(itertools.pairwise(chain))}
    return {**model, "bodies": bodies, "joints": joints}


def spun(s: lw.System, st: lw.State, rng: np.random.Generator) -> lw.State:
    """The state with random idle spins added to its velocities."""
    loops = compiled_of(s).loops
    null = loops.factored(loops.at(st.q, st.v, 0.0, st.references)).null
    spins = [v for _, v in idle_motions(loops, st.q, null)]
    return s.state(st.q, st.v + sum((rng.normal() * v for v in spins), np.zeros(len(st.v))) * loops.columns)


# -------------------------------------------------------------------- maximal coordinates


class Maximal:
    """Accelerations of all bodies, six each, from Newton and Euler and the joints' conditions differentiated twice by hand."""

    def __init__(self, s: lw.System, st: lw.State):
        self.d, m = s.description, st.instant.motion
        self.pose = {self.d.bodies[0].name: (np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))}
        for i, n in enumerate(s.tree.nodes):
            R, o, V = np.asarray(m.X[i].R), np.asarray(m.X[i].p) + compiled_of(s).skel.origin(i), np.asarray(m.V[i])
            self.pose[n.body] = (R, o, V[:3], V[3:] + np.cross(V[:3], m.X[i].p))  # velocity of the body's origin
        self.bodies = [b.name for b in self.d.moving]
        M, force = np.zeros((6 * len(self.bodies),) * 2), np.zeros(6 * len(self.bodies))
        for k, b in enumerate(self.d.moving):
            R, _, w, _ = self.pose[b.name]
            I, c = R @ np.array(b.inertia, dtype=float) @ R.T, R @ np.array(b.com, dtype=float)
            at, mass, C = slice(6 * k, 6 * k + 6), float(b.mass or 0.0), _skew(c)
            M[at, at] = np.block([[I - mass * C @ C, mass * C], [-mass * C, mass * np.eye(3)]])
            push = mass * (np.array(self.d.gravity) - np.cross(w, np.cross(w, c)))
            force[at] = [*(np.cross(c, push) - np.cross(w, I @ w)), *push]
        rows, right = zip(*(x for j in self.d.joints for x in self._rows(j)), strict=True)
        J = np.array(rows)
        J_scaled = J / np.linalg.norm(J, axis=1, keepdims=True)
        right = np.array(right) / np.linalg.norm(J, axis=1)
        K = np.block([[M, J_scaled.T], [J_scaled, np.zeros((len(J), len(J)))]])
        self.a = np.linalg.lstsq(K, np.concatenate([force, right]), rcond=1e-13)[0][: len(M)]

    def acceleration(self, joint: str) -> float:
        """Of a hinge's angle or a slide's travel."""
        j = self.d.joint(joint.partition(".")[0])
        z, _ = self._axis(j)
        first, second = (self._of(b) for b in (j.first, j.second))
        if j.type == "revolute":
            return float(z @ (self._turning(second) - self._turning(first)))
        return float(z @ self._sliding(j))

    def _sliding(self, j: Any) -> np.ndarray:
        """Acceleration of the second body's point as the first sees it; along the axis that of the travel."""
        (_, w, _, _), r1, r2, d, u = self._ends(j)
        a = [self._point(b, r) for b, r in ((j.first, r1), (j.second, r2))]
        return a[1] - a[0] - np.cross(self._turning(self._of(j.first)), d) - np.cross(w, np.cross(w, d)) - 2.0 * np.cross(w, u)

    def _point(self, body: str, r: np.ndarray) -> np.ndarray:
        k, w = self._of(body), self.pose[body][2]
        if k < 0:
            return np.zeros(3)
        return self.a[6 * k + 3 : 6 * k + 6] + np.cross(self._turning(k), r) + np.cross(w, np.cross(w, r))

    def _of(self, body: str) -> int:
        return self.bodies.index(body) if body in self.bodies else -1

    def _turning(self, k: int) -> np.ndarray:
        return self.a[6 * k : 6 * k + 3] if k >= 0 else np.zeros(3)

    def _axis(self, j: Any) -> tuple[np.ndarray, np.ndarray]:
        """The axis of a joint and two directions across it."""
        z = self.pose[j.first][0] @ np.array(j.frame_first.rotation, dtype=float)[:, 0 if j.type == "prismatic" else 2]
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x /= np.linalg.norm(x)
        return z, np.array([x, np.cross(z, x)])

    def _ends(self, j: Any) -> Any:
        """Motion of the first body, arms of the joint's points, their distance and its rate as the first body sees it."""
        one, two = self.pose[j.first], self.pose[j.second]
        r1, r2 = one[0] @ np.array(j.frame_first.at, dtype=float), two[0] @ np.array(j.frame_second.at, dtype=float)
        d = two[1] + r2 - one[1] - r1
        u = two[3] + np.cross(two[2], r2) - one[3] - np.cross(one[2], r1) - np.cross(one[2], d)
        return (one[0], one[2], one[1], one[3]), r1, r2, d, u

    def _rows(self, j: Any) -> list[tuple[np.ndarray, float]]:
        """(row, right side) for each condition of a joint: row a = right."""
        (_, w1, _, _), r1, r2, d, u = self._ends(j)
        w2, (_z, across) = self.pose[j.second][2], self._axis(j)
        shift = np.zeros((3, 6 * len(self.bodies)))  # acceleration of the second point as the first body sees it
        turn = np.zeros_like(shift)
        for body, sign, r in ((j.first, -1.0, r1 + d), (j.second, 1.0, r2)):
            k = self._of(body)
            if k >= 0:
                shift[:, 6 * k : 6 * k + 6] = sign * np.concatenate([-_skew(r), np.eye(3)], axis=1)
                turn[:, 6 * k : 6 * k + 3] = sign * np.eye(3)
        known = np.cross(w1, np.cross(w1, r1 + d)) - np.cross(w2, np.cross(w2, r2)) + 2.0 * np.cross(w1, u)
        turned = np.cross(w1, w2 - w1)
        slides = np.eye(3) if j.type in ("revolute", "spherical") else across
        turns = {"spherical": np.zeros((0, 3)), "prismatic": np.eye(3)}.get(j.type, across)
        return [(e @ shift, float(e @ known)) for e in slides] + [(e @ turn, float(e @ turned)) for e in turns]


def _skew(r: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
