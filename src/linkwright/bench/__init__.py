"""What computing costs: operations counted with a scalar of their own, and the chain of loops they are counted on.

`counting` runs any function of the float path on numbers that count; `chain` applies it to N four-bar loops in a row
and tells how the work of each formulation grows with N. `recording` is a counting scalar that remembers where numbers
come from, so that only what a result needs is counted; `inverse` compares the methods of inverse dynamics with it.
"""
