"""Outputs of an FMU: channels of a run, read on symbols. Vectors become one output a component.

By default these are the coordinates and speeds of all joints, angles of bodies, marked points, efforts and powers of drives, data of
motors, the size of every joint's load, and the total energy; any other channel by its name or a pattern ("C.on.*").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints as joint_types
from linkwright.compiler.graph import TracingError
from linkwright.drives.equations import InputEquations
from linkwright.errors import UsageError, nearest, renamed_channel
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import Acted, loads_of_known_motion
from linkwright.model.coordinates import lengths, movable
from linkwright.numerics.scalars import where
from linkwright.results.channels import Channel, Channels
from linkwright.results.load_channels import load_channels
from linkwright.results.records import multipliers
from linkwright.results.state import State, wound
from linkwright.text.patterns import matching

UNTRACEABLE = (TracingError, TypeError, AttributeError)
EVERY = "*"


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

    def __init__(self, system: Any, loops: Loops, inputs: InputEquations, arrays: Mapping[str, Any], a: Any, lam: Any, start: State):
        self.system, self.loops, self.inputs, self.arrays, self.a, self.lam, self.start = system, loops, inputs, arrays, a, lam, start
        skel = loops.skel
        self.at = Instant(skel, arrays["q"], arrays["v"], arrays["t"][0], skel.unpack(arrays["q"], arrays["near"]), a, solver=self._loads)
        self.recorded = self._recorded()
        drives = [b.target.name for b in inputs.bounds]
        known = load_channels(skel.tree.description, [n for n in drives if n in self._whole_joints])
        table = Channels(skel, known)
        self.channels: dict[str, Channel] = {n: table[n] for n in table.names if n not in self.recorded}

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
                        f"outputs: channel '{name}' is chosen between formulas at every sample and cannot be compiled; leave it out."
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
            hits = matching(str(name), known) if EVERY in str(name) else []
            if not hits:
                head = str(name).split(".")[0]
                family = [n for n in known if n.split(".")[0] == head] or sorted({n.split(".")[0] for n in known})
                hint = f"{renamed_channel(str(name))}{nearest(str(name), family, 'Channels')}"
                raise UsageError(f"outputs: there is no channel '{name}'. {hint}")
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
            value = wound(self.system.loops.skel, np.asarray(self.start.q), self.arrays["q"], value, channel.winds)
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
        spelt = [f"{name.removesuffix(tail)}.{rates.get(tail, '')}{axis}" for axis in axes]
        if len(flat) == len(spelt) and all(n in self.channels for n in spelt):
            return list(zip(spelt, flat, strict=True))
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
        for name, column in multipliers(self.system.loops.skel, np.arange(skel.tree.nc, dtype=float)[None]).items():
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
        best = [where(larger, x, y) for x, y in zip(rows[i], best, strict=True)]
        size = where(larger, rows[i][i], size)
    length = np.sqrt(sum(x * x for x in best))
    sign = where(best[0] < 0.0, -1.0, 1.0)
    return np.array([sign * x / length for x in best], dtype=object)
