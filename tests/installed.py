"""What `pytest --installed` leaves out: on Windows, on Macs with an Intel processor, and with the lowest versions of dependencies.

Left out are files that need packages which are not installed and, on Windows, those that start programs of Unix or make its system calls;
and pages, docs and benchmarks where the extra `test` is not installed. Their names and the reasons end the output.
`make test` leaves nothing out, on Linux and on Macs with an ARM processor.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests import ROOT

ROOMS = (
    "numerics", "files", "joints", "compiler", "model", "topology", "mechanics", "results", "integrators", "kernels", "drives", "control",
    "motion", "simulation", "system", "design", "exchange", "synthesis", "studies", "optimization", "identification", "gym", "cli",
    "test_without_llvmlite.py",
)  # fmt: skip
TESTS = ROOT / "tests"
CORE = {"pytest", "_pytest", "linkwright", "tests"}
INDIRECT = {  # packages that the package itself imports for a call or an ending
    r"to_pandas|\.dataframe": "pandas", r"to_xarray": "xarray", r"\.parquet\b": "pyarrow", r"\.dxf\b": "ezdxf", r"\.xlsx\b": "openpyxl",
    r"\.mjcf\b": "mujoco", r"\.usd[ac]?\b": "pxr", r"\bpinocchio(?:_model)?\(": "pinocchio", r"\.(?:obj|glb|gltf)\b": "trimesh",
    r"\.casadi\(": "casadi",
}  # fmt: skip
UNIX = re.compile(
    r"\bos\.(?:mkfifo|getuid|geteuid|fork|kill|killpg|symlink|chmod|umask)\b|\bsignal\.SIG(?!INT)|/dev/|\bRLIMIT_|\bsymlink_to\b|"
    r"[\"'](?:gcc|g\+\+|cc|node|npm|ffmpeg|git)[\"']|\bshutil\.which\b"
)


def reason(path: Path) -> str:
    """The reason to leave a file or folder of the tests out; empty without one."""
    room = next(iter(path.relative_to(TESTS).parts), "") if path.is_relative_to(TESTS) else ""
    if room and room not in ROOMS and missing("playwright"):
        return "needs the extra test"
    return needed(path) if re.fullmatch(r"test_.*\.py", path.name) else ""


@cache
def needed(path: Path) -> str:
    """What a module of the tests needs and is not there, itself or a module of the tests that it imports."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{a.name}" for a in node.names]
        for name in names:
            top = name.partition(".")[0]
            if missing(top):
                return f"imports {top}"
            inner = _module(name) if top == "tests" else None
            if inner is not None and inner != path and (why := needed(inner)):
                return f"{inner.stem}: {why}"
    for pattern, package in INDIRECT.items():
        if missing(package) and re.search(pattern, text):
            return f"uses {package}"
    found = UNIX.search(text) if os.name == "nt" else None
    return f"needs {found[0]}" if found else ""


@cache
def missing(package: str) -> bool:
    """True for a package that is not installed."""
    return package not in CORE and package not in sys.stdlib_module_names and find_spec(package) is None


def _module(name: str) -> Path | None:
    """The file of a module of the tests, or of the module that an imported name is in."""
    for candidate in (name, name.rpartition(".")[0]):
        path = ROOT / f"{candidate.replace('.', '/')}.py"
        if path.is_file():
            return path
    return None


def left_out() -> dict[str, str]:
    """Files and rooms that need more, with the reason."""
    places = [p for p in sorted(TESTS.iterdir()) if p.is_dir() or p.name.startswith("test_")]
    whole = {p: why for p in places if not p.name.startswith("_") and (why := reason(p))}
    files = [x for p in places if p not in whole for x in ([p] if p.is_file() else sorted(p.rglob("test_*.py")))]
    return {p.relative_to(ROOT).as_posix(): why for p, why in (whole | {p: reason(p) for p in files}).items() if why}
