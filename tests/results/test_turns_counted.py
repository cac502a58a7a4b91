"""Whole turns do not depend on the samples asked for: of bodies, of cut joints, in the plane and in space, in runs and along paths."""

import numpy as np
import pytest

import linkwright as lw
from linkwright.system.mechanism import mechanism_of
from tests.motion.test_singular_turn import scissor
from tests.sweeps import sweep

END = 0.1
SPEED = 600.0  # rad/s: ten turns in the end
FINE = np.linspace(0.0, END, 401)  # 0.15 rad of the crank apart


def some_samples(seed):
    rng = np.random.default_rng(seed)
    return np.unique(np.concatenate([rng.choice(FINE, rng.integers(1, 9)), [END]]))


SPUN = [("four-bar", "A", ()), ("four-bar", "A", ("A",)), ("slider-crank-equal", "A", ()), ("bennett", "A", ("A",))]


@pytest.fixture(scope="module")
def spun(request):
    """A crank at constant speed and the same run sampled so finely that no sample is half a turn from the next."""
    name, crank, cuts = request.param
    s = lw.compile(lw.load(name), cuts=cuts) if cuts else lw.compile(name)
    st = s.assemble(v={crank: SPEED})

    def run(output):
        return s.simulate(st, END, drive={crank: lw.drives.speed(SPEED)}, sample_interval=output)

    fine = run(FINE)
    angles = [n for n in fine.channels if fine._channel(n).dimension == "angle"]
    return run, crank, float(st[crank]), angles, fine


@sweep("spun", SPUN, now=[SPUN[2]], indirect=True)
def test_angles_are_those_of_the_fine_run(spun):
    run, crank, begin, angles, fine = spun
    assert np.abs(fine[crank] - begin - SPEED * FINE).max() < 1e-7  # the closed form of the total angle
    assert all(np.abs(np.diff(fine[n])).max() < np.pi for n in angles)  # nothing jumps in the fine run
    for seed in range(3):
        t = some_samples(seed)
        coarse = run([END] if seed == 0 else t)
        at = np.searchsorted(FINE, coarse.t)
        for n in angles:
            assert np.abs(coarse[n] - fine[n][at]).max() < 1e-6, n  # two sets of output of one integration


@sweep("spun", SPUN, now=[SPUN[1]], indirect=True)
def test_parts_files_and_states_count_alike(spun, tmp_path):
    run, _, _, angles, fine = spun
    coarse = run([0.06, 0.081, END])
    again = lw.load_result(coarse.save(tmp_path / "run.npz"))
    at = np.searchsorted(FINE, coarse.t)
    for n in angles:
        want = fine[n][at]
        for got in (again[n], np.concatenate([coarse[0:1][n], coarse[1:][n]]), coarse.between(0.05, 1.0)[n]):
            assert np.abs(got - want).max() < 1e-6, n


def test_a_free_spin_has_the_turns_of_its_closed_form():
    """A rotor under a constant torque: angle = w t + M t^2 / (2 I)."""
    bodies = {
        "ground": {"pins": ["A"]},
        "rotor": {"pins": ["A"], "mass": "2 kg", "com": [0, 0], "inertia": "0.5 kg m^2"},
    }
    model = {"name": "rotor", "plane": "xy", "gravity": [0, 0], "drawing": {"A": [0, 0]}, "bodies": bodies}
    s = lw.compile(lw.load(model))
    st = s.assemble(v={"A": 30.0})
    for output in ([4.0], [1.0, 4.0], [0.1, 0.7, 3.3, 4.0]):
        run = s.simulate(st, 4.0, drive={"A": lw.drives.torque(50.0)}, sample_interval=output)
        t = run.t
        want = 30.0 * t + 0.5 * (50.0 / 0.5) * t * t
        assert np.abs(run["A"] - want).max() < 1e-8 * want.max() and np.abs(run["rotor.angle"] - want).max() < 1e-8 * want.max()


@sweep("samples", [7, 11, 200], now=1)
def test_a_path_is_followed_and_not_its_chords(samples):
    """The tip of an arm of two links goes three times round its shoulder, on a circle: the elbow stays bent as it is, the shoulder turns
    with the tip, however few samples are asked for."""
    bodies = {
        "ground": {"pins": ["A"]},
        "upper": {"pins": ["A", "B"], "mass": 1},
        "lower": {"points": {"B": [0, 0], "P": [0.6, 0]}, "pins": ["B"], "mass": 1, "com": [0.3, 0]},
    }
    drawing = {"A": [0, 0], "B": [0.6, 0]}
    s = lw.compile(lw.load({"name": "arm", "plane": "xy", "gravity": [0, 0], "drawing": drawing, "bodies": bodies, "start": {"B": 1.2}}))
    x, y = s.start["lower.P"]
    r, begin = np.hypot(x, y), np.arctan2(y, x)

    def path(t):
        return [r * np.cos(begin + 6.0 * np.pi * t), r * np.sin(begin + 6.0 * np.pi * t)]

    c = mechanism_of(s).follow({"lower.P": path}, t=np.linspace(0.0, 1.0, samples + 1))
    want = 6.0 * np.pi * c.t
    assert np.abs(c["A"] - c["A"][0] - want).max() < 1e-9 and np.abs(c["lower.angle"] - c["lower.angle"][0] - want).max() < 1e-9
    assert np.abs(c["B"] - c["B"][0]).max() < 1e-9


def test_a_turn_counts_from_the_start_position():
    """Body angles at the start position are those of the start state, wherever the turn begins: of a swing far from it."""
    for m in (scissor(), lw.load("excavator"), lw.load("wiper")):
        c = m.cycle(steps=48)
        nearest = int(np.argmin(np.abs(c[c.drive] - m.system.start[c.drive])))
        for n in (n for n in c.channels if n.endswith(".angle")):
            step = np.abs(np.diff(c[n])).max()
            assert abs(c[n][nearest] - m.system.start[n]) <= step + 1e-9 and step < np.pi, (m.name, n)


def test_states_read_the_angles_of_their_run():
    c = lw.load("wiper").cycle(steps=36)
    assert c["crank.angle"][-1] > np.pi
    for i in (3, 20, 36):
        t = float(c.t[i])
        for got in (c.state(i)["crank.angle"], c[i]["crank.angle"], c.at(t)["crank.angle"], c.at([t])["crank.angle"][0]):
            assert abs(got - c["crank.angle"][i]) < 1e-9
