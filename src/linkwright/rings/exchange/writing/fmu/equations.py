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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import (
    Description,
    Instant,
    Parameter,
    State,
    UsageError,
    channel_kinds,
    compiled_of,
    coordinates,
    curve_lines,
    drive_base,
    driven_constraints,
    errors,
    every_parameter,
    kernel_sets,
    kinematics,
    lengths,
    load_channels,
    loop_constraints,
    memory_and_threads,
    movable,
    nearest,
    patterns,
    programs,
    records,
    scalars,
    trace_graph,
)
from linkwright.api import joints as joint_types
from linkwright.compiler.constant_parts import hoisted, part, simplified
from linkwright.compiler.switches import switched
from linkwright.drives.input_equations import InputEquations
from linkwright.kernels.equations.kinematic import cut_coordinates, normalized
from linkwright.mechanics.inverse.known_motion import Acted, loads_of_known_motion
from linkwright.model.parameters import choose
from linkwright.results.state import wound
from linkwright.rings.exchange.writing.fmu.inputs import ExternalMotor, FmuVariable, InputPlan
from linkwright.rings.exchange.writing.fmu.laws import followed, inside, need_outside, steering

SHARE, LEAST, MOST = 0.3, 300.0, 3000.0  # of the margin at the start, and bounds, below which a position counts as nearly singular
ROW = 7  # leading blocks that all programs read: q, v, x, t, u, near, constants
COMPILED = {
    "projection": ("project_q", "project_v", "residual", "rate_residual", "project_margin"),
    "turns": ("turned",),
    "moved": ("moved_q",),
    "held": ("held_at", "held_speed"),
}
TAPES = {"terms": ("M", "h", "J", "k", "b", "phi"), "closing": ("close_phi", "close_J", "close_b")}
RATES = ("dq", "a", "dx", "lam", "margin")

UNTRACEABLE = (trace_graph.TracingError, TypeError, AttributeError)
EVERY = "*"


class Tracing(NamedTuple):
    """The parts of a system that drives read while they are traced: see `InputEquations`."""

    loops: loop_constraints.Loops
    kernels: kernel_sets.Kernels
    stores: memory_and_threads.Stores


@dataclass(frozen=True, eq=False)
class FmuEquations:
    """All programs of an FMU with the tables beside them."""

    programs: Mapping[str, programs.Program]  # compiled
    tapes: Mapping[str, programs.Program]  # interpreted
    parameters: tuple[FmuVariable, ...]
    outputs: tuple[FmuOutput, ...]
    kernels: kernel_sets.Kernels
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
        constants = programs.interpret(tapes["constants"], np.array([p.start for p in self.parameters]))
        near = self.kernels.loops.skel.pack(start.references)
        drives = [x.start for x in self.plan.states]
        row = [*start.q, *start.v, *drives, start.t, *(u.start for u in self.plan.inputs), *near, *constants]
        found = float(programs.interpret(rates, np.array([*row, *np.zeros(rates.n_in - len(row))]))[-1])
        wide = min(max(SHARE * found, LEAST), MOST) if np.isfinite(found) else LEAST
        return wide, 0.1 * wide

    @property
    def quaternions(self) -> list[int]:
        """Places in q where one begins."""
        skel = self.kernels.loops.skel
        return [n.q.start for n, jt in zip(skel.tree.nodes, skel.types, strict=True) if "quaternion" in jt.coordinate_kinds]


