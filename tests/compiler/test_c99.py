"""The C text computes what the program says: compiled where a compiler is present, and always by reading it statement by statement."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from linkwright.compiler import c99
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, interpret
from linkwright.errors import UsageError
from tests.compiler import c_reader
from tests.compiler.samples import every_operation, forward_of, random_program
from tests.sweeps import sweep

COMPILERS = {  # the language and its strictest warnings
    "c": (("gcc", "clang", "cc"), ["-std=c99", "-x", "c"]),
    "c++": (("g++", "clang++", "c++"), ["-std=c++11", "-x", "c++"]),
}


def both(program: Program, x: np.ndarray, folder: Path, language: str = "c") -> tuple[np.ndarray, int | None]:
    """y and the status word by a compiler, or y alone by the reader where there is none."""
    text = c99.write(program, "kernel")
    names, flags = COMPILERS[language]
    compiler = next((path for path in map(shutil.which, names) if path), None)
    if compiler is None:
        return c_reader.run(text, "kernel", x, program.n_out), None
    place = Path(tempfile.mkdtemp(dir=folder))  # a library that is loaded must not be overwritten
    source, library = place / "kernel.txt", place / "kernel.so"
    source.write_text(c99.header(program, "kernel") + text)
    command = [compiler, *flags, "-O2", "-pedantic", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    done = subprocess.run([*command, "-o", str(library), str(source), "-lm"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    pointer = ctypes.POINTER(ctypes.c_double)
    x, y = np.array(x, dtype=float), np.full(program.n_out, np.nan)
    status = ctypes.CDLL(str(library)).kernel(x.ctypes.data_as(pointer), y.ctypes.data_as(pointer))
    return y, status


def agree(y: np.ndarray, expected: np.ndarray) -> None:
    # + - * / sqrt are exact; sin, cos, pow ... of two libraries differ by an ulp, which a few operations later is a few ulps
    np.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-14)


@sweep("language", COMPILERS, now=1)
def test_every_operation(language: str, tmp_path: Path, rng: np.random.Generator) -> None:
    program = every_operation()
    x = np.concatenate([rng.uniform(0.5, 2.0, 3), rng.normal(size=4)])
    y, status = both(program, x, tmp_path, language)
    agree(y, interpret(program, x))
    assert status in (0, None)


def test_the_text_read_by_its_grammar(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c99, "LONGEST_PART", 25)  # so that values cross from part to part
    program = every_operation()
    for _ in range(4):
        x = np.concatenate([rng.uniform(0.5, 2.0, 3), rng.normal(size=4)])
        text = c99.write(program, "kernel")
        assert text.count("static void kernel_") > 2
        agree(c_reader.run(text, "kernel", x, program.n_out), interpret(program, x))
    for _ in range(10):
        program, x = random_program(rng), rng.normal(size=6)
        agree(c_reader.run(c99.write(program, "kernel"), "kernel", x, program.n_out), interpret(program, x))


def test_random_programs_in_parts(tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c99, "LONGEST_PART", 40)
    program, x = random_program(rng, operations=600, outputs=40), rng.normal(size=6)
    y, _ = both(program, x, tmp_path)
    agree(y, interpret(program, x))


def test_parts_without_inputs_or_crossing_values_and_names_that_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c99, "LONGEST_PART", 2)
    g = TraceGraph()
    a, b, c = g.input("a.b", 1)[0], g.input("a_b", 1)[0], g.input("x", 1)[0]
    program = g.program([("a b", [np.sin(a), np.cos(b), 2.0 * c, np.sin(a) * np.sin(b), a * b]), ("a-b", [3.0]), ("empty", [])])
    y, _ = both(program, np.array([0.3, 0.4, 0.5]), tmp_path)
    agree(y, interpret(program, np.array([0.3, 0.4, 0.5])))
    nothing = TraceGraph().program([("y", [])])
    assert both(nothing, np.zeros(0), tmp_path)[1] in (0, None)


@sweep("name", ["slider-crank-equal", "carpet-scraper"], now=1)
def test_forward_dynamics(name: str, tmp_path: Path) -> None:
    program, x = forward_of(name)
    y, status = both(program, x, tmp_path)
    expected = interpret(program, x)
    # the solution of linear equations: an ulp of a sine times their condition
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max())
    assert status in (0, None)


def status_program() -> Program:
    g = TraceGraph()
    (x,) = g.input("x", 1)
    return g.program([("a", [1.0 / x]), ("margin", [x, x + 1.0])])


@pytest.mark.parametrize(("x", "status"), [(1.0, 0), (0.0, 3), (-0.5, 2), (np.nan, 3), (np.inf, 1)])
def test_status_word(x: float, status: int, tmp_path: Path) -> None:
    program = status_program()
    y, returned = both(program, np.array([x]), tmp_path)
    np.testing.assert_array_equal(y, interpret(program, np.array([x])))
    assert returned in (status, None)


def test_minimum_and_maximum_keep_nan(tmp_path: Path) -> None:
    g = TraceGraph()
    a, b = g.input("x", 2)
    program = g.program([("y", [a.minimum(b), a.maximum(b), b.minimum(a), b.maximum(a)])])
    y, status = both(program, np.array([np.nan, 1.0]), tmp_path)
    assert np.isnan(y).all() and status in (1, None)


def test_constants_are_exact_and_the_rest_of_the_text_is_tidy(rng: np.random.Generator) -> None:
    values = [*rng.normal(size=200), *10.0 ** rng.uniform(-300, 300, 50), 5e-324, 0.1, -0.0]
    for value in values:
        text = c99.number(value)
        assert float(text) == value and re.search(r"[.e]", text), f"{text} is no double literal of {value!r}"
    assert c99.number(np.inf) == "INFINITY" and c99.number(-np.inf) == "-INFINITY" and c99.number(np.nan) == "NAN"
    program, _ = forward_of("carpet-scraper")
    text = c99.write(program, "kernel")
    assert max(map(len, text.splitlines())) <= 120
    assert re.findall(r"#include .*", text) == ["#include <math.h>"]


def test_the_text_says_what_stands_where() -> None:
    program = every_operation()
    for text in (c99.write(program, "kernel"), c99.header(program, "kernel")):
        assert "p    x[0] ... x[2]" in text
        assert re.search(r"sin  x\[3\] \.\.\. x\[6\] +2 x 2", text)
        assert re.search(r"margin  y\[\d+\] \.\.\. y\[\d+\]", text) and re.search(r"none +empty", text)
    constants = dict(re.findall(r"(kernel_\w+) = (\d+)", c99.header(program, "kernel")))
    assert constants["kernel_inputs"] == "7" and constants["kernel_in_sin"] == "3" and constants["kernel_out_t1"] == "11"


@pytest.mark.parametrize("name", ["double", "2fast", "a b", "", "sin", "größe"])
def test_impossible_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a C function"):
        c99.write(status_program(), name)


@pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only", "-Ofast"])
def test_refuses_compilers_that_take_nan_for_impossible(flag: str, tmp_path: Path) -> None:
    """Under these flags `y - y != 0` is taken for false, and a row of NaN would come back with status 0."""
    compiler = next((path for path in map(shutil.which, COMPILERS["c"][0]) if path), None)
    text = c99.write(every_operation(), "kernel")
    if compiler is None:  # the words that a compiler would look at
        assert "__FINITE_MATH_ONLY__ > 0" in text and "defined(__FAST_MATH__)" in text
        return
    (tmp_path / "kernel.c").write_text(text)
    done = subprocess.run([compiler, flag, "-c", "-o", "k.o", "kernel.c"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode and "compile without -ffast-math" in done.stderr
