"""Accessibility of the page, the editor and the page of a study, judged by axe-core in Chromium: nothing serious, light and dark, large
and on a phone; and reached by the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import linkwright as lw
from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.browser.pencil import EMPTY, Pencil, edited
from tests.sweeps import sweep
from tests.typescript import installed

RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .filter((v) => v.impact === "serious" || v.impact === "critical")
  .map((v) => `${v.id} (${v.impact}): ` + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | "))"""
# the element with the focus: a number of its own, its name, and whether it is seen that it has the focus
FOCUSED = """() => {
  const n = document.activeElement;
  if (!n || n === document.body) return null;
  const style = getComputedStyle(n), by = n.getAttribute("aria-labelledby"), label = n.labels && n.labels[0] && n.labels[0].innerText;
  const name = n.getAttribute("aria-label") || (by && document.getElementById(by).textContent) || n.innerText || n.title || label || "";
  globalThis.visited ||= [];
  if (!visited.includes(n)) visited.push(n);
  const ringed = style.outlineStyle !== "none" || style.boxShadow !== "none" || n.matches(":focus-visible");
  return {key: visited.indexOf(n), name: name.trim(), ringed, tag: n.outerHTML.slice(0, 120)};
}"""
PHONE = {"width": 390, "height": 844, "touch": True}
LANDSCAPE = {"width": 844, "height": 390, "touch": True}


def findings(page: Any) -> list[str]:
    """Serious and critical findings on what is shown now."""
    if not page.evaluate("() => Boolean(globalThis.axe)"):
        page.add_script_tag(path=str(installed("axe-core/axe.min.js")))
    return list(page.evaluate(RUN))


def test_every_tab_of_the_page(desk: Callable[..., Desk], page_of: Callable[[str], Path]) -> None:
    page = desk(page_of("wiper"), "#s=30&play=0").page
    tabs = page.evaluate("() => [...document.querySelectorAll('#tabs [role=tab]')].filter((t) => !t.hidden).map((t) => t.id)")
    assert len(tabs) >= 3
    for tab in tabs:
        page.click(f"#{tab}")
        assert not findings(page), tab
    page.evaluate("() => LW.app.pick({kind: 'pin', name: 'C', body: ''})")
    assert not findings(page), "the card of a pin"
    page.evaluate("() => LW.app.help()")
    assert not findings(page), "the dialogue of keys"


@sweep("shape", [PHONE, LANDSCAPE], now=1, ids=["portrait", "landscape"])
def test_on_a_phone_in_the_dark(desk: Callable[..., Desk], page_of: Callable[[str], Path], shape: dict[str, Any]) -> None:
    page = desk(page_of("wiper"), "#s=30&play=0", dark=True, **shape).page
    assert not findings(page)
    wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, "nothing has to be scrolled sideways"
    box = page.locator("#stage").bounding_box()
    assert box["width"] > 200 and box["height"] > 150 and box["y"] < shape["height"], "the drawing is on the first screen"


def test_the_editor_and_a_study(desk: Callable[..., Desk], tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    file.write_text(EMPTY, encoding="utf-8")
    with edited(file) as server:
        opened = desk(server.address, ready=False, online=True)
        pencil = Pencil(opened)
        assert not findings(pencil.page), "an empty sheet"
        pencil.tool("pin").click((0, 0), (200, 0))
        pencil.tool("link").drag((0, 0), (30, 60)).tool("select").click((15, 30))
        assert not findings(pencil.page), "a selected part"
        opened.page.goto("about:blank")  # before the server goes
    study = lw.study(lw.load("four-bar"), {"L1": (0.28, 0.34)}, {"peak": "max A.torque"}, plan="sobol", count=4, case=lw.Cycle(steps=12))
    assert not findings(desk(study.show(tmp_path / "study.html"), ready=False).page)


def test_by_keyboard_alone(desk: Callable[..., Desk], page_of: Callable[[str], Path]) -> None:
    """Every control is reached by Tab, has a name, and shows where the focus is."""
    page = desk(page_of("wiper"), "#s=30&play=0").page
    wanted = page.evaluate("""() => [...document.querySelectorAll('button, input, select, a[href], [tabindex="0"]')]
      .filter((n) => n.checkVisibility({visibilityProperty: true}) && !n.disabled && n.tabIndex >= 0).length""")
    seen: set[int] = set()
    for _ in range(wanted + 10):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        if at is None:
            continue
        assert at["name"], f"without a name: {at['tag']}"
        assert at["ringed"], f"focus is not seen: {at['tag']}"
        seen.add(at["key"])
    assert len(seen) >= 0.9 * wanted, f"{len(seen)} of {wanted} reached"
