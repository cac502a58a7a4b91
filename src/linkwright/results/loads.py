"""Loads of a trajectory: those of a run as it was, or solved for the drives of a turn; and the tables made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.given import Acted, driven_rows, given_loads, unaccounted
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.results.batch import Batch
from linkwright.results.channels import Channel
from linkwright.results.interpolation import least_norm
from linkwright.results.load_channels import load_channels
from linkwright.results.presented import Presented
from linkwright.results.recorded import Column, acting, cut_rows
from linkwright.results.turn_loads import TurnLoads

FEW = 12  # samples below which reading them one by one is faster
LOOKS = 8  # samples at which it is looked whether reactions of a run are unique


class LoadSource(Protocol):
    """Who can compute loads for a trajectory: handed in by the System, above this layer.

    It may also have `batch(trajectory, name) -> array | None`: its own answers for whole runs.
    """

    def loads_at(self, instant: Instant) -> Any: ...
    def load_channels(self) -> Mapping[str, Channel]: ...


@dataclass(frozen=True)
class LoadHistory:
    """The force of a pin on a body over a trajectory; `frame` says whose axes."""

    pin: str
    on: str
    frame: str
    t: np.ndarray = field(repr=False)
    force: np.ndarray = field(repr=False)  # (n, 2) in a plane, (n, 3) in space
    moment: np.ndarray = field(repr=False)  # (n, 3)
    size: np.ndarray = field(repr=False)  # |force|
    unique: bool

    @property
    def max(self) -> float:
        return float(self.size.max())


class EachLoads(Sequence[Any]):
    """The loads of samples, solved when they are looked at and cached by their instants."""

    def __init__(self, instants: list[Instant]):
        self.instants = instants

    def __len__(self) -> int:
        return len(self.instants)

    def __getitem__(self, i: Any) -> Any:
        return [x.loads for x in self.instants[i]] if isinstance(i, slice) else self.instants[i].loads


class Loaded(Presented):
    """The loads of a Trajectory."""

    if TYPE_CHECKING:
        skel: Skeleton
        t: np.ndarray
        q: np.ndarray
        v: np.ndarray
        a: np.ndarray
        near: Sequence[Mapping[str, Any]]
        source: Any
        columns: Mapping[str, Column]
        arrays: Mapping[str, np.ndarray]
        settings: Mapping[str, Any]
        loops: Loops | None
        instants: list[Instant]

        def instant(self, i: int) -> Instant: ...
        @property
        def near_singular(self) -> np.ndarray: ...

    @cached_property
    def frame(self) -> Loops:
        """The loops with their scales."""
        system = getattr(getattr(self.source, "reader", self.source), "system", None)
        return self.loops or Loops.of(self.skel, None if system is None else system.loops.kappa)

    @cached_property
    def _acted(self) -> Acted | None:
        """Multipliers, efforts and wrenches of a run as they were."""
        if "lam" not in self.arrays:
            return None
        exact = not self.settings.get("interpolated", False)
        return Acted(self.arrays["lam"][:, : self.skel.tree.nc], *acting(self.skel, self.columns), exact)

    def _solver(self, i: int) -> Any:
        if self._acted is None:
            return None if self.source is None else self.source.loads_at
        lam, efforts, wrenches, exact = self._acted
        acted = Acted(lam[i], {name: x[i] for name, x in efforts.items()}, {name: x[i] for name, x in wrenches.items()}, exact)
        return lambda x: given_loads(self.frame, x.q, x.v, x.known_a, x.t, x.references, acted)

    @cached_property
    def _loads(self) -> Mapping[str, Channel]:
        """Channels of loads: of the motion as it was, or for the drives of a source."""
        if "lam" in self.arrays:
            return load_channels(self.skel.tree.description, ())
        return {} if self.source is None else self.source.load_channels()

    @cached_property
    def _rows(self) -> dict[str, np.ndarray]:
        return {"q": self.q, "v": self.v, "a": self.a, "t": self.t[:, None], "near": cut_rows(self.skel, self.near)}

    @cached_property
    def _batch(self) -> Batch:
        return Batch(self.frame, self._rows, self._acted)

    @cached_property
    def _turn(self) -> TurnLoads | None:
        """Loads of a turn solved for all samples together; None where that is not possible, or not worth it."""
        reader = getattr(self.source, "reader", self.source)
        drives = getattr(reader, "drives", ())
        if self._acted is not None or not drives or len(self.t) < FEW or reader.system.skel is not self.skel:
            return None
        _ = self.instants[0].loads  # says what is missing, if masses are
        return TurnLoads.of(self.frame, self._rows, drives, lambda i: self.instants[i])

    @property
    def loads(self) -> Sequence[Any]:
        """Return drive efforts and reactions at every sample (`Loads`), each solved when it is asked for; needs masses."""
        return EachLoads(self.instants)

    @property
    def one_by_one(self) -> list[Instant]:
        """The samples whose loads are solved singly: few of most turns, none of a run, all where joints are redundant."""
        if self._acted is not None:
            return []
        return self.instants if self._turn is None else [self.instants[int(i)] for i in self._turn.open]

    def sampled(self, named: Mapping[str, Callable[[Instant], Any]], *, loads: bool = False) -> dict[str, np.ndarray]:
        """Anything that can be read off an instant, over all samples: at once where it can be traced. `loads`: it needs them."""
        found: dict[str, np.ndarray] = {}
        if len(self.t) >= FEW:
            if loads and self._acted is not None:
                self._check_loads()
            source = self._turn if loads and self._acted is None else self._batch
            found = {} if source is None else source.values(named)
        return {name: found[name] if name in found else np.array([read(x) for x in self.instants], float) for name, read in named.items()}

    def load(self, pin: str, on: str | None = None, frame: str = "world") -> LoadHistory:
        """Return the force of a pin on a body's eye over the samples, in world axes or those of a body."""
        if on is None:
            joints = [j for j in self.skel.tree.description.joints if pin in (j.name, j.pin)]
            bodies = dict.fromkeys(b for j in joints for b in (j.first, j.second))
            at = f"on one of {', '.join(bodies)}" if bodies else "on one of its bodies"
            raise UsageError(f"the force of '{pin}' acts {at}: say which, c.load('{pin}', on='{next(iter(bodies), 'rocker')}').")
        pick = slice(0, 2) if self.skel.tree.description.planar else slice(0, 3)

        def wrench(x: Instant) -> Any:
            w = x.loads.on(pin, on, frame)
            return np.concatenate([w.force, w.moment])

        name = f"{pin} on {on} in {frame}"
        both = self.sampled({name: wrench}, loads=True)[name]
        looks = [x.loads.on(pin, on, frame) for x in self.judges]
        force, moment = both[:, :3][:, pick], both[:, 3:]
        unique = all(w.unique_force[pick].all() for w in looks)
        return LoadHistory(pin, on, frame, self.t, force, moment, np.sqrt(np.sum(force * force, axis=1)), bool(unique))

    @cached_property
    def judges(self) -> list[Instant]:
        """Samples at which uniqueness is tested: evenly spaced for a run, the rank outliers for a cycle; none near a singular position."""
        if self._acted is None:
            looked = range(len(self.t)) if self._turn is None else [int(i) for i in self._turn.judged]
            near = self.near_singular
            return [self.instants[i] for i in looked if not near[i]] or [self.instants[int(i)] for i in looked[:1]]
        return [self.instant(int(i)) for i in np.unique(np.linspace(0, len(self.t) - 1, LOOKS).astype(int))]

    def _check_loads(self) -> None:
        """That everything that acted in a run is known: its loads at some samples raise where it is not."""
        for x in self.judges:
            _ = x.loads

    def settled_multipliers(self) -> np.ndarray:
        """(n, entries): lam moved as little as balances the accelerations, in the coordinates without a drive.

        For states between samples: interpolated multipliers belong to another state than interpolated accelerations.
        """
        lam = self.arrays["lam"].copy()
        tree, loops = self.skel.tree, self.frame
        assert self._acted is not None
        free = np.setdiff1d(np.arange(tree.nv), list(driven_rows(tree, tuple(self._acted.efforts)).values()))
        named = {"left": lambda x: unaccounted(x.loads), "J": lambda x: x.loads.problem.terms.J}
        found = self._batch.values(named)
        if len(found) == len(named) and tree.nc:
            J = found["J"] * loops.columns / loops.row_scale[:, None]
            step = least_norm(J[:, :, free].transpose(0, 2, 1), (found["left"] * loops.columns)[:, free])
            lam[:, : tree.nc] += step / loops.row_scale
        return lam

    def bearings(self) -> Any:
        """Return per pin and body: largest, mean and equivalent load, swing, mean speed, unique or not."""
        return self._source("bearings").bearings(self)

    def drive_sizing(self, drive: str | None = None, **options: Any) -> Any:
        """Return peak and RMS torque, speed, power and, for a motor and ratio, current, voltage and heat over the cycle."""
        return self._source("drive_sizing").drive_sizing(self, drive, **options)

    def free_body(self, body: str, at: Any = None, path: Any = None, **options: Any) -> Any:
        """Return the free-body diagram of a link: every force on it, drawn to scale."""
        return self._source("free_body").free_body(self, body, at, path, **options)

    def flywheel(self, fluctuation: float, **options: Any) -> Any:
        """Return the flywheel inertia at the drive that holds the speed fluctuation over the cycle below a share of its mean."""
        return self._source("flywheel").flywheel(self, fluctuation, **options)
