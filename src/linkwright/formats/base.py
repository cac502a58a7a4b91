"""The contract of an export format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkwright.errors import UsageError

PYTHON_ONLY = "-"  # flag of an option that the command line has not, or has in its own way
DRIVE = "drive"  # the option by which a format takes drives, as `m.simulate` does: dict by joint


@dataclass(frozen=True)
class ExportOption:
    """An option of a format: its keyword in Python, and how the command line writes it."""

    keyword: str
    help: str
    flag: str = ""  # of the command line; empty: "--" and the keyword
    metavar: str = "VALUE"
    read: Callable[[str], Any] = str  # the value from the text of one flag
    pairs: bool = False  # the flag may be repeated, with NAME=VALUE, and the values are a dict
    switch: bool = False  # a flag without a value, True where given

    @property
    def on_command_line(self) -> str:
        return self.flag or f"--{self.keyword.replace('_', '-')}"


@dataclass(frozen=True)
class ExportFormat:
    """A format: `write(mechanism, path, **options)` gives the paths of the files it wrote."""

    name: str
    endings: tuple[str, ...]
    about: str
    options: tuple[ExportOption, ...]
    write: Callable[..., list[Path]]

    @property
    def takes_drives(self) -> bool:
        return any(x.keyword == DRIVE for x in self.options)


def listed(text: str) -> list[str]:
    """Names separated by commas."""
    return [x.strip() for x in text.split(",") if x.strip()]


def number(text: str) -> float:
    """A plain number of the command line."""
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"'{text}' is not a number.") from None


def warn_of_rigid_stops(mechanism: Any, writer: str) -> None:
    """Warn of stops that act in `simulate` alone."""
    from linkwright.exchange.writing.losses import Loss, warn

    d = mechanism.description
    lost = [Loss(s.name, "a rigid stop, which nothing holds there") for s in d.stops if s.stiffness is None]
    warn(writer, d.name, lost, "Give them a `stiffness:`.")
