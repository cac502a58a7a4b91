"""Draws the pictures of docs/plots.md again: runs the page's code in an empty folder and keeps what it wrote, with a palette; the
drawing of docs/drawings.md, and the bodies of docs/model-file.md that have shapes.

python docs/make_plot_pictures.py
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
COLOURS = 96  # flat drawings with smooth edges need no more
PICTURES = {"motors": "motor"}  # file of the page -> name of its picture, where they differ


def main() -> None:
    from PIL import Image

    import linkwright as lw
    from linkwright.views.picture import draw

    page = (DOCS / "plots.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile(code, "docs/plots.md", "exec"), {"__name__": "plots"})
        for path in sorted(Path(folder).glob("*.png")):
            saved = DOCS / "images" / f"plots-{PICTURES.get(path.stem, path.stem)}.png"
            with Image.open(path) as picture:
                picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(saved, "PNG", optimize=True)
            print(f"{saved.name}: {saved.stat().st_size / 1000:.0f} KB")
        shown = (DOCS / "model-file.md").read_text(encoding="utf-8").partition("### Pictures of bodies")[2]
        (Path(folder) / "arm.yaml").write_text(shown.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
        draw(lw.load(Path(folder) / "arm.yaml"), DOCS / "images" / "visuals.png", size=(5.2, 4.2), trace=[], labels=False)
        os.chdir(DOCS)
    lw.load("carpet-scraper").export(DOCS / "images" / "drawing-scraper.svg")


if __name__ == "__main__":
    main()
