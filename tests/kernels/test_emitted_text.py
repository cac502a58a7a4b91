"""Loops of scripts and C sources are written from Python: exports hold that text, and nothing of it is written by hand as well."""

from __future__ import annotations

import re
from pathlib import Path

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler import javascript_loops
from linkwright.kernels import c_sources, closing_loops, driven_motion, export, instance_loops, motion_loops, singular_step_loops
from linkwright.rings.exchange.writing import fmu

SOURCES = Path(lw.__file__).parent
SCRIPTS = list(SOURCES.glob("kernels/script/*.js"))
C = [*SOURCES.glob("kernels/*.c"), *SOURCES.glob("rings/exchange/writing/fmu/c/*.[ch]")]
WRITTEN = [
    closing_loops.assembled, closing_loops.close_loops, motion_loops.stepped, singular_step_loops.stepped_through, driven_motion.walk,
    driven_motion.reach, instance_loops.slope, instance_loops.projected, instance_loops.attempted, instance_loops.started,
]  # fmt: skip


def functions(text: str) -> dict[str, str]:
    """Functions of a script by name, without spaces."""
    parts = re.split(r"(?m)^(?=function )", text)
    return {p.split("(")[0].removeprefix("function "): re.sub(r"\s", "", p) for p in parts if p.startswith("function ")}


def test_scripts_hold_the_loops_as_they_are_written() -> None:
    kernels = compiled_of(lw.load("four-bar").system).kernels
    programs = export.programs_of(export.chosen(kernels, None), ["walk", "forward", "projection", "terms"])
    text = export.javascript(kernels, ["walk", "forward", "projection", "terms"])
    assert export.loops_text(frozenset(programs)) in text
    whole = re.sub(r"\s", "", text)
    for name, body in functions(javascript_loops.write([driven_motion.walk, driven_motion.reach])).items():
        assert f"function{name}(" in body and f"function{name}(" in whole


def test_no_loop_is_written_by_hand_as_well() -> None:
    emitted = set(functions(javascript_loops.write([f for f in WRITTEN if f.__module__ != instance_loops.__name__])))
    assert {"walk", "newton", "close_loops", "stepped_through"} <= emitted
    for path in SCRIPTS:
        own = set(re.findall(r"(?:function|const|let) (\w+)\s*(?:=\s*)?\(", path.read_text(encoding="utf-8")))
        assert not own & emitted, path.name
    for path in C:  # in C wrappers have like names, so loops of Newton's method are told by what they need
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"NAME_loop_\w+\([^;{]*\)\s*\{", text), path.name
        assert not re.search(r"_(factored|substituted|regularized|accelerated)\(", text), path.name


def test_coefficients_of_integrators_are_in_their_tables_only() -> None:
    """19372 is in the fourth row of Dormand and Prince."""
    places = [p for p in SOURCES.rglob("*") if p.suffix in (".py", ".c", ".h", ".js") and "19372" in p.read_text(encoding="utf-8")]
    assert [p.name for p in places] == ["dopri.py"]


def test_c_sources_hold_the_loops_as_they_are_written() -> None:
    m = lw.load("four-bar")
    model = c_sources.c(compiled_of(m.system).kernels)["model.c"]
    for f in (closing_loops.assembled, closing_loops.close_loops, singular_step_loops.stepped_through):
        assert f"model_loop_{f.__name__}(" in model
    for version in ("2.0", "3.0"):
        texts, _ = fmu._texts(m.system, "m", version, ("CoSimulation",), None, None, None, None, None)
        for f in (x for x in WRITTEN if x.__module__ == instance_loops.__name__):
            assert re.search(rf"^int m_loop_{f.__name__}\(", texts["m_loops.c"], re.MULTILINE)
            assert f"m_loop_{f.__name__}(" in texts["m_core.c"] + texts["m_step.c"] + texts["m_start.c"], f.__name__
