"""Chaudhary and Saha beside the scraper: which subsystems of a four-bar are determinate, the RSSR mechanism as it is and as a
chain of seven hinges, and a base whose motion is given.

Dimensions of four-bar and RSSR are our own: the paper gives none.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from linkwright.api import compile, compiled_of, curve_extremes, load
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.chaudhary import scraper
from linkwright.rings.papers.denoc import denoc, twist_propagation, twists
from linkwright.rings.papers.figures import FigureCurve, FigurePanel, drawing

# the RSSR's crank torque at 0, 30, ... 330 deg, N m (tests/data/generate/chaudhary_rssr.py)
RSSR_TORQUE = (
    -1.586445394539, 0.90039233076228, 1.9604674839324, 0.6486146062237, -1.0412581284132, -2.2739325367558,
    -2.6772165903462, -1.9831954036971, -0.28911888457628, 1.8170428542331, 3.2220243742322, 1.3017543631514,
)  # fmt: skip
RSSR_SPEED = 2.0 * math.pi / 0.6  # rad/s: the period of Table 3
ANGLES = range(0, 360, 30)

# a four-bar on a base that slides and turns: coordinates, speeds, accelerations of its three drives (m, rad, s)
BASE = {
    "q": {"slide": 0.2, "turn": 0.3, "A": 1.0},
    "v": {"slide": 0.8, "turn": -1.1, "A": 6.0},
    "a": {"slide": 2.5, "turn": 4.0, "A": -3.0},
}

METHODS = ("traditional", "system", "subsystem")


# -------------------------------------------------------------------- determinacy
def four_bar(cut: str) -> tuple[float, list[int]]:
    """Torque of the crank and sizes solved one after another, with one pin cut."""
    s = compile(load("four-bar"), cuts=[cut])
    loads = s.inverse(s.assemble(q={"A": 0.7}, v={"A": 3.0}), method="subsystem")
    return loads.tau["A"], [n for n, _ in loads.solved.sizes]


def determinacy() -> Item:
    """Cut between crank and coupler: coupler and rocker are determinate. Cut at the rocker: nothing is, all is solved at once."""
    (one, sizes_one), (two, sizes_two) = four_bar("B"), four_bar("C")
    return compared(
        "Fig. 3(a), (b)",
        "four-bar cut at the crank's pin (a) or the rocker's (b): determinate subsystems",
        "(a) I with 2 unknowns, then II with 1; (b) both indeterminate",
        f"(a) solved in steps of {' and '.join(map(str, sizes_one))}, (b) in one of {' and '.join(map(str, sizes_two))}; "
        f"the same torque {one:.6f} N m",
        abs(one - two) if (sizes_one, sizes_two) == ([2, 1], [3]) else math.inf,
        1e-10,
        "one cut against the other",
    )


# -------------------------------------------------------------------- RSSR
@cache
def rssr_loads(model: str, cut: str, method: str = "subsystem") -> list[Any]:
    """Inverse dynamics at the twelve angles."""
    s = compile(load(model), cuts=[cut])
    states = [s.assemble(q={"crank": math.radians(deg)}, v={"crank": RSSR_SPEED}) for deg in ANGLES]
    return [s.inverse(st, method=method) for st in states]


@cache
def rssr_turn() -> Any:
    return load("rssr").cycle(steps=180, speed=RSSR_SPEED)


def rssr() -> Item:
    found = [loads.tau["crank"] for loads in rssr_loads("rssr", "S")]
    torque = curve_extremes(rssr_turn().t, rssr_turn()["crank.torque"])
    return compared(
        "Sec. 6.2, torque",
        "RSSR: crank torque",
        "compared with Bagci, not shown; no dimensions given",
        f"12 angles, dimensions of our own; over the cycle from {torque.low:.3f} to {torque.high:.3f} N m",
        float(np.abs(np.subtract(found, RSSR_TORQUE)).max()),
        1e-9,
        "18 x 18 Newton-Euler equations, closed form and power balance",
        figure=drawing(_rssr_panels, over="crank angle [deg]", title="Chaudhary and Saha, Sec. 6.2: RSSR, dimensions of our own"),
    )


def _rssr_panels() -> list[FigurePanel]:
    turn = rssr_turn()
    angle = np.degrees(np.asarray(turn["crank"]))
    force = np.asarray(turn["S.on.crank"])
    twelve = np.array([loads.reaction("S", on="crank").force for loads in rssr_loads("rssr", "S", "traditional")])
    lines = [FigureCurve(angle, force[:, i], f"lambda_{x}", color=i) for i, x in enumerate("xyz")]
    points = [FigureCurve(list(ANGLES), twelve[:, i], "", "points", i) for i in range(3)]
    return [
        FigurePanel(
            "torque [N m]", [FigureCurve(angle, turn["crank.torque"], "drive"), FigureCurve(list(ANGLES), RSSR_TORQUE, "", "points", 0)]
        ),
        FigurePanel("force on the crank [N]", [*lines, *points], "circles: all Newton-Euler equations at once"),
    ]


def rssr_forces() -> Item:
    pairs = zip(rssr_loads("rssr", "S"), rssr_loads("rssr", "S", "traditional"), strict=True)
    worst = max(float(np.abs(a.wrench[j].force - b.wrench[j].force).max()) for a, b in pairs for j in a.wrench)
    return compared(
        "Sec. 6.2, forces",
        "RSSR: forces of all joints",
        "lambda compared with Bagci, not shown",
        "4 joints at 12 angles",
        worst,
        1e-9,
        "the 18 x 18 Newton-Euler equations",
    )


def seven_hinges() -> Item:
    worst, moment = 0.0, 0.0
    for one, seven in zip(rssr_loads("rssr", "S"), rssr_loads("rssr-7r", "S3"), strict=True):
        ball, hinge = one.reaction("S", on="crank"), seven.reaction("S3", on="crank")
        worst = max(worst, abs(one.tau["crank"] - seven.tau["crank"]), float(np.abs(ball.force - hinge.force).max()))
        moment = max(moment, float(np.abs(hinge.moment).max()))
    return compared(
        "Figs. 9, 10",
        "RSSR as seven hinges with massless links: force between links 5 and 6, and torque",
        "equivalent; n_56 = 0",
        f"the same at 12 angles; moment at the cut hinge at most {moment:.0e} N m",
        max(worst, moment),
        1e-9,
        "the mechanism with a ball and a universal joint",
        "link 2 is massless too, which is not said; rows 4 and 5 of Subsystem II then read 0 = 0",
    )


# -------------------------------------------------------------------- twist propagation
def propagation_gap(s: Any, st: Any) -> tuple[float, int]:
    """How far (19) is from holding for all triples of bodies of the subsystems, and how many triples that is.

    A_ij is also held against twists: with all joints from j to i locked, body i moves as A_ij says of body j.
    """
    core = compiled_of(s)
    worst, triples = 0.0, 0
    m = s.motion(st)
    for sub in core.skel.tree.subsystems:
        A = {(i, j): twist_propagation(m.X[j].p, m.X[i].p) for i in sub.nodes for j in sub.nodes}
        for i, j in A:
            gaps = [A[i, j] @ A[j, k] - A[i, k] for k in sub.nodes]
            gaps += [A[i, i] - np.eye(6), np.linalg.inv(A[i, j]) - A[j, i], np.array([np.linalg.det(A[i, j]) - 1.0])]
            worst, triples = max(worst, *(float(np.abs(x).max()) for x in gaps)), triples + len(sub.nodes)
        for i in sub.nodes:
            for j in core.skel.tree.support(i):
                rates = st.v.copy()
                for node in core.skel.tree.support(i)[core.skel.tree.support(i).index(j) + 1 :]:
                    rates[core.skel.tree.nodes[node].v] = 0.0
                locked = twists(core.skel, s.motion(s.state(st.q, rates)), sub.index).reshape(-1, 6)
                gap = locked[sub.nodes.index(i)] - A[i, j] @ locked[sub.nodes.index(j)]
                worst = max(worst, float(np.abs(gap).max()))
    return worst, triples


def propagation() -> Item:
    scraper = compile(load("carpet-scraper-2007"), cuts=["J8", "J9", "J10"])
    space = compile(load("rssr"), cuts=["S"])
    found = [
        propagation_gap(scraper, scraper.assemble(q={"J1": 1.0}, v={"J1": 4.712})),
        propagation_gap(space, space.assemble(q={"crank": 1.0}, v={"crank": RSSR_SPEED})),
    ]
    return compared(
        "(18), (19)",
        "twist propagation matrices: A_ij A_jk = A_ik, A_ii = 1, the inverse of A_ij is A_ji, det A_ij = 1",
        "the equations",
        f"{sum(n for _, n in found)} triples of bodies of the scraper and the RSSR, of one branch or of two",
        max(gap for gap, _ in found),
        1e-12,
        "the equations, and twists of bodies whose joints in between are locked",
        "(19) is stated for bodies in series; it holds for any three",
    )


# -------------------------------------------------------------------- a base that moves
def _on_a_base(gravity: tuple[float, float], moving: bool) -> Any:
    """The built-in four-bar's links, on the ground or on a frame that slides along x and turns about A."""
    frame = {"pins": ["A", "D"], "points": {"A": [0, 0], "D": [1, 0]}}
    carriage = {
        "ground": {"points": {"O": [0, 0]}},
        "sled": {"points": {"O": [0, 0]}, "mass": 2, "com": "O", "inertia": 0},
        "frame": {**frame, "mass": 3, "com": [0.5, 0.1], "inertia": 0.4},
    }
    return load(
        {
            "name": "four-bar-on-a-base" if moving else "four-bar-on-ground",
            "plane": "xy",
            "gravity": list(gravity),
            "drawing": {"A": [0, 0], "B": [0.15, 0.26], "C": [0.93, 0.71], "D": [1, 0]},
            "bodies": {
                **(carriage if moving else {"ground": frame}),
                "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": 0.3}, "mass": 0.3},
                "coupler": {"pins": ["B", "C"], "along": {"B": 0, "C": 0.9}, "mass": 0.9},
                "rocker": {"pins": ["D", "C"], "along": {"D": 0, "C": 0.75}, "mass": 0.75},
            },
            **({"joints": _CARRIAGE} if moving else {}),
        }
    )


