"""Pose coordinates of a robot by name: place and orientation of a body, or the place of one of its points.

    platform.x  platform.y  platform.angle                 in a plane; of a point: platform.P1.x, platform.P1.y, platform.angle
    platform.x .. platform.z  platform.roll .. platform.yaw in space; R = Rz(yaw) Ry(pitch) Rx(roll)

There are as many of them as degrees of freedom. The others of the body follow from the loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.api import Description, UsageError, counted, degrees_of_freedom, nearest
from linkwright.properties import cached_property

PLANAR = ("x", "y", "angle")
SPATIAL = ("x", "y", "z", "roll", "pitch", "yaw")
LINEAR = ("x", "y", "z")


@dataclass(frozen=True)
class PoseCoordinates:
    """Some coordinates of the pose of a body, read at one of its points."""

    body: str
    point: str  # "" the origin of the body
    at: tuple[float, float, float]  # the point in the body
    parts: tuple[str, ...]
    planar: bool
    of_body: tuple[str, ...] = ()  # angles that are named by the body, beside the place of a point

    @property
    def reference(self) -> str:
        return f"{self.body}.{self.point}" if self.point else self.body

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.body if p in self.of_body else self.reference}.{p}" for p in self.parts)

    @property
    def kinds(self) -> tuple[str, ...]:
        """'length' or 'angle' of each."""
        return tuple("length" if p in LINEAR else "angle" for p in self.parts)

    def scales(self, kappa: float) -> np.ndarray:
        """1 of angles, the characteristic length of lengths."""
        return np.array([kappa if k == "length" else 1.0 for k in self.kinds])

    def values(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Coordinates (states, n) of poses (states, 3, 3), (states, 3)."""
        place = p + R @ np.array(self.at)
        angles = {"angle": np.arctan2(R[:, 1, 0], R[:, 0, 0])}
        if not self.planar:
            angles["roll"] = np.arctan2(R[:, 2, 1], R[:, 2, 2])
            angles["pitch"] = np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0))
            angles["yaw"] = np.arctan2(R[:, 1, 0], R[:, 0, 0])
        return np.stack([place[:, LINEAR.index(c)] if c in LINEAR else angles[c] for c in self.parts], axis=1)

    def off(self, now: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """now - wanted, angles between -pi and pi."""
        out = now - wanted
        turned = np.array([k == "angle" for k in self.kinds])
        out[:, turned] = (out[:, turned] + np.pi) % (2.0 * np.pi) - np.pi
        return out

    def moved_point(self, R: np.ndarray, T: np.ndarray) -> np.ndarray:
        """Rows (states, 6, nv) of angular velocity and velocity of the point, of the body's twist rows T (planar: wz, vx, vy)."""
        if self.planar:
            full = np.zeros((len(T), 6, T.shape[-1]))
            full[:, [2, 3, 4]] = T
        else:
            full = T
        if any(self.at):
            arm = (R @ np.array(self.at))[:, :, None]
            full = np.concatenate([full[:, :3], full[:, 3:] + np.cross(full[:, :3], arm, axis=1)], axis=1)
        return full

    def rates(self, R: np.ndarray, twist: np.ndarray) -> np.ndarray:
        """Rows of the coordinates' rates (states, n, nv), of the rows of `moved_point`."""
        spin = {"angle": twist[:, 2]}
        if not self.planar and any(k == "angle" for k in self.kinds):
            x, y, z = (twist[:, i] for i in range(3))
            yaw = np.arctan2(R[:, 1, 0], R[:, 0, 0])
            c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
            down = np.hypot(R[:, 2, 1], R[:, 2, 2])[:, None]  # cosine of the pitch
            along = (c * x + s * y) / np.maximum(down, 1e-300)
            spin = {"roll": along, "pitch": c * y - s * x, "yaw": z - R[:, 2, :1] * along}
        return np.stack([twist[:, 3 + LINEAR.index(p)] if p in LINEAR else spin[p] for p in self.parts], axis=1)


def pose_coordinates(d: Description, names: Sequence[str], freedoms: int) -> PoseCoordinates:
    """Return the coordinates of the body or point that the names are of: those named, then others up to the degrees of freedom.

    Raise UsageError for names of several bodies, unknown names, and more names than degrees of freedom.
    """
    split = [_split(d, str(name)) for name in names]
    angles = [part for _, point, part in split if part and part not in LINEAR and not point]  # a body has the angles of all its points
    places = [(body, point) for body, point, part in split if point or part in ("", *LINEAR)] or [split[0][:2]]
    (body, point), parts = places[0], []
    for name, (own, at, part) in zip(names, split, strict=True):
        if own != body or (at != point and part not in angles):
            raise UsageError(
                f"'{name}' and '{names[0]}' are of different bodies or points: a map is over the pose of one of them.", name=name
            )
        if part in parts:
            raise UsageError(f"'{name}' is named more than once.", name=name)
        parts += [part] if part else []
    every = PLANAR if d.planar else SPATIAL
    parts += [p for p in every if p not in parts][: max(0, freedoms - len(parts))]
    if len(parts) > freedoms:
        raise UsageError(
            f"{', '.join(map(str, names))} are {counted(len(parts), 'coordinate')}, but the mechanism has {degrees_of_freedom(freedoms)}: "
            f"name {freedoms} of them at most. The others follow from the loops.",
            name="over",
        )
    if len(parts) < freedoms:
        raise UsageError(
            f"'{body}' has {counted(len(parts), 'pose coordinate')}, but the mechanism has {degrees_of_freedom(freedoms)}.", name=body
        )
    at = d.body(body).point(point).at if point else (0.0, 0.0, 0.0)
    place = tuple(float(x) for x in (*at, 0.0)[:3])
    return PoseCoordinates(body, point, (place[0], place[1], place[2]), tuple(parts), d.planar, tuple(angles) if point else ())


def _split(d: Description, name: str) -> tuple[str, str, str]:
    """(body, point, coordinate) of a name; the coordinate "" where only a body or point is named."""
    bodies = [b.name for b in d.bodies[1:]]
    every = PLANAR if d.planar else SPATIAL
    body, _, rest = name.partition(".")
    if body not in bodies:
        raise UsageError(f"there is no moving body '{body}' in '{name}'.", nearest(body, bodies, "Bodies"))
    head, _, last = rest.rpartition(".")
    if not head and last in ("", *every):
        return body, "", last
    point, part = (head, last) if last in every else (rest, "")
    points = [p.name for p in d.body(body).points]
    if point not in points:
        known = [f"{body}.{x}" for x in (*every, *points)]
        raise UsageError(f"'{name}' is neither a coordinate of a pose nor a point.", nearest(name, known, "Allowed"))
    return body, point, part
