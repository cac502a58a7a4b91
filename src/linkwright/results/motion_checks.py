"""The one list of checks of a mechanism in motion, from the contributions of each kind; `Trajectory.checks()` gives it.

    run      came to its end                                  reach     gas springs, strokes, rigid stops
    motion, singularities   of a cycle                        contact   cams press, belts pull
    loops    closed in position         velocities  likewise  drives    within their limits
    energy, momentum, branch, error     of a run              loads     unique, or which are not known
    dynamics of a cycle: Newton, Euler, forward dynamics      inputs    plausible

Kinds that a motion does not have are left out: no contact without cams and belts, no error of a cycle, whose positions are solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright import elements
from linkwright.errors import LinkwrightError, counted, degrees_of_freedom
from linkwright.mechanics.inverse.loads import meshes_not_modeled
from linkwright.model.coordinates import lengths
from linkwright.model.description import Description
from linkwright.model.plausibility import implausible
from linkwright.numerics.tolerances import CLOSED_GIVEN
from linkwright.results.channels.loads import eyes
from linkwright.results.checks import Check, Checks, worst
from linkwright.results.element_limits import DRIVES, element_limits, limit_checks, place_text

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

EVERY = 8  # samples of a cycle at which loops are looked at again
FORCES_BALANCED = 1e-8  # share of the largest force that may be left over
GIVEN_BACK = 1e-6  # share of the largest acceleration: round-off grows near singular positions
LOOKED_AT, FORWARD_AT = 12, 4  # samples at which equilibrium and forward dynamics are looked at
LOST_RANK = 1e-6  # singular value of the dimensionless J below which a row is lost
SAME_AXIS = 1e-6  # m and direction cosines
MOST_NAMED = 4
SINGULAR = "singularities"  # name of a check


def motion_checks(c: Trajectory, *, loads: bool = True) -> Checks:
    """Every check of a cycle, path or run. `loads=False` leaves out those of a single design: uniqueness and cross-checks of loads."""
    own = c.proof.checks() if c.proof is not None else None
    items = list(own) if own is not None else _cycle(c)
    d = c.skel.tree.description
    why = why_no_loads(c)
    items += limits_of_parts(c, why)
    if loads and not why:
        items += ([_dynamics(c)] if own is None else []) + [loads_known(c)]
    items.append(inputs_check(d))
    return Checks(tuple(items), own.details if own is not None else ())


def limits_of_parts(c: Trajectory, why: str) -> list[Check]:
    """Limits of elements and drives, those of motors among them; `why` there are no loads, or ""."""
    limited = limit_checks(c, element_limits(c.skel.tree.description), why) if len(c) else []
    return [x for x in limited if x.name != DRIVES] + merged(DRIVES, [*(x for x in limited if x.name == DRIVES), *_motors(c, why)])


def why_no_loads(c: Trajectory) -> str:
    """The reason why a motion has no loads; empty where it has them."""
    missing = [b.name for b in c.skel.tree.description.bodies[1:] if b.mass is None]
    if missing:
        return f"no mass is given for {', '.join(missing[:MOST_NAMED])}"
    if not len(c):
        return "the motion has no samples"
    if "lam" not in c.arrays and (c.system is None or not c.drives):
        return "nothing drives this motion"
    try:
        for x in c._judges[:1]:
            _ = x.loads
    except LinkwrightError as problem:
        return f"loads cannot be computed: {' '.join(str(problem).split())}"
    return ""


# -------------------------------------------------------------------- a cycle


def _cycle(c: Trajectory) -> list[Check]:
    if not len(c):
        return [Check("motion", "failed", "the motion has no samples")]
    return [*_mobility(c), _motion(c), *_loops(c), singular_check(c)]


def _mobility(c: Trajectory) -> list[Check]:
    """Degrees of freedom by the rank of the loop Jacobian; the page compares those of a changed design with them."""
    if c.system is None:
        return []
    m, nc = c.system.mobility, c.skel.tree.nc
    redundant = f"; {counted(nc - m.rank, 'redundant constraint')}" if nc > m.rank else ""
    idle = f" and {counted(len(m.idle), 'idle motion')}" if m.idle else ""
    return [Check("mobility", "passed", f"{degrees_of_freedom(m.freedoms)}{idle}{redundant}")]


def _motion(c: Trajectory) -> Check:
    if not c.full_turn:
        return Check("motion", "passed", f"{counted(len(c), 'position')} reached")
    first, last = (c.instant(i).motion.X for i in (0, len(c) - 1))
    back = all(np.allclose(a.p, b.p, atol=SAME_AXIS) and np.allclose(a.R, b.R, atol=SAME_AXIS) for a, b in zip(first, last, strict=True))
    return Check("motion", "passed", "ends where it began" if back else "is longer than one revolution of the drive")


def _loops(c: Trajectory) -> list[Check]:
    """Loops in position and velocity at some samples, computed again by the equations without a kernel."""
    if not c.skel.tree.nc:
        return []
    loops, phi, gap = c.frame, 0.0, 0.0
    speed = max(1.0, float(np.abs(c.v / loops.columns).max(initial=0.0)))
    for i in range(0, len(c), EVERY):
        at = loops.at(c.q[i], c.v[i], float(c.t[i]), c.references[i])
        rate = at.J @ c.v[i] + (0.0 if c.static else at.b)
        phi, gap = (max(x, float(np.abs(y / loops.row_scale).max())) for x, y in ((phi, at.phi), (gap, rate)))
    gap /= speed
    text = f"closed to {_to(phi)} of the mechanism's size over the whole motion"
    return [Check.below("loops", phi, CLOSED_GIVEN, text), Check.below("velocities", gap, CLOSED_GIVEN, f"satisfy the loops to {_to(gap)}")]


def singular_check(c: Trajectory) -> Check:
    """A peak near a singular position says how close the nearest sample is, not what the machine must carry."""
    name, d = SINGULAR, c.skel.tree.description
    ends = sum(x.kind == "dead center" for x in c.singular)
    passed = len(c.singular) - ends
    said = [f"{counted(passed, 'singular position')} passed"] if passed else []
    said += [f"{counted(ends, 'dead center')} at the ends of the travel"] if ends else []
    said += [x.geometry for x in c.singular if x.geometry][:MOST_NAMED]
    near = int(np.count_nonzero(c.near_singular))
    if not near:
        return Check(name, "passed", "; ".join(said) or "no singular position in this motion")
    i = int(np.flatnonzero(c.near_singular)[0])
    what = "speeds" if any(b.mass is None for b in d.bodies[1:]) else "loads"
    text = f"{'; '.join(said)}: {what} may grow without bound there, and their peak values depend on the sample distance"
    return Check(name, "unknown", text, where=place_text(c, float(c.t[i])))


# -------------------------------------------------------------------- loads


def _dynamics(c: Trajectory) -> Check:
    """Newton's and Euler's laws for every body, and forward dynamics, which must give back the motion from the efforts found."""
    looked = range(0, len(c), max(1, len(c) // LOOKED_AT))
    left = {i: c.instant(i).loads.residual for i in looked}
    singular = [i for i in looked if left[i] > FORCES_BALANCED and _loses_rank(c, i)]
    worst = max((x for i, x in left.items() if i not in singular), default=0.0)
    text = f"Newton's and Euler's laws hold to {_to(worst)} of the largest force"
    if singular:
        text += f", except at {len(singular)} of {counted(len(left), 'position')}, which are singular: loads have a pole there"
    off = _given_back(c)
    text += "" if off is None else f"; forward dynamics gives back the motion to {_to(off)}"
    if worst >= FORCES_BALANCED or (off is not None and off >= GIVEN_BACK):
        value, limit = (worst, FORCES_BALANCED) if worst >= FORCES_BALANCED else (off, GIVEN_BACK)
        return Check("dynamics", "failed", text, value, limit)
    return Check("dynamics", "unknown" if len(singular) == len(left) else "passed", text, worst, FORCES_BALANCED)


def _loses_rank(c: Trajectory, i: int) -> bool:
    loops = c.frame
    J = loops.dimensionless(loops.at(c.q[i], c.v[i], float(c.t[i]), c.references[i]))[1]
    return int(np.linalg.matrix_rank(J, tol=LOST_RANK)) < c.system.mobility.rank


def _given_back(c: Trajectory) -> float | None:
    """Largest difference of accelerations, as a share of the largest; None where forward dynamics has no answer.

    Links that spin about themselves do so freely: if there are any, the accelerations of the drives are compared.
    """
    worst, largest, system = 0.0, 0.0, c.system
    for i in np.linspace(0, len(c) - 1, FORWARD_AT + 2).astype(int)[1:-1]:
        loads = c.instant(int(i)).loads
        try:
            found = system.forward(c.state(int(i)), tau=dict(loads.tau))
        except LinkwrightError:
            return None
        got, wanted = np.asarray(found.a), c.a[i]
        if system.mobility.idle:
            names = [n for n in loads.tau if f"{n}.a" in c.channels]
            got, wanted = np.array([found[n] for n in names]), np.array([c[f"{n}.a"][i] for n in names])
        worst = max(worst, float(np.abs(got - wanted).max(initial=0.0)))
        largest = max(largest, float(np.abs(c.a[i]).max()), float(np.abs(c.v[i]).max()) ** 2)
    return worst / largest if largest > 0.0 else worst


def loads_known(c: Trajectory, asked: Sequence[str] | None = None) -> Check:
    """Loads that rigid-body mechanics decides, those that redundant constraints share, and those of joints whose mesh is not modeled.

    With `asked` it passes if none of these channels is among the loads that are not known.
    """
    d = c.skel.tree.description
    try:
        looks = [x.loads for x in c._judges]
        found = {(pin, body): all(x.on(pin, body).unique for x in looks) for pin, body in eyes(d)}
        drives = {n for x in looks for n, good in x.tau_unique.items() if not good}
    except LinkwrightError as problem:
        return Check("loads", "unknown", " ".join(str(problem).split()))
    pins = {pin for (pin, _), good in found.items() if not good}
    if asked is not None and not any(_is_of_pins(name, pins) or name.rpartition(".")[0] in drives for name in asked):
        return Check("loads", "passed", "all loads that are measured are statically determinate")
    return loads_check(d, found, drives)


def _is_of_pins(channel: str, pins: set[str]) -> bool:
    """True for the load in one of these joints, `C.load`, `C.moment` or `C.on.rocker.x`; the torque of a drive in C is another channel."""
    return channel.rpartition(".on.")[0] in pins or channel.removesuffix(".load").removesuffix(".moment") in pins


def measured_loads_check(c: Trajectory, channels: Sequence[str]) -> Check | None:
    """The check on the loads among these channels; None if none of them is a load."""
    asked = [name for name in channels if name in c._load_channels]
    return loads_known(c, asked) if asked and not why_no_loads(c) else None


def loads_check(d: Description, unique: Mapping[tuple[str, str], bool], drives: set[str]) -> Check:
    """The verdict on loads from what is unique."""
    meshes = meshes_not_modeled(d)
    touched = {(j.pin or j.name, body) for j in d.joints if j.name in meshes for body in (j.first, j.second)}
    loose = list(dict.fromkeys(pin for (pin, body), good in unique.items() if not good and (pin, body) not in touched))
    said = []
    if meshes:
        by = ", ".join(f"'{x}'" for x in dict.fromkeys(meshes.values()))
        pins = ", ".join(dict.fromkeys(pin for pin, _ in touched))
        said.append(f"the force in the mesh of {by} is not modeled, so the loads of {pins} are not known (the torque is)")
    if loose:
        named = ", ".join(loose[:MOST_NAMED]) + (f" and {len(loose) - MOST_NAMED} more" if len(loose) > MOST_NAMED else "")
        said.append(f"the loads of {named} are statically indeterminate. The least-norm solution is shown")
    driven = {x.joint for x in d.drives} | lengths(d).keys()
    resting = {s.joint for s in elements.stopping(d)} & drives - driven
    if resting:
        said.append(f"stops that rest together share their push: {', '.join(sorted(resting))}")
    if drives - resting:
        said.append(f"redundant drives share their work: {', '.join(sorted(drives - resting))}")
    return Check("loads", "unknown", "; ".join(said)) if said else Check("loads", "passed", "all loads are statically determinate")


def _motors(c: Trajectory, why: str) -> list[Check]:
    """Motors of the file against their data sheets; limits of a plate are no part of a run's equations."""
    names = [x.joint for x in c.skel.tree.description.drives if x.motor]
    if not names or why or c.system is None or not hasattr(c, "drive_sizing"):
        return []
    try:
        driven = c._each_loads[0].tau
        sizings = [c.drive_sizing(name) for name in names if name in driven]
        return motor_checks(DRIVES, sizings)
    except LinkwrightError as problem:
        return [Check(DRIVES, "unknown", " ".join(str(problem).split()))]


