"""Draws the pictures of docs/how-to/plots.md again: runs the page's code in an empty folder and keeps what it wrote, with a palette; the
drawing of docs/how-to/drawings.md, the bodies of docs/reference/model-file.md that have shapes, and the hoist of docs/how-to/belts.md.

python docs/make/make_plot_pictures.py
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
COLORS = 96  # flat drawings with smooth edges need no more
PAGES = ("how-to/plots", "how-to/belts")  # whose code writes pictures
PICTURES = {"motors.png": "plots-motor.png", "hoist.png": "hoist.png"}  # file of a page -> its picture, where it is not plots-<file>


def main() -> None:
    from PIL import Image

    import linkwright as lw
    from linkwright.rings.studio.picture import draw

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in PAGES:
            page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
            code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
            exec(compile(code, f"docs/{name}.md", "exec"), {"__name__": name})
        for path in sorted(Path(folder).glob("*.png")):
            saved = DOCS / "images" / PICTURES.get(path.name, f"plots-{path.name}")
            with Image.open(path) as picture:
                picture.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(saved, "PNG", optimize=True)
            print(f"{saved.name}: {saved.stat().st_size / 1000:.0f} KB")
        shown = (DOCS / "reference" / "model-file.md").read_text(encoding="utf-8").partition("### Pictures of bodies")[2]
        (Path(folder) / "arm.yaml").write_text(shown.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
        draw(lw.load(Path(folder) / "arm.yaml"), DOCS / "images" / "visuals.png", size=(5.2, 4.2), trace=[], labels=False)
        os.chdir(DOCS)
    lw.load("carpet-scraper").export(DOCS / "images" / "drawing-scraper.svg")


if __name__ == "__main__":
    main()
