"""Prescribed motion of joints, points and bodies: a caller's input read into curves of entries.

A joint has one entry, a point its coordinates, a body (x, y, angle) in a plane, else the nine entries of R and three of p. A path
is a function of t, anything a controller takes as a reference, a place to stay at, or samples over the times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError, UsageError, counted
from linkwright.mechanics.kinematics.motion import locate, motion, node_motion
from linkwright.model.curves import Curve
from linkwright.model.curves.combined import Finite, Together
from linkwright.model.curves.differences import AdaptiveDifferences
from linkwright.model.curves.functions import Function, JetFunction, explained, takes_state, traced
from linkwright.model.curves.reading import is_list, short
from linkwright.model.curves.reference_kinds import Reference
from linkwright.model.curves.references import read_reference
from linkwright.model.curves.tables import SampledSpline
from linkwright.model.file import quantity
from linkwright.motion.assembly import Assembler
from linkwright.motion.following.smoothness import Jets, breaks, doubts, jets, sizes
from linkwright.numerics.spatial import Pose
from linkwright.properties import cached_property
from linkwright.results.state import State
from linkwright.text.units import KINDS

FEWEST = 6  # samples: what a spline of fifth degree takes
TURNED = 1e-6  # how far the columns of a rotation may be from orthonormal


@dataclass(frozen=True)
class PrescribedPath:
    """A named thing, and the curve that its entries follow over the times."""

    name: str
    kind: str  # "joint", "point", "body"
    kinds: tuple[str, ...]  # of the entries: "length", "angle", or "" in a rotation
    curve: Curve
    t: np.ndarray

    @cached_property
    def jets(self) -> Jets:
        """At the times of the motion."""
        return jets(self.curve, self.t)

    def target(self, f: np.ndarray) -> Any:
        """Prescribed value, as `Assembler.assemble` takes it."""
        if self.kind == "joint":
            return float(f[0])
        if len(self.kinds) < 12:
            return tuple(f)
        U, _, Vt = np.linalg.svd(f[:9].reshape(3, 3))  # between samples of a spline R is nearly one
        return Pose(U @ Vt, f[9:])

    def rates(self, i: int, planar: bool) -> tuple[np.ndarray, np.ndarray]:
        """First and second rates at a sample, as the rows of its reader have them: for a body [w; v]."""
        f, df, ddf = (x[i] for x in self.jets)
        if self.kind != "body":
            return df, ddf
        if len(self.kinds) == 3:
            return df[[2, 0, 1]], ddf[[2, 0, 1]]
        R, dR, ddR = (x[:9].reshape(3, 3) for x in (f, df, ddf))
        turning = dR @ R.T
        w, alpha = _axial(turning), _axial(ddR @ R.T - turning @ turning)
        pick = [2, 3, 4] if planar else list(range(6))
        return np.concatenate([w, df[9:]])[pick], np.concatenate([alpha, ddf[9:]])[pick]

    @property
    def notes(self) -> list[str]:
        """Notes on doubtful accelerations, jumps and corners."""
        size = sizes(self.jets, self.kinds, float(self.t[-1] - self.t[0]))
        found = breaks(self.curve, self.t, self.jets, size, self.kinds, _path(self.name))
        return found or doubts(self.curve, self.t, size, _path(self.name))


def prescribed_path(assembler: Assembler, start: State, name: str, given: Any, t: np.ndarray) -> PrescribedPath:
    """Reads one entry of a motion."""
    d = assembler.description
    bodies = {b.name for b in d.bodies}
    if name in bodies and name not in {j.name for j in d.joints}:
        return _body(assembler, start, name, given, t)
    m = motion(assembler.skel, start.q, np.zeros(assembler.tree.nv))
    if name.split(".")[0] in bodies and "." in name:
        kinds = ("length",) * (2 if d.planar else 3)
        now = locate(assembler.skel, m, assembler.point_ref(name)).position[: len(kinds)]
        return PrescribedPath(name, "point", kinds, _curve(assembler, given, kinds, now, name, t), t)
    joint, i, kind = assembler.coordinate(name)
    now = np.array([start.references[joint.name][i]])
    if _is_function(given):
        first = explained(lambda: given(float(t[0])), float(t[0]), _path(name))
        if isinstance(first, tuple) and len(first) == 3:
            three = Function(given, _path(name), size=3)
            return PrescribedPath(name, "joint", (kind,), JetFunction(lambda x: explained(lambda: three(x), x, _path(name))), t)
    return PrescribedPath(name, "joint", (kind,), _curve(assembler, given, (kind,), now, name, t), t)


def _is_function(given: Any) -> bool:
    return callable(given) and not isinstance(given, Reference)


def _path(name: str) -> str:
    return f"path of '{name}'"


def _axial(S: np.ndarray) -> np.ndarray:
    """w of the matrix [w x], from its antisymmetric part."""
    return 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def _curve(assembler: Assembler, given: Any, kinds: tuple[str, ...], now: np.ndarray, name: str, t: np.ndarray) -> Curve:
    """Of a joint, a point, or a body in a plane by (x, y, angle)."""
    what, size = _path(name), len(kinds)
    if _is_function(given):
        takes_state(given, what, motion=True)
        return _of_function(Function(given, what, size=size), t)
    if is_list(given) and len(given) == len(t) and len(given) > max(2, size):
        return _samples(given, kinds, what, t)
    if is_list(given) and len(given) not in (2, size):
        raise UsageError(
            f"the {what} has {counted(len(given), 'entry')} for {len(t)} times. Give a sample for each time, a function of t, "
            f"{'a reference' if size == 1 else counted(size, 'reference')} such as lw.control.sinusoid(...), or (times, values)."
        )
    if is_list(given) and len(given) == size > 1 and any(callable(x) for x in given):
        each = (_curve(assembler, x, (k,), now[i : i + 1], name, t) for i, (x, k) in enumerate(zip(given, kinds, strict=True)))
        return Together(tuple(each))
    return read_reference(given, kinds, now.tolist(), what, assembler.description, t=float(t[0])).curve


def _of_function(f: Function, t: np.ndarray) -> Curve:
    """Exact where it can be traced, else by differences within the times."""
    low, high = float(t[0]), float(t[-1])
    explained(lambda: f(low), low, f.what)  # says what is wrong with it, where tracing would just give up

    def call(x: float) -> np.ndarray:
        return np.array(explained(lambda: f(x), x, f.what), dtype=float)

    exact = traced(f, low, f.size)
    return AdaptiveDifferences(call, low, high, f.size) if exact is None else Finite(exact, f.what)


def _samples(given: Any, kinds: tuple[str, ...], what: str, t: np.ndarray) -> SampledSpline:
    if len(t) < FEWEST:
        raise UsageError(f"the {what} is given by {counted(len(t), 'sample')}. Rates need {FEWEST} or more, or a function of t.")
    rows = []
    for i, row in enumerate(given):
        entries = list(row) if is_list(row) else [row]
        if len(entries) != len(kinds):
            raise UsageError(f"the {what} needs {counted(len(kinds), 'number')} for each time, but sample {i} is {short(row)}.")
        try:
            rows.append([quantity(_plain(x), KINDS[k], "it") for x, k in zip(entries, kinds, strict=True)])
        except LinkwrightError as error:
            raise UsageError(f"the {what}: sample {i} (t = {t[i]:.6g} s) is {short(row)}: {error}") from error
    return SampledSpline(t, np.array(rows))


def _plain(x: Any) -> Any:
    return x.item() if isinstance(x, (np.generic, np.ndarray)) and np.ndim(x) == 0 else x


# ---------------------------------------------------------------- bodies


def _body(assembler: Assembler, start: State, name: str, given: Any, t: np.ndarray) -> PrescribedPath:
    planar, what = assembler.description.planar, _path(name)
    flat, whole = ("length", "length", "angle"), ("",) * 9 + ("length",) * 3
    if _is_function(given):
        takes_state(given, what, motion=True)
        poses = Function(lambda x: _entries(assembler, name, given(x)), what, size=12)
        return _turning(PrescribedPath(name, "body", whole, _of_function(poses, t), t))
    if is_list(given) and len(given) == len(t) and len(given) > 3:
        return _turning(PrescribedPath(name, "body", whole, _whole([_entries(assembler, name, x) for x in given], what, t), t))
    if planar and not isinstance(given, Pose) and not (is_list(given) and np.shape(given[0]) == (3, 3)):
        node = assembler.skel.node(name)
        X = node_motion(assembler.skel, motion(assembler.skel, start.q, np.zeros(assembler.tree.nv)), node)[0]
        now = np.array([*(X.p + assembler.skel.origin(node))[:2], np.arctan2(X.R[1, 0], X.R[0, 0])])
        return PrescribedPath(name, "body", flat, _curve(assembler, given, flat, now, name, t), t)
    if isinstance(given, (Reference, str)) or (is_list(given) and len(given) != 2):
        raise UsageError(f"the {what} is a function of t that gives (R, p) or a Pose, a pose to stay at, or one pose for each time.")
    still = _entries(assembler, name, given)
    return _turning(PrescribedPath(name, "body", whole, _whole([still] * len(t), what, t), t))


def _whole(rows: list[list[Any]], what: str, t: np.ndarray) -> SampledSpline:
    if len(t) < FEWEST:
        raise UsageError(f"the {what} is given by {counted(len(t), 'sample')}. Rates need {FEWEST} or more, or a function of t.")
    values = np.array(rows, dtype=float)
    if not np.isfinite(values).all():
        raise UsageError(f"the {what} has a sample that is not finite, at t = {t[~np.isfinite(values).all(axis=1)][0]:.6g} s.")
    return SampledSpline(t, values)


def _entries(assembler: Assembler, name: str, value: Any) -> list[Any]:
    """A pose as entries, R by rows and p; its numbers may be traced."""
    if isinstance(value, Pose):
        return [*np.asarray(value.R).ravel(), *np.asarray(value.p).ravel()]
    if is_list(value) and len(value) == 3 and assembler.description.planar:
        units = (KINDS["length"], KINDS["length"], KINDS["angle"])
        x, y, angle = (quantity(x, u) if isinstance(x, str) else x for x, u in zip(value, units, strict=True))
        c, s = np.cos(angle), np.sin(angle)  # an angle may go round and come back by 2 pi: no jump
        return [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, x, y, 0.0]
    if is_list(value) and len(value) == 2 and np.shape(value[0]) == (3, 3) and np.shape(value[1]) == (3,):
        return [*np.asarray(value[0]).ravel(), *np.asarray(value[1]).ravel()]
    ways = " or (x, y, angle)" if assembler.description.planar else ""
    raise UsageError(f"the {_path(name)} needs poses: a Pose, a pair (R, p){ways}, not {short(value)}.")


def _turning(w: PrescribedPath) -> PrescribedPath:
    """The wanted motion, once its matrices are known to be rotations."""
    if len(w.kinds) == 12:
        R = w.jets.f[:, :9].reshape(-1, 3, 3)
        off = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        if off.max() > TURNED:
            raise UsageError(
                f"the {_path(w.name)}: R at t = {w.t[int(np.argmax(off))]:.6g} s is not a rotation: its rows are not orthonormal "
                f"(by {off.max():.2g})."
            )
    return w
