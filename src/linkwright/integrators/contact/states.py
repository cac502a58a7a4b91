"""States of contacts at one instant: which of them open, stick or slip, and whether that is the only answer.

A planar block is open, sticks, or slips one of two ways; a one-sided block is open or closed; friction of a given bound sticks, is idle
because others hold it, or slips one of two ways. Up to `MOST_TRIED` combinations are solved
and counted: none or several that move differently are Painleve's paradox, in which Coulomb's law and rigid bodies contradict each other.
Where rows of what rests depend on each other (a flat side that sticks), they share the load so that every one has the same part of its
cone, as far as that is possible. Beyond that, in space, where a block may slip any way, and for four feet of a table, the ladder finds one
answer, whose forces may be shared otherwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from linkwright.integrators.contact.problem import FRICTION, ONE_SIDED, PLANAR, ROWS, SPATIAL
from linkwright.integrators.contact.solver import ContactSolver
from linkwright.numerics.linalg import factor

OPEN, STICK, SLIP = 0, 1, 2
MOST_TRIED = 256  # combinations: four planar contacts
FITS = 1e-10  # of the largest force and of the largest free rate: a state may fail its conditions by that much
SINGULAR = 1e-11  # determinant of a combination over that of rows of its size at right angles
CREEPING = 1e-6  # of the largest free rate: what slips more slowly may be at rest
POLISHED = 1e-15  # tolerance of the ladder where slips are slow
ROOM = (0.5, 0.7, 0.85, 0.95, 0.99, 0.999)  # of the cones, tried in turn
MOST_PROJECTIONS = 200  # onto what holds and into the cones
CREEPS = 1e-12  # of the slip speed: an approach that is none
EVEN = 1e-9  # of the largest singular value: directions below it move nothing
LEAST_CONE = 1e-6  # of the largest effort: cones below it weigh no less
SAME = 1e-8  # of the largest rate: answers that differ by less are one motion


@dataclass(frozen=True)
class StatesFound:
    """Efforts p and rates u = W p + b, the state of every block and the way in which it slips, a unit vector along its tangents (empty:
    it does not), and how many answers move differently: 0 none, 1, or more; `shared`: efforts are not unique."""

    p: np.ndarray
    u: np.ndarray
    states: tuple[int, ...]
    ways: tuple[tuple[float, ...], ...]
    answers: int
    residual: float = 0.0
    stage: int = 0  # of the ladder
    shared: bool = False


def states(kinds: Sequence[int], W: np.ndarray, b: np.ndarray, mu: np.ndarray) -> StatesFound:
    """Find the states of contacts; of several answers the first, in which the most stick.

    W need not be symmetric: the efforts of contacts that slip already act along n - mu s t.
    """
    if not len(kinds):
        return StatesFound(np.zeros(0), np.zeros(0), (), (), 1)
    fitting = [] if SPATIAL in kinds else _fitting(tuple(kinds), W, b, mu)
    if fitting:
        several = _apart(fitting, W, b)
        p, code = several[0]
        found = tuple((OPEN, STICK, SLIP, SLIP)[c] for c in code)
        ways = tuple(((), (), (-1.0,), (1.0,))[c] for c in code)
        other = len(fitting) > len(several) and _differ(fitting, several)
        other = other or (PLANAR in kinds and bool((code <= 1).all()) and shared(kinds, W, p))
        return StatesFound(p, W @ p + b, found, ways, len(several), shared=other)
    symmetric = bool(np.abs(W - W.T).max() <= FITS * np.abs(W).max())
    solver = ContactSolver(kinds)
    found = solver.solve(W, b, mu, symmetric=symmetric)
    if found.solved and SPATIAL in kinds:
        slides = _sliding(kinds, found.p, found.u)
        if 0.0 < slides <= CREEPING * max(float(np.abs(b).max()), 1e-300):  # the residual has the product of that and its direction
            again = solver.solve(W, b, mu, found.p, symmetric=symmetric, tolerance=POLISHED)
            found = replace(again, solved=True) if again.residual <= found.residual else found
    if not found.solved:
        return StatesFound(found.p, found.u, *_named(kinds, found.p, found.u, b), 0, found.residual, found.stage)
    return StatesFound(found.p, found.u, *_named(kinds, found.p, found.u, b), 1, found.residual, found.stage, shared(kinds, W, found.p))


def _sliding(kinds: Sequence[int], p: np.ndarray, u: np.ndarray) -> float:
    """The largest tangential rate of blocks in space that push."""
    first, size = np.cumsum([0, *(ROWS[k] for k in kinds)]), float(np.abs(p).max(initial=0.0))
    rates = [float(np.linalg.norm(u[i + 1 : i + 3])) for i, k in zip(first, kinds, strict=False) if k == SPATIAL and p[i] > FITS * size]
    return max(rates, default=0.0)


def centered(kinds: Sequence[int], W: np.ndarray, b: np.ndarray, mu: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Efforts that move the same, of blocks that all rest and share their load: near those of least size, with as much room to the cones as
    can be had at once. Those given where there is none."""
    first, rates = np.cumsum([0, *(ROWS[k] for k in kinds)]), max(float(np.abs(b).max()), 1e-300)
    closed = [r for i, k in enumerate(first[:-1]) if p[k] > 0.0 for r in range(k, first[i + 1])]
    if np.abs((W @ p + b)[closed]).max(initial=0.0) > FITS * rates:
        return p
    own = W[np.ix_(closed, closed)]
    size = np.sqrt(np.maximum(np.diag(own), 1e-300))
    back = factor(own / size / size[:, None], 0.0, thin=True)
    back = back.at_most(int(np.count_nonzero(back.s > FITS * back.s.max(initial=0.0))))

    def onto(x: np.ndarray) -> np.ndarray:
        """The nearest efforts that hold all closed rows."""
        out = x.copy()
        out[closed] -= back.solve(((W @ x + b)[closed]) / size) / size
        return out

    start = onto(np.zeros(len(b)))
    for share in ROOM:
        x = start
        for _ in range(MOST_PROJECTIONS):
            near = _into_cones(first, share * mu, x)
            if np.abs(near - x).max() <= FITS * np.abs(x).max():
                return onto(near)
            x = onto(near)
    return p


