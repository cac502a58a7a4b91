"""The engine of the page computes what Python computes, stops where the mechanism stops, and stays on its branch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import LinkwrightError
from linkwright.rings.studio import live
from linkwright.rings.studio.free_body import of_loads
from linkwright.rings.studio.live import cycle_data
from tests.rings.studio.live.engine_runs import Page, made, run, shipped
from tests.simulation.random_passages import case
from tests.sweeps import led_by_drives, sweep

EQUAL = 1e-9  # of the largest: round-off times the conditioning of these mechanisms
FAST = ("four-bar", "carpet-scraper", "change-point-four-bar", "slider-crank-equal", "door", "rssr", "five-bar")
REST = tuple(n for n in led_by_drives() if n not in FAST)

DOUBLE_ROCKER: dict[str, Any] = {
    "name": "double-rocker",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.3, 0.7], "C": [1.0, 0.75], "D": [1.2, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"], "mass": 1},
        "coupler": {"pins": ["B", "C"], "mass": 1},
        "rocker": {"pins": ["D", "C"], "mass": 1},
    },
}  # without a drive: A is chosen, at 1 rad/s


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {n: shipped(n) for n in FAST} | {"double-rocker": made(lw.load(DOUBLE_ROCKER).system)}


CYCLE = """
const c=e.original,at=x.at,pins={};
for(const k in c.pins)pins[k]=at.map(i=>[...c.pins[k].force.slice(3*i,3*i+3),...c.pins[k].moment.slice(3*i,3*i+3)]);
return{ok:c.ok,placed:c.placed,u:at.map(i=>c.u.map(u=>u[i])),stats:c.stats,largest:Object.values(c.pins).map(p=>p.max),pins,
  checks:e.checks(),why:c.why};
"""


def check_cycle(page: Page, got: Any) -> None:
    """Torque and every pin load at the compared samples, against the float path's least-norm loads."""
    c = page.motion.turn
    assert c is not None and np.mean(got["ok"]) >= 0.95 and all(got["placed"]) and got["why"] == ""
    assert all(x["verdict"] != "failed" for x in got["checks"]), got["checks"]
    scale_u, scale_f = max(s["max"] for s in got["stats"]), max(got["largest"])
    # moments are compared with the largest force times the size, as forces with the largest force
    sizes = np.array([scale_f] * 3 + [scale_f * compiled_of(page.system).loops.kappa] * 3)
    compared = 0
    for row, i in enumerate(cycle_data.compared_samples(c)):
        loads = c._instants[i].loads
        if not got["ok"][i]:
            continue
        compared += 1
        tau = [loads.tau[d] for d in page.motion.drives]
        assert np.abs(np.subtract(got["u"][row], tau)).max() <= EQUAL * max(scale_u, 1e-12)
        for key, found in got["pins"].items():
            w = loads.on(*key.split("|"))
            assert (np.abs(np.subtract(found[row], [*w.force, *w.moment])) <= EQUAL * sizes).all(), (key, i)
    assert compared >= 7


def compare_cycles(names: tuple[str, ...]) -> None:
    chosen = {n: shipped(n) for n in names}
    jobs = [(n, CYCLE, {"at": cycle_data.compared_samples(p.motion.turn)}) for n, p in chosen.items() if p.motion.turn is not None]
    assert len(jobs) == len(names)
    for (name, page), got in zip(chosen.items(), run(chosen, jobs), strict=True):
        check_cycle(page, got)
        if name == "rssr":  # a pivot of the fixed elimination vanishes at 90 and 270 deg, where nothing is singular
            assert all(got["ok"])


def test_torque_and_pin_loads_are_those_of_python() -> None:
    compare_cycles(FAST)


@pytest.mark.slow
def test_torque_and_pin_loads_are_those_of_python_on_every_other_model() -> None:
    compare_cycles(REST)


# -------------------------------------------------------------------- other values

