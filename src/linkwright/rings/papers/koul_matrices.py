"""[Koul2013] at the start: its matrices, the GICM and what it says, block patterns, and the eliminations of Appendix A.3 to A.5.

The paper prints formulas, no numbers. The library's matrices, brought into the paper's rows and columns by `paper_form`, are
compared with those of a derivation without the library (`koul_printed.reference`), and multipliers against those of the whole system (9).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import compile, compiled_of, dynamics, load, loop_constraints
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers import koul_printed as printed_data
from linkwright.rings.papers.denoc import denoc
from linkwright.rings.papers.koul_printed import Example, Matrices, reference

SPEED = 4.7124  # rad/s [Koul2013 Table 2]
# at the start, with 34 digits by tests/data/generate/koul_matrices.py
SCRAPER_ACCELERATION = 16.37789108775491  # of the crank, rad/s^2
CUT_FORCES = {"J8": (-219.378428535212, -7.668679930667343), "J9": (-29.64307399030925, -295.5025533412331)}
RRR_ACCELERATIONS = (-18.72325110244385, 30.60010718350685, -23.32282554387737)
PAPER_ORDER = {"carpet-scraper": ("J1", "J2", "J3", "J4", "J5", "J6", "J7"), "3-rrr": ("J1", "J2", "J3", "J4", "J5", "J8", "J9")}
EXCAVATOR = ((1, 1, 0), (0, 1, 0), (1, 1, 0), (1, 0, 1))  # (13)
EXCAVATOR_CUTS = ("J15", "J14", "J5", "J11")  # they close the paper's loops 1 to 4


@cache
def scraper() -> tuple[Any, Any]:
    s = compile(load("carpet-scraper"), cuts=["J8", "J9", "J10"])
    return s, s.assemble(q={"J1": 0.0}, v={"J1": SPEED})


@cache
def manipulator() -> tuple[Any, Any]:
    s = compile(load("3-rrr"), cuts=["J6", "J7"])
    return s, s.start


def in_motion() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return both mechanisms in motion; the manipulator starts at rest, here its cranks turn with 1 rad/s."""
    robot, start = manipulator()
    cranks = ("J1", "J8", "J9")
    return scraper(), (robot, robot.assemble({j: start[j] for j in cranks}, dict.fromkeys(cranks, 1.0)))


def example(s: Any) -> Example:
    return printed_data.SCRAPER if s.description.name == "carpet-scraper" else printed_data.MANIPULATOR


def angles(s: Any, st: Any) -> tuple[np.ndarray, np.ndarray]:
    """theta and its rate in the paper's order, up to whole turns; theta_5 of the manipulator counts from another edge."""
    names = PAPER_ORDER[s.description.name]
    theta, rate = (np.array([st[f"{j}{end}"] for j in names]) for end in ("", ".v"))
    if s.description.name == "3-rrr":
        theta[4] -= np.pi / 3
    return theta, rate


def paper_form(s: Any, st: Any) -> Matrices:
    """The library's terms in the paper's order of joints, rows along the world's axes with the printed signs."""
    t = s.terms(st)
    order = [s.names.v.index(j) for j in PAPER_ORDER[s.description.name]]
    turn = np.zeros((t.nc, t.nc))
    for loop, rows in zip(s.tree.loops, t.rows, strict=True):
        turn[rows, rows] = s.pose(st, s.description.joint(loop.name).first).R[:2, :2]
    turn *= np.array(example(s).signs)[:, None]
    return Matrices(t.M[np.ix_(order, order)], -t.h[order], turn @ t.J[:, order], -turn @ t.k)


def _apart(a: Matrices, b: Matrices) -> float:
    """Largest difference of any two matrices over the size of the larger, the GICM among them."""
    pairs = [*zip(a, b, strict=True), (a.gicm, b.gicm), (a.Psi_bar, b.Psi_bar)]
    return max(float(np.abs(x - y).max() / max(1.0, np.abs(y).max())) for x, y in pairs)


