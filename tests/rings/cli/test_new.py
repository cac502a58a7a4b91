"""`linkwright new`: templates that teach, copies of built-in models, and no file lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.model import library as models
from linkwright.rings import cli
from linkwright.rings.cli import model_list
from tests.rings.cli.schemas import disagreements


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_list_names_everything_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new", "--list"]) == 0
    told = capsys.readouterr().out
    assert cli.main(["models"]) == 0
    assert capsys.readouterr().out == told
    for name in (*models.names(), *model_list.template_names()):
        about = models.about(name) if name in models.names() else model_list.template_about(name)
        assert any(line.split(maxsplit=1) == [name, about] for line in told.splitlines()), name
    assert cli.main(["new", "--list", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("models", data) == []
    assert [x["name"] for x in data["templates"]] == model_list.template_names() and model_list.template_names()[0] == model_list.DEFAULT


def test_a_name_is_a_template_or_a_model() -> None:
    assert set(model_list.template_names()).isdisjoint(models.names())
    assert model_list.source("four-bar") == (models.path("four-bar"), "model")


def test_templates_explain_their_lines() -> None:
    for name in model_list.template_names():
        lines = [x for x in model_list.source(name)[0].read_text(encoding="utf-8").splitlines() if x.strip()]
        assert lines[0].startswith("# ") and sum("#" in x for x in lines) >= len(lines) / 3, name


def test_a_shipped_model_is_copied_with_its_comments_and_a_name_of_its_own() -> None:
    assert cli.main(["new", "leg.yaml", "--from", "jansen-leg"]) == 0
    copied, shipped = Path("leg.yaml").read_text(encoding="utf-8"), models.path("jansen-leg").read_text(encoding="utf-8")
    assert copied == shipped.replace("name: jansen-leg", "name: leg")
    assert lw.load("leg.yaml").name == "leg"


def test_a_model_is_overwritten_only_as_long_as_it_was_not_edited(capsys: pytest.CaptureFixture[str]) -> None:
    Path("my.yaml").write_text("mine")
    assert cli.main(["new", "my.yaml"]) == 1 and "--force" in capsys.readouterr().err
    assert Path("my.yaml").read_text() == "mine"
    assert cli.main(["new", "my.yaml", "--force"]) == 0 and lw.load("my.yaml").name == "my"
    assert cli.main(["new", "my.yaml", "--from", "jansen-leg"]) == 0 and cli.main(["new", "my.yaml"]) == 0
    edited = Path("my.yaml").read_text(encoding="utf-8") + "# mine\n"
    Path("my.yaml").write_text(edited, encoding="utf-8")
    assert cli.main(["new", "my.yaml"]) == 1 and "or was edited since; use --force" in capsys.readouterr().err
    assert [p.name for p in Path().iterdir()] == ["my.yaml"] and Path("my.yaml").read_text(encoding="utf-8") == edited


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["new"], "linkwright new my.yaml"),
        (["new", "x.yaml", "--from", "slidercrank"], "Did you mean 'slider-crank'"),
        (["new", "x.txt"], ".yaml"),
        (["new", "no/x.yaml"], "does not exist"),
    ],
)
def test_what_cannot_be_written_says_why(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) in (1, 2)
    out, err = capsys.readouterr()
    assert said in err and err.count("\n") == 1 and not out and not list(Path().iterdir())


def test_an_ending_may_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new", "größer ÷ 2"]) == 0
    assert "'größer ÷ 2.yaml'" in capsys.readouterr().out  # quoted, to be copied into a shell
    assert lw.load("größer ÷ 2.yaml").name == "größer-2"
