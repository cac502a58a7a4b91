"""Paths of linkages of given forms: input checked, points scaled, every form searched, the best answers of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import UsageError, counted, nearest, tolerances
from linkwright.rings.synthesis.drawings import drawn
from linkwright.rings.synthesis.duals import constant
from linkwright.rings.synthesis.dyad_steps import LinkagePositions, positions
from linkwright.rings.synthesis.form_fit import FormLimits
from linkwright.rings.synthesis.form_search import POLISHED, FormCandidate, search
from linkwright.rings.synthesis.linkage_forms import LinkageForm
from linkwright.rings.synthesis.non_dyad_closure import walked
from linkwright.rings.synthesis.results import SynthesizedLinkage, ranked

Array = np.ndarray
Found = tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]

LONGEST, SHORTEST = 10.0, 0.02  # links over the size of the path
TRANSMISSION = np.deg2rad(20.0)
STARTS = 4096

TRACED = 720  # positions of the trace over a turn


def form_paths(
    forms: Sequence[LinkageForm], points: Any, *, timing: Any, closed: bool, seed: int, count: int, starts: int, longest: float | None,
    shortest: float | None, within: Any, transmission: float,
) -> Found:  # fmt: skip
    """Search all forms for a path and return the best answers of all."""
    wanted = path_points(points)
    angles = crank_angles(timing, len(wanted))
    if count < 1 or starts < 16:
        raise UsageError(f"count = {count}, starts = {starts}: ask for at least 1 answer and 16 starts.", name="count")
    if not 0.0 <= transmission < np.pi / 2.0:
        raise UsageError(
            f"transmission = {np.rad2deg(transmission):g} deg: the least transmission angle is between 0 and 90 deg.", name="transmission"
        )
    center = complex(wanted.mean())
    size = float(np.ptp(wanted.real) + np.ptp(wanted.imag))
    most = LONGEST if longest is None else longest / size
    least = min(SHORTEST, most / 50.0) if shortest is None else shortest / size
    if not 0.0 < least < most:
        raise UsageError(f"links between {least * size:g} and {most * size:g} m: give shortest > 0 and longest above it.")
    corners = None if within is None else pivot_box(within)
    box = None if corners is None else ((corners[0] - center) / size, (corners[1] - center) / size)
    limits = FormLimits(most, least, float(np.cos(transmission)), box)
    most_points = 80  # without timing: every point has a crank angle of its own
    some = np.arange(len(wanted)) if angles is not None else np.unique(np.linspace(0, len(wanted) - 1, most_points).round().astype(int))
    found: list[FormCandidate] = []
    evaluations = 0
    each = max(2, -(-2 * POLISHED // len(forms)))
    for form in forms:
        scaled = (wanted[some] - center) / size
        optima, effort = search(form, scaled, angles, limits, seed=seed, starts=starts, closed=closed, optima=min(each, POLISHED))
        evaluations += effort.evaluations
        found += optima
    answers = ranked([answer(c, center, size) for c in sorted(found, key=lambda c: c.cost)[: 2 * count]])[:count]
    facts = {"forms": len(forms), "starts": starts * len(forms), "evaluations": evaluations, "optima": len(found)}
    thinned = () if len(some) == len(wanted) else (f"{len(some)} of the {len(wanted)} points were fitted; give a timing to use all.",)
    return list(answers), facts, (*notes(found, answers), *thinned)


def notes(found: Sequence[FormCandidate], answers: Sequence[SynthesizedLinkage]) -> tuple[str, ...]:
    """Say what limits the best answer."""
    if not answers:
        return ("No linkage of this type closes over a whole turn near these points; allow longer links or a smaller transmission angle.",)
    best = min(found, key=lambda c: c.cost)
    if best.violation > 1e-6:
        return ("The limits of lengths or transmission angles cannot all be met; the answers violate them slightly.",)
    limited = [dual for dual, limit in best.fit.parts(best.x[None, :], np.array([best.row]), slopes=False).limited
               if limit > 0.0 and np.abs(dual.value).max() > limit - 1e-6]  # fmt: skip
    if limited and best.cost > 1e-20:
        return ("The best answer is at a limit of link lengths or of the transmission angle; a wider limit gives a smaller error.",)
    return ()


def path_points(points: Any) -> Array:
    """Return wanted points as complex numbers."""
    array = np.asarray(points)
    if array.dtype.kind != "c":
        try:
            array = np.asarray(points, dtype=float)
        except (TypeError, ValueError):
            raise UsageError("points must be numbers: give a list of [x, y] in meters.", name="points") from None
        if array.ndim != 2 or array.shape[1] != 2:
            raise UsageError(f"points have the shape {array.shape}; give a list of [x, y] in meters.", name="points")
        array = array[:, 0] + 1j * array[:, 1]
    if array.ndim != 1 or len(array) < 3:
        raise UsageError(f"{counted(array.size, 'point')}: a path needs at least 3; fewer are met by a crank alone.")
    if not np.isfinite(array).all():
        raise UsageError("a point is not a finite number; give every point as [x, y] in meters.", name="points")
    if np.ptp(array.real) + np.ptp(array.imag) == 0.0:
        raise UsageError("all points are the same; give points of a path.", name="points")
    return array


def pivot_box(within: Any) -> tuple[complex, complex]:
    """Return the lower left and upper right corner of a box."""
    try:
        box = np.asarray(within, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("within must be two corners: give [[x, y], [x, y]] in meters.", name="within") from None
    if box.shape != (2, 2) or not np.isfinite(box).all() or (np.ptp(box, axis=0) <= 0.0).any():
        raise UsageError("within must be two opposite corners of a box: give [[x, y], [x, y]] in meters.", name="within")
    low, high = box.min(axis=0), box.max(axis=0)
    return complex(*low), complex(*high)


def crank_angles(timing: Any, count: int) -> Array | None:
    """Return the crank angles from the first point on, or None."""
    if timing is None:
        return None
    try:
        angles = np.asarray(timing, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("timing must be numbers: one crank angle in rad for every point.", name="timing") from None
    if angles.shape != (count,) or not np.isfinite(angles).all():
        raise UsageError(
            f"timing has {counted(angles.size, 'angle')} for {counted(count, 'point')}; give one finite crank angle in rad for each point.",
            name="timing",
        )
    steps = np.diff(angles)
    if not ((steps > 0.0).all() or (steps < 0.0).all()) or abs(angles[-1] - angles[0]) > 2.0 * np.pi * (1.0 + 1e-9):
        raise UsageError("crank angles must increase (or decrease) from point to point, within one turn.")
    return angles - angles[0]


def wanted_kinds(kind: str | Sequence[str] | None, known: Any) -> list[str]:
    """Return the kinds that are asked for, in the spelling of this table."""
    if kind is None:
        return list(known)
    names = [kind] if isinstance(kind, str) else list(kind)
    spelled = {k.lower().replace("-", " "): k for k in known}
    out = []
    for name in names:
        found = spelled.get(str(name).lower().replace("-", " "))
        if found is None:
            raise UsageError(f"unknown kind '{name}'.", nearest(str(name), known, "Kinds"))
        out.append(found)
    if not out:
        raise UsageError(f"no kind is given; allowed are {', '.join(known)}.", allowed=known)
    return out


# Answers from candidates of a form: drawn in the first wanted position, traced over the whole cycle, measured, defects named.


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
    return CycleTrace(theta, known, (gap[0] < tolerances.CLOSED_GIVEN) & (side * side[0] > 0.0), None, {b: a[0] for b, a in found.items()})


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
