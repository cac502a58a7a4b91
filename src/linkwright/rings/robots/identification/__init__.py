"""Identification of masses, inertias and friction from measured motion and torques, motions that excite them, calibration of geometry.

measured_tables.py columns of files, tables and trajectories
regressor.py     torques as linear functions of the unknowns    base_parameters.py   what the data determines, with names
least_squares.py weighted and robust least squares, gains       physical_consistency.py    bodies with positive definite pseudo-inertia
fit.py           filters, derivatives, all of it in order        result.py         its result
fourier_excitation.py   motions of least condition number
calibration_fit.py   geometry and encoder offsets from poses    calibration_result.py   its result
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkwright.api import Names, UsageError, call_explained

if TYPE_CHECKING:
    from linkwright.rings.robots.identification.calibration_result import Calibration
    from linkwright.rings.robots.identification.fourier_excitation import Excitation
    from linkwright.rings.robots.identification.result import Identification


def _description(mechanism: Any, verb: str) -> Any:
    found = getattr(mechanism, "description", None)
    if found is None or not hasattr(mechanism, "system"):
        raise UsageError(f"{verb} takes a mechanism (lw.load(...)), not {type(mechanism).__name__}.", name=verb, value=mechanism)
    return found


@call_explained
def identify(
    mechanism: Any,
    data: Any,
    *,
    bodies: Names | None = None,
    friction: Any = (),
    armature: bool | Names = (),
    gains: bool | Names = (),
    columns: Mapping[str, str] | None = None,
    filter: float | str | None = None,
    noise: Mapping[str, Any] | None = None,
    robust: bool = False,
    consistent: bool = True,
    prior: float = 1e-3,
) -> Identification:
    """Identify masses, inertias, friction and gains from measured positions and torques of the drives.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism that was measured.
    data : path, pandas.DataFrame, mapping, Trajectory or sequence
        Tables with the columns `t`, and of every drive its position (`A`) and its torque or force (`A.torque`). `A.v` and `A.a` are used
        if they are there, else the derivatives of a spline. Units are in the heads, `A [deg]`. A list has several experiments.
    bodies : sequence of str, optional
        Bodies whose masses are sought (default: all). The others are taken as known.
    friction : bool, sequence of str or mapping, optional
        Coulomb and viscous friction of a joint (A), kinds of it (A=coulomb,viscous,load), or of all drives ('*'). In Python True is all
        drives, and {"A": ["coulomb", "load"]} has kinds by joint.
    armature : bool or sequence of str, optional
        Drives whose rotor inertia is sought, or '*'. In Python True is all of them.
    gains : bool or sequence of str, optional
        Drives whose signal has an unknown factor, or '*'. The signal is `A.current`, or `A.torque` to any scale.
    columns : mapping, optional
        Column of a quantity that has another name in the file: A=enc1.
    filter : float or str, optional
        Cut-off frequency of a zero-phase filter of positions and torques ('20 Hz').
    noise : mapping, optional
        Standard deviation by column: of the torque of a drive (A='2 N mm'), of all drives or none. By default from the residual.
    robust : bool, default False
        Outliers that count less (Huber).
    consistent : bool, default True
        Masses and inertias of real bodies only.
    prior : float, default 1e-3
        Weight of the model's own values for what the data leave open.

    Returns
    -------
    Identification
        Combinations that the data determine, with standard deviations, and what they leave open.

    Raises
    ------
    LinkwrightError
        If a column is missing, or the data determine nothing.

    Examples
    --------
    >>> m = lw.load("five-bar")
    >>> run = m.follow({"A": "110 deg + 20 deg * sin(6 rad/s * t)", "E": "70 deg + 15 deg * sin(9 rad/s * t)"}, duration="1 s", steps=200)
    >>> lw.identify(m, run).possible
    11
    """
    from linkwright.rings.robots.identification.fit import identify as identified

    options: dict[str, Any] = {"bodies": bodies, "friction": friction, "armature": armature, "gains": gains, "columns": columns}
    more: dict[str, Any] = {"filter": filter, "noise": noise, "robust": robust, "consistent": consistent, "prior": prior}
    return identified(_description(mechanism, "identify"), data, **options, **more)


@call_explained
def excitation(
    mechanism: Any,
    *,
    duration: Any = "5 s",
    harmonics: int = 5,
    limits: Mapping[str, Any] | None = None,
    bodies: Sequence[str] | None = None,
    friction: Any = (),
    armature: Any = (),
    tries: int = 40,
    evaluations: int = 400,
    seed: int = 0,
) -> Excitation:
    """Design a motion of the drives for `lw.identify`: a Fourier series from rest with a small condition number of the base regressor.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism whose drives move.
    duration : float or str, default "5 s"
        Period of the series.
    harmonics : int, default 5
        Harmonics of the series.
    limits : mapping, optional
        Limits by drive: {"A": {"position": ("30 deg", "150 deg"), "speed": "3 rad/s", "torque": "2 N m"}}.
    bodies : sequence of str, optional
        Bodies whose masses are sought, as in `lw.identify`.
    friction : str, sequence of str or mapping, default ()
        Kinds of friction that are sought, as in `lw.identify`.
    armature : sequence of str, default ()
        Joints whose armature is sought.
    tries : int, default 40
        Random motions that are tried first.
    evaluations : int, default 400
        Evaluations of the local search from the best of them.
    seed : int, default 0
        Random seed. The same seed gives the same motion.

    Returns
    -------
    Excitation
        Motion of the drives, with its condition number.

    Examples
    --------
    >>> e = lw.excitation(lw.load("wiper"), duration="2 s", harmonics=2, tries=2, evaluations=5)
    >>> bool(e.condition > 1)
    True
    """
    from linkwright.rings.robots.identification.fit import sought_parameters
    from linkwright.rings.robots.identification.fourier_excitation import excitation as designed

    _description(mechanism, "excitation")
    sought = sought_parameters(mechanism.system, bodies, friction, armature)
    options: dict[str, Any] = {"duration": duration, "harmonics": harmonics, "limits": limits}
    return designed(mechanism.system, sought, **options, tries=tries, evaluations=evaluations, seed=seed)


@call_explained
def calibrate(
    mechanism: Any,
    poses: Any,
    vary: Any,
    *,
    offsets: bool | Names = (),
    noise: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Calibration:
    """Calibrate geometric numbers and encoder offsets from measured poses.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism that was measured.
    poses : path, pandas.DataFrame or mapping
        Table with one row for each pose. Columns are the position of every drive (`A [deg]`), and at least one more: further encoders by
        joint, coordinates of points (`tool.P.x [mm]`), distances (`tool.P - ground.Q`), angles of bodies (`rod.angle`; in space the
        rotation vector `plate.rx`, `.ry`, `.rz`).
    vary : sequence of str
        Parameters of the model by name or pattern: parameters, pins of the drawing (`E.x`), lengths (`left.length`), points (`rod.P.x`).
    offsets : bool or sequence of str, optional
        Encoders with an unknown zero, or '*'. The reading is the joint's coordinate plus the offset. In Python True is all of them.
    noise : mapping, optional
        Standard deviation by column: A='0.01 deg', tool.P.x='0.05 mm'. Without it 1e-4 rad or m each, scaled by the residual.
    columns : mapping, optional
        Column of a quantity that has another name in the file: A=enc1.

    Returns
    -------
    Calibration
        Numbers before and after with standard deviations, and combinations that no column depends on.

    Raises
    ------
    LinkwrightError
        If a column is missing, or nothing can be observed.

    Examples
    --------
    >>> m = lw.load("five-bar")
    >>> c = m.follow({"A": "110 deg + 20 deg * sin(6 rad/s * t)", "E": "70 deg + 15 deg * sin(9 rad/s * t)"}, duration="1 s", steps=20)
    >>> poses = {"A [rad]": c["A"], "E [rad]": c["E"], "left_rod.C.x [m]": c["left_rod.C.x"], "left_rod.C.y [m]": c["left_rod.C.y"]}
    >>> len(lw.calibrate(m, poses, ["left.length"]).names)
    1
    """
    from linkwright.rings.robots.identification.calibration_fit import calibrate as calibrated

    options: dict[str, Any] = {"vary": vary, "offsets": offsets, "noise": noise, "columns": columns}
    return calibrated(_description(mechanism, "calibrate"), poses, **options)
