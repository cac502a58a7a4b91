"""Results as other packages like them: dicts of arrays, pandas tables, xarray datasets, each with units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, nearest, package
from linkwright.text.units import KINDS, display_unit

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

Units = str | Mapping[str, str] | None


class Variable(NamedTuple):
    """A channel's values in a unit."""

    name: str
    values: np.ndarray  # (n,) or (n, k)
    unit: str


def unit_of(units: tuple[str, ...], dimension: str) -> tuple[str, float]:
    """(symbol, size in SI) for people who wrote a file in these units."""
    if dimension in ("mixed", "none"):
        return "-", 1.0
    if dimension == "energy":
        return "J", 1.0
    symbol, from_si = display_unit(units, KINDS[dimension])
    return symbol, 1.0 / from_si


def variables(c: Any, channels: Iterable[str] | None, units: Units, *, with_time: bool = False) -> list[Variable]:
    """The chosen channels (`with_time`: t first), in SI, the file's units, or units by channel or dimension."""
    wanted = [channels] if isinstance(channels, str) else list(channels) if channels is not None else c._main_channels()
    names = ["t", *(n for n in wanted if n != "t")] if with_time else wanted
    if isinstance(units, Mapping):
        known = [*names, *(c.dimension(n) for n in names)]
        for key in units:
            if key not in known:
                raise UsageError(f"units: '{key}' is neither one of the channels nor a dimension of them.", nearest(key, known, "Known"))
    elif units not in (None, "file"):
        raise UsageError(
            f"units are 'file' (the units of the model) or a dict by channel or dimension, not {units!r}.", name="units", value=units
        )
    found = c.read(names)
    return [_in_unit(c, name, found[name], units) for name in names]


def _in_unit(c: Any, name: str, values: np.ndarray, units: Units) -> Variable:
    dimension = c.dimension(name)
    if isinstance(units, Mapping):
        unit = units.get(name, units.get(dimension))
        if unit is not None:
            return Variable(name, values / c._channel(name).size_of(unit), unit)
    symbol, size = c.unit(name) if units == "file" else unit_of((), dimension)
    return Variable(name, values / size if size != 1.0 else values, symbol)


def flat(v: Variable) -> list[Variable]:
    """A vector as its entries `name[0]`, `name[1]`, ..."""
    if v.values.ndim == 1:
        return [v]
    return [Variable(f"{v.name}[{i}]", x, v.unit) for i, x in enumerate(v.values.reshape(len(v.values), -1).T)]


def to_pandas(c: Any, channels: Iterable[str] | None, units: Units) -> DataFrame:
    pd = package("pandas")
    t, *rest = [x for v in variables(c, channels, units, with_time=True) for x in flat(v)]
    out = pd.DataFrame({v.name: v.values for v in rest}, index=pd.Index(t.values, name="t"))
    out.attrs["units"] = {v.name: v.unit for v in (t, *rest)}
    return out


def to_xarray(c: Any, channels: Iterable[str] | None, units: Units) -> Dataset:
    xr = package("xarray")
    t, *rest = variables(c, channels, units, with_time=True)
    d = c.skel.tree.description
    data, coords = _with_components(c, rest, ["t"], list(d.plane or "xyz"))
    return xr.Dataset(data, {"t": ("t", t.values, {"units": t.unit}), **coords}, {"mechanism": d.name})


def many_to_xarray(t: Any, channels: Iterable[str] | None, units: Units) -> Dataset:
    """The same of many motions, whose axes come first; times are a variable where they differ."""
    xr = package("xarray")
    noun = t.source.noun
    axes = [noun] if len(t.shape) == 1 else [f"{noun} {k}" for k in range(len(t.shape))]
    names = [n for n in t.values if " " not in n] if channels is None else channels
    found = variables(t, [n for n in ([names] if isinstance(names, str) else names) if n != "t"], units)
    data, coords = _with_components(t, found, [*axes, "t"], list(t.source.axes))
    own = coords if t.t.ndim == 1 else data
    own["t" if t.t.ndim == 1 else "time"] = (["t"] if t.t.ndim == 1 else [*axes, "t"], t.t, {"units": "s"})
    data["ok"] = (axes, t.ok, {})
    numbers = [t.source.numbers(i) for i in range(len(t))]
    for name in numbers[0] if numbers else ():
        coords[name] = (axes, np.array([x[name] for x in numbers]).reshape(t.shape), {"units": "SI"})
    return xr.Dataset(data, coords, {"mechanism": t.source.name})


def _with_components(c: Any, found: Iterable[Variable], first: list[str], axes: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables of a dataset with their dimensions, and the coordinates of vectors."""
    data: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for v in found:
        entries = v.values.shape[len(first) :]
        dims = [*first, *(f"{v.name} component" for _ in entries[:1]), *(f"{v.name} column" for _ in entries[1:])]
        data[v.name] = (dims, v.values, {"units": v.unit})
        if entries == (len(axes),) and c.dimension(v.name) not in ("mixed", "none"):
            coords[dims[len(first)]] = (dims[len(first)], axes, {})
    return data, coords
