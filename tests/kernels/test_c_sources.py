"""C for controllers: fixed steps in both precisions, prescribed motions, singular positions; compiled under the strictest warnings."""

from __future__ import annotations

import ctypes
import math
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from tests import exports
from tests.simulation.random_passages import case
from tests.sweeps import sweep

WARNINGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wdouble-promotion", "-Wfloat-conversion", "-Wvla"]
TYPES = {"double": (ctypes.c_double, np.float64), "single": (ctypes.c_float, np.float32)}


class Code:
    """Compiled sources: arrays in their precision, and the fixed step."""

    def __init__(self, folder: Path, s: lw.System, **options: Any):
        self.precision = options.get("precision", "double")
        self.number, self.kind = TYPES[self.precision]
        self.header = exports.c(s, **options)["model.h"]
        for name, text in exports.c(s, **options).items():
            (folder / name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["gcc", *WARNINGS, "-O1", "-fPIC", "-shared", "-o", "model.so", "model.c", "-lm"], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(folder / "model.so"))
        self.moved = bool(options.get("moved"))
        step = self.library.model_step
        step.argtypes = [ctypes.c_void_p] * (7 if self.moved else 4) + [self.number] + [ctypes.c_void_p] * 2

    def array(self, x: Any) -> np.ndarray:
        return np.array(x, dtype=self.kind)

    def step(self, q, v, tau, t, dt, near, law=()) -> int:
        arrays = [q, v, tau, *law, t]
        return self.library.model_step(*(None if x is None else x.ctypes.data for x in arrays), dt, near.ctypes.data, None)

    def constant(self, name: str) -> int:
        return int(re.search(rf"\bmodel_{name} = (-?\d+)", self.header)[1])


def start(code: Code, st: lw.State) -> list[np.ndarray]:
    return [code.array(x) for x in (st.q, st.v, [0.0], st.skel.pack(st.references) if st.skel.cut_size else [0.0])]


@sweep("precision", TYPES, now=["single"])
@sweep("name", ["four-bar", "carpet-scraper"], now=1)
def test_a_swing_in_both_precisions(name: str, precision: str, tmp_path: Path) -> None:
    """200 steps of 1 ms from the start, against our integrator: the error of Runge and Kutta, or of floats."""
    s = lw.compile(name)
    code = Code(tmp_path, s, precision=precision)
    q, v, t, near = start(code, s.start)
    tau = code.array(np.zeros(len(v)))
    tau[code.constant("at_v_A" if name == "four-bar" else "at_v_J1")] = 1.5
    for _ in range(200):
        assert code.step(q, v, tau, t, 1e-3, near) == 0
    drive = {s.kernels.drives[0]: lw.drives.torque("1.5 N m")}
    run = s.simulate(s.start, 0.2, drive=drive, sample_interval=[0.0, 0.2], tolerance=1e-11)
    # double: h^4; single: 200 steps that each round by 6e-8 and are closed to 1e-6
    limit = 1e-7 if precision == "double" else 2e-4
    assert np.abs(q - run.q[-1]).max() < limit and abs(t[0] - 0.2) < limit


def test_single_precision_has_no_doubles_in_it(tmp_path: Path) -> None:
    texts = exports.c(lw.compile("four-bar"), precision="single")
    for text in texts.values():
        bare = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
        assert "double" not in bare and not re.search(r"\b(sin|cos|sqrt|fabs|fmax)\(", bare)
        assert not re.search(r"(?<![\w.])\d+\.\d*(e-?\d+)?(?![\w.f])", bare)


