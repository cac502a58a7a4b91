"""Marks of the differences between lanes, which let one function run for eight lanes at once as if each were alone.

A value varies if it may differ between lanes: entries of arrays that each lane has of its own, what is computed from them, and what is
assigned where lanes have taken different ways. Control that depends on such a value diverges. Everything else is the same in all lanes and
stays scalar.

The outputs of a kernel are those of its last evaluation. A lane that has left a loop, a branch or a function is evaluated along with the
others, so its outputs are gone. Reading them after such a place is refused: a lane keeps what it needs before it leaves.
"""

from __future__ import annotations

from typing import Any

from linkwright.compiler.loop_tree import NUMBERS, Expression, Function, Path, Statement, Unit, expressions_of, walked
from linkwright.compiler.records import fields_of, is_kernel

Kernels = set[tuple[str, ...]]


def mark(f: Function, unit: Unit) -> None:
    """Mark what varies and diverges in a function, and refuse what lanes cannot do."""
    while _Marks(f, unit).changed:
        pass
    outputs = _Outputs(f, unit)
    stale = outputs.block(f.body, set())
    f.stale |= stale
    f.runs = outputs.runs


def leave_apart(body: list[Statement], what: tuple[str, ...], divergent: bool = False) -> bool:
    """True if lanes leave a block by break, continue or return where others continue."""
    for s in body:
        if s.op in what and divergent:
            return True
        inside = divergent or s.divergent
        if s.op == "if" and (leave_apart(s.parts[1], what, inside) or leave_apart(s.parts[2], what, inside)):
            return True
        only = tuple(w for w in what if w == "return")
        if s.op in ("while", "for") and only and leave_apart(s.parts[1 if s.op == "while" else 3], only, inside):
            return True
    return False


class _Marks:
    """One pass of marking; `changed` if another one is needed."""

    def __init__(self, f: Function, unit: Unit):
        self.f, self.unit, self.changed = f, unit, False
        self.block(f.body, False)
        if f.returns is not None and leave_apart(f.body, ("return",)):
            self.returned(True)

    def returned(self, varying: bool) -> None:
        if varying and not self.f.returns_varying:
            self.f.returns_varying = self.changed = True

    def divergent(self, s: Statement, divergent: bool) -> None:
        self.changed |= divergent != s.divergent
        s.divergent = divergent

    def expression(self, e: Expression, line: int) -> bool:
        parts = [self.expression(p, line) for p in e.parts if isinstance(p, Expression)]
        if e.op == "call":
            args = [isinstance(a, Expression) and a.varying for a in e.parts[1:]]
            e.varying = self.unit.get(e.parts[0], tuple(args)).returns_varying
        elif e.op == "element":
            at = [self.expression(i, line) for i in e.parts[1]]
            e.varying = e.parts[0].kind.own or any(at)
        elif e.op == "var":
            e.varying = self.f.varying[e.parts[0]]
        elif e.op == "number" or e.op == "run":
            e.varying = True
        else:
            e.varying = any(parts)
        return e.varying

    def block(self, body: list[Statement], divergent: bool) -> None:
        for s in body:
            getattr(self, f"_{s.op}", self._plain)(s, divergent)

    def _plain(self, s: Statement, divergent: bool) -> None:
        for e in expressions_of(s):
            self.expression(e, s.line)

    def _do(self, s: Statement, divergent: bool) -> None:
        if s.parts[0].op not in ("run", "copy"):
            self.expression(s.parts[0], s.line)

    def _assign(self, s: Statement, divergent: bool) -> None:
        name, e = s.parts
        if (self.expression(e, s.line) or divergent) and not self.f.varying[name]:
            self.f.varying[name] = self.changed = True

    def _store(self, s: Statement, divergent: bool) -> None:
        path, at, e = s.parts
        differs = [self.expression(x, s.line) for x in (*at, e)]
        if not path.kind.own and (divergent or any(differs)):
            raise self.f.refuse(
                s.line, f"'{'.'.join(path.names) or path.root}' is common to all lanes, and lanes differ here: give every lane its own"
            )

    def _if(self, s: Statement, divergent: bool) -> None:
        test, yes, no = s.parts
        self.divergent(s, self.expression(test, s.line))
        self.block(yes, divergent or s.divergent)
        self.block(no, divergent or s.divergent)

    def _while(self, s: Statement, divergent: bool) -> None:
        test, body = s.parts
        apart = self.expression(test, s.line) or leave_apart(body, ("break", "continue"))
        self.divergent(s, apart or leave_apart(body, ("return",)))
        self.block(body, divergent or apart)

    def _for(self, s: Statement, divergent: bool) -> None:
        _, first, last, body, _ = s.parts
        if self.expression(first, s.line) | self.expression(last, s.line):
            raise self.f.refuse(s.line, "a range that differs between lanes: write a while loop")
        apart = leave_apart(body, ("break", "continue"))
        self.divergent(s, apart or leave_apart(body, ("return",)))
        self.block(body, divergent or apart)

    def _return(self, s: Statement, divergent: bool) -> None:
        (e,) = s.parts
        if e is not None:
            self.returned(self.expression(e, s.line) or divergent)


