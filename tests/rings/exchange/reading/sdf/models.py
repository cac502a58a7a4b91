"""SDF texts of our own: the four-bar of the URDF tests, and parts for other joints."""

from __future__ import annotations

INERTIA = "<inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.002</izz></inertia>"


def link(name: str, pose: str, mass: float, x: float, y: float) -> str:
    return f'<link name="{name}"><pose{pose}</pose><inertial><pose>{x} {y} 0 0 0 0</pose><mass>{mass}</mass>{INERTIA}</inertial></link>\n'


def joint(name: str, parent: str, child: str, more: str = "", axis: str = "<xyz>0 0 1</xyz>", kind: str = "revolute") -> str:
    return f'<joint name="{name}" type="{kind}">{more}<parent>{parent}</parent><child>{child}</child><axis>{axis}</axis></joint>\n'


def sdf(body: str, version: str = "1.9", attributes: str = "", name: str = "fourbar") -> str:
    return f'<?xml version="1.0"?>\n<sdf version="{version}">\n<model name="{name}"{attributes}>\n{body}</model>\n</sdf>\n'


LINKS = (
    link("crank", ">0 0 0 0 0 0", 0.3, 0, 0.15)
    + link("coupler", ">0 0.3 0 0 0 0", 0.9, 0.35, 0.15)
    + link("rocker", ">0.8 0 0 0 0 0", 0.8, -0.05, 0.3)
)
HINGES = joint("A", "world", "crank") + joint("B", "crank", "coupler") + joint("D", "world", "rocker")
OLD = (
    LINKS
    + HINGES
    + joint(
        "C", "coupler", "rocker", "<pose>-0.1 0.6 0 0 0 0</pose>", "<xyz>0 0 1</xyz><use_parent_model_frame>true</use_parent_model_frame>"
    )
)
NEW = (
    '<frame name="plane"><pose degrees="true">0 0 0 90 0 0</pose></frame>\n'
    '<frame name="Bf" attached_to="crank"><pose relative_to="crank">0 0.3 0 0 0 0</pose></frame>\n'
    + link("crank", ' relative_to="plane">', 0.3, 0, 0.15)
    + link("coupler", ' relative_to="Bf">0 0 0 0 0 0', 0.9, 0.35, 0.15)
    + link("rocker", ' relative_to="D">0 0 0 0 0 0', 0.8, -0.05, 0.3)
    + joint("A", "world", "crank")
    + joint("B", "Bf", "coupler")
    + joint("D", "world", "rocker", '<pose relative_to="plane">0.8 0 0 0 0 0</pose>')
    + joint("C", "coupler", "rocker", '<pose relative_to="coupler">0.7 0.3 0 0 0 0</pose>', '<xyz expressed_in="plane">0 0 1</xyz>')
)
FREE_ROCKER = LINKS + joint("A", "world", "crank") + joint("B", "crank", "coupler")
WORLD = '<sdf version="1.11"><world name="w"><gravity>0 -9.81 0</gravity>\n<light name="sun"/>{}</world></sdf>'
