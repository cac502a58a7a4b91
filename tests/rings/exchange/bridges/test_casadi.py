"""Functions of CasADi: SX by default, compiled C on demand, inside a nonlinear program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
import yaml

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.rings.exchange.bridges import casadi_library
from tests import ROOT
from tests.refusals import refused
from tests.rings.exchange.bridges import cases
from tests.sweeps import sweep


def jacobian(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    y = ca.MX.sym("y", len(x))
    return np.array(ca.Function("jacobian", [y], [ca.jacobian(f(y), y)])(x))


TOOLS = cases.Tools(lambda s, **options: s.casadi(**options), ca.DM, np.array, jacobian)


@sweep("model", ["four-bar", "rssr"], now=1)  # rssr has a quaternion and a rod that spins idly
def test_values_are_those_of_the_kernels(model: str) -> None:
    cases.values(TOOLS, model)


@sweep("model", ["four-bar", "rssr"], now=1)
def test_derivatives_are_those_of_the_kernels(model: str) -> None:
    cases.slopes(TOOLS, model)


@sweep("model", ["rssr", "five-bar"], now=1)
def test_steps_are_those_of_the_stepper(model: str) -> None:
    cases.steps(TOOLS, model)


@pytest.mark.parametrize("model", ["five-bar", "rssr"])
def test_positions_of_the_drives_close_the_loops(model: str) -> None:
    cases.driven(TOOLS, model)


def test_free_numbers_have_derivatives() -> None:
    cases.free_numbers(TOOLS, lambda parts: ca.vertcat(*parts))


def test_second_derivatives_are_exact() -> None:
    s, q, v, tau = cases.case("four-bar")
    f, x = s.casadi(), ca.MX.sym("x", 3)
    total = ca.sumsqr(f.forward(x, v, tau).a)
    gradient, hessian = ca.Function("g", [x], [ca.gradient(total, x)]), ca.Function("h", [x], [ca.hessian(total, x)[0]])
    cases.same(np.array(hessian(q)), cases.differences(lambda y: np.array(gradient(y)).ravel(), q), cases.SLOPE)


def test_positions_of_the_drives_have_second_derivatives() -> None:
    """Of the rocker's angle by the crank's: against differences of the first ones."""
    f, x = lw.compile("four-bar").casadi(), ca.MX.sym("x")
    angle = f.kinematics(x).q[2]
    first, second = ca.Function("first", [x], [ca.gradient(angle, x)]), ca.Function("second", [x], [ca.hessian(angle, x)[0]])
    cases.same(np.array(second(0.8)), cases.differences(lambda y: np.array(first(y)).ravel(), np.array([0.8])), cases.SLOPE)


def test_a_nonlinear_program_moves_the_five_bar_to_rest_elsewhere() -> None:
    """Multiple shooting: both cranks 0.1 rad further and at rest after 0.2 s; the found torques do so in `s.step` as well."""
    s = lw.compile("five-bar")
    f, n, dt, start = s.casadi(), 10, 0.02, s.start
    drives = [s.names.v.index(name) for name in ("A", "E")]
    goal = s.assemble(q={name: start[name] + 0.1 for name in ("A", "E")})
    q, v, u = ca.MX.sym("q", 4), ca.MX.sym("v", 4), ca.MX.sym("u", 2)
    tau = ca.MX.zeros(4)
    tau[drives] = u
    ahead = f.step(q, v, tau, dt)
    step = ca.Function("step", [q, v, u], [ahead.q, ahead.v])
    problem = ca.Opti()
    Q, V, U = problem.variable(4, n + 1), problem.variable(4, n + 1), problem.variable(2, n)
    problem.minimize(ca.sumsqr(U))
    problem.subject_to(Q[:, 0] == start.q)
    problem.subject_to(V[:, 0] == 0)
    for k in range(n):
        there = step(Q[:, k], V[:, k], U[:, k])
        problem.subject_to(Q[:, k + 1] == there[0])
        problem.subject_to(V[:, k + 1] == there[1])
    problem.subject_to(Q[drives, n] == goal.q[drives])  # the loops give the others
    problem.subject_to(V[drives, n] == 0)
    problem.set_initial(Q, np.linspace(start.q, goal.q, n + 1).T)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "max_iter": 60})
    solution = problem.solve()
    now = start
    for torques in np.array(solution.value(U)).T:
        efforts = np.zeros(4)
        efforts[drives] = torques
        now = s.step(now, efforts, dt)
    cases.same(now.q, goal.q, 1e-6)  # ipopt satisfies its constraints to 1e-8
    cases.same(now.v, np.zeros(4), 1e-5)


def test_compiled_functions_have_all_derivatives() -> None:
    """C of a slider-crank: values, Jacobian and Hessian as those of SX, and a map over many states."""
    s, q, v, tau = cases.case("slider-crank-equal")
    plain, fast, x = s.casadi(), s.casadi(compiled=True, hessian=True), ca.MX.sym("x", 2)
    assert fast.function("forward").function.class_name() == "External"
    found = []
    for f in (plain, fast):
        a = f.forward(x, v, tau).a
        found.append(ca.Function("all", [x], [a, ca.jacobian(a, x), ca.hessian(ca.sumsqr(a), x)[0]])(q))
    for one, other in zip(*found, strict=True):
        cases.same(np.array(other), np.array(one))
    many = np.tile(q, (8, 1)) + np.linspace(0, 0.1, 8)[:, None]
    mapped = fast.function("forward").function.map(8)(many.T, np.tile(v, (8, 1)).T, np.tile(tau, (8, 1)).T)[0]
    cases.same(np.array(mapped).T, s.kernel("forward")(many, v, tau).a)


def test_compiled_functions_have_a_hessian_on_request_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Second derivatives are most of the code (86 % of the delta's), so they are compiled when asked for."""
    written: list[str] = []

    def compiled(compiler: str, text: str, folder: Path, before: Callable[[], None]) -> bytes:
        written.append(text)
        return original(compiler, text, folder, before)

    original = casadi_library._compiled
    monkeypatch.setattr(casadi_library, "_compiled", compiled)
    s = cases.case("slider-crank-equal")[0]
    for options in ({}, {"hessian": True}):
        _ = s.casadi(compiled=True, **options).function("forward").function
    assert ["jac_adj1_lw_forward" in x for x in written] == [False, True]
    with refused(UsageError, name="hessian"):
        s.casadi(hessian=True)


