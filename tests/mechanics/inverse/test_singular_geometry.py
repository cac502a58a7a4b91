"""Geometry of singular positions as text, against closed forms and lines drawn by hand."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.closing.singular_position import LostRank, singular_position
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.singular_geometry import read_geometry, singular_geometry
from linkwright.model.curves.polynomial import Line
from linkwright.motion.joint_limits import coordinate_now
from linkwright.rings.papers import hoang
from tests.refusals import refused
from tests.sweeps import sweep


def four_bar(crank: float, coupler: float, rocker: float, ground: float, angle: float) -> Any:
    """A four-bar with the crank at an angle, C above the line B-D."""
    B, D = crank * np.array([np.cos(angle), np.sin(angle)]), np.array([ground, 0.0])
    way = D - B
    s = np.linalg.norm(way)
    along = (s**2 + coupler**2 - rocker**2) / (2 * s)
    C = B + along * way / s + np.sqrt(coupler**2 - along**2) * np.array([-way[1], way[0]]) / s
    drawing = {"A": [0, 0], "B": B.tolist(), "C": C.tolist(), "D": D.tolist()}
    pins = {"ground": ["A", "D"], "crank": ["A", "B"], "coupler": ["B", "C"], "rocker": ["C", "D"]}
    return {"plane": "xy", "drawing": drawing, "bodies": {b: {"pins": p} for b, p in pins.items()}, "drive": {"A": "60 rpm"}}


def still(system: Any, q: np.ndarray, references: Any = None) -> Instant:
    return Instant(
        compiled_of(system).skel, q, np.zeros(system.tree.nv), 0.0, system.start.references if references is None else references
    )


def held(m: Any, *names: str) -> LostRank:
    """The loops with drives that stand still; only the loops are closed."""
    s = m.system
    positions = [coordinate_now(compiled_of(s).loops, n, s.start.instant) for n in names]
    drives = [driven(s.description, n, Line(x, 0.0)) for n, x in zip(names, positions, strict=True)]
    return LostRank(compiled_of(s).loops.with_(drives), closed=len(compiled_of(s).loops.row_scale))


@sweep("seed", range(2), now=1)
def test_dead_centers_of_the_rocker_of_a_grashof_four_bar(seed: int) -> None:
    """The rocker turns back where A, B and C are in line, AC = coupler +- crank; the law of cosines gives its angle at D."""
    rng = np.random.default_rng(seed)
    crank, coupler, rocker, ground = 0.3 + 0.1 * rng.random(), 0.9 + 0.1 * rng.random(), 0.7 + 0.1 * rng.random(), 1.0
    m = lw.load(four_bar(crank, coupler, rocker, ground, rng.uniform(0.5, 1.5)))
    inside = {
        how: np.arccos((ground**2 + rocker**2 - (coupler + sign * crank) ** 2) / (2 * ground * rocker))
        for how, sign in (("stretched", 1), ("folded", -1))
    }
    limits = m.limits("D")
    assert limits.dead_low and limits.dead_high
    turned = limits.high - limits.low
    assert turned == pytest.approx(inside["stretched"] - inside["folded"], abs=1e-6)  # a dead center is located to 1e-7 of a cycle
    assert {limits.geometry_low, limits.geometry_high} == {f"crank and coupler are in line (A, B, C {how})" for how in inside}
    rows = {x.geometry: x for x in m.info().dead_centers}
    for how, sign in (("stretched", 1), ("folded", -1)):
        away = coupler + sign * crank
        at = np.arccos((away**2 + ground**2 - rocker**2) / (2 * away * ground)) + (np.pi if how == "folded" else 0.0)
        assert rows[f"crank and coupler are in line (A, B, C {how})"].at == pytest.approx(at, abs=1e-8)


@sweep("seed", range(2), now=1)
def test_dead_centers_of_the_drive_of_a_four_bar(seed: int) -> None:
    """Without Grashof the crank stops where B, C and D are in line: BD = coupler + rocker or |coupler - rocker|."""
    rng = np.random.default_rng(seed)
    crank, coupler, rocker, ground = 0.9 + 0.1 * rng.random(), 0.5 + 0.1 * rng.random(), 0.75 + 0.1 * rng.random(), 1.0
    m = lw.load(four_bar(crank, coupler, rocker, ground, 0.8))
    limits, c = m.limits("A"), m.cycle()
    far, near = (np.arccos((crank**2 + ground**2 - x**2) / (2 * crank * ground)) for x in (coupler + rocker, abs(coupler - rocker)))
    assert (limits.low, limits.high) == pytest.approx((near, far), abs=1e-6)
    geometry = [f"coupler and rocker are in line (B, C, D {how})" for how in ("folded", "stretched")]
    with refused(lw.AssemblyError, loop="A"):
        m.system.assemble(q={"A": limits.high + 0.2})
    assert [limits.geometry_low, limits.geometry_high] == geometry == [x.geometry for x in c.singular]
    assert [x.geometry for x in m.info().dead_centers if "dead center of A" in x.what] == geometry


def test_a_perturbed_position_claims_nothing() -> None:
    """The exact position has a reading; a position 1e-6 beside it, closed or not, has none."""
    m = lw.load(four_bar(0.9, 0.5, 0.75, 1.0, 0.8))
    s, lost = m.system, held(m, "A")
    far = s.assemble(q={"A": m.limits("A").high - 1e-4})
    at = singular_position(lost, still(s, far.q), s.start.instant)
    assert at is not None
    (found,) = read_geometry(lost, at, s.start.instant)
    assert found.kind == "stretched" and found.off < 1e-13
    for push in 1e-6 * np.eye(s.tree.nv):
        assert read_geometry(lost, still(s, at.q + push), s.start.instant) == ()
    assert singular_geometry(lost, s.start.instant, s.start.instant, reach=0.01) == ()  # far from any


def test_the_dead_centers_of_a_slider_crank() -> None:
    """An offset slider-crank turns back where crank and rod are in line: the slide is sqrt((l +- r)^2 - e^2)."""
    r, length, e = 0.2, 0.7, 0.1
    model = {
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [0, r], "C": [np.sqrt(length**2 - (r - e) ** 2), e]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["C"]},
            "crank": {"pins": ["A", "B"]},
            "rod": {"pins": ["B", "C"]},
            "piston": {"pins": ["C"]},
        },
        "joints": {"rail": {"type": "prismatic", "between": ["ground", "piston"], "at": "C", "axis": [1, 0]}},
        "drive": {"A": "60 rpm"},
    }
    rows = lw.load(model).info().dead_centers
    ends = {how: np.arcsin(e / (length + s * r)) + (np.pi if s < 0 else 0.0) for how, s in (("stretched", 1), ("folded", -1))}
    assert [x.geometry for x in rows] == [f"crank and rod are in line (A, B, C {how})" for how in ends]
    assert [x.at for x in rows] == pytest.approx(list(ends.values()), abs=1e-8) and "rail is largest" in rows[0].what
    # a crank that is too long stops where the rod is across the guide: B is the rod's length above or below it
    longer = copy.deepcopy(model)
    longer["drawing"]["B"], longer["drawing"]["C"] = [0.6, 0.5], [0.6 + np.sqrt(length**2 - 0.4**2), e]
    limits = lw.load(longer).limits("A")
    low = np.arcsin((e - length) / np.hypot(0.6, 0.5))
    assert (limits.low, limits.high) == pytest.approx((low, np.pi - low), abs=1e-6)
    assert limits.geometry_low == limits.geometry_high == "rod is perpendicular to the guide of rail (B, C)"


def platform(legs: str, size: float) -> Any:
    """A platform on cylinders; its pins are those of the bearings on ground, times `size`."""
    base = {"P": (0.0, 0.0), "Q": (1.0, 0.2), "S": (0.4, 0.5), "T": (0.8, -0.3)}
    plate = {n: [size * x for x in base[n]] for n in legs}
    return lw.load(
        {
            "plane": "xy",
            "bodies": {"ground": {"points": {"O": [0, 0], **{n: list(base[n]) for n in legs}}}, "plate": {"points": plate}},
            "joints": {"free": {"type": "planar", "connect": ["ground.O", "plate.P"]}},
            "cylinders": {f"leg{n}": {"between": [f"ground.{n}", f"plate.{n}"]} for n in legs},
            "guess": {"plate": {"at": [0.3, 0.9], "angle": 0.4}},
        }
    )


def test_parallel_and_concurrent_legs_of_a_platform() -> None:
    """Not turned, a platform of the same size has parallel legs; of another size k they meet in the center of the stretch, t/(1 - k)."""
    for size in (1.0, 0.5):
        m = platform("PQS", size)
        s, lost = m.system, held(m, "legP", "legQ", "legS")
        t = np.array([0.3, 0.9])
        (found,) = read_geometry(lost, still(s, np.array([*t, 0.0])), s.start.instant)
        assert found.body == "plate"
        if size == 1.0:
            assert found.kind == "parallel" and found.text(("m",)) == "the lines of legP, legQ and legS are parallel"
        else:
            assert found.kind == "concurrent" and found.point == pytest.approx(t / (1.0 - size), abs=1e-12)
            assert found.text(("mm",)) == "the lines of legP, legQ and legS meet in one point, (600, 1800) mm"
        near = singular_geometry(lost, still(s, np.array([*t, 0.02])), s.start.instant, reach=0.1)
        assert [x.kind for x in near] == [found.kind]  # from a position beside it


def test_a_six_bar_has_three_lines_in_one_point() -> None:
    """Where the arm of the carpet scraper turns back, the lines of crank, rocker and link5 meet: drawn again from the pins."""
    m = lw.load("carpet-scraper")
    rows = [x for x in m.info().dead_centers if "arm.angle" in x.what]
    assert len(rows) == 2 and all("the lines of rocker, crank and link5 meet in one point" in x.geometry for x in rows)
    for row in rows:
        st = m.system.assemble(q={"J1": row.at})
        normals = []
        for body in ("rocker", "crank", "link5"):
            a, b = (st.instant.point(compiled_of(m.system).skel.node(body), np.array(p.at))[:2] for p in _pins(m, body))
            n = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
            normals.append([*n, n @ a])
        # the place of an extreme is known to 1e-9 of a cycle
        assert abs(np.linalg.det(np.array(normals))) < 1e-8


def _pins(m: Any, body: str) -> list[Any]:
    b = m.system.description.body(body)
    frames = [x for j in m.system.description.joints for x in ((j.frame_first, j.first), (j.frame_second, j.second))]
    used = {tuple(frame.at) for frame, owner in frames if owner == body}
    return [p for p in b.points if tuple(p.at) in used][:2]


def test_mechanisms_without_a_reading_say_nothing() -> None:
    """In space, of redundant legs, and through a gear: there is a self-stress, and nothing is said of it."""
    bennett = lw.load("bennett").system
    assert read_geometry(LostRank(compiled_of(bennett).loops), bennett.start.instant, bennett.start.instant) == ()
    m = platform("PQST", 0.5)
    s, lost = m.system, held(m, "legP", "legQ", "legS", "legT")
    assert lost.spare(s.start.instant) == 1  # a fourth leg is redundant everywhere
    assert read_geometry(lost, s.start.instant, still(s, np.array([0.2, 0.8, 0.3]))) == ()
    geared = four_bar(0.9, 0.5, 0.75, 1.0, 0.8)
    geared["couplings"] = {"g": {"from": "B", "to": "C", "ratio": -0.4}}
    locked = lw.load(geared).system  # a structure: the coupling takes the last degree of freedom
    at, lost = locked.start.instant, LostRank(compiled_of(locked).loops.with_([driven(locked.description, "A", Line(0.0, 0.0))]))
    assert lost.spare(at) == 1 and read_geometry(lost, at, still(locked, at.q + 0.1)) == ()


def test_the_passages_of_a_run_are_described() -> None:
    """Case 1 of Hoang et al.: five times the rods meet, four times a leg is stretched or folded, in the first second."""
    found = [p for p in hoang.exact(1).passages if p.time < 1.0]
    assert [p.kind for p in found].count("drives") == 5 and [p.kind for p in found].count("independent") == 4
    for p in found:
        if p.kind == "drives":
            assert p.geometry.startswith("the lines of r1, r2 and r3 meet in one point, (")
        else:
            assert " are in line (" in p.geometry and p.geometry.endswith(("stretched)", "folded)"))
        assert p.geometry in str(p)


def test_a_change_point_names_the_driven_link_too() -> None:
    (place,) = lw.load("change-point-four-bar").cycle().singular
    assert place.geometry == "crank, coupler and rocker are in line (A, B, C, D)"
    run = lw.compile("slider-crank-equal")
    st = run.assemble(q={"A": "120 deg"}, v={"A": 3.0})
    p = run.simulate(st, 0.6).passages[0]
    assert p.kind == "rank" and p.geometry == "crank and rod are in line (A, B, C folded), perpendicular to the slot of C"
