"""Moves of drives, couplings and cams: `[{to: 90 deg, in: 0.4 s, law: modified_sine}, {dwell: 0.2 s}]`, and the same as a line of text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from linkwright.elements.base import either, needs
from linkwright.errors import nearest
from linkwright.model.curves.laws import LAWS, MEETING, SYNONYMS
from linkwright.model.description import Move
from linkwright.model.file.reading_context import Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.quantities import SI
from linkwright.text.units import ANGLE, TIME, Dimension

WHOLE_TURN = 1e-9  # of a turn: how well spans of moves must add up to turns in order to repeat
MOVE_KEYS = ("to", "in", "law", "dwell")
MOVE_TOGETHER = (either("to", "dwell"), needs("to", "in"), needs("in", "to"), needs("law", "to"))
_MOVE = re.compile(r"(?:to\s+)?(?P<to>.+?)\s+in\s+(?P<span>.+?)(?:\s+by\s+(?P<law>\S+))?\Z")
_EXAMPLES = {TIME: ("0.4 s", "0.2 s"), ANGLE: ("60 deg", "120 deg")}


def read_moves(
    context: Context, node: FileNode, dimensions: tuple[Dimension, Dimension], what: str, *, closed: bool = False
) -> tuple[Move, ...]:
    """The moves of a list; `dimensions` are those of their spans and of their positions, `closed`: the first follows the last."""
    over, position = dimensions
    going, resting = _EXAMPLES.get(over, ("20 mm", "10 mm"))
    example = f"{{to: {'20 mm' if position != ANGLE else '90 deg'}, in: {going}}}"
    moves = []
    entries = node.sequence(f"{what}: moves")
    for entry in entries:
        keys = entry.keys(f"{what}: a move", MOVE_KEYS)
        if ("dwell" in keys) == ("to" in keys) or ("to" in keys) != ("in" in keys):
            raise entry.error(f"{what}: a move is {example} with an optional `law`, or {{dwell: {resting}}}.", name=what)
        span = context.number(keys.get("in") or keys["dwell"], over, f"{what}: the span of a move")
        if context.numeric(span) <= 0.0:
            raise entry.error(f"{what}: a move takes {context.shown(span, over)}. It must be greater than zero.", name=what)
        if "law" in keys and "dwell" in keys:
            raise keys["law"].error(f"{what}: a dwell has no law. Take it out.", name=what)
        law = keys["law"].string(f"{what}: law") if "law" in keys else Move.law
        if law not in LAWS:
            raise keys["law"].error(f"{what}: there is no law '{law}'.", nearest(law, LAWS, "Laws", SYNONYMS))
        moves.append(Move(span, context.number(keys["to"], position, f"{what}: to") if "to" in keys else None, law))
    if not moves:
        raise node.error(f"{what}: the list of moves is empty. Add {example}.", name=what)
    _check_straight(moves, entries, what, closed)
    return tuple(moves)


def _check_straight(moves: Sequence[Move], entries: Sequence[FileNode], what: str, closed: bool) -> None:
    """Beside a straight piece only polynomials have its speed; everything else begins and ends at rest."""
    for i, (move, entry) in enumerate(zip(moves, entries, strict=True)):
        if move.to is None or move.law != "straight":
            continue
        for j, side in ((i - 1, "before"), (i + 1, "after")):
            if not closed and not 0 <= j < len(moves):
                continue
            other = moves[j % len(moves)]
            if other.to is None or other.law not in MEETING:
                kind = "a dwell" if other.to is None else f"the law '{other.law}'"
                raise entry.error(
                    f"{what}: the speed would jump between a straight piece and {kind} {side} it. Put a move with `law: 345` or "
                    "`law: 4567` there, which meets the speed of the straight piece.",
                    name=what,
                )


def whole_turns(context: Context, moves: Sequence[Move], over: Dimension) -> bool:
    """True if the spans of moves over an angle add up to whole turns: such moves repeat."""
    turns = sum(context.numeric(m.span) for m in moves) / (2.0 * math.pi)
    return over == ANGLE and round(turns) >= 1 and abs(turns - round(turns)) <= WHOLE_TURN * turns


def moves_of_call(given: Any, position: Dimension, what: str) -> tuple[Move, ...]:
    """Moves over time as a caller writes them: a list of dicts as in the model file, or a text."""
    from linkwright.model.file.text_nodes import from_python

    node = from_python(listed(given, what) if isinstance(given, str) else given, what)
    return read_moves(Context(SI, None, True, True), node, (TIME, position), what)


def is_program(text: str) -> bool:
    """True for a text that looks like moves."""
    return text.startswith("dwell ") or " in " in text


def listed(text: str, what: str) -> list[dict[str, str]]:
    """`90 deg in 0.4 s by modified_sine, dwell 0.2 s` as a list."""
    from linkwright.errors import UsageError

    out = []
    for part in (p.strip() for p in text.split(",")):
        found = _MOVE.match(part)
        if part.startswith("dwell "):
            out.append({"dwell": part.removeprefix("dwell ").strip()})
        elif found is not None:
            law = {} if found["law"] is None else {"law": found["law"]}
            out.append({"to": found["to"], "in": found["span"], **law})
        else:
            raise UsageError(
                f"{what}: '{part}' is not a move. Write '90 deg in 0.4 s', '90 deg in 0.4 s by modified_sine' or 'dwell 0.2 s'.", name=part
            )
    return out
