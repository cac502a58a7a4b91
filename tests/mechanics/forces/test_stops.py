"""Stops: one-sided, continuous, never pulling; energy in the spring, the rest lost; in cut joints, sliders and cylinders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.mechanics import forces
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion
from linkwright.model import description as d
from linkwright.simulation.time_stepping import march

SLIDER = {
    "name": "buffer", "plane": "xy", "drawing": {"C": [0, 0], "D": [1, 0]},
    "bodies": {"ground": {"points": ["D"]}, "cart": {"points": ["C"], "mass": 2.0, "inertia": 0.0}},
    "joints": {"X": {"type": "prismatic", "between": ["ground", "cart"], "at": "C", "axis": [1, 0]}},
}  # fmt: skip
STIFF, DAMPING = 5000.0, 0.3


def effort(skel, q, v, near=None):
    """(stop, moment, generalized force)"""
    m = motion(skel, q, v)
    at = Instant.moving(skel, m, 0.0, skel.start_coordinates if near is None else near)
    (stop,) = [f for f in forces.of_description(skel.tree.description) if isinstance(f.element, d.Stop)]
    return stop, at, dynamics.generalized(skel, m, stop.wrenches(at))


def slider(**ends):
    return compiled_of(lw.compile(replace(lw.load(SLIDER).description, stops=(d.Stop("end", "X", STIFF, damping=DAMPING, **ends),)))).skel


@pytest.mark.parametrize(
    ("x", "v", "force"),
    [
        (0.1, 5.0, 0.0),  # between the ends
        (0.2, 5.0, 0.0),  # at the end: however fast, no push yet
        (0.21, 2.0, -STIFF * 0.01 * (1 + DAMPING * 2.0)),
        (0.21, -2.0, -STIFF * 0.01 * (1 - DAMPING * 2.0)),
        (0.21, -5.0, 0.0),  # a push of 1 - 1.5 would be a pull: it lets go
        (-0.12, -2.0, STIFF * 0.02 * (1 + DAMPING * 2.0)),
    ],
)
def test_the_push_of_an_end(x, v, force):
    stop, at, found = effort(slider(lower=-0.1, upper=0.2), np.array([x]), np.array([v]))
    assert found[0] == pytest.approx(force, rel=1e-12, abs=1e-12)
    assert stop.loss(at) >= 0.0
    one_sided = effort(slider(upper=0.2), np.array([x]), np.array([v]))[2]
    assert one_sided[0] == (found[0] if x > 0 else 0.0)


@pytest.mark.parametrize("v", [3.0, -2.0, -6.0])
def test_work_done_on_a_stop_is_stored_or_lost(v):
    """In a cut joint of a four-bar, several turns on: the coordinate is counted, power = -(dE/dt + loss)."""
    model = lw.load("four-bar").description
    free = lw.compile(model, cuts=["C"])
    st = free.assemble(q={"A": 0.9}, v={"A": v})
    there = float(st["C"]) - 4 * np.pi
    s = lw.compile(replace(model, stops=(d.Stop("end", "C", 40.0, there - 1.0, there - 0.02, 0.5),)), cuts=["C"])
    near = {**st.references, "C": np.array([there + 0.3])}
    stop, at, found = effort(compiled_of(s).skel, st.q, st.v, near)
    power = float(found @ st.v)
    h = 1e-30
    ahead = motion(compiled_of(s).skel, st.q + 1j * h * st.v, st.v.astype(complex))
    rate = stop.energy(Instant.moving(compiled_of(s).skel, ahead, 0.0, near)).imag / h
    assert power == pytest.approx(-(rate + stop.loss(at)), rel=1e-10, abs=1e-12)
    assert abs(rate) > 0.1 and stop.loss(at) >= 0.0


def test_a_cart_bounces_back_as_the_phase_plane_says():
    """m v dv = -k d (1 + c v) dd: v/c - log(1 + c v)/c^2 is the same when the cart leaves the spring as when it met it."""
    s = lw.compile(replace(lw.load(SLIDER).description, stops=(d.Stop("end", "X", STIFF, upper=0.2, damping=DAMPING),)))
    back = float(march(compiled_of(s), s.assemble(v={"X": 2.0}), 0.2, tolerance=1e-9).v[-1, 0])

    def kept(v):
        return v / DAMPING - np.log(1.0 + DAMPING * v) / DAMPING**2

    assert back == pytest.approx(-brentq(lambda v: kept(-v) - kept(2.0), 0.1, 2.0), rel=1e-7)


def test_a_stop_is_traced():
    skel = slider(lower=-0.1, upper=0.2)
    g = TraceGraph()
    stop, at, found = effort(skel, g.input("q", 1), g.input("v", 1))
    program = g.program([("tau", found), ("loss", np.array([stop.loss(at)])), ("energy", np.array([stop.energy(at)]))])
    rows = np.random.default_rng(1).uniform([-0.2, -6.0], [0.3, 6.0], (60, 2))
    for row, value in zip(rows, interpret(program, rows), strict=True):
        stop, at, tau = effort(skel, row[:1], row[1:])
        np.testing.assert_allclose(value, [tau[0], stop.loss(at), stop.energy(at)], rtol=1e-14, atol=1e-14)


def test_a_cylinder_has_a_stroke_and_its_stop_keeps_the_joint_in_the_tree():
    model = lw.load(
        {**SLIDER, "cylinders": {"ram": {"between": ["ground.D", "cart.C"]}}, "stops": {"ram": {"max": "1.1 m", "stiffness": "5000 N/m"}}}
    )
    _, _, found = effort(compiled_of(model.system).skel, np.array([-0.15]), np.array([-1.0]))
    assert found[0] == pytest.approx(STIFF * 0.05)
    bar = lw.load("four-bar").description
    cut = lw.compile(bar).tree.cuts
    kept = lw.compile(replace(bar, stops=(d.Stop("end", cut[0], 40.0, 0.0, 1.0),)))
    assert cut[0] not in kept.tree.cuts
