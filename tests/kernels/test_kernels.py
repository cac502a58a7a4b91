"""Kernels against their float sources: every built-in model, random mechanisms, one state and many, trouble of all kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import LinkwrightError, UsageError
from linkwright.mechanics.formulations import compiled
from linkwright.mechanics.formulations.projection import Projection
from linkwright.mechanics.kinematics.motion import displaced
from linkwright.model import library
from linkwright.model.parameters import with_values
from linkwright.results.state import State
from tests.kernels.mechanisms import Case, apart, conditioning, cut_coordinates, float_forward, random_kernels, shipped
from tests.sweeps import every_model, sweep

EPS = 2.3e-16
# Where all formulations become machine code in every run: a chain, coupled loops, redundant ones, space. With the others the default
# one does, and `slm` and `kkt` are interpreted: the same programs without LLVM, which has nothing new to see in them. All: `make test-all`.
IN_ALL_FORMULATIONS = ("carpet-scraper", "five-bar", "parallelogram-middle", "rssr-7r")


@pytest.fixture(scope="module", params=every_model(*IN_ALL_FORMULATIONS, "excavator", "bennett", "rssr"))
def case(request: pytest.FixtureRequest) -> Case:
    return shipped(request.param)


@pytest.fixture(scope="module")
def interpreted(case: Case) -> lw.System:
    return lw.compile(case.system.description, engine="python")


@sweep("case", library.names(), now=["five-bar"], indirect=True)
def test_forward_and_inverse_are_the_float_paths(case: Case, interpreted: lw.System) -> None:
    s = case.system
    others = s if s.description.name in IN_ALL_FORMULATIONS else interpreted
    check_forward_and_inverse(case, {"auto": s.kernel("forward"), **{f: others.kernel("forward", f) for f in compiled() if f != "sslm"}})


@pytest.mark.slow
def test_all_formulations_as_machine_code(case: Case) -> None:
    check_forward_and_inverse(case, {f: case.system.kernel("forward", f) for f in compiled()})


def check_forward_and_inverse(case: Case, forwards: dict[str, Any]) -> None:
    """1e-12, multiplied by the conditioning where that is large (it bounds what any solver can promise)."""
    s, rng = case.system, np.random.default_rng(3)
    loads = s.kernel("loads")
    for x in case.states:
        st = State(compiled_of(s).skel, x.q, x.v, x.references)
        near = cut_coordinates(s, x.references)
        tau = rng.normal(size=s.tree.nv)
        right = s.forward(st, tau).solution
        allowed = 1e-12 * max(1.0, conditioning(right) * EPS / 1e-13)
        for name, kernel in forwards.items():
            found = kernel(x.q, x.v, tau, near=near)
            assert apart(found.a, right.a) < allowed, name
            assert apart(found.lam, right.lam) < allowed, name
        a = compiled_of(s).assembler.accelerations(st, None, list(s.kernels.drives))
        want = s.inverse(st, a, method="system")
        got = loads(x.q, x.v, a, near=near)
        wrenches = np.array([np.concatenate([want.wrench[j].moment, want.wrench[j].force]) for j in s.kernels.equations(()).joints])
        assert apart(got.u, [want.tau[d] for d in s.kernels.drives]) < 10 * allowed
        assert apart(got.lam, want.lam_all) < 10 * allowed
        assert apart(got.wrench, wrenches) < 10 * allowed
        if not s.kernels.plan.idle:  # there the inverse lets idle links spin as they like, whatever a says of them
            assert apart(s.kernel("reactions")(x.q, x.v, a, want.lam_all, near=near).wrench, wrenches) < 10 * allowed


def test_matrices_energies_and_places_are_the_float_paths(case: Case, interpreted: lw.System) -> None:
    """Interpreted: machine code of the same programs is compared with the interpreter elsewhere."""
    s = interpreted
    for x in case.states:
        st = State(compiled_of(s).skel, x.q, x.v, x.references)
        near = cut_coordinates(s, x.references)
        T = s.kernel("terms")(x.q, x.v, near=near)
        c = s.closure(st)
        for got, want in ((T.M, s.M(st)), (T.h, s.h(st)), (T.J, c.J), (T.k, c.k), (T.phi, c.phi)):
            assert apart(got, want) < 1e-12
        c = s.kernel("closure")(x.q, x.v, near=near)
        assert apart(c.J, s.closure(st).J) < 1e-13 and apart(c.k, s.closure(st).k) < 1e-12
        E = s.kernel("energy")(x.q, x.v, near=near)
        assert apart(E.kinetic, [st["energy.kinetic"]]) < 1e-13 and apart(E.potential, [st["energy.potential"]]) < 1e-12
        X = s.kernel("poses")(x.q)
        for i, n in enumerate(s.tree.nodes):
            pose = s.pose(st, n.body)
            assert apart(X.R[i], pose.R) < 1e-13 and apart(X.p[i], pose.p) < 1e-13
        points = s.kernel("points")(x.q, x.v)
        for i, name in enumerate(s.kernels.equations(()).points_named):
            assert apart(points.position[i], s.point(st, name)) < 1e-13


@sweep("case", library.names(), now=["bennett"], indirect=True)
def test_projection_and_driven_kinematics_close_the_loops(case: Case) -> None:
    s, rng = case.system, np.random.default_rng(5)
    project, driven = s.kernel("projection"), s.kernel("kinematics")
    x = case.states[1]
    near = cut_coordinates(s, x.references)
    q, v = (
        compiled_of(s).displaced(
            State(compiled_of(s).skel, x.q, x.v, x.references), 1e-3 * compiled_of(s).loops.columns * rng.normal(size=s.tree.nv)
        ),
        x.v,
    )
    for _ in range(6):
        q, v, *_ = project(q, v, near=near)
    st = State(compiled_of(s).skel, q, v, x.references)
    assert np.abs(s.closure(st).phi / compiled_of(s).loops.row_scale).max(initial=0.0) < 1e-13
    assert np.abs(s.closure(st).J @ v).max(initial=0.0) < 1e-11 * (1.0 + np.abs(v).max())
    st = State(compiled_of(s).skel, x.q, x.v, x.references)
    here = np.array([np.atleast_1d(st[name])[0] for name in s.kernels.drives])
    zero = np.zeros(len(here))
    guess = compiled_of(s).displaced(st, 1e-3 * compiled_of(s).loops.columns * rng.normal(size=s.tree.nv))
    for _ in range(8):
        guess, *_ = driven(guess, x.v, here, zero, zero, near=near)
    fast = rng.normal(size=len(here))
    v = driven(guess, x.v, here, fast, zero, near=near).v
    done = State(compiled_of(s).skel, guess, v, x.references)
    assert np.abs(s.closure(done).phi / compiled_of(s).loops.row_scale).max(initial=0.0) < 1e-12
    for name, position, speed in zip(s.kernels.drives, here, fast, strict=True):
        assert abs(np.atleast_1d(done[name])[0] - position) < 1e-10
        assert abs(np.atleast_1d(done[f"{name}.v"])[0] - speed) < 1e-9 * (1.0 + abs(speed))
    a = driven(guess, v, here, fast, zero, near=near).a
    assert np.abs(s.closure(done).J @ a + s.closure(done).k).max(initial=0.0) < 1e-8 * (1.0 + np.abs(a).max())


@sweep("name", ("five-bar", "3-rrr", "stewart", "delta"), now=1)
def test_settling_is_two_steps_of_projection(name: str) -> None:
    """The second step has the matrix of the first: it leaves the gap times the length of that, times a curvature (here below 100)."""
    case, rng = shipped(name), np.random.default_rng(6)
    k, x = case.system.kernels, case.states[1]
    away = displaced(k.loops.skel, x.q, 1e-4 * k.loops.columns * rng.normal(size=k.tree.nv))
    given = {"t": np.zeros(1), "tau": np.zeros(k.tree.nv), "near": cut_coordinates(case.system, x.references)}

    def called(kernel: str, q: np.ndarray, v: np.ndarray) -> Any:
        made = k.get(kernel)
        return made(q, v, **{b.name: given[b.name] for b in made.inputs if b.name in given})

    first = called("loop_projection", away, x.v)
    second = called("loop_projection", first.q, x.v)  # velocities are those that were given
    got = called("loop_settling", away, x.v)
    left = 100.0 * first.correction[0]
    assert got.residual[0] == pytest.approx(second.residual[0], rel=1e-3, abs=1e-15) and got.residual[0] > 1e-10
    assert np.abs(got.q - second.q).max() < left * got.residual[0]
    assert np.abs(got.v - second.v).max() < left * np.abs(second.v - x.v).max()
    st = State(compiled_of(case.system).skel, got.q, got.v, x.references)
    assert np.abs(case.system.closure(st).phi / k.loops.row_scale).max() < left * got.residual[0]
    assert np.abs(case.system.closure(st).J @ got.v / k.loops.row_scale).max() < left * second.rate_residual[0]


# Seeds of at most 16 velocities. With seed 7 below they have whatever the twenty small ones up to 42 have:
# every kind of joint in the tree (either way round) and cut, plane and space, rods, redundant loops. The rest is in `make test-all`.
SMALL = (2, 3, 9, 13, 14, 17, 18, 25, 28, 30, 33, 37, 42)
COMPILED = (13,)  # in every run; built-in models are as well


def check_random(seed: int, native: bool = True) -> None:
    """The default formulation natively, the others interpreted; very large mechanisms interpreted only."""
    kernels, x, rng = random_kernels(seed)
    nv = len(x.v)
    if nv > 30 or not native:
        kernels = replace(kernels, engine="python")
    tau = rng.normal(size=nv)
    right = float_forward(kernels.loops, x, tau)
    allowed = 1e-12 * max(1.0, conditioning(right) * EPS / 1e-13)
    near = cut_coordinates(kernels, x.references)
    for f in compiled() if nv <= 16 else ("sslm",):
        chosen = kernels if f == "sslm" else replace(kernels, engine="python", made={})  # built-in models have all of them natively
        found = chosen.get("forward", f)(x.q, x.v, tau, near=near)
        assert apart(found.a, right.a) < allowed, f
        assert apart(found.lam, right.lam) < allowed, f


@sweep("seed", SMALL, now=[18, 37, 42])
def test_random_mechanisms(seed: int) -> None:
    check_random(seed, native=seed in COMPILED)


@pytest.mark.slow
def test_a_body_that_floats_on_a_moving_one() -> None:
    """Seed 7 has a free joint in the middle of its tree: its axes are those of its carrier, not the world's."""
    kernels, _, _ = random_kernels(7)
    assert any(f and n.parent >= 0 for f, n in zip(kernels.loops.skel.floats, kernels.tree.nodes, strict=True))
    check_random(7)