# -------------------------------------------------------------------- matrices and accelerations


def scraper_at_start() -> Item:
    s, st = scraper()
    acc = s.forward(st, formulation="sslm")
    off = abs(acc["J1"] - SCRAPER_ACCELERATION)
    off = max(off, *(float(np.abs(acc.joint_force(j)[:2] - f).max()) for j, f in CUT_FORCES.items()))
    return compared(
        "(22)-(24), (33)-(35)",
        "scraper at t = 0: multipliers by SSLM, then accelerations",
        "the equations",
        f"crank {acc['J1']:.6f} rad/s^2, force at J8 {np.linalg.norm(acc.joint_force('J8')):.3f} N",
        off,
        1e-9,
        "maximal coordinates, 20 multipliers",
        "(9) gives -lambda; J22(2,1) of A.1 is printed with a wrong sign, which would change the accelerations by 10 rad/s^2",
    )


def manipulator_at_start() -> Item:
    s, st = manipulator()
    acc = s.forward(st, formulation="sslm")
    found = [acc[j] for j in ("J1", "J8", "J9")]
    return compared(
        "(41), (44)-(45)",
        "3-RRR at t = 0: accelerations of the cranks",
        "the equations",
        ", ".join(f"{x:.4f}" for x in found) + " rad/s^2",
        float(np.abs(np.subtract(found, RRR_ACCELERATIONS)).max()),
        1e-9,
        "maximal coordinates in 34 digits",
        "J11(2,1) and J11(2,2) of A.2 need +d1 c7; the base (equilateral, 1 m) is ours, probable but not printed",
    )


def complement() -> Item:
    """I and C of the subsystems from the DeNOC matrices, moving, against the sums of velocities written out."""
    off, blocks = 0.0, 0
    for s, st in in_motion():
        there = reference(s.description.name)
        for x, c in zip(s.tree.subsystems, example(s).columns, strict=True):
            D = denoc(compiled_of(s).skel, st.q, st.v, x.index)
            off = max(off, float(np.abs(D.inertia - there.moving_I[c, c]).max()))
            off = max(off, float(np.abs(D.coriolis_of_the_papers @ st.v[x.v] - there.moving_C[c]).max()))
            blocks += 1
    return compared(
        "(1)-(7)",
        "I = N' M N and C = N' (M N-dot + W M E N) of every subsystem, N = N_l N_d",
        "the equations",
        f"{blocks} subsystems, serial and branched: I and C q' are those of the links written out",
        off,
        1e-12,
        "links written out by hand as complex numbers",
    )


def matrices_at_start() -> Item:
    off, conditions = 0.0, []
    for s, st in (scraper(), manipulator()):
        ours = paper_form(s, st)
        off = max(off, _apart(ours, reference(s.description.name).start))
        conditions.append(f"{s.description.name} {np.linalg.cond(ours.gicm):.2f}")
    return compared(
        "(15)-(17), (22), (27), (28), (38), (39)",
        "I, phi, J, Psi, GICM and Psi-bar of both examples at t = 0",
        "formulas",
        "condition of the GICM: " + ", ".join(conditions),
        off,
        1e-12,
        "links written out by hand as complex numbers",
        "(27), (38) leave gravity out of phi, without which nothing falls; dots are lost in (28), (39) and around",
    )


# -------------------------------------------------------------------- Jacobians of the appendix


