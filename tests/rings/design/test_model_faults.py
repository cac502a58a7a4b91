"""Random faults in built-in models: what a check says about them against a computation from scratch.

The other side reads the numbers of the model alone: bodies as (x, y, angle), pins as coincidence, closed by scipy's least squares from the
drawn poses, followed around by small steps of the drive, with ranks from the singular values of differences.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwright as lw
from linkwright.results.checks import Remedy
from linkwright.rings.design.model_check.applied import applied

MODELS = ("four-bar", "wiper", "jansen-leg", "carpet-scraper", "change-point-four-bar")  # planar, pins only, one drive at constant speed
SEEDS, QUICK = 300, 15
STEPS = 180  # positions of the drive: 2 degrees
CLOSED = 1e-9  # of the size of the mechanism: least squares ends at 1e-15 of a square
SURE = 1e-5  # singular value above which a rank is sure, as a share of the largest
MARGIN = 2e-3  # of a measure: samples of 2 degrees against located extremes


@dataclass
class Planar:
    """A planar mechanism of pins: places of pins on bodies, ground first, and the drive between two bodies."""

    pairs: list[tuple[int, np.ndarray, int, np.ndarray]]
    drive: tuple[int, int]
    poses: np.ndarray  # (bodies, 3), drawn; of the ground zero
    size: float

    @classmethod
    def of(cls, m: lw.Mechanism) -> Planar | None:
        d = m.description.numbers()
        if not d.planar or any(j.type != "revolute" for j in d.joints) or len(d.drives) != 1 or d.gears or d.belts:
            return None
        index = {b.name: i for i, b in enumerate(d.bodies)}
        pairs = []
        for j in d.joints:
            p, q = (np.array(frame.at[:2], float) for frame in (j.frame_first, j.frame_second))
            pairs.append((index[j.first], p, index[j.second], q))
        drive = next(j for j in d.joints if j.name == d.drives[0].joint)
        st = m.system.start  # the position to begin from; it is closed again below
        poses = [np.zeros(3)]
        for b in d.bodies[1:]:
            X = m.system.pose(st, b.name)
            poses.append(np.array([X.p[0], X.p[1], np.arctan2(X.R[1, 0], X.R[0, 0])], float))
        size = max(float(np.abs(p).max()) for _, p, _, q in pairs for p in (p, q))
        return cls(pairs, (index[drive.first], index[drive.second]), np.array(poses), size)

    def gaps(self, x: np.ndarray) -> np.ndarray:
        """Distances of pins, over the size."""
        poses = np.vstack([np.zeros(3), x.reshape(-1, 3)])

        def place(i: int, p: np.ndarray) -> np.ndarray:
            c, s = np.cos(poses[i, 2]), np.sin(poses[i, 2])
            return poses[i, :2] + np.array([c * p[0] - s * p[1], s * p[0] + c * p[1]])

        return np.concatenate([place(i, p) - place(k, q) for i, p, k, q in self.pairs]) / self.size

    def rates(self, x: np.ndarray) -> np.ndarray:
        """Slopes of the gaps and of the angle of the drive, for least squares."""
        J, angles = np.zeros((2 * len(self.pairs) + 1, len(x) + 3)), np.append(0.0, x[2::3])
        for row, (i, p, k, q) in enumerate(self.pairs):
            for body, at, sign in ((i, p, 1.0), (k, q, -1.0)):
                c, s = np.cos(angles[body]), np.sin(angles[body])
                J[2 * row : 2 * row + 2, 3 * body : 3 * body + 2] += sign * np.eye(2) / self.size
                J[2 * row : 2 * row + 2, 3 * body + 2] += sign * np.array([-s * at[0] - c * at[1], c * at[0] - s * at[1]]) / self.size
        J[-1, 3 * self.drive[1] + 2], J[-1, 3 * self.drive[0] + 2] = 1.0, -1.0
        return J[:, 3:]

    def angle(self, x: np.ndarray) -> float:
        poses = np.vstack([np.zeros(3), x.reshape(-1, 3)])
        return float(poses[self.drive[1], 2] - poses[self.drive[0], 2])

    def freedoms(self, x: np.ndarray) -> int:
        """Degrees of freedom by the singular values of central differences."""
        h = 1e-6
        J = np.column_stack([(self.gaps(x + h * e) - self.gaps(x - h * e)) / (2.0 * h) for e in np.eye(len(x))])
        J[:, np.arange(len(x)) % 3 != 2] *= self.size  # lengths over the size
        values = np.linalg.svd(J, compute_uv=False)
        return len(x) - int((values > SURE * values[0]).sum())

    def around(self) -> np.ndarray | None:
        """Positions over a full turn, (STEPS + 1, unknowns); None if the loops open on the way."""
        x = self.poses[1:].reshape(-1)
        first = self.angle(x)
        rows = []
        for k in range(STEPS + 1):
            wanted = first + 2.0 * np.pi * k / STEPS
            guess = x if len(rows) < 2 else 2.0 * rows[-1] - rows[-2]

            def both(y: np.ndarray, wanted: float = wanted) -> np.ndarray:
                return np.append(self.gaps(y), self.angle(y) - wanted)

            found = least_squares(both, guess, self.rates, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15)
            if np.abs(found.fun).max() > CLOSED or (rows and np.abs(found.x - rows[-1])[2::3].max() > 0.5):
                return None
            x = found.x
            rows.append(x)
        return np.array(rows)


@dataclass
class Fault:
    """A changed model, what was done, and the requirement that goes with it."""

    m: lw.Mechanism
    text: str
    require: Sequence[str] = ()
    stop: tuple[str, float, float] | None = None  # a joint and the ends of its travel, rad
    wrong: str = ""  # a stage that must fail


def fault(seed: int) -> Fault | None:
    """A random fault in a random model; None if the file cannot be read with it, which no check can pass."""
    rng = random.Random(seed)
    name = rng.choice(MODELS)
    m = lw.load(name)
    d = m.description
    drawn = [n for n, x in d.drawn_numbers.items() if x and not n.endswith(".length")]
    numbers = [n for n, x in d.parameters if isinstance(x, float)] or drawn
    kind = rng.choice(("length", "length", "length", "unit", "requirement", "stop", "mass", "drive", "none"))
    require: list[str] = ["full turn"]
    changes: dict[str, Any] = {}
    if kind in ("length", "unit"):
        p = rng.choice(numbers)
        factor = rng.uniform(0.4, 2.2) if kind == "length" else rng.choice((1e-3, 1e3, 25.4, 1.0 / 25.4))
        value = float(dict(d.parameters).get(p, d.drawn_numbers.get(p, 1.0)))
        changes = {p: value * factor}
    if kind == "requirement":
        body = rng.choice([b.name for b in d.moving])
        require.append(f"max {body}.angle < {rng.uniform(-180.0, 180.0):.3f} deg")
    text = f"{seed}: {name} {kind} {changes} {require}"
    if kind in ("stop", "mass", "drive"):
        return _edited(m, kind, rng, text)
    try:
        return Fault(m.with_(**changes) if changes else m, text, require)
    except lw.LinkwrightError:
        return None


def _edited(m: lw.Mechanism, kind: str, rng: random.Random, text: str) -> Fault | None:
    """A fault of the structure: a stop at another joint, a body without a mass, a second drive."""
    d = m.description
    other = rng.choice([j.name for j in d.joints if j.name != d.drives[0].joint])
    body = rng.choice([b.name for b in d.moving])
    here = float(m.system.start[other])
    low, high = here - rng.uniform(0.05, 4.0), here + rng.uniform(0.05, 4.0)
    edits = {
        "stop": {"path": ["stops", "ends"], "value": f"{{joint: '{other}', min: {low:.9g} rad, max: {high:.9g} rad}}"},
        "mass": {"path": ["bodies", body, "mass"], "value": None},
        "drive": {"path": ["drive", other], "value": "10 rpm"},
    }
    remedy = Remedy(kind, {}, ({"do": "set_value", **edits[kind]},))
    try:
        changed = applied(m, remedy)
    except lw.LinkwrightError:
        return None
    text += f" {edits[kind]}"
    if kind == "stop":
        return Fault(changed, text, ["full turn"], (other, low, high))
    return Fault(changed, text, (), None, "complete" if kind == "mass" else "mobility")


def judged(seed: int) -> str:
    """Compare a check with the computation from scratch: "passed", "refused" or "open"."""
    given = fault(seed)
    if given is None:
        return "unread"
    found = given.m.check(given.require, remedy_time=0)
    if given.wrong:
        assert found[given.wrong].verdict == "failed", given.text
        return "refused"
    if found["assembles"].verdict == "failed":
        return "refused"
    other = Planar.of(given.m)
    assert other is not None
    path = other.around()
    if given.stop is not None and path is not None:
        room = _room(given, path)
        if abs(room) < MARGIN:
            return "open"
        path = path if room > 0.0 else None
    moves, freedoms = found["full turn"].verdict, other.freedoms(other.poses[1:].reshape(-1))
    if found["mobility"].verdict == "passed":
        assert freedoms == 1, given.text
    if "passed" in (moves, found["moves"].verdict):
        assert path is not None, given.text
    if moves != "passed" and found["moves"].verdict == "failed":
        assert path is None, given.text
    for wanted in given.require[1:]:
        _compare(given, found[wanted], path)
    return "passed" if found.ok else "refused" if found.failed else "open"


def _room(given: Fault, path: np.ndarray) -> float:
    """How far a joint stays inside of its stops over a turn; negative where it goes beyond."""
    assert given.stop is not None
    name, low, high = given.stop
    d, angles = given.m.description, np.column_stack([np.zeros(len(path)), path[:, 2::3]])
    index = {b.name: i for i, b in enumerate(d.bodies)}
    joint = d.joint(name)
    x = angles[:, index[joint.second]] - angles[:, index[joint.first]]
    x = x - x[0] + float(given.m.system.start[name])
    return float(min(x.min() - low, high - x.max()))


def _compare(given: Fault, check: Any, path: np.ndarray | None) -> None:
    """A measure of an angle by its largest sample; near the limit samples do not decide."""
    if path is None or check.verdict == "unknown":
        return
    words = check.name.split()
    i = [b.name for b in given.m.description.moving].index(words[1].removesuffix(".angle"))
    most, limit = path[:, 3 * i + 2].max(), np.radians(float(words[3]))
    if abs(most - limit) > MARGIN and abs(check.value - most) < 2.0 * np.pi - 0.1:  # angles may be counted from another turn
        assert (check.verdict == "passed") == (most < limit), given.text
        assert abs(check.value - most) < MARGIN, given.text


@pytest.mark.parametrize("seeds", [range(QUICK), pytest.param(range(QUICK, SEEDS), marks=pytest.mark.slow)], ids=["some", "all"])
def test_no_verdict_is_wrong(seeds: range) -> None:
    found = [judged(seed) for seed in seeds]
    assert {"passed", "refused"} <= set(found)


@pytest.mark.parametrize("name", MODELS)
def test_the_other_computation_turns_the_models(name: str) -> None:
    other = Planar.of(lw.load(name))
    assert other is not None
    if name != "change-point-four-bar":  # it passes a singular position, where a rank is lost
        assert other.around() is not None
        assert other.freedoms(other.poses[1:].reshape(-1)) == 1
