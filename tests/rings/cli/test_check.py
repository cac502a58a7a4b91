"""`linkwright check`: exit codes, JSON by its schema, JUnit and SARIF by the structure of their formats."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from linkwright.results.checks import Check, Checks
from linkwright.rings.cli import main, schemas
from linkwright.rings.cli.check import accepted

MISTAKES = Path(__file__).parents[2] / "data" / "mistakes"
LEVELS = ("none", "note", "warning", "error")  # SARIF 2.1.0, 3.27.10


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "wiper", "--require", "C.transmission_angle > 25 deg"]) == 0
    assert main(["check", "wiper", "--require", "C.transmission_angle > 60 deg", "--remedy-time", "0"]) == 1
    assert main(["check", "bennett", "--remedy-time", "0"]) == 0  # over-constrained: unknown
    assert main(["check", "bennett", "--remedy-time", "0", "--strict"]) == 1
    assert main(["check", "wiper", "--what"]) == 2
    assert main(["check", "five-bar", "--drive", "A"]) == 0
    assert main(["check", "five-bar", "--drive", "A=3 rpm"]) == 1  # the model says how fast
    capsys.readouterr()


def test_a_requirement_that_is_not_known_is_not_accepted() -> None:
    unknown = Checks((Check("full turn", "unknown", stage="requirements"),))
    other = Checks((Check("loads", "unknown", stage="loads"),))
    assert (accepted(unknown, strict=False), accepted(other, strict=False), accepted(other, strict=True)) == (False, True, False)


def test_json_follows_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    schema = schemas.json_schema("check")
    for arguments, code in (
        (["wiper", "--require", "full turn"], 0),
        ([str(MISTAKES / "split-body.yaml")], 0),
        ([str(MISTAKES / "typo.yaml")], 1),
    ):
        assert main(["check", *arguments, "--json"]) == code
        data = json.loads(capsys.readouterr().out)
        jsonschema.validate(data, schema)
        assert data["ok"] is (data["verdict"] == "passed")
    assert data["checks"][0]["place"].endswith("typo.yaml:10")
    assert data["checks"][0]["remedies"][0]["verified"]


def test_reports_for_continuous_integration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text((MISTAKES / "two-drives.yaml").read_text().replace("name: two-drives", 'name: "<a> & b"'))
    junit, sarif = tmp_path / "check.xml", tmp_path / "check.sarif"
    for _ in range(2):  # reports of ours are replaced without --force
        assert main(["check", str(bad), "--junit", str(junit), "--sarif", str(sarif), "--remedy-time", "60 s"]) == 1
    assert main(["check", str(bad), "--json", "--remedy-time", "60 s"]) == 1
    out = capsys.readouterr().out
    data = json.loads(out[out.index("{\n") :])
    suite = ET.parse(junit).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == _counts(data)
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "take out the drive of 'D'" in (failure.text or "")
    _valid_sarif(json.loads(sarif.read_text()), str(bad))


def _counts(data: dict[str, Any]) -> tuple[str, str, str]:
    verdicts = [x["verdict"] for x in data["checks"]]
    return str(len(verdicts)), str(verdicts.count("failed")), str(verdicts.count("unknown"))


def _valid_sarif(log: dict[str, Any], file: str) -> None:
    """What the schema of SARIF 2.1.0 requires of a log, a run, a tool, a rule, a result and a location."""
    assert (log["version"], set(log)) == ("2.1.0", {"$schema", "version", "runs"})
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"]
        rules = [x["id"] for x in driver["rules"]]
        assert len(set(rules)) == len(rules)
        assert run["results"]
        for x in run["results"]:
            assert rules[x["ruleIndex"]] == x["ruleId"]
            assert x["level"] in LEVELS
            assert x["message"]["text"]
            place = x["locations"][0]["physicalLocation"]
            assert place["artifactLocation"]["uri"]
            assert place["region"]["startLine"] >= 1
    first = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert file.endswith(first["artifactLocation"]["uri"].split("/")[-1])
    assert first["region"]["startLine"] == 12
