"""Events on what only a run has: efforts, multipliers, reactions, currents.

A state alone does not determine them, so they are read as the run's own channels are, from one sample made for the purpose: some
milliseconds each time the event is looked at.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import ChannelError, counted
from linkwright.integrators import Solution
from linkwright.results import singular_channels
from linkwright.results.channel_programs import Before
from linkwright.results.state import State
from linkwright.simulation.mode_evaluation import Evaluator

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory
    from linkwright.simulation.run import Simulation

KINDS_BY_NAME = {"torque": "torque", "force": "force", "power": "power", "current": "current", "voltage": "voltage", "size": "force"}


class RunChannel:
    """A channel of the run as the function of an event; bound to the mode it is watched in."""

    def __init__(self, name: str):
        self.name = self.__name__ = name
        self._read: Callable[[Mapping[str, Any]], float] | None = None

    @property
    def kind(self) -> str | None:
        """Its dimension, as far as the name says."""
        return KINDS_BY_NAME.get(self.name.rpartition(".")[2], "force" if ".on." in self.name or self.name.startswith("lam.") else None)

    def from_row(self, x: Mapping[str, Any]) -> Any:
        """The value at a full row of the loop; anything before it is bound."""
        return 1.0 if self._read is None else self._read(x)

    def bind(self, sim: Simulation, evaluator: Evaluator, off: tuple[str, ...], start: State) -> None:
        """Read it in this mode from now on; says at once if there is no such channel."""

        if self.name in singular_channels.NAMES:
            self._read = _singularity(sim, off, start, self.name)
            return

        def read(x: Mapping[str, Any]) -> float:
            y = np.concatenate([np.asarray(x[k], dtype=float) for k in ("q", "v", "x") if k in x])
            run = one_sample(sim, evaluator, off, start, float(x["t"][0]), y, np.asarray(x["near"], dtype=float))
            value = run[self.name]
            if value.shape != (1,):
                raise ChannelError(f"an event watches one number; channel '{self.name}' has {counted(value.shape[1], 'component')}.")
            return float(value[0])

        setup = evaluator.setup
        x0 = np.concatenate([start.q, start.v, np.zeros(setup.problem.nx)])
        read(setup.row.named(evaluator.row(start.t, x0, np.asarray(setup.values["near"]))))
        self._read = read


def _singularity(sim: Simulation, off: tuple[str, ...], start: State, name: str) -> Callable[[Mapping[str, Any]], float]:
    """A channel of `singular_channels` as an event reads it: the dependent coordinates are chosen where the mode begins and stay the
    same, so that a determinant passes through zero where a run's channel, which looks at all of it, does."""
    system = sim.system
    loops = system.kernels.equations(sim.free).loops if len(sim.free) else system.loops
    loops = replace(loops, constraints=tuple(c for c in loops.constraints if c.name not in off))
    if not loops.constraints:
        raise ChannelError(f"channel '{name}' measures how near loops are to losing rank; no loop is active here.")
    names = system.kernels.entries["v"]
    drives = [names.index(n) for n in sim.driven or [d.joint for d in system.description.drives] if n in names]

    def at(t: float, q: Any, references: Any) -> singular_channels.Singularity:
        return singular_channels.Singularity(loops, np.array([t]), np.asarray(q, dtype=float)[None], [references], drives)

    begun = at(start.t, start.q, start.references)
    if name.startswith("det."):
        begun.column(name)  # says where a part has no determinant

    def read(x: Mapping[str, Any]) -> float:
        there = at(float(x["t"][0]), x["q"], system.loops.skel.unpack(x["q"], np.asarray(x["near"], dtype=float)))
        vars(there)["modes"] = begun.modes
        return float(there.column(name).values[0])

    return read


class _OneSample:
    """Evidence of a run with one sample."""

    def __init__(self, evaluator: Evaluator, off: tuple[str, ...], cut: np.ndarray):
        self.modes, self.cut = [(evaluator, off)], cut

    def before(self, mode: int, times: np.ndarray) -> Before:
        cut = np.tile(self.cut, (len(times), 1))
        return Before(np.asarray(times), cut, np.zeros(cut.shape))

    def cut_at(self, mode: int, times: np.ndarray) -> np.ndarray:
        return self.before(mode, times).references


def one_sample(
    sim: Simulation, evaluator: Evaluator, off: tuple[str, ...], start: State, t: float, y: np.ndarray, cut: np.ndarray
) -> Trajectory:
    """The run at one row, with all its channels."""
    from linkwright.simulation.run import RunPiece
    from linkwright.simulation.run_records import trajectory

    shadow: Any = copy.copy(sim)
    sample = Solution(np.array([t]), y[None], (), "finished", "", {}, t, y)
    shadow.pieces, shadow.happened, shadow.evidence = [RunPiece(evaluator, sample, start, 0, ())], [], _OneSample(evaluator, off, cut)
    return trajectory(shadow)
