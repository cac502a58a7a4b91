"""Runs in files: everything comes back bit by bit, other programs can read them, damage and strangers are recognized."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UsageError
from linkwright.results import files as run_files
from linkwright.results.records import RunEvent
from linkwright.results.trajectory import Trajectory
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused
from tests.results.runs import CUTS, free_run
from tests.sweeps import sweep

PARAMETRIC = {
    "name": "bars", "plane": "xy", "gravity": [0, -9.81], "parameters": {"L1": 0.25, "mass": "2 kg/m * L1"},
    "drawing": {"A": [0, 0], "B": [0, "L1"], "C": [0.9, 0.75], "D": [1.0, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"], "mass": "mass"},
        "coupler": {"pins": ["B", "C"], "mass": 1.0}, "rocker": {"pins": ["D", "C"], "mass": 1.0},
    },
    "drive": {"A": "60 rpm"},
}  # fmt: skip


def full(name: str = "wiper") -> Trajectory:
    """A run with something in every place, some of it awkward."""
    run = free_run(name, cuts=CUTS.get(name))
    n = len(run)
    columns = {
        "motor.A.current": (np.linspace(-0.0, 1.0, n) ** 3, "current"),
        "A.v": (np.sin(run.t), "angular speed"),  # as a tree joint's speed is called too
        "linkwright": (np.arange(n), "none"),
        "three": (np.arange(3.0 * n).reshape(n, 3) / 7.0, "force"),
    }
    arrays = {**run.arrays, "tau": np.zeros((n, run.skel.tree.nv))}
    events = [RunEvent(0.1, "stop: left", {"loss": 1 / 3, "at": [1e-300, "x"]})]
    return replace(run, columns=columns, arrays=arrays, events=events, settings={"tolerance": 1e-10, "step": None}, notes=("a", "ß"))


@sweep("name", ["wiper", "rssr"], now=1)
def test_everything_comes_back_bit_by_bit_from_either_format(name, tmp_path):
    run = full(name)
    one, two, three = tmp_path / "one.npz", tmp_path / "two.parquet", tmp_path / "three.npz"
    assert run.save(one) == one
    first = lw.load_result(one)
    second = lw.load_result(first.save(two))
    third = lw.load_result(second.save(three))
    assert run.identical(first) and first.identical(second) and run.identical(third)
    assert one.read_bytes() == three.read_bytes()  # the same run is the same file
    assert sorted(x.name for x in tmp_path.iterdir()) == ["one.npz", "three.npz", "two.parquet"]  # nothing left behind
    some = [n for n in run.channels if not n.startswith("A.")][::11]
    for n, x in third.read(some).items():
        assert x.tobytes() == run[n].tobytes(), n  # points, energies, reactions: computed again from the model inside
    assert third.settings == run.settings and third.events == run.events and third.notes == run.notes
    assert not run.identical(replace(run, t=np.nextafter(run.t, 1.0)))


def test_a_simulation_comes_back_with_its_proof(tmp_path):
    s = lw.compile(lw.load("slider-crank-equal", gravity=0), cuts=["B"])
    run = s.simulate(s.assemble({"A": 1.0}, {"A": 3.0}), 1.0, drive={"A": lw.drives.torque("0.5 N m")}, sample_interval=0.05)
    back = lw.load_result(run.save(tmp_path / "run.parquet"))
    assert run.identical(back) and back.certificate.as_dict() == run.certificate.as_dict() and back.passages == run.passages
    assert back.checks().ok and str(back.certificate) == str(run.certificate)
    assert back.system.tree.cuts == s.tree.cuts
    np.testing.assert_array_equal(back["A.torque"], np.full(21, 0.5))


def test_a_turn_comes_back_with_its_loads_and_its_model(tmp_path):
    m = lw.load(PARAMETRIC, L1="0.3 m")
    turn = m.cycle(steps=16)
    back = lw.load_result(turn.save(tmp_path / "turn.npz"))
    assert turn.identical(back) and back.full_turn and back.drive == turn.drive
    np.testing.assert_allclose(back["A.torque"], turn["A.torque"], rtol=1e-12)  # solved for again
    assert str(back.bearings()) == str(turn.bearings())
    stored = run_files.read(tmp_path / "turn.npz")
    assert stored.model == m.description  # expressions of parameters and all
    assert set(stored.about["versions"]) == {"linkwright", "numpy", "python", "platform"}
    given = mechanism_of(lw.compile("carpet-scraper", cuts=["J8", "J9", "J10"])).cycle(steps=8)
    again = lw.load_result(given.save(tmp_path / "cuts.npz"))
    assert again.skel.tree.cuts == ("J8", "J9", "J10")
    np.testing.assert_allclose(again["J1.torque"], given["J1.torque"], rtol=1e-11)


def test_parts_of_runs_keep_counting_turns(tmp_path):
    part = free_run("four-bar", 2.0, 81)[40:]
    assert part["crank.angle"][0] > 2 * np.pi
    back = lw.load_result(part.save(tmp_path / "part.npz"))
    assert (back["crank.angle"] == part["crank.angle"]).all() and part.identical(back)


def test_people_without_this_program_can_read_them(tmp_path):
    import pandas as pd

    run = full()
    with np.load(run.save(tmp_path / "a.npz", channels=["coupler.P", "energy.total", "D.v"])) as found:
        assert (found["t"] == run.t).all() and (found["A"] == run.q[:, 0]).all() and (found["A.v"] == np.sin(run.t)).all()
        assert (found["coupler.P"] == run["coupler.P"]).all() and (found["energy.total"] == run["energy.total"]).all()
        about = json.loads(str(found["linkwright"]))
    assert "bodies:" in about["model"] and about["settings"]["tolerance"] == 1e-10 and about["units"]["energy.total"] == "J"
    table = pd.read_parquet(run.save(tmp_path / "a.parquet", channels=["coupler.P"]))
    assert len(table) == len(run) and (table["coupler.P[1]"] == run["coupler.P"][:, 1]).all()
    assert (table["lam.C.tx"] == run["lam.C.tx"]).all() and (table["B.v"] == run["B.v"]).all()
    header = run.save(tmp_path / "a.csv", channels=["t", "A"]).read_text().splitlines()[0]
    assert header == '"t [s]","A [deg]"'


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_damaged_files_are_recognized_wherever_they_are_hurt(ending, tmp_path, rng):
    path = free_run("wiper").save(tmp_path / f"run{ending}")
    whole, intact = path.read_bytes(), run_files.read(path)
    outcomes = {"refused": 0, "same": 0}
    for place in [*rng.integers(4, len(whole), 40), len(whole) - 3]:
        hurt = bytearray(whole)
        hurt[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(hurt)
        try:
            found = run_files.read(path)
        except LinkwrightError as error:
            assert str(path) in str(error) and "\n" not in str(error)
            outcomes["refused"] += 1
        else:  # a bit that nobody reads: a channel for other programs, a date
            assert found.about == intact.about and all((found.table[k] == x).all() for k, x in intact.table.items())
            outcomes["same"] += 1
    assert outcomes["refused"] > 3
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LinkwrightError, match="damaged"):
        run_files.read(path)


def test_strangers_and_newer_formats_are_told_apart(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    np.savez(tmp_path / "other.npz", t=np.arange(3))
    pq.write_table(pa.table({"t": [1.0]}), tmp_path / "other.parquet")
    (tmp_path / "text.npz").write_text("not at all")
    (tmp_path / "empty.npz").write_bytes(b"")
    free_run("wiper").save(tmp_path / "run.csv")
    newer = tmp_path / "newer.npz"
    with zipfile.ZipFile(newer, "w") as archive, archive.open("linkwright.npy", "w") as stream:
        about = {"format": run_files.FORMAT, "version": 99, "versions": {"linkwright": "9.1"}}
        np.lib.format.write_array(stream, np.array(json.dumps(about)))
    for name, words in {
        "other.npz": "not written by Linkwright", "other.parquet": "not written by Linkwright", "text.npz": "not a run",
        "empty.npz": "not a run", "run.csv": "channels only", "newer.npz": r"format 99, written by Linkwright 9\.1.*Upgrade",
        "nowhere.npz": "cannot read", ".": "cannot read",
    }.items():  # fmt: skip
        with pytest.raises(UsageError, match=words):
            lw.load_result(tmp_path / name)
    with refused(UsageError, value=3):
        lw.load_result(3)


def test_runs_are_replaced_whole_and_nothing_is_left_behind(tmp_path, monkeypatch):
    run = free_run("wiper")
    path = run.save(tmp_path / "run.parquet")
    before = path.read_bytes()
    with refused(UsageError, file="run.xls"):
        run.save(tmp_path / "run.xls")
    with refused(LinkwrightError, file="run.npz"):
        run.save(tmp_path / "missing" / "run.npz")
    run[::2].save(path)
    assert path.read_bytes() != before and len(lw.load_result(path)) == 31
    monkeypatch.setattr(run_files.writing, "package", lambda name: (_ for _ in ()).throw(UsageError(f"pip install {name}")))
    with pytest.raises(UsageError, match="pip install pyarrow"):
        run.save(tmp_path / "again.parquet")
    assert [x.name for x in tmp_path.iterdir()] == ["run.parquet"]


def test_a_run_on_other_parameters_brings_its_own_model(tmp_path):
    s = lw.compile("wiper", parameters=["crank.mass"])
    heavy = s.kernels.equations([5.0]).loops
    run = free_run("wiper")
    own = Trajectory(heavy.skel, run.t, run.q, run.v, run.a, run.references, system=run.system, loops=heavy)
    back = lw.load_result(own.save(tmp_path / "heavy.npz"))
    assert back.skel.tree.description.body("crank").mass == 5.0 and own.identical(back)
    assert back["energy.kinetic"] == pytest.approx(own["energy.kinetic"]) and (back["energy.kinetic"] > run["energy.kinetic"]).all()