@pytest.mark.slow
def test_a_loop_between_late_bodies_only() -> None:
    """Seed 213: an order of single rows takes rows that have nothing on the diagonal before bodies are eliminated."""
    check_random(213)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [n for n in range(220) if n not in COMPILED])
def test_more_random_mechanisms(seed: int) -> None:
    check_random(seed)


@sweep("name", ["carpet-scraper", "bennett", "3-rrr", "stewart"], now=2)
def test_one_and_many_agree_to_the_last_bit(name: str) -> None:
    s, states = shipped(name, 5)
    k = s.kernel("forward")
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(states), size=(3, 7))
    Q, V = (np.array([[getattr(states[i], x) for i in row] for row in picks]) for x in "qv")
    TAU = rng.normal(size=(7, s.tree.nv))  # broadcast over the first axis
    many = k(Q, V, TAU)
    assert many.a.shape == (3, 7, s.tree.nv)
    for i in np.ndindex(3, 7):
        one = k(Q[i], V[i], TAU[i[1]])
        assert (one.a == many.a[i]).all() and (one.lam == many.lam[i]).all()


def test_interpreter_gives_the_same_without_native_code() -> None:
    native, slow = lw.compile("carpet-scraper"), lw.compile("carpet-scraper", engine="python")
    st = native.start
    tau = np.ones(7)
    a, b = (s.kernel("forward") for s in (native, slow))
    assert a.native and not b.native and "interpreted" in repr(b)
    assert apart(a(st.q, st.v, tau).a, b(st.q, st.v, tau).a) < 1e-12
    Q = np.repeat(st.q[None], 3, 0)
    assert b(Q, st.v, tau).lam.shape == (3, 6)


