"""Forms of linkages: which steps they consist of, which dimensions they have, and how random shapes of them are drawn.

Six-bars are a driving four-bar and a second dyad between two of its bodies, which decide the type:

    coupler, ground: Stephenson III       crank, rocker: Stephenson I       rocker, ground: Watt II
    crank, coupler or coupler, rocker: Watt I, driven at a ternary or at a binary link

The four-bar has slack dimensions: shortest link s and a, b, c >= 0 with r1 = s + (b+c)/2 (ground), r3 = s + (a+c)/2, r4 = s + (a+b)/2 and
r2 = s (crank-rocker), or r1 and r2 exchanged (drag link). These are exactly the four-bars whose crank turns fully.
Stephenson II closes by two angles at once (non_dyad_closure.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from linkwright.rings.synthesis.dual_arrays import Dual, constant
from linkwright.rings.synthesis.dyad_steps import Anchor, CrankStep, LinkageStep, PinDyad, positions
from linkwright.rings.synthesis.non_dyad_closure import ClosingBar, CoupledStep

Array = np.ndarray
Columns = Mapping[str, Dual]
Flags = Mapping[str, Array]  # constants of each candidate (N,): signs of dyads, drag link or not
Shapes = tuple[dict[str, Array], dict[str, Array]]

CYCLE = 48  # positions over which the distances of a dyad's ends are measured, to give it lengths that close


@dataclass(frozen=True, eq=False)
class LinkageForm:
    """Steps and dimensions of one type. names: real columns; "x.re", "x.im" make the complex dimension "x".

    sample(u, rng): random shapes (names -> (N,), relative sizes) and flags from numbers u (N, sampled) between 0 and 1.
    lengths: dimensions that are links between two pins; limited by the largest length that is allowed.
    """

    kind: str
    steps: tuple[LinkageStep, ...]
    path: Anchor
    names: tuple[str, ...]
    sampled: int
    sample: Callable[[Array, np.random.Generator], Shapes]
    lengths: tuple[str, ...]
    slack: bool = True  # the four-bar has slack dimensions s, a, b, c
    turns: int = 1  # of the crank in one cycle

    def numbers(self, columns: Columns, flags: Flags) -> dict[str, Dual]:
        """Return all dimensions by name, with lengths from slacks, and flags as constants."""
        out: dict[str, Dual] = {}
        for name, column in columns.items():
            stem, _, part = name.rpartition(".")
            if part == "re":
                out[stem] = column + columns[f"{stem}.im"] * 1j
            elif part != "im":
                out[name] = column
        if self.slack:
            s, a, b, c = (out.pop(n) for n in ("s", "a", "b", "c"))
            drag = np.asarray(flags["drag"], dtype=float)[:, None]
            more = (b + c) * 0.5
            out |= {"r1": s + more * (1.0 - drag), "r2": s + more * drag, "r3": s + (a + c) * 0.5, "r4": s + (a + b) * 0.5}
        for name, flag in flags.items():
            out[name] = constant(flag)
        return out

    @property
    def coupled(self) -> CoupledStep | None:
        return next((s for s in self.steps if isinstance(s, CoupledStep)), None)


FOUR_BAR: tuple[LinkageStep, ...] = (
    CrankStep("crank", Anchor("ground", "O")),
    PinDyad("coupler", "rocker", Anchor("crank", "A", "r2"), Anchor("ground", "C", "r1"), "B", ("r3", "r4"), "s1"),
)
FOUR_BAR_NAMES = ("s", "a", "b", "c")
SIZES = {"ground": "r1", "crank": "r2", "coupler": "r3", "rocker": "r4"}  # of a body: places on it are drawn in proportion


def four_bar_shapes(u: Array, rng: np.random.Generator) -> Shapes:
    """Return four-bars of every proportion that turn fully, one in five a drag link; u has three columns."""
    n = len(u)
    slack = 10.0 ** (3.0 * u[:, :3] - 1.5)
    drag = rng.random(n) < 0.2
    return {"s": np.ones(n), "a": slack[:, 0], "b": slack[:, 1], "c": slack[:, 2]}, {"s1": rng.choice([-1.0, 1.0], n), "drag": drag}


def closing_lengths(least: Array, largest: Array, u: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return two lengths that close over every distance between least and largest; u has two columns."""
    together = largest * (1.02 + 1.5 * u[:, 0] ** 2)
    apart = least * 0.95 * u[:, 1] * rng.choice([-1.0, 1.0], len(u))
    return (together + apart) / 2.0, (together - apart) / 2.0


