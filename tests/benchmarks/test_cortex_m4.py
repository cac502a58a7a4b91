"""The exported C on a Cortex-M4 under qemu: the same positions as in Python, without a warning of the cross compiler."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from benchmarks import cortex_m4
from linkwright.api import compiled_of

pytestmark = pytest.mark.slow  # `make test-all` installs the cross compiler and qemu


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", ["four-bar", "carpet-scraper"])
def test_a_hundred_steps(name: str, precision: str) -> None:
    """Positions are printed in millionths. Single: 100 steps that round by 6e-8 each."""
    found = cortex_m4.measured(name, precision)
    s = lw.compile(name)
    run = s.simulate(
        lw.State(compiled_of(s).skel, s.start.q, 0.0 * s.start.v, s.start.references),
        0.1,
        drive={},
        sample_interval=[0.0, 0.1],
        tolerance=1e-11,
    )
    assert found.status == 0
    assert np.abs(np.array(found.q) - run.q[-1]).max() < (2e-6 if precision == "double" else 1e-4)
    if precision == "single":  # done by the core's own floating-point unit: one instruction an operation or so
        operations = s.kernel("forward").program.operations
        assert operations < found.forward < 10 * operations and found.step < 10 * found.forward
