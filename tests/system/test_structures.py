"""A structure, which nothing can move: every public call answers or says why it cannot, and none ends in an error of numpy."""

import inspect

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.integrators import INTEGRATORS
from linkwright.rings.robots.workspace import workspace
from linkwright.simulation.run_batch import run_batch
from linkwright.system.mechanism import mechanism_of

PLANE = {
    "name": "truss",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [1, 0], "C": [0.5, 0.8]},
    "bodies": {"ground": {"pins": ["A", "B"]}, "l": {"pins": ["A", "C"], "mass": 1}, "r": {"pins": ["B", "C"], "mass": 1}},
}
WELDED = {
    "name": "post",
    "gravity": [0, 0, -9.81],
    "bodies": {"ground": {}, "post": {"points": {"P": [0, 0, 1]}, "mass": 1, "com": [0, 0, 0.5], "inertia": [0.1, 0.1, 0.01]}},
    "joints": {"foot": {"type": "fixed", "between": ["ground", "post"], "frames": [{"at": [0, 0, 0]}, {"at": [0, 0, 0]}]}},
}


@pytest.fixture(scope="module", params=[PLANE, WELDED], ids=["loop", "tree"])
def m(request):
    return lw.load(request.param)


def joint(m):
    return m.description.joints[0].name


def body(m):
    return m.description.bodies[1].name


