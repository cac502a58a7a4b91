"""Test files in the order of their nearness to a module: by what they import and name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests import ROOT
from tests.faults.picking import SCRIPTS, TOP, room_of
from tests.faults.places import Fault

TESTS = ROOT / "tests"
# Tests of texts and sizes, of types of scripts, and of what is packed: they look at sources, not at what these compute.
LEFT_OUT = {"test_quality.py", "test_habits.py", "test_types.py", "test_wheel.py", "test_faults.py"}
IMPORT = re.compile(r"^[ \t]*(?:from|import) ((?:linkwright|tests)[\w.]*)(?: import (\([^)]*\)|[^\n#]*))?", re.MULTILINE)
NEAREST = 6  # files of the first circle
ROOM_TESTS = {  # folders and files of tests of a room that has another name there, or that more than its own test
    SCRIPTS: ("rings/studio/live", "rings/studio/browser"),
    "errors": ("test_errors.py", "test_unknown_names.py", "test_arguments.py", "test_wrong_calls.py"),
    "integrators": ("integrators", "simulation"),
    TOP: ("rings/cli", "system"), "rings": ("rings/cli", "system"), "kernels": ("kernels", "system"),
    **{ring: (f"rings/{ring}",) for ring in ("cli", "control", "design", "exchange", "papers", "robots", "studio", "synthesis")},
}  # fmt: skip


@dataclass(frozen=True)
class TestFile:
    """A file of tests: modules of the package that it imports, directly or through modules of the tests, and all its names."""

    __test__ = False

    path: Path
    imports: frozenset[str]  # paths below src/linkwright, "joints/revolute.py"
    names: frozenset[str]


@cache
def files_of_tests() -> tuple[TestFile, ...]:
    """Return all files of tests but those that look at texts."""
    return tuple(_read(p) for p in sorted(TESTS.rglob("test_*.py")) if p.name not in LEFT_OUT)


@cache
def _read(path: Path) -> TestFile:
    text = path.read_text(encoding="utf-8")
    imports: set[str] = set()
    for module, names in IMPORT.findall(text):
        for name in (module, *(f"{module}.{inner}" for inner in re.findall(r"(\w+)(?: as \w+)?", names))):
            top, _, inner = name.replace(".", "/").partition("/")
            if top == "linkwright":
                imports |= {f"{inner}.py", f"{inner}/__init__.py"}
            elif inner and (other := TESTS / f"{inner}.py") != path and other.is_file():
                imports |= _read(other).imports
    return TestFile(path, frozenset(imports), frozenset(re.findall(r"\w+", text)))


def nearness(test: TestFile, fault: Fault) -> float:
    """Return how near a test is to the function of a fault; 0 if nothing is shared."""
    place = Path(fault.path)
    stem = place.parent.name if place.stem == "__init__" else place.stem
    inside = [n for n in fault.inside.split(".") if n and not n.startswith("__")]
    mirrored = test.path.parent.relative_to(TESTS).parts
    folder = place.parts[:-1]
    shared = sum(1 for a, b in zip(mirrored, folder, strict=False) if a == b) / max(len(folder), len(mirrored), 1)
    same = test.path.stem.removeprefix("test_") in (stem, stem.rstrip("s"), stem + "s")
    score = 4.0 * (fault.path in test.imports) + 1.0 * (stem in test.names) + 2.0 * sum(n in test.names for n in inside)
    score += 2.0 * shared + 3.0 * same * (shared > 0)
    return score - 3.0 * ("browser" in mirrored)  # a browser takes seconds


def nearest(fault: Fault) -> list[Path]:
    """Return the files of the first circle, the nearest one first."""
    rated = sorted(((-nearness(t, fault), t.path) for t in files_of_tests()), key=lambda pair: (pair[0], str(pair[1])))
    return [path for score, path in rated[:NEAREST] if score < 0]


def of_room(fault: Fault) -> list[Path]:
    """Return the files of the second circle: tests of the room, the nearest first."""
    room = room_of(fault.path)
    folders = [TESTS / name for name in ROOM_TESTS.get(room, (room,))]
    if room == SCRIPTS and fault.path.startswith("kernels"):
        folders.append(TESTS / "kernels")
    inside = [t for t in files_of_tests() if any(folder in (t.path, *t.path.parents) for folder in folders)]
    return [t.path for t in sorted(inside, key=lambda t: (-nearness(t, fault), str(t.path)))]
