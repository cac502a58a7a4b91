"""Kernels as functions of PyTorch: autograd Functions over numpy views, or PyTorch's own operations.

A Function has `backward` by kernels in reverse mode, `jvp` by kernels in forward mode and `vmap` by leading axes, so autograd, torch.func
and gradcheck work. Their derivatives are Functions of their own with `vmap`, and end there: second derivatives need native=True, the flat
program as PyTorch operations, which also runs on other devices and is slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import SingularityError, UsageError, programs, tolerances
from linkwright.kernels.kernel import Kernel
from linkwright.rings.exchange.bridges import differentiable_kernels
from linkwright.rings.exchange.bridges.differentiable_kernels import KernelCall, column, lead_of, on_host
from linkwright.rings.exchange.bridges.mechanism_functions import NEWTON_STEPS
from linkwright.rings.exchange.bridges.optional_packages import package

Tensors = tuple[Any, ...]


@dataclass(frozen=True)
class TorchLibrary:
    """How kernels become functions of PyTorch."""

    native: bool = False
    made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # Functions that close loops, by kernel
    name = "PyTorch"

    def __post_init__(self) -> None:
        package("torch", "s.torch()")

    @property
    def second(self) -> bool:
        return self.native

    # ---------------------------------------------------------------- functions

    def function(self, call: KernelCall) -> Callable[..., Tensors]:
        """Return a function of all inputs with any leading axes, which broadcast."""
        inner = _native(call) if self.native else _Functions(call).value().apply

        def outer(*given: Any) -> Tensors:
            return tuple(inner(*self._broadcast(call, given)))

        return outer

    def applied(self, call: KernelCall, function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs of a function."""
        return function(*arguments)

    def _broadcast(self, call: KernelCall, given: Sequence[Any]) -> list[Any]:
        """All inputs as tensors of 64 bits with the same leading axes, on the processor unless native."""
        import torch

        tensors = [x for x in given if isinstance(x, torch.Tensor)]
        device = tensors[0].device if tensors else torch.device("cpu")
        arrays = [self.array(x) for x in given]
        arrays = [x if x.device == device else x.to(device) for x in arrays]
        if device.type != "cpu" and not self.native:
            raise UsageError(
                f"kernels run on the processor, and these tensors are on '{device}': tensor.cpu(), or s.torch(native=True).", name=device
            )
        lead = call.common([call.leading(b, x.shape) for b, x in zip(call.inputs, arrays, strict=True)])
        return [
            x if len(x.shape) == len(lead) + len(b.shape) and x.shape[: len(lead)] == lead else x.expand(*lead, *b.shape)
            for b, x in zip(call.inputs, arrays, strict=True)
        ]

    # ---------------------------------------------------------------- parts of composed functions

    def solved(self, call: KernelCall, arguments: Sequence[Any]) -> Any:
        """Return q of kernel `kinematics` without derivatives."""
        arrays = [x.detach() for x in self._broadcast(call, arguments)]
        if call not in self.made:
            self.made[call] = _Functions(call).closing()
        return self.made[call].apply(*arrays)[0].detach()

    def array(self, x: Any) -> Any:
        import torch

        if isinstance(x, torch.Tensor):
            y = x
        else:
            given = _plain(x)
            if given.dtype.kind not in "iufcb":
                raise UsageError(f"functions of s.torch() take tensors and arrays of numbers, not {x!r:.60}.", value=x)
            y = torch.as_tensor(given)
        if y.dtype is torch.float64:
            return y
        if y.is_complex() or y.dtype == torch.bool:
            raise UsageError(f"functions of s.torch() take real numbers, not {y.dtype}.", value=y.dtype)
        return y.to(torch.float64)

    def stack(self, numbers: Sequence[Any]) -> Any:
        import torch

        return torch.stack(torch.broadcast_tensors(*(self.array(x) for x in numbers)), dim=-1)

    def checked(self, x: Any, measure: Any, most: float) -> Any:
        import torch

        return torch.where(measure <= most, x, torch.nan)

    def unit(self, q: Any, places: Sequence[int]) -> Any:
        import torch

        for at in places:
            part = q[..., at : at + 4]
            q = torch.cat([q[..., :at], part / part.square().sum(-1, keepdim=True).sqrt(), q[..., at + 4 :]], dim=-1)
        return q

    def repeated(self, n: int, step: Callable[[Any, Any, Any], Tensors], q: Any, v: Any, t: Any) -> Tensors:
        for _ in range(n):
            q, v, t = step(q, v, t)
        return q, v, t


