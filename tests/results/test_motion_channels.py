"""Jerk, curvature, mechanical advantage and transmission by force, against closed forms, geometry, differences and statics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ChannelError, UsageError
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.model.coordinates import coordinate
from linkwright.results.channels.driven_motion import HeldMotion, independent
from linkwright.results.channels.graph import ChannelGraph
from tests.factory import PLANAR, random_tree, with_loops
from tests.refusals import refused
from tests.rings.design.studies.models import SLIDER
from tests.sweeps import sweep

SLOPE = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])  # central difference of order eight
MASSLESS: dict[str, Any] = {"mass": 0, "inertia": 0}


def slope(x: np.ndarray, h: float) -> np.ndarray:
    return sum(k * x[i : len(x) - 8 + i] for i, k in enumerate(SLOPE)) / h


def four_bar(lengths: tuple[float, float, float, float], p: tuple[float, float], **more: Any) -> lw.Mechanism:
    """Crank a, coupler b, rocker c, ground d with a marked point of the coupler, started with the crank at 60 deg."""
    a, b, c, d = lengths
    B = a * np.array([np.cos(1.0), np.sin(1.0)])
    D = np.array([d, 0.0])
    r = np.linalg.norm(D - B)
    x = (b**2 - c**2 + r**2) / (2 * r)
    along = (D - B) / r
    C = B + x * along + np.sqrt(b**2 - x**2) * np.array([-along[1], along[0]])
    model: dict[str, Any] = {
        "name": "bars",
        "plane": "xy",
        "gravity": [0, 0],
        "drawing": {"A": [0, 0], "B": B.tolist(), "C": C.tolist(), "D": D.tolist()},
        "bodies": {
            "ground": {"pins": ["A", "D"]},
            "crank": {"pins": ["A", "B"], **MASSLESS},
            "coupler": {"pins": ["B", "C"], "points": {"P": {"at": list(p)}}, **MASSLESS},
            "rocker": {"pins": ["C", "D"], **MASSLESS},
        },
        "drive": {"A": "60 rpm"},
        **more,
    }
    return lw.load(model)


# -------------------------------------------------------------------- jerk


def test_jerk_of_a_slider_crank_is_its_closed_form() -> None:
    c = lw.load(SLIDER).cycle(steps=90)
    r, l, w = 0.05, 0.2, c["A.v"][0]

    def acceleration(angle: Any) -> Any:
        s, k = np.sin(angle), np.cos(angle)
        root = np.sqrt(l * l - r * r * s * s)
        return w**2 * (-r * k - r**2 * (k * k - s * s) / root - r**4 * s * s * k * k / root**3)

    exact = w * np.imag(acceleration(c["A"] + 1e-30j)) / 1e-30
    size = np.abs(exact).max()
    np.testing.assert_allclose(c["slide.jerk"], exact, atol=1e-12 * size)  # round-off of some hundred operations
    np.testing.assert_allclose(c["piston.C.jx"], exact, atol=1e-12 * size)
    np.testing.assert_allclose(c["piston.C.jerk"], np.stack([exact, 0 * exact], axis=1), atol=1e-12 * size)
    np.testing.assert_allclose(c["crank.B.jerk"], -(w**2) * c["crank.B.v"], atol=1e-12 * w**3)  # a circle at constant speed


@sweep("name", ["four-bar", "rssr", "jansen-leg", "bennett"], now=1)
def test_jerk_is_the_rate_of_the_acceleration(name: str) -> None:
    c = lw.load(name).cycle(steps=1440)
    names = [n for n in c.channels if n.endswith(".jerk")]
    assert len(names) > 5
    found, rates = c.read(names), c.read([f"{n[:-5]}.a" for n in names])
    h, size = c.t[1] - c.t[0], max(np.abs(x).max() for x in found.values())
    for n in names:
        gap = np.abs(slope(rates[f"{n[:-5]}.a"], h) - found[n][4:-4])
        assert gap.max() < 1e-7 * size, n  # h^8 of the ninth derivative; round-off over h is smaller


def test_jerk_takes_the_third_derivatives_of_the_drives() -> None:
    """A program of 3-4-5 moves: away from their ends, where its jerk jumps."""
    c = lw.load("boot-lid").cycle(steps=1600)
    h, j = c.t[1] - c.t[0], c["D.jerk"]
    gap = np.abs(slope(c["D.a"], h) - j[4:-4])
    corners = np.flatnonzero(np.abs(np.diff(c["A.jerk"])) > 0.1 * np.abs(c["A.jerk"]).max())
    away = np.array([np.abs(i - corners).min(initial=99) > 9 for i in range(4, len(c) - 4)])
    assert away.mean() > 0.9 and gap[away].max() < 1e-8 * np.abs(j).max()  # as above
    assert np.abs(c["A.jerk"]).max() > 0.0 and np.abs(c._at_rest()["D.jerk"]).max() == 0.0
    again = replace(c, arrays={k: x for k, x in c.arrays.items() if not k.startswith("third.")})
    assert np.abs(again["D.jerk"] - j).max() > 0.1 * np.abs(j).max()  # it does count


def test_jerk_along_a_path_of_a_point() -> None:
    m = lw.load("five-bar")
    x, y = m.cycle(steps=8)["left_rod.C"][0]
    path = {"left_rod.C": lambda t: (x + 0.01 * np.sin(3 * t), y + 0.01 * np.cos(2 * t) - 0.01)}
    c = m.follow(path, duration=2, steps=800)
    np.testing.assert_allclose(
        c["left_rod.C.jx"], -0.27 * np.cos(3 * c.t), atol=1e-9
    )  # closed to 1e-12 of a meter, times rates of some 10/s
    h = c.t[1] - c.t[0]
    for n in ("A", "E", "B"):
        assert np.abs(slope(c[f"{n}.a"], h) - c[f"{n}.jerk"][4:-4]).max() < 1e-6 * np.abs(c[f"{n}.jerk"]).max()
    numerical = m.follow({"A": lambda t: (1.6 + 0.1 * t, 0.1, 0.0), "E": lambda t: (1.5, 0.0, 0.0)}, duration=1, steps=20)
    with refused(ChannelError, name="A.jerk", allowed=("A", "E")):
        _ = numerical["A.jerk"]


def test_a_run_has_no_jerk_but_an_advantage() -> None:
    run = lw.load("wiper").simulate(0.1, sample_interval=0.01)
    with refused(ChannelError, name="D.jerk", allowed=("A",)):
        _ = run["D.jerk"]
    np.testing.assert_allclose(run["D.advantage"][1:], (run["A.v"] / run["D.v"])[1:], rtol=1e-9)
    assert not any("jerk" in n for n in run.channels)


# -------------------------------------------------------------------- curvature


def test_curvature_of_circles_and_of_coupler_curves_by_euler_and_savary() -> None:
    a, b, c_, d = 1.0, 2.5, 2.3, 2.0
    m = four_bar((a, b, c_, d), (1.1, 0.9))
    c = m.cycle(steps=72)
    np.testing.assert_allclose(c["crank.B.curvature"], 1.0 / a, rtol=1e-12)
    np.testing.assert_allclose(np.abs(c["rocker.C.curvature"]), 1.0 / c_, rtol=1e-9)
    A, D = np.zeros(2), np.array([d, 0.0])
    for i in range(0, 72, 5):
        B, C, K = (c[n][i] for n in ("coupler.B", "coupler.C", "coupler.P"))
        pole = _crossing(A, B, D, C)
        # Euler and Savary: |P X|^2 = X X0 . X J along the ray, with the center X0 and the point J of the inflection circle
        on_circle = [pole, *(X + np.sum((pole - X) ** 2) / np.sum((X0 - X) ** 2) * (X0 - X) for X, X0 in ((B, A), (C, D)))]
        center = _through(on_circle)
        ray = K - pole
        J = pole + 2 * ((center - pole) @ ray) / (ray @ ray) * ray
        radius = ray @ ray / ((J - K) @ ray / np.linalg.norm(ray))
        assert abs(c["coupler.P.curvature"][i]) == pytest.approx(1.0 / abs(radius), rel=1e-7)  # poles may be far away


def _crossing(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    u, v = b - a, d - c
    return a + u * np.linalg.solve(np.array([u, -v]).T, c - a)[0]


def _through(points: list[np.ndarray]) -> np.ndarray:
    """Center of the circle through three points."""
    p, q, r = points
    return np.linalg.solve(2 * np.array([q - p, r - p]), np.array([q @ q - p @ p, r @ r - p @ p]))


def test_curvature_does_not_depend_on_speed_and_is_nan_at_rest() -> None:
    m = lw.load("punch-press")
    slow, fast, still = m.cycle(steps=60, speed="10 rpm"), m.cycle(steps=60, speed="70 rpm"), m.cycle(steps=60, speed=0)
    for c in (fast, still):
        np.testing.assert_allclose(c["rod.K.curvature"], slow["rod.K.curvature"], rtol=1e-6)  # worst near ends of travel
    assert "crank.E.curvature" not in slow.channels  # a pivot has no path
    line = lw.load(SLIDER).cycle()["piston.C.curvature"]
    assert np.isnan(line[[0, 180]]).all() and np.abs(line[[90, 270]]).max() < 1e-12


# -------------------------------------------------------------------- mechanical advantage


def test_advantage_of_a_four_bar_follows_from_its_links() -> None:
    c = lw.load("wiper").cycle(steps=120)
    coupler, rocker, crank = c["coupler.C"] - c["coupler.B"], c["rocker.C"] - c["rocker.D"], c["crank.B"] - c["crank.A"]

    def across(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]

    exact = across(rocker, coupler) / across(crank, coupler)  # torques of one force along the coupler about both pivots
    np.testing.assert_allclose(c["rocker.angle.advantage"], exact, rtol=1e-9)
    np.testing.assert_allclose(c["rocker.angle.advantage.crank.angle"], exact, rtol=1e-9)
    np.testing.assert_allclose(c["crank.angle.advantage.rocker.angle"], 1.0 / exact, rtol=1e-9)
    np.testing.assert_allclose(c["coupler.P.advantage"], c["A.v"] / c["coupler.P.speed"], rtol=1e-9)
    assert c.dimension("coupler.P.x.advantage.A") == "curvature" and c.dimension("A.advantage.coupler.P.y") == "length"


def test_advantage_is_what_statics_gives() -> None:
    """A massless linkage under a force on its point: the drive's torque by the engine's inverse."""
    rng = np.random.default_rng(4)
    for _ in range(4):
        lengths = (rng.uniform(0.5, 0.9), *rng.uniform(1.9, 2.4, size=2), 2.0)
        m = four_bar(lengths, tuple(rng.normal(size=2)), loads={"push": {"on": "coupler.P", "force": [1.0, 0.0]}})
        c = m.cycle(steps=40, speed=0)
        assert m.system.inverse(m.system.start).tau["A"] == pytest.approx(c["A.torque"][0])
        good = np.abs(c["A.torque"]) > 1e-6
        np.testing.assert_allclose(c["coupler.P.x.advantage"][good], (-1.0 / c["A.torque"])[good], rtol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_powers_balance_in_random_mechanisms(seed: int) -> None:
    """A unit load at any place, held by the drives: efforts of the drives are the rates of the place, power in is power out."""
    rng = np.random.default_rng(seed)
    planar = seed % 2 == 0
    hinges = ("revolute", "prismatic") if planar else ("revolute", "prismatic", "spherical", "universal")
    drawn = with_loops(rng, random_tree(rng, 5, hinges, planar), ["revolute" if planar else "spherical"], planar, rods=0 if planar else 1)
    skel = drawn.skel
    assert set(hinges) <= set(PLANAR) or not planar
    loops, at = Loops.of(skel), Instant(skel, drawn.q, np.zeros(skel.tree.nv))
    single = [j.name for j in skel.tree.description.joints if j.type in ("revolute", "prismatic")]
    turning = [f"{j.name}.{a}" for j in skel.tree.description.joints if j.type == "universal" for a in ("angle1", "angle2")]
    balls = [f"{j.name}.w{a}" for j in skel.tree.description.joints if j.type == "spherical" for a in "xyz"]
    held = independent(loops, at, [*single, *turning, *balls])
    outputs = [n for n in (*single, *turning, *balls) if n not in held][:2]
    assert held and outputs
    rows = {"q": drawn.q[None], "v": at.v[None], "a": at.v[None], "t": np.zeros((1, 1)), "near": skel.pack(skel.start_coordinates)[None]}
    motion = HeldMotion(loops, rows, held)
    T = motion.tangent()[0]
    c = loops.at(at.q, at.v, 0.0, at.references)
    assert np.abs(np.asarray(c.J) @ T).max(initial=0.0) < 1e-9 * np.abs(T).max()
    for name in outputs:
        efforts = motion.push(name)[0, len(loops.row_scale) : -1]
        rates = np.array([_rate(skel, drawn.q, T[:, k], name) for k in range(len(held))])
        np.testing.assert_allclose(efforts, -rates, atol=1e-8 * (1.0 + np.abs(rates).max()))


def _rate(skel: Any, q: np.ndarray, v: np.ndarray, name: str) -> float:
    return float(Instant(skel, q, v).travel_rate(coordinate(skel.tree.description, name)))


def test_places_that_are_none() -> None:
    c = lw.load("five-bar").cycle(steps=24)
    with refused(ChannelError, name="left_rod.Q.x"):
        _ = c["left_rod.Q.x.advantage"]
    with refused(ChannelError, name="left_rod.C.x.advantage.B"):
        _ = c["left_rod.C.x.advantage.B"]
    with refused(ChannelError, name="E.advantage.A"):
        _ = c["E.advantage.A"]
    with refused(ChannelError, name="A", allowed=("B", "C", "D")):
        _ = c["A.force_transmission_angle"]
    np.testing.assert_allclose(c["C.advantage.A"] * (c["C.v"] - c["E.v"] / c["C.advantage.E"]), c["A.v"], rtol=1e-9)  # both drives together


# -------------------------------------------------------------------- transmission by force


def test_transmission_by_force_is_the_textbook_angle_where_one_force_pushes() -> None:
    for name, output, pin in (("wiper", "D", "C"), ("four-bar", "D", "C")):
        c = lw.load(name).cycle(steps=120)
        np.testing.assert_allclose(
            c[f"{output}.force_transmission_angle"], c[f"{pin}.transmission_angle"], atol=1e-7
        )  # root of 1 - s^2 near 90 deg
    c = lw.load("punch-press").cycle(steps=120)
    np.testing.assert_allclose(c["slide.force_transmission_angle"], c["R.transmission_angle"], atol=1e-7)
    c = lw.load(SLIDER).cycle(steps=120)
    np.testing.assert_allclose(c["slide.force_transmission_angle"], np.pi / 2 - np.abs(np.arcsin(0.25 * np.sin(c["A"]))), atol=1e-7)


def test_transmission_by_force_in_space_and_by_a_cylinder() -> None:
    c = lw.load("rssr").cycle(steps=90)
    d = c.skel.tree.description
    ends = {j.name: j for j in d.joints}
    on_rocker, on_crank = (_world(c, ends[n]) for n in ("U", "S"))
    pivot, axis = _world(c, ends["rocker"]), _axis(c, ends["rocker"])
    force, velocity = on_crank - on_rocker, np.cross(axis, on_rocker - pivot)
    sine = np.abs(np.sum(force * velocity, axis=1)) / np.linalg.norm(force, axis=1) / np.linalg.norm(velocity, axis=1)
    assert c["rocker.force_transmission_angle"] == pytest.approx(np.arcsin(sine), abs=1e-7)
    lift = lw.load("scissor-lift").cycle(steps=20)
    assert (lift["L0.force_transmission_angle"] > 0.1).all() and (lift["L0.force_transmission_angle"] <= np.pi / 2).all()


def _world(c: Any, joint: Any) -> np.ndarray:
    node = c.skel.node(joint.first)
    return np.array([x.point(node, np.array(joint.frame_first.at)) for x in c._instants])


def _axis(c: Any, joint: Any) -> np.ndarray:
    node = c.skel.node(joint.first)
    return np.array([x.rotation(node) @ np.array(joint.frame_first.rotation)[:, 2] for x in c._instants])


def test_two_forces_that_work_against_each_other_lower_it() -> None:
    """The ram of a press between two knuckles: of both forces only the parts along the guide do work."""
    c = lw.load("punch-press").cycle(steps=60)
    assert (c["slide.force_transmission_angle"] <= np.pi / 2).all() and c["O.force_transmission_angle"].min() > 0.5


# -------------------------------------------------------------------- singular positions, many designs, derivatives


def test_singular_positions_are_nan_or_limits_without_a_warning() -> None:
    c = lw.load("slider-crank-equal").cycle()  # crank as long as its rod: it passes two singular positions
    at = np.flatnonzero(np.isnan(c["C.slide.jerk"]))
    assert at.tolist() == [150, 330] and c.near_singular[at].all()
    advantage = c["C.slide.advantage"]
    assert np.isfinite(advantage[at]).all() and advantage[150] == pytest.approx(advantage[[149, 151]].mean(), rel=1e-3)
    chain = lw.load("parallelogram-chain").cycle()
    assert chain["G1.force_transmission_angle"].min() == 0.0 and np.isfinite(chain["G1.force_transmission_angle"]).all()


def test_terms_of_a_motion_are_solved_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many channels read them, and nothing is traced again for another motion of the mechanism."""
    m = lw.load("punch-press")
    c = m.cycle(steps=60)
    names = [n for n in c.channels if n.endswith((".jerk", ".advantage", ".force_transmission_angle"))]
    found = c.read(names)
    other, solved = m.cycle(steps=72), []
    jerk = HeldMotion.jerk
    monkeypatch.setattr(HeldMotion, "jerk", lambda self: solved.append(self) or jerk(self))
    monkeypatch.setattr(ChannelGraph, "symbols", lambda *_: pytest.fail("traced again"))
    again = {n: other[n] for n in names}
    assert len(solved) == 1
    for n in names:  # every sixth of 72 is every fifth of 60
        np.testing.assert_allclose(again[n][::6], found[n][::5], rtol=1e-6, atol=1e-9 * (1.0 + np.nanmax(np.abs(found[n]))))


