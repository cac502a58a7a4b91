"""Steps of 1 ms of many mechanisms at once, beside `mujoco.rollout`: one thread each, in one run, by processor time.

    python -m benchmarks.rollouts -o docs/data/rollout-benchmark.csv

Both get the same mechanism, start and efforts, other ones for each environment and step (those that hold the start and random ones: the
mechanism stays away from singular positions; the leg falls), and write every state into memory that was there before. MuJoCo has the
economical model of `mujoco_loop` with its default for such models, implicitfast, of first order. Our midpoint steps are of second.
The error is that of the drives' coordinates of the first environment after 50 steps, against a run at tolerance 1e-12, in rad or m.
Single steps from Python are timed beside one call of a kernel. Machines that touch the ground are in `contact_rollouts`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import linkwright as lw
from benchmarks import contact_rollouts
from benchmarks.bench import machine_info, table
from benchmarks.bench.cases import BenchRow, Contender, Unavailable
from benchmarks.bench.clocks import best_call, seconds_of
from benchmarks.mujoco_loop import small_model
from benchmarks.workshop import version
from linkwright.api import compiled_of
from linkwright.system.system import System

STEP = 1e-3
LEG = Path(__file__).parent / "leg.yaml"
MECHANISMS: Mapping[str, str] = {"five-bar": "five-bar", "3-rrr": "3-rrr", "stewart": "stewart", "delta": "delta", "leg": str(LEG)}
PUSH = {"five-bar": 0.2, "3-rrr": 2.0, "stewart": 20.0, "delta": 1.0, "leg": 1.0}  # N m or N: standard deviation of efforts
ENVIRONMENTS = (1, 8, 64, 512, 1024, 4096)
STEPS = 50  # of an environment in one timed call; the error is taken after them
SHORTEST = 0.02  # seconds of calls that are timed together
ROUNDS = 9
ENGINES = ("rk4", "midpoint")
PEER = "MuJoCo rollout"
OURS = ("linkwright rk4", "linkwright env.step")


def quantity(n: int) -> str:
    return f"rollout of {n}"


def efforts(name: str, system: System, n: int, steps: int) -> np.ndarray:
    """Efforts (n, steps, nv) of the drives: those that hold the start, where they can, and normally distributed ones."""
    drives = compiled_of(system).drive_names
    hold = np.zeros(len(drives)) if name == "leg" else np.array([system.inverse(system.start).tau[d] for d in drives])
    out = np.zeros((n, steps, system.tree.nv))
    out[..., [system.names.v.index(d) for d in drives]] = hold + PUSH[name] * np.random.default_rng(0).normal(size=(n, steps, len(drives)))
    return out


def judged(system: System, tau: np.ndarray) -> np.ndarray:
    """Coordinates of the drives after the first steps, by runs at a tight tolerance from step to step."""
    st = system.start
    for row in tau:
        push = {
            name: lw.drives.force(x) if compiled_of(system).assembler.coordinate(name)[2] == "length" else lw.drives.torque(x)
            for name, x in _named(system, row).items()
        }
        st = system.simulate(st, STEP, drive=push, tolerance=1e-12, sample_interval=[st.t + STEP], progress=False).state(-1)
    return np.array([float(st[d]) for d in compiled_of(system).drive_names])


def _named(system: System, row: np.ndarray) -> dict[str, float]:
    return {d: float(row[system.names.v.index(d)]) for d in compiled_of(system).drive_names}


# -------------------------------------------------------------------- contenders


def ours(name: str, system: System, n: int, integrator: str, tau: np.ndarray, exact: np.ndarray) -> Contender:
    """Rollouts by `s.stepper(n)`."""
    env = system.stepper(n, dt=STEP, integrator=integrator, threads=1)
    at = [system.names.q.index(d) for d in compiled_of(system).drive_names]
    q, _ = env.rollout(efforts(name, system, 1, STEPS)[0])
    error = float(np.abs(q[0, -1, at] - exact).max())

    states = np.zeros((*tau.shape[:2], len(system.names.q) + len(system.names.v)))

    def call() -> None:
        env.reset()
        env.rollout(tau, out=states)

    call()
    note = "1 ms, one thread" if env.ok.all() else f"1 ms, one thread; {int((~env.ok).sum())} of {n} failed"
    row = BenchRow(f"linkwright {integrator}", version("linkwright"), name, quantity(n), accuracy=error, note=note)
    return Contender(row, clock(call, n * tau.shape[1]))


def mujocos(name: str, system: System, n: int, tau: np.ndarray, exact: np.ndarray) -> Contender:
    """The same by `mujoco.rollout`."""
    model, data, _ = _model(system)
    mujoco: Any = import_module("mujoco")
    rollout: Any = import_module("mujoco.rollout")
    full, kind = mujoco.mjtState.mjSTATE_FULLPHYSICS, int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    start = np.zeros((n, mujoco.mj_stateSize(model, full)))
    mujoco.mj_getState(model, data, start[0], full)
    start[:] = start[0]
    columns = [int(model.joint(d).dofadr[0]) for d in compiled_of(system).drive_names]
    mine = [system.names.v.index(d) for d in compiled_of(system).drive_names]

    def pushes(given: np.ndarray) -> np.ndarray:
        out = np.zeros((*given.shape[:2], model.nv))
        out[..., columns] = given[..., mine]
        return out

    worker, mapped = mujoco.MjData(model), pushes(tau)
    first = pushes(efforts(name, system, 1, STEPS))
    with rollout.Rollout(nthread=0) as one:
        states, _ = one.rollout(model, [worker], start[:1].copy(), first, control_spec=kind)
    end = mujoco.MjData(model)
    mujoco.mj_setState(model, end, states[0, -1], full)
    error = float(
        np.abs(np.array([float(end.qpos[int(model.joint(d).qposadr[0])]) for d in compiled_of(system).drive_names]) - exact).max()
    )
    roller = rollout.Rollout(nthread=0)
    written = np.zeros((n, tau.shape[1], start.shape[1]))
    sensors = np.zeros((n, tau.shape[1], model.nsensordata))
    call = partial(roller.rollout, model, [worker], start, mapped, control_spec=kind, state=written, sensordata=sensors)
    note = f"{1e3 * model.opt.timestep:g} ms, implicitfast, one thread"
    row = BenchRow(PEER, version("mujoco"), name, quantity(n), accuracy=error, note=note)
    return Contender(row, clock(call, n * tau.shape[1]))


def _model(system: System) -> tuple[Any, Any, Any]:
    if find_spec("mujoco") is None:
        raise Unavailable("the package 'mujoco' is not installed")
    case: Any = SimpleNamespace(system=system, state=system.start, tau={})
    return small_model(case, STEP)


def clock(call: Callable[[], Any], steps: int) -> Callable[[float], float]:
    """Nanoseconds of one step of one environment; steps: of all environments in one call."""
    calls = [1]

    def several() -> None:
        for _ in range(calls[0]):
            call()

    def run(seconds: float) -> float:
        taken = seconds_of(several)
        while taken < SHORTEST:
            calls[0] *= 2
            taken = seconds_of(several)
        return 1e9 * taken / (calls[0] * steps)

    return run


def from_python(name: str, system: System) -> list[Contender]:
    """Single steps called from Python, a call of the kernel beside them, and MuJoCo's."""
    st, tau, env = system.start, np.zeros(system.tree.nv), system.stepper(1, dt=STEP)
    q, v, forward = st.q, st.v, system.kernel("forward")
    after = system.step(st, tau, STEP)
    calls: dict[str, Callable[[], Any]] = {
        "linkwright env.step": lambda: env.step(tau),
        "linkwright s.step, arrays": lambda: system.step((q, v), tau, STEP),
        "linkwright s.step, State": lambda: system.step(after, tau, STEP),
        "linkwright kernel forward": lambda: forward(q, v, tau),
    }
    versions = dict.fromkeys(calls, version("linkwright"))
    if find_spec("mujoco") is not None:
        mujoco: Any = import_module("mujoco")
        model, data, _ = _model(system)
        calls["MuJoCo mj_step"] = lambda: mujoco.mj_step(model, data)
        versions["MuJoCo mj_step"] = version("mujoco")
    rows = [
        BenchRow(engine, versions[engine], name, "step from Python", note="rk4" if "step" in engine and "Mu" not in engine else "")
        for engine in calls
    ]
    return [Contender(row, partial(best_call, calls[row.engine])) for row in rows]


