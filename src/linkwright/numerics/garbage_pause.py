"""Making many objects at once: reading a long model, tracing a large program.

Python's collector of cycles looks through all objects again and again while their number grows, which is a quarter to a half of the
time of such work, and finds nothing: the objects are in use. Inside `all_in_use` it waits.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def all_in_use() -> Generator[None]:
    """Inside, cycles are not collected; also a decorator of functions."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
