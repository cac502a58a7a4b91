"""A run that ends at its start, and one of a single sample: everything that can be asked of them answers, or says why it cannot."""

from math import pi

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused
from tests.sweeps import sweep


@pytest.fixture(scope="module")
def runs():
    s = lw.compile("slider-crank-equal")
    with refused(lw.SimulationError, name="no answer") as caught:
        s.simulate(s.assemble(q={"A": pi / 2}), 0.01)
    whole = s.simulate(s.assemble(q={"A": 0.3}), 0.01, sample_interval=0.005)
    return {"none": caught.value.run, "one": whole[1:2]}


VERBS = {
    "state": lambda r, path: r.state(0),
    "last": lambda r, path: r[-1],
    "instant": lambda r, path: r.instant(0),
    "at": lambda r, path: r.at(0.005),
    "at many": lambda r, path: r.at([0.005]),
    "between": lambda r, path: r.between(0.0, 1.0),
    "slice": lambda r, path: r[0:1],
    "table": lambda r, path: r.table(),
    "read": lambda r, path: r.read(),
    "to_pandas": lambda r, path: r.to_pandas(),
    "to_xarray": lambda r, path: r.to_xarray(),
    "csv": lambda r, path: r.save(path / "a.csv"),
    "npz": lambda r, path: lw.load_result(r.save(path / "a.npz")).checks(),
    "parquet": lambda r, path: lw.load_result(r.save(path / "a.parquet")).checks(),
    "plot": lambda r, path: r.plot("A", path / "a.svg"),
    "plot energy": lambda r, path: r.plot("energy", path / "e.svg"),
    "report": lambda r, path: r.report(path / "r.html"),
    "page": lambda r, path: r.show(path / "p.html"),
    "show": lambda r, path: r.show(path / "s.html", browser=False),
    "animate": lambda r, path: r.animate(path / "a.gif"),
    "control": lambda r, path: r.control(),
    "bearings": lambda r, path: r.bearings(),
    "drive_sizing": lambda r, path: r.drive_sizing("A"),
    "flywheel": lambda r, path: r.flywheel(0.05),
    "free_body": lambda r, path: r.free_body("rod", 0.005),
    "load": lambda r, path: r.load("B", on="rod"),
    "checks": lambda r, path: str(r.checks()),
    "certificate": lambda r, path: r.certificate.as_dict(),
    "passages": lambda r, path: list(r.passages),
    "repr": lambda r, path: (repr(r), r._repr_html_()),
}


@sweep(("which", "verb"), [(which, verb) for which in ("none", "one") for verb in VERBS], later=[("one", "report")])
def test_every_verb_answers_or_says_why_not(runs, which, verb, tmp_path):
    try:
        VERBS[verb](runs[which], tmp_path)
    except lw.LinkwrightError as error:
        assert len(str(error)) > 20
        if which == "none" and not verb.startswith(("plot", "animate")):
            assert "no samples" in str(error)


@pytest.mark.parametrize("which", ["none", "one"])
def test_every_channel_has_as_many_values_as_samples(runs, which):
    run = runs[which]
    for name in run.channels:
        try:
            assert len(run[name]) == len(run)
        except lw.UsageError as error:
            assert which == "none" and "no samples" in str(error)


def test_the_verdict_of_a_run_that_did_not_start(runs):
    checks = runs["none"].checks()
    assert not checks and not checks["run"] and runs["none"].certificate.steps == 0
    assert "singular position" in str(checks)


def test_a_run_that_did_not_start_is_saved_and_opened(runs, tmp_path):
    again = lw.load_result(runs["none"].save(tmp_path / "none.npz"))
    assert len(again) == 0 and not again.checks() and again["A"].shape == (0,)
    assert np.array_equal(again._counted_from, runs["none"]._counted_from)


def test_the_verdict_names_the_singular_start(runs):
    """The cause in the mechanism's words, and the singular value of the start itself: zero, not that of some regular position."""
    c = runs["none"].certificate
    assert c.message.startswith("t = 0 s: at rest in a singular position") and "Python function" not in str(c)
    assert c.smallest_singular_value < 1e-9 and "no loops" not in str(c)
