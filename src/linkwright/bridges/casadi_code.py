"""Functions of CasADi as compiled C: written by CasADi, compiled by the compiler of this machine, loaded as `external`.

Beside the function itself come its Jacobian, its adjoint and the Jacobian of that, which optimisers ask for as the Hessian. Compiled
libraries are stored in the cache on disk under the C text and the compiler.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from linkwright.compiler import cache
from linkwright.errors import LinkwrightError, UsageError

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O1", "-fPIC", "-shared")  # long straight code is as fast as with -O2 and compiled in half the time
LONGEST = 1800.0  # s
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
    for part in (function, function.jacobian(), function.forward(1), adjoint, *([adjoint.jacobian()] if hessian else [])):
        code.add(part)
    text = code.dump()
    library = Path(folder.name) / f"{name}.so"
    library.write_bytes(_compiled(compiler, text, Path(folder.name)))
    return ca.external(name, str(library))


def _compiled(compiler: str, text: str, folder: Path) -> bytes:
    """The shared library of a text: from the cache on disk, or compiled now."""
    key = cache.key(["casadi", compiler, _version(compiler), list(FLAGS), text])
    found = cache.get(key)
    if found is not None:
        return found[1]
    source, made = folder / "code.c", folder / "code.so"
    source.write_text(text, encoding="utf-8", newline="\n")
    try:
        done = _run([compiler, *FLAGS, str(source), "-o", str(made), "-lm"], LONGEST)
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
        return _run([compiler, "--version"], 60.0).stdout.split("\n")[0]
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _run(command: list[str], longest: float) -> subprocess.CompletedProcess[str]:
    """Run a program; letters of its messages that are not in the system's encoding are replaced."""
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=longest, check=False)
