"""DXF to a sketch, by ezdxf: circles, points, lines, polylines, arcs, curves and texts of the model space, blocks taken apart."""

from __future__ import annotations

import io
import logging
import os
import re
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from linkwright.api import LinkwrightError, ModelError, Source, UsageError, counted, files, package
from linkwright.rings.exchange.reading.sketches.drawing_contents import FINEST, Label, Mark, Sketch, Stroke, as_circle

MOST_ENTITIES = 50_000
OWN_DATA = "LINKWRIGHT"  # application whose data name the things in files that Linkwright wrote
ENTITY = re.compile(rb"\r?\n\s*0\r?\n[A-Z]")  # where an entity begins
CURVES = ("LINE", "LWPOLYLINE", "POLYLINE", "ARC", "SPLINE", "ELLIPSE")
SMOOTH = ("ARC", "SPLINE", "ELLIPSE")


def read_dxf(path: str | os.PathLike[str], unit: str | None = None) -> Sketch:
    """Return the contents of a DXF file; `unit` replaces that of the file."""
    document, repaired = _opened(path)
    name = files.shown(path)
    scale, note = _scale(document, unit)
    reader = _DxfReader(document, name, scale)
    reader.take(document.modelspace(), (), None)
    if not (reader.marks or reader.strokes):
        paper = sum(len(layout) for layout in document.layouts if layout.name != "Model")
        hint = f" Its paper space has {paper} entities, which are not read: draw in the model space." if paper else ""
        raise ModelError(f"the model space has no circles, points or lines.{hint}", Source(name), name="model space")
    layers = tuple(sorted({x.layer for x in (*reader.marks, *reader.strokes, *reader.labels)}))
    dropped = [f"{n} {kind} entit{'y' if n == 1 else 'ies'}" for kind, n in reader.skipped.items()]
    dropped += [f"{n} entit{'y' if n == 1 else 'ies'} on layer '{layer}', which is off" for layer, n in reader.hidden.items()]
    return Sketch(
        name,
        f"DXF {document.acad_release}",
        tuple(reader.marks),
        tuple(reader.strokes),
        tuple(reader.labels),
        layers,
        tuple(x for x in (note, repaired) if x),
        tuple(dropped),
    )


def _opened(path: str | os.PathLike[str]) -> tuple[Any, str]:
    """(document, what was repaired)."""
    ezdxf, recover = package("ezdxf", "cad"), package("ezdxf.recover", "cad")
    name = files.shown(path)
    most_bytes = 100_000_000
    try:
        content = files.read_regular(path, most_bytes, "a drawing of that size is not read")
    except files.Unreadable as problem:
        raise ModelError(str(problem)) from problem
    if content.startswith(b"AC10"):
        raise ModelError("the file is DWG, not DXF. Save the drawing as DXF.", Source(name))
    with _quiet():
        try:
            return ezdxf.readfile(path), ""
        except Exception:  # ezdxf ends with errors of many kinds on damaged files; the other reader decides
            try:
                document, auditor = recover.read(io.BytesIO(_ended(content)))
            except Exception as problem:
                said = " ".join(str(problem).split())[:160].rstrip(".") or type(problem).__name__
                said = f": {said}" if "<" not in said else ""  # objects of Python say nothing to people
                message = f"the file cannot be read as DXF{said}. Save it again as DXF, R2000 or newer."
                raise ModelError(message, Source(name)) from problem
    count = len(auditor.errors) + len(auditor.fixes)
    return document, f"the file was damaged and was read as far as possible ({counted(count, 'fault')}, repaired or left out)"


@contextmanager
def _quiet() -> Generator[None]:
    """Without the log of ezdxf: what it repairs is counted in the report."""
    log = logging.getLogger("ezdxf")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _ended(content: bytes) -> bytes:
    """A text whose end is missing, up to its last whole entity, with an end."""
    if content.rstrip().endswith(b"EOF") or content.startswith(b"AutoCAD Binary DXF"):
        return content
    entities = list(ENTITY.finditer(content))
    return content[: entities[-1].start()] + b"\n  0\nENDSEC\n  0\nEOF\n" if entities else content


def _scale(document: Any, unit: str | None) -> tuple[float, str]:
    """(millimeters of a unit, how it was found)."""
    from linkwright.api import KINDS, quantity

    if unit is not None:
        try:
            size = quantity(f"1 {unit}", KINDS["length"], "unit")
        except UsageError as problem:
            raise UsageError(f"unit is a length such as mm, cm, m or in, not '{unit}'.", name="unit", value=unit) from problem
        return 1e3 * size, ""
    units = package("ezdxf.units", "cad")
    code = int(document.units or 0)
    if code == 0:
        return 1.0, "the file names no unit of length. Millimeters are assumed"
    scale = float(units.conversion_factor(code, units.MM))
    return scale, f"the file's unit of length, {units.decode(code)}, is {scale:.6g} mm" if code != units.MM else ""