CHANGED = """
const out=[];
for(const [values,at] of x){
  e.reset();
  e.go(at[0]);
  const r=e.set(values),c=e.cycle;
  out.push({r,ok:c.ok,u:at.map(i=>c.u.map(u=>u[i])),q:at.map(i=>c.q.slice(i*e.core.nq,(i+1)*e.core.nq)),state:e.state.q.slice(),changed:e.changed});
}
const back=e.reset();
return{out,back,same:e.cycle===e.original,changed:e.changed};
"""


def test_changed_parameters_give_the_cycle_of_the_changed_model(pages: dict[str, Page]) -> None:
    """Lengths and masses set in the page, against the model loaded with them; also across the change point's avoided branches."""
    at = [0, 47, 133, 170, 190, 260, 359]
    asked = {"four-bar": [{"L1": 0.35, "L3": 0.8, "line_mass": 1.7}], "change-point-four-bar": [{"l2": 0.83}]}
    found = run(pages, [(n, CHANGED, [(v, at) for v in values]) for n, values in asked.items()])
    for (name, values), got in zip(asked.items(), found, strict=True):
        assert got["same"] and not got["changed"] and got["back"] == {"ok": True, "why": ""}
        for change, one in zip(values, got["out"], strict=True):
            assert one["r"] == {"ok": True, "why": ""} and one["changed"] and all(one["ok"])
            c = lw.load(name, **change).cycle()
            torque = np.array([c._instants[i].loads.tau["A"] for i in at])
            assert np.abs(np.array(one["q"]) - c.q[at]).max() < EQUAL
            assert np.abs(np.array(one["u"])[:, 0] - torque).max() < EQUAL * np.abs(torque).max()
            assert np.abs(np.array(one["state"]) - c.q[0]).max() < EQUAL


@sweep("name, change", [("delta", {"R": 0.9}), ("bennett", {"alpha": 0.9})], now=1)
def test_positions_with_other_lengths_are_those_of_the_changed_model(name: str, change: dict[str, float]) -> None:
    """The page walks as Python does: also rods that spin, and samples in singular positions."""
    page = shipped(name)
    at, values = list(range(0, 361, 10)), {p["name"]: p["value"] for p in page.data["parameters"]}
    changed = {key: share * values[key] for key, share in change.items()}
    [got] = run({name: page}, [(name, CHANGED, [(changed, at)])])
    assert got["out"][0]["r"] == {"ok": True, "why": ""}
    assert np.abs(np.array(got["out"][0]["q"]) - lw.load(name, **changed).cycle().q[at]).max() < EQUAL


def test_lengths_that_do_not_turn_fully_leave_gaps_and_say_where(pages: dict[str, Page]) -> None:
    """A longer crank becomes a rocker: the torque curve ends at its dead centers, computed by Python."""
    limits = lw.load("four-bar", L1=0.7).limits("A")
    assert not limits.full_turn
    code = """
const r=e.set({L1:.7}),c=e.cycle,gaps=c.u[0].every((u,i)=>isFinite(u)===(c.ok[i]===1));
return{r,ok:c.ok,placed:c.placed,A:e.law.value,gaps,state:e.go(120).ok};
"""
    got = run(pages, [("four-bar", code, None)])[0]
    A, placed = np.array(got["A"]), np.array(got["placed"], dtype=bool)
    # the file's cycle runs from 60 deg to 420 deg: the reach appears at its beginning and, a turn later, at its end
    inside = np.any([(turned > limits.low) & (turned < limits.high) for turned in (A, A - 2 * np.pi)], axis=0)
    assert 40 < placed.sum() < 360 and abs(int(placed.sum()) - int(inside.sum())) <= 2 and (placed <= inside).all()
    assert not got["r"]["ok"] and got["r"]["why"].startswith("A stops at ") and got["gaps"] and not got["state"]


def test_lengths_that_do_not_meet_are_told(pages: dict[str, Page]) -> None:
    code = """
const r=e.set({L1:.05,L2:.2,L3:.2}),state=e.state.ok,loads=e.state.loads,placed=e.cycle.placed.some(x=>x);
return{r,placed,state,loads,back:e.reset(),ok:e.state.ok};
"""
    got = run(pages, [("four-bar", code, None)])[0]
    assert got["r"] == {"ok": False, "why": "the mechanism cannot be assembled with these dimensions"}
    assert not got["placed"] and not got["state"] and got["loads"] is None and got["back"]["ok"] and got["ok"]


