"""The example learns: a few generations in every run of the tests, all of them in `make test-all`."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from tests import ROOT

SCRIPT = ROOT / "examples" / "15_learn_reaching.py"


def example() -> dict:
    return runpy.run_path(str(SCRIPT), run_name="example")


@pytest.mark.slow
def test_a_few_generations_improve_the_return() -> None:
    """Six generations with fixed seeds lengthen episodes; the same run gives the same policy."""
    learn = example()["learn"]
    weights, history = learn(6, report=lambda text: None)
    assert history[-1, 1] > history[0, 1] + 0.1
    again, _ = learn(1, report=lambda text: None)
    assert again.shape == weights.shape == (178,) and np.isfinite(weights).all()


@pytest.mark.slow
def test_the_whole_example_reaches_its_goals(tmp_path: Path) -> None:
    """With the seeds of the example every goal is reached; other processors round differently, so a few may be missed."""
    names = example()
    weights, history = names["learn"]()
    assert history[-1, 2] > 0.98 and history[0, 2] == 0.0
    names["show"](weights, history, tmp_path)
    assert (tmp_path / "learning.png").stat().st_size > 5000 and (tmp_path / "reaching.gif").stat().st_size > 50_000
