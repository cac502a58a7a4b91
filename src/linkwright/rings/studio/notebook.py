"""Mechanisms, turns and runs in notebooks: the page that computes by itself, inside the output cell.

The page sits in an `<iframe srcdoc>` in a sandbox that lets scripts run and files be saved, and nothing else: it cannot see the
notebook, its storage or the network. So it works in Jupyter, VS Code and Colab, and in notebooks exported to HTML.
"""

from __future__ import annotations

import html
from typing import Any

from linkwright.api import LinkwrightError, Trajectory, counted, degrees_of_freedom
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
    title = html.escape(f"{system.description.name}: mechanism that can be turned, dragged and changed", quote=True)
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
    what = "simulation" if run.proof is not None else f"turn of {run.drive}" if run.drive else "motion"
    return f"{d.name}: {what}, {counted(len(run), 'sample')}, {run.t[-1] - run.t[0]:.6g} s"