class _DxfReader:
    """Entities of a layout, blocks included, as marks, strokes and labels."""

    def __init__(self, document: Any, name: str, scale: float):
        self.name, self.scale = name, scale
        self.marks: list[Mark] = []
        self.strokes: list[Stroke] = []
        self.labels: list[Label] = []
        self.skipped: Counter[str] = Counter()
        self.hidden: Counter[str] = Counter()
        self.off = {x.dxf.name.lower() for x in document.layers if x.is_off() or x.is_frozen()}
        self.count = 0
        self.inserts = 0
        self.path = package("ezdxf.path", "cad")

    def take(self, entities: Any, groups: tuple[str, ...], outer: str | None) -> None:
        """Read entities; `outer` is the layer of the block's reference, which those on layer 0 take."""
        deepest = 12  # blocks in blocks
        if len(groups) > deepest:
            raise ModelError(f"blocks are nested more than {deepest} deep. Such a drawing is not read.", Source(self.name))
        for e in entities:
            self.count += 1
            if self.count > MOST_ENTITIES:
                raise ModelError(
                    f"the drawing has more than {MOST_ENTITIES:,} entities. Save the linkage alone.", Source(self.name), name="entities"
                )
            try:
                self._visible(e, groups, outer)
            except LinkwrightError:
                raise
            except Exception:  # of ezdxf, for entities whose data are damaged
                self.skipped[f"damaged {e.dxftype()[:20]}"] += 1

    def _visible(self, e: Any, groups: tuple[str, ...], outer: str | None) -> None:
        layer = outer if outer is not None and e.dxf.layer == "0" else e.dxf.layer
        if layer.lower() in self.off or e.dxf.get("invisible", 0):
            self.hidden[layer] += 1
        else:
            self._one(e, layer, groups)

    def _one(self, e: Any, layer: str, groups: tuple[str, ...]) -> None:
        kind = e.dxftype()
        if kind == "INSERT":
            self._insert(e, layer, groups)
        elif kind == "CIRCLE":
            self._mark(e.ocs().to_wcs(e.dxf.center), abs(e.dxf.radius), layer, e)
        elif kind == "POINT":
            self._mark(e.dxf.location, 0.0, layer, e)
        elif kind in CURVES:
            self._stroke(e, kind, layer, groups)
        elif kind in ("TEXT", "ATTRIB", "MTEXT"):
            self._label(e, kind, layer)
        else:
            self.skipped[kind] += 1

    def _insert(self, e: Any, layer: str, groups: tuple[str, ...]) -> None:
        for one in e.multi_insert() if e.mcount > 1 else (e,):
            self.inserts += 1
            inner = (*groups, f"{e.dxf.name}#{self.inserts}")
            self.take(self._virtual(one), inner, layer)
        for attribute in e.attribs:
            self._label(attribute, "ATTRIB", layer)

    def _virtual(self, insert: Any) -> Iterator[Any]:
        def skipped(entity: Any, _: str) -> None:
            self.skipped[entity.dxftype()] += 1

        return insert.virtual_entities(skipped_entity_callback=skipped)

    def _mark(self, at: Any, radius: float, layer: str, e: Any) -> None:
        place = self._place(at)
        if place is not None and np.isfinite(radius):
            self.marks.append(Mark(place, radius * self.scale, layer, self._own_name(e)))

    def _stroke(self, e: Any, kind: str, layer: str, groups: tuple[str, ...]) -> None:
        path = self.path.make_path(e)
        corners = self._corners(e, kind, path)
        reach = max((abs(a - b) for p in corners for a, b in zip(p, corners[0], strict=True)), default=0.0)
        points = [self._place(p) for p in path.flattening(max(FINEST * (reach or 1.0), 1e-9))]
        ends = [self._place(p) for p in corners]
        if len(points) < 2 or None in points or None in ends:
            self.skipped[kind] += 1
            return
        flat = np.array(points, dtype=float)
        closed = bool(getattr(e, "closed", False) or getattr(e, "is_closed", False)) or (
            len(flat) > 3 and bool(np.linalg.norm(flat[0] - flat[-1]) <= 1e-9 * max(float(np.ptp(flat, axis=0).max()), 1e-12))
        )
        circle = as_circle(flat) if closed and len(flat) > len(ends) else None  # drawn as two arcs
        if circle is not None:
            self.marks.append(Mark(*circle, layer, self._own_name(e)))
            return
        self.strokes.append(Stroke(flat, closed, layer, self._own_name(e), groups, np.array(ends, dtype=float)))

    def _corners(self, e: Any, kind: str, path: Any) -> list[Any]:
        """Vertices that a person set; ends of a curve."""
        return [path.start, path.end] if kind in SMOOTH else [path.start, *(c.end for c in path.commands())]

    def _label(self, e: Any, kind: str, layer: str) -> None:
        text = e.plain_text() if kind == "MTEXT" else e.dxf.text
        height = float(e.dxf.get("char_height" if kind == "MTEXT" else "height", 1.0)) * self.scale
        if kind == "MTEXT":
            column, row = (int(e.dxf.get("attachment_point", 1)) - 1) % 3, (int(e.dxf.get("attachment_point", 1)) - 1) // 3
            at, shift = e.dxf.insert, (0.35 * (1 - column), -0.5 * (1 - row))
        else:
            right = 0.35 if e.dxf.get("halign", 0) in (0, 3, 5) else 0.0
            at, shift = e.get_placement()[1], (right, 0.0 if e.dxf.get("valign", 0) else 0.5)
        place = self._place(e.ocs().to_wcs(at) if kind != "MTEXT" else at)
        line = " ".join(str(text).split())
        if place is not None and line and np.isfinite(height):
            center = place[0] + shift[0] * height * len(line), place[1] + shift[1] * height
            self.labels.append(Label(center, line, layer, height))

    def _place(self, p: Any) -> tuple[float, float] | None:
        x, y = float(p[0]) * self.scale, float(p[1]) * self.scale
        return (x, y) if np.isfinite(x) and np.isfinite(y) and max(abs(x), abs(y)) < 1e15 else None

    def _own_name(self, e: Any) -> str:
        if not e.has_xdata(OWN_DATA):
            return ""
        return next((str(tag.value) for tag in e.get_xdata(OWN_DATA) if tag.code == 1000), "")
