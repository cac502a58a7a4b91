"""A batch answers every state that has an answer; one that has none is NaN there, masked and explained, and kills nothing."""

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler import native
from linkwright.mechanics.formulations import compiled, interpreted
from tests.refusals import refused

ENGINES = ("native", "python")


@pytest.fixture(scope="module")
def singular():
    """Two states of the slider-crank at rest: a regular one, and the one where both branches meet."""
    s = lw.compile("slider-crank-equal")
    return s, s.assemble(q={"A": 0.3}), s.assemble(q={"A": 0.5 * np.pi})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("formulation", compiled())
def test_forward_masks_the_states_without_an_answer(singular, engine, formulation):
    _, good, bad = singular
    s = lw.compile("slider-crank-equal", engine=engine)
    kernel = s.kernel("forward", formulation)
    rng = np.random.default_rng(3)
    n, lost = 37, [0, 8, 9, 20, 36]  # several in one block of eight lanes, the first and the last
    Q, V, T = np.tile(good.q, (n, 1)), np.zeros((n, 2)), rng.normal(size=(n, 2))
    Q[lost] = bad.q
    found = kernel(Q, V, T)
    assert np.flatnonzero(~found.ok).tolist() == lost and list(found.why) == lost
    assert all("singular position" in text for text in found.why.values())
    assert np.isnan(found.a[lost]).all() and np.isnan(found.lam[lost]).all()
    for i in range(n):
        if i not in lost:
            one = kernel(Q[i], V[i], T[i])
            assert (one.a == found.a[i]).all() and (one.lam == found.lam[i]).all()
            assert one.ok is True and one.why == {}
    a, lam = found  # still the named tuple of its outputs
    assert a is found.a and lam is found.lam and found._fields == ("a", "lam")
    with refused(lw.SingularityError, name="branch"):
        kernel(bad.q, bad.v, T[0])


@pytest.mark.slow
def test_a_lost_row_is_handed_over_in_a_batch_of_healthy_ones():
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    angles = np.array([1.2, 1.5 * np.pi, 2.0])
    Q, V = np.stack([angles, 2 * np.pi - 2 * angles], axis=1), np.array([[1.1, -2.2]] * 3)
    right = (1.0 - 2 * np.sin(2 * angles) * 1.1**2) / (3 - 2 * np.cos(2 * angles))  # the one equation of motion on the branch
    right = np.stack([right, -2 * right], axis=1)
    for formulation in compiled():
        np.testing.assert_allclose(s.kernel("forward", formulation)(Q, V, [1.0, 0.0]).a, right, atol=1e-9)
    for formulation in interpreted():
        found = [s.forward(s.state(q, v), [1.0, 0.0], formulation=formulation).a for q, v in zip(Q, V, strict=True)]
        np.testing.assert_allclose(found, right, atol=1e-9)
    redundant = lw.compile(lw.load("parallelogram-middle"))
    st = redundant.start
    flat = redundant.assemble({"A": 0.0}, {"A": 2.0})
    assert redundant.forward(flat).solution.passages == redundant.forward(flat).solution.redundant == 1
    both = redundant.kernel("forward")(np.array([st.q, flat.q]), np.array([st.v, flat.v]), np.zeros(redundant.tree.nv))
    for i, x in enumerate((st, flat)):
        for formulation in ("auto", *interpreted()):
            right = redundant.forward(x, formulation=formulation).solution
            np.testing.assert_allclose(both.a[i], right.a, atol=1e-9 * (1.0 + np.abs(right.a).max()))
            np.testing.assert_allclose(both.lam[i], right.lam, atol=1e-9 * (1.0 + np.abs(right.lam).max()))


@pytest.mark.parametrize(("engine", "cores", "n"), [("native", 1, 20_000), ("native", 2, 20_000), ("python", 1, 2_000)])
def test_kinematics_over_a_turn_through_singular_positions(engine, cores, n, monkeypatch):
    """Crank and rod are equally long, so that B = -2 A: its speed is -2 wherever the crank's, 1, decides the motion."""
    monkeypatch.setattr(native, "cores", lambda: cores)
    s = lw.compile("slider-crank-equal", engine=engine)
    kernel = s.kernel("kinematics", drives=["A"])
    A = 2.0 * np.pi * np.arange(n) / n
    Q, still = np.array([A, -2.0 * A]).T, np.zeros((n, 2))
    A[7], Q[9] = np.nan, np.inf
    one, none = np.ones((n, 1)), np.zeros((n, 1))
    found = kernel(Q, still, A[:, None], one, none)
    lost = np.flatnonzero(~found.ok)
    assert {7, 9, n // 4, 3 * n // 4} <= set(lost)
    near = np.abs(np.cos(2.0 * np.pi * np.delete(lost, [0, 1]) / n))
    assert near.max() < 5e-3  # the pivot, cos(A)^2, is watched from 1e-5 of its usual size on
    assert "'drive'" in found.why[7] and "'q'" in found.why[9] and "singular" in found.why[n // 4]
    assert all(np.isnan(x[lost]).all() for x in found)
    good = found.ok
    assert np.abs(found.v[good] - [1.0, -2.0]).max() < 1e-10  # round-off by the smallest cos(A) left, 3e-3
    assert np.abs(found.a[good]).max() < 1e-7  # the same squared
    for i in np.flatnonzero(good)[:: n // 40]:
        alone = kernel(Q[i], still[i], A[i : i + 1], one[i], none[i])
        assert alone.ok is True and all((x == y[i]).all() for x, y in zip(alone, found, strict=True))


def test_masks_have_the_leading_axes_of_the_batch(singular):
    s, good, bad = singular
    Q = np.array([[good.q, bad.q, good.q], [bad.q, good.q, good.q]])
    found = s.kernel("forward")(Q, np.zeros(2), np.zeros(2))
    assert found.ok.tolist() == [[True, False, True], [False, True, True]] and list(found.why) == [(0, 1), (1, 0)]
    assert s.kernel("energy")(Q, np.zeros(2)).ok.all()


def test_a_batch_of_one_is_a_batch(singular):
    s, _, bad = singular
    found = s.kernel("forward")(bad.q[None], bad.v, np.zeros(2))
    assert found.ok.tolist() == [False] and np.isnan(found.a).all()
