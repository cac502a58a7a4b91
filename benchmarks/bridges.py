"""Forward dynamics as functions of JAX, PyTorch and CasADi beside the kernel itself, in one run.

    python -m benchmarks.bridges [model ...] [--native]

Microseconds of one call, of a batch of 4,096 states, of the gradient of the sum of squared accelerations by q, v and tau over the batch (of
the kernel and of CasADi: all Jacobians), and of one time step; best of several. First use is everything until all four have been computed
once, compiling included where LINKWRIGHT_CACHE names an empty folder. `--native` adds JAX's own operations, which take long to compile.
Libraries that are not installed are left out, and expressions (CasADi, native) of a Stewart platform.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of

MODELS = ("four-bar", "carpet-scraper", "stewart")
LARGE = 2000  # operations from which expressions are left out: their maps and compilers take minutes
COUNT, DT = 4096, 1e-3
Calls = Sequence[Callable[[], Any]]  # one state, a batch, its gradient, a step


class BridgeTiming(NamedTuple):
    """One way to compute: seconds until all four have been computed once, then microseconds."""

    way: str
    first: float
    one: float
    batch: float
    gradient: float
    step: float


class Sample(NamedTuple):
    """A mechanism and many of its states."""

    s: lw.System
    Q: np.ndarray
    V: np.ndarray
    T: np.ndarray

    @property
    def first(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.Q[0], self.V[0], self.T[0]


def sample(model: str) -> Sample:
    """States around the start, 64 different ones."""
    s, rng = lw.compile(model), np.random.default_rng(0)
    drive = compiled_of(s).drive_names[0]
    found = [s.assemble(q={drive: s.start[drive] + 0.3 * x}, v={drive: 3 * y}) for x, y in rng.uniform(-1, 1, (64, 2))]
    Q, V = (np.array([getattr(found[i % 64], key) for i in range(COUNT)]) for key in "qv")
    return Sample(s, Q, V, rng.normal(size=V.shape))


def best(f: Callable[[], Any], runs: int = 21, least: float = 0.01) -> float:
    """Microseconds of a call, the least of several runs."""
    f()
    before = time.perf_counter()
    f()
    n = max(1, int(least / max(time.perf_counter() - before, 1e-7)))
    found = []
    for _ in range(runs if n > 1 else 5):
        before = time.perf_counter()
        for _ in range(n):
            f()
        found.append((time.perf_counter() - before) / n)
    return 1e6 * min(found)


def timed(way: str, build: Callable[[], Sequence[Callable[[], Any]]]) -> BridgeTiming:
    """Time one call, a batch, its gradient and a step, and before it what is built and done first for all four."""
    before = time.perf_counter()
    calls = build()
    for f in calls:
        f()
    first = time.perf_counter() - before
    return BridgeTiming(way, first, *(best(f) for f in calls))


def kernel(x: Sample) -> Calls:
    k, d = x.s.kernel("forward"), x.s.kernel("derivatives")
    q, v, tau = x.first
    calls = (lambda: k(q, v, tau), lambda: k(x.Q, x.V, x.T), lambda: d(x.Q, x.V, x.T), lambda: x.s.step((q, v), tau, DT))
    return calls


def jax(x: Sample, **options: Any) -> Calls:
    library: Any = import_module("jax")
    library.config.update("jax_enable_x64", True)
    f = x.s.jax(**options)
    one = library.jit(lambda q, v, tau: f.forward(q, v, tau).a)
    many = library.jit(library.vmap(lambda q, v, tau: f.forward(q, v, tau).a))
    slope = library.jit(library.vmap(library.grad(lambda *y: (f.forward(*y).a ** 2).sum(), argnums=(0, 1, 2))))
    step = library.jit(lambda q, v, tau: f.step(q, v, tau, DT))
    first, batch = (tuple(map(library.numpy.asarray, y)) for y in (x.first, x[1:]))
    ready = library.block_until_ready
    return (lambda: ready(one(*first)), lambda: ready(many(*batch)), lambda: ready(slope(*batch)), lambda: ready(step(*first)))


def torch(x: Sample) -> Calls:
    library: Any = import_module("torch")
    library.set_num_threads(1)
    f = x.s.torch()
    first, batch = (tuple(map(library.from_numpy, y)) for y in (x.first, x[1:]))
    leaves = [y.clone().requires_grad_() for y in batch]

    def gradient() -> Any:
        return library.autograd.grad(f.forward(*leaves).a.square().sum(), leaves)

    return (lambda: f.forward(*first), lambda: f.forward(*batch), gradient, lambda: f.step(*first, DT))


def casadi(x: Sample, **options: Any) -> Calls:
    ca: Any = import_module("casadi")
    f = x.s.casadi(**options)
    forward = f.function("forward").function
    n = [y.shape[1] for y in x[1:]]
    q, v, tau = (ca.MX.sym(name, size) for name, size in zip(("q", "v", "tau"), n, strict=True))
    slopes = ca.Function("slopes", [q, v, tau], [ca.jacobian(forward(q, v, tau)[0], ca.vertcat(q, v, tau))])
    ahead = f.step(q, v, tau, DT)
    step = ca.Function("step", [q, v, tau], [ahead.q, ahead.v])
    first, batch = [ca.DM(y) for y in x.first], [ca.DM(y.T) for y in x[1:]]
    many, jacobians = forward.map(COUNT), slopes.map(COUNT)
    return (lambda: forward(*first), lambda: many(*batch), lambda: jacobians(*batch), lambda: step(*first))


def every_way(x: Sample, native: bool) -> Iterator[BridgeTiming]:
    """All libraries that are installed."""
    small = x.s.kernel("forward").operations < LARGE
    yield timed("kernel", lambda: kernel(x))
    if find_spec("jax"):
        yield timed("JAX", lambda: jax(x))
        yield timed("JAX, repair=True (callbacks)", lambda: jax(x, repair=True))
        if native and small:
            yield timed("JAX, native=True", lambda: jax(x, native=True))
    if find_spec("torch"):
        yield timed("PyTorch", lambda: torch(x))
    if find_spec("casadi") and small:
        yield timed("CasADi (SX)", lambda: casadi(x))
        yield timed("CasADi, compiled=True", lambda: casadi(x, compiled=True, hessian=False))


def cell(y: float, base: float | None) -> str:
    """Microseconds, and times the base."""
    ratio = "" if base is None else f" ({y / base:.{1 if y >= 0.1 * base else 2}f})"
    return f"{y:,.{0 if y >= 100 else 1}f}{ratio}"


def main(arguments: Sequence[str]) -> None:
    native = "--native" in arguments
    for model in [x for x in arguments if not x.startswith("-")] or MODELS:
        x = sample(model)
        print(f"\n| {model} | first use, s | one | batch of {COUNT:,} | gradient of the batch | step |\n|---|---|---|---|---|---|")
        base = None
        for row in every_way(x, native):
            base = base or row
            cells = (cell(y, None if row is base else z) for y, z in zip(row[2:], base[2:], strict=True))
            print(f"| {row.way} | {row.first:.2f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
