"""Channels that follow from how the drives hold a motion: jerk, mechanical advantage, transmission by force.

    guide.jerk   C.slide.jerk     rate of a joint's or cylinder's acceleration; rocker.angle.jerk, coupler.P.jerk, .jx .jy
    guide.advantage               force (torque) at guide per unit torque (force) at the leading drive, the other drives held
    guide.advantage.A             between any two places: the output, then the input
    D.lost_motion                 how far D moves to each side within all plays (see `mechanics.inverse.lost_motion`)
    D.lost_motion.B               the part of the play B
    guide.force_transmission_angle  share of the forces on the output's body that does work (see `mechanics.inverse.power_share`)

They hold at every sample of a cycle; `driven_motion` has the equations. Sizes: |ratio| is infinite where the output rests while the input
moves, zero where the input rests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.elements.play import Play
from linkwright.errors import ChannelError, counted, nearest
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse import lost_motion
from linkwright.mechanics.inverse.effort_places import EffortPlace, effort_place, resting_points
from linkwright.mechanics.inverse.power_share import share_terms, transmission_by_force, transmissions_by_force
from linkwright.model.coordinates import JointCoordinate, coordinates, joint_coordinates, lengths
from linkwright.model.description import Description
from linkwright.numerics.spatial import array
from linkwright.properties import cached_property
from linkwright.results.channels import Channel

NO_PLAY = (
    "the model has no play, so no motion is lost. Give a joint a clearance, `clearances: {B: {clearance: 0.05 mm, radius: 1 cm}}`, or "
    "`play:` to gears, a coupling or a drive."
)
TIED = 1e-9  # share of the largest multiplier of a self-stress below which a play has no force of it
PUSH = "push "  # terms of a unit load on a place: lam, u and the load itself
ADVANTAGE, BY_FORCE, LOST = ".advantage", ".force_transmission_angle", ".lost_motion"
RATIOS = {  # effort at the output over effort at the input, by the kinds of their coordinates
    ("angle", "angle"): "pure number", ("length", "length"): "pure number", ("length", "angle"): "curvature", ("angle", "length"): "length",
}  # fmt: skip


class MotionChannels(Mapping[str, Channel]):
    """Channels by name on a skeleton whose motion the coordinates `held` determine; those of all pairs of places are made when asked for.

    `loops` are those that belong to the skeleton (with numbers or symbols), `jerks` is False where third derivatives are not known.
    """

    def __init__(self, loops: Loops, held: Sequence[str], *, jerks: bool = True):
        self.loops, self.held, self.jerks = loops, list(held), jerks
        self.d: Description = loops.skel.tree.description
        self._made: dict[str, Channel] = {}

    @cached_property
    def listed(self) -> list[str]:
        """Names that are listed: jerks, advantages over the first held coordinate, transmissions to ground."""
        out = list(self._jerks) if self.jerks else []
        if not self.held:
            return out
        out += [f"{name}{ADVANTAGE}" for name in self._outputs if name not in self.held]
        if self._plays:
            single = [name for name in self._outputs if "." not in name or name.endswith(".angle")]
            out += [f"{name}{LOST}" for name in single if name not in self.held]
        ground = self.d.bodies[0].name
        return out + [f"{x.name}{BY_FORCE}" for x in self._free if ground in (x.joint.first, x.joint.second)]

    @cached_property
    def _free(self) -> list[JointCoordinate]:
        """Coordinates of joints that are not held."""
        return [x for x in joint_coordinates(self.d) if x.name not in self.held]

    def __len__(self) -> int:
        return len(self.listed)

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._made or self._kind(name) != "")

    def _kind(self, name: str) -> str:
        if self.jerks and name in self._jerks:
            return "jerk"
        if self.held and name.endswith(BY_FORCE):
            return "force"
        if self.held and (f"{LOST}." in name or name.endswith(LOST)):
            return "lost"
        return "advantage" if self.held and (f"{ADVANTAGE}." in name or name.endswith(ADVANTAGE)) else ""

    def __getitem__(self, name: str) -> Channel:
        if name not in self._made:
            make = {"jerk": self._jerk, "force": self._by_force, "advantage": self._advantage, "lost": self._lost}.get(self._kind(name))
            if make is None:
                raise KeyError(name)
            self._made[name] = make(name)
        return self._made[name]

    # ---------------------------------------------------------------- jerk

    @cached_property
    def _jerks(self) -> dict[str, tuple[str, Any]]:
        """Dimension and the acceleration whose rate it is, by name."""
        out: dict[str, tuple[str, Any]] = {}
        kinds = {"angle": "angular jerk", "length": "jerk"}
        for on in coordinates(self.d):
            out[f"{on.name}.jerk"] = (kinds[on.kind], lambda x, on=on: x.travel_acceleration(on))
        skel = self.loops.skel
        for body in (b for b in self.d.bodies if not b.chain):
            node = skel.node(body.name)
            if node >= 0 and self.d.planar:
                out[f"{body.name}.angle.jerk"] = ("angular jerk", lambda x, n=node: x.A[n][2])
            for point in body.points if node >= 0 else ():
                self._point_jerks(out, f"{body.name}.{point.name}", node, array(point.at))
        return out

    def _point_jerks(self, out: dict[str, tuple[str, Any]], name: str, node: int, at: Any) -> None:
        axes = self.d.plane or "xyz"
        out[f"{name}.jerk"] = ("jerk", lambda x: x.point_acceleration(node, at)[: len(axes)])
        for i, axis in enumerate(axes):
            out[f"{name}.j{axis}"] = ("jerk", lambda x, i=i: x.point_acceleration(node, at)[i])

    def _jerk(self, name: str) -> Channel:
        kind, read = self._jerks[name]
        meaning = f"rate of the acceleration of {name.rpartition('.')[0]}"
        return Channel(name, kind, lambda x: x.rate(read, x.term("jerk")), needs=("jerk",), meaning=meaning)

    # ---------------------------------------------------------------- mechanical advantage

    @cached_property
    def _outputs(self) -> list[str]:
        """Places that are listed: coordinates of joints, cylinders, angles of bodies, points."""
        out = [*lengths(self.d), *(x.name for x in joint_coordinates(self.d))]
        for body in self.d.moving:
            out += [f"{body.name}.angle"] if self.d.planar else []
            out += [f"{body.name}.{p.name}" for p in body.points]
        rest = resting_points(self.d)
        return [name for name in dict.fromkeys(out) if name not in rest]

    def _place(self, name: str, what: str) -> EffortPlace:
        found = effort_place(self.d, name)
        if found is None:
            raise ChannelError(
                f"'{what}': '{name}' is not a place for a force: write OUTPUT.advantage.INPUT with joints, points or cylinders.",
                nearest(name, self._outputs, "Places"),
            )
        return found

    def _advantage(self, name: str) -> Channel:
        head, _, tail = name.partition(ADVANTAGE)
        first = self.held[0]
        output, source = self._place(head, name), self._place(tail.removeprefix(".") or first, name)
        if output.name in self.held and output.name != source.name and len(self.held) > 1:
            raise ChannelError(
                f"'{name}': '{output.name}' is a drive, which is held while '{source.name}' moves. Choose another output.", name=name
            )
        if source.name in self.held:
            column = self.held.index(source.name)
        elif len(self.held) == 1:
            column = 0
        else:
            raise ChannelError(
                f"'{name}': with {counted(len(self.held), 'drive')} the input must be one of them ({', '.join(self.held)}). The "
                "others are held.",
                name=name,
            )

        def rates(x: Instant) -> Any:
            T = x.term("tangent").reshape(-1, len(self.held))[:, column]
            return np.array([source.rate(x, T), output.rate(x, T)])

        kind, meaning = RATIOS[output.kind, source.kind], f"torque or force at {output.name} per torque or force at {source.name}"
        return Channel(name, kind, lambda x: _ratio(rates(x)), raw=rates, cook=_ratios, needs=("tangent",), meaning=meaning)

    # ---------------------------------------------------------------- transmission by force

    def _by_force(self, name: str) -> Channel:
        output = name.removesuffix(BY_FORCE)
        found = [x.name for x in self._free]
        if output not in found:
            raise ChannelError(f"'{name}': the output is the coordinate of a joint without a drive.", nearest(output, found, "Coordinates"))
        need = PUSH + output

        def terms(x: Instant) -> Any:
            return share_terms(x, self.loops, output, self.held, x.term(need))

        meaning = f"transmission angle from the forces on the output {output}"
        more: dict[str, Any] = {"meaning": meaning, "raw": terms, "cook": transmissions_by_force, "needs": (need,), "kink": 0.5 * np.pi}
        return Channel(name, "angle", lambda x: transmission_by_force(terms(x)), **more)

    # ---------------------------------------------------------------- lost motion

    @cached_property
    def _plays(self) -> tuple[Play, ...]:
        return elements.plays_of(self.d)

    def tied(self, name: str, x: Instant, stresses: Sequence[np.ndarray]) -> list[str]:
        """Plays of a lost motion in which self-stresses, multipliers and efforts that balance each other, have a force: they depend on
        other constraints."""
        output, plays = self._lost_of(name)
        every = [lost_motion.forces(x, self.loops, output, self.held, plays, np.append(y, 0.0))[1:] for y in stresses]
        sizes = [np.abs(y.reshape(len(plays), -1)).max(axis=1) for y in every]
        return [p.name for i, p in enumerate(plays) if any(s[i] > TIED * np.abs(y).max() for s, y in zip(sizes, stresses, strict=True))]

    def _lost(self, name: str) -> Channel:
        output, plays = self._lost_of(name)
        need = PUSH + output.name

        def forces(x: Instant) -> Any:
            return lost_motion.forces(x, self.loops, output, self.held, plays, x.term(need))

        def moved(y: np.ndarray) -> np.ndarray:
            return lost_motion.within(plays, y).sum(axis=1)

        whole = "all plays" if len(plays) == len(self._plays) else plays[0].name
        meaning = f"how far {output.name} moves to each side within {whole} while the drives hold"
        more: dict[str, Any] = {"meaning": meaning, "raw": forces, "cook": moved, "needs": (need,)}
        return Channel(name, output.kind, lambda x: moved(np.array([[float(y) for y in forces(x)]]))[0], **more)  # of symbols: by `raw`

    def _lost_of(self, name: str) -> tuple[EffortPlace, list[Play]]:
        """The output of a lost motion, and its plays: one that is named, or all."""
        head, _, tail = name.partition(LOST)
        output, wanted = effort_place(self.d, head), tail.removeprefix(".")
        if not self._plays:
            raise ChannelError(f"'{name}': {NO_PLAY}", name=name)
        names = [x.name for x in self._plays]
        if wanted and wanted not in names:
            raise ChannelError(f"'{name}': there is no play '{wanted}'.", nearest(wanted, names, "Plays"), name=wanted, allowed=names)
        if output is None or output.acceleration is None:
            raise ChannelError(
                f"'{name}': '{head}' is not a position with a single value. Lost motion is one of an angle or a length, such as a joint's "
                "coordinate, the angle of a body or a coordinate of a point.",
                name=head,
            )
        return output, [x for x in self._plays if wanted in ("", x.name)]


def _ratio(rates: Any) -> Any:
    """Input rate over output rate: the effort at the output per unit effort at the input."""
    if isinstance(rates[0], (float, np.floating)):
        return float(_ratios(np.array([rates], dtype=float))[0])
    never = isinstance(rates[1], (int, float)) and rates[1] == 0.0  # an output that cannot move
    return np.inf if never else rates[0] / rates[1]


def _ratios(rates: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return rates[:, 0] / rates[:, 1]
