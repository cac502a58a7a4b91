"""Types of the page's scripts, in JSDoc, as tsc sees them (tsconfig.json)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests import ROOT
from tests.typescript import tsc


def complaints(project: Path) -> list[str]:
    done = subprocess.run([*tsc(), "--pretty", "false", "-p", str(project)], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300)
    return (done.stdout + done.stderr).splitlines()


@pytest.mark.parametrize("project", ["tsconfig.json", "tsconfig.strict.json"])
def test_types_of_scripts_hold(project: str) -> None:
    """All scripts; and without any parameter of unknown type those of the exported mechanism, the engine and the curves."""
    assert not complaints(ROOT / project)


def test_wrong_types_are_found(tmp_path: Path) -> None:
    """The checker sees the scripts: a wrong unit, a forgotten null and a name that does not exist are refused."""
    wrong = 'LW.format("3", "length");\nconst c = LW.engine(mechanism, DATA).cycle.n;\nLW.number(DATA.nothing);\n'
    (tmp_path / "wrong.js").write_text(wrong, encoding="utf-8")
    config = json.loads((ROOT / "tsconfig.json").read_text(encoding="utf-8"))
    types = [str(ROOT / x) for x in config["include"] if x.endswith(".d.ts")]
    project = {"extends": str(ROOT / "tsconfig.json"), "include": [*types, str(tmp_path / "wrong.js")]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(project), encoding="utf-8")
    lines = [x.split("): error ")[0].rsplit("(", 1)[1].split(",")[0] for x in complaints(tmp_path / "tsconfig.json") if ": error " in x]
    assert lines == ["1", "2", "3"]
