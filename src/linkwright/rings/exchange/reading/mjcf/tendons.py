"""Tendons of a compiled model: sums of joint coordinates, or a line between two sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.api import GROUND, PointRef
from linkwright.rings.exchange.reading.mjcf.joints import is_hinge_or_slide
from linkwright.rings.exchange.reading.mjcf.mujoco_compiler import mujoco
from linkwright.rings.exchange.reading.mjcf.names import MjcfNames


@dataclass(frozen=True)
class LinearTendon:
    """length = sum of coefficient times qpos of joints."""

    terms: tuple[tuple[int, float], ...]  # joint, coefficient


@dataclass(frozen=True)
class LineTendon:
    """length = distance of two sites."""

    sites: tuple[int, int]


def tendon(m: Any, t: int) -> LinearTendon | LineTendon | None:
    """A tendon of the two simple kinds; None for those that are wound around shapes or over several sites."""
    kinds = mujoco().mjtWrap
    wraps = range(int(m.tendon_adr[t]), int(m.tendon_adr[t]) + int(m.tendon_num[t]))
    types = [int(m.wrap_type[w]) for w in wraps]
    if types and all(x == kinds.mjWRAP_JOINT for x in types):
        terms: dict[int, float] = {}
        for w in wraps:
            j = int(m.wrap_objid[w])
            terms[j] = terms.get(j, 0.0) + float(m.wrap_prm[w])
        return LinearTendon(tuple(terms.items())) if all(is_hinge_or_slide(m, j) for j in terms) else None
    if len(types) == 2 and all(x == kinds.mjWRAP_SITE for x in types):
        return LineTendon((int(m.wrap_objid[wraps[0]]), int(m.wrap_objid[wraps[1]])))
    return None


def line_ends(m: Any, line: LineTendon, names: MjcfNames) -> tuple[PointRef, PointRef]:
    """The two points of a line."""
    first, second = ((names.bodies.get(int(m.site_bodyid[s]), GROUND), names.sites[s]) for s in line.sites)
    return first, second


def transmission(m: Any, a: int) -> tuple[tuple[int, float], ...]:
    """Joints on which an actuator acts, with coefficients; none for those at sites and of kinds without a counterpart."""
    kinds = mujoco().mjtTrn
    kind, target = int(m.actuator_trntype[a]), int(m.actuator_trnid[a][0])
    if kind in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
        return ((target, 1.0),) if is_hinge_or_slide(m, target) else ()
    found = tendon(m, target) if kind == kinds.mjTRN_TENDON else None
    return found.terms if isinstance(found, LinearTendon) else ()
