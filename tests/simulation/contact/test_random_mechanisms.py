"""Random mechanisms with a loop and up to six contacts: the same motion by events and by time stepping that is refined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.simulation.contact.models import G
from tests.simulation.contact.stepping import Rub, march
from tests.sweeps import sweep

SECONDS = 0.35
AGREES = 5e-4  # m and rad: a wrong state of one contact moves the bodies by centimeters


def falling(seed: int) -> dict[str, Any]:
    """A four-bar linkage whose frame flies: it falls on a floor with up to six round places."""
    r = np.random.default_rng(seed)
    A, D = np.array([0.0, 0.0]), np.array([0.3, 0.0]) + 0.05 * r.standard_normal(2)
    B, C = A + np.array([-0.05, -0.2]) + 0.04 * r.standard_normal(2), D + np.array([0.05, -0.25]) + 0.04 * r.standard_normal(2)
    feet = {"E": 0.5 * (B + C) + np.array([0.0, -0.1]) + 0.03 * r.standard_normal(2), "F": 0.5 * (A + D) + np.array([0.0, 0.15])}
    drawn = {"A": A, "B": B, "C": C, "D": D, **feet}
    turn = r.uniform(-0.6, 0.6)
    spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    placed = {k: spin @ x for k, x in drawn.items()}
    low = min(x[1] for x in placed.values())
    placed = {k: [float(x[0]), float(x[1] - low + 0.03 + 0.02 + r.uniform(0.0, 0.03))] for k, x in placed.items()}
    chosen = list(r.permutation(["A", "B", "C", "D", "E", "F"])[: int(r.integers(3, 7))])
    on = {"A": "frame", "D": "frame", "F": "frame", "B": "coupler", "C": "coupler", "E": "coupler"}
    return {
        "plane": "xy",
        "gravity": [0, -G],
        "drawing": {**placed, "O": [0, 0]},
        "bodies": {
            "ground": {"points": ["O"]},
            "frame": {"pins": ["A", "D"], "points": ["F"], "mass": float(r.uniform(1, 3)), "inertia": 0.02},
            "crank": {"pins": ["A", "B"], "mass": float(r.uniform(0.3, 1))},
            "coupler": {"pins": ["B", "C"], "points": ["E"], "mass": float(r.uniform(0.5, 2)), "inertia": 0.01},
            "rocker": {"pins": ["C", "D"], "mass": float(r.uniform(0.3, 1))},
        },
        "joints": {"base": {"type": "planar", "between": ["ground", "frame"], "at": "O"}},
        "dampers": {"d": {"joint": "A", "coefficient": 0.3}},
        "surfaces": {
            "floor": {"line": "ground.O", "normal": [0, 1]},
            **{f"s{k}": {"circle": f"{on[k]}.{k}", "radius": 0.02} for k in chosen},
        },
        "contacts": {f"c{k}": {"between": [f"s{k}", "floor"], "mu": float(r.uniform(0.1, 0.9))} for k in chosen},
    }


@sweep("seed", range(100), now=[6, 8])
def test_time_stepping_comes_to_the_same_motion(seed):
    m = lw.load(falling(seed))
    s = lw.compile(m)
    run = m.simulate(SECONDS, tolerance=1e-10)
    c = run.certificate
    assert c.position_residual < 1e-14 and c.touch_depth < 1e-12 * c.size, c
    assert c.energy_imbalance < 1e-6 * c.energy_turned_over and c.least_impact_loss > -1e-12
    mu = np.array([float(x.mu) for x in m.system.description.contacts])
    errors: list[float] = []
    for steps in (2800, 11200, 44800, 179200):  # the instants of impacts are known to a step: errors fall with it, but not evenly
        q, _ = march(s, s.start.q, np.array(s.start.v, dtype=float), SECONDS, steps, mu)
        errors.append(float(np.abs(q - run.q[-1]).max()))
        if errors[-1] < AGREES:
            return
    raise AssertionError(errors)


TOUCHED_BEYOND = {"A": "BCE", "B": "BCE", "D": ""}  # places on bodies that these joints carry, with the loop cut at C


def rubbing(seed: int) -> tuple[dict[str, Any], dict[str, Rub], np.ndarray]:
    """The same falling linkage without friction in joints, that friction, and mu of the touches."""
    model, r = falling(seed), np.random.default_rng(1000 + seed)
    model["cuts"] = ["C"]
    laws = {name: (float(r.uniform(0.003, 0.03)), float(r.choice([0.0, 0.2]))) for name in TOUCHED_BEYOND}  # m, N m
    feet = [name.removeprefix("c") for name in model["contacts"]]
    rubs = {
        name: Rub(*law, [i for i, foot in enumerate(feet) if foot in TOUCHED_BEYOND[name]]) for name, law in laws.items()
    }  # fmt: skip
    return model, rubs, np.array([x["mu"] for x in model["contacts"].values()])


@sweep("seed", range(100), now=[32, 37])
def test_joints_rub_while_surfaces_touch(seed):
    """Friction by load in three pins of the linkage, also in its impacts: the same motion by events and by time stepping."""
    model, rubs, mu = rubbing(seed)
    plain = lw.compile(lw.load(model))
    friction = {k: {"mu": 0.5, "radius": 2.0 * x.by_load} | ({"coulomb": x.constant} if x.constant else {}) for k, x in rubs.items()}
    run = lw.load(model | {"friction": friction}).simulate(SECONDS, tolerance=1e-10)
    c = run.certificate
    assert c.touch_depth < 1e-12 * c.size and c.friction_excess < 1e-9 and c.touch_excess < 1e-9, c
    assert c.energy_imbalance < 1e-6 * c.energy_turned_over and c.least_impact_loss > -1e-12
    errors: list[float] = []
    for steps in (350, 2800, 11200, 44800):
        q, _ = march(plain, plain.start.q, np.array(plain.start.v, dtype=float), SECONDS, steps, mu, rubs)
        errors.append(float(np.abs(q - run.q[-1]).max()))
        if errors[-1] < AGREES:
            return
    raise AssertionError(errors)


def test_the_seeds_are_not_all_alike():
    """Some of them stick, slip, and leave again."""
    names = set()
    for seed in (6, 8):
        names |= {x.name.partition(" ")[2] for x in lw.load(falling(seed)).simulate(SECONDS).events}
    assert names >= {"touches", "sticks", "slips"}, names


@pytest.mark.slow
def test_a_saved_run_keeps_what_touches(tmp_path):
    run = lw.load(falling(0)).simulate(SECONDS)
    run.save(tmp_path / "run.csv")
    again = lw.load_result(tmp_path / "run.csv")
    assert [x.name for x in again.events] == [x.name for x in run.events]
    names = [x for x in run.channels if x.endswith((".force", ".friction", ".state", ".impulse")) and x.startswith("c")]
    assert names
    for name in names:
        np.testing.assert_allclose(again[name], run[name], atol=1e-9)
    np.testing.assert_allclose(again["A.load"], run["A.load"], rtol=1e-6, atol=1e-6)
