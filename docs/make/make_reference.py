"""Writes small tables of the docs again that come from the program: error and warning classes, measures, kernels.

python docs/make/make_reference.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from blocks import renewed, table  # beside this file

import linkwright as lw
from linkwright.rings.exchange import LossWarning
from linkwright.rings.exchange.import_report import ImportedModelWarning
from linkwright.text import measures

DOCS = Path(__file__).resolve().parents[1]
PAGES = tuple(DOCS / name for name in ("reference/errors.md", "reference/measures.md", "explanation/native-code.md"))
WARNINGS = (ImportedModelWarning, LossWarning)
COMMON = ("name", "value", "allowed")  # of every error


def main() -> None:
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8"), TABLES), encoding="utf-8")


def errors() -> str:
    """Classes of errors: meaning and further attributes."""
    found = [kind for name in lw.__all__ if inspect.isclass(kind := getattr(lw, name)) and issubclass(kind, lw.LinkwrightError)]
    rows = [(f"`lw.{x.__name__}`", first(x), ", ".join(f"`{n}`" for n in attributes(x)) or "-") for x in found]
    return table(("class", "raised if", "attributes"), rows)


def attributes(kind: type) -> Iterator[str]:
    """Properties and annotated attributes of a class of errors."""
    for name, value in vars(kind).items():
        if isinstance(value, property) and name[0] != "_":
            yield name
    yield from (n for n in inspect.get_annotations(kind) if n[0] != "_")
    if "__init__" in vars(kind):
        yield from (n for n, p in inspect.signature(kind).parameters.items() if p.kind is p.KEYWORD_ONLY and n not in COMMON)


def first(kind: type) -> str:
    """First sentence of a docstring."""
    text = " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(".;")


def warnings() -> str:
    return table(("class", "raised if", "attributes"), [(f"`{x.__name__}`", first(x), ", ".join(given(x))) for x in WARNINGS])


def given(kind: type) -> Iterator[str]:
    """Attributes that a warning is made with."""
    return (f"`{name}`" for name in inspect.signature(kind).parameters)


REDUCTIONS = {
    "max": "largest value",
    "min": "smallest value",
    "mean": "mean over the motion",
    "rms": "root mean square",
    "peak": "largest magnitude",
    "range": "largest minus smallest value",
    "std": "standard deviation over the samples",
    "start": "first value",
    "end": "last value",
    "stroke": "range; for a point the largest distance between two positions",
    "time ratio": "duration of the slow stroke divided by the duration of the fast stroke",
    "dwell": "longest part in which the channel stays within the band",
    "straightness": "width of the narrowest strip that holds the path",
    "distance": "root mean square distance of points to the path; `max distance` is the largest",
    "time when": "first time, located between the samples",
}


def reductions() -> str:
    """Beginnings of measures with their forms and meanings."""
    return table(("form", "meaning"), [(f"`{form(name)}`", REDUCTIONS[name]) for name in measures.BEGINNINGS])


def form(name: str) -> str:
    """How a measure is written; a form that is shared begins with the first word."""
    known = measures.FORMS.get(name.split()[0], f"{name} CHANNEL")
    return next((x for x in known.split(", or ") if x.startswith(name)), f"{name} CHANNEL")


MEANINGS = {  # kernels for users; the others are parts of runs and cycles
    "forward": "accelerations and loop forces",
    "inverse": "drive torques and loop forces",
    "loads": "the same with the reaction of every joint",
    "reactions": "reactions for known accelerations and loop forces",
    "derivatives": "`forward` with its derivatives",
    "kinematics": "one Newton step, and velocities and accelerations, with given drives",
    "turn_motion": "velocities and accelerations at a closed position",
    "turn_loads": "the same with all loads",
    "jacobian": "velocities of joints and bodies per unit speed of each drive",
    "jacobian_rate": "accelerations without acceleration of the drives",
    "reduced": "equations of motion in the coordinates of the drives",
    "operational": "equations of motion of points or bodies (`tasks=`)",
    "inertia_terms": "mass matrix, Coriolis, weight and forces apart; momentum",
    "projection": "a step closer to the loops",
    "closure": "residual, Jacobian and bias of the loops",
    "terms": "all matrices of the equations of motion",
    "energy": "kinetic and potential energy",
    "poses": "rotation and position of every body",
    "points": "position and velocity of every named point",
}


def kernels() -> str:
    """Kernels with inputs and outputs, as a five-bar has them."""
    system = lw.compile("five-bar")
    lines = []
    for name, meaning in MEANINGS.items():
        made = system.kernel(name, **({"tasks": "left_rod.C"} if name == "operational" else {}))
        takes, gives = re.findall(r"\((.*?)\) -> (.*?):", repr(made))[0]
        lines.append((f"`{name}`", takes, gives if len(gives) < 60 else "a, lam, a_q, a_v, ..", meaning))
    return table(("kernel", "takes", "gives", "meaning"), lines)


TABLES: Mapping[str, Callable[[], str]] = {"errors": errors, "warnings": warnings, "reductions": reductions, "kernels": kernels}


if __name__ == "__main__":
    main()
