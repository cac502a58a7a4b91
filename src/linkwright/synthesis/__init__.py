"""Synthesis: mechanisms from the motion that is wanted.

linkage.py      a planar linkage as drawn, and its model file          answers.py     what a synthesis gives: ranked, with defects named
duals.py        arrays with exact first derivatives                    dyad_steps.py  cranks and dyads in closed form, batched
coupled.py      loops of two unknown angles, by Newton                 drawings.py    the linkage of one candidate
polishing.py    SLSQP: least squares and least maximum                 forms.py       six-bars, geared five-bars: dimensions, starts
form_*.py       search for a path                                      six_bars.py    paths of Watt and Stephenson six-bars
geared.py       paths of geared five-bars                              six_bar_functions.py, function_*.py   function generators
dwells.py, dwell_*.py   dwell linkages                                 straight_lines.py, line_families.py, exact_lines.py   straight lines
"""
