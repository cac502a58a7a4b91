"""The map of a transmission back from joints to motors, for scripts and C sources: a loop that `transmission_sources` writes."""

from __future__ import annotations

from linkwright.compiler.records import Matrix, Record, sized
from linkwright.numerics.tolerances import CLOSED


class Map(Record):
    """Speeds of the motors J by those of the joints, K back, and their rates."""

    J: Matrix = sized("n", "n")
    J_rate: Matrix = sized("n", "n")
    K: Matrix = sized("n", "n")
    K_rate: Matrix = sized("n", "n")
    left: Matrix = sized("n", "n")


def inverted(w: Map) -> bool:
    """K = 1/J by elimination with row pivoting, and its rate -K dJ/dt K; False, with zeros, where J is singular."""
    n, largest, regular = w.J.shape[0], 0.0, True
    for i in range(n):
        for j in range(n):
            w.left[i, j] = w.J[i, j]
            w.K[i, j] = 1.0 if i == j else 0.0
            largest = max(largest, abs(w.J[i, j]))
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(w.left[i, k]) > abs(w.left[best, k]):
                best = i
        if regular and abs(w.left[best, k]) > CLOSED * largest:
            eliminated(w, k, best)
        else:
            regular = False
    for i in range(n):
        for j in range(n):
            w.K[i, j] = w.K[i, j] / w.left[i, i] if regular else 0.0
    for i in range(n):  # dJ/dt K takes the room of what is left
        for j in range(n):
            w.left[i, j] = 0.0
            for k in range(n):
                w.left[i, j] += w.J_rate[i, k] * w.K[k, j]
    for i in range(n):
        for j in range(n):
            w.K_rate[i, j] = 0.0
            for k in range(n):
                w.K_rate[i, j] -= w.K[i, k] * w.left[k, j]
    return regular


def eliminated(w: Map, k: int, best: int) -> None:
    """Column k is that of the unit matrix but for its pivot, which is brought from row `best`."""
    n = w.J.shape[0]
    for j in range(n):
        a, b = w.left[k, j], w.K[k, j]
        w.left[k, j] = w.left[best, j]
        w.left[best, j] = a
        w.K[k, j] = w.K[best, j]
        w.K[best, j] = b
    for i in range(n):
        f = 0.0 if i == k else w.left[i, k] / w.left[k, k]
        for j in range(n):
            w.left[i, j] -= f * w.left[k, j]
            w.K[i, j] -= f * w.K[k, j]
