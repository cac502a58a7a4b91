"""Compiling plain loops: found functions, callbacks, the cache in the user's folder, words to the user."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from linkwright import orthogonal
from linkwright.compiler import numba_bridge
from linkwright.integrators.march import march

SCRIPT = """
import numpy as np
from linkwright import orthogonal
from linkwright.compiler import numba_bridge
numba_bridge.announce.append(print)
f = numba_bridge.native(orthogonal.cholesky_solve, (orthogonal.Cholesky(np.eye(1), np.arange(1), 1), np.ones(1)), "solver")
assert numba_bridge.native(orthogonal.cholesky_solve, (orthogonal.Cholesky(np.eye(1), np.arange(1), 1), np.ones(1)), "solver") is f
print(f(orthogonal.cholesky_pivoted(np.array([[4.0]]), 0.0), np.array([2.0]))[0])
"""


def run(folder: str) -> list[str]:
    environment = os.environ | {"LINKWRIGHT_CACHE": folder, "PYTHONPATH": str(Path(orthogonal.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_a_second_process_finds_the_code_in_the_users_cache(tmp_path):
    assert run(str(tmp_path)) == ["compiling solver (once)", "0.5"]
    kept = sorted(p.name for p in tmp_path.rglob("*.nb*"))
    assert len(kept) == 2 and all(name.startswith("orthogonal.cholesky_solve") for name in kept)
    assert run(str(tmp_path)) == ["0.5"]
    beside = Path(orthogonal.__file__).parent / "__pycache__"
    assert not list(beside.glob("*.nbi")), "nothing lands beside the sources"


def test_no_cache_is_no_obstacle():
    assert run("off") == ["compiling solver (once)", "0.5"]


def test_every_function_of_the_loop_is_found():
    names = {f.__name__ for f in numba_bridge._reachable(march)}
    assert {"march", "attempt", "derivative", "evaluate", "settle", "locate"} <= names


def test_callbacks_have_the_form_of_a_kernel():
    back = numba_bridge.Callback(lambda x: [x[0] + x[1], x[0] * x[1], 1.0], 2, 3)
    for kernel in (back, numba_bridge.from_address(back.address)):
        y = np.zeros(4)
        assert kernel(np.array([2.0, 5.0, 9.0]), y, np.zeros(0)) == 0
        assert y.tolist() == [7.0, 10.0, 1.0, 0.0]
    infinite = numba_bridge.Callback(lambda x: [np.inf], 1, 1)
    assert numba_bridge.from_address(infinite.address)(np.zeros(1), np.zeros(1), np.zeros(0)) == numba_bridge.NOT_FINITE


def test_a_callback_that_raises_keeps_the_error(capfd):
    def fail(x):
        raise KeyError("lost")

    back = numba_bridge.Callback(fail, 1, 1)
    assert numba_bridge.from_address(back.address)(np.zeros(1), np.zeros(1), np.zeros(0)) == numba_bridge.FAILED
    assert isinstance(back.error, KeyError)
    assert capfd.readouterr().err == ""
