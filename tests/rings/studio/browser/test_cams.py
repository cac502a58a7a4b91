"""A cam on the page: profile and roller of parameters that were moved, drive torque and pin loads of the page's own kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.studio import live
from tests.rings.studio.browser.desk import Desk

MODEL = {
    "name": "cam", "plane": "xy", "units": ["mm", "kg", "deg", "rpm"], "gravity": ["0", "-9.81 m/s^2"],
    "parameters": {"base": "30 mm", "roller": "8 mm", "lift": "20 mm", "up": "80 deg"},
    "drawing": {"A": [0, 0], "R": [5, 40], "T": [5, 140]},
    "bodies": {
        "ground": {"pins": ["A"]},
        "disc": {"pins": ["A"], "mass": 2, "com": "A", "inertia": "2e-3 kg m^2"},
        "follower": {"points": ["R", "T"], "mass": 0.5, "com": "T", "inertia": "1e-4 kg m^2"},
    },
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "follower"], "at": "T", "axis": [0, 1]}},
    "cams": {"cam": {
        "from": "A", "to": "guide", "roller": {"at": "follower.R", "radius": "roller"}, "base": "base",
        "moves": [{"to": "lift", "in": "up", "law": "modified_sine"}, {"dwell": 60}, {"to": 0, "in": "210 deg - up"}, {"dwell": 90}],
    }},
    "springs": {"return": {"joint": "guide", "stiffness": "2 N/mm", "preload": "-20 N"}},
    "drive": {"A": "300 rpm"},
}  # fmt: skip
DRAWN = """(() => {
  const path = document.querySelector('path[data-cam=cam]'), roller = document.querySelector('[data-body=follower] circle[r]');
  return [path.getAttribute("d"), Number(roller.getAttribute("r"))];
})()"""


@pytest.mark.slow
def test_the_profile_follows_its_parameters(desk: Callable[..., Desk], tmp_path: Path) -> None:
    """Points of the path over the scale, which the roller's radius gives; paths are written with a tenth of a pixel."""
    m = lw.load(MODEL)
    here = desk(live.write(m, tmp_path / "cam.html"), "#p.base=0.036&p.roller=0.01&p.lift=0.024&p.up=1.6&play=0", still=True)
    changed = m.with_(base=0.036, roller=0.01, lift=0.024, up=1.6)
    path, radius = here.ask(DRAWN)
    scale = radius / 0.01
    points = np.array([[float(x) for x in p.split()] for p in path.replace("Z", "").replace("M", "").replace("L", ",").split(",")])
    cam = changed.cam()
    angles = np.linspace(0.0, 2.0 * np.pi, len(points), endpoint=False)
    wanted = np.column_stack([np.interp(angles, cam.angle, cam.profile[:, i]) for i in range(2)])
    np.testing.assert_allclose(points / scale * [1, -1], wanted, atol=0.15 / scale)
    c = changed.cycle()
    torque = np.array(here.ask("Array.from(e.cycle.u[0])"))
    np.testing.assert_allclose(torque[::10], c["A.torque"][::10], atol=1e-9 * np.abs(c["A.torque"]).max() + 1e-9)
    for name in ("lift", "pressure_angle", "curvature", "contact"):  # motion curves of the page
        values, wanted = np.array(here.ask(f"Array.from(e.channels.read('cam.{name}'))")), c[f"cam.{name}"]
        np.testing.assert_allclose(values[::9], wanted[::9], atol=1e-7 * np.abs(wanted).max())
    assert here.page.locator("#checks").inner_text().endswith("checks passed")
    assert here.ask("e.cycle.pins['guide|follower'].max") == pytest.approx(float(c["guide.load"].max()), rel=1e-6)
