"""Kalman filters on the loops, extended or iterated.

    prediction   y -> y' by native steps under held efforts,      F = W' (dy'/dy) T,  G = W' dy'/du,      P' = F P F' + G Q G'
    update       the state x of greatest probability:  c(x)' P^-1 c(x) + (z - h(x))' R^-1 (z - h(x))  least,
                 c(x) = W (y(x) - y_0) the coordinates of x around the prediction

By Gauss-Newton on the manifold: at x, c changes by C = W T(x) and h by H = h_y T(x), so that with Hc = H C^-1

    K = P Hc' (Hc P Hc' + R)^-1       c(next) = K (z - h(x) + Hc c(x))        P = (1 - K Hc) P (1 - K Hc)' + K R K'

The extended filter takes one step of it. Biases of sensors are further states, which move along straight lines of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.api import (
    KINDS,
    State,
    Trajectory,
    UsageError,
    calls_explained,
    channel_kinds,
    counted,
    degrees_of_freedom,
    errors,
    listing,
    nearest,
    quantity,
    records,
    sensors,
    state_errors,
)
from linkwright.properties import cached_property
from linkwright.rings.control.controller import Controller
from linkwright.rings.control.observability import Observability, observability

if TYPE_CHECKING:
    from linkwright.api import Compiled, System

METHODS = ("extended", "iterated")
ITERATIONS = 25  # of an update
SETTLED = 1e-12  # step of an update, in deviations (rad, or lengths over the size of the mechanism), after which it has arrived
FARTHEST = 0.5  # of one step of the iterated filter: rad, or sizes of the mechanism
LONGEST = np.pi  # change of a position by one update of the extended filter
HALVINGS = 12  # of a step that makes the readings less likely
NOT_ANOTHER = 1e-9  # share of a deviation that those named before must leave, for it to count as another
SAME_COST = 1e-12  # round-off of what is made least
SAME_SAMPLE = 1e-6  # of the time between samples


@dataclass
class Belief:
    """An estimate: a state on the loops with its chart, biases, and the covariance of deviations and biases."""

    chart: state_errors.Chart
    bias: np.ndarray
    P: np.ndarray

    @property
    def _at(self) -> state_errors.Placed:
        return self.chart.state


@calls_explained
class Estimator:
    """A Kalman filter of one mechanism: `estimate.step(tau, readings)` from sample to sample, `estimate.run(table)` over a table.

    `state` is the estimate, a State on the loops. `deviation(channel)` is the standard deviation of anything that can be read from it,
    `bias` has the offsets of sensors, `covariance` the matrix of all errors. `nis` and `nees(true)` test whether it is consistent.
    """

    def __init__(
        self,
        system: System,
        core: Compiled,
        read: Any,
        *,
        every: Any,
        disturbance: Any = None,
        start: State | None = None,
        uncertainty: Any = None,
        method: str = "extended",
        substeps: int = 1,
    ):
        self.system, self.core = system, core
        core.need_masses()
        if method not in METHODS:
            raise UsageError(f"method is extended or iterated, not {method!r:.40}.", name="method", value=method)
        if isinstance(substeps, bool) or not isinstance(substeps, int) or substeps < 1:
            raise UsageError(f"substeps is a whole number of one or more, not {substeps!r:.40}.", name="substeps", value=substeps)
        self.method, self.substeps, self.every = method, substeps, _seconds("every", every)
        self.readings: tuple[sensors.Reading, ...] = tuple(sensors.readings_of(read, core))
        self._readout = state_errors.Readout(core, {r.name: r.read for r in self.readings})
        self._deviations = np.concatenate([np.full(self._size(r), r.deviation) for r in self.readings])
        self._biased = np.concatenate([np.full(self._size(r), r.biased, dtype=bool) for r in self.readings])
        of_bias = [(r.bias, r.drift) for r in self.readings if r.biased for _ in range(self._size(r))]
        self._bias_start, self._drift = np.array(of_bias).reshape(-1, 2).T
        self._efforts = state_errors.Efforts(core)
        B, self._pushes = self._disturbed(disturbance)
        self._steps = state_errors.HeldSteps(core, B, substeps)
        self._others: dict[tuple[str, ...], state_errors.Readout] = {}
        core.need_start(core.start if start is None else start, (), True)
        self._start, self._uncertainty = core.start if start is None else start, uncertainty
        self.reset()

    def __repr__(self) -> str:
        n = self._belief.chart.n
        return (
            f"<Estimator ({self.method}) of {self.core.description.name!r}: {degrees_of_freedom(n)}, "
            f"{counted(self._readout.count, 'reading')} every {self.every:g} s, {counted(len(self._drift), 'bias', 'biases')}>"
        )

    # ---------------------------------------------------------------- the estimate

    @property
    def state(self) -> State:
        """Return the estimate, a state on the loops."""
        return self._steps.state(self._belief._at)

    @property
    def t(self) -> float:
        return self._belief._at.t

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of the errors: deviations of position, of velocity (see `basis`), then of biases."""
        return self._belief.P.copy()

    @property
    def basis(self) -> np.ndarray:
        """Motions (nv, degrees of freedom) along which errors are counted: a deviation x moves positions and velocities by `basis @ x`."""
        return self._belief.chart.S.copy()

    @property
    def bias(self) -> dict[str, float]:
        """Return the estimated offsets of the sensors that have them, by entry."""
        return dict(zip(self._bias_names, self._belief.bias.tolist(), strict=True))

    @property
    def bias_deviation(self) -> dict[str, float]:
        """Return the standard deviations of these offsets."""
        variances = np.diag(self._belief.P)[2 * self._belief.chart.n :]
        return dict(zip(self._bias_names, np.sqrt(np.maximum(variances, 0.0)).tolist(), strict=True))

    def deviation(self, channel: str, unit: str | None = None) -> float | np.ndarray:
        """Return the standard deviation of a channel of the estimate, `estimate.deviation("rocker.angle", "deg")`."""
        readout = self._readout_of((channel,))
        found = self._spread(readout)
        found = found[0] if readout.scalar[channel] else found
        return found if unit is None else found / channel_kinds.Channels(self.core.skel)[channel].size_of(unit)

    def reset(self, start: State | None = None, uncertainty: Any = None) -> None:
        """Begin again, at the first start or another one."""
        if start is not None:
            self.core.need_start(start, (), True)
            self._start = start
        if uncertainty is not None:
            self._uncertainty = uncertainty
        st = self._start
        at = self._steps.closed(st.q, st.v, st.t, self.core.packed_references(st))
        chart = self._steps.chart(at)
        if not chart.n:
            raise UsageError(
                "nothing can move here: the loops leave no degree of freedom (mobility 0), so there is nothing to estimate.",
                name="estimator",
            )
        m, b = 2 * chart.n, len(self._drift)
        P = np.zeros((m + b, m + b))
        P[:m, :m] = self._first_covariance(chart)
        P[m:, m:] = np.diag(self._bias_start**2)
        self._belief = Belief(chart, np.zeros(b), P)
        self._acceleration: tuple[np.ndarray, np.ndarray] | None = None
        self.nis: float = np.nan
        self.measured = 0

    # ---------------------------------------------------------------- online

    def step(self, tau: Any = None, readings: Mapping[str, Any] | None = None) -> State:
        """Predict the state after one sampling interval under held torques and forces, and correct it by readings.

        Parameters
        ----------
        tau : Mapping[str, Any] or array, optional
            Torques and forces by joint that acted since the last sample, or an array in the order of `names.v`. Zero by default.
        readings : Mapping[str, Any], optional
            Readings by name of a sensor: numbers in SI, texts with a unit, or arrays of several entries. Sensors that are left out, None or
            NaN were not read.

        Returns
        -------
        State
            The estimate, on the loops.

        Examples
        --------
        >>> estimate = lw.compile("wiper").estimator({"A": "0.1 deg"}, every="10 ms")
        >>> st = estimate.step({"A": "1 N m"}, {"A": "60.2 deg"})
        >>> round(float(st["A", "deg"]), 1)
        60.2
        """
        self.predict(tau)
        return self.update(readings)

    def predict(self, tau: Any = None, duration: Any = None) -> State:
        """Predict the state after one sampling interval, or another `duration`, under held torques and forces."""
        span = self.every if duration is None else _seconds("duration", duration)
        effort = self._efforts(tau)
        if not np.isfinite(effort).all():
            bad = [n for n, x in zip(self.core.kernels.entries["v"], effort, strict=True) if not np.isfinite(x)]
            raise UsageError(f"tau has entries that are not finite numbers: {listing(bad)}.", name="tau")
        now = self._belief
        found = self._steps.predicted(now._at, effort, span)
        chart = self._steps.chart(found.state)
        if chart.n != now.chart.n:
            raise errors.SingularityError(
                f"t = {found.state.t:.6g} s: the mechanism passes a singular position, in which its degrees of freedom change from "
                f"{now.chart.n} to {chart.n}. Errors of the estimate have no covariance there. Estimate on one side of it."
            )
        m, b = 2 * chart.n, len(self._drift)
        F, G = np.eye(m + b), chart.W @ found.by_effort * self._pushes
        F[:m, :m] = chart.W @ found.by_y @ now.chart.T
        P = F @ now.P @ F.T
        P[:m, :m] += G @ G.T
        P[m:, m:] += np.diag(self._drift**2 * span)
        self._belief = Belief(chart, now.bias, _symmetric(P))
        self._effort, self._acceleration = effort, None
        return self.state

    def update(self, readings: Mapping[str, Any] | None = None) -> State:
        """Correct the estimate by readings at its time."""
        z, rows = self._given(readings or {})
        self.nis, self.measured = np.nan, len(rows)
        if rows:
            self._corrected(z, rows)
        return self.state

    def _corrected(self, z: np.ndarray, rows: list[int]) -> None:
        prior, R = self._belief, self._deviations[rows] ** 2
        off, H = self._innovation(prior, z, rows)
        self.nis = float(off @ np.linalg.solve(H @ prior.P @ H.T + np.diag(R), off))
        if self.method == "extended":
            now = self._moved(prior, _gain(prior.P, H, R) @ off)
            C = self._transport(prior, now)
        else:
            now, C, H = self._most_probable(prior, z, rows, off, H)
        K = _gain(prior.P, H, R)
        left, back = np.eye(len(prior.P)) - K @ H, np.linalg.inv(C)
        now.P = _symmetric(back @ (left @ prior.P @ left.T + (K * R) @ K.T) @ back.T)
        self._belief = now

    def _most_probable(
        self, prior: Belief, z: np.ndarray, rows: list[int], off: np.ndarray, H: np.ndarray
    ) -> tuple[Belief, np.ndarray, np.ndarray]:
        """The state of greatest probability, C there, and the derivatives of its readings by coordinates around the prediction."""
        R, pinned = self._deviations[rows] ** 2, np.linalg.pinv(prior.P, hermitian=True)
        now, c, C = prior, np.zeros(len(prior.P)), np.eye(len(prior.P))
        for _ in range(ITERATIONS):
            Hc = np.linalg.solve(C.T, H.T).T
            way = np.linalg.solve(C, _gain(prior.P, Hc, R) @ (off + Hc @ c) - c)
            way = way / max(1.0, self._length(now, way) / FARTHEST)
            most = (c @ pinned @ c + off @ (off / R)) * (1.0 + SAME_COST)
            after = self._moved(now, way)
            for _ in range(HALVINGS):
                c = np.concatenate([prior.chart.of(after._at, self._steps.quaternions), after.bias - prior.bias])
                off, H = self._innovation(after, z, rows)
                if c @ pinned @ c + off @ (off / R) <= most:
                    break
                way = 0.5 * way
                after = self._moved(now, way)
            now, C = after, self._transport(prior, after)
            if np.abs(way).max(initial=0.0) < SETTLED:
                break
        return now, C, np.linalg.solve(C.T, H.T).T

    def _moved(self, now: Belief, way: np.ndarray) -> Belief:
        m, size = 2 * now.chart.n, self._length(now, way)
        if not size <= LONGEST:
            raise errors.SimulationError(
                f"t = {now._at.t:.6g} s: the readings ask for a correction by {size:.3g} (rad, or sizes of the mechanism) at once, so the "
                "filter is lost. Look at units and signs of the readings, at uncertainty= and at the standard deviations of the sensors.",
                name="estimator",
            )
        chart = self._steps.chart(self._steps.moved(now.chart, way[:m]))
        if chart.n != now.chart.n:
            raise errors.SingularityError(
                f"t = {now._at.t:.6g} s: the readings put the mechanism into a singular position. Errors have no covariance there."
            )
        return Belief(chart, now.bias + way[m:], now.P)

    def _length(self, now: Belief, way: np.ndarray) -> float:
        """The largest change of a position, in rad or of the mechanism's size."""
        return float(np.abs(now.chart.S @ way[: now.chart.n] / now.chart.columns).max(initial=0.0))

    def _transport(self, prior: Belief, now: Belief) -> np.ndarray:
        """C: coordinates around the prediction per deviation from another state."""
        C, m = np.eye(len(prior.P)), 2 * prior.chart.n
        C[:m, :m] = prior.chart.W @ now.chart.T
        return C

    def _expected(self, now: Belief, rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Readings of an estimate, and their derivatives by deviations and biases."""
        at, nv = now._at, len(now._at.v)
        a, by_y = np.zeros(nv), None
        if self._readout.reads_accelerations:
            a, by_y = self._steps.accelerations(at, self._effort)
        found = self._readout(at.q, at.v, a, at.t, at.near)
        by = np.concatenate([found.by_q, found.by_v], axis=1)
        if by_y is not None:
            by = by + found.by_a @ by_y
        value, H = found.value.copy(), np.concatenate([by @ now.chart.T, np.zeros((len(by), len(now.bias)))], axis=1)
        value[self._biased] += now.bias
        H[np.flatnonzero(self._biased), 2 * now.chart.n + np.arange(len(now.bias))] = 1.0
        return value[rows], H[rows]

    def _innovation(self, now: Belief, z: np.ndarray, rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Readings minus those of an estimate, and the derivatives of the latter. Of angles within a turn the shorter way round counts."""
        h, H = self._expected(now, rows)
        off, winding = z - h, self._winds[rows]
        off[winding] = np.arctan2(np.sin(off[winding]), np.cos(off[winding]))
        return off, H

    # ---------------------------------------------------------------- tests of consistency

    def nees(self, true: State, bias: Mapping[str, float] | None = None) -> float:
        """Return the squared error against the true state, normalized by the covariance: on average as large as the number of errors.

        `bias` gives the true offsets by entry, whose errors then count as well.
        """
        self.core.need_state(true)
        if true.skel is not self.core.skel:
            self.core.need_closed(true, most=np.inf)
        e, P = self._belief.chart.of(self._steps.placed(true), self._steps.quaternions), self._belief.P
        if bias is not None:
            missing = [n for n in self._bias_names if n not in bias]
            if missing:
                raise UsageError(f"bias: the true offset of '{missing[0]}' is missing.", name=missing[0])
            e = np.concatenate([e, [float(bias[n]) - self.bias[n] for n in self._bias_names]])
        return float(e @ np.linalg.lstsq(P[: len(e), : len(e)], e, rcond=None)[0])

    def observability(self, samples: int | None = None) -> Observability:
        """Return the motions and biases that the sensors do not show from here on, named, by the rank of exact derivatives.

        `samples` is the number of samples that are looked at. By default four for each state.
        """
        if samples is not None and (isinstance(samples, bool) or not isinstance(samples, int) or samples < 1):
            raise UsageError(f"samples is a whole number of one or more, not {samples!r:.40}.", name="samples", value=samples)
        now, rows = self._belief, list(range(self._readout.count))
        m, b = 2 * now.chart.n, len(now.bias)
        blocks, F, first = [], np.eye(m + b), now
        for k in range(4 * (m + b) if samples is None else samples):
            if k:
                found = self._steps.predicted(now._at, self._effort, self.every)
                chart = self._steps.chart(found.state)
                if chart.n != now.chart.n:
                    break
                one = np.eye(m + b)
                one[:m, :m] = chart.W @ found.by_y @ now.chart.T
                now, F = Belief(chart, now.bias, now.P), one @ F
            blocks.append(self._expected(now, rows)[1] @ F / self._deviations[:, None])
        return observability(np.concatenate(blocks), first.chart, self.core, self._bias_names)

    # ---------------------------------------------------------------- over a table

    def simulated_readings(self, run: Trajectory, *, seed: int = 0, bias: Mapping[str, float] | None = None) -> dict[str, np.ndarray]:
        """Return what the sensors would read in a motion, with their noise: a table for `run`, with "t" and one array per sensor.

        Parameters
        ----------
        run : Trajectory
            A motion of this mechanism, read at samples `every` apart.
        seed : int, default 0
            Random seed of the noise. Each sensor has its own deviates.
        bias : Mapping[str, float], optional
            True offsets by entry, in SI.

        Returns
        -------
        dict[str, numpy.ndarray]
            Times and readings, in SI.
        """
        self._need_motion(run)
        t = np.arange(round((run.t[-1] - run.t[0]) / self.every * (1.0 + SAME_SAMPLE) - 0.5) + 1) * self.every + run.t[0]
        samples = run.at(t)
        near = records.cut_rows(samples.skel, samples.references)
        clean = np.array([self._readout(*x).value for x in zip(samples.q, samples.v, samples.a, t, near, strict=True)])
        true = bias or {}
        unknown = [n for n in true if n not in self._bias_names]
        if unknown:
            raise UsageError(f"bias: '{unknown[0]}' is not an offset here.", nearest(str(unknown[0]), self._bias_names, "Offsets"))
        clean[:, self._biased] += np.array([float(true.get(n, 0.0)) for n in self._bias_names])
        noisy = clean + self._deviations * np.random.default_rng(seed).standard_normal(clean.shape)
        return {"t": t, **{r.name: self._shaped(noisy, r) for r in self.readings}}

    def run(
        self,
        table: Mapping[str, Any] | Trajectory,
        tau: Mapping[str, Any] | Callable[[float], Any] | None = None,
        *,
        channels: Sequence[str] | None = None,
    ) -> Trajectory:
        """Estimate a whole motion from a table of readings, from the start of the estimator on.

        Parameters
        ----------
        table : Mapping[str, array] or Trajectory
            Times "t" and the readings of sensors by name, in SI. NaN was not read. A Trajectory is read without noise.
        tau : Mapping[str, array] or Callable, optional
            Torques and forces by joint, one for each time or constant, which are held until the next time, or a function of t that returns
            them. By default the recorded ones of a Trajectory, else none.
        channels : sequence of str, optional
            Channels whose standard deviations are recorded. By default all coordinates and speeds of joints.

        Returns
        -------
        Trajectory
            The estimated motion, with standard deviations as channels such as `run["A.deviation"]`, offsets such as
            `run["trunk.gyro.z.bias"]`, and `run["nis"]`.
        """
        t, given = self._table(table)
        efforts = self._efforts_over(t, tau if tau is not None or not isinstance(table, Trajectory) else _acted(table))
        names = tuple(self._coordinates if channels is None else channels)
        readout = self._readout_of(names)
        self.reset(State(self._start.skel, self._start.q, self._start.v, self._start.references, float(t[0])))
        rows: list[tuple[np.ndarray, ...]] = []
        references = []
        for k, time in enumerate(t):
            if k:
                self.predict(efforts(k - 1), float(time - t[k - 1]))
            self.update({name: values[k] for name, values in given.items()})
            at = self._belief._at
            a = self._steps.accelerations(at, self._efforts(efforts(k)))[0]
            rows.append((at.q, at.v, a, self._spread(readout), self._belief.bias, self._bias_spread, np.array([self.nis])))
            references.append(dict(self.state.references))
        q, v, a, spread, bias, bias_spread, nis = (np.array(x) for x in zip(*rows, strict=True))
        columns = self._columns(names, readout, spread) | {"nis": records.Column(nis[:, 0], "none")}
        for i, (name, dimension) in enumerate(zip(self._bias_names, self._bias_dimensions, strict=True)):
            columns[f"{name}.bias"] = records.Column(bias[:, i], dimension)
            columns[f"{name}.bias.deviation"] = records.Column(bias_spread[:, i], dimension)
        notes = (f"estimated by the {self.method} Kalman filter from {listing(r.name for r in self.readings)}",)
        return Trajectory(self.core.skel, t, q, v, a, references, notes=notes, system=self.system, columns=columns)

    def law(self, control: Callable[[float, State], Any] | Controller, *, seed: int = 0) -> Callable[[float, State], Any]:
        """Return a function for `lw.control.control_law(..., every=...)` that gives a controller the estimate in place of the true state.

        Parameters
        ----------
        control : Callable
            A function of time and state that returns torques and forces by joint, or a controller of `s.control(...)`.
        seed : int, default 0
            Random seed of the noise of the sensors.

        Returns
        -------
        Callable
            It reads the sensors of the true state with their noise, once per sample, and steps the estimator. It begins at its first call.
        """
        deviates, first = np.random.default_rng(seed), True
        given: Any = None

        def acting(t: float, st: State) -> Any:
            nonlocal first, given
            if first:
                self.reset(self._start)
            else:
                self.predict(given)
            first = False
            at = replace(self._steps.placed(st), t=float(t))
            a = self._steps.accelerations(at, self._effort)[0] if self._readout.reads_accelerations else np.zeros(len(at.v))
            seen = self._readout(at.q, at.v, a, at.t, at.near).value
            seen = seen + self._deviations * deviates.standard_normal(len(seen))
            self.update({r.name: self._shaped(seen[None], r)[0] for r in self.readings})
            given = control(self.state, t) if isinstance(control, Controller) else control(t, self.state)
            return given

        return acting

    # ---------------------------------------------------------------- what was written

    def _size(self, r: sensors.Reading) -> int:
        span = self._readout.spans[r.name]
        return span.stop - span.start

    def _shaped(self, values: np.ndarray, r: sensors.Reading) -> np.ndarray:
        span = self._readout.spans[r.name]
        return values[:, span.start] if self._readout.scalar[r.name] else values[:, span]

    @property
    def _entries(self) -> list[tuple[str, sensors.Reading]]:
        """Names of all entries of the readings."""
        axes = self.core.description.plane or "xyz"
        out = []
        for r in self.readings:
            size = self._size(r)
            turning = r.dimension == "angular speed" and size == 1 and not self._readout.scalar[r.name]
            letters = "z" if turning else axes if size <= len(axes) else [str(i) for i in range(size)]
            out += [(r.name if self._readout.scalar[r.name] else f"{r.name}.{letters[i]}", r) for i in range(size)]
        return out

    @cached_property
    def _bias_names(self) -> tuple[str, ...]:
        return tuple(name for name, r in self._entries if r.biased)

    @property
    def _bias_dimensions(self) -> tuple[str, ...]:
        return tuple(r.dimension for _, r in self._entries if r.biased)

    @property
    def _bias_spread(self) -> np.ndarray:
        return np.array(list(self.bias_deviation.values()))

    @cached_property
    def _winds(self) -> np.ndarray:
        """True of readings of angles that begin again after a turn."""
        table = channel_kinds.Channels(self.core.skel)
        return np.array([r.name in table and table[r.name].winds is not None for r in self.readings for _ in range(self._size(r))])

    def _disturbed(self, given: Any) -> tuple[np.ndarray, np.ndarray]:
        """Columns of unknown torques and forces, and their standard deviations."""
        nv = self.core.tree.nv
        self._effort = np.zeros(nv)
        if given is None:
            return np.zeros((nv, 0)), np.zeros(0)
        if not isinstance(given, Mapping):
            raise UsageError(
                "disturbance is a dict by joint of the standard deviation of an unknown torque or force: {'A': '0.2 N m'}, not "
                f"{type(given).__name__}.",
                name="disturbance",
                value=given,
            )
        sizes = self._efforts(given)
        for name, x in zip(self._efforts.names, sizes, strict=True):
            if not (np.isfinite(x) and x >= 0.0):
                raise UsageError(f"disturbance: the standard deviation of '{name}' is {x:g}. It must be zero or more.", name=name, value=x)
        chosen = np.flatnonzero(sizes)
        return np.eye(nv)[:, chosen], sizes[chosen]

    def _first_covariance(self, chart: state_errors.Chart) -> np.ndarray:
        """Covariance of the deviations at the start."""
        given, n, columns = self._uncertainty, chart.n, self.core.loops.columns
        if isinstance(given, Mapping):
            return self._named_covariance(chart, given)
        if given is not None and not isinstance(given, sensors.Noise):
            raise UsageError(
                "uncertainty is a dict by channel, {'A': '10 deg', 'A.v': '1 rad/s'}, or lw.control.noise(angle='10 deg', ...) for all "
                f"joints, not {type(given).__name__}.",
                name="uncertainty",
                value=given,
            )
        kinds = self._steps.kinds
        kappa = self.core.loops.kappa
        every = (0.1, 0.1 * kappa, 1.0, kappa) if given is None else (given.angle, given.length, given.angular_speed, given.speed)
        first = np.array([every[0] if k == "angle" else every[1] for k in kinds]) / columns
        second = np.array([every[2] if k == "angle" else every[3] for k in kinds]) / columns
        unit = chart.S / columns[:, None]
        P = np.zeros((2 * n, 2 * n))
        P[:n, :n], P[n:, n:] = (unit.T * first**2) @ unit, (unit.T * second**2) @ unit
        return P

    def _named_covariance(self, chart: state_errors.Chart, given: Mapping[str, Any]) -> np.ndarray:
        names = tuple(str(x) for x in given)
        readout, at = self._readout_of(names), chart.state
        if any(not readout.scalar[n] for n in names):
            bad = next(n for n in names if not readout.scalar[n])
            raise UsageError(f"uncertainty: '{bad}' has several components. Name single ones.", name=bad)
        found = readout(at.q, at.v, np.zeros(len(at.v)), at.t, at.near)
        E = np.concatenate([found.by_q, found.by_v], axis=1) @ chart.T
        table, sizes = channel_kinds.Channels(self.core.skel), []
        for name, value in given.items():
            size = float(quantity(value, KINDS[table[str(name)].dimension], f"uncertainty of '{name}'"))
            if not (np.isfinite(size) and size >= 0.0):
                raise UsageError(f"uncertainty of '{name}' is {size:g}. It must be zero or more.", name=str(name), value=size)
            sizes.append(size)
        E_unit = E / np.maximum(np.abs(E).max(axis=1, keepdims=True), 1e-300)
        rank = np.linalg.matrix_rank(E_unit, NOT_ANOTHER) if len(E) else 0
        if len(E) != 2 * chart.n or rank < len(E):
            raise UsageError(
                f"uncertainty: {listing(names) or 'nothing'} {'does' if len(names) == 1 else 'do'} not determine the state. With "
                f"{degrees_of_freedom(chart.n)}, {counted(2 * chart.n, 'value')} are needed that are independent, as many speeds as "
                "positions: {'A': '10 deg', 'A.v': '1 rad/s'}. lw.control.noise(angle=..., angular_speed=...) is for all joints.",
                name="uncertainty",
            )
        back = np.linalg.inv(E)
        return (back * np.array(sizes) ** 2) @ back.T

    def _readout_of(self, names: tuple[str, ...]) -> state_errors.Readout:
        if names not in self._others:
            table = channel_kinds.Channels(self.core.skel)
            self._others[names] = state_errors.Readout(self.core, {n: table[n].read for n in names})
        return self._others[names]

    def _spread(self, readout: state_errors.Readout) -> np.ndarray:
        """Standard deviations of values of the estimate."""
        now = self._belief
        at = now._at
        a, by_a = np.zeros(len(at.v)), np.zeros((len(at.v), len(at.y)))
        if readout.reads_accelerations:
            a, by_a = self._steps.accelerations(at, self._effort)
        found = readout(at.q, at.v, a, at.t, at.near)
        rows = (np.concatenate([found.by_q, found.by_v], axis=1) + found.by_a @ by_a) @ now.chart.T
        m = 2 * now.chart.n
        return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, now.P[:m, :m], rows), 0.0))

    @property
    def _coordinates(self) -> list[str]:
        """Coordinates and speeds of joints and cylinders."""
        table = channel_kinds.Channels(self.core.skel)
        joints = {j.name for j in self.core.description.joints} | {f"{b}.free" for b in self.core.tree.floating}
        mine = [n for n in table.names if (n in joints or n.rpartition(".")[0] in joints) and f"{n}.v" in table]
        single = [n for n in mine if table[n].dimension in ("angle", "length")]
        return [x for n in single for x in (n, f"{n}.v")]

    def _columns(self, names: Sequence[str], readout: state_errors.Readout, spread: np.ndarray) -> dict[str, Any]:
        table, out = channel_kinds.Channels(self.core.skel), {}
        for name in names:
            values = spread[:, readout.spans[name]]
            out[f"{name}.deviation"] = records.Column(values[:, 0] if readout.scalar[name] else values, table[name].dimension)
        return out

    def _given(self, readings: Mapping[str, Any]) -> tuple[np.ndarray, list[int]]:
        """Readings that were given, in SI, and which entries they are."""
        if not isinstance(readings, Mapping):
            raise UsageError(f"readings is a dict by sensor: {{'A': 0.31}}, not {type(readings).__name__}.", name="readings")
        z, rows, names = np.full(self._readout.count, np.nan), [], [r.name for r in self.readings]
        for name, value in readings.items():
            if name not in names:
                raise UsageError(f"readings: there is no sensor '{name}' here.", nearest(str(name), names, "Sensors"))
            if value is None:
                continue
            r, span = self.readings[names.index(name)], self._readout.spans[name]
            if isinstance(value, str):
                value = quantity(value, KINDS[r.dimension], f"the reading of '{name}'")
            try:
                x = np.asarray(value, dtype=float).ravel()
            except (TypeError, ValueError):
                x = np.zeros(0)
            if len(x) != span.stop - span.start or np.isinf(x).any():
                raise UsageError(
                    f"the reading of '{name}' is {counted(span.stop - span.start, 'finite number')}, NaN if nothing was read, not "
                    f"{value!r:.60}.",
                    name=name,
                    value=value,
                )
            z[span] = x
        rows = [int(i) for i in np.flatnonzero(np.isfinite(z))]
        return z[rows], rows

    def _need_motion(self, run: Any) -> None:
        if not isinstance(run, Trajectory) or run.skel.tree.nq != self.core.tree.nq or len(run) < 2:
            raise UsageError("a motion of this mechanism with two samples or more is needed: m.simulate(...).", name="run", value=run)

    def _table(self, table: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Times, and readings by sensor."""
        if isinstance(table, Trajectory):
            self._need_motion(table)
            near = records.cut_rows(table.skel, table.references)
            clean = np.array([self._readout(*x).value for x in zip(table.q, table.v, table.a, table.t, near, strict=True)])
            return np.array(table.t), {r.name: self._shaped(clean, r) for r in self.readings}
        if not isinstance(table, Mapping) or "t" not in table:
            raise UsageError(
                "a table of readings is a dict of arrays with the times 't' and one array per sensor, or a Trajectory.", name="table"
            )
        try:
            t = np.asarray(table["t"], dtype=float)
        except (TypeError, ValueError):
            t = np.zeros(0)
        if t.ndim != 1 or not len(t) or not np.isfinite(t).all() or not (np.diff(t) > 0.0).all():
            raise UsageError("the times 't' of a table are increasing, finite numbers in seconds.", name="t")
        names, out = [r.name for r in self.readings], {}
        for name in names:
            if name in table:
                values = np.asarray(table[name])
                if len(np.atleast_1d(values)) != len(t):
                    raise UsageError(f"'{name}' of the table has {counted(len(values), 'row')} for {counted(len(t), 'time')}.", name=name)
                out[name] = values
        if not out:
            raise UsageError(f"the table has none of the sensors {listing(names)}.", name="table", allowed=names)
        return t, out

    def _efforts_over(self, t: np.ndarray, tau: Any) -> Callable[[int], Any]:
        """Efforts held from a sample on."""
        if callable(tau):
            return lambda k: tau(float(t[k]))
        if tau is None or not isinstance(tau, Mapping):
            return lambda k: tau
        for name, x in tau.items():
            if not isinstance(x, str) and np.ndim(x) and len(x) != len(t):
                raise UsageError(f"tau: '{name}' has {counted(len(x), 'value')} for {counted(len(t), 'time')}.", name=str(name))
        return lambda k: {name: x if isinstance(x, str) or not np.ndim(x) else float(x[k]) for name, x in tau.items()}


def _seconds(name: str, given: Any) -> float:
    """A time above zero."""
    found = float(quantity(given, KINDS["time"], name))
    if not 0.0 < found < np.inf:
        raise UsageError(f"{name} is a time above zero, not {given!r:.40}.", name=name, value=given)
    return found


def _acted(run: Trajectory) -> dict[str, np.ndarray]:
    """Torques and forces that were recorded in a run."""
    efforts, _ = records.acting(run.skel, run.columns)
    return {name: np.asarray(x, dtype=float) for name, x in efforts.items()}


def _gain(P: np.ndarray, H: np.ndarray, R: np.ndarray) -> np.ndarray:
    return np.linalg.solve(H @ P @ H.T + np.diag(R), H @ P).T


def _symmetric(P: np.ndarray) -> np.ndarray:
    return 0.5 * (P + P.T)
