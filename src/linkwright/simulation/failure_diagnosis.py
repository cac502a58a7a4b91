"""Why a run ended before its end: computed from what the run had and did, in terms of the mechanism.

Looked at in this order, each by numbers at the last steps: errors of functions, limits that the caller set, efforts that are not
finite, loops that drifted open, fixed steps that are too long, dead centers of prescribed motions, singular positions of the loops,
efforts that grow or jump, speeds that run away, stiffness. Every cause comes with one advice.

Steps may be the cause themselves: fixed ones are too long, or stiffness makes them short. A fixed step is too long where it leads to a
state without an answer while steps that adapt get past it: this is tried, not guessed.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError, SingularityError
from linkwright.integrators import Solution, integrate
from linkwright.properties import cached_property
from linkwright.text.units import KINDS, shown

if TYPE_CHECKING:
    from linkwright.simulation.run import RunPiece, Simulation

STIFF = 0.5  # fastest time constant times the step: stability, not accuracy, decides the step
HOPELESS = 1e6  # time constants in the run: beyond the reach of explicit steps
MOST_STATES = 120  # up to which eigenvalues are worth their while
WORTH_FIXED = 0.01  # of the step: where adaptive steps become shorter than this, a fixed step is no good advice
TOLERANCE, MOST_STEPS, SECONDS = 1e-6, 20_000, 2.0  # of the run by steps that adapt; it ends after so many steps or seconds


def passage(d: Diagnosis) -> Solution | None:
    """A run by steps that adapt from the start of the last mode, or from some way before its end, to the end of the step that failed.

    None where the steps of this run adapt too, where a sampler would be called again, and where it does not get there.
    """
    p, sim = d.setup.problem, d.sim
    if sim.options.adaptive or p.sampler is not None:
        return None
    if len(sim.pieces) == 1:
        x0, st = d.setup.actuation.x0, d.piece.start
        t, y = st.t, np.concatenate([st.q, st.v, x0, np.zeros(p.nx - len(x0))])
    else:
        t, y = float(d.steps[0, 0]), d.steps[0, 1:]
    end = min(d.solution.end_time + d.step, sim.t_end)
    if not (np.isfinite(y).all() and t < end):
        return None
    cut = sim.evidence.cut_at(len(sim.pieces) - 1, np.array([t]))[0]
    plain = d.setup.between(t, sim.t_end, cut).without_events()
    begun = time.perf_counter()

    def patience(*_: float) -> bool:
        return time.perf_counter() - begun < SECONDS

    o = sim.options
    done = integrate(plain, y, t, end, "rodas", tolerance=TOLERANCE, most_steps=MOST_STEPS, engine=o.engine, progress=patience)
    return done if done.status == "finished" else None


def too_long(d: Diagnosis, found: Solution, plain: str) -> str:
    """Why a fixed step failed, by a run of steps that adapt: it was long for the fastest motion there, or as `plain` says."""
    fast = _too_long_for(d, found.end_time, found.end_state)
    if fast or plain:
        return fast or plain
    near = found.t[found.t >= d.solution.end_time - 10.0 * d.step]
    h = float(np.diff(near).min(initial=d.step))
    step = f"Take step={min(0.5 * h, 0.25 * d.step):.1g}, or leave" if h > WORTH_FIXED * d.step else "Leave"
    return (
        f"the step of {d.step:g} s is too long: it leads to a state that the equations cannot be solved in, and adaptive steps get past it "
        f"with {h:.1g} s. {step} out integrator= for adaptive steps."
    )


def _fastest_mode(d: Diagnosis, t: float, y: np.ndarray) -> complex:
    """The largest eigenvalue of the rates at a state, by differences."""
    p, rates = d.setup.problem, d.piece.evaluator.rates
    n = p.nq + p.nv
    if n > MOST_STATES or not np.isfinite(y).all():
        return 0.0
    base = rates(t, y, d.cut)[:n]
    J = np.zeros((n, n))
    for i in range(n):
        h = 1e-7 * max(abs(y[i]), 1e-3)
        there = y.copy()
        there[i] += h
        J[:, i] = (rates(t, there, d.cut)[:n] - base) / h
    if not np.isfinite(J).all():
        return 0.0
    found = np.linalg.eigvals(J)
    return complex(found[np.argmax(np.abs(found))])


def stiff(d: Diagnosis) -> str:
    """Steps that are short, or too long, for the fastest motion at the end."""
    o, t, y = d.sim.options, d.solution.end_time, d.solution.end_state
    if not o.adaptive:
        return _too_long_for(d, t, y)
    mode = _fastest_mode(d, t, y)
    fast, span = abs(mode), d.sim.t_end - d.sim.start.t
    hopeless = d.solution.status == "smallest step" and fast * span > HOPELESS
    if o.method.name != "rodas" and fast * span > 1e3 and (fast * d.step > STIFF or hopeless):
        return (
            f"the equations are stiff: {_kind(mode)} in a run of {span:.3g} s decides how short the steps are. "
            f"Take integrator='rodas', or soften the stiffest spring, damper, stop or friction."
        )
    return ""


def _too_long_for(d: Diagnosis, t: float, y: np.ndarray) -> str:
    """A fixed step that is long against the fastest motion at a state."""
    mode = _fastest_mode(d, t, y)
    fast = abs(mode)
    if not (fast * (d.sim.t_end - d.sim.start.t) > 1e3 and fast * d.step > STIFF):
        return ""
    return f"the step of {d.step:g} s is too long for {_kind(mode)}. Take step={0.3 / fast:.1g}, or integrator='rodas' for stiff equations."


def _kind(mode: complex) -> str:
    """An eigenvalue as a text for people."""
    fast = abs(mode)
    return f"a time constant of {1.0 / fast:.1e} s" if abs(mode.real) > abs(mode.imag) else f"an oscillation of {fast / (2 * np.pi):.2g} Hz"


PACKAGE = Path(__file__).parent.parent
SINGULAR_SHARE = 0.02  # a singular value below this share of its typical size on the run: near a singular position
NEAR_A_STEP = 0.2  # the same for fixed steps, the next one of which would lie beyond
OPENED = 1e-3  # of the size of the mechanism: loops that are open by this are not those of the model
GROWN = 1e4  # times its middle size over the run: an effort or a speed that grows without bound
JUMPED = 0.2  # of its size, between neighboring steps that are short: an effort that jumps
SHORT = 1e-4  # of the duration: steps in which no smooth effort changes by so much
FAR = 10.0  # rad or sizes of the mechanism in one fixed step: the steps have left the motion
TYPICAL_POSITIONS = 60  # positions of the run that give the typical size


def why(sim: Simulation) -> str:
    """When and where a run stopped, the cause, and what to do."""
    d = Diagnosis(sim, sim.pieces[-1])
    said = d.cause
    fastest = "" if d.raised else d.fastest
    parts = [f"t = {d.solution.end_time:.6g} s: {said}", fastest, "The trajectory up to there is in the error's `run`."]
    return " ".join(p for p in parts if p)


@dataclass(frozen=True)
class Diagnosis:
    """The end of a run, looked at."""

    sim: Simulation
    piece: RunPiece

    @property
    def solution(self) -> Any:
        return self.piece.solution

    @property
    def setup(self) -> Any:
        return self.piece.evaluator.setup

    @cached_property
    def cause(self) -> str:
        """The first cause that the numbers show."""
        if self.raised:
            return self._raised(self.solution.error)
        looks = (
            self._own_limit,
            self._unstable,
            self._not_finite,
            self._drifted,
            self._too_long,
            self._dead_center,
            self._singular,
            self._growing,
            self._jumping,
            self._running_away,
        )
        for look in (*looks, self._turning, self._stiff):
            found = look()
            if found:
                return found
        return self._unexplained()

    @cached_property
    def raised(self) -> bool:
        """True if an error is the cause. Errors about a state of too long a fixed step are not, nor those of arithmetic without a function
        of the caller's: what they say is not about the motion."""
        error = self.solution.error
        if error is None or self.solution.status != "no answer":
            return error is not None
        return self._passage is None and (isinstance(error, LinkwrightError) or bool(_own_frames(error)))

    # ---------------------------------------------------------------- states

    @cached_property
    def q(self) -> np.ndarray:
        return self.solution.end_state[: self.setup.problem.nq]

    @cached_property
    def v(self) -> np.ndarray:
        p = self.setup.problem
        return self.solution.end_state[p.nq : p.nq + p.nv]

    @cached_property
    def steps(self) -> np.ndarray:
        """The last accepted steps (t, y) of this mode, the end state last."""
        end = np.concatenate([[self.solution.end_time], self.solution.end_state])[None]
        rows = self.sim.evidence.last(200)
        return end if not len(rows) else rows if rows[-1, 0] >= end[0, 0] else np.concatenate([rows, end])

    @cached_property
    def step(self) -> float:
        """The fixed step, or the middle length of the last ones."""
        if not self.sim.options.adaptive:
            return float(self.sim.options.step or 0.0)
        h = np.diff(self.steps[-20:, 0])
        return float(np.median(h[h > 0.0])) if np.any(h > 0.0) else 0.0

    @cached_property
    def cut(self) -> np.ndarray:
        return self.sim.evidence.cut_at(len(self.sim.pieces) - 1, np.array([self.solution.end_time]))[0]

    def _efforts(self, rows: np.ndarray) -> np.ndarray:
        """Efforts, or accelerations of prescribed motions, at rows (t, y)."""
        heads = [self.piece.evaluator.inputs(float(r[0]), r[1:], self.cut)[0] for r in rows]
        return np.array([np.concatenate([h["tau"], h.get("acceleration", np.zeros(0))]) for h in heads])

    @cached_property
    def _effort_names(self) -> list[str]:
        return [*self.sim.system.kernels.entries["v"], *self.setup.actuation.drivers]

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Typical size of every effort over the run."""
        p = self.setup.problem
        first = np.concatenate([self.sim.start.q, self.sim.start.v, np.zeros(p.n - p.nq - p.nv)])
        every = max(1, len(self.solution.t) // TYPICAL_POSITIONS)
        run = np.column_stack([self.solution.t, self.solution.y])[::every]
        return np.abs(self._efforts(np.concatenate([np.append(self.sim.start.t, first)[None], run])))

    @property
    def _has_inputs(self) -> bool:
        return self.setup.problem.inputs is not None

    # ---------------------------------------------------------------- texts

    def _value(self, name: str, x: float, rate: bool = False) -> str:
        """A coordinate or its speed in the user's unit."""
        kinds = dict(zip(self.sim.system.kernels.entries["v"], self._kinds, strict=True))
        kind = kinds.get(name, "length")
        wanted = {"angle": "angular speed", "length": "speed"}[kind] if rate else kind
        return shown(x, KINDS[wanted], self.sim.system.description.units)

    @cached_property
    def _kinds(self) -> list[str]:
        from linkwright.mechanics.kinematics.skeleton import velocity_kinds

        return velocity_kinds(self.sim.system.loops.skel)

    def _effort(self, i: int, x: float) -> str:
        """An effort, or the acceleration of a prescribed motion, in the user's unit."""
        if i >= len(self._kinds):
            return f"{x:.4g}"
        return shown(x, KINDS[{"angle": "torque", "length": "force"}[self._kinds[i]]], self.sim.system.description.units)

    @cached_property
    def place(self) -> str:
        """Position of the mechanism: its driven joints, or the first one."""
        names, q_names = self.sim.system.kernels.entries["v"], self.sim.system.kernels.entries["q"]
        driven = [n for n in (*self.sim.driven, *(d.joint for d in self.sim.system.description.drives)) if n in names]
        chosen = [n for n in dict.fromkeys([*driven, *names]) if n in q_names][: max(1, len(set(driven)))][:3]
        return ", ".join(f"{n} = {self._value(n, float(self.q[q_names.index(n)]))}" for n in chosen)

    @cached_property
    def fastest(self) -> str:
        """The fastest coordinate and its speed."""
        names = self.sim.system.kernels.entries["v"]
        if not names:
            return ""
        size = np.abs(self.v / self.sim.system.loops.columns)
        i = int(np.argmax(np.where(np.isfinite(size), size, np.inf)))
        return f"The fastest coordinate there is {names[i]} at {self._value(names[i], float(self.v[i]), rate=True)}."

    # ---------------------------------------------------------------- causes

    def _raised(self, error: BaseException) -> str:
        """An error of the equations, or of a function of the caller's with the line that raised it."""
        if isinstance(error, SingularityError) and self.solution.end_time > self.sim.start.t:
            what, finer = str(error).partition(". ")[0].rstrip("."), max(1e-3 * self.sim.options.tolerance, 1e-12)
            helps = (
                f"Take tolerance={finer:.0e}, so that it arrives along one branch" if self.sim.options.adaptive else "Take a shorter step"
            )
            return f"{what} ({self.place}). {self._drifting or helps}, or begin beyond it."
        if isinstance(error, LinkwrightError):
            return str(error).replace(", or name one with branch={joint: speed}", "")
        own = _own_frames(error)
        if not own:
            return f"{type(error).__name__} in the equations ({error}). This is a fault of the program. Please report it with the model."
        f = own[-1]
        return f"the function '{f.name}' ({Path(f.filename).name}:{f.lineno}) raised {type(error).__name__}: {error}."

    @property
    def _drifting(self) -> str:
        """Advice for a run without projection after every step: a gap phi of the loops is phi / s of the coordinates near a singular
        position."""
        if self.setup.problem.project is not None and self.setup.problem.project_refuses:
            return ""
        return (
            "Without projection after every step the loops drift open, which no motion through a singular position allows: "
            "take stabilizer='project'"
        )

    def _drifted(self) -> str:
        """Loops that have opened in a run without projection."""
        gap = self.sim.evidence.digest().position if self._drifting else 0.0
        if not gap > OPENED:
            return ""
        return (
            f"the loops have drifted open by {gap:.1e} of the size of the mechanism, because no projection closes them after every step. "
            "Take stabilizer='project'."
        )

    def _own_limit(self) -> str:
        o, status = self.sim.options, self.solution.status
        left = f"at t = {self.solution.end_time:.6g} s of {self.sim.t_end:.6g} s"
        if status == "too many steps" and o.most_steps is not None:
            return f"most_steps = {o.most_steps} was used up {left}, {self.place}. Raise most_steps, or shorten the run."
        if status == "smallest step" and o.smallest_step > 0.0:
            return (
                f"the tolerance {o.tolerance:g} needs steps shorter than smallest_step = {o.smallest_step:g} s "
                f"{left}, {self.place}. Lower smallest_step, or loosen the tolerance."
            )
        return ""

    def _unstable(self) -> str:
        """Stability of a controller as known beforehand."""
        return next((n for n in self.sim.notes if "unstable" in n), "")

    def _not_finite(self) -> str:
        if not self._has_inputs:
            return ""
        u = self._efforts(self.steps[-1:])[0]
        for name, x in zip(self._effort_names, u, strict=False):
            if not np.isfinite(x):
                return f"the drive of '{name}' is not a finite number there. Keep its formula away from divisions by zero."
        return ""

    @cached_property
    def _weakness(self) -> tuple[float, float, float, float, np.ndarray]:
        """Smallest singular value that counts, at the end and at its largest over run and drawing: of the loops, and with the prescribed
        motions; and the left vector of the first."""
        loop_rows = self.setup.kernels.rows
        every = max(1, len(self.solution.y) // TYPICAL_POSITIONS)
        rows = [*self.solution.y[::every], *self.steps[:: max(1, len(self.steps) // 20), 1:], self.solution.end_state]
        nq = self.setup.problem.nq
        positions = np.array([self.sim.system.start.q, self.sim.start.q, *(r[:nq] for r in rows)])
        given: dict[str, Any] = {b.name: np.zeros((len(positions), *b.shape)) for b in loop_rows.kernel.inputs}
        given["q"] = positions
        given |= {"near": np.tile(self.cut, (len(positions), 1))} if "near" in given else {}
        given |= {"parameters": np.tile(self.sim.parameters, (len(positions), 1))} if "parameters" in given else {}
        J = loop_rows.at(**given).J.dense
        loops, drivers = self.sim.system.loops, len(self.setup.actuation.drivers)
        own = J.shape[1] - drivers
        J = J * loops.columns
        J = J / np.maximum(np.sqrt(np.max(np.sum(J * J, axis=2), axis=0)), 1e-300)[:, None]  # rows of size one
        out: list[float] = []
        left = np.zeros(own)
        for part in (J[:, :own], J):
            if not min(part.shape[1:]):
                out += [1.0, 1.0]
                continue
            U, s, _ = np.linalg.svd(part)
            rank = int(np.max(np.sum(s > 1e-9, axis=1)))
            counted = s[:, rank - 1] if rank else np.ones(len(s))
            out += [float(counted[-1]), float(np.max(counted))]
            left = U[-1, :own, rank - 1] if part.shape[1] == own and rank else left
        return out[0], out[1], out[2], out[3], left

    def _dead_center(self) -> str:
        """Loops are regular, loops with the prescribed motions are not."""
        drivers = self.setup.actuation.drivers
        if not drivers:
            return ""
        loops, typical, both, typical_both, _ = self._weakness
        near = SINGULAR_SHARE if self.sim.options.adaptive else NEAR_A_STEP
        if loops < SINGULAR_SHARE * typical or both > near * typical_both:
            return ""
        names = ", ".join(f"'{n}'" for n in drivers)
        return (
            f"the prescribed motion of {names} reaches a dead center at {self.place}: the mechanism cannot follow it any further, because "
            "other joints would need an unbounded speed. End the motion before it (limits gives the range), or drive another joint."
        )

    def _singular(self) -> str:
        """The loops lose rank."""
        s, typical, *_, left = self._weakness
        if not s < SINGULAR_SHARE * typical:
            return ""
        rows = [str(x) for x in self.sim.evidence.labels(len(self.sim.pieces) - 1)]
        strong = [rows[i].partition(".")[0] for i in np.argsort(-np.abs(left)) if i < len(rows) and abs(left[i]) > 0.5 * np.abs(left).max()]
        closed = " and ".join(f"'{n}'" for n in list(dict.fromkeys(strong))[:3])
        return (
            f"near a singular position at {self.place}: the loop closed by {closed} loses rank there (smallest singular value {s:.1e}, "
            f"up to {typical:.1e} elsewhere), branches of the motion meet, and no smooth motion was found across it. "
            f"{self._drifting or 'Begin beyond it'}, or change a length so that the links do not come into line."
        )

    def _growing(self) -> str:
        """An effort that time alone makes large."""
        if not self._has_inputs or self.sim.control is not None:
            return ""
        p = self.setup.problem
        then = np.concatenate([[self.solution.end_time], self.sim.start.q, self.sim.start.v, self.solution.end_state[p.nq + p.nv :]])
        end, middle = np.abs(self._efforts(then[None])[0]), np.median(self._sizes, axis=0)
        for name, x, typical in zip(self._effort_names, end, middle, strict=False):
            if x > GROWN * max(typical, 1e-300) and x > 0.0 and typical > 0.0:
                return (
                    f"the drive of '{name}' grows without bound: it is {x / typical:.0e} times its typical size over the run. "
                    "Bound its formula there, or end the run before."
                )
        return ""

    def _jumping(self) -> str:
        """An effort that has different values within steps in which nothing smooth changes."""
        if not self._has_inputs or len(self.steps) < 4 or self.step > SHORT * (self.sim.t_end - self.sim.start.t):
            return ""
        u = self._efforts(self.steps[-40:])
        size = np.maximum(np.abs(u).max(axis=0), self._sizes.max(axis=0))
        jumps = np.abs(np.diff(u, axis=0)).max(axis=0)
        i = int(np.argmax(jumps / np.maximum(size, 1e-300)))
        if not jumps[i] > JUMPED * size[i]:
            return ""
        spread = self.steps[-1, 0] - self.steps[-40:][0, 0]
        low, high = self._effort(i, u[:, i].min()), self._effort(i, u[:, i].max())
        return (
            f"the drive of '{self._effort_names[i]}' jumps to and fro: between {low} and {high} "
            f"within {spread:.1e} s. Sample it with every=, make the jump an event, or smooth it."
        )

    def _running_away(self) -> str:
        """Speeds without bound."""
        p, columns = self.setup.problem, self.sim.system.loops.columns
        every = max(1, len(self.solution.y) // TYPICAL_POSITIONS)
        rows = np.concatenate([self.sim.start.v[None], self.solution.y[::every, p.nq : p.nq + p.nv]])
        typical = max(float(np.median(np.abs(rows / columns).max(axis=1, initial=0.0))), 1e-3)
        now = float(np.abs(self.v / columns).max(initial=0.0))
        efforts = 0.0
        if self._has_inputs:
            efforts = float((np.abs(self._efforts(self.steps[-1:])[0]) / np.maximum(np.median(self._sizes, axis=0), 1e-3)).max(initial=0.0))
        if not (now > GROWN * typical or (self.sim.control is not None and efforts > GROWN)):
            return ""
        helps = "Look for a load that feeds it energy"
        if self.sim.control is not None:
            helps = "Check the signs and sizes of the controller's gains"
        elif self._has_inputs:
            i = int(np.argmax(np.abs(self._efforts(self.steps[-1:])[0]) / np.maximum(np.median(self._sizes, axis=0), 1e-300)))
            helps = f"The drive of '{self._effort_names[i]}' grows with the motion: check the sign of its feedback"
        what, times = ("speeds", now / typical) if now > GROWN * typical else ("efforts", efforts)
        return f"the motion runs away: {what} have grown to {times:.0e} times their typical size. {helps}."

    def _turning(self) -> str:
        if self.solution.status != "turned":
            return ""
        cuts = ", ".join(f"'{n}'" for n in self.sim.system.loops.skel.tree.cuts)
        return (
            f"one of the cut joints {cuts}, whose turns a spring or load counts, makes half a turn in one step. Take "
            f"largest_step={self.step / 4 or 1e-3:.1g}, or compile with other cuts=."
        )

    @cached_property
    def _passage(self) -> Solution | None:
        return passage(self)

    def _too_long(self) -> str:
        """A fixed step that fails where steps that adapt do not."""
        if self._passage is None:
            return ""
        plain = self.solution.status == "open" and self._leap < FAR
        return too_long(self, self._passage, self._unexplained() if plain else "")

    @property
    def _leap(self) -> float:
        """How far the fastest joint moves in a fixed step, in rad or sizes of the mechanism."""
        return float(np.abs(self.v / self.sim.system.loops.columns).max(initial=0.0)) * (self.sim.options.step or 0.0)

    def _stiff(self) -> str:
        return stiff(self)

    def _unexplained(self) -> str:
        """Findings of the stepper, where the numbers show no cause."""
        o, status = self.sim.options, self.solution.status
        if status == "open" and not o.adaptive:
            return (
                f"the loops cannot be closed again after a step at {self.place}: in step={o.step:g} s the fastest joint moves "
                f"{self._leap:.2g} rad or sizes of the mechanism. Take a step {max(2, int(np.ceil(self._leap / 0.1)))} times shorter."
            )
        if status == "open":
            return f"the loops cannot be closed again after a step at {self.place}. Take tolerance={max(o.tolerance * 1e-3, 1e-12):.0e}."
        if status == "smallest step":
            return (
                f"the tolerance {o.tolerance:g} cannot be reached at {self.place}: the last steps, {self.step:.1e} s, are at the round-off "
                f"of the time. Take tolerance={min(o.tolerance * 1e3, 1e-6):.0e}."
            )
        if status in ("stuck", "too many steps"):
            span = self.sim.t_end - self.sim.start.t
            return (
                f"the steps are too short to reach the end: {self.step:.1e} s at {self.place}, in a run of {span:.3g} s. "
                "The motion there is as fast as that. Shorten the run, or take a looser tolerance."
            )
        if status == "not finite":
            return f"accelerations are not finite at {self.place}. Look for a load, spring or table without a finite value there."
        return f"{self.solution.message.partition(': ')[2]}"


def _own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Lines of the caller's on the way to an error."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if PACKAGE not in Path(f.filename).parents]
    return [f for f in frames if "site-packages" not in f.filename]
