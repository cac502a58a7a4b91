"""The page around the mechanism: its address, what can be taken away, keys, light and dark, small screens, print, old browsers."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwright as lw
from linkwright.model import library as models
from linkwright.rings.studio import live
from tests.rings.studio.browser.conftest import launched
from tests.rings.studio.browser.desk import Desk, colors
from tests.rings.studio.test_report import TOGGLE

PHONE = {"width": 360, "height": 740}
SMALLEST = 11  # px of any text
# every visible piece of text with its size on the screen; drawings may be scaled
TEXTS = """() => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest("script, style, noscript, .lw-hidden, .visually-hidden")) continue;
    if (!parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const ctm = parent.ownerSVGElement && parent.getScreenCTM ? parent.getScreenCTM() : null;
    const scale = ctm ? Math.hypot(ctm.a, ctm.b) : 1;
    const style = getComputedStyle(parent);
    found.push({text: node.textContent.trim().slice(0, 40), size: parseFloat(style.fontSize) * scale, color: style.color,
                svg: Boolean(parent.ownerSVGElement), right: box.right, left: box.left});
  }
  return found;
}"""


def luminance(color: Any) -> float:
    """Relative luminance of an sRGB color (WCAG 2)."""
    c = np.asarray(color, float) / 255
    c = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(c @ [0.2126, 0.7152, 0.0722])


def contrast(one: Any, other: Any) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


# -------------------------------------------------------------------- the address


@pytest.mark.slow
def test_the_address_holds_what_is_shown(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("four-bar"), "#s=120.5&play=0&p.L1=0.22&pick=pin:C:rocker&theme=dark&speed=0.5&nonsense=1&p.none=3")

    def shown() -> dict[str, Any]:
        return here.ask(
            """{s: app.player.s, L1: e.values.L1, speed: app.player.speed, picked: document.querySelector("#card h2").textContent,
            theme: document.documentElement.dataset.theme, q: Array.from(e.state.q), playing: app.player.playing}"""
        )

    first = shown()
    assert first["s"] == 120.5 and first["L1"] == 0.22 and first["speed"] == 0.5 and "C" in first["picked"]
    assert first["theme"] == "dark" and not first["playing"]
    here.page.focus("#slider")
    here.page.keyboard.press("Escape")
    here.page.evaluate(
        """() => { const s = document.getElementById("slider"); s.value = 200; s.dispatchEvent(new Event("input", {bubbles: true})); }"""
    )
    here.page.click("#machinery-button")
    here.page.wait_for_function(
        "location.hash.includes('s=200') && location.hash.includes('machinery=1') && !location.hash.includes('pick=')"
    )
    q = here.ask("Array.from(e.state.q)")
    here.page.reload()
    here.opened_after()
    assert here.page.locator("#machinery").is_visible() and here.ask("e.values.L1") == 0.22
    assert np.abs(np.subtract(here.ask("Array.from(e.state.q)"), q)).max() < 1e-12


# -------------------------------------------------------------------- to take away


def taken(desk: Desk, button: str, names: dict[str, str] | None = None) -> bytes:
    """The file a button of the menu saves; its name is put into `names`."""
    if not desk.page.locator("#menu-list").is_visible():
        desk.page.click("#menu")
    with desk.page.expect_download() as waiting:
        desk.page.click(button)
    if names is not None:
        names[button] = waiting.value.suggested_filename
    return Path(waiting.value.path()).read_bytes()


@pytest.mark.parametrize("name", ["wiper", pytest.param("rssr", marks=pytest.mark.slow)])
def test_pictures_numbers_and_the_model_can_be_taken_away(name: str, page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    from PIL import Image

    here = desk(page_of(name), "#s=30&play=0")
    assert "Nothing is sent" in (here.page.locator("#menu-list .foot").text_content() or "")
    picture = np.asarray(Image.open(io.BytesIO(taken(here, "#save-png"))).convert("RGB"))
    assert picture.shape[1] > 600 and len(colors(picture)) > 5
    drawing = taken(here, "#save-svg").decode()
    root = ElementTree.fromstring(drawing)
    assert root.tag.endswith("svg") and len(list(root.iter())) > 10
    assert not re.search(r"""(?:href|src)=["'](?!#|data:)|url\(["']?(?!#)""", drawing), "the drawing refers to something outside"
    check_table(taken(here, "#save-csv").decode(), name)
    assert taken(here, "#save-model").decode() == models.path(name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_export_is_the_changed_design(page_of: Callable[[str], Path], desk: Callable[..., Desk], tmp_path: Path) -> None:
    """CSV, YAML, SVG and link after a slider was moved: the same values, in the file names as well."""
    here = desk(page_of("wiper"), "#s=30&play=0&tab=parameters")
    for name, text in (("coupler.C.x", "950"), ("rocker.mass", "1,2")):
        row = here.page.locator("#parameters .lw-parameter", has=here.page.locator(f'.label[title="{name}"]'))
        if not row.count():
            here.page.get_by_text("Show all").click()
        row.locator("input[type=text]").fill(text)
    names: dict[str, str] = {}
    table, model, drawing = (taken(here, f"#save-{kind}", names).decode() for kind in ("csv", "model", "svg"))
    changed = "wiper-mass-of-rocker-1.2kg-coupler-B-C-950mm"
    assert names == {"#save-csv": f"{changed}.csv", "#save-model": f"{changed}.yaml", "#save-svg": f"{changed}.svg"}
    file = tmp_path / "changed.yaml"
    file.write_text(model, encoding="utf-8")
    check_table(table, str(file))
    original = models.path("wiper").read_text(encoding="utf-8")
    assert model.splitlines()[0].startswith("# Changed in the page: ") and "coupler B-C 900.069441765 -> 950 mm" in model.splitlines()[0]
    assert [x for x in original.splitlines() if x.startswith(("#", "drawing", "units"))] == [
        x for x in model.splitlines()[1:] if x.startswith(("#", "drawing", "units"))
    ]
    assert "<desc>changed: " in drawing and "0.8 -&gt; 1.2 kg" in drawing.replace("->", "-&gt;")
    other = desk(page_of("wiper"), f"#{here.ask('app.fragment()')}")
    assert other.ask("[e.values['coupler.C.x'], e.values['rocker.mass']]") == pytest.approx([0.95, 1.2])


@pytest.mark.slow
def test_a_report_says_that_the_page_has_other_values(desk: Callable[..., Desk], tmp_path: Path) -> None:
    """The report is what gets printed, and it is computed before the page is opened."""
    here = desk(lw.load("wiper").report(tmp_path / "wiper.html"), "#play=0&p.rocker.mass=1.2")
    note = here.page.locator("#report-changed")
    assert note.inner_text() == "Changed in the page, not in this report: mass of rocker 0.8 -> 1.2 kg."
    here.ask("app.reset()")
    assert not note.is_visible()


def check_table(text: str, name: str) -> None:
    """The CSV file: a head with units, a line a sample, Python's efforts in the units of the file."""
    rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))
    head, turn = rows[0], lw.load(name).cycle()
    assert len(rows) == len(turn.t) + 1 and all(len(row) == len(head) for row in rows)
    drive = next(iter(turn.instant(0).loads.tau))
    columns = [k for k, title in enumerate(head) if title.startswith((f"{drive}.torque", f"{drive}.force"))]
    assert len(columns) == 1, head
    size = turn.unit(head[columns[0]].split(" ")[0])[1]
    for i in (3, 115, 289):
        expected = turn.instant(i).loads.tau[drive]
        assert abs(float(rows[i + 1][columns[0]]) * size - expected) < 1e-9 * max(1.0, abs(expected))


