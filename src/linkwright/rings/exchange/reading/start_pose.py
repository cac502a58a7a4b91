"""A start near the closed loops, for files whose own pose leaves them open.

Welds and points are closed as the file gives them, before they are understood as joints of other types: a weld has one position, a hinge
that is far open has two, of which the second has its axis turned round. Of the closed positions one within the limits of the joints is
taken where there is one near.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from linkwright.api import SAME_PLACE, Description, LinkwrightError, State, System, closing, compiled_of, tolerances
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.structure_recognition.closure_gaps import gaps
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import placement

LEFT_OPEN = 1e-5  # m: a smaller gap is closed by later steps
MOST_STEPS, DAMPING = 200, 1e-3  # of a descent; its first step is short, for poses far off
MOVED = "the file's pose is outside the limits of joints: the start is a closed position within them"
SPREADS = (0.0, 0.05, 0.2, 0.2, 0.5, 0.5)  # of states beside the drawn one, rad and m

MARGIN = 0.02  # of a range: a start that is moved into it ends this far from the limit


def near_closed(imported: Imported) -> Imported:
    """Return the import with its bodies where the loops are closed as far as possible; its report has the gaps in the file's own pose."""
    d = imported.description
    distances, angles = gaps(d, imported.closing)
    report = replace(imported.report, gaps=(*imported.report.gaps, *distances), angles=(*imported.report.angles, *angles))
    open_there = max([x for _, x in (*distances, *angles)], default=0.0) > tolerances.CLOSED_GIVEN
    if open_there or (d.stops and imported.closing and not imported.start_given):
        # joints that are no cuts together: the file's pose is the start; a weld that is open by half a turn has no rotation vector
        with suppress(LinkwrightError), np.errstate(all="ignore"):
            d, moved, beyond = _closed(d, imported.closing)
            left = _left_open(d, imported.closing, dict(distances), imported.start_given)
            said = (MOVED,) if moved and not open_there else ()
            warned = () if left else beyond
            report = replace(report, stays_open=left, inferred=(*report.inferred, *said), notes=(*report.notes, *warned))
    return replace(imported, description=d, report=report)


def _left_open(d: Description, closing: tuple[str, ...], in_file: dict[str, float], start_given: bool) -> str:
    """Return a sentence about the loop that stays widest open at the best; empty where all are closed."""
    name, least = max(gaps(d, closing)[0], key=lambda x: x[1])
    if least < LEFT_OPEN:
        return ""
    place = d.joint(name).where
    at = f" of {place}" if place else ""
    other = ", or try another start (keyframe=...)" if start_given else ""
    return (
        f"the closing '{name}'{at} stays open by {least:.3g} m at best, from the file's pose, in which it is open by "
        f"{in_file[name]:.3g} m, "
        f"and from {len(SPREADS) - 1} beside it. Check lengths and frames of the closings there{other}."
    )


def _closed(d: Description, closing: tuple[str, ...]) -> tuple[Description, bool, tuple[str, ...]]:
    """Return the description with its loops closed, True if that moved it into the limits, and sentences about joints beyond them."""
    system = System(d, list(closing))
    limits = limits_of(system)
    drawn = compiled_of(system).skel.start_coordinates
    q = np.concatenate([drawn[node.joint.name] for node in system.tree.nodes]) if system.tree.nodes else np.zeros(0)
    first = _at(system, q)
    state, searched = _nearest(system, first, limits)
    moved, beyond = bool(limits.beyond(first.q)) and not limits.beyond(state.q), limits.sentences(state.q, searched=searched)
    if state is first:
        return d, moved, beyond
    poses = {node.body: system.pose(state, node.body) for node in system.tree.nodes}
    bodies = [replace(b, start=placement(poses[b.name])) if b.name in poses else b for b in d.bodies]
    return replace(d, bodies=tuple(bodies)), moved, beyond


def _at(system: System, q: np.ndarray) -> State:
    """Return a state at rest, its loops open or not."""
    return State(compiled_of(system).skel, q, np.zeros(system.tree.nv), compiled_of(system).skel.start_coordinates, 0.0)


def _nearest(system: System, drawn: State, limits: CoordinateLimits) -> tuple[State, bool]:
    """Return the state down the residuals from the drawn one, or from one beside it; of those that close the loops one within the limits.

    True if that was looked for: from a closed state beyond them."""
    best, least = _best(system, drawn)
    if least >= tolerances.CLOSED_GIVEN or not limits.beyond(best.q):
        return best, False
    found, left = _best(system, best, limits)
    return found if left < tolerances.CLOSED_GIVEN and not limits.beyond(found.q) else best, True


