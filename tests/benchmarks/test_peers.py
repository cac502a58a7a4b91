"""Comparisons with other programs: the same mechanics in all of them, reasons in place of missing programs. Times are not tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from benchmarks import casadi_code, drake_steps, exudyn_steps, mujoco_loop, peers, pinocchio_cpp, steppers, symbolic, workshop
from benchmarks.bench.cases import MECHANISMS, STEP, BenchRow, Contender, Unavailable
from benchmarks.workshop import NATIVE, Workshop
from tests.benchmarks.bench.samples import at
from tests.sweeps import sweep


def nothing(*_: Any, **__: Any) -> None:
    return None


# -------------------------------------------------------------------- the same mechanics


@sweep("name", MECHANISMS, now=3)
def test_pinocchio_called_from_python_agrees(name: str, shop: Workshop) -> None:
    exact, newer = (c for c in peers.pinocchio_python(at(name), shop) if isinstance(c, Contender))
    assert exact.row.accuracy is not None and exact.row.accuracy < 1e-8  # mu = 1e-10, iterated twice
    assert newer.row.accuracy is not None and newer.row.accuracy < 1e-4  # lcaba stops at mu = 1e-6
    assert exact.run(0.0) > 0.0


@sweep("name", MECHANISMS, now=["carpet-scraper"])
def test_mujoco_agrees_as_far_as_soft_loops_do(name: str, shop: Workshop) -> None:
    forward, rollout = (c for c in mujoco_loop.contenders(at(name), shop) if isinstance(c, Contender))
    for c in (forward, rollout):
        assert c.row.accuracy is not None and c.row.accuracy < 1e-2
    assert forward.run(0.0) > 0.0 and rollout.run(0.0) > 0.0


@sweep("name", MECHANISMS, now=2)
def test_a_true_step_starts_with_the_acceleration_and_others_come_near_it(name: str) -> None:
    """Exudyn's rule is of second order. Drake's step holds J(q) v: it has the acceleration without the rate of J, and its soft share."""
    c = at(name)
    s, st, n = c.system, c.state, len(c.a)
    assert c.step_error(st.v + STEP * c.a) < 3e-3  # half a step times the rate of a, some 1/s to 4/s of it
    for offer in exudyn_steps.contenders(c):
        assert isinstance(offer, BenchRow) or (offer.row.accuracy is not None and offer.row.accuracy < 1e-5)
    for offer in drake_steps.contenders(c):
        K = np.block([[s.M(st), s.closure(st).J.T], [s.closure(st).J, np.zeros((len(s.closure(st).J),) * 2)]])
        without = np.linalg.lstsq(K, np.concatenate([c.efforts - s.h(st), np.zeros(len(K) - n)]), rcond=None)[0][:n]
        expected = c.step_error(st.v + STEP * without)
        assert isinstance(offer, BenchRow) or offer.row.accuracy == pytest.approx(expected, rel=0.1)


class Reader:
    """The text of a model as the C++ programs read it, built again with Pinocchio's own joints."""

    def __init__(self, text: str):
        self.words = iter(text.split())
        self.model = pin.Model()
        self.model.gravity.linear = self.real(3)
        for i in range(int(next(self.words))):
            kind, parent, X = next(self.words), int(next(self.words)), self.placement()
            make = pin.JointModelFreeFlyer if kind == "free" else getattr(pin, f"JointModel{kind}")
            joint = self.model.addJoint(parent, make(), X, f"j{i}")
            (mass,), com, I = self.real(1), self.real(3), self.real(6)
            inertia = np.array([[I[0], I[1], I[3]], [I[1], I[2], I[4]], [I[3], I[4], I[5]]])
            self.model.appendBodyToJoint(joint, pin.Inertia(mass, com, inertia), pin.SE3.Identity())
        self.loops = [self.loop() for _ in range(int(next(self.words)))]
        self.drives = self.whole()
        self.q, self.v, self.tau, self.a = (self.real(int(next(self.words))) for _ in range(4))
        assert next(self.words, None) is None

    def real(self, n: int) -> np.ndarray:
        return np.array([float(next(self.words)) for _ in range(n)])

    def whole(self) -> list[int]:
        return [int(next(self.words)) for _ in range(int(next(self.words)))]

    def placement(self) -> Any:
        return pin.SE3(self.real(9).reshape(3, 3), self.real(3))

    def loop(self) -> tuple[Any, list[int]]:
        assert next(self.words) == "point"
        one, X1, two, X2 = int(next(self.words)), self.placement(), int(next(self.words)), self.placement()
        return pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, one, X1, two, X2), self.whole()


@sweep("name", MECHANISMS, now=3)
def test_the_text_for_the_cpp_programs_is_the_mechanism(name: str) -> None:
    c = at(name)
    p = pinocchio_cpp.converted(c)
    text = Reader(pinocchio_cpp.model_text(c, p))
    data = text.model.createData()
    models = pin.StdVec_RigidConstraintModel([m for m, _ in text.loops])
    datas = pin.StdVec_RigidConstraintData([m.createData() for m, _ in text.loops])
    pin.initConstraintDynamics(text.model, data, models, datas)
    a = pin.constraintDynamics(text.model, data, text.q, text.v, text.tau, models, datas, pin.ProximalSettings(1e-12, 1e-10, 2))
    assert c.error(p.acceleration(c.state, a)) < 1e-8
    np.testing.assert_allclose(text.a, a, atol=1e-8 * np.abs(a).max())  # as above: what mu leaves, times the conditioning
    assert len(text.drives) == len(c.tau) and all(axes == ([0, 1, 2] if name == "stewart" else [0, 1]) for _, axes in text.loops)