# -------------------------------------------------------------------- a hand

DRAGGED = """
const p=x.point||D.points[0],n=e.cycle.n,path=e.trace(p.body,p.at),out=[];
e.go(10);
for(let i=11;i<n-1;i+=x.step){
  const target=Array.from(path.slice(3*i,3*i+3));
  let r;
  for(let k=0;k<6;k++)r=e.drag(p.body,p.at,target);
  let off=0;
  for(let k=0;k<e.core.nq;k++)off=Math.max(off,Math.abs(e.state.q[k]-e.cycle.q[i*e.core.nq+k]));
  out.push([r.distance/e.core.kappa,off,r.stopped,e.core.residual(e.state.q,e.state.near,e.state.drive)]);
}
return out;
"""


def test_a_dragged_point_follows_its_computed_path(pages: dict[str, Page]) -> None:
    """Along the coupler curve and around the whole turn, through singular positions as well; the rest of the mechanism comes along."""
    crank = {"body": "crank", "at": [0.5, 0, 0]}
    asked = [("four-bar", {"step": 3}), ("carpet-scraper", {"step": 3}), ("change-point-four-bar", {"step": 7, "point": crank})]
    asked += [
        ("slider-crank-equal", {"step": 7, "point": {"body": "crank", "at": [1, 0, 0]}}),
        ("rssr", {"step": 9, "point": {"body": "rocker", "at": [0.25, 0, 0]}}),
    ]
    for (name, _), rows in zip(asked, run(pages, [(n, DRAGGED, x) for n, x in asked]), strict=True):
        for distance, _, stopped, residual in rows:
            assert distance < 1e-6 and residual < 1e-12 and stopped == "", (name, distance, stopped)
        if name != "rssr":  # its rocker's end turns back: near there the same place has two crank angles
            assert max(r[1] for r in rows) < 1e-5  # drags end within 1e-10 of the target; near a turning point angles know less


def test_several_drives_bring_a_point_anywhere_in_reach(pages: dict[str, Page]) -> None:
    code = """
e.go(0);
const p=D.pins.find(p=>p.name==="C"),from=e.place(p.at.body,p.at.at),out=[];
for(const [dx,dy] of x){
  const to=[from[0]+dx,from[1]+dy,0];
  let r;
  for(let k=0;k<8;k++)r=e.drag(p.at.body,p.at.at,to);
  out.push([r,e.place(p.at.body,p.at.at),to]);
}
return out;
"""
    for r, place, to in run(pages, [("five-bar", code, [[0.02, -0.05], [-0.02, -0.04], [0.0, -0.01]])])[0]:
        assert r["distance"] < 1e-9 and np.abs(np.subtract(place, to)).max() < 1e-9 and r["stopped"] == ""


def test_a_dead_center_stops_the_hand_with_its_name(pages: dict[str, Page]) -> None:
    """Pulled beyond the crank's reach the hand stops at the dead center Python finds, on the same branch, and comes back."""
    limits = lw.load(DOUBLE_ROCKER).limits("A")
    code = """
e.go(180);
const side=e.core.side(e.state.q,e.state.near),p=D.pins.find(p=>p.name==="B").at,said=[];
for(let k=0;k<80;k++)said.push(e.drag(p.body,p.at,[-1,.1,0]).stopped);
const A=e.state.drive[0],q=e.state.q.slice(),same=e.core.side(q,e.state.near)===side,residual=e.core.residual(q,e.state.near,e.state.drive);
const back=e.nudge("A",-.3),B=e.state.drive[0],again=e.nudge("A",1);
return{A,B,q,same,residual,said,back,again,end:e.state.drive[0],loads:!!e.state.loads};
"""
    got = run(pages, [("double-rocker", code, None)])[0]
    assert got["said"][-1] == "dead center of A" and got["said"][0] == "" and got["same"] and got["residual"] < 1e-12 and got["loads"]
    assert limits.high - 1e-4 < got["A"] < limits.high + 1e-9
    st = pages["double-rocker"].system.assemble(q={"A": got["A"]})  # walked from the drawing
    assert np.abs(np.subtract(got["q"], st.q)).max() < 1e-6
    assert got["back"] == {"moved": True, "stopped": ""} and got["B"] == pytest.approx(got["A"] - 0.3, abs=1e-9)
    assert got["again"]["stopped"] == "dead center of A" and got["end"] < limits.high + 1e-9


