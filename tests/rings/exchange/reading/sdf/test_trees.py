"""Trees in SDF, their frames in a random graph, against Pinocchio's reading of the same tree in URDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from tests.rings.exchange.reading.against_pinocchio import assert_same_tree
from tests.rings.exchange.reading.random_robots import random_links, sdf, urdf
from tests.sweeps import sweep


@sweep("seed", range(4), now=2)
@pytest.mark.parametrize("fixed", [True, False])
def test_random_trees_are_as_their_urdf(tmp_path: Path, seed: int, fixed: bool, rng: np.random.Generator) -> None:
    links = random_links(seed, kinds=("revolute", "continuous", "prismatic", "fixed"))
    (tmp_path / "tree.urdf").write_text(urdf(links))
    (tmp_path / "tree.sdf").write_text(sdf(links, seed, fixed))
    theirs = str(tmp_path / "tree.urdf")
    model = pin.buildModelFromUrdf(theirs) if fixed else pin.buildModelFromUrdf(theirs, pin.JointModelFreeFlyer())
    m = lw.load(tmp_path / "tree.sdf")
    assert m.imported is not None and m.imported.format == "SDF 1.9"
    assert m.system.tree.nv == model.nv
    # 1e-11: poses pass a dozen frames before they reach the world
    assert_same_tree(m.system, model, rng, 1e-11)
