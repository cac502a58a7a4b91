"""Stored digits of Aghili's and Hoang's mechanisms, made again by tests/data/generate: quick ones here, all of them marked slow.

Doubles are stored, so values agree to the last bit or two where the generator has more digits (rel 4e-16 is one unit of the last place).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from mpmath import mp, mpf

from linkwright.rings.papers import aghili, aghili_control, hoang
from tests import ROOT
from tests.data.generate import (
    aghili_arm,
    aghili_cart,
    aghili_slider_crank,
    aghili_torques,
    hoang_readings,
    hoang_robot,
    hoang_stabilization,
    hoang_states,
)
from tests.reference import load

DATA = load("aghili_hoang")
LAST_BIT = 4e-16
FOLDER = ROOT / "tests" / "data" / "generate"


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(30):
        yield


def test_generators_know_nothing_of_the_product() -> None:
    """They import mpmath, each other, and modules of the closed-loop set that import mpmath alone."""
    seen, todo = set(), sorted(FOLDER.glob("*.py"))
    while todo:
        path = todo.pop()
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module] if isinstance(node, ast.ImportFrom) else []
            )
            assert not [n for n in names if n and n.startswith("linkwright")], path.name
            files = [ROOT / f"{n.replace('.', '/')}.py" for n in names if n and n.startswith(("tests", "benchmarks"))]
            todo += [f for f in files if f.is_file() and f not in seen]
    assert len(seen) >= 10


def test_motion_of_the_slider_crank() -> None:
    """A time and a passage of each gravity by quadrature; the second way integrates the equation of motion."""
    for gravity, time in (("0", "0.5"), ("9.81", "1")):
        q, speed = aghili_slider_crank.angle(gravity, time)
        stored = DATA["slider_crank_aghili"][f"g={float(gravity)}"]
        assert stored["exact"][str(float(time))]["q1dot"] == pytest.approx(float(speed), rel=LAST_BIT)
        assert aghili.SLIDER_CRANK[float(gravity)][aghili.TIMES.index(float(time))] == pytest.approx(float(q), rel=LAST_BIT)
        assert aghili.PASSAGES[float(gravity)][0] == pytest.approx(float(aghili_slider_crank.passage(gravity, 3)[0]), rel=LAST_BIT)
    other = aghili_slider_crank.integrated("9.81", "1", 8)
    assert abs(other[0] - q) < 1e-9 and abs(other[1] - speed) < 1e-9  # few steps


@pytest.mark.slow
def test_whole_motion_of_the_slider_crank() -> None:
    for gravity in aghili_slider_crank.GRAVITIES:
        g = float(gravity)
        stored = DATA["slider_crank_aghili"][f"g={g}"]
        for time, known in zip(aghili_slider_crank.TIMES, aghili.SLIDER_CRANK[g], strict=True):
            q, speed = aghili_slider_crank.angle(gravity, time)
            at = stored["exact"][str(float(time))]
            assert known == pytest.approx(float(q), rel=LAST_BIT) == at["q1"] and at["q1dot"] == pytest.approx(float(speed), rel=LAST_BIT)
            assert at["q2"] == pytest.approx(float(2 * mp.pi - 2 * q), rel=1e-15) and at["q2dot"] == pytest.approx(-2.0 * float(speed))
            assert abs(aghili_slider_crank.integrated(gravity, time, 160)[0] - q) < 1e-17
        for n in aghili_slider_crank.POSITIONS:
            time, speed = aghili_slider_crank.passage(gravity, n)
            at = stored["singular_crossings"][f"{n}pi/2"]
            assert at["t"] == pytest.approx(float(time), rel=LAST_BIT) and at["q1dot"] == pytest.approx(float(speed), rel=LAST_BIT)
            if n <= 2 * len(aghili.PASSAGES[g]) + 1:
                assert aghili.PASSAGES[g][(n - 3) // 2] == at["t"]


def check_torques(laws: tuple[str, ...], times: tuple[int, ...]) -> None:
    for g in aghili_torques.GRAVITIES:
        for law in laws:
            ends = DATA["slider_crank_closed_loop"][f"g={g},{law}"]
            for t, f, lam in ((0, "f0", "lam0"), (3, "f_end", "lam_end")):
                f1, f2, force = (float(x) for x in aghili_torques.torques(law, mpf(t), mpf(g)))
                assert [*ends[f], ends[lam]] == pytest.approx([f1, f2, force], rel=LAST_BIT, abs=1e-30)
            for T in times:
                known = ends["rms_T3_closed"] if T == 3 else DATA["slider_crank_controllers_rms"][f"g={g},velexp=2,T={T}"][law]
                assert known == pytest.approx(float(aghili_torques.rms(law, T, mpf(g))), rel=LAST_BIT)


def test_torques_of_the_slider_crank() -> None:
    with mp.workdps(18):
        check_torques(("2act",), (1,))


@pytest.mark.slow
def test_all_torques_of_the_slider_crank() -> None:
    check_torques(aghili_torques.LAWS, (1, 2, 3, 5))


def test_efforts_of_the_cart() -> None:
    stored = DATA["controllability_and_units"]["D"]["results"]
    for unit in aghili_cart.UNITS:
        bare, weighted = (aghili_cart.efforts(unit, weighted=w) for w in (False, True))
        for found, keys in ((bare, ("qdd_SI", "F_SI", "fpar_unweighted_SI")), (weighted, ("qdd_w_SI", "F_w_SI", "fpar_weighted_SI"))):
            for key, pair in zip(keys, found, strict=True):
                assert stored[unit][key] == pytest.approx([float(x) for x in pair], rel=LAST_BIT)
        assert list(aghili_control.CART_EFFORTS) == pytest.approx([float(x) for x in weighted.least], rel=LAST_BIT)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "offset"), aghili_arm.CASES)
def test_norms_of_the_arm(law: str, offset: float) -> None:
    """The stored ones were integrated with coarser steps: torques to 1e-9; without contact its force is round-off."""
    stored = DATA["planar_3R_own_data"][f"elbow-1 ideal {law} delta={offset:g}"]
    for key, x in aghili_arm.norms(law, offset)._asdict().items():
        assert stored[key] == pytest.approx(x, rel=1e-6 if key in ("ex", "eth") else 2e-9, abs=1e-10)


# -------------------------------------------------------------------- Hoang


def check_states(name: str, times: tuple[str, ...], tolerance: str, rel: float, columns: int = hoang_states.COLUMNS) -> None:
    stored = DATA["hoang_3rrr"][name]["states"]
    for time, at in hoang_states.states(hoang_states.CASES[name], times, mpf(tolerance), columns=columns).items():
        known = stored[time]
        for key, values in (("q", at.q), ("qdot", at.v), ("lam_eq17_sign", at.lam)):
            assert known[key] == pytest.approx([float(x) for x in values], rel=rel)
        assert [known["det_Phi_theta"], known["det_Phi_x"]] == pytest.approx([float(x) for x in at.determinants], rel=rel)
        assert at.gap < 1e3 * mpf(tolerance)


def test_states_of_the_robot_after_a_tenth_of_a_second() -> None:
    with mp.workdps(20):
        check_states("case1 u=[5,-5,5] V (k=10,c=10)", ("0.1",), "1e-12", 1e-10, 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", hoang_states.CASES)
def test_states_of_the_robot(name: str) -> None:
    check_states(name, hoang_states.TIMES, "1e-21", 2.0 * LAST_BIT)


def test_states_of_the_paper_module_are_the_stored_ones() -> None:
    for case, name in zip((1, 2), hoang_states.CASES, strict=False):
        assert hoang.STATES_AFTER_1S[case] == tuple(DATA["hoang_3rrr"][name]["states"]["1.0"]["q"])


def test_errors_of_the_papers_stabilization_after_a_tenth_of_a_second() -> None:
    right = [DATA["hoang_3rrr"]["case1 u=[5,-5,5] V (k=10,c=10)"]["states"]["0.1"]["q"]]
    stored = DATA["hoang_stabilization_errors_vs_truth"]["case1 dt=0.002 err at .1,.5,1,2,3"]
    for method in ("Baum+post", "M-orth full projection, no Baum"):
        (found,) = hoang_stabilization.errors(1, method, right, times=(0.1,))
        assert stored[method][0] == pytest.approx(found, rel=1e-6, abs=1e-13)  # round-off of 50 steps


@pytest.mark.slow
@pytest.mark.parametrize("case", hoang_stabilization.LAWS)
def test_errors_of_all_stabilizations(case: int) -> None:
    """Doubles: round-off is amplified some hundred times in three seconds."""
    right = hoang_stabilization.exact(case)
    stored = DATA["hoang_stabilization_errors_vs_truth"][f"case{case} dt=0.002 err at .1,.5,1,2,3"]
    for method in hoang_stabilization.METHODS:
        assert stored[method] == pytest.approx(hoang_stabilization.errors(case, method, right), rel=1e-5, abs=1e-11)


@pytest.mark.slow
def test_zeros_of_the_determinants_by_reading() -> None:
    stored = DATA["hoang_case2_crossings"]
    for name, (gain, damping) in hoang_readings.READINGS.items():
        assert tuple(stored[name]) == hoang_readings.crossings(hoang_robot.pd_law(gain, damping))
    for key, count in stored["scan (k,c)->n_x"].items():
        gain, damping = (float(x) for x in key.split(","))
        assert hoang_readings.crossings(hoang_robot.pd_law(gain, damping))[1] == count, key
    assert hoang_readings.crossings(hoang_robot.voltages) == hoang.crossings(1)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "L"), [(1, 5e-5), (1, 1e-4), (2, 7e-5)])
def test_what_a_small_inductance_changes(case: int, L: float) -> None:
    stored = DATA["motor_inductance_small"][f"case{case} La={'0.0001' if L == 1e-4 else f'{L:.0e}'} i0=0"]
    assert stored["max_0_0.5"] == pytest.approx(hoang_readings.inductance(case, L), rel=2e-3)  # the largest of other samples
