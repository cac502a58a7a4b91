"""Functions of JAX: custom calls of XLA, callbacks and JAX's own operations, under jit, grad, vmap, jacfwd and jacrev."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from tests.docs.test_pages import run_with
from tests.rings.exchange.bridges import cases
from tests.rings.exchange.bridges.test_open_chains import check_time_and_quaternions

pytestmark = pytest.mark.slow  # `make test-all` installs JAX


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def tools(mode: str = "jacfwd") -> cases.Tools:
    import jax
    import jax.numpy as jnp

    def jacobian(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
        return np.asarray(jax.jit(getattr(jax, mode)(f))(jnp.asarray(x)))

    return cases.Tools(lambda s, **options: s.jax(**options), jnp.asarray, np.asarray, jacobian)


WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "custom call, forward": ("jacfwd", {}),
    "custom call, reverse": ("jacrev", {}),
    "callback, forward": ("jacfwd", {"repair": True}),
    "callback, reverse": ("jacrev", {"repair": True}),
    "operations": ("jacrev", {"native": True}),
}


@pytest.mark.parametrize("options", [{}, {"repair": True}, {"native": True}], ids=str)
@pytest.mark.parametrize("model", ["four-bar", "rssr"])
def test_values_are_those_of_the_kernels(model: str, options: dict[str, Any]) -> None:
    cases.values(tools(), model, **options)


@pytest.mark.parametrize("way", WAYS)
def test_derivatives_are_those_of_the_kernels(way: str) -> None:
    mode, options = WAYS[way]
    cases.slopes(tools(mode), "four-bar", **options)


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
def test_derivatives_by_quaternions(mode: str) -> None:
    cases.slopes(tools(mode), "rssr")


@pytest.mark.parametrize(("mode", "model"), [("jacrev", "five-bar"), ("jacfwd", "rssr")])
def test_steps_are_those_of_the_stepper(mode: str, model: str) -> None:
    cases.steps(tools(mode), model)


@pytest.mark.parametrize(("mode", "model"), [("jacrev", "five-bar"), ("jacfwd", "rssr")])
def test_positions_of_the_drives_close_the_loops(mode: str, model: str) -> None:
    cases.driven(tools(mode), model)


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
def test_free_numbers_have_derivatives(mode: str) -> None:
    import jax.numpy as jnp

    cases.free_numbers(tools(mode), jnp.concatenate)


def test_vmap_and_leading_axes_agree_with_single_states() -> None:
    import jax
    import jax.numpy as jnp

    s, q, v, tau = cases.case("four-bar")
    f, rng = s.jax(), np.random.default_rng(2)
    Q, T = q + 0.01 * rng.normal(size=(3, 5, 3)), rng.normal(size=(5, 3))
    wanted = s.kernel("forward")(Q, v, T).a
    by_vmap = jax.vmap(jax.vmap(lambda x, u: f.forward(x, v, u).a), in_axes=(0, None))
    assert (np.asarray(jax.jit(by_vmap)(Q, T)) == wanted).all() and (np.asarray(f.forward(Q, v, T).a) == wanted).all()

    def total(x: Any) -> Any:
        return jnp.sum(f.forward(x, v, tau).a ** 2)

    one = [np.asarray(jax.grad(total)(x)) for x in Q[0]]
    for gradients in (jax.vmap(jax.grad(total)), jax.vmap(jax.jacfwd(total)), jax.grad(total)):
        cases.same(gradients(Q[0]), one)
    pushed = jax.vmap(lambda x: jax.jvp(lambda y: f.forward(y, v, tau).a, (Q[0, 0],), (x,))[1])(np.eye(3))  # only changes are batched
    cases.same(pushed.T, s.kernel("forward", by="coordinates")(Q[0, 0], v, tau).a_coordinates)
    assert f.forward(np.zeros((0, 3)), v, tau).a.shape == (0, 3)


def test_rollouts_are_differentiated_through() -> None:
    """Twenty steps of the four-bar under a constant torque: the crank's angle by the torque, against differences of `s.step`."""
    import jax

    s, q, v, _ = cases.case("four-bar")
    f, dt = s.jax(), 5e-3

    def angle(torque: Any) -> Any:
        def move(x: Any, _: Any) -> Any:
            return tuple(f.step(*x, {"A": torque}, dt)), None

        return jax.lax.scan(move, (jax.numpy.asarray(q), jax.numpy.asarray(v)), None, length=20)[0][0][0]

    def exact(x: np.ndarray) -> np.ndarray:
        state = (q, v)
        for _ in range(20):
            state = s.step(state, {"A": float(x[0])}, dt)
        return state[0][:1]

    cases.same(angle(0.3), exact(np.array([0.3]))[0], 1e-8)
    cases.same([jax.jit(jax.grad(angle))(0.3)], differences_of(exact, 0.3), 1e-5)


def differences_of(f: Callable[[np.ndarray], np.ndarray], x: float) -> np.ndarray:
    return cases.differences(f, np.array([x]), 1e-3)[0]


def test_native_functions_have_second_derivatives() -> None:
    import jax
    import jax.numpy as jnp

    s, q, v, tau = cases.case("four-bar")
    f = s.jax(native=True)

    def total(x: Any) -> Any:
        return jnp.sum(f.forward(x, v, tau).a ** 2)

    cases.same(jax.hessian(total)(q), cases.differences(lambda x: np.asarray(jax.grad(total)(x)), q), cases.SLOPE)
    f = s.jax()
    with pytest.raises(UsageError, match=r"s.jax\(native=True\)"):
        jax.hessian(total)(q)


