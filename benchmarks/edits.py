"""Latency of the editor's server: from a request to the JSON of the new drawing, with the file written and the kernels matched.

    python -m benchmarks.edits [--bodies 4 8 20]

prints a table. Wall time is what a user waits for; processor time does not depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linkwright.rings.studio.editor.requests import Editor

REPEATS = 15


class Latency(NamedTuple):
    """Medians in milliseconds."""

    bodies: int
    edit: str
    wall: float
    processor: float


def chain(path: Path, bodies: int) -> Path:
    """Write a row of four-bars with this many bodies (even, ground included); each rocker is the crank of the next."""
    loops = (bodies - 2) // 2
    points = {"G0": (0, 0), "P0": (0, 100)} | {f"{n}{k}": (300 * k, y) for k in range(1, loops + 1) for n, y in (("P", 120), ("G", 0))}
    links = [("crank", "G0", "P0")]
    for k in range(1, loops + 1):
        links += [(f"rod{k}", f"P{k - 1}", f"P{k}"), (f"rocker{k}", f"P{k}", f"G{k}")]
    lines = ["name: chain", "plane: xy", "units: [mm, kg, deg, rpm]", "drawing:", *(f"  {n}: [{x}, {y}]" for n, (x, y) in points.items())]
    lines += ["bodies:", f"  ground: {{pins: [{', '.join(n for n in points if n[0] == 'G')}]}}"]
    lines += [f"  {name}: {{pins: [{a}, {b}], mass: 0.3}}" for name, a, b in links]
    path.write_text("\n".join([*lines, "drive: {G0: 60 rpm}", ""]), encoding="utf-8")
    return path


def operations(k: int) -> dict[str, dict[str, Any]]:
    """One edit of every kind, other numbers each time."""
    return {
        "move a pin": {"do": "move", "points": {"P1": [0.3 + 0.001 * k, 0.12]}},
        "set a mass": {"do": "set_mass", "body": "rod1", "mass": 0.3 + 0.01 * k},
        "add a link": {"do": "add_link", "through": ["P1", {"at": [0.2, 0.3 + 0.001 * k]}]},
        "delete it": {"do": "delete", "ids": ["body:link1"]},
    }


def measured(bodies: int, folder: Path, repeats: int = REPEATS) -> list[Latency]:
    """Latencies of one mechanism, and the time its kernels take when it is complete for the first time."""
    editor = Editor(chain(folder / f"chain{bodies}.yaml", bodies))
    key = editor.answers.state()["kernels"]["id"]
    wall, processor = time.perf_counter(), time.process_time()
    editor.get("kernels", f"id={key}")
    times = {"compile the kernels (once)": [(time.perf_counter() - wall, time.process_time() - processor)]}
    for k in range(1, repeats + 1):
        for name, operation in operations(k).items():
            body = json.dumps({"base": editor.session.version, "op": operation}).encode()
            wall, processor = time.perf_counter(), time.process_time()
            reply = editor.post("do", "", body)
            json.dumps(reply.content)
            times.setdefault(name, []).append((time.perf_counter() - wall, time.process_time() - processor))
            if reply.content["kind"] != "answer":
                raise SystemExit(f"{name}: {reply.content['text']}")
    return [Latency(bodies, name, *(1e3 * statistics.median(x) for x in zip(*found, strict=True))) for name, found in times.items()]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="+", default=[4, 8, 20])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    given = parser.parse_args(arguments)
    print("| bodies | edit | wall time, ms | processor time, ms |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for bodies in given.bodies:
            for row in measured(bodies, Path(folder), given.repeats):
                print(f"| {row.bodies} | {row.edit} | {row.wall:.0f} | {row.processor:.0f} |", flush=True)


if __name__ == "__main__":
    main()
