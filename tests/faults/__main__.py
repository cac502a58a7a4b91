"""Run the trial: `python -m tests.faults`, described in `tests/faults/__init__.py`."""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from tests.faults.picking import picked, room_of
from tests.faults.places import Fault
from tests.faults.trial import Copy, Verdict, judged, long_ones, together

EQUIVALENT = Path(__file__).with_name("equivalent.csv")
HEADER = ("room", "place", "fault", "circle", "seconds", "found by", "notes")


def equivalents() -> dict[tuple[str, str, str], str]:
    """Faults that change nothing a user can notice, marked by hand: (path, function, fault) and the reason."""
    with EQUIVALENT.open(encoding="utf-8", newline="") as file:
        return {(row["path"], row["function"], row["fault"]): row["reason"] for row in csv.DictReader(file)}


def row(verdict: Verdict) -> dict[str, str]:
    """Return a row of the table."""
    fault = verdict.fault
    reason = equivalents().get((fault.path, fault.inside, str(fault)))
    found = verdict.test or (f"EQUIVALENT: {reason}" if reason else "SURVIVED")
    place, notes = f"{fault.path}:{fault.line}", "; ".join(verdict.notes)
    values = (room_of(fault.path), place, str(fault), verdict.circle, f"{verdict.seconds:.0f}", found, notes)
    return dict(zip(HEADER, values, strict=True))


def show(verdict: Verdict) -> None:
    """Print a verdict on one line."""
    entry = row(verdict)
    spent = f"[{entry['seconds']} s, {entry['circle'] or 'near, room'}]"
    print(entry["place"], entry["fault"], spent, entry["found by"], entry["notes"], sep="  ", flush=True)


def tried(faults: Sequence[Fault], *, jobs: int, timeout: float, everything: bool, slow: bool) -> list[Verdict]:
    """Return the verdicts on faults, in their order."""
    with ExitStack() as stack:
        cache = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="linkwright-faults-cache-")))
        copies: SimpleQueue[Copy] = SimpleQueue()
        for _ in range(jobs):
            copies.put(stack.enter_context(Copy.made(timeout)))
        printing = Lock()

        def one(fault: Fault) -> Verdict:
            copy = copies.get()
            try:
                verdict = judged(copy, fault, cache)
            finally:
                copies.put(copy)
            with printing:
                show(verdict)
            return verdict

        with ThreadPoolExecutor(jobs) as pool:
            verdicts = list(pool.map(one, faults))
        left = [v for v in verdicts if not v.test]
        copy = copies.get()
        if everything and left:
            print(f"{len(left)} are left; all tests run with them.", flush=True)
            left = together(copy, left, cache)
        if slow:
            left = [v if v.test else long_ones(copy, v, cache) for v in left]
        last = {v.fault: v for v in left} if everything or slow else {}
        for verdict in last.values():
            show(verdict)
        return [last.get(v.fault, v) for v in verdicts]


def main(arguments: Sequence[str]) -> int:
    """Run the trial and return 1 if a fault survived."""
    about = "Make small faults in a copy of the sources, one at a time; a test should find each."
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=about)
    parser.add_argument("--seed", type=int, default=1, help="another number chooses other faults (default 1)")
    parser.add_argument("--count", type=int, default=40, help="number of faults (default 40)")
    parser.add_argument("--room", help="only faults of this folder of src/linkwright, of 'scripts' (JavaScript) or 'package' (no folder)")
    parser.add_argument("--only", metavar="TEXT", help="of the chosen faults only those whose place has this text, 'joints/ball.py:31'")
    parser.add_argument("--jobs", type=int, default=1, help="faults that are tried at the same time (default 1)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds after which a test hangs and the fault is found (300)")
    parser.add_argument("--near", action="store_true", help="leave out the last circle, all tests")
    parser.add_argument("--slow", action="store_true", help="with what is left, run the near tests that are marked slow")
    parser.add_argument("--list", action="store_true", help="print the faults and end")
    parser.add_argument("-o", "--output", type=Path, help="write the table as CSV")
    given = parser.parse_args(arguments)
    faults = [f for f in picked(given.count, given.seed, given.room) if not given.only or given.only in f"{f.path}:{f.line}"]
    if given.list:
        for fault in faults:
            print(f"{fault.path}:{fault.line}  {fault}  in {fault.inside or 'the module'}")
        return 0
    verdicts = tried(faults, jobs=given.jobs, timeout=given.timeout, everything=not given.near, slow=given.slow)
    rows = [row(v) for v in verdicts]
    if given.output:
        with given.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, HEADER)
            writer.writeheader()
            writer.writerows(rows)
    survived = sum(r["found by"] == "SURVIVED" for r in rows)
    print(f"{len(rows)} faults, {sum(bool(v.test) for v in verdicts)} found, {survived} survived.")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
