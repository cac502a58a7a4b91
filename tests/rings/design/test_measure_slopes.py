"""Exact derivatives of measures against central differences of models built anew, the peak's own shift, tolerances, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.parameters import every_parameter
from linkwright.results.measures import measure
from linkwright.rings.design.measure_slopes import DisturbedSamples, Sample, _used, cycle_samples
from linkwright.system.system import System
from tests.refusals import refused
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


def effects(m: lw.Mechanism, quantity: str, names=None, *, steps: int = 24, speed=None):
    """Derivatives of one measure without tolerances, and the analysis with its notes."""
    found = m.tolerances(names, quantity, case=lw.Cycle(steps=steps, speed=speed))
    assert found.method == "linear" and found.exact
    return found.results[0], found


def channel_at(s: System, channel: str, sample: Sample) -> np.ndarray:
    """A channel of a model at the drives' positions, speeds and accelerations, by assembly and the default inverse."""
    laws = sample.laws
    st = s.assemble({n: law.f for n, law in laws.items()}, {n: law.df for n, law in laws.items()}, guess=s.state(sample.at.q))
    loads = s.inverse(st, {n: law.ddf for n, law in laws.items()})
    kind, name = channel.rpartition(".")[2], channel.rpartition(".")[0]
    if kind in ("load", "moment") and name != "shaking":
        w = loads.reaction(name)
        return np.linalg.norm(w.force if kind == "load" else w.moment)
    if name == "shaking":
        return loads.ground_wrench[1][2]
    if ".on." in channel:
        return loads.on(*channel.split(".on.")).force[:2]
    return loads.tau[name]


def check_every_parameter(m: lw.Mechanism, channel: str, at: int, only: str = "") -> int:
    """Derivatives at one sample against central differences of models built anew; how many were checked."""
    s, c = m.system, m.cycle(steps=12)
    sample = cycle_samples(c, [at])[at]
    base = np.abs(c[channel][at]) if channel.endswith("moment") and channel != "shaking.moment" else c[channel][at]
    assert np.abs(base - channel_at(s, channel, sample)).max() < 1e-9 * (1 + np.abs(base).max())
    sign_of = np.sign(c[channel][at]) if channel.endswith("moment") and channel != "shaking.moment" else 1.0
    count = 0
    for p in every_parameter(m.description).values():
        if only not in p.name:
            continue
        exact = sign_of * DisturbedSamples(c, p, {at: sample}).read([channel])[channel][at, ..., 0]
        h = 1e-5 * (p.size or 1.0)
        ends = []
        for sign in (1.0, -1.0):
            x = sample
            if p.name == "n":  # the speed itself is the parameter
                laws = {"A": type(sample.laws["A"])(sample.laws["A"].f, p.value + sign * h, 0.0)}
                x = Sample(s, sample.at, laws)
            ends.append(channel_at(System(p.stepped(sign * h), s.tree.cuts), channel, x))
        numeric = (ends[0] - ends[1]) / (2 * h)
        # 1e-6: truncation h^2 of a relative step of 1e-5, round-off 1e-12 over that step
        scale = np.abs(numeric).max() + np.abs(base).max() / (p.size or 1.0) + 1e-6
        assert np.abs(exact - numeric).max() < 1e-6 * scale, (p.name, exact, numeric)
        count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "channel", "at", "least"),
    [
        ("four-bar", "A.torque", 3, 30),
        ("four-bar", "C.load", 7, 30),
        ("rssr", "rocker.moment", 5, 50),
        ("rssr", "crank.torque", 2, 50),
        (RICH, "A.torque", 4, 28),
        (RICH, "C.load", 9, 28),
        (RICH, "shaking.moment", 8, 28),
        (ROD, "A.torque", 5, 17),
        (ROD, "D.load", 5, 17),
    ],
    ids=lambda x: x if isinstance(x, str) else x["name"] if isinstance(x, dict) else str(x),
)
def test_every_derivative_is_that_of_models_built_anew(model, channel: str, at: int, least: int) -> None:
    assert check_every_parameter(lw.load(model), channel, at) >= least


