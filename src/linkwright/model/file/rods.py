"""The `rods:` section: bars of constant length, and with `slack: true` ropes."""

from __future__ import annotations

from dataclasses import replace

from linkwright import elements
from linkwright.elements import Rod, Rope
from linkwright.model.file.elements import Elements
from linkwright.model.file.text_nodes import FileNode


def read_rod(reader: Elements, name: str, entry: FileNode) -> Rod | Rope:
    """Read a rod, or a rope where it may be slack."""
    what = f"rod '{name}'"
    keys = entry.keys(what, elements.keys(Rope), elements.required(Rod))
    if "slack" not in keys or not keys["slack"].flag(f"{what}: slack"):
        if "restitution" in keys:
            raise keys["restitution"].error(
                f"{what} has a restitution, but it holds in both directions and strikes nothing. Add `slack: true`, or take it out.",
                name=name,
            )
        return reader.element(name, replace(entry, entries={k: x for k, x in keys.items() if k != "slack"}), (Rod,))
    if name in reader.joints:
        raise entry.error(f"{what} has the name of a joint, and its length could mean either. Rename one.", name=name)
    reader.restitution(keys, what)
    return reader.element(name, entry, (Rope,))
