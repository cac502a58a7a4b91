"""Comparisons with other programs: the same mechanics in all of them, reasons in place of what is missing, results kept. No times."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from linkwright import files
from linkwright.cli.bench import (
    casadi_code,
    drake_steps,
    exudyn_steps,
    machine_info,
    mujoco_loop,
    ours,
    peers,
    pinocchio_cpp,
    processes,
    speed,
    steppers,
    symbolic,
    table,
    workshop,
)
from linkwright.cli.bench.cases import MECHANISMS, STEP, Case, Contender, Row, Unavailable, attempt, case
from linkwright.cli.bench.workshop import NATIVE, Workshop
from linkwright.errors import UsageError

at = cache(case)


@pytest.fixture
def shop(tmp_path: Path) -> Any:
    with Workshop(tmp_path / "built") as made:
        yield made


def nothing(*_: Any, **__: Any) -> None:
    return None


# -------------------------------------------------------------------- the same mechanics


@pytest.mark.parametrize("name", MECHANISMS)
def test_states_are_closed_and_move(name: str) -> None:
    c = at(name)
    s, st = c.system, c.state
    assert np.abs(s.phi(st)).max() < 1e-10  # metres: assembled to round-off
    assert np.abs(s.J(st) @ st.v).max() < 1e-10 and np.abs(st.v).max() > 0.05
    np.testing.assert_allclose(s.J(st) @ c.a + s.k(st), 0.0, atol=1e-8)  # loops stay closed; entries of size 1e2
    for drive, effort in c.tau.items():
        assert c.efforts[s.names.v.index(drive)] == effort
    back = s.inverse(st, c.a)
    assert c.effort_error([back.tau[drive] for drive in c.tau]) < 1e-9


@pytest.mark.parametrize("name", MECHANISMS)
def test_pinocchio_called_from_python_agrees(name: str, shop: Workshop) -> None:
    exact, newer = (c for c in peers.pinocchio_python(at(name), shop) if isinstance(c, Contender))
    assert exact.row.accuracy is not None and exact.row.accuracy < 1e-8  # mu = 1e-10, iterated twice
    assert newer.row.accuracy is not None and newer.row.accuracy < 1e-4  # lcaba stops at mu = 1e-6
    assert exact.run(0.0) > 0.0


@pytest.mark.parametrize("name", MECHANISMS)
def test_mujoco_agrees_as_far_as_soft_loops_do(name: str, shop: Workshop) -> None:
    forward, rollout = (c for c in mujoco_loop.contenders(at(name), shop) if isinstance(c, Contender))
    for c in (forward, rollout):
        assert c.row.accuracy is not None and c.row.accuracy < 1e-2
    assert forward.run(0.0) > 0.0 and rollout.run(0.0) > 0.0


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_true_step_starts_with_the_acceleration_and_others_come_near_it(name: str) -> None:
    """Exudyn's rule is of second order. Drake's step holds J(q) v: it has the acceleration without the rate of J, and its soft share."""
    c = at(name)
    s, st, n = c.system, c.state, len(c.a)
    assert c.step_error(st.v + STEP * c.a) < 3e-3  # half a step times the rate of a, some 1/s to 4/s of it
    for offer in exudyn_steps.contenders(c):
        assert isinstance(offer, Row) or (offer.row.accuracy is not None and offer.row.accuracy < 1e-5)
    for offer in drake_steps.contenders(c):
        K = np.block([[s.M(st), s.J(st).T], [s.J(st), np.zeros((len(s.J(st)),) * 2)]])
        without = np.linalg.lstsq(K, np.concatenate([c.efforts - s.h(st), np.zeros(len(K) - n)]), rcond=None)[0][:n]
        expected = c.step_error(st.v + STEP * without)
        assert isinstance(offer, Row) or offer.row.accuracy == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("name", ["four-bar", "3-rrr"])
def test_our_kernels_agree_alone_and_in_batches(name: str) -> None:
    offers = [c for c in ours.contenders(at(name)) if isinstance(c, Contender)]
    every = {kind + more for kind in ("forward", "inverse") for more in ours.NOTES}
    assert {c.row.quantity for c in offers} == {*every, "derivatives"}
    for c in offers:
        # round-off times the conditioning of these states, below 1e4
        assert c.row.accuracy is not None and c.row.accuracy < 1e-11 and c.row.operations


def test_a_wrong_acceleration_shows_in_the_accuracy() -> None:
    c = at("four-bar")
    off = c.a.copy()
    off[0] += 0.01 * np.abs(c.a).max()
    assert c.error(c.a) == 0.0
    assert c.error(off) == pytest.approx(0.01)
    assert c.effort_error([2 * x for x in c.tau.values()]) == pytest.approx(1.0)


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


@pytest.mark.parametrize("name", MECHANISMS)
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
    M, J, nv = s.M(st), s.J(st), s.tree.nv
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
    M, J, nv = c.system.M(c.state), c.system.J(c.state), c.system.tree.nv
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


def reasons(offers: list[Contender | Row], word: str) -> None:
    assert offers
    for row in offers:
        assert isinstance(row, Row) and row.ns is None and row.note.startswith("not measured: ") and word in row.note


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
    assert all(isinstance(row, Row) for row in offers)
    assert {row.quantity for row in offers if isinstance(row, Row)} == {"forward", "forward call", "inverse", "step"}
    peers.prepare(shop)


def test_without_a_compiler_what_needs_none_is_still_measured(monkeypatch: pytest.MonkeyPatch, shop: Workshop) -> None:
    monkeypatch.setattr(workshop.shutil, "which", nothing)
    c = at("four-bar")
    for row in pinocchio_cpp.contenders(c, shop):  # headers are looked for first: without casadi's they are what is missing
        assert isinstance(row, Row) and row.ns is None and ("compiler" in row.note or "Eigen" in row.note)
    forward = mujoco_loop.contenders(c, shop)[0]
    assert isinstance(forward, Contender) and "called from Python" in forward.row.note and forward.run(0.0) > 0.0
    with pytest.raises(Unavailable, match="no C compiler found"):
        shop.compiler("c")


def test_a_program_that_fails_is_named_and_the_others_go_on() -> None:
    def broken() -> list[Contender]:
        raise ValueError("no such joint\nsecond line")

    (row,) = attempt("Other", "four-bar", ("forward",), broken)
    assert isinstance(row, Row) and row.note == "not measured: ValueError: no such joint"

    def stops(seconds: float) -> float:
        raise Unavailable("ended")

    good, bad = Row("A", "1", "four-bar", "forward"), Row("B", "1", "four-bar", "forward")
    rows = speed.in_turns([Contender(bad, stops), Contender(good, lambda seconds: 5.0)], rounds=2)
    assert {r.engine: r.ns for r in rows} == {"A": 5.0, "B": None}
    assert next(r for r in rows if r.engine == "B").note == "not measured: Unavailable: ended"


def test_sources_that_do_not_compile_are_told_once(shop: Workshop, tmp_path: Path) -> None:
    source = tmp_path / "broken.c"
    source.write_text("int f( { return 0; }\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"broken\.c does not compile|no C compiler"):
            shop.build("c", [source], ["-O0"])


def test_the_native_sources_come_with_the_package() -> None:
    assert {p.name for p in NATIVE.iterdir()} >= {"pinocchio_problem.hpp", "pinocchio_terms.cpp", "pinocchio_timing.cpp", "timing_loop.c"}


# -------------------------------------------------------------------- rounds, ratios, files


def test_contenders_take_turns_and_the_best_round_counts() -> None:
    turns: list[str] = []

    def clock(name: str, times: list[float]) -> Callable[[float], float]:
        def run(seconds: float) -> float:
            turns.append(name)
            return times.pop(0)

        return run

    a, b = (Row(name, "", "four-bar", "forward") for name in ("a", "b"))
    rows = speed.in_turns([Contender(a, clock("a", [5.0, 3.0, 4.0])), Contender(b, clock("b", [2.0, 9.0, 8.0]))], rounds=3)
    assert turns == ["a", "b"] * 3
    assert [(r.engine, r.ns) for r in rows] == [("b", 2.0), ("a", 3.0)]


ROWS = [
    Row("linkwright", "0.1.0", "four-bar", "forward", ns=50.0, accuracy=1e-15, operations=200),
    Row("casadi, best order", "3.8.2", "four-bar", "forward", ns=70.125, accuracy=4e-15, operations=233, note='a, "note"'),
    Row("Drake", "", "four-bar", "step", note="not measured: the package 'drake' is not installed"),
]


def test_ratios_compare_the_same_mechanism_and_quantity() -> None:
    ratios = [r.ratio for r in table.with_ratios([*ROWS, Row("Exudyn", "1", "four-bar", "step", ns=10.0)])]
    assert ratios == [None, pytest.approx(1.4025), None, None]


def test_results_survive_the_file(tmp_path: Path) -> None:
    rows, facts = table.with_ratios(ROWS), machine_info.machine()
    path = table.write_csv(rows, facts, tmp_path / "results.csv")
    assert table.read_csv(path) == (rows, facts)
    table.write_csv(rows[:1], facts, path)
    assert len(table.read_csv(path)[0]) == 1 and files.made_by_linkwright(path)
    with pytest.raises(UsageError, match=r"the folder '.*absent' does not exist"):
        table.write_csv(rows, facts, tmp_path / "absent" / "results.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UsageError, match="columns should be"):
        table.read_csv(tmp_path / "other.csv")


def test_the_machine_is_stated() -> None:
    facts = machine_info.machine()
    assert facts["processor"] and int(facts["cores"]) >= 1 and facts["numpy"] == np.__version__
    assert all(facts[key] in machine_info.text(facts) for key in ("processor", "python", "linkwright", "numpy", "date"))


def test_durations_have_three_digits() -> None:
    assert [table.duration(x) for x in (68.91, 1830.0, 4.38e6, 1.5e9, None)] == ["68.9 ns", "1.83 us", "4.38 ms", "1.5 s", "-"]


def quick_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow parts of a run replaced by one row each."""

    def one(here: Case) -> list[Contender | Row]:
        return [Contender(Row("linkwright", "", here.name, "forward", accuracy=0.0), lambda seconds: 50.0)]

    monkeypatch.setattr(ours, "contenders", one)
    monkeypatch.setattr(processes, "import_rows", lambda repeats: [Row("import numpy", "", "-", "import", ns=1e8)])
    monkeypatch.setattr(
        processes, "first_use_rows", lambda name, repeats: [Row("linkwright", "", name, "first use", note="not measured: x")]
    )
    monkeypatch.setattr(speed, "ladder", lambda loops: [Row("linkwright", "", f"N={n}", "forward per loop", ns=9.0) for n in loops])


