"""Samples of a cycle in native code against the walk on floats: two ways that share nothing but the equations of the loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler.record_loops import Loop
from linkwright.errors import AssemblyError
from linkwright.kernels import driven_motion
from linkwright.kernels.driven_motion import Walking
from linkwright.model.coordinates import is_rotary
from linkwright.motion import cycle, joint_limits
from linkwright.motion.cycle import computed
from linkwright.motion.following import authority, drive_speeds, follow
from linkwright.results.records import cut_rows
from linkwright.system.compiled import WALKS
from linkwright.system.mechanism import mechanism_of
from tests.sweeps import every_model, sweep

AGREEMENT = 1e-10  # both close loops to 1e-13 or better; velocities and accelerations have that times the condition, which is below 1e3
SPIN = 1e-6  # a rod between ball joints may spin: its angle is integrated, by formulas of different orders


def float_turn(m, steps=360):
    core = compiled_of(m.system)
    ready = cycle.prepared(core.loops, core.start.instant, None, None, None)
    return cycle.cycle(core.loops, core.start.instant, ready, steps)


def native_turn(m, steps=360):
    """Computed twice: code is made at the latest when it is asked for a second time, and turns are kept."""
    return [computed(compiled_of(m.system), (None, None), steps) for _ in range(2)][-1]


@pytest.mark.parametrize("name", every_model("3r-slider"))
def test_the_turn_agrees_with_the_walk_on_floats(name):
    m = lw.load(name)
    first = float_turn(m)
    c = native_turn(m)
    assert WALKS.of(compiled_of(m.system))
    tolerance = SPIN if m.system.mobility.idle or name == "3-rrr-motors" else AGREEMENT
    for mine, theirs in (
        (c.q, first.q),
        (c.v, first.v),
        (c.a, first.a),
        (cut_rows(c.skel, c.references), cut_rows(c.skel, first.references)),
    ):
        assert np.abs(mine - theirs).max(initial=0.0) <= tolerance * (1.0 + np.abs(theirs).max(initial=0.0))
    assert c.notes == first.notes and len(c.singular) == len(first.singular)


def driven_motions(m: Any, count: int, samples: int) -> tuple[Any, list[Any]]:
    """Kernel `walk`, and motions of the drives from the start of a model, so many: some need halved steps, some stop at dead centers."""
    core = compiled_of(m.system)
    kernel, x, t = core.kernels.get("walk"), core.drive_positions(core.start), np.linspace(0.0, 1.0, samples)
    rng = np.random.default_rng(3)
    way = rng.uniform(-1.0, 1.0, (count, len(x))) * np.where([is_rotary(m.description, n) for n in core.drive_names], 7.0, 0.3)
    rate = np.repeat(way[:, None], samples, axis=1)
    laws = np.concatenate([x + rate * t[:, None], rate, 0.0 * rate], axis=2)
    free = kernel.default("parameters") if "parameters" in kernel.reads else np.zeros(0)
    near = core.packed_references(core.start) if "near" in kernel.reads else np.zeros(0)
    return kernel, [core.start.q, near, free, laws, t]


@pytest.mark.parametrize("name", every_model())
def test_every_lane_is_the_walk_of_one_design_bit_by_bit(name: str) -> None:
    m = lw.load(name)
    kernel, given = driven_motions(m, 11, 9)
    idle = compiled_of(m.system).kernels.plan.spinning
    found = []
    for lanes, places in ((1, {}), (1, {"same": {}}), (8, {})):
        place = replace(driven_motion.layout(kernel, idle, lanes), **places)
        rows = np.zeros((11, 9, driven_motion.sizes_of(kernel).width))
        reached = Loop(driven_motion.walk, place)(11, *given, rows, 0, 9, 1, driven_motion.ONCE, driven_motion.SHORT)
        found.append((reached, rows))
    assert found[0][0].min() > 0
    for reached, rows in found[1:]:
        np.testing.assert_array_equal(reached, found[0][0])
        np.testing.assert_array_equal(rows, found[0][1])


def test_steps_are_halved_in_lanes_and_designs_that_stop_do_not_hold_up_others() -> None:
    m = lw.load("wiper")
    kernel, given = driven_motions(m, 8, 9)
    sizes = driven_motion.sizes_of(kernel)
    rows = np.zeros((8, 9, sizes.width))
    reached = Loop(driven_motion.walk, driven_motion.layout(kernel, 0, 8))(8, *given, rows, 0, 9, 1, 0.0, 1e-9)
    assert (reached == 9).all(), "9 samples of up to a turn"
    core = compiled_of(m.system)
    joint = next(j.name for j in m.description.joints if j.name not in core.drive_names and not m.limits(j.name).full_turn)
    kernel, t, here = core.kernels.get("walk", drives=[joint]), np.linspace(0.0, 1.0, 101), float(core.start.references[joint][0])
    rate = np.repeat(np.linspace(-3.0, 3.0, 8)[:, None, None], 101, axis=1)
    laws, rows = np.concatenate([here + rate * t[:, None], rate, 0.0 * rate], axis=2), np.zeros((8, 101, sizes.width))
    reached = Loop(driven_motion.walk, driven_motion.layout(kernel, 0, 8))(8, *given[:3], laws, t, rows, 0, 101, 1, 0.0, 1e-9)
    assert len(set(reached.tolist())) > 3 and reached.min() < 60, "dead centers at different samples"


def test_the_python_loop_is_the_native_loop() -> None:
    """The loop is written once: as Python it calls the kernel back and gives the same bits."""
    kernel, given = driven_motions(lw.load("carpet-scraper"), 2, 13)
    place = driven_motion.layout(kernel)
    results = []
    for go in ("__call__", "python"):
        rows = np.zeros((2, 13, driven_motion.sizes_of(kernel).width))
        results.append((getattr(Loop(driven_motion.walk, place), go)(2, *given, rows, 0, 13, 1, 0.0, 1e-9), rows))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_a_walk_back_finds_the_samples_of_the_walk_onwards() -> None:
    """From the middle both ways; the last one leads on as it led here."""
    kernel, given = driven_motions(lw.load("wiper"), 1, 61)
    loop = Loop(driven_motion.walk, driven_motion.layout(kernel))
    onwards, back = (np.zeros((61, driven_motion.sizes_of(kernel).width)) for _ in range(2))
    q, near, parameters, laws, t = given
    assert loop(1, q, near, parameters, laws[0], t, onwards, 0, 61, 1, 0.0, 1e-9)[0] == 61
    middle = np.array(onwards[30, : len(q)])
    for onward in (1, -1):
        assert loop(1, middle, near, parameters, laws[0], t, back, 30, 31, onward, 0.0, 1e-9)[0] == 31
    # Newton ends at residuals of 2e-15; accelerations of a fast turn are some hundred times their conditioning
    np.testing.assert_allclose(back, onwards, rtol=1e-10, atol=1e-10)


def test_loops_of_redundant_rows_that_stay_open_are_refused() -> None:
    """A hinge of the door that is moved along its axis: the rows that are solved close at once, the others cannot."""
    with pytest.raises(AssemblyError):
        lw.load("door", **{"ground.low.z": 0.25}).cycle()


def test_the_walk_stops_before_a_dead_center():
    """A rocker with the crank's turn as its law: beyond the dead center there is no position."""
    m = lw.load("four-bar")
    core = compiled_of(m.system)
    joint = next(j.name for j in m.description.joints if j.name not in core.drive_names and not m.limits(j.name).full_turn)
    walks = Walking(core.kernels.get("walk", drives=[joint]))
    here, high = float(core.start.references[joint][0]), m.limits(joint).high
    t = np.linspace(0.0, 1.0, 101)
    way = 2.0 * (high - here)
    laws = np.stack([here + way * t, np.full(101, way), np.zeros(101)], axis=1)
    found = walks(core.start.q, core.packed_references(core.start), t, laws)
    assert 45 <= found.reached <= 51  # half of the way; close to the end steps are refused a little before it
    assert np.isfinite(found.q[: found.reached]).all()


