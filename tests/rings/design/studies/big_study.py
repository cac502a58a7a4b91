"""A study of some seconds for tests that kill it: single rows, so that every one is stored by itself."""

from __future__ import annotations

import sys
from typing import Any

import linkwright as lw
from linkwright.rings.design.studies import execution


def arguments() -> dict[str, Any]:
    return {
        "vary": {"L1": "0.28..0.32", "drive.A": "3..5 rad/s"},
        "measure": ["max A.torque", "rms C.load"],
        "case": lw.Cycle(steps=90),
        "plan": "latin",
        "count": 24,
        "seed": 4,
    }


def measured(folder: str) -> lw.Study:
    execution.SECONDS = 0.05  # chunks of a few rows
    return lw.study("four-bar", folder=folder, threads=1, progress=False, **arguments())


if __name__ == "__main__":
    measured(sys.argv[1])
    print("done")
