"""Kernels as functions of JAX: custom calls of XLA straight into machine code, callbacks into Python, or JAX's own operations.

    calls      the default: a handler of XLA's foreign function interface (`compiler.xla`), no Python on the way
    callbacks  `jax.pure_callback`: without llvmlite, and with repair=True, because only Python has the rank-revealing path
    native     the flat program as JAX operations: every order of derivatives, and other devices than the processor

Derivatives of the first two come from kernels, in forward and in reverse mode.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from linkwright.api import UsageError, programs, tolerances
from linkwright.kernels.kernel import Kernel
from linkwright.rings.exchange.bridges import differentiable_kernels
from linkwright.rings.exchange.bridges.differentiable_kernels import KernelCall, column, lead_of, on_host
from linkwright.rings.exchange.bridges.mechanism_functions import NEWTON_STEPS
from linkwright.rings.exchange.bridges.optional_packages import package

Values = tuple[Any, ...]


@dataclass(frozen=True)
class JaxLibrary:
    """How kernels become functions of JAX."""

    native: bool = False
    repair: bool = False
    return_status: bool = False
    made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # derivatives
    name = "JAX"

    def __post_init__(self) -> None:
        self.need_doubles()
        if self.native and (self.repair or self.return_status):
            raise UsageError("native=True has no status and no repair: give it alone.", name="native")

    @property
    def second(self) -> bool:
        return self.native

    def need_doubles(self) -> None:
        """Raise UsageError where JAX computes with 32 bits."""
        jax = package("jax", "s.jax()")
        if jax.dtypes.canonicalize_dtype(np.float64) != np.float64:
            raise UsageError("s.jax() computes with 64 bits, and JAX is set to 32: jax.config.update('jax_enable_x64', True), then again.")

    # ---------------------------------------------------------------- functions

    def function(self, call: KernelCall) -> Callable[..., Values]:
        """Return a function of all inputs with any leading axes, which broadcast."""
        import jax.numpy as jnp

        inner = self._native(call) if self.native else self._differentiable(call)

        def outer(*given: Any) -> Values:
            self.need_doubles()
            arrays = [self.array(x) for x in given]
            leads = [call.leading(b, x.shape) for b, x in zip(call.inputs, arrays, strict=True)]
            lead = call.common(leads)
            return inner(*(jnp.broadcast_to(x, (*lead, *b.shape)) for b, x in zip(call.inputs, arrays, strict=True)))

        return outer

    def applied(self, call: KernelCall, function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs of a function."""
        return function(*arguments)

    def result(self, call: KernelCall) -> Any:
        """Return the named tuple of a function's outputs."""
        if not self.return_status:
            return call.Result
        return namedtuple(f"{call.Result.__name__}WithStatus", (*call.Result._fields, "status"))

    def _values(self, kernel: Kernel, names: Sequence[str], arrays: Sequence[Any]) -> tuple[dict[str, Any], Any]:
        """Outputs of a kernel by name and the status of every state, by machine code or Python; `names` of the arrays."""
        import jax

        given = dict(zip(names, arrays, strict=True))
        lead = lead_of(kernel.inputs[0], given[kernel.inputs[0].name])
        shapes = [jax.ShapeDtypeStruct((*lead, *x.shape), np.float64) for x in kernel._every_output]
        status = jax.ShapeDtypeStruct(lead, np.int8)
        if kernel.native and not self.repair:
            found = _custom_call(kernel)([*shapes, status])(*(given[x.name] for x in kernel.inputs))
            return {x.name: y for x, y in zip(kernel._every_output, found, strict=False)}, found[-1]
        delivered = [jax.ShapeDtypeStruct((*lead, *x.shape), np.float64) for x in kernel.outputs]

        def host(*x: Any) -> Values:
            whole = [np.asarray(y)[None] for y in x]  # never one state alone, which would raise
            out = [y[0] for y in on_host(kernel, [b.name for b in kernel.inputs], whole)]
            good = [np.isfinite(y.reshape(*lead_of(b, y), -1)).all(-1) for b, y in zip(kernel.outputs, out, strict=True)]
            return *out, np.asarray(~np.all(good, axis=0), dtype=np.int8)

        found = jax.pure_callback(host, (*delivered, status), *(given[x.name] for x in kernel.inputs), vmap_method="broadcast_all")
        return {x.name: y for x, y in zip(kernel.outputs, found, strict=False)}, found[-1]

    def _outputs(self, call: KernelCall, found: dict[str, Any], status: Any) -> Values:
        values = tuple(found[b.name] for b in call.outputs)
        return (*values, status) if self.return_status else values

    def _differentiable(self, call: KernelCall) -> Callable[..., Values]:
        """With derivatives by kernels."""
        import jax
        from jax.custom_derivatives import SymbolicZero

        names = [b.name for b in call.inputs]

        @jax.custom_jvp
        def f(*x: Any) -> Values:
            return self._outputs(call, *self._values(call.kernel, names, x))

        def jvp(primals: Values, tangents: Values) -> tuple[Values, Values]:
            moved = {n: d for n, d in zip(names, tangents, strict=True) if n in call.varied and not isinstance(d, SymbolicZero)}
            y = f(*primals)
            linear = self._derivative(call, tuple(moved))
            found = dict(zip(linear.outputs, applied(linear, primals, list(moved.values())), strict=True)) if moved else {}
            changes = [found[b] if b in found else _zeros(x) for b, x in zip([b.name for b in call.outputs], y, strict=False)]
            return y, (*changes, *(_zeros(x) for x in y[len(changes) :]))

        f.defjvp(jvp, symbolic_zeros=True)
        return f

    def _derivative(self, call: KernelCall, by: tuple[str, ...]) -> _Derivative:
        """The derivative of a kernel by some inputs; equal ones are the same object."""
        key = (call, by)
        if key not in self.made:
            self.made[key] = _Derivative(self, call, by)
        return self.made[key]

    def _native(self, call: KernelCall) -> Callable[..., Values]:
        """The flat program as operations of JAX."""
        import jax.numpy as jnp

        functions = _functions()

        def f(*x: Any) -> Values:
            lead = lead_of(call.inputs[0], x[0])
            packed = jnp.concatenate([y.reshape(*lead, -1) for y in x], axis=-1)
            found = differentiable_kernels.evaluate(call.program, [packed[..., i] for i in range(call.program.n_in)], functions, float)
            shaped = [jnp.broadcast_to(jnp.asarray(y, dtype=jnp.float64), lead) for y in found]
            return tuple(
                jnp.stack(shaped[b.span], axis=-1).reshape(*lead, *b.shape) if b.size else jnp.zeros((*lead, *b.shape))
                for b in call.program.outputs
            )

        return f

    # ---------------------------------------------------------------- parts of composed functions

    def solved(self, call: KernelCall, arguments: Sequence[Any]) -> Any:
        """Return q of kernel `kinematics` without derivatives."""
        import jax
        import jax.numpy as jnp

        f, at = self.function(call), [b.name for b in call.outputs].index("residual")
        arrays = [jax.lax.stop_gradient(self.array(x)) for x in arguments]
        lead = call.common([call.leading(b, x.shape) for b, x in zip(call.inputs, arrays, strict=True)])
        first = jnp.broadcast_to(arrays[0], (*lead, *call.inputs[0].shape))

        def going(state: Values) -> Any:
            _, gap, n = state
            return (n < NEWTON_STEPS) & jnp.any(gap > 0.01 * tolerances.OPEN_STEP)

        def newton(state: Values) -> Values:
            found = f(state[0], *arrays[1:])
            return found[0], found[at], state[2] + 1

        return jax.lax.stop_gradient(jax.lax.while_loop(going, newton, (first, jnp.full((*lead, 1), jnp.inf), 0))[0])

    def array(self, x: Any) -> Any:
        import jax.numpy as jnp

        try:
            y = jnp.asarray(x)
        except (TypeError, ValueError):
            raise UsageError(f"functions of s.jax() take arrays of numbers, not {x!r:.60}.", value=x) from None
        if not (jnp.issubdtype(y.dtype, jnp.floating) or jnp.issubdtype(y.dtype, jnp.integer)):
            raise UsageError(f"functions of s.jax() take real numbers, not {y.dtype}.", value=y.dtype)
        return y.astype(jnp.float64)

    def stack(self, numbers: Sequence[Any]) -> Any:
        import jax.numpy as jnp

        return jnp.stack(jnp.broadcast_arrays(*(self.array(x) for x in numbers)), axis=-1)

    def checked(self, x: Any, measure: Any, most: float) -> Any:
        import jax.numpy as jnp

        return jnp.where(measure <= most, x, jnp.nan)

    def unit(self, q: Any, places: Sequence[int]) -> Any:
        import jax.numpy as jnp

        for at in places:
            part = q[..., at : at + 4]
            q = q.at[..., at : at + 4].set(part / jnp.sqrt(jnp.sum(part * part, axis=-1, keepdims=True)))
        return q

    def repeated(self, n: int, step: Callable[[Any, Any, Any], Values], q: Any, v: Any, t: Any) -> Values:
        import jax
        import jax.numpy as jnp

        if n == 1:
            return step(q, v, t)
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], t.shape[:-1])
        first = tuple(jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in (q, v, t))
        return jax.lax.scan(lambda x, _: (step(*x), None), first, None, length=n)[0]


