"""A problem of integration and its solution: kernels with their sizes, events, and the solution with its record.

A kernel has one form, native or Python: `status = kernel(x, y, w)` reads packed inputs x, fills packed outputs y and may use
the workspace w. Status word: bit 0 not finite, bit 1 a pivot degenerated, bit 2 an error was stored by a `Callback`.

The state is y = [q, v, x]; x are extra states of the inputs (a motor's current), then quadratures (work done). Two rows:

    mechanism row = [q, v, t, parameters]            full row = [q, v, x, t, parameters]

    rates      mechanism row -> [dq/dt, a, rates of the quadratures, ...]       (outputs after these are ignored)
    project    mechanism row -> [q, v, position residual, velocity residual, size of the correction]
    gap        mechanism row -> [position residual]       asked before `project`: what is closed well enough is left alone
    sampler    full row -> [held values]       called every so often; they overwrite the tail of the parameters until then
    inputs     full row -> [u, rates of the extra states]       u overwrites the head of the parameters before every use
    turns      mechanism row -> [near]         overwrites as many parameters after every step: angles counted beyond whole turns
    events     full row -> [g_0, g_1, ...]
    switches   full row -> [g_0, g_1, ...]      break points of rates and inputs; their sides are the last parameters
    stops      mechanism row -> [values, k, J by rows] of every row that may hold one way
    response   mechanism row, with an effort in the place of the first parameters -> [dq, dv, power]      what that effort alone does
    terms      mechanism row -> `EffortTerms` of every row, in the place of both, where joints rub

`project` does one Newton step: the residuals are those it found, v is made consistent at the position it was given; or, with
`project_once`, the whole correction: then the position residual is what is left. It is called after every step, or after every
`project_every`-th one, and with `gap` only where the position residual exceeds `project_above`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.compiler.callbacks import Callback, from_address
from linkwright.errors import LinkwrightError, UsageError, counted
from linkwright.integrators.dry_friction import SHARED


class IntegrationError(LinkwrightError):
    """A run could not continue (`solution` holds what was done)."""

    def __init__(self, message: str, solution: Solution):
        self.solution = solution
        super().__init__(message)


@dataclass(frozen=True)
class StepKernel:
    """One kernel by address, by Python function, or both; `backup` takes over where its status says degenerate.

    `eight()` gives the address of code with the same results for blocks of eight states (inputs, outputs, workspace, number of
    blocks; every entry of eight states together), and its workspace in doubles; such code is made when it is first asked for.
    """

    n_in: int
    n_out: int
    address: int = 0
    function: Callable[[np.ndarray, np.ndarray, np.ndarray], int] | None = None
    workspace: int = 0  # doubles
    backup: StepKernel | None = None
    owner: Any = field(default=None, repr=False, compare=False)  # keeps the code behind the address alive
    eight: Callable[[], tuple[int, int]] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.address and self.function is None:
            raise UsageError("a kernel needs an address or a Python function.", name="kernel")

    @property
    def callable(self) -> Callable[[np.ndarray, np.ndarray, np.ndarray], int]:
        return self.function if self.function is not None else from_address(self.address)

    def with_address(self) -> StepKernel:
        """Itself, or with an address that calls its Python function back, once per evaluation."""
        if self.address:
            return self
        back = _Bare(self.callable, self.n_in, self.n_out)
        return replace(self, address=back.address, function=back, owner=back)


class _Bare(Callback):
    """A callback whose function already has the form of a kernel."""

    def _call(self, x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        return int(self.function(x, y, w))


def python_kernel(function: Callable[[np.ndarray], Any], n_in: int, n_out: int, backup: StepKernel | None = None) -> StepKernel:
    """A kernel of a Python function y = f(x); what it raises stops the run cleanly and is stored in the solution."""
    back = Callback(function, n_in, n_out)
    return StepKernel(n_in, n_out, back.address, back, backup=backup, owner=back)


NEVER = 2  # direction of an event that is not watched now


@dataclass(frozen=True)
class EventSpec:
    """An event: its function rises (+1), falls (-1) or either (0) through zero, or is left alone (NEVER); a terminal one ends the run."""

    name: str = ""
    direction: int = 0
    terminal: bool = False
    dips: bool = False  # it falls through zero also where it is positive again at the end of a step


@dataclass(frozen=True)
class HeldRow:
    """A row that holds at a value: its place among the `stops`. Where it slips, `share` times its push acts along another row.

    In space it slips along two of them, in the direction of its velocity there; slower than `slow` in the direction `ahead`, which is the
    one in which it begins. If rows that hold depend on each other, their pushes are those nearest to `about`.
    """

    row: int
    at: float = 0.0
    slide: int = -1
    share: float = 0.0
    across: int = -1
    ahead: tuple[float, float] = (1.0, 0.0)
    slow: float = 0.0
    about: float = 0.0

    def along(self, every: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row along which it slips at velocities v, with its direction; `every`: all rows."""
        if self.across < 0:
            return every[self.slide] if self.slide >= 0 else 0.0 * every[self.row], np.array([1.0, 0.0])
        rows = every[[self.slide, self.across]]
        u, ahead = rows @ v, np.array(self.ahead)
        speed, onward = float(np.hypot(*u)), float(u @ ahead)
        x = min(max(speed / self.slow - 1.0, 0.0), 1.0)
        way = ahead if x == 0.0 else onward * ahead + x * x * (3.0 - 2.0 * x) * (u - onward * ahead)
        way = way / np.hypot(*way)
        return way @ rows, way


