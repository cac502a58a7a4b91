"""Velocities by name that determine a motion of the loops: the base, the drives, and others where these are not enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.errors import UsageError, degrees_of_freedom, listing, nearest
from linkwright.kernels.equations.by_name import skel_velocities
from linkwright.mechanics.kinematics.floating_base import base_joints
from linkwright.mechanics.kinematics.skeleton import velocity_kinds
from linkwright.model.coordinates import is_rotary, lengths
from linkwright.numerics.linalg import factor, pivoted_columns
from linkwright.numerics.memory_and_threads import Store
from linkwright.properties import cached_property

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations
    from linkwright.system.compiled import Compiled

INDEPENDENT: Store[str, Independent] = Store()  # of a mechanism, shared by all named terms
FIRM = 1e-6  # share of a velocity that the ones chosen before must leave, for it to count as independent


class Chosen(NamedTuple):
    """Columns `by`, and the complete set of independent velocities they are some of."""

    by: tuple[str, ...]
    every: tuple[str, ...]


class Independent:
    """Choice of independent velocities of one mechanism."""

    def __init__(self, core: Compiled):
        self.core = core
        self.velocities = skel_velocities(core.skel)

    @cached_property
    def base(self) -> list[str]:
        """Velocities of the floating base; none of a mechanism on ground."""
        return [x for name in base_joints(self.core.tree) for x in self.expanded(name)]

    def expanded(self, name: str) -> list[str]:
        """Velocities of a name: all of a joint, one of them (`base.wx`, `base.vx`), a cut joint or a cylinder."""
        d = self.core.description
        if name in self.velocities:
            return [name]
        head, _, part = name.partition(".")
        mine = [x for x in self.velocities if x.startswith(f"{head}.")]
        if mine and (not part or f"{head}.{part.removeprefix('v')}" in mine):
            return [f"{head}.{part.removeprefix('v')}"] if part else mine
        if name in lengths(d):
            return [name]
        cut = {j.name: joints.create(j.type, j.options) for j in d.joints if j.name in self.core.tree.cuts}
        if head in cut and cut[head].q_names == cut[head].v_names and (not part or part in cut[head].q_names):
            return [name] if part else [f"{head}.{p}" if p else head for p in cut[head].q_names]
        known = [*self.velocities, *cut, *lengths(d)]
        raise UsageError(f"'{name}' is not a velocity of joints or cylinders here.", nearest(name, known, "Velocities"))

    def chosen(self, by: str | Sequence[str]) -> Chosen:
        """Columns of a call's `by` and a complete set that begins with them."""
        drives = [x for name in self.core.drive_names for x in self.expanded(name)]
        if by == "base" and not self.base:
            raise UsageError(
                "this mechanism has no floating base: no free joint (of a planar mechanism: planar joint) joins it to ground.", name="base"
            )
        groups = {"independent": [], "coordinates": [], "drives": drives, "base": self.base}
        if isinstance(by, str):
            named = groups[by] if by in groups else self.expanded(by)
        else:
            named = [x for name in by for x in (groups[name] if name in ("drives", "base") else self.expanded(str(name)))]
        named = list(dict.fromkeys(named))
        every = self._complete(tuple(named), tuple(dict.fromkeys([*self.base, *drives])))
        return Chosen(every if by == "independent" else tuple(self.velocities) if by == "coordinates" else tuple(named), every)

    def _complete(self, named: tuple[str, ...], preferred: tuple[str, ...]) -> tuple[str, ...]:
        """As many velocities as there are degrees of freedom: those named, then base and drives, then those that determine it best."""
        every = list(dict.fromkeys([*named, *preferred, *self.velocities]))
        eq = self.equations(tuple(every))
        seen, best = None, -1
        for x in self.core.kernels._samples:
            rows = eq.task_terms(x.q, x.v, self.core.skel.pack(x.references))
            f = factor(np.concatenate([rows["J"] / self.core.loops.row_scale[:, None], rows["idle"]]) * self.core.loops.columns)
            if f.rank > best:
                best, seen = f.rank, (rows["E"] * self.core.loops.columns / self.scales(every)[:, None]) @ f.null
        freedoms = self.core.tree.nv - best
        E = np.asarray(seen).T
        first = pivoted_columns(E[:, : len(named)], FIRM, first=tuple(range(len(named)))) if named else []
        if len(first) < len(named):
            spare = [n for i, n in enumerate(named) if i not in first]
            raise UsageError(
                f"{listing(named)} cannot move independently: the loops leave {degrees_of_freedom(freedoms)}, and {listing(spare)} "
                f"follow{'s' * (len(spare) == 1)} from the others. Leave {'it' if len(spare) == 1 else 'them'} out.",
                name=spare[0],
            )
        wanted = pivoted_columns(
            E[:, : len(named) + len(preferred)], FIRM, first=tuple(range(min(E.shape[1], len(named) + len(preferred))))
        )
        chosen = pivoted_columns(E, FIRM, first=tuple(wanted))[:freedoms]
        if len(chosen) < freedoms:
            raise UsageError("velocities of joints and cylinders do not determine the motion of the loops here. Give other cuts=.")
        order = [*self.base, *[n for n in every if n not in self.base]]
        return tuple(n for n in order if n in {every[i] for i in chosen})

    def equations(self, names: tuple[str, ...]) -> Equations:
        """The equations on numbers with these velocities as drives."""
        k = self.core.kernels
        return replace(k, drives=names, made={}, variants={}).equations(k.defaults["parameters"])

    def scales(self, names: Sequence[str]) -> Any:
        """1 of angles, the characteristic length of lengths."""
        kinds = dict(zip(self.velocities, velocity_kinds(self.core.skel), strict=True))
        lengths = [kinds[n] == "length" if n in kinds else not is_rotary(self.core.description, n) for n in names]
        return np.where(lengths, self.core.loops.kappa, 1.0)


def independent_velocities(core: Compiled) -> Independent:
    """Return the independent velocities of a mechanism, made once."""
    known = INDEPENDENT.of(core)
    if "all" not in known:
        known["all"] = Independent(core)
    return known["all"]