class _Outputs:
    """Follows which outputs of kernels lanes may still read."""

    def __init__(self, f: Function, unit: Unit):
        self.f, self.unit = f, unit
        self.runs: Kernels = set()  # in the block around
        self.known: Kernels = set()  # anywhere before
        self.apart = 0  # depth of places that some lanes do not reach
        self.left = False  # some lanes have returned

    def block(self, body: list[Statement], stale: Kernels) -> Kernels:
        for s in body:
            stale = self.statement(s, stale)
        return stale

    def statement(self, s: Statement, stale: Kernels) -> Kernels:
        for e in expressions_of(s):
            stale = self.expression(e, s.line, stale)
        if s.op == "alias":
            return stale
        if s.op == "return":
            self.f.stale |= stale
            self.left |= self.apart > 0
        if s.op not in ("if", "while", "for"):
            return stale
        before, self.runs = self.runs, set()
        self.apart += s.divergent
        if s.op == "if":
            out = self.block(s.parts[1], set(stale)) | self.block(s.parts[2], set(stale))
        else:
            body = s.parts[1 if s.op == "while" else 3]
            after = self.block(body, set(stale))
            again = stale | after | (self.runs if s.divergent else set())
            out = stale | self.block(body, set(again))
            if s.op == "while":
                self.expression(s.parts[0], s.line, set(again))
        self.apart -= s.divergent
        if s.divergent:
            out |= self.runs
        self.runs |= before
        return out

    def expression(self, e: Expression, line: int, stale: Kernels) -> Kernels:
        for x in walked(e):
            if x.op == "run":
                stale = self.ran({self.f.resolved(x.parts[0])}, stale)
            elif x.op == "call":
                stale = self.called(x, line, stale)
            elif x.op in ("element", "number", "copy"):
                self.read(self.f.resolved(x.parts[x.op == "copy"]), line, stale)
        return stale

    def ran(self, kernels: Kernels, stale: Kernels) -> Kernels:
        self.runs |= kernels
        self.known |= kernels
        if self.left:
            self.f.stale |= kernels
        return stale - kernels

    def called(self, e: Expression, line: int, stale: Kernels) -> Kernels:
        target, *args = e.parts
        callee = self.unit.get(target, tuple(isinstance(a, Expression) and a.varying for a in args))
        names = {name: self.f.resolved(a) for (name, kind), a in zip(callee.arguments, args, strict=True) if kind not in NUMBERS}

        def here(kernels: Kernels) -> Kernels:
            return {(*names[k[0]], *k[1:]) for k in kernels}

        for a in args:
            if isinstance(a, Path):
                self.read(self.f.resolved(a), line, stale)
        for k in here(callee.reads):
            self.read((*k, "y"), line, stale)
        return self.ran(here(callee.runs), stale) | here(callee.stale)

    def read(self, path: tuple[str, ...], line: int, stale: Kernels) -> None:
        """Outputs are read; inputs never change by themselves."""
        for n in range(1, len(path)):
            if path[n] == "y" and self._is_kernel(path[:n]):
                if path[:n] in stale:
                    raise self.f.refuse(
                        line,
                        f"the outputs of '{'.'.join(path[:n])}' are read where lanes have left its last evaluation. "
                        "Copy what a lane needs before it leaves",
                    )
                if path[:n] not in self.known:
                    self.f.reads.add(path[:n])

    def _is_kernel(self, path: tuple[str, ...]) -> bool:
        kind: Any = dict(self.f.arguments)[path[0]]
        for name in path[1:]:
            kind = fields_of(kind)[name]
        return is_kernel(kind)
