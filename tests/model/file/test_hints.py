"""Hints of error messages: what was meant, all that is allowed, what to use instead; in the units of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.errors import nearest
from linkwright.joints import JOINTS
from linkwright.model.file import read
from linkwright.model.file.key_hints import KEYS, types
from linkwright.model.file.reader import KEY_GROUPS, MODEL_KEYS
from tests import ROOT
from tests.model.file.test_malformed import GOOD, check
from tests.refusals import refused

DOCS = ROOT / "docs"

CASES = [
    ("comma in braces", "mass: 0.3", "mass: 0,3", 9, r"`mass: 0,3`: decimals are written with a point, `mass: 0\.3`"),
    ("comma with a unit", "45 rpm", "45,5 rpm", 12, r"decimals are written with a point, `A: 45\.5 rpm`"),
    ("comma of a parameter", "L: 300", "L: 0,5", 5, r"`L: 0\.5`"),
    ("comma in a point", "B: [150, 260]", "B: [150,5, 260]", 6, r"not 3\. Decimals are written with a point: 150\.5\."),
    ("comma at the end", "B: [150, 260]", "B: [150, 260,25]", 6, r"written with a point: 260\.25"),
    (
        "comma in a direction",
        "drive:",
        "joints: {S: {type: prismatic, between: [ground, rocker], at: C, axis: [0,5, 1]}}\ndrive:",
        12,
        r"0\.5",
    ),
    ("comma in an expression", "L: 300", "L: 2*150,5", 5, r"`L: 2\*150\.5`"),
    ("comma in an expression of a point", "B: [150, 260]", "B: [2*75,5, 260]", 6, r"written with a point: 2\*75\.5"),
    ("comma in a function", "B: [150, 260]", "B: [150*sqrt(2,25), 260]", 6, r"sqrt\(\) takes 1 value, not 2; .*with a point, 2\.25"),
    ("comma in a maximum", "B: [150, 260]", "B: [150*max(0,5, 1), 260]", 6, r"max\(\) takes 2 values, not 3; .*with a point, 0\.5"),
    ("comma in front", "B: [150, 260]", "B: [,5, 260]", 6, r"an entry is missing before a comma.*with a point, 0\.5"),
    ("comma in both", "B: [150, 260]", "B: [150,5, 260,5]", 6, r"a space follows every second comma\. .* 150\.5"),
    ("thousands and comma", "drive: {A: 45 rpm}", "drive:\n  A: 1.045,5 rpm", 13, r"written with a point, 1045\.5"),
    ("exponent after a comma", "drive: {A: 45 rpm}", "drive:\n  A: 4,5e1 rpm", 13, r"written with a point, 4\.5e1"),
    (
        "comma in a force",
        "drive:",
        "loads: {f: {on: coupler.P, force: [0, -10,5 N]}}\ndrive:",
        12,
        r"2 components, not 3\. .* -10\.5 N",
    ),
    (
        "commas in lists of any length",
        "drive:",
        "loads: {f: {on: coupler.P, force: [0, {over: A, x: [0,1, 2,3], y: [4,5, 6,7]}]}}\ndrive:",
        12,
        r"x: a space follows every second comma\. .* 0\.1",
    ),
    ("comma in a block", "drive: {A: 45 rpm}", "drive:\n  A: 45,5 rpm", 13, r"decimals are written with a point, 45\.5"),
    ("no space behind a colon in braces", "{A: 45 rpm}", "{A:45 rpm}", 12, r"A colon needs a space after it: `A: 45 rpm`"),
    ("no space before a list", "crank: {pins: [", "crank: {pins:[", 9, r"A colon needs a space after it: `pins: \.\.\.`"),
    ("no space on a line", "plane: xy", "plane:xy", 3, r"A colon needs a space after it: `plane: xy`"),
    ("length of a body", "mass: 0.3", "length: 300", 9, r"no key 'length'\. .*`along: \{A: 0, B: 300\}`"),
    ("revolutions in German", "45 rpm", "45 U/min", 12, "Did you mean 'rpm'"),
    ("name of a unit", "45 rpm", "45 degrees/s", 12, "Did you mean 'deg'"),
    ("tab inside the margin", "  crank: {pins", "  \tcrank: {pins", 9, "line 9 begins with a tab"),
    ("section misspelled", "bodies:", "bodys:", 7, "Did you mean 'bodies'"),
    ("other word for a section", "bodies:", "links:", 7, "Did you mean 'bodies'"),
    ("capitals", "parameters:", "Parameters:", 5, "Did you mean 'parameters'"),
    ("wrong case of a joint", "{A: 45 rpm}", "{a: 45 rpm}", 12, "Did you mean 'A'"),
    ("wrong case of a pin", "pins: [A, B], mass", "pins: [a, B], mass", 9, "Did you mean 'A'"),
    ("three bodies at the driven pin", "drive:", "  brace: {pins: [A, B], mass: 1}\ndrive:", 13, "Take A:crank or A:brace"),
    ("all groups are shown", "drive:", "wobble: 3\ndrive:", 12, "constraints: rods, couplings, cams, gears, belts; forces: springs"),
    ("a cam", "drive:", "cam: {c: 3}\ndrive:", 12, "Did you mean 'cams'"),
    ("a rope", "drive:", "ropes: {c: 3}\ndrive:", 12, "Did you mean 'belts'"),
    ("a geneva drive", "drive:", "geneva: {c: 3}\ndrive:", 12, "no Geneva drive"),
    ("contact", "drive:", "contact: {c: 3}\ndrive:", 12, "Did you mean 'contacts'"),
    ("collision", "drive:", "ground_contact: {c: 3}\ndrive:", 12, "`contacts:` names .*`stops:`"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_slip_is_answered_with_what_was_meant(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert GOOD.count(old) == 1
    path = tmp_path / "bad.yaml"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    check(path, message, line)


@pytest.mark.parametrize("word", ["slider", "hinge", "Pin", "weld", "ball", "cardan", "slot", "floating"])
def test_other_words_for_joint_types(word: str) -> None:
    model = {
        "bodies": {"ground": {"points": {"O": [0, 0, 0]}}, "b": {"points": {"P": [0, 0, 0]}}},
        "joints": {"J": {"type": word, "connect": ["ground.O", "b.P"]}},
    }
    with pytest.raises(lw.ModelError, match=f"Did you mean '{types()[word.lower()]}'"):
        read(model)


def test_synonyms_name_what_exists() -> None:
    assert set(types().values()) <= set(JOINTS) and not set(types()) & set(JOINTS)
    assert len(types()) == sum(len(jt.synonyms) for jt in JOINTS.values())
    assert set(KEYS.values()) - set(MODEL_KEYS) == {"com", "mass", "inertia"}  # keys of bodies
    assert not set(KEYS) & set(MODEL_KEYS)
    assert len(MODEL_KEYS) == len(set(MODEL_KEYS)) == sum(map(len, KEY_GROUPS.values()))


def test_documents_named_in_hints_exist() -> None:
    limits = (DOCS / "evidence" / "limits.md").read_text(encoding="utf-8")
    assert "## What to use instead" in limits and "## Tables" in (DOCS / "reference" / "model-file.md").read_text(encoding="utf-8")
    for word in ("cam", "belt", "chain", "Geneva", "rope", "contact", "URDF", "MJCF", "SDF", "DXF", "Excel"):
        assert word in limits


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("robot.urdf.xacro", "Xacro is not read. Write the macros out first"),
        ("robot.srdf", r"SRDF has no links .* Load the URDF .* drives="),
        ("robot.usdz", "USDZ is not read. Unpack it"),
        ("world.wbt", "Worlds of other simulators are not read"),
        ("part.dae", "A mesh is not a model"),
        ("part.step", "CAD files are not read"),
        ("table.xlsx", "Spreadsheets are not read"),
        ("run.npz", r"lw\.load_result"),
    ],
)
def test_files_of_other_programs(tmp_path: Path, name: str, words: str) -> None:
    for path in (tmp_path / name, name):
        with pytest.raises(lw.UsageError, match=f"is not a model file. {'' if name.endswith('.xacro') else '.*'}{words}") as caught:
            lw.load(path)
        assert "'linkwright docs limits'" in str(caught.value)


def test_lengths_are_in_the_units_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    path.write_text(GOOD.replace("pins: [A, B], mass", "along: {A: 0, B: 3000}, mass"), encoding="utf-8")
    with refused(lw.AssemblyError, loop="C"):
        lw.load(path).system.assemble()
    m = lw.load("excavator")
    far = {m.description.joints[0].name: 3e5}
    with refused(lw.UsageError, name="J1"):
        m.system.assemble(far)


def test_all_names_are_shown_and_of_very_many_the_most_similar() -> None:
    s = lw.load("wiper").system
    with refused(lw.UsageError, name="forwrd") as caught:
        s.kernel("forwrd")
    assert "Did you mean 'forward'" in str(caught.value) and "in all" not in str(caught.value)
    assert "kinematics" in repr(s.kernels) and len(repr(s.kernels)) < 1000
    assert "wiper" in repr(s)
    many = [f"joint{i}" for i in range(300)]
    text = nearest("joint123x", many, "Joints")
    assert text.startswith("Did you mean 'joint123'? Joints: joint123, ") and text.endswith("(300 in all).") and len(text) < 300
