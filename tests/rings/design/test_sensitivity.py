"""Sensitivity: exact derivatives against central differences of models built anew, the peak's own shift, tolerances, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.parameters import every_parameter
from linkwright.numerics.tolerances import COMPLEX_STEP
from linkwright.rings.design.derivatives import Disturbed
from linkwright.rings.design.sensitivity import Cycle, sensitivity, wanted
from linkwright.system.system import System
from tests.sweeps import sweep

FRAME = {"ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"], "mass": 0.5}, "rocker": {"pins": ["D", "C"], "mass": 0.9}}
DRAWN = {"A": [0, 0], "B": [0.06, 0.08], "C": [0.38, 0.29], "D": [0.4, 0], "E": [0.2, -0.1], "P": [0.25, 0.25]}
RICH = {  # springs, damper, load over position, friction by speed and by load
    "name": "rich",
    "plane": "xy",
    "gravity": [0, -9.81],
    "parameters": {"n": "90 rpm", "w": "0.4 kg", "k": "300 N/m"},
    "drawing": DRAWN,
    "bodies": {**FRAME, "ground": {"pins": ["A", "D"], "points": ["E"]}, "coupler": {"pins": ["B", "C"], "points": ["P"], "mass": "2*w"}},
    "springs": {
        "coil": {"between": ["ground.E", "coupler.P"], "stiffness": "k", "free_length": 0.2},
        "torsion": {"joint": "D", "stiffness": "2 N m/rad"},
    },
    "dampers": {"d": {"joint": "C", "coefficient": "0.05 N m s/rad"}},
    "friction": {"A": {"coulomb": 0.05, "speed": 0.1}, "C": {"mu": 0.2, "radius": "12 mm", "speed": 0.3}},
    "loads": {"push": {"on": "coupler.P", "force": ["5 N/m * coupler.P.x", "-2 N"]}},
    "drive": {"A": "n"},
}
ROD = {  # the coupler is a massless rod, a coupled wheel runs along
    "name": "rod",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {**DRAWN, "W": [0.7, 0], "X": [0.75, 0.1]},
    "bodies": {
        "ground": {"pins": ["A", "D", "W"]},
        "crank": {"pins": ["A"], "points": ["B"], "mass": 0.5, "com": [0.03, 0.04], "inertia": 0.001},
        "rocker": {"pins": ["D"], "points": ["C"], "mass": 0.9, "com": [0.39, 0.15], "inertia": 0.01},
        "wheel": {"pins": ["W"], "points": ["X"], "mass": 1.0, "com": [0.72, 0.01], "inertia": 0.02},
    },
    "rods": {"link": {"between": ["crank.B", "rocker.C"]}},
    "couplings": {"belt": {"from": "D", "to": "W", "ratio": 2}},
    "drive": {"A": "120 rpm"},
}
JIB = {
    "name": "jib",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "E": [0.8, -0.4], "P": [1.0, 0.3], "T": [2.5, 0.6]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["E"]},
        "boom": {"pins": ["A"], "points": ["P", "T"], "mass": 40, "com": [1.2, 0.3], "inertia": 30},
    },
    "cylinders": {"ram": {"between": ["ground.E", "boom.P"], "force": 0}},
    "drive": {"ram": {"moves": [{"to": "0.9 m", "in": "1 s"}, {"to": "0.728 m", "in": "1 s"}]}},
}


def loads_of(s: System, sample):
    """Loads of a model at the drives' positions, speeds and accelerations, by assembly and the default inverse."""
    laws = sample.laws
    cylinders = {c.name for c in s.description.cylinders}
    if cylinders & set(laws):  # a length is no coordinate: walk the model's own program to that instant
        return Cycle(s, None, 4, None).at(sample.at.t, 0).loads
    st = s.assemble({n: law.f for n, law in laws.items()}, {n: law.df for n, law in laws.items()}, guess=s.state(sample.at.q))
    return s.inverse(st, {n: law.ddf for n, law in laws.items()})


