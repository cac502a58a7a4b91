"""Cams against closed forms: circular eccentrics, finite differences of profiles, equilibrium with the contact force at its place."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.errors import ModelError
from linkwright.model.file import write
from linkwright.model.file.reader import read_text
from linkwright.rings.design.cams import cam_design

SLIDING = """
name: follower
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
parameters: {base: 30 mm}
drawing: {A: [0, 0], R: [OFFSET, 40], T: [OFFSET, 140]}
bodies:
  ground: {pins: [A]}
  disc: {pins: [A], mass: 2, com: [3, 4], inertia: 2e-3 kg m^2}
  follower: {points: [R, T], mass: 0.5, com: T, inertia: 1e-4 kg m^2}
joints: {lift: {type: prismatic, between: [ground, follower], at: T, axis: [0, 1]}}
cams:
  cam: {from: A, to: lift, CONTACT, LAW}
springs: {return: {joint: lift, stiffness: 2 N/mm, preload: -40 N}}
drive: {A: 300 rpm}
"""
SWINGING = """
name: rocker
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
drawing: {A: [0, 0], B: [80, 10], R: [4, 45], Q: [130, 50]}
bodies:
  ground: {pins: [A, B]}
  disc: {pins: [A], mass: 2, com: A, inertia: 2e-3 kg m^2}
  rocker: {pins: [B], points: [R, Q], mass: 0.5, com: R, inertia: 1e-4 kg m^2}
joints:
  A: {pin: A, between: JOINED}
cams:
  cam: {from: A, to: B, CONTACT, LAW}
