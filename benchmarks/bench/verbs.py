"""Verbs that users call, each beside the kernel that answers it: processor time of one call, both in one run.

A verb's row has the kernel's own time in its note and as ratio how many times longer the verb takes. Times are of the second use on;
the first one may read code from the cache on disk, or make it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bench import processes, table
from benchmarks.bench.cases import BenchRow
from benchmarks.bench.clocks import seconds_of
from linkwright import files
from linkwright.api import compiled_of
from linkwright.errors import LinkwrightError
from linkwright.model.parameters import every_parameter
from linkwright.simulation.run_batch import run_batch

MECHANISMS = ("wiper", "four-bar", "five-bar", "carpet-scraper", "stewart", "delta")
TURNED, RUN = ("wiper", "carpet-scraper", "stewart"), ("wiper", "five-bar")  # many designs, many runs at once
DIFFERENTIATED = ("wiper", "carpet-scraper")  # many designs with derivatives
DESIGNS, RUNS, SLOPED = 1024, 256, 256
WITH_NUMBERS = ("forward", "loads", "walk")
ROUNDS = 20  # the best of so many timings counts
SHORTEST = 2e-4  # seconds of a burst
WARM_CALLS, WARM_SECONDS = 60, 0.6
Call = Callable[[], Any]


def main(
    *,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    as_json: bool = False,
    mechanisms: Sequence[str] = MECHANISMS,
    say: Callable[[str], None] | None = None,
) -> list[BenchRow]:
    """Measure the verbs of built-in models, print the table (or JSON) and write it as CSV if asked."""
    if output is not None:
        files.checked(output, (".csv",))
    tell = say or (lambda text: print(text, file=sys.stderr))
    found: list[BenchRow] = []
    for name in mechanisms:
        tell(f"verbs of {name} ...")
        found += rows(name, 0.05 if quick else 0.4)
    if tuple(mechanisms) == MECHANISMS:
        tell("commands ...")
        found += processes.command_rows(1 if quick else 3)
    return table.deliver(found, output, as_json=as_json)


def rows(name: str, seconds: float) -> list[BenchRow]:
    """Every verb of one model with its kernel."""
    from linkwright.system.mechanism import load

    m = load(name)
    found = []
    found += [_each(name, *x, seconds) for x in _of_designs(m)] if name in TURNED else []
    found += _of_gradients(m, seconds) if name in DIFFERENTIATED else []
    found += [_each(name, *x, seconds) for x in (*_of_batches(m), _of_controllers(m))] if name in RUN else []
    found += _of_inputs(m)
    for verb, call, kernel, note in (*_of_states(m), *_of_turns(m)):
        try:
            warm(call)
            took, bare = best(call, seconds), None if kernel is None else best(kernel, 0.5 * seconds)
        except LinkwrightError as problem:
            found.append(BenchRow("linkwright", "native", name, f"verb {verb}", note=str(problem)[:120]))
            continue
        beside = "" if bare is None else f"{note}: {table.duration(bare)}"
        row = BenchRow("linkwright", "native", name, f"verb {verb}", ns=took, note=beside)
        found.append(row if bare is None else replace(row, ratio=took / bare))
    return found


def _of_inputs(m: Any) -> list[BenchRow]:
    """Kernels with all numbers of the mechanism as inputs, which verbs use, against those of `s.kernel`, which have them folded in: ns of
    machine code at one state."""
    s, found = m.system, []
    core, drives = compiled_of(s), compiled_of(s).drive_names
    given = {**s.kernels.defaults, "q": s.start.q, "drive": core.drive_positions(s.start)}
    for name in WITH_NUMBERS:
        free, folded = core.ready(name, drives if name == "walk" else None), s.kernel(name)
        if free is None or core.numbers is None:
            continue
        row = [given.get(b.name, np.full(b.shape, 0.1)) for b in folded.inputs if b.name not in s.kernels.defaults]
        took, bare = np.min([[k.time(*row) for k in (free, folded)] for _ in range(ROUNDS)], axis=0).tolist()
        note = f"folded: {bare:.0f} ns, {folded.operations} operations"
        quantity = f"kernel {name}, numbers as inputs"
        found.append(BenchRow("linkwright", "native", m.name, quantity, ns=took, ratio=took / bare, operations=free.operations, note=note))
    return found


def _each(name: str, verb: str, call: Call, count: int, seconds: float) -> BenchRow:
    """Time of one design, run or second of many."""
    call()
    note = f"one of {count}, one core" if count > 1 else ""
    return BenchRow("linkwright", "native", name, f"verb {verb}", ns=best(call, seconds) / count, note=note)


def warm(call: Call) -> None:
    """Call until code is made: after answers on floats have taken about as long as making it does."""
    begin = time.process_time()
    for k in range(WARM_CALLS):
        call()
        if k >= 2 and time.process_time() - begin > WARM_SECONDS:
            break


def best(call: Call, seconds: float) -> float:
    """Return the best nanoseconds of processor time of one call, in bursts long enough to be timed."""
    call()
    calls, least = 1, seconds_of(call)
    while least * calls < SHORTEST:
        calls *= 2
        least = min(least, _burst(call, calls))
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        took = _burst(call, calls)
        least = min(least, took) if took > 0.0 else least  # clocks of virtual machines step back at times
    return 1e9 * least


def _burst(call: Call, calls: int) -> float:
    def all_of_them() -> None:
        for _ in range(calls):
            call()

    return seconds_of(all_of_them) / calls


def _of_states(m: Any) -> list[tuple[str, Call, Call | None, str]]:
    """Verbs at one state: a moving one on the loops."""
    s = m.system
    drives, rng = compiled_of(s).drive_names, np.random.default_rng(0)
    st = s.assemble(v={d: float(x) for d, x in zip(drives, rng.normal(size=len(drives)), strict=True)})
    q, v, tau = st.q, st.v, rng.normal(size=len(st.v))
    body = s.description.bodies[-1].name
    near = {d: float(x) for d, x in zip(drives, compiled_of(s).drive_positions(st) + 0.01, strict=True)}
    spread = {d: x + np.linspace(-0.01, 0.01, 1000) for d, x in near.items()}
    path = {d: lambda t, x=x: x + 0.01 * np.sin(3.0 * t) for d, x in near.items()}
    forward, loads, many = s.kernel("forward"), s.kernel("loads"), [np.tile(x, (1, 1)) for x in (q, v, tau)]
    jacobian, blocks = s.kernel("jacobian"), s.kernel("blocks")
    return [
        ("kernel, one state", lambda: forward(q, v, tau), lambda: forward.code.call(np.zeros(forward.code.n_in)), "packed call"),
        ("kernel, a leading axis of 1", lambda: forward(*many), lambda: forward(q, v, tau), "one state"),
        ("state", lambda: s.state(q, v), None, ""),
        ("forward", lambda: s.forward(st, tau), lambda: forward(q, v, tau), "kernel forward"),
        ("inverse", lambda: s.inverse(st).tau, lambda: loads(q, v, tau), "kernel loads"),
        ("jacobian", lambda: s.jacobian(st, body), lambda: jacobian(q), "kernel jacobian"),
        ("terms", lambda: s.terms(st), lambda: blocks(q, v), "kernel blocks"),
        ("assemble", lambda: s.assemble(near, guess=st), None, ""),
        ("step of arrays", lambda: s.step((q, v), tau, 1e-3), lambda: forward(q, v, tau), "kernel forward"),
        ("assemble_batch of 1,000 states", lambda: s.assemble_batch(spread, guess=st), None, ""),
        ("follow, 2,001 samples of the drives", lambda: m.follow(path, steps=2000), None, ""),
        ("settle, the first drive held", lambda: m.settle(hold=drives[:1]), None, ""),
    ]


def _numbers(m: Any) -> list[str]:
    """Ten numbers of a model, masses and dimensions in turn; none where loads have no derivatives."""
    known = [p for p in every_parameter(m.description).values() if p.placed is not None and p.by_default]
    groups = [[p.name for p in known if p.geometry == geometry] for geometry in (True, False)]
    names = [name for pair in zip(*groups, strict=False) for name in pair][:10]
    try:
        found = m.cycle().derivatives(names)
    except LinkwrightError:
        return []
    return names if found.u is not None else []


def _of_turns(m: Any) -> list[tuple[str, Call, Call | None, str]]:
    """Verbs over a cycle of 361 samples."""
    from linkwright.motion.cycle import CYCLES, cycle_of

    c = m.cycle()
    walk = m.system.kernel("kinematics")
    zero = np.zeros((len(c), len(compiled_of(m.system).drive_names)))
    many = (c.q, c.v, zero, zero, zero)
    efforts = [n for n in c.channels if n.endswith((".torque", ".force"))][:1]
    loads = [n for n in c.channels if ".on." in n or n in efforts]

    def turned() -> Any:
        CYCLES.of(compiled_of(m.system)).clear()
        return cycle_of(compiled_of(m.system), None, 360, None, None)

    parameter = next((p for p, x in m.description.parameters if isinstance(x, float) and p not in ("g", "N")), None)
    calls: list[tuple[str, Call, Call | None, str]] = [
        ("turn", turned, lambda: walk(*many), "kernel kinematics on all samples"),
        ("turn, all loads by name", lambda: m.cycle().read(loads), None, f"{len(loads)} channels"),
    ]
    numbers = _numbers(m)
    if numbers:
        system, drives = m.system, tuple(compiled_of(m.system).drive_names)

        def loaded() -> Any:
            c = replace(turned(), system=system, drives=drives)
            return c, c.read(efforts)

        by = f"turn, derivatives by {len(numbers)} numbers"
        calls.append((by, lambda: loaded()[0].derivatives(numbers), loaded, "turn with loads"))
    if parameter is not None and efforts:
        value, count = dict(m.description.parameters)[parameter], iter(range(10**9))

        def design() -> Any:
            return m.with_(**{parameter: value * (1.0 + 1e-6 * (1 + next(count)))}).cycle()[efforts[0]]

        calls.append(("with_, turn, torque", design, None, f"another {parameter} each time"))
    return calls


def _of_designs(m: Any) -> list[tuple[str, Call, int]]:
    """Cycles of 1,024 designs whose masses and places of joints all differ, on one core: verb, call, designs."""
    from linkwright.model.parameters import every_parameter

    named = {name for name, _ in m.description.parameters}
    numbers = [p for p in every_parameter(m.description).values() if p.value and p.by_default and p.name not in named]
    rng = np.random.default_rng(0)
    designs = {p.name: p.value * (1.0 + 2e-3 * rng.normal(size=DESIGNS)) for p in numbers}
    loads = [n for n in m.cycle()._load_channels if not n.startswith("shaking") and (".on." not in n or n.count(".") == 2)]
    return [
        ("turns, one torque or force", lambda: m.cycles(designs, read=loads[:1], threads=1), DESIGNS),
        ("turns, all loads", lambda: m.cycles(designs, read=loads, threads=1), DESIGNS),
    ]


def _of_gradients(m: Any, seconds: float) -> list[BenchRow]:
    """Cycles of 256 designs with all loads and their derivatives by ten numbers, against those without; and of one design, as an optimizer
    asks for them again and again, with the drive torque and three loads."""
    from linkwright.system.cycles import CycleEvaluator

    numbers = _numbers(m)
    if not numbers:
        return []
    loads = [n for n in m.cycle()._load_channels if not n.startswith("shaking") and (".on." not in n or n.count(".") == 2)]
    rng, found = np.random.default_rng(0), []
    for label, names, count in (("all loads", loads, SLOPED), ("one design, four loads", loads[:1] + loads[-3:], 1)):
        plain, sloped = (CycleEvaluator(m.system, numbers, names, derivatives=by) for by in ((), numbers))
        size = np.where(plain.nominal == 0.0, 1e-3, plain.nominal)
        rows = plain.nominal + 1e-3 * size * rng.normal(size=(count, len(numbers)))
        took, bare = (best(lambda e=e, x=rows: e(x, 1), seconds) / count for e in (sloped, plain))
        verb = f"verb turns, {label}, derivatives by {len(numbers)} numbers"
        note = f"one of {count}, one core; without derivatives: {table.duration(bare)}"
        found.append(BenchRow("linkwright", "native", m.name, verb, ns=took, ratio=took / bare, note=note))
    return found


def _of_batches(m: Any) -> list[tuple[str, Call, int]]:
    """Batches of runs of 1 s by rk4 at 1 ms on one core: fixed numbers, a free mass, a free length; verb, call, runs."""
    from linkwright.model.parameters import every_parameter
    from linkwright.system.mechanism import compile as compiled

    known = every_parameter(m.description).values()
    mass = next(p for p in known if p.kind == "mass" and p.value)
    length = next(p for p in known if p.kind == "length" and p.geometry and p.value and not p.name.startswith("ground"))
    calls = []
    for label, free in (("fixed", []), ("a mass free", [mass]), ("a length free", [length])):
        s = compiled(m, parameters=[p.name for p in free]) if free else m.system
        more = {"parameters": {p.name: p.value * np.linspace(0.99, 1.01, RUNS) for p in free}} if free else {}
        starts = s.start if free else [s.start] * RUNS

        def batch(s: Any = s, starts: Any = starts, more: Any = more) -> Any:
            return run_batch(
                compiled_of(s), starts, 1.0, integrator="rk4", step=1e-3, sample_interval=0.1, threads=1, progress=False, **more
            )

        calls.append((f"batch of runs, {label}", batch, RUNS))
    return calls


def _of_controllers(m: Any) -> tuple[str, Call, int]:
    """A second with a Python function sampled at 1 kHz that asks for the Jacobian of a body and for inverse dynamics."""
    from linkwright.drives import torque

    s = m.system
    body, drives = s.description.bodies[-1].name, compiled_of(s).drive_names

    def controlled(t: float, st: Any) -> float:
        s.jacobian(st, body)
        return s.inverse(st).tau[drives[0]] - 0.1 * st[f"{drives[0]}.v"]

    def run() -> Any:
        return s.simulate(s.start, 1.0, drive={drives[0]: torque(controlled, every=1e-3)}, sample_interval=0.1, progress=False)

    return "simulate, a Python controller at 1 kHz, one second", run, 1
