"""From the graph of bodies and joints to a spanning tree, its subsystems and the loops that close it.

    tree = build_tree(description)                  cuts chosen by the program (or `cuts:` of the model)
    tree = build_tree(description, ["J8", "J9"])    cuts chosen by you

Pure graph and structural counts: nothing here evaluates a pose (numerical ranks are found above,
at assembled states). `order` finds the solve order of the subsystems, `report` prints.
"""

from linkwright.topology.cuts import choose_cuts
from linkwright.topology.tree import Loop, Node, Subsystem, Tree, build_tree, rebind

__all__ = ["Loop", "Node", "Subsystem", "Tree", "build_tree", "choose_cuts", "rebind"]