def check_every_parameter(m: lw.Mechanism, quantity: str, at: int, only: str = "") -> int:
    """Derivatives at one sample against central differences of models built anew; how many were checked."""
    s = m.system
    c = Cycle(s, None, 12, None)
    sample = c.samples[at]
    w = wanted(s, quantity, list(c.plan.laws))
    base = np.real(w.read(sample.loads))
    assert np.abs(base - w.read(loads_of(s, sample))).max() < 1e-9 * (1 + np.abs(base).max())
    count = 0
    for p in every_parameter(m.description).values():
        if only not in p.name:
            continue
        exact = np.imag(w.read(Disturbed(s, p, False).loads(sample))) / COMPLEX_STEP
        h = 1e-5 * (p.size or 1.0)
        ends = []
        for sign in (1.0, -1.0):
            d = p.stepped(sign * h)
            x = sample
            if p.name == "n":  # the speed itself is the parameter
                laws = {"A": type(sample.laws["A"])(sample.laws["A"].f, p.value + sign * h, 0.0)}
                x = type(sample)(s, sample.at, laws)
            ends.append(np.real(w.read(loads_of(System(d, s.tree.cuts), x))))
        numeric = (ends[0] - ends[1]) / (2 * h)
        # 1e-6: truncation h^2 of a relative step of 1e-5, round-off 1e-12 over that step
        scale = np.abs(numeric).max() + np.abs(base).max() / (p.size or 1.0) + 1e-6
        assert np.abs(exact - numeric).max() < 1e-6 * scale, (p.name, exact, numeric)
        count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "quantity", "at", "least"),
    [
        ("four-bar", "peak A.torque", 3, 30),
        ("four-bar", "peak C.load", 7, 30),
        ("rssr", "peak rocker.moment", 5, 50),
        ("rssr", "peak crank.torque", 2, 50),
        (RICH, "peak A.torque", 4, 28),
        (RICH, "peak C.load", 9, 28),
        (RICH, "peak shaking.moment", 8, 28),
        (ROD, "peak A.torque", 5, 17),
        (ROD, "peak D.load", 5, 17),
    ],
    ids=lambda x: x if isinstance(x, str) else x["name"] if isinstance(x, dict) else str(x),
)
def test_every_derivative_is_that_of_models_built_anew(model, quantity: str, at: int, least: int) -> None:
    assert check_every_parameter(lw.load(model), quantity, at) >= least


@pytest.mark.slow
def test_pins_of_several_links() -> None:
    m = lw.load("carpet-scraper-2007")
    assert check_every_parameter(m, "peak S.load on coupler", 4, "coupler") == 10


@pytest.mark.slow
def test_rods_that_spin_idly_between_ball_joints() -> None:
    assert check_every_parameter(lw.load("delta"), "peak A1.torque", 5, "arm1") >= 19
    assert check_every_parameter(lw.load("delta"), "peak A2.moment", 3, "rod1") >= 16


def test_a_driven_cylinder() -> None:
    """The ram's force at a length: torque balance of the boom in closed form, with numbers moved by hand."""
    m = lw.load(JIB)
    found = sensitivity(m, "max ram.force", ["boom.mass", "boom.com.x", "boom.A.y"], steps=24)
    s = m.system
    c = Cycle(s, None, 24, None)
    w = wanted(s, "max ram.force", ["ram"])
    for name in ("boom.mass", "boom.com.x", "boom.A.y"):
        p = every_parameter(m.description)[name]
        h = 1e-6
        ends = []
        for sign in (1.0, -1.0):
            other = Cycle(System(p.stepped(sign * h)), None, 24, None)
            ends.append(other)
        k = 5
        lengths = c.samples[k].laws["ram"].f
        assert all(abs(o.samples[k].laws["ram"].f - lengths) < 1e-2 for o in ends)
        exact = np.imag(w.read(Disturbed(s, p, False).loads(c.samples[k])))[0] / COMPLEX_STEP
        values = [_force_at(o.system, c.samples[k].laws["ram"]) for o in ends]
        assert exact == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-6)
    assert found["boom.mass"].derivative != 0.0


