"""Pickles of descriptions and mechanisms as an earlier version made them, with the texts they were read from.

python -m tests.elements.old_pickles --write      make them anew: only where old pickles need not be read any more
"""

from __future__ import annotations

import argparse
import gzip
import pickle
from typing import Any

import linkwright as lw
from linkwright.model.file import read_text
from tests.elements.canonical import FOLDER
from tests.elements.models import everything

STORED = FOLDER / "pickles"
PROTOCOL = 4
NAMES = ("everything-plane", "everything-space", "boot-lid", "wiper")


def text(name: str) -> str:
    """The text that a pickled model was read from; it stays as it was when the model of that name grows."""
    return (STORED / f"{name}.yaml").read_text(encoding="utf-8")


def fresh(name: str) -> Any:
    """The description as it is read now."""
    return read_text(text(name), f"{name}.yaml")


def stored(name: str, kind: str) -> Any:
    """The pickled "description" or "mechanism"."""
    return pickle.loads(gzip.decompress((STORED / f"{name}.{kind}.pickle.gz").read_bytes()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", required=True, help="make the pickles anew")
    parser.parse_args()
    STORED.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        path = everything(name.removeprefix("everything-")) if name.startswith("everything") else lw.models.path(name)
        (STORED / f"{name}.yaml").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        found = {"description": fresh(name), "mechanism": lw.Mechanism(fresh(name))}
        for kind, one in found.items():
            (STORED / f"{name}.{kind}.pickle.gz").write_bytes(gzip.compress(pickle.dumps(one, PROTOCOL), mtime=0))


if __name__ == "__main__":
    main()
