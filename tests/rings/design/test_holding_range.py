"""Statics of dry friction: closed forms, inverse dynamics at creeping speed, brute force, self-locking, and what is refused."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwright as lw
from linkwright.rings import cli
from linkwright.rings.design import friction_limits
from linkwright.rings.design.friction_limits import AffineLoads, limits
from tests.refusals import refused
from tests.rings.cli.schemas import disagreements
from tests.sweeps import sweep

G = 9.81


def slider_crank(mu: float = 0.1, **more: Any) -> dict[str, Any]:
    pin = {"mu": mu, "radius": "20 mm", "speed": "1e-9 rad/s"}
    return {
        "name": "slider-crank", "plane": "xy", "units": ["m", "deg"], "gravity": [0, -G],
        "drawing": {"A": [0, 0], "B": [0.1, 0.0], "C": [0.4, 0.0]},
        "bodies": {
            "ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"], "mass": 1}, "rod": {"pins": ["B", "C"], "mass": 1.5},
            "slide": {"pins": ["C"], "mass": 2, "com": "C", "inertia": 1e-3},
        },
        "joints": {"S": {"type": "prismatic", "between": ["ground", "slide"], "at": "C", "axis": [1, 0]}},
        "loads": {"gas": {"on": "slide.C", "force": [-200, 0]}}, "drive": {"A": "10 rad/s"},
        "friction": {"A": pin, "B": pin, "S": {"mu": 0.15, "speed": "1e-9 m/s"}}, **more,
    }  # fmt: skip


def strut(mu: float, degrees: float = 40.0) -> dict[str, Any]:
    """A cylinder that pushes a block along the ground from above: its force presses the block down."""
    a = np.radians(degrees)
    return {
        "name": "strut", "plane": "xy", "units": ["m", "deg"], "gravity": [0, -G],
        "drawing": {"P": [0, 0], "Q": [-float(np.cos(a)), float(np.sin(a))]},
        "bodies": {"ground": {"points": ["Q"]}, "block": {"points": ["P"], "mass": 5, "com": "P", "inertia": 0.1}},
        "joints": {"S": {"type": "prismatic", "between": ["ground", "block"], "at": "P", "axis": [1, 0]}},
        "cylinders": {"ram": {"between": ["ground.Q", "block.P"]}}, "friction": {"S": {"mu": mu}}, "drive": {"ram": "0.1 m/s"},
    }  # fmt: skip


@cache
def flap() -> Any:
    return lw.load("flap").holding_range(steps=17)


# -------------------------------------------------------------------- closed forms


def flap_by_hand(angle: float, hair: float = 1e-5) -> tuple[float, float]:
    """Torque at H without friction, and what friction adds at most, by virtual work from positions alone."""

    def places(x: float) -> np.ndarray:
        s, d, k0, s0 = 0.200 * np.exp(1j * x), 0.060 - 0.150j, 0.240 - 0.180j, 0.200
        lower, upper, far = abs(k0 - d), abs(s0 - k0), abs(s - d)
        k = d + lower * (s - d) / far * np.exp(-1j * np.arccos((lower**2 + far**2 - upper**2) / (2 * lower * far)))
        spring = abs(0.120 * np.exp(1j * x) - (0.100 - 0.160j))
        gas = 82.0 / (1.0 - (1.0 - 1.0 / 1.3) / 0.150 * (0.300 - spring))
        heights = 6 * 0.250 * np.sin(x) + 0.2 * (s + k).imag / 2 + 0.2 * (k + d).imag / 2
        return np.array([heights, spring, np.angle((s - k) / (d - k)), gas])

    more, less, here = places(angle + hair), places(angle - hair), places(angle)
    rise, grown, elbow = ((more - less) / (2 * hair))[:3]
    return float(G * rise - here[3] * grown), float(0.6 + 0.8 * abs(elbow))


def test_a_flap_by_hand() -> None:
    """Weight and gas spring against the friction of a hinge and of the elbow of the stay."""
    h = flap()
    torque, friction = np.array([flap_by_hand(x) for x in h.position]).T
    np.testing.assert_allclose(h.without, torque, atol=1e-8)
    np.testing.assert_allclose([h.least, h.largest], [torque - friction, torque + friction], atol=1e-8)
    (stretch,) = h.stays
    assert np.degrees([stretch.start, stretch.stop]) == pytest.approx([58.8269, 77.4117], abs=1e-3) and not h.ok
    for at, sign in ((stretch.start, 1.0), (stretch.stop, -1.0)):
        torque, friction = flap_by_hand(at)
        assert sign * torque == pytest.approx(friction, abs=1e-8)
    assert h.held.tolist() == [stretch.start <= x <= stretch.stop for x in h.position]


def test_a_block_on_an_incline_holds_from_the_angle_of_friction_on() -> None:
    """By mu = tan of the slope, to 1e-12 of it."""
    slope = np.radians(20.0)
    axis = [float(np.cos(slope)), float(np.sin(slope))]
    for mu, holds in ((np.tan(slope) * (1 - 1e-12), False), (np.tan(slope) * (1 + 1e-12), True)):
        block = {
            "name": "block", "plane": "xy", "gravity": [0, -G], "drawing": {"P": [0, 0]},
            "bodies": {"ground": {}, "block": {"points": ["P"], "mass": 3, "com": "P", "inertia": 0.1}},
            "joints": {"S": {"type": "prismatic", "between": ["ground", "block"], "at": "P", "axis": axis}},
            "friction": {"S": {"mu": float(mu)}}, "drive": {"S": "1 m/s"},
        }  # fmt: skip
        h = lw.load(block).holding_range(start=0, stop=1, steps=2)
        assert h.ok == holds and len(h.stays) == holds
        normal, along = 3 * G * np.cos(slope), 3 * G * np.sin(slope)
        np.testing.assert_allclose(h.largest, along + mu * normal, rtol=1e-13)


def test_a_lever_rests_within_the_friction_circle() -> None:
    """Weight W at a distance x from the pin holds where x is at most mu r."""
    mu, r = 0.3, 0.02
    lever = {
        "name": "lever", "plane": "xy", "units": ["m", "deg"], "gravity": [0, -G], "drawing": {"A": [0, 0], "P": [0.5, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "lever": {"pins": ["A"], "points": ["P"], "mass": 4, "com": "P", "inertia": 0.1}},
        "friction": {"A": {"mu": mu, "radius": r}}, "drive": {"A": "1 rad/s"},
    }  # fmt: skip
    h = lw.load(lever).holding_range(steps=18)
    np.testing.assert_allclose(h.largest - h.least, 2 * mu * r * 4 * G, rtol=1e-12)
    edge = np.arcsin(mu * r / 0.5)  # from straight up or down
    wanted = [[np.pi / 2 - edge, np.pi / 2 + edge], [1.5 * np.pi - edge, 1.5 * np.pi + edge]]
    np.testing.assert_allclose([[s.start, s.stop] for s in h.stays], wanted, atol=1e-12)


# -------------------------------------------------------------------- other ways


def test_the_slider_crank_of_the_paper_and_creeping_inverse_dynamics() -> None:
    """At 40 deg as bisection over forward dynamics with sticking joints gave it; inverse dynamics creeps at 1e-6 rad/s,
    where its smooth friction is within 1e-9 of its bound and inertia is nothing."""
    m = lw.load(slider_crank())
    h = m.holding_range(start="40 deg", stop="160 deg", steps=4)
    assert [h.least[0], h.largest[0]] == pytest.approx([-17.155996460, -13.589494389], abs=1e-9)
    s = m.system
    for x, low, high in zip(h.position, h.least, h.largest, strict=True):
        creeping = [s.inverse(s.assemble(q={"A": x}, v={"A": v}), {"A": 0.0}).tau["A"] for v in (-1e-6, 1e-6)]
        assert [low, high] == pytest.approx(creeping, rel=1e-7)


def test_virtual_work_and_shares() -> None:
    """Power of the drive and of all friction is that of the loads: what a joint adds is its friction times its speed ratio."""
    m = lw.load(slider_crank())
    h = m.holding_range(start="40 deg", stop="160 deg", steps=4)
    np.testing.assert_allclose(h.shares_largest.sum(axis=1), h.largest - h.without, atol=1e-12)
    np.testing.assert_allclose(h.shares_least.sum(axis=1), h.least - h.without, atol=1e-12)
    assert (h.shares_largest > 0.0).all() and (h.shares_least < 0.0).all()
    for x, shares in zip(h.position, h.shares_largest, strict=True):
        st = m.system.assemble(q={"A": x}, v={"A": 1e-6})
        loads = m.system.inverse(st, {"A": 0.0})
        for name, by_load, share in zip(h.joints, (0.002, 0.002, 0.15), shares, strict=True):
            ratio = abs(float(st[f"{name}.v"])) / 1e-6
            assert share == pytest.approx(ratio * by_load * np.linalg.norm(loads.reaction(name).force), rel=1e-7)


def test_without_load_the_range_is_that_of_inverse_dynamics() -> None:
    """Constant friction of almost nothing: one value, the torque of a cycle at rest."""
    m = lw.load(slider_crank(friction={"A": {"coulomb": "1e-12 N m"}}))
    h, c = m.holding_range(steps=12), m.cycle(steps=12, speed=0)
    np.testing.assert_allclose(h.least, c["A.torque"], atol=1e-11)
    np.testing.assert_allclose(h.largest, c["A.torque"], atol=1e-11)


def test_at_a_dead_center_friction_acts_either_way() -> None:
    """The slider rests at A = 0: both signs of its friction are within the range, and the range is no narrower than at either."""
    m = lw.load(slider_crank())
    h = m.holding_range(start=0, stop="1 deg", steps=2)
    s = m.system
    for sign in (-1.0, 1.0):
        creeping = s.inverse(s.assemble(q={"A": 1e-9}, v={"A": sign * 1e-6}), {"A": 0.0}).tau["A"]
        assert h.least[0] - 1e-6 <= creeping <= h.largest[0] + 1e-6
    short = m.holding_range(start="-6 deg", stop="12 deg", steps=3)  # the stretch begins and ends between two samples
    (stretch,) = short.stays
    assert not short.held.any() and np.degrees([stretch.start, stretch.stop]) == pytest.approx([0.5704, 4.704], abs=1e-3)


def test_other_drives_hold() -> None:
    """The range of one drive of a five-bar is that of the same machine whose other joint is welded by its drive."""
    plain = lw.load("five-bar")
    assert len(plain.description.drives) == 2
    five = lw.load({**document("five-bar"), "friction": {"A": {"coulomb": "10 N mm"}, "C": {"mu": 0.2, "radius": "5 mm"}}})
    h = five.holding_range("A", steps=4, start="100 deg", stop="110 deg")
    c = plain.cycle("A", steps=4, speed=0, start="100 deg", stop="110 deg")
    np.testing.assert_allclose(h.without, c["A.torque"], atol=1e-12)
    assert (h.largest - h.without > 0.01).all()


def test_a_drive_that_follows_is_idle() -> None:
    """The wiper moved at its arm: the motor's hinge turns freely, and the arm carries everything."""
    wiper = lw.load({**document("wiper"), "friction": {"A": {"coulomb": "10 N mm"}, "C": {"mu": 0.2, "radius": "5 mm"}}})
    h = wiper.holding_range("D", start="110 deg", stop="120 deg", steps=2)
    s = wiper.system
    for x, torque in zip(h.position, h.without, strict=True):
        assert torque == pytest.approx(s.inverse(s.assemble(q={"D": x}), drives="D").tau["D"], rel=1e-9)
    assert not h.notes and (h.half_widths > 0.0).all()


