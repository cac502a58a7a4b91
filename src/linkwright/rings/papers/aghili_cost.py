"""Cost of Aghili's equations in operations on full matrices: the three constraint inertia matrices, inversions, and Baumgarte's terms.

All matrices are counted as full, as the paper's MATLAB program handled them. Every inversion is an elimination of that size with one
division a pivot, so divisions count the inversions with their sizes. The pseudo-inverse is A'(A A')^-1, which holds where A
has full rank; a singular value decomposition takes several times that.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import compile, equation_terms, formulations, linalg, load, scalars, stabilizers
from linkwright.mechanics.formulations.forward import forward
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.chain_cost import without_structure
from linkwright.rings.papers.operation_counts import Counts, Tally, run, values, variables

SIZES = {"slider-crank": (2, 1), "carpet scraper": (7, 6), "random": (12, 5)}  # coordinates, constraints
KINDS = {"skew": "M_c", "symmetric": "M_c'", "scaled": "M_c''"}


class BareMatrices(NamedTuple):
    """A problem of bare matrices."""

    M: np.ndarray
    A: np.ndarray
    f: np.ndarray  # less h
    k: np.ndarray  # (dA/dt) q'


def numbers(n: int, m: int) -> BareMatrices:
    rng = np.random.default_rng(7)
    root = rng.normal(size=(n, n))
    return BareMatrices(root @ root.T + np.eye(n), rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m))


# -------------------------------------------------------------------- equations over any scalar


def matrix(kind: str, M: Any, P: Any, gamma: Any) -> Any:
    """The constraint inertia matrix as printed, (23), (28), (29)."""
    if kind == "skew":
        PM = P @ M
        return M + PM - PM.T
    Q = np.eye(len(M)) - P
    return P @ M @ P + Q @ M @ Q if kind == "symmetric" else P @ M + gamma * Q


def symmetric_by_two_products(M: Any, P: Any) -> Any:
    """M_c' = M - P M - (P M)' + 2 P M P."""
    PM = P @ M
    PMP = PM @ P
    return M - PM - PM.T + PMP + PMP


def bias(kind: str, M: Any, P: Any, gamma: Any, across: Any) -> Any:
    """C_c q' as printed, from C q'."""
    if kind == "scaled":
        return gamma * across
    Mc = M @ across
    if kind == "skew":
        return Mc
    reflected = P @ Mc
    return Mc - reflected - reflected


def solved(kind: str, Mc: Any, right: Any) -> Any:
    """M_c x = right; only M_c' is symmetric and needs half of the elimination."""
    return linalg.ldl(Mc, tolerance=0.0).solve(right) if kind == "symmetric" else scalars.eliminate(Mc, right)[0]


def projection(kind: str, M: Any, P: Any, across: Any, f: Any, gamma: Any) -> Any:
    """(25) where P and C q' are known."""
    return solved(kind, matrix(kind, M, P, gamma), P @ f + bias(kind, M, P, gamma, across))


def projector_by_rows(A: Any, k: Any) -> tuple[Any, Any]:
    """(P, C q') = (1 - A^+ A, -A^+ k) with A^+ = A'(A A')^-1."""
    F = linalg.ldl(A @ A.T, tolerance=0.0)
    return np.eye(A.shape[1]) - A.T @ F.solve(A), -(A.T @ F.solve(k))


# -------------------------------------------------------------------- counts


def counted(function: Callable[..., Any], *arrays: Any) -> Counts:
    return run(function, *arrays).counts


def forming(kind: str, n: int, m: int) -> tuple[Counts, Counts]:
    """Operations of the matrix, and of C_c q'."""
    x = numbers(n, m)
    P, across = projector_by_rows(x.A, x.k)
    return (
        counted(lambda M, P, g: matrix(kind, M, P, g[0]), x.M, P, [2.0]),
        counted(lambda M, P, g, c: bias(kind, M, P, g[0], c), x.M, P, [2.0], across),
    )


def standard(n: int, m: int) -> Counts:
    """Operations of (78), (79): M and the constraints' mobility eliminated one after the other, `slm` on full matrices."""
    x, tally = numbers(n, m), Tally()
    terms = without_structure(equation_terms.of_matrices(x.M, np.zeros(n), x.A, x.k), tally)
    formulations.create("slm")(terms, variables(x.f, tally))
    return tally.counts()


