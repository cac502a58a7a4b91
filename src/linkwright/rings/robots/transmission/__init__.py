"""Series-parallel maps between motors and joints: `s.transmission(...)`, see `maps`."""

from linkwright.rings.robots.transmission.held_base import transmission
from linkwright.rings.robots.transmission.maps import Transmission

__all__ = ["Transmission", "transmission"]
