"""A kernel for many states as a custom call of XLA: the handler that XLA's foreign function interface asks for, as machine code.

XLA hands over a frame of buffers; the handler checks type and size of each, calls the kernel on them in place, and fills the rows of
states that the kernel could not solve with NaN. Everything it needs to know of the kernel (its address, the sizes of its blocks, its work
memory) is written into its code, so that a compiled XLA program refers to nothing but the handler's name. Layouts are those of XLA's
`c_api.h`, version 0, for machines of 64 bits.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import sys
from threading import Lock
from typing import Any

from linkwright.compiler import cache
from linkwright.compiler.native import Loaded, NativeCode

F64, S8 = 12, 2  # data types
METADATA = 1  # type of the extension by which XLA asks for the version
INVALID_ARGUMENT, RESOURCE_EXHAUSTED = 3, 8  # codes of errors
EXTENSION, API, ARGUMENTS, RESULTS, RESULT_COUNT, ARGUMENT_COUNT = 8, 16, 72, 112, 96, 56  # places in a frame
DTYPE, DATA, RANK, DIMENSIONS = 16, 24, 32, 40  # places in a buffer
ERROR_CREATE = 48  # place in the table of functions
ALIGNED = 64

_HANDLERS: dict[str, tuple[int, Any, Any]] = {}  # by name: address, and what must live as long as the process
_LOCK = Lock()


def handler(code: NativeCode, minor: int) -> tuple[str, int]:
    """Return name and address of the handler of a kernel; equal kernels have one name, in every process. It lives as long as the process.

    Inputs are buffers of doubles with any common leading axes, in the kernel's order; results the kernel's outputs, then the status of
    every state, an int8. `minor` is the version of XLA's interface.
    """
    compiled = code.compiled("many")
    meta = {key: compiled.meta[key] for key in ("inputs", "outputs", "work")}
    content = json.dumps(meta, sort_keys=True).encode() + compiled.object
    name = f"linkwright_{minor}_{hashlib.sha256(content).hexdigest()[:24]}"
    with _LOCK:
        if name not in _HANDLERS:
            text = write(code, minor)
            made = Loaded(cache.emit(text, cache.host()))
            _HANDLERS[name] = made.address("handler"), made, code
        return name, _HANDLERS[name][0]


def capsule(address: int) -> Any:
    """Return an address in the form in which XLA takes custom calls."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, b"xla._CUSTOM_CALL_TARGET", None)


def write(code: NativeCode, minor: int) -> str:
    """Return the handler as LLVM text."""
    inputs, outputs = [b.size for b in code.inputs], [b.size for b in code.outputs]
    n, m = len(inputs), len(outputs)
    malloc, free = _memory()
    many = f"inttoptr (i64 {code.many_address} to ptr)"
    size = 8 * code.work("many") + ALIGNED
    wrong = "the arrays of this call are not those it was compiled for: it takes arrays of float64 with equal leading axes"
    texts = {"wrong": wrong, "full": "there is no memory left for the work of the kernel"}
    return "\n".join(
        [
            f'target triple = "{cache.host().triple}"',
            *(f'@{key} = private constant [{len(text) + 1} x i8] c"{text}\\00"' for key, text in texts.items()),
            _HELPERS,
            "define ptr @handler(ptr %frame) {",
            _metadata(minor),
            *_load("arguments", "ptr", "frame", ARGUMENTS),
            *_load("results", "ptr", "frame", RESULTS),
            *_load("n", "i64", "frame", ARGUMENT_COUNT),
            *_load("m", "i64", "frame", RESULT_COUNT),
            f"  %n.fits = icmp eq i64 %n, {n}",
            f"  %m.fits = icmp eq i64 %m, {m + 1}",
            "  %all = and i1 %n.fits, %m.fits",
            "  br i1 %all, label %sized, label %mismatch",
            "sized:",
            *_load("status", "ptr", "results", 8 * m),
            f"  %status.fits = call i1 @is_type(ptr %status, i32 {S8})",
            "  %count = call i64 @elements(ptr %status)",
            *_load("codes", "ptr", "status", DATA),
            f"  %in = alloca ptr, i64 {max(n, 1)}",
            f"  %in.stride = alloca i64, i64 {max(n, 1)}",
            f"  %out = alloca ptr, i64 {max(m, 1)}",
            f"  %out.stride = alloca i64, i64 {max(m, 1)}",
            "  %fits.0 = and i1 %status.fits, true",
            *_blocks("arguments", "in", inputs, 0),
            *_blocks("results", "out", outputs, n),
            f"  br i1 %fits.{n + m}, label %ready, label %mismatch",
            "ready:",
            "  call void @zero(ptr %codes, i64 %count)",
            f"  %raw = call ptr inttoptr (i64 {malloc} to ptr)(i64 {size})",
            "  %gone = icmp eq ptr %raw, null",
            "  br i1 %gone, label %exhausted, label %run",
            "run:",
            "  %raw.whole = ptrtoint ptr %raw to i64",
            f"  %raw.past = add i64 %raw.whole, {ALIGNED - 1}",
            f"  %work.whole = and i64 %raw.past, -{ALIGNED}",
            "  %work = inttoptr i64 %work.whole to ptr",
            f"  %bits = call i64 {many}(ptr %in, ptr %in.stride, ptr %out, ptr %out.stride, ptr %codes, ptr %work, i64 0, i64 %count)",
            f"  call void inttoptr (i64 {free} to ptr)(ptr %raw)",
            *(f"  call void @mask(ptr %out.{k}.data, i64 {width}, ptr %codes, i64 %count)" for k, width in enumerate(outputs)),
            "  ret ptr null",
            *_error("mismatch", "wrong", INVALID_ARGUMENT),
            *_error("exhausted", "full", RESOURCE_EXHAUSTED),
            "}",
        ]
    )


