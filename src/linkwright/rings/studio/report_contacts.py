"""Sections of the report about contact: touches of a run, with impacts, forces and losses of each, and lost motion over a cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.api import Trajectory, contact
from linkwright.rings.studio.report_parts import facts, note, table
from linkwright.rings.studio.scene_contacts import TouchForces, touch_events

HEADS = ("Impacts", "Changes of state", "Closed for", "Largest force", "at", "Largest friction", "Largest impulse", "Lost in impacts")


class TouchRecord(NamedTuple):
    """A touch over a run, in SI; `closed` is a share of the time."""

    name: str
    impacts: int
    changes: int
    closed: float
    force: float
    force_at: float
    friction: float
    impulse: float
    lost: float


def touch_records(run: Trajectory) -> list[TouchRecord]:
    """Every touch of a run that ever closed; none of a motion without touches."""
    found = TouchForces(run)
    if not found.known:
        return []
    events, spans, out = touch_events(run), np.diff(run.t), []
    for k, x in enumerate(contact.touches(run.skel.tree.description)):
        own = [e for e in events if e.name == x.name]
        force, friction, closed = found.forces[:, k, 0], found.friction(k), found.states[:, k] > 0
        if not own and not closed.any():
            continue
        at = int(np.argmax(force))
        share = float(spans[closed[:-1]].sum() / spans.sum()) if spans.sum() > 0.0 else 0.0
        impulse = float(np.max(run[f"{x.name}.impulse"], initial=0.0))
        impacts, lost = sum(e.impact for e in own), sum(e.lost for e in own)
        largest = float(friction.max(initial=0.0))
        out.append(TouchRecord(x.name, impacts, len(own), share, float(force[at]), float(run.t[at]), largest, impulse, lost))
    return out


def contacts(run: Trajectory) -> str:
    """A row for each touch, then losses and accuracy by the certificate."""
    c = run.certificate
    if c is None or not c.touches:
        return ""
    found = touch_records(run)
    first = contact.touches(run.skel.tree.description)[0].name
    symbol, size = run.unit(f"{first}.force")
    units = ("", "", "%", symbol, "s", symbol, "N s", "J")
    rows = [
        (x.name, x.impacts, x.changes, 100.0 * x.closed, x.force / size, x.force_at, x.friction / size, x.impulse, x.lost) for x in found
    ]
    where = f" ({c.touch_depth_at})" if c.touch_depth_at else ""
    lines = [
        ("Losses", f"impacts {c.impact_losses:.4g} J, sliding {c.sliding_loss:.4g} J"),
        ("Depth", f"at most {c.touch_depth:.1e} m{where}; closed ones open by at most {c.touch_open:.1e} m"),
        ("Law of contact", f"residual at most {c.touch_residual:.1e}, forces beyond the law by {c.touch_excess:.1e} of the largest"),
    ]
    shared = f"Forces are shared among {c.touch_shared}: their sums and the motion are unique." if c.touch_shared else ""
    idle = c.touches - len(found)
    apart = f"{idle} of {c.touches} places never touch." if idle else ""
    return table([("Touch", ""), *zip(HEADS, units, strict=True)], rows) + facts(lines) + note(shared) + note(apart)


LOST_MOTION = ".lost_motion"
HELD_STILL = 1e-12  # m or rad, of the links before a play, which the drive holds


def lost_motion(c: Trajectory, over: str) -> str:
    """A row for each output that the plays let move, the largest first to each side; empty without plays or for a design that has none."""
    names = [n for n in c.channels if n.endswith(LOST_MOTION)]
    if not names:
        return ""
    (where, turn), rows = c.unit(over), []
    for name, half in c.read(names).items():
        if half.max() < HELD_STILL:
            continue
        (symbol, size), k, bounded = c.unit(name), int(half.argmax()), half[np.isfinite(half)]
        largest = half[k] / size if np.isfinite(half[k]) else "unbounded"
        rows.append((name.removesuffix(LOST_MOTION), symbol, bounded.min(initial=np.inf) / size, largest, c[over][k] / turn))
    heads = [("Output", ""), ("", ""), ("Smallest", ""), ("Largest", ""), ("at", where)]
    said = "How far an output moves to each side within all plays while the drives hold. It is unbounded at dead centers."
    return table(heads, rows, left=2) + note(said) if rows else ""
