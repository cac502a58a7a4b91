"""Other programs' formats: `reader` their files, `model_text` them, and one entrance for every model (`model_loading`).

    m = lw.load("robot.urdf")     a mechanism like any other; `m.imported` is the report
    m.export("my.urdf")           URDF and SDF; MJCF, FMU, C and drawings by the ending of the file
    m.export(format="mjcf")       the texts by file name; MuJoCo's XML needs nothing, `mujoco` only to read it
    p = m.system.pinocchio()      Pinocchio model and loop constraints; needs the package `pin`

What is no file is made by the system: `s.pinocchio()`, `s.jax()`, `s.torch()`, `s.casadi()`. MJCF and Pinocchio keep our bodies' frames
and coordinates; loops are closed by what the other program offers, points that coincide and frames that are welded (docs/how-to/export.md).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwright.rings.exchange.import_report import ImportedModelWarning, ImportReport
    from linkwright.rings.exchange.writing.losses import Loss, LossWarning
    from linkwright.rings.exchange.writing.mujoco.coordinate_map import MujocoMap, mujoco_state
    from linkwright.rings.exchange.writing.pinocchio import PinocchioAcceleration, PinocchioModel

_HOME = {  # imported when asked for: readers and writers are many
    "import_report": ("ImportReport", "ImportedModelWarning"),
    "writing.losses": ("Loss", "LossWarning"),
    "writing.mujoco.coordinate_map": ("MujocoMap", "mujoco_state"),
    "writing.pinocchio": ("PinocchioAcceleration", "PinocchioModel"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}
OLD_NAMES = {"to_mjcf": "m.export(format='mjcf')", "to_pinocchio": "m.system.pinocchio()"}


def __getattr__(name: str) -> Any:
    if name in OLD_NAMES:
        raise AttributeError(f"lw.exchange.{name} is now {OLD_NAMES[name]}.")
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
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
