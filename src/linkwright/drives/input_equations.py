"""All drives of a run as functions of arrays, over any scalar: what the input kernel is traced from, and its reference on floats.

inputs   q, v, x, t, parameters, near, held -> tau, drive, speed, acceleration, rates of x
record   the same -> all channels of the drives, in the order of their channels
sample   the same -> values that are held until the next sample
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from threading import Lock
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import native
from linkwright.compiler.callbacks import DEGENERATE, NOT_FINITE
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, for_row, interpret
from linkwright.drives.base import Bound, Called, Commanded, DriveController, DriveOutput, OfInstant, Signal, numbers, value_at
from linkwright.errors import LinkwrightError, UsageError
from linkwright.integrators import StepKernel, python_kernel
from linkwright.kernels.kernels import Kernels
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.model.curves import Curve
from linkwright.model.curves.functions import Function, takes_state
from linkwright.model.curves.polynomial import Constant
from linkwright.model.file import quantity
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.scalars import minimum, where
from linkwright.numerics.spatial import cross
from linkwright.properties import cached_property
from linkwright.results.channels import Channels
from linkwright.text.expressions import Expr
from linkwright.text.units import FORCE, TORQUE

Arrays = Mapping[str, Any]


CHANNELS: Store[str, Channels] = Store()  # all channels of a mechanism


@dataclass(frozen=True, eq=False)
class Push:
    """A wrench on a body, [moment; force] at its origin in world axes."""

    body: str
    values: Signal | tuple[float, ...]

    def wrench(self, here: Instant, node: int) -> Any:
        w = numbers(self.values if isinstance(self.values, tuple) else value_at(self.values, here))
        return np.concatenate([w[:3] + cross(here.motion.X[node].p, w[3:]), w[3:]])


def read_pushes(skel: Skeleton, wrench: Mapping[str, Any] | None) -> tuple[Push, ...]:
    """`{"platform": [0, 0, 0, 10, 0, 0]}`, or functions of t, or of t and the state, that give six numbers."""
    out = []
    for body, value in (wrench or {}).items():
        what = f"the wrench on '{body}'"
        if skel.node(body) < 0:
            raise UsageError(f"{what}: ground does not move, so pushing it does nothing. Take it out.", name=what)
        if callable(value):
            out.append(Push(body, Called(Function(value, what, size=6), takes_state(value, what))))
            continue
        entries = list(value) if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) else [value]
        if len(entries) != 6:
            raise UsageError(
                f"{what} needs six numbers, [moment; force] at the body's origin in world axes, or a function giving them.", name=what
            )
        numbers_ = tuple(quantity(x, TORQUE if i < 3 else FORCE, what) for i, x in enumerate(entries))
        out.append(Push(body, numbers_))
    return tuple(out)


@dataclass(frozen=True, eq=False)
class InputEquations:
    """Drives bound to one mechanism, and wrenches on its bodies."""

    system: Any  # loops and kernels are read
    bounds: tuple[Bound, ...]
    pushes: tuple[Push, ...] = ()
    control: DriveController | None = None  # commands some of the bounds

    def fingerprint(self) -> Any:
        """Everything that decides what is traced; see `law_cache`."""
        return Same(self.system), fingerprint([self.sizes, self.bounds, self.pushes, self.control])

    # ---------------------------------------------------------------- sizes

    @property
    def skel(self) -> Skeleton:
        return self.system.loops.skel

    @cached_property
    def sizes(self) -> dict[str, int]:
        s = self.system.kernels.sizes
        n_x, n_held = sum(len(b.states) for b in self.bounds), sum(b.every > 0.0 for b in self.bounds)
        if self.control is not None:
            n_x, n_held = n_x + len(self.control.states), n_held + self.control.n_held
        return {"q": s.nq, "v": s.nv, "x": n_x, "t": 1, "parameters": s.parameters, "near": s.near, "held": n_held}

    @cached_property
    def _places(self) -> list[tuple[slice, int]]:
        """Of each drive: its states in x, its slot in held (-1: none)."""
        out, x, held = [], 0, 0
        for b in self.bounds:
            out.append((slice(x, x + len(b.states)), held if b.every else -1))
            x, held = x + len(b.states), held + bool(b.every)
        return out

    @cached_property
    def _of_control(self) -> tuple[slice, slice]:
        """The controller's own states in x, and what it holds: both come last."""
        assert self.control is not None
        n_x, n_held = self.sizes["x"], self.sizes["held"]
        return slice(n_x - len(self.control.states), n_x), slice(n_held - self.control.n_held, n_held)

    @cached_property
    def signals(self) -> list[Signal]:
        """Those that are followed at all times."""
        more = [p.values for p in self.pushes if not isinstance(p.values, tuple)]
        return [*(b.signal for b in self.bounds if not b.every), *more]

    @property
    def curves(self) -> list[Curve]:
        """Curves over time among them, also those that a controller follows."""
        return [*(s for s in self.signals if not isinstance(s, OfInstant)), *(self.control.curves if self.control is not None else ())]

    @property
    def functions(self) -> list[Any]:
        """Functions of the caller's among them, also that of a controller."""
        return [*(s for s in self.signals if isinstance(s, Called)), *(self.control.functions if self.control is not None else ())]

    @property
    def traceable(self) -> bool:
        own = all(s.traceable for s in self.signals if not isinstance(s, OfInstant))
        return own and (self.control is None or self.control.traceable)

    @property
    def constant(self) -> bool:
        """Nothing but constant efforts in joints of the tree: no kernel is needed."""
        plain = all(isinstance(b.signal, Constant) and not b.moves and not b.states for b in self.bounds)
        return plain and not self.pushes and all(getattr(b, "constant", None) is not None for b in self.bounds)

    # ---------------------------------------------------------------- functions of arrays

    def here(self, x: Arrays) -> Instant:
        """The instant of these arrays; the last one is cached, because tracing a controller twice takes as long as twice."""
        cached = vars(self).get("_here")
        if cached is None or cached[0] is not x:
            cached = vars(self)["_here"] = (x, self._instant(x))
        return cached[1]

    def _instant(self, x: Arrays) -> Instant:
        parameters = x["parameters"]
        skel = self.skel if not len(parameters) else self._with_parameters(parameters)
        near = skel.unpack(x["q"], x["near"])
        here = Instant(skel, x["q"], x["v"], x["t"][0], near)
        here.channels = self._channels if skel is self.skel else None
        if self.control is not None:
            own, held = self._of_control
            others = self._others(here, x) if self.control.feels_others else np.zeros(0)
            here.acting = self.control.acting(here, x, x["x"][own], x["held"][held], self._motions(here, x), others)
        return here

    @cached_property
    def has_others(self) -> bool:
        """True if anything but a controller pushes."""
        return bool(self.pushes) or any(not b.moves and not isinstance(b.signal, Commanded) for b in self.bounds)

    def _others(self, here: Instant, x: Arrays) -> Any:
        """Pushes beside a controller, as force sensors feel them: efforts of the tree's joints, then a wrench on every node."""
        tau, wrenches = self._pushing(here, x, lambda b: not isinstance(b.signal, Commanded))
        on: list[Any] = [np.zeros(6) for _ in here.skel.tree.nodes]
        for node, w in wrenches:
            on[node] = on[node] + w
        return numbers([*tau, *(entry for w in on for entry in w)])

    def _motions(self, here: Instant, x: Arrays) -> Any:
        """Values, speeds and accelerations of prescribed motions, which a controller must know of."""
        pairs = zip(self.bounds, self._places, strict=True)
        found = [b.doing(here, x["x"][mine], 0.0).motion for b, (mine, _) in pairs if b.moves]
        return numbers([m[k] for k in range(3) for m in found if m is not None])

    def margin(self, x: Arrays) -> Any:
        """Not positive where a controller's elimination degenerated."""
        return 1.0 if self.control is None else self.here(x).acting.margin

    def _channels(self) -> Channels:
        """Cached with the mechanism: naming them all takes longer than a short run."""
        known = CHANNELS.of(self.system)
        if "channels" not in known:
            known["channels"] = Channels(self.skel)
        return known["channels"]

    def _with_parameters(self, parameters: Any) -> Skeleton:
        """The skeleton at these values of the parameters; the last one is cached, because they do not change in a run."""
        key = parameters.tobytes() if parameters.dtype.kind == "f" else None
        cached = vars(self).get("_cached")
        if key is None or cached is None or cached[0] != key:
            cached = (key, self.system.kernels.equations(parameters).loops.skel)
            vars(self)["_cached"] = cached
        return cached[1]

    def inputs(self, x: Arrays) -> np.ndarray:
        """[tau, drive, speed, acceleration, rates of x]"""
        here = self.here(x)
        motions, rates = [], []
        for _, done in self._done(here, x):
            rates += done.rates
            if done.motion is not None:
                motions.append(done.motion)
        tau, wrenches = self._pushing(here, x, lambda b: True)
        if wrenches:
            more = dynamics.generalized(here.skel, here.motion, wrenches)
            tau = [a + b for a, b in zip(tau, more, strict=True)]
        if self.control is not None:
            rates += here.acting.rates
        return numbers([*tau, *(m[k] for k in range(3) for m in motions), *rates])

    def _done(self, here: Instant, x: Arrays, chosen: Callable[[Bound], bool] = lambda b: True) -> list[tuple[Bound, DriveOutput]]:
        """Outputs of the chosen drives."""
        found = []
        for b, (mine, slot) in zip(self.bounds, self._places, strict=True):
            if chosen(b):
                found.append((b, b.doing(here, x["x"][mine], x["held"][slot] if slot >= 0 else 0.0)))
        return found

    def _pushing(self, here: Instant, x: Arrays, chosen: Callable[[Bound], bool]) -> tuple[list[Any], list[tuple[int, Any]]]:
        """Efforts of the tree's joints and wrenches on bodies, of the chosen drives and of all that pushes bodies."""
        tau: list[Any] = [0.0] * self.sizes["v"]
        wrenches: list[tuple[int, Any]] = []
        for b, done in self._done(here, x, chosen):
            if done.motion is not None:
                continue
            if b.target.entry is not None:
                tau[b.target.entry] = tau[b.target.entry] + done.effort
            else:
                wrenches += b.target.pushes(here, done.effort)
        for push in self.pushes:
            node = here.skel.node(push.body)
            wrenches.append((node, push.wrench(here, node)))
        return tau, wrenches

    def record(self, x: Arrays) -> np.ndarray:
        """Values of the channels of each drive; of prescribed motions the factors of their multipliers."""
        here, out = self.here(x), []
        for b, (mine, slot) in zip(self.bounds, self._places, strict=True):
            out += b.record(here, x["x"][mine], x["held"][slot] if slot >= 0 else 0.0)
        return numbers([*out, *(here.acting.records if self.control is not None else ())])

    def sample(self, x: Arrays, due: Sequence[bool]) -> np.ndarray:
        """Held values: of the sampled drives that are due anew, of the others as they are."""
        here, out = self.here(x), np.array(x["held"], dtype=float)
        sampled = [b for b in self.bounds if b.every]
        for k, b in enumerate(sampled):
            if due[k]:
                out[k] = value_at(b.signal, here)
        if self.control is not None and self.control.every and due[-1]:
            out[self._of_control[1]] = here.acting.sampled(self.efforts_of_control(here, x))
        return out

    def efforts_of_control(self, here: Instant, x: Arrays) -> Any:
        """Efforts that the commanded drives give at this instant."""
        pairs = zip(self.bounds, self._places, strict=True)
        return numbers([b.doing(here, x["x"][mine], 0.0).effort for b, (mine, _) in pairs if isinstance(b.signal, Commanded)])


