"""Notes of an import while it runs: inferences, warnings, and elements left out, counted by kind."""

from __future__ import annotations

from collections import Counter

from linkwright.api import counted, listing
from linkwright.rings.exchange.import_report import ImportReport

MOST_TOGETHER = 12  # in one sentence about several


class ImportNotes:
    """Sentences for the report of one file, in the order in which they arise, each once."""

    def __init__(self, source: str, format: str):
        self.source, self.format = source, format
        self.inferences: dict[str, list[str]] = {}  # sentences; those that end a sentence about joints, with the joints' names
        self.warnings: dict[str, None] = {}
        self.sentences: dict[str, None] = {}  # losses that are sentences of their own
        self.counts: Counter[str] = Counter()  # losses by kind
        self.named: dict[str, list[str]] = {}
        self.speed_limits: dict[str, float] = {}
        self.moving: set[str] = set()  # kinds and sentences of losses without which the mechanism moves otherwise

    def infer(self, sentence: str) -> None:
        self.inferences.setdefault(sentence, [])

    def infer_of_joint(self, name: str, rest: str) -> None:
        """Note something of a joint; all joints of which the same is noted are in one sentence."""
        self.inferences.setdefault(rest, []).append(name)

    def warn(self, sentence: str) -> None:
        self.warnings[sentence] = None

    def drop(self, kind: str, name: str = "", *, mechanism: bool = False) -> None:
        """Something that has no counterpart: "collision shape", "sensor"; named where the name helps.

        `mechanism`: without it the mechanism moves otherwise, so that the loss is a warning too.
        """
        self.moving |= {kind} if mechanism else set()
        self.counts[kind] += 1
        if name:
            self.named.setdefault(kind, []).append(name)

    def lose(self, sentence: str, *, mechanism: bool = False) -> None:
        self.moving |= {sentence} if mechanism else set()
        self.sentences[sentence] = None

    def report(self) -> ImportReport:
        losses = {kind: _counted(kind, n, self.named.get(kind, [])) for kind, n in self.counts.items()} | {x: x for x in self.sentences}
        fast = len(self.speed_limits)
        limits = f"{'velocity limit' if fast == 1 else 'velocity limits'} of {counted(fast, 'joint')}, listed in m.imported.speed_limits"
        return ImportReport(
            self.source,
            self.format,
            tuple(_together(rest, names) for rest, names in self.inferences.items()),
            (*losses.values(), *([limits] if fast else [])),
            speed_limits=tuple(self.speed_limits.items()),
            notes=tuple(self.warnings),
            moving=tuple(text for kind, text in losses.items() if kind in self.moving),
        )


def _together(rest: str, names: list[str]) -> str:
    if len(names) < 2:
        return f"joint '{names[0]}': {rest}" if names else rest
    return f"joints {listing(names, MOST_TOGETHER)}: {rest}"


def _counted(kind: str, n: int, names: list[str]) -> str:
    most_named = 6  # of a kind that was dropped
    shown = f": {listing(dict.fromkeys(names), most_named)}" if names else ""
    noun, of, rest = kind.partition(next((x for x in (" of ", " without ") if x in kind), "\n"))
    return f"{counted(n, noun)}{of}{rest}{shown}"
