"""LW.run starts a page again with another mechanism: nothing of the first one still listens, and everything works once, not twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.browser.hand import Mouse, place


@pytest.mark.slow
def test_a_page_starts_again_with_another_mechanism(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#s=0&play=0")
    other = page_of("four-bar").read_text("utf-8")
    kernels, data = (other[other.index(begin) :].split("</script>", 1)[0] for begin in ("// Kernels of", "var DATA="))
    here.page.add_script_tag(content=kernels)
    here.page.evaluate(
        "([data]) => { window.first = LW.app; LW.run(mechanism, JSON.parse(data)); }", [data.removeprefix("var DATA=").rstrip(";\n")]
    )
    assert here.text("#name") == "four-bar" and here.ask("app.DATA.name") == "four-bar"
    assert here.ask("first.ending.aborted && !app.ending.aborted && document.querySelectorAll('#stage svg.lw-plane').length === 1")
    here.page.evaluate("LW.app.player.pause(); LW.app.player.seek(0)")
    # two listeners would play and pause at once
    here.page.locator("body").press(" ")
    assert here.ask("app.player.playing && !first.player.playing")
    here.page.locator("body").press(" ")
    assert not here.ask("app.player.playing")
    here.page.click("#theme")
    here.page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    # the hand moves the new mechanism: the crank pin stays on its circle
    hand = Mouse(here)
    a, b = place(here, "A"), place(here, "B")
    hand.take(b)
    hand.move(np.add(b, [-0.02, 0.02, 0.0]))
    hand.release()
    assert here.ask("e.state.ok") and abs(np.hypot(*(place(here, "B") - a)[:2]) - np.hypot(*(b - a)[:2])) < 1e-9
    assert np.abs(place(here, "B") - b).max() > 1e-3
