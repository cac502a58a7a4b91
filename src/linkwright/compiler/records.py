"""Records of arrays for loops of the subset: declared once as classes, laid out for the sizes of a mechanism and for one lane or eight.

    class Point(Record):
        q: Floats = sized("nq")
        rate: Floats = sized("nq")

A field is an array, a whole number (`int`: fixed for a layout), a number that may change (`float`, or `Count` if it is whole), another
record, or a kernel. `Floats`, `Matrix`, `Ints`, `float` and `Count` have a value of each lane; `Shared`, `SharedMatrix` and `SharedInts`
are common to all lanes. Sizes are symbols of the declaration, and one dictionary {"nq": 3, ...} lays out everything. `Column` and `Rows`
are arrays outside of records, with any strides. As a field such an array is common to all lanes, and `Loop.attach` says which one it is.

    class CloseInputs(Record): ...       blocks of a kernel that a loop names; a block that the program lacks has length 0
    class Close(Kernel):
        x: CloseInputs
        y: CloseOutputs

In memory a record is a table of slots (places and lengths) and a block of floats, so one machine code serves all mechanisms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy as copy_of
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, Protocol, TypeVar, get_origin, get_type_hints

import numpy as np

from linkwright.errors import LinkwrightError

LINE = 8  # arrays begin at a multiple of so many numbers, a cache line
ALL_LANES = 8  # states in a block of lanes; every entry of a block has so many numbers, one after the other

T = TypeVar("T", int, float)
Count = Annotated[int, "may change"]


class Counted:
    """The kind of a field that is declared as `Count`."""


CHANGING: dict[Any, type] = {float: float, Counted: int}  # numbers of a record that loops may change, and their kinds as values


class LoopError(LinkwrightError):
    """A loop uses something outside the subset."""


class Array(Generic[T]):
    """Base of the kinds of arrays. Loops that run as Python see numpy arrays instead."""

    element: ClassVar[type] = float
    axes: ClassVar[int] = 1
    own: ClassVar[bool] = True  # every lane has its own entries
    outside: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, at: Any) -> T:
        raise NotImplementedError

    def __setitem__(self, at: Any, value: T) -> None:
        raise NotImplementedError


class Floats(Array[float]):
    """Numbers of each lane."""


class Matrix(Array[float]):
    """Rows of numbers of each lane."""

    axes = 2


class Ints(Array[int]):
    """Whole numbers of each lane."""

    element = int


class Shared(Array[float]):
    """Numbers that all lanes have in common."""

    own = False


class SharedMatrix(Array[float]):
    """Rows of numbers that all lanes have in common."""

    axes, own = 2, False


class SharedInts(Array[int]):
    """Whole numbers that all lanes have in common."""

    element, own = int, False


class Column(Array[float]):
    """An array outside of records with one axis: of each lane its own, or the same for all."""

    outside = True


class IntColumn(Array[int]):
    """An array of whole numbers outside of records with one axis."""

    element, outside = int, True


class Rows(Array[float]):
    """An array outside of records with two axes."""

    axes, outside = 2, True


@dataclass(frozen=True)
class Sized:
    """Sizes of an array in a record: symbols or numbers, one for each axis."""

    sizes: tuple[str | int, ...]


def sized(*sizes: str | int) -> Any:
    """Return the sizes of an array as the value of a record's field."""
    return Sized(sizes)


class Record:
    """Base of records. `fields_of` gives their fields in the order of their slots."""

    def __init__(self) -> None:
        raise LoopError(f"a {type(self).__name__} is made by a Layout.")


class Kernel(Record):
    """Base of kernels: fields x and y, records of the inputs and outputs that loops name.

    `alone`: with lanes it is called for one lane after the other, as a Python function behind it has to be.
    """

    alone: ClassVar[bool] = False

    def run(self) -> int:
        raise NotImplementedError


# of a kernel, before those of its blocks: its code, inputs, outputs, work; with lanes its code for one lane, how many inputs and outputs it
# has, and room for those of one lane
KERNEL_SLOTS = ("address", "first", "last", "work", "alone", "n_in", "n_out", "alone_first", "alone_last", "alone_work")
ALONE = KERNEL_SLOTS.index("alone")


def run(kernel: Kernel) -> int:
    """Evaluate a kernel at its inputs and return its status word.

    With lanes its outputs hold until another lane evaluates it again: copy what a lane keeps. Where a status is asked for and that of the
    code for eight lanes is not 0, each lane is evaluated alone.
    """
    return kernel.run()


