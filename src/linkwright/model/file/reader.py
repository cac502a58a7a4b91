"""`read`: a model file or dict becomes a `Description`; `reread` the same with other values.

The order of the sections in the file does not matter; the order of reading here does: units and
parameters first, then `repeat` is written out, then drawing, bodies, joints and what hangs on them.

A file of another program is treated as if it were a model file: its values can be changed by name, and messages name the lines of
the original.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linkwright import elements, files
from linkwright.elements import COORDINATES, GROUPS, Clearance
from linkwright.errors import LinkwrightError, ModelError, Source, UsageError
from linkwright.model.description import AS_READ, UNCHANGED, ZERO3, Description, Vec3
from linkwright.model.file.backdrop import read_backdrop
from linkwright.model.file.bodies import read_bodies, read_shapes
from linkwright.model.file.channel_laws import ChannelDimensions
from linkwright.model.file.drives import read_cuts, read_drives, read_start, with_play
from linkwright.model.file.element_forms import read_elements
from linkwright.model.file.elements import Elements
from linkwright.model.file.gearboxes import add_motors
from linkwright.model.file.joints_section import joint_places, read_joints
from linkwright.model.file.overrides import apply_overrides, changed_singly, is_single, overridden
from linkwright.model.file.reading_context import Context, read_abbreviations, read_parameters
from linkwright.model.file.repeat import expand
from linkwright.model.file.text_nodes import FileNode, from_python, from_text, text_of
from linkwright.model.file.writer import write
from linkwright.model.parameters import Parameter, need_possible_masses, single_parameters
from linkwright.model.report_block import read_report
from linkwright.numerics.memory_and_threads import Stores, all_in_use
from linkwright.text.units import ACCELERATION, LENGTH, UnitSystem

SECTIONS = {"bodies": "bodies", "joints": "joints"} | {x.section: elements.held_in(x) for x in elements.ELEMENTS}


def read_converted(made: Description, path: Path, origin: Any, /, **overrides: Any) -> Description:
    """The description again, with a document behind it; `path` is the file it was made from, `origin` goes with the document."""
    file = files.shown(path)
    root = from_text(write(made), file)
    placed = {key: _placed(node, _places(made, key), Source(file)) for key, node in (root.entries or {}).items()}
    root = replace(root, entries=placed, where=Source(file))
    return describe(Document(root, path.parent, made.name, overrides, origin=origin))


def read_made(text: str, path: Path, origin: Any, /, **overrides: Any) -> Description:
    """The description of a model file that was made from the file `path`; `origin` goes with the document."""
    where = f"model of {files.shown(path.name)}"
    return describe(Document(from_text(text, where), path.parent, path.stem, overrides, text, origin=origin))


def _places(made: Description, key: str) -> dict[str, Source]:
    """Lines of the original file by the names in a section."""
    if key == "drive":
        return {x.joint: x.where for x in made.drives if x.where}
    if key == "guess":
        return {x.name: x.where for x in made.bodies if x.where}
    return {x.name: x.where for x in getattr(made, SECTIONS[key]) if x.where} if key in SECTIONS else {}


def _placed(node: FileNode, places: Mapping[str, Source], where: Source) -> FileNode:
    entries = {name: _moved(x, places.get(name, where)) for name, x in node.entries.items()} if node.entries is not None else None
    return replace(_moved(replace(node, entries=None), where), entries=entries)


def _moved(node: FileNode, where: Source) -> FileNode:
    """A node and all in it at one place; it has no place in a text that could be edited."""
    items = None if node.items is None else tuple(_moved(x, where) for x in node.items)
    entries = None if node.entries is None else {name: _moved(x, where) for name, x in node.entries.items()}
    return replace(node, where=where, items=items, entries=entries, span=None)


KEY_GROUPS = {
    "general": ("name", "about", "report", "units", "show", "plane", "space", "gravity", "backdrop"),
    "numbers": ("parameters", "let", "repeat"),
    "links and joints": ("drawing", "bodies", "joints", "masses", "guess"),
    "constraints": GROUPS["constraints"],
    "forces": GROUPS["forces"],
    "contact": GROUPS["contact"],
    "motion": ("drive", *GROUPS["motion"], "start", "cuts"),
}
MODEL_KEYS = tuple(key for group in KEY_GROUPS.values() for key in group)
PLANES = ("xy", "xz", "yz")
LINK = ".length"  # of a link in the drawing


@dataclass(frozen=True)
class Document:
    """Source of a description: the tree as written, the folder of its files, and overrides."""

    root: FileNode
    base: Path | None  # None: no other file may be named
    name: str
    overrides: Mapping[str, Any]
    text: str | None = None  # of the file, as it was read; None of a dict
    path: Path | None = None
    origin: Any = None  # of a model made from another program's file: the report of the import
    stores: Stores = field(default_factory=dict, compare=False, repr=False)  # of all designs that this file is read as; not pickled

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "stores": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take in a pickle, also of an earlier version, which has no stores."""
        vars(self).update({"stores": {}, **state})

    def in_symbols(self) -> Description:
        """The description with the numbers of the drawing as parameters: coordinates of pins (C.x) and lengths of links (crank.length)."""
        return describe(self, in_symbols=True)

    def with_literals(self, literals: dict[int, Any]) -> Description:
        """The description with numbers of the text as variables: those that begin at these characters, which are noted there."""
        return describe(self, literals=literals)

    def named_files(self) -> list[FileNode]:
        """The places of the text that name other files."""
        found: list[FileNode] = []
        describe(self, named=found)
        return found


