"""Inverse dynamics in machine code where drives do not move everything: a floating base, fewer drives than degrees of freedom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.results.state_loads import KernelLoads
from linkwright.system.dynamics import loads_on_floats
from linkwright.system.mechanism import mechanism_of
from tests.ball_rods import Model, ankle, floating, platform, rssr
from tests.factory import stream
from tests.refusals import refused
from tests.sweeps import sweep

ROUND = 1e-10  # relative: the two eliminate in different orders, on different trees


def system(make: Any, seed: int) -> tuple[lw.System, lw.State, np.random.Generator]:
    """A random mechanism in a random motion."""
    rng = stream(seed, make.__name__)
    s = lw.load(make(rng)).system
    return s, s.assemble(v={name: float(rng.normal(scale=0.5)) for name in s.named_terms([])(s.start).by}), rng


def afloat(rng: np.random.Generator) -> Model:
    return floating(ankle(rng), rng)


def rssr_afloat(rng: np.random.Generator) -> Model:
    return floating(rssr(rng), rng)


def same(s: lw.System, st: lw.State, a: Any, drives: list[str] | None = None) -> lw.mechanics.inverse.Loads:
    """Loads from a kernel, equal to those on floats."""
    found = [s.inverse(st, a, drives=drives) for _ in range(3)][-1]
    assert isinstance(found, KernelLoads)
    exact = loads_on_floats(compiled_of(s), st, a, None, drives, "subsystem", {})
    assert "whole" not in vars(found) and found.tau.keys() == exact.tau.keys() and found.base.keys() == exact.base.keys()
    pairs = [(found.tau[name], x) for name, x in exact.tau.items()] + [(found.base[name], x) for name, x in exact.base.items()]
    size = 1.0 + max([np.abs(w.force).max() for w in exact.wrench.values()] + [abs(x) for _, x in pairs])
    assert max(abs(mine - theirs) for mine, theirs in pairs) < ROUND * size
    for joint, w in exact.wrench.items():
        mine = found.wrench[joint]
        assert np.abs(mine.force - w.force).max() < ROUND * size and np.abs(mine.moment - w.moment).max() < ROUND * size
        assert mine.unique == w.unique
    for mine, theirs in zip(found.base_wrench(about=[0.1, 0.2, 0.3]), exact.base_wrench(about=[0.1, 0.2, 0.3]), strict=True):
        assert np.abs(mine - theirs).max() < ROUND * size
    assert found.tau_unique == exact.tau_unique and "whole" not in vars(found)  # nothing was solved on floats for any of these
    assert found.residual < ROUND
    return found


@sweep("make", [rssr_afloat, afloat], now=1)
@sweep("seed", range(2), now=1)
def test_the_wrench_on_a_floating_base_comes_from_a_kernel(make: Any, seed: int) -> None:
    s, st, rng = system(make, seed)
    drives = {name: float(rng.normal()) for name in compiled_of(s).drive_names}
    assert len(same(s, st, None).base) == 6
    same(s, st, drives)
    same(s, st, {**drives, "base.x": 0.7, "base.wy": -1.2})
    flown = same(s, st, s.forward(st, drives).a)
    assert flown.tau == pytest.approx(drives, abs=1e-9) and max(map(abs, flown.base.values())) < 1e-9
    st = s.state(st.q, st.v)  # of arrays, as controllers make them
    same(s, st, s.forward(st).a)


@sweep("make", [ankle, afloat, platform], now=2)
def test_motions_of_fewer_drives_come_from_a_kernel(make: Any) -> None:
    """Accelerations that these drives cause; efforts of the joints that nothing moves are zero, which the kernel finds out."""
    s, st, _ = system(make, 3)
    some = compiled_of(s).drive_names[: len(compiled_of(s).drive_names) // 2]
    efforts = {name: 1.0 + i for i, name in enumerate(some)}
    a = s.forward(st, efforts).a
    assert same(s, st, a, some).tau == pytest.approx(efforts, abs=1e-8)
    same(s, st, a)  # with all of them
    with refused(lw.UsageError, name="drives"):
        s.inverse(st, s.forward(st, dict.fromkeys(compiled_of(s).drive_names, 5.0)).a, drives=some)
    with refused(lw.UsageError, name="a"):
        s.inverse(st, a + 1.0, drives=some)


def test_what_springs_hold_at_rest_comes_from_a_kernel() -> None:
    s = lw.compile("boot-lid")
    there = mechanism_of(s).settle()
    found = [s.inverse(there, drives=[]) for _ in range(3)][-1]
    assert isinstance(found, KernelLoads) and found.tau == {}
    exact = loads_on_floats(compiled_of(s), there, None, None, [], "subsystem", {})
    for joint, w in exact.wrench.items():
        np.testing.assert_allclose(found.wrench[joint].force, w.force, atol=1e-7)  # as far as the position is settled
    with refused(lw.UsageError, name="drives"):
        s.inverse(s.start, drives=[])


def test_wrong_names_are_refused_as_ever() -> None:
    s = lw.compile("five-bar")
    for _ in range(3):
        with refused(lw.UsageError, name="Z"):
            s.inverse(s.start, drives=["Z"])
