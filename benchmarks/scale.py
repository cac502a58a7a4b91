"""Large mechanisms: first use and evaluations of long chains, scissor lifts and grids, a biped and a Stewart platform, MuJoCo beside them.

    python -m benchmarks.scale docs/data/scale-benchmark.csv

First use is everything from the model file to the first accelerations with an empty cache (read, cut, assemble, plan, trace, compile),
imports excluded; of MuJoCo it is its own compiler and the first mj_forward on the converted model. All times are processor time of one
thread. MuJoCo's loops are soft, its Jacobian is as it chooses (sparse for large models), and its solver starts from its last answer.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench.clocks import seconds_of
from linkwright.compiler.timing import time_aosoa
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.results.state import State
from linkwright.rings.exchange import MujocoMap
from linkwright.rings.exchange.writing.mujoco.text import mjcf
from linkwright.system.system import System

STATES = 64  # of a batch
REPEATS = 20  # of mj_forward


class ScaleRow(NamedTuple):
    """One line of the table; empty where it was not measured."""

    mechanism: str
    kernel: str
    velocities: int
    operations: int
    first_s: float
    one_ns: float
    batch_ns: float | None
    code_kB: int
    mujoco_first_s: float | None = None
    mujoco_ns: float | None = None
    note: str = ""


def chain(n: int) -> System:
    """N parallelograms in a row, each loop cut after its coupler."""
    return System(modelfile.read(models.path("parallelogram-chain"), N=n), [f"B{i}" for i in range(1, n + 1)])


def scissor(n: int) -> System:
    """A scissor lift of n bays, cut between its bays."""
    cuts = [x for i in range(1, n) for x in (f"L{i}", f"R{i}")]
    return System(modelfile.read(models.path("scissor-lift"), N=n), ["R0", f"L{n}", *cuts])


def chosen_scissor(n: int) -> System:
    """The same with the cuts that are chosen."""
    return System(modelfile.read(models.path("scissor-lift"), N=n))


def grid(columns: int, n: int) -> System:
    """Lifts of n bays side by side under one table, cut between their bays; slots, which MuJoCo cannot close, stay in the tree."""
    lifts = range(1, columns + 1)
    cuts = [f"{x}{j}_{i}" for j in lifts for i in range(1, n) for x in "LR"]
    d = modelfile.read(Path(__file__).with_name("scissor-grid.yaml"), N=n, C=columns)
    return System(d, [*(f"R{j}_0" for j in lifts), f"L1_{n}", *(f"M{j}_{n}" for j in lifts[1:]), *cuts])


def biped() -> System:
    return System(modelfile.read(Path(__file__).with_name("biped.yaml")))


def stewart() -> System:
    return System(modelfile.read(models.path("stewart")))


def measured(name: str, make: Callable[[], System], kernel: str = "forward", batch: bool = True, peer: bool = True) -> ScaleRow:
    """First use and evaluations of one kernel; MuJoCo's forward dynamics where `peer`."""
    with tempfile.TemporaryDirectory() as empty:
        os.environ["LINKWRIGHT_CACHE"] = empty
        found: list[Any] = []

        def first() -> None:
            s = make()
            k = s.kernel(kernel)
            k(s.start.q, s.start.v, np.ones(s.tree.nv))
            found.extend((s, k))

        seconds = seconds_of(first)
        s, k = found
        arrays = (s.start.q, s.start.v, np.ones(s.tree.nv))
        one, many = k.time(*arrays), _batch(k, arrays) if batch else None
        row = ScaleRow(name, kernel, s.tree.nv, k.code.meta["operations"], seconds, one, many, len(k.code.compiled("one").object) // 1024)
    return row._replace(**_mujoco(s, s.start)) if peer else row


def _batch(kernel: Any, arrays: Sequence[np.ndarray]) -> float:
    """Nanoseconds of a state in blocks of eight."""
    x = np.concatenate([v.ravel() for v in kernel._named(arrays, {})])
    return time_aosoa(kernel.code.aosoa_address, np.tile(x, (STATES, 1)), kernel.code.n_out, kernel.code.work("many"), 20)


def _mujoco(s: System, state: State) -> dict[str, Any]:
    """First use and mj_forward of MuJoCo on the converted model."""
    if find_spec("mujoco") is None:
        return {"note": "the package 'mujoco' is not installed"}
    mujoco: Any = import_module("mujoco")
    text = mjcf(s, timestep=1e-3).text
    found: list[Any] = []

    def first() -> None:
        model = mujoco.MjModel.from_xml_string(text)
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        data, there = mujoco.MjData(model), MujocoMap.of(model, s)
        data.qpos[:], data.qvel[:] = there.qpos(state), there.qvel(state)
        mujoco.mj_forward(model, data)
        found.extend((model, data))

    seconds = seconds_of(first)
    best = min(seconds_of(lambda: mujoco.mj_forward(*found)) for _ in range(REPEATS))
    return {"mujoco_first_s": seconds, "mujoco_ns": 1e9 * best}


def rows() -> Iterator[ScaleRow]:
    """All lines as they are measured."""
    measured("warm-up", lambda: chain(4))
    measured("warm-up", lambda: chain(80), batch=False, peer=False)  # imports of large mechanisms
    for name, make in (("stewart", stewart), ("biped", biped)):
        yield measured(name, make)
        yield measured(name, make, "derivatives", batch=False, peer=False)
    for n in (64, 512, 1024, 4096):
        yield measured(f"chain of {n}", lambda n=n: chain(n), batch=n <= 512)
    for n in (25, 100, 200):
        yield measured(f"scissor lift of {n}", lambda n=n: scissor(n), batch=False)
    yield measured("scissor lift of 200, cuts as chosen", lambda: chosen_scissor(200), batch=False, peer=False)
    for columns, n in ((4, 25), (10, 100)):
        yield measured(f"scissor grid of {columns} x {n}", lambda c=columns, n=n: grid(c, n), batch=False)


def main(path: str) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(ScaleRow._fields)
        for row in rows():
            writer.writerow(f"{x:.4g}" if isinstance(x, float) else "" if x is None else x for x in row)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
