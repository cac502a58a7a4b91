"""Random changes of texts and bytes: lines, tokens, numbers, single bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.fuzz import odd

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
TOKEN = re.compile(r"[\w.]+|[^\w\s]")
INSERTED = (
    "\0",
    "\ufeff",
    "\u2028",
    "\x85",
    "\r",
    "\t",
    "\x1b[2J",
    "\ud7ff",
    "🜁",
    "%",
    "&a",
    "*a",
    "!!python/name:os.system ",
    "!!binary ",
    "<<: *a",
    "---\n",
    "...\n",
    "? ",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "|\n",
    ">-\n",
    "'",
    '"',
    "#",
    "&amp;",
    "<!--",
    "]]>",
    "<![CDATA[",
    "&lol;",
    "%YAML 9.9\n",
    "@",
    "`",
)


def change_text(rng: random.Random, text: str) -> str:
    """The text with one change."""
    return rng.choice(TEXT_CHANGES)(rng, text)


def change_bytes(rng: random.Random, data: bytes) -> bytes:
    """The bytes with a few changes."""
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(BYTE_CHANGES)(rng, data)
    return data


def change_encoding(rng: random.Random, text: str) -> bytes:
    """The text as bytes, mostly UTF-8."""
    if rng.random() < 0.95:
        return text.encode("utf-8", "surrogatepass")
    return text.encode(rng.choice(("utf-16", "utf-8-sig", "latin-1", "cp1252", "utf-32-be", "utf-7")), "replace")


def _lines(change: Callable[[random.Random, list[str]], list[str]]) -> Callable[[random.Random, str], str]:
    def changed(rng: random.Random, text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(change(rng, lines)) if lines else text

    return changed


def _cut(rng: random.Random, lines: list[str]) -> list[str]:
    k = rng.randrange(len(lines))
    return lines[:k] + lines[k + rng.randint(1, 3) :]


def _again(rng: random.Random, lines: list[str]) -> list[str]:
    k, n = rng.randrange(len(lines)), rng.randint(1, 3)
    return lines[:k] + lines[k : k + n] * rng.choice((2, 2, 2, 3, 300)) + lines[k + n :]


def _swap(rng: random.Random, lines: list[str]) -> list[str]:
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return lines


def _indent(rng: random.Random, lines: list[str]) -> list[str]:
    k = rng.randrange(len(lines))
    lines[k] = lines[k][1:] if rng.random() < 0.5 else rng.choice((" ", "  ", "\t", "- ")) + lines[k]
    return lines


def _number(rng: random.Random, text: str) -> str:
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    m = rng.choice(found)
    new = odd.near(rng, float(m[0])) if rng.random() < 0.6 else rng.choice(odd.NUMBERS)
    return text[: m.start()] + new + text[m.end() :]


def _token(rng: random.Random, text: str) -> str:
    found = list(TOKEN.finditer(text))
    if not found:
        return text
    m, other = rng.choice(found), rng.choice(found)[0]
    return text[: m.start()] + rng.choice((other, other, "", odd.scalar(rng))) + text[m.end() :]


def _insert(rng: random.Random, text: str) -> str:
    k = rng.randint(0, len(text))
    return text[:k] + rng.choice(INSERTED) + text[k:]


def _truncate(rng: random.Random, text: str) -> str:
    return text[: rng.randint(0, len(text))]


TEXT_CHANGES: tuple[Callable[[random.Random, str], str], ...] = (
    _lines(_cut),
    _lines(_again),
    _lines(_swap),
    _lines(_indent),
    _number,
    _number,
    _number,
    _token,
    _token,
    _insert,
    _truncate,
)


def _flip(rng: random.Random, data: bytes) -> bytes:
    k = rng.randrange(len(data)) if data else 0
    return data[:k] + bytes([rng.choice((0, 255, 128, 10, 32, rng.randrange(256)))]) + data[k + 1 :]


def _flip_head(rng: random.Random, data: bytes) -> bytes:
    """Where formats have their counts and sizes."""
    k = rng.randrange(min(len(data), 120)) if data else 0
    n = rng.choice((1, 2, 4, 8))
    return data[:k] + rng.choice((b"\0" * n, b"\xff" * n, b"\x7f" * n, rng.randbytes(n))) + data[k + n :]


def _drop(rng: random.Random, data: bytes) -> bytes:
    k = rng.randint(0, len(data))
    return data[:k] + data[k + rng.choice((1, 4, 50, 400)) :]


def _double(rng: random.Random, data: bytes) -> bytes:
    k, n = rng.randint(0, len(data)), rng.choice((1, 4, 50, 400))
    return data[: k + n] + data[k:]


def _end(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randint(0, len(data))] if rng.random() < 0.5 else data + rng.randbytes(rng.choice((1, 30, 2000)))


BYTE_CHANGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (_flip, _flip, _flip, _flip_head, _drop, _double, _end)
