"""SDF (SDFormat 1.5 to 1.11) as a description: models inside models, frames relative to each other, joints that close loops.

scopes.py     models, their links, joints, frames and nested models; names such as a::b
includes.py   <include> of local files, also merged
frames.py     poses of everything: the graph of relative_to, attached_to, placement_frame
joints.py     joints, axes, limits, springs, mimic, gearboxes
tags.py       tags of the standard, those that are left out
reader.py    all of it in order; inertias and shapes of links
"""
