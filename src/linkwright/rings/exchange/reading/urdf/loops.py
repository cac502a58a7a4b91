"""Elements that close loops in a URDF: <loop> and <coupling> of URDF+, <constraint>, <loop_joint>, Drake's constraints and springs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linkwright.api import Placement, Vec3, counted
from linkwright.rings.exchange.reading.joint_frames import axes, direction, framed
from linkwright.rings.exchange.reading.names import usable
from linkwright.rings.exchange.reading.poses import HERE, as_vector, axes_along, pose
from linkwright.rings.exchange.reading.robot_draft import ONE_COORDINATE, RobotDraft
from linkwright.rings.exchange.reading.urdf.joints import TYPES, TreeJoints, child_of, parent_of
from linkwright.rings.exchange.reading.urdf.links import origin
from linkwright.rings.exchange.reading.xml_reading import XmlElement

CLOSING_TYPES = tuple(k for k in TYPES if k not in ("floating", "screw"))
X: Vec3 = (1.0, 0.0, 0.0)


def read_loops(draft: RobotDraft, robot: XmlElement, tree: TreeJoints) -> None:
    """Add all closing joints and couplings that have an element of their own."""
    for element in robot:
        if element.tag == "coupling":
            _coupling(draft, element, tree)
        elif element.tag in READERS:
            READERS[element.tag](draft, element)


def close(
    draft: RobotDraft,
    element: XmlElement,
    kind: str,
    links: Sequence[str],
    frames: tuple[Placement, Placement],
    own: tuple[Placement, Placement] = (HERE, HERE),
) -> str:
    """Add a closing joint between frames of two links of the file and return its name."""
    first, second = (draft.body_of(x, element.where, element.shown) for x in links)
    if first == second:
        raise element.error(f"it connects link '{links[0]}' with itself.", name=links[0])
    name = draft.joint_names.add(element.get("name") or f"{links[0]}_{links[1]}")
    draft.add_joint(framed(name, kind, (first, second), frames, own, element), closes=True)
    return name


def _axis(element: XmlElement, tag: str = "axis") -> Vec3:
    found = element.one(tag)
    return X if found is None else direction(found, found.numbers("xyz", 3, X))


def _loop(draft: RobotDraft, element: XmlElement) -> None:
    """URDF+: <predecessor link> and <successor link> with an <origin> each, <axis>."""
    sides = element.need("predecessor"), element.need("successor")
    kind = TYPES[element.attribute("type", CLOSING_TYPES)]
    own = axes(kind, element, _axis(element))
    name = close(draft, element, kind, [x.attribute("link") for x in sides], (origin(sides[0]), origin(sides[1])), (own, own))
    draft.points_only.append(name)  # the reference program of URDF+ ignores the axis


def _constraint(draft: RobotDraft, element: XmlElement) -> None:
    """<parent link>, <parent_origin>, <parent_axis> and the same of the child; a universal joint has one axis on each."""
    kind = TYPES[element.attribute("type", CLOSING_TYPES)]
    links = [element.need(side).attribute("link") for side in ("parent", "child")]
    first, second = (_axis(element, f"{side}_axis") for side in ("parent", "child"))
    universal = kind == "universal"
    own = (axes_along("x", first), axes_along("y", second)) if universal else (axes(kind, element, first), axes(kind, element, second))
    close(draft, element, kind, links, (origin(element, "parent_origin"), origin(element, "child_origin")), own)


def _loop_joint(draft: RobotDraft, element: XmlElement) -> None:
    """<link1 link xyz rpy/> and <link2 .../>; some programs write link1 twice."""
    sides = element.all("link1", "link2")
    if len(sides) != 2:
        raise element.error(f"it needs <link1 .../> and <link2 .../>, not {counted(len(sides), 'such element')}.")
    kind = TYPES[element.attribute("type", CLOSING_TYPES)]
    own = axes(kind, element, _axis(element))
    frames = [pose(x.numbers("xyz", 3, (0.0, 0.0, 0.0)), x.numbers("rpy", 3, (0.0, 0.0, 0.0))) for x in sides]
    close(draft, element, kind, [x.attribute("link") for x in sides], (frames[0], frames[1]), (own, own))


# -------------------------------------------------------------------- Drake


def _drake_ends(element: XmlElement, points: Sequence[str]) -> tuple[list[str], list[Vec3]]:
    links = [element.need(f"{element.tag}_body_{side}").attribute("name") for side in "AB"]
    at = [x.numbers("value", 3) for x in (element.need(f"{element.tag}_{p}") for p in points)]
    return links, [as_vector(x) for x in at]


def drake_ball(draft: RobotDraft, element: XmlElement) -> None:
    links, at = _drake_ends(element, ("p_AP", "p_BQ"))
    close(draft, element, "spherical", links, (Placement(at[0]), Placement(at[1])))


def drake_spring(draft: RobotDraft, element: XmlElement) -> None:
    """A coil spring with a damper between two points."""
    links, at = _drake_ends(element, ("p_AP", "p_BQ"))
    bodies = [draft.body_of(x, element.where, element.shown) for x in links]
    name = usable(f"{links[0]}_{links[1]}_spring")
    ends = tuple(draft.point(b, name, p) for b, p in zip(bodies, at, strict=True))
    free, stiffness = (element.need(f"{element.tag}_{x}").number("value") for x in ("free_length", "stiffness"))
    damper = element.one(f"{element.tag}_damping")
    draft.spring_damper(name, (ends[0], ends[1]), free, stiffness, 0.0 if damper is None else damper.number("value"))


READERS: dict[str, Callable[[RobotDraft, XmlElement], None]] = {
    "loop": _loop,
    "constraint": _constraint,
    "loop_joint": _loop_joint,
    "drake:ball_constraint": drake_ball,
    "drake:linear_spring_damper": drake_spring,
}


# -------------------------------------------------------------------- couplings of URDF+


def _coupling(draft: RobotDraft, element: XmlElement, tree: TreeJoints) -> None:
    """ratio times the sum of the joint angles up to the predecessor is the sum up to the successor, both from where their chains part."""
    sides = [element.need(x).attribute("link") for x in ("predecessor", "successor")]
    for link in sides:
        draft.body_of(link, element.where, element.shown)
    chains = [_chain(tree, link) for link in sides]
    while chains[0] and chains[1] and chains[0][0] is chains[1][0]:
        chains = [x[1:] for x in chains]
    names = [[draft.joint_names.of[j.get("name")] for j in x] for x in chains]
    moving = [[n for n in x if draft.joints[n].type in ONE_COORDINATE] for x in names]
    if not moving[0] or not moving[1]:
        raise element.error(f"no joint moves '{sides[not moving[1]]}' apart from the other link, so there is nothing to couple.")
    ratio = element.need("ratio").number("value")
    draft.couple_sums(draft.coupling_name(element.get("name") or "coupling"), moving[0], moving[1], ratio, element.where)


def _chain(tree: TreeJoints, link: str) -> list[XmlElement]:
    """Joints of the tree from the root to a link."""
    carrying = {child_of(j): j for j in tree.carrying}
    out = []
    while link in carrying:
        out.append(carrying[link])
        link = parent_of(carrying[link])
    return out[::-1]
