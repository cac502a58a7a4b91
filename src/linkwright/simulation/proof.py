"""The proof of a run: its certificate, passages of singular positions and checks, from the evidence of its steps, computed on demand.

The proof of a run that comes from a file: what the file says of itself, compared with its own numbers.

A file can be changed by anybody, so its certificate alone proves nothing. Loops and energy are computed again at the samples,
from the coordinates, velocities and works stored and the model inside. Where they contradict the certificate, it is corrected.
Steps between the samples, passages, branch and error estimates remain the file's own, and the verdict says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import LinkwrightError, counted
from linkwright.kernels.kernels import Variant
from linkwright.numerics.linalg import LARGE
from linkwright.numerics.tolerances import CLOSED_GIVEN
from linkwright.properties import cached_property
from linkwright.results.checks import Checks
from linkwright.results.records import RunQuality, cut_rows
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.accuracy import Accuracy, Rerun, estimate, halved, without_calling
from linkwright.simulation.certificate import BALANCED, Certificate, momentum_drift, run_checks
from linkwright.simulation.contact_evidence import contact_findings
from linkwright.simulation.failure_diagnosis import why
from linkwright.simulation.friction_modes import friction_findings
from linkwright.simulation.run_records import engine
from linkwright.simulation.singularity_crossings import Passage
from linkwright.simulation.time_stepping import energy_size

if TYPE_CHECKING:
    from linkwright.simulation.run import Simulation
    from linkwright.system.compiled import Compiled

SAMPLED_CLOSED = 10.0 * CLOSED_GIVEN  # samples lie between steps, where without projection loops are a little more open
SAMPLED_BALANCE = 1e-3  # share of the energy exchanged; interpolation between steps is less exact than the steps


class Measured(NamedTuple):
    """At the samples, in the units of a certificate; energies None where they cannot be balanced."""

    position: float
    velocity: float
    imbalance: float | None
    exchanged: float
    off: tuple[str, ...]  # loops that the file says were switched off at times


@dataclass(frozen=True, eq=False)
class Reopened:
    """`certificate`, `passages` and `checks()` of a run from a file."""

    run: Trajectory  # without proof
    system: Compiled
    stored: Certificate
    passages: tuple[Any, ...]
    file: str

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle holds the findings, not what they are computed from."""
        return RunQuality, (self.certificate, self.passages, self.checks())

    @cached_property
    def measured(self) -> Measured | str:
        """Measurements on the samples, or the reason why there are none."""
        try:
            return measured(self.run, self.system, self.stored.impact_losses == 0.0)
        except (LinkwrightError, ArithmeticError, ValueError, np.linalg.LinAlgError) as problem:
            return str(problem)[:200]

    @cached_property
    def certificate(self) -> Certificate:
        """The file's own, with residuals of the samples where it claims better ones."""
        m, c = self.measured, self.stored
        if isinstance(m, str):
            return replace(c, position_residual=float("inf"), notes=(*c.notes, f"the samples cannot be measured: {m}"))
        wrong: dict[str, Any] = {}
        if c.position_residual < CLOSED_GIVEN and not m.position <= SAMPLED_CLOSED:
            wrong["position_residual"] = m.position
        if c.velocity_residual < CLOSED_GIVEN and not m.velocity <= SAMPLED_CLOSED:
            wrong["velocity_residual"] = m.velocity
        claimed = c.energy_imbalance <= BALANCED * max(c.energy_turned_over, 1e-12)
        if claimed and m.imbalance is not None and not m.imbalance <= SAMPLED_BALANCE * m.exchanged:
            wrong |= {"energy_imbalance": m.imbalance, "energy_turned_over": m.exchanged}
        return replace(c, **wrong, notes=(*c.notes, f"{self.file} contradicts itself: its samples are worse than stated")) if wrong else c

    def checks(self) -> Checks:
        return run_checks(self.certificate, self.passages, self._remark())

    def _remark(self) -> str:
        m = self.measured
        if isinstance(m, str):
            return f"of {self.file}, not computed again"
        energy = "energy" if m.imbalance is not None else "no energy, because of impacts"
        off = f"; switched off at times: {', '.join(m.off[:5])}" if m.off else ""
        return f"of {self.file}; computed again at {counted(len(self.run), 'sample')}: loops, {energy}{off}. The rest is the file's own"


