"""What programs that only take time steps have in common: whether they are here, which forces they get, and what a step costs.

They give no accelerations as a function of a state. Beside the time of a step is how far the mean acceleration over it,
(v after - v before) / step, is from the true one (`Case.step_error`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.bench.cases import Unavailable
from benchmarks.workshop import version
from linkwright.model.description import CoilSpring, Damper, Description

STEPS = 500  # of one run: what starting it costs is then a fiftieth at most


def needed(module: str, package: str) -> str:
    """Version of a package that is installed, or `Unavailable`."""
    if find_spec(module) is None:
        raise Unavailable(f"the package '{package}' is not installed")
    return version(package)


def between_points(d: Description) -> Iterator[tuple[CoilSpring | Damper, Any]]:
    """Springs and dampers between points, with their ends; other forces of a model are refused."""
    for thing in (*d.springs, *d.dampers, *d.frictions, *d.stops, *d.loads, *d.cylinders):
        ends = getattr(thing, "between", None)
        if not isinstance(thing, (CoilSpring, Damper)) or ends is None:
            raise Unavailable(f"'{thing.name}' is not handed over: springs and dampers between points are")
        yield thing, ends


def per_step(advance: Callable[[int], float], seconds: float) -> float:
    """Nanoseconds of one step of many, from the best run found in about that time; `advance` returns its seconds."""
    begin, best = time.perf_counter(), np.inf
    while time.perf_counter() - begin < seconds or not np.isfinite(best):
        best = min(best, advance(STEPS))
    return 1e9 * best / STEPS
