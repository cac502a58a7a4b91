"""Tasks: starts on the loops, goals that can be reached, parameters of every environment, ends, and messages about mistakes."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import linkwright as lw
import linkwright.rings.control.gym as lg
from linkwright.rings.control.gym.random_streams import RowRandom
from tests.refusals import refused

PLAIN: dict[str, Any] = {"observe": ["A", "A.v"], "act": {"A": "2 N m"}, "reward": lambda x: -np.abs(x["A"]), "horizon": 5}


def task(model: Any = "five-bar", **changes: Any) -> lg.Task:
    return lg.Task(model, **{**PLAIN, **changes})


def with_stop(stop: dict[str, Any]) -> dict[str, Any]:
    """The five-bar, without gravity, with a stop at its left crank."""
    drawing = {"A": [0, 0], "B": [0, 0.08], "C": [0.1, 0.2759592], "D": [0.2, 0.08], "E": [0.2, 0]}
    rods = {"left": ["A", "B"], "left_rod": ["B", "C"], "right_rod": ["D", "C"], "right": ["E", "D"]}
    bodies = {"ground": {"pins": ["A", "E"]}, **{name: {"pins": pins, "mass": 0.2} for name, pins in rods.items()}}
    return {"name": "stopped", "plane": "xy", "drawing": drawing, "bodies": bodies, "drive": {"A": 0, "E": 0}, "stops": {"A": stop}}


# ---------------------------------------------------------------- random numbers


def test_streams_are_uniform_and_independent() -> None:
    """Means, variances and correlations within four standard errors: between numbers of a row, and between rows of neighboring seeds."""
    n, k = 4000, 8
    u = RowRandom(np.arange(n), np.zeros(n)).uniform(size=k)
    assert u.min() >= 0.0 and u.max() < 1.0
    assert np.abs(u.mean(axis=0) - 0.5).max() < 4.0 * np.sqrt(1 / 12 / n)
    assert np.abs(u.var(axis=0) - 1 / 12).max() < 4.0 * np.sqrt(1 / 180 / n)
    assert np.abs(np.corrcoef(u.T) - np.eye(k)).max() < 4.5 / np.sqrt(n)
    assert abs(np.corrcoef(u[:-1].ravel(), u[1:].ravel())[0, 1]) < 4.0 / np.sqrt(n * k)
    other = RowRandom(np.arange(n), np.ones(n)).uniform(size=k)
    assert abs(np.corrcoef(u.ravel(), other.ravel())[0, 1]) < 4.0 / np.sqrt(n * k)
    z = RowRandom(np.arange(n), np.zeros(n), 3).normal(2.0, 0.5)
    assert abs(z.mean() - 2.0) < 4 * 0.5 / np.sqrt(n) and abs(z.std() - 0.5) < 4 * 0.5 / np.sqrt(2 * n)
    whole = RowRandom(np.arange(n), np.zeros(n)).integers(-1, 2)
    assert set(whole) == {-1, 0, 1}
    assert set(RowRandom(np.arange(99), np.zeros(99)).choice([3.0, 7.0])) == {3.0, 7.0}


# ---------------------------------------------------------------- starts and goals


def test_starts_are_closed_and_within_their_ranges() -> None:
    ranges = {"A": ("70 deg", "110 deg"), "E": (1.3, 1.8), "A.v": (-1.0, 1.0)}
    t = task(start=ranges, goal={"A": ("60 deg", "120 deg"), "speed": 3.0}, read=["E", "B", "goal.left_rod.C"], dtype="float64")
    envs = t.vector(50)
    envs.reset(seed=0)
    x, s = envs.episodes.last, t.system
    assert x is not None and (x["goal.speed"] == 3.0).all()
    for name, (low, high) in {"A": (1.22173, 1.91987), "E": (1.3, 1.8), "A.v": (-1.0, 1.0)}.items():
        assert low <= x[name].min() < x[name].max() <= high and np.ptp(x[name]) > 0.8 * (high - low)
    for i in (0, 17, 49):
        st = envs.episodes.stepper.state(i)
        assert np.abs(s.closure(st).phi).max() < 1e-12 and np.abs(s.closure(st).J @ st.v).max() < 1e-12
        wanted = s.assemble({"A": float(x["goal.A"][i]), "E": float(s.start["E"])})
        assert np.allclose(x["goal.left_rod.C"][i], wanted["left_rod.C"], atol=1e-12)


def test_draws_that_cannot_be_assembled_are_drawn_again() -> None:
    """A slider of an equal slider-crank cannot be farther than two links from the bearing: the drive is the crank of a rocker here."""
    rocker = lw.load({
        "name": "rocker", "plane": "xy", "gravity": 0, "drawing": {"A": [0, 0], "B": [0.3, 0.1], "C": [0.7, 0.4], "D": [0.8, 0]},
        "bodies": {"ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"], "mass": 1}, "coupler": {"pins": ["B", "C"], "mass": 1},
                   "rocker": {"pins": ["D", "C"], "mass": 1}}, "drive": {"A": 0},
    })  # fmt: skip
    travel = rocker.limits("A")
    low, high = float(travel.low), float(travel.high)
    envs = task(rocker, start={"A": (low - 1.0, high + 1.0)}).vector(64)
    angles = envs.reset(seed=1)[0][:, 0]
    assert low < angles.min() and angles.max() < high
    single = task(rocker, start={"A": (low - 1.0, high + 1.0)}).env()
    assert [float(single.reset(seed=1 + i)[0][0]) for i in range(8)] == angles[:8].tolist()
    with refused(lw.UsageError, name="start"):
        task(rocker, start={"A": (high + 0.2, high + 0.3)}).vector(3).reset(seed=0)


def test_other_coordinates_than_drives_may_be_drawn() -> None:
    envs = task("wiper", start={"D": ("95 deg", "100 deg")}, read=["D"]).vector(4)
    envs.reset(seed=0)
    assert envs.episodes.last is not None
    assert (np.abs(np.rad2deg(envs.episodes.last["D"]) - 97.5) < 2.6).all()


def test_options_replace_draws() -> None:
    t = task(start={"A": (1.3, 1.8)}, goal={"level": (0.0, 1.0)}, observe=["A", "goal.level"], dtype="float64")
    envs = t.vector(3)
    assert np.allclose(envs.reset(seed=0, options={"A": 1.5, "goal.level": [1, 2, 3]})[0], [[1.5, 1], [1.5, 2], [1.5, 3]], atol=1e-15)
    mask = np.array([False, True, False])
    seen = envs.reset(options={"A": 1.6, "reset_mask": mask})[0]
    assert seen[:, 0].round(12).tolist() == [1.5, 1.6, 1.5]
    with refused(lw.UsageError, name="B", allowed=("goal.level", "A")):
        envs.reset(options={"B": 0.0})


def test_functions_may_draw() -> None:
    def start(random: RowRandom) -> dict[str, Any]:
        return {"A": 1.5 + 0.1 * random.normal(), "E": random.choice([1.4, 1.6])}

    envs = task(start=start, observe=["A", "E"], dtype="float64").vector(200)
    seen = envs.reset(seed=0)[0]
    assert set(seen[:, 1].round(12)) == {1.4, 1.6} and abs(seen[:, 0].std() - 0.1) < 0.02


# ---------------------------------------------------------------- parameters of every environment


@pytest.mark.slow
def test_masses_and_lengths_of_every_environment() -> None:
    """Each environment moves as a mechanism with its own numbers does; lengths are closed on their own loops."""
    lot = {"right.mass": (0.1, 0.5), "left_rod.length": ("210 mm", "230 mm")}
    t = task(
        randomize=lot, start={"A": (1.4, 1.7)}, observe=["A", "A.v", "right.mass", "left_rod.length"], dtype="float64", dt=0.01, substeps=5
    )
    envs = t.vector(12)
    first = envs.reset(seed=3)[0]
    assert np.ptp(first[:, 2]) > 0.2 and np.ptp(first[:, 3]) > 0.01
    actions = np.random.default_rng(0).uniform(-1, 1, (12, 1))
    for _ in range(3):
        seen = envs.step(actions)[0]
    for i in (0, 5, 11):
        m = lw.load("five-bar").with_(**{"right.mass": first[i, 2], "left_rod.length": first[i, 3]})
        s = m.system
        st = s.assemble({"A": first[i, 0], "E": float(t.system.start["E"])})
        for _ in range(3):
            st = s.step(st, {"A": 2.0 * actions[i, 0]}, 0.01, substeps=5)
        assert np.allclose(seen[i, :2], [st["A"], st["A.v"]], atol=1e-9)  # two assemblies agree to round-off, then 15 steps
    assert not np.array_equal(envs.reset()[0][:, 2], first[:, 2])


def test_patterns_and_percentages_of_parameters() -> None:
    """Numbers that a pattern finds are drawn independently, about those of the model."""
    t = task(randomize={"*.mass": "10 %", "gravity.y": (-10.0, -9.0)}, read=["left.mass", "right.mass", "gravity.y"])
    envs = t.vector(100)
    envs.reset(seed=0)
    x = envs.episodes.last
    assert x is not None
    assert 0.18 <= x["left.mass"].min() < 0.185 and 0.215 < x["left.mass"].max() <= 0.22  # of 0.2 kg
    assert abs(np.corrcoef(x["left.mass"], x["right.mass"])[0, 1]) < 0.4 and x["gravity.y"].max() < -9.0


def test_trees_and_mechanisms_without_drives() -> None:
    """A cart with a pole: one coordinate acts, the other is drawn; no loop, no drive in the model."""
    cart = {
        "name": "cart-pole", "plane": "xy", "gravity": [0, "-9.81 m/s^2"], "drawing": {"O": [0, 0], "P": [0, 0.5]},
        "bodies": {"ground": {"points": ["O"]}, "cart": {"points": ["O"], "mass": 1, "inertia": 0.1, "com": "O"},
                   "pole": {"points": ["O", "P"], "mass": 0.1, "com": "P", "inertia": 0.001}},
        "joints": {"rail": {"type": "prismatic", "connect": ["ground.O", "cart.O"], "axis": [1, 0]},
                   "hinge": {"type": "revolute", "connect": ["cart.O", "pole.O"]}},
    }  # fmt: skip
    t = task(cart, observe=["rail", "hinge", "pole.P.y"], act={"rail": "10 N"}, start={"hinge": ("-5 deg", "5 deg")},
             reward=lambda x: x["pole.P.y"], horizon=20)  # fmt: skip
    envs = t.vector(6)
    first = envs.reset(seed=0)[0]
    for _ in range(20):
        seen = envs.step(np.zeros((6, 1)))[0]
    assert np.ptp(first[:, 1]) > 0.03 and (np.abs(seen[:, 1]) > np.abs(first[:, 1])).all()  # it falls over


def test_floating_bases_and_limits_of_the_model() -> None:
    """Speeds of a free joint by name; the limits of a drive in the model are those of the action."""
    floating = {
        "name": "floating", "gravity": [0, 0, -9.81], "drawing": {"O": [0, 0, 0], "P": [0.3, 0, 0]},
        "bodies": {"ground": {}, "base": {"points": ["O"], "mass": 2, "com": "O", "inertia": [0.01, 0.02, 0.02]},
                   "leg": {"points": ["P"], "mass": 0.5, "com": "P", "inertia": [0.01, 0.02, 0.02]}},
        "joints": {"base": {"type": "free", "between": ["ground", "base"], "at": "O"},
                   "hip": {"type": "revolute", "between": ["base", "leg"], "at": "O", "axis": [0, 1, 0]}},
        "drive": {"hip": {"limits": "5 N m"}},
    }  # fmt: skip
    t = task(floating, observe=["base.z", "base.vz", "base.quat", "hip"], act=["hip"], start={"base.vz": (1.0, 2.0), "base.z": "0.5 m"},
             reward=lambda x: x["hip"], dtype="float64", dt=0.01)  # fmt: skip
    envs = t.vector(4)
    first = envs.reset(seed=0)[0]
    assert envs.episodes.act.half.tolist() == [5.0] and np.allclose(first[:, 0], 0.5) and (first[:, 1] > 1.0).all()
    seen = envs.step(np.zeros((4, 1)))[0]
    assert np.allclose(seen[:, 0], 0.5 + 0.01 * first[:, 1] - 0.5 * 9.81 * 0.01**2, atol=1e-9)  # both bodies fall alike
    with refused(lw.UsageError, name="base"):
        task(floating, observe=["hip"], act=["hip"], start={"base": 0.0}).env()


# ---------------------------------------------------------------- ends


def test_failures_end_episodes() -> None:
    """Torques that throw a mechanism beyond what a step can close end the episode of that environment, with the reason; others go on."""
    t = task(act={"A": 1e9}, failure=-7.0, horizon=50, reward=lambda x: np.zeros(len(x["A"])))
    envs = t.vector(3)
    envs.reset(seed=0)
    seen, rewards, terminated, truncated, infos = envs.step(np.array([[0.0], [1.0], [0.0]]))
    assert terminated.tolist() == [False, True, False] and not truncated.any() and rewards.tolist() == [0.0, -7.0, 0.0]
    assert infos["_failure"].tolist() == [False, True, False] and np.isfinite(seen).all()
    assert "closed" in infos["failure"][1] and "raise `substeps`" in infos["failure"][1]
    env = t.env()
    env.reset(seed=0)
    assert "failure" in env.step([1.0])[4]


def test_rigid_stops_hold_what_is_pushed_against_them() -> None:
    """The crank that is pushed on comes to its stop and stays, and no episode ends. Speeds are put onto the loops after
    the impulses of a step, which moves the crank's by the length of a step, 5 ms, times the square of the others' 0.7 rad/s."""
    t = task(with_stop({"max": "92 deg"}), read=["A.v"], reward=lambda x: np.zeros(len(x["A"])), horizon=50)
    envs = t.vector(2)
    envs.reset(seed=0)
    for _ in range(40):
        assert not envs.step(np.array([[0.5], [-0.5]]))[2].any()
    x = envs.episodes.sample()
    assert x["A"][0] == pytest.approx(np.radians(92.0), abs=1e-9) and abs(x["A.v"][0]) < 0.02 and x["A"][1] < np.radians(80.0)


def test_starts_beyond_rigid_stops_are_drawn_again() -> None:
    """Half of the range is beyond the stop: every start drawn is within it, as is every goal; a model that starts beyond is refused."""
    t = task(with_stop({"max": "92 deg"}), start={"A": ("82 deg", "102 deg")}, goal={"A": ("82 deg", "102 deg")}, read=["goal.A"])
    seen = []
    for seed in range(3):
        envs = t.vector(20)
        envs.reset(seed=seed)
        x = envs.episodes.sample()
        seen += [*x["A"], *x["goal.A"]]
    assert max(seen) <= np.radians(92.0) and min(seen) < np.radians(84.0) and max(seen) > np.radians(90.0)
    with refused(lw.UsageError, name="start"):
        task(with_stop({"max": "40 deg"}), start=None, goal=None, observe=["A"]).env().reset(seed=0)
    said = r"m.limits.* One of the draws was refused because A = .* is beyond its rigid stop at 0\.698132\."
    with pytest.raises(lw.UsageError, match=said):
        task(with_stop({"max": "40 deg"}), start={"A": ("50 deg", "60 deg")}, goal=None, observe=["A"]).env().reset(seed=0)


def test_a_refusal_has_no_reason_of_earlier_episodes() -> None:
    """Starts beyond the stop are drawn again; a start given later that cannot be assembled (a crank that points down) is another matter."""
    start = {"A": ("82 deg", "102 deg"), "E": ("80 deg", "100 deg")}
    env = task(with_stop({"max": "92 deg"}), start=start, goal=None, observe=["A"]).env()
    env.reset(seed=0)
    while not env.episodes.stopped:  # half of the draws are
        env.reset()
    with refused(lw.UsageError, name="start") as found:
        env.reset(options={"A": -3.0, "E": 0.1})
    assert "stop" not in str(found.value)


def test_singular_positions_may_end_episodes() -> None:
    """A four-bar that runs through its change point: the rank-revealing path passes it; with `singular` the episode ends there."""
    ends, start = {}, {"A": ("170 deg", "175 deg"), "A.v": (5.0, 6.0)}
    for singular in (False, True):
        envs = task("change-point-four-bar", singular=singular, start=start, dt=1e-3, substeps=1, horizon=500).vector(9)
        envs.reset(seed=0)
        ends[singular] = sum(envs.step(np.zeros((9, 1)))[2].sum() for _ in range(60))
    assert ends[False] == 0 and ends[True] >= 9


def test_ends_by_time_and_by_function() -> None:
    t = task(done=lambda x: x["t"] > 0.05, dt=0.02, horizon="1 s")
    env = t.env()
    env.reset(seed=0)
    assert t.steps == 50 and [env.step([0.0])[2] for _ in range(3)] == [False, False, True]
    assert [task(horizon=h, dt="20 ms").steps for h in (3, "60 ms", 0.06)] == [3, 3, 3]


def test_rewards_of_a_change() -> None:
    """A reward of two arguments sees the arrays before the step."""
    env = task(reward=lambda x, before: x["A"] - before["A"], dtype="float64").env()
    first = env.reset(seed=0)[0]
    seen, reward, *_ = env.step([1.0])
    assert reward == seen[0] - first[0] != 0.0


def test_limits_of_actions() -> None:
    """Actions beyond -1 and 1 are clipped; limits need not be symmetric, and may be those of the model's drives."""
    t = task(act={"A": (-1.0, 3.0)}, read=["A.torque"])
    env = t.env()
    env.reset(seed=0)
    torques = []
    for a in (-5.0, 0.0, 5.0):
        env.step([a])
        assert env.episodes.last is not None
        torques.append(float(env.episodes.last["A.torque"][0]))
    assert np.allclose(torques, [-1.0, 1.0, 3.0], atol=1e-12)
    with refused(lw.UsageError, name="A"):
        task(act=["A"]).env()


