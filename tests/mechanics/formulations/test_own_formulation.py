"""A formulation that exists in the tests only, registered by one line: forward, crosscheck, kernels, runs, command line.

`RangeSpace` takes multipliers first and can be traced; `Plain` is the saddle-point system by numpy, which cannot. No source file knows
either of them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations import FORMULATIONS, Formulation, RawSolution, compiled, create, family, interpreted
from linkwright.numerics.linalg import ldl
from linkwright.rings import cli
from linkwright.simulation.options import about
from tests import ROOT
from tests.refusals import refused


@dataclass(frozen=True)
class RangeSpace:
    needs_inertia = True
    handles_redundant = False
    drops_lost_rows = False

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        mass = ldl(terms.M)
        X = mass.solve(terms.J.T.copy())
        rows = ldl(terms.J @ X)
        lam = -rows.solve(terms.k + X.T @ (tau - terms.h))
        return RawSolution(mass.solve(tau - terms.h) + X @ lam, lam, watch=(*mass.watch, *rows.watch))

    def matrix(self, terms: Terms) -> np.ndarray:
        return terms.J @ np.linalg.solve(terms.M, terms.J.T)

    def traced(self) -> Formulation | None:
        return self

    def variants(self) -> Mapping[str, Formulation]:
        return {"": self}


@dataclass(frozen=True)
class Plain:
    needs_inertia = False
    handles_redundant = False
    drops_lost_rows = False
    weight: float = 1.0  # of the rows: changes nothing

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        A, n = self.matrix(terms), terms.nv
        z = np.linalg.solve(A, np.concatenate([tau - terms.h, -self.weight * terms.k]))
        return RawSolution(z[:n], -self.weight * z[n:])

    def matrix(self, terms: Terms) -> np.ndarray:
        J = self.weight * terms.J
        return np.block([[terms.M, J.T], [J, np.zeros((len(J), len(J)))]])

    def traced(self) -> Formulation | None:
        return None

    def variants(self) -> Mapping[str, Formulation]:
        return {"": self, "weighted": Plain(3.0)}


@pytest.fixture(params=[RangeSpace, Plain], ids=["traced", "interpreted"])
def own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(FORMULATIONS, "ownform", request.param)
    return request.param


def test_it_answers_forward_and_is_named_by_the_registry(own: Any) -> None:
    s = lw.compile("carpet-scraper")
    by_name, by_object = s.forward(s.start, formulation="ownform"), s.forward(s.start, formulation=own())
    assert by_name.formulation == by_object.formulation == "ownform" == family(own())
    np.testing.assert_allclose(by_name.a, s.forward(s.start, formulation="kkt").a, rtol=1e-10)
    np.testing.assert_allclose(by_name.a, by_object.a, rtol=0)
    with refused(lw.UsageError, name="ownform"):
        s.forward(s.start, formulation="ownform", limit="drop")
    redundant = lw.compile("parallelogram-middle")
    st = redundant.assemble(v={"A": 2.0})
    assert redundant.forward(st, formulation="ownform").redundant == 1
    np.testing.assert_allclose(redundant.forward(st, formulation="ownform").a, redundant.forward(st).a, rtol=1e-10)


def test_crosscheck_runs_it_with_its_variants(own: Any) -> None:
    s = lw.compile("wiper")
    found = {c.name: c for c in s.crosscheck(s.assemble(v={"A": 4.0})).formulations}
    expected = {f"ownform {label}".strip() for label in own().variants()}
    assert {name for name in found if name.startswith("ownform")} == expected
    assert all(found[name].disagreement < 1e-11 and found[name].condition >= 1.0 for name in expected)


def test_kernels_and_runs_have_it_if_it_can_be_traced(own: Any) -> None:
    s = lw.compile("wiper")
    st = s.assemble(v={"A": 4.0})
    assert ("ownform" in compiled()) != ("ownform" in interpreted()) and ("ownform" in compiled()) == (own is RangeSpace)
    right = s.simulate(st, 0.05, sample_interval=[0.05])
    run = s.simulate(st, 0.05, formulation="ownform", sample_interval=[0.05])
    assert run.q == pytest.approx(right.q, abs=1e-9)  # the tolerance of either run
    assert run.certificate.formulation == "ownform" and s.simulate(st, 0.01, formulation=own()).certificate.formulation == "ownform"
    if own is Plain:
        with refused(lw.UsageError, name="ownform"):
            s.kernel("forward", "ownform")
        return
    for engine in ("native", "python"):
        kernel = lw.compile("wiper", engine=engine).kernel("forward", "ownform")
        assert kernel.native == (engine == "native")
        np.testing.assert_allclose(kernel(st.q, st.v, np.ones(3)).a, s.forward(st, np.ones(3)).a, rtol=1e-10)


def test_a_lost_row_and_rest_in_it_are_answered_as_for_all(own: Any) -> None:
    """The rank-revealing path: through singular positions in a run, and refused at rest."""
    s = lw.load("slider-crank-equal", gravity=0).system
    st = s.state([1.4 * np.pi, 2 * np.pi - 2.8 * np.pi], [2.0, -4.0])
    run, right = (s.simulate(st, 0.4, formulation=x, sample_interval=[0.4]) for x in ("ownform", "sslm"))
    assert run["A"][-1] > 1.5 * np.pi and run.q == pytest.approx(right.q, abs=1e-8)
    with refused(lw.SingularityError, name="branch"):
        s.forward(s.state([1.5 * np.pi, -np.pi]), tau={"A": 1.0}, formulation="ownform")


def test_the_command_line_offers_it(own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert "ownform" in about("formulation")
    assert cli.main(["simulate", "--help"]) == 0
    assert "ownform" in capsys.readouterr().out
    assert cli.main(["simulate", "wiper", "0.02", "--formulation", "ownform", "--json"]) == 0
    assert '"formulation": "ownform"' in capsys.readouterr().out
    with refused(lw.UsageError, name="ownfrom"):
        create("ownfrom")


def test_code_of_another_formulation_of_the_same_name_is_not_taken_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    s = lw.compile("wiper")
    keys = []
    for kind in (RangeSpace, FORMULATIONS["slm"]):
        monkeypatch.setitem(FORMULATIONS, "ownform", kind)
        keys.append(s.kernels._key("ownform"))
    assert keys[0] != keys[1] and keys[1] == s.kernels._key("sslm") and "class RangeSpace" in keys[0][0]


def test_no_other_file_lists_formulations() -> None:
    """Two names in one statement, or a comparison with one, is a list kept by hand; "projection" is also a kernel."""
    source = ROOT / "src" / "linkwright"
    allowed = [source / "mechanics" / "formulations", source / "rings/papers"]  # papers compare the methods they print
    found = [
        f"{path.relative_to(source)}:{line}"
        for path in sorted(source.rglob("*.py"))
        if not any(path.is_relative_to(x) for x in allowed)
        for line in _listed(path)
    ]
    assert not found, f"formulations are listed by hand: {', '.join(found)}"


def _listed(path: Path) -> list[int]:
    """Lines that hold names of two formulations together, or compare with one that is not sslm, the one kernels are planned for."""
    single, out, text = set(FORMULATIONS) - {"sslm", "projection"}, [], path.read_text(encoding="utf-8")
    if not any(name in text for name in single):  # of two names at least one is among these
        return []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            names = {x.value for x in ast.walk(node) if isinstance(x, ast.Constant) and isinstance(x.value, str)}
            out += [node.lineno] * (len(names & set(FORMULATIONS)) > 1)
        elif isinstance(node, ast.Compare):
            values = [x.value for side in (node.left, *node.comparators) for x in ast.walk(side) if isinstance(x, ast.Constant)]
            out += [node.lineno] * any(isinstance(v, str) and v in single for v in values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            out += [node.lineno] * (len([n for n in single if f" {n}," in f" {node.value},"]) > 1)
    return out
