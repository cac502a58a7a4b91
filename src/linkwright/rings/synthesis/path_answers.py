"""Answers of a path search: candidates drawn as linkages in meters, measured and traced by their pins, limits that bind named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.rings.synthesis.answers import SynthesizedLinkage
from linkwright.rings.synthesis.cognates import cognates
from linkwright.rings.synthesis.coupler_chains import Array, lengths
from linkwright.rings.synthesis.defects import defects
from linkwright.rings.synthesis.linkage import Linkage, four_bar, slider_crank
from linkwright.rings.synthesis.path_problem import PathProblem
from linkwright.rings.synthesis.path_search import PathOptimum
from linkwright.rings.synthesis.tracing import crank_linkage
from linkwright.text.units import parse_unit

BINDING = 1e-7  # distance from a limit, points of size 1
SAME = 0.01  # of the size: pins of two linkages that are alike
FLAT = 1e-6  # slack over the longest link at which a linkage has a change point


@dataclass(frozen=True)
class PathScale:
    """Size and center by which points were made dimensionless, and the unit of length in texts."""

    size: float
    center: complex
    unit: str

    def text(self, length: float) -> str:
        """Return a length of the search as text in the user's unit."""
        return f"{length * self.size / parse_unit(self.unit)[0]:.6g} {self.unit}"


def drawn(problem: PathProblem, x: PathOptimum, scale: PathScale) -> tuple[Linkage, Array]:
    """Return the linkage at the first point, and the drive angles from there to all points."""
    s, v = problem.shapes, x.v[None]
    theta = problem.angles(v, x.choices)
    coupler = problem.chain.coupler(v[:, :s], x.choices.kind, x.choices.sigma, theta)[0, 0]
    size = dict(zip(problem.chain.links, lengths(problem.chain, v[:, :s], x.choices.kind)[0], strict=True))
    frame = np.exp(1j * x.v[s + 4])
    a = complex(x.v[s + 2], x.v[s + 3])
    b = a + frame * size["crank"] * np.exp(1j * theta[0, 0])
    c = b + frame * size["coupler"] * coupler
    p = b + frame * complex(x.v[s], x.v[s + 1]) * coupler
    if "ground" in size:
        pins = [scale.center + scale.size * z for z in (a, b, c, a + frame * size["ground"], p)]
        linkage = four_bar(*(complex(z) for z in pins))
    else:
        pins = [complex(scale.center + scale.size * z) for z in (a, b, c, p)]
        linkage = slider_crank(pins[0], pins[1], pins[2], complex(frame), pins[3])
    return linkage, theta[0] - theta[0, 0]


def answers(problem: PathProblem, found: Sequence[PathOptimum], scale: PathScale) -> list[SynthesizedLinkage]:
    """Return the linkages of these optima without those that are cognates of a better one."""
    out: list[SynthesizedLinkage] = []
    for x in found:
        linkage, turned = drawn(problem, x, scale)
        if any(_same(linkage, other, scale.size) for better in out for other in (better.linkage, *better.cognates)):
            continue
        out.append(_answer(problem, x, linkage, turned, scale))
    return out


def _answer(problem: PathProblem, x: PathOptimum, linkage: Linkage, turned: Array, scale: PathScale) -> SynthesizedLinkage:
    wanted = scale.center + scale.size * problem.points
    traced = crank_linkage(linkage)
    theta = turned + np.angle(traced.b - traced.a)
    missed = np.abs(traced.path(theta, np.full(theta.shape, traced.sigma)) - wanted)
    largest = float(missed.max())
    met = largest * (1.0 + 1e-6) + 1e-9 * scale.size
    timed = problem.timing is not None
    report = defects(linkage, angles=turned) if timed else defects(linkage, wanted, tolerance=met)
    sizes = [abs(z) for name, z in traced.lengths.items() if name != "offset"]
    measures = {
        "largest deviation": largest,
        "link ratio": max(sizes) / min(sizes),
        "least transmission angle": report.least_transmission,
        "longest link": max(sizes),
    }
    backwards = x.choices.direction[0] < 0.0 if problem.timing is None else turned[-1] < 0.0
    return SynthesizedLinkage(
        linkage,
        float((missed**2).sum()),
        report.names,
        measures,
        cognates(linkage),
        binding(problem, x, scale),
        unit=scale.unit,
        speed="-60 rpm" if backwards else "60 rpm",
        at=tuple(float(t) for t in turned),
        wanted=tuple(complex(z) for z in wanted),
    )


def _same(first: Linkage, second: Linkage, size: float) -> bool:
    """True if two linkages of one point have the same pins, driven from either side."""
    one, other = crank_linkage(first), crank_linkage(second)
    if one.four_bar != other.four_bar:
        return False
    pins = np.array([x for x in (one.a, one.b, one.c, one.d) if x is not None])
    again = np.array([x for x in (other.a, other.b, other.c, other.d) if x is not None])
    span = max(size, float(np.abs(pins - pins.mean()).max()))
    ways = (again, again[::-1]) if one.four_bar else (again,)
    return any(float(np.abs(pins - w).max()) <= SAME * span for w in ways)


def binding(problem: PathProblem, x: PathOptimum, scale: PathScale) -> tuple[str, ...]:
    """Return sentences on the limits that an optimum lies on, and on change points."""
    s, limits = problem.shapes, problem.limits
    size = dict(zip(problem.chain.links, lengths(problem.chain, x.v[None, :s], x.choices.kind)[0], strict=True))
    out = []
    for k, (link, length) in enumerate(size.items()):
        for limit, word in ((limits.most[k], "upper"), (limits.least[k], "lower")):
            if abs(length - limit) <= BINDING * (1.0 + abs(limit)):
                out.append(f"the {link} is at its {word} bound, {scale.text(limit)}")
    links = [length for name, length in size.items() if name != "offset"]
    if max(links) >= limits.ratio * min(links) * (1.0 - BINDING):
        out.append(f"the link ratio is at its bound, {limits.ratio:g}")
    if limits.transmission > 0.0 and problem.chain.transmission(x.v[None, :s], x.choices.kind, limits.transmission)[0].max() > -BINDING:
        out.append(f"the least transmission angle is at its bound, {np.rad2deg(limits.transmission):.4g} deg")
    places = {"crank pivot": (s + 2, limits.crank_pivot), "coupler point": (s, limits.point)}
    for name, (k, box) in places.items():
        z = x.v[k : k + 2]
        if box is not None and problem.free[k] and _on_edge(complex(z[0], z[1]), box):
            out.append(f"the {name} is at the edge of its box")
    if limits.other_pivot is not None and "ground" in size:
        pivot = complex(x.v[s + 2], x.v[s + 3]) + size["ground"] * np.exp(1j * x.v[s + 4])
        if _on_edge(pivot, limits.other_pivot):
            out.append("the rocker pivot is at the edge of its box")
    if x.v[1:s].min() <= FLAT * max(links):
        out.append("the linkage has a change point: its links can lie on one line")
    return tuple(out)


def _on_edge(z: complex, box: tuple[complex, complex]) -> bool:
    gaps = (z.real - box[0].real, box[1].real - z.real, z.imag - box[0].imag, box[1].imag - z.imag)
    return min(gaps) <= BINDING * (1.0 + abs(z))
