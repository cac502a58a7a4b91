"""Inverse dynamics against other mechanics: maximal coordinates, power, momentum, gears, friction, statics, paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import pose_of
from tests.refusals import refused
from tests.sweeps import sweep


def maximal(s, st, a, drives):
    """Newton-Euler of all bodies, written from the joints' geometry alone: unknown forces and moments, drive efforts."""
    d = s.description
    bodies = [b for b in d.bodies if b.name != "ground"]
    row = {b.name: 6 * i for i, b in enumerate(bodies)}
    x = Instant(compiled_of(s).skel, st.q, st.v, 0.0, st.references, a)
    columns, labels = [], []

    def push(joint, force, moment, point, label):
        column = np.zeros(6 * len(bodies))
        for body, sign in ((joint.second, 1.0), (joint.first, -1.0)):
            if body in row:
                node = compiled_of(s).skel.node(body)
                com = x.point(node, compiled_of(s).skel.com[node])
                column[row[body] : row[body] + 3] += sign * force
                column[row[body] + 3 : row[body] + 6] += sign * (moment + np.cross(point - com, force))
        columns.append(column)
        labels.append(label)

    for j in d.joints:
        X = s.pose(st, j.first)
        F = pose_of(j.frame_first)
        R = X.R @ F.R
        Y = s.pose(st, j.second)
        M = pose_of(j.frame_second)
        point = Y.R @ M.p + Y.p
        ex, ey, ez = R.T
        second_axis = (Y.R @ M.R)[:, 1]
        free_forces = {"prismatic": [ex]}.get(j.type, [])
        free_moments = {"revolute": [ez], "universal": [ex, second_axis], "spherical": [ex, ey, ez]}.get(j.type, [])

        def across(free):
            return np.linalg.svd(np.array(free))[2][len(free) :] if free else np.eye(3)

        for n in across(free_forces):
            push(j, n, np.zeros(3), point, (j.name, "force", n))
        if len(free_moments) < 3:
            for n in across(free_moments):
                push(j, np.zeros(3), n, point, (j.name, "moment", n))
        if j.name in drives:
            if j.type == "prismatic":
                push(j, ex, np.zeros(3), point, (j.name, "drive", 1.0))
            else:
                push(j, np.zeros(3), ez, point, (j.name, "drive", 1.0))
    right = np.zeros(6 * len(bodies))
    for b in bodies:
        node = compiled_of(s).skel.node(b.name)
        R = s.pose(st, b.name).R
        I = R @ np.array(b.inertia) @ R.T
        w, alpha = x.motion.V[node][:3], x.A[node][:3]
        right[row[b.name] : row[b.name] + 3] = b.mass * (x.point_acceleration(node, compiled_of(s).skel.com[node]) - np.array(d.gravity))
        right[row[b.name] + 3 : row[b.name] + 6] = I @ alpha + np.cross(w, I @ w)
    z, _, rank, _ = np.linalg.lstsq(np.array(columns).T, right, rcond=1e-12)
    return z, labels, rank, np.array(columns).T @ z - right


@sweep("model", ["delta", "stewart"], now=1)
def test_platforms_against_a_maximal_coordinate_solution(model):
    s = lw.load(model).system
    drives = [x.joint for x in s.description.drives]
    rng = np.random.default_rng(3)
    speeds = {name: float(x) for name, x in zip(drives, 0.2 * rng.normal(size=len(drives)), strict=True)}
    st = s.assemble(v=speeds)
    # a motion that some efforts cause, so that rods spinning idly between ball joints do what they do by themselves
    a = s.forward(st, tau={name: float(x) for name, x in zip(drives, rng.normal(size=len(drives)), strict=True)}).a
    loads = s.inverse(st, a=a)
    z, labels, _, residual = maximal(s, st, a, drives)
    assert np.abs(residual).max() < 1e-9
    for value, (joint, kind, _) in zip(z, labels, strict=True):
        if kind == "drive":
            assert loads.tau[joint] == pytest.approx(value, abs=1e-8)
    for joint in {label[0] for label in labels}:
        force = sum((v * n for v, (j, kind, n) in zip(z, labels, strict=True) if j == joint and kind == "force"), np.zeros(3))
        if loads.wrench[joint].unique_force.all():
            np.testing.assert_allclose(loads.wrench[joint].force, force, atol=1e-7)
    assert loads.residual < 1e-11


