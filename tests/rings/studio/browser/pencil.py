"""A pencil on the editor's sheet: tools chosen, places clicked or tapped, pins dragged, dimensions typed; in millimeters of the drawing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linkwright.rings.studio.server import Server
from tests.rings.studio.browser.desk import Desk

EMPTY = "# my own machine\nname: machine\nplane: xy\nunits: [mm, kg, deg, rpm]   # as drawn\n"
PLACE = """([x, y]) => {
  const s = LW.editor.sheet, box = s.element.getBoundingClientRect(), p = s.pixel([x, y]);
  return [box.left + p[0], box.top + p[1]];
}"""
DRAWN = "() => globalThis.LW && LW.editor && LW.editor.sheet.drawing()"
ANSWERED = "() => !LW.editor.server.waiting()"
MOVING = "() => LW.app && LW.editor.motion.started > 0 && !LW.editor.motion.pending()"


@contextmanager
def edited(file: Path) -> Iterator[Server]:
    """The editor's server of a file."""
    with Server(file, out=lambda text: None, edit=True) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(5.0)


class Pencil:
    """Draws with the mouse."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.page = desk, desk.page
        self.page.wait_for_function(DRAWN)

    def leave(self) -> None:
        """Leaves the page, so that it asks its server nothing any more."""
        self.page.goto("about:blank")

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        at = self.page.evaluate(PLACE, [1e-3 * x, 1e-3 * y])
        return float(at[0]), float(at[1])

    def answered(self) -> None:
        """Waits until all edits have been answered."""
        self.page.wait_for_function(ANSWERED)

    def tool(self, name: str) -> Pencil:
        self.page.click(f"#ed-tool-{name}")
        return self

    def hover(self, x: float, y: float) -> None:
        self.page.mouse.move(*self.pixel(x, y))

    def click(self, *places: tuple[float, float]) -> Pencil:
        for x, y in places:
            self.hover(x, y)
            self.page.mouse.down()
            self.page.mouse.up()
            self.answered()
        return self

    def drag(self, start: tuple[float, float], *to: tuple[float, float]) -> Pencil:
        self.hover(*start)
        self.page.mouse.down()
        middle = tuple((a + b) / 2 for a, b in zip(start, to[0], strict=True))
        for x, y in (middle, *to):
            self.hover(x, y)
        self.page.mouse.up()
        self.answered()
        return self

    def type(self, text: str) -> Pencil:
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
        self.answered()
        return self

    def key(self, name: str) -> Pencil:
        self.page.keyboard.press(name)
        self.answered()
        return self

    def field(self, label: str, text: str) -> Pencil:
        """Types into a field of the selected part's panel."""
        box = self.page.locator(f'#ed-part [data-field="{label}"]')
        box.fill(text)
        box.press("Enter")
        self.answered()
        return self

    def choose(self, label: str, value: str) -> Pencil:
        """Chooses from a list of the panel."""
        self.page.select_option(f'#ed-part select[data-field="{label}"]', value)
        self.answered()
        return self

    def ask(self, expression: str) -> Any:
        """A value of the editor: `ed`, its last answer `a` and its drawing `d`."""
        return self.page.evaluate(f"() => {{ const ed = LW.editor, a = ed.answer, d = a.drawing; return ({expression}); }}")

    def at(self, name: str) -> tuple[float, float]:
        """Where a point is drawn."""
        x, y = self.ask(f"d.points.find((p) => p.name === '{name}').at")
        return 1e3 * x, 1e3 * y

    def moving(self) -> None:
        """Waits until the page has the kernels of what is drawn."""
        self.page.wait_for_function(MOVING)


class FingerPencil(Pencil):
    """Draws with a finger."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.device = desk.context.new_cdp_session(desk.page)

    def _touch(self, kind: str, *at: tuple[float, float]) -> None:
        self.device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": 1} for x, y in at]})

    def tool(self, name: str) -> Pencil:
        self.page.tap(f"#ed-tool-{name}")
        self.page.wait_for_function("(name) => LW.editor.tool.id === name", arg=name)  # the click follows the touch
        return self

    def click(self, *places: tuple[float, float]) -> Pencil:
        for x, y in places:
            self._touch("touchStart", self.pixel(x, y))
            self._touch("touchEnd")
            self._answered()
        return self

    def drag(self, start: tuple[float, float], *to: tuple[float, float]) -> Pencil:
        self._touch("touchStart", self.pixel(*start))
        for x, y in to:
            self._touch("touchMove", self.pixel((x + start[0]) / 2, (y + start[1]) / 2))
            self._touch("touchMove", self.pixel(x, y))
        self.page.wait_for_timeout(80)  # the finger rests before it leaves: after a fling Chromium takes the next tap for its end
        self._touch("touchEnd")
        self._answered()
        return self

    def pinch(self, center: tuple[float, float], before: float, after: float) -> None:
        """Two fingers side by side, so many pixels apart before and after."""
        x, y = self.pixel(*center)
        for kind, apart in (("touchStart", before), ("touchMove", after)):
            points = [{"x": x + s * apart / 2, "y": y, "id": k} for k, s in ((1, -1), (2, 1))]
            self.device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self._touch("touchEnd")
        self._answered()

    def _answered(self) -> None:
        """The page hears of touches with its next frame."""
        self.desk.frame()
        self.answered()
