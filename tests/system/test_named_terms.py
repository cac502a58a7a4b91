"""Terms by name: against Pinocchio, built by hand, on a floating leg with a closed loop; identities on other mechanisms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.dynamics.tree import momentum
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.results.labeled_arrays import Labeled
from tests import ROOT
from tests.refusals import refused
from tests.rings.exchange.writing import states
from tests.sweeps import sweep

LEG = ROOT / "tests" / "data" / "floating-leg.yaml"
TASKS = ["shank", "shank.F", "com", "shank in trunk", "rod.S in thigh"]


@pytest.fixture(scope="module")
def leg() -> lw.System:
    return lw.load(LEG).system


def moving(s: lw.System, seed: int = 0) -> lw.State:
    rng = np.random.default_rng(seed)
    q = {"hip": 0.3 * rng.normal(), "crank": 0.2 * rng.normal(), "base.rpy": list(0.5 * rng.normal(size=3)), "base.x": 0.4}
    speeds = {name: float(rng.normal()) for name in ("hip", "crank", *(f"base.{x}" for x in ("wx", "wy", "wz", "x", "y", "z")))}
    return s.assemble(q=q, v=speeds)


class Hand(NamedTuple):
    """The same leg in Pinocchio at one state, in our coordinates: v_pin = T v, a_pin = T a + drift."""

    model: Any
    data: Any
    q: np.ndarray
    T: np.ndarray
    drift: np.ndarray
    v: np.ndarray


def by_hand(s: lw.System, st: lw.State) -> Hand:
    model = pin.Model()
    d = s.description

    def add(body: str, joints: list[Any], parent: int, at: Any, frame: Any = None) -> int:
        """`frame`: our joint with turned axes; its frames lie before and after Pinocchio's joints."""
        place = pin.SE3(np.eye(3), np.asarray(at, dtype=float))
        own = pin.SE3.Identity()
        if frame is not None:
            place = pin.SE3(np.array(frame.frame_first.rotation), np.array(frame.frame_first.at))
            own = pin.SE3(np.array(frame.frame_second.rotation), np.array(frame.frame_second.at)).inverse()
        for i, joint in enumerate(joints):
            parent = model.addJoint(parent, joint, place if i == 0 else pin.SE3.Identity(), f"{body}{i}")
        b = d.body(body)
        I = np.asarray(b.inertia, dtype=float)
        model.appendBodyToJoint(parent, pin.Inertia(float(b.mass), np.asarray(b.com, dtype=float), I), own)
        for p in b.points:
            there = own * pin.SE3(np.eye(3), np.asarray(p.at, dtype=float))
            model.addFrame(pin.Frame(f"{body}.{p.name}", parent, there, pin.FrameType.OP_FRAME))
        model.addFrame(pin.Frame(body, parent, own, pin.FrameType.OP_FRAME))
        return parent

    def at(name: str) -> Any:
        body, point = name.split(".")
        return d.point((body, point)).at

    turn = pin.JointModelRY
    trunk = add("trunk", [pin.JointModelFreeFlyer()], 0, np.zeros(3))
    thigh = add("thigh", [turn()], trunk, at("trunk.H"))
    crank = add("crank", [turn()], thigh, at("thigh.C"))
    add("rod", [pin.JointModelRX(), turn()], crank, at("crank.R"), d.joint("upper"))
    add("shank", [turn()], thigh, at("thigh.K"))
    w, p = st.q[:4], st.q[4:7]
    q = np.concatenate([p, w[1:], w[:1], st.q[7:]])
    R = pin.Quaternion(w[0], w[1], w[2], w[3]).toRotationMatrix()
    T = np.eye(11)
    T[:6, :6] = 0.0
    T[:3, 3:6], T[3:6, :3] = R.T, np.eye(3)
    drift = np.zeros(11)
    drift[:3] = -np.cross(st.v[:3], R.T @ st.v[3:6])
    data = model.createData()
    v = T @ st.v
    pin.forwardKinematics(model, data, q, v, drift)
    pin.updateFramePlacements(model, data)
    pin.computeJointJacobians(model, data, q)
    return Hand(model, data, q, T, drift, v)


