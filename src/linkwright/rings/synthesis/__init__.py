"""Synthesis: mechanisms from the motion that is wanted.

linkage.py      a planar linkage as drawn, and its model file          results.py     what a synthesis gives: ranked, with defects named
requests.py     what `lw.synthesize` was asked for, to its task: points, poses and timing as people give them

paths.py                four-bars and slider-cranks through points, drawn and measured; cognates
path_problem.py         the path as least squares over many candidates
coupler_chains.py       both in slack parameters: every candidate closes
path_starts.py          starts by variable projection
path_search.py          starts, Levenberg-Marquardt, distinct optima, exact at their limits; crank angles eliminated in long paths
path_bounds.py          bounds and held numbers

coupler_atlas.py        coupler curves like a given one, in milliseconds
motion_tracing.py       motion of a four-bar or slider-crank, in closed form
defects.py              defects of a finished linkage
circuits.py             circuits, branches and order in closed form

dual_arrays.py          arrays with exact first derivatives
dyad_steps.py           cranks and dyads in closed form, batched
non_dyad_closure.py     loops of two unknown angles, by Newton
candidate_linkages.py   the linkage of one candidate
final_improvement.py    SLSQP: least squares and least maximum
linkage_forms.py        six-bars, geared five-bars: dimensions, starts
form_fit.py, form_paths.py   search for a path of a given form: geared five-bars, Watt and Stephenson six-bars

freudenstein.py, function_generation.py, six_bar_functions.py   function generators
dwells.py               dwell linkages
straight_lines.py       straight lines, approximate and exact
nine_points.py          all four-bars through nine points
burmester.py, poses.py  four-bars through poses, met exactly or in the best fit
dead_centers.py         given swing or stroke and time ratio
"""
