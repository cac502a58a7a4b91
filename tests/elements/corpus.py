"""Entries of model files, good and bad, and what reading each of them says.

    python -m tests.elements.corpus               print what differs from the stored outcomes
    python -m tests.elements.corpus --write       store the outcomes as they are now (tests/data/elements/messages)
    python -m tests.elements.corpus --all FILE    outcomes of all entries, several times as many, for comparing two versions

Every good entry of `GOOD` is changed by rules: each key left out, misspelled, given twice or with an odd value, keys of other
kinds added, two faults at once. Values and pairs of faults are sampled by a hash of the entry; the other changes are all there.
Each key is on a line of its own, so that the line of a message counts from the line of the section's name.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

from linkwright.errors import LinkwrightError
from linkwright.model.description import Description
from linkwright.model.file import read_text
from linkwright.model.file.reader import Document, describe
from linkwright.model.file.text_nodes import FileNode, from_text
from tests.elements.canonical import FOLDER, digest, short
from tests.elements.good_entries import BASES, GOOD, HELPERS, helpers
from tests.elements.odd_entries import ODD_ENTRIES, WHOLE

STORED = FOLDER / "messages"
SAMPLED = 6  # one of so many odd values and pairs of faults is stored
SHOWN = 160  # characters of a good reading
ODD = (
    "", "{}", "[]", "[1]", "[1, 2, 3]", "{a: 1}", "text", "-1", "0", "1e-12", "nan", "inf", "1e400", "5 parsec", "3 N", "2 mm", "4 N m/rad",
    "7 s", "90 deg", "p", "q*2", "1/0", "true", "ground.E", "ground.Z", "nobody.E", "A", "Z", "A.v", "t", '"1"', "1 2", "1,5", "none",
    "[ground.E, ground.A]", "[ground.E, nobody.P]", "[ground.E, text]", "[A, A]", "[A, Z]", "[-1, 1]", "[1, -1]", "2*p", "lift", "hip",
    "weld",
)  # fmt: skip
BODIES = ("", "5", "text", "[]", "[1, 2]", "{}", "[{joint: A}]", "null", "true")
NAMES = ("1x", "a b", "a.b", "ground", "A", "jack", "crank", "true", '""', "x-y", '"x\'y"', "t", "p", "x:1")
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Entry:
    """One entry of a section in a base model; `body` is a text where it is no mapping of keys."""

    base: str
    section: str
    name: str
    body: Pairs | str
    whole: str = ""  # the section, where it has no such entry

    def __str__(self) -> str:
        """One line that names it."""
        inner = self.body if isinstance(self.body, str) else f"{{{', '.join(f'{k}: {v}' for k, v in self.body)}}}"
        said = self.whole.replace("\n", " | ") if self.whole else f"{self.section}: {self.name}: {inner}"
        return f"{self.base} {said}"

    def lines(self) -> list[str]:
        """The section as written in a file."""
        if self.whole:
            return self.whole.splitlines()
        if isinstance(self.body, str):
            return [f"{self.section}:", f"  {self.name}: {self.body}"]
        return [f"{self.section}:", f"  {self.name}:", *(f"    {k}: {v}" for k, v in self.body)]

    def outcome(self) -> str:
        """What reading it says: the class of the error, the line after the section's, the message; or what was read."""
        stands_by = "".join(f"{key}: {text}\n" for key, text in helpers(self.base, self.section).items())
        before = BASES[self.base] + stands_by
        first = before.count("\n") + 1
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = _described(before, "\n".join(self.lines()) + "\n")
        except LinkwrightError as error:
            where = getattr(error, "where", None)
            line = "-" if where is None else f"{where.line - first:+d}" if where.file == "m.yaml" else str(where)
            return f"{type(error).__name__} {line}: {getattr(error, 'message', str(error))}".replace("\n", " | ")
        said = [*found.warnings, *(str(w.message) for w in caught)]
        return " ".join(["ok", _read(found, self.base), *(f"WARNING {text}" for text in said)]).replace("\n", " | ")


