"""A cycle of a mechanism's drives as pure kinematics, without masses.

The drives follow their laws, the rest follows by continuation along the branch of the start; velocities
and accelerations come from J v + b = 0 and J a + k = 0. A drive that cannot turn fully swings between its
dead centers, its rigid stops and those of other coordinates, and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import elements, joints
from linkwright.errors import LinkwrightError, SingularityError, UsageError, listing, whole_number
from linkwright.mechanics.closing.continuation import Walker, dead_center, start, walk
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.mechanics.closing.idle_motions import spun_in_place
from linkwright.mechanics.constraints import Constraint, Driver
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion
from linkwright.model.coordinates import is_rotary
from linkwright.model.curves import Curve
from linkwright.model.curves.formula import Formula, need_smooth
from linkwright.model.curves.piecewise import Periodic, Piecewise
from linkwright.model.curves.polynomial import Line
from linkwright.model.curves.profiles import Program
from linkwright.model.curves.tables import table
from linkwright.model.description import Description, Drive, Table
from linkwright.model.file import quantity
from linkwright.model.plausibility import of_velocity
from linkwright.motion import change_points
from linkwright.motion.cycle_samples import DeadCenter, LawRows, Walk, Walking, carried, native_walk, sampled, swept, third_rows, trajectory
from linkwright.motion.joint_limits import (
    REACH_STEP,
    OtherEnd,
    StopTimes,
    before_zero,
    beyond_stops,
    check_driven,
    coordinate_now,
    ends_text,
    longest_way,
    others_end,
    others_of,
    stops_of,
    times_between_stops,
)
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.tolerances import SAME_PLACE
from linkwright.properties import cached_property
from linkwright.results.records import CutReferences, cut_rows
from linkwright.results.singular_positions import PEAKS, passage_note, places_of
from linkwright.results.trajectory import Trajectory
from linkwright.text.expressions import Expr, evaluate, free_variables
from linkwright.text.units import FORCE, KINDS, TORQUE, display_unit, shown

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled


MARGIN = 2e-3  # share of a swing left out at each dead center, where speeds of the others are infinite
PRESCRIBED = ("speed", "position", "moves")  # kinds of drives that prescribe a motion
MOST_STEPS = 100_000
STORED = 4  # cycles of a mechanism: pages, reports and summaries share them
MOST_STORED = 3600  # steps of a cycle that is stored: larger ones need much memory
CYCLES: Store[tuple[Any, ...], Trajectory] = Store()  # by what was asked, the steps and where they begin
PREPARED: Store[tuple[Any, ...], Prepared] = Store()  # by what was asked and where they begin


# ---------------------------------------------------------------- a cycle of a mechanism


def cycle_of(core: Compiled, drive: str | None, steps: int, speed: Any, duration: Any, start: Any = None, stop: Any = None) -> Trajectory:
    """Return one cycle of a compiled mechanism: see `Mechanism.cycle`. The last few are stored."""
    asked = asked_in_si(core, drive, steps, speed, duration, start, stop)
    if steps > MOST_STORED:
        return computed(core, asked, steps)
    key, known = (asked, steps, begin_of(core)), CYCLES.of(core)
    found = known.pop(key, None)
    if found is None:
        found = computed(core, *key)
    known[key] = found  # the one that was used last comes last
    for old in list(known)[:-STORED]:
        known.pop(old, None)
    return _with_own_arrays(found)


def asked_in_si(core: Compiled, drive: str | None, steps: int, speed: Any, duration: Any, start: Any, stop: Any) -> tuple[Any, ...]:
    """Drive, speed, duration, start and stop of a cycle in SI; raise UsageError unless they and the steps are usable."""
    whole_number(steps, "steps", 2, MOST_STEPS)
    if drive is not None:
        core.need_drive(drive)
    seconds = None if duration is None else quantity(duration, KINDS["time"])
    if speed is None and start is None and stop is None:
        return drive, None, seconds, None, None
    rotary = is_rotary(core.description, drive or _lead(core))
    value = None if speed is None else quantity(speed, KINDS["angular speed" if rotary else "speed"])
    position = KINDS["angle" if rotary else "length"]
    ends = [None if x is None else quantity(x, position, f"{end} of the cycle") for end, x in (("start", start), ("stop", stop))]
    return drive, value, seconds, *ends


def _lead(core: Compiled) -> str:
    """The drive that a cycle follows if none is named."""
    return plan(core.loops, core.start.instant, None, None).lead


def at_start(core: Compiled) -> Trajectory:
    """The start at rest as a motion of one sample: it has the channels of a cycle."""
    st, rest = core.start, np.zeros((1, core.tree.nv))
    try:
        lead = _lead(core)
    except LinkwrightError:  # of a mechanism without a drive
        lead = ""
    return Trajectory(core.skel, np.zeros(1), st.q[None], rest, rest, [dict(st.references)], drive=lead)


def begin_of(core: Compiled) -> tuple[bytes, bytes]:
    """The start, as a key of what depends on it."""
    start = core.start
    return start.q.tobytes(), core.skel.pack(start.references).tobytes()


def computed(core: Compiled, asked: tuple[Any, ...], steps: int, begin: Any = None) -> Trajectory:
    """Compute a cycle; `begin` only distinguishes cycles from different positions."""
    c = cycle(core.loops, core.start.instant, prepared_of(core, asked, begin), steps, core.walking)
    if isinstance(c.references, CutReferences):
        return c
    return replace(c, references=CutReferences(c.skel, c.q, cut_rows(c.skel, c.references)))  # arrays: copied at once


def prepared_of(core: Compiled, asked: tuple[Any, ...], begin: Any) -> Prepared:
    """The motion of a cycle and where it begins, looked for once."""
    key, known = (asked, begin), PREPARED.of(core)
    if key not in known:
        known[key] = prepared(core.loops, core.start.instant, *asked)
    return known[key]


def cycle(loops: Loops, here: Instant, ready: Prepared, steps: int = 360, walking: Walking | None = None) -> Trajectory:
    """One cycle of the drives in `steps` equal steps of time; see the module's text. `walking(drives)` gives the native walk, or None."""
    p, tied = ready.plan, ready.tied
    desc, origin, native = loops.skel.tree.description, here.q, native_walk(loops, p.laws, ready.rows, walking)
    whole = not p.open_ended or (is_rotary(desc, p.lead) and times_between_stops(desc, p.lead, p.laws[p.lead], p.span) is None)
    if whole and (p.open_ended or p.stop is not None) and others_of(desc, p.lead):
        whole = not others_end(loops, tied, ready.begin, p.span, p.lead, native).name
    times, found = np.linspace(0.0, p.span, steps + 1), None
    if whole:
        found = swept(tied, ready.here.q, ready.here.references, times, native)
    if whole and found is None and _passes(tied, ready.begin, p.span, native):
        found = sampled(loops, tied, ready.begin, times)
        if found is not None and p.open_ended and not ready.looked:
            ready.looked = True
            ready.doubt = change_points.doubt(tied, found.path, p.span, -p.span, p.span) if found.path else None
    if found is None or ready.doubt is not None:
        return _swing(loops, ready, steps, origin, native)
    samples = trajectory(loops, tied, found, p.lead, p.laws[p.lead], origin, full_turn=p.open_ended)
    back_at_start = not p.open_ended or returned(loops, samples.q[0], samples.q[-1])
    longer = () if back_at_start else ("after one turn of the drive the mechanism is not back at its start: its cycle is longer",)
    return _noted(desc, p, samples, longer)


