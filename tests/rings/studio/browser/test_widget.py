"""The notebook widget: its script in a real browser between a model of traits, as notebooks have, and the page in its frame."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.rings.studio import widget
from tests.refusals import refused
from tests.rings.studio.browser.desk import Desk

# what a notebook does for a widget: named traits, listeners, and a list of what would be sent to Python
NOTEBOOK = """<!DOCTYPE html><html lang="en"><head><title>notebook</title></head><body><div id="cell"></div><script type="module">
const traits = %s, heard = {};
globalThis.sent = [];
globalThis.model = {
  get: (name) => traits[name],
  set: (name, value) => {
    if (JSON.stringify(traits[name]) === JSON.stringify(value)) return;
    traits[name] = value;
    (heard[name] || []).forEach((f) => f());
  },
  on: (name, f) => { (heard[name.slice(7)] ||= []).push(f); },
  off: (name, f) => { heard[name.slice(7)] = heard[name.slice(7)].filter((x) => x !== f); },
  save_changes: () => sent.push({values: traits.values, picked: traits.picked}),
};
const {default: made} = await import("data:text/javascript;base64," + btoa(%s));
globalThis.leave = made.render({model, el: document.getElementById("cell")});
</script></body></html>"""


@pytest.fixture(scope="module")
def four_bar() -> lw.Mechanism:
    return lw.load("wiper")


def test_values_and_selection_go_both_ways(desk: Callable[..., Desk], four_bar: lw.Mechanism, tmp_path: Path) -> None:
    w = four_bar.show(widget=True, height=700)
    w.set(**{"crank.B.x": "320 mm"})
    assert w.values == {"crank.B.x": pytest.approx(0.32, rel=1e-12)}
    traits = {name: getattr(w, name) for name in ("_page", "_key", "_height", "_sandbox", "values", "picked")}
    path = tmp_path / "notebook.html"
    path.write_text(NOTEBOOK % (json.dumps(traits).replace("<", "\\u003c"), json.dumps(w._esm)), encoding="utf-8")
    page = desk(path, ready=False).page
    frame = page.frame_locator("iframe")
    field = frame.get_by_label("crank A-B in mm", exact=True)
    frame.locator("#tab-parameters").click()
    assert field.input_value() == "320", "numbers that Python had set before are in the page"
    field.fill("310")
    page.wait_for_function("() => sent.length && Math.abs(sent.at(-1).values['crank.B.x'] - 0.31) < 1e-12")
    w.values = page.evaluate("() => sent.at(-1).values")
    assert w.mechanism.cycle(steps=24)["A.torque"].max() != four_bar.cycle(steps=24)["A.torque"].max()
    page.evaluate("() => { model.set('values', {'crank.B.x': 0.29}); model.set('picked', {kind: 'pin', name: 'C', body: ''}); }")
    frame.locator("#card").get_by_text("C", exact=False).first.wait_for()
    count = page.evaluate("() => sent.length")
    assert page.evaluate("() => sent.filter((x) => x.picked.name === 'C').length") == 0, "what came from Python is not sent back"
    frame.locator("body").press("Escape")
    page.wait_for_function(f"() => sent.length > {count} && !sent.at(-1).picked.kind")
    page.evaluate("() => leave()")
    page.evaluate("() => window.postMessage({linkwright: model.get('_key'), values: {'crank.B.x': 9}}, '*')")  # not from the frame
    assert page.evaluate("() => model.get('values')['crank.B.x']") == 0.29


def test_wrong_values_are_refused(four_bar: lw.Mechanism) -> None:
    w = four_bar.show(widget=True)
    for name, value, said in (
        ("values", {"crank.B.u": 1.0}, "no slider of 'crank.B.u'"),
        ("values", {"crank.B.x": float("nan")}, "finite numbers"),
        ("picked", {"kind": "screw", "name": "C"}, "kind of pin, body, point"),
    ):
        with pytest.raises(lw.UsageError, match=said):
            setattr(w, name, value)
    assert w.values == {} and w.picked == {} and w.mechanism is four_bar
    with refused(lw.UsageError, name="height", value=10):
        four_bar.show(widget=True, height=10)


def test_without_the_package(four_bar: lw.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    widget._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with refused(lw.UsageError, name="anywidget"):
        four_bar.show(widget=True)
