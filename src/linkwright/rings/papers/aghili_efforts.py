"""Aghili's metric of efforts, what of a constraint force can be controlled, and the bandwidth of the arm's gains.

Least efforts are chosen by inverse dynamics as well as by control, and both must choose the same. Data of the cart and of the arm are
our own (`aghili_control`), because the paper prints none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwright.rings.control import hybrid, projected
from linkwright.rings.papers import Item, aghili_control, compared
from linkwright.system.mechanism import compile, load

FORCE = 5.0  # N, wanted of one multiplier
ANGLES = (0.7, 0.9, 1.1)  # rad: of the cart's pole


def least_efforts() -> Item:
    """A cart and its pole, pushed by a force and a torque, by inverse dynamics and projected control; files in meters and millimeters."""
    drives, off, shown = ["slide", "P"], 0.0, {}
    for rated in (None, {"slide": "2 N", "P": "1 N m"}):
        for unit in ("m", "mm"):
            s = compile(load(aghili_control.cart(unit)))
            for angle in ANGLES:
                st = s.assemble({"P": angle}, {"P": aghili_control.CART["speed"]})
                wanted = aghili_control.CART["wanted"]
                path = {"P": f"{angle} rad + {aghili_control.CART['speed']} rad/s*t + {wanted / 2.0} rad/s^2*t^2"}
                controlled = s.control(projected(path, drives=drives, rated=rated), st)(st)
                loads = s.inverse(st, {"P": wanted}, drives=drives, rated=rated)
                off = max(off, *(abs(loads.tau[n] - controlled[n]) for n in drives))
                shown.setdefault((angle, rated is None), [loads.tau[n] for n in drives])
                off = max(off, *(abs(x - loads.tau[n]) for x, n in zip(shown[angle, rated is None], drives, strict=True)))
    default, given = shown[0.9, True], shown[0.9, False]
    return compared(
        "(46), (47)",
        "least efforts of inverse dynamics and of projected control are the same",
        "one weighted norm",
        f"{default[0]:.4f} N, {default[1]:.4f} N m with kappa of the drawing and {given[0]:.4f} N, {given[1]:.4f} N m with kappa = 0.5 m, "
        f"by both; largest difference {max(off, 1e-16):.0e} over {4 * len(ANGLES)} cases in meters and millimeters",
        off,
        1e-10,
        "s.inverse against lw.control.projected; own data",
        "where no rated efforts are known, forces count times the characteristic length; a note names the weights",
    )


def remark_5() -> Item:
    """Three equal parallel cranks: the Jacobian has rank 3 of 4. And the slider-crank, where it has full rank."""
    s = compile(load("parallelogram-middle"))
    law = hybrid({"A": "60 deg"}, {"C.tx": FORCE}, P=25, D=10, F=1, I=20, drives=["A", "D"])
    control = s.control(law, s.start)
    found = s.forward(s.start, control(s.start))
    t = s.terms(s.start)
    lam = np.concatenate([found.lam[n] for n in t.names])
    a, other = _by_least_squares(t, s.start, control(s.start), s.names.v)
    # the constraint force and the motion are those of any other multipliers that satisfy the equations
    force = max(float(np.abs(t.J.T @ (lam - other)).max()), float(np.abs(found.a - a).max()), abs(found.lam["C"][0] - FORCE))
    row = [f"{x.name}.{label}" for x in s.loops.constraints for label in x.labels].index("C.tx")
    c = compile(load("slider-crank"))
    st = c.assemble({"A": math.pi / 6}, {"A": 0.0})
    efforts = c.control(hybrid({"A": "60 deg"}, {"C.ty": FORCE}, P=25, D=10, F=1, I=20, drives=["A", "B"]), st)(st)
    full = abs(_by_least_squares(c.terms(st), st, efforts, c.names.v)[1][0] - FORCE)
    noted = [n for n in control.notes if "C.tx is statically indeterminate: N.tx, C.tx" in n]
    return compared(
        "remark 5",
        "constraint forces are always controllable, multipliers only where the Jacobian has full rank",
        "F always; lambda only at full rank",
        f"rank {np.linalg.matrix_rank(t.J)} of {len(t.J)}: C.tx is {found.lam['C'][0]:.4f} N with least reactions and {other[row]:.4f} N "
        f"with least multipliers, J' lambda the same within {max(force, 1e-16):.0e} N; "
        f"full rank: {FORCE:g} N within {max(full, 1e-16):.0e} N",
        force + full + (0.0 if len(noted) == 1 and abs(other[row] - FORCE) > 1e-3 else 1.0),
        1e-9,
        "least squares on [M J'; J 0]",
        "lw.control.hybrid notes a multiplier that statics leaves open, and refuses more of them than are independent",
    )


def _by_least_squares(t: Any, st: Any, efforts: Any, names: Any) -> tuple[np.ndarray, np.ndarray]:
    """(a, multipliers of least norm) of M a + h = tau + J' lam, J a + k = 0."""
    tau = np.array([efforts.get(n, 0.0) for n in names])
    n, m = t.M.shape[0], len(t.J)
    K = np.block([[t.M, -t.J.T], [t.J, np.zeros((m, m))]])
    z = np.linalg.lstsq(K, np.concatenate([tau - t.h, -t.k]), rcond=1e-10)[0]
    return z[:n], z[n:]


def bandwidth() -> Item:
    """Poles of the arm's closed loop, linearized on its trajectory with the tip on the slider."""
    s = compile(load("3r-slider"))
    poles = np.sort(np.linalg.eigvals(s.linearize(s.start, control=aghili_control.arm_law("PIDC")).A).real)
    slow, fast = poles[2:], poles[:2]  # one pair for each of the two coordinates
    frequency = np.sqrt(slow * fast)
    damping = float(-(slow + fast).mean() / (2.0 * frequency.mean()))
    held = np.linalg.eigvals(s.linearize(s.start, control=aghili_control.arm_law("hybrid")).A).real.max()
    hertz = float(frequency.mean() / (2.0 * math.pi))
    off = max(float(np.abs(frequency - math.sqrt(480.0)).max()), abs(damping - 45.0 / (2.0 * math.sqrt(480.0))), abs(held + 0.1 / 4.0))
    return compared(
        "Sec. IX",
        "bandwidth of the gains G_P = 480, G_D = 45",
        "3.5 Hz",
        f"{hertz:.4f} Hz, damping {damping:.4f} (poles {slow.mean():.3f}, {fast.mean():.3f} 1/s); force loop {held:.3f} 1/s",
        max(off, abs(hertz - 3.5) - 0.05),  # printed with two digits
        1e-8,
        "sqrt(480) rad/s, 45 / (2 sqrt(480)) and -G_I / (1 + G_F)",
        "3.5 Hz is the natural frequency of e'' + 45 e' + 480 e = 0; its poles are real, as the damping is above one",
    )
