"""Executors: processes, a Dask cluster of separate processes, workers that die, executors that refuse; all to the same bits."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.design.studies import execution
from tests.refusals import refused

LANES = {
    "vary": {"L1": "0.28..0.32", "L2": "0.9..1.1"},
    "measure": ["max A.torque", "peak C.load"],
    "plan": "sobol",
    "count": 2100,
    "seed": 3,
}
FEW = lw.Cycle(steps=60)
MEASURED = {"lift": "max D", "t": "rms A.torque"}
SINGLE = {"vary": {"L1": "0.28..0.32", "drive.A": "3..5"}, "measure": MEASURED, "case": FEW, "plan": "latin", "count": 12}


def lift(c: lw.Trajectory) -> float:
    return float(c["D"].max())


@pytest.fixture(scope="module")
def lanes() -> Any:
    return lw.study("four-bar", **LANES).to_pandas()


@pytest.fixture(scope="module")
def single() -> Any:
    return lw.study("four-bar", **SINGLE).to_pandas()


@pytest.fixture
def here(lanes: Any, single: Any) -> list[Any]:
    return [lanes, single]


@pytest.mark.slow
def test_threads_give_the_same_bits(here) -> None:
    with ThreadPoolExecutor(2) as pool:
        for given, frame in zip((LANES, SINGLE), here, strict=True):
            assert lw.study("four-bar", executor=pool, **given).to_pandas().equals(frame)
    assert lw.study("four-bar", threads=1, **SINGLE).to_pandas().equals(here[1])


@pytest.mark.slow
def test_dask_gives_the_same_bits(here) -> None:
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, silence_logs=50)
    with cluster, Client(cluster) as client:
        assert lw.study("four-bar", executor=client.get_executor(), **LANES).to_pandas().equals(here[0])


@pytest.mark.slow
def test_dask_workers_give_the_same_bits_and_a_dead_one_loses_its_chunk_only(here, monkeypatch) -> None:
    from dask.distributed import Client, LocalCluster

    monkeypatch.setattr(execution, "SECONDS", 0.1)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50)
    with cluster, Client(cluster) as client:
        executor = client.get_executor()
        assert lw.study("four-bar", executor=executor, **LANES).to_pandas().equals(here[0])
        killed: list[int] = []

        def kill_one(done: int, total: int) -> None:
            if not killed:
                workers = list(client.run(os.getpid).values())
                killed.append(workers[0])
                os.kill(workers[0], 9)

        found = lw.study("four-bar", executor=executor, progress=kill_one, **{**SINGLE, "measure": {"lift": lift, "t": "rms A.torque"}})
        assert killed and found.complete and found.to_pandas().equals(here[1])


@pytest.mark.slow
def test_processes_give_the_same_bits(here) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        for given, frame in zip((LANES, SINGLE), here, strict=True):
            assert lw.study("four-bar", executor=pool, **given).to_pandas().equals(frame)


class Unsteady(Executor):
    """Loses every second chunk once, or all of them."""

    _max_workers = 2

    def __init__(self, always: bool = False):
        self.always, self.seen = always, set[int]()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        first = hash(args[2].tobytes())
        if self.always or (first not in self.seen and len(self.seen) % 2 == 0):
            self.seen.add(first)
            future.set_exception(BrokenExecutor("a worker died"))
        else:
            self.seen.add(first)
            future.set_result(fn(*args, **kwargs))
        return future


@pytest.mark.slow
def test_chunks_of_workers_that_died_go_out_again(here, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(execution, "SECONDS", 0.02)
    assert lw.study("four-bar", executor=Unsteady(), **SINGLE).to_pandas().equals(here[1])
    with pytest.raises(BrokenExecutor):
        lw.study("four-bar", executor=Unsteady(always=True), folder=tmp_path / "s", **SINGLE)
    assert lw.study("four-bar", folder=tmp_path / "s", **SINGLE).to_pandas().equals(here[1]), "and the same call continues"


def test_an_executor_that_refuses_is_named() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with refused(UsageError, name="executor"):
        lw.study("four-bar", executor=pool, **SINGLE)


def test_an_interrupt_leaves_what_is_done(monkeypatch, single, tmp_path: Path) -> None:
    monkeypatch.setattr(execution, "SECONDS", 0.02)

    def stop(done: int, total: int) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    found = lw.study("four-bar", progress=stop, threads=1, folder=tmp_path / "s", **SINGLE)
    assert 4 <= len(found) < SINGLE["count"] and not found.complete
    assert found.to_pandas().equals(single.iloc[: len(found)])
    assert lw.study("four-bar", folder=tmp_path / "s", **SINGLE).to_pandas().equals(single)
