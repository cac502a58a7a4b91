"""Binaries of C sources: by the compiler of this machine, or by zig (the package ziglang), which builds for other machines as well.

Every source is compiled by a process of its own, as many at a time as there are cores.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from linkwright.api import LinkwrightError, UsageError, nearest
from linkwright.files import subprocesses

# -O1: long straight code is as fast as with -O2 and compiled in half the time
FLAGS = ("-std=c99", "-O1", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-DNDEBUG")


class Platform(NamedTuple):
    """A machine that FMUs run on: folders of FMI 2.0 and 3.0, ending of a library, zig's name of it."""

    fmi2: str
    fmi3: str
    ending: str
    target: str


PLATFORMS = {
    x.fmi3: x
    for x in (
        Platform("linux64", "x86_64-linux", ".so", "x86_64-linux-gnu.2.17"),
        Platform("win64", "x86_64-windows", ".dll", "x86_64-windows-gnu"),
        Platform("darwin64", "x86_64-darwin", ".dylib", "x86_64-macos"),
        Platform("aarch64-linux", "aarch64-linux", ".so", "aarch64-linux-gnu.2.17"),
        Platform("aarch64-darwin", "aarch64-darwin", ".dylib", "aarch64-macos"),
    )
}
_SYSTEMS = {"Linux": "linux", "Windows": "windows", "Darwin": "darwin"}
_MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
INSTALL = (
    "install gcc or clang (Debian: apt-get install gcc), or `pip install 'linkwright[fmu]'`, which brings the compiler zig. "
    "platforms=[] writes an FMU with sources only"
)


def here() -> str | None:
    """Name of this machine's platform; None if FMI has no name for it."""
    name = f"{_MACHINES.get(platform.machine())}-{_SYSTEMS.get(platform.system())}"
    return name if name in PLATFORMS else None


def chosen_platforms(wanted: str | Iterable[str] | None) -> list[Platform]:
    """Platforms by their names in either version of FMI; None: this machine, "all": every one."""
    if wanted is None:
        own = here()
        if own is None:
            raise UsageError(
                f"FMI has no name for this machine ({platform.machine()}, {platform.system()}). Name others, "
                f"platforms={list(PLATFORMS)}, or platforms=[] for sources only.",
                name="platforms",
            )
        return [PLATFORMS[own]]
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if names == ["all"]:
        return list(PLATFORMS.values())
    known = {**{x.fmi2: x for x in PLATFORMS.values()}, **PLATFORMS}
    out: dict[str, Platform] = {}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no platform '{name}'.", nearest(str(name), [*PLATFORMS, "all"], "Platforms"))
        out[known[name].fmi3] = known[name]
    return list(out.values())


def compiler_for(target: Platform) -> tuple[str, ...]:
    """The command that compiles for a platform: this machine's compiler for itself, zig for the others."""
    if target.fmi3 == here():
        own = shlex.split(os.environ.get("CC", ""))
        if own:
            if shutil.which(own[0]) is None:
                raise UsageError(f"the compiler that CC names, '{own[0]}', is not there: install it or unset CC.", name=own[0])
            return tuple(own)
        found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
        if found is not None:
            return (found,)
    zig = _zig()
    if zig is not None:
        return (*zig, "cc", "-target", target.target)
    if target.fmi3 == here():
        raise UsageError(f"no C compiler was found: {INSTALL}.", name="C compiler")
    raise UsageError(f"building for {target.fmi3} needs the compiler zig: pip install 'linkwright[fmu]' (the package ziglang).", name="zig")


def _zig() -> tuple[str, ...] | None:
    if find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang")
    return ("zig",) if shutil.which("zig") else None


def library(sources: Mapping[str, str], target: Platform, flags: Sequence[str] | None = None) -> bytes:
    """The shared library of C sources for a platform."""
    command = compiler_for(target)
    with tempfile.TemporaryDirectory(prefix="linkwright-fmu-") as folder:
        place = Path(folder)
        for name, text in sources.items():
            (place / name).write_text(text, encoding="utf-8", newline="\n")
        names = sorted((n for n in sources if n.endswith(".c")), key=lambda n: -len(sources[n]))  # the longest first
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        with ThreadPoolExecutor(cores) as pool:
            jobs = [pool.submit(_run, [*command, *(FLAGS if flags is None else flags), "-c", n, "-o", f"{n}.o"], place) for n in names]
            for job in jobs:
                job.result()
        out = f"library{target.ending}"
        last = ["-lm"] if target.ending == ".so" else []
        small = ["-s"] if target.ending != ".dylib" else []
        _run([*command, "-shared", *small, "-o", out, *(f"{n}.o" for n in names), *last], place)
        return (place / out).read_bytes()


def _run(command: Sequence[str], folder: Path) -> None:
    longest = 1800.0  # s: zig builds the C library of Windows when it meets it first, which takes minutes
    try:
        done = subprocesses.run(command, longest, cwd=folder)
    except subprocess.TimeoutExpired as problem:
        raise LinkwrightError(
            f"the compiler {command[0]} did not finish within {longest:.0f} s. Name fewer outputs or parameters."
        ) from problem
    except OSError as problem:
        raise LinkwrightError(f"the compiler {command[0]} cannot be run: {problem.strerror}; {INSTALL}.") from problem
    if done.returncode:
        said = " ".join(done.stderr.split())[:600] or f"exit code {done.returncode}"
        raise LinkwrightError(f"the compiler {' '.join(command[:3])} failed: {said}")