def _memory() -> tuple[int, int]:
    """Addresses of malloc and free."""
    library = ctypes.CDLL("ucrtbase") if sys.platform == "win32" else ctypes.CDLL(None)
    malloc, free = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in ("malloc", "free"))
    return malloc, free


def _load(name: str, kind: str, of: str, at: int) -> list[str]:
    """A field of a structure."""
    return [f"  %{name}.at = getelementptr i8, ptr %{of}, i64 {at}", f"  %{name} = load {kind}, ptr %{name}.at"]


def _blocks(source: str, into: str, sizes: list[int], first: int) -> list[str]:
    """Check the buffers of one side and put their data and strides into tables."""
    lines: list[str] = []
    for k, size in enumerate(sizes):
        name = f"{into}.{k}"
        lines += _load(name, "ptr", source, 8 * k)
        lines += [
            f"  %{name}.double = call i1 @is_type(ptr %{name}, i32 {F64})",
            f"  %{name}.elements = call i64 @elements(ptr %{name})",
            f"  %{name}.wanted = mul i64 %count, {size}",
            f"  %{name}.sized = icmp eq i64 %{name}.elements, %{name}.wanted",
            f"  %{name}.fits = and i1 %{name}.double, %{name}.sized",
            f"  %fits.{first + k + 1} = and i1 %fits.{first + k}, %{name}.fits",
        ]
        lines += _load(f"{name}.data", "ptr", name, DATA)
        lines += [
            f"  %{name}.place = getelementptr ptr, ptr %{into}, i64 {k}",
            f"  store ptr %{name}.data, ptr %{name}.place",
            f"  %{name}.step = getelementptr i64, ptr %{into}.stride, i64 {k}",
            f"  store i64 {size}, ptr %{name}.step",
        ]
    return lines


def _error(label: str, text: str, code: int) -> list[str]:
    """Return an error of XLA with a message."""
    return [
        f"{label}:",
        *_load(f"{label}.api", "ptr", "frame", API),
        *_load(f"{label}.create", "ptr", f"{label}.api", ERROR_CREATE),
        f"  %{label}.given = alloca {{ i64, ptr, ptr, i32 }}",
        f"  store {{ i64, ptr, ptr, i32 }} {{ i64 28, ptr null, ptr @{text}, i32 {code} }}, ptr %{label}.given",
        f"  %{label}.made = call ptr %{label}.create(ptr %{label}.given)",
        f"  ret ptr %{label}.made",
    ]


def _metadata(minor: int) -> str:
    """Answer XLA's question for the version; otherwise continue."""
    return "\n".join(
        [
            *_load("extension", "ptr", "frame", EXTENSION),
            "  %plain = icmp eq ptr %extension, null",
            "  br i1 %plain, label %called, label %extended",
            "extended:",
            *_load("type", "i32", "extension", 8),
            f"  %asked = icmp eq i32 %type, {METADATA}",
            "  br i1 %asked, label %answer, label %called",
            "answer:",
            *_load("metadata", "ptr", "extension", 24),
            *(
                line
                for name, at, value in (("major", 24, 0), ("minor", 28, minor), ("traits", 32, 0))
                for line in (f"  %{name}.at = getelementptr i8, ptr %metadata, i64 {at}", f"  store i32 {value}, ptr %{name}.at")
            ),
            "  ret ptr null",
            "called:",
        ]
    )


_HELPERS = f"""
define internal i1 @is_type(ptr %buffer, i32 %type) {{
  %at = getelementptr i8, ptr %buffer, i64 {DTYPE}
  %own = load i32, ptr %at
  %same = icmp eq i32 %own, %type
  ret i1 %same
}}
define internal i64 @elements(ptr %buffer) {{
entry:
  %rank.at = getelementptr i8, ptr %buffer, i64 {RANK}
  %rank = load i64, ptr %rank.at
  %dims.at = getelementptr i8, ptr %buffer, i64 {DIMENSIONS}
  %dims = load ptr, ptr %dims.at
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %more ]
  %n = phi i64 [ 1, %entry ], [ %n.next, %more ]
  %going = icmp slt i64 %i, %rank
  br i1 %going, label %more, label %done
more:
  %at = getelementptr i64, ptr %dims, i64 %i
  %size = load i64, ptr %at
  %n.next = mul i64 %n, %size
  %i.next = add i64 %i, 1
  br label %next
done:
  ret i64 %n
}}
define internal void @zero(ptr %codes, i64 %count) {{
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %more ]
  %going = icmp slt i64 %i, %count
  br i1 %going, label %more, label %done
more:
  %at = getelementptr i8, ptr %codes, i64 %i
  store volatile i8 0, ptr %at
  %i.next = add i64 %i, 1
  br label %next
done:
  ret void
}}
define internal void @mask(ptr %values, i64 %width, ptr %codes, i64 %count) {{
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %following ]
  %going = icmp slt i64 %i, %count
  br i1 %going, label %look, label %done
look:
  %at = getelementptr i8, ptr %codes, i64 %i
  %code = load i8, ptr %at
  %bad = icmp ne i8 %code, 0
  %first = mul i64 %i, %width
  br i1 %bad, label %entries, label %following
entries:
  %k = phi i64 [ 0, %look ], [ %k.next, %write ]
  %left = icmp slt i64 %k, %width
  br i1 %left, label %write, label %following
write:
  %place = add i64 %first, %k
  %value = getelementptr double, ptr %values, i64 %place
  store double 0x7FF8000000000000, ptr %value
  %k.next = add i64 %k, 1
  br label %entries
following:
  %i.next = add i64 %i, 1
  br label %next
done:
  ret void
}}
"""
