"""Changes of the structure after which a stage passes: another assembly mode, joints that hold less, parts joined or taken out, masses.

Each proposal is a list of edits of the file. It is applied, and named only if the stage passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from linkwright.api import (
    LENGTH,
    LinkwrightError,
    Mechanism,
    check_results,
    compiled_of,
    coordinates,
    display_unit,
    edit_sheet,
    elements,
    joint_limits,
    listing,
)
from linkwright.rings.design.model_check.applied import applied, file_name
from linkwright.rings.design.model_check.request import CheckRequest, Deadline
from linkwright.rings.design.model_check.stages import Stages, passes

Remedy = check_results.Remedy
Edit = Mapping[str, Any]
Proposal = tuple[str, tuple[Edit, ...]]
LOOSER = dict((("spherical", "a ball joint"), ("floating_bearing", "a floating bearing")))
MOST_CHANGED = 3  # joints that are changed at once
SHOWN = 2


def remedies(m: Mechanism, asked: CheckRequest, found: check_results.Check, deadline: Deadline) -> list[Remedy]:
    """Return the structural changes after which this check passes."""
    document = m.description.document
    if document is None or document.text is None or document.origin is not None:
        return []
    sheet = edit_sheet.EditSheet(document.text, file_name(document))
    out: list[Remedy] = []
    for text, edits in PROPOSALS.get(found.stage, _none)(m, asked, found, sheet):
        if deadline.over() or len(out) >= SHOWN:
            break
        remedy = Remedy(text, {}, edits, verified=True)
        if _mended(m, asked, found, remedy):
            out.append(remedy)
    return out


def _mended(m: Mechanism, asked: CheckRequest, found: check_results.Check, remedy: Remedy) -> bool:
    try:
        after = applied(m, remedy)
        if found.verdict == "failed":
            return passes(after, asked, found.stage)
        again = Stages(after, asked).run("mobility")
        return not any(x.verdict != "passed" for x in again if x.stage in ("assembles", "mobility"))
    except (LinkwrightError, ArithmeticError):
        return False


def _none(*_: Any) -> Iterator[Proposal]:
    return iter(())


def _set(path: Sequence[Any], value: Any) -> Edit:
    return {"do": "set_value", "path": list(path), "value": value}


# -------------------------------------------------------------------- masses


def _masses(m: Mechanism, asked: CheckRequest, found: check_results.Check, sheet: edit_sheet.EditSheet) -> Iterator[Proposal]:
    """Bodies without a mass get the mean mass of the others: a number to be replaced by the true one."""
    known = [float(b.mass) for b in m.description.moving if b.mass is not None]
    without = [b.name for b in m.description.moving if b.mass is None and not b.chain]
    if not known or not without:
        return
    mean = f"{float(np.mean(known)):.3g} kg"
    names = listing([f"'{x}'" for x in without])
    yield f"give {names} a mass, for example {mean}, the mean of the others", tuple(_set(("bodies", x, "mass"), mean) for x in without)


# -------------------------------------------------------------------- mobility


def _mobility(m: Mechanism, asked: CheckRequest, found: check_results.Check, sheet: edit_sheet.EditSheet) -> Iterator[Proposal]:
    yield from _joined(m, sheet)
    drives = [d.joint for d in m.description.drives]
    if found.verdict == "unknown" or not found.value:
        yield from _looser(m, sheet, set(drives))
        yield from _taken_out(m, sheet)
        yield from ((f"cut at {j.pin or j.name}", ({"do": "delete", "ids": [f"joint:{j.name}"]},)) for j in m.description.joints)
        return
    if len(drives) > 1:
        yield from ((f"take out the drive of '{x}'", ({"do": "delete", "ids": [f"drive:{x}"]},)) for x in reversed(drives))
    yield from _held(m, found, sheet)
    yield from _moved_drive(m, sheet)


def _joined(m: Mechanism, sheet: edit_sheet.EditSheet) -> Iterator[Proposal]:
    """Two bodies that share two pins or more cannot move against each other: they are one part, drawn as two."""
    pins = _pins(sheet)
    for a, b in combinations(pins, 2):
        if len(set(pins[a]) & set(pins[b])) < 2:
            continue
        keep, gone = (a, b) if a == "ground" or len(pins[a]) >= len(pins[b]) else (b, a)
        more = [p for p in pins[gone] if p not in pins[keep]]
        masses = [x.mass for x in (m.description.body(n) for n in (keep, gone)) if x.mass is not None]
        edits: list[Edit] = [_set(("bodies", keep, "pins"), [*pins[keep], *more])] if more else []
        if keep != "ground" and len(masses) == 2 and sheet.node("bodies", keep, "mass") is not None:
            edits.append(_set(("bodies", keep, "mass"), f"{float(sum(masses)):.6g} kg"))
        edits.append(_set(("bodies", gone), None))
        yield f"make '{gone}' a part of '{keep}': they share {listing(sorted(set(pins[a]) & set(pins[b])))}", tuple(edits)


def _pins(sheet: edit_sheet.EditSheet) -> dict[str, list[str]]:
    """Pins of the bodies of the file."""
    nodes = {name: sheet.node("bodies", name, "pins") for name in sheet.names("bodies")}
    return {name: [str(x.text) for x in node.items] for name, node in nodes.items() if node is not None and node.items}


def _taken_out(m: Mechanism, sheet: edit_sheet.EditSheet) -> Iterator[Proposal]:
    """A body less; pins that only one body has then are no pins any more."""
    pins = _pins(sheet)
    for gone in (b.name for b in reversed(m.description.moving) if b.name in pins):
        left = {name: x for name, x in pins.items() if name != gone}
        shared = [p for x in left.values() for p in x]
        fewer = {name: [p for p in x if shared.count(p) > 1] for name, x in left.items()}
        edits = [_set(("bodies", name, "pins"), x) for name, x in fewer.items() if x != left[name]]
        if all(fewer.values()):
            yield f"take out '{gone}'", (*edits, _set(("bodies", gone), None))


def _looser(m: Mechanism, sheet: edit_sheet.EditSheet, driven: set[str]) -> Iterator[Proposal]:
    """Hinges that hold less, or not at all: the fewest changes first."""
    names = [j.name for j in m.description.joints if j.name not in driven and sheet.node("joints", j.name, "type") is not None]
    for count in range(1, MOST_CHANGED + 1):
        for chosen in combinations(names, count):
            for kinds in product((*LOOSER, None), repeat=count):
                said = [f"take out '{n}'" if k is None else f"replace '{n}' by {LOOSER[k]}" for n, k in zip(chosen, kinds, strict=True)]
                edits = [
                    _set(("joints", n), None) if k is None else _set(("joints", n, "type"), k) for n, k in zip(chosen, kinds, strict=True)
                ]
                yield " and ".join(said), tuple(edits)


def _moved_drive(m: Mechanism, sheet: edit_sheet.EditSheet) -> Iterator[Proposal]:
    """The drive at another joint, those on the ground first."""
    ground = m.description.bodies[0].name
    joints = sorted(m.description.joints, key=lambda j: ground not in (j.first, j.second))
    for d in m.description.drives:
        node = sheet.node("drive", d.joint)
        if node is None or node.text is None:
            continue
        for j in joints:
            if j.name != d.joint and all(x.joint != j.name for x in m.description.drives):
                yield f"drive '{j.name}' instead of '{d.joint}'", (_set(("drive", d.joint), None), _set(("drive", j.name), node.text))


def _held(m: Mechanism, found: check_results.Check, sheet: edit_sheet.EditSheet) -> Iterator[Proposal]:
    """One more drive, which holds still, where something is left free."""
    if not (found.value or 0.0) > (found.limit or 0.0):
        return
    core = compiled_of(m.system)
    for j in m.description.joints:
        try:
            x = joint_limits.coordinate_now(core.loops, j.name, core.start.instant)
        except LinkwrightError:
            continue
        if any(d.joint == j.name for d in m.description.drives):
            continue
        unit = "m" if coordinates.slides(m.description, j.name) else "rad"
        yield f"hold '{j.name}' by a drive, or fix it by a spring", (_set(("drive", j.name), f"{{position: {x:.9g} {unit}}}"),)


# -------------------------------------------------------------------- moves


def _moves(m: Mechanism, asked: CheckRequest, found: check_results.Check, sheet: edit_sheet.EditSheet) -> Iterator[Proposal]:
    yield from ((f"take out the stop '{x.name}'", (_set(("stops", x.name), None),)) for x in elements.stopping(m.description))
    yield from _moved_drive(m, sheet)


# -------------------------------------------------------------------- requirements: another assembly mode


def _modes(m: Mechanism, asked: CheckRequest, found: check_results.Check, sheet: edit_sheet.EditSheet) -> Iterator[Proposal]:
    """Start in the other assembly modes at the same position of the drives."""
    system, d = m._ideal.system, m.description
    held = {x.joint: float(system.start[x.joint]) for x in d.drives if x.joint in system.channels}
    if not held or found.verdict != "failed":
        return
    modes = system.branches(held, most=8)
    symbol, size = display_unit(d.units, LENGTH)
    for i, st in enumerate(modes[1:], start=1):
        edits = []
        for b in d.moving:
            X = system.pose(st, b.name)
            at = [f"{float(x) * size:.9g} {symbol}" for x in (X.p[:2] if d.planar else X.p)]
            edits.append(_set(("guess", b.name), f"{{at: [{', '.join(at)}], {_turned(np.asarray(X.R, dtype=float), d.planar)}}}"))
        yield f"start in the other assembly mode ({i} of {len(modes) - 1}): it meets all requirements", tuple(edits)


def _turned(R: np.ndarray, planar: bool) -> str:
    if planar:
        return f"angle: {np.degrees(np.arctan2(R[1, 0], R[0, 0])):.9g} deg"
    rows = ", ".join(f"[{', '.join(f'{x:.12g}' for x in row)}]" for row in R)
    return f"rotation: [{rows}]"


PROPOSALS: dict[str, Callable[..., Iterator[Proposal]]] = {
    "complete": _masses,
    "mobility": _mobility,
    "moves": _moves,
    "requirements": _modes,
}
