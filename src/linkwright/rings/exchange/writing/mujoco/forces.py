"""Springs, dampers, friction and loads of a model in MJCF, and those it cannot hold.

    spring, damper, friction in a joint   stiffness, springref, damping, frictionloss of that joint, if it is in the tree
    armature, stop                        armature and range; a range of the cylinder's tendon
    spring, damper between points         a spatial tendon with stiffness, springlength, damping
    gas spring                            a tendon of polynomial stiffness and an actuator of affine bias: the cubic nearest to its push
    constant load, cylinder's force       an actuator with a constant bias at the point, or at the cylinder's tendon

Everything else (tables, formulas, stiffness of stops, what acts in a cut joint, laws of drives) is lost there; `lost` says what and why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import Instant, System, compiled_of, elements, forces, lengths
from linkwright.api import description as model
from linkwright.rings.exchange.writing.acted_coordinates import acted
from linkwright.rings.exchange.writing.elementary_joints import is_free, pieces
from linkwright.rings.exchange.writing.losses import Loss, of_constant_friction

FORMAT = "mjcf"  # in `formats` of an element
WORLD = "world axes"  # the site at the origin in whose axes loads are given
OPEN_END = 1e9  # an end of a travel that is open, where the other is not


@dataclass(frozen=True)
class Rest:
    """Push of a gas spring beyond its cubic: negligible within its stroke."""

    spring: forces.ElementForce
    cubic: tuple[float, ...]

    def wrenches(self, at: Instant) -> forces.Wrenches:
        on = forces.line(at, self.spring.element.between)
        return [*self.spring.wrenches(at), *forces.push(on, -np.polynomial.polynomial.polyval(on.length, self.cubic))]


@dataclass
class MujocoForces:
    """Attributes and elements of the text, the forces they stand for, and what is lost."""

    joints: dict[str, dict[str, float]] = field(default_factory=dict)  # by piece: stiffness, springref, damping, frictionloss, armature
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # by piece or cylinder: ends of its travel
    tendons: list[tuple[str, tuple[Any, Any], dict[str, str]]] = field(default_factory=list)  # name, points, attributes
    rotors: list[tuple[str, dict[str, float], float]] = field(default_factory=list)  # name, weights of joints, armature of fixed tendons
    actuators: list[dict[str, str]] = field(default_factory=list)
    written: list[Any] = field(default_factory=list)  # forces of the system
    rests: list[Any] = field(default_factory=list)  # forces: what the text's approximations leave
    lost: list[Loss] = field(default_factory=list)
    world: bool = False  # loads need the site WORLD


def numbers(values: Iterable[Any]) -> str:
    return " ".join(f"{float(x) + 0.0:.17g}" for x in values)


def held(system: System) -> MujocoForces:
    """Sort the forces of a mechanism."""
    out, d = MujocoForces(), system.description
    for force, thing in zip(compiled_of(system).forces, d.acting, strict=True):
        why = _put(out, system, thing)
        if why:
            out.lost.append(Loss(thing.name, why))
        else:
            out.written.append(force)
    for values in out.joints.values():  # springs in one joint add up
        if values.get("stiffness"):
            values["springref"] /= values["stiffness"]
    for j in d.joints:
        if j.armature:
            _armature(out, system, j)
    return out


def _put(out: MujocoForces, system: System, thing: Any) -> str:
    """Write one thing, or say why it cannot be."""
    put = PIECES.get((thing.formats.get(FORMAT, ""), thing.acts))
    return elements.lost_as(thing) if put is None else put(out, system, thing)


def _in_joint(out: MujocoForces, system: System, thing: Any) -> str:
    """Put a spring, damper or friction into the attributes of every piece of a joint that it acts in."""
    names = _pieces_of(system, thing.joint, ball=isinstance(thing, model.Damper) or not _is_dry(thing))
    if isinstance(names, str):
        return names
    if isinstance(thing, model.TorsionSpring) and not float(thing.stiffness) > 0.0:
        return "a spring without stiffness"
    if isinstance(thing, model.Friction):
        out.lost += [Loss(thing.name, reason) for reason in of_constant_friction(thing)]
    for name in names:
        values = out.joints.setdefault(name, {})
        if isinstance(thing, model.TorsionSpring):
            # effort = -k (q - free) + preload; the reference is divided by the sum of k at the end
            values["stiffness"] = values.get("stiffness", 0.0) + float(thing.stiffness)
            values["springref"] = values.get("springref", 0.0) + float(thing.stiffness) * float(thing.free_position) + float(thing.preload)
        elif isinstance(thing, model.Damper):
            values["damping"] = values.get("damping", 0.0) + float(thing.coefficient)
        else:
            values["damping"] = values.get("damping", 0.0) + float(thing.viscous)
            values["frictionloss"] = values.get("frictionloss", 0.0) + float(thing.coulomb)
    return ""


def _is_dry(thing: Any) -> bool:
    """True for a spring and for dry friction, which MuJoCo defines otherwise for a ball than we do."""
    return isinstance(thing, model.TorsionSpring) or bool(float(thing.coulomb))


def _pieces_of(system: System, name: str, *, ball: bool) -> list[str] | str:
    """Names of the MuJoCo joints that a name of ours means, or the reason why there are none."""
    found = acted(system.description, name)
    if found is None:
        return f"it acts in '{name}', which is not a joint"
    j, entries = found
    if j.name not in system.tree.node_of_joint:
        return f"it acts in '{j.name}', which is cut there. Choose other cuts"
    if is_free(j) or any(p.kind == "ball" for p in pieces(j, False)):
        whole = ball and len(entries) == 3 and not is_free(j)
        return [j.name] if whole else f"it acts in '{j.name}', a {j.type} joint"
    if any(p.kind == "screw" for p in pieces(j, False)):
        return f"it acts in '{j.name}', a {j.type} joint"
    return [p.name for p in pieces(j, False) if p.v.start in entries]


def _armature(out: MujocoForces, system: System, j: model.Joint) -> None:
    """Inertia of a rotor in every velocity of a joint."""
    if j.name not in system.tree.node_of_joint:
        out.lost.append(Loss(j.name, "the armature of a joint that is cut there. Choose other cuts"))
        return
    if is_free(j):
        out.lost.append(Loss(j.name, "the armature of a free joint, whose velocities are others there"))
        return
    for p in pieces(j, False):
        out.joints.setdefault(p.name, {})["armature"] = float(j.armature)


def _stop(out: MujocoForces, system: System, s: model.Stop) -> str:
    """Put the ends of a travel as a range; MuJoCo's limits push back with a stiffness of their own."""
    lower, upper = (-OPEN_END if s.lower is None else float(s.lower), OPEN_END if s.upper is None else float(s.upper))
    names = [s.joint] if s.joint in lengths(system.description) else _pieces_of(system, s.joint, ball=False)
    if isinstance(names, str):
        return names
    for name in names:
        before = out.ranges.get(name, (-OPEN_END, OPEN_END))
        out.ranges[name] = (max(lower, before[0]), min(upper, before[1]))
    if s.stiffness is not None:
        out.lost.append(Loss(s.name, "the stiffness of a stop: there it is a limit, as stiff as MuJoCo's limits are"))
    elif float(s.restitution):
        out.lost.append(Loss(s.name, "the rebound from a stop"))
    return ""


