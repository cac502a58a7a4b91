"""Kernels as functions of CasADi: the flat program as SX expressions, or C made of them and compiled.

SX needs no compiler, has every order of derivatives and the sparsity of the program. `compiled=True` has CasADi write C of a function, its
Jacobian and its adjoint, and loads it as `external`: maps over many states are then some ten times as fast. `hessian=True` adds second
derivatives, which take most of the compiler's time and memory. Neither looks at pivots: in a singular position results are what the
division gives.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkwright.api import LinkwrightError, UsageError, programs
from linkwright.compiler import cache
from linkwright.files import subprocesses
from linkwright.rings.exchange.bridges import differentiable_kernels
from linkwright.rings.exchange.bridges.differentiable_kernels import KernelCall
from linkwright.rings.exchange.bridges.optional_packages import package

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O1", "-fPIC", "-shared")  # long straight code is as fast as with -O2 and compiled in half the time
BYTES, SECONDS = 5.3e3, 1.5e-4  # of an operation: 0.74 GB and 20 s of 172,000, 5.9 GB of 1,293,000 (delta robot)
_FOLDERS: list[Any] = []  # libraries live as long as the process


@dataclass(frozen=True)
class CasadiLibrary:
    """How kernels become functions of CasADi."""

    compiled: bool = False
    hessian: bool = False  # of compiled functions: with second derivatives, which take most of the compiler's time and memory
    made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # functions by kernel
    name = "CasADi"
    second = True

    def __post_init__(self) -> None:
        package("casadi", "s.casadi()")
        if self.hessian and not self.compiled:
            raise UsageError(
                "hessian=True belongs to compiled functions: s.casadi(compiled=True, hessian=True). SX has every derivative.",
                name="hessian",
            )

    # ---------------------------------------------------------------- functions

    def function(self, call: KernelCall) -> Any:
        """Return a casadi.Function with named inputs and outputs."""
        if call not in self.made:
            found = _expressions(call)
            if self.compiled:
                found = external(found, self.hessian)
            self.made[call] = found
        return self.made[call]

    def applied(self, call: KernelCall, function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs for arguments of any kind: SX, MX, DM or arrays."""
        arrays = []
        for b, x in zip(call.inputs, arguments, strict=True):
            y = self.array(x)
            if y.shape not in ((b.size, 1), (1, b.size)):
                names = call.kernels.entries.get(b.name, ())
                order = f": {', '.join(names)}" if len(names) == b.size else ""
                raise UsageError(
                    f"input '{b.name}' of '{call.name}' has shape {y.shape}. It needs ({b.size}, 1){order}. For many states map the "
                    f"casadi.Function: f.function('{call.name}').function.map(n).",
                    name=b.name,
                )
            arrays.append(y if y.shape == (b.size, 1) else y.T)
        try:
            found = function(*arrays)
        except NotImplementedError:
            kinds = ", ".join(sorted({type(x).__name__ for x in arrays}))
            raise UsageError(f"inputs of '{call.name}' are {kinds}. SX and MX cannot be mixed in one call.", name=call.name) from None
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    def solved(self, call: KernelCall, arguments: Sequence[Any]) -> Any:
        """Return q of kernel `kinematics` without derivatives."""
        import casadi as ca

        key = (call, "solved")
        steps = 12  # of Newton's method, always all of them: an expression cannot stop
        if key not in self.made:
            step = self.function(call)
            inputs = [ca.MX.sym(b.name, b.size) for b in call.inputs]
            q = inputs[0]
            for _ in range(steps):
                q = step(q, *inputs[1:])[0]
            held = {"is_diff_in": [False] * len(inputs), "never_inline": True}
            self.made[key] = ca.Function("closed", inputs, [q], [b.name for b in call.inputs], ["q_closed"], held)
        return self.made[key](*(self.array(x) for x in arguments))

    # ---------------------------------------------------------------- parts of composed functions

    def array(self, x: Any) -> Any:
        import casadi as ca

        if isinstance(x, (ca.SX, ca.MX, ca.DM)):
            return x
        try:
            return ca.DM(x)
        except (NotImplementedError, TypeError):
            raise UsageError(f"functions of s.casadi() take SX, MX, DM and arrays of numbers, not {type(x).__name__}.", value=x) from None

    def stack(self, numbers: Sequence[Any]) -> Any:
        import casadi as ca

        return ca.vertcat(*numbers)

    def checked(self, x: Any, measure: Any, most: float) -> Any:
        import casadi as ca

        return ca.if_else(measure <= most, x, ca.DM.nan(*x.shape))

    def unit(self, q: Any, places: Sequence[int]) -> Any:
        import casadi as ca

        for at in places:
            part = q[at : at + 4]
            q = ca.vertcat(q[:at], part / ca.sqrt(ca.sumsqr(part)), q[at + 4 :])
        return q

    def repeated(self, n: int, step: Callable[[Any, Any, Any], tuple[Any, Any, Any]], q: Any, v: Any, t: Any) -> tuple[Any, Any, Any]:
        for _ in range(n):
            q, v, t = step(q, v, t)
        return q, v, t


