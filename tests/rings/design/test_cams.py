"""Cams as designs: undercutting and its remedies hold exactly, lift-off and what prevents it, text and files."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.model.file.reader import read_text
from linkwright.rings.design.cams import CamDesign, cam_design
from tests.refusals import refused

TEXT = """
name: pusher
plane: xy
units: [mm, kg, deg, rpm]
parameters: {base: 30 mm, roller: 8 mm, fast: 300 rpm, held: -20 N}
drawing: {A: [0, 0], R: [5, 40], T: [5, 140], G: [5, 240]}
bodies:
  ground: {pins: [A], points: [G]}
  disc: {pins: [A], mass: 2, com: A, inertia: 2e-3 kg m^2}
  follower: {points: [R, T], mass: 0.5, com: T, inertia: 1e-4 kg m^2}
joints: {lift: {type: prismatic, between: [ground, follower], at: T, axis: [0, 1]}}
cams:
  cam:
    {from: A, to: lift, roller: {at: follower.R, radius: roller}, base: base, moves: MOVES}
springs:
  return: {joint: lift, stiffness: 1 N/mm, preload: held}
drive: {A: fast}
"""
MODEL = TEXT.replace("MOVES", "[{to: 20, in: 60, law: 345}, {dwell: 90}, {to: 0, in: 120}, {dwell: 90}]")
FLAT = MODEL.replace("roller: {at: follower.R, radius: roller}", "flat: follower.R")


def loaded(text: str = MODEL, **changes) -> lw.Mechanism:
    m = lw.Mechanism(read_text(text.lstrip(), "pusher.yaml"))
    return m.with_(**changes) if changes else m


def shape(m: lw.Mechanism) -> CamDesign:
    """The geometry alone."""
    d = m.description.numbers()
    return cam_design(d, d.couplings[0])


@pytest.mark.parametrize(("text", "base"), [(MODEL, "5 mm"), (FLAT, "6 mm")])
def test_undercutting_is_found_and_its_remedies_hold(text, base):
    """At the least base circle, and of a roller at the largest radius, the profile is just not undercut; a little beyond it is."""
    cam = shape(loaded(text, base=base, roller="25 mm"))
    a, b = np.degrees(cam.undercut[0])
    assert 30.0 < a < b < 60.0  # before the top of the rise
    assert "is undercut where A is" in cam.notes[0] and "base circle of at least" in cam.remedy
    least = cam.least_base
    assert not shape(loaded(text, base=least * 1.001, roller="25 mm")).undercut
    assert shape(loaded(text, base=least * 0.998, roller="25 mm")).undercut
    if text == MODEL:
        prime = 0.025 + 0.005  # radius of the prime circle: the pitch curve stays as it is
        for share, wrong in ((0.999, False), (1.001, True)):
            radius = share * cam.most_roller
            assert bool(shape(loaded(text, base=prime - radius, roller=radius)).undercut) is wrong


def test_a_good_cam_has_no_warnings():
    cam = loaded(base="60 mm", held="-200 N").cam()
    assert cam.notes == () and cam.remedy == "" and cam.base == pytest.approx(0.06) and cam.sharpest[0] > 0.03
    assert "base circle of radius 60 mm, lift 20 mm" in str(cam) and "contact force" in str(cam)


def test_lift_off_is_prevented_by_what_the_warning_says():
    """The preload and the speed at which the smallest contact force of the samples vanishes; and the closing force."""
    m = loaded(held="-4 N", fast="500 rpm")
    f = m.cam().forces
    assert f.lift_off and f.least < 0.0 and f.at_least == pytest.approx(np.radians(46.0), abs=0.1)
    (needed,) = f.preloads
    held = m.with_(held=needed.needed).cam().forces
    assert held.least == pytest.approx(0.0, abs=1e-6) and not held.lift_off
    slow = m.with_(fast=f.speed).cam().forces
    assert slow.least == pytest.approx(0.0, abs=1e-6)
    pushed = m.with_(held=-0.004e3 - f.closing).cam().forces  # the spring acts along the guide
    assert pushed.least == pytest.approx(0.0, abs=1e-6)
    said = m.cam().notes[0]
    assert "lifts off where A is" in said and "a preload of 'return' of" in said and "rpm" in said


@pytest.mark.slow
def test_a_coil_spring_and_a_groove_hold_the_roller():
    spring = "{between: [ground.G, follower.T], stiffness: 1 N/mm, free_length: 100}"
    coil = MODEL.replace("{joint: lift, stiffness: 1 N/mm, preload: held}", spring)
    m = loaded(coil, fast="500 rpm")
    f = m.cam().forces
    (needed,) = f.preloads  # a pull is positive: the spring must push
    assert needed.needed < 0.0
    assert m.with_(**{"return.preload": needed.needed}).cam().forces.least == pytest.approx(0.0, abs=1e-6)
    guided = loaded(coil.replace("base: base,", "base: base, groove: true,"), fast="500 rpm")
    cam = guided.cam()
    assert cam.forces.least < 0.0 and not cam.forces.lift_off and "in the groove" in str(cam)
    np.testing.assert_allclose(np.linalg.norm(cam.outer - cam.profile, axis=1), 2 * cam.roller)


def test_info_and_turn_have_cams():
    m = loaded(held="-4 N", fast="500 rpm")
    s = m.info()
    assert s.cams[0].name == "cam" and any("lifts off" in w for w in s.notes) and "  cam cam: base circle" in str(s)
    assert s.cams[0].least_contact == m.cam().forces.least, "from samples as close as those of `turn`"
    c = m.cycle(steps=90)
    assert c["cam.lift"].max() == pytest.approx(0.02) and np.degrees(c["cam.pressure_angle"].max()) < 45.0
    np.testing.assert_allclose(c["lift.load"], np.abs(c["cam.contact"]) * np.sin(c["cam.pressure_angle"]), atol=1e-9)
    run = m.simulate(0.05)
    assert run["cam.contact"].min() == pytest.approx(c["cam.contact"].min(), rel=0.05)


def test_a_dwell_is_named_by_its_beginning():
    """Not by the places in it that round-off chooses: the follower rests from 60 to 150 and from 270 to 360 deg."""
    m = loaded(fast="60 rpm")
    (lift,) = m.info().strokes
    assert np.degrees([lift.at_high, *lift.also_high]) == pytest.approx([60.0])
    (row,) = m.cycle().bearings().cams  # slowly, the spring alone decides
    assert np.degrees([row.at_min, row.at_max]) == pytest.approx([0.0, 60.0])
    assert "-0.00" not in str(m.info())


def test_wrong_calls():
    m = loaded()
    with refused(UsageError, name="kam", allowed=("cam",)):
        m.cam("kam")
    with refused(UsageError, name="cams"):
        lw.load("wiper").cam()
    with refused(UsageError, name="steps of a profile", value=3):
        m.cam(steps=3)
    with refused(UsageError, name="motion", value="fast"):
        m.cam(motion="fast")


def test_an_open_profile_is_reported():
    cam = shape(loaded(MODEL.replace(", {dwell: 90}]", "]")))
    assert not cam.closed and "covers A from 0 deg to 270 deg only" in cam.notes[0]
