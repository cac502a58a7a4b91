"""Free motion in exported JavaScript: projections close positions and speeds, and a step that fails leaves the time as it was."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from tests import exports
from tests.kernels.test_export import run
from tests.simulation.random_passages import case
from tests.sweeps import sweep


@pytest.mark.parametrize("off", [1e-7, 1e-3])
def test_a_projection_ends_with_speeds_on_the_loops_too(off: float, rng: np.random.Generator) -> None:
    """phi = 0 and J v = 0 by the float path at what it returns."""
    s = lw.compile("four-bar")
    st = s.assemble(q={"A": 0.7}, v={"A": 5.0})
    q, v = st.q + off * rng.normal(size=s.tree.nq), st.v + off * rng.normal(size=s.tree.nv)
    script = exports.script(s, name="m")
    [found] = run({"m": script}, [("m", "return m.project(x.q,x.v)", {"q": q, "v": v})])
    assert found["ok"]
    there = s.state(np.array(found["q"]), np.array(found["v"]))
    c = s.closure(there)
    fast = float(np.abs(there.v).max())
    assert np.abs(c.phi).max() < 2e-13 and np.abs(c.J @ there.v).max() < 2e-13 * fast * np.abs(c.J).max() * 4  # round-off of the loops
    assert np.abs(there.q - q).max() < 10.0 * off and np.abs(there.v - v).max() < 100.0 * off


def test_a_projection_goes_on_while_speeds_are_off_and_is_not_ok_where_they_stay_off() -> None:
    """A kernel that leaves 1e-6 of the speeds two times, or always: positions are closed all the time. Counted over the largest speed."""
    s = lw.compile("four-bar")
    st = s.assemble(q={"A": 0.7}, v={"A": 5.0})
    inside = "k.n++;const s=exact(x,y);if(k.n<=k.times)y[k.outputs.rate_residual[0]]=k.left;return s"
    watched = f"function projection(x,y){{const k=projection;{inside}}}\nfunction exact(x,y){{"
    script = exports.script(s, name="m").replace("function projection(x,y){", watched)
    code = "const k=m.kernels.projection;Object.assign(k,{n:0,...x});const p=m.project(x.q,x.v);return{ok:p.ok,residual:p.residual,n:k.n}"
    given = {"q": st.q, "v": st.v, "left": 1e-6 * float(np.abs(st.v).max())}
    clean, twice, always = run({"m": script}, [("m", code, {**given, "times": times}) for times in (0, 2, 99)])
    assert clean["ok"] and clean["n"] == 1
    assert twice["ok"] and twice["n"] == 3 and twice["residual"] < 1e-12
    assert not always["ok"] and always["n"] == 6 and always["residual"] == pytest.approx(1e-6, rel=1e-6)


def test_a_step_that_fails_leaves_the_time_as_it_was() -> None:
    """A second of free motion in one step at 300 rad/s leads nowhere near the loops; smaller steps go on from the same time."""
    s = lw.compile("four-bar")
    st = s.assemble(q={"A": 0.7}, v={"A": 300.0})
    code = (
        "m.t=0.25;const far=m.step(x.q,x.v,1),t1=m.t,near=m.step(x.q,x.v,1e-4),t2=m.t,none=m.step(x.q,x.v,1e-4,[NaN,0,0]),t3=m.t;"
        "return{ok:[far.ok,near.ok,none.ok],t:[t1,t2,t3]}"
    )
    [found] = run({"m": exports.script(s, name="m")}, [("m", code, {"q": st.q, "v": st.v})])
    assert found["ok"] == [False, True, False]
    assert found["t"] == [0.25, 0.25 + 1e-4, 0.25 + 1e-4]


def test_with_its_terms_a_script_steps_through_a_singular_position() -> None:
    """A crank and a rod of equal length, folded on the way: against our own run. Without the terms the step is refused there."""
    s = lw.compile("slider-crank-equal")
    st = s.assemble({"A": "60 deg"}, {"A": 6.0})
    right = s.simulate(st, 0.25, sample_interval=[0.0, 0.25], tolerance=1e-10)
    code = (
        "let q=x.q,v=x.v,ok=true,n=0;m.t=0;m.near=Float64Array.from(x.near);"
        "for(let k=0;ok&&k<2500;k++){const r=m.step(q,v,1e-4);ok=r.ok;if(r.continued)n++;q=r.q;v=r.v}return{ok,q,n,t:m.t}"
    )
    given = {"q": st.q, "v": st.v, "near": st.skel.pack(st.references)}
    kernels = ["kinematics", "forward", "projection"]
    scripts = {"m": exports.script(s, [*kernels, "terms"], name="m"), "p": exports.script(s, kernels, name="p")}
    through, plain = run(scripts, [("m", code, given), ("p", code, given)])
    assert right.certificate.rank_passages and through["ok"] and through["n"] > 0
    assert np.abs(np.array(through["q"]) - right.q[-1]).max() < 1e-6
    assert not plain["ok"] and plain["t"] < 0.25


@sweep("number", range(48), now=[3])
def test_scripts_pass_singular_positions_of_random_mechanisms_or_refuse_them(number: int) -> None:
    """Steps of 0.1 ms, against reduced equations that are regular there. Without the terms the motion ends before it is wrong."""
    given = case(number)
    s = lw.compile(lw.load(given.model))
    st, k = s.assemble(v=given.speeds), list(s.names.q).index(given.channel)
    n = math.ceil(given.seconds / 1e-4)
    code = (
        f"let q=x.q,v=x.v,ok=true,i=0;m.t=0;m.near=Float64Array.from(x.near);for(;ok&&i<{n};i++)"
        f"{{const r=m.step(q,v,{given.seconds / n!r});ok=r.ok;q=r.q;v=r.v}}return{{ok,q,t:m.t}}"
    )
    kernels = ["forward", "projection"]
    scripts = {"m": exports.script(s, [*kernels, "terms"], name="m"), "p": exports.script(s, kernels, name="p")}
    through, plain = run(scripts, [(x, code, {"q": st.q, "v": st.v, "near": st.skel.pack(st.references)}) for x in ("m", "p")])
    assert through["ok"] and abs(through["q"][k] - st.q[k] - given.right) < 2e-4
    assert (plain["ok"] and abs(plain["q"][k] - st.q[k] - given.right) < 2e-4) or (not plain["ok"] and plain["t"] < given.seconds)
