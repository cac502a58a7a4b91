"""Controllers: what drives shall do, from a measured state and a motion or force to follow; one file a kind.

s.simulate(st, 5, control=lw.control.projected({"A": lw.control.minimum_jerk("60 deg", "1 s")}, P=25, D=10))

pd                springs and dampers to the reference
computed_torque   computed torque: as many drives as coordinates
projected         the motion wanted with least efforts, for any drives, redundant or passive joints  [Aghili2005 VII]
hybrid            that, and constraint forces held at wanted values
impedance         coordinates that give way to outer forces as a mass, a damper and a spring
lqr               linear state feedback about an equilibrium
control_law       a function of one's own of t and the state, which drives several joints
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from linkwright.api import Control, Names, call_explained, sensors
from linkwright.model.curves.references import from_csv, minimum_jerk, polyline, setpoint, sinusoid, spline, trapezoidal
from linkwright.rings.control.computed_torque import ComputedTorque
from linkwright.rings.control.hybrid import Hybrid
from linkwright.rings.control.impedance import Impedance
from linkwright.rings.control.lqr import Lqr
from linkwright.rings.control.pd import Pd
from linkwright.rings.control.projected import Projected
from linkwright.simulation.feedback.actuators import Actuator
from linkwright.simulation.feedback.control_law import ControlLaw
from linkwright.simulation.feedback.encoders import encoder
from linkwright.simulation.feedback.noise import noise

if TYPE_CHECKING:
    from linkwright.api import Mechanism

CONTROLLERS: dict[str, type[Control]] = {c.kind: c for c in (Pd, ComputedTorque, Projected, Hybrid, Impedance, Lqr, ControlLaw)}


Arguments = ParamSpec("Arguments")
Made = TypeVar("Made", bound=Control)
COMMON = """\
drives : str or sequence of str, optional
    Joints and cylinders with motors. By default the drives of the model.
every : float or str, optional
    Sampling interval ("1 ms"). By default the law acts at all times.
model : Mechanism or Mapping[str, Any], optional
    Mechanism that the controller assumes, or other parameters of it by name. By default the simulated one.
off : sequence of str, default ()
    Loops, loads and masses that the model of the controller lacks.
rated : Mapping[str, Any], optional
    Torques and forces that cost the same, by drive. They weigh redundant drives.