@sweep("model", ["wiper", "jansen-leg", "punch-press", "carpet-scraper"], now=3)
def test_power_of_the_drive_is_the_rate_of_energy_plus_loads(model):
    """Drive power = d/dt (kinetic + potential) - power of loads and friction, from the energies of the samples."""
    m = lw.load(model)
    s = m.system
    if any(b.mass is None for b in s.description.bodies[1:]):
        pytest.fail(f"{model} should have masses")
    drive = s.description.drives[0].joint
    c = m.cycle(steps=180)
    if not c.full_turn:
        pytest.fail(f"{model} should turn fully")
    power = c[f"{drive}.power"][:-1]
    energy = c["energy.total"][:-1]
    n, dt = len(energy), c.t[1]
    rate = np.real(np.fft.ifft(2j * np.pi * np.fft.fftfreq(n, dt) * np.fft.fft(energy)))
    outside = []
    for x in c._instants[:-1]:
        st = lw.State(x.skel, x.q, x.v, x.references, x.t)
        from linkwright.mechanics.dynamics import tree as dynamics

        springs = {f.name for f in s.description.springs}
        at = x
        pushes = [w for f in compiled_of(s).forces if f.name not in springs for w in f.wrenches(at)]
        outside.append(dynamics.generalized(compiled_of(s).skel, x.motion, pushes) @ st.v)
    scale = np.abs(power).max() + np.abs(outside).max()
    # spectral derivative of 180 samples: limited by the sharpest peak of the cycle (a table of loads has corners)
    tolerance = {"punch-press": 2e-2, "carpet-scraper": 1e-6}.get(model, 1e-8)
    np.testing.assert_allclose(power, rate - np.array(outside), atol=tolerance * scale)


def test_shaking_force_is_minus_the_rate_of_momentum_plus_weight():
    m = lw.load("carpet-scraper")
    s = m.system
    st = s.assemble(q={"J1": 0.7}, v={"J1": 4.7})
    a = compiled_of(s).assembler.accelerations(st, None, ["J1"])
    loads = s.inverse(st, a=a)
    from linkwright.mechanics.dynamics import tree as dynamics
    from linkwright.mechanics.kinematics.motion import motion, qdot

    h = 1e-30
    ahead = motion(compiled_of(s).skel, st.q + 1j * h * qdot(compiled_of(s).skel, st.q, st.v), st.v + 1j * h * a)
    linear, angular = (x.imag / h for x in dynamics.momentum(compiled_of(s).skel, ahead))
    mass = sum(b.mass for b in s.description.bodies[1:])
    weight = mass * np.array(s.description.gravity)
    force, moment = loads.ground_wrench
    np.testing.assert_allclose(force, weight - linear, atol=1e-9)
    com = sum(b.mass * (s.pose(st, b.name).R @ np.array(b.com) + s.pose(st, b.name).p) for b in s.description.bodies[1:]) / mass
    np.testing.assert_allclose(moment, np.cross(com, weight) - angular, atol=1e-9)
    # and it is what the ground joints and the drive carry
    ground = [j for j in s.description.joints if j.first == "ground"]
    np.testing.assert_allclose(force, -sum(loads.wrench[j.name].force for j in ground), atol=1e-9)
    direct = -sum(loads.wrench[j.name].moment + np.cross(loads.wrench[j.name].at, loads.wrench[j.name].force) for j in ground)
    direct[2] -= loads.tau["J1"]
    np.testing.assert_allclose(moment, direct, atol=1e-9)
    about = np.array([0.1, -0.2, 0.0])
    np.testing.assert_allclose(loads.shaking(about)[1], moment - np.cross(about, force), atol=1e-12)


