"""Clearance of joints in a model file: the `clearances:` section, or `clearance:` in the entry of a joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linkwright import elements
from linkwright.elements import Clearance
from linkwright.errors import nearest
from linkwright.model.description import Joint
from linkwright.model.file.elements import Elements
from linkwright.model.file.text_nodes import FileNode

IN_JOINT = ("clearance", *(key for key in elements.keys(Clearance) if key not in ("joint", "clearance")))  # keys of a joint's entry
LOOSE = "planar"  # type of a joint with clearance: in a plane it holds nothing
MAY = {"revolute": "radius", "prismatic": "length", LOOSE: ""}  # types that can have clearance, and the number each needs


def loosened(joints: Sequence[Joint], keys: dict[str, FileNode], *, planar: bool) -> tuple[Joint, ...]:
    """The joints of a model; those with clearance hold nothing."""
    found = _entries(keys)
    known = {j.name: j for j in joints}
    for name, (entry, _) in found.items():
        what = f"clearance '{name}'"
        if not planar:
            raise entry.error(f"{what} is in a plane, and this model is in space. Write `plane: xy`, or take it out.", name=name)
        target = (entry.entries or {}).get("joint")
        joint = name if target is None else target.string(f"{what}: joint")
        if joint not in known:
            raise (target or entry).error(f"{what}: there is no joint '{joint}'.", nearest(joint, known, "Joints"), name=joint)
        kind = known[joint].type
        if kind not in MAY:
            raise entry.error(f"{what}: a {kind} joint has no clearance. A pin (revolute) or a slider (prismatic) has.", name=joint)
        if MAY[kind] and MAY[kind] not in (entry.entries or {}):
            of = "of the pin" if MAY[kind] == "radius" else "of the block along its guide"
            raise entry.error(f"{what} needs `{MAY[kind]}:`, the {MAY[kind]} {of}.", name=joint)
        if kind == "revolute" and "length" in (entry.entries or {}):
            raise entry.error(f"{what}: a pin has no `length`. Take it out.", name=joint)
        if known[joint].type != LOOSE and known[joint].armature != 0.0:
            raise entry.error(f"{what}: joint '{joint}' has an armature, which needs an ideal joint. Take it out.", name=joint)
    named = {_joint(name, entry) for name, (entry, _) in found.items()}
    return tuple(replace(j, type=LOOSE, options=(), armature=0.0) if j.name in named else j for j in joints)


def read_clearance(reader: Elements, name: str, entry: FileNode) -> Clearance:
    """Read an entry of `clearances:`."""
    return reader.element(name, entry, [Clearance], lambda _: {"joint": _joint(name, entry)})


def of_joints(reader: Elements, keys: dict[str, FileNode]) -> tuple[Clearance, ...]:
    """Return the clearances that entries of joints give."""
    return tuple(read_clearance(reader, name, entry) for name, (entry, own) in _entries(keys).items() if own)


def _joint(name: str, entry: FileNode) -> str:
    target = (entry.entries or {}).get("joint")
    return name if target is None or target.text is None else target.text.strip()


def _entries(keys: dict[str, FileNode]) -> dict[str, tuple[FileNode, bool]]:
    """Entries of clearances by name, and whether they are keys of a joint."""
    listed = keys[Clearance.section].mapping(Clearance.section) if Clearance.section in keys else {}
    found: dict[str, tuple[FileNode, bool]] = {name: (entry, False) for name, entry in listed.items()}
    twice: dict[str, Any] = {}
    for name, (entry, _) in found.items():
        joint = _joint(name, entry)
        if joint in twice:
            raise entry.error(f"clearance '{name}': joint '{joint}' has the clearance '{twice[joint]}' as well. Keep one.", name=joint)
        twice[joint] = name
    for name, node in (keys["joints"].mapping("joints") if "joints" in keys else {}).items():
        given = {key: x for key, x in (node.entries or {}).items() if key in IN_JOINT}
        if not given:
            continue
        if "clearance" not in given:
            first = next(iter(given))
            hint = " Friction of an ideal joint is an entry of `friction:`." if first == "mu" else ""
            raise given[first].error(f"joint '{name}' has `{first}` without `clearance`. Add one, or take `{first}` out.{hint}", name=name)
        if name in twice or name in found:
            raise node.error(f"joint '{name}' has `clearance` and an entry in `clearances:`. Keep one.", name=name)
        found[name] = (replace(node, entries=given), True)
    return found
