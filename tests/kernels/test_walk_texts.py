"""The walk of a cycle as C99 and as JavaScript, there and back, against its machine code: one text, so only the rounding differs."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler import c99, c99_loops, javascript, javascript_loops
from linkwright.compiler.records import KernelPlace, Layout
from linkwright.kernels import driven_motion
from linkwright.kernels.kernel import Kernel
from tests.compiler.samples import node
from tests.sweeps import sweep

AGREEMENT = 1e-9  # of a column's largest: native kernels fuse products into sums


def cycle(name: str) -> tuple[Kernel, list[np.ndarray], np.ndarray]:
    """Kernel `walk` of a model, the arguments of a walk (q, near, parameters, laws, t), and its samples by machine code."""
    core = compiled_of(lw.load(name).system)
    kernel, t = core.kernels.get("walk"), np.linspace(0.0, 1.0, 41)
    x, n = core.drive_positions(core.start), len(core.drive_names)
    way = np.full((41, n), 0.1 if name == "stewart" else 2.0 * np.pi)
    laws = np.concatenate([x + way * t[:, None], way, 0.0 * way], axis=1)
    found = driven_motion.Walking(kernel)(core.start.q, core.packed_references(core.start), t, laws)
    assert found.reached == 41
    samples = np.concatenate([found.q, found.v, found.a, found.references, found.determinant[:, None]], axis=1)
    near = core.packed_references(core.start) if "near" in kernel.reads else np.zeros(0)
    return kernel, [core.start.q, near, kernel.default("parameters") if "parameters" in kernel.reads else np.zeros(0), laws, t], samples


def agree(found: np.ndarray, samples: np.ndarray) -> None:
    assert (np.abs(found - samples).max(axis=0) <= AGREEMENT * (1e-3 + np.abs(samples).max(axis=0))).all()


def place_of(kernel: Kernel) -> Layout:
    place = KernelPlace.of(0, kernel.program.inputs, kernel.program.outputs)
    return Layout(driven_motion.Walk, {**driven_motion.sizes_of(kernel)._asdict(), "idle": 0}, {"close": place})


@sweep("name", ["wiper", "carpet-scraper", "stewart"], now=1)
def test_the_walk_in_c(name: str, tmp_path: Path) -> None:
    kernel, given, samples = cycle(name)
    loops = c99_loops.write([driven_motion.walk], place_of(kernel), {"Close": "m_step"}, prefix="m_")
    parts = ["#include <math.h>", c99.write(kernel.program, "m_step"), loops]
    arguments = ", ".join(f"double *{x}" for x in ("q", "near_", "numbers", "laws", "t", "rows"))
    rest = f"near_, numbers, laws, {given[3].shape[1]}, t, rows, {samples.shape[1]}"
    calls = [f"m_walk(&w, q, {rest}, 0, 41, 1, 0.0, 1e-9)", f"m_walk(&w, rows + 40 * {samples.shape[1]}, {rest}, 40, 41, -1, 0.0, 1e-9)"]
    parts.append(f"int turn({arguments})\n{{\n  m_Walk w;\n  int n = {calls[0]};\n  return n == 41 ? {calls[1]} : n;\n}}\n")
    (tmp_path / "walk.c").write_text("\n".join(parts))
    compiler = shutil.which("gcc") or shutil.which("cc") or "gcc"
    command = [compiler, "-std=c99", "-O1", "-pedantic", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(tmp_path / "walk.so")]
    done = subprocess.run([*command, str(tmp_path / "walk.c"), "-lm"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows, pointer = np.zeros(samples.shape), ctypes.POINTER(ctypes.c_double)
    arrays = [np.array(x, dtype=float, order="C") for x in given]
    assert ctypes.CDLL(str(tmp_path / "walk.so")).turn(*(x.ctypes.data_as(pointer) for x in (*arrays, rows))) == 41
    agree(rows, samples)


@sweep("name", ["wiper", "carpet-scraper", "stewart"], now=1)
def test_the_walk_in_javascript(name: str) -> None:
    kernel, given, samples = cycle(name)
    sizes: dict[str, Any] = {**driven_motion.sizes_of(kernel)._asdict(), "idle": 0}
    arrays = ", ".join(f"Float64Array.from({json.dumps(np.ravel(x).tolist())})" for x in given[:3])
    laws, t = (f"Float64Array.from({json.dumps(np.ravel(x).tolist())})" for x in given[3:])
    driver = f"""
const w = newWalk({json.dumps(sizes)}, {{ close: kernels.close }}), rows = new Float64Array({samples.size});
const [q, near, numbers] = [{arrays}], rest = [{laws}, {given[3].shape[1]}, {t}, rows, {samples.shape[1]}];
const reached = walk(w, q, near, numbers, ...rest, 0, 41, 1, 0, 1e-9), last = rows.slice(40 * {samples.shape[1]});
const back = walk(w, last, near, numbers, ...rest, 40, 41, -1, 0, 1e-9);
console.log(JSON.stringify([Math.min(reached, back), Array.from(rows)]));
"""
    kernels = javascript.module({"close": kernel.program}).split("if(typeof module")[0]
    script = kernels + javascript_loops.write([driven_motion.walk]) + driver
    done = subprocess.run([*node(), "-"], input=script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    reached, rows = json.loads(done.stdout)
    assert reached == 41
    agree(np.array(rows).reshape(samples.shape), samples)
