"""The scene handed to a page lies where the mechanism is, on every model and with changed parameters; other people's code is unmodified."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.parameters import choose, every_parameter, with_values
from linkwright.rings import studio as views_package
from linkwright.rings.studio.live.scene_data import places, references, shapes
from linkwright.rings.studio.scene import Scene, Stage
from linkwright.system.mechanism import mechanism_of
from linkwright.system.system import System
from tests.sweeps import every_model, sweep

SAME = 1e-12  # meters: coordinates are written with 15 digits after the point, mechanisms are meters in size
CLOSED = 1e-9  # meters: how well loops are closed at the samples of a cycle


@cache
def scene_of(name: str) -> tuple[System, Scene]:
    system = lw.load(name).system
    return system, Scene(system, mechanism_of(system).cycle(steps=6))


def poses(system: System, stage: Stage) -> list[tuple[np.ndarray, np.ndarray]]:
    """(R, p) of all bodies as a page has them: ground first, then the nodes of the kernels."""
    found = [(np.eye(3), np.zeros(3))] + [tuple(stage.pose(i)) for i in range(len(system.tree.nodes))]
    return [(np.asarray(R), np.asarray(p)) for R, p in found]


def put(where: list[tuple[np.ndarray, np.ndarray]], spot: dict) -> np.ndarray:
    R, p = where[spot["body"]]
    return R @ np.array(spot["at"]) + p


@pytest.mark.parametrize("name", every_model("carpet-scraper", "excavator", "rssr"))
def test_the_scene_is_where_the_mechanism_is(name: str) -> None:
    system, scene = scene_of(name)
    assert scene.turn is not None
    text = json.loads(json.dumps(shapes(scene), allow_nan=False))  # what arrives in the page
    bodies = [system.description.bodies[0].name, *(n.body for n in system.tree.nodes)]
    low, high = (np.array(text["extent"][k]) for k in ("low", "high"))
    for k in (0, 2, 5):
        instant = scene.turn._instants[k]
        stage = Stage(scene.skel, instant)
        where = poses(system, stage)
        # marked points against the channels a user reads
        for mark in text["marks"]:
            read = scene.turn[f"{mark['body']}.{mark['name']}"][k]  # two numbers in a plane
            assert put(where, mark["spot"])[: len(read)] == pytest.approx(read, abs=SAME)
            assert bodies[mark["spot"]["body"]] == mark["body"]
        # pins against the same place of the joint's other body, which the closed loops bring there
        for pin in (p for p in text["pins"] if p["type"] in ("revolute", "spherical", "universal")):
            (joint,) = [
                j
                for j in system.description.joints
                if (j.pin or j.name) == pin["pin"] and [bodies.index(j.first), bodies.index(j.second)] == pin["bodies"]
            ]
            ends = [(bodies.index(joint.first), joint.frame_first.at), (bodies.index(joint.second), joint.frame_second.at)]
            ((body, at),) = [end for end in ends if end[0] != pin["spot"]["body"]]
            other = {"body": body, "at": at}
            assert not pin["grounded"] or pin["spot"]["body"] == 0
            assert put(where, pin["spot"]) == pytest.approx(put(where, other), abs=CLOSED)
            assert np.all(put(where, pin["spot"]) > low - SAME) and np.all(put(where, pin["spot"]) < high + SAME)
        for piece, drawn in zip(text["pieces"], scene.pieces, strict=True):
            world = [put(where, {"body": piece["body"], "at": at}) for at in piece["points"]]
            assert np.array(world) == pytest.approx(stage.place(drawn.node, drawn.points), abs=SAME)
        for t in text["telescopes"]:  # its barrel is never longer than the way between its ends
            assert np.linalg.norm(put(where, t["ends"][0]) - put(where, t["ends"][1])) > t["barrel"] > 0.0


@sweep("name", ["wiper", "scissor-lift", "boot-lid", "stewart"], now=3)
def test_every_place_has_its_number(name: str) -> None:
    system, scene = scene_of(name)
    text, refs = shapes(scene), references(scene)
    numbers = np.array(places(system.description, refs), dtype=float).reshape(-1, 3)
    seen = 0

    def check(node: object) -> None:
        nonlocal seen
        if isinstance(node, dict):
            if "place" in node and node["place"] is not None:
                seen += 1
                assert numbers[node["place"]] == pytest.approx(node["at"], abs=SAME)
                assert text["places"][node["place"]] == node["body"]
            for value in node.values():
                check(value)
        elif isinstance(node, list):
            for value in node:
                check(value)

    check(text)
    for piece in text["pieces"]:
        assert numbers[piece["places"]] == pytest.approx(np.array(piece["points"]), abs=SAME)
    assert len(refs) == len(numbers) == len(text["places"]) <= seen + sum(len(p["points"]) for p in text["pieces"])


def test_places_follow_changed_parameters() -> None:
    """Numbers of the places with another crank length, against the scene of the model loaded with that length."""
    m = lw.load("four-bar")
    scene = Scene(m.system, None)
    chosen = choose(every_parameter(m.description), ["L1"], m.description)
    moved = np.array(places(with_values(m.description, chosen, [0.31]), references(scene)), dtype=float)
    other = m.with_(L1=0.31)
    expected = np.array(places(other.system.description, references(Scene(other.system, None))), dtype=float)
    assert moved == pytest.approx(expected, abs=SAME)
    before = np.array(places(m.system.description, references(scene)), dtype=float)
    assert np.abs(moved - before).max() == pytest.approx(abs(0.31 - chosen[0].value), abs=SAME)


def test_code_of_others_is_as_it_was_published() -> None:
    folder = Path(views_package.__file__).parent / "vendor"
    rows = re.findall(
        r"^\| (\S+\.js) \| (\S+) \| ([\d.]+) \|.*\((LICENSE\.\w+)\) \| ([0-9a-f]{64}) \|$", (folder / "VERSION.md").read_text(), re.M
    )
    assert [row[0] for row in rows] == sorted(p.name for p in folder.glob("*.js"))
    for name, package, version, license, digest in rows:
        data = (folder / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest, f"{name} of {package} {version} was changed"
        assert "MIT License" in (folder / license).read_text(encoding="utf-8")
