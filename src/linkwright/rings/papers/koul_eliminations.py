"""Appendix A.3 to A.5 of [Koul2013] and its (33)-(35): ways to the multipliers, step by step as they are printed.

All of them run on the library's matrices at the start in the paper's rows and columns, and are held against the whole system (9)
solved at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.api import scalars
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.koul_matrices import example, manipulator, paper_form, scraper
from linkwright.rings.papers.koul_printed import Example, Matrices


def system_approach(m: Matrices) -> np.ndarray:
    """(9), solved at once; its lower unknown is -lambda."""
    n, c = len(m.phi), len(m.Psi)
    return -scalars.solve(np.block([[m.I, m.J.T], [m.J, np.zeros((c, c))]]), np.concatenate([m.phi, m.Psi]))[n:]


def system_level(m: Matrices) -> np.ndarray:
    """(11), (47)."""
    return -scalars.solve(m.J @ scalars.solve(m.I, m.J.T), -m.Psi + m.J @ scalars.solve(m.I, m.phi))


def shares(m: Matrices, e: Example, i: int, k: int) -> dict[int, np.ndarray]:
    """subsystem j -> its share I_j^ik of a block of the GICM (24), counted from 1."""
    pairs = ((j, c) for j, c in enumerate(e.columns, 1))
    return {j: e.block(m.J, i, j) @ scalars.solve(m.I[c, c], e.block(m.J, k, j).T) for j, c in pairs}


def reduced(m: Matrices, e: Example, i: int) -> np.ndarray:
    """Psi-bar_i (24)."""
    return m.Psi[2 * i - 2 : 2 * i] - sum(e.block(m.J, i, j) @ scalars.solve(m.I[c, c], m.phi[c]) for j, c in enumerate(e.columns, 1))


def scraper_subsystems(m: Matrices, e: Example) -> np.ndarray:
    """(31)-(35)."""
    parts = {(i, k): shares(m, e, i, k) for i, k in ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3))}
    I11, I21, I22 = parts[1, 1][1] + parts[1, 1][2], parts[2, 1][2], parts[2, 2][2] + parts[2, 2][3]
    I32, I33 = parts[3, 2][3], parts[3, 3][3]
    Psi1, Psi2, Psi3 = (reduced(m, e, i) for i in (1, 2, 3))
    tilde22, Psi2 = I22 - I21 @ scalars.solve(I11, I21.T), Psi2 - I21 @ scalars.solve(I11, Psi1)
    tilde33, Psi3 = I33 - I32 @ scalars.solve(tilde22, I32.T), Psi3 - I32 @ scalars.solve(tilde22, Psi2)
    lam3 = scalars.solve(tilde33, Psi3)
    lam2 = scalars.solve(tilde22, Psi2 - I32.T @ lam3)
    lam1 = scalars.solve(I11, Psi1 - I21.T @ lam2)
    return np.concatenate([lam1, lam2, lam3])


def manipulator_subsystems(m: Matrices, e: Example) -> np.ndarray:
    """A.4: (48)-(51), the same as (44), (45)."""
    first, second = shares(m, e, 1, 1), shares(m, e, 2, 2)
    I11, I21, I22 = first[1] + first[2], shares(m, e, 2, 1)[1], second[1] + second[3]
    Psi1, Psi2 = reduced(m, e, 1), reduced(m, e, 2)
    lam2 = scalars.solve(I22 - I21 @ scalars.solve(I11, I21.T), Psi2 - I21 @ scalars.solve(I11, Psi1))
    return np.concatenate([scalars.solve(I11, Psi1 - I21.T @ lam2), lam2])


def eliminated(m: Matrices, e: Example) -> tuple[np.ndarray, np.ndarray]:
    """A.5: (52) turned into the upper block triangle (53), subsystem by subsystem and loop by loop: matrix and right side."""
    n, c = len(m.phi), len(m.Psi)
    K = np.block([[m.I, m.J.T], [m.J, np.zeros((c, c))]])
    right = np.concatenate([m.phi, m.Psi])
    for span in (*e.columns, *(slice(n + 2 * i, n + 2 * i + 2) for i in range(c // 2 - 1))):
        below = slice(span.stop, n + c)
        factor = K[below, span] @ np.linalg.inv(K[span, span])
        K[below] -= factor @ K[span]
        right[below] -= factor @ right[span]
    return K, right


def manipulator_whole(m: Matrices, e: Example, *, corrected: bool) -> np.ndarray:
    """A.5: (54), (55); `corrected`: I_1^21 where (54) has I_1^12."""
    one, two, across = shares(m, e, 1, 1), shares(m, e, 2, 2), shares(m, e, 2, 1)[1]
    I11, I22 = one[1] + one[2], two[1] + two[3]
    Psi1 = reduced(m, e, 1)
    Psi2 = reduced(m, e, 2) - across @ scalars.solve(I11, Psi1)
    lam2 = scalars.solve(I22 - (across if corrected else across.T) @ scalars.solve(I11, across.T), Psi2)
    return np.concatenate([scalars.solve(I11, Psi1 - across.T @ lam2), lam2])


def _off(found: np.ndarray, m: Matrices) -> float:
    wanted = system_approach(m)
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def _both() -> list[tuple[Any, Matrices, Example]]:
    return [(s, paper_form(s, st), example(s)) for s, st in (scraper(), manipulator())]


# -------------------------------------------------------------------- items


def both_eliminations() -> Item:
    """The library's own formulations, then the paper's steps."""
    worst = 0.0
    for s, st in (scraper(), manipulator()):
        lam = {name: s.forward(st, formulation=name).lam for name in ("kkt", "slm", "sslm")}
        for loop, x in lam["kkt"].items():
            worst = max(worst, *(float(np.abs(lam[name][loop] - x).max() / (1.0 + np.abs(x).max())) for name in ("slm", "sslm")))
    return compared(
        "(9), (11), (24)",
        "three ways to the multipliers: all equations, system level, subsystem level",
        "the same multipliers",
        f"the same to {worst:.1e}",
        worst,
        1e-11,
        "kkt",
    )


def system_level_elimination() -> Item:
    off = max(_off(system_level(m), m) for _, m, _ in _both())
    return compared(
        "A.3, (46), (47)",
        "block elimination of the whole system (9)",
        "lambda = -(J I^-1 J')^-1 (J-dot q-dot + J I^-1 phi)",
        f"the same multipliers to {off:.1e}, both examples",
        off,
        1e-11,
        "(9) solved at once",
        "(9) has lost the dot of J-dot q-dot",
    )


def subsystem_elimination() -> Item:
    (_, ms, es), (_, mm, em) = _both()
    found = scraper_subsystems(ms, es), manipulator_subsystems(mm, em)
    off = max(_off(found[0], ms), _off(found[1], mm))
    return compared(
        "A.4, (33)-(35), (48)-(51)",
        "block elimination of the GICM by subsystems and loops, no matrix of system size inverted",
        "(33)-(35) of the scraper, (50), (51) of the 3-RRR",
        "scraper (" + ", ".join(f"{x:.3f}" for x in found[0]) + ") N, 3-RRR (" + ", ".join(f"{x:.4f}" for x in found[1]) + ") N",
        off,
        1e-11,
        "(9) solved at once",
        "I-tilde_32 of (34) is I-bar_32",
    )


def whole_elimination() -> Item:
    _, (_, m, e) = _both()
    K, right = eliminated(m, e)
    lower = -np.concatenate([scalars.solve(K[7:9, 7:9], right[7:9] - K[7:9, 9:] @ (x := scalars.solve(K[9:, 9:], right[9:]))), x])
    worst = max(_off(lower, m), _off(manipulator_whole(m, e, corrected=True), m))
    printed = manipulator_whole(m, e, corrected=False)
    size = float(np.abs(printed - system_approach(m)).max())
    return Item(
        "A.5, (52)-(55)",
        "block elimination of the subsystem form of (9), 3-RRR",
        "(54), (55) the same as (50), (51)",
        f"(52) eliminated, and (54) with I_1^21 for I_1^12, give the same to {worst:.0e}; (54) as printed is off by {size:.3f} N",
        "differs",
        size,
        1e-11,
        "(9) solved at once",
        "(54) prints I_1^12 where the Schur complement has I_1^21; bars are missing after (53), and (52) has Psi-tilde for Psi in one copy",
    )
