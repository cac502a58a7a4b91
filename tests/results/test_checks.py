"""One list of checks: each passed, failed or unknown with its reason, the same wherever it is shown, and never green over an unknown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.model import library
from linkwright.results.checks import Check, Checks
from linkwright.results.measures.extremes import curve_extremes
from linkwright.rings.cli import main
from linkwright.rings.design.studies import execution
from linkwright.rings.studio import report
from tests.refusals import refused
from tests.rings.studio.live.engine_runs import made, run
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("without_curves")

VALVE: dict[str, Any] = {  # its follower leaves the cam above 1952 rpm
    "name": "valve",
    "plane": "xy",
    "units": ["mm", "kg", "deg", "rpm", "N", "N/mm"],
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "R": [0, 28], "T": [0, 100]},
    "bodies": {
        "ground": {"pins": ["A"]},
        "disc": {"pins": ["A"], "mass": 1.2, "com": "A", "inertia": "4e-4 kg m^2"},
        "follower": {"points": ["R", "T"], "mass": 0.18, "com": "T", "inertia": "1e-5 kg m^2"},
    },
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "follower"], "at": "T", "axis": [0, 1]}},
    "cams": {
        "cam": {
            "from": "A", "to": "guide", "roller": {"at": "follower.R", "radius": 8}, "base": 20,
            "moves": [{"to": 9, "in": 60, "law": "modified_sine"}, {"to": 0, "in": 60, "law": "modified_sine"}, {"dwell": 240}],
        }
    },
    "springs": {"return": {"joint": "guide", "stiffness": 25, "preload": "-120 N"}},
    "drive": {"A": "2500 rpm"},
}  # fmt: skip
ARM: dict[str, Any] = {  # a gas spring from the ground to an arm: 300 to 500 mm apart
    "name": "arm",
    "plane": "xy",
    "units": ["mm", "kg", "deg", "N"],
    "drawing": {"A": [0, 0], "G": [-400, 0], "S": [0, 100], "E": [0, 200]},
    "bodies": {"ground": {"pins": ["A"], "points": ["G"]}, "arm": {"pins": ["A"], "points": ["S", "E"], "mass": 1}},
    "springs": {"gas": {"between": ["ground.G", "arm.S"], "force": 100, "length": 450, "stroke": 100}},
    "drive": {"A": {"moves": [{"to": "60 deg", "in": "1 s"}]}},
    "start": {"A": 0},
}
LIMITED: dict[str, Any] = {  # a turning arm whose center of mass is not on its own axis
    "name": "limited",
    "plane": "xy",
    "units": ["m", "kg", "rad"],
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "P": [0.5, 0.03]},
    "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["P"], "mass": 1, "com": "P", "inertia": 0.01}},
    "drive": {"A": "60 rpm"},
}
GENEVA: dict[str, Any] = {
    "name": "index",
    "plane": "xy",
    "units": ["mm", "kg", "deg", "rpm"],
    "drawing": {"A": [0, 0], "T": [100, 0]},
    "bodies": {
        "ground": {"pins": ["A", "T"]},
        "driver": {"pins": ["A"], "mass": 2, "com": "A", "inertia": "1e-3 kg m^2"},
        "wheel": {"pins": ["T"], "mass": 4, "com": "T", "inertia": "0.02 kg m^2"},
    },
    "couplings": {"index": {"from": "A", "to": "T", "ratio": -0.25}},
    "drive": {"A": "60 rpm"},
}


def shown(found: Any) -> list[tuple[str, str]]:
    return [(x["name"], x["verdict"]) for x in found]


def of_report(m: lw.Mechanism, c: lw.Trajectory) -> list[tuple[str, str]]:
    marks = {"ok": "passed", "bad": "failed", "unknown": "unknown"}
    return [(name, marks[mark]) for mark, name in re.findall(r'<li class="(ok|bad|unknown)">.*?<b>(.*?)</b>', report.fragment(m, run=c))]


def test_the_worst_verdict_is_that_of_the_list() -> None:
    good, bad, open_ = Check("loops", "passed"), Check("contact", "failed", "-3 N"), Check("error", "unknown", "not estimated")
    assert Checks((good,)).ok and not Checks(()).ok and not Checks((good, open_)) and Checks((good, open_)).verdict == "unknown"
    every = Checks((good, open_, bad))
    assert every.verdict == "failed" and not every.ok
    assert every.headline == "failed: contact (-3 N); unknown: error (not estimated); passed: loops"
    assert every["error"] is open_ and not open_ and every.names == ["loops", "error", "contact"]
    with refused(lw.UsageError, name="loads", allowed=("loops", "error", "contact")):
        _ = every["loads"]


@sweep("name", library.names(), now=["boot-lid"])
def test_every_place_shows_the_same_list(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    m = lw.load(name)
    c = m.cycle()
    wanted = shown(c.checks().as_dict()["checks"])
    assert main(["cycle", name, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert shown(told["checks"]) == wanted and told["ok"] == c.checks().ok and told["verdict"] == c.checks().verdict
    assert of_report(m, c) == wanted and all(verdict != "failed" for _, verdict in wanted)
    page = made(m.system)
    assert shown(page.data["checks"]) == wanted
    assert shown(run({name: page}, [(name, "return e.checks()", None)])[0])[: len(wanted)] == wanted


def test_a_follower_that_lifts_off_fails_everywhere(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    """Just below the speed that Linkwright's own formula and a hand calculation give (1952 rpm) it passes; page and run alike."""
    m = lw.load(VALVE)
    c, simulated = m.cycle(), m.simulate(0.05)
    for found in (c.checks(), simulated.checks()):
        assert found.verdict == "failed" and [x.name for x in found.failed] == ["contact"]
    check, least = c.checks()["contact"], curve_extremes(c.t, c["cam.contact"]).low
    assert check.value == pytest.approx(least, rel=1e-12) and "pulled with 219.4 N at A = " in check.text and check.limit == 0.0
    assert c.checks().headline.startswith("failed: contact (cam 'cam' loses contact")
    slower, faster = (m.cycle(speed=f"{x} rpm").checks()["contact"].verdict for x in (1950, 1955))
    assert (slower, faster) == ("passed", "failed")
    path = tmp_path / "valve.yaml"
    m.save(path)
    assert main(["simulate", str(path), "0.05", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False and told["verdict"] == "failed" and ("contact", "failed") in shown(told["checks"])
    assert ("contact", "failed") in of_report(m, c) and ("contact", "failed") in of_report(m, simulated)


def test_a_limit_that_is_passed_between_samples_is_not_passed() -> None:
    """Every sample of these runs and cycles is within the limits; the curve between them is not."""
    turn = 60.0 / 1970.0
    coarse = lw.load({**VALVE, "drive": {"A": "1970 rpm"}}).simulate(turn, sample_interval=turn / 60)
    contact = coarse.checks()["contact"]
    assert coarse["cam.contact"].min() > 0.0 and contact.verdict == "unknown" and "between samples" in contact.text
    for steps in (36, 60):
        sampled = float(np.abs(lw.load(LIMITED).cycle(steps=steps)["A.torque"]).max())
        top = 9.81 * np.sqrt(0.5**2 + 0.03**2)  # of the mass about the pin, whose arm is level between two samples
        assert sampled < top - 1e-4
        for limit, verdict in ((0.5 * (sampled + top), "failed"), (top + 1e-5, "passed")):
            m = lw.load({**LIMITED, "drive": {"A": {"torque": 0, "limits": [-limit, limit]}}})
            simulated = m.simulate(1.0, drive={"A": lw.drives.speed("60 rpm")}, sample_interval=1.0 / steps)
            for found in (m.cycle(steps=steps, speed="60 rpm"), simulated):
                assert np.abs(found["A.torque"]).max() < limit
                check = found.checks()["drives"]
                assert check.verdict == verdict and (verdict == "passed" or abs(check.value or 0.0) == pytest.approx(top, rel=1e-6))


def test_a_run_judges_its_motor() -> None:
    """12 V on 0.4 ohm are 30 A and 1.5 N m at the start; no speed is above 12 V / Ke."""
    data = {"Kt": "0.05 N m/A", "R": "0.4 ohm", "J": "1e-5 kg m^2", "gear_ratio": 10, "voltage": "12 V"}

    def checked(**more: str) -> Check:
        return lw.load({**LIMITED, "gravity": 0, "drive": {"A": {"dc_motor": {**data, **more}}}}).simulate(2.0).checks()["drives"]

    strong = checked(max_torque="1.51 N m", max_speed="241 rad/s")
    assert strong.verdict == "passed", strong.text
    weak = checked(max_torque="1.4 N m", max_speed="241 rad/s")
    assert weak.verdict == "failed" and weak.value == pytest.approx(1.5, rel=1e-9) and "peak torque" in weak.text
    assert checked(max_torque="1.51 N m", max_speed="200 rad/s").verdict == "failed"


def test_the_page_computes_contact_and_reach_of_a_changed_design() -> None:
    code = "const r=[];for(const v of x.values){e.set(v);r.push(e.checks())}return r"
    slow = {**VALVE, "drive": {"A": "1900 rpm"}}
    light, heavy = run({"v": made(lw.load(slow).system)}, [("v", code, {"values": [{"follower.mass": 0.1}, {"follower.mass": 0.3}]})])[0]
    verdicts = [next(x["verdict"] for x in found if x["name"] == "contact") for found in (light, heavy)]
    assert verdicts == ["passed", "failed"]  # contact up to 1952 rpm with 0.18 kg
    near = {**ARM, "springs": {"gas": {**ARM["springs"]["gas"], "length": 440}}}
    names = [p["name"] for p in made(lw.load(near).system).data["parameters"]]
    assert names, "a page has sliders"
    moved = run({"a": made(lw.load(ARM).system)}, [("a", code, {"values": [{}, {"arm.mass": 2.0}]})])[0]
    by = [{x["name"]: x for x in found} for found in moved]
    assert by[0]["reach"]["verdict"] == by[1]["reach"]["verdict"] == lw.load(ARM).cycle().checks()["reach"].verdict


def test_a_gas_spring_outside_its_length_fails_and_has_a_channel() -> None:
    """From 412 mm at the start, sqrt(400^2 + 100^2), to the law of cosines at 60 deg."""
    m = lw.load(ARM)
    c = m.cycle()
    longest = np.hypot(0.4, 0.1)
    shortest = np.sqrt(0.4**2 + 0.1**2 - 2 * 0.4 * 0.1 * np.cos(np.radians(30.0)))  # S is 150 deg from x, G 180
    assert c["gas.length"][[0, -1]] == pytest.approx([longest, shortest], rel=1e-12)
    assert c["gas.stroke_used"] == pytest.approx((0.45 - c["gas.length"]) / 0.1, abs=1e-12)
    check = c.checks()["reach"]
    assert check.verdict == "failed" and check.value == pytest.approx(shortest) and check.limit == pytest.approx(0.35)
    assert "pushed in beyond its stroke" in check.text and "A = 60 deg" in check.where
    longer = lw.load({**ARM, "springs": {"gas": {**ARM["springs"]["gas"], "stroke": 200}}})
    assert longer.cycle().checks().ok and not any("gas spring" in x for x in longer.info().notes)
    assert check.text in m.info().notes and f"warning: {check.text}" in str(m.info())
    pulled = lw.load({**ARM, "springs": {"gas": {**ARM["springs"]["gas"], "length": 400, "stroke": 200}}}).cycle().checks()["reach"]
    assert pulled.verdict == "failed" and "pulled apart beyond its extended length" in pulled.text


def test_optimize_keeps_a_gas_spring_within_its_stroke() -> None:
    """The shortest way to a small torque is a spring that is pulled apart; it stops at its extended length."""
    m = lw.load({**ARM, "gravity": [0, "-9.81 m/s^2"], "springs": {"gas": {**ARM["springs"]["gas"], "stroke": 200}}})
    found = m.optimize("min mean gas.stroke_used", vary={"ground.G.x": ("-500 mm", "-380 mm")}, starts=2)
    used = found.mechanism.cycle()["gas.stroke_used"]
    assert used.min() == pytest.approx(0.0, abs=1e-5) and found.mechanism.cycle().checks()["reach"]


def test_the_force_in_the_mesh_of_a_coupling_is_unknown() -> None:
    c = lw.load(GENEVA).cycle()
    check = c.checks()["loads"]
    assert check.verdict == "unknown" and "mesh of 'index'" in check.text and not c.checks().ok
    assert not any(row.unique for row in c.bearings()) and "not known: 'index' passes a torque" in str(c.bearings())
    assert "statically determinate" not in str(c.checks())
    t = c.bearings().table()
    assert [t["max"].text(i) for i in range(len(t))] == ["unknown"] * 2 and np.isnan(t["max"].values).all() and "RMS" not in t
    assert c.bearings().as_dict()["not_known"] == [{"pin": "A", "coupling": "index"}, {"pin": "T", "coupling": "index"}]
    notes = c.load_cases("wheel").notes
    assert notes == ("wheel: loads of T are not known, the force in the mesh of 'index' is not modeled",)


def test_an_error_that_was_not_estimated_is_unknown() -> None:
    certificate = lw.load("four-bar").simulate(0.05).certificate
    bare = replace(certificate, estimated_error=None, estimated_by="a run with 32 times the tolerance does not come to its end")
    assert certificate.ok and not bare.ok and bare.checks().verdict == "unknown"
    assert bare.checks().headline.startswith("unknown: error (error not estimated: a run with 32 times the tolerance")


def test_the_estimate_of_fixed_steps_with_friction_is_not_below_the_error() -> None:
    """Friction that turns within a step makes rk4 a method of low order: its own 16 would promise a tenth of the error.

    An arm swings to rest; the reference is the same run with a tolerance of 1e-12.
    """
    m = lw.load({**ARM, "springs": {}, "gravity": [0, "-9.81 m/s^2"], "friction": {"A": {"coulomb": "0.5 N m", "speed": "0.05 deg/s"}}})
    times = np.linspace(0.0, 1.5, 41)
    st = m.system.assemble(q={"A": 1.0})
    got = m.system.simulate(st, 1.5, drive={}, integrator="rk4", step=5e-3, sample_interval=times)
    true = m.system.simulate(st, 1.5, drive={}, tolerance=1e-12, sample_interval=times)
    error = float(np.abs(got.q - true.q).max())
    assert error > 1e-6 and got.certificate.estimated_error > 0.5 * error


def test_no_verdict_follows_from_no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C before the first designs are drawn."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "_here", interrupted)
    t = lw.load("wiper").tolerances({"C.x": "+- 1 mm"}, "max A.torque", count=64, limits=(3.8, 3.9))
    (found,) = t.results
    assert found.outside is None and np.isnan(found.drawn_deviation) and "not known, no design was drawn" in str(t)
    assert " 0 %" not in str(t).split("outside")[1] and t.notes[0].startswith("Interrupted after 0 of 64 designs")


def test_implausible_inputs_are_unknown() -> None:
    """Gravity in mm/s^2 written as m/s^2: nothing is wrong with the computation, and the result is not to be trusted."""
    check = lw.load("four-bar", g=9810.0).cycle(steps=12).checks()["inputs"]
    assert check.verdict == "unknown" and "1000 times" in check.text
    assert lw.load("four-bar").cycle(steps=12).checks()["inputs"]
