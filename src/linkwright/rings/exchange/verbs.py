"""Verbs of exchange on mechanisms and systems: files of other programs, and functions of their libraries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from linkwright.api import Description, Names, compiled_of

if TYPE_CHECKING:
    from linkwright.api import Mechanism, System
    from linkwright.rings.exchange.bridges.mechanism_functions import Bridge
    from linkwright.rings.exchange.formats.base import ExportOptions
    from linkwright.rings.exchange.import_report import ImportReport
    from linkwright.rings.exchange.writing.pinocchio import PinocchioModel


def description_of_file(path: str | os.PathLike[str], folders: Any = None, **changes: Any) -> Description:
    """Return the description of another program's file, for `lw.load`."""
    from linkwright.rings.exchange.model_loading import description

    return description(path, folders, **changes)


class MechanismVerbs:
    """A mechanism from and for other programs."""

    @property
    def imported(self: Mechanism) -> ImportReport | None:
        """Return the report of the import of a file of another program, or None for a model file or dict."""
        return getattr(self.description.document, "origin", None)

    @overload
    def export(self: Mechanism, path: str | os.PathLike[str], *, format: str | None = ..., **options: Unpack[ExportOptions]) -> Path: ...
    @overload
    def export(self: Mechanism, path: None = ..., *, format: str, **options: Unpack[ExportOptions]) -> dict[str, str]: ...
    def export(
        self: Mechanism, path: str | os.PathLike[str] | None = None, *, format: str | None = None, **options: Unpack[ExportOptions]
    ) -> Path | dict[str, str]:
        """Write the mechanism for another program.

        With motors and joints C, scripts and ROS 2 have the transmission alone. MJCF, URDF and SDF have its equivalent tree.

        Parameters
        ----------
        path : path, optional
            File to write. The ending decides the format: .fmu, .c (and .h), .js, .hpp (ROS 2), .xml (MJCF), .urdf, .sdf, .dxf, .svg, .csv.
            Without a path the texts are returned by file name.
        format : str, optional
            Format, if the ending does not decide it: fmu (a file only), c, script, ros2, mjcf, urdf, sdf, dxf, svg, cam.
        **options : ExportOptions
            FMU: version ("3.0", "2.0"), interface ("both", "me", "cs"), drive (as in `simulate`), inputs ({"A": "torque"}; kinds torque,
            force, voltage, position, speed, motion, and wrench of a body (default: drives of constant value)), outputs (channels or
            patterns), parameters (names or patterns; default: every named number), platforms (default: this machine; "all"; [] for
            sources only), start (a State), name. C: precision ("double", "single"), kernels, parameters, drives, moved (joints of
            prescribed motion), fallback (False: no steps through singular positions), name. Script: kernels, parameters, drives,
            name. MJCF: timestep, floor. URDF: dialect ("plain", "urdf+", "constraint", "loop_joint", "gepetto", "onshape", "two-parents"),
            zero, floor. SDF: alone, floor. DXF and SVG, drawings to scale: positions (over the cycle), trace (points), width, bore, or the
            profile of a cam. CSV: cam, steps.

        Returns
        -------
        Path or dict of str
            The file that was written, or texts by file name.

        Raises
        ------
        LinkwrightError
            If the format or an option is not known. Parts that the format cannot hold are a LossWarning, whose `lost` lists them.

        Examples
        --------
        >>> sorted(lw.load("four-bar").export(format="svg"))
        ['model.svg']
        """
        from linkwright.rings.exchange import formats

        return formats.export(self, path, format, options)


class SystemVerbs:
    """A system as functions and models of other libraries."""

    def pinocchio(self: System, *, floor: float = 0.0) -> PinocchioModel:
        """Return a Pinocchio model with loop constraints (package `pin`).

        Parameters
        ----------
        floor : float, default 0.0
            Least inertia of a body, as a share of the mechanism's.

        Returns
        -------
        PinocchioModel
            The model, its constraints, and maps between its coordinates and the coordinates of this system.
        """
        from linkwright.rings.exchange.writing.pinocchio import pinocchio_model

        return pinocchio_model(self, floor=floor)

    def jax(self: System, *, parameters: Names = (), native: bool = False, repair: bool = False, return_status: bool = False) -> Bridge:
        """Return the equations as functions for JAX, with exact derivatives.

        Parameters
        ----------
        parameters : str or sequence of str, default ()
            Parameters of the model, by name or pattern, that are an argument of the functions.
        native : bool, default False
            True for operations of JAX in place of compiled kernels: every order of derivatives and every device, but slow to compile.
        repair : bool, default False
            True to solve singular positions with the rank-revealing path, by callbacks into Python.
        return_status : bool, default False
            True to add an output `status`, which is 0 for a state that was solved.

        Returns
        -------
        Bridge
            Functions such as `forward`, `inverse`, `kinematics` and `step`.
        """
        from linkwright.rings.exchange.bridges import bridge

        return bridge(compiled_of(self), "jax", parameters, {"native": native, "repair": repair, "return_status": return_status})

    def torch(self: System, *, parameters: Names = (), native: bool = False) -> Bridge:
        """Return the equations as functions for PyTorch, with exact derivatives.

        Parameters
        ----------
        parameters : str or sequence of str, default ()
            Parameters of the model, by name or pattern, that are an argument of the functions.
        native : bool, default False
            True for operations of PyTorch in place of compiled kernels: every order of derivatives and every device.

        Returns
        -------
        Bridge
            Functions such as `forward`, `inverse`, `kinematics` and `step`.
        """
        from linkwright.rings.exchange.bridges import bridge

        return bridge(compiled_of(self), "torch", parameters, {"native": native})

    def casadi(self: System, *, parameters: Names = (), compiled: bool = False, hessian: bool = False) -> Bridge:
        """Return the equations as functions for CasADi, with exact derivatives.

        Parameters
        ----------
        parameters : str or sequence of str, default ()
            Parameters of the model, by name or pattern, that are an argument of the functions.
        compiled : bool, default False
            True to compile the functions with a C compiler.
        hessian : bool, default False
            True for second derivatives of compiled functions.

        Returns
        -------
        Bridge
            Functions such as `forward`, `inverse`, `kinematics` and `step`.
        """
        from linkwright.rings.exchange.bridges import bridge

        return bridge(compiled_of(self), "casadi", parameters, {"compiled": compiled, "hessian": hessian})
