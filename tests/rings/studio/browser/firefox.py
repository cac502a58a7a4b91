"""Firefox as it is installed, without a window, spoken to by WebDriver BiDi: the few calls that the tests of the page need.

The names are those of Playwright, whose own Firefox would have to be downloaded, so that pencils of the editor draw here as well.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

NAMES = ("firefox-esr", "firefox")
NOT_FOUND = (
    "no Firefox was found, and the page is tested in it as well. Install it (`make browser` does so where apt-get may; on Debian: apt-get "
    "install firefox-esr), or say where it is: FIREFOX=/path/to/firefox."
)
PATIENCE = 30.0  # s: a machine with other things to do
# it asks no other machine for anything
QUIET = {
    "app.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "browser.safebrowsing.update.enabled": False,
}
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowRight": "\ue014", "ArrowUp": "\ue013", "Delete": "\ue017"}


def firefox() -> str | None:
    """The program: $FIREFOX, or the first known name on the path."""
    named = os.environ.get("FIREFOX", "")
    return shutil.which(named) if named else next((x for x in map(shutil.which, NAMES) if x), None)


class Firefox:
    """One browser with a profile of its own, and one page in it."""

    def __init__(self) -> None:
        from websockets.sync.client import connect

        program = firefox()
        assert program, NOT_FOUND
        self.place = tempfile.mkdtemp(prefix="linkwright-firefox-")
        Path(self.place, "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(x)});\n" for name, x in QUIET.items()))
        size = ["--width", "1280", "--height", "800"]
        command = [program, "--headless", "--no-remote", "--profile", self.place, "--remote-debugging-port", "0", *size]
        home = {**os.environ, "HOME": self.place}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=home)
        self.opened = ExitStack()
        try:
            self.socket = self.opened.enter_context(connect(f"{self._address()}/session", max_size=None, open_timeout=PATIENCE))
        except Exception:
            self.process.kill()
            raise
        self.count, self.complaints = 0, list[str]()
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded"])
        self.context = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.mouse, self.keyboard = FirefoxMouse(self), FirefoxKeyboard(self)

    def _address(self) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            found = re.search(r"WebDriver BiDi listening on (ws://\S+)", line)
            if found:
                return found.group(1)
        raise AssertionError("Firefox ended before it listened")

    def send(self, method: str, **params: Any) -> Any:
        """A command and its answer; what the console of the page complains about in between is kept."""
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while True:
            got = json.loads(self.socket.recv(timeout=PATIENCE))
            if got.get("method") == "log.entryAdded" and got["params"]["level"] in ("error", "warn"):
                self.complaints.append(str(got["params"].get("text")))
            if got.get("id") == self.count:
                assert "error" not in got, f"{method}: {got}"
                return got["result"]

    def close(self) -> None:
        self.opened.close()
        self.process.terminate()
        self.process.wait(10)
        if self.process.stderr is not None:
            self.process.stderr.close()
        shutil.rmtree(self.place, ignore_errors=True)

    # ---------------------------------------------------------------- as a page

    def goto(self, address: str) -> None:
        self.send("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def size(self, width: int, height: int) -> None:
        self.send("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def evaluate(self, function: str, argument: Any = None) -> Any:
        """The value of a function, or of an expression, as JSON."""
        call = f"JSON.stringify((({function}))({json.dumps(argument)}) ?? null)"
        got = self.send("script.evaluate", expression=call, target={"context": self.context}, awaitPromise=True)
        assert got["type"] == "success", f"{function}: {got}"
        return json.loads(got["result"]["value"])

    def wait_for_function(self, function: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.evaluate(f"() => Boolean(({function})())"):
            assert time.monotonic() < end, f"waited in vain for {function}"
            time.sleep(0.03)

    def click(self, selector: str) -> None:
        self.mouse.move(*self.evaluate(MIDDLE, selector))
        self.mouse.down()
        self.mouse.up()

    def inner_text(self, selector: str) -> str:
        return str(self.evaluate("(s) => document.querySelector(s).innerText", selector))

    def screenshot(self, path: Path) -> None:
        got = self.send("browsingContext.captureScreenshot", context=self.context)
        path.write_bytes(base64.b64decode(got["data"]))


MIDDLE = """(selector) => {
  const node = document.querySelector(selector);
  node.scrollIntoView({block: "nearest"});
  const box = node.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
}"""


class FirefoxMouse:
    """A mouse as Playwright has it."""

    def __init__(self, page: Firefox) -> None:
        self.page = page

    def _do(self, *actions: dict[str, Any]) -> None:
        source = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(actions)}
        self.page.send("input.performActions", context=self.page.context, actions=[source])

    def move(self, x: float, y: float) -> None:
        self._do({"type": "pointerMove", "x": round(x), "y": round(y)})

    def down(self) -> None:
        self._do({"type": "pointerDown", "button": 0})

    def up(self) -> None:
        self._do({"type": "pointerUp", "button": 0})


class FirefoxKeyboard:
    """A keyboard as Playwright has it."""

    def __init__(self, page: Firefox) -> None:
        self.page = page

    def type(self, text: str) -> None:
        for c in text:
            self.press(c)

    def press(self, key: str) -> None:
        value = KEYS.get(key, key)
        source = {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]}
        self.page.send("input.performActions", context=self.page.context, actions=[source])
