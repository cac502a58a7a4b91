"""Random mechanisms at which a check fails, made small: bodies, joints and rods are taken away as long as the check still fails.

A body at the end of the tree leaves with all that is joined to it, which changes nothing for the others. Any other body may be merged
with its carrier: what was joined to it is joined to the carrier at the same place, and the velocities are projected onto the loops
again. The result is a state of a mechanism with closed loops, as the one that was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from time import monotonic
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import pose_of, skeleton
from linkwright.model.description import Description, Joint, Placement, Point
from linkwright.topology import build_tree
from tests.factory import Drawn, placement

Check = Callable[[Drawn], None]


def holds(check: Check, mech: Drawn) -> None:
    """Run a check; where it fails, raise an AssertionError with the smallest mechanism at which it fails by the same type of error."""
    try:
        check(mech)
    except Exception as error:
        kind = type(error)
        small = smallest(mech, lambda m: type(failure(check, m)) is kind)
        found = f"The smallest mechanism of this seed that fails:\n{shown(small)}\n{failure(check, small)}"
        raise AssertionError(f"{error}\n{found}") from error


def failure(check: Check, mech: Drawn) -> Exception | None:
    """Return the error of a check, None if it passes."""
    try:
        check(mech)
    except Exception as error:
        return error
    return None


def smallest(given: Any, fails: Callable[[Any], bool], smaller: Callable[[Any], Iterator[Any]] | None = None, seconds: float = inf) -> Any:
    """Take parts away, one at a time, as long as the mechanism fails and the time is not over. `smaller`: for anything else."""
    end, ways = monotonic() + seconds, smaller_mechanisms if smaller is None else smaller
    while (less := next((x for x in ways(given) if monotonic() > end or fails(x)), None)) is not None and monotonic() <= end:
        given = less
    return given


def shown(mech: Drawn) -> str:
    """One line a joint or rod, and the state."""
    tree = mech.skel.tree
    d = tree.description
    cut = {name: " (cut)" for name in tree.cuts}
    lines = [f"  {j.name} {j.type}{dict(j.options) or ''} {j.first} - {j.second}{cut.get(j.name, '')}" for j in d.joints]
    lines += [f"  {r.name} rod {r.between[0]} - {r.between[1]}" for r in d.rods]
    return "\n".join(["planar" if d.planar else "spatial", *lines, f"  q = {mech.q.tolist()}", f"  v = {mech.v.tolist()}"])


def smaller_mechanisms(mech: Drawn) -> Iterator[Drawn]:
    """Mechanisms with one part less, the largest steps first."""
    tree = mech.skel.tree
    d = tree.description
    carriers = {n.parent for n in tree.nodes}
    for i in reversed(range(len(tree.nodes))):
        body = tree.nodes[i].body
        if i not in carriers:
            yield from _built(mech, _without(d, body))
    for name in [*(r.name for r in d.rods), *tree.cuts]:
        yield from _built(mech, replace(d, rods=_but(d.rods, name), joints=_but(d.joints, name)))
    for n in tree.nodes:
        carrier = d.bodies[0].name if n.parent < 0 else tree.nodes[n.parent].body
        yield from _built(mech, _merged(d, n.body, carrier))


def _but(things, name):
    return tuple(x for x in things if x.name != name)


def _without(d: Description, body: str) -> Description:
    joints = tuple(j for j in d.joints if body not in (j.first, j.second))
    rods = tuple(r for r in d.rods if body not in {ref[0] for ref in r.between})
    return replace(d, bodies=_but(d.bodies, body), joints=joints, rods=rods)


def _merged(d: Description, body: str, carrier: str) -> Description:
    """Everything that was joined to a body is joined to its carrier, at the place where it is now."""
    X = pose_of(d.body(carrier).start).inverse() @ pose_of(d.body(body).start)

    def moved(at: Placement) -> Placement:
        return placement(*(X @ pose_of(at)))

    def joint(j: Joint) -> Joint:
        first = {"first": carrier, "frame_first": moved(j.frame_first)} if j.first == body else {}
        second = {"second": carrier, "frame_second": moved(j.frame_second)} if j.second == body else {}
        return replace(j, **first, **second)

    points = tuple(Point(f"{body}{p.name}", moved(Placement(p.at)).at) for p in d.body(body).points)
    bodies = tuple(replace(b, points=(*b.points, *points)) if b.name == carrier else b for b in _but(d.bodies, body))
    joints = tuple(x for x in map(joint, d.joints) if x.first != x.second)
    ends = {r.name: tuple((carrier, f"{body}{p}") if b == body else (b, p) for b, p in r.between) for r in d.rods}
    rods = tuple(replace(r, between=ends[r.name]) for r in d.rods if len({b for b, _ in ends[r.name]}) == 2)
    return replace(d, bodies=bodies, joints=joints, rods=rods)


def _built(mech: Drawn, d: Description) -> Iterator[Drawn]:
    """The mechanism of a description in the state of the former one; nothing if it is no mechanism."""
    old = {n.joint.name: n for n in mech.skel.tree.nodes}
    names = {j.name for j in d.joints}
    try:
        skel = skeleton(build_tree(d, [name for name in mech.skel.tree.cuts if name in names]))
    except LinkwrightError:
        return
    nodes = skel.tree.nodes
    if not nodes or any(n.joint.name not in old for n in nodes):
        return
    q = np.concatenate([mech.q[old[n.joint.name].q] for n in nodes])
    yield Drawn(skel, q, _on_loops(skel, q, np.concatenate([mech.v[old[n.joint.name].v] for n in nodes])))


def _on_loops(skel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The nearest velocity that the loops allow; v itself where they allow it."""
    loops = Loops.of(skel)
    closure = loops.at(q, np.zeros(skel.tree.nv), 0.0, skel.start_coordinates)
    null = loops.factored(closure).null
    x = v / loops.columns
    nearest = null @ (null.T @ x)
    return v if np.abs(nearest - x).max(initial=0.0) < 1e-9 * (1.0 + np.abs(x).max(initial=0.0)) else nearest * loops.columns
