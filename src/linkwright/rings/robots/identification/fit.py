"""Identification of masses, inertias, friction, armatures and drive gains from measured motion and drive torques."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.api import Description, System, UsageError, compiled_of, is_rotary, nearest, quantity, unit_kinds
from linkwright.rings.robots.identification.base_parameters import BaseParameters, base_parameters
from linkwright.rings.robots.identification.least_squares import fitted
from linkwright.rings.robots.identification.measurements import DriveMeasurements, drive_measurements
from linkwright.rings.robots.identification.physical_consistency import consistent as possible
from linkwright.rings.robots.identification.physical_consistency import least_change
from linkwright.rings.robots.identification.regressor import KINDS, Regressor, Sought, need_drives, regressor
from linkwright.rings.robots.identification.result import Identification, identified

ROUNDS, SETTLED, RELATIVE = 12, 0.1, 1e-3  # of friction by load, whose column depends on its loads: changes over deviations and values
DEFAULT = ("coulomb", "viscous")


def identify(
    description: Description,
    data: Any,
    *,
    bodies: Sequence[str] | None = None,
    friction: Any = (),
    armature: Sequence[str] = (),
    gains: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    filter: Any = None,
    noise: Mapping[str, Any] | None = None,
    robust: bool = False,
    consistent: bool = True,
    prior: float = 1e-3,
) -> Identification:
    """See `lw.identify`."""
    if not prior >= 0.0:
        raise UsageError(f"prior is the weight of the model's own values, zero or more, not {prior!r}.", name="prior", value=prior)
    system = System(description)
    compiled_of(system).need_motion("to identify it by")
    system.kernels.need_masses()
    sought = sought_parameters(system, bodies, friction, armature)
    gained = _drives(system, gains, "gains")
    sets = data if isinstance(data, (list, tuple)) else [data]
    if not sets:
        raise UsageError("identify: there are no measurements. Give a table, or a list of tables.")
    names = ["data"] if len(sets) == 1 else [f"data[{k}]" for k in range(len(sets))]
    measured = [drive_measurements(system, x, columns, filter, gained, name) for x, name in zip(sets, names, strict=True)]
    sd = None if noise is None else _noise(system, noise)
    options = {"noise": sd, "robust": robust, "gained": tuple(compiled_of(system).drive_names.index(n) for n in gained)}
    by_load, before = any("load" in kinds for kinds in sought.friction.values()), None
    rounds = 0
    while True:
        rounds += 1
        r, base, fit, theta = _round(system, measured, sought, options, consistent, prior)
        change = np.full(len(fit.values), np.inf) if before is None else np.abs(base.G @ (theta - before))
        small = np.maximum(SETTLED * np.sqrt(np.diag(fit.covariance)), RELATIVE * np.abs(fit.values))
        if not by_load or rounds == ROUNDS or bool(np.all(change <= small)):
            break
        system, before = System(identified(description, r.columns, theta)), theta
    u, t = (np.concatenate([getattr(x, part) for x in measured]) for part in ("u", "t"))
    return Identification(base, fit, r, theta, u, t, gained, description, sought, rounds)


def _round(
    system: System, measured: Sequence[DriveMeasurements], sought: Sought, options: Mapping[str, Any], positive: bool, prior: float
) -> tuple[Regressor, BaseParameters, Any, np.ndarray]:
    """One fit with the loads of the present mechanism."""
    r = joined([regressor(system, x.followed(system), sought) for x in measured])
    base = base_parameters(r.W.reshape(-1, len(r.columns)), r.names)
    signal = np.concatenate([x.u for x in measured])
    fit = fitted(r.W[:, :, list(base.chosen)], r.rest, signal, **options)
    if not positive:
        return r, base, fit, least_change(r.model, base.G, fit.values)
    return r, base, fit, possible(r.columns, base.G, fit.values, fit.covariance, prior)


def joined(parts: Sequence[Regressor]) -> Regressor:
    """Rows of several motions under each other."""
    return replace(parts[0], W=np.concatenate([p.W for p in parts]), rest=np.concatenate([p.rest for p in parts]))


def sought_parameters(system: System, bodies: Any, friction: Any, armature: Any) -> Sought:
    """Return the unknowns by name; raise UsageError for names that are not there, and where the drives do not suit."""
    need_drives(system)
    known = [b.name for b in system.description.moving if b.mass is not None]
    chosen = known if bodies is None else [bodies] if isinstance(bodies, str) else list(bodies)
    for name in chosen:
        if name not in known:
            raise UsageError(f"bodies: there is no body '{name}' with a mass.", nearest(str(name), known, "Bodies"))
    sought = Sought(tuple(chosen), _friction(system, friction), _drives(system, armature, "armature"))
    if not (sought.bodies or sought.friction or sought.armature):
        raise UsageError("nothing is sought: name bodies, joints with friction, or drives with armature.", name="seek")
    return sought


def _friction(system: System, wanted: Any) -> dict[str, tuple[str, ...]]:
    drives = tuple(compiled_of(system).drive_names)
    if wanted is True:
        wanted = drives
    elif wanted in (False, None):
        wanted = ()
    wanted = (wanted,) if isinstance(wanted, str) else wanted
    given = dict(wanted) if isinstance(wanted, Mapping) else dict.fromkeys(wanted, DEFAULT)
    joints = [*dict.fromkeys([*drives, *(j.name for j in system.description.joints)])]
    out = {}
    for name, kinds in given.items():
        if name not in joints:
            raise UsageError(f"friction: there is no joint '{name}'.", nearest(str(name), joints, "Joints"))
        out[name] = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        for kind in out[name]:
            if kind not in KINDS:
                raise UsageError(f"friction of '{name}': there is no kind '{kind}'.", nearest(str(kind), KINDS, "Kinds"))
    return out


def _drives(system: System, wanted: Any, what: str) -> tuple[str, ...]:
    drives = tuple(compiled_of(system).drive_names)
    chosen = drives if wanted is True else (wanted,) if isinstance(wanted, str) else tuple(wanted or ())
    for name in chosen:
        if name not in drives:
            raise UsageError(f"{what}: there is no drive '{name}'.", nearest(str(name), drives, "Drives"))
    return chosen


def _noise(system: System, noise: Mapping[str, Any]) -> np.ndarray:
    drives = list(_drives(system, list(noise), "noise"))
    missing = [n for n in compiled_of(system).drive_names if n not in drives]
    if missing:
        raise UsageError(f"noise: give the standard deviation of every drive's torque. {', '.join(missing)} is missing.", name="noise")
    d = system.description
    values = [
        quantity(noise[n], unit_kinds.TORQUE if is_rotary(d, n) else unit_kinds.FORCE, f"noise of '{n}'")
        for n in compiled_of(system).drive_names
    ]
    if not all(x > 0.0 for x in values):
        raise UsageError("noise: standard deviations must be positive.", name="noise")
    return np.array(values)