def copy(to: Array[T], source: Array[T]) -> None:
    """Copy an array of a record into another one of the same length."""
    views: tuple[Any, Any] = (to, source)
    views[0][:] = views[1]


@cache
def fields_of(record: type[Record]) -> dict[str, Any]:
    """Return the kinds of a record's fields by name; refuse what no field can be."""
    hints = get_type_hints(record, include_extras=True)
    kinds = {name: Counted if kind == Count else kind for name, kind in hints.items() if get_origin(kind) is not ClassVar}
    for name, kind in kinds.items():
        if not is_number(kind) and not is_array(kind) and not is_record(kind):
            allowed = "int, float, Count, an array, a record or a kernel"
            raise LoopError(f"{record.__name__}.{name}: a field of a record is {allowed}, not {name_of(kind)}.")
    if issubclass(record, Kernel) and set(kinds) != {"x", "y"}:
        raise LoopError(f"{record.__name__}: a kernel has the fields x and y, its inputs and outputs.")
    return kinds


def is_number(kind: Any) -> bool:
    """True if a field is a number: one that is fixed, or one that loops may change."""
    return kind is int or kind in CHANGING


def name_of(kind: Any) -> str:
    """Return the name of a kind, for messages and digests."""
    return "Count" if kind is Counted else getattr(kind, "__name__", str(kind))


def is_array(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Array)


def is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record)


def is_kernel(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Kernel)


def sizes_of(record: type[Record], name: str) -> tuple[str | int, ...] | None:
    """Return the declared sizes of an array; None for blocks of kernels, which have those of the program."""
    declared = getattr(record, name, None)
    return declared.sizes if isinstance(declared, Sized) else None


@cache
def slots(kind: Any) -> int:
    """Return the number of slots of a field."""
    if is_number(kind):
        return 1
    if is_array(kind):
        return 1 + kind.axes
    return len(KERNEL_SLOTS) * is_kernel(kind) + sum(slots(k) for k in fields_of(kind).values())


@cache
def place(record: type[Record], name: str) -> int:
    """Return the word at which a field begins."""
    if is_kernel(record) and name in KERNEL_SLOTS:
        return KERNEL_SLOTS.index(name)
    at = len(KERNEL_SLOTS) * is_kernel(record)
    for key, kind in fields_of(record).items():
        if key == name:
            return at
        at += slots(kind)
    raise KeyError(name)


def declaration(record: type[Record]) -> list[Any]:
    """Return everything about a record that code depends on, as plain data."""
    out: list[Any] = [record.__qualname__, issubclass(record, Kernel) and record.alone]
    for name, kind in fields_of(record).items():
        out.append([name, declaration(kind) if is_record(kind) else name_of(kind)])
    return out


# ---------------------------------------------------------------- layout


