"""The live page as a notebook widget: parameters and selection both ways between Python and the page.

    w = m.show(widget=True) # at the end of a cell: the page
    w.values                # numbers that were changed in the page, SI; assigning moves its sliders
    w.set(**{"crank.B.x": "320 mm"})
    w.picked                # {"kind": "pin", "name": "C", "body": ""}; assigning selects in the page
    w.mechanism             # the mechanism with these numbers
    w.observe(lambda change: print(change.new), "values")

It is an anywidget, so it works in Jupyter, VS Code, Colab and marimo. The page is in a frame that cannot see the notebook; the two exchange
messages that carry a key of their own.

Without a widget, mechanisms, cycles and runs show the page inside the output cell. It sits in an `<iframe srcdoc>` in a sandbox that lets
scripts run and files be saved, and nothing else: it cannot see the notebook, its storage or the network. So it works in Jupyter, VS Code
and Colab, and in notebooks exported to HTML.
"""

from __future__ import annotations

import html
import math
import secrets
from functools import cache
from typing import Any

from linkwright.api import LinkwrightError, Trajectory, UsageError, counted, degrees_of_freedom, every_parameter, nearest, package
from linkwright.rings.studio import live
from linkwright.rings.studio.live import sliders
from linkwright.rings.studio.page import played

HEIGHT = 720  # pixels of the cell; the page scrolls inside
SANDBOX = "allow-scripts allow-downloads allow-popups"
STYLE = "width:100%;border:0;border-radius:6px;background:transparent"


def snippet(subject: Any, *, run: Trajectory | None = None, height: int = HEIGHT) -> str:
    """HTML for an output cell: the page of a Mechanism or System, playing `run` if there is one; below it a line of text.

    The line is what viewers show that leave frames out.
    """
    from linkwright.rings.studio import live

    try:
        system = getattr(subject, "system", subject)
        page, line = live.text(subject, **played(subject, run)), caption(system, run)
    except LinkwrightError as problem:  # a model that does not assemble says so where it is shown
        return f"<p>{html.escape(' '.join(str(problem).split()))}</p>"
    title = html.escape(f"{system.description.name}: mechanism that can be moved, dragged and changed", quote=True)
    frame = (
        f'<iframe title="{title}" srcdoc="{html.escape(page, quote=True)}" sandbox="{SANDBOX}" '
        f'style="{STYLE};height:{height}px" loading="lazy" allowfullscreen></iframe>'
    )
    return f'{frame}\n<p style="font-size:.85em;opacity:.7;margin:.2em 0">{html.escape(line)}</p>'


def caption(system: Any, run: Trajectory | None) -> str:
    """One line on what the cell shows."""
    d = system.description
    if run is None:
        moved = f"driven at {', '.join(x.joint for x in d.drives)}" if d.drives else "no drive"
        return f"{d.name}: {degrees_of_freedom(system.mobility.freedoms)}, {moved}"
    what = "simulation" if run.proof is not None else f"cycle of {run.drive}" if run.drive else "motion"
    return f"{d.name}: {what}, {counted(len(run), 'sample')}, {run.t[-1] - run.t[0]:.6g} s"


KINDS = ("pin", "body", "point")
SCRIPT = "widget/widget.js"


def widget(mechanism: Any, *, run: Trajectory | None = None, height: int = HEIGHT) -> Any:
    """Return the widget of a Mechanism; `run` is played in it, `height` is in pixels. Needs the package anywidget."""
    if isinstance(height, bool) or not isinstance(height, int) or not 200 <= height <= 4000:
        raise UsageError(f"height is a number of pixels from 200 to 4000, not {height!r:.40}.", name="height", value=height)
    key = secrets.token_hex(8)
    text = live.text(mechanism, host=key, **played(mechanism, run))
    return _widget_class()(mechanism, page=text, key=key, height=height)


@cache
def _widget_class() -> Any:
    anywidget, traitlets = package("anywidget", "notebook"), package("traitlets", "notebook")

    class MechanismWidget(anywidget.AnyWidget):
        """A page in a notebook whose parameters and selection are traits."""

        _esm = live.asset(SCRIPT)
        _page = traitlets.Unicode().tag(sync=True)
        _key = traitlets.Unicode().tag(sync=True)
        _height = traitlets.Int(HEIGHT).tag(sync=True)
        _sandbox = traitlets.Unicode(SANDBOX).tag(sync=True)
        values = traitlets.Dict().tag(sync=True)
        picked = traitlets.Dict().tag(sync=True)

        def __init__(self, mechanism: Any, *, page: str, key: str, height: int):
            self._mechanism = mechanism
            self._numbers = {p["name"]: float(p["value"]) for p in sliders.sliders(mechanism.system)}
            super().__init__(_page=page, _key=key, _height=height)

        @traitlets.validate("values")
        def _checked_values(self, proposal: Any) -> dict[str, float]:
            return {name: self._checked(name, x) for name, x in proposal["value"].items()}

        def _checked(self, name: str, x: Any) -> float:
            if name not in self._numbers:
                raise UsageError(f"the page has no slider of '{name}'.", nearest(name, list(self._numbers), "Sliders"))
            if isinstance(x, bool) or not isinstance(x, (int, float)) or not math.isfinite(x):
                raise UsageError(
                    f"values are finite numbers in SI, such as {{'{name}': {self._numbers[name]:.6g}}}, not {x!r:.40}.", name=name, value=x
                )
            return float(x)

        @traitlets.validate("picked")
        def _checked_pick(self, proposal: Any) -> dict[str, str]:
            given = proposal["value"]
            if given and (given.get("kind") not in KINDS or not isinstance(given.get("name"), str)):
                raise UsageError(
                    f"picked is a dict such as {{'kind': 'pin', 'name': 'C'}} with a kind of {', '.join(KINDS)}, or empty.", allowed=KINDS
                )
            return {key: str(given.get(key, "")) for key in ("kind", "name", "body")} if given else {}

        def set(self, **changes: Any) -> None:
            """Move sliders of the page to these numbers: SI, or texts with units."""
            for name in changes:
                self._checked(name, 0.0)
            changed = every_parameter(self._mechanism.with_(**changes).system.description)
            self.values = {**self.values, **{name: float(changed[name].value) for name in changes}}

        def reset(self) -> None:
            """Go back to the parameters of the model."""
            self.values = {}

        @property
        def mechanism(self) -> Any:
            """The mechanism with the numbers of the page."""
            return self._mechanism.with_(**self.values) if self.values else self._mechanism

    return MechanismWidget
