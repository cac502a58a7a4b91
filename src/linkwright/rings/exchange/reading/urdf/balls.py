"""Ball joints of URDF files written here: three hinges at one point through two links without anything, read as the ball they stand for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from linkwright.model.file.geometry import rotate
from linkwright.rings.exchange.reading.poses import times
from linkwright.rings.exchange.reading.urdf.joints import JOINT_TAGS, child_of, parent_of
from linkwright.rings.exchange.reading.urdf.links import origin
from linkwright.rings.exchange.reading.xml_reading import XmlElement

LETTERS = "xyz"
NEAR = 1e-9
PARTS = ("parent", "child", "origin", "axis")


def with_balls(robot: XmlElement) -> XmlElement:
    """The robot with every chain N_x, N_y, N_z of hinges that nothing else names as one joint N of type ball."""
    joints = {j.get("name"): j for j in robot.all("joint") if j.get("type") == "continuous"}
    used, links = Counter(_names(robot)), {x.get("name"): x for x in robot.all("link")}
    taken = {j.get("name") for j in robot.all(*JOINT_TAGS)}
    made: dict[int, XmlElement | None] = {}
    for first in joints.values():
        name = first.get("name").removesuffix("_x")
        chain = [joints.get(f"{name}_{letter}") for letter in LETTERS]
        three = [j for j in chain if j is not None]
        if first is not chain[0] or len(three) < 3 or name in taken or not _is_ball(three, links, used):
            continue
        attributes = {"name": name, "type": "ball"}
        made[id(first)] = replace(first, attributes=attributes, children=(*first.all("parent"), *three[2].all("child"), _composed(three)))
        made |= {id(j): None for j in three[1:]} | {id(links[child_of(j)]): None for j in three[:2]}
    remaining = [made.get(id(x), x) for x in robot.children]
    return replace(robot, children=tuple(x for x in remaining if x is not None)) if made else robot


def _is_ball(chain: list[XmlElement], links: dict[str, XmlElement], used: Counter[str]) -> bool:
    """True for hinges about x, y and z of one frame: each carries the next through an empty link that is named three times."""
    for j, following in pairwise(chain):
        between = child_of(j)
        empty = between in links and not links[between].children and used[between] == 3
        if not empty or parent_of(following) != between or not between.startswith(j.get("name")):
            return False
    places = [origin(j) for j in chain]
    axes = [next((x.numbers("xyz", 3, (1.0, 0.0, 0.0)) for x in j.all("axis")), (1.0, 0.0, 0.0)) for j in chain]
    turned = (axes[0], rotate(places[1].rotation, axes[1]), rotate(times(places[1], places[2]).rotation, axes[2]))
    right = all(abs(x - float(i == k)) < NEAR for k, row in enumerate(turned) for i, x in enumerate(row))
    here = all(abs(x) < NEAR for place in places[1:] for x in place.at)
    return right and here and all(x.tag in PARTS for j in chain for x in j) and all(used[j.get("name")] == 1 for j in chain)


def _composed(chain: list[XmlElement]) -> XmlElement:
    """The origin of the last hinge in the link that carries the first."""
    found = times(*(origin(j) for j in chain))
    R = [[float(x) for x in row] for row in found.rotation]
    pitch = math.asin(max(-1.0, min(1.0, -R[2][0])))
    upright = abs(R[2][0]) > 1.0 - 1e-14  # roll and yaw turn about one axis there
    roll = 0.0 if upright else math.atan2(R[2][1], R[2][2])
    yaw = math.atan2(-R[0][1], R[1][1]) if upright else math.atan2(R[1][0], R[0][0])
    rows = {"xyz": found.at, "rpy": (roll, pitch, yaw)}
    return XmlElement("origin", {k: " ".join(repr(float(x)) for x in row) for k, row in rows.items()}, chain[0].where)


def _names(element: XmlElement) -> Iterator[str]:
    """All values of attributes in an element and those in it."""
    yield from element.attributes.values()
    for x in element:
        yield from _names(x)
