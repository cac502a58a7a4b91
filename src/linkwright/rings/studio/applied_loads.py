"""Loads of the model file as arrows in pictures: their forces and moments at an instant, and how long an arrow is for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.api import Instant, elements, forces
from linkwright.rings.studio.scene import Scene, Stage


@dataclass(frozen=True)
class AppliedLoad:
    """A load at an instant: place in the world, force and moment about that place (SI, world axes)."""

    name: str
    at: np.ndarray
    force: np.ndarray
    moment: np.ndarray


def applied_loads(scene: Scene, instant: Instant) -> list[AppliedLoad]:
    """Return the loads of the model on its bodies at an instant."""
    stage, out = Stage(scene.skel, instant), []
    for load in elements.from_outside(scene.description):
        node = scene.skel.node(load.body)
        at = stage.place(node, np.asarray(scene.description.point((load.body, load.point)).at, dtype=float))
        for where, wrench in forces.ElementForce(load).wrenches(instant):
            if where == node:
                w = np.asarray(wrench, dtype=float)
                arm = at - scene.skel.origin(node)
                out.append(AppliedLoad(load.name, at, w[3:], w[:3] - np.cross(arm, w[3:])))
    return out


def largest_loads(scene: Scene, instant: Instant) -> tuple[float, float]:
    """Return the largest force and moment of the loads over the cycle of the scene, or at an instant where there is none."""
    if not elements.from_outside(scene.description):
        return 0.0, 0.0
    turn = scene.turn
    looks = 24  # instants of a cycle at which the largest load is looked for
    instants = [instant, *(turn._instants[:: max(1, len(turn) // looks)] if turn is not None else ())]
    found = [x for i in instants for x in applied_loads(scene, i)]
    sizes = [(float(np.linalg.norm(x.force)), float(np.linalg.norm(x.moment))) for x in found]
    return max((f for f, _ in sizes), default=0.0), max((m for _, m in sizes), default=0.0)
