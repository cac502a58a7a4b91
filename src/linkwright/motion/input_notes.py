"""Notes of a cycle on inputs of the model that do not act in it: efforts of drives, and what vanishes at rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from linkwright import elements
from linkwright.errors import listing
from linkwright.model.curves.tables import table
from linkwright.model.description import Description, Drive, Table
from linkwright.model.plausibility import of_velocity
from linkwright.text.expressions import Expr, evaluate, free_variables
from linkwright.text.units import FORCE, TORQUE, shown

STATIC = "Static analysis: inertia forces are ignored."
EFFORTS = ("torque", "motor_dc")  # kinds of drives that act and prescribe nothing


def effort_notes(desc: Description, rotary: Mapping[str, bool]) -> list[str]:
    """One note for each drive whose torque, force or voltage a cycle leaves out; `rotary` has every drive by name."""
    return [_left_out(desc, d, rotary[d.joint]) for d in desc.drives if d.kind in EFFORTS and not _is_zero(d.value)]


def _left_out(desc: Description, drive: Drive, rotary: bool) -> str:
    kind = "voltage" if drive.kind == "motor_dc" else "torque" if rotary else "force"
    amount = ""
    if kind != "voltage" and not isinstance(drive.value, (Expr, Table)):
        amount = f" of {shown(float(drive.value) * float(drive.gear), TORQUE if rotary else FORCE, desc.units)}"
    found = "torque" if rotary else "force"
    return (
        f"the {kind}{amount} that the model gives to '{drive.joint}' does not act here: a cycle prescribes the motion and computes the "
        f"{found} that it takes. A simulation applies it"
    )


def static_note(desc: Description) -> str:
    """`STATIC`, and what becomes of forces that depend on velocity or time, by their names."""
    said, of_time = [STATIC], False
    for kind, name, laws in _laws(desc):
        seen = {v for x in laws for v in _channels(x)}
        of_time |= "t" in seen
        velocities = sorted(v for v in seen if of_velocity(v))
        if not velocities:
            continue
        if all(_is_zero(_at_rest(x)) for x in laws):
            said.append(f"{kind} '{name}' is zero in every position, because its formula is zero at rest ({', '.join(velocities)}).")
        else:
            said.append(f"{kind} '{name}' is taken at zero velocity ({', '.join(velocities)}).")
    braking = [f"{x.word} '{x.name}'" for x in desc.acting if x.of_speed and not x.stores]
    if braking:
        said.append(f"Velocities are zero, so nothing comes from {listing(braking)}.")
    if of_time:
        said.append("Loads that vary with time are taken at the time at which the drive reaches the position.")
    return " ".join(said)


def _laws(desc: Description) -> Iterator[tuple[str, str, list[Any]]]:
    for x in desc.acting:
        if elements.varying(x):
            yield x.word.capitalize(), x.name, elements.varying(x)


def _channels(law: Any) -> set[str]:
    return {law.channel} if isinstance(law, Table) else set(free_variables(law)) if isinstance(law, Expr) else set()


def _at_rest(law: Any) -> Any:
    """The law with all velocities zero; still an expression where it depends on positions or time."""
    if isinstance(law, Table) and of_velocity(law.channel):
        return float(table(law.x, law.y, law.interpolation, straight=True)(0.0)[0])
    return evaluate(law, {v: 0.0 for v in _channels(law) if of_velocity(v)}) if isinstance(law, Expr) else law


def _is_zero(value: Any) -> bool:
    return not isinstance(value, (Expr, Table)) and value == 0.0
