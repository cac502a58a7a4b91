"""Derivatives of kernels by their inputs against the complex step of the same equations on the float path, which is exact too."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.kernels.implicit import MEASURES
from linkwright.kernels.kernels import SOLVES
from linkwright.kernels.planning import samples
from linkwright.kernels.tracing import KERNELS as SIGNATURES
from linkwright.kernels.tracing import TIMED
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.system.system import System
from tests.kernels.mechanisms import apart, cut_coordinates
from tests.refusals import refused
from tests.sweeps import sweep

STEP = 1e-30
# springs and gravity, pins of several links, two drives, spatial with quaternions, gears; parameters of each
MODELS = {
    "wiper": ["crank.B.x", "coupler.mass", "rocker.com.x", "gravity.y"],
    "carpet-scraper": ["tool.mass", "coupler.S.x", "arm.inertia"],
    "five-bar": ["left.B.x", "left_rod.com.y", "right.mass"],
    "boot-lid": ["gas.force", "lid.S.x", "lid.mass", "lid.B.y"],
    "stewart": ["platform.mass", "platform.com.z", "barrel1.inertia.xx"],
    "rssr-7r": ["crank.mass", "g"],
}
KERNELS = {  # inputs by which each is differentiated
    "forward": ("q", "v", "tau", "parameters"),
    "rates": ("q", "v", "parameters"),
    "inverse": ("q", "v", "a", "parameters"),
    "loads": ("q", "v", "a", "parameters"),
    "kinematics": ("q", "v", "drive", "speed", "acceleration", "parameters"),
    "projection": ("q", "v", "parameters"),
    "points": ("q", "v", "parameters"),
    "poses": ("q", "parameters"),
    "closure": ("q", "v", "parameters"),
    "terms": ("q", "v", "parameters"),
    "energy": ("q", "v", "parameters"),
    "reduced": ("q", "v"),
}
LARGE = [("stewart", name) for name in ("forward", "rates", "projection", "terms", "reduced", "loads")]
PAIRS = [(model, name) for model in MODELS for name in KERNELS]
QUICK = [*(("wiper", n) for n in KERNELS if n not in ("rates", "projection", "reduced")), ("five-bar", "kinematics")]


@cache
def system(name: str) -> System:
    return lw.compile(name, parameters=MODELS[name], engine="python")


def state(s: System) -> Any:
    return samples(compiled_of(s).loops, s.start.q, dict(s.start.references), 2, seed=3)[1]


def inputs(s: System, kernel: Any, x: Any) -> dict[str, np.ndarray]:
    rng, n = np.random.default_rng(5), s.kernels.sizes
    near, parameters = cut_coordinates(s, x.references), s.kernels.defaults["parameters"]
    values = {"q": x.q, "v": x.v, "t": np.zeros(1), "near": near, "parameters": parameters}
    sizes = {"tau": n.nv, "a": n.nv, "lam": n.nc, "drive": n.nd, "speed": n.nd, "acceleration": n.nd}
    return {**values, **{k: rng.normal(size=m) for k, m in sizes.items()}}


def complex_steps(s: System, name: str, x: dict[str, Any], by: str, solve: str) -> dict[str, np.ndarray]:
    """d outputs / d input, one column a direction, by the equations on complex numbers."""
    signature = SIGNATURES[name]
    names = [n for n, _ in signature.inputs] + (["t"] if name in TIMED else [])
    names += [] if name in ("poses", "points") else ["near"]
    columns: dict[str, list[Any]] = {}
    for e in np.eye(s.tree.nv if by == "q" else len(x[by])):
        moved = {k: v + 0j if k in ("q", "v", "a", "tau") else v for k, v in x.items()}
        moved[by] = x[by] + 1j * STEP * (qdot(compiled_of(s).loops.skel, x["q"], e) if by == "q" else e)
        eq = s.kernels.equations(moved["parameters"], solve)
        for key, y in getattr(eq, signature.method)(**{n: moved[n] for n in names}).items():
            columns.setdefault(key, []).append(np.imag(np.asarray(y, dtype=complex)) / STEP)
    return {key: np.stack(y, axis=-1) for key, y in columns.items()}


@sweep("pair", PAIRS, now=QUICK, ids="-".join)
def test_every_derivative_is_the_complex_step(pair: tuple[str, str]) -> None:
    model, name = pair
    s = system(model)
    by = KERNELS[name]
    kernel = s.kernel(name, by=by)
    x = inputs(s, kernel, state(s))
    found = kernel(**{b.name: x[b.name] for b in kernel.inputs})
    for key in by:
        expected = complex_steps(s, name, x, key, SOLVES.get(name, "sslm"))
        for output in (b.name for b in s.kernel(name).outputs if b.name not in MEASURES):
            assert apart(getattr(found, f"{output}_{key}"), expected[output]) < 1e-9, (output, key)


def closed_motion(s: System, x: dict[str, Any], values: Any) -> dict[str, Any]:
    """q, v, a, u, lam, wrench on the loops of these (complex) numbers with the drives where they are, by Newton's method."""
    solve = SOLVES["turn_loads"]
    eq = s.kernels.equations(values["parameters"], solve)
    q = x["q"] + 0j
    for _ in range(3):  # from a closed position: the imaginary part is there after one step
        q = eq.kinematics(q, x["v"] + 0j, values["drive"], values["speed"], values["acceleration"], x["near"])["q"]
    moved = eq.turn_motion(q, values["drive"], values["speed"], values["acceleration"], x["near"])
    return {"q": q, **moved, **eq.loads(q, moved["v"], moved["a"], np.zeros(1), x["near"])}


