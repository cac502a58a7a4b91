"""A model read from another program's file: its description, and what became of the file's contents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from linkwright.api import Description, Result, Table, tolerances, visible

MOST_SAID = 8  # sentences in a warning; `m.imported.notes` has all


@dataclass(frozen=True)
class ImportReport(Result):
    """Inferences and losses of an import, one sentence each, and how well the loops close in the file's own pose."""

    source: str  # the file
    format: str  # "URDF", "SDF 1.9", "MJCF"
    inferred: tuple[str, ...] = ()  # "coupler and rocker: two points on one axis become the hinge 'C'"
    dropped: tuple[str, ...] = ()  # "3 collision shapes", "sensor 'imu'"
    gaps: tuple[tuple[str, float], ...] = ()  # joint that closes a loop -> distance of its two sides in the file's pose, m
    angles: tuple[tuple[str, float], ...] = ()  # the same of the rotation that it holds, rad; joints that hold none are not listed
    moving: tuple[str, ...] = ()  # those of `dropped` without which the mechanism moves otherwise
    stays_open: str = ""  # the loop that no start near the file's pose closes
    speed_limits: tuple[tuple[str, float], ...] = ()  # joint -> largest speed that the file gives, rad/s or m/s
    notes: tuple[str, ...] = ()  # "1 mesh is not shown, there is no such file: arm.stl of arm"

    def warning(self) -> ImportedModelWarning | None:
        """Return the warning of all that counts, None if nothing does."""
        every = (*self.notes, *(f"left out: {x}" for x in self.moving))
        return ImportedModelWarning(self.source, every) if every else None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data. Gaps, angles and largest speeds by joint."""
        return asdict(self) | {name: dict(getattr(self, name)) for name in ("gaps", "angles", "speed_limits")}

    def table(self) -> Table:
        """Return what was inferred, dropped and noted, and how far each loop is open in the file's pose."""
        kinds = (("inferred", self.inferred), ("dropped", self.dropped), ("note", self.notes))
        rows: list[tuple[Any, ...]] = [(kind, visible(text), None, None) for kind, texts in kinds for text in texts]
        angles = dict(self.angles)
        rows += [("loop", name, x, angles.get(name)) for name, x in self.gaps]
        return Table.of([("kind", ""), ("what", ""), ("gap", "m", ".3g"), ("angle", "rad", ".3g")], rows, f"import of {self.format}")

    def __str__(self) -> str:
        lines = [f"read from {self.source} ({self.format})"]
        for title, sentences in (("inferred", self.inferred), ("dropped", self.dropped), ("note", self.notes)):
            lines += [f"  {title}: {text}" for text in sentences]
        angles = dict(self.angles)
        lines += [f"  loop at {name}: {_open(x, angles.get(name, 0.0))} in the file's pose" for name, x in self.gaps]
        return visible("\n".join(lines))


def _open(distance: float, angle: float) -> str:
    if distance < tolerances.OPEN and angle < tolerances.OPEN:
        return f"closed to {distance:.1e} m"
    turned = f" and {angle:.3g} rad" if angle >= tolerances.OPEN else ""
    return f"open by {distance:.3g} m{turned}"


class ImportedModelWarning(UserWarning):
    """A file of which something that counts is missing, impossible or left out. `warnings` lists it. The text is for people."""

    def __init__(self, source: str, warnings: Iterable[str]):
        self.source, self.warnings = source, tuple(warnings)
        more = len(self.warnings) - MOST_SAID
        said = [*self.warnings[:MOST_SAID], *([f"and {more} more (m.imported has all)"] if more > 0 else [])]
        lines = [f"line {x.removeprefix(f'{source}:')}" if x.startswith(f"{source}:") else x for x in said]
        super().__init__(visible(f"{source}: {'; '.join(lines)}."))


@dataclass(frozen=True)
class Imported:
    """A description made from a file. Joints that close loops are joints like all others; `closing` names those that the file
    lists as closures (points, welds, loop joints), which are the ones that may be understood otherwise."""

    description: Description
    closing: tuple[str, ...] = ()
    report: ImportReport = field(default_factory=lambda: ImportReport("", ""))
    points_only: tuple[str, ...] = ()  # closing hinges of which the file's own program closes the point alone
    start_given: bool = False  # the file says where the mechanism starts, so that it stays there where the loops are closed
    text: str = ""  # model file that the description was read from, where the importer wrote one
