"""Claims of [Chaudhary2007] beside its examples: the spanning tree at once, the three methods, and the choice of cuts."""

from __future__ import annotations

import numpy as np

from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.chaudhary import scraper
from linkwright.system.mechanism import compile, load

METHODS = ("traditional", "system", "subsystem")


def spanning_tree() -> Item:
    """(13)-(16): all multipliers and the torque of the spanning tree from one system of 7 equations."""
    s, states = scraper()
    worst, sizes = 0.0, set()
    for st in states:
        tree, bodies = s.inverse(st, method="system"), s.inverse(st, method="traditional")
        sizes.add(tree.solved.sizes)
        worst = max(worst, abs(tree.tau["J1"] - bodies.tau["J1"]))
    return compared(
        "(13)-(16)",
        "spanning tree solved at once: six multipliers and the torque of the scraper",
        "7 equations N' w* = tau^e + tau^lambda",
        f"{'+'.join(str(n) for n, _ in next(iter(sizes)))} equations at 12 angles",
        worst if sizes == {((7, 7),)} else float("inf"),
        1e-9,  # N m of torques up to 100
        "the 21 x 21 Newton-Euler equations",
    )


def three_methods() -> Item:
    """Sec. 5: the three methods agree, and where no subsystem is determinate the group of them is solved together."""
    worst, coupled = 0.0, []
    for name, q in (("wiper", {"A": "40 deg"}), ("stewart", {}), ("excavator", {})):
        s = compile(load(name))
        st = s.assemble(q=q) if q else s.start
        found = {m: s.inverse(st, method=m) for m in METHODS}
        size = max(1.0, *(abs(x) for x in found["traditional"].tau.values()))
        worst = max(worst, *(abs(found[m].tau[d] - x) / size for m in METHODS for d, x in found["traditional"].tau.items()))
        coupled.append(f"{name} {'+'.join(str(n) for n, _ in found['subsystem'].solved.sizes)}")
    return compared(
        "Sec. 5",
        "three methods, with the system approach where no subsystem is determinate",
        "the same driving torques",
        f"sizes solved by subsystems: {', '.join(coupled)}",
        worst,
        1e-9,
        "the Newton-Euler equations of all bodies, relative",
        "the smallest determinate group is solved at once, which is the system approach only where it is all of them",
    )


def chosen_cuts() -> Item:
    """Sec. 2, citing graph theory: a spanning tree is found, and rows that depend on others are left out."""
    s = compile(load("parallelogram-chain", N=3))
    loops = len(s.description.joints) - (len(s.description.bodies) - 1)
    bennett = compile(load("bennett"))
    J = bennett.J(bennett.start)
    implied = len(J) - int(np.linalg.matrix_rank(J, tol=1e-9))
    found = bennett.forward(bennett.start)
    off = abs(len(s.tree.cuts) - loops) + abs(found.redundant - implied)
    return compared(
        "Sec. 2",
        "cuts by graph theory, dependent constraints eliminated (methods that the paper cites)",
        "one cut for each independent loop; redundant rows removed",
        f"{len(s.tree.cuts)} cuts in a chain of {loops} loops; {found.redundant} of {len(J)} rows of Bennett's linkage follow from others",
        off,
        0,
        "joints less bodies; the rank of J by singular values",
    )


def unknowns() -> Item:
    """Sec. 6.1: subsystem III has four unknowns, then I has two, then II one, the torque."""
    s, states = scraper()
    solved = [s.inverse(st, method="subsystem").solved.sizes for st in states]
    sizes = [n for n, _ in solved[0]]
    return compared(
        "Sec. 6.1",
        "unknowns of the scraper's subsystems, in the order in which they are solved",
        "lambda_2, lambda_3 of III (4), lambda_1 of I (2), tau_D of II (1)",
        f"{', then '.join(map(str, sizes))} at each of {len(states)} angles",
        float(sum(tuple(n for n, _ in x) != (4, 2, 1) for x in solved)),
        0.0,
        "the numbers of the text; angles at which they differ are counted",
    )
