"""Pickling and copying of everything a user holds: before and after use, small, and the same bits in another process."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.results.files import identical
from linkwright.simulation.run_batch import run_batch

SMALL = 150_000  # bytes: a description with its tree needs 10 to 20 kB, 500 samples of a four-bar 70 kB; machine code is larger


def torque(t: Any) -> Any:
    return 0.2 * t


def answers(objects: dict[str, Any]) -> dict[str, Any]:
    """What the objects compute, as plain arrays."""
    s, st, run, batch, turn = (objects[k] for k in ("system", "state", "run", "batch", "turn"))
    there = s.assemble({"A": 0.3}, v={"A": 2.0})
    controller = copy.deepcopy(objects["controller"])
    return {
        "state": np.array([st["A"], st["A.v"], *st["coupler.P"]]),
        "assembled": np.concatenate([there.q, there.v]),
        "simulated": s.simulate(st, 0.05, drive={"A": lw.drives.torque(torque)}).q,
        "mechanism": objects["mechanism"].simulate(0.05).q,
        "kernel": objects["kernel"](st.q, st.v, st.v * 0.0).a,
        "saddle": objects["saddle"](st.q, st.v, st.v * 0.0).a,
        "acceleration": np.array([objects["acceleration"]["D"], *objects["acceleration"].force]),
        "run": np.concatenate([run["rocker.angle"], run["C"].ravel(), run["energy.total"]]),
        "verdict": np.array([run.certificate.position_residual, run.certificate.energy_imbalance, run.certificate.steps]),
        "batch": np.concatenate([batch["A"].ravel(), batch[1]["A"]]),
        "turn": np.concatenate([turn["A.torque"], turn["C"].ravel()]),
        "controller": np.array([*controller(st).values(), *controller.step(st).values()]),
    }


@pytest.fixture(scope="module")
def used() -> dict[str, Any]:
    """Objects that have computed."""
    m = lw.load("wiper")
    s = m.system
    st = s.assemble({"A": 0.5}, v={"A": 3.0})
    run = m.simulate(0.05)
    assert run.checks()
    objects = {
        "mechanism": m,
        "system": s,
        "state": st,
        "run": run,
        "turn": m.cycle(steps=12),
        "batch": run_batch(compiled_of(s), [st, s.start], 0.02, sample_interval=0.01),
        "kernel": s.kernel("forward"),
        "saddle": s.kernel("forward", "kkt"),
        "acceleration": s.forward(st, {"A": 0.1}),
        "controller": s.control(lw.control.pd({"A": 0.1}, P=3.0, D=0.5, every="1 ms")),
        "topology": m.topology,
        "loads": s.inverse(st),
        "terms": s.terms(st),
        "closure": s.closure(st),
        "controllable": s.controllable(st),
    }
    answers(objects)  # everything that is compiled or remembered is there now
    return objects


def same(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [k for k, x in one.items() if x.shape != other[k].shape or x.tobytes() != other[k].tobytes()]


def test_used_objects_are_small_and_compute_the_same_bits_in_another_process(used: dict[str, Any]) -> None:
    sizes = {name: len(pickle.dumps(x)) for name, x in used.items()}
    assert {name: n for name, n in sizes.items() if n > SMALL} == {}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as other:
        assert same(answers(used), other.submit(answers, used).result()) == []


def test_copies_compute_the_same_and_leave_the_original_alone(used: dict[str, Any]) -> None:
    before = answers(used)
    assert same(before, answers(copy.deepcopy(used))) == []
    assert same(before, answers(used)) == []


def test_a_run_is_the_same_run_with_its_verdict(used: dict[str, Any]) -> None:
    again = pickle.loads(pickle.dumps(used["run"]))
    assert identical(again, used["run"])
    assert str(again.checks()) == str(used["run"].checks())
    assert again.at(0.0123)["A"] == used["run"].at(0.0123)["A"]


def test_states_stay_with_their_system() -> None:
    s = lw.load("wiper").system
    there, st = pickle.loads(pickle.dumps((s, s.start)))
    assert st.skel is compiled_of(there).skel
    assert there.M(st).tobytes() == s.M(s.start).tobytes()


def test_a_system_with_free_parameters_and_a_start_of_its_own() -> None:
    s = lw.compile(lw.load("wiper"), parameters=["crank.mass"])
    k = s.kernel("forward")
    again = pickle.loads(pickle.dumps(k))
    q, v = s.start.q, s.start.v
    assert again(q, v, v, parameters=[2.0]).a.tobytes() == k(q, v, v, parameters=[2.0]).a.tobytes()
    assert again.names["parameters"] == ["crank.mass"]


def test_kernel_results_with_their_mask() -> None:
    s = lw.load("slider-crank-equal").system
    bad = s.assemble(q={"A": 0.5 * np.pi})
    found = s.kernel("forward")(np.array([s.start.q, bad.q]), s.start.v * 0.0, s.start.v * 0.0)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again.a.tobytes() == found.a.tobytes() and again._fields == found._fields
        assert again.ok.tolist() == [True, False] and again.why == found.why


def test_drives_take_functions_by_reference_and_name_those_that_have_none() -> None:
    s = lw.load("wiper").system
    batch = run_batch(compiled_of(s), [s.start], 0.01, drive={"A": lw.drives.torque(torque)})
    assert pickle.loads(pickle.dumps(batch))[0].q.tobytes() == batch[0].q.tobytes()

    def local_law(t: Any) -> Any:
        return 0.1 * t

    batch = run_batch(compiled_of(s), [s.start], 0.01, drive={"A": lw.drives.torque(local_law)})
    assert copy.deepcopy(batch)[0].q.tobytes() == batch[0].q.tobytes()
    with pytest.raises((AttributeError, pickle.PicklingError), match="local_law"):
        pickle.dumps(batch)
    assert pickle.loads(pickle.dumps(lw.drives.torque(partial(np.multiply, 2.0)))) is not None


def test_errors_keep_what_they_hold() -> None:
    with pytest.raises(lw.ModelError) as caught:
        lw.load({"bodies": {}, "joints": 3})
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.where, again.message) == (str(caught.value), caught.value.where, caught.value.message)


def test_cloudpickle_takes_objects_with_functions_of_a_script(used: dict[str, Any]) -> None:
    import cloudpickle

    def scatter(m: lw.Mechanism) -> lw.Trajectory:
        return m.cycle(steps=12)

    study = lw.study("wiper", {"crank.mass": [0.3, 0.4]}, {"peak": lambda c: float(np.abs(c["A.torque"]).max())}, case=scatter)
    packed = cloudpickle.dumps((used["system"], used["run"], study))
    s, run, again = pickle.loads(packed)
    assert len(packed) < 2 * SMALL and identical(run, used["run"])
    assert s.M(s.start).tobytes() == used["system"].M(used["system"].start).tobytes()
    assert (again["peak"] == study["peak"]).all() and again.result(1)["A.torque"].tobytes() == study.result(1)["A.torque"].tobytes()
