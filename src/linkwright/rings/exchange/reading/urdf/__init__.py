"""URDF as a description: links and joints, loops in the dialects that people use, drives, shapes.

links.py      inertias and shapes
joints.py     tree joints, limits, friction
loops.py      elements that close loops: <loop>, <coupling>, <constraint>, <loop_joint>, Drake's
loops.py     frames that close loops by their names, or by a YAML file beside the URDF
loops.py     joints and springs that <gazebo> elements add
drives.py     transmissions and other signs of a driven joint
tags.py       tags of the format, those that are left out
reader.py     all of it in order; joints that follow others, balls of three hinges
"""
