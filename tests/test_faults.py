"""The trial by small faults: how places are found, chosen and changed, and how a copy of the sources is judged."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests import ROOT
from tests.faults import trial
from tests.faults.__main__ import equivalents, row
from tests.faults.nearness import LEFT_OUT, TestFile, files_of_tests, nearest, of_room
from tests.faults.picking import SCRIPTS, TOP, faults_of, pick, picked, room_of, rooms, shares
from tests.faults.places import Fault, python_faults
from tests.faults.scripts import script_faults
from tests.faults.trial import Copy, Verdict, together
from tests.sources import PACKAGE

SAMPLE = '''"""A text with 3 < 4 and 1 + 1."""
LIMIT = 1e-9
def clipped(values: list, low: float = 0.5, *, strict: bool = True) -> float:
    """Return 2."""
    total = 0.0
    for i in range(len(values)):
        if values[i] is None:
            continue
        if not strict and len(values) > 1:
            raise ValueError(f"größer als {low + 1}")
        total += min(values[i], -low) * 2 if strict else values[1:][i]
    values.append(total)
    return total  # 5 * 5
'''
FOUND = {
    ("constant", "1e-9", "1e-06"), ("default changed", "0.5", "1.0"), ("default changed", "True", "False"), ("constant", "0.0", "1.0"),
    ("off by one", "len(values)", "(len(values)) - 1"), ("guard removed", "values[i] is None", "False"),
    ("comparison turned", "is", "is not"),
    ("statement dropped", "continue", "pass"), ("guard removed", "not strict and len(values) > 1", "False"),
    ("not removed", "not strict", "bool(strict)"), ("and/or", "and", "or"), ("comparison turned", ">", "<"), ("off by one", ">", ">="),
    ("statement dropped", 'raise ValueError(f"größer als {low + 1}")', "pass"), ("operator", "+", "-"), ("partner", "min", "max"),
    ("sign", "-low", "+low"), ("operator", "*", "/"), ("constant", "2", "3"), ("condition negated", "strict", "not (strict)"),
    ("off by one", "1", "(1) + 1"), ("constant", "1", "2"), ("statement dropped", "values.append(total)", "pass"),
    ("partner", "append", "count"), ("result negated", "total", "-(total)"),
    ("statement dropped", "total += min(values[i], -low) * 2 if strict else values[1:][i]", "pass"),
}  # fmt: skip
SCRIPT = """// 1 < 2
const shown = (a, b) => {
  if (!a || b === "x < 3") return -1;
  mechanism.t = a[0] + 0.5;
  return Math.max(a.length, b) - 1e-6; /* 4 */
};
"""
FOUND_IN_SCRIPT = {
    ("not removed", "!", "!!"), ("and/or", "||", "&&"), ("comparison turned", "===", "!=="), ("sign", "-", "+"), ("constant", "1", "2"),
    ("guard removed", '!a || b === "x < 3"', "false"), ("statement dropped", "mechanism.t = a[0] + 0.5;", ";"), ("constant", "0", "1"),
    ("operator", "+", "-"), ("constant", "0.5", "1.0"), ("partner", "max", "min"), ("operator", "-", "+"), ("constant", "1e-6", "0.001"),
}  # fmt: skip


def test_faults_of_every_kind_are_found_in_python(tmp_path: Path) -> None:
    path = tmp_path / "clip.py"
    path.write_text(SAMPLE, encoding="utf-8")
    found = python_faults(path, tmp_path)
    assert {(f.kind, f.old, f.new) for f in found} == FOUND
    assert {f.inside for f in found} == {"", "clipped"} and all(f.path == "clip.py" for f in found)
    assert all(SAMPLE.splitlines()[f.line - 1] in SAMPLE[SAMPLE.rfind("\n", 0, f.start) + 1 :].splitlines()[0] for f in found)


def test_faults_are_found_in_scripts_but_not_in_their_texts(tmp_path: Path) -> None:
    path = tmp_path / "show.js"
    path.write_text(SCRIPT, encoding="utf-8")
    assert {(f.kind, f.old, f.new) for f in script_faults(path, tmp_path)} == FOUND_IN_SCRIPT


def test_a_fault_changes_one_place_and_leaves_valid_python() -> None:
    found = faults_of("joints")
    assert len({f.kind for f in found}) >= 8
    texts = {f.path: (PACKAGE / f.path).read_text(encoding="utf-8") for f in found}
    trees = {path: ast.dump(ast.parse(text)) for path, text in texts.items()}
    for fault in found:
        text = texts[fault.path]
        changed = fault.applied(text)
        assert changed[: fault.start] == text[: fault.start] and changed[fault.start + len(fault.new) :] == text[fault.end :]
        assert text[: fault.start].count("\n") == fault.line - 1
        assert ast.dump(ast.parse(changed)) != trees[fault.path], f"{fault.path}:{fault.line} {fault}"


def test_a_fault_of_another_text_is_refused() -> None:
    fault = faults_of("files")[0]
    with pytest.raises(AssertionError, match="has changed since"):
        fault.applied("# a line more\n" + (PACKAGE / fault.path).read_text(encoding="utf-8"))


def test_every_room_has_its_share() -> None:
    folders = {p.parent.name for p in [*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("rings/*/__init__.py")]}
    assert (
        set(rooms()) == folders | {SCRIPTS, TOP}
        and room_of("rings/studio/live/assets/base/dom.js") == SCRIPTS
        and room_of("__main__.py") == TOP
    )
    sizes = {room: sum(p.stat().st_size for p in files) for room, files in rooms().items()}
    each = shares(sizes, 40)
    assert sum(each.values()) == 40 and min(each.values()) == 1
    assert each["model"] > each["files"] and each[SCRIPTS] > 1
    assert shares({"a": 1, "b": 98, "c": 1}, 10) == {"a": 1, "b": 8, "c": 1}
    with pytest.raises(SystemExit, match="--count 3 is too small: each of the"):
        shares(sizes, 3)
    with pytest.raises(SystemExit, match="there is no room 'kitchen'"):
        picked(40, 1, "kitchen")


def test_a_seed_repeats_its_faults() -> None:
    first, again, other = pick("files", 5, 1), pick("files", 5, 1), pick("files", 5, 2)
    assert first == again != other and len({(f.path, f.line) for f in first}) == 5
    assert len(pick("files", 10**6, 1)) == len({(f.path, f.line) for f in faults_of("files")})  # ends where no line is left


def test_the_nearest_tests_come_first() -> None:
    fault = Fault("joints/revolute.py", 1, "sign", 0, 1, "-", "+", "Revolute.pose")
    assert nearest(fault)[0].parent == ROOT / "tests" / "joints"
    assert {p.name for p in of_room(fault)} >= {"test_joints.py", "test_own_joint.py"}
    named = Fault("files/ownership_marks.py", 1, "sign", 0, 1, "-", "+", "mark")
    assert nearest(named)[0] == ROOT / "tests" / "files" / "test_ownership_marks.py"
    page = Fault("rings/studio/live/assets/engine/checks.js", 1, "sign", 0, 1, "-", "+")
    assert ROOT / "tests/rings/studio" / "live" / "test_checks.py" in nearest(page)
    assert any(p.parent.name == "browser" for p in of_room(page)) and not LEFT_OUT & {t.path.name for t in files_of_tests()}


HALVES = """import time