# -------------------------------------------------------------------- free motion and what is told

SWUNG = """
e.go(x.at);
e.swing.start(x.still?new Float64Array(e.core.nv):undefined);
let worst=0,r;
for(let k=0;k<x.frames;k++){r=e.swing.step(1/60);worst=Math.max(worst,Math.abs(r.drift));if(!r.ok)break}
return{r,worst,q:e.state.q,v:e.state.v,passages:e.swing.passages,u:e.state.u,s:e.state.s};
"""


def test_a_free_swing_keeps_its_energy_and_is_the_motion_python_simulates(pages: dict[str, Page]) -> None:
    """Runge-Kutta steps of 2 ms: 1e-6 of the energy turned over in half a second. Passages are crossed without losing the branch."""
    jobs = [("four-bar", SWUNG, {"at": 0, "frames": 30, "still": True}), ("slider-crank-equal", SWUNG, {"at": 5, "frames": 120})]
    free, through = run(pages, jobs)
    assert free["r"]["ok"] and free["worst"] < 1e-7 and free["s"] is None
    m = lw.load("four-bar")
    st = m.system.assemble(q={"A": float(np.deg2rad(60))})
    right = m.system.simulate(st, 0.5, drive={}, tolerance=1e-11, sample_interval=[0.0, 0.5])
    assert np.abs(np.array(free["q"]) - right.q[-1]).max() < 1e-6
    # two seconds of the slider-crank: on its branch B = 2 pi - 2 A whenever one looks, also after it
    assert through["r"]["ok"] and through["passages"] >= 1 and through["worst"] < 1e-6
    A, B = through["q"]
    assert abs(np.sin(0.5 * (B + 2 * A))) < 1e-9


TOLD = """
const pin=x.pin,body=x.body;
const h=["",body,x.other].map(f=>{const g=e.hodograph(pin,body,f);return[g.x,g.y]});
e.go(x.at);
const f=e.freeBody(body),now=e.hodograph(pin,body,body).now;
return{h,f,now,place:e.place(x.at_body,x.point),velocity:e.velocity(x.at_body,x.point),singular:e.singular(),multipliers:e.multipliers(),
  csv:e.csv(),loads:e.pinLoads()};
"""


def test_hodographs_free_bodies_and_singular_values_are_those_of_python(pages: dict[str, Page]) -> None:
    i = 91
    given = {"pin": "C", "body": "coupler", "other": "rocker", "at": i, "at_body": "coupler", "point": [0.45, 0, 0]}
    got = run(pages, [("four-bar", TOLD, given)])[0]
    page = pages["four-bar"]
    c, s = page.motion.turn, page.system
    assert c is not None
    samples = cycle_data.compared_samples(c)
    for (x, y), frame in zip(got["h"], ("world", "coupler", "rocker"), strict=True):
        right = np.array([c._instants[k].loads.on("C", "coupler", frame).force for k in samples])
        assert np.abs(np.array([x, y]).T[samples] - right[:, :2]).max() < EQUAL * np.abs(right).max()
    loads, instant = c.instant(i).loads, c._instants[i]
    right = of_loads(loads, "coupler", "")
    assert got["f"]["residual"] < 1e-12 and np.abs(np.subtract(got["f"]["com"], right.com)).max() < 1e-12
    theirs = {r.name: r for r in right.rows}
    for action in got["f"]["actions"]:
        r = theirs[action["name"]]
        assert np.abs(np.subtract([*action["force"], *action["moment"], *action["at"]], [*r.force, *r.moment, *r.at])).max() < 1e-8
    assert {a["kind"] for a in got["f"]["actions"]} == {"pin", "weight", "inertia"} and len(got["f"]["actions"]) == len(theirs)
    assert np.abs(np.subtract(got["now"][:2], loads.on("C", "coupler", "coupler").force[:2])).max() < 1e-8
    assert np.abs(np.subtract(got["place"][:2], c["coupler.P"][i])).max() < 1e-12
    assert np.abs(np.subtract(got["velocity"][:2], [c["coupler.P.vx"][i], c["coupler.P.vy"][i]])).max() < 1e-10
    J = compiled_of(s).loops.dimensionless(compiled_of(s).loops.at(instant.q, instant.v, 0.0, instant.references))[1]
    assert np.allclose(got["singular"]["values"], np.sort(np.linalg.svd(J, compute_uv=False)), atol=1e-12)
    assert [m["name"] for m in got["multipliers"]] == list(s.kernels.entries["lam"])
    assert np.allclose([m["value"] for m in got["multipliers"]], s.inverse(c.state(i), instant.known_a, method="system").lam_all, atol=1e-8)
    check_csv(got["csv"], c, samples)


