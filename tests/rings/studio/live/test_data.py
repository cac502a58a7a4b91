"""DATA of a page: what stands in it is what Python knows, sliders do what the file would do, and pages are put together whole."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import linkwright as lw
from linkwright import files
from linkwright.model import library as models
from linkwright.model.description import Description
from linkwright.model.parameters import every_parameter
from linkwright.rings.studio import live
from linkwright.rings.studio.live import cycle_data, sliders
from linkwright.rings.studio.live.model_text import model
from linkwright.rings.studio.live.page_data import units
from tests.refusals import refused
from tests.rings.studio.live import test_panels as panels
from tests.rings.studio.live.engine_runs import made, shipped
from tests.sweeps import sweep

TEMPLATES = sorted((Path(lw.__file__).parent / "rings/cli" / "templates").glob("*.yaml"))


def decoded(x: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(x["f64"]), dtype="<f8").reshape(x["shape"])


def test_the_cycle_is_the_turn_with_its_drives() -> None:
    """A full turn at constant speed, and a program of three drives, bit by bit."""
    for name in ("four-bar", "five-bar"):
        page = shipped(name)
        c, told = page.motion.turn, page.data["cycle"]
        assert c is not None and np.array_equal(decoded(told["q"]), c.q[:1]) and np.array_equal(decoded(told["t"]), c.t)
        for i, drive in enumerate(told["drives"]):
            for key, tail, slack in (("value", "", 1e-9), ("speed", ".v", 1e-8), ("acceleration", ".a", 1e-6)):
                assert np.abs(decoded(told[key])[:, i] - c[f"{drive}{tail}"]).max() < slack, (name, drive, key)
        assert told["full_turn"] and told["closed"] and told["kinds"] == ["angle"] * len(told["drives"])
        assert told["over"]["name"] == c.drive and len(told["reference"]["at"]) == cycle_data.COMPARED
    assert shipped("four-bar").data["cycle"]["over"]["symbol"] == "rad" and shipped("five-bar").data["cycle"]["over"]["symbol"] == "deg"


def test_names_of_bodies_pins_and_points_are_those_of_the_kernels() -> None:
    page = shipped("carpet-scraper")
    d = page.data
    told = re.search(r'"names":(\{.*?\}),"start"', page.script)
    assert told is not None
    names = json.loads(told[1])
    assert [b["name"] for b in d["bodies"]] == ["ground", *names["bodies"]] and d["bodies"][0]["ground"]
    assert [p["name"] for p in d["parameters"]] == names["parameters"]
    pins = {p["name"]: p for p in d["pins"]}
    assert pins["S"]["bodies"] == ["link5", "coupler", "link7"] and pins["S"]["joints"] == ["J9", "J10"] and not pins["S"]["grounded"]
    assert pins["O1"]["grounded"] and all(pins["O1"]["unique"].values())
    assert [p["name"] for p in d["points"]] == ["tool.T"] and d["points"][0]["at"] == pytest.approx([0.8365, 0.0, 0.0])
    assert d["topology"]["cuts"] and len(d["topology"]["pattern"]["cells"]) == 3 and d["topology"]["counted"] == 1
    assert not any(all(p["unique"].values()) for p in shipped("door").data["pins"])


def test_units_are_those_of_the_file() -> None:
    shown = units(("mm", "kg", "deg", "rpm"))
    assert shown["length"] == {"symbol": "mm", "size": pytest.approx(1e-3)} and shown["angular_speed"]["symbol"] == "rpm"
    assert shown["torque"] == {"symbol": "N m", "size": 1.0} and shown["energy"] == {"symbol": "J", "size": 1.0}


# -------------------------------------------------------------------- sliders


def numbers(d: Description) -> dict[str, Any]:
    return sliders._numbers(d.numbers())


def apart(a: Description, b: Description) -> float:
    """Largest difference of what the kernels read, in SI."""
    x, y = numbers(a), numbers(b)
    assert x.keys() == y.keys()
    return max(abs(x[k] - y[k]) if isinstance(x[k], float) else float(x[k] != y[k]) for k in x)


def merged(tree: Any, path: list[Any], value: Any) -> None:
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


@pytest.mark.parametrize("name", ["wiper", "carpet-scraper", "rssr"])
def test_what_a_slider_writes_into_the_file_is_what_it_does_in_the_page(name: str) -> None:
    """The model with `keeps` and the new value merged into its YAML has exactly the numbers the kernels compute with."""
    m = lw.load(name)
    known = every_parameter(m.description)
    written = [p for p in sliders.sliders(m.system) if p["yaml"]]
    assert len(written) >= 3
    for p in written[:: max(1, len(written) // 6)]:
        tree: Any = yaml.safe_load(models.path(name).read_text(encoding="utf-8"))
        value = p["value"] + 0.013 * abs(p["value"])
        for path, kept in p["keeps"]:
            merged(tree, path, kept)
        merged(tree, p["yaml"], f"{value / p['size']:.15g} {p['symbol']}")
        right = m.description.numbers({p["name"]: value}) if p["what"] == "named" else known[p["name"]].stepped(value - p["value"])
        # texts in the file have twelve digits; inertias of planar bodies out of the plane do not matter
        assert apart_in_plane(lw.load(tree).description, right) < 1e-9, p["name"]


def apart_in_plane(a: Description, b: Description) -> float:
    if not a.planar:
        return apart(a, b)
    x, y = numbers(a), numbers(b)
    skipped = re.compile(r"\.inertia\.(?!2\.2)")
    return max(abs(x[k] - y[k]) if isinstance(x[k], float) else float(x[k] != y[k]) for k in x if not skipped.search(k) and k in y)


def test_only_what_the_kernels_can_follow_gets_a_slider() -> None:
    """No counts, no parameters of the drive or of nothing, no derived ones; lengths of an over-closed linkage not one by one."""
    named = {p["name"]: p for p in sliders.sliders(lw.load("bennett").system)}
    assert {"a", "alpha", "beta", "g"} <= named.keys() and "b" not in named
    assert named["alpha"]["low"] == pytest.approx(0.0) and named["alpha"]["symbol"] == "rad" and named["g"]["high"] == pytest.approx(19.62)
    lift = [p["name"] for p in sliders.sliders(lw.load("scissor-lift").system)]
    assert "N" not in lift and lift[:3] == ["l", "theta", "g"]
    middle = sliders.sliders(lw.load("parallelogram-middle").system)
    assert {p["what"] for p in middle} == {"named", "mass"}
    text = models.path("four-bar").read_text(encoding="utf-8")
    tree = yaml.safe_load(
        text.replace("drive: {A: 60 rpm}", "drive: {A: n}").replace("g: 9.81 m/s^2}", "g: 9.81 m/s^2, n: 60 rpm, idle: 3 m}")
    )
    found = [p["name"] for p in sliders.sliders(lw.load(tree).system)]
    assert found == ["L1", "L2", "L3", "L4", "line_mass", "g"]


@sweep("file", TEMPLATES, later=["platform"], ids=lambda file: file.stem)
def test_dimensions_of_a_template_are_sliders_with_or_without_a_unit(file: Path) -> None:
    """`crank: 100` in a file in mm is a dimension: no joint points beside it, and its new value goes back as a plain number."""
    expected = {
        "crank-rocker": ["crank", "coupler", "rocker", "base"],
        "platform": ["base", "plate", "height"],
        "cam": ["base", "roller", "lift"],
    }
    m = lw.load(file)
    found = sliders.sliders(m.system)
    named = [p for p in found if p["what"] == "named" and p["kind"] == "length"]
    assert [p["name"] for p in named] == expected.get(file.stem, [])
    assert any(p["what"] == "point" for p in found) == (not named)
    if named:
        tree = yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)
        values = {p["name"]: 1.05 * p["value"] for p in named}
        fragment = yaml.load(panels.run(f"out=LW.changedYaml({{parameters:{json.dumps(found)}}},{json.dumps(values)})"), yaml.BaseLoader)
        assert fragment.keys() == {"parameters"} and fragment["parameters"].keys() == values.keys()
        if file.stem not in ("platform", "cam"):  # their lengths have a unit
            assert {name: float(x) for name, x in fragment["parameters"].items()} == pytest.approx(values)
        again = lw.load(panels.merged(tree, fragment)).description
        if file.stem == "cam":  # no body moves with its profile
            made = again.numbers().couplings[0]
            assert (made.cam.base, made.cam.radius, made.moves[0].to) == pytest.approx(tuple(values.values()))
            return
        assert apart(again, m.description.numbers(values)) < 1e-9 and apart(again, m.description) > 1e-3


def test_only_lengths_between_pins_must_be_above_zero() -> None:
    """The opposite sign of a length rotates a link by half a turn; that of an offset or a coordinate is another design."""
    m: dict[str, Any] = {
        "name": "signs",
        "plane": "xy",
        "units": ["mm", "kg", "deg"],
        "parameters": {"a": "100 mm", "b": 300, "c": "250 mm", "d": "320 mm", "off": "20 mm", "w": "150 mm", "h": "40 mm", "e": "10 mm"},
        "drawing": {"A": [0, 0], "B": [50, 86], "C": [300, 250], "D": [320, 20], "P": [150, 200]},
        "bodies": {
            "ground": {"pins": ["A", "D"], "points": {"A": [0, 0], "D": ["d", "off"]}},
            "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": "a"}, "mass": 0.3},
            "coupler": {
                "pins": ["B", "C"],
                "points": {"B": [0, 0], "C": ["b", 0], "P": ["w", "h"]},
                "com": ["w", "e"],
                "mass": 1,
                "inertia": 0,
            },
            "rocker": {"pins": ["D", "C"], "along": {"D": 0, "C": "c"}, "mass": 0.7},
        },
        "start": {"A": 60},
        "drive": {"A": "60 rpm"},
    }
    above = {p["name"]: p["positive"] for p in sliders.sliders(lw.load(m).system) if p["kind"] == "length"}
    assert above == {"a": True, "b": True, "c": True} | dict.fromkeys(("d", "off", "w", "h", "e"), False)
    bell = m | {"drawing": {**m["drawing"], "P": [30, 120], "E": [400, 250]}}
    bell["bodies"] = m["bodies"] | {
        "coupler": {"pins": ["B", "C", "P"], "points": {"B": [0, 0], "C": ["b", 0], "P": [0, "h"]}, "mass": 1, "inertia": 0},
        "rod": {"pins": ["P", "E"], "mass": 0.2},
        "end": {"pins": ["E"], "mass": 0.2},
    }
    bell["joints"] = {"guide": {"type": "prismatic", "between": ["ground", "end"], "at": "E", "axis": [1, 0]}}
    above = {p["name"]: p["positive"] for p in sliders.sliders(lw.load(bell).system) if p["kind"] == "length"}
    assert above["a"] and not above["h"], "a lever may have its third pin on either side"


def test_the_model_is_the_files_text_or_written_out() -> None:
    wiper = model(lw.load("wiper").description)
    assert (wiper["text"], wiper["file"]) == (models.path("wiper").read_text(encoding="utf-8"), "wiper.yaml")
    crank = wiper["places"]["entries"]["bodies"]["entries"]["crank"]
    assert wiper["text"][slice(*crank["entries"]["mass"]["at"])] == "0.3" and wiper["text"][slice(*crank["at"])].startswith("{pins: [A, B]")
    other = model(lw.load("four-bar", L1=0.35).description)
    assert other["file"] == "four-bar.yaml"
    tree = yaml.safe_load(other["text"])
    assert apart(lw.load(tree).description, lw.load("four-bar", L1=0.35).description) < 1e-12


# -------------------------------------------------------------------- the page


def test_a_page_is_whole_and_needs_nothing_from_outside() -> None:
    page = live.text(lw.load("slider-crank-equal"), report="<p>in short</p>", reload="/version?have=1")
    assert "{{" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL) and "<p>in short</p>" in page
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    data = next(s for s in scripts if s.startswith("var DATA="))
    told = json.loads(data.removeprefix("var DATA=").removesuffix(";"))
    assert told["reload"] == "/version?have=1" and told["name"] == "slider-crank-equal" and told["version"] == lw.__version__
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page) and "THREE" not in page
    order, space = live.script_names(True), "drawing/space.js"
    assert order[-1] == "shell/main.js" and space not in order and space in live.script_names(False)
    folders = {p.parent.name for p in live.ASSETS.glob("*/*.js")} - {"editor", "study", "widget"}  # which not every page has
    assert folders == set(live.FOLDERS) and not [*live.ASSETS.glob("*.js")]


def test_texts_from_models_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    tree = {
        **yaml.safe_load(models.path("slider-crank-equal").read_text(encoding="utf-8")),
        "about": "</script><b> <!-- <script>",
        "name": "a <i> & b <!-- <script>",
    }
    m = lw.load(tree)
    path = live.write(m, tmp_path / "page.html")
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and "</script><b>" not in page and "<title>a &lt;i&gt; &amp; b " in page
    # a comment and a script begun inside a script would swallow its end
    assert "<!--" not in page and page.lower().count("<script") == page.lower().count("</script>")
    wrong = live.error_text("x.yaml", "bad <b> & worse", reload="/version")
    assert "bad &lt;b&gt; &amp; worse" in wrong and "{{" not in wrong and "</script><b>" not in wrong
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]
    assert live.write(m, path).read_text(encoding="utf-8") == page and files.made_by_linkwright(path)
    with refused(lw.LinkwrightError, file="page.txt"):
        live.write(m, tmp_path / "page.txt")


def test_what_cannot_be_shown_says_so(tmp_path: Path) -> None:
    four = lw.load("four-bar")
    with refused(lw.LinkwrightError, name="run"):
        live.text(four, run=lw.load("four-bar", L1="0.35 m").simulate(0.05))
    with refused(lw.LinkwrightError, name="g"):
        live.text(lw.load({"name": "g", "plane": "xy", "bodies": {"ground": {}}}))
    held = yaml.safe_load(models.path("wiper").read_text(encoding="utf-8")) | {"drive": {"A": "90 deg"}}
    with refused(lw.LinkwrightError, name="A"):
        lw.load(held).cycle()
    _, known = live.contents(lw.load(held).system)
    assert known["cycle"] is None and "holds its position" in known["why"]


@pytest.mark.slow
def test_many_joints_are_not_turned_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their page has every kernel, each in proportion to the loops, and says in a sentence what it lacks."""
    monkeypatch.setattr(cycle_data, "MOST_TURNED", 6)
    scripts, known = zip(*(live.contents(lw.load("parallelogram-chain", N=n).system) for n in (3, 6, 9)), strict=True)
    assert all(x["cycle"] is None and x["drives"] == ["G0"] and x["loads"] and x["swing"] for x in known)
    assert "turning 13 joints beforehand takes long" in known[1]["why"]
    first, second = np.diff([len(text) for text in scripts])
    assert second == pytest.approx(first, rel=0.25)  # names get a letter longer, large kernels are cut into parts
    asked = cycle_data.motion_of(lw.load("parallelogram-chain", N=3).system, 8)
    assert asked.turn is not None and len(asked.turn) == 9


