"""Linear state feedback about an equilibrium, with gains of least quadratic cost (`riccati`).

    u = u_0 + K_P e + K_D e'

u_0 are the efforts that hold the equilibrium (of least weighted norm where drives are redundant), e the errors of independent
coordinates. The mechanism is linearized on its loops (`linearize`), where the drives may be fewer than the degrees of freedom: what counts
is that they reach, through the motion, everything that does not die out by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import Control, Situation, State, UsageError, feedback
from linkwright.motion.controllability import controllable, drive_rows
from linkwright.rings.control.linearize import AT_REST, Linearized, Plant, linearized, plant_size
from linkwright.rings.control.loop_linearization import reached
from linkwright.rings.control.riccati import Gains, riccati

LATER = (0.01, 0.37, 2.9, 31.0, 1e3)  # seconds: where a reference must be what it is now


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Lqr(Control):
    """`lw.control.lqr(reference, Q=..., R=...)`; once it is at its place also what was found there."""

    Q: Any = None
    R: Any = None
    kind = "lqr"
    solves = False
    held_elsewhere = (*Control.held_elsewhere, "Q", "R", "linear")
    linear: Linearized | None = None  # the mechanism at the equilibrium, open loop
    gains: Gains | None = None
    holding: Any = None  # u_0

    def __repr__(self) -> str:
        return Control.__repr__(self if self.linear is None else replace(self, linear=None, gains=None, holding=None))

    def prepared(self, bound: Any) -> Lqr:
        plant = _equilibrium(bound, self.reference)
        holding = plant.holding()
        linear = linearized(plant, holding, plant.x)
        _check_held(plant, linear)
        try:
            gains = riccati(linear, self.Q, self.R, bound.every)
        except UsageError as problem:
            raise UsageError(f"{problem}{_authority(plant)}") from None
        return replace(self, linear=linear, gains=gains, holding=holding)

    def command(self, at: Situation) -> feedback.Command:
        assert self.gains is not None
        K, n = self.gains.K, at.bound.n_tasks
        return feedback.Command(list(self.holding + K[:, :n] @ at.error + K[:, n:] @ at.error_rate))


def _equilibrium(bound: Any, reference: Any) -> Plant:
    """The mechanism, as the controller believes it to be, at the set-points."""
    believed, start, t = bound.believed, bound.start, float(bound.start["t"][0])
    if believed.kernels.chosen.drivers:
        raise UsageError("lqr holds an equilibrium: it cannot work together with prescribed motions (lw.drives.speed, lw.drives.position).")
    n = bound.n_tasks
    wanted = np.asarray(bound.reference(t), dtype=float)
    if wanted[n:].any() or any(np.asarray(bound.reference(t + later), dtype=float).tolist() != wanted.tolist() for later in LATER):
        raise UsageError("lqr holds an equilibrium: its reference is a State at rest, or set-points by coordinate that do not move.")
    eq = believed.equations(start)
    q, references = start["q"], start["near"]
    if isinstance(reference, State):
        if len(reference.q) != len(q) or np.abs(reference.v).max(initial=0.0) > 0.0:
            raise UsageError("lqr: the State to hold belongs to this mechanism and is at rest.")
        q = np.array(reference.q, dtype=float)
        references = eq.loops.skel.pack(reference.references)
    there = reached(eq, bound.tasks, wanted[:n], q, t, references)
    if there is None:
        records = ", ".join(f"{x} = {v:.4g}" for x, v in zip(bound.labels, wanted, strict=False))
        raise UsageError(f"lqr: no position with {records} is reached from the present position.")
    fixed = {**start, "near": there[1]}
    return Plant(eq, bound.tasks, bound.targets, fixed, there[0], np.zeros(len(start["v"])), costly=bound.weights)


def _check_held(plant: Plant, linear: Linearized) -> None:
    left = np.array(list(linear.residual.values()))
    if np.abs(left / plant.sizes).max(initial=0.0) <= AT_REST * (1.0 + plant_size(plant)):
        return
    units = {"angle": "rad/s^2", "length": "m/s^2"}
    records = ", ".join(f"{x} {a:.3g} {units[k]}" for x, a, k in zip(plant.labels, left, plant.kinds, strict=True))
    drives = ", ".join(linear.drives)
    raise UsageError(
        f"lqr: this is not an equilibrium that the drives ({drives}) can hold: with the best efforts these accelerations are "
        f"left: {records}."
        f"{_authority(plant)}"
    )


def _authority(plant: Plant) -> str:
    """Motion that the drives cannot push directly, where there is one."""
    loops = plant.eq.loops
    references: Mapping[str, Any] = plant.eq.loops.skel.unpack(plant.q, plant.fixed["near"])
    st = State(loops.skel, plant.q, plant.v, references, float(plant.fixed["t"][0]))
    names = [x.name for x in plant.targets]
    found = controllable(loops, st, drive_rows(loops, st, names), names)
    return "" if found.ok else f" Here {found.text}"
