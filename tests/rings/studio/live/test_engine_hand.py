"""A hand on the page's mechanism never changes its branch, recovers from values that cannot be built, and is told the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.studio import live
from tests.rings.studio.live.engine_runs import Page, made, run, shipped

JERKED = """
let seed=12345;
const random=()=>(seed=(seed*1103515245+12345)%2147483648)/2147483648;
const {low,high}=D.scene.extent;
const spots=[...D.pins.map(p=>p.at),...D.bodies.flatMap(b=>b.points.map(p=>({body:b.name,at:p.at})))].filter(p=>e.index(p.body));
const det=()=>e.core.determinant(e.state.q,e.state.near),out={flips:[],residual:0,steps:0,stops:{},nearest:1};
const put=e.put;
let now=0;
e.put=(...given)=>{
  const r=put(...given),then=now;
  now=det();
  if(then){out.steps++;out.nearest=Math.min(out.nearest,Math.abs(now));if(then*now<=0)out.flips.push([then,now])}
  return r;
};
for(let k=0;k<x.grips;k++){
  now=0;
  e.go(Math.floor(random()*e.cycle.n));
  const p=spots[Math.floor(random()*spots.length)];
  for(let j=0;j<6;j++){
    const far=random()<.3?8:1,target=low.map((l,i)=>l+(high[i]-l)*(1.6*random()*far-.3));
    for(let i=0;i<4;i++){const r=e.drag(p.body,p.at,target);out.stops[r.stopped]=1;if(!r.moved)break}
    out.residual=Math.max(out.residual,e.core.residual(e.state.q,e.state.near,e.state.drive));
  }
}
return out;
"""


@pytest.mark.slow
def test_jerky_drags_of_several_drives_never_change_the_branch() -> None:
    """The platform's determinant is zero only at folds, so its sign tells the assembly; targets lie within and far outside reach."""
    names = ("3-rrr", "3-rrr-motors")
    found = run({n: shipped(n) for n in names}, [(n, JERKED, {"grips": 40}) for n in names])
    for name, got in zip(names, found, strict=True):
        assert got["flips"] == [], (name, got["flips"])
        assert got["residual"] < 1e-10 and got["steps"] > 500
        assert got["nearest"] < 1e-3 and any(s.startswith("dead center of ") for s in got["stops"])  # folds were met


@pytest.mark.slow
def test_a_passage_of_the_branch_is_no_dead_center() -> None:
    """A chain of parallelograms goes on over its flat position, where the determinant changes its sign."""
    code = """
e.go(0);
const first=e.core.determinant(e.state.q,e.state.near);
const r=e.nudge(0,x),d=e.core.determinant(e.state.q,e.state.near),out=[];
for(let i=0;i<e.core.nq;i++)out.push(e.state.q[i]-e.cycle.q[i]);
return{r,first,d,out};
"""
    got = run({"chain": shipped("parallelogram-chain")}, [("chain", code, x) for x in (3.5, 2 * np.pi)])
    assert got[0]["r"] == {"moved": True, "stopped": ""} and got[0]["first"] * got[0]["d"] != 0
    assert got[1]["r"] == {"moved": True, "stopped": ""}
    assert np.abs(np.angle(np.exp(1j * np.array(got[1]["out"])))).max() < 1e-9  # a whole cycle: back where it began


def test_reset_brings_back_a_position_by_hand_after_values_that_cannot_be_built() -> None:
    code = """
const p=D.parameters.find(p=>p.name==="ground.E.x"),pin=D.pins.find(p=>p.name==="C").at;
e.go(240);
const to=e.place(pin.body,pin.at);
e.drag(pin.body,pin.at,[to[0]+1e-4,to[1],0]);
const q=e.state.q.slice(),r=e.set({[p.name]:p.low}),ok=e.state.ok,stuck=e.drag(pin.body,pin.at,to);
const more=e.set({[p.name]:p.low*1.01}),back=e.reset();
return{s:e.state.s,r,ok,stuck,more,back,end:e.state.ok,off:Math.max(...q.map((x,i)=>Math.abs(x-e.state.q[i]))),again:e.drag(pin.body,pin.at,to)};
"""
    got = run({"five-bar": shipped("five-bar")}, [("five-bar", code, None)])[0]
    assert got["s"] is None and not got["r"]["ok"] and not got["ok"] and not got["more"]["ok"]
    assert got["stuck"]["stopped"] == "the mechanism cannot be assembled with these dimensions" and not got["stuck"]["moved"]
    assert got["back"] == {"ok": True, "why": ""} and got["end"] and got["off"] < 1e-9 and got["again"]["distance"] < 1e-9


