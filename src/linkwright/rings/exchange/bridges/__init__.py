"""Functions of JAX, PyTorch and CasADi that compute one mechanism, with exact derivatives.

    f = s.jax(parameters=["L1", "crank.mass"])        # s.torch(), s.casadi()
    f.forward(q, v, tau, parameters=x).a              # inside jit, grad, vmap of the library

`differentiable_kernels` says what a kernel takes, gives and is differentiated by; a library (`jax_library`, `torch_library`,
`casadi_library`) makes a function of it; `mechanism_functions` composes these into positions of the drives and time steps,
in the same way for every library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkwright.api import UsageError

if TYPE_CHECKING:
    from linkwright.api import Compiled
    from linkwright.rings.exchange.bridges.mechanism_functions import Bridge, Library


def bridge(core: Compiled, library: str, parameters: str | Sequence[str], options: Mapping[str, Any]) -> Bridge:
    """Return the functions of a mechanism for "jax", "torch" or "casadi"; `parameters`, by name or pattern, are inputs."""
    from linkwright.rings.exchange.bridges.mechanism_functions import Bridge

    for key, value in options.items():
        if not isinstance(value, bool):
            raise UsageError(f"{key} of s.{library}() is True or False, not {value!r:.60}.", name=key, value=value)
    chosen = _library(library, options)
    if parameters:
        names = [p.name for p in core.chosen(parameters)]
        if names != [p.name for p in core.parameters]:
            core = core.with_parameters(names)
    return Bridge(core, chosen)


def _library(name: str, options: Mapping[str, Any]) -> Library:
    if name == "jax":
        from linkwright.rings.exchange.bridges.jax_library import JaxLibrary

        return JaxLibrary(**options)
    if name == "torch":
        from linkwright.rings.exchange.bridges.torch_library import TorchLibrary

        return TorchLibrary(**options)
    from linkwright.rings.exchange.bridges.casadi_library import CasadiLibrary

    return CasadiLibrary(**options)
