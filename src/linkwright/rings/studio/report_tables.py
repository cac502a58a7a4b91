"""Texts and tables of the report: facts of a mechanism, swings, drives, motors, bearings, masses, checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.api import (
    System,
    Table,
    Trajectory,
    compiled_of,
    counted,
    cycles,
    degrees_of_freedom,
    joint_limits,
    lengths,
    marked,
    records,
    show,
    unit_of,
)
from linkwright.rings.design.bearing_loads import Bearings
from linkwright.rings.design.belts import BeltGeometry, BeltTable
from linkwright.rings.design.cycle_averages import cleaned
from linkwright.rings.design.cycle_loads import CycleLoads
from linkwright.rings.design.cylinders import CylinderTable
from linkwright.rings.design.summary import NEAR_ANGLES, Range, Summary, TravelEnds, transmission_note
from linkwright.rings.studio.report_parts import note, pair, shown, table
from linkwright.rings.studio.scene_contacts import LOST

MOST_SINGULAR_PLACES = 4  # singular positions that are described
MOST_ROWS = 18  # of a table; the least loaded pins are left to the page
MOST_RANGES = 10
TRANSMISSION = "transmission at"
DEAD = 1e-6  # rad: a transmission angle below this is zero
MOST_EXTREME_PLACES = 2  # at which one extreme is reached


def amount(system: System, value: float, kind: str) -> str:
    """`12.3 N m`: in the file's units."""
    symbol, size = unit_of(system.description.units, kind)
    return f"{show(value / size)} {symbol}".strip()


# -------------------------------------------------------------------- facts


def facts(system: System, s: Summary, c: Trajectory | None) -> list[tuple[str, str]]:
    """The first lines about a mechanism; `c` is the motion of the report."""
    freedoms = degrees_of_freedom(s.freedoms)
    if s.grubler != s.mobility:
        freedoms += f" (the Grübler count gives {s.grubler})"
    idle = [" and ".join(group) for group in system.mobility.idle]
    spins = [f"{idle[0]}{f' and {len(idle) - 1} others' if len(idle) > 1 else ''} can spin freely"] if idle else []
    gravity = float(np.linalg.norm(compiled_of(system).skel.gravity))
    pull = f"gravity {show(gravity)} m/s²" if gravity else "no gravity"
    return [
        ("Mobility", "; ".join([freedoms, *spins])),
        ("Structure", f"{s.space}, {counted(s.bodies, 'moving body')}, {counted(s.joints, 'joint')}, {_loops(system)}"),
        ("Driven at", driven(system, c, s)),
        (
            "Motion",
            _short(s.motion) if c is None or c.proof is None else f"simulated for {c.t[-1] - c.t[0]:.6g} s, {counted(len(c), 'sample')}",
        ),
        ("Constraint", redundancy(system)),
        ("Moving mass", f"{amount(system, s.mass, 'mass')}, {pull}" if s.mass is not None else f"not given: kinematics only, {pull}"),
    ]


def driven(system: System, c: Trajectory | None, s: Summary) -> str:
    """The drives, and how fast where that stays the same."""
    if not s.drives:
        return f"{c.drive}, though the model has no drive" if c is not None and c.drive else "nothing: it has no drive"
    if c is None or c.drive not in s.drives or len(s.drives) > 1 or f"{c.drive}.v" not in c.channels:
        return ", ".join(s.drives)
    speed = c[f"{c.drive}.v"]
    if np.ndim(speed) > 1 or np.ptp(speed) > 1e-6 * float(np.abs(speed).max()):
        return c.drive
    return f"{c.drive}, at {amount(system, float(speed[0]), c.dimension(f'{c.drive}.v'))}"


def _loops(system: System) -> str:
    n = len(system.tree.loops)
    return counted(n, "closed loop") if n else "no loop"


def _short(motion: str) -> str:
    """A motion of many drives described by the first two; round-off of a position is zero."""
    motion = re.sub(r"-?\d(\.\d+)?e-(1[3-9]|[2-9]\d)\b", "0", motion)
    parts = motion.split(", ")
    if not motion.startswith("moves ") or len(parts) < 4:
        return motion
    _, _, seconds = motion.rpartition(" in ")
    return f"{', '.join(parts[:2])} and {len(parts) - 2} more, in {seconds}"


