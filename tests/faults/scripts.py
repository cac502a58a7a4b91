"""Places in JavaScript sources at which a small fault can be made, found token by token."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path

from tests.faults.places import Fault, other_number
from tests.sources import PACKAGE

TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|"
    r"(?P<number>(?<![\w.])(?:0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?!\w))|(?P<name>[A-Za-z_$][\w$]*)|"
    r"(?P<sign>===|!==|=>|>>>|>>|<<|<=|>=|\+=|-=|\*=|/=|\+\+|--|&&|\|\||\?\?|\?\.|\.\.\.|\*\*|[-+*/<>!=?:;,.(){}\[\]&|^%~])|(?P<space>\s+)",
    re.DOTALL | re.IGNORECASE,
)
SIGNS = {
    "===": "!==", "!==": "===", "<": ">", ">": "<", "<=": ">=", ">=": "<=", "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*",
    "+=": "-=", "-=": "+=", "++": "--", "--": "++",
}  # fmt: skip
KINDS = {**dict.fromkeys("=<>!", "comparison turned"), "&": "and/or", "|": "and/or"}
PARTNERS = {"min": "max", "max": "min", "sin": "cos", "cos": "sin", "floor": "ceil", "ceil": "floor", "some": "every", "every": "some",
            "push": "unshift", "true": "false", "false": "true"}  # fmt: skip
OPERAND = {"number", "name", "text"}  # a sign after one of these, or after a bracket that closes, has two operands
KEYWORDS = {"return", "typeof", "case", "in", "of", "new", "else", "throw", "await", "yield", "void", "delete"}
STATEMENT = re.compile(r"^[ \t]+((?:[\w$]+(?:\.[\w$]+|\[[\w$.]+\])*(?:\([^\n;]*\)| [-+*/]?= [^\n;]+));)[ \t]*$", re.MULTILINE)
GUARD = re.compile(r"^[ \t]+if \((?P<test>[^\n{}]+)\) (?:return|continue|break)[^\n{]*;[ \t]*$", re.MULTILINE)


def script_faults(path: Path, root: Path = PACKAGE) -> list[Fault]:
    """Return all faults of a script, in the order of their places."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(root).as_posix()
    found: list[Fault] = []
    hidden: list[tuple[int, int]] = []

    def add(kind: str, start: int, end: int, new: str) -> None:
        found.append(Fault(name, text.count("\n", 0, start) + 1, kind, start, end, text[start:end], new))

    before, value = "sign", ""
    for token in TOKEN.finditer(text):
        kind, now = token.lastgroup or "", token.group()
        if kind in ("comment", "text"):
            hidden.append(token.span())
        if kind in ("comment", "space"):
            continue
        binary = (before in OPERAND and value not in KEYWORDS) or value in (")", "]")
        if kind == "sign":
            if now in SIGNS and (binary or now in ("++", "--")):
                add(KINDS.get(now[0], "operator"), *token.span(), SIGNS[now])
            elif now == "-" and not binary:
                add("sign", *token.span(), "+")
            elif now == "!" and not binary:
                add("not removed", *token.span(), "!!")
        elif kind == "number":
            add("constant", *token.span(), _other(now))
        elif kind == "name" and now in PARTNERS and (value == "." or now in ("true", "false")):
            add("partner" if value == "." else "constant", *token.span(), PARTNERS[now])
        before, value = kind, now
    for match in STATEMENT.finditer(text):
        add("statement dropped", *match.span(1), ";")
    for match in GUARD.finditer(text):
        add("guard removed", *match.span("test"), "false")
    ends = [b for _, b in hidden]
    shown = [f for f in found if (k := bisect_right(ends, f.start)) == len(ends) or f.start < hidden[k][0]]
    return sorted(shown, key=lambda f: (f.start, f.end, f.kind, f.new))


def _other(number: str) -> str:
    if number.lower().startswith("0x"):
        return str(int(number, 16) + 1)
    if re.fullmatch(r"\d+", number):
        return str(int(number) + 1)
    return other_number(float(number))
