"""What a drive follows, as the caller may write it: a number, a text, points over time, a function.

    2.5   "2 N m"   "5 V * sin(3 rad/s * t)"      a constant, or an expression of t and channels (SI where no unit is given)
    (times, values)                               a monotone curve through points, as a table of the model file; other curves by
                                                  name: (times, values, "linear"), "cubic" or "periodic"
    f(t)   f(t, st)                               a Python function; st is the State: st["A.v"], st["rocker.P.x"]

A function shall depend on its arguments only: it is traced and compiled where that is possible, and else called in every stage
of every step, accepted or not. A sampled one is called once per sample, in order, and may remember.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.compiler.graph import Sym
from linkwright.errors import LinkwrightError, ModelError, UsageError
from linkwright.mechanics.instant import Instant
from linkwright.model.curves import INTERPOLATIONS, Piecewise, Repeated, through
from linkwright.model.description import Description, Table
from linkwright.model.expressions import Expr, evaluate, free_variables
from linkwright.model.file import quantity
from linkwright.model.file.loads import Channels
from linkwright.model.file.nodes import from_python
from linkwright.model.file.quantities import SI, QuantityAlgebra, place, read_quantity
from linkwright.model.file.units import TIME, Dimension
from linkwright.results.state import State

MOST_TRACED = 400  # points of a curve that are compiled; a longer one is looked up in Python
CLOSED = 1e-9  # of its largest value: how well a periodic curve must end as it begins


@dataclass(frozen=True)
class Constant:
    value: float

    def at(self, here: Instant) -> Any:
        return self.value


@dataclass(frozen=True, eq=False)
class Points:
    """A curve over time."""

    curve: Piecewise | Repeated

    @property
    def traceable(self) -> bool:
        return len(self.curve.breaks) <= MOST_TRACED

    def at(self, here: Instant) -> Any:
        return self.curve(here.t)


@dataclass(frozen=True)
class Law:
    """An expression of t and channels, or a table over a channel."""

    law: Expr | Table
    what: str

    def at(self, here: Instant) -> Any:
        if isinstance(self.law, Expr) and free_variables(self.law) <= {"t"}:
            return self.over_time(here.t)
        return self._finite(here.value(self.law), here.t)

    def over_time(self, t: Any) -> Any:
        return self._finite(evaluate(self.law, {"t": t}), t)

    def _finite(self, value: Any, t: Any) -> Any:
        if type(value) is not Sym and not np.isfinite(value):
            raise UsageError(f"{self.what}: '{self.law}' is {value} at t = {float(t):.6g} s; it must be finite.")
        return value


@dataclass(frozen=True, eq=False)
class Function:
    """A Python function of t, or of t and the state; `what` names its purpose in messages."""

    call: Callable[..., Any]
    what: str
    with_state: bool = False
    size: int = 0  # entries it gives; 0: one number

    @property
    def label(self) -> str:
        return f"function '{getattr(self.call, '__name__', type(self.call).__name__)}' of {self.what}"

    def over_time(self, t: Any) -> Any:
        return self._checked(self.call(t), t)

    def at(self, here: Instant) -> Any:
        return self._checked(self.call(here.t, State.of(here)) if self.with_state else self.call(here.t), here.t)

    def _checked(self, value: Any, t: Any) -> Any:
        if self.size == 0:
            return self._number(value, t)
        entries = list(value) if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) else [value]
        if len(entries) != self.size:
            raise UsageError(f"the {self.label} must give {self.size} numbers, not {_shown(value)}.")
        return [self._number(x, t) for x in entries]

    def _number(self, value: Any, t: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if type(value) is Sym:
            return value
        if np.ndim(value) != 0 or isinstance(value, (str, bytes, complex, np.complexfloating)) or value is None:
            raise UsageError(f"the {self.label} must give one number, not {_shown(value)}.")
        x = float(value)
        if not np.isfinite(x):
            when = "" if type(t) is Sym else f" at t = {float(t):.6g} s"
            raise UsageError(f"the {self.label} gave {x}{when}; it must give finite numbers.")
        return x


@dataclass(frozen=True, eq=False)
class Commanded:
    """What a controller commands this drive to do: an effort, or a motor's voltage."""

    index: int

    def at(self, here: Instant) -> Any:
        return here.acting.commands[self.index]


Readable = Constant | Points | Law | Function  # what a caller may write
Signal = Readable | Commanded


