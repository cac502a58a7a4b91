"""Exact derivatives of many designs: against the derivatives of each design alone, and against differences of the channels themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ChannelError, UsageError
from linkwright.model.library.file_lookup import model_file
from linkwright.motion.cycle_derivatives import turn_derivatives
from linkwright.motion.designs import Designs, kernels_of
from linkwright.results.channels.graph import GRAPHS
from linkwright.system.cycles import CycleEvaluator, DesignReader, cycles
from tests.refusals import refused
from tests.sweeps import sweep

# Both solve the same equations by different eliminations: round-off times the condition of the drives' and loads' systems, squared for the
# accelerations, below 1e5 in these models.
SAME = 1e-10
VARIED = {
    "four-bar": ["L1", "L2", "L3", "L4", "line_mass", "g"],
    "wiper": ["crank.mass", "crank.B.x", "coupler.C.x", "rocker.com.x", "ground.D.x", "coupler.inertia"],
    "boot-lid": ["lid.mass", "gas.force", "gas.length", "lid.S.x"],
    "carpet-scraper": ["tool.mass", "crank.A.x", "g", "rocker.com.y"],
    "3-rrr": ["platform.mass", "link1.com.x"],
    "stewart": ["platform.mass", "rb", "platform.P1.z"],
}


def numbers_of(name: str) -> list[Any]:
    """The numbers of a model that vary."""
    return compiled_of(lw.load(name).system).chosen(VARIED[name])


def designs_of(name: str, n: int = 16, share: float = 0.02) -> dict[str, np.ndarray]:
    """Designs that differ from the model by some per cent, dimensions included."""
    rng = np.random.default_rng(2)
    return {p.name: (p.value or 0.01) * (1.0 + share * rng.uniform(-1.0, 1.0, n)) for p in numbers_of(name)}


def differ(found: np.ndarray, wanted: np.ndarray, channel: np.ndarray) -> float:
    """Largest difference of derivatives, against the largest of the same number and a thousandth of the channel."""
    axes = tuple(range(wanted.ndim - 1))
    size = np.nanmax(np.abs(wanted), axis=axes) + 1e-3 * np.nanmax(np.abs(channel)) + 1e-9  # a point at rest has no curvature
    return float(np.max(np.nanmax(np.abs(found - wanted), axis=axes) / size))


@sweep("name", VARIED, now=1)
def test_every_channel_is_differentiated_as_each_design_alone_is(name: str) -> None:
    m, designs = lw.load(name), designs_of(name)
    by, c = list(designs), m.cycle(steps=24)
    body = m.description.bodies[-1].name
    loads = list(c._load_channels)
    own = [x for x in c.channels if x.startswith(("energy", f"{body}.")) and not x.endswith((".curvature", ".advantage"))]
    names = [*own, *loads[:8], *loads[-4:], *(x for x in c.channels if x.endswith("transmission"))]
    t = m.cycles(designs, steps=24, read=names, derivatives=by)
    assert t.ok.all() and t.derivatives.names == tuple(by)
    for i in (0, 11):
        alone = t[i]
        d = turn_derivatives(compiled_of(m.system), alone, by, t.source.designs.values[i])
        for x in names:
            assert t.derivatives[x].shape == (*t[x].shape, len(by))
            assert differ(t.derivatives[x][i], d[x], alone[x]) <= SAME, (x, i)


@pytest.mark.slow
def test_derivatives_are_those_of_the_model_with_these_parameters() -> None:
    """Named parameters with expressions behind them, at designs whose dimensions differ: `m.with_(...).cycle().derivatives(...)`."""
    m, designs = lw.load("four-bar"), {"L1": np.linspace(0.26, 0.34, 16), "L3": 0.74, "line_mass": np.linspace(2.0, 3.0, 16)}
    names = ["A.torque", "coupler.P", "C.on.rocker.magnitude", "rocker.angle", "shaking.force"]
    t = m.cycles(designs, steps=36, read=names, derivatives=["L1", "L2", "line_mass"])
    for i in (0, 9, 15):
        c = m.with_(**t.design(i)).cycle(steps=36)
        d = c.derivatives(["L1", "L2", "line_mass"])
        for x in names:
            assert differ(t.derivatives[x][i], d[x], c[x]) <= SAME
            assert np.array_equal(t.derivatives[x, "L2"][i], t.derivatives[x][i][..., 1])


DIFFERENCES = np.array([-1 / 60, 3 / 20, -3 / 4, 3 / 4, -3 / 20, 1 / 60])  # of sixth order, at -3h .. 3h


@sweep("number", ["crank.B.x", "coupler.mass", "ground.D.x"], now=2)
def test_derivatives_are_differences_of_sixth_order(number: str) -> None:
    """Truncation of order h^6 = 1e-18 and round-off 1e-14/h: relative 1e-10 is what differences can show."""
    m, h = lw.load("wiper"), 1e-3
    value = next(p.value for p in compiled_of(m.system).chosen(number))
    base = value * 1.01
    names = ["A.torque", "C.load", "C.transmission_angle", "C.pressure_angle", "rocker.rotation", "C.v", "rocker.angle", "energy.kinetic"]
    names.append("determinant")
    rows = base * (1.0 + h * np.array([0, -3, -2, -1, 1, 2, 3]))[:, None]
    found = CycleEvaluator(m.system, [number], names, derivatives=[number], steps=48)(rows)
    assert found.ok.all()
    for x in names:
        slopes = np.tensordot(DIFFERENCES, found.values[x][1:], axes=1) / (h * base)
        smooth = np.ones(49, dtype=bool)
        if x == "C.transmission_angle":  # folded at 90 deg, where it has a kink
            smooth = found.values[x][0] < np.radians(85.0)
        wanted, got = slopes[smooth], found.derivatives[x][0][smooth][..., 0]
        assert np.abs(got - wanted).max() <= 1e-9 * max(1e-3, np.abs(wanted).max()), x


def test_speed_of_the_drive_may_be_a_number() -> None:
    """The stroke's acceleration at the outer dead center, a = -n^2 r (1 + r/l), by n, r and l; A.v by n is 1."""
    model = {
        "plane": "xy",
        "parameters": {"r": "0.1 m", "l": "0.3 m", "n": "60 rpm"},
        "drawing": {"A": [0, 0], "B": [0.08, 0.06], "C": [0.37, 0]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["C"]},
            "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": "r"}, "mass": 1},
            "rod": {"pins": ["B"], "points": ["C"], "along": {"B": 0, "C": "l"}, "mass": 1},
        },
        "joints": {"C": {"type": "pin_slot", "connect": ["ground.C", "rod.C"], "slot": [1, 0]}},
        "drive": {"A": "2*n"},
        "start": {"A": 0},
    }
    m, r, n = lw.load(model), np.linspace(0.05, 0.2, 16), np.linspace(3.0, 9.0, 16)
    t = m.cycles({"r": r, "n": n}, steps=24, read=["rod.C.ax", "A.v", "A.torque"], derivatives=["r", "n", "l"])
    d = t.derivatives["rod.C.ax"][:, 0]
    l, w = 0.3, 2.0 * n
    wanted = np.stack([-(w**2) * (1 + 2 * r / l), -8.0 * n * r * (1 + r / l), w**2 * r**2 / l**2], axis=1)
    assert np.abs(d - wanted).max() <= 1e-10 * np.abs(wanted).max()
    assert np.abs(t.derivatives["A.v", "n"] - 2.0).max() <= 1e-12
    alone = m.with_(r=float(r[5]), n=float(n[5])).cycle(steps=24)
    assert differ(t.derivatives["A.torque"][5], alone.derivatives(["r", "n", "l"])["A.torque"], alone["A.torque"]) <= SAME


