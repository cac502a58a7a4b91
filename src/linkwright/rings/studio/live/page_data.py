"""DATA of a page: the mechanism as plain JSON, for the engine that computes and the views that draw.

Everything is SI, radians and world axes; `units` says what people see instead. Bodies are counted with ground as 0, so body k + 1 is
node k of the kernels. Places on bodies are in the bodies' own coordinates at the file's values.
"""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    System,
    compiled_of,
    coordinates,
    display_unit,
    element_limits,
    elements,
    inverse,
    joints,
    lengths,
    line_loads,
    plausibility,
    unit_of,
)
from linkwright.api import solve_orders as order
from linkwright.api import topology_report as report
from linkwright.mechanics.closing.idle_motions import idle_rows
from linkwright.rings.studio.applied_loads import largest_loads
from linkwright.rings.studio.live import cycle_data, model_text, scene_data
from linkwright.rings.studio.live.mechanism_script import Script
from linkwright.rings.studio.live.motion_channels import channel_data
from linkwright.rings.studio.planar_drawing import colors
from linkwright.rings.studio.scene import Scene
from linkwright.rings.studio.traced_points import tips

TOUCHING = "Surfaces do not touch on this page, so there is no free swing. A run shows how they touch, such as `m.simulate(2).show()`."


def data(
    system: System, motion: cycle_data.PageMotion, scene: Scene, made: Script, parameters: list[dict[str, Any]], run: Any
) -> dict[str, Any]:
    """Everything the page knows; `parameters` are its sliders, `run` a trajectory to play or None."""
    core = compiled_of(system)
    d = system.description
    unique = cycle_data.unique_loads(motion.turn, system)
    loads, meshes = "loads" in made.names, inverse.meshes_not_modeled(d)
    touching = [TOUCHING] if any(x.meets for x in elements.every(d)) else []
    return {
        "name": d.name,
        "about": d.about,
        "planar": d.planar,
        "axes": d.plane or "xyz",
        "gravity": [float(x) for x in d.gravity],
        "units": units(d.units),
        "bodies": _bodies(system, scene),
        "pins": _pins(system, unique),
        "eyes": _eyes(system, made.acting, motion.turn),
        "stops": _stops(system),
        "points": [{"name": f"{body}.{name}", "body": body, "at": [float(x) for x in spot.at]} for body, name, spot in scene.marks],
        "tips": [".".join(ref) for ref in tips(d)],
        "scene": scene_data.shapes(scene),
        "drives": list(motion.drives),
        "kinds": cycle_data.kinds(system, motion.drives),
        "cycle": cycle_data.cycle_json(system, motion),
        "channels": channel_data(system, motion),
        "parameters": parameters,
        "shape": made.shape,
        "acting": made.acting,
        "applied": list(largest_loads(scene, scene.start)) if made.acting else [0.0, 0.0],
        "scale": _scale(system),
        "idle": np.flatnonzero(
            idle_rows(system.kernels.plan, core.skel, system.start.instant.motion).rows.any(axis=0)
        ).tolist(),
        "topology": _topology(system),
        "model": model_text.model(core.described, parameters),
        "version": import_module("linkwright").__version__,
        "run": None if run is None else cycle_data.run_json(system, run),
        "loads": loads,
        "swing": {"forward", "projection", "energy"} <= set(made.names) and system.mobility.freedoms > 0 and not touching,
        "conservative": all(getattr(f, "conservative", False) for f in core.forces),
        "checks": [] if motion.turn is None else motion.turn.checks().as_dict()["checks"],
        "limits": [asdict(x) for x in element_limits.element_limits(d)],
        "meshes": [{"pin": j.pin or j.name, "coupling": meshes[j.name]} for j in d.joints if j.name in meshes],
        "motors": any(x.motor for x in d.drives),
        "notes": [
            *touching,
            *plausibility.elastic_loads(d),
            *(cycle_data.jump_sentences(motion.turn) if loads and motion.turn is not None else []),
        ],
        "stopped": motion.why if motion.stopped else "",
        "why": _sentences(_motion_text(motion), made.why),
    }


