"""The certificate of a run: residuals of loops, energy and branch, an error estimate, and the verdict.

Residuals are dimensionless (lengths in the mechanism's size kappa, angles in rad), taken after every accepted step. The energy
balance is E(t) - E(0) = work of drives + work of loads - losses - impacts, with the works integrated along with the motion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import counted
from linkwright.files.tables import Result, Table
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.floating_base import base_entries, flies_free
from linkwright.mechanics.kinematics.motion import motion
from linkwright.numerics.tolerances import CLOSED_GIVEN, ZERO_SHARE
from linkwright.results.checks import Check, Checks
from linkwright.simulation.time_stepping import energy_size

if TYPE_CHECKING:
    from linkwright.simulation.run import Simulation


ACCURATE = 1e-3  # estimated error, in rad or of the size, below which positions count as known
AMPLIFIES = 1e3  # growth of a change of the start from which on a motion amplifies errors
CONSERVED = 1e-6  # share of the momentum below which that of a free flight counts as conserved
BALANCED = 1e-6  # share of the energy exchanged below which the balance holds
MOST_PASSAGES = 12  # listed
DEPTH = 1e-9  # of the size: surfaces that sink in deeper
STEPPED_DEPTH = 1e-11  # of the size, of runs by steps: positions are put out of what is deeper than 1e-12
STEPPED_LAW = 1e-6  # residual of the problems of impulses
STEPPED_GAIN = 1e-3  # share of the energy exchanged that a step may seem to give back: steps are of first order
LAW = 1e-8  # residual of the contact problems, and forces beyond the laws of contact and of dry friction


@dataclass(frozen=True)
class Certificate(Result):
    """Measurements on a run. Lengths of residuals are in units of `size`."""

    status: str
    message: str
    duration: float
    size: float  # characteristic length, m
    position_residual: float  # largest after any step
    position_residual_end: float
    velocity_residual: float  # largest, relative to the largest speed (at least 1/s)
    velocity_residual_end: float
    energy_turned_over: float  # J: what the imbalance is judged by
    energy_imbalance: float  # J: largest
    energy_imbalance_end: float
    energy_start: float
    energy_end: float
    work_in: float
    work_of_loads: float
    lost: float
    impact_losses: float
    smallest_singular_value: float  # of J, at the samples and passages
    smallest_dependent: float  # of the dependent part
    smallest_independent: float  # of the independent part
    branch_start: str
    branch_end: str
    passages: int
    rank_passages: int
    steps: int
    rejected: int
    refused: int
    evaluations: int
    fallbacks: int
    integrator: str
    step: float | None
    tolerance: float | None
    stabilizer: str
    formulation: str
    engine: str
    inputs: str
    notes: tuple[str, ...] = ()
    branch_doubts: tuple[str, ...] = ()  # reasons why the branch on which the motion continues is not known; none where it is
    estimated_error: float | None = None  # of coordinates, in rad or of the size; None where it was not estimated
    estimated_error_in: str = ""  # unit, coordinate and time of it
    estimated_by: str = ""  # how, or why not
    growth: float | None = None  # of a small change of the start, at most over the run
    growth_saturated: bool = False  # it grew beyond linear measure: at least so much
    momentum_drift: float | None = None  # in free flight, relative; None where anything but weight acts from outside
    break_points: int = 0  # corners and jumps of loads and inputs, at which steps ended
    touches: int = 0  # places where surfaces may touch
    touch_impacts: int = 0
    touch_changes: int = 0  # of their states
    touch_depth: float = 0.0  # m, at most
    touch_depth_at: str = ""
    touch_open: float = 0.0  # m: closed touches are open by at most so much
    touch_residual: float = 0.0  # of the contact problems, relative
    touch_excess: float = 0.0  # pulls, friction beyond its bound and along the slip, relative to the largest force
    least_impact_loss: float = 0.0  # J
    sliding_loss: float = 0.0
    touch_shared: str = ""  # touches whose forces are not unique
    rubbing: int = 0  # joints with dry friction
    friction_changes: int = 0  # of their states
    friction_excess: float = 0.0  # efforts beyond their bounds or along the slip, relative to the bound
    friction_shared: str = ""  # joints that stick together
    stepping: bool = False  # by equal steps with impulses: then what contact takes is what the balance of energy leaves
    problems: int = 0  # of impulses
    harder: int = 0  # those of them that later stages of the solver solved

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "notes": list(self.notes), "branch_doubts": list(self.branch_doubts)}

    def checks(self) -> Checks:
        """The checks that this certificate decides; `run.checks()` has them and those of the mechanism's elements."""
        return Checks((self._ended, *self._measured, self._branch, self._error), self.lines)

    def table(self) -> Table:
        """Return the checks as a table."""
        return self.checks().table()

    @property
    def _ended(self) -> Check:
        return Check.of("run", self.status in ("finished", "event"), f"{self.status}: {self.message}")

    @property
    def _stepped(self) -> tuple[Check, ...]:
        """The same of a run by steps."""
        loops = f"open by at most {self.position_residual:.1e} (end {self.position_residual_end:.1e}) of the size {self.size:.3g} m"
        speeds = f"off the loops by at most {self.velocity_residual:.1e} (end {self.velocity_residual_end:.1e}) of the largest speed"
        energy = f"contact gives back at most {self.energy_imbalance:.1e} J between samples of {self.energy_turned_over:.3g} J exchanged"
        ok = self.touch_depth < STEPPED_DEPTH * self.size and self.touch_residual < STEPPED_LAW
        text = f"{counted(self.problems, 'problem')}, {self.problems - self.harder} by the first stage, residual at most "
        text += f"{self.touch_residual:.1e}, at most {self.touch_depth:.1e} m deep"
        return (
            _under("loops", self.position_residual, CLOSED_GIVEN, loops),
            _under("velocities", self.velocity_residual, CLOSED_GIVEN, speeds),
            Check.below("energy", self.energy_imbalance, STEPPED_GAIN * max(self.energy_turned_over, 1e-12), energy),
            Check.of("contact", ok, text, value=self.touch_depth, limit=STEPPED_DEPTH * self.size),
        )

    @property
    def _measured(self) -> tuple[Check, ...]:
        if self.stepping:
            return self._stepped
        loops = f"open by at most {self.position_residual:.1e} (end {self.position_residual_end:.1e}) of the size {self.size:.3g} m"
        speeds = f"off the loops by at most {self.velocity_residual:.1e} (end {self.velocity_residual_end:.1e}) of the largest speed"
        energy = (
            f"balance off by at most {self.energy_imbalance:.1e} J (end {self.energy_imbalance_end:.1e}) of "
            f"{self.energy_turned_over:.3g} J exchanged; work in {self.work_in:.4g}, of loads {self.work_of_loads:.4g}, "
            f"lost {self.lost:.4g}, impacts {self.impact_losses:.4g} J"
        )
        out = (
            _under("loops", self.position_residual, CLOSED_GIVEN, loops),
            _under("velocities", self.velocity_residual, CLOSED_GIVEN, speeds),
            Check.below("energy", self.energy_imbalance, BALANCED * max(self.energy_turned_over, 1e-12), energy),
        )
        if self.touches:
            out = (*out, self._contact)
        if self.rubbing:
            text = f"{counted(self.rubbing, 'joint')}, {counted(self.friction_changes, 'change')} of state, "
            text += f"efforts beyond Coulomb's law by {self.friction_excess:.1e}"
            out = (*out, Check.below("friction", self.friction_excess, LAW, text))
        if self.momentum_drift is None:
            return out
        free = f"free flight: off by at most {self.momentum_drift:.1e} from what weight alone leaves"
        return *out, Check.below("momentum", self.momentum_drift, CONSERVED, free)

    @property
    def _contact(self) -> Check:
        """Surfaces neither sink in nor pull, friction stays within its bound, and no impact gains energy."""
        gained = -self.least_impact_loss > BALANCED * max(self.energy_turned_over, 1e-12)
        ok = self.touch_depth < DEPTH * self.size and self.touch_residual < LAW and self.touch_excess < LAW and not gained
        changes = counted(self.touch_changes, "change")
        what = f"{counted(self.touches, 'place')}, {counted(self.touch_impacts, 'impact')}, {changes} of state"
        where = f" ({self.touch_depth_at})" if self.touch_depth_at else ""
        text = f"{what}, at most {self.touch_depth:.1e} m deep{where}, closed ones open by at most {self.touch_open:.1e} m"
        return Check.of("contact", ok, text, value=self.touch_depth, limit=DEPTH * self.size)

    @property
    def _branch(self) -> Check:
        if self.stepping:
            return Check("branch", "passed", "steps follow the branch of the start; singular positions are not looked for")
        none = "no loops" if self.steps else "not decided"
        text = f"{self.branch_start or none} -> {self.branch_end or none}, {counted(self.passages, 'passage')}"
        if not self.branch_doubts:
            return Check("branch", "passed", text)
        return Check("branch", "unknown", f"{text}; the branch on which it continues is unknown: {'; '.join(self.branch_doubts)}")

    @property
    def _error(self) -> Check:
        """An error that was not estimated is unknown, not small."""
        if self.estimated_error is None:
            return Check("error", "unknown", self.error_text, limit=ACCURATE)
        return Check.below("error", self.estimated_error, ACCURATE, self.error_text, self.estimated_error_in)

    @property
    def ok(self) -> bool:
        return self.checks().ok

    @property
    def error_text(self) -> str:
        """The estimated error of positions, or why there is none."""
        if self.estimated_error is None:
            return f"error not estimated{f': {self.estimated_by}' if self.estimated_by else ''}"
        if self.estimated_error < ZERO_SHARE:
            return f"estimated error of positions below {ZERO_SHARE:.0e} (round-off)"
        return f"estimated error of positions {self.estimated_error:.1e} {self.estimated_error_in}".rstrip()

    @property
    def growth_text(self) -> str:
        """How much a change of the start grows, and what that means."""
        if self.growth is None:
            return ""
        if self.growth == 0.0:
            return "the drives leave no degree of freedom in which a change of the start could grow"
        least = "at least " if self.growth_saturated else ""
        text = f"a small change of the start grows {least}{self.growth:.2g} times"
        if not self.amplifies:
            return text
        known = self.estimated_error is not None and self.estimated_error <= ACCURATE
        return f"{text}: this motion amplifies errors" + ("" if known else "; compare statistics, not single values")

    @property
    def amplifies(self) -> bool:
        """True if the motion amplifies errors much: single values then need a far tighter tolerance, or say little."""
        return self.growth is not None and self.growth >= AMPLIFIES

    @property
    def lines(self) -> tuple[str, ...]:
        """How the run was computed, as lines of text below its checks."""
        method = f"{self.integrator}, " + (f"tolerance {self.tolerance:.0e}" if self.tolerance is not None else f"step {self.step:g} s")
        lines = [f"  method         {method}, {self.stabilizer}, {self.formulation}, {self.engine}"]
        lines.append(
            f"  steps          {self.steps} taken, {self.rejected} rejected ({self.refused} as jumps of branch), "
            f"{self.evaluations} evaluations, {self.fallbacks} by the rank-revealing path"
            + (f"; {self.break_points} ended on break points" if self.break_points else "")
        )
        if self.stepping:
            lines.append(f"  contact        takes {self.sliding_loss:.4g} J by impacts, sliding and dry friction")
            lines += [f"  estimate       by comparison with {self.estimated_by}"] if self.estimated_error is not None else []
            return (*lines, *(f"  note           {n}" for n in self.notes))
        lines.append(
            f"  singularity    smallest singular value of J {self.smallest_singular_value:.2e}, of the dependent part "
            f"{self.smallest_dependent:.2e}, of the independent part {self.smallest_independent:.2e}"
        )
        lines.append(f"  inputs by      {self.inputs}")
        if self.touches:
            lines.append(
                f"  contact law    residual of the contact problems at most {self.touch_residual:.1e}, forces beyond the law by "
                f"{self.touch_excess:.1e} of the largest. Impacts lose {self.impact_losses:.4g} J (each at least "
                f"{self.least_impact_loss:.1e}), sliding {self.sliding_loss:.4g} J"
            )
        if self.touch_shared:
            lines.append(f"  not unique     forces shared among {self.touch_shared}. Sums and the motion are unique")
        if self.friction_shared:
            lines.append(f"  not unique     friction at rest of {self.friction_shared}: each has the same share of its bound")
        if self.estimated_error is not None:
            lines.append(f"  estimate       by comparison with {self.estimated_by}")
        if self.growth_text:
            lines.append(f"  growth         {self.growth_text}")
        return (*lines, *(f"  note           {n}" for n in self.notes))

    def __str__(self) -> str:
        return str(self.checks())


