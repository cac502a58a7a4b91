"""What a run shows of its touches: depth, the law of contact at the samples, impacts and losses. The certificate has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.integrators.contact.states import SLIP
from linkwright.mechanics.contact import tangent_count, tangents
from linkwright.simulation.touches import VERBS, friction_of

if TYPE_CHECKING:
    from linkwright.simulation.run import Simulation


def contact_findings(sim: Simulation) -> tuple[dict[str, Any], float]:
    """Fields of the certificate about touches, and the largest push."""
    if not sim.touches:
        return {}, 0.0
    nq, nv = sim.system.loops.skel.tree.nq, sim.system.loops.skel.tree.nv
    t, y = (np.concatenate([getattr(p.solution, name) for p in sim.pieces]) for name in ("t", "y"))
    q, v = np.ascontiguousarray(y[:, :nq]), np.ascontiguousarray(y[:, nq : nq + nv])
    names = [x.name for x in sim.touches]
    events = [x for x in sim.happened if str(x[2].get("did", "")).partition(" ")[2].split(",")[0] in names]
    touched = [x for x in events if x[1].endswith(VERBS["reach"])]
    found = {
        "touches": len(names),
        "touch_impacts": len(touched),
        "touch_changes": len(events),
        "touch_residual": sim.residual,
        "least_impact_loss": sim.least_loss,
        "touch_shared": ", ".join(sorted(sim.shared)),
    }
    if not len(t):
        return found, 0.0
    more = {"parameters": np.tile(sim.parameters, (len(q), 1))} if len(sim.parameters) else {}
    terms = sim.system.kernels.get("contact_terms")(q, v, **more)
    i, k = np.unravel_index(int(np.argmin(terms.g)), terms.g.shape)
    columns = sim.touch_columns
    states = np.array([columns[f"{name}.state"].values for name in names]).T
    push = np.array([columns[f"{name}.force"].values for name in names]).T
    friction = np.array([friction_of(columns, name) for name in names])  # (touches, samples, axes)
    across = tangent_count(sim.system.description)
    slips = np.einsum("sikj,sj->iks", terms.J.reshape(len(t), len(names), 1 + across, -1)[:, :, 1:], v)
    if across > 1:
        slips = np.array([sum(u * e for u, e in zip(slips[i], tangents(terms.normal[:, i].T), strict=True)) for i in range(len(names))])
    rubbed = np.einsum("isk,iks->si", friction, slips)
    mu, size = np.array([float(x.mu) for x in sim.touches]), max(float(push.max(initial=0.0)), 1e-300)
    speed = max(float(np.abs(v).max(initial=0.0)), 1e-300)
    along = np.where((states == SLIP) & (mu > 0.0), rubbed, 0.0)  # never positive
    beyond = float((np.linalg.norm(friction, axis=2).T - mu * push).max(initial=0.0))
    excess = max(-float(push.min(initial=0.0)), beyond, float(along.max(initial=0.0)) / speed)
    deep = max(0.0, -float(terms.g[i, k]))
    more_found = {
        "touch_depth": deep,
        "touch_depth_at": f"{names[k]}, t = {t[i]:.4g} s" if deep > 0.0 else "",
        "touch_open": float(np.abs(np.where(states > 0.0, terms.g, 0.0)).max(initial=0.0)),
        "touch_excess": excess / size + 0.0,  # without the sign of zero
        "sliding_loss": float(columns["work.contact"].values[-1]) if "work.contact" in columns else 0.0,
    }
    return found | more_found, float(push.max(initial=0.0))