def _force_at(s: System, law) -> float:
    """Force of the ram by hand: I alpha + m g x = F lever, from the triangle A-E-P alone."""
    d = s.description
    boom = d.body("boom")
    A = np.array(d.joint("A").frame_second.at[:2])
    P, E = np.array(boom.point("P").at[:2]) - A, np.array(d.bodies[0].point("E").at[:2]) - np.array(d.joint("A").frame_first.at[:2])
    com = np.array(boom.com[:2]) - A
    p, e = np.hypot(*P), np.hypot(*E)
    # L^2 = p^2 + e^2 - 2 p e cos(phi): angle, rate and acceleration of P seen from A
    cosine = (p * p + e * e - law.f**2) / (2 * p * e)
    phi = np.arccos(cosine)
    lever = p * e * np.sin(phi) / law.f  # dL/dphi
    rate = law.df / lever
    bend = (p * e * np.cos(phi) - lever**2) / law.f  # d lever / d phi
    accel = (law.ddf - bend * rate**2) / lever
    turned = np.arctan2(E[1], E[0]) + phi - np.arctan2(P[1], P[0])
    x = com[0] * np.cos(turned) - com[1] * np.sin(turned)
    inertia = boom.inertia[2][2] + boom.mass * (com @ com)
    return float((inertia * accel + boom.mass * 9.81 * x) / lever)


def test_the_peak_moves_and_the_derivative_is_still_that_of_the_peak() -> None:
    m = lw.load("four-bar")
    found = sensitivity(m, "peak A.torque", ["L1", "L2", "L3", "L4", "line_mass", "g"], steps=24)
    dense = m.system
    c = Cycle(dense, None, 180, None)
    highest = max(abs(x.loads.tau["A"]) for x in c.samples)
    assert highest <= found.value < highest * (1 + 1e-3)  # at most a degree beside a rounded top
    for name, value in m.description.parameters:
        if name not in ("L1", "L4", "g"):
            continue  # the other lengths are as these
        h = 1e-4 * value
        ends = [sensitivity(m.with_(**{name: value + sign * h}), "peak A.torque", [], steps=24) for sign in (1.0, -1.0)]
        numeric = (ends[0].value - ends[1].value) / (2 * h)
        assert found[name].derivative == pytest.approx(numeric, rel=1e-6, abs=1e-6)
    assert ends[0].at != found.at  # the peak did move
    assert found["line_mass"].derivative == pytest.approx(found.value, rel=1e-12)  # everything is proportional to it


@sweep("quantity", ["rms A.torque", "rms D.load", "mean A.torque"], now=1)
def test_means_over_the_turn(quantity: str) -> None:
    m = lw.load("four-bar")
    found = sensitivity(m, quantity, ["L1", "L3", "g"], steps=18)
    for name in ("L1", "L3", "g"):
        value = dict(m.description.parameters)[name]
        h = 1e-4 * value
        ends = [sensitivity(m.with_(**{name: value + sign * h}), quantity, [], steps=18).value for sign in (1.0, -1.0)]
        assert found[name].derivative == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-6)


