"""Writing back: the same mechanism, byte for byte stable, and never over a user's file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linkwright import files
from linkwright.errors import ModelError, UsageError
from linkwright.model import library as models
from linkwright.model.file import read, read_text, save, write
from tests.model.file import test_reading as fixtures
from tests.model.meshes import shapes
from tests.refusals import refused
from tests.sweeps import every_model

TEXTS = {
    "wiper": fixtures.WIPER,
    "wiper in space": fixtures.WIPER + "space: true\n",
    "scraper": fixtures.SCRAPER,
    "parameters": fixtures.WIPER.replace("B: [150, 260]", "B: [L/2, 260]").replace(
        "drive:", "parameters: {L: 300, M: 2*L + 1}\ncuts: [C]\nstart: {A: 60}\ndrive:"
    ),
    "attached": fixtures.WIPER
    + """\
parameters: {L: 300 mm, k: 3 N/mm}
about: 'a "quoted": line # of text, über alles'
rods: {r: {between: [coupler.P, ground.A], length: 2*L + 5 mm}}
couplings: {c: {from: A, to: D, ratio: 2}, cam: {from: A, to: D, table: [[0, 0], [90, 30], [180, 0]]}}
gears: {g: {joints: [A, D], radii: [20, 60], internal: true}}
springs: {s: {joint: A, stiffness: 2 N m/rad, free_position: 90}, c: {between: [ground.A, coupler.P], stiffness: k, free_length: 500}}
dampers: {d: {joint: A, coefficient: 0.1 N m s/rad}}
friction: {A: {coulomb: 0.2 N m}}
stops:
  A: {range: [-30, 2*L/(4 mm)*1 deg], stiffness: 2000 N m/rad, damping: 0.2 s/rad}
  top: {joint: D, max: 90, stiffness: 10 N m/deg}
  cyl: {min: 300, stiffness: k}
cylinders: {cyl: {between: [ground.A, coupler.P], pressure: 6 bar, bore: 50}}
loads:
  drag:
    {on: coupler.P, force: [-5 N s/m * coupler.P.vx, {over: A, table: [[0, 0 N], [180, 5 N]]}], moment: 2 N m * sin(3 rad/s*t), axes: body}
""",
    "drives": fixtures.WIPER.replace("{A: 45 rpm}", "{A: {moves: [{to: 90, in: 0.4 s, law: '345'}, {dwell: 200 ms}]}, D: undriven}"),
    "motor": fixtures.WIPER.replace("{A: 45 rpm}", "{A: {dc_motor: {Kt: 3 N m/A, R: 3 ohm, J: 0.01 kg m^2, gear_ratio: 10}}}"),
    "fed motor": fixtures.WIPER.replace("{A: 45 rpm}", "{A: {dc_motor: {Kt: 3 N m/A, R: 3 ohm, voltage: 5 V*sin(2 rad/s*t)}}}"),
}


def there_and_back(description):
    text = write(description)
    again = read_text(text)
    assert again == description
    assert write(again) == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_written_reads_back(text):
    there_and_back(read_text(text))


@pytest.mark.parametrize("name", every_model(touching=True))
def test_shipped_models_read_back(name):
    there_and_back(read(models.path(name)))


def test_a_spatial_model_with_every_joint():
    joints = {
        "Z": {"type": "revolute", "connect": ["ground.O", "arm.O"], "axis": [0, 3, 4]},
        "U": {"type": "universal", "connect": ["arm.B", "tool.B"], "axes": [[0, 0.6, 0.8], [0, 0, 2]]},
        "S": {"type": "screw", "connect": ["ground.O", "tool.B"], "axis": [1, 1, 1], "pitch": "p"},
        "K": {"type": "spherical", "connect": ["ground.O", "tool.B"]},
    }
    d = read({**fixtures.SPACE, "joints": joints, "parameters": {"p": "5 mm/rad"}, "start": {"K": [1, 0, 0, 0], "K.v": [0, 0, 1]}})
    there_and_back(d)


def test_a_planar_body_with_a_mesh_beside_the_plane(tmp_path):
    """Its center is 0.2 m above the plane: the file has that third coordinate."""
    shapes.written(tmp_path, "stl", shapes.plate(8).apply_translation([0.0, 0.0, 0.2]))
    text = """
    plane: xy
    bodies:
      ground: {points: {A: [0, 0]}}
      plate: {points: {A: [0, 0]}, mesh: {file: plate.stl, material: steel, unit: m}}
    """
    (tmp_path / "model.yaml").write_text(text, encoding="utf-8")
    description = read(tmp_path / "model.yaml")
    assert description.body("plate").com[2] == pytest.approx(0.2, abs=1e-7)  # STL has single precision
    there_and_back(description)
    with refused(ModelError, name="body 'b': com", line=3):  # of a drawn shape
        read_text("plane: xy\ndrawing: {A: [0, 0]}\nbodies: {ground: {pins: [A]}, b: {pins: [A], mass: 1, com: [0, 0, 1]}}\n")


def test_parameters_stay_free_in_the_written_file():
    d = read_text(TEXTS["parameters"])
    again = read_text(write(d))
    assert again.numbers({"L": 400.0}) == d.numbers({"L": 400.0}) != d.numbers()


def test_saving_replaces_and_is_recognized_until_it_is_edited(tmp_path):
    d = read_text(fixtures.WIPER)
    path = save(d, tmp_path / "m.yaml")
    assert read(path) == d == read(save(d, path)) and files.made_by_linkwright(path)
    path.write_text(path.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    assert read(path) == d and not files.made_by_linkwright(path)
    with refused(UsageError, file="m.yaml"):
        save(d, tmp_path / "nowhere" / "m.yaml")


# letters that YAML refuses (C0, DEL, C1, U+FFFE), takes for line breaks (U+0085, U+2028) or for its own signs, and one beyond 16 bits
@pytest.mark.parametrize(
    "text", ["a: b", "a #b", "a\x7fb", "a\x1bb", "a\x85b", "a\x9fb", "a\ufffeb", "a\u2028b", 'a"\\b', "- a", "\U0001d6fc", "a\nb"]
)
def test_every_name_reads_back(text):
    d = replace(read_text(fixtures.WIPER), name=text)
    assert read_text(write(d)).name == text
