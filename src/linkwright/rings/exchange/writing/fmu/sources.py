"""C99 sources of an FMU: the compiled programs, the tapes, the tables, and the files that are the same for every mechanism (`c/`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import integrators, is_rotary, programs, tolerances
from linkwright.compiler import c99
from linkwright.compiler.c99 import number
from linkwright.kernels.c_sources import instance_sources
from linkwright.rings.exchange.writing.fmu.equations import FmuEquations
from linkwright.rings.exchange.writing.fmu.variables import FmuState, places_of_copies

_HERE = Path(__file__).parent / "c"
SHARED = ("tape.h", "tape.c", "core.h", "core.c", "start.c", "step.c", "derivative.c", "export.h", "unit.h")
OF_VERSION = {"2.0": ("fmi2.c",), "3.0": ("fmi3.h", "fmi3.c", "fmi3_absent.c")}  # with `unit.h`, the functions that both have
FUNCTIONS = {"outputs": "channels"}  # names of programs in C where they differ
SINGLE = ("rates", "projection", "outputs")  # a file of their own each: they are long, and are compiled side by side

_METHOD = integrators.method_of("dopri5").table  # of co-simulation

PER_LINE = 8  # operations in a line of the table


def sources(eq: FmuEquations, states: Sequence[FmuState], name: str, token: str, fmi: str, tolerance: float) -> dict[str, str]:
    """Texts by file name; `name` begins every symbol and file."""
    head = f"/* {name} by Linkwright. SI units, radians. */\n"
    out = {f"{name}.h": head + header(eq, name, token, tolerance)}
    for key in SINGLE:
        out[f"{name}_{key}.c"] = head + c99.write(eq.programs[key], f"{name}_{FUNCTIONS.get(key, key)}")
    small = [c99.write(p, f"{name}_{key}") for key, p in eq.programs.items() if key not in SINGLE and p.n_out]
    out[f"{name}_small.c"] = "\n".join([head, f'#include "{name}.h"', *small])
    tapes = [tape_source(p, f"{name}_tape_{key}") for key, p in eq.tapes.items()]
    out[f"{name}_tables.c"] = "\n".join([head, f'#include "{name}.h"\n#include "{name}_tape.h"\n', *tables(eq, states, name), *tapes])
    structs, functions = instance_sources(_places(eq), eq.programs, eq.tapes, _loop_tables(eq, states), name)
    guard = f"{name.upper()}_LOOPS_H"
    out[f"{name}_loops.h"] = f"{head}#ifndef {guard}\n#define {guard}\n\n{structs}\n#endif\n"
    out[f"{name}_loops.c"] = f'{head}#include <math.h>\n#include "{name}.h"\n#include "{name}_loops.h"\n\n{functions}'
    for file in (*SHARED, *OF_VERSION[fmi]):
        out[f"{name}_{file}"] = (_HERE / file).read_text(encoding="utf-8").replace("NAME", name)
    return out


def header(eq: FmuEquations, name: str, token: str, tolerance: float) -> str:
    """Sizes, places in the row, prototypes and tables."""
    values = _places(eq)
    lines = [f"#ifndef {name.upper()}_MODEL_H\n#define {name.upper()}_MODEL_H\n", f'#include "{name}_tape.h"\n']
    lines += [f"#define {name}_HAS_SWITCHES {int(bool(values['nswitches']))}"]
    wide, narrow = eq.margins
    lines += [f"#define {name}_WIDE {wide:.1f} /* margins: see {name}_loops.c */", f"#define {name}_NARROW {narrow:.1f}"]
    lines += [f"#define {name}_CLOSED_START {number(tolerances.CLOSED_START)} /* dimensionless gap of the loops */"]
    lines += [f'#define {name}_TOKEN "{token}"', f"#define {name}_default_tolerance {tolerance!r}\n"]
    lines += ["enum {", ",\n".join(f"    {name}_{key} = {value}" for key, value in values.items()), "};\n"]
    lines += [
        f"int {name}_{FUNCTIONS.get(key, key)}(const double *x, double *y);" for key, p in eq.programs.items() if p.n_out or key in SINGLE
    ]
    lines += [f"extern const double {name}_{key}[];" for key in _NUMBERS] + [f"extern const int {name}_{key}[];" for key in _PLACES]
    lines += [f"extern const char *const {name}_{key}[];" for key in _NAMES]
    lines += [f"extern const struct tape {name}_tape_{key};" for key in eq.tapes]
    return "\n".join([*lines, "\n#endif\n"])


_NUMBERS = ("start_states", "start_near", "start_inputs", "start_parameters", "nominal")
_PLACES = ("input_rate", "fixed")
_NAMES = ("state_names", "parameter_names", "row_names")


def _places(eq: FmuEquations) -> dict[str, int]:
    """Sizes, and places in the row at which its blocks begin."""
    n = eq.sizes
    blocks = {"q": n["nq"], "v": n["nv"], "x": n["nx"], "t": 1, "u": n["nu"], "near": n["nnear"], "constants": n["nconstants"]}
    at, places = 0, {}
    for key, size in {**blocks, "sides": n["nswitches"]}.items():
        places[f"at_{key}"] = at
        at += size
    values = {**n, "nstates": n["nq"] + n["nv"] + n["nx"], **places, "row": at, "output_row": places["at_sides"] + n["nv"] + n["nlam"]}
    values["closing_row"] = values["output_row"] + 2 * n["nheld"]
    values["rates_outputs"] = eq.programs["rates"].n_out
    values["longest_tape"] = max(len(p.ops) for p in eq.tapes.values())
    values |= {"nc": n["nlam"], "nrows": n["nlam"] + n["nheld"], "nholds": 2 * n["nheld"], "stages": len(_METHOD.c)}
    return values


def _loop_tables(eq: FmuEquations, states: Sequence[FmuState]) -> dict[str, Any]:
    """Numbers that the loops of an instance read."""
    numeric, plan = eq.kernels.loops, eq.plan
    rows = [*np.asarray(numeric.row_scale, dtype=float), *_driven_scales(eq, [*eq.kernels.chosen.drivers, *eq.held], float(numeric.kappa))]
    return {
        "a": _METHOD.a,
        "c": _METHOD.c,
        "e": _METHOD.error[0],
        "nominal": [x.nominal for x in states],
        "rows": rows,
        "singular.rows": rows[: eq.sizes["nlam"]],
        "singular.columns": numeric.columns,
        "input_rate": [u.rate for u in plan.inputs],
        "follows": [x.follows for x in plan.states],
        "copies": places_of_copies(eq),
        "velocity_state": _velocity_states(eq),
    }


def tables(eq: FmuEquations, states: Sequence[FmuState], name: str) -> list[str]:
    """Start values, sizes and names."""
    plan, kernels = eq.plan, eq.kernels
    numeric = kernels.loops
    near = numeric.skel.pack(plan.start.references)
    numbers: Mapping[str, Sequence[float]] = {
        "start_states": [x.start for x in states],
        "start_near": [float(x) for x in near],
        "start_inputs": [u.start for u in plan.inputs],
        "start_parameters": [p.start for p in eq.parameters],
        "nominal": [x.nominal for x in states],
    }
    places: Mapping[str, Sequence[int]] = {
        "input_rate": [u.rate for u in plan.inputs],
        "fixed": [int(not p.tunable) for p in eq.parameters],
    }
    labels = [*kernels.entries["lam"], *(f"drive {n}" for n in eq.held)]
    names = {"state_names": [x.name for x in states], "parameter_names": [p.name for p in eq.parameters], "row_names": labels}
    out = [f"const double {name}_{k}[] = {{{', '.join(map(c99.number, v)) or '0.0'}}};" for k, v in numbers.items()]
    out += [f"const int {name}_{k}[] = {{{', '.join(map(str, v)) or '0'}}};" for k, v in places.items()]
    out += [f"const char *const {name}_{k}[] = {{{', '.join(map(quoted, v)) or '0'}}};" for k, v in names.items()]
    return [*out, ""]


def _driven_scales(eq: FmuEquations, names: Sequence[str], kappa: float) -> list[float]:
    """Sizes of the rows of driven coordinates: one for angles, the characteristic length for the others."""
    return [1.0 if is_rotary(eq.kernels.tree.description, n) else kappa for n in names]


def _velocity_states(eq: FmuEquations) -> list[int]:
    """For every velocity the position that it moves: the state whose start value holds it."""
    out = []
    for n, jt in zip(eq.kernels.tree.nodes, eq.kernels.loops.skel.types, strict=True):
        for i, name in enumerate(jt.v_names):
            out.append(n.q.start + (jt.q_names.index(name) if name in jt.q_names else min(i, len(jt.q_names) - 1)))
    return out


def quoted(text: str) -> str:
    """A string literal of C: bytes that are not plain ASCII as octal numbers."""
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode())
    return f'"{plain}"'


# A flat program as tables of C: numbers that a small loop interprets, forwards along a direction or backwards for a sum of results.
#
# Code that runs rarely (parameters, closing, derivatives) is written so: its text compiles at once whatever its length, and one loop of
# `tape.c` gives values, directional and adjoint derivatives of all of it.


def tape_source(program: programs.Program, name: str) -> str:
    """The tables `name`_code, _constant and _result, and `const struct tape name`, for inclusion after tape.h."""
    constants: dict[str, int] = {}
    code: list[str] = []
    for op, a, b, c in program.ops:
        first = constants.setdefault(number(a), len(constants)) if op == programs.Op.CONST else a
        code.append(f"{int(op)},{first},{b},{c}")
    lines = [f"static const int {name}_code[] = {{"]
    lines += ["    " + ", ".join(code[i : i + PER_LINE]) + "," for i in range(0, len(code), PER_LINE)] or ["    0"]
    lines += ["};", f"static const double {name}_constant[] = {{{', '.join(constants) or '0.0'}}};"]
    lines += [f"static const int {name}_result[] = {{{', '.join(map(str, program.results)) or '0'}}};"]
    lines += [f"const struct tape {name} = {{{len(program.ops)}, {program.n_in}, {program.n_out},"]
    lines += [f"    {name}_code, {name}_constant, {name}_result}};", ""]
    return "\n".join(lines)
