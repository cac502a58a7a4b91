"""Runs every script of gallery/ and writes its live page and picture, with an index of all: `make gallery`.

python docs/make/make_gallery.py [folder] [--keep]      into folder (default build/gallery)

Each script runs in this process, one after another, and prints its number. `--keep` also puts the pictures into
docs/images/gallery, with a palette that keeps each below 40 KB.
"""

from __future__ import annotations

import html
import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((DOCS.parent / "gallery").glob("*.py"))
IMAGES = DOCS / "images" / "gallery"
MOST = 40_000  # bytes of a picture
NUMBER = "(check: "  # is in the one line that says the number
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Linkwright: gallery</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(20rem,1fr));gap:1.5rem}
a{color:inherit;text-decoration:none}article{border:1px solid #8884;border-radius:8px;padding:1rem}
img{width:100%;border-radius:4px}h2{font-size:1rem}p{margin:.4rem 0}</style>
<h1>Gallery</h1><p>Each page computes by itself: turn it, drag it, change it.</p><main>
"""


def ran(script: Path, folder: Path) -> str:
    """Runs a script; the line with its number."""
    said, arguments = io.StringIO(), sys.argv
    try:
        sys.argv = [str(script), str(folder)]
        with redirect_stdout(said):
            runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv = arguments
    return next(line for line in said.getvalue().splitlines() if NUMBER in line)


def title(script: Path) -> str:
    """The first sentence of its docstring."""
    return script.read_text(encoding="utf-8").split('"""')[1].split("\n", 1)[0]


def card(script: Path, number: str) -> str:
    name = script.stem
    return (
        f'<article><a href="{name}.html"><img src="{name}.png" alt="{html.escape(title(script))}">'
        f"<h2>{html.escape(title(script))}</h2></a><p>{html.escape(number)}</p></article>\n"
    )


def keep(picture: Path) -> Path:
    """The picture among the docs, with as many colors as the size allows."""
    from PIL import Image

    IMAGES.mkdir(parents=True, exist_ok=True)
    saved = IMAGES / picture.name
    with Image.open(picture) as opened:
        for colors in (96, 48, 24, 12):
            small = io.BytesIO()
            opened.convert("RGB").quantize(colors, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
            if small.tell() < MOST:
                break
    saved.write_bytes(small.getvalue())
    return saved


def main(arguments: list[str]) -> None:
    places = [x for x in arguments if not x.startswith("-")]
    folder = Path(places[0] if places else DOCS.parent / "build" / "gallery")
    cards = []
    for script in SCRIPTS:
        number = ran(script, folder)
        print(f"{script.stem}: {number}", flush=True)
        cards.append(card(script, number))
        if "--keep" in arguments:
            keep(folder / f"{script.stem}.png")
    (folder / "index.html").write_text(HEAD + "".join(cards) + "</main></html>\n", encoding="utf-8")
    print(f"pages, pictures and their index are in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
