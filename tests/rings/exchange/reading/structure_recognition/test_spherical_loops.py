"""Loops whose axes meet in one point, as files have them: with few digits, closed by a point or by a hinge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwright as lw
from linkwright.joints import JOINTS

TILTS = ((0.0, 0.0), (0.5, 0.0), (1.1, 0.9), (0.9, 1.7))
AXES = np.array([[np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)] for a, b in TILTS])
PLACES = np.array([0.1, 0.12, 0.11, 0.1])[:, None] * AXES + [0.03, -0.02, 0.4]
MASS = '<inertial pos="0.01 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>'


def spherical(tmp_path: Path, digits: int, hinge: bool) -> lw.Mechanism:
    """A spherical four-bar a, b, c whose numbers have so many digits; a hinge is two points on its axis."""

    def text(v: np.ndarray) -> str:
        return " ".join(f"{x:.{digits}g}" for x in v)

    ends = [PLACES[2] + r * AXES[2] for r in ([0.0, 0.02] if hinge else [0.0])]

    def sites(body: str, origin: np.ndarray) -> str:
        return "".join(f'<site name="{body}{i}" pos="{text(e - origin)}"/>' for i, e in enumerate(ends))

    on_b, on_c = sites("b", PLACES[1]), sites("c", PLACES[3])
    closed = "".join(f'<connect site1="b{i}" site2="c{i}"/>' for i in range(len(ends)))
    (tmp_path / "m.xml").write_text(
        f'<mujoco><worldbody><body name="a" pos="{text(PLACES[0])}"><joint name="j1" axis="{text(AXES[0])}"/>{MASS}'
        f'<body name="b" pos="{text(PLACES[1] - PLACES[0])}"><joint name="j2" axis="{text(AXES[1])}"/>{MASS}{on_b}</body></body>'
        f'<body name="c" pos="{text(PLACES[3])}"><joint name="j4" axis="{text(AXES[3])}"/>{MASS}{on_c}</body>'
        f"</worldbody><equality>{closed}</equality></mujoco>"
    )
    return lw.load(tmp_path / "m.xml")


def turned(z: np.ndarray, angle: float, x: np.ndarray) -> np.ndarray:
    return x * np.cos(angle) + np.cross(z, x) * np.sin(angle) + z * (z @ x) * (1.0 - np.cos(angle))


def closed_form(j1: float) -> float:
    """j4 from spherical trigonometry: the second axis turned about the first and the third about the fourth keep their angle."""
    second = turned(AXES[0], j1, AXES[1])
    return float(brentq(lambda j4: second @ turned(AXES[3], j4, AXES[2]) - AXES[1] @ AXES[2], -0.5, 0.5, xtol=1e-15))


@pytest.mark.parametrize(("digits", "most"), [(17, 1e-14), (9, 1e-8), (6, 1e-5)])  # the digits of the axes, some times over
@pytest.mark.parametrize("hinge", [False, True])
def test_rounded_spherical_four_bars_move(digits: int, most: float, hinge: bool, tmp_path: Path) -> None:
    """Without the change of the file 9 digits stay open by 4e-11 m and 6 digits by 2e-8 m, and nothing is assembled."""
    m = spherical(tmp_path, digits, hinge)
    s = m.system
    assert s.mobility.freedoms == 1 and s.mobility.rank == 2
    for angle in (-0.3, 0.1, 0.25):
        st = s.assemble({"j1": angle})
        assert st["j4"] == pytest.approx(closed_form(angle), abs=most)
        assert np.abs(s.closure(st).phi).max() < 1e-12
    assert np.abs(s.forward(s.assemble({"j1": 0.1})).a).max() < 1e3


def test_a_closing_point_changes_no_number(tmp_path: Path) -> None:
    """The closing point becomes a bearing along the ray from the center, which the import report says."""
    m = spherical(tmp_path, 6, hinge=False)
    closing = m.description.joint("closure1")
    assert closing.type == "floating_bearing" and len(JOINTS[closing.type].rows) == 2
    assert any("meet in one point: 'closure1' closes their loop across the ray" in x for x in m.imported.inferred)
    ray = np.array(m.description.body(closing.first).start.rotation, float) @ np.array(closing.frame_first.rotation, float)[:, 2]
    assert np.abs(ray) == pytest.approx(np.abs(AXES[2]), abs=1e-4)  # six digits of places 0.1 m from the center


def test_axes_of_hinges_are_moved_by_no_more_than_their_digits(tmp_path: Path) -> None:
    m = spherical(tmp_path, 6, hinge=True)
    said = [x for x in m.imported.inferred if "were made to meet in one point" in x]
    assert len(said) == 1 and float(said[0].split("up to ")[1].split(" m")[0]) < 2e-6  # 1e-6 of 1 in axes and places, 0.1 m away
    exact = spherical(tmp_path, 17, hinge=True)
    assert not any("made to meet" in x for x in exact.imported.inferred)


def test_axes_that_do_not_meet_are_left_alone(tmp_path: Path) -> None:
    """An offset of some per cent of the size is a dimension of the file: such a loop of four hinges is rigid, and stays so."""
    file = tmp_path / "m.xml"
    spherical(tmp_path, 17, hinge=False)
    file.write_text(file.read_text().replace('name="j1" axis', 'name="j1" pos="0.004 0.003 0" axis'))
    m = lw.load(file)
    assert m.description.joint("closure1").type == "spherical" and m.system.mobility.freedoms == 0
