"""Loops on records: every construct as plain Python and as machine code of one lane and of eight; refusals; the cache."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwright.compiler import callbacks, loop_llvm, loop_tree, record_loops
from linkwright.compiler.cache import Processor
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Program
from linkwright.compiler.record_loops import Loop
from linkwright.compiler.records import (
    Column,
    Count,
    Floats,
    IntColumn,
    Ints,
    Kernel,
    KernelPlace,
    Layout,
    LoopError,
    Matrix,
    Record,
    Rows,
    Shared,
    SharedInts,
    SharedMatrix,
    copy,
    run,
    sized,
)
from tests import ROOT
from tests.compiler import random_loops
from tests.sweeps import sweep

LIMIT, SHARE, LEAST = 7, 0.3, -2.5
ITEMS = 19  # two blocks of lanes and three items more


class NewtonInputs(Record):
    x: Floats
    c: Floats
    missing: Floats


class NewtonOutputs(Record):
    x: Floats
    residual: Floats
    missing: Floats


class Newton(Kernel):
    x: NewtonInputs
    y: NewtonOutputs


class AbsentInputs(Record):
    x: Floats


class AbsentOutputs(Record):
    x: Floats


class Absent(Kernel):
    x: AbsentInputs
    y: AbsentOutputs


class Point(Record):
    q: Floats = sized("nq")
    new: Floats = sized("nq")


class Work(Record):
    width: int
    time: float
    newton: Newton
    absent: Absent
    here: Point
    there: Point
    A: Matrix = sized("nq", "nv")
    count: Ints = sized(3)
    table: SharedMatrix = sized(2, "nq")
    weights: Shared = sized("nq")
    order: SharedInts = sized("nq")


def arithmetic(w: Work, given: Column, out: Column) -> float:
    """x are positive, the rest of any sign."""
    a, b, c = given[0], given[1], given[2]
    i, j = int(10.0 * c), w.width
    s = 0.0
    s += a * b - a / b + (i + j * 2 - 3) / 4
    s -= i % j + (-i) % j + (i & 3) + (i | 4) + -i
    s *= SHARE
    s /= 1.5
    s += a**b + math.sqrt(a) + abs(-a) + abs(i - 5) + float(i) + int(a * 10.0) - -a
    s += max(a, b, 1.0) - min(i, j) + max(i, 0.5) + (LIMIT if not a > b else -LIMIT) + LEAST * -LEAST + int(c > 0.0)
    out[0] = max(c, math.nan) + 10.0 * min(math.nan, c) if w.width == 0 else min(a, b)
    out[1] = s
    return s


def branches(w: Work, given: Column, out: Column) -> int:
    x, i = given[1], int(given[2] * 5.0)
    if (x > 1.0 and i > 2) or x < 0.3:
        return 1
    elif 0.5 < x <= 0.9:
        return 2
    k = 0
    if i in (3, LIMIT) or i == w.width:
        k = 5
    else:
        k += 6 if x == 0.75 else 7
    if i & 1:
        k += 100
    even = not i % 2
    if even and x:
        out[0] = float(k)
    return k if i != 0 else -k


def searching(w: Work, given: Column, out: Column) -> float:
    """Lanes leave loops by break, continue and return, at different turns."""
    found = -1
    for i in range(6):
        if given[i] < 0.2:
            continue
        if given[i] > 1.5:
            found = i
            break
        out[i] = 1.0
    k = 0
    while True:
        k += 1
        if k > 4 or given[k] > 1.0:
            break
    while k < 5 and given[k] < 1.8:
        if given[k] < 0.1:
            return -100.0
        k += 1
    last = 0.0
    for i in range(5, 0, -1):
        if i > 1:
            last = last * 0.5 + given[i]
        for j in range(1, 6, 2):
            if given[j] > 1.9:
                break
            if i == 2:
                continue
            last += given[j]
        if last > 9.0:
            return last
    total = last
    while total > 0.5:
        total *= 0.5
        if total > given[1] and given[2] > 1.0:
            continue
        if total < given[0]:
            break
        out[2] += 1.0
    return total + found + 10 * k


def root(x: float, steps: int) -> float:
    y = x
    for _ in range(steps):
        better = 0.5 * (y + x / y)
        if abs(better - y) <= 1e-15 * better:
            break
        y = better
    return y


def scale(A: Matrix, v: Floats, by: float) -> None:
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if v[i] > 0.5:
                A[i, j] *= by


def arrays(w: Work, given: Column, out: Column) -> float:
    """Records, names for parts of them, matrices, tables, whole numbers of lanes, and places that differ between lanes."""
    q, point = w.here.q, w.there
    n = len(q)
    for i in range(n):
        q[w.order[i]] = given[i] * w.weights[i] + w.table[1, i]
        point.q[i] = 0.5
        w.count[i] = int(given[i] * 3.0)
    w.time = 0.0
    for i in range(n):
        point.new[i] = q[i]
        for j in range(len(w.A) - 1):
            w.A[i, j] = q[i] + j * w.time
            w.time += w.A[i, j]
    scale(w.A, q, 2.0)
    scale(w.A, point.new, root(given[0], 40))
    k = w.count[0] % n
    point.q[k] = -1.0
    point.q[(k + 1) % n] = given[w.order[k]] + w.table[k % 2, k]
    w.count[1] += w.count[2] + k
    s = 0.0
    for i in range(n):
        s += point.q[i] + w.A[i, k % w.A.shape[1]] + float(w.count[i])
    out[k] = s
    return s + w.time


def safe(w: Work, given: Column, out: Column) -> float:
    """What is not asked for is not looked at: no index beyond the end, no division by nothing, no call."""
    k = 0
    while k < len(w.here.q) and given[k] < 1.0:
        k += 1
    n = int(given[0] * 2.0)
    s = 0.0
    if n > 0 and 12 % n == 0:
        s += 1.0
    s += out[int(given[1])] if given[1] < 6.0 else -1.0
    s += root(given[2], 30) if given[2] > 0.5 else 0.0
    if given[3] > 1.0 or root(given[3], 20) > 0.5:
        s += 10.0
    return s + k


def closed(w: Work, c: float) -> bool:
    x = w.newton.x
    x.c[0] = c
    for _ in range(20):
        run(w.newton)
        if w.newton.y.residual[0] < 1e-13:
            w.time = w.newton.y.x[0]
            return True
        copy(x.x, w.newton.y.x)
    return False


def solving(w: Work, given: Column, out: Column) -> float:
    """Lanes need different numbers of Newton steps; one that does not close has no root."""
    for i in range(3):
        w.newton.x.x[0] = 1.0
        if not closed(w, given[i]):
            out[i] = -1.0
            continue
        out[i] = w.time
    if len(w.absent.y.x) > 0:
        run(w.absent)
    for i in range(len(w.newton.x.missing)):
        out[i] = 0.0
    return out[0] + out[1]


class Queue(Record):
    """Items that each lane takes one after the other, with places of its own in what all share."""

    stride: int
    given: Rows
    names: IntColumn
    found: Rows
    next: Count
    done: Count
    total: float


def queued(w: Queue, first: Column, n: int) -> int:
    w.next = int(first[0])
    w.done = 0
    while w.next < n:
        k = w.names[w.next]
        w.total = w.given[k, 0]
        while w.total > 1.0:
            w.total *= 0.5
            w.done += 1
        w.found[k, 0] = w.total
        w.found[k, 1] = float(w.done)
        w.next += w.stride
    return w.done


def table_rows(w: Work, rows: Rows, t: Column, more: bool, n: int) -> float:
    s = 0.0
    for k in range(n):
        if more and t[k] > 0.5:
            rows[k, 1] = rows[k, 0] + t[k]
        s += rows[k, 1]
    return s


def program() -> Program:
    """A Newton step for x^2 = c."""
    g = TraceGraph()
    x, c = g.input("x", 1)[0], g.input("c", 1)[0]
    new = 0.5 * (x + c / x)
    return g.program([("x", [new]), ("residual", [abs(new - x)])])


SIZES = {"nq": 3, "nv": 2, "width": 3}
TABLES = {"table": np.arange(6.0).reshape(2, 3), "weights": np.array([1.0, 2.0, -0.5]), "order": np.array([2, 0, 1])}
FUNCTIONS = (arithmetic, branches, searching, arrays, safe, solving)


def laid_out(lanes: int = 1, address: Any = 0, work: int = 0) -> Layout:
    p = program()
    return Layout(Work, SIZES, {"newton": KernelPlace.of(address, p.inputs, p.outputs, work), "absent": None}, lanes)


def interpreted(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
    new = 0.5 * (x[0] + x[1] / x[0])
    y[:] = new, abs(new - x[0])
    return 0


def filled(loop: Loop) -> Loop:
    for path, values in TABLES.items():
        loop.fill(path, values)
    return loop


def numbers() -> np.ndarray:
    return np.random.default_rng(5).uniform(0.05, 2.0, (ITEMS, 6))


def by_python(function: Callable[..., Any]) -> tuple[np.ndarray, np.ndarray]:
    given, out = numbers(), np.zeros((ITEMS, 6))
    return filled(Loop(function, laid_out(address=interpreted))).python(ITEMS, given, out), out


@pytest.fixture(scope="module")
def code() -> NativeCode:
    return NativeCode.of(program())


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("lanes", [1, 8])
def test_machine_code_has_the_bits_of_python(function: Callable[..., Any], lanes: int, code: NativeCode) -> None:
    expected, written = by_python(function)
    address, work = (code.one_address, code.work("one")) if lanes == 1 else (code.aosoa_address, code.work("many"))
    loop = filled(Loop(function, laid_out(lanes, address, work)))
    out = np.zeros((ITEMS, 6))
    np.testing.assert_array_equal(loop(ITEMS, numbers(), out), expected)
    np.testing.assert_array_equal(out, written)
    assert len({*np.round(expected, 12).tolist()}) > 2, "items differ"


@pytest.mark.parametrize("lanes", [1, 8])
def test_records_have_counts_and_arrays_from_outside(lanes: int) -> None:
    """Halvings of 3 k until they are at most 1: math.frexp says how many, and what is left."""
    n = 45
    loop = Loop(queued, Layout(Queue, {"stride": lanes}, lanes=lanes))
    given, found, names = 3.0 * np.arange(n)[:, None], np.zeros((n, 2)), np.random.default_rng(4).permutation(n)
    for name, array in (("given", given), ("names", names), ("found", found)):
        loop.attach(name, array)
    native = loop.bound(lanes, np.arange(lanes, dtype=float)[:, None], n)
    counts = native().copy()
    for k in range(1, n):
        assert found[k].tolist() == [math.frexp(3.0 * k)[0], found[k, 1]]
    assert [native.get("done", lane) for lane in range(lanes)] == counts.tolist() and counts.sum() == sum(
        math.frexp(3.0 * k)[1] for k in range(1, n)
    )
    assert native.record(lanes - 1).done == counts[-1] and native.record(lanes - 1).found is found
    if lanes == 1:
        written = found.copy()
        found[...] = 0.0
        python = loop.bound(1, np.zeros((1, 1)), n, native=False)
        assert python().tolist() == counts.tolist() and (python.get("done"), python.get("total")) == (counts[0], native.get("total"))
        np.testing.assert_array_equal(found, written)
        python.put("done", 7)
        assert python.record().done == 7


def test_a_lane_does_not_depend_on_its_neighbors(code: NativeCode) -> None:
    loop = filled(Loop(searching, laid_out(8, code.aosoa_address, code.work("many"))))
    given, order = numbers(), np.random.default_rng(1).permutation(ITEMS)
    outs = [np.zeros((ITEMS, 6)) for _ in range(2)]
    first, second = loop(ITEMS, given, outs[0]), loop(ITEMS, given[order], outs[1])
    np.testing.assert_array_equal(first[order], second)
    np.testing.assert_array_equal(outs[0][order], outs[1])
    given[3] = np.nan  # a lane in trouble does not change the others
    third = loop(ITEMS, given, outs[1])
    others = np.arange(ITEMS) != 3
    np.testing.assert_array_equal(first[others], third[others])


@pytest.mark.parametrize("lanes", [1, 8])
def test_outside_arrays_have_any_strides_or_are_shared(lanes: int, rng: np.random.Generator) -> None:
    start, t = rng.normal(size=(5, ITEMS, 4)), rng.uniform(size=(8,))[::2]
    results = []
    for go in ("python", "__call__"):
        rows = start.copy().transpose(1, 2, 0)[:, :, 1:4]
        loop = filled(Loop(table_rows, laid_out(1 if go == "python" else lanes, interpreted if go == "python" else 0)))
        results.append((getattr(loop, go)(ITEMS, rows, t, True, 4), rows))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("lanes", [1, 8])
def test_items_in_groups_share_what_belongs_to_their_group(lanes: int, rng: np.random.Generator) -> None:
    """Entries of a block lie one after the other, at one place, or apart; groups are no multiples of eight."""
    t, start = rng.uniform(size=(3, 4)), rng.normal(size=(3, 2, 4, 11))
    results = []
    for go in ("python", "__call__"):
        rows = start.copy().transpose(0, 3, 2, 1)
        loop = filled(Loop(table_rows, laid_out(1 if go == "python" else lanes, interpreted if go == "python" else 0)))
        results.append((getattr(loop, go)((3, 11), rows, t[:, None], True, 4), rows))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
    assert results[0][0].shape == (3, 11)
    with pytest.raises(LoopError, match=r"\(3, 11\) items before them"):
        Loop(table_rows, laid_out())((3, 11), start, t, True, 4)


class HalfInputs(Record):
    x: Floats


class HalfOutputs(Record):
    y: Floats
    margin: Floats


class Half(Kernel):
    x: HalfInputs
    y: HalfOutputs


class Again(Kernel):
    x: HalfInputs
    y: HalfOutputs
    alone = True


class Answered(Record):
    half: Half
    again: Again


def answered(w: Answered, given: Column, codes: IntColumn) -> float:
    """Where a kernel reports trouble another one answers, which is a Python function."""
    w.half.x.x[0] = given[0]
    if given[0] < -0.5:
        codes[0] = -1
        return -1.0
    status = run(w.half)
    codes[0] += status
    if status & 2:
        codes[0] += 10 * run(w.again)
        return w.again.y.y[0]
    return w.half.y.y[0]


@pytest.mark.parametrize("lanes", [1, 8])
def test_a_lane_in_trouble_is_evaluated_alone(lanes: int) -> None:
    g = TraceGraph()
    x = g.input("x", 1)[0]
    made = NativeCode.of(g.program([("y", [0.5 * x]), ("margin", [x])]))
    calls = []

    def function(x: np.ndarray) -> Any:
        calls.append(float(x[0]))
        return [-7.0 - x[0], 1.0]

    back = callbacks.Callback(function, 1, 2)
    blocks = ({"x": (0, 1)}, {"y": (0, 1), "margin": (1, 1)}, 1, 2)
    if lanes == 1:
        places = {"half": KernelPlace(made.one_address, *blocks, made.work("one")), "again": KernelPlace(back.address, *blocks)}
    else:
        half = KernelPlace(made.aosoa_address, *blocks, made.work("many"), made.one_address, made.work("one"))
        places = {"half": half, "again": KernelPlace(0, *blocks, 0, back.address)}
    given = np.linspace(-1.0, 1.4, 13)
    codes = np.arange(13) * 0
    found = Loop(answered, Layout(Answered, {}, places, lanes, inputs={"again": "half"}))(13, given[:, None], codes[:, None])
    some = (given >= -0.5) & (given <= 0.0)
    np.testing.assert_array_equal(found, np.where(given < -0.5, -1.0, np.where(some, -7.0 - given, 0.5 * given)))
    np.testing.assert_array_equal(codes, np.where(given < -0.5, -1, np.where(some, 2, 0)))
    assert calls == given[some].tolist(), "only for lanes that ask, each once"


def test_several_threads_have_memories_of_their_own(code: NativeCode) -> None:
    loop = filled(Loop(arrays, laid_out(8, code.aosoa_address, code.work("many"))))
    given, out = np.tile(numbers(), (20, 1)), np.zeros((20 * ITEMS, 6))
    many = loop(len(given), given, out, expected_ns=1e9)
    np.testing.assert_array_equal(many, np.tile(by_python(arrays)[0], 20))
    call = loop.bound(ITEMS, given, out)
    np.testing.assert_array_equal(call(), many[:ITEMS])
    given[0] = given[1]
    assert call()[0] == many[1], "arrays with what they hold now"


# -------------------------------------------------------------------- random loops

SHARED = [1, 3, 0, 2]


def random_results(seed: int, folder: Path) -> tuple[Any, np.ndarray, list[np.ndarray]]:
    """A random function, its items, and what it returns and writes as Python."""
    made, given, out = random_loops.module(seed, folder), np.random.default_rng(seed).uniform(-1.0, 2.0, (11, 6)), np.zeros((11, 6))
    loop = Loop(made.main, Layout(made.Work, {}))
    loop.fill("table", SHARED)
    with np.errstate(all="ignore"):
        return made, given, [loop.python(11, given, out), out]


@sweep("seed", range(60), now=4)
@pytest.mark.parametrize("stores", ["masked", "selected"])
def test_random_loops_in_machine_code(seed: int, stores: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_loops, "_codes", {})
    monkeypatch.setenv("LINKWRIGHT_CACHE", "off")
    if stores == "selected":  # as processors without masked stores have it
        monkeypatch.setattr(loop_llvm, "host", lambda: Processor("", "", ""))
    made, given, expected = random_results(seed, tmp_path)
    for lanes in (1, 8):
        loop, out = Loop(made.main, Layout(made.Work, {}, lanes=lanes)), np.zeros((11, 6))
        loop.fill("table", SHARED)
        np.testing.assert_array_equal(loop(11, given, out), expected[0])
        np.testing.assert_array_equal(out, expected[1])


# -------------------------------------------------------------------- refusals


def sums(w: Work) -> float:
    return sum(v * v for v in w.here.q)


def changing_kind(w: Work) -> float:
    k = 1
    k = 0.5
    return k


def over_values(w: Work) -> float:
    s = 0.0
    for v in w.here.q:
        s += v
    return s


def real_index(w: Work) -> float:
    return w.here.q[w.time]


def array_in_branch(w: Work) -> float:
    if w.time > 0.0:
        y = w.here.q
    return y[0]


def counter_after_its_loop(w: Work) -> int:
    for i in range(4):
        w.time += i
    return i


def counter_changed(w: Work) -> None:
    for i in range(4):
        i = 2
        w.time += i


def swapped(w: Work) -> None:
    a, b = 1.0, 2.0
    a, b = b, a
    w.time = a + b


def falls_off(w: Work) -> float:
    if w.time > 0.0:
        return 1.0


def whole_to_float(w: Work) -> None:
    k = 0
    k += w.time
    w.time = k


def size_changed(w: Work) -> None:
    w.width = 3


def unknown_field(w: Work) -> float:
    return w.here.p[0]


def wrong_axes(w: Work) -> float:
    return w.A[0]


def length_of_an_outside_array(w: Work, given: Column) -> int:
    return len(given)


def by_name(w: Work) -> float:
    return root(x=w.time, steps=2)


def forever(w: Work) -> int:
    return forever(w)


def unknown_function(w: Work) -> float:
    return math.sin(w.time)


def copy_of_shared(w: Work) -> None:
    copy(w.here.q, w.weights)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (copy_of_shared, "copy takes two arrays"),
        (sums, "a call of 'sum'"),
        (changing_kind, "a float where a int is needed"),
        (over_values, "range"),
        (real_index, "whole numbers as index"),
        (array_in_branch, "name it once, at the top"),
        (counter_after_its_loop, "read after the loop that counts it"),
        (counter_changed, "counts the loop around"),
        (swapped, "assigned and read in one tuple"),
        (falls_off, "let every way end with a return"),
        (whole_to_float, "or 0.0 for a float that begins at 0"),
        (size_changed, "only numbers"),
        (unknown_field, "'Point' has no field 'p'"),
        (wrong_axes, "a Matrix takes 2 whole numbers"),
        (length_of_an_outside_array, "Pass it as an argument"),
        (by_name, "arguments by name"),
        (unknown_function, "a call of 'math.sin'"),
    ],
)
def test_what_is_not_in_the_subset_is_refused_with_its_place(function: Any, words: str) -> None:
    with pytest.raises(LoopError, match=words) as error:
        loop_tree.Unit(function)
    first = function.__code__.co_firstlineno
    line = int(str(error.value).split(".py:")[1].split(":")[0])
    assert __file__ in str(error.value) and first <= line < first + 6


def test_loops_cannot_call_themselves() -> None:
    with pytest.raises(LoopError, match="call themselves"):
        loop_tree.Unit(forever)


def outputs_after_lanes_have_left(w: Work) -> float:
    for _ in range(5):
        run(w.newton)
        if w.newton.y.residual[0] < 1e-9:
            break
        w.newton.x.x[0] = w.newton.y.x[0]
    return w.newton.y.x[0]


def left_early(w: Work) -> bool:
    if w.time > 0.0:
        return False
    run(w.newton)
    return w.newton.y.residual[0] < 1.0


def outputs_after_a_call(w: Work) -> float:
    y = w.newton.y
    if left_early(w):
        return 0.0
    return y.x[0]


def reads(w: Work) -> float:
    return w.newton.y.x[0]


def outputs_in_a_call(w: Work) -> float:
    if w.time > 0.0:
        run(w.newton)
    return reads(w)


def common_to_lanes(w: Work) -> None:
    w.weights[0] = w.time


def range_that_differs(w: Work) -> None:
    for i in range(w.count[0]):
        w.time += i


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (outputs_after_lanes_have_left, "Copy what a lane needs"),
        (outputs_after_a_call, "Copy what a lane needs"),
        (outputs_in_a_call, "Copy what a lane needs"),
        (common_to_lanes, "give every lane its own"),
        (range_that_differs, "write a while loop"),
    ],
)
def test_what_lanes_cannot_do_is_refused_in_lanes_only(function: Any, words: str) -> None:
    loop_tree.Unit(function)
    with pytest.raises(LoopError, match=words):
        loop_tree.Unit(function, lanes=True)


def test_records_and_layouts_are_checked() -> None:
    class Odd(Record):
        x: list

    class Unsized(Record):
        x: Floats

    class NoKernel(Kernel):
        x: Point

    def no_annotations(w, x):
        return x

    for record, words in ((Odd, "not list"), (NoKernel, "fields x and y")):
        with pytest.raises(LoopError, match=words):
            Layout(record, {})
    with pytest.raises(LoopError, match=r"write 'x: Floats = sized\(...\)'"):
        Layout(Unsized, {})
    with pytest.raises(LoopError, match="needs the size 'nq'"):
        Layout(Point, {})
    with pytest.raises(LoopError, match="needs the kernel 'newton'"):
        Layout(Work, SIZES)
    with pytest.raises(LoopError, match="there is no such array, or it has another size"):
        Layout(Point, {"nq": 2}, same={"q": "p"})
    with pytest.raises(LoopError, match="made by a Layout"):
        Point()
    with pytest.raises(LoopError, match="annotate the argument 'w'"):
        loop_tree.Unit(no_annotations)


def test_arguments_are_checked() -> None:
    with pytest.raises(LoopError, match="as its first argument"):
        Loop(root, laid_out())
    loop = Loop(searching, laid_out())
    for wrong in (np.zeros((2, 2, 2)), np.zeros(6, dtype=int), np.zeros((1, 6))):
        with pytest.raises(LoopError, match="a Column is an array of floats"):
            loop(2, wrong, np.zeros((2, 6)))
    with pytest.raises(LoopError, match="takes 2 arguments"):
        loop(1, np.zeros(6))


def test_arrays_may_lie_where_others_are(code: NativeCode) -> None:
    p = program()
    kernel = KernelPlace.of(code.one_address, p.inputs, p.outputs, code.work("one"))
    layout = Layout(Work, SIZES, {"newton": kernel, "absent": None}, same={"there.q": "here.q"})
    floats = np.zeros(layout.size)
    layout.view(floats, "there.q")[...] = 5.0
    assert layout.view(floats, "here.q").tolist() == [5.0] * 3
    assert layout.object(floats).here.q[0] == 5.0 and layout.object(floats).width == 3


# -------------------------------------------------------------------- cache

SCRIPT = """
import sys
import numpy as np
from linkwright.compiler import record_loops
from record_loop import loop
record_loops.announce.append(print)
print(loop(np.array([[1.0], [3.0]])).tolist(), "linkwright.compiler.loop_llvm" in sys.modules)
"""


def in_a_process(folder: str) -> str:
    environment = os.environ | {"LINKWRIGHT_CACHE": folder, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_second_process_finds_the_code_in_the_cache(tmp_path: Path) -> None:
    said = "compiling native loop 'halved' (once)\n"
    assert in_a_process(str(tmp_path)) == said + "[0.5, 1.5] True"
    assert in_a_process(str(tmp_path)) == "[0.5, 1.5] False", "and does not even read the sources"


def test_good_code_replaces_the_first_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(record_loops, "_codes", {})
    monkeypatch.setattr(record_loops, "LONG_ENOUGH", np.inf)
    loop, given, out = filled(Loop(searching, laid_out())), numbers(), np.zeros((ITEMS, 6))
    call = loop.bound(ITEMS, given, out)
    first = call().copy()
    made = record_loops.code_of(searching, False)
    assert len(made._loaded) == 1
    monkeypatch.setattr(record_loops, "LONG_ENOUGH", 0.0)
    out[...] = 0.0
    call()
    out[...] = 0.0
    np.testing.assert_array_equal(call(), first)
    assert len(made._loaded) == 2


def test_code_depends_on_constants_kinds_and_records(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {f: record_loops.digest(f) for f in (arithmetic, arrays, root)}
    monkeypatch.setitem(arithmetic.__globals__, "SHARE", 0.4)
    assert record_loops.digest(arithmetic) != before[arithmetic]
    monkeypatch.setitem(root.__annotations__, "steps", "float")
    loop_tree.signature_of.cache_clear()
    assert record_loops.digest(root) != before[root] and record_loops.digest(arrays) != before[arrays], "also of functions that are called"
    monkeypatch.undo()
    loop_tree.signature_of.cache_clear()
    assert record_loops.digest(arrays) == before[arrays]
    monkeypatch.setitem(Point.__annotations__, "new", "Ints")
    from linkwright.compiler.records import fields_of

    fields_of.cache_clear()
    assert record_loops.digest(arrays) != before[arrays]
    monkeypatch.undo()
    fields_of.cache_clear()


def test_the_writers_of_the_code_are_part_of_its_key() -> None:
    assert all(Path(record_loops.__file__).with_name(f"{name}.py").is_file() for name in record_loops.WRITERS)
