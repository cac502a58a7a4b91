"""Lengths that differ by the round-off of a drawing are one number, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.model.numbers import merged, without_round_off
from tests.sweeps import every_model


def test_neighbors_become_the_shortest_decimal():
    known = merged(np.array([1.2, 1.2000000000000002, 1.2000000000000002, 0.6, 3e-16, 1e-12, 2.0]), 1e-15)
    assert known == {1.2000000000000002: 1.2, 3e-16: 0.0}


def test_a_long_row_of_neighbors_is_no_round_off():
    assert not merged(1.0 + 0.9e-15 * np.arange(20), 1e-15)


def test_bays_of_a_lift_have_the_same_numbers():
    d = modelfile.read(models.path("scissor-lift"), N=60).numbers()
    bars = [b for b in d.bodies if b.name.startswith(("up", "down"))]
    assert {tuple(p.at for p in b.points) for b in bars} == {((0.0, 0.0, 0.0), (0.6, 0.0, 0.0), (1.2, 0.0, 0.0))}
    assert {(b.com, b.inertia) for b in bars} == {(bars[0].com, bars[0].inertia)}


@pytest.mark.parametrize("name", every_model())
def test_what_is_clean_stays_as_it_is(name):
    d = modelfile.read(models.path(name)).numbers()
    assert without_round_off(d) is d


def test_a_mechanism_far_away_retains_its_digits():
    d = modelfile.read_text(
        """
name: far
plane: xy
drawing: {A: [1e6 m, 0], B: [1000000.3 m, 0]}
bodies:
  ground: {pins: [A]}
  bar: {pins: [A], along: {A: 0 m, B: 0.3 m, C: 0.30000000001 m}, mass: 1}
"""
    ).numbers()
    assert {p.at[0] for p in d.bodies[1].points} == {0.0, 0.3, 0.30000000001}


def test_masses_so_small_that_their_products_are_zero_stay_as_they_are():
    """1e-150 kg times 1e-190 kg m^2 is zero in numbers of eight bytes, and the radius of gyration within round-off of nothing."""
    tiny = ((1e-190, 0.0, 0.0), (0.0, 1e-190, 0.0), (0.0, 0.0, 1e-190))
    d = modelfile.read(models.path("wiper")).numbers()
    light = replace(d, bodies=tuple(replace(b, mass=1e-150, inertia=tiny) if b.name == "crank" else b for b in d.bodies))
    assert without_round_off(light).body("crank").inertia == tiny
