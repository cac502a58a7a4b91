"""Dwell linkages: a four-bar whose coupler or rocker moves an output that rests while the crank turns through a window.

    stephenson III slider, stephenson III   a coupler point runs along an arc; rod of its radius to a slider or rocker
    watt II slider, watt II                 rod on the rocker near the end of its swing, in line with its pivot
    slotted slider, slotted rocker          a coupler point runs along a straight line, in a slot across the slider or along the rocker

Starts use what is linear: the arc or line of a random coupler point in the window, by least squares, sizes the output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwright.rings.synthesis.duals import Dual, constant
from linkwright.rings.synthesis.dyad_steps import Anchor, LinkageStep, PinDyad, SlideDyad, SlotDyad, YokeDyad, positions
from linkwright.rings.synthesis.linkage_forms import FOUR_BAR, Columns, Flags, LinkageForm, Shapes, four_bar_shapes

Array = np.ndarray
SHAPE = ("a", "b", "c", "x.re", "x.im")  # slacks over the shortest link, traced point on coupler or rocker


@dataclass(frozen=True, eq=False)
class DwellForm:
    """Steps, columns and starts of one type; `output` is the slider or rocker that rests.

    sized(known point in the window (N, K), its pivot, u, rng): columns and flags of the output.
    """

    kind: str
    carrier: str  # body of the point: coupler or rocker
    step: LinkageStep
    names: tuple[str, ...]
    lengths: tuple[str, ...]
    output: str
    rotary: bool
    sized: Callable[[Array, Array, Array, np.random.Generator], Shapes]
    sampled: int  # numbers that `sized` takes

    @property
    def steps(self) -> tuple[LinkageStep, ...]:
        return (*FOUR_BAR, self.step)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*SHAPE, *self.names, "start")

    @property
    def all_lengths(self) -> tuple[str, ...]:
        return ("r1", "r2", "r3", "r4", *self.lengths)

    def numbers(self, columns: Columns, flags: Flags) -> dict[str, Dual]:
        """Return all dimensions by name; the shortest link is 1, the guide is at the distance `h` from the crank's pivot."""
        out = FOUR_BAR_FORM.numbers({"s": constant([1.0]), **columns}, flags)
        if "h" in out:
            out["g"] = out["phi"].turned() * 1j * out["h"]
        return out

    def sample(self, u: Array, window: Array, rng: np.random.Generator) -> Shapes:
        """Return random candidates from u (N, 6 + sampled), for crank angles of the window counted from its start."""
        shape, flags = four_bar_shapes(u[:, :3], rng)
        shape.pop("s")
        numbers = FOUR_BAR_FORM.numbers({"s": constant([1.0]), **{n: constant(v) for n, v in shape.items()}}, flags)
        size = numbers["r3" if self.carrier == "coupler" else "r4"].value[:, 0]
        shape["x.re"], shape["x.im"] = size * (3.0 * u[:, 3] - 1.0), size * (4.0 * u[:, 4] - 2.0)
        shape["start"] = 2.0 * np.pi * u[:, 5]
        numbers["x"] = constant(shape["x.re"] + 1j * shape["x.im"])
        known = positions(FOUR_BAR, numbers, constant(shape["start"][:, None] + window))
        point = known.point(Anchor(self.carrier, "D", "x")).value
        columns, more = self.sized(point, numbers["r1"].value[:, 0] + 0j, u[:, 6:], rng)
        return {**shape, **columns}, {**flags, **more}


FOUR_BAR_FORM = LinkageForm("four-bar", FOUR_BAR, Anchor("coupler", "D", "x"), ("s", "a", "b", "c"), 3, four_bar_shapes, ())


def arcs(points: Array) -> tuple[Array, Array]:
    """Return center and radius of the circle nearest to points (N, K): |p|^2 - 2 Re(conj(c) p) = constant, least squares in c."""
    middle = points.mean(1, keepdims=True)
    p = points - middle
    square = np.abs(p) ** 2
    matrix = np.stack([2.0 * p.real, 2.0 * p.imag, np.ones_like(p.real)], axis=-1)
    transposed = np.swapaxes(matrix, 1, 2)
    normal = transposed @ matrix
    scale = np.trace(normal, axis1=1, axis2=2)[:, None, None]
    solved = np.linalg.solve(normal + 1e-12 * scale * np.eye(3), transposed @ square[..., None])[..., 0]
    center = solved[:, 0] + 1j * solved[:, 1]
    return center + middle[:, 0], np.sqrt(np.maximum(solved[:, 2] + np.abs(center) ** 2, 1e-12))


