"""Dialects of URDF: how each one writes the joints that close loops.

plain         not at all
urdf+         <loop> with predecessor, successor and axis; <coupling> between joints of one parent
constraint    <constraint> with origin and axis on parent and child
loop_joint    <loop_joint> of type spherical or fixed between two frames (Isaac Sim, Drake)
gepetto       pairs of frames, listed in a YAML file beside the URDF; ball joints of the tree are listed there too
onshape       pairs of frames that their names close: closing_NAME_1, closing_NAME_2, with _z a point along the axis
two-parents   joints whose child has a parent already
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

from linkwright.api import Joint, Pose, files
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.losses import Loss
from linkwright.rings.exchange.writing.robots.structure import Robot, numbers, placing

UP = 0.1  # m, distance of the second point on an axis in onshape-to-robot's files
TYPES = {"point": "spherical", "axis": "revolute", "weld": "fixed"}


@dataclass(frozen=True)
class LoopsText:
    """Elements that close the loops, what is lost, and texts of files beside."""

    elements: tuple[xml.Element, ...] = ()
    lost: tuple[Loss, ...] = ()
    pairs: tuple[tuple[str, str, str], ...] | None = None  # Gepetto: frames and "3d" or "6d"

    def beside(self, robot: Robot, acts: Any) -> dict[str, str]:
        if self.pairs is None:
            return {}
        balls = [j.name for j in robot.joints if j.kind == "ball"]
        motors = [name for name, x in acts.joints.items() if x.drive is not None]
        lines = [
            f"closed_loop: [{', '.join(f'[{quoted(a)}, {quoted(b)}]' for a, b, _ in self.pairs)}]",
            f"type: [{', '.join(quoted(x) for *_, x in self.pairs)}]",
            f"name_mot: [{', '.join(quoted(x) for x in motors)}]",
            f"joint_name: [{', '.join(quoted(x) for x in balls)}]",
            f"joint_type: [{', '.join(quoted('SPHERICAL') for _ in balls)}]",
        ]
        return {".yaml": files.signed("\n".join(lines) + "\n")}


@dataclass(frozen=True)
class Dialect:
    """A dialect: kinds of joints it has besides turns and slides, and the writer of its loops."""

    write: Callable[[Robot], LoopsText]
    whole: frozenset[str] = frozenset()
    needs_closed: bool = False
    marks: Callable[[Any], Mapping[str, str]] = field(default=lambda _: {})


def quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _cuts(robot: Robot) -> list[Joint]:
    return [robot.system.description.joint(name) for name in robot.system.tree.cuts]


def _plain(robot: Robot) -> LoopsText:
    why = "it closes a loop, which plain URDF cannot: the loop is open there; choose a dialect"
    return LoopsText(lost=tuple(Loss(name, why) for name in robot.system.tree.cuts))


def _pose(X: Pose) -> dict[str, str]:
    at, angles = placing(X)
    return {"xyz": numbers(at), "rpy": numbers(angles)}


# -------------------------------------------------------------------- elements of their own


def _loop(robot: Robot) -> LoopsText:
    """<loop> holds the point; a hinge in space is two of them, on its axis."""
    out = []
    for c in loops.closings(robot.system):
        kind = TYPES[loops.closed_by(robot.system.description.joint(c.cut))]
        e = xml.Element("loop", name=c.name.replace(".", "_"), type=kind)
        for tag, body, at in (("predecessor", c.first, c.at_first), ("successor", c.second, c.at_second)):
            xml.SubElement(xml.SubElement(e, tag, link=body), "origin", _pose(robot.in_link(body, at)))
        xml.SubElement(e, "axis", xyz="0 0 1")
        out.append(e)
    return LoopsText(tuple(out))


def _constraint(robot: Robot) -> LoopsText:
    out = []
    for j in _cuts(robot):
        e = xml.Element("constraint", name=j.name, type=TYPES[loops.closed_by(j)])
        for side, body, at in (("parent", j.first, j.frame_first), ("child", j.second, j.frame_second)):
            xml.SubElement(e, side, link=body)
            xml.SubElement(e, f"{side}_origin", _pose(robot.in_link(body, at)))
            xml.SubElement(e, f"{side}_axis", xyz="0 0 1")
        out.append(e)
    return LoopsText(tuple(out))


def _loop_joint(robot: Robot) -> LoopsText:
    out = []
    for c in loops.closings(robot.system):
        e = xml.Element("loop_joint", name=c.name.replace(".", "_"), type="fixed" if c.weld else "spherical")
        for tag, body, at in (("link1", c.first, c.at_first), ("link2", c.second, c.at_second)):
            xml.SubElement(e, tag, {"link": body, **_pose(robot.in_link(body, at))})
        out.append(e)
    return LoopsText(tuple(out))


# -------------------------------------------------------------------- frames


def _frame(robot: Robot, name: str, body: str, X: Pose) -> list[xml.Element]:
    """A frame of a body: a link without mass on a fixed joint."""
    robot.names.add(name)
    joint = xml.Element("joint", name=robot.fresh(f"{name}_frame"), type="fixed")
    xml.SubElement(joint, "parent", link=body)
    xml.SubElement(joint, "child", link=name)
    xml.SubElement(joint, "origin", _pose(X))
    return [xml.Element("link", name=name), joint]


def _gepetto(robot: Robot) -> LoopsText:
    out, pairs = [], []
    for c in loops.closings(robot.system):
        label = robot.fresh(f"closedloop_{c.name}")
        names = (f"{label}_A", f"{label}_B")
        for name, body, at in zip(names, (c.first, c.second), (c.at_first, c.at_second), strict=True):
            out += _frame(robot, name, body, robot.in_link(body, at))
        pairs.append((*names, "6d" if c.weld else "3d"))
    return LoopsText(tuple(out), pairs=tuple(pairs))


def _onshape(robot: Robot) -> LoopsText:
    out, lost = [], []
    for j in _cuts(robot):
        how = loops.closed_by(j)
        if how == "weld":
            lost.append(Loss(j.name, "a fixed joint that closes a loop: a pair of frames is read as a ball"))
        for side, body, at in (("1", j.first, j.frame_first), ("2", j.second, j.frame_second)):
            X = robot.in_link(body, at)
            out += _frame(robot, f"closing_{j.name}_{side}", body, X)
            if how == "axis":
                out += _frame(robot, f"closing_{j.name}_{side}_z", body, Pose(X.R, X.p + UP * np.asarray(X.R, float)[:, 2]))
    return LoopsText(tuple(out), tuple(lost))


def _two_parents(robot: Robot) -> LoopsText:
    for name in robot.system.tree.cuts:
        robot.close(name)
    return LoopsText()


def _independent(acts: Any) -> dict[str, str]:
    return {"independent": "true" if acts.drive is not None else "false"}


DIALECTS: dict[str, Dialect] = {
    "plain": Dialect(_plain),
    "urdf+": Dialect(_loop, marks=_independent),
    "constraint": Dialect(_constraint),
    "loop_joint": Dialect(_loop_joint),
    "gepetto": Dialect(_gepetto, frozenset(["ball"])),
    "onshape": Dialect(_onshape),
    "two-parents": Dialect(_two_parents, needs_closed=True),
}