def swept_fully(core: Compiled, drive: str | None, steps: int) -> bool | None:
    """True if machine code follows the whole cycle of a drive in one sweep; None where it cannot decide. Where it does not, the cycle may
    still be whole through a singular position: `cycle` looks closer, which takes some fifty times as long."""
    ready = prepared_of(core, asked_in_si(core, drive, steps, None, None, None, None), begin_of(core))
    p, loops = ready.plan, core.loops
    native = native_walk(loops, p.laws, ready.rows, core.walking)
    if native is None or others_of(loops.skel.tree.description, p.lead):
        return None
    return swept(ready.tied, ready.here.q, ready.here.references, np.linspace(0.0, p.span, steps + 1), native) is not None


def _with_own_arrays(c: Trajectory) -> Trajectory:
    """Copy the samples, so that writing into them changes no other cycle."""
    q, arrays = c.q.copy(), {name: x.copy() for name, x in c.arrays.items()}
    assert isinstance(c.references, CutReferences)
    return replace(c, t=c.t.copy(), q=q, v=c.v.copy(), a=c.a.copy(), references=c.references.copied(q), arrays=arrays)


# ---------------------------------------------------------------- what is asked for: laws of the drives


def law_of(drive: Drive, x0: float, speed: float | None = None) -> Curve:
    """The law of time a drive of the model prescribes, starting from x0; `speed` takes the place of a speed, not of a program."""
    if drive.kind == "moves":
        return Program.of(x0, drive.moves)
    if drive.kind == "position":
        if isinstance(drive.value, Table):
            return table(drive.value.x, drive.value.y, drive.value.interpolation, straight=True)
        if not isinstance(drive.value, Expr):
            return Line(float(drive.value), 0.0)
        need_smooth(drive.value)
        return Formula(drive.value, f"the position of '{drive.joint}'")
    if drive.kind == "speed" and speed is None:
        if isinstance(drive.value, (Expr, Table)):
            raise UsageError(
                f"the speed of '{drive.joint}' varies with time. Give its position as a function of t to turn it.", name=drive.joint
            )
        return Line(x0, float(drive.value))
    return Line(x0, 1.0 if speed is None else speed)


