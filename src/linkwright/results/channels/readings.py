"""Channels of a trajectory by name, from one of four sources:

    recorded      columns and multipliers that were stored while it ran
    singular      singular values of a run: ranks are decided on numbers (`singular_channels`)
    symbols       everything else, traced once per mechanism and run on all samples (`graph`); what the loads of a turn
                  (`cycle_loads`) and a held motion (`driven_motion`) solve for is solved once and stays with the motion as arrays
    instants      few samples, and what cannot be traced, one sample at a time
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import ChannelError
from linkwright.mechanics.instant import Instant
from linkwright.model.coordinates import coordinate_or_none
from linkwright.properties import cached_property
from linkwright.results.channels import Channel, Channels
from linkwright.results.channels import singular as singular_channels
from linkwright.results.channels.channel_list import ChannelList
from linkwright.results.channels.driven_motion import MotionReading
from linkwright.results.channels.loads import drive_channels
from linkwright.results.channels.sample_loads import SINGLE_SAMPLES, SampleLoads
from linkwright.results.records import Column, coordinate_names, multipliers
from linkwright.results.state import wound

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

WORKS = {
    "work.in": "work of the drives since the start",
    "work.loads": "work of the loads since the start",
    "work.lost": "energy lost since the start to friction, dampers and impacts",
    "energy.rotors": "kinetic energy of the rotors of all motors",
}
TOUCH = {  # what follows the name of a contact.
    "force": "normal force at {}",
    "friction": "friction at {} along its tangent",
    "state": "state of {}: 0 open, 1 sticks, 2 slips",
    "impulse": "normal impulse at {}, at the first sample after an impact",
}
MOTOR = {  # what follows motor.JOINT.
    "voltage": "voltage at the terminals of the motor at {}, after limits",
    "current": "current of the motor at {}",
    "speed": "speed of the shaft of the motor at {}",
    "torque": "torque of the motor at {}, after its gearbox",
    "torque.shaft": "torque of the motor at {} without the part that accelerates its rotor",
    "power.electric": "electric power of the motor at {}",
    "power.mechanical": "mechanical power of the motor at {}",
    "power.magnetic": "power into the inductance of the motor at {}",
    "power.created": "power that the motor at {} creates because Kt and Ke differ",
    "heat": "heat in the winding of the motor at {}",
    "loss.friction": "friction in the motor at {}",
    "loss.gearbox": "loss in the gearbox of the motor at {}",
}

OF_HELD = (".jerk", ".jx", ".jy", ".jz", ".advantage", ".force_transmission_angle", ".lost_motion")  # channels that need held drives


class Readings:
    """Channels of a trajectory by name, and their values."""

    def __init__(self, c: Trajectory, loads: SampleLoads):
        self.c, self.loads = c, loads
        self.moving = MotionReading(c)

    @cached_property
    def recorded(self) -> dict[str, Column]:
        lam = multipliers(self.c.skel, self.c.arrays["lam"]) if "lam" in self.c.arrays else {}
        return {**lam, **self.c.columns}

    @cached_property
    def table(self) -> Channels:
        retained = {n: Channel(n, x.dimension, _not_here, meaning=self._recorded_meaning(n, x)) for n, x in self.recorded.items()}
        named = () if self._singularity is None else self._singularity.names
        looked = {n: Channel(n, "none", _not_here, meaning=singular_channels.NAMES[n]) for n in named}
        return Channels(self.c.skel, {**self.loads.channels, **retained, **looked})

    def _recorded_meaning(self, name: str, x: Column) -> str:
        """Of a recorded channel: as of the computed one in whose place it is, else its kind."""
        d, head = self.c.skel.tree.description, name.rpartition(".")[0]
        computed = self.loads.channels if coordinate_or_none(d, head) is None else drive_channels(d, [head])
        if name in computed:
            return computed[name].meaning
        if name.startswith("lam."):
            return f"multiplier of the loop closed at {name.removeprefix('lam.')}"
        if name in WORKS:
            return WORKS[name]
        if name.startswith("motor."):
            joint, kind = next((name[6 : -len(k) - 1], k) for k in sorted(MOTOR, key=len, reverse=True) if name.endswith(f".{k}"))
            return MOTOR[kind].format(joint)
        if name.endswith(".stop.force"):
            return f"force of the stop of {name.removesuffix('.stop.force')}"
        if f"{head}.impulse" in self.recorded and name.removeprefix(f"{head}.") in TOUCH:
            return TOUCH[name.removeprefix(f"{head}.")].format(head)
        if name.endswith(".friction.state"):
            return f"state of the friction of {head.removesuffix('.friction')}: 0 at rest, 1 and -1 the direction in which it slips"
        if name.endswith(".friction") and coordinate_or_none(d, head) is not None:
            return f"friction of {head} along its coordinate"
        if name.endswith(".tension"):
            return f"tension of {name.removesuffix('.tension')}, zero while it is slack"
        return f"recorded {'values' if x.dimension in ('mixed', 'none') else x.dimension}"

    @cached_property
    def names(self) -> list[str]:
        """Everything that can be read, but t."""
        return [*self.table.names, *(n for n in self.moving.channels if n not in self.table)]

    @cached_property
    def listed(self) -> ChannelList:
        """See `Trajectory.channels`."""
        d = self.c.skel.tree.description
        return ChannelList(["t", *self.names], self.channel, d.units, repr(d.name))

    @cached_property
    def _singularity(self) -> singular_channels.Singularity | None:
        """How near a run is to singular positions; nothing for a cycle or a tree without loops."""
        if "lam" not in self.c.arrays or not self.c.skel.tree.nc or not len(self.c):
            return None
        names = coordinate_names(self.c.skel, "v_names")
        drives = self.c.settings.get("drive") or [d.joint for d in self.c.skel.tree.description.drives]
        places = [names.index(n) for n in drives if n in names]
        return singular_channels.Singularity(self.c.frame, self.c.t, self.c.q, self.c.references, places, self.c.arrays.get("closed"))

    def channel(self, name: str) -> Channel:
        """See `Trajectory.channel`."""
        if name == "t":
            return Channel("t", "time", lambda x: x.t, meaning="time")
        if name in self.loads.channels and name not in self.recorded:  # without the table of everything
            return self.loads.channels[name]
        if name not in self.table and name in self.moving.channels:
            self.moving.need_plays(name)
            return self.moving.channels[name]
        if name not in self.table and name.endswith(OF_HELD):
            self.moving.explain(name)
        return self.table[name]

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        """See `Trajectory.read`."""
        wanted = {name: self.channel(name) for name in names}
        out = {name: self.c.t if name == "t" else self.recorded[name].values for name in wanted if name == "t" or name in self.recorded}
        if self._singularity is not None:
            out.update({name: self._singularity.column(name).values for name in wanted if name in singular_channels.NAMES})
        solved = set() if "lam" in self.c.arrays else set(self.loads.channels)  # loads of a cycle are solved for
        if self.c.static:  # a path is bent whether or not somebody moves along it
            paths = [name for name, c in wanted.items() if c.dimension == "curvature" and not c.needs and name not in out]
            out |= self.c.in_motion().read(paths) if paths else {}
        held = [c for name, c in wanted.items() if c.needs and name not in out]
        out |= self.moving.read(held) if held else {}
        left = [c for name, c in wanted.items() if name not in out and name not in solved]
        if any(c.name in self.loads.channels for c in left):
            self.loads.check()
        found = self.loads.batch.read(left) if left and len(self.c) >= SINGLE_SAMPLES else {}
        loads = [c for name, c in wanted.items() if name not in out and name in solved]
        if loads and self.loads.cycle is not None:
            found |= self.loads.cycle.read(loads)
        for name, channel in wanted.items():
            if name not in out:
                values = found[name] if name in found else np.array([channel.read(x) for x in self.c._instants], dtype=float)
                out[name] = values if channel.winds is None else wound(self.c.skel, self.c._counted_from, self.c.q, values, channel.winds)
        return {name: out[name] for name in wanted}

    def main(self) -> list[str]:
        """See `Trajectory._main_channels`."""
        computed = [n for n in self.table.names if n not in self.loads.channels and n not in self.recorded]
        keep = [n for n in computed if not n.startswith(("ground.", "energy."))]
        recorded = [n for n, x in self.c.columns.items() if x.values.ndim == 1]
        return ["t", *(n for n in keep if self._is_component(n)), *recorded]

    def _is_component(self, name: str) -> bool:
        """A single number worth a column: no vectors, no derived sizes."""
        single = (".x", ".y", ".z", ".vx", ".vy", ".vz", ".ax", ".ay", ".az", ".gap", ".slip")  # of points and touches
        if not (name.count(".") < 2 or name.endswith(single) or ".angle." in name):
            return False
        dimension = self.table[name].dimension
        return dimension not in ("mixed", "none") and np.ndim(self.table[name].read(self._first)) == 0

    @cached_property
    def _first(self) -> Instant:
        """An instant that shows the shape of every channel; of a run without samples the position of its start."""
        still = np.zeros(self.c.skel.tree.nv)
        return self.c.instant(0) if len(self.c) else Instant(self.c.skel, self.c._counted_from, still, a=still)


def _not_here(x: Instant) -> Any:
    raise ChannelError("this channel was recorded over a run and cannot be read at a state alone.")
