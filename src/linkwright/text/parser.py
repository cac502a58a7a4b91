"""The grammar of numbers and expressions: `45 rpm`, `2*L1 + 5 mm`, `-c*ram.P.vx`.

A recursive-descent parser over tokens; nothing is ever handed to Python's `eval`. What names and
units mean is the business of an `Algebra`, so the same grammar serves plain expressions (this
module) and quantities with dimensions (`quantities`). Length and nesting are limited, so hostile
text is refused at once.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple, Protocol

from linkwright.errors import ModelError, counted, nearest
from linkwright.text.expressions import BINARY_FUNCTIONS, FUNCTIONS, apply, combine, variable
from linkwright.text.units import UNIT_NAMES, UNITS

MOST_CHARACTERS = 20_000
DEEPEST = 60
NOT_NUMBERS = ("nan", "inf", "infinity")

DECIMAL_COMMA = re.compile(r"(\d[\d.]*),(\d+(?:[eE][-+]?\d+)?)")
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_µΩ°][A-Za-z_0-9µΩ]*(?:\.[A-Za-z_0-9]+)*)"
    r"|(?P<op>\*\*|[-+*/^(),%·]))"
)


class Token(NamedTuple):
    kind: str
    text: str
    at: int


class Algebra(Protocol):
    """Results of the leaves and operations of the grammar."""

    def number(self, value: float, unit: str) -> Any: ...
    def name(self, name: str) -> Any: ...
    def is_name(self, name: str) -> bool: ...  # names of the model, as opposed to units and functions
    def combine(self, op: str, a: Any, b: Any) -> Any: ...
    def negative(self, a: Any) -> Any: ...
    def call(self, function: str, args: list[Any]) -> Any: ...


class PlainAlgebra:
    """Numbers without units and free names: what `str(expr)` prints."""

    def number(self, value: float, unit: str) -> Any:
        if unit:
            raise ModelError(f"'{value:g} {unit}': a unit is not allowed in this expression.")
        return value

    def name(self, name: str) -> Any:
        return variable(name)

    def is_name(self, name: str) -> bool:
        return False

    def combine(self, op: str, a: Any, b: Any) -> Any:
        return combine(op, a, b)

    def negative(self, a: Any) -> Any:
        return -a

    def call(self, function: str, args: list[Any]) -> Any:
        return apply(function, *args)


def parse(text: str, algebra: Algebra | None = None) -> Any:
    """The value of an expression; a float when it holds no names."""
    if len(text) > MOST_CHARACTERS:
        raise ModelError(
            f"the expression '{text[:30]}...' has {counted(len(text), 'character')}, at most {MOST_CHARACTERS} are read: split "
            "it into parameters."
        )
    parser = _Parser(text, algebra or PlainAlgebra())
    value = parser.sum(0)
    if parser.token:
        why = f"'{parser.token.text}' cannot follow"
        raise parser.error((decimal_comma(text) if parser.token.text == "," else "") or why)
    return value


def decimal_comma(text: str) -> str:
    """A hint where a text holds a number with a decimal comma; empty if it does not. Points before the comma part thousands."""
    comma = DECIMAL_COMMA.search(text)
    return f"decimals are written with a point, {comma[1].replace('.', '')}.{comma[2]}" if comma else ""


class _Parser:
    def __init__(self, text: str, algebra: Algebra):
        self.text, self.algebra = text, algebra
        self.tokens = list(self._scan())
        self.next = 0
        if not self.tokens:
            raise ModelError("a number or an expression is missing here.")

    def _scan(self) -> Any:
        position, end = 0, len(self.text.rstrip())
        while position < end:
            found = TOKEN.match(self.text, position)
            if not found or not found.lastgroup:
                letter = self.text[position:].strip()[:1]
                other = " Write digits as 0 to 9." if letter.isdigit() else ""
                blank = len(self.text[position:]) - len(self.text[position:].lstrip())
                raise _at(
                    position + blank,
                    ModelError(f"'{_short(self.text)}' is not a number or an expression: '{letter}' is not allowed.{other} {_HELP}"),
                )
            kind = found.lastgroup
            yield Token(kind, found.group(kind), found.start(kind))
            position = found.end()

    @property
    def token(self) -> Token | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def peek(self, ahead: int = 0) -> str:
        position = self.next + ahead
        return self.tokens[position].text if position < len(self.tokens) else ""

    def take(self, *texts: str) -> str:
        token = self.token
        if token and token.kind == "op" and token.text in texts:
            self.next += 1
            return token.text
        return ""

    def error(self, what: str, **data: Any) -> ModelError:
        data.setdefault("name", self.text)
        near = self.tokens[self.next].at if self.next < len(self.tokens) else len(self.text.rstrip())
        return _at(near, ModelError(f"'{_short(self.text)}' is not a number or an expression: {what}. {_HELP}", None, **data))

    def sum(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise self.error(f"it nests deeper than {DEEPEST} levels, split it into parameters")
        value = self.product(depth)
        while op := self.take("+", "-"):
            value = self.algebra.combine("add" if op == "+" else "sub", value, self.product(depth))
        return value

    def product(self, depth: int) -> Any:
        value = self.signed(depth)
        while op := self.take("*", "/", "·"):
            value = self.algebra.combine("div" if op == "/" else "mul", value, self.signed(depth))
        return value

    def signed(self, depth: int) -> Any:
        negative = False
        while op := self.take("-", "+"):
            negative ^= op == "-"
        value = self.power(depth)
        return self.algebra.negative(value) if negative else value

    def power(self, depth: int) -> Any:
        base = self.atom(depth)
        if self.take("^", "**"):
            if depth > DEEPEST:
                raise self.error(f"it nests deeper than {DEEPEST} levels, split it into parameters")
            return self.algebra.combine("pow", base, self.signed(depth + 1))
        return base

    def atom(self, depth: int) -> Any:
        token = self.token
        if not token:
            raise self.error("something is missing at the end")
        self.next += 1
        if token.kind == "number":
            return self.algebra.number(self._finite(token.text), self.unit())
        if token.kind == "name":
            return self.named(token.text, depth)
        if token.text != "(":
            raise self.error(f"'{token.text}' is not allowed there", name=token.text)
        value = self.sum(depth + 1)
        if not self.take(")"):
            raise self.error("a ')' is missing")
        return value

    def _finite(self, text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise self.error(f"{text[:20]} is too large for a number")
        return value

    def named(self, name: str, depth: int) -> Any:
        if self.peek() == "(" and (name in FUNCTIONS or not self.algebra.is_name(name)):
            return self.call(name, depth)
        if name == "pi":
            return self.algebra.number(math.pi, self.unit())
        if name.lower() in NOT_NUMBERS:
            raise self.error(f"{name} is not a number a mechanism can have, give a finite one", name=name)
        return self.algebra.name(name)

    def call(self, name: str, depth: int) -> Any:
        if name not in FUNCTIONS:
            raise ModelError(f"there is no function '{name}'.", None, nearest(name, FUNCTIONS, "Functions"))
        self.take("(")
        args = [self.sum(depth + 1)]
        while self.take(","):
            args.append(self.sum(depth + 1))
        if not self.take(")"):
            raise self.error(f"the ')' of {name}( is missing")
        expected = 2 if name in BINARY_FUNCTIONS else 1
        if name in ("min", "max") and len(args) > 2 and not (DECIMAL_COMMA.search(self.text) and ", " in self.text):
            value = args[0]
            for following in args[1:]:
                value = self.algebra.call(name, [value, following])
            return value
        if len(args) != expected:
            hint = f"; {decimal_comma(self.text)}" if DECIMAL_COMMA.search(self.text) else ""
            raise self.error(f"{name}() takes {counted(expected, 'value')}, not {len(args)}{hint}")
        return self.algebra.call(name, args)

    def unit(self) -> str:
        """The unit that follows a number: names side by side, with powers, divided by other units."""
        parts: list[str] = []
        while True:
            token, divided = self.token, False
            if token and token.text == "1" and self.peek(1) == "/" and self.peek(2) in UNITS and not parts:
                parts.append("1")
                self.next += 1
                continue
            if token and token.text == "/" and parts and self.peek(1) in UNITS:
                if self.algebra.is_name(self.peek(1)):
                    raise self.error(
                        f"'{self.peek(1)}' is a unit and a name of this model at once. Write (...)/{self.peek(1)} for the name, or "
                        "rename it"
                    )
                divided = True
                self.next += 1
                token = self.token
            if not token or not (token.text in UNITS or (token.kind == "name" and not divided)):
                return " ".join(parts)
            if token.text not in UNITS:
                raise _at(
                    token.at,
                    ModelError(
                        f"'{_short(self.text)}': '{token.text}' follows a number but is not a unit. "
                        f"{nearest(token.text, UNITS, 'Units', UNIT_NAMES)} To multiply, write *."
                    ),
                )
            self.next += 1
            parts.append(("/" if divided else "") + token.text + self._unit_power())

    def _unit_power(self) -> str:
        if self.peek() not in ("^", "**"):
            return ""
        sign = "-" if self.peek(1) == "-" else ""
        token = self.tokens[self.next + 1 + len(sign)] if self.next + 1 + len(sign) < len(self.tokens) else None
        if not token or not token.text.isdigit():
            raise self.error("the power of a unit must be a whole number, as in mm^2")
        self.next += 2 + len(sign)
        return f"^{sign}{token.text}"


def _at(place: int, error: ModelError) -> ModelError:
    """The error with its place in the text, for phrases that show a column."""
    error.at = place
    return error


_HELP = "Write for example 0.3, 45 rpm, 2*L1 + 5 mm or sqrt(a^2 + b^2)."


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."
