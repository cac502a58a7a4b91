"""A hand on the page: where things are on the screen, and dragging them with the mouse or a finger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tests.rings.studio.browser.desk import Desk

SETTLED = """() => new Promise((done) => {
  let last = "", same = 0, frames = 0;
  const look = () => {
    const now = Array.from(LW.app.engine.state.q).join();
    same = now === last ? same + 1 : 0;
    last = now;
    if (same >= 3 || ++frames > 60) done(frames); else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""


def place(desk: Desk, name: str) -> np.ndarray:
    """World place of a pin ("B") or of a point of a body ("coupler.P") now."""
    kind = "DATA.points.find((p) => p.name === x)" if "." in name else "(DATA.pins.find((p) => p.name === x) || {}).at"
    return np.array(desk.ask(f"((p) => Array.from(e.place(p.body, p.at)))({kind})", name))


def on_screen(desk: Desk, where: Sequence[float]) -> tuple[float, float]:
    """Where a world place is drawn, in pixels of the window."""
    x, y = desk.ask("Array.from(app.view.screen(x))", [float(v) for v in where])
    return float(x), float(y)


def settled(desk: Desk) -> None:
    """Waits until the mechanism has followed the hand."""
    desk.page.evaluate(SETTLED)


class Mouse:
    """Takes what is drawn at a place, moves it, lets go."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def take(self, where: Sequence[float]) -> None:
        self.desk.page.mouse.move(*on_screen(self.desk, where))
        self.desk.page.mouse.down()

    def move(self, to: Sequence[float]) -> None:
        self.desk.page.mouse.move(*on_screen(self.desk, to))
        settled(self.desk)

    def release(self) -> None:
        self.desk.page.mouse.up()
        self.desk.frame()


class Finger(Mouse):
    """The same on a touch screen."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.device = desk.context.new_cdp_session(desk.page)

    def _touch(self, kind: str, points: Iterable[tuple[float, float]]) -> None:
        self.device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": 1} for x, y in points]})

    def take(self, where: Sequence[float]) -> None:
        self._touch("touchStart", [on_screen(self.desk, where)])

    def move(self, to: Sequence[float]) -> None:
        self._touch("touchMove", [on_screen(self.desk, to)])
        settled(self.desk)

    def release(self) -> None:
        self._touch("touchEnd", [])
        self.desk.frame()


def side(a: Any, b: Any, c: Any) -> float:
    """Twice the area of a triangle, positive counterclockwise: which way an elbow bends."""
    (x, y), (u, v) = np.subtract(b, a)[:2], np.subtract(c, a)[:2]
    return float(x * v - y * u)
