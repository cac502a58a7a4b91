"""Dragging: points stay on the curves the links allow, dead centers stop the hand and say so, no branch is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.studio import live
from linkwright.system.mechanism import mechanism_of
from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.browser.hand import Finger, Mouse, place, settled, side

ON_THE_CURVE = 1e-6  # m

# The wiper as its file draws it, in meters
A, B, C, D, P = (np.array(x) / 1000 for x in ([0, 0], [150, 260], [905, 750], [1000, 0], [600, 760]))


def turned(v: np.ndarray, angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ v


def coupler_point(b: np.ndarray) -> np.ndarray:
    """P of the wiper for a place of crank pin B: C where two circles meet, on the side of the drawing, then P in the coupler."""
    coupler, rocker = np.hypot(*(C - B)), np.hypot(*(C - D))
    way = D - b
    far = np.hypot(*way)
    along = (far**2 + coupler**2 - rocker**2) / (2 * far)
    across = np.sqrt(coupler**2 - along**2) * np.sign(side(B, D, C))
    c = b + (along * way + across * np.array([-way[1], way[0]])) / far
    turn = np.arctan2(*(c - b)[::-1]) - np.arctan2(*(C - B)[::-1])
    return b + turned(P - B, turn)


def check_on_the_curve(desk: Desk) -> float:
    """Crank pin on its circle, coupler point where the loop puts it for this crank angle; returns the angle."""
    b, p, drive = place(desk, "B")[:2], place(desk, "coupler.P")[:2], desk.ask("e.state.drive[0]")
    assert abs(np.hypot(*(b - A)) - np.hypot(*(B - A))) < ON_THE_CURVE
    assert np.abs(p - coupler_point(b)).max() < ON_THE_CURVE
    system = lw.load("wiper").system
    assert np.abs(system.point(system.assemble(q={"A": drive}), "coupler.P")[:2] - p).max() < ON_THE_CURVE
    return float(np.arctan2(b[1], b[0]))


@pytest.mark.slow
@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "finger"])
def test_the_crank_turns_and_the_coupler_point_keeps_to_its_curve(
    touch: bool, page_of: Callable[[str], Path], desk: Callable[..., Desk]
) -> None:
    here = desk(page_of("wiper"), "#s=0&play=0", touch=touch)
    hand = Finger(here) if touch else Mouse(here)
    start = place(here, "B")[:2]
    hand.take(place(here, "B"))
    angles = [check_on_the_curve(here)]
    for angle in np.radians([25, 60, 100, 150, 210]):
        # off the circle, as hands are: the crank points at the hand
        hand.move([*(1.15 * turned(start, angle)), 0.0])
        angles.append(check_on_the_curve(here))
        assert np.abs(np.exp(1j * (angles[-1] - angles[0])) - np.exp(1j * angle)) < 0.02
    hand.release()
    assert np.ptp(np.unwrap(angles)) > np.radians(200)


def test_any_point_can_be_taken(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#s=20&play=0")
    hand = Mouse(here)
    before = place(here, "coupler.P")
    target = np.add(before, [-0.12, 0.05, 0.0])
    hand.take(before)
    for part in (0.25, 0.5, 0.75, 1.0):
        hand.move(before + part * (target - before))
        check_on_the_curve(here)
    hand.release()
    # as near to the hand as its curve allows: no place of the curve is nearer
    curve = np.array([coupler_point(turned(B, angle)) for angle in np.linspace(0, 2 * np.pi, 3601)])
    nearest = np.hypot(*(curve - target[:2]).T).min()
    assert np.hypot(*(place(here, "coupler.P") - target)[:2]) < nearest + 0.004
    assert here.ask("e.state.ok")


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A four-bar whose crank is too long to turn round."""
    return live.write(lw.load("four-bar", L1="0.8 m"), tmp_path_factory.mktemp("limited") / "four-bar.html")


