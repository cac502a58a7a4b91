"""Measures: one number of a motion, as text.

    max A.torque                    also min, mean, rms, peak (largest size), range (max - min), std, start, end; of a vector its length
    stroke guide                    largest less smallest value; of a point the largest distance between two of its positions
    time ratio guide                slower over faster of the two strokes of a cycle
    dwell guide within 1 mm         longest part of the motion in which it stays within a band of that height, by the drive; `in s` by time
    straightness coupler.P          width of the narrowest strip (in space: diameter of the narrowest cylinder) that holds the path
    distance coupler.P to p.csv     root mean square of the distances of points to the path; `max distance ...` the largest
    time when tool.T.x > 0.2 m      the first time, between samples by the straight line; nan where it never happens

    ... while 100..180 deg          samples where the leading drive is in a range, turns taken off; `while 300..60 deg` through the end of
                                    the cycle; `while 0.2..0.5 s` for times, `while A.v > 2 rad/s` for any channel

Means are over time, by trapezoids. Strokes, dwells and distances look between samples (`channel_interpolation`), and so do
extremes and ranges (`extremes`): a number that samples do not locate has an `error`.
Extremes and ranges `while` a range of the drive or of times also count its ends, by the straight line between samples
(`window_ends`). Samples without a value (nan) do not count.
"""

from linkwright.results.measures.definition import Measure, check, dimension_of_measure, unit_of_measure
from linkwright.results.measures.grammar import measure, path_distance
from linkwright.results.measures.motions import SampledCurve, course_of, curve_of, scalar_of, whole_curves, window_ends, window_mask
from linkwright.text.measures import BEGINNINGS, EXAMPLES, REDUCTIONS

__all__ = [
    "BEGINNINGS",
    "EXAMPLES",
    "REDUCTIONS",
    "Measure",
    "SampledCurve",
    "check",
    "course_of",
    "curve_of",
    "dimension_of_measure",
    "measure",
    "path_distance",
    "scalar_of",
    "unit_of_measure",
    "whole_curves",
    "window_ends",
    "window_mask",
]
