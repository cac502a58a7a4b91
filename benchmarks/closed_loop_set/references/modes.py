"""All assembly modes of platforms on legs of given lengths: Dietmaier's, with 40 real ones, and a planar one with six."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mpmath import mp, nstr

from benchmarks.closed_loop_set.references import platforms
from benchmarks.closed_loop_set.references.writing import case, numbers, quantity, task

SCRIPT = "benchmarks/closed_loop_set/references/modes.py"
# Base, platform and legs: the numbers of the paper with six digits, as they also are in an example of Drake.
BASE = (("0", "0", "0"), ("1.107915", "0", "0"), ("0.549094", "0.756063", "0"), ("0.735077", "-0.223935", "0.525991"),
        ("0.514188", "-0.526063", "-0.368418"), ("0.590473", "0.094733", "-0.205018"))  # fmt: skip
PLATFORM = (("0", "0", "0"), ("0.542805", "0", "0"), ("0.956919", "-0.528915", "0"), ("0.665885", "-0.353482", "1.402538"),
            ("0.478359", "1.158742", "0.107672"), ("-0.137087", "-0.235121", "0.353913"))  # fmt: skip
LEGS = ("1", "0.645275", "1.086284", "1.503439", "1.281933", "0.771071")
FLAT_BASE = (("0", "0"), ("15.91", "0"), ("0", "10"))
FLAT_PLATFORM = (("0", "0"), ("17.04", "0"), ("13.2", "15.92"))
FLAT_LEGS = ("14.98", "15.38", "12")


def _made(
    name: str, title: str, robot: tuple[Any, Any, Any], columns: Sequence[str], source: Sequence[str], bound: str, **more: Any
) -> dict[str, Any]:
    base, platform, legs = robot
    space = len(base[0]) == 3
    most = 40 if space else 6
    system = (platforms.spatial if space else platforms.planar)(base, platform, legs)
    starts = platforms.searched(base, platform, legs, wanted=most, most=1_600_000 if space else 40_000)
    if len(starts) != most:
        raise ArithmeticError(f"{len(starts)} of {most} poses found from random starts")
    roots, apart, residual = platforms.proven(system, starts.tolist())
    if residual > mp.mpf("1e-35"):
        raise ArithmeticError("residuals are above 1e-35")
    if not space:
        roots = [[x, y, mp.atan2(s, c)] for x, y, c, s in roots]
    roots.sort(key=lambda root: root[0])
    size = float(max(abs(float(v)) for leg in (*base, *platform) for v in leg))
    quantities = [quantity("real modes", "1", mp.mpf(most), None, uncertainty=0.0)]
    for i, root in enumerate(roots, 1):
        for column, value in zip(columns, root, strict=True):
            unit, scale = ("m", size) if column in ("x", "y", "z") else ("rad" if column == "angle" else "1", 1.0)
            quantities.append(quantity(f"mode {i} {column}", unit, value, None, scale=scale))
    gap = min(b[0] - a[0] for a, b in pairwise(roots))
    obtained = (
        "Newton's method from random starts, refined at 40 digits, residuals below 1e-35; Krawczyk's test with outward rounding proves "
        f"exactly one solution in each box of radius 1e-10, and the boxes lie {nstr(apart, 3)} apart. {bound}"
    )
    given = {"base": numbers(base), "platform": numbers(platform), "legs": [float(leg) for leg in legs]}
    found = task("all modes", "assembly modes", given, quantities, obtained, SCRIPT)
    order = f"Modes are in the order of x, whose values differ by {nstr(gap, 2)} m or more."
    return case(name, title, source, corrections=more["corrections"], notes=[*more["notes"], order], tasks=[found])


def dietmaier() -> dict[str, Any]:
    with mp.workdps(40):
        return _made(
            "dietmaier", "Stewart-Gough platform with 40 real assembly modes", (BASE, PLATFORM, LEGS), 
            ("x", "y", "z", "qw", "qx", "qy", "qz"),
            ["P. Dietmaier: The Stewart-Gough Platform of General Geometry Can Have 40 Real Postures. Advances in Robot Kinematics: "
             "Analysis and Control (1998)"],
            "No platform has more than 40 isolated poses (Ronga, Vust 1992; Mourrain 1993), so these are all.",
            corrections=["Six digits of the dimensions are taken as exact; that 40 real modes remain is proven for these."],
            notes=["x, y, z: place of the platform's origin, its first corner; unit quaternion of its axes with qw > 0. A corner b is at p "
                   "+ R b."],
        )  # fmt: skip


def flat() -> dict[str, Any]:
    with mp.workdps(40):
        return _made(
            "3-rpr", "Planar 3-RPR platform with six real assembly modes", (FLAT_BASE, FLAT_PLATFORM, FLAT_LEGS), ("x", "y", "angle"),
            ["Example of many papers on the forward kinematics and the singularities of the 3-RPR robot"],
            "No planar platform on three legs has more than six poses (J.-P. Merlet: Parallel Robots, section 4.3), so these are all.",
            corrections=[], notes=["x, y: place of the platform's first corner; angle of its axes in (-pi, pi]."],
        )  # fmt: skip


CASES = {"dietmaier": dietmaier, "3-rpr": flat}
