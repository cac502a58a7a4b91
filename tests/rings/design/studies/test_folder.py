"""Folders of studies: parts, torn parts, kills at any moment, changed models, other people's files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.design.studies import execution
from tests import ROOT
from tests.refusals import refused
from tests.rings.design.studies.big_study import arguments, measured

VARY = {"L1": "0.28..0.32 / 40", "drive.A": [3.0, 4.0]}


def equal(a: lw.Study, b: lw.Study) -> bool:
    return a.to_pandas().equals(b.to_pandas()) and a.why == b.why


def parts(folder: Path) -> list[Path]:
    """Parts that are there; those in the making begin with a dot."""
    return sorted(p for p in folder.glob("*/rows/*.parquet") if not p.name.startswith("."))


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(execution, "SECONDS", 0.02)


@pytest.mark.slow
def test_a_folder_gives_the_table_of_memory_and_opens_again(tmp_path, small_chunks) -> None:
    given = {"vary": VARY, "measure": ["max A.torque", "range D"]}
    kept, plain = lw.study("four-bar", folder=tmp_path / "s", **given), lw.study("four-bar", **given)
    assert equal(kept, plain) and len(parts(tmp_path / "s")) > 1
    again = lw.load_result(tmp_path / "s")
    assert equal(again, plain) and again.complete and again.units == plain.units
    assert again.best_row("min max A.torque") == plain.best_row("min max A.torque")
    assert again.result(3)["A.torque"].max() == pytest.approx(plain["max A.torque"][3], rel=1e-9)
    manifest = json.loads(next((tmp_path / "s").glob("*/manifest.json")).read_text())
    assert {"model", "plan", "work", "equations", "versions", "units"} <= set(manifest)


@pytest.mark.slow
def test_torn_foreign_and_missing_parts_are_done_again(tmp_path, small_chunks) -> None:
    given = {"vary": VARY, "measure": "max A.torque", "folder": tmp_path / "s"}
    first = lw.study("four-bar", **given)
    whole = first.to_pandas()
    found = parts(tmp_path / "s")
    assert len(found) >= 4
    found[0].unlink()
    found[1].write_bytes(found[1].read_bytes()[:-40])  # torn at its end
    data = bytearray(found[2].read_bytes())
    data[40] ^= 0xFF  # damaged inside
    found[2].write_bytes(bytes(data))
    found[3].write_bytes(b"nothing of ours")
    counted = []
    again = lw.study("four-bar", progress=lambda done, total: counted.append((done, total)), **given)
    assert counted and counted[0][0] < 80 and counted[-1] == (80, 80)
    assert again.to_pandas().equals(whole)


def test_a_changed_model_is_a_study_of_its_own_and_says_why(tmp_path) -> None:
    given = {"vary": {"L1": [0.29, 0.3]}, "folder": tmp_path / "s"}
    old = lw.study("four-bar", measure="max A.torque", **given)
    values = old["max A.torque"]
    new = lw.study(lw.load("four-bar", L2=1.1), measure="max A.torque", **given)
    assert "the model has changed" in new.said and not np.allclose(new["max A.torque"], values)
    other = lw.study(lw.load("four-bar", L2=1.1), measure="range D", **given)
    assert "the computation or the measures have changed" in other.said
    back = lw.study("four-bar", measure="max A.torque", **given)
    assert (back["max A.torque"] == values).all(), "what was computed before is still there"
    assert len(json.loads((tmp_path / "s" / "study.json").read_text())["before"]) == 2


def test_files_of_others_stay_as_they_are(tmp_path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    given = {"vary": {"L1": [0.3]}, "measure": "max A.torque"}
    with pytest.raises(UsageError, match="holds other files"):
        lw.study("four-bar", folder=tmp_path, **given)
    with pytest.raises(UsageError, match="is a file"):
        lw.study("four-bar", folder=tmp_path / "thesis.txt", **given)
    assert (tmp_path / "thesis.txt").read_text() == "years of work" and len(list(tmp_path.iterdir())) == 1
    with refused(UsageError, file="test_files_of_others_stay_as_t0"):
        lw.load_result(tmp_path)


DAMAGES = {
    "a key that is a list": lambda x: x.update(key=["a"]),
    "names that are a text": lambda x: x.update(names="L1"),
    "no plan": lambda x: x.pop("plan"),
    "units of numbers": lambda x: x.update(units={"range D": 3}),
    "no unit to show": lambda x: x.update(shown={"range D": "rad"}),
    "a case that is none": lambda x: x["again"].update(case=3),
    "ranges that are a list": lambda x: x["again"].update(vary=["L1"]),
    "no measure": lambda x: x["again"].pop("measure"),
    "no traces": lambda x: x["work"].pop("traces"),
}


def test_damaged_manifests_are_refused(tmp_path) -> None:
    lw.study("four-bar", {"L1": [0.3, 0.31]}, "range D", lw.Cycle(steps=4), folder=tmp_path / "s", threads=1)
    (path,) = tmp_path.rglob("manifest.json")
    sound = path.read_text(encoding="utf-8")
    for damage in DAMAGES.values():
        manifest = json.loads(sound)
        damage(manifest)
        path.write_text(json.dumps(manifest), encoding="utf-8")
        with pytest.raises(UsageError):
            lw.load_result(tmp_path / "s")
    path.write_text(sound, encoding="utf-8")
    assert len(lw.load_result(tmp_path / "s")) == 2


def test_parts_without_their_columns_count_as_not_done(tmp_path) -> None:
    given = {"vary": {"L1": [0.3, 0.31]}, "measure": "range D", "case": lw.Cycle(steps=4), "folder": tmp_path / "s", "threads": 1}
    whole = lw.study("four-bar", **given)["range D"]
    (path,) = parts(tmp_path / "s")
    table = pq.read_table(path)
    for damaged in (table.drop_columns(["measure range D"]), table.set_column(1, "vary L1", pa.array(["a", "b"]))):
        pq.write_table(damaged.replace_schema_metadata(table.schema.metadata), path)
        assert len(lw.load_result(tmp_path / "s")) == 0
    assert (lw.study("four-bar", **given)["range D"] == whole).all()  # computed again


def test_a_damaged_byte_anywhere_counts_as_not_done_or_changes_nothing(tmp_path) -> None:
    """Pages are read when a part is looked at first, so that no value is met later that cannot be read."""
    lw.study("four-bar", vary={"L1": [0.3, 0.31]}, measure="range D", case=lw.Cycle(steps=4), folder=tmp_path / "s", threads=1)
    (path,) = parts(tmp_path / "s")
    sound, lost = path.read_bytes(), 0
    for place in range(4, len(sound), 29):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0xFF]) + sound[place + 1 :])
        found = lw.load_result(tmp_path / "s")
        assert str(found.summary())
        lost += len(found) == 0
    assert lost > 5


def _process(folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.rings.design.studies.big_study", str(folder)], env=environment, text=True, stdout=subprocess.PIPE
    )


def killed_and_continued(folder: Path, moments: list[float]) -> None:
    whole = lw.study("four-bar", threads=1, progress=False, **arguments())
    for wait in moments:
        process = _process(folder)
        began = len(parts(folder))
        while process.poll() is None and len(parts(folder)) == began:
            time.sleep(0.01)  # it has begun to store rows
        time.sleep(wait)
        process.kill()
        process.communicate()
    done = sorted(p.stat().st_mtime_ns for p in parts(folder))
    complete = done[: max(1, len(done) - 1)]  # the newest may have been in the making when the process was killed
    found = measured(str(folder))
    assert equal(found, whole)
    again = sorted(p.stat().st_mtime_ns for p in parts(folder))
    assert complete and complete == again[: len(complete)], "what was done was not done again"


def test_a_killed_study_continues_and_ends_with_the_same_table(tmp_path) -> None:
    killed_and_continued(tmp_path / "s", [0.05])


@pytest.mark.slow
def test_ten_kills_at_random_moments(tmp_path) -> None:
    rng = np.random.default_rng(int(time.time()))
    for k in range(10):
        killed_and_continued(tmp_path / str(k), [float(rng.uniform(0.0, 0.6))])
