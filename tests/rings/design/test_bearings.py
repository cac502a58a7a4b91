"""Bearing tables against closed forms: rotating masses, pendulums, and integrals done by another rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import linkwright as lw
from linkwright.results.measures.extremes import curve_extremes
from linkwright.rings.design.bearing_loads import Bearings, bearings
from linkwright.rings.design.drive_duty import efforts
from tests.refusals import refused

G = 9.81


def rotor(gravity: float = 0.0, rpm: float = 60.0, **more: Any) -> lw.Mechanism:
    """A point mass of 2 kg on a massless arm of 0.5 m about A."""
    return lw.load(
        {
            "name": "rotor",
            "plane": "xy",
            "gravity": [0, -gravity],
            "drawing": {"A": [0, 0], "B": [0.5, 0]},
            "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 2.0, "com": "B", "inertia": 0.0}},
            "drive": {"A": f"{rpm} rpm"},
            **more,
        }
    )


@pytest.fixture(scope="module")
def scraper() -> Any:
    return lw.load("carpet-scraper").cycle(steps=90)


@pytest.fixture(scope="module")
def scraper_table(scraper: Any) -> Bearings:
    return scraper.bearings()


def test_a_constant_load_is_its_own_equivalent() -> None:
    c = rotor().cycle(steps=24)
    b = c.bearings()["A", "arm"]
    load = 2.0 * 0.5 * (2 * np.pi) ** 2  # m r w^2
    # 1e-9: sums of 24 equal numbers, and the p-th root of their mean
    for value in (b.max, b.mean, b.rms, b.P3, b.P10_3):
        assert value == pytest.approx(load, rel=1e-9)
    assert b.movement == "turns" and b.full_turns and b.swing == pytest.approx(2 * np.pi)
    assert b.mean_speed == pytest.approx(2 * np.pi) and b.max_speed == pytest.approx(2 * np.pi) and b.path == pytest.approx(2 * np.pi)
    assert b.unique and b.against == ("ground",) and b.joint_type == "revolute"
    # the mass pulls the arm outwards all the time: one direction in the arm, all directions in the ground
    assert b.sector == pytest.approx(0.0, abs=1e-9)
    assert c.bearings()["A", "ground"].sector == pytest.approx(2 * np.pi)


def test_weight_and_centrifugal_load_against_quadrature() -> None:
    """|F|^2 = m^2 ((r w^2)^2 + g^2 + 2 r w^2 g sin q): mean, RMS and equivalent loads by scipy's quad."""
    rate = 2 * np.pi * 40 / 60
    b = rotor(G, 40).cycle(steps=360).bearings()["A", "arm"]
    centrifugal = 0.5 * rate**2

    def size(q: float) -> float:
        return 2.0 * np.sqrt(centrifugal**2 + G**2 + 2 * centrifugal * G * np.sin(q))

    def mean(p: float) -> float:
        return (quad(lambda q: size(q) ** p, 0, 2 * np.pi, epsabs=1e-12, epsrel=1e-12)[0] / (2 * np.pi)) ** (1 / p)

    # the trapezoidal rule on a full period converges geometrically; 1e-8 leaves room for quad itself
    assert b.mean == pytest.approx(mean(1), rel=1e-8)
    assert b.rms == pytest.approx(mean(2), rel=1e-8)
    assert pytest.approx(mean(3), rel=1e-8) == b.P3
    assert pytest.approx(mean(10 / 3), rel=1e-8) == b.P10_3
    # largest where weight and centrifugal force point the same way: straight down. 360 steps reach it within half a degree
    assert b.max == pytest.approx(2 * (centrifugal + G), rel=2e-4)
    assert b.at_max % (2 * np.pi) == pytest.approx(3 * np.pi / 2, abs=np.radians(0.51))


