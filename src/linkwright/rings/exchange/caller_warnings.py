"""Warnings of reading and writing, shown at the caller's own line."""

from __future__ import annotations

import os
import sys
import warnings

from linkwright.api import errors

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(errors.__file__)))


def warn_caller(warning: Warning) -> None:
    """Warn at the first line outside of Linkwright."""
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(warning, stacklevel=depth)