@dataclass(frozen=True)
class CyclePlan:
    """The motion of a cycle: leading drive, laws of all drives, and notes for the user."""

    lead: str
    laws: dict[str, Curve]
    span: float  # duration of the cycle
    rate: float  # scale of velocities: 0 for statics, else 1
    open_ended: bool  # runs until a limit (constant speed), not a fixed program
    notes: tuple[str, ...] = ()
    stop: float | None = None  # the position of the lead up to which it was asked to go at constant speed


def plan(
    loops: Loops,
    here: Instant,
    lead: str | None,
    speed: float | None,
    duration: float | None = None,
    start: float | None = None,
    stop: float | None = None,
) -> CyclePlan:
    """Choose the leading drive and the laws; the others hold still when one is asked for by name.

    At speed 0 all drives pass through the positions of their laws, and velocities and accelerations are zero. With `start` or `stop`
    the lead goes from one position to the other at constant speed.
    """
    desc = loops.skel.tree.description
    drives = {d.joint: d for d in desc.drives}
    notes: list[str] = []
    together = lead is None
    if lead is None:
        prescribed = sorted((d for d in desc.drives if d.kind in PRESCRIBED), key=_holds)
        lead = ([d.joint for d in prescribed] or list(drives) or [_first_ground_joint(desc)])[0]
        if lead not in drives:
            notes.append(f"no drive in the model: '{lead}' is moved")
    x = {name: coordinate_now(loops, name, here) for name in {**drives, lead: None}}
    drive = drives.get(lead, Drive(lead, "undriven"))
    if start is not None or stop is not None:
        drive = _without_program(drive, notes)
        x[lead] = _within_stops(desc, lead, x[lead] if start is None else start, "start")
    rotary = is_rotary(desc, lead)
    if speed is None and drive.kind not in PRESCRIBED:
        speed = 1.0 if rotary else loops.kappa
        notes.append(f"no speed given for '{lead}': shown at {shown(speed, KINDS['angular speed' if rotary else 'speed'], desc.units, 3)}")
    notes += effort_notes(desc, {name: is_rotary(desc, name) for name in drives})
    still = speed == 0.0 or (speed is None and drive.kind == "speed" and drive.value == 0.0)
    if still:
        notes.append(static_note(desc))
        speed = None if drive.kind == "speed" and not isinstance(drive.value, (Expr, Table)) and drive.value else 1.0
    elif speed is not None and drive.kind in ("position", "moves"):
        notes.append(f"speed= is left aside: '{lead}' follows its own program. speed=0 gives the static forces along it")
    law = law_of(drive, x[lead], speed)
    laws: dict[str, Curve] = {lead: law}
    free = drives if together else independent(loops, here, [lead], list(drives))
    for name, other in ((n, drives[n]) for n in free):
        if name != lead:
            laws[name] = law_of(other, x[name]) if together and other.kind in PRESCRIBED else Line(x[name], 0.0)
    if desc.plays:
        notes.append(f"a cycle holds {listing([x.name for x in desc.plays])} at the middle of the clearance, as an ideal joint")
    rate = 0.0 if still else 1.0
    if isinstance(law, Line):
        if law.slope == 0.0:
            raise UsageError(
                f"drive '{lead}' holds its position, so there is no cycle. Give it a speed, such as speed='60 rpm', or moves.", name=lead
            )
        if duration is not None:
            notes.append(f"duration= is left aside: '{lead}' moves at a constant speed, and one turn or stroke of it is shown")
        if stop is None:
            span = longest_way(loops, lead) / abs(law.slope)
            need_few_turns(desc, lead, laws, span)
            return CyclePlan(lead, laws, span, rate, True, tuple(notes))
        way = _within_stops(desc, lead, stop, "stop", notes) - x[lead]
        if abs(way) <= SAME_PLACE * longest_way(loops, lead):
            there = position_text(desc, lead, x[lead])
            raise UsageError(f"'{lead}' is asked to go from {there} to the same position: give two different ones.", name=lead)
        laws[lead] = Line(x[lead], np.copysign(law.slope, way))
        return CyclePlan(lead, laws, abs(way / law.slope), rate, False, tuple(notes), x[lead] + way)
    span = _program_length(law, notes) if duration is None else duration
    whole = _program_length(law, []) if isinstance(law, (Program, Piecewise, Periodic)) else span
    if span < whole * (1.0 - 1e-9):
        notes.append(f"duration= shows the first {span:.4g} s of a program of {whole:.4g} s. It is cut short, not run faster")
    return CyclePlan(lead, laws, span, rate, False, tuple(notes))


