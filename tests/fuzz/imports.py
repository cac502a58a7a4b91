"""Changed files of every other kind that is read: robots, sketches, tables, meshes, saved runs, studies."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.rings.studio import live
from linkwright.rings.studio.editor.backdrop import backdrop_json
from linkwright.rings.synthesis.requests import path_points
from tests.fuzz import import_corpus, using
from tests.fuzz.changes.containers import change_archive, change_json, change_parquet
from tests.fuzz.changes.tables import change_table
from tests.fuzz.changes.texts import change_bytes, change_encoding, change_text
from tests.fuzz.changes.trees import change_tree, copied, read_tree, yaml_text
from tests.fuzz.changes.xml import change_xml
from tests.fuzz.judging import READ, USE, Finding, judge_error, judge_numbers, limited, strict
from tests.fuzz.reducing import smaller_texts

ROBOTS = ("urdf", "sdf", "mjcf", "usd")
XML = (".urdf", ".sdf", ".xml", ".svg")
# how often a kind is drawn: by how much it has to go wrong
KINDS = (
    "urdf",
    "urdf",
    "sdf",
    "sdf",
    "mjcf",
    "mjcf",
    "usd",
    "dxf",
    "svg",
    "mesh",
    "mesh",
    "run",
    "run",
    "study",
    "table",
    "wanted",
    "reference",
    "measured",
    "catalog",
)


@dataclass(frozen=True)
class ImportInput:
    """Files of one kind, the first of which is opened, and what is done with them."""

    kind: str
    files: tuple[tuple[str, bytes], ...]
    uses: tuple[str, ...]

    def shown(self) -> str:
        parts = [f"-- {name}\n{data.decode('utf-8', 'backslashreplace')[:3000]}" for name, data in self.files]
        return f"{self.kind}, then {', '.join(self.uses)}:\n" + "\n".join(parts)


class Imports:
    """The target of `python -m tests.fuzz imports`."""

    name = "imports"

    def __init__(self, kinds: tuple[str, ...] = KINDS):
        self.kinds = kinds

    def make(self, rng: random.Random) -> ImportInput:
        """Sound files, one of them with changes."""
        kind = rng.choice(self.kinds)
        sound = import_corpus.sound(kind)
        files = list(rng.choice(sound).items())
        changeable = [i for i, (name, _) in enumerate(files) if name != "model.yaml"]
        k = rng.choice(changeable)
        name, data = files[k]
        donors = [f[n] for f in sound for n in f if n.endswith(Path(name).suffix)]
        files[k] = (name, _changed(rng, name, data, donors))
        return ImportInput(kind, tuple(files), using.some_uses(rng))

    def run(self, given: ImportInput, folder: Path) -> str:
        """Open and use; return what became of it."""
        for name, data in given.files:
            path = folder / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        text = "\n".join(data.decode("utf-8", "replace") for _, data in given.files)
        opened = folder / "in" / given.files[0][0]
        with strict():
            try:
                with limited(READ + USE if given.kind in COMPUTING else READ):
                    found = READERS[given.kind](folder / "in", opened)
            except LinkwrightError as refusal:
                judge_error(refusal, text)
                return "rejected"
            with limited(USE):
                _used(given, found, folder, text)
        changed = [name for name, data in given.files if (folder / "in" / name).read_bytes() != data]
        left = {p.name for p in (folder / "in").rglob("*") if p.is_file()} - {Path(name).name for name, _ in given.files}
        if changed or left:
            raise Finding(f"files were changed or left: {changed} {sorted(left)}")
        return "accepted"

    def smaller(self, given: ImportInput) -> Iterator[ImportInput]:
        for k in range(len(given.uses)):
            yield replace(given, uses=given.uses[:k] + given.uses[k + 1 :])
        for k, (name, data) in enumerate(given.files):
            if name.endswith((*XML, ".csv", ".obj", ".gltf", ".json", ".dxf")):
                for less in smaller_texts(data):
                    yield replace(given, files=(*given.files[:k], (name, less), *given.files[k + 1 :]))


def _changed(rng: random.Random, name: str, data: bytes, donors: list[bytes]) -> bytes:
    """By structure, by text, or by bytes."""
    ending, kind = Path(name).suffix, rng.random()
    if ending in (".npz", ".parquet"):
        structured = change_archive if ending == ".npz" else change_parquet
        return structured(rng, data) if kind < 0.75 else change_bytes(rng, data)
    if ending in (".glb",) or (ending == ".stl" and b"\0" in data) or kind > 0.92:
        return change_bytes(rng, data)
    text = data.decode("utf-8", "replace")
    if kind > 0.75:
        return change_encoding(rng, change_text(rng, text))
    if ending in XML:
        return change_encoding(rng, change_xml(rng, text, [d.decode("utf-8", "replace") for d in donors]))
    if ending == ".csv":
        return change_encoding(rng, change_table(rng, text))
    if ending in (".json", ".gltf"):
        return change_json(rng, text).encode("utf-8", "replace")
    if ending in (".yaml", ".yml"):
        tree = copied(read_tree(text))
        change_tree(rng, tree, [tree])
        return change_encoding(rng, yaml_text(tree))
    for _ in range(rng.choice((1, 1, 2, 4))):
        text = change_text(rng, text)
    return change_encoding(rng, text)


@cache
def _turn(name: str) -> Any:
    return lw.load(name).cycle(steps=12)


@cache
def _mechanism(name: str) -> Any:
    return lw.load(name)


def _sketch(folder: Path, opened: Path) -> Any:
    """As a mechanism, and as a picture behind the editor's drawing."""
    try:
        backdrop_json(folder, opened.name)
    except LinkwrightError as refusal:
        judge_error(refusal, opened.read_bytes().decode("utf-8", "replace"))
    return lw.load(opened)


READERS: dict[str, Callable[[Path, Path], Any]] = {
    **dict.fromkeys(ROBOTS, lambda folder, opened: lw.load(opened)),
    "dxf": _sketch,
    "svg": _sketch,
    "mesh": lambda folder, opened: lw.load(folder / "model.yaml"),
    "table": lambda folder, opened: lw.load(folder / "model.yaml"),
    "run": lambda folder, opened: lw.load_result(opened),
    "study": lambda folder, opened: lw.load_result(folder),
    "wanted": lambda folder, opened: path_points(opened, "mm"),
    "reference": lambda folder, opened: _mechanism("wiper").follow({"A": lw.control.from_csv(opened)}, duration="0.3 s", steps=6),
    "measured": lambda folder, opened: lw.identify(_mechanism("four-bar"), opened),
    "catalog": lambda folder, opened: _turn("wiper").choose_motor(opened),
}
COMPUTING = ("run", "reference", "measured", "catalog", "study")  # reading them computes as well


def _used(given: ImportInput, found: Any, folder: Path, text: str) -> None:
    """Do with what was read what people do."""
    try:
        if given.kind == "run":
            table = found.table()
            if "nan" not in text.lower():
                judge_numbers({c.name: c.values for c in table.columns}, "saved run")
            live.text(found.system, run=found, static=found.static)
        elif given.kind == "study":
            str(found.summary())
            found.save(folder / "study.csv")
        elif given.kind in ("wanted", "measured", "catalog"):
            str(found)
        elif given.kind == "reference":
            judge_numbers({"q": found.q, "v": found.v}, "reference")
        else:
            using.use(found, given.uses, folder, text)
    except LinkwrightError as refusal:
        judge_error(refusal, text)
