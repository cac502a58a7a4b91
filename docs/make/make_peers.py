"""Writes the tables of docs/evidence/comparison.md and paper/paper.md again, from benchmark.csv, simulation-benchmark.csv and
rollout-benchmark.csv of docs/data.

    python docs/make/make_peers.py

Measure first: `linkwright bench --peers -o docs/data/benchmark.csv --force`, `linkwright bench runs --peers -o
docs/data/simulation-benchmark.csv --force` and `python -m benchmarks.rollouts -o docs/data/rollout-benchmark.csv`. The
text of the page is written by
hand; the text between `<!-- table: name -->` and `<!-- end -->` comes from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import log
from pathlib import Path

from blocks import renewed, table  # beside this file

from benchmarks.bench.cases import MECHANISMS, BenchRow
from benchmarks.bench.table import OURS, duration, read_csv
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.system.system import System

DOCS = Path(__file__).resolve().parents[1]
PAGE = DOCS / "evidence" / "comparison.md"
STATES, RUNS, ROLLOUTS = (DOCS / "data" / name for name in ("benchmark.csv", "simulation-benchmark.csv", "rollout-benchmark.csv"))
PAGES = (PAGE, DOCS.parent / "paper" / "paper.md")
DRIFT = re.compile(r"energy drift (\S+) J(?:, )?(.*)")
NAMES = {"four-bar": "four-bar", "carpet-scraper": "carpet scraper", "3-rrr": "3-RRR", "stewart": "Stewart platform"}
TOUCHING = {"hopper": "leg, 2 places that may touch", "walker": "biped, 8 places"}
STEPPED = {"five-bar": "five-bar", "3-rrr": "3-RRR", "stewart": "Stewart platform", "delta": "delta robot", "leg": "floating leg"}


def main() -> None:
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8"), TABLES), encoding="utf-8")
        print(f"{page.name}: {page.stat().st_size / 1000:.0f} KB")


# -------------------------------------------------------------------- one state


def states(quantity: str) -> str:
    """Programs against mechanisms: time, its ratio to ours, and the errors from the least to the largest."""
    rows = [r for r in read_csv(STATES)[0] if r.quantity == quantity and r.ns is not None]
    engines = sorted({(r.engine, r.version) for r in rows}, key=lambda e: (e[0] != OURS, mean_log(r for r in rows if r.engine == e[0])))
    lines = [[*engine, *cells([r for r in rows if r.engine == engine[0]])] for engine in engines]
    return table(["program", "version", *(NAMES[m] for m in MECHANISMS), "errors"], lines)


def mean_log(rows: Iterable[BenchRow]) -> float:
    logs = [log(r.ns) for r in rows if r.ns]
    return sum(logs) / len(logs)


def times(ratio: float | None) -> str:
    """Three digits, without an exponent."""
    return "" if ratio is None else f"{float(f'{ratio:.3g}'):,.10g} x"


def cells(rows: Sequence[BenchRow]) -> list[str]:
    """Times of one program, and how exact it was."""
    at = {r.mechanism: r for r in rows}
    shown = [duration(at[m].ns) + (f" ({times(at[m].ratio)})" if at[m].ratio else "") if m in at else "" for m in MECHANISMS]
    errors = sorted(r.accuracy for r in rows if r.accuracy is not None)
    return [*shown, f"{errors[0]:.0e} to {errors[-1]:.0e}" if errors else "not measured"]


def mechanisms() -> str:
    """What the four mechanisms are made of."""
    lines = []
    for name in MECHANISMS:
        system = System(modelfile.read(models.path(name)))
        kind = "in a plane" if system.description.planar else "in space"
        lines.append([NAMES[name], f"`{name}`", kind, len(system.tree.nodes), len(system.tree.cuts), len(system.description.drives)])
    return table(["mechanism", "built-in model", "moves", "moving bodies", "loops", "drives"], lines)


def missing() -> str:
    """What was asked for and not there."""
    rows = [(Path(path).name, r) for path in (STATES, RUNS) for r in read_csv(path)[0] if r.ns is None]
    lines = sorted({(r.engine, r.quantity, name, r.note.removeprefix("not measured: ")) for name, r in rows})
    if not lines:
        return "Nothing: every program that is asked was there and answered."
    return table(["program", "quantity", "results", "reason"], lines)


# -------------------------------------------------------------------- whole runs


def runs() -> str:
    """Time against error of the free motion, program by program, the fastest first."""
    rows = [r for r in read_csv(RUNS)[0] if r.quantity == "run" and r.ns is not None]
    best = {e: min(r.ns for r in rows if r.engine == e and r.ns) for e in {r.engine for r in rows}}
    lines = []
    for r in sorted(rows, key=lambda r: (not r.engine.startswith(OURS), best[r.engine], r.ns or 0.0)):
        found = DRIFT.fullmatch(r.note)
        drift, setting = found.groups() if found else ("", r.note)
        lines.append([r.engine, r.version, setting, f"{r.accuracy:.0e}", drift, duration(r.ns), times(r.ratio)])
    return table(["program", "version", "setting", "error, rad", "energy drift, J", "time", "over ours"], lines)


def alone() -> str:
    """Runs that no other program was asked to do."""
    rows = [r for r in read_csv(RUNS)[0] if r.quantity != "run" and r.ns is not None]
    lines = [[r.mechanism, r.quantity, r.engine, duration(r.ns), f"{r.accuracy:.0e}", r.note] for r in rows]
    return table(["mechanism", "what", "program", "time", "error, rad", "note"], lines)


# -------------------------------------------------------------------- steps


def rollouts() -> str:
    """Times of one step of one environment against their number; of others with their ratio to each of ours."""
    rows = [r for r in read_csv(ROLLOUTS)[0] if r.quantity.startswith("rollout of ")]
    numbers = sorted({int(r.quantity.split()[-1]) for r in rows})
    lines = []
    for name, shown in STEPPED.items():
        found = [r for r in rows if r.mechanism == name]
        for engine, version in dict.fromkeys((r.engine, r.version) for r in found):
            line = [next(r for r in found if r.engine == engine and r.quantity == f"rollout of {n}") for n in numbers]
            lines.append([shown, engine, version, *(_beside(r, found) for r in line), f"{line[0].accuracy:.0e}"])
    return table(["mechanism", "program", "version", *(f"{n:,}" for n in numbers), "error"], lines)


def _beside(r: BenchRow, found: Sequence[BenchRow]) -> str:
    own = [] if r.engine.startswith(OURS) else [x for x in found if x.quantity == r.quantity and x.engine.startswith(OURS)]
    ratios = [times(r.ns / x.ns) for x in own if r.ns and x.ns]
    return duration(r.ns) + (f" ({', '.join(ratios)})" if ratios else "")


def contact() -> str:
    """Times of one step of one environment with contact, errors, and what sinks in."""
    rows = [r for r in read_csv(ROLLOUTS)[0] if r.quantity.startswith("contact rollout of ")]
    numbers = sorted({int(r.quantity.split()[-1]) for r in rows})
    lines = []
    for name, shown in TOUCHING.items():
        found = [r for r in rows if r.mechanism == name]
        for engine, version in dict.fromkeys((r.engine, r.version) for r in found):
            line = [next(r for r in found if r.engine == engine and r.quantity == f"contact rollout of {n}") for n in numbers]
            deep = re.search(r"depth (\S+ m)", line[-1].note)
            lines.append([shown, engine, version, *(_beside(r, found) for r in line), f"{line[0].accuracy:.0e}", deep[1] if deep else ""])
    return table(["machine", "program", "version", *(f"{n:,}" for n in numbers), "error", "depth"], lines)


def single() -> str:
    """Times of one step called from Python."""
    rows = [r for r in read_csv(ROLLOUTS)[0] if r.quantity == "step from Python"]
    lines = []
    for engine, version in dict.fromkeys((r.engine, r.version) for r in rows):
        at = {r.mechanism: r for r in rows if r.engine == engine}
        lines.append([engine, version, *(duration(at[m].ns) + (f" ({times(at[m].ratio)})" if at[m].ratio else "") for m in STEPPED)])
    return table(["call", "version", *STEPPED.values()], lines)


# -------------------------------------------------------------------- where


def machine() -> str:
    """Machine and versions of all files, side by side."""
    every = [read_csv(path)[1] for path in (STATES, RUNS, ROLLOUTS)]
    names = list(dict.fromkeys(name for facts in every for name in facts))
    heads = ["", STATES.name, RUNS.name, ROLLOUTS.name]
    return table(heads, [[name, *(facts.get(name, "not recorded") for facts in every)] for name in names])


TABLES: dict[str, Callable[[], str]] = {
    "mechanisms": mechanisms,
    "forward": lambda: states("forward"),
    "inverse": lambda: states("inverse"),
    "call": lambda: states("forward call"),
    "step": lambda: states("step"),
    "runs": runs,
    "alone": alone,
    "rollouts": rollouts,
    "contact": contact,
    "single": single,
    "missing": missing,
    "machine": machine,
}


if __name__ == "__main__":
    main()
