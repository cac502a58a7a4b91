"""A USD file as a composed stage. All layers that it names are looked for in the folders that may be read, before any of them is composed.

Sizes are bounded, nothing is fetched from a network, and value clips are refused, because they name files that are opened later. What the
library prints about a file is kept for the message of an error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from linkwright.api import ModelError, Source, UsageError, files
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.referenced_files import ABSENT, Folders
from linkwright.rings.exchange.reading.usd.crate import why_damaged

MOST_BYTES = 200_000_000  # of all layers together
MOST_LAYERS = 1_000
MOST_PRIMS = 100_000
LAYERS = (".usd", ".usda", ".usdc")
LINE = re.compile(r"\S+:(\d+):\d+: ")
LIBRARY = ("Usd", "UsdGeom", "UsdPhysics", "Sdf", "Gf", "Tf", "UsdUtils")


def library(name: str) -> Any:
    """A module of the package usd-core, or a message that says how to install it."""
    try:
        return import_module(f"pxr.{name}")
    except ImportError:
        raise UsageError("reading USD needs the package usd-core: pip install 'linkwright[usd]'.", name="usd-core") from None


@dataclass(frozen=True)
class UsdStage:
    """A composed stage with its units: meters and kilograms per unit."""

    stage: Any
    path: Path
    meters: float
    kilograms: float
    up: str  # "Y" or "Z"

    @property
    def where(self) -> Source:
        return Source(files.shown(self.path))

    def error(self, message: str, prim: Any = None, **data: Any) -> ModelError:
        """An error about a prim."""
        at = f"{prim.GetPath()}: " if prim is not None else ""
        return ModelError(f"{at}{message}", self.where, **data)


def opened(path: str | os.PathLike[str], folders: Folders, notes: ImportNotes) -> UsdStage:
    """The stage of a file."""
    place = Path(path)
    layers = _layers(place, folders, notes)
    stage = library("Usd").Stage.Open(layers[0])
    if stage is None:
        raise ModelError("the file cannot be read as USD.", Source(files.shown(place)))
    for count, _ in enumerate(stage.TraverseAll()):
        if count >= MOST_PRIMS:
            raise ModelError(f"the stage has more than {MOST_PRIMS:,} prims. Split the file.", Source(files.shown(place)))
    geom, physics = library("UsdGeom"), library("UsdPhysics")
    meters, kilograms = float(geom.GetStageMetersPerUnit(stage)), float(physics.GetStageKilogramsPerUnit(stage))
    for what, value in (("metersPerUnit", meters), ("kilogramsPerUnit", kilograms)):
        if not 1e-9 < value < 1e9:
            raise ModelError(f"{what} is {value:g}. It is a positive number such as 1 or 0.01.", Source(files.shown(place)), name=what)
    return UsdStage(stage, place, meters, kilograms, str(geom.GetStageUpAxis(stage)))


def _layers(place: Path, folders: Folders, notes: ImportNotes) -> list[Any]:
    """The layer of a file and all that it names, the first one first; each read anew."""
    layer_of = library("Sdf").Layer
    waiting, found, total = [(Path(os.path.realpath(place)), place)], {}, 0
    while waiting:
        real, named = waiting.pop(0)
        if real in found:
            continue
        where = Source(files.shown(place))
        if real.suffix.lower() not in LAYERS:
            raise ModelError(
                f"it names '{files.shown(named)}', which is not a layer that is read here ({', '.join(LAYERS)}).", where, name=str(named)
            )
        if not real.is_file():
            raise ModelError(f"it names '{files.shown(named)}', which is not a regular file.", where, name=str(named))
        total += real.stat().st_size
        if total > MOST_BYTES or len(found) >= MOST_LAYERS:
            raise ModelError(
                f"the file and the layers that it names have more than {MOST_BYTES // 10**6} MB or {MOST_LAYERS} files. Take out what is "
                "only drawn, such as meshes.",
                where,
                name=str(named),
            )
        if damage := why_damaged(real):
            raise ModelError(f"'{files.shown(named)}' is damaged: {damage}.", where, name=str(named))
        layer = layer_of.FindOrOpen(str(real))
        if layer is None:
            raise ModelError(f"'{files.shown(named)}' cannot be read as USD.", where, name=str(named))
        layer.Reload(True)  # the library keeps layers, and the file may have changed
        found[real] = layer
        _refuse_clips(layer, where)
        own = Folders(real.parent, folders.allowed)
        for name in sorted(layer.GetCompositionAssetDependencies()):
            other, why = own.find(name)
            if other is not None:
                waiting.append((other, Path(name)))
            elif why == ABSENT:
                notes.warn(f"the layer '{name}' is not there, so its contents are missing")
            else:
                raise ModelError(f"it names the layer '{name}': {why}. Allow its folder by folders=[...].", where, name=name)
    return list(found.values())


def _refuse_clips(layer: Any, where: Source) -> None:
    """Raise for value clips: layers that are opened while values are read."""
    paths: list[Any] = []
    layer.Traverse("/", paths.append)
    for path in paths:
        spec = layer.GetPrimAtPath(path) if path.IsPrimPath() else None
        if spec is not None and (spec.HasInfo("clips") or spec.HasInfo("clipSets")):
            raise ModelError(f"{path}: value clips are not read. Flatten the stage without them.", where, name=str(path))


@contextmanager
def quiet(place: Path) -> Generator[None]:
    """Hold what the library prints; its errors become ours."""
    for name in LIBRARY:
        library(name)
    tf, delegate = library("Tf"), library("UsdUtils").CoalescingDiagnosticDelegate()
    try:
        yield
    except tf.ErrorException as problem:
        text = _text(problem)
        line, said = LINE.search(text), _first_sentence(text)
        number = int(line[1]) if line else 0
        raise ModelError(f"the file is not USD that can be read: {said}.", Source(files.shown(place), number)) from None
    except UnicodeDecodeError:
        raise ModelError("a name in the file is not text. The file is damaged.", Source(files.shown(place))) from None
    finally:
        delegate.TakeUncoalescedDiagnostics()


def _text(problem: Exception) -> str:
    """What the library says; of a damaged file that need not be text."""
    try:
        return str(problem)
    except UnicodeDecodeError:
        return "the file is damaged"


def _first_sentence(text: str) -> str:
    """The library's own words, without its places in its sources."""
    lines = [x.strip() for x in text.splitlines() if x.strip()]
    plain = [re.sub(r"^Error in '[^']*' at line \d+ in file \S+ : '?", "", x).rstrip("'") for x in lines]
    told = [x for x in plain if x and not x.startswith("Error in")]
    return LINE.sub("", told[0] if told else "unknown reason")[:200].rstrip(".")
