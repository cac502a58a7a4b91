"""Runs with contact against closed forms of textbooks: a ladder, a stick, a pendulum at a wall, a ball between plates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ellipk

import linkwright as lw
from tests.simulation.contact.models import G, flying, run


def test_a_ladder_leaves_its_wall_at_two_thirds_of_its_height():
    """Without friction it falls by (L/3) w^2 = g (sin a0 - sin a) and leaves the wall at sin a = 2/3 sin a0; both feet push by hand."""
    L, m, begin = 2.0, 3.0, np.radians(70.0)
    ends = {name: {"circle": f"b.{name[0].upper()}", "radius": 0} for name in ("foot", "head")}
    surfaces = {**ends, "wall": {"line": "ground.G", "normal": [1, 0]}}
    contacts = {"stand": {"between": ["foot", "floor"]}, "lean": {"between": ["head", "wall"]}}
    points = {"F": [0.5 * L, 0], "H": [-0.5 * L, 0]}
    model = flying(contacts, surfaces, points, mass=m, inertia=m * L * L / 12.0)
    found = run(model, [0.5 * L * np.cos(begin), 0.5 * L * np.sin(begin), -begin], [0, 0, 0], 0.9, tolerance=1e-12)
    leaves = next(x for x in found.events if x.name == "lean leaves")
    a = np.arcsin(2.0 / 3.0 * np.sin(begin))

    def slow(x: float) -> float:  # of the angle begin - x^2, from rest
        angle = begin - x * x
        gone = np.sin(begin) - np.sin(angle)
        return 2.0 / np.sqrt(3.0 * G / L * np.cos(begin)) if x == 0.0 else 2.0 * x / np.sqrt(3.0 * G / L * gone)

    assert leaves.time == pytest.approx(quad(slow, 0.0, np.sqrt(begin - a), epsabs=1e-13, epsrel=1e-13)[0], abs=1e-10)
    before = found.t < leaves.time
    angle = -found.q[before, 2]
    square = 3.0 * G / L * (np.sin(begin) - np.sin(angle))
    turn = -1.5 * G / L * np.cos(angle)
    np.testing.assert_allclose(found["lean.force"][before], -0.5 * m * L * (np.cos(angle) * square + np.sin(angle) * turn), atol=1e-9)
    np.testing.assert_allclose(found["stand.force"][before], m * (G + 0.5 * L * (np.cos(angle) * turn - np.sin(angle) * square)), atol=1e-9)
    sideways = found["b.O.vx"][found.t > leaves.time]
    assert len(sideways) > 3 and np.ptp(sideways) < 1e-12  # nothing pushes it sideways any more
    assert found.certificate.ok


def test_a_falling_stick_slips_where_its_foot_asks_for_more_friction():
    """About its foot w^2 = (3 g / L)(1 - cos a): the foot needs |T| / N = |sin (9 cos - 6)| / (3 cos - 1)^2 and slips backward at that."""
    L, mu, lean, spin = 1.0, 0.25, 0.02, 0.1
    model = flying({"stand": {"between": ["foot", "floor"], "mu": mu}}, {"foot": {"circle": "b.F", "radius": 0}},
                   {"F": [0, -0.5 * L]}, inertia=L * L / 12.0)  # fmt: skip
    c, s = np.cos(lean), np.sin(lean)
    found = run(model, [0.5 * L * s, 0.5 * L * c, -lean], [0.5 * L * c * spin, -0.5 * L * s * spin, -spin], 1.2, tolerance=1e-12)
    slips = next(x for x in found.events if x.name == "stand slips")
    start = spin**2 * L / (3.0 * G) + 1.0 - (1.0 - c)  # 1 - cos a is counted from rest in the upright stand

    def square(a: float) -> float:
        return 3.0 * G / L * (start - np.cos(a))

    def short(a: float) -> float:  # of friction at an angle
        turn, fast = 1.5 * G / L * np.sin(a), square(a)
        push = G + 0.5 * L * (-np.sin(a) * turn - np.cos(a) * fast)
        return mu * push - abs(0.5 * L * (np.cos(a) * turn - np.sin(a) * fast))

    a = brentq(short, lean, 0.5, xtol=1e-15)
    time = quad(lambda x: 1.0 / np.sqrt(square(x)), lean, a, epsabs=1e-13, epsrel=1e-13)[0]
    assert slips.time == pytest.approx(time, abs=1e-10)
    after = np.flatnonzero(found.t > slips.time)[0]
    assert found["stand.slip"][after] * found["stand.friction"][after] < 0.0 and found.certificate.ok


def test_a_pendulum_bounces_off_a_wall_by_its_restitution():
    """It comes back to cos a1 = 1 - e^2 (1 - cos a0) after each impact; times between are complete elliptic integrals."""
    L, e, begin = 1.0, 0.7, 0.9
    model = {
        "plane": "xy", "gravity": [0, -G],
        "bodies": {
            "ground": {"points": {"O": [0, 0]}},
            "bob": {"points": {"O": [0, 0], "P": [0, -L]}, "mass": 2, "com": [0, -L], "inertia": 0},
        },
        "joints": {"A": {"type": "revolute", "connect": ["ground.O", "bob.O"]}},
        "surfaces": {"wall": {"line": "ground.O", "normal": [1, 0]}, "ball": {"circle": "bob.P", "radius": 0}},
        "contacts": {"hit": {"between": ["ball", "wall"], "restitution": e}},
        "start": {"A": begin},
    }  # fmt: skip
    found = lw.load(model).simulate(4.0, tolerance=1e-12)
    hits = [x for x in found.events if x.name == "hit touches"]

    def quarter(cosine: float) -> float:
        """Time from rest at an angle to the lowest place."""
        return float(np.sqrt(L / G) * ellipk(0.5 * (1.0 - cosine)))

    cosine, time, energy = np.cos(begin), 0.0, 2.0 * G * L * (1.0 - np.cos(begin))
    time += quarter(cosine)
    for hit in hits[:4]:
        assert hit.time == pytest.approx(time, abs=1e-10)
        assert hit.values["energy lost"] == pytest.approx((1.0 - e * e) * energy, rel=1e-9)
        energy *= e * e
        cosine = 1.0 - e * e * (1.0 - cosine)
        time += 2.0 * quarter(cosine)
    assert len(hits) >= 4 and found.certificate.ok


def test_a_ball_between_plates_that_close_speeds_up():
    """Every impact at the plate adds twice its speed, and the impacts happen where both straight lines meet: no force acts between."""
    closing, gap, speed, impacts = 0.5, 1.0, 2.0, 9
    model = {
        "plane": "xy",
        "bodies": {k: {"points": {"O": [0, 0]}, "mass": 1, "com": [0, 0], "inertia": 1} for k in ("p", "b")}
        | {"ground": {"points": {"O": [0, 0]}}},
        "joints": {
            name: {"type": "prismatic", "between": ["ground", name[0]], "at": [0, 0], "axis": [0, 1]} for name in ("press", "ball")
        },
        "surfaces": {
            "floor": {"line": "ground.O", "normal": [0, 1]}, "plate": {"line": "p.O", "normal": [0, -1]},
            "dot": {"circle": "b.O", "radius": 0.1},
        },
        "contacts": {"low": {"between": ["dot", "floor"], "restitution": 1}, "high": {"between": ["dot", "plate"], "restitution": 1}},
        "drive": {"press": {"speed": -closing}},
        "start": {"press": gap + 0.2, "ball": 0.1, "ball.v": speed},
    }  # fmt: skip
    t, x, v, expected = 0.0, 0.0, speed, []
    for k in range(impacts):
        after = (gap - closing * t - x) / (v + closing) if v > 0.0 else -x / v
        t, x = t + after, x + v * after
        v = -(v + 2.0 * closing) if v > 0.0 else -v
        expected.append((t, "high touches" if k % 2 == 0 else "low touches"))
    found = lw.load(model).simulate(0.5 * (expected[-1][0] + 2.0))
    assert [x.name for x in found.events[:impacts]] == [name for _, name in expected]
    np.testing.assert_allclose([x.time for x in found.events[:impacts]], [t for t, _ in expected], rtol=1e-11)
