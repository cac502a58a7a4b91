"""Random mechanisms that lose rank on the way, with their motion by a reduced equation that is regular there.

cranks               n parallel cranks on one coupler, pivots in line: a compound pendulum; n > 2 has redundant rows
sliders              crank and rod of equal length: the slider's pin passes the crank's bearing
antiparallelograms   crossed four-bar through both of its change points
kites                two pairs of equal links, through the position in which two pins coincide
parallelograms       two parallelograms, one on the coupler of the other: a double pendulum
sarrus               chains of three hinges at random angles, through flat and stretched positions
deltas               translational platforms on three R-U-U legs

The planar ones also come in space, on revolute joints with axes in a random direction: three redundant rows a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from tests.simulation.translational_delta import Delta

Curve = Callable[[Any], tuple[Any, Any, Any, Any]]  # s -> x, y of a point of a body, cos and sin of its angle; analytic
STENCIL = np.array([672.0, -168.0, 32.0, -3.0]) / 840.0  # f'(0) of f(h) - f(-h) .. f(4h) - f(-4h)


class Link(NamedTuple):
    """A body in the plane: where it goes, its mass, center (from the point, at angle zero) and inertia about the center."""

    at: Curve
    mass: float
    com: tuple[float, float]
    inertia: float


class Case(NamedTuple):
    """A model, the speeds it starts with, and the value at the end that a channel must have risen to since the start."""

    name: str
    model: dict[str, Any]
    speeds: dict[str, float]
    seconds: float
    channel: str
    right: Any


def reduced(links: list[Link], gravity: np.ndarray, start: float, speed: float, seconds: float) -> float:
    """s at the end of M(s) s'' + M'(s) s'^2 / 2 + V'(s) = 0, with M and V of bodies that follow s."""

    def terms(s: float) -> tuple[float, float]:
        mass, slope = 0.0, 0.0
        for link in links:
            x, y, c, d = (complex(z) for z in link.at(s + 1e-30j))
            (u, w), turn = link.com, float((c.real * d.imag - d.real * c.imag) * 1e30)
            v = np.array([(x + c * u - d * w).imag, (y + d * u + c * w).imag]) * 1e30
            mass += link.mass * float(v @ v) + link.inertia * turn**2
            slope -= link.mass * float(gravity @ v)
        return mass, slope

    def rates(t: float, y: np.ndarray) -> list[float]:
        h = 4e-3
        mass, slope = terms(y[0])
        bend = sum(w * (terms(y[0] + k * h)[0] - terms(y[0] - k * h)[0]) for k, w in enumerate(STENCIL, start=1)) / h
        return [y[1], -(0.5 * bend * y[1] ** 2 + slope) / mass]

    return float(solve_ivp(rates, (0.0, seconds), [start, speed], "DOP853", rtol=1e-12, atol=1e-13).y[0, -1])


# -------------------------------------------------------------------- models