def redundancy(system: System) -> str:
    """Return the over-constraint as a sentence."""
    found = system.mobility.redundant
    if not found:
        return "not over-constrained" if system.tree.nc else "a tree without loops"
    count = sum(r.count for r in found)
    where = f"in loop {found[0].loop}" if len(found) == 1 else f"in {counted(len(found), 'loop')}"
    return f"over-constrained: {counted(count, 'redundant constraint')} {where}. It moves with exact dimensions only"


def ranges(
    system: System, title: str, found: tuple[Range, ...], kind: str, drive: str, at: str,
    pressure: tuple[Range, ...] = (), ends: tuple[TravelEnds, ...] = (),
) -> str:  # fmt: skip
    """Smallest and largest values over the cycle; with one drive its position there (dead centers of what swings). `ends`: of strokes."""
    symbol, size = unit_of(system.description.units, kind)
    unit, scale = unit_of(system.description.units, at)
    moving = [r for r in found if r.high - r.low > 1e-9]
    most = max(MOST_RANGES, len(moving) if len(moving) == MOST_RANGES + 1 else 0)  # "and 1 more" takes as much room as the one
    shown = _most_critical(moving, most) if title == TRANSMISSION else moving[:most]
    sizes = [(marked(r.low / size, r.near_low), marked(r.high / size, r.near_high)) for r in shown]
    rows: list[tuple[Any, ...]] = [(r.name, *x, (r.high - r.low) / size) for r, x in zip(shown, sizes, strict=True)]
    header = [(title, ""), ("min", symbol), ("max", symbol), ("range", symbol)]
    if drive:
        place = (f"at {drive}", unit)
        lows, highs = ([_at_places(x, scale) for x in column] for column in _places_of(shown))
        rows = [(*x[:2], a, x[2], b, x[3]) for x, a, b in zip(rows, lows, highs, strict=True)]
        header = [*header[:2], place, header[2], place, header[3]]
    more = f"and {len(moving) - len(shown)} more" if len(moving) > len(shown) else ""
    if title == TRANSMISSION:  # only the least angle and its place say something
        header, rows = header[: len(header) - (2 if drive else 1)], [x[: len(x) - (2 if drive else 1)] for x in rows]
    if pressure:
        largest = {r.name: marked(r.high / size, r.near_high) for r in pressure}
        header, rows = [*header, ("pressure angle up to", symbol)], [(*x, largest.get(x[0])) for x in rows]
    if ends:
        allowed = {x.name: " .. ".join("" if y is None else show(y / size) for y in (x.low, x.high)) for x in ends}
        header, rows = [*header, ("stroke", symbol)], [(*x, allowed.get(x[0])) for x in rows]
    return table(header, rows) + note(more)


def _most_critical(found: list[Range], most: int) -> list[Range]:
    """The pins that come nearest to a dead center, where there is no room for all; in the order of the file."""
    chosen = sorted(found, key=lambda r: r.low)[:most]
    return [r for r in found if r in chosen]


def _places_of(shown: list[Range]) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    return [(r.at_low, *r.also_low) for r in shown], [(r.at_high, *r.also_high) for r in shown]


def _at_places(places: tuple[float, ...], scale: float) -> Any:
    """One place as a number, several as `56.22, 303.5`."""
    if len(places) == 1:
        return places[0] / scale
    some = ", ".join(show(x / scale) for x in places[:MOST_EXTREME_PLACES])
    return f"{some}, ..." if len(places) > MOST_EXTREME_PLACES else some


def motion_tables(system: System, s: Summary, over: str, dimension: str) -> str:
    """Swings and strokes on the left, transmission angles on the right."""
    drive = over if over != "t" else ""
    swings = ranges(system, "link" if s.space == "planar" else "hinge", s.swings, "angle", drive, dimension)
    sliding = "slider or cylinder" if lengths(system.description) else "slider"
    strokes = ranges(system, sliding, s.strokes, "length", drive, dimension, ends=s.ends)
    passed = ranges(system, TRANSMISSION, s.transmission_angles, "angle", drive, dimension, s.pressure_angles)
    dead = [r.name for r in s.transmission_angles if r.low < DEAD]
    text = transmission_note(s.units) + (f" At {', '.join(dead)} it is 0: a singular position." if dead else "")
    near = any(r.near_low or r.near_high for r in (*s.transmission_angles, *s.pressure_angles))
    passed += note(f"{text} {NEAR_ANGLES}" if near else text) if passed else ""
    return pair(swings + strokes, passed)


# -------------------------------------------------------------------- drives and loads


