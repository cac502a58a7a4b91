"""Computing in parallel by subsystems, a remark of [Koul2013] after (24): once lambda is known, all subsystems are independent.

The dependencies of one forward dynamics, from left to right in the figure:

    inertias I_j factored       one level, all subsystems at once
    blocks of the GICM          one block a loop; a loop waits for the loops that are eliminated before it and coupled to it
    multipliers                 the same levels backwards
    accelerations               one level, all subsystems at once

A level holds what can be computed at the same time. The loops' levels are heights in the elimination tree of the library's own order
(`sslm.factorize`), so the longest chain of loops that wait for each other is the number of steps that parallel computing cannot save.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import compile, dynamics, equation_terms, load, loop_constraints, solve_orders
from linkwright.mechanics.formulations.sslm import factorize
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.koul_matrices import excavator

Couplings = Mapping[int, Sequence[int]]  # block -> blocks coupled to it and eliminated after it


def levels(below: Couplings) -> dict[int, int]:
    """Level of every block: 1 if it waits for none, else one more than the highest of those it waits for; in order of elimination."""
    out = dict.fromkeys(below, 1)
    for block, later in below.items():
        for other in later:
            out[other] = max(out[other], out[block] + 1)
    return out


def filled(neighbors: Mapping[int, set[int]], order: Sequence[int]) -> dict[int, list[int]]:
    """Couplings of an elimination in this order, new ones included, from the pattern alone."""
    coupled = {i: set(near) for i, near in neighbors.items()}
    below: dict[int, list[int]] = {}
    for n, i in enumerate(order):
        below[i] = [k for k in order[n + 1 :] if k in coupled[i]]
        for k in below[i]:
            coupled[k] |= set(below[i]) - {k}
    return below


def fewest_levels(s: Any) -> int:
    """Levels of the loops in the best of all orders."""
    pattern = solve_orders.gicm_pattern(s.tree)
    near = {i: {k for k, shared in enumerate(line) if shared and k != i} for i, line in enumerate(pattern)}
    return min(max(levels(filled(near, order)).values()) for order in permutations(near))


@dataclass(frozen=True)
class ParallelPlan:
    """Dependencies of one forward dynamics; blocks from `loops` on are subsystems whose accelerations are found with the multipliers."""

    name: str
    loops: tuple[str, ...]
    subsystems: tuple[str, ...]
    touches: tuple[tuple[int, ...], ...]  # subsystems of each loop
    below: Couplings

    @property
    def level(self) -> dict[int, int]:
        return levels(self.below)

    @property
    def depth(self) -> int:
        return max(self.level.values())

    @property
    def last(self) -> tuple[int, ...]:
        """Subsystems that wait for the last level of the loops instead of their own."""
        return tuple(block - len(self.loops) for block in self.below if block >= len(self.loops))


def plan(s: Any, name: str, terms: equation_terms.Terms) -> ParallelPlan:
    """Dependencies in the order of the terms."""
    F = factorize(terms)
    below = {p: list(F.below[p]) for p in terms.order}
    bodies = tuple("-".join(x.bodies[:1] if len(x.bodies) == 1 else (x.bodies[0], x.bodies[-1])) for x in s.tree.subsystems)
    return ParallelPlan(name, tuple(x.name for x in s.tree.loops), bodies, tuple(x.subsystems for x in s.tree.loops), below)


@cache
def stewart() -> Any:
    return compile(load("stewart"))


@cache
def plans() -> tuple[ParallelPlan, ...]:
    """The excavator with the paper's cuts, and the Stewart platform with its platform eliminated first, as (22) has it, or last."""
    digger, robot = excavator(), stewart()
    t = robot.terms(robot.start)
    hub = len(t.k_parts) + next(x.index for x in robot.tree.subsystems if "platform" in x.bodies)
    return (
        plan(digger, "excavator", digger.terms(digger.start)),
        plan(robot, "Stewart platform", t),
        plan(robot, "Stewart platform, platform last", replace(t, order=(*t.order, hub))),
    )


def moving(s: Any, seed: int = 4) -> Any:
    """The start with a random velocity that the loops allow."""
    velocity = np.random.default_rng(seed).normal(size=len(s.start.v))
    J = s.closure(s.start).J
    return s.state(s.start.q, velocity - np.linalg.pinv(J) @ (J @ velocity))


