"""Writing files so that nothing is lost: no silent overwriting, no half-written results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from linkwright.errors import LinkwrightError, UsageError

PICTURES = (".png", ".svg", ".pdf")


def checked(path: str | os.PathLike[str], endings: Sequence[str], *, force: bool = False) -> Path:
    """The path, if a file of these endings may be written there."""
    path = Path(path)
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder; give the name of a file in it, ending in {', '.join(endings)}.")
    if path.suffix.lower() not in endings:
        raise UsageError(f"cannot write '{path}': the ending says the format, allowed are {', '.join(endings)}.")
    if path.exists() and not force:
        raise UsageError(f"'{path}' exists already; choose another name, or replace it with force=True (on the command line: --force).")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write '{path}': the folder '{path.parent}' does not exist. Make it first.")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"cannot write '{path}': the folder '{path.parent}' is read-only. Choose another.")
    return path


@contextmanager
def replacing(path: str | os.PathLike[str], endings: Sequence[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well, and vanishes when it does not."""
    path = checked(path, endings, force=force)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as problem:
        raise LinkwrightError(f"cannot write '{path}': {problem.strerror or problem}. Check the folder and its permissions.") from problem
    finally:
        temporary.unlink(missing_ok=True)