# ---------------------------------------------------------------- traces of the inputs and their code, stored with the mechanism

AGREE = 1e-9  # between a trace and the function it was made from: round-off of long sums
LOOKS = ((0.0, 0.0), (0.013, 0.01), (0.37, 0.1), (2.9, 0.3))  # (seconds later, by how much the state is shaken)
HUGE = 1e300


class DriveTraces(NamedTuple):
    """Programs of what acts and of what is recorded, None where that cannot be traced."""

    inputs: Program | None
    record: Program | None


def traces(equations: InputEquations) -> DriveTraces:
    """Both from one trace: what they share, a controller's law above all, is worked out once."""
    if not equations.traceable:
        return DriveTraces(None, None)
    graph = TraceGraph()
    arrays = {k: graph.input(k, n) for k, n in equations.sizes.items()}
    return DriveTraces(*(_traced(equations, f, graph, arrays) for f in (equations.inputs, equations.record)))


def _traced(equations: InputEquations, function: Callable[[Arrays], np.ndarray], graph: TraceGraph, arrays: Arrays) -> Program | None:
    """The program of a function of the drives' arrays, or None; its last output is a margin that falls where a result is not
    finite or cannot be trusted."""
    try:
        found = function(arrays)
    except Exception:  # code of the user's meets traced values, and may fail in any way it likes
        return None
    outputs: list[tuple[str, Any]] = [("u", found)]
    total = sum(found, start=0.0)
    finite = where(abs(total) < HUGE, 1.0, -1.0) if hasattr(total, "where") else 1.0
    outputs.append(("margin", np.array([minimum(finite, equations.margin(arrays))], dtype=object)))
    return graph.program(outputs)


