"""Static lost motion: closed forms, independent maximization over the plays of linkages written by hand, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwright as lw
from linkwright.rings import cli
from tests.refusals import refused

A, B, C, D = 0j, 0.02 + 0.04j, 0.1 + 0.07j, 0.09 + 0j
E, F, G = 0.13 + 0.05j, 0.3 + 0.12j, 0.3 + 0j


def at(z: complex) -> list[float]:
    return [z.real, z.imag]


def hole(c: float) -> dict[str, float]:
    return {"clearance": c, "radius": 0.01}


def four_bar(clearances: dict[str, float], **more: Any) -> dict[str, Any]:
    bodies = {"ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"]}, "rod": {"pins": ["B", "C"]}, "rocker": {"pins": ["C", "D"]}}
    return {
        "name": "linkage", "plane": "xy", "units": ["m", "deg"], "bodies": bodies,
        "drawing": {n: at(z) for n, z in zip("ABCD", (A, B, C, D), strict=True)},
        "clearances": {n: hole(c) for n, c in clearances.items()}, "drive": {"A": "60 rpm"}, **more,
    }  # fmt: skip


def six_bar(clearances: dict[str, float]) -> dict[str, Any]:
    model = four_bar(clearances)
    model["drawing"] |= {"E": at(E), "F": at(F), "G": at(G)}
    model["bodies"] |= {
        "ground": {"pins": ["A", "D", "G"]}, "rocker": {"pins": ["C", "D", "E"]}, "link": {"pins": ["E", "F"]},
        "flap": {"pins": ["F", "G"]},
    }  # fmt: skip
    return model


def dyad(p: complex, q: complex, first: float, second: float, side: float) -> complex:
    """The point at distances `first` of p and `second` of q."""
    d = q - p
    along = (first**2 - second**2 + abs(d) ** 2) / (2.0 * abs(d))
    return p + d / abs(d) * (along + 1j * side * np.sqrt(first**2 - along**2))


def side_of(p: complex, q: complex, x: complex) -> float:
    return float(np.sign(((x - p) * np.conj(q - p)).imag))


def rocker(crank: float, e: np.ndarray) -> tuple[complex, complex]:
    """Pin D of the rocker and its direction toward C, with offsets of B, C and D in the world."""
    b, d = A + abs(B - A) * np.exp(1j * crank) + e[0], D + e[2]
    c = dyad(b, d - e[1], abs(C - B), abs(C - D), side_of(B, D, C)) + e[1]
    return d, (c - d) / abs(c - d)


def four_bar_angle(crank: float, e: np.ndarray) -> float:
    return float(np.angle(rocker(crank, e)[1] / ((C - D) / abs(C - D))))


def six_bar_angle(crank: float, e: np.ndarray) -> float:
    d, along = rocker(crank, e)
    corner = d + along * (E - D) / ((C - D) / abs(C - D))
    tip = dyad(corner, G - e[3], abs(F - E), abs(F - G), side_of(E, G, F)) + e[3]
    return float(np.angle((tip - G) / (F - G)))


def largest(angle: Callable[[float, np.ndarray], float], crank: float, half: np.ndarray) -> float:
    """Mean of how far the angle moves to both sides, maximized over the directions of all offsets."""
    nominal, out = angle(crank, np.zeros(len(half))), 0.0
    for way in (1.0, -1.0):

        def short(x: np.ndarray, way: float = way) -> float:
            return -way * (angle(crank, half * np.exp(1j * x)) - nominal) / half.max()

        starts = np.random.default_rng(1).normal(size=(4, len(half)))
        found = [minimize(short, x, method="BFGS", options={"gtol": 1e-9}).fun for x in starts]
        out -= 0.5 * min(found) * half.max()
    return out


@pytest.mark.parametrize(
    ("model", "angle", "output", "names"), [(four_bar, four_bar_angle, "D", "BCD"), (six_bar, six_bar_angle, "G", "BCDF")]
)
def test_independent_maximization_over_the_offsets_agrees_to_second_order(model: Any, angle: Any, output: str, names: str) -> None:
    errors = []
    for c in (4e-4, 2e-4):
        half = c * np.array([1.0, 0.7, 1.3, 0.9])[: len(names)]
        found = lw.load(model(dict(zip(names, half, strict=True)))).lost_motion(output, steps=4)
        truth = np.array([largest(angle, x, half) for x in found.position[:-1]])
        errors.append(np.abs(found.half[:-1] / truth - 1.0).max())
    # the mean of both sides has no term of second order in c: the relative error falls as c^2
    assert errors[0] < 5e-3
    assert errors[1] < 0.3 * errors[0]


def test_a_lever_multiplies_the_clearance_by_its_arms() -> None:
    a, b, c = 0.08, 0.2, 5e-5
    model = {
        "name": "lever", "plane": "xy", "units": ["m", "deg"], "drawing": {"O": [0, 0], "P": [a, 0], "Q": [b, 0]},
        "bodies": {"ground": {}, "foot": {"pins": ["O"]}, "push": {"pins": ["P"]}, "lever": {"pins": ["O", "P"], "points": ["Q"]}},
        "joints": {
            "H": {"type": "prismatic", "between": ["ground", "foot"], "at": "O", "axis": [1, 0]},
            "V": {"type": "prismatic", "between": ["ground", "push"], "at": "P", "axis": [0, 1]},
        },
        "clearances": {"P": hole(c)}, "drive": {"V": "10 mm/s"},
    }  # fmt: skip
    found = lw.load(model).lost_motion("lever.Q.y", start=0.0, stop=1e-3, steps=2)
    # P.y = a sin(angle) + offset, Q.y = b sin(angle): b / a at every angle, round-off of a solve of five rows
    assert found.half == pytest.approx(b / a * c, rel=1e-12)


@pytest.mark.parametrize("reach", [0.01, 0.3])
def test_a_block_tilts_between_the_walls_of_its_guide(reach: float) -> None:
    c, length = 1e-4, 0.05
    model = {
        "name": "guide", "plane": "xy", "units": ["m", "deg"], "drawing": {"S": [0, 0], "T": [reach, 0], "W": [-0.1, 0]},
        "bodies": {"ground": {"points": ["W"]}, "block": {"points": ["S", "T"]}},
        "joints": {"S": {"type": "prismatic", "between": ["ground", "block"], "at": "S", "axis": [1, 0]}},
        "clearances": {"S": {"clearance": c, "length": length, "radius": 0.01}},
        "cylinders": {"ram": {"between": ["ground.W", "block.S"]}}, "drive": {"ram": "10 mm/s"},
    }  # fmt: skip
    m = lw.load(model)
    found = m.lost_motion("block.T.y", start=0.1, stop=0.11, steps=2)
    assert found.half == pytest.approx(max(c, 2.0 * c * reach / length), rel=1e-12)  # shifted or tilted, whichever is more
    assert m.lost_motion("block.T.x", start=0.1, stop=0.11, steps=2).half == pytest.approx(0.0, abs=1e-18)


def test_gears_lose_half_their_play_to_each_side() -> None:
    r, play = (0.02, 0.05), 2e-4
    model = {
        "name": "gears", "plane": "xy", "units": ["m", "deg"], "drawing": {"A": [0, 0], "B": [sum(r), 0]},
        "bodies": {"ground": {"pins": ["A", "B"]}, "first": {"pins": ["A"]}, "second": {"pins": ["B"]}},
        "gears": {"g": {"joints": ["A", "B"], "radii": list(r), "play": play}}, "drive": {"A": "60 rpm"},
    }  # fmt: skip
    found = lw.load(model).lost_motion("B", steps=4)
    assert found.half == pytest.approx(0.5 * play / r[1], rel=1e-12)
    assert found.plays == ("g",)


def test_play_of_a_coupling_is_multiplied_by_the_linkage_behind_it() -> None:
    play = 0.01
    model = four_bar({"B": 1e-5})
    model["bodies"] |= {"motor": {"pins": ["M"]}}
    model["bodies"]["ground"] = {"pins": ["A", "D", "M"]}
    model["drawing"]["M"] = [-0.1, 0.0]
    m = lw.load({**model, "couplings": {"k": {"from": "M", "to": "A", "ratio": 0.5, "play": f"{play} rad"}}, "drive": {"M": "60 rpm"}})
    found = m.lost_motion("D", steps=8)
    h = 1e-6
    crank = float(np.angle(B)) + 0.5 * (found.position - found.position[0])
    rate = np.array([(four_bar_angle(x + h, np.zeros(3)) - four_bar_angle(x - h, np.zeros(3))) / (2.0 * h) for x in crank])
    k = found.plays.index("k")
    assert found.contributions[:, k] == pytest.approx(0.5 * play * np.abs(rate), rel=1e-7, abs=1e-11)  # differences over 1e-6


def test_what_is_refused() -> None:
    with refused(lw.ChannelError, name="D.lost_motion"):
        lw.load("four-bar").lost_motion("D")
    m = lw.load(four_bar({"B": 1e-5}))
    with refused(lw.ChannelError, name="D.v"):
        m.lost_motion("D.v", steps=4)
    with refused(lw.ChannelError, name="crank.B"):
        m.lost_motion("crank.B", steps=4)
    with refused(lw.UsageError, name="B.contact.gap"):  # a corner of the plays, not a motion of the mechanism
        m.lost_motion("B.contact.gap", steps=4)
    bodies = {"ground": {"pins": ["A", "B", "C"]}, "bar": {"pins": ["D", "E", "F"]}}
    bodies |= {f"link{i}": {"pins": pair} for i, pair in enumerate((["A", "D"], ["B", "E"], ["C", "F"]))}
    drawing = {"A": [0, 0], "B": [1, 0], "C": [2, 0], "D": [0.3, 1], "E": [1.3, 1], "F": [2.3, 1]}
    three = {"name": "three", "plane": "xy", "units": ["m", "deg"], "drawing": drawing, "bodies": bodies, "drive": {"A": "10 rpm"}}
    with refused(lw.ChannelError, name="E"):  # a parallel crank too many: the pin cannot move along its link
        lw.load({**three, "clearances": {"E": hole(1e-4)}}).lost_motion("A", steps=4, start="70 deg", stop="80 deg")


R, L, CLEARANCE = 0.05, 0.15, 5e-5


def press(**more: Any) -> dict[str, Any]:
    mass = {"mass": 1, "inertia": 0.01}
    return {
        "name": "press", "plane": "xy", "units": ["m", "deg"], "drawing": {"A": [0, 0], "B": [R, 0], "C": [R + L, 0]},
        "bodies": {
            "ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"], **mass}, "rod": {"pins": ["B", "C"], **mass},
            "ram": {"pins": ["C"], **mass},
        },
        "joints": {"S": {"type": "prismatic", "between": ["ground", "ram"], "at": "C", "axis": [1, 0]}}, "drive": {"A": "60 rpm"}, **more,
    }  # fmt: skip


LOOSE = press(clearances={"B": hole(CLEARANCE), "C": hole(CLEARANCE)})


def test_a_cycle_has_ideal_joints_and_their_loads() -> None:
    found, ideal = lw.load(LOOSE).cycle(steps=12), lw.load(press()).cycle(steps=12)
    for name in ("S", "S.a", "A.torque", "B.load", "C.on.ram.x"):
        np.testing.assert_array_equal(found[name], ideal[name])
    assert any("B and C" in x or "B, C" in x for x in found.notes) and not any("clearance" in x for x in ideal.notes)
    assert {"S.lost_motion", "rod.angle.lost_motion"} <= set(found.channels) and not any("lost" in x for x in ideal.channels)


def of_rod(length: Any) -> Any:
    """Largest lost motion, with the crank across: both clearances over the cosine of the rod's inclination."""
    return 2.0 * CLEARANCE / np.sqrt(1.0 - (R / length) ** 2)


