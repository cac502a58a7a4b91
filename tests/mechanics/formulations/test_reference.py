"""The papers' mechanisms at t = 0 by every formulation, the paper's own multipliers, GICM, and bare problems."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.dynamics.terms import of_matrices
from linkwright.mechanics.formulations import FORMULATIONS
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.formulations.projection import Projection, constraint_inertia, decoupled, projector
from linkwright.numerics.linalg import factor
from tests.reference import load
from tests.refusals import refused

SAHA = load("saha")
T0 = SAHA["carpet_scraper"]["forward_dynamics"]["A_R"]["t0"]
RRR = SAHA["rrr_3"]["t0"]
NAMES = ["auto", *FORMULATIONS]


@pytest.fixture(scope="module")
def scraper():
    s = lw.compile(lw.load("carpet-scraper"), cuts=["J8", "J9", "J10"])
    return s, s.assemble(q={"J1": 0.0}, v={"J1": 4.7124})


@pytest.fixture(scope="module")
def rrr():
    s = lw.compile(lw.load("3-rrr"), cuts=["J6", "J7"])
    return s, s.start


@pytest.mark.parametrize("formulation", NAMES)
def test_scraper_accelerations_and_cut_forces(scraper, formulation):
    s, st = scraper
    acc = s.forward(st, formulation=formulation)
    got = [acc[f"J{i}"] for i in range(1, 8)]
    np.testing.assert_allclose(got, T0["theta_rel_ddot"], rtol=1e-10)
    cut = T0["cut_forces_000"]
    np.testing.assert_allclose(acc.joint_force("J8")[:2], cut["on_coupler_from_crank_J8"], rtol=1e-10)
    np.testing.assert_allclose(acc.joint_force("J9")[:2], cut["on_coupler_from_link5_J9"], rtol=1e-10)
    np.testing.assert_allclose(acc.joint_force("J10")[:2], cut["on_link7_from_link5_J10"], rtol=1e-10)
    assert acc.rank == 6 and acc.redundant == 0 and all(u.all() for u in acc.unique.values())
    # the paper's own lambda: its y row of loop 1 is crank minus coupler
    paper = acc.joint_force("J8")[:2] * [1, -1]
    np.testing.assert_allclose(paper, T0["lambda_000_corrected_printed_J"]["lambda1"], rtol=1e-10)


@pytest.mark.parametrize("formulation", NAMES)
def test_3rrr_accelerations_and_cut_forces(rrr, formulation):
    s, st = rrr
    acc = s.forward(st, formulation=formulation)
    got = [acc[j] for j in ("J1", "J2", "J3", "J4", "J5", "J8", "J9")]
    np.testing.assert_allclose(got, RRR["theta_paper_ddot"], rtol=1e-10)
    np.testing.assert_allclose(acc.joint_force("J6")[:2], RRR["lambda1"], rtol=1e-10)
    np.testing.assert_allclose(acc.joint_force("J7")[:2], RRR["lambda2"], rtol=1e-10)


@pytest.mark.parametrize("state", range(2))
def test_3rrr_later_states(rrr, state):
    s, _ = rrr
    row = SAHA["rrr_3"]["states"][state]
    names = ["J1", "J2", "J3", "J4", "J5", "J8", "J9"]
    th = np.array(row["theta_paper"])
    th[4] += np.pi / 3
    order = [names.index(n) for n in s.names.q]
    st = s.state(th[order], np.array(row["theta_paper_dot"])[order])
    assert np.abs(s.closure(st).phi).max() < 1e-12
    acc = s.forward(st)
    np.testing.assert_allclose([acc[n] for n in names], row["theta_paper_ddot"], rtol=1e-9)


def test_other_cuts_give_the_same_motion(scraper):
    s, st = scraper
    auto = lw.load("carpet-scraper", cuts=["J8", "J5", "J7"]).system
    other = auto.assemble(q={"J1": 0.0}, v={"J1": 4.7124})
    for i in range(1, 11):
        assert auto.forward(other)[f"J{i}"] == pytest.approx(s.forward(st)[f"J{i}"], rel=1e-10)


def test_gicm_is_the_listed_matrix_with_its_interpretation(scraper):
    s, st = scraper
    view = s.gicm(st)
    turn = np.zeros((6, 6))
    for i, cut in enumerate(("J8", "J9", "J10")):
        turn[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = s.pose(st, s.description.joint(cut).first).R[:2, :2]
    signs = np.diag([1, -1, 1, 1, 1, 1])  # the printed y row of loop 1
    np.testing.assert_allclose(signs @ turn @ view.matrix @ turn.T @ signs, T0["intermediate_paper_form"]["GICM_Ibar"], atol=1e-12)
    text = str(view)
    assert "{1,2}" in text and "{2,3}" in text and text.count(".") >= 2
    members = {frozenset(k): v for k, v in view.members.items()}
    assert members[frozenset({0})] == (0, 1) and frozenset({0, 2}) not in members


def test_crosscheck_is_a_table_and_data(scraper):
    s, st = scraper
    check = s.crosscheck(st, tau={"J1": 3.0})
    assert check.max_disagreement < 1e-11 and check.rank == 6
    assert {c.name.split()[0] for c in check.formulations} == set(FORMULATIONS)
    assert "disagreement" in str(check) and all(c.condition >= 1.0 for c in check.formulations)


def test_effort_in_a_cut_joint_equals_the_same_effort_in_the_tree():
    m = lw.load("four-bar")
    out = []
    for cuts in (["C"], ["B"]):
        s = lw.compile(m, cuts=cuts)
        st = s.assemble(q={"A": 0.7}, v={"A": 3.0})
        out.append(s.forward(st, tau={"A": 1.0, "C": "0.5 N m"})["A"])
    assert out[0] == pytest.approx(out[1], rel=1e-11)


def test_wrench_on_a_body_is_a_load_at_its_origin():
    m = lw.load("four-bar")
    s = m.system
    st = s.assemble(q={"A": 0.7}, v={"A": 3.0})
    # a force at the rocker's origin, the fixed pin D, moves nothing
    assert s.forward(st, wrench={"rocker": [0, 0, 0, 30, -20, 0]})["A"] == pytest.approx(s.forward(st)["A"], abs=1e-12)
    assert s.forward(st, wrench={"rocker": [0, 0, 5, 0, 0, 0]})["A"] == pytest.approx(s.forward(st, tau={"D": 5.0})["A"], rel=1e-11)


# --------------------------------------------------------------- problems that are not mechanisms


@pytest.mark.parametrize("formulation", [f for f in NAMES])
@pytest.mark.parametrize("angle", [0.3, 2.0, 4.4])
def test_particle_on_a_circle_in_closed_form(formulation, angle):
    """Aghili's example: P, the tangential acceleration and the centripetal force  [Aghili2005 (33)-(35)]."""
    mass, rho, speed, push = 2.0, 0.7, 1.3, np.array([1.0, -2.0])
    n, tangent = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    J, k = n[None, :], np.array([speed**2 / rho])
    T = of_matrices(mass * np.eye(2), np.zeros(2), J, k)
    out = forward(T, push, formulation)
    np.testing.assert_allclose(out.a, tangent * (tangent @ push) / mass - n * speed**2 / rho, atol=1e-13)
    np.testing.assert_allclose(out.force, -n * (n @ push + mass * speed**2 / rho), atol=1e-13)
    f = factor(J)
    np.testing.assert_allclose(projector(f.Vt, f.rank), np.outer(tangent, tangent), atol=1e-15)
    assert decoupled(T.M, projector(f.Vt, f.rank))


