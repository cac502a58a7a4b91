"""Controllers: what drives shall do, from a measured state and a motion or force to follow; one file a kind.

    s.simulate(st, 5, control=lw.control.projected({"A": lw.control.minimum_jerk("60 deg", "1 s")}, P=25, D=10))

    pd                springs and dampers to the reference
    computed_torque   computed torque: as many drives as coordinates
    projected         the motion wanted with least efforts, for any drives, redundant or passive joints  [Aghili2005 VII]
    hybrid            that, and constraint forces held at wanted values
    impedance         coordinates that give way to outer forces as a mass, a damper and a spring
    lqr               linear state feedback about an equilibrium
    control_law       a function of one's own of t and the state, which drives several joints

Common options: `drives` (joints with motors; default the model's), `every` (sampled, "1 ms"; else followed at all times),
`model` (a mechanism that differs from the real one, or a dict of other numbers), `off` (loops, loads and masses the controller does
not know), `rated` (efforts that cost the same), `damping` (share of the control authority at the start below which efforts are
damped, 0.02; 0: never).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from linkwright.errors import call_explained
from linkwright.model.curves.references import from_csv, minimum_jerk, polyline, setpoint, sinusoid, spline, trapezoidal
from linkwright.rings.control.computed_torque import ComputedTorque
from linkwright.rings.control.hybrid import Hybrid
from linkwright.rings.control.impedance import Impedance
from linkwright.rings.control.lqr import Lqr
from linkwright.rings.control.pd import Pd
from linkwright.rings.control.projected import Projected
from linkwright.simulation.feedback.actuators import Actuator
from linkwright.simulation.feedback.base import Control
from linkwright.simulation.feedback.control_law import ControlLaw
from linkwright.simulation.feedback.encoders import encoder
from linkwright.simulation.feedback.noise import noise

CONTROLLERS: dict[str, type[Control]] = {c.kind: c for c in (Pd, ComputedTorque, Projected, Hybrid, Impedance, Lqr, ControlLaw)}


@call_explained
def pd(reference: Any, P: Any = 100.0, D: Any = None, *, gravity: bool = False, **common: Any) -> Pd:
    """A PD controller: springs P (effort per unit of error) and dampers D towards a reference; `gravity`: with what holds the mechanism."""
    return Pd(reference=reference, P=P, D=D, gravity=gravity, **_known("pd", common))


@call_explained
def computed_torque(reference: Any, P: Any = 100.0, D: Any = None, **common: Any) -> ComputedTorque:
    """Computed torque: e'' + D e' + P e = 0 for as many coordinates as drives; `off`: loops the controller does not know."""
    return ComputedTorque(reference=reference, P=P, D=D, **_known("computed_torque", common))


@call_explained
def projected(reference: Any, P: Any = 100.0, D: Any = None, **common: Any) -> Projected:
    """Projected inverse dynamics: e'' + D e' + P e = 0 with efforts of least weighted norm, for any drives."""
    return Projected(reference=reference, P=P, D=D, **_known("projected", common))


@call_explained
def hybrid(
    reference: Any,
    force: Mapping[str, Any],
    P: Any = 100.0,
    D: Any = None,
    F: Any = 1.0,
    I: Any = 0.0,
    *,
    filter: Any = None,
    integral: Any = 0.0,
    begin: Any = None,
    **common: Any,
) -> Hybrid:
    """Hybrid control: motion as `projected`, and forces held: (1 + F) e' + I e = 0 of their errors.

    force: by multiplier ("C.y") or joint force ("C.on.rod.x"), signs as lam. filter: time constant of the force sensor's filter;
    integral: where the integrals of the force errors begin; begin: what filtered or sampled sensors read before the start
    (default: what is wanted, without a transient).
    """
    own: dict[str, Any] = {"force": force, "F": F, "I": I, "filter": filter, "integral": integral, "begin": begin}
    return Hybrid(reference=reference, P=P, D=D, **own, **_known("hybrid", common))


@call_explained
def impedance(reference: Any, K: Any, D: Any = None, M: Any = None, **common: Any) -> Impedance:
    """Impedance control: M e'' + D e' + K e = -f of the errors e of joint coordinates, points or poses under outer forces f.

    K: stiffness, N/m or N m/rad; D: damping (default critical); M: mass, by default the inertia of the mechanism at these coordinates,
    which needs no force sensor. Each one number, one for each coordinate, a dict by name or a symmetric matrix, SI. `off`: loads the
    controller does not know, such as a wall; with M they are sensed.
    """
    return Impedance(reference=reference, K=K, D=D, M=M, **_known("impedance", common))


@call_explained
def lqr(reference: Any, Q: Any = None, R: Any = None, **common: Any) -> Lqr:
    """State feedback of least cost int x' Q x + u' R u dt about an equilibrium: a State at rest, or set-points by coordinate.

    x: errors of the coordinates, then their rates ("A", "A.v"); u: efforts beside those that hold. A number scales the default
    weights (1 for angles, 1/kappa^2 for lengths, kappa^2 for forces; `rated` efforts instead); one each, dicts or matrices are SI.
    """
    return Lqr(reference=reference, Q=Q, R=R, **_known("lqr", common))


@call_explained
def control_law(function: Any, *, reference: Any = None, **common: Any) -> ControlLaw:
    """A control law of one's own: function(t) or function(t, st) returns the efforts of all drives, SI, as a dict or in their order.

    `control=function` is the same with the drives of the file, at all times. With `every` it is called once per sample and may remember.
    reference: coordinates whose errors are recorded beside it.
    """
    return ControlLaw(function=function, reference=reference, **_known("control_law", common))


@call_explained
def actuator(limit: Any = None, *, motor: Any = None, back_emf: bool = True) -> Actuator:
    """An actuator of a controller: an effort within `limit`, or a DC motor (lw.drives.motor(...), True: the model's own).

    back_emf=False does not compensate the motor's back-EMF and friction.
    """
    return Actuator(limit, motor, back_emf)


COMMON = ("drives", "every", "model", "off", "rated", "damping")


def _known(kind: str, common: dict[str, Any]) -> dict[str, Any]:
    from linkwright.errors import UsageError, nearest

    for name in common:
        if name not in COMMON:
            own = [f.name for f in fields(CONTROLLERS[kind]) if f.name not in ("reference", "rows", "efforts", *COMMON)]
            raise UsageError(f"lw.control.{kind} has no option '{name}'. {nearest(name, [*own, *COMMON], 'Options')}")
    return common


def __getattr__(name: str) -> Any:
    if name in ("Comparison", "compare"):  # they simulate: imported when asked for
        from linkwright.rings.design import comparison

        return getattr(comparison, name)
    raise AttributeError(f"lw.control has no '{name}'.")


__all__ = [
    "CONTROLLERS",
    "Actuator",
    "Comparison",
    "Control",
    "actuator",
    "compare",
    "computed_torque",
    "control_law",
    "encoder",
    "from_csv",
    "hybrid",
    "impedance",
    "lqr",
    "minimum_jerk",
    "noise",
    "pd",
    "polyline",
    "projected",
    "setpoint",
    "sinusoid",
    "spline",
    "trapezoidal",
]