# ---------------------------------------------------------------- mistakes

MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "channel": ({"observe": ["left_rod.Q.x"]}, "there is no channel 'left_rod.Q.x'"),
    "nothing observed": ({"observe": []}, "at least one"),
    "text": ({"observe": "A"}, "list of names"),
    "coordinate": ({"act": {"Z": 1.0}}, "'Z'"),
    "cut joint": ({"act": {"C": 1.0}}, "'C' is a cut joint"),
    "unit": ({"act": {"A": "2 mm"}}, "torque"),
    "limits": ({"act": {"A": (2.0, 1.0)}}, "is empty: its first number must be the smaller one"),
    "scale": ({"observe": {"A": 0.0}}, "above 0"),
    "reward": ({"reward": 1.0}, "reward is a function"),
    "dtype": ({"dtype": "int8"}, "float32, float64"),
    "horizon": ({"horizon": 0}, "horizon is a number of steps"),
    "substeps": ({"substeps": 0}, "substeps is a whole number"),
    "start": ({"start": {"nowhere": 1.0}}, "'nowhere'"),
    "range": ({"start": {"A": (1.0, 2.0, 3.0)}}, r"a tuple is a range, \(low, high\) or \(low, high, count\), not 3 numbers"),
    "parameter": ({"randomize": {"right.weight": (1, 2)}}, "right.weight"),
    "no unit": ({"goal": {"level": "3 mm"}}, "must be a pure number"),
    "no goal": ({"observe": ["goal.A"]}, "the task has no goal"),
    "drawn": ({"start": 3.0}, "dicts of ranges"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_a_task(name: str) -> None:
    changes, message = MISTAKES[name]
    with pytest.raises(lw.LinkwrightError, match=message):
        task(**changes).vector(2)


CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "not read": ({"reward": lambda x: x["E"]}, r"x\['E'\] is not read by this task: add it to read"),
    "one number": ({"reward": lambda x: 1.0}, r"one number for each environment: \(2,\)"),
    "not finite": ({"reward": lambda x: x["A"] * np.nan}, "reward of environment 0 is not a finite number"),
    "done": ({"done": lambda x: x["A"]}, "True or False for each environment"),
    "define": ({"define": {"d": lambda x: 3.0}, "reward": lambda x: x["d"]}, "define: 'd' has shape"),
}