def cannot_be_traced(equations: InputEquations, f: Any) -> bool:
    """True if a function refuses traced values."""
    graph = TraceGraph()
    arrays = {k: graph.input(k, n) for k, n in equations.sizes.items()}
    try:
        f.at(equations.here(arrays))
    except Exception:  # as above
        return True
    return False


def agrees(equations: InputEquations, program: Program, start: dict[str, np.ndarray]) -> bool:
    """The trace against the functions themselves, at the start and in a few states beside it."""
    rng = np.random.default_rng(5)
    for later, shake in LOOKS:
        x = {k: a + shake * rng.standard_normal(a.shape) * (k in ("q", "v", "x", "held")) for k, a in start.items()}
        x["t"] = start["t"] + later
        try:
            direct = equations.inputs(x)
        except Exception:  # a function that ends there, or knows only states on the loops, is no reason to doubt it
            if later == 0.0:
                raise
            continue
        found = interpret(program, packed(equations, x))[: len(direct)]
        if not np.allclose(found, direct, rtol=AGREE, atol=AGREE * (1.0 + np.abs(direct).max(initial=0.0))):
            return False
    return True


def packed(equations: InputEquations, x: Arrays) -> np.ndarray:
    return np.concatenate([np.asarray(x[k], dtype=float) for k in equations.sizes], axis=-1)


