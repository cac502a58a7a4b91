"""Programs of the closed-loop set: one module each, one line in PROGRAMS.

A module has PROGRAM (its name in tables), `version()`, which raises `Unavailable` where it is not installed, and `KINDS`: for each kind
of task a function of (case, task, quick) that returns a list of `Answer`, or raises `NotOffered` with the reason. A kind that is not
in KINDS is not offered; REASONS may say why. `quick` asks for the cheapest setting only.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

PROGRAMS = ("linkwright", "pinocchio", "mujoco", "exudyn", "drake")


class NotOffered(Exception):
    """A task that a program cannot do; the text says why."""


def program(name: str) -> Any:
    """Return the module of a program of PROGRAMS."""
    return import_module(f"benchmarks.closed_loop_set.programs.{name}_program")
