"""Single steps and batches with what holds one way: closed forms, runs from event to event, the bits of lanes and of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from benchmarks.walkers import FLAT, biped, leg, walker
from linkwright.api import compiled_of
from linkwright.integrators.environments import Environments, scheme_of
from linkwright.simulation.step_inputs import equations
from linkwright.simulation.stepper import Stepper
from tests.refusals import refused
from tests.simulation.contact.models import G, corners, disk, flying
from tests.simulation.test_dry_friction import rubbing_slider_crank
from tests.simulation.test_friction_runs import SPRING, cart
from tests.simulation.test_one_sided_rows import HOIST, TETHER, TETHERED, WHEELS
from tests.simulation.test_one_sided_rows import cam as turning_cam
from tests.simulation.test_rigid_stops import LOOP, PENDULUM

DEPTH, LOOPS = 1e-12, 1e-14  # of the size: what is left after every step


def marched(s: Any, q: Any, v: Any, seconds: float, step: float, tau: Any = None) -> Any:
    """A stepper of one environment after so many steps."""
    env = s.stepper(1, dt=seconds, substeps=round(seconds / step))
    env.reset(None, np.array(q, dtype=float), np.array(v, dtype=float))
    env.step(tau)
    assert env.ok.all(), env.why
    return env


@pytest.mark.parametrize(("step", "error"), [(1e-2, 4e-5), (1e-3, 4e-7)])
def test_a_disk_slides_until_it_rolls(step, error):
    """It rolls at 2/3 of its speed from v / (3 mu g) on; the place is off by the instant within a step, of second order."""
    env = marched(lw.compile(lw.load(disk(0.1, mu=0.3))), [0, 0.1, 0], [2, 0, 0], 1.0, step)
    until = 2.0 / (3.0 * 0.3 * G)
    place = 2.0 * until - 0.5 * 0.3 * G * until**2 + 4.0 / 3.0 * (1.0 - until)
    assert env.v[0, 0] == pytest.approx(4.0 / 3.0, rel=1e-12) and abs(env.q[0, 0] - place) < error
    assert abs(env.q[0, 1] - 0.1) < 1e-13


@pytest.mark.parametrize("share", [1.0 - 1e-6, 1.0 + 1e-6])
def test_a_block_on_a_slope_slides_below_the_tangent_of_its_angle(share):
    """v = g (sin - mu cos) t, or rest: forces are the same in every step, so it is exact."""
    angle = np.radians(20.0)
    mu = share * np.tan(angle)
    block = corners({"a": [-0.1, -0.05], "c": [0.1, -0.05]}, {"mu": mu}, gravity=(G * np.sin(angle), -G * np.cos(angle)))
    env = marched(lw.compile(lw.load(block)), [0, 0.05, 0], [0, 0, 0], 0.5, 5e-3)
    assert env.v[0, 0] == pytest.approx(max(0.0, G * (np.sin(angle) - mu * np.cos(angle)) * 0.5), abs=1e-9)
    assert abs(env.v[0, 2]) < 1e-9


def test_a_ball_that_bounces_keeps_its_share_of_speed():
    """The first impact leaves e of the speed; it happens somewhere within a step."""
    s = lw.compile(lw.load(disk(0.1, restitution=0.8)))
    env = s.stepper(1, dt=1e-4)
    env.reset(None, np.array([0.0, 0.6, 0.0]), np.zeros(3))
    speeds = []
    for _ in range(4000):
        env.step()
        speeds.append(float(env.v[0, 1]))
    assert max(np.diff(speeds)) == pytest.approx(1.8 * np.sqrt(2.0 * G * 0.5), rel=1e-3)
    assert env.q[0, 1] > 0.1 - 1e-12


def test_five_blocks_stay_where_they_are_piled():
    """The lowest one carries the weight of all. Nothing moves in 200 steps but by the residual of the impulses, 1e-8 of g h."""
    half, n = 0.05, 5
    points = {"a": [-half, -half], "b": [half, -half], "c": [half, half], "d": [-half, half]}
    names = [f"block{k}" for k in range(n)]
    bodies = {x: {"points": points, "mass": 1, "com": [0, 0], "inertia": 0.002} for x in names}
    joints = {f"j{k}": {"type": "planar", "between": ["ground", x], "at": [0, 0]} for k, x in enumerate(names)}
    ends = {f"{x}_{p}": {"circle": f"{x}.{p}", "radius": 0} for x in names for p in "ab"}
    tops = {f"{x}_top": {"line": f"{x}.d", "normal": [0, 1]} for x in names[:-1]}
    contacts = {
        f"on{k}": {"between": [[f"{x}_a", f"{x}_b"], f"{names[k - 1]}_top" if k else "floor"], "mu": 0.5} for k, x in enumerate(names)
    }
    pile = {
        "plane": "xy", "gravity": [0, -G], "bodies": {"ground": {"points": {"O": [0, 0]}}, **bodies}, "joints": joints,
        "surfaces": {"floor": {"line": "ground.O", "normal": [0, 1]}, **ends, **tops}, "contacts": contacts,
    }  # fmt: skip
    s = lw.compile(lw.load(pile))
    q = np.zeros(15)
    q[1::3] = half * (2 * np.arange(n) + 1)
    env = marched(s, q, np.zeros(15), 0.4, 2e-3)
    assert np.abs(env.v).max() < 1e-9 and np.abs(env.q[0] - q).max() < 1e-10
    lowest = env.impulses[0, [0, 2]]  # N s in a step
    assert lowest.sum() == pytest.approx(n * G * 2e-3, rel=1e-9)


@pytest.mark.parametrize(("share", "falls"), [(0.99, True), (1.01, False)])
def test_a_gripper_holds_from_its_least_friction_on(share, falls):
    """m g / (2 F), F the 40 N with which its spring presses each jaw: gears, two parallelograms and four corners at once."""
    m = lw.load("gripper", mu=share * 0.3 * G / 80.0)
    env = m.system.stepper(1, dt=0.1, substeps=100)
    env.step()
    down = -float(env.state(0)["part.P.vy"])
    assert env.ok.all() and (down > 1e-3 if falls else abs(down) < 1e-7)  # the residual of the impulses, 1e-8 of g t


def dropped(s: Any) -> tuple[np.ndarray, np.ndarray]:
    """5 cm above the ground, 1 m/s ahead."""
    q, v = s.start.q.copy(), np.zeros(len(s.names.v))
    q[s.names.q.index("base.y")] += 0.05
    v[s.names.v.index("base.x")] = 1.0
    return q, v


def test_a_leg_with_a_loop_lands_slips_and_sticks_as_from_event_to_event():
    """Impact, stick, slip at 0.335 s, stick at 0.468 s. The error of a step is that of the instant of the impact, first order with a factor
    that jumps; 3e-4 rad at 1 ms has a third of room, and 0.05 ms is well below."""
    s = lw.compile(lw.load(leg(hold=80.0)))
    q, v = dropped(s)
    exact = s.simulate(s.state(q, v), 0.5, tolerance=1e-11)
    assert [x.name for x in exact.events] == ["foot touches", "foot slips", "foot sticks"]
    for step, error in ((1e-3, 3e-4), (5e-5, 2e-5)):
        env = marched(s, q, v, 0.5, step)
        assert np.abs(env.q[0] - exact.q[-1]).max() < error
        assert env.law["depth"][0] < DEPTH and env.law["residual"][0] < 1e-8
        assert np.abs(s.closure(env.state(0)).phi).max() < LOOPS


@pytest.mark.parametrize("name", ["rope", "hoist", "play", "cam", "stop", "loop"])
def test_rows_of_stops_ropes_gears_and_cams_act_in_steps(name):
    """The end of a run from event to event, to what steps of 0.1 ms leave of the instants of impacts."""
    cases: dict[str, tuple[Any, Any, Any, float]] = {
        "rope": ({**TETHERED, "rods": {"tether": {**TETHER, "slack": True}}}, [0.0, -2.2], [0.0, 0.0], 0.8),
        "hoist": (HOIST, None, {"lift": 1.0}, 0.4),
        "play": ({**WHEELS, "gears": {"g": {"joints": ["A", "B"], "radii": [0.1, 0.2], "play": 1e-3}}}, [0, 0], [1.0, 0.0], 0.2),
        "cam": ({**turning_cam(0.0), "drive": {}}, None, {"A": 126.0}, 0.06),
        "stop": ({**PENDULUM, "stops": {"A": {"min": -1.0}}}, None, {}, 1.5),
        "loop": ({**LOOP, "stops": {"A": {"min": 1.2, "max": 2.0}}}, None, {}, 1.0),
    }
    model, q, v, seconds = cases[name]
    s = lw.compile(lw.load(model))
    start = s.start if q is None else s.state(np.array(q, float), np.array(v, float))
    if isinstance(v, dict):
        start = s.state(s.start.q, np.array([v.get(x, 0.0) for x in s.names.v]))
    run = s.simulate(start, seconds, tolerance=1e-11, drive={})
    assert run.events
    env = marched(s, start.q, start.v, seconds, 1e-4)
    assert np.abs(env.q[0] - run.q[-1]).max() < 2e-3 * max(1.0, np.abs(run.q[-1]).max())
    assert env.law["depth"][0] < 1e-11


def wild(n: int) -> tuple[Any, Any]:
    """Bipeds thrown on the ground."""
    s, rng = lw.compile(lw.load(biped())), np.random.default_rng(1)
    q, v = np.tile(s.start.q, (n, 1)), np.zeros((n, len(s.names.v)))
    q[:, 1] += rng.uniform(0.0, 0.02, n)
    v[:, 0] = rng.normal(size=n)
    env = s.stepper(n, dt=2e-3)
    env.reset(None, q, v)
    return env, 5.0 * rng.normal(size=v.shape) * (np.arange(v.shape[1]) > 2)


def test_lanes_are_environments_alone_bit_by_bit():
    """Whatever touches where: impulses too, and what the next steps make of them."""
    env, tau = wild(11)
    one = [env.state(k) for k in range(len(env))]
    for _ in range(40):
        env.step(tau)
    assert env.ok.all() and env.law["problems"].min() == 0 < env.law["problems"].max()
    for k in range(len(env)):
        alone = Stepper(env.core, 1, dt=2e-3, start=one[k])
        for _ in range(40):
            alone.step(tau[k])
        np.testing.assert_array_equal(alone.q[0], env.q[k])
        np.testing.assert_array_equal(alone.impulses[0], env.impulses[k])


def test_loops_in_python_have_the_bits_of_machine_code():
    s = lw.compile(lw.load(walker(("",), FLAT[::3], 0.6)))
    found = []
    for engine in (None, "python"):
        eq = equations(compiled_of(s), True)
        options = {"qdot": eq.qdot, "settling": eq.settling, "one_sided": eq.one_sided, "read": eq.read, "often": eq.often, "limit": 1}
        env = Environments(eq.problem, scheme_of("midpoint"), 2, engine=engine, **options)
        env.rows[:, eq.row.spans["q"]] = s.start.q
        env.rows[:, eq.row.spans["v"].start] = [0.5, -2.0]
        env.step(2e-3, 12)
        assert (env.codes <= 0).all() and env.impulses.any()
        found.append((env.rows, env.impulses, env.marks))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_friction_of_every_environment_is_its_own():
    """A parameter: the disk stops sliding at 2 / (3 mu g)."""
    m = lw.load({**disk(0.1, mu="grip"), "parameters": {"grip": 0.3}})
    s = lw.compile(m, parameters=["grip"])
    env = s.stepper(3, dt=0.1, substeps=100, parameters={"grip": [0.1, 0.2, 0.3]})
    env.reset(None, np.array([0, 0.1, 0.0]), np.array([2.0, 0, 0]))
    env.step()
    np.testing.assert_allclose(env.v[:, 0], 2.0 - np.array([0.1, 0.2, 0.3]) * G * 0.1, rtol=1e-12)


def test_other_integrators_are_refused_where_something_holds_one_way():
    s = lw.compile(lw.load(disk(0.1)))
    with refused(lw.UsageError, name="integrator", allowed=("midpoint",)):
        s.stepper(2, integrator="rk4")
    fixed = flying({"c": {"between": ["floor", "rim"]}}, {"rim": {"circle": "b.O", "radius": 0.1}})
    assert lw.compile(lw.load(fixed)).stepper(1).environments.one_sided.kinds


# ---------------------------------------------------------------- dry friction of joints


@pytest.mark.parametrize(("step", "error"), [(1e-3, 5e-6), (1e-4, 1e-7)])
def test_a_cart_on_a_spring_comes_to_rest_where_friction_holds(step, error):
    """After nine half periods, each 10 mm shorter; the place is off by the ends of slips within their steps, of second order."""
    s = lw.load(cart(**SPRING, friction={"x": {"coulomb": "4 N"}}, start={"x": 0.093})).system
    env = marched(s, s.start.q, s.start.v, 3.0, step)
    assert abs(env.q[0, 0] + 0.003) < error and abs(env.v[0, 0]) < 1e-12
    assert env.impulses[0, 0] / step == pytest.approx(-800.0 * env.q[0, 0] * -1.0, rel=1e-6)


@pytest.mark.parametrize(("torque", "way"), [(-17.155996460, -1), (-13.589494389, 1)])
def test_friction_by_load_holds_a_crank_within_its_range_of_torques(torque, way):
    """The ends of the range at 40 deg, by inverse dynamics at creeping speed, 1e-4 N m inside and outside. What sticks creeps with the
    residual of the impulses, 1e-6 rad/s here, and what slips reaches 2e-4 rad/s."""
    pin = {"mu": 0.1, "radius": "20 mm"}
    s = lw.load(rubbing_slider_crank() | {"friction": {"A": pin, "B": pin, "S": {"mu": 0.15}}}).system
    st, at = s.assemble(q={"A": np.radians(40.0)}), s.names.v.index("A")
    for side in (1, -1):
        tau = np.zeros(len(st.v))
        tau[at] = torque - side * way * 1e-4
        env = marched(s, st.q, np.zeros(len(st.v)), 0.05, 1e-3, tau)
        turned = way * (env.q[0, s.names.q.index("A")] - st.q[s.names.q.index("A")])
        assert turned > 1e-6 if side < 0 else abs(turned) < 1e-7


def test_friction_by_load_comes_to_the_run_from_event_to_event():
    """A slider-crank that three joints brake by their loads; of first order."""
    s = lw.load(rubbing_slider_crank()).system
    st = s.assemble(q={"A": 2.0}, v={"A": 20.0})
    exact = s.simulate(st, 0.2, drive={}, tolerance=1e-10)
    errors = [np.abs(marched(s, st.q, st.v, 0.2, h).q[0] - exact.q[-1]).max() for h in (4e-4, 1e-4)]
    assert errors[1] < 5e-3 and errors[1] < 0.4 * errors[0]


# ---------------------------------------------------------------- runs


def test_a_run_by_steps_has_the_channels_and_events_of_a_run():
    """The sliding disk: friction mu m g, heat m v^2 / 6, sticking at 2 v / (7 mu g) of a sphere or v / (3 mu g) of a disk."""
    run = lw.load({**disk(0.1, mu=0.3), "start": {"base.y": 0.1, "base.vx": 2}}).simulate(1, contact="stepping", step="1 ms")
    (event,) = run.events
    assert event.name == "step sticks" and abs(event.time - 2.0 / (3.0 * 0.3 * G)) < 1e-3
    sliding = run.t < event.time - 1e-3
    np.testing.assert_allclose(run["step.force"], G, rtol=1e-9)
    np.testing.assert_allclose(run["step.friction"][sliding], 0.3 * G, rtol=1e-9)
    assert set(run["step.state"][sliding]) == {2.0} and run["step.state"][-1] == 1.0
    assert run["step.slip"][0] == pytest.approx(-2.0) or run["step.slip"][0] == pytest.approx(2.0)
    assert abs(run["step.slip"][-1]) < 1e-12 and np.abs(run["step.gap"]).max() < 1e-12
    assert run["work.contact"][-1] == pytest.approx(2.0**2 / 6.0, rel=1e-9) and len(run) == 1001
    c = run.certificate
    assert c.ok and c.stepping and c.touch_depth < DEPTH and c.problems == 1000 and c.estimated_error < 1e-4


def test_a_run_by_steps_comes_to_the_run_from_event_to_event():
    """Forces, loads and what contact takes: of the leg at 1 ms, within the first order of its steps."""
    s = lw.compile(lw.load(leg(hold=80.0)))
    q, v = dropped(s)
    exact = s.simulate(s.state(q, v), 0.5, tolerance=1e-10)
    run = s.simulate(s.state(q, v), 0.5, contact="stepping", step=1e-3, sample_interval="5 ms")
    assert [x.name for x in run.events][:3] == ["foot touches", "foot slips", "foot sticks"] and len(run) == 101
    times = [(a.time, b.time) for a, b in zip(exact.events, run.events, strict=False)]
    assert max(abs(a - b) for a, b in times) < 2e-3
    for name in ("foot.force", "foot.friction", "knee.load"):
        assert run[name][-1] == pytest.approx(exact[name][-1], rel=5e-3)
    taken = exact.certificate.impact_losses + exact.certificate.sliding_loss
    assert run["work.contact"][-1] == pytest.approx(taken, rel=5e-3)
    assert run["foot.impulse"].max() == pytest.approx(exact["foot.impulse"].max(), rel=0.1)
    c = run.certificate
    assert c.checks()["loops"] and c.checks()["contact"] and c.checks()["energy"] and c.position_residual < LOOPS


def test_prescribed_motions_lead_what_they_touch():
    """A cam turned 1.1 times as fast as its follower can follow: it leaves at the angle of the closed form."""
    m, e, k, F0 = 0.5, 0.01, 2000.0, 20.0
    w = 1.1 * float(np.sqrt((m * G + F0 + 2 * k * e) / (m * e)))
    turn = 2.0 * np.pi / w
    run = lw.load(turning_cam(w)).simulate(turn, contact="stepping", step=turn / 2000)
    angle = np.pi - np.arccos((m * G + F0 + k * e) / (m * e * w * w - k * e))
    leaves = run.events[0]
    assert leaves.name == "cam leaves" and leaves.time * w == pytest.approx(angle, abs=8e-3)  # two steps and a half
    np.testing.assert_allclose(run["A.v"], w, rtol=1e-12)
    assert run.certificate.ok


def test_stops_push_in_a_run_by_steps():
    run = lw.load({**PENDULUM, "stops": {"A": {"min": -1.0}}}).simulate(2.0, contact="stepping", step=1e-3)
    assert [x.name for x in run.events] == ["stop A lower"]
    assert run["A.stop.torque"][-1] == pytest.approx(G * np.cos(1.0), rel=1e-9) and run["A.load"][-1] == pytest.approx(G, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"contact": "soft"}, "contact"),
        ({"contact": "stepping"}, "step"),
        ({"contact": "stepping", "step": 3e-3}, "step"),
        ({"contact": "stepping", "step": 1e-3, "tolerance": 1e-6}, "tolerance"),
        ({"contact": "stepping", "step": 1e-3, "integrator": "rk4"}, "integrator"),
        ({"contact": "stepping", "step": 1e-3, "events": ["base.y"]}, "events"),
    ],
)
def test_options_that_steps_do_not_have_are_refused(options, name):
    with refused(lw.UsageError, name=name):
        lw.load(disk(0.1)).simulate(0.1, **options)
