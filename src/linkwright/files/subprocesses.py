"""Programs that are run for a while, such as compilers: ended with this process, whatever ends it."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

# A compiler starts programs of its own, which outlive it and this process if that is killed. The shell waits at the other end of a pipe:
# when this process has gone, or has closed it, reading ends and the whole session is ended.
_GUARD = 'exec 3<&0; (read -r _ <&3 || kill -9 0) & "$@" 3<&- </dev/null; code=$?; kill $! 2>/dev/null; exit $code'


def run(command: Sequence[str], longest: float, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return its texts; after `longest` seconds, or when this process ends, it ends with all it started.

    Letters of its messages that are not in the system's encoding are replaced.
    """
    shared: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "timeout": longest, "check": False, **options}
    if os.name != "posix":
        return subprocess.run(list(command), **shared)
    if shutil.which(command[0]) is None:  # the shell would only say so
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    reading, writing = os.pipe()
    try:
        return subprocess.run(["/bin/sh", "-c", _GUARD, "sh", *command], stdin=reading, start_new_session=True, **shared)
    finally:
        os.close(writing)
        os.close(reading)
