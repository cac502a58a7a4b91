"""Draw the pictures of the how-to pages on simulation, robots and control again: a certificate, an ankle, two elbows, a controlled joint.

python docs/make/make_howto_pictures.py [certificate ankle elbows control]
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import linkwright as lw

IMAGES = Path(__file__).resolve().parents[1] / "images"
INK, GRAY, PALE = "#111827", "#6b7280", "#d1d5db"
RED, BLUE, GREEN, PURPLE = "#c2410c", "#1d4ed8", "#15803d", "#7c3aed"


def saved(fig: Any, name: str) -> None:
    """Write the picture with a palette: flat drawings need few colors."""
    import matplotlib.pyplot as plt
    from PIL import Image

    path = IMAGES / f"{name}.png"
    fig.savefig(path, facecolor="white")
    plt.close(fig)
    with Image.open(path) as drawn:
        drawn.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, "PNG", optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB")


# ---------------------------------------------------------------- a certificate

CALLS = {  # first word of a line -> what it shows; other lines are left out
    "passed:": "verdict, estimated error",
    "loops": "largest gap, limit 1e-9",
    "energy": "balance, limit 1e-6",
    "branch": "branch at start and end",
    "error": "from a second, looser run",
    "steps": "accepted and rejected steps",
    "singularity": "distance from singular positions",
    "growth": "sensitivity to the start",
}
COLUMNS, INDENT = 61, 14  # characters of a printed line, and before its text
LETTER, LINE = 0.092, 0.27  # inches


def certificate() -> None:
    """A printed certificate; labels at the right explain its lines."""
    import matplotlib.pyplot as plt

    s = lw.compile("carpet-scraper")
    text = str(s.simulate(s.assemble(v={"J1": 4.7}), 5).certificate).splitlines()
    rows: list[tuple[str, str]] = []  # word that begins the line, printed text
    for line in text:
        word, _, rest = line.strip().partition(" ")
        if word in CALLS:
            head = f"  {word:<{INDENT - 2}}" if line.startswith(" ") else f"{word} "
            first, *more = textwrap.wrap(rest.strip(), COLUMNS, initial_indent=head, subsequent_indent=" " * INDENT)
            rows += [(word, first), *(("", x) for x in more)]
    wide, high = 9.0, LINE * len(rows) + 0.2
    fig = plt.figure(figsize=(wide, high), dpi=110)
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, wide), ylim=(-high + 0.1, 0.1))
    ax.axis("off")
    for k, (word, line) in enumerate(rows):
        y = -(k + 0.5) * LINE
        ax.text(0.1, y, line, family="monospace", fontsize=10.8, va="center", color=INK)
        if word:
            ax.annotate(
                CALLS[word], (0.2 + LETTER * len(line), y), (6.1, y), fontsize=12, va="center", color=BLUE,
                arrowprops={"arrowstyle": "-", "color": PALE, "lw": 1.2, "shrinkB": 4},
            )  # fmt: skip
    saved(fig, "certificate")


# ---------------------------------------------------------------- bars between points


def bar(ax: Any, points: Sequence[Any], color: str, width: float = 7, alpha: float = 1.0) -> None:
    ax.plot(*np.transpose(points), color=color, lw=width, solid_capstyle="round", zorder=2, alpha=alpha)


def pin(ax: Any, at: Any, name: str = "", offset: tuple[float, float] = (9, 5), alpha: float = 1.0) -> None:
    ax.plot(*at, "o", ms=10, mfc="white", mec=INK, mew=2, zorder=3, alpha=alpha)
    ax.annotate(name, at, offset, textcoords="offset points", fontsize=13, weight="bold", alpha=alpha)


def label(ax: Any, text: str, at: Any, there: tuple[float, float], color: str = INK) -> None:
    ax.annotate(
        text, at, there, fontsize=11, va="center", ha="center", color=color, linespacing=1.4, zorder=4,
        arrowprops={"arrowstyle": "-", "color": "#9ca3af", "lw": 1.0, "shrinkB": 7},
        bbox={"boxstyle": "round,pad=0.35", "fc": "white", "ec": PALE},
    )  # fmt: skip


# ---------------------------------------------------------------- the ankle


def ankle() -> None:
    """The ankle seen obliquely: motors at the cranks, joints at the cross."""
    import matplotlib.pyplot as plt

    s = lw.load("ankle").system
    st = s.start

    def at(name: str) -> Any:
        x, y, z = 1000 * s.point(st, name)
        return np.array([x - 0.55 * y, z + 0.35 * y])

    fig, ax = plt.subplots(figsize=(8.2, 6.2), dpi=110)
    for k in (2, 1):
        ax.plot(*np.transpose([at("ground.P"), at(f"ground.C{k}")]), color=GRAY, lw=3, ls=(0, (3, 2)), zorder=1)
        bar(ax, [at(f"crank{k}.C{k}"), at(f"crank{k}.R{k}")], RED)
        bar(ax, [at(f"rod{k}.R{k}"), at(f"rod{k}.S{k}")], PURPLE if k == 1 else BLUE)
    for names in (("P", "S1", "S2"), ("P", "T", "H")):
        outline = np.transpose([at(f"foot.{x}") for x in (*names, names[0])])
        ax.fill(*outline, color=GREEN, alpha=0.15, zorder=1)
        ax.plot(*outline, color=GREEN, lw=3, zorder=2)
    for name in ("crank1.C1", "crank2.C2", "crank1.R1", "crank2.R2", "foot.S1", "foot.S2", "ground.P"):
        pin(ax, at(name))
    label(ax, "motor left", at("ground.C1"), (110, 235), RED)
    label(ax, "motor right", at("ground.C2"), (140, 300), RED)
    label(ax, "cranks", (at("crank2.C2") + at("crank2.R2")) / 2, (-30, 325), RED)
    label(ax, "pushrods: universal joint above,\nball joint below", 0.6 * at("rod2.R2") + 0.4 * at("rod2.S2"), (-178, 210))
    label(ax, "joints pitch and roll", at("ground.P"), (130, 40), GREEN)
    label(ax, "foot", (at("foot.P") + at("foot.T")) / 2, (140, -20), GREEN)
    label(ax, "shank (ground)", 0.5 * at("ground.C1") + 0.5 * at("ground.P"), (125, 130), GRAY)
    ax.set(xlim=(-262, 195), ylim=(-85, 340), aspect="equal")
    ax.axis("off")
    fig.tight_layout(pad=0.2)
    saved(fig, "ankle")


# ---------------------------------------------------------------- two elbows


def elbows() -> None:
    """Both assembly modes of the five-bar at the same cranks."""
    import matplotlib.pyplot as plt

    s = lw.compile("five-bar")
    found = s.branches()
    fig, axes = plt.subplots(1, 2, figsize=(9.2, 4.9), dpi=110, sharex=True, sharey=True)
    for i, ax in enumerate(axes):
        st = found[i]
        at = {x.split(".")[1]: 1000 * s.point(st, x)[:2] for x in ("ground.A", "left.B", "left_rod.C", "right.D", "ground.E")}
        bar(ax, [at["A"], at["B"]], RED)
        bar(ax, [at["E"], at["D"]], RED)
        bar(ax, [at["B"], at["C"]], BLUE)
        bar(ax, [at["D"], at["C"]], GREEN)
        for name, where in at.items():
            pin(ax, where, name, (12, 0) if name in "AE" else (10, 4))
        for x in "AE":
            ax.plot(at[x][0] + np.array([-25, 25]), [-20, -20], color=GRAY, lw=2)
            ax.plot(at[x][0] + np.array([-11, 0, 11]), [-20, 0, -20], color=GRAY, lw=2)
        sign = "+" if found.signs[i] > 0 else "-"
        ax.set_title(f"mode {i}, sign {sign}", fontsize=13)
        ax.set(xlim=(-70, 270), ylim=(-140, 300), aspect="equal")
        ax.axis("off")
    fig.text(0.5, 0.03, "same crank angles, two positions of C", ha="center", fontsize=12, color=GRAY)
    fig.tight_layout(pad=0.4)
    saved(fig, "elbows")


# ---------------------------------------------------------------- a controlled joint


def control() -> None:
    """Reference and position, error and torque of the first block of docs/how-to/controllers.md."""
    import re

    import matplotlib.pyplot as plt

    page = (IMAGES.parent / "how-to" / "controllers.md").read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    exec(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0], found)
    run, soft = found["run"], found["soft"]
    fig, axes = plt.subplots(3, 1, figsize=(8.2, 6.4), dpi=110, sharex=True)
    reference = np.degrees(run["control.A.reference"])
    for ax, name, values in (
        (axes[0], "angle A [deg]", lambda r: np.degrees(r["A"])),
        (axes[1], "error [deg]", lambda r: np.degrees(r["control.A.error"])),
        (axes[2], "torque at A [N m]", lambda r: r["A.torque"]),
    ):
        ax.plot(run.t, values(run), color=BLUE, lw=2, label="computed torque")
        ax.plot(soft.t, values(soft), color=RED, lw=2, label="PD")
        ax.set_ylabel(name, fontsize=11)
        ax.grid(color="#e5e7eb")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].plot(run.t, reference, color=INK, lw=1.6, ls=(0, (4, 3)), label="reference")
    axes[0].legend(frameon=False, fontsize=11, loc="lower right")
    axes[-1].set_xlabel("t [s]", fontsize=11)
    fig.align_ylabels(axes)
    fig.tight_layout(pad=0.5)
    saved(fig, "control")


DRAWN = {"certificate": certificate, "ankle": ankle, "elbows": elbows, "control": control}


def main(names: Sequence[str]) -> None:
    for name in names or DRAWN:
        DRAWN[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
