"""Dimensions typed while drawing, and places that snap, in node."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.rings.studio.live.test_shell import run

FILES = ("base/dom", "drawing/tools", "editor/numbers", "editor/snap", "editor/sketch")
MM = '{ symbol: "mm", size: 1e-3 }'


def asked(script: str) -> Any:
    return run(FILES, f"out = ((E) => {script})(LW.edit);")


TYPED: dict[str, dict[str, Any]] = {
    "120": {"size": 0.12, "written": "120"},
    "120,5": {"size": 0.1205, "written": "120.5"},
    ",5": {"size": 0.0005, "written": ".5"},
    "12 cm": {"size": 0.12, "written": "12 cm"},
    "120<30": {"size": 0.12, "angle": math.pi / 6, "written": "120"},
    "1,5 cm<-90": {"size": 0.015, "angle": -math.pi / 2, "written": "1.5 cm"},
    "2<0.5 rad": {"size": 0.002, "angle": 0.5, "written": "2"},
    "120; 50": {"at": [0.12, 0.05]},
    "120,5 -50,25": {"at": [0.1205, -0.05025]},
    "-3e1": {"size": -0.03, "written": "-3e1"},
}
NONE = ["", "abc", "12 furlongs", "1,2,3", "12<", "<30", "1;2;3", "12 x"]


def test_what_is_typed_and_what_is_no_dimension() -> None:
    found = dict(zip([*TYPED, *NONE], asked(f"{json.dumps([*TYPED, *NONE])}.map((text) => E.typed(text, {MM}))"), strict=True))
    for text, means in TYPED.items():
        assert set(found[text]) == set(means), text
        for key, value in means.items():
            assert found[text][key] == (value if isinstance(value, str) else pytest.approx(value, abs=1e-15)), text
    for text in NONE:
        assert list(found[text]) == ["problem"] and "120<30" in found[text]["problem"] and "mm" in found[text]["problem"], text


def snapped(at: tuple[float, float], **more: str) -> dict[str, Any]:
    """A place in millimeters on a sheet of 2 pixels a millimeter with one pin at (100, 40)."""
    given = {"from": "null", "off": "false", **more}
    extra = ", ".join(f"{k}: {v}" for k, v in given.items())
    x, y = at
    return asked(
        f"E.snap({{ at: [{x}e-3, {y}e-3], pixel: [{2 * x}, {-2 * y}], points: [{{ name: 'A', at: [0.1, 0.04], pin: true }}], "
        f"toPixel: (p) => [2e3 * p[0], -2e3 * p[1]], scale: 2e3, unit: {MM}, kind: 'mouse', {extra} }})"
    )


def test_pins_directions_and_grid() -> None:
    # within 12 pixels of the pin: its very place
    pin = snapped((104, 43))
    assert (pin["kind"], pin["point"], pin["at"]) == ("pin", "A", [0.1, 0.04]) and "A" in pin["text"]
    # the grid: least 11 pixels are 5.5 mm, the next round number is 10 mm
    grid = snapped((62, 23))
    assert grid["kind"] == "grid" and grid["at"] == pytest.approx([0.06, 0.02]) and "10 mm" in grid["text"]
    # 60 mm in a direction that is 30 degrees but for one pixel: 30 degrees, and a round length
    line = snapped((52.2, 30.3), **{"from": "[0, 0]"})
    assert (line["kind"], line["angle"]) == ("angle", 30)
    assert math.hypot(*line["at"]) == pytest.approx(0.06) and math.atan2(*line["at"][::-1]) == pytest.approx(math.pi / 6)
    free = snapped((52.2, 30.3), off="true", **{"from": "[0, 0]"})
    assert free["kind"] == "free" and free["at"] == pytest.approx([0.0522, 0.0303])


def test_grid_steps_are_round_and_wide_enough() -> None:
    scales = [37.0, 200.0, 2000.0, 4711.0, 90000.0]  # pixels a meter
    for scale, step in zip(scales, asked(f"{scales}.map((scale) => E.gridStep(scale, {MM}))"), strict=True):
        power = 10.0 ** math.floor(math.log10(step * 1e3) + 1e-9)
        assert min(abs(step * 1e3 / power - k) for k in (1, 2, 5)) < 1e-9
        assert 11 * 0.999 <= step * scale <= 11 * 2.5 + 1e-9


def test_a_place_on_a_link_is_on_its_line_at_a_round_distance() -> None:
    points = "[{ name: 'A', at: [0, 0] }, { name: 'B', at: [0.03, 0.04] }]"
    drawing = f"{{ points: {points}, bodies: [{{ name: 'arm', ground: false, outline: [['A', 'B']] }}] }}"
    found = asked(f"E.onLink({drawing}, 'arm', [0.02, 0.02], 0.01)")
    assert found["from"] == "A" and found["far"] == pytest.approx(0.03) and found["at"] == pytest.approx([0.018, 0.024])
