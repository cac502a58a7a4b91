"""Shapes of bodies as MuJoCo's geoms, which touch nothing and have no mass."""

from __future__ import annotations

from xml.etree import ElementTree as xml

from linkwright.model.description import Visual
from linkwright.numerics.spatial import array, rotation_quaternion
from linkwright.rings.exchange.writing.mujoco.forces import numbers
from linkwright.rings.exchange.writing.visuals import Shapes, rgba


def assets(root: xml.Element, shapes: Shapes) -> None:
    """Write the mesh files of all bodies, each scale of each file once."""
    every = [x for b in shapes.description.bodies for x in shapes.of(b.name) if x.shape == "mesh"]
    if every:
        section = xml.SubElement(root, "asset")
        for name, x in {mesh_name(x): x for x in every}.items():
            xml.SubElement(section, "mesh", name=name, file=x.file, scale=numbers(x.size))


def mesh_name(shape: Visual) -> str:
    """Return the name of a mesh among the assets."""
    return f"{shape.file} {numbers(shape.size)}"


def geom(body: xml.Element, shape: Visual) -> None:
    """Write one shape; sizes are halves there."""
    a, b, c = (float(x) for x in shape.size)
    sizes = {"box": (a / 2, b / 2, c / 2), "cylinder": (a, b / 2), "capsule": (a, b / 2), "sphere": (a,)}
    form = {"mesh": mesh_name(shape)} if shape.shape == "mesh" else {"size": numbers(sizes[shape.shape])}
    X = shape.placement
    at = {"pos": numbers(X.at), "quat": numbers(rotation_quaternion(array(X.rotation)))}
    color = {"rgba": numbers(rgba(shape.color))} if shape.color else {}
    xml.SubElement(body, "geom", {"type": shape.shape, **form, **at, **color})
