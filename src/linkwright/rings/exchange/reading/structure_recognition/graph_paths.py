"""Ways through the graph of bodies and joints: between two bodies, and the circuits of a spanning tree."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from linkwright.api import Description, Joint


class Step(NamedTuple):
    """A joint on the way from a body to the next; `forward`: from its first body to its second."""

    joint: Joint
    body: str
    to: str
    forward: bool


def path(d: Description, start: str, end: str, without: Collection[str] = ()) -> list[Step] | None:
    """Return a shortest way between two bodies over joints that are not in `without`; None if there is none."""
    reached = _reached(d, start, without)
    if end not in reached:
        return None
    steps: list[Step] = []
    here = end
    while here != start:
        step = reached[here]
        assert step is not None
        steps.append(step)
        here = step.body
    return steps[::-1]


def circuits(d: Description) -> list[list[Step]]:
    """Return for every joint outside a breadth-first spanning tree the circuit it closes, this joint last."""
    out = []
    tree: dict[str, Step | None] = {}
    for body in d.bodies:
        if body.name not in tree:
            tree.update({k: v for k, v in _reached(d, body.name, ()).items() if k not in tree})
    inside = {step.joint.name for step in tree.values() if step is not None}
    others = [j.name for j in d.joints if j.name not in inside]
    for name in others:
        j = d.joint(name)
        way = path(d, j.first, j.second, others)
        if way is not None:
            out.append([*way, Step(j, j.second, j.first, False)])
    return out


def _reached(d: Description, start: str, without: Collection[str]) -> dict[str, Step | None]:
    """For every body that can be reached the last step to it, breadth first."""
    beside: dict[str, list[Step]] = {}
    for j in d.joints:
        if j.name not in without:
            beside.setdefault(j.first, []).append(Step(j, j.first, j.second, True))
            beside.setdefault(j.second, []).append(Step(j, j.second, j.first, False))
    reached: dict[str, Step | None] = {start: None}
    wave = [start]
    while wave:
        wave = [step.to for here in wave for step in beside.get(here, ()) if _mark(reached, step)]
    return reached


def _mark(reached: dict[str, Step | None], step: Step) -> bool:
    if step.to in reached:
        return False
    reached[step.to] = step
    return True