def test_decoupling_holds_only_where_the_null_space_is_invariant_under_M():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    M = A @ A.T + np.eye(4)
    J = rng.normal(size=(2, 4))
    f = factor(J)
    P = projector(f.Vt, f.rank)
    assert not decoupled(M, P)
    blockwise = P @ M @ P + (np.eye(4) - P) @ M @ (np.eye(4) - P)
    assert decoupled(blockwise, P)
    # then the constraint force does not feel the potent part of the input [Aghili2005 prop. 3]
    push = P @ rng.normal(size=4)
    T = of_matrices(blockwise, np.zeros(4), J, np.zeros(2))
    np.testing.assert_allclose(forward(T, push, "projection").force, 0.0, atol=1e-13)


def test_constraint_inertia_matrices_have_the_properties_claimed():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(5, 5))
    M = A @ A.T + 0.1 * np.eye(5)
    f = factor(rng.normal(size=(2, 5)))
    P = projector(f.Vt, f.rank)
    skew, symmetric, scaled = (constraint_inertia(M, P, kind) for kind in ("skew", "symmetric", "scaled"))
    np.testing.assert_allclose(skew - M, -(skew - M).T, atol=1e-13)
    z = rng.normal(size=5)
    assert z @ skew @ z == pytest.approx(z @ M @ z, rel=1e-12)
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-13)
    assert np.linalg.eigvalsh(symmetric)[0] > 0 and abs(np.linalg.det(scaled)) > 0
    with refused(lw.UsageError, name="round", allowed=("skew", "symmetric", "scaled")):
        constraint_inertia(M, P, "round")


