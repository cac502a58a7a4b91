"""Plain loops as machine code: every construct against Python itself, refusals with their place, cache, callbacks."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from linkwright.compiler import callbacks, loop_code, native_loops
from linkwright.compiler.native_loops import FLOAT, INT, LoopError, kind_of, packed
from linkwright.integrators.time_loop import march
from tests import ROOT

LIMIT, SHARE = 7, 0.3


class Pair(NamedTuple):
    count: int
    size: float
    values: np.ndarray


class Nested(NamedTuple):
    first: Pair
    marks: np.ndarray


def arithmetic(a: float, b: float, i: int, j: int) -> float:
    s = 0.0
    s += a * b - a / b + (i + j * 2 - 3) / 4
    s -= i % j + (-i) % j + (i & 3)
    s *= SHARE
    s /= 1.5
    s += a**b + math.sqrt(a) + abs(-a) + abs(i - 5) + float(i) + int(a * 10.0)
    return s + max(a, b, 1.0) - min(i, j) + max(i, 0.5) + (LIMIT if not a > b else -LIMIT)


def branches(x: float, i: int) -> int:
    if (x > 1.0 and i > 2) or x < -1.0:
        return 1
    elif 0.0 < x <= 0.5:
        return 2
    k = 0
    if i in (3, LIMIT):
        k = 5
    else:
        k += 6 if x == 0.75 else 7
    return k if i != 0 else -k


def searching(values: np.ndarray, n: int) -> int:
    found = -1
    for i in range(n):
        if values[i] < 0.0:
            continue
        if values[i] > 10.0:
            found = i
            break
    k = 0
    while True:
        k += 1
        if k > 3 or (k < n and values[k] > 2.0):
            break
    for i in range(n - 1, 0, -1):
        values[i], values[i - 1] = values[i - 1], values[i]
    for i in range(2, n):
        k += i
        i = 100  # the count goes on as in Python
    return 100 * found + k


def first_beyond(values: np.ndarray, k: int) -> int:
    """The right side of `and` is not looked at beyond the end."""
    while k < len(values) and values[k] < 1.0:
        k += 1
    return k


def table(A: np.ndarray, order: np.ndarray, t: Nested) -> float:
    m, n = A.shape
    marks, s = t.marks, 0.0
    for i in range(m):
        for j in range(n):
            A[i, j] += t.first.size * t.first.values[order[j]]
            s += A[i, j]
        marks[i] += t.first.count
    scale(A, 2.0)
    return s + A.shape[1]


def scale(A: np.ndarray, by: float) -> None:
    for i in range(len(A)):
        for j in range(A.shape[1]):
            A[i, j] *= by


def test_arithmetic_is_pythons(rng):
    compiled = native_loops.native(arithmetic, (1.0, 1.0, 1, 1))
    for _ in range(200):
        a, b, i, j = rng.uniform(0.1, 3.0), rng.uniform(0.1, 3.0), int(rng.integers(-9, 9)), int(rng.integers(1, 5))
        assert compiled(a, b, i, j) == arithmetic(a, b, i, j), "to the last bit: nothing is fused or reordered"


def test_max_and_min_meet_nan_as_python_does():
    def extremes(a: float, b: float) -> float:
        return max(a, b) + 10.0 * min(b, a)

    compiled = native_loops.native(extremes, (1.0, 1.0))
    for a, b in ((1.0, math.nan), (math.nan, 1.0), (2.0, 1.0), (math.inf, -1.0)):
        np.testing.assert_equal(compiled(a, b), extremes(a, b))


def test_branches_are_pythons():
    compiled = native_loops.native(branches, (1.0, 1))
    for x in (-2.0, -1.0, 0.0, 0.25, 0.5, 0.75, 1.5, math.nan):
        for i in (-1, 0, 2, 3, 7):
            assert compiled(x, i) == branches(x, i), (x, i)


def test_loops_are_pythons(rng):
    compiled = native_loops.native(searching, (np.zeros(1), 1))
    for _ in range(50):
        values = rng.normal(size=6) * 8.0
        ours, theirs = values.copy(), values.copy()
        assert compiled(ours, 6) == searching(theirs, 6)
        np.testing.assert_array_equal(ours, theirs)
    values = np.array([0.0, 0.5, 3.0])
    beyond = native_loops.native(first_beyond, (values, 0))
    assert [beyond(values[:k].copy(), 0) for k in range(4)] == [0, 1, 2, 2]


def test_arrays_tuples_and_calls(rng):
    results = []
    start = rng.normal(size=(3, 4))
    for function in (table, native_loops.native(table, (np.zeros((1, 1)), np.arange(1), Nested(Pair(1, 1.0, np.zeros(1)), np.arange(1))))):
        A, marks = start.copy(), np.arange(3)
        s = function(A, np.array([3, 0, 1, 2]), Nested(Pair(5, 0.7, np.array([1.0, 2.0, 3.0, 4.0])), marks))
        results.append((s, A, marks))
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][1], results[1][1])
    np.testing.assert_array_equal(results[0][2], results[1][2])


def test_a_bound_call_sees_what_the_arrays_hold_now():
    values = np.array([0.0, 5.0])
    call = native_loops.native(first_beyond, (values, 0)).bound(values, 0)
    assert call() == 1
    values[1] = 0.0
    assert call() == 2


def power_list(x: np.ndarray) -> float:
    return sum(v * v for v in x)


def changing_kind(x: np.ndarray) -> float:
    k = 1
    k = 0.5
    return k


def over_values(x: np.ndarray) -> float:
    s = 0.0
    for v in x:
        s += v
    return s


def real_index(x: np.ndarray) -> float:
    return x[x[0]]


def array_in_branch(x: np.ndarray) -> float:
    if x[0] > 0.0:
        y = x
    return y[0]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (power_list, "expression"),
        (changing_kind, "'k' changes from i64 to double"),
        (over_values, "range"),
        (real_index, "not a whole number"),
        (array_in_branch, "inside a branch"),
    ],
)
def test_what_is_not_in_the_subset_is_refused_with_its_place(function, words):
    with pytest.raises(LoopError, match=words) as error:
        native_loops.native(function, (np.zeros(2),))
    first = function.__code__.co_firstlineno
    line = int(str(error.value).split(".py:")[1].split(":")[0])
    assert __file__ in str(error.value) and first < line < first + 6


def test_arguments_are_checked():
    compiled = native_loops.native(first_beyond, (np.zeros(1), 0))
    for wrong in (np.zeros((2, 2)), np.zeros(4)[::2], np.zeros(2, dtype=np.int64)):
        with pytest.raises(LoopError, match="kind"):
            compiled(wrong, 0)
    with pytest.raises(LoopError, match="not str"):
        native_loops.native(first_beyond, ("a", 0))


def test_every_function_of_the_time_loop_is_found():
    names = {f.__name__ for f in native_loops.reachable(march)}
    assert {"march", "attempt", "derivative", "settle", "locate"} <= names


SCRIPT = """
import sys
import numpy as np
from linkwright.compiler import loop_code, native_loops
from plain_loop import halved
loop_code.announce.append(print)
y = np.zeros(1)
native_loops.native(halved, (y, y))(np.array([1.0]), y)
print(y[0], "linkwright.compiler.native_loop_text" in sys.modules)
"""


def run(folder: str) -> str:
    environment = os.environ | {"LINKWRIGHT_CACHE": folder, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_second_process_finds_the_code_in_the_cache(tmp_path):
    said = "compiling native loop 'halved' (once)\n"
    assert run(str(tmp_path)) == said + "0.5 True"
    assert run(str(tmp_path)) == "0.5 False", "and does not even read the sources"
    assert run("off") == said + "0.5 True"


def test_good_code_replaces_the_first_one_while_calls_are_bound(tmp_path, monkeypatch):
    """All constructs to the same bits before and after; a call that is bound already changes over."""
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(tmp_path))
    cases = [(arithmetic, (1.7, 2.3, 5, 3)), (branches, (0.3, 4)), (searching, (np.array([1.0, -2.0, 3.0, 11.0, 5.0]), 5))]
    for function, arguments in cases:
        monkeypatch.setattr(loop_code, "LONG_ENOUGH", np.inf)
        made = native_loops.NativeFunction(function, [native_loops.kind_of(a) for a in arguments])
        own = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
        call = made.bound(*own)
        first = call()
        assert len(made.code._loaded) == 1 and first == function(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments))
        monkeypatch.setattr(loop_code, "LONG_ENOUGH", 0.0)
        again = call()
        assert len(made.code._loaded) == 2 and made.code.call is not made.code._quick
        if function is not searching:  # which changes its array
            assert first == again == call()
        fresh = native_loops.NativeFunction(function, [native_loops.kind_of(a) for a in arguments])
        assert fresh.code.call.__class__ is made.code.call.__class__, "the next process has the good code at once"
        assert fresh(*arguments) == first


def test_the_writer_of_the_code_is_part_of_its_key():
    assert all(Path(native_loops.__file__).with_name(f"{name}.py").is_file() for name in native_loops.WRITERS)


def test_code_depends_on_the_constants_it_names(monkeypatch):
    before = native_loops.digest(arithmetic)
    monkeypatch.setitem(arithmetic.__globals__, "SHARE", 0.4)
    assert native_loops.digest(arithmetic) != before


def test_callbacks_have_the_form_of_a_kernel():
    back = callbacks.Callback(lambda x: [x[0] + x[1], x[0] * x[1], 1.0], 2, 3)
    for kernel in (back, callbacks.from_address(back.address)):
        y = np.zeros(4)
        assert kernel(np.array([2.0, 5.0, 9.0]), y, np.zeros(0)) == 0
        assert y.tolist() == [7.0, 10.0, 1.0, 0.0]
    infinite = callbacks.Callback(lambda x: [np.inf], 1, 1)
    assert callbacks.from_address(infinite.address)(np.zeros(1), np.zeros(1), np.zeros(0)) == callbacks.NOT_FINITE


def test_a_callback_that_raises_keeps_the_error(capfd):
    def fail(x):
        raise KeyError("lost")

    back = callbacks.Callback(fail, 1, 1)
    assert callbacks.from_address(back.address)(np.zeros(1), np.zeros(1), np.zeros(0)) == callbacks.FAILED
    assert isinstance(back.error, KeyError)
    assert capfd.readouterr().err == ""


def test_the_kind_of_many_whole_numbers_is_made_once() -> None:
    """A run is prepared anew for every call: its plan has a hundred whole numbers, which are not looked at one by one."""

    class Plan(NamedTuple):
        a: int
        b: int

    class Mixed(NamedTuple):
        a: int
        b: float

    one, other = kind_of(Plan(1, 2)), kind_of(Plan(3, -4))
    assert one is other and not isinstance(one, str) and getattr(one, "kinds", ()) == (INT, INT)
    assert getattr(kind_of(Mixed(1, 2.0)), "kinds", ()) == (INT, FLOAT) and kind_of(Plan(np.int64(1), 2)) == one
    values: list[int] = []
    packed(one, Plan(3, -4), values)
    packed(kind_of(Mixed(1, 2.0)), Mixed(7, 0.5), values)
    assert values == [3, -4, 7, int(np.float64(0.5).view(np.int64))]
    with pytest.raises(ValueError, match="argument"):
        packed(one, (1, 2, 3), values)