damping : float, default 0.02
    Share of the control authority at the start below which torques and forces are damped (0: never)."""


def _controller(function: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """The same with the parameters of all controllers in its docstring at `{common}`, and with explained calls."""
    function.__doc__ = cleandoc(function.__doc__ or "").replace("{common}", COMMON)
    return call_explained(function)


@_controller
def pd(
    reference: Mapping[str, Any],
    P: Any = 100.0,
    D: Any = None,
    *,
    gravity: bool = False,
    drives: Names | None = None,
    every: float | str | None = None,
    model: Mechanism | Mapping[str, Any] | None = None,
    off: Sequence[str] = (),
    rated: Mapping[str, Any] | None = None,
    damping: float = 0.02,
) -> Pd:
    """Make a PD controller: springs and dampers between the mechanism and a reference.

    Parameters
    ----------
    reference : Mapping[str, Any]
        By name of a joint, point or body: the motion to follow, such as `lw.control.minimum_jerk("60 deg", "1 s")`.
    P : float, str, Mapping[str, Any] or array, default 100.0
        Torque or force per unit of position error, for all coordinates or by name.
    D : float, str, Mapping[str, Any] or array, optional
        Torque or force per unit of velocity error. The default damping is critical.
    gravity : bool, default False
        True to add the torques and forces that hold the mechanism against gravity and springs.
    {common}

    Returns
    -------
    Pd
        A controller for `simulate(control=...)`.

    Examples
    --------
    >>> motion = {"A": lw.control.minimum_jerk("90 deg", "0.5 s")}
    >>> run = lw.load("wiper").simulate("0.5 s", control=lw.control.pd(motion, P=50, D=5))
    >>> run["control.A.error"].shape
    (501,)
    """
    return Pd(
        reference=reference, P=P, D=D, gravity=gravity, drives=drives, every=every, model=model, off=off, rated=rated, damping=damping
    )


@_controller
def computed_torque(
    reference: Mapping[str, Any],
    P: Any = 100.0,
    D: Any = None,
    *,
    drives: Names | None = None,
    every: float | str | None = None,
    model: Mechanism | Mapping[str, Any] | None = None,
    off: Sequence[str] = (),
    rated: Mapping[str, Any] | None = None,
    damping: float = 0.02,
) -> ComputedTorque:
    """Make a computed-torque controller: e'' + D e' + P e = 0 for as many coordinates as drives.

    Parameters
    ----------
    reference : Mapping[str, Any]
        By name of a joint, point or body: the motion to follow, such as `lw.control.minimum_jerk("60 deg", "1 s")`.
    P : float, str, Mapping[str, Any] or array, default 100.0
        Gain of the position errors, 1/s^2, for all coordinates or by name.
    D : float, str, Mapping[str, Any] or array, optional
        Gain of the velocity errors, 1/s. The default damping is critical.
    {common}

    Returns
    -------
    ComputedTorque
        A controller for `simulate(control=...)`.

    Examples
    --------
    >>> motion = {"A": lw.control.minimum_jerk("90 deg", "0.5 s")}
    >>> run = lw.load("wiper").simulate("0.5 s", control=lw.control.computed_torque(motion))
    >>> bool(abs(run["control.A.error"]).max() < 1e-6)
    True
    """
    return ComputedTorque(reference=reference, P=P, D=D, drives=drives, every=every, model=model, off=off, rated=rated, damping=damping)


@_controller
def projected(
    reference: Mapping[str, Any],
    P: Any = 100.0,
    D: Any = None,
    *,
    drives: Names | None = None,
    every: float | str | None = None,
    model: Mechanism | Mapping[str, Any] | None = None,
    off: Sequence[str] = (),
    rated: Mapping[str, Any] | None = None,
    damping: float = 0.02,
) -> Projected:
    """Make a projected inverse-dynamics controller: e'' + D e' + P e = 0 with torques and forces of least weighted norm.

    Parameters
    ----------
    reference : Mapping[str, Any]
        By name of a joint, point or body: the motion to follow, such as `lw.control.minimum_jerk("60 deg", "1 s")`.
    P : float, str, Mapping[str, Any] or array, default 100.0
        Gain of the position errors, 1/s^2, for all coordinates or by name.
    D : float, str, Mapping[str, Any] or array, optional
        Gain of the velocity errors, 1/s. The default damping is critical.
    {common}

    Returns
    -------
    Projected
        A controller for `simulate(control=...)`. It takes any number of drives, redundant ones too.

    Examples
    --------
    >>> motion = {"A": lw.control.minimum_jerk("90 deg", "0.5 s")}
    >>> run = lw.load("wiper").simulate("0.5 s", control=lw.control.projected(motion, drives=["A"]))
    >>> bool(abs(run["control.A.error"]).max() < 1e-6)
    True
    """
    return Projected(reference=reference, P=P, D=D, drives=drives, every=every, model=model, off=off, rated=rated, damping=damping)


@_controller
def hybrid(
    reference: Mapping[str, Any],
    force: Mapping[str, Any],
    P: Any = 100.0,
    D: Any = None,
    F: Any = 1.0,
    I: Any = 0.0,
    *,
    filter: float | str | None = None,
    integral: Any = 0.0,
    begin: Any = None,
    drives: Names | None = None,
    every: float | str | None = None,
    model: Mechanism | Mapping[str, Any] | None = None,
    off: Sequence[str] = (),
    rated: Mapping[str, Any] | None = None,
    damping: float = 0.02,
) -> Hybrid:
    """Make a hybrid controller: motion as `projected`, and constraint forces with errors (1 + F) e' + I e = 0.

    Parameters
    ----------
    reference : Mapping[str, Any]
        By name of a joint, point or body: the motion to follow, such as `lw.control.minimum_jerk("60 deg", "1 s")`.
    force : Mapping[str, Any]
        Forces to hold, by multiplier ("C.y") or joint force ("C.on.rod.x"), with the signs of lam.
    P : float, str, Mapping[str, Any] or array, default 100.0
        Gain of the position errors, 1/s^2, for all coordinates or by name.
    D : float, str, Mapping[str, Any] or array, optional
        Gain of the velocity errors, 1/s. The default damping is critical.
    F : float, Mapping[str, Any] or array, default 1.0
        Proportional gain of the force errors.
    I : float, Mapping[str, Any] or array, default 0.0
        Integral gain of the force errors, 1/s.
    filter : float or str, optional
        Time constant of the filter of the force sensors.
    integral : float, Mapping[str, Any] or array, default 0.0
        Start of the integrals of the force errors.
    begin : Mapping[str, Any] or array, optional
        Reading of filtered or sampled sensors before the start. By default the forces to hold, without a transient.
    {common}

    Returns
    -------
    Hybrid
        A controller for `simulate(control=...)`.

    Examples
    --------
    >>> control = lw.control.hybrid({"A": "30 deg"}, {"C.y": "5 N"}, I=2.0)
    >>> control.force
    {'C.y': '5 N'}
    """
    own: dict[str, Any] = {"force": force, "F": F, "I": I, "filter": filter, "integral": integral, "begin": begin}
    return Hybrid(reference=reference, P=P, D=D, **own, drives=drives, every=every, model=model, off=off, rated=rated, damping=damping)


@_controller
def impedance(
    reference: Mapping[str, Any],
    K: Any,
    D: Any = None,
    M: Any = None,
    *,
    drives: Names | None = None,
    every: float | str | None = None,
    model: Mechanism | Mapping[str, Any] | None = None,
    off: Sequence[str] = (),
    rated: Mapping[str, Any] | None = None,
    damping: float = 0.02,
) -> Impedance:
    """Make an impedance controller: M e'' + D e' + K e = -f for the errors e of joints, points or poses under outer forces f.

    Parameters
    ----------
    reference : Mapping[str, Any]
        By name of a joint, point or body: the motion to follow, such as `lw.control.minimum_jerk("60 deg", "1 s")`.
    K : float, str, Mapping[str, Any] or array
        Stiffness, N/m or N m/rad: one number, one for each coordinate, a dict by name or a symmetric matrix.
    D : float, str, Mapping[str, Any] or array, optional
        Damping in the same forms. The default damping is critical.
    M : float, str, Mapping[str, Any] or array, optional
        Mass in the same forms. The default is the inertia of the mechanism at these coordinates, which needs no force sensor. With `M`
        the loads in `off` are sensed.
    {common}

    Returns
    -------
    Impedance
        A controller for `simulate(control=...)`.

    Examples
    --------
    >>> soft = lw.control.impedance({"A": "60 deg"}, K=20)
    >>> run = lw.load("wiper").simulate("0.2 s", control=soft)
    >>> bool(abs(run["A", "deg"][-1] - 60.0) < 10.0)
    True
    """
    return Impedance(reference=reference, K=K, D=D, M=M, drives=drives, every=every, model=model, off=off, rated=rated, damping=damping)


@_controller
def lqr(
    reference: Any,
    Q: Any = None,
    R: Any = None,
    *,
    drives: Names | None = None,
    every: float | str | None = None,
    model: Mechanism | Mapping[str, Any] | None = None,
    off: Sequence[str] = (),
    rated: Mapping[str, Any] | None = None,
    damping: float = 0.02,
) -> Lqr:
    """Make a state feedback of least cost int x' Q x + u' R u dt about an equilibrium.

    Parameters
    ----------
    reference : State or Mapping[str, Any]
        A state at rest, or set-points by coordinate.
    Q : float, sequence, Mapping[str, Any] or array, optional
        Weights of the errors of the coordinates, then of their rates ("A", "A.v"). A number scales the default weights, 1 for angles and
        1/kappa^2 for lengths. The other forms are in SI.
    R : float, sequence, Mapping[str, Any] or array, optional
        Weights of the torques and forces that are added to the holding ones. The default is 1, for forces kappa^2, or follows
        from `rated`.
    {common}

    Returns
    -------
    Lqr
        A controller for `simulate(control=...)`.

    Examples
    --------
    >>> rest = lw.load("wiper").settle()
    >>> control = lw.control.lqr(rest, Q=10.0)
    >>> control.Q
    10.0
    """
    return Lqr(reference=reference, Q=Q, R=R, drives=drives, every=every, model=model, off=off, rated=rated, damping=damping)


@_controller
def control_law(
    function: Callable[..., Any],
    *,
    reference: Mapping[str, Any] | None = None,
    drives: Names | None = None,
    every: float | str | None = None,
    model: Mechanism | Mapping[str, Any] | None = None,
    off: Sequence[str] = (),
    rated: Mapping[str, Any] | None = None,
    damping: float = 0.02,
) -> ControlLaw:
    """Make a controller of a function of time, or of time and state.

    Parameters
    ----------
    function : Callable
        `function(t)` or `function(t, st)`. It returns the torques and forces of all drives in SI, as a dict or in their order. With
        `every` it is called once per sample and may remember. `control=function` is the same with the drives of the model file.
    reference : Mapping[str, Any], optional
        Motion of coordinates whose errors are recorded.
    {common}

    Returns
    -------
    ControlLaw
        A controller for `simulate(control=...)`.

    Examples
    --------
    >>> brake = lw.control.control_law(lambda t, st: {"A": -0.2 * st["A.v"]})
    >>> run = lw.load("wiper").simulate("0.1 s", control=brake)
    >>> run["A.torque"].shape
    (501,)
    """
    return ControlLaw(
        function=function, reference=reference, drives=drives, every=every, model=model, off=off, rated=rated, damping=damping
    )


@call_explained
def actuator(limit: Any = None, *, motor: Any = None, back_emf: bool = True) -> Actuator:
    """Describe the actuator of a controlled drive: a torque or force within a limit, or a DC motor.

    Parameters
    ----------
    limit : float, str or tuple, optional
        Largest torque or force in both directions ("20 N m"), or (low, high).
    motor : DCMotor or True, optional
        `lw.drives.dc_motor(...)`, or True for the motor of the model.
    back_emf : bool, default True
        False if the controller does not compensate the back-EMF and the friction of the motor.

    Returns
    -------
    Actuator
        For `simulate(actuators=...)`.

    Examples
    --------
    >>> weak = lw.control.actuator("0.5 N m")
    >>> control = lw.control.pd({"A": "90 deg"}, P=50, D=5)
    >>> run = lw.load("wiper").simulate("0.2 s", control=control, actuators=weak)
    >>> bool(abs(run["A.torque"]).max() <= 0.5)
    True
    """
    return Actuator(limit, motor, back_emf)


def __getattr__(name: str) -> Any:
    if name in ("Comparison", "compare"):  # they simulate: imported when asked for
        from linkwright.rings.design import controller_comparison

        return getattr(controller_comparison, name)
    if name in ("Estimator", "Observability"):  # few runs estimate anything
        from linkwright.rings.control import estimator

        return getattr(estimator, name)
    raise AttributeError(f"lw.control has no '{name}'.")


imu, sensor = sensors.imu, sensors.sensor

__all__ = [
    "CONTROLLERS",
    "Actuator",
    "Comparison",
    "Control",
    "Estimator",
    "Observability",
    "actuator",
    "compare",
    "computed_torque",
    "control_law",
    "encoder",
    "from_csv",
    "hybrid",
    "impedance",
    "imu",
    "lqr",
    "minimum_jerk",
    "noise",
    "pd",
    "polyline",
    "projected",
    "sensor",
    "setpoint",
    "sinusoid",
    "spline",
    "trapezoidal",
]


def __dir__() -> list[str]:
    return sorted(__all__)
