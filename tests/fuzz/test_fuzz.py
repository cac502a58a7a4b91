"""A short part of every fuzzing run, and the fuzzer itself: it finds what should not come out, makes it small and says so."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.errors import ModelError, Source, UsageError
from linkwright.model import file as modelfile
from tests.fuzz import import_corpus, running
from tests.fuzz.imports import KINDS, ImportInput, Imports
from tests.fuzz.judging import Finding, TimeLimitExceeded, judge_error, judge_numbers, limited, signature
from tests.fuzz.model_files import ModelFiles
from tests.fuzz.reducing import smaller_texts
from tests.fuzz.requests import Requests
from tests.fuzz.using import use
from tests.fuzz.watching import watch

SEED = 24


QUICK = ("sdf", "svg", "table", "wanted", "catalog")  # kinds whose sound files cost little to make


@pytest.mark.parametrize("target, most", [(ModelFiles(), 8), (Imports(QUICK), 4), (Requests(), 2)], ids=["files", "imports", "server"])
def test_changed_inputs_are_used_or_refused(target: running.Target, most: int, capsys: pytest.CaptureFixture[str]) -> None:
    tally = running.fuzz(target, SEED, 60.0, most=most)
    assert not tally.findings, capsys.readouterr().out
    assert tally.inputs == most == sum(tally.outcomes.values())


def _sound(kinds: tuple[str, ...], folder: Path) -> None:
    """Unchanged inputs are accepted: changes of one that is refused would try nothing."""
    target = Imports(kinds)
    for kind in kinds:
        for i, files in enumerate(import_corpus.sound(kind)):
            place = folder / f"{kind}-{i}"
            place.mkdir()
            assert target.run(ImportInput(kind, tuple(files.items()), ("info", "save")), place) == "accepted", f"{kind} {i}"


def test_sound_inputs_are_accepted(tmp_path: Path) -> None:
    _sound(("mesh", "svg", "table", "wanted"), tmp_path)


@pytest.mark.slow
def test_all_sound_inputs_are_accepted(tmp_path: Path) -> None:
    _sound(tuple(dict.fromkeys(KINDS)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", [ModelFiles(), Imports(), Requests()], ids=lambda x: x.name)
def test_more_changed_inputs(target: running.Target, capsys: pytest.CaptureFixture[str]) -> None:
    tally = running.fuzz(target, SEED + 1, 30.0)
    assert not tally.findings, capsys.readouterr().out


@dataclass(frozen=True)
class Letters:
    """An input of the target below."""

    data: bytes

    def shown(self) -> str:
        return self.data.decode()


class Fragile:
    """A target that fails wherever a line holds an x."""

    name = "fragile"

    def make(self, rng: random.Random) -> Letters:
        return Letters("\n".join("".join(rng.choices("abcdefx", k=5)) for _ in range(6)).encode())

    def run(self, given: Letters, folder: Path) -> str:
        (folder / "input").write_bytes(given.data)
        if b"x" in given.data:
            raise ValueError("x")
        return "accepted"

    def smaller(self, given: Letters) -> Iterator[Letters]:
        return map(Letters, smaller_texts(given.data))


def test_findings_are_small_and_can_be_run_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tally = running.fuzz(Fragile(), SEED, 60.0, most=5, status=tmp_path / "status.json")
    shown = capsys.readouterr().out
    numbers = tally.findings["ValueError"]
    assert tally.outcomes["finding"] == len(numbers) and shown.count("==== finding") == 1
    smallest = shown.rpartition("---- input\n")[2].removesuffix("\n----\n")
    assert "x" in smallest and len(smallest.split()) == 1  # one word of one line
    again = Fragile().make(running.generator(SEED, numbers[0]))
    assert again == Fragile().make(running.generator(SEED, numbers[0])) and b"x" in again.data


def test_what_may_not_come_out() -> None:
    where = Source("m.yaml", 3)
    judge_error(ModelError("body 'nan' has no mass.", where), "bodies: {nan: {}}", with_line=True)
    for error, given in (
        (ModelError("the mass is nan.", where), ""),
        (ModelError("the mass is too large."), "mass: 1e99"),
        (UsageError("expected array([1, 2])."), ""),
        (UsageError(""), ""),
    ):
        with pytest.raises(Finding):
            judge_error(error, given, with_line=True)
    judge_numbers({"q": [1.0, 2.0], "name": ["a"]}, "turn")
    with pytest.raises(Finding, match="turn: q is not finite"):
        judge_numbers({"q": [1.0, float("inf")]}, "turn")


def test_a_hang_is_stopped_and_named() -> None:
    with pytest.raises(TimeLimitExceeded) as caught, limited(0.05):
        while True:
            pass
    assert signature(caught.value).startswith("TimeLimitExceeded")


DYING = """
import json, pathlib, sys
status, first = sys.argv[sys.argv.index("--worker") + 1], int(sys.argv[sys.argv.index("--first") + 1])
if first < 6:
    text = json.dumps({"input": first + 2, "tally": {"seconds": 1.0, "outcomes": {"accepted": 2}}})
    pathlib.Path(status).write_text(text)
sys.exit(0 if first > 8 else 3)
"""


def test_workers_that_end_are_judged_by_their_own_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The first worker ends at input 7 of those from 5; the second, from 8, and the third, from 9, write no status."""
    monkeypatch.setattr("tests.fuzz.watching.LOOK", 0.01)
    tallies, stopped = watch([], 60.0, 5, (sys.executable, "-I", "-S", "-c", DYING))
    assert stopped == [f"input {n}: the worker ended with 3" for n in (7, 8)]
    assert [t.get("outcomes", {}) for t in tallies] == [{"accepted": 2}, {}, {}]


def test_a_saved_model_without_its_spring_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = modelfile.save
    monkeypatch.setattr(modelfile, "save", lambda d, path, **how: whole(replace(d, springs=()), path, **how))
    with pytest.raises(Finding, match="reads as another mechanism, in springs"):
        use(lw.load("boot-lid"), ("save",), tmp_path, "")