def _damped(out: MujocoForces, system: System, x: model.Damper) -> str:
    out.tendons.append((f"force:{x.name}", x.between or ((), ()), {"damping": numbers([x.coefficient])}))
    return ""


def _coil(out: MujocoForces, system: System, s: model.CoilSpring) -> str:
    k, free, preload = (float(x) for x in (s.stiffness, s.free_length, s.preload))
    out.tendons.append((f"force:{s.name}", s.between, {"stiffness": numbers([k]), "springlength": numbers([free])}))
    if preload:
        out.actuators.append(_bias(s.name, [-preload], tendon=f"force:{s.name}"))
    return ""


def _gas(out: MujocoForces, system: System, s: model.GasSpring) -> str:
    """The push over the stroke as b0 + b1 L + b2 L^2 + b3 L^3: an affine bias, and a tendon whose stiffness has the other two."""
    force, length, stroke = (float(x) for x in (s.force, s.length, s.stroke))
    shrink = (1.0 - 1.0 / float(s.progression)) / stroke
    at = np.linspace(length - stroke, length, 201)
    pushes = force / (1.0 - shrink * (length - at))
    fit = np.polynomial.Chebyshev.fit(at, pushes, 3)
    b = np.pad(fit.convert(kind=np.polynomial.Polynomial).coef, (0, 4))[:4]
    out.tendons.append((f"force:{s.name}", s.between, {"stiffness": numbers([0.0, -b[2], -b[3]]), "springlength": "0"}))
    out.actuators.append(_bias(s.name, b[:2], tendon=f"force:{s.name}"))
    out.rests.append(Rest(forces.ElementForce(s), tuple(b)))
    miss = float(np.abs(fit(at) - pushes).max()) / force
    exact = 1e-12  # share of a gas spring's force by which the cubic may miss it and be the same
    if miss > exact:
        out.lost.append(Loss(s.name, f"its push is a cubic there, {100.0 * miss:.2g} % off within the stroke"))
    return ""


def _load(out: MujocoForces, system: System, load: model.Load) -> str:
    ground = system.description.bodies[0].name
    values = (*load.force, *load.moment)
    if not all(isinstance(x, (int, float, np.floating)) for x in values):
        return "a load that varies by a table or formula"
    if load.axes not in ("world", load.body):
        return f"a load in the axes of '{load.axes}'"
    if load.body == ground:
        return ""
    axes = {"refsite": WORLD} if load.axes == "world" else {}
    out.world = out.world or bool(axes)
    out.actuators.append(_bias(load.name, [1.0], site=f"{load.body}.{load.point}", **axes, gear=numbers(values)))
    return ""


def _cylinder(out: MujocoForces, system: System, c: model.Cylinder) -> str:
    if not isinstance(c.force, (int, float, np.floating)):
        return "a cylinder's force that varies by a table or formula"
    if c.force:
        out.actuators.append(_bias(c.name, [c.force], tendon=c.name))
    return ""


PIECES = {  # of `formats` of an element, and where it acts -> how it is written
    ("stiffness", elements.JOINT): _in_joint, ("damping", elements.JOINT): _in_joint, ("damping", elements.LINE): _damped,
    ("coil", elements.LINE): _coil, ("gas", elements.LINE): _gas, ("site", elements.POINT): _load,
    ("friction", elements.JOINT): _in_joint, ("cylinder", elements.LINE): _cylinder,
    ("range", elements.JOINT): _stop, ("range", elements.IDLE): _stop,
}  # fmt: skip


def _bias(name: str, b: Any, **more: str) -> dict[str, str]:
    """An actuator that pushes b0 + b1 length by itself; its control does nothing."""
    fixed = {"gaintype": "fixed", "gainprm": "0", "biastype": "affine", "biasprm": numbers([*b, *([0.0] * (3 - len(b)))])}
    return {"name": f"force:{name}", **more, **fixed}