def stretched() -> tuple[lw.System, np.ndarray]:
    """A slider-crank at rest where two branches meet."""
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    return s, s.assemble(q={"A": 0.5 * np.pi}).q


def test_states_without_an_answer_are_not_a_number_and_marked() -> None:
    import jax

    s, singular = stretched()
    Q, still, tau = np.array([s.start.q, singular, s.start.q]), np.zeros(2), np.array([1.0, 0.0])
    found = jax.jit(s.jax(return_status=True).forward)(Q, still, tau)
    assert np.asarray(found.status).tolist()[::2] == [0, 0] and found.status[1] != 0 and found.status.dtype == np.int8
    assert np.isnan(found.a[1]).all() and (np.asarray(found.a[0]) == s.kernel("forward")(s.start.q, still, tau).a).all()
    gradient = jax.vmap(jax.grad(lambda q: s.jax(return_status=True).forward(q, still, tau).a.sum()))(Q)
    assert np.isfinite(gradient[0]).all() and np.isnan(gradient[1]).all()


def test_repair_answers_passages() -> None:
    """Folded and in motion: the limit along the branch, which only the rank-revealing path finds."""
    s, _ = stretched()
    st = s.assemble(q={"A": 1.5 * np.pi}, v={"A": 1.0})
    tau = np.array([1.0, 0.0])
    assert np.isnan(s.jax().forward(st.q, st.v, tau).a).all()
    cases.same(s.jax(repair=True).forward(st.q, st.v, tau).a, [0.2, -0.4], 1e-6)


def test_32_bits_are_refused_or_cast() -> None:
    import jax
    import jax.numpy as jnp

    s, q, v, tau = cases.case("four-bar")
    f = s.jax()
    cast = f.forward(jnp.asarray(q, jnp.float32), v, tau).a
    assert cast.dtype == jnp.float64
    cases.same(cast, s.kernel("forward")(q.astype(np.float32).astype(float), v, tau).a)
    assert jax.grad(lambda x: f.forward(x, v, tau).a.sum())(jnp.asarray(q, jnp.float32)).dtype == jnp.float32
    with pytest.raises(UsageError, match="real numbers"):
        f.forward(q + 0j, v, tau)
    jax.config.update("jax_enable_x64", False)
    for call in (s.jax, lambda: f.forward(q, v, tau), lambda: jax.jit(f.forward)(q, v, tau)):
        with pytest.raises(UsageError, match="jax_enable_x64"):
            call()


def test_the_handler_refuses_other_arrays() -> None:
    """Called past our functions, with 32 bits or too few numbers, it returns an error instead of reading beyond."""
    import jax
    import jax.numpy as jnp

    from linkwright.rings.exchange.bridges.jax_library import _custom_call

    s, q, v, tau = cases.case("four-bar")
    kernel = s.kernel("forward")
    shapes = [jax.ShapeDtypeStruct(b.shape, jnp.float64) for b in kernel._every_output] + [jax.ShapeDtypeStruct((), jnp.int8)]
    call = _custom_call(kernel)(shapes)
    assert (np.asarray(call(*map(jnp.asarray, (q, v, tau)))[0]) == kernel(q, v, tau).a).all()
    for bad in ((jnp.asarray(q, jnp.float32), v, tau), (jnp.asarray(q[:2]), v, tau), (jnp.asarray(q), v)):
        with pytest.raises(jax.errors.JaxRuntimeError, match="not those it was compiled for"):
            call(*map(jnp.asarray, bad))


PROGRAM = """
import sys, jax, numpy as np, linkwright as lw
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
s = lw.compile("four-bar")
f, one = s.jax(), np.ones(3)
if sys.argv[2] == "again":
    lw.compile("wiper").jax().forward(one, one, one)  # code at other addresses
found = jax.jit(jax.grad(lambda q: f.forward(q, one, one).a.sum()))(s.start.q)
assert np.allclose(found, s.kernel("forward", by="coordinates")(s.start.q, one, one).a_coordinates.sum(0), rtol=1e-12)
"""


def test_compiled_programs_of_other_processes_are_valid(tmp_path: Path) -> None:
    """JAX stores them on disk with the names of custom calls, which are those of equal kernels; addresses differ."""
    stored = []
    for time in ("first", "again"):
        subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path), time], check=True)
        stored.append({path.name for path in tmp_path.iterdir() if "lambda" in path.name and path.name.endswith("-cache")})
    assert stored[0] and stored[0] == stored[1]


def test_without_machine_code_callbacks_answer() -> None:
    s = lw.compile("four-bar", engine="python")
    _, q, v, tau = cases.case("four-bar")
    cases.same(s.jax().forward(q, v, tau).a, cases.case("four-bar").s.kernel("forward")(q, v, tau).a)


def test_what_is_wrong_is_said() -> None:
    s, q, v, tau = cases.case("four-bar")
    f = s.jax()
    with pytest.raises(UsageError, match=r"input 'v' of 'forward' has shape \(2,\); it needs \(..., 3\): A, B, D"):
        f.forward(q, v[:2], tau)
    with pytest.raises(UsageError, match="leading axes of the inputs do not fit"):
        f.forward(np.tile(q, (2, 1)), np.tile(v, (3, 1)), tau)
    with pytest.raises(UsageError, match="arrays of numbers, not 'fast'"):
        f.forward(q, v, "fast")
    assert (np.asarray(f.kinematics(0.9).q) == np.asarray(f.kinematics({"A": 0.9}).q)).all()
    with pytest.raises(UsageError, match="native=True has no status"):
        s.jax(native=True, repair=True)


def test_time_and_quaternions_of_open_chains() -> None:
    check_time_and_quaternions("jax")


def test_blocks_of_the_docs_run() -> None:
    run_with("JAX")
