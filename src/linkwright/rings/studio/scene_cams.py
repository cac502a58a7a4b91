"""Cams of a scene: the profile on the disc, the roller or the face on the follower, in the frames of their bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Description, array, coupling_constraints, description, kinematics
from linkwright.mechanics.constraints.cam import CamGeometry
from linkwright.rings.design.cams import CamDesign, cam_design
from linkwright.rings.studio.outline_geometry import unit_circle

CAM_PLACES = ("cam", "groove", "rim")
STEPS = 180  # of a profile: two degrees


@dataclass(frozen=True)
class SceneCam:
    """A cam: points of its bodies, (n, 3) each."""

    name: str
    disc: str
    node: int
    follower: str
    follower_node: int
    angles: np.ndarray  # of the points of the profile
    closed: bool
    profile: np.ndarray
    outer: np.ndarray | None  # the other side of a groove
    roller: np.ndarray | None  # (2, 3): its center and a point of its rim
    face: np.ndarray | None  # (2, 3): ends of a flat face

    @property
    def rim(self) -> np.ndarray:
        """Points of the roller's rim, or of the face; none of a knife edge."""
        if self.roller is None:
            return np.zeros((0, 3)) if self.face is None else self.face
        return self.roller[0] + self.radius * unit_circle(np.array([0.0, 0.0, 1.0]))

    @property
    def radius(self) -> float:
        """Radius of the roller; 0 of a face or a knife edge."""
        return 0.0 if self.roller is None else float(np.linalg.norm(self.roller[1] - self.roller[0]))


def scene_cams(d: Description, skel: kinematics.Skeleton) -> list[SceneCam]:
    """Every cam of a planar mechanism."""
    return [_cam(d, skel, c) for c in d.cams] if d.planar else []


def _cam(d: Description, skel: kinematics.Skeleton, c: description.Coupling) -> SceneCam:
    design = cam_design(d, c, STEPS)
    g, angles, closed = design.geometry, *_angles(design)
    disc, follower = (j.second if j.first == g.carrier else j.first for j in (g.first, g.second))
    profile = np.array([cam_place(d, c, g, "cam", float(q)) for q in angles], dtype=float)
    assert c.cam is not None
    outer = np.array([cam_place(d, c, g, "groove", float(q)) for q in angles], dtype=float) if c.cam.groove else None
    roller = face = None
    if c.cam.flat:
        face = _face(d, c, design)
    elif design.roller:
        roller = np.array([array(d.point(c.cam.point).at), cam_place(d, c, g, "rim", 0.0)], dtype=float)
    return SceneCam(c.name, disc, skel.node(disc), follower, skel.node(follower), angles, closed, profile, outer, roller, face)


def _angles(design: CamDesign) -> tuple[np.ndarray, bool]:
    """Even samples of the law; of a closed profile without the last, which is the first."""
    first, last = float(design.angle[0]), float(design.angle[-1])
    return np.linspace(first, last, STEPS, endpoint=not design.closed), design.closed


def cam_geometry(d: Description, name: str) -> tuple[description.Coupling, CamGeometry]:
    """A cam of a description with its geometry, over the scalars of the description."""
    c = next(c for c in d.cams if c.name == name)
    law = coupling_constraints.coupling_curve(c)
    assert law is not None
    return c, CamGeometry.of(d, c, law)


def cam_place(d: Description, c: description.Coupling, g: CamGeometry, kind: str, q: float) -> Any:
    """A place of a cam over the scalars of the description: on the profile (`cam`) or the outer side of a groove (`groove`), on the disc,
    where the disc's coordinate is q; or on the roller's rim (`rim`), on the follower."""
    assert c.cam is not None
    if kind == "rim":
        x, y, z = d.point(c.cam.point).at
        return [x + c.cam.radius, y, z]
    found = g.at(q)
    return g.on_disc(found.contact if kind == "cam" else found.center + c.cam.radius * found.normal, q)


def _face(d: Description, c: description.Coupling, design: CamDesign) -> np.ndarray:
    """Ends of a flat face, a little beyond where the contact moves on it."""
    assert c.cam is not None
    g = design.geometry
    j = g.second
    here, there = (j.frame_first, j.frame_second) if j.first == g.carrier else (j.frame_second, j.frame_first)
    along = kinematics.pose_of(there).R @ kinematics.pose_of(here).R.T @ np.cross(g.face, g.axis)
    low, high = float(design.slip.min()), float(design.slip.max())
    share = 0.1  # of the contact's range and of the base circle by which a drawn face is longer
    margin = share * (high - low) + share * design.base
    return np.array([np.asarray(d.point(c.cam.point).at) + s * along for s in (low - margin, high + margin)], dtype=float)
