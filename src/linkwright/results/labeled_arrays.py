"""Arrays with named rows and columns: numpy arrays that know what their last axes are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import ChannelError, UsageError, nearest, package

if TYPE_CHECKING:
    from pandas import DataFrame


class Labeled(np.ndarray):
    """A numpy array whose last axes have names: `x.rows`, `x.columns` (of a vector only rows), `x.at("foot.vx", "hip")`, `x.to_pandas()`.

    Leading axes count states. Slices and results of arithmetic are plain arrays.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def __new__(cls, values: Any, rows: Sequence[str], columns: Sequence[str] | None = None) -> Labeled:
        out = np.asarray(values).view(cls)
        out.rows, out.columns = tuple(rows), () if columns is None else tuple(columns)
        out._matrix = columns is not None
        return out

    _matrix: bool = False

    def __array_finalize__(self, other: Any) -> None:
        self.rows, self.columns, self._matrix = (), (), False

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar or not plain.ndim else plain

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __reduce__(self) -> Any:
        return Labeled, (np.asarray(self), self.rows, self.columns if self._matrix else None)

    def __matmul__(self, other: Any) -> Any:
        return np.asarray(self) @ np.asarray(other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.asarray(other) @ np.asarray(self)

    @property
    def T(self) -> Any:
        return np.asarray(self).T

    def at(self, row: str, column: str | None = None) -> Any:
        """Return one entry by name (of many states one each); of a matrix without `column` the whole row."""
        x = np.asarray(self)
        i = _place(row, self.rows, "Rows")
        if not self._matrix:
            if column is not None:
                raise UsageError("this is a vector: it has rows, no columns.")
            return x[..., i]
        return x[..., i, :] if column is None else x[..., i, _place(column, self.columns, "Columns")]

    def to_pandas(self) -> DataFrame:
        """Return a pandas DataFrame (of a vector a Series); of many states the index has the state first."""
        pd = package("pandas")
        x = np.asarray(self)
        lead = x.shape[: x.ndim - 1 - self._matrix]
        states = [i if len(lead) == 1 else str(i) for i in (range(lead[0]) if len(lead) == 1 else np.ndindex(*lead))]
        index = pd.MultiIndex.from_product([states, self.rows]) if lead else list(self.rows)
        if self._matrix:
            return pd.DataFrame(x.reshape(-1, len(self.columns)), index, list(self.columns))
        return pd.Series(x.reshape(-1), index)


def _place(name: str, names: Sequence[str], what: str) -> int:
    if name not in names:
        raise ChannelError(f"there is no '{name}' here.", nearest(str(name), list(names), what))
    return list(names).index(name)
