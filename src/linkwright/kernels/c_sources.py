"""A mechanism's kernels as C99 sources for controllers: `{"model.h": ..., "model.c": ...}`.

The header has the sizes, the place of every named entry and the status codes as constants, the source the kernels and two functions on
top of them, assembling and a fixed step: model.c, round the loops of `closing_loops`, `motion_loops` and `singular_step_loops`. They
allocate nothing and keep no state. In single precision every number is a float, tolerances and the margins of pivots are those of floats.

Where the pivots of a step vanish (a singular position), the accelerations are taken just beside it, or are those of least constraint,
and the step says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import c99, c99_loops
from linkwright.compiler.program import Program
from linkwright.compiler.records import KernelPlace, Layout, Record, fields_of, is_kernel, is_record
from linkwright.errors import UsageError
from linkwright.errors.arguments import Names
from linkwright.kernels import closing_loops, instance_loops, motion_loops, singular_step_loops
from linkwright.kernels.export import Tables, chosen, possible, programs_of, tables_of, template, title_of
from linkwright.kernels.kernels import SOLVES, Kernels, Variant
from linkwright.kernels.page_kernels import TracedKernel
from linkwright.kernels.tracing import KERNELS
from linkwright.model.coordinates import is_rotary
from linkwright.numerics.tolerances import CLOSED, CLOSED_AT_BEST

STATUS = {"ok": 0, "not_finite": 1, "singular": 2, "open": 4, "continued": 8}
MOVED = ("forward", "projection", "energy", "points")  # kernels of a mechanism with prescribed motions


class Numerics(NamedTuple):
    """Numbers that depend on the precision: see model.c."""

    closed: float  # dimensionless gap of the loops at which they are closed
    nearly: float  # and at which round-off may have stopped the steps
    loose: float  # likewise in a singular position
    shortest: float  # step of the drives below which assembling is given up
    stiff: float  # of the loops against the largest inertia, in a singular position
    pivots: float  # what the typical size of pivots is multiplied by before they are compared with it


NUMERICS = {
    "double": Numerics(CLOSED, CLOSED_AT_BEST, singular_step_loops.LOOSE, closing_loops.SHORTEST_STRIDE, singular_step_loops.STIFF, 1.0),
    "single": Numerics(1e-6, 2e-5, 1e-3, 1e-5, 1e3, 300.0),
}


def c(
    kernels: Kernels,
    names: Sequence[str] | None = None,
    *,
    parameters: Names | None = None,
    drives: Names | None = None,
    name: str = "model",
    precision: str = "double",
    fallback: bool = True,
    moved: Sequence[str] | str = (),
    more: Mapping[str, TracedKernel] | None = None,
    called: Sequence[str] = (),
) -> dict[str, str]:
    """The C99 sources `name`.h and `name`.c (C++ takes them too): kernels, constants, tables and the functions on top.

    precision: "double" or "single". fallback: the step continues through singular positions, which takes the kernel `terms`. moved: joints
    and cylinders whose motion is prescribed, step by step. more: kernels of the caller's own. called: kernels with a static function
    NAME_run_... on separate arrays.
    """
    if precision not in NUMERICS:
        raise UsageError(f"precision is 'double' or 'single', not {precision!r}.", name="precision", value=precision)
    real, numerics = c99.PRECISIONS[precision], NUMERICS[precision]
    driven = (moved,) if isinstance(moved, str) else tuple(moved)
    kernels = _with_margins(chosen(_moving(kernels, driven), parameters, drives), numerics.pivots)
    if names is None and driven:
        names = [n for n in MOVED if possible(kernels, n)]
    programs = programs_of(kernels, names, more)
    steps = {"forward", "projection"} <= programs.keys()
    if fallback and steps and "terms" not in programs:
        programs["terms"] = kernels.get("terms").program
    fallback = "terms" in programs
    tables = tables_of(kernels, programs)
    functions = [typed(text, real, numerics).replace("NAME", name) for text in _functions(programs, fallback, driven, called, more or {})]
    head = f"/* {title_of(kernels)}. SI units, radians. */\n"
    guard = f"{name.upper()}_MODEL_H"
    numbers = {**_numbers(tables), **_scales(kernels)}
    header = [head, f"#ifndef {guard}\n#define {guard}\n", _entries(tables, name, driven), _declared(tables, numbers, name, real)]
    header += [c99.header(p, f"{name}_{key}", real) for key, p in programs.items()]
    header += [_prototypes(functions), "#endif\n"]
    source = [head, f'#include "{name}.h"\n', _defined(tables, numbers, name, real)]
    source += [c99.write(p, f"{name}_{key}", real) for key, p in programs.items()]
    source += [_loops(programs, tables, len(driven), name, real, numerics), *functions]
    return {f"{name}.h": "\n".join(header), f"{name}.c": "\n".join(source)}


# -------------------------------------------------------------------- what is exported


def _moving(kernels: Kernels, moved: tuple[str, ...]) -> Kernels:
    return kernels.variant(Variant(drivers=moved)) if moved else kernels


def _with_margins(kernels: Kernels, factor: float) -> Kernels:
    """The kernels with typical sizes of pivots times a factor: in single precision a pivot is lost in round-off earlier."""
    if factor == 1.0:
        return kernels
    for n in KERNELS:
        if n not in SOLVES or not kernels.chosen.drivers:
            kernels.plan_of(SOLVES.get(n, "sslm"))
    plans = {}
    for solve, p in kernels.plans.items():
        plans[solve] = replace(p, nominal={k: tuple(x * factor for x in sizes) for k, sizes in p.nominal.items()})
    out = replace(kernels, plans=plans, made={})
    vars(out)["model_key"] = None  # it is not the mechanism whose code is cached
    return out


def _scales(kernels: Kernels) -> dict[str, list[float]]:
    """Sizes of velocities and of rows of the loops and prescribed motions."""
    loops = kernels.loops
    driven = [1.0 if is_rotary(kernels.tree.description, n) else float(loops.kappa) for n in kernels.chosen.drivers]
    rows = [float(x) for x in np.asarray(loops.row_scale, dtype=float)]
    return {"column_scale": [float(x) for x in loops.columns], "row_scale": [*rows, *driven]}


# -------------------------------------------------------------------- functions


def _functions(
    programs: Mapping[str, Program], fallback: bool, moved: Sequence[str], called: Sequence[str], more: Mapping[str, TracedKernel]
) -> list[str]:
    """The functions on top, where their kernels are there."""
    parts = dict(re.findall(r"^/\* (\w+) \*/\n(.*?)(?=^/\* \w+ \*/\n|\Z)", template("model.c"), re.MULTILINE | re.DOTALL))
    assemble, step = "kinematics" in programs, {"forward", "projection"} <= programs.keys()
    if not assemble and not step:
        return []
    text = [parts["common"]] + [parts["assemble"]] * assemble
    for key in called:
        inputs = more[key].inputs if key in more else [n for n, _ in KERNELS[key].inputs] if key in KERNELS else ["q", "v"]
        text.append(_packer(key, programs[key], inputs))
    return text + [parts["step"], parts["singular" if fallback else "regular"], parts["moved" if moved else "free"]] * step


def _loops(programs: Mapping[str, Program], tables: Tables, moved: int, name: str, real: c99.Real, numerics: Numerics) -> str:
    """The loops below the functions: closing and assembling, and the fixed step."""
    records: dict[str, Any] = {"closing": closing_loops.Closing} if "kinematics" in programs else {}
    functions: list[Any] = [closing_loops.assembled] if records else []
    if {"forward", "projection"} <= programs.keys():
        through = "terms" in programs
        records["moving"] = singular_step_loops.Passing if through else motion_loops.Motion
        functions.append(singular_step_loops.stepped_through if through else motion_loops.stepped)
    if not functions:
        return ""
    sizes = {"nq": len(tables.names["q"]), "nv": len(tables.names["v"]), "ndrives": len(tables.names["drives"]), "nlaw": 3 * moved}
    sizes |= {"nnear": len(tables.numbers["near"]), "nquaternions": len(tables.quaternions)}
    if "terms" in programs:
        sizes["nc"] = next(b.size for b in programs["terms"].outputs if b.name == "phi")
    record = type("Loops", (Record,), {"__annotations__": records})
    layout = Layout(record, sizes, {path: _placed(programs.get(path.rsplit(".", 1)[1])) for path in _kernel_paths(record)})
    values = {"CLOSED": numerics.closed, "CLOSED_AT_BEST": numerics.nearly, "LOOSE": numerics.loose, "STIFF": numerics.stiff}
    values["SHORTEST_STRIDE"] = numerics.shortest
    named = {key.capitalize(): f"{name}_{key}" for key in programs}
    return c99_loops.write(functions, layout, named, prefix=f"{name}_loop_", real=real, constants=values, hidden=True)


def instance_sources(
    sizes: Mapping[str, int], programs: Mapping[str, Program], tapes: Mapping[str, Program], tables: Mapping[str, Any], name: str
) -> tuple[str, str]:
    """The loops of `instance_loops` for an FMU: structs and prototypes, and the functions.

    sizes: those of the records, of the row that tape `closing` reads, and of the longest tape. tapes: programs that are interpreted.
    tables: numbers of the mechanism.
    """
    x, prefix = instance_loops, f"{name}_loop_"
    row, tape = sizes["row"], sizes["longest_tape"]

    def place(program: Program, outputs: Mapping[str, tuple[str, ...]], inputs: int = row, one: str = "row", work: int = 0) -> KernelPlace:
        """A kernel whose outputs are runs of a program's; a tape has room to work in behind them."""
        if not program.n_out:
            return KernelPlace(0, {one: (0, inputs)}, {}, inputs, 0)
        blocks = {b.name: b for b in program.outputs}
        found = {key: (blocks[names[0]].start, sum(blocks[n].size for n in names)) for key, names in outputs.items()}
        end = program.n_out + work
        return KernelPlace(0, {one: (0, inputs)}, {**found, "end": (end, 0)}, inputs, end)

    def same(program: Program, prefix: str = "") -> dict[str, tuple[str, ...]]:
        return {b.name.removeprefix(prefix): (b.name,) for b in program.outputs}

    rates = {"slopes": ("dq", "a", "dx", "lam"), "margin": ("margin",)}
    back = {"q": ("project_q",), "v": ("project_v",), "residual": ("residual",), "rate_residual": ("rate_residual",), "margin": ("margin",)}
    kernels = {
        "rates": place(programs["rates"], rates),
        "back": place(programs["projection"], back),
        "moved": place(programs["moved"], {"q": ("moved_q",)}),
        "counted": place(programs["turns"], {"near": ("turned",)}),
        "held": place(programs["held"], {"held": ("held_at", "held_speed")}),
        "loops": place(tapes["closing"], same(tapes["closing"], "close_"), sizes["closing_row"], work=tape),
        "constants": place(tapes["constants"], {"constants": ("constants",)}, sizes["nparameters"], "parameters", tape),
        "singular.terms": place(tapes["terms"], same(tapes["terms"]), work=tape),
    }
    named = {"Rates": "rates", "Back": "projection", "Moved": "moved", "Counted": "turns", "Held": "held"}
    written = {"Loops": "closing", "Constants": "constants", "Terms": "terms"}
    values = [_tape_call(name, key, tapes[key].n_out) for key in written.values()]
    functions = [x.inputs_at, x.count_on, x.slope, x.projected, x.attempted, x.drives_begin, x.started, x.largest_row, x.off_loops]
    layout = Layout(x.Instance, {**sizes, "nslopes": sizes["nstates"] + sizes["nc"]}, kernels)
    calls = {k: f"{name}_{key}" for k, key in named.items() if programs[key].n_out}
    calls |= {k: f"{name}_{key}_values" for k, key in written.items()}
    text = c99_loops.write(functions, layout, calls, prefix=prefix, tables=tables)
    last = f"}} {prefix}Instance;"
    structs, source = text.replace(f"static void {prefix}Instance_fill", f"void {prefix}Instance_fill").split(last, 1)
    found = re.findall(r"^((?!static)\w+ \w+\([^)]*\))\n\{", source, re.MULTILINE)
    return "\n".join([structs + last, "", *(f"{x};" for x in found), ""]), "\n".join([*values, source])


