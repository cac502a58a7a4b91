"""`linkwright bench runs`: whole simulations, ours and others', with time, error at the end and change of energy.

    run        five seconds of free motion of the carpet scraper (`free_run`), contenders in turns
    passages   runs through singular positions: a change-point four-bar, and chains of 10 and 40 parallelograms
    contact    a leg and a gripper with and without their contacts (`contact_runs`)
    batch      a thousand runs of a four-bar, on one core and on all

A peer's ratio is its time over our fastest run that is at least as exact as the peer's. "time loop" is what the equations cost
once a system is compiled; "s.simulate" is the whole call with 500 samples, passages and certificate. Runs alone are timed by the
processor (`clocks`), batches by the clock on the wall.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench.cases import BenchRow, Contender, Unavailable, attempt
from benchmarks.bench.clocks import timed
from benchmarks.bench.contact_runs import contact_rows
from benchmarks.bench.free_run import DURATION, QUANTITY, FreeRun, free_run
from benchmarks.bench.known_motions import chain_angle, change_point_error
from linkwright import __version__
from linkwright.api import compiled_of
from linkwright.compiler import native
from linkwright.errors import counted
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.simulation.run_batch import run_batch
from linkwright.system.system import System

if TYPE_CHECKING:
    from benchmarks.peers import Peers

ENGINE, CALL = "linkwright time loop", "linkwright s.simulate"
TOLERANCES = (1e-8, 1e-9, 1e-10, 1e-12)
CALL_TOLERANCE = 1e-9
PASSAGES = "passages"
PASSAGE_TOLERANCE = 1e-10
CHAINS, QUICK_CHAINS = (10, 40), (10,)
BATCH, BATCH_SECONDS, BATCH_TOLERANCE = 1000, 2.0, 1e-8

Trajectories = Callable[[Sequence[Contender], int], list[BenchRow]]


def rows(turns: Trajectories, peers: Peers | None, rounds: int, quick: bool, say: Callable[[str], None]) -> list[BenchRow]:
    """All rows of this part; `turns` times contenders in turns."""
    say("whole runs: free motion ...")
    offers = offered(free_run(), peers, quick)
    out = [*turns([c for c in offers if isinstance(c, Contender)], rounds), *(r for r in offers if isinstance(r, BenchRow))]
    say("whole runs: singular passages ...")
    offers = passages(QUICK_CHAINS if quick else CHAINS)
    out += [*turns([c for c in offers if isinstance(c, Contender)], 2), *(r for r in offers if isinstance(r, BenchRow))]
    say("whole runs: contact ...")
    out += contact_rows(2 if quick else 8, 0.2 if quick else 1.0)
    say("whole runs: a batch ...")
    return out + batch_rows(100 if quick else BATCH, repeats=2 if quick else 5)


def offered(run: FreeRun, peers: Peers | None, quick: bool = False) -> list[Contender | BenchRow]:
    """Contenders of the free motion, each run once and judged."""
    out = attempt(ENGINE, run.case.name, (QUANTITY,), lambda: ours(run))
    return out + (peers.on_run(run, quick) if peers else [])


def ours(run: FreeRun) -> list[Contender]:
    """The native loop at several tolerances, and the call users make."""
    if not native.available():
        raise Unavailable("native code needs the package llvmlite (pip install llvmlite)")
    return [_loop(run, tolerance) for tolerance in TOLERANCES] + [_call(run)]


def _loop(run: FreeRun, tolerance: float) -> Contender:
    done = run.go(tolerance)
    more = f"tolerance {tolerance:g}, {done.counters['steps']} steps"
    row = run.row(ENGINE, __version__, run.judged_state(done.y[-1]), more)
    return timed(row, lambda: run.go(tolerance))


def _call(run: FreeRun) -> Contender:
    system, state = run.case.system, run.case.state

    def call() -> Any:
        return system.simulate(state, run.duration, tolerance=CALL_TOLERANCE)

    done = call()
    more = f"tolerance {CALL_TOLERANCE:g}, {len(done.t)} samples, certificate"
    return timed(run.row(CALL, __version__, run.judged(done.q[-1], done.v[-1]), more), call)


# -------------------------------------------------------------------- singular passages


def passages(chains: Sequence[int] = CHAINS, seconds: tuple[float, float] = (DURATION, 20.0)) -> list[Contender | BenchRow]:
    """The change-point four-bar and the chains, as users call them."""
    out = attempt(CALL, "change-point-four-bar", (PASSAGES,), lambda: [_change_point(seconds[0])])
    for n in chains:
        out += attempt(CALL, f"parallelogram-chain N={n}", (PASSAGES,), lambda n=n: [_chain(n, seconds[1])])
    return out


def shipped(name: str, **parameters: Any) -> System:
    return System(modelfile.read(models.path(name), **parameters))


def _simulated(system: System, seconds: float) -> tuple[Callable[[], Any], Any]:
    def call() -> Any:
        return system.simulate(system.start, seconds, tolerance=PASSAGE_TOLERANCE)

    return call, call()


def _row(mechanism: str, error: float, note: str) -> BenchRow:
    return BenchRow(CALL, __version__, mechanism, PASSAGES, accuracy=error, note=note)


def _change_point(seconds: float) -> Contender:
    system = shipped("change-point-four-bar")
    call, done = _simulated(system, seconds)
    error = abs(change_point_error(done["A"][0], done["A.v"][0], seconds, done["A"][-1]))
    return timed(_row("change-point-four-bar", error, f"{seconds:g} s, {counted(len(done.passages), 'passage')}"), call)


def _chain(n: int, seconds: float) -> Contender:
    system = shipped("parallelogram-chain", N=n)
    call, done = _simulated(system, seconds)
    error = abs(float(done["G0"][-1] - done["G0"][0]) - chain_angle(n, seconds))
    return timed(_row(f"parallelogram-chain N={n}", error, f"{seconds:g} s, {counted(len(done.passages), 'passage')}"), call)


# -------------------------------------------------------------------- batches


def batch_rows(count: int = BATCH, seconds: float = BATCH_SECONDS, repeats: int = 5) -> list[BenchRow]:
    """Runs of the four-bar from as many speeds of its crank: time per run on one core and on all, in turns.

    On a busy machine cores are not to be had; the processor time of the calling thread, which does its share of the runs and
    everything else, measures the speed-up of all cores where they are idle."""
    system = shipped("four-bar")
    states = [system.assemble(q={"A": 1.0}, v={"A": speed}) for speed in np.linspace(2.0, 12.0, count)]
    ways: dict[str, int | None] = {"one core": 1, "all cores": None}
    wall, own, ends = dict.fromkeys(ways, np.inf), dict.fromkeys(ways, np.inf), dict[str, np.ndarray]()
    for _ in range(repeats):
        for name, threads in ways.items():
            begin, used = time.perf_counter(), time.thread_time()
            how: dict[str, Any] = {"threads": threads, "tolerance": BATCH_TOLERANCE, "sample_interval": [seconds], "progress": False}
            done = run_batch(compiled_of(system), states, seconds, **how)
            wall[name], own[name] = min(wall[name], time.perf_counter() - begin), min(own[name], time.thread_time() - used)
            ends[name] = done["A"][:, -1]
    one, many = ways
    same = "the same bits" if np.array_equal(ends[one], ends[many]) else "but other results"
    gain = f"{wall[one] / wall[many]:.2f} times as fast, {own[one] / own[many]:.2f} by processor time, {same}"
    tight = system.simulate(states[-1], seconds, tolerance=1e-13, sample_interval=[seconds])["A"][-1]
    error, what = abs(float(ends[one][-1]) - float(tight)), f"batch of {count} runs"
    notes = {one: "per run", many: f"per run, {gain}"}
    return [
        BenchRow(f"linkwright, {name}", __version__, "four-bar", what, ns=1e9 * wall[name] / count, accuracy=error, note=notes[name])
        for name in ways
    ]
