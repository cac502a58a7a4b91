"""The `couplings:` section: a ratio, a table, a polynomial or motion laws between two joints; and moves, which cams have, too."""

from __future__ import annotations

from typing import Any

from linkwright import elements
from linkwright.elements import Coupling
from linkwright.model.file.channel_laws import TABLE_KEYS, tabulated
from linkwright.model.file.elements import Elements
from linkwright.model.file.moves import read_moves, whole_turns
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import Dimension, multiply


def read_coupling(reader: Elements, name: str, entry: FileNode) -> Coupling:
    """Read a coupling by its one law."""
    what = f"coupling '{name}'"
    keys = entry.keys(what, elements.keys(Coupling), elements.required(Coupling))
    first, second = reader.joint(keys["from"], f"{what}: from"), reader.joint(keys["to"], f"{what}: to")
    if first == second:
        raise entry.error(f"{what} couples joint '{first}' with itself. Name two joints.", name=first)
    x, y = reader.coordinate(first), reader.coordinate(second)
    table = None
    if any(k in keys for k in TABLE_KEYS):
        if "ratio" in keys or "offset" in keys:
            raise entry.error(f"{what} has a table and a ratio or offset. Keep one.", name=what)
        table = tabulated(reader.context, first, keys, entry, (x, y), f"{what}: table", motion=True)
    polynomial = _polynomial(reader, keys, (x, y), what)
    moves = program(reader, keys, entry, (x, y), what)
    plus = _plus(reader, keys, (first, second), y, what)
    ratio = reader.value(keys, "ratio", multiply(y, x, -1), what, 1.0)
    if reader.context.numeric(ratio) == 0.0:
        raise keys["ratio"].error(f"{what} has the ratio 0, which would block joint '{second}'. Give another ratio.", name=second)
    offset = reader.value(keys, "offset", y, what)
    free = {"play": reader.value(keys, "play", y, what, 0.0, least=0.0), "restitution": reader.restitution(keys, what)}
    return Coupling(name, first, second, ratio, offset, table, entry.where, polynomial, plus, **moves, **free)


def program(reader: Elements, keys: dict[str, FileNode], entry: FileNode, kinds: tuple[Dimension, Dimension], what: str) -> dict[str, Any]:
    """Moves of a coupling or cam, with `begin` and `phase`; spans of whole turns repeat. Empty if it has none."""
    own = [k for k in ("begin", "phase") if k in keys]
    if "moves" not in keys:
        if own:
            raise keys[own[0]].error(f"{what}: `{own[0]}` belongs to `moves:`. Add moves, or take it out.", name=what)
        return {}
    other = [k for k in ("ratio", "offset", "polynomial", *TABLE_KEYS) if k in keys]
    if other:
        raise keys["moves"].error(f"{what} has moves and `{other[0]}`. Keep one.", name=what)
    moves = read_moves(reader.context, keys["moves"], kinds, what)
    repeats = whole_turns(reader.context, moves, kinds[0])
    if repeats:
        read_moves(reader.context, keys["moves"], kinds, what, closed=True)
    begin = reader.value(keys, "begin", kinds[1], what, 0.0)
    return {"moves": moves, "begin": begin, "phase": reader.value(keys, "phase", kinds[0], what, 0.0), "repeats": repeats}


def _polynomial(reader: Elements, keys: dict[str, FileNode], kinds: tuple[Dimension, Dimension], what: str) -> tuple[Any, ...]:
    """Coefficients, lowest power first."""
    if "polynomial" not in keys:
        return ()
    other = [k for k in ("ratio", "offset", *TABLE_KEYS) if k in keys]
    if other:
        raise keys["polynomial"].error(f"{what} has a polynomial and `{other[0]}`. Keep one.", name=what)
    x, y = kinds
    items = keys["polynomial"].sequence(f"{what}: polynomial")
    found = tuple(reader.context.number(n, multiply(y, x, -i), f"{what}: polynomial") for i, n in enumerate(items))
    if not any(reader.context.numeric(c) for c in found[1:]):
        raise keys["polynomial"].error(
            f"{what}: a constant polynomial would block joint '{keys['to'].text}'. Give it a slope.", name=keys["to"].text
        )
    return found


def _plus(reader: Elements, keys: dict[str, FileNode], ends: tuple[str, str], y: Dimension, what: str) -> tuple[tuple[str, Any], ...]:
    """Further joints with the factors of their coordinates."""
    out = []
    for name, node in (keys["plus"].mapping(f"{what}: plus") if "plus" in keys else {}).items():
        joint = reader.joint(FileNode(node.where, text=name), f"{what}: plus")
        if joint in ends:
            raise node.error(f"{what}: plus names joint '{joint}' again. Name further joints.", name=joint)
        out.append((joint, reader.context.number(node, multiply(y, reader.coordinate(joint), -1), f"{what}: plus: {joint}")))
    return tuple(out)
