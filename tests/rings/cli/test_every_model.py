"""Every built-in model and every template through the commands: they run, say what they are, and their JSON is as documented."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from linkwright.model import library as models
from linkwright.rings import cli
from linkwright.rings.cli import model_list
from linkwright.system import mechanism
from tests.rings.cli.schemas import disagreements
from tests.sweeps import every_model, sweep


@pytest.fixture
def done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of one test share a mechanism, what was computed of it, and interpreted kernels: what is tested are the commands."""
    plain = mechanism.load

    def load(model: str) -> mechanism.Mechanism:
        m = plain(model)
        vars(m)["system"] = mechanism.compile(m, engine="python")
        return m

    monkeypatch.setattr(mechanism, "load", functools.cache(load))
    for verb in ("info", "cycle"):
        monkeypatch.setattr(mechanism.Mechanism, verb, functools.cache(getattr(mechanism.Mechanism, verb)))


def json_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict:
    """What a command prints with --json, held against the documentation of its fields."""
    assert cli.main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert disagreements(words[0], data) == [] and "Traceback" not in err
    return data


@pytest.mark.parametrize("name", every_model("wiper"))
def test_every_model_through_every_command(name: str, done_once: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{name}: {models.about(name)}"
    assert "of freedom" in lines[1] and "driven at" in lines[1] and not lines[1].rstrip().endswith(";")
    assert "not turned" not in lines[1]
    info = json_of(["info", name, "--internals"], capsys)
    assert f"  {info['freedoms']} degree" in lines[1] and info["topology"]["mobility"] >= info["freedoms"]

    assert cli.main(["cycle", name, "--steps", "12"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{name}: one ") and "nan" not in out.lower() and not err
    turn = json_of(["cycle", name, "--steps", "12"], capsys)
    assert turn["steps"] == 12 and all(len(x["values"]) == 13 for x in turn["channels"].values())

    run = json_of(["simulate", name, "0.05", "--sample-interval", "0.01"], capsys)
    assert (run["status"], run["samples"], run["duration"]) == ("finished", 6, 0.05)
    assert all(x["verdict"] != "failed" for x in run["checks"]), run["checks"]
    assert all(x["value"] == pytest.approx(run["channels"][n]["values"][-1]) for n, x in run["end"].items() if n in run["channels"])


def check_page(words: list[str], path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A page written by a command: whole, and asking for nothing outside."""
    assert cli.main([*words, "-o", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert disagreements("report" if words[0] == "report" else "page", data) == []
    text = path.read_text(encoding="utf-8")
    assert data["bytes"] == path.stat().st_size and f"wrote {path}" in err
    assert text.lstrip().startswith("<!") and text.rstrip().endswith("</html>") and "{{" not in text.partition("<script")[0]
    return text


@pytest.mark.parametrize("name", every_model("wiper"))
def test_every_model_has_a_page_and_a_report(name: str, tmp_path: Path, done_once: None, capsys: pytest.CaptureFixture[str]) -> None:
    page = check_page([name], tmp_path / "page.html", capsys)
    report = check_page(["report", name], tmp_path / "report.html", capsys)
    assert name in page and name in report and len(report) > len(page)


@sweep("name", model_list.template_names(), now=["minimal"])
def test_every_template_works_at_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done_once: None, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = json_of(["new", "my own.yaml", "--from", name], capsys)
    assert data == {"schema": "linkwright.new/1", "file": "my own.yaml", "name": "my-own", "from": name, "kind": "template"}
    info = json_of(["info", "my own.yaml"], capsys)
    assert info["name"] in ("my-own", "my own") and info["freedoms"] == len(info["drives"]) and not info["notes"] and not info["redundant"]
    turn = json_of(["cycle", "my own.yaml", "--steps", "4"], capsys)
    assert turn["loads"]["computed"] == (name != "minimal")
    if name != "minimal":  # which has no masses, and says so
        assert json_of(["simulate", "my own.yaml", "0.05"], capsys)["ok"]
