"""Calls of users on a built-in model, timed by order of another process: run with the sources of the version to be measured in front.

    python benchmarks/bench/public_calls.py MODEL      prints the names of the calls as one line of JSON; then, for every line
                                                       "NAME SECONDS" that it reads, the best nanoseconds of processor time

It imports nothing but `linkwright` and takes only calls that versions share, so that one file measures them all. A call that a version
does not have, or that the model cannot do, is left out of its list.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import linkwright as lw

SHORTEST = 2e-4  # seconds of a burst
WARM_CALLS, WARM_SECONDS = 40, 0.4
Call = Callable[[], Any]


def calls(name: str) -> dict[str, Call]:
    """Calls by name. What makes a mechanism makes a new one each time, as the first call of a user does."""
    m = lw.load(name)
    c = m.cycle()
    s, st = m.system, c.state(len(c) // 3)
    effort = next((n for n in c.channels if n.endswith((".torque", ".force")) and n.count(".") == 1), "")
    body, drives = s.description.bodies[-1].name, list(s.description.drives)
    asked = {d.joint: float(st[d.joint]) for d in drives}
    tau = np.zeros(len(st.v))
    found: dict[str, Call] = {
        "load": lambda: lw.load(name),
        "first cycle of a mechanism": lambda: lw.load(name).cycle(),
        "run of 0.2 s": lambda: m.simulate(0.2, progress=False),
        "forward": lambda: s.forward(st, tau),
        "inverse": lambda: s.inverse(st).tau,
        "jacobian": lambda: s.jacobian(st, body),
        "terms": lambda: s.terms(st),
        "assemble": lambda: s.assemble(asked, guess=st),
        "step": lambda: s.step((st.q, st.v), tau, 1e-3),
        "info": lambda: str(lw.load(name).info()),
    }
    if effort:
        found["first cycle, its effort"] = lambda: lw.load(name).cycle()[effort]
        found["bearing loads of a cycle"] = lambda: lw.load(name).cycle(steps=36).bearings()
    return found


def possible(every: dict[str, Call]) -> dict[str, Call]:
    """The calls that work here; each is made until code is there."""
    out = {}
    for name, call in every.items():
        try:
            begin = time.process_time()
            for k in range(WARM_CALLS):
                call()
                if k and time.process_time() - begin > WARM_SECONDS:
                    break
        except (lw.LinkwrightError, AttributeError, TypeError, ValueError):
            continue
        out[name] = call
    return out


def best(call: Call, seconds: float) -> float:
    """Return the best nanoseconds of processor time of one call."""
    count, least, begin = 1, np.inf, time.perf_counter()
    while True:
        start = time.thread_time()
        for _ in range(count):
            call()
        took = time.thread_time() - start
        if took < SHORTEST:
            count *= 2
            continue
        least = min(least, took / count)
        if time.perf_counter() - begin >= seconds:
            return 1e9 * least


def main(model: str) -> None:
    try:
        known = possible(calls(model))
    except lw.LinkwrightError:  # a model that this version does not have, or that has no cycle
        known = {}
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        name, _, seconds = line.strip().rpartition(" ")
        print(best(known[name], float(seconds)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
