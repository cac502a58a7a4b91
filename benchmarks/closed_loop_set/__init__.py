"""Closed-loop set: public mechanisms with reference values, and a runner that asks several programs for them.

`benchmarks/closed-loop-set` holds the data: one JSON file a case, one a program's results, and README.md with the format. Here are
the reader (`cases`, `results`), the table (`table`), the case as a mechanism (`mechanism`), one module a program (`programs`) and one a
family of reference values (`references`). Run: `python -m benchmarks.closed_loop_set --help`.
"""

from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "closed-loop-set"