def _without_program(drive: Drive, notes: list[str]) -> Drive:
    """The drive for a range that is asked for: at its constant speed, if it has one."""
    if drive.kind not in ("position", "moves") and not isinstance(drive.value, (Expr, Table)):
        return drive
    notes.append(f"the range asked for takes the place of the program of '{drive.joint}'")
    return Drive(drive.joint, "undriven")


def _within_stops(desc: Description, lead: str, x: float, what: str, notes: list[str] | None = None) -> float:
    """A position of the lead, not beyond its rigid stops: such a start is an error, at such a stop it ends earlier, and notes say so."""
    lows, highs = stops_of(desc, lead)
    nearest = min(max([x, *lows]), *highs, np.inf)
    if abs(nearest - x) <= SAME_PLACE * max(1.0, abs(x)):
        return x
    there, end = (position_text(desc, lead, y) for y in (x, nearest))
    if notes is None:
        raise UsageError(f"{what}: '{lead}' cannot begin at {there}, which is beyond its end of travel at {end}.", name=lead)
    notes.append(f"drive '{lead}' is asked to go to {there} and stops at {end}, its end of travel")
    return nearest


def _holds(drive: Drive) -> bool:
    """True if the drive prescribes a constant position."""
    varies = drive.kind == "moves" or isinstance(drive.value, (Expr, Table))
    return not varies and (drive.kind == "position" or drive.value == 0.0)


def _program_length(law: Curve, notes: list[str]) -> float:
    if isinstance(law, Program):
        return law.duration
    if isinstance(law, (Piecewise, Periodic)):
        return float(law.breaks[-1])
    notes.append("the drive is a formula of t without an end: 1 s of it is shown (duration= for more)")
    return 1.0


def independent(loops: Loops, here: Instant, leads: Sequence[str], others: Sequence[str]) -> list[str]:
    """Drives that can be held while the leads move: those that leave them free."""
    desc = loops.skel.tree.description
    zero = np.zeros(loops.skel.tree.nv)
    chosen = list(leads)
    for name in (n for n in others if n not in leads):
        trial = loops.with_([driven(desc, n, Line(coordinate_now(loops, n, here), 0.0)) for n in [*chosen, name]])
        base = loops.with_(trial.constraints[len(loops.constraints) : -1])
        more = trial.factored(trial.at(here.q, zero, 0.0, here.references)).rank
        if more > base.factored(base.at(here.q, zero, 0.0, here.references)).rank:
            chosen.append(name)
    return chosen[len(leads) :]


def _first_ground_joint(desc: Description) -> str:
    ground = desc.bodies[0].name
    for j in desc.joints:
        if ground in (j.first, j.second) and joints.create(j.type, j.options).nv == 1:
            return j.name
    raise UsageError("no drive is given and no hinge or slider on ground could be one. Write `drive: {joint: 60 rpm}`.", name="drive")


# ---------------------------------------------------------------- where it begins, and how far it goes


class Prepared:
    """A cycle before its samples: the motion, where it begins, the loops with the drives, and its laws at the times asked for last."""

    def __init__(self, loops: Loops, p: CyclePlan, here: Instant):
        self.loops, self.plan, self.here = loops, p, here
        self.tied = loops.with_([driven(loops.skel.tree.description, name, law) for name, law in p.laws.items()])
        self.rows: LawRows = {}
        self.swing: SwingRange | None = None
        self.doubt: change_points.Doubt | None = None
        self.looked = False  # for change points on the way

    @cached_property
    def begin(self) -> Walker:
        """The first point of a walk on floats; raise UsageError unless the drives move everything that can move."""
        check_driven(self.loops, self.tied, self.here, list(self.plan.laws))
        return walker(self.tied, self.here.q, self.here.references)