class Plane:
    """A planar mechanism as a model in its plane, or in space with the plane turned at random."""

    def __init__(self, rng: np.random.Generator, space: bool) -> None:
        self.rng, self.space = rng, space
        q = rng.normal(size=4)
        w, x, y, z = q / np.linalg.norm(q)
        turned = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        ]
        self.R = np.array([*turned, [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]).T
        self.bodies: dict[str, Any] = {"ground": {"points": []}}
        self.drawing: dict[str, Any] = {}
        self.joints: dict[str, Any] = {}
        self.links: list[Link] = []
        self.gravity = rng.normal(size=2) * 7.0

    def place(self, p: Any) -> list[float]:
        return [float(x) for x in (self.R @ np.array([*p, 0.0]) if self.space else p)]

    def point(self, name: str, p: Any, *bodies: str) -> None:
        self.drawing[name] = self.place(p)
        for body in bodies:
            self.bodies.setdefault(body, {"points": []})["points"].append(name)

    def body(self, name: str, at: Curve, s: float, com: tuple[float, float], mass: float | None = None) -> None:
        """A body with random mass and inertia; `com` from its point, along its own axes."""
        mass, inertia = self.rng.uniform(0.5, 2.0) if mass is None else mass, float(self.rng.uniform(0.01, 0.05))
        x, y, c, d = (float(np.real(z)) for z in at(s))
        center = (x + c * com[0] - d * com[1], y + d * com[0] + c * com[1])
        I = self.R @ np.diag([0.7 * inertia, 0.8 * inertia, inertia]) @ self.R.T
        given = inertia if not self.space else [[float(I[min(i, j), max(i, j)]) for j in range(3)] for i in range(3)]
        self.bodies.setdefault(name, {"points": []}).update(mass=float(mass), com=self.place(center), inertia=given)
        self.links.append(Link(at, float(mass), com, inertia))

    def hinge(self, name: str, first: str, second: str, at: str) -> None:
        self.joints[name] = {"type": "revolute", "between": [first, second], "at": at, **self._axis([0.0, 0.0, 1.0])}

    def slide(self, name: str, first: str, second: str, at: str, angle: float) -> None:
        along = [float(np.cos(angle)), float(np.sin(angle)), 0.0]
        given = {"axis": [float(x) for x in self.R @ along]} if self.space else {"axis": along[:2]}
        self.joints[name] = {"type": "prismatic", "between": [first, second], "at": at, **given}

    def _axis(self, axis: list[float]) -> dict[str, Any]:
        return {"axis": [float(x) for x in self.R @ axis]} if self.space else {}

    def model(self, name: str) -> dict[str, Any]:
        across = 3.0 if self.space else 0.0  # gravity along the axes is carried by the joints
        gravity = [float(x) for x in self.R @ np.array([*self.gravity, across])] if self.space else [float(x) for x in self.gravity]
        plane = {} if self.space else {"plane": "xy"}
        return {"name": name, **plane, "gravity": gravity, "drawing": self.drawing, "bodies": self.bodies, "joints": self.joints}

    def case(self, name: str, s: float, speed: float, seconds: float, sign: float = 1.0) -> Case:
        right = sign * (reduced(self.links, self.gravity, s, speed, seconds) - s)
        label = f"{name} in {'space' if self.space else 'the plane'}"
        return Case(label, self.model(name), {"A": sign * speed}, seconds, "A", right)


def e(s: Any) -> tuple[Any, Any]:
    return np.cos(s), np.sin(s)


def unit(x: Any, y: Any) -> tuple[Any, Any]:
    size = np.sqrt(x * x + y * y)
    return x / size, y / size


def cranks(rng: np.random.Generator, space: bool, n: int) -> Case:
    plane = Plane(rng, space)
    line, length, s = rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 0.6), rng.uniform(0, 2 * np.pi)
    along = np.array(e(line))
    pivots = [x * along for x in (0.0, *np.cumsum(rng.uniform(0.2, 0.5, n - 1)))]
    for i, p in enumerate(pivots):
        name = f"crank{i}"
        plane.point(f"a{i}", p, "ground", name)
        plane.point(f"b{i}", p + length * np.array(e(s)), name, "coupler")
        plane.body(name, lambda x, p=p: (p[0] + 0 * x, p[1] + 0 * x, *e(x)), s, (rng.uniform(0, length), rng.uniform(-0.1, 0.1)))
        plane.hinge("A" if i == 0 else f"A{i}", "ground", name, f"a{i}")
        plane.hinge(f"B{i}", name, "coupler", f"b{i}")
    plane.body(
        "coupler",
        lambda x: (length * np.cos(x), length * np.sin(x), 1.0 + 0 * x, 0.0 * x),
        s,
        (rng.uniform(-0.2, 0.5), rng.uniform(-0.2, 0.2)),
    )
    return plane.case(f"{n} cranks", s, _speed(rng), 1.5)


