"""Motion and constraint force at once  [Aghili2005 VII-C], [Aghili2005 (52)].

Multipliers and joint forces are affine in the drives' efforts, as accelerations are. Stacked under the rows of `projected`,

    [J_t G]     [theta_d'' + G_D e' + G_P e - J_t a_0 - bias]
    [  L  ] u = [              lam_c - lam_0                ],      lam_c = lam_d + G_F e_f + G_I int e_f,   e_f = lam_d - lam,

the motion is the same as without force control, and the force error obeys (1 + G_F) e_f' + G_I e_f = 0. The sensor's reading
depends on the efforts at the same instant: without a filter that algebraic loop is solved exactly. A sampled controller reads
what its last efforts made: then e_f changes sign from sample to sample and grows where G_F > 1, unless the reading is filtered
(`force_loop`).

Where limits of the actuators bind, the motion has priority and forces yield, and integrals wait (`_within_limits`, `_unwound`).
A force whose constraint an event releases is no longer controlled: its row is left out, its integral and filter wait, and the motion
continues as with `projected`, until an event engages the constraint again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import KINDS, Situation, UsageError, counted, feedback, listing, quantity, scalars
from linkwright.model.curves.references import read_reference
from linkwright.rings.control.gains import gains
from linkwright.rings.control.projected import Projected
from linkwright.simulation.feedback.actuators import CUT, ZERO_COMMAND
from linkwright.simulation.feedback.drive_response import Response
from linkwright.simulation.feedback.force_rows import ForceRow, IndeterminateForces, force_row
from linkwright.simulation.feedback.least_effort import NominalSizes, least


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Hybrid(Projected):
    """`lw.control.hybrid(reference, force={"C.y": 0}, P=..., D=..., F=..., I=...)`."""

    force: Any = None
    F: Any = 1.0
    I: Any = 0.0  # 1/s
    filter: Any = None  # time constant of the sensor's filter; None: what a sampled loop needs, none where it is continuous
    integral: Any = 0.0  # where the integral of the force error begins, N s
    begin: Any = None  # what a sensor with memory (filtered or sampled) read before the start; None: what is wanted, so that nothing kicks
    kind = "hybrid"
    held_elsewhere = (*Projected.held_elsewhere, "force")
    rows: tuple[ForceRow, ...] = ()
    live: tuple[int, ...] = ()  # rows whose constraint holds

    # ---------------------------------------------------------------- set up

    def prepared(self, bound: Any) -> Hybrid:
        if not isinstance(self.force, Mapping) or not self.force:
            raise UsageError("hybrid: force={'C.y': '0 N'} names the multipliers or joint forces to hold, with their values.", name="force")
        plain = super().prepared(bound)
        assert isinstance(plain, Hybrid)
        rows = tuple(force_row(bound.description, bound.lam_names, bound.lam_kinds, str(name)) for name in self.force)
        live = self._live(bound, rows)
        bound.notes += _shared(bound.indeterminate_forces([rows[i] for i in live]), bound.first)
        n, p = bound.n_tasks + len(rows), len(bound.targets)
        if n > p:
            raise UsageError(
                f"hybrid: coordinates ({', '.join(bound.labels)}) and forces ({', '.join(r.name for r in rows)}) need "
                f"{counted(n, 'drive')}; there {'is' if p == 1 else 'are'} {p} ({', '.join(x.name for x in bound.targets)}). "
                "Name more drives=[...]."
            )
        now = float(bound.start["t"][0])
        bound.force_paths = tuple(
            read_reference(given, [r.kind], [0.0], f"force of '{r.name}'", bound.description, t=now)
            for given, r in zip(self.force.values(), rows, strict=True)
        )
        names = [r.name for r in rows]
        twice = [n for n in names if names.count(n) > 1]
        if twice:
            raise UsageError(f"hybrid: the force '{twice[0]}' is named twice.", name=twice[0])
        F, I = gains(self.F, names, "hybrid: F"), gains(self.I, names, "hybrid: I")
        lag, notes = filter_for(self.filter, F, I, bound.every)
        bound.notes += notes
        integral = gains(self.integral, names, "hybrid: integral", signed=True)
        begin = bound.wanted_forces(now) if self.begin is None else gains(self.begin, names, "hybrid: begin", signed=True)
        return replace(plain, rows=rows, live=live, F=F, I=I, filter=lag, integral=integral, begin=np.array(begin, dtype=float))

    def _live(self, bound: Any, rows: Sequence[ForceRow]) -> tuple[int, ...]:
        """Forces that are there; at the start of a run, and to the controller's own model, all of them must be."""
        gone = [r.name for r in rows if r.name.partition(".")[0] in bound.believed.kernels.chosen.without]
        if gone and (bound.first or len(gone) > sum(n.partition(".")[0] in bound.real.kernels.chosen.without for n in gone)):
            raise UsageError(f"hybrid: the constraint of '{gone[0]}' is off or released here: there is no force to hold.", name=gone[0])
        if gone:
            held, it = ("is", "it") if len(gone) == 1 else ("are", "they")
            bound.notes.append(
                f"t = {bound.start['t'][0]:.6g} s: hybrid: {', '.join(gone)} {held} no longer held, as {it} went with a released "
                "constraint. The motion continues"
            )
        return tuple(i for i, r in enumerate(rows) if r.name not in gone)

    def states(self, bound: Any) -> Sequence[feedback.OwnState]:
        size = 1.0 + float(np.abs(bound.wanted_forces(bound.start["t"][0])).max(initial=0.0))
        out = [feedback.OwnState(f"control.{r.name}.integral", size, start=float(x)) for r, x in zip(self.rows, self.integral, strict=True)]
        if self.filter > 0.0:
            out += [
                feedback.OwnState(f"control.{r.name}.filtered", size, self.filter, float(x), closed=self.filter / (1.0 + F))
                for r, F, x in zip(self.rows, self.F, self.begin, strict=True)
            ]
        return out

    def channels(self, bound: Any) -> Mapping[str, str]:
        out: dict[str, str] = {}
        for r in self.rows:
            out |= {f"control.{r.name}.wanted": r.kind, f"control.{r.name}.sensed": r.kind, f"control.{r.name}.error": r.kind}
        return out

    # ---------------------------------------------------------------- the law

    def _forces(self, at: Situation, r: Response, eq: Any) -> tuple[Any, Any]:
        """(without efforts, per unit effort) of all forces that there are."""
        found = [self.rows[i].affine(at, r, eq) for i in self.live]
        return np.array([x for x, _ in found]), np.array([x for _, x in found]).reshape(len(found), len(at.bound.targets))

    def outputs(self, at: Situation) -> Any:
        return np.concatenate([super().outputs(at), self._forces(at, at.model, at.eq)[1]])

    def command(self, at: Situation) -> feedback.Command:
        live, n = list(self.live), len(self.live)
        if not live:
            return self._said(at, super().command(at), np.zeros(0), np.zeros(0))
        wanted, integral, filtered = at.wanted_forces[live], *self._own(at)
        F, I, felt = self.F[live], self.I[live], None if at.sensed is None else at.sensed[live]
        base, L = self._forces(at, at.model, at.eq)
        A = np.concatenate([super().outputs(at), L])
        motion_part = np.concatenate([self.right(at), -base])
        unit = np.concatenate([np.zeros((at.bound.n_tasks, n)), np.eye(n)])
        found = at.solve(A, np.column_stack([motion_part, unit]))
        u_0, U = found.efforts[:, 0], found.efforts[:, 1:]  # efforts = u_0 + U lam_c
        real, real_L = (base, L) if at.plant is at.model else self._forces(at, at.plant, at.bound.real.equations(at.x))
        if felt is not None:
            # a sampled filter after it has taken in what was sensed now
            used = felt if self.filter == 0.0 else filtered + feedback.taken_in(at.bound.every, self.filter) * (felt - filtered)
            aim = wanted + F * (wanted - used) + I * (integral + at.bound.every * (wanted - used))
        elif self.filter > 0.0:
            used = filtered
            aim = wanted + F * (wanted - used) + I * integral
        else:
            # what is sensed depends on the aim itself: lam = real + real_L (u_0 + U aim)
            open_loop = real + real_L @ u_0
            right = wanted + I * integral + F * (wanted - open_loop)
            aim = scalars.solve(np.eye(n) + F[:, None] * (real_L @ U), right)
            used = open_loop + real_L @ U @ aim
        efforts, cut, share = self._within_limits(at, A, motion_part, u_0 + U @ aim)
        sensed = felt if felt is not None else real + real_L @ efforts
        return self._said(at, feedback.Command(efforts, (), found.authority, found.damped, (), cut, share), sensed, used)

    def _within_limits(self, at: Situation, A: Any, right: Any, efforts: Any) -> tuple[Any, Sequence[Any], Any]:
        """(efforts, what forces lose by it, share of them that is left): where actuators cannot give all, motions go before forces.

        Efforts u_m of the motion alone and those of motion and forces do the same motion, and so does all between them:
        u_m + share (u - u_m), with the largest share that every actuator can give.
        """
        b, n = at.bound, at.bound.n_tasks
        if not b.actuators:
            return efforts, (), 1.0
        alone = least(A[:n], right[:n], b.weights, NominalSizes(b.nominal.sizes[:n], b.nominal.firm[:n]), self.damping).efforts
        share: Any = 1.0
        for a, u_m, u, speed in zip(b.actuators, alone, efforts, at.B.T @ at.v, strict=True):
            low, high = a.span(speed)
            more = u - u_m
            room = scalars.where(scalars.real(more) > 0.0, high - u_m, u_m - low)
            size = scalars.where(scalars.real(more) > 0.0, more, -more)
            left = scalars.where(scalars.real(room) > 0.0, room, 0.0)
            share = scalars.minimum(share, left / scalars.where(scalars.real(size) > ZERO_COMMAND, size, ZERO_COMMAND))
        extra = efforts - alone
        return alone + share * extra, list((1.0 - share) * (A[n:] @ extra)), share

    def felt(self, at: Situation, command: feedback.Command, efforts: Any) -> feedback.Command:
        if not self.live:
            return command
        eq = at.eq if at.plant is at.model else at.bound.real.equations(at.x)
        base, L = self._forces(at, at.plant, eq)
        sensed = base + L @ np.array(list(efforts))
        return self._said(at, command, sensed, sensed if self.filter == 0.0 else self._own(at)[1])

    @staticmethod
    def _unwound(rate: Any, command: feedback.Command, k: int) -> Any:
        """An integral does not grow toward what limits cut off, and does grow away from it."""
        if not command.cut:
            return rate
        missing = 1.0 - command.share
        left = scalars.where(scalars.real(missing) < CUT, 1.0 - missing / CUT, 0.0)
        return scalars.where(scalars.real(rate * command.cut[k]) > 0.0, left * rate, rate)

    def _own(self, at: Situation) -> tuple[Any, Any]:
        """Integrals and filtered readings of the forces that there are."""
        n, live = len(self.rows), list(self.live)
        return at.states[:n][live], at.states[n:][live] if self.filter > 0.0 else np.zeros(0)

    def _said(self, at: Situation, command: feedback.Command, sensed: Any, used: Any) -> feedback.Command:
        """The command with the rates of integrals and filters, and the channels of the forces; `used` is sensed, or filtered."""
        n, filtered = len(self.rows), self.filter > 0.0
        rates: list[Any] = [0.0] * (2 * n if filtered else n)
        records: list[Any] = [0.0] * (3 * n)
        for k, i in enumerate(self.live):
            wanted = at.wanted_forces[i]
            rates[i] = self._unwound(wanted - used[k], command, k)
            if filtered:
                rates[n + i] = (sensed[k] - at.states[n + i]) / self.filter
            records[3 * i : 3 * i + 3] = [wanted, sensed[k], wanted - sensed[k]]
        return command._replace(rates=rates, records=records)


