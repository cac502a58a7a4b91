"""Contacts written to MJCF: the same pairs, gaps and friction return, and MuJoCo's own distances are the gaps."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.contact import contact_gaps
from linkwright.rings.exchange import LossWarning
from linkwright.system.compiled import compiled_of

MODEL = {
    "name": "pile", "gravity": [0, 0, -9.81],
    "bodies": {
        "ground": {"points": {"G": [0.1, 0, -0.3]}},
        "block": {"points": {"C": [0.1, 0.2, 0], "A": [0, 0, 0.3], "B": [0.2, 0, 0.3]}, "mass": 2, "com": [0, 0, 0],
                  "inertia": [0.02, 0.03, 0.04]},
        "ball": {"points": {"M": [0, 0.05, 0]}, "mass": 1, "com": [0, 0, 0], "inertia": [0.01, 0.01, 0.01]},
    },
    "surfaces": {
        "floor": {"plane": "ground.G", "normal": [0.2, -0.1, 1]},
        "brick": {"box": "block.C", "length": 0.3, "width": 0.2, "height": 0.1, "along": [1, 1, 0], "across": [0, 1, 1]},
        "bar": {"capsule": ["block.A", "block.B"], "radius": 0.04}, "skin": {"sphere": "ball.M", "radius": 0.07},
        "wheel": {"disc": "ball.M", "radius": 0.1, "axis": [1, 0, 0]},
    },
    "contacts": {
        "stand": {"between": [["brick", "bar"], "floor"], "mu": 0.35, "restitution": 0.2},
        "hit": {"between": ["skin", "brick"]}, "roll": {"between": ["wheel", "floor"], "mu": 0.5},
    },
    "joints": {"base": {"type": "free", "between": ["ground", "block"], "at": [0, 0, 0]},
               "fly": {"type": "free", "between": ["ground", "ball"], "at": [0, 0, 0]}},
    "start": {"base.z": 1, "fly.z": 2},
}  # fmt: skip


def test_contacts_return_and_mujoco_has_their_gaps(tmp_path: Path) -> None:
    m = lw.load(MODEL)
    with pytest.warns(LossWarning) as said:
        m.export(tmp_path / "pile.xml", timestep=5e-4)
    lost = [(x.name, x.why) for x in said[0].message.lost]
    assert sorted(name for name, _ in lost) == [
        "hit",
        "roll",
        "stand",
        "stand",
        "wheel",
    ]  # soft twice, restitution, the disc and its contact
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "pile.xml"))
    assert np.allclose(model.pair_solref[:, 0], 1e-3, rtol=1e-15)  # two steps
    again = lw.load(tmp_path / "pile.xml", contacts=["ground", "ball with block"])
    kept = {frozenset(pair): x.mu for x in m.description.contacts if x.name != "roll" for pair in x.pairs}
    assert {frozenset(pair): x.mu for x in again.description.contacts for pair in x.pairs} == kept
    data, rng = mujoco.MjData(model), np.random.default_rng(5)
    rows = {"brick floor": slice(0, 4), "bar floor": slice(4, 6), "skin brick": slice(6, 7)}
    for _ in range(20):
        quats = rng.normal(size=(2, 4))
        quats /= np.linalg.norm(quats, axis=1)[:, None]
        places = rng.normal(size=(2, 3)) + np.array([[0, 0, 0], [0, 0, 2]])
        data.qpos[:] = np.concatenate([x for pair in zip(places, quats, strict=True) for x in pair])
        mujoco.mj_kinematics(model, data)
        g = contact_gaps(compiled_of(m.system).skel, np.concatenate([x for pair in zip(quats, places, strict=True) for x in pair]))["g"]
        for names, of in rows.items():
            a, b = (model.geom(x).id for x in names.split())
            assert g[of].min() == pytest.approx(mujoco.mj_geomDistance(model, data, a, b, 20.0, np.zeros(6)), abs=1e-9)  # round-off of both


def test_a_block_rests_in_mujoco_where_it_rests_here(tmp_path: Path) -> None:
    block = {"points": {"C": [0, 0, 0]}, "mass": 1, "com": [0, 0, 0], "inertia": [0.01, 0.01, 0.01]}
    surfaces = {"skin": {"box": "block.C", "length": 0.2, "width": 0.2, "height": 0.1}, "floor": {"plane": "ground.G", "normal": [0, 0, 1]}}
    model = {
        "gravity": [0, 0, -9.81], "bodies": {"ground": {"points": {"G": [0, 0, 0]}}, "block": block}, "surfaces": surfaces,
        "contacts": {"step": {"between": ["skin", "floor"], "mu": 0.3}}, "start": {"base.z": 0.05, "base.x.v": 1},
        "joints": {"base": {"type": "free", "between": ["ground", "block"], "at": [0, 0, 0]}},
    }  # fmt: skip
    with pytest.warns(LossWarning):
        lw.load(model).export(tmp_path / "block.xml", timestep=1e-3)
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "block.xml"))
    data = mujoco.MjData(theirs)
    mujoco.mj_resetDataKeyframe(theirs, data, 0)
    for _ in range(1000):
        mujoco.mj_step(theirs, data)
    assert data.qpos[2] == pytest.approx(0.05, abs=1e-5)  # how far soft contact sinks in
    assert data.qpos[0] == pytest.approx(1 / (2 * 0.3 * 9.81), rel=2e-2)  # stops after v^2 / 2 mu g, here with a soft cone