def document(name: str) -> dict[str, Any]:
    import yaml

    from linkwright.model import library

    return yaml.safe_load(library.path(name).read_text(encoding="utf-8"))


# -------------------------------------------------------------------- brute force


def planar_four_bar(seed: int) -> tuple[dict[str, Any], Any]:
    """A random crank-rocker with friction in its pins, and its statics written down body by body: torque for given friction."""
    rng = np.random.default_rng(seed)
    A, B, D = np.zeros(2), np.array([0.1, 0.02]) * rng.uniform(0.9, 1.1, 2), np.array([0.4, 0.0])
    C = np.array([0.35, 0.3]) * rng.uniform(0.8, 1.2, 2)
    pins, masses = {"A": A, "B": B, "C": C, "D": D}, rng.uniform(0.5, 3.0, 3)
    ends, force = [("A", "B"), ("B", "C"), ("D", "C")], rng.uniform(-50, 50, 2)
    mu_r = {n: float(x) for n, x in zip("ABCD", rng.uniform(0.002, 0.008, 4), strict=True)}
    model = {
        "name": "random", "plane": "xy", "gravity": [0, -G], "drawing": {n: p.tolist() for n, p in pins.items()},
        "bodies": {"ground": {"pins": ["A", "D"]}} | {
            n: {"pins": list(e), "mass": float(m)} for n, e, m in zip(("crank", "rod", "rocker"), ends, masses, strict=True)
        },
        "loads": {"push": {"on": "rocker.C", "force": force.tolist()}},
        "friction": {n: {"mu": x / 0.02, "radius": 0.02} for n, x in mu_r.items()}, "drive": {"A": "1 rad/s"},
    }  # fmt: skip

    def statics(s: np.ndarray) -> tuple[float, np.ndarray]:
        """Torque at A and forces at the pins. Unknowns: forces of A on the crank, B on the rod, C on the rocker, D on the rocker; torque.
        Friction s turns the crank against ground, the rod against the crank, the rocker against the rod, the rocker against ground."""
        M, b = np.zeros((9, 9)), np.zeros(9)
        acts = [(0, "A", 0, 1), (0, "B", 1, -1), (1, "B", 1, 1), (1, "C", 2, -1), (2, "C", 2, 1), (2, "D", 3, 1)]
        for body, pin, k, sign in acts:
            arm = pins[pin]
            M[3 * body, 2 * k] += sign
            M[3 * body + 1, 2 * k + 1] += sign
            M[3 * body + 2, 2 * k : 2 * k + 2] += sign * np.array([-arm[1], arm[0]])
        M[2, 8] = 1.0
        for body, (p, q) in enumerate(ends):
            middle = 0.5 * (pins[p] + pins[q])
            b[3 * body + 1] += masses[body] * G
            b[3 * body + 2] += masses[body] * G * middle[0]
        b[6:8] -= force
        b[8] -= pins["C"][0] * force[1] - pins["C"][1] * force[0]
        b[2] -= s[0] - s[1]
        b[5] -= s[1] - s[2]
        b[8] -= s[2] + s[3]
        z = np.linalg.solve(M, b)
        return float(z[8]), np.linalg.norm(z[:8].reshape(4, 2), axis=1)

    return model, (statics, np.array([mu_r[n] for n in "ABCD"]))