@pytest.mark.slow
def test_pins_of_several_links() -> None:
    m = lw.load("carpet-scraper-2007")
    assert check_every_parameter(m, "S.on.coupler", 4, "coupler") == 10


@pytest.mark.slow
def test_rods_that_spin_idly_between_ball_joints() -> None:
    assert check_every_parameter(lw.load("delta"), "A1.torque", 5, "arm1") >= 19
    assert check_every_parameter(lw.load("delta"), "A2.moment", 3, "rod1") >= 16


def test_a_driven_cylinder() -> None:
    """The ram's force at a length: torque balance of the boom in closed form, with numbers moved by hand."""
    m = lw.load(JIB)
    c, k = m.cycle(steps=24), 5
    sample = cycle_samples(c, [k])[k]
    found, _ = effects(m, "max ram.force", ["boom.mass", "boom.com.x", "boom.A.y"])
    for name in ("boom.mass", "boom.com.x", "boom.A.y"):
        p, h = every_parameter(m.description)[name], 1e-6
        exact = DisturbedSamples(c, p, {k: sample}).read(["ram.force"])["ram.force"][k, 0]
        values = [_force_at(System(p.stepped(sign * h)), sample.laws["ram"]) for sign in (1.0, -1.0)]
        assert exact == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-6)
        assert c.derivatives([name])["ram.force", name][k] == pytest.approx(exact, rel=1e-9)
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
    found, _ = effects(m, "peak A.torque", ["L1", "L2", "L3", "L4", "line_mass", "g"], steps=72)
    highest = np.abs(m.cycle(steps=180)["A.torque"]).max()
    assert highest <= found.nominal < highest * (1 + 1e-3)  # at most a degree beside a rounded top
    for name, value in m.description.parameters:
        h = 1e-4 * value
        ends = [m.with_(**{name: value + sign * h}).cycle(steps=360).measure("peak A.torque") for sign in (1.0, -1.0)]
        # h^2 is 1e-8 of it; 72 samples locate the peak to 1e-8 of it, and its slope to 1e-5
        assert found[name].derivative == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=2e-5, abs=1e-5)
    assert effects(m.with_(L1=0.31), "peak A.torque", ["L1"])[0].at != found.at  # the peak did move
    assert found["line_mass"].derivative == pytest.approx(found.nominal, rel=1e-12)  # everything is proportional to it


@sweep("quantity", ["rms A.torque", "rms D.load", "mean A.torque"], now=1)
def test_means_over_the_turn(quantity: str) -> None:
    m = lw.load("four-bar")
    found, _ = effects(m, quantity, ["L1", "L3", "g"], steps=18)
    for name in ("L1", "L3", "g"):
        value = dict(m.description.parameters)[name]
        h = 1e-4 * value
        ends = [m.with_(**{name: value + sign * h}).cycle(steps=18).measure(quantity) for sign in (1.0, -1.0)]
        assert found[name].derivative == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-6)


@sweep("quantity", ["rms A.torque", "rms C.load", "rms A.power", "peak shaking.moment"], now=["rms C.load"])
def test_both_paths_of_derivatives_agree(quantity: str) -> None:
    """Compiled for all numbers at once, and by imaginary steps one by one."""
    m = lw.load("four-bar")
    chosen = ["L1", "g", *(f"{b}.{n}" for b in ("crank", "coupler", "rocker") for n in ("mass", "com.x", "inertia"))]
    c, one = m.cycle(steps=12), measure(quantity)
    together = one.slopes(c, c.derivatives(chosen))
    known, samples = every_parameter(m.description), cycle_samples(c, _used(c, one))
    alone = [one.slopes(c, DisturbedSamples(c, known[name], samples))[0] for name in chosen]
    assert np.abs(together - alone).max() < 1e-12 * np.abs(alone).max()


