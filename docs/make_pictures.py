"""Draws the pictures of pages in docs/images again: `make pictures`, then look at them.

Each page is opened in the Chromium that is installed here, without a network, at a fixed position of the cycle, and photographed
light and dark, wide and as on a phone; the report as it prints. Pictures are stored with a palette, each below 150 KB.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import linkwright as lw
from linkwright.bench.page import LAUNCH, NOT_FOUND, READY, WATCH, chromium
from linkwright.views import live

IMAGES = Path(__file__).resolve().parent / "images"
MOST = 150_000  # bytes of a picture
WIDE, PHONE = (1280, 800), (360, 740)


class Picture(NamedTuple):
    """What is photographed: a model's page at an address, in a window."""

    name: str
    model: str
    fragment: str
    window: tuple[int, int] = WIDE
    dark: bool = False
    whole: bool = False  # down to the end of the page, not only the window


PICTURES = (
    Picture("page-wiper", "wiper", "#s=52&play=0"),
    Picture("page-wiper-dark", "wiper", "#s=52&play=0&pick=pin:C:rocker&axes=rocker", dark=True),
    Picture("page-scraper", "carpet-scraper", "#s=118&play=0&trace=tool.T&tab=parameters&p.g=9.81"),
    Picture("page-scraper-dark", "carpet-scraper", "#s=118&play=0&trace=tool.T&machinery=1", dark=True),
    Picture("page-stewart", "stewart", "#s=90&play=0"),
    Picture("page-stewart-dark", "stewart", "#s=90&play=0", dark=True),
    Picture("page-wiper-phone", "wiper", "#s=52&play=0", window=PHONE, whole=True),
    Picture("page-scraper-phone", "carpet-scraper", "#s=118&play=0&trace=tool.T", window=PHONE, whole=True),
    Picture("page-stewart-phone", "stewart", "#s=90&play=0", window=PHONE, whole=True, dark=True),
)


def kept(name: str, data: bytes) -> Path:
    """The picture with as many colours of a palette as fit the size allowed."""
    from PIL import Image

    picture = Image.open(io.BytesIO(data)).convert("RGB")
    path = IMAGES / f"{name}.png"
    for colours in (256, 128, 64, 32):
        small = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
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
    data = page.screenshot(full_page=what.whole)
    context.close()
    return kept(what.name, data)


def printed(browser: Any, place: Path) -> Path:
    """The first page of the report, as it prints on A4."""
    path = lw.load("carpet-scraper").report(place / "report.html")
    context = browser.new_context(viewport={"width": 794, "height": 1123}, offline=True)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri() + "#play=0&s=118")
    page.wait_for_function(READY)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(400)
    data = page.screenshot(full_page=True)
    context.close()
    return kept("page-report", data)


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
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