def half(x):
    while x > 1e9:
        time.sleep(1.0)
    return x / 2 - 0 * x
"""
CHECKS = """from linkwright.halves import half


def test_first():
    assert half(0.0) == 0.0


def test_half():
    assert half(4.0) == 2.0
"""


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    source = tmp_path / "src" / "linkwright" / "halves.py"
    source.parent.mkdir(parents=True)
    source.write_text(HALVES, encoding="utf-8")
    source.with_name("__init__.py").touch()
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "test_halves.py").write_text(CHECKS, encoding="utf-8")
    return Copy(tmp_path, timeout=1.5)


def faults_of_halves(copy: Copy) -> dict[tuple[str, str], Fault]:
    source = copy.folder / "src" / "linkwright" / "halves.py"
    return {(f.old, f.new): f for f in python_faults(source, source.parent)}


@pytest.mark.slow
def test_a_fault_fails_or_hangs_and_is_taken_back(copy: Copy, tmp_path: Path) -> None:
    found = faults_of_halves(copy)
    with copy.with_faults([found["/", "*"]]):
        assert copy.run(["checks/test_halves.py"], tmp_path / "cache") == [("failed", "checks/test_halves.py::test_half")]
        assert copy.passed == 1
    with copy.with_faults([found[">", "<"]]):  # the loop never ends
        assert copy.run(["checks/test_halves.py"], tmp_path / "cache") == [("hangs", "checks/test_halves.py::test_first")]
    assert (tmp_path / "src" / "linkwright" / "halves.py").read_text(encoding="utf-8") == HALVES


BROKEN = "import os\n\nos._exit(3)\n"


@pytest.mark.slow
def test_a_run_that_ends_before_the_first_test_is_tried_without_the_fault(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module that ends Python where it computes wrongly: its fault is found. A file that always does so judges nothing."""
    source, checks = tmp_path / "src" / "linkwright" / "halves.py", tmp_path / "checks"
    source.write_text(f"{HALVES}\n\nif half(4.0) != 2.0:\n    import os\n    os._exit(3)\n", encoding="utf-8")
    fault = faults_of_halves(copy)["/", "*"]
    assert trial._found(copy, [fault], ["checks/test_halves.py"], tmp_path / "cache", []) == "ends Python while tests are collected"
    monkeypatch.setattr(trial, "files_of_tests", lambda: [TestFile(ROOT / "checks" / "test_halves.py", frozenset(), frozenset())])
    (left,) = together(copy, [Verdict(fault)], tmp_path / "cache")
    assert left.test == "" and left.notes == ("all tests together: ends Python while tests are collected; tests after it did not run",)
    (checks / "test_halves.py").write_text(BROKEN, encoding="utf-8")
    with pytest.raises(SystemExit, match="ends Python while tests are collected without a fault as well"):
        trial._found(copy, [fault], ["checks/test_halves.py"], tmp_path / "cache", [])


@pytest.mark.slow
def test_faults_that_are_left_are_tried_together(copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "files_of_tests", lambda: [TestFile(ROOT / "checks" / "test_halves.py", frozenset(), frozenset())])
    found = faults_of_halves(copy)
    left = [Verdict(found["/", "*"]), Verdict(found["-", "+"])]  # of one file: one after the other
    first, second = together(copy, left, tmp_path / "cache")
    assert (first.test, first.circle) == ("checks/test_halves.py::test_half", "all")
    assert (second.test, second.circle) == ("", "")
    assert row(first)["found by"] == first.test and row(second)["found by"] == "SURVIVED"


def test_faults_that_change_nothing_are_marked_with_a_reason() -> None:
    for (path, function, fault), reason in equivalents().items():
        found = (script_faults if path.endswith(".js") else python_faults)(PACKAGE / path)
        assert len(reason) > 20, path
        assert any((f.inside, str(f)) == (function, fault) for f in found), f"equivalent.csv: no fault '{fault}' in {path} any more"
