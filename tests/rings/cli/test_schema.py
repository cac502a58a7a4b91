"""`linkwright schema`: the JSON Schema of the model file, printed or written."""

from __future__ import annotations

import json

import linkwright as lw
from linkwright.rings import cli
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