def test_the_worst_case_is_what_the_corners_do() -> None:
    m = lw.load("four-bar")
    t = m.tolerances({"L?": "0.01 mm", "line_mass": "0.01 %"}, "peak A.torque", method="corners", limits=(None, "4.538 N m"))
    (found,) = t.results
    names = [e.name for e in found.contributions]
    assert set(names) == {"L1", "L2", "L3", "L4", "line_mass"} and found["L2"].tolerance == pytest.approx(1e-5)
    assert len(t.study) == 32 and found.corners is not None
    assert found.corners == pytest.approx((found.nominal - found.worst, found.nominal + found.worst), rel=1e-6)  # second order: 1e-7
    assert found.corners_outside == int((t.study["peak A.torque"] > 4.538).sum()) and "of 32 corners" in str(t)
    assert found.rss == pytest.approx(np.sqrt(sum((e.derivative * e.tolerance) ** 2 for e in found.contributions)))
    assert found.deviation == pytest.approx(found.rss / 3.0)  # a tolerance is three standard deviations
    assert [e.share for e in found.contributions] == sorted((e.share for e in found.contributions), reverse=True)
    linear = m.tolerances({"L?": "0.01 mm", "line_mass": "0.01 %"}, "peak A.torque", method="linear")
    assert len(linear.study) == 0 and linear.results[0].worst == pytest.approx(found.worst, rel=1e-12)
    assert "worst case" in str(linear) and "drawn" not in str(linear) and linear.as_dict()["method"] == "linear"


def test_many_corners_are_refused() -> None:
    with refused(lw.UsageError, name="plan"):
        lw.load("wiper").tolerances({"crank.*.?": "1 mm", "[cr]o*.*.?": "1 mm", "ground.*": "1 mm"}, "max D", method="corners")


def test_rows_say_what_a_millimeter_and_a_gram_do() -> None:
    m = lw.load("four-bar")
    found = m.tolerances({"coupler.mass": "1 g", "crank.B.x": "1 mm"}, "peak A.torque", method="linear").results[0]
    for name in ("crank.B.x", "coupler.mass"):
        assert found[name].makes == pytest.approx(abs(found[name].per_milli)) == pytest.approx(abs(found[name].derivative) * 1e-3)
    assert found["crank.B.x"].per_percent == pytest.approx(found["crank.B.x"].derivative * 0.003)  # 1 % of 0.3 m
    plain, _ = effects(m, "peak A.torque", ["crank.B.x", "coupler.mass"])
    sizes = [abs(e.per_percent) for e in plain.contributions]
    assert sizes == sorted(sizes, reverse=True) and not plain.has_tolerances and plain["coupler.mass"].tolerance is None


def test_statics_and_other_speeds() -> None:
    m = lw.load("four-bar")
    still, _ = effects(m, "peak A.torque", ["g", "line_mass"], speed=0, steps=36)
    assert still["g"].derivative * 9.81 == pytest.approx(still.nominal, rel=1e-12)  # nothing but weight
    fast, _ = effects(m, "peak A.torque", ["g"], speed="600 rpm", steps=36)
    assert fast.nominal > 10 * still.nominal


@sweep("quantity", ["peak A.torque", "max A.power"], now=["peak A.torque"])
def test_speed_as_a_parameter(quantity: str) -> None:
    m = lw.load(RICH)
    found, _ = effects(m, quantity, ["n"], steps=72)
    value = dict(m.description.parameters)["n"]
    ends = [m.with_(n=value + sign * 1e-4).cycle(steps=72).measure(quantity) for sign in (1.0, -1.0)]
    assert found["n"].derivative == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-6)
    given, _ = effects(m, quantity, ["n"], steps=18, speed="50 rpm")
    assert given["n"].derivative == 0.0  # a speed that the call gives does not vary


def test_what_is_not_unique_is_refused() -> None:
    with refused(lw.UsageError, name="door.mass"):
        effects(lw.load("door"), "peak H2.load", steps=4)


