"""Every shipped model through the command line: it turns, draws, and says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwright import cli, models


@pytest.mark.parametrize("name", models.names())
def test_every_model_turns_and_draws(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "p.png"
    assert cli.main(["turn", name, "--steps", "24", "--picture", str(picture)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{name}: one ") and f"wrote {picture}" in out and not err
    assert picture.stat().st_size > 5_000
    assert "nan" not in out.lower()


@pytest.mark.parametrize("name", models.names())
def test_every_model_has_info(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{name}: {models.about(name)}"
    assert "freedom" in lines[1] and "driven at" in lines[1] and not lines[1].rstrip().endswith(";")
    assert "not turned" not in lines[1]
