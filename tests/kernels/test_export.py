"""Exported mechanisms compute what Python computes: the script in node on every built-in model, the C sources compiled."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import LinkwrightError
from linkwright.mechanics.instant import Instant
from linkwright.model.parameters import with_values
from linkwright.results.state import State
from tests import ROOT, exports
from tests.compiler import c_reader
from tests.compiler.samples import node
from tests.compiler.test_c99 import COMPILERS
from tests.kernels.mechanisms import Case, apart, cut_coordinates, shipped
from tests.sweeps import every_model, sweep

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

    def __init__(self, case: Case, x: Instant, rng: np.random.Generator):
        s = self.s = case.system
        here = State.of(x)
        self.drives = list(s.kernels.drives)
        drive = [float(np.atleast_1d(here[n])[0]) for n in self.drives]
        speed, acceleration = rng.normal(size=(2, len(drive)))
        self.st = s.assemble(q=dict(zip(self.drives, drive, strict=True)), v=dict(zip(self.drives, speed, strict=True)), guess=here)
        self.a = compiled_of(s).assembler.accelerations(self.st, dict(zip(self.drives, acceleration, strict=True)), self.drives)
        far = case.states[0]  # another state of the same branch
        self.x = {
            "q": self.st.q, "v": self.st.v, "a": self.a, "tau": rng.normal(size=s.tree.nv), "drive": drive, "speed": speed,
            "acceleration": acceleration, "near": cut_coordinates(s, self.st.references), "far": far.q,
            "off": compiled_of(s).displaced(self.st, 1e-3 * compiled_of(s).loops.columns * rng.normal(size=s.tree.nv)),
        }  # fmt: skip


def everything(name: str) -> list[tuple[Found, Any]]:
    """Two moving states of a built-in model and what its script answers."""
    rng, case, key = np.random.default_rng(11), shipped(name, 3), "m_" + name.replace("-", "_")
    found = [Found(case, x, rng) for x in case.states[1:]]
    answers = run({key: exports.script(case.system, name=key)}, [(key, EVERYTHING, f.x) for f in found])
    return list(zip(found, answers, strict=True))


@pytest.mark.parametrize("name", every_model("3-rrr-motors"))
def test_the_script_is_the_float_path(name: str) -> None:
    for f, got in everything(name):
        check_motion(f, got)
        check_forces(f, got)


def check_motion(f: Found, got: Any) -> None:
    s, st = f.s, f.st
    for p in (got["p"], got["far"]):
        assert p["ok"] and p["residual"] < 1e-10
    assert got["v"]["ok"] and got["a"]["ok"]
    names = s.kernels.equations(s.kernels.defaults["parameters"]).points_named
    moved = State(compiled_of(s).skel, st.q, st.v, st.references)
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
    assert apart([got["E"]["kinetic"], got["E"]["potential"]], [st["energy.kinetic"], st["energy.potential"]]) < EQUAL


# -------------------------------------------------------------------- what a page does


def test_far_moves_keep_the_branch_and_impossible_ones_are_reported() -> None:
    """One call over more than a cycle ends where the float path's walk ends; a rocker cannot pass its dead center."""
    far = {"carpet-scraper": -4.0, "jansen-leg": 9.0}
    systems = [lw.compile(n) for n in far]
    code = "return m.assemble(m.start.q,m.start.drive[0]+x)"
    scripts = {f"m{i}": exports.script(s, ["kinematics"], name=f"m{i}") for i, s in enumerate(systems)}
    four_bar = lw.compile("four-bar")
    scripts["rocker"] = exports.script(four_bar, ["kinematics"], drives=["D"], name="rocker")
    *found, stuck, lost = run(
        scripts,
        [
            *((f"m{i}", code, angle) for i, angle in enumerate(far.values())),
            ("rocker", code, 3.0),
            ("rocker", "return m.assemble([NaN,0,0],[1])", 0),
        ],
    )
    for s, angle, got in zip(systems, far.values(), found, strict=True):
        lead = s.kernels.drives[0]
        assert got["ok"] and apart(got["q"], s.assemble(q={lead: float(s.start[lead]) + angle}).q) < EQUAL
    assert not stuck["ok"] and abs(stuck["residual"] - (float(four_bar.start["D"]) + 3.0 - stuck["q"][2])) < 1e-12
    # dead center: crank folded over the coupler, a triangle of L2 - L1 = 0.6, L3 = 0.75, L4 = 1; steps end at 3 rad / 2^23
    assert abs(stuck["q"][2] - (np.pi - np.arccos((1.0 + 0.75**2 - 0.6**2) / 1.5))) < 1e-5
    assert np.abs(four_bar.closure(four_bar.state(stuck["q"])).phi).max() < 1e-12
    assert not lost["ok"]


