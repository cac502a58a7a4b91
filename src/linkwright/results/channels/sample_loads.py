"""Loads of a trajectory: those of a run as it was, or solved for the drives of a cycle; and the tables made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.files.tables import MOST_ROWS, Result, Table
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import Acted, driven_rows, loads_of_known_motion, unaccounted
from linkwright.numerics.linalg import factor
from linkwright.numerics.memory_and_threads import Store
from linkwright.properties import cached_property
from linkwright.results.channels import Channel
from linkwright.results.channels.cycle_loads import CycleLoads
from linkwright.results.channels.graph import Batch
from linkwright.results.channels.loads import base_channels, load_channels
from linkwright.results.interpolation import WINDOW
from linkwright.results.records import CONTACT, acting, cut_rows, joint_friction, stop_pushes
from linkwright.results.state import State

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

SINGLE_SAMPLES = 12  # samples below which reading them one by one is faster
LOOKS = 8  # samples at which it is looked whether reactions of a run are unique


LOADS: Store[tuple[tuple[str, ...], bool], dict[str, Channel]] = Store()  # channels by drives, solved for or as they were


@dataclass(frozen=True)
class LoadHistory(Result):
    """The force of a pin on a body over a trajectory; `frame` says whose axes."""

    pin: str
    on: str
    frame: str
    t: np.ndarray = field(repr=False)
    force: np.ndarray = field(repr=False)  # (n, 2) in a plane, (n, 3) in space
    moment: np.ndarray = field(repr=False)  # (n, 3)
    magnitude: np.ndarray = field(repr=False)  # |force|
    unique: bool
    axes: str = "xyz"  # of the force

    @property
    def max(self) -> float:
        """The largest force, N."""
        return float(self.magnitude.max())

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence if the force is not determined by the mechanism."""
        return () if self.unique else ("the force is not unique: it depends on how redundant constraints share loads",)

    def table(self) -> Table:
        """Return force and moment over the time."""
        forces = [(f"F{a}", "N", self.force[:, k]) for k, a in enumerate(self.axes)]
        planar = len(self.axes) == 2
        moments = [(f"M{'' if planar else 'xyz'[k]}", "N m", self.moment[:, k]) for k in ((2,) if planar else (0, 1, 2))]
        columns = [("t", "s", self.t), *forces, ("|F|", "N", self.magnitude), *moments]
        return Table.of_columns(columns, f"load of {self.pin} on {self.on}, axes of {self.frame}", self.notes)

    def __str__(self) -> str:
        t = self.table()
        return "\n".join([t.title, t.text(MOST_ROWS), *(f"note: {x}" for x in self.notes)])


class EachLoads(Sequence[Any]):
    """The loads of samples, solved when they are looked at and cached by their instants."""

    def __init__(self, instants: list[Instant]):
        self.instants = instants

    def __len__(self) -> int:
        return len(self.instants)

    def __getitem__(self, i: Any) -> Any:
        return [x.loads for x in self.instants[i]] if isinstance(i, slice) else self.instants[i].loads


