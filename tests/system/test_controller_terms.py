"""What a controller of the whole body reads: contacts, poses, selection, cones and limits, from one native call and in C.

Truth: forward dynamics with wrenches at the contacts, poses of states, Pinocchio, differences; cones by their geometry.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qpsolvers import solve_qp

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.kinematics.motion import qdot
from tests import ROOT
from tests.kernels.test_c_sources import TYPES, WARNINGS
from tests.mechanics.closing.test_idle import ball_rods
from tests.mechanics.closing.test_idle import moving as rods_moving
from tests.refusals import refused
from tests.rings.exchange.writing import states
from tests.sweeps import sweep
from tests.system.test_named_terms import LEG, acceleration, by_hand, jacobian, moving

HEEL, TOE = [-0.05, 0.01, -0.24], [0.08, 0.0, -0.26]
POINTS = {"heel": ("shank", HEEL), "toe": ("shank", TOE)}


@pytest.fixture(scope="module")
def leg() -> lw.System:
    return lw.load(LEG).system


def arm(s: lw.System, st: lw.State, body: str, at: Any) -> np.ndarray:
    return s.pose(st, body).R @ np.asarray(at, dtype=float)


def test_added_points_move_with_their_body(leg: lw.System) -> None:
    """Against Pinocchio's body Jacobian and acceleration, moved by hand to the point; round-off of some ten products."""
    st = moving(leg, 3)
    h = by_hand(leg, st)
    x = leg.named_terms("heel", "coordinates", points=POINTS, contacts=["toe", "heel"])(st)
    for name, at in (("toe", TOE), ("heel", HEEL)):
        J, a = jacobian(h, "shank"), acceleration(h, "shank")
        r, w = arm(leg, st, "shank", at), jacobian(h, "shank")[:3] @ st.v
        rows = [x.Jc.rows.index(f"{name}.{k}") for k in "xyz"]
        np.testing.assert_allclose(x.Jc[rows], J[3:] + np.cross(J[:3].T, r).T, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(x.Jc_rate[rows], a[3:] + np.cross(a[:3], r) + np.cross(w, np.cross(w, r)), rtol=0.0, atol=1e-11)
    np.testing.assert_array_equal(x.J, x.Jc[3:])
    assert x.tasks == ("heel.x", "heel.y", "heel.z") and x.J.rows == x.tasks


def test_poses_are_those_of_the_state(leg: lw.System) -> None:
    st = moving(leg, 1)
    x = leg.named_terms(["shank", "shank.F", "trunk.wx", "com", "heel in trunk"], points=POINTS, contacts="toe")(st)
    trunk, shank = leg.pose(st, "trunk"), leg.pose(st, "shank")
    near = {"rtol": 0.0, "atol": 1e-14}
    np.testing.assert_allclose(x.pose("shank").R, shank.R, **near)
    np.testing.assert_allclose(x.pose("shank").p, shank.p, **near)
    np.testing.assert_allclose(x.pose("shank.F").p, leg.point(st, "shank.F"), **near)
    np.testing.assert_allclose(x.pose("toe").p, shank.point(np.array(TOE)), **near)
    np.testing.assert_allclose(x.pose("heel in trunk").p, trunk.R.T @ (shank.point(np.array(HEEL)) - trunk.p), **near)
    np.testing.assert_allclose(x.pose("heel in trunk").R, trunk.R.T @ shank.R, **near)
    np.testing.assert_array_equal(x.pose("com").p, x.com)
    with refused(lw.UsageError, name="heal"):
        x.pose("heal")


def test_forces_at_contacts_accelerate_as_forward_dynamics_says(leg: lw.System) -> None:
    """M a + h = selection u + Jc' f and W against a wrench on the body; 1e-10: condition of the leg's inertia (1e4) times round-off."""
    st, rng = moving(leg, 2), np.random.default_rng(2)
    terms = leg.named_terms("trunk", points=POINTS, contacts=["heel", "toe"])
    x = terms(st)
    f, u = rng.normal(size=6), rng.normal(size=2)
    wrench = np.zeros(6)
    for at, force in ((HEEL, f[:3]), (TOE, f[3:])):
        wrench += np.array([*np.cross(arm(leg, st, "shank", at), force), *force])
    a = np.linalg.solve(x.M, x.selection @ u + x.Jc.T @ f - x.h)
    efforts = dict(zip(terms.drives, map(float, u), strict=True))
    truth = [leg.forward(st, efforts, wrench=w) for w in ({"shank": wrench}, None)]
    np.testing.assert_allclose(a, [truth[0][f"{n}.a"] for n in terms.by], rtol=1e-10, atol=1e-10)
    pushed = x.Jc @ (np.asarray([[t[f"{n}.a"] for n in terms.by] for t in truth]).T @ [1.0, -1.0])
    np.testing.assert_allclose(x.W @ f, pushed, rtol=0.0, atol=1e-10 * np.abs(pushed).max())
    np.testing.assert_allclose(x.inverse_inertia @ x.M, np.eye(8), atol=1e-11)
    assert terms.base == ("base.wx", "base.wy", "base.wz", "base.x", "base.y", "base.z") and terms.drives == ("hip", "crank")


def test_a_contact_on_a_rod_turns_it_by_its_spin() -> None:
    """A force beside the line of a rod between balls also spins it: W against the acceleration of forward dynamics there."""
    s, st = rods_moving(ball_rods.rssr(np.random.default_rng(2)), ["D"])
    at = np.array([0.2, 0.3, 0.1])
    x = s.named_terms(points={"side": ("rod", at.tolist())}, contacts="side")(st)
    f = np.array([0.3, -1.0, 2.0])
    every = s.named_terms("side", "coordinates", points={"side": ("rod", at.tolist())})(st)
    wrench = {"rod": [*np.cross(arm(s, st, "rod", at), f), *f]}
    moved = every.J @ (s.forward(st, wrench=wrench).a - s.forward(st).a)
    np.testing.assert_allclose(x.W @ f, moved, rtol=0.0, atol=1e-9 * np.abs(moved).max())  # inertia of the spin: condition 1e5


@sweep("name", ["excavator", "stewart", "ankle", "five-bar", "floating-leg"], now=["excavator", "floating-leg"])
def test_efforts_of_drives_enter_by_selection(name: str) -> None:
    """Also by columns that are no drives, against forward dynamics."""
    s = lw.load(LEG).system if name == "floating-leg" else lw.compile(name)
    drives = compiled_of(s).drive_names
    st = s.assemble(v={n: 0.1 * (i + 1) for i, n in enumerate(drives)})
    for by in ("independent", ["base", "hip", "knee"]) if name == "floating-leg" else ("independent",):
        terms = s.named_terms((), by)
        x, u = terms(st), np.linspace(1.0, 2.0, len(terms.drives))
        if not all(n in s.names.v for n in terms.by):
            truth = np.array(x.N @ np.linalg.solve(x.M, x.selection @ u - x.h) + x.N_rate)
            found = s.forward(st, dict(zip(terms.drives, map(float, u), strict=True))).a
        else:
            truth = np.linalg.solve(x.M, x.selection @ u - x.h)
            found = np.array([s.forward(st, dict(zip(terms.drives, map(float, u), strict=True)))[f"{n}.a"] for n in terms.by])
        np.testing.assert_allclose(found, truth, rtol=0.0, atol=1e-9 * np.abs(truth).max())


def test_contacts_of_the_model_have_their_own_rows() -> None:
    """Grip of two jaws: gaps, W by forward dynamics with the friction force as wrenches on both bodies; rates by a complex step."""
    s = lw.compile("gripper")
    st = s.assemble(v={n: 0.2 for n in compiled_of(s).drive_names})
    terms = s.named_terms((), contacts="grip")
    x, kernel = terms(st), s.kernel("contact_terms")(st.q, st.v)
    assert terms.contacts == tuple(f"grip.jaw_{side}.{i}" for side in ("left", "right") for i in (1, 2))
    assert x.Jc.rows[:3] == ("grip.jaw_left.1.n", "grip.jaw_left.1.t", "grip.jaw_left.2.n")
    np.testing.assert_allclose(x.gap, kernel.g, atol=1e-15)
    np.testing.assert_allclose(x.Jc, kernel.J @ x.N, rtol=0.0, atol=1e-13)
    h = 1e-5
    ahead, behind = (terms(compiled_of(s).displaced(st, side * h * st.v)).gap for side in (1.0, -1.0))
    np.testing.assert_allclose((ahead - behind) / (2 * h), (x.Jc @ x.speed)[::2], atol=1e-8)  # differences
    np.testing.assert_allclose(x.W, x.Jc @ np.linalg.inv(x.M) @ x.Jc.T, rtol=0.0, atol=1e-10 * np.abs(x.W).max())
    assert terms.cones().mu == dict.fromkeys(terms.contacts, s.description.contacts[0].mu)
    assert x.normal.rows == terms.contacts


@sweep("seed", range(4), now=1)
def test_ranks_and_elimination_agree(seed: int) -> None:
    """The path of singular positions on floats, at states that both can answer; 1e-8: conditioning of random loops."""
    s, st = states.random_loops(320 + seed, ("spherical",), 8)
    body = s.description.bodies[-1].name
    terms = s.named_terms([body, "com"], points={"tip": (body, [0.1, 0.2, -0.1])}, contacts="tip")
    x = terms(st)
    near = {"near": compiled_of(s).packed_references(st)}
    slow = terms.anyway(np.asarray(st.q), np.asarray(st.v), near, 2)
    assert x._row is None and x.W is not None and x._row is not None  # one native call answers all below
    for name, values in slow.items():
        size = 1.0 + np.abs(values).max(initial=0.0)
        np.testing.assert_allclose(x._get(name), values, rtol=0.0, atol=1e-8 * size, err_msg=name)


def test_one_call_computes_everything_and_batches_agree(leg: lw.System) -> None:
    sts = [moving(leg, i) for i in range(3)]
    terms = leg.named_terms(["trunk", "com"], points=POINTS, contacts=["heel", "toe"])
    _ = terms(sts[0]).M
    one = [terms(st) for st in sts]
    assert all(x._row is not None for x in one)  # computed with the call
    many = terms(np.array([st.q for st in sts]), np.array([st.v for st in sts]))
    for name in ("M", "h", "J", "rate", "Jc", "Jc_rate", "W", "selection", "inverse_inertia"):
        for i, x in enumerate(one):
            size = 1.0 + np.abs(getattr(x, name)).max()
            np.testing.assert_allclose(getattr(many, name)[i], getattr(x, name), rtol=0.0, atol=1e-12 * size)
    assert many.pose("heel").p.shape == (3, 3) and many.ok.all()
    first = np.asarray(one[0].M).copy()
    _ = terms(sts[1])
    np.testing.assert_array_equal(one[0].M, first)  # results do not share memory with later calls


def test_rates_of_contacts_are_derivatives(leg: lw.System) -> None:
    """Jc_rate against the complex step of Jc v along the motion at constant v: exact."""
    st = moving(leg)
    terms = leg.named_terms((), "coordinates", points=POINTS, contacts=["heel"])
    eq, core = terms.equations, compiled_of(leg)
    q = st.q + 1e-30j * qdot(core.skel, st.q, st.v)
    T = eq.task_terms(q, st.v, core.packed_references(st), tasks=terms.places["heel"])["T"]
    np.testing.assert_allclose(np.imag(T @ st.v) / 1e-30, terms(st).Jc_rate, rtol=0.0, atol=1e-12)


# -------------------------------------------------------------------- cones and limits


@pytest.mark.parametrize(("normal", "sides"), [((0, 0, 1), 4), ((0.3, -0.2, 0.8), 3), ((0, 1, 0), 8)])
def test_a_pyramid_lies_in_its_cone_and_touches_it_at_its_edges(leg: lw.System, normal: Any, sides: int) -> None:
    cones = leg.named_terms(points=POINTS, contacts=["heel", "toe"]).cones({"heel": 0.7, "toe": 0.3}, {"heel": normal}, sides)
    n = np.asarray(normal) / np.linalg.norm(normal)
    rng = np.random.default_rng(0)
    f = np.concatenate([n + 0.9 * rng.normal(size=(2000, 3)), np.tile([0, 0, 1.0], (2000, 1))], axis=1)
    inside = (f @ cones.rows.T <= 0.0).all(axis=1)
    share = f[:, :3] @ n
    exact = np.linalg.norm(f[:, :3] - share[:, None] * n, axis=1) - 0.7 * share
    assert 50 < inside.sum() < 1950 and (exact[inside] <= 1e-12).all()
    rows = np.asarray(cones.rows)[:sides, :3]
    for i in range(sides):  # neighbors meet in an edge
        edge = np.cross(rows[i], rows[(i + 1) % sides])
        edge *= np.sign(edge @ n) / np.linalg.norm(edge)
        assert abs(np.linalg.norm(edge - (edge @ n) * n) - 0.7 * (edge @ n)) < 1e-12
    np.testing.assert_allclose(cones.excess(f[0]), [exact[0], -0.3], atol=1e-12)
    assert cones.rows.columns == ("heel.x", "heel.y", "heel.z", "toe.x", "toe.y", "toe.z") and cones.rows.rows[0] == "heel.0"


def test_without_friction_a_contact_only_pushes() -> None:
    s = lw.compile("gripper")
    cones = s.named_terms((), contacts="grip").cones(0.0)
    push = np.array([1.0, 0.0] * 4)
    assert (cones.rows @ push).max() <= 0.0 and (cones.rows @ -push).max() == 1.0 and (cones.rows @ (push + np.eye(8)[1])).max() > 0.0


def test_limits_are_those_of_stops_drives_and_motors() -> None:
    m = lw.load(
        {
            "units": ["m", "kg", "rad"],
            "gravity": [0, 0, -9.81],
            "bodies": {
                "ground": {"points": {"A": [0, 0, 0]}},
                "arm": {"points": {"A": [0, 0, 0], "B": [1, 0, 0]}, "mass": 1, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1]},
                "hand": {"points": {"B": [0, 0, 0]}, "mass": 1, "com": [0.2, 0, 0], "inertia": [0.01, 0.1, 0.1]},
            },
            "joints": {
                "A": {"type": "revolute", "connect": ["ground.A", "arm.A"], "axis": [0, 1, 0]},
                "B": {"type": "revolute", "connect": ["arm.B", "hand.B"], "axis": [0, 1, 0]},
            },
            "stops": {"end": {"joint": "A", "range": [-0.5, 1.5]}, "bumper": {"joint": "A", "max": 1.2, "stiffness": 1000}},
            "drive": {
                "A": {"torque": 0, "limits": [-3, 4]},
                "B": {"dc_motor": {"Kt": 0.05, "R": 1.0, "gear_ratio": 10, "max_torque": 0.6, "max_speed": 300}},
            },
        }
    )
    found = m.system.named_terms().limits({"A": 5.0})
    assert found.position.at("A").tolist() == [-0.5, 1.2] and found.position.at("B").tolist() == [-np.inf, np.inf]
    assert found.speed.at("A").tolist() == [-5.0, 5.0] and found.speed.at("B").tolist() == [-30.0, 30.0]
    assert found.effort.at("A").tolist() == [-3.0, 4.0] and found.effort.at("B").tolist() == [-6.0, 6.0]


