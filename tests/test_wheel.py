"""The wheel holds what users need and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests import ROOT


def test_the_wheel_holds_the_models_and_the_type_marker(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"the wheel cannot be built:\n{done.stdout}{done.stderr}"
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        archive.extractall(tmp_path / "installed")
    models = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src/linkwright/model/library").glob("*.yaml")}
    assert models and inside >= {*models, "linkwright/py.typed", "linkwright/rings/synthesis/coupler_atlas.npz"}
    pages = {f"linkwright/{p.relative_to(ROOT).as_posix()}" for p in (ROOT / "docs").rglob("*.md")}
    assert pages == {name for name in inside if name.startswith("linkwright/docs/")}, "the text of the pages, without pictures and programs"
    assert not [name for name in inside if name.startswith(("tests", "benchmarks", "tools", "docs"))]
    assert not [name for name in inside if Path(name).name.startswith("make_")], "generators of stored data are in tools/"
    sources = {name.rpartition("/")[0] for name in inside if name.endswith((".cpp", ".hpp"))}
    assert sources == {"linkwright/rings/robots/transmission/ros2"}, "texts of exports; drivers of other programs stay in the checkout"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    page = [sys.executable, "-m", "linkwright", "docs", "simulate"]
    done = subprocess.run(page, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("# Simulation\n"), done.stderr
    compare = [sys.executable, "-m", "linkwright", "bench"]
    done = subprocess.run(compare, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "needs a checkout of the repository" in done.stderr