springs: {return: {joint: B, stiffness: 1 N m/rad, preload: 8 N m}}
drive: {A: 200 rpm}
"""
DWELLS = "moves: [{to: 18, in: 100, law: modified_sine}, {dwell: 50}, {to: 0, in: 120, law: 4567}, {dwell: 90}]"
ROLLER, FLAT = "roller: {at: follower.R, radius: 9}, base: base", "flat: follower.R, base: base"
TURNED = DWELLS.replace("18", "-14")
OBLIQUE = SLIDING.replace("T: [OFFSET, 140]", "T: [7, 140], S: [37, 44]").replace("points: [R, T]", "points: [R, T, S]")
SWUNG = "roller: {at: rocker.R, radius: 8}, base: 25"
CASES = {
    "roller": SLIDING.replace("OFFSET", "0").replace("CONTACT", ROLLER).replace("LAW", DWELLS),
    "offset roller": SLIDING.replace("OFFSET", "7").replace("CONTACT", ROLLER).replace("LAW", DWELLS),
    "flat": SLIDING.replace("OFFSET", "7").replace("CONTACT", FLAT).replace("LAW", DWELLS),
    "oblique face": OBLIQUE.replace("OFFSET", "7").replace("CONTACT", "flat: [follower.R, follower.S], base: base").replace("LAW", DWELLS),
    "swinging roller": SWINGING.replace("CONTACT", SWUNG).replace("LAW", TURNED).replace("JOINED", "[ground, disc]"),
    "swinging flat": SWINGING.replace("CONTACT", "flat: [rocker.R, rocker.Q], base: 30")
    .replace("LAW", TURNED.replace("14", "6"))
    .replace("JOINED", "[ground, disc]"),
    "disc first": SWINGING.replace("CONTACT", SWUNG).replace("LAW", TURNED).replace("JOINED", "[disc, ground]"),
}


def loaded(text: str) -> lw.Mechanism:
    return lw.Mechanism(read_text(text.lstrip(), "cam.yaml"))


@pytest.fixture(scope="module", params=CASES)
def case(request):
    m = loaded(CASES[request.param])
    return m, m.cam(steps=7200)


def away_from_joints(cam) -> np.ndarray:
    """Samples whose neighbors are as far as they are, on one piece of the law."""
    steps = np.diff(cam.angle)
    even = np.isclose(steps, steps.max(), rtol=1e-6)
    inner = np.zeros(len(cam.angle), dtype=bool)
    inner[2:-2] = even[:-3] & even[1:-2] & even[2:-1] & even[3:]
    return inner


def test_profiles_are_bent_as_their_finite_differences(case):
    """Curvature by three points; the normal of the contact is that of the profile; truncation h^2 of some 1e-6 on 7200 points."""
    _, cam = case
    p, inner = cam.profile, away_from_joints(cam)
    first = (np.roll(p, -1, 0) - np.roll(p, 1, 0)) / 2
    second = np.roll(p, -1, 0) - 2 * p + np.roll(p, 1, 0)
    bent = -np.sign(np.ptp(cam.angle)) * (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / np.linalg.norm(first, axis=1) ** 3
    sense = 1.0 if cam.geometry.spin > 0 else -1.0
    np.testing.assert_allclose(sense * bent[inner], cam.curvature[inner], atol=2e-3 * np.abs(cam.curvature).max())
    if cam.kind == "roller":  # profile and pitch curve are parallel
        gap = cam.pitch - cam.profile
        np.testing.assert_allclose(np.linalg.norm(gap, axis=1), cam.roller, rtol=1e-12)
        np.testing.assert_allclose(np.sum(gap * first, axis=1)[inner], 0.0, atol=1e-9)


def test_contact_force_is_in_equilibrium(case):
    """The disc alone: forces of bearing, contact, weight and inertia, and their moments about its axis, the drive's torque among them."""
    m, cam = case
    c = m.cycle(steps=48)
    g = cam.geometry
    for k in (3, 11, 17, 30):
        x = c.instant(k)
        N, q = c["cam.contact"][k], c["A"][k]
        found = g.at(q)
        disc = x.loads.on("A", "disc").force[:2]
        assert c["A.load"][k] == pytest.approx(np.linalg.norm(disc))  # kernels for all samples, and the solver on floats
        body = m.description.numbers().body("disc")
        com = np.asarray(body.com)[:2]
        angle = c["disc.angle"][k]
        arm = np.array([np.cos(angle) * com[0] - np.sin(angle) * com[1], np.sin(angle) * com[0] + np.cos(angle) * com[1]])
        inertia = -body.mass * c["A.v"][k] ** 2 * arm
        weight = np.array([0.0, -9.81 * body.mass])
        np.testing.assert_allclose(disc + weight - N * found.normal[:2], inertia, atol=1e-8)
        arms = np.asarray(found.contact - g.center)[:2]
        torque = N * (arms[0] * found.normal[1] - arms[1] * found.normal[0])
        moment = -(arm[0] * weight[1] - arm[1] * weight[0])
        assert g.spin * c["A.torque"][k] == pytest.approx(torque + moment, abs=1e-9)


def test_power_of_contact_and_drive_agree(case):
    """A cycle that returns without losses needs no work."""
    m, _ = case
    c = m.cycle(steps=360)
    assert trapezoid(c["A.power"], c.t) == pytest.approx(0.0, abs=1e-6 * np.abs(c["A.power"]).max() * c.t[-1])


def test_a_flat_follower_on_an_eccentric_circle_moves_harmonically():
    """Circle of 30 mm about a point 8 mm off the axis: lift 8 (1 - cos), pressure angle zero, curvature 1/30 mm everywhere."""
    law = "moves: [{to: 16, in: 180, law: harmonic}, {to: 0, in: 180, law: harmonic}]"
    cam = loaded(SLIDING.replace("OFFSET", "4").replace("CONTACT", "flat: follower.R, base: 22 mm").replace("LAW", law)).cam()
    np.testing.assert_allclose(1.0 / cam.curvature, 0.030, rtol=1e-9)
    center = np.array([0.0, -0.008])  # of the circle: up after half a turn
    np.testing.assert_allclose(np.linalg.norm(cam.profile - center, axis=1), 0.030, rtol=1e-9)
    assert np.abs(cam.pressure_angle).max() < 1e-12 and cam.base == pytest.approx(0.022)
    np.testing.assert_allclose([cam.slip.min(), cam.slip.max()], [-0.008 - 0.004, 0.008 - 0.004], atol=1e-7)