@sweep("quantity", ["rms A.torque", "rms C.load", "rms A.power", "rms shaking.moment"], now=["rms C.load"])
def test_both_ways_of_derivatives_agree(quantity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled for all numbers at once, and by imaginary steps one by one."""
    m = lw.load("four-bar")
    chosen = ["L1", "g", *(f"{b}.{n}" for b in ("crank", "coupler", "rocker") for n in ("mass", "com.x", "inertia"))]
    together = sensitivity(m, quantity, chosen, steps=12)
    monkeypatch.setattr("linkwright.rings.design.sensitivity.slopes_by_kernel", lambda *given: None)
    alone = sensitivity(m, quantity, chosen, steps=12)
    size = max(abs(e.derivative) for e in alone.effects)
    assert all(abs(together[e.name].derivative - e.derivative) < 1e-12 * size for e in alone.effects)


def test_scatter_is_what_the_corners_do() -> None:
    m = lw.load("four-bar")
    tolerances = {"L?": "0.01 mm", "line_mass": "0.01 %"}
    found = sensitivity(m, "peak A.torque", ["L?", "line_mass"], tolerances)
    names = [e.name for e in found.effects]
    assert set(names) == {"L1", "L2", "L3", "L4", "line_mass"} and found["L2"].tolerance == pytest.approx(1e-5)
    values = dict(m.description.parameters)
    corner = {n: values[n] + np.sign(found[n].derivative) * found[n].tolerance for n in names}
    highest = sensitivity(m.with_(**corner), "peak A.torque", []).value
    assert found.worst == pytest.approx(highest - found.value, rel=1e-3)  # second order: 1e-4 of the first
    assert found.scatter == pytest.approx(np.sqrt(sum((e.derivative * e.tolerance) ** 2 for e in found.effects)))
    assert [abs(e.per_percent) for e in found.effects] == sorted((abs(e.per_percent) for e in found.effects), reverse=True)
    assert "worst case" in str(found) and "L1" in str(found)
    data = found.as_dict()
    assert data["worst"] == found.worst and data["effects"][0]["parameter"] == names[0]


def test_rows_say_what_a_millimeter_and_a_gram_do() -> None:
    found = sensitivity(lw.load("four-bar"), "peak A.torque", ["crank.B.x", "coupler.mass"], {"coupler.mass": "1 g", "crank.B.x": "1 mm"})
    for name in ("crank.B.x", "coupler.mass"):
        assert found[name].share == pytest.approx(abs(found[name].per_milli)) == pytest.approx(abs(found[name].derivative) * 1e-3)
    assert found["crank.B.x"].per_percent == pytest.approx(found["crank.B.x"].derivative * 0.003)  # 1 % of 0.3 m


def test_statics_and_other_speeds() -> None:
    m = lw.load("four-bar")
    still = sensitivity(m, "peak A.torque", ["g", "line_mass"], speed=0, steps=36)
    assert still["g"].derivative * 9.81 == pytest.approx(still.value, rel=1e-12)  # nothing but weight
    fast = sensitivity(m, "peak A.torque", ["g"], speed="600 rpm", steps=36)
    assert fast.value > 10 * still.value


@sweep("quantity", ["peak A.torque", "max A.power"], now=["peak A.torque"])
def test_speed_as_a_parameter(quantity: str) -> None:
    m = lw.load(RICH)
    found = sensitivity(m, quantity, ["n"], steps=18)
    value = dict(m.description.parameters)["n"]
    ends = [sensitivity(m.with_(n=value + sign * 1e-4), quantity, [], steps=18).value for sign in (1.0, -1.0)]
    assert found["n"].derivative == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-6)


def test_what_is_not_unique_is_refused() -> None:
    with pytest.raises(lw.UsageError, match="not unique"):
        sensitivity(lw.load("door"), "peak H2.load", steps=4)


def test_what_would_lock_is_left_out() -> None:
    m = lw.load("door")
    found = sensitivity(m, "peak H1.torque", steps=4)
    assert any("left out" in note for note in found.notes)
    assert "door.mass" in {e.name for e in found.effects} and "door.middle.x" not in {e.name for e in found.effects}
    # about a vertical axis: I alpha, and I = I_zz + m x^2
    assert found["door.com.x"].derivative / found["door.inertia.zz"].derivative == pytest.approx(2 * 44.8 * 0.4, rel=1e-9)
    with pytest.raises(lw.UsageError, match="cannot vary alone"):
        sensitivity(m, "peak H1.torque", ["door.middle.x"], steps=4)


def test_singular_positions_have_no_derivatives_for_dimensions() -> None:
    """A parallelogram lying flat: the weight's torque is greatest there, and the links can no longer change their lengths."""
    found = sensitivity(lw.load("parallelogram-middle"), "peak A.torque", speed=0, steps=12)
    names = {e.name for e in found.effects}
    assert "coupler.mass" in names and not names & {"crank.B.x", "rocker.C.x", "coupler.C.x"}
    assert any("singular" in note for note in found.notes)


def test_wheels_that_mesh_keep_their_places() -> None:
    gears = {
        "name": "gears",
        "plane": "xy",
        "parameters": {"r": 0.1, "w": "2 kg"},
        "gravity": [0, -9.81],
        "drawing": {"A": [0, 0], "B": [0.3, 0]},
        "bodies": {
            "ground": {"pins": ["A", "B"]},
            "small": {"pins": ["A"], "mass": 1, "com": [0.02, 0], "inertia": 0.01},
            "large": {"pins": ["B"], "mass": "w", "com": [0.35, 0.03], "inertia": 0.05},
        },
        "gears": {"mesh": {"joints": ["A", "B"], "radii": ["r", 0.2]}},
        "drive": {"A": "60 rpm"},
    }
    m = lw.load(gears)
    assert check_every_parameter(m, "peak B.load", 4, "large.com") == 2
    found = sensitivity(m, "peak B.load", steps=12)
    assert {e.name.split(".")[1] for e in found.effects} == {"mass", "com", "inertia"}
    with pytest.raises(lw.UsageError, match="cannot vary alone"):
        sensitivity(m, "peak B.load", ["r"], steps=12)


@pytest.mark.parametrize(
    ("quantity", "parameters", "tolerances", "words"),
    [
        ("torque", None, None, "peak A.torque"),
        ("highest A.torque", None, None, "peak"),
        ("peak B.torque", None, None, "no drive"),
        ("peak Z.load", None, None, "no joint"),
        ("max C.load", None, None, "peak and an rms"),
        ("peak A.torque", ["L9"], None, "no parameter"),
        ("peak A.torque", None, {"L9": 1}, "tolerance"),
        ("peak A.torque", ["L1"], {"L1": "-1 mm"}, "half width"),
        ("peak A.torque", ["crank.mass"], {"crank.mass": "1 mm"}, "mass"),
        ("peak A.torque", ["L1"], {"L1": "wide"}, "is no range, tolerance"),
    ],
)
def test_wrong_wishes_are_explained(quantity, parameters, tolerances, words) -> None:
    with pytest.raises(lw.LinkwrightError, match=words):
        sensitivity(lw.load("four-bar"), quantity, parameters, tolerances, steps=4)


@pytest.mark.slow
def test_measures_of_a_turn_have_sensitivities_too() -> None:
    m = lw.load("four-bar")
    names = ["L1", "L2", "L3", "L4"]
    for text in ("stroke D", "min C.transmission_angle", "dwell D within 5 deg", "max D.jerk"):
        r = m.sensitivity(text, parameters=names, tolerances={"L1": "1 mm"})
        assert r.value == m.cycle().measure(text) and r.worst == pytest.approx(1e-3 * abs(r["L1"].derivative))
        h = 1e-6
        for name in names:
            value = dict(m.description.parameters)[name]
            ends = [m.with_(**{name: value + s * h}).cycle().measure(text) for s in (1.0, -1.0)]
            exact = max(abs(e.derivative) for e in r.effects)
            assert r[name].derivative == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-5 * exact)  # h^2, round-off over h
    every = m.sensitivity("stroke D")
    assert every["crank.mass"].derivative == 0.0 and every.unit == "rad"
    with pytest.raises(lw.UsageError, match="Write stroke CHANNEL"):
        m.sensitivity("stroke")