def test_channel_measure_study_derivative_and_optimum_are_the_same_closed_form() -> None:
    case = lw.Cycle(steps=36)
    c = lw.load(LOOSE).cycle(steps=36)
    lost = CLEARANCE * 2.0 / np.sqrt(1.0 - (R * np.sin(c["A"]) / L) ** 2)
    np.testing.assert_allclose(c["S.lost_motion"], lost, rtol=1e-12)
    np.testing.assert_allclose(c["S.lost_motion.B"] + c["S.lost_motion.C"], lost, rtol=1e-12)
    np.testing.assert_allclose(lw.load(LOOSE).lost_motion("S", steps=36).half, lost, rtol=1e-12)
    assert c.measure("max S.lost_motion") == pytest.approx(of_rod(L), rel=1e-9)
    study = lw.study(LOOSE, {"rod.length": [0.15, 0.2, 0.25]}, "max S.lost_motion", case=case)
    np.testing.assert_allclose(study["max S.lost_motion"], of_rod(np.array([0.15, 0.2, 0.25])), rtol=1e-9)
    slope = lw.load(LOOSE).tolerances({"rod.length": "+- 0.1 mm"}, "max S.lost_motion", method="linear", case=case)
    h = 1e-6
    rate = (of_rod(L + h) - of_rod(L - h)) / (2.0 * h)
    assert slope["max S.lost_motion"]["rod.length"].derivative == pytest.approx(rate, rel=1e-8) and slope.exact


