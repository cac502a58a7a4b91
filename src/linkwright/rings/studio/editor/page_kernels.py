"""Kernels for the editor's page: built for a complete mechanism, used again as long as edits only change numbers.

A set of kernels has many inputs: parameters, pins of the drawing, masses. For a new text the newest set is looked for whose
mechanism with other values is the same as the text's; only where there is none new kernels are compiled, and only when the page asks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwright.api import Description, LinkwrightError, Parameter, System, UsageError, every_parameter
from linkwright.properties import cached_property
from linkwright.rings.studio import live
from linkwright.rings.studio.live import sliders

MOST = 4  # sets at hand: those before an undo are among them
IDLE = 0.3  # s without an edit before kernels are compiled: both want the same processor
PATIENCE = 3.0  # s after which they are compiled all the same


@dataclass
class KernelSet:
    """Kernels of one mechanism; script and data once they are built."""

    id: str
    described: Description
    fingerprint: Mapping[str, Any]  # of its numbers
    script: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    why: str = ""  # they cannot be built

    @property
    def built(self) -> bool:
        return bool(self.script)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Numbers that are left open, in the order of the page's parameters."""
        known = every_parameter(self.described)
        return {p["name"]: known[p["name"]] for p in self.data["parameters"]}

    def ready(self) -> None:
        """Compute beforehand what the first edit would wait for: the parameters, and the mechanism as a function of them."""
        self.described.numbers({name: p.value for name, p in self.parameters.items() if p.placed is None})

    def values(self, wanted: Description, there: Mapping[str, Any]) -> dict[str, float] | None:
        """Values of the parameters with which this mechanism is the wanted one, whose fingerprint is `there`; None if there are none."""
        if sliders.same(self.fingerprint, there):
            return {name: p.value for name, p in self.parameters.items()} if self.built else {}
        if not self.built or self.fingerprint.keys() != there.keys():
            return None
        try:
            return self._values(wanted, there)
        except (LinkwrightError, KeyError, ValueError):
            return None

    def _values(self, wanted: Description, there: Mapping[str, Any]) -> dict[str, float] | None:
        """Named numbers and pins as they are wanted; what these leave over is put in singly, each by its difference."""
        numbers = wanted.numbers()
        first = {n: _value(numbers, n) for n, p in self.parameters.items() if p.placed is None}
        found = self.described.numbers(first)
        out = dict(first)
        for name, p in self.parameters.items():
            if p.placed is not None:
                difference = _value(numbers, name) - _value(found, name)
                out[name] = p.value + difference
                found = p.placed(found, difference) if difference else found
        return {n: out[n] for n in self.parameters} if sliders.same(sliders.fingerprint(found), there) else None


def _value(d: Description, name: str) -> float:
    """A number of a description by its name: a parameter, a pin's coordinate, the length of a bar, or what a body weighs."""
    known = dict(d.parameters)
    if name in known:
        return float(known[name])
    head, *rest = name.split(".")
    axes = d.plane or "xyz"
    if rest[0] in axes:
        return float(dict(d.drawing)[head][axes.index(rest[0])])
    body = d.body(head)
    if rest[0] == "length":
        a, b = body.points[:2]
        return abs(float(b.at[0]) - float(a.at[0]))
    return float(body.mass or 0.0) if rest[0] == "mass" else float(body.inertia[2][2])


class KernelSets:
    """The sets of kernels of a session."""

    def __init__(self, idle_since: Callable[[], float]):
        self.idle_since = idle_since  # when the last edit was
        self.sets: list[KernelSet] = []  # the newest first
        self._lock, self._build = threading.Lock(), threading.Lock()
        self._count = 0

    def suiting(self, described: Description, fresh: bool = False) -> tuple[KernelSet, dict[str, float] | None]:
        """The set for a mechanism and the values of its parameters; a new one, to be built, where none suits. `fresh`: one that was made
        from just these numbers."""
        there = sliders.fingerprint(described.numbers())
        with self._lock:
            for one in self.sets:
                values = one.values(described, there)
                exact = values is not None and (not fresh or sliders.same(one.fingerprint, there))
                if exact:
                    return one, values
            self._count += 1
            made = KernelSet(f"k{self._count}", described, there)
            self.sets = [made, *[s for s in self.sets if s.built][: MOST - 1]]
            return made, None

    def has(self, key: str) -> bool:
        with self._lock:
            return any(s.id == key for s in self.sets)

    def built(self, key: str) -> KernelSet:
        """The set with this id, built if it is not yet; raise UsageError if it is gone, or cannot be built."""
        with self._lock:
            found = next((s for s in self.sets if s.id == key), None)
        if found is None:
            raise UsageError(f"there are no kernels '{key[:20]}' any more: the drawing has changed. Take the kernels of the last response.")
        end = time.monotonic() + PATIENCE
        while not found.built and time.monotonic() - self.idle_since() < IDLE and time.monotonic() < end:
            time.sleep(0.02)
        with self._build:
            if not found.built and not found.why:
                self._compile(found)
        if found.why:
            raise UsageError(found.why)
        return found

    def _compile(self, one: KernelSet) -> None:
        try:
            script, data = live.contents(System(one.described), drawn=True)
        except LinkwrightError as problem:
            one.why = str(problem)
            return
        one.data = data
        one.ready()
        one.script = script


def values_json(values: Mapping[str, float] | None) -> dict[str, float] | None:
    """Values for the page; None for kernels that were made with just these."""
    return None if values is None else {name: float(x) for name, x in values.items()}
