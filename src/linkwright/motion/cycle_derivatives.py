"""Derivatives of a cycle by parameters of the model, at a fixed motion of the drives: implicit and exact, all samples at once.

Kernel `turn_loads` by its parameters: with A = [J; S], the loops' Jacobian and the rows S of the drives, and r = M a + h - J' lam - B u,

    A q_p = -phi_p        A v_p = -(J v + b)_p - (J v + b)_q q_p        A a_p = -(J a + k)_p - (J a + k)_q q_p - (J a + k)_v v_p
    [J' B] (lam_p, u_p) = r_p + r_q q_p + r_v v_p + r_a a_p
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError, listing
from linkwright.model.coordinates import lengths
from linkwright.model.description import Table
from linkwright.model.parameters import Parameter
from linkwright.motion.designs import kernels_of
from linkwright.numerics.tolerances import COMPLEX_STEP, LOOP_CHANGE
from linkwright.results.channels.derivatives import MotionDerivatives
from linkwright.results.records import cut_rows
from linkwright.results.trajectory import Trajectory
from linkwright.text.expressions import Expr

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels
    from linkwright.system.compiled import Compiled

SAME_SPEED = 1e-9  # share by which the speed of a motion may differ from the file's: round-off


def turn_derivatives(core: Compiled, c: Trajectory, by: str | Sequence[str], values: np.ndarray | None = None) -> MotionDerivatives:
    """Derivatives of the samples of a cycle, or of another motion of the drives; see `Trajectory.derivatives`. With `values` of the numbers
    the motion is that of another design than the mechanism's own."""
    chosen = core.chosen(by)
    if not chosen:
        raise UsageError("name the parameters of the model to differentiate by: c.derivatives(['L1', 'crank.mass']).", name="by")
    drives = list(c.drives)
    if len(drives) + core.tree.nc + core.kernels.plan.spinning < core.tree.nv or not drives:
        raise UsageError("derivatives hold the coordinates of the drives. This motion has none, or too few to determine it.")
    kernels = kernels_of(core, chosen)
    unloaded = _unloaded(core, drives, chosen)
    at = np.array([p.value for p in chosen]) if values is None else np.asarray(values, dtype=float)
    speeds = _speeds(core, chosen, at, drives, c)
    name, inputs = "turn_motion" if unloaded else "turn_loads", (*(("speed",) if speeds.any() else ()), "parameters")
    held = None if drives == list(kernels.drives) else drives
    kernel = kernels.get(name, drives=held, by=inputs)
    document = core.described.document
    if document is None or document.overrides:  # one of many designs: all other numbers are folded into code, so each would need its own
        kernel = kernel.interpreted()
    laws = drive_motion(core, c, drives)
    more = {"t": lambda: c.t[:, None], "near": lambda: cut_rows(c.skel, c.references), "parameters": lambda: at}
    found = kernel(c.q, *laws, **{b.name: more[b.name]() for b in kernel.inputs if b.name in more})
    _check_motion(core, c, found)

    def total(output: str) -> Any:
        """By the numbers themselves, and through the speeds that are written with them."""
        own = getattr(found, f"{output}_parameters")
        return own + getattr(found, f"{output}_speed") @ speeds if speeds.any() else own

    q, v, a = (total(n) for n in "qva")
    _check_redundant(core, kernels, chosen, at, c, q)
    loads = {} if unloaded else {"u": total("u"), "lam": total("lam"), "wrench": total("wrench"), "lam_values": found.lam}
    efforts = {n: np.zeros(len(c)) if unloaded else found.u[:, i] for i, n in enumerate(drives)}
    kinds = ("torque", "force") if loads else ()
    recorded = {f"{n}.{k}": loads["u"][:, i] for i, n in enumerate(drives) for k in kinds if f"{n}.{k}" in c._load_channels}
    why = {int(k[0] if isinstance(k, tuple) else k): text for k, text in found.why.items()}
    sizes = np.array([p.size for p in chosen])
    further: dict[str, Any] = {"recorded": recorded, "why": why, "unloaded": unloaded, "sizes": sizes, "kernels": kernels, **loads}
    named = tuple(p.name for p in chosen)
    return MotionDerivatives(c, named, at, kernels.varied_loops, q, v, a, efforts, **further)


def _unloaded(core: Compiled, drives: Sequence[str], chosen: Sequence[Parameter]) -> str:
    """Why loads have no derivatives here; empty where they have."""
    d = core.description
    missing = [b.name for b in d.bodies[1:] if b.mass is None]
    if missing:
        return f"the mass of {listing(missing)} is not given"
    if d.rubbing:
        return "friction grows with the load. m.tolerances(...) gives derivatives of single measures"
    if core.kernels.plan.spinning and any(p.geometry for p in chosen):
        return "links spin about lines that dimensions move. m.tolerances(...) gives derivatives of single measures"
    if not core.determinate_loads or len(drives) + core.tree.nc != core.tree.nv - core.kernels.plan.spinning:
        return "redundant constraints or drives share the loads. m.tolerances(...) gives derivatives of measures of unique loads"
    return ""


