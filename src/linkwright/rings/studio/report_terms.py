"""Terms of the report explained: those that the report uses, in a list at its end."""

from __future__ import annotations

import re

from linkwright.rings.studio.report_parts import facts, part

TERMS: tuple[tuple[str, str, str], ...] = (
    ("Mobility", r"Mobility", "number of independent motions; the Grübler count estimates it from bodies and joints alone"),
    ("Over-constrained", r"over-constrained", "has more constraints than its motion needs: exact dimensions or clearances let it move"),
    ("Transmission angle", r"transmission at", "angle at which a link is pushed: 90° is ideal, below 40° is poor in most designs"),
    ("Pressure angle", r"pressure angle", "angle between the force on a link and the motion of its point: 0° is ideal"),
    ("Base circle", r"base circle", "circle about the cam's center on which the follower rests at its lowest"),
    ("Undercutting", r"undercut", "the profile is bent more sharply than the follower can trace: the law is not met there"),
    ("Lift-off", r"lifts? off", "the follower leaves the cam, because the contact force would have to pull"),
    ("Dead center", r"[Dd]ead center", "position in which the driven part turns back and the drive can pass no force on"),
    ("Singular position", r"[Ss]ingular", "position in which forces of the mechanism grow without bound or its motion is not determined"),
    ("RMS", r"\bRMS\b", "root of the mean square over the cycle: heats a motor as much as the changing effort"),
    ("Work", r">work<", "energy that the drive puts in during one cycle"),
    ("Energy to brake", r"energy to brake", "energy that flows back in one cycle: a brake resistor or the supply takes it"),
    ("Equivalent load", r">P \(p=3\)<|equivalent", "constant load that wears a rolling bearing as much as the changing one"),
    ("Statically indeterminate", r"[Ss]tatically indeterminate", "several bearings share a load, by stiffness and play"),
    ("Shaking force", r"[Ss]haking force", "force of the whole mechanism on its foundation"),
    ("Flywheel", r">Flywheel<", "inertia at the drive that keeps the fluctuation of speed within the limit named"),
    ("Loops closed", r"Loops closed", "distance by which the links fail to meet, over the size of the mechanism: round-off"),
    ("Equilibrium", r">Equilibrium<", "forces and moments left over at each body, over the largest force: round-off"),
    ("Cylinder pressure", r">pressure<|cap end", "force over the area of the piston, on the rod's side over the ring"),
)


def section(report: str) -> str:
    """Return the list of the terms that occur in a report."""
    rows = [(name, meaning) for name, pattern, meaning in TERMS if re.search(pattern, report)]
    return part("Terms", facts(rows)) if rows else ""
