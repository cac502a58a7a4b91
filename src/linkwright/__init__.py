"""Linkwright: mechanisms with closed kinematic loops, from the drawing to their motion.

    import linkwright as lw

    m = lw.load("wiper")              # shipped name, path or dict
    print(m.info())
    c = m.cycle()                      # one cycle of the drive
    c["rocker.angle", "deg"]

Every public name has this one import path; its implementation is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwright.drives import force, motor, moves, position, speed, torque, voltage
    from linkwright.errors import AssemblyError, ChannelError, LinkwrightError, ModelError, SimulationError, SingularityError, UsageError
    from linkwright.model import library as models
    from linkwright.model.curves.laws import law_factors
    from linkwright.model.description import Description
    from linkwright.model.file.schema import schema
    from linkwright.numerics.spatial import Pose
    from linkwright.results.measures.definition import Measure
    from linkwright.results.measures.grammar import path_distance
    from linkwright.results.state import State
    from linkwright.results.trajectory import Trajectory
    from linkwright.rings.control import (
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
    from linkwright.rings.design.comparison import Comparison, compare, control_report
    from linkwright.rings.design.optimization.pareto_front import ParetoFront
    from linkwright.rings.design.optimization.result import OptimizationResult
    from linkwright.rings.design.studies.cases import following, settling, simulating, turning
    from linkwright.rings.design.studies.study import Study
    from linkwright.rings.exchange import to_mjcf, to_pinocchio
    from linkwright.rings.exchange.bridges.functions import Bridge
    from linkwright.rings.robots.identification import calibrate, excitation, identify
    from linkwright.rings.robots.identification.calibration_result import Calibration
    from linkwright.rings.robots.identification.fourier_excitation import Excitation
    from linkwright.rings.robots.identification.result import Identification
    from linkwright.rings.robots.time_optimal.result import TimeOptimalMotion
    from linkwright.rings.robots.transmission.maps import Transmission
    from linkwright.rings.robots.workspace.result import Workspace
    from linkwright.rings.robots.workspace.result_modes import WorkspaceModes
    from linkwright.rings.synthesis.answers import SynthesisResult, SynthesizedLinkage
    from linkwright.simulation.mode_switching import engage, lock, release, unlock, when
    from linkwright.simulation.stabilizers.baumgarte import baumgarte
    from linkwright.simulation.stabilizers.post_adjust import post_adjust
    from linkwright.simulation.stabilizers.project import project
    from linkwright.simulation.stepper import Stepper
    from linkwright.system.cycles import Trajectories
    from linkwright.system.mechanism import Mechanism, compile, load, open, study, synthesize
    from linkwright.system.system import System
    from linkwright.text.goals import Goal, Requirement
    from linkwright.text.ranges import Range, Tolerance
    from linkwright.text.windows import Window

__version__ = "0.1.0"

__all__ = [
    "AssemblyError",
    "Bridge",
    "Calibration",
    "ChannelError",
    "Comparison",
    "Description",
    "Excitation",
    "Goal",
    "Identification",
    "LinkwrightError",
    "Measure",
    "Mechanism",
    "ModelError",
    "OptimizationResult",
    "ParetoFront",
    "Pose",
    "Range",
    "Requirement",
    "SimulationError",
    "SingularityError",
    "State",
    "Stepper",
    "Study",
    "SynthesisResult",
    "SynthesizedLinkage",
    "System",
    "TimeOptimalMotion",
    "Tolerance",
    "Trajectories",
    "Trajectory",
    "Transmission",
    "UsageError",
    "Window",
    "Workspace",
    "WorkspaceModes",
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
    "synthesize",
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
    "OptimizationResult": "optimization.optimum",
    "Workspace": "motion.atlas.result",
    "WorkspaceModes": "motion.atlas.result_modes",
    "TimeOptimalMotion": "motion.fastest.result",
    "ParetoFront": "optimization.front",
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
    "SynthesisResult": "synthesis.answers",
    "SynthesizedLinkage": "synthesis.answers",
    "System": "system.system",
    "Trajectory": "results.trajectory",
    "Transmission": "system.transmission.maps",
    "Trajectories": "system.cycles",
    "compare": "design.comparison",
    "compile": "mechanism",
    "control_report": "design.comparison",
    "load": "mechanism",
    "open": "mechanism",
    "path_distance": "results.measures.grammar",
    "study": "mechanism",
    "synthesize": "mechanism",
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
    "baumgarte": "simulation.stabilizers.baumgarte",
    "post_adjust": "simulation.stabilizers.post_adjust",
    "project": "simulation.stabilizers.project",
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
