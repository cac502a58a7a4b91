"""Small descriptions by graph alone: bodies, joints and little else, enough for topology."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

from linkwright.model.description import GROUND, Body, Cylinder, Description, Drive, Joint, Placement, Rod

SOLID = ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01))


def mechanism(
    joints: Iterable[tuple],
    *,
    plane: str | None = "xy",
    drives: Iterable[str] = (),
    bodies: Iterable[str] | None = None,
    replaced: Mapping[str, Body] | None = None,
    **more,
) -> Description:
    """Joints as (name, first, second) or (name, first, second, type); bodies in order of appearance."""
    made: list[Joint] = []
    names: dict[str, None] = {GROUND: None, **dict.fromkeys(bodies or ())}
    for i, (name, first, second, *kind) in enumerate(joints):
        names.setdefault(first)
        names.setdefault(second)
        place = Placement((float(i), 0.0, 0.0))  # every joint at a place of its own
        made.append(Joint(name, kind[0] if kind else "revolute", first, second, place))
    made_bodies = tuple((replaced or {}).get(n, Body(n, mass=1.0, inertia=SOLID)) for n in names)
    made_drives = tuple(Drive(joint, "speed", 1.0) for joint in drives)
    return Description("test", made_bodies, tuple(made), plane=plane, drives=made_drives, **more)


def four_bar(**more) -> Description:
    return mechanism(
        [("A", GROUND, "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker"), ("D", GROUND, "rocker")],
        **{"drives": ["A"], **more},
    )


def scraper(**more) -> Description:
    """Carpet scraping mechanism: crank, rocker, coupler and a pantograph of four links; J1 drives."""
    return mechanism(
        [
            ("J1", GROUND, "crank"),
            ("J2", GROUND, "rocker"),
            ("J3", "rocker", "coupler"),
            ("J4", GROUND, "arm"),
            ("J5", "arm", "link5"),
            ("J6", "arm", "tool"),
            ("J7", "tool", "link7"),
            ("J8", "crank", "coupler"),
            ("J9", "link5", "coupler"),
            ("J10", "link5", "link7"),
        ],
        **{"drives": ["J1"], **more},
    )


def three_rrr(**more) -> Description:
    """Planar parallel robot: three legs of two links and a platform; the ground joints drive."""
    return mechanism(
        [
            ("J1", GROUND, "link1"),
            ("J2", "link1", "link2"),
            ("J3", "link2", "platform"),
            ("J4", "platform", "link4"),
            ("J5", "platform", "link5"),
            ("J6", "link6", "link4"),
            ("J7", "link7", "link5"),
            ("J8", GROUND, "link6"),
            ("J9", GROUND, "link7"),
        ],
        **{"drives": ["J1", "J8", "J9"], **more},
    )


def excavator(**more) -> Description:
    """Front of a hydraulic excavator: 11 moving bodies, 15 joints, three cylinders as sliders."""
    edges = [
        (1, 0, 1), (2, 1, 2), (15, 2, 6), (6, 0, 6), (3, 2, 3), (4, 3, 4, "prismatic"), (5, 4, 7), (8, 7, 5), (7, 5, 6), (14, 5, 9),
        (13, 9, 8, "prismatic"), (12, 8, 6), (9, 0, 10), (10, 10, 11, "prismatic"), (11, 11, 2),
    ]  # fmt: skip

    def body(i: int) -> str:
        return f"#{i}" if i else GROUND

    joints = [(str(name), body(a), body(b), *kind) for name, a, b, *kind in edges]
    return mechanism(joints, **{"drives": ["4", "13", "10"], **more})


def stewart(**more) -> Description:
    """6-UPS platform in space: universal at ground, driven slider, spherical at the platform."""
    joints: list[tuple] = []
    for i in range(1, 7):
        joints += [
            (f"U{i}", GROUND, f"lower{i}", "universal"),
            (f"P{i}", f"lower{i}", f"upper{i}", "prismatic"),
            (f"S{i}", f"upper{i}", "platform", "spherical"),
        ]
    return mechanism(joints, **{"plane": None, "drives": [f"P{i}" for i in range(1, 7)], **more})


def scissor(stages: int, **more) -> Description:
    """Scissor ladder: each stage two crossed bars; pins at the crossings and between stages; a slider at the foot."""
    joints: list[tuple] = [("foot", GROUND, "left1"), ("shoe", GROUND, "right1", "pin_slot")]
    for i in range(1, stages + 1):
        joints.append((f"mid{i}", f"left{i}", f"right{i}"))
        if i < stages:
            joints += [(f"r{i}", f"left{i}", f"right{i + 1}"), (f"l{i}", f"right{i}", f"left{i + 1}")]
    return mechanism(joints, **more)


def chain_of_loops(count: int, **more) -> Description:
    """A row of parallelograms on ground: cranks side by side, a coupler between neighbors."""
    joints: list[tuple] = [("A0", GROUND, "crank0")]
    for i in range(1, count + 1):
        joints += [(f"A{i}", GROUND, f"crank{i}"), (f"B{i}", f"crank{i - 1}", f"bar{i}"), (f"C{i}", f"bar{i}", f"crank{i}")]
    return mechanism(joints, **more)


def grid(rows: int, columns: int, **more) -> Description:
    """A net of bars in which every mesh is a loop of four; its first row hangs on ground."""
    joints: list[tuple] = [(f"g{c}", GROUND, f"b0_{c}") for c in range(columns)]
    for r in range(rows):
        for c in range(columns):
            if c + 1 < columns:
                joints.append((f"h{r}_{c}", f"b{r}_{c}", f"b{r}_{c + 1}"))
            if r + 1 < rows:
                joints.append((f"v{r}_{c}", f"b{r}_{c}", f"b{r + 1}_{c}"))
    return mechanism(joints, **more)


def random_mechanism(seed: int, *, bodies: int = 8, loops: int = 3) -> Description:
    """A random connected graph with random joint types, directions, drives, rods and cylinders, in a plane or in space."""
    rng = random.Random(seed)
    planar = rng.random() < 0.5
    kinds = ["revolute", "revolute", "prismatic"] + (["pin_slot"] if planar else ["spherical", "universal", "cylindrical"])
    names = [GROUND] + [f"b{i}" for i in range(1, bodies + 1)]
    pairs = [(names[rng.randrange(max(0, i - 4), i)], names[i]) for i in range(1, len(names))]
    pairs += [tuple(rng.sample(names, 2)) for _ in range(loops)]
    rng.shuffle(pairs)
    joints = [(f"j{i}", *(pair if rng.random() < 0.5 else pair[::-1]), rng.choice(kinds)) for i, pair in enumerate(pairs)]
    drives = [name for name, *_ in joints if rng.random() < 0.15]
    ends = [tuple((b, "P") for b in rng.sample(names, 2)) for _ in range(2)]
    return mechanism(
        joints,
        plane="xy" if planar else None,
        drives=drives,
        bodies=names[1:],
        rods=(Rod("rod", ends[0], 1.0),) if rng.random() < 0.3 else (),
        cylinders=(Cylinder("ram", ends[1]),) if rng.random() < 0.3 else (),
    )