def alone(s: Any, st: Any, j: int, lam: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Accelerations of one subsystem by the O(n) recursion: its own efforts and the multipliers at its own bodies, nothing else."""
    p, sub = s.terms(st).place, s.tree.subsystems[j]
    pushes = [push for push in loop_constraints.loop_wrenches(p.loops.skel, p.closure, lam) if push[0] in sub.nodes]
    own = np.zeros(len(tau))
    own[sub.v] = tau[sub.v]
    return np.asarray(dynamics.forward_tree(p.loops.skel, p.motion, own, pushes, p.rotors))[sub.v]


def independence(s: Any) -> float:
    """Largest difference of subsystems computed alone from all of them solved at once by (9), over the largest acceleration."""
    st = moving(s)
    tau = np.random.default_rng(5).normal(size=len(st.v)) * 10.0
    whole = s.forward(st, tau, formulation="kkt")
    parts = [alone(s, st, j, whole.solution.lam, tau) for j in range(len(s.tree.subsystems))]
    return float(np.abs(np.concatenate(parts) - whole.a).max() / np.abs(whole.a).max())


def parallel_subsystems() -> Item:
    first, hub_first, hub_last = plans()
    off = max(independence(excavator()), independence(stewart()))
    best = fewest_levels(excavator())
    legs = len(hub_last.subsystems) - 1
    return compared(
        "Sec. 3, after (24)",
        "what can be computed in parallel: excavator and Stewart platform",
        "once lambda is known, all subsystems at once; not shown",
        f"accelerations: {len(first.subsystems)} and {len(hub_first.subsystems)} subsystems in one level. Multipliers: excavator "
        f"{len(first.loops)} loops in {first.depth} levels ({best} in the best order), Stewart platform {len(hub_first.loops)} loops in "
        f"{hub_first.depth}, since all share the platform; with the platform last, {legs} legs in one level and it in the second",
        off,
        1e-10,
        "all accelerations at once by (9), relative: each subsystem alone, from lambda and its own efforts",
        "lambda itself is found by levels, there and back; the library computes them one after another in one thread",
        figure=_draw,
    )


# -------------------------------------------------------------------- the figure


def _draw(path: Path) -> None:
    from linkwright.rings.studio.plots.common_parts import drawn

    def make(frame: Any) -> Any:
        figure = frame.figure(9.0, 7.2)
        for axes, p in zip(figure.subplots(len(plans()), 1), plans(), strict=True):
            _graph(axes, p, frame.look)
        return figure

    drawn(make, path, title="Koul et al.: what waits for what in one forward dynamics")


def _graph(axes: Any, p: ParallelPlan, look: Any) -> None:
    """Subsystems, levels of loops, and subsystems again, as columns; an arrow leads to what waits."""
    from linkwright.rings.studio.plots.common_parts import color_of

    own = [j for j in range(len(p.subsystems)) if j not in p.last]
    column = {("I", j): (0.0, y) for j, y in zip(own, _spread(len(own)), strict=True)}
    for n in range(1, p.depth + 1):
        blocks = [b for b, level in p.level.items() if level == n]
        column |= {("lam", b): (float(n), y) for b, y in zip(blocks, _spread(len(blocks), shift=0.3 * (-1.0) ** n), strict=True)}
    column |= {("a", j): (p.depth + 1.0, y) for j, y in zip(own, _spread(len(own)), strict=True)}
    arrows = [(("I", j), ("lam", i), j) for i, touched in enumerate(p.touches) for j in touched if j in own]
    # the first block that waits for another one: the elimination tree, from which the others follow
    arrows += [(("lam", b), ("lam", min(later, key=list(p.below).index)), -1) for b, later in p.below.items() if later]
    arrows += [(("lam", i), ("a", j), j) for i, touched in enumerate(p.touches) for j in touched if j in own]
    for a, b, j in arrows:
        style = {
            "arrowstyle": "->",
            "color": look.ink if j < 0 else color_of(j),
            "lw": 1.6 if j < 0 else 0.8,
            "shrinkA": 13.0,
            "shrinkB": 13.0,
        }
        axes.annotate("", column[b], column[a], arrowprops=style)
    for (kind, i), place in column.items():
        loop = kind == "lam" and i < len(p.loops)
        text = p.loops[i] if loop else p.subsystems[i - len(p.loops) if kind == "lam" else i]
        color = look.ink if loop else color_of(i - len(p.loops) if kind == "lam" else i)
        box = {"boxstyle": "round,pad=0.25", "fc": look.paper, "ec": color, "lw": 1.1}
        axes.text(*place, text, ha="center", va="center", fontsize=7.0, color=look.ink, bbox=box, parse_math=False)
    heads = ["inertias", *(f"level {n}" for n in range(1, p.depth + 1)), "accelerations"]
    axes.set_xticks(np.arange(len(heads)), heads, fontsize=8.0)
    axes.tick_params(length=0.0)
    axes.set_yticks([])
    axes.grid(False)
    axes.set_xlim(-0.5, p.depth + 1.5)
    axes.set_ylim(-1.25, 1.25)
    axes.set_title(f"{p.name}: {len(p.loops)} loops, {len(p.subsystems)} subsystems", fontsize=9.0, loc="left", parse_math=False)


def _spread(count: int, shift: float = 0.0) -> np.ndarray:
    return np.linspace(1.0, -1.0, count) if count > 1 else np.array([shift])
