"""A mechanism's kernels for other places: the kernels that are exported, with names and numbers, and a script for pages and node.

    javascript(kernels)        one text: the kernels, names and numbers of the mechanism, and what a page needs on top of them
                               (assembling, speeds, loads, free motion); see script/

Nothing is needed where it runs: Newton's method round the kernels `kinematics` and `projection` is written with them, from the loops of
`closing_loops` and `motion_loops`. With parameters their values are inputs. What the rank-revealing path does for a System is not
exported: a state at which the kernels fail is reported, not answered. C sources: `c_sources`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import javascript as js
from linkwright.compiler import javascript_loops
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, without_unused
from linkwright.errors import UsageError
from linkwright.errors.arguments import Names
from linkwright.kernels import closing_loops, driven_motion, motion_loops, singular_step_loops, singular_value_loops
from linkwright.kernels.equations.dynamic import Equations
from linkwright.kernels.equations.kinematic import cut_coordinates
from linkwright.kernels.kernels import SOLVES, Kernels
from linkwright.kernels.page_kernels import TRACED, TracedKernel
from linkwright.kernels.tracing import KERNELS, OPTIONAL
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.loops import scale
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import joint_rate, motion, qdot
from linkwright.model.coordinates import joint_part, lengths
from linkwright.model.parameters import choose, every_parameter
from linkwright.numerics.tolerances import SAME_PLACE

DEFAULT_KERNELS = ("kinematics", "loads", "forward", "projection", "energy", "points")  # what a page that computes by itself needs
CLOSING = {"kinematics", "walk"}  # kernels with Newton steps at given drives; the second is that of pages
SCRIPT = ("binder", "newton", "mechanism")  # files of script/ that are exported with the kernels, and those of some kernels
OF_KERNELS = {"kinematics": {"kinematics"}, "walk": {"walk"}, "motion": {"forward", "projection"}}
_HERE = Path(__file__).parent


def javascript(
    kernels: Kernels,
    names: Sequence[str] | None = None,
    *,
    parameters: Names | None = None,
    drives: Names | None = None,
    name: str = "mechanism",
    more: Mapping[str, TracedKernel] | None = None,
) -> str:
    """A script that defines the object `name` (in node also what require() returns); no dependencies, ES2015.

    `names` are kernels (default: all of `DEFAULT_KERNELS` the mechanism allows), also those of `page_kernels`; `parameters` are those whose
    values stay inputs, `drives` joints and cylinders in place of the model's drives, `more` kernels of the caller's own.
    """
    kernels = chosen(kernels, parameters, drives)
    programs = programs_of(kernels, names, more)
    js.module({}, name)  # refuses names that cannot be
    data = json.dumps(_data(kernels, programs), separators=(",", ":")).replace("<", "\\u003c")
    head = f"// {title_of(kernels)}. SI units, radians.\n"
    # `module` is a parameter so that the inner script, made for node too, leaves the real one alone
    files = [*SCRIPT, *(part for part, needs in OF_KERNELS.items() if needs <= programs.keys())]
    parts = "".join(js.short(template(f"script/{part}.js")) for part in files)
    loops = loops_text(frozenset(programs))
    inner = f'"use strict";\n{js.module(programs)}const data={data};\n{loops}{parts}return mechanismOf(kernels,data)'
    return f'{head}var {name}=((module)=>{{{inner}}})();\nif(typeof module==="object"&&module.exports)module.exports={name};\n'


# -------------------------------------------------------------------- what is exported


def chosen(kernels: Kernels, parameters: Names | None, drives: Names | None = None) -> Kernels:
    """Kernels with other parameters and drives, for writing them as text: nothing of them is cached on disk."""
    moved = (drives,) if isinstance(drives, str) else kernels.drives if drives is None else tuple(drives)
    if moved != kernels.drives:
        kernels = replace(kernels, drives=moved, made={}, plans={})
    if parameters is not None:
        for n in DEFAULT_KERNELS:
            possible(kernels, n)  # plans do not depend on parameters: those of the mechanism as written serve
        named = choose(every_parameter(kernels.described), parameters, kernels.described)
        kernels = replace(kernels, parameters=tuple(named), made={}, plans=kernels.plans)
        vars(kernels)["model_key"] = None  # a key would cost more than it saves: it holds every expression of the model in full
    return kernels


def programs_of(kernels: Kernels, names: Sequence[str] | None, more: Mapping[str, TracedKernel] | None = None) -> dict[str, Program]:
    """The kernels asked for, the small ones they need beside them, and `more` of the caller's own."""
    if isinstance(names, str):
        names = [names]
    wanted = [n for n in DEFAULT_KERNELS if possible(kernels, n)] if names is None else list(dict.fromkeys(names))
    if not wanted and not more:
        raise UsageError(f"name at least one kernel to export: {', '.join(KERNELS)}.")
    found = {n: kernels.get(n).program for n in wanted if n not in TRACED}
    found |= {n: _traced(kernels, TRACED[n]) for n in wanted if n in TRACED}
    if found.keys() & CLOSING:
        found["drives"] = _traced(kernels, TracedKernel(_drives, ("q", "v")))
    if "forward" in found and "projection" in found and kernels.sizes.nq != kernels.sizes.nv:
        found["qdot"] = _traced(kernels, TracedKernel(lambda eq, q, v, near: {"qdot": qdot(eq.loops.skel, q, v)}, ("q", "v")))
    if any(b.name == "near" for p in found.values() for b in p.inputs):
        found["turns"] = _traced(kernels, TracedKernel(_turns, ("q",)))
    return found | {key: _traced(kernels, x) for key, x in (more or {}).items()}