def six_bar(kind: str, first: str, second: str) -> LinkageForm:
    """Return a four-bar with a dyad from a point x of one body to a point y of another; the path is of the dyad's first link."""
    start, end = Anchor(first, "D", "x"), Anchor(second, "E", "y")
    steps = (*FOUR_BAR, PinDyad("rod", "link", start, end, "F", ("l1", "l2"), "s2"))
    names = (*FOUR_BAR_NAMES, "x.re", "x.im", "y.re", "y.im", "l1", "l2")
    probe = LinkageForm(kind, FOUR_BAR, start, FOUR_BAR_NAMES, 3, four_bar_shapes, ())

    def sample(u: Array, rng: np.random.Generator) -> Shapes:
        shape, flags = four_bar_shapes(u[:, :3], rng)
        columns = {n: constant(v) for n, v in shape.items()}
        numbers = probe.numbers(columns, flags)
        for k, (place, body) in enumerate((("x", first), ("y", second))):
            size = numbers[SIZES[body]].value[:, 0]
            shape[f"{place}.re"] = size * (4.0 * u[:, 3 + 2 * k] - 1.5)
            shape[f"{place}.im"] = size * (4.0 * u[:, 4 + 2 * k] - 2.0)
            numbers[place] = constant(shape[f"{place}.re"] + 1j * shape[f"{place}.im"])
        known = positions(FOUR_BAR, numbers, constant(np.linspace(0.0, 2.0 * np.pi, CYCLE, endpoint=False)[None, :]))
        distance = np.abs(known.point(start).value - known.point(end).value)
        shape["l1"], shape["l2"] = closing_lengths(distance.min(1), distance.max(1), u[:, 7:9], rng)
        flags["s2"] = rng.choice([-1.0, 1.0], len(u))
        return shape, flags

    return LinkageForm(kind, steps, Anchor("rod", "P", "w"), names, 9, sample, ("r1", "r2", "r3", "r4", "l1", "l2"))


def stephenson_two(traced: str) -> LinkageForm:
    """Return Stephenson II, driven at its binary link; the path is of the floating ternary link ("coupler") or of a bar ("rod")."""
    coupled = CoupledStep(
        (("coupler", Anchor("crank", "A", "r2")), ("rocker", Anchor("ground", "C", "r1"))),
        (
            ClosingBar("rod", Anchor("coupler", "B", "d1"), Anchor("rocker", "D", "e1"), "l1"),
            ClosingBar("link", Anchor("coupler", "E", "d2"), Anchor("rocker", "F", "e2"), "l2"),
        ),
    )
    steps = (CrankStep("crank", Anchor("ground", "O")), coupled)
    names = ("r1", "r2", "d1", "d2.re", "d2.im", "e1", "e2.re", "e2.im", "l1", "l2")

    def sample(u: Array, rng: np.random.Generator) -> Shapes:
        # drawn at crank angle 0, C at 1: two pins about A and two about C, at distances of all sizes
        n = len(u)
        r2 = 10.0 ** (u[:, 0] - 1.0)
        pivot = r2.astype(complex)
        away = np.exp(2j * np.pi * u[:, 2:9:2])
        about = [pivot, np.ones(n), pivot, np.ones(n)]
        near, far = r2[:, None] * 10.0 ** (1.4 * u[:, 1:6:4] - 0.1), 10.0 ** (1.2 * u[:, 3:8:4] - 0.8)
        reach = [near[:, 0], far[:, 0], near[:, 1], far[:, 1]]
        z = np.stack([a + r * away[:, k] for k, (a, r) in enumerate(zip(about, reach, strict=True))], axis=1)
        turn1, turn2 = np.angle(z[:, 0] - pivot), np.angle(z[:, 1] - 1.0)
        d2, e2 = (z[:, 2] - pivot) * np.exp(-1j * turn1), (z[:, 3] - 1.0) * np.exp(-1j * turn2)
        shape = {
            "r1": np.ones(n), "r2": r2, "d1": np.abs(z[:, 0] - pivot), "d2.re": d2.real, "d2.im": d2.imag, "e1": np.abs(z[:, 1] - 1.0),
            "e2.re": e2.real, "e2.im": e2.imag, "l1": np.abs(z[:, 0] - z[:, 1]), "l2": np.abs(z[:, 2] - z[:, 3]),
        }  # fmt: skip
        return shape, {"guess:coupler": turn1, "guess:rocker": turn2}

    return LinkageForm(
        "stephenson II", steps, Anchor(traced, "P", "w"), names, 9, sample, ("r1", "r2", "d1", "e1", "l1", "l2"), slack=False
    )


