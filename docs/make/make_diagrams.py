"""Draws diagrams of docs/images again: the symbols of joints and elements, the cuts of the carpet scraper, gaps by stabilizer.

    python docs/make/make_diagrams.py

The symbols are drawn by the program itself, from models with one joint or one element each.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import linkwright as lw
from linkwright.rings.studio.picture import draw

IMAGES = Path(__file__).resolve().parents[1] / "images"
TILE, ACROSS = (2.0, 1.3), 5  # inches, tiles in a row
DOTS = 110  # an inch

ARM = {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1}}
PAIR = {"ground": {"points": ["O"]}, "part": {"points": ["P", "Q"], "mass": 1, "inertia": 0.1}}
TWO = {"A": [0, 0], "B": [0.8, 0.35]}
JOINTS: dict[str, dict[str, Any]] = {
    "pin (revolute)": {"drawing": TWO, "bodies": ARM},
    "slider (prismatic)": {
        "drawing": {"O": [0, 0], "P": [0.3, 0], "Q": [0.7, 0.35]}, "bodies": PAIR,
        "joints": {"s": {"type": "prismatic", "between": ["ground", "part"], "at": "P", "axis": [1, 0]}},
    },
    "pin in a slot": {
        "drawing": {"A": [0, 0], "B": [0.8, 0.35], "C": [0.5, 0.9]},
        "bodies": {**ARM, "ground": {"pins": ["A", "C"]}, "slotted": {"pins": ["C"], "points": ["B"], "mass": 1, "inertia": 1}},
        "joints": {"s": {"type": "pin_slot", "between": ["slotted", "arm"], "at": "B", "slot": [0.5, -0.9]}},
    },
    "rod": {
        "drawing": {**TWO, "C": [0.9, -0.3]}, "bodies": {**ARM, "ground": {"pins": ["A"], "points": ["C"]}},
        "rods": {"r": {"between": ["ground.C", "arm.B"]}},
    },
    "gears": {
        "drawing": {"A": [0, 0], "B": [0.8, 0]},
        "bodies": {"ground": {"pins": ["A", "B"]}, "one": {"pins": ["A"], "mass": 1}, "two": {"pins": ["B"], "mass": 1}},
        "gears": {"g": {"joints": ["A", "B"], "radii": [0.3, 0.5]}},
    },
    "rack and pinion": {
        "drawing": {"A": [0, 0], "P": [0.1, -0.3], "Q": [0.6, -0.3]},
        "bodies": {"ground": {"pins": ["A"]}, "wheel": {"pins": ["A"], "mass": 1}, "bar": {"points": ["P", "Q"], "mass": 1}},
        "joints": {"s": {"type": "prismatic", "between": ["ground", "bar"], "at": "P", "axis": [1, 0]}},
        "gears": {"g": {"pinion": "A", "rack": "s", "radius": 0.3}},
    },
    "belt": {
        "drawing": {"A": [0, 0], "B": [0.9, 0.2]},
        "bodies": {"ground": {"pins": ["A", "B"]}, "one": {"pins": ["A"], "mass": 1}, "two": {"pins": ["B"], "mass": 1}},
        "belts": {"b": {"around": [{"joint": "A", "radius": 0.2}, {"joint": "B", "radius": 0.35}]}},
    },
    "rope and pulley": {
        "drawing": {"A": [0, 0], "T": [0.8, 0.6], "W": [1.0, -0.1]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["T"]}, "drum": {"pins": ["A"], "mass": 1},
            "load": {"points": ["W"], "mass": 1, "inertia": 1},
        },
        "joints": {"s": {"type": "prismatic", "between": ["ground", "load"], "at": "W", "axis": [0, 1]}},
        "belts": {"b": {"path": [{"joint": "A", "radius": 0.2, "turn": "ccw"}, {"at": "ground.T", "radius": 0.2}, "load.W"]}},
    },
    "cam": {
        "drawing": {"A": [0, 0], "F": [0, 0.5], "R": [0, 0.36]},
        "bodies": {"ground": {"pins": ["A"]}, "disc": {"pins": ["A"], "mass": 1}, "follower": {"points": ["F", "R"], "mass": 1}},
        "joints": {"lift": {"type": "prismatic", "between": ["ground", "follower"], "at": "F", "axis": [0, 1]}},
        "cams": {"c": {
            "from": "A", "to": "lift", "base": 0.25, "roller": {"at": "follower.R", "radius": 0.08},
            "moves": [{"to": 0.12, "in": "120 deg"}, {"dwell": "60 deg"}, {"to": 0, "in": "120 deg"}, {"dwell": "60 deg"}],
        }},
    },
}  # fmt: skip
AT_B = {"between": ["ground.C", "arm.B"]}
HELD = {"drawing": {**TWO, "C": [0.75, -0.5]}, "bodies": {**ARM, "ground": {"pins": ["A"], "points": ["C"]}}}
ELEMENTS: dict[str, dict[str, Any]] = {
    "coil spring": {**HELD, "springs": {"x": {**AT_B, "stiffness": 100}}},
    "gas spring": {**HELD, "springs": {"x": {**AT_B, "force": 100, "length": 0.95, "stroke": 0.4}}},
    "damper": {**HELD, "dampers": {"x": {**AT_B, "coefficient": 10}}},
    "bushing": {**HELD, "bodies": {"ground": {"points": ["A"]}, "arm": {"points": ["A", "B"], "mass": 1}},
                "bushings": {"x": {"between": ["ground.A", "arm.A"], "stiffness": 1000}}},
    "tether": {**HELD, "tethers": {"x": {**AT_B, "stiffness": 1000}}},
    "cylinder": {**HELD, "cylinders": {"x": AT_B}},
    "load": {**HELD, "loads": {"x": {"on": "arm.B", "force": [0, -30]}}},
}  # fmt: skip


# The carpet scraper: pins with a body that has them, links, the loop that J9 closes, labels with their offsets.
PINS = {
    "O1": "crank", "A": "crank", "O2": "rocker", "B": "rocker", "S": "coupler", "O4": "arm", "P": "arm", "Q": "arm", "R": "tool",
    "T": "tool",
}  # fmt: skip
LINKS = {
    "crank": "O1 A", "rocker": "O2 B", "coupler": "A B S", "arm": "O4 P Q", "link5": "P S", "tool": "Q R T", "link7": "R S",
}  # fmt: skip
SUBSYSTEMS = {"crank": "#c2410c", "rocker coupler": "#1d4ed8", "arm link5 tool link7": "#15803d"}
CIRCUIT = "S P O4 O2 B S"
CUT = "A S"
LABELS = {
    "J1": ("O1", (-16, 6)), "J2": ("O2", (-8, -18)), "J3": ("B", (-24, 0)), "J4": ("O4", (8, 4)), "J5": ("P", (8, 4)), "J6": ("Q", (8, -4)),
    "J7": ("R", (-12, -20)), "J8": ("A", (10, -2)), "J9, J10": ("S", (-52, 8)),
}  # fmt: skip


def main() -> None:
    symbols(JOINTS, IMAGES / "symbols-joints.png")
    symbols(ELEMENTS, IMAGES / "symbols-elements.png")
    topology(IMAGES / "topology-scraper.svg")
    stabilizers(IMAGES / "stabilizers.svg")


def symbols(models: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """One tile a model with its caption, in one picture."""
    from matplotlib.font_manager import findfont
    from PIL import Image, ImageDraw, ImageFont

    wide, high = int(TILE[0] * DOTS), int(TILE[1] * DOTS)
    rows = -(-len(models) // ACROSS)
    sheet = Image.new("RGB", (wide * min(ACROSS, len(models)), (high + 30) * rows), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.truetype(findfont("DejaVu Sans"), 16)
    for k, (caption, model) in enumerate(models.items()):
        x, y = k % ACROSS * wide, k // ACROSS * (high + 30)
        out = io.BytesIO()
        figure = draw(lw.load({"plane": "xy", **model}), size=TILE, labels=False, trace=[])
        figure.savefig(out, format="png", dpi=3 * DOTS, facecolor="white")
        with Image.open(out) as drawn:
            tile = trimmed(drawn.convert("RGB"))
        scale = min((wide - 30) / tile.width, (high - 20) / tile.height)
        tile = tile.resize((int(tile.width * scale), int(tile.height * scale)), Image.Resampling.LANCZOS)
        sheet.paste(tile, (x + (wide - tile.width) // 2, y + (high - tile.height) // 2))
        pen.text((x + wide // 2, y + high + 4), caption, font=font, fill="#22303c", anchor="ma")
    sheet.quantize(64, dither=Image.Dither.NONE).save(path, "PNG", optimize=True)


def trimmed(picture: Any) -> Any:
    """The mechanism alone, without margins and without the scale, which is at the bottom with empty lines above it."""
    from PIL import Image, ImageChops

    inked = np.asarray(ImageChops.difference(picture, Image.new("RGB", picture.size, "white"))).any(axis=(1, 2))
    lines = np.flatnonzero(inked)
    gaps = np.flatnonzero(np.diff(lines) > picture.height // 30)
    last = lines[gaps[0]] + 1 if len(gaps) else lines[-1] + 1
    above = picture.crop((0, 0, picture.width, int(last)))
    return above.crop(ImageChops.difference(above, Image.new("RGB", above.size, "white")).getbbox())


def svg(figure: Any, path: Path) -> None:
    """The same file every time."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": path.stem, "svg.fonttype": "path"}):
        figure.savefig(path, metadata={"Date": None}, facecolor="white")


