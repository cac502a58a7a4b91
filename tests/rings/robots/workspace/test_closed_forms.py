"""Workspaces of robots whose reach and singularities are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.rings.robots.workspace import workspace
from tests.rings.robots.workspace.robots import BASE, LEGS, PLATFORM, robot

ROUND_OFF = 1e-12  # of places, some hundred operations on numbers of size 1
OVER = {"platform.x": "-0.5..1.3 m / 44", "platform.y": (-0.6, 1.2, 44)}
ANGLE = np.deg2rad(20.0)


def rotated(points: np.ndarray, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


class ThreeRrr:
    """Closed forms of the library's 3-RRR: cranks 0.4 m, rods 0.6 m, base of side 1 m, platform of side 0.4 m."""

    base = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    platform = np.array([[0.0, 0.0], [0.4, 0.0], [0.2, 0.2 * np.sqrt(3.0)]])

    @classmethod
    def distances(cls, places: np.ndarray, angle: float) -> np.ndarray:
        """(poses, legs): from the bearings of the legs to their pins in the platform."""
        off = places[:, None, :] + rotated(cls.platform, angle) - cls.base
        return np.sqrt((off**2).sum(axis=2))

    @classmethod
    def margin(cls, places: np.ndarray, angle: float) -> np.ndarray:
        """Distance from the nearest end of the annuli between 0.2 m and 1 m; negative outside."""
        d = cls.distances(places, angle)
        return np.minimum(1.0 - d, d - 0.2).min(axis=1)


@pytest.fixture(scope="module")
def slice_of_3rrr():
    return workspace(robot("3-rrr"), OVER, "all", at={"platform.angle": "20 deg"}, efforts="200 N m", payload="5 kg")


def points_of(workspace, kind):
    found = [x for x in workspace.located if x.kind == kind]
    return [np.concatenate(parts) for parts in zip(*((x.points, x.q, x.determinant) for x in found), strict=True)]


def test_reach_of_a_3rrr_is_that_of_its_annuli(slice_of_3rrr):
    places = slice_of_3rrr.grid.poses
    assert np.array_equal(slice_of_3rrr.reach.ravel(), ThreeRrr.margin(places, ANGLE) > 0.0)
    assert slice_of_3rrr.counts == {"in reach": int(slice_of_3rrr.reach.sum()), "out of reach": int((~slice_of_3rrr.reach).sum())}


def test_ends_of_the_reach_of_a_3rrr_lie_on_its_annuli(slice_of_3rrr):
    points, _, determinant = points_of(slice_of_3rrr, "type I")
    assert len(points) > 200
    assert np.abs(ThreeRrr.margin(points, ANGLE)).max() < ROUND_OFF
    assert np.abs(determinant).max() < 1e-10
    outer = [c for c in slice_of_3rrr.curves if c.kind == "type I"]
    assert len(outer) == 4 and all(c.closed for c in outer)  # the rim and three holes


def test_area_of_a_3rrr_slice(slice_of_3rrr):
    """Against a fine count of the closed form, whose error is that of its own cells along some 6 m of rim."""
    n = 600
    x, y = (np.linspace(low, low + 1.8, n, endpoint=False) + 0.9 / n for low in (-0.5, -0.6))
    places = np.stack([v.ravel() for v in np.meshgrid(x, y)], axis=1)
    exact = float((ThreeRrr.margin(places, ANGLE) > 0.0).mean()) * 1.8**2
    assert slice_of_3rrr.size == pytest.approx(exact, rel=4e-3)


def test_type_two_of_a_3rrr_has_rods_through_one_point(slice_of_3rrr):
    """Forces of the three rods on the platform are linearly dependent: det of (direction, moment) is zero."""
    points, q, _ = points_of(slice_of_3rrr, "type II")
    assert len(points) > 80
    s = robot("3-rrr")
    poses = s.kernel("poses")(q)
    rods = [("link2", "P1", "B1"), ("link4", "P2", "B2"), ("link5", "P3", "B3")]
    lines = []
    for body, pin, elbow in rods:
        node, d = compiled_of(s).skel.node(body), s.description.body(body)
        ends = [poses.p[:, node] + poses.R[:, node] @ np.array(d.point(p).at, dtype=float) for p in (pin, elbow)]
        along = (ends[1] - ends[0])[:, :2] / 0.6
        lines.append(np.stack([along[:, 0], along[:, 1], ends[0][:, 0] * along[:, 1] - ends[0][:, 1] * along[:, 0]], axis=1))
    assert np.abs(np.linalg.det(np.stack(lines, axis=1))).max() < 1e-10