def test_designs_without_lanes_are_differentiated_one_by_one() -> None:
    """An interpreted mechanism has no lanes: the same numbers by another way, also where numbers of bodies vary beside parameters."""
    designs = {"L1": np.array([0.29, 0.31]), "coupler.mass": np.array([2.0, 2.5])}
    names, by = ["A.torque", "C.pressure_angle", "coupler.P.speed"], ["L1", "line_mass", "coupler.mass"]
    asked = {"drive": None, "steps": 12, "speed": None, "duration": None}
    m = lw.load("four-bar")
    t = cycles(lw.compile(m, engine="python"), designs, asked, names, None, by)
    native = CycleEvaluator(m.system, list(designs), names, derivatives=by, steps=12)(np.array(list(designs.values())).T)
    assert t.ok.all() and native.ok.all()
    for x in names:
        for i in range(2):
            assert differ(native.derivatives[x][i], t.derivatives[x][i], t[x][i]) <= SAME
            assert np.abs(native.values[x][i] - t[x][i]).max() <= SAME * np.abs(t[x][i]).max()


def test_designs_that_fail_have_no_derivatives() -> None:
    """0.7: the crank swings; 6: cannot be assembled; negative: no length."""
    m, lengths = lw.load("four-bar"), np.array([0.3, 0.7, 6.0, -0.3] + [0.31] * 12)
    t = m.cycles({"L1": lengths}, steps=24, read=["A.torque", "C.transmission_angle"], derivatives=["L1"])
    assert np.flatnonzero(~t.ok).tolist() == [1, 2, 3] == sorted(t.why)
    for x in ("A.torque", "C.transmission_angle"):
        assert np.isnan(t.derivatives[x][~t.ok]).all() and np.isfinite(t.derivatives[x][t.ok]).all()
    found = CycleEvaluator(m.system, ["L1"], ["A.torque"], derivatives=["L1"], steps=24)(lengths[:, None])
    assert np.array_equal(found.ok, t.ok) and set(found.why) == {1, 2, 3} and "dead center" in found.why[1]
    assert np.array_equal(found.derivatives["A.torque"][t.ok], t.derivatives["A.torque"][t.ok])


