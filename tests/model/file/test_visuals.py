"""`visuals:` in a model file: shapes, units, colors, missing files, mistakes; meshes that weigh are drawn too; round trips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.model.description import Placement, Visual
from linkwright.model.file.reader import read_enclosed
from linkwright.model.file.writer import write
from tests.model.meshes.shapes import written


def model(visuals: Any, **body: Any) -> dict[str, Any]:
    return {"name": "m", "units": ["mm", "deg"], "bodies": {"ground": {}, "arm": {"visuals": visuals, **body}},
            "joints": {"A": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0]}}}  # fmt: skip


def arm(visuals: Any) -> tuple[Visual, ...]:
    return lw.load(model(visuals)).description.body("arm").visuals


def test_shapes_are_read_in_the_units_of_the_file() -> None:
    assert arm([{"box": [10, 20, "3 cm"]}]) == (Visual("box", pytest.approx((0.01, 0.02, 0.03))),)
    assert arm([{"sphere": 5, "color": "#A0b0C0"}]) == (Visual("sphere", (0.005, 0.0, 0.0), color="#a0b0c0"),)
    (v,) = arm([{"cylinder": {"radius": 5, "length": 40}, "at": [1, 2, 3], "rpy": [0, 0, 90]}])
    assert v.size == pytest.approx((0.005, 0.04, 0.0)) and v.placement.at == pytest.approx((0.001, 0.002, 0.003))
    assert v.placement.rotation[0] == pytest.approx((0.0, -1.0, 0.0), abs=1e-15)
    (v,) = arm([{"capsule": {"radius": 5, "length": 10}}])
    assert v.shape == "capsule"


def test_meshes_have_the_unit_of_the_file_or_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "stl")
    (tmp_path / "plate.glb").write_bytes(b"")
    sizes = [
        ({"mesh": "plate.stl"}, (1e-3, 1e-3, 1e-3)),
        ({"mesh": "plate.stl", "unit": "in"}, (0.0254, 0.0254, 0.0254)),
        ({"mesh": "plate.stl", "unit": "m", "scale": 0.5}, (0.5, 0.5, 0.5)),
        ({"mesh": "plate.stl", "scale": [1, -1, 2]}, (1e-3, -1e-3, 2e-3)),
        ({"mesh": "plate.glb"}, (1.0, 1.0, 1.0)),  # glTF has meters
    ]
    for entry, size in sizes:
        (v,) = arm([entry])
        assert v.size == pytest.approx(size), entry


def test_a_mesh_that_weighs_is_drawn_too_unless_visuals_say_otherwise(tmp_path: Path) -> None:
    written(tmp_path, "stl")
    text = """
units: [mm]
bodies:
  ground: {}
  a: {mesh: {file: plate.stl, material: steel, scale: 2}}
  b: {mesh: {file: plate.stl, material: steel}, visuals: []}
joints:
  A: {type: revolute, between: [ground, a], at: [0, 0, 0]}
  B: {type: revolute, between: [ground, b], at: [0, 0, 0]}
"""
    (tmp_path / "m.yaml").write_text(text)
    d = lw.load(tmp_path / "m.yaml").description
    assert d.body("a").visuals == (Visual("mesh", pytest.approx((2e-3, 2e-3, 2e-3)), file="plate.stl"),) and d.body("b").visuals == ()


def test_a_missing_mesh_costs_a_warning_and_not_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.dae").write_text("x")
    m = lw.load(model([{"mesh": "nowhere.stl"}, {"mesh": "part.dae"}]))
    first, second = m.description.warnings
    assert "there is no file 'nowhere.stl'" in first and "'part.dae' has no ending of a mesh" in second
    assert first in str(m.info())


def test_the_written_model_reads_back_with_meshes_from_its_new_place(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    written(tmp_path / "a", "stl")
    shapes = (
        "[{mesh: plate.stl, scale: [1, -1, 2], at: [1, 2, 3], rpy: [0, 0, 30], color: '#102030'}, {mesh: plate.stl}, {sphere: 2}, "
        "{box: [1, 2, 3]}, {cylinder: {radius: 1, length: 2}}, {capsule: {radius: 1, length: 2}}]"
    )
    source = tmp_path / "a" / "m.yaml"
    source.write_text(
        f"units: [mm, deg]\nbodies: {{ground: {{visuals: [{{sphere: 1}}]}}, arm: {{mass: 1 kg, visuals: {shapes}}}}}\n"
        "joints: {A: {type: spherical, between: [ground, arm], at: [0, 0, 0]}}\n"
    )
    m = lw.load(source)
    assert not m.description.warnings
    here, there = (lw.load(m.save(tmp_path / where / "copy.yaml")).description for where in ("a", "b"))
    assert here.bodies == m.description.bodies and not there.warnings
    assert [v.file for v in there.body("arm").visuals] == ["../a/plate.stl", "../a/plate.stl", "", "", "", ""]
    assert there.body("arm").visuals[0].placement == m.description.body("arm").visuals[0].placement != Placement()


def test_a_model_inside_another_file_keeps_its_visuals_and_reads_none() -> None:
    d = lw.load(model([{"mesh": "/etc/passwd.stl"}, {"sphere": 3}])).description
    assert read_enclosed(write(d), "run.npz").body("arm").visuals == d.body("arm").visuals


def test_planar_models_have_layers() -> None:
    found = lw.load({
        "plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "bar": {"pins": ["A"], "points": ["B"], "visuals": [
            {"box": [1, 0.1, 0.1], "at": [0.5, 0]}, {"sphere": 0.1, "at": [0.5, 0, 0.2]},
        ]}},
    })  # fmt: skip
    assert [v.placement.at for v in found.description.body("bar").visuals] == [(0.5, 0.0, 0.0), (0.5, 0.0, 0.2)]


BAD = [
    ({"box": [1, 2, 3]}, "must be a list"),
    ([{}], "a shape is one of mesh, box"),
    ([{"box": [1, 2, 3], "sphere": 1}], "a shape is one of mesh, box"),
    ([{"box": [1, 2]}], "must have 3 entries"),
    ([{"box": [1, 2, 0]}], "greater than zero"),
    ([{"sphere": "2 kg"}], "sphere"),
    ([{"cylinder": {"radius": 1}}], "lacks 'length'"),
    ([{"sphere": 1, "scale": 2}], "only a mesh has a scale"),
    ([{"mesh": "a.stl", "scale": 0}], "leaves nothing to draw"),
    ([{"mesh": "a.stl", "scale": [1, 2]}], "one number, or three"),
    ([{"mesh": "a.stl", "unit": "kg"}], "must be a length"),
    ([{"sphere": 1, "color": "red"}], 'Write "#rrggbb" in quotes'),
    ([{"sphere": 1, "at": [1, 2]}], "must have 3 components"),
    ([{"sphere": 1, "colour": "#000000"}], "Did you mean 'color'"),
    ([{"sphere": 1}] * 201, "at most 200"),
]


@pytest.mark.parametrize(("visuals", "words"), BAD)
def test_mistakes_are_named(visuals: Any, words: str) -> None:
    with pytest.raises(lw.ModelError, match=words):
        lw.load(model(visuals))
