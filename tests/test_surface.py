"""The public surface as type checkers and people at a keyboard see it: types of results, named options, names that Tab offers."""

from __future__ import annotations

import inspect
import re

import pytest

import linkwright as lw
from linkwright.rings.exchange.formats import FORMATS
from linkwright.rings.exchange.formats.base import ExportOptions
from linkwright.rings.studio import plots, study_plots, synthesis_plots
from linkwright.rings.studio.plots.common_parts import Paper, PlotOptions, StudyPlotOptions, SynthesisPlotOptions
from tests.surface import SPACES, public_calls, public_names

# results whose type depends on the value of an argument, or of packages without type information
OF_ANY_TYPE = {
    "State.__getitem__": "a number or an array, and within a traced function of the user a symbol",
    "exchange.PinocchioModel.settings": "an object of pinocchio, which has no type information",
}
# keywords that are parameters of a model by their own names
OF_ANY_NAME = {"load": "parameters of the file", "Mechanism.with_": "parameters of the model"}
OPEN = {"Mechanism.tolerances"}  # options of `lw.study`


def test_public_calls_say_what_they_return() -> None:
    calls = public_calls()
    assert len(calls) > 400 and {"Mechanism.optimize", "Trajectory.bearings", "Trajectory.checks", "control.pd"} <= set(calls)
    found = {name: inspect.signature(call).return_annotation for name, call in calls.items()}
    silent = {
        name for name, kind in found.items() if kind in (inspect.Signature.empty, "Any") or re.search(r"\bAny \||\| Any\b", str(kind))
    }
    assert silent == set(OF_ANY_TYPE)


def test_options_have_names() -> None:
    starred = {
        name
        for name, call in public_calls().items()
        for p in inspect.signature(call).parameters.values()
        if p.kind is p.VAR_KEYWORD and not str(p.annotation).startswith("Unpack[")
    }
    assert starred - OPEN == set(OF_ANY_NAME)


def keywords(call) -> set[str]:
    return {p.name for p in inspect.signature(call).parameters.values() if p.kind is p.KEYWORD_ONLY}


def test_named_options_are_those_that_are_taken() -> None:
    paper = set(Paper.__annotations__)
    drawn = set().union(keywords(plots.plot), *(keywords(entry.draw) for entry in plots.PLOTS.values()))
    assert set(PlotOptions.__annotations__) == drawn | paper
    assert set(StudyPlotOptions.__annotations__) == set().union(*(keywords(x.draw) for x in study_plots.PLOTS.values())) | paper
    assert set(SynthesisPlotOptions.__annotations__) == keywords(synthesis_plots.plot) | paper
    assert set(ExportOptions.__annotations__) == {option.keyword for x in FORMATS.values() for option in x.options}


@pytest.mark.parametrize("space", SPACES)
def test_a_namespace_offers_what_is_public(space: str) -> None:
    module = getattr(lw, space)
    assert all(f"{space}.{name}" in public_names() for name in module.__all__)
    assert dir(module) == sorted(module.__all__)
