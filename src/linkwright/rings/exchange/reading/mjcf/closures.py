"""Equalities of a compiled model: points and welds that close loops, joints and tendons that are coupled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import GROUND, Joint, Pose, description, joints, pose_of
from linkwright.rings.exchange.reading.mjcf.bodies import pose
from linkwright.rings.exchange.reading.mjcf.joints import MjcfTree, is_hinge_or_slide, moved
from linkwright.rings.exchange.reading.mjcf.mujoco_compiler import CompiledMjcf, mujoco
from linkwright.rings.exchange.reading.mjcf.names import MjcfNames
from linkwright.rings.exchange.reading.mjcf.tendons import LinearTendon, LineTendon, line_ends, tendon
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import placement


@dataclass
class Closures:
    """Joints that close loops, couplings, rods, and joints that an equality holds at one position."""

    joints: list[Joint] = field(default_factory=list)
    couplings: list[description.Coupling] = field(default_factory=list)
    rods: list[description.Rod] = field(default_factory=list)
    held: dict[int, float] = field(default_factory=dict)  # joint -> qpos


def closures(there: CompiledMjcf, names: MjcfNames, tree: MjcfTree, notes: ImportNotes) -> Closures:
    """All equalities that are active."""
    mj, m, out = mujoco(), there.model, Closures()
    kinds = mj.mjtEq
    places = {e.id: there.place(e) for e in there.spec.equalities}
    if m.opt.disableflags & mj.mjtDisableBit.mjDSBL_EQUALITY:
        notes.lose(f"{m.neq} equalities, which the file switches off")
        return out
    for e in range(m.neq):
        if not m.eq_active0[e]:
            notes.drop("switched-off constraint", names.equalities[e])
            continue
        kind = int(m.eq_type[e])
        if kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            out.joints.append(replace(_closure(mj, m, e, names, notes), where=places.get(e)))
        elif kind == kinds.mjEQ_JOINT:
            _coupled(m, e, names, out, notes)
        elif kind == kinds.mjEQ_TENDON:
            _tendons(m, e, names, out, notes)
        else:
            notes.drop("flexible-part constraint", names.equalities[e], mechanism=True)
    _hold(tree, out, notes)
    return out


# -------------------------------------------------------------------- loops


def _closure(mj: Any, m: Any, e: int, names: MjcfNames, notes: ImportNotes) -> Joint:
    """A point is a ball joint, a weld a fixed one; at qpos0 the compiler has found what the file leaves out."""
    name, data = names.equalities[e], np.array(m.eq_data[e], float)
    one, two = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    weld = int(m.eq_type[e]) == mj.mjtEq.mjEQ_WELD
    if int(m.eq_objtype[e]) == mj.mjtObj.mjOBJ_SITE:
        F, M = (pose(m.site_pos[s], m.site_quat[s]) for s in (one, two))
        one, two = int(m.site_bodyid[one]), int(m.site_bodyid[two])
    elif weld:
        F, M = pose(data[3:6], data[6:10]), Pose(np.eye(3), data[0:3])
    else:
        F, M = Pose(np.eye(3), data[0:3]), Pose(np.eye(3), data[3:6])
    if weld and data[10] == 0.0:
        notes.infer(f"the weld '{name}' holds no rotation (torquescale 0): it is a point.")
        weld = False
    bodies = [names.bodies.get(b, GROUND) for b in (one, two)]
    return Joint(name, "fixed" if weld else "spherical", bodies[0], bodies[1], placement(F), placement(M))


# -------------------------------------------------------------------- couplings


def _coupled(m: Any, e: int, names: MjcfNames, out: Closures, notes: ImportNotes) -> None:
    """q1 - q1_0 = c0 + c1 d + ... + c4 d^4 with d = q2 - q2_0, both counted from qpos0."""
    one, two = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    c = [float(x) for x in m.eq_data[e][:5]]
    name = names.equalities[e]
    if not all(is_hinge_or_slide(m, j) for j in (one, two) if j >= 0):
        notes.drop("ball or free joint constraint", name, mechanism=True)
        return
    q1 = float(m.qpos0[int(m.jnt_qposadr[one])])
    if two < 0:
        out.held[one] = q1 + c[0]
        return
    q2 = float(m.qpos0[int(m.jnt_qposadr[two])])
    if any(c[2:]):
        law = np.polynomial.Polynomial(c)(np.polynomial.Polynomial([-q2, 1.0])) + q1  # in q2 itself
        out.couplings.append(description.Coupling(name, names.joints[two], names.joints[one], polynomial=tuple(map(float, law.coef))))
    else:
        out.couplings.append(description.Coupling(name, names.joints[two], names.joints[one], c[1], c[0] + q1 - c[1] * q2))


def _hold(tree: MjcfTree, out: Closures, notes: ImportNotes) -> None:
    """Joints that an equality holds become fixed ones; couplings with such a joint are not read."""
    gone = {tree.moving[j].name for j in out.held}
    for coupling in [x for x in out.couplings if gone & set(x.joints)]:
        out.couplings.remove(coupling)
        notes.drop("held-joint coupling", coupling.name, mechanism=True)
    for j, q in out.held.items():
        joint = tree.moving.pop(j)
        F = pose_of(joint.frame_first)
        step = moved(joints.create(joint.type, joint.options), q)
        fixed = replace(joint, type="fixed", frame_first=placement(F @ step), armature=0.0)
        tree.order[tree.order.index(joint)] = fixed
        notes.infer(f"the joint '{joint.name}' is held at {q:g} by an equality: it is fixed.")


def _tendons(m: Any, e: int, names: MjcfNames, out: Closures, notes: ImportNotes) -> None:
    """A tendon of fixed length between two sites is a rod; sums of joint coordinates are coupled. Lengths are counted from qpos0."""
    one, two, c = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), [float(x) for x in m.eq_data[e][:5]]
    first, second = tendon(m, one), tendon(m, two) if two >= 0 else LinearTendon(())
    if two < 0 and isinstance(first, LineTendon):
        out.rods.append(description.Rod(names.equalities[e], line_ends(m, first, names), float(m.tendon_length0[one]) + c[0]))
    elif isinstance(first, LinearTendon) and isinstance(second, LinearTendon) and not any(c[2:] if two >= 0 else ()):
        factors: dict[int, float] = dict(first.terms)
        for j, b in second.terms:
            factors[j] = factors.get(j, 0.0) - c[1] * b
        _summed(m, names.equalities[e], {j: k for j, k in factors.items() if k}, c[0], names, out)
    else:
        notes.drop("tendon constraint", names.equalities[e], mechanism=True)


def _summed(m: Any, name: str, factors: dict[int, float], constant: float, names: MjcfNames, out: Closures) -> None:
    """A sum of coordinates, counted from qpos0, that is constant: solved for the joint with the largest factor."""
    if not factors:
        return
    constant += sum(k * float(m.qpos0[int(m.jnt_qposadr[j])]) for j, k in factors.items())
    last = max(factors, key=lambda j: abs(factors[j]))
    own = factors.pop(last)
    others = [(names.joints[j], -k / own) for j, k in factors.items()]
    if not others:
        out.held[last] = constant / own
        return
    (first, ratio), *plus = others
    out.couplings.append(description.Coupling(name, first, names.joints[last], ratio, constant / own, plus=tuple(plus)))
