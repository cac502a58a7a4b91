"""Readings of designs along their motions, eight samples of a design at a time: a kernel of channels with a sample in each lane.

    read = LaneReading(kernel, samples=361)
    out, bad = read(rows, t, laws, parameters)         out: (outputs, designs, padded samples), each output in one piece

Results are written where they stay; the last block of a design is padded.
"""

from __future__ import annotations

import numpy as np

from linkwright.compiler.program import Block
from linkwright.compiler.record_loops import Loop, padded
from linkwright.compiler.records import ALL_LANES, Column, Floats, KernelPlace, Layout, Record, SharedInts, run, sized
from linkwright.compiler.records import Kernel as KernelKind
from linkwright.kernels.driven_motion import put
from linkwright.kernels.kernel import Kernel
from linkwright.numerics.tolerances import CLOSED_START

ROUGH_NS = 0.06  # of one operation and state
GAP = "gap"  # output: largest dimensionless residual of the position
LARGEST = 1.7976931348623157e308  # the largest finite number


class ReadInputs(Record):
    q: Floats
    drive: Floats
    speed: Floats
    acceleration: Floats
    third: Floats
    t: Floats
    near: Floats
    parameters: Floats


class ReadOutputs(Record):
    values: Floats  # all channels
    gap: Floats
    margin: Floats


class Read(KernelKind):
    """Channels of a sample."""

    x: ReadInputs
    y: ReadOutputs


class Reading(Record):
    drives: int
    checked: int  # outputs that have to be finite
    read: Read
    stored: SharedInts = sized("stored")  # outputs that are not always zero


def read_sample(w: Reading, row: Column, t: Column, laws: Column, parameters: Column, out: Column) -> bool:
    """A sample, from its q and references, and its laws; True if it is closed, with good pivots and finite outputs."""
    x, y = w.read.x, w.read.y
    n = len(x.q)
    for i in range(n):
        x.q[i] = row[i]
    for i in range(len(x.near)):
        x.near[i] = row[n + i]
    put(x.parameters, parameters)
    put(x.t, t)
    for i in range(len(x.drive)):
        x.drive[i] = laws[i]
    for i in range(len(x.speed)):
        x.speed[i] = laws[w.drives + i]
    for i in range(len(x.acceleration)):
        x.acceleration[i] = laws[2 * w.drives + i]
    for i in range(len(x.third)):
        x.third[i] = laws[3 * w.drives + i]
    run(w.read)
    good = y.margin[0] > 0.0 and y.gap[0] <= CLOSED_START
    for i in range(w.checked):
        good = good and abs(y.values[i]) <= LARGEST
    for i in range(len(w.stored)):
        out[w.stored[i]] = y.values[w.stored[i]]
    return good


class LaneReading:
    """Readings of designs of one mechanism; its kernel's input `parameters` holds the numbers that differ."""

    def __init__(self, kernel: Kernel, samples: int, values: int):
        """`values`: entries of the first outputs that have to be finite; derivatives behind them need not be."""
        self.kernel, self.samples = kernel, samples
        code = kernel.code
        ins, outs = ({b.name: (b.start, b.size) for b in blocks} for blocks in (code.inputs, code.outputs))
        self.size = outs[GAP][0]  # numbers of a sample
        zeros = set(code.meta.get("zeros", ()))
        stored = [i for i in range(self.size) if i not in zeros]
        named = {"values": (0, self.size), "gap": outs[GAP], "margin": outs["margin"]}
        place = KernelPlace(code.aosoa_address, ins, named, code.n_in, code.n_out, code.work("many"))
        drives = max(ins.get(name, (0, 0))[1] for name in ("drive", "speed", "acceleration", "third"))
        sizes = {"drives": drives, "checked": values, "stored": len(stored)}
        self._loop = Loop(read_sample, Layout(Reading, sizes, {"read": place}, ALL_LANES))
        self._loop.fill("stored", stored)

    @property
    def outputs(self) -> tuple[Block, ...]:
        """Blocks of the rows of a result."""
        return tuple(b for b in self.kernel.code.outputs if b.name not in (GAP, "margin"))

    def empty(self, designs: int) -> np.ndarray:
        """Memory for the results of so many designs; outputs that are always zero are not written, and take none."""
        return np.zeros((self.size, designs, padded(self.samples)))

    def __call__(
        self,
        rows: np.ndarray,
        t: np.ndarray,
        laws: np.ndarray,
        parameters: np.ndarray,
        skip: np.ndarray,
        out: np.ndarray,
        offset: int = 0,
        cores: int | None = None,
    ) -> np.ndarray:
        """Fill `out` from design `offset` on; return the mask of the designs some of whose samples have no answer.

        rows: (designs, q references ..., padded samples); t (padded,) and laws (4 drives, padded), or with an axis of designs in front;
        skip: mask of designs to leave out.
        """
        n, every = len(rows), padded(self.samples)
        own = [x if x.ndim == axes else x[None] for x, axes in ((t, 2), (laws, 3))]
        given = (rows.swapaxes(1, 2), own[0][..., None], own[1].swapaxes(1, 2), np.asarray(parameters, dtype=float)[:, None])
        arrays, bad = (*given, out[:, offset : offset + n].transpose(1, 2, 0)), np.zeros(n, dtype=bool)
        for first, last in _spans(skip):
            part = [x[first:last] if len(x) > 1 else x for x in arrays]
            expected = (last - first) * every * self.kernel.operations * ROUGH_NS
            good = self._loop((last - first, every), *part, expected_ns=expected, cores=cores)
            bad[first:last] = ~good.all(axis=1)
        return bad


def _spans(skip: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of designs that are not left out."""
    if not skip.any():
        return [(0, len(skip))]
    ends = np.flatnonzero(np.diff(np.concatenate([[True], skip, [True]])))
    return list(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True))
