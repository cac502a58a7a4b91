"""Terms by name as C99 sources for controllers: one function with the outputs of `s.named_terms`, and their names as constants.

    int NAME_terms(const double *x, double *y)       x: q, v and, where they are read, t, near and parameters;  y: M, h, J, ...

`NAME_terms_in_q`, `NAME_terms_out_M` are places in x and y, `NAME_x_hip`, `NAME_task_foot_x`, `NAME_contact_heel_z`, `NAME_drive_hip`
rows and columns. Matrices lie row by row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from linkwright.compiler import c99
from linkwright.errors import UsageError
from linkwright.kernels import export
from linkwright.kernels.equations import by_name
from linkwright.kernels.kernels import Kernels
from linkwright.kernels.page_kernels import TracedKernel

INSIDE = ("read", "read_rate", "read_speed", "J_free", "rate_free", "spun", "spun_mobility")  # what Python computes others from
ABOUT = {
    "q": "entries of q",
    "v": "entries of v",
    "x": "x': rows of M, h and selection, columns of M, J, Jc, N and A",
    "task": "rows of J and rate",
    "contact": "rows of Jc and Jc_rate, rows and columns of W",
    "drive": "columns of selection, rows of effort_limits",
    "pose": "matrices of pose_R, rows of pose_p",
}


def c(
    kernels: Kernels,
    independent: Sequence[str],
    asked: by_name.Asked,
    names: Mapping[str, Sequence[str]],
    tables: Mapping[str, np.ndarray],
    *,
    name: str,
    precision: str,
) -> dict[str, str]:
    """`name`.h and `name`.c; `names` by what they count, `tables` of numbers beside the start."""
    if precision not in c99.PRECISIONS:
        raise UsageError(f"precision is 'double' or 'single', not {precision!r}.", name="precision", value=precision)
    real = c99.PRECISIONS[precision]
    own = export.chosen(kernels, None, independent)
    programs = export.programs_of(own, (), {"terms": TracedKernel(partial(_outputs, asked=asked), ("q", "v", "t"), True, "independent")})
    found = export.tables_of(own, programs)
    every = {"q": found.names["q"], "v": found.names["v"], **names}
    numbers = {"start_q": found.numbers["q"], "near": found.numbers["near"], "parameters": found.numbers["parameters"]}
    numbers |= {key: np.ravel(values).tolist() for key, values in tables.items()}
    numbers = {key: values for key, values in numbers.items() if values}
    head = f"/* Terms by name: {export.title_of(kernels).removeprefix('Kernels of ')}. SI units, radians. */\n"
    guard = f"{name.upper()}_H"
    declared = [f"extern const {real.name} {name}_{key}[{len(values)}];" for key, values in numbers.items()]
    header = [head, f"#ifndef {guard}\n#define {guard}\n", _enums(every, name), "#ifdef __cplusplus", 'extern "C" {', "#endif", *declared]
    header += ["#ifdef __cplusplus", "}", "#endif", "", *(c99.header(p, f"{name}_{key}", real) for key, p in programs.items()), "#endif\n"]
    source = [head, f'#include "{name}.h"\n', "#include <math.h>", ""]
    for key, values in numbers.items():
        source.append(f"const {real.name} {name}_{key}[{len(values)}] = {{{', '.join(c99.number(x, real) for x in values)}}};")
    source += ["", *(c99.write(p, f"{name}_{key}", real) for key, p in programs.items())]
    return {f"{name}.h": "\n".join(header), f"{name}.c": "\n".join(source)}


def _outputs(eq: Any, q: Any, v: Any, t: Any, near: Any, *, asked: by_name.Asked) -> dict[str, Any]:
    return {key: x for key, x in by_name.named_terms(eq, q, v, t, near, asked).items() if key not in INSIDE}


def _enums(names: Mapping[str, Sequence[str]], name: str) -> str:
    """Counts and places of all names."""
    out = []
    for what, entries in names.items():
        values = {f"{name}_n{what}": len(entries)}
        for i, entry in enumerate(entries):
            key = f"{name}_{what}_{re.sub(r'[^A-Za-z0-9]', '_', entry)}"
            while key in values:  # names that differ only in their punctuation
                key += "_"
            values[key] = i
        lines = ",\n".join(f"    {key} = {value}" for key, value in values.items())
        out.append(f"/* {ABOUT[what]} */\nenum {{\n{lines}\n}};\n")
    return "\n".join(out)
