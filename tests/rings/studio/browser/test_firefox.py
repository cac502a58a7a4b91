"""The page and the editor in Firefox: the same numbers as Python's, drawn, dragged, typed into; its console stays empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.rings.studio.browser.firefox import Firefox
from tests.rings.studio.browser.pencil import EMPTY, Pencil, edited

PLACE = """(name) => {
  const {at} = DATA.pins.find((p) => p.name === name);
  return LW.app.view.screen(LW.app.engine.place(at.body, at.at));
}"""
OPEN = "() => globalThis.LW && LW.app && LW.app.engine.state.ok"


@pytest.fixture(scope="module")
def page() -> Iterator[Firefox]:
    """One browser for all tests here."""
    started = Firefox()
    yield started
    started.close()
    assert not started.complaints, started.complaints


def test_the_page_computes_and_is_moved_by_hand(page: Firefox, page_of: Callable[[str], Path], tmp_path: Path) -> None:
    page.goto(page_of("wiper").as_uri() + "#s=40&play=0")
    page.wait_for_function(OPEN)
    turn = lw.load("wiper").cycle()
    torque = np.array(page.evaluate("() => Array.from(LW.app.engine.cycle.u[0] || LW.app.engine.cycle.u)"))
    assert np.abs(torque[: len(turn.t)] - turn["A.torque"][: len(torque)]).max() < 1e-9 * np.abs(turn["A.torque"]).max()
    page.screenshot(tmp_path / "firefox.png")
    from PIL import Image

    with Image.open(tmp_path / "firefox.png") as picture:
        assert len(picture.convert("RGB").getcolors(1 << 20) or []) > 50, "a blank page has few colors"
    before = page.evaluate("() => Array.from(LW.app.engine.state.q)")
    at = page.evaluate(PLACE, "B")
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 15, at[1] + 5)
    page.mouse.move(at[0] + 30, at[1] + 15)
    page.mouse.up()
    page.wait_for_function("() => LW.app.player.mode === 'drag'")
    assert page.evaluate("() => Array.from(LW.app.engine.state.q)") != before
    page.evaluate("() => LW.app.tab('parameters')")
    page.click("#parameters input[type=text]")
    page.keyboard.press("ArrowUp")
    page.wait_for_function("() => DATA.parameters.some((p) => p.name in LW.app.values && LW.app.values[p.name] !== p.value)")


@pytest.mark.slow
def test_a_spatial_page(page: Firefox, page_of: Callable[[str], Path]) -> None:
    page.goto(page_of("delta").as_uri() + "#s=20&play=0")
    page.wait_for_function(OPEN)
    seen = page.evaluate("() => ({things: LW.app.view.things().length, closed: LW.app.engine.checks().every((c) => c.ok !== false)})")
    assert seen["things"] > 6 and seen["closed"]


def test_the_editor_draws_a_four_bar(page: Firefox, tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    file.write_text(EMPTY, encoding="utf-8")
    with edited(file) as server:
        page.goto(server.address)
        at_it: Any = SimpleNamespace(page=page)
        pencil = Pencil(at_it)
        pencil.tool("pin").click((0, 0), (200, 0))
        pencil.tool("link").drag((0, 0), (30, 60)).drag((30, 60), (190, 110)).drag((200, 0), (190, 110))
        pencil.tool("motor").type("45").click((0, 0))
        assert pencil.ask("a.mobility.count") == 1 and pencil.ask("a.complete")
        pencil.moving()
        turn: Any = lw.load(file).cycle(steps=36)
        assert turn.full_turn and lw.load(file).description.drives
        page.goto("about:blank")
