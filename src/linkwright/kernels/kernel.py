"""A kernel: one function of a mechanism's state as native code, called on one state or on arrays of states.

    k = s.kernel("forward")
    a, lam = k(q, v, tau)              # one state, or any leading axes: arrays broadcast, lanes and threads are used

The code itself checks that results are finite and pivots healthy and returns a status word. A state that fails goes to the
rank-revealing path, which either answers it (singular passages, redundant rows) or says what is wrong with it. One state without
an answer raises; in a batch its outputs are NaN, `ok` is False there, and the others have their answers.

Complex arrays give complex results: the program is run by numpy over the batch, analytic wherever it is smooth.
"""

from __future__ import annotations

import copy
import math
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwright.compiler import cache, native
from linkwright.compiler.program import Block, Program, interpret
from linkwright.compiler.switches import Switched, switched
from linkwright.errors import LinkwrightError, SingularityError, UsageError, nearest
from linkwright.numerics.scalars import is_complex
from linkwright.properties import cached_property

LARGE = 15_000  # operations beyond which straight-line code is compiled with less optimization
NOT_FINITE, DEGENERATE = 1, 2
POOLED_STATES, POOLED = 256, 4  # states of a call whose memory is stored, and how many such memories for one number of states
Fallback = Callable[[dict[str, np.ndarray]], dict[str, Any]]

Index = tuple[int, ...]