def test_efforts_are_those_of_inverse_dynamics(slice_of_3rrr):
    s = robot("3-rrr")
    inside = np.argwhere(slice_of_3rrr.reach & (slice_of_3rrr["dexterity"] > 0.02))
    for i, j in inside[:: len(inside) // 5]:
        found = s.inverse(s.state(slice_of_3rrr.q[i, j]), wrench={"platform": [0, 0, 0, 0, -5 * 9.81, 0]})
        for name in ("J1", "J8", "J9"):
            assert slice_of_3rrr[f"{name}.torque"][i, j] == pytest.approx(found.tau[name], rel=1e-9, abs=1e-9)


def test_acceleration_in_every_direction_uses_a_drive_fully(slice_of_3rrr):
    """Without the payload, whose inertia `inverse` does not know: at the computed acceleration one drive is at its limit, none beyond."""
    s = robot("3-rrr")
    a = workspace(s, {"platform.x": (0.45, 0.55, 2), "platform.y": (-0.1, 0.0, 2)}, "acceleration", efforts="200 N m")
    r, st = float(a["acceleration"][0, 0]), s.state(a.q[0, 0])
    back = np.linalg.inv(np.asarray(s.jacobian(st, "platform")))  # drives' speeds by (angle, x, y)
    most = 0.0
    for t in np.linspace(0.0, 2.0 * np.pi, 91):
        rates = back @ [0.0, r * np.cos(t), r * np.sin(t)]
        efforts = s.inverse(st, a=dict(zip(("J1", "J8", "J9"), rates, strict=True))).tau
        most = max(most, *(abs(efforts[n]) for n in ("J1", "J8", "J9")))
    assert most == pytest.approx(200.0, rel=1e-3)  # 91 directions miss the worst one by two degrees at most


def test_five_bar_reach_and_singularities():
    """Ends of the reach are circles about the bearings, type II where both rods are in line."""
    s = robot("five-bar")
    start = s.assemble(point={"left_rod.C": [0.1, 0.2]})
    for a in workspace(s, {"left_rod.C.x": (-0.2, 0.4, 20), "left_rod.C.y": (-0.35, 0.35, 20)}, "reach", start=start, modes="all"):
        rim, _, _ = points_of(a, "type I")
        d = np.stack([np.hypot(rim[:, 0] - x, rim[:, 1]) for x in (0.0, 0.2)], axis=1)
        lengths = np.array([0.08 + 0.22, 0.22 - 0.08])
        assert np.abs(d[:, :, None] - lengths).min(axis=(1, 2)).max() < 1e-7  # the drawing rounds the rods' length
        lost = [x for x in a.located if x.kind == "type II"]
        if lost:
            poses = s.kernel("poses")(np.concatenate([x.q for x in lost]))
            first, second = (poses.R[:, compiled_of(s).skel.node(n), :2, 0] for n in ("left_rod", "right_rod"))
            assert np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]).max() < 1e-9


def test_a_line_through_the_reach_has_points_and_no_surface():
    line = lw.load("five-bar").workspace({"left_rod.C.x": (-0.3, 0.5, 17)}, "dexterity", at={"left_rod.C.y": 0.22})
    located = [text for text in str(line).splitlines() if text.startswith("type I:")]
    assert located and all(text.endswith("located points") for text in located)


def test_limits_of_a_3rpr_are_circles():
    s = robot("3-rpr")
    over = {"platform.x": (-0.1, 0.9, 30), "platform.y": (-0.3, 0.7, 30)}
    a = workspace(s, over, "speed", at={"platform.angle": "10 deg"}, limits={f"leg{k}": "0.3..0.8 m" for k in LEGS}, speeds="1 m/s")
    points, _, _ = points_of(a, "limit")
    legs = np.sqrt(((points[:, None, :] + rotated(PLATFORM, np.deg2rad(10.0)) - BASE) ** 2).sum(axis=2))
    assert np.abs(legs[:, :, None] - np.array([0.3, 0.8])).min(axis=(1, 2)).max() < ROUND_OFF
    assert ((legs > 0.3 - ROUND_OFF) & (legs < 0.8 + ROUND_OFF)).all()
    assert a["speed"][a.reach] == pytest.approx(1.0, rel=1e-12)  # every leg is a unit vector: none is faster than the platform
    every = np.sqrt(((a.grid.poses[:, None, :] + rotated(PLATFORM, np.deg2rad(10.0)) - BASE) ** 2).sum(axis=2))
    assert np.array_equal(a.reach.ravel(), ((every >= 0.3) & (every <= 0.8)).all(axis=1))


def test_stewart_determinant_and_stiffness_from_lines_of_the_legs():
    """Rows of the inverse Jacobian are Pluecker coordinates of the legs: direction, and moment about the reference point."""
    s = robot("stewart")
    over = {"platform.x": (-0.2, 0.2, 3), "platform.y": (-0.2, 0.2, 3)}
    a = workspace(s, over, "all", at={"platform.roll": "8 deg", "platform.pitch": "-5 deg", "platform.yaw": "20 deg"}, stiffness="1e6 N/m")
    poses, d, node = s.kernel("poses")(a.q.reshape(9, -1)), s.description, compiled_of(s).skel.node("platform")
    R, p = poses.R[:, node], poses.p[:, node]
    lines = []
    for k in range(1, 7):
        arm = R @ np.array(d.body("platform").point(f"P{k}").at, dtype=float)
        along = p + arm - np.array(d.body("ground").point(f"B{k}").at, dtype=float)
        along /= np.linalg.norm(along, axis=1)[:, None]
        lines.append(np.concatenate([np.cross(arm, along), along], axis=1))
    J = np.stack(lines, axis=1)
    rates = np.linalg.det(J) * np.cos(np.deg2rad(-5.0))  # of roll, pitch and yaw instead of angular velocity: det is cos(pitch)
    kappa = compiled_of(s).loops.kappa
    home = workspace(s, {"platform.x": (-0.1, 0.1, 3), "platform.y": (-0.1, 0.1, 3)}, "reach")
    assert home["type2"][1, 1] == pytest.approx(1.0, rel=1e-9)
    assert a["manipulability"].ravel() == pytest.approx(kappa**3 / np.abs(rates), rel=1e-9)
    C = np.linalg.inv(1e6 * np.swapaxes(J, 1, 2) @ J)
    assert a["stiffness"].ravel() == pytest.approx(1.0 / np.linalg.eigvalsh(C[:, 3:, 3:])[:, -1], rel=1e-9)
    assert a["turning_stiffness"].ravel() == pytest.approx(1.0 / np.linalg.eigvalsh(C[:, :3, :3])[:, -1], rel=1e-9)
