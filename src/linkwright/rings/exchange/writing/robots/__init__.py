"""Robots: a mechanism as links and elementary joints, the way URDF, SDF and USD describe it.

    links_and_joints.py   links, joints and their frames at the zero of the file; joints of several coordinates as chains
    joint_properties.py   springs, dampers, friction, stops, couplings and drives by coordinate, and what no such format holds
    prepared_system.py    rods as links without mass, because neither format knows a distance
    urdf.py               URDF, with its loops in one of its dialects
    sdf.py                SDF, where loops are joints like all others
    usd.py                USD, where loops are joints outside of the articulation

Coordinates count from the start of the model, where its loops are closed: readers take the pose of the file as zero, and find the same
branch. `zeros` of the result has our coordinates there.
"""

from __future__ import annotations

from linkwright.rings.exchange.writing.robots.sdf import sdf_text
from linkwright.rings.exchange.writing.robots.urdf import urdf_text
from linkwright.rings.exchange.writing.robots.usd import usd_text

__all__ = ["sdf_text", "urdf_text", "usd_text"]
