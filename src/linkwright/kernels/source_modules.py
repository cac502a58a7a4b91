"""Sources that decide a traced program: a module and every module of this package it imports, directly or not.

Found by reading the import statements, also those inside functions; imports for type checkers only are left out. A module that is not
reached cannot change the equations, so editing it leaves traced programs and compiled code valid. The answer is in the cache on disk
under the sizes and times of all files of the package: asking for those takes a tenth of reading the files and their imports.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path

from linkwright.compiler import cache as stored

_ROOT = Path(__file__).resolve().parent.parent
_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t].*\n|\n)+", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from linkwright((?:\.\w+)*) import (\([^)]*\)|[^\n#]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import linkwright\.([\w.]+)", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: as \w+)?")


@cache
def digest(*modules: str) -> str:
    """Hash of the sources that modules (dotted names below the package) depend on."""
    name = stored.key(["sources", _stamp(_ROOT), sorted(modules)])
    known = stored.get(name)
    if known is not None:
        return str(known[0]["digest"])
    found = _digest(*modules)
    stored.put(name, {"digest": found}, b"")
    return found


def _stamp(root: Path) -> str:
    """Hash of the name, size and time of every source file."""
    out, folders = hashlib.blake2b(digest_size=32), [str(root)]
    for folder in folders:  # grows meanwhile
        with os.scandir(folder) as entries:
            for x in sorted(entries, key=lambda x: x.name):
                if x.is_dir() and x.name != "__pycache__":
                    folders.append(x.path)
                elif x.name.endswith(".py"):
                    found = x.stat()
                    out.update(f"{x.path}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
    return out.hexdigest()


def _digest(*modules: str) -> str:
    out = hashlib.sha256()
    for path in sorted(closure(*modules)):
        out.update(path.read_bytes())
    return out.hexdigest()


@cache
def closure(*modules: str) -> frozenset[Path]:
    """The files of modules and of all modules they import."""
    found: set[Path] = set()
    waiting = [_files(_ROOT).get(module) for module in modules]
    while waiting:
        path = waiting.pop()
        if path is not None and path not in found:
            found.add(path)
            waiting += _imported(path)
    return frozenset(found)


def _imported(path: Path) -> list[Path | None]:
    text, files = _TYPES.sub("", path.read_text(encoding="utf-8")), _files(_ROOT)
    out = [files.get(name) for name in _IMPORT.findall(text)]
    for base, names in _FROM.findall(text):
        inside = base.lstrip(".")
        out += [files.get(f"{inside}.{name}".lstrip(".")) or files.get(inside) for name in _NAME.findall(names)]
    return out


@cache
def _files(root: Path) -> dict[str, Path]:
    """The file of every module below the package; not of the package itself, which imports on demand."""
    found = {path.relative_to(root).with_suffix("").as_posix().replace("/", "."): path for path in root.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in found.items() if name != "__init__"}
