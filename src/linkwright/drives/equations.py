"""All drives of a run as functions of arrays, over any scalar: what the input kernel is traced from, and its reference on floats.

inputs   q, v, x, t, free, near, held -> tau, drive, speed, acceleration, rates of x
record   the same -> all channels of the drives, in the order of their channels
sample   the same -> values that are held until the next sample
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.drives.base import Bound, DriveController, DriveOutput
from linkwright.drives.law_cache import Same, fingerprint
from linkwright.drives.place import numbers
from linkwright.drives.signals import Called, Commanded, OfInstant, Signal, value_at
from linkwright.errors import UsageError
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.model.curves import Curve
from linkwright.model.curves.functions import Function, takes_state
from linkwright.model.curves.lines import Constant
from linkwright.model.file import quantity
from linkwright.numerics.spatial import cross
from linkwright.numerics.stores import Store
from linkwright.results.channels import Channels
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
            raise UsageError(f"{what}: ground does not move, so pushing it does nothing. Take it out.")
        if callable(value):
            out.append(Push(body, Called(Function(value, what, size=6), takes_state(value, what))))
            continue
        entries = list(value) if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) else [value]
        if len(entries) != 6:
            raise UsageError(f"{what} needs six numbers, [moment; force] at the body's origin in world axes, or a function giving them.")
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
        return {"q": s.nq, "v": s.nv, "x": n_x, "t": 1, "free": s.free, "near": s.near, "held": n_held}

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
        free = x["free"]
        skel = self.skel if not len(free) else self._with_free(free)
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

    @property
    def _channels(self) -> Channels:
        """Cached with the mechanism: naming them all takes longer than a short run."""
        known = CHANNELS.of(self.system)
        if "channels" not in known:
            known["channels"] = Channels(self.skel)
        return known["channels"]

    def _with_free(self, free: Any) -> Skeleton:
        """The skeleton at these values of the free parameters; the last one is cached, because they do not change in a run."""
        key = free.tobytes() if free.dtype.kind == "f" else None
        cached = vars(self).get("_cached")
        if key is None or cached is None or cached[0] != key:
            cached = (key, self.system.kernels.equations(free).loops.skel)
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
