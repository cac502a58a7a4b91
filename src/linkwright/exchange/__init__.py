"""Converters: a mechanism as a model of another program, with the maps between its coordinates and ours.

    p = lw.to_pinocchio(m)        Pinocchio model and loop constraints; needs the package `pin`
    text = lw.to_mjcf(m)          MuJoCo's XML; needs nothing, `mujoco` only to read it

    m.export("my.urdf")           URDF and SDF: `linkwright.exchange.robots`

The first two keep our bodies' frames and coordinates; loops are closed by what the other program offers, points that
coincide and frames that are welded (docs/converters.md).
"""

from __future__ import annotations

from linkwright.exchange.losses import Loss, LossWarning
from linkwright.exchange.mujoco import to_mjcf
from linkwright.exchange.mujoco_map import MujocoMap, mujoco_state
from linkwright.exchange.pinocchio import PinocchioAcceleration, PinocchioModel, to_pinocchio

__all__ = [
    "Loss",
    "LossWarning",
    "MujocoMap",
    "PinocchioAcceleration",
    "PinocchioModel",
    "mujoco_state",
    "to_mjcf",
    "to_pinocchio",
]  # fmt: skip
