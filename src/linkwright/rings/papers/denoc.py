"""Decoupled natural orthogonal complement of a serial or tree subsystem  [Koul2013 (1)-(7)] [Chaudhary2007 (2)-(10)].

    t = N_l N_d qdot      I = N' M N      C = N' (M Ndot + W M E N)      h = C qdot + gravity

Twists are taken at each body's own origin O_i, as the papers do: t_i = [w; v_Oi]. N_l carries a twist down
the tree (its block (i, j) is nonzero where j carries i), N_d holds the joints' motion vectors. The recursions in
`dynamics` never form these matrices; they are here to check and to teach.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.api import cross, kinematics, motion, spatial, tolerances


class Denoc(NamedTuple):
    """The factors of one subsystem, in the order of its nodes."""

    N_l: np.ndarray  # (6 n, 6 n)
    N_d: np.ndarray  # (6 n, nv)
    Ndot: np.ndarray  # (6 n, nv): rate of N_l N_d
    M: np.ndarray  # (6 n, 6 n): extended mass matrix about the origins
    W: np.ndarray  # (6 n, 6 n): blocks [w x, w x]
    E: np.ndarray  # (6 n, 6 n): blocks [1, 0]
    B: np.ndarray  # (6 n, 6 n): B t = W M E t and B + B' = dM/dt

    @property
    def N(self) -> np.ndarray:
        return self.N_l @ self.N_d

    @property
    def inertia(self) -> np.ndarray:
        """Generalized inertia matrix I = N' M N."""
        return self.N.T @ self.M @ self.N

    @property
    def coriolis(self) -> np.ndarray:
        """C with C qdot the velocity-dependent part of h, and dI/dt - 2 C skew  [Hoang2023 (3)]."""
        return self.N.T @ (self.M @ self.Ndot + self.B @ self.N)

    @property
    def coriolis_of_the_papers(self) -> np.ndarray:
        """N' (M Ndot + W M E N)  [Koul2013 (7)]: the same C qdot; dI/dt - 2 C is skew only where every
        body's origin is its center of mass, because W M E is one of many factors with the same product W M E t."""
        return self.N.T @ (self.M @ self.Ndot + self.W @ self.M @ self.E @ self.N)


def denoc(skel: kinematics.Skeleton, q: Any, v: Any, subsystem: int) -> Denoc:
    """The matrices of one subsystem at a state."""
    nodes = skel.tree.subsystems[subsystem].nodes
    m = motion(skel, q, v)
    moving = motion(skel, q + 1j * tolerances.COMPLEX_STEP * kinematics.qdot(skel, q, v), np.asarray(v, complex))
    N_l, N_d = _complement(skel, m, nodes)
    ahead = np.matmul(*_complement(skel, moving, nodes))
    blocks = [_extended(skel, m, i) for i in nodes]
    M, W, E, B = (_diagonal([b[k] for b in blocks]) for k in range(4))
    return Denoc(N_l, N_d, ahead.imag / tolerances.COMPLEX_STEP, M, W, E, B)


def twists(skel: kinematics.Skeleton, m: kinematics.Motion, subsystem: int) -> np.ndarray:
    """Stacked [w; v_Oi] of the subsystem's bodies."""
    nodes = skel.tree.subsystems[subsystem].nodes
    return np.concatenate([_at(m.V[i], m.X[i].p) for i in nodes])


def _at(S: Any, p: Any) -> np.ndarray:
    """Motion vector(s) at the subsystem's origin, moved to the point p."""
    return np.concatenate([S[:3], S[3:] - spatial.skew(p) @ S[:3]])


def twist_propagation(start: Any, end: Any) -> np.ndarray:
    """A_ij  [Chaudhary2007 (18)]: carries the twist of a rigid body from its point O_j, `start`, to its point O_i, `end`."""
    A = np.eye(6, dtype=np.asarray(start).dtype)  # v_i = v_j + w x (p_i - p_j)
    A[3:, :3] = -spatial.skew(end - start)
    return A


def _complement(skel: kinematics.Skeleton, m: kinematics.Motion, nodes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    n = len(nodes)
    first = skel.tree.nodes[nodes[0]].v.start
    nv = skel.tree.nodes[nodes[-1]].v.stop - first
    dtype = m.X[nodes[0]].p.dtype
    N_l = np.zeros((6 * n, 6 * n), dtype=dtype)
    N_d = np.zeros((6 * n, nv), dtype=dtype)
    where = {node: k for k, node in enumerate(nodes)}
    for node in nodes:
        i = where[node]
        for carrier in skel.tree.support(node):
            j = where[carrier]
            N_l[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = twist_propagation(m.X[carrier].p, m.X[node].p)
        columns = skel.tree.nodes[node].v
        N_d[6 * i : 6 * i + 6, columns.start - first : columns.stop - first] = _at(m.S[node], m.X[node].p)
    return N_l, N_d


def _extended(skel: kinematics.Skeleton, m: kinematics.Motion, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """M_i = [[I, m d x], [-m d x, m 1]] about O_i, W_i = diag(w x, w x), E_i = diag(1, 0), B_i = (dM/dt + Q)/2.

    dM/dt = W M - M W and Q = -[[(I w) x, m (w x d) x], [m (w x d) x, 0]] is skew, with B t = W M E t.
    """
    R, mass = m.X[node].R, skel.mass[node]
    d = R @ skel.com[node]
    D = spatial.skew(d)
    I_O = R @ skel.inertia[node] @ R.T + mass * (D @ D.T)
    w = spatial.skew(m.V[node][:3])
    zero, one = np.zeros((3, 3)), np.eye(3)
    M, W = np.block([[I_O, mass * D], [-mass * D, mass * one]]), np.block([[w, zero], [zero, w]])
    wd = mass * spatial.skew(w @ d)
    Q = -np.block([[spatial.skew(I_O @ m.V[node][:3]), wd], [wd, zero]])
    return M, W, np.block([[one, zero], [zero, zero]]), 0.5 * (W @ M - M @ W + Q)


def _diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    out = np.zeros((6 * len(blocks), 6 * len(blocks)))
    for i, b in enumerate(blocks):
        out[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = b
    return out


def gravity_part(skel: kinematics.Skeleton, m: kinematics.Motion, subsystem: int) -> np.ndarray:
    """-N' w_g: the part of h that gravity causes, from the DeNOC side."""
    nodes = skel.tree.subsystems[subsystem].nodes
    N_l, N_d = _complement(skel, m, nodes)
    forces = []
    for i in nodes:
        f = skel.mass[i] * skel.gravity
        forces.append(np.concatenate([cross(m.X[i].R @ skel.com[i], f), f]))
    return -(N_l @ N_d).T @ np.concatenate(forces)