@dataclass(frozen=True)
class FrictionRows:
    """Joint friction in its states, for every row that holds: kinds, groups and signs of `dry_friction`, c and C of its bound, and the
    speed over which it turns round (0: not at all)."""

    kind: tuple[int, ...] = ()
    group: tuple[int, ...] = ()
    sign: tuple[float, ...] = ()
    by_load: tuple[float, ...] = ()
    constant: tuple[float, ...] = ()
    speed: tuple[float, ...] = ()

    @property
    def groups(self) -> int:
        return len(set(g for k, g in zip(self.kind, self.group, strict=True) if k == SHARED))


PUSH, CONE, SLIDE, SPEED, BOUND, SHARE, LEAVES, ROUND_CONE = range(8)  # what is watched of rows that hold


@dataclass(frozen=True)
class HeldWatch:
    """An event of rows that hold, by their places among those: factor times the push of `held`, that minus the size of the push of `other`
    (and the one after it), or factor times the speed along which `held` slips. Of joint friction: factor times its speed, what its bound
    exceeds it by, what a whole share exceeds that of its group by, or what `factor` exceeds its speed by."""

    kind: int
    held: int
    factor: float
    other: int = 0


@dataclass(frozen=True)
class Problem:
    """A mechanism's equations as the time steppers see them.

    The last `n_power` of the `nx` extra states are quadratures: integrated along, without a say in the size of steps.
    """

    rates: StepKernel
    nq: int
    nv: int
    nx: int = 0
    project: StepKernel | None = None
    events: StepKernel | None = None
    event_specs: tuple[EventSpec, ...] = ()
    parameters: Sequence[float] = ()
    quaternions: tuple[int, ...] = ()  # where unit quaternions start in the state
    scale: Sequence[float] | None = None  # state sizes that count as one in the error (default: all 1)
    inputs: StepKernel | None = None
    n_u: int = 0  # parameters the inputs give
    inputs_move: bool = False  # the projection reads them: prescribed motions
    n_power: int = 0
    power_judged: bool = False  # quadratures have a say in the error as well
    sampler: StepKernel | None = None
    every: float = 0.0  # s between two calls of the sampler
    n_held: int = 0
    project_once: bool = False  # one call of `project` is the whole correction
    project_every: int = 1  # steps
    project_above: float = 0.0  # residual that is left alone; needs `gap`
    project_refuses: bool = True  # adaptive steps are refused where a correction far exceeds their error: it would be a jump of branch
    gap: StepKernel | None = None
    turns: StepKernel | None = None
    n_near: int = 0  # what `turns` gives
    near_at: int = 0  # where in the parameters
    switches: StepKernel | None = None
    n_switches: int = 0
    corners: Sequence[float] = ()  # times at which steps end, in order: break points of inputs that are called back
    stops: StepKernel | None = None
    response: StepKernel | None = None
    n_stops: int = 0
    answered: bool = False  # `stops` gives the responses to all of its rows as well, after these
    rests: tuple[HeldRow, ...] = ()  # rows that hold now
    watches: tuple[HeldWatch, ...] = ()  # the last events, which `events` does not give
    terms: StepKernel | None = None  # of joint friction: it gives all that `stops` and `response` do, and the forces in joints
    friction: FrictionRows = FrictionRows()
    whole_steps: bool = False  # `rates` gives the change of v in a whole step, whose length and first v are the last parameters
    n_slips: int = 0  # 1: the last quadrature is what slipping loses, which `rates` does not give

    def __post_init__(self) -> None:
        n, nm, more = self.n, self.nq + self.nv, 1 + len(self.parameters)
        n_in_x = self.nx - self.n_power
        if not (0 <= self.n_power <= self.nx and 0 <= self.n_u <= len(self.parameters)):
            raise UsageError(
                "quadratures are some of the extra states, and what the inputs give some of the parameters.", name="quadratures"
            )
        if self.n_u + self.n_held + self.n_switches > len(self.parameters):
            raise UsageError("inputs, held values and sides are different parameters: there must be room for all.", name="inputs")
        if self.sampler is not None and not (np.isfinite(self.every) and self.every > 0.0):
            raise UsageError(
                f"a sampler is called every so many seconds: `every` must be a positive time, not {self.every}.", value=self.every
            )
        if self.project_every < 1 or not self.project_above >= 0.0:
            raise UsageError(
                "states are corrected after every step or after every n-th one, above a residual that is not negative.", name="state"
            )
        if self.inputs is None and (n_in_x or self.n_u):
            raise UsageError("extra states that are not quadratures need a kernel of inputs, which gives their rates.", name="extra")
        for name, kernel, n_in, n_out in (
            ("rates", self.rates, nm + more, self.nv if self.whole_steps else nm + self.n_power - self.n_slips),
            ("project", self.project, nm + more, nm + 3),
            ("gap", self.gap, nm + more, 1),
            ("inputs", self.inputs, n + more, self.n_u + n_in_x),
            ("sampler", self.sampler, n + more, self.n_held),
            ("turns", self.turns, nm + more, self.n_near),
            ("events", self.events, n + more, len(self.event_specs) - len(self.watches)),
            ("stops", self.stops, nm + more, self.n_stops * (2 + self.nv + self.answered * (nm + 1))),
            ("response", self.response, nm + more, nm + 1),
            ("terms", self.terms, nm + more, self.n_stops * (3 + self.nv + nm + 1 + 3 + 3 * self.n_stops)),
            ("switches", self.switches, n + more, self.n_switches),
        ):
            for k in (kernel, kernel.backup if kernel else None):
                if k is not None and (k.n_in != n_in or k.n_out < n_out):
                    raise UsageError(
                        f"the kernel '{name}' has {k.n_in} inputs and {k.n_out} outputs. This problem needs {n_in} and at least {n_out}.",
                        name=name,
                    )
        if not np.all(np.diff(np.asarray(self.corners)) > 0.0):
            raise UsageError("times at which steps end come in order, each once.", name="time")
        answered = self.terms is not None or (self.stops is not None and self.response is not None)
        if self.rests and (not answered or len(self.event_specs) < len(self.watches)):
            raise UsageError("rows that hold need kernels of the stops and of responses, and what is watched of them is an event.")
        if len(self.event_specs) > len(self.watches) and self.events is None:
            raise UsageError("events are named but there is no kernel of their functions.", name="events")
        if self.scale is not None and (len(self.scale) != n or not np.all(np.asarray(self.scale) > 0.0)):
            raise UsageError(f"scale needs {counted(n, 'positive number')}, one for each state.", name="scale")

    @property
    def n(self) -> int:
        return self.nq + self.nv + self.nx

    def without_events(self) -> Problem:
        """The same with nothing watched; stops that hold continue to do so, whatever their push."""
        return replace(self, events=None, event_specs=(), watches=())