@pytest.mark.slow
def test_the_shortest_rod_within_a_lost_motion() -> None:
    wanted, case = "max S.lost_motion < 0.103 mm", lw.Cycle(steps=36)
    best = lw.load(LOOSE).optimize("min rod.length", {"rod.length": "120..300 mm"}, wanted, case, count=4, starts=1, progress=False)
    assert best.feasible and of_rod(best.numbers["rod.length"]) == pytest.approx(1.03e-4, rel=1e-6)


def test_plays_count_beside_tolerances() -> None:
    vary = {"crank.length": "+- 0.05 mm", "rod.length": "+- 0.1 mm"}
    t = lw.load(LOOSE).tolerances(vary, ["stroke S", "peak S.v"], count=16, case=lw.Cycle(steps=36))
    r = t["stroke S"]
    # in both dead centers all links lie in one line: each play and the crank's tolerance count at both ends, the rod not at all
    made = {"crank.length": 1e-4, "B": 2 * CLEARANCE, "C": 2 * CLEARANCE, "rod.length": 0.0}
    assert {x.name: x.makes for x in r.contributions} == pytest.approx(made, rel=1e-9, abs=1e-12)
    assert r.worst == pytest.approx(3e-4, rel=1e-9) and r.deviation == pytest.approx(np.sqrt(3.0) * 1e-4 / 3.0, rel=1e-9)
    assert {x.name for x in t["peak S.v"].contributions} == set(vary) and any("peak S.v: plays are left out" in x for x in t.notes)
    limits = (2 * R - 2.9e-4, None)
    corners = lw.load(LOOSE).tolerances(vary, "stroke S", method="corners", limits=limits, case=lw.Cycle(steps=36))["stroke S"]
    assert corners.corners == pytest.approx((2 * R - 3e-4, 2 * R + 3e-4), rel=1e-9) and corners.corners_outside == 2


@pytest.mark.slow
def test_drawn_plays_deviate_like_their_linear_sum() -> None:
    vary = {"crank.length": "+- 0.05 mm", "rod.length": "+- 0.1 mm"}
    r = lw.load(LOOSE).tolerances(vary, ["stroke S", "peak S.v"], count=2048, case=lw.Cycle(steps=36))["stroke S"]
    assert r.drawn_deviation == pytest.approx(0.9866 * r.deviation, rel=0.05)  # laws that end at three deviations; 2048 designs


def test_result_and_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "linkage.json"
    path.write_text(json.dumps(four_bar({"B": 1e-4, "C": 1e-4})))
    found = lw.load(path).lost_motion("D", steps=6)
    assert found.ok
    assert found.half == pytest.approx(found.contributions.sum(axis=1))
    assert found.largest == found.half.max()
    cli.main(["lost-motion", str(path), "D", "--steps", "6", "--json", "--plot", str(tmp_path / "lost.png")])
    said = json.loads(capsys.readouterr().out)
    assert said["half"] == pytest.approx(found.half, rel=1e-12)
    assert (tmp_path / "lost.png").stat().st_size > 1000