def test_free_parameters_are_inputs() -> None:
    """Other values in the same code are the other mechanism; what was not freed is folded."""
    base = lw.load("wiper")
    names = ["crank.mass", "coupler.com.x", "coupler.C.x"]
    s = lw.compile(base, parameters=names)
    assert [p.name for p in s.parameters] == names
    k, tau = s.kernel("forward"), np.array([0.3, 0.1, -0.2])
    st = s.start
    assert apart(k(st.q, st.v, tau).a, lw.compile(base).kernel("forward")(st.q, st.v, tau).a) < 1e-12
    changed = np.array([p.value for p in s.parameters]) * [1.4, 0.9, 1.001]
    other = lw.System(with_values(compiled_of(s).described, s.parameters, changed), s.tree.cuts)
    there = other.assemble(q={"A": float(st["A"])}, v={"A": 3.0})
    right = other.forward(there, tau)
    for given in (changed, dict(zip(names, changed, strict=True))):
        assert apart(k(there.q, there.v, tau, parameters=given).a, right.a) < 1e-11
    assert apart(k(there.q, there.v, tau).a, right.a) > 1e-3
    sweep = k(there.q, there.v, tau, parameters=changed + np.zeros((5, 1)))
    assert sweep.a.shape == (5, 3) and apart(sweep.a[4], right.a) < 1e-11


