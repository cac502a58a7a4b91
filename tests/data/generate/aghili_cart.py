"""A cart whose pole's tip runs on a line: acceleration, constraint force and least efforts, in meters and millimeters, (43), (47), (48).

Own data. With the cart at x and the pole at phi, M, h and A follow from Lagrange's equations by hand. Everything is computed in a unit of
length and returned in SI: accelerations and F do not depend on the unit, efforts of least norm do unless W has a length.

    python -m tests.data.generate.aghili_cart
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mpmath import mp, mpf, nstr

UNITS = {"m": 1, "mm": 1000}
CART, POLE, LENGTH, SLOPE, PHI, SPEED, WANTED, KAPPA = "2", "1", "0.5", "0.3", "0.9", "0.7", "2", "0.5"
PUSH, GRAVITY = ("3", "-1"), "9.81"
DIGITS = 25


class Efforts(NamedTuple):
    """Results in SI; forces first, torques second."""

    acceleration: tuple[Any, Any]
    force: tuple[Any, Any]  # F = A' lambda in the paper's sign
    least: tuple[Any, Any]  # P_W (h + M u)


def efforts(unit: str, *, weighted: bool) -> Efforts:
    """Return motion under the push, and the least efforts for phi'' = 2 rad/s^2; weighted: kappa = 0.5 m in W."""
    size = mpf(UNITS[unit])
    m1, m2, l, phi, speed = mpf(CART), mpf(POLE), mpf(LENGTH) * size, mpf(PHI), mpf(SPEED)
    g, slope = mpf(GRAVITY) * size, mpf(SLOPE)
    cos, sin = mp.cos(phi), mp.sin(phi)
    M = [[m1 + m2, -m2 * l * sin], [-m2 * l * sin, m2 * l * l]]
    h = [-m2 * l * cos * speed**2, m2 * g * l * cos]
    A = [-mp.sin(slope), l * (mp.sin(slope) * sin + mp.cos(slope) * cos)]  # of (x, phi): distance of the tip from the line
    drift = l * (mp.sin(slope) * cos - mp.cos(slope) * sin) * speed**2
    push = [mpf(PUSH[0]) * size, mpf(PUSH[1]) * size**2]
    scale = [mpf(KAPPA) * size if weighted else mpf(1), mpf(1)]  # W^(-1/2)
    A_w = [a * s for a, s in zip(A, scale, strict=True)]
    norm = A_w[0] ** 2 + A_w[1] ** 2
    tangent = [A_w[1] / mp.sqrt(norm), -A_w[0] / mp.sqrt(norm)]  # of the null space: P = tangent tangent'
    # the motion along the null space: q'' = x W^(-1/2) tangent - A_w^+ drift
    n = [t * s for t, s in zip(tangent, scale, strict=True)]
    normal = [-s * a * drift / norm for s, a in zip(scale, A_w, strict=True)]
    along = mp.fsum(n[i] * (push[i] - h[i] - mp.fsum(M[i][j] * normal[j] for j in (0, 1))) for i in (0, 1))
    x = along / mp.fsum(n[i] * M[i][j] * n[j] for i in (0, 1) for j in (0, 1))
    a = [x * n[i] + normal[i] for i in (0, 1)]
    F = [push[i] - h[i] - mp.fsum(M[i][j] * a[j] for j in (0, 1)) for i in (0, 1)]
    u = [-(A[1] * mpf(WANTED) + drift) / A[0], mpf(WANTED)]  # accelerations with the phi'' that is asked for
    wanted = mp.fsum(n[i] * (h[i] + mp.fsum(M[i][j] * u[j] for j in (0, 1))) for i in (0, 1))
    least = [wanted * t / s for t, s in zip(tangent, scale, strict=True)]
    return Efforts((a[0] / size, a[1]), (F[0] / size, F[1] / size**2), (least[0] / size, least[1] / size**2))


def main() -> None:
    with mp.workdps(DIGITS):
        for unit in UNITS:
            for weighted in (False, True):
                found = efforts(unit, weighted=weighted)
                print(unit, "kappa = 0.5 m" if weighted else "no metric")
                for name, pair in found._asdict().items():
                    print(f"    {name}:", *(nstr(x, 18) for x in pair))


if __name__ == "__main__":
    main()
