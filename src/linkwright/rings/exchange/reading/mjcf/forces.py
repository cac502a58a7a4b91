"""Springs, dampers, friction and limits of a compiled model's joints and tendons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import description
from linkwright.rings.exchange.reading.mjcf.joints import MjcfTree, is_hinge_or_slide
from linkwright.rings.exchange.reading.mjcf.mujoco_compiler import CompiledMjcf, mujoco
from linkwright.rings.exchange.reading.mjcf.names import MjcfNames
from linkwright.rings.exchange.reading.mjcf.rotors import Rotors
from linkwright.rings.exchange.reading.mjcf.tendons import LinearTendon, LineTendon, line_ends, tendon
from linkwright.rings.exchange.reading.notes import ImportNotes


@dataclass
class MjcfForces:
    """Forces on joints and between points."""

    springs: list[description.TorsionSpring | description.CoilSpring] = field(default_factory=list)
    dampers: list[description.Damper] = field(default_factory=list)
    frictions: list[description.Friction] = field(default_factory=list)
    stops: list[description.Stop] = field(default_factory=list)


def forces(there: CompiledMjcf, names: MjcfNames, tree: MjcfTree, carried: Rotors, notes: ImportNotes) -> MjcfForces:
    """Everything that the file does not switch off."""
    mj, out = mujoco(), MjcfForces()
    off = int(there.model.opt.disableflags)
    bits = mj.mjtDisableBit
    acting = _acting(mj, off)
    for j, damping in carried.damping.items():
        if j in tree.moving and "damper" in acting:
            out.dampers.append(description.Damper(f"{tree.moving[j].name}_actuator", damping, tree.moving[j].name))
    for j, joint in tree.moving.items():
        _joint(there, j, joint.name, acting, out, notes)
    for t in range(there.model.ntendon):
        _tendon(there.model, t, names, tree, acting, out, notes)
    names_off = [text for bit, text in ((bits.mjDSBL_LIMIT, "limits"), (bits.mjDSBL_FRICTIONLOSS, "friction")) if off & bit]
    for text in names_off:
        notes.lose(f"{text} of all joints, which the file switches off")
    return out


def _acting(mj: Any, off: int) -> set[str]:
    """Kinds of forces that the options of the file leave on."""
    bits = mj.mjtDisableBit
    passive = getattr(bits, "mjDSBL_PASSIVE", None)
    spring, damper = getattr(bits, "mjDSBL_SPRING", passive), getattr(bits, "mjDSBL_DAMPER", passive)
    every = {"spring": spring, "damper": damper, "limit": bits.mjDSBL_LIMIT, "friction": bits.mjDSBL_FRICTIONLOSS}
    return {name for name, bit in every.items() if bit is None or not off & int(bit)}


def _joint(there: CompiledMjcf, j: int, name: str, acting: set[str], out: MjcfForces, notes: ImportNotes) -> None:
    m = there.model
    dof, at = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
    where = there.place(there.joints_of_spec[j])
    one = is_hinge_or_slide(m, j)
    stiffness, damping, friction = float(m.jnt_stiffness[j]), float(m.dof_damping[dof]), float(m.dof_frictionloss[dof])
    if _higher(m, "jnt_stiffnesspoly", j) or _higher(m, "dof_dampingpoly", dof):
        notes.lose(f"terms of higher order in stiffness or damping of '{name}'", mechanism=True)
    if stiffness and "spring" in acting:
        if one:
            out.springs.append(description.TorsionSpring(name, name, stiffness, float(m.qpos_spring[at]), where=where))
        else:
            notes.drop("ball or free joint spring", name, mechanism=True)
    if damping and "damper" in acting:
        out.dampers.append(description.Damper(name, damping, name, where=where))
    if friction and "friction" in acting:
        out.frictions.append(description.Friction(name, name, friction, where=where))
    if m.jnt_limited[j] and "limit" in acting:
        if one:
            low, high = (float(x) for x in m.jnt_range[j])
            out.stops.append(description.Stop(name, name, None, low, high, where=where))
        else:
            notes.drop("ball joint limit", name, mechanism=True)


def _higher(m: Any, field_name: str, i: int) -> bool:
    values = getattr(m, field_name, None)
    return values is not None and bool(np.any(np.asarray(values)[i]))


def _tendon(m: Any, t: int, names: MjcfNames, tree: MjcfTree, acting: set[str], out: MjcfForces, notes: ImportNotes) -> None:
    """Springs and dampers of tendons: along the line of two sites, or on the joint of a tendon that has one."""
    found, name = tendon(m, t), names.tendons[t]
    k = float(m.tendon_stiffness[t]) if "spring" in acting else 0.0
    d = float(m.tendon_damping[t]) if "damper" in acting else 0.0
    low, high = (float(x) for x in m.tendon_lengthspring[t])
    others = [
        text
        for text, there in (("limit", m.tendon_limited[t]), ("friction", m.tendon_frictionloss[t]), ("armature", _armature(m, t)))
        if there
    ]
    if others:
        notes.drop(f"tendon {' and '.join(others)}", name, mechanism=True)
    if k == 0.0 and d == 0.0:
        return
    only = found.terms[0] if isinstance(found, LinearTendon) and len(found.terms) == 1 else None
    if low != high and k:
        notes.drop("slack tendon", name, mechanism=True)
    elif isinstance(found, LineTendon):
        ends = line_ends(m, found, names)
        if k:
            out.springs.append(description.CoilSpring(name, ends, k, low))
        if d:
            out.dampers.append(description.Damper(name, d, between=ends))
    elif only is not None and only[0] in tree.moving and only[1]:
        joint, c = tree.moving[only[0]].name, only[1]
        if k:
            out.springs.append(description.TorsionSpring(name, joint, k * c * c, low / c))
        if d:
            out.dampers.append(description.Damper(name, d * c * c, joint))
    else:
        notes.drop("multi-joint tendon spring", name, mechanism=True)


def _armature(m: Any, t: int) -> float:
    values = getattr(m, "tendon_armature", None)
    return 0.0 if values is None else float(values[t])
