"""Koul, Shah, Saha and Manivannan, with their Appendix A in a second copy: all items, in the order of the paper."""

from __future__ import annotations

from linkwright.rings.papers import Entry
from linkwright.rings.papers.koul import initial_configuration, link_parameters
from linkwright.rings.papers.koul_cost import (
    acceleration_constraints,
    constraint_violation,
    growth,
    multiplier_cost,
    recursion,
    simulation_cost,
)
from linkwright.rings.papers.koul_eliminations import both_eliminations, subsystem_elimination, system_level_elimination, whole_elimination
from linkwright.rings.papers.koul_matrices import (
    complement,
    excavator_blocks,
    manipulator_at_start,
    manipulator_gicm,
    manipulator_jacobian,
    matrices_at_start,
    scraper_at_start,
    scraper_gicm,
    scraper_jacobian,
)
from linkwright.rings.papers.koul_parallel import parallel_subsystems
from linkwright.rings.papers.koul_runs import forced_manipulator, forced_scraper, free_manipulator, free_scraper

ENTRIES = (
    Entry("Sec. 1", "implicit approach O((n + m)^3), explicit O(n^3) + O(m^3)", (growth,), "rings/papers/chain_cost.py"),
    Entry("Fig. 1, (13)", "excavator: four loops, three subsystems, pattern of J", (excavator_blocks,), "topology/"),
    Entry("(1)-(7)", "Newton-Euler equations and DeNOC matrices of a subsystem", (complement,), "rings/papers/denoc.py"),
    Entry("(8)", "constraints at acceleration level", (acceleration_constraints,), "mechanics/constraints/"),
    Entry("(9)", "system approach", (both_eliminations, system_level_elimination), "mechanics/formulations/kkt.py"),
    Entry("(10), (11)", "system-level Lagrange multipliers (SLM)", (both_eliminations,), "mechanics/formulations/slm.py"),
    Entry("(12)-(24)", "subsystem-level multipliers (SSLM), blocks, GICM", (matrices_at_start,), "mechanics/formulations/sslm.py"),
    Entry("Fig. 2", "multipliers first, then an O(n) recursion on the trees", (recursion,), "mechanics/formulations/sslm.py"),
    Entry("Sec. 3", "only blocks of 2 x 2 and 3 x 3 are inverted", (subsystem_elimination,), "mechanics/formulations/sslm.py"),
    Entry("Sec. 3, remark", "subsystems can be solved in parallel once lambda is known", (parallel_subsystems,),
        "papers/Koul2013/README.md"),
    Entry(
        "Sec. 3, after (24)", "physical meaning of the GICM's blocks (i,i) and (i,k)", (scraper_gicm, manipulator_gicm),
        "mechanics/formulations/sslm.py",
    ),
    Entry("Sec. 4.1, (25)-(35)", "carpet scraper", (scraper_at_start, subsystem_elimination), "model/library/carpet-scraper.yaml"),
    Entry("Sec. 4.2, (36)-(45)", "3-RRR manipulator", (manipulator_at_start, both_eliminations), "model/library/3-rrr.yaml"),
    Entry(
        "A.1, A.2", "Jacobians of both examples, entry by entry", (scraper_jacobian, manipulator_jacobian), "rings/papers/koul_printed.py"
    ),
    Entry(
        "A.3-A.5, (46)-(55)", "block eliminations", (system_level_elimination, subsystem_elimination, whole_elimination),
        "rings/papers/koul_eliminations.py",
    ),
    Entry("Tables 1, 2", "lengths, masses, initial angles and speeds", (link_parameters, initial_configuration), "model/library/"),
    Entry("Fig. 7", "scraper, free and forced", (free_scraper, forced_scraper), "rings/papers/koul_runs.py"),
    Entry("Fig. 8", "3-RRR, free and forced", (free_manipulator, forced_manipulator), "rings/papers/koul_runs.py"),
    Entry(
        "Sec. 4", "results checked with RecurDyn",
        why="cannot be decided because RecurDyn and its model are not available; 'linkwright docs comparison' compares five other programs",
        verdict="undecided",
    ),
    Entry("Table 3", "times of six simulations, SLM against SSLM", (simulation_cost,), "rings/papers/koul_cost.py"),
    Entry("Table 4", "times of the multipliers, 20 to 30 % less", (multiplier_cost,), "rings/papers/koul_cost.py"),
    Entry("Sec. 4, footnote", "torque of the forced run comes from inverse dynamics", (forced_scraper,), "mechanics/inverse/"),
    Entry("Secs. 1, 3", "DAEs violate their constraints and need stabilization", (constraint_violation,), "simulation/stabilizers/"),
    Entry(
        "Sec. 5", "conclusions: GICM, smaller inversions, less time", (scraper_gicm, subsystem_elimination, simulation_cost),
        "papers/Koul2013/README.md",
    ),
)  # fmt: skip
