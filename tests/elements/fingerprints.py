"""What every model answers, stored to twelve digits, or compared bit by bit between two versions on one machine.

    python -m tests.elements.fingerprints                     print what differs from what is stored, of all models
    python -m tests.elements.fingerprints --write             store the answers as they are now (tests/data/elements/models)
    python -m tests.elements.fingerprints --bits FOLDER       write every answer as exact text, FOLDER/model/aspect.txt
    python -m tests.elements.fingerprints --compare ONE TWO   print which answers of two such folders differ, and where

What is stored of an answer: a hash of its text with every number replaced by #, and for each 64 numbers a weighted sum, so that another
machine's last digits make no difference and a change of one number by 1e-9 does, or by 1e-7 if it comes from a run. Names after the
options choose models.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.elements import aspects, models
from tests.elements.canonical import FOLDER

STORED = FOLDER / "models"
NUMBER = re.compile(r"(?<![\w.#])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]*\w)")
CHUNK = 64  # numbers in a sum
INFINITE = 1e12  # from here on a number is one divided by round-off, of either sign


class Fineness(NamedTuple):
    """How exactly numbers are compared: below `small` by their size, above by their digits; `agrees` is a share of the sum of sizes."""

    small: float = 1e-2
    agrees: float = 2e-13


EXACT = Fineness()
OF_RUNS = Fineness(1.0, 5e-12)  # round-off that a run has let grow: up to 1e-11 between machines; a change by 1e-7 shows
SHOWN = 12  # lines of a difference


def fineness(aspect: str) -> Fineness:
    """How exactly an aspect is compared."""
    return OF_RUNS if aspect in aspects.INTEGRATED else EXACT


def fingerprint(text: str, fine: Fineness = EXACT) -> dict[str, Any]:
    """The text without its numbers, and these in a few."""
    numbers = [float(x) for x in NUMBER.findall(text)]
    shape = hashlib.sha256(NUMBER.sub("#", text).encode()).hexdigest()[:16]
    return {"text": shape, "count": len(numbers), "sums": [_sum(numbers[k : k + CHUNK], fine)[0] for k in range(0, len(numbers), CHUNK)]}


def _sum(numbers: list[float], fine: Fineness) -> tuple[float, float]:
    """A sum with weights that know the order, and its size."""
    sizes = [math.asinh(x / fine.small) if abs(x) < INFINITE else 1e3 for x in numbers]
    return math.fsum((1.0 + 0.5 * math.sin(k)) * x for k, x in enumerate(sizes)), math.fsum(1.0 + abs(x) for x in sizes)


def difference(before: dict[str, Any] | None, text: str, fine: Fineness = EXACT) -> str:
    """In what a text differs from a stored fingerprint; empty if in nothing."""
    if before is None:
        return "is not stored"
    now = fingerprint(text, fine)
    if now["count"] != before["count"]:
        return f"has {now['count']} numbers, not {before['count']}"
    if now["text"] != before["text"]:
        return "has other words"
    numbers = [float(x) for x in NUMBER.findall(text)]
    for k, (one, two) in enumerate(zip(before["sums"], now["sums"], strict=True)):
        part = numbers[k * CHUNK : (k + 1) * CHUNK]
        if abs(one - two) > fine.agrees * _sum(part, fine)[1]:
            return f"has another number among those from {k * CHUNK} to {k * CHUNK + len(part) - 1}, by about {abs(one - two):.1e}"
    return ""


def answers(name: str, chosen: Iterable[str] | None = None) -> Iterator[tuple[str, str]]:
    """Aspects of a model and their texts; all of them if none are chosen."""
    model = aspects.Model(models.given(name))
    own = aspects.OF_EVERYTHING if name in models.EVERYTHING else {}
    for aspect in [*aspects.QUICK, *aspects.SLOW, *own] if chosen is None else chosen:
        yield aspect, aspects.answer(aspect, model)


def stored(name: str) -> dict[str, Any]:
    path = STORED / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def differences(name: str, chosen: Iterable[str] | None = None) -> list[str]:
    """What a model answers in another way than stored, for people."""
    before = stored(name)
    told = ((aspect, difference(before.get(aspect), text, fineness(aspect))) for aspect, text in answers(name, chosen))
    return [f"{name}: {aspect} {said}" for aspect, said in told if said]


def compare(one: Path, two: Path) -> list[str]:
    """Answers of two folders that differ, with the first lines that do."""
    found = []
    for name in sorted({p.relative_to(folder) for folder in (one, two) for p in folder.rglob("*.txt")}):
        texts = [(folder / name).read_text(encoding="utf-8") if (folder / name).exists() else "" for folder in (one, two)]
        if texts[0] != texts[1]:
            changed = difflib.unified_diff(texts[0].splitlines(), texts[1].splitlines(), str(one / name), str(two / name), "", "", 0, "")
            found += [line if len(line) < 400 else f"{line[:400]} .." for line in list(changed)[:SHOWN]]
    return found


def _write(name: str) -> None:
    found = {aspect: fingerprint(text, fineness(aspect)) for aspect, text in answers(name)}
    rows = [f"  {json.dumps(aspect)}: {json.dumps(one)}" for aspect, one in found.items()]
    (STORED / f"{name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the answers as they are now")
    parser.add_argument("--bits", type=Path, metavar="FOLDER", help="write every answer as exact text")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("ONE", "TWO"), help="print which answers of two folders differ")
    parser.add_argument("models", nargs="*", help="names of models (default: all)")
    given = parser.parse_args()
    if given.compare:
        lines = compare(*given.compare)
        print("\n".join(lines) if lines else "all answers are equal bit by bit")
        raise SystemExit(bool(lines))
    STORED.mkdir(parents=True, exist_ok=True)
    for name in given.models or (models.names() if not given.bits else [*models.names(), *models.documented()]):
        if given.bits:
            (given.bits / name).mkdir(parents=True, exist_ok=True)
            for aspect, text in answers(name):
                (given.bits / name / f"{aspect}.txt").write_text(text, encoding="utf-8")
        elif given.write:
            _write(name)
        else:
            print("\n".join(differences(name) or [f"{name}: as stored"]), flush=True)


if __name__ == "__main__":
    main()
