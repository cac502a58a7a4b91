"""What is beside the drawing: parameters, pins, bodies, points, machinery, checks, free swing and recorded runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.model import library as models
from linkwright.rings.studio import live
from linkwright.rings.studio.picture import Canvas
from linkwright.rings.studio.scene import off_at
from tests.results.test_checks import GENEVA
from tests.rings.studio.browser import reading
from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.browser.hand import on_screen, place
from tests.rings.studio.catching import caught
from tests.sweeps import sweep

EQUAL = 1e-9  # of the largest value: round-off of two ways to compute the same
EVERY = 10  # Python turns in steps of ten of the page's samples
SAMPLES = np.array([10, 40, 80, 110, 150, 200, 240, 290, 330])

# one movement of a parameter's slider, and what the next animation frame finds
MOVED = """([name, steps]) => {
  const row = Array.from(document.querySelectorAll("#parameters .lw-parameter")).find((r) => r.querySelector(".label").title === name);
  const input = row.querySelector("input[type=range]");
  const curve = () => document.querySelector("#torque path.curve:not(.faint)").getAttribute("d");
  const before = curve(), began = performance.now();
  input.value = Number(input.value) + steps;
  input.dispatchEvent(new Event("input", {bubbles: true}));
  return new Promise((done) => requestAnimationFrame(() =>
    done({before, after: curve(), faint: document.querySelectorAll("#torque path.curve.faint").length, ms: performance.now() - began})));
}"""

TICKS_BESIDE = """Array.from(document.querySelectorAll("#torque .ticks text[text-anchor=end]"), (t) => t.textContent)
  .filter((text) => /^[\\d.\\u2212]+$/.test(text))"""

# a crank that starts and stops: its angle runs one way, its speed is never constant
ONE_MOVE: dict[str, Any] = {
    "name": "one move",
    "plane": "xy",
    "units": ["mm", "kg", "deg"],
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "B": [150, 260], "C": [905, 750], "D": [1000, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"], "mass": 0.3},
        "coupler": {"pins": ["B", "C"], "mass": 0.9},
        "rocker": {"pins": ["D", "C"], "mass": 0.8},
    },
    "drive": {"A": {"moves": [{"to": 150, "in": "0.4 s"}]}},
}
DIGITS = 5.1e-4  # of a number: four digits are shown


def number(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def merged(model: Any, changes: Any) -> Any:
    """The fragment put over the model, mapping by mapping."""
    if not (isinstance(model, Mapping) and isinstance(changes, Mapping)):
        return changes
    return {**model, **{key: merged(model.get(key), value) for key, value in changes.items()}}


def loads_at(m: Any, samples: Any = SAMPLES) -> list[Any]:
    turn = m.cycle(steps=360 // EVERY)
    return [turn.instant(int(i) // EVERY).loads for i in samples]


@pytest.mark.slow
def test_a_slider_draws_the_whole_curve_again_within_a_frame(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("carpet-scraper"), "#tab=parameters&play=0")
    everything = here.page.locator("#parameters button[aria-expanded=false]")
    if everything.is_visible():
        everything.click()
    offered = here.ask("DATA.parameters.map((p) => [p.name, p.what])")
    chosen = [next(name for name, what in offered if what == kind) for kind in dict.fromkeys(what for _, what in offered)]
    for name in chosen:
        seen = here.page.evaluate(MOVED, [name, 12])
        print(f"{name}: {seen['ms']:.1f} ms until the next frame")
        assert seen["after"] != seen["before"], f"{name} changes nothing by the next frame"
        assert seen["faint"] == 1
    # the curve of the file stays, faint, at its values; the new one is another
    original, now = (np.array(here.ask(f"Array.from(e.{which}.u[0])")) for which in ("original", "cycle"))
    python = np.array([x.tau["J1"] for x in loads_at(lw.load("carpet-scraper"))])
    assert np.abs(original[SAMPLES] - python).max() < EQUAL * np.abs(python).max()
    assert np.abs(now - original).max() > 1e-3 * np.abs(original).max()
    shown = reading.plot(here)
    x = np.array(here.ask("Array.from(e.cycle.x)")) / here.ask("DATA.cycle.over.size")
    for curve, values in ((shown.faint[0], original), (shown.curves[0], now)):
        at = np.interp(curve[:, 0], x, values)
        assert np.median(np.abs(at - curve[:, 1])) < shown.pixel[1]
    # "copy changed values": merged into the model's file, Python computes the curve the page shows
    fragment = yaml.safe_load(here.text("#parameters .lw-yaml"))
    text = models.path("carpet-scraper").read_text(encoding="utf-8")
    changed = loads_at(lw.load(merged(yaml.safe_load(text), fragment)))
    assert np.abs(now[SAMPLES] - [x.tau["J1"] for x in changed]).max() < EQUAL * np.abs(now).max()
    here.page.get_by_role("button", name="Reset all").click()
    here.frame()
    assert np.abs(np.array(here.ask("Array.from(e.cycle.u[0])")) - original).max() < EQUAL * np.abs(original).max()
    assert here.page.locator("#torque path.curve.faint").count() == 0


def test_the_figures_of_a_drive_are_those_of_its_sizing(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m = lw.load(ONE_MOVE)
    here = desk(live.write(m, tmp_path / "move.html"), "#play=0")
    turn = m.cycle()
    assert here.ask("DATA.cycle.over.name") == "A"
    torque = np.array([x.loads.tau["A"] for x in turn._instants])
    over_time, over_angle = (np.sqrt(np.trapezoid(torque**2, x) / (x[-1] - x[0])) for x in (turn.t, turn["A"]))
    assert torque.min() < -torque.max(), "the largest amount is a minimum, and is called so"
    found = re.match(r"min (\S+)\sN\sm at \S+\s+·\s+RMS\s(\S+)\sN\sm$", here.text("#torque .lw-plot-stats"))
    assert found is not None
    most, rms = map(number, found.groups())
    load = turn.drive_sizing().load
    assert most == pytest.approx(max(load.max, load.min, key=abs), rel=DIGITS)
    assert rms == pytest.approx(load.rms, rel=DIGITS) and rms == pytest.approx(over_time, rel=DIGITS)
    assert abs(over_angle - over_time) > 20 * DIGITS * over_time  # the mean over the plot's axis is another


@sweep(("name", "drive", "point"), [("wiper", "A", "rocker.angle"), ("punch-press", "E", "slide")], now=1)
def test_peaks_lie_between_samples_as_in_every_verb(name: str, drive: str, point: str, desk: Callable[..., Desk], tmp_path: Path) -> None:
    """At 36 positions a turn: plot, drive, pins and curves of the page, tables, report and measures have one number for each peak."""
    m = lw.load(name)
    here = desk(live.write(m, tmp_path / "coarse.html", steps=36), "#play=0", height=1400)
    turn = m.cycle(steps=36)
    load, table, torque = turn.drive_sizing(drive).load, turn.bearings(), turn[f"{drive}.torque"]
    peak = turn.measure(f"peak {drive}.torque")
    assert max(abs(load.min), abs(load.max)) == pytest.approx(peak, rel=1e-12)
    text = here.text("#torque .lw-plot-stats")
    assert abs(number(text.split()[1])) == pytest.approx(peak, rel=DIGITS)
    if name == "wiper":
        assert peak > np.abs(torque).max() * (1.0 + 20 * DIGITS), "samples alone are another number on the screen"
        assert peak.error == 0.0 and "between samples" not in text
    else:  # the blow begins between two samples
        more = re.search(r"\(up to (\S+)\sN\sm more between samples\)", text)
        assert peak.error > 0.1 * peak and more is not None and number(more[1]) == pytest.approx(peak.error, rel=DIGITS)
    here.page.get_by_role("tab", name="Drive").click()
    cells = here.page.eval_on_selector_all(".lw-drive tr", "x => x.map((r) => [...r.cells].map((c) => c.innerText))")
    rows = {row[0]: row[1] for row in cells}
    assert abs(number(rows["Largest torque"].split()[0])) == pytest.approx(peak, rel=DIGITS)
    for key, entry in here.ask("Object.entries(e.cycle.pins).map(([k, p]) => [k, p.max])"):
        pin, body = key.split("|")
        assert entry == pytest.approx(table[pin, body].max, rel=1e-6), key
    found = here.ask("LW.extremes(e.channels.read(x), e.cycle.t)", point)
    for what, end in (("max", "high"), ("min", "low")):
        assert found[end] == pytest.approx(turn.measure(f"{what} {point}"), abs=1e-9)


@pytest.mark.slow
def test_every_one_of_several_drives_has_its_figures(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("five-bar"), "#play=0&s=40", width=360)
    turn, drives = lw.load("five-bar").cycle(), here.ask("DATA.cycle.drives")
    items = here.page.locator("#torque .lw-plot-legend li")
    assert items.locator("span").all_inner_texts() == drives and len(drives) == 2
    for item, effort in zip(items.all(), (turn.drive_sizing(name).load for name in drives), strict=True):
        texts = item.locator("small").all_inner_texts()
        most, rms = (number(t.split("\u00a0")[1]) for t in texts)
        assert texts[0].startswith("min" if most < 0.0 else "max")
        assert most == pytest.approx(max(effort.max, effort.min, key=abs), rel=DIGITS) and rms == pytest.approx(effort.rms, rel=DIGITS)
    assert here.ask("((l) => l.scrollWidth <= l.clientWidth)(document.querySelector('#torque .lw-plot-legend'))")


ON_ARROWS = """(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done)), found = [];
  let now = Date.now();
  Date.now = () => (now += 1000); // names jump to their places instead of gliding there
  for (const s of x) {
    app.player.seek(s);
    await frame();
    await frame();
    const tips = Array.from(document.querySelectorAll(".lw-drive path"), (p) => p.getBoundingClientRect());
    for (const name of document.querySelectorAll("[data-layer=labels] text:not([visibility=hidden])")) {
      const b = name.getBoundingClientRect();
      const wide = (t) => Math.min(b.right, t.right) - Math.max(b.left, t.left);
      const high = (t) => Math.min(b.bottom, t.bottom) - Math.max(b.top, t.top);
      if (tips.slice(1).some((t) => wide(t) > 2 && high(t) > 5)) found.push([s, name.textContent]);
    }
  }
  return found;
})()"""


@pytest.mark.slow
def test_the_arrow_of_a_pin_is_the_load_the_table_lists(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#play=0&s=120")
    drawn = {x["pin"]: (x["body"], x["force"]) for x in here.ask("app.frames.now().loads")}
    rows = here.page.locator("#pins tbody tr").all()
    listed = {row.locator("th").inner_text(): row.locator("td.c1 span").inner_text() for row in rows}
    assert listed == {pin: body for pin, (body, _) in drawn.items()}
    loads = lw.load("wiper").cycle().instant(120).loads
    for pin, (body, force) in drawn.items():
        wanted = loads.on(pin, body).force
        assert np.abs(wanted - force).max() < EQUAL * np.abs(wanted).max()
    # where a pin joins several links, the arrow is the largest load there: at G that of shoulder and thigh on the ground
    leg = desk(page_of("jansen-leg"), "#play=0")
    c, drawn = lw.load("jansen-leg").cycle(steps=24), {x["pin"]: x["body"] for x in leg.ask("app.frames.now().loads")}
    for pin, bodies in leg.ask("DATA.pins.filter((p) => p.bodies.length > 2).map((p) => [p.name, p.bodies])"):
        assert drawn[pin] == max(bodies, key=lambda body: c[f"{pin}.on.{body}.magnitude"].max())
    assert leg.ask(ON_ARROWS, list(range(0, 360, 8))) == [], "no name on the arrow of a drive, wherever it turns"


def test_a_mass_that_cannot_be_is_refused_where_it_is_typed(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#play=0&tab=parameters")
    row = here.page.locator("#parameters .lw-parameter", has=here.page.locator('.label[title="crank.mass"]'))
    field, before = row.locator("input[type=text]"), here.ask("Array.from(e.cycle.u[0])")
    for text in ("-1", "0", "1e300", "1e999", "", "heavy", "1,234.5", "0.3 mm"):
        field.fill(text)
        here.frame()
        assert field.get_attribute("aria-invalid") == "true" and row.locator(".problem").inner_text().endswith(".")
        assert here.ask("Array.from(e.cycle.u[0])") == before
    field.press("Enter")
    assert number(field.input_value()) == pytest.approx(0.3) and field.get_attribute("aria-invalid") is None
    assert row.locator(".problem").inner_text().endswith("Back to 0.3\u202fkg.")
    for text, kilograms in (("0.35", 0.35), ("0,5", 0.5), ("400 g", 0.4)):  # a decimal comma in an English browser is one
        field.fill(text)
        here.frame()
        assert here.ask("e.values['crank.mass']") == pytest.approx(kilograms) and row.locator(".problem").inner_text() == ""


def test_a_broken_mechanism_turns_the_badge_red_and_ends_the_motion(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#tab=parameters&s=20")
    badge = here.page.locator("#checks")
    assert badge.inner_text() == "9 checks passed"
    field = here.page.locator("#parameters .lw-parameter", has=here.page.locator('.label[title="crank.B.x"]')).locator("input[type=text]")
    field.fill("-5")
    assert "greater than zero" in here.text("#parameters .problem:not(:empty)") and not here.ask("e.changed")
    field.fill("700")
    here.frame()
    assert badge.inner_text() == "2 of 8 checks failed, 1 unknown", "at once, not after a while"
    assert "A stops at 153.5 deg" in here.text("#message")
    assert "near a singular position" in here.text("#torque .lw-plot-stats") and "max" not in here.text("#torque .lw-plot-stats")
    # the curve is still to be seen: its axis holds what is not near a dead center, some hundred N m
    assert max(abs(reading.number(x)) for x in here.ask(TICKS_BESIDE)) < 500
    # samples are degrees from 60: the last position that can be reached before 153.5 deg is sample 93, the first after 206.5 deg is 147
    here.page.wait_for_function("!LW.app.player.playing")
    assert here.ask("[app.player.s, e.state.ok]") == [93, True] and "A stops at 153.5 deg" in here.text("#message")
    seen = here.ask("""new Promise((done) => { const out = []; app.speed(4); app.player.play();
      const look = () => { out.push([app.player.s, e.state.ok]); if (app.player.playing) requestAnimationFrame(look); else done(out); };
      look(); })""")
    assert all(ok and not 93 < s < 147 for s, ok in seen) and len({s for s, _ in seen}) > 2, "it moves, and never through the gap"
    assert seen[0] == [147, True] and seen[-1] == [93, True]
    here.page.click("#tab-pins")
    assert "*" in here.text("#pins tbody") and here.page.locator("#pins tr.largest").count() == 0
    here.page.click("#tab-parameters")
    here.ask("app.player.play()")
    field.fill("5000")  # no position at all: nothing is said to have passed
    assert badge.inner_text() == "1 of 8 checks failed, 6 unknown" and "cannot be assembled" in here.text("#message")
    here.page.wait_for_function("!LW.app.player.playing")
    here.page.click("#swing")
    assert "cannot be assembled" in here.text("#message") and here.ask("[app.player.playing, e.state.ok]") == [False, False]
    here.page.click("#turn")
    here.ask("app.reset()")
    assert badge.inner_text() == "9 checks passed"


@pytest.mark.slow
def test_a_model_without_masses_or_drives_is_shown_and_checked(desk: Callable[..., Desk], tmp_path: Path) -> None:
    plain = {**ONE_MOVE, "bodies": {name: {"pins": body["pins"]} for name, body in ONE_MOVE["bodies"].items()}}
    for name, model in (("no mass", plain), ("no drive", {**plain, "drive": {}})):
        here = desk(live.write(lw.load(model), tmp_path / f"{name}.html"), "#tab=parameters&s=20&play=0")
        here.frame()
        assert here.text("#checks") == "4 checks passed" and not here.page.locator("#message").is_visible()
        field = here.page.locator("#parameters .lw-parameter", has=here.page.locator('.label[title="crank.B.x"]')).locator(
            "input[type=text]"
        )
        field.fill("2000")
        assert "failed" in here.text("#checks")


def test_loads_beside_a_mesh_that_is_not_modeled_are_unknown(desk: Callable[..., Desk], tmp_path: Path) -> None:
    """Two shafts tied by a coupling: 0 N in their bearings was called the least-norm share of an over-constrained mechanism."""
    here = desk(live.write(lw.load(GENEVA), tmp_path / "index.html"), "#tab=pins&play=0")
    here.frame()
    told = here.text("#pins")
    assert told.count("unknown") == 2 and "not known: the force in the mesh of index is not modeled" in told
    here.page.click("#pins .lw-row-button >> nth=0")
    assert "the force in the mesh of index is not modeled" in here.text("#card")
    assert not any(word in here.text("body") for word in ("least-norm", "over-constrained", "statically determinate"))


@pytest.mark.slow
def test_the_badge_of_a_recorded_run_is_the_verdict_on_it(desk: Callable[..., Desk], tmp_path: Path) -> None:
    """Large steps without a stabilizer open the loops: the turn of the same model is right, the run is not."""
    m = lw.load("wiper")
    run = m.simulate("0.5 s", drive={"A": lw.drives.torque(2.0)}, sample_interval=0.05, integrator="rk4", step=0.01, stabilizer="none")
    verdict = run.certificate.checks()
    here = desk(run.show(tmp_path / "run.html"), "#play=0")
    assert not verdict["loops"]
    every = run.checks()
    failed = f"{len(every.failed)} of {len(every)} checks failed" + (f", {len(every.unknown)} unknown" if every.unknown else "")
    assert here.text("#checks") == failed and len(every.failed) >= 1
    assert not [name for name in here.ask("DATA.run.channels.map((c) => c.name)") if ".on." in name], "loads of open loops"
    here.page.click("#turn")
    assert here.text("#checks") == "9 checks passed"
    here.page.click("#recorded")
    assert here.text("#checks") == failed


@pytest.mark.slow
def test_values_that_cannot_be_built_are_refused_in_words(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("four-bar"), "#s=100&play=0&tab=parameters")
    field = here.page.locator("#parameters .lw-parameter", has=here.page.locator('.label[title="L2"]')).locator("input[type=text]")
    field.fill("0.01")
    here.frame()
    assert "A stops at" in here.text("#message")
    assert not here.ask("e.state.ok") and all(np.isfinite(here.ask("Array.from(e.state.q)")))
    field.fill("0.8")
    here.frame()
    assert here.ask("e.state.ok") and not here.page.locator("#message").is_visible()
    turn = lw.load("four-bar", L2="0.8 m").cycle(steps=36)  # back on the branch of the drawing
    assert np.abs(here.ask("Array.from(e.state.q)") - turn.q[10]).max() < EQUAL


@pytest.mark.slow
def test_a_click_on_a_pin_shows_its_hodograph_in_the_axes_of_either_link(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#s=30&play=0")
    here.page.mouse.click(*on_screen(here, place(here, "C")))
    card = here.page.locator("#card")
    card.wait_for()
    assert "C" in card.locator("h2").inner_text() and card.locator("svg path").count() > 0
    turn = lw.load("wiper").cycle(steps=360 // EVERY)
    for axes in ("rocker", "coupler"):
        card.locator('select[data-choice="in axes of"]').select_option(axes)
        here.frame()
        assert here.ask("app.axes") == axes
        page = np.array(here.ask("((h) => [h.x, h.y].map((a) => Array.from(a)))(e.hodograph('C', 'rocker', x))", axes)).T[::EVERY]
        python = turn.load("C", on="rocker", frame=axes).force
        assert np.abs(page - python).max() < EQUAL * np.abs(python).max()
    here.page.keyboard.press("Escape")
    card.wait_for(state="hidden")


def test_a_click_on_a_body_shows_it_alone_with_everything_that_acts(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#s=120&play=0")
    here.page.mouse.click(*on_screen(here, 0.35 * place(here, "D") + 0.65 * place(here, "C")))
    card = here.page.locator("#card")
    card.wait_for()
    assert "rocker" in card.locator("h2").inner_text() and card.locator("svg").count() > 0
    page = here.ask(
        "((f) => ({residual: f.residual, actions: f.actions.map((a) => [a.name, a.kind, Array.from(a.force)])}))(e.freeBody('rocker'))"
    )
    assert page["residual"] < EQUAL
    assert np.abs(np.sum([force for _, _, force in page["actions"]], axis=0)).max() < 1e-8  # N: the force polygon closes
    python = loads_at(lw.load("wiper"), [120])[0]
    for name, kind, force in page["actions"]:
        if kind == "pin":
            assert np.abs(python.on(name, "rocker").force - force).max() < EQUAL * 100  # N: loads here are tens of newtons
    assert {kind for _, kind, _ in page["actions"]} >= {"pin", "weight", "inertia"}


@pytest.mark.slow
def test_a_click_on_a_point_draws_its_path(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("carpet-scraper"), "#s=60&play=0&trace=")
    before = here.pixels()
    here.page.mouse.click(*on_screen(here, place(here, "tool.T")))
    here.page.locator("#card").wait_for()
    here.frame()
    assert "T" in here.text("#card h2")
    assert (here.pixels() != before).any(axis=2).sum() > 200, "no trace is drawn"
    python = lw.load("carpet-scraper").cycle()["tool.T"]
    page = np.array(here.ask("((p) => Array.from(e.trace(p.body, p.at)))(DATA.points.find((p) => p.name === 'tool.T'))")).reshape(-1, 3)
    assert np.abs(page[:, :2] - python[:, :2]).max() < EQUAL


@pytest.mark.slow
def test_machinery_and_checks_say_what_python_says(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("carpet-scraper"), "#s=80&play=0")
    m = lw.load("carpet-scraper")
    here.page.click("#machinery-button")
    shown = here.text("#machinery")
    for cut in m.topology.cuts:
        assert str(cut) in shown
    assert "1 degree of freedom" in shown and "3 loops" in shown and "Block pattern" in shown
    lam = {x["name"]: x["value"] for x in here.ask("e.multipliers()")}
    loads, cut = loads_at(m, [80])[0], m.system
    assert len(lam) == cut.tree.nc
    for name in m.topology.cuts:  # a pin's two multipliers are its force in the axes of its first body
        size = np.linalg.norm(loads.wrench[name].force)
        assert abs(np.hypot(lam[f"{name}.tx"], lam[f"{name}.ty"]) - size) < EQUAL * size
    values = np.array(here.ask("Array.from(e.singular().values)"))
    loops, state = compiled_of(cut).loops, cut.state(here.ask("Array.from(e.state.q)"))
    dimensionless = cut.closure(state).J * loops.columns / loops.row_scale[:, None]
    assert np.abs(np.sort(values) - np.sort(np.linalg.svd(dimensionless, compute_uv=False))).max() < 1e-9
    checks = here.page.locator("#checks")
    assert checks.inner_text() == "9 checks passed"
    checks.locator("summary").click()
    assert "Python" in checks.inner_text()
    assert all(check["ok"] for check in here.ask("e.checks().map((c) => ({ok: c.ok}))"))


@sweep("name", ["wiper", "carpet-scraper", "rssr"], now=1)
def test_a_free_swing_keeps_its_energy_and_goes_where_python_goes(
    name: str, page_of: Callable[[str], Path], desk: Callable[..., Desk]
) -> None:
    here = desk(page_of(name), "#s=50&play=0")
    here.page.click("#swing")
    here.page.wait_for_function("LW.app.engine.swing.t > 0.05")
    here.page.click("#play")
    state = here.ask("(e.go(50), e.swing.start(), ['q', 'v', 'near'].map((k) => Array.from(e.state[k])))")
    seen = here.ask("Array.from({length: 120}, () => e.swing.step(1 / 60)).map((r) => [r.ok, r.energy, r.drift])")
    assert all(ok for ok, _, _ in seen)
    system = lw.load(name).system
    run = system.simulate(system.state(state[0], state[1]), 2.0, tolerance=1e-10, sample_interval=0.5)
    energy, moving = np.array([e for _, e, _ in seen]), run["energy.kinetic"].max()
    # the total itself may be zero; what moves is the measure
    assert np.abs(energy - run["energy.total"][0]).max() < 1e-6 * moving
    # RK4 in steps of the page against order 8: far less than a pixel
    assert np.abs(here.ask("Array.from(e.state.q)") - run.q[-1]).max() < 1e-4


@pytest.mark.slow
def test_a_followed_path_fills_the_window_with_all_drives_and_the_path_of_its_tip(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m = lw.load("five-bar")
    x, y = m.system.point(m.system.start, "left_rod.C")[:2]
    c = m.follow({"left_rod.C": lambda t: (x + 0.03 * np.sin(9 * t), y - 0.03 + 0.03 * np.cos(9 * t))}, duration=0.7, steps=30)
    here = desk(c.show(tmp_path / "path.html"), "#play=0&s=12", width=1280, height=1500)
    assert here.page.locator("#channels .lw-plot h3").all_inner_texts() == ["A", "A.torque", "E.torque"]
    assert here.page.locator("[data-trace='left_rod.C']").count() == 1
    places = np.concatenate([c["left.B"], c["right.D"]])
    stage = here.ask("((r) => [r.left, r.right])(document.querySelector('#stage svg').getBoundingClientRect())")
    ends = here.ask("x.map((p) => app.view.screen(p)[0])", [[places[:, 0].min(), 0.0, 0.0], [places[:, 0].max(), 0.0, 0.0]])
    left, right = ends[0] - stage[0], stage[1] - ends[1]
    assert left == pytest.approx(right, abs=1.0) and 50.0 < left < 60.0, "56 pixels are left free on both sides of the motion"
    here.page.click("#turn")
    assert here.ask("app.view.screen(x)[0]", [places[:, 0].min(), 0.0, 0.0]) != pytest.approx(ends[0], abs=5.0), (
        "the turn has its own window"
    )


@pytest.mark.slow
def test_a_rope_is_drawn_while_it_holds(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m, run = caught()
    here = desk(live.write(m, tmp_path / "caught.html", run=run), "#mode=run&s=0&play=0")
    last = int(np.argmax(run.t >= run.events[0].time))
    for sample, shown in ((0, "none"), (last - 1, "none"), (last + 1, "inline"), (0, "none")):
        here.ask("app.player.seek(x)", sample)
        here.frame()
        assert here.page.locator("[data-line='rope']").get_attribute("display") == shown, sample
    assert off_at(run, 0) == ["rope"] and off_at(run, len(run) - 1) == []
    drawn = [len(Canvas(m.system, turn=run, trace=[]).figure(run._instants[k], off=off_at(run, k)).axes[0].lines) for k in (0, last + 1)]
    assert drawn[1] == drawn[0] + 1, "films and pictures likewise"


@pytest.mark.slow
def test_a_recorded_run_plays_with_its_channels(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m = lw.load("wiper")
    run = m.simulate("1 s", drive={"A": lw.drives.torque(2.0)}, sample_interval=0.01)
    here = desk(live.write(m, tmp_path / "run.html", run=run), "#mode=run&s=40&play=0")
    assert here.page.locator("#recorded").is_visible() and here.page.locator("#channels").is_visible()
    assert np.abs(np.array(here.ask("Array.from(e.state.q)")) - run.q[40]).max() < EQUAL
    assert np.abs(place(here, "coupler.P")[:2] - run["coupler.P"][40][:2]).max() < EQUAL
    shown = here.ask("DATA.run.channels.map((c) => c.name)")
    assert {"A.torque"} & set(shown) and here.page.locator("#channels svg.lw-plot-svg").count() >= 1
    for name in shown[:6]:
        page = np.array(here.ask("((c) => Array.from(LW.decode(c.values).data))(DATA.run.channels.find((c) => c.name === x))", name))
        assert np.abs(page - np.ravel(run[name])).max() <= 1e-12 * np.abs(run[name]).max(initial=1.0)
    title = here.page.locator("#channels .lw-plot h3").first.inner_text()
    curve, (size, symbol) = reading.plot(here, "#channels").curves[0], run.unit(title)[::-1]
    assert here.text("#channels .lw-plot-unit") == {"deg": "°"}.get(symbol, symbol)
    value = np.interp(curve[:, 0], run.t, run[title] / size)
    assert np.median(np.abs(value - curve[:, 1])) < 2 * np.ptp(curve[:, 1]) / 100
    here.page.click("#play")
    here.page.wait_for_function("(before) => LW.app.engine.state.q[0] !== before", arg=here.ask("e.state.q[0]"))
