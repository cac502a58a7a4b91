"""Post-adjusting: after a step only the dependent coordinates are moved toward the loops  [Hoang2023 (26)-(34)].

With q* and v* as integrated, d the dependent entries and phi, J with the rows of all loops, the adjusted state minimizes

    1/2 (q - q*)_d' M (q - q*)_d + 1/2 phi' A phi              (27), with the factor 1/2 that (28) needs
    1/2 (v - v*)_d' M (v - v*)_d + 1/2 (J v + b)' A (J v + b)  (31), at the adjusted position

Positions by Gauss-Newton steps from q*, H dq = -h with h of (28) and H = M + J_d' A J_d of (29); the velocity by (34), here
as a step from v*. Each residual is a fraction of what it was, about M / (A s^2) for a singular value s of J_d, not zero; where
J_d loses rank M keeps H regular and nothing moves along the lost direction. q* stays in the equations through all steps: to
begin again from the adjusted state, or to let A grow, closes the loops further, but carries the whole error of a row that the
dependent coordinates hardly influence into them, and the motion is lost there. So this is a penalty and no Newton step onto the loops,
and it is traced: `mechanics.closing.newton` does not serve it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError, call_explained, counted
from linkwright.kernels.equations.kinematic import KinematicEquations, largest
from linkwright.mechanics.constraints.loops import Loops
from linkwright.numerics.linalg import ldl
from linkwright.numerics.tolerances import ROUND_OFF
from linkwright.simulation.stabilizers.base import LAW, Correction, Inputs, Occasional, step_kernel
from linkwright.simulation.stabilizers.dependent import chosen, difference, moved, named, velocity_names
from linkwright.topology.elimination import eliminate

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels

MASS, PENALTY = 0.1, 100.0  # M and A of [Hoang2023 sec. 5.2], here of dimensionless coordinates and rows
STEPS = 2  # of Gauss-Newton: after a time step the first brings h to round-off; the second is for rough starts


@dataclass(frozen=True)
class Weights:
    """Weights of the adjusted coordinates, in SI."""

    dependent: tuple[int, ...]  # entries of v
    M: np.ndarray  # of the dependent coordinates, (n, n)
    A: np.ndarray  # of the rows, (rows,)
    M_velocity: np.ndarray
    A_velocity: np.ndarray
    position: bool = True
    velocity: bool = True
    steps: int = STEPS
    order: tuple[int, ...] = ()  # of elimination of the dependent coordinates

    @property
    def key(self) -> list[Any]:
        """As JSON."""
        parts = (self.M, self.A, self.M_velocity, self.A_velocity)
        return [list(self.dependent), *(x.tolist() for x in parts), self.position, self.velocity, self.steps, list(self.order)]


# -------------------------------------------------------------------- mathematics, over any scalar


def adjust(eq: KinematicEquations, q: Any, v: Any, t: Any, near: Any, w: Weights) -> dict[str, Any]:
    """The whole adjustment of one state. `residual` is what is left of the loops' gap; `rate_residual` the gap of the velocity
    that was found, `correction` the size of the change of position; all dimensionless."""
    loops, d, before = eq.loops, list(w.dependent), q
    skel, rows = loops.skel, loops.row_scale

    def step(J: Any, M: Any, A: Any, pull: Any, gap: Any) -> Any:
        """-H^-1 (pull + J_d' A gap) in the space of v. H is positive definite: any order of elimination will do."""
        B, root = np.sqrt(A)[:, None] * J[:, d], np.sqrt(A)
        H, h = M + B.T @ B, pull + B.T @ (root * gap)
        order = list(w.order) or list(range(len(d)))
        out = np.zeros(skel.tree.nv, dtype=H.dtype)
        out[[d[i] for i in order]] = -ldl(H[np.ix_(order, order)], tolerance=0.0).solve(h[order])
        return out

    for i in range(w.steps if w.position else 0):
        c = loops.at(q, v, t[0], eq.loops.skel.unpack(q, near))
        pull = w.M @ difference(skel, q, before)[d] if i else np.zeros(len(d))
        q = moved(skel, q, step(c.J, w.M, w.A, pull, c.phi))
    c = loops.at(q, v, t[0], eq.loops.skel.unpack(q, near))
    gap = c.J @ v + c.b
    if w.velocity:
        v = v + step(c.J, w.M_velocity, w.A_velocity, np.zeros(len(d)), gap)
    return {
        "q": q,
        "v": v,
        "residual": np.array([largest(c.phi / rows)]),
        "rate_residual": np.array([largest(gap / rows)]),
        "correction": np.array([largest(difference(skel, q, before) / loops.columns)]) if w.position else np.zeros(1),
    }


def adjust_kernel(kernels: Kernels, w: Weights, gains: bool = False) -> Kernel:
    """The adjustment compiled, reading the row of a time stepper (with two gains in it where the rates have them)."""
    return step_kernel(kernels, "adjust", lambda eq, q, v, t, near: adjust(eq, q, v, t, near, w), w.key, gains)


def least_fill(loops: Loops, q: Any, near: Any, w: Weights) -> tuple[int, ...]:
    """An order in which eliminating H creates few entries: minimum degree, coordinates of one row being coupled."""
    n = len(w.dependent)
    J = loops.at(q, np.zeros(loops.skel.tree.nv), 0.0, near).J[:, list(w.dependent)]
    cliques = [np.flatnonzero(np.abs(row) > ROUND_OFF).tolist() for row in J / loops.row_scale[:, None]]
    if any(np.count_nonzero(M) > n for M in (w.M, w.M_velocity)):
        cliques.append(list(range(n)))
    return tuple(eliminate(cliques, [1] * n)[0])


# -------------------------------------------------------------------- the stabilizer


@dataclass(frozen=True)
class PostAdjust(Occasional):
    """Adjust dependent coordinates after a step.

    `dependent`: coordinates ("P.x") or joints ("P"). By default all except the driven joints, without drives as many as J has
    rank, chosen at the start. `M` weighs their change (a number, one for each, or a matrix), `A` the gap of the rows (a number, or
    one for each), both in SI; default 0.1 and 100 of dimensionless coordinates and rows. `M_velocity`, `A_velocity` of the velocity
    (default: M and A). `position`, `velocity`: what is adjusted. `every` n steps, and only if loops are open by more than `above`:
    step 3 of the paper's algorithm, which ends before it begins where the error is small.
    """

    dependent: Sequence[str] | None = None
    M: Any = None
    A: Any = None
    position: bool = True
    velocity: bool = True
    M_velocity: Any = None
    A_velocity: Any = None
    steps: int = STEPS

    name = "post_adjust"
    gains = None
    corrects = "adjust"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.dependent, str):
            object.__setattr__(self, "dependent", (self.dependent,))
        elif self.dependent is not None:
            object.__setattr__(self, "dependent", tuple(self.dependent))
        for key in ("M", "A", "M_velocity", "A_velocity"):  # as tuples of numbers: frozen objects compare and hash
            value = getattr(self, key)
            object.__setattr__(self, key, None if value is None else _frozen(key, value))
        if not (self.position or self.velocity):
            raise UsageError("post-adjusting needs positions or velocities to adjust. 'none' does nothing.", name="adjust")
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or self.steps < 1:
            raise UsageError(f"post-adjusting takes one or more Gauss-Newton steps, not {self.steps!r}.", value=self.steps, name="steps")

    @property
    def closes(self) -> bool:
        return self.each_step and self.position and self.velocity

    @property
    def settings(self) -> dict[str, Any]:
        given = {k: getattr(self, k) for k in ("dependent", "M", "A", "M_velocity", "A_velocity") if getattr(self, k) is not None}
        how = {"position": self.position, "velocity": self.velocity, "steps": self.steps}
        return {"stabilizer": self.name, **given, **how, **self.occasions}

    @property
    def text(self) -> str:
        what = " and ".join(k for k in ("position", "velocity") if getattr(self, k))
        which = ", ".join(self.dependent) if self.dependent is not None else "dependent coordinates"
        return f"post-adjusting {what} of {which}" + ("" if self.each_step else f" {self.when}")

    def weights(self, loops: Loops, dependent: tuple[int, ...]) -> Weights:
        """The weights of a mechanism's rows and dependent coordinates, in SI."""
        c, r = loops.columns[list(dependent)], loops.row_scale
        names = [velocity_names(loops.skel)[i] for i in dependent]
        labels = [f"{x.name}[{i}]" if len(x.kinds) > 1 else x.name for x in loops.constraints for i in range(len(x.kinds))]
        M = np.diag(MASS / c**2) if self.M is None else _matrix("M", self.M, names)
        A = PENALTY / r**2 if self.A is None else _rows("A", self.A, labels)
        Mv = M if self.M_velocity is None else _matrix("M_velocity", self.M_velocity, names)
        Av = A if self.A_velocity is None else _rows("A_velocity", self.A_velocity, labels)
        return Weights(dependent, M, A, Mv, Av, self.position, self.velocity, self.steps)

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        eq = kernels.equations(kernels.defaults["parameters"])
        still = np.zeros(len(eq.drivers))
        loops = eq.moved(still, still, still).loops  # prescribed values do not change J
        if not len(loops.row_scale):
            return None
        found = chosen(loops, q, near, drives) if self.dependent is None else named(loops.skel, self.dependent)
        w = self.weights(loops, found)
        w = replace(w, order=least_fill(loops, q, near, w))

        def answer(x: Inputs) -> dict[str, Any]:
            there = kernels.equations(x.get("parameters", kernels.defaults["parameters"])).moved(*(x.get(k, still) for k in LAW))
            return adjust(there, x["q"], x["v"], x.get("t", np.zeros(1)), x.get("near", kernels.defaults["near"]), w)

        names = velocity_names(loops.skel)
        settings = {"dependent": [names[i] for i in found]}
        return self.occasional(kernels, Correction(adjust_kernel(kernels, w, gains), answer, once=True, settings=settings), gains)


