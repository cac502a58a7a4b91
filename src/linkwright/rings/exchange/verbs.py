"""Verbs of exchange on mechanisms and systems: files of other programs, and functions of their libraries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwright.errors.arguments import Names
from linkwright.model.description import Description

if TYPE_CHECKING:
    from linkwright.rings.exchange.bridges.functions import Bridge
    from linkwright.rings.exchange.import_report import ImportReport
    from linkwright.system.mechanism import Mechanism
    from linkwright.system.system import System


def description_of_file(path: str | os.PathLike[str], folders: Any = None, **changes: Any) -> Description:
    """Return the description of another program's file, for `lw.load`."""
    from linkwright.rings.exchange.file_kinds import description

    return description(path, folders, **changes)


class MechanismVerbs:
    """A mechanism from and for other programs."""

    @property
    def imported(self: Mechanism) -> ImportReport | None:
        """Return the report of the import of a file of another program; None of a model file or dict."""
        return getattr(self.description.document, "origin", None)

    def export(self: Mechanism, path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> Path:
        """Write the mechanism for another program; the ending decides the format: .fmu, .c (and .h), .js, .hpp (ROS 2), .xml (MJCF),
        .urdf, .sdf, .dxf, .svg, .csv. With motors and joints C, scripts and ROS 2 have the transmission alone, MJCF, URDF and SDF its tree.

        FMU: version ("3.0", "2.0"), kind ("both", "me", "cs"), drive (as in `simulate`), inputs ({"A": "torque"}; kinds torque, force,
        voltage, position, speed, motion, and wrench of a body; default: drives of constant value), outputs (channels or patterns),
        parameters (names or patterns; default: every named number), platforms (default: this machine; "all"; [] for sources only), start
        (a State), name. C: precision ("double", "single"), kernels, free, name. Script: kernels, free, name. MJCF: timestep, floor.
        URDF: dialect ("plain", "urdf+", "constraint", "loop_joint", "gepetto", "onshape", "two-parents"), zero, floor. SDF: alone, floor.
        DXF and SVG, drawings to scale: positions (over the turn), trace (points), width, bore, or the profile of a cam. CSV: cam, steps.
        What the format cannot hold is a LossWarning, whose `lost` lists it.
        """
        from linkwright.rings.exchange import formats

        return formats.export(self, path, format, options)[0]


class SystemVerbs:
    """A system as functions of other libraries."""

    def jax(self: System, *, free: Names = (), **options: Any) -> Bridge:
        """Return functions for JAX; numbers named `free` are an argument. Options: native, repair, return_status."""
        from linkwright.rings.exchange.bridges import bridge

        return bridge(self.core, "jax", free, options)

    def torch(self: System, *, free: Names = (), **options: Any) -> Bridge:
        """Return functions for PyTorch; numbers named `free` are an argument. Options: native."""
        from linkwright.rings.exchange.bridges import bridge

        return bridge(self.core, "torch", free, options)

    def casadi(self: System, *, free: Names = (), **options: Any) -> Bridge:
        """Return functions for CasADi; numbers named `free` are an argument. Options: compiled, hessian."""
        from linkwright.rings.exchange.bridges import bridge

        return bridge(self.core, "casadi", free, options)