def test_rows_of_an_evaluator_do_not_depend_on_each_other() -> None:
    """One design, many, and blocks of them: the same bits; derivatives by numbers that do not vary."""
    m, designs = lw.load("wiper"), designs_of("wiper", 21)
    rows = np.array(list(designs.values())).T
    e = CycleEvaluator(m.system, list(designs), ["A.torque", "C.on.rocker", "t"], derivatives=["crank.B.x", "rocker.mass"], steps=24)
    assert e.numbers == tuple(designs) and e.by == ("crank.B.x", "rocker.mass") and "rocker.mass" not in e.numbers
    many, one = e(rows), e(rows[13])
    assert np.array_equal(many.values["A.torque"][13], one.values["A.torque"][0]) and many.values["t"].shape == (21, 25)
    for some_, found in e.blocks(rows, most=8):
        assert np.array_equal(found.derivatives["C.on.rocker"], many.derivatives["C.on.rocker"][some_])
    assert many.derivatives["C.on.rocker"].shape == (21, 25, 2, 2) and "t" not in many.derivatives.values
    assert np.array_equal(e(e.nominal).t, e.cycle.t)
    for bad in (np.ones(3), np.zeros((0, len(designs))), np.full((1, len(designs)), np.nan)):
        with pytest.raises(UsageError, match="designs"):
            e(bad)


@pytest.mark.slow
def test_derivatives_that_do_not_exist_are_refused() -> None:
    m = lw.load("four-bar")
    with pytest.raises(UsageError, match="read="):
        m.cycles({"L1": [0.3]}, derivatives=["L1"])
    with pytest.raises(UsageError, match="no parameter 'L9'"):
        m.cycles({"L1": [0.3]}, read=["C"], derivatives=["L9"])
    t = m.cycles({"L1": [0.3]}, steps=12, read=["C"], derivatives="L1")
    with pytest.raises(UsageError, match="no derivatives by 'L2'"):
        t.derivatives["C", "L2"]
    with pytest.raises(ChannelError, match="was not read"):
        t.derivatives["A.torque"]
    with pytest.raises(UsageError, match="not asked for"):
        m.cycles({"L1": [0.3]}, steps=12, read=["C"]).derivatives["C"]
    shared = lw.load("parallelogram-middle")  # its loops are redundant: no length varies alone
    length = next(p.name for p in compiled_of(shared.system).chosen("*") if p.geometry and p.placed is not None and p.value)
    with pytest.raises(UsageError, match="redundant"):
        shared.cycles({length: np.full(16, 0.2)}, steps=12, read=["A.torque"], derivatives=[length])


@sweep("name", ("wiper", "carpet-scraper", "four-bar", "stewart"), now=1)
def test_one_quantity_in_reverse_is_as_many_forward(name: str) -> None:
    """A single channel by several numbers is differentiated in reverse; beside many others it is followed forward."""
    m, designs = lw.load(name), designs_of(name)
    loads = list(m.cycle(steps=12)._load_channels)
    by = list(designs)
    few, many = (m.cycles(designs, steps=12, read=names, derivatives=by).derivatives for names in (loads[:1], loads[:6]))
    x = loads[0]
    size = np.abs(many[x]).max(axis=(0, 1)) + 1e-12
    assert (np.abs(few[x] - many[x]).max(axis=(0, 1)) <= 1e-11 * size).all()  # round-off times the condition, as SAME
    speed = [n for n in m.cycle(steps=12).channels if n.endswith((".speed", ".angle.v"))][-1:]
    alone = m.cycles(designs, steps=12, read=speed, derivatives=by)
    d = turn_derivatives(compiled_of(m.system), alone[3], by, alone.source.designs.values[3])
    assert differ(alone.derivatives[speed[0]][3], d[speed[0]], alone[speed[0]][3]) <= SAME


