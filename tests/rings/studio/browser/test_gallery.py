"""Every example of the gallery runs, its number agrees with its check and with the docs, and its page opens quietly and moves."""

from __future__ import annotations

import re
import runpy
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.model import library
from linkwright.rings.studio.live import cycle_data
from tests import ROOT
from tests.rings.studio.browser.desk import Desk, colors
from tests.scripts import docs_script
from tests.sweeps import sweep

SCRIPTS = sorted((ROOT / "gallery").glob("*.py"))
PAGE = (ROOT / "docs" / "tutorials" / "gallery.md").read_text(encoding="utf-8")
IMAGES = ROOT / "docs" / "images" / "gallery"
NUMBER = re.compile(r"^(?P<what>.+): (?P<value>-?[\d.]+) (?P<unit>.+) \(check: (?P<check>-?[\d.]+)\)$", re.MULTILINE)
FORTY = ROOT / "gallery" / "forty_parallelograms.py"
PLAIN = [s for s in SCRIPTS if s != FORTY]
WORKSPACES = ("workspace_3rrr",)  # pages of poses: nothing moves by itself
MOST = 40_000  # bytes of a picture in the docs


@pytest.fixture
def pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page_of: Callable[[str], Path], desk: Callable[..., Desk]
) -> Callable[[str], None]:
    """Opens an example's page. The page of a built-in model as it is, without a run, is the one that test_every_model.py opens and
    compares with Python: that one is taken and not opened again."""
    monkeypatch.chdir(tmp_path)
    plain: set[str] = set()
    write = lw.Mechanism.show

    def show(self: lw.Mechanism, path: Path) -> Path:
        shipped = self.name in library.names() and self.description == lw.load(self.name).description
        if not shipped:  # a design of the script's own
            return write(self, path)
        plain.add(Path(path).stem)
        return Path(shutil.copy(page_of(self.name), path))

    def look(name: str) -> None:
        page = tmp_path / "out" / f"{name}.html"
        if name in WORKSPACES:
            slides(desk(page, width=1000, height=900))
        elif name not in plain:
            opens_and_moves(desk(tmp_path / "out" / f"{name}.html", width=1000, height=640))

    monkeypatch.setattr(lw.Mechanism, "show", show)
    return look


def card(name: str) -> str:
    """What docs/tutorials/gallery.md says about an example: from its picture to that of the next one."""
    found = re.search(rf"^- \[!\[[^\n]*/gallery/{name}\.py\)$.*?(?=^- \[!|^</div>)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/tutorials/gallery.md has no card for {name}"
    return found.group(0)


def test_the_docs_and_the_folder_list_the_same() -> None:
    listed = re.findall(r"\(\.\./\.\./gallery/(\w+)\.py\)", PAGE)
    assert sorted(set(listed)) == [s.stem for s in SCRIPTS] and len(SCRIPTS) >= 12
    assert {p.stem for p in IMAGES.glob("*.png")} == {s.stem for s in SCRIPTS}
    assert all(p.stat().st_size < MOST for p in IMAGES.glob("*.png"))


def test_the_cards_are_current() -> None:
    """`python docs/make/make_gallery.py --keep` would write them again, but for numbers, which each script's own test compares."""
    make_gallery = docs_script("make_gallery")
    assert sorted(make_gallery.CARDS) == [s.stem for s in SCRIPTS]
    numbers = {name: re.findall(r"\*\*([^*]+)\*\*, checked", card(name))[0] for name in make_gallery.CARDS}
    assert make_gallery.renewed(PAGE, {"gallery": lambda: make_gallery.cards(numbers)}) == PAGE
    assert make_gallery.value("swing of the rocker: 48.291 deg (check: 48.291)") == numbers["wiper"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_it_says_what_one_learns_and_how_it_is_checked(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    words = text.split('"""')[1]
    assert "One learns: " in words and "The check" in words and f"python gallery/{script.name} [folder]" in words
    assert text.count("\nassert ") + text.count("    assert ") >= 1 and text.count("\n") <= 95


@sweep("script", PLAIN, now=["door_three_hinges"], ids=lambda p: p.stem)
def test_number_and_page(script: Path, pages: Callable[[str], None], capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    documented(script, ran(script, monkeypatch, capsys))
    pages(script.stem)


@pytest.mark.slow
def test_three_parallelograms_stand_for_forty(desk: Callable[..., Desk], capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    """Without a cycle, as forty are: the run plays, the kernels let it swing."""
    monkeypatch.setattr(cycle_data, "MOST_TURNED", 6)
    monkeypatch.chdir(tmp_path)
    ran(FORTY, monkeypatch, capsys, "3")
    plays_and_swings(desk(tmp_path / "out" / f"{FORTY.stem}.html", width=1000, height=640))


@pytest.mark.slow  # half a minute of preparing 81 bodies
def test_forty_parallelograms(desk: Callable[..., Desk], capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    documented(FORTY, ran(FORTY, monkeypatch, capsys))
    page = tmp_path / "out" / f"{FORTY.stem}.html"
    assert page.stat().st_size < 3e6  # 1.5 MB; kernels grow in proportion to the loops
    plays_and_swings(desk(page, width=1000, height=640))


def plays_and_swings(here: Desk) -> None:
    opens_and_moves(here)
    assert here.ask("DATA.cycle === null && (app.player.seek(15), true)"), "at rest, neither upright nor flat"
    here.page.get_by_text("Free swing", exact=True).click()
    opens_and_moves(here)
    here.page.get_by_role("tab", name="Loads").click()
    assert "joints beforehand takes long" in here.text("body") and "Loads of the turn" not in here.text("body")


def ran(script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *more: str) -> re.Match[str]:
    """Runs a script here; its number agrees with its check; it has written page, picture, a drawing if it says so, nothing else."""
    monkeypatch.setattr(sys, "argv", [str(script), "out", *more])
    runpy.run_path(str(script), run_name="__main__")
    (said,) = NUMBER.finditer(capsys.readouterr().out)
    value, check = float(said["value"]), float(said["check"])
    assert abs(value - check) <= 1e-3 * abs(check), "the number and its check differ"
    assert [p.name for p in Path().iterdir()] == ["out"]
    drawing = {f"{script.stem}.svg"} if f"{script.stem}.svg" in script.read_text(encoding="utf-8") else set()
    assert {p.name for p in Path("out").iterdir()} == {f"{script.stem}.html", f"{script.stem}.png", *drawing}
    return said


def documented(script: Path, said: re.Match[str]) -> None:
    number = f"{said['value']} {said['unit']}"
    assert number in card(script.stem), f"docs/tutorials/gallery.md does not say {number}"


def slides(here: Desk) -> None:
    """Sliders choose another slice, whose map is another one."""
    before = here.ask("LW.app.map.picture.canvas.toDataURL()")
    here.page.locator("#axis-2").fill("1")
    assert here.ask("LW.app.map.picture.canvas.toDataURL()") != before
    assert "points)" in here.text(".st-legend")


def opens_and_moves(here: Desk) -> None:
    """It draws something and goes by itself; that its console stays empty is for the desk to see."""
    before = here.ask("Array.from(e.state.q)")
    here.page.wait_for_function("(q) => q.some((x, i) => Math.abs(LW.app.engine.state.q[i] - x) > 1e-3)", arg=before)
    counts = colors(here.pixels())
    assert len(counts) >= 6 and 1 - counts.max() / counts.sum() > 0.005, "hardly anything is drawn"
