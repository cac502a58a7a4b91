"""Exported mechanisms compute what Python computes: the script in node on every shipped model, the C sources compiled."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import models
from linkwright.compiler.planning import Sample
from linkwright.errors import LinkwrightError, UsageError
from linkwright.state import State
from tests.compiler.mechanisms import Case, apart, cut_coordinates, shipped
from tests.compiler.samples import node

# Loops close to 1e-13 of the mechanism's size; solved for positions and forces that is multiplied by a conditioning of up to some
# hundreds in these mechanisms.
EQUAL = 1e-9

DRIVER = """
const plain=(k,v)=>ArrayBuffer.isView(v)?Array.from(v):typeof v==="number"&&!isFinite(v)?String(v):v;
const {scripts,jobs}=JSON.parse(require("fs").readFileSync(0,"utf8")),vm=require("vm"),out=[];
const page={};vm.createContext(page);
for(const k in scripts)vm.runInContext(scripts[k],page);
for(const [name,code,given] of jobs)out.push(new Function("m","x",code)(page[name],given));
process.stdout.write(JSON.stringify(out,plain));
"""


def run(scripts: Mapping[str, str], jobs: list[tuple[str, str, Any]]) -> list[Any]:
    """What each job (object, body of a function of the object and x, x) returns, all in one engine without `module`, as in a page."""
    text = json.dumps({"scripts": dict(scripts), "jobs": jobs}, default=lambda x: x.tolist())
    done = subprocess.run([*node(), "-e", DRIVER], input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


EVERYTHING = """
m.near=Float64Array.from(x.near);
const p=m.assemble(x.off,x.drive),far=m.assemble(x.far,x.drive),v=m.velocities(p.q,x.speed),a=m.accelerations(p.q,v.v,x.acceleration);
const where=m.points(p.q,v.v),L=m.loads(x.q,x.v,x.a),on={};
for(const pin in m.eyes)for(const body in m.eyes[pin])on[pin+" "+body]=m.on(L,pin,body);
return{p,far,v,a,where,L,on,drives:m.drives(x.q,x.v),F:m.forward(x.q,x.v,x.tau),E:m.energy(x.q,x.v),P:m.points(x.q,x.v)};
"""


class Found:
    """One state of a model: what was given to the script, and the state by the float path."""

    def __init__(self, case: Case, x: Sample, rng: np.random.Generator):
        s = self.s = case.system
        here = State(s.skel, x.q, x.v, x.near)
        self.drives = list(s.kernels.drives)
        drive = [float(np.atleast_1d(here[n])[0]) for n in self.drives]
        speed, acceleration = rng.normal(size=(2, len(drive)))
        self.st = s.assemble(q=dict(zip(self.drives, drive, strict=True)), v=dict(zip(self.drives, speed, strict=True)), guess=here)
        self.a = s.assembler.accelerations(self.st, dict(zip(self.drives, acceleration, strict=True)), self.drives)
        far = case.states[0]  # another state of the same branch
        self.x = {
            "q": self.st.q, "v": self.st.v, "a": self.a, "tau": rng.normal(size=s.tree.nv), "drive": drive, "speed": speed,
            "acceleration": acceleration, "near": cut_coordinates(s, self.st.near), "far": far.q,
            "off": s.displaced(self.st, 1e-3 * s.loops.columns * rng.normal(size=s.tree.nv)),
        }  # fmt: skip


@pytest.fixture(scope="module")
def everything() -> dict[str, list[tuple[Found, Any]]]:
    """Two moving states of every shipped model, computed in one engine."""
    rng, scripts, jobs, found = np.random.default_rng(11), {}, [], []
    for name in models.names():
        case = shipped(name, 3)
        key = "m_" + name.replace("-", "_")
        scripts[key] = case.system.javascript(name=key)
        for x in case.states[1:]:
            found.append((name, Found(case, x, rng)))
            jobs.append((key, EVERYTHING, found[-1][1].x))
    out: dict[str, list[tuple[Found, Any]]] = {}
    for (name, f), answer in zip(found, run(scripts, jobs), strict=True):
        out.setdefault(name, []).append((f, answer))
    return out


@pytest.mark.parametrize("name", models.names())
def test_the_script_is_the_float_path(name: str, everything: Any) -> None:
    for f, got in everything[name]:
        check_motion(f, got)
        check_forces(f, got)


def check_motion(f: Found, got: Any) -> None:
    s, st = f.s, f.st
    for p in (got["p"], got["far"]):
        assert p["ok"] and p["residual"] < 1e-10
    assert got["v"]["ok"] and got["a"]["ok"]
    names = s.kernels.equations(s.kernels.defaults["free"]).points_named
    moved = State(s.skel, st.q, st.v, st.near)
    places = np.array([s.point(moved, n) for n in names])
    speeds = np.array([np.asarray(moved[f"{n}.v"], dtype=float) for n in names])
    assert apart(got["where"]["position"], places.ravel()) < EQUAL
    assert apart(np.reshape(got["where"]["velocity"], (-1, 3))[:, : speeds.shape[1]], speeds) < EQUAL
    assert apart(got["P"]["position"], places.ravel()) < EQUAL
    assert apart(got["drives"]["drive"], f.x["drive"]) < EQUAL and apart(got["drives"]["speed"], f.x["speed"]) < EQUAL
    if not s.kernels.plan.idle:  # idle links may have spun in place by any angle
        for found, right in ((got["p"]["q"], st.q), (got["far"]["q"], st.q), (got["v"]["v"], st.v), (got["a"]["a"], f.a)):
            assert apart(found, right) < EQUAL


def check_forces(f: Found, got: Any) -> None:
    s, st = f.s, f.st
    loads = s.inverse(st, f.a, method="system")
    assert got["L"]["ok"] and apart(got["L"]["u"], [loads.tau[d] for d in f.drives]) < EQUAL
    assert apart(got["L"]["lam"], loads.lam_all) < EQUAL
    wrenches = [[*loads.wrench[j.name].moment, *loads.wrench[j.name].force] for j in s.description.joints]
    assert apart(got["L"]["wrench"], np.ravel(wrenches)) < EQUAL
    for eye, found in got["on"].items():
        w = loads.on(*eye.split(" "))
        assert apart(found, [*w.moment, *w.force]) < EQUAL, eye
    assert {f"{j.pin or j.name} {b}" for j in s.description.joints for b in (j.first, j.second)} == set(got["on"])
    right = s.forward(st, f.x["tau"])
    assert got["F"]["ok"] and apart(got["F"]["a"], right.a) < EQUAL and apart(got["F"]["lam"], right.solution.lam) < EQUAL
    e = s.energy(st)
    assert apart([got["E"]["kinetic"], got["E"]["potential"]], [e["kinetic"], e["potential"]]) < EQUAL
