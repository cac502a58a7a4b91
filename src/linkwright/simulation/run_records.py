"""From the loops' rows to a Trajectory: accelerations, multipliers and efforts at the samples, columns of the drives, settings.

Accelerations and multipliers are evaluated again at the samples, in one batch per mode, with the efforts that acted there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.compiler.program import interpret
from linkwright.drives.voltage import BoundVoltage
from linkwright.errors import LinkwrightError, counted, listing
from linkwright.mechanics import formulations
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.model.curves.polynomial import Line
from linkwright.motion.controllability import controllable, drive_rows
from linkwright.motion.joint_limits import beyond_stops
from linkwright.results.cut_references import Before, cut_references
from linkwright.results.records import Column, CountedReferences, RunEvent
from linkwright.results.trajectory import Trajectory
from linkwright.simulation import rigid_stops
from linkwright.simulation.feedback.control_performance import facts_of, saturation_notes
from linkwright.simulation.friction_modes import friction_columns
from linkwright.simulation.kernel_rows import HEAD
from linkwright.simulation.rigid_stops import unstoppable
from linkwright.simulation.time_stepping import state_of
from linkwright.simulation.touches import contact_wrenches, touch_columns, touch_impulses
from linkwright.text.units import KINDS, shown

if TYPE_CHECKING:
    from linkwright.simulation.run import RunPiece, Simulation
    from linkwright.simulation.time_stepping import Setup


WORKS = ("work.in", "work.loads", "work.lost", "work.contact")


def trajectory(sim: Simulation) -> Trajectory:
    """Everything the run computed so far."""
    system = sim.system
    loops = system.kernels.equations(sim.parameters).loops if len(sim.parameters) else system.loops  # with its own lengths
    skel = loops.skel
    nq, nv = skel.tree.nq, skel.tree.nv
    y = [p.solution.y for p in sim.pieces]
    t = np.concatenate([p.solution.t for p in sim.pieces])
    q, v = (np.concatenate([rows[:, s] for rows in y]) for s in (slice(0, nq), slice(nq, nq + nv)))
    parts = [solved(sim, p) for p in sim.pieces]
    a, lam = (np.concatenate([x[k] for x in parts]) for k in ("a", "lam"))
    arrays = {"lam": lam, "tau": np.concatenate([x["tau"] for x in parts])}
    if any(off for _, off in sim.evidence.modes):
        names = [c.name for c in system.loops.constraints]
        rows = [[float(n not in off) for n in names] for _, off in sim.evidence.modes]
        arrays["closed"] = np.concatenate([np.tile(row, (len(p.solution.t), 1)) for p, row in zip(sim.pieces, rows, strict=True)])
    columns = columns_of(sim, parts)
    if sim.touches:
        columns |= touch_impulses(sim, t)
        sim.touch_columns = columns
        arrays |= contact_wrenches(sim, q, v, columns)
    made = Trajectory(
        skel,
        t,
        q,
        v,
        a,
        CountedReferences(skel, q, lambda: _counted(sim, t, q, v, loops)),
        notes=(*sim.notes, *_authority_notes(sim, columns, t, loops)),
        drive=next(iter(sim.driven), ""),
        columns=columns,
        arrays=arrays,
        events=tuple(RunEvent(time, name, values) for time, name, values in sim.happened),
        settings=settings(sim, sim.pieces[0].evaluator.setup),
        origin=sim.start.q,
        loops=loops,
    )
    given = unstoppable(sim.drive, {}) if sim.ends else set()
    more = [*(saturation_notes(made) if sim.control is not None else ()), *(beyond_stops(made, given) if given else ())]
    more += _inductance_notes(sim, made)
    return replace(made, notes=(*made.notes, *more)) if more else made


def _authority_notes(sim: Simulation, columns: Mapping[str, Column], t: np.ndarray, loops: Any) -> list[str]:
    """Notes on a controller whose drives lost control authority."""
    if sim.control is None or sim.off or any(off for _, off in sim.evidence.modes):
        return []
    ends = np.cumsum([0, *(len(p.solution.t) for p in sim.pieces)])

    def state(i: int) -> Any:
        k = int(np.searchsorted(ends, i, side="right")) - 1
        piece, row = sim.pieces[k], i - int(ends[k])
        q, v, _ = _states(piece)
        cut = sim.evidence.cut_at(k, piece.solution.t)[row]
        return state_of(sim.system, q[row], v[row], cut, float(piece.solution.t[row]))

    drives = sim.control.drives(sim.system.description)
    return said(columns, t, state, loops, drives, sim.control.written.kind)


def solved(sim: Simulation, piece: RunPiece) -> dict[str, Any]:
    """Accelerations, multipliers of all loops, those of the drivers, efforts, and the drives' columns over one mode."""
    setup, rows = piece.evaluator.setup, piece.solution
    near = near_of(sim, piece, setup.problem.n_near > 0)
    head = _heads(piece, near)
    n, nv = len(rows.t), setup.problem.nv
    q, v, x = _states(piece)
    pushed = rigid_stops.pushes_of(sim, piece, near, head) if setup.problem.rests and n else None
    names = [f"{c.name}.{label}" for c in sim.system.loops.constraints for label in c.labels]
    lam = np.zeros((n, len(names)))
    a, drivers = np.zeros((n, nv)), np.zeros((n, len(setup.actuation.drivers)))
    own = setup.kernels.entries["lam"]
    at = [names.index(name) for name in own[: len(own) - drivers.shape[1]]]
    columns: dict[str, Any] = {}
    for last in (True,) if pushed is None or not piece.mode.implied else (False, True):  # stops share a load once it is known
        if not n:
            break
        found = _forward(sim, piece, near, head if pushed is None else {**head, "tau": head["tau"] + pushed.tau})
        a = found.a
        if found.failed and last:
            _without_loads(sim, piece, near, a, found.failed)
        if found.lam.shape[1]:
            lam[:, at] = found.lam[:, : len(at)]
            drivers = found.lam[:, len(at) :]
        columns = setup.actuation.columns(rows.t, q, v, x, near, drivers, a, parameters=setup.values.get("parameters"))
        if not last and pushed is not None:
            pushed = rigid_stops.sharing(sim, piece, near, a, found.lam, pushed, columns)
            sim.notes += [x for x in (rigid_stops.sharing_note(pushed.ends),) if x not in sim.notes]
    columns |= rigid_stops.columns_of(sim, pushed, n) if sim.ends else {}
    columns |= touch_columns(sim, piece, pushed) if sim.touches else {}
    if sim.friction is not None:
        columns |= friction_columns(sim, sim.friction, piece, None if pushed is None else pushed.friction)
    if pushed is not None:
        lam += rigid_stops.multipliers_of(pushed, names)
    works = x[:, len(setup.actuation.x0) :] if sim.needs_power else np.zeros((n, 4 if sim.slips else 3))
    return {"a": a, "lam": lam, "tau": head["tau"], "columns": columns, "works": works}


