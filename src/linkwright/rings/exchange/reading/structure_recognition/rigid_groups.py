"""Bodies that are fixed to each other as one body: inertias summed in one frame, points and joints moved over.

The frame of a body that is taken up stays as a point of its name, with its axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Body, Description, Joint, Mat3, Placement, PointRef, Pose, elements, listing, pose_of, spatial
from linkwright.model.description import NO_INERTIA, Point
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import placement, vector


class Home(NamedTuple):
    """The body that a body becomes part of, and its pose in that one."""

    body: str
    pose: Pose


@dataclass(frozen=True)
class Merged:
    """A description with fewer bodies, and sentences about what was merged."""

    description: Description
    sentences: tuple[str, ...] = ()
    homes: Mapping[str, Home] | None = None


def merged(d: Description, names: Sequence[str], say: Callable[[str, Sequence[str]], str] | None = None) -> Merged:
    """Merge the bodies that the fixed joints of these names connect; the first body of the description in a group stays.

    A joint of `names` that closes a circle of fixed joints is left out too: its bodies are one already. `say(body, taken up)` is the
    sentence for each group.
    """
    if not names:
        return Merged(d)
    homes = _homes(d, [d.joint(name) for name in names])
    groups: dict[str, list[str]] = {}
    for body in d.bodies:
        if homes[body.name].body != body.name:
            groups.setdefault(homes[body.name].body, []).append(body.name)
    points = _renamed_points(d, homes)
    bodies = tuple(_joined(d, b, [b.name, *groups.get(b.name, [])], homes, points) for b in d.bodies if homes[b.name].body == b.name)
    left = set(names)
    joints = tuple(_moved(j, homes) for j in d.joints if j.name not in left)
    other = {f.name: _moved_all(getattr(d, f.name), homes, points) for f in fields(d) if f.name in _HOLD_POINTS}
    other |= _touching(d, homes, points)
    return Merged(
        replace(d, bodies=bodies, joints=joints, **other),
        tuple((say or _sentence)(body, taken) for body, taken in groups.items()),
        homes,
    )


_HOLD_POINTS = elements.fields_with(elements.EndsRole, elements.PointRole)


def _sentence(body: str, taken: Sequence[str]) -> str:
    return f"{quoted(taken)} {'is' if len(taken) == 1 else 'are'} fixed to '{body}' and became part of it."


def quoted(names: Iterable[str]) -> str:
    """Return names for a sentence: 'a', 'b', 'c'."""
    return listing([f"'{name}'" for name in names])


def _homes(d: Description, fixed: Iterable[Joint]) -> dict[str, Home]:
    """The body and pose that each body has after merging: searched from the bodies in their order, so ground stays ground."""
    beside: dict[str, list[tuple[str, Pose]]] = {}
    for j in fixed:
        X = pose_of(j.frame_first) @ pose_of(j.frame_second).inverse()  # the second body in the first
        beside.setdefault(j.first, []).append((j.second, X))
        beside.setdefault(j.second, []).append((j.first, X.inverse()))
    homes: dict[str, Home] = {}
    for body in d.bodies:
        if body.name in homes:
            continue
        homes[body.name] = Home(body.name, spatial.IDENTITY)
        wave = [body.name]
        while wave:
            here = wave.pop()
            for other, X in beside.get(here, ()):
                if other not in homes:
                    homes[other] = Home(body.name, homes[here].pose @ X)
                    wave.append(other)
    return homes


def _renamed_points(d: Description, homes: Mapping[str, Home]) -> dict[PointRef, str]:
    """Names of points in their new bodies: their own where it is free there, else with the name of the body before it."""
    taken: dict[str, set[str]] = {b.name: {p.name for p in b.points} for b in d.bodies}
    for b in d.bodies:
        if homes[b.name].body != b.name:
            taken[homes[b.name].body].add(b.name)
    out: dict[PointRef, str] = {}
    for b in d.bodies:
        home = homes[b.name].body
        for p in b.points:
            name = p.name
            if home != b.name:
                name = p.name if p.name not in taken[home] else f"{b.name}_{p.name}"
                while name in taken[home]:
                    name += "_"
                taken[home].add(name)
            out[b.name, p.name] = name
    return out


def _joined(d: Description, body: Body, group: Sequence[str], homes: Mapping[str, Home], points: Mapping[PointRef, str]) -> Body:
    if len(group) == 1:
        return body
    parts = [(homes[name].pose, d.body(name)) for name in group]
    mass, com, inertia = (body.mass, body.com, body.inertia) if body.name == d.bodies[0].name else summed(parts)
    new_points, outline, visuals = list(body.points), list(body.outline), list(body.visuals)
    for X, other in parts[1:]:
        at = placement(X)
        new_points.append(Point(other.name, at.at, at.rotation))
        for p in other.points:
            there = _placed(X, Placement(p.at, p.rotation))
            new_points.append(Point(points[other.name, p.name], there.at, there.rotation))
        outline += [tuple(points[other.name, name] for name in line) for line in other.outline]
        visuals += [replace(v, placement=_placed(X, v.placement)) for v in other.visuals]
    return replace(
        body, points=tuple(new_points), mass=mass, com=com, inertia=inertia, outline=tuple(outline), visuals=tuple(visuals)
    )  # fmt: skip


def summed(parts: Sequence[tuple[Pose, Body]]) -> tuple[float | None, Any, Mat3]:
    """Mass, center and inertia about it of bodies in given poses; mass None if no body has one."""
    heavy = [(X, b) for X, b in parts if b.mass or (b.mass is not None and b.inertia != NO_INERTIA)]
    if not heavy:
        with_data = next((b for _, b in parts if b.mass is not None), parts[0][1])
        return with_data.mass, with_data.com, with_data.inertia
    if len(heavy) == 1 and heavy[0][0] is spatial.IDENTITY:
        only = heavy[0][1]
        return only.mass, only.com, only.inertia
    masses = np.array([b.mass for _, b in heavy], float)
    centers = np.array([X.point(np.array(b.com, float)) for X, b in heavy])
    mass = float(masses.sum())
    com = masses @ centers / mass if mass else centers[0]
    inertia = np.zeros((3, 3))
    for (X, b), m, r in zip(heavy, masses, centers - com, strict=True):
        inertia += X.R @ np.array(b.inertia, float) @ X.R.T + m * (r @ r * spatial.EYE - np.outer(r, r))
    inertia = 0.5 * (inertia + inertia.T)
    return mass, vector(com), (vector(inertia[0]), vector(inertia[1]), vector(inertia[2]))


def _placed(X: Pose, at: Placement) -> Placement:
    return placement(X @ pose_of(at))


def _moved(j: Joint, homes: Mapping[str, Home]) -> Joint:
    first, second = homes[j.first], homes[j.second]
    if first.pose is not spatial.IDENTITY:
        j = replace(j, first=first.body, frame_first=_placed(first.pose, j.frame_first))
    if second.pose is not spatial.IDENTITY:
        j = replace(j, second=second.body, frame_second=_placed(second.pose, j.frame_second))
    return j


def _moved_all(things: Sequence[Any], homes: Mapping[str, Home], points: Mapping[PointRef, str]) -> tuple[Any, ...]:
    return tuple(_thing(x, homes, points) for x in things)


def _thing(x: Any, homes: Mapping[str, Home], points: Mapping[PointRef, str]) -> Any:
    """A rod, spring, damper, cylinder or load on the bodies that are left."""
    if x.acts in (elements.LINE, elements.FRAMES):
        axes = {
            name: tuple(homes[b].pose.R @ np.array(R, float) for (b, _), R in zip(x.between, getattr(x, name), strict=True))
            for _, name in elements.turned_of(x)
        }
        turned: dict[str, Any] = {name: tuple(tuple(map(tuple, R.tolist())) for R in both) for name, both in axes.items()}
        return replace(x, between=tuple((homes[b].body, points[b, p]) for b, p in x.between), **turned)
    if x.acts != elements.POINT:
        return x
    if x.axes in homes and homes[x.axes].pose is not spatial.IDENTITY:
        R = homes[x.axes].pose.R
        x = replace(x, force=_turned(R, x.force), moment=_turned(R, x.moment), axes=homes[x.axes].body)
    return replace(x, body=homes[x.body].body, point=points.get((x.body, x.point), x.point))


def _touching(d: Description, homes: Mapping[str, Home], points: Mapping[PointRef, str]) -> dict[str, tuple[Any, ...]]:
    """Surfaces on the bodies that are left, and contacts without those of one body with itself."""
    surfaces = tuple(_surface(x, homes[x.body], points) for x in d.surfaces)
    on = {x.name: x.body for x in surfaces}
    return {"surfaces": surfaces, "contacts": tuple(x for x in d.contacts if all(on[a] != on[b] for a, b in x.pairs))}


def _surface(x: Any, home: Home, points: Mapping[PointRef, str]) -> Any:
    turned = {} if home.pose is spatial.IDENTITY else {name: _turned(home.pose.R, getattr(x, name)) for name in elements.along(type(x))}
    return replace(x, body=home.body, points=tuple(points[x.body, name] for name in x.points), **turned)


def _turned(R: np.ndarray, f: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sum(float(R[i, j]) * f[j] for j in range(3)) for i in range(3))
