"""Names people try that the model file does not have: what was meant, or what to use in their place.

`KEYS` and `types()` are synonyms, answered with "Did you mean"; `instead` has a sentence for parts of machines that are not
modeled as such.
"""

from __future__ import annotations

from collections.abc import Iterable

from linkwright import elements
from linkwright.joints import JOINTS
from linkwright.model.library.file_lookup import SEE

KEYS = {
    **dict.fromkeys(("links", "link", "members", "parts", "body", "elements"), "bodies"),
    **dict.fromkeys(("nodes", "coordinates", "geometry", "sketch", "positions"), "drawing"),
    **dict.fromkeys(("hinges", "hinge", "sliders", "slider", "joint", "constraints", "connections", "mates"), "joints"),
    **dict.fromkeys(("drives", "drivers", "driver", "motor", "motors", "actuators", "actuator", "input", "inputs", "motion"), "drive"),
    **dict.fromkeys(("constants", "variables", "params", "dimensions", "define"), "parameters"),
    **dict.fromkeys(("initial", "initial_conditions", "ic", "pose"), "start"),
    **dict.fromkeys(("unit",), "units"),
    **dict.fromkeys(("title", "model"), "name"),
    **dict.fromkeys(("description", "comment", "notes"), "about"),
    **dict.fromkeys(("cog", "cg", "center", "centre", "center_of_mass", "centroid"), "com"),
    **dict.fromkeys(("weight", "m"), "mass"),
    **dict.fromkeys(("moment_of_inertia", "i", "j"), "inertia"),
    **elements.SYNONYMS,
    "g": "gravity",
    "bodie": "bodies",
}
_TABLE = "a coupling with `moves:` or a `table:` of the follower over the driver ('linkwright docs model-file')"
_FEATURES = {
    ("length", "len"): "Two pins of the drawing make a length. One of its own, whatever is drawn, is `along: {A: 0, B: 300}`.",
    ("geneva", "maltese", "indexer"): f"There is no Geneva drive. It is {_TABLE}.",
    ("collision", "collide", "friction_contact", "ground_contact"): (
        "Only surfaces touch that `contacts:` names in pairs. The end of a joint's travel is a `stops:` entry."
    ),
    ("wheel", "rolling", "tire", "tyre", "roller"): "There are no rolling wheels. Rack and pinion is a `gears:` entry.",
    ("clutch", "brake", "ratchet", "latch"): (
        "A clutch or a latch is an event in a simulation: lw.events.when(...) with engage, release, lock or unlock of lw.events. "
        "A one-way clutch is a `freewheels:` entry."
    ),
    ("flexible", "beam", "elastic", "fem"): (
        "Bodies are rigid and joints ideal. `springs:`, `dampers:` and `bushings:` may act between them."
    ),
    (
        "controller",
        "pid",
        "control",
    ): "Controllers are given in Python: m.simulate(2, control=lw.control.pd(...)). See 'linkwright docs controllers'.",
    ("optimize", "optimise", "synthesis"): (
        "Goals are not in the file. m.optimize(goal, vary, require) and lw.synthesize take them. See 'linkwright docs optimization'."
    ),
    ("urdf", "mjcf", "sdf", "dxf", "xlsx", "cad", "import"): (
        "lw.load('robot.urdf') reads a file of another program, m.export writes one. See 'linkwright docs import'."
    ),
}


def types() -> dict[str, str]:
    """Return the synonyms of joint types."""
    return {word: kind for kind, jt in JOINTS.items() for word in jt.synonyms}


def instead(word: str) -> str:
    """Advice in place of something that does not exist, as sentences with a space after them; empty if the word is unknown."""
    plain = word.lower().replace("-", "_").replace(" ", "_")
    if plain in elements.SYNONYMS or plain in elements.PARTS:
        return ""
    for spellings, sentence in _FEATURES.items():
        if any(plain in (w, f"{w}s", f"{w}es", f"{w}_joint") for w in spellings):
            return f"{sentence} " if "linkwright docs" in sentence else f"{sentence} See {SEE}. "
    return ""


def spaced(name: str, known: Iterable[str]) -> str:
    """Advice where a name is a known one, a colon and its value without a space between; empty if it is not."""
    head, colon, value = name.partition(":")
    return f"A colon needs a space after it: `{head}: {value}`. " if colon and value and head in known else ""
