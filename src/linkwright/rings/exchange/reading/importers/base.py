"""The contract of an import format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from linkwright.rings.exchange.import_report import Imported

CONTACTS = "what touches: 'ground', or names such as ['foot', 'finger with ball'] (default: nothing)"


@dataclass(frozen=True)
class ImportFormat:
    """A format: `read(path, folders=..., **options)` gives what became of a file."""

    name: str
    endings: tuple[str, ...]
    roots: tuple[str, ...]  # outermost elements
    about: str
    read: Callable[..., Imported]
    options: Mapping[str, str] = field(default_factory=dict)  # keyword of `lw.load` -> its meaning
