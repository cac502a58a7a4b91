"""`python -m tests.fuzz TARGET --seconds 600 --seed 7`: see the package."""

from __future__ import annotations

import argparse
import atexit
import faulthandler
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if "LINKWRIGHT_CACHE" not in os.environ:  # workers have that of the process that watches them
    os.environ["LINKWRIGHT_CACHE"] = tempfile.mkdtemp(prefix="linkwright-fuzz-")
    atexit.register(shutil.rmtree, os.environ["LINKWRIGHT_CACHE"], ignore_errors=True)


def target_of(name: str) -> Any:
    if name == "files":
        from tests.fuzz.model_files import ModelFiles

        return ModelFiles()
    if name == "imports":
        from tests.fuzz.imports import Imports

        return Imports()
    from tests.fuzz.requests import Requests

    return Requests()


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz model files, imports or the servers.")
    parser.add_argument("target", choices=("files", "imports", "server"))
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time (default 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first input (default 0)")
    parser.add_argument("--only", type=int, help="run this input only, and show it")
    parser.add_argument(
        "--growth", type=float, default=GROWTH, help=f"MB that memory may grow after the first quarter (default {GROWTH:g})"
    )
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


GROWTH = 150.0


def main() -> int:
    given = parsed()
    faulthandler.enable()
    if given.only is not None:
        from tests.fuzz.running import attempt, generator, report

        target = target_of(given.target)
        one = target.make(generator(given.seed, given.only))
        outcome, problem = attempt(target, one)
        print(outcome if problem is None else report(target, given.only, one, problem, reduce=False), one.shown(), sep="\n")
        return int(problem is not None)
    if given.worker is not None:
        from tests.fuzz.running import fuzz

        tally = fuzz(target_of(given.target), given.seed, given.seconds, given.first, given.worker)
        given.worker.write_text(json.dumps({"input": -1, "tally": asdict(tally)}), encoding="utf-8")
        return 0
    return watched(given)


def watched(given: argparse.Namespace) -> int:
    """Run the workers and print the figures of all of them; 1 if there is a finding."""
    from tests.fuzz.watching import watch

    tallies, stopped = watch([given.target, "--seed", str(given.seed)], given.seconds, given.first)
    outcomes, findings = Counter[str](), Counter[str]()
    for t in tallies:
        outcomes.update(t.get("outcomes", {}))
        findings.update({k: len(x) for k, x in t.get("findings", {}).items()})
    slowest = max(tallies, key=lambda t: t.get("slowest", 0.0))
    print(
        f"\n{given.target}, seed {given.seed}: {sum(outcomes.values())} inputs, "
        f"{sum(t['seconds'] for t in tallies):.0f} s of processor time"
    )
    print("outcomes:", ", ".join(f"{n} {name}" for name, n in outcomes.most_common()))
    print(f"slowest: input {slowest.get('slowest_input')}, {slowest.get('slowest', 0.0):.2f} s")
    grown = False
    for t in tallies:
        marks = t.get("memory", [])
        print("memory:", ", ".join(f"{mb:.0f} MB after {n}" for n, mb in marks))
        if len(marks) > 4:
            warm = max(mb for _, mb in marks[1 : max(2, len(marks) // 4 + 1)])
            grown |= marks[-1][1] - warm > given.growth
    for name, n in findings.most_common():
        print(f"finding: {n}x {name}")
    for text in stopped:
        print(f"finding: {text}")
    if grown:
        print(f"finding: memory grows by more than {given.growth:g} MB after the first quarter")
    return int(bool(findings or stopped or grown))


if __name__ == "__main__":
    sys.exit(main())
