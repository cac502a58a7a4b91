"""Atomic writing: a file is complete or not there, and an older one stays whole until the new one is on the disk.

Content goes to a temporary file in the same folder (created exclusively under an unpredictable name, so that nothing planted
there is followed), is flushed to the disk, and takes the place of the target by renaming. On failure the temporary file is
removed. One that a killed process left behind is recognized by its name, `.stem.HOST-PID-RANDOM.part.ending`, and removed by
the next writer in that folder once its process is gone, or after a day where that cannot be known (another machine).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import stat
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linkwright.errors import LinkwrightError, UsageError
from linkwright.files.regular_files import need_path, shown

OLD = 24 * 3600.0  # s after which a temporary file of an unknown process counts as left behind
_LEFT = re.compile(r"\..*\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{16}\.part(\.\w+)?\Z", re.DOTALL)


def checked(path: Any, endings: Sequence[str]) -> Path:
    """The path, if a file with one of these endings can be written there."""
    need_path(path)
    if "\0" in os.fspath(path):
        raise UsageError(f"cannot write '{shown(path)}': the path holds a NUL character. Remove it.", name=shown(path))
    path = Path(path)
    try:
        return _checked(path, endings)
    except (OSError, UnicodeEncodeError) as problem:  # a name that is too long, a loop of links, no Unicode
        reason = "it is not a valid name" if isinstance(problem, UnicodeEncodeError) else problem.strerror or problem
        raise UsageError(f"cannot write '{shown(path)}': {reason}. Choose another name.", name=shown(path)) from problem


def _checked(path: Path, endings: Sequence[str]) -> Path:
    allowed = f"{', '.join(endings[:-1])} or {endings[-1]}" if len(endings) > 1 else endings[0]
    name = shown(path)
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise UsageError(f"'{name}' is a folder. Give the name of a file in it, ending in {allowed}.", name=name)
    if path.suffix.lower() not in endings:
        kind = f"unsupported file type '{path.suffix}'" if path.suffix else "the name has no file type"
        raise UsageError(f"cannot write '{name}': {kind}. Use {allowed}.", name=name)
    if mode is not None and not stat.S_ISREG(mode):
        raise UsageError(f"cannot write '{name}': it is a pipe or device, not a regular file. Choose another name.", name=name)
    if mode is not None and not os.access(path, os.W_OK):
        raise UsageError(f"cannot write '{name}': the file is read-only. Choose another name.", name=name)
    folder = path.resolve().parent
    if not folder.is_dir():
        raise UsageError(f"cannot write '{name}': the folder '{shown(path.parent)}' does not exist. Make it first.", name=name)
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write '{name}': the folder '{shown(path.parent)}' is read-only. Choose another.", name=name)
    return path


def _mode(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None  # reported as a folder that does not exist


@contextmanager
def replacing(path: Any, endings: Sequence[str]) -> Generator[Path]:
    """A temporary path that takes the place of `path` when the block ends well, and is removed when it does not."""
    path = checked(path, endings)
    remove_leftovers(path.resolve().parent)
    try:
        with atomic(path) as temporary:
            yield temporary
    except OSError as problem:
        reason = problem.strerror or str(problem)
        hint = " Is it open in another program?" if isinstance(problem, PermissionError) else " Check the disk and the folder."
        raise LinkwrightError(f"cannot write '{shown(path)}': {reason}.{hint}", name=shown(path)) from problem


def write_text(path: Any, endings: Sequence[str], text: str) -> Path:
    """Write a text as UTF-8 with line feeds, atomically."""
    with replacing(path, endings) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


@contextmanager
def atomic(path: Path, *, durable: bool = True, private: bool = False) -> Generator[Path]:
    """The same for any path, with the errors of the system. `durable`: flushed to the disk before it is renamed; `private`:
    only the user may read or write it."""
    target = Path(os.path.realpath(path))  # a link stays, what it points to is replaced
    longest = 40  # characters of the target's name in that of the temporary file: names are limited to 255 bytes
    temporary = target.with_name(f".{target.stem[:longest]}.{_host()}-{os.getpid()}-{os.urandom(8).hex()}.part{target.suffix}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    os.close(os.open(temporary, flags, 0o600 if private else 0o666))
    try:
        if not private:
            with contextlib.suppress(OSError):  # permissions of the file that is replaced
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        yield temporary
        if durable:
            _flush(temporary, os.O_RDWR)
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    if durable and os.name == "posix":
        with contextlib.suppress(OSError):  # some file systems cannot flush folders; the file itself is safe
            _flush(target.parent, os.O_RDONLY)


def _flush(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# -------------------------------------------------------------------- temporary files of killed processes


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files in a folder whose writers are gone."""
    try:
        with os.scandir(folder) as listing:
            found = [(entry, m) for entry in listing if (m := _LEFT.match(entry.name)) and entry.is_file(follow_symlinks=False)]
        for entry, match in found:
            ours = match["host"] == _host()
            if (ours and not _running(int(match["pid"]))) or entry.stat(follow_symlinks=False).st_mtime < time.time() - OLD:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
    except OSError:
        return


def _host() -> str:
    """A mark of this machine: process numbers mean nothing on another one."""
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]


def _running(pid: int) -> bool:
    """True where it cannot be known; on Windows, os.kill would end the process."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
