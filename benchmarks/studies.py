"""Studies: rows a second of turns and simulations, one and two Dask workers, memory from 10^4 rows on.

    python benchmarks/studies.py [--rows N]

Prints a table; every figure is the time of the whole call in a process that has its code. Memory is the largest that a fresh process had.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import linkwright as lw
from linkwright.files.tables import aligned
from linkwright.model.parameters import every_parameter


def turns(n: int) -> dict[str, Any]:
    """The wiper with masses and a length that vary: torque and the loads of all joints."""
    loads = [name for name in lw.load("wiper").cycle().channels if name.endswith(".load")]
    vary = {"crank.mass": "0.25..0.35", "coupler.mass": "0.8..1", "crank.B.x": _near("wiper", "crank.B.x")}
    return {"mechanism": "wiper", "vary": vary, "measure": ["max A.torque", *(f"max {x}" for x in loads)], "plan": "sobol", "n": n}


def runs(n: int) -> dict[str, Any]:
    """The five-bar let go for a second, two lengths varied."""
    vary = {name: _near("five-bar", name) for name in ("left.B.x", "left_rod.C.x")}
    return {
        "mechanism": "five-bar",
        "vary": vary,
        "measure": ["end A", "max A.v"],
        "of": lw.Run("1 s", drive={}),
        "plan": "sobol",
        "n": n,
    }


def _near(model: str, name: str) -> str:
    x = every_parameter(lw.load(model).description)[name].value
    return f"{0.99 * x!r}..{1.01 * x!r}" if x > 0 else f"{1.01 * x!r}..{0.99 * x!r}"


def timed(given: dict[str, Any], **more: Any) -> float:
    first: dict[str, Any] = {**given, "n": 1024, **more}
    lw.study(**first)  # code is made, or loaded
    start = time.perf_counter()
    lw.study(**given, **more)
    return time.perf_counter() - start


def memory(rows: int) -> float:
    """Largest memory in MB of a process that computes so many turns into a folder."""
    code = "import sys; from benchmarks.studies import one_in_folder; one_in_folder(int(sys.argv[1]), sys.argv[2])"
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run([sys.executable, "-c", code, str(rows), f"{place}/s"], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def one_in_folder(rows: int, place: str) -> None:
    lw.study(folder=place, progress=False, **turns(rows))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0)


def clusters(n: int) -> list[tuple[str, ...]]:
    from dask.distributed import Client, LocalCluster

    out, first = [], 0.0
    for workers in (1, 2):
        with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as c, Client(c) as client:
            took = timed(turns(n), executor=client.get_executor())
        first = first or took
        out.append((f"{n:,} turns, {workers} Dask workers", f"{took:.2f} s", f"{first / took:.2f} times one"))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    n = parser.parse_args().rows
    rows: list[tuple[str, ...]] = [
        (f"{n:,} turns of the wiper, torque and all loads", f"{timed(turns(n)):.2f} s", f"{os.cpu_count()} cores")
    ]
    rows.append((f"{n // 10:,} runs of 1 s of a five-bar, lengths varied", f"{timed(runs(n // 10)):.2f} s", f"{os.cpu_count()} cores"))
    rows += clusters(n)
    for count in (n // 10, n, 10 * n):
        rows.append((f"{count:,} turns into a folder", f"{memory(count):.0f} MB", "largest memory of the process"))
    print("\n".join(aligned([("study", "", ""), *rows], left=1)))


if __name__ == "__main__":
    main()
