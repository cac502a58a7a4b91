"""The handler of a kernel, called as XLA calls it: frames of buffers laid out by hand. Its bridge calls it through JAX."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler import xla

WHOLE, POINTER = ctypes.c_int64, ctypes.c_void_p
TYPES = {np.dtype(np.float64): 12, np.dtype(np.float32): 11, np.dtype(np.int8): 2}
CREATE = ctypes.CFUNCTYPE(POINTER, POINTER)


class Buffer(ctypes.Structure):
    _fields_ = [("size", WHOLE), ("extension", POINTER), ("dtype", ctypes.c_int), ("data", POINTER), ("rank", WHOLE), ("dims", POINTER)]


class Side(ctypes.Structure):
    """Arguments or results."""

    _fields_ = [("struct_size", WHOLE), ("extension", POINTER), ("size", WHOLE), ("types", POINTER), ("buffers", POINTER)]


class Frame(ctypes.Structure):
    _fields_ = [
        ("size", WHOLE),
        ("extension", POINTER),
        ("api", POINTER),
        ("context", POINTER),
        ("stage", ctypes.c_int),
        ("arguments", Side),
        ("results", Side),
    ]  # fmt: skip


class Metadata(ctypes.Structure):
    _fields_ = [
        ("size", WHOLE),
        ("version_size", WHOLE),
        ("extension", POINTER),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("traits", ctypes.c_uint32),
    ]  # fmt: skip


class Extension(ctypes.Structure):
    _fields_ = [("size", WHOLE), ("type", ctypes.c_int), ("next", POINTER), ("metadata", POINTER)]


class Error(ctypes.Structure):
    _fields_ = [("size", WHOLE), ("extension", POINTER), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class Api(ctypes.Structure):
    _fields_ = [("before", WHOLE * 6), ("create", POINTER)]


def side(arrays: list[np.ndarray], alive: list[Any]) -> Side:
    """Buffers of arrays; `alive` holds their memory."""
    buffers = []
    for x in arrays:
        dims = (WHOLE * max(x.ndim, 1))(*x.shape)
        buffers.append(Buffer(48, None, TYPES[x.dtype], x.ctypes.data, x.ndim, ctypes.addressof(dims)))
        alive += [dims, x]
    table = (POINTER * max(len(arrays), 1))(*(ctypes.addressof(b) for b in buffers))
    alive += [buffers, table]
    return Side(40, None, len(arrays), None, ctypes.addressof(table))


def call(address: int, inputs: list[np.ndarray], results: list[np.ndarray]) -> str:
    """Call a handler; the message of its error, or nothing."""
    said: list[Any] = []

    def create(given: int) -> int:
        said.append(Error.from_address(given).message.decode())
        return 1

    alive: list[Any] = []
    function = CREATE(create)
    api = Api(create=ctypes.cast(function, POINTER))
    frame = Frame(0, None, ctypes.addressof(api), None, 3, side(inputs, alive), side(results, alive))
    returned = CREATE(address)(ctypes.addressof(frame))
    assert bool(returned) == bool(said)
    return said[0] if said else ""


@pytest.fixture(scope="module")
def kernel() -> Any:
    return lw.compile(lw.load("slider-crank-equal", gravity=0)).kernel("forward")


def results(kernel: Any, lead: tuple[int, ...]) -> list[np.ndarray]:
    return [*(np.full((*lead, *b.shape), 7.0) for b in kernel._every_output), np.full(lead, 7, dtype=np.int8)]


@pytest.mark.parametrize("lead", [(), (5,), (2, 3), (0,)])
def test_results_are_those_of_the_kernel(kernel: Any, lead: tuple[int, ...]) -> None:
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    rng = np.random.default_rng(3)
    given = [s.start.q + 0.1 * rng.normal(size=(*lead, 2)), rng.normal(size=(*lead, 2)), rng.normal(size=(*lead, 2))]
    found = results(kernel, lead)
    assert call(xla.handler(kernel.code, 3)[1], given, found) == ""
    exact = kernel(*given)
    assert (found[0] == exact.a).all() and (found[1] == exact.lam).all() and not found[-1].any()


def test_states_that_fail_are_not_a_number(kernel: Any) -> None:
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    singular = s.assemble(q={"A": 0.5 * np.pi}).q
    Q, still, tau = np.array([s.start.q, singular]), np.zeros((2, 2)), np.ones((2, 2))
    found = results(kernel, (2,))
    call(xla.handler(kernel.code, 3)[1], [Q, still, tau], found)
    assert found[-1][0] == 0 and found[-1][1] != 0
    assert np.isfinite(found[0][0]).all() and all(np.isnan(y[1]).all() for y in found[:-1])


def test_other_arrays_are_refused(kernel: Any) -> None:
    """32 bits, too few numbers, an array missing, a status of another type: nothing is read or written."""
    address, x = xla.handler(kernel.code, 3)[1], np.zeros((4, 2))
    good = results(kernel, (4,))
    for inputs, outputs in (
        ([x.astype(np.float32), x, x], good),
        ([x, x, x[:3]], good),
        ([x, x], good),
        ([x, x, x], good[:-1]),
        ([x, x, x], [*good[:-1], np.zeros(4)]),
    ):
        assert "not those it was compiled for" in call(address, inputs, outputs)
    assert all((y == 7).all() for y in good)


def test_the_version_is_answered(kernel: Any) -> None:
    metadata = Metadata()
    extension = Extension(32, xla.METADATA, None, ctypes.addressof(metadata))
    frame = Frame(0, ctypes.addressof(extension))
    assert not CREATE(xla.handler(kernel.code, 2)[1])(ctypes.addressof(frame))
    assert (metadata.major, metadata.minor, metadata.traits) == (0, 2, 0)


def test_equal_kernels_have_one_name(kernel: Any) -> None:
    other = lw.compile(lw.load("slider-crank-equal", gravity=0)).kernel("forward")
    assert xla.handler(kernel.code, 3) == xla.handler(other.code, 3)
    assert xla.handler(kernel.code, 3)[0] != xla.handler(lw.compile("slider-crank-equal").kernel("forward").code, 3)[0]
