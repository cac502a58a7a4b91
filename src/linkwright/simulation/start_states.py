"""Starts of runs with parameters: states on the loops that these make, closed eight at a time in machine code.

Drives stay where and as fast as they are, the rest follows. Where the drives do not determine the motion, or a design is not reached from
the given state along its branch, the float path closes it, with the least change of all coordinates, or says why it cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.kernels.driven_motion import Homotopy, LaneWalking
from linkwright.mechanics.closing.newton import close, consistent_velocity, open_error
from linkwright.mechanics.constraints.driver import driven
from linkwright.model.curves.polynomial import Line
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.tolerances import CLOSED_AT_BEST, CLOSED_START
from linkwright.results.state import State

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled

BLOCK = 512  # states closed at a time


def closed_for(system: Compiled, st: State, parameters: np.ndarray) -> State:
    """The state on the loops that parameters make: the same bits as among others in `closed_starts`."""
    if not len(parameters):
        return st
    loops = system.kernels.equations(parameters).loops
    if not len(loops.row_scale) or np.abs(loops.at(st.q, st.v, st.t, st.references).phi / loops.row_scale).max() < CLOSED_START:
        return st
    found = _closed(system, [st], parameters[None])[0]
    if isinstance(found, LinkwrightError):
        raise found
    return found


def closed_starts(system: Compiled, states: Sequence[State], parameters: np.ndarray) -> list[State | LinkwrightError]:
    """The states on the loops that rows of parameters make; where there is none, the error that says why."""
    if not parameters.shape[1] or not len(system.loops.row_scale):
        return list(states)
    loops = system.loops
    out: list[State | LinkwrightError] = list(states)
    packed = {id(st): loops.skel.pack(st.references) for st in {id(st): st for st in states}.values()}
    rows = {
        "q": np.array([st.q for st in states]),
        "v": np.array([st.v for st in states]),
        "t": np.array([[st.t] for st in states]),
        "near": np.array([packed[id(st)] for st in states]),
        "parameters": parameters,
    }
    phi = system.kernels.rows.at(**rows).phi / loops.row_scale
    left = np.flatnonzero(~(np.abs(phi).max(axis=1) < CLOSED_START))
    for some in (left[k : k + BLOCK] for k in range(0, len(left), BLOCK)):
        for i, st in zip(some, _closed(system, [states[i] for i in some], parameters[some]), strict=True):
            out[i] = st
    return out


def _closed(system: Compiled, states: Sequence[State], parameters: np.ndarray) -> list[State | LinkwrightError]:
    """States that are open with these parameters, closed."""
    names, walk = _held(system), _walk(system)
    if walk is None:
        return [_tried(system, st, x) for st, x in zip(states, parameters, strict=True)]
    skel, fresh = system.skel, {id(st): st for st in states}
    at = {key: ([float(st[n]) for n in names], [float(st[f"{n}.v"]) for n in names], skel.pack(st.references)) for key, st in fresh.items()}
    drive, speed, references = (np.array([at[id(st)][k] for st in states]) for k in range(3))
    q, default = np.array([st.q for st in states]), system.kernels.defaults["parameters"]
    found = walk.begun(Homotopy(q, references, drive, drive, speed, default, parameters))
    out: list[State | LinkwrightError] = []
    for i, st in enumerate(states):
        if found.ok[i]:
            there = found.q[i].copy()
            out.append(State(st.skel, there, found.v[i].copy(), skel.unpack(there, found.references[i].copy()), st.t))
        else:
            out.append(_tried(system, st, parameters[i]))
    return out


def _held(system: Compiled) -> list[str]:
    """Drives whose position is a single coordinate of a joint."""
    one = {j.name for j in system.description.joints}
    return [x.joint for x in system.description.drives if x.joint in one and np.ndim(system.start[x.joint]) == 0]


WALKS: Store[str, LaneWalking | None] = Store()  # the walk of the model's drives, in lanes


def _walk(system: Compiled) -> LaneWalking | None:
    """The walk in lanes with these drives; None where they do not determine the motion."""
    known = WALKS.of(system)
    if "walk" not in known:
        known["walk"] = _made(system)
    return known["walk"]


def _made(system: Compiled) -> LaneWalking | None:
    try:
        with np.errstate(divide="raise", invalid="raise"):
            kernel = system.kernels.get("walk", drives=_held(system))
            usable = kernel.native and not system.kernels.plan.spinning
            return LaneWalking(kernel, 1) if usable and "parameters" in kernel.reads else None
    except (LinkwrightError, FloatingPointError):
        return None


def _tried(system: Compiled, st: State, parameters: np.ndarray) -> State | LinkwrightError:
    try:
        return _on_floats(system, st, parameters)
    except LinkwrightError as problem:
        return problem


def _on_floats(system: Compiled, st: State, parameters: np.ndarray) -> State:
    loops, d, names = system.kernels.equations(parameters).loops, system.description, _held(system)
    held = loops.with_([driven(d, n, Line(float(st[n]), float(st[f"{n}.v"]))) for n in names])
    done: Any = None
    for chosen in (held, loops):
        done = close(chosen, st.q, st.references)
        if done.residual < CLOSED_AT_BEST:
            q, near = done.at.q, done.at.references
            return State(st.skel, q, consistent_velocity(chosen, q, st.v, near), near, st.t)
    values = ", ".join(f"{n} = {x:.4g}" for n, x in zip(system.kernels.entries["parameters"], parameters, strict=True))
    raise open_error(loops, done, f"with {values} the mechanism cannot be closed from this state: ")
