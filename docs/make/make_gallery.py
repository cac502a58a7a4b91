"""Runs every script of gallery/ and writes its live page and picture, with an index of all: `make gallery`.

python docs/make/make_gallery.py [folder] [--keep]      into folder (default build/gallery)

Each script runs in this process, one after another, and prints its number. `--keep` also puts the pictures into
docs/images/gallery, with a palette that keeps each below 40 KB, and the numbers into the cards of docs/tutorials/gallery.md.
"""

from __future__ import annotations

import html
import io
import runpy
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

from blocks import renewed  # beside this file

DOCS = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((DOCS.parent / "gallery").glob("*.py"))
IMAGES = DOCS / "images" / "gallery"
MOST = 40_000  # bytes of a picture
PAGE = DOCS / "tutorials" / "gallery.md"
NUMBER = "(check: "  # is in the one line that says the number


class Card(NamedTuple):
    """Texts of an example on the page of the gallery."""

    title: str
    question: str
    check: str
    more: str = ""  # a page of the docs that explains it


CARDS = {
    "wiper": Card("Windscreen wiper", "How far does the arm swing while the motor turns once?", "the law of cosines"),
    "punch_press": Card("Punch press with a flywheel", "How heavy is the flywheel of a 120 kN knuckle press?", "an area and heights"),
    "boot_lid": Card("Boot lid with gas springs", "How far must you lift it until it rises on its own?", "virtual work and Boyle's law"),
    "flap_stays_put": Card(
        "A flap that stays put", "From where on does friction hold a flap where the hand leaves it?", "virtual work",
        "[friction that holds](../how-to/springs-dampers-stops.md#friction-that-holds)",
    ),
    "excavator_dig": Card(
        "Excavator digs", "How hard does the boom cylinder push with 200 kN at the teeth?", "virtual work and the energy of the dig"
    ),
    "jansen_leg": Card("Jansen's leg", "How long is a step of the Strandbeest?", "circles that intersect"),
    "scissor_lift": Card("Scissor lift", "What must the spindle pull to lift 150 kg from a low position?", "a closed form"),
    "delta_pick_and_place": Card(
        "Delta robot picks and places", "Is its motor strong enough? The RMS torque decides.", "d'Alembert's principle on paper"
    ),
    "delta_fastest": Card(
        "Fastest pick and place", "How quickly can a delta robot pick and place?", "one linear program",
        "[time-optimal motion](../how-to/time-optimal.md)",
    ),
    "workspace_3rrr": Card(
        "Workspace of a 3-RRR", "Where can a planar parallel robot work, and where does it lose control?", "the circles of its legs",
        "[workspace](../how-to/workspace.md)",
    ),
    "ankle": Card(
        "Two-motor ankle", "How hard must the two motors of an ankle push off?", "rods as forces along their lines",
        "[transmissions](../how-to/transmissions.md)",
    ),
    "stewart_leg_forces": Card(
        "Stewart platform: pose to leg forces", "How hard do six legs push in a tilted pose?", "virtual work, Pinocchio and MuJoCo"
    ),
    "door_three_hinges": Card("Door on three hinges", "Which loads of the hinges can be known?", "the balance of the door"),
    "forty_parallelograms": Card("Forty parallelograms", "Can a chain pass forty singularities at once?", "one pendulum equation"),
    "motor_driven_3rrr": Card("3-RRR robot on three motors", "How much electric energy becomes heat?", "the energy balance"),
    "hybrid_force_control": Card(
        "Hybrid force control", "Can an arm slide along a rail and press on it with 20 N at the same time?", "lever times force"
    ),
    "dwell_pusher": Card(
        "A pusher that rests", "Which linkage holds a pusher still over 80 degrees of the crank?", "circles that intersect",
        "[optimization](../how-to/optimization.md)",
    ),
    "cam_pusher": Card(
        "A cam pushes cartons", "Up to which speed does its spring hold the roller on the cam?", "spring force over inertia force",
        "[cams](../how-to/cams.md)",
    ),
    "straight_line": Card(
        "A straight line", "Which four-bar draws a line of 200 mm in half a revolution?", "circles that intersect",
        "[synthesis](../how-to/synthesis.md)",
    ),
    "boot_lid_spring": Card(
        "The spring of a boot lid", "Which gas spring makes the lid easiest to move, and where is it fixed?", "virtual work and Boyle's law"
    ),
    "press_least_torque": Card(
        "A press with a smaller motor", "How low can the peak torque be for the same stroke?", "the slope of an energy"
    ),
    "crane_hoist": Card(
        "Crane hoist", "What torque does the drum need when the hook is high?", "virtual work with tangents and arcs",
        "[belts and ropes](../how-to/belts.md)",
    ),
    "identified_five_bar": Card(
        "A five-bar weighs itself", "Which torque holds the crank, after masses and friction were measured by the motors alone?",
        "the heights of the true masses", "[identification](../how-to/identification.md)",
    ),
    "gripper_holds": Card(
        "A gripper holds", "How rough must its jaws be to hold the part?", "the balance of the part", "[contact](../how-to/contact.md)"
    ),
    "cam_lifts_off": Card(
        "A follower lifts off", "Above which speed does it leave its cam?", "the balance of the follower",
        "[contact](../how-to/contact.md)",
    ),
    "toggle_clamp": Card(
        "Toggle clamp", "How hard does it press after you let go of the handle?", "a slider-crank on paper",
        "[contact](../how-to/contact.md)",
    ),
    "geneva_wheel": Card(
        "Geneva wheel", "How far does it turn while the crank turns by 68.8 deg around the middle of an index?", "a closed form",
        "[contact](../how-to/contact.md)",
    ),
    "rimless_wheel": Card(
        "A wheel without a rim", "How fast does it turn when a spoke strikes the slope?", "the limit cycle on paper",
        "[contacts in phases](../how-to/optimal-control.md#contacts-in-phases)",
    ),
}  # fmt: skip
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


def cards(numbers: Mapping[str, str]) -> str:
    """The grid of the page: a picture that leads to the live page, the question and the number of each example."""
    parts = ['<div class="grid cards" markdown>']
    for name, (title, question, check, more) in CARDS.items():
        anchor = "".join(x for x in title.lower().replace(" ", "-") if x.isalnum() or x == "-")
        script = f"../../gallery/{name}.py"
        shown = f"**{numbers[name]}**, checked by {check}." + (f" See {more}." if more else "")
        parts += [f"- [![{title}](../images/gallery/{name}.png)]({script})", f'    <a id="{anchor}"></a>**[{title}]({script})**']
        parts += [f"    {question}", f"    {shown}"]
    return "\n\n".join([*parts, "</div>"])


def value(line: str) -> str:
    """The number and its unit in the line that a script prints."""
    return line.rpartition(": ")[0].rpartition(": ")[2].removesuffix(" (check")


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
    numbers: dict[str, str] = {}
    index = ""
    for script in SCRIPTS:
        number = ran(script, folder)
        print(f"{script.stem}: {number}", flush=True)
        numbers[script.stem] = value(number)
        index += card(script, number)
        if "--keep" in arguments:
            keep(folder / f"{script.stem}.png")
    (folder / "index.html").write_text(HEAD + index + "</main></html>\n", encoding="utf-8")
    if "--keep" in arguments:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), {"gallery": lambda: cards(numbers)}), encoding="utf-8")
    print(f"pages, pictures and their index are in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