def test_results_do_not_depend_on_the_unit_of_length():
    """The same problem in meters and millimeters, redundant rows included: accelerations and F agree by every formulation."""
    rng = np.random.default_rng(2)
    A = rng.normal(size=(4, 4))
    M, h, J, k = A @ A.T + np.eye(4), rng.normal(size=4), rng.normal(size=(2, 4)), rng.normal(size=2)
    J, k = np.concatenate([J, J[:1] + J[1:]]), np.append(k, k[0] + k[1])
    tau = rng.normal(size=4)
    # coordinates 2, 3 and all rows are lengths; kappa = 0.5 m = 500 mm
    unit = {"m": 1.0, "mm": 1000.0}
    results = {}
    for name, u in unit.items():
        c = np.array([1.0, 1.0, u, u])  # v_mm = c v_m
        T = of_matrices(
            M / c / c[:, None], h / c, u * J / c, u * k, columns=np.array([1, 1, 0.5 * u, 0.5 * u]), row_scale=np.full(3, 0.5 * u)
        )
        for formulation in ("nullspace", "projection", "kkt"):
            out = forward(T, tau / c, formulation)
            results[name, formulation] = np.concatenate([out.a / c, out.force * c])
    for formulation in ("nullspace", "projection", "kkt"):
        np.testing.assert_allclose(results["m", formulation], results["mm", formulation], rtol=1e-10)
        np.testing.assert_allclose(results["m", formulation], results["m", "kkt"], rtol=1e-9)


def test_unknown_names_and_wrong_options_are_refused(scraper):
    s, st = scraper
    with refused(lw.UsageError, name="sslmm"):
        s.forward(st, formulation="sslmm")
    with refused(lw.UsageError, name="kkt"):
        s.forward(st, formulation="kkt", limit="drop")
    with refused(lw.UsageError, name="limit", value="hard"):
        s.forward(st, limit="hard")
    with pytest.raises(lw.UsageError):
        s.forward(st, tau=[1.0, np.nan])
    with refused(lw.UsageError, name="coupler"):
        s.forward(st, wrench={"coupler": [1.0]})
    assert isinstance(s.forward(st, formulation=Projection("skew")).a, np.ndarray)


@pytest.mark.parametrize("angle", [1.7, 1.83, 1.95, 2.2, 2.4])
def test_a_tree_with_a_freedom_of_no_inertia_is_noticed(angle):
    """Slider-crank cut at B: the rod turns about its own mass point, so one inertia is zero up to round-off."""
    s = lw.compile(lw.load("slider-crank-equal"), cuts=["B"])
    st = s.assemble(q={"A": angle}, v={"A": 0.3})
    results = [s.forward(st, tau={"A": 0.5}, formulation=f) for f in NAMES]
    for acc in results:
        np.testing.assert_allclose(acc.a, results[1].a, atol=1e-9 * (1 + np.abs(results[1].a).max()))
        assert np.abs(s.closure(st).J @ acc.a + s.closure(st).k).max() < 1e-9
    assert "kkt" in results[0].formulation


def test_the_metric_can_be_chosen_and_changes_no_motion():
    m = lw.load("slider-crank-equal")
    for length in (None, "200 mm", 3.0):
        s = lw.compile(m, cuts=["C"], length=length)
        st = s.assemble(q={"A": 1.0}, v={"A": 2.0})
        for formulation in NAMES:
            acc = s.forward(st, tau={"A": 1.0}, formulation=formulation)
            assert acc["A"] == pytest.approx(lw.compile(m, cuts=["C"]).forward(st, tau={"A": 1.0})["A"], rel=1e-10)
    with refused(lw.UsageError, value=-1.0):
        lw.compile(m, length=-1.0)


def test_a_system_may_have_its_own_formulation(scraper):
    _, st = scraper
    s = lw.compile(lw.load("carpet-scraper"), formulation="projection", cuts=["J8", "J9", "J10"])
    assert s.forward(st).formulation == "projection" and s.forward(st, formulation="kkt").formulation == "kkt"
    with refused(lw.UsageError, name="projecting"):
        lw.compile(lw.load("wiper"), formulation="projecting")


def test_a_state_of_other_cuts_is_recognized_and_can_be_mirrored():
    one, two = (lw.compile("four-bar", cuts=[c]) for c in ("B", "C"))
    st = one.assemble(q={"A": 0.8}, v={"A": 5.0})
    with refused(lw.UsageError, name="state"):
        two.forward(st)
    there = two.mirror(st)
    assert two.forward(there, tau={"A": 1.0})["A"] == pytest.approx(one.forward(st, tau={"A": 1.0})["A"], rel=1e-10)
    assert there["C"] == pytest.approx(st["C"], abs=1e-12) and there["B.v"] == pytest.approx(st["B.v"], abs=1e-12)
