"""Sensors of an estimator: what they read, with which noise, and with which bias.

    "A": "0.05 deg"                                   a channel and the standard deviation of its readings
    "A": lw.control.encoder(4096)                     the error of a rounded reading is 1/sqrt(12) of a count
    "B.v": lw.control.sensor("1 deg/s", bias=...)     a channel with an offset that is not known
    "trunk": lw.control.imu(gyro=..., ...)            angular velocity and specific force R'(a - g) at a body's origin, or at "trunk.P"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, call_explained, nearest
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import node_motion
from linkwright.model.file import quantity
from linkwright.numerics.spatial import array
from linkwright.results.channels import Channels
from linkwright.simulation.feedback.encoders import Encoder
from linkwright.simulation.feedback.noise import Noise
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled

__all__ = ["Imu", "Noise", "Reading", "Sensor", "imu", "readings_of", "sensor"]

GYRO, ACCELEROMETER = "gyro", "accelerometer"
UNIFORM = 12.0**-0.5  # standard deviation of an error that is equally likely everywhere within a count
MEASURED = ("angle", "length", "angular speed", "speed", "angular acceleration", "acceleration")


@dataclass(frozen=True)
class Sensor:
    """Noise of a reading, as it was written: standard deviation, bias at the start, growth of the bias within a second."""

    deviation: Any
    bias: Any = None
    drift: Any = None


@dataclass(frozen=True)
class Imu:
    """A gyro and an accelerometer on a body, in the axes of the body."""

    gyro: Sensor | None
    accelerometer: Sensor | None


class Reading(NamedTuple):
    """One sensor at a mechanism. Its value has one entry or several."""

    name: str
    dimension: str
    read: Callable[[Instant], Any]
    deviation: float
    bias: float  # standard deviation at the start
    drift: float  # standard deviation of its change in a second
    biased: bool


@call_explained
def sensor(deviation: Any, *, bias: Any = None, drift: Any = None) -> Sensor:
    """Describe a sensor of an estimator by its noise and its bias.

    Parameters
    ----------
    deviation : float or str
        Standard deviation of a reading ("0.05 deg").
    bias : float or str, optional
        Standard deviation of an unknown constant offset. With it the estimator estimates the offset.
    drift : float or str, optional
        Standard deviation of the change of the offset in one second. By default the offset is constant.

    Returns
    -------
    Sensor
        For `s.estimator({"A": lw.control.sensor(...)})`.

    Examples
    --------
    >>> lw.control.sensor("0.05 deg", bias="1 deg").bias
    '1 deg'
    """
    if drift is not None and bias is None:
        raise UsageError("sensor: a drift needs a bias that drifts: bias='0.5 deg', drift='0.01 deg'.", name="drift")
    return Sensor(deviation, bias, drift)


@call_explained
def imu(
    gyro: Any = None,
    accelerometer: Any = None,
    *,
    gyro_bias: Any = None,
    gyro_drift: Any = None,
    accelerometer_bias: Any = None,
    accelerometer_drift: Any = None,
) -> Imu:
    """Describe an inertial measurement unit on a body.

    The gyro reads the angular velocity, the accelerometer the acceleration minus gravity, both in the axes of the body.

    Parameters
    ----------
    gyro : float or str, optional
        Standard deviation of each axis of the gyro ("0.1 deg/s").
    accelerometer : float or str, optional
        Standard deviation of each axis of the accelerometer ("0.05 m/s^2").
    gyro_bias : float or str, optional
        Standard deviation of unknown constant offsets of the gyro, which are then estimated.
    gyro_drift : float or str, optional
        Standard deviation of the change of these offsets in one second.
    accelerometer_bias : float or str, optional
        The same of the accelerometer.
    accelerometer_drift : float or str, optional
        The same of the accelerometer.

    Returns
    -------
    Imu
        For `s.estimator({"trunk": lw.control.imu(...)})`.

    Examples
    --------
    >>> lw.control.imu(gyro="0.1 deg/s").accelerometer is None
    True
    """
    if gyro is None and accelerometer is None:
        raise UsageError("imu: give the noise of the gyro ('0.1 deg/s'), of the accelerometer ('0.05 m/s^2') or of both.", name="imu")
    parts = {GYRO: (gyro, gyro_bias, gyro_drift), ACCELEROMETER: (accelerometer, accelerometer_bias, accelerometer_drift)}
    made: dict[str, Sensor | None] = {}
    for part, (deviation, bias, drift) in parts.items():
        if deviation is None and (bias is not None or drift is not None):
            raise UsageError(f"imu: {part}_bias and {part}_drift need the noise of the {part}: {part}=...", name=part)
        if drift is not None and bias is None:
            raise UsageError(f"imu: {part}_drift needs {part}_bias.", name=part)
        made[part] = None if deviation is None else Sensor(deviation, bias, drift)
    return Imu(made[GYRO], made[ACCELEROMETER])


def readings_of(given: Any, core: Compiled) -> list[Reading]:
    """The sensors of a mechanism, by what a caller wrote."""
    if not isinstance(given, Mapping) or not given:
        raise UsageError(
            "sensors is a dict by channel or body: {'A': '0.05 deg', 'A.v': '1 deg/s', 'trunk': lw.control.imu(...)}, not "
            f"{type(given).__name__ if not isinstance(given, Mapping) else 'an empty one'}.",
            name="sensors",
            value=given,
        )
    out: list[Reading] = []
    for name, what in given.items():
        out += _imu(str(name), what, core) if isinstance(what, Imu) else [_channel(str(name), what, core)]
    return out


def _channel(name: str, what: Any, core: Compiled) -> Reading:
    channel = Channels(core.skel)[name]
    if channel.dimension not in MEASURED or channel.cook is not None:
        raise UsageError(
            f"sensors: '{name}' cannot be read by a sensor here ({channel.meaning}). Sensors read positions, speeds and accelerations of "
            "joints, cylinders, points and, in a plane, angles of bodies. An IMU is lw.control.imu(...) on a body.",
            name=name,
        )
    if isinstance(what, Encoder):
        if channel.dimension not in ("angle", "length"):
            raise UsageError(f"sensors: an encoder reads an angle or a length, not '{name}', of the kind {channel.dimension}.", name=name)
        count = what.angle if channel.dimension == "angle" else what.length
        if not count:
            lacks = "counts=4096" if channel.dimension == "angle" else "length='5 um'"
            raise UsageError(f"sensors: the encoder of '{name}' has no resolution: lw.control.encoder({lacks}).", name=name)
        what = Sensor(UNIFORM * count)
    written = what if isinstance(what, Sensor) else Sensor(what)
    return _reading(name, channel.dimension, channel.read, written)


def _imu(name: str, what: Imu, core: Compiled) -> list[Reading]:
    d = core.skel.tree.description
    body, _, point = name.partition(".")
    bodies = [b.name for b in d.bodies[1:]]
    if body not in bodies:
        raise UsageError(f"sensors: there is no moving body '{body}' for an IMU.", nearest(body, bodies, "Bodies"))
    at = np.zeros(3) if not point else array(d.body(body).point(point).at)
    out = []
    for part, written, dimension, read in (
        (GYRO, what.gyro, "angular speed", partial(_gyro, body)),
        (ACCELEROMETER, what.accelerometer, "acceleration", partial(_accelerometer, body, at)),
    ):
        if written is not None:
            out.append(_reading(f"{name}.{part}", dimension, read, written))
    return out


def _reading(name: str, dimension: str, read: Callable[[Instant], Any], written: Sensor) -> Reading:
    kind, sizes = KINDS[dimension], []
    for what, given in (("standard deviation", written.deviation), ("bias", written.bias), ("drift", written.drift)):
        size = 0.0 if given is None else float(quantity(given, kind, f"sensors: {what} of '{name}'"))
        least = what == "standard deviation"
        if not np.isfinite(size) or size < 0.0 or (least and size == 0.0):
            raise UsageError(
                f"sensors: the {what} of '{name}' is {size:g}. It must be {'positive' if least else 'zero or more'}.", name=name, value=size
            )
        sizes.append(size)
    return Reading(name, dimension, read, sizes[0], sizes[1], sizes[2], written.bias is not None)


def _gyro(body: str, at: Instant) -> Any:
    X, V, _ = node_motion(at.skel, at.motion, at.skel.node(body))
    w = X.R.T @ V[:3]
    return w[2:] if at.skel.tree.description.planar else w


def _accelerometer(body: str, point: np.ndarray, at: Instant) -> Any:
    node = at.skel.node(body)
    felt = at.rotation(node).T @ (at.point_acceleration(node, point) - at.skel.gravity)
    return felt[:2] if at.skel.tree.description.planar else felt
