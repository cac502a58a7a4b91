"""Chains of joints in the other programs: MuJoCo has several joints in one body, Pinocchio links without mass."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

import linkwright as lw
from linkwright.rings.exchange import MujocoMap
from linkwright.rings.exchange.writing.mujoco.text import mjcf
from linkwright.rings.exchange.writing.pinocchio import pinocchio_model
from tests import exports

LEG = {
    "name": "leg",
    "gravity": [0, 0, -9.81],
    "bodies": {
        "ground": {"points": {"T": [0.9, 0.05, 1.0]}},
        "thigh": {"points": {"H": [0, 0, 0], "K": [0, 0, -0.4]}, "mass": 6, "com": [0, 0.01, -0.2], "inertia": [0.08, 0.07, 0.02]},
        "shank": {"points": {"K": [0, 0, 0], "F": [0, 0, -0.4]}, "mass": 3, "com": [0.01, 0, -0.2], "inertia": [0.04, 0.05, 0.01]},
    },
    "joints": {
        "hip": {
            "between": ["ground", "thigh"],
            "at": [0, 0, 1],
            "chain": {
                "lift": {"type": "prismatic", "axis": [0, 0, 1]},
                "yaw": {"type": "revolute", "axis": [0, 0.1, 1]},
                "roll": {"type": "revolute", "axis": [1, 0, 0], "at": [0.05, 0, 1]},
                "pitch": {"type": "revolute", "axis": [0, 1, 0]},
            },
        },
        "knee": {"type": "revolute", "connect": ["thigh.K", "shank.K"], "axis": [0, 1, 0]},
    },
    "guess": {"thigh": {"at": [0, 0, 1]}, "shank": {"at": [0, 0, 0.6]}},
}
Q = {"lift": 0.1, "yaw": 0.3, "roll": -0.4, "pitch": 0.7, "knee": -0.9}
V = {"lift": 0.5, "yaw": 2.0, "roll": 1.0, "pitch": -3.0, "knee": 4.0}
TAU = {"lift": 30.0, "roll": 2.0, "knee": -1.0}


def accelerations(model: Any, m: lw.Mechanism, st: Any, tau: Any) -> np.ndarray:
    there, data = MujocoMap.of(model, m.system), mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = there.qpos(st), there.qvel(st), there.effort(st, tau)
    mujoco.mj_forward(model, data)
    return there.acceleration(st, data.qacc)


def test_mujoco_has_the_joints_in_one_body_and_the_same_accelerations() -> None:
    m = lw.load(LEG)
    model = mujoco.MjModel.from_xml_string(exports.mjcf(m))
    assert [model.body(k).name for k in range(model.nbody)] == ["world", "thigh", "shank"]
    assert [model.joint(k).name for k in range(model.njnt)] == ["lift", "yaw", "roll", "pitch", "knee"]
    st = m.system.assemble(Q, v=V)
    ours = m.system.forward(st, TAU).a
    # no link has to be given a mass: only the rounding of MuJoCo's inertias, read from text as principal axes, is left
    np.testing.assert_allclose(accelerations(model, m, st, TAU), ours, atol=1e-9 * np.abs(ours).max())


def test_pinocchio_has_the_same_accelerations() -> None:
    m = lw.load(LEG)
    st = m.system.assemble(Q, v=V)
    ours = m.system.forward(st, TAU).a
    np.testing.assert_allclose(pinocchio_model(m).forward(st, TAU).a, ours, atol=1e-11 * np.abs(ours).max())


def test_a_chain_that_is_cut_keeps_its_links_as_bodies() -> None:
    """A loop closed inside the chain: what hangs on the loop has a site on the link, so the link is a body there."""
    held = {**LEG, "joints": {**LEG["joints"], "tie": {"type": "spherical", "between": ["ground", "shank"], "at": [0, 0, 0.2]}}}
    m = lw.load(held)
    system = lw.compile(m, cuts=["roll"])
    model = mujoco.MjModel.from_xml_string(mjcf(system).text)
    bodies = {model.body(k).name for k in range(model.nbody)}
    assert {"hip:2", "hip:3"} & bodies and model.neq > 0
