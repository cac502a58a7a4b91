"""The path of somebody new: a fresh virtual environment, `pip install .`, a model of their own, and a mistake in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linkwright.rings import cli
from tests import ROOT

THREE_MINUTES = 180.0


class Newcomer:
    """Somebody at a shell in a folder, with nothing of ours in the environment."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        # bytecode is made when a module is first used, not for all of scipy; kernels are compiled afresh
        own = {"PIP_COMPILE": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "LINKWRIGHT_CACHE": str(folder / "cache")}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LINKWRIGHT", "COV_"))} | own

    def types(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        program = self.programs / words[0]
        command = [str(program) if words[0] != "python" else sys.executable, *words[1:]]
        return subprocess.run(
            command, cwd=cwd or self.folder, env=self.environment, capture_output=True, text=True, encoding="utf-8", timeout=900
        )

    def gets(self, *words: str, cwd: Path | None = None) -> str:
        done = self.types(*words, cwd=cwd)
        assert done.returncode == 0, f"{' '.join(words)}:\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.mark.slow  # installs everything anew: most of a minute
def test_from_nothing_to_a_report_in_three_minutes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    somebody = Newcomer(tmp_path)
    before = os.times()
    somebody.gets("python", "-m", "venv", "venv")
    somebody.gets("pip", "install", "--quiet", ".", cwd=ROOT)
    assert "linkwright new my.yaml" in somebody.gets("linkwright")
    assert "wrote my.yaml" in somebody.gets("linkwright", "new", "my.yaml")
    assert "1 degree of freedom, driven at A; full turn" in somebody.gets("linkwright", "info", "my.yaml")
    turned = somebody.gets("linkwright", "cycle", "my.yaml")
    simulated = somebody.gets("linkwright", "simulate", "my.yaml", "1", "-o", "run.npz")
    passed = "\npassed: run, loops, velocities, energy, branch, error, loads, inputs; estimated error of positions "
    assert passed in simulated and "wrote run.npz" in simulated
    assert "wrote report.html" in somebody.gets("linkwright", "report", "my.yaml", "-o", "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "A crank that swings a rocker" in report and report.rstrip().endswith("</html>")

    model = tmp_path / "my.yaml"
    text = model.read_text(encoding="utf-8")
    assert cli.main(["cycle", str(model)]) == 0
    assert turned == capsys.readouterr().out, "what is installed is what stands here"
    model.write_text(text.replace("base: 320", "base: 3200"), encoding="utf-8")
    wrong = somebody.types("linkwright", "info", "my.yaml")
    assert wrong.returncode == 1 and not wrong.stdout and wrong.stderr.count("\n") == 1
    assert "the links crank, rocker, coupler reach at most 650 mm, but the joints on 'ground' are 3200 mm apart" in wrong.stderr
    assert "Make 'ground' shorter, or the others longer" in wrong.stderr

    after = os.times()
    # processor time: what it takes on a machine that has nothing else to do, and does not wait for the network
    taken = after.children_user + after.children_system - before.children_user - before.children_system
    assert taken < THREE_MINUTES
