"""Pickling and copying: an object without what it can compute again.

Cached properties hold code, closures and arrays that follow from the other attributes. Left out, objects stay small, can be
pickled and copied before and after use, and compute the same afterwards (code is found in the cache on disk, or made anew).
"""

from __future__ import annotations

from functools import cached_property
from inspect import getattr_static
from typing import Any


def essentials(self: Any) -> dict[str, Any]:
    """Attributes without cached properties: `__getstate__` of a class."""
    return {name: x for name, x in vars(self).items() if not isinstance(getattr_static(type(self), name, None), cached_property)}
