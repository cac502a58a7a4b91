"""What a check is asked for: requirements, the wanted motion of the drive, a run in place of a cycle, and the time for remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from linkwright.api import KINDS, Mechanism, Trajectory, UsageError, goals, modelfile

STAGES = ("readable", "complete", "assembles", "mobility", "moves", "loads", "limits", "requirements")
STEPS = 360  # of the cycle
LONGEST = 3600.0  # s


@dataclass(frozen=True)
class CheckRequest:
    """Requirements on a motion, and which motion it is."""

    require: tuple[goals.Requirement, ...] = ()
    drive: str | None = None
    start: Any = None
    stop: Any = None
    run: Any = None  # duration of a run that is checked in place of a cycle
    remedy_time: float = 5.0
    steps: int = STEPS

    @classmethod
    def of(
        cls,
        require: str | goals.Requirement | Sequence[str | goals.Requirement] = (),
        drive: str | None = None,
        start: Any = None,
        stop: Any = None,
        run: Any = None,
        remedy_time: float | str = 5.0,
    ) -> CheckRequest:
        """Read what was given; raise UsageError for what cannot be used."""
        seconds = float(modelfile.quantity(remedy_time, KINDS["time"]))
        if not 0.0 <= seconds <= LONGEST:
            raise UsageError(f"remedy_time is a time from 0 to {LONGEST:.0f} s, not {remedy_time}.", name="remedy_time", value=remedy_time)
        if run is not None and (start is not None or stop is not None):
            raise UsageError("a run has a duration, and a cycle has a start and a stop. Give one of them.", name="run")
        return cls(tuple(goals.requirements(require)), drive, start, stop, run, seconds)

    def motion(self, m: Mechanism) -> Trajectory:
        """Return the cycle, or the run where one is asked for."""
        if self.run is not None:
            return m.simulate(self.run)
        return m.cycle(self.drive, steps=self.steps, start=self.start, stop=self.stop)


class Deadline:
    """The time that is left for remedies."""

    def __init__(self, seconds: float):
        self.end = monotonic() + seconds
        self.hit = False  # True once somebody was told to stop

    def over(self) -> bool:
        self.hit = self.hit or monotonic() > self.end
        return self.hit
