"""The motion a page plays: one cycle of the drives as Python found it, or a recorded run, as plain data.

A cycle gives the page's engine a place to start from (q, and the turns of cut joints), what the drives do at every sample, and Python's
own efforts at some samples to compare with. The place is that of the first sample if the page walks through all others as Python did,
else there is one for every sample. Arrays travel as base64 of little-endian float64.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from linkwright.api import (
    Instant,
    LinkwrightError,
    SingularityError,
    System,
    Trajectory,
    compiled_of,
    contact,
    coordinates,
    counted,
    curve_lines,
    curves,
    driven_constraints,
    elements,
    factor,
    joints,
    lengths,
    load_channels,
    mechanism_of,
    movable,
    records,
    unit_of,
)
from linkwright.api import cycles as cycle
from linkwright.mechanics.closing.idle_motions import idle_rows
from linkwright.rings.design.drive_duty import cycle_axis
from linkwright.rings.design.effort_jumps import jump_notes, jumps
from linkwright.rings.studio.live.mechanism_script import led_by, walked_by_page
from linkwright.rings.studio.scene_contacts import TouchForces, touch_events, world_force

COMPARED = 9  # samples of a cycle at which Python's own loads are given along
MOST_CHANNELS = 60
MOST_EFFORTS = 3  # that are plotted from the start
UNDETERMINED = "the drives do not determine the motion. A run shows it, such as `m.simulate(2).show()`."
MOST_TURNED = 40  # joints of the tree that are moved unasked: following a branch costs their cube and more


def encoded(array: Any) -> dict[str, Any]:
    """An array for JSON, exact to the last bit."""
    x = np.ascontiguousarray(np.asarray(array, dtype="<f8"))
    return {"f64": base64.b64encode(x.tobytes()).decode("ascii"), "shape": list(x.shape)}


@dataclass(frozen=True)
class PageMotion:
    """Motion of the mechanism in a page: the coordinates that are moved, and a cycle of them if there is one."""

    drives: tuple[str, ...]
    turn: Trajectory | None
    laws: tuple[curves.Curve, ...]  # of the drives over the cycle's time
    offset: float  # of the laws' time at the first sample
    still: bool  # statics: positions only
    why: str = ""  # there is no cycle, or no drives of the file
    stopped: bool = False  # the program of the drives leads to a position that cannot be passed

    @property
    def moving(self) -> bool:
        return self.turn is not None


def motion_of(system: System, steps: int | None = None, static: bool = False) -> PageMotion:
    """The cycle of `m.cycle()`, or why there is none and which coordinates can be moved by hand.

    `steps` asks for a cycle of any size, `static` for that of `m.cycle(speed=0)`.
    """
    if not system.mobility.freedoms:
        why = system.mobility.blocked_by_digits
        said = f"nothing can move: a structure without degrees of freedom{f', {why}' if why else ''}"
        return PageMotion((), None, (), 0.0, False, said)
    if steps is None and system.tree.nv > MOST_TURNED:
        why = f"turning {system.tree.nv} joints beforehand takes long. m.show(path, steps=360) and --steps 360 do it all the same."
        return PageMotion(independent(system), None, (), 0.0, False, why)
    try:
        turn = mechanism_of(system).cycle(steps=360 if steps is None else steps, speed=0.0 if static else None)
    except LinkwrightError as problem:
        return PageMotion(independent(system), None, (), 0.0, False, str(problem), isinstance(problem, SingularityError))
    plan = cycle.plan(compiled_of(system).loops, system.start.instant, None, 0.0 if static else None)
    drives = turn.drives if set(turn.drives) == set(plan.laws) else tuple(plan.laws)
    if drives and not led_by(system, drives):
        return PageMotion(independent(system), None, (), 0.0, False, UNDETERMINED)
    lead = plan.laws[plan.lead]
    offset = 0.0
    if plan.open_ended and isinstance(lead, curve_lines.Line):
        first = cycle.coordinate_now(compiled_of(system).loops, plan.lead, turn.instant(0))
        offset = (first - float(lead(0.0)[0])) / lead.slope
    return PageMotion(drives, turn, tuple(plan.laws[n] for n in drives), offset, plan.rate == 0.0)


def independent(system: System) -> tuple[str, ...]:
    """Joints and cylinders that determine the motion: the file's drives first, then joints on ground, then any others."""
    d = system.description
    ground = d.bodies[0].name
    single = [j for j in d.joints if joints.create(j.type, j.options).nv == 1]
    wanted = [x.joint for x in d.drives] + [j.name for j in single if ground in (j.first, j.second)]
    wanted += [*lengths(d), *(j.name for j in single)]
    st, loops = system.start, compiled_of(system).loops
    still = np.zeros(system.tree.nv)
    idle = idle_rows(system.kernels.plan, compiled_of(system).skel, st.instant.motion).rows * loops.columns
    chosen: list[str] = []

    def rank(names: list[str]) -> int:
        tied = loops.with_([driven_constraints.driven(d, n, curve_lines.Parabola(1.0)) for n in names])
        J = tied.dimensionless(tied.at(st.q, still, 0.0, st.references))[1]
        return factor(np.concatenate([J, idle])).rank

    now = rank(chosen)
    for name in dict.fromkeys(wanted):
        if now < system.tree.nv and rank([*chosen, name]) > now:
            chosen.append(name)
            now = rank(chosen)
    return tuple(chosen)


