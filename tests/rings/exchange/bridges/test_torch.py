"""Functions of PyTorch: autograd, torch.func, gradcheck."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import SingularityError, UsageError
from tests.docs.test_pages import run_with
from tests.rings.exchange.bridges import cases
from tests.rings.exchange.bridges.test_open_chains import check_time_and_quaternions

# `make test-all` runs this file where PyTorch is installed. It compiles its own formulas of forward mode in a way it warns of
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Several threads of PyTorch spin while ours compute."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tools(mode: str = "jacrev") -> cases.Tools:
    import torch

    def jacobian(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
        return getattr(torch.func, mode)(f)(torch.from_numpy(x)).numpy()

    return cases.Tools(lambda s, **options: s.torch(**options), torch.from_numpy, lambda x: x.numpy(), jacobian)


@pytest.mark.parametrize("options", [{}, {"native": True}], ids=str)
@pytest.mark.parametrize("model", ["four-bar", "rssr"])
def test_values_are_those_of_the_kernels(model: str, options: dict[str, Any]) -> None:
    cases.values(tools(), model, **options)


@pytest.mark.parametrize(("mode", "options"), [("jacrev", {}), ("jacfwd", {}), ("jacrev", {"native": True})], ids=str)
@pytest.mark.parametrize("model", ["four-bar", "rssr"])
def test_derivatives_are_those_of_the_kernels(model: str, mode: str, options: dict[str, Any]) -> None:
    cases.slopes(tools(mode), model, **options)


@pytest.mark.parametrize(("mode", "model"), [("jacrev", "five-bar"), ("jacfwd", "rssr")])
def test_steps_are_those_of_the_stepper(mode: str, model: str) -> None:
    cases.steps(tools(mode), model)


@pytest.mark.parametrize(("mode", "model"), [("jacrev", "five-bar"), ("jacfwd", "rssr")])
def test_positions_of_the_drives_close_the_loops(mode: str, model: str) -> None:
    cases.driven(tools(mode), model)


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
def test_free_numbers_have_derivatives(mode: str) -> None:
    import torch

    cases.free_numbers(tools(mode), torch.cat)


@pytest.mark.parametrize("name", ["forward", "inverse"])
def test_gradcheck_passes(name: str) -> None:
    """Both modes of PyTorch's own check; accelerations of some 100 rad/s^2 in differences of 1e-6 leave 1e-4."""
    import torch

    s, *given = cases.case("four-bar")
    f = s.torch()
    inputs = [torch.from_numpy(np.stack([x, x])).requires_grad_() for x in given]
    assert torch.autograd.gradcheck(lambda *x: tuple(getattr(f, name)(*x)), inputs, eps=1e-6, atol=1e-4, rtol=1e-4, check_forward_ad=True)


def test_vmap_and_leading_axes_agree_with_single_states() -> None:
    import torch

    s, q, v, tau = cases.case("four-bar")
    f, rng = s.torch(), np.random.default_rng(2)
    Q, T = q + 0.01 * rng.normal(size=(3, 5, 3)), rng.normal(size=(5, 3))
    wanted = s.kernel("forward")(Q, v, T).a
    by_vmap = torch.func.vmap(torch.func.vmap(lambda x, u: f.forward(x, v, u).a), in_dims=(0, None))
    assert (by_vmap(torch.from_numpy(Q), torch.from_numpy(T)).numpy() == wanted).all()
    assert (f.forward(Q, v, T).a.numpy() == wanted).all()

    def total(x: Any) -> Any:
        return f.forward(x, v, tau).a.square().sum()

    batch = torch.func.vmap(torch.func.grad(total))(torch.from_numpy(Q[0]))
    leaf = torch.from_numpy(Q[0]).requires_grad_()
    total(leaf).backward()
    cases.same(batch.numpy(), leaf.grad.numpy())


def test_second_derivatives_are_those_of_native_functions() -> None:
    import torch

    s, q, v, tau = cases.case("four-bar")
    at = torch.from_numpy(q)

    def total(x: Any, **options: Any) -> Any:
        return s.torch(**options).forward(x, v, tau).a.square().sum()

    exact = cases.differences(lambda x: torch.func.grad(total)(torch.from_numpy(x)).numpy(), q)
    cases.same(torch.func.hessian(lambda x: total(x, native=True))(at).numpy(), exact, cases.SLOPE)
    with pytest.raises(UsageError, match=r"s.torch\(native=True\)"):
        torch.func.hessian(total)(at)


def test_32_bits_are_cast() -> None:
    import torch

    s, q, v, tau = cases.case("four-bar")
    leaf = torch.from_numpy(q).float().requires_grad_()
    found = s.torch().forward(leaf, v, tau).a
    assert found.dtype == torch.float64
    found.sum().backward()
    assert leaf.grad.dtype == torch.float32
    assert (s.torch().forward(list(q), list(v), list(tau)).a.numpy() == s.kernel("forward")(q, v, tau).a).all()
    with pytest.raises(UsageError, match="arrays of numbers, not None"):
        s.torch().forward(None, v, tau)
    with pytest.raises(UsageError, match="real numbers"):
        s.torch().forward(torch.from_numpy(q + 0j), v, tau)
    with pytest.raises(UsageError, match="kernels run on the processor"):
        s.torch().forward(torch.zeros(3, device="meta"), v, tau)


def test_states_without_an_answer() -> None:
    """One raises, as a kernel does; of a batch they are not a number."""
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    singular, tau = s.assemble(q={"A": 0.5 * np.pi}).q, np.array([1.0, 0.0])
    with pytest.raises(SingularityError):
        s.torch().forward(singular, np.zeros(2), tau)
    found = s.torch().forward(np.array([s.start.q, singular]), np.zeros(2), tau).a.numpy()
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
    f = lw.compile("four-bar").torch(parameters="L1")
    with pytest.raises(SingularityError, match="do not close"):
        f.kinematics(np.array([0.9]), parameters=np.array([5.0]))  # a crank of five meters
    both = f.kinematics(np.array([0.9]), parameters=np.array([[5.0], [f.parameters["L1"]]])).q.numpy()
    assert np.isnan(both[0]).all() and np.isfinite(both[1]).all()


def test_time_and_quaternions_of_open_chains() -> None:
    check_time_and_quaternions("torch")


def test_blocks_of_the_docs_run() -> None:
    run_with("PyTorch")
