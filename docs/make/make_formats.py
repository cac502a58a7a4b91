"""Writes the tables of docs/reference/formats.md again: formats from the registries, losses from exports of small models.

    python docs/make/make_formats.py

Each element of make_diagrams.py is exported to each robot format; what the LossWarning lists, or the error says, is lost. Elements of
files and what becomes of them are in docs/data/formats.csv.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from blocks import renewed, table  # beside this file
from make_diagrams import ELEMENTS, JOINTS

import linkwright as lw
from linkwright.rings.exchange import LossWarning
from linkwright.rings.exchange.formats import FORMATS
from linkwright.rings.exchange.reading.importers import IMPORTERS

DOCS = Path(__file__).resolve().parents[1]
PAGE, DATA = DOCS / "reference" / "formats.md", DOCS / "data" / "formats.csv"
ROBOTS = {"mjcf": "MJCF", "sdf": "SDF", "urdf": "URDF", "usd": "USD"}
HELD = ELEMENTS["damper"] | {"dampers": {}}
PROBES: dict[str, Mapping[str, Any]] = {
    **{name: JOINTS[name] for name in ("slider (prismatic)", "pin in a slot", "rod", "gears", "belt", "cam")},
    **ELEMENTS,
    "torsion spring": {**HELD, "springs": {"x": {"joint": "A", "stiffness": 10}}},
    "torsion bar": {**HELD, "springs": {"x": {"joint": "A", "stiffness": 10, "end_stiffness": 100, "min": -1, "max": 1}}},
    "damper in a joint": {**HELD, "dampers": {"x": {"joint": "A", "coefficient": 0.1}}},
    "friction": {**HELD, "friction": {"A": {"coulomb": 0.1, "speed": 0.01}}},
    "friction by load": {**HELD, "friction": {"A": {"mu": 0.1, "radius": 0.01}}},
    "rigid stop": {**HELD, "stops": {"A": {"range": ["0 deg", "60 deg"]}}},
    "springy stop": {**HELD, "stops": {"A": {"range": ["0 deg", "60 deg"], "stiffness": 100}}},
    "freewheel": {**HELD, "freewheels": {"x": {"joint": "A", "capacity": 10}}},
    "coupling with a ratio": {
        **JOINTS["gears"], "gears": {}, "couplings": {"x": {"from": "A", "to": "B", "ratio": 2}},
    },
    "coupling with a table": {
        **JOINTS["gears"], "gears": {}, "couplings": {"x": {"from": "A", "to": "B", "table": [[0, 0], [1, 0.5], [2, 2]]}},
    },
    "load that varies": {**HELD, "loads": {"x": {"on": "arm.B", "force": [0, "-30 N * sin(3 rad/s * t)"]}}},
    "prescribed speed": {**HELD, "drive": {"A": {"speed": 1}}},
    "torque": {**HELD, "drive": {"A": {"torque": 1}}},
    "DC motor": {**HELD, "drive": {"A": {"dc_motor": {"Kt": 0.1, "R": 1}}}},
}  # fmt: skip


def main() -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), TABLES), encoding="utf-8")


def read() -> str:
    lines = [(x.name, ", ".join(f"`{e}`" for e in x.endings), x.about, options(x.options)) for x in IMPORTERS.values()]
    return table(("format", "endings", "content", "options of `lw.load`"), lines)


def written() -> str:
    lines = [
        (f"`{x.name}`", ", ".join(f"`{e}`" for e in x.endings), x.about, options({o.keyword: o.help for o in x.options}))
        for x in FORMATS.values()
    ]
    return table(("format", "endings", "content", "options of `m.export`"), lines)


def options(found: Mapping[str, str]) -> str:
    return ", ".join(f"`{name}`" for name in found) or "-"


@cache
def losses() -> str:
    lines = [(name, *(lost(model, kind) for kind in ROBOTS)) for name, model in PROBES.items()]
    return table(("part of the model", *ROBOTS.values()), lines)


def lost(model: Mapping[str, Any], kind: str) -> str:
    """What one format leaves out of a model with one part."""
    bodies = {name: body if name == "ground" else {**body, "inertia": 0.1} for name, body in model["bodies"].items()}
    mechanism = lw.load({"plane": "xz", "name": "probe", "gravity": [0, -9.81], **model, "bodies": bodies})
    dialect = {"dialect": "urdf+"} if kind == "urdf" else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            mechanism.export(format=kind, **dialect)
        except lw.LinkwrightError:
            return "refused"
    found = [x for w in caught if isinstance(w.message, LossWarning) for x in w.message.lost]
    reasons = dict.fromkeys(re.split(r"[;:,]", x.why, maxsplit=1)[0] for x in found if x.part != "reader")
    return "held" if not reasons else f"lost: {', '.join(reasons)}"


def stored(name: str) -> str:
    """A table of docs/data/formats.csv; its first row is the heading."""
    with DATA.open(encoding="utf-8", newline="") as file:
        rows = [[x for x in row[1:] if x] for row in csv.reader(file) if row[0] == name]
    heads, *lines = rows
    return table(heads, lines)


STORED = (
    "URDF elements", "URDF dialects", "MJCF elements", "SDF elements", "USD elements", "Written to URDF and SDF", "Written to USD",
    "Written to MJCF", "FMU defaults",
)  # fmt: skip
TABLES: Mapping[str, Callable[[], str]] = {
    "read": read,
    "written": written,
    "losses": losses,
    **{name.lower().replace(" ", "-"): partial(stored, name) for name in STORED},
}

if __name__ == "__main__":
    main()
