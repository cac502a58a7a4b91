"""Least efforts by the paper's own formulas, and the same task in meters and millimeters."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.system.system import System
from tests import ROOT, factory
from tests.rings.control.paper_laws import Paper

DATA = json.loads((ROOT / "tests" / "data" / "aghili_hoang.json").read_text())["controllability_and_units"]["D"]
GIVEN, FOUND = DATA["params"], DATA["results"]


def independent(s: System, st: lw.State, rng: np.random.Generator) -> list[str]:
    """Coordinates of the tree that tell its motion, chosen at random: rows of the null space until its rank is reached."""
    null = np.linalg.svd(s.closure(st).J * compiled_of(s).loops.columns)[2][
        np.linalg.matrix_rank(s.closure(st).J * compiled_of(s).loops.columns, 1e-9) :
    ].T
    chosen: list[int] = []
    for i in rng.permutation(len(null)):
        if np.linalg.svd(null[[*chosen, i]])[1].min() > 0.1 and len(chosen) < null.shape[1]:
            chosen.append(int(i))
    return [s.names.v[i] for i in chosen] if len(chosen) == null.shape[1] else []


def laws(s: System, st: lw.State, followed: list[str], drives: list[str], **more) -> tuple[np.ndarray, Paper, np.ndarray, np.ndarray]:
    """Efforts in the weighted metric as the product has them; the paper's matrices, and the rows and accelerations wanted."""
    P, D, aims = 30.0, 7.0, 0.1 * np.arange(1.0, len(followed) + 1.0)
    entries = [s.names.v.index(n) for n in followed]
    now, speed = np.array([float(st[n]) for n in followed]), st.v[entries]
    reference = {n: float(x + e) for n, x, e in zip(followed, now, aims, strict=True)}
    kind = lw.control.hybrid if more else lw.control.projected
    c = s.control(kind(reference, P=P, D=D, drives=drives, damping=0.0, **more), st)
    efforts = c(st)
    paper = Paper(s, st)
    full = np.array([efforts.get(n, 0.0) for n in s.names.v])
    return paper.S * full, paper, np.eye(len(s.names.v))[entries], P * aims - D * speed


def moving(s: System, q: dict | None = None, rng=None) -> lw.State:
    """A state with some velocity along the loops."""
    st = s.start if q is None else s.assemble(q)
    null = np.linalg.svd(s.closure(st).J)[2][np.linalg.matrix_rank(s.closure(st).J, 1e-9) :]
    amount = np.random.default_rng(1).normal(size=len(null)) if rng is None else rng.normal(size=len(null))
    return s.state(st.q, amount @ null)


# ---------------------------------------------------------------- the paper's formulas


@pytest.mark.parametrize("drives", [["J1", "J8", "J9"], ["J1", "J8", "J9", "J2"], ["J1", "J2", "J3", "J4", "J5", "J8", "J9"]])
def test_efforts_on_the_3rrr_are_those_of_43_and_60(drives):
    s = lw.compile("3-rrr", cuts=["J6", "J7"], engine="python")
    for q in ({}, {"J1": 1.24, "J8": 4.3883, "J9": 5.9637}):
        st = moving(s, q)
        mine, paper, rows, wanted = laws(s, st, ["J1", "J8", "J9"], drives)
        active = [s.names.v.index(n) for n in drives]
        theirs = paper.passive(rows, wanted, active)
        # 1e-9: round-off of two different routes on efforts of some 100 N m
        assert np.abs(mine - theirs).max() < 1e-9 * np.abs(theirs).max()
        if len(drives) == len(s.names.v):
            assert np.abs(mine - paper.projected(rows, wanted)).max() < 1e-9 * np.abs(theirs).max()


def test_hybrid_efforts_are_those_of_52_with_its_erratum():
    for name, cuts, followed, force in (
        ("slider-crank-equal", ["C"], ["A"], {"C.ty": -3.0}),
        ("3r-slider", ["tip"], ["J1", "J2"], {"tip.ty": 2.0}),
        ("3-rrr", ["J6", "J7"], ["J1", "J8", "J9"], {"J6.tx": 4.0, "J6.ty": -5.0, "J7.tx": 6.0, "J7.ty": 7.0}),
    ):
        s = lw.compile(name, cuts=cuts, engine="python")
        st = moving(s)
        lam = np.array(list(force.values()))
        mine, paper, rows, wanted = laws(s, st, followed, list(s.names.v), force=force, F=3.0, I=20.0)
        theirs = paper.hybrid(rows, wanted, lam)
        assert np.abs(mine - theirs).max() < 1e-9 * np.abs(theirs).max(), name
        a = s.forward(st, mine / paper.S)
        assert np.abs(np.concatenate([np.ravel(x) for x in a.lam.values()]) - lam).max() < 1e-8 and np.abs(rows @ a.a - wanted).max() < 1e-8


def drawn(rng: np.random.Generator) -> System:
    """A random planar mechanism of hinges and slides with one or two loops."""
    tree = factory.random_tree(rng, 5, ("revolute", "prismatic"), planar=True, chain=0.7)
    closed = factory.with_loops(rng, tree, ["revolute"] if rng.random() < 0.6 else ["pin_slot", "pin_slot"], planar=True)
    s = lw.compile(closed.skel.tree.description, cuts=list(closed.skel.tree.cuts), engine="python")
    return s


