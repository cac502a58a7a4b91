"""A mechanism's kernels for other places: a script for pages and node, C sources for everything else.

    javascript(kernels)        one text: the kernels, names and numbers of the mechanism, and what a page needs on top of them
                               (assembling, speeds, loads, free motion); see page.js
    c(kernels)                 {"model.h": ..., "model.c": ...}: the kernels, constants that say what lies where, and two
                               functions on top (assembling, free motion); see model.c

Nothing is needed where they run, so page.js and model.c have Newton's method round the kernels `kinematics` and `projection` in
their own language. With free parameters their values are inputs. What the rank-revealing path does for a System is not exported: a
state at which the kernels fail is reported, not answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import c99
from linkwright.compiler import javascript as js
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, without_unused
from linkwright.errors import UsageError
from linkwright.kernels.equations.dynamic import Equations
from linkwright.kernels.equations.kinematic import cut_coordinates
from linkwright.kernels.kernels import SOLVES, Kernels
from linkwright.kernels.page_kernels import TRACED, TracedKernel
from linkwright.kernels.tracing import KERNELS, OPTIONAL, TIMED
from linkwright.mechanics import forces
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import joint_rate, motion, qdot
from linkwright.model.parameters import choose, every_parameter
from linkwright.numerics.metric import scale

DEFAULT_KERNELS = ("kinematics", "loads", "forward", "projection", "energy", "points")  # what a page that computes by itself needs
_HERE = Path(__file__).parent


def javascript(
    kernels: Kernels,
    names: Sequence[str] | None = None,
    *,
    free: Sequence[str] | None = None,
    drives: Sequence[str] | None = None,
    name: str = "mechanism",
    more: Mapping[str, TracedKernel] | None = None,
) -> str:
    """A script that defines the object `name` (in node also what require() returns); no dependencies, ES2015.

    `names` are kernels (default: all of `DEFAULT_KERNELS` the mechanism allows), also those of `page_kernels`; `free` parameters whose
    values stay inputs, `drives` joints and cylinders in place of the model's drives, `more` kernels of the caller's own.
    """
    kernels = chosen(kernels, free, drives)
    programs = _programs(kernels, names)
    programs |= {key: _traced(kernels, x.function, *x.inputs) for key, x in (more or {}).items()}
    js.module({}, name)  # refuses names that cannot be
    data = json.dumps(_data(kernels, programs), separators=(",", ":")).replace("<", "\\u003c")
    head = f"// {_title(kernels)}. SI units, radians.\n"
    # `module` is a parameter so that the inner script, made for node too, leaves the real one alone
    return (
        f'{head}var {name}=((module)=>{{"use strict";\n{js.module(programs)}const data={data};\n{_short(_text("page.js"))}return m}})();\n'
        f'if(typeof module==="object"&&module.exports)module.exports={name};\n'
    )


def c(
    kernels: Kernels,
    names: Sequence[str] | None = None,
    *,
    free: Sequence[str] | None = None,
    drives: Sequence[str] | None = None,
    name: str = "model",
) -> dict[str, str]:
    """The C99 sources `name`.h and `name`.c (C++ takes them too): kernels, constants, tables and the functions on top."""
    kernels = chosen(kernels, free, drives)
    programs = _programs(kernels, names)
    tables = _tables(kernels, programs)
    functions = [text.replace("NAME", name) for text in _functions(programs)]
    head = f"/* {_title(kernels)}. SI units, radians. */\n"
    header = [head, f"#ifndef {name.upper()}_MODEL_H\n#define {name.upper()}_MODEL_H\n", _entries(tables, name), _declared(tables, name)]
    header += [c99.header(p, f"{name}_{key}") for key, p in programs.items()]
    header += [_prototypes(functions), "#endif\n"]
    source = [head, f'#include "{name}.h"\n', _defined(tables, name)]
    source += [c99.write(p, f"{name}_{key}") for key, p in programs.items()] + functions
    return {f"{name}.h": "\n".join(header), f"{name}.c": "\n".join(source)}


# -------------------------------------------------------------------- what is exported


def chosen(kernels: Kernels, free: Sequence[str] | None, drives: Sequence[str] | None = None) -> Kernels:
    """Kernels with other free parameters and drives, for writing them as text: nothing of them is cached on disk."""
    if drives is not None and tuple(drives) != kernels.drives:
        kernels = replace(kernels, drives=tuple(drives), made={}, plans={})
    if free is not None:
        for n in DEFAULT_KERNELS:
            possible(kernels, n)  # plans do not depend on what is free: those of the mechanism as written serve
        named = choose(every_parameter(kernels.described), list(free), kernels.described)
        kernels = replace(kernels, free=tuple(named), made={}, plans=kernels.plans)
        vars(kernels)["model_key"] = None  # a key would cost more than it saves: it holds every expression of the model in full
    return kernels


def _programs(kernels: Kernels, names: Sequence[str] | None) -> dict[str, Program]:
    """The kernels asked for, and the small ones they need beside them."""
    if isinstance(names, str):
        names = [names]
    wanted = [n for n in DEFAULT_KERNELS if possible(kernels, n)] if names is None else list(dict.fromkeys(names))
    if not wanted:
        raise UsageError(f"name at least one kernel to export: {', '.join(KERNELS)}.")
    found = {n: kernels.get(n).program for n in wanted if n not in TRACED}
    found |= {n: _traced(kernels, TRACED[n].function, *TRACED[n].inputs) for n in wanted if n in TRACED}
    if "kinematics" in found:
        found["drives"] = _traced(kernels, _drives, "q", "v")
    if "forward" in found and "projection" in found and kernels.sizes.nq != kernels.sizes.nv:
        found["qdot"] = _traced(kernels, lambda eq, q, v, near: {"qdot": qdot(eq.loops.skel, q, v)}, "q", "v")
    if any(b.name == "near" for p in found.values() for b in p.inputs):
        found["turns"] = _traced(kernels, _turns, "q")
    return found


def possible(kernels: Kernels, name: str) -> bool:
    """True if the mechanism has what a kernel needs: masses, and drives that determine it."""
    needs = TRACED[name].masses if name in TRACED else KERNELS[name].masses
    if needs and any(b.mass is None for b in kernels.tree.description.bodies[1:]):
        return False
    solve = "kinematics" if name == "branch" else SOLVES.get(name)
    return solve is None or solve in kernels.plan_of(solve).orders


def _traced(kernels: Kernels, function: Callable[..., Mapping[str, Any]], *inputs: str) -> Program:
    """A small kernel beside the standard ones: function(equations, inputs ..., near)."""
    g, sizes = TraceGraph(), kernels.sizes
    lengths = {"q": sizes.nq, "v": sizes.nv, "a": sizes.nv, "lam": sizes.nc, "u": sizes.nd, "t": sizes.one}
    arrays = [g.input(key, lengths[key]) for key in inputs]
    near, free = g.input("near", sizes.near), g.input("free", sizes.free)
    solve = "kinematics" if function is TRACED["branch"].function else "sslm"
    found = function(kernels.equations(free, solve), *arrays, near)
    return without_unused(g.program(list(found.items())), OPTIONAL)


def _drives(eq: Equations, q: Any, v: Any, near: Any) -> dict[str, Any]:
    """Positions and speeds of the drives."""
    skel, cylinders = eq.loops.skel, {c.name: c for c in eq.loops.skel.tree.description.cylinders}
    m, here = motion(skel, q, v), eq.loops.skel.unpack(q, near)
    found = []
    for name in eq.drives:
        if name in cylinders:
            line = forces.line(Instant.moving(skel, m, 0.0, here), cylinders[name].between)
            found.append((line.length, line.rate))
            continue
        node = skel.tree.node_of_joint.get(name)
        if node is not None:
            n = skel.tree.nodes[node]
            found.append((q[n.q][0], v[n.v][0]))
        else:
            r = joint_rate(skel, m, skel.tree.description.joint(name), here[name])
            found.append((r.q[0], r.v[0]))
    return {"drive": [x for x, _ in found], "speed": [x for _, x in found]}


def _turns(eq: Equations, q: Any, near: Any) -> dict[str, Any]:
    """Coordinates of the cut joints, whole turns counted from the last ones."""
    return {"near": cut_coordinates(eq.loops.skel, q, eq.loops.skel.unpack(q, near))}


class Tables(NamedTuple):
    """Names and numbers of a mechanism."""

    names: dict[str, list[str]]
    numbers: dict[str, list[float]]
    quaternions: list[int]  # places in q where one begins


def _tables(kernels: Kernels, programs: Mapping[str, Program]) -> Tables:
    eq, entries = kernels.equations(kernels.defaults["free"]), kernels.entries
    q, near = kernels.start()
    q = np.asarray(q, dtype=float)
    reference = kernels.loops.skel.pack(near)
    names = {k: list(entries[k]) for k in ("q", "v", "lam", "free")}
    names |= {
        "drives": list(kernels.drives),
        "joints": eq.joints,
        "points": eq.points_named,
        "bodies": [n.body for n in kernels.tree.nodes],
    }
    kinds = [k for jt in kernels.loops.skel.types for k in jt.coordinate_kinds]
    drive = _drives(eq, q, np.zeros(kernels.tree.nv), reference)["drive"] if "kinematics" in programs else []
    numbers = {"q": q, "drive": drive, "free": kernels.defaults["free"], "near": reference, "scale": scale(kinds, kernels.loops.kappa)}
    first = [n.q.start for n, jt in zip(kernels.tree.nodes, kernels.loops.skel.types, strict=True) if "quaternion" in jt.coordinate_kinds]
    return Tables(names, {k: [float(x) for x in values] for k, values in numbers.items()}, first)


def _title(kernels: Kernels) -> str:
    text = f"Kernels of {kernels.tree.description.name or 'a mechanism'} by Linkwright"
    return re.sub(r"[\r\n\u2028\u2029]", " ", text).replace("<", "< ").replace("*/", "* /")


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


# -------------------------------------------------------------------- JavaScript


def _data(kernels: Kernels, programs: Mapping[str, Program]) -> dict[str, Any]:
    t = _tables(kernels, programs)
    return {
        "names": t.names,
        "start": {k: t.numbers[k] for k in ("q", "drive", "near")},
        "plane": kernels.tree.description.plane,
        "eyes": _eyes(kernels) if "loads" in programs else {},
        **{k: t.numbers[k] for k in ("free", "scale")},
        "quaternions": t.quaternions,
    }


def _eyes(kernels: Kernels) -> dict[str, dict[str, list[int]]]:
    """pin, body: the joints there, counted from 1; negative where the body is the joint's first."""
    out: dict[str, dict[str, list[int]]] = {}
    for i, j in enumerate(kernels.tree.description.joints, start=1):
        eye = out.setdefault(j.pin or j.name, {})
        eye.setdefault(j.first, []).append(-i)
        eye.setdefault(j.second, []).append(i)
    return out


