"""Runs with contact against closed forms: friction on a slope, rolling, bouncing, rocking, walking, Newton's cradle, Painleve's rod."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import linkwright as lw
from linkwright.errors import UsageError
from tests.simulation.contact.models import G, corners, disk, flying, run

ROUND = 1e-14


def times(found, name: str) -> list[float]:
    return [x.time for x in found.events if x.name == name]


@pytest.mark.parametrize("share", [1.0 + 1e-9, 1.0 - 1e-9, 0.5])
def test_a_block_on_a_slope_slides_below_the_tangent_of_its_angle(share):
    """Two corners: it stays where mu >= tan, and slides with g (sin - mu cos) where not; decided to 1e-9 of mu."""
    slope, h, w = np.radians(20.0), 0.1, 0.3
    mu = float(np.tan(slope) * share)
    gravity = (G * np.sin(slope), -G * np.cos(slope))
    found = run(corners({"L": [-w, -h], "R": [w, -h]}, {"mu": mu}, mass=2.0, inertia=0.05, gravity=gravity), [0, h, 0], [0, 0, 0], 1.0)
    assert found["b.O.vx"][-1] == pytest.approx(max(G * (np.sin(slope) - mu * np.cos(slope)), 0.0), abs=1e-15)
    assert found["b.O.x"][-1] == pytest.approx(0.5 * max(G * (np.sin(slope) - mu * np.cos(slope)), 0.0), abs=4e-15)
    assert found.certificate.ok and found.certificate.touch_depth < 1e-12
    assert found["feet.at_L.force"][0] + found["feet.at_R.force"][0] == pytest.approx(2.0 * G * np.cos(slope), rel=1e-12)


def test_a_disk_slides_until_it_rolls():
    """After v / (3 mu g) at two thirds of its speed; a third of the energy is lost."""
    r, mu, v = 0.1, 0.3, 2.0
    found = run(disk(r, mu=mu), [0, r, 0], [v, 0, 0], 1.0, tolerance=1e-11)
    (event,) = found.events
    t = v / (3.0 * mu * G)
    assert event.name == "step sticks" and event.time == pytest.approx(t, rel=1e-14)
    assert found["b.O.vx"][-1] == pytest.approx(2.0 / 3.0 * v, rel=ROUND)
    assert found["b.O.x"][-1] == pytest.approx(v * t - 0.5 * mu * G * t**2 + 2.0 / 3.0 * v * (1.0 - t), rel=ROUND)
    assert found["work.contact"][-1] == pytest.approx(v**2 / 6.0, rel=1e-12)
    before = found.t < event.time
    np.testing.assert_allclose(found["step.friction"], np.where(before, mu * G, 0.0), atol=1e-12)  # along the tangent, which points back
    np.testing.assert_allclose(found["step.force"], G, rtol=1e-12)
    assert set(found["step.state"][before]) == {2.0} and set(found["step.state"][~before]) == {1.0}
    assert found.certificate.ok and found.certificate.energy_imbalance < 1e-12


def test_a_ball_bounces_ever_lower():
    """The k-th impact is at t1 (1 + 2 (e + .. + e^(k-1))); all of its energy is lost in the end."""
    e, h = 0.8, 1.0
    found = run(disk(0.1, restitution=e), [0, h + 0.1, 0], [0, 0, 0], 5.0, tolerance=1e-11)
    hits, first = times(found, "step touches"), np.sqrt(2.0 * h / G)
    expected = [first * (1.0 + 2.0 * sum(e**i for i in range(1, k + 1))) for k in range(len(hits))]
    np.testing.assert_allclose(hits[:20], expected[:20], rtol=5e-13)  # an event is 5e-15 of the size deep, at ever lower speeds
    assert len(hits) > 35 and hits[-1] < first * (1.0 + e) / (1.0 - e) < hits[-1] + 1e-3
    assert sum(x.values["energy lost"] for x in found.events) == pytest.approx(G * h, rel=1e-11)
    speeds = np.sqrt(2.0 * G * h) * e ** np.arange(len(hits))  # the last one does not rebound
    assert found["step.impulse"].sum() == pytest.approx((1.0 + e) * speeds[:-1].sum() + speeds[-1], rel=1e-10)
    assert found["b.O.y"].min() > 0.1 - 1e-12 and found["b.O.y"][-1] == pytest.approx(0.1, abs=1e-12) and found.certificate.ok


def test_a_block_rocks_from_corner_to_corner():
    """Housner: an impact leaves (1 - 3/2 sin^2 alpha) of the angular speed; the time to it is a quarter period of an inverted pendulum."""
    b, h, m = 0.1, 0.4, 3.0
    alpha, R = np.arctan2(b, h), np.hypot(b, h)
    inertia, tilt = m * 4.0 * R * R / 12.0, 0.6 * np.arctan2(b, h)
    c, s = np.cos(tilt), np.sin(tilt)
    start = [-b - (-b * c + h * s), b * s + h * c, tilt]
    found = run(corners({"L": [-b, -h], "R": [b, -h]}, {"mu": 0.8}, mass=m, inertia=inertia), start, [0, 0, 0], 1.2, tolerance=1e-12)
    p2 = m * G * R / (inertia + m * R * R)

    def slow(x: float) -> float:  # of the angle tilt (1 - x^2)
        if x == 0.0:
            return 2.0 * tilt / np.sqrt(2.0 * p2 * tilt * np.sin(alpha - tilt))
        return 2.0 * tilt * x / np.sqrt(2.0 * p2 * (np.cos(alpha - tilt) - np.cos(alpha - tilt * (1.0 - x * x))))

    hit = found.events[0].time
    assert hit == pytest.approx(quad(slow, 0.0, 1.0, epsabs=1e-13, epsrel=1e-13)[0], rel=2e-11)
    i = int(np.searchsorted(found.t, hit))
    angle, speed = abs(found.q[i][2]), abs(found.v[i][2])
    after = np.sqrt(speed**2 + 2.0 * p2 * (np.cos(alpha - angle) - np.cos(alpha)))
    before = np.sqrt(2.0 * p2 * (np.cos(alpha - tilt) - np.cos(alpha)))
    assert after == pytest.approx((1.0 - 1.5 * np.sin(alpha) ** 2) * before, rel=2e-11)
    assert found.certificate.ok


@pytest.mark.parametrize("inertia", [1e-6, 0.2])
def test_a_rimless_wheel_walks_down_a_slope(inertia):
    """Every impact leaves r = (I + m l^2 cos 2a) / (I + m l^2) of the angular speed, every step adds 4 m g l sin a sin g / (I + m l^2) to
    its square."""
    n, slope = 8, 0.08
    a, J = np.pi / n, inertia + 1.0
    spokes = {f"p{k}": [np.sin(2 * a * k), -np.cos(2 * a * k)] for k in range(n)}
    model = corners(spokes, {"mu": 5.0}, inertia=inertia, gravity=(G * np.sin(slope), -G * np.cos(slope)))
    tilt, w = -0.1, -1.2
    found = run(model, [0, np.cos(tilt), tilt], [-w * np.cos(tilt), -w * np.sin(tilt), w], 8.0, tolerance=1e-12, sample_interval=0.002)
    hits = [x.time for x in found.events if x.name.endswith("touches")]
    squares = []
    for hit in hits:  # along the arc about the spoke that stands, back to the impact: there its body is at -a
        i = int(np.searchsorted(found.t, hit))
        lean = _lean(found, i)
        gained = 2.0 * G / J * (np.cos(slope - a) - np.cos(lean + slope))
        squares.append(found.v[i][2] ** 2 - gained)
    ratio, step = (inertia + np.cos(2 * a)) / J, 4.0 * G * np.sin(a) * np.sin(slope) / J
    square = squares[0]
    for _ in squares[1:]:
        square = ratio**2 * (square + step)
    assert len(hits) >= 9 and np.sqrt(squares[-1]) == pytest.approx(np.sqrt(square), rel=1e-11)
    assert found.certificate.ok and found.certificate.touch_depth < 1e-12


def _lean(found, i: int) -> float:
    """Angle of the spoke that stands, from the normal of the slope, positive downhill."""
    turn = found.q[i][2]
    names = [k.removeprefix("feet.at_p").removesuffix(".state") for k in found.channels if k.startswith("feet.") and k.endswith(".state")]
    spoke = next(int(k) for k in names if found[f"feet.at_p{k}.state"][i] > 0.0)
    return float(np.arcsin(-np.sin(turn + 2.0 * np.pi / 8 * spoke)))


def test_newtons_cradle_is_exact():
    """Two balls of five strike: two leave, nothing is lost."""
    n, r = 5, 0.05
    ball = {"points": {"O": [0, 0]}, "mass": 1, "com": [0, 0], "inertia": 1}
    model = {
        "plane": "xy", "gravity": [0, 0],
        "bodies": {"ground": {"points": {"G": [0, 0]}}, **{f"b{i}": ball for i in range(n)}},
        "joints": {f"x{i}": {"type": "prismatic", "between": ["ground", f"b{i}"], "at": [2 * r * i, 0], "axis": [1, 0]} for i in range(n)},
        "guess": {f"b{i}": {"at": [2 * r * i, 0]} for i in range(n)},
        "surfaces": {f"s{i}": {"circle": f"b{i}.O", "radius": r} for i in range(n)},
        "contacts": {f"c{i}": {"between": [f"s{i}", f"s{i + 1}"], "restitution": 1.0} for i in range(n - 1)},
    }  # fmt: skip
    found = run(model, [-0.1, -0.1, 0, 0, 0], [1, 1, 0, 0, 0], 0.2)
    np.testing.assert_allclose(found.v[-1], [0, 0, 0, 1, 1], atol=1e-14)
    assert found.certificate.impact_losses == 0.0 and found.certificate.ok


@pytest.mark.parametrize("jam", ["refuse", "impact"])
def test_painleves_rod_is_refused_or_jams(jam):
    """A slender rod leans by arctan 2 on a rough floor: from mu = 4/3 on, the friction of its sliding tip has no answer one way."""
    lean = np.arctan2(2.0, 1.0)
    turn, high = lean - np.pi / 2, 0.5 * np.sin(lean)
    law = {"between": ["tip", "floor"], "mu": 1.5, "jam": jam}
    model = flying({"step": law}, {"tip": {"circle": "b.A", "radius": 0}}, {"A": [0, -0.5]}, inertia=1.0 / 12.0)
    start = [0.0, high, turn]
    assert run(model, start, [3.0, 0, 0], 0.02).events == ()
    if jam == "refuse":
        with pytest.raises(UsageError) as caught:
            run(model, start, [-3.0, 0, 0], 0.3)
        assert caught.value.name == "step" and caught.value.value == 1.5
        assert float(caught.value.allowed[0]) == pytest.approx(4.0 / 3.0, rel=1e-12)
        return
    found = run(model, start, [-3.0, 0, 0], 0.1)
    # the impulse stops the tip: angular momentum about it stays, m v high = J w
    speed = 3.0 * high / (1.0 / 12.0 + 0.25)
    assert abs(found.v[0][2]) == pytest.approx(speed, rel=1e-2)
    assert any("jams" in x for x in found.notes) and found.certificate.ok


@pytest.mark.parametrize("mu", [0.5, 50.0, 1e8])
def test_a_disk_rolls_off_a_disk(mu):
    """From the top it rolls with (3/4) v^2 = g (R + r) (1 + begin - cos) and begins to slip where 7 cos - 4 (1 + begin) = sin / mu: with
    much friction that is where it leaves, at cos = 4/7 (1 + begin)."""
    R, r, w = 1.0, 0.2, 0.05
    model = {
        "plane": "xy", "gravity": [0, -G],
        "bodies": {"ground": {"points": {"G": [0, 0]}}, "b": {"points": {"O": [0, 0]}, "mass": 1, "com": [0, 0], "inertia": 0.5 * r * r}},
        "joints": {"base": {"type": "planar", "between": ["ground", "b"], "at": [0, 0]}},
        "surfaces": {"hill": {"circle": "ground.G", "radius": R}, "rim": {"circle": "b.O", "radius": r}},
        "contacts": {"step": {"between": ["rim", "hill"], "mu": mu}},
    }  # fmt: skip
    found = run(model, [0, R + r, 0], [w * (R + r), 0, -w * (R + r) / r], 1.95, tolerance=1e-12)
    slips = next(x for x in found.events if x.name == "step slips")
    begin = 0.75 * w * w * (R + r) / G
    angle = brentq(lambda x: 7.0 * np.cos(x) - 4.0 * (1.0 + begin) - np.sin(x) / mu, 0.0, 1.0, xtol=1e-15)

    def rate(x: float) -> float:
        return float(np.sqrt(4.0 / 3.0 * G / (R + r) * (1.0 + begin - np.cos(x))))

    # the time over dx = x0 sinh(s), which begins as slowly as the disk does
    s = np.arcsinh(angle / w)
    time = quad(lambda u: w * np.cosh(u) / rate(w * np.sinh(u)), 0.0, s, epsabs=1e-14, epsrel=1e-13)[0]
    assert slips.time == pytest.approx(time, abs=1e-10)  # the tolerance of the run, grown with the speed
    cosine = np.cos(angle) - np.sin(angle) * rate(angle) * (slips.time - time)
    if mu == 1e8:
        assert cosine == pytest.approx(4.0 / 7.0 * (1.0 + begin), rel=2.5e-8)
    assert found.certificate.touch_depth < 1e-12


def test_surfaces_that_overlap_at_the_start_are_refused():
    with pytest.raises(UsageError) as caught:
        run(disk(0.1), [0, 0.05, 0], [0, 0, 0], 0.1)
    assert caught.value.name == "step"


def test_a_drive_that_pushes_into_a_contact_is_named():
    model = {
        "plane": "xy",
        "bodies": {"ground": {"points": {"G": [0, 0]}}, "b": {"points": {"O": [0, 0.5]}, "mass": 1, "com": [0, 0.5], "inertia": 1}},
        "joints": {"y": {"type": "prismatic", "between": ["ground", "b"], "at": [0, 0], "axis": [0, 1]}},
        "drive": {"y": {"speed": -1.0}},
        "surfaces": {"floor": {"line": "ground.G", "normal": [0, 1]}, "rim": {"circle": "b.O", "radius": 0.1}},
        "contacts": {"step": {"between": ["rim", "floor"]}},
    }
    with pytest.raises(lw.errors.SimulationError) as caught:
        lw.load(model).simulate(1.0)
    assert "step" in str(caught.value) and caught.value.run.t[-1] == pytest.approx(0.4, abs=1e-9)


def test_a_leg_with_a_loop_lands_slips_and_sticks():
    """Against an event-driven program of its own, written on numpy and scipy, which a third program confirms to four digits."""
    leg = {
        "plane": "xy",
        "gravity": [0, -G],
        "bodies": {
            "ground": {"points": {"G": [0, 0]}},
            "trunk": {"points": {"H": [0, 0], "C": [0.08, 0.02]}, "mass": 4, "com": [0.03, 0.05], "inertia": 0.05},
            "thigh": {"points": {"H": [0, 0], "K": [0, -0.3]}, "mass": 1.0, "com": [0, -0.15], "inertia": 0.01},
            "crank": {"points": {"C": [0, 0], "R": [0.08, 0]}, "mass": 0.2, "com": [0.04, 0], "inertia": 0.001},
            "rod": {"points": {"R": [0, 0], "S": [0, -0.32]}, "mass": 0.1, "com": [0, -0.16], "inertia": 0.001},
            "shank": {"points": {"K": [0, 0], "S": [0.08, 0], "F": [0, -0.3]}, "mass": 0.5, "com": [0, -0.15], "inertia": 0.004},
        },
        "joints": {
            "base": {"type": "planar", "between": ["ground", "trunk"], "at": [0, 0]},
            "hip": {"type": "revolute", "connect": ["trunk.H", "thigh.H"]},
            "cr": {"type": "revolute", "connect": ["trunk.C", "crank.C"]},
            "ro": {"type": "revolute", "connect": ["crank.R", "rod.R"]},
            "lo": {"type": "revolute", "connect": ["rod.S", "shank.S"]},
            "knee": {"type": "revolute", "connect": ["thigh.K", "shank.K"]},
        },
        "guess": {
            "trunk": {"at": [0, 0.62]}, "thigh": {"at": [0, 0.62]}, "crank": {"at": [0.08, 0.64]}, "rod": {"at": [0.16, 0.64]},
            "shank": {"at": [0, 0.32]},
        },
        "surfaces": {"foot": {"circle": "shank.F", "radius": 0.02}, "floor": {"line": "ground.G", "normal": [0, 1]}},
        "contacts": {"step": {"between": ["foot", "floor"], "mu": 0.4}},
        "dampers": {k: {"joint": j, "coefficient": "2 N m s/rad"} for k, j in (("d1", "hip"), ("d2", "cr"))},
    }  # fmt: skip
    loose = lw.compile(lw.load(leg))
    rest = dict(zip(loose.names.q, loose.start.q, strict=True))
    leg["springs"] = {k: {"joint": j, "stiffness": "80 N m/rad", "free_position": float(rest[j])} for k, j in (("s1", "hip"), ("s2", "cr"))}
    s = lw.compile(lw.load(leg))
    q, v = s.start.q.copy(), np.zeros(len(s.names.v))
    q[list(s.names.q).index("base.y")] += 0.05
    v[list(s.names.v).index("base.x")] = 1.0
    found = s.simulate(s.state(q, v), 0.5, tolerance=1e-11)
    assert [x.name for x in found.events] == ["step touches", "step slips", "step sticks"]
    np.testing.assert_allclose([x.time for x in found.events], [0.10121, 0.33519, 0.46809], atol=6e-6)
    np.testing.assert_allclose(found.q[-1], [0.106317, 0.016405, -0.951062, 0.047822, -0.061894, -0.094125, -0.111421], atol=6e-7)
    c = found.certificate
    assert c.ok and c.touch_depth < 1e-12 * c.size and c.position_residual < 1e-14
