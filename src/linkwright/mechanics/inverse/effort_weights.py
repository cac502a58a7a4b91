"""Weights of redundant drives: which efforts cost the same, for inverse dynamics and for controllers.

Of all efforts that make the same motion the least ones have the smallest sum of (u_j / w_j)^2  [Aghili2005 (46), (47)]. Newtons and
newton meters have no common norm, so each effort is measured in a size w_j of its own:

    the rated effort      where it is known for every drive: `rated=` of the call, else the limit or motor of a controller's actuator,
                          else the model: the larger end of the drive's `limits`, or what its motor gives at rest
    1 N m, 1 N m / kappa  for torques and for forces otherwise; kappa is the characteristic length  [Aghili2005 (48)]

Neither depends on the unit of length, nor on which joints are cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.errors import UsageError, listing, nearest
from linkwright.mechanics.constraints.loops import scale
from linkwright.mechanics.forces.dc_motor import DCMotor
from linkwright.model.coordinates import is_rotary
from linkwright.model.description import Description, Drive
from linkwright.model.file import quantity
from linkwright.numerics.linalg import Factored, factor
from linkwright.text.units import FORCE, LENGTH, TORQUE, shown


@dataclass(frozen=True, eq=False)
class EffortWeights:
    """Sizes of efforts that cost the same, by drive, in N m or N."""

    drives: tuple[str, ...]
    rotary: tuple[bool, ...]
    sizes: np.ndarray
    rated: bool  # the sizes are rated efforts; else they follow from the characteristic length
    kappa: float
    units: tuple[str, ...] = field(default=(), repr=False)  # in which the note gives numbers
    unknown: tuple[str, ...] = ()  # drives without a rated effort, where others have one

    @property
    def note(self) -> str:
        """The weighting as text, for a result in which it decided something."""
        return f"efforts of the redundant drives {listing(self.drives)}: {self._norm}"

    @property
    def _norm(self) -> str:
        if self.rated:
            sizes = zip(self.drives, self.rotary, self.sizes.tolist(), strict=True)
            parts = [f"{name} {shown(x, TORQUE if rotary else FORCE, self.units)}" for name, rotary, x in sizes]
            return f"least norm of the efforts over the rated efforts ({', '.join(parts)})"
        why = f"no rated effort of {listing(self.unknown)} is known" if self.unknown else "no rated efforts are known"
        if len(set(self.rotary)) == 1:
            return f"least norm of the {'torques' if self.rotary[0] else 'forces'} ({why})"
        return f"least norm with forces multiplied by kappa = {shown(self.kappa, LENGTH, self.units)} ({why})"


def effort_weights(
    desc: Description,
    drives: Sequence[str],
    kappa: float,
    *,
    rated: Any = None,
    actuators: Mapping[str, float | None] | None = None,
    who: str = "",
) -> EffortWeights:
    """The weights of these drives. `actuators`: largest efforts of a controller's actuators; `who` begins the messages."""
    rotary = tuple(is_rotary(desc, name) for name in drives)
    given = rated_efforts(desc, drives, rated, who)
    known = {name: _first(given.get(name), (actuators or {}).get(name), model_rating(desc, name)) for name in drives}
    unknown = tuple(name for name, x in known.items() if x is None)
    if given and unknown:
        raise UsageError(
            f"{who}rated gives no effort for drive '{unknown[0]}', and the model has neither limits nor a motor for it. "
            "Name all drives or none.",
            name=unknown[0],
        )
    if unknown or not known:
        sizes = 1.0 / scale(["angle" if turns else "length" for turns in rotary], kappa)
        some = unknown if len(unknown) < len(known) else ()
        return EffortWeights(tuple(drives), rotary, sizes, False, kappa, desc.units, some)
    return EffortWeights(tuple(drives), rotary, np.array([known[name] for name in drives], dtype=float), True, kappa, desc.units)


def _first(*values: float | None) -> float | None:
    return next((x for x in values if x is not None), None)


def rated_efforts(desc: Description, drives: Sequence[str], given: Any, who: str = "") -> dict[str, float]:
    """Rated efforts as a caller gives them, checked, in N m or N."""
    if given is not None and not isinstance(given, Mapping):
        name = next(iter(drives), "A")
        raise UsageError(f"{who}rated is a dict by drive, rated={{'{name}': '5 N m'}}, not {given!r:.60}.", name=name, value=given)
    out = {}
    for name, x in (given or {}).items():
        if name not in drives:
            raise UsageError(f"{who}rated: '{name}' is not a drive here.", nearest(str(name), list(drives), "Drives"))
        out[name] = quantity(x, TORQUE if is_rotary(desc, name) else FORCE, f"{who}rated effort of '{name}'")
        if not 0.0 < out[name] < np.inf:
            raise UsageError(f"{who}the rated effort of '{name}' must be greater than zero, not {out[name]:g}.", name=name, value=out[name])
    return out


def model_rating(desc: Description, name: str) -> float | None:
    """The largest effort that the model's own drive gives at the joint; None where the model does not limit it."""
    return next((rated_effort(x) for x in desc.drives if x.joint == name), None)


def rated_effort(drive: Drive) -> float | None:
    """The larger end of the `limits`; of a motor its effort at rest, within `max_torque` on the shaft; None where an end is open."""
    if drive.kind != "dc_motor":
        return largest_effort(drive.limits)
    plate = dict(drive.motor)
    most = [x for x in (DCMotor(**{k: plate[k] for k in SHAFT if k in plate}).torque_at_rest, plate.get("max_torque")) if x is not None]
    return float(min(most) * abs(plate.get("gear_ratio", 1.0))) if most else None


SHAFT = ("Kt", "R", "supply_voltage", "max_current")  # of the name plate: what limits the torque of the shaft at rest


def largest_effort(limits: tuple[Any, Any] | None) -> float | None:
    """The larger end of limits (low, high); None where one is open."""
    if limits is None or any(x is None or not np.isfinite(x) for x in limits):
        return None
    return float(max(abs(x) for x in limits))


def nearest_efforts(E: np.ndarray, wanted: np.ndarray, sizes: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, Factored]:
    """y with the least sum of ((E y - wanted)_j / w_j)^2, and the factored weighted E; also of stacks, (samples, drives, number).

    E are the efforts of self-stresses whose columns are of size one when each effort is multiplied by its entry of `scales`.
    """
    weighted = E / sizes[:, None]
    rank = 1e-10  # share of a self-stress: an effort that it changes by less is not touched, that is round-off of the null space
    f = factor(weighted, rank * float(np.max(1.0 / (scales * sizes), initial=0.0)), thin=E.ndim == 3)
    return f.solve(wanted / sizes), f
