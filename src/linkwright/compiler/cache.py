"""Machine code cached on disk between processes: one file per piece of code, in the user's cache directory.

    LINKWRIGHT_CACHE=directory      another place;  LINKWRIGHT_CACHE=off    no cache

A file holds a magic word, its key, a checksum, a little JSON and object bytes. It is written beside its place and moved
there, so readers never see half of one; whatever is damaged, foreign, writable by others or unreadable counts as absent.
A cache that cannot be written is no cache: nothing here raises.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import struct
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.errors import UsageError

MAGIC = b"linkwright object 1\n"
ENDING = ".lwo"
WRITABLE = stat.S_IWGRP | stat.S_IWOTH
LIMIT = 256 * 2**20  # bytes; beyond, the files not used for longest go
LOOKED_AT = ("0", "8")  # digits of a key at which the size is looked at: one new entry in eight, as listing thousands takes long
_room: dict[Path, int] = {}  # bytes this process may still write to a folder before it lists it again
# modules whose text decides the code
_GENERATOR = ("program", "sums", "constant_parts", "lanes", "repeats", "schedule", "sincos", "arctangent", "cache", "llvm", "state_lanes")


def directory() -> Path | None:
    """Directory of the entries; None when caching is off or there is no home."""
    named = os.environ.get("LINKWRIGHT_CACHE", "").strip()
    if named:
        return None if named.lower() == "off" else Path(named).expanduser() / "objects"
    try:
        return _users_caches() / "linkwright" / "objects"
    except RuntimeError:  # no home directory
        return None


def _users_caches() -> Path:
    """The platform's place for files that may be deleted."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".cache"


def key(parts: Any) -> str:
    """The name of an entry: everything its bytes depend on. `parts` is JSON-like: numbers, texts, lists, dicts."""
    return hashlib.sha256(json.dumps([_environment(), quick(), parts], sort_keys=True).encode()).hexdigest()


@cache
def _environment() -> dict[str, Any]:
    """Versions and processor; without llvmlite there is no machine code, but plans are cached all the same."""
    try:
        import llvmlite
    except ImportError:
        return {"generator": [VERSION, _text_of_the_generator()]}
    here = host()
    return {
        "llvmlite": llvmlite.__version__,
        "llvm": llvm_version(),
        "triple": here.triple,
        "cpu": here.cpu,
        "features": here.features,
        "generator": [VERSION, _text_of_the_generator()],
    }


def _text_of_the_generator() -> str:
    """A digest of the modules that write code; empty where they are not files, then the version alone counts."""
    digest = hashlib.sha256()
    try:
        for name in _GENERATOR:
            digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()


def get(name: str) -> tuple[dict[str, Any], bytes] | None:
    """Metadata and object bytes of an entry, or None."""
    place = directory()
    if place is None:
        return None
    path = place / (name + ENDING)
    try:
        if not _trusted(os.stat(place)):
            return None
        with files.open_regular(path) as file:
            if not _trusted(os.fstat(file.fileno())):
                return None
            content = file.read(LIMIT)  # a longer one fails its checksum
    except (OSError, files.Unreadable):
        return None
    found = _decoded(name, content)
    if found is not None:
        with contextlib.suppress(OSError):
            os.utime(path)  # used now: pruned later than others
    return found


def _trusted(status: os.stat_result) -> bool:
    """Machine code is taken only from files and folders of this user or of the administrator that others cannot write to."""
    return not hasattr(os, "getuid") or (status.st_uid in (os.getuid(), 0) and not status.st_mode & WRITABLE)


def _encoded(name: str, meta: dict[str, Any], code: bytes) -> bytes:
    text = json.dumps(meta).encode()
    payload = struct.pack("<I", len(text)) + text + code
    return MAGIC + name.encode() + hashlib.sha256(payload).digest() + payload


def _decoded(name: str, content: bytes) -> tuple[dict[str, Any], bytes] | None:
    head = MAGIC + name.encode()
    start = len(head) + 32
    payload = content[start:]
    if not content.startswith(head) or len(payload) < 4 or hashlib.sha256(payload).digest() != content[len(head) : start]:
        return None
    (length,) = struct.unpack_from("<I", payload)
    try:
        meta = json.loads(payload[4 : 4 + length])
    except ValueError:
        return None
    return (meta, payload[4 + length :]) if isinstance(meta, dict) else None