def check_csv(text: str, c: Any, samples: list[int]) -> None:
    rows = [line.split(",") for line in text.strip().split("\n")]
    head = rows[0]
    assert head[:2] == ["t [s]", "A [rad]"] and len(rows) == 362 and {"A.torque [N m]", "C.on.coupler.x [N]"} <= set(head)
    table = dict(zip(head, np.array(rows[1:], dtype=float).T, strict=True))
    torque = np.array([c._instants[i].loads.tau["A"] for i in samples])
    assert np.allclose(table["A.torque [N m]"][samples], torque, rtol=0, atol=EQUAL * np.abs(torque).max())
    for name, unit in (("A", "rad"), ("D", "rad"), ("D.v", "rad/s"), ("D.a", "rad/s^2"), ("coupler.P.x", "m"), ("coupler.P.vy", "m/s")):
        assert np.allclose(table[f"{name} [{unit}]"], c[name], rtol=0, atol=EQUAL * np.abs(c[name]).max()), name


def test_names_that_begin_like_formulas_stay_texts_in_spreadsheets(pages: dict[str, Page]) -> None:
    given = ["=1+1 [N]", "+A", "-A.torque", "@x", "A [rad]", 'a "b", c', '=HYPERLINK("x")']
    right = ["'=1+1 [N]", "'+A", "'-A.torque", "'@x", "A [rad]", '"a ""b"", c"', '"\'=HYPERLINK(""x"")"']
    assert run(pages, [("four-bar", "return x.map(LW.csvCell)", given)])[0] == right


def test_every_body_balances_with_springs_rods_drives_and_gears() -> None:
    """Each action is computed by itself; with inertia and weight they add up to zero on every body."""
    geared = {
        "name": "geared",
        "plane": "xy",
        "gravity": [0, -9.81],
        "drawing": {"A": [0, 0], "B": [1, 0], "C": [1, 0.6], "D": [2.2, 0.2]},
        "bodies": {
            "ground": {"pins": ["A", "B", "D"]},
            "pinion": {"pins": ["A"], "mass": 1, "inertia": 0.1},
            "wheel": {"pins": ["B"], "points": ["C"], "mass": 2, "inertia": 0.3},
            "lever": {"pins": ["D"], "points": {"D": [0, 0], "E": [-0.4, 0.9]}, "mass": 1},
        },
        "gears": {"g": {"joints": ["A", "B"], "radii": [0.4, 0.6]}},
        "rods": {"r": {"between": ["wheel.C", "lever.E"]}},
        "springs": {"k": {"type": "coil", "between": ["ground.A", "lever.E"], "stiffness": "100 N/m", "free_length": "0.5 m"}},
        "dampers": {"d": {"joint": "D", "coefficient": 0.5}},
        "drive": {"A": "2 rad/s"},
    }
    page = made(lw.load(geared).system)
    code = "return[0,40,111.3].map(s=>{e.go(s);return D.bodies.slice(1).map(b=>e.freeBody(b.name))})"
    for bodies in run({"geared": page}, [("geared", code, None)])[0]:
        for b in bodies:
            assert b["residual"] < 1e-9, b
        assert {a["name"] for b in bodies for a in b["actions"] if a["kind"] in ("drive", "other")} >= {"A", "g", "r", "k", "d"}