def read_signal(given: Any, dimension: Dimension, what: str, desc: Description, *, motion: str = "") -> Readable:
    """The signal a caller (or the model file) wrote. A motion (`position`, `speed`) depends on time only."""
    if isinstance(given, (Expr, Table)):
        return _over_time(Law(given, what), motion) if motion else Law(given, what)
    if callable(given):
        return Function(given, what, takes_state(given, what, bool(motion)))
    if isinstance(given, str):
        value = _read_text(given, dimension, what, desc)
        law = Law(value, what) if isinstance(value, Expr) else Constant(float(value))
        return _over_time(law, motion) if motion and isinstance(law, Law) else law
    if isinstance(given, (tuple, list)) and len(given) in (2, 3) and all(_is_list(x) for x in given[:2]):
        t, y = time_points(given[:2], dimension, what)
        return Points(joined(t, y, given[2] if len(given) == 3 else Table.interpolation, motion, what))
    if _is_list(given) or isinstance(given, bool) or given is None:
        raise UsageError(f"{what} is a number, a text with a unit, (times, values) or a function, not {_shown(given)}.")
    return Constant(quantity(given, dimension, what))


def joined(t: Iterable[float], y: Iterable[float], interpolation: Any, motion: str, what: str) -> Piecewise | Repeated:
    """Points as a curve over time. Beyond its ends a position continues at its end speed, all else keeps its end value."""
    if not isinstance(interpolation, str) or interpolation not in INTERPOLATIONS:
        raise UsageError(f"{what}: there is no interpolation {interpolation!r:.40}; take {', '.join(INTERPOLATIONS)}.")
    if motion == "position" and interpolation == "linear":
        raise UsageError(f"{what}: straight lines have corners, where the speed would jump. Take 'monotone' or 'cubic'.")
    x, f = (tuple(float(a) for a in values) for values in (t, y))
    if interpolation == "periodic":
        if abs(f[-1] - f[0]) > CLOSED * max(map(abs, f)):
            raise UsageError(f"{what}: a periodic curve ends as it begins, but its first value is {f[0]:g} and its last {f[-1]:g}.")
        f = (*f[:-1], f[0])
    return through(x, f, interpolation, straight=motion == "position")


def _over_time(law: Law, motion: str) -> Readable:
    what = law.what
    if isinstance(law.law, Table):
        if law.law.channel != "t":
            raise UsageError(f"{what} is given over '{law.law.channel}'; a prescribed motion depends on t only. Use a coupling instead.")
        return Points(joined(law.law.x, law.law.y, law.law.interpolation, motion, what))
    others = sorted(free_variables(law.law) - {"t"})
    if others:
        raise UsageError(f"{what} depends on '{others[0]}'; a prescribed motion depends on t only. Use a coupling instead.")
    return law


def takes_state(function: Callable[..., Any], what: str, motion: bool = False) -> bool:
    """Whether a function wants (t, st) and not just t."""
    if isinstance(function, np.ufunc):
        wanted, most = function.nin, function.nin
    else:
        try:
            every = [p for p in inspect.signature(function).parameters.values() if p.kind <= p.VAR_POSITIONAL]
        except (TypeError, ValueError):  # functions written in C may not tell
            return False
        wanted = sum(p.default is p.empty and p.kind < p.VAR_POSITIONAL for p in every)
        most = 9 if any(p.kind == p.VAR_POSITIONAL for p in every) else len(every)
    if wanted > 2 or most == 0 or (motion and wanted > 1):
        usual = "t alone, because it prescribes a motion" if motion else "t, or t and the state"
        raise UsageError(f"the function of {what} takes {usual}; this one takes {wanted} arguments.")
    return wanted == 2


def _read_text(text: str, dimension: Dimension, what: str, desc: Description) -> Any:
    """A number with a unit, or an expression of channels, in SI."""
    channels = Channels.of(desc)
    try:
        node = from_python(text, what)
        return place(read_quantity(node, QuantityAlgebra(channel=channels.quantity)), dimension, SI, node, what)
    except ModelError as error:
        said = error.message
        raise UsageError(said if said.startswith(what) else f"{what}: {said}") from error


def time_points(given: Any, dimension: Dimension, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and values in SI, as many of each, the times increasing."""
    t, y = (_array(x, d, f"{what}: {part}") for x, d, part in zip(given, (TIME, dimension), ("times", "values"), strict=True))
    if len(t) != len(y) or len(t) < 2:
        raise UsageError(f"{what}: {len(t)} times and {len(y)} values do not make points; give two or more of each.")
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        k = int(back[0])
        raise UsageError(f"{what}: the times must increase, but {t[k + 1]:g} s follows {t[k]:g} s.")
    return t, y


def _array(values: Any, dimension: Dimension, what: str) -> np.ndarray:
    try:
        x = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        try:
            x = np.array([quantity(v, dimension, what) for v in values])
        except LinkwrightError as error:
            raise UsageError(f"{what}: {error}") from error
    if x.ndim != 1 or not np.isfinite(x).all():
        raise UsageError(f"{what} must be a list of finite numbers.")
    return x


def _is_list(x: Any) -> bool:
    return isinstance(x, (list, tuple, np.ndarray)) and np.ndim(x) > 0


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{value!r:.40}"
