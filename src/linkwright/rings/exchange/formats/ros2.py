"""A transmission of ros2_control: see `linkwright.rings.robots.transmission.ros2`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright.api import UsageError
from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportedTexts, ExportFormat, ExportOption, transmission_of
from linkwright.rings.exchange.formats.c_sources import prefix_of


def texts(
    mechanism: Any, file: str, folder: str | None, *, namespace: str = "linkage", motors: Any = None, joints: Any = None
) -> ExportedTexts:
    """The C++ of `file`, and beside it the C, the loader, its description and the elements of the URDF."""
    from linkwright.api import transmission_sources
    from linkwright.rings.robots.transmission import ros2

    t = transmission_of(mechanism, motors, joints, {})
    if t is None:
        raise UsageError("a transmission of ROS 2 needs motors=[...] and joints=[...] (--motors A,B --joints C,D).", name="motors")
    stem = Path(file).stem
    name = prefix_of(stem)
    if name != stem:
        raise UsageError(f"the file's name begins all names of the C++ and must be one: '{name}.hpp', not '{file}'.", value=file)
    title = f"Transmission of {t.core.description.name or 'a mechanism'} by Linkwright."
    more = ros2.texts(name, namespace, t.motors, t.joints, title, t.range)
    return ExportedTexts({**transmission_sources.c(t.core.kernels, t._sides, name=name), **more})


FORMAT = ExportFormat(
    name="ros2",
    endings=(".hpp",),
    about="a transmission of ros2_control (ROS 2): C, C++, loader and URDF elements",
    options=(*TRANSMISSION, ExportOption("namespace", "namespace of the C++ (default: linkage)", metavar="NAME")),
    texts=texts,
)
