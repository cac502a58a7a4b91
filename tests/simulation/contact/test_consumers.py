"""What else reads runs with contact: saved runs, studies, optimization, reactions, exports, derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from tests.simulation.contact.models import G, disk

SLIDING = {**disk(0.1, mu="mu"), "parameters": {"mu": 0.3}, "start": {"base.y": 0.1, "base.vx": 2.0}}


def place(mu: float) -> float:
    """Of a disk after 1 s that slid at first at 2 m/s."""
    t = 2.0 / (3.0 * mu * G)
    return 2.0 * t - 0.5 * mu * G * t * t + 4.0 / 3.0 * (1.0 - t)


def test_a_saved_run_keeps_what_touches(tmp_path):
    run = lw.load(SLIDING).simulate(1.0)
    run.save(tmp_path / "run.npz")
    again = lw.load_result(tmp_path / "run.npz")
    assert [(x.name, x.time) for x in again.events] == [(x.name, x.time) for x in run.events]
    for name in ("step.force", "step.friction", "step.state", "step.impulse", "work.contact", "shaking.force"):
        np.testing.assert_array_equal(again[name], run[name])
    assert again.checks().ok and again.certificate.touches == 1


def test_studies_and_optimization_run_with_their_own_friction():
    found = lw.study(SLIDING, {"mu": [0.2, 0.3, 0.4]}, ["end b.O.x"], case=lw.Run(1.0))
    np.testing.assert_allclose(found["end b.O.x"], [place(0.2), place(0.3), place(0.4)], rtol=1e-9)


BALL = {**disk(0.1, restitution="e"), "parameters": {"e": 0.5}, "start": {"base.y": 1.1}}
FALL = np.sqrt(2.0 / G)  # s, from 1 m


def test_optimize_finds_the_restitution_of_a_bounce_height():
    """Goals of runs with impacts are optimized by differences of runs: after the bounce the ball flies on a parabola."""
    case, t = lw.Run(0.7, sample_interval=0.1), 0.7 - FALL
    best = lw.load(BALL).optimize("min e", {"e": "0.3..0.9"}, "end b.O.y > 0.5 m", case, count=2, starts=1, progress=False)
    e = (0.4 + 0.5 * G * t * t) / (G * FALL * t)
    assert best.feasible and best.numbers["e"] == pytest.approx(e, abs=6e-5)  # 1e-4 of the range
    assert any("differences" in x for x in best.notes)


@pytest.mark.slow
def test_optimize_finds_the_least_spring_that_holds_a_load_by_friction():
    """A block between two jaws, one pushed by a spring: it slips while 2 mu F < m g."""
    block = {
        "plane": "xy", "gravity": [0, -G], "parameters": {"push": 5.0},
        "bodies": {
            "ground": {"points": {"L": [0, 0], "R": [0.1, 0]}},
            "block": {"points": {"P": [0.02, 0]}, "mass": 0.4, "com": "P", "inertia": 1e-3},
        },
        "joints": {"y": {"type": "planar", "between": ["ground", "block"], "at": [0.02, 0]}},
        "surfaces": {"side": {"circle": "block.P", "radius": 0.02}, "wall": {"line": "ground.L", "normal": [1, 0]}},
        "contacts": {"grip": {"between": ["side", "wall"], "mu": 0.5}},
        "loads": {"spring": {"on": "block.P", "force": ["-push * 1 N", 0]}},
    }  # fmt: skip
    run = lw.load(block, push=9.0).simulate(0.1)
    assert run.certificate.ok and run["grip.state"][-1] in (1.0, 2.0)
    case, wanted = lw.Run(0.1), "end block.P.vy > -0.2 m/s"
    best = lw.load(block).optimize("min push", {"push": "2..12"}, wanted, case, count=2, starts=1, progress=False)
    # it slips, and is turned too slowly to roll: a = g - mu F / m
    assert best.feasible and best.numbers["push"] == pytest.approx(0.4 * (G - 2.0) / 0.5, abs=2e-3)


def test_a_joint_carries_what_its_body_pushes_with():
    """A rod leans on the floor without friction: its pin carries half of the weight, and so does the floor."""
    leaning = {
        "plane": "xy",
        "gravity": [0, -G],
        "drawing": {"A": [0, 0.6], "B": [0.8, 0.0], "O": [0, 0]},
        "bodies": {"ground": {"pins": ["A"], "points": ["O"]}, "rod": {"pins": ["A"], "points": ["B"], "mass": 2, "com": [0.4, 0.3]}},
        "surfaces": {"floor": {"line": "ground.O", "normal": [0, 1]}, "tip": {"circle": "rod.B", "radius": 0}},
        "contacts": {"step": {"between": ["tip", "floor"]}},
    }
    run = lw.load(leaning).simulate(0.2)
    assert run["step.force"][-1] == pytest.approx(G, rel=1e-9)
    np.testing.assert_allclose(run["A.on.rod"][-1], [0.0, G], atol=1e-8)


def test_exports_say_what_they_lose_and_derivatives_refuse_contact(tmp_path):
    m = lw.load(SLIDING)
    for name in ("m.c", "m.js"):
        with pytest.warns(UserWarning, match="step"):
            m.export(tmp_path / name)
    with pytest.raises(UsageError):
        m.simulate(1.0).derivatives(["mu"])


def test_a_pin_with_play_comes_to_the_ideal_pin():
    """A slider-crank from rest under its weight: its slider is off by no more than some times the play, and the loop stays closed."""

    def model(play: float) -> dict:
        pin = {"pin": "B", "between": ["crank", "rod"]} | ({"clearance": play, "radius": 0.01} if play else {})
        return {
            "plane": "xy",
            "gravity": [0, -G],
            "drawing": {"A": [0, 0], "B": [0.08, 0.06], "C": [0.4, 0]},
            "bodies": {
                "ground": {"pins": ["A"], "points": ["C"]},
                "crank": {"pins": ["A", "B"], "mass": 1, "inertia": 0.005},
                "rod": {"pins": ["B", "C"], "mass": 0.5, "inertia": 0.004},
                "slide": {"pins": ["C"], "mass": 0.7, "inertia": 0.001},
            },
            "joints": {"B": pin, "S": {"type": "prismatic", "between": ["ground", "slide"], "at": "C", "axis": [1, 0]}},
        }

    ideal = lw.load(model(0.0)).simulate(0.3, sample_interval=0.01)
    far = []
    for play in (1e-3, 1e-4, 1e-5):
        run = lw.load(model(play)).simulate(0.3, sample_interval=0.01)
        far.append(float(np.abs(run["slide.C.x"] - ideal["slide.C.x"]).max()))
        c = run.certificate
        assert c.ok and c.touch_depth < 1e-12 * c.size and c.position_residual < 1e-14
        assert np.diff(run["energy.total"]).max() < 1e-9
    assert far[0] < 5e-3 and far[1] < 0.5 * far[0] and far[2] < 0.5 * far[1], far