# -------------------------------------------------------------------- a robot that stands


def test_a_biped_with_six_loops_stands_by_a_quadratic_program() -> None:
    """Torques and forces of the QP, applied in forward dynamics, leave what the small weight on them leaves (1e-3 of free fall)."""
    s = lw.load(ROOT / "benchmarks" / "biped-six-loops.yaml").system
    st, g = s.start, 9.81
    corners = [f"foot{k}.{end}_{side}{k}" for k in (1, 2) for end in ("heel", "toe") for side in ("left", "right")]
    terms = s.named_terms(["com", "pelvis.wx", "pelvis.wy", "pelvis.wz"], contacts=corners)
    cones, effort, x = terms.cones(0.6), terms.limits().effort, terms(st)
    assert (len(terms.by), len(terms.drives), s.mobility.freedoms, s.mobility.idle) == (18, 12, 18, ())
    n, m, k = len(terms.by), len(terms.drives), 3 * len(corners)
    A = np.concatenate([np.hstack([x.J, np.zeros((6, m + k))]), np.hstack([10.0 * x.Jc, np.zeros((k, m + k))])])
    b = -np.concatenate([x.rate, 10.0 * x.Jc_rate])
    G = np.hstack([np.zeros((len(cones.rows), n + m)), cones.rows])
    bounds = [np.concatenate([np.full(n, side), effort[:, i], np.full(k, side)]) for i, side in enumerate((-np.inf, np.inf))]
    E = np.hstack([x.M, -x.selection, -x.Jc.T])
    z = solve_qp(A.T @ A + 1e-6 * np.eye(n + m + k), -A.T @ b, G, np.zeros(len(G)), E, -x.h, *bounds, solver="proxqp", eps_abs=1e-9)
    assert z is not None
    f, u = z[n + m :], dict(zip(terms.drives, map(float, z[n : n + m]), strict=True))
    weight = g * sum(float(body.mass) for body in s.description.bodies[1:])
    assert f[2::3].sum() == pytest.approx(weight, rel=1e-3) and (np.asarray(cones.excess(f)) < 1e-9).all()
    wrench: dict[str, Any] = {}
    for corner, force in zip(corners, f.reshape(-1, 3), strict=True):
        body = corner.split(".")[0]
        r = s.point(st, corner) - s.pose(st, body).p
        wrench[body] = wrench.get(body, 0.0) + np.array([*np.cross(r, force), *force])
    assert np.abs(s.forward(st, u, wrench=wrench).a).max() < 1e-2 and np.abs(s.forward(st).a).max() > 9.0


