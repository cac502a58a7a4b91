"""A transmission of ros2_control: see `linkwright.rings.robots.transmission.ros2`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportFormat, ExportOption, transmission_of
from linkwright.rings.exchange.formats.c_sources import prefix_of


def write(mechanism: Any, path: Any, *, namespace: str = "linkage", motors: Any = None, joints: Any = None) -> list[Path]:
    """Write the C++ of `path`, and beside it the C, the loader, its description and the elements of the URDF."""
    place = files.checked(path, FORMAT.endings)
    t = transmission_of(mechanism, motors, joints, {})
    if t is None:
        raise UsageError("a transmission of ROS 2 needs motors=[...] and joints=[...] (--motors A,B --joints C,D).")
    name = prefix_of(place.stem)
    if name != place.stem:
        raise UsageError(f"the file's name begins all names of the C++ and must be one: '{name}.hpp', not '{place.name}'.")
    found = {place.with_name(file): text for file, text in t.ros2(name, namespace=namespace).items()}
    for other in found:
        if other.exists() and not files.made_by_linkwright(other):
            raise UsageError(
                f"'{files.shown(other)}' belongs to the transmission '{files.shown(place)}', but exists and was not made by Linkwright. "
                "Give the transmission another name."
            )
    return [files.write_text(other, (other.suffix,), text) for other, text in found.items()]


FORMAT = ExportFormat(
    name="ros2",
    endings=(".hpp",),
    about="a transmission of ros2_control (ROS 2): C, C++, loader and URDF elements",
    options=(*TRANSMISSION, ExportOption("namespace", "of the C++ (default: linkage)", metavar="NAME")),
    write=write,
)
