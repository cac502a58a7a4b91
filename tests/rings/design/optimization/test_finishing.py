"""What is said of a finished design: limits read from its own motion, dwells without jumps, the time limit, lines of progress."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.file import read_text
from linkwright.model.file.reader import reread
from linkwright.model.file.save_in_place import edited
from linkwright.results.measures import extremes
from linkwright.rings.design.optimization import final_correction, global_search, request, result
from linkwright.rings.design.optimization.dwell_bands import OfRest
from linkwright.rings.design.optimization.local_search import LocalSearch
from linkwright.rings.design.optimization.problem import DesignProblem, Limit, TimeIsUp
from tests.refusals import refused
from tests.rings.design.optimization.models import DWELL, SLIDER_CRANK

BOX = "slider.C within 100..300 x -10..10 mm"


def problem_of(model: dict[str, Any], goal: str, vary: dict[str, Any], limits: list[str]) -> DesignProblem:
    m = lw.load(model)
    return request.problem(m.description, goal, vary, limits, lw.Cycle(steps=180))


def test_a_limit_is_met_to_one_part_in_a_billion() -> None:
    """39.98 deg for a bound of 40 is missed by 0.02 deg; round-off is not."""
    lim = Limit("C.transmission_angle > 40 deg", (), np.deg2rad(40.0), np.inf, ("deg", np.pi / 180.0))
    assert lim.beyond(np.deg2rad(39.98)) == pytest.approx(-np.deg2rad(0.02), rel=1e-9)
    assert lim.beyond(np.deg2rad(40.0) * (1.0 - 5e-10)) == 0.0
    assert lim.beyond(np.deg2rad(40.0) * (1.0 - 2e-9)) < 0.0
    assert lim.beyond(float("nan")) == np.inf  # unknown is not met
    row = result.QuantityChange(lim.text, 0.0, np.deg2rad(39.98), lim.shown, lim.beyond(np.deg2rad(39.98)))
    assert not row.met and row.violation == "violated by 0.02 deg"


def test_an_impossible_design_is_not_corrected() -> None:
    """It has no slopes: it is returned as it is, without a message of the linear program's solver."""
    p = problem_of(DWELL, "min range guide", {"crank.length": "50..400 mm"}, ["stroke guide > 100 mm"])
    crank_too_long = p.point(np.ones(1))
    assert not crank_too_long.ok
    moved = LocalSearch(p, p.goals[0].terms, p.sought).within_limits(crank_too_long)
    assert moved is crank_too_long