@memory_and_threads.all_in_use()
def equations(system: Any, plan: InputPlan, parameters: Sequence[str] | None, outputs: Sequence[str] | None) -> FmuEquations:
    """Trace everything. parameters, outputs: names or patterns; None: every named number, and the channels of `OutputReader.default`."""
    system.kernels.need_masses()
    kernels = _kernels(system, plan)
    known = every_parameter(kernels.described)
    named = _default(known, kernels) if parameters is None else choose(known, list(parameters), kernels.described)
    need_outside(() if parameters is None else (p.name for p in named), kernels.described)
    outside = [x.name for x in plan.steered]
    own_parameters, may = [p for p in named if p.name not in outside], steering(kernels.described)
    kernels = replace(kernels, parameters=(*own_parameters, *(known[name] for name in outside)), made={}, plans=kernels.plans)
    vars(kernels)["model_key"] = None  # nothing of this is cached on disk
    held = _held(system, plan)
    trace = Trace(system, kernels, plan, len(own_parameters), held)
    found, chosen = trace.everything(outputs)
    own = [
        FmuVariable(_unlike(p.name, chosen.channels), p.kind, p.value, "", tunable=p.name in may or not p.geometry) for p in own_parameters
    ]
    own += plan.parameters
    joint = trace.graph.program(list(found.items()))
    sizes = np.array([*(p.size for p in own_parameters), *(abs(p.start) for p in plan.parameters)])
    constants, rest = simplified(hoisted(joint, "parameters", "constants"), _samples(np.array([p.start for p in own]), sizes))
    programs = {name: _with_margin(part(rest, names, ROW)) for name, names in COMPILED.items()}
    split = switched(part(rest, RATES, ROW))
    programs |= {"rates": split.program, "switches": split.functions, "outputs": part(rest, ["outputs"], ROW + 2)}
    tapes = {name: part(rest, names, ROW + (4 if name == "closing" else 0)) for name, names in TAPES.items()}
    tapes |= {"constants": constants, **{name: programs[name] for name in ("rates", "outputs", "switches")}}
    return FmuEquations(programs, tapes, tuple(own), tuple(chosen.outputs), kernels, held, plan, tuple(chosen.states))


def _default(known: Mapping[str, Parameter], kernels: kernel_sets.Kernels) -> list[Parameter]:
    """Every named number outside of motions and motors; of a large mechanism without zeros, which shorten its equations by a third."""
    fixed, named = inside(kernels.described), {name for name, _ in kernels.described.parameters}
    every = [p for p in known.values() if p.name not in fixed]
    many = 100  # parameters from which numbers that are zero are none by default
    zero = 1e-12  # of a parameter's size
    return every if len(known) <= many else [p for p in every if p.name in named or abs(p.value) > zero * p.size]


