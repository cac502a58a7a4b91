"""A hand on the page's mechanism never changes its branch, recovers from values that cannot be built, and is told the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwright as lw
from linkwright.views import live
from tests.views.live.engine_runs import Page, made, run, shipped

JERKED = """
let seed=12345;
const random=()=>(seed=(seed*1103515245+12345)%2147483648)/2147483648;
const {low,high}=D.scene.extent,spots=[...D.pins.map(p=>p.at),...D.points].filter(p=>e.index(p.body));
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


def test_jerky_drags_of_several_drives_never_change_the_branch() -> None:
    """The platform's determinant is zero only at folds, so its sign tells the assembly; targets lie within and far outside reach."""
    names = ("3-rrr", "3-rrr-motors")
    found = run({n: shipped(n) for n in names}, [(n, JERKED, {"grips": 40}) for n in names])
    for name, got in zip(names, found, strict=True):
        assert got["flips"] == [], (name, got["flips"])
        assert got["residual"] < 1e-10 and got["steps"] > 500
        assert got["nearest"] < 1e-3 and any(s.startswith("dead centre of ") for s in got["stops"])  # folds were met


def test_a_passage_of_the_branch_is_no_dead_centre() -> None:
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
    assert np.abs(np.angle(np.exp(1j * np.array(got[1]["out"])))).max() < 1e-9  # a whole turn: back where it began