class Kernel:
    """Named inputs to named outputs. `defaults` are inputs that need not be given: t, near, parameters."""

    def __init__(
        self,
        name: str,
        program: Callable[[], Program],
        parts: Any,
        names: Mapping[str, Sequence[str]],
        defaults: Mapping[str, np.ndarray],
        fallback: Fallback | None = None,
        engine: str = "native",
    ):
        self.name = name
        self.names = names  # of the entries of inputs and outputs, where they have names
        self.native = engine == "native" and native.available()
        self._make, self._parts, self._fallback = program, parts, fallback
        self._pool: list[Any] = []
        self._singles: list[Any] = []
        self._pools: dict[int, list[Any]] = {}  # by number of states
        self.again: tuple[Callable[..., Kernel], tuple[Any, ...]] | None = None  # the call that makes it: what is pickled
        self._defaults = {k: np.asarray(x, dtype=float) for k, x in defaults.items()}

    def __copy__(self) -> Kernel:
        twin = object.__new__(Kernel)
        vars(twin).update(vars(self))
        return twin

    def __reduce__(self) -> Any:
        if self.again is None:
            raise UsageError(
                f"kernel '{self.name}' is a part of a time loop. Kernels of s.kernel(...) can be pickled and copied.", name=self.name
            )
        return self.again

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(b.name for b in blocks) for blocks in (self.inputs, self.outputs))
        return f"<Kernel {self.name}({inputs}) -> {outputs}: {self.size}>"

    @property
    def size(self) -> str:
        """How large it is, for people."""
        how = "native" if self.native else "interpreted"
        note = ", cut into functions and compiled with less optimization" if self.native and self.operations > LARGE else ""
        return f"{self.operations} operations, {how}{note}"

    # ---------------------------------------------------------------- what it is

    @cached_property
    def program(self) -> Program:
        """The flat program, traced."""
        return self._make()

    @cached_property
    def code(self) -> native.NativeCode:
        """The machine code: from the cache on disk, or made now."""
        if self._parts is None:
            return native.NativeCode.of(self.program)
        return native.load(self._parts, lambda: self.program)

    @cached_property
    def switched(self) -> Switched:
        """The program with sides of its break points, and their switching functions."""
        return switched(self.program)

    @cached_property
    def break_points(self) -> int:
        """Switching functions it has: from the cache on disk, or counted now."""
        name = None if self._parts is None else cache.key(["break points", self._parts])
        found = None if name is None else cache.get(name)
        if found is not None:
            return int(found[0]["count"])
        if name is not None:
            cache.put(name, {"count": self.switched.count}, b"")
        return self.switched.count

    def made_from(self, what: str, row: Any, program: Callable[[], Program]) -> native.NativeCode:
        """Machine code of a program made from this one's for a row, cached on disk like its own."""
        if self._parts is None:
            return native.NativeCode.of(program())
        return native.load([what, self._parts, list(row.sizes.items())], program)

    @cached_property
    def inputs(self) -> tuple[Block, ...]:
        return self.code.inputs if self.native else self.program.inputs

    @cached_property
    def outputs(self) -> tuple[Block, ...]:
        """Without the margin, which is only looked at."""
        return tuple(self._every_output[i] for i in self._delivered)

    @cached_property
    def _every_output(self) -> tuple[Block, ...]:
        return self.code.outputs if self.native else self.program.outputs

    @cached_property
    def _delivered(self) -> list[int]:
        return [i for i, b in enumerate(self._every_output) if b.name != "margin"]

    @cached_property
    def operations(self) -> int:
        return self.code.meta["operations"] if self.native else self.program.operations

    @cached_property
    def _needed(self) -> tuple[Block, ...]:
        return tuple(b for b in self.inputs if b.name not in self._defaults)

    @cached_property
    def Result(self) -> Any:
        """The named tuple a call returns."""
        return result_class(self.name, self.outputs)

    def bound(self, **defaults: np.ndarray) -> Kernel:
        """The same code with other values of the inputs that a call may leave out."""
        _ = self.code
        twin = copy.copy(self)
        for name in ("_one", "_needed"):
            vars(twin).pop(name, None)
        twin._defaults = {**self._defaults, **{k: np.asarray(x, dtype=float) for k, x in defaults.items()}}
        twin._pool, twin._singles, twin._pools, twin.again = [], [], {}, None
        return twin

    def interpreted(self) -> Kernel:
        """The same kernel run by numpy over a batch: for a few calls quicker than making machine code."""
        _ = self.program  # traced once for all such twins
        twin = copy.copy(self)
        for name in ("_one", "_needed", "inputs", "_every_output"):
            vars(twin).pop(name, None)
        twin.native = False
        return twin

    @property
    def key(self) -> str | None:
        """Under which its code is in the cache on disk; None if it is found by the program alone."""
        return None if self._parts is None else cache.key(self._parts)

    @cached_property
    def reads(self) -> frozenset[str]:
        """Names of its inputs."""
        return frozenset(b.name for b in self.inputs)

    def default(self, name: str) -> np.ndarray:
        """Value of an input that a call may leave out."""
        return self._defaults[name]

    # ---------------------------------------------------------------- calls

    def __call__(self, *arrays: Any, **more: Any) -> Any:
        """Inputs in order, or by name; t, near and parameters are optional. Outputs as a named tuple.

        One state without an answer raises SingularityError. In a batch its outputs are NaN; `result.ok` is the mask of the
        states that have an answer, `result.why` the reasons by index.
        """
        if self.native and not more and len(arrays) == len(self._needed):
            return self._one(*arrays)
        return self.batch(arrays, more)

    def batch(self, arrays: Sequence[Any], more: Mapping[str, Any] = MappingProxyType({}), cores: int | None = None) -> Any:
        """Any leading axes, any inputs by name; on so many threads at most."""
        given, lead, outputs, status = self._computed(arrays, more, cores)
        results = [outputs[i] for i in self._delivered]
        return self._result(results, self._repair(given, results, status, lead) if status.any() else {})

    def regular(self, arrays: Sequence[Any], more: Mapping[str, Any]) -> tuple[Any, np.ndarray]:
        """Outputs of many states, and the mask of those that it solved by itself: the others need the rank-revealing path."""
        _, _, outputs, status = self._computed(arrays, more, None)
        return self.Result(*(outputs[i] for i in self._delivered)), status == 0

    def _computed(
        self, arrays: Sequence[Any], more: Mapping[str, Any], cores: int | None
    ) -> tuple[list[np.ndarray], tuple[int, ...], list[np.ndarray], np.ndarray]:
        """All inputs, their leading axes, all outputs, and the status of every state."""
        given = self._named(arrays, more)
        lead = np.broadcast_shapes(*(x.shape[: x.ndim - len(b.shape)] for b, x in zip(self.inputs, given, strict=True)))
        if self.native and not any(map(is_complex, given)):
            return given, lead, *self.code.call_many(given, cores)
        packed = self._interpreted(given, lead)
        return given, lead, list(self.program.unpack(packed).values()), _status(self.program, packed)

    def _interpreted(self, given: Sequence[np.ndarray], lead: tuple[int, ...]) -> np.ndarray:
        """All outputs in rows, by numpy over some states at a time."""
        rows = [np.broadcast_to(x, (*lead, *b.shape)).reshape(-1, b.size) for b, x in zip(self.inputs, given, strict=True)]
        x = np.concatenate(rows, axis=-1) if rows else np.zeros((math.prod(lead), 0))
        at_once = 4096  # states that numpy runs a program on at a time
        parts = [interpret(self.program, x[i : i + at_once]) for i in range(0, max(len(x), 1), at_once)]
        return np.concatenate(parts).reshape(*lead, self.program.n_out)

    def _prepared_few(self, n: int) -> tuple[list[np.ndarray], Callable[[], int], list[Callable[[], np.ndarray]]]:
        """Rows of the inputs a call gives, with the defaults in the others, the call, and copies of the outputs."""
        inputs, run, outputs, _ = self.code.prepared_many(n)
        for b, row in zip(self.inputs, inputs, strict=True):
            if b.name in self._defaults:
                row[...] = self._defaults[b.name].reshape(b.shape)
        needed = [row for b, row in zip(self.inputs, inputs, strict=True) if b.name not in self._defaults]
        return needed, run, [outputs[i].copy for i in self._delivered]

    def _result(self, outputs: Sequence[np.ndarray], failed: Mapping[Index, LinkwrightError]) -> Any:
        """The outputs with what failed; of one state the error itself."""
        if () in failed:
            raise failed[()]
        made = self.Result(*outputs)
        if failed:
            made.failed = failed
        return made

    @cached_property
    def _one(self) -> Callable[..., Any]:
        """The call on one state or on some states in rows, optional inputs at their defaults, unrolled for these inputs and outputs:
        every loop and every look-up left out, because the kernel itself takes a fraction of a microsecond."""
        inputs, outputs = range(len(self._needed)), range(len(self.outputs))

        def row(form: str, over: range, between: str = ", ") -> str:
            return between.join(form.format(i=i) for i in over)

        if not self._needed:
            return lambda: self.batch(())
        every, kind = row("x{i},", inputs, " "), "x{i}.__class__ is not A or x{i}.dtype is not D or x{i}.shape"
        text = (
            f"def few({row('x{i}', inputs)}):\n"
            f"    n = len(x0) if x0.__class__ is A and x0.ndim else 0\n"
            f"    if {row(kind + ' != (n, *s{i})', inputs, ' or ')} or not 0 < n <= FEW:\n"
            f"        return batch(({every}))\n"
            f"    mine = pools.get(n) or pools.setdefault(n, [])\n"
            f"    ready = mine.pop() if mine else prepared_few(n)\n"
            f"    ({row('r{i},', inputs, ' ')}), run, ({row('c{i},', outputs, ' ')}) = ready\n"
            f"{row('    r{i}[...] = x{i}', inputs, chr(10))}\n"
            f"    status = run()\n"
            f"    y = new(Result, ({row('c{i}(),', outputs, ' ')}))\n"
            f"    if len(mine) < POOLED:\n"
            f"        mine.append(ready)\n"
            f"    return y if status == 0 else batch(({every}))\n"
            f"def one({row('x{i}', inputs)}):\n"
            f"    if {row(kind + ' != s{i}', inputs, ' or ')}:\n"
            f"        return few({row('x{i}', inputs)})\n"
            f"    ready = pop() if pool else prepared()\n"
            f"    {row('r{i},', inputs, ' ')} run, {row('c{i},', outputs, ' ')} = ready\n"
            f"{row('    r{i}[...] = x{i}', inputs, chr(10))}\n"
            f"    status = run()\n"
            f"    y = new(Result, ({row('c{i}(),', outputs, ' ')}))\n"
            f"    push(ready)\n"
            f"    return y if status == 0 else single(({every}))\n"
        )
        pool: list[Any] = []
        scope: dict[str, Any] = {"pool": pool, "pop": pool.pop, "push": pool.append, "prepared": self._prepared, "new": tuple.__new__}
        scope |= {"A": np.ndarray, "D": np.dtype(float), "Result": self.Result, "batch": self.batch, "single": self._single}
        scope |= {f"s{i}": b.shape for i, b in enumerate(self._needed)} | {"FEW": POOLED_STATES, "POOLED": POOLED}
        scope |= {"pools": self._pools, "prepared_few": self._prepared_few}
        exec(_code(text), scope)
        return scope["one"]

    def healthy(self, arrays: Sequence[np.ndarray], optional: Mapping[str, Any]) -> Any:
        """Outputs for one state by native code; None where the rank-revealing path has to answer. Arrays must have the right shapes;
        `optional` are inputs that may be left out, by name."""
        ready = self._singles.pop() if self._singles else self._single_rows()
        rows, others, run, copies, _ = ready
        for row, x in zip(rows, arrays, strict=True):
            row[...] = x
        for name, row in others:
            row[...] = optional[name] if name in optional else self._defaults[name]
        out = None if run() else tuple.__new__(self.Result, [copy() for copy in copies])
        self._singles.append(ready)
        return out

    @cached_property
    def spans(self) -> Mapping[str, tuple[slice, tuple[int, ...]]]:
        """Place and shape of every output in a row of them all."""
        return MappingProxyType({b.name: (b.span, b.shape) for b in self.outputs})

    def row(self, arrays: Sequence[np.ndarray], optional: Mapping[str, Any]) -> np.ndarray | None:
        """`healthy` with all outputs in one row, which `spans` divides: for kernels with many outputs, of which a caller reads some."""
        ready = self._singles.pop() if self._singles else self._single_rows()
        rows, others, run, _, y = ready
        for row, x in zip(rows, arrays, strict=True):
            row[...] = x
        for name, row in others:
            row[...] = optional[name] if name in optional else self._defaults[name]
        out = None if run() else y.copy()
        self._singles.append(ready)
        return out

    def _single_rows(self) -> tuple[Any, ...]:
        row, run, y = self.code.prepared()
        given = [row[b.span].reshape(b.shape) for b in self._needed]
        optional = [(b.name, row[b.span].reshape(b.shape)) for b in self.inputs if b.name in self._defaults]
        return given, optional, run, [y[b.span].reshape(b.shape).copy for b in self.outputs], y

    def packed(self, x: Mapping[str, np.ndarray]) -> np.ndarray:
        """All outputs of one state in one row, native code only; inputs by name, those not given at their defaults. Nothing is
        checked and no status looked at: for callers that do both themselves."""
        ready = self._pool.pop() if self._pool else self.code.prepared()
        row, run, y = ready
        for b in self.inputs:
            row[b.span] = x[b.name] if b.name in x else self._defaults[b.name]
        run()
        out = y.copy()
        self._pool.append(ready)
        return out

    def _single(self, arrays: Sequence[np.ndarray]) -> Any:
        """One state that failed, as a batch of one."""
        found = self.batch([np.asarray(x, dtype=float)[None] for x in arrays])
        if found.failed:
            raise found.failed[(0,)]
        return self.Result(*(y[0] for y in found))

    def _prepared(self) -> tuple[Any, ...]:
        """The rows of a packed input with the defaults in it, the call bound to it, and copies of the outputs."""
        row, run, y = self.code.prepared()
        for b in self.inputs:
            if b.name in self._defaults:
                row[b.span] = self._defaults[b.name].ravel()
        rows = [row[b.span].reshape(b.shape) for b in self._needed]
        return *rows, run, *(y[b.span].reshape(b.shape).copy for b in self.outputs)

    def _named(self, arrays: Sequence[Any], more: Mapping[str, Any]) -> list[np.ndarray]:
        """All inputs in order as arrays of floats or complex numbers, of the right shape."""
        needed = [b.name for b in self._needed]
        if len(arrays) > len(needed):
            raise UsageError(f"kernel '{self.name}' takes {', '.join(needed)}; {len(arrays)} arrays were given.", name=self.name)
        known = [b.name for b in self.inputs]
        for key in more:
            if key not in known and key not in self._defaults:
                raise UsageError(f"kernel '{self.name}' has no input '{key}'.", nearest(key, known, "Inputs"))
        values = {**self._defaults, **more, **dict(zip(needed, arrays, strict=False))}
        out = []
        for b in self.inputs:
            if b.name not in values:
                raise UsageError(f"kernel '{self.name}' needs {', '.join(needed)}. '{b.name}' is missing.", name=self.name)
            out.append(self._shaped(b, values[b.name]))
        return out

    def _shaped(self, b: Block, value: Any) -> np.ndarray:
        if isinstance(value, Mapping):
            value = self._by_name(b, value)
        try:
            x = np.asarray(value, dtype=complex if np.iscomplexobj(value) else float)
        except (TypeError, ValueError):
            raise UsageError(
                f"input '{b.name}' of kernel '{self.name}' must be numbers, not {type(value).__name__}.", name=b.name, value=value
            ) from None
        if x.ndim == 0 and b.shape == (1,):
            x = x[None]
        if x.shape[x.ndim - len(b.shape) :] != b.shape or x.ndim < len(b.shape):
            order = f": {', '.join(self.names[b.name])}" if b.name in self.names else ""
            raise UsageError(f"input '{b.name}' of kernel '{self.name}' has shape {x.shape}. It needs (..., {b.size}){order}.", name=b.name)
        return x

    def _by_name(self, b: Block, value: Mapping[str, Any]) -> np.ndarray:
        names = list(self.names.get(b.name, ()))
        for key in value:
            if key not in names:
                raise UsageError(f"'{key}' is not an entry of '{b.name}'.", nearest(str(key), names, "Entries"))
        base = self._defaults.get(b.name, np.zeros(b.size))
        return np.array([value.get(n, base[i]) for i, n in enumerate(names)])

    # ---------------------------------------------------------------- states that failed

    def _repair(
        self, given: list[np.ndarray], outputs: list[np.ndarray], status: np.ndarray, lead: tuple[int, ...]
    ) -> dict[Index, LinkwrightError]:
        """Answer the states whose status is not zero by the rank-revealing path; return what is wrong with those it cannot."""
        whole = [np.broadcast_to(x, (*lead, *b.shape)) for b, x in zip(self.inputs, given, strict=True)]
        failed: dict[Index, LinkwrightError] = {}
        for at in (tuple(map(int, where)) for where in np.argwhere(status)):
            try:
                found = self._anyway({b.name: x[at] for b, x in zip(self.inputs, whole, strict=True)})
            except LinkwrightError as error:
                failed[at], found = error, {b.name: np.full(b.shape, np.nan) for b in self.outputs}
            for b, y in zip(self.outputs, outputs, strict=False):
                if b.name in found:
                    y[at] = np.asarray(found[b.name], dtype=y.dtype).reshape(b.shape)
        return failed

    def _anyway(self, inputs: dict[str, np.ndarray]) -> dict[str, Any]:
        """The rank-revealing answer to one state."""
        for name, x in inputs.items():
            if not np.isfinite(x).all():
                entries = self.names.get(name, [str(i) for i in range(x.size)])
                bad = [str(n) for n, value in zip(entries, x.ravel(), strict=False) if not np.isfinite(value)]
                raise UsageError(f"input '{name}' has entries that are not finite numbers: {', '.join(bad)}.", name=name)
        unsolved = f"kernel '{self.name}' cannot solve its equations: the mechanism is singular here, or the drives cannot hold it."
        if self._fallback is None or any(map(is_complex, inputs.values())):  # ranks are those of real numbers
            raise SingularityError(unsolved)
        try:
            found = self._fallback(inputs)
        except np.linalg.LinAlgError as error:
            raise SingularityError(unsolved) from error
        if not all(np.isfinite(found[b.name]).all() for b in self.outputs if b.name in found):
            raise SingularityError(unsolved)
        return found

    # ---------------------------------------------------------------- other forms

    def c(self, name: str | None = None) -> str:
        """The kernel as C99 source."""
        from linkwright.compiler import c99

        return c99.write(self.program, name or self.name)

    def javascript(self, name: str | None = None) -> str:
        """The kernel as a JavaScript function."""
        from linkwright.compiler import javascript

        return javascript.write(self.program, name or self.name)

    def time(self, *arrays: Any) -> float:
        """Nanoseconds of one evaluation in a native loop, best of many short repeats."""
        from linkwright.compiler.timing import time_one

        given = self._named(arrays, {})
        x = np.concatenate([v.ravel() for v in given])
        return time_one(self.code.one_address, x, self.code.n_out, self.code.work("one"))


