"""Sound model files: built-in models, examples of the docs, and two with what these lack; also the files that they name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from linkwright.model import library
from linkwright.model.library.file_lookup import model_file
from tests import ROOT
from tests.fuzz.changes.trees import read_tree

FENCED = re.compile(r"```yaml[^\n]*\n(.*?)```", re.DOTALL)
PAGES = (
    "reference/model-file.md",
    "start/first-mechanism.md",
    "how-to/cams.md",
    "reference/drives.md",
    "how-to/belts.md",
    "how-to/motors.md",
    "tutorials/wanted-motion.md",
    "how-to/recipes.md",
    "how-to/assembly-modes.md",
)
BARS = """\
name: bars
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
parameters: {L: 300, k: 2 N/mm, half: L / 2}
drawing: {A: [0, 0], B: [half, 260], C: [905, 750], D: [1000, 0], P: [600, 760]}
bodies:
  ground: {pins: [A, D]}
  crank: {pins: [A, B], mass: 0.3}
  coupler: {pins: [B, C], points: [P], mass: 0.9}
  rocker: {pins: [D, C], mass: 0.8, com: [950, 380], inertia: 0.04 kg m^2}
springs: {s: {between: [ground.A, coupler.P], stiffness: k, free_length: 500}}
dampers: {d: {between: [ground.D, coupler.P], damping: 20 N s/m}}
loads: {w: {on: coupler.P, force: [0, -20 N]}}
friction: {C: {viscous: 0.1 N m s/rad}}
stops: {D: {range: [-170, 170], stiffness: 50 N m/rad}}
drive: {A: 45 rpm}
start: {A: 10}
"""
SLIDER = """\
name: pump
plane: xy
units: [mm, kg, deg, rpm]
drawing: {A: [0, 0], B: [30, 40], C: [180, 0]}
bodies:
  ground: {pins: [A]}
  crank: {pins: [A, B], mass: 0.2}
  rod: {pins: [B, C], mass: 0.3}
  piston: {pins: [C], mass: 0.5}
joints:
  guide: {type: prismatic, between: [ground, piston], at: C, axis: [1, 0]}
loads: {gas: {on: piston.C, force: [-200 N, 0]}}
drive: {A: 60 rpm}
"""
TABLE = "angle [deg];lift [mm]\n0;0\n60;5\n120;20\n180;40\n240;20\n300;5\n360;0\n"
STL = (
    "solid t\n"
    + "".join(
        f"facet normal 0 0 0\nouter loop\nvertex {a}\nvertex {b}\nvertex {c}\nendloop\nendfacet\n"
        for a, b, c in (("0 0 0", "0 1 0", "1 0 0"), ("0 0 0", "1 0 0", "0 0 1"), ("0 0 0", "0 0 1", "0 1 0"), ("1 0 0", "0 1 0", "0 0 1"))
    )
    + "endsolid t\n"
)
BESIDE = {"cam.csv": TABLE.encode(), "part.stl": STL.encode()}  # files that models may name


@cache
def texts() -> tuple[str, ...]:
    """All sound model files; also examples that are a part of one."""
    shipped = [model_file(n).read_text(encoding="utf-8") for n in library.names()]
    docs = [text for page in PAGES for text in FENCED.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))]
    data = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests" / "data").glob("*.yaml"))]
    starts = [p.read_text(encoding="utf-8") for p in sorted(Path(library.__file__).parents[2].glob("rings/cli/**/*.yaml"))]
    return (*shipped, *docs, *data, *starts, BARS, SLIDER)


@cache
def small_texts() -> tuple[str, ...]:
    """Those of which many can be used in a short time."""
    return tuple(t for t in texts() if len(t) < 2500)


@cache
def trees() -> tuple[Any, ...]:
    return tuple(map(read_tree, texts()))
