"""The worker of a fuzzing run: inputs one after another, findings made small, memory measured.

Input n of a seed is always the same, whatever was tried before it. The worker writes what it is doing to a status file, so that the process
which watches it can say at which input it hangs, and start another one after it.
"""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests.fuzz.judging import TimeLimitExceeded, signature
from tests.shrinking import smallest

REDUCING = 60.0  # s for one finding
MOST_SHOWN = 6000  # characters of an input


class Target(Protocol):
    """What is fuzzed: makes inputs, runs them, makes them smaller."""

    name: str

    def make(self, rng: random.Random) -> Any: ...
    def run(self, given: Any, folder: Path) -> str: ...
    def smaller(self, given: Any) -> Iterator[Any]: ...


@dataclass
class Tally:
    """Figures of a run."""

    inputs: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    slowest: float = 0.0
    slowest_input: int = -1
    seconds: float = 0.0  # of the processor
    memory: list[tuple[int, float]] = field(default_factory=list)  # (inputs, MB)
    findings: dict[str, list[int]] = field(default_factory=dict)  # by signature: inputs


def resident() -> float:
    """Memory in use, MB; 0 where the system does not say."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def generator(seed: int, n: int) -> random.Random:
    """The generator of one input."""
    return random.Random(f"{seed}:{n}")


def attempt(target: Target, given: Any) -> tuple[str, BaseException | None]:
    """Run an input in a folder of its own: its outcome, or what should not have come out."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        return target.run(given, folder), None
    except (Exception, TimeLimitExceeded) as problem:
        return "finding", problem
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fuzz(
    target: Target, seed: int, seconds: float, first: int = 0, status: Path | None = None, most: int | None = None, reduce: bool = True
) -> Tally:
    """Try inputs until the processor time is over, or `most` of them."""
    tally, start, n = Tally(), time.process_time(), first
    next_mark = 0.0
    while time.process_time() - start < seconds and (most is None or tally.inputs < most):
        used = time.process_time() - start
        if used >= next_mark:
            tally.memory.append((tally.inputs, resident()))
            next_mark = used + max(seconds / 10.0, 1.0)
        if status is not None:
            status.write_text(json.dumps({"input": n, "tally": asdict(tally) | {"seconds": used}}), encoding="utf-8")
        given = target.make(generator(seed, n))
        before = time.process_time()
        outcome, problem = attempt(target, given)
        took = time.process_time() - before
        tally.inputs += 1
        tally.outcomes[outcome] = tally.outcomes.get(outcome, 0) + 1
        if took > tally.slowest:
            tally.slowest, tally.slowest_input = took, n
        if problem is not None:
            known = signature(problem)
            if known not in tally.findings:
                print(report(target, n, given, problem, reduce), flush=True)
            tally.findings.setdefault(known, []).append(n)
        n += 1
    tally.seconds = time.process_time() - start
    tally.memory.append((tally.inputs, resident()))
    return tally


def report(target: Target, n: int, given: Any, problem: BaseException, reduce: bool = True) -> str:
    """A finding with the smallest input that shows it."""
    known = signature(problem)

    def fails(less: Any) -> bool:
        found = attempt(target, less)[1]
        return found is not None and signature(found) == known

    small = smallest(given, fails, target.smaller, REDUCING) if reduce and not isinstance(problem, TimeLimitExceeded) else given
    why = attempt(target, small)[1] or problem
    lines = traceback.format_exception(why)
    return f"==== finding at input {n}: {known}\n{''.join(lines)[-3000:]}---- input\n{small.shown()[:MOST_SHOWN]}\n----"