def _into_cones(first: np.ndarray, mu: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The nearest efforts in the cones of all blocks."""
    out = p.copy()
    for i, (k, end) in enumerate(itertools.pairwise(first)):
        n, t = float(p[k]), float(np.linalg.norm(p[k + 1 : end]))
        if t <= mu[i] * n:
            continue
        if mu[i] * t <= -n:
            out[k:end] = 0.0
        else:
            out[k] = (n + mu[i] * t) / (1.0 + mu[i] ** 2)
            out[k + 1 : end] *= mu[i] * out[k] / max(t, 1e-300)
    return out


def jamming(kind: int, W: np.ndarray, b: np.ndarray, mu: np.ndarray) -> np.ndarray | None:
    """Return an impulse other than zero that fits a block which does not approach: the impact without collision that ends Painleve's
    paradox; the largest of several, None where there is none. In space it is the limit of an approach that is ever slower."""
    if kind == SPATIAL:
        slowly = b - np.array([CREEPS * float(np.linalg.norm(b)), 0.0, 0.0])
        found = ContactSolver([kind]).solve(W, slowly, mu)
        return found.p if found.solved and found.p[0] * W[0, 0] > np.sqrt(CREEPS) * float(np.linalg.norm(b)) else None
    fitting = [p for p, _ in _fitting((kind,), W, b, mu)]
    found = max(fitting, key=lambda p: float(np.abs(p).max()), default=None)
    return None if found is None or not np.abs(found).max() > 0.0 else found


def shared(kinds: Sequence[int], W: np.ndarray, p: np.ndarray) -> bool:
    """Return True if the efforts of the blocks that push may change without any rate."""
    first = np.cumsum([0, *(ROWS[k] for k in kinds)])
    size = float(np.abs(p).max(initial=0.0))
    pushes = [i for i, k in enumerate(kinds) if k != FRICTION and p[first[i]] > FITS * size]
    rows = [r for i in pushes for r in range(first[i], first[i + 1])]
    if len(rows) < 2:
        return False
    own = W[np.ix_(rows, rows)]
    scale = np.sqrt(np.maximum(np.diag(own), 1e-300))
    return bool(np.linalg.matrix_rank(own / scale / scale[:, None], tol=1e-9) < len(rows))


CODES = {PLANAR: (1, 2, 3, 0), ONE_SIDED: (1, 0), FRICTION: (1, 0, 2, 3)}


@cache
def combinations(kinds: tuple[int, ...], most: int) -> np.ndarray:
    """(combinations, blocks): 0 open or idle, 1 closed or sticking, 2 and 3 slipping back and forth; what sticks comes first. None where
    there are more than `most`."""
    if np.prod([len(CODES[k]) for k in kinds]) > most:
        return np.zeros((0, len(kinds)), dtype=int)
    return np.array(list(itertools.product(*(CODES[k] for k in kinds))))


def _fitting(kinds: tuple[int, ...], W: np.ndarray, b: np.ndarray, mu: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Efforts and codes of all combinations that fit: of those whose rows are independent, and of those in which nothing slips."""
    every, n = combinations(kinds, MOST_TRIED), len(b)
    if not len(every):
        return []
    first = np.cumsum([0, *(ROWS[k] for k in kinds)])
    K, right = np.zeros((len(every), n, n)), np.zeros((len(every), n))
    for i, kind in enumerate(kinds):
        k, code = int(first[i]), every[:, i]
        closed = code > 0
        K[closed, k], right[closed, k] = W[k], -b[k]
        K[~closed, k, k] = 1.0
        if kind == FRICTION:
            K[code > 1, k], right[code > 1, k] = np.eye(n)[k], np.where(code[code > 1] == 2, mu[i], -mu[i])
        if kind != PLANAR:
            continue
        sticks = code == 1
        K[sticks, k + 1], right[sticks, k + 1] = W[k + 1], -b[k + 1]
        K[~sticks, k + 1, k + 1] = 1.0
        K[code == 2, k + 1, k] = -mu[i]  # pushes forward, so it slips back
        K[code == 3, k + 1, k] = mu[i]
    lengths = np.linalg.norm(K, axis=2, keepdims=True)
    with np.errstate(all="ignore"):
        scaled = K / lengths
        firm = np.abs(np.linalg.det(scaled)) > SINGULAR
    firm &= np.isfinite(lengths).all(axis=(1, 2)) & (lengths > 0.0).all(axis=(1, 2))
    p = np.full((len(every), n), np.nan)
    p[firm] = np.linalg.solve(scaled[firm], (right[firm] / lengths[firm][..., 0])[..., None])[..., 0]
    rates = max(float(np.abs(b).max()), 1e-300)
    rests = PLANAR in kinds and ~firm & (every <= 1).all(axis=1) & (every > 0).any(axis=1)
    for i in np.flatnonzero(rests):
        p[i] = _evenly(kinds, every[i], W, b, mu, rates)
    solved = np.isfinite(p).all(axis=1)
    p, code = p[solved], every[solved]
    good = fits(kinds, code, p, p @ W.T + b, mu, rates, range(len(kinds)))
    return list(zip(p[good], code[good], strict=True))


def _evenly(kinds: tuple[int, ...], code: np.ndarray, W: np.ndarray, b: np.ndarray, mu: np.ndarray, rates: float) -> np.ndarray:
    """Efforts of blocks that rest on rows which depend on each other: least ones, tangents weighed by their cones. nan: none."""
    first = np.cumsum([0, *(ROWS[k] for k in kinds)])
    rows = [r for i in np.flatnonzero(code) for r in range(first[i], first[i + 1])]
    A, p, weights = W[np.ix_(rows, rows)], np.zeros(len(b)), np.ones(len(b))
    for _ in range(2):  # the first finds what the cones are
        d = weights[rows]
        p[rows] = d * np.linalg.lstsq(A * d, -b[rows], rcond=EVEN)[0]
        if not np.abs(A @ p[rows] + b[rows]).max() <= FITS * rates:
            return np.full(len(b), np.nan)
        largest = max(float(np.abs(p).max()), 1e-300)
        for i in (k for k in np.flatnonzero(code) if kinds[k] == PLANAR):
            weights[first[i] + 1] = np.sqrt(max(mu[i] * p[first[i]] / largest, LEAST_CONE))
    return p


def fits(
    kinds: Sequence[int], code: np.ndarray, p: np.ndarray, u: np.ndarray, mu: np.ndarray, rates: float, which: Sequence[int]
) -> np.ndarray:
    """Mask of the combinations in which efforts and rates have the signs and bounds of their states, in some of the blocks."""
    first = np.cumsum([0, *(ROWS[k] for k in kinds)])
    efforts, good = np.abs(p).max(axis=1) + 1e-300, np.array(np.isfinite(p).all(axis=1))
    for i in which:
        k, states_of = int(first[i]), [code[:, i] == c for c in range(4)]
        if kinds[i] == FRICTION:
            bound, rate = np.abs(p[:, k]) <= mu[i] + FITS * efforts, u[:, k]
            good &= np.select(states_of, [np.abs(rate) <= FITS * rates, bound, rate <= FITS * rates, rate >= -FITS * rates], False)
            continue
        good &= np.where(code[:, i] == 0, u[:, k] >= -FITS * rates, p[:, k] >= -FITS * efforts)
        if kinds[i] == PLANAR:
            cone = np.abs(p[:, k + 1]) <= mu[i] * p[:, k] + FITS * efforts
            slip = u[:, k + 1]
            good &= np.select(states_of[1:], [cone, slip <= FITS * rates, slip >= -FITS * rates], True)
    return good


def _apart(fitting: Sequence[tuple[np.ndarray, np.ndarray]], W: np.ndarray, b: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of answers those that move differently."""
    size = max(float(np.abs(b).max()), 1e-300)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for p, code in fitting:
        if not any(np.abs(W @ (p - other)).max() <= SAME * size for other, _ in kept):
            kept.append((p, code))
    return kept


def _differ(fitting: Sequence[tuple[np.ndarray, np.ndarray]], several: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """True if some answers move alike with different efforts."""
    size = max(float(np.abs(p).max()) for p, _ in fitting) + 1e-300
    return any(min(float(np.abs(p - q).max()) for q, _ in several) > SAME * size for p, _ in fitting)


def _named(
    kinds: Sequence[int], p: np.ndarray, u: np.ndarray, b: np.ndarray
) -> tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]:
    """State of every block and the way in which it slips, from its efforts and rates."""
    pushes, rates = max(float(np.abs(p).max()), 1e-300), max(float(np.abs(b).max()), 1e-300)
    found, ways, k = [], [], 0
    for kind in kinds:
        slides = u[k : k + 1] if kind == FRICTION else u[k + 1 : k + ROWS[kind]]
        speed, way = float(np.linalg.norm(slides)), ()
        if kind != FRICTION and p[k] <= FITS * pushes and u[k] > FITS * rates:
            state = OPEN
        elif speed > FITS * rates:
            pushed = p[k : k + 1] if kind == FRICTION else p[k + 1 : k + ROWS[kind]]
            size = float(np.linalg.norm(pushed))  # the way by its force: a slow slip has its direction from small differences
            state, way = SLIP, tuple(float(x) for x in (-pushed / size if size > FITS * pushes else slides / speed))
        else:
            state = STICK
        found.append(state)
        ways.append(way)
        k += ROWS[kind]
    return tuple(found), tuple(ways)


def least_paradox(W_nn: float, W_nt: float, sense: float) -> float:
    """Return the friction from which a contact that slips in that sense has no answer of its own: W_nn = mu s W_nt; infinity if none."""
    return W_nn / (sense * W_nt) if sense * W_nt > 0.0 else np.inf
