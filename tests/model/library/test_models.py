"""The built-in models: they read, close at their start, carry the promised names and the papers' numbers."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from linkwright.errors import UsageError
from linkwright.joints import create, row_indices
from linkwright.model import library as models
from linkwright.model.description import Body, Description, Joint, Placement
from linkwright.model.file import read
from tests.refusals import refused
from tests.scripts import docs_script

REQUIRED = {
    "wiper", "four-bar", "slider-crank", "slider-crank-equal", "punch-press", "five-bar", "boot-lid", "carpet-scraper",
    "carpet-scraper-2007", "3-rrr", "3-rrr-motors", "rssr", "rssr-7r", "stewart", "delta", "scissor-lift", "jansen-leg",
    "excavator", "bennett", "door", "parallelogram-middle", "change-point-four-bar", "parallelogram-chain", "3r-slider", "ankle",
    "flap", "gripper", "geneva", "cam-follower", "slider-crank-clearance", "woodpecker", "ratchet", "toggle-clamp",
}  # fmt: skip

# Drawn shapes close by construction, and these guesses are computed: the start is exact to the digits written.
EXACT = {
    "wiper": 1e-12, "five-bar": 1e-12, "punch-press": 1e-12, "boot-lid": 1e-12, "excavator": 1e-12, "door": 1e-12,
    "parallelogram-middle": 1e-12, "parallelogram-chain": 1e-12, "scissor-lift": 1e-12, "stewart": 1e-9, "delta": 1e-9, "ankle": 1e-12,
    "rssr": 2e-6, "rssr-7r": 4e-6, "bennett": 4e-6,
}  # fmt: skip
SKETCH = 0.05  # a sketch to two digits is off by at most this fraction of the mechanism's size

JOINTS = {
    "wiper": "A B C D", "four-bar": "A B C D", "slider-crank": "A B C guide", "slider-crank-equal": "A B C",
    "change-point-four-bar": "A B C D",
    "carpet-scraper": "J1 J2 J3 J4 J5 J6 J7 J8 J9 J10", "carpet-scraper-2007": "J1 J2 J3 J4 J5 J6 J7 J8 J9 J10",
    "3-rrr": "J1 J2 J3 J4 J5 J6 J7 J8 J9", "3-rrr-motors": "A1 A2 A3 P", "rssr": "crank rocker U S",
    "excavator": " ".join(f"J{i}" for i in range(1, 16)), "bennett": "A B C D", "door": "H1 H2 H3",
    "3r-slider": "J1 J2 J3 tip", "ankle": "pitch roll left right U1 U2 B1 B2",
}  # fmt: skip
DRIVES = {
    "wiper": "A", "four-bar": "A", "slider-crank": "A", "slider-crank-equal": "A", "carpet-scraper": "J1",
    "carpet-scraper-2007": "J1", "3-rrr": "J1 J8 J9",
    "3-rrr-motors": "A1 A2 A3", "rssr": "crank", "rssr-7r": "crank", "excavator": "J4 J10 J13", "five-bar": "A E",
    "3r-slider": "J1 J2", "ankle": "left right",
}  # fmt: skip
SCRAPER_TREE = {
    "J1": "ground crank", "J2": "ground rocker", "J3": "rocker coupler", "J4": "ground arm", "J5": "arm link5", "J6": "arm tool",
    "J7": "tool link7", "J8": "crank coupler",
}  # fmt: skip
ORDER = {
    "carpet-scraper": {**SCRAPER_TREE, "J9": "link5 coupler", "J10": "link5 link7"},
    "carpet-scraper-2007": {**SCRAPER_TREE, "J9": "coupler link5", "J10": "coupler link7"},
    "3-rrr": {
        "J1": "ground link1", "J2": "link1 link2", "J3": "link2 platform", "J4": "platform link4", "J5": "platform link5",
        "J8": "ground link6", "J9": "ground link7", "J6": "link6 link4", "J7": "link7 link5",
    },
    "rssr": {"S": "coupler crank", "U": "rocker coupler", "crank": "ground crank", "rocker": "ground rocker"},
    "slider-crank-equal": {"A": "ground crank", "B": "crank rod", "C": "ground rod"},
    "3r-slider": {"J1": "ground upper", "J2": "upper fore", "J3": "fore hand", "tip": "ground hand"},
}  # fmt: skip


@cache
def model(name: str) -> Description:
    return read(models.path(name)).numbers()


def pose(placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    return np.array(placement.rotation, dtype=float), np.array(placement.at, dtype=float)


def joint_pose(desc: Description, joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """X_FM of a joint at the start placements of its two bodies."""
    frames = []
    for body, frame in ((joint.first, joint.frame_first), (joint.second, joint.frame_second)):
        (R_WB, p_WB), (R_BF, p_BF) = pose(desc.body(body).start), pose(frame)
        frames.append((R_WB @ R_BF, p_WB + R_WB @ p_BF))
    (R_F, p_F), (R_M, p_M) = frames
    return R_F.T @ R_M, R_F.T @ (p_M - p_F)


def world_point(desc: Description, body: str, point: str) -> np.ndarray:
    R, p = pose(desc.body(body).start)
    return p + R @ np.array(desc.point((body, point)).at, dtype=float)


def size(desc: Description) -> float:
    """Diagonal of the box around all joints at the start."""
    points = []
    for joint in desc.joints:
        R, p = pose(desc.body(joint.first).start)
        points.append(p + R @ np.array(joint.frame_first.at, dtype=float))
    points += [world_point(desc, *ref) for rod in desc.rods for ref in rod.between]
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))


def gaps(desc: Description) -> dict[str, float]:
    """How far each joint and rod is open at the start: lengths as a fraction of the size, angles in radians."""
    scale = size(desc)
    found = {}
    for joint in desc.joints:
        kind = create(joint.type, joint.options)
        R, p = joint_pose(desc, joint)
        rows = row_indices(kind, desc.planar)
        residual = np.asarray(kind.residual(R, p, kind.coordinates(R, p, np.zeros(kind.nq))), dtype=float)
        worst = [abs(residual[i]) / (scale if kind.rows[i].startswith("t") else 1.0) for i in rows]
        found[joint.name] = max(worst, default=0.0)
    for rod in desc.rods:
        ends = [world_point(desc, *ref) for ref in rod.between]
        found[rod.name] = abs(float(np.linalg.norm(ends[1] - ends[0])) - rod.length) / scale
    return found


def inertia_about_origin(body: Body) -> float:
    """Moment about z at the body's origin."""
    assert body.mass is not None
    x, y, _ = body.com
    return body.inertia[2][2] + body.mass * (x * x + y * y)


