"""The equations of one mechanism as functions of arrays: what the kernels are made of, and their reference on floats.

Every function takes plain arrays of any scalar (float, complex, traced) in one order, q, v, ... , t, near, and returns
named arrays. `near` are reference coordinates of the cut joints, to count whole turns. Nothing here decides a rank: a
`EliminationPlan`, found from numbers beforehand, says in which order to eliminate, which rows are independent and how large pivots
normally are; `margin` turns negative where a pivot falls far below that, and then the rank-revealing path must take over.

    forward        a, lam for efforts tau              inverse     drive efforts u and lam for accelerations a
    loads          u, lam and every joint's reaction   kinematics  one Newton step, v and a for driven coordinates
    projection     one step back onto the loops, in the mass metric, for positions and velocities
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.kernels.equations import by_name
from linkwright.kernels.equations.kinematic import Arrays, largest, normalized, size
from linkwright.kernels.equations.residuals import ResidualEquations
from linkwright.kernels.equations.tasks import TaskRow, task_motion
from linkwright.mechanics.closing.idle_motions import idle_rows, let_go
from linkwright.mechanics.constraints.driver import EliminationPlan, Order, driven
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.reactions import constraint_part, every_joint_wrench, labeled, separating
from linkwright.mechanics.dynamics.terms import Terms, along_world, terms, to_joint_axes
from linkwright.mechanics.formulations import RawSolution, traced
from linkwright.mechanics.formulations.kkt import saddle
from linkwright.mechanics.formulations.sslm import Factors, factorize
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.problem import unit_pushes
from linkwright.mechanics.kinematics.motion import motion, node_motion, pose_of, qdot
from linkwright.numerics.scalars import common_type, eliminate, minimum
from linkwright.numerics.tolerances import DEPENDENT

__all__ = ["EliminationPlan", "Equations", "driven", "stabilized"]


@dataclass(frozen=True)
class Equations(ResidualEquations):
    """A mechanism's loops, forces and drives with the plan to solve them by."""

    # ---------------------------------------------------------------- parts

    def _terms(self, q: Any, v: Any, t: Any, cut: Any, *, body_axes: bool = True) -> Terms:
        near, skel = self.loops.skel.unpack(q, cut), self.loops.skel
        m = motion(skel, q, v, world_axes=body_axes and self.plan.body_axes)
        at = Instant.moving(skel, m, t[0], near)
        applied = at.pushes(self.forces)
        loops = replace(self.loops, row_axes=self.plan.axes)
        return terms(loops, q, v, t[0], near, applied, body_axes=m if body_axes and self.plan.body_axes else None, armature=self.armature)

    def joint_axis_terms(self, q: Any, v: Any, t: Any, cut: Any) -> Terms:
        """All terms in the standard rows and axes, forces applied."""
        return self._terms(q, v, t, cut, body_axes=False)

    def place(self, q: Any, v: Any, t: Any, near: Any) -> Instant:
        """The instant of a state with the closure of the loops, the forces acting."""
        return _place(self.joint_axis_terms(q, v, t, near))

    def _solve(self, T: Terms, tau: Any, formulation: str) -> RawSolution:
        """Accelerations and multipliers of the terms' rows by one formulation, or by the saddle-point matrix as a whole."""
        if self.plan.saddle is not None:
            return _saddle(T, tau, self.plan.saddle)
        method = traced(formulation)
        assert method is not None, f"{formulation} is compiled"
        return method(self.ordered(T), tau)

    def ordered(self, T: Terms) -> Terms:
        """The terms with the plan's order of elimination, and in the loops or single rows it counts."""
        return replace(T.by_rows() if self.plan.single else T, order=self.plan.order)

    # ---------------------------------------------------------------- dynamics

    def terms(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """M, h, J, k, b, phi as they are: the matrices of the rank-revealing formulations."""
        T = self._terms(q, v, t, near, body_axes=False)
        c = _place(T).closure
        return {"M": T.M, "h": T.h, "J": T.J, "k": T.k, "b": c.b, "phi": c.phi}

    def blocks(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """The same without what is always zero, M by subsystem and J by loop and subsystem, and `flow`, the second and third of
        `powers`."""
        T = self.joint_axis_terms(q, v, t, near)
        place = _place(T)
        c, flow = place.closure, self._given_and_lost(place)

        def together(parts: Sequence[Any]) -> Any:
            return np.concatenate([np.ravel(x) for x in parts]) if parts else np.zeros(0)

        J = together([T.blocks[key] for key in sorted(T.blocks)])
        return {"M": together(T.I), "h": T.h, "J": J, "k": T.k, "b": c.b, "phi": c.phi, "flow": np.array(flow)}

    def forward(self, q: Any, v: Any, tau: Any, t: Any, near: Any, *, formulation: str = "sslm", gains: Any = None) -> Arrays:
        """a, lam. `gains` (alpha, beta) add Baumgarte's alpha (J v + b) + beta phi to k."""
        T = self._terms(q, v, t, near)
        place, body_axes = _place(T), self.plan.body_axes
        if gains is not None:
            T = stabilized(T, along_world(place, v) if body_axes else v, gains)
        if not body_axes:
            return self._redundant(T, tau, formulation)
        raw = self._solve(T, along_world(place, tau), formulation)
        a, lam = to_joint_axes(place, raw.a, raw.lam)
        return {"a": a, "lam": lam, "margin": self.margin(_label(formulation, self.plan), raw.watch)}

    def accelerations(self, q: Any, v: Any, tau: Any, t: Any, near: Any) -> Arrays:
        """`forward` with the dimensionless gap of the loops, of positions or velocities, which says whether the state is on them."""
        c, rows = self.loops.at(q, v, t[0], self.loops.skel.unpack(q, near)), self.loops.row_scale
        rate = c.b
        for (i, j), block in c.blocks.items():
            rate = np.concatenate([rate[: c.rows[i].start], rate[c.rows[i]] + block @ v[c.columns[j]], rate[c.rows[i].stop :]])
        fastest = -minimum(-largest(v / self.loops.columns), -1.0)
        gaps = [largest(c.phi / rows), largest(rate / rows) / fastest]
        return {**self.forward(q, v, tau, t, near), "gap": np.array([largest(gaps)])}

    def driven_loads(self, q: Any, v: Any, acceleration: Any, t: Any, near: Any) -> Arrays:
        """`given_loads` for accelerations of the drives, completed on the loops; also these."""
        here, single = self.loops.skel.unpack(q, near), self.velocity_drives
        d = self._driven(q, v, self._laws(q, v, here, acceleration), here, with_velocities=True)
        given = [x for name, x in zip(self.drives, acceleration, strict=True) if name in single]
        a, pivots = d.solve(-d.c.k, np.concatenate([self._resting(q, v), np.array(given)]) if given else self._resting(q, v))
        out = self._placed_loads(q, v, a, t, near)
        gap = np.array([largest(d.c.phi[: self.loops.skel.tree.nc] / self.loops.row_scale)])
        margin = minimum(out.pop("margin")[0], self.margin("kinematics", [(size(p), p) for p in pivots])[0])
        return {"a": a, **out, "gap": gap, "margin": np.array([margin])}

    def given_loads(self, q: Any, v: Any, a: Any, t: Any, near: Any) -> Arrays:
        """`loads` with the points of the joints, the gap of the loops, and `off`, the share of the accelerations that opens them."""
        c, rows = self.loops.at(q, v, t[0], self.loops.skel.unpack(q, near)), self.loops.row_scale
        off = largest((c.J @ a + c.k) / rows) / (1.0 + largest(a / self.loops.columns))
        return {**self._placed_loads(q, v, a, t, near), "gap": np.array([largest(c.phi / rows)]), "off": np.array([off])}

    def _placed_loads(self, q: Any, v: Any, a: Any, t: Any, near: Any) -> Arrays:
        """`loads`, and the points of the joints in the world."""
        skel, m = self.loops.skel, motion(self.loops.skel, q, v)
        seconds = [(skel.node(j.second), j) for j in skel.tree.description.joints]
        points = [(node_motion(skel, m, i)[0] @ pose_of(j.frame_second)).p + skel.origin(i) for i, j in seconds]
        return {**self.loads(q, v, a, t, near), "point": np.array(points).reshape(-1, 3)}

    def reduced(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """Equations of motion in the drives' coordinates x alone: M x'' + h = drive torques and forces. `S`: v = S x', the basis of the
        motions of the loops; `a`: accelerations at x'' = 0. Idle spins rest in S and a, and are free in M and h."""
        here = self.loops.skel.unpack(q, near)
        d = self._driven(q, v, self._laws(q, v, here, [0.0] * len(self.drives)), here)
        (S, pivots), (a, _) = self._speeds(d), d.solve(-d.c.k, self._resting(q, v))
        T = self._terms(q, v, t, near, body_axes=False)
        margin = self.margin("kinematics", [(size(p), p) for p in pivots])
        free = S
        if self.plan.spinning:
            N = idle_rows(self.plan, self.loops.skel, _place(T).motion).rows.T
            free = S + N @ let_go(N, T.M, T.M @ S)
        return {"M": free.T @ T.M @ free, "h": free.T @ (T.M @ a + T.h), "S": S, "a": a, "margin": margin}

    def operational(self, q: Any, v: Any, t: Any, near: Any, *, tasks: Sequence[TaskRow]) -> Arrays:
        """Equations of motion in the velocities of a body or point."""
        return operational(self, q, v, t, near, tasks)

    def task_terms(self, q: Any, v: Any, near: Any, *, tasks: Sequence[TaskRow] = ()) -> Arrays:
        """Rows of the loops, the independent velocities and the tasks in all coordinates; see `by_name`."""
        return by_name.task_terms(self, q, v, near, tasks)

    def named_motion(self, q: Any, v: Any, near: Any, *, asked: by_name.Asked) -> Arrays:
        """Terms by name without masses; see `by_name`."""
        return by_name.named_motion(self, q, v, near, asked)

    def named_terms(self, q: Any, v: Any, t: Any, near: Any, *, asked: by_name.Asked) -> Arrays:
        """All terms by name of one call; see `by_name`."""
        return by_name.named_terms(self, q, v, t, near, asked)

    def inertia_terms(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """Inertia, Coriolis and centrifugal efforts, weight, forces and momentum, each apart; see `by_name`."""
        return by_name.inertia_terms(self, q, v, t, near)

    def responses(self, q: Any, v: Any, B: Any, t: Any, near: Any, *, multipliers: bool = True) -> Arrays:
        """Response to the drives, affine in their efforts u: accelerations a + G u and multipliers lam + L u, columns of B being the
        drives' directions in v. Without `multipliers` L is left out."""
        T = self._terms(q, v, t, near)
        base = self.forward(q, v, 0.0 * T.h, t, near)
        G, L = [], []
        for column in B.T:
            a, lam, _ = self._alone(T, column)
            if not self.plan.body_axes and multipliers:  # of redundant rows those of least reactions: affine as well
                lam = self._redundant(T, column, "sslm")["lam"] - base["lam"]
            G.append(a)
            L.append(lam)
        out = {"a": base["a"], "lam": base["lam"], "G": np.array(G).T.reshape(T.nv, len(B.T)), "margin": base["margin"]}
        return {**out, "L": np.array(L).T.reshape(len(base["lam"]), len(B.T))} if multipliers else out

    def _alone(self, T: Terms, tau: Any) -> tuple[Any, Any, Any]:
        """Answer to an effort with all else at rest and without weight: accelerations, multipliers of independent rows, pivots."""
        rows = T if self.plan.keep is None else T.select(list(self.plan.keep))
        calm = replace(rows, k_parts=tuple(0.0 * k for k in rows.k_parts), bias=tuple(0.0 * h for h in rows.bias))
        place, turned = _place(T), self.plan.body_axes
        raw = self._solve(calm, along_world(place, tau) if turned else tau, "sslm")
        return (*(to_joint_axes(place, raw.a, raw.lam) if turned else (raw.a, raw.lam)), raw.watch)

    def response(self, q: Any, v: Any, tau: Any, t: Any, near: Any) -> Arrays:
        """Response to an effort alone: changes of dq/dt and v, and the power that it takes from the drivers."""
        T = self._terms(q, v, t, near)
        a, lam, watch = self._alone(T, tau)
        first, power = len(_place(T).closure.b) - len(self.drivers), 0.0
        for i, row in enumerate(range(len(_place(T).closure.b)) if self.plan.keep is None else self.plan.keep):
            power = power - _place(T).closure.b[row] * lam[i] if row >= first else power
        rate, margin = qdot(self.loops.skel, q, a), self.margin(_label("sslm", self.plan), watch)
        return {"dq": rate, "dv": a, "power": np.array([power]), "margin": margin}

    def _redundant(self, T: Terms, tau: Any, formulation: str) -> Arrays:
        """On independent rows; then, of all multipliers that give the same motion, those of least reactions in all joints."""
        keep, place = list(self.plan.keep or ()), _place(T)
        retained = T.select(keep)
        raw = self._solve(retained, tau, formulation)
        calm = replace(retained, k_parts=tuple(0.0 * k for k in retained.k_parts))
        # the row left out pushes against the retained rows only and moves nothing: lam balances it
        lam, watch = self._least(place, raw.lam, raw.a, lambda row: -self._solve(calm, row + T.h, formulation).lam)
        return {"a": raw.a, "lam": lam, "margin": self.margin(_label(formulation, self.plan), (*raw.watch, *watch))}

    def _least(self, place: Instant, retained: Any, a: Any, weights: Callable[[Any], Any]) -> tuple[Any, list[tuple[Any, Any]]]:
        """Multipliers of all rows from those of the independent ones: (lam of least reactions in all joints, pivots to watch).

        A row d that is left out depends on the others, J_d = c J with c = weights(J_d): z with 1 there and -c on the others
        is a self-stress, which loads the joints and moves nothing.
        """
        J, keep = place.closure.J, list(self.plan.keep or ())
        rest = [i for i in range(len(J)) if i not in keep]
        lam = np.zeros(len(J), dtype=common_type(J, retained, a))
        lam[keep] = retained
        Z = np.zeros((len(J), len(rest)), dtype=lam.dtype)
        for column, i in enumerate(rest):
            Z[keep, column] = -weights(J[i])
            Z[i, column] = 1.0
        R = np.array([labeled(place, every_joint_wrench(place, z, a, inertial=False), z)[1] for z in Z.T]).T
        r0 = labeled(place, every_joint_wrench(place, lam, a), lam)[1]
        y, pivots = eliminate(R.T @ R, -(R.T @ r0))
        return lam + Z @ y, [(p, p) for p in pivots]

    def pivots(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """Every pivot of forward dynamics (sslm) and the size below which it sends a state to the rank-revealing path."""
        T = self._terms(q, v, t, near)
        T = T if self.plan.keep is None else T.select(list(self.plan.keep))
        watch = self._solve(T, T.h, "sslm").watch
        least = self.plan.nominal.get(_label("sslm", self.plan), ())[: len(watch)]
        return {"pivot": np.array([p for p, _ in watch]), "least": np.array(least)}

    def factors(self, q: Any, v: Any, t: Any, near: Any) -> tuple[Factors, Instant]:
        """The factored matrix of forward dynamics, for several right sides (economical rows)."""
        T = self.ordered(self._terms(q, v, t, near))
        return factorize(T), _place(T)

    def rates(
        self, q: Any, v: Any, tau: Any, t: Any, near: Any, *, formulation: str = "sslm", gains: Any = None, power: bool = False
    ) -> Arrays:
        """dq/dt and dv/dt: what a time stepper integrates; with `power` also the rates of the three works of `powers`."""
        out = self.forward(q, v, tau, t, near, formulation=formulation, gains=gains)
        more = {"power": self.powers(q, v, tau, out["lam"], t, near)} if power else {}
        return {"qdot": qdot(self.loops.skel, q, v), "a": out["a"], **more, "margin": out["margin"]}

    def powers(self, q: Any, v: Any, tau: Any, lam: Any, t: Any, near: Any) -> Any:
        """[put in by efforts and drivers, by loads and given forces, lost in dampers, friction and stops], in W.

        Kinetic and potential energy of `energy` change by the first and second minus the third; what springs store is energy.
        """
        skel, references = self.loops.skel, self.loops.skel.unpack(q, near)
        m = motion(skel, q, v, world_axes=self.plan.body_axes)
        at = Instant.moving(skel, m, t[0], references)
        c = replace(self.loops, row_axes=self.plan.axes).closure(m, v, t[0], references, self.plan.body_axes)
        first = len(lam) - len(self.drivers)
        put_in = tau @ v - c.b[first:] @ lam[first:]
        return np.array([put_in, *self._given_and_lost(at)])

    def _given_and_lost(self, at: Instant) -> tuple[Any, Any]:
        """Power of loads and given forces, and what dampers, friction and stops lose."""
        given, lost = 0.0, 0.0
        for f in self.forces:
            if getattr(f, "conservative", False):
                continue
            if getattr(f, "loses", False):
                lost = lost + f.loss(at)
            else:
                given = given + sum((w @ at.motion.V[node] for node, w in f.wrenches(at)), 0.0)
        return given, lost

    def projection(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """One step back onto the loops, shortest in the mass metric: M dq = J' mu, J dq = -phi; likewise for v.

        The residuals are those before the step, dimensionless; `correction` is the dimensionless size of the position step.
        """
        T, place, phi, gap = self._gaps(q, v, t, near)
        dq, watch = self._back(T, place, phi)
        return {
            "q": normalized(self.loops.skel, q + qdot(self.loops.skel, q, dq)),
            "v": v + self._back(T, place, gap)[0],
            "residual": np.array([largest(phi / T.row_scale)]),
            "rate_residual": np.array([largest(gap / T.row_scale)]),
            "correction": np.array([largest(dq / self.loops.columns)]),
            "margin": self.margin(_label("sslm", self.plan), watch),
        }

    def settling(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """Two steps back onto the loops by one factored matrix: that of `projection`, then from where it leads, also for v.

        The residuals are those before the second step. What it leaves of a gap is that times the length of the first step, and of the
        velocities their correction times that length, for the matrix has moved on by so much.
        """
        skel = self.loops.skel
        T, place, phi, _ = self._gaps(q, v, t, near)
        first, watch = self._back(T, place, phi)
        q = normalized(skel, q + qdot(skel, q, first))
        _, there, phi, gap = self._gaps(q, v, t, near)
        dq, _ = self._back(T, there, phi)
        return {
            "q": normalized(skel, q + qdot(skel, q, dq)),
            "v": v + self._back(T, there, gap)[0],
            "residual": np.array([largest(phi / T.row_scale)]),
            "margin": self.margin(_label("sslm", self.plan), watch),
        }

    def _gaps(self, q: Any, v: Any, t: Any, near: Any) -> tuple[Terms, Instant, Any, Any]:
        """Terms of the independent rows, where they are, and the gaps of these rows and of their rates."""
        T = self._terms(q, v, t, near)
        place, keep = _place(T), range(T.nc) if self.plan.keep is None else self.plan.keep
        T = T if self.plan.keep is None else T.select(keep)
        gap = T.J @ (along_world(place, v) if self.plan.body_axes else v) + place.closure.b[list(keep)]
        return T, place, place.closure.phi[list(keep)], gap

    def _back(self, T: Terms, place: Instant, target: Any) -> tuple[Any, Any]:
        """The shortest step that closes the gaps `target` of the rows of T, in the joints' axes at a place, and its pivots."""
        raw = self._solve(replace(T, k_parts=tuple(target[r] for r in T.rows)), T.h, "sslm")
        return (to_joint_axes(place, raw.a, place.closure.k)[0] if self.plan.body_axes else raw.a), raw.watch

    def energy(self, q: Any, v: Any, t: Any, near: Any) -> Arrays:
        """Kinetic energy, also of rotors, and potential energy of weight and springs."""
        skel = self.loops.skel
        m = motion(skel, q, v)
        at = Instant.moving(skel, m, t[0], self.loops.skel.unpack(q, near))
        potential = dynamics.potential_energy(skel, m) + sum(f.energy(at) for f in self.forces)
        spinning = sum((0.5 * I * v[i] * v[i] for i, I in enumerate(self.armature) if I != 0.0), 0.0)
        return {"kinetic": np.array([dynamics.kinetic_energy(skel, m) + spinning]), "potential": np.array([potential])}

    # ---------------------------------------------------------------- inverse dynamics

    def inverse(self, q: Any, v: Any, a: Any, t: Any, near: Any) -> Arrays:
        """Drive efforts u and multipliers lam with J' lam + B u = M a + h  [Chaudhary2007 (14)], by sparse elimination.

        Idle degrees of freedom (a rod that spins between ball joints) have no drive: they accelerate freely, whatever a
        says, and their equations hold by themselves.
        """
        return self._inverse(q, v, a, t, near)[0]

    def _inverse(self, q: Any, v: Any, a: Any, t: Any, near: Any) -> tuple[Arrays, Any]:
        """The efforts and multipliers, and the accelerations with idle degrees of freedom let go."""
        A, g, acceleration, place = self.inverse_system(q, v, a, t, near)
        order = self._order("inverse", A)
        z, pivots = eliminate(A, g, order)
        nc = A.shape[1] - len(self.drives) - self.plan.spinning
        lam, u = z[:nc], z[nc : nc + len(self.drives)]
        if self.plan.keep is not None:
            pushed = place.with_external((*place.external, *self._drive_pushes(place, u)))
            lam, _ = self._least(pushed, lam, acceleration, lambda row: eliminate(A, row, order)[0][:nc])
        free = acceleration
        if self.plan.body_axes:
            free, lam = to_joint_axes(place, acceleration, lam)
        return {"u": u, "lam": lam, "margin": self.margin("inverse", [(size(p), p) for p in pivots])}, free

    def inverse_system(self, q: Any, v: Any, a: Any, t: Any, near: Any) -> tuple[Any, Any, Any, Instant]:
        """[J' B N] and M a + h in economical rows, the accelerations with those of idle degrees of freedom N, and where it is."""
        T = self._terms(q, v, t, near)
        place = _place(T)
        skel, m = place.loops.skel, place.motion
        acceleration = along_world(place, a) if self.plan.body_axes else a
        N = self.idle_columns(place)
        if self.plan.spinning:
            g = dynamics.inverse_tree(skel, m, acceleration, place.external) + self._rotor_efforts(m, acceleration)
            acceleration = acceleration + N @ let_go(N, T.M, g)
        g = dynamics.inverse_tree(skel, m, acceleration, place.external) + self._rotor_efforts(m, acceleration)
        J = T.J if self.plan.keep is None else T.J[list(self.plan.keep)]
        return np.concatenate([J.T, self._effort_columns(place), N], axis=1), g, acceleration, place

    def idle_columns(self, place: Instant) -> Any:
        """Idle degrees of freedom as columns, in the axes the equations are solved in."""
        rows = list(idle_rows(self.plan, place.loops.skel, place.motion).rows)
        turned = [along_world(place, x) for x in rows] if self.plan.body_axes else rows
        return np.array(turned).T.reshape(-1, len(rows)) if rows else np.zeros((place.loops.skel.tree.nv, 0))

    def loads(self, q: Any, v: Any, a: Any, t: Any, near: Any) -> Arrays:
        """u, lam, and the reaction of every joint on its second body: [moment; force] at the joint, world axes."""
        out, a = self._inverse(q, v, a, t, near)
        return {**out, **self.wrenches(q, v, a, out["lam"], out["u"], t, near)}

    def turn_loads(self, q: Any, drive: Any, speed: Any, acceleration: Any, t: Any, near: Any) -> Arrays:
        """`turn_motion` with the loads of that motion."""
        moved = self.turn_motion(q, drive, speed, acceleration, near)
        out = self.loads(q, moved["v"], moved["a"], t, near)
        return {**moved, **out, "margin": np.array([minimum(moved["margin"][0], out["margin"][0])])}

    def wrenches(self, q: Any, v: Any, a: Any, lam: Any, u: Any, t: Any, near: Any) -> Arrays:
        """The reaction of every joint for known accelerations, multipliers, and drive torques and forces."""
        place = _place(self._terms(q, v, t, near, body_axes=False))
        return {"wrench": self._wrenches(place, a, lam, self._drive_pushes(place, u))}

    def reactions(self, q: Any, v: Any, a: Any, lam: Any, t: Any, near: Any) -> Arrays:
        """The reaction of every joint for known accelerations and multipliers."""
        return {"wrench": self._wrenches(_place(self._terms(q, v, t, near, body_axes=False)), a, lam)}

    def _wrenches(self, place: Instant, a: Any, lam: Any, pushes: Sequence[tuple[int, Any]] = ()) -> Any:
        place = place.with_external((*place.external, *pushes, *separating(place, lam)))
        wrenches = {w.joint: constraint_part(place, w) for w in every_joint_wrench(place, lam, a)}
        absent = np.zeros(6)  # a joint that is switched off
        parts = [np.concatenate([wrenches[j].moment, wrenches[j].force]) if j in wrenches else absent for j in self.joints]
        return np.array(parts).reshape(-1, 6)

    @property
    def joints(self) -> list[str]:
        """Names of the joints in the order of `wrench`."""
        return [j.name for j in self.loops.skel.tree.description.joints]

    def _effort_columns(self, place: Instant) -> Any:
        """B: what a unit effort of each drive does in the tree's coordinates; a unit vector for a joint of the tree."""
        skel, m = place.loops.skel, place.motion
        at, single = Instant.moving(skel, m, place.t, place.references), self.velocity_drives
        columns = []
        for name in self.drives:
            node = skel.tree.node_of_joint.get(name)
            if name in single:
                unit = np.eye(skel.tree.nv)[single[name]]
                column = along_world(place, unit) if self.plan.body_axes else unit
            elif node is not None:
                column = np.zeros(skel.tree.nv)
                column[skel.tree.nodes[node].v] = 1.0
            else:
                push = unit_pushes(skel.tree.description, at, [name])[0]
                column = dynamics.generalized(skel, m, push)
            columns.append(column)
        return np.array(columns).T.reshape(skel.tree.nv, len(self.drives))


# -------------------------------------------------------------------- helpers
def _place(T: Terms) -> Instant:
    assert T.place is not None
    return T.place


def _label(formulation: str, plan: EliminationPlan) -> str:
    return "saddle" if plan.saddle is not None else formulation


def stabilized(T: Terms, v: Any, gains: Any) -> Terms:
    """Baumgarte's alpha (J v + b) + beta phi added to k."""
    place = _place(T)
    c = place.closure
    k = c.k + gains[0] * (c.J @ v + c.b) + gains[1] * c.phi
    return replace(T, k_parts=tuple(k[r] for r in T.rows), place=place.with_closure(replace(c, k=k)))


def _saddle(T: Terms, tau: Any, order: Order) -> RawSolution:
    """The saddle-point system as a whole, in a fixed order that needs no inertia in any subsystem."""
    n, scale = T.nv, T.row_scale
    z, pivots = eliminate(saddle(T, tau), np.concatenate([tau - T.h, -T.k / scale]), order)
    return RawSolution(z[:n], -z[n:] / scale, watch=tuple((size(p), p) for p in pivots))


# Equations of motion in operational space: in the velocities y' of a body or a point instead of the drives' coordinates x.
#
# With y' = J x' and the reduced equations M x'' + h = u,
#
#     Lambda y'' + mu = F        Lambda = (J M^-1 J')^-1,  mu = Lambda (J M^-1 h - Jdot x')
#
# where u = J' F gives the drives' torques and forces that act on y like the force F there. Jbar = M^-1 J' Lambda is the dynamically
# consistent inverse: motions of the drives outside of it do not accelerate y.


def operational(eq: Equations, q: Any, v: Any, t: Any, near: Any, rows: Sequence[TaskRow]) -> dict[str, Any]:
    """Lambda, mu, J, `rate` (Jdot x') and Jbar of these components."""
    skel = eq.loops.skel
    reduced = eq.reduced(q, v, t, near)
    T, bias = task_motion(skel, motion(skel, q, v), rows)
    J, rate = T @ reduced["S"], T @ reduced["a"] + bias  # with drives that do not accelerate
    spun = _spun(eq, q, v, t, near, T, reduced)
    kinds = np.array([1.0 if row.rotary else eq.loops.kappa for row in rows])
    moved = np.array([largest(column / eq.loops.columns) for column in reduced["S"].T])  # how far each drive moves anything
    return _inverted(J, rate, reduced, spun, kinds, moved)


class _Spun(NamedTuple):
    """Share of idle spins in the motion of the tasks: J and Jdot x' with the spins that drives and loads set going, and the spins' own
    accelerations per force there. None of them matters unless a task is on a link that spins in place."""

    J: Any
    rate: Any
    mobility: Any


def _spun(eq: Equations, q: Any, v: Any, t: Any, near: Any, T: Any, reduced: dict[str, Any]) -> _Spun | None:
    if not eq.plan.spinning:
        return None
    terms = eq.joint_axis_terms(q, v, t, near)
    N = idle_rows(eq.plan, eq.loops.skel, motion(eq.loops.skel, q, v)).rows.T
    J, rate, force = (let_go(N, terms.M, x) for x in (terms.M @ reduced["S"], terms.M @ reduced["a"] + terms.h, T.T))
    return _Spun(T @ N @ J, T @ N @ rate, -(T @ N @ force))


def _inverted(J: Any, rate: Any, reduced: dict[str, Any], spun: _Spun | None, kinds: np.ndarray, moved: Any) -> dict[str, Any]:
    """Lambda and the rest from J, Jdot x' and the reduced equations; M and J M^-1 J' are positive definite where rows are independent."""
    inverse, _ = eliminate(reduced["M"], np.eye(len(moved), dtype=reduced["M"].dtype))
    pushed = J if spun is None else J + spun.J
    mobility = pushed @ inverse @ pushed.T if spun is None else pushed @ inverse @ pushed.T + spun.mobility
    Lambda, pivots = eliminate(mobility, np.eye(len(J), dtype=mobility.dtype))
    most = sum(moved[i] * moved[i] * inverse[i, i] for i in range(len(moved)))  # of a component of size 1 that follows every drive
    margin: Any = reduced["margin"][0]
    at_rest = 1e-12  # share of the mobility of what drives move at most, as a pivot: 1e-6 of its velocity
    for k, pivot in enumerate(pivots):
        margin = minimum(margin, pivot / (DEPENDENT * mobility[k, k]) - 1.0)
        margin = minimum(margin, pivot / (at_rest * kinds[k] ** 2 * most) - 1.0)
    mu = Lambda @ (pushed @ (inverse @ reduced["h"]) - (rate if spun is None else rate + spun.rate))
    return {"Lambda": Lambda, "mu": mu, "J": J, "rate": rate, "Jbar": inverse @ pushed.T @ Lambda, "margin": np.array([margin])}
