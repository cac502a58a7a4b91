"""A model read from another program's file: its description, and what became of the file's contents."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwright.model.description import Description


@dataclass(frozen=True)
class ImportReport:
    """Inferences and losses of an import, one sentence each, and how well the loops close in the file's own pose."""

    source: str  # the file
    format: str  # "URDF", "SDF 1.9", "MJCF"
    inferred: tuple[str, ...] = ()  # "coupler and rocker: two points on one axis become the hinge 'C'"
    dropped: tuple[str, ...] = ()  # "3 collision shapes", "sensor 'imu'"
    gaps: tuple[tuple[str, float], ...] = ()  # joint that closes a loop -> distance of its two sides in the file's pose, m
    angles: tuple[tuple[str, float], ...] = ()  # the same of the rotation that it holds, rad; joints that hold none are not listed


@dataclass(frozen=True)
class Imported:
    """A description made from a file. Joints that close loops are joints like all others; `closing` names those that the file
    lists as closures (points, welds, loop joints), which are the ones that may be understood otherwise."""

    description: Description
    closing: tuple[str, ...] = ()
    report: ImportReport = field(default_factory=lambda: ImportReport("", ""))
