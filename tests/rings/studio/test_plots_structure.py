"""Paths lie where the points are; graphs and block patterns say what the topology is; runs play in their own time."""

from __future__ import annotations

import itertools
import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import files
from linkwright.rings.studio import animation
from linkwright.rings.studio.plots import plot_of
from linkwright.rings.studio.plots.blocks import elimination, filled
from linkwright.topology.solution_order import gicm_pattern
from tests.refusals import refused
from tests.sweeps import sweep

# ---------------------------------------------------------------- paths


def test_a_path_with_its_dots() -> None:
    m = lw.load("wiper")
    c = m.cycle(steps=36)
    axes = plot_of(c, "path").axes[0]
    trail = next(x for x in axes.lines if len(x.get_xdata()) == len(c))
    np.testing.assert_allclose(np.column_stack(trail.get_data()), 1000.0 * c["coupler.P"], rtol=1e-12)
    dots = next(np.column_stack(x.get_data()) for x in axes.lines if len(x.get_xdata()) == 12)
    at_90 = 1000.0 * m.system.point(m.system.assemble(q={"A": "90 deg"}), "coupler.P")[:2]
    # dots lie on the straight pieces between samples 10 degrees apart: 2 mm off the curve at most
    assert np.linalg.norm(dots - at_90, axis=1).min() < 2.0
    assert axes.get_aspect() == 1.0 and axes.get_xlabel() == "x [mm]" and "30° of A" in axes.get_title("left")


@pytest.mark.slow
def test_paths_in_space_are_three_views() -> None:
    c = lw.load("stewart").cycle(steps=6)
    figure = plot_of(c, "path", points="platform.C", mechanism=False)
    views = [a for a in figure.axes if a.get_xlabel()]
    assert [(a.get_xlabel()[0], a.get_ylabel()[0]) for a in views] == [("x", "z"), ("y", "z"), ("x", "y")]
    for axes, pick in zip(views, ([0, 2], [1, 2], [0, 1]), strict=True):
        np.testing.assert_allclose(np.column_stack(axes.lines[0].get_data()), c["platform.C"][:, pick], atol=1e-15)


# ---------------------------------------------------------------- structure


def drawn_boxes(figure: Any) -> dict[str, Any]:
    """Window boxes of the bodies by their names."""
    from matplotlib.patches import FancyBboxPatch

    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [p.get_window_extent() for p in axes.patches if isinstance(p, FancyBboxPatch)]
    names = [t for t in axes.texts if t.get_zorder() == 11]
    return {t.get_text(): b for t, b in zip(names, boxes, strict=True)}


@sweep("name", ["wiper", "3-rrr-motors", "jansen-leg", "excavator", "stewart"], now=3)
def test_the_graph_shows_bodies_joints_and_cuts(name: str) -> None:
    m = lw.load(name)
    figure = plot_of(m, "topology")
    boxes = drawn_boxes(figure)
    assert set(boxes) == {b.name for b in m.description.bodies[1:]}
    for a, b in itertools.combinations(boxes.values(), 2):
        assert not a.overlaps(b)
    axes = figure.axes[0]
    labels = {t.get_text().split()[0]: t for t in axes.texts if t.get_zorder() == 8}
    assert set(labels) == {j.name for j in m.description.joints} | {r.name for r in m.description.rods}
    for t in labels.values():
        place = t.get_window_extent()
        # names of joints may touch the edge of a box (2 pixels of 100 per inch), not cover it
        assert not any(b.padded(-2.0).overlaps(place) for b in boxes.values()), t.get_text()
    dashed = [x for x in axes.lines if x.get_linestyle() == "--" and len(x.get_xdata()) == 33]
    assert len(dashed) == len(m.topology.cuts) + len(m.description.rods)
    driven = {n for n, t in labels.items() if t.get_weight() == "bold"}
    assert driven == {d.joint for d in m.description.drives}


def test_block_pattern_of_the_excavator() -> None:
    from matplotlib.patches import Rectangle

    m = lw.load("excavator")
    left, right = plot_of(m, "gicm").axes
    tree = m.system.tree
    assert len([p for p in left.patches if isinstance(p, Rectangle)]) == sum(len(x.subsystems) for x in tree.loops)
    assert len(right.patches) == sum(len(block) for line in gicm_pattern(tree) for block in line)
    # the numbers themselves: J I^-1 J' at a position has no other blocks than those drawn
    t = m.system.terms(m.system.start)
    G = t.J @ np.linalg.solve(t.M, t.J.T)
    numeric = [[bool(np.abs(G[a, b]).max() > 1e-12) for b in t.rows] for a in t.rows]
    assert numeric == [[bool(x) for x in line] for line in gicm_pattern(tree)]
    order = elimination(tree)[0]
    assert [t.get_text() for t in right.get_yticklabels()] == [tree.loops[i].name for i in order]
    assert "14 of 16 blocks" in right.texts[-1].get_text()


def test_fill_is_that_of_cholesky() -> None:
    pattern = np.eye(5, dtype=bool)
    for i, j in ((0, 3), (0, 4), (1, 2), (2, 4)):
        pattern[i, j] = pattern[j, i] = True
    rng = np.random.default_rng(3)
    A = np.where(pattern, rng.normal(size=(5, 5)), 0.0)
    L = np.linalg.cholesky(A + A.T + 20.0 * np.eye(5))
    np.testing.assert_array_equal(filled(pattern), (np.abs(L) > 1e-12) | (np.abs(L.T) > 1e-12))


def test_trees_have_no_gicm() -> None:
    pendulum = {
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [1, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "bob": {"pins": ["A"], "points": ["B"], "mass": 1}},
    }
    m = lw.load(pendulum)
    with refused(lw.UsageError, name="model"):
        plot_of(m, "gicm")
    assert drawn_boxes(plot_of(m, "topology")).keys() == {"bob"}


