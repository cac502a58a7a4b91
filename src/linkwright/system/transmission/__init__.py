"""Series-parallel maps between motors and joints: `s.transmission(...)`, see `maps`."""

from linkwright.system.transmission.held_base import transmission
from linkwright.system.transmission.maps import Transmission

__all__ = ["Transmission", "transmission"]
