"""Draws the pictures of pages in docs/images again: `make pictures`, then look at them.

Each page is opened in the Chromium that is installed here, without a network, at a fixed position of the cycle, and photographed
light and dark, wide and as on a phone; the report as it prints; the editor while the mechanism of its tutorial is drawn. Each picture stays
below 150 KB, with a palette if need be.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import editor_pictures  # beside this file

import linkwright as lw
from benchmarks.bench.page import READY, WATCH
from linkwright.rings.studio import live
from linkwright.rings.studio.pdf import LAUNCH, NOT_FOUND, chromium

IMAGES = Path(__file__).resolve().parents[1] / "images"
MOST = 150_000  # bytes of a picture
WIDE, PHONE = (1280, 800), (360, 740)
PAPER = 680  # pixels between the margins of A4: 180 mm


class Picture(NamedTuple):
    """What is photographed: a model's page at an address, in a window."""

    name: str
    model: str
    fragment: str
    window: tuple[int, int] = WIDE
    dark: bool = False


PICTURES = (
    Picture("page-wiper", "wiper", "#s=52&play=0"),
    Picture("page-wiper-dark", "wiper", "#s=52&play=0&pick=pin:C:rocker&axes=rocker", dark=True),
    Picture("page-scraper", "carpet-scraper", "#s=118&play=0&trace=tool.T&tab=parameters&p.link5.S.x=0.243&p.tool.mass=14"),
    Picture("page-scraper-dark", "carpet-scraper", "#s=118&play=0&trace=tool.T&machinery=1", dark=True),
    Picture("page-motion", "punch-press", "#s=60&play=0&curves=slide,slide.v,slide.a", window=(1280, 1120)),
    Picture("page-stewart", "stewart", "#s=90&play=0"),
    Picture("page-stewart-dark", "stewart", "#s=90&play=0", dark=True),
    Picture("page-wiper-phone", "wiper", "#s=52&play=0", window=PHONE),
    Picture("page-scraper-phone", "carpet-scraper", "#s=118&play=0&trace=tool.T", window=PHONE),
    Picture("page-stewart-phone", "stewart", "#s=90&play=0", window=PHONE, dark=True),
)


def saved(name: str, data: bytes) -> Path:
    """The picture with as many colors as fit the size allowed."""
    from PIL import Image

    picture = Image.open(io.BytesIO(data)).convert("RGB")
    path = IMAGES / f"{name}.png"
    for colors in (0, 256, 128, 64):
        small = io.BytesIO()
        (picture.quantize(colors, dither=Image.Dither.NONE) if colors else picture).save(small, "PNG", optimize=True)
        if small.tell() < MOST:
            break
    path.write_bytes(small.getvalue())
    print(f"{path.name}: {picture.width} x {picture.height}, {small.tell() / 1000:.0f} KB")
    return path


def photographed(browser: Any, path: Path, what: Picture) -> Path:
    (width, height), scheme = what.window, "dark" if what.dark else "light"
    sharp = 2 if width < 500 else 1
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, device_scale_factor=sharp, has_touch=width < 500
    )
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri() + what.fragment)
    page.wait_for_function(READY)
    page.wait_for_timeout(400)  # plots and figures have taken their places
    data = page.screenshot()
    context.close()
    return saved(what.name, data)


def printed(browser: Any, place: Path) -> Path:
    """The report as it prints, from its head to its end, with the margins of the paper around it."""
    from PIL import Image, ImageOps

    path = lw.load("carpet-scraper").report(place / "report.html")
    context = browser.new_context(viewport={"width": PAPER, "height": 1000}, offline=True, device_scale_factor=1.25)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri() + "#play=0&s=118")
    page.wait_for_function(READY)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(400)
    content = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    context.close()
    out = io.BytesIO()
    ImageOps.expand(content, 56, "white").save(out, "PNG")
    return saved("page-report", out.getvalue())


def main(names: Sequence[str]) -> None:
    from playwright.sync_api import sync_playwright

    program = chromium()
    if program is None:
        sys.exit(NOT_FOUND)
    with tempfile.TemporaryDirectory(prefix="linkwright-pages-") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(LAUNCH))
        pages: dict[str, Path] = {}
        for what in PICTURES:
            if not names or what.name in names:
                if what.model not in pages:
                    pages[what.model] = live.write(lw.load(what.model), Path(folder) / f"{what.model}.html")
                photographed(browser, pages[what.model], what)
        if not names or "page-report" in names:
            printed(browser, Path(folder))
        editor = tuple(name for name in editor_pictures.NAMES if not names or name in names)
        if editor:
            editor_pictures.pictures(browser, Path(folder), saved, editor)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
