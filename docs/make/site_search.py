"""Search of the site: pages that are left out, pages that come first, and words that readers type and pages do not use.

`WORDS` are what readers type to find a page, whether it contains them or not. They weigh more than titles, and a query finds all words
that begin with it. So give a page few of them, and none that another page needs. Queries with their pages are in
tests/rings/studio/browser/test_site.py.
"""

from __future__ import annotations

import json
from pathlib import Path

# Texts that are not written for readers who search: code, tables of figures, transcripts of papers, the diary.
LEFT_OUT = ("gallery/", "examples/", "papers/", "benchmarks/", "CHANGELOG.md", "evidence/closed-loop-set.md")
BOOST = {
    "start/": 2,
    "tutorials/": 1.5,
    "how-to/": 2,
    "reference/model-file.md": 2.5,
    "reference/": 1.5,
    "contributing/extension-points.md": 1.5,
    "help.md": 2,
}

WORDS: dict[str, str] = {
    "CONTRIBUTING.md": "build contribute develop",
    "cite.md": "licence license bibtex DOI",
    "contributing/extension-points.md": "plugin extend",
    "contributing/first-contribution.md": "roadmap issue issues style lint linter ruff",
    "contributing/testing.md": "tests pytest coverage CI",
    "evidence/comparison.md": "benchmark performance faster",
    "evidence/limits.md": "limitations contact collision unsupported backlash flexible",
    "evidence/maturity.md": "windows macos arm gpu supported",
    "evidence/verification.md": "validation verify validated accuracy trust",
    "explanation/architecture.md": "architecture",
    "explanation/forward-dynamics.md": "forward dynamics formulations equations lagrange lagrangian multipliers newton-euler",
    "explanation/inverse-dynamics.md": "inverse dynamics",
    "explanation/stabilization.md": "drift baumgarte",
    "explanation/topology.md": "gruebler mobility freedoms",
    "help.md": "bug question support ask forum languages translation",
    "how-to/balancing.md": "balance counterweight",
    "how-to/bearing-loads.md": "pin force reaction reactions",
    "how-to/cams.md": "cam follower",
    "how-to/controllers.md": "PID feedback computed-torque",
    "how-to/cycle.md": "kinematics dead grashof",
    "how-to/drawings.md": "CAD STEP sketch laser solidworks",
    "how-to/drive-sizing.md": "motor torque",
    "how-to/fmu-c-javascript.md": "simulink matlab",
    "how-to/gymnasium.md": "reinforcement",
    "how-to/identification.md": "identification estimate",
    "how-to/jax-pytorch-casadi.md": "gradient vmap autodiff backpropagation",
    "how-to/linearize.md": "LQR eigenvalues",
    "how-to/motors.md": "motor DC",
    "how-to/page.md": "slider sliders dark jupyter colab",
    "how-to/plots.md": "GIF MP4 animation movie coupler",
    "how-to/report.md": "PDF print",
    "how-to/robot-terms.md": "matrix jacobian coriolis",
    "how-to/singular-positions.md": "singularity singularities",
    "how-to/springs-dampers-stops.md": "friction damping",
    "how-to/state-estimation.md": "kalman filter observer IMU gyro encoder",
    "how-to/studies.md": "tolerance monte carlo sweep derivatives gradient",
    "how-to/time-optimal.md": "time-optimal",
    "reference/channels.md": "channels",
    "reference/errors.md": "error exception traceback message warning",
    "reference/glossary.md": "terms definitions vocabulary",
    "reference/model-file.md": "YAML model spring damper units gravity 3D planar spatial gear cylinder hydraulic mass inertia law",
    "reference/models.md": "example examples built-in library four-bar slider-crank",
    "reference/python/index.md": "API",
    "reference/results.md": "csv excel pandas save",
    "start/first-mechanism.md": "tutorial quickstart getting started beginner four-bar coordinates",
    "start/install.md": "install windows offline docker container conda pip",
    "tutorials/parallel-robot.md": "inverse kinematics",
    "tutorials/lecture.md": "teaching teacher course students exercise homework",
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