def test_between_samples_the_state_is_assembled(pages: dict[str, Page]) -> None:
    code = "return x.map(s=>{const t=e.go(s);return[t.ok,t.q.slice(),t.v.slice(),t.a.slice(),t.t,t.s,e.core.residual(t.q,t.near,t.drive)]})"
    got = run(pages, [("four-bar", code, [17.25, 200.5, 360, -3])])[0]
    m, c = lw.load("four-bar"), pages["four-bar"].motion.turn
    assert c is not None and got[2][5] == 360 and got[3][5] == 0
    for (ok, q, v, a, t, _, residual), s in zip(got, (17.25, 200.5, 360.0, 0.0), strict=True):
        A = float(c["A"][0] + s / 360 * 2 * np.pi)
        st = m.system.assemble(q={"A": A}, v={"A": 2 * np.pi})
        assert ok and residual < 1e-12 and t == pytest.approx(s / 360) and np.abs(np.angle(np.exp(1j * (np.array(q) - st.q)))).max() < 1e-9
        assert np.abs(np.subtract(v, st.v)).max() < 1e-8
        assert np.abs(np.subtract(a, compiled_of(m.system).assembler.accelerations(st, {"A": 0.0}, ["A"]))).max() < 1e-6


def test_mechanisms_that_lack_something_still_work(pages: dict[str, Page]) -> None:
    """No masses, no drive, too few drives, no freedom: what is possible works, what is not is told."""
    massless = {
        "name": "massless", "plane": "xy", "drawing": {"A": [0, 0], "B": [0, 1]},
        "bodies": {"ground": {"pins": ["A"]}, "a": {"pins": ["A"], "points": ["B"]}}, "drive": {"A": "1 rad/s"},
    }  # fmt: skip
    pendulum = {
        "name": "pendulum", "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "B": [0, 1], "C": [0, 2]},
        "bodies": {"ground": {"pins": ["A"]}, "a": {"pins": ["A", "B"], "mass": 1}, "b": {"pins": ["B"], "points": ["C"], "mass": 1}},
    }  # fmt: skip
    frame = {
        "name": "frame", "plane": "xy", "drawing": {"A": [0, 0], "B": [0, 1], "C": [1, 0]},
        "bodies": {"ground": {"pins": ["A", "C"]}, "a": {"pins": ["A", "B"], "mass": 1}, "b": {"pins": ["B", "C"], "mass": 1}},
    }  # fmt: skip
    chosen = {k: made(lw.load(x).system) for k, x in (("massless", massless), ("pendulum", pendulum), ("frame", frame))}
    chosen["undriven"] = pages["double-rocker"]
    code = """
const b=D.bodies[1].name,d=e.drag(b,[.5,.1,0],[.3,.3,0]),swung=e.swing.start(),step=e.swing.step(.02);
return{d,swung,step,u:e.state.u,cycle:!!e.cycle,poses:e.poses().p.every(isFinite),checks:e.checks(),csv:e.csv().length,body:e.freeBody(b).residual};
"""
    massless_, pendulum_, frame_, undriven = run(chosen, [(k, code, None) for k in chosen])
    why = {k: p.data["why"] for k, p in chosen.items()}
    assert massless_["cycle"] and massless_["d"]["moved"] and not massless_["swung"] and massless_["u"] is None
    assert why["massless"] == "kinematics only: no mass given for a"
    assert undriven["cycle"] and undriven["swung"] and undriven["step"]["ok"] and chosen["undriven"].data["drives"] == ["A"]
    assert not pendulum_["cycle"] and pendulum_["d"]["moved"] and pendulum_["step"]["ok"] and "Moved by hand at A, B." in why["pendulum"]
    assert pendulum_["body"] < 1e-9
    assert frame_["d"]["stopped"] == "nothing can move" and not frame_["cycle"] and "nothing can move" in why["frame"]
    assert all(x["poses"] for x in (massless_, undriven, pendulum_, frame_))


