"""Faults of a trial: spread over all rooms by their size, chosen at random but equal for an equal seed and equal sources."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.faults.places import Fault, python_faults
from tests.faults.scripts import script_faults
from tests.sources import PACKAGE

SCRIPTS = "scripts"  # the room of all JavaScript
TOP = "package"  # the room of modules that are in no folder


def room_of(path: str) -> str:
    """Return the room of a file below src/linkwright."""
    if path.endswith(".js"):
        return SCRIPTS
    parts = path.split("/")[:-1]
    if parts[:1] == ["rings"] and len(parts) > 1:  # a ring is a room of its own
        return parts[1]
    return parts[0] if parts else TOP


@cache
def rooms(root: Path = PACKAGE) -> dict[str, tuple[Path, ...]]:
    """Return the files of every room."""
    found: dict[str, list[Path]] = {}
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.js")]):
        if "vendor" not in path.parts:
            found.setdefault(room_of(path.relative_to(root).as_posix()), []).append(path)
    return {room: tuple(files) for room, files in sorted(found.items())}


@cache
def faults_of(room: str, root: Path = PACKAGE) -> tuple[Fault, ...]:
    """Return all faults that can be made in a room."""
    return tuple(f for path in rooms(root)[room] for f in (script_faults if path.suffix == ".js" else python_faults)(path, root))


def shares(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """Return how many of `count` faults each room has: one, and the others in proportion to their sizes."""
    if count < len(sizes):
        raise SystemExit(f"--count {count} is too small: each of the {len(sizes)} rooms has a fault. Use --room for a single one.")
    total = sum(sizes.values())
    out = dict.fromkeys(sizes, 1)
    while sum(out.values()) < count:  # to the room that lacks most
        out[max(sizes, key=lambda room: (sizes[room] / total * count - out[room], room))] += 1
    return out


def pick(room: str, count: int, seed: int, root: Path = PACKAGE) -> list[Fault]:
    """Return faults of one room: a kind at random, then a place of this kind; no line twice."""
    draw = random.Random(f"{seed} {room}")
    places = list(faults_of(room, root))
    out: list[Fault] = []
    while places and len(out) < count:
        kind = draw.choice(sorted({f.kind for f in places}))
        out.append(draw.choice([f for f in places if f.kind == kind]))
        places = [f for f in places if (f.path, f.line) != (out[-1].path, out[-1].line)]
    return out


def picked(count: int, seed: int, room: str | None = None, root: Path = PACKAGE) -> list[Fault]:
    """Return the faults of a trial, room by room."""
    known = rooms(root)
    if room is not None:
        if room not in known:
            raise SystemExit(f"there is no room '{room}'; rooms are {', '.join(known)}.")
        return pick(room, count, seed, root)
    each = shares({name: sum(p.stat().st_size for p in files) for name, files in known.items()}, count)
    return [f for name, n in each.items() for f in pick(name, n, seed, root)]