def possible(kernels: Kernels, name: str) -> bool:
    """True if the mechanism has what a kernel needs: masses, and drives that determine it."""
    needs = TRACED[name].masses if name in TRACED else KERNELS[name].masses
    if needs and any(b.mass is None for b in kernels.tree.description.bodies[1:]):
        return False
    solve = "kinematics" if name in TRACED and TRACED[name].solve == "kinematics" else SOLVES.get(name)
    return solve is None or solve in kernels.plan_of(solve).orders


def _traced(kernels: Kernels, kernel: TracedKernel) -> Program:
    """A small kernel beside the standard ones."""
    g, sizes = TraceGraph(), kernels.sizes
    counts = {"q": sizes.nq, "v": sizes.nv, "a": sizes.nv, "lam": sizes.nc, "u": sizes.nd, "third": sizes.nd, "t": sizes.one}
    arrays = [g.input(key, counts[key]) for key in kernel.inputs]
    near, parameters = g.input("near", sizes.near), g.input("parameters", sizes.parameters)
    found = kernel.function(kernels.equations(parameters, kernel.solve), *arrays, near)
    return without_unused(g.program(list(found.items())), OPTIONAL)


def _drives(eq: Equations, q: Any, v: Any, near: Any) -> dict[str, Any]:
    """Positions and speeds of the drives."""
    skel, distances = eq.loops.skel, lengths(eq.loops.skel.tree.description)
    m, here = motion(skel, q, v), eq.loops.skel.unpack(q, near)
    found = []
    for name in eq.drives:
        if name in distances:
            line = forces.line(Instant.moving(skel, m, 0.0, here), distances[name])
            found.append((line.length, line.rate))
            continue
        joint, (i, *_) = joint_part(skel.tree.description, name)
        node = skel.tree.node_of_joint.get(joint.name)
        if node is not None:
            n = skel.tree.nodes[node]
            found.append((q[n.q][i], v[n.v][i]))
        else:
            r = joint_rate(skel, m, joint, here[joint.name])
            found.append((r.q[i], r.v[i]))
    return {"drive": [x for x, _ in found], "speed": [x for _, x in found]}


def _turns(eq: Equations, q: Any, near: Any) -> dict[str, Any]:
    """Coordinates of the cut joints, whole turns counted from the last ones."""
    return {"near": cut_coordinates(eq.loops.skel, q, eq.loops.skel.unpack(q, near))}


class Tables(NamedTuple):
    """Names and numbers of a mechanism."""

    names: dict[str, list[str]]
    numbers: dict[str, list[float]]
    quaternions: list[int]  # places in q where one begins


