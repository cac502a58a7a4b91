"""MJCF as one text for MuJoCo's compiler, written from elements that were read safely: it opens no file itself.

Includes are put in place inside the folders that may be read. Sections without a counterpart (sensors, cameras, textures, contacts that
nobody asks for) are taken out and counted, so that nothing of them is loaded. The text has one start tag a line: `places` says from which
line of which file it came.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

from linkwright.api import ModelError, Source
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.referenced_files import MORE, Folders
from linkwright.rings.exchange.reading.safe_xml import MOST_ELEMENTS, XmlElement, read_xml

ROOTS = ("mujoco", "mujocoinclude")
DEEPEST = 20  # includes in each other
MOST_COPIES = 100_000  # by replicate and composite, multiplied
COUNTED = {  # elements that have no counterpart: section or tag -> what the report calls one
    "camera": "camera", "light": "light", "flexcomp": "flexible part", "skin": "skin", "hfield": "height field", "plugin": "plugin",
    "muscle": "muscle", "flex": "flexible part", "flexvert": "flexible part", "flexstrain": "flexible part",
}  # fmt: skip
SECTIONS = {"sensor": "sensor", "contact": "contact pair", "deformable": "flexible part", "extension": "plugin"}
SILENT = ("visual", "statistic", "size", "custom", "texture", "layer")  # about the program or its pictures
MOST_BODIES = 1_000  # with all copies: they take some 10 s to be read
NOT_FINITE = re.compile(r"[-+]?(nan|inf|infinity)\Z", re.IGNORECASE)
NAMING = (  # attributes that are names, which may be called nan
    "name", "class", "childclass", "model", "prefix", "file", "mesh", "material", "texture", "hfield", "joint", "joint1", "joint2", "body",
    "body1", "body2", "site", "site1", "site2", "geom", "geom1", "geom2", "tendon", "tendon1", "tendon2", "target", "refsite", "key",
    "jointinparent", "cranksite", "slidersite", "sidesite", "objname", "actuator",
)  # fmt: skip
FOLDERS_OF_ASSETS = ("meshdir", "texturedir", "assetdir", "strippath", "fusestatic", "discardvisual")


@dataclass(frozen=True)
class MeshFile:
    """A mesh as a file names it: `path` from the folder of the model, with its meshdir, or `name` beside the file that names it."""

    path: str
    name: str
    folders: Folders
    where: Source

    def find(self) -> tuple[Path | None, str]:
        """The file, or None with the reason."""
        found, why = self.folders.find(self.path)
        if found is None:
            found, _ = self.folders.beside(Path(os.path.realpath(self.where.file))).find(self.name)
        return found, why


@dataclass
class MjcfText:
    """The text, the place of each of its lines, meshes and texts of attached models by the names they are handed over with."""

    lines: list[str] = field(default_factory=list)
    places: list[Source] = field(default_factory=list)
    meshes: dict[str, MeshFile] = field(default_factory=dict)  # by name in the text
    models: dict[str, bytes] = field(default_factory=dict)
    with_contacts: bool = False  # the section contact is kept
    without_controls: bool = False  # actuators were taken out: sizes of ctrl and act in keyframes do not fit

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def place(self, line: int) -> Source:
        """The place of a line, counted from 1."""
        return self.places[line - 1] if 0 < line <= len(self.places) else Source(self.places[0].file if self.places else "")


def read_text(path: str | os.PathLike[str], folders: Folders, notes: ImportNotes, *, contacts: bool = False) -> MjcfText:
    """Read a file with everything it includes, with the section contact if asked for."""
    root = read_xml(path, ROOTS)
    out = MjcfText(with_contacts=contacts)
    _TextWriter(folders, notes, out).root(_included(root, folders, notes, (Path(os.path.realpath(path)),), [0]))
    return out


# -------------------------------------------------------------------- includes


def _included(element: XmlElement, folders: Folders, notes: ImportNotes, chain: tuple[Path, ...], count: list[int]) -> XmlElement:
    """An element with the content of included files in place of `include`."""
    count[0] += 1
    if count[0] > MOST_ELEMENTS:
        raise element.error(f"with its includes the model has more than {MOST_ELEMENTS} elements. A model of that size is not read.")
    children: list[XmlElement] = []
    for child in element.children:
        if child.tag == "include":
            children += _content(child, folders, notes, chain, count)
        else:
            children.append(_included(child, folders, notes, chain, count))
    return replace(element, children=tuple(children))


def _content(include: XmlElement, folders: Folders, notes: ImportNotes, chain: tuple[Path, ...], count: list[int]) -> Iterator[XmlElement]:
    name = include.attribute("file")
    path, why = folders.find(name)
    if path is None:
        path, _ = folders.beside(chain[-1]).find(name)
    if path is None:
        raise include.error(f"'{name}' is not read: {why}. {MORE}.", name=name)
    if path in chain:
        raise include.error(f"'{name}' includes itself, by way of {', '.join(p.name for p in chain[chain.index(path) :])}.", name=name)
    if len(chain) >= DEEPEST:
        raise include.error(f"includes nest more than {DEEPEST} deep. Such a model is not read.", name="include")
    found = read_xml(path, ROOTS)
    yield from _included(found, folders, notes, (*chain, path), count).children


# -------------------------------------------------------------------- one text


class _TextWriter:
    """Writes elements one a line, without what has no counterpart."""

    def __init__(self, folders: Folders, notes: ImportNotes, out: MjcfText):
        self.folders, self.notes, self.out = folders, notes, out
        self.meshdir, self.strip = "", False
        self.parent = [""]
        self.copies, self.bodies = [1], 0
        self.without: set[str] = set()  # geoms that are taken out

    def root(self, root: XmlElement) -> None:
        for compiler in root.all("compiler"):
            self.meshdir = compiler.get("meshdir") or compiler.get("assetdir") or self.meshdir
            self.strip = compiler.get("strippath", "false") == "true" or self.strip
        self.without = {x.get("name") for x in _geoms(root) if _is_field(x)}
        muscles = [e for section in root.all("actuator") for e in section if e.tag in COUNTED]
        self.out.without_controls = self.out.without_controls or bool(muscles)
        attributes = {k: v for k, v in root.attributes.items() if k == "model"}
        self._open(replace(root, tag="mujoco", attributes=attributes))
        self._line('<compiler><lengthrange mode="none"/></compiler>', root.where)
        for child in root.children:
            self.element(child)
        self._line("</mujoco>", root.where)

    def element(self, e: XmlElement) -> None:
        top = len(self.parent) == 1
        if top and e.tag in SECTIONS and not (e.tag == "contact" and self.out.with_contacts):
            for _ in e.children:
                self.notes.drop(SECTIONS[e.tag])
            return
        if e.tag in SILENT or (e.tag in COUNTED and "default" not in self.parent):
            if e.tag in COUNTED:
                self.notes.drop(COUNTED[e.tag], e.get("name"))
            return
        if _is_field(e):
            if e.get("type") == "sdf":  # height fields are counted as assets
                self.notes.drop("signed distance field")
            return
        if e.tag == "pair" and {e.get("geom1"), e.get("geom2")} & self.without:
            self.notes.drop("contact pair", mechanism=True)
            return
        self.copies.append(self.copies[-1] * _copies(e))
        if self.copies[-1] > MOST_COPIES:
            raise e.error(f"it makes more than {MOST_COPIES} copies. A model of that size is not read.")
        self.bodies += self.copies[-1] if e.tag in ("body", "composite") else 0
        if self.bodies > MOST_BODIES:
            raise e.error(f"with its copies the model has {self.bodies} bodies or more. At most {MOST_BODIES} are read.")
        _finite(e)
        e = self._changed(e)
        if not e.children:
            self._line(_tag(e, "/>"), e.where)
        else:
            self._open(e)
            self.parent.append(e.tag)
            for child in e.children:
                self.element(child)
            self.parent.pop()
            self._line(f"</{e.tag}>", e.where)
        self.copies.pop()

    def _changed(self, e: XmlElement) -> XmlElement:
        """An element whose files are named as the assets that are handed over."""
        attributes = dict(e.attributes)
        if e.tag == "compiler":
            attributes = {k: v for k, v in attributes.items() if k not in FOLDERS_OF_ASSETS}
        elif e.tag == "material":
            attributes.pop("texture", None)
        elif e.tag == "key" and self.out.without_controls:
            attributes = {k: v for k, v in attributes.items() if k not in ("ctrl", "act")}
        elif e.tag == "mesh" and self.parent[-1] == "asset":
            attributes = self._mesh(e, attributes)
        elif e.tag == "model" and self.parent[-1] == "asset":
            attributes["file"] = self._model(e)
        elif "file" in attributes:
            raise e.error("the attribute file is not allowed here. The elements include, mesh and model name files.", name="attributes")
        return replace(e, attributes=attributes)

    def _mesh(self, e: XmlElement, attributes: dict[str, str]) -> dict[str, str]:
        name = e.get("file")
        if not name:
            most = 6 if "sphere" in e.get("builtin") else 64
            if e.get("builtin") and any(abs(e.as_number(x, "params")) > most for x in e.get("params").split()):
                raise e.error(f"params: a built-in mesh of that many faces is not made. Numbers up to {most} are allowed.")
            return attributes
        stem, ending = os.path.splitext(os.path.basename(name.replace("\\", "/")))
        attributes.setdefault("name", stem)
        handed = f"mesh_{len(self.out.meshes)}{ending.lower()}"
        path = os.path.basename(name) if self.strip else name
        path = path if os.path.isabs(path) or not self.meshdir else os.path.join(self.meshdir, path)
        self.out.meshes[handed] = MeshFile(path, name, self.folders, e.where)
        attributes["file"] = handed
        return attributes

    def _model(self, e: XmlElement) -> str:
        """The text of a model that is attached, handed over as an asset."""
        name = e.attribute("file")
        path, why = self.folders.find(name)
        if path is None:
            raise e.error(f"'{name}' is not read: {why}. {MORE}.", name=name)
        if len(self.out.models) >= DEEPEST:
            raise e.error(f"more than {DEEPEST} models are attached. Such a model is not read.")
        handed = f"model_{len(self.out.models)}.xml"
        self.out.models[handed] = b""
        inner = MjcfText(meshes=self.out.meshes, models=self.out.models, with_contacts=self.out.with_contacts)
        root = _included(read_xml(path, ROOTS), self.folders, self.notes, (path,), [0])
        _TextWriter(self.folders.beside(path), self.notes, inner).root(root)
        self.out.models[handed] = inner.text.encode()
        return handed

    def _open(self, e: XmlElement) -> None:
        self._line(_tag(e, ">"), e.where)

    def _line(self, text: str, where: Source) -> None:
        self.out.lines.append(text)
        self.out.places.append(where)


def _is_field(e: XmlElement) -> bool:
    return e.tag == "geom" and bool(e.get("hfield") or e.get("type") in ("hfield", "sdf"))


def _geoms(e: XmlElement) -> Iterator[XmlElement]:
    """All geoms in an element."""
    for child in e.children:
        if child.tag == "geom":
            yield child
        yield from _geoms(child)


def _finite(e: XmlElement) -> None:
    """Raise where a number is nan or infinite, which MuJoCo lets pass or refuses without a line."""
    for name, value in e.attributes.items():
        found = () if name in NAMING else [x for x in value.split() if NOT_FINITE.match(x)]
        if found:
            raise e.error(f"{name}: '{found[0]}' is not a number. Numbers must be finite.", name=found[0])


def _tag(e: XmlElement, end: str) -> str:
    """The start tag on one line; line ends in attributes are spaces, as XML has them."""
    return "<" + " ".join([e.tag, *(f"{k}={quoteattr(' '.join(v.split()))}" for k, v in e.attributes.items())]) + end


def _copies(e: XmlElement) -> int:
    """How many copies an element makes of what is in it."""
    if e.tag not in ("replicate", "composite"):
        return 1
    out = 1
    for part in e.get("count", "1").split():
        if not part.isdigit() or len(part) > 9:
            raise ModelError(f"<{e.tag}>: count is '{e.get('count')}'; it must be whole numbers.", e.where)
        out *= max(1, int(part))
    return out