# -------------------------------------------------------------------- C


@sweep("precision", TYPES, now=["double"])
def test_c_computes_the_same_terms_by_the_same_names(leg: lw.System, tmp_path: Path, precision: str) -> None:
    """Strict warnings. Round-off of another order of additions (1e-12), or of floats: 7 digits, of which the inverse loses three."""
    number, kind = TYPES[precision]
    options: dict[str, Any] = {"tasks": ["trunk", "com"], "contacts": ["heel", "toe"], "points": POINTS}
    lw.load(LEG).export(tmp_path / "wbc.c", precision=precision, **options)
    call = ["gcc", *WARNINGS, "-O0", "-fPIC", "-shared", "-o", "wbc.so", "wbc.c", "-lm"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code, header = ctypes.CDLL(str(tmp_path / "wbc.so")), (tmp_path / "wbc.h").read_text()
    at = {line.split(" = ")[0].strip(): int(line.split(" = ")[1].rstrip(",")) for line in header.splitlines() if " = " in line}
    st = moving(leg, 1)
    x, y = np.zeros(at["wbc_terms_inputs"], kind), np.zeros(at["wbc_terms_outputs"], kind)
    for name in ("q", "v"):
        x[at[f"wbc_terms_in_{name}"] :][: len(getattr(st, name))] = getattr(st, name)
    assert code.wbc_terms(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p)) == 0
    terms = leg.named_terms(options["tasks"], points=POINTS, contacts=options["contacts"])
    truth = terms(st)
    tolerance = 1e-12 if precision == "double" else 1e-3
    for name in ("M", "h", "C", "G", "F", "J", "rate", "Jc", "Jc_rate", "W", "inverse_inertia", "A", "A_rate", "N", "N_rate", "selection"):
        wanted = np.asarray(getattr(truth, name))
        found = y[at[f"wbc_terms_out_{name}"] :][: wanted.size].reshape(wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=tolerance * (1.0 + np.abs(wanted).max()), err_msg=name)
    i, k = at["wbc_task_trunk_vx"], at["wbc_x_crank"]
    assert y[at["wbc_terms_out_J"] + i * at["wbc_nx"] + k] == pytest.approx(truth.J.at("trunk.vx", "crank"), abs=tolerance)
    assert at["wbc_contact_toe_z"] == 5 and at["wbc_drive_crank"] == 1 and at["wbc_pose_toe"] == 3
    start = np.array((number * len(st.q)).in_dll(code, "wbc_start_q"))
    np.testing.assert_allclose(start, leg.start.q, atol=1e-7)
    efforts = np.array((number * 4).in_dll(code, "wbc_effort_limits")).reshape(2, 2)
    np.testing.assert_array_equal(efforts, np.asarray(terms.limits().effort, dtype=kind))