@pytest.mark.slow
def test_copies_go_to_the_clipboard(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#s=30&play=0", permissions=["clipboard-read", "clipboard-write"])
    for button, begins in (("#copy-svg", "<"), ("#copy-csv", ""), ("#copy-model", "#"), ("#copy-link", "file:")):
        here.page.click("#menu")
        here.page.click(button)
        here.page.wait_for_function("/copied/.test(document.getElementById('message').textContent)")
        copied = here.page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(begins) and len(copied) > 30
        here.page.evaluate("document.getElementById('message').textContent = ''")
    here.page.click("#menu")
    here.page.click("#copy-png")
    here.page.wait_for_function("/copied/.test(document.getElementById('message').textContent)")
    kinds = here.page.evaluate("navigator.clipboard.read().then((items) => items.flatMap((i) => i.types))")
    assert "image/png" in kinds


# -------------------------------------------------------------------- a recorded run, a structure


@pytest.mark.slow
def test_a_recorded_run_says_what_belongs_to_the_turn(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m = lw.load("four-bar")
    run = m.simulate(0.2)
    here = desk(live.write(m, tmp_path / "run.html", run=run), "#s=0&play=0&pick=pin:C:rocker")
    card, message = here.page.locator("#card"), here.page.locator("#message")
    assert "From the cycle, not from the recorded run" in card.inner_text()
    # the run's own load, as the file of the run has it
    size, (_, unit) = float(run["C.on.rocker.magnitude"][0]), run.unit("C.on.rocker.magnitude")
    told = re.search(r"recorded run now\s+([\d.]+)", card.inner_text())
    assert told and abs(float(told[1]) - size / unit) < 1e-3 * abs(size / unit)  # four digits are shown
    # Esc closes the keys and leaves the card behind them
    here.page.keyboard.press("?")
    here.page.keyboard.press("Escape")
    assert card.is_visible() and not here.page.locator("dialog[open]").is_visible()
    here.ask("app.pick({kind: 'body', name: 'rocker', body: ''})")
    assert "no free-body diagram" in card.inner_text() and not card.locator(".figure").is_visible()
    assert here.page.locator(".lw-force-scale").get_attribute("visibility") == "hidden"
    q = here.ask("Array.from(e.state.q)")
    here.ask("app.set({L1: x})", here.ask("e.values.L1") * 1.02)
    assert "file's values" in message.inner_text() and here.ask("Array.from(e.state.q)") == q
    here.ask("app.say('')")
    here.ask("app.set({L1: x})", here.ask("e.values.L1") * 1.01)
    assert not message.is_visible()
    here.ask("app.mode('turn')")
    here.page.wait_for_function("LW.app.engine.state.loads && document.querySelector('#card .figure svg')")
    assert "recorded" not in card.inner_text()
    here.page.emulate_media(media="print")
    assert here.page.locator("#channels .lw-plot").first.is_visible()


def test_a_structure_asks_nobody_to_drag_it(desk: Callable[..., Desk], tmp_path: Path) -> None:
    bars = {"ground": {"pins": ["A", "B"]}, "left": {"pins": ["A", "C"], "mass": 1}, "right": {"pins": ["B", "C"], "mass": 1}}
    truss = {"name": "a truss with a long name", "plane": "xz", "drawing": {"A": [0, 0], "B": [1, 0], "C": [0.5, 1]}, "bodies": bars}
    here = desk(live.write(lw.load(truss), tmp_path / "truss.html"))
    assert "Drag" not in here.page.evaluate("document.getElementById('app').outerHTML + document.getElementById('keys').innerHTML")
    assert here.page.evaluate("(({clientWidth, scrollWidth}) => scrollWidth <= clientWidth)(document.getElementById('name'))")


# -------------------------------------------------------------------- keys


def test_everything_is_reached_by_keys(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"))
    keys = here.page.keyboard
    keys.press(" ")
    assert not here.ask("app.player.playing")
    at = here.ask("app.player.s")
    keys.press("ArrowRight")
    keys.press("Shift+ArrowRight")
    assert abs(here.ask("app.player.s") - (np.floor(at + 0.5) + 11) % 360) < 1e-9
    keys.press("m")
    assert here.page.locator("#machinery").is_visible()
    keys.press("?")
    assert here.page.locator("dialog[open]").is_visible()
    keys.press("Escape")
    assert not here.page.locator("dialog[open]").is_visible()
    keys.press("d")
    assert here.page.evaluate("document.documentElement.dataset.theme") == "dark"
    reached = set()
    for _ in range(60):
        keys.press("Tab")
        reached.add(here.page.evaluate("document.activeElement.id || document.activeElement.dataset.name || ''"))
    assert reached >= {"theme", "menu", "play", "slider", "speed", "swing", "B"}, sorted(reached)
    # what has the focus shows it
    here.page.focus("#play")
    keys.press("Shift+Tab")
    keys.press("Tab")
    ring = here.page.evaluate("(({outlineStyle, boxShadow}) => [outlineStyle, boxShadow])(getComputedStyle(document.activeElement))")
    assert ring[0] != "none" or ring[1] != "none"
    nameless = here.page.evaluate(
        """() => Array.from(document.querySelectorAll("button, input, [tabindex='0']")).filter((x) => x.checkVisibility() &&
          !(x.getAttribute("aria-label") || x.getAttribute("aria-labelledby") || x.textContent.trim() || (x.labels || []).length))
          .map((x) => x.outerHTML.slice(0, 120))"""
    )
    assert not nameless


# -------------------------------------------------------------------- light, dark, small, still


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(dark: bool, page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#s=30&play=0", dark=dark)
    assert here.page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    stage = here.pixels()
    ground = np.median(stage.reshape(-1, 3), axis=0)
    assert (luminance(ground) < 0.1) if dark else (luminance(ground) > 0.8)
    drawn = max(contrast(ground, color) for color in stage[::3, ::3].reshape(-1, 3)[::5])
    assert drawn > 4.5, "the mechanism hardly shows"
    paper = json.loads("[" + here.page.evaluate("getComputedStyle(document.body).backgroundColor").split("(")[1].rstrip(")") + "]")[:3]
    weak = []
    for text in here.page.evaluate(TEXTS):
        color = [float(x) for x in re.findall(r"[\d.]+", text["color"])][:3]
        if not text["svg"] and contrast(color, paper) < 3.0:  # large text, and buttons that stand on a ground of their own
            weak.append((text["text"], text["color"]))
    assert len(weak) <= 2, weak


@pytest.mark.slow
@pytest.mark.parametrize("name", ["carpet-scraper", "wiper", "stewart"])
def test_a_phone_shows_everything_without_sideways_scrolling(name: str, page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of(name), "#s=30&play=0", touch=True, **PHONE)
    pin = here.ask("DATA.pins.find((p) => !p.grounded).name")
    views: list[Callable[[], Any]] = [
        lambda: None,
        lambda: here.page.click("#tab-parameters"),
        lambda: here.page.click("#machinery-button"),
        lambda: here.ask("app.pick({kind: 'pin', name: x, body: ''})", pin),
    ]
    for show in views:
        show()
        here.frame()
        assert here.page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
        texts = here.page.evaluate(TEXTS)
        small = [(t["text"], round(t["size"], 1)) for t in texts if t["size"] < SMALLEST - 0.05]
        assert len(texts) > 10 and not small
    fingers = here.page.evaluate(
        """() => Array.from(document.querySelectorAll("#transport button, #head button, #tabs button")).filter((b) => b.checkVisibility())
          .map((b) => [b.id || b.textContent, b.getBoundingClientRect().height])"""
    )
    assert all(height >= 32 for _, height in fingers), fingers


@pytest.mark.slow
def test_whoever_wants_no_motion_gets_none(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), still=True)
    before = here.ask("Array.from(e.state.q)")
    here.page.wait_for_timeout(200)
    assert here.ask("Array.from(e.state.q)") == before
    here.page.click("#play")
    here.page.wait_for_function("(q) => LW.app.engine.state.q[0] !== q", arg=before[0])


@pytest.mark.slow
def test_without_webgl_a_spatial_mechanism_is_drawn_in_lines(playwright: Any, page_of: Callable[[str], Path]) -> None:
    plain = launched(playwright, "--disable-3d-apis")
    try:
        here = Desk(plain).open(page_of("rssr"))
        picture = here.pixels()
        assert here.page.locator("#stage svg").count() >= 1
        assert len(colors(picture)) >= 6
        before = here.ask("Array.from(e.state.q)")
        here.page.wait_for_timeout(100)
        assert here.ask("Array.from(e.state.q)") != before
        assert not here.complaints and not here.requests
    finally:
        plain.close()


# -------------------------------------------------------------------- other places

# how far the arrows of the loads reach beyond the drawing's edges over the cycle
ARROWS = """(() => {
  const svg = document.querySelector("svg.lw-plane"), size = ["width", "height"].map((name) => Number(svg.getAttribute(name)));
  let count = 0, most = -Infinity;
  for (let s = 0; s < e.cycle.n; s += 2) {
    app.player.seek(s);
    app.view.draw(app.frame());
    for (const g of svg.querySelectorAll("[data-layer=loads] > g:not([visibility=hidden])")) {
      const b = g.getBBox();
      count++;
      most = Math.max(most, -b.x, -b.y, b.x + b.width - size[0], b.y + b.height - size[1]);
    }
  }
  return {count, most};
})()"""


def test_a_notebook_shows_the_page_in_a_frame(desk: Callable[..., Desk], tmp_path: Path) -> None:
    book = tmp_path / "book.html"
    book.write_text(f"<!doctype html><meta charset='utf-8'><body>{lw.load('four-bar')._repr_html_()}", encoding="utf-8")
    here = desk(book, ready=False)
    frame = here.page.locator("iframe").element_handle().content_frame()
    frame.wait_for_function("globalThis.LW && LW.app && LW.app.engine.state.ok")
    before = frame.evaluate("Array.from(LW.app.engine.state.q)")
    frame.wait_for_function("(q) => LW.app.engine.state.q[0] !== q", arg=before[0])
    # it plays there: the crank went on, and the loops are closed
    after = frame.evaluate("Array.from(LW.app.engine.state.q)")
    assert len(after) == len(before) > 0 and after[0] != before[0] and frame.evaluate("LW.app.engine.state.ok") is True


def test_a_report_prints_on_three_pages_and_arrows_of_loads_stay_on_the_sheet(desk: Callable[..., Desk], tmp_path: Path) -> None:
    """A press whose ram is pushed at the lower edge of the drawing, down to where it would leave it."""
    here = desk(lw.load(TOGGLE).report(tmp_path / "report.html", steps=120), "#play=0", width=1300, height=850)
    beyond = here.ask(ARROWS)
    assert beyond["count"] > 20 and -20.0 < beyond["most"] <= -4.0, "pixels beyond the sheet's edge: a margin, and no more than that"
    pdf = here.page.pdf(format="A4", print_background=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert pdf.startswith(b"%PDF") and 1 <= pages <= 3


def test_a_bad_model_shows_its_message(desk: Callable[..., Desk], tmp_path: Path) -> None:
    message = "wiper.yaml:14: joint 'C' connects 'copler', which does not exist. Did you mean 'coupler'? <b>& Bodies: ground, crank."
    path = tmp_path / "bad.html"
    path.write_text(live.error_text("wiper.yaml", message), encoding="utf-8")
    here = desk(path, ready=False)
    assert message in " ".join(here.page.inner_text("body").split())
    assert here.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