class SampleLoads:
    """Loads of the samples of a trajectory."""

    def __init__(self, c: Trajectory):
        self.c = c

    @cached_property
    def acted(self) -> Acted | None:
        """Multipliers, efforts and wrenches of a run as they were."""
        if "lam" not in self.c.arrays:
            return None
        exact = not self.c.settings.get("interpolated", False)
        lam = self.c.arrays["lam"][:, : self.c.skel.tree.nc]
        efforts, wrenches = acting(self.c.skel, self.c.columns)
        for name, x in self.c.arrays.items():
            if name.startswith(CONTACT):
                body = name.removeprefix(CONTACT)
                wrenches[body] = wrenches.get(body, 0.0) + x
        d = self.c.skel.tree.description
        return Acted(lam, efforts, wrenches, exact, joint_friction(d, self.c.columns), stop_pushes(d, self.c.columns))

    def solver(self, i: int) -> Any:
        if self.acted is None:
            return None if self.c.system is None else lambda x: self.c.system._solved_loads(State.of(x), x.a, self.c.drives)
        acted = self.acted
        every = (acted.efforts, acted.wrenches, acted.rubbing, acted.stops)
        efforts, wrenches, rubbing, stops = ({name: x[i] for name, x in of.items()} for of in every)
        acted = Acted(acted.lam[i], efforts, wrenches, acted.exact, rubbing, stops)
        return lambda x: loads_of_known_motion(self.c.frame, x.q, x.v, x.known_a, x.t, x.references, acted)

    @cached_property
    def channels(self) -> Mapping[str, Channel]:
        """Channels of loads: of the motion as it was, or for the drives of a cycle."""
        solved = "lam" not in self.c.arrays
        if solved and self.c.system is None:
            return {}
        drives, tables = self.c.drives if solved else (), LOADS.of(self.c.skel)
        if (drives, solved) not in tables:
            base = base_channels(self.c.skel) if solved else {}
            tables[drives, solved] = {**load_channels(self.c.skel.tree.description, drives), **base}
        return tables[drives, solved]

    @cached_property
    def rows(self) -> dict[str, np.ndarray]:
        return {"q": self.c.q, "v": self.c.v, "a": self.c.a, "t": self.c.t[:, None], "near": cut_rows(self.c.skel, self.c.references)}

    @cached_property
    def batch(self) -> Batch:
        return Batch(self.c.frame, self.rows, self.acted)

    @cached_property
    def cycle(self) -> CycleLoads | None:
        """Loads of a cycle solved for all samples together; None where that is not possible, or not worth it."""
        if self.acted is not None or not self.c.drives or len(self.c.t) < SINGLE_SAMPLES or self.c.system._core.skel is not self.c.skel:
            return None
        core = self.c.system._core
        core.kernels.need_masses()
        given = self.c.frame, self.rows, self.c.drives, lambda i: self.c._instants[i], core.shared()
        solved = core.solved_loads(self.rows, self.c.drives)
        return (None if solved is None else CycleLoads.determinate(*given, solved)) or CycleLoads.of(*given)

    @property
    def one_by_one(self) -> list[Instant]:
        """The samples whose loads are solved singly: few of most cycles, none of a run, all where joints are redundant."""
        if self.acted is not None:
            return []
        return self.c._instants if self.cycle is None else [self.c._instants[int(i)] for i in self.cycle.open]

    def sampled(self, named: Mapping[str, Callable[[Instant], Any]], loads: bool, stored: bool = False) -> dict[str, np.ndarray]:
        """See `Trajectory._sampled`."""
        found: dict[str, np.ndarray] = {}
        if len(self.c.t) >= SINGLE_SAMPLES:
            if loads and self.acted is not None:
                self.check()
            source = self.cycle if loads and self.acted is None else self.batch
            found = {} if source is None else source.values(named, stored=stored)
        every = self.c._instants if len(found) < len(named) else []
        return {name: found[name] if name in found else np.array([read(x) for x in every], float) for name, read in named.items()}

    def history(self, pin: str, on: str | None, frame: str) -> LoadHistory:
        """See `Trajectory.load`."""
        if on is None:
            joints = [j for j in self.c.skel.tree.description.joints if pin in (j.name, j.pin)]
            bodies = dict.fromkeys(b for j in joints for b in (j.first, j.second))
            at = f"on one of {', '.join(bodies)}" if bodies else "on one of its bodies"
            raise UsageError(f"the force of '{pin}' acts {at}: say which, c.load('{pin}', on='{next(iter(bodies), 'rocker')}').", name=pin)
        axes = self.c.skel.tree.description.plane or "xyz"
        pick = slice(0, len(axes))

        def wrench(x: Instant) -> Any:
            w = x.loads.on(pin, on, frame)
            return np.concatenate([w.force, w.moment])

        name = f"{pin} on {on} in {frame}"
        both = self.sampled({name: wrench}, True)[name]
        looks = [x.loads.on(pin, on, frame) for x in self.judges]
        force, moment = both[:, :3][:, pick], both[:, 3:]
        unique = all(w.unique_force[pick].all() for w in looks)
        return LoadHistory(pin, on, frame, self.c.t, force, moment, np.sqrt(np.sum(force * force, axis=1)), bool(unique), axes)

    @cached_property
    def judges(self) -> list[Instant]:
        """Samples at which uniqueness is tested: evenly spaced for a run, the rank outliers for a cycle; none near a singular position."""
        if self.acted is None:
            looked = range(len(self.c.t)) if self.cycle is None else [int(i) for i in self.cycle.judged]
            references = self.c.near_singular
            return [self.c._instants[i] for i in looked if not references[i]] or [self.c._instants[int(i)] for i in looked[:1]]
        looked = np.linspace(0, len(self.c.t) - 1, LOOKS).astype(int)
        if self.acted.stops:  # every set of stops that rest together
            sets = np.array([x != 0.0 for x in self.acted.stops.values()])
            looked = np.concatenate([looked, np.unique(sets, axis=1, return_index=True)[1]])
        return [self.c.instant(int(i)) for i in np.unique(looked)]

    def check(self) -> None:
        """That everything that acted in a run is known: its loads at some samples raise where it is not."""
        for x in self.judges:
            _ = x.loads

    def settled_multipliers(self) -> np.ndarray:
        """(n, entries): lam moved as little as balances the accelerations, in the coordinates without a drive.

        For states between samples: interpolated multipliers belong to another state than interpolated accelerations.
        """
        lam = self.c.arrays["lam"].copy()
        tree, loops = self.c.skel.tree, self.c.frame
        assert self.acted is not None
        free = np.setdiff1d(np.arange(tree.nv), list(driven_rows(tree, tuple(self.acted.efforts)).values()))
        named = {"left": lambda x: unaccounted(x.loads), "J": lambda x: x.loads.problem.terms.J}
        found = self.batch.values(named)
        if len(found) == len(named) and tree.nc:
            J = found["J"] * loops.columns / loops.row_scale[:, None]
            f = factor(J[:, :, free].transpose(0, 2, 1), WINDOW, thin=True)
            step = f.solve((found["left"] * loops.columns)[:, free])
            lam[:, : tree.nc] += step / loops.row_scale
        return lam