@dataclass(frozen=True, eq=False)
class _Derivative:
    """Derivatives of a kernel by some of its inputs."""

    library: JaxLibrary
    call: KernelCall
    by: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [b.name for b in self.call.inputs]

    @property
    def held(self) -> int:
        return len(self.call.inputs)

    @property
    def outputs(self) -> list[str]:
        return [b.name for b in self._varied]

    @property
    def _varied(self) -> list[programs.Block]:
        return [b for b in self.call.outputs if self.call.has_derivative(b.name)]

    def shapes(self, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        lead = shapes[0][: len(shapes[0]) - len(self.call.inputs[0].shape)]
        return [(*lead, *b.shape) for b in self._varied]

    def push(self, values: Sequence[Any], changes: Sequence[Any]) -> list[Any]:
        found, _ = self.library._values(self.call.derivative(self.by), self.names, values)
        parts = [[_times(b, found[f"{b.name}_{column(n)}"], d) for n, d in zip(self.by, changes, strict=True)] for b in self._varied]
        return [sum(x[1:], x[0]) for x in parts]

    def pull(self, values: Sequence[Any], weights: Mapping[int, Any]) -> list[Any]:
        import jax

        of = {self._varied[i].name: w for i, w in weights.items()}
        names = [*self.names, *(f"{n}_weight" for n in of)]

        @jax.custom_jvp
        def gradient(*x: Any) -> dict[str, Any]:
            return self.library._values(self.call.gradient(self.by, tuple(of)), names, x)[0]

        gradient.defjvp(refused)
        found = gradient(*values, *of.values())
        return [found[f"{column(n)}_gradient"] for n in self.by]


def _zeros(x: Any) -> Any:
    """The derivative of an output that has none: of whole numbers it has a type of its own."""
    import jax

    return np.zeros(x.shape, jax.dtypes.float0) if np.issubdtype(x.dtype, np.integer) else jax.numpy.zeros_like(x)


def _times(b: programs.Block, D: Any, d: Any) -> Any:
    """Derivatives (..., *shape, n) of an output along a direction (..., n)."""
    lead = d.shape[:-1]
    return (D.reshape(*lead, b.size, d.shape[-1]) @ d[..., None]).reshape(*lead, *b.shape)


def _custom_call(kernel: Kernel) -> Callable[[Sequence[Any]], Callable[..., Any]]:
    """Register the handler of a kernel; return what makes a call of results of given shapes."""
    import jax

    from linkwright.compiler import xla

    name, address = xla.handler(kernel.code, _minor())
    if name not in _REGISTERED:
        jax.ffi.register_ffi_target(name, xla.capsule(address), platform="cpu")
        _REGISTERED.add(name)
    return lambda shapes: jax.ffi.ffi_call(name, shapes, vmap_method="broadcast_all")


_REGISTERED: set[str] = set()


def _minor() -> int:
    """Version of XLA's foreign function interface, from the header that comes with it."""
    import jax

    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    found = re.search(r"#define XLA_FFI_API_MINOR (\d+)", header.read_text(encoding="utf-8"))
    if found is None:
        raise UsageError("this version of jaxlib does not give the version of its foreign function interface. Use s.jax(repair=True).")
    return int(found[1])


def _functions() -> dict[str, Callable[..., Any]]:
    import jax.numpy as jnp

    return {
        "sqrt": jnp.sqrt, "abs": jnp.abs, "sin": jnp.sin, "cos": jnp.cos, "exp": jnp.exp, "log": jnp.log, "tanh": jnp.tanh,
        "atan2": jnp.arctan2, "pow": jnp.power, "round": jnp.rint, "min": jnp.minimum, "max": jnp.maximum,
        "lt": lambda a, b: jnp.where(jnp.less(a, b), 1.0, 0.0), "le": lambda a, b: jnp.where(jnp.less_equal(a, b), 1.0, 0.0),
        "select": lambda c, a, b: jnp.where(jnp.not_equal(c, 0.0), a, b),
    }  # fmt: skip


# Derivatives of kernels as one operation of JAX with two directions: forward by a kernel of Jacobians, backward by one in reverse mode.
#
#     changes of outputs = D(values) changes of inputs        weights of inputs = weights of outputs D(values)
#
# JAX can transpose a product with Jacobians by itself, but then they are computed: for the gradient of a platform's accelerations that is
# thirty times the work. Values are held: the operation is linear in changes alone, and has no derivatives by values.


class LinearMap(Protocol):
    """A linear map at values, with its transpose. All arrays have the same leading axes; equal maps are the same object."""

    @property
    def held(self) -> int:
        """How many of the arguments are values; the others are changes."""
        ...

    def shapes(self, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the shapes of the results from those of all arguments."""
        ...

    def push(self, values: Sequence[Any], changes: Sequence[Any]) -> Sequence[Any]:
        """Return changes of the outputs."""
        ...

    def pull(self, values: Sequence[Any], weights: Mapping[int, Any]) -> Sequence[Any]:
        """Return weights of all changes from those of some outputs, by index."""
        ...


def applied(linear: LinearMap, values: Sequence[Any], changes: Sequence[Any]) -> list[Any]:
    """Return the changes of the outputs."""
    return _primitive().bind(*values, *changes, linear=linear)


def refused(*_: Any) -> NoReturn:
    """Raise UsageError about second derivatives."""
    raise UsageError(
        "kernels have derivatives of first order. s.jax(native=True) has every order, and takes long to compile.", name="kernel"
    )


@cache
def _primitive() -> Any:
    """The operation, with its rules for jit, vmap, forward and reverse mode."""
    import jax.numpy as jnp
    from jax.core import ShapedArray
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    made = Primitive("linkwright_derivative")
    made.multiple_results = True

    def push(*given: Any, linear: LinearMap) -> list[Any]:
        return list(linear.push(given[: linear.held], given[linear.held :]))

    def abstract(*given: Any, linear: LinearMap) -> list[Any]:
        return [ShapedArray(shape, jnp.float64) for shape in linear.shapes([x.shape for x in given])]

    def ahead(given: Sequence[Any], changes: Sequence[Any], *, linear: LinearMap) -> tuple[list[Any], list[Any]]:
        if not all(isinstance(x, ad.Zero) for x in changes[: linear.held]):
            refused()
        moved = [ad.instantiate_zeros(x) for x in changes[linear.held :]]
        return made.bind(*given, linear=linear), made.bind(*given[: linear.held], *moved, linear=linear)

    def back(weights: Sequence[Any], *given: Any, linear: LinearMap) -> list[Any]:
        chosen = {i: w for i, w in enumerate(weights) if not isinstance(w, ad.Zero)}
        if not chosen:
            return [None] * len(given)
        found = linear.pull(given[: linear.held], chosen)
        return [None] * linear.held + [w if ad.is_undefined_primal(x) else None for w, x in zip(found, given[linear.held :], strict=True)]

    def batch(given: Sequence[Any], axes: Sequence[Any], *, linear: LinearMap) -> tuple[list[Any], list[int]]:
        size = next(x.shape[at] for x, at in zip(given, axes, strict=True) if isinstance(at, int))
        whole = [
            jnp.moveaxis(x, at, 0) if isinstance(at, int) else jnp.broadcast_to(x, (size, *x.shape))
            for x, at in zip(given, axes, strict=True)
        ]
        found = made.bind(*whole, linear=linear)
        return found, [0] * len(found)

    made.def_impl(push)
    made.def_abstract_eval(abstract)
    ad.primitive_jvps[made] = ahead
    ad.primitive_transposes[made] = back
    batching.primitive_batchers[made] = batch
    mlir.register_lowering(made, mlir.lower_fun(push, multiple_results=True))
    return made
