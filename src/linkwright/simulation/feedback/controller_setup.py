"""From a written controller to one at its place: drives and coordinates by name, references from the present position, weights.

Coordinates are those the reference names; a State or a Trajectory to follow names none, and then as many joint coordinates as
there are degrees of freedom are chosen, drives first. The model a controller believes in has the same joints as the mechanism; lengths,
masses and gravity may differ, and named loads may be missing (`unmodeled_loads`).

Loads that a controller does not know are left out of its model of the mechanism by name: `off=["wall"]` leaves out a closing condition
(rod, cut joint, coupling, gear), a spring, damper, friction, stop, load, the force of a cylinder, the mass of a body (`"payload"`), or
`"gravity"`. The mechanism that is simulated has all of them. Friction and stops have the names of their joints: `"A"` means both where A
closes no loop, `"friction.A"` and `"stop.A"` one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.drives.base import DriveTarget, sample_time, target
from linkwright.drives.input_equations import LawCache
from linkwright.elements import ACTING, held
from linkwright.errors import UsageError, counted, degrees_of_freedom, nearest
from linkwright.kernels.kernels import Variant
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.inverse.effort_weights import effort_weights
from linkwright.mechanics.kinematics.motion import motion
from linkwright.model.curves.references import Path, read_reference
from linkwright.model.description import NO_INERTIA, ZERO3, Description
from linkwright.model.file import reread
from linkwright.motion.controllability import Controllability, controllable, drive_rows
from linkwright.numerics.linalg import factor
from linkwright.results.state import State
from linkwright.simulation.feedback.base import Control, read_names
from linkwright.simulation.feedback.control_law import as_control
from linkwright.simulation.feedback.controller_inputs import Situation
from linkwright.simulation.feedback.controller_program import Believed, BoundControl
from linkwright.simulation.feedback.reference_tracking import recorded_references
from linkwright.simulation.feedback.task_coordinates import Task, tasks_of, values_of

# fields of a description that may be switched off -> kind of the part
LISTS = {f: held(f)[0].word for f in ACTING if not held(f)[0].coordinate}
DRIVABLE = [f for f in ACTING if held(f)[0].coordinate]  # they stay, without their force
GRAVITY = "gravity"


def elements(d: Description) -> list[str]:
    """Names of loads and masses that a model can be without."""
    listed = [text for k, kind in LISTS.items() for x in getattr(d, k) for text in (x.name, f"{kind}.{x.name}")]
    heavy = [b.name for b in d.bodies if b.mass is not None]
    return [*listed, *(x.name for f in DRIVABLE for x in getattr(d, f)), *heavy, GRAVITY]


def without(d: Description, names: Sequence[str]) -> Description:
    """The description without these elements; names it does not have are ignored."""
    if not names:
        return d
    changed: dict[str, Any] = {
        k: tuple(x for x in getattr(d, k) if x.name not in names and f"{kind}.{x.name}" not in names) for k, kind in LISTS.items()
    }
    for f in DRIVABLE:
        changed[f] = tuple(replace(x, force=0.0) if x.name in names else x for x in getattr(d, f))
    changed["bodies"] = tuple(replace(b, mass=0.0, inertia=NO_INERTIA) if b.name in names else b for b in d.bodies)
    if GRAVITY in names:
        changed["gravity"] = ZERO3
    return replace(d, **changed)


def sorted_out(names: Sequence[str], d: Description, closing: Sequence[str], what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(closing conditions, loads and masses) among the names that a controller's model is without."""
    known = elements(d)
    for name in names:
        if name not in closing and name not in known:
            tree = f" Joint '{name}' is in the spanning tree. cuts=['{name}'] makes it one." if name in [j.name for j in d.joints] else ""
            raise UsageError(
                f"{what}: '{name}' is not a closing condition, load or mass. {nearest(name, [*closing, *known], 'Known')}{tree}",
                name=name,
                allowed=[*closing, *known],
            )
    return tuple(n for n in names if n in closing), tuple(n for n in names if n not in closing)


DEPENDENT_OUTPUTS = 1e-7  # singular value of normalized outputs below which they are not independent
FAR, FAR_ANGLE = 10.0, 15.0  # of the mechanism's size, and rad: a reference that begins beyond is hardly meant
FAST = 1e-3  # of that, per second: an offset in speed worth a note


