"""Derivatives of kernels as one operation of JAX with two directions: forward by a kernel of Jacobians, backward by one in reverse mode.

    changes of outputs = D(values) changes of inputs        weights of inputs = weights of outputs D(values)

JAX can transpose a product with Jacobians by itself, but then they are computed: for the gradient of a platform's accelerations that is
thirty times the work. Values are held: the operation is linear in changes alone, and has no derivatives by values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NoReturn, Protocol

from linkwright.errors import UsageError


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
    raise UsageError("kernels have derivatives of first order; s.jax(native=True) has every order, and takes long to compile.")


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