# -------------------------------------------------------------------- the run


def contenders(name: str, environments: tuple[int, ...]) -> list[Contender]:
    """All that take turns on one mechanism."""
    if name in contact_rollouts.MACHINES:
        return contact_rollouts.contenders(name, tuple(n for n in environments if n <= contact_rollouts.MOST))
    system = lw.compile(lw.load(MECHANISMS[name]))
    exact = judged(system, efforts(name, system, 1, STEPS)[0])
    out = from_python(name, system)
    for n in environments:
        tau = efforts(name, system, n, STEPS)
        out += [ours(name, system, n, integrator, tau, exact) for integrator in ENGINES]
        out.append(mujocos(name, system, n, tau, exact))
    return out


def measured(names: list[str], environments: tuple[int, ...], rounds: int, say: Callable[[str], None]) -> list[BenchRow]:
    """Best of several rounds in which all contenders take turns; ratios to our rk4."""
    rows: list[BenchRow] = []
    for name in names:
        begun = time.perf_counter()
        found = contenders(name, environments)
        best = [min(x) for x in zip(*([c.run(0.05) for c in found] for _ in range(rounds)), strict=True)]
        done = [c.timed(ns) for c, ns in zip(found, best, strict=True)]
        ours_of = OURS if name not in contact_rollouts.MACHINES else ("linkwright midpoint",)
        for r in done:
            own = next((x.ns for x in done if x.quantity == r.quantity and x.engine in ours_of), None)
            rows.append(replace(r, ratio=r.ns / own if r.ns and own and not r.engine.startswith("linkwright") else None))
        say(f"{name}: {time.perf_counter() - begun:.0f} s")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Steps of many mechanisms at once, beside mujoco.rollout.")
    parser.add_argument("mechanisms", nargs="*", help=f"default: {', '.join((*MECHANISMS, *contact_rollouts.MACHINES))}")
    parser.add_argument("-o", "--output", help="a CSV file")
    parser.add_argument("-n", type=int, nargs="*", default=list(ENVIRONMENTS), help="numbers of environments")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    names = given.mechanisms or [*MECHANISMS, *contact_rollouts.MACHINES]
    rows = measured(names, tuple(given.n), given.rounds, lambda text: print(text, flush=True))
    if given.output:
        table.write_csv(rows, machine_info.machine(), given.output)
    for r in rows:
        ratio, error = f"{r.ratio:.1f} x" if r.ratio else "", f"error {r.accuracy:.1e}" if r.accuracy is not None else ""
        print(f"{r.mechanism:10} {r.quantity:18} {r.engine:28} {table.duration(r.ns):>10} {ratio:>8}  {error:16} {r.note}")


if __name__ == "__main__":
    main()
