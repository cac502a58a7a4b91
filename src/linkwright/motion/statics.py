"""Static equilibrium: where springs, weights and loads hold a mechanism still.

The degrees of freedom that are left (all, or all but the held drives) must feel no force: N' h = 0 with N the motions the loops
allow. Damped Newton steps along the loops, each closed again; the force's rate comes from central differences along the
motion, which is exact enough for a root that is then checked to round-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.errors import AssemblyError
from linkwright.mechanics.closing.newton import GOOD_ENOUGH, close
from linkwright.mechanics.dynamics.tree import bias_force
from linkwright.mechanics.kinematics.motion import velocity_kinds
from linkwright.model.file.units import KINDS, shown
from linkwright.motion.compiled import Compiled
from linkwright.results.state import State

PROBE = 1e-5  # dimensionless step of the central difference
MOST_STEPS = 200
FALLING = 0.05  # share of the whole fall that the second half of the steps still brings


def settle(system: Compiled, start: State, held: Sequence[Any] = ()) -> State:
    """Equilibrium nearest to `start` downhill; `held` constraints keep some coordinates where they are."""
    loops = system.loops.with_(held)
    st, energies = start, []
    for _ in range(MOST_STEPS):
        energies.append(_potential(st))
        force, N = _free_force(system, loops, st)
        if N.shape[1] == 0:
            return st
        if np.abs(force).max() <= 1e-11 * (1.0 + _size(system, st)):
            return st
        slope = np.array([(_at(system, loops, st, N, n, PROBE) - _at(system, loops, st, N, n, -PROBE)) / (2 * PROBE) for n in N.T]).T
        st = _step(system, loops, st, N, force, 0.5 * (slope + slope.T))
    raise AssemblyError(_restless(system, loops, start, st, energies))


def _restless(system: Compiled, loops: Any, start: State, st: State, energies: Sequence[float]) -> str:
    """Why no equilibrium was found, by what the last steps did."""
    names, desc = system.kernels.entries["v"], system.description
    late = energies[len(energies) // 2 :]
    force, N = _free_force(system, loops, st)
    if late[0] - late[-1] > FALLING * max(abs(energies[0] - late[-1]), 1e-300):
        moved = np.abs(st.q - start.q) if len(st.q) == len(names) else np.abs(np.asarray(N @ force))
        worst = names[int(np.argmax(moved))]
        return (
            f"no equilibrium: the potential energy still falls after {len(energies)} steps, by {late[0] - late[-1]:.3g} J over the second "
            f"half of them, and nothing holds '{worst}'. Add a spring or a stop there, or hold it (hold=['{worst}'])."
        )
    worst = int(np.argmax(np.abs(N @ force)))
    kind = velocity_kinds(system.skel)[worst]
    left = shown(float((N @ force)[worst] / system.loops.columns[worst]), KINDS["torque" if kind == "angle" else "force"], desc.units)
    return (
        f"no equilibrium: after {len(energies)} steps {left} are left in '{names[worst]}', and the potential energy falls no more. "
        "A load there depends on the motion, or changes too abruptly; begin at another position."
    )


def _potential(st: State) -> float:
    return st.instant.energies()["potential"]


def _bias(system: Compiled, st: State) -> np.ndarray:
    """Return Coriolis and gravity efforts minus those of springs, dampers and loads."""
    return bias_force(system.skel, system.motion(st), system.applied(st))


def _size(system: Compiled, st: State) -> float:
    return float(np.abs(_bias(system, st) * system.loops.columns).max(initial=0.0))


def _free_force(system: Compiled, loops: Any, st: State) -> tuple[np.ndarray, np.ndarray]:
    """-N' h in the dimensionless free motions N: what pushes the mechanism."""
    N = loops.factored(loops.at(st.q, np.zeros_like(st.v), st.t, st.references)).null
    return -(N.T @ (_bias(system, st) * system.loops.columns)), N


def _moved(system: Compiled, loops: Any, st: State, step: np.ndarray) -> State | None:
    done = close(loops, loops.displaced(st.q, step), st.references, st.t, reach=1.0)
    return State.of(done.at) if done.residual < GOOD_ENOUGH else None


def _at(system: Compiled, loops: Any, st: State, N: np.ndarray, n: np.ndarray, size: float) -> np.ndarray:
    """Force along the motions N (carried over) a small step along n away."""
    there = _moved(system, loops, st, n * size)
    if there is None:
        return np.zeros(N.shape[1])
    force, M = _free_force(system, loops, there)
    return N.T @ (M @ force)


def _step(system: Compiled, loops: Any, st: State, N: np.ndarray, force: np.ndarray, slope: np.ndarray) -> State:
    """A Newton step where the energy is convex, downhill otherwise; shortened until the energy falls or the force does."""
    values, vectors = np.linalg.eigh(-slope)
    floor = max(1e-6 * float(np.abs(values).max()), 1e-3 * float(np.abs(force).max()), 1e-300)  # no stiffness: as far as a step may go
    y = vectors @ ((vectors.T @ force) / np.maximum(np.abs(values), floor))
    length = float(np.linalg.norm(y))
    y = y * min(1.0, 0.3 / max(length, 1e-300))
    energy = _potential(st)
    for _ in range(40):
        there = _moved(system, loops, st, N @ y)
        if there is not None:
            lower = _potential(there) < energy - 1e-14 * abs(energy)
            calmer = np.abs(_free_force(system, loops, there)[0]).max() < np.abs(force).max()
            if lower or (calmer and length < 1e-3):
                return there
        y = 0.5 * y
    return st if there is None else there