@pytest.mark.slow
def test_dimensions_are_inputs() -> None:
    """Lengths and masses changed in the script, from the old position: the mechanism loaded with them."""
    changes = {
        "four-bar": {"L1": 0.36, "L3": 0.7, "line_mass": 1.3},
        "3-rrr-motors": {"l1": 0.6, "b": 0.13, "m7": 1.2},
        "rssr": {"coupler.B.x": 0.42, "rocker.mass": 1.4},
    }
    code = (
        "m.set(x.parameters);const p=m.assemble(m.start.q,x.drive),v=m.velocities(p.q,x.speed).v,a=m.accelerations(p.q,v,x.speed).a;"
        "return{p,v,a,L:m.loads(p.q,v,a),F:m.forward(p.q,v),where:m.points(p.q,v).position}"
    )
    scripts, jobs, systems = {}, [], []
    for i, (model, values) in enumerate(changes.items()):
        base = lw.compile(model, parameters=list(values))
        scripts[f"m{i}"] = exports.script(base, name=f"m{i}")
        if all(name.isidentifier() for name in values):
            other = lw.compile(lw.load(model, **values), cuts=base.tree.cuts)
        else:
            other = lw.System(with_values(compiled_of(base).described, base.parameters, list(values.values())), base.tree.cuts)
        drive = [float(base.start[n]) + 0.05 for n in base.kernels.drives]
        jobs.append((f"m{i}", code, {"parameters": values, "drive": drive, "speed": [0.7] * len(drive)}))
        systems.append((other, dict(zip(base.kernels.drives, drive, strict=True))))
    for (s, drive), got in zip(systems, run(scripts, jobs), strict=True):
        st = s.assemble(q=drive, v=dict.fromkeys(drive, 0.7))
        a = compiled_of(s).assembler.accelerations(st, dict.fromkeys(drive, 0.7), list(drive))
        loads = s.inverse(st, a, method="system")
        assert got["p"]["ok"] and got["L"]["ok"] and got["F"]["ok"]
        places = [s.point(st, n) for n in s.kernels.equations().points_named]
        pairs = [(got["p"]["q"], st.q), (got["v"], st.v), (got["a"], a), (got["where"], np.ravel(places))]
        pairs += [(got["L"]["u"], list(loads.tau.values())), (got["F"]["a"], s.forward(st).a)]
        assert max(apart(x, y) for x, y in pairs) < EQUAL


@pytest.mark.parametrize("drive", ["B", "c"])
def test_a_cut_joint_or_a_cylinder_drives(drive: str) -> None:
    """Speeds and accelerations are the derivatives of positions assembled along x = x0 + 0.7 t - 1.5 t^2."""
    code = (
        "const h=1e-4,at=t=>m.assemble(m.start.q,m.start.drive[0]+.7*t-1.5*t*t),[p,o,n]=[-h,0,h].map(at),v=m.velocities(o.q,.7).v;"
        "const d=o.q.map((x,i)=>(n.q[i]-p.q[i])/(2*h)),dd=o.q.map((x,i)=>(n.q[i]-2*x+p.q[i])/(h*h));"
        "return{ok:p.ok&&o.ok&&n.ok,v,a:m.accelerations(o.q,v,-3).a,d,dd,start:m.start.drive,drives:m.drives(o.q,v)}"
    )
    [got] = run({"m": exports.script(sprung(), ["kinematics"], drives=[drive], name="m")}, [("m", code, 0)])
    assert got["ok"] and apart(got["drives"]["drive"], got["start"]) < EQUAL and apart(got["drives"]["speed"], [0.7]) < EQUAL
    # differences: h^2 times higher derivatives, and round-off 1e-15 / h^2
    assert apart(got["v"], got["d"]) < 1e-6 and apart(got["a"], got["dd"]) < 1e-6


