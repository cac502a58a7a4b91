"""Floating base: joints on which a mechanism moves freely against ground."""

from __future__ import annotations

from linkwright.topology.tree import Tree


def base_joints(tree: Tree) -> list[str]:
    """Joints on which a mechanism floats: free joints (of planar mechanisms planar ones) between ground and a body, without a drive."""
    d = tree.description
    driven = {x.joint.partition(".")[0] for x in d.drives}
    kind, ground = "planar" if d.planar else "free", d.bodies[0].name
    return [j.name for j in d.joints if j.type == kind and ground in (j.first, j.second) and j.name not in driven]


def base_entries(tree: Tree) -> list[int]:
    """Places of the base's velocities in v."""
    nodes = [tree.nodes[tree.node_of_joint[name]] for name in base_joints(tree) if name in tree.node_of_joint]
    return [i for n in nodes for i in range(n.v.start, n.v.stop)]


def flies_free(tree: Tree) -> bool:
    """True if nothing but free joints (of planar mechanisms planar ones) joins the bodies to ground."""
    d, base = tree.description, set(base_joints(tree))
    ground = d.bodies[0].name
    others = [j.name for j in d.joints if ground in (j.first, j.second) and j.name not in base]
    held = [x for group in (d.cylinders, d.rods) for x in group if ground in (x.between[0][0], x.between[1][0])]
    return bool(base) and not others and not held