_CARRIAGE = {
    "slide": {"type": "prismatic", "connect": ["ground.O", "sled.O"], "axis": [1, 0]},
    "turn": {"type": "revolute", "connect": ["sled.O", "frame.A"]},
}
_ON = {"A": "crank", "B": "coupler", "C": "rocker", "D": "rocker"}  # the body whose pin force is compared


def moving_base() -> Item:
    drives = ["slide", "turn", "A"]
    s = compile(_on_a_base((0.0, -9.81), True), cuts=["B"])
    sliding = s.assemble(q={**BASE["q"], "turn": 0.0}, v={**BASE["v"], "turn": 0.0})
    push = 2.5  # m/s^2: acceleration of the base where it only slides
    found = s.inverse(sliding, {"slide": push, "turn": 0.0, "A": BASE["a"]["A"]}, drives=drives)
    fixed = compile(_on_a_base((-push, -9.81), False), cuts=["B"])
    still = fixed.inverse(fixed.assemble(q={"A": BASE["q"]["A"]}, v={"A": BASE["v"]["A"]}), {"A": BASE["a"]["A"]}, drives=["A"])
    off = max(abs(found.tau["A"] - still.tau["A"]), *(_apart(found, still, joint) for joint in _ON))
    st = s.assemble(q=BASE["q"], v=BASE["v"])
    a, b = (s.inverse(st, BASE["a"], drives=drives, method=method) for method in ("subsystem", "traditional"))
    off = max(off, abs(a.tau["A"] - b.tau["A"]), *(_apart(a, b, joint) for joint in _ON), _twist_gap(s, st))
    return compared(
        "(1), (24)",
        "base with known motion, t_0 not zero: a four-bar on a base that slides and turns",
        "the equations",
        f"crank torque {found.tau['A']:.6f} N m on a base pushed by {push} m/s^2, {a.tau['A']:.6f} N m on one that also turns",
        off,
        1e-10,
        "a fixed base under tilted gravity, the Newton-Euler equations, and the twists of (24)",
        "(1) adds 6 for the base, Sec. 6.1 counts none for a fixed one: joints that carry the base are counted here, one by one",
    )