# ---------------------------------------------------------------- runs that play


@pytest.fixture(scope="module")
def run() -> Any:
    return lw.load("wiper").simulate(0.4, sample_interval=0.02)


def test_a_run_plays_in_its_own_time(run: Any, tmp_path: Path) -> None:
    from PIL import Image

    seen: list[tuple[int, int]] = []
    path = animation.play(run, tmp_path / "r.gif", speed=0.5, fps=10, width=240, loads=True, progress=lambda *x: seen.append(x))
    with Image.open(path) as image:
        # 0.4 s at half speed: 0.8 s on the screen, the first and the last instant both shown
        assert image.n_frames == 9 and image.info["duration"] == 100 and image.width == 240
        frames = []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append(np.asarray(image.convert("RGB"), dtype=float))
    assert seen == [(k, 9) for k in range(1, 10)]
    assert np.mean(np.abs(frames[0] - frames[4]).max(axis=2) > 30) > 0.01
    stamp = frames[0][-24:, -120:], frames[1][-24:, -120:]
    assert np.any(stamp[0] < 150) and np.any(stamp[0] != stamp[1])  # the time is written there, and goes on


def test_load_arrows_are_to_scale_and_stay_in_the_picture(run: Any) -> None:
    from linkwright.rings.studio.animation import LONGEST_ARROW, LoadArrows
    from linkwright.rings.studio.picture import Canvas

    canvas = Canvas(run.system, turn=run, trace=[], whole_turn=True)
    arrows = LoadArrows(run, canvas)
    sample = 7
    figure = canvas.figure(run._instants[sample])
    arrows.draw(figure, sample)
    drawn = [np.subtract(a.xy, a.xyann) for a in figure.axes[-1].texts]
    largest = max(
        run[f"{pin}.on.{body}.magnitude"].max() for pin, body in (("A", "crank"), ("B", "coupler"), ("C", "rocker"), ("D", "rocker"))
    )
    assert arrows.longest is not None and 0.5 * LONGEST_ARROW < arrows.longest < LONGEST_ARROW, "one of them would leave the picture"
    expected = arrows.longest * run["D.on.rocker"][sample] / largest
    assert min(float(np.linalg.norm(d - expected)) for d in drawn) < 1e-9 * LONGEST_ARROW
    ends = []
    for k in range(0, len(run), 2):
        shown = canvas.figure(run._instants[k])
        arrows.draw(shown, k)
        ends += [a.xy for a in shown.axes[-1].texts]
    width, height = 72.0 * figure.get_size_inches()
    inside = np.minimum(np.array(ends), [width, height] - np.array(ends))
    assert 3.9 < inside.min() < 6.0  # points: kept off the edge, and no shorter than that needs


@pytest.mark.slow
def test_a_video_of_full_hd_is_what_players_read(tmp_path: Path) -> None:
    """Size, colors, frames and their rate as ffprobe reads them from the file."""
    path = lw.load("wiper").animate(tmp_path / "w.mp4", seconds=0.2, fps=30, trace=[])
    wanted = "stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_frames"
    said = subprocess.run(["ffprobe", "-v", "error", "-show_entries", wanted, "-of", "json", str(path)], capture_output=True, check=True)
    (stream,) = json.loads(said.stdout)["streams"]
    assert stream == {
        "codec_name": "h264", "width": 1920, "height": 1080, "pix_fmt": "yuv420p", "r_frame_rate": "30/1", "nb_frames": "6",
    }  # fmt: skip
    assert files.made_by_linkwright(path)


def test_sizes_of_frames() -> None:
    size = animation.frame_size
    assert size(Path("a.gif"), None, None).width == 560 and size(Path("a.gif"), None, None).inches is None
    assert size(Path("a.mp4"), None, None) == animation.FrameSize(1920, 1080) == size(Path("a.gif"), None, "1080p")
    assert size(Path("a.mp4"), None, "1280x720") == animation.FrameSize(1280, 720) == size(Path("a.mp4"), None, (1280, 720))
    for wrong in ("4k", "50x50", (1280,), 720, "12345x10", (True, 2.5)):
        with refused(lw.UsageError, name="resolution", allowed=("720p", "1080p", "1440p", "2160p")):
            size(Path("a.mp4"), None, wrong)
    with refused(lw.UsageError, name="resolution"):
        size(Path("a.mp4"), 300, "720p")
    with refused(lw.UsageError, value=50):
        size(Path("a.mp4"), 50, None)


def test_videos_go_through_ffmpeg(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the program counts the bytes it is given; a failing one is answered with what it said."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "ffmpeg"
    program.write_text('#!/bin/sh\nfor last; do :; done\nwc -c > "$last"\necho "$@" >> "$last"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    short = run.between(0.0, 0.1)
    told = animation.play(short, tmp_path / "v.mp4", fps=20, width=200, trace=[]).read_text().split()
    w, h = (int(x) for x in told[told.index("-s") + 1].split("x"))
    assert int(told[0]) == 3 * w * h * 3 and w == 200 and h % 2 == 0  # three frames of three bytes a pixel
    program.write_text("#!/bin/sh\necho no such codec >&2\nexit 3\n")
    with pytest.raises(lw.LinkwrightError, match="no such codec"):
        animation.play(short, tmp_path / "w.mp4", fps=20, width=200, trace=[])
    assert not (tmp_path / "w.mp4").exists()
    with refused(lw.UsageError, name="0.4"):
        animation.play(run, tmp_path / "x.gif", speed=1e-4)
    with refused(lw.UsageError, name="fps"):
        animation.play(run, tmp_path / "x.gif", speed=0)
