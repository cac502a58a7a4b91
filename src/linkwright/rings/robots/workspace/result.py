"""Workspace of a robot: measures over poses, the reach, and singularities as located curves and surfaces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from linkwright.api import (
    KINDS,
    Result,
    Table,
    UsageError,
    call_explained,
    calls_explained,
    counted,
    display_unit,
    files,
    nearest,
    shown,
    text_tables,
    unit_kinds,
)
from linkwright.properties import cached_property
from linkwright.rings.robots.workspace import level_sets
from linkwright.rings.robots.workspace.grid import PoseGrid
from linkwright.rings.robots.workspace.inscribed import Inscribed, inscribed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import Paper

KIND_NAMES = ("type I", "type II", "limit")


class WorkspaceAxis(NamedTuple):
    """An axis of the grid: pose coordinate, values in SI, and the unit in which it is shown."""

    name: str
    values: np.ndarray
    kind: str  # "length" or "angle"
    unit: str
    size: float  # of the unit, in SI

    def text(self, value: float) -> str:
        return f"{value / self.size:.4g} {self.unit}"


class WorkspaceCurve(NamedTuple):
    """A curve of singular poses or of a limit. `points` (n, axes) in SI, in order; `determinant` there; `q` the states."""

    kind: str
    points: np.ndarray
    determinant: np.ndarray
    q: np.ndarray
    closed: bool


class WorkspaceSurface(NamedTuple):
    """A surface of singular poses or of a limit: points (n, 3) in SI, and triangles by their rows."""

    kind: str
    points: np.ndarray
    determinant: np.ndarray
    triangles: np.ndarray


class LocatedPoints(NamedTuple):
    """Points of one kind on edges of triangles or tetrahedra."""

    kind: str
    edges: np.ndarray  # (n, 2) nodes; of a boundary the inner one first
    share: np.ndarray
    points: np.ndarray  # (n, axes)
    determinant: np.ndarray
    q: np.ndarray
    simplices: np.ndarray | None = None  # of divided cells, which have nodes of their own
    nodes: int = 0


@calls_explained
@dataclass(frozen=True, eq=False, repr=False)
class Workspace(Result):
    """Measures over a grid of poses: `a["dexterity"]`, `a.reach`. `a.curves` of a slice, `a.surfaces` of a volume.

    Arrays have the shape of the grid, an axis for each of `axes`, in SI. NaN out of reach, with the reason in `a.why` and counts in
    `a.counts`.
    """

    name: str
    axes: tuple[WorkspaceAxis, ...]
    fixed: Mapping[str, float]  # pose coordinates that are the same in all poses, SI
    reach: np.ndarray
    values: Mapping[str, np.ndarray] = field(repr=False)
    units: Mapping[str, str]
    about: Mapping[str, str] = field(repr=False)
    q: np.ndarray = field(repr=False)  # states by pose, NaN out of reach
    why: np.ndarray = field(repr=False)  # reason by pose: place in `reasons`
    reasons: tuple[str, ...]
    located: tuple[LocatedPoints, ...] = field(repr=False)
    home: np.ndarray  # pose of the start along the axes
    of_start: bool = True  # the fixed coordinates are those of the start
    mode: int = 0
    notes: tuple[str, ...] = ()
    file_units: tuple[str, ...] = field(default=(), repr=False)
    display: Mapping[str, tuple[str, float]] = field(default_factory=dict, repr=False)  # unit in which a measure is shown, and its size

    @property
    def in_space(self) -> bool:
        """True if all axes are coordinates of one place: lengths, and not positions of drives."""
        return all(a.kind == "length" and "." in a.name for a in self.axes)

    def unit(self, name: str) -> tuple[str, float]:
        """Return the unit in which a measure is shown, and its size in SI."""
        return self.display.get(name, (self.units[name] or "-", 1.0))

    # ---------------------------------------------------------------- reading

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a measure over the grid, or the values of an axis."""
        if name == "reach":
            return self.reach
        found = {**{a.name: a.values for a in self.axes}, **self.values}
        if name not in found:
            raise UsageError(f"the workspace has no '{name}'.", nearest(name, ["reach", *found], "It has"))
        return found[name]

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.reach.shape

    @property
    def counts(self) -> dict[str, int]:
        """Number of poses in reach, and of the others by reason."""
        out = {"in reach": int(self.reach.sum())}
        for k, reason in enumerate(self.reasons):
            n = int((self.why == k).sum()) if k else 0
            if n:
                out[reason] = n
        return out

    @cached_property
    def grid(self) -> PoseGrid:
        """The grid in its own coordinates."""
        n = len(self.axes)
        return PoseGrid(tuple(a.values for a in self.axes), tuple(range(n)), np.zeros(n))

    # ---------------------------------------------------------------- curves and surfaces

    @cached_property
    def curves(self) -> tuple[WorkspaceCurve, ...]:
        """Located curves of a slice, or of all slices of a stack. Empty for a volume: see `surfaces` and `slice`."""
        return self._curves(self.grid.simplices) if self.grid.divided == 2 else ()

    def _curves(self, triangles: np.ndarray) -> tuple[WorkspaceCurve, ...]:
        out = []
        for x in self.located:
            mine, nodes = (triangles, self.reach.size) if x.simplices is None else (x.simplices, x.nodes)
            for line in level_sets.polylines(mine, x.edges, nodes):
                closed = len(line) > 3 and line[0] == line[-1]
                out.append(WorkspaceCurve(x.kind, x.points[line], x.determinant[line], x.q[line], closed))
        return tuple(out)

    @cached_property
    def surfaces(self) -> tuple[WorkspaceSurface, ...]:
        """Located surfaces of a volume, one of each kind."""
        if self.grid.divided != 3:
            return ()
        out = []
        for x in self.located:
            found = level_sets.triangles(self.grid.simplices, x.edges, self.reach.size)
            if len(found):
                out.append(WorkspaceSurface(x.kind, x.points, x.determinant, found))
        return tuple(out)

    def slice(self, at: Mapping[str, Any]) -> Workspace:
        """Return the slice nearest to values of some axes: `a.slice({"platform.z": "0.7 m"})`. Two axes stay at least."""
        names = [a.name for a in self.axes]
        chosen: dict[int, int] = {}
        for name, value in at.items():
            if name not in names:
                raise UsageError(f"slice: '{name}' is not an axis.", nearest(str(name), names, "Axes"))
            k = names.index(name)
            chosen[k] = int(
                np.argmin(np.abs(self.axes[k].values - unit_kinds.quantity(value, KINDS[self.axes[k].kind], f"slice: '{name}'")))
            )
        if len(names) - len(chosen) < 2:
            raise UsageError(f"slice: two of {', '.join(names)} must stay axes.", allowed=names)
        return self.cut(chosen)

    def cut(self, chosen: Mapping[int, int]) -> Workspace:
        """Return the part at places of some axes."""
        keep = [k for k in range(len(self.axes)) if k not in chosen]
        at = tuple(chosen.get(k, slice(None)) for k in range(len(self.axes)))
        old = self.grid.index[at].ravel()
        new = np.full(self.reach.size, -1)
        new[old] = np.arange(len(old))
        located = []
        for x in self.located:
            if x.simplices is not None:
                continue  # divided cells belong to slices that were computed as such
            some = (new[x.edges] >= 0).all(axis=1)
            located.append(
                x._replace(
                    edges=new[x.edges[some]],
                    share=x.share[some],
                    points=x.points[some][:, keep],
                    determinant=x.determinant[some],
                    q=x.q[some],
                )
            )
        return replace(
            self,
            axes=tuple(self.axes[k] for k in keep),
            fixed={**self.fixed, **{self.axes[k].name: float(self.axes[k].values[i]) for k, i in chosen.items()}},
            reach=self.reach[at],
            values={n: v[at] for n, v in self.values.items()},
            q=self.q[at],
            why=self.why[at],
            located=tuple(located),
            home=self.home[keep],
        )

    # ---------------------------------------------------------------- sizes

    @cached_property
    def size(self) -> float:
        """Area or volume of the reach in the units of the axes (SI), its ends as located, or NaN for a stack of slices."""
        if len(self.axes) > 3:
            return float("nan")
        ends = [x for x in self.located if x.kind != "type II" and x.simplices is None]
        edges = np.concatenate([x.edges for x in ends]) if ends else np.zeros((0, 2), int)
        share = np.concatenate([x.share for x in ends]) if ends else np.zeros(0)
        inside = self.reach.ravel()
        some = inside[edges[:, 0]] & ~inside[edges[:, 1]]
        return level_sets.content(self.grid.simplices, self.grid.poses, inside, edges[some], share[some])

    def inscribed(self, shape: str = "circle") -> Inscribed:
        """Return the largest circle (sphere) or box (square, cube) in reach and free of singularities, on the side of them of the start."""
        return inscribed(self, shape)

    # ---------------------------------------------------------------- texts, tables, pictures

    def __repr__(self) -> str:
        size = " x ".join(str(n) for n in self.shape)
        return (
            f"<Workspace of {self.name!r}: {size} {'pose' if self.reach.size == 1 else 'poses'} over "
            f"{', '.join(a.name for a in self.axes)}, "
            f"{int(self.reach.sum())} in reach>"
        )

    def __str__(self) -> str:
        lines = [repr(self)[1:-1]]
        if self.fixed:
            lines.append("fixed: " + ", ".join(self.fixed_texts))
        lines.append("poses: " + ", ".join(f"{n:,} {reason}" for reason, n in self.counts.items()))
        if len(self.axes) in (2, 3) and self.in_space:
            lines.append(f"{'area' if len(self.axes) == 2 else 'volume'}: {self.size:.6g} m^{len(self.axes)}")
        for name, v in self.values.items():
            known = v[np.isfinite(v)]
            if len(known):
                symbol, size = self.unit(name)
                lines.append(f"{name}: {known.min() / size:.4g} to {known.max() / size:.4g} {symbol.strip('-')}".rstrip())
        for kind in KIND_NAMES:
            n = sum(len(x.share) for x in self.located if x.kind == kind)
            if n:
                parts = {2: f", {counted(sum(c.kind == kind for c in self.curves), 'curve')}", 3: ", surface"}.get(self.grid.divided, "")
                lines.append(f"{kind}: {counted(n, 'located point', spec=',')}{parts}")
        return "\n".join([*lines, *(f"note: {x}" for x in self.notes)])

    @property
    def fixed_texts(self) -> list[str]:
        """Fixed pose coordinates with their values, in the units of the model's file."""
        kinds = {n: KINDS["length" if n.rpartition(".")[2] in ("x", "y", "z") else "angle"] for n in self.fixed}
        return [f"{n} = {shown(x, kinds[n], self.file_units)}" for n, x in self.fixed.items()]

    def table(self) -> Table:
        """Return a row for each pose, in SI: the axes, `reach`, the measures (nan out of reach), and `why`."""
        axes = [(a.name, "m" if a.kind == "length" else "rad", self.grid.poses[:, k]) for k, a in enumerate(self.axes)]
        why = np.array(["", *self.reasons[1:]], dtype=object)[np.where(self.reach, 0, self.why).ravel()]
        measures = [(n, self.units[n] or "-", v.ravel()) for n, v in self.values.items()]
        return Table.of_columns([*axes, ("reach", "", self.reach.ravel()), *measures, ("why", "", why)], "poses", self.notes)

    def as_dict(self) -> dict[str, Any]:
        """Return axes, counts, ranges of the measures and curves as plain data, in SI and radians."""
        curves = [
            {"kind": c.kind, "closed": bool(c.closed), "points": c.points.tolist(), "determinant": c.determinant.tolist()}
            for c in self.curves
        ]
        known = {n: v[self.reach] for n, v in self.values.items()}
        ends = {n: (float(v.min()), float(v.max())) if len(v) else (float("nan"),) * 2 for n, v in known.items()}
        return {
            "mode": self.mode,
            "axes": [{"name": x.name, "unit": "m" if x.kind == "length" else "rad", "values": x.values.tolist()} for x in self.axes],
            "fixed": dict(self.fixed),
            "counts": self.counts,
            "size": self.size,
            "measures": {n: {"unit": self.units[n] or "-", "min": low, "max": high} for n, (low, high) in ends.items()},
            "curves": curves,
            "located": {k: sum(len(x.share) for x in self.located if x.kind == k) for k in ("type I", "type II", "limit")},
            "notes": list(self.notes),
        }

    def save(self, path: str | os.PathLike[str], *, sep: str | None = None, decimal: str | None = None) -> Path:
        """Write all poses as a table (.csv, .xlsx, .parquet, .json), or all arrays (.npz)."""
        if files.checked(path, (*text_tables.ENDINGS, ".npz")).suffix.lower() != ".npz":
            return super().save(path, sep=sep, decimal=decimal)
        with files.replacing(path, (".npz",)) as temporary, open(temporary, "wb") as file:
            curves = {f"{kind}.points": self._points(kind) for kind in KIND_NAMES}
            arrays = {a.name: a.values for a in self.axes} | dict(self.values) | {"reach": self.reach, **curves}
            np.savez_compressed(file, allow_pickle=False, **arrays)
        return Path(path)

    def _points(self, kind: str) -> np.ndarray:
        """All located points of a kind."""
        return np.concatenate([np.zeros((0, len(self.axes))), *(x.points for x in self.located if x.kind == kind)])

    def plot(self, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Unpack[Paper]) -> Figure | Path:
        """Draw measures over the slice with its curves, or a volume with its surfaces (`what="surfaces"`). By default several."""
        from linkwright.rings.studio.workspace_plots import maps

        return call_explained(maps, "plot")(self, what, path, **options)

    def show(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Open a page with the maps, curves, and a slider for each axis. With `path`, write it there: one HTML file."""
        from linkwright.rings.studio.page import shown
        from linkwright.rings.studio.workspace_page import write

        return shown("workspace", lambda place: write(self, place), path)


def axis(name: str, values: np.ndarray, kind: str, units: tuple[str, ...]) -> WorkspaceAxis:
    """Return an axis in the units of a model's file."""
    symbol, per_si = display_unit(units, KINDS[kind])
    return WorkspaceAxis(name, values, kind, symbol, 1.0 / per_si)


# Workspaces of all working modes of a robot over the same poses.


@calls_explained
@dataclass(frozen=True, eq=False)
class WorkspaceModes(Result):
    """One Workspace for each working mode. The mode of the start comes first: `every[0]`, `every.reach` (of any mode), `every.curves`."""

    modes: tuple[Workspace, ...] = field(repr=False)
    starts: int  # random starts of the search for modes
    share: float  # of these that converged
    seldom: int  # starts that led to the mode found least often

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[Workspace]:
        return iter(self.modes)

    def __getitem__(self, k: int) -> Workspace:
        return self.modes[k]

    @property
    def reach(self) -> np.ndarray:
        """Poses in reach in any working mode."""
        return np.any([a.reach for a in self.modes], axis=0)

    @property
    def curves(self) -> tuple[WorkspaceCurve, ...]:
        """Curves of all modes."""
        return tuple(c for a in self.modes for c in a.curves)

    def __str__(self) -> str:
        found = f"{self.starts:,} random starts, each mode found {self.seldom} times or more"
        lines = [f"{counted(len(self), 'working mode')} of {self.modes[0].name!r} ({found})"]
        return "\n".join([*lines, self.table().text()])

    def table(self) -> Table:
        """Return a row for each mode: poses in reach, and located points of each kind."""
        kinds = ("type I", "type II", "limit")
        points = [[sum(len(x.share) for x in a.located if x.kind == k) for k in kinds] for a in self.modes]
        rows = [(a.mode, int(a.reach.sum()), a.reach.size, *n) for a, n in zip(self.modes, points, strict=True)]
        return Table.of(["mode", "in reach", "poses", *(f"points {k}" for k in kinds)], rows, "working modes")

    def plot(self, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Unpack[Paper]) -> Figure | Path:
        """Draw one measure of all modes side by side."""
        from linkwright.rings.studio.workspace_plots import maps

        return call_explained(maps, "plot")(self, what, path, **options)

    def show(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Open a page with a slider for the working mode next to the sliders of the axes. With `path`, write it there: one HTML file."""
        from linkwright.rings.studio.page import shown
        from linkwright.rings.studio.workspace_page import write

        return shown("workspace", lambda place: write(self, place), path)
