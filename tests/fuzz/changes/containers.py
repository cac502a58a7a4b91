"""Random changes inside containers, so that their checksums are right: archives of arrays (.npz), Parquet files, JSON."""

from __future__ import annotations

import io
import json
import random
import zipfile
from typing import Any

import numpy as np

from tests.fuzz import odd
from tests.fuzz.changes.texts import change_bytes, change_text
from tests.fuzz.changes.trees import change_tree, of_python, to_python

ARRAYS = (
    lambda x: x[:-1],
    lambda x: x[:0],
    lambda x: x.T,
    lambda x: x * np.nan,
    lambda x: x * 1e300,
    lambda x: x[..., None],
    lambda x: x.ravel(),
    lambda x: np.concatenate([x, x]),
    lambda x: x.astype("f4"),
    lambda x: x.astype("c16"),
    lambda x: x.astype("U20"),
    lambda x: x * 0,
    lambda x: x[::-1],
    lambda x: np.zeros(()),
    lambda x: np.array(["x"]),
    lambda x: x.astype(">f8"),
    lambda x: -x,
    lambda x: np.zeros((0, 10**6)),
    lambda x: x.astype("i8"),
)


def change_json(rng: random.Random, text: str) -> str:
    """JSON with changes of its tree; as a text where it is none."""
    try:
        tree = of_python(json.loads(text, parse_int=str, parse_float=str))
    except ValueError:
        return change_text(rng, text)
    for _ in range(rng.choice((1, 1, 2, 3))):
        change_tree(rng, tree, [tree])
    return json.dumps(_typed(rng, to_python(tree)))


def _typed(rng: random.Random, x: Any) -> Any:
    """Numbers that were read as texts, as numbers again; a few stay texts."""
    if isinstance(x, dict):
        return {k: _typed(rng, v) for k, v in x.items()}
    if isinstance(x, list):
        return [_typed(rng, v) for v in x]
    if isinstance(x, str) and rng.random() < 0.97:
        try:
            return int(x) if len(x) < 300 else x
        except ValueError:
            try:
                return float(x)
            except ValueError:
                return x
    return x


def change_archive(rng: random.Random, data: bytes) -> bytes:
    """An .npz with one member changed, left out, doubled or renamed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except (zipfile.BadZipFile, EOFError, OSError):
        return data
    k = rng.randrange(len(members))
    name, content = members[k]
    kind = rng.randrange(7)
    if kind < 4:
        members[k] = (name, _array(rng, content) if kind < 3 else change_bytes(rng, content))
    elif kind == 4:
        del members[k]
    elif kind == 5:
        members.append((rng.choice(("x.npy", "../x.npy", name.upper(), "a/" * 50 + "x.npy", rng.choice(members)[0])), content))
    else:
        j = rng.randrange(len(members))
        members[k], members[j] = (name, members[j][1]), (members[j][0], content)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if rng.random() < 0.5 else zipfile.ZIP_STORED) as archive:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that come twice
            for name, content in members:
                archive.writestr(name, content)
    return out.getvalue()


def _array(rng: random.Random, content: bytes) -> bytes:
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
        if array.dtype.kind == "U" and array.ndim == 0:
            changed = np.array(change_json(rng, str(array)))
        elif array.dtype.kind == "f" and array.size and rng.random() < 0.4:
            changed = array.copy()
            changed.flat[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, 1e300, -1.0, 0.0))
        else:
            with np.errstate(all="ignore"):
                changed = rng.choice(ARRAYS)(array)
        out = io.BytesIO()
        np.save(out, changed, allow_pickle=False)
        return out.getvalue()
    except (ValueError, TypeError, EOFError, IndexError):
        return change_bytes(rng, content)


def change_parquet(rng: random.Random, data: bytes) -> bytes:
    """A Parquet file with one column or its metadata changed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(data))
        metadata = dict(table.schema.metadata or {})
        kind = rng.randrange(5)
        names = table.column_names
        name = rng.choice(names)
        if kind == 0 and metadata:
            key = rng.choice(list(metadata))
            metadata[key] = change_json(rng, metadata[key].decode()).encode()
        elif kind == 1:
            table = table.drop_columns([name])
        elif kind == 2:
            table = table.rename_columns([odd.scalar(rng).replace("\0", "") if n == name else n for n in names])
        elif kind == 3:
            table = table.slice(0, rng.randrange(table.num_rows + 1))
        else:
            values = [rng.choice((None, float("nan"), 1e300, 0.0)) if rng.random() < 0.3 else x for x in table.column(name).to_pylist()]
            table = table.set_column(names.index(name), name, pa.array(values if rng.random() < 0.7 else [str(x) for x in values]))
        out = io.BytesIO()
        pq.write_table(table.replace_schema_metadata(metadata), out)
        return out.getvalue()
    except (pa.ArrowException, ValueError, TypeError, UnicodeDecodeError):
        return data