def kinds(system: System, drives: tuple[str, ...]) -> list[str]:
    return [coordinates.coordinate(system.description, n).kind for n in drives]


def jump_sentences(c: Trajectory) -> list[str]:
    """Sentences on drive efforts that jump between samples, as `linkwright cycle` has them: by how much figures may be off."""
    try:
        return jump_notes(jumps(c), c.skel.tree.description.units, cycle_axis(c).dimension)
    except LinkwrightError:  # no loads: nothing is said of them
        return []


def cycle_json(system: System, motion: PageMotion) -> dict[str, Any] | None:
    """The cycle for the page's engine; None where there is none."""
    c = motion.turn
    if c is None:
        return None
    law_values = np.array([[law(float(t) + motion.offset) for law in motion.laws] for t in c.t], dtype=float)
    value, speed, acceleration = (law_values[:, :, i] for i in range(3))
    rate = 0.0 if motion.still else 1.0
    q, near = np.asarray(c.q, dtype=float), np.round(records.cut_rows(c.skel, c.references), 6)  # of which only whole turns are read
    if not motion.still and not c.singular:
        laws = np.concatenate([value, speed, acceleration], axis=1)
        if walked_by_page(system, motion.drives, q, near, np.asarray(c.t, dtype=float), laws):
            q, near = q[:1], near[:1]  # the page walks by itself
    return {
        "drive": c.drive,
        "drives": list(motion.drives),
        "kinds": kinds(system, motion.drives),
        "t": encoded(c.t),
        "q": encoded(q),
        "near": encoded(near),
        "value": encoded(value),
        "speed": encoded(rate * speed),
        "acceleration": encoded(rate * acceleration),
        "still": motion.still,
        "full_turn": bool(c.full_turn),
        "closed": _closed(system, c),
        "notes": list(c.notes),
        "singular": [{"value": float(c.place(x.at)), "geometry": x.geometry} for x in c.singular],
        "over": _over(c, motion, value),
        "reference": _reference(c, motion),
    }


def _closed(system: System, c: Trajectory) -> bool:
    """True if the last sample shows every body where the first does, so that the cycle may be played round and round."""
    first, last = c._instants[0].motion, c._instants[-1].motion
    gaps = [
        max(np.abs(A.p - B.p).max() / compiled_of(system).loops.kappa, np.abs(A.R - B.R).max())
        for A, B in zip(first.X, last.X, strict=True)
    ]
    return bool(max(gaps, default=0.0) < 1e-6)


def _over(c: Trajectory, motion: PageMotion, value: np.ndarray) -> dict[str, Any]:
    """The natural horizontal axis: the leading drive where it moves one way only, else time."""
    units = c.skel.tree.description.units
    lead = motion.drives.index(c.drive)
    steps = np.diff(value[:, lead])
    if np.all(steps > 0.0) or np.all(steps < 0.0):
        kind = coordinates.coordinate(c.skel.tree.description, c.drive).kind
        symbol, size = unit_of(units, kind)
        label = f"{'angle' if kind == 'angle' else 'travel'} of {c.drive}"
        return {"name": c.drive, "label": label, "symbol": symbol, "size": size, "values": encoded(value[:, lead])}
    symbol, size = unit_of(units, "time")
    return {"name": "t", "label": "time", "symbol": symbol, "size": size, "values": encoded(c.t)}