def test_baumgarte_is_a_variant_of_the_kernel() -> None:
    s = lw.compile("four-bar")
    st = s.start
    q = st.q + 1e-5
    k = s.kernel("rates", baumgarte=True)
    alpha, beta = 200.0, 1e4
    a = k(q, st.v, np.zeros(3), [alpha, beta]).a
    state = s.state(q, st.v)
    want = -s.closure(state).k - alpha * s.closure(state).J @ st.v - beta * s.closure(state).phi
    # J a + k = -alpha J v - beta phi, in rows along other axes than the usual ones: the same on the loops, close to them to first order
    assert np.abs(s.closure(state).J @ a - want).max() < 1e-3 * np.abs(want).max()
    assert np.abs(s.closure(state).J @ s.kernel("rates")(q, st.v, np.zeros(3)).a - want).max() > 0.1 * np.abs(want).max()


def test_pivots_are_exposed_and_fall_where_a_loop_is_lost() -> None:
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    k = s.kernel("pivots")
    far, close = (s.assemble(q={"A": angle}, v={"A": 1.0}) for angle in (1.0, 1.5 * np.pi - 1e-4))
    healthy, lost = (k(x.q, x.v) for x in (far, close))
    assert (healthy.pivot / healthy.least > 1.0).all()
    assert (lost.pivot / lost.least < 1.0).any()
    # the loop's pivot is J M^-1 J', which vanishes with the square of the distance to the singular position
    closer = s.assemble(q={"A": 1.5 * np.pi - 1e-5}, v={"A": 1.0})
    assert lost.pivot[-1] / k(closer.q, closer.v).pivot[-1] == pytest.approx(100.0, rel=1e-3)


def test_a_duplicated_loop_has_multipliers_of_least_reactions() -> None:
    """The case in which elimination alone gives right accelerations and wildly wrong multipliers."""
    kernels, x, rng = random_kernels(0)
    assert kernels.plan.keep is not None
    tau = rng.normal(size=len(x.v))
    right = float_forward(kernels.loops, x, tau)
    found = kernels.get("forward")(x.q, x.v, tau)
    assert not right.unique.all()
    assert apart(found.lam, right.lam) < 1e-9


