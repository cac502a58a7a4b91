"""States on the loops for positions and speeds of named coordinates: many at once, in lanes, or one by one.

The drives are moved from the start of the model to where they are wanted, on the branch of the start, with the parameters of each row.
Where other coordinates than the drives are named, every state is assembled by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwright.api import LinkwrightError, UsageError, coordinates, memory_and_threads
from linkwright.kernels.driven_motion import Homotopy, LaneWalking
from linkwright.simulation.start_states import closed_starts

if TYPE_CHECKING:
    from linkwright.api import Compiled


WALKS: memory_and_threads.Store[str, LaneWalking | None] = memory_and_threads.Store()  # in lanes, by the kernel


class ClosedRows(NamedTuple):
    """q and v in rows, and the mask of those that exist."""

    q: np.ndarray
    v: np.ndarray
    ok: np.ndarray


def start_names(core: Compiled, names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Coordinates among names, and speeds by the names of `s.assemble`: `A.v` is the speed of `A`, `base.vz` of a free joint its own."""
    positions, speeds = [], {}
    for name in names:
        part = core.assembler.targets.part(name.removesuffix(".v"))
        if not isinstance(part, coordinates.JointCoordinate):
            raise UsageError(f"start: '{name}' has several coordinates. Name single ones, such as '{name}.x'.", name=name)
        if name.endswith(".v") or part.q is None:
            speeds[name.removesuffix(".v")] = name
        else:
            positions.append(name)
    return positions, speeds


class RowCloser:
    """Closes positions of one mechanism."""

    def __init__(self, core: Compiled, threads: int | None = None):
        self.core, self.threads = core, threads

    def __call__(self, q: Mapping[str, np.ndarray], v: Mapping[str, np.ndarray], parameters: np.ndarray) -> ClosedRows:
        """States whose coordinates q and speeds v (arrays by name) are as given; parameters: (n, their number)."""
        drives = set(self.core.drive_names)
        as_drawn = not any(p.geometry for p in self.core.parameters)
        if not q and not v and as_drawn:
            start, n = self.core.start, len(parameters)
            return ClosedRows(np.tile(start.q, (n, 1)), np.tile(start.v, (n, 1)), np.ones(n, dtype=bool))
        moving = bool(v) or bool(np.any(self.core.start.v))
        walk = self._walk("walk" if moving else "stride") if drives and {*q, *v} <= drives else None
        return self._one_by_one(q, v, parameters) if walk is None else self._walked(walk, q, v, parameters)

    def _walk(self, name: str) -> LaneWalking | None:
        """Kernel walk, or at rest stride, in lanes; None where the drives do not determine the motion, or without native code."""
        stores, key = WALKS.of(self.core), name
        if key not in stores:
            try:
                kernel = self.core.kernels.get(name)
                stores[key] = LaneWalking(kernel, 1) if kernel.native else None
            except LinkwrightError:
                stores[key] = None
        return stores[key]

    def _walked(self, walk: LaneWalking, q: Mapping[str, np.ndarray], v: Mapping[str, np.ndarray], parameters: np.ndarray) -> ClosedRows:
        core, n = self.core, len(parameters)
        start, at = core.start, core.drive_positions(core.start)
        to, speed = np.tile(at, (n, 1)), np.tile([float(start[f"{name}.v"]) for name in core.drive_names], (n, 1))
        for k, name in enumerate(core.drive_names):
            to[:, k] = q.get(name, to[:, k])
            speed[:, k] = v.get(name, speed[:, k])
        way = Homotopy(start.q, core.packed_references(start), at, to, speed, core.kernels.defaults["parameters"], parameters)
        found = walk.begun(way, self.threads)
        return ClosedRows(found.q, found.v if found.v.shape[1] else np.zeros((n, core.tree.nv)), found.ok)

    def _one_by_one(self, q: Mapping[str, np.ndarray], v: Mapping[str, np.ndarray], parameters: np.ndarray) -> ClosedRows:
        """By the float path: always the same bits, whatever code has been made."""
        core, n = self.core, len(parameters)
        Q, V, ok = np.zeros((n, len(core.start.q))), np.zeros((n, core.tree.nv)), np.zeros(n, dtype=bool)
        named, found = q or v, {}
        for i in range(n if named else 0):
            with suppress(LinkwrightError):
                found[i] = core.assembler.assemble(*({k: float(x[i]) for k, x in given.items()} for given in (q, v)))
        found = found if named else dict.fromkeys(range(n), core.start)
        closed = closed_starts(core, list(found.values()), parameters[list(found)])
        for i, st in zip(found, closed, strict=True):
            if not isinstance(st, LinkwrightError):
                Q[i], V[i], ok[i] = st.q, st.v, True
        return ClosedRows(Q, V, ok)