def _best(system: System, drawn: State, limits: CoordinateLimits | None = None) -> tuple[State, float]:
    """Return the state from the drawn one down the residuals; from states beside it where that does not close the loops."""
    rng, best, least = np.random.default_rng(0), drawn, np.inf
    for spread in SPREADS:
        begin = drawn if not spread else _at(system, compiled_of(system).displaced(drawn, spread * rng.normal(size=system.tree.nv)))
        found, left = _descended(system, begin, limits)
        if left < least and (least >= LEFT_OPEN or left < tolerances.CLOSED_GIVEN):  # of gaps that later steps close, that in the file
            best, least = found, left
        if least < tolerances.CLOSED_GIVEN:
            break
    return best, least


def _descended(system: System, state: State, limits: CoordinateLimits | None = None) -> tuple[State, float]:
    """Return the state after damped Newton steps, short ones, on the residuals of loops and limits, and its largest residual."""

    core = compiled_of(system)

    def rows(q: np.ndarray) -> closing.PositionRows:
        at = _at(system, q)
        phi, J = core.loops.dimensionless(system.closure(at))
        if limits is not None:
            phi = np.concatenate([phi, limits.excess(q)])
            J = np.vstack([J, limits.slopes(q, system.tree.nv) * core.loops.columns])
        return closing.PositionRows(phi, J, np.zeros_like(phi))

    # loops that digits keep from closing have a least gap: steps that lower it little wander along the motion of the mechanism
    rule = closing.Rule(MOST_STEPS, tolerances.CLOSED_START, level=LEFT_OPEN / core.loops.kappa, damping=DAMPING)
    found = closing.onto(rows, core.loops.displaced, state.q, rule)
    moved = _at(system, found.q)
    phi = system.closure(moved).phi
    left = phi if limits is None else np.concatenate([phi, limits.excess(found.q)])
    return moved, float(np.abs(left).max(initial=0.0)) if np.isfinite(left).all() else np.inf


# Limits of joints as conditions on the coordinates of a start: how far each is beyond, and the sentence about those that stay so.


@dataclass(frozen=True)
class CoordinateLimits:
    """Limits of joints with one coordinate: names, places in q and v, lowest and highest values (infinite without one)."""

    names: tuple[str, ...]
    q: np.ndarray
    v: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def _inner(self) -> tuple[np.ndarray, np.ndarray]:
        width = self.high - self.low
        margin = np.where(np.isfinite(width), MARGIN * width, MARGIN)
        return self.low + margin, self.high - margin

    def excess(self, q: np.ndarray) -> np.ndarray:
        """Return how far every coordinate is outside of its limits less a margin, rad and m; zero inside."""
        low, high = self._inner
        x = q[self.q]
        return np.maximum(x - high, 0.0) - np.maximum(low - x, 0.0)

    def slopes(self, q: np.ndarray, nv: int) -> np.ndarray:
        """Return the derivatives of `excess` by the speeds."""
        out = np.zeros((len(self.names), nv))
        out[np.arange(len(self.names)), self.v] = self.excess(q) != 0.0
        return out

    def beyond(self, q: np.ndarray) -> list[int]:
        """Return the numbers of the limits that a coordinate is beyond."""
        x = q[self.q]
        return [int(k) for k in np.flatnonzero((x > self.high + SAME_PLACE) | (x < self.low - SAME_PLACE))]

    def sentences(self, q: np.ndarray, *, searched: bool) -> tuple[str, ...]:
        """Return one sentence about all joints that are beyond their limits, empty without them; `searched`: for a position within."""
        wrong = []
        for k in self.beyond(q):
            x = float(q[self.q[k]])
            wrong.append(f"'{self.names[k]}' at {x:.4g} (limit {self.high[k] if x > self.high[k] else self.low[k]:.4g})")
        text = "with the loops closed the start is beyond limits of joints"
        text += ", and no closed position near it is within all of them" if searched else ""
        return (f"{text}: {', '.join(wrong)}",) if wrong else ()


def limits_of(system: System) -> CoordinateLimits:
    """Return the rigid stops of joints of the tree."""
    q, v = system.names.q, system.names.v
    stops = [s for s in system.description.stops if s.stiffness is None and s.joint in q and s.joint in v]
    return CoordinateLimits(
        tuple(s.joint for s in stops),
        np.array([q.index(s.joint) for s in stops], dtype=int),
        np.array([v.index(s.joint) for s in stops], dtype=int),
        np.array([-np.inf if s.lower is None else float(s.lower) for s in stops]),
        np.array([np.inf if s.upper is None else float(s.upper) for s in stops]),
    )