def drives(found: CycleLoads) -> str:
    """Duty of each drive: what sizes it (the largest amount, with its sign), the whole range, RMS, speed, power, work."""
    e = found.efforts
    if e is None:
        return ""
    out = ""
    at, power, energy = (unit_of(e.units, k) for k in (e.dimension, "power", "energy"))
    for kind in ("torque", "force"):
        effort, speed = unit_of(e.units, kind), unit_of(e.units, "angular speed" if kind == "torque" else "speed")
        header = [
            ("drive", ""), (f"peak {kind}", effort[0]), (f"at {e.over}", at[0]), ("min", effort[0]), ("max", effort[0]),
            ("mean", effort[0]), ("RMS", effort[0]), ("top speed", speed[0]), ("peak power", power[0]), ("mean", power[0]),
            ("work", energy[0]), ("energy to brake", energy[0]),
        ]  # fmt: skip
        rows = [
            (
                r.drive, marked(r.peak / effort[1], r.near_peak), r.at_peak / at[1], marked(r.min / effort[1], r.near_min),
                marked(r.max / effort[1], r.near_max), marked(cleaned(r.mean, r.rms) / effort[1], r.near_peak),
                marked(r.rms / effort[1], r.near_peak), r.speed_max / speed[1], marked(r.power_peak / power[1], r.near_power_peak),
                marked(cleaned(r.power_mean, r.power_peak) / power[1], r.near_power_peak),
                marked(cleaned(r.work, r.braked) / energy[1], r.near_power_peak), marked(r.braked / energy[1], r.near_power_peak),
            )
            for r in e.rows if r.kind == kind
        ]  # fmt: skip
        moving = any(r.speed_max for r in e.rows)  # in a static analysis there is no power and no work
        out += table(header, rows) if moving else table(header[:-5], [row[:-5] for row in rows])
    return out


def bearings(b: Bearings) -> str:
    """The most loaded pins first, in the columns a bearing is chosen by."""
    t = b.table()
    order = np.argsort([-np.inf if np.isnan(x) else -x for x in np.asarray(t["max"], dtype=float)], kind="stable")
    leave = {"RMS", "P (p=10/3)"}
    heads = [(c.name, c.unit, c.style) for c in t.columns if c.name not in leave]
    ranked = Table.of(heads, [[t[name].cell(int(i)) for name, *_ in heads] for i in order])
    text = shown(ranked, MOST_ROWS)
    if len(ranked) > MOST_ROWS:
        text += note(f"{counted(len(ranked) - MOST_ROWS, 'pin')} with smaller loads are in the page's table.")
    text += "".join(note(f"{x[0].upper()}{x[1:]}.") for x in b.notes)
    return text + "".join(shown(x) for x in t.parts)


PLATE = (  # fields of a motor, how they are called on its data sheet, SI unit and its size
    ("Kt", "torque constant", "N m/A", 1.0), ("R", "resistance", "Ω", 1.0), ("Ke", "voltage constant", "V s/rad", 1.0),
    ("J", "rotor inertia", "kg m²", 1.0), ("friction", "friction torque", "N m", 1.0), ("supply_voltage", "supply", "V", 1.0),
    ("rated_torque", "rated torque", "N m", 1.0), ("rated_speed", "rated speed", "rpm", np.pi / 30.0),
    ("max_torque", "peak torque", "N m", 1.0), ("max_speed", "highest speed", "rpm", np.pi / 30.0),
)  # fmt: skip


def motor_data(motor: Any) -> str:
    """The figures of a motor's data sheet as far as they are given."""
    found = [(name, getattr(motor, field) / size, unit) for field, name, unit, size in PLATE if getattr(motor, field)]
    return ", ".join(f"{name} {show(value)} {unit}" for name, value, unit in found)


def cylinders(found: CylinderTable | None) -> str:
    """Length and stroke, largest forces, pressures, flows and volume of every cylinder; empty where there are none."""
    if not found:
        return ""
    said = " ".join(f"{x[0].upper()}{x[1:]}." for x in found.notes)
    return shown(found.table()) + note(f"Pressures above the surroundings, of the side that carries the force. {said}".rstrip())


def belts(found: BeltTable | None, drawn: Sequence[BeltGeometry]) -> str:
    """Tensions of every span, lengths and arcs of contact; empty where there are none."""
    if not found:
        return ""
    said = [f"{g.name}: {g.text(found.units)}." for g in drawn] + [f"{x[0].upper()}{x[1:]}." for x in found.notes]
    return shown(found.table()) + "".join(map(note, said))


