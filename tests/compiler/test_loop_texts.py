"""Loops on records as C99, C++ and JavaScript: the numbers of Python, for every construct and for random functions."""

from __future__ import annotations

import ctypes
import json
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwright.compiler import c99, c99_loops, javascript, javascript_loops
from linkwright.compiler.records import KernelPlace, Layout, LoopError, Record, run
from tests.compiler.samples import node
from tests.compiler.test_loops import (  # fmt: skip
    FUNCTIONS,
    ITEMS,
    SHARED,
    TABLES,
    Newton,
    Work,
    arithmetic,
    by_python,
    laid_out,
    numbers,
    program,
    random_results,
    solving,
)
from tests.sweeps import sweep

# products are fused unless the text forbids it
FUSING = ["-std=gnu99", *(["-march=native"] if platform.machine() in ("x86_64", "AMD64") else [])]


def c_module(real: c99.Real = c99.DOUBLE) -> str:
    text = c99_loops.write(FUNCTIONS, laid_out(), {"Newton": "m_step"}, prefix="m_", real=real, tables=TABLES)
    items = f"""
#define ALL(f) int f##_all(const {real.name} *given, {real.name} *out, double *results) {{ int k; for (k = 0; k < {ITEMS}; k++) {{ \\
  m_Work w; m_Work_fill(&w); results[k] = m_##f(&w, given + 6 * k, out + 6 * k); }} return 0; }}
"""
    names = [f"ALL({f.__name__})" for f in FUNCTIONS]
    extern = 'extern "C" {\n'
    head = f"#include <math.h>\n#include <stdlib.h>\n#ifdef __cplusplus\n{extern}#endif\n"
    return "\n".join([head, c99.write(program(), "m_step", real), text, items, *names, "#ifdef __cplusplus\n}\n#endif\n"])


FLAGS = {
    "c": (("gcc", "clang", "cc"), ["-std=c99", "-x", "c", "-pedantic"]),
    "gnu": (("gcc", "clang", "cc"), [*FUSING, "-x", "c"]),
    "c++": (("g++", "clang++", "c++"), ["-std=c++11", "-x", "c++", "-pedantic"]),
}


