"""`linkwright edit`, and `linkwright new` that opens it."""

from __future__ import annotations

import http.client
import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from linkwright.errors import UsageError
from linkwright.rings import cli
from linkwright.rings.cli import edit
from linkwright.rings.studio import page
from linkwright.rings.studio.server import Server
from tests.refusals import refused


def test_edit_makes_the_file_and_serves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The address that is printed answers; Ctrl-C ends with 0."""
    answers: list[Any] = []

    def once(self: Server, poll_interval: float = 0.1) -> None:
        thread = threading.Thread(target=self.handle_request)
        thread.start()
        connection = http.client.HTTPConnection("127.0.0.1", self.server_port, timeout=10)
        connection.request("GET", f"/{self.key}/edit/state")
        answers.append(json.loads(connection.getresponse().read()))
        thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", once)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["edit", "my machine", "--no-browser", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["schema"] == "linkwright.edit/1" and printed["file"] == "my machine.yaml" and printed["name"] == "my-machine"
    assert printed["address"].startswith("http://127.0.0.1:")
    assert answers[0]["name"] == "my-machine" and answers[0]["messages"][0]["code"] == "empty"
    text = Path("my machine.yaml").read_text()
    assert cli.main(["edit", "my machine.yaml", "--no-browser"]) == 0
    out = capsys.readouterr().out
    assert "my machine.yaml is edited at http://127.0.0.1:" in out and out.endswith("Ended.\n")
    assert Path("my machine.yaml").read_text() == text


@pytest.mark.parametrize(
    ("given", "name"),
    [("wiper", "wiper"), ("plan.dxf", "plan.dxf"), ("robot.urdf", ".urdf"), ("a.txt", ".txt")],
)
def test_only_own_model_files_are_edited(given: str, name: str) -> None:
    with refused(UsageError, name=name):
        edit.model_path(given)


def test_spatial_models_are_edited_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("bodies: {ground: {points: {A: [0, 0, 0]}}}\n")
    assert cli.main(["edit", str(path), "--no-browser"]) == 1
    assert "draws planar mechanisms" in capsys.readouterr().err


def test_new_opens_the_editor_at_a_terminal_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(edit, "opened", lambda path, **options: opened.append(path.name) or 0)
    monkeypatch.setattr(page, "has_screen", lambda: True)
    assert cli.main(["new", "a.yaml"]) == 0 and opened == []
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert cli.main(["new", "b.yaml"]) == 0 and opened == ["b.yaml"]
    assert cli.main(["new", "c.yaml", "--no-edit"]) == 0
    assert cli.main(["new", "d.yaml", "--json"]) == 0
    assert cli.main(["new", "e.yaml", "--from", "stewart"]) == 0  # not planar
    monkeypatch.setattr(page, "has_screen", lambda: False)
    assert cli.main(["new", "f.yaml"]) == 0
    assert opened == ["b.yaml"] and all(Path(f"{n}.yaml").is_file() for n in "abcdef")
