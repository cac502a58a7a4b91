"""JSON is as documented: the documentation is read by the tests, and the reading notices what differs."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from benchmarks.bench import table
from benchmarks.bench.cases import BenchRow
from linkwright.errors import LinkwrightError
from linkwright.rings import cli, papers
from linkwright.rings.cli import dispatch, outputs, schemas
from tests.refusals import refused
from tests.rings.cli.schemas import disagreements, documented


def test_every_command_with_json_is_documented() -> None:
    for name in (*dispatch.NAMES, "page"):
        assert documented(name)["schema"] == ("text",) and len(documented(name)) >= 3, name
        assert any("--json" in x.flags for x in dispatch.command_of(name).every_option()), name
    assert {x for name in (*dispatch.NAMES, "page") for x in schemas.forms(name)} == set(schemas.tables())


def test_json_without_a_schema_says_what_to_do() -> None:
    with refused(LinkwrightError, name="nothing"):
        outputs.print_json("nothing", {})


def test_what_is_not_as_documented_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cycle", "wiper", "--steps", "4", "--json"]) == 0
    good = json.loads(capsys.readouterr().out)
    assert disagreements("cycle", good) == []

    def broken(change: Any) -> list[str]:
        other = copy.deepcopy(good)
        change(other)
        return disagreements("cycle", other)

    assert broken(lambda x: x.pop("drive")) == ["'.drive' is missing", "'drive' is missing"]
    assert broken(lambda x: x.update(extra=1)) == ["'extra' is not documented"]
    assert broken(lambda x: x.update(steps="4")) == ["'steps' is '4', documented as integer"]
    assert broken(lambda x: x.update(full_turn=1)) == ["'full_turn' is 1, documented as true or false, optional"]
    assert broken(lambda x: x["loads"]["bearings"][0].pop("max")) == ["'loads.bearings[].max' is missing"]
    assert broken(lambda x: x["channels"]["A"]["values"].append(None)) == ["'channels.*.values[]' is None, documented as number"]


def test_results_of_bench_and_reproduce_are_as_documented(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    row = BenchRow("linkwright", "1", "wiper", "forward", 120.5, 1e-14, 300, None, "")
    assert disagreements("bench", json.loads(table.json_text([row], {"processor": "one"}))) == []
    agrees = papers.compared("Fig. 1", "a number", "1", "1.0", 0.0, 1e-9)
    open_ = papers.Item("Fig. 2", "a time", "1 s", "-", "undecided", why="an old machine")
    entries = tuple(papers.Entry(item.where, item.what, (lambda item=item: item,)) for item in (agrees, open_))
    monkeypatch.setattr(papers, "entries", lambda key: entries)
    assert cli.main(["reproduce", "koul", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("reproduce", data) == [] and [x["verdict"] for x in data["items"]] == ["agrees", "undecided"]
    assert cli.main(["reproduce", "koul"]) == 0
    assert capsys.readouterr().out.endswith("\n2 items: 1 agree, 1 undecided\n")
    assert cli.main(["reproduce", "kuol"]) == 1 and "Koul2013" in capsys.readouterr().err


def test_laws_are_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    """Factors and the peaks of a move; a jump is null."""
    for words in ([], ["--rise", "20 mm", "--in", "60 deg", "--speed", "120 rpm"]):
        assert cli.main(["motion-laws", "--json", *words]) == 0
        data = json.loads(capsys.readouterr().out)
        assert disagreements("motion-laws", data) == []
    found = {x["law"]: x for x in data["laws"]}
    assert found["cycloidal"]["peaks"]["velocity"] == pytest.approx(2.0 * 0.02 / (1 / 12)) and found["harmonic"]["peaks"]["jerk"] is None
    for words, said in (
        (["--rise", "20mm"], "need --rise and --in"),
        (["--rise", "20mm", "--in", "60 deg"], "--speed '120 rpm'"),
        (["--rise", "20mm", "--in", "60 kg"], "must be time"),
        (["--rise", "20mm", "--in", "-1 s"], "greater than zero"),
    ):
        assert cli.main(["motion-laws", *words]) == 1 and said in capsys.readouterr().err
    assert cli.main(["motion-laws", "--rise", "20mm", "--in", "0.1s"]) == 0 and "velocity [mm/s]" in capsys.readouterr().out
