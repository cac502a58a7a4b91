"""Drake's elements in SDF: points held together, springs between points."""

from __future__ import annotations

from collections.abc import Sequence

from linkwright.model.description import GROUND, Joint, Placement, Vec3
from linkwright.rings.exchange.reading.draft import RobotDraft
from linkwright.rings.exchange.reading.names import usable
from linkwright.rings.exchange.reading.poses import as_vector
from linkwright.rings.exchange.reading.sdf.frames import link_of
from linkwright.rings.exchange.reading.sdf.scopes import Scope, find
from linkwright.rings.exchange.reading.xml_reading import XmlElement


def read_constraints(draft: RobotDraft, scopes: Sequence[Scope]) -> None:
    for scope in scopes:
        for i, element in enumerate(scope.element.all("drake:ball_constraint")):
            bodies, at = _ends(draft, scope, element)
            name = draft.joint_names.fresh(usable(scope.full(f"ball_{i + 1}")))
            joint = Joint(name, "spherical", bodies[0], bodies[1], Placement(at[0]), Placement(at[1]), where=element.where)
            draft.add_joint(joint, closes=True)
        for i, element in enumerate(scope.element.all("drake:linear_spring_damper")):
            bodies, at = _ends(draft, scope, element)
            name = usable(scope.full(f"spring_{i + 1}"))
            ends = [draft.point(b, name, p) for b, p in zip(bodies, at, strict=True)]
            free, stiffness = (element.content(f"{element.tag}_{x}") for x in ("free_length", "stiffness"))
            draft.spring_damper(name, (ends[0], ends[1]), free, stiffness, element.content(f"{element.tag}_damping", 0.0))


def _ends(draft: RobotDraft, scope: Scope, element: XmlElement) -> tuple[list[str], list[Vec3]]:
    bodies, at = [], []
    for side, point in (("A", "p_AP"), ("B", "p_BQ")):
        given = element.need(f"{element.tag}_body_{side}")
        link = link_of(find(scope, given.text.strip(), given, "body"))
        bodies.append(GROUND if link.is_world else draft.links.of[link.scope.full(link.name)])
        place = element.need(f"{element.tag}_{point}")
        at.append(as_vector(place.as_numbers(place.text, point, 3)))
    if bodies[0] == bodies[1]:
        raise element.error(f"it connects '{bodies[0]}' with itself.")
    return bodies, at