def measured(run: Trajectory, system: Compiled, balanced: bool) -> Measured:
    """Residuals of the loops and of the energy balance at all samples."""
    position = velocity = 0.0
    constraints = [c.name for c in system.loops.constraints]
    closed = run.arrays.get("closed")
    held = np.ones((len(run), len(constraints))) if closed is None else np.asarray(closed)
    names: set[str] = set()
    if system.loops.skel.tree.nc and len(run):
        speed = max(1.0, float(np.abs(run.v / system.loops.columns).max(initial=0.0)))
        for mode in np.unique(held != 0.0, axis=0):
            off = tuple(n for n, on in zip(constraints, mode, strict=True) if not on)
            names |= set(off)
            phi, gap = _open_by(run, system, off, np.flatnonzero(((held != 0.0) == mode).all(axis=1)))
            position, velocity = max(position, phi), max(velocity, gap / speed)
    imbalance, exchanged = _energy(run) if len(run) else (0.0, 0.0)
    exchanged = max(exchanged, REST * energy_size(system))
    return Measured(position, velocity, imbalance if balanced else None, exchanged, tuple(sorted(names)))


def _open_by(run: Trajectory, system: Compiled, off: tuple[str, ...], rows: np.ndarray) -> tuple[float, float]:
    """Largest residual of the loops in position and velocity at some samples."""
    variant = system.kernels.variant(Variant(without=off))
    given = {"q": run.q, "v": run.v, "t": run.t[:, None], "near": cut_rows(run.skel, run.references)}
    found = variant.rows.at(**{name: x[rows] for name, x in given.items()})
    scale = variant.loops.row_scale
    phi = np.abs(found.phi / scale)
    gap = np.abs((found.J @ run.v[rows] + found.b) / scale)
    return float(phi.max(initial=0.0)), float(gap.max(initial=0.0))


def _energy(run: Trajectory) -> tuple[float, float]:
    """(largest imbalance, energy exchanged): E(t) - E(0) = work of drives + work of loads - losses."""
    kinetic, potential = run["energy.kinetic"], run["energy.potential"]
    names = ("work.in", "work.loads", "work.lost", "work.contact")
    works = {n: run.columns[n].values if n in run.columns else np.zeros(len(run)) for n in names}
    rotors = run.columns["energy.rotors"].values if "energy.rotors" in run.columns else 0.0
    E = kinetic + potential + rotors
    gap = np.abs((E - E[0]) - (works["work.in"] + works["work.loads"] - works["work.lost"] - works["work.contact"]))
    changes = [float(np.ptp(x)) for x in (potential, *works.values())]
    return float(gap.max()), max(float((kinetic + rotors).max()), *changes)


REST = 1e-6  # share of the size of energies below which nothing moved
ENDED = ("finished", "event", "interrupted", "stopped")  # at its end, or where the caller wanted
KINDS_OF_STEPS = ("steps", "rejected", "refused", "evaluations", "fallbacks", "break points")
LOOKED_AT = 500  # samples at which singular values are taken


