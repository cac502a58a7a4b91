"""Tolerances: how closed is closed, how equal is equal, how small is nothing.

Numbers here are dimensionless. Angles count in radians. Lengths count in multiples of the characteristic length kappa of the mechanism
(`metric`), or of the size that the place of use names. Each value follows from EPSILON or from another one of the table, and a test holds
the order. A module whose bound means something else keeps its own constant, with a name that says what it bounds.

    gap of the loops     CLOSED_FLOOR < CLOSED_WALK < CLOSED < CLOSED_RUN < CLOSED_START < CLOSED_AT_BEST < CLOSED_GIVEN < OPEN_STEP < OPEN
    what follows a gap   LOOP_CHANGE, AT_END, SAME_POSITION: square root of CLOSED, rounded up
    share of a scale     EPSILON < ZERO_SHARE < ROUND_OFF < DEPENDENT < RANK = NEGLIGIBLE
    equality             SAME_TIME < SAME_NUMBER = SAME_PLACE < SAME_POSITION
"""

from __future__ import annotations

EPSILON = 2.0**-52  # distance of 1 and the next larger float

# Gaps: dimensionless residuals of the loops.
CLOSED_FLOOR = 1e-15  # 5 EPSILON: no step of Newton's method makes the gap smaller
CLOSED_WALK = 2e-15  # 2 CLOSED_FLOOR: a sample of a cycle, from which the next ones are predicted
CLOSED = 1e-13  # 450 EPSILON, the round-off of a few dozen products: Newton's method ends
CLOSED_RUN = 3e-13  # 3 CLOSED: a state after a time step, which round-off of its equations reaches
CLOSED_START = 1e-12  # 10 CLOSED: as other calls leave positions; a start is not closed again, nor a sample that no step improves
CLOSED_AT_BEST = 1e-10  # 1,000 CLOSED: closed if no step makes the gap smaller, the round-off of long chains and large offsets
CLOSED_GIVEN = 1e-9  # 10,000 CLOSED: positions from a file or a run, written with ten digits or integrated, count as closed
OPEN_STEP = 1e-8  # 10 CLOSED_GIVEN: a time step that leaves this gap has left the loops
OPEN = 1e-6  # 1,000 CLOSED_GIVEN: a state is not on the loops at all; visible in a drawing of 1 m as 1 um
LOOP_CHANGE = 1e-7  # share of a change that the loops may leave open: CLOSED over its square root, with a factor of three to spare

# Ranks and shares: against the largest entry, singular value or diagonal entry.
ZERO_SHARE = 1e-13  # an entry of a product of matrices that is round-off, as CLOSED
ROUND_OFF = 1e-12  # 10 ZERO_SHARE: what two ways of computing one number may differ by, if neither loses digits
DEPENDENT = 1e-10  # pivot of a row that depends on the rows before it: elimination loses three digits to ZERO_SHARE
RANK = 1e-9  # singular value of a lost row: positions are exact to CLOSED, and ranks of their Jacobians to four digits less
NEGLIGIBLE = 1e-9  # share of the largest force, speed or moment of a motion that is none

# Equality.
SAME_TIME = 1e-12  # of a duration: a sample at that distance is the one that is asked for
SAME_NUMBER = 1e-9  # relative: numbers that a report, a file or a limit shows as one
SAME_PLACE = 1e-9  # of the size: points that are one, and ends of a range that are met
SAME_POSITION = 1e-6  # positions of a mechanism that are one: near singular positions they are known to the square root of CLOSED only
AT_END = 1e-6  # of a travel: a position so far beyond its end is at the end, as SAME_POSITION

# Numerical methods.
CONVERGED = 1e-12  # relative change in the last step of an iteration, as ROUND_OFF
COMPLEX_STEP = 1e-30  # imaginary part of a number that is differentiated: its square vanishes beside every number that matters
SQUARE_FLOOR = 1e-200  # added to a square under a root, which then has a derivative at zero; no square that matters is so small
