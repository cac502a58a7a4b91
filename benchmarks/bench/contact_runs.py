"""What contact costs a run: the hopping leg and a gripper that swings its part, each with and without its contacts, in turns.

An evaluation is one of the equations of motion. Everything a run does is shared among its evaluations: steps, events with their impacts,
decisions what sticks, samples and their forces. Without contacts the leg falls through the floor and the gripper closes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import yaml

from benchmarks.bench.cases import BenchRow
from benchmarks.bench.clocks import seconds_of
from benchmarks.walkers import walker
from linkwright import __version__
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.results.state import State
from linkwright.system.system import System

CONTACT, TOLERANCE = "contact, an evaluation", 1e-11
LEG_SECONDS, GRIPPER_SECONDS = 3.0, 2.0
LIFT, SPEED = 0.05, 1.0  # m above the floor, m/s
SWING = 2.0  # rad/s of the gripper's cranks, 0.1 m long


class ContactRun(NamedTuple):
    """A run, and how many evaluations it takes."""

    go: Callable[[], Any]
    evaluations: int
    events: int

    @classmethod
    def of(cls, system: System, state: State, seconds: float) -> ContactRun:
        def go() -> Any:
            return system.simulate(state, seconds, tolerance=TOLERANCE, progress=False)

        done = go()
        return cls(go, done.certificate.evaluations, len(done.events))


def leg(touches: bool, seconds: float = LEG_SECONDS) -> ContactRun:
    """A leg on springs falls onto its foot."""
    model = walker(("",), (0.0,), 0.4)
    model["dampers"] = {f"d{j}": {"joint": j, "coefficient": "2 N m s/rad"} for j in ("hip", "crank")}
    start = System(modelfile.read(model)).start
    rest = {j: float(start[j]) for j in ("hip", "crank")}
    model["springs"] = {f"s{j}": {"joint": j, "stiffness": "80 N m/rad", "free_position": x} for j, x in rest.items()}
    if not touches:
        model.pop("contacts")
    s = System(modelfile.read(model))
    q, v = s.start.q.copy(), 0.0 * s.start.v
    q[list(s.names.q).index("base.y")] += LIFT
    v[list(s.names.v).index("base.x")] = SPEED
    return ContactRun.of(s, s.state(q, v), seconds)


def gripper(touches: bool, seconds: float = GRIPPER_SECONDS) -> ContactRun:
    """Two parallelograms, without the gears between them, swing with a round part that they hold by friction."""
    model = yaml.safe_load(models.path("gripper").read_text(encoding="utf-8"))
    model.pop("couplings")
    model["joints"] = {"free": {"type": "planar", "between": ["ground", "part"], "at": "P"}}
    model["surfaces"]["block"] = {"circle": "part.P", "radius": "40 mm"}
    model["start"] = {"A1.v": f"{SWING} rad/s", "C1.v": f"{SWING} rad/s", "free.vx": f"{0.1 * SWING} m/s"}
    if not touches:
        model.pop("contacts")
    s = System(modelfile.read(model))
    return ContactRun.of(s, s.start, seconds)


def contact_rows(repeats: int = 8, share: float = 1.0) -> list[BenchRow]:
    """Processor time per evaluation with and without contact, the best of some rounds; a share of the runs."""
    out = []
    for name, made, seconds in (("leg", leg, LEG_SECONDS), ("gripper", gripper, GRIPPER_SECONDS)):
        runs = {touches: made(touches, share * seconds) for touches in (False, True)}
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(repeats):
            best = {touches: min(best[touches], seconds_of(x.go)) for touches, x in runs.items()}
        ns = {touches: 1e9 * best[touches] / x.evaluations for touches, x in runs.items()}
        for touches, x in runs.items():
            how = "with contact" if touches else "without contact"
            note = f"{x.evaluations} evaluations in {share * seconds:g} s, {x.events} events"
            note += f"; {ns[True] / ns[False]:.2f} times the run without contact" if touches else ""
            out.append(BenchRow(f"linkwright, {how}", __version__, name, CONTACT, ns=ns[touches], note=note))
    return out
