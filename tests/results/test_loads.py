"""Loads of runs: from the accelerations, multipliers and efforts that were, against inverse dynamics and Newton's laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.results.cut_references import cut_references
from linkwright.results.trajectory import Trajectory
from tests.refusals import refused
from tests.results.runs import free_run, system
from tests.sweeps import sweep

# drives in the tree, in a cut joint and in cylinders; joints drawn twice, whose reactions are a matter of choice
CASES = {
    "wiper": (None, {"A": 3.0}),
    "wiper with its drive cut": (("A",), {"A": 3.0}),
    "excavator": (None, None),
    "stewart": (None, None),
    "parallelogram-middle": (None, None),
}


def inverted(name: str, push: bool = False):
    """(system, loads of the inverse, a run of one state repeated in which these efforts were recorded)."""
    cuts, speeds = CASES[name]
    s = system(name.split()[0], cuts)
    st = s.assemble(v=speeds) if speeds else s.start
    body = s.description.bodies[-1].name
    wrench = {body: np.array([0.1, -0.2, 0.7, 4.0, -9.0, 0.0]) * (1.0 if not s.description.planar else [0, 0, 1, 1, 1, 0])} if push else {}
    drives = [d.joint for d in s.description.drives]
    loads = s.inverse(st, dict.fromkeys(drives, 0.4), wrench, drives=drives, method="system")
    turning = {j.name for j in s.description.joints if j.type == "revolute"}
    kinds = {n: "torque" if n in turning else "force" for n in drives}
    n = 12
    columns = {f"{d}.{kinds[d]}": (np.full(n, u), kinds[d]) for d, u in zip(drives, loads.u, strict=True)}
    columns |= {f"wrench.{b}": (np.tile(w, (n, 1)), "mixed") for b, w in wrench.items()}
    q, v, a, lam = (np.tile(x, (n, 1)) for x in (st.q, st.v, loads.problem.a, loads.lam_all))
    t = np.zeros(n)
    return (
        s,
        loads,
        Trajectory(
            compiled_of(s).skel,
            t,
            q,
            v,
            a,
            cut_references(compiled_of(s).skel, t, q, v, st.references),
            columns=columns,
            arrays={"lam": lam},
        ),
    )


@sweep("name", CASES, later=["excavator", "stewart"])
def test_reactions_are_those_of_the_inverse_for_the_same_efforts(name):
    _, loads, run = inverted(name, push=name == "wiper")
    size = max(np.abs(w.force).max() for w in loads.wrench.values())
    names = [n for n in run.channels if ".on." in n and n.count(".") == 2]
    found = run.read(names)
    assert names and run._loads.batch.read([run._channel(n) for n in names])  # all at once
    for n in names[:: 1 + len(names) // 12]:
        pin, on = n.split(".on.")
        one, many = loads.on(pin, on), run.load(pin, on, frame=on)
        assert np.abs(found[n][3] - one.force[: found[n].shape[1]]).max() < 1e-10 * size  # lam came through a solve
        own = run.instant(3).loads.on(pin, on, on)
        assert np.abs(many.force[3] - own.force[: many.force.shape[1]]).max() < 1e-12 * size
        assert np.abs(many.moment[3] - own.moment).max() < 1e-12 * max(size, np.abs(own.moment).max())
        assert many.unique == own.unique_force[: many.force.shape[1]].all()
    assert run.instant(0).loads.residual < 1e-10
    for drive, u in loads.tau.items():
        assert run.instant(0).loads.tau[drive] == pytest.approx(u, rel=1e-9, abs=1e-9 * size)


def test_which_reactions_are_a_matter_of_choice_is_told():
    redundant, plain = inverted("parallelogram-middle")[2], free_run("wiper")
    assert not all(redundant.load(j.pin or j.name, j.second).unique for j in redundant.skel.tree.description.joints)
    assert plain.load("C", "rocker").unique and plain.load("C", "rocker").max == plain["C.on.rocker.magnitude"].max()


def test_bodies_of_a_free_run_are_in_balance_and_tables_can_be_made():
    run = free_run("carpet-scraper")
    assert max(run.instant(i).loads.residual for i in (0, 30, 60)) < 1e-11
    for body in run.skel.tree.description.bodies[1:3]:
        rows = run.free_body(body.name, at="0.25 s").rows
        assert np.abs(np.sum([r.force for r in rows], axis=0)).max() < 1e-9 * max(np.abs(r.force).max() for r in rows)
    row = run.bearings().rows[0]
    assert row.max == pytest.approx(np.linalg.norm(run[f"{row.pin}.on.{row.on}"], axis=1).max(), rel=1e-12)
    weight = sum(b.mass for b in run.skel.tree.description.bodies[1:]) * 9.81
    assert np.ptp(run["shaking.force"][:, 1]) > 0.01 * weight  # a run in the field of gravity shakes its frame


def test_efforts_that_were_not_recorded_are_noticed():
    run = inverted("wiper")[2]
    for lost in (replace(run, columns={}), replace(inverted("wiper", push=True)[2], columns=dict(run.columns))):
        for read in (lambda x: x["C.on.rocker"], lambda x: x.load("C", "rocker"), lambda x: x._each_loads[0]):
            with refused(UsageError, name="loads"):
                read(lost)


def test_loads_of_a_simulated_motor_hold_the_shaft_torque():
    """The rotor takes its share of the motor's torque; what is left turns the crank, as the inverse says."""
    s = lw.compile("wiper")
    motor = lw.drives.dc_motor(Kt=0.05, R=0.4, J=1e-4, gear_ratio=20)
    run = s.simulate(s.assemble(v={"A": 1.0}), 0.3, drive={"A": lw.drives.voltage("12 V", motor=motor)}, sample_interval=0.01)
    i = 12
    loads = s.inverse(run.state(i), run.a[i], drives=["A"])
    assert run._each_loads[i].tau["A"] == pytest.approx(loads.tau["A"], rel=1e-9)
    assert run["A.torque"][i] - run._each_loads[i].tau["A"] == pytest.approx(1e-4 * 20**2 * run["A.a"][i], rel=1e-6)
    np.testing.assert_allclose(run["C.on.rocker"][i], loads.on("C", "rocker").force[:2], rtol=1e-9)