@lru_cache(256)
def _code(text: str) -> Any:
    """Python code of a call: the same text for all kernels of the same numbers of inputs and outputs."""
    return compile(text, "<call of a kernel>", "exec")


def _status(program: Program, packed: np.ndarray) -> np.ndarray:
    """The status word of interpreted states."""
    status = np.where(np.isfinite(packed).all(axis=-1), 0, NOT_FINITE)
    margin = [b for b in program.outputs if b.name == "margin"]
    if margin:
        status = status | np.where(packed[..., margin[0].start].real > 0.0, 0, DEGENERATE)
    return status


# Results of a kernel: its outputs as a named tuple, and for a batch which of the states have an answer.


class Answers(tuple[Any, ...]):
    """The part of a result that is no output. States without an answer are NaN in every output.

    `ok` is True, or an array with an entry for every state of a batch; `why` has the reason by index, for those where `ok` is False.
    """

    failed: Mapping[Index, LinkwrightError] = MappingProxyType({})  # of the class: a result without failures costs nothing
    _axes = 0  # of the first output of one state

    @property
    def ok(self) -> Any:
        """Mask of the states with an answer: an array over the leading axes, True for one state."""
        first = np.asarray(self[0])
        mask = np.ones(first.shape[: first.ndim - self._axes], dtype=bool)
        for at in self.failed:
            mask[at] = False
        return mask if mask.ndim else True

    @property
    def why(self) -> dict[Index | int, str]:
        """Why a state has no answer, by its index: a number where the batch has one axis."""
        return {at[0] if len(at) == 1 else at: str(error) for at, error in self.failed.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        kind: Any = type(self)
        return _restored, (kind.__name__, kind._fields, self._axes, tuple(self)), dict(vars(self))


def result_class(name: str, outputs: Sequence[Block]) -> Any:
    """The named tuple that a kernel's calls return."""
    return _class(f"{name.capitalize()}Result", tuple(b.name for b in outputs), len(outputs[0].shape) if outputs else 0)


@lru_cache(None)
def _class(name: str, fields: tuple[str, ...], axes: int) -> Any:
    plain = namedtuple(name, fields)
    return type(name, (plain, Answers), {"_axes": axes})


def _restored(name: str, fields: tuple[str, ...], axes: int, values: tuple[Any, ...]) -> Any:
    return _class(name, fields, axes)(*values)
