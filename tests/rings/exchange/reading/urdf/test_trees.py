"""Trees of every joint type against Pinocchio's URDF parser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from tests.rings.exchange.reading.against_pinocchio import assert_same_tree
from tests.rings.exchange.reading.random_robots import random_links, urdf


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_random_trees_are_as_pinocchio_reads_them(tmp_path: Path, seed: int, base: str, rng: np.random.Generator) -> None:
    path = tmp_path / "tree.urdf"
    path.write_text(urdf(random_links(seed)))
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if base == "free" else pin.buildModelFromUrdf(str(path))
    s = lw.load(path, base=base).system
    assert s.tree.nv == model.nv
    assert_same_tree(s, model, rng)