def prepared(loops: Loops, here: Instant, *asked: Any) -> Prepared:
    """Choose the motion of a cycle and go where it begins; `asked` is what `plan` takes."""
    p = plan(loops, here, *asked)
    return Prepared(loops, p, _at_the_beginning(loops, here, p))


def _passes(tied: Loops, begin: Walker, end: float, native: Walk | None) -> bool:
    """False if a walk on floats ends where the native one met trouble: at a dead center, and not at a singular position it passes."""
    near = carried(tied, begin, end, native)
    return near is begin or walk(tied, near, end).at.t == end


def _at_the_beginning(loops: Loops, here: Instant, p: CyclePlan) -> Instant:
    """Walk to where the laws begin, if they begin elsewhere than the start position."""
    desc = loops.skel.tree.description
    now = {name: coordinate_now(loops, name, here) for name in p.laws}
    begin = {name: float(law(0.0)[0]) for name, law in p.laws.items()}
    if all(abs(begin[n] - now[n]) < 1e-12 * (1.0 + abs(now[n])) for n in now):
        return here
    targets = [driven(desc, n, Line(now[n], begin[n] - now[n])) for n in now]
    (q, references), left = skipped(loops, here.q, here.references, targets)
    tied = loops.with_(left)
    there = walk(tied, walker(tied, q, references), 1.0).at
    if there.t < 1.0:
        place = position_text(desc, p.lead, begin[p.lead])
        raise SingularityError(
            f"the program of drive '{p.lead}' begins at {place}, which cannot be reached from the start position.", name=p.lead
        )
    return Instant(loops.skel, there.q, there.v, references=there.references)


def _swing(loops: Loops, ready: Prepared, steps: int, origin: np.ndarray, native: Walk | None) -> Trajectory:
    """The range a drive can cover, from one dead center (or end of the range tried) to the other."""
    p, tied, begin = ready.plan, ready.tied, ready.begin
    desc, law = tied.skel.tree.description, p.laws[p.lead]
    if not p.open_ended and p.stop is None:
        stop = walk(tied, begin, p.span).at
        where = position_text(desc, p.lead, float(law(stop.t)[0]))
        raise SingularityError(
            f"the mechanism stops at t = {stop.t:.6g} s of its program, {p.lead} = {where}: a dead center or the end of a link's reach."
        )
    if ready.swing is None and ready.doubt is None:
        ready.swing = _swing_range(loops, ready, native)
    if ready.doubt is not None:
        low, high, dead, ends = ready.doubt.low, ready.doubt.high, [], ""
    else:
        assert ready.swing is not None
        low, high, dead, ends = ready.swing
    lowest, times = walk(tied, begin, low), np.linspace(low, high, steps + 1)
    found = swept(tied, lowest.at.q, lowest.at.references, times, native) or sampled(loops, tied, lowest, times)
    if found is None:
        places = " and ".join(position_text(desc, p.lead, float(law(t)[0])) for t in (low, high))
        raise SingularityError(f"drive '{p.lead}' could not be followed between {places}. Choose another start position.", name=p.lead)
    swing = _swing_note(desc, p, low, high, ends) if ready.doubt is None else _doubt_note(desc, p, ready.doubt, tied.kappa)
    c = trajectory(loops, tied, found, p.lead, law, origin, full_turn=False, dead=dead)
    return _noted(desc, p, c if ready.doubt is None else replace(c, full_turn=ready.doubt.full_turn), [swing], low)


class SwingRange(NamedTuple):
    """Times between which a drive swings, dead centers beyond them, and what is at the ends."""

    low: float
    high: float
    dead: list[DeadCenter]
    ends: str