def test_singular_states_go_to_the_rank_revealing_path() -> None:
    """Slider-crank at 3 pi/2 moving along its branch: a = [0.2, -0.4] is the limit, the row itself is lost there."""
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    k = s.kernel("forward")
    st = s.assemble(q={"A": 1.5 * np.pi - 1e-9}, v={"A": 1.0})
    want = s.forward(st, np.array([1.0, 0.0]))
    found = k(st.q, st.v, np.array([1.0, 0.0]))
    assert apart(found.a, want.a) < 1e-9
    many = k(np.array([st.q, s.start.q]), np.array([st.v, s.start.v]), np.array([1.0, 0.0]))
    assert apart(many.a[0], want.a) < 1e-9
    assert apart(many.a[1], s.forward(s.start, np.array([1.0, 0.0])).a) < 1e-12


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused_by_name(bad: float) -> None:
    s = lw.compile("carpet-scraper")
    st = s.start
    q = st.q.copy()
    q[3] = bad
    with pytest.raises(UsageError, match=s.names.q[3]):
        s.kernel("forward")(q, st.v, np.zeros(7))
    both = s.kernel("forward")(np.array([st.q, q]), st.v, np.zeros(7))
    assert both.ok.tolist() == [True, False] and s.names.q[3] in both.why[1] and np.isnan(both.a[1]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.kernel("foward"), "forward"),
        (lambda s: s.kernel("forward", "nullspce"), ", ".join(compiled())),
        (lambda s: s.kernel("forward", "nullspace"), rf"Kernels have {', '.join(compiled())}. s\.forward\(st, formulation='nullspace'\)"),
        (lambda s: s.kernel("forward", Projection()), "'projection' is not compiled"),
        (lambda s: s.kernel("rates", "projection", baumgarte=True), r"s\.simulate\(st, 1, formulation='projection'\)"),
        (lambda s: s.kernel("forward")(np.zeros(6), np.zeros(7), np.zeros(7)), r"shape \(6,\)"),
        (lambda s: s.kernel("forward")(np.zeros(7), np.zeros(7)), "tau"),
        (lambda s: s.kernel("forward")(np.zeros(7), np.zeros(7), "text"), "numbers"),
        (lambda s: s.kernel("forward")(np.zeros(7), np.zeros(7), np.zeros(7), speed=1), "speed"),
        (lambda s: s.kernel("forward")(np.zeros(7), np.zeros(7), np.array(["a"] * 7)), "numbers"),
        (lambda s: s.kernel("forward")(*[np.zeros(7)] * 4), "4 arrays"),
        (lambda s: s.kernel("energy", "sslm"), "formulation"),
        (lambda s: lw.compile("wiper", parameters=["crank.mas"]), "crank.mass"),
        (lambda s: lw.compile("wiper", engine="gpu"), "python"),
    ],
)
def test_wrong_calls_say_what_is_allowed(call: Any, words: str) -> None:
    with pytest.raises(LinkwrightError, match=words):
        call(lw.compile("carpet-scraper"))


def test_massless_and_zero_length_links() -> None:
    """A massless coupler and a pin offset of zero length: finite, equal to the float path."""
    m = lw.load(
        {
            "plane": "xy",
            "gravity": [0, -9.81],
            "drawing": {"A": [0, 0], "B": [0.1, 0.2], "C": [0.8, 0.5], "D": [1, 0], "E": [0.1, 0.2]},
            "bodies": {
                "ground": {"pins": ["A", "D"]},
                "crank": {"pins": ["A", "B"], "mass": 0.3},
                "coupler": {"pins": ["B", "C"], "mass": 0},
                "rocker": {"pins": ["D", "C"], "mass": 0.8},
            },
            "drive": {"A": "45 rpm"},
        }
    )
    s = lw.compile(m)
    st = s.start
    tau = np.array([0.5, 0.0, 0.0])
    want = s.forward(st, tau)
    found = s.kernel("forward")(st.q, st.v, tau)
    assert apart(found.a, want.a) < 1e-10 and np.isfinite(found.lam).all()
