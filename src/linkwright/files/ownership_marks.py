"""Marks by which Linkwright recognizes files of its own, so that the command line overwrites results without asking.

.html           <meta name="generator" content="Linkwright">
.png            text chunk Software;  .svg, .pdf  metadata Creator;  .gif  comment;  .mp4  comment
.npz            first entry linkwright.npy;  .parquet  schema metadata `linkwright`
.csv            a quoted header row that begins with "t [unit]" (with "row" and ends with "why": a study; with "body", "case": load cases),
                or a line `# linkwright: ...`
.xlsx           creator and last editor of the document's properties;  .dxf  a comment in the first lines
.fmu            comment of the archive;  .c, .h, .hpp, .cpp, .js  a first line "... by Linkwright ..."
.xml, .mjcf, .urdf, .sdf  a comment "Written by Linkwright" at the head;  .usda  the text of its documentation
.sarif          the name of the tool
.json           the title of the schema of model files, or of a table
.yaml           a first line with the checksum of the rest: a model that was edited since does not count
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from linkwright.errors import UsageError
from linkwright.files.regular_files import Unreadable, open_regular, shown
from linkwright.files.writing import checked

OWNER = "Linkwright"
GENERATOR = f'<meta name="generator" content="{OWNER}">'
HEAD = TAIL = 1 << 16  # bytes at either end in which marks are looked for
FOOTER = 1 << 26  # bytes, most of a Parquet footer that is read
SIGNED = re.compile(rb"# Written by Linkwright, sha256 ([0-9a-f]{64})\r?\n")
_STUDY = re.compile(rb'"row"[,;\t]("[^"\r\n]*"[,;\t])+"ok"[,;\t]("verdict"[,;\t])?"why"\r?\n\d+[,;\t]')
_CASES = re.compile(rb'"body"[,;\t]"case"[,;\t]"reason"[,;\t]')
_BENCH = re.compile(rb"(?:# [^\n]*\n)*?# linkwright: ")
_TABLE = re.compile(rb'"t \[[^"\r\n]*\]"([,;\t]"(?:[^"]|"")*")*\r?\n')


def signed(text: str) -> str:
    """A model's text with the checksum line that shows whether it was edited since."""
    return f"# Written by Linkwright, sha256 {hashlib.sha256(text.encode()).hexdigest()}\n{text}"