@pytest.mark.slow
def test_free_swing_is_the_motion_of_the_float_path() -> None:
    """Steps of order four (halved: a sixteenth of the error), on the loops, quaternions and all."""
    from scipy.integrate import solve_ivp

    names = {"m0": "wiper", "m1": "rssr"}
    code = (
        "let s={q:m.start.q,v:x.v,ok:true};m.t=0;for(let i=0;i<x.n&&s.ok;i++)s=m.step(s.q,s.v,x.T/x.n);"
        "return{s,t:m.t,before:m.energy(m.start.q,x.v).total,after:m.energy(s.q,s.v).total}"
    )
    scripts, jobs, right = {}, [], []
    for key, name in names.items():
        s = lw.compile(name)
        scripts[key] = exports.script(s, name=key)
        drive = s.kernels.drives[0]
        st = s.assemble(q={drive: float(s.start[drive])}, v={drive: 6.0})
        k, zero = s.kernel("rates"), np.zeros(s.tree.nv)
        y = np.concatenate([st.q, st.v])
        exact = solve_ivp(
            lambda t, y, k=k, zero=zero, n=s.tree.nq: np.concatenate(k(y[:n], y[n:], zero)), (0, 0.2), y, rtol=1e-11, atol=1e-12
        )
        right.append(exact.y[:, -1])
        jobs += [(key, code, {"v": st.v, "n": n, "T": 0.2}) for n in (40, 80)]
    found = run(scripts, jobs)
    for want, coarse, fine in zip(right, found[::2], found[1::2], strict=True):
        errors = [np.abs(np.array([*x["s"]["q"], *x["s"]["v"]]) - want).max() for x in (coarse, fine)]
        assert errors[1] < 1e-5 and 9.0 < errors[0] / errors[1] < 30.0
        assert fine["s"]["ok"] and abs(fine["t"] - 0.2) < 1e-12
        assert abs(fine["after"] - fine["before"]) < 1e-6 * abs(fine["before"])


def sprung() -> lw.System:
    """A four-bar whose crank pin, with a torsion spring on it, is cut: its angle is not among q, and whole turns count."""
    m = lw.load(
        {
            "plane": "xy",
            "gravity": [0, -9.81],
            "drawing": {"A": [0, 0], "B": [0.1, 0.2], "C": [0.8, 0.5], "D": [0.9, 0]},
            "bodies": {
                "ground": {"pins": ["A", "D"]},
                "crank": {"pins": ["A", "B"], "mass": 0.3},
                "coupler": {"pins": ["B", "C"], "mass": 0.5},
                "rocker": {"pins": ["D", "C"], "mass": 0.8},
            },
            "springs": {"s": {"joint": "B", "stiffness": "0.2 N m/rad", "free_position": "0.1 rad"}},
            "cylinders": {"c": {"between": ["ground.A", "rocker.C"]}},
            "drive": {"A": "45 rpm"},
        }
    )
    return lw.compile(m, cuts=["B"])


def test_turns_of_cut_joints_are_counted() -> None:
    s = sprung()
    code = "m.near=m.start.near;const p=m.assemble(m.start.q,m.start.drive[0]+x);return{p,near:m.near,E:m.energy(p.q)}"
    angles = (9.0, -0.5)
    for angle, got in zip(angles, run({"m": exports.script(s, name="m")}, [("m", code, x) for x in angles]), strict=True):
        st = s.assemble(q={"A": float(s.start["A"]) + angle})
        assert apart(got["near"], st.references["B"]) < EQUAL
        assert apart(got["E"]["potential"], st["energy.potential"]) < EQUAL


PENDULUM = {
    "plane": "xy",
    "drawing": {"A": [0, 0], "B": [0.4, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 2}},
}


