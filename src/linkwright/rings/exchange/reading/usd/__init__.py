"""USD with UsdPhysics: bodies, joints and loops of the stage that a file composes.

crate       binary files, looked at before the library opens them
stage       the file and the layers that it names, opened safely; units
prims       values and frames of prims in SI
masses      mass data, from the shapes where the file leaves them to these
joints      joints, limits, drives, mimics
reader      bodies, floating bases, gravity, and the description at the end
"""
