"""Answers of a synthesis: several linkages, ranked, those free of defects first."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from linkwright.api import Mechanism, Result, Table, UsageError, call_explained, counted, errors, modelfile, parse_unit
from linkwright.rings.synthesis.linkage import Linkage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import SynthesisPlotOptions

DEFECTS = {
    "grashof": "the crank cannot turn fully",
    "branch": "the target positions lie on two branches",
    "circuit": "the target positions lie on two circuits: it must be taken apart to reach all of them",
    "order": "the target positions are met in another order",
}
# measures by what they are: of the output (a length, or an angle where the output turns), other lengths and angles; the rest are numbers
OUTPUTS = frozenset(
    {"largest deviation", "rms deviation", "largest error", "rms error", "stroke", "dwell range", "overshoot", "output start"}
)
LENGTHS = frozenset({"longest link", "crank", "gap", "straightness"})
ANGLES = frozenset({"least transmission angle", "swing", "crank start", "line from", "line to"})


@dataclass(frozen=True, eq=False)
class SynthesizedLinkage(errors.Renamed):
    """One linkage, how well it does what was asked, and what speaks against it."""

    linkage: Linkage
    error: float  # what was minimized, in SI; of a path the sum of squared distances, m^2
    defects: tuple[str, ...] = ()  # keys of DEFECTS
    measures: Mapping[str, float] = field(default_factory=dict)  # largest deviation, link ratio, least transmission angle, ... in SI
    cognates: tuple[Linkage, ...] = ()
    notes: tuple[str, ...] = ()
    unit: str = "m"
    speed: Any = "60 rpm"
    at: tuple[float, ...] = ()  # drive angle from the drawn position at each wanted position, rad
    wanted: tuple[complex, ...] = ()  # points of a path, m
    missed: tuple[str, ...] = ()  # bounds of the request that the linkage does not meet, with by how much

    @property
    def usable(self) -> bool:
        """True if it has no defect and meets every bound."""
        return not self.defects and not self.missed

    @property
    def missed_names(self) -> tuple[str, ...]:
        """Names of the bounds that are not met, each once."""
        return tuple(dict.fromkeys(text.partition(":")[0] for text in self.missed))

    @property
    def document(self) -> dict[str, Any]:
        """The model as a dict, as `lw.load` takes it."""
        return self.linkage.document(unit=self.unit, speed=self.speed)

    @property
    def mechanism(self) -> Mechanism:
        """The Mechanism of the linkage, without masses. Its `save(path)` writes the model file, with measures and defects in a comment."""
        return Mechanism(modelfile.read_text(self.text(), "linkage"))

    def text(self, name: str = "") -> str:
        """Return the model file of the linkage: YAML, with measures and defects in a comment."""
        import yaml

        document = self.linkage.document(name=name, unit=self.unit, speed=self.speed)
        facts = ", ".join(f"{n} {self.shown(n)}" for n in self.measures)
        comment = [f"# {self.linkage.kind} by synthesis: {facts}".rstrip(": "), *(f"# defect: {DEFECTS.get(d, d)}" for d in self.defects)]
        comment += [f"# bound not met: {text}" for text in self.missed]
        comment += [f"# {note}" for note in self.notes]
        return "\n".join([*comment, yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)])

    def as_dict(self) -> dict[str, Any]:
        """Return the linkage, its defects and measures as plain data, in SI and radians."""
        return {
            "kind": self.linkage.kind,
            "usable": self.usable,
            "error": float(self.error),
            "defects": list(self.defects),
            "missed": list(self.missed),
            "measures": {name: float(value) for name, value in self.measures.items()},
            "notes": list(self.notes),
            "pins": _pins(self.linkage),
            "drive": self.linkage.drive,
            "output": self.linkage.output,
            "angles": list(self.at),
            "cognates": [_pins(c) for c in self.cognates],
        }

    def shown(self, measure: str) -> str:
        """Return a measure with its unit: lengths in the user's unit, angles in degrees."""
        factor, unit = self.unit_of(measure)
        return f"{self.measures[measure] / factor:.4g}{f' {unit}' if unit else ''}"

    def unit_of(self, measure: str) -> tuple[float, str]:
        """Return the size of a measure's unit for people, and its symbol."""
        rotary = self.linkage.output.endswith(".angle") or self.linkage.output in self.linkage.pins
        if measure in ANGLES or (rotary and measure in OUTPUTS):
            return math.pi / 180.0, "deg"
        return (parse_unit(self.unit)[0], self.unit) if measure in LENGTHS | OUTPUTS else (1.0, "")


