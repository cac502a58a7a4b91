"""Jumps of a drive's effort between two samples of a cycle, and how good figures of these samples can be.

A load that switches makes torque and forces jump. The trapezoidal rule puts the jump in the middle of its step, wherever it is, so
a mean of n steps is off by up to jump/(2 n), and the largest value may lie between two samples. An effort jumps where the
difference of two samples stands out and, looked at more and more finely, comes in a small part of the step with hardly any
change on either side of it. A smooth curve becomes straight when it is looked at like this, a kink continues in the next step, and a
pole grows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from linkwright.api import Description, Expr, LinkwrightError, Trajectory, description, elements, show, unit_of
from linkwright.rings.design.cycle_averages import time_mean
from linkwright.rings.design.drive_duty import DriveHistory, cycle_axis, drive_history, drive_names

PROMINENT = 1.5  # times the third largest of the three differences on either side
REPORTED_JUMP = 0.01  # share of the effort's range below which a jump is not reported
DEPTH = 2  # cuts
SUDDEN = 0.2  # share of the difference in one part: evenly it would be an eighth
CENTERD = 0.02  # share of the RMS below which a mean is that of a conservative cycle, and not what errors are measured by


@dataclass(frozen=True)
class Jump:
    """The effort of a drive jumps by `size` between two places of the cycle, SI; all figures of the drive are good to about `share`."""

    drive: str
    kind: str  # "torque" or "force"
    low: float
    high: float
    size: float
    share: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class JumpSamples:
    """Samples `first` .. `last` with a jump between them, and the largest effort met there."""

    first: int
    last: int
    peak: float


def jumps(c: Trajectory) -> tuple[Jump, ...]:
    """Jumps of the drives' efforts in a cycle, by loads that switch; none in a simulation, whose steps follow them."""
    fewest = 12  # steps of a cycle below which differences of neighbors say nothing
    if c.proof is not None or len(c) <= fewest or not can_switch(c.skel.tree.description):
        return ()
    closer = Closer(c)
    over = cycle_axis(c)
    falling = over.name != "t" and float(c[over.name][-1]) < float(c[over.name][0])
    out: list[Jump] = []
    for name in drive_names(c):
        h = drive_history(c, name)
        found = _steps(c, h, closer)
        share = _share(h, found)
        kind = "torque" if h.rotary else "force"
        for s in found:
            low, high = (float(over.values[k]) for k in ((s.last, s.first) if falling else (s.first, s.last)))
            out.append(Jump(name, kind, low, high, abs(float(h.effort[s.last] - h.effort[s.first])), share))
    return tuple(out)


def can_switch(d: Description) -> bool:
    """True if anything acts that may change at once: loads over channels, friction, stops. Weight, springs and inertia do not."""
    return any(x.switches or any(isinstance(law, (Expr, description.Table)) for law in elements.varying(x)) for x in d.acting)


@dataclass
class Closer:
    """Efforts of all drives at times between the samples, each time computed once."""

    c: Trajectory
    known: dict[tuple[float, float], list[dict[str, float]] | None] = field(default_factory=dict)

    def efforts(self, drive: str, t: np.ndarray) -> np.ndarray | None:
        """Of a drive at equal steps of time; None where there are no loads (a singular position)."""
        key = (float(t[0]), float(t[-1]))
        if key not in self.known:
            try:
                self.known[key] = [x.loads.tau for x in self.c.at(t)._instants]
            except LinkwrightError:
                self.known[key] = None
        found = self.known[key]
        return None if found is None else np.array([x[drive] for x in found])


def suspects(effort: np.ndarray, closed: bool) -> list[int]:
    """Steps whose difference stands out against those around it: the largest of them."""
    size = np.abs(np.diff(effort))
    n = len(size)
    out = []
    for i in np.flatnonzero(size > REPORTED_JUMP * float(np.ptp(effort))).tolist():
        around = sorted(size[k % n] for k in (i + j for j in (-3, -2, -1, 1, 2, 3)) if closed or 0 <= k < n)
        if size[i] > PROMINENT * around[-3]:
            out.append(i)
    most = 6  # steps of a drive that are looked at
    return sorted(sorted(out, key=lambda i: -size[i])[:most])


