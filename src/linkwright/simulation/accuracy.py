"""The error of a run, estimated afterwards by cheaper runs of the same motion.

    estimated error     difference to a run whose error is a known multiple: LOOSER times the tolerance, or twice the step
    growth              of a small change of the start: two such runs from neighboring states, apart by that change

Both together take about as long as the run itself. Errors are proportional to the tolerance (break points end steps, so no corner of
a load spoils that), which makes the estimate good to a factor of some ten; it is no bound. Where a change grows beyond all linear
measure (SATURATED), errors cannot be scaled down any more, and the difference itself is stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.tolerances import ROUND_OFF, SAME_TIME
from linkwright.results.state import State

if TYPE_CHECKING:
    from linkwright.simulation.run import Simulation

LOOSER = 32.0  # times the tolerance: 0.65 of the steps of order 8, half of those of order 5
TIGHTER = 8.0  # divides the tolerance where it is loose already
STEPS_OF_ACCURACY = 40  # steps
LOOSEST = 1e-3  # tolerance above which errors are no longer proportional to it
SATURATED = 0.05  # rad or of the size: beyond, differences are not small
COMPARED = 200  # samples at most
CHANGES = (1e-6, 1e-3)  # of the start, in rad and of the size: smallest, largest
ABOVE_ERROR = 100.0  # a change is so much larger than the tolerance
MORE_MODES = 8  # times the modes of the run
FIRM = 1e-9  # singular value of the dimensionless J: rows beyond hold


@dataclass(frozen=True)
class Accuracy:
    """An estimate of the error of positions, in rad or of the size, and how much a change of the start grows."""

    error: float | None = None
    where: str = ""  # coordinate, time and unit
    growth: float | None = None
    saturated: bool = False  # the change grew beyond linear measure: it grows at least that much
    by: str = ""  # how it was found, or why there is none


class Positions(NamedTuple):
    """Coordinates at the samples of a run, and how many steps it took."""

    q: np.ndarray
    steps: int


@dataclass(frozen=True)
class Rerun:
    """The same run from another start or with other options."""

    make: Callable[..., Simulation]
    method: Any  # the same, whatever the tolerance
    changed: dict[str, Any] = field(default_factory=dict)  # options that are others in every such run
    most_modes: int | None = None  # no run has more of them

    @property
    def given(self) -> str:
        """Options that all such runs share with the first, beside its start and its model."""
        return " and the values that were sampled" if self.changed else ""

    def positions(self, times: np.ndarray, st: State | None = None, **other: Any) -> Positions | None:
        """Coordinates at times, as far as it comes; None where it does not come to its end."""
        try:
            sim = self.make(st, sample_interval=times, progress=False, integrator=self.method, **{**self.changed, **other})
            sim.most_modes = sim.most_modes if self.most_modes is None else self.most_modes
            status = sim.go()
        except LinkwrightError:
            return None
        if status == "interrupted":
            raise KeyboardInterrupt
        if status not in ("finished", "event"):
            return None
        nq = sim.system.loops.skel.tree.nq
        return Positions(np.concatenate([p.solution.y[:, :nq] for p in sim.pieces]), steps_of(sim))


def estimate(sim: Simulation, t: np.ndarray, q: np.ndarray, again: Rerun) -> Accuracy:
    """Run again, cheaper, and compare."""
    if sim.pieces[-1].solution.status not in ("finished", "event") or not len(t):
        return Accuracy(by="the run did not come to its end")
    places = np.unique(np.linspace(0, len(t) - 1, COMPARED).astype(int)) if len(t) > COMPARED else np.arange(len(t))
    how, by = _beside(sim)
    again = replace(again, most_modes=_modes(sim))
    other = again.positions(t[places], **how)
    if other is None:
        return Accuracy(by=f"{by} does not come to its end")
    size = _sizes(sim)
    n = min(len(other.q), len(places))
    gap = np.abs(q[places[:n]] - other.q[:n]) / size
    if not gap.size:
        return Accuracy(0.0, by=by)
    i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
    worst = float(gap[i, j])
    error = worst if worst > SATURATED else _share(sim, other.steps, _ratio(sim, t, places, other.q, size, again, worst)) * worst
    growth, saturated = _growth(sim, t[places[:n]], other.q[:n], size, again, how)
    return Accuracy(error, place(sim, int(j), float(t[places[i]])), growth, saturated, f"{by}{again.given}")


def without_calling(sim: Simulation, again: Rerun) -> Rerun:
    """The same with sampled functions replaced by what they gave: they may remember, and are not called a second time."""
    found: dict[str, dict[float, float]] = {}
    for piece in sim.pieces:
        actuation = piece.evaluator.setup.actuation
        slots, held = actuation.held.slots, actuation.held
        for name in actuation.remembering:
            found.setdefault(name, {}).update(zip(held.t, (row[slots.index(name)] for row in held.values), strict=True))
    changed: dict[str, Any] = {}
    if found:
        drive = {name: replace(sim.drive[name], value=Replay(samples)) for name, samples in found.items()}
        changed["drive"] = {**sim.drive, **drive}
    if sim.control is not None and sim.control.given:
        changed["control"] = sim.control.replayed()
    return replace(again, changed=changed) if changed else again


class Replay:
    """A function of time that holds what another gave at samples."""

    def __init__(self, samples: dict[float, float]):
        self.t, self.values = np.array(sorted(samples)), np.array([samples[t] for t in sorted(samples)])

    def __call__(self, t: float) -> float:
        return float(self.values[max(int(np.searchsorted(self.t, t + SAME_TIME, side="right")) - 1, 0)])


def steps_of(sim: Simulation) -> int:
    return int(sum(p.solution.counters["steps"] for p in sim.pieces))


def _modes(sim: Simulation) -> int:
    """Modes a run beside this one may have: one that takes many more is no comparison, and may have no end."""
    return MORE_MODES * len(sim.pieces) + MORE_MODES


def _ratio(sim: Simulation, t: np.ndarray, places: np.ndarray, beside: np.ndarray, size: np.ndarray, again: Rerun, worst: float) -> float:
    """How much larger the error is with twice the step, observed: differences of runs with 1, 2 and 4 steps.

    Friction and other forces that bend within a step lower the order of a method with fixed steps; its own order would then promise an
    error many times too small. A ratio of 2 is the first order, which is the least that is assumed.
    """
    if sim.options.adaptive or worst <= ROUND_OFF:
        return 2.0**sim.options.method.order
    coarse = again.positions(t[places], step=4.0 * (sim.options.step or 0.0))
    if coarse is None or not len(coarse.q):
        return 2.0
    n = min(len(coarse.q), len(beside))
    gap = float((np.abs(beside[:n] - coarse.q[:n]) / size).max(initial=0.0))
    return min(max(gap / worst, 2.0), 2.0**sim.options.method.order)


def _share(sim: Simulation, steps: int, doubled: float) -> float:
    """The part of a difference that is the error of the run itself: errors go with the power `order` of the length of steps, and are
    `doubled` times larger with twice a fixed step."""
    if not sim.options.adaptive:
        return 1.0 / (doubled - 1.0)
    order, mine = sim.options.method.order, max(steps_of(sim), 1)
    if steps >= mine:
        return TIGHTER / (TIGHTER - 1.0)
    coarser = min(max((mine / max(steps, 1)) ** order, 2.0), LOOSER)
    return 1.0 / (coarser - 1.0)


def halved(sim: Simulation, t: np.ndarray, q: np.ndarray, again: Rerun, found: Accuracy) -> Accuracy:
    """The same with the error by a run with about half the step, at all samples: the strict way."""
    o, share = sim.options, 1.0
    if o.adaptive:  # an error of order p + 1 per step: a tolerance 2^(p + 1) times smaller halves the steps
        how: dict[str, Any] = {"tolerance": max(o.tolerance / 2.0 ** (o.method.order + 1), 1e-14)}
    else:
        how, share = {"step": (o.step or 0.0) / 2.0}, 1.0 / (1.0 - 0.5**o.method.order)  # Richardson
    other = replace(again, most_modes=_modes(sim)).positions(t, None, **how)
    if other is None:
        return replace(found, error=np.inf, where="", by="the run with half the step does not come to its end")
    n = min(len(other.q), len(t))
    gap = np.abs(q[:n] - other.q[:n]) / _sizes(sim) * share
    if not gap.size:
        return found
    i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
    return replace(found, error=float(gap[i, j]), where=place(sim, int(j), float(t[i])), by=f"a run with half the step{again.given}")


def place(sim: Simulation, j: int, t: float) -> str:
    """A coordinate and a time, with the unit of errors."""
    kinds = [k for jt in sim.system.loops.skel.types for k in jt.coordinate_kinds]
    unit = "of the size" if kinds[j] == "length" else "rad" if kinds[j] == "angle" else "of a unit quaternion"
    return f"{unit}, {sim.system.kernels.entries['q'][j]} at t = {t:.4g} s"


def _beside(sim: Simulation) -> tuple[dict[str, Any], str]:
    """Options of the run to compare with, and its description. A run of few steps has none to spare: there it is the finer one."""
    o = sim.options
    if not o.adaptive:
        return {"step": 2.0 * (o.step or 0.0)}, "a run with twice the step"
    if o.tolerance * LOOSER > LOOSEST or steps_of(sim) < STEPS_OF_ACCURACY:
        return {"tolerance": max(o.tolerance / TIGHTER, 1e-15)}, f"a run with 1/{TIGHTER:.0f} of the tolerance"
    most = int(sum(p.solution.counters["steps"] + p.solution.counters["rejected"] for p in sim.pieces))
    return {"tolerance": o.tolerance * LOOSER, "most_steps": most}, f"a run with {LOOSER:.0f} times the tolerance"


def _sizes(sim: Simulation) -> np.ndarray:
    """Unit of every coordinate."""
    kinds = [k for jt in sim.system.loops.skel.types for k in jt.coordinate_kinds]
    return np.array([sim.system.loops.kappa if k == "length" else 1.0 for k in kinds])


def _growth(
    sim: Simulation, t: np.ndarray, beside: np.ndarray, size: np.ndarray, again: Rerun, how: dict[str, Any]
) -> tuple[float | None, bool]:
    """Largest ratio of what a change of the start becomes to what it was; zero where drives leave nothing to change."""
    try:
        direction = _tangent(sim)
    except LinkwrightError:  # a start in a singular position
        return None, False
    if direction is None:
        return 0.0, False
    change = min(max(CHANGES[0], ABOVE_ERROR * how.get("tolerance", 0.0)), CHANGES[1])
    st, skel = sim.start, sim.system.loops.skel
    moved = State(skel, st.q + change * qdot(skel, st.q, direction), st.v + change * direction, st.references, st.t)
    other = again.positions(t, moved, **how)
    if other is None:
        return None, False
    n = min(len(other.q), len(beside))
    gap = float(np.abs((other.q[:n] - beside[:n]) / size).max(initial=0.0))
    return gap / change, gap > SATURATED


def _tangent(sim: Simulation) -> np.ndarray | None:
    """A velocity, of size one, that loops and drives allow beside that of the start: a random one, without its part along the rows
    of J. None where nothing is left of it."""
    setup, st, columns = sim.pieces[0].evaluator.setup, sim.start, sim.system.loops.columns
    direction_wanted = np.random.default_rng(16).standard_normal(len(st.v))
    rests = sim.pieces[0].mode.rests
    if setup.kernels.sizes.nc or rests:
        x0 = setup.actuation.x0
        y = np.concatenate([st.q, st.v, x0, np.zeros(setup.problem.nx - len(x0))])
        head, _ = sim.pieces[0].evaluator.inputs(st.t, y, np.asarray(setup.values["near"]))
        equations = setup.kernels.equations(sim.parameters)
        law = [head[k] for k in ("drive", "speed", "acceleration") if k in head]
        loops = equations.moved(*law).loops if law else equations.loops
        loops = loops.with_([sim.ends[key].constraint(loops.skel) for key in rests])
        f = loops.factored(loops.at(st.q, st.v, st.t, st.references), FIRM)
        for _ in range(2):  # twice for the sake of round-off
            direction_wanted = direction_wanted - f.solve(f.A @ direction_wanted)
    size = float(np.abs(direction_wanted).max(initial=0.0))
    return columns * direction_wanted / size if size > FIRM else None