def bind(
    written: Control,
    system: Any,
    st: State,
    *,
    parameters: Any = None,
    drivers: Sequence[str] = (),
    armature: Any = (),
    off: Sequence[str] = (),
    first: bool = True,
    others: bool = False,
    ratings: Mapping[str, float | None] | None = None,
) -> BoundControl:
    """The controller at a mechanism and the state it begins from.

    drivers, armature, off: motions given by others, rotors of motors and loops switched off at this moment; `others`: whether
    anything else pushes, which force sensors feel. `first`: whether
    the drives must be able to push everything there is to push; later on, after a switch, that is only noted. `ratings`: largest
    efforts of the actuators by drive, where they are given and known.
    """
    written = as_control(written)
    _check_numbers(written)
    variant = Variant(tuple(drivers), tuple(armature), tuple(off))
    real = Believed(system.kernels.variant(variant))
    believed = _believed(written, system, variant, real)
    skel = believed.kernels.loops.skel
    targets = control_targets(written, system, drivers)
    names, who = [x.name for x in targets], f"{written.kind}: "
    weights = effort_weights(system.description, names, system.loops.kappa, rated=written.rated, actuators=ratings, who=who)
    default = system.kernels.defaults["parameters"]
    start = {
        "q": np.array(st.q, dtype=float),
        "v": np.array(st.v, dtype=float),
        "t": np.array([st.t], dtype=float),
        "near": skel.pack(st.references),
        "parameters": np.array(default if parameters is None else parameters, dtype=float),
        "moved": np.zeros(3 * len(drivers)),
    }
    _check_inertia(written, system, believed, start)
    tasks, paths = _followed(written, _loops(believed, start), st, targets)
    out = BoundControl(
        written,
        system.description,
        real,
        believed,
        targets,
        tuple(tasks),
        tuple(paths),
        weights.sizes,
        sample_time(written.every, written.kind),
        start,
        tuple(system.kernels.entries["lam"]),
        tuple(k for c in system.loops.constraints for k in c.kinds),
        [note for p in paths for note in p.curve.notes],
        cache=LawCache.of(system),
        first=first,
        known=_less(system, variant, _left_out(written, system)[1]) if _left_out(written, system)[1] else real,
    )
    out.written = written.prepared(out)
    start["ref"] = np.asarray(out.reference(st.t), dtype=float)
    start["state"] = np.array([s.start for s in out.states])
    nodes, nv = system.tree.nodes, system.tree.nv
    start["other"] = np.zeros(nv + 6 * len(nodes) if others and out.sensors else 0)  # what else pushes, see `Situation.plant`
    _check_reach(out, st, first)
    if first:
        _check_outputs(out)
        out.notes += [weights.note] if out.redundant else []
        out.notes += _begins(out, system.loops.kappa)
    return out


def _check_numbers(written: Control) -> None:
    d = written.damping
    if isinstance(d, bool) or not isinstance(d, (int, float)) or not 0.0 <= d < 0.5:
        raise UsageError(
            f"{written.kind}: damping is a number from 0 (none) to below 0.5, not {d!r}. The default is 0.02.", name=written.kind, value=d
        )


def _believed(written: Control, system: Any, variant: Variant, real: Believed) -> Believed:
    """The equations the law is made of."""
    closing, loads = _left_out(written, system)
    variant = replace(variant, without=(*variant.without, *(n for n in closing if n not in variant.without)))
    if written.model is None:
        return _less(system, variant, loads) if closing or loads else real
    description = without(_model(written, system), loads)
    other = LawCache.of(system).get(("model", description), lambda: system.described_by(description))
    mine, theirs = ([(n.joint.name, n.joint.type) for n in x.tree.nodes] for x in (system, other))
    if mine != theirs or [x.labels for x in system.loops.constraints] != [x.labels for x in other.loops.constraints]:
        raise UsageError(
            f"{written.kind}: the controller's model needs the joints of the mechanism. Only dimensions and masses may differ.",
            name=written.kind,
        )
    return Believed(other.kernels.variant(variant), np.zeros(0))


