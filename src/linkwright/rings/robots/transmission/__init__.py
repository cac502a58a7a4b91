"""Series-parallel maps between motors and joints: `s.transmission(...)`, see `maps`."""

from linkwright.rings.robots.transmission.maps import Transmission, transmission

__all__ = ["Transmission", "transmission"]
