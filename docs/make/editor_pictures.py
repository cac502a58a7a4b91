"""Draws the mechanism of the editor's tutorial with the mouse, and photographs the editor on the way (`make pictures`).

draw(page, photo)    the clicks of docs/start/draw.md; `photo(name)` is called where the tutorial has a picture
pictures(browser, folder, save)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linkwright.rings.cli.edit import EMPTY
from linkwright.rings.studio.server import Server

NAMES = ("editor-link", "editor-path", "editor-move", "editor-phone")
WIDE, PHONE = (1280, 800), (390, 780)
PLACE = """([x, y]) => {
  const s = LW.editor.sheet, box = s.element.getBoundingClientRect(), p = s.pixel([1e-3 * x, 1e-3 * y]);
  return [box.left + p[0], box.top + p[1]];
}"""
DRAWN = "() => globalThis.LW && LW.editor && LW.editor.sheet.drawing()"
MOVING = "() => LW.app && LW.editor.motion.started > 0 && !LW.editor.motion.pending()"


class Mouse:
    """A mouse on the sheet of the editor, in millimeters."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.wait_for_function(DRAWN)

    def at(self, x: float, y: float) -> None:
        self.page.mouse.move(*self.page.evaluate(PLACE, [x, y]))

    def answered(self) -> None:
        self.page.wait_for_function("() => !LW.editor.server.waiting()")

    def click(self, *places: tuple[float, float]) -> None:
        for x, y in places:
            self.at(x, y)
            self.page.mouse.down()
            self.page.mouse.up()
            self.answered()

    def drag(self, start: tuple[float, float], end: tuple[float, float], before_release: Callable[[], None] = lambda: None) -> None:
        self.at(*start)
        self.page.mouse.down()
        self.at((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        self.at(*end)
        before_release()
        self.page.mouse.up()
        self.answered()

    def tool(self, name: str) -> None:
        self.page.click(f"#ed-tool-{name}")

    def choose(self, label: str, value: str) -> None:
        self.page.select_option(f'#ed-part select[data-field="{label}"]', value)
        self.answered()


def draw(page: Any, photo: Callable[[str], None] = lambda name: None) -> None:
    """The tutorial, step by step."""
    mouse = Mouse(page)
    mouse.tool("pin")
    mouse.click((0, 0), (200, 0))
    mouse.tool("link")
    mouse.drag((0, 0), (30, 60))
    mouse.drag((30, 60), (180, 120), lambda: photo("editor-link"))
    mouse.drag((180, 120), (200, 0))
    mouse.tool("motor")
    mouse.click((0, 0))
    mouse.tool("point")
    mouse.click((105, 90), (100, 140))
    mouse.tool("select")
    for link in ((15, 30), (120, 96), (190, 60)):
        mouse.click(link)
        mouse.choose("Mass", "bar")
    mouse.tool("load")
    mouse.click((100, 140), (100, 100))
    mouse.tool("select")
    mouse.click((15, 30))
    page.wait_for_function(MOVING)
    photo("editor-path")
    page.click("#ed-mode-move")
    page.wait_for_function(MOVING)
    page.evaluate("() => { LW.app.player.pause(); LW.app.player.seek(40); }")
    page.wait_for_timeout(400)
    photo("editor-move")


@contextmanager
def edited(file: Path) -> Iterator[Server]:
    """The editor's server of a file."""
    with Server(file, out=lambda text: None, edit=True) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(5.0)


def pictures(browser: Any, folder: Path, save: Callable[[str, bytes], Any], names: tuple[str, ...] = NAMES) -> None:
    """All pictures of the editor; `save(name, data)` stores one."""
    file = folder / "my.yaml"
    file.write_text(EMPTY.format(name="my"), encoding="utf-8")
    with edited(file) as server:
        page = _page(browser, server.address, WIDE)
        draw(page, lambda name: save(name, page.screenshot()) if name in names else None)
        page.context.close()
        if "editor-phone" in names:
            page = _page(browser, server.address, PHONE, sharp=2)
            page.wait_for_function(MOVING)
            save("editor-phone", page.screenshot())
            page.context.close()


def _page(browser: Any, address: str, window: tuple[int, int], sharp: int = 1) -> Any:
    size = {"width": window[0], "height": window[1]}
    context = browser.new_context(viewport=size, color_scheme="light", device_scale_factor=sharp, has_touch=sharp > 1)
    page = context.new_page()
    page.goto(address)
    page.wait_for_function(DRAWN)
    return page