def jacobian(h: Hand, frame: str) -> np.ndarray:
    """Rows angular first, world axes, in our coordinates."""
    J = pin.getFrameJacobian(h.model, h.data, h.model.getFrameId(frame), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return np.concatenate([J[3:], J[:3]]) @ h.T


def acceleration(h: Hand, frame: str) -> np.ndarray:
    A = pin.getFrameClassicalAcceleration(h.model, h.data, h.model.getFrameId(frame), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return np.concatenate([A.angular, A.linear])


CLOSE = {"rtol": 0.0, "atol": 1e-12}  # entries of size 1 to 60, round-off of some ten products


@sweep("seed", range(3), now=1)
def test_terms_in_all_coordinates_are_those_of_pinocchio(leg: lw.System, seed: int) -> None:
    st = moving(leg, seed)
    h, x = by_hand(leg, st), leg.named_terms(TASKS, by="coordinates")(st)
    np.testing.assert_allclose(x.J[:6], jacobian(h, "shank"), **CLOSE)
    np.testing.assert_allclose(x.J[6:9], jacobian(h, "shank.F")[3:], **CLOSE)
    np.testing.assert_allclose(x.rate[:6], acceleration(h, "shank"), **CLOSE)
    np.testing.assert_allclose(x.rate[6:9], acceleration(h, "shank.F")[3:], **CLOSE)
    M = pin.crba(h.model, h.data, h.q)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(x.M, h.T.T @ M @ h.T, **CLOSE)
    efforts = pin.rnea(h.model, h.data, h.q, h.v, h.drift)
    np.testing.assert_allclose(x.C + x.G, h.T.T @ efforts, rtol=0, atol=1e-11)
    np.testing.assert_allclose(x.G, h.T.T @ pin.computeGeneralizedGravity(h.model, h.data, h.q), rtol=0, atol=1e-11)
    A = pin.computeCentroidalMap(h.model, h.data, h.q) @ h.T
    np.testing.assert_allclose(x.A, np.concatenate([A[3:], A[:3]]), **CLOSE)
    rate = pin.computeCentroidalMomentumTimeVariation(h.model, h.data, h.q, h.v, h.drift)
    np.testing.assert_allclose(x.A_rate, np.concatenate([rate.angular, rate.linear]), **CLOSE)
    np.testing.assert_allclose(x.com, pin.centerOfMass(h.model, h.data, h.q), **CLOSE)


@sweep("seed", range(3), now=1)
def test_reduced_and_operational_terms_are_those_of_the_saddle_point_matrix(leg: lw.System, seed: int) -> None:
    """Loop by hand: the ends of rod and shank at S stay together; tolerance: condition of the saddle-point matrix (1e4) times round-off."""
    st = moving(leg, seed)
    h, x = by_hand(leg, st), leg.named_terms(["shank.F", "trunk.wx"])(st)
    M = np.asarray(leg.named_terms((), "coordinates")(st).M)
    Jc = jacobian(h, "rod.S") - jacobian(h, "shank.S")
    Jc, k = Jc[3:], (acceleration(h, "rod.S") - acceleration(h, "shank.S"))[3:]
    J = np.concatenate([jacobian(h, "shank.F")[3:], jacobian(h, "trunk")[:1]])
    bias = np.concatenate([acceleration(h, "shank.F")[3:], acceleration(h, "trunk")[:1]])
    force = h.T.T @ pin.rnea(h.model, h.data, h.q, h.v, h.drift)
    saddle = np.linalg.inv(np.block([[M, Jc.T], [Jc, np.zeros((3, 3))]]))
    a = -(saddle @ np.concatenate([force, k]))[:11]
    W = saddle[:11, :11]
    scale = np.linalg.cond(x.M) * 1e-13
    np.testing.assert_allclose(np.linalg.inv(J @ W @ J.T), x.Lambda, rtol=0, atol=scale * np.abs(x.Lambda).max())
    np.testing.assert_allclose(J @ a + bias, -np.linalg.solve(x.Lambda, x.mu), rtol=0, atol=1e-10 * (1.0 + np.abs(a).max()))
    np.testing.assert_allclose(Jc @ x.N, 0.0, atol=1e-12)
    np.testing.assert_allclose(Jc @ x.N_rate + k, 0.0, atol=1e-11)
    np.testing.assert_allclose(x.N @ np.linalg.solve(x.M, -x.h) + x.N_rate, a, rtol=0, atol=1e-10 * (1.0 + np.abs(a).max()))
    np.testing.assert_allclose(x.J @ x.Jbar, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(x.J @ x.null, 0.0, atol=1e-10)
    whole = leg.named_terms(["shank.F", "trunk.wx"], by="coordinates")(st)
    np.testing.assert_allclose(whole.Lambda, x.Lambda, rtol=0, atol=scale * np.abs(x.Lambda).max())
    np.testing.assert_allclose(whole.mu, x.mu, rtol=0, atol=1e-9 * (1.0 + np.abs(x.mu).max()))


def test_names_and_columns_of_base_and_drives(leg: lw.System) -> None:
    st = moving(leg)
    x = leg.named_terms("shank.F")(st)
    assert x.J.rows == ("shank.F.x", "shank.F.y", "shank.F.z")
    assert x.J.columns == ("base.wx", "base.wy", "base.wz", "base.x", "base.y", "base.z", "hip", "crank")
    assert leg.jacobian(st, "shank.F", "base").columns == x.J.columns[:6]
    np.testing.assert_array_equal(leg.jacobian(st, "shank.F"), x.J[:, 6:])
    some = leg.jacobian(st, "shank.F", ["hip", "base.vx"])  # fewer right sides of one system: BLAS may sum in another order
    np.testing.assert_allclose(some, x.J[:, [6, 3]], rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(x.J @ x.speed, leg.named_terms("shank.F", "coordinates")(st).J @ st.v, atol=1e-13)
    assert x.J.at("shank.F.x", "hip") == x.J[0, 6] and x.constraint.rows == ("lower.tx", "lower.ty", "lower.tz")
    frame = x.J.to_pandas()
    assert frame.loc["shank.F.z", "crank"] == x.J[2, 7]


def test_relative_tasks_are_derivatives_of_relative_poses(leg: lw.System) -> None:
    """Central differences along the motion: 1e-7 from steps of 1e-5."""
    st = moving(leg)
    x = leg.named_terms(["shank in trunk", "com in thigh"])(st)
    a = np.asarray(x.N_rate)
    h, places = 1e-5, []
    for side in (-1.0, 1.0):
        there = leg.state(compiled_of(leg).displaced(st, side * h * st.v + 0.5 * h * h * a), st.v + side * h * a)
        trunk, shank, thigh = (leg.pose(there, n) for n in ("trunk", "shank", "thigh"))
        y = leg.named_terms(["shank in trunk", "com in thigh"])(there)
        places.append((trunk.R.T @ (shank.p - trunk.p), thigh.R.T @ (np.asarray(y.com) - thigh.p), y.J @ y.speed))
    velocity = x.J @ x.speed
    np.testing.assert_allclose((places[1][0] - places[0][0]) / (2 * h), velocity[3:6], atol=1e-7)
    np.testing.assert_allclose((places[1][1] - places[0][1]) / (2 * h), velocity[6:], atol=1e-7)
    np.testing.assert_allclose((places[1][2] - places[0][2]) / (2 * h), x.rate, atol=1e-6)


@sweep("name", ["five-bar", "excavator", "stewart", "delta"], now=2)
def test_identities_of_reduced_terms(name: str) -> None:
    """Energy x' M x' / 2, its rate x' (M x'' + C - Mdot x' / 2) = 0 by differences of M, momentum A x', potential by G."""
    s = lw.compile(name)
    rng = np.random.default_rng(3)
    st = s.assemble(v={n: 0.5 * float(rng.normal()) for n in compiled_of(s).drive_names})
    terms = s.named_terms()
    x = terms(st)
    assert 0.5 * x.speed @ x.M @ x.speed == pytest.approx(st["energy.kinetic"], rel=1e-11)
    linear, angular = momentum(compiled_of(s).skel, s.motion(st), about=np.asarray(x.com))
    np.testing.assert_allclose(x.A @ x.speed, [*angular, *linear], rtol=0, atol=1e-11 * (1.0 + np.abs(linear).max()))
    h, energies = 1e-5, []
    for side in (-1.0, 1.0):
        there = terms(compiled_of(s).displaced(st, side * h * st.v + 0.5 * h * h * np.asarray(x.N_rate)))
        energies.append(0.5 * x.speed @ there.M @ x.speed)
    # power at x'' = 0: d/dt (x' M x' / 2) = x' C, as the forces of inertia are workless apart from it
    power = (energies[1] - energies[0]) / (2 * h)
    assert x.speed @ x.C == pytest.approx(power, abs=1e-5 * (1.0 + abs(power)))
    if name != "excavator":  # its cylinders are drives: kernel reduced has the same coordinates there, too
        r = s.kernel("reduced")(st.q, st.v)
        np.testing.assert_allclose(r.M, x.M, rtol=0, atol=1e-11 * np.abs(r.M).max())
        np.testing.assert_allclose(r.h, x.h, rtol=0, atol=1e-10 * (1.0 + np.abs(r.h).max()))


@pytest.mark.slow
def test_batches_and_trajectories_are_the_single_states(leg: lw.System) -> None:
    states = [moving(leg, i) for i in range(3)]
    terms = leg.named_terms(["shank.F", "com.x in trunk"])
    Q, V = (np.array([getattr(st, n) for st in states]) for n in ("q", "v"))
    many = terms(Q, V)
    for i, st in enumerate(states):
        one = terms(st)
        for name in ("J", "rate", "N", "N_rate", "M", "C", "G", "h", "Lambda", "mu", "Jbar", "A", "A_rate", "momentum", "constraint"):
            found, size = getattr(many, name)[i], 1.0 + np.abs(getattr(one, name)).max()
            np.testing.assert_allclose(found, getattr(one, name), rtol=0, atol=1e-11 * size, err_msg=name)
    assert many.ok.all() and many.J.rows == terms(states[0]).J.rows
    run = leg.simulate(states[0], 0.02, sample_interval=0.01)
    assert terms(run).J.shape == (len(run), 4, 8)


def test_a_singular_state_costs_its_own_row_only() -> None:
    s = lw.compile("five-bar")
    terms, Q = s.named_terms("left_rod.C"), np.array([s.start.q, np.zeros(4), s.start.q])
    found = terms(Q)  # all angles zero: both rods are parallel, and the cranks do not determine where C goes
    assert np.isfinite(found.J[[0, 2]]).all() and np.isnan(found.J[1]).all() and np.isnan(found.Lambda[1]).all()
    assert found.ok.tolist() == [True, False, True] and "do not determine" in found.why[1,]
    with pytest.raises(lw.SingularityError, match="do not determine"):
        _ = terms(np.zeros(4)).J


def test_labeled_arrays_are_plain_numpy_in_arithmetic() -> None:
    import pickle

    x = Labeled(np.eye(2), ("a", "b"), ("u", "v"))
    assert type(x + 1) is np.ndarray and type(x[0]) is np.ndarray and type(x.T) is np.ndarray and type(x @ x) is np.ndarray
    assert isinstance(float(x.sum()), float)
    again = pickle.loads(pickle.dumps(x))
    assert again.rows == x.rows and again.columns == x.columns and (again == x).all()
    with refused(lw.LinkwrightError, name="c", allowed=("a", "b")):
        x.at("c")


@pytest.mark.parametrize(
    ("tasks", "by", "said"),
    [
        ("shank.Q", "independent", "Q"),
        ("shin", "independent", "shank"),
        ("shank in shank", "independent", "own frame"),
        (["com", "com.x"], "independent", "more than once"),
        ("shank", ["hip", "knee", "crank"], "independently"),
        ("shank", "hipp", "hip"),
    ],
)
def test_wrong_names_are_explained(leg: lw.System, tasks: Any, by: Any, said: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=said):
        leg.named_terms(tasks, by)


def test_too_many_tasks_and_no_base_are_explained(leg: lw.System) -> None:
    with refused(lw.UsageError, name="tasks"):
        _ = leg.named_terms(["shank", "trunk"])(leg.start).Lambda
    with refused(lw.UsageError, name="base"):
        lw.compile("five-bar").jacobian(lw.compile("five-bar").start, "left_rod.C", "base")
    with refused(lw.UsageError, name="tasks"):
        _ = leg.named_terms()(leg.start).J
    with pytest.raises(lw.UsageError, match="q"):
        leg.named_terms("com")(np.zeros(3))


@sweep(("seed", "kinds"), [(0, ()), (2, ("revolute",)), (4, ("fixed",)), (1, ("spherical",)), (3, ("spherical", "revolute"))], now=3)
def test_rates_of_random_mechanisms_by_complex_steps(seed: int, kinds: tuple[str, ...]) -> None:
    """d/dt at constant v by a complex step along dq/dt, exact to round-off: bias of tasks and loops, rate of momentum, power of C and G."""
    s, st = states.random_loops(300 + seed, kinds, 8)
    bodies = [b.name for b in s.description.bodies[1:]]
    terms = s.named_terms([bodies[-1], f"{bodies[-1]} in {bodies[1]}", f"com in {bodies[2]}"], by="coordinates")
    x, eq, near = terms(st), terms.independent.equations(terms.chosen.every), compiled_of(s).skel.pack(st.references)
    h = 1e-30
    q = st.q + 1j * h * qdot(compiled_of(s).skel, st.q, st.v)
    rows = eq.task_terms(q, st.v, near, tasks=terms.rows)
    inertia = eq.inertia_terms(q, st.v, t=np.zeros(1), near=near)

    def rate(y: Any) -> Any:
        return np.imag(y) / h

    def close(found: Any, expected: Any) -> None:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * (1.0 + np.abs(np.asarray(expected)).max(initial=0.0)))

    close(x.rate, rate(rows["T"]) @ st.v)
    close(x.constraint_bias, rate(rows["J"]) @ st.v)
    close(x.A_rate, rate(inertia["A"]) @ st.v)
    close(st.v @ x.C, 0.5 * st.v @ rate(inertia["M"]) @ st.v)
    mass = sum(float(b.mass or 0.0) for b in s.description.bodies[1:])
    close(st.v @ x.G, -mass * rate(inertia["com"]) @ np.asarray(compiled_of(s).skel.gravity, dtype=float))
    close(x.A[3:] @ st.v, mass * rate(inertia["com"]))


@sweep("seed", range(4), now=[2])
def test_reduced_terms_of_random_loops_solve_the_equations_of_motion(seed: int) -> None:
    """Accelerations by the reduced terms are those of forward dynamics; 1e-7: conditioning of random loops (up to 1e6)."""
    s, st = states.random_loops(320 + seed, ("spherical",), 8)
    x = s.named_terms()(st)
    a = x.N @ np.linalg.solve(x.M, -x.h) + x.N_rate
    expected = s.forward(st).a
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-7 * (1.0 + np.abs(expected).max()))
    np.testing.assert_allclose(x.constraint @ x.N, 0.0, atol=1e-9 * (1.0 + np.abs(x.N).max()))


def test_one_state_and_many_have_the_same_bits() -> None:
    s = lw.load("five-bar").system
    st, t = s.assemble(v={"A": 1.0, "E": -0.5}), s.named_terms(["com"])
    many = t(np.tile(st.q, (3, 1)), np.tile(st.v, (3, 1)))
    for name in ("M", "h", "J", "rate"):
        assert (np.array(getattr(t(st), name)) == np.array(getattr(many, name))[1]).all()