# calls of Mechanism and System by name: with f(m, s, st, folder)
VERBS = {
    "m.animate": lambda m, s, st, f: m.animate(f / "a.gif", seconds=0.1, fps=20),
    "m.compare": lambda m, s, st, f: m.compare(m.with_(**{f"{body(m)}.mass": 1.5}), f / "c.html", names=[f"{body(m)}.mass"]),
    "m.balance": lambda m, s, st, f: m.balance(),
    "m.cam": lambda m, s, st, f: m.cam(),
    "m.export": lambda m, s, st, f: [m.export(f / name) for name in ("a.urdf", "a.sdf", "a.mjcf", "a.dxf", "a.svg")],
    "m.time_optimal": lambda m, s, st, f: m.time_optimal({joint(m): [0.0, 1.0]}, {joint(m): "1 N m"}),
    "m.optimal": lambda m, s, st, f: m.optimal("least effort", {joint(m): 0.1}, duration=1.0, steps=4),
    "m.predictive": lambda m, s, st, f: m.predictive({f"{joint(m)}.torque": 1.0, f"{joint(m)}.force": 1.0}),
    "m.follow": lambda m, s, st, f: m.follow({joint(m): [0.0, 1.0]}, [0.0, 1.0]),
    "m.holding_range": lambda m, s, st, f: m.holding_range(),
    "m.lost_motion": lambda m, s, st, f: m.lost_motion(joint(m)),
    "m.info": lambda m, s, st, f: str(m.info()),
    "m.limits": lambda m, s, st, f: m.limits(joint(m)),
    "m.workspace": lambda m, s, st, f: m.workspace({joint(m): "0..1 / 3"}, "reach"),
    "m.optimize": lambda m, s, st, f: m.optimize(f"min {body(m)}.mass", {f"{body(m)}.mass": "+- 10 %"}, count=2, starts=1),
    "m.plot": lambda m, s, st, f: [m.plot("mechanism", f / "a.svg"), m.plot(), m.plot("structure", f / "b.svg")],
    "m.report": lambda m, s, st, f: m.report(f / "r.html"),
    "m.save": lambda m, s, st, f: [m.save(f / "s.yaml"), m.save(f / "n.yaml", normalized=True)],
    "m.settle": lambda m, s, st, f: m.settle(),
    "m.show": lambda m, s, st, f: [m.show(f / "sh.html"), m.show(widget=True)],
    "m.simulate": lambda m, s, st, f: m.simulate(0.1).checks(),
    "m.tolerances": lambda m, s, st, f: m.tolerances({f"{body(m)}.mass": "+- 1 %"}, f"peak {joint(m)}.load", count=8),
    "m.cycle": lambda m, s, st, f: m.cycle(),
    "m.cycles": lambda m, s, st, f: m.cycles({f"{body(m)}.mass": [1.0, 2.0]}),
    "m.with_": lambda m, s, st, f: m.with_(gravity=0),
    "s.M": lambda m, s, st, f: s.M(st),
    "s.assemble": lambda m, s, st, f: [s.assemble(), s.assemble(q={joint(m): 0.1})],
    "s.assemble_batch": lambda m, s, st, f: s.assemble_batch({joint(m): [0.0, 0.1]}),
    "s.branches": lambda m, s, st, f: s.branches(tries=5),
    "s.casadi": lambda m, s, st, f: s.casadi(),
    "s.closure": lambda m, s, st, f: s.closure(st),
    "s.control": lambda m, s, st, f: s.control(lw.control.pd({joint(m): 0.0}, P=1.0, D=1.0)),
    "s.controllable": lambda m, s, st, f: s.controllable(st),
    "s.crosscheck": lambda m, s, st, f: s.crosscheck(st),
    "s.derivatives": lambda m, s, st, f: s.derivatives(st),
    "s.determinacy": lambda m, s, st, f: s.determinacy(st),
    "s.estimator": lambda m, s, st, f: s.estimator({joint(m): 0.01}, every=0.01),
    "s.follow": lambda m, s, st, f: mechanism_of(s).follow({joint(m): [0.0, 1.0]}, [0.0, 1.0]),
    "s.forward": lambda m, s, st, f: s.forward(st),
    "s.gicm": lambda m, s, st, f: s.gicm(st),
    "s.h": lambda m, s, st, f: s.h(st),
    "s.inverse": lambda m, s, st, f: s.inverse(st),
    "s.jacobian": lambda m, s, st, f: s.jacobian(st, f"{body(m)}.C"),
    "s.pinocchio": lambda m, s, st, f: s.pinocchio(),
    "s.jax": lambda m, s, st, f: s.jax(),
    "s.kernel": lambda m, s, st, f: [s.kernel(name) for name in ("terms", "forward", "inverse", "rates")],
    "s.limits": lambda m, s, st, f: mechanism_of(s).limits(joint(m)),
    "s.linearize": lambda m, s, st, f: s.linearize(st),
    "s.mirror": lambda m, s, st, f: s.mirror(st),
    "s.motion": lambda m, s, st, f: s.motion(st),
    "m.check": lambda m, s, st, f: m.check(remedy_time=0.1),
    "s.named_terms": lambda m, s, st, f: s.named_terms(),
    "s.point": lambda m, s, st, f: s.point(st, f"{body(m)}.{m.description.bodies[1].points[0].name}"),
    "s.pose": lambda m, s, st, f: s.pose(st, body(m)),
    "st.energy": lambda m, s, st, f: [st[f"energy.{x}"] for x in ("kinetic", "potential", "total")],
    "s.settle": lambda m, s, st, f: mechanism_of(s).settle(),
    "s.simulate": lambda m, s, st, f: [s.simulate(st, 0.05, integrator=name, step=0.01).checks() for name in INTEGRATORS],
    "batch of runs": lambda m, s, st, f: run_batch(compiled_of(s), [st, st], 0.05, sample_interval=0.01),
    "s.state": lambda m, s, st, f: s.state(st.q),
    "s.step": lambda m, s, st, f: s.step(st),
    "s.stepper": lambda m, s, st, f: s.stepper(3).step({}),
    "s.terms": lambda m, s, st, f: s.terms(st),
    "s.torch": lambda m, s, st, f: s.torch(),
    "s.transmission": lambda m, s, st, f: s.transmission(joint(m), joint(m)),
    "s.cycle": lambda m, s, st, f: mechanism_of(s).cycle(),
    "s.workspace": lambda m, s, st, f: workspace(s, {joint(m): "0..1 / 3"}, "reach"),
    "lw.identify": lambda m, s, st, f: lw.identify(m, {"t": np.linspace(0, 1, 20)}),
    "lw.excitation": lambda m, s, st, f: lw.excitation(m),
    "lw.calibrate": lambda m, s, st, f: lw.calibrate(m, {joint(m): [0.0, 0.0]}, [f"{body(m)}.length"]),
    "lw.control.lqr": lambda m, s, st, f: s.control(lw.control.lqr(s.linearize(st))),
    "lw.study": lambda m, s, st, f: lw.study(m, {f"{body(m)}.mass": [1.0, 2.0]}, f"peak {joint(m)}.load"),
    "lw.Equilibrium": lambda m, s, st, f: lw.study(m, {f"{body(m)}.mass": [1.0, 2.0]}, f"peak {joint(m)}.load", case=lw.Equilibrium()),
}


SLOW = ("s.pinocchio", "m.plot", "m.export", "s.casadi", "m.animate")  # they load other packages


@pytest.mark.parametrize("verb", [pytest.param(v, marks=pytest.mark.slow) if v in SLOW else v for v in VERBS])
def test_it_answers_or_says_why(m, verb, tmp_path):
    s = m.system
    try:
        VERBS[verb](m, s, s.start, tmp_path)
    except lw.LinkwrightError as error:
        assert str(error).endswith((".", "`")) and len(str(error)) > 20, error


def test_every_public_verb_is_tried(m):
    for name, thing in (("m", m), ("s", m.system)):
        public = {k for k in dir(type(thing)) if not k.startswith("_") and inspect.isfunction(getattr(type(thing), k))}
        assert public <= {v.partition(".")[2] for v in VERBS if v.startswith(f"{name}.")}, name


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m, s: s.linearize(s.start), "nothing can move"),
        (lambda m, s: lw.identify(m, {"t": np.linspace(0, 1, 20)}), "nothing can move"),
        (lambda m, s: lw.excitation(m), "nothing can move"),
    ],
)
def test_what_needs_a_motion_says_that_there_is_none(m, call, says):
    with pytest.raises(lw.UsageError, match=says):
        call(m, m.system)
