"""FMUs for the tests, built without optimization, and an open one as FMPy's classes drive it."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy import fmi2, fmi3

import linkwright as lw
from linkwright.rings.exchange.writing.fmu import binaries

ME, CS = "ModelExchange", "CoSimulation"
KINDS = {(ME, "2.0"): fmi2.FMU2Model, (CS, "2.0"): fmi2.FMU2Slave, (ME, "3.0"): fmi3.FMU3Model, (CS, "3.0"): fmi3.FMU3Slave}
PLAIN = tuple("-O0" if flag.startswith("-O") else flag for flag in binaries.FLAGS)
MOTOR = {"Kt": "0.05 N m/A", "R": "0.4 ohm", "L": "1 mH", "J": "1e-5 kg m^2", "gear_ratio": 50, "efficiency": 0.8, "friction": "5 mN m"}
GEARMOTOR = lw.drives.dc_motor(**MOTOR, supply_voltage="24 V")


def export(m: lw.Mechanism, path: Path, **options: Any) -> str:
    """The path of an FMU that was built quickly: the arithmetic is the same without optimization."""
    usual = binaries.FLAGS
    binaries.FLAGS = PLAIN
    try:
        return str(m.export(path, **options))
    finally:
        binaries.FLAGS = usual


class Unit:
    """An instance of an FMU: variables by name, and the messages it sent."""

    def __init__(self, path: str, kind: str, folder: str):
        self.description = fmpy.read_model_description(path)
        self.version, self.kind = self.description.fmiVersion, kind
        made = KINDS[kind, self.version]
        identifier = (self.description.modelExchange if kind == ME else self.description.coSimulation).modelIdentifier
        self.fmu = made(guid=self.description.guid, unzipDirectory=folder, modelIdentifier=identifier, instanceName="one")
        self.messages: list[str] = []
        if self.version == "2.0":
            self.log = fmi2.fmi2CallbackLoggerTYPE(lambda env, name, status, category, text, *rest: self.messages.append(text.decode()))
            calls = fmi2.fmi2CallbackFunctions(self.log, fmi2.defaultCallbacks.allocateMemory, fmi2.defaultCallbacks.freeMemory)
            self.fmu.instantiate(callbacks=calls, loggingOn=True)
        else:
            self.fmu.instantiate(loggingOn=True, logMessage=lambda env, status, category, text: self.messages.append(text.decode()))
        self.reference = {v.name: v.valueReference for v in self.description.modelVariables}

    def begin(self, values: Mapping[str, float] | None = None, *, tolerance: float | None = None, time: float = 0.0) -> Unit:
        """Initialized, with these values set before."""
        if self.version == "2.0":
            self.fmu.setupExperiment(tolerance=tolerance, startTime=time)
        self.set(values or {})
        if self.version == "2.0":
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(tolerance=tolerance, startTime=time)
        self.fmu.exitInitializationMode()
        if self.kind == ME:
            (self.fmu.newDiscreteStates if self.version == "2.0" else self.fmu.updateDiscreteStates)()
            self.fmu.enterContinuousTimeMode()
        return self

    def set(self, values: Mapping[str, float]) -> None:
        if values:
            put = self.fmu.setReal if self.version == "2.0" else self.fmu.setFloat64
            put([self.reference[n] for n in values], [float(x) for x in values.values()])

    def get(self, *names: str) -> np.ndarray:
        take = self.fmu.getReal if self.version == "2.0" else self.fmu.getFloat64
        return np.array(take([self.reference[n] for n in names]))

    def step(self, t: float, h: float) -> None:
        self.fmu.doStep(t, h)

    def named(self, **wanted: str) -> list[str]:
        """Names of variables with these attributes."""
        return [v.name for v in self.description.modelVariables if all(getattr(v, k) == x for k, x in wanted.items())]

    @property
    def states(self) -> list[str]:
        return [v.derivative.name for v in self.description.modelVariables if v.derivative is not None]

    def along(self, unknowns: Sequence[str], knowns: Sequence[str], seed: Sequence[float]) -> np.ndarray:
        refs = [[self.reference[n] for n in names] for names in (unknowns, knowns)]
        return np.array(self.fmu.getDirectionalDerivative(*refs, list(map(float, seed))))

    def against(self, unknowns: Sequence[str], knowns: Sequence[str], seed: Sequence[float]) -> np.ndarray:
        refs = [[self.reference[n] for n in names] for names in (unknowns, knowns)]
        return np.array(self.fmu.getAdjointDerivative(*refs, list(map(float, seed)), nSensitivity=len(knowns)))


@contextmanager
def opened(path: str, kind: str = CS) -> Iterator[Unit]:
    logging.getLogger("fmpy").setLevel(logging.ERROR)
    folder = fmpy.extract(path)
    unit = None
    try:
        unit = Unit(path, kind, folder)
        yield unit
    finally:
        if unit is not None:
            unit.fmu.freeInstance()
        shutil.rmtree(folder, ignore_errors=True)


def simulated(path: str, kind: str, duration: float, **options: Any) -> Any:
    """FMPy's simulation, sampled every hundredth of a second; its CVode at a tolerance at which the error is the FMU's."""
    precise = {"relative_tolerance": 1e-11} if kind == ME else {}
    settings = {"output_interval": 0.01, "record_events": False, "validate": False, **precise, **options}
    return fmpy.simulate_fmu(path, fmi_type=kind, stop_time=duration, **settings)


def differences(run: lw.Trajectory, found: Any) -> dict[str, float]:
    """Of every recorded variable how far it is from the run, relative to its largest value where that is above one."""
    names = [n for n in found.dtype.names if n != "time"]
    return {n: float(np.abs(found[n] - run[n]).max() / max(1.0, np.abs(run[n]).max())) for n in names}
