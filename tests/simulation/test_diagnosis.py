"""What a run says when it ends early is the cause that its numbers show: each branch by a run that has that cause, and no other."""

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.simulation.failure_diagnosis import why
from linkwright.system.mechanism import mechanism_of
from tests.sweeps import sweep

FOREIGN = ("jump", "loosen", "singular", "stiff", "dead center", "runs away", "without bound", "finite number")


@pytest.fixture(scope="module")
def bar():
    s = lw.compile("four-bar")
    return s, s.assemble(v={"A": 10.0})


def said(s, st, duration=10.0, **options):
    with pytest.raises(lw.SimulationError) as caught:
        s.simulate(st, duration, **options)
    text = str(caught.value)
    assert text.endswith("The trajectory up to there is in the error's `run`.") and "(rad/s or m/s)" not in text
    return text


def only(text, *words):
    """These causes, and none of the others."""
    assert all(w in text for w in words), text
    assert not [w for w in FOREIGN if w in text and w not in words], text


def relay(t, x):
    return -200.0 * x["A.v"] / abs(x["A.v"])


def lost(t, x):
    if t > 0.05:
        raise KeyError("row 7")
    return 0.0


CAUSES = {
    "relay": ({"drive": {"A": lw.drives.torque(relay)}}, ("jump", "'A'", "-200 N m and 200 N m", "every=")),
    "runaway": (
        {"drive": {"A": lw.drives.torque(lambda t, x: 50.0 * x["A.v"])}},
        ("runs away", "'A' grows with the motion", "sign of its feedback"),
    ),
    "pole": ({"drive": {"A": lw.drives.torque(lambda t: 1.0 / (0.5 - t) ** 3)}}, ("without bound", "the drive of 'A'")),
    "stiff": ({"drive": {"A": lw.drives.torque(lambda t, x: -1e9 * x["A.v"])}}, ("stiff", "time constant", "integrator='rodas'")),
    "stiff, fixed": (
        {"drive": {"A": lw.drives.torque(lambda t, x: -1e4 * x["A.v"])}, "integrator": "rk4", "step": 0.01},
        ("the step of 0.01 s is too long", "stiff"),
    ),
    "function": ({"drive": {"A": lw.drives.torque(lost)}}, ("the function 'lost' (test_diagnosis.py:", "KeyError", "row 7")),
    "long step": ({"integrator": "rk4", "step": 0.2}, ("step=0.2 s", "times shorter")),
    "own limit": ({"most_steps": 20}, ("most_steps = 20 was used up", "of 10 s", "A = ")),
    "own smallest step": ({"smallest_step": 0.5}, ("smallest_step = 0.5 s", "Lower smallest_step", "loosen")),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_the_cause_is_named_and_no_other(bar, cause):
    options, words = CAUSES[cause]
    only(said(*bar, **options), *words)


def test_advice_of_a_relay_and_of_stiffness_helps(bar):
    s, st = bar
    assert s.simulate(st, 0.05, drive={"A": lw.drives.torque(relay, every=0.01)}).certificate.status == "finished"
    damped = {"A": lw.drives.torque(lambda t, x: -1e9 * x["A.v"])}
    assert s.simulate(st, 10.0, drive=damped, integrator="rodas", tolerance=1e-6).certificate.status == "finished"


@sweep("options", [{"integrator": "rk4", "step": 0.004}, {"integrator": "rk4", "step": 0.01}], now=1)
def test_a_prescribed_motion_ends_at_its_dead_center(bar, options):
    """The rocker driven at 1 rad/s: it cannot pass its dead center, where crank and coupler are in line; limits knows where."""
    s, _ = bar
    text = said(s, s.assemble(v={"D": 1.0}), drive={"D": lw.drives.speed(1.0)}, **options)
    only(text, "dead center", "prescribed motion of 'D'", "limits gives the range")
    named = float(text.partition("D = ")[2].partition(" rad")[0])
    end = mechanism_of(s).limits("D").high
    assert end - 2.0 * options["step"] < named < end + 1e-3


def ended(run, status, at=-1):
    """What the run would say had its loop ended so at a sample."""
    sim = run.proof.sim
    piece = sim.pieces[-1]
    solution = replace(piece.solution, status=status, end_time=float(run.t[at]), end_state=piece.solution.y[at])
    sim.pieces[-1] = piece._replace(solution=solution)
    return why(sim)


@pytest.mark.parametrize("status", ["stuck", "open", "smallest step", "too many steps", "not finite"])
def test_near_a_singular_position_neither_tolerance_nor_inputs_are_blamed(status):
    """A slider-crank with equal links 0.2 deg before it is stretched, in a run without any drive."""
    s = lw.compile("slider-crank-equal")
    st = s.assemble(q={"A": 0.5 * np.pi - 0.1}, v={"A": 1.0})
    run = s.simulate(st, 0.1, sample_interval=0.001)
    at = int(np.argmin(np.abs(run["A"] - (0.5 * np.pi - 0.004))))
    text = ended(run, status, at)
    only(text, "singular", "closed by 'C'", "Begin beyond it")
    assert f"A = {run['A'][at]:.4g} rad" in text


@pytest.mark.parametrize("status", ["stuck", "open", "smallest step", "too many steps", "not finite", "turned"])
def test_without_evidence_no_cause_is_invented(bar, status):
    s, st = bar
    text = ended(s.simulate(st, 0.2), status)
    assert not [w for w in FOREIGN if w in text], text


def test_a_singular_position_met_on_the_way_does_not_ask_to_assemble_the_start():
    s = lw.compile("slider-crank-equal")
    run = s.simulate(s.assemble(q={"A": 0.3}, v={"A": 1.0}), 0.1)
    sim = run.proof.sim
    error = lw.SingularityError("the velocity points along none of the branches. Assemble the state by the joints' speeds.")
    sim.pieces[-1] = sim.pieces[-1]._replace(solution=replace(sim.pieces[-1].solution, status="failed", error=error))
    text = why(sim)
    assert "Assemble" not in text and "Take tolerance=1e-12" in text and "A = " in text