def _apart(a: Any, b: Any, joint: str) -> float:
    return float(np.abs(a.reaction(joint, on=_ON[joint]).force - b.reaction(joint, on=_ON[joint]).force).max())


def _twist_gap(s: Any, st: Any) -> float:
    """t = A_i0 t_0 + N_l N_d theta' of the bodies above the base, against twists from poses and rates of all joints."""
    core = compiled_of(s)
    (sub,) = core.skel.tree.subsystems
    D, all_twists = denoc(core.skel, st.q, st.v, sub.index), twists(core.skel, s.motion(st), sub.index)
    base = list(sub.nodes).index(core.skel.node("frame"))
    carried = [i for i, node in enumerate(sub.nodes) if node not in (core.skel.node("frame"), core.skel.node("sled"))]
    rates = D.N_d @ st.v[sub.v]

    def block(i: int) -> slice:
        return slice(6 * i, 6 * i + 6)

    gaps = [
        all_twists[block(i)]
        - D.N_l[block(i), block(base)] @ all_twists[block(base)]
        - sum(D.N_l[block(i), block(j)] @ rates[block(j)] for j in carried)
        for i in carried
    ]
    return float(np.abs(gaps).max())


# Claims of [Chaudhary2007] beside its examples: the spanning tree at once, the three methods, and the choice of cuts.


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
    J = bennett.closure(bennett.start).J
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
