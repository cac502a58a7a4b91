"""Chaudhary and Saha: all items, in the order of the paper."""

from __future__ import annotations

from linkwright.rings.papers import Entry
from linkwright.rings.papers.chaudhary import (
    all_joint_forces,
    complements,
    driving_torque,
    extension,
    inertias,
    order_of_solving,
    savings,
    sizes_of_table_2,
    sizes_of_table_3,
)
from linkwright.rings.papers.chaudhary_balancing import rssr_balancing, scraper_balancing
from linkwright.rings.papers.chaudhary_determinacy import (
    chosen_cuts,
    determinacy,
    moving_base,
    propagation,
    rssr,
    rssr_forces,
    seven_hinges,
    spanning_tree,
    three_methods,
    unknowns,
)
from linkwright.rings.papers.chaudhary_path import straight_line

ENTRIES = (
    Entry("(1)", "degrees of freedom of the spanning tree, six of the base", (moving_base,), "topology/tree.py"),
    Entry(
        "Sec. 2", "names of main chain and subchains, #I-1^k",
        why="bodies and joints have names of their own here; papers/Chaudhary2007 maps the paper's numbers to them", verdict="differs",
    ),
    Entry(
        "Sec. 2, Fig. 3", "four kinds of wrenches; determinate and indeterminate subsystems", (determinacy,), "topology/solution_order.py"
    ),
    Entry("(2)-(10)", "equations of motion of a subsystem", (complements,), "mechanics/inverse/problem.py"),
    Entry("(11), (12)", "body-level recursion", (all_joint_forces,), "mechanics/dynamics/reactions.py"),
    Entry("(13)-(16)", "equations of the spanning tree", (spanning_tree,), "mechanics/inverse/"),
    Entry("Sec. 2", "any body of known motion can be the base", (moving_base,), "topology/tree.py"),
    Entry("(17)-(20)", "twists from body to body; other joints as combinations", (complements, seven_hinges), "joints/"),
    Entry("(19)", "properties of A_ij", (propagation,), "numerics/spatial.py"),
    Entry("(21)-(33)", "DeNOC matrices of serial and tree-type subsystems", (complements,), "rings/papers/denoc.py"),
    Entry("Sec. 5", "three methods; the system approach as fallback", (three_methods,), "mechanics/inverse/"),
    Entry("Sec. 5", "advantages: repeated use, torque alone, view of subsystems", (scraper_balancing, unknowns),
        "docs/explanation/inverse-dynamics.md"),
    Entry("Sec. 6.1", "unknowns of the scraper, 4 + 2 + 1", (unknowns,), "topology/solution_order.py"),
    Entry("Table 1", "data of the scraper, with its footnote", (inertias, extension), "model/library/carpet-scraper-2007.yaml"),
    Entry("Fig. 8", "driving torque at 45 rpm", (driving_torque,), "mechanics/inverse/"),
    Entry("Sec. 6.1.1", "all joint forces", (all_joint_forces,), "mechanics/dynamics/reactions.py"),
    Entry(
        "Tables 2, 3", "sizes and orders of the methods", (sizes_of_table_2, order_of_solving, sizes_of_table_3),
        "rings/papers/inverse_cost.py",
    ),
    Entry("Tables 2, 3", "processor times of one cycle", (savings,), "rings/papers/inverse_cost.py"),
    Entry(
        "Tables 2, 3", "balancing of shaking force and moment by the three methods", (scraper_balancing, rssr_balancing),
        "rings/design/optimization/balancing.py",
    ),
    Entry("Sec. 6.2, Figs. 9, 10", "RSSR as a chain of seven hinges", (rssr, rssr_forces, seven_hinges), "model/library/rssr-7r.yaml"),
    Entry(
        "Sec. 6.2", "results compared with Bagci",
        why="cannot be decided because neither the dimensions nor the values are printed; three methods agree on our dimensions instead",
        verdict="undecided",
    ),
    Entry("Sec. 6.1", "Hoekens part is straight, the pantograph magnifies it", (straight_line,), "model/library/carpet-scraper-2007.yaml"),
    Entry("Sec. 2", "cuts by graph theory, dependent constraints eliminated", (chosen_cuts,), "topology/cuts.py"),
    Entry(
        "Sec. 7", "little difference of system and subsystem in the plane, more in space", (savings,),
        "docs/explanation/inverse-dynamics.md",
    ),
    Entry("Sec. 3", "symbols t, w, M, W, E, N_l, N_d in our notation", (complements,), "docs/explanation/notation.md"),
)  # fmt: skip
