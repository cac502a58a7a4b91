"""C for controllers on a Cortex-M4: size of the code, stack, and instructions of a step, counted by qemu.

    python -m benchmarks.cortex_m4 [model ...]

Needs arm-none-eabi-gcc with newlib and qemu-system-arm (Debian: gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm). qemu counts
instructions, not cycles: a real core takes one cycle for most of them, 14 for a division or square root, and waits for its flash.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linkwright.errors import UsageError
from linkwright.kernels import c_sources
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.system.system import System

NATIVE = Path(__file__).parent / "native"
TOOLS = ("arm-none-eabi-gcc", "arm-none-eabi-size", "arm-none-eabi-objdump", "qemu-system-arm")
CORE = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
BOARD = ("-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none", "-icount", "shift=0")
REALS = {"double": "double", "single": "float"}


class Measured(NamedTuple):
    """One build: bytes of the exported code, bytes of stack, instructions, and what it computed."""

    model: str
    precision: str
    fallback: bool
    code: int
    stack: int
    forward: int
    step: int
    slow: int  # divisions and square roots in forward
    status: int
    q: tuple[float, ...]


def missing() -> list[str]:
    """Names of the tools that are not installed."""
    return [name for name in TOOLS if shutil.which(name) is None]


def measured(name: str, precision: str, *, fallback: bool = True, optimize: str = "-Os") -> Measured:
    """Build a built-in model for the core and run it."""
    if missing():
        raise UsageError(f"{', '.join(missing())} are not installed (Debian: gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm).")
    s = System(modelfile.read(models.path(name)))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for file, text in c_sources.c(s.kernels, ["forward", "projection"], precision=precision, fallback=fallback).items():
            (place / file).write_text(text, encoding="utf-8")
        double = ["-Wdouble-promotion"] if precision == "single" else []
        _run(["arm-none-eabi-gcc", *CORE, *STRICT, *double, optimize, "-fstack-usage", "-c", "model.c", "-o", "model.o"], place)
        code = int(_run(["arm-none-eabi-size", "model.o"], place).splitlines()[1].split()[0])
        main = [f"-DREAL={REALS[precision]}", str(NATIVE / "cortex_m4.c"), "model.o", "-I.", "-T", str(NATIVE / "cortex_m4.ld")]
        # the runner's vectors and registers are no plain C99
        _run(["arm-none-eabi-gcc", *CORE, "-O1", "-nostartfiles", "-o", "m4.elf", *main, "-lm", "-lc", "-lgcc"], place)
        semihosting = ["-semihosting-config", "enable=on,target=native", "-kernel", "m4.elf"]
        said = _run(["qemu-system-arm", *BOARD, *semihosting], place)
        slow = len(re.findall(r"\tv(?:div|sqrt)\.", _listing(place, "model_forward")))
        stack = _stack((place / "model.su").read_text())
    found: dict[str, list[int]] = {}
    for label, number in re.findall(r"(\w+) (-?\d+)", said):
        found.setdefault(label, []).append(int(number))
    q = tuple(x * 1e-6 for x in found["q"])
    return Measured(name, precision, fallback, code, stack, found["forward"][0], found["step"][0], slow, found["status"][0], q)


def _listing(place: Path, function: str) -> str:
    text = _run(["arm-none-eabi-objdump", "-d", "model.o"], place)
    return "".join(part for part in re.split(r"\n\n", text) if f"<{function}" in part.splitlines()[0])


def _stack(usage: str) -> int:
    """Bytes of the deepest chain of calls; functions that were put into others count there."""
    sizes: dict[str, int] = {}
    for line in usage.splitlines():
        where, size = line.split("\t")[:2]
        name = re.sub(r"_\d+$", "_part", where.rpartition(":")[2].split(".")[0].removeprefix("model_"))
        sizes[name] = max(sizes.get(name, 0), int(size))
    solves = (("rate", "run_forward", "forward", "forward_part"), ("rate", "run_projection", "projection", "projection_part"))
    least = (("rate", "least", "run_terms", "terms", "terms_part"), ("pull_back", "run_terms", "terms", "terms_part"))
    return max(sum(sizes.get(n, 0) for n in ("step", "advance", *chain)) for chain in (*solves, *least))


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise UsageError(f"{command[0]} failed: {done.stderr[:800]}")
    return done.stdout + done.stderr


def main(names: Sequence[str]) -> None:
    rows: list[Any] = []
    for name in names or ("four-bar", "carpet-scraper", "five-bar"):
        for precision in REALS:
            for fallback in (False, True):
                rows.append(measured(name, precision, fallback=fallback))
                print(*(x for x in rows[-1][:-1]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
