"""Synthesis: mechanisms from the motion that is wanted.

linkage.py      a planar linkage as drawn, and its model file          answers.py     what a synthesis gives: ranked, with defects named
"""
