"""URDF texts of our own: one four-bar (A 0,0; D 0.8,0; B 0,0.3; C 0.7,0.6; closed at zero) with its loop in every dialect."""

from __future__ import annotations

import math
from pathlib import Path

INERTIA = '<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.002"/>'


def link(name: str, mass: float, x: float, y: float) -> str:
    return f'<link name="{name}"><inertial><origin xyz="{x} {y} 0"/><mass value="{mass}"/>{INERTIA}</inertial></link>\n'


def joint(name: str, parent: str, child: str, xyz: str, more: str = "", *, attributes: str = "", kind: str = "continuous") -> str:
    return (
        f'<joint name="{name}" type="{kind}"{attributes}><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 0 1"/>{more}</joint>\n'
    )


def frame(name: str, parent: str, xyz: str) -> str:
    return (
        f'<link name="{name}"/>\n<joint name="{name}_frame" type="fixed"><parent link="{parent}"/><child link="{name}"/>'
        f'<origin xyz="{xyz}"/></joint>\n'
    )


def robot(body: str, name: str = "fourbar") -> str:
    return f'<?xml version="1.0"?>\n<robot name="{name}" xmlns:drake="http://drake.mit.edu">\n{body}</robot>\n'


LINKS = '<link name="ground"/>\n' + link("crank", 0.3, 0, 0.15) + link("coupler", 0.9, 0.35, 0.15) + link("rocker", 0.8, -0.05, 0.3)
ON_COUPLER, ON_ROCKER = "0.7 0.3 0", "-0.1 0.6 0"


def tree(independent: str = "") -> str:
    marked = {n: f' independent="{n == "A"}"' if independent else "" for n in "ABD"}
    return (
        LINKS
        + joint("A", "ground", "crank", "0 0 0", attributes=marked["A"])
        + joint("B", "crank", "coupler", "0 0.3 0", attributes=marked["B"])
        + joint("D", "ground", "rocker", "0.8 0 0", attributes=marked["D"])
    )


TILTED = f"0 {math.sin(0.4)!r} {math.cos(0.4)!r}"  # z of the world in a frame that is turned about x by 0.4 rad


def gazebo(ends: str, axis: str) -> str:
    """The hinge C as SDF for Gazebo."""
    return f'<gazebo><joint name="C" type="revolute">{ends}<axis>{axis}</axis></joint></gazebo>\n'


DIALECTS = {
    "loop": tree("yes") + f'<loop name="C" type="revolute"><predecessor link="coupler"><origin xyz="{ON_COUPLER}"/></predecessor>'
    f'<successor link="rocker"><origin xyz="{ON_ROCKER}"/></successor><axis xyz="0 0 1"/></loop>\n',
    "constraint": tree()
    + f'<constraint name="C" type="revolute"><parent link="coupler"/><parent_origin xyz="{ON_COUPLER}"/><parent_axis xyz="0 0 1"/>'
    f'<child link="rocker"/><child_origin xyz="{ON_ROCKER}"/><child_axis xyz="0 0 1"/></constraint>\n',
    "loop_joint": tree() + f'<loop_joint name="C" type="spherical"><link1 link="coupler" xyz="{ON_COUPLER}"/>'
    f'<link2 link="rocker" xyz="{ON_ROCKER}"/></loop_joint>\n',
    "loop_joint, link1 twice": tree() + f'<loop_joint name="C" type="spherical"><link1 link="coupler" xyz="{ON_COUPLER}"/>'
    f'<link1 link="rocker" xyz="{ON_ROCKER}"/></loop_joint>\n',
    "drake": tree() + '<drake:ball_constraint><drake:ball_constraint_body_A name="coupler"/><drake:ball_constraint_body_B name="rocker"/>'
    f'<drake:ball_constraint_p_AP value="{ON_COUPLER}"/><drake:ball_constraint_p_BQ value="{ON_ROCKER}"/></drake:ball_constraint>\n',
    "onshape hinge": tree()
    + frame("closing_C_1", "coupler", ON_COUPLER)
    + frame("closing_C_1_z", "coupler", "0.7 0.3 0.1")
    + frame("closing_C_2", "rocker", ON_ROCKER)
    + frame("closing_C_2_z", "rocker", "-0.1 0.6 0.1"),
    "onshape point": tree() + frame("closing_C_1", "coupler", ON_COUPLER) + frame("closing_C_2", "rocker", ON_ROCKER),
    "two parents": tree() + joint("C", "coupler", "rocker", "0.7 0.3 0"),
    "gepetto 3d": tree() + frame("closedloop1_A", "coupler", ON_COUPLER) + frame("closedloop1_B", "rocker", ON_ROCKER),
    "gazebo": tree() + gazebo("<parent>coupler</parent><child>rocker</child><pose>-0.1 0.6 0 0.4 0 0</pose>", f"<xyz>{TILTED}</xyz>"),
    "gazebo, model frame": tree()
    + gazebo(
        '<parent link="rocker"/><child link="coupler"/><pose degrees="true">0.7 0.3 0 20 0 0</pose>',
        "<xyz>0 0 1</xyz><use_parent_model_frame>1</use_parent_model_frame>",
    ),
    "gazebo, to a link": tree()
    + gazebo("<parent>coupler</parent><child>rocker</child><pose relative_to='crank'>0.7 0.6 0 0.4 0 0</pose>", f"<xyz>{TILTED}</xyz>"),
    "closures of sw2robot": tree(),
    "pins of fusion": tree(),
    "balls of fusion": tree(),
}
CLOSURE_FILES = {
    "closures of sw2robot": "closures:\n- link_a: coupler\n  link_b: rocker\n  point: [0.7, 0.6, 0.0]\n  axis: [0, 0, 2]\n"
    "dependent: [B, D]\nindependent: [A]\n",
    "pins of fusion": "ball_loops: []\npin_loops:\n  - name: C\n    parent: coupler\n    child: rocker\n    axis: [0, 0, 1]\n"
    f"    parent_xyz: [{ON_COUPLER.replace(' ', ', ')}]\n    child_xyz: [{ON_ROCKER.replace(' ', ', ')}]\n",
    "balls of fusion": "ball_loops:\n  - name: C\n    parent: coupler\n    child: rocker\n"
    f"    parent_xyz: [{ON_COUPLER.replace(' ', ', ')}]\n    child_xyz: [{ON_ROCKER.replace(' ', ', ')}]\n",
}
LOOP_FILE = "closed_loop: [['closedloop1_A', 'closedloop1_B']]\ntype: ['3d']\nname_mot: ['A']\njoint_name: []\njoint_type: []\n"


def written(folder: Path, dialect: str) -> Path:
    """A four-bar in a dialect, as a file."""
    path = folder / dialect.replace(" ", "_") / "fourbar.urdf"
    if dialect in CLOSURE_FILES:  # a ROS package
        path = path.parent / "urdf" / path.name
        (path.parent.parent / "config").mkdir(parents=True, exist_ok=True)
        (path.parent.parent / "config" / "loop_closures.yaml").write_text(CLOSURE_FILES[dialect])
    path.parent.mkdir(exist_ok=True)
    path.write_text(robot(DIALECTS[dialect]))
    if dialect.startswith("gepetto"):
        path.with_suffix(".yaml").write_text(LOOP_FILE)
    return path
