"""Writes the tables of docs/reference/channels.md again, and its picture.

    python docs/make/make_channels.py

The names come from cycles and runs of the models in channel_probes.py, whose parts are called what they are. A test holds the page
against these, and every channel of the built-in models against the patterns of the page.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from blocks import renewed, table  # beside this file
from channel_probes import PLANAR, SPATIAL

import linkwright as lw
from linkwright import joints

DOCS = Path(__file__).resolve().parents[1]
PAGE, PICTURE = DOCS / "reference" / "channels.md", DOCS / "images" / "channels.png"
HEADS = ("channel", "unit", "meaning", "exists in")
COORDINATES = {name for kind in joints.JOINTS.values() for name in kind.q_names if name} - {"quat"}
AXIS = re.compile(r"(?<=\.)([vajtw]?)[yz](?=\.|$)")
EXISTS = {  # by the motion alone, in a cycle, in a simulation
    (True, True, True): "every result",
    (False, True, True): "results with loads",
    (True, True, False): "cycles",
    (False, True, False): "cycles with loads",
    (False, False, True): "simulations",
    (True, False, True): "simulations",
}
MOTION, CYCLE, RUN = 0, 1, 2
ROWS = dict[str, tuple[list[str], list[str], set[int]]]


def main() -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), TABLES), encoding="utf-8")
    picture(PICTURE)


@cache
def patterns() -> ROWS:
    """Units, meanings and results of every pattern, in the order of the results."""
    out: ROWS = {}
    with tempfile.TemporaryDirectory() as folder:
        for text in (PLANAR, SPATIAL):
            path = Path(folder) / "probe.yaml"
            path.write_text(text, encoding="utf-8")
            mechanism = lw.load(path)
            results = [(CYCLE, mechanism.cycle(steps=12)), (RUN, mechanism.simulate(0.01))]
            if text == PLANAR:
                results.append((RUN, motor_run()))
            for k, result in results:
                for name, unit, meaning in result.channels.table().rows:
                    units, meanings, found = out.setdefault(pattern(name), ([], [], set()))
                    found.add(k)
                    if name not in result._load_channels:
                        found.add(MOTION)
                    for entry, known in ((unit or "-", units), (pattern(meaning), meanings)):
                        if entry not in known:
                            known.append(entry)
    return out


def motor_run() -> lw.Trajectory:
    """A run whose drive is a DC motor with a winding, friction and a gearbox, in a joint that sticks."""
    pins = {"JOINT1": ["ground", "BODY1"]}
    model = {
        "plane": "xy", "gravity": [0, -9.81], "drawing": {"JOINT1": [0, 0], "POINT": [0.1, 0]},
        "bodies": {"ground": {"pins": list(pins)}, "BODY1": {"pins": list(pins), "points": ["POINT"], "mass": 1}},
        "friction": {"JOINT1": {"coulomb": 0.01}},
    }  # fmt: skip
    motor = lw.drives.dc_motor(Kt=0.05, Ke=0.04, R=0.4, L=2e-4, J=2e-5, gear_ratio=50, efficiency=0.8, friction=0.01)
    return lw.load(model).simulate(0.01, drive={"JOINT1": lw.drives.voltage(5.0, motor=motor)})


def pattern(text: str) -> str:
    """A name or a meaning without the numbers of the parts; of x, y and z the first, of the coordinates of a joint their common name."""
    text = re.sub(r"\bground\.|(?<=on )ground\b(?! about)|(?<=\.on\.)ground\b", lambda m: m[0].replace("ground", "BODY"), text)
    text = re.sub(r"BODY\d*\.(?:JOINT|POINT)\d*(?!\.on)", "BODY.POINT", text)
    text = re.sub(r"\b([A-Z]{3,})\d+", r"\1", text)
    text = re.sub(r"\b[A-Z]{3,}\.POINT(?=\.on\.| on )", "ELEMENT.POINT", text)
    text = re.sub(r"(?<=lam\.)\w+(?:\.\w+)?|(?<=closed at )[\w.]+", "LOOP", text)
    text = re.sub(rf"\b(JOINT|BODY\.free)\.(?:{'|'.join(sorted(COORDINATES, key=len, reverse=True))})\b", r"\1.COORDINATE", text)
    text = re.sub(r"\bcoordinate \w+", "coordinate COORDINATE", text)
    text = re.sub(r"(span ?|tension\.)\d+", r"\1N", text)
    text = re.sub(r"^[yz] (?=of|velocity|acceleration|component)", "x ", text)
    return AXIS.sub(r"\1x", re.sub(r"\b([vw])[yz]\b", r"\1x", text))


def rows(*groups: str) -> str:
    lines = []
    for name, (units, meanings, found) in patterns().items():
        if group(name, meanings[0]) in groups:
            exists = EXISTS[MOTION in found, CYCLE in found, RUN in found]
            lines.append((f"`{name}`", ", ".join(units), joined(meanings), exists))
    return table(HEADS, lines)


def joined(meanings: list[str]) -> str:
    """Several meanings of one pattern, with what they have in common once."""
    heads, _, tail = zip(*(m.rpartition(" of ") for m in meanings), strict=True)
    alike = len(meanings) > 1 and all(heads) and len(set(tail)) == 1
    return f"{', '.join(heads)} of {tail[0]}" if alike else "; ".join(meanings)


def group(name: str, meaning: str) -> str:
    head = name.partition(".")[0]
    if "the drive at" in meaning or head == "motor":
        return "drives"
    if ".on." in name or meaning.startswith(("magnitude of the force", "magnitude of the moment", "moment in joint")):
        return "reactions"
    return {"JOINT": "joints", "BODY": "bodies"}.get(head, "elements" if head.isupper() else "whole")


@cache
def names(text: str) -> re.Pattern[str]:
    """Regular expression of the names that a pattern stands for; a pin of several bodies has an angle for each pair of them."""
    out, parts = [], text.split(".")
    for k, part in enumerate(parts):
        if part == "COORDINATE":
            out.append(f"(?:{'|'.join(sorted(COORDINATES))})")
        elif part == "BODY" and k == 0:
            out.append(r"(?P<body>\w[\w:-]*)")
        elif part == "LOOP":
            out.append(r"[\w.:-]+")
        elif re.fullmatch(r"[A-Z]{3,}", part):
            out.append(r"\w[\w:-]*")
        elif part == "N":
            out.append(r"\d+")
        elif re.fullmatch(r"[vajtw]?x", part):
            out.append(f"{part[:-1]}[xyz]")
        else:
            pairs = r"(?:[\w-]+\.)?" if part in ("transmission_angle", "pressure_angle") else ""
            out.append(pairs + re.escape(part))
    return re.compile(r"\.".join(out))


def known(name: str, bodies: Collection[str]) -> bool:
    """True if a channel has a pattern on the page: one of bodies only if it begins with a body."""
    found = [m for p in patterns() if (m := names(p).fullmatch(name))]
    return any(m.groupdict().get("body", name) in (*bodies, name) for m in found)


TABLES: Mapping = {name: (lambda name=name: rows(name)) for name in ("joints", "bodies", "drives", "reactions", "elements", "whole")}


# ---------------------------------------------------------------- the picture

LABELS = (  # channel of the wiper, meaning, where it is, where its label is
    ("A.torque", "torque of the drive", (0, 0), (-540, 180)),
    ("A.v", "angular speed", (0, 0), (-540, 40)),
    ("A.power", "power of the drive", (0, 0), (-540, -90)),
    ("crank.angle", "angle of the body", (75, 130), (-330, 335)),
    ("B.load", "force in the pin", (150, 260), (-330, 500)),
    ("coupler.angle.v", "angular speed", (470, 470), (-60, 640)),
    ("coupler.P.vx", "velocity along x", (600, 760), (40, 810)),
    ("coupler.P.speed", "magnitude of the velocity", (600, 760), (260, 960)),
    ("C.transmission_angle", "between coupler and rocker", (905, 750), (940, 930)),
    ("C.on.rocker.magnitude", "force of C on the rocker", (905, 750), (1120, 700)),
    ("rocker.angle.a", "angular acceleration", (955, 370), (1120, 400)),
    ("D.on.ground.y", "vertical force on the frame", (1000, 0), (1120, 110)),
)


def picture(path: Path) -> None:
    """A wiper with twelve channels where they are."""
    import matplotlib.pyplot as plt
    from PIL import Image

    pins = {"A": (0, 0), "B": (150, 260), "C": (905, 750), "D": (1000, 0), "P": (600, 760)}
    fig, ax = plt.subplots(figsize=(9.6, 5.2), dpi=110)
    for a, b, color in (("A", "B", "#c2410c"), ("B", "C", "#1d4ed8"), ("D", "C", "#15803d")):
        ax.plot(*zip(pins[a], pins[b], strict=True), color=color, lw=6, solid_capstyle="round", zorder=2)
    ax.fill(*zip(*(pins[n] for n in "BCP"), strict=True), color="#1d4ed8", alpha=0.12, zorder=1)
    for name, at in pins.items():
        ax.plot(*at, "o", ms=11 if name != "P" else 8, mfc="white", mec="#111827", mew=2, zorder=3)
        ax.annotate(name, at, (10, -16), textcoords="offset points", fontsize=13, weight="bold")
    for x in (0, 1000):
        ax.plot([x - 60, x + 60], [-45, -45], color="#6b7280", lw=2)
        ax.plot([x - 25, x, x + 25], [-45, 0, -45], color="#6b7280", lw=2)
    for name, meaning, at, there in LABELS:
        ax.annotate(
            f"{name}\n{meaning}", at, there, fontsize=10.5, va="center", family="monospace", linespacing=1.5,
            arrowprops={"arrowstyle": "-", "color": "#9ca3af", "lw": 1.0, "shrinkB": 7}, zorder=4,
            bbox={"boxstyle": "round,pad=0.35", "fc": "white", "ec": "#d1d5db"},
        )  # fmt: skip
    ax.set(xlim=(-560, 1560), ylim=(-130, 1010), aspect="equal")
    ax.axis("off")
    fig.tight_layout(pad=0.2)
    fig.savefig(path, facecolor="white")
    plt.close(fig)
    with Image.open(path) as drawn:
        drawn.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, "PNG", optimize=True)


if __name__ == "__main__":
    main()
