"""The proof of a run: its certificate, passages of singular positions and checks, from the evidence of its steps, computed on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.numerics.linalg import LARGE
from linkwright.results.checks import Checks
from linkwright.results.records import RunQuality
from linkwright.simulation.accuracy import Accuracy, Rerun, estimate, halved, without_calling
from linkwright.simulation.certificate import Certificate, momentum_drift, run_checks
from linkwright.simulation.failure_diagnosis import why
from linkwright.simulation.run_records import engine
from linkwright.simulation.singularity_detection import Passage
from linkwright.simulation.time_stepping import energy_size

if TYPE_CHECKING:
    from linkwright.simulation.run import Simulation

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
        return Certificate(
            status=solution.status,
            message=solution.message if solution.status in ENDED else why(sim),
            duration=float(solution.end_time - sim.start.t),
            size=float(sim.system.loops.kappa),
            position_residual=f.position,
            position_residual_end=f.position_end,
            velocity_residual=f.velocity / speed,
            velocity_residual_end=f.velocity_end / speed,
            energy_turned_over=max(f.turned_over, REST * energy_size(sim.system)),
            energy_imbalance=f.imbalance,
            energy_imbalance_end=f.imbalance_end,
            energy_start=float(e._energy_start or 0.0),
            energy_end=f.energy_end,
            work_in=f.works[0],
            work_of_loads=f.works[1],
            lost=f.works[2],
            impact_losses=float(sum(x for _, x in e.losses)),
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
            engine=engine(sim),
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
            if len(part.rows) < sim.system.kernels.generic_rank and not len(piece.solution.y):  # a singular start: no part is regular
                lost = float(np.linalg.svd(np.asarray(J[0]), compute_uv=False)[sim.system.kernels.generic_rank - 1])
                return lost, lost, lost
            for retained, x in zip(found, part.smallest(J), strict=True):
                retained.append(x)
        least = [min(retained, default=1.0) for retained in found]
        return least[0], least[1], least[2]
