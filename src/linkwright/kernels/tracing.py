"""The kernels: inputs, outputs, and the trace of each.

Inputs come in one order: those named in `KERNELS`, of a variant with drivers their values, speeds and accelerations
(`drive`, `speed`, `acceleration`), then t, `near` (the packed references of cut joints, `Skeleton.pack`) and the parameters; of these
last three only what the kernel really reads stays an input. Kernels of time steppers (`loop_...`) keep the order q, v, t, tau,
drive, speed, acceleration, gains, parameters, near.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import jacobian, places
from linkwright.compiler.program import Program, without_unused
from linkwright.errors import SingularityError
from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.memory_and_threads import all_in_use

OPTIONAL = ("t", "near", "parameters")

MOVES = {"q": "qdot", "drive": "speed", "speed": "acceleration"}  # inputs that change with time, and how fast


class Signature(NamedTuple):
    """Inputs by name with the size that counts them; the method of `Equations` that is traced; whether masses are needed."""

    inputs: tuple[tuple[str, str], ...]
    method: str
    masses: bool = True
    options: tuple[str, ...] = ()
    packed: bool = False  # for native loops: a fixed order, of which only `near`, at the end, is left out where nothing reads it


STATE = (("q", "nq"), ("v", "nv"))
DRIVE = (("drive", "nd"), ("speed", "nd"), ("acceleration", "nd"))
KERNELS: dict[str, Signature] = {
    "forward": Signature((*STATE, ("tau", "nv")), "forward", options=("formulation", "gains")),
    "rates": Signature((*STATE, ("tau", "nv")), "rates", options=("formulation", "gains", "power")),
    "accelerations": Signature((*STATE, ("tau", "nv")), "accelerations"),
    "residual": Signature((*STATE, ("a", "nv"), ("lam", "nc")), "residual"),
    "balance": Signature((*STATE, ("a", "nv"), ("lam", "nc"), ("tau", "nv")), "balance"),
    "inverse_balance": Signature((*STATE, ("a", "nv"), ("lam", "nc"), ("u", "nd")), "inverse_balance"),
    "inverse": Signature((*STATE, ("a", "nv")), "inverse"),
    "loads": Signature((*STATE, ("a", "nv")), "loads"),
    "driven_loads": Signature((*STATE, ("acceleration", "nd")), "driven_loads"),
    "given_loads": Signature((*STATE, ("a", "nv")), "given_loads"),
    "wrenches": Signature((*STATE, ("a", "nv"), ("lam", "nc"), ("u", "nd")), "wrenches"),
    "reactions": Signature((*STATE, ("a", "nv"), ("lam", "nc")), "reactions"),
    "projection": Signature(STATE, "projection"),
    "projection_balance": Signature((*STATE, ("step", "nv"), ("lam", "nc"), ("rate", "nv"), ("mu", "nc")), "projection_balance"),
    "terms": Signature(STATE, "terms"),
    "pivots": Signature(STATE, "pivots"),
    "blocks": Signature(STATE, "blocks"),
    "along": Signature(STATE, "blocks"),
    "energy": Signature(STATE, "energy"),
    "closure": Signature(STATE, "closure", masses=False),
    "loop_rows": Signature(STATE, "loop_rows", masses=False),
    "kinematics": Signature((*STATE, *DRIVE), "kinematics", masses=False),
    "walk": Signature((("q", "nq"), *DRIVE), "walk", masses=False),
    "stride": Signature((("q", "nq"), *DRIVE[:2]), "stride", masses=False),
    "gap": Signature((("q", "nq"), ("drive", "nd")), "gap", masses=False),
    "gap_step": Signature((("q", "nq"), ("drive", "nd"), ("damping", "one")), "gap", masses=False),
    "counted_stride": Signature((("q", "nq"), *DRIVE[:2]), "counted_stride", masses=False),
    "turn_motion": Signature((("q", "nq"), *DRIVE), "turn_motion", masses=False),
    "turn_loads": Signature((("q", "nq"), *DRIVE), "turn_loads"),
    "driven_rows": Signature((*STATE, *DRIVE, ("step", "nv"), ("rate", "nv"), ("a", "nv")), "driven_rows", masses=False),
    "driven_positions": Signature((("q", "nq"), ("drive", "nd")), "driven_positions", masses=False),
    "driven_velocities": Signature((*STATE, ("drive", "nd"), ("speed", "nd")), "driven_velocities", masses=False),
    "driven_accelerations": Signature((*STATE, ("a", "nv"), *DRIVE), "driven_accelerations", masses=False),
    "stepped": Signature((("q", "nq"), ("step", "nv")), "stepped", masses=False),
    "velocities": Signature(STATE, "velocities", masses=False),
    "jacobian": Signature((("q", "nq"),), "jacobian", masses=False),
    "jacobian_rate": Signature(STATE, "jacobian_rate", masses=False),
    "reduced": Signature(STATE, "reduced"),
    "operational": Signature(STATE, "operational", options=("tasks",)),
    "task_terms": Signature(STATE, "task_terms", masses=False, options=("tasks",)),
    "inertia_terms": Signature(STATE, "inertia_terms"),
    "named_motion": Signature(STATE, "named_motion", masses=False, options=("asked",)),
    "named_terms": Signature(STATE, "named_terms", options=("asked",)),
    "poses": Signature((("q", "nq"),), "poses", masses=False),
    "points": Signature(STATE, "points", masses=False),
    "contact_terms": Signature(STATE, "contact_terms", masses=False),
    "contact_gaps": Signature((("q", "nq"),), "contact_gaps", masses=False),
    "loop_rates": Signature((*STATE, ("t", "one"), ("tau", "nv")), "rates", options=("formulation", "gains", "power"), packed=True),
    "loop_projection": Signature((*STATE, ("t", "one"), ("tau", "nv")), "projection", packed=True),
    "loop_settling": Signature((*STATE, ("t", "one"), ("tau", "nv")), "settling", packed=True),
}
TIMED = {
    "forward",
    "accelerations",
    "driven_loads",
    "given_loads",
    "inverse_balance",
    "wrenches",
    "turn_loads",
    "reduced",
    "operational",
    "inertia_terms",
    "named_terms",
    "rates",
    "residual",
    "balance",
    "inverse",
    "loads",
    "reactions",
    "projection",
    "projection_balance",
    "terms",
    "pivots",
    "energy",
    "closure",
    "loop_rows",
    "blocks",
    "along",
}  # those that may read t
UNDRIVEN = ("energy", "poses", "points", "velocities", "stepped", "contact_terms", "contact_gaps")  # those in which drivers have no rows
DRIVER_INPUTS = ("drive", "speed", "acceleration")
FOLLOWING = ("turn_motion", "turn_loads")  # those whose derivatives let q follow the drives and the parameters


@dataclass(frozen=True)
class KernelSizes:
    """Numbers that size the inputs of one mechanism's kernels."""

    nq: int
    nv: int
    nc: int
    nd: int  # drives
    near: int  # coordinates of cut joints
    parameters: int  # those whose values are inputs
    one: int = 1
    drivers: int = 0  # of a variant, whose rows are part of nc


