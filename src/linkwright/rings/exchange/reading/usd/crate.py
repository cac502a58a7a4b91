"""Binary USD, looked at before the library opens it: a damaged file must not make it ask for gigabytes.

"PXR-USDC", version, place of the table of contents;   there: number of sections, each with name, start and size
a section begins with a count, which memory is made for; TOKENS also with the size of its text and of the compressed text
"""

from __future__ import annotations

import struct
from pathlib import Path

MARK = b"PXR-USDC"
MOST_SECTIONS = 64
TOKENS = b"TOKENS"
COUNTED = (b"FIELDS", b"FIELDSETS", b"PATHS", b"SPECS", b"STRINGS", TOKENS)
MOST_PACKED = 300  # bytes of text, and entries, that a byte of a section can stand for


def why_damaged(path: Path) -> str:
    """Why a binary file cannot be what it says; empty for sound ones and for texts."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        head = stream.read(24)
        if not head.startswith(MARK):
            return ""
        if len(head) < 24:
            return "it ends within its head"
        contents = struct.unpack("<q", head[16:24])[0]
        if not 24 <= contents <= size - 8:
            return "its table of contents lies outside of it"
        stream.seek(contents)
        count = struct.unpack("<Q", stream.read(8))[0]
        if count > MOST_SECTIONS or contents + 8 + 32 * count > size:
            return "its table of contents is longer than the file"
        sections = [struct.unpack("<16sqq", stream.read(32)) for _ in range(count)]
        for name, start, length in sections:
            if start < 0 or length < 0 or start + length > size:
                return "a section lies outside of it"
            label = name.rstrip(b"\0")
            if label not in COUNTED:
                continue
            if length < (24 if label == TOKENS else 8):
                return "a section is too short"
            stream.seek(start)
            numbers = struct.unpack("<3Q", stream.read(24)) if label == TOKENS else struct.unpack("<Q", stream.read(8))
            if max(numbers[:2]) > MOST_PACKED * length:
                return "a section has a larger count than its size allows"
    return ""
