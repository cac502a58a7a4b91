"""Channels of loads: `A.torque`, `A.power`, `C.on.rocker`, `C.load` (size of a joint's force), `C.moment` (of a joint that
holds a rotation: its moment, in space the size), `shaking.force`, `shaking.moment`;
`cam.contact`, the contact force of a cam (negative: it would have to pull); of a floating base `base.force`, `base.moment`; of rods,
springs and dampers `gas.force`, positive where it pushes (in a joint `return.torque`, along its coordinate), and with cylinders
`gas.P.on.lid` at their eyes; pressures of cylinders (`cylinders`); of belts `main.tension.1` of the spans,
`main.tension.max` and `.min`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from linkwright import elements, joints
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.coupling import cam_of
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.line_eyes import line_eyes, line_force
from linkwright.mechanics.kinematics.floating_base import base_joints
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.model.coordinates import coordinate, is_rotary, movable
from linkwright.model.description import Description, Joint
from linkwright.numerics.scalars import maximum, minimum
from linkwright.results.channels import Channel
from linkwright.results.channels.cylinders import pressure_channels


def drive_channels(d: Description, drives: Sequence[str]) -> dict[str, Channel]:
    """Torque or force and power of the given drives."""
    out: dict[str, Channel] = {}
    for on in (coordinate(d, name) for name in drives):
        effort, power = f"{on.effort_kind} of the drive at {on.name}", f"power of the drive at {on.name}"
        acting = Channel(f"{on.name}.{on.effort_kind}", on.effort_kind, lambda x, n=on.name: x.loads.tau[n], meaning=effort)
        rate = Channel(
            f"{on.name}.power", "power",
            lambda x, n=on.name: x.loads.tau[n] * x.travel_rate(coordinate(x.skel.tree.description, n)), meaning=power,
        )  # fmt: skip
        out |= {acting.name: acting, rate.name: rate}
    return out


def _joint_moment(d: Description, j: Joint) -> dict[str, Channel]:
    """Moment in a joint that holds a rotation; in space its magnitude."""
    joint, name = joints.create(j.type, j.options), f"{j.name}.moment"
    if not joint.rows or joints.velocity_kinds(joint).count("angle") >= (1 if d.planar else 3):
        return {}
    if d.planar:
        return {name: Channel(name, "torque", lambda x: x.loads.reaction(j.name).moment[2], meaning=f"moment in joint {j.name}")}
    size = f"magnitude of the moment in joint {j.name}"
    return {name: Channel(name, "torque", lambda x: _size(x.loads.reaction(j.name).moment), kink=0.0, meaning=size)}


def load_channels(d: Description, drives: Sequence[str]) -> dict[str, Channel]:
    """All load channels of a mechanism for the given drives."""
    out = drive_channels(d, drives)

    def add(name: str, dimension: str, meaning: str, read: Any, *, kink: float | None = None) -> None:
        out[name] = Channel(name, dimension, read, kink=kink, meaning=meaning)

    for named in pressure_channels(d):
        add(*named)
    for b in d.belts:
        for k in range(len(b.spans)):
            add(
                f"{b.name}.tension.{k + 1}",
                "force",
                f"tension in span {k + 1} of {b.name}",
                lambda x, n=b.name, k=k: x.loads.belt_tensions(n)[k],
            )
        add(
            f"{b.name}.tension.max",
            "force",
            f"largest tension of all spans of {b.name}",
            lambda x, n=b.name: reduce(maximum, x.loads.belt_tensions(n)),
        )
        add(
            f"{b.name}.tension.min",
            "force",
            f"smallest tension of all spans of {b.name}",
            lambda x, n=b.name: reduce(minimum, x.loads.belt_tensions(n)),
        )
    joined = movable(d)
    for e in line_eyes(d)[1::2]:
        if e.part.name not in joined:
            add(f"{e.part.name}.force", "force", f"force of {e.part.name}, positive if it pushes", lambda x, e=e: line_force(x.loads, e))
    out |= element_channels(d)
    pick = slice(0, 2) if d.planar else slice(0, 3)
    for pin, body in (*eyes(d), *((e.pin, e.body) for e in line_eyes(d))):
        whose = f"force of {pin} on {body}"
        add(f"{pin}.on.{body}", "force", whose, lambda x, p=pin, b=body: x.loads.on(p, b).force[pick])
        add(
            f"{pin}.on.{body}.magnitude",
            "force",
            f"magnitude of the {whose}",
            lambda x, p=pin, b=body: _size(x.loads.on(p, b).force),
            kink=0.0,
        )
        for i, axis in enumerate(d.plane or "xyz"):
            add(
                f"{pin}.on.{body}.{axis}",
                "force",
                f"{axis} component of the {whose}",
                lambda x, p=pin, b=body, i=i: x.loads.on(p, b).force[i],
            )
    for j in d.joints:
        if joints.create(j.type, j.options).rows:
            add(
                f"{j.name}.load",
                "force",
                f"magnitude of the force in joint {j.name}",
                lambda x, n=j.name: _size(x.loads.reaction(n).force),
                kink=0.0,
            )
        out |= _joint_moment(d, j)
    for c in d.cams:
        add(
            f"{c.name}.contact",
            "force",
            f"contact force of {c.name} (a negative force would pull)",
            lambda x, n=c.name: _contact(x, n),
        )
    add("shaking.force", "force", "force of the mechanism on the ground", lambda x: x.loads.ground_wrench[0][pick])
    moment = "moment of the mechanism on the ground about the origin"
    add("shaking.moment", "torque", moment, lambda x: x.loads.ground_wrench[1][2] if d.planar else x.loads.ground_wrench[1])
    return out


def element_channels(d: Description) -> dict[str, Channel]:
    """Torques, forces and moments of springs, dampers and other elements in joints and between frames."""
    out: dict[str, Channel] = {}
    joined = movable(d)

    def add(name: str, dimension: str, meaning: str, read: Any) -> None:
        out[name] = Channel(name, dimension, read, meaning=meaning)

    for x in (x for x in d.acting if x.acts == elements.JOINT and x.name not in joined):
        turns = is_rotary(d, x.joint)
        kind = "torque" if turns else "force"
        acts = f"{kind} of {x.name} in joint {x.joint}"
        add(f"{x.name}.{kind}", kind, acts, lambda s, x=x, turns=turns: _of_one(forces.ElementForce(x).sizes(s)[int(turns)]))
    pick = slice(0, 2) if d.planar else slice(0, 3)
    for x in (x for x in elements.every(d) if x.acts == elements.FRAMES and x.name not in joined):
        for i, (tail, kind) in enumerate((("force", "force"), ("moment", "torque"))):
            about = 2 if d.planar and i else pick
            add(f"{x.name}.{tail}", kind, f"{tail} of {x.name}", lambda s, x=x, i=i, about=about: forces.ElementForce(x).sizes(s)[i][about])
            for k, axis in enumerate(d.plane or "xyz") if isinstance(about, slice) else ():
                part = f"{axis} component of the {tail} of {x.name}"
                add(f"{x.name}.{tail}.{axis}", kind, part, lambda s, x=x, i=i, k=k: forces.ElementForce(x).sizes(s)[i][k])
    return out


def _of_one(efforts: Any) -> Any:
    """A number where an element acts on one velocity, else the vector of its efforts."""
    return efforts[0] if len(efforts) == 1 else efforts


def _contact(x: Instant, name: str) -> Any:
    cam = cam_of(x.skel, name)
    return x.loads.lam[name][0] / cam.at(x.coordinates(cam.first)[0]).work


def base_channels(skel: Skeleton) -> dict[str, Channel]:
    """Channels of the wrench that holds a floating base: force and moment about its joint's point, in world axes."""
    d, out = skel.tree.description, {}
    pick = slice(0, 2) if d.planar else slice(0, 3)

    def moment(x: Instant, joint: str) -> Any:
        w = x.loads.reaction(joint)
        found = x.loads.base_wrench(about=w.at, joint=joint)[1]
        return found[2] if d.planar else found

    def add(name: str, dimension: str, meaning: str, read: Any) -> None:
        out[name] = Channel(name, dimension, read, meaning=meaning)

    for joint in base_joints(skel.tree):
        add(f"{joint}.force", "force", f"force that holds the base at {joint}", lambda x, n=joint: x.loads.base_wrench(joint=n)[0][pick])
        add(f"{joint}.moment", "torque", f"moment that holds the base at {joint}", lambda x, n=joint: moment(x, n))
        for i, axis in enumerate(d.plane or "xyz"):
            add(
                f"{joint}.force.{axis}",
                "force",
                f"{axis} component of the force that holds the base at {joint}",
                lambda x, n=joint, i=i: x.loads.base_wrench(joint=n)[0][i],
            )
            if not d.planar:
                add(
                    f"{joint}.moment.{axis}",
                    "torque",
                    f"{axis} component of the moment that holds the base at {joint}",
                    lambda x, n=joint, i=i: moment(x, n)[i],
                )
    return out


def eyes(d: Description) -> list[tuple[str, str]]:
    """(pin or joint, body) for every place where a joint loads a body, ground included; `line_eyes` are those of other parts."""
    out: dict[tuple[str, str], None] = {}
    for j in d.joints:
        if joints.create(j.type, j.options).rows:
            for body in (j.first, j.second):
                out[(j.pin or j.name, body)] = None
    return list(out)


def _size(x: Any) -> Any:
    return np.sqrt(x @ x)