def test_new_channels_are_in_no_default_table() -> None:
    c = lw.load("wiper").cycle(steps=24)
    listed = {"D.jerk", "coupler.P.jerk", "coupler.P.jx", "coupler.P.curvature", "D.advantage", "D.force_transmission_angle"}
    assert listed <= set(c.channels) and not listed & set(c._main_channels())
    assert "D.advantage.coupler.P" not in c.channels and c["D.advantage.coupler.P"].shape == (25,)
    assert c.unit("D.jerk")[0] == "deg/s^3" and c.unit("coupler.P.curvature")[0] == "1/mm" and c.unit("coupler.P.jx")[0] == "m/s^3"
    assert c["coupler.P.curvature", "1/m"][3] == c["coupler.P.curvature"][3]


def test_files_hold_what_jerk_needs(tmp_path) -> None:
    c = lw.load("3-rrr").cycle(steps=40)
    c.save(tmp_path / "turn.npz")
    again = lw.load_result(tmp_path / "turn.npz")
    assert again.identical(c) and (again["link4.angle.jerk"] == c["link4.angle.jerk"]).all()
    np.testing.assert_allclose(c[10:25]["link4.angle.jerk"], c["link4.angle.jerk"][10:25], rtol=1e-12)
    one = c[3:5]  # few samples are read one by one, by complex steps
    np.testing.assert_allclose(one["link4.angle.jerk"], c["link4.angle.jerk"][3:5], rtol=1e-10)
    at = c.instant(7)
    assert c._channel("link4.angle.jerk").read(at) == pytest.approx(c["link4.angle.jerk"][7], rel=1e-10)
    with refused(ChannelError, name="jerk"):
        c._channel("link4.angle.jerk").read(c.state(7).instant)