def _shared(left: IndeterminateForces, first: bool) -> list[str]:
    """Notes on forces of which only a sum can be controlled; raise UsageError where a run begins and nothing of one can be."""
    if left.lost:
        alone = left.among[left.lost[0]]
        problem = (
            f"hybrid: {listing(left.lost)} cannot be held: the Jacobian of the loops has redundant rows, {listing(alone)} share a load, "
            "and the drives change that load, not the shares. Hold one of them, or leave a constraint out of the model."
        )
        if first:
            raise UsageError(problem, name=left.lost[0])
        return [problem]
    return [
        f"hybrid: {name} is statically indeterminate: {listing(among)} share a load, and the drives change that load, not the shares. "
        "The share of least reactions is held. A real machine may carry another one"
        for name, among in left.among.items()
    ]


# Stability of sampled force feedback, and the filter that makes it stable.
#
# A sampled controller senses the force that its last efforts made. With the gains G_F and G_I, the time between samples T and a
# filter that takes in the share a = 1 - exp(-T / T_f) of every reading, the filtered error m and the integral s obey
#
#     e = -(G_F m + G_I s)          the force error that the new efforts make
#     m+ = m + a (e - m)            sensed at the next sample
#     s+ = s + T m+
#
# Without a filter and integral e+ = -G_F e: unstable from G_F = 1 on. The loop is stable where both eigenvalues of this map lie
# inside the unit circle; with G_I = 0 that is a (1 + G_F) < 2.


