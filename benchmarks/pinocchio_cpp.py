"""Pinocchio's C++ algorithms on our mechanisms, compiled for this CPU from the headers in its wheel and timed in a loop of their own.

The converted model goes to the timing program as text: gravity; joints (kind, parent, placement as rotation by rows and
position, mass, center of mass, inertia about it as xx xy yy xz yz zz); loops (both joints with placements, the world axes
along which the loop is closed); driven entries of v; then q, v, tau and a. `constraintDynamics` runs with mu = 1e-10 and two
proximal steps, which gives accelerations to round-off; `inverse` is rnea with a solve for drive efforts and loop forces by
hand, since no function does that.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench.cases import BenchCase, BenchRow, Contender, Unavailable, attempt
from benchmarks.workshop import NATIVE, Conversation, Workshop, version
from linkwright.rings.exchange import PinocchioModel

ENGINE = "Pinocchio C++"
MU = {"constraintDynamics": (1e-12, 1e-10, 2), "lcaba": (1e-12, 1e-6, 10)}  # accuracy, mu, steps
FORWARD = {"constraintDynamics": "mu 1e-10, 2 steps", "lcaba": "mu 1e-6, at most 10 steps"}
KINDS = {"JointModelRevoluteUnaligned": "R", "JointModelPrismaticUnaligned": "P", "JointModelFreeFlyer": "free"}
# what Pinocchio's own build gives boost, so that it has room for lists of joints and long calls
DEFINES = (
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"),
    *("-DBOOST_FUSION_INVOKE_MAX_ARITY=12", "-DNDEBUG"),
)


def contenders(case: BenchCase, shop: Workshop) -> list[Contender | BenchRow]:
    """Forward dynamics by constraintDynamics and lcaba, and inverse dynamics by hand."""
    talks: list[tuple[PinocchioModel, Conversation]] = []

    def started() -> tuple[PinocchioModel, Conversation]:
        if not talks:
            version("pin")
            p = converted(case)
            talks.append((p, shop.talk([str(timing_program(shop)), str(model_file(case, p, shop))])))
        return talks[0]

    def forward(algorithm: str) -> list[Contender]:
        p, talk = started()
        answer = talk.ask(f"{algorithm} 0.0")
        row = BenchRow(f"{ENGINE} {algorithm}", version("pin"), case.name, "forward", note=FORWARD[algorithm])
        error = case.error(p.acceleration(case.state, answer[1:]))
        return [Contender(_with(row, error), lambda seconds: talk.ask(f"{algorithm} {seconds}")[0])]

    def inverse() -> list[Contender]:
        _, talk = started()
        answer = talk.ask("inverse 0.0")
        row = BenchRow(f"{ENGINE} rnea + J", version("pin"), case.name, "inverse", note="drive efforts and loop forces, dense LU")
        error = case.effort_error(answer[1 : 1 + len(case.tau)])
        return [Contender(_with(row, error), lambda seconds: talk.ask(f"inverse {seconds}")[0])]

    out: list[Contender | BenchRow] = []
    for algorithm in FORWARD:
        out += attempt(f"{ENGINE} {algorithm}", case.name, ("forward",), lambda a=algorithm: forward(a))
    return out + attempt(f"{ENGINE} rnea + J", case.name, ("inverse",), inverse)


def _with(row: BenchRow, accuracy: float) -> BenchRow:
    return BenchRow(row.engine, row.version, row.mechanism, row.quantity, accuracy=accuracy, note=row.note)


def converted(case: BenchCase) -> PinocchioModel:
    """The mechanism in Pinocchio on the same tree, so that accelerations compare entry by entry."""
    if find_spec("pinocchio") is None:
        raise Unavailable("the package 'pin' is not installed")
    return case.system.pinocchio()


# -------------------------------------------------------------------- compiling


def prefix() -> Path:
    """Where the wheel keeps headers and libraries."""
    spec = find_spec("pinocchio")
    if spec is None or spec.origin is None:
        raise Unavailable("the package 'pin' is not installed")
    for parent in Path(spec.origin).resolve().parents:
        if (parent / "include" / "pinocchio" / "config.hpp").is_file():
            return parent
    raise Unavailable("this installation of Pinocchio has no C++ headers")


def eigen() -> Path:
    """Eigen's headers: beside Pinocchio's, inside casadi's package, or of the system."""
    spec = find_spec("casadi")
    inside = [Path(spec.origin).parent / "include" / "eigen3"] if spec and spec.origin else []
    system = (Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3"))
    for place in (prefix() / "include" / "eigen3", *inside, *system):
        if (place / "Eigen" / "Core").is_file():
            return place
    raise Unavailable("Eigen's headers are not here (pip install cmeel-eigen)")


def program(shop: Workshop, name: str, flags: Iterable[str], libraries: Iterable[str] = (), headers: Iterable[Path] = ()) -> Path:
    """A C++ file of native/ built on Pinocchio's headers alone; only boost's serialization comes as a library.

    `headers` are others it includes: it is built again when they change."""
    lib = prefix() / "lib"
    sources = [NATIVE / name, NATIVE / "pinocchio_problem.hpp", *headers]
    include = [f"-I{prefix() / 'include'}", f"-I{eigen()}"]
    linked = [f"-L{lib}", "-lboost_serialization", f"-Wl,-rpath,{lib}", *libraries]
    return shop.build("c++", sources, ["-std=c++17", "-w", *flags, *DEFINES, *include], libraries=linked)


def timing_program(shop: Workshop) -> Path:
    return program(shop, "pinocchio_timing.cpp", ["-O3", "-march=native"])


# -------------------------------------------------------------------- the model as text


def model_file(case: BenchCase, p: PinocchioModel, shop: Workshop) -> Path:
    path = shop.directory / f"{case.name}.txt"
    path.write_text(model_text(case, p), encoding="utf-8")
    return path


def model_text(case: BenchCase, p: PinocchioModel) -> str:
    """The model, its loops and the state of a case, as the C++ programs read it."""
    m = p.model
    lines = [_numbers(m.gravity.linear), str(m.njoints - 1), *(_joint(m, i) for i in range(1, m.njoints)), str(len(p.constraints))]
    axes = (0, 1) if case.system.description.planar else (0, 1, 2)  # a planar mechanism lies in x and y
    for c, closing in zip(p.constraints, p.closings, strict=True):
        if closing.weld:
            raise Unavailable(f"the loop '{closing.name}' is a weld, which the timing program does not close")
        ends = f"{c.joint1_id} {_placement(c.joint1_placement)} {c.joint2_id} {_placement(c.joint2_placement)}"
        lines.append(f"point {ends} {len(axes)} {' '.join(map(str, axes))}")
    driven = [m.joints[m.getJointId(name)].idx_v for name in case.tau]
    lines.append(f"{len(driven)} {' '.join(map(str, driven))}")
    for x in (p.q(case.state), p.v(case.state), p.effort(case.state, dict(case.tau)), their_acceleration(case, p)):
        lines.append(f"{len(x)} {_numbers(x)}")
    return "\n".join(lines) + "\n"


def their_acceleration(case: BenchCase, p: PinocchioModel) -> np.ndarray:
    """Our accelerations in Pinocchio's coordinates: a = T a_ours + drift, T and drift from the maps the converter gives."""
    s, st = case.system, case.state
    T = np.array([p.v(s.state(st.q, e)) for e in np.eye(s.tree.nv)]).T
    drift = -T @ p.acceleration(st, np.zeros(p.model.nv))
    return T @ case.a + drift


def _joint(m: Any, i: int) -> str:
    """A joint with the inertia it carries; only joints along the axes of their frames, which Pinocchio treats fastest."""
    joint = m.joints[i]
    joint = joint.extract() if hasattr(joint, "extract") else joint
    kind = {"JointModelRevoluteUnaligned": "R", "JointModelPrismaticUnaligned": "P", "JointModelFreeFlyer": "free"}.get(
        joint.shortname(), ""
    )
    if kind in ("R", "P"):
        along = [name for name, e in zip("XYZ", np.eye(3), strict=True) if np.array_equal(joint.axis, e)]
        kind = kind + along[0] if along else ""
    if not kind:
        raise Unavailable(f"the timing program does not know {joint.shortname()} along this axis")
    body = m.inertias[i]
    I = np.array(body.inertia)
    inertia = (I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2])
    return f"{kind} {m.parents[i]} {_placement(m.jointPlacements[i])} {body.mass:.17g} {_numbers(body.lever)} {_numbers(inertia)}"


def _placement(X: Any) -> str:
    return f"{_numbers(X.rotation)} {_numbers(X.translation)}"


def _numbers(values: Any) -> str:
    return " ".join(f"{float(x):.17g}" for x in np.ravel(values))
