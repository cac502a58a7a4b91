"""Assembly: targets reached exactly, dead centers located, impossible wishes explained, branches kept."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import yaml

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import AssemblyError, ChannelError, ModelError, SingularityError, UsageError
from linkwright.kernels.traced_loops import TracedLoops
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused
from tests.sweeps import sweep


def four_bar(**lengths):
    """Ground, crank, coupler, rocker as exact bars; the drawing is only a sketch."""
    L = {"ground": 1.0, "crank": 0.3, "coupler": 0.9, "rocker": 0.8, **lengths}
    return {
        "name": "bars",
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [0.15, 0.26], "C": [0.9, 0.75], "D": [L["ground"], 0]},
        "bodies": {
            "ground": {"pins": ["A", "D"]},
            "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": L["crank"]}, "mass": 1},
            "coupler": {"pins": ["B", "C"], "along": {"B": 0, "C": L["coupler"]}, "mass": 1},
            "rocker": {"pins": ["D", "C"], "along": {"D": 0, "C": L["rocker"]}, "mass": 1},
        },
        "drive": {"A": "60 rpm"},
    }


def test_joint_targets_on_tree_and_cut_joints():
    s = lw.load("four-bar").system
    st = s.assemble(q={"A": "100 deg"}, v={"A": "45 rpm"})
    assert st["A"] == pytest.approx(np.radians(100), abs=1e-13)
    assert st["A.v"] == pytest.approx(1.5 * np.pi, abs=1e-12)
    assert np.abs(s.closure(st).phi).max() < 1e-13 and np.abs(s.closure(st).J @ st.v).max() < 1e-12
    cut = s.tree.cuts[0]
    again = s.assemble(q={cut: st[cut]}, v={cut: st[f"{cut}.v"]})
    np.testing.assert_allclose(again.q, st.q, atol=1e-9)
    np.testing.assert_allclose(again.v, st.v, atol=1e-8)


def test_start_takes_one_coordinate_of_several():
    arm = yaml.safe_load((Path(lw.__file__).parent / "model" / "library" / "3r-slider.yaml").read_text(encoding="utf-8"))
    st = lw.compile(lw.load({**arm, "start": {"tip.slide": "50 mm", "tip.slide.v": "0.1 m/s"}})).start
    assert (st["tip.slide"], st["tip.slide.v"]) == pytest.approx((0.05, 0.1), abs=1e-12)
    with refused(ModelError, name="tip.slid"):
        lw.load({**arm, "start": {"tip.slid": 1}})


def test_turns_are_counted():
    s = lw.load("four-bar").system
    st = s.assemble(q={"A": "800 deg"})
    assert st["A"] == pytest.approx(np.radians(800), abs=1e-12)
    np.testing.assert_allclose(st["rocker.C"], s.assemble(q={"A": "80 deg"})["rocker.C"], atol=1e-12)


def test_a_point_and_its_velocity():
    s = lw.load("five-bar").system
    now = s.start["left2.C"] if "left2.C" in s.start.channels else None
    name = "left2.C" if now is not None else next(n for n in s.start.channels if n.endswith(".C") and not n.startswith("ground"))
    target = s.start[name] + np.array([0.01, -0.02])
    st = s.assemble(point={name: target}, v={name: [0.3, 0.1]})
    np.testing.assert_allclose(st[name], target, atol=1e-13)
    np.testing.assert_allclose(st[f"{name}.v"], [0.3, 0.1], atol=1e-12)


def test_pose_of_a_platform_gives_the_leg_lengths():
    """Inverse kinematics of the Stewart platform against the distances of the wanted points."""
    s = lw.load("stewart").system
    X = s.pose(s.start, "platform")
    c, sn = np.cos(0.15), np.sin(0.15)
    R = np.array([[c, -sn, 0], [sn, c, 0], [0, 0, 1]]) @ np.array(
        [[1, 0, 0], [0, np.cos(0.1), -np.sin(0.1)], [0, np.sin(0.1), np.cos(0.1)]]
    )
    p = X.p + np.array([0.05, -0.03, 0.04])
    st = s.assemble(pose={"platform": (R, p)})
    got = s.pose(st, "platform")
    np.testing.assert_allclose(got.R, R, atol=1e-11)
    np.testing.assert_allclose(got.p, p, atol=1e-11)
    slides = [j.name for j in s.description.joints if j.type == "prismatic"]
    balls = [j for j in s.description.joints if j.type == "spherical"]
    hooke = [j for j in s.description.joints if j.type == "universal"]
    assert len(slides) == len(balls) == len(hooke) == 6
    for slide, ball, foot in zip(slides, balls, hooke, strict=True):
        on_platform = ball.frame_first.at if ball.first == "platform" else ball.frame_second.at
        base = np.array(foot.frame_first.at if foot.first == "ground" else foot.frame_second.at)
        length = np.linalg.norm(R @ np.array(on_platform) + p - base)
        start = np.linalg.norm(X.R @ np.array(on_platform) + X.p - base)
        assert st[slide] - s.start[slide] == pytest.approx(length - start, abs=1e-11)


@sweep("side", [1, -1], now=1)
def test_limits_are_the_dead_centers_of_a_double_rocker(side):
    """A non-Grashof four-bar: the crank stops where coupler and rocker are stretched into one line."""
    L = {"ground": 1.0, "crank": 0.6, "coupler": 0.5, "rocker": 0.4}
    m = lw.load(four_bar(**L) | {"drawing": {"A": [0, 0], "B": [0.5, 0.33], "C": [0.8, 0.35], "D": [1, 0]}})
    limits = m.limits("A")
    reach = L["coupler"] + L["rocker"]
    angle = np.arccos((L["ground"] ** 2 + L["crank"] ** 2 - reach**2) / (2 * L["ground"] * L["crank"]))
    assert not limits.full_turn and limits.dead_high and limits.dead_low
    got = limits.high if side > 0 else limits.low
    assert got == pytest.approx(side * angle, abs=1e-8)  # from the last point of the walk by the square-root law
    c = m.cycle(steps=24)
    assert "swings" in c.notes[0] and not c.full_turn


def test_beyond_the_reach_is_an_error_that_says_how_far_it_got():
    m = lw.load(four_bar(crank=0.6, coupler=0.5, rocker=0.4) | {"drawing": {"A": [0, 0], "B": [0.5, 0.33], "C": [0.8, 0.35], "D": [1, 0]}})
    with refused(AssemblyError, loop="A") as info:
        m.system.assemble(q={"A": "180 deg"})
    assert "A" in str(info.value) and "limits" in str(info.value)


def test_links_too_short_name_the_loop_the_gap_and_the_reach():
    begin = time.process_time()
    with pytest.raises(AssemblyError) as info:
        lw.load(four_bar(coupler=0.2, rocker=0.25)).cycle()
    text = str(info.value)
    assert "stays open by" in text and "reach at most 0.75 m" in text and "1 m apart" in text
    assert info.value.gap == pytest.approx(0.25 / 1.0, rel=0.5)
    assert time.process_time() - begin < 5.0


def test_the_branch_of_the_sketch_is_kept_over_a_turn():
    """Coupler and rocker keep their sense of rotation: the sign of the elbow never changes."""
    c = lw.load("four-bar").cycle(steps=90)
    s = c["rocker.angle"] - c["coupler.angle"]
    assert len(np.unique(np.sign(np.sin(s)))) == 1


@sweep("steps", [36, 90, 97], now=1)
def test_change_points_are_passed_on_the_smooth_branch(steps):
    """Equal-link slider-crank: q2 = 2 pi - 2 q1 exactly, through both singular positions (samples hit them for 36)."""
    m = lw.load("slider-crank-equal", start={"A": "30 deg"})
    c = m.cycle(steps=steps)
    a, b = c["A"], c["B"]
    np.testing.assert_allclose(b - b[0], -2.0 * (a - a[0]), atol=1e-7)  # at the singular sample itself the root is double
    np.testing.assert_allclose(c["B.v"], -2.0 * c["A.v"], atol=1e-5)
    np.testing.assert_allclose(c["B.a"], 0.0, atol=1e-3 * c["A.v"][0] ** 2)


def test_change_point_four_bar_follows_its_closed_form():
    """sin(delta/2) = sqrt(l0 l1/(l2 l3)) cos(a/2) for 1, 0.5, 0.8, 0.7 m, over one turn with one passage.

    delta is how far coupler and rocker are from being folded out into one line.
    """
    c = lw.load("change-point-four-bar").cycle(steps=120)
    a = c["A"]
    delta = np.pi - (c["rocker.angle"] - c["coupler.angle"])
    want = np.sqrt(1.0 * 0.5 / (0.8 * 0.7)) * np.cos(a / 2)
    got = np.sin(delta / 2)
    sign = np.sign(got[0] * want[0])
    np.testing.assert_allclose(sign * got, want, atol=1e-7)


def test_wishes_that_make_no_sense_are_refused():
    s = lw.load("four-bar").system
    with refused(ChannelError, name="Z", allowed=("A", "B", "C", "D")):
        s.assemble(q={"Z": 1.0})
    with pytest.raises(UsageError):
        s.state([0.0])
    with pytest.raises(UsageError):
        s.state([np.nan] * s.tree.nq)
    with pytest.raises(UsageError):
        mechanism_of(s).cycle("Z")
    with pytest.raises((SingularityError, UsageError, AssemblyError)):
        s.assemble(q={"A": 0.5, "D": 2.9})  # two wishes for one freedom that contradict each other


def test_a_free_joint_is_named_when_a_drive_is_missing():
    m = lw.load("five-bar")
    one = m.system.description.drives[0].joint
    from dataclasses import replace

    lone = lw.Mechanism(replace(m.description, drives=m.description.drives[:1]))
    with refused(UsageError, name="B"):
        lone.cycle(one)


@pytest.mark.parametrize(("model", "of"), [("five-bar", None), ("stewart", "platform"), ("3-rrr", "platform"), ("four-bar", "rocker.C")])
def test_jacobian_maps_drive_speeds_to_motion(model, of):
    """Columns against velocities assembled for random drive speeds."""
    s = lw.load(model).system
    of = of or next(n for n in s.start.channels if n.endswith(".C") and not n.startswith("ground"))
    drives = [d.joint for d in s.description.drives]
    J = s.jacobian(s.start, of=of)
    speeds = dict(zip(drives, np.random.default_rng(0).normal(size=len(drives)), strict=True))
    st = s.assemble(v=speeds)
    x = st.instant
    if "." in of:
        want = st[f"{of}.v"]
    else:
        node = compiled_of(s).skel.node(of)
        w, v = x.motion.V[node][:3], x.point_velocity(node, np.zeros(3))
        want = np.array([w[2], v[0], v[1]]) if s.description.planar else np.concatenate([w, v])
    np.testing.assert_allclose(J @ np.array(list(speeds.values())), want, atol=1e-10)
    assert s.jacobian(s.start, of=of, wrt=drives[0]).shape == (len(want), 1) if len(drives) == 1 else J.shape == (len(want), len(drives))


def test_accelerations_evaluate_the_loops_once_for_all_drives(monkeypatch):
    """A robot has many drives: the loops were evaluated twice for each of them."""
    s = lw.compile("stewart")
    st, drives = s.assemble(), [*compiled_of(s).drive_names]
    wanted = compiled_of(s).assembler.accelerations(st, {drives[0]: 1.0}, drives)
    evaluated = []
    own = TracedLoops.at
    monkeypatch.setattr(TracedLoops, "at", lambda self, *given: evaluated.append(1) or own(self, *given))
    assert np.array_equal(compiled_of(s).assembler.accelerations(st, {drives[0]: 1.0}, drives), wanted)
    assert len(drives) == 6 and len(evaluated) == 3


def test_redundant_drives_follow_those_before_them():
    s = lw.compile("four-bar")
    st = s.assemble(q={"A": 0.8}, v={"A": 2.0})
    joints = {j.name: j for j in s.description.joints}
    for names in (["A", "D"], ["D", "A"]):
        read = compiled_of(s).instant(st, compiled_of(s).assembler.accelerations(st, None, names))
        leading, other = (float(read.joint_accelerations(joints[name])[0]) for name in names)
        assert abs(leading) < 1e-12 and abs(other) > 0.1