@all_in_use()
def trace(
    name: str,
    sizes: KernelSizes,
    equations: Callable[[Any], Equations],
    by: Sequence[str] = (),
    outputs: Sequence[str] = (),
    **options: Any,
) -> Program:
    """The program of a kernel; `equations(parameters)` makes the equations for traced values of the parameters. With `by` its
    outputs are differentiated by these inputs; with `outputs` only their weighted sum is, in reverse."""
    from linkwright.compiler.graph import TraceGraph  # here and below, so that a process that finds its code on disk loads no tracer

    signature = KERNELS[name]
    g = TraceGraph()
    arrays = {key: g.input(key, getattr(sizes, size)) for key, size in signature.inputs}
    law = {} if name in UNDRIVEN or not sizes.drivers else {key: g.input(key, sizes.drivers) for key in DRIVER_INPUTS}
    given = dict(options)

    def moved(parameters: Any) -> Equations:
        return equations(parameters).moved(**law) if law else equations(parameters)

    if options.get("gains"):
        given["gains"] = g.input("gains", 2)
    if name in TIMED:
        arrays["t"] = g.input("t", 1)
    if signature.packed:
        parameters, near = g.input("parameters", sizes.parameters), g.input("near", sizes.near)
    else:
        near, parameters = g.input("near", sizes.near), g.input("parameters", sizes.parameters)
    if by:
        from linkwright.kernels.implicit import Differentiation, differentiated, pulled

        def other(wanted: str) -> Program:
            return trace(wanted, sizes, equations, **(options if wanted == name else {}))

        values = {**arrays, **law, "near": near, "parameters": parameters, "gains": given.get("gains")}
        plain = not any(options.get(key) for key in ("gains", "power")) and options.get("formulation", "sslm") in (None, "sslm")
        x = Differentiation.of(moved(parameters), values, other, tuple(by))
        shapes = {b.name: b.shape for b in other(name).outputs} if outputs else {}
        found = (
            pulled(x, name, {key: g.input(f"{key}_weight", shapes[key]) for key in outputs}) if outputs else differentiated(name, x, plain)
        )
        return without_unused(g.program(list(found.items())), ("near",) if signature.packed else OPTIONAL)
    if name in ("loop_projection", "loop_settling"):
        del arrays["tau"]  # stays an input, so that both kernels of a time stepper read one row
    if name not in UNDRIVEN or name == "energy":
        arrays["near"] = near
    if name == "gap_step":
        from linkwright.kernels.equations.assembly_gap import gap_step

        found = gap_step(moved(parameters), {**arrays, "parameters": parameters}, trace("gap", sizes, equations))
    elif name == "along":
        found = along(moved(parameters), arrays, {**law, "parameters": parameters}, trace("blocks", sizes, equations))
    else:
        try:
            found = getattr(moved(parameters), signature.method)(**arrays, **{k: x for k, x in given.items() if x is not None})
        except ZeroDivisionError:  # of a pivot that is a number, not a symbol
            raise SingularityError(
                "the equations of this mechanism cannot be solved in any position: a mass, a moment of inertia or a length is zero but "
                "must not be. Give every body that can turn alone a moment of inertia.",
                name="equations",
            ) from None
    return without_unused(g.program(list(found.items())), ("near",) if signature.packed else OPTIONAL)


