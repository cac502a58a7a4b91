"""`linkwright MODEL`: the page written or served, of models and of runs; and where a word may stand."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.rings import cli
from linkwright.rings.studio import live, report, server
from tests import ROOT
from tests.rings.cli.schemas import disagreements

ARM = """name: arm
plane: xy
parameters: {L: 1 m}
drawing: {A: [0, 0], B: [1, 0]}
bodies:
  ground: {pins: [A]}
  arm: {along: {A: 0, B: L}, mass: 2}
drive: {A: 60 rpm}
"""


@pytest.fixture(autouse=True)
def arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "Größe ÷ 2"  # spaces and characters beyond any code page
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("arm.yaml").write_text(ARM, encoding="utf-8")


def cycle_samples(path: str) -> int:
    """Samples of the cycle that plays in a page: shape of its times."""
    found = re.search(r'"cycle":\{.*?"t":\{"f64":"[^"]*","shape":\[(\d+)\]', Path(path).read_text(encoding="utf-8"))
    assert found
    return int(found[1])


@pytest.mark.slow
def test_steps_of_a_report(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    for _ in range(2):  # from now on all turns come from native code: equal in every bit
        report.fragment(lw.load("arm.yaml"), steps=10)
    monkeypatch.setattr(live, "write", lambda subject, path, **options: asked.update(options) or path)
    assert cli.main(["report", "arm.yaml", "--steps", "10", "-o", "report.html"]) == 0
    assert asked["steps"] == 10 and asked["report"] == report.fragment(lw.load("arm.yaml"), steps=10) != report.fragment(
        lw.load("arm.yaml")
    )
    lw.load("arm.yaml").cycle(steps=4).save("run.npz")
    for words in (["run.npz", "-o", "no.html"], ["report", "run.npz"]):
        assert cli.main([*words, "--steps", "8"]) == 1 and "samples of its own" in capsys.readouterr().err
    assert cli.main(["report", "arm.yaml", "--steps", "8", "--simulate", "1"]) == 1 and "Leave one of them out" in capsys.readouterr().err
    wrong: list[Any] = [1, 2.5, True, 100_001]
    for steps in wrong:
        with pytest.raises(lw.UsageError, match="from 2 to 100000"):
            lw.load("arm.yaml").show("no.html", steps=steps)


@pytest.mark.slow
def test_the_page_of_a_model_and_of_a_run_and_the_report_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["arm.yaml", "--param", "L=2 m", "--no-browser", "--steps", "24", "-o", "page.html"]) == 0
    assert capsys.readouterr().out == "wrote page.html\n" and cycle_samples("page.html") == 25
    assert cli.main(["simulate", "arm.yaml", "0.2", "--sample-interval", "0.1", "-o", "run.npz", "--page", "with.html"]) == 0
    assert cli.main(["-o", "again.html", "run.npz"]) == 0
    assert cli.main(["report", "run.npz", "--json"]) == 0
    data = json.loads(capsys.readouterr().out.partition("wrote again.html\n")[2])
    assert disagreements("report", data) == [] and (data["model"], data["run"], data["file"]) == ("arm", True, "run-report.html")
    texts = {p.stem: p.read_text(encoding="utf-8") for p in Path().glob("*.html")}
    assert set(texts) == {"page", "with", "again", "run-report"} and all("</html>" in x[-20:] for x in texts.values())
    played = {name: re.search(r'"run":\s*null', x) is None for name, x in texts.items()}
    assert played == {"page": False, "with": True, "again": True, "run-report": True}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["arm.yaml", "-o", "page.txt"], ".html"),
        (["arm.yaml", "-o", "arm.yaml"], ".html"),
        (["missing.yaml"], "missing.yaml"),
        (["missing.npz", "-o", "x.html"], "missing.npz"),
        (["arm.yaml", "--param", "L=2 kg", "-o", "x.html"], "L"),
        (["report", "missing.yaml"], "missing.yaml"),
    ],
)
def test_what_cannot_be_shown_says_why(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 1
    out, err = capsys.readouterr()
    assert said in err and err.startswith("error: ") and err.count("\n") == 1 and not out
    assert [p.name for p in Path().iterdir()] == ["arm.yaml"]


def test_another_file_is_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A model is served until it is mended; a table never becomes one."""
    Path("table.csv").write_text("controller,steps\nmine,3\n")
    assert cli.main(["table.csv"]) == 1
    assert "'table.csv' is neither a model nor a run" in capsys.readouterr().err


def test_a_run_cannot_be_changed(capsys: pytest.CaptureFixture[str]) -> None:
    lw.load("arm.yaml").cycle(steps=4).save("turn.npz")
    for words in (["turn.npz", "--param", "L=2"], ["turn.npz", "--set", "A=1", "-o", "x.html"], ["report", "turn.npz", "--cuts", "A"]):
        assert cli.main(words) == 1
        assert "is a run that was computed already" in capsys.readouterr().err
    assert cli.main(["info", "turn.npz"]) == 1 and "'linkwright turn.npz' plays the run" in capsys.readouterr().err


def test_serving_passes_everything_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = []

    def fake(source: str, **options: object) -> int:
        asked.append((source, {k: v for k, v in options.items() if k != "out"}))
        return 0

    monkeypatch.setattr(server, "serve", fake)
    assert cli.main(["arm.yaml", "--param", "L=2", "--set", "A=0.5", "--port", "8123", "--steps", "24", "--no-browser"]) == 0
    assert cli.main(["wiper"]) == 0
    changed = {"port": 8123, "browser": False, "steps": 24, "L": "2", "start": {"A": "0.5 rad"}}
    assert asked == [("arm.yaml", changed), ("wiper", {"port": 0, "browser": True, "steps": None})]


def test_the_address_as_json_answers(tmp_path: Path) -> None:
    """A process of its own serves until SIGTERM ends it, with the exit code that the docs name."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii"}
    words = ["arm.yaml", "--no-browser", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "linkwright", *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "}\n")
    data = json.loads("".join(lines) + "}")
    try:
        assert disagreements("page", data) == [] and data["file"] is None
        with urllib.request.urlopen(data["address"], timeout=60) as answer:
            assert b"arm" in answer.read()
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143 and "Traceback" not in err