def _tape_call(name: str, key: str, outputs: int) -> str:
    """A function that interprets a tape, with room for its work behind the results."""
    head = f"static int {name}_{key}_values(const double *x, double *y)"
    return f"{head}\n{{\n    {name}_values(&{name}_tape_{key}, x, y, y + {outputs});\n    return 0;\n}}\n"


def _placed(program: Program | None) -> KernelPlace | None:
    return None if program is None else KernelPlace.of(0, program.inputs, program.outputs)


def _kernel_paths(record: Any, path: str = "") -> list[str]:
    """Paths of the kernels of a record; their last names are those of the programs."""
    out: list[str] = []
    for key, kind in fields_of(record).items():
        if is_kernel(kind):
            out.append(path + key)
        elif is_record(kind):
            out += _kernel_paths(kind, f"{path}{key}.")
    return out


def typed(text: str, real: c99.Real, numerics: Numerics) -> str:
    """A template with its type, its functions, its literals and the numbers of a precision."""
    values = {key.upper(): c99.number(value) for key, value in numerics._asdict().items()}
    for token, value in {**values, "SQRT": f"sqrt{real.ending}", "FABS": f"fabs{real.ending}", "FMAX": f"fmax{real.ending}"}.items():
        text = re.sub(rf"\b{token}\b", value, text)
    if real.ending:
        text = re.sub(r"(?<![\w.])(\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)(?![\w.])", rf"\1{real.ending}", text)
    return re.sub(r"\bREAL\b", real.name, text)


