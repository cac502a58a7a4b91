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


MOTOR = {  # of docs/how-to/report.md
    "Kt": "0.1 N m/A", "R": "0.3 ohm", "J": "2e-4 kg m^2", "supply_voltage": "24 V", "rated_current": "4 A", "max_current": "12 A",
    "gear_ratio": 30,
}  # fmt: skip
HEADS = """[...document.querySelectorAll('#report .rp-head h2, #report .rp-part h3')].map(h => {
    const box = h.getBoundingClientRect(); return [h.textContent, box.left, box.top] })"""


def printed(browser: Any, place: Path) -> Path:
    """The report as it prints, in two columns, with a numbered mark next to every heading."""
    from PIL import Image, ImageDraw, ImageFont, ImageOps

    sharp, margin = 1.2, 56
    path = lw.load("wiper").report(place / "report.html", motor=MOTOR)
    context = browser.new_context(viewport={"width": PAPER, "height": 1000}, offline=True, device_scale_factor=sharp)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri() + "#play=0&s=0")
    page.wait_for_function(READY)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(400)
    heads = [(text, sharp * x, sharp * y) for text, x, y in page.evaluate(HEADS)]
    content = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    context.close()
    across = page_breaks(heads, content.height)
    sheets = []
    for top, bottom in across:
        part = content.crop((0, round(top), content.width, round(bottom)))
        sheets.append(ImageOps.expand(part, (margin, margin // 2, margin // 2, margin // 2), "white"))
    both = Image.new("RGB", (sum(x.width for x in sheets), max(x.height for x in sheets)), "white")
    draw, font = ImageDraw.Draw(both), ImageFont.truetype(_bold(), 22)
    left = 0
    for (top, bottom), sheet in zip(across, sheets, strict=True):
        both.paste(sheet, (left, 0))
        for number, (_, x, y) in enumerate(heads, 1):
            if top <= y < bottom:
                at = (left + x + margin - (27 if x < margin else 22), y - top + margin // 2 + 14)
                draw.ellipse([at[0] - 18, at[1] - 18, at[0] + 18, at[1] + 18], fill="#c1441e")
                draw.text(at, str(number), fill="white", font=font, anchor="mm")
        left += sheet.width
    for number, (text, _, _) in enumerate(heads, 1):
        print(f"  {number} {text}")
    out = io.BytesIO()
    both.save(out, "PNG")
    return saved("page-report", out.getvalue())


def page_breaks(heads: Sequence[tuple[str, float, float]], height: float) -> list[tuple[float, float]]:
    """Two columns (top, bottom) that break at the heading nearest to the middle."""
    middle = min((y for _, _, y in heads), key=lambda y: abs(y - height / 2)) - 14
    return [(0.0, middle), (middle, height)]


def _bold() -> str:
    """A font that matplotlib brings."""
    import matplotlib

    return str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans-Bold.ttf")


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
