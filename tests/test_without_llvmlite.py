"""Where llvmlite has no wheels the package installs without it: everything runs interpreted, and the command line says so."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import linkwright as lw
from tests import ROOT
from tests.oldest import project

CODE = """
import json, sys
sys.modules["llvmlite"] = None
import linkwright as lw
from linkwright.rings.cli import main
m = lw.load("wiper")
c = m.cycle(steps=12)
code = main(["simulate", "wiper", "0.02"])
print(json.dumps([code, c["A.torque"].tolist(), c.load("C", on="rocker").max]))
"""


def test_a_turn_and_a_run_of_the_command_line(tmp_path: Path) -> None:
    given = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "LINKWRIGHT_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=100, cwd=tmp_path, env=given)
    assert done.returncode == 0, done.stderr
    code, torque, load = json.loads(done.stdout.splitlines()[-1])
    assert code == 0 and "note: the package llvmlite is not installed" in done.stderr
    c = lw.load("wiper").cycle(steps=12)
    assert torque == pytest.approx(c["A.torque"].tolist(), abs=1e-11)  # native code fuses sums: round-off of 2 N m, with margin
    assert load == pytest.approx(c.load("C", on="rocker").max, rel=1e-11)


MACHINES = {  # (system, machine, Python): the bound that holds there, or None without native code
    ("linux", "x86_64", "3.11"): ">=0.45",
    ("linux", "aarch64", "3.14"): ">=0.45",
    ("darwin", "arm64", "3.13"): ">=0.45",
    ("win32", "AMD64", "3.12"): ">=0.45",
    ("darwin", "x86_64", "3.13"): "<0.46,>=0.45",
    ("darwin", "x86_64", "3.14"): None,
    ("linux", "riscv64", "3.12"): None,
    ("win32", "ARM64", "3.13"): None,
    ("linux", "x86_64", "3.15"): None,
}


@pytest.mark.parametrize("machine", MACHINES, ids=" ".join)
def test_llvmlite_is_asked_for_where_it_has_wheels(machine: tuple[str, str, str]) -> None:
    """Markers of pyproject.toml; wheels of llvmlite 0.45 to 0.50 as listed by its registry."""
    system, processor, version = machine
    given = {
        "sys_platform": system, "platform_machine": processor, "python_version": version, "platform_python_implementation": "CPython",
    }  # fmt: skip
    asked = [Requirement(x) for x in project()["dependencies"]]
    bounds = [str(x.specifier) for x in asked if x.name == "llvmlite" and x.marker and x.marker.evaluate(given)]
    assert bounds == ([] if MACHINES[machine] is None else [MACHINES[machine]])


def test_every_supported_python_has_a_classifier_and_a_place_in_the_workflows() -> None:
    given = project()
    declared = re.findall(r"Python :: (3\.\d+)", " ".join(given["classifiers"]))
    assert declared == [f"3.{minor}" for minor in range(11, 15)] and given["requires-python"] == f">={declared[0]}"
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert f"python: [{', '.join(chr(34) + version + chr(34) for version in declared)}]" in text