def start_angle(desc: Description, body: str) -> float:
    R, _ = pose(desc.body(body).start)
    return math.atan2(R[1, 0], R[0, 0])


def turn_apart(a: float, b: float) -> float:
    """Smallest angle between two directions."""
    return abs((a - b + math.pi) % (2 * math.pi) - math.pi)


# ------------------------------------------------------------------------------------ all models


def test_the_promised_models_are_there() -> None:
    assert set(models.names()) >= REQUIRED
    assert models.names() == sorted(models.names())
    with refused(UsageError, name="carpet-scrapper"):
        models.path("carpet-scrapper")


@pytest.mark.parametrize("name", models.names())
def test_a_header_says_what_it_is_and_where_its_data_comes_from(name: str) -> None:
    text = models.path(name).read_text(encoding="utf-8")
    header = [line for line in text[: text.index("\nname:")].splitlines() if line]
    assert len(header) >= 2 and all(line.startswith("# ") for line in header)
    joined = " ".join(header)
    assert "our own" in joined or "[" in joined
    desc = model(name)
    assert desc.name == name
    assert 10 < len(models.about(name)) < 110
    assert models.about(name) == desc.about


def test_the_docs_show_every_model_once() -> None:
    make = docs_script("make_models")
    page = make.PAGE.read_text(encoding="utf-8")
    assert make.renewed(page, make.TABLES) == page, "run `python docs/make/make_models.py`"
    assert sorted(name for names in make.GROUPS.values() for name in names) == sorted(models.names())
    assert {path.stem for path in make.IMAGES.glob("*.png")} == set(models.names()), "run `python docs/make/make_models.py --pictures`"


@pytest.mark.parametrize("name", models.names())
def test_it_reads_without_a_warning_and_has_mass(name: str) -> None:
    desc = model(name)
    assert not desc.warnings
    massless = {"rssr-7r": {"link2", "link4", "link5"}, "woodpecker": {"carrier"}}.get(name, set())  # as the papers model them
    for body in desc.bodies[1:]:
        assert body.mass is not None, f"{body.name} has no mass"
        assert body.mass > 0.0 or (body.name in massless and body.mass == 0.0)
    assert desc.drives or desc.touch_laws  # a machine that only holds, or that its weight drives, runs by its contacts


@pytest.mark.parametrize("name", models.names())
def test_it_closes_at_its_start(name: str) -> None:
    found = gaps(model(name))
    worst = max(found, key=lambda n: found[n])
    assert found[worst] <= EXACT.get(name, SKETCH), f"{worst} is open by {found[worst]:.3g}"


