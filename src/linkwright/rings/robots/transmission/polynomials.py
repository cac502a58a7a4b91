"""Polynomials in the place of a transmission, for formats that tie joints by them, with their largest error over the range.

full      motor = sum of c x1^a x2^b ...     all products up to a degree, both ways
tie       motor = p(w1 x1 + w2 x2 ...)       one polynomial of degree 4 of a sum of joints: as much as MJCF holds
mimic     motor = multiplier x + offset      of a single joint: as much as URDF holds
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as xml

import numpy as np

from linkwright.api import Cell, Result, Table, UsageError, counted, listing, whole_number
from linkwright.properties import cached_property
from linkwright.rings.robots.transmission.names import position

if TYPE_CHECKING:
    from linkwright.rings.robots.transmission.maps import Transmission

FITTED, CHECKED = 900, 3000  # positions of the range for the fit, and for its error
MOST = 12  # degree
MJCF_DEGREE = 4


@dataclass(frozen=True)
class PolynomialMap:
    """y = sum of coefficients times products of powers of x: `exponents` (terms, inputs), `coefficients` (outputs, terms), SI and radians.

    `error` is the largest deviation over the range by output, `rms` its root mean square.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    exponents: np.ndarray
    coefficients: np.ndarray
    error: dict[str, float]
    rms: dict[str, float]

    def __call__(self, x: Any) -> np.ndarray:
        """Return the outputs at inputs in the last axis."""
        return _powers(np.asarray(x, dtype=float), self.exponents) @ self.coefficients.T

    def terms(self) -> list[dict[str, Any]]:
        """Return each term as a dict: its powers by input, its coefficient by output."""
        return [
            {
                "powers": dict(zip(self.inputs, map(int, e), strict=True)),
                "coefficients": dict(zip(self.outputs, map(float, c), strict=True)),
            }
            for e, c in zip(self.exponents, self.coefficients.T, strict=True)
        ]


class Tie(NamedTuple):
    """motor = p(sum of weights times joints), coefficients lowest power first."""

    motor: str
    weights: dict[str, float]
    coefficients: tuple[float, ...]
    error: float

    def __call__(self, x: Any) -> np.ndarray:
        """Return the motor at joints in the last axis."""
        return np.polynomial.polynomial.polyval(np.asarray(x, dtype=float) @ np.array(list(self.weights.values())), self.coefficients)