def _pins(linkage: Linkage) -> dict[str, dict[str, float]]:
    return {name: {"x": float(z.real), "y": float(z.imag)} for name, z in linkage.pins.items()}


@dataclass(frozen=True, eq=False)
class SynthesisResult(Result, Sequence[SynthesizedLinkage]):
    """Linkages that a synthesis found, best first. `facts` describe how complete the search was."""

    task: str
    found: tuple[SynthesizedLinkage, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, k: int) -> SynthesizedLinkage: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[SynthesizedLinkage, ...]: ...
    def __getitem__(self, k: int | slice) -> SynthesizedLinkage | tuple[SynthesizedLinkage, ...]:
        """Return a linkage by its place, 0 for the best, or several."""
        return self.found[k]

    def __iter__(self) -> Iterator[SynthesizedLinkage]:
        return iter(self.found)

    @property
    def best(self) -> SynthesizedLinkage:
        """The first linkage. UsageError if there is none."""
        if not self.found:
            raise UsageError(" ".join([f"{self.task}: no linkage was found.", *self.notes]))
        return self.found[0]

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Unpack[SynthesisPlotOptions]) -> Figure | Path:
        """Draw the first linkages, their paths and the target points (a Figure, or with `path` a file). Count: how many, six at most."""
        from linkwright.rings.studio.synthesis_plots import plot

        return call_explained(plot)(self, path, **options)

    def as_dict(self) -> dict[str, Any]:
        """Return all linkages as plain data, in SI and radians."""
        facts = {str(k): v if isinstance(v, (str, int, float, bool)) else str(v) for k, v in self.facts.items()}
        return {"task": self.task, "answers": [x.as_dict() for x in self], "facts": facts, "notes": list(self.notes)}

    def table(self) -> Table:
        """Return a row for each linkage, best first: what was minimized (SI), measures in the user's units, defects."""
        names = list(dict.fromkeys(n for x in self.found for n in x.measures))
        units = {n: next(x.unit_of(n) for x in self.found if n in x.measures) for n in names}
        heads = [
            ("place", ""), ("kind", ""), ("error", "SI", ".6g", "what was minimized"), *((n, units[n][1] or "-", ".4g") for n in names),
            ("defects", ""), ("cognates", ""),
        ]  # fmt: skip
        rows = []
        for k, x in enumerate(self.found):
            measures = [x.measures[n] / units[n][0] if n in x.measures else None for n in names]
            defects = ", ".join([*x.defects, *(f"{name} missed" for name in x.missed_names)])
            rows.append((k, x.linkage.kind, x.error, *measures, defects or "none", len(x.cognates)))
        return Table.of(heads, rows, "linkages", self.notes)

    def __str__(self) -> str:
        usable = sum(x.usable for x in self.found)
        lines = [f"{self.task}: {counted(len(self.found), 'linkage')}, {usable} usable", *([self.table().text()] if self.found else [])]
        lines += [f"{k}: bound not met, {text}" for k, x in enumerate(self.found) for text in x.missed]
        lines += [f"{k}: {note}" for k, x in enumerate(self.found) for note in x.notes]
        return "\n".join([*lines, *self.notes])


def ranked(found: Sequence[SynthesizedLinkage], *, rounding: float = 0.0) -> tuple[SynthesizedLinkage, ...]:
    """Those without defects first, then by error; among those whose error is rounding, the better transmission angle first."""

    def key(x: SynthesizedLinkage) -> tuple[bool, float, float]:
        exact = x.error <= rounding
        return bool(x.defects), 0.0 if exact else x.error, -x.measures.get("least transmission angle", 0.0) if exact else 0.0

    return tuple(sorted(found, key=key))
