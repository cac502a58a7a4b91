"""Linkwright: mechanisms with closed kinematic loops, from the drawing to their motion.

    import linkwright as lw

    m = lw.load("wiper")              # built-in name, path or dict
    print(m.info())
    c = m.cycle()                      # one cycle of the drive
    c["rocker.angle", "deg"]

Every public name has this one import path; its implementation is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwright import drives
    from linkwright.errors import AssemblyError, ChannelError, LinkwrightError, ModelError, SimulationError, SingularityError, UsageError
    from linkwright.mechanics import formulations
    from linkwright.model import library as models
    from linkwright.model.description import Description
    from linkwright.model.file.schema import schema
    from linkwright.numerics.spatial import Pose
    from linkwright.results.measures.definition import Measure
    from linkwright.results.measures.grammar import path_distance
    from linkwright.results.state import State
    from linkwright.results.trajectory import Trajectory
    from linkwright.rings import control, exchange
    from linkwright.rings.design.model_check import check
    from linkwright.rings.design.optimization.pareto_front import ParetoFront
    from linkwright.rings.design.optimization.result import OptimizationResult
    from linkwright.rings.design.studies.analyses import Cycle, Equilibrium, Path, Run
    from linkwright.rings.design.studies.request import study
    from linkwright.rings.design.studies.study import Study
    from linkwright.rings.exchange.bridges.mechanism_functions import Bridge
    from linkwright.rings.robots.identification import calibrate, excitation, identify
    from linkwright.rings.robots.identification.calibration_result import Calibration
    from linkwright.rings.robots.identification.fourier_excitation import Excitation
    from linkwright.rings.robots.identification.result import Identification
    from linkwright.rings.robots.optimal.result import OptimalMotion
    from linkwright.rings.robots.time_optimal.result import TimeOptimalMotion
    from linkwright.rings.robots.transmission.maps import Transmission
    from linkwright.rings.robots.workspace.result import Workspace, WorkspaceModes
    from linkwright.rings.studio.page import Page
    from linkwright.rings.synthesis.requests import synthesize
    from linkwright.rings.synthesis.results import SynthesisResult, SynthesizedLinkage
    from linkwright.simulation import events as events
    from linkwright.simulation import stabilizers
    from linkwright.simulation.stepper import Stepper
    from linkwright.system.mechanism import Mechanism, compile, load, load_result
    from linkwright.system.system import System
    from linkwright.text.goals import Goal, Requirement
    from linkwright.text.ranges_and_tolerances import Range, Tolerance
    from linkwright.text.windows import Window

__version__ = "0.1.0"

__all__ = [
    "AssemblyError",
    "Bridge",
    "Calibration",
    "ChannelError",
    "Cycle",
    "Description",
    "Equilibrium",
    "Excitation",
    "Goal",
    "Identification",
    "LinkwrightError",
    "Measure",
    "Mechanism",
    "ModelError",
    "OptimalMotion",
    "OptimizationResult",
    "Page",
    "ParetoFront",
    "Path",
    "Pose",
    "Range",
    "Requirement",
    "Run",
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
    "calibrate",
    "check",
    "compile",
    "control",
    "drives",
    "events",
    "exchange",
    "excitation",
    "formulations",
    "identify",
    "load",
    "load_result",
    "models",
    "path_distance",
    "schema",
    "stabilizers",
    "study",
    "synthesize",
]

_SPACES = {  # namespaces and the modules behind them
    "control": "rings.control",
    "drives": "drives",
    "events": "simulation.events",
    "exchange": "rings.exchange",
    "formulations": "mechanics.formulations",
    "models": "model.library",
    "stabilizers": "simulation.stabilizers",
}
_HOME = {  # module: its public names
    "errors": ("AssemblyError", "ChannelError", "LinkwrightError", "ModelError", "SimulationError", "SingularityError", "UsageError"),
    "model.description": ("Description",),
    "model.file.schema": ("schema",),
    "numerics.spatial": ("Pose",),
    "results.measures.definition": ("Measure",),
    "results.measures.grammar": ("path_distance",),
    "results.state": ("State",),
    "results.trajectory": ("Trajectory",),
    "rings.design.model_check": ("check",),
    "rings.design.optimization.pareto_front": ("ParetoFront",),
    "rings.design.optimization.result": ("OptimizationResult",),
    "rings.design.studies.analyses": ("Cycle", "Equilibrium", "Path", "Run"),
    "rings.design.studies.request": ("study",),
    "rings.design.studies.study": ("Study",),
    "rings.exchange.bridges.mechanism_functions": ("Bridge",),
    "rings.robots.identification": ("calibrate", "excitation", "identify"),
    "rings.robots.identification.calibration_result": ("Calibration",),
    "rings.robots.identification.fourier_excitation": ("Excitation",),
    "rings.robots.identification.result": ("Identification",),
    "rings.robots.optimal.result": ("OptimalMotion",),
    "rings.robots.time_optimal.result": ("TimeOptimalMotion",),
    "rings.robots.transmission.maps": ("Transmission",),
    "rings.robots.workspace.result": ("Workspace", "WorkspaceModes"),
    "rings.studio.page": ("Page",),
    "rings.synthesis.results": ("SynthesisResult", "SynthesizedLinkage"),
    "rings.synthesis.requests": ("synthesize",),
    "results.trajectories": ("Trajectories",),
    "simulation.stepper": ("Stepper",),
    "system.mechanism": ("Mechanism", "compile", "load", "load_result"),
    "system.system": ("System",),
    "text.goals": ("Goal", "Requirement"),
    "text.ranges_and_tolerances": ("Range", "Tolerance"),
    "text.windows": ("Window",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}
OLD_NAMES = {  # names that were, and where to look now
    "Atlas": "Workspace",
    "AtlasModes": "WorkspaceModes",
    "Comparison": "control.Comparison",
    "FastestMotion": "TimeOptimalMotion",
    "Optimum": "OptimizationResult",
    "Syntheses": "SynthesisResult",
    "Turns": "Trajectories",
    "actuator": "control.actuator",
    "baumgarte": "stabilizers.baumgarte",
    "compare": "control.compare",
    "control_law": "control.control_law",
    "csv": "control.from_csv",
    "encoder": "control.encoder",
    "engage": "events.engage",
    "following": "Path",
    "force": "drives.force",
    "hybrid": "control.hybrid",
    "impedance": "control.impedance",
    "inverse_dynamics": "control.computed_torque",
    "law_factors": "drives.law_factors",
    "lock": "events.lock",
    "lqr": "control.lqr",
    "minimum_jerk": "control.minimum_jerk",
    "motor": "drives.dc_motor",
    "moves": "drives.moves",
    "noise": "control.noise",
    "open": "load_result",
    "pd": "control.pd",
    "polyline": "control.polyline",
    "position": "drives.position",
    "post_adjust": "stabilizers.post_adjust",
    "project": "stabilizers.project",
    "projected": "control.projected",
    "release": "events.release",
    "setpoint": "control.setpoint",
    "settling": "Equilibrium",
    "simulating": "Run",
    "sinusoid": "control.sinusoid",
    "speed": "drives.speed",
    "spline": "control.spline",
    "synthesise": "synthesize",
    "to_mjcf": "Mechanism.export",
    "to_pinocchio": "System.pinocchio",
    "torque": "drives.torque",
    "trapezoidal": "control.trapezoidal",
    "turning": "Cycle",
    "unlock": "events.unlock",
    "voltage": "drives.voltage",
    "when": "events.when",
}


def __getattr__(name: str) -> Any:
    if name in _SPACES:
        value = import_module(f"linkwright.{_SPACES[name]}")
    elif name in _MODULE:
        value = getattr(import_module(f"linkwright.{_MODULE[name]}"), name)
    elif name in OLD_NAMES:
        raise AttributeError(f"lw.{name} is now lw.{OLD_NAMES[name]}.")
    else:
        raise AttributeError(f"module 'linkwright' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
