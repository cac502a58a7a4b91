"""Applied loads, push and pull of cylinders, traces and the window of the page, as drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.rings.studio import live
from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.test_applied_loads import BOOM


def test_loads_and_cylinders_of_a_loader(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m = lw.load(BOOM)
    c = m.cycle()
    page = desk(live.write(m, tmp_path / "boom.html"), "#s=40&play=0").page
    seen = page.evaluate("() => ({applied: LW.app.frame().applied, pushes: LW.app.frame().pushes, traces: [...LW.app.traces.keys()]})")
    payload = next(x for x in seen["applied"] if x["name"] == "payload")
    assert payload["force"] == pytest.approx([0.0, -2000.0, 0.0]) and payload["moment"][2] == pytest.approx(300.0)
    assert payload["at"][:2] == pytest.approx([c["boom.F.x"][40], c["boom.F.y"][40]], abs=1e-9)
    assert seen["pushes"]["lift"] == pytest.approx(c["lift.force"][40], rel=1e-6)  # positive: it pushes
    assert page.locator('[data-cylinder="lift"]').get_attribute("data-acts") == ("push" if c["lift.force"][40] > 0 else "pull")
    assert page.locator('.lw-applied[data-load="payload"] text').text_content() == "payload"
    assert seen["traces"] == ["boom.F"], "the eye D of the cylinder is not traced"
    pulled = int((c["lift.force"] < 0).nonzero()[0][2])
    page.evaluate(f"() => {{ LW.app.player.seek({pulled}); LW.app.redraw(); }}")
    page.wait_for_function("() => document.querySelector('[data-cylinder=lift]').dataset.acts === 'pull'")


def test_the_window_follows_what_outgrows_it(desk: Callable[..., Desk], page_of: Callable[[str], Path]) -> None:
    page = desk(page_of("four-bar"), "#s=10&play=0").page
    inside = """() => { const box = document.getElementById('stage').getBoundingClientRect();
      return [...document.querySelectorAll('.lw-pin')].every((g) => { const r = g.querySelector('.lw-ring').getBoundingClientRect();
        return r.left > box.left && r.right < box.right && r.top > box.top && r.bottom < box.bottom; }); }"""
    scale = page.evaluate("() => LW.app.view.camera.scale")
    page.evaluate("() => LW.app.set(Object.fromEntries(DATA.parameters.map((p) => [p.name, p.value * (/^L/.test(p.name) ? 2.2 : 1)])))")
    page.wait_for_function(f"() => LW.app.view.camera.scale < {scale / 1.8}")
    assert page.evaluate(inside)
    page.evaluate("() => { LW.app.view.zoom(1.5, 300, 300); LW.app.reset(); }")
    page.wait_for_timeout(150)
    assert page.evaluate("() => LW.app.view.moved()"), "a window that was chosen by hand stays"


@pytest.mark.slow
def test_loads_without_masses_and_a_target_to_the_end_of_a_turn(
    desk: Callable[..., Desk], page_of: Callable[[str], Path], tmp_path: Path
) -> None:
    """Loads of the model need no mass; a target's last place, one turn after its first, is not its first."""
    light = {**BOOM, "bodies": {**BOOM["bodies"], "boom": {"pins": ["A"], "points": ["D", "F"]}}}
    page = desk(live.write(lw.load(light), tmp_path / "light.html"), "#s=20&play=0").page
    found = {x["name"]: x["force"] for x in page.evaluate("() => LW.app.frame().applied")}
    assert found["payload"] == pytest.approx([0.0, -2000.0, 0.0])
    assert page.locator('.lw-applied[data-load="payload"]').get_attribute("visibility") == "visible"
    page = desk(page_of("punch-press"), "#play=0").page  # its turn begins at 90 deg
    s = page.evaluate("() => Array.from(LW.targets('E [deg],slide [mm]\\n90,0\\n180,-15\\n360,40\\n450,0', 'a.csv', LW.app, '')[0].s)")
    assert s == pytest.approx([0.0, 90.0, 270.0, 360.0], abs=1e-6)
