"""Eyes of parts between two points (rods, springs, dampers, cylinders): where their forces load bodies."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwright import elements
from linkwright.mechanics import forces
from linkwright.model.coordinates import movable
from linkwright.model.description import Description, PointRef

if TYPE_CHECKING:
    from linkwright.mechanics.inverse.loads import Loads


class LineEye(NamedTuple):
    """One end of a part between two points; `pin` names it: the part and the point of the body, `lift.W`."""

    pin: str
    body: str
    kind: str
    part: Any  # of the description
    side: float  # -1 at its first end, 1 at its second: sign of a push on the body, along the line from first to second

    @property
    def ref(self) -> PointRef:
        return self.part.between[0 if self.side < 0.0 else 1]


def line_eyes(d: Description) -> list[LineEye]:
    """Return eyes of parts between two points, ground's included; parts of the same name in two sections have their kind before it."""
    parts = [(x.word, x) for x in elements.every(d) if x.acts == elements.LINE]
    count = Counter(x.name for _, x in parts)
    out = []
    for kind, x in parts:
        name = x.name if count[x.name] == 1 else f"{kind}:{x.name}"
        out += [LineEye(f"{name}.{point}", body, kind, x, side) for (body, point), side in zip(x.between, (-1.0, 1.0), strict=True)]
    return out


def line_parts(d: Description) -> dict[str, tuple[PointRef, PointRef]]:
    """Ends of springs and dampers between two points by name, a joint or body of the same name first."""
    taken = {*movable(d), *(b.name for b in d.bodies)}
    return {x.name: x.between for x in d.acting if x.acts == elements.LINE and x.name not in taken}


def line_eye(d: Description, pin: str, body: str) -> LineEye | None:
    """Return the eye of that name on a body; None if there is none."""
    return next((e for e in line_eyes(d) if e.pin == pin and e.body == body), None)


def line_force(loads: Loads, eye: LineEye) -> Any:
    """Return the force that drives the ends of a part apart: of a spring or damper, of a rod, of a cylinder with that of its drive."""
    if eye.part.constraint:
        return loads.lam[eye.part.name][0]
    place = loads.problem.place
    own = forces.ElementForce(eye.part).along(place, forces.line(place, eye.part.between))
    return own + loads.tau.get(eye.part.name, 0.0) if eye.part.coordinate else own