@dataclass(frozen=True)
class Event:
    time: float
    index: int
    name: str
    state: np.ndarray


@dataclass(frozen=True)
class Solution:
    """States at the sample times (or after every step), events, and how the run went."""

    t: np.ndarray
    y: np.ndarray  # (times, states)
    events: tuple[Event, ...]
    status: str  # finished, event, interrupted, stopped, or why it could not continue: see `driver.REASONS`
    message: str
    counters: dict[str, float]
    end_time: float
    end_state: np.ndarray
    error: BaseException | None = field(default=None, repr=False)
    near: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)  # at the end, of problems that count turns
    ticks: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)), repr=False)  # (time, held values) whenever a sampler was called

    @property
    def complete(self) -> bool:
        """True if the run came to its end, or to a terminal event."""
        return self.status in ("finished", "event")

    def check(self) -> Solution:
        """Itself, or the error that ended the run."""
        if self.error is not None:
            raise self.error
        if not self.complete:
            raise IntegrationError(self.message, self)
        return self


# ----------------------------------------------------------------------------------------------------
# Tables of Runge-Kutta and Rosenbrock methods in the layout the loops read, and the shape every integrator has
# A method is data: coefficients by row and column. Row `stages` of the table holds the weights of the solution, so the
# derivative at the new state is one more row of K; rows after it are evaluated only where output inside a step is wanted.