GEARS = {
    "name": "gears", "plane": "xy",
    "drawing": {"A": [0, 0], "B": [0.08, 0]},
    "bodies": {"ground": {"pins": ["A", "B"]}, "pinion": {"pins": ["A"], "mass": 0.0}, "wheel": {"pins": ["B"], "mass": 0.0}},
    "gears": {"G": {"joints": ["A", "B"], "radii": [0.02, 0.06]}},
    "drive": {"A": "10 rad/s"},
    "loads": {"resist": {"on": "wheel.B", "moment": -30}},
}  # fmt: skip


def test_gears_load_their_bearings():
    """30 N m at the wheel of 60 mm need 10 N m at the pinion of 20 mm; both bearings feel 500 N and 182 N apart."""
    loads = lw.load(GEARS).system.inverse(lw.load(GEARS).system.assemble(v={"A": 10.0}))
    assert abs(loads.tau["A"]) == pytest.approx(10.0, abs=1e-9)
    for joint in "AB":
        assert float(np.linalg.norm(loads.wrench[joint].force)) == pytest.approx(500.0 / np.cos(np.radians(20.0)), abs=1e-6)


def test_load_dependent_friction_settles_to_its_fixed_point():
    """A pulley-like arm: weight m g at radius r, friction mu rho |F| in its bearing with F = m g: tau = m g r + mu rho m g."""
    arm = {
        "name": "arm", "plane": "xy", "gravity": [0, -10],
        "drawing": {"O": [0, 0], "P": [0.5, 0]},
        "bodies": {"ground": {"pins": ["O"]}, "arm": {"pins": ["O"], "points": ["P"], "mass": 2.0, "com": "P", "inertia": 0.0}},
        "friction": {"O": {"mu": 0.2, "radius": 0.03, "speed": 1e-6}},
        "drive": {"O": "1 rad/s"},
    }  # fmt: skip
    s = lw.load(arm).system
    st = s.assemble(v={"O": 1.0})
    loads = s.inverse(st)
    pull = 2.0 * 0.5 * 1.0**2  # centripetal force of the mass, along the arm
    bearing = np.hypot(20.0, pull)
    assert loads.tau["O"] == pytest.approx(20.0 * 0.5 + 0.2 * 0.03 * bearing, abs=1e-9)


def test_turning_at_zero_speed_is_statics():
    m = lw.load("four-bar", gravity=[0, -9.81])
    c = m.cycle(steps=36, speed=0.0)
    assert np.abs(c.v).max() == 0.0 and np.abs(c.a).max() == 0.0
    torque = c["A.torque"]
    # virtual work: torque = dU/dA
    energy = c["energy.potential"][:-1]
    n = len(energy)
    slope = np.real(np.fft.ifft(1j * np.fft.fftfreq(n, 1 / n) * np.fft.fft(energy)))
    np.testing.assert_allclose(torque[:-1], slope, atol=1e-4 * np.abs(torque).max())  # 36 samples resolve the harmonics to 1e-4


def test_settle_finds_where_a_spring_holds_a_lid():
    """A uniform bar on a torsion spring: m g (l/2) cos(q) = -k (q - q0)."""
    lid = {
        "name": "lid", "plane": "xy", "gravity": [0, -9.81],
        "drawing": {"O": [0, 0], "P": [0.8, 0.3]},
        "bodies": {"ground": {"pins": ["O"]}, "lid": {"pins": ["O"], "points": ["P"], "mass": 3.0, "com": "P", "inertia": 0.1}},
        "springs": {"s": {"joint": "O", "stiffness": "40 N m/rad", "free_position": "60 deg"}},
    }  # fmt: skip
    m = lw.load(lid)
    q = float(m.settle()["lid.angle"])
    r, phase = np.hypot(0.8, 0.3), np.arctan2(0.3, 0.8)
    angle = float(m.settle()["O"])
    force = -3.0 * 9.81 * r * np.cos(angle + phase) - 40.0 * (angle - np.radians(60))
    assert abs(force) < 1e-8 and np.isfinite(q)


def test_the_boot_lid_settles_with_no_force_left():
    m = lw.load("boot-lid")
    s = m.system
    st = m.settle()
    assert np.abs(s.closure(st).phi).max() < 1e-10
    N = compiled_of(s).loops.factored(s.closure(st)).null
    assert np.abs(N.T @ (s.h(st) * compiled_of(s).loops.columns)).max() < 1e-8
    held = m.settle(hold=[s.description.drives[0].joint])
    assert held[s.description.drives[0].joint] == pytest.approx(float(s.start[s.description.drives[0].joint]), abs=1e-12)