@pytest.mark.parametrize("name", CALLS)
def test_mistakes_in_functions(name: str) -> None:
    changes, message = CALLS[name]
    envs = task(**changes).vector(2)
    envs.reset(seed=0)
    with pytest.raises(lw.UsageError, match=message):
        envs.step(np.zeros((2, 1)))


def test_mistakes_in_calls() -> None:
    envs = task().vector(2, autoreset_mode="Disabled")
    for call, message in (
        (lambda: envs.step(np.zeros((2, 1))), r"call reset\(\) before"),
        (lambda: envs.reset(seed=[1]), "2 of them"),
        (lambda: envs.reset(seed=-1), "0 or more"),
        (lambda: envs.reset(seed=1.5), "0 or more"),
        (lambda: task().env().reset(seed=-1), "0 or more, not -1"),
        (lambda: envs.reset(seed=0) and envs.step(np.zeros((3, 1))), r"shape \(3, 1\). They need \(2, 1\): A"),
        (lambda: envs.step(np.array([[0.0], [np.nan]])), "environment 1 for 'A' is not a finite number"),
        (lambda: envs.step("no"), "numbers from -1 to 1"),
        (lambda: envs.reset(options={"reset_mask": [True, False]}), "array of 2 values"),
        (lambda: [envs.step(np.zeros((2, 1))) for _ in range(7)], "episodes of environments 0, 1 have ended"),
        (lambda: task().vector(2, autoreset_mode="never"), "autoreset_mode is one of"),
        (lambda: task().env(render_mode="human"), "render_mode is None or one of rgb_array"),
        (lambda: task().vector(0), "one or more environments"),
        (lambda: gymnasium.make("linkwright/FiveBarReach-v0", horizn=3), "no field 'horizn'"),
        (lambda: lg.registration.found("FiveBar"), "no built-in task 'FiveBar'"),
    ):
        with pytest.raises(lw.UsageError, match=message):
            call()