def tables_of(kernels: Kernels, programs: Mapping[str, Program]) -> Tables:
    eq, entries = kernels.equations(kernels.defaults["parameters"]), kernels.entries
    q, near = kernels.start()
    q = np.asarray(q, dtype=float)
    reference = kernels.loops.skel.pack(near)
    names = {k: list(entries[k]) for k in ("q", "v", "lam", "parameters")}
    names |= {
        "drives": list(kernels.drives),
        "joints": eq.joints,
        "points": eq.points_named,
        "bodies": [n.body for n in kernels.tree.nodes],
    }
    kinds = [k for jt in kernels.loops.skel.types for k in jt.coordinate_kinds]
    drive = _drives(eq, q, np.zeros(kernels.tree.nv), reference)["drive"] if programs.keys() & CLOSING else []
    parameters, sizes = kernels.defaults["parameters"], scale(kinds, kernels.loops.kappa)
    numbers = {"q": q, "drive": drive, "parameters": parameters, "near": reference, "scale": sizes}
    first = [n.q.start for n, jt in zip(kernels.tree.nodes, kernels.loops.skel.types, strict=True) if "quaternion" in jt.coordinate_kinds]
    return Tables(names, {k: [float(x) for x in values] for k, values in numbers.items()}, first)


def title_of(kernels: Kernels) -> str:
    text = f"Kernels of {kernels.tree.description.name or 'a mechanism'} by Linkwright"
    return re.sub(r"[\r\n\u2028\u2029]", " ", text).replace("<", "< ").replace("*/", "* /")


def template(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


# -------------------------------------------------------------------- JavaScript


def leads_through(kernels: Kernels, drives: Names, q: np.ndarray, near: np.ndarray, t: np.ndarray, laws: np.ndarray) -> bool:
    """Return True if the walk of a script leads from the first of these positions through all; laws: (samples, 3 drives)."""
    kernel = chosen(kernels, None, drives).get("walk")
    if not kernel.native:
        return False
    found = driven_motion.Walking(kernel, kernels.plan.spinning)(q[0], near[0], t, laws)
    return found.reached == len(t) and float(np.abs(found.q - q).max(initial=0.0)) < SAME_PLACE


@cache
def loops_text(kernels: frozenset[str]) -> str:
    """The loops of a script with these kernels: closing and assembling, free motion, singular values, and the walk of a cycle."""
    x = closing_loops
    functions: list[Any] = [x.assembled] if "kinematics" in kernels else [x.close_loops, x.counted, x.drives_at]
    records: list[Any] = [x.Closing]
    if kernels >= OF_KERNELS["motion"]:
        through = "terms" in kernels
        functions += [motion_loops.projected, singular_step_loops.stepped_through if through else motion_loops.stepped]
        records.append(singular_step_loops.Passing if through else motion_loops.Motion)
    if kernels & {"closure", "terms"}:
        functions.append(singular_value_loops.orthogonalized)
    if "walk" in kernels:
        functions += [driven_motion.walk, driven_motion.reach]
        records.append(driven_motion.Walk)
    return js.squeezed(javascript_loops.write(functions, records))


def _data(kernels: Kernels, programs: Mapping[str, Program]) -> dict[str, Any]:
    t = tables_of(kernels, programs)
    return {
        "names": t.names,
        "start": {k: t.numbers[k] for k in ("q", "drive", "near")},
        "plane": kernels.tree.description.plane,
        "eyes": _eyes(kernels) if "loads" in programs else {},
        **{k: t.numbers[k] for k in ("parameters", "scale")},
        "quaternions": t.quaternions,
        **(_scales(kernels) if "terms" in programs else {}),
        "idle": kernels.plan.spinning,
        **({"walk": {"least": driven_motion.SHORT, "steps": driven_motion.HOMOTOPY}} if "walk" in programs else {}),
    }


def _scales(kernels: Kernels) -> dict[str, list[float]]:
    """Sizes of the rows of the loops and of velocities."""
    return {"rows": [float(x) for x in kernels.loops.row_scale], "columns": [float(x) for x in kernels.loops.columns]}


def _eyes(kernels: Kernels) -> dict[str, dict[str, list[int]]]:
    """pin, body: the joints there, counted from 1; negative where the body is the joint's first."""
    out: dict[str, dict[str, list[int]]] = {}
    for i, j in enumerate(kernels.tree.description.joints, start=1):
        eye = out.setdefault(j.pin or j.name, {})
        eye.setdefault(j.first, []).append(-i)
        eye.setdefault(j.second, []).append(i)
    return out
