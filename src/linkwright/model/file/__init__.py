"""The model file: YAML (or a dict) to a `Description` and back, units and quantities.

`read(source, **overrides)`, `reread(description, **overrides)`, `redesigned(description, parameters, values)`, `write(description)`,
`save(description, path)`, which keeps the user's text; `quantity`, `convert`, `parse_unit`, `display_unit` for numbers with units.
"""

from linkwright.model.file.reader import LINK, as_read, read, read_converted, read_enclosed, read_made, read_text, redesigned, reread
from linkwright.model.file.save_in_place import edited, save
from linkwright.model.file.text_nodes import MOST_BYTES
from linkwright.model.file.writer import write
from linkwright.text.units import convert, display_unit, parse_unit, quantity

__all__ = [
    "LINK",
    "MOST_BYTES",
    "as_read",
    "convert",
    "display_unit",
    "edited",
    "parse_unit",
    "quantity",
    "read",
    "read_converted",
    "read_enclosed",
    "read_made",
    "read_text",
    "redesigned",
    "reread",
    "save",
    "write",
]