def _speeds(core: Compiled, chosen: Sequence[Parameter], values: np.ndarray, drives: Sequence[str], c: Trajectory) -> np.ndarray:
    """(drives, parameters): how the speed of a drive depends on each, where it is written with it."""
    out = np.zeros((len(drives), len(chosen)))
    named = {p.name: float(x) for p, x in zip(chosen, values, strict=True) if p.placed is None}
    for k, p in enumerate(chosen):
        if p.placed is not None:
            continue
        moved = {d.joint: d for d in core.described.numbers({**named, p.name: named[p.name] + 1j * COMPLEX_STEP}).drives}
        for drive in core.description.drives:
            stepped = moved[drive.joint]
            if not _is_complex((stepped.value, tuple((m.span, m.to) for m in stepped.moves))):
                continue
            if drive.kind != "speed" or isinstance(drive.value, (Expr, Table)):
                raise UsageError(
                    f"the program of drive '{drive.joint}' is written with '{p.name}'. Derivatives are taken at a fixed motion of the "
                    "drives, only a constant speed may vary.",
                    name=drive.joint,
                )
            if drive.joint in drives and not c.static and _is_own_speed(c, drive.joint, np.real(stepped.value)):
                out[list(drives).index(drive.joint), k] = np.imag(stepped.value) / COMPLEX_STEP
    return out


def _is_own_speed(c: Trajectory, drive: str, speed: float) -> bool:
    """True if a motion has the speed of its file: a speed that the caller gave does not vary with the parameters of the model."""
    return f"{drive}.v" not in c.channels or abs(float(c[f"{drive}.v"][0]) - speed) <= SAME_SPEED * abs(speed)


def written_speeds(core: Compiled, chosen: Sequence[Parameter], drives: Sequence[str], c: Trajectory) -> frozenset[str]:
    """Drives whose constant speeds are written with some of the numbers; raise UsageError for other motions that are."""
    values = np.array([p.value for p in chosen])
    return frozenset(name for name, row in zip(drives, _speeds(core, chosen, values, drives, c), strict=True) if row.any())


def _is_complex(x: Any) -> bool:
    return any(map(_is_complex, x)) if isinstance(x, tuple) else isinstance(x, complex) and x.imag != 0.0


def drive_motion(core: Compiled, c: Trajectory, drives: Sequence[str]) -> list[np.ndarray]:
    """Coordinates, speeds and accelerations of the drives at all samples, (n, drives) each."""
    distances = lengths(core.description)
    rows = [_cylinder(core, c, distances[n]) if n in distances else [c[n], c[f"{n}.v"], c[f"{n}.a"]] for n in drives]
    return [np.array([row[i] for row in rows]).T for i in range(3)]


def _cylinder(core: Compiled, c: Trajectory, between: Any) -> list[np.ndarray]:
    """Length of a cylinder and its rates: L' = d.d'/L, L'' = (d'.d' + d.d'' - L'^2)/L."""
    ends = [(core.skel.node(body), np.array(core.description.point((body, point)).at, dtype=float)) for body, point in between]
    reads = {"d": "point", "v": "point_velocity", "a": "point_acceleration"}
    named = {key: lambda x, how=how: np.subtract(*(getattr(x, how)(node, at) for node, at in ends[::-1])) for key, how in reads.items()}
    found = c._sampled(named)
    d, v, a = (found[key] for key in "dva")
    length = np.sqrt(np.sum(d * d, axis=1))
    rate = np.sum(d * v, axis=1) / length
    return [length, rate, (np.sum(v * v + d * a, axis=1) - rate**2) / length]


def _check_motion(core: Compiled, c: Trajectory, found: Any) -> None:
    """Raise UsageError unless the motion is the one that its drives determine."""
    if core.kernels.plan.spinning or not found.ok.any():
        return
    for name, mine, theirs in (("velocities", c.v, found.v), ("accelerations", c.a, found.a)):
        gap = np.abs(mine - theirs)[found.ok].max(initial=0.0)
        if gap > 1e-6 * (1.0 + np.abs(mine).max(initial=0.0)):
            raise UsageError(f"the {name} of this motion do not follow from its drives alone, and derivatives hold only the drives.")


def _check_redundant(
    core: Compiled, kernels: Kernels, chosen: Sequence[Parameter], values: np.ndarray, c: Trajectory, q: np.ndarray
) -> None:
    """Raise UsageError where redundant loops would no longer close: rows that were left out must follow, too."""
    if core.all_rows_count:
        return
    kernel = kernels.get("closure", by=("q", "parameters")).interpreted()
    more = {"near": cut_rows(c.skel, c.references)} if "near" in kernel.reads else {}
    found = kernel(c.q, c.v, parameters=values, **more)
    left = (found.phi_q @ q + found.phi_parameters) / core.loops.row_scale[:, None]
    size = np.abs(found.phi_parameters / core.loops.row_scale[:, None]).max(axis=(0, 1))
    open_ = np.nanmax(np.abs(left), axis=(0, 1)) > LOOP_CHANGE * np.maximum(size, 1e-300)
    locked = [p.name for p, bad in zip(chosen, open_, strict=True) if bad]
    if locked:
        raise UsageError(f"{listing(locked)} cannot vary alone: the loops are redundant and would no longer close.", name=locked[0])