@pytest.mark.parametrize("name", JOINTS)
def test_joint_names(name: str) -> None:
    assert {j.name for j in model(name).joints} == set(JOINTS[name].split())


@pytest.mark.parametrize("name", DRIVES)
def test_drives(name: str) -> None:
    assert {d.joint for d in model(name).drives} == set(DRIVES[name].split())


@pytest.mark.parametrize("name", ORDER)
def test_order_of_bodies_gives_the_papers_signs(name: str) -> None:
    assert {j.name: f"{j.first} {j.second}" for j in model(name).joints} == ORDER[name]


# ------------------------------------------------------------------------------------ the papers' numbers

# Points at crank angle 0 on the papers' branch, from closed-form dyads.
SCRAPER_POINTS = {
    ("crank", "A"): (0.038, 0.0), ("rocker", "B"): (-0.0255, 0.0961186), ("coupler", "S"): (-0.089, 0.1922372),
    ("arm", "P"): (0.1005999, 0.3377462), ("arm", "Q"): (0.2570998, 0.1571118), ("tool", "R"): (0.0674998, 0.0116028),
    ("tool", "T"): (-0.4065, -0.3521696),
}  # fmt: skip
SCRAPER_BODIES = ("crank", "rocker", "coupler", "arm", "link5", "tool", "link7")


@pytest.mark.parametrize("ref", SCRAPER_POINTS)
def test_scraper_is_sketched_on_the_papers_branch(ref: tuple[str, str]) -> None:
    at = world_point(model("carpet-scraper"), *ref)
    assert math.dist(at[:2], SCRAPER_POINTS[ref]) < 0.01  # two digits of coordinates up to 0.41 m, plus the links' exact lengths


@pytest.mark.parametrize(
    ("name", "moments"),
    [
        ("carpet-scraper", [0.722, 13.27104, 22.1184, 156.740024, 57.121, 2449.062875, 57.121]),  # m L^2/3, coupler m L^2/12
        ("carpet-scraper-2007", [0.73, 13.30, 22.12, 157.0, 57.0, 2449.0, 57.0]),  # [Chaudhary2007 Table 1]
    ],
)
def test_scraper_moments_about_the_links_origins(name: str, moments: list[float]) -> None:
    desc = model(name)
    found = []
    for body in (desc.body(b) for b in SCRAPER_BODIES):
        # the paper's origin of the coupler is its middle, which is also its center of mass
        found.append(body.inertia[2][2] if body.name == "coupler" else inertia_about_origin(body))
    np.testing.assert_allclose(np.array(found) * 1e3, moments, rtol=1e-12)
    assert [desc.body(b).mass for b in SCRAPER_BODIES] == [1.5, 3.0, 5.0, 4.2, 3.0, 10.5, 3.0]


@pytest.mark.parametrize("name", ["carpet-scraper", "carpet-scraper-2007"])
def test_scraper_angles_are_the_papers_theta(name: str) -> None:
    theta = [0.0, 0.9869762549775295, 1.1676401436347341, 5.426321615793117, 4.653033911521631, 4.653033911521631, 4.771744049247748]
    desc = model(name)
    for number, angle in enumerate(theta, start=1):
        joint = desc.joint(f"J{number}")
        relative = start_angle(desc, joint.second) - start_angle(desc, joint.first)
        assert turn_apart(relative, angle) < 0.05, f"theta{number}"


def test_scraper_lengths() -> None:
    desc = model("carpet-scraper")
    station = {(b, p.name): p.at[0] for b in SCRAPER_BODIES for p in desc.body(b).points}
    assert station["arm", "Q"] / station["arm", "P"] == pytest.approx(3.5)  # the pantograph's ratio
    assert station["tool", "T"] / station["tool", "R"] == pytest.approx(3.5)
    assert station["coupler", "S"] == 2 * station["coupler", "B"] == 0.2304


def test_3rrr_data() -> None:
    desc = model("3-rrr")
    alpha = [1.04, -0.8178369876835054, 1.0470813557527314, -1.5924293361586992, 0.7611622001379051, 4.1883, 5.7637]
    bodies = ["link1", "link2", "platform", "link4", "link5", "link6", "link7"]
    for body, angle in zip(bodies, alpha, strict=True):
        assert turn_apart(start_angle(desc, body), angle) < 0.05, body
    assert dict(desc.start) == {"J1": 1.04, "J8": 4.1883, "J9": 5.7637}
    about_com = {b: desc.body(b).inertia[2][2] for b in bodies}
    assert about_com["link1"] == pytest.approx(0.04) and about_com["link2"] == pytest.approx(0.12)
    assert about_com["platform"] == pytest.approx(8 * 0.4**2 / 12)  # uniform triangular plate
    np.testing.assert_allclose(desc.body("platform").com[:2], (0.2, 0.2 / math.sqrt(3)), rtol=1e-14)


