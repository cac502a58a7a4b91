"""Cost of the page: its size, the time until it is ready in a real browser, and the time of one changed parameter.

The browser is the Chromium or Chrome that is installed here, driven without a window and without a network by the package
`playwright`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bench import table
from benchmarks.bench.cases import BenchRow
from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings.studio.pdf import LAUNCH, NOT_FOUND, chromium

# Put in front of a page's own scripts: notes when the application exists, and when the second frame after that is drawn.
WATCH = """if (!globalThis.LW) {
  let app;
  globalThis.LW = {};
  Object.defineProperty(LW, "app", {get: () => app, set: (made) => {
    app = made;
    requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.openedAfter = performance.now(); }));
  }});
}"""
READY = "() => globalThis.openedAfter"
# One change of a dimension (or whatever there is) as the slider's input event makes it: the whole torque curve and all pin loads again.
CHANGED = """(rounds) => {
  const e = LW.app.engine, [p] = ["point", "named", "mass"].flatMap((what) => DATA.parameters.filter((x) => x.what === what));
  const times = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    const done = e.set({[p.name]: p.value * (1 + 0.01 * (1 + (i % 5)))});
    times.push(performance.now() - start);
    if (!done.ok) return {name: p.name, why: done.why};
  }
  e.reset();
  return {name: p.name, ms: Math.min(...times)};
}"""
MECHANISMS = ("wiper", "carpet-scraper", "stewart")


def main(
    *,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    as_json: bool = False,
    mechanisms: Sequence[str] = MECHANISMS,
    say: Callable[[str], None] | None = None,
) -> list[BenchRow]:
    """Measures the pages of built-in models, prints the table (or JSON) and keeps it as CSV if asked."""
    if output is not None:
        files.checked(output, (".csv",))
    found = rows(mechanisms, 3 if quick else 20, say or (lambda text: print(text, file=sys.stderr)))
    return table.deliver(found, output, as_json=as_json)


def rows(mechanisms: Sequence[str] = MECHANISMS, rounds: int = 20, say: Callable[[str], None] = lambda text: None) -> list[BenchRow]:
    """Size, opening and one change of a parameter, for each mechanism; the best of several rounds counts."""
    program = chromium()
    if program is None:
        raise UsageError(NOT_FOUND)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise UsageError("the page is measured through the package 'playwright': pip install 'linkwright[test]', then again.") from None
    found: list[BenchRow] = []
    with tempfile.TemporaryDirectory(prefix="linkwright-pages-") as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(LAUNCH))
        for name in mechanisms:
            say(f"page of {name} ...")
            found += _measured(browser, name, Path(place), rounds)
        browser.close()
    return found


def _measured(browser: Any, name: str, place: Path, rounds: int) -> list[BenchRow]:
    from linkwright.rings.studio import live
    from linkwright.system.mechanism import load

    def row(quantity: str, ms: float | None, note: str) -> BenchRow:
        return BenchRow(
            "linkwright", f"Chromium {browser.version.partition('.')[0]}", name, quantity, ns=None if ms is None else 1e6 * ms, note=note
        )

    began = time.perf_counter()
    path = live.write(load(name), place / f"{name}.html")
    written = 1e3 * (time.perf_counter() - began)
    opened, change = [], {}
    for _ in range(3):
        page = browser.new_page()
        page.add_init_script(WATCH)
        page.goto(path.as_uri())
        opened.append(float(page.wait_for_function(READY).json_value()))
        change = page.evaluate(CHANGED, rounds)
        page.close()
    return [
        row("page written", written, f"{path.stat().st_size / 1000:.0f} KB, in Python"),
        row("page ready", min(opened), "from the start of the navigation to the second frame"),
        row("page parameter", change.get("ms"), f"{change['name']}: " + change.get("why", "whole cycle with the loads of all pins")),
    ]
