"""Transforms and paths of SVG as numbers: all commands, curves flattened."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from linkwright.errors import ModelError, counted
from linkwright.rings.exchange.reading.sketches.geometry import arc_points

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
COMMAND = re.compile(rf"([MmLlHhVvCcSsQqTtAaZz])|({NUMBER})|([^\s,])")
TRANSFORM = re.compile(r"([A-Za-z]+)\s*\(([^)]*)\)\s*,?\s*")
COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
PIECES = 24  # of a flattened Bézier curve
MOST_POINTS = 200_000
Affine = np.ndarray  # (2, 3)
SAME: Affine = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class Malformed(ValueError):
    """A path or transform that cannot be read; the text says what."""


def times(a: Affine, b: Affine) -> Affine:
    """The transform b, then a."""
    return np.column_stack([a[:, :2] @ b[:, :2], a[:, :2] @ b[:, 2] + a[:, 2]])


def applied(a: Affine, points: np.ndarray) -> np.ndarray:
    """The points after a transformation; raise ModelError for coordinates that are no numbers any more."""
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.asarray(points, dtype=float).reshape(-1, 2) @ a[:, :2].T + a[:, 2]
    if not np.isfinite(out).all():
        raise ModelError("the drawing holds coordinates that are too large for numbers. Draw it again in sensible units.")
    return out


def transform(text: str) -> Affine:
    """Return a `transform` attribute as a matrix."""
    out, end = SAME, 0
    for found in TRANSFORM.finditer(text.strip()):
        if found.start() != end:
            break
        out, end = times(out, _one(found[1], numbers(found[2]))), found.end()
    if end != len(text.strip()):
        raise Malformed(f"transform '{text[:60]}' is not understood")
    return out


def _one(kind: str, x: list[float]) -> Affine:
    if kind == "matrix" and len(x) == 6:
        return np.array([[x[0], x[2], x[4]], [x[1], x[3], x[5]]])
    if kind == "translate" and len(x) in (1, 2):
        return np.array([[1.0, 0.0, x[0]], [0.0, 1.0, x[1] if len(x) == 2 else 0.0]])
    if kind == "scale" and len(x) in (1, 2):
        return np.array([[x[0], 0.0, 0.0], [0.0, x[-1], 0.0]])
    if kind == "rotate" and len(x) in (1, 3):
        c, s = math.cos(math.radians(x[0])), math.sin(math.radians(x[0]))
        about = np.array([[c, -s, 0.0], [s, c, 0.0]])
        if len(x) == 1:
            return about
        to, back = _one("translate", x[1:]), _one("translate", [-x[1], -x[2]])
        return times(times(to, about), back)
    if kind in ("skewX", "skewY") and len(x) == 1:
        t = math.tan(math.radians(x[0]))
        return np.array([[1.0, t, 0.0], [0.0, 1.0, 0.0]]) if kind == "skewX" else np.array([[1.0, 0.0, 0.0], [t, 1.0, 0.0]])
    raise Malformed(f"transform {kind} with {counted(len(x), 'number')} is not understood")


def numbers(text: str) -> list[float]:
    """Numbers separated by spaces or commas."""
    parts = [p for p in re.split(r"[\s,]+", text.strip()) if p]
    try:
        found = [float(p) for p in parts]
    except ValueError:
        raise Malformed(f"'{text[:60]}' is not a row of numbers") from None
    if not all(map(math.isfinite, found)):
        raise Malformed("numbers must be finite")
    return found


@dataclass
class Subpath:
    """One line of a path: all points, and the ends of its segments."""

    points: list[np.ndarray]
    corners: list[np.ndarray]
    closed: bool = False
    curved: bool = False


@dataclass
class _Pen:
    """The state of a path while it is read."""

    done: list[Subpath] = field(default_factory=list)
    at: np.ndarray = field(default_factory=lambda: np.zeros(2))
    begin: np.ndarray = field(default_factory=lambda: np.zeros(2))
    control: np.ndarray | None = None  # of the last curve
    last: str = ""
    total: int = 0

    def move(self, to: np.ndarray) -> None:
        self.at = self.begin = to
        self.done.append(Subpath([to], [to]))

    def add(self, points: np.ndarray, curved: bool) -> None:
        if not self.done or self.done[-1].closed:
            self.move(self.at)
        path = self.done[-1]
        path.points += list(points)
        path.corners.append(points[-1])
        path.curved = path.curved or curved
        self.at = points[-1]
        self.total += len(points)
        if self.total > MOST_POINTS:
            raise Malformed("the path has too many points")


def subpaths(text: str) -> list[Subpath]:
    """Return the lines of a `d` attribute."""
    pen = _Pen()
    for command, x in _commands(text):
        if not pen.done and command.upper() != "M":
            raise Malformed("a path begins with M")
        _draw(pen, command, np.array(x))
    return [p for p in pen.done if len(p.points) > 1]


def _commands(text: str) -> list[tuple[str, list[float]]]:
    """Commands with their numbers, repeated ones written out."""
    out: list[tuple[str, list[float]]] = []
    letter, waiting = "", []

    def flush() -> None:
        count = COUNTS[letter.upper()] if letter else 0
        if not letter or (count == 0) != (not waiting) or (count and len(waiting) % count):
            raise Malformed(f"'{letter}' of the path has {counted(len(waiting), 'number')}" if letter else "a path begins with M")
        if count == 0:
            out.append((letter, []))
        for k in range(0, len(waiting), count or 1):
            repeated = letter if k == 0 or letter not in "Mm" else {"M": "L", "m": "l"}[letter]
            out.append((repeated, waiting[k : k + count]))

    for found in COMMAND.finditer(_with_flags(text)):
        if found[3]:
            raise Malformed(f"'{found[3]}' is not part of a path")
        if found[1]:
            if letter or waiting:
                flush()
            letter, waiting = found[1], []
        else:
            waiting.append(float(found[2]))
            if not math.isfinite(waiting[-1]):
                raise Malformed("numbers must be finite")
    if letter or waiting:
        flush()
    return out


def _with_flags(text: str) -> str:
    """Arcs may have their two flags written without spaces: a1 1 0 013 4 becomes a1 1 0 0 1 3 4."""
    if not re.search(r"[aA]", text):
        return text
    sep = r"[\s,]*"
    arc = re.compile(rf"({NUMBER}){sep}({NUMBER}){sep}({NUMBER}){sep}([01]){sep}([01]){sep}({NUMBER}){sep}({NUMBER})")

    def spaced(match: re.Match[str]) -> str:
        return match[1] + arc.sub(lambda m: " " + " ".join(m.groups()), match[2])

    return re.sub(r"([aA])([^A-DF-Za-df-z]*)", spaced, text)


def _draw(pen: _Pen, command: str, x: np.ndarray) -> None:
    kind, base = command.upper(), pen.at if command.islower() else np.zeros(2)
    control: np.ndarray | None = None
    if kind == "M":
        pen.move(base + x)
    elif kind == "Z":
        if not pen.done[-1].closed:
            pen.done[-1].closed = True
            pen.at = pen.begin
    elif kind == "L":
        pen.add(np.array([base + x]), False)
    elif kind == "H":
        pen.add(np.array([[base[0] + x[0], pen.at[1]]]), False)
    elif kind == "V":
        pen.add(np.array([[pen.at[0], base[1] + x[0]]]), False)
    elif kind in "CS":
        first = base + x[:2] if kind == "C" else _mirrored(pen, "CS")
        control, to = base + x[-4:-2], base + x[-2:]
        pen.add(_bezier([pen.at, first, control, to]), True)
    elif kind in "QT":
        control = base + x[:2] if kind == "Q" else _mirrored(pen, "QT")
        pen.add(_bezier([pen.at, control, base + x[-2:]]), True)
    else:
        pen.add(_arc(pen.at, x[:5], base + x[5:]), True)
    pen.control, pen.last = control, kind


def _mirrored(pen: _Pen, after: str) -> np.ndarray:
    return 2.0 * pen.at - pen.control if pen.control is not None and pen.last in after else pen.at


def _bezier(p: list[np.ndarray]) -> np.ndarray:
    t = np.linspace(0.0, 1.0, PIECES + 1)[1:, None]
    while len(p) > 1:  # de Casteljau
        p = [(1.0 - t) * a + t * b for a, b in pairwise(p)]
    return p[0]


def _arc(begin: np.ndarray, shape: np.ndarray, end: np.ndarray) -> np.ndarray:
    """An elliptical arc by its ends, in the way the SVG recommendation converts it to a center."""
    rx, ry, tilt, large, sweep = abs(shape[0]), abs(shape[1]), math.radians(shape[2]), shape[3] != 0.0, shape[4] != 0.0
    if rx == 0.0 or ry == 0.0 or np.array_equal(begin, end):
        return np.array([end])
    R = np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    half = R @ (begin - end) / 2.0 / np.array([rx, ry])  # in units of the radii
    reach = float(half @ half)
    grow = math.sqrt(max(reach, 1.0))
    half = half / grow
    shift = math.sqrt(max(0.0, 1.0 / float(half @ half) - 1.0)) * (-1.0 if large == sweep else 1.0)
    center = shift * np.array([half[1], -half[0]])
    a, b = half - center, -half - center
    first = math.atan2(a[1], a[0])
    turn = (math.atan2(b[1], b[0]) - first) % (2.0 * math.pi)
    turn = turn if sweep else turn - 2.0 * math.pi
    unit = arc_points((float(center[0]), float(center[1])), 1.0, first, turn)
    points = (unit * np.array([rx, ry]) * grow) @ R + (begin + end) / 2.0
    points[-1] = end
    return points[1:]
