"""Stages of a check from a mechanism on: assembles, mobility, moves, loads, limits, requirements, each as checks of the one list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from linkwright.api import (
    KINDS,
    Description,
    Dimension,
    LinkwrightError,
    Mechanism,
    Trajectory,
    UsageError,
    check_results,
    compiled_of,
    coordinates,
    counted,
    curve_lines,
    cycles,
    degrees_of_freedom,
    driven_constraints,
    elements,
    goals,
    joint_limits,
    listing,
    motion_checks,
    plausibility,
    readings,
    shown,
)
from linkwright.properties import cached_property
from linkwright.rings.design.model_check.request import STAGES, CheckRequest
from linkwright.rings.design.optimization.requirements import CheckedRequirement, requirements

Check = check_results.Check
NEEDED = ("readable", "complete", "assembles", "mobility", "moves")  # a later stage needs each of these
FAR = 100.0  # times the next largest number of a drawing: machines have smaller ratios, a wrong unit gives 1000 or more
LEAST = 4  # numbers of a drawing that can be compared
PRESCRIBED = ("speed", "position", "moves")


@dataclass
class Stages:
    """The stages of one mechanism, computed in their order; `motion` is there once it moves."""

    m: Mechanism
    asked: CheckRequest
    motion: Trajectory | None = None
    found: list[Check] = field(default_factory=list)
    quick: bool = False  # the stages that a number decides, and no look at what ends the way of a drive
    held_by_contact: bool = False  # contact moves something that no drive does, so there is no cycle

    @cached_property
    def why_no_loads(self) -> str:
        """The reason why the motion has no loads; empty where it has them."""
        return "there is no motion" if self.motion is None else motion_checks.why_no_loads(self.motion)

    def run(self, last: str = STAGES[-1], *, stop: bool = False) -> list[Check]:
        """Every stage up to `last`; `stop`: end after the first one that failed."""
        for name in STAGES[1 : STAGES.index(last) + 1]:
            lost = next((x for x in self.found if x.stage in NEEDED and x.verdict == "failed" and x.name == x.stage), None)
            if lost is not None and lost.stage != "complete":
                self.found += not_computed(name, self.asked, lost.stage)
                continue
            if self.quick and name in ("complete", "mobility", "loads") and name != last:
                continue  # a number of the model changes none of these, as a rule
            self.found += [replace(x, stage=name, text=one_line(x.text)) for x in BY_NAME[name](self)]
            if stop and any(x.verdict == "failed" for x in self.found):
                break
        return self.found


def passes(m: Mechanism, asked: CheckRequest, last: str, *, quick: bool = False) -> bool:
    """True if no stage up to `last` fails, and `last` is known where it is a requirement."""
    try:
        found = Stages(m, asked, quick=quick).run(last, stop=True)
    except LinkwrightError:
        return False
    return not any(x.verdict == "failed" for x in found) and not any(x.stage == "requirements" and not x for x in found)


def not_computed(stage: str, asked: CheckRequest, failed: str) -> list[Check]:
    """The checks of a stage that needs one that failed: of requirements one for each."""
    names = [r.text for r in asked.require] if stage == "requirements" else [stage]
    return [Check(name, "unknown", f"{check_results.NOT_COMPUTED} '{failed}' failed", stage=stage) for name in names]


def one_line(text: str) -> str:
    return " ".join(str(text).split())


# -------------------------------------------------------------------- complete


def complete(s: Stages) -> list[Check]:
    """Bodies without a mass among others that have one, and inputs out of proportion."""
    d = s.m.description
    without = [b for b in d.moving if b.mass is None and not b.chain]
    heavy = [b for b in d.moving if b.mass is not None]
    if without and heavy:
        names = listing([f"'{b.name}'" for b in without])
        text = f"no mass is given for {names}, but {listing([b.name for b in heavy])} {'has' if len(heavy) == 1 else 'have'} one"
        out = [Check("complete", "failed", text, float(len(without)), 0.0, without[0].name, place=str(without[0].where or ""))]
    else:
        said = "every body has a mass" if heavy else "no body has a mass, so there are no loads"
        out = [Check("complete", "passed", said)]
    doubts = plausibility.implausible(d)
    out += [Check("inputs", "unknown", "; ".join(doubts))] if doubts else []
    far = outliers(d)
    text = f"{', '.join(far)}: more than {FAR:.0f} times the other lengths. Check the unit"
    return [*out, Check("units", "unknown", text, max(far.values()), FAR, next(iter(far)))] if far else out


def outliers(d: Description) -> dict[str, float]:
    """Numbers of the drawing that are far larger than every other one, with the ratio: a length in the wrong unit."""
    sizes = {name: abs(float(x)) for name, x in d.drawn_numbers.items() if x and not name.endswith(".length")}
    if len(sizes) < LEAST:
        return {}
    largest, second = sorted(sizes.values(), reverse=True)[:2]
    return {name: x / second for name, x in sizes.items() if x == largest and x > FAR * second}


# -------------------------------------------------------------------- assembles, mobility


def assembles(s: Stages) -> list[Check]:
    """The drawn position, closed exactly."""
    system = s.m._ideal.system
    places = [str(at) for _, at in s.m.description.start_places]
    try:
        _ = system.start
    except LinkwrightError as problem:
        gap = getattr(problem, "gap", None)
        value = None if gap is None or not np.isfinite(gap) else float(gap)
        place = str(getattr(problem, "where", None) or "") or (places[0] if places and "start:" in str(problem) else "")
        return [Check("assembles", "failed", _without(str(problem), place), value, 0.0, getattr(problem, "loop", ""), place=place)]
    loops = len(system.tree.loops)
    text = f"closes {counted(loops, 'loop')} in the assembly mode of the drawing" if loops else "an open chain, there are no loops to close"
    return [Check("assembles", "passed", text)]


def _without(text: str, place: str) -> str:
    return text.removeprefix(f"{place}: ") if place else text


def mobility(s: Stages) -> list[Check]:
    """Degrees of freedom against drives, and constraints that others imply."""
    system, d = s.m._ideal.system, s.m.description
    try:
        found = system.mobility
        problem = _drives_fit(s)
    except LinkwrightError as error:
        return [Check("mobility", "failed", str(error), place=_place(s))]
    freedoms, touches = found.freedoms, bool(d.touch_laws)
    text = f"{degrees_of_freedom(freedoms)}, {counted(len(d.drives), 'drive')}"
    if problem is not None:
        loose = freedoms > len({x.joint for x in d.drives})
        s.held_by_contact = loose and touches
        verdict = "unknown" if loose and (touches or not d.drives or s.asked.run is not None) else "failed"
        return [Check("mobility", verdict, _without(str(problem), _place(s)), float(freedoms), float(len(d.drives)), place=_place(s))]
    if found.redundant:
        several = "; ".join(map(str, found.redundant))
        text += f"; over-constrained, so it moves only while its dimensions are exact: {several}"
        extra = sum(x.count for x in found.redundant)
        return [
            Check("mobility", "unknown", text, float(extra), 0.0, found.redundant[0].loop, place=_loop_place(s, found.redundant[0].loop))
        ]
    return [Check("mobility", "passed", text, float(freedoms), float(len(d.drives)))]


def _place(s: Stages) -> str:
    """Where the last drive is written."""
    return next((str(x.where) for x in reversed(s.m.description.drives) if x.where is not None), "")


def _loop_place(s: Stages, loop: str) -> str:
    name = loop.partition("closed by ")[2].rstrip(")")
    return next((str(j.where) for j in s.m.description.joints if j.name == name and j.where is not None), "")


def _drives_fit(s: Stages) -> UsageError | None:
    """Why the drives do not determine the motion; None if they do. Without a drive the cycle moves one joint, and that is looked at."""
    system = s.m._ideal.system
    core = compiled_of(system)
    if not core.mobility.freedoms and not core.drive_names:
        return UsageError("nothing can move: this is a structure, not a mechanism.", name="")
    here, rest = core.start.instant, []
    if not core.drive_names:
        return UsageError(f"no drive is given for {degrees_of_freedom(core.mobility.freedoms)}. Add `drive:`.", name="")
    for name in core.drive_names:
        x = joint_limits.coordinate_now(core.loops, name, here)
        rest.append(driven_constraints.driven(core.loops.skel.tree.description, name, curve_lines.Line(x, 1.0)))
    try:
        joint_limits.check_driven(core.loops, core.loops.with_(rest), here, core.drive_names)
    except UsageError as problem:
        return problem
    return None


# -------------------------------------------------------------------- moves


def moves(s: Stages) -> list[Check]:
    """The wanted motion: a range that was asked for, the program of the drive, its own stops, or a full turn."""
    if s.held_by_contact and s.asked.run is None:
        return [Check("moves", "unknown", "contact moves parts of it, so it has no cycle. Check a run instead: run='1 s'", place=_place(s))]
    if s.quick and _stuck(s):
        return [Check("moves", "failed", "its drive does not turn fully")]
    try:
        c = s.asked.motion(s.m)
    except LinkwrightError as problem:
        place = _place(s)
        return [Check("moves", "failed", _without(f"{problem}{_contradiction(s)}", place), place=place)]
    s.motion = c
    if s.asked.run is not None:
        checks = [x for x in c.checks() if x.name in ("run", "loops", "velocities", "energy", "momentum", "branch", "error")]
        worst = check_results.worst(checks)
        said = "; ".join(f"{x.name}: {x.text}" for x in checks if x.verdict == worst)
        return [Check("moves", worst, said if worst != "passed" else f"simulated over {c.t[-1] - c.t[0]:.4g} s")]
    return [_turns(s, c), replace(motion_checks.singular_check(c))]


def _stuck(s: Stages) -> bool:
    """True if a drive at constant speed that has no stops of its own does not turn in one sweep."""
    d, asked = s.m.description, s.asked
    if asked.run is not None or asked.start is not None or asked.stop is not None or not d.drives:
        return False
    lead = asked.drive or next((x.joint for x in d.drives if x.kind in PRESCRIBED), "")
    drive = next((x for x in d.drives if x.joint == lead), None)
    if drive is None or drive.kind != "speed" or not coordinates.is_rotary(d, lead) or any(x.joint == lead for x in d.rigid_stops):
        return False
    return cycles.swept_fully(compiled_of(s.m._ideal.system), asked.drive, asked.steps) is False


def _turns(s: Stages, c: Trajectory) -> Check:
    """A drive at constant speed needs a full turn, unless its own stops say how far it goes."""
    d, lead = s.m.description, c.drive
    drive = next((x for x in d.drives if x.joint == lead), None)
    if c.full_turn:
        return Check("moves", "passed", f"'{lead}' turns fully")
    low, high = (shown(float(x), _kind(d, lead), d.units, 4) for x in (np.min(c[lead]), np.max(c[lead])))
    text = f"'{lead}' moves from {low} to {high}"
    rotary = coordinates.is_rotary(c.skel.tree.description, lead)
    if s.asked.start is not None or s.asked.stop is not None or drive is None or drive.kind in ("position", "moves"):
        return Check("moves", "passed", text)
    if not rotary or drive.kind not in PRESCRIBED:
        return Check("moves", "passed", text)
    reach = s.m._ideal.limits(lead)
    own = {lead} >= {x for x in (reach.stop_low, reach.stop_high) if x} and not (reach.dead_low or reach.dead_high)
    if own and (reach.stop_low or reach.stop_high):
        return Check("moves", "passed", f"{text}, between its own stops")
    if reach.full_turn is None:
        return Check("moves", "unknown", f"{text}; whether it turns fully cannot be determined so near to a change point")
    ends = [f"the stop of '{x}'" for x in dict.fromkeys((reach.stop_low, reach.stop_high)) if x]
    ends += ["dead centers"] if reach.dead_low and reach.dead_high else ["a dead center"] if reach.dead_low or reach.dead_high else []
    geometry = next((f": {x}" for x in (reach.geometry_low, reach.geometry_high) if x), "")
    says = f"its drive has a constant speed, but {text}, up to {' and '.join(ends)}{geometry}. It cannot turn fully"
    place = str(drive.where or "")
    return Check("moves", "failed", says, float(reach.high - reach.low), 2.0 * np.pi, lead, place=place)


def _kind(d: Description, lead: str) -> Dimension:
    return KINDS["length" if coordinates.slides(d, lead) else "angle"]


def _contradiction(s: Stages) -> str:
    """What stops and dead centers leave of the way of the drive."""
    d = s.m.description
    lead = s.asked.drive or next((x.joint for x in d.drives), "")
    if not lead or not (d.rigid_stops or s.asked.start is not None or s.asked.stop is not None):
        return ""
    try:
        reach = s.m._ideal.limits(lead)
    except LinkwrightError:
        return ""
    if reach.full_turn:
        return ""
    low, high = (shown(float(x), _kind(d, lead), d.units, 4) for x in (reach.low, reach.high))
    by = listing([f"'{x}'" for x in dict.fromkeys((reach.stop_low, reach.stop_high)) if x])
    return f" {f'Stops of {by}' if by else 'The links'} leave {low} .. {high} of '{lead}'."


# -------------------------------------------------------------------- loads, limits


def loads(s: Stages) -> list[Check]:
    """Loads that are finite and unique."""
    if s.motion is None:
        return [Check("loads", "unknown", "there is no motion")]
    c, why = s.motion, s.why_no_loads
    if why:
        return [Check("loads", "unknown", why)]
    try:
        bad = [
            n
            for n in c._load_channels
            if n.endswith((".torque", ".force", ".load")) and not np.isfinite(np.asarray(c[n], dtype=float)).all()
        ]
    except LinkwrightError as problem:
        return [Check("loads", "unknown", str(problem))]
    if bad:
        return [Check("loads", "failed", f"not finite: {listing(bad)}", where=bad[0])]
    near = bool(np.count_nonzero(c.near_singular))
    found = motion_checks.loads_known(c)
    if near and found.verdict == "passed":
        return [Check("loads", "unknown", "loads grow without bound toward a singular position")]
    return [found]


def limits(s: Stages) -> list[Check]:
    """Reach, contact and drives, each against its limits."""
    if s.motion is None:
        return [Check("limits", "unknown", "there is no motion")]
    try:
        found = motion_checks.limits_of_parts(s.motion, s.why_no_loads)
    except LinkwrightError as problem:
        return [Check("limits", "unknown", str(problem))]
    d = s.m.description
    places = _element_places(d)
    placed = [replace(x, place=next((at for name, at in places.items() if f"'{name}'" in x.text), "")) for x in found]
    return placed or [Check("limits", "passed", "no limits are given")]


def _element_places(d: Description) -> dict[str, str]:
    """Where elements and drives are written, by their names."""
    found = {x.name: str(x.where) for x in elements.every(d) if x.where is not None}
    return found | {x.joint: str(x.where) for x in d.drives if x.where is not None}


# -------------------------------------------------------------------- requirements


def required(s: Stages) -> list[Check]:
    """Each requirement with the value found, and by how much it is met or missed."""
    if s.motion is None:
        return [Check(r.text, "unknown", "there is no motion") for r in s.asked.require]
    return [_requirement(s.motion, r) for r in s.asked.require]


def _requirement(c: Trajectory, wanted: goals.Requirement) -> Check:
    try:
        row = requirements(c, [wanted]).rows[0]
    except LinkwrightError as problem:
        why = motion_checks.why_no_loads(c)
        if not why:
            raise
        return Check(wanted.text, "unknown", f"{problem} ({why})")
    value, limit = _in_si(row, wanted)
    return Check(wanted.text, "passed" if row.met else "failed", _margin_text(row, wanted), value, limit)


def _in_si(row: CheckedRequirement, wanted: goals.Requirement) -> tuple[float | None, float | None]:
    found = row.value
    if found is None:
        return None, None
    size = readings.channel_unit(wanted.unit)[0] if wanted.unit else 1.0
    ends = [x for x in (wanted.low, wanted.high) if np.isfinite(x)]
    nearest = min(ends, key=lambda x: abs(x - found)) if ends else None
    return found * size, None if nearest is None else nearest * size


def _margin_text(row: CheckedRequirement, wanted: goals.Requirement) -> str:
    """`44.2 deg, 4.2 deg inside the limit`."""
    if row.value is None:
        return "met" if row.met else "not met"
    found = f"found {row.value:.6g} {row.unit}".rstrip()
    if not row.met:
        return f"{found}, {row.how or 'not met'}"
    room = min(abs(x - row.value) for x in (wanted.low, wanted.high) if np.isfinite(x)) if not wanted.components else 0.0
    return f"{found}, {room:.4g} {row.unit}".rstrip() + " inside the limit"


BY_NAME: dict[str, Callable[[Stages], Sequence[Check]]] = {
    "complete": complete,
    "assembles": assembles,
    "mobility": mobility,
    "moves": moves,
    "loads": loads,
    "limits": limits,
    "requirements": required,
}
