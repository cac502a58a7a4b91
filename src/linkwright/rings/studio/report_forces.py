"""Forces on a mechanism and the drive efforts for them, in short lines for the head of the report.

Loads, springs, dampers, friction, stops and pushing cylinders of the file: where each acts, and between which values over the motion;
mean effort and work of a cycle of every drive; a flywheel for a fluctuation of 5 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.api import (
    Description,
    Expr,
    LinkwrightError,
    PointRef,
    System,
    Trajectory,
    coordinates,
    description,
    elements,
    expressions,
    forces,
    inverse,
    show,
    unit_of,
)
from linkwright.rings.design.cycle_averages import cleaned
from linkwright.rings.design.cycle_loads import CycleLoads
from linkwright.rings.design.flywheel import flywheel
from linkwright.rings.studio.report_parts import MINUS

MOST_LOADS = 6
MOST_LOOKS = 400  # samples at which loads are evaluated
FLUCTUATION = 0.05
NOTHING = "nothing in this motion"


# -------------------------------------------------------------------- loads


def acting(system: System, c: Trajectory | None) -> list[str]:
    """All that acts beside weight and drives, a line each."""
    d = system.description
    driven = {x.joint for x in d.drives}
    pushing = [x for x in d.acting if x.acts != elements.IDLE and not (x.coordinate and x.name in driven)]
    rubbing = [x for x in pushing if x.by_load]
    found = sorted((x for x in pushing if not x.by_load), key=lambda x: (not x.from_outside, not x.coordinate))
    several = len(pushing) > MOST_LOADS
    lines = [line(system, x, c) for x in (found if several else [*found, *rubbing])]
    lines += _rubbing(system, rubbing, c) if several else []
    more = [f"and {len(lines) - MOST_LOADS} more"] if len(lines) > MOST_LOADS else []
    return [*lines[:MOST_LOADS], *more]


def _rubbing(system: System, rubbing: list[Any], c: Trajectory | None) -> list[str]:
    """Friction of many joints in a line for hinges and one for sliders: `friction in A, B, C: up to 0.52 N m`."""
    d = system.description
    kinds: dict[str, list[Any]] = {}
    for x in rubbing:
        kinds.setdefault("torque" if coordinates.joint_part(d, x.joint).kinds == {"angle"} else "force", []).append(x)
    out = []
    for kind, alike in kinds.items():
        symbol, size = unit_of(d.units, kind)
        top = 0.0 if c is None else max(float(values.max()) for x in alike for values in _history(x, c)) / size
        said = "" if c is None else f": up to {show(top)} {symbol}" if top > 0.0 else f": {NOTHING}"
        out.append(f"friction in {', '.join(x.joint for x in alike)}{said}")
    return out


def line(system: System, x: Any, c: Trajectory | None) -> str:
    """`work on ram.D: 0 .. 5000 N (over ram.D.y)`; without a motion only where it acts."""
    kind = x.says or x.word
    name = x.name if kind in x.name or kind == "load" else f"{kind} {x.name}"
    said = _sizes(system.description, x, c) if c is not None else ""
    return f"{name} {where(system.description, x)}" + (f": {said}" if said else "")


def where(d: Description, x: Any) -> str:
    """`on ram.D`, `in A`, `ground.E to right.D`."""
    if x.acts == elements.POINT:
        return f"on {_point(d, (x.body, x.point))}"
    return f"in {x.joint}" if x.acts == elements.JOINT else f"{_point(d, x.between[0])} to {_point(d, x.between[1])}"


def _point(d: Description, ref: PointRef) -> str:
    """A body's point; a point that is the body's origin or has a made-up name goes by the body alone."""
    body, name = ref
    named = name and not name.startswith("_") and any(p.name == name for p in d.body(body).points)
    return f"{body}.{name}" if named else body


def _sizes(d: Description, x: Any, c: Trajectory) -> str:
    force, moment = _history(x, c)
    parts = []
    for values, kind in ((force, "force"), (moment, "torque")):
        symbol, size = unit_of(d.units, kind)
        low, high = float(values.min()) / size, float(values.max()) / size
        if high > 0.0:
            parts.append(f"{show(low)} .. {show(high)} {symbol}" if high - low > 1e-6 * high else f"{_directed(d, x, kind, high)} {symbol}")
    over = sorted(_channels(x))
    return (" and ".join(parts) or NOTHING) + (f", over {', '.join(over)}" if over else "")


def _directed(d: Description, x: Any, kind: str, size: float) -> str:
    """A constant size with its direction: `200 N along -x` is written as (-200, 0), a moment in the plane with its sign."""
    law = () if x.acts != elements.POINT else x.force if kind == "force" else x.moment
    if not law or any(isinstance(y, (Expr, description.Table)) for y in law):
        return show(size)
    whole = np.array(law, dtype=float) * (size / float(np.linalg.norm(np.array(law, dtype=float))))
    if kind != "force" and d.planar:
        return show(float(whole[2])).replace("-", MINUS)
    return f"({', '.join(show(float(y)) for y in whole[: len(d.plane or 'xyz')])})".replace("-", MINUS)


def _channels(x: Any) -> set[str]:
    """Channels that a load or cylinder depends on."""
    return {name for law in elements.varying(x) for name in _variables(law)}


def _variables(law: Any) -> set[str]:
    if isinstance(law, description.Table):
        return {law.channel}
    return set(expressions.free_variables(law)) if isinstance(law, Expr) else set()


def _history(x: Any, c: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of force and moment over the motion; of a load those given at its point."""
    force, moment = [], []
    acts = forces.ElementForce(x)
    for i in range(0, len(c), max(1, len(c) // MOST_LOOKS)):
        f, m = acts.sizes(c._instants[i])
        by_load, turns = _by_load(x, c, i)  # against the velocity, as the other parts of friction are
        force.append(float(np.linalg.norm(f)) + (0.0 if turns else by_load))
        moment.append(float(np.linalg.norm(m)) + (by_load if turns else 0.0))
    return np.array(force), np.array(moment)


def _by_load(x: Any, c: Trajectory, i: int) -> tuple[float, bool]:
    """Size of the friction by the joint's load at a sample, and whether it is a moment; 0 without masses."""
    if not x.by_load or not x.mu or any(b.mass is None for b in c.system.description.bodies[1:]):
        return 0.0, False
    return abs(float(inverse.rubbing_effort(c._each_loads[i], x))), coordinates.joint_part(c.system.description, x.joint).kinds == {"angle"}


# -------------------------------------------------------------------- drives


def _signed(x: float) -> str:
    return show(x).replace("-", MINUS, 1) if x < 0.0 else show(x)


def needs(found: CycleLoads, turn: bool) -> str:
    """`A: mean 3.483 N m, 21.88 J per revolution` of the first drives."""
    e = found.efforts
    if e is None or not e.rows:
        return ""
    energy, cycle = unit_of(e.units, "energy"), "revolution" if turn else "cycle"
    lines = []
    most_drives = 3
    for r in e.rows[:most_drives]:
        effort = unit_of(e.units, r.kind)
        mean, work = cleaned(r.mean, r.rms) / effort[1], cleaned(r.work, r.braked) / energy[1]
        worked = f", {_signed(work)} {energy[0]} per {cycle}" if any(x.speed_max for x in e.rows) else ""
        lines.append(f"{r.drive}: mean {_signed(mean)} {effort[0]}{worked}")
    more = [f"and {len(e.rows) - most_drives} more"] if len(e.rows) > most_drives else []
    return "; ".join([*lines, *more])


def wheel(found: CycleLoads, c: Trajectory | None) -> str:
    """The flywheel of a full turn with one turning drive; "" where none can be sized."""
    e = found.efforts
    if c is None or e is None or len(e.rows) != 1 or e.rows[0].kind != "torque" or not c.full_turn:
        return ""
    try:
        sized = flywheel(c, FLUCTUATION)
    except LinkwrightError:  # at 0 rpm, or a cycle longer than a turn
        return ""
    wanted = f"{100 * FLUCTUATION:.0f} % fluctuation"
    if sized.inertia == 0.0:
        return f"none needed for {wanted}: {100 * sized.fluctuation_without:.2g} % without"
    return f"{show(sized.inertia)} kg m² at {e.rows[0].drive} for {wanted}"