def test_statements_come_from_the_finished_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that holds a limit at its own samples only: the result is moved inside, or says by how much it is outside."""
    m = lw.load(SLIDER_CRANK)
    own = DesignProblem.whole
    apart = np.deg2rad(2.0)

    def elsewhere(self: DesignProblem, p: Any) -> Any:
        """The finished motion, with a larger slide than at the samples of the search."""
        out = own(self, p)
        c = out.trajectory
        object.__setattr__(out, "trajectory", _Stretched(c, 1.0 + apart))
        return out

    monkeypatch.setattr(DesignProblem, "whole", elsewhere)
    asked = ("max rms A.torque", {"r": "20..80 mm"}, ["range guide < 100 mm"])
    found = m.optimize(*asked, lw.Cycle(steps=60), search="none", starts=1)
    (row,) = found.limits
    assert found.feasible and row.met and row.after <= 0.1 * (1.0 + 1e-9)
    assert found.numbers["r"] == pytest.approx(
        0.05 / (1.0 + apart), rel=2e-3
    )  # range = 2 r; drawn in by 3.5 % of the limit, 0.12 % too far
    monkeypatch.setattr(final_correction, "CORRECTIONS", 0)
    left = m.optimize(*asked, lw.Cycle(steps=60), search="none", starts=1)
    assert not left.feasible and not left.limits[0].met and left.certificate is None
    assert left.limits[0].missed == pytest.approx(0.1 * apart, rel=1e-3)
    assert "violated by 3.49 mm" in str(left) and "misses 'range guide < 100 mm' by 3.49" in " ".join(left.notes)


class _Stretched:
    """A motion whose slide is larger by a factor."""

    def __init__(self, c: Any, factor: float):
        self._c, self._factor = c, factor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._c, name)

    def __len__(self) -> int:
        return len(self._c)

    def read(self, names: Any) -> dict[str, np.ndarray]:
        return {n: x * (self._factor if n == "guide" else 1.0) for n, x in self._c.read(names).items()}


def test_a_dwell_and_the_height_of_its_band_are_one_demand() -> None:
    """The least range over a dwell's own length is the band; it has no jump, and its gradient is that of finite differences."""
    p = problem_of(DWELL, "min max guide.v", {"C": "+- 20 mm", "D.x": "+- 20 mm"}, ["dwell guide within 1 mm > 40 deg"])
    (shown,), (held,) = p.limits, p.sought
    q = held.terms[0][1]
    assert isinstance(q, OfRest) and held.high == pytest.approx(1e-3)
    at = p.point(p.nominal)
    dwell = shown.value(at)
    rest = replace(q, length=dwell)
    # windows begin at samples, 2 deg apart: the least range over a little less and a little more encloses the band
    step = np.deg2rad(2.0)
    low, high = (replace(q, name=f"{k}", length=dwell + k * step).value(at) for k in (-1, 1))
    assert low < 1e-3 < high and low < rest.value(at) < high
    window = rest.at(at)
    slope = window.gradient(at)
    for k, v in enumerate(p.variables):
        h = 1e-6
        ends = [window.value(p.point(p.nominal + s * h * np.eye(3)[k])) for s in (-1.0, 1.0)]
        # central differences of second order: h^2 = 1e-12 of the bounds beside round-off of 1e-16 m / h
        assert slope[k] * v.span == pytest.approx((ends[1] - ends[0]) / (2.0 * h), abs=1e-7), v.name


def test_a_window_may_end_between_samples_and_pass_the_end_of_the_cycle() -> None:
    p = problem_of(DWELL, "min max guide.v", {"D.x": "+- 20 mm"}, ["dwell guide within 1 mm > 41 deg"])
    at = p.point(p.nominal)
    q = p.sought[0].terms[0][1]
    assert isinstance(q, OfRest)
    held = q.at(at).window
    assert held is not None and len(held.samples) == 21 and held.share == pytest.approx(0.5)  # 20 steps of 2 deg and half of one
    x = at.motion["guide"]
    n = len(x) - 1
    brute = []
    for i in range(n):
        whole = [x[(i + k) % n] for k in range(21)]
        brute.append(np.ptp([*whole, 0.5 * (x[(i + 20) % n] + x[(i + 21) % n])]))
    assert q.value(at) == pytest.approx(min(brute), rel=1e-9)


def test_rows_of_a_box_are_named_by_side() -> None:
    p = problem_of(SLIDER_CRANK, "min rms A.torque", {"r": None}, [BOX, "guide.v within -2..2 m/s", "A.torque < 50 N m"])
    names = [lim.text for lim in p.limits]
    sides = [f"{BOX}: {x}" for x in ("left side", "right side", "bottom side", "top side")]
    ends = [f"guide.v within -2..2 m/s: {x}" for x in ("lower end", "upper end")]
    assert names == [*sides, *ends, "A.torque < 50 N m"] and len(set(names)) == len(names)


def timeless(*_: Any, **__: Any) -> Any:
    raise TimeIsUp


def test_a_search_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    m = lw.load(SLIDER_CRANK)
    asked = ("min rms A.torque", {"r": None, "rod": "150..250 mm"}, ["range guide > 90 mm"], lw.Cycle(steps=60))
    found = m.optimize(*asked, count=32, starts=2, within=1e-9)
    assert found.late and not found.interrupted and found.certificate is None
    assert found.as_dict()["late"] and "time is over, no design so far meets" in str(found) and "not certified" in " ".join(found.notes)
    assert not found.feasible  # the file's own design, which was all there was time for: 80 mm
    assert found.limits[0].missed == pytest.approx(-0.01, rel=1e-3) and "so far misses 'range guide > 90 mm' by 10 mm" in str(found)
    assert not m.optimize(*asked, count=8, starts=1, within="1 h").late
    monkeypatch.setattr(global_search, "local", timeless)  # the candidates are known, the first local search has no time
    drawn = m.optimize(*asked, count=32, starts=2, within="1 h")
    assert drawn.late and drawn.feasible and drawn.limits[0].after >= 0.09
    with refused(lw.UsageError, name="within", value="-1 s"):
        m.optimize(*asked, within="-1 s")
    with refused(lw.UsageError, name="2 mm"):
        m.optimize(*asked, within="2 mm")