@sweep("seed", range(12), now=2)
def test_random_four_bars_against_brute_force(seed: int) -> None:
    """Maximized over what share of its bound each friction takes, from random starts, with its own statics: never beyond, and reached."""
    model, (statics, bounds) = planar_four_bar(seed)
    angle = float(np.arctan2(model["drawing"]["B"][1], model["drawing"]["B"][0]))
    h = lw.load(model).holding_range(start=angle, stop=angle + 0.01, steps=2)

    def torque(theta: np.ndarray) -> float:
        s = np.zeros(4)
        for _ in range(30):
            s = theta * bounds * statics(s)[1]
        return statics(s)[0]

    rng = np.random.default_rng(seed)
    assert h.without[0] == pytest.approx(torque(np.zeros(4)), rel=1e-10)
    corners = [torque(np.array(x)) for x in product((-1.0, 1.0), repeat=4)]
    inside = [torque(x) for x in rng.uniform(-1.0, 1.0, (60, 4))]
    assert h.least[0] == pytest.approx(min(corners), rel=1e-9) and h.largest[0] == pytest.approx(max(corners), rel=1e-9)
    assert h.least[0] <= min(inside) and max(inside) <= h.largest[0]


def random_loads(rng: np.random.Generator, m: int, strength: float) -> AffineLoads:
    F, dF = np.zeros((m, 3)), np.zeros((m, 3, m))
    F[:, :2], dF[:, :2] = 100.0 * rng.normal(size=(m, 2)), 10.0 * rng.normal(size=(m, 2, m))
    g = rng.normal(size=m) * (rng.random(m) > 0.4)  # some are at rest
    return AffineLoads(1.0, g, F, dF, rng.uniform(0.0, strength / m, m), rng.uniform(0.0, 1.0, m))


