"""Channels of loads: `A.torque`, `A.power`, `C.on.rocker`, `C.load` (size of a joint's force), `shaking.force`, `shaking.moment`;
`cam.contact`, the contact force of a cam (negative: it would have to pull); of a floating base `base.force`, `base.moment`; of rods,
springs and dampers `gas.force`, positive where it pushes (in a joint `return.torque`, along its coordinate), and with cylinders
`gas.P.on.lid` at their eyes; pressures of cylinders (`cylinder_channels`); of belts `main.tension.1` of the spans,
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
from linkwright.mechanics.inverse.belts import belt_tensions
from linkwright.mechanics.inverse.lines import line_eyes, line_force
from linkwright.mechanics.kinematics.base import base_joints
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.model.coordinates import coordinate, is_rotary, movable
from linkwright.model.description import Description
from linkwright.numerics.scalars import maximum, minimum
from linkwright.results.channels import Channel
from linkwright.results.cylinder_channels import pressure_channels


def load_channels(d: Description, drives: Sequence[str]) -> dict[str, Channel]:
    """All load channels of a mechanism for the given drives."""
    out: dict[str, Channel] = {}

    def add(name: str, dimension: str, read: Any, *, kink: float | None = None) -> None:
        out[name] = Channel(name, dimension, read, kink=kink)

    for on in (coordinate(d, name) for name in drives):
        add(f"{on.name}.{on.effort_kind}", on.effort_kind, lambda x, n=on.name: x.loads.tau[n])
        add(f"{on.name}.power", "power", lambda x, n=on.name: x.loads.tau[n] * x.travel_rate(coordinate(x.skel.tree.description, n)))
    for named in pressure_channels(d):
        add(*named)
    for b in d.belts:
        for k in range(len(b.spans)):
            add(f"{b.name}.tension.{k + 1}", "force", lambda x, n=b.name, k=k: belt_tensions(x.loads, n)[k])
        add(f"{b.name}.tension.max", "force", lambda x, n=b.name: reduce(maximum, belt_tensions(x.loads, n)))
        add(f"{b.name}.tension.min", "force", lambda x, n=b.name: reduce(minimum, belt_tensions(x.loads, n)))
    joined = movable(d)
    for e in line_eyes(d)[1::2]:
        if e.part.name not in joined:
            add(f"{e.part.name}.force", "force", lambda x, e=e: line_force(x.loads, e))
    for x in (x for x in d.acting if x.acts == elements.JOINT and x.name not in joined):
        turns = is_rotary(d, x.joint)
        kind = "torque" if turns else "force"
        add(f"{x.name}.{kind}", kind, lambda s, x=x, turns=turns: _of_one(forces.ElementForce(x).sizes(s)[int(turns)]))
    pick = slice(0, 2) if d.planar else slice(0, 3)
    for x in (x for x in elements.every(d) if x.acts == elements.FRAMES and x.name not in joined):
        for i, (tail, kind) in enumerate((("force", "force"), ("moment", "torque"))):
            about = 2 if d.planar and i else pick
            add(f"{x.name}.{tail}", kind, lambda s, x=x, i=i, about=about: forces.ElementForce(x).sizes(s)[i][about])
            for k, axis in enumerate(d.plane or "xyz") if isinstance(about, slice) else ():
                add(f"{x.name}.{tail}.{axis}", kind, lambda s, x=x, i=i, k=k: forces.ElementForce(x).sizes(s)[i][k])
    for pin, body in (*eyes(d), *((e.pin, e.body) for e in line_eyes(d))):
        add(f"{pin}.on.{body}", "force", lambda x, p=pin, b=body: x.loads.on(p, b).force[pick])
        add(f"{pin}.on.{body}.magnitude", "force", lambda x, p=pin, b=body: _size(x.loads.on(p, b).force), kink=0.0)
        for i, axis in enumerate(d.plane or "xyz"):
            add(f"{pin}.on.{body}.{axis}", "force", lambda x, p=pin, b=body, i=i: x.loads.on(p, b).force[i])
    for j in d.joints:
        if joints.create(j.type, j.options).rows:
            add(f"{j.name}.load", "force", lambda x, n=j.name: _size(x.loads.reaction(n).force), kink=0.0)
    for c in d.cams:
        add(f"{c.name}.contact", "force", lambda x, n=c.name: _contact(x, n))
    add("shaking.force", "force", lambda x: x.loads.ground_wrench[0][pick])
    add("shaking.moment", "torque", lambda x: x.loads.ground_wrench[1][2] if d.planar else x.loads.ground_wrench[1])
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

    def add(name: str, dimension: str, read: Any) -> None:
        out[name] = Channel(name, dimension, read)

    for joint in base_joints(skel.tree):
        add(f"{joint}.force", "force", lambda x, n=joint: x.loads.base_wrench(joint=n)[0][pick])
        add(f"{joint}.moment", "torque", lambda x, n=joint: moment(x, n))
        for i, axis in enumerate(d.plane or "xyz"):
            add(f"{joint}.force.{axis}", "force", lambda x, n=joint, i=i: x.loads.base_wrench(joint=n)[0][i])
            if not d.planar:
                add(f"{joint}.moment.{axis}", "torque", lambda x, n=joint, i=i: moment(x, n)[i])
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
