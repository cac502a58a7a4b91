"""Bounded reading of regular files.

A path comes from a user, a model or a folder that others can write to, so it may name a pipe (opening it blocks), a device
(it never ends) or a file that grows. The type is checked before opening, because opening some devices has effects, and again
on the open descriptor, because the name may have been given to something else in between. The size that `stat` reports is
not relied on: the bound holds for the bytes read.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, BinaryIO

from linkwright.errors import UsageError

CHUNK = 1 << 20
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a named pipe"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
    (stat.S_ISSOCK, "it is a socket"),
)


class Unreadable(UsageError):
    """A file that cannot be read; `reason` says why, for callers that name it in their own messages."""

    def __init__(self, path: str | os.PathLike[str], reason: str):
        self.reason = reason
        super().__init__(f"cannot read '{shown(path)}': {reason}.", name=shown(path))


def shown(path: str | os.PathLike[str]) -> str:
    """A path for a message: readable letters as they are, everything else escaped."""
    text = os.fsdecode(path)
    return text if text.isprintable() else ascii(text)[1:-1]


def is_text(x: str) -> bool:
    """True for a text that a file can hold; half of a surrogate pair is no character."""
    return not any("\ud800" <= c <= "\udfff" for c in x)


def need_path(path: Any) -> None:
    """Raise UsageError for anything but a text or a path."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise UsageError(f"a file's path is needed, not {type(path).__name__}.", value=path, name="path")


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading; anything else raises `Unreadable` without blocking."""
    need_path(path)
    try:
        _check(path, os.stat(path).st_mode)
        descriptor = os.open(path, FLAGS)
    except (OSError, ValueError) as problem:  # ValueError: a path the system cannot spell, such as one with a NUL
        raise _unreadable(path, problem) from problem
    try:
        _check(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | os.PathLike[str], limit: int, advice: str = "") -> bytes:
    """All bytes of a regular file of at most `limit` bytes; `advice` is added where it is larger."""
    with open_regular(path) as stream:
        pieces, size = [], 0
        try:
            while piece := os.read(stream.fileno(), min(CHUNK, limit + 1 - size)):
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    raise Unreadable(path, f"it is larger than {megabytes(limit)}{f'; {advice}' if advice else ''}")
        except OSError as problem:
            raise _unreadable(path, problem) from problem
    return b"".join(pieces)


def megabytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB"


def _check(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((text for test, text in KINDS if test(mode)), "it is not a regular file")
        raise Unreadable(path, f"{kind}. Give the path of a regular file")


def _unreadable(path: str | os.PathLike[str], problem: Exception) -> Unreadable:
    if isinstance(problem, Unreadable):
        return problem
    reasons = {
        errno.ENOENT: "there is no such file. Check the path",
        errno.EACCES: "permission denied",
        errno.ELOOP: "its symbolic links form a loop",
        errno.ENAMETOOLONG: "its name is too long",
        errno.EAGAIN: "it is a stream. Give the path of a regular file",
    }
    if isinstance(problem, OSError):
        return Unreadable(path, reasons.get(problem.errno or 0, problem.strerror or str(problem)))
    return Unreadable(path, "the path holds a NUL character" if "\0" in os.fsdecode(path) else "the path is not valid")


def stamp(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Time, size and inode of a regular file, by which a change is noticed; () for anything else, whose reading might never end."""
    try:
        s = os.stat(path)
    except (OSError, ValueError):
        return ()
    return (s.st_mtime_ns, s.st_size, s.st_ino) if stat.S_ISREG(s.st_mode) else ()
