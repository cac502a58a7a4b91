"""Identification of masses, inertias and friction from measured motion and torques, motions that excite them, calibration of geometry.

    tables.py        columns of files, tables and trajectories
    regressor.py     torques as linear functions of the unknowns    base_parameters.py   what the data determines, with names
    least_squares.py weighted and robust least squares, gains       consistency.py    bodies with positive definite pseudo-inertia
    fit.py           filters, derivatives, all of it in order        result.py         its result
    fourier_excitation.py   motions of least condition number
    calibration_fit.py   geometry and encoder offsets from poses    calibration_result.py   its result
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError, call_explained

if TYPE_CHECKING:
    from linkwright.rings.robots.identification.calibration_result import Calibration
    from linkwright.rings.robots.identification.fourier_excitation import Excitation
    from linkwright.rings.robots.identification.result import Identification


def _description(mechanism: Any, verb: str) -> Any:
    found = getattr(mechanism, "description", None)
    if found is None or not hasattr(mechanism, "system"):
        raise UsageError(f"{verb} takes a mechanism (lw.load(...)), not {type(mechanism).__name__}.")
    return found


@call_explained
def identify(
    mechanism: Any,
    data: Any,
    *,
    bodies: Sequence[str] | None = None,
    friction: Any = (),
    armature: Any = (),
    gains: Any = (),
    columns: Mapping[str, str] | None = None,
    filter: Any = None,
    noise: Mapping[str, Any] | None = None,
    robust: bool = False,
    consistent: bool = True,
    prior: float = 1e-3,
) -> Identification:
    """Identify masses, inertias, friction and gains from measured positions and torques of the drives: `lw.identify(m, "run.csv")`.

    data: a CSV or Parquet file, a pandas table, a dict of arrays or a trajectory with the columns `t`, and of every drive its position
        (`A`) and its torque or force (`A.torque`); `A.v` and `A.a` are used where they are there, else the derivatives of a spline.
        Units are in the heads, `A [deg]`. A list of such tables is several experiments.
    columns: {"A": "enc1"}, where a column has another name.
    bodies: those whose mass, center and inertia are sought (default all); the others are taken as known.
    friction: joints with Coulomb and viscous friction (True: all drives), or kinds by joint, {"A": ["coulomb", "viscous", "load"]}.
    armature: drives whose rotor inertia is sought. gains: drives whose signal (`A.current`, or `A.torque` to any scale) has an unknown
        factor.
    filter: cut-off frequency of a zero-phase filter of positions and torques, "20 Hz".
    noise: standard deviation of every drive's torque (default: from the residual). robust: outliers count less (Huber).
    consistent: masses and inertias are those of real bodies; `prior` draws what the data leave open to the model's values, weakly.
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

    limits: {"A": {"position": ("30 deg", "150 deg"), "speed": "3 rad/s", "torque": "2 N m"}} by drive; loops stay closed.
    bodies, friction, armature: what will be sought, as in `lw.identify`. `tries` random motions, then `evaluations` of a local search
    from the best; the same seed gives the same motion.
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
    offsets: Any = (),
    noise: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Calibration:
    """Calibrate geometric numbers and encoder offsets from measured poses: `lw.calibrate(m, "poses.csv", ["*.length"], offsets=True)`.

    poses: a CSV or Parquet file, a pandas table or a dict of arrays, one row a pose. Columns: the position of every drive (`A [deg]`), and
        at least one more: further encoders by joint, coordinates of points (`tool.P.x [mm]`), distances (`tool.P - ground.Q`), angles of
        bodies (`rod.angle`; in space the rotation vector `plate.rx`, `.ry`, `.rz`).
    vary: numbers of the model by name or pattern: parameters, pins of the drawing (`E.x`), lengths (`left.length`), points (`rod.P.x`).
    offsets: encoders with unknown zero (True: all); the reading is the joint's coordinate plus the offset.
    noise: standard deviations by column, {"A": "0.01 deg", "tool.P.x": "0.05 mm"}; without them 1e-4 rad or m each, scaled by the residual.
    """
    from linkwright.rings.robots.identification.calibration_fit import calibrate as calibrated

    options: dict[str, Any] = {"vary": vary, "offsets": offsets, "noise": noise, "columns": columns}
    return calibrated(_description(mechanism, "calibrate"), poses, **options)