def _left_out(written: Control, system: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(closing conditions, loads and masses) that the controller does not know."""
    what = f"{written.kind}: off"
    return sorted_out(read_names(written.off, what), system.description, [x.name for x in system.tree.loops], what)


def _check_inertia(written: Control, system: Any, believed: Believed, start: Mapping[str, np.ndarray]) -> None:
    """Raise UsageError where the model without the masses left out has a motion without inertia."""
    light = [b.name for b in system.description.bodies if b.name in _left_out(written, system)[1]]
    if not light:
        return
    try:
        believed.equations({**start, "moved": np.ones(len(start["moved"]))})
    except UsageError as problem:
        raise UsageError(
            f"{written.kind}: off: without the mass of {', '.join(light)} something moves that has no inertia. Leave a mass in, or give "
            f"the controller another one: model={{'{light[0]}.mass': '0.1 kg'}}.",
            name=written.kind,
        ) from problem


def _less(system: Any, variant: Variant, loads: Sequence[str]) -> Believed:
    """The mechanism itself without some loads, at the parameters of the run."""
    if not loads:
        return Believed(system.kernels.variant(variant))
    described = without(system.described, loads)
    parameters = [p.name for p in system.parameters]
    known = not any(n.partition(".")[0] in loads for n in parameters)  # else parameters are those of the file: some are of what is left out
    less = LawCache.of(system).get(("less", tuple(loads)), lambda: system.described_by(described, parameters if known else ()))
    return Believed(less.kernels.variant(variant), None if known else np.zeros(0))


def _model(written: Control, system: Any) -> Description:
    """The description that the controller believes in: another mechanism, or this one with other parameters."""
    if isinstance(written.model, Mapping):
        if system.described.document is None:
            raise UsageError(
                f"{written.kind}: model={{...}} changes parameters of a model file. Give a mechanism here: model=m.with_(...).",
                name=written.kind,
            )
        description = reread(system.described, **written.model)
    else:
        description = getattr(written.model, "description", written.model)
    if not hasattr(description, "joints"):
        raise UsageError(
            f"{written.kind}: model is a mechanism (lw.load(...), m.with_(...)) or a dict of other parameters, {{'crank.mass': '2 kg'}}, "
            f"not {type(written.model).__name__}.",
            name=written.kind,
            value=written.model,
        )
    names, known = ([j.name for j in d.joints] for d in (description, system.description))
    if sorted(names) != sorted(known):
        raise UsageError(
            f"{written.kind}: the controller's model needs the joints of the mechanism, {', '.join(known)}. '{description.name}' has "
            f"{', '.join(names)}. Only dimensions, masses and forces may differ.",
            name=description.name,
        )
    return description


def control_targets(written: Control, system: Any, drivers: Sequence[str]) -> tuple[DriveTarget, ...]:
    """The drives a controller may use; those of the model file if nothing is said."""
    mine = written.drive_names(system.description)
    if not mine:
        raise UsageError(f"{written.kind}: the model names no drives. Name the joints with motors, drives=['A'].", name=written.kind)
    twice = [n for n in mine if mine.count(n) > 1]
    if twice:
        raise UsageError(f"{written.kind}: drive '{twice[0]}' is named twice.", name=twice[0])
    taken = [n for n in mine if n in drivers]
    if taken:
        raise UsageError(
            f"{written.kind}: '{taken[0]}' is locked or moved as prescribed: the controller cannot drive it as well.", name=taken[0]
        )
    return tuple(target(system.loops.skel, n) for n in mine)


def _loops(of: Believed, start: Mapping[str, np.ndarray]) -> Loops:
    """The loops of this moment: with the parameters of the run, without what is off, with the rows of prescribed motions."""
    return of.equations({**start, "moved": np.ones(len(start["moved"]))}).loops


def _followed(written: Control, loops: Loops, st: State, targets: Sequence[DriveTarget]) -> tuple[list[Task], list[Path]]:
    """Coordinates and the references they follow, from the position the controller believes."""
    skel, description, reference = loops.skel, loops.skel.tree.description, written.reference
    if reference is None and written.optional_reference:
        return [], []
    if not isinstance(reference, Mapping):
        reference = recorded_references(reference, loops, st, [x.name for x in targets], written.kind)
    if not reference:
        raise UsageError(
            f"{written.kind}: the reference names no coordinate. Name some, such as {{'A': lw.control.minimum_jerk('60 deg', '1 s')}}.",
            name=written.kind,
        )
    tasks: list[Task] = []
    paths: list[Path] = []
    m = motion(skel, st.q, st.v)
    for name, given in reference.items():
        mine = tasks_of(skel, name)
        kinds = [k for x in mine for k in x.kinds]
        now = values_of(mine, skel, m, st.references)
        labels = [label for x in mine for label in x.labels]
        again = [label for label in labels if any(label in x.labels for x in tasks)]
        if again:
            raise UsageError(f"{written.kind}: '{again[0]}' is followed twice.", name=again[0])
        what, called = f"reference of '{name}'", [f"reference of '{label}'" for label in labels]
        path = given if isinstance(given, Path) else read_reference(given, kinds, now, what, description, t=st.t, names=called)
        tasks += mine
        paths.append(path)
    return tasks, paths


def _check_outputs(bound: BoundControl) -> None:
    """Check that the coordinates followed are independent where the controller begins."""
    written, n = bound.written, bound.n_tasks
    if not written.solves:
        return
    A = bound.outputs_at_start * bound.weights / bound.nominal.sizes[:, None]
    if factor(A[:n], DEPENDENT_OUTPUTS).rank < n:
        raise UsageError(
            f"{written.kind}: the coordinates {', '.join(bound.labels)} do not determine the motion here: something can move that leaves "
            "them at rest, or they depend on each other. Follow others, or start elsewhere.",
            name=written.kind,
        )
    if len(A) > n and factor(A, DEPENDENT_OUTPUTS).rank < len(A):
        forces = ", ".join(r.name for r in bound.force_rows)
        raise UsageError(
            f"{written.kind}: drives {', '.join(x.name for x in bound.targets)} cannot change {forces} here without moving "
            f"{', '.join(bound.labels)}: choose other forces or drives, or start elsewhere.",
            name=written.kind,
        )


def _begins(bound: BoundControl, kappa: float) -> list[str]:
    """Notes about references that begin elsewhere or with another speed."""
    at, out = Situation(bound, dict(bound.start), safe=True), []
    for label, kind, e, rate in zip(bound.labels, bound.kinds, at.error, at.error_rate, strict=True):
        unit, far = ("m", FAR * kappa) if kind == "length" else ("rad", FAR_ANGLE)
        if abs(e) > far:
            said = "bare numbers are SI, m and rad, whatever the file's units"
            out.append(f"reference of '{label}' begins {abs(e):.4g} {unit} away from the present position ({said})")
        elif abs(rate) > FAST * far:
            said = "s.assemble(v=...) gives a start on it"
            out.append(f"reference of '{label}' begins {abs(rate):.3g} {unit}/s faster or slower than it moves; {said}")
    return out


def _check_reach(bound: BoundControl, st: State, first: bool) -> None:
    """Check that the drives can push what is to be followed, and that everything that can move is followed."""
    written, n, p = bound.written, bound.n_tasks, len(bound.targets)
    if not written.solves:
        return
    held, names = _loops(bound.believed, bound.start), [x.name for x in bound.targets]
    found = controllable(held, st, drive_rows(held, st, names), names)
    problem = _lack(found, n, p, bound.labels, len(bound.live_forces))
    if problem and first:
        raise UsageError(f"{written.kind}: {problem}", name=written.kind)
    if problem:
        bound.notes.append(f"t = {st.t:.6g} s: {written.kind}: {problem}")
    elif n < found.freedoms:
        left = found.freedoms - n
        bound.notes.append(f"{written.kind}: {left} of {degrees_of_freedom(found.freedoms)} {'is' if left == 1 else 'are'} not followed")


def _lack(found: Controllability, n: int, p: int, labels: Sequence[str], forces: int) -> str:
    """Problem of n coordinates and so many forces for p drives. Degrees of freedom that no drive reaches do not count."""
    reached = found.freedoms - found.missing
    if n > found.freedoms:
        return (
            f"{n} coordinates are to be followed ({', '.join(labels)}), but there "
            f"{'is' if found.freedoms == 1 else 'are'} {degrees_of_freedom(found.freedoms)} here: they would contradict each other."
        )
    if p < n:
        return (
            f"{counted(p, 'drive')} cannot make {counted(n, 'coordinate')} ({', '.join(labels)}) follow. Name more "
            "drives=[...] or follow fewer."
        )
    if n == found.freedoms and not found.ok:
        return found.text
    if n < reached and p > n + forces:
        return (
            f"the reference has {counted(n, 'coordinate')} ({', '.join(labels)}), but {p} drives move {degrees_of_freedom(reached)}: "
            f"it must name {reached - n} more."
        )
    return ""