def test_few_steps_are_halved_until_they_can_be_followed():
    m = lw.load("wiper")
    fine, coarse = float_turn(m, 360), native_turn(m, 4)
    np.testing.assert_allclose(coarse.q, fine.q[::90], atol=1e-11)


@pytest.mark.parametrize("name", every_model("carpet-scraper", "slider-crank-equal"))
def test_limits_agree_with_the_walk_on_floats(name):
    m = lw.load(name)
    core = compiled_of(m.system)
    joint = core.drive_names[0]
    others = core.drive_names[1:][: max(0, m.system.mobility.freedoms - 1)]
    first = joint_limits.limits(core.loops, core.start.instant, joint, others)
    m.limits(joint)
    found = m.limits(joint)
    assert (found.full_turn, found.dead_low, found.dead_high) == (first.full_turn, first.dead_low, first.dead_high)
    # an end is located to REACH_STEP of the range tried, then extrapolated
    assert abs(found.low - first.low) < 1e-6 * (first.high - first.low) and abs(found.high - first.high) < 1e-6 * (first.high - first.low)


PATHS = {
    "five-bar": lambda s: {"left_rod.C": _moved(s, "left_rod.C", (-0.02, -0.03))},
    "carpet-scraper": lambda s: {compiled_of(s).drive_names[0]: lambda t: 0.4 * np.sin(3.0 * t)},
    "excavator": lambda s: dict(zip(compiled_of(s).drive_names, (_slid(x) for x in compiled_of(s).drive_positions(s.start)), strict=True)),
    "delta": lambda s: {"platform.C": _moved(s, "platform.C", (0.02, 0.03, 0.01))},
}