def _short(text: str) -> str:
    """Without comments and indentation."""
    lines = (re.sub(r"(^|\s)//.*$", "", line).strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


# -------------------------------------------------------------------- C


def _functions(programs: Mapping[str, Program]) -> list[str]:
    """The functions on top, where their kernels are there."""
    parts = dict(re.findall(r"^/\* (\w+) \*/\n(.*?)(?=^/\* \w+ \*/\n|\Z)", _text("model.c"), re.MULTILINE | re.DOTALL))
    assemble, step = "kinematics" in programs, {"forward", "projection"} <= programs.keys()
    if not assemble and not step:
        return []
    packed = ["kinematics", "drives"] * assemble + ["forward", "projection"] * step
    text = [parts["common"], *(_packer(key, programs[key]) for key in packed), _counting(programs), _rates(programs) if step else ""]
    text += [parts[key] for key, wanted in (("assemble", assemble), ("step", step)) if wanted]
    return [t for t in text if t]


def _packer(key: str, program: Program) -> str:
    """NAME_run_key(q, v, ..., t, near_, free_, y): the kernel on separate arrays; near_ and free_ that are 0 stand for the model's."""
    needed = [n for n, _ in KERNELS[key].inputs] if key in KERNELS else ["q", "v"]
    arguments = {n: n for n in [*needed, *(["t"] if key in TIMED else [])]} | {"near": "near_", "free": "free_"}
    lines = [f"static int NAME_run_{key}(", f"    {', '.join(f'const double *{a}' for a in arguments.values())}, double *y)", "{"]
    return "\n".join([*lines, *_packing(key, program, arguments), f"    return NAME_{key}(x, y);", "}", ""])


def _packing(key: str, program: Program, arguments: Mapping[str, str]) -> list[str]:
    """Statements that fill x of a kernel from arguments."""
    sizes = {b.name: b.size for b in program.inputs}
    lines = [f"    double x[{max(1, program.n_in)}];"]
    for n, a in arguments.items():
        source = f"{a} ? {a} : NAME_{n}" if n in ("near", "free") else a
        lines.append(f"    NAME_put(x + NAME_{key}_in_{n}, {source}, {sizes[n]});" if n in sizes else f"    (void){a};")
    return lines


def _counting(programs: Mapping[str, Program]) -> str:
    """NAME_count: turns of the cut joints counted on, where a kernel reads them."""
    head = "static void NAME_count(const double *q, double *near_, const double *free_)\n{\n"
    if "turns" not in programs:
        return f"{head}    (void)q;\n    (void)near_;\n    (void)free_;\n}}\n"
    n = programs["turns"].n_out
    lines = [f"    double y[{n}];", *_packing("turns", programs["turns"], {"q": "q", "near": "near_", "free": "free_"})]
    return head + "\n".join([*lines, f"    if (near_ && !NAME_turns(x, y)) NAME_put(near_, y, {n});", "}", ""])


def _rates(programs: Mapping[str, Program]) -> str:
    """NAME_qdot_of: dq/dt, which is v but for quaternions."""
    head = "static void NAME_qdot_of(const double *q, const double *v, double *dq)\n{\n"
    if "qdot" not in programs:
        return f"{head}    (void)q;\n    NAME_put(dq, v, NAME_nv);\n}}\n"
    return head + "\n".join([*_packing("qdot", programs["qdot"], {"q": "q", "v": "v"}), "    NAME_qdot(x, dq);", "}", ""])


def _entries(tables: Tables, name: str) -> str:
    """Sizes, and the place of every named entry, as constants."""
    sizes = {"nq": "q", "nv": "v", "nc": "lam", "ndrives": "drives", "nfree": "free", "njoints": "joints", "npoints": "points"}
    values = {f"{name}_{key}": len(tables.names[what]) for key, what in sizes.items()}
    values[f"{name}_nquaternions"] = len(tables.quaternions)
    for what in sizes.values():
        for i, entry in enumerate(tables.names[what]):
            key = f"{name}_at_{what}_{re.sub(r'[^A-Za-z0-9]', '_', entry)}"
            while key in values:  # names that differ only in their punctuation
                key += "_"
            values[key] = i
    comment = "/* Sizes, and places in q, v, lam, drives, free parameters, joints (rows of wrench) and points (rows of position). */"
    return f"{comment}\nenum {{\n" + ",\n".join(f"    {key} = {value}" for key, value in values.items()) + "\n};\n"


_TABLES = {
    "start_q": "position as drawn, closed",
    "start_drive": "values of the drives there",
    "near": "turns of the cut joints there",
    "free": "values of the free parameters",
    "scale": "what a step of each entry of q is compared with",
}


def _numbers(tables: Tables) -> dict[str, list[float]]:
    x = tables.numbers
    return {k: v for k, v in zip(_TABLES, (x["q"], x["drive"], x["near"], x["free"], x["scale"]), strict=True)}


def _declared(tables: Tables, name: str) -> str:
    lines = [f"extern const double {name}_{k}[{max(1, len(v))}]; /* {_TABLES[k]} */" for k, v in _numbers(tables).items()]
    return "\n".join(
        [*_open(), *lines, f"extern const int {name}_quaternion[{max(1, len(tables.quaternions))}]; /* where they begin in q */", *_close()]
    )


def _defined(tables: Tables, name: str) -> str:
    lines = ["#include <math.h>", ""]
    for k, values in _numbers(tables).items():
        lines.append(f"const double {name}_{k}[{max(1, len(values))}] = {{{', '.join(map(c99.number, values)) or '0'}}};")
    first = ", ".join(map(str, tables.quaternions)) or "0"
    lines.append(f"const int {name}_quaternion[{max(1, len(tables.quaternions))}] = {{{first}}};")
    return "\n".join([*lines, ""])


def _prototypes(functions: Sequence[str]) -> str:
    """Comments and prototypes of the functions on top, for model.h."""
    found = re.findall(r"(^/\*\n(?:(?!\*/).)*?\*/\n)^(int \w+\([^)]*\))\n\{", "\n".join(functions), re.MULTILINE | re.DOTALL)
    return "\n".join([*_open(), *(f"{comment}{prototype};\n" for comment, prototype in found), *_close()])


def _open() -> list[str]:
    return ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]


def _close() -> list[str]:
    return ["#ifdef __cplusplus", "}", "#endif", ""]
