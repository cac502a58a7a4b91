"""Eyes of parts between two points (rods, springs, dampers, cylinders): where their forces load bodies."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwright.mechanics import forces
from linkwright.model.coordinates import movable
from linkwright.model.description import Description, PointRef

if TYPE_CHECKING:
    from linkwright.mechanics.inverse.loads import Loads

SECTIONS = {"rods": "rod", "springs": "spring", "dampers": "damper", "cylinders": "cylinder"}  # of a description -> kind of the part


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
    parts = [(kind, x) for section, kind in SECTIONS.items() for x in getattr(d, section) if getattr(x, "between", None)]
    count = Counter(x.name for _, x in parts)
    out = []
    for kind, x in parts:
        name = x.name if count[x.name] == 1 else f"{kind}:{x.name}"
        out += [LineEye(f"{name}.{point}", body, kind, x, side) for (body, point), side in zip(x.between, (-1.0, 1.0), strict=True)]
    return out


def line_parts(d: Description) -> dict[str, tuple[PointRef, PointRef]]:
    """Ends of springs and dampers between two points by name, a joint or body of the same name first."""
    taken = {*movable(d), *(b.name for b in d.bodies)}
    ends = ((x.name, getattr(x, "between", None)) for x in (*d.springs, *d.dampers))
    return {name: between for name, between in ends if between and name not in taken}


def line_eye(d: Description, pin: str, body: str) -> LineEye | None:
    """Return the eye of that name on a body; None if there is none."""
    return next((e for e in line_eyes(d) if e.pin == pin and e.body == body), None)


def line_force(loads: Loads, eye: LineEye) -> Any:
    """Return the force that drives the ends of a part apart: of a spring or damper, of a rod, of a cylinder with that of its drive."""
    if eye.kind == "rod":
        return loads.lam[eye.part.name][0]
    place = loads.problem.place
    own = forces.FORCES[type(eye.part)](eye.part).along(place, forces.line(place, eye.part.between))
    return own + loads.tau.get(eye.part.name, 0.0) if eye.kind == "cylinder" else own