@pytest.mark.parametrize("language", FLAGS)
def test_c_has_the_numbers_of_python(language: str, tmp_path: Path) -> None:
    names, flags = FLAGS[language]
    compiler = next((path for path in map(shutil.which, names) if path), None)
    if compiler is None:
        pytest.fail("this test needs a C compiler: install gcc")
    (tmp_path / "loops.txt").write_text(c_module())
    command = [compiler, *flags, "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(tmp_path / "loops.so")]
    done = subprocess.run([*command, str(tmp_path / "loops.txt"), "-lm"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    library, pointer = ctypes.CDLL(str(tmp_path / "loops.so")), ctypes.POINTER(ctypes.c_double)
    for function in FUNCTIONS:
        expected, written = by_python(function)
        given, out, results = numbers(), np.zeros((ITEMS, 6)), np.zeros(ITEMS)
        getattr(library, f"{function.__name__}_all")(*(x.ctypes.data_as(pointer) for x in (given, out, results)))
        compared = np.testing.assert_array_equal if function not in (arithmetic,) else np.testing.assert_array_almost_equal_nulp
        compared(results, expected.astype(float))  # powers are those of two libraries
        compared(out, written)


def test_single_precision_has_no_double_in_it() -> None:
    text = c_module(c99.SINGLE).split("fp_contract(off)")[1].split("#define ALL")[0]
    assert "sqrtf(" in text and "powf(" in text and not re.search(r"\bdouble\b|\d\.\d+(?![\df])", text)


@pytest.mark.parametrize("shortened", [str, javascript.squeezed])
def test_javascript_has_the_numbers_of_python(shortened: Callable[[str], str]) -> None:
    text = shortened(javascript_loops.write(FUNCTIONS))
    driver = f"""
const given = {json.dumps(numbers().tolist())}, all = {{}};
for (const f of [{", ".join(f.__name__ for f in FUNCTIONS)}]) {{
  all[f.name] = given.map((row) => {{
    const w = newWork({{ nq: 3, nv: 2, width: 3 }}, {{ newton: kernels.step }}), out = new Float64Array(6);
    w.table.set({json.dumps(TABLES["table"].ravel().tolist())});
    w.weights.set({json.dumps(TABLES["weights"].tolist())});
    w.order.set({json.dumps(TABLES["order"].tolist())});
    return [f(w, Float64Array.from(row), out), Array.from(out)];
  }});
}}
console.log(JSON.stringify(all));
"""
    script = '"use strict";\n' + javascript.module({"step": program()}).split("if(typeof module")[0] + text + driver
    done = subprocess.run([*node(), "-"], input=script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for function in FUNCTIONS:
        expected, written = by_python(function)
        compared = np.testing.assert_array_equal if function is not arithmetic else np.testing.assert_array_almost_equal_nulp
        compared(np.array([x for x, _ in found[function.__name__]], dtype=float), expected.astype(float))
        compared(np.array([x for _, x in found[function.__name__]]), written)


@sweep("seed", range(60), now=3)
def test_random_loops_as_text(seed: int, tmp_path: Path) -> None:
    made, given, expected = random_results(seed, tmp_path)
    driver = f"""
const all = {json.dumps(given.tolist())}.map((row) => {{
  const w = newWork({{}}), out = new Float64Array(6);
  w.table.set({SHARED});
  return [main(w, Float64Array.from(row), out), Array.from(out)];
}});
console.log(JSON.stringify(all, (k, x) => (typeof x === "number" && !isFinite(x) ? String(x) : x)));
"""
    script = '"use strict";\n' + javascript_loops.write([made.main]) + driver
    done = subprocess.run([*node(), "-"], input=script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    np.testing.assert_array_equal(np.array([x for x, _ in found], dtype=float), expected[0])
    np.testing.assert_array_equal(np.array([x for _, x in found], dtype=float), expected[1])
    try:
        text = c99_loops.write([made.main], Layout(made.Work, {}), {}, prefix="m_", tables={"table": SHARED})
    except LoopError as error:
        assert "C may compute either first" in str(error)
        return
    items = """
void all_items(const double *given, double *out, double *results) {
  int k; for (k = 0; k < 11; k++) { m_Work w; m_Work_fill(&w); results[k] = m_main(&w, given + 6 * k, out + 6 * k); } }
"""
    (tmp_path / "loop.c").write_text(f"#include <math.h>\n#include <stdlib.h>\n{text}{items}")
    command = [shutil.which("gcc") or shutil.which("cc") or "gcc", *FUSING, "-O2", "-w", "-shared", "-fPIC"]
    subprocess.run([*command, "-o", str(tmp_path / "loop.so"), str(tmp_path / "loop.c"), "-lm"], check=True, timeout=120)
    out, results, pointer = np.zeros((11, 6)), np.zeros(11), ctypes.POINTER(ctypes.c_double)
    ctypes.CDLL(str(tmp_path / "loop.so")).all_items(*(x.ctypes.data_as(pointer) for x in (given, out, results)))
    np.testing.assert_array_equal(results, expected[0])
    np.testing.assert_array_equal(out, expected[1])


def twice(w: Work) -> float:
    return keeping(w, 1.0) + keeping(w, 2.0)


def keeping(w: Work, x: float) -> float:
    w.time = x
    return 2.0 * x


def read_and_changed(w: Work) -> None:
    w.here.q[0] += keeping(w, 1.0)


def in_order(w: Work) -> bool:
    return keeping(w, 1.0) > 1.0 and keeping(w, 2.0) > w.time


def test_c_does_not_decide_the_order_of_calls() -> None:
    for function in (twice, read_and_changed):
        with pytest.raises(LoopError, match="Give the call's result a name"):
            c99_loops.write([function], laid_out(), {})
    with pytest.raises(LoopError, match="Give the call's result a name"):
        c99_loops.write([in_order], laid_out(), {})  # w.time in the second comparison


def test_texts_are_tidy() -> None:
    plain = FUNCTIONS[2:5]
    for text in (javascript_loops.write(plain), c99_loops.write(plain, laid_out(), {"Newton": "step"})):
        assert max(map(len, text.splitlines())) <= 140 and "\t" not in text and " \n" not in text
    text = javascript_loops.write([solving])
    assert "for (let _ = 0; _ < 20; _++) {" in text and "  const x = w.newton.x;" in text and "w.newton.run();" in text


class Twice(Record):
    one: Newton
    other: Newton


def both(w: Twice) -> None:
    run(w.one)
    run(w.other)


def test_two_kernels_of_one_class_need_one_layout_in_c() -> None:
    p = program()
    layout = Layout(Twice, {}, {"one": KernelPlace.of(0, p.inputs, p.outputs), "other": KernelPlace(0, {"x": (0, 2)}, {}, 2, 0)})
    with pytest.raises(LoopError, match="Declare two classes"):
        c99_loops.write([both], layout, {"Newton": "step"})
    with pytest.raises(LoopError, match="has no function: name it"):
        c99_loops.write([solving], laid_out(), {})
