"""Co-simulation FMUs at 1 kHz: how much faster than real time they are, called from Python by FMPy.

    python -m benchmarks.fmu_steps [model ...]

A step is fmi3DoStep of 1 ms with the default tolerance, alone and with all outputs read after it; best of several runs of 200 steps.
Needs fmpy and a C compiler.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import linkwright as lw

STEP, STEPS, RUNS = 1e-3, 200, 10
MOTOR = {"Kt": "0.05 N m/A", "R": "0.4 ohm", "L": "1 mH", "J": "1e-5 kg m^2", "gear_ratio": 50, "efficiency": 0.8}
CASES: dict[str, tuple[str, Any]] = {
    "wiper with a motor": ("wiper", {"A": ("12 V", MOTOR)}),
    "carpet scraper, free": ("carpet-scraper", {}),
    "Stewart platform, driven": ("stewart", None),
}


class FmuTiming(NamedTuple):
    """One FMU: seconds to export, bytes of the file, outputs, and seconds of a step."""

    name: str
    export_s: float
    size: int
    outputs: int
    step_s: float
    with_outputs_s: float

    def __str__(self) -> str:
        alone, read = STEP / self.step_s, STEP / self.with_outputs_s
        return (
            f"{self.name}: export {self.export_s:.1f} s, {self.size / 1e3:.0f} KB; "
            f"step {self.step_s * 1e6:.1f} us = {alone:.0f} x real time, "
            f"with {self.outputs} outputs read {self.with_outputs_s * 1e6:.1f} us = {read:.0f} x real time"
        )


def timed(name: str, model: str, drive: Any) -> FmuTiming:
    """Export a model and time its steps."""
    fmpy: Any = import_module("fmpy")
    fmi3: Any = import_module("fmpy.fmi3")
    drives = drive and {joint: lw.drives.voltage(volts, motor=lw.drives.dc_motor(**data)) for joint, (volts, data) in drive.items()}
    with tempfile.TemporaryDirectory() as folder:
        before = time.perf_counter()
        path = lw.load(model).export(Path(folder) / "unit.fmu", drive=drives)
        export_s = time.perf_counter() - before
        described, unpacked = fmpy.read_model_description(str(path)), fmpy.extract(str(path))
        identifier = described.coSimulation.modelIdentifier
        unit = fmi3.FMU3Slave(guid=described.guid, unzipDirectory=unpacked, modelIdentifier=identifier, instanceName="one")
        references = [v.valueReference for v in described.modelVariables if v.causality == "output"]
        unit.instantiate()
        unit.enterInitializationMode(startTime=0.0)
        unit.exitInitializationMode()
        times = []
        t = 0.0
        for read in (False, True):
            best = float("inf")
            for _ in range(RUNS):
                before = time.perf_counter()
                for _ in range(STEPS):
                    unit.doStep(t, STEP)
                    t += STEP
                    if read:
                        unit.getFloat64(references)
                best = min(best, (time.perf_counter() - before) / STEPS)
            times.append(best)
        size = Path(path).stat().st_size
        unit.freeInstance()
        shutil.rmtree(unpacked, ignore_errors=True)
    return FmuTiming(name, export_s, size, len(references), *times)


def main(names: Sequence[str]) -> None:
    cases = {n: (n, None) for n in names} or CASES
    for name, (model, drive) in cases.items():
        print(timed(name, model, drive), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
