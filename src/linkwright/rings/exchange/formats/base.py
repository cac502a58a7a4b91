"""The contract of an export format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkwright.errors import UsageError

PYTHON_ONLY = "-"  # flag of an option that the command line has not, or has in its own way
DRIVE = "drive"  # the option by which a format takes drives, as `m.simulate` does: dict by joint
LAWS = {
    "torque": "its torque, an input there",
    "speed": "its prescribed speed, an input there",
    "position": "its prescribed motion, an input there",
    "moves": "its prescribed motion, an input there",
    "motor_dc": "its DC motor: the torque is an input there",
}


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


TRANSMISSION = (
    ExportOption(
        "motors",
        "a transmission: its motors, and by --joints the joints that they move; robot formats get the equivalent tree",
        metavar="A,B",
        read=listed,
    ),
    ExportOption("joints", "joints of the transmission", metavar="A,B", read=listed),
)


def transmission_of(mechanism: Any, motors: Any, joints: Any, others: Mapping[str, Any]) -> Any:
    """The transmission with these motors and joints; None without both. Raise UsageError for one alone, and for `others` that are given."""
    if motors is None and joints is None:
        return None
    if motors is None or joints is None:
        raise UsageError(f"a transmission needs motors and joints; name the {'motors' if motors is None else 'joints'} as well.")
    for key, value in others.items():
        if value is not None:
            raise UsageError(f"the option '{key}' belongs to the whole mechanism; a transmission has none. Leave it out.")
    return mechanism.system.transmission(motors, joints)


def tree_of(mechanism: Any, motors: Any, joints: Any) -> Any:
    """The equivalent tree of the transmission with these motors and joints; the mechanism itself without them."""
    t = transmission_of(mechanism, motors, joints, {})
    return mechanism if t is None else t.tree()


def number(text: str) -> float:
    """A plain number of the command line."""
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"'{text}' is not a number.") from None


def warn_of_losses(mechanism: Any, writer: str, *, laws: bool) -> None:
    """Warn of what acts in `simulate` alone: rigid stops and, where a format has no `laws` of drives inside, what the drives do."""
    from linkwright.rings.exchange.writing.losses import Loss, warn

    d = mechanism.description
    lost = [Loss(s.name, "a rigid stop, which nothing holds there") for s in d.rigid_stops]
    advice = ""
    if lost:
        first = "Write the model as YAML first, m.save('my.yaml') or `linkwright convert`, and give" if mechanism.imported else "Give"
        advice = f"{first} the stops a `stiffness:`."
    warn(writer, d.name, [*lost, *(() if laws else _laws(d.drives))], advice)


def _laws(drives: Iterable[Any]) -> Iterator[Any]:
    """Laws, gears and limits of drives, where efforts and motions are inputs."""
    from linkwright.rings.exchange.writing.losses import Loss

    for drive in drives:
        given = not isinstance(drive.value, (int, float)) or bool(drive.value)
        if drive.kind in LAWS and (drive.kind != "torque" or given):
            yield Loss(drive.joint, LAWS[drive.kind], "drive")
        if drive.gear != 1.0:
            yield Loss(drive.joint, "its gear: the input there is the effort at the joint", "drive")
        if drive.limits != (None, None):
            yield Loss(drive.joint, "limits of its effort", "drive")
