"""Sketches of linkages, DXF and SVG, as model files: `linkwright new my.yaml --from sketch.dxf`.

    dxf.py, svg.py   a drawing as marks, strokes and labels in millimeters (`drawing_contents.py`)
    layers.py        what layers hold, by their names
    linkage.py       pins, links, ground and guides from them
    names.py        names from the file, from texts, or along the linkage
    model_text.py       the model file with comments

Nothing is guessed silently: what was inferred and what was left out is in the report and in the file. Masses are not invented.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from linkwright.api import ModelError, Source, UsageError, counted, files, modelfile, readings
from linkwright.rings.exchange.import_report import Imported, ImportReport
from linkwright.rings.exchange.reading.sketches.linkage import SketchLinkage, linkage_of, used_pins
from linkwright.rings.exchange.reading.sketches.model_text import chosen_drive, model_text
from linkwright.rings.exchange.reading.sketches.names import name_everything, usable

ENDINGS = files.SKETCHES
MOST_SENTENCES = 20  # of a list in the report and in the file
NO_MASSES = "no masses: a drawing has none. Without masses there is motion, but no torques and loads"


@dataclass(frozen=True)
class SketchModel:
    """A model file made from a sketch: its text, which can be read, and the report of what became what."""

    text: str
    report: ImportReport
    imported: Imported


def read_sketch(
    path: str | os.PathLike[str], name: str | None = None, *, gap: Any = None, unit: str | None = None, **layers: Any
) -> SketchModel:
    """Return the model of a DXF or SVG file. `layers`: `pins`, `links`, `ground`, as of the importer; `name` is that of the
    model (default: that of the file)."""
    place = Path(path)
    ending = place.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"'{files.shown(path)}' is not a sketch. Sketches end in {' or '.join(ENDINGS)}.", name=files.shown(path))
    if ending == ".dxf":
        from linkwright.rings.exchange.reading.sketches.dxf import read_dxf as read
    else:
        from linkwright.rings.exchange.reading.sketches.svg import read_svg as read
    sketch = read(path, unit)
    if not sketch.size > 0.0:
        raise ModelError("everything in the drawing is at one point.", Source(sketch.file))
    out = linkage_of(sketch, tolerance=_length(gap), **layers)
    name_everything(out)
    out.inferred, out.dropped = _shortened(out.inferred), _shortened(out.dropped)
    text = model_text(out, name or usable(place.stem) or "sketch")
    description = modelfile.read_text(text, f"model of {place.name}")
    report = _report(out)
    return SketchModel(text, replace(report, notes=(NO_MASSES,)), Imported(description, (), report, text=files.signed(text)))


def _shortened(sentences: list[str]) -> list[str]:
    """The first sentences, and how many more there are."""
    more = len(sentences) - MOST_SENTENCES
    return sentences if more < 2 else [*sentences[:MOST_SENTENCES], f"{more} more of the kind"]


def _length(given: Any) -> float | None:
    """A gap in mm; a bare number is in mm as well."""
    from linkwright.api import KINDS

    if given is None:
        return None
    plain = isinstance(given, (int, float)) or readings.is_bare(str(given))
    value = 1e3 * modelfile.quantity(f"{given} mm" if plain else given, KINDS["length"], "gap")
    if not value > 0.0:
        raise UsageError(f"gap is a length above 0, such as 0.5 mm, not {given}.", name="gap", value=given)
    return value


def _report(out: SketchLinkage) -> ImportReport:
    """Sentences: what became what first, then what was inferred; what was left out apart."""
    used = set(used_pins(out))
    hinges = [out.pins[i].name for i in used if not out.pins[i].marked and not out.pins[i].grounded]
    marked = [out.pins[i].name for i in used if out.pins[i].marked]
    fixed = [out.pins[i].name for i in used if out.pins[i].grounded]
    became = [f"fixed pins: {', '.join(sorted(fixed)) or 'none'}", f"pins between links: {', '.join(sorted(hinges)) or 'none'}"]
    became += [f"marked points: {', '.join(sorted(marked))}"] if marked else []
    for x in out.links:
        layers = ", ".join(sorted({s.layer for s in x.strokes}))
        count = counted(len(x.strokes), "line") if len(x.strokes) > 1 else "one line" if len(x.strokes[0].vertices) == 2 else "one polyline"
        became.append(f"link {x.name}: {count} on layer '{layers}' through {', '.join(out.pins[i].name for i in x.pins)}")
    for g in out.guides:
        became.append(f"guide at {out.pins[g.pin].name}: {'a block' if g.link is None else g.link.name} slides on the ground")
    drive = chosen_drive(out)
    assumed = [] if drive is None else [f"drive at {drive.joint}, {drive.speed}: {drive.why}"]
    return ImportReport(out.sketch.file, out.sketch.format, (*became, *out.inferred, *assumed), tuple(out.dropped))


__all__ = ["ENDINGS", "SketchModel", "read_sketch"]