def test_what_would_lock_is_left_out() -> None:
    m = lw.load("door")
    found, t = effects(m, "peak H1.torque", steps=4)
    assert any("left out" in note and "cannot vary alone" in note for note in t.notes)
    assert "door.mass" in {e.name for e in found.contributions} and "door.middle.x" not in {e.name for e in found.contributions}
    # about a vertical axis: I alpha, and I = I_zz + m x^2
    assert found["door.com.x"].derivative / found["door.inertia.zz"].derivative == pytest.approx(2 * 44.8 * 0.4, rel=1e-9)
    with refused(lw.UsageError, name="door.middle.x"):
        effects(m, "peak H1.torque", ["door.middle.x"], steps=4)


def test_singular_positions_have_no_derivatives_for_dimensions() -> None:
    """A parallelogram lying flat: the weight's torque is greatest there, and the links can no longer change their lengths."""
    found, t = effects(lw.load("parallelogram-middle"), "peak A.torque", speed=0, steps=12)
    names = {e.name for e in found.contributions}
    assert "coupler.mass" in names and not names & {"crank.B.x", "rocker.C.x", "coupler.C.x"}
    assert any("singular" in note for note in t.notes)


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
    assert check_every_parameter(m, "B.load", 4, "large.com") == 2
    found, _ = effects(m, "peak B.load", steps=12)
    assert {e.name.split(".")[1] for e in found.contributions} == {"mass", "com", "inertia"}
    with refused(lw.UsageError, name="r"):
        effects(m, "peak B.load", ["r"], steps=12)


@pytest.mark.parametrize(
    ("quantity", "vary", "words"),
    [
        ("torque", ["L1"], "is not a measure"),
        ("highest A.torque", ["L1"], "is not a measure"),
        ("peak S.load on coupler", ["L1"], r"column 6: the load of a pin on a body is the channel S\.on\.coupler"),
        ("peak B.torque", ["L1"], "no channel"),
        ("peak Z.load", ["L1"], "no channel"),
        ("peak A.torque", ["L9"], "no parameter"),
        ("peak A.torque", [], "no number is named"),
        ("peak A.torque", {"L9": 1}, "no number 'L9'"),
        ("peak A.torque", {"L1": "-1 mm"}, "half width"),
        ("peak A.torque", {"crank.mass": "1 mm"}, "mass"),
        ("peak A.torque", {"L1": "wide"}, "is not a range, tolerance"),
    ],
)
def test_wrong_wishes_are_explained(quantity, vary, words) -> None:
    with pytest.raises(lw.LinkwrightError, match=words):
        lw.load("four-bar").tolerances(vary, quantity, case=lw.Cycle(steps=4), count=2)


@pytest.mark.parametrize(("vary", "method", "name"), [(["L1"], "sobol", "sobol"), ({"L1": "1 mm"}, "drawn", "drawn")])
def test_wrong_methods_are_explained(vary, method, name) -> None:
    with refused(lw.UsageError, name=name):
        lw.load("four-bar").tolerances(vary, "peak A.torque", method=method)


def test_the_old_verb_gives_the_new_one() -> None:
    with pytest.raises(AttributeError, match=r"write tolerances\("):
        _ = lw.load("four-bar").sensitivity


@pytest.mark.slow
def test_measures_of_a_turn_have_derivatives_too() -> None:
    m = lw.load("four-bar")
    names = ["L1", "L2", "L3", "L4"]
    for text in ("stroke D", "min C.transmission_angle", "dwell D within 5 deg", "max D.jerk"):
        (r,) = m.tolerances(names, text).results
        assert r.nominal == m.cycle().measure(text)
        h = 1e-6
        for name in names:
            value = dict(m.description.parameters)[name]
            ends = [m.with_(**{name: value + s * h}).cycle().measure(text) for s in (1.0, -1.0)]
            exact = max(abs(e.derivative) for e in r.contributions)
            assert r[name].derivative == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-5 * exact)  # h^2, round-off over h
    (every,) = m.tolerances(None, "stroke D").results
    assert every["crank.mass"].derivative == 0.0 and every.unit == "rad"
    with pytest.raises(lw.UsageError, match="Write stroke CHANNEL"):
        m.tolerances(None, "stroke")
