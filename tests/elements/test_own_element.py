"""docs/contributing/extension-points.md, "Add an element", with one that exists only here: a magnetic latch between two points."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from linkwright import elements
from linkwright.elements import TurnsRole
from tests.elements import test_contract
from tests.elements.cases import every_case

ROOT = Path(__file__).parents[2]
LATCH = '''"""Magnetic latch: a pull between two points that fades with their distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.elements.base import Looks, ModelElement, PointRef, Scalar, ends, number, place
from linkwright.errors import Source


@dataclass(frozen=True)
class Latch(ModelElement):
    """Pull of force / (1 + distance/reach)^2."""

    section, word = "latches", "latch"
    conservative = True
    looks = Looks("line", 1.0, (2.0, 1.0))

    name: str
    between: tuple[PointRef, PointRef] = ends()
    force: Scalar = number("force", "pull where the points meet", preset=(10.0, 10.0))
    reach: Scalar = number("length", "distance at which a quarter of the pull is left", 0.01, above=0.0)
    where: Source | None = place()

    def law(self, at: Any) -> Any:
        near = 1.0 + at.x / self.reach
        return -self.force / (near * near)

    def stored(self, at: Any) -> Any:
        return -self.force * self.reach / (1.0 + at.x / self.reach)
'''
REACH = 'number("length", "distance at which a quarter of the pull is left", 0.01, above=0.0)'
SOURCES = {  # class -> its file: as it should be, one per cent wrong, and with a field that has no role
    "Latch": LATCH,
    "WrongLatch": LATCH.replace("return -self.force / ", "return -1.01 * self.force / "),
    "PlainLatch": LATCH.replace(REACH, "0.01"),
}
IMPORT = "from linkwright.elements.load import Load\n"
LISTED = "    Load,\n)"
ORIGINAL = ROOT / "src" / "linkwright"
EXPECTED = {"Latch": set(), "WrongLatch": {"test_power_is_what_is_stored_and_lost", "test_law_over_its_travel"}}


def added(folder: Path) -> Path:
    """The package with the new files and their lines in the registry; everything but `elements` is the original itself."""
    package = folder / "src" / "linkwright"
    shutil.copytree(ORIGINAL / "elements", package / "elements")
    for path in ORIGINAL.iterdir():
        if path.name != "elements":
            (package / path.name).symlink_to(path)
    registry = package / "elements" / "__init__.py"
    text = registry.read_text(encoding="utf-8")
    assert text.count(IMPORT) == 1 and text.count(LISTED) == 1
    for name, source in SOURCES.items():
        own = source.replace("class Latch(", f"class {name}(").replace('"latches", "latch"', f'"{name.lower()}es", "{name.lower()}"')
        assert name == "Latch" or source != LATCH
        (package / "elements" / f"{name.lower()}.py").write_text(own, encoding="utf-8")
        text = text.replace(IMPORT, f"from linkwright.elements.{name.lower()} import {name}\n{IMPORT}")
        text = text.replace(LISTED, f"    {name},\n{LISTED}")
    registry.write_text(text, encoding="utf-8")
    return package


def asked(folder: Path) -> subprocess.CompletedProcess[str]:
    """The contract test of the new kinds alone, with the changed package."""
    paths = f"pythonpath={folder / 'src'} {ROOT}"
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "-o", paths, "-k", "Latch"]
    own = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")} | {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{ROOT}"}
    command.append(str(ROOT / "tests" / "elements" / "test_contract.py"))
    return subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False, timeout=600)


def test_a_file_and_a_line_are_an_element(tmp_path):
    """The contract test passes with the new element alone added; it finds a law one per cent wrong, and a forgotten role."""
    package = added(tmp_path)
    here, there = ({p.name for p in (x / "elements").glob("*.py")} for x in (ORIGINAL, package))
    assert there - here == {f"{name.lower()}.py" for name in SOURCES}
    assert [x for x in here if (ORIGINAL / "elements" / x).read_bytes() != (package / "elements" / x).read_bytes()] == ["__init__.py"]
    before, after = ((x / "elements" / "__init__.py").read_text(encoding="utf-8").splitlines() for x in (ORIGINAL, package))
    assert len(after) - len(before) == 2 * len(SOURCES)  # the import and the line in ELEMENTS
    ran = asked(tmp_path)
    lines = [line.split() for line in ran.stdout.splitlines() if line.startswith(("FAILED ", "PASSED ", "ERROR "))]
    own = [(name, word, line) for name in SOURCES for word, line, *_ in lines if re.search(rf"[\[-]{name}[-\]]", line)]
    said = {(name, word, line.partition("::")[2].partition("[")[0]) for name, word, line in own}
    assert len({test for name, word, test in said if (name, word) == ("Latch", "PASSED")}) > 15, ran.stdout[-3000:] + ran.stderr[-1000:]
    failed = {name: {test for own, word, test in said if own == name and word != "PASSED"} for name in SOURCES}
    assert {name: failed[name] for name in EXPECTED} == EXPECTED, ran.stdout[-3000:]
    assert "test_facts_are_complete" in failed["PlainLatch"]


def test_axes_that_do_not_turn_with_their_bodies_are_found(monkeypatch):
    """Native code turns bodies into the axes of their joints; without the role of its axes an element would not turn along."""
    turning = [x for x in elements.ELEMENTS if any(isinstance(r, TurnsRole) for r in elements.roles(x).values())]
    own = [case for case in every_case() if case.base == "space" and case.kind in turning]
    assert own
    for case in own:
        test_contract.test_native_code_is_the_law(case)
    monkeypatch.setattr(elements, "turned", lambda d: [])
    for case in own:
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            test_contract.test_native_code_is_the_law(case)
