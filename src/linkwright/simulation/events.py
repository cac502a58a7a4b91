"""Events of a time stepper: what is watched, and the kernel that evaluates it.

An event is a sign change of a channel, of a function of the state, or of a function of arrays. The function is traced and
compiled where it can be, else called back once per step.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.compiler.callbacks import DEGENERATE, NOT_FINITE
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Program, interpret, without_unused
from linkwright.drives import position
from linkwright.errors import ChannelError, LinkwrightError, UsageError, call_explained, counted, nearest
from linkwright.integrators import Solution, StepKernel, python_kernel
from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.terms import terms
from linkwright.model.curves.polynomial import Line, Parabola
from linkwright.model.description import Description
from linkwright.model.file import quantity
from linkwright.numerics.linalg import least_squares
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.tolerances import OPEN
from linkwright.properties import cached_property
from linkwright.results.channels import singular as singular_channels
from linkwright.results.cut_references import Before
from linkwright.results.state import State
from linkwright.simulation.kernel_rows import SIDES, RowLayout
from linkwright.text.units import KINDS, LENGTH, shown

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory
    from linkwright.simulation.run import Simulation
    from linkwright.simulation.time_stepping import Evaluator
    from linkwright.system.compiled import Compiled


# ---------------------------------------------------------------- actions of an event, and the mode that they lead to

__all__ = ["engage", "lock", "release", "unlock", "when"]  # `lw.events`


@dataclass(frozen=True)
class Action:
    """Something an event does: stop the run; lock or unlock a joint; release or engage a constraint."""

    verb: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.name}".strip()


@call_explained
def lock(joint: str) -> Action:
    """Hold a joint where it is from the event on."""
    return Action("lock", joint)


@call_explained
def unlock(joint: str) -> Action:
    """Give a locked joint back to its drive."""
    return Action("unlock", joint)


@call_explained
def release(constraint: str) -> Action:
    """Switch a rod, coupling, gear or cut joint off."""
    return Action("release", constraint)


@call_explained
def engage(constraint: str) -> Action:
    """Switch it on. What moves relative to it stops in an inelastic impact."""
    return Action("engage", constraint)


def stops(w: When) -> bool:
    """True if an event ends the run."""
    return w.terminal and (not w.do or any(a.verb == "stop" for a in w.do))


DIRECTIONS = {"rising": 1, "falling": -1, "either": 0, 1: 1, -1: -1, 0: 0}


@call_explained
def when(what: Any, equals: Any = 0.0, *, direction: Any = "either", do: Any = (), name: str = "") -> When:
    """An event: a channel or a function passes through a value. `do` is "stop", lw.events.lock(...), lw.events.release(...), or several."""
    if direction not in DIRECTIONS:
        raise UsageError(f"direction is 'rising', 'falling' or 'either', not {direction!r}.", name="direction", value=direction)
    if not isinstance(what, str) and not callable(what):
        raise UsageError(f"an event watches a channel's name or a function, not {type(what).__name__}.", value=what)
    actions = tuple(do) if isinstance(do, (list, tuple)) else (do,)
    chosen = tuple(Action("stop") if a == "stop" else a for a in actions)
    for a in chosen:
        if not isinstance(a, Action):
            raise UsageError(f"an event can 'stop' the run, lock, unlock, release or engage, not {a!r}.", value=a)
    return When(what, name, DIRECTIONS[direction], bool(chosen), equals, chosen)


def resolved(system: Compiled, e: Any) -> When:
    """An event with its value as a number, checked against the mechanism."""
    if not isinstance(e, (When, str)) and not callable(e):
        raise UsageError(f"an event is lw.events.when(...), the name of a channel or a function, not {e!r}.", value=e, name="event")
    w = e if isinstance(e, When) else When(e)
    if isinstance(w.function, str) and w.function != "t" and w.function not in system.start._channels:
        w = replace(w, function=RunChannel(w.function))
    if isinstance(w.equals, str):
        kind = "time" if w.function == "t" else _dimension(system, w)
        w = replace(w, equals=quantity(w.equals, KINDS[kind]))
    elif not isinstance(w.equals, (int, float, np.floating)) or not np.isfinite(w.equals):
        raise UsageError(
            f"the event '{w.label}' needs one finite number or quantity to pass through, not {w.equals!r}.", name=w.label, value=w.equals
        )
    for a in w.do:
        if a.verb in ("lock", "unlock"):
            system.assembler.coordinate(a.name)
        elif a.verb in ("release", "engage"):
            switchable(system, a.name)
    return w


def _dimension(system: Compiled, w: When) -> str:
    if isinstance(w.function, RunChannel) and w.function.kind is not None:
        return w.function.kind
    if not isinstance(w.function, str):
        raise UsageError(f"the event '{w.label}' is a function: give `equals` as a plain number in SI.", name=w.label)
    return system.start._channels[w.function].dimension


def switchable(system: Compiled, name: str) -> str:
    """A constraint that can be switched; joints of the tree cannot, as coordinates are counted along them."""
    names = [c.name for c in system.loops.constraints]
    if name in names:
        return name
    if any(j.name == name for j in system.description.joints):
        raise UsageError(
            f"joint '{name}' carries coordinates and cannot be switched. Compile with cuts=[..., '{name}'] to make it a loop's.", name=name
        )
    raise UsageError(f"there is no constraint '{name}' to switch.", nearest(name, names, "Constraints of loops"))


@dataclass(frozen=True)
class RunMode:
    """Constraints that hold and drives of the joints between two events."""

    drive: Mapping[str, Any] = field(default_factory=dict)
    locks: Mapping[str, float] = field(default_factory=dict)
    off: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()  # ends of rigid stops that push, an independent set
    implied: tuple[str, ...] = ()  # ends that rest with them and move nothing: they share the load
    unstopped: frozenset[str] = frozenset()  # coordinates whose stops are not regarded
    touching: tuple[Any, ...] = ()  # touches that are closed, `touches.HeldTouch`
    friction: tuple[Any, ...] = ()  # rows of joint friction, `friction_modes.HeldFriction`

    @property
    def all_drives(self) -> dict[str, Any]:
        """The drives, with locked joints held instead."""
        return {**self.drive, **{joint: position(value) for joint, value in self.locks.items()}}

    def watches(self, when: When) -> bool:
        """True if an event can do anything here: one that would change nothing is not watched, as its function may be held at zero."""
        if when.do and when.do[0].verb == "reach" and (when.function in self.unstopped or when.function in self.locks):
            return False
        return not when.do or any(self._changed_by(a) for a in when.do)

    def _changed_by(self, a: Action) -> bool:
        if a.verb in ("lock", "unlock"):
            return (a.name in self.locks) == (a.verb == "unlock")
        if a.verb in ("release", "engage"):
            return (a.name in self.off) == (a.verb == "engage")
        if a.verb in ("reach", "leave"):
            return (a.name in self.rests or any(x.name == a.name for x in self.touching)) == (a.verb == "leave")
        return True

    def after(self, actions: Sequence[Action], st: State) -> RunMode:
        """The mode that actions lead to, at a state."""
        locks, off = dict(self.locks), list(self.off)
        for a in actions:
            if a.verb == "lock":
                locks[a.name] = float(st[a.name])
            elif a.verb == "unlock":
                locks.pop(a.name, None)
            elif a.verb == "release" and a.name not in off:
                off.append(a.name)
            elif a.verb == "engage" and a.name in off:
                off.remove(a.name)
        return replace(
            self,
            locks=locks,
            off=tuple(off),
            implied=(),
            rests=tuple(x for x in self.rests if not any(a.verb == "leave" and a.name == x for a in actions)),
        )


def given_motions(d: Description, mode: RunMode, moving: Mapping[str, Sequence[float]]) -> list[Constraint]:
    """Constraints of locked joints and prescribed motions."""
    extra = [driven(d, joint, Line(value, 0.0)) for joint, value in mode.locks.items()]
    return extra + [driven(d, joint, Parabola(*x)) for joint, x in moving.items() if joint not in mode.locks]


def jump(of: Loops, mode: RunMode, st: State, moving: Mapping[str, Sequence[float]], armature: np.ndarray) -> tuple[State, float]:
    """The state after the constraints of a mode took hold, and the kinetic energy lost.

    `moving` are (value, speed, acceleration) of the joints with prescribed motion.
    """
    d = of.skel.tree.description
    extra = given_motions(d, mode, moving)
    loops = replace(of, constraints=tuple(c for c in of.constraints if c.name not in mode.off)).with_(extra)
    T = terms(loops, st.q, st.v, st.t, st.references)
    place = T.place
    assert place is not None
    gap = np.abs(place.closure.phi / loops.row_scale)
    if gap.max(initial=0.0) > OPEN:
        worst = loops.constraints[next(i for i, r in enumerate(place.closure.rows) if gap[r].max(initial=0.0) == gap.max())]
        apart = shown(float(gap.max()) * loops.kappa, LENGTH, d.units, 3)
        raise UsageError(
            f"t = {st.t:.6g} s: '{worst.name}' cannot take hold, because its parts are {apart} apart. "
            "Engage it by an event on its own distance or coordinate.",
            name=worst.name,
        )
    c, rows = T.columns, T.row_scale
    M = (T.M + np.diag(armature)) * c * c[:, None]
    J, b = T.dimensionless_J(), place.closure.b / rows
    v = st.v / c
    size = max(float(np.abs(M).max(initial=0.0)), 1e-300)
    n, m = len(v), len(b)
    K = np.block([[M / size, J.T], [J, np.zeros((m, m))]])
    step = least_squares(K, np.concatenate([np.zeros(n), -(J @ v + b)]), 1e-11)[:n]
    after = v + step
    before = 0.5 * float(v @ M @ v)
    loss = before - 0.5 * float(after @ M @ after)
    loss = loss if abs(loss) > 1e-13 * before else 0.0  # round-off
    return State(st.skel, st.q, after * c, st.references, st.t), loss


@dataclass(frozen=True)
class When:
    """An event: its function passes through `equals` (direction +1: rising, -1: falling); a terminal one ends the run.

    `function` is the name of a channel ("rocker.P.x", "t"), a function of one State, or a function of the arrays t, q, v.
    `do` is what happens then: nothing except a note, or the actions above.
    """

    function: Callable[..., Any] | str
    name: str = ""
    direction: int = 0
    terminal: bool = False
    equals: float = 0.0
    do: tuple[Any, ...] = ()
    dips: bool = False  # it is looked for inside of steps as well, where it falls below and rises again

    def value(self, st: State) -> Any:
        if self.function == "t":
            return st.t - self.equals
        if isinstance(self.function, str):
            return st[self.function] - self.equals
        return (self.function(st.t, st.q, st.v) if self._arrays else self.function(st)) - self.equals

    def read(self, x: Mapping[str, Any]) -> Any:
        """The value by a function that reads the loop's own row."""
        function: Any = self.function
        return function.from_row(x) - self.equals

    @cached_property
    def _arrays(self) -> bool:
        assert callable(self.function)
        wanted = [
            p for p in inspect.signature(self.function).parameters.values() if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD
        ]
        if len(wanted) not in (1, 3):
            raise UsageError(
                f"the event function '{self.label}' takes one State, or t, q, v. This one takes {counted(len(wanted), 'argument')}.",
                name=self.label,
            )
        return len(wanted) == 3

    @property
    def label(self) -> str:
        return self.name or (self.function if isinstance(self.function, str) else getattr(self.function, "__name__", "event"))