def test_progress_on_a_pipe_goes_to_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(global_search, "EVERY", 0.0)
    monkeypatch.setattr(global_search, "PATIENCE", 0.0)
    m = lw.load(SLIDER_CRANK)
    asked = ("min rms A.torque", {"r": None}, [], lw.Cycle(steps=36))
    m.optimize(*asked, count=8, starts=2)
    out = capsys.readouterr()
    assert not out.out
    assert "local search 1 of 2: best" in out.err and "designs" in out.err and "\x1b" not in out.err
    m.optimize(*asked, count=8, starts=2, progress=False)
    assert not capsys.readouterr().err


def test_the_mechanism_of_an_optimum_needs_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lw.load(SLIDER_CRANK).optimize("min rms A.torque", {"r": None}, "range guide = 100 mm", lw.Cycle(steps=36), count=8, starts=1)

    def refused(*_: Any, **__: Any) -> str:
        raise lw.UsageError("no place")

    monkeypatch.setattr(result.file_editing, "edited", refused)
    assert found.mechanism.cycle(steps=36).measure("range guide") == pytest.approx(0.1, rel=1e-9)
    again = lw.load(SLIDER_CRANK).optimize("min rms A.torque", {"r": None}, (), lw.Cycle(steps=36), count=8, starts=1)
    assert "cannot write it into the text of the file: no place" in " ".join(again.notes)


ROD = """name: arm
plane: xy
units: [mm, kg, deg]
drawing: {A: [0, 0], B: [100, 0], P: [160, 120]}
bodies:
  ground: {pins: [A], points: [P]}
  arm: {pins: [A], points: [B]}
rods:
  tie: {between: [ground.P, arm.B]}
"""


def test_an_end_of_a_rod_on_ground_can_be_written() -> None:
    """The rod has the length of the drawing: where its end moves alone, the file gets `length:`."""
    described = read_text(ROD)
    text = edited(described, {"ground.P.y": 0.13})
    assert "length: 134.1640786" in text  # |(60, 120)| mm, as drawn
    new, wanted = read_text(text).numbers(), reread(described, **{"ground.P.y": 0.13}).numbers()
    assert new.rods[0].length == pytest.approx(wanted.rods[0].length, rel=1e-12)
    assert new.bodies[0].points[-1].at == pytest.approx(wanted.bodies[0].points[-1].at, rel=1e-12)
    assert not request.unwritten(described, ["ground.P.y"])


def test_a_design_reads_curves_once_and_their_errors_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sides of a box, values and rows share the curve of a channel; how far samples decide it is estimated for finished designs only."""
    curves, estimates = [], []
    sharpen, beyond = extremes.SharpenedCurves.of, extremes._beyond
    monkeypatch.setattr(extremes.SharpenedCurves, "of", lambda *given: curves.append(1) or sharpen(*given))
    monkeypatch.setattr(extremes, "_beyond", lambda *given: estimates.append(1) or beyond(*given))
    problem = problem_of(SLIDER_CRANK, "min peak A.torque", {"r": None}, [BOX])
    p = problem.point(np.array([0.5]))
    del curves[:], estimates[:]
    values = [lim.value(p) for lim in problem.limits]
    for lim in problem.limits:
        ((_, quantity),) = lim.terms
        assert np.isfinite(quantity.curve(p).dx).all()
    assert len(values) == 4 and len(curves) == 2 and not estimates  # slider.C.x, then both
    assert problem.limits[0].reach(p) == 0.0 and len(estimates) == 1
