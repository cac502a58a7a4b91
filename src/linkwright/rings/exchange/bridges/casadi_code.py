"""Functions of CasADi as compiled C: written by CasADi, compiled by the compiler of this machine, loaded as `external`.

Beside the function itself come its Jacobian and its adjoint, and on request the Jacobian of that, which optimizers ask for as the Hessian.
It is by far the longest: 1.1 million operations for the delta robot, of 170,000 for all others together. Compiled libraries are stored in
the cache on disk under the C text and the compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkwright.compiler import cache
from linkwright.errors import LinkwrightError, UsageError
from linkwright.files import children

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O1", "-fPIC", "-shared")  # long straight code is as fast as with -O2 and compiled in half the time
LONGEST = 1800.0  # s
BYTES, SECONDS = 5.3e3, 1.5e-4  # of an operation: 0.74 GB and 20 s of 172,000, 5.9 GB of 1,293,000 (delta robot)
LONG = 60.0  # s of a compilation that is worth a warning
_FOLDERS: list[Any] = []  # libraries live as long as the process


def external(function: Any, hessian: bool) -> Any:
    """Return the function, its Jacobian, its adjoint and for a Hessian the Jacobian of that, as compiled code."""
    import casadi as ca

    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        raise UsageError(f"compiled=True needs a C compiler ({', '.join(COMPILERS)}); s.casadi() works without one.")
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
            raise UsageError(f"C of '{name}' has {self}; this machine has {there / 1e9:.2g} GB. {self._advice(hessian)}")

    def warn(self, name: str, hessian: bool) -> None:
        """Warn of a compilation of minutes, before it begins."""
        if self.seconds > LONG:
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
    try:
        done = children.run([compiler, *FLAGS, str(source), "-o", str(made), "-lm"], LONGEST)
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
        return children.run([compiler, "--version"], 60.0).stdout.split("\n")[0]
    except (OSError, subprocess.TimeoutExpired):
        return ""