@sweep("seed", range(30), now=[0, 2])
def test_limits_against_an_optimizer(seed: int) -> None:
    """Strong friction, with joints whose sign is open: an optimizer over the whole cube finds nothing better."""
    rng = np.random.default_rng(seed)
    a = random_loads(rng, 1 + seed % 3, 0.06)
    if friction_limits._radius(a.gain) >= 1.0:
        a = AffineLoads(a.u, a.g, a.F, a.dF, a.c / (1.1 * friction_limits._radius(a.gain)), a.C)
    low, high = limits(a)

    def effort(theta: np.ndarray) -> float:
        s = np.zeros_like(theta)
        for _ in range(300):
            s = theta * (a.c * np.linalg.norm(a.F + a.dF @ s, axis=1) + a.C)
        return a.u + float(a.g @ s)

    assert low.proven and high.proven
    for end, sign in ((low, 1.0), (high, -1.0)):
        starts = rng.uniform(-1.0, 1.0, (3, len(a.g)))
        found = min(minimize(lambda x, s=sign: s * effort(x), x, bounds=[(-1, 1)] * len(a.g), method="L-BFGS-B").fun for x in starts)
        assert sign * end.effort <= found + 1e-9 * abs(found)
        theta = (end.shares / np.where(a.g == 0.0, 1.0, a.g)) if not np.any(a.g == 0.0) else None
        if theta is not None:
            bound = a.c * np.linalg.norm(a.F + a.dF @ theta, axis=1) + a.C
            np.testing.assert_allclose(np.abs(theta), bound, rtol=1e-12)


