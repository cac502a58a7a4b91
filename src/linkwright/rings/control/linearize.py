"""Linearization on the loops: small deviations of independent coordinates from a state, open loop or under a controller.

    d/dt [dtheta; dtheta'; dx] = A [dtheta; dtheta'; dx] + B du

theta are independent coordinates, x what controllers and motors bring along (integrals, filters, currents), u efforts of the
drives, beside those that hold or control. q and v move along the loops (`manifold`); the mechanism with its controller is traced
as one program, which is differentiated exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwright.api import (
    Cell,
    Control,
    Result,
    SingularityError,
    State,
    Table,
    UsageError,
    counted,
    drive_base,
    factor,
    kernel_sets,
    kinematics,
    loop_constraints,
    nearest,
    programs,
    quantity,
    trace_graph,
)
from linkwright.compiler.derivatives import jacobian, places
from linkwright.drives.actuation import actuation
from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics.inverse.effort_weights import effort_weights
from linkwright.properties import cached_property
from linkwright.rings.control.loop_linearization import Manifold, manifold, task_rows
from linkwright.rings.control.riccati import Gains, riccati
from linkwright.simulation.feedback.control_loop import Controlling
from linkwright.simulation.feedback.drive_response import effort_columns
from linkwright.simulation.feedback.reference_tracking import independent
from linkwright.simulation.feedback.task_coordinates import Task, tasks_of

AT_REST = 1e-7  # acceleration left, dimensionless and against that without efforts, which still counts as an equilibrium
MARGIN = 1e-9  # real part against the fastest pole: what is smaller neither grows nor dies out
LINEAR_ROUND_OFF = 1e-6


class Natural(NamedTuple):
    """A pole, or the upper one of a pair: its natural frequency and damping ratio."""

    pole: complex
    frequency: float  # Hz
    damping: float  # 1: no overshoot; 0: undamped; negative: grows


@dataclass(frozen=True, eq=False)
class Linearized(Result):
    """Small deviations from a state: rows of A are `states`, columns of B are `drives`, SI and radians."""

    A: np.ndarray
    B: np.ndarray
    coordinates: tuple[str, ...]
    kinds: tuple[str, ...]  # angle or length, of each coordinate
    drives: tuple[str, ...]
    states: tuple[str, ...]
    efforts: Mapping[str, float]  # that act at the state
    residual: Mapping[str, float]  # accelerations of the coordinates that are left there
    Lambda: np.ndarray = field(repr=False)  # (nv, coordinates): speeds of all joints (names.v) per speed of the coordinates
    sizes: np.ndarray = field(repr=False)  # of coordinates and drives: what is comparable, from the metric
    weights: np.ndarray = field(repr=False)
    control: str = ""  # what was in the loop
    notes: tuple[str, ...] = ()

    @cached_property
    def poles(self) -> NDArray[np.complex128]:
        """Eigenvalues of A in 1/s, slowest first: those that grow before those that die out."""
        found = np.linalg.eigvals(self.A).astype(complex) if len(self.A) else np.zeros(0, dtype=complex)
        return by_size(found)

    @cached_property
    def natural(self) -> tuple[Natural, ...]:
        """Natural frequency and damping ratio of every pair of poles, and of single ones."""
        out = []
        for p in self.poles:
            if p.imag >= 0.0:
                size = abs(p)
                out.append(Natural(complex(p), size / (2.0 * np.pi), float(-p.real / size) if size else 0.0))
        return tuple(out)

    @property
    def growth(self) -> float:
        """The largest real part of the poles, 1/s."""
        return float(np.max(self.poles.real, initial=-np.inf))

    @property
    def stable(self) -> bool:
        """Every deviation dies out."""
        return self.growth < -MARGIN * float(np.abs(self.poles).max(initial=0.0))

    @property
    def verdict(self) -> str:
        if self.stable:
            return "stable"
        grows = self.growth > MARGIN * float(np.abs(self.poles).max(initial=0.0))
        return "unstable" if grows else "undamped: deviations neither grow nor die out"

    def lqr(self, Q: Any = None, R: Any = None) -> Gains:
        """Gains of least cost for these A and B, see `lw.control.lqr`: (K, S, poles), efforts -K x, cost x' S x."""
        return riccati(self, Q, R)

    def __str__(self) -> str:
        loop = f"under {self.control}" if self.control else "open loop"
        lines = [f"{loop}, {counted(len(self.states), 'state')} ({', '.join(self.states)}): {self.verdict}"]
        lines += [f"  {line}" for line in self.table().text().splitlines()]
        return "\n".join([*lines, *(f"  note: {n}" for n in self.notes)])

    def table(self) -> Table:
        """Return the poles, or pairs of them, slowest first, with natural frequencies and damping ratios."""
        heads = [("pole", "1/s"), ("times", ""), ("frequency", "Hz", ".4g"), ("damping", "-", ".4f")]
        return Table.of(heads, _rows(self.natural), "poles", self.notes)