def motor_table(sizings: list[Any]) -> str:
    """Load of each motor, against its limits."""
    units = sizings[0].units
    turning = unit_of(units, "angular speed")
    rows = []
    for s in sizings:
        x, near = s.figures(), s.load.near_peak
        rows.append((
            s.history.name, s.gear_ratio, marked(x["torque_peak"], near), marked(x["torque_rms"], near), x["speed_max"] / turning[1],
            marked(x["current_rms"], near), marked(x["voltage_max"], near), marked(x["heat_mean"], near),
        ))  # fmt: skip
    header = [
        ("motor of", ""), ("gear ratio", ""), ("peak torque", "N m"), ("RMS", "N m"), ("top speed", turning[0]), ("RMS current", "A"),
        ("voltage", "V"), ("heat", "W"),
    ]  # fmt: skip
    return table(header, rows)


def margins(sizing: Any, gearbox: Sequence[Any] = ()) -> str:
    """Every limit of the motor that is given, and of its gearbox, with what the cycle needs."""
    rows = []
    for m in (*sizing.margins, *gearbox):
        symbol, size = unit_of(sizing.units, m.dimension)
        need = show(marked(m.need / size, sizing.load.near_peak))
        rows.append((m.what, f"{need} {symbol}", f"{show(m.limit / size)} {symbol}", "met" if m.ok else "EXCEEDED"))
    return table([("limit", ""), ("needed", ""), ("allowed", ""), ("", "")], rows)


def masses(system: System) -> str:
    """Bodies with mass, center and inertia; those that are alike in one row."""
    d = system.description
    mass, length = unit_of(d.units, "mass"), unit_of(d.units, "length")
    axes = d.plane or "xyz"
    header = [("body", ""), ("mass", mass[0]), *((f"center {x}", length[0]) for x in axes)]
    header += [("inertia", "kg m²")] if d.planar else [(f"I{x}{x}", "kg m²") for x in "xyz"]
    alike: dict[tuple[str, ...], tuple[tuple[Any, ...], list[str]]] = {}
    for b in d.moving:
        if b.mass is None:
            continue
        inertia = [b.inertia[2][2]] if d.planar else [b.inertia[i][i] for i in range(3)]
        center = [None if b.mass == 0.0 else x / length[1] for x in b.com[: len(axes)]]
        row = (b.mass / mass[1], *center, *inertia)
        alike.setdefault(tuple(show(x) for x in row), (row, []))[1].append(b.name)
    rows = [(names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} alike", *row) for row, names in alike.values()]
    text = table(header, rows[:MOST_ROWS])
    return text + note(f"and {counted(len(rows) - MOST_ROWS, 'more body')}" if len(rows) > MOST_ROWS else "")


# -------------------------------------------------------------------- checks


def remarks(c: Trajectory, loads: CycleLoads) -> list[str]:
    """Sentences about a cycle that are no checks: singular positions by name, soft stops that are pressed, drives, sampling."""
    d = c.skel.tree.description
    places = [f"{x.drive} = {cycles.position_text(d, x.drive, c.place(x.at))}: {x.geometry}." for x in c.singular if x.geometry]
    out = [*places[:MOST_SINGULAR_PLACES], *(f"{x[0].upper()}{x[1:]}." for x in joint_limits.beyond_stops(c, rigid=False))]
    return [*out, *(() if loads.bearings is None else c._each_loads[0].notes), *loads.notes]


def event(e: records.RunEvent) -> str:
    """`taut: engage rope, 0.369 J lost`."""
    did = [str(e.values["did"])] if "did" in e.values else []
    did += [f"{show(float(e.values[LOST]))} J lost"] if LOST in e.values else []
    return f"{e.name}: {', '.join(did)}" if did else e.name


def after_impacts(b: Bearings, run: Trajectory, t: np.ndarray) -> str:
    """Loads that are largest at the first sample `t` after an impact, which itself has no load in newtons."""
    for e in run.events:
        if LOST not in e.values or not np.any(t > e.time):
            continue
        first = float(t[t > e.time][0])
        hit = list(dict.fromkeys(r.pin for r in b.rows if r.at_max == first))
        if hit:
            return (
                f"{', '.join(hit)}: largest at t = {first:.4g} s, the first sample after the impact '{e.name}' at {e.time:.4g} s. The blow "
                "itself passes momentum in no time, so it has no load in this table."
            )
    return ""
