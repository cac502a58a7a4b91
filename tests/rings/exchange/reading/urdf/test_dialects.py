"""One four-bar in every dialect of loops: the same accelerations as the planar model of the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.rings.exchange.reading.urdf.robots import DIALECTS, LOOP_FILE, frame, joint, link, robot, tree, written

GRAVITY = [0.0, -9.81, 0.0]
OURS = {
    "plane": "xy",
    "gravity": GRAVITY[:2],
    "drawing": {"A": [0, 0], "B": [0, 0.3], "C": [0.7, 0.6], "D": [0.8, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"], "mass": 0.3, "com": [0, 0.15], "inertia": 0.002},
        "coupler": {"pins": ["B", "C"], "mass": 0.9, "com": [0.35, 0.45], "inertia": 0.002},
        "rocker": {"pins": ["D", "C"], "mass": 0.8, "com": [0.75, 0.3], "inertia": 0.002},
    },
}


def accelerations(m: lw.Mechanism, zero: float | None = None) -> list[float]:
    """Of the crank, at rest and at moving states, under gravity and a torque."""
    s, out = m.system, []
    zero = s.start["A"] if zero is None else zero  # the drawing's x axes point along its links, those of the files do not
    for q, v, tau in ((0.0, 0.0, 0.0), (0.2, 3.0, 0.7), (1.1, -2.0, -0.4)):
        a = s.forward(s.assemble(q={"A": zero + q}, v={"A": v}), {"A": tau}).a
        out.append(a[s.names.v.index("A")])
    return out


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_moves_alike(tmp_path: Path, dialect: str) -> None:
    """1e-12: the same equations in space and in the plane, apart from round-off."""
    m = lw.load(written(tmp_path, dialect), gravity=GRAVITY)
    assert m.system.mobility.freedoms == 1 and len(m.description.joints) == 4
    assert accelerations(m) == pytest.approx(accelerations(lw.load(OURS)), rel=1e-12)
    report = m.imported
    assert report is not None and len(report.gaps) == 1 and report.gaps[0][1] < 1e-15
    assert sum(b.mass or 0.0 for b in m.description.bodies) == pytest.approx(2.0, rel=1e-15)


def test_drives_are_what_the_file_marks(tmp_path: Path) -> None:
    marked = {"loop": ["A"], "gepetto 3d": ["A"], "closures of sw2robot": ["A"], "constraint": []}
    for dialect, names in marked.items():
        path = written(tmp_path, dialect)
        assert [d.joint for d in lw.load(path).description.drives] == names
        assert [d.joint for d in lw.load(path, drives=["D"]).description.drives] == ["D"]


def half(text: str, turned: float) -> str:
    """The four-bar with its coupler in two halves that are welded, the rocker turned away in the file's pose."""
    halves = text.replace(link("coupler", 0.9, 0.35, 0.15), link("coupler", 0.9, 0.35, 0.15) + '<link name="half"/>\n')
    return (
        halves.replace('<origin xyz="0.8 0 0"/>', f'<origin xyz="0.8 0 0" rpy="0 0 {turned}"/>')
        + joint("C", "rocker", "half", "-0.1 0.6 0")
        + frame("closedloop1_A", "coupler", "0.7 0.3 0")
        + frame("closedloop1_B", "half", "0 0 0")
    )


@pytest.mark.parametrize("turned", [0.7, -1.2])
def test_a_file_whose_pose_is_open_is_closed_without_turning_axes_round(tmp_path: Path, turned: float) -> None:
    """The angle at D is counted from another place, so that every acceleration is as before; the gap of the file is reported."""
    path = tmp_path / "r.urdf"
    path.write_text(robot(half(tree(), turned)))
    (tmp_path / "r.yaml").write_text(LOOP_FILE.replace("3d", "6d"))
    m = lw.load(path, gravity=GRAVITY)
    assert m.imported is not None and m.imported.gaps[0][1] > 0.1 and m.system.mobility.freedoms == 1
    s = m.system
    for joint_ in m.description.joints:
        z = [(s.pose(s.start, b).R if b != "ground" else np.eye(3))[:, 2] for b in (joint_.first, joint_.second)]
        assert z[0] @ z[1] == pytest.approx(1.0, abs=1e-12)
    st = s.assemble(q={"A": 0.2})
    turn = st["D"] + turned
    ours = lw.load(OURS).system
    wanted = ours.assemble(q={"A": ours.start["A"] + 0.2})["D"] - ours.start["D"]
    assert turn == pytest.approx(wanted, abs=1e-12)
    assert accelerations(m, 0.0) == pytest.approx(accelerations(lw.load(OURS)), rel=1e-10)