def test_c_of_terms_takes_no_options_of_the_mechanism(tmp_path: Path) -> None:
    m = lw.load(LEG)
    with refused(lw.UsageError, name="moved"):
        m.export(tmp_path / "a.c", tasks=["com"], moved=["hip"])
    with refused(lw.UsageError, name="tasks"):
        m.export(tmp_path / "a.c", motors=["hip"], joints=["knee"], tasks=["com"])


# -------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"contacts": "heal", "points": POINTS}, "heal"),
        ({"contacts": ["heel", "heel"], "points": POINTS}, "heel"),
        ({"points": {"heel": ("shink", HEEL)}}, "shink"),
        ({"points": {"heel": ("shank", HEEL[:2])}}, "heel"),
        ({"points": {"heel": "shank"}}, "heel"),
        ({"points": {"heel": ("shank", [0, 0, "1 kg"])}}, "1 kg"),
        ({"points": {"shank": ("shank", HEEL)}}, "shank"),
        ({"points": {"a.b": ("shank", HEEL)}}, "a.b"),
        ({"points": ["heel"]}, "points"),
    ],
)
def test_wrong_points_and_contacts_are_refused(leg: lw.System, options: Any, name: str) -> None:
    with refused(lw.LinkwrightError, name=name):
        leg.named_terms("com", **options)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "heel"),
        ({"mu": -0.1}, "heel"),
        ({"mu": {"heal": 0.5}}, "heal"),
        ({"mu": 0.5, "normals": {"heel": [0, 0, 0]}}, "heel"),
        ({"mu": 0.5, "normals": {"toe": [0, 0, 1]}}, "toe"),
        ({"mu": 0.5, "sides": 2}, "sides"),
    ],
)
def test_wrong_cones_are_refused(leg: lw.System, options: Any, name: str) -> None:
    with refused(lw.UsageError, name=name):
        leg.named_terms(points=POINTS, contacts="heel").cones(**options)


def test_states_off_the_loops_are_refused(leg: lw.System) -> None:
    terms, st = leg.named_terms("com"), leg.start
    q = st.q + 1e-3 * np.eye(len(st.q))[-1]
    with refused(lw.UsageError, name="state"):
        _ = terms(q).M
    many = terms(np.array([st.q, q]))
    assert np.isfinite(many.M[0]).all() and np.isnan(many.M[1]).all() and many.ok.tolist() == [True, False]
    with refused(lw.UsageError, name="terms"):
        terms(st.q * np.nan)
    with refused(lw.UsageError, name="contacts"):
        _ = terms(st).Jc
    with refused(lw.UsageError, name="speed_of"):
        terms.limits({"speed_of": 1.0})
