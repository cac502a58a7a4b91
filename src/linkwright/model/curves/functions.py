"""Python functions of a caller's: what they give is checked, their derivatives are exact where they can be traced."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.compiler.derivatives import replay
from linkwright.compiler.graph import Sym
from linkwright.errors import LinkwrightError, UsageError, counted
from linkwright.model.curves import Curve, Jet
from linkwright.model.curves.combined import Together
from linkwright.model.curves.differences import Differences
from linkwright.model.curves.formula import Traced

LOOKS = (0.0, 0.083, 0.71, 3.3)  # s after the start, where a trace is compared with the function itself


@dataclass(frozen=True, eq=False)
class Function:
    """A function of t, or of t and the state, that must give finite numbers; `what` names its purpose in messages."""

    call: Callable[..., Any]
    what: str
    size: int = 0  # entries it gives; 0: one number
    name: str = ""  # for messages; its own if not given

    @property
    def label(self) -> str:
        return f"function '{self.name or getattr(self.call, '__name__', type(self.call).__name__)}' of {self.what}"

    def __call__(self, t: Any, *more: Any) -> Any:
        value = self.call(t, *more)
        if self.size == 0:
            return self._number(value, t)
        entries = list(value) if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) else [value]
        if len(entries) != self.size:
            raise UsageError(f"the {self.label} must give {counted(self.size, 'number')}, not {_shape(value)}.", name=self.label)
        return [self._number(x, t) for x in entries]

    def _number(self, value: Any, t: Any) -> Any:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if type(value) is Sym:
            return value
        if np.ndim(value) != 0 or isinstance(value, (str, bytes, complex, np.complexfloating)) or value is None:
            raise UsageError(f"the {self.label} must give one number, not {_shape(value)}.", name=self.label)
        x = float(value)
        if not np.isfinite(x):
            when = "" if type(t) is Sym else f" at t = {float(t):.6g} s"
            raise UsageError(f"the {self.label} gave {x}{when}. It must give finite numbers.", name=self.label)
        return x


def _shape(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{value!r:.40}"


def takes_state(function: Callable[..., Any], what: str, motion: bool = False) -> bool:
    """True if a function wants (t, st) and not just t."""
    if isinstance(function, np.ufunc):
        wanted, most = function.nin, function.nin
    else:
        try:
            every = [p for p in inspect.signature(function).parameters.values() if p.kind <= p.VAR_POSITIONAL]
        except (TypeError, ValueError):  # functions written in C may have no signature
            return False
        wanted = sum(p.default is p.empty and p.kind < p.VAR_POSITIONAL for p in every)
        most = 9 if any(p.kind == p.VAR_POSITIONAL for p in every) else len(every)
    if wanted > 2 or most == 0 or (motion and wanted > 1):
        allowed = "t alone, because it prescribes a motion" if motion else "t, or t and the state"
        raise UsageError(f"the function of {what} takes {allowed}. This one takes {wanted} arguments.", name="function")
    return wanted == 2


def differentiated(f: Callable[[Any], Any], t0: float, what: str, size: int = 0) -> Curve:
    """f with its derivatives: exact if it can be traced, else by differences, from t0 on."""
    return traced(f, t0, size) or Differences(f, what, t0, size)


def traced(f: Callable[[Any], Any], t0: float, size: int = 0) -> Curve | None:
    """f with exact derivatives; None where it cannot be traced, or does something else on numbers."""
    if not size:
        return _traced(f, t0)
    curves: list[Traced] = []
    for i in range(size):
        curve = _traced(lambda t, i=i: f(t)[i], t0)
        if curve is None:
            return None
        curves.append(curve)
    return Together(tuple(curves))


def _traced(f: Callable[[Any], Any], t0: float) -> Traced | None:
    try:
        curve = Traced.of(f)
    except Exception:  # code of the user's meets a traced value, and may fail in any way
        return None
    return curve if all(_agree(f, curve, t0 + look) for look in LOOKS) else None


def _agree(f: Callable[[Any], Any], curve: Traced, t: float) -> bool:
    try:
        direct = float(f(t))
    except Exception:  # it ends earlier: what it does there shows when a run comes there
        return True
    return abs(direct - float(replay(curve.program, [t])[0])) <= 1e-9 * (1.0 + abs(direct))


def explained(call: Callable[[], Any], t: float, what: str) -> Any:
    """The result of a call that runs the caller's code at time t; an error in it names the purpose and the time."""
    try:
        return call()
    except LinkwrightError as error:
        raise UsageError(str(error) if what in str(error) else f"{what}: {error}", name=error.name or what) from error
    except Exception as error:  # code of the caller's, which may fail in any way
        raise UsageError(f"the {what}: its function fails at t = {t:.6g} s: {type(error).__name__}: {error}.", name=what) from error


@dataclass(frozen=True, eq=False)
class JetFunction(Curve):
    """A function that gives (f, f', f'') itself."""

    f: Callable[[float], Sequence[float]]
    traceable = False

    def __call__(self, x: Any, /) -> Jet:
        rows = np.array([self.f(float(t)) for t in np.ravel(x)]).reshape(*np.shape(x), 3)
        return rows[..., 0], rows[..., 1], rows[..., 2]
