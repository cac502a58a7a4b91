"""The script of a mechanism for its page: which kernels, with which parameters as inputs, moved by which coordinates.

Kinematics, loads, free motion and energy come from `kernels.export`; beside them a page needs poses and twists for drawing and
dragging, the loop Jacobian, what acts on each body, the side of the branch, and the places of the drawing as functions of the
parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Description, System, compiled_of, elements, kernel_sets
from linkwright.kernels import export
from linkwright.kernels.page_kernels import TracedKernel, acting_on
from linkwright.kernels.page_motion import beside
from linkwright.rings.studio.live.scene_data import Ref, places, references
from linkwright.rings.studio.scene import Scene

ALWAYS = ("poses", "twists")
MOVED = ("walk", "derivatives")  # where the drives determine the motion
LOADED = ("loads", "bodies", "acting", "energy")
FREELY = ("forward", "projection", "terms")


@dataclass(frozen=True)
class Script:
    """The text, and what the page must know about it."""

    text: str
    names: tuple[str, ...]  # kernels inside
    acting: list[dict[str, Any]]  # rows of the kernel `acting`
    why: str  # what it cannot do
    shape: list[dict[str, Any]]  # places of bodies that move with the parameters, in the order of `shape` of the kernel `places`


def script(system: System, drives: Sequence[str], parameters: Sequence[str], scene: Scene) -> Script:
    """Everything the page computes with."""
    kernels = export.chosen(system.kernels, None, tuple(drives))
    names, why = _possible(kernels, system)
    refs = references(scene)
    spots = _spots(system.description)

    def moved(eq: Any, near: Any) -> dict[str, Any]:
        d = eq.loops.skel.tree.description
        return {"places": np.array(places(d, refs)), "shape": np.array(places(d, [r for r, _ in spots]))}

    more = {"places": TracedKernel(moved, ())} if parameters else {}
    text = export.javascript(kernels, names, parameters=list(parameters), more=more)
    rows = _acting(kernels, system) if "acting" in names else []
    numbers = np.array(places(system.description, [r for r, _ in spots]), dtype=float).reshape(-1, 3)
    shape = [{"body": node + 1, "at": at.tolist()} for (_, node), at in zip(_with_nodes(system, spots), numbers, strict=True)]
    return Script(text, tuple(names), rows, why, shape if parameters else [])


def led_by(system: System, drives: Sequence[str]) -> bool:
    """Return True if these drives determine the motion, so that the page can compute it."""
    kernels = export.chosen(system.kernels, None, tuple(drives))
    return all(export.possible(kernels, n) for n in MOVED)


def walked_by_page(system: System, drives: Sequence[str], q: np.ndarray, near: np.ndarray, t: np.ndarray, laws: np.ndarray) -> bool:
    """Return True if the page finds all these positions from the first one; laws: values, speeds and accelerations of the drives."""
    names, _ = _possible(export.chosen(system.kernels, None, tuple(drives)), system)
    return "walk" in names and export.leads_through(system.kernels, tuple(drives), q, near, t, laws)


def _possible(kernels: kernel_sets.Kernels, system: System) -> tuple[list[str], str]:
    """The kernels this mechanism has, and what is missing for the others."""
    d = system.description
    massless = [b.name for b in d.bodies[1:] if b.mass is None]
    names: list[str] = [*ALWAYS]
    if kernels.drives and led_by(system, kernels.drives):
        names += [*MOVED, *(["speeds"] if beside(compiled_of(system).skel) else [])]
    if massless:
        names += ["closure", *(["acting"] if elements.from_outside(d) else [])]  # where loads act and how large they are needs no mass
        return names, f"kinematics only: no mass given for {', '.join(massless[:4])}{' ...' if len(massless) > 4 else ''}"
    why = ""
    rubbing = [f.name for f in d.rubbing]
    if rubbing:
        why = f"loads are not computed here: the friction of {', '.join(rubbing)} grows with the load. The report has them"
    elif kernels.drives and export.possible(kernels, "loads"):
        names += LOADED
        if any(n not in kernels.tree.node_of_joint for n in kernels.drives):
            names.append("efforts")
        if any(not getattr(f, "conservative", False) for f in compiled_of(system).forces):
            names.append("flow")
    elif system.mobility.freedoms:
        why = "loads are not computed here: the drives do not determine the motion"
    if not rubbing and kernels.sizes.nv:
        names += [n for n in (*FREELY, "energy") if n not in names and export.possible(kernels, n)]
    return names if "terms" in names else [*names, "closure"], why


def _acting(kernels: kernel_sets.Kernels, system: System) -> list[dict[str, Any]]:
    """Name, kind and body of every row of the kernel `acting`."""
    sizes, st = kernels.sizes, system.start
    near = compiled_of(system).skel.pack(st.references)
    found = acting_on(kernels.equations(()), st.q, np.zeros(sizes.nv), np.zeros(sizes.nd), np.zeros(sizes.nc), 0.0, near)
    return [{"name": x.name, "kind": x.kind, "body": x.node + 1} for x in found]


# -------------------------------------------------------------------- places that parameters move


def _spots(d: Description) -> list[tuple[Ref, str]]:
    """Joints' ends and named points of all bodies, joints first: (what it is, body)."""
    out = [(Ref(side, j.name), b) for j in d.joints for side, b in (("first", j.first), ("second", j.second))]
    return out + [(Ref("point", b.name, p.name), b.name) for b in d.bodies for p in b.points]


def _with_nodes(system: System, spots: Sequence[tuple[Ref, str]]) -> list[tuple[Ref, int]]:
    return [(ref, compiled_of(system).skel.node(body)) for ref, body in spots]
