"""Exact derivatives of measures of a motion by parameters of the model.

Compiled derivatives (`c.derivatives`) come first, all numbers at once. Loads that friction or spinning links decide have none of
them. There each number gets an imaginary step (`derivatives.Disturbed`) at the samples that the measure depends on, and the rest
follows from `Measure.slopes`. A peak is differentiated where it is: its drive angle may shift without changing it to first order.

`Disturbed` gives exact derivatives of efforts and reactions at fixed drive coordinates. Compiled derivatives (`motion.cycle_derivatives`)
need determinate loads without friction; `Disturbed` is the path of every other mechanism, one parameter at a time. The parameters of
the model get an imaginary step i h.
Position, velocity and acceleration follow to first order from the loops and the drives (implicit functions, with the real, factored
Jacobian of the undisturbed state),

    dq = -J^+ d phi        dv = -J^+ d(J v + b)        da = -J^+ d(J a + k)        dz = [J' B]^+ d(g - [J' B] z)

each right side by the imaginary part of the terms' own formulas. h is so small that h^2 vanishes beside 1: no differences
are taken, the result is exact to round-off. What comes out is a `Loads` of complex numbers whose imaginary parts are h
times the derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import (
    Description,
    Instant,
    LinkwrightError,
    Measure,
    Parameter,
    State,
    System,
    Trajectory,
    UsageError,
    channel_kinds,
    compiled_of,
    curve_lines,
    description,
    elements,
    equation_terms,
    every_parameter,
    factor,
    forces,
    inverse,
    kinematics,
    linalg,
    load_channels,
    loop_constraints,
    motion_checks,
    spanning_tree,
    tolerances,
)
from linkwright.api import cycles as cycle
from linkwright.mechanics.inverse.problem import InverseProblem, unit_pushes
from linkwright.motion.cycle_derivatives import SAME_SPEED, drive_motion
from linkwright.properties import cached_property
from linkwright.results.channels.derivatives import refused

SINGULAR = 1e-4  # dimensionless singular value: below it positions hardly depend smoothly on dimensions any more


class Locks(UsageError):
    """A change of this number leaves the loops no way to close."""


@dataclass(frozen=True)
class Sample:
    """An instant of a cycle with its loads; `laws` are where each drive is and how fast it goes."""

    system: System
    at: Instant
    laws: Mapping[str, curve_lines.Parabola]

    @cached_property
    def loads(self) -> inverse.Loads:
        return self.system.inverse(State.of(self.at), self.at.a, drives=list(self.laws), method="system")

    @cached_property
    def tied(self) -> tuple[loop_constraints.Loops, linalg.Factored]:
        """The loops with the drives held, and their factored Jacobian."""
        loops = compiled_of(self.system).loops.with_([cycle.driven(self.system.description, name, law) for name, law in self.laws.items()])
        return loops, loops.factored(loops.at(self.at.q, self.at.v, self.at.t, self.at.references))

    def follow(self, right: np.ndarray, parameter: str) -> np.ndarray:
        """-J^+ right: how the coordinates follow a disturbance of the constraints."""
        loops, f = self.tied
        scaled = right / loops.row_scale
        if not np.any(scaled):
            return np.zeros(len(self.at.v))
        if np.abs(f.left_null.T @ scaled).max(initial=0.0) > tolerances.LOOP_CHANGE * np.abs(scaled).max():
            raise Locks(f"'{parameter}' cannot vary alone: the loops are redundant and would no longer close.", name=parameter)
        if f.s[f.rank - 1] < SINGULAR:
            raise Locks(f"'{parameter}' has no derivative here: the mechanism is in a singular position.", name=parameter)
        return -f.solve(scaled) * loops.columns


class Disturbed:
    """A system with an imaginary step in one parameter; `loads(sample)` gives complex loads there."""

    def __init__(self, system: System, parameter: Parameter):
        self.system, self.parameter = system, parameter
        self.description = parameter.stepped(1j * tolerances.COMPLEX_STEP)
        _check_wheels(self.description, parameter.name)
        self.skel = kinematics.skeleton(spanning_tree.rebind(system.tree, self.description))
        self.loops = loop_constraints.Loops(
            self.skel, loop_constraints.of_loops(self.skel), compiled_of(system).loops.kappa, compiled_of(system).loops.columns
        )
        self.forces = forces.of_description(self.description)

    def loads(self, x: Sample) -> inverse.Loads:
        q, v, a = self._moved(x) if self.parameter.geometry else (x.at.q + 0j, x.at.v + 0j, x.loads.problem.a + 0j)
        rub = inverse.load_friction(x.loads)
        if not rub:
            return self._once(x, q, v, a, [])
        for _ in range(inverse.FRICTION_ROUNDS):  # contracts like the fixed point of the loads themselves
            loads = self._once(x, q, v, a, rub)
            old, rub = rub, inverse.load_friction(loads)
            gap = max(float(np.abs(np.imag(x[1] - y[1])).max()) for x, y in zip(rub, old, strict=True))
            if gap <= 1e-13 * tolerances.COMPLEX_STEP * (
                1.0 + max(float(np.abs(np.imag(x[1])).max()) / tolerances.COMPLEX_STEP for x in rub)
            ):
                return loads
        raise UsageError("the derivative with friction by load does not settle: the joints are near jamming.")

    def _moved(self, x: Sample) -> tuple[Any, Any, Any]:
        """(q, v, a) that keep the loops closed and the drives where they are."""
        laws = {name: self.law(name, law) for name, law in x.laws.items()}
        tied = self.loops.with_([cycle.driven(self.description, name, law) for name, law in laws.items()])
        name, ih = self.parameter.name, 1j * tolerances.COMPLEX_STEP
        v0 = x.at.v + 0j
        phi = tied.at(x.at.q + 0j, v0, x.at.t, x.at.references).phi
        q = kinematics.displaced(self.skel, x.at.q, ih * x.follow(np.imag(phi) / tolerances.COMPLEX_STEP, name))
        c = tied.at(q, v0, x.at.t, x.at.references)
        v = x.at.v + ih * x.follow(np.imag(c.J @ x.at.v + c.b) / tolerances.COMPLEX_STEP, name)
        c = tied.at(q, v, x.at.t, x.at.references)
        a = x.loads.problem.a
        return q, v, a + ih * x.follow(np.imag(c.J @ a + c.k) / tolerances.COMPLEX_STEP, name)

    def law(self, name: str, law: curve_lines.Parabola) -> curve_lines.Parabola:
        """The same drive where its speed is written with the parameter."""
        drive = next((d for d in self.description.drives if d.joint == name), None)
        if drive is None or not _is_stepped(drive):
            return law
        if drive.kind != "speed":
            raise UsageError(
                f"the program of drive '{name}' is written with '{self.parameter.name}'. Derivatives are taken at a fixed "
                "motion of the drives, only a constant speed may vary.",
                name=name,
            )
        own = abs(law.df - np.real(drive.value)) <= SAME_SPEED * abs(law.df)  # a speed that the caller gave does not vary
        return replace(law, df=drive.value) if own else law

    def _once(self, x: Sample, q: Any, v: Any, a: Any, rub: Sequence[tuple[int, Any]]) -> inverse.Loads:
        m = Instant(self.skel, q, v, x.at.t, x.at.references)
        applied = m.pushes(self.forces)
        T = equation_terms.terms(self.loops, q, v, x.at.t, x.at.references, [*applied, *rub])
        assert T.place is not None
        real = x.loads
        p = InverseProblem(T, T.place, a, real.problem.drives, unit_pushes(self.description, m, real.problem.drives))
        z = np.concatenate([real.lam_all, real.u])
        right = np.imag(p.g - T.J.T @ real.lam_all - p.B @ real.u) / tolerances.COMPLEX_STEP
        c, r = real.problem.scales
        spin = _spin(real.problem, right)
        if np.any(spin):
            right, p = right + real.problem.terms.M @ spin, replace(p, a=a + 1j * tolerances.COMPLEX_STEP * spin)
        z = z + 1j * tolerances.COMPLEX_STEP * (real.problem.factors.solve(right * c) / r)
        nc = T.nc
        outside = tuple(m.pushes(f for f in self.forces if f.from_outside))
        return inverse.Loads(p, z[:nc], z[nc:], np.zeros((len(z), 0)), real.solved, real.method, outside)


def _spin(p: InverseProblem, right: np.ndarray) -> np.ndarray:
    """Accelerations of idle degrees of freedom (a rod between ball joints), which no drive determines."""
    N = p.scales[0][:, None] * p.factors.left_null
    if not N.shape[1]:
        return np.zeros(len(right))
    K = N.T @ p.terms.M @ N
    return -N @ factor(K, 1e-12 * max(1e-300, float(np.abs(K).max()))).solve(N.T @ right)


def _stepped(x: Any) -> bool:
    """Does the imaginary step reach this number, or one of these?"""
    if isinstance(x, tuple):
        return any(_stepped(y) for y in x)
    return isinstance(x, complex) and x.imag != 0.0


def _is_stepped(drive: description.Drive) -> bool:
    return _stepped((drive.value, tuple((move.span, move.to) for move in drive.moves)))


def _check_wheels(d: Description, parameter: str) -> None:
    """Meshing wheels touch by their data: neither radii nor the distance of centers can vary alone."""
    for g in (x for x in elements.constraints(d) if x.touching):
        pair = [d.joint(name) for name in g.joints]
        frames = tuple(f for j in pair for f in (*j.frame_first.at, *j.frame_second.at))
        if _stepped((*(radius for _, radius in g.wheels), *frames)):
            raise Locks(f"'{parameter}' cannot vary alone: it moves or changes the wheels of {g.word} '{g.name}'.", name=parameter)


def _check_wheels_apart(known: Mapping[str, Parameter], name: str) -> None:
    """The same of a mechanism with a step in one of its numbers."""
    if name in known:
        _check_wheels(known[name].stepped(1j * tolerances.COMPLEX_STEP), name)


@dataclass(frozen=True)
class MeasureSlopes:
    """Derivatives (measures, numbers), NaN where there is none, and the reason by number."""

    values: np.ndarray
    why: Mapping[str, str]


def measure_slopes(c: Trajectory, measures: Sequence[Measure], names: Sequence[str]) -> MeasureSlopes:
    """Derivatives of measures of a cycle by the numbers with these names."""
    found, why = np.full((len(measures), len(names)), np.nan), dict[str, str]()
    d, known = None, every_parameter(compiled_of(c.system).described) if c.system is not None else {}
    with suppress(LinkwrightError):  # of a number that cannot vary alone: each by itself below
        for name in names:
            _check_wheels_apart(known, name)
        d = c.derivatives(list(names))
    for k, m in enumerate(measures):
        undefined: list[str] = []
        with suppress(LinkwrightError):  # of a channel that has none
            if d is not None:
                found[k] = m.slopes(c, d)
                if not np.isfinite(found[k]).all():
                    undefined = [text for i, text in d.undefined(m.channel).items() if i not in d.why]
        left = np.flatnonzero(~np.isfinite(found[k]))
        if undefined:
            why.update({names[i]: undefined[0] for i in left})
        elif len(left):
            why.update(_one_by_one(c, m, names, left, found[k]))
    return MeasureSlopes(found, why)


def _one_by_one(c: Trajectory, m: Measure, names: Sequence[str], left: np.ndarray, out: np.ndarray) -> dict[str, str]:
    """Write derivatives by single numbers; return the reasons where there are none."""
    loads = motion_checks.measured_loads_check(c, [m.channel])
    if loads is not None and not loads:  # the least-norm solution of loads that are shared has no derivative of its own
        return {names[i]: loads.text for i in left}
    assert c.system is not None
    known, why = every_parameter(compiled_of(c.system).described), dict[str, str]()
    imaginary = c.drives and c.proof is None and not c._channel(m.channel).needs
    samples = cycle_samples(c, _used(c, m)) if imaginary else {}
    for i in left:
        try:
            _check_wheels_apart(known, names[i])
            d: Any = DisturbedSamples(c, known[names[i]], samples) if imaginary else c.derivatives([names[i]])
            out[i] = float(m.slopes(c, d)[0])
            if not np.isfinite(out[i]):
                why[names[i]] = next(iter(d.undefined(m.channel).values()), f"'{m.text}' has no derivative by it")
        except LinkwrightError as problem:
            why[names[i]] = str(problem)
    return why


def _used(c: Trajectory, m: Measure) -> list[int]:
    """Samples that a measure depends on."""
    rows = [np.any(np.reshape(w != 0.0, (len(w), -1)), axis=1) for name, w in m.weights(c).items() if name != "t"]
    return [int(i) for i in np.flatnonzero(np.any(rows, axis=0))]


def cycle_samples(c: Trajectory, at: Sequence[int]) -> dict[int, Sample]:
    """Samples of a cycle by their numbers."""
    assert c.system is not None
    laws = np.stack(drive_motion(compiled_of(c.system), c, list(c.drives))).transpose(1, 2, 0)
    out = {}
    for i in at:
        here = Instant(compiled_of(c.system).skel, c.q[i], c.v[i], float(c.t[i]), c.references[i], c.a[i])
        out[i] = Sample(c.system, here, {drive: curve_lines.Parabola(*map(float, x)) for drive, x in zip(c.drives, laws[i], strict=True)})
    return out


class DisturbedSamples:
    """Derivatives of channels at some samples of a cycle by one number, by an imaginary step in it; NaN at the other samples."""

    def __init__(self, c: Trajectory, p: Parameter, samples: Mapping[int, Sample]):
        self.c, self.names, self.samples, self.used = c, (p.name,), samples, np.array(list(samples))
        assert c.system is not None
        self._disturbed, self._size = Disturbed(c.system, p), np.array([p.size])
        self._undefined: dict[str, dict[int, str]] = {}

    def read(self, channels: Sequence[str]) -> dict[str, np.ndarray]:
        """Derivatives of several channels, (samples, ..., 1); NaN where they do not exist."""
        out: dict[str, np.ndarray] = {}
        values = self.c.read(list(channels))
        for name in channels:
            slopes = np.full((*values[name].shape, 1), np.nan)
            for i, x in self._instants.items():
                slopes[i, ..., 0] = np.imag(self._table[name].read(x)) / tolerances.COMPLEX_STEP
            defined, why = refused(values[name][self.used], slopes[self.used], self._size, self._table[name].kink)
            slopes[self.used] = defined
            out[name], self._undefined[name] = slopes, {int(self.used[i]): f"'{name}': {text}" for i, text in why.items()}
        return out

    def undefined(self, channel: str) -> dict[int, str]:
        """Samples at which a channel has no derivative, with the reasons."""
        return self._undefined.get(channel, {})

    def __getitem__(self, name: str) -> np.ndarray:
        """Derivative of the speed of a drive, the same at all samples of a cycle."""
        drive = name.removesuffix(".v")
        moved = self._disturbed.law(drive, next(iter(self.samples.values())).laws[drive])
        return np.full((len(self.c), 1), np.imag(moved.df) / tolerances.COMPLEX_STEP)

    @cached_property
    def _instants(self) -> dict[int, Instant]:
        out = {}
        for i, sample in self.samples.items():
            loads = self._disturbed.loads(sample)
            x = loads.problem.place
            x.solver = lambda at, loads=loads: loads
            out[i] = x
        return out

    @cached_property
    def _table(self) -> channel_kinds.Channels:
        skel = self._disturbed.skel
        loads = load_channels.load_channels(skel.tree.description, self.c.drives)
        return channel_kinds.Channels(skel, {name: x for name, x in loads.items() if name in self.c._load_channels})
