"""Balancing: counterweights and redistributed masses that quieten a machine over its cycle.

    b = balance(m, weights={"force": 1, "moment": 0.2}, counterweights={"crank": {"mass": 2, "radius": "80 mm"}, "rocker": {}})

minimizes the weighted sum of (rms after / rms before)^2 of shaking force, shaking moment and drive efforts over one cycle.
The shaking force is what the moving masses do to the ground, without their weight unless `weight=True`; loads and springs
are left out of it, no mass changes them. Efforts are what the drives feel, weight and loads included. All of it is linear
in the inertia parameters at a fixed motion (`inertia_regressor`), so the columns are computed once, gradients are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import (
    Body,
    Description,
    LinkwrightError,
    Result,
    System,
    Table,
    Trajectory,
    UsageError,
    compiled_of,
    curve_extremes,
    file_editing,
    inertia_regressor,
    joints,
    mechanism_of,
    modelfile,
    nearest,
)
from linkwright.api import cycles as cycle
from linkwright.mechanics.inverse.effort_weights import effort_weights
from linkwright.rings.design.drive_duty import cycle_axis
from linkwright.rings.design.effort_jumps import jump_notes, jumps
from linkwright.rings.design.optimization.mass_design import (
    RANDOM_STARTS,
    Block,
    PointMass,
    Redistributed,
    counterweight_blocks,
    minimize,
    redistribution_blocks,
)

GOALS = ("force", "moment", "torque")
UNITS = {"force": "N", "moment": "N m", "torque": "N m"}


@dataclass(frozen=True)
class CycleCurves:
    """Over the samples of a cycle: shaking force and moment (samples, 3), efforts (samples, drives), in SI and world axes."""

    force: np.ndarray
    moment: np.ndarray
    torque: np.ndarray
    t: np.ndarray

    def rms(self, goal: str, keep: slice = slice(None)) -> float:
        """Root of the mean square of a vector's length."""
        return float(np.sqrt(np.mean(np.sum(getattr(self, goal)[keep] ** 2, axis=1))))

    def peak(self, goal: str) -> float:
        """Largest length of a vector, between samples."""
        return curve_extremes(self.t, np.sqrt(np.sum(getattr(self, goal) ** 2, axis=1))).high


@dataclass(frozen=True)
class Counterweight:
    """A point mass added to a body: its place in the body's frame, and seen from the point its radius was limited from."""

    body: str
    mass: float
    at: tuple[float, float, float]
    radius: float
    angle: float  # in the plane, from the body's x axis; 0 in space


