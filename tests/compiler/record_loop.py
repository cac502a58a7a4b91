"""A loop on a record for a process of its own: see test_loops."""

from __future__ import annotations

import numpy as np

from linkwright.compiler.record_loops import Loop
from linkwright.compiler.records import Column, Floats, Layout, Record, sized


class Half(Record):
    x: Floats = sized("n")


def halved(w: Half, given: Column) -> float:
    w.x[0] = 0.5 * given[0]
    return w.x[0]


def loop(given: np.ndarray) -> np.ndarray:
    return Loop(halved, Layout(Half, {"n": 1}))(len(given), given)
