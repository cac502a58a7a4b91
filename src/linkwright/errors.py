"""What went wrong, where, what is allowed and what to do: every error a user can meet.

All of them derive from `LinkwrightError`, so `except lw.LinkwrightError` catches whatever
bad input can cause. The text is one paragraph a person can act on; data that a program may
want (the place, the gap, the names allowed) is kept in attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any


@dataclass(frozen=True)
class Source:
    """A place in a model file; `line` counts from 1, 0 when a dict has no lines."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class LinkwrightError(Exception):
    """Base of all errors that a user's input can cause."""


class ModelError(LinkwrightError):
    """The model file (or dict) does not describe a mechanism."""

    def __init__(self, message: str, where: Source | None = None):
        self.where = where
        self.message = message
        super().__init__(f"{where}: {message}" if where else message)


class AssemblyError(LinkwrightError):
    """The loops cannot be closed from here (`gap` in metres, `loop` names the worst one)."""

    def __init__(self, message: str, *, gap: float = float("nan"), loop: str = ""):
        self.gap, self.loop = gap, loop
        super().__init__(message)


class SingularityError(LinkwrightError):
    """The configuration does not decide what was asked (`singular_values` say how badly)."""

    def __init__(self, message: str, *, singular_values: tuple[float, ...] = ()):
        self.singular_values = singular_values
        super().__init__(message)


class ChannelError(LinkwrightError):
    """A result has no channel of that name."""


class UsageError(LinkwrightError):
    """A call got an argument it cannot use."""


class SimulationError(LinkwrightError):
    """A run could not go on; `run` holds everything up to there."""

    def __init__(self, message: str, run: Any = None):
        self.run = run
        super().__init__(message)


def listing(names: Iterable[str], most: int = 12) -> str:
    """`a, b, c, ... (40 in all)`: names for an error message, bounded in length."""
    all_names = [str(n) for n in names]
    if len(all_names) <= most:
        return ", ".join(all_names)
    return ", ".join(all_names[:most]) + f", ... ({len(all_names)} in all)"


def nearest(name: str, allowed: Iterable[str], kind: str) -> str:
    """The tail of an unknown-name message: did-you-mean, then what is allowed.

    >>> nearest("copler", ["crank", "coupler"], "Bodies")
    "Did you mean 'coupler'? Bodies: crank, coupler."
    """
    allowed = [str(a) for a in allowed]
    close = get_close_matches(str(name), allowed, n=1, cutoff=0.6)
    hint = f"Did you mean '{close[0]}'? " if close else ""
    return f"{hint}{kind}: {listing(allowed) or 'none'}."
