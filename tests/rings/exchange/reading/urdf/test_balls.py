"""Balls written as three hinges come back as balls; chains of a user's own stay hinges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.rings.exchange.reading.urdf.robots import joint, link, robot
from tests.sweeps import sweep

XYZ = "".join(f'<link name="S_{x}_link"/>' for x in "xy")
ROW = {"x": ("base", "S_x_link", "1 0 0"), "y": ("S_x_link", "S_y_link", "0 1 0"), "z": ("S_y_link", "arm", "0 0 1")}


def text(tail: str = "", *, empty: str = XYZ, at: str = "0 0 0") -> str:
    hinges = ""
    for letter, (parent, child, axis) in ROW.items():
        place = '<origin xyz="1 2 3" rpy="0.3 1.5707963267948966 0.2"/>' if letter == "x" else f'<origin xyz="{at}"/>'
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        hinges += f'<joint name="S_{letter}" type="continuous">{ends}{place}<axis xyz="{axis}"/></joint>'
    return robot('<link name="base"/>' + link("arm", 1.0, 0.2, 0.1) + empty + hinges + tail)


def loaded(tmp_path: Path, content: str) -> lw.Mechanism:
    (tmp_path / "a.urdf").write_text(content)
    return lw.load(tmp_path / "a.urdf")


def test_hinges_that_are_a_ball(tmp_path: Path) -> None:
    m = loaded(tmp_path, text())
    assert [(j.name, j.type) for j in m.description.joints] == [("S", "spherical")] and [b.name for b in m.description.moving] == ["arm"]
    seen = '"S_x_link"><visual><geometry><sphere radius="0.1"/></geometry></visual></link>'
    hinges = loaded(tmp_path, text(empty=XYZ.replace('"S_x_link"/>', seen)))
    assert [j.type for j in hinges.description.joints] == ["revolute"] * 3
    for channel in ("arm", "arm.rotation"):  # the same pose at zero
        assert np.allclose(m.system.start[channel], hinges.system.start[channel], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("tail", "at"),
    [
        ('<transmission name="t"><joint name="S_x"/><actuator name="m"/></transmission>', "0 0 0"),
        (link("more", 1.0, 0.0, 0.0) + joint("k", "S_x_link", "more", "0 0 1"), "0 0 0"),
        ("", "0.1 0 0"),
    ],
)
def test_hinges_that_something_names_or_parts_stay(tmp_path: Path, tail: str, at: str) -> None:
    m = loaded(tmp_path, text(tail, at=at))
    assert {"S_x", "S_y", "S_z"} <= {j.name for j in m.description.joints}


@sweep("dialect", ["loop_joint", "two-parents", "urdf+", "constraint", "onshape", "gepetto"], now=["two-parents"])
def test_a_rod_between_balls_keeps_its_freedoms(tmp_path: Path, dialect: str) -> None:
    """The spin of a rod between two balls is idle, in the file as in the model."""
    m = lw.load("stewart")
    path = tmp_path / "there.urdf"
    with pytest.warns(lw.exchange.LossWarning):
        m.export(path, dialect=dialect)
    again = lw.load(path)
    assert again.system.mobility.freedoms == m.system.mobility.freedoms
    assert np.isclose(sum(float(b.mass or 0.0) for b in again.description.moving), sum(float(b.mass or 0.0) for b in m.description.moving))