@call_explained
def post_adjust(
    dependent: Sequence[str] | str | None = None,
    *,
    M: Any = None,
    A: Any = None,
    position: bool = True,
    velocity: bool = True,
    M_velocity: Any = None,
    A_velocity: Any = None,
    steps: int = STEPS,
    every: int = 1,
    above: float | None = None,
) -> PostAdjust:
    """Correct only dependent coordinates after a step.

    Parameters
    ----------
    dependent : str or sequence of str, optional
        Coordinates that are corrected (default: the best determined ones).
    M : array or mapping, optional
        Weights of the changes of positions.
    A : array or mapping, optional
        Weights of the gaps of positions.
    position : bool, default True
        False to leave positions as they are.
    velocity : bool, default True
        False to leave velocities as they are.
    M_velocity : array or mapping, optional
        Weights of the changes of velocities (default: M).
    A_velocity : array or mapping, optional
        Weights of the gaps of velocities (default: A).
    steps : int
        Iterations of a correction at most.
    every : int, default 1
        Correction after every so many steps.
    above : float, optional
        Gap of the loops below which nothing is corrected.

    Returns
    -------
    PostAdjust
        Stabilizer for `simulate(stabilizer=...)`.

    Examples
    --------
    >>> run = lw.load("wiper").simulate("0.1 s", stabilizer=lw.stabilizers.post_adjust(every=2))
    >>> bool(run.certificate.position_residual < 1e-9)
    True
    """
    return PostAdjust(dependent, M, A, position, velocity, M_velocity, A_velocity, steps, every=every, above=above)