def _expressions(call: KernelCall) -> Any:
    """The flat program as a Function of SX."""
    import casadi as ca

    inputs = [ca.SX.sym(b.name, b.size) for b in call.inputs]
    packed = ca.vertcat(*inputs)
    functions = {
        "sqrt": ca.sqrt, "abs": ca.fabs, "sin": ca.sin, "cos": ca.cos, "exp": ca.exp, "log": ca.log, "tanh": ca.tanh, "atan2": ca.atan2,
        "pow": ca.power, "round": lambda x: ca.floor(x + 0.5), "min": ca.fmin, "max": ca.fmax, "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b, "select": ca.if_else,
    }  # fmt: skip
    found = differentiable_kernels.evaluate(call.program, [packed[i] for i in range(call.program.n_in)], functions, float)
    outputs = [_shaped(b, found[b.span]) for b in call.program.outputs]
    return ca.Function(f"lw_{call.name}", inputs, outputs, [b.name for b in call.inputs], _distinct(call))


def _shaped(b: programs.Block, entries: Sequence[Any]) -> Any:
    """An output as a matrix: one axis a column, two as they are, of three the first two as rows."""
    import casadi as ca

    if not b.size:
        return ca.SX(b.size, 1)
    last = b.shape[-1] if len(b.shape) > 1 else 1
    return ca.reshape(ca.vertcat(*(ca.SX(x) for x in entries)), last, b.size // last).T


def _distinct(call: KernelCall) -> list[str]:
    """Names of outputs; those that inputs have as well get `_next`, because CasADi wants all names to differ."""
    taken = {b.name for b in call.inputs}
    return [f"{b.name}_next" if b.name in taken else b.name for b in call.outputs]


# Functions of CasADi as compiled C: written by CasADi, compiled by the compiler of this machine, loaded as `external`.
#
# Beside the function itself come its Jacobian and its adjoint, and on request the Jacobian of that, which optimizers ask for as the
# Hessian. It is by far the longest: 1.1 million operations for the delta robot, of 170,000 for all others together. Compiled libraries are
# stored in the cache on disk under the C text and the compiler.


def external(function: Any, hessian: bool) -> Any:
    """Return the function, its Jacobian, its adjoint and for a Hessian the Jacobian of that, as compiled code."""
    import casadi as ca

    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        raise UsageError(f"compiled=True needs a C compiler ({', '.join(COMPILERS)}). s.casadi() works without one.", name="compiled")
    name = function.name()
    folder = tempfile.TemporaryDirectory(prefix="linkwright-")
    _FOLDERS.append(folder)
    code = ca.CodeGenerator(f"{name}.c", {"with_header": False})
    adjoint = function.reverse(1)
    parts = (function, function.jacobian(), function.forward(1), adjoint, *([adjoint.jacobian()] if hessian else []))
    size = CodeSize(sum(part.n_instructions() for part in parts))
    size.need_memory(name, hessian)
    for part in parts:
        code.add(part)
    text = code.dump()
    library = Path(folder.name) / f"{name}.so"
    library.write_bytes(_compiled(compiler, text, Path(folder.name), lambda: size.warn(name, hessian)))
    return ca.external(name, str(library))


@dataclass(frozen=True)
class CodeSize:
    """Operations of a function with its derivatives, and from them what a compiler takes: measured with gcc 12 at -O1."""

    operations: int

    @property
    def memory(self) -> float:
        """Bytes, roughly."""
        return 1e8 + BYTES * self.operations

    @property
    def seconds(self) -> float:
        """Processor time, roughly."""
        return SECONDS * self.operations

    def __str__(self) -> str:
        return f"{self.operations:,} operations, which take a compiler about {self.memory / 1e9:.2g} GB and {self.seconds / 60.0:.2g} min"

    def need_memory(self, name: str, hessian: bool) -> None:
        """Raise UsageError where compiling takes more memory than this machine has."""
        there = memory_of_machine()
        if there is not None and self.memory > there:
            raise UsageError(f"C of '{name}' has {self}. This machine has {there / 1e9:.2g} GB. {self._advice(hessian)}", name=name)

    def warn(self, name: str, hessian: bool) -> None:
        """Warn of a compilation of minutes, before it begins."""
        long = 60.0  # s of a compilation that is worth a warning
        if self.seconds > long:
            warnings.warn(f"C of '{name}' has {self}. {self._advice(hessian)}", RuntimeWarning, stacklevel=2)

    @staticmethod
    def _advice(hessian: bool) -> str:
        shorter = "Leave hessian=True out, or use " if hessian else "Use "
        return f"{shorter}s.casadi() without compiled=True, which needs no compiler."


def memory_of_machine() -> float | None:
    """Bytes of memory, where the system says."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


def _compiled(compiler: str, text: str, folder: Path, before: Callable[[], None]) -> bytes:
    """The shared library of a text: from the cache on disk, or compiled now; `before` is called before that."""
    key = cache.key(["casadi", compiler, _version(compiler), list(FLAGS), text])
    found = cache.get(key)
    if found is not None:
        return found[1]
    before()
    source, made = folder / "code.c", folder / "code.so"
    source.write_text(text, encoding="utf-8", newline="\n")
    longest = 1800.0  # s
    try:
        done = subprocesses.run([compiler, *FLAGS, str(source), "-o", str(made), "-lm"], longest)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise LinkwrightError(f"the C compiler {compiler} cannot be run: {problem}") from problem
    if done.returncode:
        raise LinkwrightError(f"the C compiler {compiler} refuses the code of CasADi: {done.stderr.strip()[:500]}")
    code = made.read_bytes()
    cache.put(key, {"compiler": compiler}, code)
    return code


def _version(compiler: str) -> str:
    """First line of what a compiler says of itself."""
    try:
        return subprocesses.run([compiler, "--version"], 60.0).stdout.split("\n")[0]
    except (OSError, subprocess.TimeoutExpired):
        return ""
