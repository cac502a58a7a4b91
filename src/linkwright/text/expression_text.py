"""Expressions as text: whole, which the parser of model files reads back, or brief, for people."""

from __future__ import annotations

from typing import Any

from linkwright.text.expressions import SYMBOL, Expr

LEVEL = {"add": 1, "sub": 1, "mul": 2, "div": 2, "neg": 3, "pow": 4}
LONGEST = 1000  # operations, names and numbers of a text that is printed whole
DEPTH = 6  # operations inside each other that are shown of a longer one


def brief(x: Any) -> str:
    """The printed form for messages and for people: what is deep inside a long one is left out.

    Expressions share their parts (`let`), and written out each part is repeated: thirty lines that use the one before twice would print
    a billion terms.
    """
    return text(x, 0) if _printed_size(x) <= LONGEST else _outline(x, DEPTH)


def _printed_size(x: Any) -> int:
    """How many operations, names and numbers the printed form has: parts count as often as they are used."""
    sizes: dict[int, int] = {}
    todo = [x]
    while todo:
        node = todo[-1]
        parts = [a for a in node.args if isinstance(a, Expr)] if isinstance(node, Expr) and node.op != "var" else []
        missing = [a for a in parts if id(a) not in sizes]
        if missing:
            todo += missing
            continue
        todo.pop()
        sizes[id(node)] = 1 + sum(sizes[id(a)] for a in parts) + (len(node.args) - len(parts) if parts else 0)
    return sizes[id(x)]


def _outline(x: Any, depth: int) -> str:
    """The outermost operations of an expression, with dots for what is inside."""
    if not isinstance(x, Expr) or x.op == "var":
        return text(x, 0)
    if depth == 0:
        return "..."
    parts = [_outline(a, depth - 1) for a in x.args]
    if x.op in SYMBOL:
        return f"({parts[0]} {SYMBOL[x.op]} {parts[1]})"
    return f"-{parts[0]}" if x.op == "neg" else f"{x.op}({', '.join(parts)})"


def text(x: Any, level: int) -> str:
    """The printed form, in parentheses when it binds less tightly than `level`."""
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        printed = repr(float(x))
        return f"({printed})" if printed.startswith("-") and level > 1 else printed
    if not isinstance(x, Expr):
        return repr(x)
    if x.op == "var":
        return x.args[0]
    if x.op == "neg":
        printed, own = "-" + text(x.args[0], 4), 3
    elif x.op in SYMBOL:
        printed, own = _chain(x), LEVEL[x.op]
    else:
        return f"{x.op}({', '.join(text(a, 0) for a in x.args)})"
    return f"({printed})" if own < level else printed


def _chain(x: Expr) -> str:
    """`a + b - c`: a row of operations from its last operand to its first, so that long sums neither nest nor repeat."""
    pieces: list[str] = []
    at: Any = x
    while True:
        own = LEVEL[at.op]
        # left to right: an equal level needs parentheses on the right; powers only take atoms
        left, right = (5, 5) if at.op == "pow" else (own, own + 1)
        pieces += [text(at.args[1], right), f" {SYMBOL[at.op]} " if own == 1 else SYMBOL[at.op]]
        at = at.args[0]
        if not isinstance(at, Expr) or at.op not in SYMBOL or LEVEL[at.op] < left:
            return "".join([text(at, left), *reversed(pieces)])