@dataclass(frozen=True)
class Proof:
    """Evidence for a run's certificate; computed on demand."""

    sim: Simulation
    t: np.ndarray
    q: np.ndarray
    again: Rerun
    certify: bool = False

    def __reduce__(self) -> Any:
        """Pickle the verdict, without the steps behind it."""
        return RunQuality, (self.certificate, self.passages, self.checks())

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        return self.sim.evidence.passages

    @cached_property
    def accuracy(self) -> Accuracy:
        """The error of the run, estimated by running it again."""
        again = without_calling(self.sim, self.again)
        try:
            found = estimate(self.sim, self.t, self.q, again)
            return halved(self.sim, self.t, self.q, again, found) if self.certify and found.error is not None else found
        except KeyboardInterrupt:  # the run itself is done
            return Accuracy(by="the estimate was interrupted")

    @cached_property
    def certificate(self) -> Certificate:
        sim, e = self.sim, self.sim.evidence
        f = e.digest()
        first, last = e.branch
        counters = [p.solution.counters for p in sim.pieces]
        total = {k: int(sum(c[k] for c in counters)) for k in KINDS_OF_STEPS}
        solution, o = sim.pieces[-1].solution, sim.options
        smallest = self._singular_values()
        speed = max(1.0, f.speed)
        doubts = tuple(str(x) for x in e.reversals)
        contact, push = contact_findings(sim)
        return Certificate(
            status=solution.status,
            message=solution.message if solution.status in ENDED else why(sim),
            duration=float(solution.end_time - sim.start.t),
            size=float(sim.system.loops.kappa),
            position_residual=f.position,
            position_residual_end=f.position_end,
            velocity_residual=f.velocity / speed,
            velocity_residual_end=f.velocity_end / speed,
            energy_turned_over=max(f.turned_over, REST * energy_size(sim.system), REST * push * sim.system.loops.kappa),
            energy_imbalance=f.imbalance,
            energy_imbalance_end=f.imbalance_end,
            energy_start=float(e._energy_start or 0.0),
            energy_end=f.energy_end,
            work_in=f.works[0],
            work_of_loads=f.works[1],
            lost=f.works[2],
            impact_losses=float(sum(x for _, x in e.losses)),
            **contact,
            **friction_findings(sim),
            smallest_singular_value=min([smallest[0], *(p.singular_values[0] for p in self.passages)]),
            smallest_dependent=smallest[1],
            smallest_independent=smallest[2],
            branch_start=first,
            branch_end=last,
            passages=len(self.passages),
            rank_passages=sum(p.kind == "rank" for p in self.passages),
            steps=total["steps"],
            rejected=total["rejected"],
            refused=total["refused"],
            evaluations=total["evaluations"],
            fallbacks=total["fallbacks"],
            integrator=o.method.name,
            step=o.step,
            tolerance=o.tolerance if o.adaptive else None,
            stabilizer=sim.pieces[0].evaluator.setup.stabilizer_text,
            formulation=o.formulated,
            engine=engine(o.engine, sim.pieces[0].evaluator.setup),
            inputs=sim.pieces[0].evaluator.setup.actuation.how,
            notes=(*sim.notes, *(x for x in doubts if x not in sim.notes)),
            branch_doubts=doubts,
            momentum_drift=momentum_drift(sim),
            break_points=total["break points"],
            estimated_error=self.accuracy.error,
            estimated_error_in=self.accuracy.where,
            estimated_by=self.accuracy.by,
            growth=self.accuracy.growth,
            growth_saturated=self.accuracy.saturated,
        )

    def checks(self) -> Checks:
        return run_checks(self.certificate, self.passages)

    def _singular_values(self) -> tuple[float, float, float]:
        """Smallest of J and of its parts over the samples, of the loops that were closed there."""
        sim, e = self.sim, self.sim.evidence
        tree = sim.system.loops.skel.tree
        every = max(1, len(self.q) * max(1, tree.nc // LARGE) // LOOKED_AT)  # fewer of a large mechanism
        if not tree.nc:
            return 1.0, 1.0, 1.0
        e.digest()
        found: list[list[float]] = [[], [], []]
        for mode, piece in enumerate(sim.pieces):
            q = piece.solution.y[::every, : tree.nq] if len(piece.solution.y) else piece.start.q[None]  # it ended where it began
            J = e.jacobians(mode, sim.system.loops.skel.pack(piece.start.references), q)
            part = e.partition_of(mode, J)
            rank = min(sim.system.kernels.generic_rank, len(J[0]))  # fewer rows where constraints are switched off
            if len(part.rows) < rank and not len(piece.solution.y):  # a singular start: no part is regular
                lost = float(np.linalg.svd(np.asarray(J[0]), compute_uv=False)[rank - 1])
                return lost, lost, lost
            for retained, x in zip(found, part.smallest(J), strict=True):
                retained.append(x)
        least = [min(retained, default=1.0) for retained in found]
        return least[0], least[1], least[2]
