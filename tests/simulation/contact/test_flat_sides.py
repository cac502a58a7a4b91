"""Flat sides that stick: corners share what statics does not divide, and rest is rest up to the sum of all cones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.simulation.contact.models import G

MU, PRESS, MASS, PAD = 0.5, 20.0, 2.0, 0.5
FLOOR, TOP = MASS * G + PAD * G + PRESS, PAD * G + PRESS  # N, normal forces below and above the block
LIMIT = MU * (FLOOR + TOP)  # N, side load that the block bears between floor and pad


def pressed(side: float, flat: bool) -> dict[str, Any]:
    """A block on two corners, which a rough pad in a vertical guide presses, and a load from the side."""
    pad = {"line": "pad.T", "normal": [0, -1]} if flat else {"circle": "pad.T", "radius": 0}
    return {
        "plane": "xy",
        "gravity": [0, -G],
        "bodies": {
            "ground": {"points": {"O": [0, 0]}},
            "block": {
                "points": {"A": [-0.1, 0], "B": [0.1, 0], "C": [0.1, 0.1], "D": [-0.1, 0.1], "M": [0, 0.05]},
                "mass": MASS, "com": [0, 0.05], "inertia": 0.02,
            },
            "pad": {"points": {"T": [0.03, 0.1]}, "mass": PAD, "com": [0.03, 0.15], "inertia": 0.01},
        },
        "joints": {
            "free": {"type": "planar", "between": ["ground", "block"], "at": [0, 0]},
            "press": {"type": "prismatic", "between": ["ground", "pad"], "at": [0, 0], "axis": [0, 1]},
        },
        "loads": {"down": {"on": "pad.T", "force": [0, -PRESS]}, "side": {"on": "block.M", "force": [side, 0]}},
        "surfaces": {"floor": {"line": "ground.O", "normal": [0, 1]}, "tip": pad,
                     "box": {"polygon": ["block.A", "block.B", "block.C", "block.D"]}},
        "contacts": {"stand": {"between": ["box", "floor"], "mu": MU},
                     "hold": {"between": ["box", "tip"] if flat else ["tip", "box"], "mu": MU}},
    }  # fmt: skip


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("side", [0.0, 3.0, -15.0])
def test_a_block_under_a_rough_pad_rests(side: float, flat: bool) -> None:
    found = lw.load(pressed(side, flat)).simulate(0.2)
    assert not found.events
    below, above = (["stand.1", "stand.2"], ["hold.1", "hold.2"] if flat else ["hold"])
    size, round_off = FLOOR, 1e-11  # of sums of forces of some 40 N, by equations of condition 1e4
    for names, total in ((below, FLOOR), (above, TOP)):
        np.testing.assert_allclose(sum(found[f"{x}.force"] for x in names), total, atol=round_off * size)
    on_block = sum(found[f"{x}.friction"] for x in above) - sum(found[f"{x}.friction"] for x in below)
    np.testing.assert_allclose(on_block, -side, atol=round_off * size)
    for x in (*below, *above):
        assert (np.abs(found[f"{x}.friction"]) < MU * found[f"{x}.force"]).all()
        assert (found[f"{x}.state"] == 1).all()
    assert np.abs(found["free.x"]).max() < 1e-12
    assert "forces shared" in str(found.certificate) and found.certificate.ok


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("share", [0.9999, 1.0001])
def test_it_slides_from_the_sum_of_all_cones_on(share: float, flat: bool) -> None:
    """Some share of its load each contact bears at first is not the last word: one at its bound leaves the rest to the others."""
    found = lw.load(pressed(share * LIMIT, flat)).simulate(0.2)
    assert len(found.events) <= 4  # one for each contact
    t = found.t[1:]
    way = 0.5 * max(share - 1.0, 0.0) * LIMIT / MASS * t * t
    np.testing.assert_allclose(found["free.x"][1:], way, atol=1e-11)
