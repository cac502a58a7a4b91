"""Built-in models through URDF, SDF, USD and MJCF and back: the greatest deviation of masses, places and accelerations, and what is lost.

    python -m benchmarks.round_trips

prints the tables of docs/how-to/import.md ("Round trips"). It needs the tests of the repository beside it, and the package mujoco.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import linkwright as lw
from linkwright.model import library
from linkwright.rings.exchange.writing.losses import LossWarning
from linkwright.rings.exchange.writing.robots.urdf import DIALECTS, upright

FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"URDF, {x}": (".urdf", {"dialect": x}) for x in DIALECTS if x != "plain"},
    "SDF": (".sdf", {}),
    "USD": (".usda", {}),
    "MJCF": (".xml", {}),
}


class RoundTrip(NamedTuple):
    """A model through a format and back: deviation over the size of each quantity, and losses of the mechanism itself."""

    model: str
    deviation: float
    lost: tuple[str, ...]


def round_trip(name: str, ending: str, options: dict[str, Any], folder: Path) -> RoundTrip:
    """Write a built-in model, read it again and compare."""
    from tests.rings.exchange.writing.robots.test_round_trips import worst

    m = lw.load(name)
    g = float(np.linalg.norm([float(x) for x in m.system.description.gravity]))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        path = m.export(folder / f"{name}{ending}", **options)
    copy = lw.load(path, **({"gravity": [0, 0, -g]} if ending == ".urdf" else {}))
    R = upright(m.system).R if ending == ".urdf" else np.eye(3)
    losses = [x for w in said if isinstance(w.message, LossWarning) for x in w.message.lost if x.part == "mechanism"]
    reasons = dict.fromkeys("massless or thin bodies raised" if "raised" in x.why else x.why for x in losses)
    return RoundTrip(name, worst(m, copy, R, np.random.default_rng(0)), tuple(reasons))


def main() -> None:
    """Print a line for every format."""
    print("| format | models | held | greatest deviation of those | not held |")
    print("|---|---|---|---|---|")
    for label, (ending, options) in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            rows = [round_trip(name, ending, options, Path(folder)) for name in library.names()]
        held = [r for r in rows if not r.lost]
        others = "; ".join(f"{r.model} ({', '.join(r.lost)})" for r in rows if r.lost)
        print(f"| {label} | {len(rows)} | {len(held)} | {max(r.deviation for r in held):.0e} | {others} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