def test_motor_driven_3rrr_has_the_inertias_of_the_paper() -> None:
    """[Hoang2023 (35)]: crank J + m1 l1^2/4 + m2 l1^2/2, platform m7 + 3 m2/2 and J7 + 3 m2 b^2/2."""
    desc = model("3-rrr-motors")
    l1, m1, m2, m7, b = 0.581, 2.072, 0.75, 0.978, 0.2 / math.sqrt(3)
    for crank in ("crank1", "crank2", "crank3"):
        assert inertia_about_origin(desc.body(crank)) == pytest.approx(0.13 + m1 * l1**2 / 4 + m2 * l1**2 / 2, rel=1e-13)
    platform = desc.body("platform")
    assert platform.mass == pytest.approx(m7 + 1.5 * m2, rel=1e-14)
    assert platform.inertia[2][2] == pytest.approx(0.007 + 1.5 * m2 * b**2, rel=1e-13)
    assert [rod.length for rod in desc.rods] == [0.62] * 3
    # residual of [Hoang2023 (36)] at the printed start position, in m^2
    for rod, printed in zip(desc.rods, (-1.43e-6, -3.49e-6, 3.65e-6), strict=True):
        ends = [world_point(desc, *ref) for ref in rod.between]
        r = ends[1] - ends[0]
        assert r @ r - 0.62**2 == pytest.approx(printed, abs=3e-5)  # O3 is written to four digits in the guess
    assert not any(desc.gravity)


def test_slider_crank_is_two_point_masses() -> None:
    """[Aghili2005 (66)]: m11 = m l^2 (3 + 2 cos q2), m22 = m l^2: all mass at the links' far ends."""
    desc = model("slider-crank-equal")
    for name in ("crank", "rod"):
        body = desc.body(name)
        assert body.mass == 1.0 and tuple(body.com) == (1.0, 0.0, 0.0) and not np.any(body.inertia)
    assert dict(desc.start) == {"A": pytest.approx(2 * math.pi / 3)}
    relative = start_angle(desc, "rod") - start_angle(desc, "crank")
    assert turn_apart(relative, 2 * math.pi - 2 * (2 * math.pi / 3)) < 0.05  # the branch B = 2 pi - 2 A


def test_rssr_geometry_and_thin_rods() -> None:
    desc = model("rssr")
    np.testing.assert_allclose(world_point(desc, "rocker", "B"), (0.3599681906, 0.2998409530, 0.0501192852), atol=1e-6)
    np.testing.assert_allclose(world_point(desc, "coupler", "A"), (0.1, 0.0, 0.0), atol=1e-12)
    for name, mass, length in (("crank", 0.5, 0.1), ("coupler", 2.0, 0.4), ("rocker", 1.25, 0.25)):
        body = desc.body(name)
        np.testing.assert_allclose(body.inertia, np.diag([0.0, 1.0, 1.0]) * mass * length**2 / 12, atol=1e-18)
    R, _ = joint_pose(desc, desc.joint("rocker"))
    assert math.atan2(R[1, 0], R[0, 0]) == pytest.approx(1.5309129915956468, abs=2e-6)  # psi at crank angle 0
    R_WB, _ = pose(desc.body("rocker").start)
    np.testing.assert_allclose(R_WB[:, 2], (0.0, 0.6, 0.8), atol=1e-6)


def test_bennett_condition_and_angles() -> None:
    desc = model("bennett")
    p = dict(desc.parameters)
    assert p["a"] / math.sin(p["alpha"]) == pytest.approx(p["b"] / math.sin(p["beta"]))
    angle = {}
    for joint in desc.joints:
        R, _ = joint_pose(desc, joint)
        angle[joint.name] = math.atan2(R[1, 0], R[0, 0])
    for one, other in (("A", "C"), ("B", "D")):
        assert turn_apart(angle[one] + angle[other], 0.0) < 1e-5
    ratio = math.sin((p["beta"] + p["alpha"]) / 2) / math.sin((p["beta"] - p["alpha"]) / 2)
    assert math.tan(angle["A"] / 2) * math.tan(angle["B"] / 2) == pytest.approx(ratio, rel=1e-4)


