"""Answers of a mechanism as exact text, one aspect each: description, code structure, files, channels, drawing, report, editor, run.

An error is an answer, too. Numbers are written with all digits; `fingerprints` decides how many of them are compared.
"""

from __future__ import annotations

import difflib
import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import compiled_of
from linkwright.errors import LinkwrightError
from linkwright.kernels.kernels import tree_numbers
from linkwright.model.edits import perform
from linkwright.model.edits.drawing_draft import read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.file import read_text, write
from linkwright.model.numbers import DesignNumbers
from linkwright.model.parameters import every_parameter
from linkwright.rings.design.body_forces import body_actions
from linkwright.rings.studio import report_forces
from linkwright.rings.studio.editor.drawing import drawing_json
from linkwright.rings.studio.live.scene_data import shapes
from linkwright.rings.studio.scene import Scene
from linkwright.system.mechanism import Mechanism
from tests.elements.canonical import exact, plain
from tests.elements.models import Given

DURATION = 0.1  # seconds of a run
STEP = 2e-4  # fixed: an adaptive one is another step where the last bits are others, which answers show as its tolerance, 1e-6
WITHOUT = ("surfaces", "skel", "description", "start", "turn", "joints")  # of a scene: meshes, and what is compared elsewhere

KINDS = {  # of parts that are renamed and deleted, with their sections
    "rod": "rods", "coupling": "couplings", "cam": "cams", "gear": "gears", "belt": "belts", "spring": "springs", "damper": "dampers",
    "friction": "friction", "stop": "stops", "cylinder": "cylinders", "load": "loads", "drive": "drive", "joint": "joints",
    "body": "bodies", "point": "drawing", "parameter": "parameters",
}  # fmt: skip


class Model:
    """A mechanism with what several aspects ask for, made once."""

    def __init__(self, given: Given):
        self.mechanism, self.text = given
        self.made: dict[str, Any] = {}

    @property
    def system(self) -> Any:
        return self.mechanism.system

    @property
    def description(self) -> Any:
        return self.mechanism.description

    @property
    def run(self) -> Any:
        """A short simulation."""
        return self._once("run", lambda: self.mechanism.simulate(DURATION, integrator="rk4", step=STEP, sample_interval=DURATION / 5))

    @property
    def scene(self) -> Scene:
        """The drawing, with the travels of the run if there is no cycle."""
        return self._once("scene", lambda: Scene(self.system, None))

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]


def lines(x: Any) -> str:
    """Data as text: a line for each entry."""
    told = plain(x, exact)
    if isinstance(told, dict):
        return "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False, sort_keys=True)}" for key, value in sorted(told.items()))
    return "\n".join(json.dumps(value, ensure_ascii=False, sort_keys=True) for value in told)


def description(m: Model) -> str:
    """What the model says, with expressions and in numbers."""
    return lines(m.description) + "\n\n" + lines(m.description.numbers())


def structure(m: Model) -> str:
    """What compiled code depends on: of the description, and of its tree."""
    d = m.description.numbers()
    return lines(
        [DesignNumbers.of(d).structure, DesignNumbers.of(m.system.description, tree_numbers(compiled_of(m.system).loops)).structure]
    )


def values(m: Model) -> str:
    """Numbers that compiled code is given, in their order."""
    return lines(DesignNumbers.of(m.system.description, tree_numbers(compiled_of(m.system).loops)).parameters)


def parameters(m: Model) -> str:
    """Every number that has a name."""
    return lines([(p.name, p.kind, p.value, p.size, p.geometry, p.by_default, p.drawn) for p in every_parameter(m.description).values()])


def written(m: Model) -> str:
    """The model as saved, and what comes of reading that again."""
    text = write(m.description)
    try:
        again = write(read_text(text, "again.yaml"))
    except LinkwrightError as error:
        again = f"{type(error).__name__}: {error}"
    return text + ("" if again == text else f"\nREAD AGAIN\n{again}")


def _exported(ending: str, **options: Any) -> Callable[[Model], str]:
    def once(mechanism: Any) -> str:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mechanism.export(Path(folder) / f"model{ending}", **options)
            texts = [x.read_text(encoding="utf-8") for x in sorted(Path(folder).iterdir())]
        said = [f"WARNING {w.category.__name__}: {w.message}".replace(folder, "") for w in caught]
        return "\n".join([*texts, *said])

    def answer(m: Model) -> str:
        try:
            return once(m.mechanism)
        except LinkwrightError as error:  # what ties joints is refused by some formats, and would hide everything else
            loose = replace(m.description, couplings=(), gears=(), belts=())
            if loose == m.description:
                raise
            return f"{type(error).__name__}: {error}\n{once(Mechanism(loose))}"

    return answer


def channels(m: Model) -> str:
    """Names of all channels, with their values at the end of a short run."""
    return "\n".join(f"{name}: {_value(m, name)}" for name in m.run.channels)


def _value(m: Model, name: str) -> str:
    try:
        return json.dumps(plain(np.asarray(m.run[name])[-1], exact))
    except LinkwrightError as error:
        return f"{type(error).__name__}: {error}"


def run(m: Model) -> str:
    """Times, coordinates and velocities of a short simulation."""
    c = m.run
    return lines({"t": c.t, "q": c.q, "v": c.v})


def acting(m: Model) -> str:
    """Forces and moments on every body at the end of a short run, by what they come from."""
    loads = m.run._each_loads[len(m.run.t) - 1]
    d = m.system.description
    found = [(b.name, a.name, a.kind, a.at, a.force, a.moment) for b in d.moving for a in body_actions(loads, b.name)]
    return lines(found)


