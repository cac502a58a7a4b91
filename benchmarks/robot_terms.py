"""Cost of the terms that a controller of the whole body reads at one state from Python: `s.named_terms` against Pinocchio and numpy.

    python -m benchmarks.robot_terms [CASSIE.xml] [-o terms.csv]

Both give M, h of the closed loops, Jacobians with rates and poses of the trunk, two feet and the center of mass. Pinocchio gets the same
mechanism with its loops open, their Jacobian and its rate, and reduces by the columns of base and drives, as an expert writes it. Before
anything is timed, kinetic energy, acceleration in free flight and task velocities of both are compared. The programs take turns, and the
best of all rounds counts, because other work on the machine only makes a round slower.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import linkwright as lw

BIPED = Path(__file__).with_name("biped-six-loops.yaml")
ROUNDS, CALLS = 15, 200
READ = ("M", "h", "J", "rate", "com")
AGREE = 1e-6  # of the largest entry: round-off times the conditioning of inertia (1e6) and loops (1e4)


class Theirs:
    """Terms by Pinocchio at a state of ours, in its own velocities, those of the loops' ends eliminated."""

    def __init__(self, s: lw.System, st: lw.State, bodies: list[str], independent: tuple[str, ...]):
        self.pin: Any = import_module("pinocchio")
        p = s.pinocchio()
        pin, self.model, self.q, self.v = self.pin, p.model, p.q(st), p.v(st)
        self.ends = []
        for i, c in enumerate(p.constraints):
            pair = []
            for side, (joint, place) in enumerate(((c.joint1_id, c.joint1_placement), (c.joint2_id, c.joint2_placement))):
                pair.append(p.model.addFrame(pin.Frame(f"end {i} {side}", joint, place, pin.FrameType.OP_FRAME)))
            self.ends.append(pair)
        self.data = p.model.createData()
        self.bodies = [p.model.getFrameId(name, pin.FrameType.BODY) for name in bodies]
        heads = {name.partition(".")[0] if name.partition(".")[0] in p.model.names else name for name in independent}
        own = [j for j in range(1, p.model.njoints) if p.model.names[j] in heads]
        self.own = [p.model.joints[j].idx_v + k for j in own for k in range(p.model.joints[j].nv)]
        self.rest = [i for i in range(p.model.nv) if i not in self.own]
        pin.computeJointJacobians(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)
        K = np.concatenate([self._apart(pin.getFrameJacobian, i)[:3] for i in self.ends])
        self.regular = len(K) == len(self.rest) and np.linalg.cond(K[:, self.rest]) < 1e8
        self.N = (self._eliminated(K, K[:, 0]) if self.regular else _by_singular_values(K, K[:, 0]))[0]

    def __call__(self) -> tuple[Any, ...]:
        pin, model, data = self.pin, self.model, self.data
        axes = pin.LOCAL_WORLD_ALIGNED
        M, h = pin.crba(model, data, self.q), pin.nonLinearEffects(model, data, self.q, self.v)
        pin.computeJointJacobiansTimeVariation(model, data, self.q, self.v)
        pin.updateFramePlacements(model, data)
        J = [pin.getFrameJacobian(model, data, i, axes) for i in self.bodies]
        rates = [pin.getFrameJacobianTimeVariation(model, data, i, axes) @ self.v for i in self.bodies]
        poses = [data.oMf[i] for i in self.bodies]
        center = pin.jacobianCenterOfMass(model, data, self.q)
        pin.centerOfMass(model, data, self.q, self.v, 0.0 * self.v)
        K = np.concatenate([self._apart(pin.getFrameJacobian, i)[:3] for i in self.ends])
        bias = np.concatenate([self._apart(pin.getFrameJacobianTimeVariation, i)[:3] for i in self.ends]) @ self.v
        N, a = self._eliminated(K, bias) if self.regular else _by_singular_values(K, bias)
        tasks = np.concatenate([*J, center])
        return N.T @ M @ N, N.T @ (M @ a + h), tasks @ N, np.concatenate([*rates, data.acom[0]]) + tasks @ a, poses, data.com[0]

    def _apart(self, jacobian: Any, ends: list[int]) -> Any:
        first, second = (jacobian(self.model, self.data, i, self.pin.LOCAL_WORLD_ALIGNED) for i in ends)
        return first - second

    def _eliminated(self, K: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Motions of the loops by base and drives, and the acceleration at rest of these."""
        found = np.linalg.solve(K[:, self.rest], np.column_stack([K[:, self.own], bias]))
        N, a = np.zeros((self.model.nv, len(self.own))), np.zeros(self.model.nv)
        N[self.own, range(len(self.own))], N[self.rest], a[self.rest] = 1.0, -found[:, :-1], -found[:, -1]
        return N, a


def _by_singular_values(K: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same where rods may spin idly, so that base and drives do not determine the motion."""
    U, s, Vt = np.linalg.svd(K)
    rank = int((s > 1e-9 * s[0]).sum())
    return Vt[rank:].T, -Vt[:rank].T @ ((U.T @ bias)[:rank] / s[:rank])


def compared(s: lw.System, st: lw.State, bodies: list[str]) -> tuple[Callable[[], Any], Callable[[], Any], str]:
    """Calls of both, after a comparison."""
    terms = s.named_terms([*bodies, "com"])
    theirs = Theirs(s, st, bodies, terms.by)

    def ours() -> Any:
        x = terms(st)
        return [getattr(x, name) for name in READ], [x.pose(name) for name in bodies]

    x, (M, h, J, rate, _, com) = terms(st), theirs()
    speed = np.linalg.lstsq(theirs.N, theirs.v, rcond=None)[0]
    order = [i for k in range(len(bodies)) for i in (6 * k + 3, 6 * k + 4, 6 * k + 5, 6 * k, 6 * k + 1, 6 * k + 2)]  # angular first
    order += range(6 * len(bodies), 6 * len(bodies) + 3)
    falling = x.J @ np.linalg.solve(x.M, -(x.C + x.G)) + x.rate  # Pinocchio has no springs
    pairs = [
        (0.5 * speed @ M @ speed, 0.5 * x.speed @ x.M @ x.speed),
        ((J @ speed)[order], x.J @ x.speed),
        ((rate + J @ np.linalg.solve(M, -h))[order], falling),
        (com, x.com),
    ]
    off = max(float(np.abs(a - b).max() / (1.0 + np.abs(b).max())) for a, b in pairs)
    if not off < AGREE:
        raise SystemExit(f"the terms of {s.description.name} differ by {off:.1g}: nothing is timed.")
    return ours, theirs, f"{len(terms.by)} of {s.tree.nv} velocities, {s.tree.nc} rows of loops, agree to {off:.0e}"


def timed(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Microseconds of processor time of each call, in turns."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begin = time.process_time()
            for _ in range(CALLS):
                call()
            best[name] = min(best[name], (time.process_time() - begin) / CALLS)
    return {name: 1e6 * x for name, x in best.items()}


def measured(model: str) -> list[dict[str, Any]]:
    """Rows of one robot: biped-six-loops.yaml, or a file with Cassie's names of bodies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        s = lw.load(model).system
    names = {b.name for b in s.description.bodies}
    bodies = ["pelvis", "foot1", "foot2"] if "foot1" in names else ["cassie-pelvis", "left-foot", "right-foot"]
    st = s.assemble(v={name: 0.1 * (-1) ** i for i, name in enumerate(s.named_terms().by)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pinocchio has no springs, dampers and friction
        ours, theirs, note = compared(s, st, bodies)
    kernel = s.named_terms([*bodies, "com"]).kernel()
    calls = {"linkwright named_terms": ours, "Pinocchio and numpy": theirs}
    if kernel is not None:
        more = {"near": s.kernels.loops.skel.pack(st.references)}
        calls["linkwright native code alone"] = lambda: kernel.row((st.q, st.v), more)
    found = timed(calls)
    return [{"robot": Path(model).stem, "program": k, "us": round(x, 1), "note": note} for k, x in found.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="Cassie's MJCF of MuJoCo Menagerie, in addition to our biped")
    parser.add_argument("-o", dest="path", help="write the table as CSV")
    options = parser.parse_args()
    rows = [row for model in (str(BIPED), *options.models) for row in measured(model)]
    for row in rows:
        print(f"{row['robot']:16s} {row['program']:30s} {row['us']:8.1f} us   {row['note']}")
    if options.path:
        with open(options.path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