@dataclass(frozen=True)
class Polynomials(Result):
    """Polynomials of a transmission over its range: `to_motors`, `to_joints`, `ties` (MJCF), and texts for the formats."""

    t: Transmission
    degree: int

    @cached_property
    def to_motors(self) -> PolynomialMap:
        """Motors by joints."""
        return self._fitted(*self._samples(FITTED), *self._samples(CHECKED), self.t.joints, self.t.motors)

    @cached_property
    def to_joints(self) -> PolynomialMap:
        """Joints by motors, over the motors' positions that belong to the range."""
        return self._fitted(*self._samples(FITTED)[::-1], *self._samples(CHECKED)[::-1], self.t.motors, self.t.joints)

    def _samples(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """(joints, motors) at positions of the range, those of the fit toward its edges, where polynomials are worst."""
        rows = self.t.grid(most)
        if most == FITTED:
            low, high = rows.min(axis=0), rows.max(axis=0)
            middle, half = 0.5 * (low + high), 0.5 * (high - low)
            rows = middle + half * np.sin(0.5 * np.pi * (rows - middle) / half)
        return rows, np.asarray(self.t.at(joints=rows).motor)

    def _fitted(self, x: Any, y: Any, xc: Any, yc: Any, inputs: Sequence[str], outputs: Sequence[str]) -> PolynomialMap:
        exponents = np.array([e for e in product(range(self.degree + 1), repeat=x.shape[1]) if sum(e) <= self.degree])
        size = np.abs(x).max(axis=0)
        scaled, *_ = np.linalg.lstsq(_powers(x / size, exponents), y, rcond=None)
        coefficients = (scaled / np.prod(size**exponents, axis=1)[:, None]).T
        off = np.abs(_powers(xc, exponents) @ coefficients.T - yc)
        worst, rms = off.max(axis=0), np.sqrt((off**2).mean(axis=0))
        errors = [dict(zip(outputs, map(float, e), strict=True)) for e in (worst, rms)]
        return PolynomialMap(tuple(inputs), tuple(outputs), exponents, coefficients, *errors)

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """A polynomial of degree 4 of one sum of joints for each motor: exact for one joint up to the degree, a compromise for several."""
        from scipy.optimize import least_squares

        x, m = self._samples(FITTED)
        xc, mc = self._samples(CHECKED)
        J = np.asarray(self.t.at(joints=x.mean(axis=0)).J)
        out = []
        for k, motor in enumerate(self.t.motors):

            def solved(w: np.ndarray, y: np.ndarray = m[:, k]) -> tuple[np.ndarray, np.ndarray]:
                powers = np.vander(x @ w, MJCF_DEGREE + 1, increasing=True)
                c, *_ = np.linalg.lstsq(powers, y, rcond=None)
                return c, powers @ c - y

            first = J[k] / np.abs(J[k]).max()
            w = first if len(first) == 1 else least_squares(lambda w: solved(w)[1], first, method="lm").x
            w = w / np.abs(w).max()
            c, _ = solved(w)
            off = np.polynomial.polynomial.polyval(xc @ w, c) - mc[:, k]
            out.append(Tie(motor, dict(zip(self.t.joints, map(float, w), strict=True)), tuple(map(float, c)), float(np.abs(off).max())))
        return tuple(out)

    def mjcf(self) -> str:
        """Return `<tendon>` and `<equality>` elements that tie hinges of the motors to the joints in MuJoCo, with the errors as comments.

        One joint: `<equality><joint polycoef>`. Several: a fixed tendon for the sum of joints, and a `<tendon polycoef>`.
        """
        root = xml.Element("mujoco")
        one = len(self.t.joints) == 1
        sums, section = (root, root) if one else (xml.SubElement(root, "tendon"), root)
        section = xml.SubElement(root, "equality")
        for tie in self.ties:
            error = position(self.t.core, tie.motor, tie.error)
            section.append(xml.Comment(f" {tie.motor}: off by at most {error} over the range ".replace("--", "- -")))
            polycoef = " ".join(f"{c:.17g}" for c in tie.coefficients)
            if one:
                xml.SubElement(section, "joint", joint1=tie.motor, joint2=self.t.joints[0], polycoef=polycoef)
                continue
            for name, weights in ((f"motor:{tie.motor}", {tie.motor: 1.0}), (f"sum:{tie.motor}", tie.weights)):
                e = xml.SubElement(sums, "fixed", name=name)
                for joint, weight in weights.items():
                    xml.SubElement(e, "joint", joint=joint, coef=f"{weight:.17g}")
            xml.SubElement(section, "tendon", tendon1=f"motor:{tie.motor}", tendon2=f"sum:{tie.motor}", polycoef=polycoef)
        xml.indent(root, "  ")
        return "".join(xml.tostring(e, encoding="unicode") for e in root)

    def urdf(self) -> str:
        """Return the `<mimic>` element of the motor's joint, with its error; raise UsageError for several joints: it follows one."""
        t = self.t
        if len(t.joints) > 1:
            raise UsageError(
                f"a <mimic> of URDF follows one joint, linearly; {listing(t.motors)} follow {len(t.joints)}. Write the equivalent tree, "
                "t.tree(), whose joints are driven, and map motors by m.export('map.c', motors=..., joints=...).",
                name="mimic",
            )
        linear = Polynomials(t, 1).to_motors
        offset, multiplier = (float(linear.coefficients[0, list(linear.exponents[:, 0]).index(k)]) for k in (0, 1))
        error = position(t.core, t.motors[0], linear.error[t.motors[0]])
        note = f"<!-- {t.motors[0]}: off by at most {error} over the range -->"
        return f'{note}\n<mimic joint="{t.joints[0]}" multiplier="{multiplier:.17g}" offset="{offset:.17g}" />\n'

    def table(self) -> Table:
        """Return the largest error of each polynomial over the range, in the units of the model."""
        core = self.t.core
        rows = []
        for x in (self.to_motors, self.to_joints):
            for n, e in x.error.items():
                value, _, unit = position(core, n, e).partition(" ")
                rows.append((n, listing(x.inputs), len(x.exponents), Cell(float(value), value), unit))
        return Table.of(["output", "inputs", "terms", "largest error", "unit"], rows, f"polynomials of degree {self.degree}")

    def __str__(self) -> str:
        """The errors in the units of the model."""
        core, lines = self.t.core, [f"polynomials of degree {self.degree}"]
        for x in (self.to_motors, self.to_joints):
            errors = ", ".join(f"{n} {position(core, n, e)}" for n, e in x.error.items())
            lines.append(f"  {listing(x.outputs)} by {listing(x.inputs)}: {counted(len(x.exponents), 'term')}, off by at most {errors}")
        lines += [f"  {tie.motor} as MJCF ties it: off by at most {position(core, tie.motor, tie.error)}" for tie in self.ties]
        return "\n".join(lines)


def _powers(x: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Products of powers, (..., terms)."""
    return np.prod(x[..., None, :] ** exponents, axis=-1)


def polynomials(t: Transmission, degree: Any) -> Polynomials:
    """Return the polynomials up to a degree, checked."""
    return Polynomials(t, whole_number(degree, "degree of polynomials", 1, MOST))