def units(listed: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Symbol and size of every kind of quantity, in the units of the file."""
    out = {}
    for kind, dimension in KINDS.items():
        symbol, per_si = display_unit(listed, dimension)
        out[kind.replace(" ", "_")] = {"symbol": symbol, "size": 1.0 / per_si}
    return {**out, "energy": dict(zip(("symbol", "size"), unit_of(listed, "energy"), strict=True))}


def _motion_text(motion: cycle_data.PageMotion) -> str:
    if motion.moving or not motion.drives:
        return motion.why
    return f"No cycle: {motion.why} Moved by hand at {', '.join(motion.drives)}."


def _sentences(first: str, more: str) -> str:
    return f"{first} {more[:1].upper()}{more[1:]}".rstrip() if first else more


def _bodies(system: System, scene: Scene) -> list[dict[str, Any]]:
    d, color = system.description, colors(scene)
    named = [d.bodies[0].name, *(n.body for n in system.tree.nodes)]
    out = []
    for name in named:
        b = d.body(name)
        weighed = b.mass is not None and name != named[0]
        out.append(
            {
                "name": name,
                "ground": name == named[0],
                "mass": float(b.mass or 0.0) if weighed else None,
                "com": [float(x) for x in b.com] if weighed else None,
                "driven": name in scene.driven,
                "color": color.get(name, "#8593a0"),
                "points": [{"name": p.name, "at": [float(x) for x in p.at]} for p in b.points],
            }
        )
    return out


def _pins(system: System, unique: dict[tuple[str, str], bool]) -> list[dict[str, Any]]:
    """Every place where joints load bodies, in the order of the file."""
    d = system.description
    ground = d.bodies[0].name
    found: dict[str, dict[str, Any]] = {}
    for j in d.joints:
        jt = joints.JOINTS[j.type]
        if not joints.holds(jt, d.planar):
            continue
        name = j.pin or j.name
        at = {"body": compiled_of(system).skel.node(j.second) + 1, "at": [float(x) for x in j.frame_second.at]}
        first = {"name": name, "type": j.type, "hinge": joints.is_hinge(jt), "at": at, "grounded": False}
        pin = found.setdefault(name, {**first, "bodies": [], "joints": [], "unique": {}})
        pin["joints"].append(j.name)
        pin["grounded"] = pin["grounded"] or ground in (j.first, j.second)
        for body in (j.first, j.second):
            if body not in pin["bodies"]:
                pin["bodies"].append(body)
                pin["unique"][body] = unique.get((name, body), True)
    return list(found.values())


def _rows_of(part: Any) -> tuple[str, ...]:
    """Kinds of rows of the kernel `acting` that an element between two points has."""
    return ("link",) if part.constraint else ("drive", "element") if part.coordinate else ("element",)


def _eyes(system: System, acting: list[dict[str, Any]], turn: Any) -> list[dict[str, Any]]:
    """Eyes of elements between two points, with the rows of the kernel `acting` that make up their forces."""
    node = {e.pin: compiled_of(system).skel.node(e.body) + 1 for e in line_loads.line_eyes(system.description)}
    out = []
    for e in line_loads.line_eyes(system.description):
        other = next(x for x in line_loads.line_eyes(system.description) if x.part is e.part and x.side != e.side)
        own, sign = (node[e.pin], 1.0) if node[e.pin] else (compiled_of(system).skel.node(other.body) + 1, -1.0)
        named = [i for i, x in enumerate(acting) if (x["name"], x["body"]) == (e.part.name, own)]
        rows = [i for i in named if acting[i]["kind"] in _rows_of(e.part)]
        unique = turn is None or not turn.drives or cycle_data.eye_is_unique(turn, e.pin, e.body)
        part = e.pin.rpartition(".")[0]
        out.append({"pin": e.pin, "body": e.body, "part": part, "type": e.kind, "unique": unique, "rows": rows, "sign": sign})
    return out


def _stops(system: System) -> list[dict[str, Any]]:
    """Rigid stops: of which entry of q, or between which places of a cylinder."""
    d, tree, out = system.description, system.tree, []
    distances = lengths(d)
    for s in d.rigid_stops:
        ends, index, slides = None, -1, True
        if s.joint in distances:
            ends = [
                {"body": compiled_of(system).skel.node(b) + 1, "at": [float(x) for x in d.point((b, p)).at]} for b, p in distances[s.joint]
            ]
        else:
            part = coordinates.joint_part(d, s.joint)
            node = tree.node_of_joint.get(part.joint.name)
            if node is None:
                continue
            index = tree.nodes[node].q.start + (joints.position_of(joints.JOINTS[part.joint.type], part.entries[0]) or 0)
            slides = part.kinds == {"length"}
        low, high = (None if x is None else float(x) for x in (s.lower, s.upper))
        out.append({"name": s.joint, "slides": slides, "low": low, "high": high, "index": index, "ends": ends})
    return out


def _scale(system: System) -> dict[str, Any]:
    """Scales of velocities and closing conditions."""
    core = compiled_of(system)
    return {
        "kappa": float(core.loops.kappa),
        "columns": [float(x) for x in core.loops.columns],
        "rows": [float(x) for x in core.loops.row_scale],
    }


# -------------------------------------------------------------------- structure


def _topology(system: System) -> dict[str, Any]:
    tree, m = system.tree, system.mobility
    drives = [d.joint for d in system.description.drives]
    keep = system.kernels.plan.keep
    rows = [(f"{loop.name}.{label}", loop.name) for loop in tree.loops for label in loop.labels]
    shared = order.gicm_pattern(tree)
    return {
        "mobility": m.mobility,
        "freedoms": m.freedoms,
        "counted": report.grubler_count(system.description).mobility,
        "redundant": [str(r) for r in m.redundant],
        "cuts": list(tree.cuts),
        "reason": tree.reason,
        "subsystems": [list(s.bodies) for s in tree.subsystems],
        "loops": [{"name": x.name, "kind": x.kind, "joints": list(x.joints), "subsystems": list(x.subsystems)} for x in tree.loops],
        "order": [_step(s) for s in order.solve_order(tree, drives)],
        "pattern": {"labels": [x.name for x in tree.loops], "cells": [[int(bool(c)) for c in row] for row in shared]},
        "rows": [{"label": label, "loop": loop, "redundant": keep is not None and i not in keep} for i, (label, loop) in enumerate(rows)],
    }


def _step(s: Any) -> dict[str, Any]:
    return {"subsystems": list(s.subsystems), "unknowns": list(s.unknowns), "size": list(s.size), "determinate": s.determinate}
