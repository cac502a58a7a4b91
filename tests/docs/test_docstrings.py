"""Docstrings of the public surface: every example runs and gives what it shows, every section names parameters that exist."""

from __future__ import annotations

import doctest
import inspect
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.surface import public_calls, public_names

ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : ", re.MULTILINE)
SECTION = re.compile(r"^(Parameters|Returns|Raises|Examples)\n-+\n", re.MULTILINE)


def sections(call: Any) -> dict[str, str]:
    """The sections of a docstring by title."""
    parts = SECTION.split(inspect.getdoc(call) or "")
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def with_examples() -> dict[str, Any]:
    """Calls, classes and modules of the public surface."""
    found = public_calls() | {n: x for n, x in public_names().items() if inspect.isclass(x)} | {"models": lw.models}
    return {name: thing for name, thing in found.items() if ">>>" in (inspect.getdoc(thing) or "")}


def test_there_are_some() -> None:
    assert {"Path", "Page", "models", "Mechanism.simulate", "Mechanism.follow", "System.simulate"} <= set(with_examples())


@pytest.mark.parametrize("name", with_examples())
def test_examples_give_what_they_show(name: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(with_examples()[name]) or "", {"lw": lw, "np": np}, name, None, None)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize("name", [n for n, call in public_calls().items() if "Parameters" in sections(call)])
def test_parameters_of_a_docstring_are_parameters_of_the_call(name: str) -> None:
    call = public_calls()[name]
    known = [p for p in inspect.signature(call).parameters if p != "self"]
    named = [x.strip("*") for m in ENTRY.finditer(sections(call)["Parameters"]) for x in m.group(1).split(", ")]
    assert named == known


WIDEST = 40  # calls by the number of their parameters


def test_the_widest_calls_have_sections_and_an_example() -> None:
    calls = {n: [p for p in inspect.signature(call).parameters if p != "self"] for n, call in public_calls().items()}
    widest = sorted(calls, key=lambda name: -len(calls[name]))[:WIDEST]
    bare = {name for name in widest if not {"Parameters", "Returns"} <= set(sections(public_calls()[name]))}
    assert not bare
    without = {name for name in widest if name not in with_examples()}
    bridges = {"Bridge.forward", "Bridge.inverse", "Bridge.kinematics", "Bridge.step"}  # of optional packages
    assert without <= {"drives.Actuation.columns", *bridges}  # of a run
