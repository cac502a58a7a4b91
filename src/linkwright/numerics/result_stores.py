"""Stores: results that a room computes once for a compiled mechanism or a skeleton, each kind with its own keys and type.

    WALKS: Store[tuple[str, ...], Walking] = Store()        in the room that fills it
    known = WALKS.of(core)                                  the walks of this mechanism, by the names of their drives

The owner holds them under the store itself, so that no two rooms can take each other's entries.
"""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

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
