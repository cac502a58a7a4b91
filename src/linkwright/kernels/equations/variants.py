"""A mechanism with something changed that needs no other model: motions given, rotors added, closing conditions switched off.

Variant(drivers=("A",))                 the motion of A is prescribed: one row more, whose multiplier is the drive's effort
Variant(armature=(0.02, 0.0, 0.0))      inertias of rotors (motors seen through their gears) on the tree's joints
Variant(without=("rod1",))              a rod, cut joint, coupling or gear that holds nothing any more
Variant(power=True)                     kernels of time steppers also give the rates of three works, for the energy balance
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.mechanics.constraints.drives import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.model.coordinates import joint_name, movable
from linkwright.model.curves.lines import Parabola
from linkwright.topology.tree import Loop, Tree


@dataclass(frozen=True)
class Variant:
    """Differences from the mechanism as written."""

    drivers: tuple[str, ...] = ()  # joints and cylinders whose motion is given
    armature: tuple[float, ...] = ()  # one entry per velocity, added to the diagonal of M; empty: none
    without: tuple[str, ...] = ()  # closing conditions left out
    power: bool = False

    def checked(self, skel: Skeleton) -> Variant:
        """The same with plain numbers, or an error that says what is wrong."""
        d = skel.tree.description
        names = movable(d)
        for name in self.drivers:
            if joint_name(name) not in names:
                raise UsageError(f"there is no joint or cylinder '{name}' to move. {nearest(name, names, 'Joints')}")
            driven(d, name, Parabola(0.0))  # refuses joints with several degrees of freedom
        if len(set(self.drivers)) != len(self.drivers):
            raise UsageError(f"a motion is given twice: {', '.join(self.drivers)}.")
        loops = [loop.name for loop in skel.tree.loops]
        for name in self.without:
            if name not in loops:
                tree = f" Joint '{name}' is in the spanning tree; cuts=['{name}'] makes it one." if name in skel.tree.node_of_joint else ""
                raise UsageError(f"'{name}' closes no loop and cannot be switched off. {nearest(name, loops, 'Closing conditions')}{tree}")
        return replace(self, armature=self._inertias(skel.tree.nv), without=tuple(n for n in loops if n in self.without))

    def _inertias(self, nv: int) -> tuple[float, ...]:
        values = tuple(float(x) for x in self.armature)
        if values and len(values) != nv:
            raise UsageError(f"armature needs one inertia for each of {nv} velocities; {len(values)} were given.")
        if not all(np.isfinite(x) and x >= 0.0 for x in values):
            raise UsageError("armature: inertias are finite and not negative.")
        return values if any(values) else ()


def armature_of(skel: Skeleton, inertias: Mapping[str, Any]) -> tuple[float, ...]:
    """Inertias of rotors by joint name as one entry per velocity of the tree."""
    out = np.zeros(skel.tree.nv)
    for name, inertia in inertias.items():
        node = skel.tree.node_of_joint.get(name)
        if node is None:
            if name in skel.tree.cuts:
                raise UsageError(
                    f"joint '{name}' is cut, so that its speed is no coordinate and the inertia of a rotor has no place there. "
                    f"Choose other cuts: cuts=[...] without '{name}'."
                )
            raise UsageError(f"there is no joint '{name}' to carry a rotor. {nearest(name, skel.tree.node_of_joint, 'Joints')}")
        span = skel.tree.nodes[node].v
        if span.stop - span.start != 1:
            raise UsageError(f"joint '{name}' has {span.stop - span.start} degrees of freedom; a rotor needs a hinge or a slider.")
        out[span] += float(inertia)
    return tuple(float(x) for x in out)


def loops_without(loops: Loops, names: tuple[str, ...]) -> Loops:
    """The loops with some closing conditions left out; cut joints stay cut, and their coordinates are still counted."""
    if not names:
        return loops
    tree = loops.skel.tree
    retained = tuple(i for i, loop in enumerate(tree.loops) if loop.name not in names)
    skel = replace(loops.skel, tree=_with_loops(tree, [tree.loops[i] for i in retained]))
    return replace(loops, skel=skel, constraints=tuple(loops.constraints[i] for i in retained))


def _with_loops(tree: Tree, loops: list[Loop]) -> Tree:
    ends = itertools.accumulate((len(loop.labels) for loop in loops), initial=0)
    rows = [slice(a, b) for a, b in itertools.pairwise(ends)]
    return replace(tree, loops=tuple(replace(loop, rows=r) for loop, r in zip(loops, rows, strict=True)))
