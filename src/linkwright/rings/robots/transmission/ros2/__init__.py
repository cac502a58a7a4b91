"""A transmission of ros2_control: its C, a Transmission in C++ on top, a loader for pluginlib, and the elements of the URDF.

NAME.h NAME.c          the map (see `kernels.transmission_sources`)
NAME.hpp               class CLASS : transmission_interface::Transmission
NAME_loader.cpp        its loader;  NAME_plugin.xml  describes it to pluginlib
NAME_urdf.xml          <transmission> for <ros2_control>, and limits of the joints
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as xml
from xml.sax.saxutils import quoteattr

from linkwright.api import UsageError

_HERE = Path(__file__).parent
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def texts(
    name: str, namespace: str, motors: Sequence[str], joints: Sequence[str], title: str, limits: Mapping[str, tuple[float, float]]
) -> dict[str, str]:
    """The C++ and XML of a transmission whose C has the prefix `name`."""
    for what, word in (("name", name), ("namespace", namespace)):
        if not isinstance(word, str) or not _WORD.fullmatch(word):
            raise UsageError(f"{what} of a transmission of ROS 2 is an identifier of C++, not {word!r:.60}.", name=what, value=word)
    kind = "".join(part.capitalize() for part in name.split("_")) + "Transmission"
    values = {
        "HEAD": title, "MOTORS": ", ".join(motors), "JOINTS": ", ".join(joints), "COUNT": str(len(joints)), "SPACE": namespace,
        "ACTUATOR_NAMES": ", ".join(f'"{x}"' for x in motors), "JOINT_NAMES": ", ".join(f'"{x}"' for x in joints),
    }  # fmt: skip
    files = {f"{name}.hpp": "transmission.hpp", f"{name}_loader.cpp": "loader.cpp"}
    out = {file: _filled((_HERE / source).read_text(encoding="utf-8"), values, name, kind) for file, source in files.items()}
    return {
        **out,
        f"{name}_plugin.xml": _plugin(name, namespace, kind, title),
        f"{name}_urdf.xml": _elements(name, namespace, kind, title, motors, joints, limits),
    }


def _filled(text: str, values: Mapping[str, str], name: str, kind: str) -> str:
    for key, value in values.items():
        text = re.sub(rf"\b{key}\b", lambda _, value=value: value, text)
    return re.sub(r"\bCLASS(?=Loader\b|\b)", kind, re.sub(r"\bNAME(?=_|\b)", name, text))


def _plugin(name: str, namespace: str, kind: str, title: str) -> str:
    path = quoteattr(f"{name}_transmission")
    base = "transmission_interface::TransmissionLoader"
    lines = [
        f"<!-- Written by Linkwright. {title} -->", f"<library path={path}>",
        f'  <class name="{namespace}/{kind}" type="{namespace}::{kind}Loader" base_class_type="{base}">',
        "    <description>Motors and joints of a linkage, both ways.</description>", "  </class>", "</library>", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _elements(
    name: str,
    namespace: str,
    kind: str,
    title: str,
    motors: Sequence[str],
    joints: Sequence[str],
    limits: Mapping[str, tuple[float, float]],
) -> str:
    """<transmission>, and <joint> with its range, for the URDF."""
    root = xml.Element("ros2_control", name=name, type="system")
    root.append(xml.Comment(f" Written by Linkwright. {title} ".replace("--", "- -")))
    for joint in joints:
        e = xml.SubElement(root, "joint", name=joint)
        command = xml.SubElement(e, "command_interface", name="position")
        for key, value in zip(("min", "max"), limits[joint], strict=True):
            xml.SubElement(command, "param", name=key).text = f"{value:.9g}"
        for state in ("position", "velocity", "effort"):
            xml.SubElement(e, "state_interface", name=state)
    t = xml.SubElement(root, "transmission", name=f"{name}_transmission")
    xml.SubElement(t, "plugin").text = f"{namespace}/{kind}"
    for what, names in (("actuator", motors), ("joint", joints)):
        for i, x in enumerate(names, start=1):
            xml.SubElement(t, what, name=x, role=f"{what}{i}")
    xml.indent(root, "  ")
    return xml.tostring(root, encoding="unicode") + "\n"
