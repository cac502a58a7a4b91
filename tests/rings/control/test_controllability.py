"""Which motions drives can push: closed forms, dead centers, idle freedoms, and the paper's range condition on random matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.drives.base import target
from linkwright.errors import UsageError
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.motion.controllability import controllable, controllable_of_matrices, drive_rows
from linkwright.system.system import System
from tests.reference import load
from tests.refusals import refused
from tests.sweeps import sweep

PAPER = load("aghili_hoang")["controllability_and_units"]
BOOM = {
    "name": "boom", "plane": "xy",
    "drawing": {"O": [0, 0], "F": [0.5, -0.8], "Q": [1.0, 0.25]},
    "bodies": {"ground": {"pins": ["O"], "points": ["F"]}, "boom": {"pins": ["O"], "points": ["Q"]}},
    "cylinders": {"lift": {"between": ["ground.F", "boom.Q"]}},
}  # fmt: skip


@pytest.fixture(scope="module")
def crank() -> System:
    return lw.compile(lw.load("slider-crank-equal"))


def moves_nothing(s: System, st: lw.State, found) -> tuple[float, float]:
    """How much the told direction moves the loops, and the drives (dimensionless)."""
    v = np.array([found.direction[name] for name in s.names.v])
    assert np.abs(v / compiled_of(s).loops.columns).max() == 1.0
    loops = np.abs(s.closure(st).J @ v / compiled_of(s).loops.row_scale).max(initial=0.0)
    return loops, np.abs(drive_rows(compiled_of(s).loops, st, found.drives) @ v).max(initial=0.0)


# ---------------------------------------------------------------- the slider-crank [Aghili2005 VIII-B]


@pytest.mark.parametrize(("angle", "key"), [(math.pi / 6, "C q1=pi/6"), (math.pi / 2 - 1e-3, "C q1=pi/2-1e-3")])
def test_one_active_joint_is_enough_at_regular_positions(crank: System, angle: float, key: str) -> None:
    """The motion is (1, -2)/sqrt(5), of which A sees 1/sqrt(5); 1e-11: next to the singular position J's row is 1e-3."""
    found = crank.controllable(crank.assemble({"A": angle}))
    assert found and found.ok and PAPER[key]["cond62_N_cap_Bperp_zero"]
    assert found.smallest == pytest.approx(PAPER[key]["smin_BV2"], abs=1e-11) == pytest.approx(1 / math.sqrt(5), abs=1e-11)
    assert (found.freedoms, found.drives, found.excess, found.missing) == (1, ("A",), 0, 0)
    assert found.direction == pytest.approx({"A": -0.5, "B": 1.0}, abs=1e-9)
    assert str(found) == "1 drive moves 1 degree of freedom; smallest singular value 0.447."


def test_at_the_singular_position_both_joints_are_needed(crank: System) -> None:
    upright = crank.assemble({"A": math.pi / 2})
    alone = crank.controllable(upright)
    assert not alone and alone.smallest == PAPER["C q1=pi/2"]["smin_BV2"] == 0.0
    assert alone.freedoms == PAPER["C q1=pi/2"]["dimN"] == 2 and alone.direction == {"A": 0.0, "B": 1.0}
    assert alone.advice == ("B",)
    assert alone.text == (
        "1 drive cannot move 2 degrees of freedom, 1 more is needed: "
        "no drive acts on the motion in which B turns (B 1 rad/s). A drive at B would."
    )
    both = crank.controllable(upright, ["A", "B"])
    assert both and both.smallest == pytest.approx(1.0, abs=1e-12) and both.excess == 0
    assert crank.controllable(crank.start, ["A", "B"]).excess == 1


def test_a_coordinate_of_a_cut_joint_and_no_drive_at_all(crank: System) -> None:
    """The slider moves by x = 2 l cos A: dx = -2 l sin A dA on the motion (1, -2)/sqrt(5), in kappa."""
    st = crank.assemble({"A": "120 deg"})
    found = crank.controllable(st, "C.slide")
    assert found.smallest == pytest.approx(math.sqrt(3) / math.sqrt(5) / compiled_of(crank).loops.kappa, rel=1e-12)
    stretched = crank.assemble({"A": "1e-10 rad"})  # dead center of the slider: its speed is 2e-10 of the crank's
    dead = crank.controllable(stretched, ["C.slide"])
    assert not dead and dead.smallest < 1e-9 and max(moves_nothing(crank, stretched, dead)) < 1e-9
    assert "B and A turn against each other (B 1 rad/s, A -0.5 rad/s): drive C.slide loses control authority here (s = " in dead.text
    none = crank.controllable(st, [])
    assert not none and none.missing == 1 and none.text.startswith("1 degree of freedom and no drive: no drive acts on")