def test_a_swinging_joint_is_weighted_by_its_speed() -> None:
    """An arm that swings q = q0 sin(w t): P^p = integral |F|^p |w| dt / integral |w| dt, here by quad over one period."""
    m = rotor(G, drive={"A": {"position": "0.4*sin(6.283185307179586 rad/s*t)"}})
    b = m.cycle(steps=2000).bearings()["A", "arm"]

    def speed(t: float) -> float:
        return 0.4 * 2 * np.pi * np.cos(2 * np.pi * t)

    def size(t: float) -> float:
        q, a = 0.4 * np.sin(2 * np.pi * t), -0.4 * (2 * np.pi) ** 2 * np.sin(2 * np.pi * t)
        along, across = G * np.sin(q) - 0.5 * speed(t) ** 2, G * np.cos(q) + 0.5 * a
        return 2.0 * float(np.hypot(along, across))

    def integral(f: Any) -> float:
        return quad(f, 0, 1, points=[0.25, 0.75], epsabs=1e-11, limit=200)[0]

    path = integral(lambda t: abs(speed(t)))
    # |w| has kinks at the ends of the swing, so the trapezoidal rule is of second order: (1/2000)^2 times about 40
    assert b.path == pytest.approx(path, rel=2e-5) and b.mean_speed == pytest.approx(1.6, rel=2e-5)
    assert pytest.approx((integral(lambda t: size(t) ** 3 * abs(speed(t))) / path) ** (1 / 3), rel=2e-5) == b.P3
    assert pytest.approx((integral(lambda t: size(t) ** (10 / 3) * abs(speed(t))) / path) ** 0.3, rel=2e-5) == b.P10_3
    assert b.mean == pytest.approx(integral(size), rel=2e-5)
    assert b.swing == pytest.approx(0.8, rel=1e-5) and not b.full_turns
    # the time average of the same powers is another number: the weighting is really there
    assert abs(b.P3 / integral(lambda t: size(t) ** 3) ** (1 / 3) - 1) > 1e-3


def test_at_rest_the_path_counts() -> None:
    """At 0 rpm the load is the weight alone, whatever the position."""
    c = rotor(G).cycle(steps=36, speed=0)
    b = c.bearings()["A", "arm"]
    for value in (b.max, b.mean, b.rms, b.P3, b.P10_3):
        assert value == pytest.approx(2 * G, rel=1e-9)
    assert b.mean_speed == 0.0 and b.path == pytest.approx(2 * np.pi)


def test_every_eye_of_the_scraper(scraper: Any, scraper_table: Bearings) -> None:
    d = scraper.skel.tree.description
    eyes = {(j.pin, body) for j in d.joints for body in (j.first, j.second)}
    assert {(r.pin, r.on) for r in scraper_table.rows} == eyes and len(scraper_table.rows) == len(eyes)
    for r in scraper_table.rows:
        size = scraper[f"{r.pin}.on.{r.on}.magnitude"]
        top = curve_extremes(scraper.t, size)
        assert r.max == pytest.approx(top.high, rel=1e-9) and r.max >= size.max() * (1.0 - 1e-12)  # turned axes: last digit
        assert abs(r.at_max - scraper["J1"][np.argmax(size)]) <= np.diff(scraper["J1"]).max() * (1.0 + 1e-9)
        assert 0.0 < r.mean <= r.rms * (1 + 1e-12) <= r.max * (1 + 1e-12)
        assert size.min() * (1 - 1e-12) <= r.P3 <= r.P10_3 <= r.max  # power means grow with p
    # a pin of two links loads both eyes alike; at a pin of three the eyes differ, and the pin itself is in balance
    assert scraper_table["A", "crank"].max == pytest.approx(scraper_table["A", "coupler"].max, rel=1e-12)
    balance = sum(scraper.load("S", on=body).force for body in ("coupler", "link5", "link7"))
    assert np.abs(balance).max() < 1e-9 * scraper_table["S", "coupler"].max


def test_an_eye_names_all_the_others_at_its_pin(scraper_table: Bearings) -> None:
    """The pin S holds three links: each eye is against the other two, whichever of them carries the pin."""
    at_S = {"coupler", "link5", "link7"}
    for body in at_S:
        eye = scraper_table["S", body]
        assert eye.on == body and len(eye.against) == 2 and set(eye.against) == at_S - {body}
    assert scraper_table["S"].max == max(scraper_table["S", body].max for body in at_S)
    assert scraper_table["A", "crank"].against == ("coupler",)


