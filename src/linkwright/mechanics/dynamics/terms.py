"""The terms of the equations of motion at one state, computed lazily and once: what every formulation reads.

    M a + h = tau + J' lam        J a + k = 0

by subsystem (I_j, h_j), by loop and subsystem (J_ij, k_i), or dense (M, h, J, k). h holds Coriolis and gravity
efforts minus those of springs, dampers, loads and given wrenches. `of_matrices` makes terms of bare matrices.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.mechanics.constraints.loops import Loops, reported
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Motion, motion, turned_axes
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.scalars import common_type
from linkwright.properties import cached_property

NO_INERTIA = 1e-11  # share of the largest inertia below which a degree of freedom has none


@dataclass(frozen=True)
class Terms:
    """Inertia and bias per subsystem, constraint blocks per loop, and the scales that make them dimensionless."""

    __getstate__ = essentials

    I: tuple[Any, ...]  # inertia of each subsystem
    bias: tuple[Any, ...]  # h of each subsystem
    blocks: Mapping[tuple[int, int], Any]  # (loop, subsystem) -> J_ij
    k_parts: tuple[Any, ...]  # k of each loop
    columns: np.ndarray  # v = columns * dimensionless v
    row_scale: np.ndarray
    order: tuple[int, ...]  # in which the loops are eliminated; number of loops + j: the inertia of subsystem j comes there, not first
    names: tuple[str, ...] = ()  # of the loops
    labels: tuple[str, ...] = ()  # of the velocities, where there is no place to read them from
    place: Instant | None = field(default=None, compare=False, repr=False)

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """Velocities of each subsystem."""
        return _slices([len(h) for h in self.bias])

    @cached_property
    def rows(self) -> tuple[slice, ...]:
        """Rows of each loop."""
        return _slices([len(k) for k in self.k_parts])

    @property
    def nv(self) -> int:
        return self.spans[-1].stop if self.spans else 0

    @property
    def nc(self) -> int:
        return self.rows[-1].stop if self.rows else 0

    @cached_property
    def M(self) -> Any:
        M = np.zeros((self.nv, self.nv), dtype=common_type(np.zeros(1), *self.I))
        for span, block in zip(self.spans, self.I, strict=True):
            M[span, span] = block
        return M

    @cached_property
    def h(self) -> Any:
        return np.concatenate(self.bias) if self.bias else np.zeros(0)

    @cached_property
    def J(self) -> Any:
        J = np.zeros((self.nc, self.nv), dtype=common_type(np.zeros(1), *self.blocks.values()))
        for (i, j), block in self.blocks.items():
            J[self.rows[i], self.spans[j]] = block
        return J

    @cached_property
    def k(self) -> Any:
        return np.concatenate(self.k_parts) if self.k_parts else np.zeros(0)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The joint of every velocity."""
        if self.place is None:
            return self.labels or tuple(f"q{i}" for i in range(self.nv))
        return self.place.loops.skel.tree.velocity_joints

    @cached_property
    def touched(self) -> tuple[tuple[int, ...], ...]:
        """Subsystems each loop touches."""
        return tuple(tuple(j for (i, j) in self.blocks if i == loop) for loop in range(len(self.k_parts)))

    def dimensionless_J(self) -> np.ndarray:
        return self.J * self.columns / self.row_scale[:, None]

    def select(self, keep: Sequence[int]) -> Terms:
        """The same terms with some rows only (an independent set)."""
        chosen = set(keep)
        picks = [[r - span.start for r in range(span.start, span.stop) if r in chosen] for span in self.rows]
        blocks = {(i, j): B[picks[i]] for (i, j), B in self.blocks.items()}
        k_parts = tuple(k[p] for k, p in zip(self.k_parts, picks, strict=True))
        return replace(self, blocks=blocks, k_parts=k_parts, row_scale=self.row_scale[sorted(chosen)], place=self.place)

    def by_rows(self) -> Terms:
        """The same terms with every row as a loop by itself, so that an order may take the rows of a loop apart."""
        first = [r.start for r in self.rows]
        blocks = {(first[i] + r, j): B[r : r + 1] for (i, j), B in self.blocks.items() for r in range(len(B))}
        return replace(self, blocks=blocks, k_parts=tuple(self.k[r : r + 1] for r in range(self.nc)), order=tuple(range(self.nc)), names=())


