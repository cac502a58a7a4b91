"""Six-bars as function generators: crank angle in, angle of the last link out; their dimensions and starts.

    watt II           two four-bars in series. Freudenstein's equation is linear in each, once the angle between them is chosen
    stephenson III    a coupler point moves the output by a rod: linear in the output's length, once the rest is chosen
    stephenson II     both ternary links by two bars (non_dyad_closure.py)

The distance of the first two fixed pivots is 1. The crank need not turn fully.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwright.rings.synthesis.duals import Dual, constant
from linkwright.rings.synthesis.dyad_steps import Anchor, LinkageStep, PinDyad, positions
from linkwright.rings.synthesis.linkage_forms import FOUR_BAR, Columns, Flags, LinkageForm, Shapes, stephenson_two
from linkwright.rings.synthesis.non_dyad_closure import walked

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FunctionForm:
    """Steps, columns and starts of one type. names: columns besides `start`, the crank angle of the first input.

    sample(u, inputs, outputs, rng): columns with `start`, and flags, of those candidates that can be sized.
    """

    kind: str
    steps: tuple[LinkageStep, ...]
    output: str
    names: tuple[str, ...]
    lengths: tuple[str, ...]
    sampled: int
    sample: Callable[[Array, Array, Array, np.random.Generator], Shapes]
    coupled: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names, "start")

    def numbers(self, columns: Columns, flags: Flags) -> dict[str, Dual]:
        """Return all dimensions by name."""
        out = RAW.numbers(columns, flags)
        out["r1"] = constant([1.0])
        if self.kind == "watt II":
            # the second four-bar has fixed pivots at the distance 1 as well: its size does not matter
            out["x"] = out["d"] * out["delta"].turned()
            out["y"] = constant([2.0 + 0j])
        return out


RAW = LinkageForm("four-bar", FOUR_BAR, Anchor("coupler", "D"), (), 0, lambda u, rng: ({}, {}), (), slack=False)


def freudenstein(inputs: Array, outputs: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return crank, coupler and rocker of the nearest four-bar (ground 1) for angles (N, K), and turns to be added to both angles.

    cos(p - q) = K1 cos q - K2 cos p + K3, K1 = 1/crank, K2 = 1/rocker: least squares. A negative length is a positive one that points
    the other way: half a turn is added. The coupler is 0 where none exists.
    """
    matrix = np.stack([np.cos(outputs), -np.cos(inputs), np.ones_like(inputs)], axis=-1)
    transposed = np.swapaxes(matrix, 1, 2)
    normal = transposed @ matrix + 1e-10 * np.eye(3)
    k1, k2, k3 = np.linalg.solve(normal, transposed @ np.cos(inputs - outputs)[..., None])[..., 0].T
    crank, rocker = (1.0 / np.where(np.abs(k) > 1e-6, k, 1e-6) for k in (k1, k2))
    square = 1.0 + crank**2 + rocker**2 - 2.0 * crank * rocker * k3
    return np.abs(crank), np.sqrt(np.maximum(square, 0.0)), np.abs(rocker), np.pi * (crank < 0.0), np.pi * (rocker < 0.0)


def _side(start: Array, end: Array, pin: Array) -> Array:
    """Return +1 where the pin is to the left of start -> end."""
    return np.where((np.conj(end - start) * (pin - start)).imag >= 0.0, 1.0, -1.0)


def _watt() -> FunctionForm:
    step = PinDyad("rod", "link", Anchor("rocker", "D", "x"), Anchor("ground", "E", "y"), "F", ("l1", "l2"), "s2")

    def sample(u: Array, inputs: Array, outputs: Array, rng: np.random.Generator) -> Shapes:
        n, k = len(u), len(inputs)
        first, between, last = (2.0 * np.pi * u[:, j] for j in range(3))
        spread = (0.3 + 1.8 * u[:, 3]) * rng.choice([-1.0, 1.0], n)
        t = (inputs - inputs[0]) / (inputs[-1] - inputs[0])
        y = (outputs - outputs[0]) / (np.abs(outputs - outputs[0]).max() or 1.0)
        phi = first[:, None] + inputs - inputs[0]
        chi = between[:, None] + spread[:, None] * (t + u[:, 4:5] * (y - t))
        r2, r3, r4, more, turned = freudenstein(phi, chi)
        phi, chi = phi + more[:, None], chi + turned[:, None]
        delta = 2.0 * np.pi * u[:, 5]
        psi = last[:, None] + outputs - outputs[0]
        d, l1, l2, more, turned = freudenstein(chi + delta[:, None], psi)
        delta, psi = delta + more, psi + turned[:, None]
        middle = k // 2
        a, b = r2 * np.exp(1j * phi[:, middle]), 1.0 + r4 * np.exp(1j * chi[:, middle])
        p, f = 1.0 + d * np.exp(1j * (chi[:, middle] + delta)), 2.0 + l2 * np.exp(1j * psi[:, middle])
        columns = {"r2": r2, "r3": r3, "r4": r4, "d": d, "delta": delta, "l1": l1, "l2": l2, "start": phi[:, 0]}
        return columns, {"s1": _side(a, np.ones(n), b), "s2": _side(p, np.full(n, 2.0), f)}

    names = ("r2", "r3", "r4", "d", "delta", "l1", "l2")
    return FunctionForm("watt II", (*FOUR_BAR, step), "link", names, ("r2", "r3", "r4", "d", "l1", "l2"), 6, sample)


