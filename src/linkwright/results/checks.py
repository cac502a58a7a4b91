"""Checks of a mechanism: one list for a cycle, a path, a run and a whole model, shown alike by texts, `--json`, page, report and studies.

    found = c.checks()          print(found)        bool(found)        found["contact"].verdict, .text, .value, .limit, .where

A check is passed, failed, or unknown with its reason. The list is as good as its worst check, so it is `ok` only if every check passed:
a result that could not be found out is never counted as success.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, overload

from linkwright.errors import UsageError, counted, nearest
from linkwright.files.tables import Result, Table

Verdict = Literal["passed", "failed", "unknown"]
VERDICTS: tuple[Verdict, ...] = ("failed", "unknown", "passed")  # the worst first
ERROR = "error"  # check whose figure the headline states when it passed
SHORT = 110  # characters of a reason in the headline
MARGIN = 15  # columns of a name
NOT_COMPUTED = "not computed, because"  # beginning of the text of a check that needs another one, which failed


@dataclass(frozen=True)
class Remedy:
    """A change after which a check passes: numbers as `m.with_` takes them, or edits of the file as the editor makes them.

    `verified` is True if the change was applied and the check passed.
    """

    text: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    edits: tuple[Mapping[str, Any], ...] = ()
    verified: bool = False

    def edited(self, text: str, file: str = "model.yaml") -> str:
        """Return the text of a model file after the edits."""
        from linkwright.model.edits import perform  # here: a motion does not need it

        return perform(text, file, self.edits).text if self.edits else text

    def as_dict(self) -> dict[str, Any]:
        return {"text": self.text, "changes": dict(self.changes), "edits": [dict(x) for x in self.edits], "verified": self.verified}


@dataclass(frozen=True)
class Check:
    """One point of the list: its verdict, what was found as text, and the number that was compared with a limit, in SI.

    A check of a model also has the `stage` that it belongs to, the `place` in the file ("my.yaml:12"), and what would make it pass.
    """

    name: str
    verdict: Verdict
    text: str = ""
    value: float | None = None
    limit: float | None = None
    where: str = ""  # the element and the place of the worst value
    stage: str = ""
    place: str = ""
    remedies: tuple[Remedy, ...] = ()

    @classmethod
    def of(cls, name: str, passed: bool, text: str = "", **more: Any) -> Check:
        """A check that could be decided."""
        return cls(name, "passed" if passed else "failed", text, **more)

    @classmethod
    def below(cls, name: str, value: float, limit: float, text: str, where: str = "") -> Check:
        """A figure that must not be above its limit; one that is not a number fails."""
        return cls(name, "passed" if value <= limit else "failed", text, float(value), limit, where)

    def __bool__(self) -> bool:
        return self.verdict == "passed"

    def as_dict(self) -> dict[str, Any]:
        """The check as plain data, SI; without stage, place and remedies in a motion, which has none."""
        data = {name: x for name, x in asdict(self).items() if name not in ("stage", "place", "remedies")}
        return data | ({"stage": self.stage, "place": self.place, "remedies": [x.as_dict() for x in self.remedies]} if self.stage else {})

    def __str__(self) -> str:
        said = {"passed": "", "failed": "FAILED: ", "unknown": "unknown: "}[self.verdict]
        place = f"{self.place}: " if self.place and self.verdict != "passed" else ""
        return f"  {self.name:<{MARGIN - 1}} {said}{place}{self.text}".rstrip()


@dataclass(frozen=True, repr=False)
class Checks(Result, Sequence[Check]):
    """All checks of a motion: true if every one passed, printed as text. `checks["energy"]` is one of them."""

    items: tuple[Check, ...]
    details: tuple[str, ...] = ()  # further lines of the text: how a run was computed, passages, notes

    @property
    def verdict(self) -> Verdict:
        """The worst: "failed" before "unknown" before "passed"; "unknown" where nothing was checked."""
        return next((v for v in VERDICTS if any(x.verdict == v for x in self.items)), "unknown")

    @property
    def ok(self) -> bool:
        """True only if every check passed."""
        return self.verdict == "passed"

    def __bool__(self) -> bool:
        return self.ok

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Check]:
        return iter(self.items)

    @overload
    def __getitem__(self, key: int | str) -> Check: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Check]: ...
    def __getitem__(self, key: int | str | slice) -> Check | Sequence[Check]:
        if not isinstance(key, str):
            return self.items[key]
        for x in self.items:
            if x.name == key:
                return x
        raise UsageError(f"there is no check '{key}' of this motion.", nearest(key, self.names, "Checks"))

    def __contains__(self, key: object) -> bool:
        return key in self.items or key in self.names

    @property
    def names(self) -> list[str]:
        return [x.name for x in self.items]

    @property
    def passed(self) -> tuple[Check, ...]:
        return self._with("passed")

    @property
    def failed(self) -> tuple[Check, ...]:
        return self._with("failed")

    @property
    def unknown(self) -> tuple[Check, ...]:
        return self._with("unknown")

    def _with(self, verdict: Verdict) -> tuple[Check, ...]:
        return tuple(x for x in self.items if x.verdict == verdict)

    @property
    def headline(self) -> str:
        """One line, the worst first: `failed: contact (...); unknown: error (...); passed: loops, energy`."""
        out = [f"{v}: {', '.join(_reasoned(x) for x in self._with(v))}" for v in VERDICTS if self._with(v)]
        out += [x.text for x in self.passed if x.name == ERROR and x.text]
        return "; ".join(out) or "unknown: nothing was checked"

    @property
    def headline_counts(self) -> str:
        """`1 check failed, 1 unknown, 6 passed`."""
        counts = [(v, len(self._with(v))) for v in VERDICTS if self._with(v)]
        return ", ".join(f"{counted(n, 'check') if i == 0 else n} {v}" for i, (v, n) in enumerate(counts)) or "no checks"

    def as_dict(self) -> dict[str, Any]:
        """The checks as plain data, SI."""
        return {"ok": self.ok, "verdict": self.verdict, "checks": [x.as_dict() for x in self.items]}

    def table(self) -> Table:
        """Return a row for each check; values and limits are in SI."""
        heads = [("check", ""), ("verdict", ""), ("value", "SI", ".3g"), ("limit", "SI", ".3g"), ("where", ""), ("text", "")]
        return Table.of(heads, [(x.name, x.verdict, x.value, x.limit, x.where, x.text) for x in self.items], "checks")

    def __str__(self) -> str:
        fixes = {id(x): [f"  {'':<{MARGIN - 1}} fix: {r.text}" for r in x.remedies] for x in self.items}
        return "\n".join([self.headline, *(line for x in self.items for line in (str(x), *fixes[id(x)])), *self.details])

    __repr__ = __str__


def _reasoned(x: Check) -> str:
    """A name; of a check that did not pass with the beginning of its reason."""
    if x or not x.text:
        return x.name
    text = x.text if len(x.text) <= SHORT else f"{x.text[:SHORT].rsplit(' ', 1)[0]} ..."
    return f"{x.name} ({text})"


def worst(checks: Iterable[Check]) -> Verdict:
    """The verdict of several."""
    return Checks(tuple(checks)).verdict
