"""Model file, other format, model again: masses, places and accelerations of every body to 1e-9, where the format holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.exchange.losses import Loss, LossWarning
from linkwright.exchange.robots.dialects import DIALECTS
from linkwright.exchange.robots.urdf import upright
from linkwright.model import library
from tests.exchange.robots.round_trip import bodies, deviation
from tests.sweeps import some

KEPT = 1e-9  # of the issue; measured are 1e-12 and less, round-off of the assembled loops
WAYS = [x for x in DIALECTS if x != "plain"]
NOW = ("wiper", "scissor-lift", "bennett", "stewart", "3-rrr-motors")  # plane, sliders and slots, hinges in space, balls, rods


def there_and_back(m: lw.Mechanism, file: Path, **options: Any) -> tuple[lw.Mechanism, tuple[Loss, ...]]:
    """The model read again from a file, and what was lost on the way; URDF has no gravity, so it is given."""
    g = float(np.linalg.norm([float(x) for x in m.system.description.gravity]))
    with pytest.warns(LossWarning) as said:
        path = m.export(file, **options)
    return lw.load(path, **({"gravity": [0, 0, -g]} if file.suffix == ".urdf" else {})), said[0].message.lost


def speeds(m: lw.Mechanism, rng: np.random.Generator) -> dict[str, float]:
    """A speed for every drive, if the drives determine the motion; not that of rods that spin between two balls."""
    drives, found = [d.joint for d in m.description.drives], m.system.mobility
    return {name: float(rng.normal()) for name in drives} if found.freedoms == len(drives) and not found.idle else {}


def at(m: lw.Mechanism, place: dict[str, float], v: dict[str, float]) -> lw.State:
    return m.system.assemble(q=place, v=v) if v else m.system.state(m.system.assemble(q=place).q)


def worst(m: lw.Mechanism, copy: lw.Mechanism, R: np.ndarray, rng: np.random.Generator) -> float:
    """The greatest deviation of two states: the start, and one that is a little further and moves."""
    planar, drives = m.description.planar, [d.joint for d in m.description.drives]
    start, theirs = m.system.state(m.system.start.q), copy.system.state(copy.system.start.q)
    out = deviation(bodies(m.system, start, R=R), bodies(copy.system, theirs), planar)
    v = speeds(m, rng)
    step = {name: 0.02 * float(rng.uniform(0.5, 1.0)) for name in drives[: m.system.mobility.freedoms]}
    ours = at(m, {name: float(m.system.start[name]) + x for name, x in step.items()}, v)
    same = at(copy, {name: float(copy.system.start[name]) + x for name, x in step.items()}, v)
    tau: dict[str, Any] = {name: 0.3 for name in drives}
    return max(out, deviation(bodies(m.system, ours, tau, R), bodies(copy.system, same, tau), planar))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", some(library.names(), NOW))
def test_urdf_keeps_masses_places_and_accelerations(name: str, way: str, tmp_path: Path, rng: np.random.Generator) -> None:
    m = lw.load(name)
    copy, lost = there_and_back(m, tmp_path / "model.urdf", dialect=way)
    kept = worst(m, copy, upright(m.system).R, rng)
    assert kept < KEPT or any(x.part == "mechanism" for x in lost), (kept, lost)


@pytest.mark.parametrize("name", some(library.names(), NOW))
def test_mjcf_keeps_masses_places_and_accelerations(name: str, tmp_path: Path, rng: np.random.Generator) -> None:
    m = lw.load(name)
    copy, lost = there_and_back(m, tmp_path / "model.xml")
    raised = any("raised" in x.why for x in lost)
    if not raised:  # else there are masses that the model has not
        kept = worst(m, copy, np.eye(3), rng)
        assert kept < KEPT or any(x.part == "mechanism" for x in lost), (kept, lost)