SIX_BAR_FORMS: dict[str, tuple[LinkageForm, ...]] = {
    "watt I": tuple(
        six_bar("watt I", *bodies) for bodies in (("crank", "coupler"), ("coupler", "crank"), ("coupler", "rocker"), ("rocker", "coupler"))
    ),
    "watt II": (six_bar("watt II", "rocker", "ground"),),
    "stephenson I": (six_bar("stephenson I", "crank", "rocker"), six_bar("stephenson I", "rocker", "crank")),
    "stephenson II": (stephenson_two("coupler"), stephenson_two("rod")),
    "stephenson III": (six_bar("stephenson III", "coupler", "ground"),),
}


def geared_five_bar(ratio: float) -> LinkageForm:
    """Return two cranks on ground, geared, and two links between them; the path is of the link on the driven crank."""
    turns = _turns(ratio)
    steps: tuple[LinkageStep, ...] = (
        CrankStep("crank", Anchor("ground", "O")),
        CrankStep("second", Anchor("ground", "C", "r1"), ratio, "phase"),
        PinDyad("coupler", "rod", Anchor("crank", "A", "r2"), Anchor("second", "B", "r5"), "D", ("r3", "r4"), "s1"),
    )

    def sample(u: Array, rng: np.random.Generator) -> Shapes:
        n = len(u)
        shape = {"r1": np.ones(n), "r2": 10.0 ** (2.0 * u[:, 0] - 1.5), "r5": 10.0 ** (2.0 * u[:, 1] - 1.5), "phase": 2.0 * np.pi * u[:, 2]}
        angle = np.linspace(0.0, 2.0 * np.pi * turns, CYCLE * turns, endpoint=False)[None, :]
        a = shape["r2"][:, None] * np.exp(1j * angle)
        b = 1.0 + shape["r5"][:, None] * np.exp(1j * (ratio * angle + shape["phase"][:, None]))
        distance = np.abs(b - a)
        shape["r3"], shape["r4"] = closing_lengths(distance.min(1), distance.max(1), u[:, 3:5], rng)
        return shape, {"s1": rng.choice([-1.0, 1.0], n)}

    names = ("r1", "r2", "r3", "r4", "r5", "phase")
    lengths = ("r1", "r2", "r3", "r4", "r5")
    return LinkageForm("geared five-bar", steps, Anchor("coupler", "P", "w"), names, 5, sample, lengths, slack=False, turns=turns)


def _turns(ratio: float) -> int:
    """Return the turns of the crank after which a geared linkage repeats: the denominator of the ratio."""
    from fractions import Fraction

    return Fraction(ratio).limit_denominator(12).denominator