def test_following_the_drive_is_turning_it():
    m = lw.load("four-bar")
    s = m.system
    begin = float(s.start["A"])
    omega = s.description.drives[0].value
    t = np.linspace(0.0, 0.1, 8)
    c = m.follow({"A": lambda x: (begin + omega * x, omega, 0.0)}, t)
    for i in (0, 3, 7):
        st = s.assemble(q={"A": begin + omega * t[i]}, v={"A": omega})
        assert c["A.torque"][i] == pytest.approx(s.inverse(st).tau["A"], rel=1e-9)
    sampled = m.follow({"A": begin + omega * t}, t)
    np.testing.assert_allclose(sampled["A.torque"], c["A.torque"], rtol=1e-7)  # a line is exact for the spline up to round-off over dt^2


@pytest.mark.slow
def test_following_a_platform_gives_the_leg_forces_of_the_same_motion():
    """The platform's path, then the same legs driven by what the path asked of them."""
    m = lw.load("stewart")
    s = m.system
    X = s.pose(s.start, "platform")

    def path(t):
        a = 0.2 * np.sin(2 * t)
        R = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1.0]])
        return R @ X.R, X.p + np.array([0.05 * np.sin(3 * t), 0.03 * (np.cos(2 * t) - 1), 0.02 * t])

    c = m.follow({"platform": path}, duration=0.5, steps=25)
    i = 12
    t = c.t[i]
    node = compiled_of(s).skel.node("platform")
    w, p_dot = c._instants[i].motion.V[node][:3], c._instants[i].point_velocity(node, np.zeros(3))
    np.testing.assert_allclose(w, [0, 0, 0.4 * np.cos(2 * t)], atol=1e-11)  # the path is differentiated exactly
    np.testing.assert_allclose(p_dot, [0.15 * np.cos(3 * t), -0.06 * np.sin(2 * t), 0.02], atol=1e-11)
    np.testing.assert_allclose(c._instants[i].A[node][:3], [0, 0, -0.8 * np.sin(2 * t)], atol=1e-11)
    loads = c._each_loads[i]
    legs = [x.joint for x in s.description.drives]
    st = lw.State(compiled_of(s).skel, c.q[i], c.v[i], c.references[i])
    again = s.forward(st, tau={leg: loads.tau[leg] for leg in legs})
    np.testing.assert_allclose(again.a, c.a[i], atol=1e-8 * (1 + np.abs(c.a[i]).max()))
    assert max(x.residual for x in c._each_loads) < 1e-11


def test_moves_with_dwell_carry_loads():
    m = lw.load("four-bar", gravity=[0, -9.81])
    base = m.description.drives[0]
    from dataclasses import replace

    from linkwright.model.description import Move

    start = float(m.system.start["A"])
    for law in ("cycloidal", "modified_sine", "345", "4567", "trapezoidal"):
        moves = (Move(0.3, start + 1.0, law), Move(0.2), Move(0.3, start, law))
        moved = lw.Mechanism(replace(m.description, drives=(replace(base, kind="moves", moves=moves),)))
        c = moved.cycle(steps=32)
        assert c["A"][0] == pytest.approx(start) and c["A"][16] == pytest.approx(start + 1.0) and c["A"][-1] == pytest.approx(start)
        still = c["A.torque"][14]  # dwelling: statics
        st = moved.system.assemble(q={"A": start + 1.0})
        assert still == pytest.approx(moved.system.inverse(st).tau["A"], rel=1e-9)
        work = trapezoid(c["A.power"], c.t)
        assert abs(work) < 0.05 * np.abs(c["A.power"]).max()  # there and back: no work in the end, up to the coarse sum