def test_the_command_prints_and_keeps_results(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    quick_parts(monkeypatch)
    said: list[str] = []
    path = tmp_path / "r.csv"
    rows = speed.main(quick=True, as_json=True, output=path, mechanisms=["four-bar", "stewart"], say=said.append)
    printed = json.loads(capsys.readouterr().out)
    assert printed["machine"] == table.read_csv(path)[1] and len(printed["results"]) == len(rows) == len(table.read_csv(path)[0])
    assert said[:2] == ["four-bar ...", "stewart ..."]
    speed.main(quick=True, mechanisms=["four-bar"], say=said.append)
    shown = capsys.readouterr().out
    assert "50 ns" in shown and "100 ms" in shown and "N=16" in shown
    with pytest.raises(UsageError, match="does not exist"):
        speed.main(quick=True, output=tmp_path / "absent" / "r.csv", mechanisms=["four-bar"], say=said.append)
    with pytest.raises(UsageError, match="no benchmark of 'fourbar'"):
        speed.main(mechanisms=["fourbar"])


def test_fresh_processes_are_timed_and_their_failures_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes.answer("import sys; print(1.5, len(sys.argv))", ["x"]) == [1.5, 2.0]
    monkeypatch.setattr(processes, "FIRST", "raise ValueError('no kernel')")
    rows = processes.first_use_rows("four-bar", 1)
    assert [r.quantity for r in rows] == ["first use", "second process"]
    assert all(r.ns is None and r.note == "not measured: ValueError: no kernel" for r in rows)
