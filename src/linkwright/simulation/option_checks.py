"""The values of a run's options, checked once, with errors that name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError, UsageError, counted
from linkwright.integrators import method_of
from linkwright.mechanics import formulations
from linkwright.model.file import quantity
from linkwright.simulation import stabilizers
from linkwright.simulation.options import SAMPLES, Options
from linkwright.text.units import KINDS

MOST_SAMPLES = 5_000_000
WANTED = {
    "sample_interval": "seconds between samples (0.01, '10 ms'), times, or 'steps'",
    "duration": "seconds (5, '200 ms')",
    "step": "seconds",
}


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
        example = "{'A': lw.drives.torque('2 N m')}" if name == "drive" else "{'platform': [0, 0, 0, 10, 0, 0]}"
        raise UsageError(f"{name} is a dict by name, {name}={example}, not {given!r:.60}.")


def checked(given: Options) -> Options:
    """Return the options with times in seconds and the stabilizer as an object, or raise an error that says which one is wrong."""
    method = method_of(given.integrator)
    chosen = formulations.registered(given.formulation)
    h = None if given.step is None else time_of("step", given.step)
    if not method.adaptive and h is None:
        raise UsageError(f"{method.name} has fixed steps: give step=, for example step=0.001.")
    most, progress = given.most_steps, given.progress
    if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1):
        raise UsageError(f"most_steps is a whole number of one or more, not {most!r}.")
    bounds = {n: time_of(n, x) if isinstance(x := getattr(given, n), str) else number(n, x) for n in ("smallest_step", "largest_step")}
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise UsageError(f"progress is True, False or a function of t, not {progress!r}.")
    stabilizer = stabilizers.create(given.stabilizer)
    tolerance = number("tolerance", given.tolerance)
    for name in ("drive", "wrench"):
        by_name(name, getattr(given, name))
    return replace(given, step=h, tolerance=tolerance, stabilizer=stabilizer, formulation=chosen, **bounds)


def sample_times(wanted: Any, t0: float, t1: float) -> np.ndarray | None:
    """When to sample; None: after every step."""
    if isinstance(wanted, str) and wanted == "steps":
        return None
    if wanted is None:
        return np.linspace(t0, t1, SAMPLES + 1)
    if np.ndim(wanted) == 0:
        every = time_of("sample_interval", wanted)
        if not every > 0.0:
            raise UsageError(f"sample_interval is an interval longer than zero, times, or 'steps'; not {wanted!r}.")
        count = int(np.floor((t1 - t0) / every * (1.0 + 1e-12)))
        if count > MOST_SAMPLES:
            raise UsageError(
                f"a sample every {every:g} s would give {counted(count, 'sample')}; at most {MOST_SAMPLES} are allowed. Take a "
                "longer interval."
            )
        times = t0 + every * np.arange(count + 1)
        return np.append(times, t1) if t1 - times[-1] > 1e-9 * every else np.minimum(times, t1)
    times = np.array([time_of("sample_interval", x) for x in np.asarray(wanted, dtype=object).ravel()], dtype=float)
    if len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
        raise UsageError("sample_interval: times are finite numbers in increasing order.")
    return times