def lines(points: Array) -> tuple[Array, Array]:
    """Return middle and direction (angle) of the line nearest to points (N, K)."""
    middle = points.mean(1)
    p = points - middle[:, None]
    return middle, 0.5 * np.angle((p * p).sum(1))


def _beside(foot: Array, phi: Array) -> Array:
    """Return the signed distance h of a guide through a point from the origin: the guide contains i h exp(i phi)."""
    return (foot * np.exp(-1j * phi)).imag


def _end_of_rod(form: str, points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return where the rod's other end rests, and the rod's length: center of the arc, or in line with the rocker."""
    if form == "arc":
        return arcs(points)
    middle = points[:, points.shape[1] // 2]
    away = middle - pivot
    length = np.abs(away) * 10.0 ** (1.2 * u - 0.4)
    return middle + rng.choice([-1.0, 1.0], len(u)) * length * away / np.maximum(np.abs(away), 1e-9), length


def _slider(kind: str, carrier: str, form: str) -> DwellForm:
    step = SlideDyad("rod", "slider", Anchor(carrier, "D", "x"), Anchor("ground", "G", "g"), "phi", "F", "l1", "s2")

    def sized(points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> Shapes:
        rest, length = _end_of_rod(form, points, pivot, u[:, 1], rng)
        phi = 2.0 * np.pi * u[:, 0]
        ahead = ((rest - points[:, points.shape[1] // 2]) * np.exp(-1j * phi)).real
        return {"l1": length, "phi": phi, "h": _beside(rest, phi)}, {"s2": np.where(ahead >= 0.0, 1.0, -1.0)}

    return DwellForm(kind, carrier, step, ("l1", "phi", "h"), ("l1",), "slider", False, sized, 2)


def _rocker(kind: str, carrier: str, form: str) -> DwellForm:
    step = PinDyad("rod", "output", Anchor(carrier, "D", "x"), Anchor("ground", "E", "y"), "F", ("l1", "l2"), "s2")

    def sized(points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> Shapes:
        rest, length = _end_of_rod(form, points, pivot, u[:, 2], rng)
        second = length * 10.0 ** (1.2 * u[:, 1] - 0.7)
        y = rest + second * np.exp(2j * np.pi * u[:, 0])
        middle = points[:, points.shape[1] // 2]
        left = ((rest - middle) * np.conj(y - middle)).imag
        columns = {"l1": length, "l2": second, "y.re": y.real, "y.im": y.imag}
        return columns, {"s2": np.where(left >= 0.0, 1.0, -1.0)}

    return DwellForm(kind, carrier, step, ("l1", "l2", "y.re", "y.im"), ("l1", "l2"), "output", True, sized, 3)


def _slotted_slider() -> DwellForm:
    step = YokeDyad("slider", Anchor("coupler", "D", "x"), Anchor("ground", "G", "g"), "phi", "F")

    def sized(points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> Shapes:
        middle, along = lines(points)
        phi = along + np.pi / 2.0
        return {"phi": phi, "h": _beside(middle, phi)}, {}

    return DwellForm("slotted slider", "coupler", step, ("phi", "h"), (), "slider", False, sized, 0)


def _slotted_rocker() -> DwellForm:
    step = SlotDyad("output", Anchor("ground", "E", "y"), Anchor("coupler", "D", "x"), "offset", "s2")

    def sized(points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> Shapes:
        middle, along = lines(points)
        length = np.ptp((points * np.exp(-1j * along)[:, None]).real, axis=1)
        y = middle + np.exp(1j * along) * length * (8.0 * u[:, 0] - 4.0)
        n = len(u)
        return {"y.re": y.real, "y.im": y.imag}, {"s2": np.ones(n), "offset": np.zeros(n)}

    return DwellForm("slotted rocker", "coupler", step, ("y.re", "y.im"), (), "output", True, sized, 1)


DWELL_FORMS: dict[str, DwellForm] = {
    form.kind: form
    for form in (
        _slider("stephenson III slider", "coupler", "arc"),
        _slider("watt II slider", "rocker", "reach"),
        _slotted_slider(),
        _rocker("stephenson III", "coupler", "arc"),
        _rocker("watt II", "rocker", "reach"),
        _slotted_rocker(),
    )
}
