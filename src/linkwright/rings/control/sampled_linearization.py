"""Small motions under a sampled controller: from one sample to the next.

Between samples commands c are held and the plant, linear about the state, moves exactly as E = exp(A T) says; at a sample the law
reads what there is and gives new commands and own states. With z = (theta, theta', currents, c, own states) just before a sample,

    z(k+1) = E S z(k),        S = [1 0; dc/dz; d own/dz],

both with exact derivatives. A force sensor feels the efforts of the last commands, so that c is a state where forces are held; else
nothing depends on it and it is left out. A deviation that multiplies by z from sample to sample is one of exp(s t), s = log(z) / T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwright.api import Situation, UsageError, linalg, programs, trace_graph
from linkwright.compiler.derivatives import jacobian
from linkwright.properties import cached_property
from linkwright.rings.control.linearize import MARGIN, Linearized, Plant, by_size, linearized, seeds

GONE = 1e-7  # a factor below this is zero: what it belongs to is over within a sample (of a double one round-off shows its root)


@dataclass(frozen=True, eq=False)
class SampledLinearized(Linearized):
    """Small deviations from sample to sample: x(k+1) = A x(k) + B du, du held over the sample."""

    every: float = 0.0  # s

    @cached_property
    def z(self) -> NDArray[np.complex128]:
        """Eigenvalues of A: what deviations multiply by from sample to sample, largest first."""
        found = np.linalg.eigvals(self.A).astype(complex) if len(self.A) else np.zeros(0, dtype=complex)
        return found[sorted(range(len(found)), key=lambda i: (-round(abs(found[i]), 9), -found[i].imag))]

    @cached_property
    def poles(self) -> NDArray[np.complex128]:
        """log(z) / T in 1/s, slowest first; those of z = 0, which are over within a sample, have none."""
        slow: NDArray[np.complex128] = self.z[np.abs(self.z) > GONE]
        return by_size((np.log(slow) / self.every).astype(complex))

    @property
    def stable(self) -> bool:
        """Every deviation dies out: |z| < 1."""
        return bool(np.abs(self.z).max(initial=0.0) < 1.0 - MARGIN)

    def lqr(self, Q: Any = None, R: Any = None) -> Any:
        raise UsageError(
            "gains of a sampled plant: linearize it without control=, lw.control.lqr(st, Q, R, every=...) finds those for held efforts.",
            name="control",
        )

    def __str__(self) -> str:
        largest = float(np.abs(self.z).max(initial=0.0))
        said = f"  sampled every {self.every:g} s: deviations multiply by |z| <= {largest:.5g} from sample to sample"
        head, *rest = super().__str__().splitlines()
        return "\n".join([head, said, *rest])


@dataclass(frozen=True, eq=False)
class Sampling:
    """A plant under held commands, with the sample of its controller. x: currents, commands, own states of the controller."""

    act: Any
    n_currents: int

    @property
    def loop(self) -> Any:
        return self.act.equations.control

    @property
    def spans(self) -> tuple[slice, slice, slice]:
        """Currents, commands, own states in x."""
        a, b = self.n_currents, self.n_currents + len(self.loop.targets)
        return slice(0, a), slice(a, b), slice(b, b + len(self.loop.bound.states))

    @property
    def names(self) -> tuple[str, ...]:
        held = [f"{x.name}.held" for x in self.loop.targets]
        return (*self.act.x_names, *held, *(s.name for s in self.loop.bound.states))

    @property
    def x(self) -> np.ndarray:
        own = [s.start for s in self.loop.bound.states]
        return np.concatenate([self.act.x0, np.zeros(len(self.loop.targets)), own])

    def _arrays(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs of the drives, with these commands held."""
        currents, commands, _ = self.spans
        held = np.zeros(self.act.n_held, dtype=object)
        held[: commands.stop - commands.start] = x["x"][commands]
        return {**x, "x": x["x"][currents], "held": held}

    def acting(self, x: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """(tau, rates of x, efforts, margin) between samples: commands and own states stay."""
        equations, there, nv = self.act.equations, self._arrays(x), len(x["v"])
        found = equations.inputs(there)
        still = [0.0] * (len(self.names) - self.n_currents)
        return found[:nv], [*found[nv:], *still], equations.efforts_of_control(equations.here(there), there), 1.0

    def sampled(self, x: Mapping[str, Any]) -> tuple[list[Any], Any]:
        """(commands and own states after a sample, margin), over any scalar."""
        equations, bound, there = self.act.equations, self.loop.bound, self._arrays(x)
        here = equations.here(there)
        own = x["x"][self.spans[2]]
        read = {**here.acting.read, "state": own}
        sensed: Any = None
        if bound.sensors:
            felt = bound.felt_under(Situation(bound, read, safe=False), equations.efforts_of_control(here, there))
            sensed = np.array(felt, dtype=object)
        command, at = bound.law(read, sensed=sensed)
        commands, rates = here.acting.after(command.efforts, command.rates)
        after = [s.after(value, rate, self.loop.every) for s, value, rate in zip(bound.states, own, rates, strict=True)]
        return [*commands, *after], at.margin


def sample_program(plant: Plant, sampling: Sampling) -> programs.Program:
    g = trace_graph.TraceGraph()
    x = {**plant.fixed, **{k: g.input(k, len(v)) for k, v in (("q", plant.q), ("v", plant.v), ("x", plant.x))}}
    found, margin = sampling.sampled(x)
    return g.program([("next", np.array(found, dtype=object)), ("margin", np.array([margin], dtype=object))])


def sample_slopes(plant: Plant, program: programs.Program, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Commands and own states after a sample, and their derivatives by (theta, theta', x)."""
    found = jacobian(program, np.concatenate([plant.q, plant.v, x]), seeds(plant, program))
    values, slopes = np.array(found.results, dtype=float), found.dense()
    plant.need_smooth(values, slopes, values[-1:])
    return values[:-1], slopes[:-1]


def linearized_sampled(plant: Plant, sampling: Sampling, kind: str, notes: Sequence[str]) -> SampledLinearized:
    """From sample to sample, where commands, filters and currents have settled."""
    from scipy.linalg import expm

    program = sample_program(plant, sampling)
    x = _settled(plant, sampling, program)
    p, n, every = len(plant.targets), 2 * len(plant.labels), sampling.loop.every
    linear = linearized(plant, np.zeros(p), x, kind, notes)
    _, slopes = sample_slopes(plant, program, x)
    size = len(linear.A)
    own = slice(n + sampling.n_currents, size)  # commands and own states: what a sample changes
    S = np.eye(size)
    S[own] = slopes
    E = expm(np.block([[linear.A, linear.B], [np.zeros((p, size + p))]]) * every)
    A, B = E[:size, :size] @ S, E[:size, size:]
    held = np.arange(n + sampling.n_currents, n + sampling.n_currents + p)
    retained = np.arange(size) if np.any(S[own, :][:, held]) else np.setdiff1d(np.arange(size), held)
    plain: dict[str, Any] = {f.name: getattr(linear, f.name) for f in fields(Linearized)}
    plain |= {"A": A[np.ix_(retained, retained)], "B": B[retained], "states": tuple(linear.states[i] for i in retained)}
    return SampledLinearized(**plain, every=every)


def _settled(plant: Plant, sampling: Sampling, program: programs.Program) -> np.ndarray:
    """x with commands as the law gives them here, and with what filters and currents come to."""
    currents, commands, own = sampling.spans
    lagging = [own.start + i for i, s in enumerate(sampling.loop.bound.states) if s.lag]
    moving = [*range(commands.start, commands.stop), *lagging]
    x, n = np.array(plant.x), 2 * len(plant.labels)
    tries = 3  # commands and filters settle in one step where the law is linear in them
    for _ in range(tries):
        values, slopes = sample_slopes(plant, program, x)
        rows = [i - commands.start for i in moving]
        change = np.eye(len(moving)) - slopes[np.ix_(rows, [n + i for i in moving])]
        x[moving] += linalg.least_squares(change, values[rows] - x[moving])
        x = replace(plant, x=x).steady(list(range(currents.stop)))
    return x
