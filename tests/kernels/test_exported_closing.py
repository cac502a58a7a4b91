"""Closing of loops in exported C and JavaScript from guesses far off: on the branch of the guess, or a report that it cannot be."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.api import compiled_of
from tests import exports
from tests.kernels.test_export import run

GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.4, 0.9, 0.75
# Angles of crank, coupler and rocker: the flow of the first three ends at a singular position, that of the others closes.
GUESSES = np.array([
    [0.34122627, -0.56737195, 2.99215737], [2.38497158, 0.15142495, 1.67362634], [0.33067361, -1.54098884, 2.95972201],
    [1.58783918, -0.48991154, 0.95632965], [1.15931153, 0.11136408, 1.0505896], [1.40708919, -0.15640365, 0.94061492],
])  # fmt: skip


def four_bar() -> lw.System:
    """Drawn with the crank at 1 rad; coordinates are the angle of the crank, of the coupler to it, and of the rocker."""
    B = CRANK * np.exp(1j)
    apart = GROUND - B
    x = (COUPLER**2 - ROCKER**2 + abs(apart) ** 2) / (2.0 * abs(apart))
    C = B + apart / abs(apart) * (x + 1j * np.sqrt(COUPLER**2 - x * x))
    drawing = {"A": [0, 0], "B": [B.real, B.imag], "C": [C.real, C.imag], "D": [GROUND, 0]}
    pins = {"ground": ["A", "D"], "crank": ["A", "B"], "coupler": ["B", "C"], "rocker": ["D", "C"]}
    bodies = {name: {"pins": there} for name, there in pins.items()}
    s = lw.compile(lw.load({"name": "m", "plane": "xy", "drawing": drawing, "bodies": bodies, "drive": {"A": "60 rpm"}}), cuts=["C"])
    assert s.names.q == ("A", "B", "D")
    return s


def flowed(s: lw.System, guess: np.ndarray) -> np.ndarray | None:
    """Where dq/ds = -J^-1 phi leads with the crank held, or None if it ends at a singular position."""

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c = s.closure(s.state(q))
        return np.vstack([c.J, [1.0, 0.0, 0.0]]), np.append(c.phi, 0.0)

    def rate(_: float, q: np.ndarray) -> np.ndarray:
        J, phi = rows(q)
        return -np.linalg.solve(J, phi)

    def singular(_: float, q: np.ndarray) -> float:
        return abs(float(np.linalg.det(rows(q)[0]))) - 1e-3 * COUPLER * ROCKER

    singular.terminal = True
    found = solve_ivp(rate, (0.0, 6.0), guess, rtol=1e-4, atol=1e-6, events=singular)  # exp(-6) of the gap is left
    return found.y[:, -1] if found.status == 0 else None


def in_c(s: lw.System, guesses: np.ndarray, folder: Path) -> list[tuple[bool, np.ndarray]]:
    for name, text in exports.c(s, ["kinematics"]).items():
        (folder / name).write_text(text, encoding="utf-8")
    subprocess.run(["gcc", "-std=c99", "-O1", "-fPIC", "-shared", "-o", "model.so", "model.c", "-lm"], cwd=folder, check=True)
    assemble = ctypes.CDLL(str(folder / "model.so")).model_assemble
    assemble.argtypes = [ctypes.c_void_p] * 4
    out = []
    for guess in guesses:
        q, drive, near = guess.copy(), guess[:1].copy(), np.array(compiled_of(s).skel.pack(s.start.references), dtype=float)
        out.append((assemble(q.ctypes.data, drive.ctypes.data, near.ctypes.data, None) == 0, q))
    return out


def in_javascript(s: lw.System, guesses: np.ndarray, folder: Path) -> list[tuple[bool, np.ndarray]]:
    code = "return x.map(q=>{m.near=m.start.near.slice();return m.assemble(q,[q[0]])})"
    [found] = run({"m": exports.script(s, ["kinematics"], name="m")}, [("m", code, guesses)])
    return [(x["ok"], np.array(x["q"])) for x in found]


@pytest.fixture(scope="module")
def cases() -> tuple[lw.System, list[np.ndarray | None]]:
    s = four_bar()
    return s, [flowed(s, x) for x in GUESSES]


@pytest.mark.parametrize("export", [in_c, in_javascript])
def test_far_guesses_close_where_their_flow_leads_or_not_at_all(export, cases, tmp_path: Path) -> None:
    """Steps that correct the one before by less than a quarter follow the flow dq/ds = -J^-1 phi, here by scipy. It leads to one of the
    two branches or ends at a singular position. Longer steps jump over it, and close on whatever branch they meet."""
    s, wanted = cases
    assert [x is None for x in wanted] == [True] * 3 + [False] * 3
    for guess, there, (ok, q) in zip(GUESSES, wanted, export(s, GUESSES, tmp_path), strict=True):
        assert ok == (there is not None), guess
        if there is not None:
            assert np.abs(s.closure(s.state(q)).phi).max() < 1e-12 and np.abs(q - there).max() < 1e-2  # branches are radians apart
