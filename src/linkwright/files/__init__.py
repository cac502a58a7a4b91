"""Files of users: bounded reading of regular files, atomic writing, and the marks by which Linkwright recognizes its own files.

read_regular(path, limit)          bytes of a regular file, never of a pipe or device, never more than `limit`
checked(path, endings)             the path, if a file can be written there; called before long computations
read_csv_table(path, limit)        cells of a CSV file, whatever its separator and decimal mark
replacing(path, endings)           a temporary file that takes the place of `path` when it is complete
guarded(path, endings, force=...)  `checked` for the command line: files that Linkwright did not make need --force
"""

from linkwright.files.csv_and_excel import CsvTable, TableError, read_csv_table, safe_cell
from linkwright.files.ownership_marks import FOOTER, GENERATOR, OWNER, guarded, made_by_linkwright, signed
from linkwright.files.regular_files import Unreadable, is_text, need_path, open_regular, read_regular, shown, stamp
from linkwright.files.writing import atomic, checked, remove_leftovers, replacing, write_text

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")
TABLES = (".csv", ".xlsx", ".npz", ".parquet")
RUNS = (".npz", ".parquet")
MODELS = (".yaml", ".yml")
ROBOTS = (".urdf", ".sdf", ".world", ".xml", ".mjcf", ".usd", ".usda", ".usdc")  # models of other programs
SKETCHES = (".dxf", ".svg")  # drawings of linkages
ANIMATIONS = (".gif", ".mp4")

__all__ = [
    "ANIMATIONS",
    "FOOTER",
    "GENERATOR",
    "MODELS",
    "OWNER",
    "PAGES",
    "PICTURES",
    "ROBOTS",
    "RUNS",
    "SKETCHES",
    "TABLES",
    "CsvTable",
    "TableError",
    "Unreadable",
    "atomic",
    "checked",
    "guarded",
    "is_text",
    "made_by_linkwright",
    "need_path",
    "open_regular",
    "read_csv_table",
    "read_regular",
    "remove_leftovers",
    "replacing",
    "safe_cell",
    "shown",
    "signed",
    "stamp",
    "write_text",
]