def test_swings_are_those_of_the_links(scraper: Any, scraper_table: Bearings) -> None:
    rocker = scraper["rocker.angle"]
    b = scraper_table["O2", "rocker"]
    assert b.swing == pytest.approx(np.ptp(rocker), rel=1e-9) and not b.full_turns
    # back and forth once: the way is twice the swing; 90 samples miss the ends by at most (2 deg)^2/2 of it
    assert b.path == pytest.approx(2 * np.ptp(rocker), rel=2e-3)
    assert b.mean_speed == pytest.approx(b.path / (scraper.t[-1] - scraper.t[0]), rel=1e-9)
    # link5 carries the pin S, to which the other two are joined: it does not turn on it
    assert scraper_table["S", "link5"].movement == "fixed" and scraper_table["S", "link7"].movement == "turns"


def test_the_table_prints_in_the_files_units(scraper_table: Bearings) -> None:
    text = str(lw.load("wiper").cycle(steps=24).bearings())
    assert "[N]" in text and "[deg]" in text and "rpm" in text and "full turn" in text and "at A" in text
    assert len(text.splitlines()) == 2 + 4  # a pin of two links is one line
    assert sum(line.startswith("S ") for line in str(scraper_table).splitlines()) == 3
    data = scraper_table.as_dict()
    assert data["over"] == "J1" and len(data["bearings"]) == len(scraper_table.rows) and data["rods"] == []
    assert all(isinstance(x["max"], float) and isinstance(x["unique"], bool) for x in data["bearings"])


def test_a_slider_slides_and_is_tilted() -> None:
    """The press's ram: travel from the table, and the guide's force is what the lower link pushes sideways."""
    c = lw.load("punch-press").cycle(steps=72)
    b = c.bearings()["slide", "ram"]
    assert b.movement == "slides" and b.swing == pytest.approx(np.ptp(c["slide"]), rel=1e-12)
    np.testing.assert_allclose(c["slide.on.ram.x"], -c["R.on.ram.x"], rtol=0, atol=1e-8 * b.max)


def test_balls_in_space_turn_by_their_relative_rotation() -> None:
    """RSSR: the crank is a full turn; the ball S turns against the crank as often as the crank turns."""
    c = lw.load("rssr").cycle(steps=60)
    table = c.bearings()
    s, crank = table["S", "coupler"], table["crank", "crank"]
    assert crank.full_turns and s.movement == "turns" and s.sector is None
    spin = [np.linalg.norm(x.motion.V[x.skel.node("coupler")][:3] - x.motion.V[x.skel.node("crank")][:3]) for x in c._instants]
    assert s.max_speed == pytest.approx(max(spin), rel=1e-12)
    assert s.path == pytest.approx(np.mean(spin[1:]) * (c.t[-1] - c.t[0]), rel=1e-9)  # periodic: mean of one period's samples


def test_redundant_hinges_are_marked() -> None:
    table = lw.load("door").cycle(steps=12).bearings()
    assert not any(r.unique for r in table.rows) and "not unique" in str(table)
    assert all(r.unique for r in lw.load("wiper").cycle(steps=4).bearings().rows)


def test_rods_push_and_pull() -> None:
    """The rods' force is the multiplier of the rod's length, positive when it pushes its ends apart."""
    c = lw.load("3-rrr-motors").cycle(steps=16)
    table = c.bearings()
    assert [r.rod for r in table.rods] == ["r1", "r2", "r3"]
    push = np.array([x.lam["r2"][0] for x in c._each_loads])
    r2 = table.rods[1]
    assert r2.compression == 0.0 == max(push.max(), 0.0) and r2.tension == pytest.approx(-push.min(), rel=1e-12)
    # the platform's force balance: rods are all that touches it
    fb = c.free_body("platform")
    assert {r.name for r in fb.rows} == {"r1", "r2", "r3", "inertia"} and fb.residual < 1e-9


def test_wrong_names_are_answered(scraper_table: Bearings) -> None:
    with refused(lw.LinkwrightError, name="O2 on roker"):
        scraper_table["O2", "roker"]
    with refused(lw.LinkwrightError, name="Z on Z"):
        scraper_table["Z"]
    with refused(lw.LinkwrightError, name="K", allowed=("A",)):
        efforts(rotor().cycle(steps=4))["K"]


def test_kinematics_has_no_bearings() -> None:
    bare = {"name": "k", "plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]}, "drive": {"A": "60 rpm"}}
    bare["bodies"] = {"ground": {"pins": ["A"]}, "crank": {"pins": ["A"], "points": ["B"]}}
    with refused(lw.LinkwrightError, name="mass"):
        bearings(lw.load(bare).cycle(steps=4))
