"""The arm on a slider of [Aghili2005 IX] with masses of our own, under the three laws: torques, contact force and tracking errors.

Links as complex numbers: the tip is sum L_i exp(i a_i) with a the sums of the joint angles, so M and the velocity terms follow from its
derivatives by hand. Torques are held for 2 ms; norms are of the samples of the second period, from 2 s to 4 s. Arithmetic is that of
doubles (`fp` of mpmath), four Runge-Kutta steps a hold.

    python -m tests.data.generate.aghili_arm
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mpmath import fp

LENGTHS, MASSES, TIP, Y0 = (0.30, 0.25, 0.10), (2.0, 1.5, 0.5), 0.3, -0.27
P, D, HOLD, PERIOD = 480.0, 45.0, 0.002, 2.0
LAWS = ("PIDC", "HYB", "IDC")
CASES = (("PIDC", 0.0), ("HYB", 0.0), ("IDC", 0.0), ("IDC", 0.002), ("IDC", -0.002), ("IDC", 0.005), ("IDC", -0.005))
Vector = list[float]


class Terms(NamedTuple):
    """M, velocity terms, and of the tip: place, derivatives by the joint angles, acceleration at constant rates."""

    M: list[Vector]
    h: Vector
    tip: complex
    row: list[complex]
    bend: complex


class Norms(NamedTuple):
    """Keys as in the data file."""

    rms: float
    peak: float
    lam_rms: float
    lam_max: float
    ex: float
    eth: float


def terms(q: Vector, v: Vector) -> Terms:
    angles, rates = [sum(q[: i + 1]) for i in range(3)], [sum(v[: i + 1]) for i in range(3)]
    links = [l * fp.expj(a) for l, a in zip(LENGTHS, angles, strict=True)]
    M, h = [[0.0] * 3 for _ in range(3)], [0.0] * 3
    row, bend = [0j] * 3, 0j

    def point(last: int, share: float) -> tuple[list[complex], complex]:
        parts = [z * (1.0 if i < last else share) for i, z in enumerate(links[: last + 1])]
        return [sum((1j * z for z in parts[j:]), 0j) for j in range(3)], sum((-z * w * w for z, w in zip(parts, rates, strict=False)), 0j)

    places = [(MASSES[i], *point(i, 0.5)) for i in range(3)] + [(TIP, *point(2, 1.0))]
    for mass, r, b in places:
        for i in range(3):
            h[i] += mass * (r[i].real * b.real + r[i].imag * b.imag)
            for j in range(3):
                M[i][j] += mass * (r[i].real * r[j].real + r[i].imag * r[j].imag)
    for k in range(3):  # rods about their centers turn with the sum of the first joints
        for i in range(k + 1):
            for j in range(k + 1):
                M[i][j] += MASSES[k] * LENGTHS[k] ** 2 / 12.0
    _, row, bend = places[3]
    return Terms(M, h, sum(links), row, bend)


def solved(A: list[Vector], y: Vector) -> Vector:
    """Return x of A x = y by elimination with pivots."""
    rows = [[*row, right] for row, right in zip(A, y, strict=True)]
    n = len(y)
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, n):
            f = rows[i][k] / rows[k][k]
            rows[i] = [a - f * b for a, b in zip(rows[i], rows[k], strict=True)]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][i] * x[i] for i in range(k + 1, n))) / rows[k][k]
    return x


def motion(t: Terms, torque: Vector) -> tuple[Vector, float]:
    """Return the accelerations on the slider and the contact force, M a + h = torque + A' lam."""
    A = [z.imag for z in t.row]
    whole = [[*t.M[i], -A[i]] for i in range(3)] + [[*A, 0.0]]
    *a, lam = solved(whole, [*(x - y for x, y in zip(torque, t.h, strict=True)), -t.bend.imag])
    return a, lam