@dataclass(frozen=True)
class MassChange:
    """A body's mass properties before and after, inertia about the center of mass in the body's axes."""

    body: str
    mass: tuple[float, float]
    com: tuple[np.ndarray, np.ndarray]
    inertia: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Balanced(Result):
    """Before and after, what was added, and the changed model (`mechanism`, to move or to save)."""

    mechanism: Any = field(repr=False)
    drive: str
    drives: tuple[str, ...]
    angle: np.ndarray = field(repr=False)  # the leading drive's coordinate at the samples
    before: CycleCurves = field(repr=False)
    after: CycleCurves = field(repr=False)
    counterweights: tuple[Counterweight, ...]
    bodies: tuple[MassChange, ...]
    about: np.ndarray
    weights: Mapping[str, float]
    full_turn: bool
    notes: tuple[str, ...] = ()

    @property
    def _once(self) -> slice:
        """A full turn's last sample is its first: counted once in means."""
        return slice(0, -1) if self.full_turn else slice(None)

    @property
    def norms(self) -> dict[str, dict[str, float]]:
        """RMS and peak of each quantity before and after."""
        out = {}
        for goal in GOALS:
            b, a = self.before, self.after
            out[goal] = {
                "rms_before": b.rms(goal, self._once),
                "rms_after": a.rms(goal, self._once),
                "peak_before": b.peak(goal),
                "peak_after": a.peak(goal),
            }
        return out

    @property
    def added_mass(self) -> float:
        return sum(c.mass for c in self.counterweights)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, SI."""
        curves = {name: {g: getattr(c, g).tolist() for g in GOALS} for name, c in (("before", self.before), ("after", self.after))}
        changes = [
            {"body": x.body, "mass": list(x.mass), "com": [v.tolist() for v in x.com], "inertia": [v.tolist() for v in x.inertia]}
            for x in self.bodies
        ]
        weights = [{"body": c.body, "mass": c.mass, "at": list(c.at), "radius": c.radius, "angle": c.angle} for c in self.counterweights]
        return {
            "model": self.mechanism.description.name,
            "drive": self.drive,
            "angle": self.angle.tolist(),
            "norms": self.norms,
            "counterweights": weights,
            "bodies": changes,
            "about": self.about.tolist(),
            "weights": dict(self.weights),
            **curves,
            "notes": list(self.notes),
        }

    def table(self) -> Table:
        """Return norms before and after; counterweights and masses of bodies are `parts` of the table. All in SI."""
        titles = {"force": "shaking force", "moment": "shaking moment", "torque": "drive effort"}
        names = ("rms_before", "rms_after", "peak_before", "peak_after")
        heads = [("quantity", ""), *((x.replace("_", " "), "", ".5g") for x in names), ("unit", "")]
        rows = [(titles[goal], *(n[x] for x in names), UNITS[goal]) for goal, n in self.norms.items()]
        return Table.of(heads, rows, "balance", self.notes, parts=(self._weights(), self._masses()))

    def _weights(self) -> Table:
        """Counterweights with their places in the body's frame."""
        heads = [("counterweight on", ""), ("mass", "kg", ".5g"), *((x, "m", ".5g") for x in ("x", "y", "z", "radius"))]
        return Table.of(heads, [(c.body, c.mass, *map(float, c.at), c.radius) for c in self.counterweights], "counterweights")

    def _masses(self) -> Table:
        heads = [("body", ""), ("mass before", "kg", ".5g"), ("mass after", "kg", ".5g")]
        return Table.of(heads, [(x.body, *map(float, x.mass)) for x in self.bodies], "masses")

    def __str__(self) -> str:
        t = self.table()
        return "\n".join(["\n\n".join(x.text() for x in (t, *t.parts)), *self.notes])


def balance(
    mechanism: Any,
    *,
    weights: Mapping[str, float] | None = None,
    counterweights: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
    bounds: Mapping[str, Mapping[str, Any]] | None = None,
    steps: int = 72,
    about: Any = None,
    weight: bool = False,
    drive: str | None = None,
    speed: Any = None,
) -> Balanced:
    """Counterweights and mass distributions of least weighted shaking force, moment and effort; see the module's text.

    `counterweights` names bodies, or gives limits for each: `mass` (at most; default all moving mass), `radius` (at most,
    default the body's own size) from the point or joint `at` (default its joint on ground, else its first). Without it and
    without `bounds` every body that turns on ground may get one. `bounds` lets bodies change: `mass` (least, most), `com`
    (how far it may move along each axis), `inertia` (least, most factor about the center of mass).
    """
    system: System = mechanism.system
    wanted = _weights({"force": 1.0} if weights is None else weights)
    c = mechanism_of(system).cycle(drive, steps=steps, speed=speed)
    point = _about(system, c.drive, about)
    reg = inertia_regressor.regressor(system, c, point, weight=weight)
    if counterweights is None and not bounds:
        counterweights = _grounded(system.description)
    blocks: list[Block] = [
        *counterweight_blocks(system.description, counterweights or ()),
        *redistribution_blocks(system.description, bounds or {}),
    ]
    if not blocks:
        raise UsageError("nothing may change: name bodies in counterweights= or give bounds= for their masses.", name="counterweights")
    A, r0 = _least_squares(system, reg, c, wanted, blocks)
    # the shaking force alone is a convex problem: one start finds its only minimum
    starts = 0 if set(_goals(wanted)) == {"force"} and not bounds else RANDOM_STARTS
    solution = minimize(A, r0, blocks, reg.names, starts=starts)
    return _result(mechanism, reg, c, point, wanted, blocks, solution, weight)


