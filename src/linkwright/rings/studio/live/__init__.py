"""The page that computes by itself: one HTML text with the mechanism's kernels, its data and all code inside.

    live.text(m)                          the page of a mechanism or System; run= a Trajectory that plays in it
    live.write(m, "wiper.html")           the same as a file
    live.error_text("wiper.yaml", text)   the readable page for a model that cannot be read

Pages need nothing from outside: they open from disk, in a mail, in a notebook's frame. The assets are plain scripts and styles; here
they are put together in their order, with what they need of the mechanism before them.
"""

from __future__ import annotations

import html
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from linkwright.api import Mechanism, System, Trajectory, UsageError, compiled_of, elements, files, mechanism_of, memory_and_threads
from linkwright.compiler.javascript import short

ASSETS = Path(__file__).parent / "assets"
THREE = Path(__file__).parent.parent / "vendor" / "three.min.js"
REPORT_STYLE = "shell/report.css"
STYLES = ("drawing/drawing.css", "panels/panels.css", "shell/page.css", REPORT_STYLE)
FOLDERS = ("base", "engine", "drawing", "plots", "panels", "player", "shell")  # of assets: those every page of a mechanism has
FIRST, START = "base/lw.js", "shell/main.js"
QUIET, LOUD = "<script>LW_warn=console.warn;console.warn=()=>{}</script>", "<script>console.warn=LW_warn</script>"  # it deprecates itself


def text(
    subject: Any,
    *,
    run: Trajectory | None = None,
    report: str | None = None,
    reload: str | None = None,
    steps: int | None = None,
    static: bool = False,
    designs: Any = None,
    title: str = "",
    host: str | None = None,
) -> str:
    """The page of a Mechanism or System.

    `run` is a trajectory to play in it, `report` a piece of HTML for its last section, `reload` the address a served page asks for
    a newer version of itself, `steps` those of its cycle (360 if not given), `static`: the cycle is that of speed 0; `designs`: two
    designs to compare (`compare_page.ComparedDesigns`), the subject is the first of them; `host`: key of the widget around it.
    """
    system = _system(subject, run)
    made, known = contents(system, run, steps, static, designs)
    known |= {"host": host} if host else {}
    known |= {"reload": reload, "name": title or system.description.name}
    return assembled(title or system.description.name, made, known, planar=system.description.planar, report=report or "")


def assembled(title: str, made: str, known: dict[str, Any], *, planar: bool, report: str = "", more: str = "") -> str:
    """A page from the script of a mechanism and DATA; `more` is a further folder of assets, scripts and styles."""
    sheets = sorted(f"{more}/{p.name}" for p in (ASSETS / more).glob("*.css")) if more else []
    return filled(
        "shell/page.html",
        title=html.escape(title),
        style=styles(*STYLES, *sheets),
        report=report,
        scripts="\n".join(_scripts(made, known, planar, *((more,) if more else ()))),
    )


def write(subject: Any, path: str | os.PathLike[str], **options: Any) -> Path:
    """The page as a file; options as in `text`."""
    files.checked(path, files.PAGES)
    return files.write_text(path, files.PAGES, text(subject, **options))


def error_text(title: str, message: str, reload: str | None = None) -> str:
    """A page that says what is wrong with a model, and reloads when it changes."""
    watch = "".join(script_element(short(asset(name))) for name in (FIRST, "shell/reload.js"))
    return filled("shell/error.html", title=html.escape(title), message=html.escape(message), watch=watch, reload=json_text(reload))


def contents(
    system: System,
    run: Trajectory | None = None,
    steps: int | None = None,
    static: bool = False,
    designs: Any = None,
    *,
    drawn: bool = False,
) -> tuple[str, dict[str, Any]]:
    """The script of the mechanism and DATA: what a page computes with. `drawn`: also by pins of the drawing and mass properties."""
    from linkwright.rings.studio.live import cycle_data, mechanism_script, sliders
    from linkwright.rings.studio.live.page_data import data
    from linkwright.rings.studio.scene import Scene

    with memory_and_threads.one_thread(system.tree.nv + 1):
        motion = cycle_data.motion_of(system, steps, static)
        scene = Scene(system, motion.turn)
        parameters = sliders.sliders(system, drawn=drawn) if designs is None else designs.sliders(system)
        made = mechanism_script.script(system, motion.drives, [p["name"] for p in parameters], scene)
        found = data(system, motion, scene, made, parameters, run)
        return made.text, found if designs is None else {**found, "designs": designs.as_json()}


def _system(subject: Any, run: Trajectory | None) -> System:
    """The subject's System; with the cuts of the run, whose coordinates depend on them. A cycle has ideal joints in place of clearances."""
    system: System = getattr(subject, "system", subject)
    if len(system.description.bodies) < 2:
        raise UsageError(
            f"'{system.description.name}' has no moving body, so there is nothing to show. Add one under `bodies`.",
            name=system.description.name,
        )
    if run is not None and not _same_machine(run, system):
        raise UsageError(
            "the run was computed with other values than this mechanism has. Show it alone: run.show('run.html').", name="run"
        )
    if run is not None and [n.joint.name for n in run.skel.tree.nodes] != [n.joint.name for n in system.tree.nodes]:
        return System(compiled_of(system).described, run.skel.tree.cuts)
    d = mechanism_of(system).description
    if run is None and d.ideal is not d:
        return Mechanism(d.ideal).system
    return system


def _same_machine(run: Trajectory, system: System) -> bool:
    """True if a run's coordinates put this mechanism's bodies where they were."""
    theirs, ours = run.skel.tree.description.numbers(), system.description.numbers()
    same = theirs.bodies == ours.bodies and theirs.joints == ours.joints
    return same and elements.lengths(theirs) == elements.lengths(ours)


# -------------------------------------------------------------------- putting it together


def filled(name: str, **parts: str) -> str:
    """The template with its placeholders filled in one pass, so that nothing inside a part is taken for one."""
    pieces = re.split(r"\{\{(\w+)\}\}", asset(name))
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def styles(*names: str) -> str:
    """The text of style sheets for a page."""
    return "\n".join(asset(name).replace("</", "<\\/") for name in names)


def _scripts(made: str, known: dict[str, Any], planar: bool, *more: str) -> list[str]:
    out = [] if planar else [QUIET, script_element(THREE.read_text(encoding="utf-8")), LOUD]
    out += [script_element(made), script_element(f"var DATA={json_text(known)};")]
    return out + [script_element(short(asset(name))) for name in script_names(planar, *more)]


def script_names(planar: bool, *more: str) -> list[str]:
    """Return the page's own scripts in their order, those of `more` folders too: FIRST is the first, START the last."""
    every = [f"{folder}/{p.name}" for folder in (*FOLDERS, *more) for p in sorted((ASSETS / folder).glob("*.js"))]
    between = [n for n in every if n not in (FIRST, START) and not (planar and n.startswith("drawing/space"))]
    return [FIRST, *between, START]


@cache
def asset(name: str) -> str:
    """The text of a file of the page."""
    return (ASSETS / name).read_text(encoding="utf-8")


def script_element(source: str) -> str:
    """A script inside a page."""
    return f"<script>{re.sub('</(?=script)', '<' + chr(92) + '/', source, flags=re.IGNORECASE)}</script>"


def json_text(value: Any) -> str:
    """A value as JSON that can be inside a script."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")  # no tag, no comment can begin in it
