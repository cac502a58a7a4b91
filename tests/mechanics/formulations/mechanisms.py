"""Random closed-loop mechanisms that move, planar and spatial, some of them redundant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwright.joints import JOINTS
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import skeleton
from linkwright.topology import build_tree
from tests import factory

SYMMETRIC = ("revolute", "prismatic", "spherical", "cylindrical")
CLOSING = tuple(k for k in JOINTS if k not in ("free", "fixed"))


def doubled(mech: factory.Drawn) -> factory.Drawn:
    """The last cut joint once more under another name: its rows are redundant everywhere."""
    desc = mech.skel.tree.description
    twin = replace(desc.joint("C0"), name="twin", first=desc.joint("C0").second, second=desc.joint("C0").first)
    twin = replace(twin, frame_first=desc.joint("C0").frame_second, frame_second=desc.joint("C0").frame_first)
    skel = skeleton(build_tree(replace(desc, joints=(*desc.joints, twin)), [*mech.skel.tree.cuts, "twin"]))
    return factory.Drawn(skel, mech.q, mech.v)


def moving(seed: int) -> tuple[Loops, np.ndarray, np.ndarray, np.random.Generator]:
    """(loops, q, consistent v, rng) of a random mechanism with at least one freedom; every fifth one is redundant."""
    mech, rng = moving_mechanism(seed)
    return Loops.of(mech.skel), mech.q, mech.v, rng


def moving_mechanism(seed: int) -> tuple[factory.Drawn, np.random.Generator]:
    """The mechanism of `moving` with its state, and further random numbers."""
    for attempt in range(40):
        rng = np.random.default_rng(1000 * seed + attempt)
        planar = bool(rng.random() < 0.4)
        loops = int(rng.integers(1, 4)) if rng.random() < 0.7 else int(rng.integers(4, 9))
        bodies = loops * (2 if planar else 3) + int(rng.integers(1, 4))
        tree = factory.random_tree(
            rng, bodies, ("revolute", "prismatic", "planar", "revolute") if planar else factory.SPATIAL, planar, chain=0.5
        )
        key, closing = factory.seed_of(rng), ("revolute", "pin_slot", "prismatic") if planar else CLOSING
        kinds = [factory.pick(key, f"C{i}", closing) for i in range(loops)]
        if seed % 5 == 0:  # a joint that is the same joint when its bodies change places
            kinds[0] = factory.pick(key, "C0", ("revolute", "prismatic") if planar else SYMMETRIC)
        mech = factory.with_loops(rng, tree, kinds, planar, rods=int(rng.random() < 0.3))
        if seed % 5 == 0:
            mech = doubled(mech)
        L = Loops.of(mech.skel)
        f = L.factored(L.at(mech.q, np.zeros(mech.skel.tree.nv), 0.0, mech.skel.start_coordinates))
        gap = f.s[f.rank - 1] if f.rank else 1.0
        if f.null.shape[1] >= 1 and gap > 1e-3:  # moves, and is not by chance nearly singular
            v = (f.null @ rng.normal(size=f.null.shape[1])) * L.columns
            return replace(mech, v=v), rng
    raise AssertionError(f"no moving mechanism for seed {seed}")
