"""Mechanisms as models of other programs: MuJoCo, Pinocchio, URDF and SDF (`robots`), FMUs.

Shared by them: joints as chains of elementary ones (`elementary_joints`), loops as points and welds (`loops`), and the list of what
a format cannot hold (`losses`).
"""