def test_only_what_is_asked_for_or_possible_is_exported() -> None:
    four_bar = lw.compile("four-bar")
    undriven, massless = dict(PENDULUM), {**PENDULUM, "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"]}}, "drive": ["A"]}
    scripts = {
        "few": exports.script(four_bar, ["points", "poses"], name="few"),
        "one": exports.script(four_bar, "energy", name="one"),
        "undriven": exports.script(lw.compile(lw.load(undriven)), name="undriven"),
        "massless": exports.script(lw.compile(lw.load(massless)), name="massless"),
    }
    keys = "return Object.keys(m).filter(k=>typeof m[k]==='function').sort()"
    few, one, undriven, massless, place, swing = run(
        scripts,
        [
            *((k, keys, 0) for k in scripts),
            ("few", "return m.poses(m.start.q).p.slice(0,3)", 0),
            ("undriven", "let s={q:[.5],v:[0]};for(let i=0;i<99;i++)s=m.step(s.q,s.v,.01,[.3]);return[s,m.t]", 0),
        ],
    )
    assert few == ["bind", "points", "poses", "set"] and one == ["bind", "energy", "set"]
    assert undriven == ["bind", "energy", "forward", "points", "project", "set", "step"]
    assert massless == ["accelerations", "assemble", "bind", "drives", "points", "set", "velocities"]
    assert apart(place, four_bar.pose(four_bar.start, "crank").p) < EQUAL
    # a uniform arm about its end without gravity: constant acceleration, exact for this method
    a = 0.3 / (2.0 * 0.4**2 / 3.0)
    assert (
        abs(swing[0]["q"][0] - (0.5 + a * 0.99**2 / 2)) < EQUAL
        and abs(swing[0]["v"][0] - a * 0.99) < EQUAL
        and abs(swing[1] - 0.99) < EQUAL
    )


HOSTILE = ("a */ int owned; /* b", "a **// owned /* b", "a\n#define owned 1\n", "a\u2028owned()\u2029b", "a </script><script>owned()//")


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_in_comments_and_texts(name: str) -> None:
    inside = re.sub(r"[\s.]", "", name.replace("\u2028", "").replace("\u2029", ""))  # what an element may be called
    model = {
        "name": name, "plane": "xy", "drawing": {"A": [0, 0], "P": [0.4, 0]},
        "bodies": {"ground": {"pins": ["A"]}, inside: {"pins": ["A"], "points": ["P"], "mass": 1}}, "drive": ["A"],
    }  # fmt: skip
    s = lw.compile(lw.load(model))
    for text in exports.c(s, ["points"]).values():
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL))
        assert "owned" not in re.sub(r"\b\w*_\w*owned\w*\b", "", bare), "outside of comments, texts and identifiers of ours"
        assert "*/" not in bare and not re.search(r"^\s*#define owned", text, re.MULTILINE)
    script = exports.script(s, ["points"])
    comment, rest = script.split("\n", 1)
    assert comment.startswith("// ") and "owned" in comment and "</script" not in script.lower()
    assert not re.search("[\u2028\u2029]", script) and "owned" not in re.sub(r'"(?:[^"\\]|\\.)*"', '""', rest)


def test_scripts_say_what_is_wrong() -> None:
    s = lw.compile("four-bar")
    text = exports.script(s, parameters=["L1"], name="m")
    assert "</" not in text and text.startswith("// Kernels of four-bar")
    calls = ["m.forward([1,2],[1,2,3])", "m.set({L7:1})", "m.on(m.loads(m.start.q),'Z','crank')", "m.assemble(m.start.q,[1,2])"]
    found = run({"m": text}, [("m", f"try{{{call};return 'no error'}}catch(e){{return String(e)}}", 0) for call in calls])
    for message, words in zip(
        found, ["q needs 3 numbers, not 2", "L7: L1", "crank has no pin Z", "drive needs 1 numbers, not 2"], strict=True
    ):
        assert words in message
    for call in (lambda: exports.script(s, ["foward"]), lambda: exports.script(s, []), lambda: exports.script(s, name="a-b"),
                 lambda: exports.c(s, name="2x"),
                 lambda: exports.script(s, parameters=["L7"]), lambda: exports.script(s, drives=["Z"])):  # fmt: skip
        with pytest.raises(LinkwrightError):
            call()


def test_node_requires_it(tmp_path: Path) -> None:
    (tmp_path / "wiper.js").write_text(exports.script(lw.compile("wiper")), encoding="utf-8")
    program = "const m=require('./wiper.js');console.log(typeof mechanism,m.names.drives[0],m.assemble(m.start.q,m.start.drive).ok)"
    done = subprocess.run([*node(), "-e", program], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout.split() == ["undefined", "A", "true"], done.stderr


# -------------------------------------------------------------------- C


def library(sources: Mapping[str, str], folder: Path, language: str) -> ctypes.CDLL | None:
    """The sources compiled under the strictest warnings; None where there is no compiler."""
    compilers, flags = COMPILERS[language]
    compiler = next((path for path in map(shutil.which, compilers) if path), None)
    if compiler is None:
        return None
    folder.mkdir()
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [compiler, *flags, "-O1", "-pedantic", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "model.so", "model.c", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "model.so"))


def pointer(x: np.ndarray) -> Any:
    return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