# All terms of the equations of motion, and how the rows of the loops change along the motion.
#
# What the rule for singular passages needs at once: M, h, J, k, b, phi (M and J by their blocks), then dJ/dt and dk/dt at
# fixed v, where q moves with qdot(q, v), time runs, and drivers continue with their speeds and accelerations. Differentiated in
# forward mode while it is traced, so that the kernel costs little more than the terms themselves.


def along(eq: Equations, arrays: dict[str, Any], more: dict[str, Any], terms: Program) -> dict[str, Any]:
    """The terms and Jdot, kdot; with a distance that is driven also k_v = dk/dv, which is 2 Jdot without one."""
    values = {**arrays, **more, "qdot": qdot(eq.loops.skel, arrays["q"], arrays["v"])}
    known = [b.name for b in terms.inputs]
    motion: dict[int, Any] = {}
    for name in known:
        if name in MOVES:
            motion |= dict(zip(places(terms, name), values[MOVES[name]], strict=True))
        elif name == "t":
            motion |= dict.fromkeys(places(terms, name), 1.0)
    linear = any(getattr(c, "linear_in_v", False) for c in eq.loops.constraints)
    packed = np.concatenate([np.asarray(values[name], dtype=object).ravel() for name in known])
    found = jacobian(terms, packed, [motion, *(places(terms, "v") if linear else [])])
    results = np.array(found.results, dtype=object)
    D = found.dense()
    out = {b.name: results[b.span].reshape(b.shape) for b in terms.outputs}
    spans = {b.name: b for b in terms.outputs}
    J, k = spans["J"], spans["k"]
    out |= {"Jdot": D[J.span, 0].reshape(J.shape), "kdot": D[k.span, 0]}
    return out | ({"k_v": D[k.span, 1:]} if linear else {})
