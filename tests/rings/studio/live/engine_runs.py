"""Engines of pages in node: mechanisms and DATA of models, and jobs that run on them in one process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import linkwright as lw
from linkwright.rings.studio import live
from linkwright.rings.studio.live import cycle_data, mechanism_script, sliders
from linkwright.rings.studio.live.page_data import data
from linkwright.rings.studio.scene import Scene
from linkwright.system.system import System
from tests.compiler.samples import node

DRIVER = """
const {engine,pages,jobs}=JSON.parse(require("fs").readFileSync(0,"utf8")),vm=require("vm"),made={},out=[];
const plain=(k,v)=>ArrayBuffer.isView(v)?Array.from(v):typeof v==="number"&&!isFinite(v)?null:v;
for(const text of engine)vm.runInThisContext(text);
for(const k in pages){vm.runInThisContext(pages[k][0]);made[k]=[mechanism,JSON.parse(pages[k][1])]}
for(const [page,code,given] of jobs){const [m,D]=made[page];m.set(Object.fromEntries(D.parameters.map(p=>[p.name,p.value])));
  out.push(new Function("e","D","x",code)(LW.engine(m,D),D,given))}
process.stdout.write(JSON.stringify(out,plain));
"""


class Page(NamedTuple):
    """What a page computes with, and where it came from."""

    system: System
    motion: cycle_data.PageMotion
    script: str
    data: dict[str, Any]


def made(system: System, *, static: bool = False) -> Page:
    """As `live.contents`, with the cycle kept: its loads are what the engine's are compared with."""
    motion = cycle_data.motion_of(system, static=static)
    scene, free = Scene(system, motion.turn), sliders.sliders(system)
    script = mechanism_script.script(system, motion.drives, [p["name"] for p in free], scene)
    return Page(system, motion, script.text, data(system, motion, scene, script, free, None))


@cache
def shipped(name: str) -> Page:
    return made(lw.load(name).system)


def run(pages: Mapping[str, Page], jobs: Sequence[tuple[str, str, Any]]) -> list[Any]:
    """What each job (page, body of a function of the engine e, DATA D and x, x) returns; every job has an engine of its own."""
    engine = [live.asset(n) for n in live.script_names(True) if n == live.FIRST or n.startswith("engine/")]
    used = {name for name, _, _ in jobs}
    told = {k: (p.script, json.dumps(p.data, allow_nan=False)) for k, p in pages.items() if k in used}
    text = json.dumps({"engine": engine, "pages": told, "jobs": jobs}, default=lambda x: x.tolist())
    done = subprocess.run([*node(), "-e", DRIVER], input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