@sweep(("model", "language"), [("carpet-scraper", "c"), ("rssr", "c"), ("excavator", "c"), ("sprung", "c++")], now=1)
def test_c_sources(model: str, language: str, tmp_path: Path) -> None:
    s = sprung() if model == "sprung" else lw.compile(model)
    sources, lead = exports.c(s), s.kernels.drives[0]
    drive = np.array([float(s.start[n]) for n in s.kernels.drives])
    drive[0] += 0.2 if model == "excavator" else 2.5
    st = s.assemble(q=dict(zip(s.kernels.drives, drive, strict=True)), v={lead: 1.5})
    check_kernels(s, st, sources["model.c"])
    code = library(sources, tmp_path / "c", language)
    if code is None:
        return
    q, near = s.start.q.copy(), cut_coordinates(s, s.start.references)
    assert code.model_assemble(pointer(q), pointer(drive), pointer(near), None) == 0
    assert apart(q, st.q) < EQUAL
    if model == "sprung":
        assert apart(near, st.references["B"]) < EQUAL
    v, t, dt = st.v.copy(), np.zeros(1), 1e-3
    tau = np.linspace(-0.5, 1.0, s.tree.nv)
    code.model_step.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_double] + [ctypes.c_void_p] * 2
    for _ in range(5):
        assert code.model_step(*(x.ctypes.data for x in (q, v, tau, t)), dt, near.ctypes.data, None) == 0
    assert abs(t[0] - 5 * dt) < 1e-15
    [got] = run({"m": exports.script(s, name="m")}, [("m", SWING, {"q": st.q, "v": st.v, "tau": tau, "near": near})])
    assert apart(q, got["q"]) < EQUAL and apart(v, got["v"]) < EQUAL


SWING = "m.near=x.near;let s=x;for(let i=0;i<5;i++)s=m.step(s.q,s.v,1e-3,x.tau);return s"


def check_kernels(s: lw.System, st: State, text: str) -> None:
    """The text read statement by statement: loads of the given motion."""
    a = compiled_of(s).assembler.accelerations(st, None, list(s.kernels.drives))
    program = s.kernel("loads").program
    given = {"q": st.q, "v": st.v, "a": a, "t": np.zeros(1), "near": cut_coordinates(s, st.references)}
    y = c_reader.run(text, "model_loads", np.concatenate([given[b.name] for b in program.inputs]), program.n_out)
    loads = s.inverse(st, a, method="system")
    assert apart(program.unpack(y)["u"], [loads.tau[d] for d in s.kernels.drives]) < EQUAL


# -------------------------------------------------------------------- the page of the docs


def block(language: str) -> str:
    """The only fenced block of docs/how-to/fmu-c-javascript.md in a language."""
    page = ROOT / "docs" / "how-to" / "fmu-c-javascript.md"
    [text] = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return text


def test_the_docs_script_runs() -> None:
    s = lw.compile("four-bar", parameters=["L1"])
    [code] = re.findall(r"<script>\n(.*?)</script>", block("html"), re.DOTALL)
    script = code.replace("const m = mechanism;", "const said = [], console = {log: (...x) => said.push(...x)};") + "return [said, q];"
    (torque, on), q = run({"mechanism": exports.script(s)}, [("mechanism", script, 0)])[0]
    loads = s.inverse(s.assemble(q={"A": 0.8}, v={"A": 5.0}))
    w = loads.on("B", "coupler")
    assert apart(torque, loads.tau["A"]) < EQUAL and apart(on, [*w.moment, *w.force]) < EQUAL
    assert apart(q, lw.compile(lw.load("four-bar", L1=0.35), cuts=s.tree.cuts).assemble(q={"A": 0.8}).q) < EQUAL


def test_the_docs_c_function_runs(tmp_path: Path) -> None:
    s = lw.compile("four-bar", parameters=["L1"])
    sources = exports.c(s)
    code = library({**sources, "model.c": sources["model.c"] + block("c")}, tmp_path / "c", "c")
    if code is None:
        assert "double torque(double angle, double speed)" in block("c")
        return
    code.torque.restype, code.torque.argtypes = ctypes.c_double, [ctypes.c_double] * 2
    for angle in (0.8, 1.1):
        want = s.inverse(s.assemble(q={"A": angle}, v={"A": 5.0})).tau["A"]
        assert apart(code.torque(angle, 5.0), want) < EQUAL
