"""How a run is made: its options, checked once, with errors that name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError, UsageError
from linkwright.integrators import Method, method_of
from linkwright.mechanics import formulations
from linkwright.mechanics.formulations import Formulation
from linkwright.model.file import quantity
from linkwright.model.file.units import KINDS
from linkwright.simulation import stabilisers

SAMPLES = 500  # of a run, if nothing else is said
MOST_SAMPLES = 5_000_000
LOOSE = 1e-5  # tolerance from which on order 5 needs fewer evaluations than order 8
WANTED = {"output": "seconds between samples (0.01, '10 ms'), times, or 'steps'", "duration": "seconds (5, '200 ms')", "step": "seconds"}


def time_of(name: str, value: Any) -> float:
    """A time option in seconds."""
    try:
        return float(quantity(value, KINDS["time"], name))
    except (LinkwrightError, TypeError, ValueError) as error:
        raise UsageError(f"{name} is {WANTED.get(name, 'a time')}, not {value!r}.") from error


def number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise UsageError(f"{name} is a number, not {value!r}.")
    return float(value)


def by_name(name: str, given: Any) -> None:
    """That a dict is a dict."""
    if given is not None and not isinstance(given, Mapping):
        usual = "{'A': lw.torque('2 N m')}" if name == "drive" else "{'platform': [0, 0, 0, 10, 0, 0]}"
        raise UsageError(f"{name} is a dict by name, {name}={usual}, not {given!r:.60}.")


@dataclass(frozen=True)
class Options:
    """How to integrate; checked once."""

    integrator: str | Method
    step: float | None
    tolerance: float
    stabiliser: Any
    formulation: str | Formulation | None  # an object where it is not one of the registered names
    output: Any
    engine: str | None
    progress: Any
    limits: Mapping[str, Any]  # smallest_step, largest_step, most_steps

    @property
    def method(self) -> Method:
        """`dopri` is of order 8, and of order 5 where the tolerance is loose."""
        if self.integrator == "dopri":
            return method_of("dopri5" if self.tolerance >= LOOSE else "dopri8")
        return method_of(self.integrator)

    @property
    def adaptive(self) -> bool:
        return self.method.adaptive

    @property
    def formulated(self) -> str:
        """Name of the formulation, with the options of an object of one's own."""
        f = self.formulation
        return "sslm" if f is None else f if isinstance(f, str) else repr(f)

    @property
    def of_the_loop(self) -> dict[str, Any]:
        return {"step": self.step, "tolerance": self.tolerance, "engine": self.engine, **self.limits}


def options(
    integrator: str | Method,
    step: Any,
    tolerance: Any,
    stabiliser: Any,
    formulation: Any,
    output: Any,
    engine: Any,
    progress: Any,
    limits: Mapping[str, Any],
) -> Options:
    """All of them, or an error that says which one is wrong."""
    method = method_of(integrator)
    chosen = formulations.registered(formulation)
    h = None if step is None else time_of("step", step)
    if not method.adaptive and h is None:
        raise UsageError(f"{method.name} has fixed steps: give step=, for example step=0.001.")
    most = limits["most_steps"]
    if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1):
        raise UsageError(f"most_steps is a whole number of one or more, not {most!r}.")
    bounds = {n: time_of(n, limits[n]) if isinstance(limits[n], str) else number(n, limits[n]) for n in ("smallest_step", "largest_step")}
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise UsageError(f"progress is True, False or a function of t, not {progress!r}.")
    keeper = stabilisers.create(stabiliser)
    return Options(integrator, h, number("tolerance", tolerance), keeper, chosen, output, engine, progress, {**bounds, "most_steps": most})


def sample_times(wanted: Any, t0: float, t1: float) -> np.ndarray | None:
    """When to sample; None: after every step."""
    if isinstance(wanted, str) and wanted == "steps":
        return None
    if wanted is None:
        return np.linspace(t0, t1, SAMPLES + 1)
    if np.ndim(wanted) == 0:
        every = time_of("output", wanted)
        if not every > 0.0:
            raise UsageError(f"output is an interval longer than zero, times, or 'steps'; not {wanted!r}.")
        count = int(np.floor((t1 - t0) / every * (1.0 + 1e-12)))
        if count > MOST_SAMPLES:
            raise UsageError(
                f"output every {every:g} s would give {count} samples; at most {MOST_SAMPLES} are allowed. Take a longer interval."
            )
        times = t0 + every * np.arange(count + 1)
        return np.append(times, t1) if t1 - times[-1] > 1e-9 * every else np.minimum(times, t1)
    times = np.array([time_of("output", x) for x in np.asarray(wanted, dtype=object).ravel()], dtype=float)
    if len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
        raise UsageError("output times are finite numbers in increasing order.")
    return times
