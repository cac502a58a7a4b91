"""The interface of the core for the rings: names that packages below keep stable, each found on first use.

A ring imports from here and from public names of other rings. `pyproject.toml` lists the exceptions (import-linter), and the list only
shrinks. Capitalized names are classes, lower-case names are functions, or modules whose public names belong to the interface
(`geometry.rotate`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwright import drives as drives
    from linkwright import elements as elements
    from linkwright import errors as errors
    from linkwright import files as files
    from linkwright import integrators as integrators
    from linkwright import joints as joints
    from linkwright.compiler import graph as trace_graph
    from linkwright.compiler import program as programs
    from linkwright.drives import base as drive_base
    from linkwright.errors import (
        ChannelError as ChannelError,
    )
    from linkwright.errors import (
        LinkwrightError as LinkwrightError,
    )
    from linkwright.errors import (
        ModelError as ModelError,
    )
    from linkwright.errors import (
        SingularityError as SingularityError,
    )
    from linkwright.errors import (
        Source as Source,
    )
    from linkwright.errors import (
        UsageError as UsageError,
    )
    from linkwright.errors import arguments as argument_types
    from linkwright.errors import (
        call_explained as call_explained,
    )
    from linkwright.errors import (
        calls_explained as calls_explained,
    )
    from linkwright.errors import (
        counted as counted,
    )
    from linkwright.errors import (
        degrees_of_freedom as degrees_of_freedom,
    )
    from linkwright.errors import (
        listing as listing,
    )
    from linkwright.errors import (
        nearest as nearest,
    )
    from linkwright.errors import (
        package as package,
    )
    from linkwright.errors import (
        visible as visible,
    )
    from linkwright.errors import (
        whole_number as whole_number,
    )
    from linkwright.errors.arguments import Names as Names
    from linkwright.files import csv_and_excel as sheets
    from linkwright.files import tables as text_tables
    from linkwright.files.tables import Cell as Cell
    from linkwright.files.tables import Result as Result
    from linkwright.files.tables import Table as Table
    from linkwright.files.tables import marked as marked
    from linkwright.files.tables import show as show
    from linkwright.joints import JOINTS as JOINTS
    from linkwright.joints import is_hinge as is_hinge
    from linkwright.kernels import kernels as kernel_sets
    from linkwright.kernels import transmission_sources as transmission_sources
    from linkwright.mechanics import contact as contact
    from linkwright.mechanics import forces as forces
    from linkwright.mechanics import formulations as formulations
    from linkwright.mechanics import inverse as inverse
    from linkwright.mechanics.closing import newton as closing
    from linkwright.mechanics.constraints import belt as belt_constraints
    from linkwright.mechanics.constraints import coupling as coupling_constraints
    from linkwright.mechanics.constraints import driver as driven_constraints
    from linkwright.mechanics.constraints import loops as loop_constraints
    from linkwright.mechanics.dynamics import terms as equation_terms
    from linkwright.mechanics.dynamics import tree as dynamics
    from linkwright.mechanics.instant import Instant as Instant
    from linkwright.mechanics.inverse import line_eyes as line_loads
    from linkwright.mechanics.kinematics import motion as kinematics
    from linkwright.mechanics.kinematics.motion import motion as motion
    from linkwright.mechanics.kinematics.skeleton import pose_of as pose_of
    from linkwright.model import coordinates as coordinates
    from linkwright.model import curves as curves
    from linkwright.model import description as description
    from linkwright.model import file as modelfile
    from linkwright.model import library as library
    from linkwright.model import parameters as parameters
    from linkwright.model import plausibility as plausibility
    from linkwright.model.coordinates import is_rotary as is_rotary
    from linkwright.model.coordinates import lengths as lengths
    from linkwright.model.coordinates import movable as movable
    from linkwright.model.curves import polynomial as curve_lines
    from linkwright.model.description import (
        GROUND as GROUND,
    )
    from linkwright.model.description import (
        Body as Body,
    )
    from linkwright.model.description import (
        Description as Description,
    )
    from linkwright.model.description import (
        Joint as Joint,
    )
    from linkwright.model.description import (
        Mat3 as Mat3,
    )
    from linkwright.model.description import (
        Placement as Placement,
    )
    from linkwright.model.description import (
        PointRef as PointRef,
    )
    from linkwright.model.description import (
        Vec3 as Vec3,
    )
    from linkwright.model.description import (
        Visual as Visual,
    )
    from linkwright.model.edits import edit_sheet as edit_sheet
    from linkwright.model.file import geometry as geometry
    from linkwright.model.file import quantity as quantity
    from linkwright.model.file import save_in_place as file_editing
    from linkwright.model.file import text_nodes as file_nodes
    from linkwright.model.file import written_values as written_values
    from linkwright.model.parameters import Parameter as Parameter
    from linkwright.model.parameters import every_parameter as every_parameter
    from linkwright.motion import cycle as cycles
    from linkwright.motion import joint_limits as joint_limits
    from linkwright.numerics import levenberg_marquardt as least_squares_fits
    from linkwright.numerics import linalg as linalg
    from linkwright.numerics import memory_and_threads as memory_and_threads
    from linkwright.numerics import scalars as scalars
    from linkwright.numerics import sobol as sobol_points
    from linkwright.numerics import spatial as spatial
    from linkwright.numerics import tolerances as tolerances
    from linkwright.numerics import tracking as tracking
    from linkwright.numerics.linalg import factor as factor
    from linkwright.numerics.memory_and_threads import essentials as essentials
    from linkwright.numerics.spatial import Pose as Pose
    from linkwright.numerics.spatial import array as array
    from linkwright.numerics.spatial import cross as cross
    from linkwright.numerics.spatial import quaternion_rotation as quaternion_rotation
    from linkwright.numerics.tolerances import (
        NEGLIGIBLE as NEGLIGIBLE,
    )
    from linkwright.numerics.tolerances import (
        SAME_NUMBER as SAME_NUMBER,
    )
    from linkwright.numerics.tolerances import (
        SAME_PLACE as SAME_PLACE,
    )
    from linkwright.results import channels as channel_kinds
    from linkwright.results import checks as check_results
    from linkwright.results import element_limits as element_limits
    from linkwright.results import measures as measures
    from linkwright.results import motion_checks as motion_checks
    from linkwright.results import records as records
    from linkwright.results import singular_positions as singular_positions
    from linkwright.results.channels import graph as channel_graph
    from linkwright.results.channels import loads as load_channels
    from linkwright.results.measures import Measure as Measure
    from linkwright.results.measures.extremes import curve_extremes as curve_extremes
    from linkwright.results.state import State as State
    from linkwright.results.trajectories import Trajectories as Trajectories
    from linkwright.results.trajectory import Trajectory as Trajectory
    from linkwright.results.trajectory import unit_of as unit_of
    from linkwright.simulation import stabilizers as stabilizers
    from linkwright.simulation import state_errors as state_errors
    from linkwright.simulation.feedback import base as feedback
    from linkwright.simulation.feedback import sensors as sensors
    from linkwright.simulation.feedback.base import Control as Control
    from linkwright.simulation.feedback.controller_inputs import Situation as Situation
    from linkwright.system import inertia_regressor as inertia_regressor
    from linkwright.system.compiled import Compiled as Compiled
    from linkwright.system.compiled import compiled_of as compiled_of
    from linkwright.system.mechanism import Mechanism as Mechanism
    from linkwright.system.mechanism import compile as compile
    from linkwright.system.mechanism import load as load
    from linkwright.system.mechanism import mechanism_of as mechanism_of
    from linkwright.system.system import System as System
    from linkwright.text import expressions as expressions
    from linkwright.text import goals as goals
    from linkwright.text import patterns as patterns
    from linkwright.text import ranges_and_tolerances as ranges
    from linkwright.text import unit_meaning as readings
    from linkwright.text import units as unit_kinds
    from linkwright.text.expressions import Expr as Expr
    from linkwright.text.ranges_and_tolerances import Place as Place
    from linkwright.text.ranges_and_tolerances import meaning as meaning
    from linkwright.text.units import (
        ANGLE as ANGLE,
    )
    from linkwright.text.units import (
        KINDS as KINDS,
    )
    from linkwright.text.units import (
        LENGTH as LENGTH,
    )
    from linkwright.text.units import (
        NONE as NONE,
    )
    from linkwright.text.units import (
        Dimension as Dimension,
    )
    from linkwright.text.units import (
        display_unit as display_unit,
    )
    from linkwright.text.units import (
        matches as matches,
    )
    from linkwright.text.units import (
        parse_unit as parse_unit,
    )
    from linkwright.text.units import (
        shown as shown,
    )
    from linkwright.topology import internals as topology_report
    from linkwright.topology import solution_order as solve_orders
    from linkwright.topology import tree as spanning_tree

SPACES = {  # modules of the interface
    "argument_types": "errors.arguments",
    "belt_constraints": "mechanics.constraints.belt",
    "channel_graph": "results.channels.graph",
    "channel_kinds": "results.channels",
    "check_results": "results.checks",
    "closing": "mechanics.closing.newton",
    "contact": "mechanics.contact",
    "coordinates": "model.coordinates",
    "coupling_constraints": "mechanics.constraints.coupling",
    "curve_lines": "model.curves.polynomial",
    "curves": "model.curves",
    "cycles": "motion.cycle",
    "description": "model.description",
    "drive_base": "drives.base",
    "driven_constraints": "mechanics.constraints.driver",
    "drives": "drives",
    "dynamics": "mechanics.dynamics.tree",
    "edit_sheet": "model.edits.edit_sheet",
    "element_limits": "results.element_limits",
    "elements": "elements",
    "equation_terms": "mechanics.dynamics.terms",
    "errors": "errors",
    "expressions": "text.expressions",
    "feedback": "simulation.feedback.base",
    "file_editing": "model.file.save_in_place",
    "file_nodes": "model.file.text_nodes",
    "files": "files",
    "forces": "mechanics.forces",
    "formulations": "mechanics.formulations",
    "geometry": "model.file.geometry",
    "goals": "text.goals",
    "inertia_regressor": "system.inertia_regressor",
    "integrators": "integrators",
    "inverse": "mechanics.inverse",
    "joint_limits": "motion.joint_limits",
    "joints": "joints",
    "kernel_sets": "kernels.kernels",
    "kinematics": "mechanics.kinematics.motion",
    "least_squares_fits": "numerics.levenberg_marquardt",
    "library": "model.library",
    "linalg": "numerics.linalg",
    "line_loads": "mechanics.inverse.line_eyes",
    "load_channels": "results.channels.loads",
    "loop_constraints": "mechanics.constraints.loops",
    "measures": "results.measures",
    "memory_and_threads": "numerics.memory_and_threads",
    "modelfile": "model.file",
    "motion_checks": "results.motion_checks",
    "parameters": "model.parameters",
    "patterns": "text.patterns",
    "plausibility": "model.plausibility",
    "programs": "compiler.program",
    "ranges": "text.ranges_and_tolerances",
    "readings": "text.unit_meaning",
    "records": "results.records",
    "scalars": "numerics.scalars",
    "sensors": "simulation.feedback.sensors",
    "sheets": "files.csv_and_excel",
    "singular_positions": "results.singular_positions",
    "sobol_points": "numerics.sobol",
    "solve_orders": "topology.solution_order",
    "spanning_tree": "topology.tree",
    "spatial": "numerics.spatial",
    "stabilizers": "simulation.stabilizers",
    "state_errors": "simulation.state_errors",
    "text_tables": "files.tables",
    "tolerances": "numerics.tolerances",
    "topology_report": "topology.internals",
    "trace_graph": "compiler.graph",
    "tracking": "numerics.tracking",
    "transmission_sources": "kernels.transmission_sources",
    "unit_kinds": "text.units",
    "written_values": "model.file.written_values",
}
NAMES = {  # module: its classes and functions
    "errors": (
        "ChannelError",
        "LinkwrightError",
        "ModelError",
        "SingularityError",
        "Source",
        "UsageError",
        "call_explained",
        "calls_explained",
        "counted",
        "degrees_of_freedom",
        "listing",
        "nearest",
        "package",
        "visible",
        "whole_number",
    ),
    "errors.arguments": ("Names",),
    "files.tables": (
        "Cell",
        "Result",
        "Table",
        "marked",
        "show",
    ),
    "joints": (
        "JOINTS",
        "is_hinge",
    ),
    "mechanics.instant": ("Instant",),
    "mechanics.kinematics.motion": ("motion",),
    "mechanics.kinematics.skeleton": ("pose_of",),
    "model.coordinates": (
        "is_rotary",
        "lengths",
        "movable",
    ),
    "model.description": (
        "Body",
        "Description",
        "GROUND",
        "Joint",
        "Mat3",
        "Placement",
        "PointRef",
        "Vec3",
        "Visual",
    ),
    "model.file": ("quantity",),
    "model.parameters": (
        "Parameter",
        "every_parameter",
    ),
    "numerics.linalg": ("factor",),
    "numerics.memory_and_threads": ("essentials",),
    "numerics.spatial": (
        "Pose",
        "array",
        "cross",
        "quaternion_rotation",
    ),
    "numerics.tolerances": (
        "NEGLIGIBLE",
        "SAME_NUMBER",
        "SAME_PLACE",
    ),
    "results.measures": ("Measure",),
    "results.measures.extremes": ("curve_extremes",),
    "results.state": ("State",),
    "results.trajectories": ("Trajectories",),
    "results.trajectory": (
        "Trajectory",
        "unit_of",
    ),
    "simulation.feedback.base": ("Control",),
    "simulation.feedback.controller_inputs": ("Situation",),
    "system.compiled": ("Compiled", "compiled_of"),
    "system.mechanism": (
        "Mechanism",
        "compile",
        "load",
        "mechanism_of",
    ),
    "system.system": ("System",),
    "text.expressions": ("Expr",),
    "text.ranges_and_tolerances": (
        "Place",
        "meaning",
    ),
    "text.units": (
        "ANGLE",
        "Dimension",
        "KINDS",
        "LENGTH",
        "NONE",
        "display_unit",
        "matches",
        "parse_unit",
        "shown",
    ),
}
_MODULE = {name: module for module, names in NAMES.items() for name in names}
__all__ = [*SPACES, *_MODULE]


def __getattr__(name: str) -> Any:
    if name in SPACES:
        value = import_module(f"linkwright.{SPACES[name]}")
    elif name in _MODULE:
        value = getattr(import_module(f"linkwright.{_MODULE[name]}"), name)
    else:
        raise AttributeError(f"module 'linkwright.api' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
