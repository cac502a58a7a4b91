"""Sources that decide a traced program: a module and every module of this package it imports, directly or not.

Found by reading the import statements, also those inside functions; imports for type checkers only are left out. A module that is not
reached cannot change the equations, so editing it leaves traced programs and compiled code valid.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t].*\n|\n)+", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from linkwright((?:\.\w+)*) import (\([^)]*\)|[^\n#]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import linkwright\.([\w.]+)", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: as \w+)?")


@cache
def digest(*modules: str) -> str:
    """Hash of the sources that modules (dotted names below the package) depend on."""
    out = hashlib.sha256()
    for path in sorted(closure(*modules)):
        out.update(path.read_bytes())
    return out.hexdigest()


@cache
def closure(*modules: str) -> frozenset[Path]:
    """The files of modules and of all modules they import."""
    found: set[Path] = set()
    waiting = [_file(module) for module in modules]
    while waiting:
        path = waiting.pop()
        if path is not None and path not in found:
            found.add(path)
            waiting += _imported(path)
    return frozenset(found)


def _imported(path: Path) -> list[Path | None]:
    text = _TYPES.sub("", path.read_text(encoding="utf-8"))
    out = [_file(name) for name in _IMPORT.findall(text)]
    for base, names in _FROM.findall(text):
        inside = base.lstrip(".")
        out += [_file(f"{inside}.{name}".lstrip(".")) or _file(inside) for name in _NAME.findall(names)]
    return out


def _file(module: str) -> Path | None:
    """The file of a module; None for a name that is no module, and for the package itself, which imports on demand."""
    place = _ROOT.joinpath(*module.split("."))
    if not module or place == _ROOT:
        return None
    single, package = place.with_suffix(".py"), place / "__init__.py"
    return single if single.is_file() else package if package.is_file() else None
