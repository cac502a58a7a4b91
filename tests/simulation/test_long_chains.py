"""Runs of long chains: closed form of the motion, and nothing dense on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.bench.known_motions import chain_angle
from linkwright.api import compiled_of
from linkwright.kernels.loop_rows import LoopRows
from linkwright.mechanics.closing.coordinate_partition import partition
from linkwright.mechanics.kinematics.motion import joint_rate, motion
from linkwright.numerics.linalg import LARGE, SparseStack
from linkwright.results.cut_references import _shares
from linkwright.rings.papers.chain_cost import chain, moving_state


@pytest.mark.slow
@pytest.mark.parametrize("n", [80, 300])
def test_a_run_with_its_certificate_decomposes_no_large_matrix(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    s = chain(n)
    svd = np.linalg.svd

    def small(A: Any, *more: Any, **options: Any) -> Any:
        assert min(np.shape(A)[-2:]) < LARGE, "a singular value decomposition of a large matrix"
        return svd(A, *more, **options)

    monkeypatch.setattr(np.linalg, "svd", small)
    dense = SparseStack.dense
    monkeypatch.setattr(SparseStack, "dense", property(lambda stack: _bounded(stack) and dense.__get__(stack)))
    run = s.simulate(s.start, 0.4, tolerance=1e-9)
    assert abs(float(run["G0"][-1] - run["G0"][0]) - chain_angle(n, 0.4)) < 1e-8  # ten times the tolerance
    assert np.abs(run[f"B{n}"] - run["B1"]).max() < 1e-8  # cranks and couplers are parallel
    found = run.certificate
    short = chain(5)
    signs = short.simulate(short.start, 0.4, tolerance=1e-9).certificate.branch_start
    assert found.ok and not found.passages and found.branch_start == found.branch_end == signs * (n // 5)
    monkeypatch.undo()
    rows, q = s.kernels.rows, run.q[-1:]
    J = rows.at(q=q, v=0.0 * q, t=np.zeros((1, 1)), near=s.kernels.defaults["near"][None]).J
    J = J.scaled(1.0 / compiled_of(s).loops.row_scale, compiled_of(s).loops.columns)
    least = svd(J.dense[0], compute_uv=False)[-1]  # the chain comes nearer to its singular position all the time
    assert 0.9 * least < found.smallest_singular_value < 1.1 * least  # inverse iteration: within some per cent


def _bounded(stack: SparseStack) -> bool:
    assert min(stack.shape) < LARGE, "a dense J"
    return True


def test_rows_of_the_loops_are_those_of_the_closure() -> None:
    s = chain(6)
    q, v = moving_state(s)
    rows = LoopRows(s.kernels).at(q=q[None], v=v[None], t=np.zeros((1, 1)), near=s.kernels.defaults["near"][None])
    c = compiled_of(s).loops.at(q, v, 0.0, compiled_of(s).loops.skel.start_coordinates)
    assert np.abs(rows.J.dense[0] - c.J).max() < 1e-14 and np.abs((rows.J @ v[None])[0] - c.J @ v).max() < 1e-14
    assert np.abs(rows.phi[0] - c.phi).max() < 1e-14
    assert rows.J.part([3, 1], range(9)).dense[0].tolist() == rows.J.dense[0][[3, 1], :9].tolist()


@pytest.mark.parametrize("drives", [(0,), ()])
def test_the_partition_of_a_large_mechanism_is_regular_and_has_small_blocks(drives: tuple[int, ...]) -> None:
    s = chain(80)
    q, v = moving_state(s)
    near = s.kernels.defaults["near"][None]
    J = s.kernels.rows.at(q=q[None], v=v[None], t=np.zeros((1, 1)), near=near).J.scaled(
        1.0 / compiled_of(s).loops.row_scale, compiled_of(s).loops.columns
    )
    found = partition(J, drives, 160)
    assert len(found.rows) == 160 and len(found.independent) == 1 and not set(drives) & set(found.dependent)
    assert max(len(b.rows) for b in found.blocks) <= 2  # a crank and its coupler
    size = np.linalg.slogdet(J.dense[0][:, found.dependent])
    assert abs(np.log(np.abs(found.determinants(J)[0])).sum() - size[1]) < 1e-9
    assert np.array_equal(found.determinants(J), found.determinants(J.dense))


@pytest.mark.parametrize("n", [3, 60])
def test_turns_of_a_cut_joint_are_sums_of_those_of_the_tree(n: int) -> None:
    """Against the rate of the joint by every coordinate, one after the other."""
    s = chain(n)
    skel, q, cut = compiled_of(s).loops.skel, s.start.q, s.kernels.defaults["near"]
    joint = skel.tree.description.joint(f"B{n}")
    columns, shares = _shares(skel, joint, 0, cut, q)
    every = np.zeros(skel.tree.nv)
    every[columns] = shares
    near = skel.unpack(q, cut)[joint.name]
    few = np.eye(skel.tree.nv)[-6:]
    assert np.allclose(every[-6:], [joint_rate(skel, motion(skel, q, e), joint, near).v[0] for e in few], atol=1e-12)
    assert not every[:-6].any() or n == 3