def test_a_recorded_run_is_played_as_it_was() -> None:
    """Also one computed with other cuts than the page would choose: its coordinates are the page's then."""
    m = lw.load("four-bar")
    other = lw.compile(m, cuts=["B"])
    recorded = other.simulate(other.start, 0.2, drive={}, sample_interval=0.05)
    system = live._system(m, recorded)
    script, told = live.contents(system, recorded)
    page = Page(system, shipped("four-bar").motion, script, told)
    code = "return[0,2,2.5,9].map(i=>{const s=e.play(i);return[s.q.slice(),s.v.slice(),s.t,s.loads]})"
    got = run({"run": page}, [("run", code, None)])[0]
    assert told["topology"]["cuts"] == ["B"]
    assert np.array_equal(got[1][0], recorded.q[2]) and np.array_equal(got[1][1], recorded.v[2]) and got[1][3] is None
    assert np.array_equal(got[3][0], recorded.q[4]) and got[2][2] == pytest.approx(0.125)
    assert told["run"]["checks"] == recorded.checks().as_dict()["checks"] and recorded.checks().ok and "Simulation" in told["run"]["title"]
    channels = {c["name"] for c in told["run"]["channels"]}
    assert told["run"]["main"] == ["A", "energy.kinetic"] and {"rocker.angle", "D.v", "coupler.P.x", "C.on.rocker.magnitude"} <= channels


def test_a_name_that_is_none_is_refused(pages: dict[str, Page]) -> None:
    code = """
const said=f=>{try{f()}catch(x){return x.message}};
return[said(()=>e.set({L9:1})),said(()=>e.set({L1:NaN})),said(()=>e.place("wheel",[0,0,0])),said(()=>e.nudge("Z",1))];
"""
    got = run(pages, [("four-bar", code, None)])[0]
    assert got[0].startswith("no parameter L9: L1, ") and got[1] == "L1 must be a finite number"
    assert got[2] == "there is no body wheel" and got[3] == "there is no drive Z"
    with pytest.raises(LinkwrightError):
        lw.load("four-bar").cycle("Z")


@pytest.mark.parametrize("name", ["carpet-scraper", "five-bar", "stewart"])
def test_a_page_walks_a_cycle_from_its_first_position(name: str) -> None:
    """One position travels with the page; all others are those of Python."""
    page = shipped(name)
    assert page.motion.turn is not None and page.data["cycle"]["q"]["shape"][0] == 1
    [found] = run({name: page}, [(name, "return {q:e.law.q,near:e.law.near}", None)])
    q = page.motion.turn.q
    assert np.abs(np.reshape(found["q"], q.shape) - q).max() < 1e-11


def test_positions_of_a_cycle_with_singular_positions_travel_with_the_page() -> None:
    page = shipped("slider-crank-equal")
    assert page.motion.turn is not None and page.motion.turn.singular
    assert page.data["cycle"]["q"]["shape"][0] == len(page.motion.turn)


@sweep("number", range(48), now=[3, 45])
def test_a_swing_passes_singular_positions_of_random_mechanisms(number: int) -> None:
    """Steps of a sixtieth of a second, as frames ask for them, against reduced equations that are regular there."""
    given = case(number)
    s = lw.compile(lw.load(given.model))
    st, k = s.assemble(v=given.speeds), list(s.names.q).index(given.channel)
    code = """
e.state.q.set(x.q);e.state.near.set(x.near);e.swing.start(Float64Array.from(x.v));const first=e.state.q[x.k];
for(let t=0,r;t<x.T-1e-9;t+=r.done){r=e.swing.step(Math.min(1/60,x.T-t));if(!r.ok)return{ok:false}}
return{ok:true,rise:e.state.q[x.k]-first,passages:e.swing.passages,drift:e.swing.drift}"""
    x = {"q": st.q, "v": st.v, "near": st.skel.pack(st.references), "k": k, "T": given.seconds}
    [found] = run({"p": made(s)}, [("p", code, x)])
    assert found["ok"] and abs(found["drift"]) < 1e-6
    assert abs(found["rise"] - given.right) < 5e-5