def _jacobian(where: str, name: str, s: Any, states: list[Any], printed: Callable[..., np.ndarray], why: str) -> Item:
    """The printed Jacobian at states, and the same corrected."""
    wrong: set[str] = set()
    entries = 2 * len(s.tree.loops) * len(s.names.v)
    off, right, broken = 0.0, 0.0, 0.0
    for st in states:
        theta, rate = angles(s, st)
        J = paper_form(s, st).J
        as_printed = printed(theta, corrected=False)
        off = max(off, float(np.abs(as_printed - J).max()))
        broken = max(broken, float(np.abs(as_printed @ rate).max()))
        right = max(right, float(np.abs(printed(theta, corrected=True) - J).max()))
        wrong |= {f"({r + 1},{c + 1})" for r, c in np.argwhere(np.abs(as_printed - J) > 1e-9)}
    return Item(
        where,
        f"{name}: J by its printed blocks, at {len(states)} positions",
        "the blocks of J, entry by entry",
        f"{entries - len(wrong)} of {entries} entries agree; row, column {', '.join(sorted(wrong))} off by up to {off:.3f} m, so that J q' "
        f"is up to {broken:.3f} m/s; corrected, all agree to {right:.0e} m",
        "differs" if wrong else "agrees",
        off,
        1e-12,
        "the library's J, whose rows are differences of the pins' velocities",
        why,
    )


def scraper_jacobian() -> Item:
    s, _ = scraper()
    states = [s.assemble(q={"J1": np.radians(x)}, v={"J1": SPEED}) for x in range(0, 360, 30)]
    why = "J22(2,1) must be +a2 c2 - a39 c3; rows of loop 1 are coupler minus crank in x, crank minus coupler in y"
    return _jacobian("(25), A.1", "scraper", s, states, printed_data.printed_scraper, why)


def manipulator_jacobian() -> Item:
    s, st = manipulator()
    theta = {"J1": st["J1"], "J8": st["J8"], "J9": st["J9"]}
    states = [s.assemble({j: x + d for j, x in theta.items()}, dict.fromkeys(theta, 1.0)) for d in (0.0, 0.1, 0.2, 0.3)]
    return _jacobian(
        "(36), A.2", "3-RRR", s, states, printed_data.printed_manipulator, "J11(2,1) and J11(2,2) must have +d1 c7, as J11(2,3) has"
    )


# -------------------------------------------------------------------- what the GICM says


def pulled_apart(s: Any, st: Any) -> np.ndarray:
    """Relative accelerations at all cut pins by a newton at one of them, on the open tree by the O(n) recursion: no I, no I^-1."""
    t = s.terms(st)
    p = t.place

    def accelerations(lam: np.ndarray) -> np.ndarray:
        return dynamics.forward_tree(p.loops.skel, p.motion, np.zeros(t.nv), loop_constraints.loop_wrenches(p.loops.skel, p.closure, lam))

    rest = accelerations(np.zeros(t.nc))
    return t.J @ np.array([accelerations(x) - rest for x in np.eye(t.nc)]).T


def apparent_masses(s: Any, st: Any) -> dict[str, tuple[float, float]]:
    """cut joint -> least and largest mass that a force pulling its pin apart feels, by direction: 1/eigenvalues of I_ii."""
    matrix, rows = s.gicm(st).matrix, s.terms(st).rows
    values = {loop.name: np.linalg.eigvalsh(matrix[r, r]) for loop, r in zip(s.tree.loops, rows, strict=True)}
    return {name: (float(1.0 / x[-1]), float(1.0 / x[0])) for name, x in values.items()}


def _blocks(s: Any, st: Any) -> dict[tuple[int, int], tuple[int, ...]]:
    """(i, k) with i >= k, counted from 1 -> subsystems whose share of that block is not zero, by the numbers."""
    m, e = paper_form(s, st), example(s)
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    for i in range(1, len(s.tree.loops) + 1):
        for k in range(1, i + 1):
            shares = [
                j + 1 for j, c in enumerate(e.columns)
                if np.abs(e.block(m.J, i, j + 1) @ np.linalg.solve(m.I[c, c], e.block(m.J, k, j + 1).T)).max() > 1e-12
            ]  # fmt: skip
            if shares:
                found[i, k] = tuple(shares)
    return found