@sweep("model", ["wiper", "carpet-scraper", "five-bar", "boot-lid", "stewart"], now=1)
def test_a_sample_of_a_turn_follows_drives_and_numbers(model: str) -> None:
    s = system(model)
    x = inputs(s, None, state(s))
    drives = [s.tree.nodes[s.tree.node_of_joint[n]].q.start for n in compiled_of(s).drive_names]
    x["drive"] = x["q"][drives]
    by = ("drive", "speed", "acceleration", "parameters")
    found = s.kernel("turn_loads", by=by)(x["q"], x["drive"], x["speed"], x["acceleration"], near=x["near"])
    alone = s.kernel("turn_motion", by=by)(x["q"], x["drive"], x["speed"], x["acceleration"], near=x["near"])
    assert all((getattr(alone, name) == getattr(found, name)).all() for name in alone._fields)
    for key in by:
        columns = [closed_motion(s, x, {**x, key: x[key] + 1j * STEP * e}) for e in np.eye(len(x[key]))]
        for name in ("v", "a", "u", "lam", "wrench"):
            expected = np.stack([c[name].imag / STEP for c in columns], axis=-1)
            assert apart(getattr(found, f"{name}_{key}"), expected) < 1e-9, (name, key)
        moved = np.stack([c["q"].imag / STEP for c in columns], axis=-1)
        rates = np.array([qdot(compiled_of(s).loops.skel, x["q"], e) for e in np.eye(s.tree.nv)]).T
        assert apart(rates @ getattr(found, f"q_{key}"), moved) < 1e-9


def test_batches_in_native_code_have_a_status_for_every_entry() -> None:
    s = lw.compile(lw.load("slider-crank-equal"), parameters=["crank.mass", "crank.B.x"])
    kernel = s.kernel("inverse", by=("q", "parameters"))
    assert kernel.native and kernel is s.kernel("inverse", by=("q", "parameters"))
    turned = [s.assemble(q={"A": x}) for x in (0.3, 1.1, 2.0)]
    Q = np.array([st.q for st in turned] + [np.full(s.tree.nq, np.nan)])
    found = kernel(Q, np.zeros(s.tree.nv), np.ones(s.tree.nv))
    assert found.ok.tolist() == [True, True, True, False] and np.isnan(found.u_q[3]).all() and "not finite" in found.why[3]
    for i, st in enumerate(turned):
        one = kernel(st.q, np.zeros(s.tree.nv), np.ones(s.tree.nv))
        assert all((x[i] == y).all() for x, y in zip(found, one, strict=True))
    with refused(UsageError, name="q"):
        kernel(Q[3], np.zeros(s.tree.nv), np.ones(s.tree.nv))


def test_the_kernel_derivatives_is_forward_by_its_inputs() -> None:
    s = system("wiper")
    x = inputs(s, None, state(s))
    first, second = s.kernel("derivatives"), s.kernel("forward", by=("q", "v", "tau", "parameters"))
    for a, b in zip(first(x["q"], x["v"], x["tau"]), second(x["q"], x["v"], x["tau"]), strict=True):
        assert (a == b).all()


@pytest.mark.parametrize(
    ("name", "by", "about"),
    [
        ("inverse", "tau", "tau"),
        ("poses", ("q", "v"), "v"),
        ("turn_loads", "q", "q"),
        ("inverse", "parameters", "by"),
    ],
)
def test_wrong_inputs_are_refused(name: str, by: Any, about: str) -> None:
    with refused(UsageError, name=about):
        lw.compile("four-bar").kernel(name, by=by)


BACKWARDS = [(m, n) for m in ("wiper", "five-bar", "boot-lid", "rssr-7r", "stewart") for n in ("forward", "loads", "projection")]


@sweep("pair", BACKWARDS, now=[("wiper", "forward"), ("wiper", "loads"), ("five-bar", "projection")], ids="-".join)
def test_weighted_sums_backwards(pair: tuple[str, str], rng: np.random.Generator) -> None:
    """Reverse mode against forward mode, which the complex step confirms."""
    model, name = pair
    s = system(model)
    by, x = KERNELS[name], inputs(s, None, state(s))
    x = {**x, "q": x["q"] * 1.0}
    kernel, of = s.kernel(name, by=by), [b.name for b in s.kernel(name).outputs if b.name not in MEASURES]
    reverse = s.kernel(name, by=by, outputs=of)
    forward = kernel(**{b.name: x[b.name] for b in kernel.inputs})
    x |= {f"{key}_weight": rng.normal(size=np.shape(getattr(forward, key))) for key in of}
    found = reverse(**{b.name: x[b.name] for b in reverse.inputs})
    for key in by:
        total = sum(np.tensordot(x[f"{o}_weight"], getattr(forward, f"{o}_{key}"), np.ndim(x[f"{o}_weight"])) for o in of)
        assert apart(getattr(found, f"{key}_gradient"), total) < 1e-9, key
    assert reverse.operations < 5 * s.kernel(name).operations
    with refused(UsageError, name="x"):
        s.kernel(name, by=by, outputs="x")
    with refused(UsageError, name="outputs"):
        s.kernel(name, outputs=of)


@pytest.mark.parametrize("name", ["forward", "rates"])
def test_an_input_in_which_the_equations_are_linear(name: str) -> None:
    """By tau alone every derivative of the residual is a number: one column of the derivatives by all inputs."""
    s = lw.compile("wiper", engine="python")
    given = (s.start.q, np.ones(3), np.ones(3))
    alone, beside = s.kernel(name, by="tau")(*given), s.kernel(name, by=("v", "tau"))(*given)
    assert np.allclose(alone.a_tau, beside.a_tau, rtol=1e-14)
