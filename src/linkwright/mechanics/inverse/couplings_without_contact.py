"""Couplings without contact geometry: they pass a torque, and the force where their parts touch is not known."""

from __future__ import annotations

from linkwright import elements
from linkwright.model.description import Description


def meshes_not_modeled(d: Description) -> dict[str, str]:
    """Joints that such a coupling ties, and the coupling. A cam, a gear or a rack has its contact, so its bearing loads are known."""
    return {name: c.name for c in elements.constraints(d) if c.hides_contact for name in c.joints}