def topology(path: Path) -> None:
    """Joints of the tree by subsystem, cut joints, and the circuit of the loop that J9 closes."""
    from matplotlib.figure import Figure

    system = lw.compile(lw.load("carpet-scraper", cuts=["J8", "J9", "J10"]))
    state = system.assemble(q={"J1": "30 deg"})
    at = {pin: np.asarray(system.point(state, f"{body}.{pin}"))[:2] for pin, body in PINS.items()}
    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(*np.array([at[pin] for pin in CIRCUIT.split()]).T, color="#f59e0b", lw=14, alpha=0.35, solid_joinstyle="round", zorder=1)
    for k, (names, color) in enumerate(SUBSYSTEMS.items(), 1):
        for body in names.split():
            axes.plot(*np.array([at[pin] for pin in LINKS[body].split()]).T, color=color, lw=5, solid_capstyle="round", zorder=2)
        axes.plot([], [], color=color, lw=5, label=f"subsystem {k}: {names.replace(' ', ', ')}")
    for pin in PINS:
        looks = {"marker": "X", "ms": 14, "mfc": "#dc2626"} if pin in CUT.split() else {"marker": "o", "ms": 9, "mfc": "white"}
        axes.plot(*at[pin], mec="#111827", mew=1.5, zorder=3, **looks)
    for text, (pin, offset) in LABELS.items():
        axes.annotate(text, at[pin], offset, textcoords="offset points", fontsize=11, weight="bold", zorder=4)
    axes.plot([], [], "X", ms=11, mfc="#dc2626", mec="#111827", label="cut joint")
    axes.plot([], [], color="#f59e0b", lw=10, alpha=0.35, label="loop of J9")
    axes.legend(frameon=False, loc="upper left", fontsize=9, borderaxespad=0)
    axes.set_aspect("equal")
    axes.axis("off")
    svg(figure, path)