def _packer(key: str, program: Program, inputs: Sequence[str]) -> str:
    """NAME_run_key(q, v, ..., near_, parameters, y): the kernel on separate arrays; near_ and parameters of 0: the model's."""
    arguments = {n: n for n in inputs} | {"near": "near_", "parameters": "parameters"}
    sizes = {b.name: b.size for b in program.inputs}
    lines = [f"static int NAME_run_{key}({', '.join(f'const REAL *{a}' for a in arguments.values())}, REAL *y)", "{"]
    lines += [f"    REAL x[{max(1, program.n_in)}];"]
    for n, a in arguments.items():
        source = f"{a} ? {a} : NAME_{n}" if n in ("near", "parameters") else a
        lines.append(f"    NAME_put(x + NAME_{key}_in_{n}, {source}, {sizes[n]});" if n in sizes else f"    (void){a};")
    return "\n".join([*lines, f"    return NAME_{key}(x, y);", "}", ""])


# -------------------------------------------------------------------- constants and tables


def _entries(tables: Tables, name: str, moved: Sequence[str]) -> str:
    """Sizes, the place of every named entry, and status codes, as constants."""
    sizes = {"nq": "q", "nv": "v", "nc": "lam", "ndrives": "drives", "nparameters": "parameters", "njoints": "joints", "npoints": "points"}
    values = {f"{name}_{key}": len(tables.names[what]) for key, what in sizes.items()}
    values[f"{name}_nquaternions"] = len(tables.quaternions)
    values[f"{name}_ndrivers"] = len(moved)
    for what, entries in {**{w: tables.names[w] for w in sizes.values()}, "moved": list(moved)}.items():
        for i, entry in enumerate(entries):
            key = f"{name}_at_{what}_{re.sub(r'[^A-Za-z0-9]', '_', entry)}"
            while key in values:  # names that differ only in their punctuation
                key += "_"
            values[key] = i
    status = {f"{name}_{key}": value for key, value in STATUS.items()}
    about = "/* Sizes, and places in q, v, lam, drives, parameters, joints (rows of wrench) and points (rows of position). */"
    enums = [(about, values), ("/* Status codes: sums of these. */", status)]
    return "\n".join(
        f"{comment}\nenum {{\n" + ",\n".join(f"    {key} = {value}" for key, value in found.items()) + "\n};\n" for comment, found in enums
    )


