"""Tables 3 and 4 of [Koul2013]: what the multipliers cost at system level (SLM) and at subsystem level (SSLM), as ratios.

Seconds of a processor of its time cannot be repeated. Operations can be counted: of the solution alone (from I, phi, J, Psi to
lambda and q''), both methods with every entry of their matrices a number, as a library routine and the paper's MATLAB program have
it (matrices of system size for SLM, blocks for SSLM), and both with zeros folded, as compiled code has them. Whole simulations, free
and forced, are those of Table 3: its durations, tolerances and samples, and the pair of Runge-Kutta formulas that ode45 has. Their
operations decide, those of all forward dynamics of a run; their times are measured as ratios of two programs that take turns in one
process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import compiled_of, equation_terms, formulations
from linkwright.mechanics.formulations.sslm import Sslm
from linkwright.rings.papers import Item, chain_cost, compared
from linkwright.rings.papers.chain_cost import counted_terms
from linkwright.rings.papers.koul_matrices import in_motion, manipulator, scraper
from linkwright.rings.papers.koul_runs import manipulator_drive, scraper_drive
from linkwright.rings.papers.operation_counts import Tally, variables

TABLE_3 = {  # s: SLM, SSLM
    "scraper": ((2.8, 2.72), (6.51, 6.41), (9.33, 9.25)),
    "3-RRR": ((3.07, 2.96), (10.25, 10.12), (12.91, 12.81)),
}
TABLE_4 = {"scraper": (0.3045, 0.2205), "3-RRR": (0.2055, 0.1575)}
SIMULATIONS = {"free, 15 s": (15.0, 1e-3), "free, 5 s": (5.0, 1e-8), "forced, 5 s": (5.0, 1e-8)}  # rows of Table 3: duration, tolerance
EXAMPLES: Mapping[str, Callable[[], tuple[Any, Any]]] = {"scraper": scraper, "3-RRR": manipulator}
FORCED = {"scraper": scraper_drive, "3-RRR": manipulator_drive}
BOTH = ("slm", "sslm")

GROWTH_LOOPS = (4, 8, 16)  # of the chain; 16 loops of dense matrices are counted in a tenth of a second
DRIFT_TIME = 5.0  # s of free motion without stabilization


def saved(pair: tuple[float, float]) -> float:
    """Per cent that the second takes less than the first."""
    return 100.0 * (1.0 - pair[1] / pair[0])


def solution_operations(s: Any, st: Any, formulation: str, *, full: bool = False) -> int:
    """Operations from the terms to multipliers and accelerations; `full`: zeros in a matrix are numbers like any other."""
    tally = Tally()
    q, v, tau = (variables(x, tally) for x in (st.q, st.v, np.ones(len(st.v))))
    t = equation_terms.terms(compiled_of(s).loops, q, v)
    before = tally.counts()
    formulations.create(formulation)(counted_terms(t, formulation, tally, full=full), tau)
    return (tally.counts() - before).total


class SolutionCount(NamedTuple):
    """Operations of the solution by (SLM, SSLM), both counted alike."""

    full: tuple[int, int]
    folded: tuple[int, int]


@cache
def operations(name: str) -> SolutionCount:
    s, st = EXAMPLES[name]()
    full, folded = ([solution_operations(s, st, f, full=kind) for f in BOTH] for kind in (True, False))
    return SolutionCount((full[0], full[1]), (folded[0], folded[1]))


def in_turns(runs: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """Best of several rounds of each, one after the other in every round."""
    best = dict.fromkeys(runs, float("inf"))
    rounds = 7
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], run())
    return best


def kernel_ratio(name: str) -> float:
    """Time of a whole forward dynamics in native code, SSLM over SLM; nan where nothing native can be timed."""
    s, st = EXAMPLES[name]()
    kernels = {f: s.kernel("forward", f) for f in BOTH}
    if not all(k.native for k in kernels.values()):
        return float("nan")
    given = (st.q, st.v, np.zeros(len(st.v)))
    best = in_turns({f: lambda k=k: k.time(*given) for f, k in kernels.items()})
    return best["sslm"] / best["slm"]


class Whole(NamedTuple):
    """SSLM over SLM in one simulation."""

    operations: float  # of all forward dynamics
    time: float  # of the thread, so that other programs on the machine do not count


@cache
def whole(name: str, row: str) -> Whole:
    """One row of Table 3."""
    s, st = EXAMPLES[name]()
    duration, tolerance = SIMULATIONS[row]
    drive = FORCED[name]() if row.startswith("forced") else {}

    def run(formulation: str) -> Any:
        return s.simulate(
            st, duration, drive=drive, tolerance=tolerance, sample_interval=0.01, integrator="dopri5", formulation=formulation
        )

    def seconds(formulation: str) -> float:
        begin = time.thread_time()
        run(formulation)
        return time.thread_time() - begin

    work = {f: run(f).certificate.evaluations * s.kernel("forward", f).operations for f in BOTH}  # compiles, too
    best = in_turns({f: lambda f=f: seconds(f) for f in BOTH})
    return Whole(work["sslm"] / work["slm"], best["sslm"] / best["slm"])


def multiplier_cost() -> Item:
    """Table 4."""
    counts = {name: operations(name) for name in EXAMPLES}
    ways = {"every entry a number": lambda c: c.full, "zeros folded in both": lambda c: c.folded}

    def sentence(way: str) -> str:
        pairs = {name: ways[way](c) for name, c in counts.items()}
        return f"{way}: " + ", ".join(f"{name} {a} and {b} ({saved((a, b)):.1f} % fewer)" for name, (a, b) in pairs.items())

    return Item(
        "Table 4",
        "cost of the multipliers, SLM against SSLM",
        "; ".join(f"{name} {a} and {b} s, {saved((a, b)):.1f} % less" for name, (a, b) in TABLE_4.items()),
        "operations, " + "; ".join(map(sentence, ways)),
        "undecided",
        max(abs(saved(pick(counts[name])) - saved(TABLE_4[name])) for name in EXAMPLES for pick in ways.values()),
        None,
        "per cent saved: operations here, seconds there",
        "cannot be decided because times of a program in MATLAB on a processor of 2.2 GHz cannot be repeated; SSLM takes less in both "
        "ways of counting",
    )


def simulation_cost() -> Item:
    """Table 3."""
    found = {name: [whole(name, row) for row in SIMULATIONS] for name in EXAMPLES}
    every = [w for rows in found.values() for w in rows]
    faster = sum(w.time < 1.0 for w in every)

    def less(ratios: Iterable[float]) -> str:
        return ", ".join(f"{saved((1.0, x)):.1f}" for x in ratios)

    def sentence(name: str) -> str:
        work, times = zip(*found[name], strict=True)
        return f"{name} {less(work)} % fewer operations, {less(times)} % less time (one evaluation {less([kernel_ratio(name)])} %)"

    return compared(
        "Table 3",
        "whole simulations, free and forced, SLM against SSLM",
        "; ".join(f"{name} {', '.join(f'{saved(pair):.1f}' for pair in rows)} % less time" for name, rows in TABLE_3.items()),
        "; ".join(sentence(name) for name in EXAMPLES),
        float(sum(w.operations >= 1.0 for w in every)),
        0.0,
        f"simulations of {len(every)} in which SSLM does not take fewer operations",
        f"in sign and by operations; by time SSLM took less in {faster} of {len(every)} when measured just now: compiled code needs "
        "milliseconds for a simulation, the multipliers are a small part of them, and times scatter by a few per cent. By how much "
        "cannot be compared, the paper's are seconds of MATLAB on 2.2 GHz",
    )


# Claims of [Koul2013] beside its examples: how work grows, constraints at acceleration level, recursion after the multipliers, drift.
#
# Each is computed on the paper's own mechanisms or on a chain of four-bar loops, and compared with something that does not use it.


def growth() -> Item:
    """Sec. 1: exponents of the number of loops, from the last doubling."""
    n, twice = GROWTH_LOOPS[-2:]
    power = {
        name: math.log2(
            chain_cost.operations(twice, name.split()[0], full="dense" in name).total
            / chain_cost.operations(n, name.split()[0], full="dense" in name).total
        )
        for name in ("kkt dense", "slm dense", "sslm")
    }
    return compared(
        "Sec. 1",
        "growth of the work with the number of loops: system-level matrices against subsystems",
        "O((n + m)^3) and O(n^3) + O(m^3); less by subsystems",
        f"exponents from {n} to {twice} loops: " + ", ".join(f"{name} {x:.2f}" for name, x in power.items()),
        abs(power["sslm"] - 1.0),
        0.01,
        "an exponent of 1 for subsystems; dense ones tend to 3 from below",
        "with m and n in proportion to the number of loops",
    )


def acceleration_constraints() -> Item:
    """(8): J q'' + J-dot q' is the second derivative of the loops' gaps along any motion."""
    worst, h = 0.0, 1e-4
    for s, st in in_motion():
        t = s.terms(st)
        a = np.linspace(-1.0, 1.0, len(st.v))  # any acceleration, not one of the mechanism

        def gap(time: float, s=s, st=st, a=a) -> np.ndarray:
            return s.closure(s.state(st.q + time * st.v + 0.5 * time**2 * a, st.v)).phi

        ahead, here, back = (gap(k * h) for k in (1.0, 0.0, -1.0))
        far, rear = (gap(k * h) for k in (2.0, -2.0))
        second = (-far + 16.0 * ahead - 30.0 * here + 16.0 * back - rear) / (12.0 * h * h)
        worst = max(worst, float(np.abs(t.J @ a + t.k - second).max() / max(1.0, np.abs(second).max())))
    return compared(
        "(8)",
        "constraints at acceleration level, J q'' + J-dot q'",
        "J q'' = -J-dot q'",
        "both examples in motion, an arbitrary q''",
        worst,
        1e-6,  # differences of 1e-4 s: round-off 1e-16/h^2 is 1e-8, truncation h^4 below it
        "second differences of the gaps along the motion, relative",
    )


def recursion() -> Item:
    """Fig. 2: with lambda known, each subsystem is a tree under external forces, for which an O(n) recursion gives q''."""
    worst = 0.0
    for s, st in in_motion():
        t = s.terms(st)
        tau = np.linspace(1.0, 2.0, len(st.v))
        direct, recursive = Sslm(recursion=False)(t, tau), Sslm(recursion=True)(t, tau)
        worst = max(worst, float(np.abs(direct.a - recursive.a).max() / np.abs(direct.a).max()))
    return compared(
        "Fig. 2",
        "accelerations by O(n) recursion on the trees, once the multipliers are known",
        "lambda first, then the recursion of ReDySim",
        "both examples in motion",
        worst,
        1e-11,
        "back-substitution with the factored I_j",
        "by itself Linkwright recurs from 10 velocities of a subsystem on; below, back-substitution takes fewer operations",
    )


def constraint_violation() -> Item:
    """Sec. 1 and 3: integrating accelerations alone lets the loops drift open."""
    s, st = scraper()
    gaps = {}
    for keep in ("none", "project"):
        run = s.simulate(st, DRIFT_TIME, tolerance=1e-6, stabilizer=keep, sample_interval=0.05)
        gaps[keep] = max(float(np.abs(s.closure(run.state(i)).phi).max()) for i in range(0, len(run.t), 10))
    return compared(
        "Secs. 1, 3",
        "loops drift open where accelerations alone are integrated, so a DAE needs stabilization",
        "constraint violation",
        f"scraper, {DRIFT_TIME:g} s at 1e-6: {gaps['none']:.0e} m open without stabilization, {gaps['project']:.0e} m with projection",
        gaps["project"] / gaps["none"],
        1e-6,  # round-off of 0.1 m against a drift of some 1e-6 m and more
        "the gap with projection over the gap without",
    )
