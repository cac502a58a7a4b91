"""Tables 3 and 4 of [Koul2013]: what the multipliers cost at system level (SLM) and at subsystem level (SSLM), as ratios.

Seconds of a processor of its time cannot be repeated. Operations can be counted: of the solution alone (from I, phi, J, Psi to
lambda and q''), with matrices of system size handed to a dense solver, as the paper's MATLAB program did, and with their zeros
folded, as compiled code has them. Times are measured as ratios of two programs that take turns in one process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from linkwright.bench.chain import without_structure
from linkwright.bench.counting import Tally, variables
from linkwright.formulations import create
from linkwright.papers import Item
from linkwright.papers.koul_matrices import manipulator, scraper
from linkwright.terms import terms

TABLE_3 = {  # s: SLM, SSLM
    "scraper": ((2.8, 2.72), (6.51, 6.41), (9.33, 9.25)),
    "3-RRR": ((3.07, 2.96), (10.25, 10.12), (12.91, 12.81)),
}
TABLE_4 = {"scraper": (0.3045, 0.2205), "3-RRR": (0.2055, 0.1575)}
EXAMPLES: Mapping[str, Callable[[], tuple[Any, Any]]] = {"scraper": scraper, "3-RRR": manipulator}
ROUNDS = 7


def saved(pair: tuple[float, float]) -> float:
    """Per cent that the second takes less than the first."""
    return 100.0 * (1.0 - pair[1] / pair[0])


def solution_operations(s: Any, st: Any, formulation: str, *, full: bool = False) -> int:
    """Operations from the terms to multipliers and accelerations."""
    tally = Tally()
    q, v, tau = (variables(x, tally) for x in (st.q, st.v, np.ones(len(st.v))))
    t = terms(s.loops, q, v)
    before = tally.counts()
    create(formulation)(without_structure(t, tally) if full else t, tau)
    return (tally.counts() - before).total


@cache
def operations(name: str) -> dict[str, int]:
    s, st = EXAMPLES[name]()
    return {
        "slm full": solution_operations(s, st, "slm", full=True),
        "slm folded": solution_operations(s, st, "slm"),
        "sslm": solution_operations(s, st, "sslm"),
    }


def in_turns(runs: Mapping[str, Callable[[], float]], rounds: int = ROUNDS) -> dict[str, float]:
    """Best of several rounds of each, one after the other in every round."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], run())
    return best


def kernel_ratio(name: str) -> float:
    """Time of a whole forward dynamics in native code, SSLM over SLM; nan where nothing native can be timed."""
    s, st = EXAMPLES[name]()
    kernels = {f: s.kernel("forward", f) for f in ("slm", "sslm")}
    if not all(k.native for k in kernels.values()):
        return float("nan")
    given = (st.q, st.v, np.zeros(len(st.v)))
    best = in_turns({f: lambda k=k: k.time(*given) for f, k in kernels.items()})
    return best["sslm"] / best["slm"]


def run_ratio(name: str, duration: float, tolerance: float) -> float:
    """Time of a free simulation, SSLM over SLM: of this thread, so that other programs on the machine do not count."""
    s, st = EXAMPLES[name]()

    def seconds(formulation: str) -> float:
        begin = time.thread_time()
        s.simulate(st, duration, tolerance=tolerance, output=0.01, formulation=formulation)
        return time.thread_time() - begin

    for formulation in ("slm", "sslm"):
        seconds(formulation)  # compiles
    best = in_turns({f: lambda f=f: seconds(f) for f in ("slm", "sslm")})
    return best["sslm"] / best["slm"]


def multiplier_cost() -> Item:
    """Table 4."""
    counts = {name: operations(name) for name in EXAMPLES}
    fewer = {name: saved((c["slm full"], c["sslm"])) for name, c in counts.items()}
    folded = {name: saved((c["slm folded"], c["sslm"])) for name, c in counts.items()}
    return Item(
        "Table 4",
        "cost of the multipliers, SLM against SSLM",
        "; ".join(f"{name} {a} and {b} s, {saved((a, b)):.1f} % less" for name, (a, b) in TABLE_4.items()),
        "; ".join(
            f"{name} {c['slm full']} and {c['sslm']} operations, {fewer[name]:.1f} % fewer ({folded[name]:.1f} % with zeros of SLM folded)"
            for name, c in counts.items()
        ),
        "undecided",
        max(abs(fewer[name] - saved(TABLE_4[name])) for name in EXAMPLES),
        None,
        "per cent saved: operations here, seconds there",
        "cannot be decided because times of a program in MATLAB on a processor of 2.2 GHz cannot be repeated; that SSLM takes less is so",
    )


def simulation_cost() -> Item:
    """Table 3."""
    kernels = {name: kernel_ratio(name) for name in EXAMPLES}
    runs = {name: (run_ratio(name, 15.0, 1e-3), run_ratio(name, 5.0, 1e-8)) for name in EXAMPLES}
    printed = {name: [saved(pair) for pair in rows] for name, rows in TABLE_3.items()}
    return Item(
        "Table 3",
        "time of whole simulations, SLM against SSLM",
        "; ".join(f"{name} {', '.join(f'{x:.1f}' for x in rows)} % less" for name, rows in printed.items()),
        "; ".join(
            f"{name} SSLM/SLM {runs[name][0]:.2f} (15 s, 1e-3), {runs[name][1]:.2f} (5 s, 1e-8), one evaluation {kernels[name]:.2f}"
            for name in EXAMPLES
        ),
        "undecided",
        max(abs(1.0 - 0.01 * printed[name][i] - runs[name][i]) for name in EXAMPLES for i in range(2)),
        None,
        "ratios measured in this run, native code, the two taking turns",
        "cannot be decided because the multipliers are a small part of a simulation, and seconds of another machine cannot be repeated; "
        f"of the {3.07 - 2.96:.2f} s that the 3-RRR saves in Table 3 the multipliers of Table 4 are {0.2055 - 0.1575:.3f} s",
    )