def made_by_linkwright(path: str | os.PathLike[str]) -> bool:
    """True if the file carries the mark of its format; False if it does not, or cannot be read."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    test = TESTS.get(ending)
    try:
        with open_regular(path) as stream:
            return test is not None and test(stream)
    except (OSError, Unreadable, struct.error):
        return False


def guarded(path: str | os.PathLike[str], endings: Sequence[str], *, force: bool) -> Path:
    """The path, if a file can be written there and nothing that Linkwright did not make would be lost, or `force` allows it."""
    place = checked(path, endings)
    if not force and place.exists() and not made_by_linkwright(place):
        edited = " or was edited since" if place.suffix.lower() in (".yaml", ".yml") else ""
        force_it = "use --force to overwrite it (in Python force=True)"
        raise UsageError(f"'{shown(path)}' already exists and was not made by Linkwright{edited}; {force_it}.", name=shown(path))
    return place


def _head(stream: BinaryIO) -> bytes:
    return stream.read(HEAD)


def _ends(stream: BinaryIO) -> bytes:
    head = stream.read(HEAD)
    stream.seek(max(HEAD, stream.seek(0, os.SEEK_END) - TAIL))
    return head + stream.read(TAIL)


def _html(stream: BinaryIO) -> bool:
    return GENERATOR.encode() in _head(stream)


def _png(stream: BinaryIO) -> bool:
    head = _head(stream)
    return head.startswith(b"\x89PNG") and b"tEXtSoftware\0" + OWNER.encode() in head


def _svg(stream: BinaryIO) -> bool:
    return re.search(rb"<dc:creator>\s*<cc:Agent>\s*<dc:title>" + OWNER.encode() + rb"</dc:title>", _head(stream)) is not None


def _pdf(stream: BinaryIO) -> bool:
    found = _ends(stream)
    return found.startswith(b"%PDF") and b"/Creator (" + OWNER.encode() + b")" in found


def _gif(stream: BinaryIO) -> bool:
    head = _head(stream)
    return head.startswith(b"GIF8") and b"\x21\xfe" + bytes([len(OWNER)]) + OWNER.encode() + b"\0" in head


def _mp4(stream: BinaryIO) -> bool:
    found = _ends(stream)
    return found[4:8] == b"ftyp" and OWNER.encode() in found


def _fmu(stream: BinaryIO) -> bool:
    found = _ends(stream)
    return found.startswith(b"PK") and found.endswith(OWNER.encode())


def _json(stream: BinaryIO) -> bool:
    return b'"title": "' + OWNER.encode() in _head(stream)


def _sarif(stream: BinaryIO) -> bool:
    return b'"driver": {\n     "name": "' + OWNER.encode() in _head(stream)


def _source(stream: BinaryIO) -> bool:
    return re.match(rb"(/\*|//) [^\n]* by " + OWNER.encode() + rb"\b", _head(stream)) is not None


def _robot(stream: BinaryIO) -> bool:
    return re.search(rb"\A[^\0]{0,2000}?<!-- Written by " + OWNER.encode() + rb"\b", _head(stream)) is not None


def _usda(stream: BinaryIO) -> bool:
    return re.match(rb"#usda [^\0]{0,300}?\bdoc = \"Written by " + OWNER.encode() + rb"\b", _head(stream)) is not None


def _npz(stream: BinaryIO) -> bool:
    return re.match(rb"PK\x03\x04.{26}linkwright\.npy", stream.read(64), re.DOTALL) is not None


def _parquet(stream: BinaryIO) -> bool:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - 8))
    (length,) = struct.unpack("<I", stream.read(4))
    if stream.read(4) != b"PAR1" or not 0 < length <= min(size - 8, FOOTER):
        return False
    stream.seek(size - 8 - length)
    footer = stream.read(length)
    return b"linkwright run" in footer or b"linkwright table" in footer


def _csv(stream: BinaryIO) -> bool:
    """A quoted header with the time first, then rows of numbers as `repr` writes them; measured and edited tables look otherwise."""
    head = _head(stream)
    if _BENCH.match(head) or _STUDY.match(head) or _CASES.match(head):
        return True
    header = _TABLE.match(head)
    if header is None:
        return False
    separator = (header[1] or b",")[:1].decode()
    rows = head[header.end() : head.rfind(b"\n") + 1].decode("utf-8", "replace").splitlines()  # whole ones
    cells = [cell for row in rows for cell in row.split(separator)]
    return all(_as_written(cell) for cell in (cells if separator == "," else [x.replace(",", ".") for x in cells]))


def _xlsx(stream: BinaryIO) -> bool:
    """True if both the creator and the last editor are Linkwright: spreadsheets write their user's name on saving."""
    try:
        with zipfile.ZipFile(stream) as archive, archive.open("docProps/core.xml") as core:
            found = core.read(HEAD)
    except (zipfile.BadZipFile, KeyError, RuntimeError, NotImplementedError, zlib.error, ValueError):
        return False
    return all(re.search(rb"<" + tag + rb"[^>]*>" + OWNER.encode() + rb"<", found) for tag in (b"dc:creator", b"cp:lastModifiedBy"))


def _dxf(stream: BinaryIO) -> bool:
    return re.match(rb"\s*999\r?\nWritten by " + OWNER.encode(), _head(stream)) is not None


def _as_written(cell: str) -> bool:
    try:
        return repr(float(cell)) == cell
    except ValueError:
        return False


def _yaml(stream: BinaryIO) -> bool:
    line = SIGNED.match(head := stream.read(1 << 25))
    return line is not None and hashlib.sha256(head[line.end() :]).hexdigest().encode() == line[1]


TESTS: dict[str, Callable[[BinaryIO], bool]] = {
    ".json": _json,
    ".sarif": _sarif,
    ".html": _html,
    ".htm": _html,
    ".png": _png,
    ".svg": _svg,
    ".pdf": _pdf,
    ".gif": _gif,
    ".mp4": _mp4,
    ".npz": _npz,
    ".parquet": _parquet,
    ".csv": _csv,
    ".xlsx": _xlsx,
    ".dxf": _dxf,
    ".fmu": _fmu,
    ".c": _source,
    ".h": _source,
    ".js": _source,
    ".hpp": _source,
    ".cpp": _source,
    ".xml": _robot,
    ".mjcf": _robot,
    ".urdf": _robot,
    ".sdf": _robot,
    ".usda": _usda,
    ".yaml": _yaml,
    ".yml": _yaml,
}