def _forward(sim: Simulation, piece: RunPiece, near: np.ndarray, head: Mapping[str, np.ndarray]) -> Any:
    """The answer of the kernel `forward` at the samples of one mode."""
    rows, (q, v, _) = piece.solution, _states(piece)
    formulation = sim.options.formulation if formulations.has_kernel(sim.options.formulation) else None
    kernel = piece.evaluator.setup.kernels.get("forward", formulation)
    given: dict[str, Any] = {"q": q, "v": v, **head, "t": rows.t[:, None], "near": near}
    if len(sim.parameters):
        given["parameters"] = np.broadcast_to(piece.evaluator.setup.values["parameters"], (len(rows.t), len(sim.parameters)))
    return kernel(**{b.name: np.ascontiguousarray(given[b.name]) for b in kernel.inputs})


def _inductance_notes(sim: Simulation, made: Trajectory) -> list[str]:
    """Notes on motors whose inductance is left out; of runs in one mode, whose samples show how currents change."""
    piece, *others = sim.pieces
    motors = [b for b in piece.evaluator.setup.actuation.equations.bounds if isinstance(b, BoundVoltage) and b.motor.time_constant]
    if not motors or others:
        return []
    near = near_of(sim, piece, piece.evaluator.setup.problem.n_near > 0)
    head = _heads(piece, near)
    return inductance_notes(made, motors, lambda more: _forward(sim, piece, near, {**head, "tau": head["tau"] + more}).a)