# -------------------------------------------------------------------- autograd Functions


def _plain(x: Any) -> np.ndarray:
    """Numbers as numpy reads them: PyTorch would make 32 bits of those of Python."""
    try:
        return np.asarray(x)
    except (TypeError, ValueError, RuntimeError):
        return np.asarray(None)


def _cores() -> int | None:
    """One thread where PyTorch has several: its threads spin while ours compute."""
    import torch

    return 1 if torch.get_num_threads() > 1 else None


@dataclass(frozen=True, eq=False)
class _Functions:
    """Makes the autograd Functions of a kernel."""

    call: KernelCall
    made: dict[Any, Any] = field(default_factory=dict)  # those of derivatives

    @property
    def names(self) -> list[str]:
        return [b.name for b in self.call.inputs]

    def value(self) -> Any:
        """The kernel itself, with derivatives of first order."""
        call, names = self.call, self.names
        delivered = [b.name for b in call.outputs]

        def back(ctx: Any, *weights: Any) -> Any:
            by = tuple(n for n, needed in zip(names, ctx.needs_input_grad, strict=True) if needed and n in call.varied)
            given = {n: w for n, w in zip(delivered, weights, strict=True) if w is not None and call.has_derivative(n)}
            if not by or not given:
                return (None,) * len(names)
            kernel = call.gradient(by, tuple(given))
            found = self._last(kernel, [*names, *(f"{n}_weight" for n in given)], [f"{column(n)}_gradient" for n in by])
            slopes = dict(zip(by, found.apply(*ctx.saved_tensors, *given.values()), strict=True))
            return tuple(slopes.get(n) for n in names)

        def ahead(ctx: Any, *changes: Any) -> Any:
            import torch

            moved = {n: d for n, d in zip(names, changes, strict=True) if d is not None and n in call.varied}
            varied = [b for b in call.outputs if call.has_derivative(b.name)]
            kernel = call.derivative(tuple(moved)) if moved else None
            wanted = [f"{b.name}_{column(n)}" for b in varied for n in moved]
            x = ctx.saved_tensors
            found = iter(self._last(kernel, names, wanted).apply(*x) if kernel is not None else ())
            sums = {b.name: sum(_times(b, next(found), d) for d in moved.values()) for b in varied}
            lead = lead_of(call.inputs[0], x[0])
            still = {b.name: torch.zeros(*lead, *b.shape, dtype=torch.float64) for b in call.outputs if b not in varied or not moved}
            return tuple({**sums, **still}[n] for n in delivered)

        return _function(self._host(call.kernel, names, delivered), back, ahead, f"Linkwright_{call.name}")

    def closing(self) -> Any:
        """q by Newton's method, without derivatives."""
        call, names = self.call, self.names

        def host(*arrays: Any) -> list[np.ndarray]:
            q, alone = arrays[0][None], arrays[0].ndim == 1  # never one state alone, which would raise
            rest, gap = [x[None] for x in arrays[1:]], np.full(1, np.inf)
            for _ in range(NEWTON_STEPS):
                found = dict(zip([b.name for b in call.outputs], on_host(call.kernel, names, [q, *rest], _cores()), strict=True))
                q, gap = found["q"], found["residual"]
                if not (gap > 0.01 * tolerances.OPEN_STEP).any():
                    break
            if alone and not gap.max() <= tolerances.OPEN_STEP:
                raise SingularityError("the loops do not close at these positions of the drives from this guess: give one that is nearer.")
            return [q[0]]

        return _function(host, None, None, f"Linkwright_{call.name}_closed")

    def _last(self, kernel: Kernel, names: Sequence[str], wanted: Sequence[str]) -> Any:
        """A kernel of derivatives, which has none of its own."""
        key = (kernel.name, tuple(b.name for b in kernel.inputs), *wanted)
        if key not in self.made:
            self.made[key] = _function(self._host(kernel, names, wanted), _refused, _refused, f"Linkwright_{self.call.name}_derivatives")
        return self.made[key]

    def _host(self, kernel: Kernel, names: Sequence[str], wanted: Sequence[str]) -> Callable[..., list[np.ndarray]]:
        """A kernel on arrays, giving some of its outputs."""
        places = [[b.name for b in kernel.outputs].index(n) for n in wanted]

        def host(*arrays: Any) -> list[np.ndarray]:
            found = on_host(kernel, names, arrays, _cores())
            return [found[i] for i in places]

        return host