def motor_checks(name: str, sizings: Sequence[Any]) -> list[Check]:
    """Each limit of a data sheet with what the motion needs; none without limits."""
    out = []
    for s in (s for s in sizings if s.margins):
        margins = s.margins
        tight = min(margins, key=lambda m: m.factor)
        said = [f"{m.what} needs {m.need:.4g}, allowed {m.limit:.4g} (SI)" for m in margins if not m.ok]
        text = (
            f"motor of {s.history.name} exceeds a limit: {'; '.join(said)}" if said else f"motor of {s.history.name} is within its limits"
        )
        if s.load.near_peak:
            out.append(Check(name, "unknown", f"{text}; its peak lies near a singular position and depends on the sample distance"))
            continue
        open_ = [f"{m.what} needs {m.need:.4g}, allowed {m.limit:.4g} (SI)" for m in margins if not m.known]
        if open_ and not said:
            out.append(Check(name, "unknown", f"motor of {s.history.name}: {'; '.join(open_)}, maybe more between samples"))
            continue
        where = f"motor of {s.history.name}: {tight.what}"
        out.append(Check.of(name, not said, text, value=tight.need, limit=tight.limit, where=where))
    return out


def merged(name: str, checks: Sequence[Check]) -> list[Check]:
    """Several of one kind as one: the worst decides, its number is stated, and the texts follow each other."""
    if len(checks) < 2:
        return list(checks)
    verdict = worst(checks)
    first = next(x for x in checks if x.verdict == verdict)
    return [Check(name, verdict, "; ".join(x.text for x in checks if x.verdict == verdict), first.value, first.limit, first.where)]


def inputs_check(d: Description) -> Check:
    """Inputs that no machine has: warnings of the reader, and implausible magnitudes."""
    doubts = list(dict.fromkeys((*d.warnings, *implausible(d))))
    return Check("inputs", "unknown", "; ".join(doubts)) if doubts else Check("inputs", "passed", "nothing implausible found")


def _to(x: float) -> str:
    """How exact: a plain 0 is below round-off."""
    return f"{max(x, 1e-16):.0e}"