def read(source: str | Path | Mapping[str, Any], /, **overrides: Any) -> Description:
    """The mechanism of a model file (path) or dict; `overrides` are parameters or gravity, cuts, start, space, name.

    Bare numbers in overrides are SI and radians (for a parameter that the file gives without a
    unit: as there); texts may carry units: `read("wiper.yaml", L1="400 mm")`. Every number that has a name
    (`model.parameters`) may be overridden: `read("wiper.yaml", **{"C.x": 0.91, "crank.mass": "0.4 kg"})`.
    """
    if isinstance(source, Mapping):
        document = Document(from_python(source, "model dict"), Path(), "model", overrides)
    elif isinstance(source, (str, Path)):
        path = Path(source)
        text = text_of(path)
        stem = os.fsencode(path.stem).decode("utf-8", "replace")  # file names may be no Unicode
        document = Document(from_text(text, files.shown(path)), path.parent, stem, overrides, text, path)
    else:
        raise UsageError(f"a model is a path or a dict, not a {type(source).__name__}.")
    return describe(document)


TEXTS_KNOWN = 16
_of_texts: OrderedDict[tuple[str, str, Path | None], Description] = OrderedDict()  # the same by texts that name no other files


def as_read(description: Description) -> Description | None:
    """The mechanism as its file has it, without anything that `with_()` or a study changed; None if there is no file, or if it cannot be
    read without changes."""
    document = description.document
    if not isinstance(document, Document):
        return None
    known = AS_READ.of(document)
    if not description.leads() and UNCHANGED not in known:
        known[UNCHANGED] = _read_unchanged(document)
    return known[UNCHANGED]


def _read_unchanged(document: Document) -> Description | None:
    key = None if document.text is None else (document.text, document.name, document.base)
    if key is not None and key in _of_texts:
        return _of_texts[key]
    named: list[FileNode] = []
    try:
        found = describe(replace(document, overrides={}), named=named)
    except LinkwrightError:
        return None
    if key is not None and not named:
        _of_texts[key] = found
        while len(_of_texts) > TEXTS_KNOWN:
            _of_texts.popitem(last=False)
    return found


def read_text(text: str, file: str = "model.yaml", /, **overrides: Any) -> Description:
    """The mechanism of a YAML text; `file` is used in messages."""
    return describe(Document(from_text(text, file), Path(), Path(file).stem, overrides, text))