@sweep("seed", range(30), now=3)
def test_followed_solutions_are_those_of_the_fixed_point(seed: int) -> None:
    """Where nothing locks both ways give the same ends."""
    a = random_loads(np.random.default_rng(100 + seed), 1 + seed % 3, 0.03)
    if friction_limits._radius(a.gain) < 1.0:
        assert [x.effort for x in friction_limits._followed(a)] == pytest.approx([x.effort for x in limits(a)], rel=1e-12)


# -------------------------------------------------------------------- self-locking


@sweep("seed", range(40), now=4)
def test_strong_friction_against_a_map_of_all_friction(seed: int) -> None:
    """Two joints whose friction may lock: the pieces of the plane that Coulomb allows, and of them the one around no friction."""
    from scipy.ndimage import label

    a = strong_pair(seed)
    low, high = limits(a)
    size, n = float((a.c * np.linalg.norm(a.F, axis=1)).max()), 301
    axis = np.linspace(-30.0 * size, 30.0 * size, n)
    s = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    allowed = np.all(np.abs(s) <= a.c * np.linalg.norm(a.F + np.einsum("ijk,xyk->xyij", a.dF, s), axis=3), axis=2)
    pieces = label(allowed, structure=np.ones((3, 3)))[0]
    here = pieces == pieces[n // 2, n // 2]
    at_edge = bool(here[[0, -1]].any() or here[:, [0, -1]].any())
    held, step = (s @ a.g)[here], 2.0 * float(axis[1] - axis[0]) * float(np.abs(a.g).sum())
    assert low.effort - step <= held.min() and held.max() <= high.effort + step
    assert at_edge or (np.isfinite(low.effort) and np.isfinite(high.effort))  # the map is 30 times as wide as the friction without effects
    for end in (x for x in (low, high) if np.isfinite(x.effort)):  # is reached
        friction = end.shares / a.g
        np.testing.assert_allclose(np.abs(friction), a.c * np.linalg.norm(a.F + a.dF @ friction, axis=1), rtol=1e-9)


def strong_pair(seed: int) -> AffineLoads:
    """Two joints with a gain of friction between 1 and 1.6: they may lock or not."""
    rng = np.random.default_rng(seed)
    a = random_loads(rng, 2, 0.2)
    a = AffineLoads(0.0, rng.normal(size=2), a.F, a.dF, a.c, 0.0 * a.C)
    c = a.c * rng.uniform(1.0, 1.6) / friction_limits._radius(a.gain)
    return AffineLoads(a.u, a.g, a.F, a.dF, c, a.C)


def test_a_strut_locks_a_block_where_mu_times_its_slope_is_one() -> None:
    mu, weight, height = 1.25, 5 * G, np.sin(np.radians(40.0))
    m = lw.load(strut(mu))
    h = m.holding_range(start="1 m", stop="1.3 m", steps=6)
    (lock,) = h.locks
    assert lock.start == pytest.approx(1.0) and lock.way == 1 and lock.joints == ("S",)
    assert lock.stop == pytest.approx(height * np.hypot(1.0, mu), abs=1e-7)
    slope = np.arcsin(height / h.position)
    loose = h.position > lock.stop
    np.testing.assert_allclose(h.least, -mu * weight / (np.cos(slope) + mu * np.sin(slope)), rtol=1e-12)
    np.testing.assert_allclose(h.largest[loose], (mu * weight / (np.cos(slope) - mu * np.sin(slope)))[loose], rtol=1e-9)
    assert np.isposinf(h.largest[~loose]).all() and np.isposinf(h.shares_largest[~loose]).all() and h.ok
    assert "friction of S locks it" in h.notes[0] and "unbounded" in h.table().text()
    data = h.as_dict()
    assert data["largest"][0] is None and "NaN" not in json.dumps(data)


def test_a_slider_crank_locks_near_its_dead_centers() -> None:
    """Driven by its slider: friction of the pins holds any force where the rod is nearly in line with the crank."""
    m = lw.load(slider_crank(0.6, drive={"S": "0.1 m/s"}, start={"A": 90}))
    h = m.holding_range(start=-0.006, stop=-0.0004, steps=3)
    (lock,) = h.locks
    assert lock.way == -1 and lock.joints == ("A", "B", "S") and lock.start == pytest.approx(-0.0029818, abs=1e-6)
    assert np.isneginf(h.least[2:]).all() and np.isfinite(h.largest).all()
    numbers = np.array([h.least, h.largest, h.without, *h.shares_least.T, *h.shares_largest.T])
    assert not np.isnan(numbers).any() and (h.least <= h.without).all() and (h.without <= h.largest).all()


# -------------------------------------------------------------------- the result


def test_it_prints_and_plots(tmp_path: Path) -> None:
    h = flap()
    assert "stays put with no torque: 58.83 to 77.41 deg" in str(h) and not h.notes
    assert h.table().names == ["H", "least torque", "without friction", "largest torque", "stays put"]
    assert h.table().parts[0].rows[0][1:3] == pytest.approx((58.8269, 77.4117), abs=1e-3)
    assert h.plot(tmp_path / "flap.png") == tmp_path / "flap.png" and (tmp_path / "flap.png").stat().st_size > 5000
    locked = lw.load(strut(1.25)).holding_range(start="1 m", stop="1.3 m", steps=2)
    assert locked.plot(tmp_path / "locked.svg") == tmp_path / "locked.svg" and "locked" in str(locked)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, picture = tmp_path / "flap.csv", tmp_path / "flap.png"
    call = ["holding-range", "flap", "--start", "50", "--stop", "60 deg", "--steps", "2"]
    assert cli.main([*call, "--json", "-o", str(table), "--plot", str(picture)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("holding-range", data) == [] and data["held"] == [False, False, True]
    assert table.read_text(encoding="utf-8").startswith('"H [deg]","least torque [N m]"') and picture.exists()
    assert cli.main([*call, "--drive", "H"]) == 0 and "stays put with no torque" in capsys.readouterr().out
    assert cli.main([*call, "--drive", "H=1 rpm"]) == 1 and "no speed" in capsys.readouterr().err


def test_a_stretch_of_a_full_turn_may_pass_its_end() -> None:
    """The slider-crank from a start within its first stretch: the stretch is one, and passes 360 deg."""
    h = lw.load(slider_crank()).with_(start={"A": np.radians(2.0)}).holding_range(steps=12)
    assert len(h.stays) == 2 and h.stays[-1].stop > h.position[-1] > h.stays[-1].start


# -------------------------------------------------------------------- what is not covered


def test_reactions_that_are_not_unique_are_noted() -> None:
    door = {**document("door"), "friction": {"H1": {"mu": 0.2, "radius": 0.01}}}
    h = lw.load(door).holding_range(steps=4)
    assert "not unique" in h.notes[-1] and (h.largest > h.least).all()
    assert not lw.load({**door, "friction": {"H1": {"coulomb": 2}}}).holding_range(steps=4).notes


def test_bad_input_has_a_clear_message() -> None:
    with refused(lw.UsageError, name="friction"):
        lw.load("wiper").holding_range()
    with refused(lw.UsageError, name="friction"):
        lw.load(slider_crank(friction={"A": {"viscous": "1 N m s/rad"}})).holding_range()
    massless = slider_crank()
    massless["bodies"] = {n: {k: x for k, x in b.items() if k != "mass"} if n == "rod" else b for n, b in massless["bodies"].items()}
    with refused(lw.UsageError, name="rod"):
        lw.load(massless).holding_range()
    ball = {
        "name": "ball", "bodies": {"ground": {}, "arm": {"mass": 1, "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.1]}},
        "joints": {"B": {"type": "spherical", "between": ["ground", "arm"], "at": [0, 0, 0]}}, "friction": {"B": {"coulomb": "1 N m"}},
    }  # fmt: skip
    with refused(lw.UsageError, name="B"):
        lw.load(ball).holding_range()
    with refused(lw.UsageError, name="B"):
        lw.load({**document("five-bar"), "drive": {"A": "1 rad/s"}, "friction": {"A": {"coulomb": "1 N m"}}}).holding_range("A")