# -------------------------------------------------------------------- symbolic elimination, on numbers


def entries(A: np.ndarray) -> dict[tuple[int, int], float]:
    return {(int(i), int(j)): float(A[i, j]) for i, j in zip(*np.nonzero(A), strict=True)}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("order", [None, "inertias first"])
def test_forward_dynamics_by_elimination_in_any_order(name: str, order: str | None) -> None:
    c = at(name)
    s, st = c.system, c.state
    M, J, nv = s.M(st), s.closure(st).J, s.tree.nv
    J = J[np.abs(J).max(axis=1) > 0.0]
    K = symbolic.saddle(entries(M), entries(J), nv)
    dense = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    assert {key: dense[key] for key in K} == K and len(K) == np.count_nonzero(dense)
    pivots = symbolic.inertias_first(nv, len(J)) if order else symbolic.elimination_order(dense, K, nv)
    assert sorted(pivots) == list(range(len(dense)))
    b = np.arange(1.0, len(dense) + 1.0)
    x = np.linalg.solve(dense, b)
    # 1e-9: round-off times the conditioning of these states, below 1e6
    np.testing.assert_allclose(symbolic.solve_symmetric(K, list(b), pivots), x, rtol=0, atol=1e-9 * np.abs(x).max())


def test_the_platform_comes_after_legs_and_their_loops() -> None:
    c = at("stewart")
    M, J, nv = c.system.M(c.state), c.system.closure(c.state).J, c.system.tree.nv
    K = symbolic.saddle(entries(M), entries(J), nv)
    order = symbolic.elimination_order(np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]]), K, nv)
    platform = [i for i, name in enumerate(c.system.names.v) if name.startswith("platform")]
    rows_before = sum(pivot >= nv for pivot in order[: min(order.index(i) for i in platform)])
    assert rows_before >= 12  # of 18: most loops are gone before the body they meet in


def test_a_general_system_is_eliminated_with_safe_pivots(rng: np.random.Generator) -> None:
    for _ in range(20):
        A = rng.normal(size=(9, 9)) * (rng.random((9, 9)) < 0.35) + np.eye(9)[rng.permutation(9)]
        b = rng.normal(size=9)
        x = np.linalg.solve(A, b)
        found = symbolic.solve_general(entries(A), list(b), A)
        np.testing.assert_allclose(found, x, atol=1e-11 * (1 + np.linalg.cond(A)) * np.abs(x).max())


# -------------------------------------------------------------------- what is missing says so


def reasons(offers: list[Contender | BenchRow], word: str) -> None:
    assert offers
    for row in offers:
        assert isinstance(row, BenchRow) and row.ns is None and row.note.startswith("not measured: ") and word in row.note


def test_missing_packages_give_rows_with_the_reason(monkeypatch: pytest.MonkeyPatch, shop: Workshop) -> None:
    for module in (pinocchio_cpp, casadi_code, mujoco_loop, steppers):
        monkeypatch.setattr(module, "find_spec", nothing)
    c = at("four-bar")
    reasons(pinocchio_cpp.contenders(c, shop), "'pin' is not installed")
    reasons(peers.pinocchio_python(c, shop), "'pin' is not installed")
    reasons(mujoco_loop.contenders(c, shop), "'mujoco' is not installed")
    reasons(exudyn_steps.contenders(c, shop), "'exudyn' is not installed")
    reasons(drake_steps.contenders(c, shop), "'drake' is not installed")
    offers = peers.offered(c, shop)
    assert all(isinstance(row, BenchRow) for row in offers)
    assert {row.quantity for row in offers if isinstance(row, BenchRow)} == {"forward", "forward call", "inverse", "step"}
    peers.prepare(shop)


def test_without_a_compiler_what_needs_none_is_still_measured(monkeypatch: pytest.MonkeyPatch, shop: Workshop) -> None:
    monkeypatch.setattr(workshop.shutil, "which", nothing)
    c = at("four-bar")
    for row in pinocchio_cpp.contenders(c, shop):  # headers are looked for first: without casadi's they are what is missing
        assert isinstance(row, BenchRow) and row.ns is None and ("compiler" in row.note or "Eigen" in row.note)
    forward = mujoco_loop.contenders(c, shop)[0]
    assert isinstance(forward, Contender) and "called from Python" in forward.row.note and forward.run(0.0) > 0.0
    with pytest.raises(Unavailable, match="no C compiler found"):
        shop.compiler("c")


def test_sources_that_do_not_compile_are_told_once(shop: Workshop, tmp_path: Path) -> None:
    source = tmp_path / "broken.c"
    source.write_text("int f( { return 0; }\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"broken\.c does not compile|no C compiler"):
            shop.build("c", [source], ["-O0"])


def test_the_native_sources_are_beside_the_drivers() -> None:
    assert {p.name for p in NATIVE.iterdir()} >= {"pinocchio_problem.hpp", "pinocchio_terms.cpp", "pinocchio_timing.cpp", "timing_loop.c"}
