"""Compute reference values again and compare them with the files, or write these: `python -m benchmarks.closed_loop_set.references`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from benchmarks.closed_loop_set import DATA
from benchmarks.closed_loop_set.cases import checked
from benchmarks.closed_loop_set.references import makers, writing
from linkwright.files.writing import write_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if all files are as computed (or were written), 1 otherwise."""
    every = makers()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.closed_loop_set.references", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"default all: {', '.join(every)}")
    parser.add_argument("--write", action="store_true", help="write the files of the cases")
    given = parser.parse_args(arguments)
    for name in given.cases:
        if name not in every:
            parser.error(f"there is no case '{name}'; allowed are {', '.join(every)}")
    wrong = 0
    for name in given.cases or every:
        begin = time.process_time()
        path = DATA / "cases" / f"{name}.json"
        made = every[name]()
        checked(made, path.name, name)
        text = writing.text(made)
        same = path.is_file() and path.read_text(encoding="utf-8") == text
        if given.write and not same:
            write_text(path, [".json"], text)
        wrong += not same and not given.write
        said = "as in the file" if same else "written" if given.write else "differs from the file"
        print(f"{name}: {said} ({time.process_time() - begin:.1f} s)", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
