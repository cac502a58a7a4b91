"""FMUs: see `linkwright.rings.exchange.writing.fmu`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright.rings.exchange.formats.base import DRIVE, PYTHON_ONLY, ExportFormat, ExportOption, listed, warn_of_losses


def write(mechanism: Any, path: Any, **options: Any) -> Path:
    from linkwright.rings.exchange.writing.fmu import write_fmu

    warn_of_losses(mechanism, "FMU", laws=True)
    return write_fmu(mechanism.system, path, **options)


def _or_none(text: str) -> list[str]:
    return [] if text.strip() == "none" else listed(text)


FORMAT = ExportFormat(
    name="fmu",
    endings=(".fmu",),
    about="FMU 2.0 or 3.0, model exchange and co-simulation",
    options=(
        ExportOption("version", "version of FMI: 2.0 or 3.0 (default)", flag="--fmi", metavar="VERSION"),
        ExportOption("interface", "interface: me (model exchange), cs (co-simulation) or both (default)", metavar="NAME"),
        ExportOption(DRIVE, "drives by joint, as in simulate", flag=PYTHON_ONLY),
        ExportOption(
            "inputs",
            "input: a joint or cylinder and its kind (torque, force, voltage, position, speed, motion), a body and wrench, "
            "or a parameter of forces and efforts and parameter (default: "
            "drives of constant value)",
            flag="--input",
            metavar="NAME=KIND",
            pairs=True,
        ),
        ExportOption("outputs", "channels: outputs of the FMU (A,C.load,'C.on.*')", flag="--channels", metavar="A,B", read=listed),
        ExportOption(
            "parameters",
            "numbers that stay inputs: names or patterns, or none (default: none, but every named number for an FMU)",
            metavar="A,B",
            read=_or_none,
        ),
        ExportOption("platforms", "platforms to build for, all or none (default: this machine)", metavar="A,B", read=_or_none),
        ExportOption("start", "State it starts from", flag=PYTHON_ONLY),
        ExportOption("name", "name of files and symbols inside (default: the name of the file)", metavar="NAME"),
    ),
    binary=write,
)