def _stephenson_three() -> FunctionForm:
    step = PinDyad("rod", "link", Anchor("coupler", "D", "x"), Anchor("ground", "E", "y"), "F", ("l1", "l2"), "s2")

    def sample(u: Array, inputs: Array, outputs: Array, rng: np.random.Generator) -> Shapes:
        n, k = len(u), len(inputs)
        r2, r3, r4 = (10.0 ** (1.4 * u[:, j] - 0.8) for j in range(3))
        start = 2.0 * np.pi * u[:, 3]
        x = r3 * ((4.0 * u[:, 4] - 1.5) + 1j * (4.0 * u[:, 5] - 2.0))
        y = (5.0 * u[:, 6] - 2.0) + 1j * (5.0 * u[:, 7] - 2.5)
        flags = {"s1": rng.choice([-1.0, 1.0], n)}
        given = {"r1": np.ones(1), "r2": r2, "r3": r3, "r4": r4, "s1": flags["s1"], "x": x}
        numbers = {name: constant(v) for name, v in given.items()}
        known = positions(FOUR_BAR, numbers, constant(start[:, None] + inputs - inputs[0]))
        q = known.point(Anchor("coupler", "D", "x")).value - y[:, None]
        psi = 2.0 * np.pi * u[:, 8:9] + outputs - outputs[0]
        # |q|^2 = 2 l2 Re(conj(q) exp(i psi)) - (l2^2 - l1^2): least squares in l2 and the constant
        seen, square = 2.0 * (np.conj(q) * np.exp(1j * psi)).real, np.abs(q) ** 2
        centered = seen - seen.mean(1, keepdims=True)
        l2 = (centered * square).sum(1) / np.maximum((centered * centered).sum(1), 1e-12)
        rest = (square - l2[:, None] * seen).mean(1)
        l1 = np.sqrt(np.maximum(rest + l2**2, 0.0))
        turned = np.pi * (l2 < 0.0)
        l2, middle = np.abs(l2), k // 2
        f = y + l2 * np.exp(1j * (psi[:, middle] + turned))
        flags["s2"] = _side(q[:, middle] + y, y, f)
        columns = {"r2": r2, "r3": r3, "r4": r4, "x.re": x.real, "x.im": x.imag, "y.re": y.real, "y.im": y.imag, "l1": l1, "l2": l2}
        return {**columns, "start": start}, flags

    names = ("r2", "r3", "r4", "x.re", "x.im", "y.re", "y.im", "l1", "l2")
    return FunctionForm("stephenson III", (*FOUR_BAR, step), "link", names, ("r2", "r3", "r4", "l1", "l2"), 9, sample)


def _stephenson_two() -> FunctionForm:
    form = stephenson_two("coupler")

    def sample(u: Array, inputs: Array, outputs: Array, rng: np.random.Generator) -> Shapes:
        # drawn at crank angle 0, walked to the first input and through the others
        shape, flags = form.sample(u, rng)
        n = len(u)
        start = 2.0 * np.pi * rng.random(n)
        numbers = form.numbers({name: constant(v) for name, v in shape.items()}, flags)
        there = np.linspace(0.0, 1.0, 25)[None, :] * start[:, None]
        found, gap = walked(form.steps, numbers, there, {b: flags[f"guess:{b}"] for b in ("coupler", "rocker")})
        begin = {b: a[:, -1] for b, a in found.items()}
        angles = start[:, None] + inputs - inputs[0]
        found, more = walked(form.steps, numbers, angles, begin)
        known = positions(form.steps, {**numbers, **{f"guess:{b}": constant(a) for b, a in found.items()}}, constant(angles))
        (side,) = (s.value for s in known.sides.values())
        good = (gap.max(1) < 1e-9) & (more.max(1) < 1e-9) & ((side * side[:, :1]).min(1) > 0.0)
        flags = {**{f"guess:{b}": a for b, a in found.items()}, "side": np.sign(side[:, 0])}
        shape.pop("r1")
        return {**{name: v[good] for name, v in shape.items()}, "start": start[good]}, {name: f[good] for name, f in flags.items()}

    names = tuple(name for name in form.names if name != "r1")
    lengths = ("r2", "d1", "e1", "l1", "l2")
    return FunctionForm("stephenson II", form.steps, "rocker", names, lengths, 9, sample, coupled=True)


FUNCTION_FORMS: dict[str, FunctionForm] = {f.kind: f for f in (_watt(), _stephenson_three(), _stephenson_two())}