def _swing_range(loops: Loops, ready: Prepared, native: Walk | None) -> SwingRange:
    """Walk to both ends of a swing. It is done once: ends beside a dead center are known to 1e-9, and all cycles have the same ones."""
    p, tied, begin = ready.plan, ready.tied, ready.begin
    desc, law = tied.skel.tree.description, p.laws[p.lead]
    between = times_between_stops(desc, p.lead, law, p.span) or StopTimes(-p.span, p.span, (False, False))
    if p.stop is not None:
        between = StopTimes(0.0, p.span, (False, False))
    first, last = (before_zero(desc, p.lead, law, end) for end in between[:2])
    ahead, back = (walk(tied, carried(tied, begin, end, native), end, smallest_step=REACH_STEP).at for end in (last, first))
    ends, stops = (dead_center(tied, back, first), dead_center(tied, ahead, last)), (back.t > first, ahead.t < last)
    if is_rotary(desc, p.lead) and p.open_ended and not any(between.stops):
        steps = [begin]
        if not any(stops):
            walk(tied, begin, last, smallest_step=REACH_STEP, steps=steps)
        ready.doubt = change_points.doubt(tied, steps, p.span, *ends)
    gap = MARGIN * (ends[1] - ends[0])
    low, high = ends[0] + gap if stops[0] else back.t, ends[1] - gap if stops[1] else ahead.t
    met_low, met_high = (others_end(loops, tied, begin, end, p.lead, native) for end in (low, high))
    if is_rotary(desc, p.lead) and p.open_ended and met_high.name:  # one turn at most
        met_low = max(met_low, OtherEnd(met_high.t - p.span, ""))
    low, high, others = met_low.t, met_high.t, (met_low.name, met_high.name)
    if high - low < 1e-6 * p.span:
        held = f"held by the stop of {listing(list(dict.fromkeys(filter(None, others))))}" if any(others) else "at a dead center"
        raise SingularityError(f"drive '{p.lead}' is {held} and cannot move either way. Choose another start position.", name=p.lead)
    ways = zip(ends, (back, ahead), stops, others, strict=True)
    dead = [DeadCenter(x, last.q) for x, last, stopped, other in ways if stopped and not other]
    slides = not is_rotary(desc, p.lead)
    return SwingRange(low, high, dead, ends_text(slides, between.stops, stops, others))


def _noted(desc: Description, p: CyclePlan, c: Trajectory, notes: Sequence[str], begin: float = 0.0) -> Trajectory:
    """The cycle with its notes and the third derivatives of its laws (which begin at that time), at rest if the plan is static."""
    places = places_of(c.settings)
    passed = [x for x in places if x.kind == "passage"]
    more = [passage_note(passed, lambda x: position_text(desc, c.drive, c.place(x)))] if passed else []
    if places and all(b.mass is not None for b in desc.bodies[1:]):
        more.append(PEAKS)
    more += coarse_notes(desc, p.lead, p.laws, c.t)
    third = third_rows(p.laws, c.t + begin)
    c = replace(c, notes=(*p.notes, *notes, *more, *beyond_stops(c)), arrays={**c.arrays, **third} if third else c.arrays)
    return c if p.rate else c._at_rest()


def position_text(desc: Description, drive: str, x: float) -> str:
    """A position of a drive in the file's unit: `519.07 mm`."""
    symbol, per_si = display_unit(desc.units, KINDS["angle" if is_rotary(desc, drive) else "length"])
    return f"{x * per_si + 0.0:.2f} {symbol}" if symbol in ("deg", "mm", "cm") else f"{x * per_si + 0.0:.5g} {symbol}"


def _doubt_note(desc: Description, p: CyclePlan, found: change_points.Doubt, size: float) -> str:
    """`drive 'A' passes a change point at 180 deg with 1e-07 m to spare: whether it turns fully cannot be determined within ...`."""
    law, slack = p.laws[p.lead], found.near.slack
    at, low, high = (position_text(desc, p.lead, float(law(t)[0])) for t in (found.near.t, found.low, found.high))
    by, sure = (shown(x, KINDS["length"], desc.units, 2) for x in (abs(slack), change_points.UNSURE * size))
    way = f"it is followed {low.split()[0]} .. {high}, up to shortly before that"
    if found.full_turn is False:
        return f"drive '{p.lead}' cannot turn fully: its links miss a change point at {at} by {by}; {way}"
    how = f"would pass a change point at {at} with {by} to spare" if slack > 0.0 else f"misses a change point at {at} by {by}"
    return f"drive '{p.lead}' {how}: whether it turns fully cannot be determined within {sure}; {way}"


def _swing_note(desc: Description, p: CyclePlan, low: float, high: float, ends: str) -> str:
    law = p.laws[p.lead]
    if p.stop is not None:
        to, there = (position_text(desc, p.lead, x) for x in (p.stop, float(law(high)[0])))
        return f"drive '{p.lead}' is asked to go to {to} and stops at {there}, {ends.replace('up to', 'at')}"
    rotary = is_rotary(desc, p.lead)
    a, b = (position_text(desc, p.lead, x) for x in sorted((float(law(low)[0]), float(law(high)[0]))))
    text = f"{a.split()[0]} .. {b}"
    return f"drive '{p.lead}' cannot turn fully: it swings {text}, {ends}" if rotary else f"drive '{p.lead}' slides {text}, {ends}"


# ---------------------------------------------------------------- notes: drives that turn many times while the leading one turns once

COARSE_SAMPLES = 72  # samples of a cycle below which its figures are said to be coarse: 5 deg
MOST_TURNS = 100  # of another drive in one cycle


