"""The equations of an FMU as flat programs: a mechanism, its drives and outputs traced together, with every parameter a symbol.

Programs read one row, [q v x t u near constants], and are compiled or interpreted (`sources`):

    rates        dq, a, dx, lam      derivatives of all states, multipliers, with sides of break points as further inputs
    switches     g                   switching functions: stops, kinks of laws (`compiler.switches`)
    projection   q, v, residual      one step back onto the loops and prescribed motions
    turns        near                coordinates of cut joints, whole turns counted
    outputs      y                   channels, from the row and a, lam
    terms        M, h, J, k, b, phi  for singular positions, where the pivots of `rates` vanish
    closing      phi, J, b           loops with the drives held, for the start
    constants    c                   everything that depends on parameters alone
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.constant_parts import hoisted, part, simplified
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, interpret
from linkwright.compiler.switches import switched
from linkwright.drives.base import Bound
from linkwright.drives.equations import InputEquations
from linkwright.kernels.equations.kinematic import cut_coordinates, normalized
from linkwright.kernels.equations.variants import Variant
from linkwright.kernels.kernels import Kernels
from linkwright.mechanics.constraints.drives import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.model.coordinates import Distance
from linkwright.model.curves.lines import Parabola
from linkwright.model.description import Description
from linkwright.model.parameters import Parameter, choose, every_parameter
from linkwright.numerics.garbage_pause import all_in_use
from linkwright.numerics.stores import Stores
from linkwright.rings.exchange.writing.fmu.inputs import ExternalMotor, FmuVariable, InputPlan
from linkwright.rings.exchange.writing.fmu.laws import followed, inside, need_outside, steering
from linkwright.rings.exchange.writing.fmu.outputs import ChosenOutputs, FmuOutput, OutputReader

FAR = 1e6  # ratio of pivots from which a position is far from singular ones
SHARE, LEAST, MOST = 0.3, 300.0, 3000.0  # of the margin at the start, and bounds, below which a position counts as nearly singular
MANY = 100  # parameters from which numbers that are zero are none by default
ZERO = 1e-12  # of a parameter's size
SAMPLES = 4  # sets of parameters on which constants are compared
ROW = 7  # leading blocks that all programs read: q, v, x, t, u, near, constants
COMPILED = {
    "projection": ("project_q", "project_v", "residual", "rate_residual", "project_margin"),
    "turns": ("turned",),
    "moved": ("moved_q",),
    "held": ("held_at", "held_speed"),
}
TAPES = {"terms": ("M", "h", "J", "k", "b", "phi"), "closing": ("close_phi", "close_J", "close_b")}
RATES = ("dq", "a", "dx", "lam", "margin")


class Tracing(NamedTuple):
    """The parts of a system that drives read while they are traced: see `InputEquations`."""

    loops: Loops
    kernels: Kernels
    stores: Stores


@dataclass(frozen=True, eq=False)
class FmuEquations:
    """All programs of an FMU with the tables beside them."""

    programs: Mapping[str, Program]  # compiled
    tapes: Mapping[str, Program]  # interpreted
    parameters: tuple[FmuVariable, ...]
    outputs: tuple[FmuOutput, ...]
    kernels: Kernels
    held: tuple[str, ...]
    plan: InputPlan
    shown: tuple[str, ...]  # channels asked for that are states

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of all arrays, by the names that the C sources use."""
        s = self.kernels.sizes
        return {
            "nq": s.nq, "nv": s.nv, "nx": len(self.plan.states), "nu": len(self.plan.inputs), "nnear": s.near,
            "nconstants": self.tapes["constants"].n_out, "nswitches": self.programs["switches"].n_out, "nlam": s.nc,
            "nparameters": len(self.parameters), "noutputs": self.programs["outputs"].n_out, "nheld": len(self.held),
            "nquaternions": len(self.quaternions),
        }  # fmt: skip

    @property
    def margins(self) -> tuple[float, float]:
        """Margins (pivots in millionths of their typical size) below which gaps of the loops are magnified too much, and below which a
        projection would rather magnify round-off than close gaps. They are below that of the start, where it is regular."""
        start, tapes, rates = self.plan.start, self.tapes, self.programs["rates"]
        constants = interpret(tapes["constants"], np.array([p.start for p in self.parameters]))
        near = self.kernels.loops.skel.pack(start.references)
        drives = [x.start for x in self.plan.states]
        row = [*start.q, *start.v, *drives, start.t, *(u.start for u in self.plan.inputs), *near, *constants]
        found = float(interpret(rates, np.array([*row, *np.zeros(rates.n_in - len(row))]))[-1])
        wide = min(max(SHARE * found, LEAST), MOST) if np.isfinite(found) else LEAST
        return wide, 0.1 * wide

    @property
    def quaternions(self) -> list[int]:
        """Places in q where one begins."""
        skel = self.kernels.loops.skel
        return [n.q.start for n, jt in zip(skel.tree.nodes, skel.types, strict=True) if "quaternion" in jt.coordinate_kinds]


