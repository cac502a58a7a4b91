"""Torques of Aghili's three laws on the slider-crank (Table I, Figs. 5, 6): RMS over a time, and torques and multiplier at both ends.

From rest at 30 deg the error is e = (pi/6)(1 + 5t) exp(-5t); M, h and A of (66), (67) on the branch q2 = 2 pi - 2 q1 give what the free
chain needs for that motion, M q'' + h. Two joints take its part along (1, -2), one joint (1, -2).(M q'' + h) alone, and hybrid control
all of it.

    python -m tests.data.generate.aghili_torques
"""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf, nstr

LAWS = ("2act", "1act", "hyb")
GRAVITIES = ("0.0", "9.81")
TIMES = (1, 2, 5)
DIGITS = 25


def needed(t: Any, g: Any) -> tuple[Any, Any, Any]:
    """Return M q'' + h of (66) and cos q1 at a time."""
    e, rate = mp.pi / 6 * (1 + 5 * t) * mp.exp(-5 * t), mp.pi / 6 * 25 * t * mp.exp(-5 * t)
    q1, u = mp.pi / 3 - e, 25 * e - 10 * rate
    q2, c1 = 2 * mp.pi - 2 * q1, mp.cos(q1)
    c2, s2 = mp.cos(q2), mp.sin(q2)
    w1, w2 = rate, -2 * rate
    f1 = (3 + 2 * c2) * u - 2 * (1 + c2) * u - s2 * (w2 * w2 + 2 * w1 * w2) + 3 * g * c1
    f2 = (1 + c2) * u - 2 * u + s2 * w1 * w1 + g * c1
    return f1, f2, c1


def torques(law: str, t: Any, g: Any) -> tuple[Any, Any, Any]:
    """Return both torques and the multiplier in the paper's sign, A' lambda = f - (M q'' + h) with A = c1 (2, 1)."""
    f1, f2, c1 = needed(t, g)
    along = (f1 - 2 * f2) / 5
    x1, x2 = {"2act": (along, -2 * along), "1act": (5 * along, mpf(0)), "hyb": (f1, f2)}[law]
    return x1, x2, (x2 - f2) / c1


def rms(law: str, T: Any, g: Any) -> Any:
    """Return the RMS norm of the torques over the first T seconds."""
    square = mp.quad(lambda t: mp.fsum(x * x for x in torques(law, t, g)[:2]), mp.linspace(0, T, 2 * int(T) + 1))
    return mp.sqrt(square / T)


def main() -> None:
    with mp.workdps(DIGITS):
        for g in GRAVITIES:
            for law in LAWS:
                print(f"g {g}, {law}: RMS over", ", ".join(f"{T} s {nstr(rms(law, T, mpf(g)), 18)}" for T in (*TIMES, 3)))
                for t in (0, 3):
                    print(f"    at {t} s: f1, f2, lambda =", *(nstr(x, 18) for x in torques(law, mpf(t), mpf(g))))


if __name__ == "__main__":
    main()