def need_few_turns(d: Description, lead: str, laws: Mapping[str, Curve], span: float) -> None:
    """Raise UsageError if another drive turns too often in a cycle of so many seconds."""
    for name, n in _turns(d, lead, laws, span).items():
        if n > MOST_TURNS:
            raise UsageError(
                f"drive '{name}' turns {n:.4g} times in one cycle of '{lead}'. At most {MOST_TURNS} are computed. Look at one turn of it "
                f"by drive='{name}', or correct the speed of one of them.",
                name=name,
            )


def coarse_notes(d: Description, lead: str, laws: Mapping[str, Curve], t: np.ndarray) -> list[str]:
    """Return notes on drives of which the samples at times t show a turn by few points."""
    steps = len(t) - 1
    turns = _turns(d, lead, laws, float(t[-1] - t[0]) if len(t) else 0.0)
    return [
        f"drive '{name}' turns {n:.4g} times in this cycle, {steps / n:.3g} samples per cycle: larger values may lie between them. Take "
        "more steps"
        for name, n in turns.items()
        if n > 1.0 and steps < COARSE_SAMPLES * n
    ]


def _turns(d: Description, lead: str, laws: Mapping[str, Curve], span: float) -> dict[str, float]:
    """Return the turns of other drives at constant speed."""
    rates = {name: law.slope for name, law in laws.items() if name != lead and isinstance(law, Line) and is_rotary(d, name)}
    return {name: abs(rate) * span / (2.0 * np.pi) for name, rate in rates.items()}


# ----------------------------------------------------------------------------------------------------
# Notes: inputs of the model that do not act in a cycle, and what vanishes at rest

STATIC = "Static analysis: inertia forces are ignored."
EFFORTS = ("torque", "dc_motor")  # kinds of drives that act and prescribe nothing


def effort_notes(desc: Description, rotary: Mapping[str, bool]) -> list[str]:
    """One note for each drive whose torque, force or voltage a cycle leaves out; `rotary` has every drive by name."""
    return [_left_out(desc, d, rotary[d.joint]) for d in desc.drives if d.kind in EFFORTS and not _is_zero(d.value)]


def _left_out(desc: Description, drive: Drive, rotary: bool) -> str:
    kind = "voltage" if drive.kind == "dc_motor" else "torque" if rotary else "force"
    amount = ""
    if kind != "voltage" and not isinstance(drive.value, (Expr, Table)):
        amount = f" of {shown(float(drive.value) * float(drive.gear_ratio), TORQUE if rotary else FORCE, desc.units)}"
    found = "torque" if rotary else "force"
    return (
        f"the {kind}{amount} that the model gives to '{drive.joint}' does not act here: a cycle prescribes the motion and computes the "
        f"{found} that it takes. A simulation applies it"
    )


def static_note(desc: Description) -> str:
    """`STATIC`, and what becomes of forces that depend on velocity or time, by their names."""
    said, of_time = [STATIC], False
    for kind, name, laws in _laws(desc):
        seen = {v for x in laws for v in _channels(x)}
        of_time |= "t" in seen
        velocities = sorted(v for v in seen if of_velocity(v))
        if not velocities:
            continue
        if all(_is_zero(_at_rest(x)) for x in laws):
            said.append(f"{kind} '{name}' is zero in every position, because its formula is zero at rest ({', '.join(velocities)}).")
        else:
            said.append(f"{kind} '{name}' is taken at zero velocity ({', '.join(velocities)}).")
    braking = [f"{x.word} '{x.name}'" for x in desc.acting if x.of_speed and not x.stores]
    if braking:
        said.append(f"Velocities are zero, so nothing comes from {listing(braking)}.")
    if of_time:
        said.append("Loads that vary with time are taken at the time at which the drive reaches the position.")
    return " ".join(said)


def _laws(desc: Description) -> Iterator[tuple[str, str, list[Any]]]:
    for x in desc.acting:
        if elements.varying(x):
            yield x.word.capitalize(), x.name, elements.varying(x)


def _channels(law: Any) -> set[str]:
    return {law.channel} if isinstance(law, Table) else set(free_variables(law)) if isinstance(law, Expr) else set()


def _at_rest(law: Any) -> Any:
    """The law with all velocities zero; still an expression where it depends on positions or time."""
    if isinstance(law, Table) and of_velocity(law.channel):
        return float(table(law.x, law.y, law.interpolation, straight=True)(0.0)[0])
    return evaluate(law, {v: 0.0 for v in _channels(law) if of_velocity(v)}) if isinstance(law, Expr) else law


