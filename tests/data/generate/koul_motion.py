"""Free motions of [Koul2013]: the scraper let go and the 3-RRR falling, in many digits.

The scraper by quadrature of its energy (positions in closed form); both by all Newton-Euler equations in absolute coordinates with
extrapolated midpoint steps, as a second way and as the only one for the manipulator, which has three degrees of freedom.

    python -m tests.data.generate.koul_motion
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpmath import mp, mpf, nstr

from benchmarks.closed_loop_set.references import plane_cases, scraper_energy, scrapers, three_rrr
from benchmarks.closed_loop_set.references.plane import Plane, moved

SPEED = "4.7124"  # rad/s of the crank
DIGITS = 34
SCRAPER_TIMES, ROBOT_TIMES = ("0.1", "0.5", "1"), ("0.1", "0.5")
COLUMNS = 10  # of the extrapolation: order 20


def swing(digits: int = DIGITS) -> scraper_energy.Swing:
    """Return the scraper's swing: positions of rest, period, and angle and speed at any time."""
    with mp.workdps(digits):
        return scraper_energy.swing(scrapers.koul(), mpf(SPEED))


def fastest(digits: int = DIGITS) -> tuple[Any, Any]:
    """Return the crank angle with the largest speed of the swing, and that speed, by golden section."""
    with mp.workdps(digits):
        plane = scrapers.koul()
        energy = scraper_energy.inertia(plane, mpf(0)) * mpf(SPEED) ** 2 / 2 + scraper_energy.potential(plane, mpf(0))

        def speed(s: Any) -> Any:
            return mp.sqrt(2 * (energy - scraper_energy.potential(plane, s)) / scraper_energy.inertia(plane, s))

        low, high, share = mpf("1.8"), mpf("2.2"), (mp.sqrt(5) - 1) / 2
        while high - low > mpf(10) ** (-digits // 2):
            a, b = high - share * (high - low), low + share * (high - low)
            low, high = (low, b) if speed(a) > speed(b) else (a, high)
        return (low + high) / 2, speed((low + high) / 2)


def moving(plane: Plane, x: Sequence[Any], v: Sequence[Any], times: Sequence[str], columns: int, steps: int) -> list[list[tuple[Any, Any]]]:
    """Return angle and speed of every drive at the times; `steps` to begin with, halved until two orders agree."""
    out, now, tolerance = [], mpf(0), mpf(10) ** (12 - mp.dps)
    for time in times:
        x, v = moved(lambda p, q: plane.forward(p, q)[0], x, v, mpf(time) - now, steps, columns, tolerance)
        now = mpf(time)
        out.append([(x[3 * plane.index(n) + 2], v[3 * plane.index(n) + 2]) for n in plane.drives])
    return out


def scraper(
    times: Sequence[str] = SCRAPER_TIMES, *, digits: int = DIGITS, columns: int = COLUMNS, steps: int = 6
) -> list[list[tuple[Any, Any]]]:
    with mp.workdps(digits):
        plane = scrapers.koul()
        x, v = scrapers.at(plane, 0, SPEED)
        return moving(plane, x, v, times, columns, steps)


def manipulator(
    times: Sequence[str] = ROBOT_TIMES, *, digits: int = DIGITS, columns: int = COLUMNS, steps: int = 6
) -> list[list[tuple[Any, Any]]]:
    with mp.workdps(digits):
        plane = three_rrr.koul()
        x = plane.assembled([mpf(a) for a in three_rrr.STARTS], plane_cases.guess(plane, three_rrr.DRAWN))
        return moving(plane, x, [mpf(0)] * len(x), times, columns, steps)


def main() -> None:
    found = swing()
    print("scraper: rests at", nstr(found.low, 20), nstr(found.high, 20), "rad, period", nstr(found.period, 20), "s, fastest", *fastest())
    with mp.workdps(DIGITS):
        for time, ((angle, speed),) in zip(SCRAPER_TIMES, scraper(), strict=True):
            print(f"    {time} s:", *(nstr(y, 20) for y in found.at(mpf(time))), "by energy;", nstr(angle, 20), nstr(speed, 20), "by steps")
        for time, drives in zip(ROBOT_TIMES, manipulator(), strict=True):
            print(f"3-RRR, {time} s:", *(nstr(y, 18) for angle, _ in drives for y in (angle,)), "rad")


if __name__ == "__main__":
    main()