@sweep("name", ("four-bar", "punch-press", "boot-lid", "3-rrr"), now=1)
def test_terms_of_held_motions_are_read_in_lanes(name: str) -> None:
    """Jerk, curvature, advantage and transmission by force, also of drives along programs: as each design alone has them.

    Ratios are compared where they are not large: beside a rest of the output they have no digits.
    """
    m = lw.load(name)
    c = m.cycle(steps=24)
    endings = (".angle.jerk", ".jx", ".curvature", ".advantage", ".force_transmission_angle")
    found = {e: [x for x in reversed(c.channels) if x.endswith(e) and np.isfinite(c[x]).mean() > 0.8] for e in endings}
    names = [x[0] for x in found.values() if x]
    assert len(names) >= 4
    by = [p.name for p in compiled_of(m.system).chosen("*") if p.geometry and p.placed is not None and p.value][:2]
    designs = {p.name: p.value * (1.0 + 0.01 * np.random.default_rng(5).uniform(-1.0, 1.0, 16)) for p in compiled_of(m.system).chosen(by)}
    reader = DesignReader(m.system, {"drive": None, "steps": 24, "speed": None, "duration": None}, now=True)
    native = reader.turning(Designs.of(compiled_of(m.system), designs), names, by)
    assert native is not None and set(native.names) == set(names)
    t = m.cycles(designs, steps=24, read=names, derivatives=by)
    assert t.ok.all()
    alone = t[7]
    d = turn_derivatives(compiled_of(m.system), alone, by, t.source.designs.values[7])
    for x in names:
        a, b = t[x][7], alone[x]
        calm = np.isfinite(b) & (np.abs(b) <= 30.0 * np.nanmedian(np.abs(b)) + 1e-6)
        assert calm.sum() > 12 and np.array_equal(np.isnan(a), np.isnan(b))
        assert np.abs(a - b)[calm].max() <= 1e-9 * max(1e-3, np.abs(b[calm]).max()), x
        slopes, wanted = t.derivatives[x][7][calm], d[x][calm]
        good = np.isfinite(wanted).all(axis=1)
        assert np.abs(slopes - wanted)[good].max() <= 1e-8 * max(1e-3, np.abs(wanted[good]).max()), x


def test_results_that_do_not_fit_into_memory_are_refused() -> None:
    """Blocks of an evaluator need a bounded amount; one call for all at once says what to do instead."""
    m = lw.load("four-bar")
    e = CycleEvaluator(m.system, ["L1"], ["coupler.P", "A.torque"], derivatives=["L1"], steps=360)
    rows = np.full((600_000, 1), 0.3)
    with refused(UsageError, name="read"):
        e(rows)
    sizes = [found.values["coupler.P"].nbytes for _, found in zip(range(3), (f for _, f in e.blocks(rows, most=16)), strict=False)]
    assert max(sizes) <= 16 * 361 * 2 * 8


def test_one_motion_and_many_designs_are_read_by_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives of a cycle and cycles of designs by the same names trace into the same symbols: the second finds what the first made.

    Code that is stored needs no tracing, so this mechanism has a point that no other test's has, and stores none.
    """
    monkeypatch.setenv("LINKWRIGHT_CACHE", "off")
    text = model_file("wiper").read_text(encoding="utf-8")
    text = text.replace("points: [P]", "points: [P, alone]").replace("P: [", "alone: [500, 700], P: [")
    m, names, by = lw.load(yaml.safe_load(text)), ["A.torque", "rocker.angle.jerk", "C.load"], ["C.x", "crank.mass"]
    d = m.cycle(steps=24).derivatives(by)
    found = CycleEvaluator(m.system, by, names, derivatives=by, steps=24)([[p.value for p in compiled_of(m.system).chosen(by)]])
    (graph,) = GRAPHS.of(kernels_of(compiled_of(m.system), compiled_of(m.system).chosen(by))).values()
    before = len(graph.graph.ops)
    slopes = d.read(names)
    added = len(graph.graph.ops) - before
    assert added < 0.1 * before  # efforts are solved for in both: nothing but what a single motion has in arrays is new
    for name in names:
        np.testing.assert_allclose(found.derivatives[name][0], slopes[name], rtol=1e-9, atol=1e-9 * np.abs(slopes[name]).max())