def native_kernel(code: NativeCode, n_in: int) -> StepKernel:
    """Compiled code as a kernel of the loop; it may read less than the whole row."""
    return StepKernel(
        n_in, code.n_out, code.one_address, workspace=code.work("one"), owner=code,
        eight=lambda: (code.aosoa_address, code.work("many")),
    )  # fmt: skip


def interpreted_kernel(program: Program, n_in: int) -> StepKernel:
    """A program as a kernel in Python; a margin that is not positive is a degenerate pivot."""
    reads = sum(b.size for b in program.inputs)
    n_out = sum(b.size for b in program.outputs)
    margin = next((b.start for b in program.outputs if b.name == "margin"), None)

    def run(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        found = interpret(program, x[:reads])
        y[:n_out] = found
        status = 0 if np.isfinite(found).all() else NOT_FINITE
        return status if margin is None or found[margin] > 0.0 else status | DEGENERATE

    return StepKernel(n_in, n_out, function=run)


EVENTS: Store[tuple[Any, ...], tuple[StepKernel, bool]] = Store()  # kernels by channels and rows


def event_kernel(system: Compiled, whens: Sequence[When], row: RowLayout) -> tuple[StepKernel, bool]:
    """The event functions: traced and compiled if they can be, else called back; and whether they may count turns."""
    kernels = system.kernels
    names = tuple((w.function, w.equals) for w in whens if isinstance(w.function, str) or getattr(w.function, "kept", False))
    known, key = EVENTS.of(system), (names, tuple(row.sizes.items()))
    if len(names) == len(whens) and key in known:  # every mode of a run watches the same channels
        return known[key]

    def values(x: Mapping[str, Any]) -> np.ndarray:
        eq = kernels.equations(x.get("parameters", ()))
        st = State(eq.loops.skel, x["q"], x["v"], eq.loops.skel.unpack(x["q"], x["near"]), x["t"][0])
        return np.array([_scalar(w, w.value(st) if not hasattr(w.function, "from_row") else w.read(x)) for w in whens])

    start = {k: np.zeros(n) for k, n in row.sizes.items()} | {"parameters": kernels.defaults["parameters"]}
    try:
        # errors of the expression itself show here
        values(start | {"q": system.start.q, "near": system.loops.skel.pack(system.start.references)})
    except LinkwrightError:
        raise
    except Exception as error:
        raise UsageError(f"an event function fails at the start of the run: {type(error).__name__}: {error}.", name="event") from error
    if any(hasattr(w.function, "from_row") for w in whens):
        return python_kernel(lambda x: values(row.named(x)), row.n, len(whens)), row.sizes["near"] > 0
    graph = TraceGraph()
    try:
        found = values({k: graph.input(k, n) for k, n in row.sizes.items()})
        program = without_unused(graph.program([("g", found)]), ("near", "held", *SIDES))
    except Exception:  # code of the user's meets traced values, and may fail in any way it likes
        return python_kernel(lambda x: values(row.named(x)), row.n, len(whens)), row.sizes["near"] > 0
    native = kernels.get("loop_rates").native
    made = native_kernel(NativeCode.of(program), row.n) if native else interpreted_kernel(program, row.n)
    if len(names) == len(whens):
        known[key] = made, reads_turns(program.inputs)
    return made, reads_turns(program.inputs)


def _scalar(w: When, value: Any) -> Any:
    if isinstance(value, str) or np.ndim(value) != 0:
        raise UsageError(f"the event function '{w.label}' must give one number, not {value!r:.60}.", name=w.label, value=value)
    return value


def reads_turns(blocks: Any) -> bool:
    """True if a program reads the reference coordinates of cut joints."""
    return any(b.name == "near" for b in blocks)


# ---------------------------------------------------------------- events on what only a run has: efforts, multipliers, reactions, currents
# A state alone does not determine them, so they are read as the run's own channels are, from one sample made for the purpose: some
# milliseconds each time the event is looked at.

KINDS_BY_NAME = {"torque": "torque", "force": "force", "power": "power", "current": "current", "voltage": "voltage", "size": "force"}


class RunChannel:
    """A channel of the run as the function of an event; bound to the mode it is watched in."""

    def __init__(self, name: str):
        self.name = self.__name__ = name
        self._read: Callable[[Mapping[str, Any]], float] | None = None

    @property
    def kind(self) -> str | None:
        """Its dimension, as far as the name says."""
        return KINDS_BY_NAME.get(self.name.rpartition(".")[2], "force" if ".on." in self.name or self.name.startswith("lam.") else None)

    def from_row(self, x: Mapping[str, Any]) -> Any:
        """The value at a full row of the loop; anything before it is bound."""
        return 1.0 if self._read is None else self._read(x)

    def bind(self, sim: Simulation, evaluator: Evaluator, off: tuple[str, ...], start: State) -> None:
        """Read it in this mode from now on; says at once if there is no such channel."""

        if self.name in singular_channels.NAMES:
            self._read = _singularity(sim, off, start, self.name)
            return

        def read(x: Mapping[str, Any]) -> float:
            y = np.concatenate([np.asarray(x[k], dtype=float) for k in ("q", "v", "x") if k in x])
            run = one_sample(sim, evaluator, off, start, float(x["t"][0]), y, np.asarray(x["near"], dtype=float))
            value = run[self.name]
            if value.shape != (1,):
                raise ChannelError(
                    f"an event watches one number. Channel '{self.name}' has {counted(value.shape[1], 'component')}.", name=self.name
                )
            return float(value[0])

        setup = evaluator.setup
        x0 = np.concatenate([start.q, start.v, np.zeros(setup.problem.nx)])
        read(setup.row.named(evaluator.row(start.t, x0, np.asarray(setup.values["near"]))))
        self._read = read


def _singularity(sim: Simulation, off: tuple[str, ...], start: State, name: str) -> Callable[[Mapping[str, Any]], float]:
    """A channel of `singular_channels` as an event reads it: the dependent coordinates are chosen where the mode begins and stay the
    same, so that a determinant passes through zero where a run's channel, which looks at all of it, does."""
    system = sim.system
    loops = system.kernels.equations(sim.parameters).loops if len(sim.parameters) else system.loops
    loops = replace(loops, constraints=tuple(c for c in loops.constraints if c.name not in off))
    if not loops.constraints:
        raise ChannelError(f"channel '{name}' measures how near loops are to losing rank. No loop is active here.", name=name)
    names = system.kernels.entries["v"]
    drives = [names.index(n) for n in sim.driven or [d.joint for d in system.description.drives] if n in names]

    def at(t: float, q: Any, references: Any) -> singular_channels.Singularity:
        return singular_channels.Singularity(loops, np.array([t]), np.asarray(q, dtype=float)[None], [references], drives)

    begun = at(start.t, start.q, start.references)
    if name.startswith("det."):
        begun.column(name)  # says where a part has no determinant

    def read(x: Mapping[str, Any]) -> float:
        there = at(float(x["t"][0]), x["q"], system.loops.skel.unpack(x["q"], np.asarray(x["near"], dtype=float)))
        vars(there)["modes"] = begun.modes
        return float(there.column(name).values[0])

    return read


class _OneSample:
    """Evidence of a run with one sample."""

    def __init__(self, evaluator: Evaluator, off: tuple[str, ...], cut: np.ndarray):
        self.modes, self.cut = [(evaluator, off)], cut

    def before(self, mode: int, times: np.ndarray) -> Before:
        cut = np.tile(self.cut, (len(times), 1))
        return Before(np.asarray(times), cut, np.zeros(cut.shape))

    def cut_at(self, mode: int, times: np.ndarray) -> np.ndarray:
        return self.before(mode, times).references


def one_sample(
    sim: Simulation, evaluator: Evaluator, off: tuple[str, ...], start: State, t: float, y: np.ndarray, cut: np.ndarray
) -> Trajectory:
    """The run at one row, with all its channels."""
    from linkwright.simulation.run import RunPiece
    from linkwright.simulation.run_records import trajectory

    shadow: Any = copy.copy(sim)
    sample = Solution(np.array([t]), y[None], (), "finished", "", {}, t, y)
    shadow.pieces, shadow.happened, shadow.evidence = [RunPiece(evaluator, sample, start, 0, ())], [], _OneSample(evaluator, off, cut)
    return trajectory(shadow)


def __dir__() -> list[str]:
    return sorted(__all__)
