"""Near a change point a full turn cannot be determined from a swing: one three-way answer with its margin, for every question alike.

With b + c = a + d + e a four-bar turns fully for e > 0 and swings for e < 0; e is the slack that is found.
"""

import json

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.motion.change_points import EXACT, UNSURE
from linkwright.rings.cli.dispatch import main
from linkwright.rings.synthesis.motion_tracing import CrankLinkage
from tests.sweeps import sweep

A, C, D = 0.3, 0.7, 0.9


def four_bar(e, angle=1.0):
    """Crank A, coupler A + D - C + e, rocker C, ground D, the crank at an angle."""
    b = A + D - C + e
    B = A * np.exp(1j * angle)
    apart = D - B
    x = (b * b - C * C + abs(apart) ** 2) / (2 * abs(apart))
    P = B + (x + 1j * np.sqrt(b * b - x * x)) * apart / abs(apart)
    pins = {"A": [0.0, 0.0], "B": [B.real, B.imag], "C": [P.real, P.imag], "D": [D, 0.0]}
    bodies = {"ground": {"pins": ["A", "D"]}} | {
        n: {"pins": list(p), "mass": 1.0} for n, p in {"crank": "AB", "coupler": "BC", "rocker": "DC"}.items()
    }
    return {"name": "four bar", "plane": "xy", "drawing": pins, "bodies": bodies, "drive": {"A": 1.0}}


STEPS = 24  # of a cycle: the doubt is about the links, not about samples


def answers(document):
    m = lw.load(document)
    pins = {n: complex(*xy) for n, xy in document["drawing"].items()}
    traced = CrankLinkage(pins["A"], pins["B"], pins["C"], pins["D"], None, None)
    return m, m.cycle(steps=STEPS).full_turn, m.limits("A").full_turn, traced.full_turn


FAR = [(e, angle) for e in (1e-4, 3e-6, -3e-6, -1e-4) for angle in (2.0, 4.0)]


@sweep(("e", "angle"), [(-1e-5, 1.0), (1e-5, 1.0), *FAR], now=1)
def test_beyond_the_margin_all_tell(e, angle):
    assert answers(four_bar(e, angle))[1:] == (e > 0, e > 0, e > 0)


MORE = ((1.4e-6, 1.0), (-1.4e-6, 4.0), (6e-7, 2.0), (-4e-7, 1.0), (-1e-8, 1.0), (-1e-7, 4.0))


@sweep(("e", "angle"), [(1e-7, 1.0), (-6e-7, 2.0), *MORE], now=1)
def test_within_it_all_say_so_with_the_margin(e, angle):
    """These were claimed, denied and refused in turn."""
    m, *full = answers(four_bar(e, angle))
    assert full == [None, None, None]
    found = m.limits("A")
    assert found.slack == pytest.approx(e, abs=1e-10)  # of a quartic through points 4 to 9 mrad from the change point
    assert EXACT * compiled_of(m.system).loops.kappa < abs(e) < UNSURE * compiled_of(m.system).loops.kappa
    c = m.cycle(steps=STEPS)
    note = next(n for n in c.notes if "change point" in n)
    assert "cannot be determined" in note and "3.14" in note and ("to spare" in note) == (e > 0)
    # what is shown is on the branch that was drawn, up to shortly before the change point
    assert np.ptp(c["A"]) > 2 * np.pi - 0.05 and np.abs(c["A"]).max() < np.pi
    coupler, apart = c["coupler.C"] - c["coupler.B"], np.array([D, 0.0]) - c["coupler.B"]
    side = np.sign(coupler[:, 0] * apart[:, 1] - coupler[:, 1] * apart[:, 0])
    assert set(side.tolist()) == {side[0]}


def test_at_a_change_point_itself_the_smooth_branch_continues():
    """Exactly equal sums: not a doubt, and as before."""
    m, turn, limit, traced = answers(four_bar(0.0))
    assert turn is True and limit is True and traced is True
    assert any("passes a singular position" in n for n in m.cycle(steps=STEPS).notes)


def test_info_and_the_command_line_do_not_claim_it(tmp_path, capsys):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(four_bar(1e-7)))
    text = str(lw.load(str(path)).info())
    assert "cannot be determined" in text and "; full turn" not in text and "by 1e-07 m" in text
    assert main(["cycle", str(path), "--json", "--steps", "24"]) == 0
    assert json.loads(capsys.readouterr().out)["full_turn"] is None


def test_a_stored_turn_has_the_same_answer(tmp_path):
    c = lw.load(four_bar(1e-7)).cycle(steps=24)
    c.save(tmp_path / "c.npz")
    assert lw.load_result(tmp_path / "c.npz").full_turn is None