PENDULUM: dict[str, Any] = {
    "name": "damped", "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "B": [1, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "a": {"pins": ["A"], "points": ["B"], "mass": 1}},
    "dampers": {"d": {"joint": "A", "coefficient": 0.8}}, "drive": {"A": "1 rad/s"},
}  # fmt: skip


def test_drift_counts_neither_damping_as_error_nor_time_that_was_not_done() -> None:
    code = """
e.go(0);
e.swing.start(new Float64Array(e.core.nv));
const first=e.swing.energy;
let worst=0,r,sum=0;
for(let k=0;k<120;k++){r=e.swing.step(1/60);worst=Math.max(worst,Math.abs(r.drift));sum+=r.done}
const lost=first-r.energy,long=e.swing.step(1e3);
return{worst,lost,sum,t:r.t,long,more:long.t-r.t};
"""
    got = run({"damped": made(lw.load(PENDULUM).system)}, [("damped", code, None)])[0]
    assert got["lost"] > 1 and got["worst"] < 1e-6  # J of about 5 taken by the damper; as good as a swing without it
    assert abs(got["sum"] - 2) < 1e-9 and abs(got["t"] - 2) < 1e-9
    assert got["long"]["ok"] and 0 < got["long"]["done"] < 1e3 and abs(got["long"]["done"] - got["more"]) < 1e-9


def test_a_recorded_run_is_drawn_with_the_values_it_was_computed_with() -> None:
    """Pins of two bodies coincide while it plays, whatever the sliders say; afterwards the sliders' values hold again."""
    m = lw.load("four-bar")
    recorded = m.system.simulate(m.system.start, 0.2, drive={}, sample_interval=0.05)
    system = live._system(m, recorded)
    script, told = live.contents(system, recorded)
    page = Page(system, shipped("four-bar").motion, script, told)
    code = """
const at=(body,name)=>{const b=D.bodies.find(b=>b.name===body);return e.place(body,b.points.find(p=>p.name===name).at)};
const pins=()=>[["crank","coupler","B"],["coupler","rocker","C"]].map(([a,b,p])=>[at(a,p),at(b,p)]);
e.play(2);
const right=pins(),q=e.state.q.slice();
e.set({L1:.35});
const during=pins(),held=e.state.q.slice();
e.go(30);
const after=pins(),value=e.mechanism.parameters[e.mechanism.names.parameters.indexOf("L1")],A=at("crank","A"),B=at("crank","B");
e.play(2);
const again=pins();
const r=e.drag("rocker",[.1,0,0],[5,5,0]);
return{right,q,during,held,after,value,again,length:Math.hypot(A[0]-B[0],A[1]-B[1]),dragged:pins(),r,ok:e.state.ok};
"""
    got = run({"run": page}, [("run", code, None)])[0]
    assert np.array_equal(got["q"], recorded.q[2]) and got["held"] == got["q"] and got["during"] == got["right"] == got["again"]
    assert got["value"] == 0.35 and abs(got["length"] - 0.35) < 1e-12 and got["ok"] and got["r"]["moved"]
    for key in ("right", "after", "dragged"):
        assert all(np.abs(np.subtract(a, b)).max() < 1e-6 for a, b in got[key]), key


def test_a_freedom_without_a_drive_is_told_to_swing() -> None:
    code = "e.core.kinematics=false;D.topology.mobility=x;return LW.engineHand(e)||e.drag(D.bodies[1].name,[.1,0,0],[1,1,0]).stopped"
    page = {"damped": made(lw.load(PENDULUM).system)}
    got = run(page, [("damped", code, 1), ("damped", code, 0)])
    assert got == ["this degree of freedom cannot be dragged. Use free swing", "nothing can move"]


def test_a_singular_position_stays_where_it_is_with_other_masses() -> None:
    """No branch leads on from there, but its loops close all the same; with another length the position is found again."""
    code = """
e.go(150);
const{nq,nn,nd}=e.core,q=e.state.q.slice(),near=e.state.near.slice(),m=e.mechanism,before=Float64Array.from(m.parameters);
return D.parameters.map((p,j)=>{
  const after=before.slice(),there=q.slice();
  after[j]*=1.1;
  m.parameters.set(after);
  const ok=e.core.carried(there,near.slice(),e.state.drive,before,after),off=e.core.residual(there,near,e.state.drive);
  m.parameters.set(before);
  return[ok,off];
});
"""
    [found] = run({"page": shipped("slider-crank-equal")}, [("page", code, None)])
    assert len(found) == 3 and all(ok and off < 1e-12 for ok, off in found)  # closed to 1e-13, or stopped by round-off
