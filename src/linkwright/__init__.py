"""Linkwright: mechanisms with closed kinematic loops, from the drawing to their motion.

    import linkwright as lw

    m = lw.load("wiper")              # shipped name, path or dict
    print(m.info())
    c = m.turn()                      # one cycle of the drive
    c["rocker.angle", "deg"]

Every public name has this one import path; its implementation is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwright.bridges.functions import Bridge
    from linkwright.control import (  # fmt: skip
        actuator,
        control_law,
        csv,
        encoder,
        hybrid,
        impedance,
        inverse_dynamics,
        lqr,
        minimum_jerk,
        noise,
        pd,
        polyline,
        projected,
        setpoint,
        sinusoid,
        spline,
        trapezoidal,
    )
    from linkwright.design.comparison import Comparison, compare, control_report
    from linkwright.drives import force, motor, moves, position, speed, torque, voltage
    from linkwright.errors import AssemblyError, ChannelError, LinkwrightError, ModelError, SimulationError, SingularityError, UsageError
    from linkwright.exchange import to_mjcf, to_pinocchio
    from linkwright.identification import calibrate, excitation, identify
    from linkwright.identification.calibration import Calibration
    from linkwright.identification.fourier_excitation import Excitation
    from linkwright.identification.identification import Identification
    from linkwright.mechanism import Mechanism, compile, load, open, study, synthesise
    from linkwright.model import library as models
    from linkwright.model.curves.laws import law_factors
    from linkwright.model.description import Description
    from linkwright.model.file.schema import schema
    from linkwright.motion.atlas.result import Atlas
    from linkwright.motion.atlas.result_modes import AtlasModes
    from linkwright.motion.fastest.result import FastestMotion
    from linkwright.numerics.spatial import Pose
    from linkwright.optimisation.front import ParetoFront
    from linkwright.optimisation.optimum import Optimum
    from linkwright.results.measures.definition import Measure
    from linkwright.results.measures.grammar import path_distance
    from linkwright.results.state import State
    from linkwright.results.trajectory import Trajectory
    from linkwright.simulation.stabilisers.baumgarte import baumgarte
    from linkwright.simulation.stabilisers.post_adjust import post_adjust
    from linkwright.simulation.stabilisers.project import project
    from linkwright.simulation.stepper import Stepper
    from linkwright.simulation.switching import engage, lock, release, unlock, when
    from linkwright.studies.cases import following, settling, simulating, turning
    from linkwright.studies.study import Study
    from linkwright.synthesis.answers import Syntheses, SynthesisedLinkage
    from linkwright.system.system import System
    from linkwright.system.transmission.maps import Transmission
    from linkwright.system.turns import Turns
    from linkwright.text.goals import Goal, Requirement
    from linkwright.text.ranges import Range, Tolerance
    from linkwright.text.windows import Window

__version__ = "0.1.0"

__all__ = [
    "AssemblyError",
    "Atlas",
    "AtlasModes",
    "Bridge",
    "Calibration",
    "ChannelError",
    "Comparison",
    "Description",
    "Excitation",
    "FastestMotion",
    "Goal",
    "Identification",
    "LinkwrightError",
    "Measure",
    "Mechanism",
    "ModelError",
    "Optimum",
    "ParetoFront",
    "Pose",
    "Range",
    "Requirement",
    "SimulationError",
    "SingularityError",
    "State",
    "Stepper",
    "Study",
    "Syntheses",
    "SynthesisedLinkage",
    "System",
    "Tolerance",
    "Trajectory",
    "Transmission",
    "Turns",
    "UsageError",
    "Window",
    "__version__",
    "actuator",
    "baumgarte",
    "calibrate",
    "compare",
    "compile",
    "control_law",
    "control_report",
    "csv",
    "encoder",
    "engage",
    "excitation",
    "following",
    "force",
    "hybrid",
    "identify",
    "impedance",
    "inverse_dynamics",
    "law_factors",
    "load",
    "lock",
    "lqr",
    "minimum_jerk",
    "models",
    "motor",
    "moves",
    "noise",
    "open",
    "path_distance",
    "pd",
    "polyline",
    "position",
    "post_adjust",
    "project",
    "projected",
    "release",
    "schema",
    "setpoint",
    "settling",
    "simulating",
    "sinusoid",
    "speed",
    "spline",
    "study",
    "synthesise",
    "to_mjcf",
    "to_pinocchio",
    "torque",
    "trapezoidal",
    "turning",
    "unlock",
    "voltage",
    "when",
]

_HOME = {
    "Comparison": "design.comparison",
    "Description": "model.description",
    "Calibration": "identification.calibration",
    "Excitation": "identification.fourier_excitation",
    "Identification": "identification.identification",
    "Mechanism": "mechanism",
    "Optimum": "optimisation.optimum",
    "Atlas": "motion.atlas.result",
    "AtlasModes": "motion.atlas.result_modes",
    "FastestMotion": "motion.fastest.result",
    "ParetoFront": "optimisation.front",
    "Bridge": "bridges.functions",
    "Pose": "numerics.spatial",
    "Goal": "text.goals",
    "Measure": "results.measures.definition",
    "Range": "text.ranges",
    "Requirement": "text.goals",
    "Window": "text.windows",
    "Tolerance": "text.ranges",
    "State": "results.state",
    "Stepper": "simulation.stepper",
    "Study": "studies.study",
    "Syntheses": "synthesis.answers",
    "SynthesisedLinkage": "synthesis.answers",
    "System": "system.system",
    "Trajectory": "results.trajectory",
    "Transmission": "system.transmission.maps",
    "Turns": "system.turns",
    "compare": "design.comparison",
    "compile": "mechanism",
    "control_report": "design.comparison",
    "load": "mechanism",
    "open": "mechanism",
    "path_distance": "results.measures.grammar",
    "study": "mechanism",
    "synthesise": "mechanism",
    **dict.fromkeys(("calibrate", "excitation", "identify"), "identification"),
    **dict.fromkeys(("following", "settling", "simulating", "turning"), "studies.cases"),
    "to_mjcf": "exchange",
    "to_pinocchio": "exchange",
    **dict.fromkeys(
        (
            "actuator",
            "csv",
            "control_law",
            "encoder",
            "hybrid",
            "impedance",
            "inverse_dynamics",
            "lqr",
            "minimum_jerk",
            "noise",
            "pd",
            "polyline",
            "projected",
            "setpoint",
            "sinusoid",
            "spline",
            "trapezoidal",
        ),
        "control",
    ),
    **dict.fromkeys(("force", "motor", "moves", "position", "speed", "torque", "voltage"), "drives"),
    "law_factors": "model.curves.laws",
    "schema": "model.file.schema",
    **dict.fromkeys(
        ("AssemblyError", "ChannelError", "LinkwrightError", "ModelError", "SimulationError", "SingularityError", "UsageError"), "errors"
    ),
    **dict.fromkeys(("engage", "lock", "release", "unlock", "when"), "simulation.switching"),
    "baumgarte": "simulation.stabilisers.baumgarte",
    "post_adjust": "simulation.stabilisers.post_adjust",
    "project": "simulation.stabilisers.project",
}


def __getattr__(name: str) -> Any:
    if name == "models":
        return import_module("linkwright.model.library")
    if name in _HOME:
        value = getattr(import_module(f"linkwright.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'linkwright' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
