"""Straight-line code against what it was made from: the usual rows, floats and complex steps, and what cannot be traced."""

import numpy as np
import pytest

import linkwright as lw
from linkwright import joints
from linkwright.api import compiled_of
from linkwright.compiler.graph import trace
from linkwright.compiler.program import interpret
from linkwright.compiler.python_text import Straight
from linkwright.kernels.traced_loops import TracedClosure, TracedLoops
from linkwright.mechanics.constraints import DrivenDistance, PointTarget
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import counted_references, displaced
from linkwright.model.curves.polynomial import Line
from linkwright.model.curves.tables import table
from linkwright.numerics.scalars import arctan2, unwrap, where
from tests.sweeps import sweep

CASES = {
    "carpet-scraper": ("J1", None),  # planar, several loops
    "wiper": (None, "coupler.P"),
    "excavator": ("J4", None),
    "stewart": ("leg3", None),  # ball joints cut: quaternions
    "delta": ("A2", None),  # redundant rows
    "punch-press": (None, None),
}


def by_code(loops, *at):
    """The closure at the first evaluation: it comes from traced code at once."""
    c = loops.at(*at)
    assert isinstance(c, TracedClosure)
    return c


def handed_in(s, drive, point):
    d = s.description
    drive = drive or d.drives[0].joint
    extra = [driven(d, drive, table((0.0, 0.5, 1.0), (0.1, 0.7, 0.4), straight=True))]
    if point:
        extra.append(DrivenDistance("jack", (("ground", "A"), tuple(point.split("."))), Line(0.8, 0.2)))
        extra.append(PointTarget(tuple(point.split(".")), (0.1, 0.2, 0.0), (0.4, -0.3, 0.0), (0, 1)))
    return extra


@sweep("name", CASES, later=["stewart", "delta"])
def test_code_says_what_the_usual_rows_say(name):
    s = lw.load(name).system
    interpreted, evaluator = Loops.of(compiled_of(s).skel), TracedLoops.of(compiled_of(s).skel)
    extra = handed_in(s, *CASES[name])
    interpreted, evaluator = interpreted.with_(extra), evaluator.with_(extra)
    rng = np.random.default_rng(3)
    step = 1e-30
    for n in range(3):  # off the loops and off the start, where every entry counts
        q = displaced(compiled_of(s).skel, s.start.q, 0.3 * rng.normal(size=s.tree.nv) * interpreted.columns)
        v, t = rng.normal(size=s.tree.nv), 0.2 + 0.3 * n
        slope = rng.normal(size=s.tree.nq)
        for args in ((q, v, t, s.start.references), (q + 1j * step * slope, v + 0j, t + 1j * step, s.start.references)):
            want, got = interpreted.at(*args), by_code(evaluator, *args)
            for part in ("phi", "J", "k", "b"):
                a, b = getattr(got, part), getattr(want, part)
                scale = 1.0 + np.abs(b).max()
                assert np.abs(a - b).max() < 1e-12 * scale  # round-off of some hundred operations
                assert np.abs(np.imag(a) - np.imag(b)).max() < 1e-11 * step * (1.0 + np.abs(np.imag(b)).max() / step)
            assert got.rows == want.rows and got.columns == want.columns
        assert all(np.allclose(a.phi, b.phi) for a, b in zip(got.parts, want.parts, strict=True))


@pytest.mark.parametrize("name", ["carpet-scraper", "stewart"])
def test_turns_are_counted_alike(name):
    s = lw.load(name).system
    evaluator = TracedLoops.of(compiled_of(s).skel)
    near = {k: np.asarray(x) + (2.0 * np.pi if len(x) == 1 else 0.0) for k, x in s.start.references.items()}
    found = evaluator.counted_references(s.start.q, near)
    want = counted_references(compiled_of(s).skel, s.start.q, near)
    assert found.keys() == want.keys()
    assert all(np.abs(found[k] - want[k]).max(initial=0.0) < 1e-12 for k in want)
    assert evaluator.traces is not None and evaluator.traces.made["places"] is not None


def test_a_joint_that_branches_takes_the_usual_path(monkeypatch):
    class Branching(joints.JOINTS["revolute"]):
        def residual(self, R, p, near):
            return super().residual(R, p, near) if float(R[0, 0]) > -2.0 else np.zeros(5)

    monkeypatch.setitem(joints.JOINTS, "revolute", Branching)
    s = lw.load("four-bar").system
    at = (s.start.q, s.start.v, 0.0, s.start.references)
    c = compiled_of(s).loops.at(*at)
    assert not isinstance(c, TracedClosure)
    assert np.abs(c.J - Loops.of(compiled_of(s).skel).at(*at).J).max() == 0.0


def test_every_operation():
    def everything(x):
        a, b, c = x
        y = [a + b, a - b, a * b, a / b, -a, np.sqrt(b), abs(a), np.sin(a), np.cos(a), np.exp(a), np.log(b), np.tanh(a), arctan2(a, c)]
        return {"y": np.array([*y, b**a, unwrap(a, c), where(a < c, a, b), where(c <= a, a * a, b * c), 3.0])}

    def plain(x):
        program = trace(everything, x=3)
        return np.array([*interpret(program, x)])

    code = Straight(trace(everything, x=3))
    for x in ([-0.7, 1.3, 9.1], [2.5, 0.4, -3.0]):
        assert np.allclose(code(x), plain(np.array(x)), rtol=1e-15, atol=1e-15)
        slope = np.array([0.3, -0.2, 0.5])
        h = 1e-6
        rise = (plain(np.array(x) + h * slope) - plain(np.array(x) - h * slope)) / (2.0 * h)
        steps = code.on_complex([complex(a, 1e-30 * b) for a, b in zip(x, slope, strict=True)])
        assert np.allclose(steps.imag / 1e-30, rise, rtol=1e-6, atol=1e-6)  # differences of step h are good to h^2 and eps / h
