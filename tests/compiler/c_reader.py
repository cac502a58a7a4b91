"""Runs the small part of C that the C99 writer uses, statement by statement: checks the text where no compiler is at hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "fabs": np.abs, "sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log, "tanh": np.tanh,
    "atan2": np.arctan2, "pow": np.power, "rint": np.rint,
}  # fmt: skip
TOKEN = re.compile(r"\s*(\d[\d.]*(?:e[+-]?\d+)?|\w+|\|\||<=|!=|[-+*/<?:(),\[\]])")


class Array:
    """A pointer: values and where it points."""

    def __init__(self, values: Any, start: int = 0):
        self.values, self.start = values, start

    def __getitem__(self, k: float) -> Any:
        return self.values[self.start + int(k)]

    def __setitem__(self, k: float, value: Any) -> None:
        self.values[self.start + int(k)] = value


def run(text: str, name: str, x: np.ndarray, outputs: int) -> np.ndarray:
    """y after name(x, y); the status word is left to real compilers."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"    \{\n        int i;.*?\n    \}\n", "", text, flags=re.DOTALL)
    found = re.findall(r"^(?:static void|static double|int) (\w+)\(([^)]*)\)\n\{\n(.*?)^\}", text, flags=re.DOTALL | re.MULTILINE)
    functions = {key: ([a.split()[-1].lstrip("*") for a in arguments.split(",")], body.split(";")) for key, arguments, body in found}
    y = np.full(outputs, np.nan)
    with np.errstate(all="ignore"):
        call(functions, name, [Array(np.asarray(x, dtype=float)), Array(y)])
    return y


def call(functions: dict[str, Any], name: str, arguments: list[Any]) -> Any:
    if name in FUNCTIONS:
        return FUNCTIONS[name](*arguments)
    names, statements = functions[name]
    here: dict[str, Any] = dict(zip(names, arguments, strict=True))
    for statement in (" ".join(s.split()) for s in statements):
        pointer = re.fullmatch(r"(?:const )?double \*(\w+) = (\w+)(?: \+ (\d+))?", statement)
        work = re.fullmatch(r"double w\[(\d+)\]", statement)
        target = re.fullmatch(r"(?:(?:const double|int) (\w+)|(\w+)\[(\d+)\]) = (.*)", statement)
        if pointer:
            here[pointer[1]] = Array(here[pointer[2]].values, int(pointer[3] or 0))
        elif work:
            here["w"] = Array(np.full(int(work[1]), np.nan))
        elif statement.startswith("return "):
            return Expression(functions, here, statement[7:]).whole()
        elif target and target[1]:
            assert target[1] not in here, f"{target[1]} is defined twice"
            here[target[1]] = Expression(functions, here, target[4]).whole()
        elif target:
            here[target[2]][int(target[3])] = Expression(functions, here, target[4]).whole()
        elif statement and not statement.startswith("(void)"):
            Expression(functions, here, statement).whole()
    return None


class Expression:
    """Recursive descent by C's precedences: ?: below || below comparisons below sums below products below signs."""

    def __init__(self, functions: dict[str, Any], names: dict[str, Any], text: str):
        self.functions, self.names = functions, names
        self.tokens = [*TOKEN.findall(text), ""]
        assert "".join(self.tokens) == text.replace(" ", ""), f"not read: {text}"
        self.at = 0

    def whole(self) -> Any:
        value = self.choice()
        assert self.tokens[self.at] == "", f"left over: {self.tokens[self.at :]}"
        return value

    def take(self, *wanted: str) -> str:
        token = self.tokens[self.at]
        if wanted and token not in wanted:
            return ""
        self.at += 1
        return token

    def choice(self) -> Any:
        condition = self.comparison()
        while self.take("||"):
            condition = bool(condition) | bool(self.comparison())
        if not self.take("?"):
            return condition
        yes = self.choice()
        assert self.take(":")
        no = self.choice()
        return yes if condition else no

    def comparison(self) -> Any:
        left = self.sum()
        while sign := self.take("<", "<=", "!="):
            right = self.sum()
            left = np.float64(left < right if sign == "<" else left <= right if sign == "<=" else left != right)
        return left

    def sum(self) -> Any:
        left = self.product()
        while sign := self.take("+", "-"):
            right = self.product()
            left = left + right if sign == "+" else left - right
        return left

    def product(self) -> Any:
        left = self.signed()
        while sign := self.take("*", "/"):
            right = self.signed()
            left = left * right if sign == "*" else left / right
        return left

    def signed(self) -> Any:
        return -self.signed() if self.take("-") else self.atom()

    def atom(self) -> Any:
        token = self.take()
        if token == "(":
            value = self.choice()
            assert self.take(")")
            return value
        if token[0].isdigit():
            return np.float64(token)
        if self.take("["):
            place = self.choice()
            assert self.take("]")
            return self.names[token][place]
        if self.take("("):
            arguments = [self.choice()]
            while self.take(","):
                arguments.append(self.choice())
            assert self.take(")")
            return call(self.functions, token, arguments)
        return self.names[token]
