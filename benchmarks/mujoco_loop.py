"""MuJoCo on our mechanisms: mj_forward called from machine code, and its rollout.

The model is the converter's, made as cheap as it can be without changing the mechanics: nothing to draw, no collisions, no
search for islands, dense Jacobians. mj_forward starts its solver from its own last answer, which is the best case. Loops are
soft there, so accelerations differ from those of rigid loops.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

from benchmarks.bench.cases import BenchCase, BenchRow, Contender, Unavailable, attempt
from benchmarks.bench.clocks import best_call
from benchmarks.workshop import Workshop, version
from linkwright.rings.exchange import MujocoMap
from linkwright.rings.exchange.writing.mujoco.text import mjcf

ENGINE = "MuJoCo"
STEPS = 200  # of one rollout; 1 ms each
OFF = ("mjDSBL_CONTACT", "mjDSBL_LIMIT", "mjDSBL_FRICTIONLOSS", "mjDSBL_SENSOR", "mjDSBL_ISLAND")


def contenders(case: BenchCase, shop: Workshop) -> list[Contender | BenchRow]:
    """mj_forward in a native loop (from Python where there is no compiler), and the steps of a rollout."""
    forward = attempt(f"{ENGINE} mj_forward", case.name, ("forward",), lambda: [_forward(case, shop)])
    return forward + attempt(f"{ENGINE} rollout", case.name, ("step",), lambda: [_rollout(case)])


def small_model(case: BenchCase, timestep: float = 1e-3) -> tuple[Any, Any, MujocoMap]:
    """(model, data at the state of the case, map between its coordinates and ours); its loops are as stiff as the step allows."""
    if find_spec("mujoco") is None:
        raise Unavailable("the package 'mujoco' is not installed")
    mujoco: Any = import_module("mujoco")
    root = xml.fromstring(mjcf(case.system, timestep=timestep).text)
    for parent in list(root.iter()):
        for drawn in [e for e in parent if e.tag == "geom" and "type" in e.attrib]:
            parent.remove(drawn)
    for option in root.iter("option"):
        option.set("jacobian", "dense")
    model = mujoco.MjModel.from_xml_string(xml.tostring(root, encoding="unicode"))
    for name in OFF:
        if hasattr(mujoco.mjtDisableBit, name):
            model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, name))
    data, there = mujoco.MjData(model), MujocoMap.of(model, case.system)
    data.qpos[:], data.qvel[:] = there.qpos(case.state), there.qvel(case.state)
    data.qfrc_applied[:] = there.effort(case.state, dict(case.tau))
    mujoco.mj_forward(model, data)
    return model, data, there


def _forward(case: BenchCase, shop: Workshop) -> Contender:
    model, data, there = small_model(case)
    mujoco: Any = import_module("mujoco")
    row = BenchRow(
        f"{ENGINE} mj_forward", version("mujoco"), case.name, "forward", accuracy=case.error(there.acceleration(case.state, data.qacc))
    )
    try:
        return Contender(replace(row, note="soft loops"), _native_calls(model, data, shop))
    except Unavailable as reason:
        note = f"soft loops; called from Python, some 200 ns more: {reason}"
        return Contender(replace(row, note=note), lambda seconds: best_call(lambda: mujoco.mj_forward(model, data), seconds))


def _native_calls(model: Any, data: Any, shop: Workshop) -> Callable[[float], float]:
    """mj_forward of the loaded library, called from C; the bindings give the addresses of model and data."""
    loop = shop.timing_loop("best_of_two_pointers")
    home = Path(str(import_module("mujoco").__file__)).parent
    found = sorted([*home.glob("libmujoco.so*"), *home.glob("libmujoco*.dylib")])
    if not found or not hasattr(model, "_address"):
        raise Unavailable("the library inside the package is not where it was expected")
    function = ctypes.cast(ctypes.CDLL(str(found[0])).mj_forward, ctypes.c_void_p)
    return lambda seconds: loop(function, model._address, data._address, seconds)


def _rollout(case: BenchCase) -> Contender:
    model, data, there = small_model(case)
    mujoco: Any = import_module("mujoco")
    rollout: Any = import_module("mujoco.rollout")
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros((1, mujoco.mj_stateSize(model, full)))
    mujoco.mj_getState(model, data, start[0], full)
    worker = mujoco.MjData(model)
    efforts = np.tile(data.qfrc_applied, (1, STEPS, 1))
    kind = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)

    def run(seconds: float) -> float:
        return best_call(lambda: rollout.rollout(model, worker, start, efforts, control_spec=kind), seconds) / STEPS

    mujoco.mj_step(model, data)
    note = f"{1e3 * model.opt.timestep:g} ms, implicitfast, one thread"
    return Contender(
        BenchRow(f"{ENGINE} rollout", version("mujoco"), case.name, "step", accuracy=_step_error(case, data, there), note=note), run
    )


def _step_error(case: BenchCase, data: Any, there: MujocoMap) -> float:
    """Of the velocities after one step."""
    T, _ = there.rates(case.state)
    return case.step_error(np.linalg.solve(T, data.qvel))
