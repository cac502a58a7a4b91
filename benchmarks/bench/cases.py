"""The comparison: four mechanisms, each at one state with one set of drive efforts, and the rows a comparison yields.

Every program gets the same mechanism, state and efforts; what it answers is compared with the float path before anything is
timed. A `Contender` is something that can be timed again and again, so that all of them can take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import radians
from typing import Any, NamedTuple

import numpy as np

from linkwright.drives import torque
from linkwright.errors import UsageError, listing
from linkwright.model import file as modelfile
from linkwright.model import library as models
from linkwright.results.state import State
from linkwright.system.system import System


class Setting(NamedTuple):
    """Positions, speeds and drive torques and forces."""

    q: Mapping[str, float]
    v: Mapping[str, float]
    tau: Mapping[str, float]


SETTINGS = {
    "four-bar": Setting({"A": radians(60)}, {"A": 2.0}, {"A": 1.5}),
    "carpet-scraper": Setting({"J1": 0.0}, {"J1": 4.7124}, {"J1": 5.0}),
    "3-rrr": Setting({"J1": 1.1, "J8": 4.2, "J9": 5.8}, {"J1": 0.5, "J8": -0.3, "J9": 0.4}, {"J1": 10.0, "J8": -5.0, "J9": 4.0}),
    "stewart": Setting(
        {f"leg{i}": 0.01 * (i - 3) for i in range(1, 7)},
        {f"leg{i}": (-1) ** i * 0.05 * (1 + 0.2 * i) for i in range(1, 7)},
        {f"leg{i}": 40.0 + 5.0 * i for i in range(1, 7)},
    ),
}
MECHANISMS = tuple(SETTINGS)
STEP = 1e-3  # seconds: a time step where those are compared
TIGHT = 1e-12  # tolerance of the run that a time step is compared with


@dataclass(frozen=True)
class BenchCase:
    """A mechanism at a state, with efforts of its drives and the accelerations they cause (order of `system.names.v`)."""

    name: str
    system: System
    state: State
    tau: Mapping[str, float]
    a: np.ndarray = field(repr=False)

    @property
    def efforts(self) -> np.ndarray:
        """tau in the order of `system.names.v`; the drives of these mechanisms are joints of the tree."""
        out = np.zeros(self.system.tree.nv)
        for name, value in self.tau.items():
            out[self.system.names.v.index(name)] = value
        return out

    def error(self, a: Any) -> float:
        """Largest difference of accelerations from ours over the largest of ours."""
        return float(np.abs(np.asarray(a, float) - self.a).max() / np.abs(self.a).max())

    def effort_error(self, efforts: Any) -> float:
        """The same for drive torques and forces, in the order of `tau`: the inverse of what caused `a` must give them back."""
        given = np.array(list(self.tau.values()))
        return float(np.abs(np.asarray(efforts, float) - given).max() / np.abs(given).max())

    @cached_property
    def next_v(self) -> np.ndarray:
        """Velocities a STEP later, the efforts staying as they are."""
        drive = {name: torque(value) for name, value in self.tau.items()}
        return self.system.simulate(self.state, STEP, drive=drive, tolerance=TIGHT, sample_interval=[STEP], progress=False).v[-1]

    def step_error(self, v: Any) -> float:
        """The error of the mean acceleration over a STEP that ended with velocities v, relative as in `error`."""
        return float(np.abs(np.asarray(v, float) - self.next_v).max() / STEP / np.abs(self.a).max())


def case(name: str) -> BenchCase:
    """A built-in mechanism of SETTINGS, ready to be compared."""
    if name not in SETTINGS:
        raise UsageError(f"there is no comparison for '{name}'; there is one for {listing(MECHANISMS)}.")
    system, setting = System(modelfile.read(models.path(name))), SETTINGS[name]
    state = system.assemble(q=setting.q, v=setting.v)
    return BenchCase(name, system, state, setting.tau, system.forward(state, setting.tau).a)


@dataclass(frozen=True)
class BenchRow:
    """One line of the results. `ns` None: not measured, and `note` says why."""

    engine: str
    version: str
    mechanism: str
    quantity: str
    ns: float | None = None
    accuracy: float | None = None
    operations: int | None = None
    ratio: float | None = None  # ns over ours for the same mechanism and quantity, from the same run
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """A row still to be timed: `run(seconds)` gives the best nanoseconds found in about that time."""

    row: BenchRow
    run: Callable[[float], float] = field(repr=False)

    def timed(self, ns: float) -> BenchRow:
        return replace(self.row, ns=ns)


class Unavailable(Exception):
    """A program, package or compiler that a comparison needs is not here; the text says which."""


def attempt(engine: str, mechanism: str, quantities: tuple[str, ...], make: Callable[[], list[Contender]]) -> list[Contender | BenchRow]:
    """Return the result of `make`, or one row per quantity with the reason: a comparison never stops at a missing program."""
    try:
        return list(make())
    except Unavailable as reason:
        said = str(reason)
    except Exception as problem:  # other programs fail in ways of their own; the table says how and the comparison continues
        said = f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else 'no message'}"
    return [BenchRow(engine, "", mechanism, quantity, note=f"not measured: {said}") for quantity in quantities]