def compared_samples(c: Trajectory) -> list[int]:
    """Samples spread over the cycle, a little unevenly, so that a periodic mistake is not met in step."""
    n = len(c.t)
    return sorted({min(n - 1, round(i * (n - 1) / (COMPARED - 1)) + i % 2) for i in range(COMPARED)})


def _reference(c: Trajectory, motion: PageMotion) -> dict[str, Any]:
    """Python's drive torques and forces at some samples; none without masses or where the drives do not decide them."""
    at, u = [], []
    for i in compared_samples(c):
        try:
            tau = c._instants[i].loads.tau
        except LinkwrightError:
            continue
        at.append(i)
        u.append([float(tau[n]) for n in motion.drives])
    largest = float(np.abs(u).max(initial=0.0)) if u else 0.0
    digits = 12 - int(np.ceil(np.log10(largest))) if largest > 0.0 else 12  # round-off depends on what was computed before
    return {"at": at, "u": encoded(np.round(u, digits)) if u else None}


def _judged(c: Trajectory) -> list[Instant]:
    """Samples at which uniqueness is decided, as in `c.checks()`; none where nothing has a mass."""
    try:
        return c._judges if c.drives else []
    except LinkwrightError:
        return []


def unique_loads(c: Trajectory | None, system: System) -> dict[tuple[str, str], bool]:
    """(pin, body): whether rigid-body mechanics decides the force there."""
    pick = slice(0, 2) if system.description.planar else slice(0, 3)
    out: dict[tuple[str, str], bool] = {}
    if c is None:
        return out
    for x in _judged(c):
        try:
            loads = x.loads
        except LinkwrightError:
            continue
        for pin, body in load_channels.eyes(system.description):
            w = loads.on(pin, body)
            out[pin, body] = out.get((pin, body), True) and bool(w.unique_force[pick].all())
    return out


def eye_is_unique(c: Trajectory, pin: str, body: str) -> bool:
    """True if rigid-body mechanics decides the force of a rod, spring or cylinder at its eye."""
    for x in _judged(c):
        try:
            if not x.loads.on(pin, body).unique:
                return False
        except LinkwrightError:
            continue
    return True


# -------------------------------------------------------------------- recorded runs


def run_json(system: System, run: Trajectory) -> dict[str, Any]:
    """A run (or any trajectory) to be played, with the channels worth seeing."""
    found = _channels(run, interesting(system, run))
    names, listed = list(found), []
    for name, values in found.items():
        symbol, size = run.unit(name)
        listed.append({"name": name, "symbol": symbol, "size": size, "dimension": run.dimension(name), "values": encoded(values)})
    return {
        "title": _title(run),
        "t": encoded(run.t),
        "q": encoded(run.q),
        "v": encoded(run.v),
        "near": encoded(records.cut_rows(run.skel, run.references)),
        "off": [{"name": name, "open": encoded(1.0 - held)} for name, held in _switched(system, run)],
        "touches": _touches(system, run),
        "channels": listed,
        "main": _main(system, run, names),
        "events": [{"t": float(e.time), "text": _event(e)} for e in run.events],
        "passages": [{"t": float(p.time), "text": str(p)} for p in run.passages],
        "checks": run.checks().as_dict()["checks"],
    }


def _channels(run: Trajectory, names: list[str]) -> dict[str, np.ndarray]:
    """The channels that can be read: loads of a run whose loops have drifted apart, for one, cannot."""
    try:
        return run.read(names)
    except LinkwrightError:
        return {name: values for name in names if (values := _alone(run, name)) is not None}


def _alone(run: Trajectory, name: str) -> np.ndarray | None:
    try:
        return run.read([name])[name]
    except LinkwrightError:
        return None


def _switched(system: System, run: Trajectory) -> list[tuple[str, np.ndarray]]:
    """Rods that a run is without for some of its samples, and 1 where they hold."""
    held, rods = run.arrays.get("closed"), {x.name for x, _ in elements.lengths(system.description)}
    pairs = [] if held is None else zip(run.skel.tree.loops, held.T, strict=True)
    return [(loop.name, on) for loop, on in pairs if loop.name in rods and not on.all()]


