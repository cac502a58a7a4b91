"""Machine code of loops: from the cache on disk or made, in one step or two."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

from linkwright.compiler import cache as disk
from linkwright.compiler import cache as target
from linkwright.compiler import native as machine_code

GOOD, FIRST = "good", "first"
LONG_ENOUGH = 0.5  # seconds in code without passes: about what making good code takes
FEW_INSTRUCTIONS = 25  # of a function that is copied to where it is called
announce: list[Callable[[str], None]] = []  # called with a line of text before work that is done once per machine

lock = threading.RLock()


class LoopCode:
    """Machine code of a text with `void loop(ptr slots)`, by the parts that its text depends on.

    Good code of a time loop takes most of a second to make. So where none is in the cache, code is first made without any passes, which
    takes a tenth and runs half as fast to the same bits; the good one replaces it when it has run for about as long as making that
    takes. With `at_once` it is made well in the first place: loops over lanes, whose single calls may last long.
    """

    def __init__(self, name: str, parts: list[Any], supply: Callable[[], tuple[str, dict[str, Any]]], *, at_once: bool):
        self._name, self._supply, self._spent = name, supply, 0.0
        self._keys = {GOOD: disk.key(parts), FIRST: disk.key([*parts, "without passes"])}
        self._loaded: list[machine_code.Loaded] = []  # the first code may be running while the good one replaces it
        good = disk.get(self._keys[GOOD])
        first = None if good is not None or at_once else disk.get(self._keys[FIRST])
        found = good or first
        self.meta, code = found if found is not None else self._made(GOOD if at_once else FIRST)
        self.call: Callable[[int], None] = self._entry(code)
        if good is None and not at_once:
            self._quick, self.call = self.call, self._counted

    def _entry(self, code: bytes) -> Callable[[int], None]:
        self._loaded.append(machine_code.Loaded(code))
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._loaded[-1].address("loop"))

    def _counted(self, address: int) -> None:
        """Run the first code; make the good one when that has taken long enough."""
        start = time.perf_counter()
        self._quick(address)
        self._spent += time.perf_counter() - start
        if self._spent > LONG_ENOUGH:
            with lock:
                if len(self._loaded) == 1:
                    self.call = self._entry(self._made(GOOD)[1])

    def _made(self, how: str) -> tuple[dict[str, Any], bytes]:
        """Metadata and object bytes."""
        for notify in announce:
            notify(f"compiling native loop '{self._name}' (once)")
        text, meta = self._supply()
        code = _optimized(text) if how == GOOD else _plain(text)
        disk.put(self._keys[how], meta, code)
        return meta, code


def _plain(text: str) -> bytes:
    """Object bytes without any passes."""
    host = target.host()
    return target.machine(host, 0).emit_object(target.binding().parse_assembly(f'target triple = "{host.triple}"\n{text}'))


def _optimized(text: str) -> bytes:
    """Object bytes; LLVM's standard passes, but without permission to change any rounding.

    Loops that call kernels spend their time there: light passes give the same bits at the same speed in a quarter of the time.
    """
    b, host = target.binding(), target.host()
    module = b.parse_assembly(f'target triple = "{host.triple}"\n{text}')
    machine = target.machine(host, 1)
    options = b.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.loop_unrolling = options.slp_vectorization = False
    options.inlining_threshold = FEW_INSTRUCTIONS
    builder = b.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)
