"""A trial of the tests by small faults: one at a time is made in a copy of the sources, and a test should fail.

    python -m tests.faults [--seed N] [--count 40] [--room joints] [--jobs 2] [-o table.csv]
    python -m tests.faults --list          faults of this seed, without running a test

Faults are spread over all rooms of `src/linkwright` and the scripts of the page, at least one a room, chosen at random but equal for an
equal seed and equal sources. For each one the tests nearest to its module run first, then those of its room; faults that no such test
finds are made together at last, and all other tests run once: a test that fails is run again with each of them alone, and with none. A test
counts only if it passes on the sources without faults.
"""
