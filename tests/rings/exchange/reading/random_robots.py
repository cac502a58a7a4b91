"""Random trees of links, written as URDF and as SDF: the same numbers, the frames of SDF in a random graph of `relative_to`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def row(x: np.ndarray) -> str:
    return " ".join(repr(float(v)) for v in x)


@dataclass(frozen=True)
class RandomLink:
    """A link and the joint that carries it; the first one has none."""

    name: str
    parent: str
    kind: str
    xyz: np.ndarray
    rpy: np.ndarray
    axis: np.ndarray
    mass: float
    com: np.ndarray
    turned: np.ndarray  # rpy of the inertia's axes
    inertia: np.ndarray

    @property
    def tensor(self) -> list[tuple[str, float]]:
        return [(f"i{'xyz'[i]}{'xyz'[j]}", float(self.inertia[i, j])) for i in range(3) for j in range(i, 3)]

    @property
    def pose(self) -> pin.SE3:
        return pin.SE3(pin.rpy.rpyToMatrix(*self.rpy), self.xyz)


def random_links(seed: int, links: int = 10, kinds: tuple[str, ...] = KINDS) -> list[RandomLink]:
    rng, out = np.random.default_rng(seed), []
    for i in range(links):
        kind = kinds[i % len(kinds)] if i else ""
        A = rng.normal(size=(3, 3))
        S = A @ A.T  # second moments of a cloud of points: an inertia that a body can have
        parent = "" if i == 0 else "base_link" if i == 1 else f"link{rng.integers(1, i)}"
        axis = np.array([0.0, 0.0, 1.0]) if kind == "planar" else rng.normal(size=3)  # Pinocchio has no other plane
        massless = kind == "fixed" and i % 2 == 0
        out.append(
            RandomLink(
                f"link{i}" if i else "base_link",
                parent,
                kind,
                rng.normal(size=3),
                rng.normal(size=3),
                axis / np.linalg.norm(axis),
                0.0 if massless else float(rng.uniform(0.5, 3.0)),
                rng.normal(size=3),
                rng.normal(size=3),
                np.zeros((3, 3)) if massless else 0.01 * (np.trace(S) * np.eye(3) - S),
            )
        )
    return out


def urdf(links: list[RandomLink]) -> str:
    text = ""
    for x in links:
        tensor = " ".join(f'{k}="{v!r}"' for k, v in x.tensor)
        inertial = (
            f'<inertial><origin xyz="{row(x.com)}" rpy="{row(x.turned)}"/><mass value="{x.mass!r}"/><inertia {tensor}/></inertial>'
            if x.mass
            else ""
        )
        text += f'<link name="{x.name}">{inertial}</link>\n'
        limit = '<limit lower="-9" upper="9" effort="5" velocity="2"/>' if x.kind in ("revolute", "prismatic") else ""
        if x.parent:
            text += (
                f'<joint name="j_{x.name}" type="{x.kind}"><parent link="{x.parent}"/><child link="{x.name}"/>'
                f'<origin xyz="{row(x.xyz)}" rpy="{row(x.rpy)}"/><axis xyz="{row(x.axis)}"/>{limit}</joint>\n'
            )
    return f'<?xml version="1.0"?>\n<robot name="random">\n{text}</robot>\n'


def sdf(links: list[RandomLink], seed: int, fixed: bool) -> str:
    """SDF 1.9 whose poses count from other links, joints or frames at random, as angles, degrees or quaternions."""
    rng = np.random.default_rng(1000 + seed)
    world, text = {"__model__": pin.SE3.Identity()}, ""
    for x in links:
        at = world[x.parent] * x.pose if x.parent else pin.SE3.Identity()
        base = str(rng.choice([*world]))
        tensor = "".join(f"<{k}>{v!r}</{k}>" for k, v in x.tensor)
        inner = _pose(pin.SE3(pin.rpy.rpyToMatrix(*x.turned), x.com), rng)
        text += f'<link name="{x.name}">{_pose(world[base].inverse() * at, rng, base)}'
        text += f"<inertial>{inner}<mass>{x.mass!r}</mass><inertia>{tensor}</inertia></inertial></link>\n"
        world[x.name] = at
        if not x.parent:
            continue
        frame, shifted = f"f_{x.name}", pin.SE3(pin.rpy.rpyToMatrix(*rng.normal(size=3)), rng.normal(size=3))
        world[frame] = at * shifted
        text += f'<frame name="{frame}" attached_to="{x.name}">{_pose(shifted, rng)}</frame>\n'
        joint = world[f"j_{x.name}"] = at * pin.SE3(pin.rpy.rpyToMatrix(*rng.normal(size=3)), np.zeros(3))
        axis = world[frame].rotation.T @ at.rotation @ x.axis
        text += (
            f'<joint name="j_{x.name}" type="{x.kind}">{_pose(world[base].inverse() * joint, rng, base)}<parent>{x.parent}</parent>'
            f'<child>{x.name}</child><axis><xyz expressed_in="{frame}">{row(axis)}</xyz></axis></joint>\n'
        )
    if fixed:
        text += '<joint name="hold" type="fixed"><parent>world</parent><child>base_link</child></joint>\n'
    return f'<?xml version="1.0"?>\n<sdf version="1.9"><model name="random">\n{text}</model></sdf>\n'


def _pose(X: pin.SE3, rng: np.random.Generator, base: str = "") -> str:
    to = f' relative_to="{base}"' if base else ""
    angles = pin.rpy.matrixToRpy(X.rotation)
    match int(rng.integers(3)):
        case 0:
            return f"<pose{to}>{row(X.translation)} {row(angles)}</pose>"
        case 1:
            return f'<pose{to} degrees="true">{row(X.translation)} {row(np.degrees(angles))}</pose>'
        case _:
            return f'<pose{to} rotation_format="quat_xyzw">{row(X.translation)} {row(pin.Quaternion(X.rotation).coeffs())}</pose>'
