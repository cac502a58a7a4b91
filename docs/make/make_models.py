"""Writes the grid of built-in models in docs/reference/models.md, their thumbnails, and their live pages into build/models.

    python docs/make/make_models.py [--pictures]

`--pictures` also draws docs/images/models again. `make docs` makes the live pages, and the site links the thumbnails to them.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from blocks import renewed, table  # beside this file
from make_diagrams import trimmed

import linkwright as lw
from linkwright.model import library
from linkwright.rings.studio import live

DOCS = Path(__file__).resolve().parents[1]
PAGE, IMAGES = DOCS / "reference" / "models.md", DOCS / "images" / "models"
LIVE = DOCS.parent / "build" / "models"
ACROSS = 3  # models in a row
SIZE = (300, 200)  # pixels of a thumbnail

GROUPS = {
    "linkages": (
        "wiper", "four-bar", "slider-crank", "boot-lid", "flap", "jansen-leg", "punch-press", "five-bar", "scissor-lift", "door",
    ),
    "contact": ("gripper", "toggle-clamp", "geneva", "ratchet", "cam-follower", "slider-crank-clearance", "woodpecker"),
    "robots": ("stewart", "delta", "3-rrr", "3-rrr-motors", "ankle", "excavator", "3r-slider"),
    "research": (
        "carpet-scraper", "carpet-scraper-2007", "slider-crank-equal", "change-point-four-bar", "parallelogram-middle",
        "parallelogram-chain", "rssr", "rssr-7r", "bennett",
    ),
}  # fmt: skip


def main(arguments: list[str]) -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), TABLES), encoding="utf-8")
    for name in library.names():
        if "--pictures" in arguments:
            thumbnail(name, IMAGES / f"{name}.png")
        LIVE.mkdir(parents=True, exist_ok=True)
        live.write(lw.load(name), LIVE / f"{name}.html")


def thumbnail(name: str, path: Path) -> None:
    """The start position alone, in few colors."""
    from PIL import Image

    from linkwright.rings.studio.picture import draw

    still = {"gravity": [0, 0] if lw.load(name).description.planar else [0, 0, 0]}  # no arrow
    figure = draw(lw.load(name, **still), size=(5.6, 4.4), labels=False, trace=[])
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110, facecolor="white")
    with Image.open(out) as drawn:
        shown = trimmed(drawn.convert("RGB"))
    shown.thumbnail(SIZE, Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", SIZE, "white")
    sheet.paste(shown, ((SIZE[0] - shown.width) // 2, (SIZE[1] - shown.height) // 2))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.quantize(48, dither=Image.Dither.NONE).save(path, "PNG", optimize=True)


def grid(group: str) -> str:
    """Thumbnails in rows, below each its name."""
    cells = [f"![{name}](../images/models/{name}.png)<br>`{name}`<br>{about(name)}" for name in GROUPS[group]]
    rows = [cells[k : k + ACROSS] for k in range(0, len(cells), ACROSS)]
    heads, *others = [[*row, *[""] * (ACROSS - len(row))] for row in rows]
    return table(heads, others)


def about(name: str) -> str:
    return lw.load(name).description.about.rstrip(".")


def facts() -> str:
    """Parameters, drives and degrees of freedom."""
    lines = []
    for name in library.names():
        mechanism = lw.load(name)
        parameters = ", ".join(name for name, _ in mechanism.description.parameters) or "-"
        drives = [drive.joint for drive in mechanism.description.drives]
        shown = ", ".join(drives) if len(drives) < 5 else f"{drives[0]} .. {drives[-1]}"
        lines.append((f"`{name}`", parameters, shown or "-", mechanism.system.mobility.freedoms))
    return table(("model", "parameters", "drives", "degrees of freedom"), lines)


TABLES = {**{name: (lambda name=name: grid(name)) for name in GROUPS}, "facts": facts}

if __name__ == "__main__":
    main(sys.argv[1:])