# ---------------------------------------------------------------- built-in tasks can be solved


def test_simple_controllers_solve_shipped_tasks() -> None:
    """A proportional law holds the speed of the crank within 0.2 rad/s most of the time; one with damping brings the platform to its pose
    in most episodes. Signs, scales and limits of the tasks are therefore right; a policy has room to do better."""
    envs = gymnasium.make_vec("linkwright/CrankSpeed-v0", num_envs=16)
    seen, held = envs.reset(seed=0)[0], []
    for k in range(500):
        seen, _, _, _, infos = envs.step(10.0 * (seen[:, 3:] - seen[:, 2:3]))
        held.append(infos["is_success"].mean() if k > 300 else 1.0)
    assert np.mean(held[301:]) > 0.6
    envs = gymnasium.make_vec("linkwright/StewartPose-v0", num_envs=16)
    seen = envs.reset(seed=0)[0]
    for _ in range(199):
        seen, rewards, _, _, infos = envs.step(0.18 + 3.0 * (seen[:, 12:] - seen[:, :6]) - 1.2 * seen[:, 6:12])
    assert infos["is_success"].mean() > 0.6 and rewards.mean() > 0.85


def test_set_points_in_turns_make_the_leg_hop() -> None:
    """Crouch and stretch every 0.3 s. Over many hops the floor carries the weight on average, which is its momentum: 5.4 kg, and the
    trunk's momentum at both ends over 9.6 s is below 2 % of that impulse. Every leg is in the air for a good part of the time."""
    task = lg.registration.found("HopperHeight-v0").with_(dt="2.5 ms", substeps=1, horizon="20 s", randomize={"mu": (0.5, 1.0)})
    envs = task.vector(3)
    envs.reset(seed=0)
    crouch, stretch = (np.clip((c * np.array([1, -2, 1]) - envs.episodes.act.center) / envs.episodes.act.half, -1, 1) for c in (0.35, -0.2))
    force, height = [], []
    for k in range(240 * 18):
        envs.step(np.tile(crouch if k % 240 < 120 else stretch, (3, 1)))
        assert envs.episodes.last is not None
        force.append(envs.episodes.last["sole.heel.normal"] + envs.episodes.last["sole.toe.normal"])
        height.append(envs.episodes.last["apex"])
    carried, apex = np.array(force)[240 * 2 :], np.array(height)[240 * 2 :]
    assert np.allclose(carried.mean(axis=0), 5.4 * 9.81, rtol=0.02)
    assert ((carried == 0.0).mean(axis=0) > 0.3).all() and (apex.max(axis=0) > 0.2).all()
