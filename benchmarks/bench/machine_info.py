"""Machine and versions of a benchmark."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from linkwright import __version__

PACKAGES = ("numpy", "scipy", "llvmlite", "pin", "casadi", "mujoco", "exudyn", "drake")
FLAGS = ("avx2", "fma", "avx512f", "neon", "asimd", "sve")


def machine() -> dict[str, str]:
    """Processor, cores, vector instructions, system, Python and package versions, and the day."""
    facts = {
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1),
        "vectors": " ".join(vector_instructions()) or "not known",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "linkwright": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    found = {name: _version(name) for name in PACKAGES}
    return {**facts, **{name: v for name, v in found.items() if v}}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _cpuinfo(*keys: str) -> str:
    """The first entry of one of these names in the kernel's list, where there is one."""
    path = Path("/proc/cpuinfo")
    if not path.is_file():
        return ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in keys:
            return value.strip()
    return ""


def processor() -> str:
    """The processor's name as the system knows it."""
    return _cpuinfo("model name", "Model") or platform.processor() or platform.machine()


def vector_instructions() -> list[str]:
    """Return those of FLAGS that the processor has."""
    have = _cpuinfo("flags", "Features").split()
    return [f for f in FLAGS if f in have]


def text(facts: dict[str, str]) -> str:
    """One paragraph for people."""
    packages = ", ".join(f"{k} {v}" for k, v in facts.items() if k in PACKAGES)
    head = f"{facts['processor']}, {facts['cores']} cores, {facts['vectors']}; {facts['system']}; {facts['python']}"
    return f"{head}; linkwright {facts['linkwright']}, {packages}; {facts['date']}"