def _weights(weights: Mapping[str, float]) -> dict[str, float]:
    for name, value in weights.items():
        if name not in GOALS:
            raise UsageError(f"there is nothing called '{name}' to balance.", nearest(name, GOALS, "Goals"))
        if not (np.isfinite(value) and value >= 0.0):
            raise UsageError(f"the weight of '{name}' must be zero or positive, not {value}.", name=name, value=value)
    if not any(weights.values()):
        raise UsageError(f"all weights are zero: give one of {', '.join(GOALS)} a positive weight.", allowed=GOALS, name="weights")
    return {g: float(weights.get(g, 0.0)) for g in GOALS}


def _goals(weights: Mapping[str, float]) -> list[str]:
    return [g for g in GOALS if weights[g] > 0.0]


def _grounded(d: Description) -> list[str]:
    """Bodies that turn on ground, where a weight can be put on the other side; one that only slides gains nothing by it."""
    ground = d.bodies[0].name
    turning = [j for j in d.joints if ground in (j.first, j.second) and set(joints.create(j.type, j.options).coordinate_kinds) - {"length"}]
    return list(dict.fromkeys(j.second if j.first == ground else j.first for j in turning))


def _about(system: System, drive: str, about: Any) -> np.ndarray:
    """A fixed point: given, by name, or where the drive sits on ground (else the world's origin)."""
    d = system.description
    if isinstance(about, str):
        return np.array(system.point(system.start, about), dtype=float)
    if about is not None:
        point = np.asarray(about, dtype=float)
        if point.shape not in ((2,), (3,)) or not np.isfinite(point).all():
            raise UsageError("about= is a fixed point: two or three coordinates in meters, or a name such as 'ground.A'.", name="about")
        return np.concatenate([point, np.zeros(3 - len(point))])
    joint = next((j for j in d.joints if j.name == drive), None)
    ground = d.bodies[0].name
    if joint is None or ground not in (joint.first, joint.second):
        return np.zeros(3)
    return np.array((joint.frame_first if joint.first == ground else joint.frame_second).at, dtype=float)


def _least_squares(
    system: System, reg: inertia_regressor.CycleRegressor, c: Trajectory, weights: Mapping[str, float], blocks: Sequence[Block]
) -> tuple[np.ndarray, np.ndarray]:
    """(A, r0) with |A dtheta + r0|^2 = sum of weight (rms/rms before)^2, brought to few rows by a QR decomposition."""
    keep = slice(0, -1) if c.full_turn else slice(None)
    now = CycleCurves(*reg.curves(reg.theta), c.t)
    scale = _effort_scale(system, reg)
    where = [reg.bodies.index(b.body) for b in blocks]
    rows, right = [], []
    for goal, Y, y in (("force", reg.force, now.force), ("moment", reg.moment, now.moment), ("torque", reg.effort, now.torque)):
        if goal not in _goals(weights):
            continue
        s = scale if goal == "torque" else np.ones(3)
        y = (y * s)[keep]
        size = np.sqrt(np.sum(y * y))
        factor = np.sqrt(weights[goal]) / (size if size > 0.0 else 1.0)
        columns = (Y * s[:, None, None])[keep][:, :, where]
        rows.append(factor * columns.reshape(y.size, -1))
        right.append(factor * y.reshape(-1))
    stacked = np.concatenate([np.concatenate(rows), np.concatenate(right)[:, None]], axis=1)
    R = np.asarray(np.linalg.qr(stacked, mode="r"))
    return R[:, :-1], R[:, -1]


def _effort_scale(system: System, reg: inertia_regressor.CycleRegressor) -> np.ndarray:
    """Efforts of several drives are compared by the weights that choose among redundant ones."""
    return 1.0 / effort_weights(system.description, reg.drives, compiled_of(system).loops.kappa).sizes


