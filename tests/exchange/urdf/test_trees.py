"""Trees of every joint type against Pinocchio's URDF parser, and MuJoCo's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from tests.exchange.against_pinocchio import assert_same_tree
from tests.exchange.urdf.robots import robot

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def numbers(x: np.ndarray) -> str:
    return " ".join(repr(float(v)) for v in x)


def random_link(name: str, rng: np.random.Generator, massless: bool = False) -> str:
    if massless:
        return f'<link name="{name}"/>\n'
    A = rng.normal(size=(3, 3))
    S = A @ A.T  # second moments of a cloud of points: an inertia that a body can have
    I = 0.01 * (np.trace(S) * np.eye(3) - S)
    tensor = " ".join(f'i{"xyz"[i]}{"xyz"[j]}="{float(I[i, j])!r}"' for i in range(3) for j in range(i, 3))
    return (
        f'<link name="{name}"><inertial><origin xyz="{numbers(rng.normal(size=3))}" rpy="{numbers(rng.normal(size=3))}"/>'
        f'<mass value="{rng.uniform(0.5, 3.0)!r}"/><inertia {tensor}/></inertial></link>\n'
    )


def random_tree(seed: int, links: int = 10, kinds: tuple[str, ...] = KINDS) -> str:
    rng = np.random.default_rng(seed)
    text = random_link("base_link", rng)
    for i in range(1, links):
        kind = kinds[i % len(kinds)]
        parent = "base_link" if i == 1 else f"link{rng.integers(1, i)}"
        axis = np.array([0.0, 0.0, 1.0]) if kind == "planar" else rng.normal(size=3)  # theirs has no other plane
        limit = '<limit lower="-9" upper="9" effort="5" velocity="2"/>' if kind in ("revolute", "prismatic") else ""
        text += random_link(f"link{i}", rng, massless=kind == "fixed" and i % 2 == 0)
        text += (
            f'<joint name="j{i}" type="{kind}"><parent link="{parent}"/><child link="link{i}"/>'
            f'<origin xyz="{numbers(rng.normal(size=3))}" rpy="{numbers(rng.normal(size=3))}"/><axis xyz="{numbers(axis)}"/>{limit}</joint>\n'
        )
    return robot(text)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_random_trees_are_as_pinocchio_reads_them(tmp_path: Path, seed: int, base: str, rng: np.random.Generator) -> None:
    path = tmp_path / "tree.urdf"
    path.write_text(random_tree(seed))
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if base == "free" else pin.buildModelFromUrdf(str(path))
    s = lw.load(path, base=base).system
    assert s.tree.nv == model.nv
    assert_same_tree(s, model, rng)
