"""Tapes: the tables and the loop of tape.c, compiled, against the interpreter and its derivatives."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright.rings.exchange.writing.fmu
from linkwright.compiler.derivatives import jacobian
from linkwright.compiler.program import Op, Program, interpret
from linkwright.rings.exchange.writing.fmu.sources import tape_source
from tests.compiler.samples import every_operation, random_program

SOURCES = Path(linkwright.rings.exchange.writing.fmu.__file__).parent / "c"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared"]


class CTape:
    """A program's tape, compiled: values, derivatives along and against directions."""

    def __init__(self, program: Program, folder: Path):
        self.program = program
        for name in ("tape.h", "tape.c"):
            (folder / f"my_{name}").write_text((SOURCES / name).read_text().replace("NAME", "my"))
        head = '#include "my_tape.h"\nextern const struct tape program;\n'
        (folder / "tables.c").write_text(head + tape_source(program, "program"))
        done = subprocess.run(["gcc", *STRICT, "-o", "t.so", "my_tape.c", "tables.c", "-lm"], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(folder / "t.so"))
        self.address = ctypes.addressof(ctypes.c_char.in_dll(self.library, "program"))
        self.w, self.d = np.zeros(len(program.ops)), np.zeros(len(program.ops))

    def _call(self, name: str, *arrays: np.ndarray) -> None:
        pointers: list[Any] = [ctypes.c_void_p(x.ctypes.data) for x in arrays]
        getattr(self.library, f"my_{name}")(ctypes.c_void_p(self.address), *pointers)

    def values(self, x: np.ndarray) -> np.ndarray:
        y = np.zeros(self.program.n_out)
        self._call("values", x, y, self.w)
        return y

    def along(self, dx: np.ndarray) -> np.ndarray:
        dy = np.zeros(self.program.n_out)
        self._call("along", dx, dy, self.w, self.d)
        return dy

    def against(self, weights: np.ndarray) -> np.ndarray:
        gx = np.zeros(self.program.n_in)
        self._call("against", weights, gx, self.w, self.d)
        return gx


def compared(program: Program, x: np.ndarray, folder: Path, rng: np.random.Generator) -> None:
    c = CTape(program, folder)
    np.testing.assert_allclose(c.values(x), interpret(program, x), rtol=1e-13, atol=1e-14)
    direction, weights = rng.normal(size=program.n_in), rng.normal(size=program.n_out)
    exact = jacobian(program, x, [dict(enumerate(direction))]).dense()[:, 0]
    np.testing.assert_allclose(c.along(direction), exact, rtol=1e-11, atol=1e-11 * max(1.0, np.abs(exact).max()))
    pulled = weights @ jacobian(program, x, list(range(program.n_in))).dense()
    np.testing.assert_allclose(c.against(weights), pulled, rtol=1e-11, atol=1e-11 * max(1.0, np.abs(pulled).max()))


def test_every_operation(tmp_path: Path, rng: np.random.Generator) -> None:
    program = every_operation()
    assert {op[0] for op in program.ops} >= set(Op) - {Op.CONST}
    compared(program, np.concatenate([rng.uniform(0.5, 2.0, 3), rng.normal(size=4)]), tmp_path, rng)


@pytest.mark.parametrize("k", range(3))
def test_random_programs(k: int, tmp_path: Path, rng: np.random.Generator) -> None:
    compared(random_program(rng, operations=200, outputs=20), rng.normal(size=6), tmp_path, rng)


def test_an_empty_program(tmp_path: Path) -> None:
    """Mechanisms without parameters have one."""
    assert CTape(Program((), (), (), ()), tmp_path).values(np.zeros(1)).size == 0
