"""The compiled side of a System: its kernels, their derivatives, and the same as source text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwright.errors import UsageError
from linkwright.model.description import Description
from linkwright.model.parameters import Parameter, choose, every_parameter
from linkwright.motion.inputs import efforts
from linkwright.numerics.pickling import essentials

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels
    from linkwright.mechanics.constraints.loops import Loops
    from linkwright.motion.assembly import Assembler
    from linkwright.results.state import State

ENGINES = ("native", "python")


class Derivatives(NamedTuple):
    """a, lam and their derivatives: rows are entries of a or lam, columns those of v (for q and v), tau or the free parameters."""

    a: Any
    lam: Any
    a_q: Any
    lam_q: Any
    a_v: Any
    lam_v: Any
    a_tau: Any
    lam_tau: Any
    a_free: Any
    lam_free: Any


class Compiled:
    """What System gains by compilation."""

    __getstate__ = essentials

    if TYPE_CHECKING:
        description: Description
        loops: Loops
        assembler: Assembler

        @property
        def start(self) -> State: ...

    def set_up_kernels(self, described: Description, free: Sequence[str], engine: str) -> None:
        """Remember how kernels are to be made; nothing is compiled yet."""
        if engine not in ENGINES:
            raise UsageError(f"engine is 'native' or 'python', not {engine!r}.")
        self.described, self.engine = described, engine  # parameters still expressions
        self.free: tuple[Parameter, ...] = tuple(choose(every_parameter(described), list(free), described)) if free else ()

    @cached_property
    def stores(self) -> dict[str, Any]:
        """Cache of objects that other layers made for this mechanism; not pickled."""
        return {}

    @cached_property
    def kernels(self) -> Kernels:
        """Return the kernels of this mechanism, made on demand."""
        from linkwright.kernels.kernels import Kernels
        from linkwright.kernels.rank_revealing import answers

        drives = tuple(d.joint for d in self.description.drives)

        return Kernels(self.loops, self.described, drives, self.free, self.assembler.first_position, answers, self.engine)

    def kernel(self, name: str, formulation: Any = None, *, drives: Sequence[str] | None = None, baumgarte: bool = False) -> Kernel:
        """Return a compiled function of the state, for one state or arrays of states: `s.kernel("forward")(Q, V, TAU)`.

        Names: forward, inverse, loads, reactions, closure, kinematics, projection, terms, energy, poses, points, rates.
        Arrays are in the order of names.q and names.v; results come back as a named tuple. `formulation` (of forward and
        rates) is sslm, slm or kkt; `baumgarte` adds an input `gains` (alpha, beta).
        `drives` replaces the model's.
        """
        return self.kernels.get(name, formulation, drives, baumgarte=baumgarte)

    def derivatives(self, st: State, tau: Any = None, *, free: Any = None) -> Derivatives:
        """Return exact derivatives of accelerations and multipliers by positions, velocities, efforts and free parameters.

        Positions move in the space of v (names.v). For arrays of states: `s.kernel("derivatives")(Q, V, TAU)`.
        """
        effort, pushes = efforts(self.assembler, st, tau)
        if pushes:
            raise UsageError("derivatives take efforts of the tree's joints (names.v); an effort in a cut joint needs other cuts=.")
        more = {} if free is None else {"free": free}
        found = self.kernel("derivatives")(st.q, st.v, effort, near=self.loops.skel.pack(st.near), t=st.t, **more)
        empty = {name: None for name in Derivatives._fields}
        return Derivatives(**{**empty, **found._asdict()})

    def javascript(self, names: Sequence[str] | None = None, **options: Any) -> str:
        """Return a script for pages and node that computes this mechanism by itself. Options: free, drives, name."""
        from linkwright.kernels import export

        return export.javascript(self.kernels, names, **options)

    def c(self, names: Sequence[str] | None = None, **options: Any) -> dict[str, str]:
        """Return C99 sources of kernels by file name, model.h and model.c. Options: free, drives, name."""
        from linkwright.kernels import export

        return export.c(self.kernels, names, **options)
