"""Time of a workspace: 100 x 100 poses of a slice with all measures and located curves, of a 3-RRR and a Stewart platform.

python benchmarks/workspace_maps.py [repetitions]     prints processor and wall time of the first call and of the best later one
"""

from __future__ import annotations

import sys
import time
from typing import Any

import linkwright as lw

SLICES: dict[str, dict[str, Any]] = {
    "3-rrr": {
        "over": {"platform.x": "-0.5..1.3 m / 100", "platform.y": "-0.6..1.2 m / 100"},
        "at": {"platform.angle": "20 deg"},
        "stiffness": "1e4 N m/rad",
        "speeds": "3 rad/s",
        "efforts": "200 N m",
        "payload": "5 kg",
    },
    "stewart": {
        "over": {"platform.x": "-0.5..0.5 m / 100", "platform.y": "-0.5..0.5 m / 100"},
        "at": {"platform.yaw": "30 deg"},
        "limits": {f"leg{k}": "-0.25..0.25 m" for k in range(1, 7)},
        "stiffness": "1e6 N/m",
        "speeds": "0.5 m/s",
        "efforts": "2 kN",
        "payload": "50 kg",
    },
}


def main(repetitions: int) -> None:
    for name, options in SLICES.items():
        m = lw.load(name)
        times, said = [], ""
        for _ in range(1 + repetitions):
            wall, own = time.perf_counter(), time.process_time()
            a: Any = m.workspace(**options)
            curves = len(a.curves)
            said = f"{len(a.values)} measures, {sum(len(x.share) for x in a.located):,} located points, {curves} curves"
            times.append((time.process_time() - own, time.perf_counter() - wall))
        (first, waited), best = times[0], min(times[1:])
        print(f"{name}: {said}; first {first:.2f} s of processor time ({waited:.2f} s), then {best[0]:.2f} s ({best[1]:.2f} s)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