def _result(
    mechanism: Any,
    reg: inertia_regressor.CycleRegressor,
    c: Trajectory,
    about: np.ndarray,
    weights: Mapping[str, float],
    blocks: Sequence[Block],
    solution: Sequence[np.ndarray],
    weight: bool,
) -> Balanced:
    system: System = mechanism.system
    d = system.description
    theta = reg.theta.copy()
    points: dict[str, list[PointMass]] = {}
    changed: dict[str, Body] = {}
    for block, x in zip(blocks, solution, strict=True):
        theta[reg.bodies.index(block.body)] += block.change(x, reg.names)
        if isinstance(block, Redistributed):
            changed[block.body] = block.new_body(x)
        elif x[0] > 1e-12:
            points.setdefault(block.body, []).append(block.point_mass(x))
    for body, added in points.items():
        changed[body] = _with_points(changed.get(body, d.body(body)), added, d.planar)
    model = type(mechanism)(_described(mechanism.description, changed))
    rows = [
        Counterweight(body, p.mass, (p.at[0], p.at[1], p.at[2]), p.radius, p.angle if d.planar else 0.0)
        for body, added in points.items()
        for p in added
    ]
    rubbing = [f.name for f in d.rubbing]
    notes = [f"shaking force and moment {'include' if weight else 'without'} the weight. Efforts include it"]
    if rubbing:
        notes.append(f"friction that grows with the load ({', '.join(rubbing)}) is left out of the efforts")
    return Balanced(
        mechanism=model,
        drive=c.drive,
        drives=reg.drives,
        angle=np.array([cycle.coordinate_now(compiled_of(system).loops, c.drive, x) for x in c._instants]),
        before=CycleCurves(*reg.curves(reg.theta), c.t),
        after=CycleCurves(*reg.curves(theta), c.t),
        counterweights=tuple(rows),
        bodies=tuple(_changes(d.body(name), body) for name, body in changed.items()),
        about=about,
        weights=dict(weights),
        full_turn=bool(c.full_turn),
        notes=(*c.notes, *notes, *jump_notes(jumps(c), d.units, cycle_axis(c).dimension)),
    )


def _with_points(body: Body, added: Sequence[PointMass], planar: bool) -> Body:
    """The body with point masses welded on: masses and moments add, the inertia moves to the new center."""
    names = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
    theta = inertia_regressor.of_body(body, names) + sum(
        (inertia_regressor.parameters(p.mass, p.at, np.zeros((3, 3)), names) for p in added), np.zeros(10)
    )
    m = theta[0]
    if m <= 0.0:
        return body
    c = theta[1:4] / m
    xx, yy, zz, xy, xz, yz = theta[4:]
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (c @ c * np.eye(3) - np.outer(c, c))
    if planar:
        I = np.diag([0.0, 0.0, I[2, 2]])
    return replace(body, mass=float(m), com=(float(c[0]), float(c[1]), float(c[2])), inertia=_rows(I))


def _rows(I: np.ndarray) -> Any:
    return tuple(tuple(float(x) for x in row) for row in I)


def _described(d: Description, changed: Mapping[str, Body]) -> Description:
    """The model with other mass properties, with the text of its file where that has places for them."""
    changes = dict(pair for b in changed.values() for pair in _mass_numbers(d, b))
    if file_editing.text_behind(d) is not None:
        try:
            modelfile.edited(d, changes)
            return modelfile.reread(d, **changes)
        except LinkwrightError:  # masses that are expressions, or come from a `repeat:` block: no number of the file is theirs
            pass
    bodies = tuple(
        replace(b, mass=changed[b.name].mass, com=changed[b.name].com, inertia=changed[b.name].inertia) if b.name in changed else b
        for b in d.bodies
    )
    return modelfile.read_text(modelfile.write(replace(d, bodies=bodies)), f"{d.name} (balanced)")


def _mass_numbers(d: Description, b: Body) -> Iterator[tuple[str, float]]:
    """Mass, center and inertia of a body by the names of `with_`."""
    yield f"{b.name}.mass", float(b.mass or 0.0)
    yield from ((f"{b.name}.com.{axis}", float(b.com[i])) for i, axis in enumerate(d.plane or "xyz"))
    if d.planar:
        yield f"{b.name}.inertia", float(b.inertia[2][2])
        return
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        yield f"{b.name}.inertia.{'xyz'[i]}{'xyz'[j]}", float(b.inertia[i][j])


def _changes(old: Body, new: Body) -> MassChange:
    com = (np.array(old.com, dtype=float), np.array(new.com, dtype=float))
    inertia = (np.array(old.inertia, dtype=float), np.array(new.inertia, dtype=float))
    return MassChange(old.name, (float(old.mass or 0.0), float(new.mass or 0.0)), com, inertia)
