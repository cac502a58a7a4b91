"""What is done with a mechanism that could be read: each use may refuse, by a LinkwrightError, and may give finite numbers only."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.model.file.writer import with_meshes_from
from linkwright.rings.cli import main
from linkwright.rings.studio import live
from tests.fuzz.judging import Finding, judge_error, judge_numbers, judge_text

STEPS, DURATION = 8, 0.1
ENDINGS = (".urdf", ".sdf", ".xml", ".dxf", ".svg", ".js", ".c")
AGAIN = (".urdf", ".sdf", ".xml")
MOST_BODIES = 40  # of mechanisms that are used: the time limits are for machines, and chains of thousands of links are sound
UNBOUNDED = (
    "advantage",
    "jerk",
    "jx",
    "jy",
    "jz",
    "curvature",
)  # documented as not finite at ends of travel, in singular positions and at rest
Use = Callable[[Any, Path, str], None]


def _info(m: Any, folder: Path, given: str) -> None:
    judge_text(str(m.info()), "info", given)
    judge_text(str(m.topology), "topology", given)


def _turn(m: Any, folder: Path, given: str) -> None:
    c = m.cycle(steps=STEPS)
    table = c.table()
    judge_numbers({c.name: c.values for c in table.columns}, "turn")
    rng = random.Random(given)
    finite = [n for n in c.channels if not any(part in UNBOUNDED for part in n.split("."))]
    for name in rng.sample(finite, min(10, len(finite))):
        with contextlib.suppress(LinkwrightError):
            judge_numbers({name: c[name]}, "turn")


def _simulate(m: Any, folder: Path, given: str) -> None:
    try:
        run = m.simulate(DURATION)
    except lw.SimulationError as stop:
        if stop.run is not None:
            judge_numbers({"q": stop.run.q, "v": stop.run.v}, "run up to its end")
        raise
    table = run.table()
    judge_numbers({c.name: c.values for c in table.columns}, "run")


def _page(m: Any, folder: Path, given: str) -> None:
    data = live.contents(m.system)[1]
    if "nan" in _numbers_of(data):
        raise Finding("page: a number is not finite")


def _numbers_of(x: Any) -> str:
    """nan if there is a number in nested data that is not finite."""
    if isinstance(x, dict):
        return next((s for v in x.values() if (s := _numbers_of(v))), "")
    if isinstance(x, (list, tuple)):
        return next((s for v in x if (s := _numbers_of(v))), "")
    return "nan" if isinstance(x, float) and (x != x or x in (float("inf"), -float("inf"))) else ""


def _report(m: Any, folder: Path, given: str) -> None:
    m.report(folder / "report.html", steps=STEPS)


def _picture(m: Any, folder: Path, given: str) -> None:
    import matplotlib.pyplot as plt

    m.plot("mechanism", folder / "picture.svg")
    plt.close("all")


def _save(m: Any, folder: Path, given: str) -> None:
    """The normalized model reads as the mechanism that was saved."""
    again = lw.load(m.save(folder / "saved.yaml", normalized=True)).description.numbers()
    saved = with_meshes_from(m.description, folder).numbers()
    if again != saved:
        other = [f.name for f in fields(saved) if f.compare and getattr(again, f.name) != getattr(saved, f.name)]
        raise Finding(f"save: what is written reads as another mechanism, in {' and '.join(other)}")


def _export(m: Any, folder: Path, given: str) -> None:
    """One format, chosen by the input; robots are read again."""
    ending = random.Random(given).choice(ENDINGS)
    path = m.export(folder / f"exported{ending}")
    if ending in AGAIN:
        lw.load(path)


def _settle(m: Any, folder: Path, given: str) -> None:
    st = m.settle()
    judge_numbers({"q": st.q}, "settle")


def _rewrite(m: Any, folder: Path, given: str) -> None:
    """The text of the model reads as the mechanism, too."""
    m.save(folder / "rewritten.yaml")


def _command(m: Any, folder: Path, given: str) -> None:
    """The command line, which may print and must end with one of its codes."""
    document = m.description.document
    path = getattr(document, "path", None)
    if path is None:
        return
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["info", str(path), "--json"])
    if code not in (0, 1):
        raise Finding(f"command: exit code {code}: {err.getvalue()[:200]}")
    if code == 0 and "NaN" in out.getvalue():
        raise Finding(f"command: NaN in JSON: {out.getvalue()[:200]}")


USES: dict[str, Use] = {
    "info": _info,
    "turn": _turn,
    "simulate": _simulate,
    "page": _page,
    "report": _report,
    "picture": _picture,
    "save": _save,
    "export": _export,
    "settle": _settle,
    "rewrite": _rewrite,
    "command": _command,
}


def some_uses(rng: random.Random) -> tuple[str, ...]:
    """One to three uses."""
    return tuple(rng.sample(tuple(USES), rng.choice((1, 1, 2, 3))))


def use(m: Any, uses: tuple[str, ...], folder: Path, given: str) -> None:
    """Do these things with a mechanism; raise what may not come out."""
    if len(m.description.bodies) > MOST_BODIES:
        return
    for name in uses:
        try:
            USES[name](m, folder, given)
        except LinkwrightError as refusal:
            judge_error(refusal, given)