class _Block(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def size(self) -> int: ...


@dataclass(frozen=True)
class KernelPlace:
    """A kernel of a layout: its address (or a callable f(x, y, w) in Python), its blocks and how many floats they take."""

    address: Any
    inputs: Mapping[str, tuple[int, int]]  # start and size by name
    outputs: Mapping[str, tuple[int, int]]
    n_in: int
    n_out: int
    work: int = 0
    alone: int = 0  # with lanes: its code for one lane, which says which lane is in trouble
    alone_work: int = 0

    @classmethod
    def of(cls, address: Any, inputs: Sequence[_Block], outputs: Sequence[_Block], work: int = 0) -> KernelPlace:
        """Return the place of a kernel with these blocks."""
        x, y = ({b.name: (b.start, b.size) for b in blocks} for blocks in (inputs, outputs))
        n_in, n_out = (max((a + n for a, n in side.values()), default=0) for side in (x, y))
        return cls(address, x, y, n_in, n_out, work)


ABSENT = KernelPlace(0, {}, {}, 0, 0)  # a kernel that a mechanism lacks: all its blocks are empty


@dataclass
class Layout:
    """The place of a record: its slots, and of every array the place in the floats and the shape.

    `sizes` are the symbols of the declaration and the whole numbers by name; `kernels` by path, None for one that the mechanism lacks.
    `same` puts arrays where others are, which saves copies in one lane: {"found.q": "close.x.q"}. `inputs` are kernels that read the
    inputs of others, which come before them: {"project": "rates"}.
    """

    record: type[Record]
    sizes: Mapping[str, int]
    kernels: Mapping[str, KernelPlace | None] = field(default_factory=dict)
    lanes: int = 1
    same: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.slots: list[int] = []
        self.arrays: dict[str, tuple[int, tuple[int, ...], type[Array[Any]]]] = {}
        self.numbers: dict[str, int] = {}
        self.counted: set[str] = set()  # those that are whole
        self.outside: dict[str, tuple[int, type[Array[Any]]]] = {}  # slots of arrays outside, and their kinds
        self.codes: dict[str, int] = {}  # slots at which kernels begin
        self.addresses: dict[str, Any] = {}  # of kernels: those of `coded`, in place of their own
        self.size = self._packed = 0
        self._later: list[tuple[int, str]] = []
        self._add(self.record, "")
        for at, key in self._later:
            self.slots[at] = self._place(key)

    def _room(self, n: int) -> int:
        at = self.size
        self.size += -(-n // LINE) * LINE
        return at

    def _number(self) -> int:
        """Room for a number: in lanes a line of its own, in one lane next to others."""
        if self.lanes > 1:
            return self._room(self.lanes)
        if self._packed % LINE == 0:
            self._packed = self._room(LINE)
        self._packed += 1
        return self._packed - 1

    def _place(self, key: str) -> int:
        source = self.same[key]
        if source not in self.arrays or self.arrays[source][1] != self.arrays[key][1]:
            raise LoopError(f"'{key}' cannot share memory with '{source}': there is no such array, or it has another size.")
        self.arrays[key] = (self.arrays[source][0], *self.arrays[key][1:])
        return self.arrays[key][0]

    def whole(self, symbol: str | int, path: str) -> int:
        """Return a size or a whole number by its name."""
        if isinstance(symbol, int):
            return symbol
        if symbol not in self.sizes:
            raise LoopError(f"the layout of {self.record.__name__} needs the size '{symbol}' (of '{path}').")
        return int(self.sizes[symbol])

    def _add(self, record: type[Record], path: str) -> None:
        for name, kind in fields_of(record).items():
            key = f"{path}{name}"
            if kind is int:
                self.slots.append(self.whole(name, key))
            elif kind in CHANGING:
                self.numbers[key] = self._number()
                if CHANGING[kind] is int:
                    self.counted.add(key)
                self.slots.append(self.numbers[key])
            elif is_array(kind) and kind.outside:
                self.outside[key] = len(self.slots), kind
                self.slots += [0] * slots(kind)
            elif is_array(kind):
                self._add_array(record, name, key, kind)
            elif is_kernel(kind):
                self._add_kernel(kind, key)
            else:
                self._add(kind, f"{key}.")

    def _add_array(self, record: type[Record], name: str, key: str, kind: Any) -> None:
        symbols = sizes_of(record, name)
        if symbols is None or len(symbols) != kind.axes:
            raise LoopError(f"{record.__name__}.{name} needs {kind.axes} sizes: write '{name}: {kind.__name__} = sized(...)'.")
        shape = tuple(self.whole(s, key) for s in symbols)
        if key in self.same and self.lanes == 1:
            at = 0
            self._later.append((len(self.slots), key))
        else:
            at = self._room(math.prod(shape) * (self.lanes if kind.own else 1))
        self.arrays[key] = (at, shape, kind)
        self.slots += [at, *shape]

    def _add_kernel(self, kind: Any, key: str) -> None:
        if key not in self.kernels:
            raise LoopError(f"the layout of {self.record.__name__} needs the kernel '{key}'.")
        k = self.kernels[key] or ABSENT
        x = self.arrays[f"{self.inputs[key]}.x"][0] if key in self.inputs else self._room(k.n_in * self.lanes)
        y = self._room(k.n_out * self.lanes)
        self.codes[key] = len(self.slots)
        self.slots += [k.address if isinstance(k.address, int) else 0, x, y, self._room(k.work), k.alone, k.n_in, k.n_out]
        self.slots += [self._room(n if k.alone else 0) for n in (k.n_in, k.n_out, k.alone_work)]
        self.arrays[f"{key}.x"], self.arrays[f"{key}.y"] = (x, (k.n_in,), Floats), (y, (k.n_out,), Floats)
        for side, blocks, start in (("x", k.inputs, x), ("y", k.outputs, y)):
            for block in fields_of(fields_of(kind)[side]):
                first, n = blocks.get(block, (0, 0))
                at = start + self.lanes * first
                self.arrays[f"{key}.{side}.{block}"] = (at, (n,), Floats)
                self.slots += [at, n]

    def view(self, floats: np.ndarray, path: str) -> np.ndarray:
        """Return an array of the record: its own shape, with an axis of lanes behind it where there are several."""
        at, shape, kind = self.arrays[path]
        if kind.own and self.lanes > 1:
            shape = (*shape, self.lanes)
        part = floats[at : at + math.prod(shape)]
        return (part.view(np.int64) if kind.element is int else part).reshape(shape)

    def object(self, floats: np.ndarray, outside: Mapping[str, np.ndarray] | None = None, lane: int = 0) -> Any:
        """Return the record as loops that run as Python see it: arrays are views of the floats. Of several lanes it is one of them, whose
        kernels cannot run."""
        return _Seen(self, floats, outside or {}, lane).record(self.record, "")

    def get(self, floats: np.ndarray, path: str, lane: int = 0) -> Any:
        """Return a number that loops change."""
        at = self.numbers[path] + lane
        return floats[at : at + 1].view(np.int64)[0] if path in self.counted else floats[at]

    def put(self, floats: np.ndarray, path: str, value: float) -> None:
        """Set a number that loops change, in all lanes."""
        at = self.numbers[path]
        part = floats[at : at + self.lanes]
        (part.view(np.int64) if path in self.counted else part)[:] = value

    def coded(self, codes: Mapping[str, tuple[Any, int]]) -> Layout:
        """Return the same layout with other code behind its kernels: address and code for one lane by name."""
        out = copy_of(self)
        out.slots, out.addresses = list(self.slots), {name: address for name, (address, _) in codes.items()}
        for name, (address, alone) in codes.items():
            at = self.codes[name]
            out.slots[at] = address if isinstance(address, int) else 0
            out.slots[at + ALONE] = alone
        return out


@dataclass
class _Seen:
    """A record in memory as Python sees it; what nobody asks for is not made."""

    layout: Layout
    floats: np.ndarray
    outside: Mapping[str, np.ndarray]
    lane: int

    def record(self, kind: type[Record], path: str) -> Any:
        out = _python_class(kind)()
        vars(out).update(_seen=self, _path=path)
        return out

    def field(self, kind: Any, name: str, key: str) -> Any:
        if kind is int:
            return self.layout.whole(name, key)
        if kind in CHANGING:
            at = self.layout.numbers[key] + self.lane
            value = self.floats[at : at + 1]
            return value.view(np.int64) if CHANGING[kind] is int else value
        if is_record(kind):
            return self.record(kind, f"{key}.")
        if kind.outside:
            return self.outside.get(key, np.zeros((0,) * kind.axes))
        view = self.layout.view(self.floats, key)
        return view[..., self.lane] if kind.own and self.layout.lanes > 1 else view

    def call(self, path: str) -> Callable[[], int]:
        key = path.removesuffix(".")
        layout = self.layout
        kernel = layout.kernels[key] or ABSENT
        address = layout.addresses.get(key, kernel.address)
        return _call(address, kernel.work, layout.view(self.floats, f"{key}.x"), layout.view(self.floats, f"{key}.y"))


def _call(function: Any, work: int, x: np.ndarray, y: np.ndarray) -> Callable[[], int]:
    """Return a call of a kernel, by address or a callable, with its arrays."""
    w = np.zeros(work + LINE)
    if isinstance(function, int):
        from linkwright.compiler.callbacks import from_address

        function = from_address(function)
        first = -w.ctypes.data // 8 % LINE
        w = w[first : first + work]
    return lambda: int(function(x, y, w))


@cache
def _python_class(record: type[Record]) -> type:
    """A class of objects with the fields of a record; numbers are properties that look into the floats."""
    kinds = fields_of(record)

    def made(self: Any, name: str) -> Any:
        """A field that is asked for the first time."""
        own = vars(self)
        field = name.removeprefix("_")
        if name == "run" and is_kernel(record):
            value: Any = own["_seen"].call(own["_path"])
        elif field in kinds:
            value = own["_seen"].field(kinds[field], field, f"{own['_path']}{field}")
        else:
            raise AttributeError(f"'{record.__name__}' has no field '{name}'.")
        own[name] = value
        return value

    def number(name: str) -> property:
        def get(self: Any) -> Any:
            return getattr(self, name)[0]

        def put(self: Any, value: Any) -> None:
            getattr(self, name)[0] = value

        return property(get, put)

    numbers = {name: number(f"_{name}") for name, kind in kinds.items() if kind in CHANGING}
    return type(record.__name__, (), {"__getattr__": made, **numbers})