def _without_loads(sim: Simulation, piece: RunPiece, near: np.ndarray, a: np.ndarray, failed: Mapping[Any, Any]) -> None:
    """Samples without multipliers, in a singular position: the acceleration is that of the time stepper, where it has one; noted."""
    rows, row = piece.solution, piece.evaluator.setup.row.mechanism
    answer = piece.evaluator.setup.kernels.fallbacks["loop_rates"]
    for (i,) in failed:
        try:
            a[i] = answer(row.named(piece.evaluator.mechanism_row(float(rows.t[i]), rows.y[i], near[i])))["a"]
        except LinkwrightError:
            continue
    first, error = next(iter(failed.items()))
    note = f"no reactions at {len(failed)} of {counted(len(rows.t), 'sample')}, the first at t = {rows.t[first[0]]:.6g} s: {error}"
    if note not in sim.notes:
        sim.notes.append(note)


def _heads(piece: RunPiece, near: np.ndarray) -> dict[str, np.ndarray]:
    """Efforts and prescribed motions at every sample."""
    setup, rows = piece.evaluator.setup, piece.solution
    names = [k for k in HEAD if k in setup.row.sizes]
    if setup.problem.inputs is None:
        return {k: np.tile(setup.values[k], (len(rows.t), 1)) for k in names}
    act, n = setup.actuation, len(rows.t)
    if act.program is None or not n:
        found = [piece.evaluator.inputs(float(t), y, cut)[0] for t, y, cut in zip(rows.t, rows.y, near, strict=True)]
        return {k: np.array([f[k] for f in found]).reshape(n, setup.row.sizes[k]) for k in names}
    out = interpret(act.program, act.rows(rows.t, *_states(piece), near=near, parameters=setup.values.get("parameters")))
    ends = np.cumsum([0, *(setup.row.sizes[k] for k in names)])
    return {k: np.ascontiguousarray(out[:, a:b]) for k, a, b in zip(names, ends[:-1], ends[1:], strict=True)}


def _counted(sim: Simulation, t: np.ndarray, q: np.ndarray, v: np.ndarray, loops: Any) -> np.ndarray:
    """Coordinates of the cut joints at the samples, whole turns counted: in a plane by those of the tree, in space from step to step."""
    if loops.skel.tree.description.planar:
        return cut_references(loops.skel, t, q, v, sim.start.references, loops, origin=sim.start.q).rows
    parts = [sim.evidence.before(k, p.solution.t) for k, p in enumerate(sim.pieces)]
    return cut_references(loops.skel, t, q, v, Before(*(np.concatenate(x) for x in zip(*parts, strict=True))), loops).rows


def near_of(sim: Simulation, piece: RunPiece, wanted: bool) -> np.ndarray:
    """Coordinates of the cut joints over one mode, where anything reads them; else those of its start."""
    if wanted:
        return sim.evidence.cut_at(sim.pieces.index(piece), piece.solution.t)
    return np.tile(sim.system.loops.skel.pack(piece.start.references), (len(piece.solution.t), 1))


