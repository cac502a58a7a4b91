"""Random functions of the subset: nested branches and loops that lanes leave in all ways."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

HEAD = """from linkwright.compiler.records import Column, Floats, Ints, Record, SharedInts, copy, sized


class Work(Record):
    x: Floats = sized(4)
    k: Ints = sized(4)
    table: SharedInts = sized(4)
    s: float
    other: Floats = sized(4)


def added(x: Floats, other: Floats, by: float) -> None:
    for i in range(len(x)):
        x[i] += by
        other[i] = x[i]


"""
FLOATS, INTS = ("a", "b", "c"), ("m", "n")


class Source:
    """The text of some functions, the last of which is the main one; every loop ends."""

    def __init__(self, seed: int):
        self.random, self.lines, self.helpers, self.count = random.Random(seed), list[str](), 0, 0

    def text(self) -> str:
        for helper in range(3):
            self.function(f"helper{helper}", "w: Work, a: float, m: int", self.random.choice(["float", "float", "int", "bool"]))
            self.helpers += 1
        self.function("main", "w: Work, given: Column, out: Column", "float")
        return HEAD + "\n".join(self.lines)

    def function(self, name: str, arguments: str, returns: str) -> None:
        self.returns, self.main = returns, name == "main"
        self.lines += [f"def {name}({arguments}) -> {returns}:"]
        start = ["a, b, c = given[0], given[1], given[2]", "m, n = int(given[3] * 4.0), int(given[4] * 6.0)", "w.s = given[5]"]
        start += ["for i in range(4):", "    w.x[i] = given[i]", "    w.other[i] = 0.5 * i", "    w.k[i] = i"]
        self.lines += [f"    {x}" for x in (start if self.main else ["b, c, n = a + 0.5, 0.25, m + 1"])]
        self.block(1, 0, 7 if self.main else 4)
        if self.main:
            self.lines += [f"    {x}" for x in ("for i in range(4):", "    out[i] = w.x[i] + w.k[i]", "out[4] = w.s + b")]
        self.lines += [f"    return {self.result()}", "", ""]

    def result(self) -> str:
        return {"float": self.number, "int": self.whole, "bool": self.truth}[self.returns]()

    def block(self, depth: int, loops: int, most: int) -> None:
        for _ in range(self.random.randint(1, most)):
            self.statement(depth, loops)

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def statement(self, depth: int, loops: int) -> None:
        kinds = ["float", "int", "store", "number", "arrays"] * 2 + (["if"] * 3 + ["for"] * 2 + ["while"] if depth < 5 else [])
        kinds += ["break", "continue"] * (2 if loops else 0) + (["return"] if depth > 1 else [])
        kind = self.random.choice(kinds)
        if kind == "float":
            self.add(depth, f"{self.random.choice(FLOATS)} {self.random.choice(['=', '+=', '-='])} {self.number()}")
        elif kind == "int":
            self.add(depth, f"{self.random.choice(INTS)} = {self.whole()} % 7")
        elif kind == "store":
            self.add(depth, self.random.choice([f"w.x[{self.place()}] = {self.number()}", f"w.k[{self.place()}] = {self.whole()} % 9"]))
        elif kind == "arrays":
            self.add(depth, self.random.choice([f"added(w.x, w.other, {self.number()})", "copy(w.x, w.other)"]))
        elif kind == "number":
            self.add(depth, f"w.s = {self.number()}")
        elif kind == "if":
            self.branch(depth, loops)
        elif kind == "for":
            self.add(depth, f"for i{depth} in range({self.random.choice(['3', '5', 'len(w.x)', '4, 0, -1', '1, 6, 2'])}):")
            self.block(depth + 1, loops + 1, 4)
        elif kind == "while":
            self.count += 1
            left = f"left{self.count}"
            self.add(depth, f"{left} = {self.random.choice(['6', self.whole() + ' % 6'])}")
            self.add(depth, f"while {left} > 0 {self.random.choice(['', f'and {self.truth()}'])}:")
            self.add(depth + 1, f"{left} -= 1")
            self.block(depth + 1, loops + 1, 4)
        elif kind == "return":
            self.add(depth, f"if {self.truth()}:")
            self.add(depth + 1, f"return {self.result()}")
        else:
            self.add(depth, f"if {self.truth()}:")
            self.add(depth + 1, kind)

    def branch(self, depth: int, loops: int) -> None:
        self.add(depth, f"if {self.truth()}:")
        self.block(depth + 1, loops, 3)
        if self.random.random() < 0.3:
            self.add(depth, f"elif {self.truth()}:")
            self.block(depth + 1, loops, 3)
        if self.random.random() < 0.5:
            self.add(depth, "else:")
            self.block(depth + 1, loops, 3)

    def place(self) -> str:
        return self.random.choice(["0", "3", "m % 4", "w.k[1] % 4", "w.table[2]", "w.table[n % 4]"])

    def number(self, depth: int = 0) -> str:
        simple = [*FLOATS, "w.s", f"w.x[{self.place()}]", "0.5", "1.25"] + (["given[n % 6]", "given[1]"] if self.main else [])
        if depth > 1 or self.random.random() < 0.4:
            return self.random.choice(simple)
        a, b = self.number(depth + 1), self.number(depth + 1)
        made = [f"({a} + {b})", f"({a} - {b})", f"(0.5 * {a} * {b})", f"min({a}, {b})", f"max({a}, {b}, 0.1)", f"abs({a})"]
        made += [f"({a} if {self.truth(depth + 1)} else {b})", f"({a} / (1.0 + abs({b})))", f"float({self.whole(depth + 1)})"]
        made += [f"float(helper{h}(w, {a}, {self.whole(depth + 1)} % 5))" for h in range(self.helpers) if self.is_number(h)]
        return self.random.choice(made)

    def is_number(self, helper: int) -> bool:
        return any(x.startswith(f"def helper{helper}(") and "-> bool" not in x for x in self.lines)

    def whole(self, depth: int = 0) -> str:
        simple = [*INTS, "2", "w.table[1]", f"w.k[{self.place()}]"]
        if depth > 1 or self.random.random() < 0.5:
            return self.random.choice(simple)
        a, b = self.whole(depth + 1), self.whole(depth + 1)
        made = [f"({a} + {b})", f"({a} - {b})", f"({a} & {b})", f"min({a}, {b})", f"int(min(9.0, abs({self.number(2)})))"]
        return self.random.choice(made)

    def truth(self, depth: int = 0) -> str:
        a, b, i, j = self.number(depth + 1), self.number(depth + 1), self.whole(depth + 1), self.whole(depth + 1)
        simple = [f"{a} {self.random.choice(['<', '>', '<='])} {b}", f"{i} % 3 == 1", f"{j} in (1, 3)", "m > n"]
        simple += [f"helper{h}(w, {a}, m % 5)" for h in range(self.helpers) if not self.is_number(h)]
        if depth > 0 or self.random.random() < 0.6:
            return self.random.choice(simple)
        left, right = self.truth(depth + 1), self.truth(depth + 1)
        return self.random.choice([f"({left} and {right})", f"({left} or {right})", f"not ({left})", f"(m > 2 and {right})"])


def module(seed: int, folder: Path) -> Any:
    """The functions of a seed as a module."""
    path = folder / f"random_loop_{seed}.py"
    path.write_text(Source(seed).text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = made
    spec.loader.exec_module(made)
    return made
