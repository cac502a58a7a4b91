"""Why a wanted position or speed cannot be had: decided by ranks at the place where the mechanism stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.errors import AssemblyError, SingularityError, counted, degrees_of_freedom
from linkwright.mechanics.closing.newton import close, gap, gap_text, wandered
from linkwright.mechanics.closing.singular_position import LostRank
from linkwright.mechanics.constraints import Constraint, DrivenDistance, Driver
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.singular_geometry import geometry_text, singular_geometry
from linkwright.numerics.linalg import factor
from linkwright.text.units import KINDS, shown

SINGULAR_SHARE = 0.02  # a singular value below this share of the one at the start: the loops lose rank
WEAK = 1e-6  # singular values of constraints below this leave a motion undecided
TIED = 1e-3  # share of the largest part in a relation of speeds from which a speed belongs to it


def unreachable(loops: Loops, targets: Sequence[Constraint], walk: Instant, q: np.ndarray, references: Mapping[str, Any]) -> AssemblyError:
    """How far a walk from (q, near) to targets got, what stopped it, and how wide the loops gape at the wanted place."""
    tied = loops.with_(targets)
    zero = np.zeros(loops.skel.tree.nv)
    done = close(tied, walk.q, walk.references, 1.0, most=60)
    c = tied.at(done.at.q, zero, 1.0, done.at.references)
    gaps = [gap(con, part.phi, 1.0) for con, part in zip(tied.constraints, c.parts, strict=True)]
    worst = int(np.argmax(gaps))
    name, own = tied.constraints[worst].name, worst < len(loops.constraints)
    open_by = gap_text(tied, name, gaps[worst]) if own else _short_of(tied, worst, gaps[worst])
    left = f"the loop closed by '{name}' would stay open by {open_by}" if own else f"'{name}' would stay {open_by} off"
    names = ", ".join(t.name for t in targets)
    wanted = sum(len(t.kinds) for t in targets)
    freedoms = loops.factored(loops.at(walk.q, zero, 1.0, walk.references)).null.shape[1]
    if wanted > freedoms:
        text = (
            f"{wanted} values ({names}) are wanted of {degrees_of_freedom(freedoms)}, and they do not fit "
            f"together ({left}). Give {freedoms or 'none'}, and let the others follow."
        )
        return AssemblyError(text, gap=gaps[worst], loop=name)
    if _dependent(loops, tied, q, references):
        text = f"the target values ({names}) depend on each other, and they do not fit together ({left}). Leave one of them out."
        return AssemblyError(text, gap=gaps[worst], loop=name)
    lost = lost_loop(loops, walk.q, walk.references, q, references)
    if lost:
        why = (
            f"there the loop closed by '{lost}' is in a singular position, in which branches of the motion meet ({left}). "
            "Choose a value before it, or begin on the other side by `guess`."
        )
    else:
        begin = Instant(loops.skel, q, np.zeros(loops.skel.tree.nv), 0.0, references)
        special = geometry_text(singular_geometry(LostRank(tied), walk, begin), loops.skel.tree.description.units)
        why = (
            f"there it is at the end of its reach on this branch, a dead center{', where ' if special else ''}{special} ({left}). "
            "Choose a value inside the reach (see limits), or another branch by `guess`."
        )
    return AssemblyError(f"cannot reach the target {names}: it gets {_way(loops, targets, walk.t)}; {why}", gap=gaps[worst], loop=name)


def _dependent(loops: Loops, tied: Loops, q: np.ndarray, references: Mapping[str, Any]) -> bool:
    """True if the targets are dependent at q and at a random position near it: no dead center, but one coordinate given twice."""
    zero, own = np.zeros(loops.skel.tree.nv), len(loops.row_scale)
    other = wandered(loops, q, references, loops.factored(loops.at(q, zero, 0.0, references)).null, np.random.default_rng(0))
    places = [(q, references)] if other is None else [(q, references), (other.at.q, other.at.references)]
    rows = [tied.dimensionless(tied.at(x, zero, 0.0, n))[1] for x, n in places]
    return all(factor(J, WEAK).rank < factor(J[:own], WEAK).rank + len(J) - own for J in rows)


def _way(loops: Loops, targets: Sequence[Constraint], share: float) -> str:
    """How far: from a value to a value for one coordinate, else a share of the way."""
    t = targets[0]
    if len(targets) != 1 or not isinstance(t, Driver | DrivenDistance):
        return f"{100 * share:.1f} % of the way from its start"
    begin, there, end = (_value(loops, t, float(t.law(x)[0])) for x in (0.0, share, 1.0))
    return f"from {begin} to {there} of the wanted {end}"


def _value(loops: Loops, t: Constraint, x: float) -> str:
    return shown(x, KINDS[t.kinds[0]], loops.skel.tree.description.units)


def _short_of(tied: Loops, i: int, gap: float) -> str:
    return _value(tied, tied.constraints[i], gap)


def lost_loop(loops: Loops, q: np.ndarray, references: Mapping[str, Any], q0: np.ndarray, references0: Mapping[str, Any]) -> str:
    """The closing constraint that makes the loops lose rank at q, as against q0; empty if they keep it."""
    zero = np.zeros(loops.skel.tree.nv)
    J, J0 = (loops.dimensionless(loops.at(x, zero, 0.0, n))[1] for x, n in ((q, references), (q0, references0)))
    if not min(J.shape):
        return ""
    f, f0 = factor(J), factor(J0)
    rank = max(f.rank, f0.rank)
    if not rank or f.s[rank - 1] >= SINGULAR_SHARE * f0.s[rank - 1]:
        return ""
    rows = [c.name for c in loops.constraints for _ in c.kinds]
    return rows[int(np.argmax(np.abs(f.U[:, rank - 1])))]


def cannot_move(loops: Loops, tied: Loops, q: np.ndarray, references: Mapping[str, Any], t: float = 0.0) -> SingularityError:
    """Why speeds (or accelerations) that constraints beyond the loops ask for cannot be had at a position."""
    zero = np.zeros(loops.skel.tree.nv)
    J, own = tied.dimensionless(tied.at(q, zero, t, references))[1], len(loops.row_scale)
    freedoms = factor(J[:own], WEAK).null.shape[1]
    extra = [c.name for c in tied.constraints[len(loops.constraints) :] for _ in c.kinds]
    names = ", ".join(dict.fromkeys(extra))
    f = factor(J, WEAK)
    if len(extra) > freedoms:
        return SingularityError(
            f"{counted(len(extra), 'speed')} ({names}) are wanted of {degrees_of_freedom(freedoms)}, and they contradict "
            f"each other. Give {freedoms or 'none'}, and let the others follow.",
            singular_values=tuple(f.s),
        )
    parts = np.abs(f.left_null[own:]).max(axis=1, initial=0.0)
    tied_names = list(dict.fromkeys(n for n, x in zip(extra, parts, strict=True) if x > TIED * parts.max(initial=0.0) > 0.0))
    if len(tied_names) > 1:
        together = " and ".join(f"'{n}'" for n in tied_names)
        return SingularityError(
            f"at this position the loops tie {together} to each other (a dead center, or joints that always move together), and the given "
            "speeds contradict that. Give fewer speeds and let the others follow, or another position.",
            singular_values=tuple(f.s),
        )
    stopped = tied_names or list(dict.fromkeys(extra))
    held = " and ".join(f"'{n}'" for n in stopped)
    return SingularityError(
        f"at this position {held} {'is' if len(stopped) == 1 else 'are'} at a dead center: no motion of the mechanism gives this "
        "speed. Give the speed of another joint, or another position.",
        singular_values=tuple(f.s),
    )
