"""Ask programs for the tasks of the closed-loop set and show errors and times, a column for each program.

python -m benchmarks.closed_loop_set                          all cases, all programs that are installed
python -m benchmarks.closed_loop_set --case four-bars-2       one case
python -m benchmarks.closed_loop_set --program mujoco --save  one program, results saved in the set
python -m benchmarks.closed_loop_set --check my-engine.json   judge the results of any program
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench.cases import Unavailable
from benchmarks.closed_loop_set import DATA, asking, cases, results, table
from benchmarks.closed_loop_set.programs import PROGRAMS
from linkwright.errors import LinkwrightError


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0; 2 where a file of the set or a name is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.closed_loop_set", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--case", action="append", default=[], metavar="NAME", help="only this case; may be repeated")
    parser.add_argument("--task", action="append", default=[], metavar="ID", help="only tasks of this id; may be repeated")
    parser.add_argument("--program", action="append", default=[], choices=PROGRAMS, help="only this program; may be repeated")
    parser.add_argument("--quick", action="store_true", help="cheapest settings, each call once")
    parser.add_argument("--save", action="store_true", help="save results in benchmarks/closed-loop-set/results")
    parser.add_argument(
        "--check", metavar="FILE", type=Path, help="read a results file, show its errors beside those saved, and run nothing"
    )
    given = parser.parse_args(arguments)
    try:
        return _check(given.check) if given.check else _run(given)
    except LinkwrightError as problem:
        print(problem, file=sys.stderr)
        return 2


def _run(given: argparse.Namespace) -> int:
    every = cases.every()
    chosen = [cases.named(name) for name in given.case] or every
    tasks = [(c, t) for c in chosen for t in c.tasks if not given.task or t.id in given.task]
    if not tasks:
        raise cases.SetError(f"no task is called {' or '.join(map(repr, given.task))}.")
    columns = []
    for name in given.program or PROGRAMS:
        try:
            found = asking.asked(name, tasks, quick=given.quick, say=lambda text: print(text, file=sys.stderr, flush=True))
        except Unavailable as reason:
            print(f"{name}: {reason}", file=sys.stderr)
            continue
        columns.append(found)
        if given.save:
            path = DATA / "results" / f"{name}.json"
            results.write(path, asking.merged(results.read(path, every) if path.is_file() else None, found))
    print(table.summary(chosen, columns))
    return 0


def _check(path: Path) -> int:
    every = cases.every()
    found = results.read(path, every)
    others = [r for r in results.every(every) if r.program != found.program]
    names = {x.case for x in (*found.answers, *found.refusals)}
    print(table.summary([c for c in every if c.name in names], [found, *others]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
