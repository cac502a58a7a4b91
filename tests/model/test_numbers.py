"""Numbers apart from the structure: what is put back is what was taken out, and designs of one structure share code."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.kernels import kernels
from linkwright.model import library
from linkwright.model.numbers import ENTRY_ROUND_OFF, DesignNumbers, _rotation, _rotation_codes
from linkwright.system.compiled import WALKS
from linkwright.system.dynamics import loads_on_floats


def same(a, b):
    """True if two parts of descriptions are equal; entries of rotations to round-off, which snaps their zeros and ones."""
    if isinstance(a, float):
        return abs(a - b) < 1e-14
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.compare)
    return a == b


@pytest.mark.parametrize("name", library.names())
def test_filled_with_its_own_numbers_a_description_is_itself(name):
    d = lw.load(name).description.numbers()
    n = DesignNumbers.of(d)
    assert same(n.filled([float(x) for x in n.values]), d)
    assert len(set(n.names)) == len(n.names) == len(n.values) and np.all(n.values != 0.0)
    assert hash(n.structure) == hash(DesignNumbers.of(d).structure)


def test_other_dimensions_are_the_same_structure_and_a_zero_is_another():
    m = lw.load("four-bar")
    first, second = (DesignNumbers.of(x.description.numbers()) for x in (m, m.with_(L1=0.31, line_mass=2.0)))
    assert first.structure == second.structure and not np.array_equal(first.values, second.values)
    d = m.description.numbers()
    body = replace(d.bodies[1], com=(0.0, 0.0, 0.0))
    assert DesignNumbers.of(replace(d, bodies=(d.bodies[0], body, *d.bodies[2:]))).structure != first.structure
    assert DesignNumbers.of(m.with_(g=9.7).description.numbers()).structure == first.structure
    assert DesignNumbers.of(m.with_(gravity=0).description.numbers()).structure != first.structure


def test_designs_run_on_code_that_is_there(monkeypatch):
    """The third of several designs makes no code, and none of them differs from the float path."""
    base = lw.load("four-bar")
    for i in range(2):
        c = base.with_(L1=0.3 + 0.001 * i).cycle()
        _ = c["A.torque"]
        _ = base.with_(L1=0.3 + 0.001 * i).cycle()["A.torque"]
    monkeypatch.setattr("linkwright.compiler.native._make", lambda *_: pytest.fail("code was made"))
    monkeypatch.setattr("linkwright.kernels.tracing.trace", lambda *_: pytest.fail("a kernel was traced"))
    for length in (0.27, 0.33):
        m = base.with_(L1=length, L3=0.76)
        c = m.cycle()
        torque = c["A.torque"]
        assert ("A",) in WALKS.of(compiled_of(m.system)) and c._loads.cycle is not None and c._loads.cycle.shared is not None
        for i in (0, 90, 200):
            exact = loads_on_floats(compiled_of(m.system), c.state(i), c.a[i], None, ["A"], "subsystem", {})
            assert abs(torque[i] - exact.tau["A"]) <= 1e-10 * np.abs(torque).max()
            assert np.abs(m.system.closure(c.state(i)).phi).max() < 1e-13


def test_sizes_near_each_other_in_a_chain_are_put_back():
    """Entries of a rotation of which one is near zero, the next near that one, the next near that: none may refer to what has no size."""
    near = 0.9 * ENTRY_ROUND_OFF
    R = np.array([[1.0, near, 2.0 * near, 3.0 * near, 0.6, 0.6 + near, 0.6 + 2.0 * near, 0.8, 0.0]])
    codes, sizes = _rotation_codes(R)
    assert np.allclose(np.array(_rotation(codes[0], iter(sizes))).ravel(), R[0], rtol=0.0, atol=2.0 * ENTRY_ROUND_OFF)


def test_structures_are_forgotten_when_there_are_many(monkeypatch):
    monkeypatch.setattr(kernels, "MOST", 2)
    for name in ("wiper", "four-bar", "punch-press", "five-bar"):
        lw.load(name).cycle()
    assert len(kernels._known) <= 2