def _rows(natural: Sequence[Natural]) -> list[tuple[Any, ...]]:
    """Poles or pairs, how often, frequencies and damping ratios. Parts that are round-off beside the other (of a double pole: its
    square root) are not shown."""
    often: dict[str, tuple[int, Natural]] = {}
    for found in natural:
        p = found.pole
        re, im = (x if abs(x) > LINEAR_ROUND_OFF * abs(p) else 0.0 for x in (p.real, p.imag))
        text = f"{re:.5g} +- {im:.5g}i" if im else f"{re:.5g}"
        before, first = often.get(text, (0, found))
        often[text] = before + (2 if p.imag and not im else 1), first
    return [(Cell(text, text), n, x.frequency, round(x.damping, 4) + 0.0) for text, (n, x) in often.items()]


def by_size(poles: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Slowest first: those that grow before those that die out."""
    size = float(np.abs(poles).max(initial=0.0)) or 1.0
    order = sorted(range(len(poles)), key=lambda i: (-round(poles[i].real / size, 9), abs(poles[i].imag), -poles[i].imag))
    return poles[order]


# -------------------------------------------------------------------- the program


@dataclass(frozen=True, eq=False)
class Plant:
    """A mechanism to be linearized: equations, coordinates, drives, and what acts on them at an instant.

    acting: from traced arrays (q, v, x, u and the fixed ones) to (tau, rates of x, efforts, margin); None: nothing but u.
    """

    eq: Equations
    tasks: tuple[Task, ...]
    targets: tuple[drive_base.DriveTarget, ...]
    fixed: Mapping[str, np.ndarray]  # t, near, parameters and the rest that does not move
    q: np.ndarray
    v: np.ndarray
    acting: Callable[[Mapping[str, Any]], tuple[Any, Any, Any, Any]] | None = None
    x_names: tuple[str, ...] = ()
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    costly: np.ndarray | None = None  # sizes of efforts that cost the same; None: those of the model's drives

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(x for t in self.tasks for x in t.labels)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(k for t in self.tasks for k in t.kinds)

    @cached_property
    def manifold(self) -> Manifold:
        return manifold(self.eq, self.tasks, self.q, self.v, float(self.fixed["t"][0]), self.fixed["near"])

    @cached_property
    def sizes(self) -> np.ndarray:
        return loop_constraints.scale(self.kinds, self.eq.loops.kappa)

    @cached_property
    def weights(self) -> np.ndarray:
        """Sizes of efforts that cost the same: those of the controller, or of the model's drives."""
        if self.costly is not None:
            return self.costly
        loops = self.eq.loops
        return effort_weights(loops.skel.tree.description, [x.name for x in self.targets], loops.kappa).sizes

    @cached_property
    def program(self) -> programs.Program:
        """(q, v, x, u) -> accelerations of the coordinates, rates of x, efforts, margin."""
        g = trace_graph.TraceGraph()
        moving = {"q": g.input("q", len(self.q)), "v": g.input("v", len(self.v)), "x": g.input("x", len(self.x))}
        x = {**self.fixed, **moving}
        u, t, near = g.input("u", len(self.targets)), x["t"], x["near"]
        J_t, bias, m = task_rows(self.eq, self.tasks, x["q"], x["v"], near)
        B = effort_columns(self.eq, m, t[0], self.eq.loops.skel.unpack(x["q"], near), self.targets)
        tau, rates, efforts, margin = (0.0, [], 0.0 * u, 1.0) if self.acting is None else self.acting(x)
        out = self.eq.forward(x["q"], x["v"], tau + B @ u, t, near)
        results = {"acceleration": J_t @ out["a"] + bias, "rates": rates, "efforts": efforts + u, "margin": [margin, *out["margin"]]}
        return g.program([(name, np.array(list(r), dtype=object)) for name, r in results.items()])

    def at(self, x: np.ndarray, u: np.ndarray, seeds: Sequence[Any]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Values and derivatives along the seeds, by output."""
        found = jacobian(self.program, np.concatenate([self.q, self.v, x, u]), seeds)
        values, slopes = np.array(found.results, dtype=float), found.dense()
        spans = {b.name: b.span for b in self.program.outputs}
        self.need_smooth(values, slopes, values[spans["margin"]])
        return {k: values[s] for k, s in spans.items()}, {k: slopes[s] for k, s in spans.items()}

    @staticmethod
    def need_smooth(values: np.ndarray, slopes: np.ndarray, margins: np.ndarray) -> None:
        if not (np.isfinite(values).all() and np.isfinite(slopes).all() and (margins > 0.0).all()):
            raise SingularityError(
                "this position is singular, or the drives have no control authority here: motions do not depend smoothly on the state, so "
                "there is nothing to linearize. Linearize next to it."
            )

    def holding(self) -> np.ndarray:
        """Efforts of least weighted norm that leave the coordinates their speeds, as far as the drives can."""
        u = np.zeros(len(self.targets))
        values, slopes = self.at(self.x, u, places(self.program, "u"))
        Y = slopes["acceleration"] * self.weights / self.sizes[:, None]
        size = float(np.abs(Y).max(initial=0.0))
        return self.weights * factor(Y / size).solve(-values["acceleration"] / self.sizes / size) if size else u

    def steady(self, mine: Sequence[int]) -> np.ndarray:
        """x with those states settled whose rates they decide themselves, such as currents in coils."""
        x, u = np.array(self.x), np.zeros(len(self.targets))
        where = [places(self.program, "x")[i] for i in mine]
        for _ in range(3 if mine else 0):
            values, slopes = self.at(x, u, where)
            x[mine] -= factor(slopes["rates"][mine], 1e-300).solve(values["rates"][mine])
        return x


def seeds(plant: Plant, program: programs.Program) -> list[Any]:
    """Directions in which a program of (q, v, x) is differentiated: the coordinates, their speeds, further states."""
    m, skel = plant.manifold, plant.eq.loops.skel
    at_q, at_v = places(program, "q"), places(program, "v")
    shifted = [
        {**dict(zip(at_q, kinematics.qdot(skel, plant.q, d), strict=True)), **dict(zip(at_v, g, strict=True))}
        for d, g in zip(m.Lambda.T, m.Gamma.T, strict=True)
    ]
    return [*shifted, *(dict(zip(at_v, d, strict=True)) for d in m.Lambda.T), *places(program, "x")]


def linearized(plant: Plant, u: np.ndarray, x: np.ndarray, control: str = "", notes: Sequence[str] = ()) -> Linearized:
    """A and B of a plant with efforts u and own states x."""
    m, program = plant.manifold, plant.program
    n, p, own = len(plant.labels), len(plant.targets), len(plant.x)
    values, slopes = plant.at(x, u, [*seeds(plant, program), *places(program, "u")])
    all_, held = 2 * n + own, slice(2 * n + own, None)
    A, B = np.zeros((all_, all_)), np.zeros((all_, p))
    A[:n, :n], A[:n, n : 2 * n] = m.turning, np.eye(n)
    for rows, name in ((slice(n, 2 * n), "acceleration"), (slice(2 * n, None), "rates")):
        A[rows], B[rows] = slopes[name][:, :all_], slopes[name][:, held]
    left = values["acceleration"]
    records = [*notes, *_notes(plant, left)]
    return Linearized(
        A,
        B,
        plant.labels,
        plant.kinds,
        tuple(x.name for x in plant.targets),
        (*plant.labels, *(f"{x}.v" for x in plant.labels), *plant.x_names),
        dict(zip((x.name for x in plant.targets), values["efforts"].tolist(), strict=True)),
        dict(zip(plant.labels, left.tolist(), strict=True)),
        m.Lambda,
        plant.sizes,
        plant.weights,
        control,
        tuple(records),
    )


def _notes(plant: Plant, left: np.ndarray) -> list[str]:
    out = []
    if np.abs(plant.v / plant.eq.loops.columns).max(initial=0.0) > 0.0:
        out.append("the mechanism moves here: these are the poles of this instant")
    if np.abs(left / plant.sizes).max(initial=0.0) > AT_REST * (1.0 + plant_size(plant)):
        units = {"angle": "rad/s^2", "length": "m/s^2"}
        records = ", ".join(f"{x} {a:.3g} {units[k]}" for x, a, k in zip(plant.labels, left, plant.kinds, strict=True))
        out.append(f"not an equilibrium: accelerations left are {records}")
    return out


def plant_size(plant: Plant) -> float:
    """The typical size of accelerations: those the mechanism has without efforts, dimensionless."""
    bare = Plant(plant.eq, plant.tasks, plant.targets, plant.fixed, plant.q, plant.v)
    values, _ = bare.at(bare.x, np.zeros(len(plant.targets)), [])
    return float(np.abs(values["acceleration"] / plant.sizes).max(initial=0.0))


# -------------------------------------------------------------------- by name


def linearize(
    system: Any,
    st: State,
    *,
    coordinates: Any = None,
    drives: Any = None,
    control: Control | None = None,
    actuators: Any = None,
    tau: Any = None,
    parameters: np.ndarray | None = None,
) -> Linearized:
    """A system at a state; see `System.linearize`."""
    values = np.array(system.kernels.defaults["parameters"] if parameters is None else parameters, dtype=float)
    if control is None:
        return _open_loop(system, st, coordinates, drives, actuators, tau, values)
    for name, given in (("drives", drives), ("tau", tau)):
        if given is not None:
            raise UsageError(f"{name} is for the open loop. With control= the controller has its own drives and efforts.", name=name)
    loop = Controlling.of(control, actuators, None, None, st.t)
    act = actuation(system, None, st, parameters=values, control=loop)
    armature = tuple(act.armature) if np.any(act.armature) else ()
    kernels = system.kernels.variant(kernel_sets.Variant(armature=armature))
    eq = kernels.equations(values if len(values) else ())
    equations, bound, nv = act.equations, _bound(act), len(st.v)

    def acting(x: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        found = equations.inputs(x)
        return found[:nv], found[nv:], equations.efforts_of_control(equations.here(x), x), equations.margin(x)

    tasks = _coordinates(eq, st, coordinates, [x.name for x in bound.targets], bound.tasks)
    fixed = {k: act.start[k] for k in ("t", "near", "parameters", "held")}
    currents = [i for i, name in enumerate(act.x_names) if name.startswith("motor.")]
    retained = [n for n in act.notes if not n.startswith("controller:")]
    if bound.every:
        from linkwright.rings.control.sampled_linearization import Sampling, linearized_sampled

        sampling = Sampling(act, len(act.x0))
        held = Plant(eq, tasks, bound.targets, fixed, st.q, st.v, sampling.acting, sampling.names, sampling.x)
        return linearized_sampled(held, sampling, control.kind, retained)
    plant = Plant(eq, tasks, bound.targets, fixed, st.q, st.v, acting, act.x_names, act.x0)
    return linearized(plant, np.zeros(len(bound.targets)), plant.steady(currents), control.kind, retained)


def _bound(act: Any) -> Any:
    return act.equations.control.bound


def _open_loop(system: Any, st: State, coordinates: Any, drives: Any, actuators: Any, tau: Any, parameters: np.ndarray) -> Linearized:
    if actuators is not None:
        raise UsageError("actuators belong to a controller: control=lw.control.pd(...).", name="actuators")
    names = system.named_drives(drives)
    targets = tuple(drive_base.target(system.loops.skel, n) for n in names)
    eq = system.kernels.equations(parameters if len(parameters) else ())
    tasks = _coordinates(eq, st, coordinates, names, ())
    fixed = {"t": np.array([st.t]), "near": system.loops.skel.pack(st.references), "parameters": parameters}
    plant = Plant(eq, tasks, targets, fixed, st.q, st.v)
    return linearized(plant, plant.holding() if tau is None else _efforts(tau, targets), plant.x)


def _coordinates(eq: Equations, st: State, given: Any, drives: Sequence[str], followed: Sequence[Task]) -> tuple[Task, ...]:
    """Independent coordinates: those named, those the controller follows where they are enough, or chosen, drives first."""
    if given is None:
        chosen = independent(eq.loops, st, drives)
        if not chosen:
            raise UsageError(
                "nothing can move here: the loops leave no degree of freedom (mobility 0), so there is nothing to linearize.",
                name="linearize",
            )
        return tuple(followed) if sum(len(t.kinds) for t in followed) == len(chosen) else _tasks(eq, chosen)
    names = [given] if isinstance(given, str) else [str(x) for x in given]
    return _tasks(eq, names)


def _tasks(eq: Equations, names: Sequence[str]) -> tuple[Task, ...]:
    out: list[Task] = []
    for name in names:
        mine = tasks_of(eq.loops.skel, name)
        again = [x for t in mine for x in t.labels if any(x in other.labels for other in out)]
        if again:
            raise UsageError(f"coordinates: '{again[0]}' is named twice.", name=again[0])
        out += mine
    return tuple(out)


def _efforts(tau: Any, targets: Sequence[drive_base.DriveTarget]) -> np.ndarray:
    """Efforts at which to linearize, by drive or in their order."""
    names = [x.name for x in targets]
    if isinstance(tau, Mapping):
        unknown = [n for n in tau if n not in names]
        if unknown:
            raise UsageError(f"tau: '{unknown[0]}' is not a drive here.", nearest(str(unknown[0]), names, "Drives"))
        return np.array([quantity(tau.get(x.name, 0.0), x.dimension("effort"), f"tau of '{x.name}'") for x in targets])
    try:
        out = np.asarray(tau, dtype=float)
    except (TypeError, ValueError):
        out = np.zeros(0)
    if out.shape != (len(names),) or not np.isfinite(out).all():
        raise UsageError(f"tau is a dict by drive, or one number for each of {', '.join(names)}.", name="tau", allowed=names)
    return out