def test_the_size_of_compiled_code_is_known_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The delta's Hessian, 1.3 million operations: 7 GB by the estimate (gcc had 5.9 GB when it was stopped), refused with less memory."""
    size = casadi_library.CodeSize(1_293_000)
    assert 5.9e9 < size.memory < 9e9 and size.seconds > 120.0
    with pytest.warns(RuntimeWarning, match=r"1,293,000 operations, which take a compiler about 7 GB and 3.2 min. Leave hessian=True out"):
        size.warn("forward", True)
    monkeypatch.setattr(casadi_library, "memory_of_machine", lambda: 1e6)
    monkeypatch.setattr(casadi_library, "_compiled", lambda *_: pytest.fail("compiled all the same"))
    with refused(UsageError, name="lw_forward"):
        _ = cases.case("slider-crank-equal")[0].casadi(compiled=True).function("forward").function


def test_positions_that_do_not_exist_are_not_a_number() -> None:
    """A crank of five meters in a four-bar: the rod does not reach."""
    found = lw.compile("four-bar").casadi(parameters="L1").kinematics(np.array([0.9]), parameters=np.array([5.0]))
    assert all(np.isnan(np.array(x)).all() for x in found)


def test_what_is_wrong_is_said() -> None:
    s, q, v, tau = cases.case("four-bar")
    f = s.casadi()
    with refused(UsageError, name="v"):
        f.forward(q, v[:2], tau)
    with refused(UsageError, name="E", allowed=("A", "B", "D")):
        f.forward(q, v, {"E": 1.0})
    with refused(UsageError, name="parameters"):
        f.forward(q, v, tau, parameters=np.ones(1))
    with refused(UsageError, name="forwards"):
        f.function("forwards")
    with refused(UsageError, name="compile", allowed=("parameters", "compiled", "hessian")):
        s.casadi(compile=True)
    with refused(UsageError, name="compiled", value="yes"):
        s.casadi(compiled="yes")
    with refused(UsageError, value="fast"):
        f.forward(q, v, "fast")
    with refused(UsageError, name="forward"):
        f.forward(ca.SX.sym("q", 3), ca.MX.sym("v", 3), tau)
    with refused(UsageError, name="A"):
        f.kinematics({"B": 1.0})
    with refused(UsageError, name="task", allowed=("formulation", "drives", "baumgarte", "tasks")):
        f.function("operational", task="coupler.P")
    with refused(UsageError, name="dt", value=0.0):
        f.step(q, v, tau, 0.0)


def test_efforts_by_name() -> None:
    s, q, v, _ = cases.case("four-bar")
    torque = ca.MX.sym("torque")
    found = ca.Function("a", [torque], [s.casadi().forward(q, v, {"A": torque}).a])(2.0)
    cases.same(np.array(found).ravel(), s.kernel("forward")(q, v, np.array([2.0, 0.0, 0.0])).a)


@pytest.mark.parametrize("library", ["jax", "torch", "casadi"])
def test_missing_packages_are_named_with_the_command_that_installs_them(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=rf"needs the package {library}: pip install 'linkwright\[{library}\]'"):
        getattr(cases.case("four-bar").s, library)()


def test_steps_do_not_count_turns_of_cut_joints() -> None:
    """A coil spring in a joint that is cut reads its angle: references must be given."""
    description = yaml.safe_load((ROOT / "src/linkwright/model/library/four-bar.yaml").read_text(encoding="utf-8"))
    s = lw.compile(lw.load({**description, "springs": {"coil": {"joint": "C", "stiffness": "2 N m/rad"}}}), cuts=["C"])
    f, q, v, tau = s.casadi(), s.start.q, s.start.v, np.ones(3)
    with refused(UsageError, allowed=("C",)):
        f.step(q, v, tau)
    found = f.step(q, v, tau, near=compiled_of(s).packed_references(s.start))
    cases.same(np.array(found.v).ravel(), s.step(s.start, tau).v)