def loop_growth(F: float, I: float, every: float, lag: float) -> float:
    """The largest eigenvalue of a sampled force loop, in size: above 1 it grows."""
    a = feedback.taken_in(every, lag)
    row = np.array([1.0 - a * (1.0 + F), -a * I])
    return float(np.abs(np.linalg.eigvals(np.array([row, [every * row[0], 1.0 + every * row[1]]]))).max())


def loop_stable(F: float, I: float, every: float, lag: float) -> bool:
    """An integral without gain stays where it is: 1 is stable then."""
    return loop_growth(F, I, every, lag) < 1.0 or (I == 0.0 and abs(1.0 - feedback.taken_in(every, lag) * (1.0 + F)) < 1.0)


def filter_for(given: Any, F: Any, I: Any, every: float) -> tuple[float, list[str]]:
    """The filter's time constant and what a person should know about it."""
    if given is not None:
        lag = quantity(given, KINDS["time"], "hybrid: filter")
        if not (np.isfinite(lag) and lag >= 0.0):
            raise UsageError(f"hybrid: the filter's time constant is {lag:g} s. It must be zero or more.", value=lag)
        bad = [(f, i) for f, i in zip(F, I, strict=True) if every and not loop_stable(f, i, every, lag)]
        return lag, [_warning(*bad[0], every, lag)] if bad else []
    if not every or all(loop_stable(f, i, every, 0.0) for f, i in zip(F, I, strict=True)):
        return 0.0, []
    lag = filter_time(F, I, every)
    worst = max(zip(F, I, strict=True))
    return lag, [
        f"force loop: F = {worst[0]:g} with one sample of delay ({every:g} s) grows {loop_growth(*worst, every, 0.0):.3g} times a sample "
        f"without a filter (stable where F < 1). A filter of {lag:.3g} s is put in. filter=... chooses another one."
    ]


def filter_time(F: Any, I: Any, every: float) -> float:
    """A filter with room to spare: half of the share that would just be stable, and more where the integral asks for it."""
    calm = 0.5  # of the largest share that is stable: what is chosen where nothing is said
    share = calm * 2.0 / (1.0 + float(np.max(F)))
    for _ in range(60):
        lag = -every / float(np.log(1.0 - min(share, 0.99)))
        if all(loop_stable(f, i, every, lag) for f, i in zip(F, I, strict=True)):
            return lag
        share *= 0.7
    raise UsageError(
        f"hybrid: no filter makes this force loop stable: I = {float(np.max(I)):g} 1/s is too much for samples every {every:g} s. "
        f"Take I below {1.0 / every:.3g} 1/s."
    )


def _warning(F: float, I: float, every: float, lag: float) -> str:
    with_filter = f"a filter of {lag:g} s" if lag else "no filter"
    least = filter_time([F], [I], every)
    return (
        f"force loop unstable: F = {F:g} at samples every {every:g} s with {with_filter} grows {loop_growth(F, I, every, lag):.3g} times a "
        f"sample, stable if (1 - exp(-T / T_f)) (1 + F) < 2. Take filter={least:.2g} s or more, or F below 1."
    )
