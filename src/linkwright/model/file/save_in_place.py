"""`save`: the user's own model file with new numbers in place; comments, units, order and line ends stay.

    text = edited(m.with_(**{"C.x": 0.91, "crank.mass": 0.4}).description)      the file's text as this mechanism would be written
    save(description, "better.yaml")                                            the same to a file

Parameters, pins, starts and drives have one number in the text each. Numbers of bodies, points and forces may follow from others there
(a center given in the drawing, the inertia of a uniform rod): `value_fitting` finds the literals, and where a number is derived an entry
that states it is added (`inertia:`). What the text gives by an expression, or in a `repeat:` block, is not touched: the error says what it
depends on. The new text is read again and compared before it is given away. A model without such a text (a dict, a robot of another
program, a description that a program put together) is written as `writer.write` does, in SI.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from linkwright import elements, files
from linkwright.elements import SECTIONS
from linkwright.errors import ModelError, UsageError, listing
from linkwright.model.description import Description
from linkwright.model.file.geometry import frame_along, rotate, sub, transpose, vector
from linkwright.model.file.overrides import DRIVE, START, field_dimension
from linkwright.model.file.reader import Document, describe, reread
from linkwright.model.file.reading_context import Literal
from linkwright.model.file.text_edits import Edit, added, apply, exchanged, key_text, number, put, quantity
from linkwright.model.file.text_nodes import ENCODING, FileNode, from_text
from linkwright.model.file.value_fitting import FITS, Label, fitted, flat, missed
from linkwright.model.file.writer import with_meshes_from, write
from linkwright.model.file.written_values import inside, node_at, parameter_path
from linkwright.text.expressions import Expr, free_variables
from linkwright.text.quantities import QuantityAlgebra, read_quantity
from linkwright.text.units import ACCELERATION, INERTIA, LENGTH, MASS, NONE, UnitSystem

ROUNDS = 4  # of entries that are added: a mass, then what followed from it
APART = ("where", "document", "warnings", "start_places", "drawn", "poses")  # fields that do not make another mechanism

MASS_KEYS = ("mass", "com", "inertia")
SHAPE_KEYS = ("pins", "points", "along", "sides", "bar", "bars", "plate", "mesh")
PAIRS = ("xx", "xy", "xz", "yy", "yz", "zz")

New = tuple[tuple[Any, ...], Edit | None]  # path of an entry, and its text; None: it is there already


def edited(described: Description, values: Mapping[str, Any] | None = None, *, digits: int | None = None) -> str:
    """Return the text of the model file with the numbers of this description in place, and those in `values` (SI, or texts with units).

    Numbers are written in the unit of their place, with as many digits as they need to read back within 1e-12, or with `digits`. A model
    without a text is written in SI. Raise UsageError for numbers that the text has no place for.
    """
    final = reread(described, **values) if values else described
    document = text_behind(final)
    if document is None or document.text is None:
        return write(final)
    if not document.overrides:
        return document.text
    text = document.text.removeprefix(ENCODING)
    mark = document.text[: len(document.text) - len(text)]
    editor = _Editor(final, replace(document, overrides={}), digits)
    return mark + _signed_again(text, editor.text(text))


def save(
    described: Description, path: str | os.PathLike[str], *, digits: int | None = None, normalized: bool = False, force: bool = False
) -> Path:
    """Write the model file, atomically: the text behind the model with its numbers in place, or with `normalized` a new text in SI.

    Names of other files, such as meshes, are written for the new folder. A file that Linkwright did not write, or that was edited since,
    is replaced only with `force`.
    """
    place = files.guarded(path, files.MODELS, force=force)
    document = None if normalized else text_behind(described)
    if document is None:
        return files.write_text(place, files.MODELS, files.signed(write(with_meshes_from(described, place.parent))))
    try:
        text = _for_folder(edited(described, digits=digits), document, place.parent)
    except UsageError as problem:
        raise UsageError(
            f"{problem} m.save({str(path)!r}, normalized=True) writes the model in SI, without its comments.", name=path
        ) from problem
    return files.write_text(place, files.MODELS, text if document.path is not None else _signed(text))


def text_behind(described: Description) -> Document | None:
    """The document whose text can be given the numbers of a description; None where there is no text, or where the description was
    changed in more than its numbers since it was read."""
    document = described.document
    if not isinstance(document, Document) or document.text is None:
        return None
    read = describe(document)
    if _shape(read) != _shape(described):
        return None
    changed = not document.overrides and missed(flat(read.numbers()), flat(described.numbers()))
    return None if changed else document


def _shape(value: Any) -> Any:
    """A description without its numbers: names, kinds and what belongs to what."""
    if isinstance(value, (int, float, Expr)) and not isinstance(value, bool):
        return None
    if isinstance(value, tuple):
        return tuple(map(_shape, value))
    if is_dataclass(value):
        return (type(value).__name__, *(_shape(getattr(value, f.name)) for f in fields(value) if f.name not in APART))
    return value


def _for_folder(text: str, document: Document, folder: Path) -> str:
    """The text with names of other files relative to a folder."""
    base = document.base
    if base is None or os.path.realpath(base) == os.path.realpath(folder):
        return text
    mark, plain = (ENCODING, text.removeprefix(ENCODING)) if text.startswith(ENCODING) else ("", text)
    read = replace(document, root=from_text(plain, document.root.where.file), text=plain, overrides={})
    edits: dict[int, Edit] = {}
    for node in read.named_files():
        name = node.text or ""
        if os.path.isabs(name):
            continue
        if node.span is None:
            raise UsageError(
                f"{node.where}: '{name}' cannot be written for another folder: it comes from a `repeat:` block or an alias.", name=name
            )
        edits[node.span.first] = Edit(node.span.first, node.span.end, key_text(_relative(base / name, folder), True))
    return mark + apply(plain, list(edits.values()))


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive of Windows
        return path.resolve().as_posix()


def _signed(text: str) -> str:
    """A text that Linkwright made, with the checksum by which it recognizes it."""
    head, _, rest = text.partition("\n")
    return text if files.signed(rest).partition("\n")[0] == head else files.signed(text)


def _signed_again(old: str, new: str) -> str:
    """A text that Linkwright wrote, and that was not changed since, gets a checksum of its new content."""
    head, _, rest = old.partition("\n")
    if files.signed(rest).partition("\n")[0] != head.rstrip("\r"):
        return new
    return files.signed(new.partition("\n")[2])


class _Editor:
    """The numbers that a text shall have, and the way there."""

    def __init__(self, final: Description, plain: Document, digits: int | None):
        self.final, self.plain, self.digits = final, plain, digits
        listed = inside(plain.root, "units")
        self.units = UnitSystem([n.text or "" for n in listed.items or ()] if listed is not None else [])
        self.names = list(final.document.overrides)
        self.wanted = flat(final.numbers())

    def text(self, text: str) -> str:
        """The new text: numbers with a place of their own first, then those that others follow from."""
        for name in ("cuts", "space"):
            if name in self.names:
                raise UsageError(f"'{name}' was changed in a call. Write it into the file yourself.", name=name)
        direct, single = self._direct()
        text = apply(text, self._entries(text))
        text = self._exchanged(text, direct)
        text = self._turned_into_bodies(text)
        if single:
            text = self._fitted(text, single)
        text = self._stated(text)
        self._check(text)
        return text

    # ---------------------------------------------------------------- numbers with a place of their own

    def _direct(self) -> tuple[dict[str, tuple[tuple[Any, ...], float]], list[str]]:
        """Paths and values in SI of those, by name; and the names of all others."""
        out: dict[str, tuple[tuple[Any, ...], float]] = {}
        single = []
        drawn = self.final.drawn_numbers
        now = {n: float(x) for n, x in self.final.numbers().parameters if isinstance(x, (int, float))}
        for name, given in self.final.document.overrides.items():
            if name in now:
                out[name] = (tuple(parameter_path(self.final, name)), now[name])
            elif name == "name":
                continue
            elif name == "gravity":
                axes = self.final.plane or "xyz"
                out |= {f"gravity.{a}": (("gravity", i), float(self.final.numbers().gravity[i])) for i, a in enumerate(axes)}
            elif name == "start":
                out |= {f"{START}{k}": x for k in given for x in [self._of_start(k)]}
            elif name.startswith(START):
                out[name] = self._of_start(name.removeprefix(START))
            elif name.startswith(DRIVE):
                out[name] = self._of_drive(name.removeprefix(DRIVE))
            elif name in drawn and name.endswith(".length"):
                out[name] = self._of_link(name, drawn[name])
            elif name in drawn:
                pin, _, axis = name.rpartition(".")
                out[name] = (("drawing", pin, (self.final.plane or "xyz").index(axis)), drawn[name])
            else:
                single.append(name)
        return out, single

    def _of_start(self, channel: str) -> tuple[tuple[Any, ...], float]:
        found = dict(self.final.numbers().start)
        known = channel if channel in found else f"{channel}.v"
        if known not in found or isinstance(found[known], tuple):
            raise UsageError(f"the start of '{channel}' is not a single number of the file. Write it there yourself.", name=channel)
        return (("start", channel), float(found[known]))

    def _of_drive(self, joint: str) -> tuple[tuple[Any, ...], float]:
        drive = next(d for d in self.final.numbers().drives if d.joint == joint)
        node = inside(self.plain.root, "drive", joint)
        keys = {"torque": ("torque", "force"), "dc_motor": ("dc_motor",)}.get(drive.kind, (drive.kind,))
        path: tuple[Any, ...] = ("drive", joint)
        if node is not None and node.entries is not None:
            path = (*path, next(k for k in keys if k in node.entries))
            path = (*path, "voltage") if drive.kind == "dc_motor" else path
        return path, float(drive.value)

    def _of_link(self, name: str, value: float) -> tuple[tuple[Any, ...], float]:
        """The station of the second point; the first one stays where it is."""
        body = name.removesuffix(".length")
        stations = inside(self.plain.root, "bodies", body, "along")
        if stations is None or stations.entries is None:
            return (("bodies", body, "along", list(self.final.body(body).points)[1].name), value)
        first, second = stations.entries
        algebra = QuantityAlgebra(self.units, {})
        at = [read_quantity(stations.entries[k], algebra) for k in (first, second)]
        size = self.units.bare_factor(LENGTH) or 1.0
        a, b = (float(q.value) * (size if q.dimension == NONE else 1.0) for q in at)
        return (("bodies", body, "along", second), a + value if b > a else a - value)

    def _entries(self, text: str) -> list[Edit]:
        """Entries that some of these numbers need, and the name of the model."""
        root, out = self.plain.root, []
        overrides = self.final.document.overrides
        if "name" in overrides:
            node = (root.entries or {}).get("name")
            quoted = '"' + self.final.name.replace("\\", "\\\\").replace('"', '\\"') + '"'
            out.append(Edit(node.span.first, node.span.end, quoted) if node and node.span else added(text, root, "name", quoted))
        if "gravity" in overrides:
            node = inside(root, "gravity")
            zeros = f"[{', '.join('0' for _ in self.final.plane or 'xyz')}]"
            if node is None:
                out.append(added(text, root, "gravity", zeros, ("name", "about", "plane", "units")))
            elif node.items is None and node.span is not None:
                out.append(Edit(node.span.first, node.span.end, zeros))
        starts = [n.removeprefix(START) for n in overrides if n.startswith(START)] + list(overrides.get("start", ()))
        missing = [k for k in dict.fromkeys(starts) if inside(root, "start", k) is None]
        section = inside(root, "start")
        if missing and section is None:
            out.append(added(text, root, "start", "{" + ", ".join(f"{k}: 0" for k in missing) + "}", ("drive",)))
        elif section is not None:
            out += [added(text, section, k, "0") for k in missing]
        for name in (n for n in overrides if n.endswith(".length") and n in self.final.drawn_numbers):
            body = name.removesuffix(".length")
            entry = inside(root, "bodies", body)
            if entry is not None and inside(entry, "along") is None:
                a, b = (p.name for p in self.final.body(body).points[:2])
                size = quantity(self.final.drawn_numbers[name], LENGTH, self.units, self.digits)
                out.append(added(text, entry, "along", f"{{{a}: 0, {b}: {size}}}", ("pins",)))
        return out

    def _exchanged(self, text: str, direct: Mapping[str, tuple[tuple[Any, ...], float]]) -> str:
        """The text with these numbers."""
        document = self._document(text)
        nodes: dict[int, tuple[str, float]] = {}
        named: list[Edit] = []
        for name, (path, value) in direct.items():
            node = node_at(document.root, path)
            if node is None or node.span is None or node.text is None:
                raise UsageError(self._no_place(name), name=name)
            if path[0] == "parameters":
                named.append(self._parameter(name, node, value))
            else:
                nodes[node.span.first] = (name, value)
        found: dict[int, Any] = dict.fromkeys(nodes)
        if nodes:
            document.with_literals(found)
        for first, (name, _) in nodes.items():
            if found[first] is None:
                raise UsageError(self._no_place(name), name=name)
        return apply(text, [*named, *(exchanged(found[k], value, self.units, self.digits) for k, (_, value) in nodes.items())])

    def _parameter(self, name: str, node: FileNode, value: float) -> Edit:
        """A parameter: in its unit, or bare as it is."""
        try:
            old = read_quantity(node, QuantityAlgebra(self.units, {}))
        except ModelError:
            depends = listing(sorted(free_variables(dict(self._plain_description().parameters)[name])))
            raise UsageError(
                f"the parameter '{name}' is written as `{node.text}` ({node.where}). Change {depends} instead.", name=name
            ) from None
        if old.dimension == NONE:
            assert node.span is not None
            quotes = node.span.style if node.span.style in ("'", '"') else ""
            return Edit(node.span.first, node.span.end, f"{quotes}{number(value, 1.0, self.digits)}{quotes}")
        return exchanged(Literal(name, node, old.dimension, float(old.value)), value, self.units, self.digits)

    # ---------------------------------------------------------------- numbers that others follow from

    def _fitted(self, text: str, names: Sequence[str]) -> str:
        """The text in which these numbers, and all that follow from them, are as wanted."""
        paths = [path for name in names for path in self._paths(name)]
        for _ in range(ROUNDS):
            document = self._document(text)
            scalars = [n for p in paths for n in _scalars(node_at(document.root, p))]
            literals: dict[int, Any] = {n.span.first: None for n in scalars if n.span is not None}
            read = document.with_literals(literals)
            known = {k: x for k, x in literals.items() if x is not None}
            found = fitted(read, known, self.wanted)
            if not found.missed:
                return apply(text, [exchanged(known[k], x, self.units, self.digits) for k, x in found.values.items()])
            every = derived(text, document.root, found.missed, self.wanted, self.units, self.final)
            more = [(path, edit) for path, edit in every if edit is not None or path not in paths]
            if not more:
                raise UsageError(self._explained(names, found.missed), name=names[0] if len(names) == 1 else "")
            text, paths = apply(text, [edit for _, edit in more if edit is not None]), [*paths, *(path for path, _ in more)]
        raise UsageError(self._explained(names, found.missed), name=names[0] if len(names) == 1 else "")

    def _stated(self, text: str) -> str:
        """The text with entries for numbers that it leaves out, and that would follow from the drawing otherwise: the length of a rod
        whose end was moved, the free length of a spring."""
        for _ in range(ROUNDS):
            document = self._document(text)
            off = self._off(text)
            edits = [edit for _, edit in derived(text, document.root, off, self.wanted, self.units, self.final) if edit is not None]
            if not edits:
                break
            text = apply(text, edits)
        return text

    def _turned_into_bodies(self, text: str) -> str:
        """Centers and masses that count from the drawing in a drawn body, and from the body itself now that it has a length of its own."""
        names = (n.removesuffix(".length") for n in self.names if n.endswith(".length") and n in self.final.drawn_numbers)
        masses = inside(self.plain.root, "masses")
        for body in [n for n in names if inside(self.plain.root, "bodies", n, "along") is None]:
            extra = [k for k, x in ((masses.entries or {}) if masses else {}).items() if (inside(x, "body") or x).text == body]
            a, b = (dict(self.final.drawing)[p.name] for p in self.final.body(body).points[:2])
            axes = transpose(frame_along("x", sub(b, a), sub(b, a)))
            for path in (("bodies", body, "com"), *(("masses", k, "at") for k in extra)):
                document = self._document(text)
                node = node_at(document.root, path)
                if node is None or node.items is None:
                    continue
                found: dict[int, Any] = {x.span.first: None for x in node.items if x.span is not None}
                document.with_literals(found)
                if any(x is None for x in found.values()):
                    raise UsageError(f"'{body}.length' cannot be written: {'.'.join(path)} is an expression. Give it in numbers.")
                drawn = [*(x.value for x in found.values()), 0.0][:3]
                local = rotate(axes, sub(vector(drawn), a))
                text = apply(text, [exchanged(x, y, self.units, self.digits) for x, y in zip(found.values(), local, strict=False)])
        return text

    def _paths(self, name: str) -> list[tuple[Any, ...]]:
        """Parts of the tree that hold the literals of a number."""
        head, *rest = name.split(".")
        if head == "gravity":
            return [("gravity",)]
        if rest == ["armature"]:
            return [("joints", head, "armature")]
        if any(b.name == head for b in self.final.bodies):
            if rest[0] in MASS_KEYS:
                return [("bodies", head, rest[0])]
            joints = [j.name for j in self.final.joints if head in (j.first, j.second)]
            ends = [("joints", j, key) for j in joints for key in ("at", "frames")]
            pin = [("drawing", rest[0])] if head == self.final.bodies[0].name else []
            return [*(("bodies", head, key) for key in ("along", "sides", "points")), *ends, *pin]
        return [(section, head) for section in SECTIONS if inside(self.plain.root, section, head) is not None]

    # ---------------------------------------------------------------- checks and messages

    def _document(self, text: str) -> Document:
        return replace(self.plain, root=from_text(text, self.plain.root.where.file), text=text)

    def _plain_description(self) -> Description:
        return self.plain.with_literals({})

    def _check(self, text: str) -> None:
        """Raise UsageError unless the text means what was asked for."""
        off = self._off(text)
        if off:
            raise UsageError(self._explained(self.names, off))

    def _off(self, text: str) -> list[Label]:
        """Numbers of a text that are not as wanted."""
        within = FITS if self.digits is None else 10.0 ** (1 - self.digits)
        return missed(flat(self._document(text).with_literals({}).numbers()), self.wanted, within)

    def _no_place(self, name: str) -> str:
        depends = self._depends(name)
        if depends:
            return f"'{name}' is an expression in the file. Change {listing(depends)} instead."
        return f"the file has no number of its own for '{name}': it comes from a `repeat:` block or an expression. Change it there."

    def _depends(self, name: str) -> list[str]:
        """Parameters that a number is written with."""
        head, *rest = name.split(".")
        axes = self.final.plane or "xyz"
        last = axes.index(rest[-1]) if rest and rest[-1] in axes else None
        keys = [key for key in rest if key not in axes]
        found: set[str] = set()
        for label, x in flat(self._plain_description()).items():
            own = label[0] != "parameters" and head in label and all(key in label for key in keys)
            if own and isinstance(x, Expr) and (last is None or label[-1] == last):
                found |= {v for v in free_variables(x) if v in dict(self.final.parameters)}
        return sorted(found)

    def _explained(self, names: Sequence[str], off: Sequence[Label]) -> str:
        """Why numbers cannot be written."""
        for name in names:
            head, *rest = name.split(".")
            entry = inside(self.plain.root, "bodies", head)
            body = next((b for b in self.final.bodies if b.name == head), None)
            if not any(head in label or (rest and rest[0] in label) for label in off):
                continue
            depends = self._depends(name)
            if body is not None and entry is None:
                return f"'{name}' cannot be written: body '{head}' comes from a `repeat:` block. Change the numbers of the block."
            if depends:
                return f"'{name}' cannot be written: in the file it follows from {listing(depends)}. Change {listing(depends)} instead."
            why = "" if body is None or entry is None or rest[0] in MASS_KEYS else self._of_point(name, body.name, rest[0], entry)
            if why:
                return why
        most_named = 6  # names in a message
        some = ", ".join(".".join(map(str, label[1:])) for label in off[:most_named])
        return (
            f"{listing(list(names))} cannot be written into the file alone: {some} would change, too. Change the numbers they follow from."
        )

    def _of_point(self, name: str, body: str, point: str, entry: FileNode) -> str:
        """Why a point of a body cannot be written; empty where it has coordinates of its own."""
        pins = [p.name for p in self.final.body(body).points]
        if inside(entry, "along") is not None:
            how = f"{point} is a station of `along:`, on the line of the body and counted from its first station"
        elif inside(entry, "sides") is not None:
            how = f"{point} is placed by `sides:`"
        elif inside(entry, "points", point) is not None:
            return ""
        else:
            moved = [f"{p}.{a}" for p in pins for a in self.final.plane or "xyz" if f"{p}.{a}" in self.final.drawn_numbers]
            return f"'{name}' cannot be written: it follows from the drawing. Change pins there instead: {listing(moved or pins)}."
        return f"'{name}' cannot be written: {how}. Give the body its own coordinates: `points: {{{point}: [x, y]}}`."


def _scalars(node: FileNode | None) -> Iterator[FileNode]:
    """All single values below a node."""
    if node is None:
        return
    if node.text is not None:
        yield node
    for inner in (*(node.items or ()), *(node.entries or {}).values()):
        yield from _scalars(inner)


# Entries that a model file lacks for a number of its own: the mass, center or inertia of a body that its shape gives, the length of a
# rod as drawn, fields of springs and the like that are left out.


def derived(
    text: str, root: FileNode, missed: Sequence[Label], wanted: Mapping[Label, Any], units: UnitSystem, final: Description
) -> list[New]:
    """Entries for numbers that the text does not state, with values to begin with; those of a body that it states may change, too."""
    plane = final.plane
    out: dict[tuple[Any, ...], New] = {}
    for label in missed:
        new = None
        if label[0] == "bodies" and len(label) > 2 and label[2] in MASS_KEYS:
            new = _of_body(text, root, str(label[1]), str(label[2]), wanted, units, plane)
        elif label[0] == "gravity":
            new = _gravity(text, root, wanted, units, plane)
        elif len(label) > 2:
            new = _of_field(text, root, label, wanted, units, final)
        if new is not None:
            out.setdefault(new[0], new)
    return list(out.values())


def _of_body(
    text: str, root: FileNode, body: str, key: str, wanted: Mapping[Label, Any], units: UnitSystem, plane: str | None
) -> New | None:
    entry = inside(root, "bodies", body)
    there = inside(entry, key)
    if entry is None or entry.span is None:
        return None
    path = ("bodies", body, key)
    values = {k[3:]: float(x) for k, x in wanted.items() if k[:3] == path and not hasattr(x, "op")}
    before = (*SHAPE_KEYS, *MASS_KEYS[: MASS_KEYS.index(key)])
    if key == "mass":
        return path, None if there is not None else put(text, entry, key, quantity(values[()], MASS, units), before)
    if key == "com":
        if there is not None and there.items is not None:
            return path, None
        axes = range(2 if plane else 3)
        listed = ", ".join(quantity(values[(i,)], LENGTH, units) for i in axes)
        return path, put(text, entry, key, f"[{listed}]", before)
    return _inertia(text, entry, there, path, values, units, before)


def _inertia(
    text: str,
    entry: FileNode,
    there: FileNode | None,
    path: tuple[Any, ...],
    values: Mapping[Any, float],
    units: UnitSystem,
    before: Sequence[str],
) -> New:
    """A single number in a plane, else the six of a tensor; one that is there is exchanged if its form has too few."""
    if () in values:
        return path, None if there is not None else put(text, entry, "inertia", quantity(values[()], INERTIA, units), before)
    matrix = there is not None and there.items is not None and any(i.items for i in there.items)
    if matrix or (there is not None and len(there.entries or ()) == len(PAIRS)):
        return path, None
    index = {"x": 0, "y": 1, "z": 2}
    six = {pair: values[(index[pair[0]], index[pair[1]])] for pair in PAIRS}
    listed = ", ".join(f"{pair}: {quantity(x, INERTIA, units)}" for pair, x in six.items())
    return path, put(text, entry, "inertia", f"{{{listed}}}", before)


def _gravity(text: str, root: FileNode, wanted: Mapping[Label, Any], units: UnitSystem, plane: str | None) -> New | None:
    there = inside(root, "gravity")
    if there is not None and there.items is not None:
        return None
    axes = range(2 if plane else 3)
    listed = ", ".join(quantity(float(wanted["gravity", i]), ACCELERATION, units) for i in axes)
    return ("gravity",), put(text, root, "gravity", f"[{listed}]", ("name", "about", "plane", "units"))


def _of_field(text: str, root: FileNode, label: Label, wanted: Mapping[Label, Any], units: UnitSystem, final: Description) -> New | None:
    """A field of a spring, rod, stop and so on that the file leaves out."""
    held, name, field = str(label[0]), str(label[1]), str(label[2])
    if held not in elements.HELD or len(label) != 3 or label not in wanted or hasattr(wanted[label], "op"):
        return None
    thing = next(x for x in getattr(final, held) if x.name == name)
    section, key = thing.section, elements.file_keys(held).get(field, field)
    entry = inside(root, section, name)
    if entry is None or entry.span is None or inside(entry, key) is not None:
        return None
    value = quantity(float(wanted[label]), field_dimension(final, thing, field), units)
    return (section, name, key), put(text, entry, key, value)
