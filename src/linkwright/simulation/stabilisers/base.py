"""Contract of a stabiliser, its correction after a step, and the combination of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linkwright.errors import UsageError

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels

Inputs = dict[str, np.ndarray]


class Correction(NamedTuple):
    """Correction after every step. The kernel reads the row q, v, t, tau, [gains], free, near of the time stepper and gives
    q, v, residual, rate_residual, correction (dimensionless).

    Not `once`: each call is one Newton step from the position handed in, v is made consistent at that position, and the
    residuals are those found there. `once`: one call is all; q and v are final, `residual` is what is left, `rate_residual`
    and `correction` say what was corrected.
    """

    kernel: Kernel
    answer: Callable[[Inputs], dict[str, Any]]  # the same on floats, for states the kernel refuses
    once: bool
    settings: dict[str, Any]  # what was chosen for this mechanism, for the certificate


class Stabiliser(Protocol):
    """How a run keeps its loops closed. Fields of plain numbers; adding one is a file and a line in `STABILISERS`."""

    @property
    def name(self) -> str: ...

    @property
    def gains(self) -> tuple[float, float] | None:
        """(alpha, beta) of the terms alpha (J v + b) + beta phi added to k, or None."""
        ...

    @property
    def corrects(self) -> str:
        """ "" | "project" | "adjust": what happens to a state after a step."""
        ...

    @property
    def settings(self) -> dict[str, Any]:
        """Names and numbers for the certificate."""
        ...

    @property
    def text(self) -> str:
        """One line for people."""
        ...

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        """Return the correction after a step, or None. (q, near): the start; `drives`: joints moved by efforts, which stay as they are;
        `gains`: the rates of this run read gains, so the row has them."""
        ...


class Addable:
    """Stabilisers can be added: `Baumgarte() + PostAdjust()`."""

    def __add__(self, other: Any) -> Stabiliser:
        return combined([self, other])


@dataclass(frozen=True)
class Combined(Addable):
    """Terms in the equations by one stabiliser, and a correction after every step by another."""

    equations: Stabiliser
    after: Stabiliser

    @property
    def name(self) -> str:
        return f"{self.equations.name}+{self.after.name}"

    @property
    def gains(self) -> tuple[float, float] | None:
        return self.equations.gains

    @property
    def corrects(self) -> str:
        return self.after.corrects

    @property
    def settings(self) -> dict[str, Any]:
        return {**self.equations.settings, **self.after.settings, "stabiliser": self.name}

    @property
    def text(self) -> str:
        return f"{self.equations.text}; {self.after.text}"

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        return self.after.correction(kernels, q, near, drives, gains=True)


def combined(parts: Sequence[Any]) -> Stabiliser:
    """One stabiliser of several: at most one in the equations, at most one after the step, and they must be different ones."""
    flat = [x for p in parts for x in ((p.equations, p.after) if isinstance(p, Combined) else (p,))]
    if len(flat) == 1:
        return flat[0]
    equations = [p for p in flat if p.gains is not None]
    after = [p for p in flat if p.corrects]
    if len(flat) != 2 or len(equations) != 1 or len(after) != 1:
        raise UsageError(
            f"{' + '.join(p.name for p in flat) or 'an empty list'} is no combination of stabilisers: combine 'baumgarte' with one "
            "that corrects after every step, 'post_adjust' or 'project'."
        )
    return Combined(equations[0], after[0])
