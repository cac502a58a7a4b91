"""Two versions side by side: the same sources against themselves, and folders that are no checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bench import measure, public_calls, versions
from linkwright.errors import UsageError
from tests.refusals import refused

HERE = Path(__file__).parents[3]


def test_calls_of_both_versions_are_timed_in_turns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(versions, "ROUNDS", 1)
    monkeypatch.setattr(versions, "AGAIN", 1)
    rows = versions.main(HERE, quick=True, mechanisms=["four-bar"], say=lambda text: None)
    assert [r.quantity.removeprefix("call ") for r in rows] == list(public_calls.calls("four-bar"))
    assert all(r.ns and r.ratio and r.note.startswith("before: ") for r in rows)
    assert all(0.1 < r.ratio < 10.0 for r in rows if r.ratio)  # the same code on a machine with other work
    assert "four-bar" in capsys.readouterr().out


def test_a_call_that_cannot_be_made_is_left_out() -> None:
    def missing() -> None:
        raise AttributeError("a verb of a later version")

    assert list(public_calls.possible({"load": lambda: None, "none": missing})) == ["load"]


def test_a_folder_without_sources_is_refused(tmp_path: Path) -> None:
    with refused(UsageError, name="against"):
        versions.main(tmp_path)


def test_kernels_are_not_compared_with_another_version() -> None:
    with refused(UsageError, name="against"):
        measure("kernels", against=str(HERE))
