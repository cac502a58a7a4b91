"""`linkwright schema`: the JSON Schema of the model file, printed or written."""

from __future__ import annotations

import json

import jsonschema
import pytest

import linkwright as lw
from linkwright.rings import cli
from linkwright.rings.cli import dispatch
from linkwright.rings.cli.schemas import json_schema
from tests.rings.cli.schemas import disagreements


def test_the_schema_is_printed_alike_each_time(capsys):
    texts = []
    for _ in range(2):
        assert cli.main(["schema"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] and json.loads(texts[0]) == lw.schema()


def test_the_schema_is_written_and_replaced(tmp_path, capsys):
    path = tmp_path / "model.schema.json"
    for _ in range(2):  # a schema of ours is replaced without a question
        assert cli.main(["schema", "-o", str(path)]) == 0
    assert json.loads(path.read_text(encoding="utf-8")) == lw.schema() and str(path) in capsys.readouterr().out


def test_other_files_are_not_overwritten(tmp_path, capsys):
    path = tmp_path / "own.json"
    path.write_text("{}", encoding="utf-8")
    assert cli.main(["schema", "-o", str(path)]) == 1 and "--force" in capsys.readouterr().err
    assert cli.main(["schema", "-o", str(path), "--force"]) == 0
    assert cli.main(["schema", "-o", str(tmp_path / "model.yaml")]) == 1 and ".json" in capsys.readouterr().err


def test_the_schema_in_json_for_programs(capsys):
    assert cli.main(["schema", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("schema", data) == [] and data["model"] == lw.schema() and data["file"] is None


@pytest.mark.parametrize("name", [*dispatch.NAMES, "page"])
def test_the_schema_of_an_output_is_printed(name, capsys, tmp_path):
    assert cli.main(["schema", name]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(found)
    assert found == json_schema(name)
    assert cli.main(["schema", name, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("schema", data) == [] and data["output"] == found and data["of"] == name


def test_a_written_schema_of_an_output_is_replaced(capsys, tmp_path):
    path = tmp_path / "cycle.schema.json"
    for _ in range(2):
        assert cli.main(["schema", "cycle", "-o", str(path)]) == 0
    assert json.loads(path.read_text(encoding="utf-8")) == json_schema("cycle")
    assert cli.main(["schema", "cylce"]) == 1 and "Did you mean 'cycle'" in capsys.readouterr().err


def test_a_schema_refuses_what_differs(capsys):
    assert cli.main(["models", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, json_schema("models"))
    for broken in ({**data, "models": None}, {**data, "models": [{"name": 3, "about": ""}]}, {**data, "schema": "linkwright.models/0"}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, json_schema("models"))