def sliders(rng: np.random.Generator, space: bool) -> Case:
    plane = Plane(rng, space)
    L, line, s = rng.uniform(0.2, 0.6), rng.uniform(0, 2 * np.pi), rng.uniform(0, 2 * np.pi)

    def pin(x: Any) -> tuple[Any, Any]:
        c, d = e(line + x)
        return L * c, L * d

    def end(x: Any) -> tuple[Any, Any]:
        return 2 * L * np.cos(x) * np.cos(line), 2 * L * np.cos(x) * np.sin(line)

    plane.point("a", (0.0, 0.0), "ground", "crank")
    plane.point("b", [float(z) for z in pin(s)], "crank", "rod")
    plane.point("c", [float(z) for z in end(s)], "rod", "slider")
    plane.body("crank", lambda x: (0 * x, 0 * x, *e(line + x)), s, (rng.uniform(0, L), 0.05))
    plane.body("rod", lambda x: (*pin(x), *e(line - x)), s, (rng.uniform(0, 1.5 * L), -0.03))
    plane.body("slider", lambda x: (*end(x), 1.0 + 0 * x, 0 * x), s, (0.02, 0.01))
    plane.hinge("A", "ground", "crank", "a")
    plane.hinge("B", "crank", "rod", "b")
    plane.hinge("C", "rod", "slider", "c")
    plane.slide("P", "ground", "slider", "c", line)
    return plane.case("slider-crank", s, _speed(rng), 1.5)


def _fourbar(plane: Plane, rng: np.random.Generator, pins: Callable[[Any], tuple[Any, Any]], base: np.ndarray, s: float) -> None:
    """Pins B and C over s; the ground's are the origin and `base`."""

    def between(p: Callable[[Any], Any], q: Callable[[Any], Any]) -> Curve:
        return lambda x: (*p(x), *unit(q(x)[0] - p(x)[0], q(x)[1] - p(x)[1]))

    def a(x: Any) -> tuple[Any, Any]:
        return 0 * x, 0 * x

    def d(x: Any) -> tuple[Any, Any]:
        return base[0] + 0 * x, base[1] + 0 * x

    def b(x: Any) -> tuple[Any, Any]:
        return pins(x)[0]

    def c(x: Any) -> tuple[Any, Any]:
        return pins(x)[1]

    for name, f, bodies in (
        ("a", a, ("ground", "crank")),
        ("b", b, ("crank", "coupler")),
        ("c", c, ("coupler", "rocker")),
        ("d", d, ("ground", "rocker")),
    ):
        plane.point(name, [float(z) for z in f(s)], *bodies)
    for name, p, q in (("crank", a, b), ("coupler", b, c), ("rocker", d, c)):
        size = float(np.hypot(q(s)[0] - p(s)[0], q(s)[1] - p(s)[1]))
        plane.body(name, between(p, q), s, (rng.uniform(0.2, 0.8) * size, rng.uniform(-0.05, 0.05)))
    for name, first, second in (("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker"), ("D", "ground", "rocker")):
        plane.hinge(name, first, second, name.lower())


def antiparallelograms(rng: np.random.Generator, space: bool) -> Case:
    plane = Plane(rng, space)
    g, l, line, s = rng.uniform(0.5, 0.9), rng.uniform(0.2, 0.4), rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 2.8)
    along, across = np.array(e(line)), np.array(e(line + np.pi / 2))

    def turned(p: tuple[Any, Any]) -> tuple[Any, Any]:
        return p[0] * along[0] + p[1] * across[0], p[0] * along[1] + p[1] * across[1]

    def pins(x: Any) -> tuple[Any, Any]:
        half = unit((g - l) * np.cos(x / 2), -(g + l) * np.sin(x / 2))  # tan(b/2) = -(g + l)/(g - l) tan(a/2)
        c, d = half[0] ** 2 - half[1] ** 2, 2 * half[0] * half[1]
        B, C = (l * np.cos(x), l * np.sin(x)), (g + l * c, l * d)
        return turned(B), turned(C)

    _fourbar(plane, rng, pins, g * along, s)
    return plane.case("antiparallelogram", s, _speed(rng), 1.5)