def torques(law: str, offset: float, time: float, q: Vector, v: Vector, t: Terms) -> Vector:
    """Return the torques of a law: of the free arm for accelerations of x, y and the angle; PIDC its part along the slider."""
    phase = fp.pi * time + fp.pi / 9.0
    x, speed, a = -0.075 + 0.225 * fp.sin(phase), 0.225 * fp.pi * fp.cos(phase), -0.225 * fp.pi**2 * fp.sin(phase)
    rate = sum(r * w for r, w in zip(t.row, v, strict=True))
    along = a + D * (speed - rate.real) + P * (x - t.tip.real) - t.bend.real
    turn = -D * sum(v) - P * sum(q)
    across = -t.bend.imag + (P * (Y0 + offset - t.tip.imag) - D * rate.imag if law == "IDC" else 0.0)
    u = solved([[z.real for z in t.row], [1.0] * 3, [z.imag for z in t.row]], [along, turn, across])
    full = [sum(m * b for m, b in zip(row, u, strict=True)) + h for row, h in zip(t.M, t.h, strict=True)]
    if law != "PIDC":
        return full
    A = [z.imag for z in t.row]
    share = sum(f * b for f, b in zip(full, A, strict=True)) / sum(b * b for b in A)
    return [f - share * b for f, b in zip(full, A, strict=True)]


def start() -> tuple[Vector, Vector]:
    """Return the task at t = 0, elbow bent so that the second angle is negative."""
    x, (l1, l2, l3) = -0.075 + 0.225 * fp.sin(fp.pi / 9.0), LENGTHS
    wrist = x - l3
    q2 = -fp.acos((wrist**2 + Y0**2 - l1**2 - l2**2) / (2.0 * l1 * l2))
    q1 = fp.atan2(Y0, wrist) - fp.atan2(l2 * fp.sin(q2), l1 + l2 * fp.cos(q2))
    q = [q1, q2, -q1 - q2]
    row = terms(q, [0.0] * 3).row
    return q, solved([[z.real for z in row], [z.imag for z in row], [1.0] * 3], [0.225 * fp.pi * fp.cos(fp.pi / 9.0), 0.0, 0.0])


def norms(law: str, offset: float = 0.0, steps: int = 4) -> Norms:
    """Return the norms of one law; steps: of Runge-Kutta 4 in a hold."""
    q, v = start()
    y, seen = [*q, *v], []

    def ahead(k: Vector, h: float) -> Vector:
        return [a + h * b for a, b in zip(y, k, strict=True)]

    for n in range(round(2 * PERIOD / HOLD)):
        time, t = n * HOLD, terms(y[:3], y[3:])
        held = torques(law, offset, time, y[:3], y[3:], t)
        if time > PERIOD - HOLD / 2:
            x = -0.075 + 0.225 * fp.sin(fp.pi * time + fp.pi / 9.0)
            seen.append((held, motion(t, held)[1], abs(t.tip.real - x), abs(sum(y[:3]))))

        def rate(y: Vector, held: Vector = held) -> Vector:
            return [*y[3:], *motion(terms(y[:3], y[3:]), held)[0]]

        h = HOLD / steps
        for _ in range(steps):
            k1 = rate(y)
            k2 = rate(ahead(k1, h / 2))
            k3 = rate(ahead(k2, h / 2))
            k4 = rate(ahead(k3, h))
            y = ahead([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)], h)

    def mean(values: Any) -> float:
        return fp.sqrt(fp.fsum(values) / len(seen))

    return Norms(
        mean(sum(x * x for x in s[0]) for s in seen),
        max(abs(x) for s in seen for x in s[0]),
        mean(s[1] ** 2 for s in seen),
        max(abs(s[1]) for s in seen),
        max(s[2] for s in seen),
        max(s[3] for s in seen),
    )


def main() -> None:
    for law, offset in CASES:
        print(f"{law}, slider {1000 * offset:+g} mm:", ", ".join(f"{k} {x:.12g}" for k, x in norms(law, offset)._asdict().items()))


if __name__ == "__main__":
    main()
