"""<include> of local SDF files: the model found by its URI, put in the place of the element, with name and pose of the including file."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from linkwright.api import ModelError, Source, spatial
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import inverse
from linkwright.rings.exchange.reading.referenced_files import MORE, Folders
from linkwright.rings.exchange.reading.safe_xml import MOST_BYTES, XmlElement, read_xml
from linkwright.rings.exchange.reading.sdf.frames import PoseGraph
from linkwright.rings.exchange.reading.sdf.scopes import MODEL, Scope, find, scope_of
from linkwright.rings.exchange.reading.sdf.tags import PLACES
from linkwright.rings.exchange.reading.tags import check_tags

CONFIG, DEFAULT = "model.config", "model.sdf"
UNUSED = ("light", "actor")
PLACED = ("link", "frame", "model")


class Includer:
    """Included files of one model; a file that includes itself is refused."""

    def __init__(self, folders: Folders, path: Path, notes: ImportNotes):
        self.folders, self.notes = folders, notes
        self.opened = (Path(os.path.realpath(path)),)
        self.size = 0  # bytes of all files that were included

    def expanded(self, element: XmlElement, folders: Folders | None = None, opened: tuple[Path, ...] | None = None) -> XmlElement:
        """An element with all includes in it replaced by what they include."""
        folders, opened = folders or self.folders, opened or self.opened
        out: list[XmlElement] = []
        for x in element:
            if x.tag == "include":
                out += self._included(x, folders, opened)
            elif x.tag in ("world", "model"):
                out.append(self.expanded(x, folders, opened))
            else:
                out.append(x)
        return replace(element, children=tuple(out))

    def _included(self, include: XmlElement, folders: Folders, opened: tuple[Path, ...]) -> list[XmlElement]:
        uri = include.need("uri").text.strip()
        found = self._file(include, uri, folders)
        if found is None:
            raise include.error(f"'{uri}' is not read: {folders.find(uri)[1]}. {MORE}.", name=uri)
        if found in opened:
            raise include.error(f"'{uri}' includes itself, by way of {found.name}.", name=uri)
        self.size += found.stat().st_size
        deepest = 20  # includes inside includes
        if len(opened) >= deepest or self.size > MOST_BYTES:
            most = f"{deepest} deep, or bring more than {MOST_BYTES / 1e6:g} MB"
            raise include.error(f"includes nest more than {most}. Such a file is not read.", name="include")
        root = read_xml(found, ("sdf",))
        check_tags(root, PLACES, self.notes)
        models = root.all("model")
        if not models and root.all(*UNUSED):
            return []  # noted with the tags of the file
        if len(models) != 1:
            raise ModelError(f"an included file has one <model>, not {len(models)}.", Source(str(found), root.where.line))
        model = self.expanded(models[0], folders.beside(found), (*opened, found))
        model = _configured(model, include)
        merge = include.get("merge", "false")
        return _merged(model, include) if include.flag(merge, "merge") else [model]

    def _file(self, include: XmlElement, uri: str, folders: Folders) -> Path | None:
        file, _ = folders.find(uri)
        if file is not None:
            return file
        folder = folders.folder(uri)
        if folder is None:
            return None
        within = replace(folders, own=folder)
        config = folder / CONFIG
        names = []
        if config.is_file():
            root = read_xml(config, ("model",))
            names = [x.text.strip() for x in sorted(root.all("sdf"), key=_version, reverse=True)]
        for name in (*names, DEFAULT):
            found, _ = within.find(name)
            if found is not None:
                return found
        return None


def _version(element: XmlElement) -> tuple[int, ...]:
    return tuple(int(x) for x in re.findall(r"\d+", element.get("version", "0"))) or (0,)


def _configured(model: XmlElement, include: XmlElement) -> XmlElement:
    """The included model with the name, pose, static and placement frame that the include gives."""
    attributes = dict(model.attributes)
    name = include.one("name")
    if name is not None and name.text.strip():
        attributes["name"] = name.text.strip()
    given = [x for tag in ("pose", "static") for x in include.all(tag)]
    placement = include.one("placement_frame")
    if placement is not None:
        attributes["placement_frame"] = placement.text.strip()
    children = tuple(x for x in model if x.tag not in {y.tag for y in given})
    return replace(model, attributes=attributes, children=(*given, *children))


def _merged(model: XmlElement, include: XmlElement) -> list[XmlElement]:
    """The contents of a model for the including one: a frame takes the place of the model's own."""
    proxy = f"_merged_{model.attribute('name')}_{include.where.line}"
    outer = XmlElement("frame", {"name": proxy}, include.where, tuple(model.all("pose")))
    out = [outer]
    if model.get("placement_frame"):
        out = [replace(outer, attributes={"name": f"{proxy}_placed"}), _placed(model, proxy, include)]
    for x in model:
        if x.tag in ("pose", "static"):
            continue
        out.append(_renamed(_posed(x, proxy) if x.tag in PLACED else x, proxy))
    return out


def _placed(model: XmlElement, proxy: str, include: XmlElement) -> XmlElement:
    """The frame of a merged model whose placement frame is where the pose says."""
    inside = scope_of(model, "", Scope("", model))
    at = inverse(PoseGraph(inside).of(find(inside, model.get("placement_frame"), include, "placement_frame")))
    w, x, y, z = (float(v) for v in spatial.rotation_quaternion(np.array(at.rotation, float)))
    numbers = " ".join(repr(float(v)) for v in (*at.at, x, y, z, w))
    pose = XmlElement("pose", {"relative_to": f"{proxy}_placed", "rotation_format": "quat_xyzw"}, include.where, (), numbers)
    return XmlElement("frame", {"name": proxy}, include.where, (pose,))


def _posed(element: XmlElement, proxy: str) -> XmlElement:
    """A link, frame or model whose pose counts from the frame, where it says nothing else."""
    pose = element.one("pose")
    if element.tag == "frame" and element.get("attached_to"):
        return element
    if pose is not None and pose.get("relative_to"):
        return element
    placed = XmlElement("pose", {**(pose.attributes if pose else {}), "relative_to": proxy}, element.where, (), pose.text if pose else "")
    return replace(element, children=(placed, *(x for x in element if x.tag != "pose")))


def _renamed(element: XmlElement, proxy: str) -> XmlElement:
    """An element in which the model's own frame is called by its new name; models inside have frames of their own."""
    naming = ("relative_to", "attached_to", "expressed_in")
    attributes = {k: proxy if v == MODEL and k in naming else v for k, v in element.attributes.items()}
    children = tuple(_renamed(x, proxy) if element.tag != "model" or x.tag == "pose" else x for x in element)
    text = proxy if element.tag in ("parent", "child") and element.text.strip() == MODEL else element.text
    return replace(element, attributes=attributes, children=children, text=text)