def put(name: str, meta: dict[str, Any], code: bytes) -> None:
    """Keep an entry, if that is possible."""
    place = directory()
    if place is None:
        return
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _trusted(os.stat(place)):
            return  # a folder that others may write to: nothing in it would ever be taken, and its permissions are its owner's
        content = _encoded(name, meta, code)
        with files.atomic(place / (name + ENDING), durable=False, private=True) as beside:
            beside.write_bytes(content)
    except OSError:
        return
    _room[place] = _room.get(place, 0) - len(content)
    if _room[place] <= 0 and name.startswith(LOOKED_AT):
        prune(place)


def prune(place: Path, limit: int | None = None) -> None:
    """Remove the entries not used for longest until the rest is small enough, and leavings of writers that died.

    A quarter of the room left is this process's own until the next look: others may write as well.
    """
    limit = LIMIT if limit is None else limit
    try:
        with os.scandir(place) as listing:
            entries = [e for e in listing if e.name.endswith(ENDING) and not e.name.startswith(".") and e.is_file()]
            found = sorted((e.stat().st_mtime, e.stat().st_size, e.path) for e in entries)
    except OSError:
        return
    files.remove_leftovers(place)
    size = sum(f[1] for f in found)
    for _, bytes_, path in found:
        if size <= limit:
            break
        size -= bytes_
        with contextlib.suppress(OSError):
            os.unlink(path)
    _room[place] = (limit - size) // 4


# ----------------------------------------------------------------------------------------------------
# The processor code is made for, and the way from LLVM's text to object bytes

VERSION = 2  # of the generated code; part of every cache key
LIBRARY_FUNCTIONS = ("sin", "cos", "exp", "log", "tanh", "atan2", "pow")  # of C; in generated code their names begin with lw_

# LLVM's level 1 gives the same code as 2 and 3 here (measured); level 0 compiles in a third (small programs) to two thirds of the time
# and runs three times as long, which pays only where compilation takes many seconds, or where code runs once: LINKWRIGHT_OPTIMIZATION=0.
LEVEL, LOW_LEVEL, LOW_LEVEL_ABOVE = 1, 0, 60_000  # operations


@dataclass(frozen=True)
class Processor:
    """The processor code is made for."""

    triple: str
    cpu: str
    features: str
    lanes: int = 4  # states that batches handle at once, angles of one state taken together

    def has(self, feature: str) -> bool:
        return f"+{feature}" in self.features.split(",")

    @property
    def fused(self) -> bool:
        """Does one instruction multiply and add?"""
        return self.has("fma") or not self.triple.startswith(("x86", "i386", "i686"))


@dataclass(frozen=True)
class ObjectCode:
    """Object bytes, and what a caller without the program must know of them."""

    meta: dict[str, Any]
    object: bytes


@cache
def host() -> Processor:
    """This processor."""
    b = binding()
    try:
        features = b.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know this processor: only what its name promises
        features = ""
    wide = "+avx512f" in features.split(",")  # with registers of four doubles, eight lanes spill: 20 % slower
    return Processor(b.get_process_triple(), b.get_host_cpu_name(), features, 8 if wide else 4)


def llvm_version() -> list[int]:
    return list(binding().llvm_version_info)


@cache
def binding() -> Any:
    """llvmlite, ready for this processor."""
    try:
        import llvmlite.binding as binding

        binding.initialize_native_target()
    except OSError as problem:
        raise UsageError(
            "llvmlite is installed, but its library cannot be loaded. Give the process more memory (ulimit -v), or install llvmlite again. "
            "Without it, models run interpreted."
        ) from problem
    binding.initialize_native_asmprinter()
    return binding


def machine(target: Processor, optimization: int = LEVEL) -> Any:
    """A fresh TargetMachine: an execution engine takes its own, never share one."""
    description = binding().Target.from_triple(target.triple)
    return description.create_target_machine(
        cpu=target.cpu, features=target.features, opt=optimization, reloc="pic", codemodel="small", jit=True
    )


def emit(text: str, target: Processor, optimization: int = LEVEL) -> bytes:
    """Object bytes of a module."""
    module = binding().parse_assembly(text)
    return machine(target, optimization).emit_object(module)


def quick() -> bool:
    """True if code shall be made quickly, and may run slowly."""
    return os.environ.get("LINKWRIGHT_OPTIMIZATION", "").strip() == "0"


def level(operations: int, steps: int) -> int:
    """How hard LLVM tries on a program of that size, whose code has so many steps: few where they are repeated."""
    return LOW_LEVEL if quick() or min(operations, 2 * steps) > LOW_LEVEL_ABOVE else LEVEL