def kites(rng: np.random.Generator, space: bool) -> Case:
    plane = Plane(rng, space)
    g = rng.uniform(0.2, 0.4)
    l, line, s = rng.uniform(1.3, 2.0) * g, rng.uniform(0, 2 * np.pi), rng.uniform(0.5, 5.5)

    def pins(x: Any) -> tuple[Any, Any]:
        far = g * np.cos(x / 2) + np.sqrt(l * l - (g * np.sin(x / 2)) ** 2)
        c, d = e(line + x / 2)
        return (g * np.cos(line + x), g * np.sin(line + x)), (far * c, far * d)

    _fourbar(plane, rng, pins, g * np.array(e(line)), s)
    return plane.case("kite", s, _speed(rng), 1.5)


def parallelograms(rng: np.random.Generator, space: bool) -> Case:
    """Two degrees of freedom: M = [[I1, K c], [K c, I2]] with c = cos(s1 - s2)."""
    plane = Plane(rng, space)
    lines, lengths, s = rng.uniform(0, 2 * np.pi, 2), rng.uniform(0.2, 0.5, 2), rng.uniform(0, 2 * np.pi, 2)
    widths = rng.uniform(0.2, 0.5, 2)
    arms = [lengths[i] * np.array(e(s[i])) for i in range(2)]
    inertia, moment = np.zeros(2), np.zeros(2)
    carried = 0.0
    base = [np.zeros(2), arms[0] + rng.uniform(-0.2, 0.2, 2)]
    for i, (below, above) in enumerate((("ground", "first"), ("first", "second"))):
        for j in range(2):
            name, p = f"crank{i}{j}", base[i] + j * widths[i] * np.array(e(lines[i]))
            plane.point(f"a{i}{j}", p, below, name)
            plane.point(f"b{i}{j}", p + arms[i], name, above)
            r = rng.uniform(0, lengths[i])
            plane.body(name, lambda x, p=p: (p[0], p[1], *e(x)), s[i], (r, 0.0))
            link = plane.links[-1]
            inertia[i] += link.inertia + link.mass * r * r
            moment[i] += link.mass * r
            carried += link.mass if i == 1 else 0.0
            plane.hinge("A" if (i, j) == (0, 0) else f"A{i}{j}", below, name, f"a{i}{j}")
            plane.hinge(f"B{i}{j}", name, above, f"b{i}{j}")
        offset = base[0] + arms[0] if i == 0 else base[1] + arms[1]
        plane.body(above, lambda x, p=offset: (p[0], p[1], 1.0, 0.0), s[i], (0.1, 0.05))
    first, second = (link.mass for link in (plane.links[2], plane.links[5]))
    inertia += [(first + second + carried) * lengths[0] ** 2, second * lengths[1] ** 2]
    moment += [(first + second + carried) * lengths[0], second * lengths[1]]
    K = lengths[0] * moment[1]

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        c, d = e(y[0] - y[1])
        load = [moment[i] * float(plane.gravity @ [-np.sin(y[i]), np.cos(y[i])]) for i in range(2)]
        right = np.array([load[0] - K * d * y[3] ** 2, load[1] + K * d * y[2] ** 2])
        return np.concatenate([y[2:], np.linalg.solve([[inertia[0], K * c], [K * c, inertia[1]]], right)])

    speeds = np.array([_speed(rng), _speed(rng)])
    end = solve_ivp(rates, (0.0, 1.0), [*s, *speeds], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    model = plane.model("parallelograms")
    return Case(
        f"parallelograms in {'space' if space else 'the plane'}", model, {"A": speeds[0], "A10": speeds[1]}, 1.0, "A", end[0] - s[0]
    )


def sarrus(rng: np.random.Generator, chains: int) -> Case:
    """Height by the elevation p of the first chain's lower link: sin p_j = (L_1 / L_j) sin p."""
    first = rng.uniform(0.2, 0.3)
    lengths = [first, *(first * rng.choice([1.0, rng.uniform(1.05, 1.4)], chains - 1))]
    turns = np.cumsum([rng.uniform(0, 6), *rng.uniform(0.8, 1.6, chains - 1)])
    p, speed = rng.uniform(0.4, 1.0), float(rng.uniform(3.0, 5.0) * rng.choice([-1, 1]))
    mass = float(rng.uniform(0.5, 2.0))
    bodies: dict[str, Any] = {"ground": {"points": []}, "top": {"points": ["T"], "mass": mass, "com": "T", "inertia": [0.02, 0.02, 0.03]}}
    drawing: dict[str, Any] = {"T": [0.0, 0.0, float(2 * first * np.sin(p))]}
    joints: dict[str, Any] = {}
    links = [Link(lambda x: (0 * x, 2 * first * np.sin(x), 1.0 + 0 * x, 0 * x), mass, (0.0, 0.0), 0.0)]
    for j, (L, turn) in enumerate(zip(lengths, turns, strict=True)):
        L, radius = float(L), float(rng.uniform(0.1, 0.4))
        out, axis = np.array([np.cos(turn), np.sin(turn), 0.0]), [float(np.sin(turn)), float(-np.cos(turn)), 0.0]

        def lower(x: Any, share: float = first / L) -> tuple[Any, Any]:
            up = share * np.sin(x)
            return (np.cos(x) if share == 1.0 else np.sqrt(1 - up * up)), up

        c, d = (float(z) for z in lower(p))
        up = np.array([0.0, 0.0, 1.0])
        for name, at in ((f"a{j}", radius * out), (f"b{j}", (radius + L * c) * out + L * d * up), (f"c{j}", radius * out + 2 * L * d * up)):
            drawing[name] = [float(z) for z in at]
        bodies["ground"]["points"].append(f"a{j}")
        bodies["top"]["points"].append(f"c{j}")
        masses = [float(x) for x in rng.uniform(0.3, 1.0, 2)]
        for name, ends, m in ((f"l{j}", [f"a{j}", f"b{j}"], masses[0]), (f"u{j}", [f"b{j}", f"c{j}"], masses[1])):
            bodies[name] = {"points": ends, "mass": m}
        links.append(Link(lambda x, f=lower: (0 * x, 0 * x, *f(x)), masses[0], (L / 2, 0.0), masses[0] * L * L / 12))
        links.append(
            Link(lambda x, f=lower, L=L: (L * f(x)[0], L * f(x)[1], -f(x)[0], f(x)[1]), masses[1], (L / 2, 0.0), masses[1] * L * L / 12)
        )
        for name, a, b, at in (
            ("A" if j == 0 else f"A{j}", "ground", f"l{j}", "a"),
            (f"B{j}", f"l{j}", f"u{j}", "b"),
            (f"C{j}", f"u{j}", "top", "c"),
        ):
            joints[name] = {"type": "revolute", "between": [a, b], "at": f"{at}{j}", "axis": axis}
    gravity = float(rng.uniform(5.0, 10.0))
    model = {"name": "sarrus", "gravity": [0, 0, -gravity], "drawing": drawing, "bodies": bodies, "joints": joints}
    right = reduced(links, np.array([0.0, -gravity]), p, speed, 1.0) - p
    return Case(f"sarrus of {chains} chains", model, {"A": speed}, 1.0, "A", right)


def deltas(rng: np.random.Generator) -> Case:
    drawing: dict[str, Any] = {}
    bodies: dict[str, Any] = {"ground": {"points": []}, "plat": {"points": ["G"]}}
    joints: dict[str, Any] = {}
    base, small = rng.uniform(0.15, 0.25), rng.uniform(0.06, 0.1)
    center = np.array([*rng.uniform(-0.03, 0.03, 2), -rng.uniform(0.5, 0.65)])
    drawing["G"] = [float(x) for x in center]
    for i in range(3):
        turn = 2 * np.pi * i / 3
        out, u = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([-np.sin(turn), np.cos(turn), 0.0])
        slope, arm = rng.uniform(-0.6, 0.2), rng.uniform(0.2, 0.35)
        a, hand = base * out, center + small * out + rng.uniform(-0.02, 0.02) * u
        knee = a + arm * (np.cos(slope) * out + np.array([0.0, 0.0, np.sin(slope)])) + rng.uniform(-0.03, 0.03) * u
        fore = hand - knee
        w = np.cross(u, fore - (fore @ u) * u)
        axes = [[float(x) for x in u], [float(x) for x in w / np.linalg.norm(w)]]
        drawing |= {f"a{i}": [float(x) for x in a], f"k{i}": [float(x) for x in knee], f"p{i}": [float(x) for x in hand]}
        bodies["ground"]["points"].append(f"a{i}")
        bodies["plat"]["points"].append(f"p{i}")
        for name, ends, middle in ((f"arm{i}", [f"a{i}", f"k{i}"], (a + knee) / 2), (f"fore{i}", [f"k{i}", f"p{i}"], (knee + hand) / 2)):
            bodies[name] = {"points": ends, **_solid(rng, middle)}
        joints[f"A{i}"] = {"type": "revolute", "between": ["ground", f"arm{i}"], "at": f"a{i}", "axis": axes[0]}
        joints[f"K{i}"] = {"type": "universal", "between": [f"arm{i}", f"fore{i}"], "at": f"k{i}", "axes": axes}
        joints[f"P{i}"] = {"type": "universal", "between": ["plat", f"fore{i}"], "at": f"p{i}", "axes": axes}
    bodies["plat"] |= _solid(rng, center)
    model = {"name": "delta", "gravity": [0, 0, -9.81], "drawing": drawing, "bodies": bodies, "joints": joints}
    speeds = rng.uniform(-2.0, 2.0, 3)
    right = Delta(model).displacement(speeds, 0.5)
    return Case("delta", model, {f"A{i}": float(x) for i, x in enumerate(speeds)}, 0.5, "plat.G", right)


def _solid(rng: np.random.Generator, com: np.ndarray) -> dict[str, Any]:
    A = rng.normal(size=(3, 3)) * 0.05
    I = (np.trace(A @ A.T) + 0.01) * np.eye(3) - A @ A.T
    return {
        "mass": float(rng.uniform(0.5, 3.0)),
        "com": [float(x) for x in com],
        "inertia": [[float(I[min(i, j), max(i, j)]) for j in range(3)] for i in range(3)],
    }


def _speed(rng: np.random.Generator) -> float:
    return float(rng.uniform(5.0, 9.0) * rng.choice([-1.0, 1.0]))


PLANNED: list[Callable[[np.random.Generator], Case]] = [
    *(lambda rng, n=n: cranks(rng, False, n) for n in (2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4)),
    *(lambda rng, n=n: cranks(rng, True, n) for n in (2, 2, 2, 3, 3, 3)),
    *(lambda rng, space=space: sliders(rng, space) for space in (False,) * 5 + (True,) * 4),
    *(lambda rng, space=space: antiparallelograms(rng, space) for space in (False,) * 4 + (True,) * 3),
    *(lambda rng, space=space: kites(rng, space) for space in (False,) * 4 + (True,) * 3),
    *(lambda rng, space=space: parallelograms(rng, space) for space in (False, False, True)),
    *(lambda rng, chains=chains: sarrus(rng, chains) for chains in (2, 2, 2, 3)),
    *(deltas for _ in range(2)),
]


SEEDS = {34: 1134, 48: 1051}  # in place of ones whose motion stays clear of singular positions


def case(number: int) -> Case:
    """One of the fifty."""
    return PLANNED[number](np.random.default_rng(SEEDS.get(number, 1000 + number)))
