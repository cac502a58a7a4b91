"""Steps with contact of many walking machines at once, beside `mujoco.rollout` on the same mechanism, as rows of `benchmarks.rollouts`.

Springs and dampers hold the legs. Both programs start on the ground at 0.2 m/s, with other random torques at hips and cranks for each
environment and step, and make 200 steps of 1 ms: feet slip, stick, lift and land. All parts of a step are timed: forces, loops, contacts,
projection, and every state is written. MuJoCo gets the ends of the feet as spheres on a plane, elliptic cones, and the stiffest contact
its step allows (solref of two steps). The error is that of the coordinates without torques, against the run from event to event, in rad
or m.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

import linkwright as lw
from benchmarks.bench.cases import BenchRow, Contender, Unavailable
from benchmarks.walkers import FOOT, biped, leg
from benchmarks.workshop import version
from linkwright.rings.exchange import MujocoMap
from linkwright.rings.exchange.writing.mujoco.text import mjcf
from linkwright.system.system import System

MACHINES: dict[str, Callable[[], dict[str, Any]]] = {"hopper": partial(leg, 80.0), "walker": partial(biped, 200.0)}
STEP, STEPS = 1e-3, 200
SPEED, PUSH = 0.2, 1.0  # m/s, N m
MOST = 1024  # environments
PEER = "MuJoCo rollout"
SOFT = "0.99 0.9999 1e-4"  # solimp of stiff contacts


@cache
def system(name: str) -> System:
    return lw.compile(lw.load(MACHINES[name]()))


def start(s: System) -> tuple[np.ndarray, np.ndarray]:
    q, v = s.start.q.copy(), np.zeros(len(s.names.v))
    q[s.names.q.index("base.y")] -= s.kernel("contact_gaps")(q).g.min()
    v[s.names.v.index("base.x")] = SPEED
    return q, v


def torques(s: System, n: int) -> np.ndarray:
    """(n, steps, nv)."""
    out = np.zeros((n, STEPS, len(s.names.v)))
    places = [i for i, name in enumerate(s.names.v) if name.endswith(("hip", "crank"))]
    out[..., places] = PUSH * np.random.default_rng(0).normal(size=(n, STEPS, len(places)))
    return out


@cache
def exact(name: str) -> np.ndarray:
    """Coordinates at the end without torques, from event to event."""
    s = system(name)
    return s.simulate(s.state(*start(s)), STEP * STEPS, tolerance=1e-10, sample_interval=STEP * STEPS, progress=False).q[-1]


def ours(name: str, n: int) -> Contender:
    """Rollouts by `s.stepper(n)`."""
    s, (q, v) = system(name), start(system(name))
    one, env, tau = s.stepper(1, dt=STEP), s.stepper(n, dt=STEP, threads=1), torques(system(name), n)
    one.reset(None, q, v)
    one.rollout(np.zeros((STEPS, len(v))))
    states = np.zeros((n, STEPS, len(q) + len(v)))

    def call() -> None:
        env.reset(None, q, v)
        env.rollout(tau, out=states)

    call()
    gap = max(float(np.abs(s.closure(env.state(k)).phi).max()) for k in range(min(n, 20)))
    note = f"1 ms, one thread; {int((~env.ok).sum())} of {n} failed, depth {env.law['depth'].max():.0e} m, loops {gap:.0e} m"
    row = BenchRow("linkwright midpoint", version("linkwright"), name, quantity(n), accuracy=error(one.q[0], name), note=note)
    return Contender(row, _clock(call, n))


def error(q: np.ndarray, name: str) -> float:
    return float(np.abs(q - exact(name)).max())


def quantity(n: int) -> str:
    return f"contact rollout of {n}"


def mujocos(name: str, n: int) -> Contender:
    """The same by `mujoco.rollout`."""
    model, data = _model(name)
    mujoco: Any = import_module("mujoco")
    rollout: Any = import_module("mujoco.rollout")
    full, kind = mujoco.mjtState.mjSTATE_FULLPHYSICS, int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    begun = np.zeros((n, mujoco.mj_stateSize(model, full)))
    mujoco.mj_getState(model, data, begun[0], full)
    begun[:] = begun[0]
    worker = mujoco.MjData(model)
    with rollout.Rollout(nthread=0) as one:
        states, _ = one.rollout(model, [worker], begun[:1].copy(), np.zeros((1, STEPS, model.nv)), control_spec=kind)
    deep = _deepest(model, states[0], full)
    end = states[0, -1, 1 : 1 + model.nq]
    tau, roller, written = torques(system(name), n), rollout.Rollout(nthread=0), np.zeros((n, STEPS, begun.shape[1]))
    sensors = np.zeros((n, STEPS, model.nsensordata))

    def call() -> None:
        roller.rollout(model, [worker], begun, tau, control_spec=kind, state=written, sensordata=sensors)

    call()
    note = f"1 ms, solref {2e3 * STEP:g} ms, one thread; depth {deep:.0e} m"
    return Contender(BenchRow(PEER, version("mujoco"), name, quantity(n), accuracy=error(end, name), note=note), _clock(call, n))


def _deepest(model: Any, states: np.ndarray, full: Any) -> float:
    """How far the feet sink in."""
    mujoco: Any = import_module("mujoco")
    data, out = mujoco.MjData(model), 0.0
    for state in states:
        mujoco.mj_setState(model, data, state, full)
        mujoco.mj_forward(model, data)
        out = max([out, *(-float(c.dist) for c in data.contact)])
    return out


def _model(name: str) -> tuple[Any, Any]:
    """MuJoCo's model with feet, in the state of the start; its coordinates are in the order of ours."""
    if find_spec("mujoco") is None:
        raise Unavailable("the package 'mujoco' is not installed")
    mujoco: Any = import_module("mujoco")
    given = MACHINES[name]()
    bare = lw.compile(lw.load({k: x for k, x in given.items() if k not in ("surfaces", "contacts")}))
    root = xml.fromstring(mjcf(bare, timestep=STEP).text)
    for parent in list(root.iter()):
        for drawn in [e for e in parent if e.tag == "geom"]:
            parent.remove(drawn)
    world, mu = root.find("worldbody"), given["contacts"]["foot"]["mu"]
    assert world is not None
    law = {"friction": f"{mu} 0 0", "condim": "3", "solref": f"{2.0 * STEP} 1", "solimp": SOFT, "priority": "1", "mass": "0"}
    xml.SubElement(world, "geom", {"type": "plane", "size": "10 10 1", "zaxis": "0 1 0", "contype": "1", "conaffinity": "2"})
    for key, x in given["surfaces"].items():
        if key != "floor":
            body, point = x["circle"].split(".")
            at, node = given["bodies"][body]["points"][point], root.find(f".//body[@name='{body}']")
            assert node is not None
            place = {"pos": f"{at[0]} {at[1]} 0", "contype": "2", "conaffinity": "1"}
            xml.SubElement(node, "geom", {"type": "sphere", "size": str(x.get("radius", FOOT)), **place, **law})
    for option in root.iter("option"):
        option.attrib |= {"jacobian": "dense", "cone": "elliptic", "impratio": "10"}
        for flag in option.findall("flag"):
            flag.attrib.pop("contact", None)
    model = mujoco.MjModel.from_xml_string(xml.tostring(root, encoding="unicode"))
    data, there, st = mujoco.MjData(model), MujocoMap.of(model, bare), bare.state(*start(system(name)))
    data.qpos[:], data.qvel[:] = there.qpos(st), there.qvel(st)
    mujoco.mj_forward(model, data)
    assert np.allclose(data.qpos, st.q) and model.ngeom == len(given["surfaces"])
    return model, data


def _clock(call: Callable[[], Any], n: int) -> Callable[[float], float]:
    """Nanoseconds of one step of one environment."""
    from benchmarks.rollouts import clock  # here, because it imports this module

    return clock(call, n * STEPS)


def contenders(name: str, environments: tuple[int, ...]) -> list[Contender]:
    """All that take turns on one machine."""
    return [x for n in environments for x in (ours(name, n), mujocos(name, n))]