def read_enclosed(text: str, file: str, /) -> Description:
    """The mechanism of a YAML text that came inside another file; it may not name files itself."""
    return describe(Document(from_text(text, file), None, Path(file).stem, {}, text))


def reread(description: Description, /, **overrides: Any) -> Description:
    """The same model with more overrides; also parameters that count (`repeat`) may change."""
    document = description.document
    if not isinstance(document, Document):
        raise UsageError(
            "this description was not read from a model file or dict, so it cannot be read again with other values.", name="description"
        )
    if overrides and all(map(is_single, overrides)):
        quick = changed_singly(description, overrides)
        if quick is not None:
            return replace(quick, document=replace(document, overrides={**document.overrides, **overrides}))
    merged = {**document.overrides, **overrides}
    if "start" in overrides and isinstance(overrides["start"], Mapping) and isinstance(document.overrides.get("start"), Mapping):
        merged["start"] = {**document.overrides["start"], **overrides["start"]}
    found = describe(replace(document, overrides=merged))
    return found.ideal if description.plays else found


def redesigned(description: Description, chosen: Sequence[Parameter], values: Sequence[float]) -> Description:
    """The model as it would be written with these values: parameters and pins first, which move what follows from them, then lengths
    of links, then the others, each by the difference from its value in `description`. Raise ModelError where they are impossible."""
    pairs = list(zip(chosen, map(float, values), strict=True))
    if description.document is None:
        out = description.numbers({p.name: x for p, x in pairs if p.placed is None})
        for p, x in pairs:
            out = out if p.placed is None else p.placed(out, x - p.value)
        return need_possible_masses(out)
    links = [(p, x) for p, x in pairs if p.drawn and p.name.endswith(LINK)]
    named = {p.name: x for p, x in pairs if p.placed is None and (p, x) not in links}
    single = [(p, x) for p, x in pairs if p.placed is not None]
    out = reread(description, **named) if named else description
    if links:
        drawn = out.drawn_numbers
        out = reread(out, **{p.name: drawn[p.name] + (x - p.value) for p, x in links})
    if single:
        here = single_parameters(out)
        out = reread(out, **{p.name: here[p.name].value + (x - p.value) for p, x in single})
    return out


@all_in_use()
def describe(
    document: Document, in_symbols: bool = False, literals: dict[int, Any] | None = None, named: list[FileNode] | None = None
) -> Description:
    """The mechanism of a document; `named` gets the places that name other files."""
    try:
        return _read_sections(document, in_symbols, literals, [] if named is None else named)
    except RecursionError as error:
        raise ModelError("the expressions of the model nest too deeply. Split them into parameters.", document.root.where) from error


