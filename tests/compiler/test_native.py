"""Calls of machine code from Python: broadcasting, layouts, threads, several callers at once, missing llvmlite."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright
from linkwright.compiler import native
from linkwright.compiler.graph import trace
from linkwright.compiler.native import NativeCode
from linkwright.errors import LinkwrightError, UsageError
from tests.refusals import refused

SOURCE = str(Path(linkwright.__file__).parents[1])


def formula(q: Any, A: Any, g: Any) -> Any:
    """Works on traced arrays and on batches: q (..., 3), A (..., 2, 3), g (...)."""
    return (A * np.sin(q)[..., None, :]).sum(axis=-1) - g[..., None]


@pytest.fixture(scope="module")
def code() -> NativeCode:
    return NativeCode.of(trace(lambda q, A, g: {"y": formula(q, A, g), "q2": q * q}, q=3, A=(2, 3), g=()))


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)  # three terms, an ulp each


def test_one_packed_state(code: NativeCode, rng: np.random.Generator) -> None:
    q, A, g = rng.normal(size=3), rng.normal(size=(2, 3)), rng.normal()
    y, status = code.call(np.r_[q, A.ravel(), g])
    close(y, np.r_[formula(q, A, np.asarray(g)), q * q])
    assert status == 0 and (code.n_in, code.n_out) == (10, 5)
    y2, _ = code.call([0.0] * 10)  # results are copies: the next call leaves them alone
    assert y2.tolist() == [0.0] * 5 and y[0] != 0.0


@pytest.mark.parametrize("lead", [(), (1,), (7,), (8,), (17,), (3, 5), (2, 1, 4), (0,), (4, 0)])
def test_leading_axes(lead: tuple[int, ...], code: NativeCode, rng: np.random.Generator) -> None:
    q, A, g = rng.normal(size=(*lead, 3)), rng.normal(size=(*lead, 2, 3)), rng.normal(size=lead)
    (y, q2), status = code.call_many([q, A, g])
    assert y.shape == (*lead, 2) and q2.shape == (*lead, 3) and status.shape == lead and not status.any()
    close(y, formula(q, A, np.asarray(g)))
    close(q2, q * q)


@pytest.mark.parametrize("leads", [((6,), (), ()), ((), (6,), (1,)), ((5, 1), (1, 4), ()), ((3, 4), (4,), (3, 1)), ((2, 3), (1, 1), (3,))])
def test_broadcasting(leads: tuple[tuple[int, ...], ...], code: NativeCode, rng: np.random.Generator) -> None:
    q, A, g = (rng.normal(size=(*lead, *shape)) for lead, shape in zip(leads, [(3,), (2, 3), ()], strict=True))
    (y, q2), _ = code.call_many([q, A, g])
    full = np.broadcast_shapes(*leads)
    close(y, np.broadcast_to(formula(q, A, np.asarray(g)), (*full, 2)))
    close(q2, np.broadcast_to(q * q, (*full, 3)))


def test_layouts_and_types_do_not_matter(code: NativeCode, rng: np.random.Generator) -> None:
    q, A, g = rng.normal(size=(20, 3)), rng.normal(size=(20, 2, 3)), rng.normal(size=20)
    (expected, _), _ = code.call_many([q, A, g])
    wide = np.zeros((20, 9))
    wide[:, 2:5] = q
    frozen = g.copy()
    frozen.flags.writeable = False
    (y, _), _ = code.call_many([wide[:, 2:5], np.asfortranarray(A), frozen])
    assert np.array_equal(y, expected)
    (y, _), _ = code.call_many([q[::-1], A[::-1], g[::-1]])
    assert np.array_equal(y, expected[::-1])
    (whole, _), _ = code.call_many([[1, 2, 3], np.ones((2, 3), dtype=np.float32), 0])
    close(whole, formula(np.array([1.0, 2.0, 3.0]), np.ones((2, 3)), np.asarray(0.0)))


def test_wrong_shapes_are_named(code: NativeCode) -> None:
    good = [np.zeros(3), np.zeros((2, 3)), 0.0]
    with refused(UsageError, name="A"):
        code.call_many([good[0], np.zeros((3, 2)), 0.0])
    with refused(UsageError, name="q"):
        code.call_many([0.0, good[1], 0.0])
    with refused(UsageError, name="inputs"):
        code.call_many(good[:2])
    with refused(UsageError, name="inputs"):
        code.call_many([np.zeros((4, 3)), good[1], np.zeros(5)])


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100, 4099])
def test_threads_share_every_state_once(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "cores", lambda: 3)
    seen = np.zeros(count, dtype=int)
    names = set()

    def run(first: int, n: int) -> None:
        assert first % 8 == 0 and n > 0
        names.add(threading.current_thread().name)
        seen[first : first + n] += 1

    native.share(run, count, 1e9)
    assert (seen == 1).all()
    seen[:] = 0
    native.share(run, count, 1e9, limit=1)
    assert (seen == 1).all()


def test_the_number_of_cores_changes_no_bit(code: NativeCode, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    q, A, g = rng.normal(size=(5003, 3)), rng.normal(size=(2, 3)), rng.normal(size=5003)
    g[77] = np.inf
    (one, _), status = code.call_many([q, A, g], cores=1)
    monkeypatch.setattr(native, "WORTH_NS", 0)
    monkeypatch.setattr(native, "cores", lambda: 2)
    (two, _), status2 = code.call_many([q, A, g])
    assert np.array_equal(one, two, equal_nan=True) and np.array_equal(status, status2)
    assert np.flatnonzero(status).tolist() == [77]


def test_callers_in_several_threads_do_not_meet(code: NativeCode) -> None:
    wrong = []

    def caller(i: int) -> None:
        x = np.full(10, float(i))
        expected = np.r_[formula(x[:3], x[:6].reshape(2, 3), x[9]), x[:3] ** 2]
        for _ in range(300):
            if not np.allclose(code.call(x)[0], expected, rtol=1e-13):
                wrong.append(i)

    callers = [threading.Thread(target=caller, args=(i,)) for i in range(6)]
    for t in callers:
        t.start()
    for t in callers:
        t.join()
    assert not wrong


def test_a_forked_child_starts_its_own_threads(code: NativeCode) -> None:
    text = (
        "import os, sys, numpy as np\n"
        "from linkwright.compiler import native\n"
        "native.cores = lambda: 2\n"
        "done = np.zeros(64)\n"
        "def run(first, n): done[first:first + n] += 1\n"
        "native.share(run, 64, 1e9)\n"
        "if hasattr(os, 'fork'):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        native.share(run, 64, 1e9)\n"
        "        os._exit(0 if (done == 2).all() else 1)\n"
        "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], env={**os.environ, "PYTHONPATH": SOURCE}, timeout=60)
    assert done.returncode == 0


def test_missing_llvmlite_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "available", lambda: False)
    with pytest.raises(native.NativeCodeError, match=r"needs the package llvmlite.*pip install llvmlite.*engine='python'"):
        NativeCode.of(trace(lambda x: {"y": x}, x=1))
    assert issubclass(native.NativeCodeError, LinkwrightError)


def test_llvmlite_is_imported_only_when_code_is_made() -> None:
    text = "import sys\nfrom linkwright.compiler import native, state_lanes, timing\nprint('llvmlite' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": SOURCE}, timeout=60
    )
    assert done.stdout.strip() == "False", done.stderr
