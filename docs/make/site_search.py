"""Search of the site: pages that are left out, pages that come first, and words that readers type and pages do not use.

`WORDS` are synonyms: a page is found by them although it does not contain them.
"""

from __future__ import annotations

import json
from pathlib import Path

# Texts that are not written for readers who search: code, tables of figures, transcripts of papers, the diary.
LEFT_OUT = ("gallery/", "examples/", "papers/", "benchmarks/", "CHANGELOG.md", "evidence/closed-loop-set.md")
BOOST = {"start/": 2, "tutorials/": 1.5, "how-to/": 2, "reference/": 1.5, "help.md": 2}

WORDS: dict[str, str] = {
    "evidence/limits.md": "limitations contact collision unsupported",
    "evidence/maturity.md": "platforms windows macos arm gpu supported tested status",
    "evidence/verification.md": "validation verify validated accuracy trust",
    "how-to/controllers.md": "PID feedback computed-torque",
    "how-to/cycle.md": "kinematics dead center",
    "how-to/drawings.md": "CAD STEP sketch",
    "how-to/drive-sizing.md": "motor torque",
    "how-to/jax-pytorch-casadi.md": "gradient vmap autodiff backpropagation",
    "how-to/linearize.md": "LQR eigenvalues",
    "how-to/plots.md": "GIF MP4 animation movie",
    "how-to/report.md": "PDF print",
    "how-to/robot-terms.md": "mass matrix jacobian coriolis",
    "how-to/studies.md": "tolerance monte carlo sweep",
    "how-to/time-optimal.md": "time-optimal",
    "reference/channels.md": "channels",
    "reference/errors.md": "bug exception traceback message warning",
    "reference/glossary.md": "terms definitions vocabulary",
    "reference/model-file.md": "YAML spring damper units gravity 3D planar spatial",
    "reference/models.md": "examples built-in library four-bar slider-crank",
}


def settings(src_uri: str) -> dict[str, object]:
    """Front matter of the search for a page."""
    if src_uri.startswith(LEFT_OUT):
        return {"exclude": True}
    return {"boost": next((boost for start, boost in BOOST.items() if src_uri.startswith(start)), 1)}


def improve(file: Path) -> None:
    """Add synonyms to the index of the built site."""
    index = json.loads(file.read_text(encoding="utf-8"))
    found = {f"{page.removesuffix('.md')}.html": words for page, words in WORDS.items()}
    for entry in index["docs"]:
        words = found.pop(entry["location"], None)
        if words:
            entry["tags"] = words.split()
    file.write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")
    if found:
        raise KeyError(f"docs/make/site_search.py names pages that are not there: {sorted(found)}")