# -------------------------------------------------------------------- given weights


def _frozen(key: str, value: Any) -> Any:
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"{key} of post-adjusting must be numbers, not {value!r}.", name=key, value=value) from None
    if not np.isfinite(x).all():
        raise UsageError(f"{key} of post-adjusting has entries that are not finite numbers.", name=key)
    return float(x) if x.ndim == 0 else tuple(tuple(row.tolist()) if x.ndim > 1 else float(row) for row in x)


def _matrix(key: str, value: Any, names: Sequence[str]) -> np.ndarray:
    """A positive definite matrix from a number, a diagonal or a matrix."""
    n, x = len(names), np.asarray(value, dtype=float)
    if x.shape not in ((), (n,), (n, n)):
        raise UsageError(
            f"{key} of post-adjusting needs one number, or one for each of the {counted(n, 'dependent coordinate')} {', '.join(names)}.",
            name=key,
        )
    out = np.diag(np.broadcast_to(x, n)) if x.ndim < 2 else x
    if not np.allclose(out, out.T, rtol=1e-12, atol=0.0) or np.linalg.eigvalsh(out).min(initial=1.0) <= 0.0:
        raise UsageError(f"{key} of post-adjusting must be positive, as a matrix symmetric and positive definite.", name=key)
    return out


def _rows(key: str, value: Any, labels: Sequence[str]) -> np.ndarray:
    """Positive numbers, one for each row."""
    x = np.asarray(value, dtype=float)
    if x.shape not in ((), (len(labels),)):
        raise UsageError(
            f"{key} of post-adjusting needs one number, or one for each of the {counted(len(labels), 'row')} {', '.join(labels)}.", name=key
        )
    out: np.ndarray = np.array(np.broadcast_to(x, len(labels)))
    if not (out > 0.0).all():
        raise UsageError(f"{key} of post-adjusting must be positive numbers.", name=key)
    return out
