"""The contract of an export format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from linkwright.api import UsageError, files

if TYPE_CHECKING:
    from linkwright.api import Names, State

PYTHON_ONLY = "-"  # flag of an option that the command line has not, or has in its own way
DRIVE = "drive"  # the option by which a format takes drives, as `m.simulate` does: dict by joint
LAWS = {
    "torque": "its torque, an input there",
    "speed": "its prescribed speed, an input there",
    "position": "its prescribed motion, an input there",
    "moves": "its prescribed motion, an input there",
    "dc_motor": "its DC motor: the torque is an input there",
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


class ExportOptions(TypedDict, total=False):
    """The options of all formats with their types, for callers of `m.export`; each format has some of them."""

    alone: bool
    bore: float | str
    by: Names
    cam: str
    contacts: Names
    dialect: str
    dimensions: bool
    drive: Mapping[str, Any]
    drives: Names
    fallback: bool
    floor: float | str
    inputs: Mapping[str, str]
    interface: str
    joints: Names
    kernels: Names
    motors: Names
    moved: Names
    name: str
    namespace: str
    outputs: Names
    parameters: Names
    platforms: Names
    points: Mapping[str, Any]
    positions: Any
    precision: str
    start: State
    steps: int
    tasks: Names
    timestep: float | str
    trace: Names
    version: str
    width: float | str
    zero: Any


class ExportedTexts(NamedTuple):
    """The files of an export by name, and what the format cannot hold: `writer` is its name in the warning, `advice` ends that."""

    files: Mapping[str, str]
    lost: tuple[Any, ...] = ()
    writer: str = ""
    advice: str = ""


@dataclass(frozen=True)
class ExportFormat:
    """A format: `texts(mechanism, file, folder, **options)` gives the texts of its files, of which `file` is one.

    `folder` is the one they are written to, for relative names of meshes; None without one. `binary(mechanism, path, **options)` in its
    place writes a file that is no text.
    """

    name: str
    endings: tuple[str, ...]
    about: str
    options: tuple[ExportOption, ...]
    texts: Callable[..., ExportedTexts] | None = None
    binary: Callable[..., Path] | None = None

    def as_texts(self, mechanism: Any, **options: Any) -> dict[str, str]:
        """Return the texts of the files by name; a `name` among the options names them, `model` otherwise."""
        if self.texts is None:
            raise UsageError(
                f"the format {self.name} is not a text. Give the path of a file: m.export('model{self.endings[0]}').", name="format"
            )
        stem = options.get("name") if any(x.keyword == "name" for x in self.options) else None
        found = self.texts(mechanism, f"{stem or 'model'}{self.endings[0]}", None, **options)
        _warn(mechanism, found)
        return dict(found.files)

    def write(self, mechanism: Any, path: Any, **options: Any) -> list[Path]:
        """Write the files and return their paths. A second file that Linkwright did not make is not replaced."""
        if self.texts is None:
            assert self.binary is not None
            return [self.binary(mechanism, path, **options)]
        place = files.checked(path, self.endings)
        found = self.texts(mechanism, place.name, os.path.dirname(os.path.abspath(place)), **options)
        texts = {place.with_name(file): text for file, text in found.files.items()}
        for other in texts:
            if other != place and other.exists() and not files.made_by_linkwright(other):
                raise UsageError(
                    f"'{files.shown(other)}' belongs to '{files.shown(place)}', but exists and was not made by Linkwright. "
                    "Give the export another name.",
                    name=files.shown(other),
                )
        written = [files.write_text(other, (other.suffix,), text) for other, text in texts.items()]
        _warn(mechanism, found)
        return written

    @property
    def takes_drives(self) -> bool:
        return any(x.keyword == DRIVE for x in self.options)


def _warn(mechanism: Any, found: ExportedTexts) -> None:
    from linkwright.rings.exchange.writing.losses import warn

    warn(found.writer, mechanism.description.name, found.lost, found.advice)


def listed(text: str) -> list[str]:
    """Names separated by commas."""
    return [x.strip() for x in text.split(",") if x.strip()]


TRANSMISSION = (
    ExportOption(
        "motors",
        "motors of a transmission that is written alone (robot formats get its equivalent tree)",
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
        raise UsageError(
            f"a transmission needs motors and joints. Name the {'motors' if motors is None else 'joints'} as well.", name="motors"
        )
    alone("a transmission", others)
    return mechanism.system.transmission(motors, joints)


def alone(what: str, others: Mapping[str, Any]) -> None:
    """Raise UsageError for options of the whole mechanism with something that is written alone."""
    for key, value in others.items():
        if value is not None:
            raise UsageError(f"the option '{key}' belongs to the whole mechanism, not to {what}. Leave it out.", name=key)


def tree_of(mechanism: Any, motors: Any, joints: Any) -> Any:
    """The equivalent tree of the transmission with these motors and joints; the mechanism itself without them."""
    t = transmission_of(mechanism, motors, joints, {})
    return mechanism if t is None else t.tree()


def number(text: str) -> float:
    """A plain number of the command line."""
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"'{text}' is not a number.", name=text) from None


def warn_of_losses(mechanism: Any, writer: str, *, laws: bool) -> None:
    """Warn of what acts in `simulate` alone: rigid stops, contacts, play, friction that sticks and, without `laws`, what drives do."""
    from linkwright.api import elements
    from linkwright.rings.exchange.writing.losses import Loss, never_stuck, two_sided, warn

    d = mechanism.description
    stops = [Loss(s.name, "a rigid stop, which nothing holds there") for s in d.stops if s.rigid]
    ropes = [Loss(x.name, f"a slack {x.word}, which does not pull there") for x in d.pulling]
    met = [Loss(x.name, f"{x.word}: nothing touches there") for x in elements.every(d) if x.meets]
    lost = [*stops, *ropes, *met, *two_sided(d), *never_stuck(d)]
    advice = ""
    if stops:
        first = "Write the model as YAML first, m.save('my.yaml') or `linkwright export`, and give" if mechanism.imported else "Give"
        advice = f"{first} the stops a `stiffness:`."
    warn(writer, d.name, [*lost, *(() if laws else _laws(d.drives))], advice)


def _laws(drives: Iterable[Any]) -> Iterator[Any]:
    """Laws, gears and limits of drives, where efforts and motions are inputs."""
    from linkwright.rings.exchange.writing.losses import Loss

    for drive in drives:
        given = not isinstance(drive.value, (int, float)) or bool(drive.value)
        if drive.kind in LAWS and (drive.kind != "torque" or given):
            yield Loss(drive.joint, LAWS[drive.kind], "drive")
        if drive.gear_ratio != 1.0:
            yield Loss(drive.joint, "its gear: the input there is the effort at the joint", "drive")
        if drive.limits != (None, None):
            yield Loss(drive.joint, "limits of its effort", "drive")