@cache
def _parsed(text: str) -> FileNode:
    return from_text(text, "m.yaml")


def _described(before: str, section: str) -> Description:
    """`read_text` of both together. The first part, the same for hundreds of entries, is parsed once, and the section as if it came after
    it, at its line and place; where the two are not simply one mapping after the other, all of it is parsed."""
    base, text = _parsed(before), before + section
    try:
        own = from_text(re.sub("[^\n]", " ", before) + section, "m.yaml")
    except LinkwrightError:
        return read_text(text, "m.yaml")
    if own.entries is None or base.entries is None or own.entries.keys() & base.entries.keys():
        return read_text(text, "m.yaml")
    root = replace(base, entries={**base.entries, **own.entries}, span=replace(base.span, end=own.span.end))
    return describe(Document(root, Path(), "m", {}, text))


_known: dict[str, dict[str, str]] = {}


def _read(found: Description, base: str) -> str:
    """What the entry added to the base."""
    if base not in _known:
        bare = read_text(BASES[base] + "".join(f"{key}: {text}\n" for key, text in HELPERS[base].items()), "m.yaml")
        _known[base] = {f.name: short(getattr(bare, f.name)) for f in fields(bare) if f.compare}
    own = {f.name: getattr(found, f.name) for f in fields(found) if f.compare}
    new = {name: value for name, value in own.items() if short(value) != _known[base].get(name, "[]")}
    text = " ".join(f"{name} {short(value)}" for name, value in sorted(new.items()))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}.. {digest(new)}"


# -------------------------------------------------------------------- changes


def _chosen(entry: Entry, one_of: int, part: int = 0) -> bool:
    """Whether a hash of the entry picks it; another part of the hash for another choice."""
    return hashlib.sha256(str(entry).encode()).digest()[part] % one_of == 0


def _without(pairs: Pairs, i: int) -> Pairs:
    return pairs[:i] + pairs[i + 1 :]


def _changed(pairs: Pairs, i: int, key: str, value: str) -> Pairs:
    return (*pairs[:i], (key, value), *pairs[i + 1 :])


def _structural(pairs: Pairs, others: dict[str, str]) -> Iterator[Pairs]:
    """All changes of keys."""
    yield pairs
    yield pairs[::-1]
    yield (*pairs, ("extra", "1"))
    for i, (key, value) in enumerate(pairs):
        yield _without(pairs, i)
        yield _changed(pairs, i, key[:-1], value)
        yield _changed(pairs, i, key.capitalize(), value)
        yield (*pairs, (key, value))
    for key, value in others.items():
        if key not in dict(pairs):
            yield (*pairs, (key, value))


def _valued(pairs: Pairs) -> Iterator[Pairs]:
    """Odd values, one at a time, and two faults at once."""
    for i, (key, _) in enumerate(pairs):
        for odd in ODD:
            yield _changed(pairs, i, key, odd)
    for i, (key, value) in enumerate(pairs):
        for j, (other, _) in enumerate(pairs):
            for odd in ("-1", "Z", "5 parsec", "[]"):
                if i != j:
                    yield _changed(_changed(pairs, j, other, odd), i, key[:-1], value)
                    yield _without(_changed(pairs, j, other, odd), i)
                if i < j:
                    yield _changed(_changed(pairs, j, other, odd), i, key, "-2")


def _of_section(base: str, section: str, name: str, one: Pairs) -> Iterator[Entry]:
    """Changes of the section as a whole."""
    for body in BODIES:
        yield Entry(base, section, name, body)
    for other in NAMES:
        yield Entry(base, section, other, one)
    inner = f"{{{', '.join(f'{k}: {v}' for k, v in one)}}}"
    wholes = [f"{section}:", f"{section}: 5", f"{section}: text", f"{section}: []", f"{section}: {{}}", f"{section}: [{inner}]"]
    wholes += [f"{section}: [A]", f"{section}: [A, A]", f"{section}: [Z]", f"{section.removesuffix('s')}:\n  {name}: {inner}"]
    wholes += [f"{section}x:\n  {name}: {inner}", f"{section}:\n  {name}: {inner}\n{section}:\n  y: {inner}"]
    wholes += [f"{section}:\n  {name}: {inner}\n  {name}: {inner}", f"{section}:\n  {name}: {inner}\n  other: {{}}"]
    wholes += [f'repeat:\n  i: 1..2\n  {section}:\n    "{name}{{i}}": {inner}', f"repeat:\n  i: 1..2\n  {section}:\n    {name}: {inner}"]
    wholes += [f"repeat:\n  i: 1..2\n  {section}: 5", f'repeat:\n  i: 1..2\n  {section.capitalize()}:\n    "{name}{{i}}": {inner}']
    for whole in wholes:
        yield Entry(base, section, name, one, whole)


