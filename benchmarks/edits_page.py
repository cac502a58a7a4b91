"""The editor in a real browser: from an edit to the picture with it, the size of the page, and the time until its first picture.

    python -m benchmarks.edits_page [--bodies 4 8 20]

prints a table. An edit begins with the request and ends with the frame after the new drawing was put on the screen; the server, the
browser and this script share the machine. Processor time, of the server and of the page, does not depend on what else it does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.bench.page import LAUNCH, NOT_FOUND, chromium
from benchmarks.edits import REPEATS, chain, operations
from linkwright.rings.studio.server import Server

# when the sheet was drawn first, and when the kernels of the motion had come
FIRST = """requestAnimationFrame(function look() {
  if (globalThis.LW && LW.editor && !globalThis.firstPicture) globalThis.firstPicture = performance.now();
  if (globalThis.LW && LW.app) globalThis.firstMotion = performance.now();
  else requestAnimationFrame(look);
})"""
EDIT = """async (op) => {
  const start = performance.now(), answer = await LW.editor.edit(op);
  await new Promise((done) => requestAnimationFrame(done));
  return [answer.kind, performance.now() - start];
}"""


class PageCost(NamedTuple):
    """What one mechanism costs in the editor: kilobytes and milliseconds."""

    bodies: int
    size: float
    picture: float
    motion: float
    edits: dict[str, float]
    worst: float
    server: float  # processor time of an edit in the server, and in the page
    page: float


def measured(browser: Any, bodies: int, folder: Path, repeats: int = REPEATS) -> PageCost:
    """The editor of a row of four-bars."""
    with Server(chain(folder / f"chain{bodies}.yaml", bodies), out=lambda text: None, edit=True) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(FIRST)
        answer = page.goto(server.address)
        size = len(answer.body()) / 1000 if answer else 0.0
        motion = float(page.wait_for_function("() => globalThis.firstMotion", timeout=60_000).json_value())
        times: dict[str, list[float]] = {}
        device = page.context.new_cdp_session(page)
        device.send("Performance.enable")
        before = (time.process_time(), _processor_time(device))
        for k in range(1, repeats + 1):
            for name, operation in operations(k).items():
                kind, ms = page.evaluate(EDIT, operation)
                if kind != "answer":
                    raise SystemExit(f"{name}: {kind}")
                times.setdefault(name, []).append(float(ms))
        after = (time.process_time(), _processor_time(device))
        server_time, page_time = (1e3 * (b - a) / (repeats * len(times)) for a, b in zip(before, after, strict=True))
        first = float(page.evaluate("() => globalThis.firstPicture"))
        page.close()
        server.shutdown()
        thread.join(5.0)
    medians = {name: statistics.median(found) for name, found in times.items()}
    return PageCost(bodies, size, first, motion, medians, max(max(x) for x in times.values()), server_time, page_time)


def _processor_time(device: Any) -> float:
    """Seconds of processor time of the page's process."""
    return next(float(m["value"]) for m in device.send("Performance.getMetrics")["metrics"] if m["name"] == "ProcessTime")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="+", default=[4, 8, 20])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    from playwright.sync_api import sync_playwright

    program = chromium()
    if program is None:
        raise SystemExit(NOT_FOUND)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="linkwright-edits-") as folder:
        browser = playwright.chromium.launch(executable_path=program, args=list(LAUNCH))
        found = [measured(browser, bodies, Path(folder), given.repeats) for bodies in given.bodies]
        browser.close()
    if given.json:
        print(json.dumps([one._asdict() for one in found]))
        return
    names = list(found[0].edits)
    heads = ["bodies", "page, KB", "first picture, ms", "motion, ms", *(f"{name}, ms" for name in names), "slowest edit, ms"]
    print("| " + " | ".join([*heads, "processor time of an edit, ms"]) + " |\n|" + "---|" * (6 + len(names)))
    for one in found:
        figures = [one.size, one.picture, one.motion, *(one.edits[name] for name in names), one.worst]
        print(f"| {one.bodies} | " + " | ".join(f"{x:.0f}" for x in figures) + f" | {one.server:.0f} + {one.page:.0f} |")


if __name__ == "__main__":
    main()