# ---------------------------------------------------------------- Hoang's robot


def test_motors_lose_the_platform_where_the_determinant_vanishes() -> None:
    """[Hoang2023 Fig. 2]: at a zero of det Phi_x the platform moves with all cranks at rest, though J has full rank there."""
    s = lw.compile(lw.load("3-rrr-motors"))
    volts = {"A1": lw.drives.voltage(5.0), "A2": lw.drives.voltage(-5.0), "A3": lw.drives.voltage(5.0)}
    run = s.simulate(s.start, 0.43, drive=volts, sample_interval=2e-4, tolerance=1e-8)
    crossings = np.flatnonzero(np.diff(np.sign(run["det.dependent"])))
    assert len(crossings) == 2
    beside = [s.controllable(run[int(i) + k]) for i in crossings for k in (0, 1)]
    assert all(x.ok and 1e-6 < x.smallest < 2e-3 for x in beside)  # the rest of the run: median 0.07 in the reference
    low, high = run[int(crossings[0])], run[int(crossings[0]) + 1]
    ends = [np.array([st["P.x"], st["P.y"], st["P.angle"]]) for st in (low, high)]
    platform = [s.names.v.index(name) for name in ("P.x", "P.y", "P.angle")]

    def det(share: float) -> tuple[float, lw.State]:
        st = s.assemble(pose={"platform": tuple(ends[0] + share * (ends[1] - ends[0]))}, guess=low)
        return float(np.linalg.det(s.closure(st).J[:, platform])), st

    a, b = 0.0, 1.0
    sign = np.sign(det(a)[0])
    while b - a > 1e-12:
        middle = 0.5 * (a + b)
        a, b = (middle, b) if np.sign(det(middle)[0]) == sign else (a, middle)
    value, zero = det(a)
    found = s.controllable(zero)
    assert abs(value) < 1e-12 and not found and found.smallest < 1e-12
    assert np.linalg.svd(compiled_of(s).loops.dimensionless(s.closure(zero))[1], compute_uv=False)[-1] > 0.1
    assert max(moves_nothing(s, zero, found)) < 1e-11
    assert all(found.direction[name] == pytest.approx(0.0, abs=1e-11) for name in ("A1", "A2", "A3"))
    assert "drives A1, A2 and A3 lose control authority here" in found.text
    assert s.controllable(zero, ["A1", "A2", "A3", found.advice[0]])


# ---------------------------------------------------------------- built-in machines


@sweep(("model", "freedoms"), [("stewart", 6), ("3-rrr", 3), ("excavator", 3), ("five-bar", 2), ("delta", 3)], now=4)
def test_machines_are_controllable_at_their_start_and_not_with_one_drive_less(model: str, freedoms: int) -> None:
    """The delta's six rods spin as they like; that is nobody's business."""
    s = lw.compile(lw.load(model))
    full = s.controllable(s.start)
    assert full and full.freedoms == len(full.drives) == freedoms and full.smallest > 0.05
    less = s.controllable(s.start, full.drives[:-1])
    assert not less and less.missing == 1 and less.smallest == 0.0 and max(moves_nothing(s, s.start, less)) < 1e-11
    assert s.controllable(s.start, [*less.drives, *less.advice]), "where it says a drive would help, it does"
    none = s.controllable(s.start, [])
    assert none.missing == freedoms == len(none.advice) and s.controllable(s.start, none.advice)


def test_idle_freedoms_can_be_asked_for() -> None:
    s = lw.compile(lw.load("delta"))
    names = ["A1", "A2", "A3"]
    found = controllable(compiled_of(s).loops, s.start, drive_rows(compiled_of(s).loops, s.start, names), names, idle=[])
    assert not found and found.freedoms == 9 and found.missing == 6


# ---------------------------------------------------------------- rows and units


def test_a_cylinder_has_its_lever_arm() -> None:
    """The rate of the cylinder's length per turn of the boom is the distance of its line from O, in closed form."""
    s = lw.compile(lw.load(BOOM))
    found = s.controllable(s.start, ["lift"])
    arm = (0.5 * 0.25 + 0.8 * 1.0) / math.hypot(0.5, 1.05)
    assert found.smallest == pytest.approx(arm / compiled_of(s).loops.kappa, rel=1e-12)
    over = math.atan2(-0.8, 0.5) + math.pi  # Q beyond O on the line from F
    dead = s.assemble({"O": s.start["O"] + over - math.atan2(0.25, 1.0)})
    assert not s.controllable(dead, ["lift"]) and s.controllable(dead, ["O"]).smallest == 1.0