def entries(section: str, *, every: bool = False) -> dict[str, Entry]:
    """The corpus of a section, by lines that name its entries."""
    found: dict[str, Entry] = {}
    goods = [g for g in GOOD if g.section == section]
    others: dict[str, str] = {}
    for good in goods:
        for key, value in good.pairs:
            others.setdefault(key, value)
    for good in goods:
        new = [Entry(good.base, section, good.name, pairs) for pairs in _structural(good.pairs, others)]
        odd = [Entry(good.base, section, good.name, pairs) for pairs in _valued(good.pairs)]
        new += [entry for entry in odd if every or _chosen(entry, SAMPLED)]
        found.update((str(entry), entry) for entry in new)
    for base in dict.fromkeys(g.base for g in goods):
        first = next(g for g in goods if g.base == base)
        found.update((str(entry), entry) for entry in _of_section(base, section, first.name, first.pairs))
    found.update((str(entry), entry) for entry in _odd(section))
    return found


def _odd(section: str) -> list[Entry]:
    """Entries that are taken as they are."""
    single = [Entry(g.base, section, g.name, g.pairs) for g in ODD_ENTRIES if g.section == section]
    return single + [Entry(base, section, "", "", text) for own, base, text in WHOLE if own == section]


def sections() -> list[str]:
    return list(dict.fromkeys(g.section for g in GOOD))


# -------------------------------------------------------------------- what is stored


def outcomes(section: str, *, every: bool = False, one_of: int = 1) -> dict[str, str]:
    """Entry -> what reading it says; of one of so many entries, and of all odd ones."""
    odd = {str(entry) for entry in _odd(section)}
    found = entries(section, every=every)
    return {name: entry.outcome() for name, entry in found.items() if name in odd or _chosen(entry, one_of, 1)}


def page(found: dict[str, str]) -> str:
    """Each different outcome once, then its entries."""
    groups: dict[str, list[str]] = {}
    for name, outcome in found.items():
        groups.setdefault(outcome, []).append(name)
    return "".join(f"{outcome}\n" + "".join(f"    {name}\n" for name in names) for outcome, names in groups.items())


def stored(section: str) -> dict[str, str]:
    found, outcome = {}, ""
    for line in (STORED / f"{section}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("    "):
            found[line[4:]] = outcome
        else:
            outcome = line
    return found


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """What changed, for people: entry, before, after."""
    changed = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    none = "(not in the corpus)"
    return [f"{name}\n    before: {before.get(name, none)}\n    after:  {after.get(name, none)}" for name in changed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the outcomes as they are now")
    parser.add_argument("--all", type=Path, metavar="FILE", help="write the outcomes of all entries")
    given = parser.parse_args()
    if given.all:
        given.all.write_text("".join(f"## {s}\n{page(outcomes(s, every=True))}" for s in sections()), encoding="utf-8")
        return
    STORED.mkdir(parents=True, exist_ok=True)
    for section in sections():
        found = outcomes(section)
        path = STORED / f"{section}.txt"
        lines = differences(stored(section) if path.exists() else {}, found)
        print(f"{section}: {len(found)} entries, {len(set(found.values()))} outcomes, {len(lines)} changed")
        if given.write:
            path.write_text(page(found), encoding="utf-8")
        elif lines:
            print("\n".join(lines))


if __name__ == "__main__":
    main()