def _moved(s, point, way):
    at = s.point(s.start, point)
    return lambda t: tuple(x + w * np.sin(2.0 * t) for x, w in zip(at, way, strict=False))


def _slid(x):
    return lambda t: x + 0.03 * t * t


@sweep("name", PATHS, now=["carpet-scraper"])
def test_a_followed_path_agrees_with_the_walk_on_floats(name):
    s = lw.compile(name)
    times, motion = np.linspace(0.0, 1.0, 41), PATHS[name](s)
    exact = follow(compiled_of(s).assembler, s.start, motion, times, compiled_of(s).drive_names)
    c = mechanism_of(s).follow(motion, times)
    assert WALKS.of(compiled_of(s))
    tolerance = SPIN if s.mobility.idle else AGREEMENT
    rows = [cut_rows(x.skel, x.references) for x in (c, exact)]
    for mine, theirs in ((c.q, exact.q), (c.v, exact.v), (c.a, exact.a), rows):
        assert np.abs(mine - theirs).max(initial=0.0) <= tolerance * (1.0 + np.abs(theirs).max(initial=0.0))
    assert c.notes == exact.notes and c.events == exact.events


def test_control_authority_along_a_path_is_that_of_every_sample():
    """Of the drives' speeds alone, and by singular values of the drives' rows on the motions of the loops."""
    s = lw.compile("five-bar")
    motion = {"left_rod.C": _moved(s, "left_rod.C", (-0.05, -0.06))}
    c = mechanism_of(s).follow(motion, np.linspace(0.0, 1.0, 41))
    found = authority.authority_shares(
        compiled_of(s).loops, compiled_of(s).drive_names, drive_speeds(compiled_of(s), c, compiled_of(s).drive_names)
    )
    exact = np.array([s.controllable(c.state(i)).smallest for i in range(41)])
    np.testing.assert_allclose(found, exact / exact.max(), rtol=1e-9)
