"""Assembly modes are counted by the places of the bodies, against closed forms and literature."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused


def test_a_four_bar_has_two() -> None:
    """Two intersections of circles: mirror images about the diagonal from B to D."""
    s = lw.compile("four-bar")
    found = s.branches({"A": 1.0})
    assert len(found) == 2 and found.flips == (0, 0) and repr(found) == "<2 assembly modes>"
    B, D = (np.array(found[0][p][:2]) for p in ("crank.B", "ground.D"))
    across = np.array([[0.0, -1.0], [1.0, 0.0]]) @ (D - B) / np.linalg.norm(D - B)
    heights = [float((np.array(st["coupler.C"][:2]) - B) @ across) for st in found]
    assert heights[0] == pytest.approx(-heights[1], abs=1e-9) and abs(heights[0]) > 1e-3


def test_a_planar_platform_has_at_most_six_and_each_once() -> None:
    """3-RRR with its actuated joints held: the platform has up to six poses [Merlet, Parallel Robots, 4.3]."""
    s = lw.compile("3-rrr")
    held = {d.joint: float(s.start[d.joint]) for d in s.description.drives}
    found = s.branches(held, tries=80)
    turned = np.exp(1j * np.array([[float(st[f"{b.name}.angle"]) for b in s.description.bodies[1:]] for st in found]))
    apart = [np.abs(turned[i] - turned[k]).max() for i in range(len(found)) for k in range(i)]
    assert 2 <= len(found) <= 6 and min(apart) > 1e-5


def test_drives_are_held_at_the_start_and_a_free_mechanism_is_refused() -> None:
    """A five-bar with both cranks held: the two intersections of two circles; with one of them free there is a continuum."""
    s = lw.compile("five-bar")
    assert len(s.branches()) == 2
    with refused(lw.UsageError, name="B"):
        s.branches({"A": 0.3})


def platform(st: lw.State) -> np.ndarray:
    X = st.instant.motion.X[st.skel.node("platform")]
    return np.concatenate([X.p, X.R.ravel()])


def test_rods_turned_about_themselves_are_the_same_assembly() -> None:
    """RSSR with its crank held: the far end of the coupler is where a sphere about its near end meets a circle, in two points. The coupler
    may sit in its ball and universal joint in several ways."""
    found = lw.compile("rssr").branches()
    assert len(found) == 2 and min(found.flips) > 0


@pytest.mark.slow
def test_the_stewart_platform_has_eight_poses() -> None:
    """Eight by Newton's method from 20,000 random starts; 54 sets of coordinates were listed for them."""
    s = lw.compile("stewart")
    found = s.branches({d.joint: float(s.start[d.joint]) for d in s.description.drives})
    assert len(found) == 8 and sum(found.flips) > 8
    poses = [platform(st) for st in found]
    assert all(np.abs(a - b).max() > 1e-4 for i, a in enumerate(poses) for b in poses[:i])
