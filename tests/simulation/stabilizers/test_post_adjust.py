"""Post-adjusting is the minimizer it claims to be, moves only dependent coordinates, and stays bounded where they lose the loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.kernels.kernels import Variant
from linkwright.mechanics.kinematics.motion import displaced
from linkwright.simulation.stabilizers import PostAdjust
from linkwright.simulation.stabilizers.dependent import difference
from tests.simulation.stabilizers.hoang import DRIVES, robot
from tests.sweeps import sweep

OPEN = 1e-3  # how far the states below are off the loops: far more than after a time step


def disturbed(s, seed, size=OPEN):
    """A state near the start that is off the loops, in position and velocity."""
    rng = np.random.default_rng(seed)
    c = compiled_of(s).loops.columns
    return displaced(compiled_of(s).skel, s.start.q, size * c * rng.normal(size=s.tree.nv)), 0.3 * c * rng.normal(size=s.tree.nv)


def adjusted(s, stabilizer, q, v, drives=()):
    found = stabilizer.correction(s.kernels, s.start.q, s.start.references, drives)
    return found.kernel(q, v, tau=np.zeros(s.tree.nv)), indices(s, found)


def indices(s, correction):
    return [list(s.names.v).index(n) for n in correction.settings["dependent"]]


@sweep(
    ("name", "how"), [("carpet-scraper", {}), ("rssr", {"M": 0.3, "A": 2e3, "M_velocity": 2.0, "A_velocity": 5.0}), ("stewart", {})], now=2
)
def test_the_adjusted_state_is_the_minimizer(name, how):
    """(27) by a general least-squares solver over rotations by their exponential, (31) by linear least squares."""
    s = lw.compile(lw.load(name), engine="python")
    q0, v0 = disturbed(s, 5)
    done, d = adjusted(s, PostAdjust(**how, steps=3), q0, v0)
    c, r = compiled_of(s).loops.columns[d], compiled_of(s).loops.row_scale
    M, A = (0.1 / c**2, 100 / r**2) if not how else (np.full(len(d), how["M"]), np.full(len(r), how["A"]))
    Mv, Av = (M, A) if not how else (np.full(len(d), how["M_velocity"]), np.full(len(r), how["A_velocity"]))

    def at(step):
        full = np.zeros(s.tree.nv)
        full[d] = step
        return displaced(compiled_of(s).skel, q0, full)

    def weighed(step):
        return np.concatenate([np.sqrt(M) * step, np.sqrt(A) * compiled_of(s).loops.at(at(step), v0, 0.0, s.start.references).phi])

    best = least_squares(weighed, np.zeros(len(d)), xtol=1e-12, ftol=1e-15, gtol=1e-15)
    # a finite rotation vector differs from twice the quaternion's vector part by its cube / 24; the solver's Jacobian is by differences
    np.testing.assert_allclose(difference(compiled_of(s).skel, done.q, q0), difference(compiled_of(s).skel, at(best.x), q0), atol=2e-8)
    J = compiled_of(s).loops.at(done.q, v0, 0.0, s.start.references).J
    stacked = np.concatenate([np.diag(np.sqrt(Mv)), np.sqrt(Av)[:, None] * J[:, d]])
    wanted = np.concatenate([np.zeros(len(d)), -np.sqrt(Av) * (J @ v0)])
    step = np.zeros(s.tree.nv)
    step[d] = np.linalg.lstsq(stacked, wanted, rcond=None)[0]
    np.testing.assert_allclose(done.v, v0 + step, atol=1e-11)
    assert done.residual[0] == pytest.approx(np.abs(compiled_of(s).loops.at(done.q, v0, 0.0, s.start.references).phi / r).max(), rel=1e-9)
    assert done.correction[0] == pytest.approx(
        np.abs(difference(compiled_of(s).skel, done.q, q0) / compiled_of(s).loops.columns).max(), rel=1e-9
    )


def test_only_dependent_coordinates_move_and_the_drives_are_independent():
    s = robot()
    q0, v0 = disturbed(s, 1)
    done, d = adjusted(s, PostAdjust(), q0, v0, DRIVES)
    assert d == [3, 4, 5]
    np.testing.assert_array_equal(done.q[:3], q0[:3])
    np.testing.assert_array_equal(done.v[:3], v0[:3])
    assert (done.q[3:] != q0[3:]).all() and (done.v[3:] != v0[3:]).all()


@pytest.mark.parametrize("what", ["position", "velocity"])
def test_position_and_velocity_alone(what):
    s = robot()
    q0, v0 = disturbed(s, 2)
    done, _ = adjusted(s, PostAdjust(**{what: False}), q0, v0, DRIVES)
    kept, changed = (done.q, done.v) if what == "position" else (done.v, done.q)
    np.testing.assert_array_equal(kept, q0 if what == "position" else v0)
    assert np.abs(changed - (v0 if what == "position" else q0)).max() > 1e-4


def test_gaps_shrink_as_the_weights_say():
    """One Gauss-Newton step on a square J_d leaves M (M + J_d' A J_d)^-1 of the gap: for M << A by M / (A s^2) in every direction."""
    s = robot()
    q0, v0 = disturbed(s, 3, size=1e-7)  # so small that the loops are linear
    before = compiled_of(s).loops.at(q0, v0, 0.0, s.start.references)
    for A in (1e2, 1e6):
        done, d = adjusted(s, PostAdjust(M=0.1, A=A), q0, v0, DRIVES)
        after = compiled_of(s).loops.at(done.q, v0, 0.0, s.start.references)
        Jd = before.J[:, d]
        left = np.linalg.solve(np.eye(3) + A / 0.1 * (Jd @ Jd.T), before.phi)
        np.testing.assert_allclose(after.phi, left, rtol=1e-3, atol=1e-14)


def test_corrections_stay_bounded_where_dependent_coordinates_lose_the_loops():
    """At det(J_d) = 0 Newton's step is infinite; this one stays below sqrt(A / M) / 2 times the gap, in any position."""
    s = lw.compile(lw.load("slider-crank-equal"))
    M, A = 0.1, 100.0
    for angle in (1.5 * np.pi, 1.5 * np.pi - 1e-6, 1.5 * np.pi - 1e-2, 1.0):
        q0 = np.array([angle, 2 * np.pi - 2 * angle + 1e-4])
        v0 = np.array([1.0, -1.9])
        at = PostAdjust(("B",), M, A).correction(s.kernels, s.start.q, s.start.references)
        done = at.kernel(q0, v0, tau=np.zeros(2))
        before = compiled_of(s).loops.at(q0, v0, 0.0, s.start.references)
        bound = 0.5 * np.sqrt(A / M)
        assert abs(done.q[1] - q0[1]) <= 1.01 * bound * np.abs(before.phi).max()
        assert abs(done.v[1] - v0[1]) <= 1.01 * bound * np.abs(compiled_of(s).loops.at(done.q, v0, 0.0, s.start.references).J @ v0).max()


@sweep("name", ["carpet-scraper", "stewart", "excavator", "3-rrr-motors", "delta"], now=4)
def test_the_choice_without_drives_closes_the_loops(name):
    """As many as J has rank, and independent ones; with drives everything else, and driven ones only where they are needed."""
    s = lw.compile(lw.load(name))
    J = compiled_of(s).loops.dimensionless(compiled_of(s).loops.at(s.start.q, s.start.v, 0.0, s.start.references))[1]
    rank = np.linalg.matrix_rank(J, tol=1e-9)
    d = indices(s, PostAdjust().correction(s.kernels, s.start.q, s.start.references))
    assert len(d) == rank == np.linalg.matrix_rank(J[:, d], tol=1e-9)
    drives = [x.joint for x in s.description.drives]
    d = indices(s, PostAdjust().correction(s.kernels, s.start.q, s.start.references, drives))
    assert np.linalg.matrix_rank(J[:, d], tol=1e-9) == rank
    driven = [i for i, n in enumerate(s.names.v) if n in drives]
    others = [i for i in range(s.tree.nv) if i not in driven]
    needed = rank - np.linalg.matrix_rank(J[:, others], tol=1e-9)
    assert len(set(d) & set(driven)) == (needed if driven else len(set(d) & set(driven))) and (not driven or set(others) <= set(d))


def test_interpreted_and_native_kernels_agree():
    q0, v0 = disturbed(robot(), 4)
    native, _ = adjusted(robot(), PostAdjust(), q0, v0)
    slow, _ = adjusted(lw.compile(compiled_of(robot()).described, engine="python"), PostAdjust(), q0, v0)
    for x, y in zip(native, slow, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-13)


def test_prescribed_motions_are_rows_too_and_their_coordinates_move():
    """A crank whose angle is given follows it; the other two are driven by efforts and stay."""
    s = robot()
    kernels = s.kernels.variant(Variant(drivers=("A1",)))
    q0, v0 = disturbed(s, 6)
    found = PostAdjust(A=1e6).correction(kernels, s.start.q, s.start.references, ("A2", "A3"))
    assert indices(s, found) == [0, 3, 4, 5]
    law = {"drive": q0[:1] + 2e-4, "speed": np.array([0.7]), "acceleration": np.zeros(1)}
    done = found.kernel(q0, v0, tau=np.zeros(6), **law)
    assert done.q[0] == pytest.approx(q0[0] + 2e-4, abs=1e-8) and done.v[0] == pytest.approx(0.7, abs=1e-5)
    np.testing.assert_array_equal(done.q[1:3], q0[1:3])
    assert done.residual[0] < 1e-6
    by_floats = found.answer({"q": q0, "v": v0, "t": np.zeros(1), **law})
    np.testing.assert_allclose(by_floats["q"], done.q, atol=1e-13)
