"""One instant of a spatial mechanism by all Newton-Euler equations at once, in mpmath, from the data of a file of the set.

Unknown are angular acceleration and acceleration of the center of every body. A joint gives rows of three forms, each with its second
derivative:

    points      p_b - p_a = 0                             (hinge, universal and ball joint)
    travel      n_a . (p_b - p_a) = 0                     (slide, cylindrical joint: across the axis)
    directions  n_a . m_b = constant                      (n fixed in a, m in b)

The multiplier of a row over points is the force on body b; that of directions a moment along m x n. Where accelerations are known,
J^T lam + B tau = M a + w x I w - f has all reactions and efforts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpmath import lu_solve, matrix, mpf

from benchmarks.closed_loop_set.references.writing import floats

GROUND = "ground"
Vector = list[Any]


def cross(a: Sequence[Any], b: Sequence[Any]) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def plus(a: Sequence[Any], b: Sequence[Any], factor: Any = 1) -> Vector:
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def scaled(a: Sequence[Any], factor: Any) -> Vector:
    return [x * factor for x in a]


def unit(a: Sequence[Any]) -> Vector:
    return scaled(a, 1 / dot(a, a) ** mpf("0.5"))


def across(axis: Sequence[Any]) -> tuple[Vector, Vector]:
    """Return two directions at right angles to an axis and to each other."""
    least = min(range(3), key=lambda k: abs(axis[k]))
    first = unit(cross(axis, [mpf(int(k == least)) for k in range(3)]))
    return first, cross(axis, first)


@dataclass(frozen=True)
class Row:
    """One equation of a joint: entries on (angular, linear) of body a and body b, its bias, and what its multiplier does to body b."""

    a: tuple[Vector, Vector]
    b: tuple[Vector, Vector]
    bias: Any
    force: Vector
    moment: Vector


@dataclass(frozen=True)
class Space:
    """A mechanism at an instant: bodies and joints as in a file of the set, numbers of mpmath. drives: joints whose motion is given."""

    bodies: Sequence[Mapping[str, Any]]
    joints: Sequence[Mapping[str, Any]]
    gravity: Vector
    drives: tuple[str, ...]

    def index(self, name: str) -> int:
        return [b["name"] for b in self.bodies].index(name)

    def joint(self, name: str) -> Mapping[str, Any]:
        return next(j for j in self.joints if j["name"] == name)

    def arm(self, joint: Mapping[str, Any], name: str) -> Vector:
        return [mpf(0)] * 3 if name == GROUND else plus(joint["point"], self.bodies[self.index(name)]["center"], -1)

    def motion(self, v: Sequence[Any], name: str) -> tuple[Vector, Vector]:
        """Return angular velocity and velocity of the center."""
        if name == GROUND:
            return [mpf(0)] * 3, [mpf(0)] * 3
        k = 6 * self.index(name)
        return list(v[k : k + 3]), list(v[k + 3 : k + 6])

    def rows(self, joint: Mapping[str, Any], v: Sequence[Any]) -> list[Row]:
        kind = joint["type"]
        axes = joint.get("axes") or ([joint["axis"]] if "axis" in joint else [])
        out = []
        if kind in ("revolute", "universal", "spherical"):
            out += [self._along(joint, v, [mpf(int(k == i)) for k in range(3)], fixed=False) for i in range(3)]
        if kind in ("prismatic", "cylindrical"):
            out += [self._along(joint, v, n, fixed=True) for n in across(axes[0])]
        if kind in ("revolute", "cylindrical", "prismatic"):
            out += [self._direction(joint, v, n, axes[0]) for n in across(axes[0])]
        if kind == "prismatic":
            out.append(self._direction(joint, v, *across(axes[0])))
        if kind == "universal":
            out.append(self._direction(joint, v, axes[0], axes[1]))
        return out

    def _along(self, joint: Mapping[str, Any], v: Sequence[Any], n: Vector, *, fixed: bool) -> Row:
        """Distance of the points along n; fixed: n turns with body a (the points coincide at this instant)."""
        ends, bias, rates = [], mpf(0), []
        for name, sign in ((joint["body_a"], -1), (joint["body_b"], 1)):
            r = self.arm(joint, name)
            w, u = self.motion(v, name)
            ends.append((scaled(cross(r, n), sign), scaled(n, sign)))
            bias += sign * dot(n, cross(w, cross(w, r)))
            rates.append(plus(u, cross(w, r)))
        if fixed:
            w, _ = self.motion(v, joint["body_a"])
            bias += 2 * dot(cross(w, n), plus(rates[1], rates[0], -1))
        return Row(ends[0], ends[1], bias, n, [mpf(0)] * 3)

    def _direction(self, joint: Mapping[str, Any], v: Sequence[Any], n: Vector, m: Vector) -> Row:
        """Angle between n of body a and m of body b."""
        wa, wb = self.motion(v, joint["body_a"])[0], self.motion(v, joint["body_b"])[0]
        c, nothing = cross(m, n), [mpf(0)] * 3
        turning = plus(cross(cross(wb, m), n), cross(m, cross(wa, n)))
        return Row((scaled(c, -1), nothing), (c, nothing), dot(plus(wb, wa, -1), turning), nothing, c)

    def driving(self, name: str, v: Sequence[Any]) -> Row:
        """Row of a drive's rate: turning about its axis, or travel along it."""
        joint = self.joint(name)
        n, nothing = list(joint["axis"]), [mpf(0)] * 3
        if joint["type"] == "prismatic":
            return self._along(joint, v, n, fixed=True)
        wa, wb = self.motion(v, joint["body_a"])[0], self.motion(v, joint["body_b"])[0]
        return Row((scaled(n, -1), nothing), (n, nothing), dot(cross(wa, n), plus(wb, wa, -1)), nothing, n)

    def system(self, v: Sequence[Any]) -> tuple[Any, list[Any], list[tuple[Mapping[str, Any], Row]]]:
        """Return the matrix of all rows, those of the drives last, their bias, and each row with its joint."""
        listed = [(j, row) for j in self.joints for row in self.rows(j, v)]
        listed += [(self.joint(name), self.driving(name, v)) for name in self.drives]
        J = matrix(len(listed), 6 * len(self.bodies))
        for i, (joint, row) in enumerate(listed):
            for name, entries in ((joint["body_a"], row.a), (joint["body_b"], row.b)):
                if name != GROUND:
                    for c, e in enumerate([*entries[0], *entries[1]]):
                        J[i, 6 * self.index(name) + c] = e
        return J, [row.bias for _, row in listed], listed

    def speeds(self, rates: Sequence[Any]) -> list[Any]:
        still = [mpf(0)] * (6 * len(self.bodies))
        J, _, listed = self.system(still)
        return list(lu_solve(J, matrix([mpf(0)] * (len(listed) - len(rates)) + list(rates))))

    def accelerations_of(self, v: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        J, bias, listed = self.system(v)
        wanted = [mpf(0)] * (len(listed) - len(given)) + list(given)
        return list(lu_solve(J, matrix([w - b for w, b in zip(wanted, bias, strict=True)])))

    def required(self, v: Sequence[Any], a: Sequence[Any]) -> list[Any]:
        """Return M a + w x I w - f, moments about the centers first."""
        out: list[Any] = []
        for body in self.bodies:
            k = 6 * self.index(body["name"])
            w, turning = list(v[k : k + 3]), list(a[k : k + 3])
            I = body["inertia"]
            out += plus([dot(row, turning) for row in I], cross(w, [dot(row, w) for row in I]))
            out += scaled(plus(a[k + 3 : k + 6], self.gravity, -1), body["mass"])
        return out

    def inverse(self, v: Sequence[Any], a: Sequence[Any]) -> tuple[dict[str, tuple[Vector, Vector]], list[Any]]:
        """Return forces and moments on body b of every joint (about its point), and the drive torques and forces."""
        J, _, listed = self.system(v)
        lam = lu_solve(J.T, matrix(self.required(v, a)))
        out = {j["name"]: ([mpf(0)] * 3, [mpf(0)] * 3) for j in self.joints}
        for (joint, row), size in zip(listed[: len(listed) - len(self.drives)], lam, strict=False):
            force, moment = out[joint["name"]]
            out[joint["name"]] = (plus(force, row.force, size), plus(moment, row.moment, size))
        efforts = list(lam)[len(listed) - len(self.drives) :]
        return out, efforts

    def inertia(self, speeds: Sequence[Any]) -> Any:
        """Return twice the kinetic energy of speeds."""
        out = mpf(0)
        for body in self.bodies:
            k = 6 * self.index(body["name"])
            w, u = list(speeds[k : k + 3]), list(speeds[k + 3 : k + 6])
            out += dot(w, [dot(row, w) for row in body["inertia"]]) + body["mass"] * dot(u, u)
        return out

    def potential(self) -> Any:
        return -sum(b["mass"] * dot(self.gravity, b["center"]) for b in self.bodies)


# -------------------------------------------------------------------- files


def parts(space: Space, v: list[Any], points: dict[str, dict[str, list[Any]]]) -> dict[str, Any]:
    """Return bodies, joints and start of a file of the set."""
    bodies, velocities = [], {}
    for k, b in enumerate(space.bodies):
        marked = {name: floats(at) for name, at in points.get(b["name"], {}).items()}
        bodies.append({"name": b["name"], "mass": float(b["mass"]), "center": floats(b["center"]),
                       "inertia": [floats(r) for r in b["inertia"]], "points": marked})  # fmt: skip
        velocities[b["name"]] = {"angular": floats(v[6 * k : 6 * k + 3]), "linear": floats(v[6 * k + 3 : 6 * k + 6])}
    joints = [{key: _plain(value) for key, value in j.items()} for j in space.joints]
    return {"bodies": bodies, "joints": joints, "start": {"velocities": velocities}}


def _plain(value: Any) -> Any:
    """Return a name, a vector or two vectors as a file has them."""
    if isinstance(value, str):
        return value
    return [_plain(x) for x in value] if isinstance(value[0], list) else floats(value)