def _samples(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Sets of parameters near those of the model, in which no number is a special one."""
    samples = 4  # sets of parameters on which constants are compared
    shakes = np.random.default_rng(7).uniform(0.01, 0.05, (samples, len(values)))
    return values + shakes * np.where(sizes > 0.0, sizes, 1.0)


def _with_margin(program: programs.Program) -> programs.Program:
    """The same with its margin under the name by which the status word knows it."""
    return replace(program, outputs=tuple(b._replace(name="margin") if b.name == "project_margin" else b for b in program.outputs))


def _unlike(name: str, channels: frozenset[str]) -> str:
    """The name of a parameter; beside a channel of the same name (`coupler.P.x`: in the body's frame, in the world) marked as one."""
    return f"{name} (parameter)" if name in channels else name


def _kernels(system: Any, plan: InputPlan) -> kernel_sets.Kernels:
    """Kernels of the mechanism with its prescribed motions and rotors."""
    armature = np.zeros(system.kernels.sizes.nv)
    for b in plan.numeric:
        if b.armature:
            armature[b.target.entry] += b.armature
    kernels = system.kernels.variant(kernel_sets.Variant(tuple(b.target.name for b in plan.numeric if b.moves), tuple(armature)))
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

    def __init__(self, system: Any, kernels: kernel_sets.Kernels, plan: InputPlan, n_parameters: int, held: tuple[str, ...]):
        g, s = trace_graph.TraceGraph(), kernels.sizes
        n_p = n_parameters + len(plan.parameters)
        sizes = {"q": s.nq, "v": s.nv, "x": len(plan.states), "t": 1, "u": len(plan.inputs), "near": s.near, "parameters": n_p}
        sizes |= {"a": s.nv, "lam": s.nc, "hold": len(held), "hold_speed": len(held)}
        self.graph, self.system, self.kernels, self.plan, self.held = g, system, kernels, plan, held
        self.x = {name: g.input(name, n) for name, n in sizes.items()}
        outside = self.x["u"][len(plan.inputs) - len(plan.steered) :]
        own, drive_data = np.split(self.x["parameters"], [n_parameters])
        self.parameters = np.array([*own, *outside], dtype=object)
        self.bounds, self.pushes = plan.bounds(list(self.x["u"]), list(drive_data))

    def everything(self, outputs: Sequence[str] | None) -> tuple[dict[str, Any], ChosenOutputs]:
        """Arrays of all programs by name, and the outputs."""
        x, q, v, t, near = self.x, self.x["q"], self.x["v"], self.x["t"], self.x["near"]
        far = 1e6  # ratio of pivots from which a position is far from singular ones
        still = replace(self.kernels.equations(self.parameters), armature=self._armature(), most=far)
        described = still.loops.skel.tree.description
        tracing = Tracing(self.kernels.loops, self.kernels, {})
        inputs = InputEquations(tracing, tuple(self._followed(b, described) for b in self.bounds), self.pushes)
        arrays = {"q": q, "v": v, "x": x["x"], "t": t, "parameters": self.parameters, "near": near, "held": np.zeros(0)}
        given = inputs.inputs(arrays)
        n, d = self.kernels.sizes.nv, len(self.kernels.chosen.drivers)
        tau, law, dx = np.array(given[:n], dtype=object), given[n : n + 3 * d].reshape(3, d), given[n + 3 * d :]
        eq = still.moved(*law)
        skel = eq.loops.skel
        forward, back = eq.forward(q, v, tau, t, near), eq.projection(q, v, t, near)
        terms = eq.terms(q, v, t, near)
        found = {"dq": kinematics.qdot(skel, q, v), "a": forward["a"], "dx": dx, "lam": forward["lam"], "margin": forward["margin"]}
        found |= {"project_q": back["q"], "project_v": back["v"], "project_margin": back["margin"]}
        found |= {name: back[name] for name in ("residual", "rate_residual")}
        found |= {**terms, "h": terms["h"] - tau}  # M a + h = J' lam, efforts included
        found["turned"] = cut_coordinates(skel, q, skel.unpack(q, near))
        found["moved_q"] = normalized(skel, q + kinematics.qdot(skel, q, v))
        found |= self._closing(inputs, arrays, eq)
        reader = OutputReader(self.system, still.loops, inputs, arrays, x["a"], x["lam"], self.plan.start)
        chosen = reader.read(outputs, {u.name for u in self.plan.inputs}, set(state_names(self.kernels, self.plan)))
        return {**found, "outputs": np.array(chosen.values, dtype=object)}, chosen

    def _followed(self, b: Any, described: Description) -> drive_base.Bound:
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
        laws = [
            driven_constraints.driven(d, n, curve_lines.Parabola(a, b))
            for n, a, b in zip(self.held, x["hold"], x["hold_speed"], strict=True)
        ]
        loops = eq.loops.with_(laws) if laws else eq.loops
        c = loops.at(q, v, t[0], eq.loops.skel.unpack(q, arrays["near"]))
        out = {"close_phi": c.phi, "close_J": c.J, "close_b": c.b}
        held = {"held_at": [here.coordinate(j) for j in joints], "held_speed": [here.speed(j) for j in joints]}
        return out | {k: np.array(values, dtype=object) for k, values in held.items()}


def _placed(b: Any, described: Description) -> drive_base.Bound:
    """A drive in the joint of a description on symbols: in a cut joint its effort depends on where the joint is."""
    if b.target.entry is not None or isinstance(b.target.on, coordinates.Distance):
        return b
    target = replace(b.target, on=replace(b.target.on, joint=described.joint(b.target.on.joint.name)))
    return replace(b, plate=replace(b.plate, target=target)) if isinstance(b, ExternalMotor) else replace(b, target=target)


def state_names(kernels: kernel_sets.Kernels, plan: InputPlan) -> list[str]:
    """Names of all states in the order q, v, x: those of the channels that they are."""
    positions = kernels.entries["q"]
    speeds = [f"{n}.v" if n in set(positions) else n for n in kernels.entries["v"]]
    return [*positions, *speeds, *(x.name for x in plan.states)]


def _rotor(b: drive_base.Bound) -> Any:
    motor = getattr(b, "motor", None)
    return b.armature if motor is None else motor.armature


# Outputs of an FMU: channels of a run, read on symbols. Vectors become one output a component.
#
# By default these are the coordinates and speeds of all joints, angles of bodies, marked points, efforts and powers of drives, data of
# motors, the size of every joint's load, and the total energy; any other channel by its name or a pattern ("C.on.*").


class FmuOutput(NamedTuple):
    """An output: its name and dimension; `vector` is the channel it is a component of."""

    name: str
    dimension: str
    vector: str


class ChosenOutputs(NamedTuple):
    """Outputs and their values on symbols, the states among the channels asked for, and the names of all channels."""

    outputs: list[FmuOutput]
    values: list[Any]
    states: list[str]
    channels: frozenset[str]


class OutputReader:
    """Channels of a mechanism with its drives, on symbols."""

    def __init__(
        self, system: Any, loops: loop_constraints.Loops, inputs: InputEquations, arrays: Mapping[str, Any], a: Any, lam: Any, start: State
    ):
        self.system, self.loops, self.inputs, self.arrays, self.a, self.lam, self.start = system, loops, inputs, arrays, a, lam, start
        skel = loops.skel
        self.at = Instant(skel, arrays["q"], arrays["v"], arrays["t"][0], skel.unpack(arrays["q"], arrays["near"]), a, solver=self._loads)
        self.recorded = self._recorded()
        drives = [b.target.name for b in inputs.bounds]
        known = load_channels.load_channels(skel.tree.description, [n for n in drives if n in self._whole_joints])
        table = channel_kinds.Channels(skel, known)
        self.channels: dict[str, channel_kinds.Channel] = {n: table[n] for n in table.names if n not in self.recorded}

    @property
    def _whole_joints(self) -> set[str]:
        return set(movable(self.system.description))

    def read(self, wanted: Sequence[str] | None, inputs: set[str], states: set[str]) -> ChosenOutputs:
        """The channels asked for; what is an input or a state already is no second variable."""
        names = self.default() if wanted is None else self._chosen(wanted)
        exact = set() if wanted is None else {str(w) for w in wanted}
        out = ChosenOutputs([], [], [], frozenset([*self.channels, *self.recorded]))
        known = set(inputs)
        for name in names:
            if name in states:
                out.states.append(name)
                continue
            found, dimension = self._value(name)
            if found is None:
                if name in exact:
                    raise UsageError(
                        f"outputs: channel '{name}' is chosen between formulas at every sample and cannot be compiled. Leave it out.",
                        name=name,
                    )
                continue  # a pattern takes what can be had
            for key, value in self._components(name, found):
                if key in states:
                    out.states.append(key)
                elif key not in known:
                    known.add(key)
                    out.outputs.append(FmuOutput(key, "" if dimension in ("mixed", "none") else dimension, name))
                    out.values.append(value)
        return out

    def default(self) -> list[str]:
        d, out = self.system.description, []
        planar = d.planar
        for joint in d.joints:
            names = joint_types.create(joint.type, joint.options).v_names
            parts = [f"{joint.name}.{n}" if n else joint.name for n in names]
            out += [n for p in parts for n in (p, f"{p}.v") if n in self.channels]
        out += [n for x in lengths(d) for n in (x, f"{x}.v")]
        for body in d.moving:
            out += [f"{body.name}.angle"] if planar else []
            marked = [p.name for p in body.points if not self._is_eye(body.name, p)]
            out += [f"{body.name}.{p}{tail}" for p in marked for tail in ("", ".v")]
        out += [n for n, (x, _) in self.recorded.items() if np.ndim(x) == 0 and not n.startswith("lam.")]
        out += [n for n in self.channels if n.endswith(".load")]
        return [*out, "energy.total"]

    def _is_eye(self, body: str, point: Any) -> bool:
        """True if a joint is at a point of a body."""
        d = self.system.description
        frames = [(j.first, j.frame_first) for j in d.joints] + [(j.second, j.frame_second) for j in d.joints]
        return any(b == body and np.allclose(np.array(f.at, dtype=float), np.array(point.at, dtype=float)) for b, f in frames)

    def _chosen(self, wanted: Iterable[Any]) -> list[str]:
        known = [*self.recorded, *self.channels]
        out: dict[str, None] = {}
        for name in wanted:
            if str(name) in known:
                out[str(name)] = None
                continue
            hits = patterns.matching(str(name), known) if EVERY in str(name) else []
            if not hits:
                head = str(name).split(".")[0]
                family = [n for n in known if n.split(".")[0] == head] or sorted({n.split(".")[0] for n in known})
                hint = nearest(str(name), family, "Channels")
                raise UsageError(f"outputs: there is no channel '{name}'.", errors.renamed_channel(str(name)).strip(), hint, name="outputs")
            out |= dict.fromkeys(hits)
        return list(out)

    # ---------------------------------------------------------------- values

    def _value(self, name: str) -> tuple[Any, str]:
        """A channel on symbols, None where it needs numbers, and its dimension."""
        if name in self.recorded:
            return self.recorded[name]
        channel = self.channels[name]
        try:
            value = channel.read(self.at)
        except UNTRACEABLE:
            value = self._attitude(name)
        if channel.winds is not None:
            value = wound(compiled_of(self.system).loops.skel, np.asarray(self.start.q), self.arrays["q"], value, channel.winds)
        return value, channel.dimension

    def _attitude(self, name: str) -> Any:
        """The quaternion of a body, whose formula depends on where it points."""
        body, _, kind = name.rpartition(".")
        node = self.loops.skel.node(body) if kind == "rotation" and body in {b.name for b in self.system.description.bodies} else -1
        return None if node < 0 else traced_quaternion(self.at.rotation(node))

    def _components(self, name: str, value: Any) -> list[tuple[str, Any]]:
        entries = np.asarray(value, dtype=object)
        if entries.ndim == 0:
            return [(name, entries.item())]
        axes = self.system.description.plane or "xyz"
        flat = list(entries.ravel())
        rates = {".v": "v", ".a": "a"}
        tail = next((t for t in rates if name.endswith(t)), "")
        spelled = [f"{name.removesuffix(tail)}.{rates.get(tail, '')}{axis}" for axis in axes]
        if len(flat) == len(spelled) and all(n in self.channels for n in spelled):
            return list(zip(spelled, flat, strict=True))
        return [(f"{name}[{i}]", x) for i, x in enumerate(flat, start=1)]

    def _recorded(self) -> dict[str, tuple[Any, str]]:
        """Channels that a run records: of the drives, and multipliers."""
        values, out, at, driver = list(self.inputs.record(self.arrays)), {}, 0, self.loops.skel.tree.nc
        for b in self.inputs.bounds:
            mine = values[at : at + len(b.channels)]
            at += len(b.channels)
            if b.moves:
                mine = [x * self.lam[driver] for x in mine]
                driver += 1
            out |= {name: (x, kind) for (name, kind), x in zip(b.channels.items(), mine, strict=True)}
            if b.armature:
                effort, entry = b.target.effort_kind, b.target.entry
                rotor = getattr(b, "motor", b).armature
                assert entry is not None  # rotors are in joints of the tree only
                out[f"motor.{b.target.name}.{effort}.shaft"] = (mine[0] - rotor * self.a[entry], effort)
        skel = self.loops.skel
        for name, column in records.multipliers(compiled_of(self.system).loops.skel, np.arange(skel.tree.nc, dtype=float)[None]).items():
            places = column.values.reshape(-1).astype(int)
            value = self.lam[places[0]] if column.values.ndim == 1 else self.lam[places]
            out[name] = (value, column.dimension)
        return out

    def _loads(self, at: Instant) -> Any:
        efforts = {b.target.name: self.recorded[f"{b.target.name}.{b.target.effort_kind}"][0] for b in self.inputs.bounds}
        wrenches = {p.body: np.array(p.values, dtype=object) for p in self.inputs.pushes}
        lam = self.lam[: self.loops.skel.tree.nc]
        return loads_of_known_motion(self.loops, at.q, at.v, at.known_a, at.t, at.references, Acted(lam, efforts, wrenches))


def traced_quaternion(R: Any) -> Any:
    """Quaternion wxyz of a rotation matrix on symbols, its largest component first and w not negative."""
    d = [R[0, 0], R[1, 1], R[2, 2]]
    skew = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    rows = [
        [1.0 + d[0] + d[1] + d[2], *skew],
        [skew[0], 1.0 + d[0] - d[1] - d[2], xy, xz],
        [skew[1], xy, 1.0 - d[0] + d[1] - d[2], yz],
        [skew[2], xz, yz, 1.0 - d[0] - d[1] + d[2]],
    ]
    best, size = rows[0], rows[0][0]
    for i in range(1, 4):
        larger = rows[i][i] > size
        best = [scalars.where(larger, x, y) for x, y in zip(rows[i], best, strict=True)]
        size = scalars.where(larger, rows[i][i], size)
    length = np.sqrt(sum(x * x for x in best))
    sign = scalars.where(best[0] < 0.0, -1.0, 1.0)
    return np.array([sign * x / length for x in best], dtype=object)
