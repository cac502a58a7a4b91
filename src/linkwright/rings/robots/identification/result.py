"""Identified parameters of a mechanism: base parameters with their deviations, and the mechanism that has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import Description, Mechanism, Result, System, Table, UsageError, counted, elements, modelfile, parameters
from linkwright.model.description import Friction
from linkwright.properties import cached_property
from linkwright.rings.robots.identification.base_parameters import BaseParameters, base_parameters
from linkwright.rings.robots.identification.least_squares import LeastSquares
from linkwright.rings.robots.identification.regressor import (
    SMOOTH,
    Regressor,
    RegressorColumn,
    Sought,
    friction_of,
    frictions_of,
    possible_columns,
)

LEVER = 0.01  # m: radius of new friction by load in a pin; only its product with mu is known


@dataclass(frozen=True)
class Identification(Result):
    """Result of `lw.identify`. Base parameters are what the data determines. `theta` is one set of masses that has them."""

    base: BaseParameters
    fit: LeastSquares
    regressor: Regressor
    theta: np.ndarray  # of all unknowns
    measured: np.ndarray  # (samples, drives)
    t: np.ndarray
    gained: tuple[str, ...]
    description: Description
    sought: Sought = field(repr=False, compare=False)
    rounds: int = 1

    @cached_property
    def possible(self) -> int | None:
        """Base parameters that a motion of all drives determines, or None if positions near the start cannot be taken."""
        W = possible_columns(System(self.description), self.sought)
        return None if W is None else len(base_parameters(W, self.base.names).chosen)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters: groups such as `left.mx + 0.08 left_rod.m`."""
        return self.base.groups

    @property
    def values(self) -> np.ndarray:
        """Values of the base parameters, SI."""
        return self.fit.values

    @property
    def covariance(self) -> np.ndarray:
        return self.fit.covariance

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of the base parameters."""
        return np.sqrt(np.diag(self.fit.covariance))

    @property
    def condition(self) -> float:
        """Condition number of the base regressor, columns of unit length."""
        return condition_number(self.regressor.W[:, :, list(self.base.chosen)])

    @property
    def gains(self) -> dict[str, tuple[float, float]]:
        """Identified gain of each drive with its standard deviation: torque per unit of its signal."""
        k = [self.regressor.drives.index(name) for name in self.gained]
        return {name: (float(self.fit.gains[i]), float(self.fit.gain_deviations[i])) for name, i in zip(self.gained, k, strict=True)}

    @property
    def unknown(self) -> dict[str, tuple[str, ...]]:
        """Parameters that cannot be known from these data: without effect, in groups only, and groups whose deviation is large."""
        doubtful = 0.3  # relative standard deviation above which a base parameter is called poorly known
        poor = np.abs(self.deviations) > doubtful * np.abs(self.values)
        groups = tuple(n for n, bad in zip(self.names, poor, strict=True) if bad)
        return {"without effect": self.base.without_effect, "in groups only": self.base.grouped, "poorly known": groups}

    @property
    def predicted(self) -> np.ndarray:
        """(samples, drives): torques of the identified mechanism at the measured motion."""
        return self.regressor.efforts(self.theta)

    @property
    def residual(self) -> dict[str, float]:
        """Root mean square of measured minus predicted torque of each drive, SI."""
        error = self.measured * self.fit.gains - self.predicted
        return dict(zip(self.regressor.drives, np.sqrt((error**2).mean(axis=0)).tolist(), strict=True))

    @property
    def values_by_name(self) -> dict[str, float]:
        """All unknowns as the identified mechanism has them."""
        return dict(zip(self.regressor.names, self.theta.tolist(), strict=True))

    @property
    def mechanism(self) -> Mechanism:
        """Return the mechanism with the identified masses, friction and armatures. `.mechanism.save(path)` writes its model file."""
        return Mechanism(identified(self.description, self.regressor.columns, self.theta))

    def as_dict(self) -> dict[str, Any]:
        """Return base parameters, what the data leave open, and all unknowns as plain data, in SI."""
        rows = zip(self.names, self.values.tolist(), self.deviations.tolist(), strict=True)
        return {
            "model": self.description.name,
            "base": [{"name": n, "value": x, "deviation": s} for n, x, s in rows],
            "possible": self.possible,
            "condition": self.condition,
            "samples": len(self.t),
            "residual": self.residual,
            "gains": {n: {"value": x, "deviation": s} for n, (x, s) in self.gains.items()},
            "unknown": {kind.replace(" ", "_"): list(names) for kind, names in self.unknown.items()},
            "values": self.values_by_name,
        }

    def table(self) -> Table:
        """Return the base parameters with their deviations, in SI."""
        rows = [(n, float(v), float(d)) for n, v, d in zip(self.names, self.values, self.deviations, strict=True)]
        heads = [("parameter", ""), ("value", "SI", ".6g"), ("deviation", "SI", ".2g", "standard deviation")]
        return Table.of(heads, rows, "base parameters")

    def __repr__(self) -> str:
        return (
            f"<Identification of {self.description.name!r}: {counted(len(self.base.chosen), 'base parameter')} of "
            f"{counted(len(self.base.names), 'unknown')}, "
            f"{counted(self.measured.size, 'torque')}, condition {self.condition:.3g}>"
        )

    def __str__(self) -> str:
        noise = ", ".join(f"{n} {x:.3g}" for n, x in self.residual.items())
        gains = "".join(f"\ngain of {n}: {k:.6g} +- {s:.2g}" for n, (k, s) in self.gains.items())
        few = self.possible is not None and len(self.names) < self.possible
        excited = (
            f"\nthe data excite {len(self.names)} of {self.possible} base parameters: move all drives, further and faster (lw.excitation "
            "designs such a motion)"
        ) * few
        unknown = "".join(f"\n{kind}: {', '.join(names)}" for kind, names in self.unknown.items() if names)
        return f"{self!r}\n{self.table().text()}{gains}\nresidual (rms, SI): {noise}{excited}{unknown}"


def condition_number(W: np.ndarray) -> float:
    """Condition number of a stacked regressor with columns of unit length; infinite where a column is zero."""
    M = W.reshape(-1, W.shape[-1])
    size = np.linalg.norm(M, axis=0)
    if not (size > 0.0).all():
        return float("inf")
    s = np.linalg.svd(M / size, compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > 0.0 else float("inf")


def identified(d: Description, columns: Sequence[RegressorColumn], theta: np.ndarray) -> Description:
    """Return the description with these values."""
    owned: dict[str, dict[str, float]] = {}
    for c, x in zip(columns, theta, strict=True):
        owned.setdefault(c.owner, {})[c.kind] = float(x)
    changes: dict[str, float] = {}
    for name, values in owned.items():
        changes |= _masses(d, name, values) if "m" in values else _rubbing(d, name, values)
    known = parameters.single_parameters(d)
    placed = {name: x for name, x in changes.items() if name in known}
    described = (
        modelfile.reread(d, **placed)
        if d.document is not None
        else parameters.with_values(d, [known[n] for n in placed], list(placed.values()))
    )
    if len(placed) == len(changes):
        return described
    frictions, joints = frictions_of(described), list(described.joints)
    for name, values in owned.items():
        kinds = {k: x for k, x in values.items() if k in ("coulomb", "viscous", "load")}
        if kinds:
            _with_friction(frictions, name, kinds)
        if "armature" in values:
            joints = [replace(j, armature=values["armature"]) if j.name == name else j for j in joints]
    return replace(described, joints=tuple(joints), **{elements.held_in(Friction): tuple(frictions)})


def _masses(d: Description, body: str, values: Mapping[str, float]) -> dict[str, float]:
    """Mass, center and inertia about the center by the names of `with_`."""
    m = values["m"]
    if not m > 0.0:
        raise UsageError(
            f"the mass of '{body}' comes out as {m:.4g} kg: no mechanism has these parameters. Identify with consistent=True, which keeps "
            "every mass and inertia positive.",
            name=body,
        )
    axes = d.plane or "xyz"
    c = np.array([values.get(f"m{a}", 0.0) / m for a in "xyz"])
    out = {f"{body}.mass": m, **{f"{body}.com.{axis}": float(c[i]) for i, axis in enumerate(axes)}}
    shift = m * (c @ c * np.eye(3) - np.outer(c, c))
    if d.planar:
        return {**out, f"{body}.inertia": values["Izz"] - float(shift[2, 2])}
    at = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    return {**out, **{f"{body}.inertia.{k}": values[f"I{k}"] - float(shift[ij]) for k, ij in at.items()}}


def _rubbing(d: Description, joint: str, values: Mapping[str, float]) -> dict[str, float]:
    """Friction and armature of a joint by the names of `with_`."""
    f = friction_of(d, joint)
    name = friction_name(joint) if f is None else f.name
    lever = LEVER if f is None else float(f.radius) or LEVER
    as_written = {"armature": (f"{joint}.armature", 1.0), "load": (f"{name}.mu", 1.0 / lever)}
    return {key: x * factor for kind, x in values.items() for key, factor in [as_written.get(kind, (f"{name}.{kind}", 1.0))]}


def friction_name(joint: str) -> str:
    return f"{joint}_friction"


def _with_friction(frictions: list[Friction], joint: str, kinds: Mapping[str, float]) -> None:
    """Put the identified friction of a joint in."""
    at = next((k for k, f in enumerate(frictions) if f.joint == joint), None)
    dry = bool(kinds.keys() & {"coulomb", "load"})
    f = Friction(friction_name(joint), joint, speed=SMOOTH if dry else 0.0) if at is None else frictions[at]
    plain = {k: x for k, x in kinds.items() if k != "load"}
    if "load" in kinds:
        radius = float(f.radius) or LEVER
        plain |= {"mu": kinds["load"] / radius, "radius": radius}
    changed = replace(f, **plain)
    frictions[len(frictions) if at is None else at : None if at is None else at + 1] = [changed]