def test_change_point_lengths_and_branch() -> None:
    desc = model("change-point-four-bar")
    p = dict(desc.parameters)
    assert p["l0"] + p["l1"] == pytest.approx(p["l2"] + p["l3"])
    delta = math.pi - turn_apart(start_angle(desc, "coupler") + math.pi, start_angle(desc, "rocker") + math.pi)
    assert math.sin(delta / 2) == pytest.approx(math.sqrt(p["l0"] * p["l1"] / (p["l2"] * p["l3"])) * math.cos(0.15), abs=0.05)


def test_ankle_has_the_header_s_numbers() -> None:
    """Lengths of cranks, levers and rods; rods are uniform; the armature is a rotor behind a gear of 9."""
    desc = model("ankle")

    def apart(body: str, a: str, b: str) -> float:
        return 1e3 * math.dist(desc.point((body, a)).at, desc.point((body, b)).at)

    assert apart("crank1", "C1", "R1") == pytest.approx(52) and apart("crank2", "C2", "R2") == pytest.approx(52)
    assert apart("foot", "S1", "S2") == pytest.approx(64) and apart("foot", "P", "S1") == pytest.approx(math.hypot(44, 32, 8))
    assert apart("rod1", "R1", "S1") == pytest.approx(math.hypot(8, 218)) and apart("rod2", "R2", "S2") == pytest.approx(math.hypot(8, 298))
    for joint in ("left", "right"):
        assert desc.joint(joint).armature == pytest.approx(43.2e-6 * 9**2, rel=2e-3)
    for name in ("rod1", "rod2"):
        body = desc.body(name)
        across = body.mass * (apart(name, name.replace("rod", "R"), name.replace("rod", "S")) / 1e3) ** 2 / 12
        assert np.linalg.eigvalsh(np.array(body.inertia, dtype=float))[-1] == pytest.approx(across, rel=2e-3)  # 10 mm thick
    travel = {s.joint: (round(math.degrees(s.lower)), round(math.degrees(s.upper))) for s in desc.stops}
    assert travel == {"pitch": (-25, 45), "roll": (-18, 18)}


def test_excavator_has_the_papers_graph() -> None:
    """Bodies by their numbers in [Koul2013 Fig. 1]; 0 is ground."""
    number = {
        "ground": 0, "link": 1, "lever": 2, "bucket_barrel": 3, "bucket_rod": 4, "stick": 5, "boom": 6, "bucket": 7,
        "stick_barrel": 8, "stick_rod": 9, "boom_barrel": 10, "boom_rod": 11,
    }  # fmt: skip
    edges = {1: {0, 1}, 2: {1, 2}, 15: {2, 6}, 6: {0, 6}, 3: {2, 3}, 4: {3, 4}, 5: {4, 7}, 8: {7, 5}, 7: {5, 6}, 14: {5, 9}, 13: {9, 8},
             12: {8, 6}, 9: {0, 10}, 10: {10, 11}, 11: {11, 2}}  # fmt: skip
    desc = model("excavator")
    assert {int(j.name[1:]): {number[j.first], number[j.second]} for j in desc.joints} == edges
    assert {j.name for j in desc.joints if j.type == "prismatic"} == {"J4", "J13", "J10"}
    assert 3 * (len(desc.bodies) - 1) - 2 * len(desc.joints) == 3


def test_jansen_leg_has_jansens_numbers() -> None:
    desc = model("jansen-leg")

    def apart(body: str, a: str, b: str) -> float:
        return 100 * math.dist(desc.point((body, a)).at, desc.point((body, b)).at)

    found = {
        "b": apart("shoulder", "G", "U"), "c": apart("thigh", "G", "L"), "d": apart("shoulder", "G", "V"), "e": apart("shoulder", "U", "V"),
        "f": apart("link", "V", "K"), "g": apart("shin", "L", "K"), "h": apart("shin", "K", "F"), "i": apart("shin", "L", "F"),
        "j": apart("upper_rod", "X", "U"), "k": apart("lower_rod", "X", "L"), "m": apart("crank", "O", "X"),
    }  # fmt: skip
    assert found == pytest.approx(
        {"b": 41.5, "c": 39.3, "d": 40.1, "e": 55.8, "f": 39.4, "g": 36.7, "h": 65.7, "i": 49, "j": 50, "k": 61.9, "m": 15}
    )


def test_the_press_says_that_its_sheet_pushes_back() -> None:
    """A load over position only: what the drive gives on the down-stroke comes back on the up-stroke."""
    from linkwright import load

    m = load("punch-press")
    c = m.cycle(steps=720)
    power = c["E.power"]
    # braked work against work given, both to some 1e-3 for kinks of the table between samples
    assert -power[power < 0].sum() == pytest.approx(power[power > 0].sum(), rel=1e-3)
    assert "pushes back on the up-stroke" in m.description.about