@sweep(("name", "varied"), [("wiper", "crank.B.x"), ("four-bar", "L1"), ("punch-press", "rod.K.x")], now=1)
def test_many_designs_read_as_single_turns(name: str, varied: str) -> None:
    m = lw.load(name)
    value = next(p.value for p in compiled_of(m.system).chosen([varied]))
    nominal = m.cycle(steps=60)
    names = [n for n in nominal.channels if n.endswith((".jerk", ".advantage", ".force_transmission_angle", ".curvature"))]
    turns = m.cycles({varied: value * np.linspace(0.98, 1.02, 20)}, steps=60, read=names)
    for i in (0, 13):
        one = turns[i].read(names)
        for n in names:
            x, y = turns[n][i], one[n]
            known = np.isfinite(y) & (np.abs(y) < 1e6)  # an output that rests has an advantage without bounds
            assert np.array_equal(np.isnan(x), np.isnan(y)), n
            np.testing.assert_allclose(x[known], y[known], rtol=1e-7, atol=1e-7, err_msg=n)  # near ends of travel v has few digits


CHANNELS = ("slide.jerk", "rod.angle.jerk", "rod.C.jerk", "slide.advantage", "rod.angle.advantage.slide", "slide.force_transmission_angle",
            "rod.P.curvature", "rod.P.jx")  # fmt: skip


def test_derivatives_are_those_of_differences() -> None:
    m = lw.load({**SLIDER, "bodies": {**SLIDER["bodies"], "rod": {**SLIDER["bodies"]["rod"], "points": {"P": {"at": [0.08, 0.03]}}}}})
    c = m.cycle(steps=71)  # no sample at an end of travel
    d, h = c.derivatives(["r", "l"]), 1e-6
    for k, name in enumerate(("r", "l")):
        value = dict(m.description.parameters)[name]
        ends = [m.with_(**{name: value + s * h}).cycle(steps=71) for s in (1.0, -1.0)]
        for n in CHANNELS:
            rough = (ends[0][n][1:-1] - ends[1][n][1:-1]) / (2 * h)  # the first and last sample are an end of travel
            exact = d[n][1:-1][..., k]
            assert np.abs(exact - rough).max() < 1e-6 * np.abs(rough).max() + 1e-7, n  # h^2 and round-off over h
    with refused(UsageError, name="m", allowed=("r", "l")):
        _ = d["slide.jerk", "m"]