def scene(m: Model) -> str:
    """Everything that is drawn, and the shapes of the page."""
    parts = {name: value for name, value in vars(m.scene).items() if name not in WITHOUT}
    return lines(parts) + "\n\n" + lines(shapes(m.scene))


def report(m: Model) -> str:
    """Rows of the forces in the report: as it prints them, and of everything."""
    short = report_forces.acting(m.system, m.run)
    most = report_forces.MOST_LOADS
    report_forces.MOST_LOADS = 10**6
    try:
        return "\n".join([*short, "", *report_forces.acting(m.system, m.run)])
    finally:
        report_forces.MOST_LOADS = most


def editor(m: Model) -> str:
    """The drawing of the editor as JSON, and what it finds wrong."""
    if not m.text:
        return "no file"
    sheet = EditSheet(m.text, "model.yaml")
    draft = read_draft(sheet)
    return lines(drawing_json(sheet, draft, m.description if m.description.planar else None)) + "\n\n" + lines(draft.problems)


def picture(m: Model) -> str:
    """Everything that a picture shows: lines, patches and texts with their colors, in data coordinates."""
    figure = m.mechanism.plot("mechanism", trace=[])
    found = [line for axes in figure.axes for artist in axes.get_children() for line in [_artist(artist)] if line is not None]
    return lines(found)


def _artist(x: Any) -> tuple[Any, ...] | None:
    """An artist of the drawing; None of the frame around it."""
    from matplotlib import collections, image, patches, text
    from matplotlib import lines as strokes

    told = (type(x).__name__, x.get_zorder(), x.get_alpha())
    if isinstance(x, strokes.Line2D):
        style = [x.get_color(), x.get_linewidth(), x.get_linestyle(), x.get_marker(), x.get_dash_capstyle()]
        return (*told, style, np.asarray(x.get_xydata()))
    if isinstance(x, patches.Patch):
        place = x.get_patch_transform().transform(x.get_path().vertices)
        return (*told, x.get_facecolor(), x.get_edgecolor(), x.get_linewidth(), str(x.get_linestyle()), place)
    if isinstance(x, text.Text):
        return (*told, x.get_text(), x.get_color())  # its place follows from fonts
    if isinstance(x, collections.Collection):
        shapes = [p.vertices for p in x.get_paths()]
        return (*told, x.get_facecolor(), x.get_edgecolor(), x.get_linewidth(), shapes)
    return (*told, np.shape(x.get_array())) if isinstance(x, image.AxesImage) else None


def edits(m: Model) -> str:
    """Lines that change where a part of the file is renamed or deleted, or a body copied."""
    sheet = EditSheet(m.text, "model.yaml")
    ids = [(f"{kind}:{name}", kind) for kind, section in KINDS.items() for name in sheet.names(section)]
    found = []
    for own, kind in ids:
        operations: list[dict[str, Any]] = [{"do": "rename", "id": own, "to": "renamed"}, {"do": "delete", "ids": [own]}]
        if kind == "body":
            operations += [{"do": "duplicate", "ids": [own], "by": [1.0, 0.5]}, {"do": "mirror", "ids": [own], "line": [[2, 0], [2, 1]]}]
        found += [f"{operation['do']} {own}\n{_edited(m.text, operation)}" for operation in operations]
    return "\n".join(found)


def _edited(text: str, operation: dict[str, Any]) -> str:
    try:
        after = perform(text, "model.yaml", [operation])
    except LinkwrightError as error:
        return f"{type(error).__name__}: {error}"
    changed = difflib.unified_diff(text.splitlines(), after.text.splitlines(), lineterm="", n=0)
    return "\n".join([after.label, *(line for line in changed if line[:2] not in ("--", "++", "@@"))])


def varied(m: Model) -> str:
    """What changes in the description with each number by its name; messages of wrong units and of negative numbers."""
    before = _sections(m.description)
    found = []
    for name, p in every_parameter(m.description).items():
        for value in (1.01 * p.value + 1e-3, "5 parsec", -1.0):
            try:
                after = _sections(m.mechanism.with_(**{name: value}).description)
                said = "\n".join(f"    {key}: {after[key]}" for key in after if after[key] != before.get(key))
            except LinkwrightError as error:
                said = f"    {type(error).__name__}: {error}"
            found.append(f"{name} {value if isinstance(value, str) else 'negative' if value == -1.0 else 'more'}\n{said}")
    return "\n".join(found)


def _sections(d: Any) -> dict[str, str]:
    """Each thing of the sections as a line."""
    told = plain(d.numbers(), exact)
    return {
        f"{key} {k}": json.dumps(x, sort_keys=True) for key, value in told.items() if isinstance(value, list) for k, x in enumerate(value)
    }


QUICK: dict[str, Callable[[Model], str]] = {
    "description": description, "structure": structure, "values": values, "parameters": parameters, "written": written,
    "mjcf": _exported(".xml"), "urdf": _exported(".urdf"), "sdf": _exported(".sdf"), "scene": scene, "editor": editor, "acting": acting,
    "run": run, "channels": channels, "report": report,
    "picture": picture,
}  # fmt: skip
SLOW: dict[str, Callable[[Model], str]] = {"svg": _exported(".svg"), "c": _exported(".c"), "script": _exported(".js")}
INTEGRATED = ("run", "channels", "acting", "report")  # from a run: round-off has grown over its steps, and closed loops are not exact
OF_EVERYTHING: dict[str, Callable[[Model], str]] = {"edits": edits, "varied": varied}  # of the two models that have all elements


def answer(aspect: str, m: Model) -> str:
    """One aspect of a model, or the error that it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return (QUICK | SLOW | OF_EVERYTHING)[aspect](m)
    except LinkwrightError as error:
        return f"{type(error).__name__}: {error}"
