"""Papers' mechanisms, assembly modes and synthesis in the set: proofs that can fail, values against older independent ones, our answers."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from benchmarks.closed_loop_set import cases
from benchmarks.closed_loop_set.asking import asked
from benchmarks.closed_loop_set.cases import Case
from benchmarks.closed_loop_set.references import burmester, certificates, modes, platforms
from benchmarks.closed_loop_set.references.plane import Link, Pin, Plane, moved
from tests.reference import load
from tests.sweeps import sweep

SAHA, AGHILI = load("saha"), load("aghili_hoang")
# Tasks of this half of the set, and the error that Linkwright is allowed: round-off times the condition of the task. Runs at tolerance 1e-8
# may be a hundred times that after singular positions. Fits are optima of a search that ends at 1e-4 of the straight line's width.
INSTANTS = ("carpet-scraper-2007-0", "carpet-scraper-2007-150", "rssr-0", "rssr-270", "stewart")
QUICK = {**dict.fromkeys(INSTANTS, 1e-12), "slider-crank": 1e-6, "3-rpr": 1e-12, "five-poses": 1e-12, "five-poses-two-links": 1e-12}
SLOW = {
    "carpet-scraper": 1e-6, "3-rrr": 1e-6, "3-rrr-motors": 1e-6, "slider-crank-flat": 1e-6, "dietmaier": 1e-10, "timed-points": 1e-12,
    "nine-points": 1e-10, "five-timed-points": 1e-9, "eighteen-points": 1e-9, "straight-line": 1e-3,
}  # fmt: skip


def value(case: Case, task: str, name: str) -> float:
    return next(q.value for q in case.task(task).quantities if q.name == name)


# -------------------------------------------------------------------- proofs


def two_circles(x: list, number: object) -> list:
    """Circles of radius 1 about (0, 0) and (1, 0): they meet at (1/2, +-sqrt(3)/2)."""
    return [x[0] * x[0] + x[1] * x[1] - 1, (x[0] - 1) * (x[0] - 1) + x[1] * x[1] - 1]


def test_krawczyks_test_proves_roots_and_nothing_else() -> None:
    root = certificates.refined(two_circles, [0.6, 0.8])
    with mp.workdps(40):
        assert abs(root[1] - mp.sqrt(3) / 2) < mpf(10) ** -35
        assert certificates.certified(two_circles, root, mpf("1e-3"))
        assert not certificates.certified(two_circles, [root[0], root[1] + mpf("2e-3")], mpf("1e-3"))  # no root in the box
        assert not certificates.certified(two_circles, [mpf("0.5"), mpf("0.1")], mpf(1))  # two roots in the box
    with pytest.raises(ArithmeticError, match="does not converge"):
        certificates.refined(lambda x, number: [x[0] * x[0] + 1], [0.3])  # no real root


def test_boxes_that_meet_are_no_proof() -> None:
    robot = modes.FLAT_BASE, modes.FLAT_PLATFORM, modes.FLAT_LEGS
    x, y, angle = (value(cases.named("3-rpr"), "all modes", f"mode 1 {c}") for c in ("x", "y", "angle"))
    start = [x, y, np.cos(angle), np.sin(angle)]
    with pytest.raises(ArithmeticError, match="two boxes meet"):
        platforms.proven(platforms.planar(*robot), [start, start])


def test_dietmaiers_modes_by_their_legs() -> None:
    """Distances of the corners from the file alone, in doubles; all forty are different."""
    case = cases.named("dietmaier")
    given = {k: np.array(x) for k, x in case.task("all modes").given.items()}
    assert value(case, "all modes", "real modes") == 40.0
    poses = np.array([[value(case, "all modes", f"mode {i} {c}") for c in ("x", "y", "z", "qw", "qx", "qy", "qz")] for i in range(1, 41)])
    assert (np.diff(poses[:, 0]) > 1e-5).all() and (poses[:, 3] > 0).all()
    for pose in poses:
        w, v = pose[3], pose[4:]
        corners = given["platform"]
        turned = corners + 2.0 * np.cross(v, np.cross(v, corners) + w * corners)
        assert np.abs(np.linalg.norm(pose[:3] + turned - given["base"], axis=1) - given["legs"]).max() < 1e-14


def test_links_of_a_known_four_bar() -> None:
    """Poses of a coupler computed by circles in doubles: both links are among those found."""
    from tests.rings.synthesis.test_poses import FIVE

    links, others = burmester.dyads([tuple(mpf(float(v)) for v in p) for p in FIVE])
    assert len(links) + others == 4
    for ground in (0.0, 0.4):
        assert min(abs(complex(a) - ground) for _, a in links) < 1e-12


def test_the_fall_of_a_double_pendulum_keeps_its_energy() -> None:
    """The equations in absolute coordinates and the rule of order 16: energy to 1e-18, positions against halved steps."""
    bar = {"center": mp.mpc(0.5), "A": mp.mpc(0), "B": mp.mpc(1)}
    links = (Link("one", mpf(1), mpf(1) / 12, bar), Link("two", mpf(2), mpf(1) / 6, {"center": mp.mpc(0.5), "B": mp.mpc(0)}))
    plane = Plane(links, (Pin("A", "ground", "one", "A"), Pin("B", "one", "two", "B")), {"A": mp.mpc(0)}, mpf("9.81"), ("one", "two"))
    with mp.workdps(30):
        x, v = [mpf("0.5"), mpf(0), mpf(0), mpf("1.5"), mpf(0), mpf(0)], [mpf(0)] * 6
        ends = [moved(lambda p, q: plane.forward(p, q)[0], x, v, mpf("0.05"), steps, 8) for steps in (1, 2)]
        assert abs(plane.energy(*ends[1]) - plane.energy(x, v)) < mpf(10) ** -18
        assert max(abs(a - b) for a, b in zip(ends[0][0], ends[1][0], strict=True)) < mpf(10) ** -15
        assert plane.lagrange([mpf(0)] * 2, [mpf(0)] * 2, x)[1][0] == pytest.approx(float(9.81 * 2.5))  # weight times arm of the first bar


# -------------------------------------------------------------------- older values


def test_values_agree_with_those_computed_before() -> None:
    """Other programs, other coordinates; listed with 13 digits or more."""
    rows = {r["deg"]: r for r in SAHA["carpet_scraper"]["inverse_dynamics_w4p712"]["B_R|gravity_-Y_9.81"]["rows"]}
    for deg in (0, 150):
        assert value(cases.named(f"carpet-scraper-2007-{deg}"), "drive torque", "J1 torque") == pytest.approx(rows[deg]["tau"], rel=1e-13)
    for name, g in (("slider-crank", "g=9.81"), ("slider-crank-flat", "g=0.0")):
        exact = AGHILI["slider_crank_aghili"][g]["exact"]["3.0"]
        found = value(cases.named(name), "free motion 3 s", "crank angle") + 2.0 * np.pi / 3.0
        assert found == pytest.approx(exact["q1"], rel=1e-14)


def test_papers_runs_agree_with_those_computed_before() -> None:
    robot, falls = cases.named("3-rrr"), SAHA["rrr_3"]
    accelerations = dict(zip(("J1", "J8", "J9"), np.array(falls["t0"]["alpha_links_ddot"])[[0, 5, 6]], strict=True))
    for joint, known in accelerations.items():
        assert value(robot, "accelerations", f"{joint} acceleration") == pytest.approx(known, rel=1e-13)
    for state in falls["states"]:
        turned = value(robot, f"free motion {state['t']:g} s", "J1 rotation") + 1.04
        assert turned == pytest.approx(state["alpha_links"][0], abs=1e-13)
    motors = AGHILI["hoang_3rrr"]["case1 u=[5,-5,5] V (k=10,c=10)"]["states"]["0.1"]
    for joint, start, q, v in zip(("A1", "A2", "A3"), (-0.1259, 1.3727, 3.2675), motors["q"], motors["qdot"], strict=False):
        assert value(cases.named("3-rrr-motors"), "free motion 0.1 s", f"{joint} rotation") + start == pytest.approx(q, abs=1e-14)
        assert value(cases.named("3-rrr-motors"), "free motion 0.1 s", f"{joint} speed") == pytest.approx(v, abs=1e-13)
    scraper = cases.named("carpet-scraper")
    assert value(scraper, "accelerations", "J1 acceleration") == pytest.approx(16.37789108775491, rel=1e-14)
    for end, angle in (("0.5", 2.84310820510771734), ("1", 1.43500534457175316)):
        assert value(scraper, f"free motion {end} s", "J1 rotation") == pytest.approx(angle, abs=1e-14)


# -------------------------------------------------------------------- our answers


def answered(name: str, allowed: float) -> None:
    case = cases.named(name)
    found = asked("linkwright", [(case, task) for task in case.tasks], quick=True)
    assert not found.refusals
    for task in case.tasks:
        instant = task.kind in ("accelerations", "joint forces", "inverse dynamics")
        errors = [task.error(answer.values) for answer in found.of(name, task.id)]
        assert errors and max(errors) < (1e-12 if instant else allowed), f"{task.id}: {errors}"


@sweep("name", QUICK, now=["slider-crank", "five-poses", INSTANTS[0]])
def test_linkwright_meets_quick_references(name: str) -> None:
    answered(name, QUICK[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_linkwright_meets_slow_references(name: str) -> None:
    answered(name, SLOW[name])
