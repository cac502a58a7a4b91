"""Files that another program's file names: meshes and included models, found in the folders that may be read and nowhere else.

A relative path counts from the file that names it. `package://name/rest` and `model://name/rest` are looked for in every folder, under
`name`, and in a folder of that name itself. By default the folder of the file may be read, or the whole ROS package (with a package.xml)
that it lies in. Symbolic links are followed first: what counts is where a file really is. Nothing is fetched from a network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from linkwright.api import UsageError, files

PACKAGE = "package.xml"
HIGHEST = 4  # folders above a file in which its package is looked for
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)\Z", re.DOTALL)
INSIDE = ("package", "model")
OUTSIDE = "it lies outside the folders that may be read"
ABSENT = "there is no such file"
MORE = "More folders are allowed by folders=[...], or --folder on the command line"


@dataclass(frozen=True)
class Folders:
    """The folder of a file, and all folders from which files that it names may be read."""

    own: Path
    allowed: tuple[Path, ...]

    @classmethod
    def of(cls, path: str | os.PathLike[str], given: Any = None) -> Folders:
        """Folders of a file: those given (one path or several) and its own; without any, its own and that of its package."""
        own = Path(os.path.realpath(Path(path).parent))
        several = (given,) if isinstance(given, (str, os.PathLike)) else tuple(given or ())
        for x in several:
            if not isinstance(x, (str, os.PathLike)):
                raise UsageError(f"folders are paths, not {type(x).__name__}.", value=x)
            if not os.path.isdir(x):
                raise UsageError(
                    f"there is no folder '{files.shown(x)}'. Name folders that hold meshes or included models.", name=files.shown(x)
                )
        more = [Path(os.path.realpath(x)) for x in several] or [_package(own)]
        return cls(own, tuple(dict.fromkeys([own, *more])))

    def beside(self, path: Path) -> Folders:
        """The same folders for a file that was found in them."""
        return Folders(path.parent, self.allowed)

    def find(self, name: str) -> tuple[Path | None, str]:
        """The file of a path or URI, or None with the reason."""
        scheme, rest = _split(name)
        if not rest:
            return None, "the path is empty"
        if scheme not in ("", "file", *INSIDE):
            return None, f"{scheme}:// is not read. Nothing is fetched from a network"
        outside = False
        for place in self._candidates(scheme, rest):
            real = Path(os.path.realpath(place))
            if not any(real.is_relative_to(x) for x in self.allowed):
                outside = True
            elif os.path.isfile(real):
                return real, ""
        if outside:
            return None, OUTSIDE
        return None, ABSENT

    def folder(self, name: str) -> Path | None:
        """The folder of a model:// or relative URI that names a folder, None without one."""
        scheme, rest = _split(name)
        for place in self._candidates(scheme, rest) if rest and scheme in ("", "file", *INSIDE) else ():
            real = Path(os.path.realpath(place))
            if os.path.isdir(real) and any(real.is_relative_to(x) for x in self.allowed):
                return real
        return None

    def _candidates(self, scheme: str, rest: str) -> Iterator[Path]:
        if "\0" in rest:
            return
        if "\\" in rest and os.sep == "/":  # written on Windows; a name may hold a backslash here, so that comes second
            yield from self._places(scheme, rest)
            rest = rest.replace("\\", "/")
        yield from self._places(scheme, rest)

    def _places(self, scheme: str, rest: str) -> Iterator[Path]:
        if scheme == "file":
            rest = local_path(rest, windows=os.name == "nt")
            yield Path(rest) if os.path.isabs(rest) else self.own / rest
        elif scheme == "":
            yield self.own / rest
            if not os.path.isabs(rest):
                yield from (x / rest for x in self.allowed)
        else:
            head, _, tail = rest.partition("/")
            for x in self.allowed:
                yield x / rest
                if x.name == head or _package_name(x) == head:
                    yield x / tail


def local_path(rest: str, *, windows: bool) -> str:
    """The path of a file:// URI behind its two slashes: on Windows file:///C:/a.stl has one more before the drive."""
    return rest[1:] if windows and re.match(r"/[A-Za-z]:[/\\]", rest) else rest


def _split(name: str) -> tuple[str, str]:
    """Scheme and rest of a URI; a plain path has no scheme."""
    found = SCHEME.match(name.strip())
    return (found[1].lower(), unquote(found[2])) if found else ("", name.strip())


def _package(own: Path) -> Path:
    """The folder of the ROS package that a folder belongs to; itself without one."""
    for x in (own, *own.parents[:HIGHEST]):
        if os.path.isfile(x / PACKAGE):
            return x
    return own


def _package_name(folder: Path) -> str:
    """The name in a folder's package.xml; empty without one."""
    try:
        text = files.read_regular(folder / PACKAGE, 1_000_000).decode("utf-8", "replace")
    except files.Unreadable:
        return ""
    found = re.search(r"<name>\s*([^<\s]+)\s*</name>", text)
    return found[1] if found else ""
