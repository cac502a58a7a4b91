"""Joints that couplings, gears and belts count from the drawing."""

from __future__ import annotations

from dataclasses import replace

import linkwright as lw
from linkwright.mechanics.kinematics.skeleton import counted_joints
from linkwright.model.description import Coupling, Gear, Move, Table


def test_a_law_of_its_own_needs_no_drawing() -> None:
    """Only a ratio without an offset starts where the drawing is; offset, table, polynomial and moves say the coordinate themselves."""
    d = replace(lw.load("four-bar").description, couplings=(), gears=(), belts=())
    ratio = Coupling("ratio", "A", "B", ratio=2.0, plus=(("D", 1.0),))
    own = [
        replace(ratio, offset=0.0), replace(ratio, table=Table("A", (0.0, 1.0), (0.0, 2.0))), replace(ratio, polynomial=(0.0, 1.0)),
        replace(ratio, moves=(Move(1.0, 1.0),)),
    ]  # fmt: skip
    for coupling in own:
        assert counted_joints(replace(d, couplings=(coupling,))) == []
    assert counted_joints(replace(d, couplings=(*own, ratio))) == ["A", "B", "D"]
    assert counted_joints(replace(d, couplings=(own[0],), gears=(Gear("pair", "D", "C", 0.1, 0.2),))) == ["D", "C"]