def _touches(system: System, run: Trajectory) -> dict[str, Any] | None:
    """Places of all touches over a run, forces on their first surfaces, states, impacts, and the largest force; None without any."""
    forces = TouchForces(run)
    if not forces.known:
        return None
    found = system.kernel("contact_terms")(run.q, run.v)
    force = world_force(forces.forces, np.asarray(found.normal))
    names = [x.name for x in contact.touches(system.description)]
    places = {"names": names, "at": encoded(found.first), "force": encoded(force), "state": encoded(forces.states)}
    impacts = [{"touch": names.index(x.name), "t": x.time, "lost": x.lost} for x in touch_events(run) if x.impact]
    return places | {"impacts": impacts, "largest": forces.largest}


def interesting(system: System, run: Trajectory) -> list[str]:
    """Single numbers, the important ones first: joints, efforts and powers, pin loads, energies, angles, points, what was recorded."""
    d = system.description
    lead = [x.joint for x in d.drives]
    joined = list(dict.fromkeys([*lead, *movable(d)]))
    wanted = [f"{n}{tail}" for n in lead for tail in ("", ".v", ".torque", ".force", ".power")]
    wanted += [f"{n}{tail}" for tail in ("", ".v") for n in joined]
    wanted += [f"{x}.pump.{kind}" for x in lengths(d) for kind in ("pressure", "flow")]
    wanted += [f"{x.name}.tension.{end}" for x in d.ties for end in ("max", "min")]
    wanted += [n for n in run.columns if run.columns[n].values.ndim == 1]
    wanted += [f"{pin}.on.{body}.magnitude" for pin, body in load_channels.eyes(d)]
    wanted += [n for n in run.channels if n.startswith(("energy.", "work.", "motor."))]
    wanted += [f"{b.name}.angle" for b in d.moving] + [f"{p}.{axis}" for p in _points(system) for axis in d.plane or "xyz"]
    wanted += [f"{p}.curvature" for p in _points(system)]
    wanted += [n for n in run.channels if n.startswith("singular.")]
    known, first = set(run.channels), run[0:1]
    return list(islice((n for n in dict.fromkeys(wanted) if n in known and _single(first, n)), MOST_CHANNELS))


def _single(first: Trajectory, name: str) -> bool:
    """A channel of one number a sample that can be read from a run, of which this is the first sample; loads need all that acted."""
    try:
        return np.ndim(first.read([name])[name]) == 1
    except LinkwrightError:
        return False


def _points(system: System) -> list[str]:
    """Marked points, at which nothing is joined."""
    d = system.description
    out = []
    for b in d.moving:
        joined = [j.frame_first.at if j.first == b.name else j.frame_second.at for j in d.joints if b.name in (j.first, j.second)]
        out += [f"{b.name}.{p.name}" for p in b.points if all(np.linalg.norm(np.subtract(p.at, at)) > 1e-9 for at in joined)]
    return out


def _main(system: System, run: Trajectory, names: list[str]) -> list[str]:
    """Channels plotted first: the leading coordinate, and the efforts of the first drives or the kinetic energy."""
    joined = [*(x.joint for x in system.description.drives), *(j.name for j in system.description.joints)]
    first = [n for n in dict.fromkeys(joined) if n in names and np.ptp(run[n]) > 0.0][:1] or names[:1]
    efforts = [n for n in names if n.endswith((".torque", ".force")) and ".on." not in n and np.ptp(run[n]) > 0.0]
    return list(dict.fromkeys([*first, *(efforts[:MOST_EFFORTS] or [n for n in names if n == "energy.kinetic"])]))


def _title(run: Trajectory) -> str:
    how = run.settings.get("integrator", "")
    kind = f"Simulation, {how}" if how else "Cycle" if run.drive else "Motion"
    return f"{kind}, {counted(len(run), 'sample')}, {float(run.t[-1] - run.t[0]):.6g} s"


def _event(e: Any) -> str:
    more = ", ".join(f"{k} {v:.6g}" if isinstance(v, float) else f"{k} {v}" for k, v in e.values.items())
    return f"{e.name}: {more}" if more else e.name
