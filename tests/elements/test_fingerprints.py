"""Models answer as they did: code structure and its numbers, files, channels, drawing, report, editor, a short run.

After a change that is meant, `python -m tests.elements.fingerprints --write` stores the new answers. What exactly changed shows
`--bits` on both versions with `--compare`.
"""

from __future__ import annotations

import pytest

from tests.elements import aspects, fingerprints, models
from tests.sweeps import sweep

FEW = ("boot-lid", "door", "punch-press", "gallery-cam_pusher-0")


@sweep("name", [*models.EVERYTHING, *FEW], now=[*models.EVERYTHING, "punch-press"])
def test_answers(name):
    changed = fingerprints.differences(name, aspects.QUICK)
    assert not changed, "\n".join(changed)


@pytest.mark.slow
@pytest.mark.parametrize("name", models.names())
def test_all_answers(name):
    changed = fingerprints.differences(name)
    assert not changed, "\n".join(changed)


def test_all_models_are_stored():
    assert {p.stem for p in fingerprints.STORED.glob("*.json")} == set(models.names())


TEXT = "spring k: stiffness 2.5 N/m\n" + "\n".join(f"row {k}: {0.1 * k - 3.0} {1e3 / (k + 1)}" for k in range(200))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("stiffness", "stiffnes", "other words"),
        ("2.5 N", "2.5000000025 N", "another number among those from 0 to 63, by about 1.0e-09"),
        ("row 3:", "row 3: 1", "numbers, not"),
        ("row 3: -2.7 250.0", "row 3: 250.0 -2.7", "another number"),
    ],
)
def test_a_fingerprint_tells(old, new, said):
    before = fingerprints.fingerprint(TEXT)
    assert fingerprints.difference(before, TEXT) == ""
    assert old in TEXT
    assert said in fingerprints.difference(before, TEXT.replace(old, new))


def test_a_fingerprint_forgives_last_digits():
    before = fingerprints.fingerprint(TEXT)
    other = (
        TEXT.replace("2.5 N", "2.5000000000000004 N").replace(" 500.0", " 499.99999999999994").replace("row 30: 0.0", "row 30: -1.4e-16")
    )
    assert other != TEXT
    assert fingerprints.difference(before, other) == ""


RUN = "\n".join(f"row {k}: {0.1 + 0.37 * k} {1e3 / (k + 1)} {9e3 + k} 1e-12" for k in range(100))


@pytest.mark.parametrize("number", ["0.1", "0.47", "9000.0", "10.0", "9099.0"])
def test_a_run_forgives_round_off_that_grew_and_no_change_by_1e_7(number):
    before = fingerprints.fingerprint(RUN, fingerprints.OF_RUNS)
    x = float(number)
    grown = RUN.replace(f" {number} ", f" {x * (1.0 + 2e-11)!r} ", 1).replace("1e-12", "-4e-12", 2)
    changed = RUN.replace(f" {number} ", f" {x * (1.0 + 1e-7)!r} ", 1)
    assert len({RUN, grown, changed}) == 3
    assert fingerprints.difference(before, grown, fingerprints.OF_RUNS) == ""
    assert "another number" in fingerprints.difference(before, changed, fingerprints.OF_RUNS)


@sweep("name", FEW, now=["boot-lid"])
def test_answers_of_a_run_tell_a_change_by_1e_7(name):
    """Every number of the run of a model, above a tenth: changed by 1e-7 of itself, the stored answers differ."""
    said = dict(fingerprints.answers(name, aspects.INTEGRATED[:2]))
    for aspect, text in said.items():
        fine = fingerprints.fineness(aspect)
        before = fingerprints.fingerprint(text, fine)
        for found in list(fingerprints.NUMBER.finditer(text))[::7]:
            if abs(float(found[0])) > 0.1:
                changed = text[: found.start()] + repr(float(found[0]) * (1.0 + 1e-7)) + text[found.end() :]
                assert fingerprints.difference(before, changed, fine), (aspect, found[0])


def test_two_folders_are_compared(tmp_path):
    for folder, number in (("one", "2.5"), ("two", "2.5000000000000004")):
        (tmp_path / folder / "model").mkdir(parents=True)
        (tmp_path / folder / "model" / "run.txt").write_text(f"t: {number}", encoding="utf-8")
    assert fingerprints.compare(tmp_path / "one", tmp_path / "one") == []
    assert "+t: 2.5000000000000004" in fingerprints.compare(tmp_path / "one", tmp_path / "two")