def _read_sections(document: Document, in_symbols: bool, literals: dict[int, Any] | None, named: list[FileNode]) -> Description:
    keys = dict(document.root.keys("the model", KEY_GROUPS))
    values, single = apply_overrides(keys, document.overrides)
    plane, space = _plane(keys)
    units, shown = _units(keys)
    context = Context(units, document.base, plane is not None, plane is not None and not space, in_symbols)
    context.root_where, context.given, context.literals, context.files = document.root.where, single, literals, named
    read_parameters(context, keys.get("parameters"), values)
    read_abbreviations(context, keys.get("let"))
    read_backdrop(context, keys.get("backdrop"))
    keys = expand(context, keys)
    _drawing(context, keys.get("drawing"), (plane if context.planar else None) or "xyz")
    context.joint_places = joint_places(keys.get("joints"))
    shapes = read_shapes(context, keys.get("bodies"), keys.get("guess"))
    found_joints = read_joints(context, shapes, keys.get("joints"), keys.get(Clearance.section))
    geared = with_play(keys.get("drive"))
    found_joints = add_motors(context, shapes, found_joints, geared) if geared else found_joints
    joints = found_joints.joints
    elements = Elements(context, shapes, joints)
    lines = tuple(name for section in COORDINATES if section in keys for name in keys[section].mapping(section))
    channels = ChannelDimensions(elements.joints, elements.points, lines, plane if context.planar else None)
    elements.channels = channels
    bodies = read_bodies(context, shapes, keys.get("masses"))
    found = Description(
        name=_label(keys.get("name"), document.name),
        about=" ".join(keys["about"].string("about").split()) if "about" in keys else "",
        report=read_report(keys.get("report")),
        bodies=(*bodies, *found_joints.links),
        joints=joints,
        plane=plane if context.planar else None,
        units=shown,
        gravity=_gravity(context, keys.get("gravity")),
        parameters=tuple(context.parameters.items()),
        bounds=context.bounds,
        **read_elements(elements, keys, found_joints.loose, geared),
        drives=read_drives(context, keys.get("drive"), channels),
        start=read_start(context, keys.get("start"), channels),
        start_places=tuple((name, entry.where) for name, entry in (keys["start"].entries or {}).items()) if "start" in keys else (),
        cuts=read_cuts(keys.get("cuts"), elements.joints),
        drawing=tuple(context.sketch.items()),
        warnings=tuple(context.warnings),
        document=document,
    )
    if in_symbols:
        fixed = {pin for shape in shapes.values() if shape.turned for pin in shape.fitted}  # no expression knows how they act
        poses = (*((name, shape.pose) for name, shape in shapes.items()), *found_joints.poses)
        found = replace(found, poses=poses, drawn=tuple((n, x) for n, x in context.drawn.items() if n.split(".")[0] not in fixed))
    vars(found)["_evaluation"] = context.evaluation
    if not document.overrides and not in_symbols and literals is None:
        vars(found)[UNCHANGED] = True
    left = {name: node for name, node in single.items() if name not in context.drawn}
    return overridden(found, left) if left else found


def _label(node: FileNode | None, default: str) -> str:
    name = node.string("name") if node else default
    if node and not name:
        raise node.error("the model's name is empty. Give it one or take the line out.")
    return name


def _plane(keys: dict[str, FileNode]) -> tuple[str | None, bool]:
    space = keys["space"].flag("space") if "space" in keys else False
    if "plane" not in keys:
        return None, True
    plane = keys["plane"].string("plane")
    if plane not in PLANES:
        raise keys["plane"].error(f"plane must be one of {', '.join(PLANES)}, not '{plane}'.", value=plane, allowed=PLANES)
    return plane, space


def _units(keys: dict[str, FileNode]) -> tuple[UnitSystem, tuple[str, ...]]:
    """The units of bare numbers, and the units in which results are shown (`show`, else the same)."""
    systems = {}
    for key in ("units", "show"):
        names: list[str] = []
        node = keys.get(key)
        for item in node.sequence(key) if node and node.text != "" else ():
            names.append(item.string(key))
            try:
                UnitSystem(names)
            except UsageError as error:
                raise item.error(f"{key}: {error}", name=key) from error
        systems[key] = UnitSystem(names)
    return systems["units"], systems["show"].units if "show" in keys else systems["units"].units


def _gravity(context: Context, node: FileNode | None) -> Vec3:
    if node is None or (node.text is not None and node.text.strip() in ("", "0", "0.0", "none")):
        return ZERO3
    return context.vector(node, ACCELERATION, "gravity")


def _drawing(context: Context, node: FileNode | None, axes: str) -> None:
    for name, entry in (node.mapping("drawing") if node else {}).items():
        context.check_name(name, entry, "point")
        x, y, z = context.vector(entry, LENGTH, f"drawing: {name}")
        a, b, *rest = axes
        c = context.drawn_number(f"{name}.{rest[0]}", z) if rest else z
        context.drawing[name] = (context.drawn_number(f"{name}.{a}", x), context.drawn_number(f"{name}.{b}", y), c)
        context.sketch[name] = context.numerics(context.drawing[name], entry)
