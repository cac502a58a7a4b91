"""The processor code is made for, and the way from LLVM's text to object bytes. llvmlite is imported when first used, not before."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any

from linkwright.errors import UsageError

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
            "llvmlite is installed, but its library cannot be loaded. Give the process more memory (ulimit -v), or install llvmlite again; "
            "without it models run interpreted."
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