def _refused(*_: Any) -> Any:
    raise UsageError("kernels have derivatives of first order. s.torch(native=True) has every order, and is slower.", name="kernel")


def _function(host: Callable[..., list[np.ndarray]], back: Any, ahead: Any, name: str) -> Any:
    """An autograd Function of tensors that share their leading axes, from a function of arrays."""
    import torch

    def forward(*x: Any) -> Tensors:
        return tuple(torch.from_numpy(np.ascontiguousarray(y)) for y in host(*(t.detach().numpy() for t in x)))

    def setup_context(ctx: Any, inputs: Tensors, output: Tensors) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def backward(ctx: Any, *weights: Any) -> Any:
        return (None,) * len(ctx.saved_tensors) if back is None else back(ctx, *weights)

    def jvp(ctx: Any, *changes: Any) -> Any:
        return None if ahead is None else ahead(ctx, *changes)

    def vmap(info: Any, axes: Sequence[int | None], *x: Any) -> tuple[Tensors, tuple[int, ...]]:
        moved = [y.expand(info.batch_size, *y.shape) if at is None else y.movedim(at, 0) for y, at in zip(x, axes, strict=True)]
        found = made.apply(*moved)
        return found, (0,) * len(found)

    methods = {"forward": forward, "setup_context": setup_context, "backward": backward, "jvp": jvp, "vmap": vmap}
    made: Any = type(name, (torch.autograd.Function,), {key: staticmethod(f) for key, f in methods.items()})
    return made


def _times(b: programs.Block, D: Any, d: Any) -> Any:
    """Derivatives (..., *shape, n) of an output along a direction (..., n)."""
    lead = d.shape[:-1]
    return (D.reshape(*lead, b.size, d.shape[-1]) @ d.unsqueeze(-1)).reshape(*lead, *b.shape)


# -------------------------------------------------------------------- operations of PyTorch


def _native(call: KernelCall) -> Callable[..., Tensors]:
    """The flat program as operations of PyTorch."""
    import torch

    one = torch.ones((), dtype=torch.float64)
    functions = {
        "sqrt": torch.sqrt, "abs": torch.abs, "sin": torch.sin, "cos": torch.cos, "exp": torch.exp, "log": torch.log, "tanh": torch.tanh,
        "atan2": torch.atan2, "pow": torch.pow, "round": torch.round, "min": torch.minimum, "max": torch.maximum,
        "lt": lambda a, b: torch.lt(a, b).to(torch.float64), "le": lambda a, b: torch.le(a, b).to(torch.float64),
        "select": lambda c, a, b: torch.where(c != 0.0, a, b),
    }  # fmt: skip

    def f(*x: Any) -> Tensors:
        lead, device = lead_of(call.inputs[0], x[0]), x[0].device
        packed = torch.cat([y.reshape(*lead, -1) for y in x], dim=-1).unbind(-1)
        found = differentiable_kernels.evaluate(call.program, packed, functions, lambda number: (one * number).to(device))
        shaped = [y.expand(lead) for y in found]
        return tuple(
            torch.stack(shaped[b.span], dim=-1).reshape(*lead, *b.shape) if b.size else x[0].new_zeros(*lead, *b.shape)
            for b in call.program.outputs
        )

    return f
