"""A transmission as C99 sources and as a script: both sides of a mechanism as `c_sources` and `export` write them, and maps on top.

NAME_ahead_... is the mechanism driven by the motors, NAME_back_... driven by the joints; see transmission.c and script/transmission.js.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import c99, c99_loops, javascript_loops
from linkwright.compiler import javascript as js
from linkwright.compiler.records import Layout
from linkwright.kernels import c_sources, export, transmission_loops
from linkwright.kernels.equations.by_name import task_terms
from linkwright.kernels.equations.dynamic import Equations
from linkwright.kernels.equations.kinematic import size
from linkwright.kernels.kernels import Kernels
from linkwright.kernels.page_kernels import TracedKernel


class Sides(NamedTuple):
    """Motors and joints by name, and other joints, which are held."""

    motors: Sequence[str]
    joints: Sequence[str]
    held: Sequence[str] = ()


def c(kernels: Kernels, sides: Sides, *, name: str = "transmission", precision: str = "double") -> dict[str, str]:
    """The sources `name`.h and `name`.c. precision: "double" or "single"."""
    texts = {}
    for side, drives in (("ahead", sides.motors), ("back", sides.joints)):
        more = {"transmission": _kernel(kernels, sides)} if side == "back" else None
        own, called = f"{name}_{side}", ["drives", *(["kinematics", "transmission"] if more else [])]
        every = [*drives, *sides.held]
        made = c_sources.c(kernels, ["kinematics"], drives=every, name=own, precision=precision, more=more, called=called)
        texts |= {key.removeprefix(f"{name}_"): text for key, text in made.items()}
    parts = dict(re.findall(r"^/\* (header|source) \*/\n(.*?)(?=^/\* source \*/\n|\Z)", export.template("transmission.c"), re.M | re.S))
    for token, output in {"BIAS": "h", "INERTIA": "M + i * NAME_n"}.items():
        parts["source"] = parts["source"].replace(token, f"z + NAME_back_transmission_out_{output}" if _masses(kernels) else "0")
    real, numerics = c99.PRECISIONS[precision], c_sources.NUMERICS[precision]
    top = {key: c_sources.typed(text, real, numerics).replace("NAME", name) for key, text in parts.items()}
    guard, title = f"{name.upper()}_TRANSMISSION_H", _title(kernels, sides)
    head = [f"/* {title} */\n", f"#ifndef {guard}\n#define {guard}\n", texts["ahead.h"], texts["back.h"], _sizes(sides, name)]
    head += ['#ifdef __cplusplus\nextern "C" {\n#endif\n', top["header"], "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"]
    body = [texts[f"{side}.c"].replace(f'#include "{name}_{side}.h"', f'#include "{name}.h"') for side in ("ahead", "back")]
    layout, constants = Layout(transmission_loops.Map, {"n": len(sides.joints)}), {"CLOSED": numerics.closed}
    loops = c99_loops.write([transmission_loops.inverted], layout, {}, prefix=f"{name}_loop_", real=real, constants=constants, hidden=True)
    return {f"{name}.h": "\n".join(head), f"{name}.c": "\n".join([f"/* {title} */\n", *body, loops, top["source"]])}


def javascript(kernels: Kernels, sides: Sides, *, name: str = "transmission") -> str:
    """A script that defines the object `name` (in node also what require() returns); see script/transmission.js."""
    js.module({}, name)  # refuses names that cannot be
    ahead = export.javascript(kernels, ["kinematics"], drives=[*sides.motors, *sides.held], name="ahead")
    more = {"transmission": _kernel(kernels, sides)}
    back = export.javascript(kernels, ["kinematics"], drives=[*sides.joints, *sides.held], name="back", more=more)
    data = json.dumps({"motors": list(sides.motors), "joints": list(sides.joints)}).replace("<", "\\u003c")
    loops = js.squeezed(javascript_loops.write([transmission_loops.inverted]))
    maps = loops + js.short(export.template("script/transmission.js"))
    return (
        f"// {_title(kernels, sides)}\n"
        f'var {name}=((module)=>{{"use strict";\n{ahead}{back}{maps}return transmissionOf(ahead,back,{data})}})();\n'
        f'if(typeof module==="object"&&module.exports)module.exports={name};\n'
    )


def _title(kernels: Kernels, sides: Sides) -> str:
    return f"{export.title_of(kernels)}: motors {', '.join(sides.motors)}, joints {', '.join(sides.joints)}. SI units, radians."


def _masses(kernels: Kernels) -> bool:
    return all(b.mass is not None for b in kernels.tree.description.bodies[1:])


def _kernel(kernels: Kernels, sides: Sides) -> TracedKernel:
    return transmission_kernel(sides.motors, len(sides.joints), _masses(kernels))


def _sizes(sides: Sides, name: str) -> str:
    """Number of motors and joints, their places, and the position to start from."""
    values = {f"{name}_n": str(len(sides.joints)), f"{name}_nq": f"{name}_back_nq"}
    for what, names in (("motor", sides.motors), ("joint", sides.joints)):
        values |= {f"{name}_{what}_{re.sub(r'[^A-Za-z0-9]', '_', x)}": str(i) for i, x in enumerate(names)}
    lines = ",\n".join(f"    {key} = {value}" for key, value in values.items())
    return f"enum {{\n{lines}\n}};\n#define {name}_start {name}_back_start_q\n"


# Kernel of a transmission, traced for export: Jacobian of the motors by the joints, its rate, and the equations of motion in the joints.
#
#     motor' = J joint'        J_rate = dJ/dt        M joint'' + h = J' (torques of the motors)
#
# The drives of the equations are the joints, then other coordinates, which are at rest.


def transmission_kernel(motors: Sequence[str], joints: int, masses: bool) -> TracedKernel:
    """The kernel of these motors, by the first so many drives; without masses M and h are left out."""
    return TracedKernel(
        partial(transmission_terms, motors=tuple(motors), joints=joints, masses=masses), ("q", "v", "t"), masses, "kinematics"
    )


def transmission_terms(
    eq: Equations, q: Any, v: Any, t: Any, near: Any, *, motors: Sequence[str], joints: int, masses: bool
) -> dict[str, Any]:
    """J, J_rate and, with masses, M and h. J_rate by polarization: the rate of the motors' speeds is a quadratic form of v."""
    skel, here = eq.loops.skel, eq.loops.skel.unpack(q, near)
    still = [0.0] * len(eq.drives)
    reading = replace(eq, drives=tuple(motors))

    def bias(speeds: Any) -> Any:
        """Accelerations of the motors at these speeds, the joints not accelerating."""
        d = eq._driven(q, speeds, eq._laws(q, speeds, here, still), here)
        a, _ = d.solve(-d.c.k, eq._resting(q, speeds))
        rows = task_terms(reading, q, speeds, near, ())
        return rows["E"] @ a + rows["e"]

    d = eq._driven(q, v, eq._laws(q, v, here, still), here)
    S, pivots = eq._speeds(d)
    E = task_terms(reading, q, v, near, ())["E"]
    columns = [(bias(v + S[:, i]) - bias(v - S[:, i])) * 0.25 for i in range(joints)]
    out = {"J": (E @ S)[:, :joints], "J_rate": np.array(columns).T.reshape(len(motors), joints)}
    if masses:
        found = eq.reduced(q, v, t, near)
        out |= {"M": found["M"][:joints, :joints], "h": found["h"][:joints]}
    assert skel.tree.nv == S.shape[0]
    return {**out, "margin": eq.margin("kinematics", [(size(p), p) for p in pivots])}
