"""A page as a person has it before them: opened in a profile of its own, looked at, clicked, dragged, typed into.

Everything the page says on its console and every request that is not for the page itself is kept for the test to judge.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench.page import READY, WATCH

# Chromium's own remark when a picture of a WebGL canvas is taken; it says nothing about the page.
TAKING_PICTURES = re.compile(r"GPU stall due to ReadPixels")
ELSEWHERE = re.compile(r"^(?!file:|data:|blob:|about:)")
PATIENCE = 10_000  # ms: a machine with other things to do
NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


class Desk:
    """One page in one profile."""

    def __init__(
        self,
        browser: Any,
        *,
        width: int = 1280,
        height: int = 800,
        dark: bool = False,
        touch: bool = False,
        still: bool = False,
        online: bool = False,
        **options: Any,
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "no-preference",
            has_touch=touch,
            offline=not online,
            accept_downloads=True,
            **options,
        )
        self.context.set_default_timeout(PATIENCE)
        self.visits = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        if not online:
            self.context.route(ELSEWHERE, self._refuse)
        self.context.add_init_script(WATCH)
        self.page = self.context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))

    def _refuse(self, route: Any) -> None:
        self.requests.append(route.request.url)
        route.abort()

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning", "assert") and not TAKING_PICTURES.search(message.text):
            self.complaints.append(f"{message.type}: {message.text}")

    def open(self, path: Path | str, fragment: str = "", *, ready: bool = True) -> Desk:
        """Goes to a file or an address and waits until the page has drawn itself."""
        address = path.as_uri() if isinstance(path, Path) else path
        self.visits += 1
        self.page.goto(address + fragment, wait_until="load")
        if ready:
            self.opened_after()
        return self

    def opened_after(self) -> float:
        """Seconds from the start of the navigation until two frames were drawn."""
        return float(self.page.wait_for_function(READY).json_value()) / 1e3

    def close(self) -> None:
        self.context.close()

    def ask(self, expression: str, argument: Any = None) -> Any:
        """The value of a JavaScript expression or function; `e` is the engine, `app` the application."""
        return self.page.evaluate(f"(x) => {{ const app = LW.app, e = app.engine; return ({expression}); }}", argument)

    def frame(self) -> None:
        """Lets the page draw."""
        self.page.evaluate(NEXT_FRAME)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).first.inner_text()

    def pixels(self, selector: str = "#stage") -> np.ndarray:
        """(height, width, 3) of what is drawn there."""
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.page.locator(selector).first.screenshot())).convert("RGB"))


def colors(picture: np.ndarray) -> np.ndarray:
    """How many pixels have each of the 4096 colors of four bits a channel that occur."""
    r, g, b = (picture[..., k].astype(int) >> 4 for k in range(3))
    counts = np.bincount((256 * r + 16 * g + b).ravel())
    return counts[counts > 0]
