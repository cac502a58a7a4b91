"""Start positions, turns, J and k of the papers' mechanisms against the checked data and the corrected appendices."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.reference import load

SAHA = load("saha")
SCRAPER = SAHA["carpet_scraper"]
DIGITS = 2e-15  # the data have 15-16 digits; links are up to a meter long


def scraper_points(s, st):
    on = {"A": "crank", "B": "rocker", "S": "coupler", "P": "arm", "Q": "arm", "R": "tool", "T": "tool"}
    return {p: s.point(st, f"{body}.{p}")[:2] for p, body in on.items()}


def alphas(s, st):
    """Absolute link angles 1 .. 7 in degrees, coupler toward the crank pin as the paper has it."""
    names = ["crank", "rocker", "coupler", "arm", "link5", "tool", "link7"]
    out = np.array([np.degrees(st[f"{b}.angle"]) for b in names])
    return out % 360


@pytest.fixture(scope="module")
def scraper():
    return lw.load("carpet-scraper")


def test_the_sketch_of_two_digits_assembles_on_branch_R(scraper):
    s = scraper.system
    st = s.start
    assert np.abs(s.closure(st).phi).max() < 1e-12
    wanted = SCRAPER["geometry"]["A"]["closure_R"]["points_at_theta0"]
    for name, place in scraper_points(s, st).items():
        np.testing.assert_allclose(place, wanted[name], atol=1e-13)
    assert st["J1"] == pytest.approx(0.0, abs=1e-14)


def test_joint_angles_are_the_papers_up_to_whole_turns(scraper):
    theta = SCRAPER["forward_dynamics"]["A_R"]["initial"]["theta_rel"]
    st = scraper.system.start
    for i, want in enumerate(theta, 1):
        off = (st[f"J{i}"] - want) / (2 * np.pi)
        assert abs(off - round(off)) < 1e-13


def test_elbow_L_and_the_folded_root_come_only_on_request(scraper):
    s = scraper.system
    elbow_L = {"J4": "168.6 deg", "J5": "93.4 deg", "J6": "93.4 deg", "J7": "86.6 deg"}
    st = s.assemble(q={"J1": 0.0}, guess=elbow_L)
    np.testing.assert_allclose(alphas(s, st)[3:], [168.593, 261.994, 261.994, 348.593], atol=1e-3)  # listed to three decimals
    np.testing.assert_allclose(s.point(st, "tool.T")[:2], SCRAPER["geometry"]["A"]["closure_R"]["points_at_theta0"]["T"], atol=1e-12)
    # the folded rhombus R = P: link 7 on link 5's place
    folded = s.assemble(q={"J1": 0.0}, guess={"J6": "180 deg", "J7": float(s.start["J5"]) - np.pi + 0.01})
    np.testing.assert_allclose(s.point(folded, "tool.R"), s.point(folded, "arm.P"), atol=1e-7)
    # and neither by itself
    np.testing.assert_allclose(alphas(s, s.assemble(q={"J1": 0.0}))[3:], [310.905, 217.505, 217.505, 130.905], atol=1e-3)


@pytest.mark.slow
def test_branches_lists_both_elbows(scraper):
    found = scraper.system.branches({"J1": 0.0}, tries=100)
    angles = [np.round(np.degrees(st["arm.angle"]) % 360, 2) for st in found]
    assert angles[0] == pytest.approx(310.91, abs=0.01)  # nearest to the start first
    assert any(abs(a - 168.59) < 0.01 for a in angles)
    for st in found:
        assert np.abs(scraper.system.closure(st).phi).max() < 1e-9


def test_full_turn_returns_and_follows_the_listed_path(scraper):
    c = scraper.cycle(steps=72)
    assert c.full_turn and not c.notes
    gaps = [np.abs(a.p - b.p).max() for a, b in zip(c._instants[0].motion.X, c._instants[-1].motion.X, strict=True)]
    assert max(gaps) < 1e-12
    S, T = c["coupler.S"], c["tool.T"]
    for row in SCRAPER["geometry"]["A"]["closure_R"]["path"]:
        i = row["deg"] // 5
        np.testing.assert_allclose(S[i], row["S"], atol=1e-12)
        np.testing.assert_allclose(T[i], row["T"], atol=1e-12)


def test_3rrr_starts_as_listed():
    s = lw.load("3-rrr").system
    start = SAHA["rrr_3"]["initial"]
    st = s.start
    for p in ("P1", "P2", "P3"):
        np.testing.assert_allclose(s.point(st, f"platform.{p}")[:2], start[p], atol=1e-12)
    assert st["platform.angle"] == pytest.approx(start["phi"], abs=1e-12)
    th = start["theta_paper"]
    got = [st["J1"], st["J2"], st["J3"], st["J4"], st["J5"] - np.pi / 3, st["J8"], st["J9"]]
    off = (np.array(got) - th) / (2 * np.pi)
    np.testing.assert_allclose(off, np.round(off), atol=1e-12)


def test_rssr_follows_the_closed_form():
    """Rocker angle, speed and acceleration at all twelve crank angles."""
    c = lw.load("rssr").cycle(steps=12)
    rows = SAHA["rssr"]["thin|gravity_-Y_9.81"]["rows"]
    psi, rate, acc = c["rocker"], c["rocker.v"], c["rocker.a"]
    for i, row in enumerate(rows):
        assert psi[i] == pytest.approx(row["psi_rad"], abs=1e-12)
        assert rate[i] == pytest.approx(row["psi_dot"], abs=1e-10)  # speeds of order 10
        assert acc[i] == pytest.approx(row["psi_ddot"], abs=1e-9)  # accelerations of order 100


# ------------------------------------------------------------------ appendix A.1 and A.2, corrected (reference section 5)


def appendix_A1(theta):
    """J of the scraper by blocks, with J22(2,1) = +a2 c2 - a39 c3 and the lengths of section 1."""
    a1, a2, a38, a39, a46, a56, a59, a67, a97 = 0.038, 0.1152, 0.1152, 0.1152, 0.3346, 0.239, 0.239, 0.239, 0.239
    t1, t2, t3, t4, t5, t6, t7 = theta
    al = [t1, t2, np.pi + t2 + t3, t4, t4 + t5, t4 + t6, t4 + t6 + t7]
    s1, s2, s3, s4, s5, s6, s7 = np.sin(al)
    c1, c2, c3, c4, c5, c6, c7 = np.cos(al)
    J = np.zeros((6, 7), dtype=np.asarray(theta).dtype)
    J[0:2, 0] = a1 * s1, a1 * c1
    J[0:2, 1:3] = [[-a2 * s2 - a38 * s3, -a38 * s3], [-a2 * c2 - a38 * c3, -a38 * c3]]
    J[2:4, 1:3] = [[-a2 * s2 + a39 * s3, a39 * s3], [a2 * c2 - a39 * c3, -a39 * c3]]
    d = a46 - a56
    J[2:4, 3:7] = [[a59 * s5 + d * s4, a59 * s5, 0, 0], [-a59 * c5 - d * c4, -a59 * c5, 0, 0]]
    J[4:6, 3:7] = [
        [-a46 * s4 - a67 * s6 - a97 * s7 + a59 * s5 + d * s4, a59 * s5, -a67 * s6 - a97 * s7, -a97 * s7],
        [a46 * c4 + a67 * c6 + a97 * c7 - a59 * c5 - d * c4, -a59 * c5, a67 * c6 + a97 * c7, a97 * c7],
    ]
    J[1] *= -1  # the printed y row of loop 1 is crank minus coupler
    return J


def appendix_A2(theta):
    """J of the 3-RRR, with +d1 c7 in J11(2,1) and J11(2,2)."""
    a, b, d1 = 0.4, 0.6, 0.4
    t1, t2, t3, t4, t5, t6, t7 = theta
    a1, a2, a3, a4 = t1, t6, t7, t1 + t2
    a7 = t1 + t2 + t3  # edge P1-P2
    a7p = a7 + np.pi / 3  # edge P1-P3
    a5 = t1 + t2 + t3 + t4 - np.pi  # from the cut joint to the platform
    a6 = a7p + t5 - np.pi
    s, c = np.sin, np.cos
    x1 = [-d1 * s(a7) + b * s(a5), d1 * c(a7) - b * c(a5)]
    x2 = [-d1 * s(a7p) + b * s(a6), d1 * c(a7p) - b * c(a6)]
    leg, arm = [-b * s(a4), b * c(a4)], [-a * s(a1), a * c(a1)]
    J = np.zeros((4, 7), dtype=np.asarray(theta).dtype)
    for r in range(2):
        J[r, :5] = arm[r] + leg[r] + x1[r], leg[r] + x1[r], x1[r], [b * s(a5), -b * c(a5)][r], 0
        J[2 + r, :5] = arm[r] + leg[r] + x2[r], leg[r] + x2[r], x2[r], 0, [b * s(a6), -b * c(a6)][r]
    J[0:2, 5] = a * s(a2), -a * c(a2)
    J[2:4, 6] = a * s(a3), -a * c(a3)
    return J


CASES = {
    # model, cuts, q names in the paper's order, J by the appendix, rows as (second - first) of our cut joints
    "carpet-scraper": (["J8", "J9", "J10"], [f"J{i}" for i in range(1, 8)], appendix_A1),
    "3-rrr": (["J6", "J7"], ["J1", "J2", "J3", "J4", "J5", "J8", "J9"], appendix_A2),
}


def ours_in_world(s, st, names):
    """J and k with columns in the paper's order and translation rows turned from F's axes into the world's."""
    J, k = s.closure(st).J.copy(), s.closure(st).k.copy()
    for i, cut in enumerate(s.tree.cuts):
        R = s.pose(st, s.description.joint(cut).first).R[:2, :2]
        J[2 * i : 2 * i + 2], k[2 * i : 2 * i + 2] = R @ J[2 * i : 2 * i + 2], R @ k[2 * i : 2 * i + 2]
    return J[:, [s.names.v.index(n) for n in names]], k


