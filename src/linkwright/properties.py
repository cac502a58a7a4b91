"""`cached_property` that holds no lock while it computes.

Up to Python 3.11, functools has one lock for a property of all objects of a class. Two threads, each with a mechanism of its own, then wait
for each other for ever if the one needs a plan for its start and the other a start for its plan. From Python 3.12 there is no lock.
"""

from __future__ import annotations

import functools
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property):
        """Computed on first use. Threads that ask at the same time may each compute it, and get equal values."""

        def __init__(self, func: Any) -> None:
            super().__init__(func)
            self.lock = nullcontext()
