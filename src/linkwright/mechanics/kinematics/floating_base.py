"""Floating base: joints on which a mechanism moves freely against ground."""

from __future__ import annotations

from linkwright.topology.tree import Tree


def base_joints(tree: Tree) -> list[str]:
    """Joints on which a mechanism floats: free joints (of planar mechanisms planar ones) between ground and a body, without a drive,
    that alone connect it to ground."""
    d = tree.description
    kind, ground = "planar" if d.planar else "free", d.bodies[0].name
    driven = {x.joint.partition(".")[0] for x in d.drives}
    found = [j for j in d.joints if j.type == kind and ground in (j.first, j.second) and j.name not in driven]
    if not found:
        return []
    held = _connected(tree, {j.name for j in found})
    return [j.name for j in found if (j.second if j.first == ground else j.first) not in held]


def _connected(tree: Tree, without: set[str]) -> set[str]:
    """Bodies connected to ground by joints and by rods, cylinders and the like, other than these joints."""
    d = tree.description
    pairs = [(j.first, j.second) for j in d.joints if j.name not in without]
    pairs += d.connected
    reached, waiting = {d.bodies[0].name}, [d.bodies[0].name]
    while waiting:
        here = waiting.pop()
        for a, b in pairs:
            for other in (b,) if a == here else (a,) if b == here else ():
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
    return reached


def base_entries(tree: Tree) -> list[int]:
    """Places of the base's velocities in v."""
    nodes = [tree.nodes[tree.node_of_joint[name]] for name in base_joints(tree) if name in tree.node_of_joint]
    return [i for n in nodes for i in range(n.v.start, n.v.stop)]


def flies_free(tree: Tree) -> bool:
    """True if nothing but the joints of its base connects the bodies to ground."""
    base = base_joints(tree)
    return bool(base) and len(_connected(tree, set(base))) == 1
