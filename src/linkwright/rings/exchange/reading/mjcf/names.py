"""Names of a compiled model's elements, usable in a model file, also where the file gives none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from linkwright.api import GROUND
from linkwright.rings.exchange.reading.names import NameTable, usable
from linkwright.rings.exchange.reading.notes import ImportNotes

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True)
class MjcfNames:
    """Names by number in the compiled model."""

    bodies: dict[int, str]
    joints: dict[int, str]
    sites: dict[int, str]
    equalities: dict[int, str]
    tendons: dict[int, str]
    actuators: dict[int, str]


def names_of(m: Any, notes: ImportNotes, in_laws: set[int]) -> MjcfNames:
    """Names of all elements; joints `in_laws` get names that expressions can hold."""
    bodies = NameTable("body", notes, [GROUND])
    joints = NameTable("joint", notes)
    of_body = {i: _named(bodies, m.body(i).name, f"body{i}") for i in range(1, m.nbody)}
    of_joint = {}
    for j in range(m.njnt):
        b = int(m.jnt_bodyid[j])
        several = int(m.body_jntnum[b]) > 1
        spare = f"{of_body[b]}_joint{j - int(m.body_jntadr[b]) + 1 if several else ''}"
        of_joint[j] = _named(joints, m.joint(j).name, spare, plain=j in in_laws)
    closures = NameTable("equality", notes, of_joint.values())
    of_equality = {e: _named(closures, m.equality(e).name, f"closure{e + 1}") for e in range(m.neq)}
    tendons, actuators = NameTable("tendon", notes), NameTable("actuator", notes)
    return MjcfNames(
        of_body,
        of_joint,
        _sites(m, notes, of_body),
        of_equality,
        {t: _named(tendons, m.tendon(t).name, f"tendon{t}") for t in range(m.ntendon)},
        {a: _named(actuators, m.actuator(a).name, f"actuator{a}") for a in range(len(m.actuator_trntype))},
    )


def _named(table: NameTable, name: str, spare: str, *, plain: bool = False) -> str:
    if not name:
        return table.fresh(usable(spare))
    if not plain or IDENTIFIER.match(name):
        return table.add(name)
    out = table.fresh(re.sub(r"\W", "_", re.sub(r"\A\d", "_", usable(name)), flags=re.ASCII))
    table.of[name] = out
    table.notes.infer(f"{table.kind} '{name}' is called '{out}', because a law names it")
    return out


def _sites(m: Any, notes: ImportNotes, bodies: dict[int, str]) -> dict[int, str]:
    """Sites are points of their bodies: a name that begins with the body's, as the MJCF writer makes them, is used without it."""
    tables = {b: NameTable("site", notes) for b in {int(x) for x in m.site_bodyid}}
    out = {}
    for s in range(m.nsite):
        b = int(m.site_bodyid[s])
        own = m.site(s).name.removeprefix(f"{bodies.get(b, GROUND)}.")
        out[s] = _named(tables[b], own, f"site{s}")
    return out