_TABLES = {
    "start_q": "position as drawn, closed",
    "start_drive": "values of the drives there",
    "near": "turns of the cut joints there",
    "parameters": "values of the parameters",
    "scale": "what a step of each entry of q is compared with",
    "column_scale": "sizes of velocities",
    "row_scale": "sizes of the rows of loops and prescribed motions",
}


def _numbers(tables: Tables) -> dict[str, list[float]]:
    x = tables.numbers
    return dict(zip(_TABLES, (x["q"], x["drive"], x["near"], x["parameters"], x["scale"]), strict=False))


def _declared(tables: Tables, numbers: Mapping[str, Sequence[float]], name: str, real: c99.Real) -> str:
    lines = [f"extern const {real.name} {name}_{k}[{max(1, len(v))}]; /* {_TABLES[k]} */" for k, v in numbers.items()]
    places = f"extern const int {name}_quaternion[{max(1, len(tables.quaternions))}]; /* where they begin in q */"
    return "\n".join([*_open(), *lines, places, *_close()])


def _defined(tables: Tables, numbers: Mapping[str, Sequence[float]], name: str, real: c99.Real) -> str:
    lines = ["#include <math.h>", "#include <string.h>", "", *c99.NEEDS_NAN, ""]
    for k, values in numbers.items():
        text = ", ".join(c99.number(x, real) for x in values) or "0"
        lines.append(f"const {real.name} {name}_{k}[{max(1, len(values))}] = {{{text}}};")
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
