"""Model predictive control of a mechanism: an optimal motion over a short horizon at every sample, in Python and as C99 for a controller.

A sample is one step of a real-time iteration [Diehl2005]: from the measured state the horizon is simulated under the efforts of the last
sample, moved on by one step, and differentiated exactly on the way. The quadratic program that follows,

    minimize sum |x - r|^2_Q + |u - s|^2_R      with  dx_k+1 = A_k dx_k + B_k du_k,  low <= u <= high,

is solved by Riccati recursions for sets of efforts at their limits, until the set settles. `predictive_c` writes the same in C.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import KINDS, Result, System, Table, UsageError, calls_explained, quantity, whole_number
from linkwright.rings.robots.optimal.predictive_c import MOST_SETS, Sizes, header, source
from linkwright.rings.robots.optimal.request import Setting, limits_of
from linkwright.rings.robots.optimal.result import OptimalMotion
from linkwright.rings.robots.optimal.states_on_loops import LoopStates

Array = np.ndarray
LONGEST_HORIZON = 200  # steps
STAGES = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))  # Runge-Kutta of order 4: place of a stage, and its weight in sixths


@dataclass(frozen=True, eq=False)
class _Horizon:
    """States over a horizon with the derivatives of its steps."""

    x: Array  # (N + 1, n)
    A: Array
    B: Array


@calls_explained
@dataclass(eq=False, repr=False)
class PredictiveController(Result):
    """A predictive controller. `tick(position, speed, reference)` gives the efforts of a sample, `c()` the same as C99 sources."""

    setting: Setting
    motion: Any  # kernels.coordinate_motion.CoordinateMotion
    steps: int
    step: float  # s, of the prediction
    Q: Array  # weights of coordinates and speeds
    R: Array  # weights of efforts
    low: Array
    high: Array
    q: Array = field(init=False)
    u: Array = field(init=False)
    active: Array = field(init=False)
    sets: int = field(init=False, default=0)  # of efforts at limits, tried in the last sample

    def __post_init__(self) -> None:
        self.states = LoopStates(self.setting.core, self.setting.coordinates, self.setting.sizes)
        self.reset()

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.setting.coordinates

    @property
    def drives(self) -> tuple[str, ...]:
        return self.setting.drives

    def reset(self) -> None:
        """Begin again at the start, without efforts."""
        self.q = np.array(self.setting.start.q)
        self.u = np.zeros((self.steps, len(self.drives)))
        self.active = np.zeros((self.steps, len(self.drives)), dtype=int)

    # ---------------------------------------------------------------- a sample

    def tick(self, position: Any, speed: Any, reference: Any) -> Array:
        """Return the efforts of the drives for a measured position and speed of the coordinates.

        `reference` has a row of coordinates, speeds and efforts for now and for every step of the horizon, see `reference_of`.
        """
        f, p = len(self.coordinates), len(self.drives)
        x0 = np.concatenate([np.asarray(position, dtype=float).ravel(), np.asarray(speed, dtype=float).ravel()])
        r = np.asarray(reference, dtype=float)
        if x0.shape != (2 * f,) or r.shape != (self.steps + 1, 2 * f + p):
            raise UsageError(
                f"a sample needs {f} positions, {f} speeds and a reference of shape {(self.steps + 1, 2 * f + p)}, not {r.shape}.",
                name="reference",
            )
        self.u[:-1], self.active[:-1] = self.u[1:].copy(), self.active[1:].copy()
        q = self.states.near(x0[None, :f], self.states.near(x0[None, :f], self.q[None]))[0]
        horizon = self.predicted(q, x0)
        if horizon is None:
            return self.u[0].copy()  # the equations are singular on the way: the efforts of the last sample
        self.q = q
        self.u = self._improved(horizon, r)
        return self.u[0].copy()

    def predicted(self, q: Array, x0: Array) -> _Horizon | None:
        """The horizon under the present efforts, with the derivatives of its steps."""
        f, p, h = len(self.coordinates), len(self.drives), self.step
        n, N = 2 * f, self.steps
        x, A, B = np.empty((N + 1, n)), np.empty((N, n, n)), np.empty((N, n, p))
        x[0] = x0
        for k in range(N):
            rate, change = np.zeros(n), np.zeros((n, n + p))
            qdot = np.zeros_like(q)
            last, slope, dq = np.zeros(n), np.zeros((n, n + p)), np.zeros_like(q)
            for place, weight in STAGES:
                here, moved, qs = x[k] + place * h * last, np.eye(n, n + p) + place * h * slope, q + place * h * dq
                out = self.motion.values(qs[None], here[None, f:], self.u[k][None], slopes=True)
                D = out["D"][0, :f]
                if not np.isfinite(D).all():
                    return None
                last = np.concatenate([here[f:], out["f"][0]])
                slope = np.concatenate([moved[f:], D[:, :n] @ moved])
                slope[f:, n:] += D[:, n:]
                dq = out["S"][0] @ here[f:]
                rate, change, qdot = rate + weight / 6.0 * last, change + weight / 6.0 * slope, qdot + weight / 6.0 * dq
            x[k + 1] = x[k] + h * rate
            A[k], B[k] = np.eye(n) + h * change[:, :n], h * change[:, n:]
            q = self.states._once((q + h * qdot)[None], x[k + 1][None, :f]).q[0]
        return _Horizon(x, A, B)

    def _improved(self, horizon: _Horizon, r: Array) -> Array:
        """Efforts of the quadratic program; those that a set which did not settle leaves outside their limits are put there."""
        n = 2 * len(self.coordinates)
        du = np.zeros_like(self.u)
        for self.sets in range(1, MOST_SETS + 1):
            du, pull = self._riccati(horizon, r[:, :n], r[:-1, n:])
            u = self.u + du
            held = self.active != 0
            active = np.where(~held & (u < self.low), -1, np.where(~held & (u > self.high), 1, self.active))
            active = np.where(held & (self.active * pull > 0.0), 0, active)
            settled = bool((active == self.active).all())
            self.active = active
            if settled:
                break
        return np.clip(self.u + du, self.low, self.high)

    def _riccati(self, horizon: _Horizon, r: Array, s: Array) -> tuple[Array, Array]:
        """Changes of the efforts with the active ones at their limits, and the derivative of the costs by every effort."""
        N, (x, A, B) = self.steps, (horizon.x, horizon.A, horizon.B)
        Q, R = np.diag(self.Q), np.diag(self.R)
        P, pull = Q.copy(), self.Q * (x[N] - r[N])
        gains: list[Any] = [None] * N
        ends = np.where(self.active < 0, self.low, self.high) - self.u
        for k in range(N - 1, -1, -1):
            uu, ux, xx = R + B[k].T @ P @ B[k], B[k].T @ P @ A[k], Q + A[k].T @ P @ A[k]
            gu, gx = self.R * (self.u[k] - s[k]) + B[k].T @ pull, self.Q * (x[k] - r[k]) + A[k].T @ pull
            free = self.active[k] == 0
            first, K = np.where(free, 0.0, ends[k]), np.zeros_like(ux)
            if free.any():
                F = np.ix_(free, free)
                first[free] = -np.linalg.solve(uu[F], gu[free] + (uu @ first)[free])
                K[free] = -np.linalg.solve(uu[F], ux[free])
            gains[k] = first, K, uu, ux, gu
            P = xx + K.T @ uu @ K + K.T @ ux + ux.T @ K
            pull = gx + K.T @ (uu @ first + gu) + ux.T @ first
        du, slopes, dx = np.zeros_like(self.u), np.zeros_like(self.u), np.zeros(x.shape[1])
        for k, (first, K, uu, ux, gu) in enumerate(gains):
            du[k] = first + K @ dx
            slopes[k] = gu + ux @ dx + uu @ du[k]
            dx = A[k] @ dx + B[k] @ du[k]
        return du, slopes

    # ---------------------------------------------------------------- references

    def reference_of(self, motion: OptimalMotion, t: float) -> Array:
        """Return the reference for a time of an optimal motion; after its end the drives hold the mechanism there."""
        f = len(self.coordinates)
        times = t + self.step * np.arange(self.steps + 1)
        out = np.zeros((len(times), 2 * f + len(self.drives)))
        for i, name in enumerate(self.coordinates):
            value, rate, _ = motion.drives[name].curve(np.clip(times, 0.0, motion.time))
            out[:, i], out[:, f + i] = value, np.where(times < motion.time, rate, 0.0)
        hold = self.holding(motion)
        for i, name in enumerate(self.drives):
            out[:, 2 * f + i] = np.where(times < motion.time, motion.efforts[name].value(times), hold[i])
        return out

    def holding(self, motion: OptimalMotion) -> Array:
        """Return the efforts of least squares that hold the mechanism at the end of a motion."""
        f, q = len(self.coordinates), motion.trajectory.q[-1:]
        found = self.motion.values(q, np.zeros((1, f)), np.zeros((1, len(self.drives))), slopes=True)
        return np.linalg.lstsq(found["D"][0, :f, 2 * f :], -found["f"][0], rcond=None)[0]

    # ---------------------------------------------------------------- C

    def c(self, name: str = "predictive") -> dict[str, str]:
        """Return header and source in C99 by file name: `NAME_tick` computes a sample without allocating memory."""
        if not name.isidentifier():
            raise UsageError(f"name begins the names of C functions, such as 'predictive', not {name!r}.", name="name", value=name)
        s = Sizes(name, len(self.q), len(self.coordinates), len(self.drives), self.steps, self.step)
        stride = self.states._stride
        model = {"model": self.motion.program, "closed": stride.program}
        constants = {"near": self.setting.core.kernels.defaults["near"]}
        codes = self.motion.c(f"{name}_model"), stride.c(f"{name}_closed")
        numbers = {"Q": self.Q, "R": self.R, "low": self.low, "high": self.high, "start": np.array(self.setting.start.q)}
        return {f"{name}.h": header(s, self.coordinates, self.drives), f"{name}.c": source(s, codes, model, constants, numbers)}

    def save(self, path: str | os.PathLike[str], *, sep: str | None = None, decimal: str | None = None) -> Path:
        """Write header and source; the ending .c or .h, others as tables."""
        where = Path(path)
        if where.suffix not in (".c", ".h"):
            return super().save(path, sep=sep, decimal=decimal)
        for file, text in self.c(where.stem).items():
            (where.parent / file).write_text(text, encoding="utf-8")
        return where

    def table(self) -> Table:
        """Return the weights of coordinates, speeds and efforts with the limits of the efforts, all in SI."""
        rotary = self.setting.rotary
        names = [*self.coordinates, *(f"{x}.v" for x in self.coordinates)]
        units = [("rad" if x else "m") for x in rotary] + [("rad/s" if x else "m/s") for x in rotary]
        rows: list[tuple[Any, ...]] = [(n, unit, w, None, None) for n, unit, w in zip(names, units, self.Q.tolist(), strict=True)]
        for name, *x in zip(self.drives, self.R.tolist(), self.low.tolist(), self.high.tolist(), strict=True):
            turns = self.setting.sample.dimension(name) == "angle"
            rows.append((f"{name}.{'torque' if turns else 'force'}", "N m" if turns else "N", *x))
        heads = [("quantity", ""), ("unit", ""), ("weight", ""), ("low", ""), ("high", "")]
        return Table.of(heads, rows, "predictive controller")

    def __repr__(self) -> str:
        return f"<PredictiveController: {self.steps} steps of {1e3 * self.step:g} ms, drives {', '.join(self.drives)}>"


def predictive(
    system: System, limits: Any, *, steps: int, step: Any, weights: Any, start: Any, drives: Any, coordinates: Any
) -> PredictiveController:
    """See `Mechanism.predictive`."""
    whole_number(steps, "steps", 2, LONGEST_HORIZON)
    h = quantity(step, KINDS["time"], "step")
    if not h > 0.0:
        raise UsageError(f"step must be longer than zero, not {step!r}.", name="step", value=step)
    setting = Setting.of(system, start, drives, coordinates)
    tree = setting.core.tree
    if tree.nq != tree.nv:
        raise UsageError(
            "predictive control needs joints with one speed per coordinate, so no ball joints and no floating bodies.", name="joints"
        )
    allowed = limits_of(setting, limits)
    n = 2 * len(setting.coordinates)
    others = [x.name for x in allowed.every if x.kind != "effort"]
    if others:
        raise UsageError(
            f"limits: predictive control limits efforts, and '{others[0]}' is none. A limit of a state couples all efforts before it, "
            "and a measured state beyond it leaves no solution. Limit it in the motion that is followed, with m.optimal.",
            name=others[0],
        )
    low, high = allowed.low[n:], allowed.high[n:]
    for name, a, b in zip(setting.drives, low, high, strict=True):
        if not np.isfinite([a, b]).all():
            raise UsageError(f"predictive control needs a limit of the effort of '{name}'.", name=name)
    motion = setting.core.kernels.coordinate_motion(setting.coordinates, setting.drives, {})
    motion.need_steady()
    names = [*setting.coordinates, *(f"{x}.v" for x in setting.coordinates)]
    size = np.maximum(np.abs(low), np.abs(high))
    Q = np.concatenate([1.0 / setting.sizes**2, (0.1 * steps * h / setting.sizes) ** 2])
    efforts = [x.channel for x in sorted(allowed.every, key=lambda x: setting.drives.index(x.channel.rsplit(".", 1)[0]))]
    values = dict(zip([*names, *efforts], [*Q.tolist(), *(1e-4 / size**2).tolist()], strict=True))
    values |= _weights(weights, values)
    put = (np.array([values[x] for x in some]) for some in (names, efforts))
    return PredictiveController(setting, motion, int(steps), h, *put, low, high)


def _weights(given: Any, known: Mapping[str, float]) -> dict[str, float]:
    """Weights that a caller gives, checked."""
    out: dict[str, float] = {}
    for key, value in (given or {}).items():
        name = str(key)
        if name not in known or not isinstance(value, (int, float)) or not value > 0.0:
            raise UsageError(f"weights are positive numbers by {', '.join(known)}, not {key!r}: {value!r}.", name=name, value=value)
        out[name] = float(value)
    return out

