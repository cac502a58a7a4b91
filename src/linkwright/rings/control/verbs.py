"""Verbs of control on systems: a controller to be called alone, small motions about a state, and estimators of the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkwright.api import Names, State, UsageError, call_explained, compiled_of

if TYPE_CHECKING:
    from linkwright.api import Control, System
    from linkwright.rings.control.controller import Controller
    from linkwright.rings.control.estimator import Estimator
    from linkwright.rings.control.linearize import Linearized


class SystemVerbs:
    """Controllers at a system."""

    def control(self: System, controller: Control, st: State | None = None, *, parameters: Any = None) -> Controller:
        """Return a controller of this mechanism, to be called alone: `c = s.control(lw.control.projected(...))`, then `c(st)["A"]`.

        st: start of the run (for references that start from the present position, typical sizes). By default the start of the model.
        """
        from linkwright.rings.control.controller import Controller

        begin = self.start if st is None else st
        compiled_of(self).need_closed(begin)
        return Controller(controller, compiled_of(self), begin, _values(self, parameters))

    def linearize(
        self: System,
        st: State,
        *,
        coordinates: Names | None = None,
        drives: Names | None = None,
        control: Control | None = None,
        actuators: Any = None,
        tau: Any = None,
        parameters: Any = None,
    ) -> Linearized:
        """Linearize the mechanism, free or controlled, about a state on the loops.

        Parameters
        ----------
        st : State
            State at rest or in motion.
        coordinates : str or sequence of str, optional
            One for each degree of freedom, of joints, points or bodies ("A", "hand.E.x", "platform"). By default drives come first.
        drives : str or sequence of str, optional
            Inputs of the open loop. By default the drives of the model.
        control : Control, optional
            Controller, for the closed loop with its integrals and filters among the states. Its reference is constant.
        actuators : Actuator or mapping, optional
            Actuators of the controller, whose motor currents are among the states.
        tau : mapping, optional
            Torques and forces of the open loop by drive. By default the efforts that hold the state.
        parameters : mapping or array, optional
            Values of the parameters of `lw.compile(parameters=...)`.

        Returns
        -------
        Linearized
            Matrices A and B, poles, natural frequencies. A sampled controller has eigenvalues `z` too.

        Examples
        --------
        >>> m = lw.load("wiper")
        >>> lw.compile(m).linearize(m.settle()).poles.shape
        (2,)
        """
        core = compiled_of(self)
        from linkwright.rings.control.linearize import linearize
        from linkwright.simulation.run import explain
        from linkwright.simulation.start_states import closed_for

        values = _values(self, parameters)
        core.need_start(st, (), parameters is None)
        there = closed_for(core, st, values)
        about = {"coordinates": coordinates, "drives": drives, "control": control, "actuators": actuators, "tau": tau}
        try:
            return linearize(core, there, **about, parameters=values)
        except UsageError as error:
            explain(error, core, there)
            raise

    def estimator(
        self: System,
        sensors: Mapping[str, Any],
        *,
        every: float | str,
        disturbance: Mapping[str, Any] | None = None,
        start: State | None = None,
        uncertainty: Any = None,
        method: str = "extended",
        substeps: int = 1,
    ) -> Estimator:
        """Make a Kalman filter of this mechanism, which estimates all positions and speeds from a few sensors.

        Parameters
        ----------
        sensors : Mapping[str, Any]
            By channel: the standard deviation of a reading ("0.05 deg"), `lw.control.encoder(4096)`, or `lw.control.sensor(...)` with a
            bias. By body or point: `lw.control.imu(...)`.
        every : float or str
            Time between samples ("5 ms").
        disturbance : Mapping[str, Any], optional
            Standard deviations of unknown torques and forces by joint ("0.2 N m"). Each is held for one sample, and samples are
            independent.
        start : State, optional
            Estimate at the start. By default the start of the model.
        uncertainty : Mapping[str, Any] or Noise, optional
            Standard deviations at the start: {"A": "10 deg", "A.v": "1 rad/s"}, as many as states, or `lw.control.noise(...)` for all
            joints. The default is 0.1 rad and 1 rad/s, for lengths times the size of the mechanism.
        method : str, default "extended"
            "extended", or "iterated", which finds the most probable state in each update.
        substeps : int, default 1
            Number of equal integration steps between samples.

        Returns
        -------
        Estimator
            `estimate.step(tau, readings)` from sample to sample, `estimate.run(table)` over a table.

        Examples
        --------
        >>> s = lw.compile("wiper")
        >>> estimate = s.estimator({"A": "0.1 deg"}, every="10 ms", disturbance={"A": "0.5 N m"})
        >>> st = estimate.step({"A": "1 N m"}, {"A": "60.2 deg"})
        >>> round(float(st["A", "deg"]), 1)
        60.2
        """
        from linkwright.rings.control.estimator import Estimator

        more = {"disturbance": disturbance, "start": start, "uncertainty": uncertainty, "method": method, "substeps": substeps}
        return call_explained(Estimator, "estimator")(self, compiled_of(self), sensors, every=every, **more)


def _values(system: System, parameters: Any) -> Any:
    """Values of all parameters."""
    from linkwright.simulation.kernel_rows import entries

    return entries("parameters", parameters, system.kernels.entries["parameters"], system.kernels.defaults["parameters"])