def _steps(c: Trajectory, h: DriveHistory, closer: Closer) -> list[JumpSamples]:
    """The suspects that really jump; of neighbors one."""
    closed = bool(c.full_turn) and abs(float(h.effort[0] - h.effort[-1])) < 1e-6 * float(np.ptp(h.effort))
    rise = np.diff(h.effort)
    out: list[JumpSamples] = []
    for i in suspects(h.effort, closed):
        beside = [float(rise[k % len(rise)]) if closed or 0 <= k < len(rise) else 0.0 for k in (i - 1, i + 1)]
        peak = _peak_at_a_jump(closer, h.name, (float(c.t[i]), float(c.t[i + 1])), abs(float(rise[i])), (beside[0], beside[1]))
        if peak is None:
            continue
        if out and out[-1].last == i:
            out[-1] = JumpSamples(out[-1].first, i + 1, max(peak, out[-1].peak))
        else:
            out.append(JumpSamples(i, i + 1, peak))
    return out


def _peak_at_a_jump(
    closer: Closer, drive: str, ends: tuple[float, float], whole: float, beside: tuple[float, float] | None, depth: int = DEPTH
) -> float | None:
    """The largest effort at a jump between two times, or None if it is none. `beside`: differences of the steps before and after."""
    parts = 8  # into which a step is cut, and again the part with the jump
    t = np.linspace(*ends, parts + 1)
    effort = closer.efforts(drive, t)
    if effort is None:
        return None
    rise = np.diff(effort)
    k = int(np.argmax(np.abs(rise)))
    top = abs(float(rise[k]))
    if top > 1.5 * whole or (depth == DEPTH and top < SUDDEN * whole) or not isolated(rise, beside):
        return None
    if top > 0.5 * whole and depth > 1:
        deeper = _peak_at_a_jump(closer, drive, (float(t[k]), float(t[k + 1])), top, None, depth - 1)
        return None if deeper is None else max(deeper, float(np.abs(effort).max()))
    return float(np.abs(effort).max())


def isolated(rise: np.ndarray, beside: tuple[float, float] | None) -> bool:
    """True if the large differences among these are together, with flat pieces away from them and, if given, in the steps `beside`."""
    size = np.abs(rise)
    top = float(size.max())
    core = np.flatnonzero(size > 0.5 * top)
    first, last = int(core[0]), int(core[-1])
    away = np.concatenate([size[: max(first - 1, 0)], size[last + 2 :]])
    flat = 0.1  # share of the largest part's difference that those away from it may have
    if len(core) < last - first + 1 or (len(away) and float(away.max()) > flat * top):
        return False
    if beside is None:
        return True
    goes_on = 0.5 * top * len(rise)
    return not ((first == 0 and abs(beside[0]) > goes_on) or (last == len(rise) - 1 and abs(beside[1]) > goes_on))


def _share(h: DriveHistory, found: list[JumpSamples]) -> float:
    """By how much mean, RMS and largest effort may be off, the worst of them, as a share."""
    if not found:
        return 0.0
    span = float(h.t[-1] - h.t[0])
    mean, rms = time_mean(h.t, h.effort), float(np.sqrt(time_mean(h.t, h.effort**2)))
    mean = rms if abs(mean) < CENTERD * rms else abs(mean)
    off_mean = off_square = 0.0
    for s in found:
        half = 0.5 * float(h.t[s.last] - h.t[s.first]) / span
        before, after = float(h.effort[s.first]), float(h.effort[s.last])
        off_mean += half * abs(after - before)
        off_square += half * abs(after**2 - before**2)
    top = float(np.abs(h.effort).max())
    missed = max(max(s.peak for s in found) - top, 0.0)
    return max(off_mean / mean, 0.5 * off_square / rms**2, missed / top)


def jump_notes(found: tuple[Jump, ...], units: tuple[str, ...], dimension: str) -> list[str]:
    """A sentence for every drive whose effort jumps."""
    symbol, size = unit_of(units, dimension)
    out = []
    for drive in dict.fromkeys(x.drive for x in found):
        own = [x for x in found if x.drive == drive]
        unit, scale = unit_of(units, own[0].kind)
        places = [f"by {show(x.size / scale)} {unit} between {_place(x.low / size)} and {_place(x.high / size)} {symbol}" for x in own[:3]]
        more = f" and {len(own) - 3} more times" if len(own) > 3 else ""
        where = f"{', '.join(places[:-1])} and {places[-1]}" if len(places) > 1 and not more else ", ".join(places)
        good = max(100.0 * own[0].share, 0.01)
        out.append(f"the {own[0].kind} of {drive} jumps {where}{more}: figures are good to about {good:.2g} %. More steps narrow it")
    return out


def _place(x: float) -> str:
    return f"{round(x, 9) + 0.0:.6g}"
