"""Answers from candidates of a form: drawn in the first wanted position, traced over the whole cycle, measured, defects named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from linkwright.rings.synthesis.answers import SynthesizedLinkage
from linkwright.rings.synthesis.coupled import walked
from linkwright.rings.synthesis.drawings import drawn
from linkwright.rings.synthesis.duals import constant
from linkwright.rings.synthesis.dyad_steps import LinkagePositions, positions
from linkwright.rings.synthesis.form_search import FormCandidate

Array = np.ndarray
TRACED = 720  # positions of the trace over a turn
OPEN = 1e-9  # relative gap of a bar that is open


@dataclass(frozen=True, eq=False)
class CycleTrace:
    """One cycle of the crank from the first wanted position: where every dyad closes, and the cosines of the transmission angles."""

    theta: Array
    known: LinkagePositions
    closes: Array
    cosine: Array | None
    angles: Mapping[str, Array] = field(default_factory=dict)  # of coupled bodies

    def guesses(self, wanted: Array) -> dict[str, Array]:
        """Return the angles of coupled bodies near crank angles of the cycle, as the trace has met them."""
        cycle = self.theta[-1] - self.theta[0]
        place = self.theta[0] + (wanted - self.theta[0]) % cycle
        return {f"guess:{b}": np.interp(place, self.theta, a)[None, :] for b, a in self.angles.items()}

    @property
    def least_transmission(self) -> float | None:
        """Least transmission angle, rad; None for linkages that close by several angles at once."""
        return None if self.cosine is None else float(np.arccos(np.clip(self.cosine.max(), 0.0, 1.0)))


def answer(candidate: FormCandidate, center: complex, size: float, *, unit: str = "m") -> SynthesizedLinkage:
    """Return one linkage in meters; points were centered and divided by size."""
    fit, x = candidate.fit, candidate.x[None, :]
    rows = np.array([candidate.row])
    theta = fit.angles(x, rows)[0]
    trace = traced(candidate)
    known = fit.known(x, rows, theta[None, :], slopes=False, guesses=trace.guesses(theta))
    path = fit.placed(known.point(fit.form.path), x, slopes=False).value[0]
    turn = float(candidate.x[fit.start - 1])
    place = complex(candidate.x[fit.start - 3], candidate.x[fit.start - 2])
    output = f"{fit.form.path.body}.{fit.form.path.pin}"
    scale = size * complex(np.exp(1j * turn))
    linkage = drawn(fit.form.kind, fit.form.steps, known, points=[fit.form.path], output=output, size=scale, place=center + size * place)
    lengths = [abs(float(known.dimensions[n].value[0, 0])) for n in fit.form.lengths]
    measures = {"largest deviation": size * float(np.abs(path - fit.points).max()), "link ratio": max(lengths) / min(lengths)}
    least = trace.least_transmission
    if least is not None:
        measures["least transmission angle"] = least
    measures["longest link"] = size * max(lengths)
    error = size**2 * float((np.abs(path - fit.points) ** 2).sum())
    speed = "60 rpm" if theta[-1] >= theta[0] else "-60 rpm"
    return SynthesizedLinkage(linkage, error, defects(trace, theta), measures, unit=unit, speed=speed)


def traced(candidate: FormCandidate) -> CycleTrace:
    """Follow one candidate over a turn of the crank."""
    fit, x, rows = candidate.fit, candidate.x[None, :], np.array([candidate.row])
    start = fit.angles(x, rows)[0, 0]
    theta = start + np.linspace(0.0, 2.0 * np.pi * fit.form.turns, TRACED * fit.form.turns + 1)
    form = fit.form
    if form.coupled is None:
        known = fit.known(x, rows, theta[None, :], slopes=False)
        cosine = np.max([np.abs(c.value[0]) * np.ones(len(theta)) for c in known.closings.values()], axis=0)
        return CycleTrace(theta, known, cosine < 1.0, cosine)
    first = {n: g[rows, :1] for n, g in fit.guesses.items()}
    begin = fit.known(x, rows, theta[None, :1], slopes=False, guesses=first)
    angles = {b: np.angle(begin.poses[b].direction.value[:, 0]) for b, _ in form.coupled.hanging}
    found, gap = walked(form.steps, dict(begin.dimensions), theta[None, :], angles)
    guessed: Mapping[str, Array] = {f"guess:{b}": a for b, a in found.items()}
    known = positions(form.steps, {**begin.dimensions, **{n: constant(g) for n, g in guessed.items()}}, constant(theta[None, :]))
    (side,) = (s.value[0] for s in known.sides.values())
    return CycleTrace(theta, known, (gap[0] < OPEN) & (side * side[0] > 0.0), None, {b: a[0] for b, a in found.items()})


def defects(trace: CycleTrace, wanted: Array) -> tuple[str, ...]:
    """Name what is wrong: the crank cannot turn fully, or the wanted crank angles are on parts of the turn that are not connected.

    The sign of every dyad is the same at all points, so that a branch changes only where a dyad opens; increments of the crank
    angle have one sign, so that points are met in order.
    """
    if trace.closes.all():
        return ()
    last = len(trace.theta) - 1
    cycle = trace.theta[-1] - trace.theta[0]
    place = np.clip(np.rint((wanted - trace.theta[0]) % cycle / cycle * last).astype(int), 0, last)
    label = np.cumsum(~trace.closes)  # constant on every connected part; the turn is cyclic
    part = np.where(label == label[-1], 0, label)
    return ("grashof",) if len(set(part[place].tolist())) == 1 else ("grashof", "circuit")
