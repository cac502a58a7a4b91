"""Memory and threads: results that objects hold, pickles without them, the collector of garbage, threads of linear algebra.

A store has results that a room computes once for a compiled mechanism or a skeleton, each kind with its own keys and type.

    WALKS: Store[tuple[str, ...], Walking] = Store()        in the room that fills it
    known = WALKS.of(core)                                  the walks of this mechanism, by the names of their drives

The owner holds them under the store itself, so that no two rooms can take each other's entries.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from inspect import getattr_static
from typing import Any, Generic, Protocol, TypeVar

from linkwright.properties import cached_property

Key = TypeVar("Key")
Value = TypeVar("Value")
Stores = dict["Store[Any, Any]", dict[Any, Any]]  # of one owner


class HasStores(Protocol):
    """An owner of stores."""

    @property
    def stores(self) -> Stores: ...


class Store(Generic[Key, Value]):
    """One kind of results, of all owners."""

    def of(self, owner: HasStores) -> dict[Key, Value]:
        """Return the results of an owner, to be read and filled."""
        return owner.stores.setdefault(self, {})


# ----------------------------------------------------------------------------------------------------
# Pickling and copying: an object without what it can compute again.
#
# Cached properties hold code, closures and arrays that follow from the other attributes. Left out, objects stay small, can be
# pickled and copied before and after use, and compute the same afterwards (code is found in the cache on disk, or made anew).


def essentials(self: Any) -> dict[str, Any]:
    """Attributes without cached properties: `__getstate__` of a class."""
    return {name: x for name, x in vars(self).items() if not isinstance(getattr_static(type(self), name, None), cached_property)}


# ----------------------------------------------------------------------------------------------------
# Settings of the process during a piece of work: threads of numpy's linear algebra, and the collector of garbage.
#
# The library behind numpy shares matrices of some dozen rows among all cores. At that size waiting for each other costs
# more than it gains, and on a busy machine a hundred times more. Where the library cannot be asked nothing changes.
# scipy brings a library of its own, which shares the small least-squares problems inside its optimizers: `optimizing` for those.
# By ctypes, not by threadpoolctl: the packages that Linkwright needs are a fixed list.

NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
NUMPY, SCIPY = "numpy.linalg._umath_linalg", "scipy.linalg._flapack"
SHARED = 25  # rows from which the library may use several threads: eigenvalues from 26, singular values from 41, products later
WORTH_IT = 500  # rows from which that pays


@cache
def _threads(module: str = NUMPY) -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How to read and set the number of threads of the library that this compiled module is linked to."""
    try:
        library = ctypes.CDLL(str(import_module(module).__file__))
    except (ImportError, OSError):
        return None
    for name in NAMES:
        ask, put = (getattr(library, name.format(verb), None) for verb in ("get", "set"))
        if ask is not None and put is not None:
            return ask, put
    return None


@contextmanager
def one_thread(rows: int) -> Generator[None]:
    """Inside, matrices of that many rows are decomposed on one thread if they are too small to share."""
    with _alone([_threads(NUMPY)] if SHARED <= rows < WORTH_IT else []):
        yield


@contextmanager
def optimizing() -> Generator[None]:
    """Inside, an optimizer of scipy (SLSQP, least_squares) and what it calls compute on one thread."""
    with _alone([_threads(NUMPY), _threads(SCIPY)]):
        yield


@contextmanager
def _alone(libraries: Sequence[tuple[Callable[[], int], Callable[[int], None]] | None]) -> Generator[None]:
    found = [x for x in libraries if x is not None]
    before = [ask() for ask, _ in found]
    for _, put in found:
        put(1)
    try:
        yield
    finally:
        for (_, put), threads in zip(found, before, strict=True):
            put(threads)


# ----------------------------------------------------------------------------------------------------
# Making many objects at once: reading a long model, tracing a large program
# Python's collector of cycles looks through all objects again and again while their number grows, which is a quarter to a half of the
# time of such work, and finds nothing: the objects are in use. Inside `all_in_use` it waits.


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
