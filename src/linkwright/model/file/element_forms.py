"""Sections of elements: the piece that reads each element's form; without one it is read by its fields (`Elements.element`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwright import elements
from linkwright.elements import Clearance, Contact, Coupling, Stop
from linkwright.model.file.belts import read_belt
from linkwright.model.file.cams import read_cam
from linkwright.model.file.contacts import check_contacts, read_clearance, read_contact, read_surface
from linkwright.model.file.couplings import read_coupling
from linkwright.model.file.cylinders import read_cylinder
from linkwright.model.file.elements import Elements
from linkwright.model.file.gearboxes import GearedDrives, read_gearboxes
from linkwright.model.file.gears import read_gear
from linkwright.model.file.rods import read_rod
from linkwright.model.file.stops import read_stop, strokes
from linkwright.model.file.text_nodes import FileNode

FORMS: dict[str, Callable[[Elements, str, FileNode], Any]] = {  # `form` of an element -> its reader
    "belt": read_belt,
    "cam": read_cam,
    "clearance": read_clearance,
    "contact": read_contact,
    "coupling": read_coupling,
    "cylinder": read_cylinder,
    "gear": read_gear,
    "rope": read_rod,
    "stop": read_stop,
    "surface": read_surface,
}


def read_elements(
    reader: Elements, keys: dict[str, FileNode], loose: Sequence[tuple[str, FileNode]], geared: GearedDrives
) -> Mapping[str, tuple[Any, ...]]:
    """Return the elements of a model by field of a description; strokes of sliders and cylinders are stops, the first ones.
    `loose` are clearances that entries of joints give, and gearboxes with play (`geared`) are couplings that entries of drives give."""
    out: dict[str, tuple[Any, ...]] = dict.fromkeys(elements.HELD, ())
    for section in elements.SECTIONS:
        if section in keys:
            reader.found[section] = _section(reader, section, keys[section])
            for x in reader.found[section]:
                out[elements.held_in(type(x))] += (x,)
    if Contact.section in keys:
        check_contacts(reader, keys[Contact.section])
    held = elements.held_in(Stop)
    out[elements.held_in(Clearance)] += tuple(read_clearance(reader, name, entry) for name, entry in loose)
    if geared:
        couplings = elements.held_in(Coupling)
        out[couplings] += read_gearboxes(reader, geared, tuple(x.name for x in out[couplings]))
    return {**out, held: (*strokes(reader, keys), *out[held])}


def _section(reader: Elements, section: str, node: FileNode) -> tuple[Any, ...]:
    among = elements.kinds(section)
    form = next((FORMS[x.form] for x in among if x.form), None)  # kinds of a section are read by one piece, or by their fields
    entries = reader.entries(node, section, among[0].word)
    found = ((entry, reader.element(name, entry, among) if form is None else form(reader, name, entry)) for name, entry in entries)
    return tuple(_checked(thing, entry) for entry, thing in found)


def _checked(thing: Any, entry: FileNode) -> Any:
    """The element, whose keys go together; its own messages come first, since they can say why."""
    for rule in thing.together:
        if fault := rule.fault(entry.entries or {}):
            raise entry.error(f"{thing.word} '{thing.name}' {fault}", name=thing.name)
    return thing
