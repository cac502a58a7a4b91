"""Balancing: the regressor against the inverse, the four-bar against Berkof and Lowen, limits, and the model it gives back."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.model.file import write
from linkwright.results.state import State
from linkwright.rings.design.optimization.balancing import CycleCurves, _least_squares, balance
from linkwright.rings.design.optimization.mass_design import _Problem, counterweight_blocks, redistribution_blocks
from linkwright.system.inertia_regressor import regressor
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused
from tests.sweeps import sweep

OBLIQUE = {  # a four-bar whose coupler carries its mass off the line of its pins
    "name": "oblique",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.06, 0.08], "C": [0.38, 0.29], "D": [0.4, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"], "mass": 0.7, "com": [0.02, 0.05], "inertia": 0.001},
        "coupler": {"pins": ["B", "C"], "mass": 1.3, "com": [0.2, 0.27], "inertia": 0.02},
        "rocker": {"pins": ["D", "C"], "mass": 0.9, "com": [0.41, 0.12], "inertia": 0.008},
    },
    "drive": {"A": "300 rpm"},
}


def dynamic_shaking(m: lw.Mechanism, steps: int, about=(0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """Shaking force and moment of a model through its own inverse dynamics, weight taken off by turning gravity off."""
    still = lw.compile(m.with_(gravity=0))
    c = mechanism_of(still).cycle(steps=steps)
    parts = [still.inverse(State(c.skel, *row), a).shaking(about) for *row, a in zip(c.q, c.v, c.references, c.t, c.a, strict=True)]
    return np.array([f for f, _ in parts]), np.array([x for _, x in parts])


@sweep("name", ["four-bar", "carpet-scraper-2007", "rssr", "3-rrr"], now=3)
def test_the_columns_add_up_to_the_inverse(name: str) -> None:
    m = lw.load(name)
    s = m.system
    c = mechanism_of(s).cycle(steps=8)
    about = np.array([0.3, -0.2, 0.0 if s.description.planar else 0.4])
    reg = regressor(s, c, about, weight=True)
    force, moment, effort = reg.curves(reg.theta)
    for i in range(len(c)):
        loads = s.inverse(State(c.skel, c.q[i], c.v[i], c.references[i], float(c.t[i])), c.a[i])
        f, x = loads.shaking(about)
        size = 1e-11 * (1.0 + np.abs(f).max())  # round-off of sums over a dozen bodies
        assert np.abs(force[i] - f).max() < size and np.abs(moment[i] - x).max() < size
        assert np.abs(effort[i] - loads.u).max() < 1e-11 * (1.0 + np.abs(loads.u).max())


def test_springs_and_loads_stay_in_the_efforts() -> None:
    m = lw.load({**OBLIQUE, "springs": {"k": {"joint": "D", "stiffness": "3 N m/rad", "free_position": "20 deg"}}})
    s = m.system
    c = mechanism_of(s).cycle(steps=6)
    reg = regressor(s, c, np.zeros(3))
    effort = reg.curves(reg.theta)[2]
    assert np.abs(reg.effort_rest).max() > 0.1
    for i in range(len(c)):
        loads = s.inverse(State(c.skel, c.q[i], c.v[i], c.references[i], float(c.t[i])), c.a[i])
        assert abs(effort[i, 0] - loads.tau["A"]) < 1e-11 * (1.0 + abs(loads.tau["A"]))


@sweep("model", ["four-bar", "wiper", OBLIQUE], now=2, ids=["four-bar", "wiper", "oblique"])
def test_four_bar_is_force_balanced_as_berkof_and_lowen_say(model) -> None:
    m = lw.load(model)
    b = balance(m, counterweights={"crank": {"mass": 50}, "rocker": {"mass": 50}}, steps=36)
    assert b.after.peak("force") < 1e-9 * b.before.peak("force")
    force, _ = dynamic_shaking(b.mechanism, 20)  # other samples, gravity switched off, computed by the inverse
    assert np.abs(force).max() < 1e-9 * b.before.peak("force")

    # Berkof and Lowen with complex numbers: the coupler's mass splits into m3 (1 - w) at B and m3 w at C, w = its center's
    # place on the line B-C taken as 1; then the crank's and the rocker's moments about their pivots must vanish.
    d = b.mechanism.description.numbers()
    place = {j.name: {j.first: complex(*j.frame_first.at[:2]), j.second: complex(*j.frame_second.at[:2])} for j in d.joints}
    mass = {x.name: x.mass for x in d.bodies}
    com = {x.name: complex(*x.com[:2]) for x in d.bodies}
    w = (com["coupler"] - place["B"]["coupler"]) / (place["C"]["coupler"] - place["B"]["coupler"])
    for body, pivot, pin, share in (("crank", "A", "B", 1 - w), ("rocker", "D", "C", w)):
        r, link = com[body] - place[pivot][body], place[pin][body] - place[pivot][body]
        assert abs(mass[body] * r + mass["coupler"] * share * link) < 1e-12 * (mass["coupler"] * abs(link))


def test_counterweights_of_uniform_rods_in_closed_form() -> None:
    """1 kg/m: the crank carries itself and half the coupler, m_w = (m1/2 + m2/2) L1/L1 = 0.6 kg at its own length."""
    b = balance(lw.load("four-bar"))
    found = {c.body: c for c in b.counterweights}
    assert found["crank"].mass == pytest.approx(0.15 + 0.45, rel=1e-9) and found["rocker"].mass == pytest.approx(0.375 + 0.45, rel=1e-9)
    assert found["crank"].at[0] == pytest.approx(-0.3, rel=1e-9) and found["rocker"].at[0] == pytest.approx(-0.75, rel=1e-9)
    assert b.added_mass == pytest.approx(1.425, rel=1e-9)


def test_a_balanced_four_bar_stands_on_its_weight_alone() -> None:
    b = balance(lw.load("wiper"), counterweights={"crank": {"mass": 5}, "rocker": {"mass": 5}}, steps=24)
    s = b.mechanism.system
    c = mechanism_of(s).cycle(steps=10)
    total = sum(x.mass for x in s.description.bodies[1:])
    for row in zip(c.q, c.v, c.references, c.t, c.a, strict=True):
        force, _ = s.inverse(State(c.skel, *row[:4]), row[4]).shaking()
        assert np.allclose(force, [0, -9.81 * total, 0], atol=1e-9 * b.before.peak("force"))


def test_limits_bind_and_nothing_nearby_is_better(rng: np.random.Generator) -> None:
    limits = {"crank": {"mass": 0.2, "radius": 0.2}, "rocker": {"mass": "300 g", "radius": "250 mm", "at": "D"}}
    weights = {"force": 1.0, "moment": 0.5, "torque": 0.3}
    b = balance(lw.load("four-bar"), weights=weights, counterweights=limits, steps=36)
    found = {c.body: c for c in b.counterweights}
    assert all(found[n].mass <= most * (1 + 1e-12) for n, most in (("crank", 0.2), ("rocker", 0.3)) if n in found)
    assert all(found[n].radius <= r * (1 + 1e-12) for n, r in (("crank", 0.2), ("rocker", 0.25)) if n in found)

    def cost(curves) -> float:
        keep = slice(0, -1)
        return sum(w * (curves.rms(g, keep) / b.before.rms(g, keep)) ** 2 for g, w in weights.items())

    m = lw.load("four-bar")
    s = m.system
    reg = regressor(s, mechanism_of(s).cycle(steps=36), np.zeros(3))
    best = cost(b.after)
    assert best < cost(b.before)
    names = reg.bodies
    for _ in range(300):
        theta = reg.theta.copy()
        for n, most, radius in (("crank", 0.2, 0.2), ("rocker", 0.3, 0.25)):
            mass, r, angle = most * rng.uniform(), radius * rng.uniform(), rng.uniform(0, 2 * np.pi)
            x, y = r * np.cos(angle), r * np.sin(angle)
            theta[names.index(n)] += mass * np.array([1.0, x, y, x * x + y * y])
        assert cost(CycleCurves(*reg.curves(theta), np.arange(37.0))) > best * (1 - 1e-9)


@pytest.mark.parametrize("name", ["four-bar", "punch-press"])
def test_the_least_squares_are_the_weighted_sum(name: str, rng: np.random.Generator) -> None:
    """|A dtheta + r0|^2 = sum of weight (rms / rms before)^2 for any change of the masses: the sum of the weights without one."""
    m = lw.load(name)
    s, weights = m.system, {"force": 1.0, "moment": 0.5, "torque": 0.3}
    c = mechanism_of(s).cycle(steps=24)
    reg = regressor(s, c, np.zeros(3))
    blocks = counterweight_blocks(m.description.numbers(), ["crank"])
    A, r0 = _least_squares(s, reg, c, weights, blocks)
    assert r0 @ r0 == pytest.approx(1.8, rel=1e-12)
    change = rng.normal(size=len(reg.names))
    theta = reg.theta.copy()
    theta[reg.bodies.index("crank")] += change
    keep = slice(0, -1) if c.full_turn else slice(None)
    before, after = CycleCurves(*reg.curves(reg.theta), c.t), CycleCurves(*reg.curves(theta), c.t)
    wanted = sum(w * (after.rms(g, keep) / before.rms(g, keep)) ** 2 for g, w in weights.items())
    assert np.sum((A @ change + r0) ** 2) == pytest.approx(wanted, rel=1e-10)  # round-off of a QR decomposition


def test_gradients_are_exact(rng: np.random.Generator) -> None:
    for name in ("four-bar", "rssr"):
        d = lw.load(name).description.numbers()
        blocks = [
            *counterweight_blocks(d, {"crank": {"mass": 2, "radius": 0.3}, "coupler": {}}),
            *redistribution_blocks(d, {"rocker": {"mass": (0.1, 3), "com": "50 mm", "inertia": (0.5, 2)}}),
        ]
        names = ("m", "mx", "my", "Izz") if d.planar else ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
        p = _Problem(rng.normal(size=(30, len(names) * 3)), rng.normal(size=30), tuple(blocks), names)
        x = rng.uniform(0.1, 0.5, len(p.box[0]))
        slope, h = p.slope(x), 1e-6
        numeric = np.array([(p.residual(x + h * e) - p.residual(x - h * e)) / (2 * h) for e in np.eye(len(x))]).T
        assert np.abs(slope - numeric).max() < 1e-8 * (1 + np.abs(slope).max())  # central differences: h^2 and round-off/h


def test_redistribution_keeps_to_its_bounds_and_is_what_the_model_says() -> None:
    bounds = {"coupler": {"mass": (1.0, 1.6), "com": "40 mm", "inertia": (0.8, 1.5)}, "rocker": {"com": 0.05}}
    b = balance(lw.load(OBLIQUE), weights={"force": 1, "moment": 1}, bounds=bounds, counterweights=["crank"], steps=24, about="ground.D")
    change = {x.body: x for x in b.bodies}
    assert 1.0 - 1e-12 <= change["coupler"].mass[1] <= 1.6 + 1e-12
    assert np.abs(change["coupler"].com[1] - change["coupler"].com[0]).max() <= 0.04 + 1e-12
    assert 0.8 - 1e-12 <= change["coupler"].inertia[1][2, 2] / change["coupler"].inertia[0][2, 2] <= 1.5 + 1e-12
    assert change["rocker"].mass[0] == change["rocker"].mass[1]
    for goal in ("force", "moment"):
        assert b.norms[goal]["rms_after"] < b.norms[goal]["rms_before"]
    force, moment = dynamic_shaking(b.mechanism, 24, np.array([0.4, 0, 0]))
    assert np.abs(force - b.after.force).max() < 1e-9 * b.before.peak("force")
    assert np.abs(moment - b.after.moment).max() < 1e-9 * b.before.peak("moment")


@pytest.mark.slow
def test_scraper_and_rssr_become_quieter() -> None:
    three = balance(lw.load("carpet-scraper-2007"), steps=36)  # crank, rocker and arm: not enough for seven links
    assert three.norms["force"]["rms_after"] < 0.2 * three.norms["force"]["rms_before"]
    space = balance(lw.load("rssr"), steps=36)
    assert space.after.peak("force") < 1e-9 * space.before.peak("force")  # the thin coupler's center lies on its line of pins
    force, _ = dynamic_shaking(space.mechanism, 10)
    assert np.abs(force).max() < 1e-9 * space.before.peak("force")
    all_three = balance(lw.load("rssr"), weights={"force": 1, "moment": 0.5, "torque": 0.5}, steps=36)
    assert all(n["rms_after"] < n["rms_before"] for n in all_three.norms.values())


@sweep("name", ["punch-press", "excavator", "delta"], now=1)
def test_any_driven_machine_can_be_asked(name: str) -> None:
    b = balance(lw.load(name), steps=12)
    assert b.norms["force"]["rms_after"] < 0.6 * b.norms["force"]["rms_before"]


def test_weight_may_count() -> None:
    b = balance(lw.load("four-bar"), weights={"moment": 1}, weight=True, steps=24)
    s = lw.load("four-bar").system
    c = mechanism_of(s).cycle(steps=24)
    force, _ = s.inverse(State(compiled_of(s).skel, c.q[0], c.v[0], s.start.references)).shaking()
    assert b.before.force[0] == pytest.approx(force, abs=1e-9)
    assert b.norms["moment"]["rms_after"] < b.norms["moment"]["rms_before"]


def test_the_result_prints_and_saves(tmp_path) -> None:
    b = balance(lw.load("four-bar"), steps=12)
    assert "shaking force" in str(b) and "crank" in str(b)
    data = b.as_dict()
    assert data["norms"]["force"]["rms_before"] > 1 and len(data["angle"]) == 13 and data["counterweights"][0]["body"] == "crank"
    again = lw.load(b.mechanism.save(tmp_path / "balanced.yaml"))
    assert again.description.body("crank").mass == pytest.approx(0.9, rel=1e-12)
    path = tmp_path / "mine.yaml"
    path.write_text("# mine\n" + write(lw.load("four-bar", g=0).description.numbers()), encoding="utf-8")
    text = balance(lw.load(path), steps=12).mechanism.save(tmp_path / "kept.yaml").read_text(encoding="utf-8")
    assert text.startswith("# mine\n") and lw.load(tmp_path / "kept.yaml").description.body("crank").mass == pytest.approx(0.9, rel=1e-12)
    assert b.mechanism.with_(g=0).description.numbers().body("rocker").mass == pytest.approx(1.575, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": {"forse": 1}}, "force"),
        ({"weights": {"force": 0}}, "zero"),
        ({"weights": {"force": -1}}, "positive"),
        ({"counterweights": ["kurbel"]}, "crank"),
        ({"counterweights": ["ground"]}, "moving body"),
        ({"counterweights": {"crank": {"weight": 1}}}, "mass"),
        ({"counterweights": {"crank": {"radius": 0}}}, "positive"),
        ({"counterweights": {"crank": {"at": "Z"}}}, "Known"),
        ({"counterweights": []}, "nothing may change"),
        ({"bounds": {"crank": {"mass": 1}}}, "least, most"),
        ({"bounds": {"crank": {"mass": (2, 1)}}}, "least <= most"),
        ({"about": [1, 2, 3, 4]}, "fixed point"),
    ],
)
def test_wrong_wishes_are_explained(options, words) -> None:
    with pytest.raises(lw.UsageError, match=words):
        balance(lw.load("four-bar"), steps=4, **options)


def test_masses_are_needed() -> None:
    bare = {**OBLIQUE, "bodies": {**OBLIQUE["bodies"], "coupler": {"pins": ["B", "C"]}}}
    with refused(lw.UsageError, name="mass"):
        balance(lw.load(bare), steps=4)


def test_efforts_that_jump_are_not_given_as_exact():
    """Peak and RMS of a press over 72 samples are off by as much as the jump between two of them; a smooth machine has no such note."""
    press = {**OBLIQUE, "loads": {"work": {"on": "rocker.C", "force": ["200 N * max(0, min(1, (rocker.C.x - 0.33 m)/(0.01 mm)))", 0]}}}
    jumping, smooth = lw.load(press).balance(), lw.load(OBLIQUE).balance()
    note = next(n for n in jumping.notes if "jumps by" in n)
    assert "figures are good to about" in note and note in str(jumping)
    exact = lw.load(press).cycle(steps=7200)
    share = float(note.split("about ")[1].split(" %")[0]) / 100
    assert abs(jumping.norms["torque"]["peak_before"] / exact.measure("peak A.torque") - 1) < share
    assert not any("jumps" in n for n in smooth.notes)