def test_a_roller_on_an_eccentric_circle_is_a_slider_crank(tmp_path):
    """The table of a slider-crank (crank 8 mm, rod 30 + 9 mm) as the law: the profile is the circle of 30 mm, to the table's accuracy."""
    angles = np.linspace(0.0, 2.0 * np.pi, 361)
    crank, rod = 8.0, 39.0
    lift = -crank * np.cos(angles) + np.sqrt(rod**2 - (crank * np.sin(angles)) ** 2)
    rows = [f"{np.degrees(a):.10g};{y - 31:.12g}\n" for a, y in zip(angles, lift, strict=True)]
    (tmp_path / "lift.csv").write_text("angle [deg];lift [mm]\n" + "".join(rows))
    contact = "roller: {at: follower.R, radius: 9}, base: 22 mm"
    text = SLIDING.replace("OFFSET", "0").replace("CONTACT", contact).replace("LAW", "csv: lift.csv")
    path = tmp_path / "cam.yaml"
    path.write_text(text.lstrip())
    d = lw.load(path).description.numbers()
    cam = cam_design(d, d.couplings[0])
    assert d.couplings[0].table.interpolation == "periodic" and cam.closed
    np.testing.assert_allclose(np.linalg.norm(cam.profile - [0.0, -0.008], axis=1), 0.030, atol=2e-8)
    np.testing.assert_allclose(1.0 / cam.curvature, 0.030, rtol=2e-3)
    assert np.degrees(cam.steepest[0]) == pytest.approx(np.degrees(np.arcsin(8.0 / 39.0)), rel=1e-4)


def test_files_read_back_and_traced_dimensions():
    for text in CASES.values():
        d = loaded(text).description
        assert read_text(write(d)) == d
    m = loaded(CASES["offset roller"])
    c = m.cycle(steps=36)
    d = c.derivatives(["base"])["lift", "base"]
    rest = np.sqrt(0.039**2 - 0.007**2)
    np.testing.assert_allclose(d, 0.039 / rest, rtol=1e-9)


@pytest.mark.parametrize(
    ("contact", "law", "said"),
    [
        ("base: 30", DWELLS, "needs its follower: `roller:"),
        ("roller: {at: follower.R}", DWELLS, "radius"),
        ("roller: {at: disc.A, radius: 3}", DWELLS, "'disc.A' is not on the follower. Name a point of 'follower'"),
        ("roller: {at: follower.R, radius: 3}", "base: 30", "needs its law"),
        ("roller: {at: follower.R, radius: -3}", DWELLS, "must be 0 or more"),
        (ROLLER, "moves: [{to: 5, in: 360}]", "profile is not closed: a revolution begins at 0 mm and ends at 5 mm"),
        (ROLLER, "moves: [{to: 5, in: 200}, {to: 0, in: 200}]", "its moves cover 400 deg, more than one revolution of the disc"),
        (ROLLER, "table: [[0, 0], [90, 10], [360, 0]], moves: []", "has moves and a table"),
        ("flat: follower.R, groove: true", DWELLS, "a groove guides a roller"),
        ("flat: [follower.R, follower.R]", DWELLS, "two different points"),
        ("roller: {at: follower.R, radius: 1}, base: 2", DWELLS, "does not reach a base circle of radius 2 mm about joint 'A'"),
        ("roler: {at: follower.R, radius: 1}", DWELLS, "Did you mean 'roller'"),
    ],
)
def test_mistakes_name_line_and_remedy(contact: str, law: str, said: str) -> None:
    with pytest.raises(ModelError, match=said) as found:
        loaded(SLIDING.replace("OFFSET", "7").replace("CONTACT", contact).replace("LAW", law)).cycle(steps=4)
    assert "cam.yaml:13" in str(found.value)
