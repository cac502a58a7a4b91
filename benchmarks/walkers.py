"""Walking machines in the plane whose knees are turned by four-bar linkages: a leg that hops, and a biped with flat feet. Data: our own."""

from __future__ import annotations

from typing import Any

APART = 0.12  # m, between two legs
FOOT = 0.02  # m, radius of the ends of a foot
POSTURE = {"hip": 0.040522674873546385, "crank": -0.0866264953944283}  # rad, in the drawing, where springs hold the legs
FLAT = (-0.06, -0.02, 0.02, 0.06)  # m, places of the four ends of a flat foot


def walker(legs: tuple[str, ...], ends: tuple[float, ...], mu: float, guard: bool = False, hold: float = 0.0) -> dict[str, Any]:
    """A trunk on so many legs, each with the ends of a foot at these places of its shank. guard: the trunk may touch the ground as well;
    hold: stiffness of springs at hips and cranks in N m/rad, with dampers of a fortieth of it in N m s/rad."""
    points, bodies, joints, guess = {}, {}, {}, {"trunk": {"at": [0, 0.62]}}
    surfaces: dict[str, Any] = {"floor": {"line": "ground.O", "normal": [0, 1]}}
    for i, p in enumerate(legs):
        x = APART * i
        points |= {f"{p}H": [x, 0], f"{p}C": [x + 0.08, 0.02]}
        bodies |= _bodies(p, ends)
        joints |= _joints(p)
        guess |= {f"{p}thigh": {"at": [x, 0.62]}, f"{p}crank": {"at": [x + 0.08, 0.64]}}
        guess |= {f"{p}rod": {"at": [x + 0.16, 0.64]}, f"{p}shank": {"at": [x, 0.32]}}
        surfaces |= {f"{p}end{k}": {"circle": f"{p}shank.F{k}", "radius": FOOT} for k in range(len(ends))}
    feet = [name for name in surfaces if name != "floor"]
    contacts = {"foot": {"between": [feet if len(feet) > 1 else feet[0], "floor"], "mu": mu}}
    if guard:
        surfaces["belly"] = {"circle": "trunk.O", "radius": 0.05}
        contacts["fall"] = {"between": ["belly", "floor"], "mu": mu}
    held = {f"{p}{name}": at for p in legs for name, at in POSTURE.items()} if hold else {}
    springs = {name: {"joint": name, "stiffness": hold, "free_position": at} for name, at in held.items()}
    dampers = {f"{name}_damper": {"joint": name, "coefficient": hold / 40.0} for name in held}
    trunk = {"points": {"O": [0, 0], **points}, "mass": 4, "com": [0.03, 0.05], "inertia": 0.05}
    return {
        "name": "hopper" if len(legs) == 1 else "walker", "plane": "xy", "gravity": [0, -9.81],
        "bodies": {"ground": {"points": {"O": [0, 0]}}, "trunk": trunk, **bodies},
        "joints": {"base": {"type": "planar", "between": ["ground", "trunk"], "at": [0, 0]}, **joints},
        "guess": guess, "surfaces": surfaces, "contacts": contacts, "springs": springs, "dampers": dampers,
    }  # fmt: skip


def leg(hold: float = 0.0) -> dict[str, Any]:
    """One leg with a round foot, whose trunk may fall."""
    return walker(("",), (0.0,), 0.4, guard=True, hold=hold)


def biped(hold: float = 0.0) -> dict[str, Any]:
    """Two legs with flat feet, eight places that may touch."""
    return walker(("l", "r"), FLAT, 0.6, hold=hold)


def _bodies(p: str, ends: tuple[float, ...]) -> dict[str, Any]:
    feet = {f"F{k}": [x, -0.3] for k, x in enumerate(ends)}
    return {
        f"{p}thigh": {"points": {"H": [0, 0], "K": [0, -0.3]}, "mass": 1.0, "com": [0, -0.15], "inertia": 0.01},
        f"{p}crank": {"points": {"C": [0, 0], "R": [0.08, 0]}, "mass": 0.2, "com": [0.04, 0], "inertia": 0.001},
        f"{p}rod": {"points": {"R": [0, 0], "S": [0, -0.32]}, "mass": 0.1, "com": [0, -0.16], "inertia": 0.001},
        f"{p}shank": {"points": {"K": [0, 0], "S": [0.08, 0], **feet}, "mass": 0.5, "com": [0, -0.15], "inertia": 0.004},
    }  # fmt: skip


def _joints(p: str) -> dict[str, Any]:
    ends = {
        "hip": (f"trunk.{p}H", f"{p}thigh.H"), "crank": (f"trunk.{p}C", f"{p}crank.C"), "upper": (f"{p}crank.R", f"{p}rod.R"),
        "lower": (f"{p}rod.S", f"{p}shank.S"), "knee": (f"{p}thigh.K", f"{p}shank.K"),
    }  # fmt: skip
    return {f"{p}{name}": {"type": "revolute", "connect": list(pair)} for name, pair in ends.items()}
