"""Predictive control: the quadratic program against bounded least squares, C against Python, and a five-bar under both at 1 kHz."""

from __future__ import annotations

import ctypes
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import linkwright as lw
from tests.refusals import refused

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-shared", "-fPIC"]
LIMITS = {"*.torque": "1.5 N m"}


@pytest.fixture(scope="module")
def m() -> lw.Mechanism:
    return lw.load("five-bar")


@pytest.fixture(scope="module")
def motion(m: lw.Mechanism) -> Any:
    return m.optimal("least effort", {"A": "100 deg", "E": "60 deg"}, duration="0.12 s", limits=LIMITS, steps=20)


@pytest.fixture(scope="module")
def compiled(m: lw.Mechanism, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("mpc")
    m.predictive(LIMITS).save(folder / "arm.c")
    subprocess.run(["gcc", *STRICT, "-o", "arm.so", "arm.c", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "arm.so")), folder


class InC:
    """The controller in C, called like that in Python."""

    def __init__(self, library: Any, f: int, p: int):
        self.tick_c, self.f, self.p = library.arm_tick, f, p
        self.state = ctypes.create_string_buffer(1 << 20)  # larger than the struct
        library.arm_begin(self.state)

    def tick(self, position: Any, speed: Any, reference: Any) -> np.ndarray:
        rows = [np.ascontiguousarray(x, dtype=float) for x in (position, speed, reference)]
        out = np.zeros(self.p)
        at = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*rows, out)]
        begin = time.perf_counter()
        self.status = self.tick_c(self.state, *at)
        self.seconds = time.perf_counter() - begin
        return out


def test_a_sample_solves_its_quadratic_program(m: lw.Mechanism, motion: Any) -> None:
    """The same program condensed to all efforts of the horizon, by a bounded least-squares solver."""
    c = m.predictive(LIMITS)
    c.u[:] = 0.1
    f, (N, p) = 2, c.u.shape
    r, x0 = c.reference_of(motion, 0.0), np.array([*np.radians([92.0, 87.0]), 1.0, -2.0])
    q = m.system.assemble(q={"A": x0[0], "E": x0[1]}).q
    c.q, before = q, c.u.copy()
    h = c.predicted(q, x0)
    assert h is not None
    u = c._improved(h, r)
    rows, right, G = [], [], np.zeros((2 * f, N * p))
    for k in range(N):
        G = h.A[k] @ G
        G[:, k * p : (k + 1) * p] += h.B[k]
        rows.append(np.sqrt(c.Q)[:, None] * G)
        right.append(-np.sqrt(c.Q) * (h.x[k + 1] - r[k + 1, : 2 * f]))
    rows.append(np.kron(np.eye(N), np.diag(np.sqrt(c.R))))
    right.append((np.sqrt(c.R) * (r[:-1, 2 * f :] - before)).ravel())
    A, b = np.concatenate(rows), np.concatenate(right)
    ends = (c.low - before).ravel(), (c.high - before).ravel()
    exact = lsq_linear(A, b, ends, method="bvls", tol=1e-14)
    np.testing.assert_allclose((u - before).ravel(), exact.x, atol=1e-7)
    assert 0 < (np.abs(exact.active_mask) > 0).sum() < N * p  # some efforts are at their limits, others are not


def test_c_gives_what_python_gives(m: lw.Mechanism, motion: Any, compiled: Any) -> None:
    c, d = m.predictive(LIMITS), InC(compiled[0], 2, 2)
    x = np.array([*np.radians([91.0, 88.0]), 0.5, 0.0])
    for k in range(12):
        r = c.reference_of(motion, 0.001 * k)
        u = c.tick(x[:2], x[2:], r)
        np.testing.assert_allclose(d.tick(x[:2], x[2:], r), u, atol=1e-9)  # N m: the same formulas in another order
        x = x + 0.002 * np.sin([k, 2 * k, 3 * k, 5 * k])
    assert d.status == 0


def test_a_five_bar_follows_its_motion_at_1_khz_in_c(m: lw.Mechanism, motion: Any, compiled: Any) -> None:
    c, d, s = m.predictive(LIMITS), InC(compiled[0], 2, 2), m.system
    st = s.assemble(q={"A": "92 deg", "E": "87 deg"}, v={"A": 0.0, "E": 0.0})  # 2 and 3 deg beside the start
    seconds, largest = [], 0.0
    for k in range(160):
        measured = [np.array([float(st[f"{n}{x}"]) for n in c.coordinates]) for x in ("", ".v")]
        u = d.tick(*measured, c.reference_of(motion, 0.001 * k))
        seconds.append(d.seconds)
        largest = max(largest, float(np.abs(u).max()))
        st = s.step(st, dict(zip(c.drives, u.tolist(), strict=True)), 1e-3)
    errors = [float(st[n]) - float(motion[n][-1]) for n in c.coordinates]
    assert np.abs(errors).max() < 1e-3 and largest <= 1.5  # rad, at rest again; the first samples are at the limit
    assert largest > 1.49
    assert np.median(seconds) < 0.5e-3  # s: half of a sample at 1 kHz, also on a busy machine


def test_the_source_allocates_nothing(compiled: Any) -> None:
    text = (compiled[1] / "arm.c").read_text()
    assert not re.search(r"\b(malloc|calloc|realloc|free|alloca)\s*\(", text)
    assert "#include <stdlib.h>" not in text


def test_what_it_cannot_control_is_refused(m: lw.Mechanism, tmp_path: Path) -> None:
    with refused(lw.UsageError, name="C.load"):
        m.predictive({**LIMITS, "C.load": "10 N"})
    with refused(lw.UsageError, name="step"):
        m.predictive(LIMITS, step="0 s")
    with refused(lw.UsageError, name="B"):
        m.predictive(LIMITS, weights={"B": 1.0})
    with refused(lw.UsageError, name="name"):
        m.predictive(LIMITS).c("an arm")
    with refused(lw.UsageError, name="reference"):
        m.predictive(LIMITS).tick([0, 0], [0, 0], [0])
    assert (m.predictive(LIMITS).save(tmp_path / "weights.csv")).exists()