@all_in_use()
def equations(system: Any, plan: InputPlan, parameters: Sequence[str] | None, outputs: Sequence[str] | None) -> FmuEquations:
    """Trace everything. parameters, outputs: names or patterns; None: every named number, and the channels of `OutputReader.default`."""
    system.kernels.need_masses()
    kernels = _kernels(system, plan)
    known = every_parameter(kernels.described)
    free = _default(known, kernels) if parameters is None else choose(known, list(parameters), kernels.described)
    need_outside(() if parameters is None else (p.name for p in free), kernels.described)
    outside = [x.name for x in plan.steered]
    free, may = [p for p in free if p.name not in outside], steering(kernels.described)
    kernels = replace(kernels, free=(*free, *(known[name] for name in outside)), made={}, plans=kernels.plans)
    vars(kernels)["model_key"] = None  # nothing of this is cached on disk
    held = _held(system, plan)
    trace = Trace(system, kernels, plan, len(free), held)
    found, chosen = trace.everything(outputs)
    own = [FmuVariable(_unlike(p.name, chosen.channels), p.kind, p.value, "", tunable=p.name in may or not p.geometry) for p in free]
    own += plan.parameters
    joint = trace.graph.program(list(found.items()))
    sizes = np.array([*(p.size for p in free), *(abs(p.start) for p in plan.parameters)])
    constants, rest = simplified(hoisted(joint, "parameters", "constants"), _samples(np.array([p.start for p in own]), sizes))
    programs = {name: _with_margin(part(rest, names, ROW)) for name, names in COMPILED.items()}
    split = switched(part(rest, RATES, ROW))
    programs |= {"rates": split.program, "switches": split.functions, "outputs": part(rest, ["outputs"], ROW + 2)}
    tapes = {name: part(rest, names, ROW + (4 if name == "closing" else 0)) for name, names in TAPES.items()}
    tapes |= {"constants": constants, **{name: programs[name] for name in ("rates", "outputs", "switches")}}
    return FmuEquations(programs, tapes, tuple(own), tuple(chosen.outputs), kernels, held, plan, tuple(chosen.states))


def _default(known: Mapping[str, Parameter], kernels: Kernels) -> list[Parameter]:
    """Every named number outside of motions and motors; of a large mechanism without zeros, which shorten its equations by a third."""
    fixed, named = inside(kernels.described), {name for name, _ in kernels.described.parameters}
    every = [p for p in known.values() if p.name not in fixed]
    return every if len(known) <= MANY else [p for p in every if p.name in named or abs(p.value) > ZERO * p.size]