def paper_angles(model, st, names):
    th = np.array([st[n] for n in names])
    if model == "3-rrr":
        th[4] -= np.pi / 3
    return th


@pytest.mark.parametrize("model", CASES)
@pytest.mark.parametrize("drive", [0.0, 0.7, 2.5])
def test_J_and_k_equal_the_corrected_appendix(model, drive):
    cuts, names, appendix = CASES[model]
    s = lw.compile(lw.load(model), cuts=cuts)
    if model == "3-rrr":
        st = s.assemble(q={"J1": 1.04 + 0.1 * drive}, v={"J1": 1.3, "J8": -0.4, "J9": 0.9})
    else:
        st = s.assemble(q={"J1": drive}, v={"J1": 4.7124})
    J, k = ours_in_world(s, st, names)
    th = paper_angles(model, st, names)
    np.testing.assert_allclose(J, appendix(th), atol=1e-12)
    # k = Jdot v by complex step of the appendix
    v = np.array([st.v[s.names.v.index(n)] for n in names])
    np.testing.assert_allclose(k, (appendix(th + 1e-30j * v).imag / 1e-30) @ v, atol=1e-10)


def test_paper_form_inertia_at_the_start_of_the_scraper():
    """I, J, -Psi at t = 0 as listed in the paper's form."""
    s = lw.compile(lw.load("carpet-scraper"), cuts=["J8", "J9", "J10"])
    st = s.assemble(q={"J1": 0.0}, v={"J1": 4.7124})
    t0 = SCRAPER["forward_dynamics"]["A_R"]["t0"]["intermediate_paper_form"]
    names = [f"J{i}" for i in range(1, 8)]
    order = [s.names.v.index(n) for n in names]
    np.testing.assert_allclose(s.M(st)[np.ix_(order, order)], t0["I"], atol=1e-12)
    J, k = ours_in_world(s, st, names)
    signs = np.array([1, -1, 1, 1, 1, 1])
    np.testing.assert_allclose(J * signs[:, None], t0["J"], atol=1e-12)
    np.testing.assert_allclose(-k * signs, t0["Psi"], atol=1e-10)  # speeds of order 5 squared
    np.testing.assert_allclose(-s.h(st)[order], t0["phi"], atol=1e-10)
    assert sum(st[f"energy.{x}"] for x in ("kinetic", "potential")) == pytest.approx(
        SCRAPER["forward_dynamics"]["A_R"]["energy_J"], abs=1e-11
    )
