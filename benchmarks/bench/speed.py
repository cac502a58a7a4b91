"""`linkwright bench`: how fast, how exact, and how long until the first result, ours and others' in one run on one machine.

    linkwright bench                  our kernels, process times, growth with the number of loops
    linkwright bench --peers          the same mechanisms in other programs as well (from a checkout; compiles where a compiler is)
    linkwright bench runs             whole simulations
    linkwright bench -o results.csv   keeps the table

All contenders of a mechanism take turns in short rounds and the best round of each counts, so that ratios do not depend on
what else the machine did at the time.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.bench import ours, processes, table
from benchmarks.bench import runs as whole_runs
from benchmarks.bench.cases import MECHANISMS, BenchRow, Contender, case
from linkwright import files
from linkwright.errors import UsageError, nearest
from linkwright.rings.papers import chain_cost as chain

if TYPE_CHECKING:
    from benchmarks.peers import Peers

LADDER, QUICK_LADDER = (1, 2, 4, 8, 16, 32, 64, 128), (1, 4, 16)
ROUNDS, QUICK_ROUNDS = 12, 3
SECONDS = 0.03  # of one contender in one round
FIRST_USE = ("carpet-scraper", "stewart")


def main(
    *,
    peers: bool = False,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    as_json: bool = False,
    mechanisms: Sequence[str] = MECHANISMS,
    build: str | os.PathLike[str] | None = None,
    runs: bool = False,
    say: Callable[[str], None] | None = None,
) -> list[BenchRow]:
    """Measures, prints the table (or JSON) and keeps it as CSV if asked. `build` is a directory for what compilers make."""
    for name in mechanisms:
        if name not in MECHANISMS:
            raise UsageError(f"there is no benchmark of '{name}'. {nearest(name, MECHANISMS, 'Mechanisms')}")
    if output is not None:
        files.checked(output, (".csv",))
    report = say or _report
    rows = run(peers=peers, quick=quick, mechanisms=mechanisms, build=build, runs=runs, say=report)
    return table.deliver(rows, output, as_json=as_json)


def _report(text: str) -> None:
    """Progress for people, away from the results."""
    print(text, file=sys.stderr)


def run(
    *,
    peers: bool = False,
    quick: bool = False,
    mechanisms: Sequence[str] = MECHANISMS,
    build: str | os.PathLike[str] | None = None,
    runs: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> list[BenchRow]:
    """All rows, ratios included. `runs`: whole simulations in place of kernels."""
    rows: list[BenchRow] = []
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with _peers(build, say) if peers else nullcontext() as others:
        if runs:
            return table.with_ratios(whole_runs.rows(in_turns, others, rounds, quick, say))
        if others:
            others.prepare()
        for name in mechanisms:
            say(f"{name} ...")
            rows += compare(name, others, rounds)
    say("processes ...")
    rows += processes.import_rows(2 if quick else 5)
    for name in (n for n in FIRST_USE if n in mechanisms):
        rows += processes.first_use_rows(name, 1 if quick else 2)
    say("growth with the number of loops ...")
    rows += ladder(QUICK_LADDER if quick else LADDER)
    return table.with_ratios(rows)


def _peers(build: str | os.PathLike[str] | None, say: Callable[[str], None]) -> Peers:
    """Other programs, imported where they are asked for: they import many packages."""
    from benchmarks.peers import Peers

    return Peers(build, say)


def compare(name: str, peers: Peers | None, rounds: int) -> list[BenchRow]:
    """Our kernels and the peers on one mechanism, timed in turns."""
    here = case(name)
    offers = [*ours.contenders(here), *(peers.on_case(here) if peers else [])]
    return [*in_turns([c for c in offers if isinstance(c, Contender)], rounds), *(r for r in offers if isinstance(r, BenchRow))]


def in_turns(contenders: Sequence[Contender], rounds: int, seconds: float = SECONDS) -> list[BenchRow]:
    """Every contender once a round; its best round counts. Sorted by quantity, then time; what fails says so."""
    best, failed = [float("inf")] * len(contenders), dict[int, str]()
    for _ in range(rounds):
        for i, c in enumerate(contenders):
            if i not in failed:
                try:
                    best[i] = min(best[i], c.run(seconds))
                except Exception as problem:  # another program may end in the middle; the others continue
                    failed[i] = f"not measured: {type(problem).__name__}: {problem}"
    rows = [replace(c.row, note=failed[i]) if i in failed else c.timed(best[i]) for i, c in enumerate(contenders)]
    return sorted(rows, key=lambda r: (r.quantity, r.ns or 0.0))


def ladder(loops: Sequence[int]) -> list[BenchRow]:
    """The chain of N loops, compiled without a cache."""
    rows: list[BenchRow] = []
    before: Any = os.environ.get("LINKWRIGHT_CACHE")
    with tempfile.TemporaryDirectory(prefix="linkwright-cache-") as place:
        os.environ["LINKWRIGHT_CACHE"] = place
        try:
            for n in loops:
                system = chain.chain(n)
                rows += ours.scaling_rows(n, system, chain.moving_state(system))
        finally:
            os.environ.pop("LINKWRIGHT_CACHE")
            if before is not None:
                os.environ["LINKWRIGHT_CACHE"] = before
    return rows
