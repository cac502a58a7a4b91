"""CONTRIBUTING, "An element", followed to the letter with one that exists only here: a magnetic latch between two points."""

from __future__ import annotations

import os
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
IMPORT = "from linkwright.elements.load import Load\n"
LISTED = "    Load,\n)"


def added(folder: Path, source: str = LATCH) -> Path:
    """A copy of the package with the one file and the lines in the registry."""
    package = folder / "src" / "linkwright"
    shutil.copytree(ROOT / "src" / "linkwright", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "elements" / "latch.py").write_text(source, encoding="utf-8")
    registry = package / "elements" / "__init__.py"
    text = registry.read_text(encoding="utf-8")
    assert text.count(IMPORT) == 1 and text.count(LISTED) == 1
    text = text.replace(IMPORT, f"from linkwright.elements.latch import Latch\n{IMPORT}").replace(LISTED, f"    Latch,\n{LISTED}")
    registry.write_text(text, encoding="utf-8")
    return package


def asked(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The contract test of the new kind alone, with the changed package."""
    paths = f"pythonpath={folder / 'src'} {ROOT}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", paths, "-k", "Latch", *more]
    own = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")} | {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{ROOT}"}
    command.append(str(ROOT / "tests" / "elements" / "test_contract.py"))
    return subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False, timeout=600)


def test_a_file_and_a_line_are_an_element(tmp_path):
    package = added(tmp_path)
    ran = asked(tmp_path)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert ran.stdout.count(".") > 20  # tests that ran
    original = ROOT / "src" / "linkwright"
    here, there = ({p.relative_to(x).as_posix() for p in x.rglob("*.py")} for x in (original, package))
    assert there - here == {"elements/latch.py"}
    names = [p.relative_to(original) for p in original.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    changed = [p.as_posix() for p in names if (original / p).read_bytes() != (package / p).read_bytes()]
    assert changed == ["elements/__init__.py"]
    before, after = ((x / changed[0]).read_text(encoding="utf-8").splitlines() for x in (original, package))
    assert len(after) - len(before) == 2  # the import and the line in ELEMENTS


def test_a_law_one_per_cent_wrong_is_found(tmp_path):
    added(tmp_path, LATCH.replace("return -self.force / ", "return -1.01 * self.force / "))
    ran = asked(tmp_path)
    assert ran.returncode == 1
    failed = {line.partition("::")[2].partition("[")[0] for line in ran.stdout.splitlines() if line.startswith("FAILED")}
    assert failed == {"test_power_is_what_is_stored_and_lost", "test_law_over_its_travel"}


def test_a_forgotten_role_is_found(tmp_path):
    plain = LATCH.replace('number("length", "distance at which a quarter of the pull is left", 0.01, above=0.0)', "0.01")
    assert plain != LATCH
    added(tmp_path, plain)
    ran = asked(tmp_path)
    assert ran.returncode == 1
    assert "test_facts_are_complete" in ran.stdout


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
