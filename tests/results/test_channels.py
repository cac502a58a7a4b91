"""Channels of whole runs: the same numbers as one state at a time, turns counted, recorded columns, multipliers, parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ChannelError, UsageError
from linkwright.mechanics.instant import Instant
from linkwright.numerics.spatial import quaternion_rotation, rotation_quaternion
from linkwright.results.channels import rotation_quaternions
from linkwright.results.cut_references import cut_references
from linkwright.results.records import Column, RunEvent
from linkwright.results.trajectory import Trajectory
from tests.refusals import refused
from tests.results.runs import free_run, recorded, system
from tests.sweeps import sweep

# a slider-crank whose driven bearing, pins and guide rub by their loads; one of these joints is cut
RUBBING: dict[str, object] = {
    "name": "rubbing", "plane": "xy", "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "B": [0.1, 0.02], "C": [0.4, 0]},
    "bodies": {
        "ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"], "mass": 0.4}, "rod": {"pins": ["B", "C"], "mass": 0.6},
        "slide": {"pins": ["C"], "mass": 1.5},
    },
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "slide"], "at": "C", "axis": [1, 0]}},
    "friction": {
        **{pin: {"mu": 0.1, "radius": "10 mm", "speed": 0.01} for pin in "ABC"}, "guide": {"mu": 0.15, "speed": "1 mm/s"},
    },
    "drive": {"A": "60 rpm"},
}  # fmt: skip


@pytest.fixture(scope="module")
def turn() -> Trajectory:
    return lw.load("carpet-scraper").cycle(steps=36)


@sweep("name", ["wiper", "carpet-scraper", "stewart"], now=1)
def test_whole_runs_read_as_single_states_do(name):
    run = free_run(name, 0.1, 21)
    names = [n for n in run.channels[1:] if not n.startswith(("lam.", "singular.", "det."))]
    found = run.read(names)
    assert "instants" not in vars(run) and len(names) > 100  # no sample was looked at by itself
    for i in (7, 20):
        at = run.instant(i)
        for n in names:
            gap = np.abs(np.asarray(run._channel(n).read(at)) - found[n][i])
            gap = np.minimum(gap, np.abs(gap - 2 * np.pi)) if run._channel(n).winds is not None else gap
            assert gap.max() < 1e-12 * (1.0 + np.abs(found[n]).max()), n  # round-off of some hundred operations


def test_turns_read_as_single_states_do(turn):
    found = turn.read([n for n in turn.channels if n not in turn._load_channels])
    assert "instants" not in vars(turn)
    for n, x in found.items():
        if n != "t" and turn._channel(n).winds is None:
            assert np.abs(np.asarray(turn._channel(n).read(turn._instants[20])) - x[20]).max() < 1e-12 * (1.0 + np.abs(x).max()), n


@sweep(
    ("name", "singly"),
    [
        ("slider-crank-equal", 0),
        ("carpet-scraper", 0),
        ("parallelogram-chain", 2),
        ("boot-lid", 0),
        ("door", 0),
        ("with friction by load", 0),
        ("delta", 0),
    ],
    now=1,
)
def test_loads_of_a_turn_are_those_of_single_states(name, singly):
    """All samples solved together: singular positions, redundant joints and idle spins too. What is left is solved singly."""
    m = lw.load(RUBBING if name == "with friction by load" else name)
    turn = m.cycle(steps=24)
    names = list(turn._load_channels)
    found = turn.read(names)
    assert len(turn._one_by_one) == singly
    largest = {turn.dimension(n): max(np.abs(found[m]).max() for m in names if turn.dimension(m) == turn.dimension(n)) for n in names}
    alone = [turn.instant(i) for i in range(len(turn))]  # each by itself, through `inverse.solve`
    for i in (6, 7, 20):  # 6: a quarter of the cycle, where the slider-crank is singular
        for n in names:
            gap = np.abs(np.asarray(turn._channel(n).read(alone[i])) - found[n][i]).max()
            assert gap < 1e-11 * largest[turn.dimension(n)], n  # round-off times the condition of the loops
    pick = slice(0, 2) if turn.skel.tree.description.planar else slice(0, 3)
    for eye in list(turn.bearings())[:3]:
        history = turn.load(eye.pin, eye.on, frame=eye.on)
        ones = [x.loads.on(eye.pin, eye.on, frame=eye.on) for x in alone]
        np.testing.assert_allclose(history.moment, [w.moment for w in ones], atol=1e-11 * largest["force"])
        regular = [w for w, near in zip(ones, turn.near_singular, strict=True) if not near]  # at singular positions nothing is unique
        assert history.unique == eye.unique == all(w.unique_force[pick].all() for w in regular)


def test_joints_of_the_tree_are_the_samples_themselves():
    run = free_run("carpet-scraper")
    for i, n in enumerate(run.skel.tree.nodes):
        assert (run[n.joint.name] == run.q[:, i]).all()
        assert (run[f"{n.joint.name}.v"] == run.v[:, i]).all() and (run[f"{n.joint.name}.a"] == run.a[:, i]).all()
    assert run["J1.v", "rpm"] == pytest.approx(run["J1.v"] * 30 / np.pi)


def test_quaternions_of_many_rotations(rng):
    q = rng.normal(size=(50, 4))
    q[:4] = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1e-9, 1, 1e-9, 0]]  # half turns
    R = np.array([quaternion_rotation(x) for x in q])
    # sums of four squares in another order: one unit in the last place
    np.testing.assert_allclose(rotation_quaternions(R), [rotation_quaternion(x) for x in R], rtol=4e-16, atol=0.0)


def test_turns_of_bodies_and_cut_joints_are_counted_however_coarse_the_samples():
    times = np.linspace(0.0, 2.0, 16)  # the crank turns three radians and more in between
    own, other = system("four-bar"), system("four-bar", ("A",))
    assert "A" in other.tree.cuts and "A" not in own.tree.cuts
    runs = [recorded(s, s.assemble(v={"A": 25.0}), times) for s in (own, other)]
    a, b = (r["A"] for r in runs)
    assert a[-1] - a[0] > 40.0 and np.diff(a).max() > np.pi
    np.testing.assert_allclose(b, a, atol=1e-8)  # two integrations of tolerance 1e-12 over some ten turns
    for r in runs:
        np.testing.assert_allclose(r["crank.angle"] - r["crank.angle"][0], r["A"] - r["A"][0], atol=1e-8)
        for n in ("A", "crank.angle", "coupler.angle", "A.v"):  # parts of a run go on counting
            np.testing.assert_allclose(r[5:14:3][n], r[n][5:14:3], rtol=1e-13, atol=1e-13)
    spun = runs[1]
    exact = cut_references(
        compiled_of(other).skel, times[::2], spun.q[::2], spun.v[::2], spun.references[0], a=spun.a[::2]
    )  # a turn and more in between
    np.testing.assert_allclose(exact.rows, spun.references.rows[::2], atol=1e-12)
    rough = cut_references(compiled_of(other).skel, times, runs[1].q, runs[1].v, runs[1].references.rows + 1.5)  # renewed now and then
    np.testing.assert_allclose(rough.rows, runs[1].references.rows, atol=1e-12)


def test_multipliers_are_the_force_in_a_cut_pin():
    run = free_run("wiper")
    (cut,) = run.skel.tree.cuts
    assert run._channel(f"lam.{cut}").dimension == "force" and run[f"lam.{cut}"].shape == (61, 2)
    np.testing.assert_array_equal(run[f"lam.{cut}"][:, 1], run[f"lam.{cut}.ty"])
    on = run.skel.tree.description.joint(cut).second
    np.testing.assert_allclose(np.linalg.norm(run[f"lam.{cut}"], axis=1), run[f"{cut}.on.{on}.magnitude"], rtol=1e-12)
    assert run[f"lam.{cut}.tx", "kN"] == pytest.approx(1e-3 * run[f"lam.{cut}.tx"])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("torque", "A.torque"),
        ("Torque", "A.torque"),
        ("P.x", "coupler.P.x"),
        ("A.torqe", "A.torque"),
        ("roker", "rocker"),
        ("roker.angle", "rocker.angle"),
        ("rocker.angel", "rocker.angle"),
        ("roker.angel.v", "rocker.angle.v"),
        ("cuopler.P.vxx", "coupler.P.vx"),
        ("energy.kinetik", "energy.kinetic"),
        ("sunshine", ""),
    ],
)
def test_the_channel_that_was_meant(name: str, meant: str) -> None:
    """By the end of its name, part by part, or as a whole."""
    c = lw.load("wiper").cycle(steps=4)
    heads = {n.split(".")[0] for n in c.channels} - {"t"}
    with pytest.raises(ChannelError) as found:
        c[name]
    assert found.value.name == name and set(found.value.allowed) <= set(c.channels) | heads
    assert {n.split(".")[0] for n in found.value.allowed} == ({meant.split(".")[0]} if meant else heads)
    assert f"Did you mean '{meant}'?" in str(found.value) if meant else "Did you mean" not in str(found.value)


def test_recorded_columns_are_channels_and_come_first():
    run = free_run("wiper")
    more = {"motor.A.current": (np.arange(61.0), "current"), "A.v": Column(np.ones(61), "angular speed"), "x": (np.ones((61, 3)), "none")}
    own = replace(run, columns=more, events=[RunEvent(0.1, "hit", {"loss": np.float64(2.0)}), RunEvent(0.4, "end")], settings={"a": (1, 2)})
    assert own["motor.A.current", "mA"][5] == 5000.0 and (own["A.v"] == 1.0).all() and own["x"].shape == (61, 3)
    assert {"motor.A.current", "x"} <= set(own.channels) and own.channels.count("A.v") == 1
    assert "motor.A.current" in own._main_channels() and "lam.C" not in own._main_channels()
    assert own.settings == {"a": [1, 2]} and own.events[0].values == {"loss": 2.0}  # as a file will give them back
    with refused(ChannelError, name="motor.A.curent", allowed=("motor.A.current",)):
        own["motor.A.curent"]
    with refused(ChannelError, name="motor.A.current"):
        own["motor.A.current", "V"]
    for bad, words in (({"x": (np.ones(3), "none")}, "61 samples"), ({"x": (np.ones(61), "curent")}, "Did you mean 'current'")):
        with pytest.raises(UsageError, match=words):
            replace(run, columns=bad)
    with refused(UsageError, name="settings: f"):
        replace(run, settings={"f": lambda t: t})


def test_parts_of_a_run():
    run = replace(free_run("wiper"), columns={"x": (np.arange(61.0), "none")}, events=[RunEvent(0.1, "a"), RunEvent(0.3, "b")])
    part = run.between(0.09, "0.2 s")
    assert len(part) == 14 and part.t[0] >= 0.09 and part.t[-1] <= 0.2 and [e.name for e in part.events] == ["a"]
    first = int(np.flatnonzero(run.t == part.t[0])[0])
    for name in run.channels[::3]:
        if name.startswith(("singular.", "det.")):
            continue
        np.testing.assert_allclose(part[name], run[name][first : first + 14], rtol=1e-12, atol=1e-12 * (1 + np.abs(run[name]).max()))
    assert (run[::2].t == run.t[::2]).all() and isinstance(run[3], lw.State) and run[-1].t == run.t[-1]
    assert run.state(7)["coupler.P.a"] == pytest.approx(run["coupler.P.a"][7])
    for wrong in (lambda: run[70:80], lambda: run.between(0.091, 0.0915), lambda: run.state(61)):
        with pytest.raises(UsageError, match="sample"):
            wrong()


def test_recorded_columns_come_before_computed_ones_and_states_without_accelerations_say_so():
    plain = free_run("wiper")
    run = replace(plain, columns={"energy.total": Column(np.full(len(plain), 7.0), "energy")})
    assert (run["energy.total"] == 7.0).all() and (run["A"] == run.q[:, 0]).all()
    bare = Instant(run.skel, run.q[0], run.v[0])
    with refused(ChannelError, name="accelerations"):
        run._channel("A.a").read(bare)


def test_every_channel_of_a_run_can_be_read():
    s = lw.compile("wiper")
    run = s.simulate(s.assemble(v={"A": 4.0}), 0.1, sample_interval=0.05)
    assert "det.dependent" in run.channels and "det.independent" not in run.channels
    for values in run.read(run.channels).values():
        assert np.isfinite(values).all()
