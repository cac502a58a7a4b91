"""Other programs' formats: `reading` their files, `writing` them, and one entrance for every model (`file_kinds`).

    m = lw.load("robot.urdf")     a mechanism like any other; `m.imported` is the report
    m.export("my.urdf")           URDF and SDF; MJCF, FMU, C and drawings by the ending of the file
    text = lw.exchange.to_mjcf(m)          MuJoCo's XML; needs nothing, `mujoco` only to read it
    p = lw.exchange.to_pinocchio(m)        Pinocchio model and loop constraints; needs the package `pin`

The last two keep our bodies' frames and coordinates; loops are closed by what the other program offers, points that
coincide and frames that are welded (docs/converters.md).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwright.rings.exchange.import_report import ImportedModelWarning, ImportReport
    from linkwright.rings.exchange.writing.losses import Loss, LossWarning
    from linkwright.rings.exchange.writing.mujoco.map import MujocoMap, mujoco_state
    from linkwright.rings.exchange.writing.mujoco.text import to_mjcf
    from linkwright.rings.exchange.writing.pinocchio import PinocchioAcceleration, PinocchioModel, to_pinocchio

_HOME = {  # imported when asked for: readers and writers are many
    "import_report": ("ImportReport", "ImportedModelWarning"),
    "writing.losses": ("Loss", "LossWarning"),
    "writing.mujoco.map": ("MujocoMap", "mujoco_state"),
    "writing.mujoco.text": ("to_mjcf",),
    "writing.pinocchio": ("PinocchioAcceleration", "PinocchioModel", "to_pinocchio"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)


__all__ = [
    "ImportReport",
    "ImportedModelWarning",
    "Loss",
    "LossWarning",
    "MujocoMap",
    "PinocchioAcceleration",
    "PinocchioModel",
    "mujoco_state",
    "to_mjcf",
    "to_pinocchio",
]  # fmt: skip