@pytest.mark.slow
def test_a_dead_center_stops_the_hand_and_says_so(limited: Path, desk: Callable[..., Desk]) -> None:
    here = desk(limited, "#s=180&play=0")
    system = lw.load("four-bar", L1="0.8 m").system
    limits = mechanism_of(system).limits("A")
    assert limits.dead_high and not limits.full_turn
    a, d = place(here, "A"), place(here, "D")

    def bends() -> float:
        return float(np.sign(side(place(here, "B"), d, place(here, "C"))))

    branch = bends()
    hand = Mouse(here)
    radius = place(here, "B") - a
    hand.take(place(here, "B"))
    told = ""
    for angle in np.linspace(0, np.radians(200), 21)[1:]:
        hand.move(np.add(a, [*turned(radius[:2], angle), 0.0]))
        drive = here.ask("e.state.drive[0]")
        assert limits.low - 1e-6 <= drive <= limits.high + 1e-6 and here.ask("e.state.ok")
        assert bends() == branch, "the mechanism has gone over to the other side"
        told = told or here.text("#message")
    assert "dead center" in told
    stuck = here.ask("e.state.drive[0]")
    # half a degree from the end at most: the hand has come as far as the links go
    assert limits.high - stuck < np.radians(3)
    hand.move(a + radius)
    assert abs(here.ask("e.state.drive[0]") - stuck) > np.radians(5), "the hand does not come back"
    hand.release()
    assert bends() == branch


@pytest.mark.slow
def test_three_legs_pulled_away_keep_their_elbows(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("3-rrr-motors"), "#s=0&play=0")

    def legs() -> np.ndarray:
        """Bearing, elbow and platform corner of each leg."""
        named = [[("ground", f"O{i}"), (f"crank{i}", "A"), ("platform", f"B{i}")] for i in (1, 2, 3)]
        found = "Array.from(e.place(body, DATA.bodies.find((b) => b.name === body).points.find((p) => p.name === point).at))"
        return np.array(here.ask(f"x.map((leg) => leg.map(([body, point]) => {found}))", named))

    elbows = np.sign([side(*leg) for leg in legs()])
    hand = Mouse(here)
    center = np.array(here.ask("Array.from(e.place('platform', [0, 0, 0]))"))
    hand.take(center)
    told = ""
    for step in ([0.3, 0.1], [0.6, 0.2], [0.3, -0.5], [-0.5, -0.3], [0.0, 0.7], [0.0, 0.0]):
        hand.move(np.add(center, [*step, 0.0]))
        now = legs()
        # cranks and rods keep their lengths, so nothing came apart
        assert np.abs(np.linalg.norm(now[:, 1] - now[:, 0], axis=1) - 0.581).max() < ON_THE_CURVE
        assert np.abs(np.linalg.norm(now[:, 2] - now[:, 1], axis=1) - 0.62).max() < ON_THE_CURVE
        assert (np.sign([side(*leg) for leg in now]) == elbows).all(), "an elbow has gone over"
        told = told or here.text("#message")
    assert "dead center" in told
    hand.release()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "unique"), [("bennett", False), ("door", False), ("rssr-7r", True)])
def test_loops_in_space_are_dragged_and_swing_and_say_what_is_not_unique(
    name: str, unique: bool, page_of: Callable[[str], Path], desk: Callable[..., Desk]
) -> None:
    here = desk(page_of(name), "#s=40&play=0")
    m = lw.load(name)
    loads = m.cycle().instant(40).loads
    told = here.ask("Object.fromEntries(DATA.pins.flatMap((p) => p.bodies.map((b) => [p.name + '|' + b, p.unique[b]])))")
    expected = {key: bool(np.all(loads.on(*key.split("|")).unique_force)) for key in told}
    assert told == expected and all(expected.values()) == unique
    assert ("not unique" in here.text("#pins")) != unique
    before = here.ask("e.state.drive[0]")
    grip = here.ask("DATA.points.length ? DATA.points[0].name : DATA.pins.find((p) => !p.grounded).name")
    hand = Mouse(here)
    held = place(here, grip)
    hand.take(held)
    hand.move(held + 0.05 * np.array(here.ask("DATA.scene.extent.high.map((h, i) => h - DATA.scene.extent.low[i])")))
    hand.release()
    assert here.ask("e.state.ok") and abs(here.ask("e.state.drive[0]") - before) > 1e-4
    system = m.system
    assert np.abs(system.closure(system.state(here.ask("Array.from(e.state.q)"))).phi).max() < 1e-9
    here.page.click("#swing")
    settled(here)
    here.page.wait_for_function("LW.app.engine.swing.t > 0.1")


@pytest.mark.slow
def test_arrow_keys_drag_what_has_the_focus(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#s=0&play=0")
    here.page.focus('#stage [data-kind="pin"][data-name="B"]')
    before = check_on_the_curve(here)
    for _ in range(4):
        here.page.keyboard.press("ArrowLeft")
        settled(here)
    assert abs(check_on_the_curve(here) - before) > np.radians(1)