def _samples(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Sets of parameters near those of the model, in which no number is a special one."""
    shakes = np.random.default_rng(7).uniform(0.01, 0.05, (SAMPLES, len(values)))
    return values + shakes * np.where(sizes > 0.0, sizes, 1.0)


def _with_margin(program: Program) -> Program:
    """The same with its margin under the name by which the status word knows it."""
    return replace(program, outputs=tuple(b._replace(name="margin") if b.name == "project_margin" else b for b in program.outputs))


def _unlike(name: str, channels: frozenset[str]) -> str:
    """The name of a parameter; beside a channel of the same name (`coupler.P.x`: in the body's frame, in the world) marked as one."""
    return f"{name} (parameter)" if name in channels else name


def _kernels(system: Any, plan: InputPlan) -> Kernels:
    """Kernels of the mechanism with its prescribed motions and rotors."""
    armature = np.zeros(system.kernels.sizes.nv)
    for b in plan.numeric:
        if b.armature:
            armature[b.target.entry] += b.armature
    kernels = system.kernels.variant(Variant(tuple(b.target.name for b in plan.numeric if b.moves), tuple(armature)))
    kernels.plan_of("sslm")  # while it can still be found on disk
    return kernels


def _held(system: Any, plan: InputPlan) -> tuple[str, ...]:
    """Drives of the model that stay where they are when the start is closed again; prescribed motions hold themselves."""
    one = {j.name for j in system.description.joints}
    moved = {b.target.name for b in plan.numeric if b.moves}
    names = [d.joint for d in system.description.drives]
    return tuple(n for n in names if n in one and n not in moved and np.ndim(system.start[n]) == 0)


class Trace:
    """One trace of a mechanism with its drives."""

    def __init__(self, system: Any, kernels: Kernels, plan: InputPlan, n_free: int, held: tuple[str, ...]):
        g, s = TraceGraph(), kernels.sizes
        n_p = n_free + len(plan.parameters)
        sizes = {"q": s.nq, "v": s.nv, "x": len(plan.states), "t": 1, "u": len(plan.inputs), "near": s.near, "parameters": n_p}
        sizes |= {"a": s.nv, "lam": s.nc, "hold": len(held), "hold_speed": len(held)}
        self.graph, self.system, self.kernels, self.plan, self.held = g, system, kernels, plan, held
        self.x = {name: g.input(name, n) for name, n in sizes.items()}
        outside = self.x["u"][len(plan.inputs) - len(plan.steered) :]
        self.free, drive_data = np.array([*self.x["parameters"][:n_free], *outside], dtype=object), self.x["parameters"][n_free:]
        self.bounds, self.pushes = plan.bounds(list(self.x["u"]), list(drive_data))

    def everything(self, outputs: Sequence[str] | None) -> tuple[dict[str, Any], ChosenOutputs]:
        """Arrays of all programs by name, and the outputs."""
        x, q, v, t, near = self.x, self.x["q"], self.x["v"], self.x["t"], self.x["near"]
        still = replace(self.kernels.equations(self.free), armature=self._armature(), most=FAR)
        described = still.loops.skel.tree.description
        tracing = Tracing(self.kernels.loops, self.kernels, {})
        inputs = InputEquations(tracing, tuple(self._followed(b, described) for b in self.bounds), self.pushes)
        arrays = {"q": q, "v": v, "x": x["x"], "t": t, "free": self.free, "near": near, "held": np.zeros(0)}
        given = inputs.inputs(arrays)
        n, d = self.kernels.sizes.nv, len(self.kernels.chosen.drivers)
        tau, law, dx = np.array(given[:n], dtype=object), given[n : n + 3 * d].reshape(3, d), given[n + 3 * d :]
        eq = still.moved(*law)
        skel = eq.loops.skel
        forward, back = eq.forward(q, v, tau, t, near), eq.projection(q, v, t, near)
        terms = eq.terms(q, v, t, near)
        found = {"dq": qdot(skel, q, v), "a": forward["a"], "dx": dx, "lam": forward["lam"], "margin": forward["margin"]}
        found |= {"project_q": back["q"], "project_v": back["v"], "project_margin": back["margin"]}
        found |= {name: back[name] for name in ("residual", "rate_residual")}
        found |= {**terms, "h": terms["h"] - tau}  # M a + h = J' lam, efforts included
        found["turned"] = cut_coordinates(skel, q, skel.unpack(q, near))
        found["moved_q"] = normalized(skel, q + qdot(skel, q, v))
        found |= self._closing(inputs, arrays, eq)
        reader = OutputReader(self.system, still.loops, inputs, arrays, x["a"], x["lam"], self.plan.start)
        chosen = reader.read(outputs, {u.name for u in self.plan.inputs}, set(state_names(self.kernels, self.plan)))
        return {**found, "outputs": np.array(chosen.values, dtype=object)}, chosen

    def _followed(self, b: Any, described: Description) -> Bound:
        """A drive on symbols: its place, and the parameters in its law."""
        return followed(_placed(b, described), self.system.description, described)

    def _armature(self) -> tuple[Any, ...]:
        """Inertias of rotors in the mass matrix, from the parameters of their motors."""
        if not self.kernels.chosen.armature:
            return ()
        out: list[Any] = [0.0] * self.kernels.sizes.nv
        for b in self.bounds:
            if b.armature and b.target.entry is not None:
                out[b.target.entry] = out[b.target.entry] + _rotor(b)
        return tuple(out)

    def _closing(self, inputs: InputEquations, arrays: Mapping[str, Any], eq: Any) -> dict[str, Any]:
        """The loops with the rows of drives that are held, and where these drives are."""
        q, v, t, x = arrays["q"], arrays["v"], arrays["t"], self.x
        here, d = inputs.here(arrays), eq.loops.skel.tree.description
        joints = [d.joint(name) for name in self.held]
        laws = [driven(d, n, Parabola(a, b)) for n, a, b in zip(self.held, x["hold"], x["hold_speed"], strict=True)]
        loops = eq.loops.with_(laws) if laws else eq.loops
        c = loops.at(q, v, t[0], eq.loops.skel.unpack(q, arrays["near"]))
        out = {"close_phi": c.phi, "close_J": c.J, "close_b": c.b}
        held = {"held_at": [here.coordinate(j) for j in joints], "held_speed": [here.speed(j) for j in joints]}
        return out | {k: np.array(values, dtype=object) for k, values in held.items()}


def _placed(b: Any, described: Description) -> Bound:
    """A drive in the joint of a description on symbols: in a cut joint its effort depends on where the joint is."""
    if b.target.entry is not None or isinstance(b.target.on, Distance):
        return b
    target = replace(b.target, on=replace(b.target.on, joint=described.joint(b.target.on.joint.name)))
    return replace(b, plate=replace(b.plate, target=target)) if isinstance(b, ExternalMotor) else replace(b, target=target)


def state_names(kernels: Kernels, plan: InputPlan) -> list[str]:
    """Names of all states in the order q, v, x: those of the channels that they are."""
    positions = kernels.entries["q"]
    speeds = [f"{n}.v" if n in set(positions) else n for n in kernels.entries["v"]]
    return [*positions, *speeds, *(x.name for x in plan.states)]


def _rotor(b: Bound) -> Any:
    motor = getattr(b, "motor", None)
    return b.armature if motor is None else motor.armature