Row = Mapping[int, float]


@dataclass(frozen=True)
class Tableau:
    """Coefficients and step control of a method; without error estimates its steps are fixed."""

    a: np.ndarray  # (rows, rows)
    c: np.ndarray
    error: np.ndarray  # (0, 1 or 2, rows); two are combined as in DOP853
    dense: np.ndarray  # (terms beyond the cubic, rows)
    stages: int
    exponent: float  # of the error in the step control
    shrink: float  # most a step may shrink and grow at once
    grow: float
    safety: float
    gamma: float = 0.0  # of a Rosenbrock method: the matrix is I / gamma - h df/dy
    coupling: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # of its stages, and their shares of df/dt
    slope: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class Method:
    """An integrator: its name for users, its table, and what can be promised of it."""

    name: str
    text: str
    table: Tableau = field(repr=False)
    order: int
    dense_order: int

    @property
    def adaptive(self) -> bool:
        return len(self.table.error) > 0


def table(
    a: Sequence[Row],
    c: Sequence[float],
    b: Row,
    *,
    error: Sequence[Row] = (),
    extra: Sequence[Row] = (),
    c_extra: Sequence[float] = (),
    dense: Sequence[Row] = (),
    exponent: float = 0.0,
    shrink: float = 1.0,
    grow: float = 1.0,
    safety: float = 0.9,
    gamma: float = 0.0,
    coupling: Sequence[Row] = (),
    slope: Sequence[float] = (),
) -> Tableau:
    """Dense arrays of sparse rows: `a` without the empty first row, `b` the weights, `extra` rows after the new state's."""
    stages = len(a) + 1
    rows = stages + 1 + len(extra)
    return Tableau(
        _filled([{}, *a, b, *extra], rows),
        np.array([*c, 1.0, *c_extra]),
        _filled(error, rows),
        _filled(dense, rows),
        stages,
        exponent,
        shrink,
        grow,
        safety,
        gamma,
        _filled(coupling, rows),
        np.array(slope),
    )


def _filled(rows: Sequence[Row], width: int) -> np.ndarray:
    out = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for j, value in row.items():
            out[i, j] = value
    return out
