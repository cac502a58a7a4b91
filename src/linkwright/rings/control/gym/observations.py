"""Named quantities of all environments at once, by one kernel: from the rows of a stepper to arrays.

    reader = ChannelReader(core, ["A", "cos(A)", "left_rod.C.x", "C.load"], efforts={"A": 0})
    reader(rows)["left_rod.C.x"]        # (n,), SI

A channel that chooses between formulas (a rotation as a quaternion) is read as its raw quantities and made of them afterwards, for all
environments at once. Where a channel needs accelerations or loads, forward dynamics is solved first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.api import Instant, UsageError, channel_kinds, load_channels, nearest, programs, trace_graph
from linkwright.compiler.native import NativeCode
from linkwright.mechanics.inverse.known_motion import Acted, loads_of_known_motion
from linkwright.results.state import wound
from linkwright.simulation.step_inputs import equations

if TYPE_CHECKING:
    from linkwright.api import Compiled

FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {"cos": np.cos, "sin": np.sin}
CALL = re.compile(r"(cos|sin)\((.+)\)")
TIME = "t"
UNTRACEABLE = (trace_graph.TracingError, TypeError, AttributeError)


def inner(name: str) -> tuple[str, str]:
    """The function and the channel of `cos(A)`; no function for `A`."""
    found = CALL.fullmatch(name.replace(" ", ""))
    return (found[1], found[2]) if found else ("", name)


class ChannelReader:
    """Channels of a mechanism by name, read from rows [q v t tau parameters near] of a stepper.

    `efforts` has the places in tau of the coordinates that are driven, by name: their torques and forces can be read, too.
    """

    def __init__(self, core: Compiled, names: Sequence[str], efforts: Mapping[str, int] | None = None):
        self.core, self.names, self.efforts = core, tuple(dict.fromkeys(names)), dict(efforts or {})
        self.row = equations(core).row
        self.cooked: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
        self._read = self._kernel() if self.names else None

    def __reduce__(self) -> Any:
        return ChannelReader, (self.core, self.names, self.efforts)

    @property
    def needs_forward(self) -> bool:
        """True if accelerations or loads are read."""
        return self._read is not None and bool({"a", "lam"} & {b.name for b in self._inputs})

    def __contains__(self, name: object) -> bool:
        """True for the name of a channel of the mechanism."""
        return name == TIME or name in self._table(self.core.skel)

    def dimension(self, name: str) -> str:
        """Kind of a channel: "angle", "speed"; "" where it has none."""
        function, channel = inner(name)
        if function:
            return "pure number"
        found = "time" if name == TIME else self._table(self.core.skel)[channel].dimension
        return "" if found in ("mixed", "none") else found

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Arrays by name: (n,), or (n, entries) of a vector. They are views of new memory."""
        if self._read is None:
            return {}
        known = {"row": rows[:, : self.row.n]}
        if self.needs_forward:
            x = self.row.named(rows)
            optional = {name: x[name] for name in ("t", "near", "parameters") if name in x}
            forward = self.core.kernels.get("forward")
            found = forward.batch((x["q"], x["v"], x["tau"]), {k: v for k, v in optional.items() if k in forward.reads})
            known |= {"a": np.nan_to_num(found.a), "lam": np.nan_to_num(found.lam)}
        values = self._read([known[b.name] for b in self._inputs])
        out = {b.name: values[:, b.span].reshape(len(rows), *b.shape) for b in self._blocks}
        return {name: self.cooked[name](x) if name in self.cooked else x for name, x in out.items()}

    # ---------------------------------------------------------------- tracing

    def _table(self, skel: Any) -> channel_kinds.Channels:
        return channel_kinds.Channels(skel, load_channels.load_channels(skel.tree.description, list(self.efforts)))

    def _kernel(self) -> Callable[[list[np.ndarray]], np.ndarray]:
        """The call from the inputs to one array (n, entries)."""
        kernels, g = self.core.kernels, trace_graph.TraceGraph()
        x = self.row.named(g.input("row", self.row.n))
        a, lam = g.input("a", kernels.sizes.nv), g.input("lam", kernels.sizes.nc)
        loops = kernels.equations(x.get("parameters", ())).loops
        skel = loops.skel

        def loads(at: Instant) -> Any:
            acting = {name: x["tau"][place] for name, place in self.efforts.items()}
            return loads_of_known_motion(loops, at.q, at.v, at.known_a, at.t, at.references, Acted(lam, acting, {}))

        at = Instant(skel, x["q"], x["v"], x["t"][0], skel.unpack(x["q"], x["near"]), a, loops=loops, solver=loads)
        table = self._table(skel)
        found = {name: self._traced(name, table, at) for name in self.names}
        shapes = {name: np.shape(value) for name, value in found.items()}
        flat = [entry for value in found.values() for entry in np.asarray(value, dtype=object).ravel()]
        program = programs.without_unused(g.program([("values", np.array(flat, dtype=object))]), ("a", "lam"))
        self._inputs = program.inputs
        self._blocks = g.program([(name, np.asarray(value, dtype=object).reshape(shapes[name])) for name, value in found.items()]).outputs
        if kernels.get("loop_rates").native:
            code = NativeCode.of(program)
            return lambda arrays: code.call_many(arrays)[0][0]
        return lambda arrays: programs.interpret(program, np.concatenate(arrays, axis=1))

    def _traced(self, name: str, table: channel_kinds.Channels, at: Instant) -> Any:
        """A channel on symbols, or its raw quantities."""
        function, channel = inner(name)
        if channel == TIME:
            return FUNCTIONS[function](at.t) if function else at.t
        if channel not in table:
            self.refuse(channel, table.names)
        c: channel_kinds.Channel = table[channel]
        try:
            value = (c.raw or c.read)(at)
        except UNTRACEABLE:
            raise UsageError(
                f"channel '{channel}' is computed sample by sample and cannot be observed. Choose another.", name=channel
            ) from None
        if c.winds is not None:
            value = wound(self.core.skel, np.asarray(self.core.start.q), at.q, value, c.winds)
        if c.cook is not None:
            self.cooked[name] = c.cook
        if not function:
            return value
        if c.cook is not None or np.ndim(value):
            raise UsageError(f"'{name}': {function} takes a channel that is one number and the same formula everywhere.", name=name)
        return FUNCTIONS[function](value)

    @staticmethod
    def refuse(name: str, known: Sequence[str], what: str = "channel") -> None:
        """Raise UsageError for a name that does not exist, with the nearest ones."""
        head = name.split(".")[0]
        family = [n for n in known if n.split(".")[0] == head] or sorted({n.split(".")[0] for n in known})
        raise UsageError(f"there is no {what} '{name}'.", nearest(name, family, "Channels"))
