"""All assembly modes: numbers of the literature and of closed forms, poses against the loops' own geometry, paths against wrenches."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from benchmarks.closed_loop_set import cases
from linkwright.api import compiled_of
from linkwright.motion.assembly_modes import held_system, newton_of, solutions
from linkwright.numerics.monodromy import polynomial_trace
from tests.refusals import refused
from tests.sweeps import sweep

# Platforms of benchmarks/closed-loop-set: Dietmaier's, with 40 real modes of 40 complex ones, and a planar one with six.
DIETMAIER, FLAT = (cases.named(name).task("all modes").given for name in ("dietmaier", "3-rpr"))
BASE, PLATFORM, LEGS = (DIETMAIER[key] for key in ("base", "platform", "legs"))
FLAT_BASE, FLAT_PLATFORM = FLAT["base"], FLAT["platform"]
FLAT_LEGS = {f"leg{i}": x for i, x in enumerate(FLAT["legs"], 1)}


def on_cylinders(base: list, platform: list, at: list[float], joint: str, inertia: object) -> lw.System:
    """A platform on driven cylinders between points of ground and its own."""
    n = range(1, len(base) + 1)
    drawn = {f"B{i}": [x + y for x, y in zip(p, at, strict=True)] for i, p in zip(n, platform, strict=True)}
    model = {
        "name": "platform on cylinders",
        "drawing": {**{f"A{i}": list(p) for i, p in zip(n, base, strict=True)}, **drawn},
        "bodies": {
            "ground": {"points": [f"A{i}" for i in n]},
            "platform": {"points": [f"B{i}" for i in n], "mass": 1, "com": "B1", "inertia": inertia},
        },
        "joints": {"base": {"type": joint, "between": ["ground", "platform"], "at": "B1"}},
        "cylinders": {f"leg{i}": {"between": [f"ground.A{i}", f"platform.B{i}"]} for i in n},
        "drive": [f"leg{i}" for i in n],
    }
    return lw.compile(lw.load(model | ({"plane": "xy"} if joint == "planar" else {})))


@pytest.fixture(scope="module")
def flat() -> tuple[lw.System, list]:
    s = on_cylinders(FLAT_BASE, FLAT_PLATFORM, [3.0, 8.0], "planar", 1)
    return s, s.branches(FLAT_LEGS)


def test_dietmaiers_platform_has_forty_real_postures() -> None:
    s = on_cylinders(BASE, PLATFORM, [0.2, 0.3, 0.9], "free", [0.1, 0.1, 0.1])
    found = s.branches({f"leg{i}": x for i, x in enumerate(LEGS, 1)})
    c = found.completeness
    assert len(found) == 40 and c.complex == 40 and c.lost == 0 and c.complete and c.trace < 1e-8
    places = np.array([[st[f"platform.B{i}"] for i in range(1, 7)] for st in found])
    assert np.abs(np.linalg.norm(places - np.array(BASE), axis=2) - LEGS).max() < 1e-9
    apart = np.abs(places[:, None] - places[None]).max(axis=(2, 3)) + 9.0 * np.eye(40)
    assert apart.min() > 1e-2


def test_a_planar_platform_has_the_six_poses_of_its_sextic(flat: tuple[lw.System, list]) -> None:
    """At a given angle two differences of circles are linear in the place; the third circle is then one equation of the angle."""
    _, found = flat
    a, b, legs = np.array(FLAT_BASE, float), np.array(FLAT_PLATFORM, float), np.array(list(FLAT_LEGS.values()))
    t = np.linspace(-np.pi, np.pi, 100001)
    turned = np.stack(
        [np.cos(t)[:, None] * b[:, 0] - np.sin(t)[:, None] * b[:, 1], np.sin(t)[:, None] * b[:, 0] + np.cos(t)[:, None] * b[:, 1]], -1
    )
    w = turned - a  # |p + w_i| = legs_i
    A = 2.0 * (w[:, 1:] - w[:, :1])
    right = (legs[1:] ** 2 - (w[:, 1:] ** 2).sum(-1)) - (legs[0] ** 2 - (w[:, :1] ** 2).sum(-1))
    det = np.linalg.det(A)
    scaled = np.stack(
        [right[:, 0] * A[:, 1, 1] - right[:, 1] * A[:, 0, 1], A[:, 0, 0] * right[:, 1] - A[:, 1, 0] * right[:, 0]], -1
    )  # det p
    g = ((scaled + det[:, None] * w[:, 0]) ** 2).sum(-1) - det**2 * legs[0] ** 2
    roots = t[:-1][np.sign(g[:-1]) != np.sign(g[1:])]
    angles = sorted(float(st["platform.angle"]) for st in found)
    assert len(roots) == 6 and angles == pytest.approx(list(roots), abs=1e-4)  # the grid's step is 6e-5
    assert found.completeness.complete and found.completeness.complex == 6
    table = str(found)
    assert table.startswith("6 real assembly modes, 0 complex") and "trace test passed" in table and table.count("deg") == 6


@pytest.mark.slow
def test_a_path_between_modes_keeps_the_legs_independent(flat: tuple[lw.System, list]) -> None:
    """The determinant of the three lines of force, computed from points, keeps its sign; modes of the other sign are refused."""
    _, found = flat
    pairs = [(i, k) for i in range(6) for k in range(i) if found.signs[i] == found.signs[k]]
    assert len(pairs) == 6  # three of each sign
    i, k = pairs[0]
    path = found.path(k, i)

    def lines(st: lw.State) -> float:
        rows = []
        for n, a in enumerate(FLAT_BASE, 1):
            at = np.array(st[f"platform.B{n}"][:2])
            d = (at - a) / np.linalg.norm(at - a)
            rows.append([*d, (at[0] * d[1] - at[1] * d[0]) / 10.0])
        return float(np.linalg.det(np.array(rows)))

    values = np.array([lines(st) for st in path.states])
    assert (values > 0).all() or (values < 0).all()
    assert np.abs(path.drives[[0, -1]] - list(FLAT_LEGS.values())).max() < 1e-9 and path.smallest > 0.0
    for st, mode in ((path.states[0], found[k]), (path.states[-1], found[i])):
        assert np.abs(np.array(st["platform.B3"]) - np.array(mode["platform.B3"])).max() < 1e-6
    other = next(n for n in range(6) if found.signs[n] != found.signs[i])
    with pytest.raises(lw.SingularityError, match="different signs"):
        found.path(i, other)
    with pytest.raises(lw.UsageError, match="none of the 6"):
        found.path(0, 6)
    with pytest.raises(lw.UsageError, match="is not held"):
        found.path(k, i, within={"leg9": (0, 1)})
    with pytest.raises(lw.AssemblyError, match="in a search of at most 200 positions within the limits"):
        found.path(k, i, within={"leg1": (14.9, 15.1)}, most=200)
    with pytest.raises(lw.UsageError, match=r"leg1 is 14\.98 m at the modes, outside of 20 m to 30 m"):
        found.path(k, i, within={"leg1": (20, 30)})


@sweep(("name", "complex_", "real"), [("rssr", 2, 2), ("four-bar", 2, 2), ("five-bar", 2, 2), ("3-rrr", 6, 2)], now=2)
def test_numbers_of_shipped_models(name: str, complex_: int, real: int) -> None:
    """Circles meet in two points; the planar platform has six complex poses [Merlet, Parallel Robots, 4.3]; random starts find the same."""
    s = lw.compile(name)
    found = s.branches()
    assert (found.completeness.complex, len(found)) == (complex_, real) and found.completeness.complete
    by_starts = s.branches(method="starts", tries=60)
    assert len(by_starts) == real and not by_starts.completeness.complete and "95 % confidence" in str(by_starts)
    assert max(np.abs(s.closure(st).phi).max() for st in found) < 1e-9


def test_a_mode_left_out_fails_the_trace_test() -> None:
    s = lw.compile("3-rrr")
    P, u = held_system(compiled_of(s).assembler, {d.joint: float(s.start[d.joint]) for d in s.description.drives})
    solve, rng = newton_of(P), np.random.default_rng(3)
    ends = solutions(P, u)
    assert ends.completeness.trace < 1e-10
    p = np.concatenate([np.zeros(P.count), u]).astype(complex)
    direction = np.concatenate([0.05 * (rng.standard_normal(P.count - 1) + 1j * rng.standard_normal(P.count - 1)), np.zeros(1 + len(u))])
    assert polynomial_trace(solve, ends.real, p, direction, P.key) > 1e-6  # the two real ones without the four complex ones


def test_where_loops_are_no_polynomials_random_starts_are_used_and_named() -> None:
    """A spatial four-bar of hinges (Bennett) closes by a hinge, whose equations are redundant."""
    s = lw.compile("bennett")
    found = s.branches(tries=40)
    c = found.completeness
    assert c.method == "starts" and "closes a loop" in c.why and 0.0 < c.share < 1.0 and "no proof" in str(found)
    with refused(lw.UsageError, name="bennett"):
        s.branches(method="homotopy")
    with refused(lw.UsageError, name="method", value="all"):
        s.branches(method="all")
    with refused(lw.UsageError, name="most", value=0):
        s.branches(most=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "complex_", "real"), [("stewart", 28, 8), ("delta", 28, 16), ("carpet-scraper", 8, 4), ("jansen-leg", 8, 8)]
)
def test_numbers_of_larger_models(name: str, complex_: int, real: int) -> None:
    """The platform of the delta stays upright in two of its modes; in the others rods of a pair are not parallel."""
    s = lw.compile(name)
    found = s.branches()
    assert (found.completeness.complex, len(found)) == (complex_, real) and found.completeness.lost == 0
    assert found.completeness.complete == (name in ("stewart", "delta"))  # in deep chains the trace test is not conclusive
    if name == "delta":
        upright = [np.abs(s.pose(st, "platform").R - np.eye(3)).max() < 1e-9 for st in found]
        assert sum(upright) == 2