@pytest.mark.slow
def test_nothing_is_allocated(tmp_path: Path) -> None:
    """Functions of others that the object needs: those of <math.h>, and what a compiler puts in for copying."""
    Code(tmp_path, lw.compile("carpet-scraper"))
    subprocess.run(["gcc", "-std=c99", "-O1", "-c", "model.c"], cwd=tmp_path, check=True)
    listed = subprocess.run(["nm", "-u", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    needed = {line.split()[-1] for line in listed.splitlines()}
    assert needed <= {
        "sin",
        "cos",
        "sincos",
        "sqrt",
        "atan2",
        "fmax",
        "rint",
        "memcpy",
        "memset",
        "memmove",
        "__stack_chk_fail",
        "_GLOBAL_OFFSET_TABLE_",
    }


@sweep("precision", TYPES, now=1)
def test_a_step_continues_through_a_singular_position(precision: str, tmp_path: Path) -> None:
    """A parallelogram whose crank is driven through the flat position, on which a step ends: status 8 says so, and the coupler
    stays parallel. Without the fallback the step is refused there."""
    s = lw.compile("parallelogram-chain")
    code = Code(tmp_path, s, precision=precision, moved=["G0"])
    (tmp_path / "plain").mkdir()
    plain = Code(tmp_path / "plain", s, precision=precision, moved=["G0"], fallback=False)
    speed = 2 * math.pi * 0.5
    st = s.assemble({"G0": math.pi - 0.1 * speed}, {"G0": speed})
    for c, passes in ((code, True), (plain, False)):
        q, v, t, near = start(c, st)
        seen = []
        for k in range(200):
            law = [c.array([x]) for x in (math.pi - 0.1 * speed + speed * k * 1e-3, speed, 0.0)]
            seen.append(c.step(q, v, None, t, 1e-3, near, law))
            if seen[-1] not in (0, 8):
                break
        if passes:
            assert set(seen) == {0, 8} and c.constant("continued") == 8
            right = s.assemble({"G0": math.pi + 0.1 * speed}, guess=st)
            assert np.abs(q - right.q).max() < (1e-6 if precision == "double" else 5e-3)
        else:
            assert seen[-1] & 2 or seen[-1] == 4  # nothing was changed: the state is that of the step before
            assert abs(q[0] - (math.pi - 0.1 * speed + speed * (len(seen) - 1) * 1e-3)) < 1e-3


@pytest.mark.slow
def test_prescribed_motions(tmp_path: Path) -> None:
    """A five-bar with one driven crank and one free: values, speeds and accelerations handed over at every step."""
    s = lw.compile("five-bar")
    A = float(s.start["A"])
    code = Code(tmp_path, s, moved=["A"])
    assert code.constant("ndrivers") == 1 and code.constant("at_moved_A") == 0
    law = (lambda t: A + 0.3 * (1 - math.cos(2 * t)), lambda t: 0.6 * math.sin(2 * t), lambda t: 1.2 * math.cos(2 * t))
    q, v, t, near = start(code, s.assemble({"A": A}))
    for k in range(300):
        assert code.step(q, v, None, t, 1e-3, near, [code.array([f(k * 1e-3)]) for f in law]) == 0
    drive = {"A": lw.drives.position(lambda t: A + 0.3 * (1 - np.cos(2 * t)))}
    run = s.simulate(s.assemble({"A": A}), 0.3, drive=drive, sample_interval=[0.0, 0.3], tolerance=1e-11)
    assert np.abs(q - run.q[-1]).max() < 1e-6  # the acceleration is constant over a step: h^2 in the speeds of the free crank


def test_wrong_options() -> None:
    s = lw.compile("four-bar")
    for options, sentence in (
        ({"precision": "half"}, "precision is 'double' or 'single'"),
        ({"moved": ["Q"]}, "there is no joint or cylinder 'Q' to move"),
        ({"name": "2x"}, "cannot be the name of a C function"),
        ({"kernels": ["foward"]}, "there is no kernel 'foward'"),
    ):
        with pytest.raises(UsageError, match=sentence):
            exports.c(s, **options)


@sweep("number", range(48), now=[3, 20])
def test_steps_pass_singular_positions_of_random_mechanisms(number: int, tmp_path: Path) -> None:
    """Steps of 0.1 ms, against reduced equations that are regular there."""
    given = case(number)
    s = lw.compile(lw.load(given.model))
    st, k = s.assemble(v=given.speeds), list(s.names.q).index(given.channel)
    code = Code(tmp_path, s)
    q, v, t, near = start(code, st)
    n = math.ceil(given.seconds / 1e-4)
    seen = {code.step(q, v, None, t, given.seconds / n, near) for _ in range(n)}
    assert seen <= {0, 8} and abs(q[k] - st.q[k] - given.right) < 2e-4
