"""Tables: monotone, smooth, closed curves; the same meaning for couplings, loads and motions, in every engine and on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.compiler import javascript
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.model.curves.laws import LAWS
from linkwright.model.curves.profiles import Program
from linkwright.model.curves.references import read_reference
from linkwright.model.curves.tables import monotone, table
from tests.compiler.test_javascript import agree, run
from tests.refusals import refused

CAM = ([0, 0], [60, 0], [120, 20], [180, 20], [240, 0], [360, 0])  # dwell, rise, dwell, fall, dwell
DEG = np.radians([row[0] for row in CAM])
MM = np.array([row[1] for row in CAM]) * 1e-3


def cam(**more: Any) -> dict[str, Any]:
    return {
        "plane": "xy", "units": ["mm", "deg", "kg"], "gravity": [0, "-9.81 m/s^2"],
        "drawing": {"A": [0, 0], "C": [0, 100]},
        "bodies": {
            "ground": {"pins": ["A"]},
            "disc": {"pins": ["A"], "mass": 1, "com": "A", "inertia": "2e-3 kg m^2"},
            "follower": {"points": ["C"], "mass": 0.5, "com": "C", "inertia": "1e-4 kg m^2"},
        },
        "joints": {"lift": {"type": "prismatic", "between": ["ground", "follower"], "at": "C", "axis": [0, 1]}},
        "couplings": {"cam": {"from": "A", "to": "lift", "table": [list(row) for row in CAM], **more}},
        "drive": {"A": "60 rpm"},
    }  # fmt: skip


@pytest.mark.parametrize("interpolation", [None, "monotone", "periodic"])
def test_a_cam_stays_between_its_points_and_rests_in_its_dwells(interpolation: str | None) -> None:
    m = lw.load(cam(**({} if interpolation is None else {"interpolation": interpolation})))
    c = m.cycle(steps=360)
    angle, lift = c["A", "deg"], c["lift", "mm"]
    assert lift.min() == pytest.approx(0.0, abs=1e-9) and lift.max() == pytest.approx(20.0, abs=1e-9)
    rests = (angle <= 60) | ((angle >= 120) & (angle <= 180)) | (angle >= 240)
    assert np.abs(c["lift.v"][rests]).max() < 1e-9 and np.abs(c["lift.a"][rests]).max() < 1e-9
    rise = (angle > 60) & (angle < 120)  # between two rests: the 3-4-5 polynomial of cam design
    f, df, ddf = LAWS["345"]((angle[rise] - 60.0) / 60.0)
    rate = 2.0 * np.pi / np.radians(60.0)  # 60 rpm over 60 degrees
    assert lift[rise] == pytest.approx(20.0 * f, abs=1e-9)
    assert c["lift.v"][rise] == pytest.approx(0.02 * df * rate, abs=1e-9)
    assert c["lift.a"][rise] == pytest.approx(0.02 * ddf * rate**2, abs=1e-8)


def test_overshoot_is_there_for_those_who_ask_for_it() -> None:
    lift = lw.load(cam(interpolation="cubic")).cycle(steps=360)["lift", "mm"]
    assert lift.min() < -6.0 and lift.max() > 23.0


def test_a_closed_cam_repeats() -> None:
    curve = table(tuple(DEG), tuple(MM), "periodic")
    x = np.linspace(-20.0, 30.0, 2001)
    assert curve.value(x) == pytest.approx(curve.value(np.mod(x, 2.0 * np.pi)), abs=1e-15)
    s = lw.load(cam(interpolation="periodic")).system
    assert s.assemble({"A": np.radians(720.0 + 90.0)})["lift"] == pytest.approx(0.01, abs=1e-12)


def test_monotone_between_points_of_any_table() -> None:
    rng = np.random.default_rng(5)
    for k in range(120):
        n = int(rng.integers(2, 12))
        x = np.cumsum(rng.uniform(0.01, 1.0, n) ** 3 + 1e-3)
        y = np.round(rng.normal(size=n).cumsum(), 0 if k % 3 == 0 else 9)
        curve = monotone(x, y)
        for i in range(n - 1):
            f = curve.value(np.append(np.linspace(x[i], x[i + 1], 101)[:-1], x[i + 1] - 1e-12))
            steps = np.diff(f) * np.sign(y[i + 1] - y[i])
            assert steps.min() > -1e-12 * (1.0 + abs(y[i + 1] - y[i])) and (y[i] != y[i + 1] or np.ptp(f) == 0.0)
        for knot in x:
            a, b = (np.array(curve(knot + e)) for e in (-1e-9, 1e-9))
            size = 1.0 + np.abs(curve.c).max()
            assert np.abs(a - b)[:2].max() < 1e-6 * size  # value and slope; curvature is compared where it is moderate, below


def test_a_dense_table_gives_the_accelerations_of_its_function() -> None:
    x = np.linspace(0.0, 2.0 * np.pi, 73)
    y = np.sin(x)
    y[-1] = y[0]
    t = np.linspace(0.0, 2.0 * np.pi, 1501)
    f, df, ddf = table(tuple(x), tuple(y), "periodic")(t)
    h = x[1]  # quartics through five points: slopes to h^4 / 30, curvatures to h^3; a quintic piece loses one or two orders
    assert np.abs(f - np.sin(t)).max() < h**5 and np.abs(df - np.cos(t)).max() < h**4 and np.abs(ddf + np.sin(t)).max() < h**3


@pytest.mark.parametrize("interpolation", ["monotone", "linear", "cubic", "periodic"])
def test_traced_tables_are_the_tables(interpolation: str) -> None:
    for straight in (False, True):
        curve = table(tuple(DEG), tuple(MM), interpolation, straight=straight)
        g = TraceGraph()
        program = g.program([("y", np.array(list(curve(g.input("x", 1)[0])), dtype=object))])
        x = np.linspace(-1.0, 8.0, 181)
        assert pytest.approx(np.array(curve(x)), abs=1e-13) == interpret(program, x[:, None]).T


def test_derivatives_of_a_cam_in_native_code() -> None:
    """The derivatives kernel against central differences of the forward kernel, on a flank; h^2 and eps / h are both below 1e-8."""
    s = lw.load(cam()).system
    st = s.assemble({"A": np.radians(85.0)}, v={"A": 5.0})
    k, d, tau, h = s.kernel("forward"), s.derivatives(st), np.zeros(s.tree.nv), 1e-6
    for i in range(s.tree.nv):
        e = h * np.eye(s.tree.nv)[i]
        by_q = (k(st.q + e, st.v, tau).a - k(st.q - e, st.v, tau).a) / (2.0 * h)
        assert d.a_q[:, i] == pytest.approx(by_q, rel=1e-6, abs=1e-5 * np.abs(d.a_q).max())


def test_the_page_computes_the_same_cam() -> None:
    s = lw.load(cam(interpolation="periodic")).system
    program = s.kernel("forward").program
    states = {f"at{i}": np.array([a, 0.004, 5.0, 0.1, 0.2, 0.0]) for i, a in enumerate(np.linspace(-7.0, 7.0, 15))}
    text = "".join(javascript.write(program, key) for key in states)
    for key, (y, status) in run(text, {key: (program, x) for key, x in states.items()}).items():
        assert status == 0
        agree(y, interpret(program, states[key]))


def test_loads_and_motions_read_tables_alike() -> None:
    pushing = {"over": "t", "table": [[0, "0 N"], [0.1, "5 N"], [0.2, "5 N"], [0.4, "1 N"]]}
    base = {k: x for k, x in cam().items() if k != "couplings"}
    pushed = {**base, "gravity": [0, 0], "loads": {"push": {"on": "follower.C", "force": [0, pushing]}}, "drive": {"A": "undriven"}}
    run = lw.load(pushed).simulate(0.4, sample_interval=0.01)
    force = table((0.0, 0.1, 0.2, 0.4), (0.0, 5.0, 5.0, 1.0)).value(run.t)
    assert run["lift.a"] == pytest.approx(force / 0.5, abs=1e-9)
    assert force.max() == 5.0 and force.min() == 0.0
    moved = {**base, "drive": {"lift": {"position": {"over": "t", "table": [[0, "0 mm"], [0.1, "20 mm"], [0.4, "20 mm"]]}}}}
    c = lw.load(moved).cycle(steps=40)
    law = table((0.0, 0.1, 0.4), (0.0, 0.02, 0.02), straight=True)
    assert c["lift"] == pytest.approx(np.array([law.value(t) for t in c.t]), abs=1e-12)
    assert c["lift"].max() == pytest.approx(0.02, abs=1e-15)


def lifted(drive: Any) -> lw.Trajectory:
    base = {k: x for k, x in cam().items() if k != "couplings"}
    return lw.load({**base, "gravity": [0, 0], "drive": {"A": "undriven"}}).simulate(1.0, drive={"lift": drive}, sample_interval=0.01)


def test_speeds_over_time_are_integrated_exactly_and_keep_their_end_value() -> None:
    t, v = [0, 0.1, 0.2, 0.4], [0, 0.02, 0.02, 0.01]
    run = lifted(lw.drives.speed((t, v, "linear")))
    area = 0.001 + 0.002 + 0.003 + 0.6 * 0.01  # trapezoids, then 0.6 s at the last speed
    assert run["lift"][-1] == pytest.approx(area, abs=1e-12) and run["lift.v"][-1] == pytest.approx(0.01, abs=1e-12)
    run = lifted(lw.drives.speed((t, v)))
    assert run["lift.v"][run.t >= 0.4] == pytest.approx(0.01, abs=1e-12) and run["lift.v"].max() <= 0.02 + 1e-12


def test_periodic_positions_and_speeds_repeat() -> None:
    t, y = [0, 0.1, 0.2, 0.4], [0, 0.02, 0.02, 0]
    run = lifted(lw.drives.position((t, y, "periodic")))
    assert run["lift"][41:81] == pytest.approx(run["lift"][1:41], abs=1e-12)
    run = lifted(lw.drives.speed((t, y, "periodic")))
    assert run["lift.v"][41:81] == pytest.approx(run["lift.v"][1:41], abs=1e-12)
    fine = np.linspace(0.0, 0.4, 40001)
    stroke = trapezoid(table(tuple(t), tuple(y), "periodic").value(fine), fine)  # to h^2 v''/12: 1e-11
    assert run["lift"][[40, 80]] == pytest.approx([stroke, 2.0 * stroke], abs=1e-9)
    whole = table(tuple(t), tuple(y), "periodic").integral()
    assert whole.value(np.array([0.4, 0.8, 1.2, -0.4])) == pytest.approx(stroke * np.array([1, 2, 3, -1]), abs=1e-9)
    assert whole(0.85)[:2] == pytest.approx((2.0 * stroke + whole.value(0.05), whole(0.05)[1]), abs=1e-12)


def test_references_read_points_as_tables() -> None:
    t, y = (0.0, 0.1, 0.2, 0.4), (0.0, 0.02, 0.02, 0.0)
    d = lw.load(cam()).description
    for given, how in (((t, y), "monotone"), ((t, y, "cubic"), "cubic"), ((t, y, "periodic"), "periodic")):
        path = read_reference(given, ("length",), [0.0], "the reference", d)
        at = np.linspace(-0.1, 0.6, 29)
        for ours, known in zip(path(at), table(t, y, how, straight=True)(at), strict=True):
            assert np.asarray(ours)[0] == pytest.approx(known, abs=1e-12)
    with refused(lw.UsageError, name="the reference"):
        read_reference((t, y, "linear"), ("length",), [0.0], "the reference", d)


def test_couplings_take_lists_and_files_as_loads_do(tmp_path: Path) -> None:
    x, y = [row[0] for row in CAM], [row[1] for row in CAM]
    known = lw.load(cam()).description.couplings[0].table
    (tmp_path / "cam.csv").write_text("angle [deg];lift [mm]\n" + "\n".join(f"{a};{b},0" for a, b in CAM), encoding="utf-8")
    for way in ({"x": x, "y": y}, {"csv": str(tmp_path / "cam.csv")}):
        model = cam()
        model["couplings"]["cam"] = {"from": "A", "to": "lift", **way}
        assert lw.load(model).description.couplings[0].table == known
    with refused(lw.ModelError, name="coupling 'cam'"):
        lw.load(cam(ratio=2))
    model["couplings"]["cam"] = {"from": "A", "to": "lift", "interpolation": "cubic"}
    with refused(lw.ModelError, name="coupling 'cam': table"):
        lw.load(model)


def test_a_position_over_time_is_not_made_of_straight_lines() -> None:
    base = {k: x for k, x in cam().items() if k != "couplings"}
    drive = {"lift": {"position": {"over": "t", "table": [[0, 0], [1, 20]], "interpolation": "linear"}}}
    with refused(lw.ModelError, name="drive of 'lift': position"):
        lw.load({**base, "drive": drive})


def test_tables_are_written_back(tmp_path: Path) -> None:
    for how in ("monotone", "cubic", "periodic"):
        again = lw.load(lw.load(cam(interpolation=how)).save(tmp_path / f"{how}.yaml"))
        known = again.description.couplings[0].table
        assert known is not None and known.interpolation == how


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"interpolation": "spline"}, r"no interpolation 'spline'\. Did you mean 'cubic'\? Interpolations: monotone, linear"),
        ({"interpolation": "linear"}, "straight lines have corners"),
        ({"interpolation": "periodic", "table": [[0, 0], [180, 5], [360, 1]]}, "ends as it begins, .* 0 mm and its last 1 mm"),
    ],
)
def test_what_a_coupling_refuses(more: dict[str, Any], words: str) -> None:
    with pytest.raises(lw.ModelError, match=words):
        lw.load(cam(**more))


def test_corners_of_programs_and_tables() -> None:
    assert len(table(tuple(DEG), tuple(MM)).corners(0.0, 7.0)) > 0
    law = Program(0.0, ((0.4, 1.0, "cycloidal"), (0.2, 1.0, "cycloidal"), (0.3, 0.0, "trapezoidal")))
    assert law.corners(0.0, 2.0) == pytest.approx([0.6, 0.7, 0.8, 0.9])
    for t in law.corners(0.0, 2.0):
        a, b = (np.array(law(t + e)) for e in (-1e-9, 1e-9))
        assert np.abs(a - b)[:2].max() < 1e-5 and np.abs(a - b)[2] > 1.0
