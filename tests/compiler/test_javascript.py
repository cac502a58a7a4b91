"""The JavaScript text computes what the program says, run in node."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from linkwright.compiler import javascript
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, interpret
from linkwright.errors import UsageError
from tests.compiler.samples import every_operation, forward_of, node, random_program


def run_script(text: str, expression: str) -> Any:
    """What an expression is after a script; numbers JSON does not know come as text."""
    show = 'JSON.stringify(%s,(k,v)=>typeof v==="number"&&!isFinite(v)?String(v):ArrayBuffer.isView(v)?Array.from(v):v)'
    script = f"{text}\nprocess.stdout.write({show % expression});"
    done = subprocess.run([*node(), "-"], input=script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run(text: str, calls: Mapping[str, tuple[Program, np.ndarray]]) -> dict[str, tuple[np.ndarray, int]]:
    """Results and status word of each function on its inputs (one process for all)."""
    parts = [
        f"{json.dumps(key)}:((y)=>[{key}(Float64Array.from({json.dumps([str(v) for v in x])}),y),y])(new Float64Array({p.n_out}))"
        for key, (p, x) in calls.items()
    ]
    found = run_script(text, f"{{{','.join(parts)}}}".replace('"nan"', "NaN").replace('"inf"', "Infinity"))
    return {key: (np.array(y, dtype=float), int(status)) for key, (status, y) in found.items()}


def agree(y: np.ndarray, expected: np.ndarray) -> None:
    # + - * / sqrt are exact; functions of two libraries differ by an ulp or two, which later operations magnify
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12)


def test_every_operation(rng: np.random.Generator) -> None:
    program = every_operation()
    x = np.concatenate([rng.uniform(0.5, 2.0, 3), rng.normal(size=4)])
    y, status = run(javascript.write(program, "kernel"), {"kernel": (program, x)})["kernel"]
    agree(y, interpret(program, x))
    assert status == 0


def test_random_programs_whole_and_in_parts(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {f"whole{n}": (random_program(rng), rng.normal(size=6)) for n in range(10)}
    text = "".join(javascript.write(p, key) for key, (p, _) in calls.items())
    monkeypatch.setattr(javascript, "LONGEST_PART", 30)
    cut = {f"cut{n}": (random_program(rng, operations=300, outputs=30), rng.normal(size=6)) for n in range(5)}
    text += "".join(javascript.write(p, key) for key, (p, _) in cut.items())
    assert text.count("new Float64Array") == 5
    for key, (y, _) in run(text, {**calls, **cut}).items():
        agree(y, interpret(*{**calls, **cut}[key]))


def test_rounding_goes_to_the_even_neighbor() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, 4503599627370497.5, 1e300, -1e300, 0.2, -0.2])
    g = TraceGraph()
    program = g.program([("y", np.rint(g.input("x", len(x))))])
    y, _ = run(javascript.write(program, "kernel"), {"kernel": (program, x)})["kernel"]
    np.testing.assert_array_equal(y, np.rint(x))


def test_module_of_mechanisms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(javascript, "LONGEST_PART", 400)
    samples = {name.replace("-", "_"): forward_of(name) for name in ("four-bar", "carpet-scraper", "slider-crank-equal", "rssr")}
    text = javascript.module({key: program for key, (program, _) in samples.items()}, "dynamics")
    found = run(text, {f"dynamics.{key}": sample for key, sample in samples.items()})
    for key, (program, x) in samples.items():
        y, status = found[f"dynamics.{key}"]
        expected = interpret(program, x)
        # the solution of linear equations: some ulps of a sine times their condition
        np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
        assert status == 0
    layouts = run_script(text, "[dynamics.rssr.inputs,dynamics.rssr.outputs,module.exports===dynamics,Object.keys(dynamics)]")
    program = samples["rssr"][0]
    assert layouts == [
        {b.name: [b.start, b.size] for b in program.inputs},
        {b.name: [b.start, b.size] for b in program.outputs},
        True,
        list(samples),
    ]


def test_a_page_without_node_gets_a_global() -> None:
    program = every_operation()
    text = javascript.module({"kernel": program})
    assert "</" not in text
    wrapped = f"const page={{}};require('vm').runInNewContext({json.dumps(text)},page);"
    assert run_script(wrapped, "[typeof page.kernels.kernel,page.kernels.kernel.inputs.p]") == ["function", [0, 3]]


@pytest.mark.parametrize(("x", "status"), [(1.0, 0), (0.0, 3), (-0.5, 2), (np.nan, 3), (np.inf, 1)])
def test_status_word(x: float, status: int) -> None:
    g = TraceGraph()
    (u,) = g.input("x", 1)
    program = g.program([("a", [1.0 / u]), ("margin", [u, u + 1.0])])
    y, returned = run(javascript.write(program, "kernel"), {"kernel": (program, np.array([x]))})["kernel"]
    np.testing.assert_array_equal(y, interpret(program, np.array([x])))
    assert returned == status


@pytest.mark.slow
def test_long_programs_stay_optimized(rng: np.random.Generator) -> None:
    """V8 never optimizes a function of more than 60 KB of bytecode, and the rest of the program waits for it."""
    program, x = random_program(rng, operations=6000, outputs=1500), rng.normal(size=6)
    text = javascript.write(program, "kernel")
    assert program.operations > 2 * javascript.LONGEST_PART
    flags = ["--print-bytecode", "--print-bytecode-filter=kernel*", "-"]
    script = f"{text}kernel(new Float64Array(6),new Float64Array({program.n_out}));"
    done = subprocess.run([*node(), *flags], input=script, capture_output=True, text=True, timeout=60)
    sizes = [int(n) for n in re.findall(r"Bytecode length: (\d+)", done.stdout)]
    assert len(sizes) >= 4 and max(sizes) < 60_000, done.stderr
    agree(run(text, {"kernel": (program, x)})["kernel"][0], interpret(program, x))


def test_text_is_short_and_constants_are_exact(rng: np.random.Generator) -> None:
    program, _ = forward_of("carpet-scraper")
    text = javascript.write(program, "kernel")
    assert len(text) < 8 * program.operations  # some 5 KB for the carpet scraper
    values = [*rng.normal(size=200), *10.0 ** rng.uniform(-300, 300, 50), 5e-324, 0.1, -0.0, 1e21, 123456789.0, np.inf, -np.inf]
    texts = [javascript.number(v) for v in values]
    found = run_script("", f"[{','.join(texts)}].map(v=>Object.is(v,-0)?'-0':String(v))")
    assert [float(v) for v in found] == values and found[values.index(-0.0)] == "-0"
    assert [javascript.number(v) for v in (0.5, -0.25, 2.0, 1e-5, 1e22)] == [".5", "-.25", "2", "1e-5", "1e22"]


def test_layout_is_written_at_the_top() -> None:
    text = javascript.write(every_operation(), "kernel")
    assert text.startswith("// kernel(x, y), ") and "x: p 0...2, sin 3...6 (2 x 2); y: " in text.splitlines()[0]


@pytest.mark.parametrize("name", ["function", "2fast", "a-b", "", "y", "größe"])
def test_impossible_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a JavaScript function"):
        javascript.write(every_operation(), name)
    with pytest.raises(UsageError, match="cannot be the name of a JavaScript function"):
        javascript.module({name: every_operation()})