def named(equations: InputEquations, spans: dict[str, slice], x: np.ndarray) -> dict[str, np.ndarray]:
    """The blocks drives read, from a row of a run, which may hold more states and leaves empty blocks out."""
    return {k: x[spans[k]][:n] if k in spans else np.zeros(0) for k, n in equations.sizes.items()}


def inputs_kernel(equations: InputEquations, program: Program | None, row: Any, key: Any = None) -> StepKernel:
    """Compiled, interpreted or called back; a result that is not finite is asked for again in Python, which says whose it is.
    The code is cached with the mechanism where the trace has a key."""

    def direct(x: np.ndarray) -> np.ndarray:
        return equations.inputs(named(equations, row.spans, x))

    if program is None:
        n_out = equations.sizes["v"] + 3 * sum(b.moves for b in equations.bounds) + equations.sizes["x"]
        return python_kernel(direct, row.n, n_out)
    there = for_row(program, row)

    def anyway(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # what a formula is beyond its own end is not asked for; what is not finite is refused
            return np.concatenate([direct(x), [1.0]])

    backup = python_kernel(anyway, row.n, there.n_out)
    if is_native(equations):
        place = None if key is None else ("code", key, tuple(row.sizes.items()))
        code = LawCache.of(equations.system).get(place, lambda: native.NativeCode.of(there))
        return StepKernel(row.n, code.n_out, code.one_address, workspace=code.work("one"), owner=code, backup=backup)

    def run(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        found = interpret(there, x[: row.n])
        y[: there.n_out] = found
        status = 0 if np.isfinite(found).all() else NOT_FINITE
        return status if found[-1] > 0.0 else status | DEGENERATE

    return StepKernel(row.n, there.n_out, function=run, backup=backup)


def is_native(equations: InputEquations) -> bool:
    return equations.system.kernels.engine == "native" and native.available()


def check_pure(equations: InputEquations, start: dict[str, np.ndarray]) -> None:
    """A function that is called in every stage must give the same for the same."""
    here = equations.here(start)
    for f in equations.functions:
        try:
            f.at(here)
        except LinkwrightError:
            raise
        except Exception as error:
            raise UsageError(
                f"the {f.function.label} fails at the start of the run: {type(error).__name__}: {error}.", name=f.function.label
            ) from error
        if not np.array_equal(np.asarray(f.at(here)), np.asarray(f.at(equations.here(start)))):
            raise UsageError(
                f"the {f.function.label} gives different values for the same arguments. An integrator calls it several times in every "
                "step and may repeat a call. It must depend on its arguments only. With every='1 ms' it is called once per "
                "sample and may remember.",
                name=f.function.label,
            )


# ----------------------------------------------------------------------------------------------------
# Traced and compiled laws that a mechanism keeps for later runs, found again by everything they were made from
# A key is made of values, not of objects: numbers, texts, arrays byte by byte, frozen objects field by field. Whatever was changed
# since makes another key, so that nothing stale is ever found. What cannot be compared, such as a function of the caller's, which
# may do something else tomorrow, has no key (`UnkeyedValue`), and its law is traced anew for every run.

LAWS: Store[str, LawCache] = Store()  # the one cache of a mechanism
MOST = 16  # laws and their codes a mechanism keeps; those not used for longest go


class UnkeyedValue(Exception):
    """An object whose behavior does not follow from its value."""


class Same:
    """An object that is equal to itself only, and lives as long as the key that holds it."""

    def __init__(self, of: Any):
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


def fingerprint(x: Any) -> Any:
    """A value that two things share only where they do the same; raises `UnkeyedValue` where that is not known."""
    if x is None or isinstance(x, (str, bytes, bool)):
        return x
    if isinstance(x, (int, float, complex, np.generic)):
        return type(x).__name__, repr(x)  # 1, 1.0 and True are different things here, and so are 0.0 and -0.0
    if isinstance(x, np.ndarray):
        values = tuple(fingerprint(e) for e in x.ravel()) if x.dtype == object else x.tobytes()
        return "array", x.dtype.str, x.shape, values
    if isinstance(x, Program):
        return "program", repr(x.ops), x.results, x.inputs, x.outputs
    if isinstance(x, Expr):
        return "expression", x.op, *(fingerprint(a) for a in x.args)
    if isinstance(x, Kernels):
        return Same(x)
    if isinstance(x, (tuple, list)):
        return (type(x).__name__, *(fingerprint(e) for e in x))
    if isinstance(x, Mapping):
        return ("mapping", *((fingerprint(k), fingerprint(v)) for k, v in x.items()))
    return _of_ours(x)


def _of_ours(x: Any) -> Any:
    """Frozen objects and closures of this library: their behavior follows from what they hold."""
    if isinstance(x, FunctionType) and _ours(x.__module__):
        return "function", x.__code__, *(fingerprint(c.cell_contents) for c in x.__closure__ or ()), fingerprint(x.__defaults__)
    if is_dataclass(x) and not isinstance(x, type) and _ours(type(x).__module__):
        own = getattr(x, "fingerprint", None)
        return own() if own is not None else (type(x), *(fingerprint(getattr(x, f.name)) for f in fields(x)))
    raise UnkeyedValue(type(x).__name__)


def _ours(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == __name__.partition(".")[0]


def key_of(*parts: Any) -> Any:
    """A key made of these, or None where one of them is unknown."""
    try:
        return fingerprint(parts)
    except UnkeyedValue:
        return None


class LawCache:
    """The laws of one mechanism, the last used ones."""

    def __init__(self) -> None:
        self._known: OrderedDict[Any, Any] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def of(cls, system: Any) -> LawCache:
        """The store that belongs to a mechanism."""
        return LAWS.of(system).setdefault("laws", cls())

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the law made under this key, or make it; without a key (None) nothing is cached."""
        if key is None:
            return make()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = make()  # outside of the lock: two runs at once may both make it, and either is good
        with self._lock:
            self._known[key] = made
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return made
