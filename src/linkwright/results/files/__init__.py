"""Runs in files: .npz (nothing to install) and .parquet hold everything, .csv the channels only.

Both hold one table, a row for every sample: t, then the recorded columns, the coordinates, speeds and accelerations of the
tree's joints, multipliers, references of cut joints, and channels for people without this program (points, body angles).
Columns are called like channels. A text of JSON, `linkwright` (an entry of the npz, metadata of the Parquet schema), says which
column is what and carries the model as YAML, its cuts, parameters, settings, certificate, events, versions and a
fingerprint of the numbers. Nothing is pickled.

    table_content.py the table and the JSON of a run        schema.py   what every field of the JSON must be
    writing.py   writers, one a format                  reading.py  readers that trust nothing
    size_limits.py    how much a file may unpack to
"""

from linkwright.results.files.reading import Stored, damaged, read
from linkwright.results.files.schema import Misfit
from linkwright.results.files.table_content import FORMAT, identical, versions
from linkwright.results.files.writing import WHOLE, save

__all__ = ["FORMAT", "WHOLE", "Misfit", "Stored", "damaged", "identical", "read", "save", "versions"]
