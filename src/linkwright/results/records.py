"""Records of a run besides its states: columns of numbers, events, and the reference coordinates of cut joints.

Columns are channels that were computed while it ran (torques, currents, heat) and cannot be computed again from the states.
Settings, certificates and the like are plain JSON from the beginning, so that a file gives back exactly what went in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from linkwright.errors import UsageError, counted, nearest
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.loops import of_loops
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.model.coordinates import coordinate_or_none
from linkwright.model.description import Description
from linkwright.properties import cached_property
from linkwright.results.checks import Checks
from linkwright.text.units import KINDS

DIMENSIONS = (*KINDS, "energy", "mixed", "none")
THIRD = "third."  # arrays of a cycle: third derivatives of what prescribes it, by drive or path; none for a constant speed
EFFORT_OF = {"length": "force", "angle": "torque"}  # of a multiplier, by the kind of its row


class Column(NamedTuple):
    """Values over a run, (n,) or (n, k), in SI, and their dimension: a key of the unit system, "energy", "mixed" or "none"."""

    values: np.ndarray
    dimension: str

    def __repr__(self) -> str:
        """How much of what, without the numbers: a run has dozens of columns, which print together."""
        return f"Column({' x '.join(map(str, self.values.shape))} x {self.dimension})"


class RunEvent(NamedTuple):
    """Something that happened at a time: a zero crossing, an impact, a switch; `values` are plain numbers, texts or lists."""

    time: float
    name: str
    values: Mapping[str, Any] = {}


class RunQuality(NamedTuple):
    """Quality of a run: its certificate, the singular positions it passed, and its checks."""

    certificate: Any
    passages: tuple[Any, ...] = ()
    verdict: Checks | None = None

    def checks(self) -> Checks:
        return self.certificate.checks() if self.verdict is None else self.verdict


def checked_columns(columns: Mapping[str, Any], n: int) -> dict[str, Column]:
    """Columns as float arrays with one row a sample."""
    out = {}
    for name, (values, dimension) in columns.items():
        array = np.asarray(values, dtype=float)
        if array.ndim not in (1, 2) or len(array) != n:
            raise UsageError(
                f"column '{name}' has shape {array.shape}. It needs one row for each of the {counted(n, 'sample')}.", name=name
            )
        if dimension not in DIMENSIONS:
            raise UsageError(f"column '{name}': there is no dimension '{dimension}'.", nearest(dimension, DIMENSIONS, "Dimensions"))
        out[name] = Column(array, dimension)
    return out


def checked_arrays(arrays: Mapping[str, Any], n: int) -> dict[str, np.ndarray]:
    """Hidden arrays with one row a sample."""
    out = {name: np.asarray(x, dtype=float) for name, x in arrays.items()}
    for name, x in out.items():
        if x.ndim != 2 or len(x) != n:
            raise UsageError(f"the array '{name}' has shape {x.shape}. It needs (samples, entries) with {counted(n, 'sample')}.", name=name)
    return out


def plain(value: Any, where: str = "settings") -> Any:
    """The same as JSON would give back: dicts, lists, texts, numbers, None."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), where)
    for to_dict in ("as_dict", "_asdict"):  # certificates, named tuples
        if hasattr(value, to_dict):
            return plain(getattr(value, to_dict)(), where)
    if isinstance(value, Mapping):
        return {str(k): plain(x, f"{where}: {k}") for k, x in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(x, where) for x in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    raise UsageError(
        f"{where} holds a {type(value).__name__}. Only texts, numbers, lists and dicts of them can be saved in a file.", name=where
    )


STOP = ".stop"  # between a coordinate and the kind of push that its rigid stop gives


TENSION = "tension"
CONTACT = "contact."  # of the arrays with what touches do to a body


def push_name(d: Description, coordinate: str, kind: str) -> str:
    """Name of the column of what the end of a coordinate pushes with; ropes pull, and their tension is positive."""
    return f"{coordinate}.{TENSION}" if any(x.name == coordinate for x in d.pulling) else f"{coordinate}{STOP}.{kind}"


def stop_pushes(d: Description, columns: Mapping[str, Column]) -> dict[str, np.ndarray]:
    """Pushes of rigid stops and ropes by coordinate, of those that push at all."""
    named = {name.rpartition(".")[0]: x.values for name, x in columns.items()}
    out = {head.removesuffix(STOP): values for head, values in named.items() if head.endswith(STOP) and values.any()}
    pulls = {x.name: columns[f"{x.name}.{TENSION}"].values for x in d.pulling if f"{x.name}.{TENSION}" in columns}
    return out | {name: -values for name, values in pulls.items() if values.any()}


def joint_friction(d: Description, columns: Mapping[str, Column]) -> dict[str, np.ndarray]:
    """Efforts of dry friction that a run recorded, by coordinate."""
    names = {x.name for x in forces.friction_rows(d)}
    return {name: columns[f"{name}.friction"].values for name in names if f"{name}.friction" in columns}


def acting(skel: Skeleton, columns: Mapping[str, Column]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """(efforts by coordinate or cylinder, wrenches by body) among recorded columns."""
    d = skel.tree.description
    bodies = {b.name for b in d.bodies[1:]}
    efforts, wrenches = {}, {}
    for name, x in columns.items():
        head, _, kind = name.rpartition(".")
        if kind in ("torque", "force") and x.values.ndim == 1:
            place = head.removesuffix(STOP)  # a rigid stop pushes in addition to a drive
            if head.endswith(STOP) and not x.values.any():
                continue
            if coordinate_or_none(d, place) is not None:
                efforts[place] = efforts.get(place, 0.0) + x.values
        if kind == TENSION and any(x.name == head for x in d.pulling):
            efforts[head] = efforts.get(head, 0.0) - x.values
        if head == "wrench" and kind in bodies and x.values.shape[1:] == (6,):
            wrenches[kind] = x.values
    return efforts, wrenches


def coordinate_names(skel: Skeleton, pick: str) -> list[str]:
    """Names of the entries of q ("q_names") or v ("v_names")."""
    parts = [(n.joint.name, getattr(jt, pick)) for n, jt in zip(skel.tree.nodes, skel.types, strict=True)]
    return [f"{name}.{p}" if p else name for name, entries in parts for p in entries]


class CoordinateNames(NamedTuple):
    """Names of the entries of q and v."""

    q: tuple[str, ...]
    v: tuple[str, ...]

    @classmethod
    def of(cls, skel: Skeleton) -> CoordinateNames:
        return cls(*(tuple(coordinate_names(skel, pick)) for pick in ("q_names", "v_names")))


def multipliers(skel: Skeleton, lam: np.ndarray) -> dict[str, Column]:
    """`lam.C` and its rows `lam.C.tx`: what each closing constraint carries, in N and N m, along its own rows."""
    out: dict[str, Column] = {}
    for loop, constraint in zip(skel.tree.loops, of_loops(skel), strict=True):
        kinds = [EFFORT_OF.get(k, "none") for k in constraint.kinds]
        values = lam[:, loop.rows]
        shared = kinds[0] if len(set(kinds)) == 1 else "mixed"
        out[f"lam.{loop.name}"] = Column(values[:, 0] if len(kinds) == 1 else values, shared)
        for i, (label, kind) in enumerate(zip(loop.labels, kinds, strict=True)):
            out[f"lam.{loop.name}.{label}"] = Column(values[:, i], kind)
    return out


class CutReferences(Sequence[Mapping[str, np.ndarray]]):
    """Reference coordinates of every joint at every sample, stored as arrays: those of tree joints are rows of q."""

    def __init__(self, skel: Skeleton, q: np.ndarray, rows: np.ndarray):
        self.skel, self.q, self.rows = skel, q, np.asarray(rows, dtype=float)
        if self.rows.shape != (len(q), skel.cut_size):
            raise UsageError(
                f"references of the cut joints have shape {self.rows.shape}. They need ({len(q)}, {skel.cut_size}).", name="references"
            )

    def __len__(self) -> int:
        return len(self.q)

    @overload
    def __getitem__(self, i: int) -> Mapping[str, np.ndarray]: ...
    @overload
    def __getitem__(self, i: slice) -> CutReferences: ...
    def __getitem__(self, i: int | slice) -> Mapping[str, np.ndarray] | CutReferences:
        if isinstance(i, slice):
            return CutReferences(self.skel, self.q[i], self.rows[i])
        return self.skel.unpack(self.q[i], self.rows[i])

    def __iter__(self) -> Iterator[Mapping[str, np.ndarray]]:
        return (self[i] for i in range(len(self)))

    def copied(self, q: np.ndarray) -> CutReferences:
        """The same in memory of its own, with a copy of q."""
        return CutReferences(self.skel, q, self.rows.copy())


class CountedReferences(CutReferences):
    """The same, counted when somebody asks."""

    def __init__(self, skel: Skeleton, q: np.ndarray, count: Callable[[], np.ndarray]):
        self.skel, self.q, self._count = skel, q, count

    @cached_property
    def rows(self) -> np.ndarray:
        return self._count()

    def copied(self, q: np.ndarray) -> CutReferences:
        return CountedReferences(self.skel, q, lambda: self.rows.copy())

    def __reduce__(self) -> Any:
        return CutReferences, (self.skel, self.q, self.rows)


def cut_rows(skel: Skeleton, references: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """References of the cut joints at every sample, one packed row each."""
    if isinstance(references, CutReferences):
        return references.rows
    return np.array([skel.pack(x) for x in references]).reshape(len(references), skel.cut_size)


def turns_counted(raw: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Angles known up to whole turns, made continuous: each continues from the one before by about the predicted increment."""
    whole = 2.0 * math.pi
    steps = np.diff(raw)
    turns = np.rint((predicted - steps) / whole)
    return raw + whole * np.concatenate([[0.0], np.cumsum(turns)])