def _gicm(where: str, name: str, s: Any, st: Any, printed: dict[tuple[int, int], tuple[int, ...]], text: str) -> Item:
    view, seen = s.gicm(st), _blocks(s, st)
    listed = {(max(k) + 1, min(k) + 1): tuple(sorted(j + 1 for j in v)) for k, v in view.members.items()}
    off = float(sum(seen.get(k) != printed.get(k) or listed.get(k) != printed.get(k) for k in {*seen, *printed, *listed}))
    off = max(off, float(np.abs(pulled_apart(s, st) - view.matrix).max() / np.abs(view.matrix).max()))
    masses = "; ".join(f"{j} {low:.3f} to {high:.3f} kg" for j, (low, high) in apparent_masses(s, st).items())
    return compared(
        where,
        f"GICM of the {name}: which subsystems make each block, and what it is",
        text,
        f"the same blocks; mass felt at an opened pin, by direction: {masses}",
        off,
        1e-12,
        "a newton at each opened pin of the tree, by the O(n) recursion without I",
        figure=lambda path: _draw_blocks(s, path),
    )


def _draw_blocks(s: Any, path: Path) -> None:
    from linkwright.rings.studio.plots.blocks import gicm

    gicm(s, path)


def scraper_gicm() -> Item:
    blocks = {(1, 1): (1, 2), (2, 1): (2,), (2, 2): (2, 3), (3, 2): (3,), (3, 3): (3,)}
    return _gicm("(30), (31)", "scraper", *scraper(), blocks, "I_11 of 1 + 2, I_21 of 2, I_22 of 2 + 3, I_32 and I_33 of 3; I_31 = 0")


def manipulator_gicm() -> Item:
    blocks = {(1, 1): (1, 2), (2, 1): (1,), (2, 2): (1, 3)}
    return _gicm("(41), (42)", "3-RRR", *manipulator(), blocks, "I_11 of subsystems 1 + 2, I_21 of 1, I_22 of 1 + 3")


@cache
def excavator() -> Any:
    return compile(load("excavator"), cuts=list(EXCAVATOR_CUTS))


def excavator_pattern(step: float = 1e-4) -> tuple[tuple[int, ...], ...]:
    """Loops x subsystems: has J a block there, by difference quotients of the loops' gaps, whatever the library's lists say."""
    s = excavator()
    q = s.start.q
    J = np.array([s.closure(s.state(q + d)).phi - s.closure(s.state(q - d)).phi for d in step * np.eye(len(q))]).T / (2.0 * step)
    spans = {next(name for name in ("link", "boom", "boom_barrel") if name in x.bodies): x.v for x in s.tree.subsystems}
    rows = {loop.name: loop.rows for loop in s.tree.loops}
    return tuple(tuple(int(np.abs(J[rows[c], spans[b]]).max() > 1e-6) for b in ("link", "boom", "boom_barrel")) for c in EXCAVATOR_CUTS)


def excavator_blocks() -> Item:
    s, found = excavator(), excavator_pattern()
    touched = [{j for j, x in enumerate(line) if x} for line in EXCAVATOR]
    names = [loop.name for loop in s.tree.loops]
    members = {tuple(sorted(EXCAVATOR_CUTS.index(names[n]) for n in k)) for k in s.gicm(s.start).members}
    expected = {(i, k) for i in range(4) for k in range(i, 4) if touched[i] & touched[k]}
    off = float(np.abs(np.subtract(found, EXCAVATOR)).sum() + len(members ^ expected))
    zero = [f"I_{k + 1}{i + 1}" for i in range(4) for k in range(i, 4) if (i, k) not in members]
    return compared(
        "(13), Fig. 1",
        "excavator: which blocks of J vanish, and which of its GICM",
        "J_13, J_21, J_23, J_33, J_42 = 0",
        f"J by its difference quotients has the same {sum(map(sum, found))} blocks of 12; of the GICM only {', '.join(zero)} = 0",
        off,
        0.0,
        "number of blocks that differ",
        "dimensions and masses are ours, the paper has none; the pattern does not depend on them",
        figure=lambda path: _draw_blocks(s, path),
    )