def terms(
    loops: Loops,
    q: Any,
    v: Any,
    t: Any = 0.0,
    references: Mapping[str, Any] | None = None,
    external: Sequence[tuple[int, Any]] = (),
    *,
    body_axes: Motion | None = None,
    armature: Sequence[float] = (),
) -> Terms:
    """All terms of a mechanism at a state, with wrenches on bodies already applied; `armature` (one entry per velocity, or
    none) are inertias of rotors besides the armatures of the model's joints.

    `body_axes` is a motion with turning rates along the world's axes (`motion(..., world_axes=True)`): then loops are in the rows
    that cost least too, tau and a are along the world's axes, and `to_joint_axes` brings solutions back.
    """
    skel = loops.skel
    references = skel.start_coordinates if references is None else references
    m = motion(skel, q, v) if body_axes is None else body_axes
    c = loops.closure(m, v, t, references, body_axes is not None)
    h = dynamics.bias_force(skel, m, external)
    rotors = dynamics.rotors(skel, m, armature) if len(armature) else {}
    return Terms(
        I=tuple(dynamics.with_rotors(skel, dynamics.inertia_blocks(skel, m), rotors)),
        bias=tuple(h[s.v] for s in skel.tree.subsystems),
        blocks=c.blocks,
        k_parts=tuple(c.k[r] for r in c.rows),
        columns=loops.columns,
        row_scale=loops.row_scale,
        order=loops.elimination_order,
        names=tuple(x.name for x in loops.constraints),
        place=Instant(skel, q, v, t, references, loops=loops, motion=m, closure=c, external=external, rotors=rotors),
    )


class BlockPlaces:
    """Places of the blocks of one mechanism's terms in the arrays of kernel `blocks`."""

    def __init__(self, loops: Loops, touched: Sequence[tuple[int, int]]):
        sizes = [s.v.stop - s.v.start for s in loops.skel.tree.subsystems]
        self.loops, self.order, self.names = loops, loops.elimination_order, tuple(x.name for x in loops.constraints)
        self.spans, self.rows = _slices(sizes), _slices([len(c.kinds) for c in loops.constraints])
        self.inertias = tuple(zip(_slices([n * n for n in sizes]), sizes, strict=True))
        counts = _slices([(self.rows[i].stop - self.rows[i].start) * sizes[j] for i, j in touched])
        self.blocks = tuple((key, at, sizes[key[1]]) for key, at in zip(touched, counts, strict=True))

    def terms(self, found: Any, place: Instant) -> Terms:
        """Terms of the kernel's arrays at a place, whose motion and closure are derived where they are asked for."""
        return Terms(
            I=tuple([found.M[at].reshape(n, n) for at, n in self.inertias]),
            bias=tuple([found.h[span] for span in self.spans]),
            blocks={key: found.J[at].reshape(-1, n) for key, at, n in self.blocks},
            k_parts=tuple([found.k[r] for r in self.rows]),
            columns=self.loops.columns,
            row_scale=self.loops.row_scale,
            order=self.order,
            names=self.names,
            place=place,
        )


def lacks_inertia(terms: Terms) -> bool:
    """True if some subsystem's inertia is not positive definite, in comparable units and against the largest inertia."""
    blocks = [I * terms.columns[s] * terms.columns[s][:, None] for I, s in zip(terms.I, terms.spans, strict=True)]
    largest = max((float(np.diag(I).max(initial=0.0)) for I in blocks), default=0.0)
    for I in blocks:
        d = np.diag(I)
        if len(d) and (d.min() <= NO_INERTIA * largest or np.linalg.eigvalsh(I / np.outer(np.sqrt(d), np.sqrt(d)))[0] < NO_INERTIA):
            return True
    return False


def along_world(place: Instant, tau: Any) -> Any:
    """Efforts of quaternion joints along the world's axes, for economical terms."""
    out = np.array(tau, dtype=common_type(tau, *place.motion.R))
    for span, R in turned_axes(place.loops.skel, place.motion):
        out[span] = R @ out[span]
    return out


def to_joint_axes(place: Instant, a: Any, lam: Any) -> tuple[Any, Any]:
    """Accelerations and multipliers of economical terms in the standard coordinates."""
    out = np.array(a, dtype=common_type(a, *place.motion.R))
    for span, R in turned_axes(place.loops.skel, place.motion):
        out[span] = R.T @ out[span]
    return out, reported(place.closure, lam)


def of_matrices(M: Any, h: Any, J: Any, k: Any, *, columns: Any = None, row_scale: Any = None, labels: Sequence[str] = ()) -> Terms:
    """Terms of bare matrices: one subsystem, one loop; for problems that are not mechanisms of ours. `labels` name the velocities."""
    M, h, J, k = (np.asarray(x, dtype=float) for x in (M, h, J, k))
    return Terms(
        (M,),
        (h,),
        {(0, 0): J},
        (k,),
        np.ones(len(h)) if columns is None else np.asarray(columns, dtype=float),
        np.ones(len(k)) if row_scale is None else np.asarray(row_scale, dtype=float),
        (0,),
        ("constraint",),
        tuple(labels),
    )


def _slices(sizes: Sequence[int]) -> tuple[slice, ...]:
    ends = np.cumsum([0, *sizes])
    return tuple(slice(int(a), int(b)) for a, b in itertools.pairwise(ends))