def _states(piece: RunPiece) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and further states at the samples."""
    p, y = piece.evaluator.setup.problem, piece.solution.y
    return y[:, : p.nq], y[:, p.nq : p.nq + p.nv], y[:, p.nq + p.nv :]


def columns_of(sim: Simulation, parts: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    """Columns of the drives joined over modes (zero where a drive was not at work), and works."""
    kinds = {name: (np.shape(values)[1:], dimension) for p in parts for name, (values, dimension) in p["columns"].items()}
    out: dict[str, Column] = {}
    for name, (shape, dimension) in kinds.items():
        pieces = [p["columns"][name][0] if name in p["columns"] else np.zeros((len(p["a"]), *shape)) for p in parts]
        out[name] = Column(np.concatenate(pieces), dimension)
    rotors = [0.5 * v * v @ act.armature for v, act in _moving(sim)]
    if any(np.any(x) for x in rotors):
        out["energy.rotors"] = Column(np.concatenate(rotors), "energy")
    if sim.needs_power:
        works = np.concatenate([p["works"] for p in parts])
        for i, name in enumerate(WORKS[: works.shape[1]]):
            out[name] = Column(works[:, i].copy(), "energy")
    return out


def _moving(sim: Simulation) -> list[tuple[np.ndarray, Any]]:
    """(velocities, drives) of every mode."""
    setups = [p.evaluator.setup for p in sim.pieces]
    spans = [slice(x.problem.nq, x.problem.nq + x.problem.nv) for x in setups]
    return [(p.solution.y[:, s], x.actuation) for p, s, x in zip(sim.pieces, spans, setups, strict=True)]


def settings(sim: Simulation, setup: Setup) -> dict[str, Any]:
    """How the run was made, in plain texts and numbers."""
    o = sim.options
    loop = setup.actuation.equations.control
    return {
        **({} if loop is None else {"control": facts_of(loop).as_dict()}),
        "start": float(sim.start.t),
        "end": float(sim.t_end),
        "integrator": o.method.name,
        "step": o.step,
        "tolerance": o.tolerance if o.adaptive else None,
        "stabilizer": dict(setup.stabilizer),
        "formulation": o.formulated,
        "engine": engine(o.engine, setup),
        "drive": {name: str(d) for name, d in sim.driven.items()},
        "off": list(sim.off),
        "events": [w.label for w in sim.events],
        "parameters": dict(zip(sim.system.kernels.entries["parameters"], map(float, sim.parameters), strict=True)),
    }


def engine(asked: str | None, setup: Setup) -> str:
    """native or python, of the loop and of the kernels."""
    from linkwright.compiler import native as machine_code

    loop = "native" if asked != "python" and machine_code.available() else "python"
    native = setup.problem.rates.address and setup.kernels.engine == "native" and machine_code.available()
    kernels = "native" if native else "interpreted"
    return loop if (loop == "native") == (kernels == "native") else f"{loop} loop, {kernels} kernels"


# ----------------------------------------------------------------------------------------------------
# How far the inductance of motors would move the joints of a run that leaves it out: an estimate to first order With L = 0 the current i =
# (u - Ke w)/R follows the voltage at once [Hoang2023 (8)]. With L it is late by T = L/R, so the effort is less by N Kt T di/dt, and the
# joints of the motors are off by x with
#
#     x'' = D (-C x' - N Kt T di/dt)        C = N^2 (Kt Ke/R + b)
#
# D are the accelerations of the motors' joints for unit efforts in them, C is the damping by back EMF and friction. The current begins at
# its start value, so its first jump counts as well. Changes of forces and inertia with x, and losses of the gearbox, are left out.

Accelerations = Callable[[np.ndarray], np.ndarray]  # efforts in addition to those of the run, (samples, nv) -> accelerations
MENTIONED_TRAVEL = 1e-3  # share of the travel of a joint below which nothing is said
FEWEST = 20  # samples: fewer do not show how currents change


def inductance_notes(run: Trajectory, motors: Sequence[BoundVoltage], accelerations: Accelerations) -> list[str]:
    """A note on what a run without inductance leaves out, if it matters; all the motors have a time constant."""
    if len(run) < FEWEST or np.ptp(run.t) == 0.0:
        return []
    moved = np.abs(shifts(run, motors, accelerations)).max(axis=0)
    travel = np.array([float(np.ptp(run[b.target.name])) for b in motors])
    shares = moved / np.maximum(travel, np.finfo(float).tiny)
    if not shares.max() >= MENTIONED_TRAVEL:  # also true where a sample in a singular position has no accelerations
        return []
    k = int(shares.argmax())
    worst, units = motors[k], run.skel.tree.description.units
    times = listing(dict.fromkeys(shown(b.motor.time_constant, KINDS["time"], ("ms",), 3) for b in motors))
    far = shown(moved[k], KINDS[run.dimension(worst.target.name)], units, 2)
    henry = shown(worst.motor.time_constant * worst.motor.R, KINDS["inductance"], ("mH",), 3)
    return [
        f"the inductance of the motors of {listing([b.target.name for b in motors])} is left out (L = 0). With L/R = {times} "
        f"'{worst.target.name}' would be up to about {far} off this result, {100 * shares[k]:.2g} % of its travel (first-order estimate). "
        f"Replace its time_constant by L={henry!r} to simulate the current."
    ]


def shifts(run: Trajectory, motors: Sequence[BoundVoltage], accelerations: Accelerations) -> np.ndarray:
    """(samples, motors): how much further each joint would be."""
    t, D = run.t, _responses(run, motors, accelerations)
    gain, damping, late = (np.array(x) for x in zip(*(_of_joint(b) for b in motors), strict=True))
    currents = np.array([run[f"motor.{b.target.name}.current"] for b in motors]).T
    x, speed = np.zeros((len(t), len(motors))), -D[0] @ (gain * late * (currents[0] - [b.current for b in motors]))
    one = np.eye(len(motors))
    for n in range(len(t) - 1):  # implicit midpoint rule: stable however strong the damping is
        h, here = float(t[n + 1] - t[n]), 0.5 * (D[n] + D[n + 1])
        drag = 0.5 * h * here * damping
        after = np.linalg.solve(one + drag, (one - drag) @ speed - here @ (gain * late * (currents[n + 1] - currents[n])))
        x[n + 1] = x[n] + 0.5 * h * (speed + after)
        speed = after
    return x


def _of_joint(b: BoundVoltage) -> tuple[float, float, float]:
    """(effort per current, damping of the joint, time constant)."""
    m = b.motor
    return m.gear_ratio * m.Kt, m.gear_ratio**2 * (m.Kt * m.Ke / m.R + m.viscous), m.time_constant


def _responses(run: Trajectory, motors: Sequence[BoundVoltage], accelerations: Accelerations) -> np.ndarray:
    """(samples, motors, motors): D, accelerations of the joints for unit efforts in them."""
    B = np.array([_efforts(run, b) for b in motors])  # (motors, samples, nv)
    more = [accelerations(row) - run.a for row in B]
    return np.array([[np.sum(own * a, axis=1) for a in more] for own in B]).transpose(2, 0, 1)


def _efforts(run: Trajectory, b: BoundVoltage) -> np.ndarray:
    """(samples, nv): a unit effort of the motor in the tree's coordinates."""
    out = np.zeros_like(run.v)
    if b.target.entry is not None:
        out[:, b.target.entry] = 1.0
        return out
    loops = run.frame.with_([driven(run.skel.tree.description, b.target.name, Line(1.0, 0.0))])  # a cut joint or a cylinder
    for i, q in enumerate(run.q):
        out[i] = np.asarray(loops.at(q, np.zeros(run.v.shape[1]), 0.0, run.references[i]).J)[-1]
    return out


# ----------------------------------------------------------------------------------------------------
# Notes of a run on lost control authority: when efforts were damped, and the uncontrollable motion


def said(columns: Mapping[str, Any], t: np.ndarray, state: Any, loops: Loops, drives: Sequence[str], kind: str) -> list[str]:
    """Notes of a controlled run; `state(i)` gives the state at a sample."""
    if "control.damping" not in columns:
        return []
    damped = np.asarray(columns["control.damping"].values) > 0.0
    if not damped.any():
        return []
    i = int(np.argmin(columns["control.authority"].values))
    left = float(columns["control.authority"].values[i])
    times = t[damped]
    when = f"t = {times[0]:.4g} s" if len(times) == 1 else f"t = {times[0]:.4g} .. {times[-1]:.4g} s"
    worst = state(i)
    hardest = controllable(loops, worst, drive_rows(loops, worst, drives), drives).motion
    return [
        f"{kind}: {when}: the drives lose control authority (down to {left:.2g} of that at the start): efforts are damped there and the "
        f"reference is not followed exactly. Hardest to push: {hardest}. damping=0 switches this off"
    ]
