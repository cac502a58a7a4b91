"""The certificate of a run: residuals of loops, energy and branch, an error estimate, and the verdict.

Residuals are dimensionless (lengths in the mechanism's size kappa, angles in rad), taken after every accepted step. The energy
balance is E(t) - E(0) = work of drives + work of loads - losses - impacts, with the works integrated along with the motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from linkwright.errors import counted

CLOSED = 1e-9  # residual below which loops count as closed
ACCURATE = 1e-3  # estimated error, in rad or of the size, below which positions count as known
ROUND_OFF = 1e-13  # error below which only round-off is left
AMPLIFIES = 1e3  # growth of a change of the start from which on a motion amplifies errors
CONSERVED = 1e-6  # share of the momentum below which that of a free flight counts as conserved
BALANCED = 1e-6  # share of the energy exchanged below which the balance holds
FAILED = {"finished": "not finished", "branch known": "branch not known"}  # checks whose names say what is right


@dataclass(frozen=True)
class Certificate:
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
    stabiliser: str
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
    checked: Mapping[str, bool] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        lists = {"notes": list(self.notes), "branch_doubts": list(self.branch_doubts)}
        return {**asdict(self), **lists, "checked": dict(self.checks())}

    def checks(self) -> dict[str, bool]:
        """Each point of the verdict."""
        return {
            "finished": self.status in ("finished", "event"),
            "loops closed in position": self.position_residual < CLOSED,
            "loops closed in velocity": self.velocity_residual < CLOSED,
            "energy balanced": self.energy_imbalance <= BALANCED * max(self.energy_turned_over, 1e-12),
            **({} if self.momentum_drift is None else {"momentum conserved": self.momentum_drift <= CONSERVED}),
            "branch known": not self.branch_doubts,
            "error below 1e-3": self.estimated_error is None or self.estimated_error <= ACCURATE,
        }

    @property
    def ok(self) -> bool:
        return all(self.checks().values())

    @property
    def error_text(self) -> str:
        """The estimated error of positions, or why there is none."""
        if self.estimated_error is None:
            return f"error not estimated{f': {self.estimated_by}' if self.estimated_by else ''}"
        if self.estimated_error < ROUND_OFF:
            return f"estimated error of positions below {ROUND_OFF:.0e} (round-off)"
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

    def __str__(self) -> str:
        checks = self.checks()
        failed = ", ".join(FAILED.get(k, k) for k, good in checks.items() if not good)
        lines = [f"{'passed: loops, energy, branch' if self.ok else f'look at: {failed}'}; {self.error_text}"]
        method = f"{self.integrator}, " + (f"tolerance {self.tolerance:.0e}" if self.tolerance is not None else f"step {self.step:g} s")
        lines.append(f"  run            {self.status}: {self.message} {method}, {self.stabiliser}, {self.formulation}, {self.engine}")
        lines.append(
            f"  steps          {self.steps} taken, {self.rejected} rejected ({self.refused} as jumps of branch), "
            f"{self.evaluations} evaluations, {self.fallbacks} by the rank-revealing path"
            + (f"; {self.break_points} ended on break points" if self.break_points else "")
        )
        lines.append(
            f"  loops          open by at most {self.position_residual:.1e} (end {self.position_residual_end:.1e}) of the size "
            f"{self.size:.3g} m; velocity {self.velocity_residual:.1e} (end {self.velocity_residual_end:.1e})"
        )
        lines.append(
            f"  energy         balance off by at most {self.energy_imbalance:.1e} J (end {self.energy_imbalance_end:.1e}) of "
            f"{self.energy_turned_over:.3g} J exchanged; work in {self.work_in:.4g}, of loads {self.work_of_loads:.4g}, "
            f"lost {self.lost:.4g}, impacts {self.impact_losses:.4g} J"
        )
        if self.momentum_drift is not None:
            lines.append(f"  momentum       free flight: off by at most {self.momentum_drift:.1e} from what weight alone leaves")
        lines.append(
            f"  singularity    smallest singular value of J {self.smallest_singular_value:.2e}, of the dependent part "
            f"{self.smallest_dependent:.2e}, of the independent part {self.smallest_independent:.2e}"
        )
        none = "no loops" if self.steps else "not decided"
        lines.append(
            f"  branch         {self.branch_start or none} -> {self.branch_end or none}, {counted(self.passages, 'passage')}"
            + ("; on which it continues is not known, see the notes" if self.branch_doubts else "")
        )
        lines.append(f"  inputs         {self.inputs}")
        if self.estimated_error is not None:
            lines.append(f"  error          {self.error_text}, by comparison with {self.estimated_by}")
        if self.growth_text:
            lines.append(f"  growth         {self.growth_text}")
        lines += [f"  note           {n}" for n in self.notes]
        return "\n".join(lines)


@dataclass(frozen=True)
class Checks:
    """The verdict on a run; prints as text."""

    certificate: Certificate
    passages: tuple[Any, ...] = ()
    origin: str = ""  # of a run from a file: what was computed again

    @property
    def ok(self) -> bool:
        return self.certificate.ok

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        rank = [p for p in self.passages if p.kind == "rank"]
        lines = [f"  passage        {p}" for p in (rank or list(self.passages))[:12]]
        more = len(rank or self.passages) - len(lines)
        lines += [f"                 and {more} more"] if more > 0 else []
        lines += [f"  verdict        {self.origin}"] if self.origin else []
        return "\n".join([str(self.certificate), *lines])

    __repr__ = __str__
