"""Two versions of Linkwright side by side: the calls of users in both source trees, in turns, by processor time.

Each version has a process of its own that runs `public_calls` with its sources in front. They take turns call by call, and the best round
of each counts. A row that is slower than `SLOWER` is measured again with more rounds, and its note says whether that was confirmed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.bench import table
from benchmarks.bench.cases import BenchRow
from linkwright import files
from linkwright.errors import UsageError
from linkwright.model.library import names

HERE = Path(__file__).resolve()
SLOWER = 1.05  # ratio from which a row is measured again
ROUNDS = 5  # of both versions in turns
AGAIN = 3  # times as many rounds, and as long ones, for a row that seems slower


class Version:
    """A process that times the calls of one model with the sources of a folder."""

    def __init__(self, folder: Path, model: str):
        path = os.pathsep.join([str(folder / "src"), os.environ.get("PYTHONPATH", "")])
        program = [sys.executable, str(HERE.with_name("public_calls.py")), model]
        self._process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        said = self._line()
        self.calls: list[str] = json.loads(said) if said else []

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def best(self, call: str, seconds: float) -> float:
        """Return nanoseconds of one call."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{call} {seconds}\n")
        self._process.stdin.flush()
        return float(self._line())

    def __enter__(self) -> Version:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def main(
    against: str | os.PathLike[str],
    *,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    as_json: bool = False,
    mechanisms: Sequence[str] = (),
    say: Callable[[str], None] | None = None,
) -> list[BenchRow]:
    """Measure models in this checkout and in another one, print the table (or JSON) and write it as CSV if asked."""
    old = Path(against).resolve()
    if not (old / "src" / "linkwright").is_dir():
        raise UsageError(
            f"--against takes the folder of another checkout, with src/linkwright in it, not '{against}'. Make one by: git worktree add "
            "../before COMMIT",
            name="against",
            value=against,
        )
    if output is not None:
        files.checked(output, (".csv",))
    tell = say or (lambda text: print(text, file=sys.stderr))
    found: list[BenchRow] = []
    for model in mechanisms or names():
        tell(f"{model} ...")
        with Version(old, model) as before, Version(HERE.parents[2], model) as now:
            found += [_compared(before, now, model, call, quick) for call in now.calls if call in before.calls]
    return table.deliver(found, output, as_json=as_json)


def _compared(before: Version, now: Version, model: str, call: str, quick: bool) -> BenchRow:
    seconds = 0.02 if quick else 0.1
    was, ns = _in_turns(before, now, call, ROUNDS, seconds)
    note = f"before: {table.duration(was)}"
    if ns > SLOWER * was:
        was, ns = _in_turns(before, now, call, AGAIN * ROUNDS, AGAIN * seconds)
        note = f"before: {table.duration(was)}, {'slower, confirmed' if ns > SLOWER * was else 'slower in a first measurement only'}"
    return BenchRow("linkwright", "native", model, f"call {call}", ns=ns, ratio=ns / was, note=note)


def _in_turns(before: Version, now: Version, call: str, rounds: int, seconds: float) -> tuple[float, float]:
    """Best nanoseconds of both; which of them begins changes from round to round."""
    taken: dict[Version, list[float]] = {before: [], now: []}
    for k in range(rounds):
        for version in (before, now) if k % 2 else (now, before):
            taken[version].append(version.best(call, seconds))
    return min(taken[before]), min(taken[now])