def _under(name: str, value: float, limit: float, text: str) -> Check:
    return Check.of(name, value < limit, text, value=value, limit=limit)


def run_checks(certificate: Certificate, passages: Sequence[Any], origin: str = "") -> Checks:
    """The checks of a certificate with the passages and, of a run from a file, what was computed again."""
    found = certificate.checks()
    rank = [p for p in passages if p.kind == "rank"]
    lines = [f"  passage        {p}" for p in (rank or list(passages))[:MOST_PASSAGES]]
    more = len(rank or passages) - len(lines)
    lines += [f"                 and {more} more"] if more > 0 else []
    lines += [f"  from file      {origin}"] if origin else []
    return Checks(found.items, (*found.details, *lines))


# ----------------------------------------------------------------------------------------------------
# Momentum of a run in free flight: only weight changes it, so its drift measures the run independently of the energy balance

LOOKED_AT = 60  # samples
INTERNAL = 1e-9  # net force of the model's forces, relative to their sum, below which they act between bodies only
REST = 1e-6  # share of the size of energies below which nothing moved


def momentum_drift(sim: Simulation) -> float | None:
    """Largest change of the linear momentum beyond that of weight, or of the angular momentum about the center of mass, relative to what
    the moving masses could have. None where something else than free joints, weight and internal forces acts from outside."""
    system, e = sim.system, sim.evidence
    skel = system.loops.skel
    if sim.ends or sim.touches or not flies_free(skel.tree) or set(e.drives if e.driven else ()) & set(base_entries(skel.tree)):
        return None
    if not np.array_equal(e.parameters, system.kernels.defaults["parameters"]):
        return None
    found, nq, nv = [], skel.tree.nq, skel.tree.nv
    rows = [(float(t), y, p.start) for p in sim.pieces for t, y in zip(p.solution.t, p.solution.y, strict=True)]
    for t, y, start in rows[:: max(1, len(rows) // LOOKED_AT)]:
        m = motion(skel, y[:nq], y[nq : nq + nv])
        if _pushed(system, Instant.moving(skel, m, t, start.references)):
            return None
        found.append(_momentum(skel, m, t))
    return _drift(skel, np.array(found), energy_size(system), system.loops.kappa) if found else None


def _pushed(system: Any, at: Instant) -> bool:
    """True if forces of the model have a resultant: they act against ground, or come from outside."""
    skel, net, total = system.loops.skel, np.zeros(6), 0.0
    for node, w in at.pushes(system.forces):
        moment = w[:3] + np.cross(skel.origins[node], w[3:])
        net, total = net + np.concatenate([moment / system.loops.kappa, w[3:]]), total + float(np.abs(w).sum())
    return bool(np.abs(net).max() > INTERNAL * total)


def _momentum(skel: Any, m: Any, t: float) -> np.ndarray:
    """(t, kinetic energy, linear momentum, angular momentum about the center of mass)."""
    mass = sum(skel.mass)
    com = sum(k * (X.point(c) + o) for k, X, c, o in zip(skel.mass, m.X, skel.com, skel.origins, strict=True)) / mass
    linear, angular = dynamics.momentum(skel, m, com)
    return np.array([t, dynamics.kinetic_energy(skel, m), *linear, *angular])


def _drift(skel: Any, rows: np.ndarray, rest: float, length: float) -> float:
    mass, t = float(sum(skel.mass)), rows[:, 0] - rows[0, 0]
    weight = mass * np.asarray(skel.gravity, dtype=float)
    linear = rows[:, 2:5] - rows[0, 2:5] - t[:, None] * weight
    angular = rows[:, 5:8] - rows[0, 5:8]
    size = math.sqrt(2.0 * mass * max(float(rows[:, 1].max()), REST * rest))  # |p| is at most sqrt(2 m T)
    return max(float(np.abs(linear).max()) / size, float(np.abs(angular).max()) / (size * float(length)))
