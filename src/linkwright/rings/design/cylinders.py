"""Cylinders over a cycle in the figures of a data sheet: length and stroke, push and pull, pressures, flows and volumes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from linkwright.api import Result, Table, Trajectory, UsageError, description, joint_limits, marked, nearest, unit_of
from linkwright.results.channels.cylinders import areas, force
from linkwright.rings.design.cycle_averages import extremes


@dataclass(frozen=True)
class CylinderDuty:
    """One cylinder over a cycle, SI: its motion and force, and pressure, flow and volume of its two ends. None without bore, rod or stroke.

    `push` and `pull` are the largest forces of either sign, both positive; pressures are those above the surroundings of the end that
    carries the force; flows are the largest into an end; volumes are those of the travel.
    """

    name: str
    shortest: float
    longest: float
    stroke: tuple[float, float] | None
    push: float
    pull: float
    cap_pressure: float | None
    rod_pressure: float | None
    cap_flow: float | None
    rod_flow: float | None
    cap_volume: float | None
    rod_volume: float | None
    power: float  # largest of force times speed
    near_push: bool = False  # taken near a singular position
    near_pull: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class CylinderTable(Result):
    """All cylinders of a cycle; prints as a table in the file's units."""

    rows: tuple[CylinderDuty, ...]
    units: tuple[str, ...]

    def __iter__(self) -> Iterator[CylinderDuty]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> CylinderDuty:
        for row in self.rows:
            if row.name == name:
                return row
        raise UsageError(f"there is no cylinder '{name}'.", nearest(name, [r.name for r in self.rows], "Cylinders"))

    def as_dict(self) -> dict[str, Any]:
        return {"cylinders": [r.as_dict() for r in self.rows]}

    def table(self) -> Table:
        """Return the figures in the file's units; those that no cylinder has are left out."""
        length, push, pressure, flow, volume = (unit_of(self.units, k) for k in ("length", "force", "pressure", "flow", "volume"))
        heads = [
            ("cylinder", ""), ("shortest", length[0], ".5g"), ("longest", length[0], ".5g"), ("stroke from", length[0], ".5g"),
            ("stroke to", length[0], ".5g"), ("max push", push[0]), ("max pull", push[0]), ("cap end", pressure[0]),
            ("rod end", pressure[0]), ("into cap end", flow[0]), ("into rod end", flow[0]), ("volume", volume[0]),
        ]  # fmt: skip
        rows = [
            (
                r.name, r.shortest / length[1], r.longest / length[1], *(_in(x, length[1]) for x in r.stroke or (None, None)),
                marked(r.push / push[1], r.near_push), marked(r.pull / push[1], r.near_pull), _in(r.cap_pressure, pressure[1]),
                _in(r.rod_pressure, pressure[1]), _in(r.cap_flow, flow[1]), _in(r.rod_flow, flow[1]), _in(r.cap_volume, volume[1]),
            )
            for r in self.rows
        ]  # fmt: skip
        return Table.of(heads, rows, "cylinders", self.notes).without_empty()

    @property
    def notes(self) -> tuple[str, ...]:
        """Cylinders that would have to pull without a rod end."""
        single = [r.name for r in self.rows if r.cap_pressure is not None and r.rod_pressure is None and r.pull > 1e-9 * max(r.push, 1.0)]
        return tuple(f"cylinder '{name}' has to pull but has no rod end, which needs `rod:`" for name in single)


def _in(x: float | None, size: float) -> float | None:
    return None if x is None else x / size


def cylinders(c: Trajectory) -> CylinderTable:
    """Return the figures of every cylinder over a cycle; forces need masses."""
    d = c.skel.tree.description
    return CylinderTable(tuple(_duty(c, x) for x in d.cylinders), d.units)


def _duty(c: Trajectory, x: description.Cylinder) -> CylinderDuty:
    length, rate = c[x.name], c[f"{x.name}.v"]
    name = f"force of {x.name}"
    f = c._sampled({name: lambda i: force(i, x)}, loads=True)[name]
    lows, highs = joint_limits.stops_of(c.skel.tree.description, x.name)
    ends, reach, speed, work = (extremes(c.t, y, c.t) for y in (f, length, rate, f * rate))
    push, pull = max(ends.high, 0.0), max(-ends.low, 0.0)
    A, B = (None, None) if x.bore is None else areas(x)
    out, back, travel = max(speed.high, 0.0), max(-speed.low, 0.0), reach.high - reach.low
    return CylinderDuty(
        name=x.name,
        shortest=reach.low,
        longest=reach.high,
        stroke=(max(lows), min(highs)) if lows and highs else None,
        push=push,
        pull=pull,
        cap_pressure=None if A is None else push / float(A),
        rod_pressure=None if B is None else pull / float(B),
        cap_flow=None if A is None else out * float(A),
        rod_flow=None if B is None else back * float(B),
        cap_volume=None if A is None else travel * float(A),
        rod_volume=None if B is None else travel * float(B),
        power=max(work.high, -work.low),
        near_push=bool(c.near_singular[ends.sample_high]),
        near_pull=bool(c.near_singular[ends.sample_low]) and pull > 0.0,
    )
