"""The page that follows its file: saved models come by themselves, wrong ones show the message over the last good one, the view is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from linkwright.model import library as models
from linkwright.rings.studio.server import Server
from tests.rings.studio.browser.desk import Desk


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A copy of the wiper's file, and the address of its page."""
    file = tmp_path / "my.yaml"
    file.write_text(models.path("wiper").read_text(encoding="utf-8"), encoding="utf-8")
    with Server(file, out=lambda text: None) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield file, server.address
        server.shutdown()
        thread.join(5.0)


def test_a_saved_file_comes_by_itself_and_the_view_is_kept(served: tuple[Path, str], desk: Callable[..., Desk]) -> None:
    file, address = served
    good = file.read_text(encoding="utf-8")
    # the server's policy forbids evaluating text, so everything awaited here is a function
    here = desk(address, "#s=120&play=0&pick=pin:C:rocker", online=True)
    mass = "DATA.bodies.find((b) => b.name === 'rocker').mass"
    assert abs(here.ask(mass) - 0.8) < 1e-12
    file.write_text(good.replace("mass: 0.8,", "mass: 1.7,"), encoding="utf-8")
    here.page.wait_for_function(f"() => globalThis.openedAfter && Math.abs({mass} - 1.7) < 1e-12")
    assert here.ask("app.player.s") == 120 and "C" in here.text("#card h2")
    # a name that does not exist: the last good mechanism stays, with the message
    file.write_text(good.replace("pins: [B, C], points", "pins: [B, CC], points"), encoding="utf-8")
    here.page.wait_for_function("() => globalThis.openedAfter && document.getElementById('problem')")
    said = " ".join(here.page.inner_text("#problem").split())
    assert "my.yaml:" in said and "CC" in said and "Traceback" not in said
    assert abs(here.ask(mass) - 1.7) < 1e-12 and here.ask("app.player.s") == 120
    file.write_text(good, encoding="utf-8")
    here.page.wait_for_function(f"() => globalThis.openedAfter && Math.abs({mass} - 0.8) < 1e-12")
    assert here.page.locator("#problem").count() == 0 and here.ask("app.player.s") == 120 and "C" in here.text("#card h2")
