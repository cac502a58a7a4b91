"""Assembly modes: the different ways a mechanism with few loops can be put together.

Deterministic multi-start: many random joint positions are closed with the given joints held, and the
results are sorted into distinct configurations. It finds what it finds; it does not prove completeness.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwright.closing import GOOD_ENOUGH, Closed, close
from linkwright.kinematics import motion
from linkwright.loops import Loops

SAME = 1e-6  # positions (in kappa) closer than this are one configuration


def distinct_positions(loops: Loops, q: np.ndarray, near: Mapping[str, Any], *, most: int = 16, tries: int = 400) -> list[Closed]:
    """Different closed configurations, nearest to q first; at most `most` of them."""
    rng = np.random.default_rng(20130717)
    found: list[tuple[float, Closed, np.ndarray]] = []
    here = _signature(loops, q)
    quiet = 0
    for attempt in range(tries):
        done = close(loops, q if attempt == 0 else _random_position(loops, q, rng), near, most=60)
        if done.residual > GOOD_ENOUGH:
            continue
        signature = _signature(loops, done.q)
        if any(np.abs(signature - other).max() < SAME for _, _, other in found):
            quiet += 1
            if quiet > max(40, 12 * len(found)):
                break  # the last dozens of starts only repeated what is known
            continue
        quiet = 0
        found.append((float(np.abs(signature - here).max()), done, signature))
        if len(found) >= most:
            break
    return [closed for _, closed, _ in sorted(found, key=lambda f: f[0])]


def _signature(loops: Loops, q: np.ndarray) -> np.ndarray:
    """Poses of all bodies as one dimensionless vector: two states are equal when these are."""
    m = motion(loops.skel, q, np.zeros(loops.skel.tree.nv))
    return np.concatenate([np.concatenate([X.p / loops.kappa, X.R.ravel()]) for X in m.X])


def _random_position(loops: Loops, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    out = np.array(q)
    for jt, n in zip(loops.skel.types, loops.skel.tree.nodes, strict=True):
        part = out[n.q]
        for i, kind in enumerate(jt.coordinate_kinds):
            if kind == "angle":
                part[i] = rng.uniform(-np.pi, np.pi)
            elif kind == "length":
                part[i] += loops.kappa * rng.normal()
            else:
                part[i] = rng.normal()
        if "quaternion" in jt.coordinate_kinds:
            part[:4] /= np.linalg.norm(part[:4])
        out[n.q] = part
    return out
