"""Rows as time loops hand them to kernels, and a way to call a kernel on one."""

from __future__ import annotations

import numpy as np


class Row:
    """q, v, x (more than the drives' own), t, tau, prescribed motions, gains, free, near, held."""

    def __init__(self, system, actuation, more=3, gains=2):
        s, nd = system.kernels.sizes, len(actuation.drivers)
        sizes = {"q": s.nq, "v": s.nv, "x": len(actuation.x0) + more, "t": 1, "tau": s.nv, "drive": nd, "speed": nd, "acceleration": nd}
        sizes |= {"gains": gains, "parameters": s.parameters, "near": s.near, "held": actuation.n_held}
        self.sizes = {k: n for k, n in sizes.items() if n}
        ends = np.cumsum([0, *self.sizes.values()])
        self.spans = {k: slice(a, b) for k, a, b in zip(self.sizes, ends[:-1], ends[1:], strict=True)}
        self.n = int(ends[-1])


def called(kernel, row, **blocks):
    """(status, outputs)"""
    x, y = np.zeros(row.n), np.zeros(kernel.n_out)
    for k, values in blocks.items():
        if k in row.spans:
            x[row.spans[k]][: np.size(values)] = values
    return kernel.callable(x, y, np.zeros(max(1, kernel.workspace))), y


def near_of(system, st):
    parts = [np.asarray(st.references[n], dtype=float) for n in system.tree.cuts]
    return np.concatenate(parts) if parts else np.zeros(0)
