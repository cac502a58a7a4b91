"""Make the generic solutions of the nine-point problem that are shipped: `python -m tools.make_nine_points [file]`.

One random complex linkage is a solution of the problem of its own nine points; monodromy finds the others, 1,442 classes. The file has
sixteen parameters and the solutions in single precision, which Newton's method completes where they are read. With native code it takes
less than a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from linkwright.numerics.monodromy import Monodromy, monodromy, normal_parameters
from linkwright.numerics.tracking import distinct
from linkwright.rings.synthesis.nine_points import CLASSES, FILE, class_key, newton, random_problem, stored


def generic(seed: int = 0, *, expected: int | None = None, verbose: bool = False) -> Monodromy:
    """Return one solution of each class at random complex points; without `expected` until two loops bring no new one."""
    x, p = random_problem(np.random.default_rng(seed))
    report = (lambda loop, known, lost: print(f"loop {loop}: {known} classes, {lost} paths lost", flush=True)) if verbose else None
    return monodromy(newton(), x, p, key=class_key, parameters=normal_parameters(16), seed=seed, expected=expected, progress=report)


def main(arguments: list[str]) -> int:
    """Write the file; refuse a set that is not complete."""
    path = Path(arguments[0]) if arguments else FILE
    found = generic(0, verbose=True)
    if len(found.solutions) != CLASSES:
        print(f"{len(found.solutions)} classes, {CLASSES} are expected; nothing is written.")
        return 1
    np.savez_compressed(path, x=found.solutions.astype(np.complex64), p=found.parameters)
    again, _ = stored(path)
    largest = float(np.abs(class_key(again) - class_key(found.solutions)).max())
    if len(distinct(class_key(again))) != CLASSES:
        print("single precision is not enough for these solutions; take another seed.")
        return 1
    print(f"{path}: {CLASSES} classes, {path.stat().st_size // 1000} kB, remaining doubt {found.doubt:.1e}, read again to {largest:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