@pytest.mark.parametrize(("model", "names"), [("slider-crank-equal", ("C.slide", "C.angle", "A")), ("excavator", ("J4", "J15", "J11"))])
def test_rows_are_those_of_virtual_work(model: str, names: tuple[str, ...]) -> None:
    """A unit effort of a drive pushes the tree by B = rows'."""
    s = lw.compile(lw.load(model))
    here = s.start.instant
    for name, row in zip(names, drive_rows(compiled_of(s).loops, s.start, names), strict=True):
        x = target(compiled_of(s).skel, name)
        pushed = dynamics.generalized(compiled_of(s).skel, s.start.instant.motion, x.pushes(here, 1.0))
        np.testing.assert_allclose(row, pushed, atol=1e-12)


def test_the_unit_of_length_does_not_matter() -> None:
    small, large = (lw.compile(lw.load("scissor-lift", l=size)) for size in ("1 m", "1000 m"))
    ends = [s.controllable(s.start) for s in (small, large)]
    assert ends[0].smallest == pytest.approx(ends[1].smallest, rel=1e-9)
    ratio = ends[1].direction["slide"] / ends[0].direction["slide"]
    assert abs(ratio) == pytest.approx(1000.0, rel=1e-9)  # a speed of a slide, in m/s, for the same turning of the arms, either way


# ---------------------------------------------------------------- bare matrices


def projector(A: np.ndarray) -> np.ndarray:
    """On the range of A."""
    return A @ np.linalg.pinv(A, rcond=1e-9)


@pytest.mark.slow
def test_two_thousand_random_cases_against_the_range_condition() -> None:
    """[Aghili2005 (56)]: R((I - B) P) within R((I - B)(I - P)), by ranks; loops and drives of any rank, deficient ones too."""
    rng = np.random.default_rng(5)
    verdicts = []
    for _ in range(2000):
        n = int(rng.integers(1, 8))
        m, p = int(rng.integers(0, n + 3)), int(rng.integers(0, n + 2))
        J = rng.normal(size=(m, n)) @ projector(rng.normal(size=(n, int(rng.integers(0, n + 1)))))
        B = projector(rng.normal(size=(n, int(rng.integers(0, n + 1))))) @ rng.normal(size=(n, p))
        if rng.random() < 0.5:
            B = np.eye(n)[:, rng.permutation(n)[: min(p, n)]]  # joints that are driven or passive
        if m and rng.random() < 0.3:
            J[:, : n // 2] = 0.0  # motions along single joints
        P, D = np.eye(n) - projector(J.T), projector(B)
        rest = np.eye(n) - D
        inside = rest @ (np.eye(n) - P)
        rank = np.linalg.matrix_rank
        wanted = rank(np.concatenate([rest @ P, inside], axis=1), tol=1e-7) == rank(inside, tol=1e-7)
        reach = controllable_of_matrices(J, B)
        assert reach.ok == wanted, (J, B)
        assert controllable_of_matrices(J, D).ok == wanted  # the projector itself
        np.testing.assert_allclose(J @ reach.weakest, 0.0, atol=1e-9)
        if not wanted:
            np.testing.assert_allclose(B.T @ reach.weakest, 0.0, atol=1e-7)
            assert reach.weakest.shape[1] >= 1
        verdicts.append(wanted)
    assert 400 < sum(verdicts) < 1600, "both answers occur often"


def test_nothing_to_move_is_controllable() -> None:
    reach = controllable_of_matrices(np.eye(2), np.zeros((2, 0)))
    assert reach.ok and reach.smallest == math.inf and reach.weakest.shape == (2, 0)


# ---------------------------------------------------------------- wrong calls


def test_wrong_calls_say_what_is_allowed(crank: System) -> None:
    st = crank.start
    with refused(UsageError, name="Z", allowed=("A", "B", "C")):
        crank.controllable(st, ["Z"])
    with refused(UsageError, name="C"):
        crank.controllable(st, ["C"])
    with refused(UsageError, name="drives"):
        crank.controllable(st, ["A", "A"])
    with refused(UsageError, name="drives", value=3):
        crank.controllable(st, 3)
    for bad in (0.0, -1.0, math.nan, "small", True):
        with refused(UsageError, name="tolerance"):
            crank.controllable(st, tolerance=bad)
    with refused(UsageError, name="state"):
        crank.controllable(crank.state(st.q + 0.1))
    with refused(UsageError, name="state"):
        crank.controllable(st.q)
