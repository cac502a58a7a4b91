"""Symbols of elements between two points, in pictures and in what a page draws: by their looks, and none taken for another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle

import linkwright as lw
from linkwright.elements import Bushing
from linkwright.rings.studio.live.scene_data import shapes
from linkwright.rings.studio.scene import Scene

NUMBERS = {"bushings": "stiffness: 2000", "dampers": "coefficient: 10", "tethers": "stiffness: 100"}


def hung(folder: Path, section: str, *, space: bool, numbers: str = "") -> lw.Mechanism:
    """An arm on a hinge, its tip held by an element 30 cm away."""
    form, z, axis = ("space: true", ", 0", ", axis: [0, 1, 0]") if space else ("plane: xy", "", "")
    file = folder / f"{section}-{space}.yaml"
    file.write_text(
        f"{form}\nbodies:\n  ground: {{points: {{Q: [0.8, 0{z}]}}}}\n  arm: {{points: {{A: [0, 0{z}], P: [0.5, 0{z}]}}}}\n"
        f"joints: {{A: {{type: revolute, between: [ground, arm], at: [0, 0{z}]{axis}}}}}\n"
        f"{section}: {{x: {{between: [ground.Q, arm.P], {numbers or NUMBERS[section]}}}}}\n",
        encoding="utf-8",
    )
    return lw.load(file)


def dark(color: Any) -> bool:
    return max(to_rgb(color)) < 0.5


def test_in_a_plane_a_bushing_is_a_dark_ring_larger_than_a_hinge(tmp_path: Path) -> None:
    def discs(section: str) -> list[Circle]:
        figure = hung(tmp_path, section, space=False).plot("mechanism", trace=[])
        return [x for x in figure.axes[0].patches if isinstance(x, Circle)]

    assert not [x for x in discs("dampers") if dark(x.get_facecolor()) and x.get_zorder() < 40]
    found = discs("bushings")
    (rubber,) = [x for x in found if dark(x.get_facecolor()) and x.get_zorder() < 40]
    hinge = max(x.get_radius() for x in found if x.get_zorder() == 40)
    assert rubber.center == pytest.approx((0.65, 0.0)) and rubber.get_radius() > 2.5 * hinge


def test_in_a_plane_a_tether_is_a_rope_of_two_strands(tmp_path: Path) -> None:
    figure = hung(tmp_path, "tethers", space=False).plot("mechanism", trace=[])
    strands = [np.array(x.get_xydata()) for x in figure.axes[0].lines if len(x.get_xydata()) > 20]
    assert len(strands) == 2
    for p in strands:
        assert p[[0, -1]] == pytest.approx(np.array([[0.8, 0.0], [0.5, 0.0]]), abs=1e-12)
    assert strands[0][:, 1] == pytest.approx(-strands[1][:, 1], abs=1e-12) and np.ptp(strands[0][:, 1]) > 0.0


def test_in_space_a_bushing_is_a_ring_about_its_sleeve(tmp_path: Path) -> None:
    m = hung(tmp_path, "bushings", space=True, numbers="stiffness: [2000, 500, 2000]")
    drawn = m.plot("mechanism", trace=[]).axes[0].lines
    rings = [np.array(x.get_data_3d()).T for x in drawn if len(x.get_data_3d()[0]) > 30 and dark(x.get_color())]
    assert rings
    for p in rings:  # without gravity the axes of the picture are those of the model; those on the floor are shadows
        assert np.ptp(p[:, 1]) < 1e-12 < 0.01 < np.ptp(p[:, 0]) and p.mean(axis=0)[:2] == pytest.approx([0.65, 0.0], abs=0.01)
    (line,) = shapes(Scene(m.system, None))["lines"]
    assert (line["shape"], line["about"]) == ("ring", [0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("numbers", "about"),
    [
        ({"stiffness": (1.0, 2.0, 2.0)}, (1.0, 0.0, 0.0)),
        ({"stiffness": (2.0, 2.0, 2.0), "torsion": (3.0, 1.0, 3.0)}, (0.0, 1.0, 0.0)),
        ({"stiffness": (1.0, 2.0, 3.0)}, (0.0, 0.0, 1.0)),
        ({"stiffness": (2.0, 2.0, 5.0), "axes": (((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),) * 2}, (1.0, 0.0, 0.0)),
    ],
)
def test_the_sleeve_lies_along_the_axis_that_differs(numbers: dict[str, Any], about: tuple[float, ...]) -> None:
    assert Bushing("b", (("ground", "G"), ("arm", "G")), **numbers).drawn_about == about