def whole(kind: str, n: int, m: int, *, from_constraints: bool) -> Counts:
    """Operations of (25) for given P and C q', or from A and (dA/dt) q' on; the acceleration must be that of kkt."""
    x = numbers(n, m)

    def equations(M: Any, A: Any, k: Any, f: Any, g: Any) -> Any:
        return projection(kind, M, *projector_by_rows(A, k), f, g[0])

    done = run(equations, x.M, x.A, x.k, x.f, [2.0])
    exact = forward(equation_terms.of_matrices(x.M, np.zeros(n), x.A, x.k), x.f, "kkt").a
    if not np.abs(values(done.result) - exact).max() < 1e-9 * (1.0 + np.abs(exact).max()):
        raise ArithmeticError(f"(25) with {KINDS[kind]} does not give the acceleration of the full equations")
    return done.counts if from_constraints else done.counts - counted(projector_by_rows, x.A, x.k)


# -------------------------------------------------------------------- items


def multiplications() -> Item:
    off, said = 0.0, []
    for name, (n, m) in SIZES.items():
        found = {kind: forming(kind, n, m)[0] for kind in KINDS}
        off = max(off, abs((found["symmetric"].mul - found["skew"].mul) / n**3 - 3.0))
        x = numbers(n, m)
        two = counted(symmetric_by_two_products, x.M, projector_by_rows(x.A, x.k)[0]).total
        said.append(f"{name} {', '.join(str(c.total) for c in found.values())} (M_c' by two products {two})")
    return compared(
        "Sec. V-A.3",
        "operations that form M_c, M_c', M_c''",
        "M_c' takes three more multiplications of matrices than M_c",
        "; ".join(said),
        off,
        0.0,
        "multiplications of numbers, in n^3",
        "as printed; M - P M - (P M)' + 2 P M P is M_c' with one product more than M_c",
    )


def least_effort() -> Item:
    """Matrix and C_c q' together: the matrix alone is not what saves."""
    wrong, said = 0, []
    for name, (n, m) in SIZES.items():
        totals = {kind: sum(c.total for c in forming(kind, n, m)) for kind in KINDS}
        ready = {kind: whole(kind, n, m, from_constraints=False).total for kind in KINDS}
        wrong += totals["scaled"] >= min(totals["skew"], totals["symmetric"])
        said.append(f"{name} {', '.join(map(str, totals.values()))}, solved {', '.join(map(str, ready.values()))}")
    more = forming("scaled", 7, 6)[0].total - forming("skew", 7, 6)[0].total
    return compared(
        "Sec. V-A.3",
        "operations of the matrix with its C_c q' for M_c, M_c', M_c'', and of q'' from P and C q'",
        "M_c'' needs less effort than the others",
        "; ".join(said),
        wrong,
        0,
        "the least of the three at every size",
        f"the matrix M_c'' alone takes {more} operations more than M_c on the scraper; it saves the product M C q'. gamma is given: "
        "the norm of M would cost more than that",
    )


def inversions() -> Item:
    off, said = 0, []
    for name, (n, m) in SIZES.items():
        two_steps, given, all_of_it = (
            standard(n, m),
            whole("scaled", n, m, from_constraints=False),
            whole("scaled", n, m, from_constraints=True),
        )
        off += abs(two_steps.div - given.div - m) + abs(all_of_it.div - two_steps.div)
        said.append(
            f"{name} {two_steps.div} and {given.div} divisions, {two_steps.total} and {given.total} operations, {all_of_it.total} with A^+"
        )
    return compared(
        "(25), App. II",
        "inversions of (25) with M_c'' against (78), (79)",
        "one inversion, one less than in the standard method",
        "; ".join(said),
        off,
        0,
        "n + m divisions against n",
        "P needs A^+, an inversion as large as the one that is saved: from A on both take n + m divisions",
    )


def baumgarte_slows() -> Item:
    """The same run by a method with error control, without and with the terms; what is compared are evaluations of the equations."""
    s = compile(load("carpet-scraper"), cuts=["J8", "J9", "J10"])
    st = s.assemble(q={"J1": 0.0}, v={"J1": 4.7124})

    def evaluations(keep: Any) -> int:
        found = s.simulate(st, 1.0, integrator="dopri5", tolerance=1e-6, stabilizer=keep).certificate
        assert found is not None  # every run has one
        return found.evaluations

    plain = evaluations("none")
    found = {omega: evaluations(stabilizers.Baumgarte(1.0, omega)) for omega in (10.0, 100.0, 1000.0, 10000.0)}
    growth = [b / a for a, b in pairwise([plain, *found.values()])]
    return compared(
        "Sec. VI",
        "what Baumgarte's terms cost a run with error control: the scraper, 1 s, tolerance 1e-6",
        "very fast dynamics, which tends to slow down the simulation",
        f"{plain} evaluations without; " + ", ".join(f"{n} with omega0 = {omega:g}/s" for omega, n in found.items()),
        1.0 / min(growth),
        1.0,
        "evaluations must grow with omega0: the largest ratio of a run to the next",
        "steps become proportional to 1/omega0; at 10/s the terms cost a fifth",
    )
