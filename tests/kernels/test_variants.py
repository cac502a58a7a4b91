"""Variants: given motions, rotors, loops left out, powers. Kernels against the float path, and both against mechanics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.kernels.kernels import Variant, armature_of
from linkwright.kernels.planning import placed, samples
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.formulations.sslm import Sslm
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion, qdot
from linkwright.model import library as models
from linkwright.model.curves.polynomial import Parabola
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused
from tests.sweeps import sweep

STEP = 1e-30

# A four-bar with everything that stores, feeds and loses energy; a cylinder and a rod besides.
WORKSHOP: dict[str, Any] = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.3, 0.4], "C": [1.2, 0.9], "D": [1.0, 0], "E": [0.6, 0.9], "F": [0.3, -0.2]},
    "bodies": {
        "ground": {"pins": ["A", "D"], "points": ["F"]},
        "crank": {"pins": ["A", "B"], "mass": 2},
        "coupler": {"pins": ["B", "C"], "points": ["E"], "mass": 3},
        "rocker": {"pins": ["D", "C"], "mass": 2.5},
    },
    "springs": {
        "s": {"joint": "A", "stiffness": 5, "free_position": 0.2},
        "c": {"between": ["ground.F", "coupler.E"], "stiffness": 40, "free_length": 0.5},
    },
    "dampers": {"d": {"joint": "B", "coefficient": 0.7}, "e": {"between": ["ground.F", "coupler.E"], "coefficient": 3}},
    "friction": {"A": {"coulomb": 0.4, "viscous": 0.2}},
    "loads": {"l": {"on": "coupler.E", "force": ["3 + 2*A.v", "-4*sin(3*t)"]}},
    "cylinders": {"z": {"between": ["ground.F", "coupler.E"], "force": 12}},
    "drive": {"A": "60 rpm"},
}


def given(k, s: Instant, acceleration: Any) -> dict[str, np.ndarray]:
    """Inputs of the drivers where the sample has them."""
    if not k.chosen.drivers:
        return {}
    extra = placed(k.equations(), s).loops.constraints[len(k.tree.loops) :]
    values = np.array([c.law(0.0)[:2] for c in extra], dtype=float).reshape(-1, 2)
    return {"drive": values[:, 0], "speed": values[:, 1], "acceleration": np.asarray(acceleration, dtype=float)}


def reference(k, s: Instant, tau, law: dict[str, np.ndarray], formulation="kkt"):
    """Forward dynamics by the float path on the same loops with drivers handed in."""
    d, loops = k.tree.description, k.loops
    rows = [driven(d, n, Parabola(*x)) for n, x in zip(k.chosen.drivers, zip(*law.values(), strict=True), strict=bool(law))]
    at = Instant(loops.skel, s.q, s.v, 0.3, s.references)
    pushes = [w for f in forces.of_description(d) for w in f.wrenches(at)]
    return forward(terms(loops.with_(rows), s.q, s.v, 0.3, s.references, pushes, armature=k.chosen.armature), tau, formulation)


def cut_row(k, s: Instant) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(np.asarray(s.references[n], dtype=float) for n in k.tree.cuts)])


def inputs(k, s: Instant, tau, law) -> dict[str, Any]:
    return {"q": s.q, "v": s.v, "tau": tau, "t": np.array([0.3]), "near": cut_row(k, s), **law}


def close(x, y, tolerance=1e-9):
    """Against the largest entry: eliminations of different order differ by round-off times condition, far below this."""
    np.testing.assert_allclose(x, y, atol=tolerance * (1.0 + np.abs(y).max(initial=0.0)), rtol=0)


CASES = {
    "tree joint": ("four-bar", {"drivers": ("A",)}),
    "cut joint": (WORKSHOP, {"drivers": ("C",)}),
    "cylinder": (WORKSHOP, {"drivers": ("z",), "armature": (0.3, 0.0, 0.1)}),
    "two of three": ("3-rrr", {"drivers": ("J1", "J3")}),
    "in space, rotor": ("rssr", {"drivers": (), "armature": "first"}),
    "redundant rows": ("parallelogram-middle", {"drivers": ("A",), "armature": "first"}),
    "without a rod": ("3-rrr-motors", {"drivers": ("A1",), "without": ("r2",)}),
    "without a cut": ("carpet-scraper", {"without": "second", "drivers": ("J1",), "armature": "first"}),
}


def variant(model, how, **compile_options):
    s = lw.compile(lw.load(model), **compile_options)
    how = dict(how)
    if how.get("armature") == "first":
        how["armature"] = (0.4, *[0.0] * (s.tree.nv - 1))
    if how.get("without") == "second":
        how["without"] = (s.tree.loops[1].name,)
    return s, s.kernels.variant(Variant(**how))


@sweep("case", CASES, now=["tree joint", "cylinder", "redundant rows", "without a rod"])
def test_kernels_of_variants_are_the_float_path(case, rng):
    s, k = variant(*CASES[case], **({"cuts": ["C"]} if case == "cut joint" else {}))
    states = samples(k.loops, s.start.q, dict(s.start.references), 3, seed=3)
    for st in states[1:]:
        tau, law = rng.normal(size=k.tree.nv), given(k, st, rng.normal(size=len(k.chosen.drivers)))
        right = reference(k, st, tau, law, "auto")
        found = k.get("forward")(**inputs(k, st, tau, law))
        close(found.a, right.a)
        close(found.lam, right.lam)
        assert len(found.lam) == k.sizes.nc == len(k.entries["lam"]) == k.tree.nc + len(k.chosen.drivers)
        answered = k.fallbacks["forward"](inputs(k, st, tau, law))
        close(answered["a"], right.a)
        close(answered["lam"], right.lam)
    T = right.terms
    close(k.get("terms")(**{n: x for n, x in inputs(k, st, tau, law).items() if n != "tau"}).M, T.M, 1e-12)


def test_a_driven_four_bar_turns_as_kinematics_says_with_the_torque_of_the_inverse():
    s = lw.compile(lw.load("four-bar"))
    run = mechanism_of(s).cycle("A", steps=12, speed=3.0)
    f = s.kernels.variant(Variant(drivers=("A",))).get("forward")
    for i in range(0, 12, 3):
        st = run.state(i)
        found = f(st.q, st.v, np.zeros(3), st["A"], 3.0, 0.0)
        a = compiled_of(s).assembler.accelerations(st, {"A": 0.0}, ["A"])
        close(found.a, a)
        close(found.lam[-1], s.inverse(st, a).u[0])


@pytest.mark.slow
def test_a_rotor_is_a_body_that_turns_with_the_joint(rng):
    """On a joint to ground in a plane the rotor's speed is the body's: the same as more inertia of that body."""
    s = lw.compile(lw.load("four-bar"), parameters=["crank.inertia"])
    k = s.kernels.variant(Variant(armature=armature_of(compiled_of(s).loops.skel, {"A": 0.5})))
    heavy = s.kernels.defaults["parameters"] + 0.5
    for st in samples(compiled_of(s).loops, s.start.q, dict(s.start.references), 3, seed=5)[1:]:
        tau, off = rng.normal(size=3), st.q + 1e-4 * rng.normal(size=3)
        for name, x in (("forward", (st.q, st.v, tau)), ("projection", (off, st.v + 0.1)), ("energy", (st.q, st.v))):
            for one, other in zip(k.get(name)(*x), s.kernels.get(name)(*x, parameters=heavy), strict=True):
                close(one, other, 1e-12)
        plain = s.kernels.get("energy")(st.q, st.v).kinetic
        assert k.get("energy")(st.q, st.v).kinetic - plain == pytest.approx(0.25 * st.v[0] ** 2)


def test_rotors_count_in_the_recursion_too(rng):
    s, k = variant("carpet-scraper", {"armature": "first"})
    st = samples(k.loops, s.start.q, dict(s.start.references), 2, seed=6)[1]
    T = k.equations().joint_axis_terms(st.q, st.v, np.zeros(1), cut_row(k, st))
    tau = rng.normal(size=T.nv)
    close(Sslm(recursion=True)(T, tau).a, Sslm(recursion=False)(T, tau).a)


@pytest.mark.parametrize(
    "tie",
    [{"gears": {"tie": {"joints": ["M", "R"], "radii": [0.04, 0.06]}}}, {"couplings": {"tie": {"from": "M", "to": "R", "ratio": -2 / 3}}}],
)
def test_two_balanced_rotors_whose_motion_is_given_leave_no_row_out(tie):
    """No mass is off its axis, so nothing but the given motion couples the rows."""
    wheel = {"mass": 1, "inertia": 0.3}
    model = {
        "plane": "xy", "drawing": {"M": [0, 0], "R": [0.1, 0]}, "drive": {"M": {"position": "1 rad * sin(2 rad/s * t)"}}, **tie,
        "bodies": {"ground": {"pins": ["M", "R"]}, "a": {"pins": ["M"], "com": "M", **wheel}, "b": {"pins": ["R"], "com": "R", **wheel}},
    }  # fmt: skip
    run = lw.load(model).simulate(1.0)
    np.testing.assert_allclose(run["R.v"], -4 / 3 * np.cos(2.0 * run.t), atol=1e-12)
    torque = -(0.3 + 0.3 * 4 / 9) * 4.0 * np.sin(2.0 * run.t)  # both inertias at the first wheel
    np.testing.assert_allclose(run["M.torque"], torque, atol=1e-11)


def test_without_a_rod_it_is_the_mechanism_that_never_had_one(rng):
    text = yaml.safe_load(models.path("3-rrr-motors").read_text())
    full = lw.compile(lw.load("3-rrr-motors"))
    k = full.kernels.variant(Variant(without=("r2",)))
    del text["rods"]["r2"]
    less = lw.compile(lw.load(text))
    assert k.entries["lam"] == less.kernels.entries["lam"] == ["r1.length", "r3.length"]
    for st in samples(compiled_of(less).loops, full.start.q, dict(full.start.references), 3, seed=2):
        tau = rng.normal(size=6)
        for one, other in zip(k.get("forward")(st.q, st.v, tau), less.kernels.get("forward")(st.q, st.v, tau), strict=True):
            close(one, other)
    assert k.model_key != full.kernels.model_key, "compiled code on disk must not be confused"


def test_without_its_cut_joint_a_four_bar_is_an_open_tree(rng):
    s = lw.compile(lw.load("four-bar"))
    k = s.kernels.variant(Variant(without=tuple(s.tree.cuts)))
    q, v, tau = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
    found = k.get("forward")(q, v, tau)
    close(found.a, dynamics.forward_tree(compiled_of(s).skel, motion(compiled_of(s).skel, q, v), tau))
    assert k.sizes.nc == 0 and found.lam.shape == (0,)


# -------------------------------------------------------------------- powers


def energy_rate(k, s: Instant, a, near) -> float:
    """dE/dt along the motion by a complex step of the float path."""
    eq = k.equations()
    E = eq.energy(s.q + 1j * STEP * qdot(k.loops.skel, s.q, s.v), s.v + 1j * STEP * a, np.array([0.3]), near)
    return float((E["kinetic"] + E["potential"])[0].imag / STEP)


POWERS = {
    "boot-lid": ("boot-lid", {}),
    "punch-press driven": ("punch-press", {"drivers": ("E",)}),
    "everything": (WORKSHOP, {"armature": (0.3, 0.0, 0.1)}),
    "everything, cylinder driven": (WORKSHOP, {"drivers": ("z",)}),
    "in space": ("rssr", {"armature": "first"}),
}


@sweep("case", POWERS, now=["everything, cylinder driven", "in space"])
def test_power_in_is_stored_or_lost(case, rng):
    model, how = POWERS[case]
    s, k = variant(model, {**how, "power": True})
    signs = np.zeros(3)
    for st in samples(k.loops, s.start.q, dict(s.start.references), 4, seed=9)[1:]:
        st = Instant(st.skel, st.q, 4.0 * st.v, references=st.references)
        tau, law = rng.normal(size=k.tree.nv), given(k, st, rng.normal(size=len(k.chosen.drivers)))
        x = inputs(k, st, tau, law)
        found = k.get("loop_rates")(**{b.name: x[b.name] for b in k.get("loop_rates").inputs})
        put_in, loads, lost = found.power
        rate = energy_rate(k, st, found.a, x["near"])
        size = abs(rate) + np.abs(found.power).sum() + np.abs(found.a).max() * np.abs(tau).max()
        assert put_in + loads - lost == pytest.approx(rate, abs=1e-9 * size)
        close(k.fallbacks["loop_rates"](x)["power"], found.power)
        assert lost >= 0.0
        signs += np.abs(found.power) > 1e-6 * size
    wanted = {"boot-lid": [3, 0, 0], "punch-press driven": [3, 0, 0], "in space": [3, 0, 0]}.get(case, [3, 3, 3])
    assert np.all(signs >= wanted), "each kind of power that should be there is there"


def test_loads_put_in_their_power():
    """The sheet of the punch press pushes against the ram: force times speed, nothing else."""
    s, k = variant("punch-press", {"drivers": ("E",), "power": True})
    st = s.assemble({"E": s.start["E"] - 0.6}, {"E": 6.0})
    law = {"drive": st["E"], "speed": 6.0, "acceleration": 0.0}
    r = k.get("loop_rates")(st.q, st.v, np.zeros(k.tree.nv), **law, near=cut_row(k, st.instant))
    push = sum(w @ motion(compiled_of(s).skel, st.q, st.v).V[n] for n, w in compiled_of(s).applied(st))
    assert r.power[1] == pytest.approx(push, rel=1e-12)
    assert [b.name for b in k.get("loop_rates").outputs] == ["qdot", "a", "power"]


# -------------------------------------------------------------------- kernels of time loops


def test_kernels_of_time_loops_read_one_row_in_the_agreed_order():
    s, k = variant(WORKSHOP, {"drivers": ("A",), "power": True}, parameters=["crank.mass"], cuts=["C"])
    rates, project = k.get("loop_rates", baumgarte=True), k.get("loop_projection")
    order = ["q", "v", "t", "tau", "drive", "speed", "acceleration", "gains", "parameters", "near"]
    assert [b.name for b in rates.inputs] == [n for n in order if n != "near"]
    assert [b.name for b in project.inputs] == [n for n in order if n not in ("near", "gains")]
    assert k.get("loop_projection") is s.kernels.variant(Variant(drivers=("A",))).get("loop_projection")


def test_projection_puts_a_driven_mechanism_where_the_driver_is():
    s, k = variant("four-bar", {"drivers": ("A",)})
    law = {"drive": np.array([1.02]), "speed": np.array([2.0]), "acceleration": np.zeros(1)}
    st = s.assemble({"A": 1.0}, {"A": 1.5})
    q, v = st.q, st.v
    for _ in range(4):
        found = k.get("loop_projection")(q, v, np.zeros(3), **law)
        q, v = found.q, found.v
    right = s.assemble({"A": 1.02}, {"A": 2.0})
    close(q, right.q, 1e-12)
    close(v, right.v, 1e-12)
    answered = k.fallbacks["loop_projection"]({"q": st.q, "v": st.v, "t": np.zeros(1), **law})
    close(answered["q"], right.q, 1e-10)
    close(answered["v"], right.v, 1e-10)


def test_derivatives_of_a_driven_mechanism(rng):
    s, k = variant("3-rrr", {"drivers": ("J1",), "armature": "first"})
    st = samples(k.loops, s.start.q, dict(s.start.references), 2, seed=4)[1]
    tau, law, h = rng.normal(size=k.tree.nv), given(k, st, [0.7]), 1e-6
    found = k.get("derivatives")(st.q, st.v, tau, *law.values())
    for j in range(k.tree.nv):
        e = h * np.eye(k.tree.nv)[j]
        for at, d in ((((st.q + e, st.v), (st.q - e, st.v)), found.a_q), (((st.q, st.v + e), (st.q, st.v - e)), found.a_v)):
            plus, minus = (k.get("forward")(*x, tau, *law.values()).a for x in at)
            close(d[:, j], (plus - minus) / (2 * h), 1e-6)  # central differences: h^2 and round-off / h


# -------------------------------------------------------------------- what cannot be


def test_wrong_variants_are_explained():
    s = lw.compile(lw.load("four-bar"))
    wrong = {
        "degree of freedom": Variant(drivers=("A", "D")),
        "no joint or cylinder 'Q'": Variant(drivers=("Q",)),
        "closes no loop": Variant(without=("A",)),
        "one inertia for each": Variant(armature=(1.0,)),
        "not negative": Variant(armature=(-1.0, 0.0, 0.0)),
        "twice": Variant(drivers=("A", "A")),
    }
    for words, v in wrong.items():
        with pytest.raises(UsageError, match=words):
            s.kernels.variant(v)
    with refused(UsageError, name="C"):
        armature_of(compiled_of(s).loops.skel, {s.tree.cuts[0]: 1.0})
    k = s.kernels.variant(Variant(drivers=("A",)))
    with refused(UsageError, name="inverse"):
        k.get("inverse")
    with refused(UsageError, name="variant"):
        k.variant(Variant(power=True))
    assert s.kernels.variant(Variant()) is s.kernels and s.kernels.variant(replace(k.chosen)) is k
