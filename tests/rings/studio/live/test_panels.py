"""What the panels of the page compute without a browser: numbers for people, ticks, curves, and changed values as YAML."""

from __future__ import annotations

import json
import re
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.model import file as modelfile
from linkwright.model.parameters import choose, every_parameter, with_values
from linkwright.results.measures.extremes import curve_extremes
from linkwright.rings.studio.live import model_text
from linkwright.rings.studio.live.sliders import sliders
from tests.compiler.samples import node
from tests.sweeps import sweep

ASSETS = Path(str(resources.files("linkwright.rings.studio"))) / "live" / "assets"
OWN = (
    *("base/lw", "base/dom", "base/format", "base/yaml", "engine/extremes", "plots/scale", "plots/tools", "plots/plots"),
    *("player/transport", "drawing/frame"),
    *("panels/pins", "panels/parameters", "panels/machinery", "panels/checks", "panels/chooser", "panels/record"),
)


def run(script: str) -> Any:
    """What a script leaves in `out`, after loading all files of the panels in node: none of them needs a document for that."""
    text = "\n".join((ASSETS / f"{name}.js").read_text("utf-8") for name in OWN)
    whole = f"{text}\nlet out;{script}\nprocess.stdout.write(JSON.stringify(out))"
    done = subprocess.run([*node(), "-"], input=whole, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def each(function: str, lists: list[list[Any]]) -> list[Any]:
    """One result for each list of arguments."""
    return run(f"out={json.dumps(lists)}.map((a)=>{function}(...a))")


def test_numbers_keep_their_digits_and_their_width() -> None:
    shown = each("LW.number", [[0], [12.3], [-0.0012346], [9.9996], [99999.4], [1.23456e7], [-3.2e-15], [None]])
    assert shown[:5] == ["0", "12.30", "−0.001235", "10.00", "100000"]
    assert shown[5:] == ["1.235·10⁷", "−3.200·10⁻¹⁵", "–"]
    # one column, one number of decimals; a negative zero has no sign
    assert each("LW.fixed", [[185.04, 900], [-0.004, 900], [0, 900], [-71.26, 900]]) == ["185.0", "0.0", "0.0", "−71.3"]
    assert each("LW.fixed", [[3.3e-15, 2e-14], [-1e-19, 2e-14], [5, 0]]) == ["0.330·10⁻¹⁴", "0", "5.000"]
    script = 'LW.units={force:{symbol:"kN",size:1e3},angle:{symbol:"deg",size:Math.PI/180}};'
    script += 'out=[LW.format(12346,"force"),LW.format(Math.PI,"angle"),LW.format(2,"none"),LW.unit("kg m^2"),LW.unit("s^-1"),LW.unit("-")]'
    assert run(script) == ["12.35\u202fkN", "180.0°", "2.000", "kg\u00a0m²", "s⁻¹", ""]
    newton = {"symbol": "N", "size": 1}
    assert each("LW.prefixed", [[newton, 2943e3], [newton, 9999], [{"symbol": "mm", "size": 1e-3}, 1e9]]) == [
        {"symbol": "kN", "size": 1000},
        newton,
        {"symbol": "mm", "size": 1e-3},
    ]


def test_ticks_are_round_and_say_what_they_are() -> None:
    rng = np.random.default_rng(7)
    ends = [sorted(10.0 ** rng.uniform(-13, 7) * rng.uniform(-1, 1, 2)) for _ in range(200)]
    for (low, high), found in zip(ends, each("LW.scale.ticks", [[a, b, 5] for a, b in ends]), strict=True):
        values, step = np.array(found["values"]), found["step"]
        assert 2 <= len(values) <= 9 and values[0] >= low - 1e-6 * step and values[-1] <= high + 1e-6 * step
        assert low > values[0] - 1.001 * step and high < values[-1] + 1.001 * step  # none is missing at the ends
        assert f"{step:.6e}"[0] in "125" and float(f"{step:.6e}"[:8]) in (1, 2, 5)
        printed = [float(t.replace("−", "-")) for t in found["labels"]]
        np.testing.assert_allclose(np.array(printed) * 10.0 ** found["exponent"], values, rtol=1e-9, atol=1e-9 * step)
        assert len(set(found["labels"])) == len(values) and max(len(t) for t in found["labels"]) <= 9


def test_ticks_of_angles() -> None:
    turn, swung, fine, radians, minus = each(
        "LW.scale.ticks",
        [[0, 360, 6, "deg"], [60, 420, 5, "deg"], [27.1, 67.3, 6, "deg"], [0, 6.2832, 6, "rad", True], [-3.15, 3.15, 6, "rad", True]],
    )
    assert turn["labels"] == ["0", "90", "180", "270", "360"] and swung["values"] == [90, 180, 270, 360]
    assert fine["values"] == [30, 40, 50, 60]
    assert radians["labels"] == ["0", "π/2", "π", "3π/2", "2π"]
    assert minus["labels"] == ["−π", "−π/2", "0", "π/2", "π"]


def test_places_in_a_full_turn_are_angles_from_0_up_to_360() -> None:
    """Ticks, cursor and tables by one rule, the beginning and the end of the axis labeled; a swing is shown as it is."""
    script = """
const turn=2*Math.PI,r=Math.PI/180,axis=(first,last,symbol,size,whole)=>LW.cycleAxis(
  {full_turn:whole,kinds:["angle"],drives:["A"],over:{name:"A",symbol,size}},Float64Array.from({length:361},(_,i)=>first+i/360*(last-first)));
const deg=axis(60*r,420*r,"deg",r,true),back=axis(0,-turn,"deg",r,true),rad=axis(1,1+turn,"rad",1,true);
const swing=axis(-35*r,40*r,"deg",r,false);
const labels=(a)=>LW.placeTicks(a,Math.min(a.values[0],a.values[360]),Math.max(a.values[0],a.values[360]),400).labels;
const places=[60,263,359.97,360,383,420].map((x)=>LW.placeNumber(deg,x*r));
out={ticks:[deg,back,rad,swing].map(labels),places,cursor:LW.placeNumber(deg,360*r,4),swing:LW.placeNumber(swing,-35*r)}
"""
    found = run(script)
    deg, back, rad, swing = found["ticks"]
    assert deg == ["60\u00b0", "90\u00b0", "180\u00b0", "270\u00b0", "0\u00b0", "60\u00b0"] and back == [
        "0\u00b0",
        "90\u00b0",
        "180\u00b0",
        "270\u00b0",
        "0\u00b0",
    ]
    assert rad[0] == rad[-1] == "1.00" and rad[1:-1] == ["\u03c0/2", "\u03c0", "3\u03c0/2", "0"] and swing[0] == "\u221230\u00b0"
    assert found["places"] == ["60", "263", "0", "0", "23", "60"] and found["cursor"] == "0.0" and found["swing"] == "\u221235.0"


def test_ranges_of_axes() -> None:
    crossing, above, far, dust, flat, empty = each(
        "LW.scale.range", [[[[-2, 8]]], [[[1, 9]]], [[[95, 100]]], [[[1e-14, -2e-14]], 1e-6], [[[5, 5, 5]]], [[[]]]]
    )
    assert crossing == pytest.approx([-2.7, 8.7]) and above[0] == 0.0  # seven per cent of room; zero belongs to forces
    assert 94 < far[0] < 95 and 100 < far[1] < 101
    assert dust == pytest.approx([-5e-7, 5e-7])  # round-off of a torque that is zero stays a flat line
    assert flat == pytest.approx([4.5, 5.5]) and empty == [-1, 1]


def sampled_curves() -> list[tuple[np.ndarray, np.ndarray]]:
    """Smooth, kinked, clipped, noisy and unbounded curves with gaps, events and few samples: (abscissa, values)."""
    rng, out = np.random.default_rng(8), []
    for n in (2, 4, 5, 7, 12, 36, 72, 121):
        s = np.linspace(0.0, 2.0, n)
        for _ in range(12):
            a, b, p = rng.normal(size=(3, 4))
            smooth = sum(a[k] * np.sin((k + 1) * np.pi * s + p[k]) + b[k] for k in range(4))
            drift, kinked, clipped = smooth + s**2, np.abs(smooth - smooth.mean()), np.clip(smooth, -0.5, 0.4 * abs(smooth).max())
            with np.errstate(divide="ignore"):
                pole = 1.0 / (s - rng.uniform(0.5, 1.5))
            jump, gap, event = np.where(s > 0.9, smooth + 2.0, smooth), smooth.copy(), s.copy()
            gap[n // 3 : n // 2] = np.nan
            event[n // 2 :] -= event[n // 2] - event[max(n // 2 - 1, 0)]  # two samples at one place
            out += [(s, y) for y in (smooth, drift, kinked, clipped, pole, pole**2, jump, gap, 0.0 * s, -drift)]
            out += [(event, smooth), (-s, drift), (s**1.2, kinked)]
    return out


def test_extremes_of_the_page_are_those_of_python() -> None:
    """One definition in two languages: values, places and errors of every third curve of Python's own test."""
    curves = [(s, y) for s, y in sampled_curves() if np.isfinite(y).any()][::3]
    given = [[s.tolist(), [None if np.isnan(v) else v for v in y]] for s, y in curves]
    script = f"out={json.dumps(given)}.map(([s,y])=>{{const e=LW.extremes(Float64Array.from(y,(v)=>v===null?NaN:v),Float64Array.from(s));"
    found = run(script + "return [e.low,e.high,e.sLow,e.sHigh,e.errorLow,e.errorHigh].map((v)=>v===Infinity?'inf':v)})")
    located = 0
    for (s, y), one in zip(curves, found, strict=True):
        e, size = curve_extremes(s, y), np.nanmax(np.abs(y))
        low, high, s_low, s_high, error_low, error_high = map(float, one)
        assert [low, high] == pytest.approx(e.both, abs=1e-9 * size)
        assert [error_low, error_high] == pytest.approx([e.error_low, e.error_high], rel=1e-9, abs=1e-9 * size)
        places = np.interp([s_low, s_high], np.arange(len(s)), s)
        assert places == pytest.approx([e.at_low, e.at_high], abs=1e-6 * np.ptp(s))
        located += int(s_high % 1.0 != 0.0) + int(s_low % 1.0 != 0.0)
    assert located > 100 and len(curves) > 400


def test_curves_keep_gaps_extremes_and_places() -> None:
    x = np.linspace(0.0, 2.0 * np.pi, 361)
    y = 3.0 * np.sin(x) + np.cos(5.0 * x)
    y[100:110] = np.nan
    given = json.dumps([None if np.isnan(v) else v for v in y])
    script = f"const x={json.dumps(x.tolist())},y=Float64Array.from({given},(v)=>v===null?NaN:v);"
    script += "const many=(f)=>Float64Array.from({length:20000},(_,i)=>f(i));"
    script += "out={path:LW.scale.path(x,y,[10,50],[100,-9],400),stats:LW.scale.stats(x,y),"
    script += "place:[0,1.2345,6.28].map((p)=>LW.scale.between(y,LW.scale.sampleAt(x,p))),down:LW.scale.sampleAt([5,3,1],2),"
    script += "long:LW.scale.path(many((i)=>i),many((i)=>i===7777?9:i%2),[0,.02],[0,1],400)}"
    found = run(script)
    pieces = [np.array(re.findall(r"([-\d.]+) ([-\d.]+)", p), dtype=float) for p in found["path"].split("M")[1:]]
    assert [len(p) for p in pieces] == [100, 251]  # the pen is lifted once
    drawn = np.concatenate(pieces)
    kept = np.isfinite(y)
    np.testing.assert_allclose(drawn, np.stack([10 + 50 * x[kept], 100 - 9 * y[kept]], axis=1), atol=0.05001)  # tenths of a pixel
    top = int(np.nanargmax(np.abs(y)))
    area = np.nansum((y[:-1] ** 2 + y[1:] ** 2) / 2 * np.diff(x))  # trapezoids that reach into the gap do not count
    located = curve_extremes(np.arange(361.0), y)
    assert found["stats"]["index"] == top and found["stats"]["max"] == pytest.approx(located.high, rel=1e-14) and located.high > y[top]
    assert found["stats"]["x"] == pytest.approx(np.radians(located.at_high), rel=1e-12)
    assert found["stats"]["rms"] == pytest.approx(np.sqrt(area / (x[99] - x[0] + x[360] - x[110])), rel=1e-12)
    assert found["place"] == pytest.approx(np.interp([0, 1.2345, 6.28], x[kept], y[kept]), rel=1e-12)
    assert found["down"] == 1.5  # falling axes too
    assert found["long"].count("L") < 1000 and "155.5 9" in found["long"]  # a single peak among 20000 samples is not lost


def test_labels_beside_curves_do_not_overlap() -> None:
    wanted = [50.0, 52.0, 51.0, 95.0, 99.0, 3.0]
    placed = np.array(run(f"out=LW.scale.spread({wanted},14,0,100)"))
    assert np.diff(np.sort(placed)).min() >= 14 - 1e-9 and placed.min() >= 0 and placed.max() <= 100
    assert list(np.argsort(placed)) == list(np.argsort(wanted))


def test_sentences() -> None:
    near, far, lost, known = each("LW.singularText", [[[0.0031, 0.5]], [[0.4, 2]], [[1e-14, 0.4]], [[1e-15, 0.3, 1], 1]])
    assert near.startswith("0.0031: close to a singular position") and far.startswith("0.40: far")
    assert "singular" in lost and "branches" in lost and known.startswith("0.30: far") and "redundant" in known
    good, warn = {"verdict": "passed"}, {"verdict": "unknown"}
    passed, warned, bad = each("LW.checksSummary", [[[good] * 4], [[good] * 4 + [warn]], [[good] * 4 + [warn, {"verdict": "failed"}]]])
    assert (passed, warned, bad) == ("4 checks passed", "4 checks passed, 1 unknown", "1 of 6 checks failed, 1 unknown")
    assert run('out=LW.matchingChannels(["B.force","crank.angle","coupler.P","crank.speed"],"cra sp")') == ["crank.speed"]


def test_values_that_cannot_be_are_not_allowed() -> None:
    mass = {
        "name": "crank.mass",
        "kind": "mass",
        "what": "mass",
        "value": 0.3,
        "low": 0.15,
        "high": 0.6,
        "size": 1.0,
        "symbol": "kg",
        "positive": True,
    }
    place = {"name": "P.x", "kind": "length", "what": "point", "value": 0.0, "low": -0.1, "high": 0.1, "size": 1e-3, "symbol": "mm"}
    weightless = {**mass, "name": "rod.mass", "value": 0.0, "low": 0.0}
    data = {"parameters": [mass, place, weightless]}

    def allowed(name: str, values: str) -> list[bool]:
        return run(f"const d={json.dumps(data)};out={values}.map((v)=>LW.allowedValue(d,{json.dumps(name)},v))")

    assert allowed("crank.mass", "[0.3, 0.01, 50]") == [True] * 3
    assert allowed("crank.mass", "[0, -0, -0.3, 1e-300, 1e300, Infinity, NaN, undefined, null, '0.3']") == [False] * 10
    assert allowed("P.x", "[0, -0.2, 5, 1e6, -Infinity]") == [True, True, True, False, False]
    assert allowed("rod.mass", "[0, 0.1]") == [True, True]  # the file's own value always
    assert allowed("nobody", "[1]") == [False]


def test_typed_numbers_are_understood_or_refused_with_a_reason() -> None:
    """A decimal comma is one in every locale; lengths and masses are above zero; what is no number says so."""
    crank = {"name": "c", "label": "crank A-B", "kind": "length", "value": 0.3, "low": 0.15, "high": 0.5, "size": 1e-3, "symbol": "mm"}
    given = {"crank": {**crank, "positive": True}, "offset": {**crank, "positive": False}, "plain": {**crank, "symbol": "", "size": 1.0}}

    def typed(which: str, texts: list[str]) -> list[Any]:
        found = run(f"const p={json.dumps(given[which])};out={json.dumps(texts)}.map((t)=>LW.typedValue(p,t))")
        return [x.get("value", x.get("problem")) for x in found]

    good = {
        "0,5": 0.5,
        "0.5": 0.5,
        " 12,25 ": 12.25,
        "1e2": 100,
        "+7": 7,
        "3 cm": 30,
        "0,3 m": 300,
        "2 in": 50.8,
        "5 mm": 5,
        ".5": 0.5,
        ",5": 0.5,
    }
    assert typed("crank", list(good)) == pytest.approx([1e-3 * x for x in good.values()])
    assert typed("crank", ["-5", "0", "\u22125"]) == ["crank A-B must be greater than zero."] * 3
    assert typed("offset", ["-5", "0", "\u22125"]) == pytest.approx([-5e-3, 0, -5e-3])
    refused = typed(
        "crank", ["", "  ", "abc", "1,234.5", "1.234,5", "1 000", "0x10", "Infinity", "NaN", "5 kg", "1e999", "1e30", "--5", "5e"]
    )
    assert all(isinstance(x, str) and x.endswith(".") for x in refused), refused
    assert refused[0] == "Enter a number." and "0,5" in refused[2] and "'kg'" in refused[9] and "too large" in refused[10]
    assert typed("plain", ["160"]) == [160] and "'mm'" in typed("plain", ["160 mm"])[0]  # a number without a unit has none to convert


def test_times_and_paces_are_told_as_they_are() -> None:
    def times(symbol: str, size: float) -> list[str]:
        return run(f"out=[0,1.5,75].map(LW.transport.secondsText({json.dumps({'symbol': symbol, 'size': size})}))")

    assert times("s", 1.0) == ["0.00\u202fs", "1.50\u202fs", "75.0\u202fs"]
    assert times("h", 3600.0) == ["0.000000\u202fh", "0.000417\u202fh", "0.0208\u202fh"]
    # frames of 1/50 s that compute a hundredth each; then nine seconds of a hidden page
    script = "const m=LW.transport.paceMeter();const first=m(0,0);let found;for(let k=1;k<=100;k++)found=m(k/100,k/50);"
    first, found, after = run(f"{script}out=[first,found,m(1.01,11)]")
    assert first is None and found == pytest.approx(0.5) and after is None


def test_the_table_and_the_arrows_mean_the_same_body() -> None:
    data = {"bodies": [{"name": "ground"}], "pins": []}
    pins = [["ground", "crank"], ["crank", "ground"], ["crank", "coupler"], ["a", "b", "ground"], ["ground"]]
    script = f"const d={json.dumps(data)};out={json.dumps(pins)}.map((bodies)=>LW.loadedBody({{bodies}},d))"
    assert run(script) == ["crank", "crank", "coupler", "b", "ground"]


# -------------------------------------------------------------------- changed values as YAML


def merged(model: Any, fragment: Any) -> Any:
    """A fragment in a model, mapping by mapping."""
    if not (isinstance(model, dict) and isinstance(fragment, dict)):
        return fragment
    return {**model, **{key: merged(model.get(key), value) for key, value in fragment.items()}}


def model_of(name: str) -> dict[str, Any]:
    return yaml.load((Path(str(resources.files("linkwright"))) / "model" / "library" / f"{name}.yaml").read_text("utf-8"), yaml.BaseLoader)


def numbers(description: Any) -> list[float]:
    """Everything a change may move: masses, centers, inertias and points of bodies, places of joints."""
    n = description.numbers()
    out: list[Any] = []
    for b in n.bodies:
        inertia = np.zeros((3, 3)) if b.inertia is None else np.array(b.inertia, dtype=float)
        out += [b.mass or 0.0, *(b.com or ()), *inertia[2 * n.planar :, 2 * n.planar :].ravel()]  # in a plane only about its normal
        out += [x for p in sorted(b.points, key=lambda p: p.name) for x in p.at]
    for j in sorted(n.joints, key=lambda j: j.name):
        out += [*j.frame_first.at, *j.frame_second.at]
    return [float(x) for x in out]


def test_changed_values_are_a_fragment_of_the_file() -> None:
    def entry(name: str, value: float, symbol: str, size: float, path: list[Any] | None, keeps: list[Any] | None = None) -> dict[str, Any]:
        return {"name": name, "value": value, "symbol": symbol, "size": size, "yaml": path, "keeps": keeps}

    mm, rod = 1e-3, [[["bodies", "crank", "inertia"], "0.002 kg m^2"], [["bodies", "crank", "com"], ["75 mm", "130 mm"]]]
    at = {"B": ["0 mm", "0 mm"], "on": ["1 mm", "2 mm"]}
    data = {
        "parameters": [
            entry("crank.mass", 0.3, "kg", 1.0, ["bodies", "crank", "mass"], rod),
            entry("coupler.on.y", 2e-3, "mm", mm, ["bodies", "coupler", "points", "on", 1], [[["bodies", "coupler", "points"], at]]),
            entry("L1", 0.3, "mm", mm, ["parameters", "L1"]),
            entry("ratio", 2.0, "-", 1.0, ["parameters", "ratio"]),
            entry("tilt", 0.5, "deg", np.pi / 180, None),
        ]
    }
    values = {"crank.mass": 0.35, "coupler.on.y": 3.25e-3, "L1": 0.1 + 0.2, "ratio": 1e-7, "tilt": np.pi / 4}
    text, same = run(f"const d={json.dumps(data)};out=[LW.changedYaml(d,{json.dumps(values)}),LW.changedYaml(d,{{L1:0.3,ratio:2}})]")
    assert same == ""  # 0.1 + 0.2 is 0.3 to people
    assert text.splitlines()[0] == "parameters:" and "# tilt: 45 deg" in text and "L1" not in text
    assert yaml.safe_load(text) == {
        "parameters": {"ratio": "1e-7"},
        "bodies": {
            "crank": {"mass": "0.35 kg", "inertia": "0.002 kg m^2", "com": ["75 mm", "130 mm"]},
            "coupler": {"points": {"on": ["1 mm", "3.25 mm"], "B": ["0 mm", "0 mm"]}},
        },
    }


def test_every_slider_comes_back_through_the_file() -> None:
    names = ("four-bar", "wiper", "punch-press", "carpet-scraper", "rssr")  # named lengths, drawn and exact shapes, rods, space
    found = {name: lw.load(name) for name in names}
    given = {name: sliders(m.system) for name, m in found.items()}
    rng = np.random.default_rng(3)
    values = {
        name: {p["name"]: p["value"] + rng.uniform(0.01, 0.05) * (p["high"] - p["low"]) for p in free} for name, free in given.items()
    }
    texts = run(
        f"const d={json.dumps(given)},v={json.dumps(values)};out={{}};for(const n in d)out[n]=LW.changedYaml({{parameters:d[n]}},v[n])"
    )
    for name, m in found.items():
        written = {p["name"]: values[name][p["name"]] for p in given[name] if p["yaml"]}
        again = lw.load(merged(model_of(name), yaml.load(texts[name], yaml.BaseLoader)))
        wanted = with_values(m.description, choose(every_parameter(m.description), list(written), m.description), list(written.values()))
        assert len(written) >= 5 and not np.allclose(numbers(wanted), numbers(m.description), rtol=1e-6)
        # twelve digits are written
        np.testing.assert_allclose(numbers(again.description), numbers(wanted), rtol=1e-10, atol=1e-12)


# -------------------------------------------------------------------- the model's file with changed values


def exported(chosen: dict[str, tuple[dict[str, Any], list[dict[str, Any]], dict[str, float]]]) -> dict[str, dict[str, str]]:
    """{text, file} that the page exports for each (model, sliders, values)."""
    given = {k: [{"model": model, "parameters": free}, values] for k, (model, free, values) in chosen.items()}
    return run(f"const d={json.dumps(given)};out={{}};for(const n in d)out[n]=LW.changedModel(...d[n])")


@sweep("which", ["all", "file"], now=1)
def test_an_exported_model_is_the_design_on_the_screen(which: str, tmp_path: Path) -> None:
    """Changed numbers in the user's own text, or in the model written out; read again it has the values of the sliders."""
    names = ("four-bar", "wiper", "punch-press", "jansen-leg", "rssr", "scissor-lift", "bennett")
    found = {name: lw.load(name) for name in names}
    if which == "all":
        found["from a call"] = lw.load("four-bar", L1=0.35)  # no file says this
    rng = np.random.default_rng(5)
    chosen, moved = {}, {}
    for name, m in found.items():
        free = sliders(m.system)
        some = [p for p in free if p["yaml"] or which == "all"]
        moved[name] = {p["name"]: p["value"] + rng.uniform(0.01, 0.04) * (p["high"] - p["low"]) for p in some}
        chosen[name] = (model_text.model(compiled_of(m.system).described, free), free, moved[name])
    for name, got in exported(chosen).items():
        m, described = found[name], compiled_of(found[name].system).described
        again = modelfile.read_text(got["text"], got["file"])
        wanted = with_values(described, choose(every_parameter(described), list(moved[name]), described), list(moved[name].values()))
        # fourteen digits are written, twelve in the user's file
        np.testing.assert_allclose(numbers(again), numbers(wanted), rtol=1e-10, atol=1e-12)
        assert not np.allclose(numbers(wanted), numbers(m.description), rtol=1e-6)
        original = chosen[name][0]["text"]
        if which == "file":  # comments, order and units as they were
            assert [x for x in original.splitlines() if x.startswith("#")] == [x for x in got["text"].splitlines() if x.startswith("#")][1:]
            assert original.split("bodies:")[0].split("parameters:")[0] in got["text"]


def test_numbers_are_changed_where_they_stand_in_any_style_of_yaml() -> None:
    """Blocks, brackets over several lines, comments at the end, letters of two UTF-16 units, Windows line ends, no last line end."""
    block = [
        "# \U0001f527 a tool",
        "name: blocks",
        "plane: xy",
        "units: [mm, kg]",
        "parameters:",
        "  base: 300 # in mm",
        "  h: 0.12 m",
        "bodies:",
        "  ground: {pins: [A, D]}",
        "  arm:",
        "    pins: [A, B]   # two",
        "    mass: 0.5      # weighed",
        "  link: {pins: [B, C],",
        "    mass: 1.5, }",
        "  lever: {pins: [C, D], mass: 700 g, com: [300, 50], inertia: 0.01 kg m^2}",
        "drawing: {A: [0, 0], B: [0, 100], C: [250, 120], D: [base*1 mm, h - 0.12 m]}",
        "drive: {A: 10 rpm}",
    ]
    for end in ("\n", "\r\n"):
        text = end.join(block)
        m = modelfile.read_text(text, "blocks.yaml")
        free = [p for p in sliders(lw.compile(m)) if p["what"] != "point"]
        model = {"text": text, "file": "blocks.yaml", "places": model_text.places(text), "plain": None}
        values = {p["name"]: 1.1 * p["value"] for p in free}
        assert values.keys() == {"base", "h", "arm.mass", "link.mass", "lever.mass"}
        got = exported({"it": (model, free, values)})["it"]
        lines = got["text"].split(end)
        assert got["file"] == "blocks-5-changes.yaml" and lines[0].startswith("# Changed in the page: base 300 -> 330; h 120 -> 132 mm; ")
        assert "  base: 330 # in mm" in lines and "    mass: 0.55      # weighed" in lines and "  h: 132 mm" in lines
        assert any(x.startswith("    inertia: ") for x in lines) and any(x.startswith("    mass: 1.65, inertia: ") for x in lines)
        assert "  lever: {pins: [C, D], mass: 0.77 kg, com: [300, 50], inertia: 0.01 kg m^2}" in lines and block[0] in lines
        again = modelfile.read_text(got["text"], "again.yaml")
        wanted = with_values(m, choose(every_parameter(m), list(values), m), list(values.values()))
        np.testing.assert_allclose(numbers(again), numbers(wanted), rtol=1e-10, atol=1e-12)
    one = exported({"it": (model, free, {"base": 320.0})})["it"]
    assert one["file"] == "blocks-base-320.yaml"
    assert exported({"it": (model, free, {})})["it"] == {"text": text, "file": "blocks.yaml"}, "unchanged is the file itself"
