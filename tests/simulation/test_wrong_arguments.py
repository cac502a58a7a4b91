"""Wrong arguments of `simulate` and of batches: each is an error that names the argument."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.simulation.options import NOT_OF_A_BATCH, Options, RunOptions, about
from linkwright.simulation.run_batch import run_batch
from tests.refusals import refused


@pytest.fixture(scope="module")
def wiper():
    return lw.compile("wiper")


def test_batches_begin_together(wiper):
    states = [wiper.assemble(q={"A": x}, v={"A": 2.0}) for x in (0.5, 1.0)]
    with refused(lw.UsageError, name="A"):
        run_batch(compiled_of(wiper), states, 1.0, drive={"A": lw.drives.speed(2.0)}, sample_interval=0.5)
    with refused(lw.UsageError, name="states"):
        run_batch(compiled_of(wiper), [states[0], replace(states[1], t=7.0)], 1.0, sample_interval=0.5)


def test_batches_refuse_options_of_single_runs(wiper):
    given = {"events": ["A"], "off": ["C"], "certify": True, "contact": "stepping"}
    assert set(given) == set(NOT_OF_A_BATCH)
    for name, value in given.items():
        with pytest.raises(lw.UsageError, match=f"a batch has no `{name}`. Simulate the runs one by one"):
            run_batch(compiled_of(wiper), wiper.start, 1.0, sample_interval=0.5, **{name: value})


def boom(*_):
    raise ZeroDivisionError("boom")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"drive": "A"}, "dict"),
        ({"wrench": [1]}, "dict"),
        ({"events": [3]}, "lw.events.when"),
        ({"events": 3}, "events"),
        ({"events": [lambda st: "x"]}, "one number|event function"),
        ({"events": [lambda st: boom()]}, "boom"),
        ({"drive": {"A": lw.drives.torque(lambda t: boom())}}, "boom"),
        ({"tolerance": "x"}, "tolerance"),
        ({"tolerance": []}, "tolerance"),
        ({"most_steps": "a"}, "most_steps"),
        ({"most_steps": 0}, "most_steps"),
        ({"sample_interval": "foo"}, "sample_interval"),
        ({"sample_interval": ["10 ms", "foo"]}, "sample_interval"),
        ({"progress": 3}, "progress"),
    ],
)
def test_wrong_arguments_are_named(wiper, wrong, told):
    with pytest.raises(lw.UsageError, match=told):
        wiper.simulate(wiper.assemble(v={"A": 1.0}), 0.1, **wrong)


def test_other_wrong_calls(wiper):
    st = wiper.assemble(v={"A": 1.0})
    with refused(lw.UsageError, name="duration", value="abc"):
        wiper.simulate(st, "abc")
    with refused(lw.UsageError, name="drive", value="A"):
        lw.load("wiper").simulate(1.0, drive="A")
    with refused(lw.UsageError, name="C"):
        wiper.simulate(wiper.state(st.q, st.v + np.array([0.5, 0.0, 0.0])), 0.1)
    run = wiper.simulate(st, 0.1, sample_interval=["50 ms", "0.1 s"])
    assert list(run.t) == [0.05, 0.1]
    for wrong in (1.5, None):
        with pytest.raises(lw.ChannelError, match="channel"):
            run[wrong]


OWN = {lw.System.simulate: {"st", "duration"}, lw.Mechanism.simulate: {"duration", "start"}, lw.Run.__init__: {"duration"}}


@pytest.mark.parametrize("call", OWN, ids=lambda call: call.__qualname__)
def test_the_signature_of_a_run_is_the_list_of_its_options(call) -> None:
    found = [p for p in inspect.signature(call).parameters.values() if p.name not in {*OWN[call], "self"}]
    assert {p.name: (p.kind, p.default) for p in found} == {x.name: (inspect.Parameter.KEYWORD_ONLY, x.default) for x in fields(Options)}
    explained = inspect.getdoc(call) or ""
    assert all(f"\n{p.name} : {p.annotation}, default {p.default!r}\n    " in explained for p in found)


def test_the_types_of_options_are_of_the_same_list() -> None:
    """`RunOptions`, which editors and type checkers read, has the names of `Options` in their order."""
    assert list(RunOptions.__annotations__) == [x.name for x in fields(Options)]
    assert NOT_OF_A_BATCH == ("events", "off", "certify", "contact")
    explained = " ".join((inspect.getdoc(lw.System.simulate) or "").split())
    assert all(about(x.name) in explained for x in fields(Options))
