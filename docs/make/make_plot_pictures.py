"""Draws the pictures of pages again: runs the code of each page in an empty folder and stores what it wrote, with a palette;
then the drawing of docs/how-to/drawings.md and the bodies of docs/reference/model-file.md that have shapes.

python docs/make/make_plot_pictures.py [PAGE ...]     PAGE such as how-to/belts; all pages if there is none
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
COLORS = 96  # flat drawings with smooth edges need no more
BLOCK = re.compile(r'^```(\w+)(?: title="([\w-]+\.\w+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)  # with a title it is a file
PICTURES = {  # page -> {file that its code writes: picture}
    "how-to/plots": {
        **{f"{x}.png": f"plots-{x}.png" for x in (
            "compare", "curves", "drift", "energy", "gicm", "path", "phase", "singular", "topology",
        )},
    },
    "how-to/belts": {"hoist.png": "hoist.png"},
    "how-to/springs-dampers-stops": {"springs.png": "springs.png"},
    "how-to/cycle": {"cycle.png": "cycle.png"},
    "how-to/bearing-loads": {"free-body.png": "free-body.png", "hodograph.png": "hodograph.png"},
    "how-to/drive-sizing": {"motor.png": "torque-speed.png"},
    "how-to/polygons": {
        "velocities.png": "polygon-velocity.png", "accelerations.png": "polygon-acceleration.png", "centers.png": "instant-centers.png",
    },
    "how-to/synthesis": {"linkages.png": "synthesis.png"},
    "how-to/optimal-control": {"optimal.png": "optimal.png"},
    "how-to/optimization": {"compare.png": "optimization.png", "front.png": "pareto.png"},
    "how-to/balancing": {"shaking.png": "balancing.png"},
    "how-to/studies": {"map.png": "study-map.png", "tornado.png": "study-tornado.png", "spread.png": "study-spread.png"},
    "how-to/motors": {"start.png": "motor-start.png", "motors.png": "plots-motor.png"},
    "start/first-mechanism": {"folding.png": "first-mechanism.png", "curves.png": "first-curves.png"},
    "start/concepts": {"up.png": "concepts-up.png", "down.png": "concepts-down.png"},
    "tutorials/sketch-to-motor": {"pusher.png": "tutorial-pusher.png", "motor.png": "tutorial-motor.png"},
    "tutorials/wanted-motion": {"pusher.png": "dwell-linkage.png", "linkages.png": "dwell-candidates.png"},
    "tutorials/coming-from": {"four-bar.png": "coming-from.png"},
    "tutorials/lecture": {"velocities.png": "lecture-velocities.png", "centers.png": "lecture-centers.png"},
    "tutorials/slider-crank": {
        "pump.png": "slider-crank.png", "torque.png": "slider-crank-torque.png", "coast.png": "slider-crank-coast.png",
    },
    "tutorials/parallel-robot": {
        "picker.png": "robot-picker.png", "reach.png": "robot-reach.png", "torques.png": "robot-torques.png",
        "motor.png": "robot-motor.png",
    },
}  # fmt: skip


def main(names: Sequence[str]) -> None:
    from PIL import Image

    import linkwright as lw
    from linkwright.rings.studio.picture import draw

    for name, pictures in PICTURES.items():
        if names and name not in names:
            continue
        page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            namespace: dict[str, object] = {"__name__": name}
            for language, file, text in BLOCK.findall(page):
                if file:
                    Path(file).write_text(text, encoding="utf-8")
                elif language == "python":
                    exec(compile(text, f"docs/{name}.md", "exec"), namespace)
            for file, picture in pictures.items():
                saved = DOCS / "images" / picture
                with Image.open(Path(folder) / file) as drawn:
                    drawn.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(saved, "PNG", optimize=True)
                print(f"{saved.name}: {saved.stat().st_size / 1000:.0f} KB")
            os.chdir(DOCS)
    if names:
        return
    with tempfile.TemporaryDirectory() as folder:
        shown = (DOCS / "reference" / "model-file.md").read_text(encoding="utf-8").partition("### Pictures of bodies")[2]
        (Path(folder) / "arm.yaml").write_text(shown.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
        draw(lw.load(Path(folder) / "arm.yaml"), DOCS / "images" / "visuals.png", size=(5.2, 4.2), trace=[], labels=False)
    lw.load("carpet-scraper").export(DOCS / "images" / "drawing-scraper.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
