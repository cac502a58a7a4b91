"""Answers of a synthesis: several linkages, ranked, those free of defects first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwright.errors import UsageError
from linkwright.files.columns import table
from linkwright.synthesis.linkage import Linkage

DEFECTS = {
    "grashof": "the crank cannot turn fully",
    "branch": "the wanted positions lie on two branches",
    "circuit": "the wanted positions lie on two circuits: it must be taken apart to reach all of them",
    "order": "the wanted positions are met in another order",
}


@dataclass(frozen=True, eq=False)
class SynthesisedLinkage:
    """One linkage, how well it does what was asked, and what speaks against it."""

    linkage: Linkage
    error: float  # what was minimised, in SI
    defects: tuple[str, ...] = ()  # keys of DEFECTS
    measures: Mapping[str, float] = field(default_factory=dict)  # largest deviation, link ratio, least transmission angle, ... in SI
    cognates: tuple[Linkage, ...] = ()
    notes: tuple[str, ...] = ()
    made: Callable[[dict[str, Any]], Any] | None = field(default=None, repr=False)  # a Mechanism of a document
    unit: str = "m"
    speed: Any = "60 rpm"

    @property
    def usable(self) -> bool:
        return not self.defects

    @property
    def document(self) -> dict[str, Any]:
        """The model as a dict, as `lw.load` takes it."""
        return self.linkage.document(unit=self.unit, speed=self.speed)

    @property
    def mechanism(self) -> Any:
        """The Mechanism of the linkage, without masses."""
        assert self.made is not None
        return self.made(self.document)


@dataclass(frozen=True, eq=False)
class Syntheses(Sequence[SynthesisedLinkage]):
    """Linkages that a synthesis found, best first; `facts` say how complete the search was."""

    task: str
    found: tuple[SynthesisedLinkage, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, k: Any) -> Any:
        return self.found[k]

    def __iter__(self) -> Iterator[SynthesisedLinkage]:
        return iter(self.found)

    @property
    def best(self) -> SynthesisedLinkage:
        if not self.found:
            raise UsageError(f"{self.task}: no linkage was found.")
        return self.found[0]

    def __str__(self) -> str:
        usable = sum(x.usable for x in self.found)
        lines = [f"{self.task}: {len(self.found)} linkages, {usable} usable"]
        names = list(dict.fromkeys(n for x in self.found for n in x.measures))
        rows = [
            (k, x.linkage.kind, f"{x.error:.6g}", *(f"{x.measures[n]:.4g}" if n in x.measures else "-" for n in names),
             ", ".join(x.defects) or "none", len(x.cognates))
            for k, x in enumerate(self.found)
        ]  # fmt: skip
        lines.append(
            table(("", "kind", "error", *names, "defects", "cognates"), [tuple(map(str, r)) for r in rows], left=(1, 3 + len(names)))
        )
        return "\n".join([*lines, *self.notes])


def ranked(found: Sequence[SynthesisedLinkage]) -> tuple[SynthesisedLinkage, ...]:
    """Those without defects first, then by error."""
    return tuple(sorted(found, key=lambda x: (bool(x.defects), x.error)))
