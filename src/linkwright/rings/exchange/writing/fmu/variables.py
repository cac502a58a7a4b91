"""The table of an FMU's variables: value references, causality, start values, units; the same for FMI 2.0 and 3.0.

Value references: 0 time, then states, their derivatives, inputs, parameters, outputs, switching functions, as the C sources count them.
Names are those of Linkwright's channels and parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import KINDS, Dimension, UsageError, unit_kinds
from linkwright.rings.exchange.writing.fmu.equations import FmuEquations, state_names
from linkwright.rings.exchange.writing.fmu.inputs import ExternalMotion

# characters that XML 1.0 can hold, without those that a name in one line cannot
_ALLOWED = re.compile("[\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")
SYMBOLS = {
    "length": "m", "mass": "kg", "time": "s", "angle": "rad", "current": "A", "speed": "m/s", "acceleration": "m/s2",
    "angular speed": "rad/s", "angular acceleration": "rad/s2", "force": "N", "torque": "N.m", "power": "W", "energy": "J",
    "inertia": "kg.m2", "voltage": "V", "resistance": "Ohm", "inductance": "H", "torque constant": "N.m/A", "pressure": "Pa",
    "torsional damping": "N.m.s/rad",
}  # fmt: skip
DIMENSIONS: dict[str, Dimension] = {**KINDS, "energy": unit_kinds.TORQUE}


@dataclass(frozen=True)
class FmuEntry:
    """One variable of an FMU."""

    name: str
    reference: int
    causality: str
    variability: str
    initial: str | None
    start: float | None = None
    dimension: str = ""
    about: str = ""
    state: int | None = None  # of a derivative: the reference of its state
    reinit: bool = False


class FmuState(NamedTuple):
    """A continuous state: name, start, size and dimension; where it comes from when nothing is said."""

    name: str
    start: float
    nominal: float
    dimension: str
    calculated: bool = False  # it starts from an input


def states_of(eq: FmuEquations) -> list[FmuState]:
    """All continuous states in the order q, v, x."""
    kernels, start = eq.kernels, eq.plan.start
    skel, kappa = kernels.loops.skel, float(kernels.loops.kappa)
    kinds = [k for jt in skel.types for k in jt.coordinate_kinds]
    out = []
    for name, value, kind in zip(kernels.entries["q"], start.q, kinds, strict=True):
        size = kappa if kind == "length" else 1.0
        out.append(FmuState(name, float(value), size, kind if kind in ("angle", "length") else ""))
    speeds = state_names(kernels, eq.plan)[len(out) : len(out) + len(start.v)]
    for name, value, turning in zip(speeds, start.v, _turning(skel), strict=True):
        out.append(FmuState(name, float(value), 1.0 if turning else kappa, "angular speed" if turning else "speed"))
    return [*out, *(FmuState(x.name, x.start, x.size, x.dimension, x.follows >= 0) for x in eq.plan.states)]


def _turning(skel: Any) -> list[bool]:
    """Of every velocity, whether it turns."""
    out: list[bool] = []
    for jt in skel.types:
        for name in jt.v_names:
            out.append(jt.coordinate_kinds[jt.q_names.index(name)] != "length" if name in jt.q_names else True)
    return out


def places_of_copies(eq: FmuEquations) -> list[int]:
    """Of every state of a drive the coordinate it starts from, -1 where none: a speed that is prescribed begins where its joint is."""
    names, out = eq.kernels.entries["q"], []
    for b in eq.plan.numeric:
        copied = isinstance(b, ExternalMotion) and b.kind == "speed" and b.target.name in names
        out += [names.index(b.target.name) if copied and i == 0 else -1 for i in range(len(b.states))]
    return out


def entries_of(eq: FmuEquations, states: Sequence[FmuState], wanted: Iterable[str]) -> list[FmuEntry]:
    """The table of all variables; `wanted` are channels that are outputs though they are states."""
    shown, out = set(wanted), [FmuEntry("time", 0, "independent", "continuous", None, dimension="time", about="simulation time")]
    moved = len(eq.plan.states)
    for k, x in enumerate(states):
        causality = "output" if x.name in shown else "local"
        initial, start = ("calculated", None) if x.calculated else ("approx", x.start)
        reinit = k < len(states) - moved
        out.append(FmuEntry(x.name, len(out), causality, "continuous", initial, start, x.dimension, "state", reinit=reinit))
    for k, x in enumerate(states):
        kind = {"angle": "angular speed", "length": "speed", "angular speed": "angular acceleration", "speed": "acceleration"}
        out.append(
            FmuEntry(f"der({x.name})", len(out), "local", "continuous", "calculated", None, kind.get(x.dimension, ""), "", state=k + 1)
        )
    for u in eq.plan.inputs:
        out.append(FmuEntry(u.name, len(out), "input", "continuous", None, u.start, u.dimension, u.about))
    for p in eq.parameters:
        variability = "tunable" if p.tunable else "fixed"
        out.append(FmuEntry(p.name, len(out), "parameter", variability, "exact", p.start, p.dimension, p.about))
    for y in eq.outputs:
        out.append(FmuEntry(y.name, len(out), "output", "continuous", "calculated", None, y.dimension))
    for i in range(eq.programs["switches"].n_out):
        out.append(FmuEntry(f"switch[{i + 1}]", len(out), "local", "continuous", "calculated", about="switching function"))
    return _distinct(out)


def _distinct(entries: Sequence[FmuEntry]) -> list[FmuEntry]:
    """The same with names that XML can hold and that differ: a later one of the same name gets its kind behind it."""
    taken: set[str] = set()
    out = []
    for x in entries:
        if not _ALLOWED.fullmatch(x.name):
            raise UsageError(
                f"the name {x.name!r} cannot be written to an FMU: XML holds no control characters. Rename it in the model.", name=x.name
            )
        name = x.name if x.name not in taken else f"{x.name} ({x.causality})"
        while name in taken:
            name += "'"
        taken.add(name)
        out.append(replace(x, name=name))
    return out


def one_line(text: str) -> str:
    """A text that XML can hold in one line: spaces and characters that it cannot hold become single spaces."""
    return " ".join("".join(c if _ALLOWED.fullmatch(c) else " " for c in text).split())


def unit_of(entry: FmuEntry) -> str | None:
    """Symbol of an entry's unit; None where it has none."""
    return SYMBOLS.get(entry.dimension)


def units_of(entries: Iterable[FmuEntry]) -> Mapping[str, Mapping[str, int]]:
    """Units in use: symbol -> exponents of the base units."""
    out: dict[str, dict[str, int]] = {}
    for x in entries:
        symbol = unit_of(x)
        if symbol is not None:
            powers = zip(("m", "kg", "s", "rad", "A"), DIMENSIONS[x.dimension], strict=True)
            out[symbol] = {base: int(p) for base, p in powers if p}
    return out


def finite_starts(entries: Iterable[FmuEntry]) -> None:
    """Raise UsageError where a start value is not finite."""
    for x in entries:
        if x.start is not None and not np.isfinite(x.start):
            raise UsageError(
                f"'{x.name}' starts at {x.start}. An FMU needs finite start values. Give the model another start.", name=x.name
            )
