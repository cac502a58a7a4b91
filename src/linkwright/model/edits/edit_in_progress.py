"""One edit under way: the text so far, the draft of it, the user's answers, and questions that are still open.

Numbers come as people type them or as SI (`written`, `si`). A number of the file that is an expression is never overwritten silently:
`set_number` asks whether a parameter or the expression shall change.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwright import elements
from linkwright.errors import LinkwrightError, ModelError, Source, UsageError, nearest
from linkwright.model.edits.drawing_draft import At, Draft, DraftBody, DraftPoint, number_or_none, read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.file.reading_context import LONGEST_NAME, RESERVED, Literal
from linkwright.model.file.text_edits import SPECIAL, exchanged, quantity
from linkwright.model.file.text_nodes import FileNode
from linkwright.numerics.tolerances import ROUND_OFF
from linkwright.text.expressions import Expr, free_variables
from linkwright.text.unit_meaning import is_bare, with_point
from linkwright.text.units import LENGTH, Dimension, shown

REPLACE, PARAMETER = "replace", "parameter:"


@dataclass(frozen=True)
class Choice:
    """A possible answer."""

    id: str
    text: str


@dataclass(frozen=True)
class Question:
    """A number that is an expression: what shall change?"""

    key: str
    text: str
    choices: tuple[Choice, ...]


@dataclass
class Job:
    """The state of one edit."""

    sheet: EditSheet
    answers: Mapping[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    selection: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    _known: tuple[str, Draft] | None = None

    @property
    def draft(self) -> Draft:
        """The draft of the text as it is now."""
        if self._known is None or self._known[0] != self.sheet.text:
            self._known = (self.sheet.text, read_draft(self.sheet))
        return self._known[1]

    def done(self, label: str, *selected: str) -> None:
        self.labels.append(label)
        self.selection += selected

    # ---------------------------------------------------------------- names

    def point(self, name: Any) -> DraftPoint:
        """A point of the drawing that can be edited."""
        found = self.draft.points.get(_text(name, "a point"))
        if found is None:
            raise UsageError(f"there is no point '{name}'.", nearest(str(name), self.draft.points, "Points"))
        if found.fixed:
            raise UsageError(
                f"'{name}' comes from a `repeat:` block ({self.sheet.file}:{found.line}). Change the block in the file.", name=name
            )
        return found

    def body(self, name: Any) -> DraftBody:
        """A body that can be edited."""
        found = self.draft.bodies.get(_text(name, "a body"))
        if found is None:
            raise UsageError(f"there is no body '{name}'.", nearest(str(name), self.draft.bodies, "Bodies"))
        if found.fixed:
            raise UsageError(
                f"'{name}' comes from a `repeat:` block ({self.sheet.file}:{found.line}). Change the block in the file.", name=name
            )
        return found

    def taken(self) -> set[str]:
        """Names that points, joints and cylinders have."""
        d = self.draft
        return {*d.points, *d.bodies, *d.joints, *(name for _, name in d.parts), *self.sheet.names("parameters"), *self.sheet.names("let")}

    def free_point(self) -> str:
        """A name for a new point: A to Z, then A1 and so on."""
        taken, letters = self.taken(), [chr(c) for c in range(ord("A"), ord("Z") + 1)]
        return next(n for k in range(10_000) for n in (f"{x}{k or ''}" for x in letters) if n not in taken)

    def free_name(self, stem: str) -> str:
        """A name for a new part: link1, link2 and so on."""
        taken = self.taken()
        return next(n for n in (f"{stem}{k}" for k in range(1, 100_000)) if n not in taken)

    def new_name(self, given: Any, section: str, stem: str = "") -> str:
        """The name the user gave to an entry of a section, if it can be used, else a free one."""
        if given in (None, ""):
            return self.free_name(stem) if stem else self.free_point()
        return self.usable(given, section)

    def usable(self, given: Any, section: str) -> str:
        """A name for an entry of a section; raise UsageError if it cannot be one or is taken."""
        name = _text(given, "a name").strip()
        if not name or len(name) > LONGEST_NAME or not re.fullmatch(r"[^\s.:,\[\]{}#&*!|>'\"%@`]+", name) or not name.isprintable():
            raise UsageError(f"'{name[:40]}' cannot be a name: use letters, digits, - and _, without spaces and dots.", name=name[:40])
        if name in RESERVED:
            raise UsageError(f"'{name}' cannot be a name: it is reserved in expressions.", name=name)
        d = self.draft
        coordinates = {*d.joints, *(name for s in elements.COORDINATES for name in self.sheet.names(s))}
        taken = {"drawing": {*d.points}, "bodies": {*d.bodies}, **dict.fromkeys(("joints", *elements.COORDINATES), coordinates)}
        taken["parameters"] = {*self.sheet.names("parameters"), *self.sheet.names("let")}
        if name in taken.get(section, {n for s, n in d.parts if s == section}):
            raise UsageError(f"the name '{name}' is taken. Choose another.", name=name)
        return name

    # ---------------------------------------------------------------- numbers

    def written(self, value: Any, dimension: Dimension, what: str, *, positive: bool = False) -> str:
        """A value as it is written into the file: a number is SI, a text is as the user typed it."""
        self.si(value, dimension, what, positive=positive)
        if not isinstance(value, str):
            return quantity(_finite(value, what), dimension, self.sheet.units)
        text = with_point(value)
        return f'"{text}"' if SPECIAL.search(text) else text

    def si(self, value: Any, dimension: Dimension, what: str, *, positive: bool = False) -> float:
        """A value in SI; raise UsageError for what is none."""
        if isinstance(value, str):
            context = self.sheet.context
            node = FileNode(Source(self.sheet.file), text=with_point(value))
            try:
                found = context.numeric(context.number(node, dimension, what))
            except ModelError as error:
                raise UsageError(error.message) from error
        else:
            found = _finite(value, what)
        if positive and found <= 0.0:
            raise UsageError(f"{what} is {shown(found, dimension, self.sheet.units, 6)}. It must be greater than zero.", name=what)
        return found

    def place(self, at: Any, what: str = "a position") -> At:
        """Two coordinates in SI."""
        if not isinstance(at, Sequence) or isinstance(at, str) or len(at) != 2:
            raise UsageError(f"{what} has two coordinates, [x, y].", name=what)
        return (self.si(at[0], LENGTH, what), self.si(at[1], LENGTH, what))

    def pair(self, at: Any, dimension: Dimension, what: str) -> str:
        """A list of two values as it is written."""
        if not isinstance(at, Sequence) or isinstance(at, str) or len(at) != 2:
            raise UsageError(f"{what} has two components.", name=what)
        return f"[{self.written(at[0], dimension, what)}, {self.written(at[1], dimension, what)}]"

    def set_number(self, path: Sequence[Any], value: Any, dimension: Dimension, what: str, *, positive: bool = False) -> None:
        """Give a number of the file another value in its place and unit; ask where it is an expression of parameters."""
        node = self.sheet.node(*path)
        new = self.si(value, dimension, what, positive=positive)
        if node is None:
            self.sheet.put(path, self.written(value, dimension, what))
            return
        old = number_or_none(self.sheet.context, node, dimension)
        typed = isinstance(value, str) and not is_bare(with_point(value))
        if old is not None and not typed and abs(new - old) <= ROUND_OFF * max(abs(new), abs(old)):
            return
        names = self._depends(node, dimension)
        if names and not typed:
            self._instead(path, node, names, new, dimension, what)
        elif typed or old is None:
            self.sheet.replace(path, self.written(value, dimension, what))
        else:
            self.sheet.apply(exchanged(Literal(what, node, dimension, old), new, self.sheet.units))

    def _depends(self, node: FileNode, dimension: Dimension) -> list[str]:
        """Parameters with a number of their own that an expression depends on."""
        context = self.sheet.context
        try:
            value = context.number(node, dimension, "value")
        except LinkwrightError:
            return []
        if not isinstance(value, Expr):
            return []
        found, todo = set[str](), set(free_variables(value))
        while todo:
            name = todo.pop()
            found.add(name)
            inner = context.parameters.get(name)
            todo |= (free_variables(inner) if isinstance(inner, Expr) else frozenset()) - found
        return [n for n, x in context.parameters.items() if n in found and not isinstance(x, Expr)]

    def _instead(self, path: Sequence[Any], node: FileNode, names: list[str], new: float, dimension: Dimension, what: str) -> None:
        """Do what the user answered, or ask."""
        key = ".".join(map(str, path))
        answer = self.answers.get(key, "")
        if answer == REPLACE:
            self.sheet.replace(path, quantity(new, dimension, self.sheet.units))
            return
        if answer.startswith(PARAMETER) and answer.removeprefix(PARAMETER) in names:
            solved = self._solved(answer.removeprefix(PARAMETER), path, dimension, new)
            if solved is None:
                raise UsageError(f"no value of {answer.removeprefix(PARAMETER)} gives {what} the value asked for. Replace the expression.")
            self.sheet.apply(*_parameter_edit(self.sheet, answer.removeprefix(PARAMETER), solved))
            return
        choices = [x for name in names if (x := self._choice(name, path, dimension, new)) is not None]
        text = f"{what} is written as `{node.text}` ({self.sheet.file}:{node.where.line}). What do you want to change?"
        choices.append(Choice(REPLACE, f"Replace the expression by {shown(new, dimension, self.sheet.units, 6)}"))
        self.questions.append(Question(key, text, tuple(choices)))

    def _choice(self, name: str, path: Sequence[Any], dimension: Dimension, new: float) -> Choice | None:
        """Changing this parameter, and what else it would move; None if no value of it does."""
        solved = self._solved(name, path, dimension, new)
        if solved is None:
            return None
        trial = EditSheet(self.sheet.text, self.sheet.file)
        trial.apply(*_parameter_edit(trial, name, solved))
        there = read_draft(trial)
        own = str(path[1]) if path[0] == "drawing" else ""
        moved = [n for n, p in self.draft.points.items() if n != own and n in there.points and math.dist(there.points[n].at, p.at) > 1e-12]
        also = f" (also moves {', '.join(moved[:4])}{' ...' if len(moved) > 4 else ''})" if moved else ""
        before, after = (_parameter_text(x, name) for x in (self.sheet, trial))
        return Choice(PARAMETER + name, f"Change {name} from {before} to {after}{also}")

    def _solved(self, name: str, path: Sequence[Any], dimension: Dimension, wanted: float) -> float | None:
        """The parameter's value that gives a number its wanted value, by the secant method on the text itself; None if there is none."""
        start = self.sheet.context.env[name]

        def miss(x: float) -> float | None:
            trial = EditSheet(self.sheet.text, self.sheet.file)
            trial.apply(*_parameter_edit(trial, name, x))
            found = number_or_none(trial.context, trial.node(*path), dimension)
            return None if found is None else found - wanted

        a, b = start, start * 1.001 if start else 1e-3
        fa, fb = miss(a), miss(b)
        rounds = 12  # of the secant method for a parameter
        for _ in range(rounds):
            if fa is None or fb is None or fa == fb:
                return None
            a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
            fb = miss(b)
            if fb is not None and abs(fb) <= ROUND_OFF * max(abs(wanted), 1e-6):
                return b
        return None


def _parameter_path(sheet: EditSheet, name: str) -> tuple[str, ...]:
    path = ("parameters", name)
    return (*path, "value") if sheet.node(*path, "value") is not None else path


def _parameter_edit(sheet: EditSheet, name: str, value: float) -> list[Any]:
    """A parameter with another value, in the unit it has."""
    node = sheet.node(*_parameter_path(sheet, name))
    if node is None:
        return []
    known = (sheet.context.algebra.names or {})[name]
    return [exchanged(Literal(name, node, known.dimension, sheet.context.env[name]), value, sheet.units)]


def _parameter_text(sheet: EditSheet, name: str) -> str:
    node = sheet.node(*_parameter_path(sheet, name))
    return "" if node is None else (node.text or "").strip()


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{what} is given by its name, a text, not by {type(value).__name__} {str(value)[:40]}.", name=what)
    return value


def _finite(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"{what} must be a number, or a text such as '150 mm', not {str(value)[:40]!r}.", name=what)
    return float(value)
