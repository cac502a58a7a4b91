"""Actuators that push by themselves, whatever their control: loads at sites, forces and springs along the line between two sites."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.model.description import CoilSpring, Cylinder, Load
from linkwright.numerics.spatial import quaternion_rotation
from linkwright.rings.exchange.reading.mjcf.compiling import mujoco
from linkwright.rings.exchange.reading.mjcf.naming import MjcfNames
from linkwright.rings.exchange.reading.mjcf.tendons import LineTendon, line_ends, tendon

OURS = "force:"  # begin of the names that `to_mjcf` gives them


def steady(m: Any, a: int, names: MjcfNames) -> Load | Cylinder | CoilSpring | None:
    """A load, a cylinder of constant force or a spring for an actuator without gain; None for all others."""
    mj = mujoco()
    kinds, name = mj.mjtTrn, names.actuators[a].removeprefix(OURS)
    idle = int(m.actuator_gaintype[a]) == mj.mjtGain.mjGAIN_FIXED and not m.actuator_gainprm[a][0]
    if not idle or int(m.actuator_biastype[a]) != mj.mjtBias.mjBIAS_AFFINE or int(m.actuator_dyntype[a]) != mj.mjtDyn.mjDYN_NONE:
        return None
    b = [float(x) for x in m.actuator_biasprm[a][:3]]
    kind, limited = int(m.actuator_trntype[a]), bool(m.actuator_forcelimited[a])
    if kind == kinds.mjTRN_SITE and not any(b[1:]) and not limited:
        return _load(m, a, name, b[0], names)
    found = tendon(m, int(m.actuator_trnid[a][0])) if kind == kinds.mjTRN_TENDON else None
    if not isinstance(found, LineTendon) or b[2] or limited:
        return None
    ends, gear = line_ends(m, found, names), float(m.actuator_gear[a][0])
    if not b[1]:
        return Cylinder(name, ends, gear * b[0])
    # push = gear (b0 + b1 gear L) = k (free - L)
    k = -b[1] * gear * gear
    return CoilSpring(name, ends, k, gear * b[0] / k) if k > 0.0 else None


def _load(m: Any, a: int, name: str, size: float, names: MjcfNames) -> Load | None:
    """A constant force and moment at a site, in axes of its body or of the world."""
    site, other = (int(x) for x in m.actuator_trnid[a][:2])
    body = names.bodies.get(int(m.site_bodyid[site]))
    if body is None or (other >= 0 and int(m.site_bodyid[other]) != 0):
        return None
    R = quaternion_rotation(m.site_quat[site if other < 0 else other])
    force, moment = (tuple(float(x) for x in size * (R @ part)) for part in np.array(m.actuator_gear[a], float).reshape(2, 3))
    axes = body if other < 0 else "world"
    return Load(name, body, names.sites[site], (force[0], force[1], force[2]), (moment[0], moment[1], moment[2]), axes)
