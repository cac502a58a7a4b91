"""Content of a file of a run: one table of columns, and the JSON that says which column is what."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.model import file as modelfile
from linkwright.model.description import Description
from linkwright.results.files import schema
from linkwright.results.files.size_limits import MOST_CHARACTERS
from linkwright.results.records import coordinate_names, cut_rows, plain
from linkwright.results.tables import Variable, variables

FORMAT, VERSION = "linkwright run", 1
KEY = "linkwright"
CHOSEN = "chosen by the user"  # what a tree says of cuts it was given


def content(c: Any, channels: Iterable[str] | None) -> tuple[dict[str, Any], dict[str, np.ndarray], list[Variable]]:
    """(what the JSON says, the columns that are the run, channels that are there to be read)."""
    table: dict[str, np.ndarray] = {"t": c.t}
    layout = _Layout(table)
    recorded = {
        name: {"dimension": x.dimension, "vector": x.values.ndim == 2, "columns": layout.add(x.values, _entries(name, x.values))}
        for name, x in c.columns.items()
    }
    names = {"q": coordinate_names(c.skel, "q_names"), "v": coordinate_names(c.skel, "v_names")}
    where: dict[str, Any] = {
        "columns": recorded,
        "q": layout.add(c.q, names["q"]),
        "v": layout.add(c.v, [f"{n}.v" for n in names["v"]]),
        "a": layout.add(c.a, [f"{n}.a" for n in names["v"]]),
        "near": layout.add(cut_rows(c.skel, c.references), _cut_names(c.skel)),
        "arrays": {name: layout.add(x, _array_names(c.skel, name, x)) for name, x in c.arrays.items()},
    }
    _check(lambda: schema.states(where, table))  # before channels are computed from them
    extras = [v for v in variables(c, channels, None) if v.name not in table and v.name != KEY]
    about = {
        "format": FORMAT,
        "version": VERSION,
        "versions": versions(),
        **_mechanism(c),
        "samples": len(c.t),
        "where": where,
        "coordinates": names,
        "units": {v.name: v.unit for v in extras},
        "settings": c.settings,
        "certificate": plain(c.certificate, "certificate"),
        "events": [[e.time, e.name, dict(e.values)] for e in c.events],
        "passages": [plain(x, "passages") for x in c.passages],
        "notes": list(c.notes),
        "full_turn": None if c.full_turn is None else bool(c.full_turn),
        "drive": c.drive,
        "origin": None if c.origin is None else c.origin.tolist(),
    }
    if bad := not_finite(table):
        about["not_finite"] = bad
    about["fingerprint"] = fingerprint(about, table)
    _check(lambda: schema.ABOUT(about, ""))
    _check(lambda: schema.need(len(json.dumps(about)) <= MOST_CHARACTERS, "its description", f"below {MOST_CHARACTERS:,} characters"))
    return about, table, extras


def _check(check: Callable[[], None]) -> None:
    """Refuse to write what could not be opened again."""
    try:
        check()
    except schema.Misfit as problem:
        raise UsageError(f"this run cannot be saved: {problem}.", name="run") from problem


def not_finite(table: Mapping[str, np.ndarray]) -> list[str]:
    """Columns with numbers that are not finite."""
    return [name for name, x in table.items() if not np.isfinite(x).all()]


class _Layout:
    """Columns of a table under names that are still free."""

    def __init__(self, table: dict[str, np.ndarray]):
        self.table = table

    def add(self, values: np.ndarray, names: list[str]) -> list[str]:
        out = []
        for name, x in zip(names, values.reshape(len(values), len(names)).T, strict=True):
            while name in self.table or name == KEY:
                name = f"{name}'"
            self.table[name] = np.ascontiguousarray(x)
            out.append(name)
        return out


def _entries(name: str, values: np.ndarray) -> list[str]:
    return [name] if values.ndim == 1 else [f"{name}[{i}]" for i in range(values.shape[1])]


def _cut_names(skel: Skeleton) -> list[str]:
    return [f"near/{name}/{i}" for name in skel.tree.cuts for i in range(len(skel.start_coordinates[name]))]


def _array_names(skel: Skeleton, name: str, values: np.ndarray) -> list[str]:
    rows = [f"lam.{loop.name}.{label}" for loop in skel.tree.loops for label in loop.labels] if name == "lam" else []
    return [rows[i] if i < len(rows) else f"{name}/{i}" for i in range(values.shape[1])]


def _mechanism(c: Any) -> dict[str, Any]:
    """The model as written where it is known, else its numbers; and how its tree was made."""
    tree = c.skel.tree
    described = None if c.system is None else c.system._core.described
    if not isinstance(described, Description) or described.numbers() != tree.description:
        described = tree.description
    return {
        "model": modelfile.write(described),
        "parameters": {name: value for name, value in tree.description.parameters if isinstance(value, (int, float))},
        "cuts": list(tree.cuts),
        "cuts_given": tree.reason == CHOSEN,
        "length": float(c.frame.kappa),
        "drives": list(c.drives),
    }


def versions() -> dict[str, str]:
    """Versions that a result was made with."""
    own = import_module("linkwright").__version__
    return {"linkwright": own, "numpy": np.__version__, "python": platform.python_version(), "platform": platform.platform()}


def fingerprint(about: Mapping[str, Any], table: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps({k: x for k, x in about.items() if k != "fingerprint"}, sort_keys=True).encode())
    for name, values in table.items():
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    return digest.hexdigest()


def identical(one: Any, other: Any) -> bool:
    """True if two trajectories hold the same bits, texts and mechanism."""
    if list(one.columns) != list(other.columns) or list(one.arrays) != list(other.arrays):
        return False
    bits, texts = [], []
    for c in (one, other):
        blocks = [
            c.t,
            c.q,
            c.v,
            c.a,
            c._counted_from,
            cut_rows(c.skel, c.references),
            *(x.values for x in c.columns.values()),
            *c.arrays.values(),
        ]
        bits.append([(x.shape, np.ascontiguousarray(x).tobytes()) for x in blocks])
        proof = [plain(c.certificate), [plain(x) for x in c.passages]]
        facts = [c.settings, proof, c.events, list(c.notes), c.full_turn, c.drive, c.skel.tree.cuts]
        texts.append(repr([facts, [x.dimension for x in c.columns.values()]]))
    return bits[0] == bits[1] and texts[0] == texts[1] and one.skel.tree.description == other.skel.tree.description
