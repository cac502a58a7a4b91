"""The note on an inductance that a run leaves out, against runs that have it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import ModelError, UsageError
from linkwright.model import library as models
from tests.refusals import refused

PLATE = {"Kt": 0.05, "R": 0.4, "J": 2e-5, "gear_ratio": 50}


def noted(run: Any) -> list[str]:
    return [n for n in run.notes if "inductance" in n]


def figures(note: str) -> tuple[str, float, str, float]:
    """(joint, how far, its unit, percent of the travel) of a note."""
    found = re.search(r"'(\w+)' would be up to about ([\d.e+-]+) (\w+) off this result, ([\d.e+-]+) % of its travel", note)
    assert found is not None, note
    return found[1], float(found[2]), found[3], float(found[4])


@pytest.mark.parametrize("tau", (0.002, 0.01))
def test_the_estimate_of_a_wiper_is_that_of_a_run_with_inductance(tau: float) -> None:
    """A voltage that swings 20 rad/s: 1 / (20 tau) is 5 at least, so a first-order estimate is right to some 10 %."""
    s = lw.compile("wiper")

    def volts(t: float) -> float:
        return 12.0 * np.sin(20.0 * t)

    without, right = (
        s.simulate(s.start, 1, drive={"A": lw.drives.voltage(volts, motor=lw.drives.dc_motor(**PLATE, **more))}, tolerance=1e-9)
        for more in ({"time_constant": tau}, {"L": PLATE["R"] * tau})
    )
    (note,) = noted(without)
    joint, far, unit, share = figures(note)
    shift = np.abs(np.asarray(right["A"]) - np.asarray(without["A"])).max()
    assert (joint, unit) == ("A", "deg") and np.radians(far) == pytest.approx(shift, rel=0.15)
    assert share == pytest.approx(100 * shift / np.ptp(without["A"]), rel=0.15)
    assert f"L='{1e3 * PLATE['R'] * tau:.3g} mH'" in note and not noted(right)


def test_the_estimate_of_a_robot_is_of_the_right_size() -> None:
    """Case 1 of Hoang et al., strongly nonlinear: within a factor of 3 for every time constant that is noted."""
    s = lw.compile("3-rrr-motors")
    plate = {"Kt": 3.0, "Ke": 0.1, "R": 3.0, "J": 0.01, "gear_ratio": 10.0}

    def run(**more: float) -> Any:
        volts = {"A1": 5.0, "A2": -5.0, "A3": 5.0}
        return s.simulate(
            s.start, 1, drive={n: lw.drives.voltage(u, motor=lw.drives.dc_motor(**plate, **more)) for n, u in volts.items()}, tolerance=1e-9
        )

    plain = run()
    assert not noted(plain)  # nothing is known of the motors' inductance
    for tau in (1e-3, 1e-2):
        (note,) = noted(run(time_constant=tau))
        joint, far, _, _ = figures(note)
        shift = np.abs(np.asarray(run(L=plate["R"] * tau)[joint]) - np.asarray(plain[joint])).max()
        assert shift / 3.0 < far < 3.0 * shift
    assert not noted(run(time_constant=1e-5))  # 5e-5 rad of more than 1 rad


def test_a_time_constant_changes_no_motion_and_excludes_an_inductance(tmp_path: Any) -> None:
    s = lw.compile("wiper")
    a, b = (
        s.simulate(s.start, 0.2, drive={"A": lw.drives.voltage(12, motor=lw.drives.dc_motor(**PLATE, **x))})
        for x in ({}, {"time_constant": "5 ms"})
    )
    assert np.array_equal(a.q, b.q) and np.array_equal(a.v, b.v)
    with refused(UsageError, name="motor"):
        lw.drives.dc_motor(**PLATE, L="1 mH", time_constant="5 ms")
    with refused(UsageError, value=-0.005):
        lw.drives.dc_motor(**PLATE, time_constant="-5 ms")
    text = "dc_motor: {Kt: 0.05 N m/A, R: 0.4 ohm, gear_ratio: 50, voltage: 12 V, time_constant: 20 ms"
    source = models.path("wiper").read_text(encoding="utf-8")
    path = tmp_path / "motor.yaml"
    path.write_text(re.sub(r"(?m)^drive:.*$", "drive: {A: {" + text + "}}}", source), encoding="utf-8")
    assert noted(lw.load(path).simulate(0.3))
    path.write_text(re.sub(r"(?m)^drive:.*$", "drive: {A: {" + text + ", L: 8 mH}}}", source), encoding="utf-8")
    with refused(ModelError, name="drive of 'A': dc_motor", line=15):
        lw.load(path)
