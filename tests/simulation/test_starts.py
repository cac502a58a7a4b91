"""Starts of runs with free lengths: closed in lanes of native code as on floats, and the same alone and among others."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import AssemblyError
from linkwright.simulation import start_states
from linkwright.simulation.run_batch import run_batch
from tests.refusals import refused
from tests.sweeps import sweep

SAME = 1e-11  # floats close to 1e-13; positions and velocities have that times the condition, below 1e2
LENGTHS = {"wiper": "coupler.C.x", "five-bar": "left_rod.C.x", "carpet-scraper": "link5.S.x"}


def system_of(name: str) -> lw.System:
    return lw.compile(name, parameters=[LENGTHS[name], f"{LENGTHS[name].split('.')[0]}.mass"])


@sweep("name", LENGTHS, now=["five-bar"])
def test_lanes_close_as_floats_do(name: str) -> None:
    s = system_of(name)
    st = s.assemble(v={d: 0.7 for d in compiled_of(s).drive_names})
    default = s.kernels.defaults["parameters"]
    free = default * np.array([np.linspace(0.97, 1.02, 11), np.ones(11)]).T
    found = start_states.closed_starts(compiled_of(s), [st] * 11, free)
    assert start_states._walk(compiled_of(s)) is not None
    for there, x in zip(found, free, strict=True):
        other = start_states._on_floats(compiled_of(s), st, x)
        assert np.abs(there.q - other.q).max() <= SAME and np.abs(there.v - other.v).max() <= SAME
        c = s.kernels.equations(x).loops.at(there.q, there.v, 0.0, there.references)
        assert np.abs(c.phi).max() < 1e-14 and np.abs(c.J @ there.v).max() < 1e-13
        assert all(abs(float(there[d]) - float(st[d])) < 1e-14 for d in compiled_of(s).drive_names)
    unchanged = np.flatnonzero(np.all(free == default, axis=1))
    assert all(found[i] is st for i in unchanged)


def test_a_run_alone_has_the_bits_of_the_batch() -> None:
    s = system_of("wiper")
    lengths = s.kernels.defaults["parameters"][0] * np.linspace(0.98, 1.02, 9)
    batch = run_batch(compiled_of(s), s.start, 0.1, parameters={"coupler.C.x": lengths}, sample_interval=0.05)
    for i in (0, 8):
        alone = s.simulate(s.start, 0.1, parameters={"coupler.C.x": float(lengths[i])}, sample_interval=0.05)
        assert np.array_equal(alone.q, batch["state q"][i]) and np.array_equal(alone.q, batch[i].q)


def test_masses_alone_leave_the_start_as_it_is() -> None:
    s = lw.compile("wiper", parameters=["crank.mass"])
    found = start_states.closed_starts(compiled_of(s), [s.start] * 3, np.array([[0.1], [0.2], [0.3]]))
    assert all(st is s.start for st in found)


def test_a_length_that_is_too_long_spoils_its_own_run_only() -> None:
    s = system_of("wiper")
    lengths = np.array([9.0, 0.9, 9.0, 0.91]) * s.kernels.defaults["parameters"][0] / 0.9
    with refused(AssemblyError, loop="C"):
        run_batch(compiled_of(s), s.start, 0.1, parameters={"coupler.C.x": lengths[:1]}, sample_interval=0.05)
    batch = run_batch(compiled_of(s), s.start, 0.1, parameters={"coupler.C.x": lengths}, sample_interval=0.05)
    assert batch.ok.tolist() == [False, True, False, True]
    assert np.isnan(batch["state q"][[0, 2]]).all() and list(batch.why) == [0, 2] and "coupler.C.x = " in batch.why[0]
    good = run_batch(compiled_of(s), s.start, 0.1, parameters={"coupler.C.x": lengths[[1, 3]]}, sample_interval=0.05)
    assert np.array_equal(batch["state q"][[1, 3]], good["state q"]) and np.array_equal(batch[3].q, batch["state q"][3])
    with pytest.raises(AssemblyError):
        batch[2]