def stabilizers(path: Path) -> None:
    """Largest gap of the loops over time of a robot with motors, by stabilizer."""
    from matplotlib.figure import Figure

    system = lw.compile("3-rrr-motors")
    volts = {"A1": lw.drives.voltage("5 V"), "A2": lw.drives.voltage("-5 V"), "A3": lw.drives.voltage("5 V")}
    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    axes = figure.add_subplot()
    cases: Sequence[tuple[str, Any, str]] = (
        ("none", "none", "#c2410c"),
        ("baumgarte", lw.stabilizers.baumgarte(1, 100 * np.sqrt(2)), "#7c3aed"),
        ("post_adjust", lw.stabilizers.post_adjust(M=0.1, A=100 * 1.24**2), "#1d4ed8"),
        ("project", "project", "#15803d"),
    )
    for name, stabilizer, color in cases:
        run = system.simulate(system.start, 3, drive=volts, integrator="rk4", step=0.002, stabilizer=stabilizer)
        gaps = [max(float(np.abs(system.closure(run[k]).phi).max()), 1e-17) for k in range(0, len(run.t), 5)]
        axes.semilogy(run.t[::5], gaps, color=color, lw=1.3, label=name)
    axes.set(xlabel="time, s", ylabel="largest gap of a loop, m", xlim=(0, 3))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.16))
    svg(figure, path)


if __name__ == "__main__":
    main()