def test_geared_wheels_keep_their_distance() -> None:
    """What cannot stay open in the equations gets no slider, and the page works."""
    geared = {
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [1, 0]},
        "bodies": {
            "ground": {"pins": ["A", "B"]},
            "p": {"pins": ["A"], "mass": 1, "inertia": 0.1},
            "w": {"pins": ["B"], "mass": 2, "inertia": 0.3},
        },
        "gears": {"g": {"joints": ["A", "B"], "radii": [0.4, 0.6]}},
        "drive": {"A": "2 rad/s"},
    }
    found = made(lw.load(geared).system).data
    assert [p["name"] for p in found["parameters"]] == ["p.mass", "w.mass"] and found["loads"]


def test_page_of_a_mechanism_that_cannot_move() -> None:
    """No velocity at all: arrays of size zero on the way to the script."""
    joint = {"type": "fixed", "between": ["ground", "arm"], "at": "B"}
    pins = {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"]}}
    fixed = {"plane": "xy", "drawing": {"A": [0, 0], "B": [0.3, 0.2]}, "bodies": pins, "joints": {"B": joint}}
    m = lw.load(fixed)
    assert m.system.description.joints and live.contents(m.system)[0]
    assert "0 degrees of freedom" in str(m.info())
    with refused(lw.UsageError, name="simulate"):
        m.simulate(0.1)


def test_text_of_the_page_is_the_one_that_was_read(tmp_path: Path) -> None:
    """Another program may write the file while the page is being built."""
    path = tmp_path / "m.yaml"
    text = "plane: xy\ndrawing: {A: [0, 0], B: [0.3, 0.2]}\nbodies: {ground: {pins: [A]}, arm: {pins: [A], points: [B]}}\n"
    path.write_text("\ufeff" + text, encoding="utf-8")
    d = lw.load(path).description
    path.write_text("a: [half", encoding="utf-8")
    assert model(d)["text"] == text
