"""Every example runs, prints something, and writes only into the folder it is given."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from linkwright.rings.studio import animation
from tests import ROOT
from tests.sweeps import sweep

DEMO, *EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_some() -> None:
    assert len(EXAMPLES) >= 4


def check_files(script: Path, folder: Path) -> None:
    assert all(p.name == "out" for p in folder.iterdir()), "a script writes only into the folder it is given"
    if "folder" in script.read_text(encoding="utf-8"):
        written = [p for p in (folder / "out").iterdir()]
        assert written and all(p.stat().st_size > 500 for p in written)


def run(script: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Run a script as a main program with its own argument, in this process: a process of its own would import everything again."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [str(script), str(folder / "out")])
    runpy.run_path(str(script), run_name="__main__")
    out, err = capfd.readouterr()
    assert out.strip() and not err
    check_files(script, folder)


@sweep("script", EXAMPLES, now=["03_sketch_and_branches"], ids=lambda p: p.stem)
def test_example_runs(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    run(script, tmp_path, monkeypatch, capfd)


def test_the_demo_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Of its two animations a few frames only: a hundred of them are half of its time."""
    monkeypatch.setattr(animation, "MOST_FRAMES", 3)
    run(DEMO, tmp_path, monkeypatch, capfd)
    check_page(tmp_path / "out" / "index.html")


@pytest.mark.slow
def test_the_demo_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "error", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, str(DEMO), str(tmp_path / "out")], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and not done.stderr
    check_files(DEMO, tmp_path)
    check_page(tmp_path / "out" / "index.html")


def check_page(page: Path) -> None:
    """The demo's index shows pictures and tables, asks for nothing from outside, and leads to the two pages that compute."""
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/") == 8 and "<table>" in text
    assert not re.search(r"""src\s*=\s*(?!["']?data:)|url\(|@import|<script""", text)
    links = re.findall(r'href="([^"]*)"', text)
    assert links == ["wiper.html", "carpet-scraper.html"] and all("var DATA=" in (page.parent / x).read_text("utf-8") for x in links)
