"""Separating forces of gears by hand: the teeth press each wheel away from the mesh, a ring outwards and its planet inwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw

PINION, WHEEL, ALPHA = 0.02, 0.06, np.radians(20.0)
TORQUE = 30.0  # at the wheel: TORQUE / WHEEL along the pitch line


def pair(internal: bool, first: str, turned: float) -> dict[str, Any]:
    """A pinion about the origin, and a wheel or a ring in the direction `turned`."""
    apart = WHEEL - PINION if internal else WHEEL + PINION
    joints, radii = ["A", "B"], [PINION, WHEEL]
    if first == "wheel":
        joints, radii = joints[::-1], radii[::-1]
    return {
        "name": "gears",
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [apart * np.cos(turned), apart * np.sin(turned)]},
        "gravity": [0, 0],
        "bodies": {
            "ground": {"pins": ["A", "B"]},
            "pinion": {"pins": ["A"], "mass": 0.1, "com": "A", "inertia": 1e-4},
            "wheel": {"pins": ["B"], "mass": 0.4, "com": "B", "inertia": 1e-3},
        },
        "gears": {"G": {"joints": joints, "radii": radii, "internal": internal, "pressure_angle": "20 deg"}},
        "drive": {"A": "10 rad/s"},
        "loads": {"resist": {"on": "wheel.B", "moment": -TORQUE}},
    }


@pytest.mark.parametrize("turned", [0.0, 2.3])
@pytest.mark.parametrize("first", ["pinion", "wheel"])
@pytest.mark.parametrize("internal", [False, True])
def test_teeth_press_the_wheels_apart(internal: bool, first: str, turned: float) -> None:
    """The bearing holds the pinion against the tangential force Ft = TORQUE / WHEEL, and toward the mesh with Ft tan(alpha).

    From the pinion the mesh of an external pair is in the direction of the wheel. A ring is in mesh on the far side of its pinion, so
    the bearing of the pinion pulls away from the axis of the ring. Which gear is written first does not matter."""
    s = lw.load(pair(internal, first, turned)).system
    st = s.assemble(v={"A": 10.0})
    Ft = TORQUE / WHEEL
    toward_mesh = np.array([np.cos(turned), np.sin(turned), 0.0]) * (-1.0 if internal else 1.0)
    for loads in (s.inverse(st), s.inverse(s.assemble(v={"A": -10.0}))):  # at constant speed masses push nowhere
        on_pinion = loads.wrench["A"].force
        assert loads.wrench["A"].on == "pinion"
        assert on_pinion @ toward_mesh == pytest.approx(Ft * np.tan(ALPHA), rel=1e-9)
        assert np.linalg.norm(on_pinion - (on_pinion @ toward_mesh) * toward_mesh) == pytest.approx(Ft, rel=1e-9)
        np.testing.assert_allclose(loads.wrench["B"].force, -on_pinion, atol=1e-9 * Ft)  # the pair of forces is balanced
    kernel = s.kernels.get("loads")(st.q, st.v, 0.0 * st.v)
    at = s.description.joints.index(s.description.joint("A"))
    np.testing.assert_allclose(kernel.wrench[at, 3:], s.inverse(st).wrench["A"].force, atol=1e-9 * Ft)