def _is_zero(value: Any) -> bool:
    return not isinstance(value, (Expr, Table)) and value == 0.0


# ----------------------------------------------------------------------------------------------------
# Whole turns on the way to a wanted angle: one is walked, the others are added

TURN = 2.0 * np.pi
WALKED_REVOLUTIONS = 2  # turns that are walked as they are
RETURNED = 1e-6  # of rotation matrices, and of positions in kappa: bodies that far apart are in the same place

Place = tuple[np.ndarray, Mapping[str, Any]]  # q, reference coordinates by joint


def skipped(loops: Loops, q: np.ndarray, references: Mapping[str, Any], targets: Sequence[Constraint]) -> tuple[Place, list[Constraint]]:
    """The place after all whole turns that can be added, and the targets that lead on from there."""
    here, left = (q, references), list(targets)
    for i, target in enumerate(targets):
        turns = _whole_turns(target)
        if abs(turns) <= WALKED_REVOLUTIONS or not isinstance(target, Driver) or not isinstance(target.law, Line):
            continue
        others = [_held(t) for k, t in enumerate(left) if k != i]
        if any(t is None for t in others):
            continue
        sign = 1.0 if turns > 0 else -1.0
        once = replace(target, law=Line(target.law.offset, sign * TURN))
        gained = _one_turn(loops.with_([once, *(t for t in others if t is not None)]), *here)
        if gained is None:
            continue
        n = abs(turns)
        here = here[0] + n * gained[0], {name: np.asarray(x) + n * gained[1][name] for name, x in here[1].items()}
        done = turns * TURN
        left[i] = replace(target, law=Line(target.law.offset + done, target.law.slope - done))
    return here, left


def _whole_turns(target: Constraint) -> int:
    """Whole turns a target asks for."""
    if isinstance(target, Driver) and isinstance(target.law, Line) and target.kinds == ("angle",):
        return int(target.law.slope / TURN)
    return 0


def _held(target: Constraint) -> Constraint | None:
    """The same coordinate at rest where it begins; None for points and poses."""
    if isinstance(target, Driver) and isinstance(target.law, Line):
        return replace(target, law=Line(target.law.offset, 0.0))
    return None


def _one_turn(tied: Loops, q: np.ndarray, references: Mapping[str, Any]) -> Place | None:
    """Changes of q and of the reference coordinates in one turn; None if it ends before, or elsewhere."""
    there = walk(tied, start(tied, q, references), 1.0).at
    if there.t < 1.0 or not returned(tied, q, there.q):
        return None
    tree = tied.skel.tree
    dq = np.zeros(len(q))
    for jt, node in zip(tied.skel.types, tree.nodes, strict=True):
        dq[node.q] = _whole(jt.coordinate_kinds, there.q[node.q] - q[node.q])
    every = {j.name: joints.create(j.type, j.options).coordinate_kinds for j in (*tree.description.joints, *(n.joint for n in tree.nodes))}
    return dq, {name: _whole(every[name], np.asarray(there.references[name]) - np.asarray(x)) for name, x in references.items()}


def _whole(kinds: Sequence[str], change: np.ndarray) -> np.ndarray:
    """The whole turns in a change of a joint's coordinates: angles only."""
    angles = np.array([k == "angle" for k in kinds], dtype=bool)
    return np.where(angles, TURN * np.rint(change / TURN), 0.0) if len(angles) == len(change) else np.zeros(len(change))


def returned(loops: Loops, q: np.ndarray, later: np.ndarray) -> bool:
    """True if every body has the same pose at both positions, or has only spun in place meanwhile (a rod between ball joints)."""
    kinds = [k for jt in loops.skel.types for k in jt.coordinate_kinds]
    change = later - q
    if len(kinds) == len(q):  # equal coordinates, or angles by whole turns, need no look at the bodies
        change = np.where([k == "angle" for k in kinds], change - TURN * np.rint(change / TURN), change / min(1.0, loops.kappa))
        if np.abs(change).sum() < 0.1 * RETURNED:
            return True
    still = np.zeros(loops.skel.tree.nv)
    first, last = motion(loops.skel, q, still), motion(loops.skel, later, still)
    gaps = [max(np.abs(A.p - B.p).max() / loops.kappa, np.abs(A.R - B.R).max()) for A, B in zip(first.X, last.X, strict=True)]
    away = {n.body for n, gap in zip(loops.skel.tree.nodes, gaps, strict=True) if gap >= RETURNED}
    return not away or away <= spun_in_place(loops, first, last, RETURNED)