def test_a_drive_from_a_csv_file_and_from_a_formula(tmp_path):
    """The same sine as a formula of t and as a file of samples; both carry loads."""
    t = np.linspace(0.0, 1.0, 41)
    rows = "\n".join(f"{x},{float(1.0 + 0.3 * np.sin(2 * np.pi * x))}" for x in t)
    (tmp_path / "path.csv").write_text("t, angle\n" + rows + "\n", encoding="utf-8")
    base = """
name: bars
plane: xy
gravity: [0, -9.81]
drawing: {A: [0, 0], B: [0.15, 0.26], C: [0.9, 0.75], D: [1.0, 0]}
bodies:
  ground: {pins: [A, D]}
  crank: {pins: [A, B], mass: 1}
  coupler: {pins: [B, C], mass: 2}
  rocker: {pins: [D, C], mass: 1}
"""
    by_file, by_formula = tmp_path / "file.yaml", tmp_path / "formula.yaml"
    by_file.write_text(base + "drive: {A: {position: {over: t, csv: path.csv}}}\n", encoding="utf-8")
    by_formula.write_text(base + "drive: {A: {position: 1.0 + 0.3*sin(2*pi*t)}}\n", encoding="utf-8")
    one, two = lw.load(by_file).cycle(steps=20), lw.load(by_formula).cycle(steps=20, duration=1.0)
    np.testing.assert_allclose(one["A"], two["A"], atol=1e-5)  # a cubic spline through 41 samples of a period
    inside = slice(3, -3)  # a natural spline bends wrongly at its ends
    np.testing.assert_allclose(one["A.torque"][inside], two["A.torque"][inside], atol=0.05 * np.abs(two["A.torque"]).max())
    assert two["A"][5] == pytest.approx(1.3, abs=1e-9) and any("formula" in n for n in lw.load(by_formula).cycle(steps=4).notes)
    (tmp_path / "path.csv").write_text("1\n2\n", encoding="utf-8")
    with refused(lw.ModelError, name="drive of 'A': position", line=1):
        lw.load(by_file)


def test_a_spring_on_ground_shakes_it_too():
    """What ground feels is the joints' reactions and the spring's pull, together loads and weight minus inertia."""
    from dataclasses import replace

    from linkwright.model.description import CoilSpring

    m = lw.load("four-bar", gravity=[0, -9.81])
    spring = CoilSpring("s", (("ground", "A"), ("rocker", "C")), 200.0, 0.4)
    d = replace(m.description, springs=(spring,))
    s = lw.compile(d)
    st = s.assemble(q={"A": 0.8}, v={"A": 5.0})
    loads = s.inverse(st)
    ends = [s.point(st, "ground.A"), s.point(st, "rocker.C")]
    length = np.linalg.norm(ends[1] - ends[0])
    pull = 200.0 * (length - 0.4) * (ends[1] - ends[0]) / length  # the spring pulls ground toward C
    joints = -sum(loads.wrench[j].force for j in ("A", "D"))
    np.testing.assert_allclose(loads.ground_wrench[0], joints + pull, atol=1e-9)


@sweep("model", ["slider-crank-equal", "parallelogram-chain", "parallelogram-middle"], now=1)
def test_efforts_pass_through_singular_samples(model):
    """A sample exactly in a change point has the effort of its neighbors' limit, and says what it does not know."""
    m = lw.load(model)
    s = m.system
    drive = s.description.drives[0].joint
    singular = {"parallelogram-chain": np.pi, "parallelogram-middle": np.pi, "slider-crank-equal": 1.5 * np.pi}[model]
    name = f"{drive}.torque"
    c = m.cycle(steps=round(2 * np.pi / 0.02), speed=2.0)
    angle = c[drive]
    i = int(np.argmin(np.abs(angle - singular)))
    at = s.assemble(q={drive: singular}, v={drive: 2.0})
    loads = s.inverse(at)
    near = c[name][[i - 2, i - 1, i + 1, i + 2]]
    expected = float(np.interp(singular, angle[[i - 2, i - 1, i + 1, i + 2]], near))
    assert loads.tau[drive] == pytest.approx(expected, abs=2e-3 * (1.0 + np.abs(near).max()))  # linear interpolation over 0.04 rad
    if model != "slider-crank-equal":  # there the assembled position is 1e-8 off the point: nearly lost, not lost
        assert "limit" in loads.method and not all(loads.unique.values())