def check_random(rng: np.random.Generator, count: int) -> tuple[int, int]:
    """(cases compared, of which with passive joints)"""
    done = passive = 0
    while done < count:
        s = drawn(rng)
        st = moving(s, rng=rng)
        followed = independent(s, st, rng)
        if not followed or np.linalg.cond(s.closure(st).J * compiled_of(s).loops.columns) > 1e3:
            continue
        size = int(rng.integers(len(followed), 6))
        drives = [str(n) for n in rng.permutation(s.names.v)[:size]]
        if s.controllable(st, drives).smallest < 0.05:
            continue
        mine, paper, rows, wanted = laws(s, st, followed, drives)
        theirs = paper.passive(rows, wanted, [s.names.v.index(n) for n in drives])
        # 1e-8: conditions of up to 1e3 in J and 20 in the drives' grip, squared
        assert np.abs(mine - theirs).max() < 1e-8 * (1.0 + np.abs(theirs).max())
        done, passive = done + 1, passive + (size < 5)
    return done, passive


def test_random_mechanisms_with_random_drives(rng):
    done, passive = check_random(rng, 6)
    assert 0 < passive <= done


@pytest.mark.slow
def test_many_random_mechanisms_with_random_drives(rng):
    done, passive = check_random(rng, 150)
    assert 30 < passive < done


# ---------------------------------------------------------------- meters and millimeters


def cart(units: str) -> dict:
    """A cart on rails with a pendulum, its tip on a sloping line; written in meters or millimeters."""
    u = {"m": 1.0, "mm": 1000.0}[units]
    l, beta, phi = GIVEN["l"], GIVEN["beta"], GIVEN["phi"]
    # the tip (x + l cos phi, l sin phi) lies at the distance d from the slope through the origin
    x = (l * math.sin(phi) * math.cos(beta) - GIVEN["d"]) / math.sin(beta) - l * math.cos(phi)
    return {
        "name": "cart",
        "plane": "xy",
        "units": [units, "kg", "rad", "s"],
        "gravity": [f"0 {units}/s^2", f"{-u * GIVEN['g']} {units}/s^2"],
        "drawing": {"O": [u * x, 0], "T": [u * (x + l * math.cos(phi)), u * l * math.sin(phi)]},
        "bodies": {
            "ground": {"points": ["T"]},
            "cart": {"pins": ["O"], "mass": GIVEN["m1"], "com": "O", "inertia": 0},
            "bob": {"pins": ["O"], "points": ["T"], "along": {"O": 0, "T": u * l}, "mass": GIVEN["m2"], "com": "T", "inertia": 0},
        },
        "joints": {
            "X": {"type": "prismatic", "between": ["ground", "cart"], "at": "O", "axis": [1, 0]},
            "line": {"type": "pin_slot", "connect": ["ground.T", "bob.T"], "slot": [math.cos(beta), math.sin(beta)]},
        },
    }


def efforts(units: str, length: str | None, **more) -> tuple[dict[str, float], System, lw.State]:
    s = lw.compile(lw.load(cart(units)), length=length, cuts=["line"], engine="python")
    st = s.assemble({"O": GIVEN["phi"]}, {"O": GIVEN["phidot"]})
    # without gains the acceleration wanted is that of the reference: phi'' = 2 rad/s^2
    wanted = lw.control.projected({"O": f"{0.5 * GIVEN['phidd_des']} rad/s^2*t^2"}, P=0, D=0, drives=["X", "O"], damping=0, **more)
    return s.control(wanted, st)(st), s, st


def test_least_efforts_do_not_depend_on_the_unit_of_length():
    """7.02706 N and 1.25806 N m in both files with the length of 0.5 m given; unweighted they would be 5.24 or 7.93 N."""
    (m, s, st), (mm, _, _) = (efforts(u, f"{GIVEN['kappa']} m") for u in ("m", "mm"))
    assert st.v == pytest.approx(DATA["qdot"], rel=1e-12)
    for found in (m, mm):
        assert [found["X"], found["O"]] == pytest.approx(FOUND["m"]["fpar_weighted_SI"], rel=1e-9)
    paper = Paper(s, st)
    theirs = paper.projected(np.array([[0.0, 1.0]]), np.array([GIVEN["phidd_des"]])) / paper.S
    assert [m["X"], m["O"]] == pytest.approx(theirs, rel=1e-10)


def test_the_default_length_is_that_of_the_mechanism_not_of_the_file():
    (m, s, _), (mm, t, _) = (efforts(u, None) for u in ("m", "mm"))
    assert (
        compiled_of(s).loops.kappa == pytest.approx(compiled_of(t).loops.kappa, rel=1e-12)
        and abs(compiled_of(s).loops.kappa - GIVEN["kappa"]) > 0.05
    )
    assert m == pytest.approx(mm, rel=1e-9)
    assert abs(m["X"] - FOUND["m"]["fpar_weighted_SI"][0]) > 0.1, "another length, other efforts"


def test_rated_efforts_say_what_costs_the_same():
    """`rated` of kappa to one is the metric of the paper, whatever the length; a weak slider leaves the work to the hinge."""
    found, _, _ = efforts("mm", None, rated={"X": "2 N", "O": "1 N m"})
    assert [found["X"], found["O"]] == pytest.approx(FOUND["m"]["fpar_weighted_SI"], rel=1e-9)
    weak, _, _ = efforts("mm", None, rated={"X": "1 mN", "O": "1 N m"})
    assert abs(weak["X"]) < 1e-4 and weak["O"] > 2.0
