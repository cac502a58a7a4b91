"""Every built-in model as a page: it opens quickly and quietly, shows something, moves, and shows Python's numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.inverse.line_eyes import line_eyes
from linkwright.results.channels.loads import eyes
from tests.rings.studio.browser import reading
from tests.rings.studio.browser.desk import Desk, colors
from tests.sweeps import led_by_drives

SECONDS_TO_OPEN = 2.0
# Python turns in steps of ten of the page's 361 samples. Not among them are dead centers of built-in models, where a
# page has gaps and Python gives the limit.
EVERY = 10
SAMPLES = np.array([10, 40, 80, 110, 140, 200, 250, 290, 320])
# Python's float path and the page's straight-line code differ by round-off, amplified by the loops' condition.
EQUAL = 1e-9
CYCLE = """((some) => ({u: e.cycle.u.map((y) => Array.from(y)), x: Array.from(e.cycle.x), ok: Array.from(e.cycle.ok),
  pins: Object.fromEntries(Object.entries(e.cycle.pins || {}).map(([name, p]) => [name, {force: some(p.force), moment: some(p.moment)}]))
}))((vectors) => x.map((i) => Array.from(vectors.slice(3 * i, 3 * i + 3))))"""


def looks(desk: Desk) -> np.ndarray:
    """A picture of the mechanism that is not blank: several colors, and lines on the background."""
    picture = desk.pixels()
    counts = colors(picture)
    assert len(counts) >= 6, f"only {len(counts)} colors are drawn"
    # a thin linkage on 500 x 500 pixels covers some per cent
    assert 1 - counts.max() / counts.sum() > 0.005, "hardly anything is drawn"
    return picture


def close(found: Any, expected: Any, size: float, what: str) -> None:
    worst = float(np.abs(np.asarray(found, float) - np.asarray(expected, float)).max(initial=0.0))
    assert worst <= EQUAL * size, f"{what} differs by {worst:.2g}, {worst / size:.2g} of the largest"


def compare_with_python(desk: Desk, m: Any) -> None:
    """Efforts of all drives and the load of every pin on every body, at some samples of the cycle."""
    turn = m.cycle(steps=360 // EVERY)
    loads = [turn.instant(int(i)).loads for i in SAMPLES // EVERY]
    page = desk.ask(CYCLE, SAMPLES.tolist())
    assert len(page["x"]) == 361 and np.mean(page["ok"]) > 0.9 and all(page["ok"][i] for i in SAMPLES)
    drives = list(loads[0].tau)
    efforts = np.array([[x.tau[name] for name in drives] for x in loads])
    assert len(page["u"]) == len(drives)
    close(np.array(page["u"], float)[:, SAMPLES].T, efforts, max(np.abs(efforts).max(), 1e-3), "the effort of the drives")
    places = [*eyes(m.description), *((e.pin, e.body) for e in line_eyes(m.description))]
    named = {f"{pin}|{body}": [x.on(pin, body) for x in loads] for pin, body in places}
    out_of_plane = {name for name in named if name not in page["pins"]}  # a body's own plane carries nothing within it
    assert set(page["pins"]) == set(named) - out_of_plane
    assert m.description.planar or not out_of_plane
    for name in out_of_plane:
        assert not np.any([w.force[:2] for w in named.pop(name)])
    largest = {part: max(max(np.abs(getattr(w, part)).max() for w in some) for some in named.values()) for part in ("force", "moment")}
    for part in largest:
        size = max(largest[part], 0.1 * largest["force"])  # moments that are zero: of the forces at 0.1 m
        for name, some in named.items():
            close(page["pins"][name][part], [getattr(w, part) for w in some], max(size, 1e-3), f"the {part} of {name}")


def compare_with_plot(desk: Desk) -> None:
    """The plotted torque is the computed one: every corner of every drawn curve, by the plot's own ticks, to two pixels."""
    data = desk.ask(
        """{u: e.cycle.u.map((y) => Array.from(y)), x: Array.from(e.cycle.x), over: DATA.cycle.over.size, full: DATA.cycle.full_turn,
        sizes: DATA.cycle.kinds.map((k) => DATA.units[k === "angle" ? "torque" : "force"].size)}"""
    )
    shown = reading.plot(desk)
    assert len(shown.curves) == len(data["u"])
    x, turns = np.array(data["x"]) / data["over"], 2 * np.pi / data["over"] if data["full"] else 0.0
    for curve, values, size in zip(shown.curves, data["u"], data["sizes"], strict=True):
        values = np.array([np.nan if v is None else v for v in values], float) / size
        assert len(curve) > 50 or np.nanmax(values) - np.nanmin(values) < 1e-9
        order = np.argsort(x)[np.isfinite(values[np.argsort(x)])]
        along = curve[:, 0] + turns * np.round((x.min() - curve[:, 0].min()) / (turns or 1.0))  # an axis tells angles within a turn
        wide = 2 * shown.pixel[0]
        near = [np.interp(along + shift, x[order], values[order]) for shift in np.linspace(-wide, wide, 9)]
        low, high = np.min(near, axis=0), np.max(near, axis=0)
        out = np.maximum(low - curve[:, 1], curve[:, 1] - high).max()
        assert out < 2 * shown.pixel[1], f"a plotted point is {out / shown.pixel[1]:.1f} pixels from its value"


@pytest.mark.slow
@pytest.mark.parametrize("name", led_by_drives())
def test_it_opens_shows_moves_and_agrees(name: str, page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    path, m = page_of(name), lw.load(name)
    size = path.stat().st_size / 1e6
    assert size < (1.0 if m.description.planar else 3.0), f"{size:.2f} MB"
    here = desk(path, width=1000, height=640)
    seconds = here.opened_after()
    while seconds > SECONDS_TO_OPEN and here.visits < 4:  # a machine that does other things at the same time
        seconds = here.open(path).opened_after()
    print(f"{name}: {1000 * size:.0f} KB, ready after {seconds:.2f} s")
    assert seconds < SECONDS_TO_OPEN
    # it moves by itself; motions that do not close rest at their end for a moment
    before = here.ask("Array.from(e.state.q)")
    here.page.wait_for_function("(q) => q.some((x, i) => Math.abs(LW.app.engine.state.q[i] - x) > 1e-3)", arg=before)
    pictures = []
    for sample in (30, 120):
        here.ask("app.player.seek(x)", sample)
        here.frame()
        pictures.append(looks(here))
    assert (pictures[0] != pictures[1]).any(axis=2).sum() > 50, "the picture does not change"
    compare_with_python(here, m)
    compare_with_plot(here)
