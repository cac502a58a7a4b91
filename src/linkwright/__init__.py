"""Linkwright: mechanisms with closed kinematic loops, from the drawing to their motion.

    import linkwright as lw

    m = lw.load("wiper")              # shipped name, path or dict
    print(m.info())
    c = m.turn()                      # one cycle of the drive
    c["rocker.angle", "deg"]

Every public name has this one import path; what stands behind it is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwright import models
    from linkwright.comparison import Comparison, compare, control_report
    from linkwright.controllers import (
        actuator,
        csv,
        hybrid,
        inverse_dynamics,
        lqr,
        minimum_jerk,
        noise,
        pd,
        projected,
        setpoint,
        sinusoid,
        spline,
        trapezoidal,
    )  # fmt: skip
    from linkwright.converters import to_mjcf, to_pinocchio
    from linkwright.description import Description
    from linkwright.drives import force, motor, position, speed, torque, voltage
    from linkwright.errors import AssemblyError, ChannelError, LinkwrightError, ModelError, SimulationError, SingularityError, UsageError
    from linkwright.mechanism import Mechanism, compile, load, open
    from linkwright.results import Trajectory
    from linkwright.simulation.switching import engage, lock, release, unlock, when
    from linkwright.spatial import Pose
    from linkwright.stabilisers.baumgarte import baumgarte
    from linkwright.stabilisers.post_adjust import post_adjust
    from linkwright.state import State
    from linkwright.system import System

__version__ = "0.1.0"

__all__ = [
    "AssemblyError",
    "ChannelError",
    "Comparison",
    "Description",
    "LinkwrightError",
    "Mechanism",
    "ModelError",
    "Pose",
    "SimulationError",
    "SingularityError",
    "State",
    "System",
    "Trajectory",
    "UsageError",
    "__version__",
    "actuator",
    "baumgarte",
    "compare",
    "compile",
    "control_report",
    "csv",
    "engage",
    "force",
    "hybrid",
    "inverse_dynamics",
    "load",
    "lock",
    "lqr",
    "minimum_jerk",
    "models",
    "motor",
    "noise",
    "open",
    "pd",
    "position",
    "post_adjust",
    "projected",
    "release",
    "setpoint",
    "sinusoid",
    "speed",
    "spline",
    "to_mjcf",
    "to_pinocchio",
    "torque",
    "trapezoidal",
    "unlock",
    "voltage",
    "when",
]

_HOME = {
    "Comparison": "comparison",
    "Description": "description",
    "Mechanism": "mechanism",
    "Pose": "spatial",
    "State": "state",
    "System": "system",
    "Trajectory": "results",
    "compare": "comparison",
    "compile": "mechanism",
    "control_report": "comparison",
    "load": "mechanism",
    "open": "mechanism",
    "to_mjcf": "converters",
    "to_pinocchio": "converters",
    **dict.fromkeys(
        (
            "actuator",
            "csv",
            "hybrid",
            "inverse_dynamics",
            "lqr",
            "minimum_jerk",
            "noise",
            "pd",
            "projected",
            "setpoint",
            "sinusoid",
            "spline",
            "trapezoidal",
        ),
        "controllers",
    ),
    **dict.fromkeys(("force", "motor", "position", "speed", "torque", "voltage"), "drives"),
    **dict.fromkeys(
        ("AssemblyError", "ChannelError", "LinkwrightError", "ModelError", "SimulationError", "SingularityError", "UsageError"), "errors"
    ),
    **dict.fromkeys(("engage", "lock", "release", "unlock", "when"), "simulation.switching"),
    "baumgarte": "stabilisers.baumgarte",
    "post_adjust": "stabilisers.post_adjust",
}


def __getattr__(name: str) -> Any:
    if name == "models":
        return import_module("linkwright.models")
    if name in _HOME:
        value = getattr(import_module(f"linkwright.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'linkwright' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
