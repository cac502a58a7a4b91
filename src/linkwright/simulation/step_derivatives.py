"""Steps of an integrator on the loops, differentiated exactly by the state and by numbers of the model or efforts.

A step is y' = project(y + h sum b_i K_i), K_i = f(t_i, y + h sum a_ij K_j, p). Many steps are differentiated at once over arrays, stage by
stage, with the exact derivatives of the kernels,

    dK_i = f_y dY_i + f_p        S' = P_y (dy + h sum b_i dK_i) + P_p
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import SimulationError

if TYPE_CHECKING:
    from linkwright.integrators.problem import Tableau
    from linkwright.kernels.kernels import Kernels

NEWTON = 2  # steps of the projection: the first leaves the square of a gap of the order of the method's error


class StateFunction(NamedTuple):
    """A function of y = (q, v, x) at many states, with its derivatives by y and by the numbers."""

    value: np.ndarray  # (n, entries)
    by_y: np.ndarray  # (n, entries, y)
    by_p: np.ndarray  # (n, entries, parameters)


class StepDerivatives(ABC):
    """Steps of one mechanism, y = (q, v, x), as functions of y and of `varied` numbers; x are states of the drives themselves."""

    kernels: Kernels
    table: Tableau  # of the integrator
    nq: int
    nv: int
    nx: int
    varied: int
    chosen: Sequence[int]  # places of the numbers among the parameters, where these are varied
    numbers: tuple[str, ...]  # ("parameters",) where they are
    parameter_values: np.ndarray
    quaternions: Sequence[int]  # first entries in q
    projects: bool  # there are loops

    @property
    def n(self) -> int:
        return self.nq + self.nv + self.nx

    @abstractmethod
    def inputs(self, t: np.ndarray, y: np.ndarray, near: np.ndarray) -> tuple[dict[str, StateFunction], StateFunction]:
        """Efforts and prescribed motions by name, and the rates of the drives' own states."""

    # ---------------------------------------------------------------- right sides

    def called(self, name: str, by: tuple[str, ...], t: np.ndarray, given: dict[str, Any], outputs: tuple[str, ...] = ()) -> Any:
        """A kernel with derivatives at all states."""
        kernel = self.kernels.get(name, by=by, outputs=outputs)
        every = {**given, "t": t[:, None], "parameters": self.parameter_values}
        found = kernel(**{b.name: every[b.name] for b in kernel.inputs})
        if found.failed:
            (i, *_), error = next(iter(found.failed.items()))
            raise SimulationError(f"t = {t[i]:.6g} s: there are no derivatives of the motion here: {error}")
        return found

    def forward(self, t: np.ndarray, y: np.ndarray, near: np.ndarray, heads: dict[str, StateFunction] | None = None) -> StateFunction:
        """Accelerations, then the multipliers of all rows."""
        heads = self.inputs(t, y, near)[0] if heads is None else heads
        given = {"q": y[:, : self.nq], "v": y[:, self.nq : self.nq + self.nv], "near": near, **{k: x.value for k, x in heads.items()}}
        found = self.called("forward", ("coordinates", "v", *heads, *self.numbers), t, given)

        def both(by: str) -> np.ndarray:
            return np.concatenate([getattr(found, f"a_{by}"), getattr(found, f"lam_{by}")], axis=1)

        by_y = np.concatenate([both("coordinates"), both("v"), np.zeros((len(t), found.a.shape[1] + found.lam.shape[1], self.nx))], axis=2)
        by_p = both("parameters")[:, :, self.chosen] if self.numbers else np.zeros((*by_y.shape[:2], self.varied))
        for name, head in heads.items():
            by_y, by_p = by_y + both(name) @ head.by_y, by_p + both(name) @ head.by_p
        return StateFunction(np.concatenate([found.a, found.lam], axis=1), by_y, by_p)

    def rates(self, t: np.ndarray, y: np.ndarray, near: np.ndarray) -> StateFunction:
        """dy/dt."""
        heads, own = self.inputs(t, y, near)
        a = self.forward(t, y, near, heads)
        moved = self.called("velocities", ("coordinates", "v"), t, {"q": y[:, : self.nq], "v": y[:, self.nq : self.nq + self.nv]})
        by_q = np.concatenate([moved.qdot_coordinates, moved.qdot_v, np.zeros((len(t), self.nq, self.nx))], axis=2)
        return StateFunction(
            np.concatenate([moved.qdot, a.value[:, : self.nv], own.value], axis=1),
            np.concatenate([by_q, a.by_y[:, : self.nv], own.by_y], axis=1),
            np.concatenate([np.zeros((len(t), self.nq, self.varied)), a.by_p[:, : self.nv], own.by_p], axis=1),
        )

    # ---------------------------------------------------------------- steps

    def step(self, t: np.ndarray, h: np.ndarray, y: np.ndarray, near: np.ndarray) -> StateFunction:
        """States after steps of length h from y, and their derivatives by y and by the numbers."""
        a, c, stages = self.table.a, self.table.c, self.table.stages
        start, K = self.itself(y), []
        for i in range(stages):
            Y = _moved(start, h, a[i], K)
            f = self.rates(t + c[i] * h, Y.value, near)
            K.append(StateFunction(f.value, f.by_y @ Y.by_y, f.by_y @ Y.by_p + f.by_p))
        return self._settled(t + h, self.normalized(_moved(start, h, a[stages], K)), near)

    def itself(self, y: np.ndarray) -> StateFunction:
        """y as a function of y."""
        return StateFunction(y, np.broadcast_to(np.eye(self.n), (len(y), self.n, self.n)), np.zeros((len(y), self.n, self.varied)))

    def normalized(self, y: StateFunction) -> StateFunction:
        """Quaternions of length one again: d(q/|q|) = (I - q q'/|q|^2) dq/|q|."""
        if not self.quaternions:
            return y
        value, by_y, by_p = (x.copy() for x in y)
        for first in self.quaternions:
            s = slice(first, first + 4)
            size = np.sqrt(np.sum(value[:, s] ** 2, axis=1))[:, None]
            unit = value[:, s] / size
            turn = (np.eye(4) - unit[:, :, None] * unit[:, None, :]) / size[:, :, None]
            value[:, s], by_y[:, s], by_p[:, s] = unit, turn @ by_y[:, s], turn @ by_p[:, s]
        return StateFunction(value, by_y, by_p)

    def _settled(self, t: np.ndarray, y: StateFunction, near: np.ndarray) -> StateFunction:
        """On the loops: Newton steps for q, then the velocity of the last call, as the time stepper does."""
        for call in range(self.calls):
            y = self.projected(t, y, near, call)
        return y

    @property
    def calls(self) -> int:
        """Calls of the projection after a step."""
        return 0 if not self.projects else NEWTON + 1

    def laws(self, t: np.ndarray, y: np.ndarray, near: np.ndarray) -> tuple[dict[str, StateFunction], dict[str, np.ndarray]]:
        """Prescribed motions, and the inputs of the projection."""
        laws = {k: x for k, x in self.inputs(t, y, near)[0].items() if k != "tau"}
        given = {"q": y[:, : self.nq], "v": y[:, self.nq : self.nq + self.nv], "near": near, **{k: x.value for k, x in laws.items()}}
        return laws, given

    def changed(self, call: int) -> tuple[str, slice]:
        """Output of the projection that a call takes over, and its place in y."""
        return ("q", slice(0, self.nq)) if call < NEWTON else ("v", slice(self.nq, self.nq + self.nv))

    def projected(self, t: np.ndarray, y: StateFunction, near: np.ndarray, call: int) -> StateFunction:
        """One call of the projection."""
        nq, nv = self.nq, self.nv
        laws, given = self.laws(t, y.value, near)
        found = self.called("projection", ("coordinates", "v", *laws, *self.numbers), t, given)
        name, span = self.changed(call)
        value, by_y, by_p = (x.copy() for x in y)
        D = {by: getattr(found, f"{name}_{by}") for by in ("coordinates", "v", *laws, *self.numbers)}
        moved = [D["coordinates"] @ x[:, :nq] + D["v"] @ x[:, nq : nq + nv] for x in (y.by_y, y.by_p)]
        for key, law in laws.items():
            moved[0], moved[1] = moved[0] + D[key] @ (law.by_y @ y.by_y), moved[1] + D[key] @ (law.by_y @ y.by_p + law.by_p)
        if self.numbers:
            moved[1] = moved[1] + D["parameters"][:, :, self.chosen]
        value[:, span], by_y[:, span], by_p[:, span] = getattr(found, name), moved[0], moved[1]
        return StateFunction(value, by_y, by_p)

    # ---------------------------------------------------------------- quaternions

    def in_coordinates(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Changes of coordinates from those in the space of v."""
        return self.called("velocities", ("v",), np.zeros(1), {"q": q[None], "v": np.zeros((1, self.nv))}).qdot_v[0] @ step

    def in_velocities(self, q: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Changes of coordinates (n, nq, parameters) in the space of v."""
        if self.nq == self.nv:
            return change
        N = self.called("velocities", ("v",), np.zeros(len(q)), {"q": q, "v": np.zeros((len(q), self.nv))}).qdot_v
        return np.linalg.pinv(N) @ change


def _moved(y: StateFunction, h: np.ndarray, weights: np.ndarray, K: Sequence[StateFunction]) -> StateFunction:
    """y + h sum of weighted rates."""
    parts = []
    for k, x in enumerate(y):
        total = x
        for weight, rate in zip(weights, K, strict=False):
            if weight:
                total = total + (weight * h).reshape(-1, *[1] * (x.ndim - 1)) * rate[k]
        parts.append(total)
    return StateFunction(*parts)
