"""Named contacts in space as geoms and `<pair>` elements. Nothing else touches: geoms have no bits of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

from linkwright.api import Description, contact, elements, spatial
from linkwright.rings.exchange.writing.losses import Loss
from linkwright.rings.exchange.writing.mujoco.forces import numbers

KINDS = ("sphere", "capsule", "box", "plane")
COLLISION = "3"  # group in which viewers look for shapes of collision, and which they hide
FRAME = {"mass": "0", "group": COLLISION}
SHOWN = 1.0  # m: half the edge of a plane as it is drawn


@dataclass(frozen=True)
class ContactGeoms:
    """Contacts of a description that MJCF holds, and their surfaces by name."""

    d: Description
    held: tuple[Any, ...]
    surfaces: dict[str, Any]

    @classmethod
    def of(cls, d: Description) -> ContactGeoms:
        known = {} if d.planar else {x.name: x for x in d.surfaces if x.type in KINDS and _has_size(x)}
        held = tuple(x for x in d.contacts if all(name in known for pair in x.pairs for name in pair))
        used = {name for x in held for pair in x.pairs for name in pair}
        return cls(d, held, {name: x for name, x in known.items() if name in used})

    def left(self, lost: list[Loss]) -> list[Loss]:
        """Return losses without those of what is written here, and with what the soft contacts of MuJoCo lose."""
        written = {Loss(x.name, elements.lost_as(x)) for x in (*self.held, *self.surfaces.values())}
        soft = [Loss(x.name, "rigid contact: there it is soft, as stiff as the time step allows") for x in self.held]
        rebound = [Loss(x.name, "its restitution") for x in self.held if float(x.restitution)]
        return [*(x for x in lost if x not in written), *soft, *rebound]

    def geoms(self, parent: xml.Element, body: str) -> None:
        """Write the surfaces of a body."""
        for x in self.surfaces.values():
            if x.body == body:
                xml.SubElement(parent, "geom", {"name": x.name, "type": x.type, **self._form(x), **FRAME})

    def _form(self, x: Any) -> dict[str, str]:
        points = [np.array(self.d.body(x.body).point(name).at, float) for name in x.points]
        if x.type == "capsule":
            return {"size": numbers([x.radius]), "fromto": numbers([*points[0], *points[1]])}
        at = {"pos": numbers(points[0])}
        if x.type == "sphere":
            return {"size": numbers([x.radius]), **at}
        if x.type == "plane":
            return {"size": numbers([SHOWN, SHOWN, SHOWN]), "zaxis": numbers(x.normal), **at}
        R = np.column_stack([np.asarray(e, float) for e in contact.box_axes(x)])
        half = [0.5 * float(edge) for edge in (x.length, x.width, x.height)]
        return {"size": numbers(half), "quat": numbers(spatial.rotation_quaternion(R)), **at}

    def pairs(self, root: xml.Element, timestep: float) -> None:
        """Write every pair with its friction, as stiff as MuJoCo accepts: a time constant of two steps."""
        if not self.held:
            return
        section = xml.SubElement(root, "contact")
        for x in self.held:
            mu = float(x.mu)
            law = {"condim": "3", "friction": numbers([mu, mu, 0.0, 0.0, 0.0])} if mu else {"condim": "1"}
            for first, second in x.pairs:
                stiff = {"solref": f"{2.0 * timestep:.17g} 1", "solimp": "0.9999 0.9999 0.001 0.5 2"}
                xml.SubElement(section, "pair", {"geom1": first, "geom2": second, **law, **stiff})


def _has_size(x: Any) -> bool:
    """False for a sharp point, which MuJoCo has not."""
    return x.type != "sphere" or float(x.radius) > 0.0
