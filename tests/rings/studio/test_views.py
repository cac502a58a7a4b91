"""Pictures show the mechanism, animations move, plots carry units; files are never lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.files.tables import Table
from linkwright.rings.studio import animation, picture, plots
from linkwright.rings.studio.cycle_table import turn_table
from linkwright.rings.studio.live.scene_data import shapes
from linkwright.rings.studio.page import Page
from linkwright.rings.studio.paper_sheet import nice_length
from linkwright.rings.studio.scene import Scene, Stage
from tests.refusals import refused
from tests.sweeps import every_model


def pixels(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=float)


def ink(image: np.ndarray) -> float:
    """Share of the pixels that are not paper."""
    return float((np.abs(image - image[0, 0]).max(axis=2) > 30).mean())


@pytest.fixture(scope="module")
def wiper() -> lw.Mechanism:
    return lw.load("wiper")


@pytest.mark.parametrize("name", every_model("bennett", touching=True))
def test_every_model_draws(name: str, tmp_path: Path) -> None:
    path = lw.load(name).plot("mechanism", tmp_path / "p.png", trace=[])
    image = pixels(path)
    # a drawing covers some of the page and leaves most of it free
    assert 0.005 < ink(image) < 0.6
    # and it is in color: the driven body's orange is there
    assert np.sum((image[..., 0] > 180) & (image[..., 2] < 140)) > 100


def test_the_picture_follows_the_state(wiper: lw.Mechanism, tmp_path: Path) -> None:
    c = wiper.cycle(steps=24)
    one = c.plot("mechanism", tmp_path / "one.png", size=(5, 4))
    other = c.plot("mechanism", tmp_path / "other.png", size=(5, 4), at=wiper.system.assemble(q={"A": "200 deg"}))
    again = c.plot("mechanism", tmp_path / "again.png", size=(5, 4))
    assert one.read_bytes() == again.read_bytes()
    assert np.mean(np.abs(pixels(one) - pixels(other)).max(axis=2) > 30) > 0.02


def test_pins_are_drawn_where_the_points_are(wiper: lw.Mechanism) -> None:
    """Circles of the figure against positions of the system, in data coordinates."""
    from matplotlib.patches import Circle

    state = wiper.system.assemble(q={"A": "130 deg"})
    figure = wiper.plot("mechanism", at=state, trace=[])
    centers = np.array([p.center for p in figure.axes[0].patches if isinstance(p, Circle)])
    for point in ("crank.A", "crank.B", "coupler.C", "rocker.D", "coupler.P"):
        expected = wiper.system.point(state, point)[:2]
        # 1e-9 m: both come from the same closed position, a pixel is about 1e-3 m
        assert np.linalg.norm(centers - expected, axis=1).min() < 1e-9, point


def test_dark_pictures_are_dark(wiper: lw.Mechanism, tmp_path: Path) -> None:
    light = pixels(wiper.plot("mechanism", tmp_path / "light.png", trace=[]))
    dark = pixels(wiper.plot("mechanism", tmp_path / "dark.png", trace=[], dark=True))
    assert light.mean() > 200 and dark.mean() < 90


def test_vector_formats_and_determinism(wiper: lw.Mechanism, tmp_path: Path) -> None:
    for ending in (".svg", ".pdf"):
        first, second = (wiper.plot("mechanism", tmp_path / f"{n}{ending}", trace=[]) for n in "ab")
        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_size > 2000


def test_traces(wiper: lw.Mechanism) -> None:
    c = wiper.cycle(steps=24)
    scene = Scene(wiper.system, c)
    ((body, path),) = scene.trace(None)
    assert body == "coupler"
    np.testing.assert_allclose(path[:, :2], c["coupler.P"], atol=1e-12)
    assert [b for b, _ in scene.trace(["rocker.C", "crank.B"])] == ["rocker", "crank"]
    assert scene.trace([]) == []
    with refused(lw.LinkwrightError, name="P"):
        scene.trace(["P"])
    with refused(lw.LinkwrightError, name="Q", allowed=("B", "C", "P"), line=13):
        scene.trace(["coupler.Q"])


def test_scene_of_cylinders_springs_and_slots() -> None:
    excavator = Scene(lw.load("excavator").system, None)
    assert {t.bodies for t in excavator.telescopes} == {
        ("bucket_barrel", "bucket_rod"),
        ("stick_barrel", "stick_rod"),
        ("boom_barrel", "boom_rod"),
    }
    assert len(excavator.arrows) == 3 and not any(a.turning for a in excavator.arrows)
    lid = Scene(lw.load("boot-lid").system, None)
    (strut,) = lid.telescopes
    ends = [Stage(lid.skel, lid.start).spot(e) for e in strut.ends]
    np.testing.assert_allclose(ends[0], [0.35, -0.15, 0.0], atol=1e-12)  # G of the drawing
    slider = lw.load("slider-crank-equal")
    (guide,) = Scene(slider.system, slider.cycle(steps=36)).guides
    # equal links of 1 m: the slider's pin runs from -2 to 2 m, the slot's origin is at -1 m
    assert guide.low == pytest.approx(-1.0, abs=0.02) and guide.high == pytest.approx(3.0, abs=0.02)


def shaper(*, lever: dict, points: dict) -> Scene:
    """A quick return: a crank moves a block along a lever; the slot's line passes through the lever's bearing O."""
    m = lw.load(
        {
            "plane": "xy",
            "drawing": {"O": [0, 0], "E": [0, 0.25], "A": [0.06, 0.33], **points},
            "bodies": {"ground": {"pins": ["O", "E"]}, "crank": {"pins": ["E", "A"]}, "block": {"pins": ["A"]}, "lever": lever},
            "joints": {"slot": {"type": "prismatic", "between": ["lever", "block"], "at": "A", "axis": [0.06, 0.33]}},
            "drive": {"E": "60 rpm"},
        }
    )
    return Scene(m.system, m.cycle(steps=12))


def test_a_slotted_lever_is_no_cylinder() -> None:
    """Levers with a second point beyond the block are drawn whole, with a slot; a barrel hinged at one place stays a telescope."""
    tip = {"B": [0.1, 0.55]}
    for scene in (shaper(lever={"pins": ["O"], "points": ["B"]}, points=tip), shaper(lever={"along": {"O": 0, "B": 0.56}}, points=tip)):
        assert not scene.telescopes and [g.joint.name for g in scene.guides] == ["slot"]
        (bar,) = [p.points for p in scene.pieces if p.body == "lever"]
        assert np.linalg.norm(bar[-1] - bar[0]) == pytest.approx(np.hypot(0.1, 0.55), abs=2e-3)  # 0.56 of the second one
    barrel = shaper(lever={"pins": ["O"]}, points={})
    assert [t.bodies for t in barrel.telescopes] == [("lever", "block")] and not barrel.guides


def test_a_slot_apart_from_its_link_has_an_arm() -> None:
    """Whitworth's lever turns fully: its slot lies on the other side of the bearing than its crank pin."""
    m = lw.load(
        {
            "plane": "xy",
            "drawing": {"O": [0, 0], "E": [0, 0.06], "A": [0.15, 0.06], "B": [-0.05, -0.02]},
            "bodies": {"ground": {"pins": ["O", "E"]}, "crank": {"pins": ["E", "A"]}, "lever": {"pins": ["O"], "points": ["B"]}},
            "joints": {"slot": {"type": "pin_slot", "between": ["lever", "crank"], "at": "A", "slot": [0.15, 0.06]}},
            "drive": {"E": "60 rpm"},
        }
    )
    scene = Scene(m.system, m.cycle(steps=12))
    (guide,) = scene.guides
    arms = [p.points for p in scene.pieces if p.body == "lever"]
    assert len(arms) == 2 and arms[1][0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    # the crank's pin is between 0.15 - 0.06 and 0.15 + 0.06 m from the bearing; twelve steps from 0 deg meet both
    assert np.linalg.norm(arms[1][1]) == pytest.approx(0.09, abs=1e-9)
    text = shapes(scene)
    assert all(n is not None for piece in text["pieces"] for n in piece["places"])  # so that sliders move the arm, too
    assert guide.high - guide.low == pytest.approx(0.12, abs=1e-9)


def test_wheels_and_coils_fit_on_the_page() -> None:
    """Pitch circles touch each other and lie inside the window; the spring runs from its anchor to the wheel."""
    from matplotlib.patches import Circle

    model = {
        "plane": "xy",
        "drawing": {"A": [0, 0], "D": [0.09, 0], "E": [0.11, 0.04], "S": [0.16, 0.06], "B": [0.03, 0]},
        "bodies": {
            "ground": {"pins": ["A", "D"], "points": ["S"]},
            "pinion": {"pins": ["A"], "points": ["B"]},
            "wheel": {"pins": ["D"], "points": ["E"]},
        },
        "gears": {"g": {"joints": ["A", "D"], "radii": [0.03, 0.06]}},
        "springs": {"s": {"type": "coil", "between": ["ground.S", "wheel.E"], "stiffness": "2 N/mm", "free_length": "40 mm"}},
        "drive": {"A": "60 rpm"},
    }
    axes = lw.load(model).plot("mechanism", trace=[]).axes[0]
    pitch = [p for p in axes.patches if isinstance(p, Circle) and not p.get_fill()]
    assert sorted(round(p.radius, 9) for p in pitch) == [0.03, 0.06]
    for p in pitch:
        for low, high, x in zip(*np.array([axes.get_xlim(), axes.get_ylim()]).T, p.center, strict=True):
            assert low < x - p.radius and x + p.radius < high
    ends = [line.get_xydata()[[0, -1]] for line in axes.lines if len(line.get_xydata()) > 12]
    assert any(np.allclose(e, [[0.16, 0.06], [0.11, 0.04]]) for e in ends)


def test_pictures_are_replaced_whole(wiper: lw.Mechanism, tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(b"precious")
    with refused(lw.UsageError, file="p.jpeg"):
        wiper.plot("mechanism", tmp_path / "p.jpeg")
    with refused(lw.UsageError, file="p.png"):
        wiper.plot("mechanism", tmp_path / "nowhere" / "p.png")
    assert path.read_bytes() == b"precious"
    wiper.plot("mechanism", path, trace=[])
    assert ink(pixels(path)) > 0.01
    assert [p.name for p in tmp_path.iterdir()] == ["p.png"]


def test_animation_moves_and_stays_small(wiper: lw.Mechanism, tmp_path: Path) -> None:
    from PIL import Image

    path = animation.animate(wiper, tmp_path / "w.gif", turn=wiper.cycle(steps=24), seconds=1.0, fps=12, width=320)
    with Image.open(path) as image:
        assert image.n_frames == 12 and image.width == 320 and image.info["loop"] == 0
        frames = []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append(np.asarray(image.convert("L"), dtype=float))
    changes = [np.mean(np.abs(a - b) > 20) for a, b in zip(frames, [*frames[1:], frames[0]], strict=True)]
    assert min(changes) > 0.003  # every frame differs from the next one
    assert max(changes) < 5 * np.median(changes)  # no jump where it repeats
    # 50 frames of the default size stay below 1.5 MB if 12 small ones stay below 150 kB
    assert path.stat().st_size < 150_000


def test_a_swing_is_animated_there_and_back() -> None:
    m = lw.load("four-bar", L1="0.8 m")
    turn, frames = animation._samples(m.system, m.cycle(steps=20), 1.0, 20)
    assert not turn.full_turn
    assert frames[0] == 0 and max(frames) == 20 and len(frames) == 20
    assert frames[1:10] == frames[:10:-1]


def test_animation_refuses_what_it_cannot_do(wiper: lw.Mechanism, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(animation.shutil, "which", lambda name: None)
    with refused(lw.UsageError, name="w.mp4"):
        wiper.animate(tmp_path / "w.mp4")
    with refused(lw.UsageError, name="fps"):
        wiper.animate(tmp_path / "w.gif", fps=0)


@pytest.mark.slow
def test_plots_are_labeled_in_the_files_units(wiper: lw.Mechanism, tmp_path: Path) -> None:
    c = wiper.cycle(steps=24)
    figure = plots.plot(c, ["rocker.angle", "coupler.P.x"], over="A")
    assert [a.get_ylabel() for a in figure.axes] == ["rocker.angle [deg]", "coupler.P.x [mm]"]
    assert figure.axes[-1].get_xlabel() == "A [deg]"
    x, y = figure.axes[1].lines[0].get_data()
    np.testing.assert_allclose(x, c["A", "deg"])
    np.testing.assert_allclose(y, c["coupler.P.x", "mm"])
    assert len(plots.overview(c).axes) == 6  # angles and points; position, velocity, acceleration
    travels = [a.get_ylabel() for a in plots.overview(lw.load("punch-press").cycle(steps=24)).axes]
    assert [x for x in travels if x.startswith("slide")] == ["slide [mm]", "slide.v [mm/s]", "slide.a [m/s²]"]
    assert ink(pixels(plots.overview(c, tmp_path / "o.png"))) > 0.01
    with pytest.raises(lw.UsageError, match="at least one"):
        plots.plot(c, [])
    with pytest.raises(lw.ChannelError):
        plots.plot(c, ["roker.angle"])


def test_natural_axis(wiper: lw.Mechanism) -> None:
    assert plots.natural_axis(wiper.cycle(steps=12)) == "A"
    assert plots.natural_axis(lw.load("boot-lid").cycle(steps=12)) == "t"  # opens and closes again


def test_turn_table(wiper: lw.Mechanism) -> None:
    c = wiper.cycle(steps=24)
    found = turn_table(c)
    assert found.columns[0].head == "A [deg]" and found["rocker.angle"].unit == "deg" and found["coupler.P.x"].unit == "mm"
    assert len(found) == 13  # every 30 degrees
    np.testing.assert_allclose(found["A"].values, np.degrees(c["A"])[::2] % 360.0, atol=0.01)
    lines = found.text().splitlines()
    assert len({len(x) for x in lines}) == 1 and lines[1].split() == ["[deg]"] * 3 + ["[mm]"] * 2


def test_page_is_self_contained_and_escapes(tmp_path: Path, wiper: lw.Mechanism) -> None:
    image = wiper.plot("mechanism", tmp_path / "p.png", trace=[])
    page = Page("A < B").heading("x & y").text("<script>alert(1)</script>").table(Table.of(["h"], [["<b>"]])).picture(image, 'say "hi"')
    text = page.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>" not in text and "&lt;b&gt;" in text and "<title>A &lt; B</title>" in text and "data:image/png;base64," in text
    with refused(lw.LinkwrightError, file="missing.png"):
        page.picture(tmp_path / "missing.png")


@pytest.mark.parametrize(("length", "nice"), [(0.99, 0.5), (1.0, 1.0), (4.9, 2.0), (230.0, 200.0), (0.05, 0.05), (7e-4, 5e-4)])
def test_nice_lengths(length: float, nice: float) -> None:
    assert nice_length(length) == pytest.approx(nice)


def test_matplotlib_state_is_left_alone(wiper: lw.Mechanism) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    picture.draw(wiper, trace=[], dark=True)
    assert dict(matplotlib.rcParams) == before
