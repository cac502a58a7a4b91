"""States of a mechanism from the positions and speeds of its drives: one, or many in arrays, closed eight at a time in machine code.

From the guess every state is reached on its branch by moving the drives there, in as many steps as it needs; the determinant of the driven
Jacobian must not change its sign on the way. States that this does not reach (a singular position on the way, links that spin in place, no
code at hand) are assembled one by one, and those that cannot be assembled are NaN and say why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError, SingularityError, UsageError, counted, listing, nearest
from linkwright.kernels.driven_motion import Homotopy, LaneWalking
from linkwright.model.coordinates import is_rotary, joint_name
from linkwright.model.file import quantity
from linkwright.numerics.memory_and_threads import Store
from linkwright.results.state import LaterReferences, State
from linkwright.system.compiled import Compiled
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.kernels.driven_motion import Walking

BEYOND = "out of reach from the guess, or a dead center lies on the way."

FARTHEST = 4.0 * np.pi  # rad, or multiples of the mechanism's length: farther ways are those of `revolutions`
UNIT, NOW = np.array([0.0, 1.0]), np.zeros(1)


def assemble(core: Compiled, q: Any, v: Any, pose: Any, point: Any, guess: Any) -> State:
    """See `System.assemble`. Positions and speeds of all drives are walked to in machine code, everything else on floats."""
    names = core.drive_names
    every = [x is None or (isinstance(x, Mapping) and len(x) == len(names) and all(n in x for n in names)) for x in (q, v)]
    at = core.start if guess is None else guess
    plain = pose is None and point is None and all(every) and q and isinstance(at, State) and at.skel is core.skel
    walks = core.walking(names) if plain else None
    found = None if walks is None else _walked(core, walks, at, q, v)
    return core.assembler.assemble(q, v, pose=pose, point=point, guess=guess) if found is None else found


def _walked(core: Compiled, walks: Walking, at: State, q: Mapping[str, Any], v: Mapping[str, Any] | None) -> State | None:
    """The state with these positions and speeds of the drives; None where a singular position may lie on the way."""
    names = core.drive_names
    end = np.array([_number(core, n, q[n], ("angle", "length")) for n in names])
    way = end - core.drive_positions(at)
    if np.abs(way).max() > FARTHEST * max(1.0, core.loops.kappa):
        return None
    laws = np.concatenate([end - way, way, 0.0 * way, end, way, 0.0 * way]).reshape(2, -1)
    found = walks(at.q, core.packed_references(at), UNIT, laws)
    if found.reached < 2:
        return None
    there, row, speed = found.q[1].copy(), found.references[1].copy(), np.zeros(core.tree.nv)
    if v is not None:
        wanted = np.array([_number(core, n, v[n], ("angular speed", "speed")) for n in names])
        moving = walks(there, row, NOW, np.concatenate([end, wanted, 0.0 * wanted])[None])
        if moving.reached < 1:
            return None
        speed = moving.v[0].copy()
    return State(core.skel, there, speed, LaterReferences(core.skel, there, row))


def _number(core: Compiled, name: str, value: Any, kinds: tuple[str, str]) -> float:
    """A value of a drive in SI."""
    if type(value) is float and value - value == 0.0:
        return value
    return quantity(value, KINDS[kinds[0 if is_rotary(core.description, name) else 1]], f"'{name}'")


class StateBatch:
    """States in rows: q, v and near (the packed references of cut joints); `ok` is the mask of those that exist, `why` has the reasons by
    index. `batch[i]` is a State."""

    def __init__(self, core: Compiled, q: np.ndarray, v: np.ndarray, near: np.ndarray, why: Mapping[int, LinkwrightError]):
        self.q, self.v, self.near, self.failed = q, v, near, why
        self._core = core
        self.ok = np.array([i not in why for i in range(len(q))], dtype=bool)

    @property
    def why(self) -> dict[int, str]:
        """Reasons of the states that do not exist."""
        return {i: str(error) for i, error in self.failed.items()}

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'state')}, {int(self.ok.sum())} of them closed>"

    def __len__(self) -> int:
        return len(self.q)

    def __iter__(self) -> Iterator[State]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> State:
        i = range(len(self))[i]
        if i in self.failed:
            raise self.failed[i]
        q, near = self.q[i].copy(), self.near[i].copy()
        return State(self._core.skel, q, self.v[i].copy(), LaterReferences(self._core.skel, q, near))


def assembled(
    core: Compiled,
    q: Any,
    v: Any,
    guess: State | None,
    drives: Sequence[str] | None = None,
    patient: bool = True,
) -> StateBatch:
    """See `System.assemble_batch`. `drives` in place of the model's. Unless
    `patient`, states that machine code does not reach in 64 steps do not exist."""
    names = core.named_drives(drives)
    for name in names:
        core.need_drive(joint_name(name))
    at = core.start if guess is None else guess
    if not isinstance(at, State) or at.skel is not core.skel:
        raise UsageError("guess= of assemble_batch is a State of this mechanism: s.start, s.assemble(...).", name="guess")
    drive, speed = _rows(core, q, "q", ("angle", "length"), names), _rows(core, v, "v", ("angular speed", "speed"), names)
    drive, speed = np.broadcast_arrays(drive, speed)
    skel, n = core.skel, len(drive)
    Q, V, near = np.full((n, len(at.q)), np.nan), np.full((n, core.tree.nv), np.nan), np.full((n, len(core.packed_references(at))), np.nan)
    left = np.arange(n)
    walk = _walk(core, names)
    if walk is not None:
        kernel = core.ready("walk", names)
        assert kernel is not None
        values = kernel.default("parameters")
        way = Homotopy(at.q, core.packed_references(at), core.drive_positions(at, names), drive, speed, values, np.tile(values, (n, 1)))
        found = walk.begun(way)
        Q[found.ok], V[found.ok], left = found.q[found.ok], found.v[found.ok], np.flatnonzero(~found.ok)
        near[found.ok] = found.references[found.ok]
    why: dict[int, LinkwrightError] = {}
    if walk is not None and not patient:
        why.update((int(i), SingularityError(BEYOND)) for i in left)
        left = left[:0]
    for i in left:
        try:
            given = [dict(zip(names, map(float, row[i]), strict=True)) for row in (drive, speed)]
            st = assemble(core, *given, None, None, at)
            Q[i], V[i], near[i] = st.q, st.v, skel.pack(st.references)
        except LinkwrightError as problem:
            why[int(i)] = problem
    return StateBatch(core, Q, V, near, why)


def _rows(core: Compiled, given: Any, what: str, kinds: tuple[str, str], names: list[str]) -> np.ndarray:
    """(n, drives) in SI; speeds that are not given are zero."""
    if given is None and what == "v":
        return np.zeros((1, len(names)))
    if not isinstance(given, Mapping) or not names:
        raise UsageError(f"assemble_batch takes {what} by the names of the drives: {listing(names) or 'there are none'}.", name="q")
    for name in given:
        if name not in names:
            hint = nearest(str(name), names, "Drives")
            raise UsageError(f"'{name}' is not a drive.", hint, "s.assemble takes any coordinate, one state at a time.")
    if len(given) < len(names):
        raise UsageError(
            f"{what} of {listing([n for n in names if n not in given])} is missing: assemble_batch needs all drives.", name=what
        )
    columns = [_column(core, name, given[name], what, kinds) for name in names]
    try:
        return np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        sizes = ", ".join(f"{n} {len(x)}" for n, x in zip(names, columns, strict=True))
        raise UsageError(f"numbers of states do not fit each other: {sizes}. They must be equal or 1.", name=what) from None


def _column(core: Compiled, name: str, value: Any, what: str, kinds: tuple[str, str]) -> np.ndarray:
    """Values of a drive, one or many, in SI."""
    kind = KINDS[kinds[0 if is_rotary(core.description, name) else 1]]
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
        many = list(value) if isinstance(value, list | tuple | np.ndarray) else [value]
        value = np.array([quantity(x, kind, f"'{name}'") for x in many])
    value = np.atleast_1d(np.asarray(value, dtype=float))
    if value.ndim > 1:
        raise UsageError(f"{what} of '{name}' has {value.ndim} axes. States lie along one.", name=name)
    bad = np.flatnonzero(~np.isfinite(value))
    if len(bad):
        raise UsageError(f"{what} of '{name}' is {value[bad[0]]} in entry {bad[0]}. Numbers must be finite.", name=name)
    return value


WALKS: Store[tuple[str, ...], LaneWalking | None] = Store()  # in lanes, by drives


def _walk(core: Compiled, names: list[str]) -> LaneWalking | None:
    """The walk in lanes, where kernel `walk` is ready; links that spin in place, where their lines follow from the numbers."""
    key, known = tuple(names), WALKS.of(core)
    if key not in known:
        kernel = core.ready("walk", names) if core.engine == "native" else None
        if kernel is None:
            return None
        known[key] = None if core.walks_alone and core.kernels.plan.spinning else LaneWalking(kernel, 1)
    return known[key]
