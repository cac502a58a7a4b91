"""Models answer as they did: code structure and its numbers, files, channels, drawing, report, editor, a short run.

After a change that is meant, `python -m tests.elements.fingerprints --write` stores the new answers. What exactly changed shows
`--bits` on both versions with `--compare`.
"""

from __future__ import annotations

import pytest

from tests.elements import aspects, fingerprints, models

FEW = ("boot-lid", "door", "punch-press", "gallery-cam_pusher-0")


@pytest.mark.parametrize("name", [*models.EVERYTHING, *FEW])
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


def test_two_folders_are_compared(tmp_path):
    for folder, number in (("one", "2.5"), ("two", "2.5000000000000004")):
        (tmp_path / folder / "model").mkdir(parents=True)
        (tmp_path / folder / "model" / "run.txt").write_text(f"t: {number}", encoding="utf-8")
    assert fingerprints.compare(tmp_path / "one", tmp_path / "one") == []
    assert "+t: 2.5000000000000004" in fingerprints.compare(tmp_path / "one", tmp_path / "two")
